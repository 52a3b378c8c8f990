-- When a grant was last used: as its own row has it, which is written once a day,
-- or as the Sessions have it that it signed in.
CREATE OR REPLACE FUNCTION poppy.grant_used(p_bucket smallint,
    p_grant_no bigint, p_used_at bigint)
RETURNS bigint
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN greatest(p_used_at, (SELECT max(s.used_at)
	    FROM poppy.session_grant sg
	    JOIN poppy.session s ON s.bucket = sg.bucket AND s.sid = sg.sid
	    WHERE sg.bucket = p_bucket AND sg.grant_no = p_grant_no));
END
$$;

-- What a customer has granted, as one row for each agent that still has
-- something of it. sessions counts those that are live and signed in by one of
-- its live grants. An agent whose row is gone can use none of them.
CREATE OR REPLACE FUNCTION poppy_api.connected_list(p_account text)
RETURNS TABLE (client_no bigint, client_id text, name text, kinds text,
    scopes text, since_at bigint, used_at bigint, expires_at bigint,
    sessions int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
BEGIN
	RETURN QUERY
	WITH live AS (
	    SELECT g.*, poppy.grant_used(g.bucket, g.grant_no, g.used_at)
		AS last_at
	    FROM poppy.grants g
	    WHERE g.account = p_account AND g.revoked_at IS NULL
		AND g.expires_at > now_at)
	SELECT l.client_no, min(c.client_id), min(c.name),
	    string_agg(DISTINCT l.kind, ' '),
	    (SELECT string_agg(DISTINCT s.scope, ' ')
		FROM live k, string_to_table(k.scopes, ' ') s (scope)
		WHERE k.client_no = l.client_no),
	    min(l.created_at), max(l.last_at), max(l.expires_at),
	    (SELECT count(DISTINCT (s.bucket, s.sid))::int
		FROM live k
		JOIN poppy.session_grant sg ON sg.bucket = k.bucket
		    AND sg.grant_no = k.grant_no
		JOIN poppy.session s ON s.bucket = sg.bucket AND s.sid = sg.sid
		WHERE k.client_no = l.client_no AND s.ended_at IS NULL
		    AND s.ends_at > now_at)
	FROM live l
	JOIN poppy.client c ON c.client_no = l.client_no
	GROUP BY l.client_no
	ORDER BY max(l.last_at) DESC, l.client_no
	LIMIT 1000;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.connected_list(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.connected_list(text) TO poppy_auth;

-- End what an account has granted: all, or (p_client_no) to one client. What was
-- approved and not yet fetched goes first, waiting for who is just fetching it;
-- the grants are looked up after that, so what came of it is among them.
CREATE OR REPLACE FUNCTION poppy.account_end(p_account text,
    p_client_no bigint, p_why text, p_address text)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	n int := 0;
	g record;
BEGIN
	DELETE FROM poppy.code c
	WHERE c.account = p_account AND c.used_at IS NULL
	    AND c.client_no = coalesce(p_client_no, c.client_no);
	UPDATE poppy.device d SET status = 'denied'
	WHERE d.account = p_account AND d.status = 'approved'
	    AND d.client_no = coalesce(p_client_no, d.client_no);
	FOR g IN SELECT k.bucket, k.grant_no FROM poppy.grants k
	    WHERE k.account = p_account AND k.revoked_at IS NULL
		AND k.client_no = coalesce(p_client_no, k.client_no)
	    ORDER BY k.bucket, k.grant_no FOR NO KEY UPDATE
	LOOP
		n := n + poppy.grant_end(g.bucket, g.grant_no, p_why, now_at,
		    p_address)::int;
	END LOOP;
	RETURN n;
END
$$;

-- The customer disconnects an agent, or (p_client_no NULL) all of them: how many
-- grants that were. Durable. What is somebody else's is not there.
CREATE OR REPLACE FUNCTION poppy_api.connected_end(p_account text,
    p_client_no bigint, p_address text, OUT n int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	n := poppy.account_end(p_account, p_client_no, 'disconnected',
	    p_address);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.connected_end(text, bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.connected_end(text, bigint, text)
    TO poppy_auth;
