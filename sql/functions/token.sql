-- Use a Session Token: the token first, then the key, then the spending of the
-- proof's jti, so that nothing is spent unless all else is right.
--   ok			and whose it is; the other outcomes don't say
--   unknown, expired	the token
--   ended		its Session is over
--   blocked		its client is
--   scheme		a Bearer token with a proof, another without (p_jkt NULL)
--   key		the proof's key is not the token's
--   replay		the proof was used, by another request
--   epoch		the replay memory is too young to tell: 503, retry_s
--   clock		iat is no live one by the database's clock: 503, retry_s
-- signed_in, with account and scopes, as long as the grant that the token came
-- from lives.
-- The same request may ask again: p_request_id is the web server's own, never
-- the client's; NULL matches nothing.
CREATE OR REPLACE FUNCTION poppy_api.token_use(p_bucket int, p_token bytea,
    p_jkt bytea, p_spend bytea, p_iat bigint, p_future_s int,
    p_request_id text, p_idle_s bigint, p_max_s bigint,
    p_address text DEFAULT NULL, OUT outcome text, OUT client_no bigint,
    OUT client_id text, OUT user_key bytea,
    OUT sid bytea, OUT account text, OUT scopes text, OUT signed_in boolean,
    OUT resource text, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	-- Scalars: a record costs more, and this is asked for every call.
	the_jkt bytea;
	until_at bigint;
	of_account text;
	granted bigint;
	of_client text;
	lives boolean;
	seen int;
	ignored text;
BEGIN
	SELECT k.jkt, k.expires_at, k.sid, k.scopes, k.grant_no, k.resource,
	    s.client_no, s.user_key, s.account, c.client_id, c.status,
	    s.ended_at IS NULL AND s.used_at + p_idle_s > now_at
	    AND s.started_at + p_max_s > now_at
	INTO the_jkt, until_at, sid, scopes, granted, resource, client_no,
	    user_key, of_account, client_id, of_client, lives
	FROM poppy.token k
	LEFT JOIN poppy.session s ON s.bucket = k.bucket AND s.sid = k.sid
	LEFT JOIN poppy.client c ON c.client_no = s.client_no
	WHERE k.bucket = p_bucket::smallint AND k.hash = p_token;
	outcome := CASE
	    WHEN until_at IS NULL THEN 'unknown'
	    WHEN until_at <= now_at THEN 'expired'
	    WHEN lives IS NOT TRUE THEN 'ended'
	    WHEN of_client IS DISTINCT FROM 'known' THEN 'blocked'
	    WHEN the_jkt IS DISTINCT FROM p_jkt THEN CASE
		WHEN the_jkt IS NULL OR p_jkt IS NULL THEN 'scheme'
		ELSE 'key' END END;
	IF outcome IS NULL AND the_jkt IS NOT NULL THEN
		seen := poppy.spend(p_spend, p_iat, p_future_s, now_at,
		    p_request_id);
		outcome := CASE WHEN seen IS NULL THEN 'clock'
		    WHEN seen < 0 THEN 'epoch' WHEN seen > 0 THEN 'replay' END;
		retry_s := CASE WHEN seen IS NULL THEN 1
		    WHEN seen < 0 THEN -seen END;
	END IF;
	IF outcome IS NOT NULL THEN
		IF outcome IN ('blocked', 'key', 'replay') THEN
			ignored := poppy.audit_put(outcome, client_no, user_key,
			    p_bucket, sid, p_address, NULL);
		END IF;
		client_no := NULL;
		client_id := NULL;
		user_key := NULL;
		sid := NULL;
		scopes := NULL;
		resource := NULL;
		RETURN;
	END IF;
	outcome := 'ok';
	-- Most tokens are signed out, and then nothing more is asked.
	signed_in := granted IS NOT NULL AND EXISTS (SELECT
	    FROM poppy.grants g
	    WHERE g.bucket = p_bucket::smallint AND g.grant_no = granted
		AND g.revoked_at IS NULL AND g.expires_at > now_at);
	IF signed_in THEN
		account := of_account;
	ELSE
		scopes := '';
	END IF;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.token_use(int, bytea, bytea, bytea, bigint,
    int, text, bigint, bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.token_use(int, bytea, bytea, bytea, bigint,
    int, text, bigint, bigint, text) TO poppy_auth, poppy_guard;
