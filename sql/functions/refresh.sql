-- Use an Account Token (RFC 6749, 6): a Session Token for p_sid, which it signs
-- in, or for a new Session p_new_sid, signed in from the start.
--   ok			scopes, and how long the grant still is. rotated: the
--			successor is what the agent must use from now on
--   dead		unknown, another client's, revoked or over, or the shop has
--		closed the account
--   reused		it has had its successor for longer than p_grace_s: the
--			grant is revoked now
--   target		the grant is for another resource
--   scope		p_scopes (NULL: all) is not part of the grant's
--   invalid_session, account_mismatch	the Session. One whose id names another
--			bucket than the token's goes down as an empty p_sid
-- and as session_start. dead, target, scope and the errors of client and Session
-- spend nothing.
-- p_successor is derived from the token, so it is the same each time; NULL: no
-- rotation. The grant's row is the lock: a revocation comes before or after.
-- Without rotation a crash may take what was given, as with a Session start.
CREATE OR REPLACE FUNCTION poppy_api.token_refresh(p_client_no bigint,
    p_client_version bigint, p_account_token bytea, p_bucket int, p_sid bytea,
    p_new_sid bytea, p_token bytea, p_token_s int, p_idle_s bigint,
    p_max_s bigint, p_jkt bytea, p_resource text, p_scopes text,
    p_successor bytea, p_grace_s int, p_spend bytea[], p_iat bigint[],
    p_future_s int, p_address text, p_address_key bytea, p_per_address int,
    p_per_client int, OUT outcome text, OUT replayed int, OUT retry_s int,
    OUT sid bytea, OUT scopes text, OUT expires_in int, OUT rotated boolean,
    OUT grant_expires_in bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	durable text := current_setting('synchronous_commit');
	ignored text := set_config('synchronous_commit', 'off', true);
	of_client text;
	of_version bigint;
	of_no bigint;
	of_user bytea;
	of_account text;
	granted text;
	bound text;
	until_at bigint;
	was_used bigint;
	gone_at bigint;		-- when it had its successor
	began_at bigint := now_at;
	reused boolean := false;
BEGIN
	SELECT c.status, c.version INTO of_client, of_version
	FROM poppy.client c WHERE c.client_no = p_client_no;
	IF of_client = 'blocked' OR of_version IS DISTINCT FROM p_client_version
	THEN
		outcome := poppy.client_judge(p_client_no, p_client_version,
		    p_bucket, p_sid, p_address);
		RETURN;
	END IF;
	SELECT g.grant_no, g.user_key, g.account, g.scopes, g.resource,
	    g.expires_at, g.used_at, a.replaced_at
	INTO of_no, of_user, of_account, granted, bound, until_at, was_used,
	    gone_at
	FROM poppy.account_token a
	JOIN poppy.grants g ON g.bucket = a.bucket AND g.grant_no = a.grant_no
	WHERE a.bucket = p_bucket::smallint AND a.hash = p_account_token
	    AND g.client_no = p_client_no AND g.revoked_at IS NULL
	    AND g.expires_at > now_at
	FOR NO KEY UPDATE OF g;
	IF NOT FOUND OR poppy.customer_status(of_account) IS DISTINCT FROM 'ok'
	THEN
		outcome := 'dead';
		RETURN;
	END IF;
	-- Somebody may have exchanged it while this waited for the lock. Without
	-- rotation here that was a moment ago, and its grace lasts.
	IF p_successor IS NOT NULL THEN
		gone_at := (SELECT a.replaced_at FROM poppy.account_token a
		    WHERE a.bucket = p_bucket::smallint
			AND a.hash = p_account_token);
	END IF;
	reused := gone_at IS NOT NULL AND gone_at + p_grace_s < now_at;
	IF NOT reused THEN
		outcome := CASE
		    WHEN bound <> coalesce(p_resource, '') THEN 'target'
		    WHEN p_scopes = '' OR NOT string_to_array(p_scopes, ' ')
			<@ string_to_array(granted, ' ') THEN 'scope' END;
		IF outcome IS NULL AND p_sid IS NOT NULL THEN
			SELECT j.fault, j.began_at INTO outcome, began_at
			FROM poppy.session_judge(p_bucket, p_sid, p_client_no,
			    of_user, of_account, p_idle_s, p_max_s, now_at,
			    p_address) j;
		END IF;
		IF outcome IS NOT NULL THEN
			RETURN;
		END IF;
	END IF;
	SELECT s.outcome, s.replayed, s.retry_s
	INTO outcome, replayed, retry_s
	FROM poppy.spend_count(p_spend, p_iat, p_future_s, p_jkt IS NULL, false,
	    1, p_address_key, p_per_address, p_client_no, p_per_client, now_at,
	    p_bucket, p_sid, p_address) s;
	IF outcome IS NOT NULL THEN
		RETURN;
	ELSIF reused THEN
		ignored := set_config('synchronous_commit', durable, true);
		ignored := poppy.grant_end(p_bucket, of_no, 'grant_reused',
		    now_at, p_address);
		outcome := 'reused';
		RETURN;
	END IF;

	rotated := p_successor IS NOT NULL;
	IF rotated THEN
		ignored := set_config('synchronous_commit', durable, true);
		-- Said again it is there already; by another master key it is
		-- one more of the same grant.
		INSERT INTO poppy.account_token (bucket, hash, grant_no,
		    issued_at)
		VALUES (p_bucket, p_successor, of_no, now_at)
		ON CONFLICT DO NOTHING;
		IF gone_at IS NULL THEN
			UPDATE poppy.account_token a
			SET replaced_at = now_at, successor = p_successor
			WHERE a.bucket = p_bucket::smallint
			    AND a.hash = p_account_token;
		END IF;
	END IF;
	IF was_used < now_at - 60 THEN
		UPDATE poppy.grants g SET used_at = now_at
		WHERE g.bucket = p_bucket::smallint AND g.grant_no = of_no;
	END IF;
	sid := coalesce(p_sid, p_new_sid);
	scopes := coalesce(p_scopes, granted);
	expires_in := poppy.session_sign(p_sid IS NULL, p_bucket, sid,
	    p_client_no, of_user, of_account, began_at, of_no, scopes, p_token,
	    p_token_s, p_idle_s, p_max_s, p_jkt, p_resource, now_at);
	grant_expires_in := until_at - now_at;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.token_refresh(bigint, bigint, bytea, int,
    bytea, bytea, bytea, int, bigint, bigint, bytea, text, text, bytea, int,
    bytea[], bigint[], int, text, bytea, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.token_refresh(bigint, bigint, bytea, int,
    bytea, bytea, bytea, int, bigint, bigint, bytea, text, text, bytea, int,
    bytea[], bigint[], int, text, bytea, int, int) TO poppy_auth;
