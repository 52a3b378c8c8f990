-- Delete what is kept of agents that never came back: documents not fetched for
-- p_keep_s, of a client that no Session or grant names and no rule of the
-- operator's. How many went. One worker at a time; p_limit bounds a call.
--
-- Sessions have no index by client, which every start would pay for. So they are
-- read as a whole, once for all candidates and only if there are any: a call an
-- hour is enough.
--
-- Whoever starts a Session has asked for the client's documents within two days
-- (see client_get), and p_keep_s is longer than that. So a client that comes
-- back meanwhile is not as old any more when its row is looked at again for the
-- DELETE, and nothing can begin to name one that stays old.
CREATE OR REPLACE FUNCTION poppy_api.clean_clients(p_limit int,
    p_keep_s bigint)
RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	before_at bigint := now_at - greatest(p_keep_s, 604800);
	old bigint[];
	named bigint[];
	n int;
BEGIN
	IF NOT pg_try_advisory_xact_lock(20480, 3) THEN
		RETURN 0;
	END IF;
	-- What poppyctl doctor could not take away itself. Its agents count as
	-- allowed, without a rule.
	DELETE FROM poppy.client c USING poppy.doctor d
	WHERE d.expires_at <= now_at AND c.client_id = d.client_id;
	DELETE FROM poppy.doctor d WHERE d.expires_at <= now_at;

	old := ARRAY(SELECT c.client_no FROM poppy.client c
	    WHERE greatest(c.fetched_at, c.first_at) < before_at
		AND c.status = 'known' AND NOT c.allowed
	    ORDER BY c.fetched_at LIMIT p_limit);
	IF cardinality(old) = 0 THEN
		RETURN 0;
	END IF;
	-- Every table that names clients for longer than a day has its line.
	named := ARRAY(
	    SELECT DISTINCT s.client_no FROM poppy.session s
	    WHERE s.client_no = ANY (old)
	    UNION
	    SELECT DISTINCT g.client_no FROM poppy.grants g
	    WHERE g.client_no = ANY (old));
	DELETE FROM poppy.client c
	WHERE c.client_no = ANY (old) AND c.client_no <> ALL (named)
	    AND greatest(c.fetched_at, c.first_at) < before_at
	    AND c.status = 'known' AND NOT c.allowed;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.clean_clients(int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.clean_clients(int, bigint) TO poppy_auth;
