-- What the operator says about agents, by poppyctl. Not for programs: these run
-- with the rights of who calls them.

-- The closest rule for a client_id: its pattern, or NULL.
CREATE OR REPLACE FUNCTION poppy.client_rule_of(p_client_id text)
RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	host text := lower(substring(p_client_id
	    FROM '(?i)^https://(\[[^]]*\]|[^/:?#]*)'));
	rest text := host;
	patterns text[] := ARRAY[p_client_id, host];
BEGIN
	WHILE strpos(rest, '.') > 0 LOOP
		rest := substr(rest, strpos(rest, '.') + 1);
		patterns := patterns || ('*.' || rest);
	END LOOP;
	-- A client_id is longer than its host.
	RETURN (SELECT r.pattern FROM poppy.client_rule r
	    WHERE r.pattern = ANY (patterns)
	    ORDER BY r.pattern LIKE '*%', length(r.pattern) DESC LIMIT 1);
END
$$;

-- What it says: 'allow', 'block', or NULL.
CREATE OR REPLACE FUNCTION poppy.client_verdict(p_client_id text)
RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT r.verdict FROM poppy.client_rule r
	    WHERE r.pattern = poppy.client_rule_of(p_client_id));
END
$$;

-- Set a rule, or take it away (p_verdict NULL), and make known clients follow
-- it: how many changed. Their version moves, so that no process goes on with
-- what it keeps of them. The lock is that of client_store(): a client that is
-- stored meanwhile is either seen here or sees the rule.
CREATE OR REPLACE FUNCTION poppy.client_rule_set(p_pattern text,
    p_verdict text, OUT was text, OUT changed int)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	locked text := pg_advisory_xact_lock(20480, 30);
	ignored text;
BEGIN
	SELECT r.verdict INTO was FROM poppy.client_rule r
	WHERE r.pattern = p_pattern;
	IF p_verdict IS NULL THEN
		DELETE FROM poppy.client_rule r WHERE r.pattern = p_pattern;
	ELSE
		INSERT INTO poppy.client_rule AS r (pattern, verdict, set_at)
		VALUES (p_pattern, p_verdict, poppy.now_at())
		ON CONFLICT (pattern) DO UPDATE
		SET verdict = excluded.verdict, set_at = excluded.set_at;
	END IF;
	UPDATE poppy.client c
	SET status = j.status, allowed = j.allowed, version = c.version + 1
	FROM (SELECT k.client_no, CASE WHEN v.v = 'block' THEN 'blocked'
		ELSE 'known' END AS status,
		v.v IS NOT DISTINCT FROM 'allow' AS allowed
	    FROM poppy.client k, poppy.client_verdict(k.client_id) v (v)
	    WHERE p_pattern NOT LIKE '%://%' OR k.client_id = p_pattern) j
	WHERE c.client_no = j.client_no AND (c.status <> j.status
	    OR c.allowed <> j.allowed);
	GET DIAGNOSTICS changed = ROW_COUNT;
	IF was IS DISTINCT FROM p_verdict THEN
		ignored := poppy.audit_put('rule_' || coalesce(p_verdict,
		    'none'), NULL, NULL, NULL, NULL, NULL, left(p_pattern, 200));
	END IF;
END
$$;

-- Drop a rule and the documents of the clients that it names: they are fetched
-- anew when next asked for. Sessions go on.
CREATE OR REPLACE FUNCTION poppy.client_forget(p_pattern text, OUT was text,
    OUT changed int)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	host text := '(?i)^https://(\[[^]]*\]|[^/:?#]*)';
	n int;
BEGIN
	was := (SELECT s.was FROM poppy.client_rule_set(p_pattern, NULL) s);
	UPDATE poppy.client c
	SET version = c.version + 1, metadata = NULL, jwks = NULL, name = NULL,
	    logo_uri = NULL, fresh_until = 0, stale_until = 0, failure = NULL,
	    failed_until = 0, claimed_until = 0, refetch_after = 0
	WHERE c.client_id = p_pattern
	    OR lower(substring(c.client_id FROM host)) = p_pattern
	    OR (p_pattern LIKE '*.%' AND lower(substring(c.client_id FROM host))
		LIKE '_%' || replace(substr(p_pattern, 2), '_', '\_'));
	GET DIAGNOSTICS changed = ROW_COUNT;
	DELETE FROM poppy.client_failure f
	WHERE f.client_id = p_pattern
	    OR lower(substring(f.client_id FROM host)) = p_pattern
	    OR (p_pattern LIKE '*.%' AND lower(substring(f.client_id FROM host))
		LIKE '_%' || replace(substr(p_pattern, 2), '_', '\_'));
	GET DIAGNOSTICS n = ROW_COUNT;
	changed := changed + n;
END
$$;
