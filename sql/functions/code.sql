-- Redeem an authorization code (RFC 6749, 4.1.3; RFC 7636): the end of a Direct
-- Sign-In. The code's row is the lock: two calls with one code never overlap.
--   ok			signed in
--   dead		unknown, expired, another client's, another redirect_uri,
--			tried too often, or the account is not to be used
--   verifier		wrong; counted, the fifth kills the code
--   reused		used before: what it gave is revoked now. Only for who has
--			the verifier, so that a code seen somewhere signs nobody
--			out
--   target		the code is for another resource
--   no_session		p_sid is NULL and the code is not for an MCP client
--   invalid_session, account_mismatch	the Session
-- and as session_start: blocked, stale, replay, epoch, clock, limit_address,
-- limit_client. dead, target and the errors of client and Session spend nothing.
-- p_challenge is the SHA-256 of the verifier. Without p_sid (an MCP client that
-- knows no Sessions) a new one is made, p_new_sid in p_bucket, for the User that
-- the code's row names. A public client has no Account Token, and nothing to
-- spend. Who signs in is durable.
CREATE OR REPLACE FUNCTION poppy_api.code_redeem(p_client_no bigint,
    p_client_version bigint, p_code bytea, p_redirect text,
    p_challenge bytea, p_bucket int, p_sid bytea, p_new_sid bytea,
    p_token bytea, p_token_s int, p_account_token bytea, p_grant_s bigint,
    p_idle_s bigint, p_max_s bigint, p_jkt bytea, p_resource text,
    p_spend bytea[], p_iat bigint[], p_future_s int, p_address text,
    p_address_key bytea, p_per_address int, p_per_client int,
    OUT outcome text, OUT replayed int, OUT retry_s int, OUT sid bytea,
    OUT scopes text, OUT expires_in int, OUT grant_expires_in bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	c poppy.code;
	of_user bytea;
	began_at bigint := now_at;
	again boolean;
	given bigint;
	ignored text;
BEGIN
	outcome := poppy.client_judge(p_client_no, p_client_version, p_bucket,
	    p_sid, p_address);
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT * INTO c FROM poppy.code k WHERE k.hash = p_code FOR UPDATE;
	outcome := CASE
	    WHEN c.hash IS NULL OR c.client_no <> p_client_no
		OR c.redirect_uri IS DISTINCT FROM p_redirect OR c.tries >= 5
		THEN 'dead'
	    WHEN c.used_at IS NOT NULL THEN
		CASE WHEN c.challenge = p_challenge THEN 'reused'
		ELSE 'dead' END
	    WHEN c.expires_at <= now_at
		OR poppy.customer_status(c.account) <> 'ok' THEN 'dead'
	    WHEN c.resource <> coalesce(p_resource, '') THEN 'target'
	    WHEN p_sid IS NULL AND (c.resource IS NULL OR c.user_key IS NULL)
		THEN 'no_session'
	    WHEN c.sid <> p_sid OR c.bucket <> p_bucket THEN 'invalid_session'
	    END;
	IF outcome <> 'reused' THEN
		RETURN;
	END IF;
	IF outcome IS NULL AND p_sid IS NOT NULL THEN
		SELECT j.fault, j.user_key, j.began_at
		INTO outcome, of_user, began_at
		FROM poppy.session_judge(p_bucket, p_sid, p_client_no, NULL,
		    c.account, p_idle_s, p_max_s, now_at, p_address) j;
		IF outcome IS NOT NULL THEN
			RETURN;
		END IF;
	END IF;

	again := outcome = 'reused';
	SELECT s.outcome, s.replayed, s.retry_s
	INTO outcome, replayed, retry_s
	FROM poppy.spend_count(p_spend, p_iat, p_future_s, p_jkt IS NULL,
	    p_account_token IS NULL AND p_jkt IS NULL, 1, p_address_key,
	    p_per_address, p_client_no, p_per_client, now_at, p_bucket, p_sid,
	    p_address) s;
	IF outcome IS NOT NULL THEN
		RETURN;
	ELSIF again THEN
		outcome := 'reused';
		ignored := poppy.grant_end(c.grant_bucket, c.grant_no,
		    'code_reused', now_at, p_address);
		RETURN;
	END IF;
	IF c.challenge IS DISTINCT FROM p_challenge THEN
		UPDATE poppy.code k SET tries = k.tries + 1
		WHERE k.hash = p_code;
		outcome := 'verifier';
		ignored := poppy.audit_put('sign_in_failed', p_client_no,
		    of_user, p_bucket, p_sid, p_address,
		    'direct: wrong verifier', c.account);
		RETURN;
	END IF;
	sid := coalesce(p_sid, p_new_sid);
	scopes := c.scopes;
	SELECT s.expires_in, s.grant_expires_in, s.grant_no
	INTO expires_in, grant_expires_in, given
	FROM poppy.sign_in('direct', p_client_no, p_sid IS NULL, p_bucket, sid,
	    coalesce(of_user, c.user_key), began_at, c.account, c.scopes,
	    c.resource, NULL, p_token, p_token_s, p_account_token, p_grant_s,
	    p_idle_s, p_max_s, p_jkt, p_resource, now_at, p_address) s;
	UPDATE poppy.code k
	SET used_at = now_at, grant_bucket = p_bucket, grant_no = given
	WHERE k.hash = p_code;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.code_redeem(bigint, bigint, bytea, text,
    bytea, int, bytea, bytea, bytea, int, bytea, bigint, bigint, bigint, bytea,
    text, bytea[], bigint[], int, text, bytea, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.code_redeem(bigint, bigint, bytea, text,
    bytea, int, bytea, bytea, bytea, int, bytea, bigint, bigint, bigint, bytea,
    text, bytea[], bigint[], int, text, bytea, int, int) TO poppy_auth;
