-- Use an Account Token (RFC 6749, 6): a Session Token for p_sid, which it signs
-- in, or for a new Session p_new_sid, signed in from the start.
--   ok			scopes, and how long the grant still is. rotated: the
--			successor is what the agent must use from now on
--   dead		unknown, another client's, revoked or over; or the account is
--			not to be used now
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
	of_no bigint;
	of_user bytea;
	of_account text;
	granted text;
	bound text;
	until_at bigint;
	was_used bigint;
	of_shop text;
	gone_at bigint;		-- when it had its successor
	began_at bigint := now_at;
	session_account text;
	known boolean := false;	-- to the Session, which has this grant
	reused boolean;
	seen int;
	end_at bigint;
BEGIN
	-- Client, token, grant and account in one statement, which is also the
	-- lock: this is asked as often as Sessions are started.
	SELECT g.grant_no, g.user_key, g.account, g.scopes, g.resource,
	    g.expires_at, g.used_at, a.replaced_at,
	    (SELECT s.status FROM poppy_shop.customer s
	    WHERE s.id = g.account)
	INTO of_no, of_user, of_account, granted, bound, until_at, was_used,
	    gone_at, of_shop
	FROM poppy.account_token a
	JOIN poppy.grants g ON g.bucket = a.bucket AND g.grant_no = a.grant_no
	JOIN poppy.client c ON c.client_no = g.client_no
	WHERE a.bucket = p_bucket::smallint AND a.hash = p_account_token
	    AND g.client_no = p_client_no AND g.revoked_at IS NULL
	    AND g.expires_at > now_at AND c.status = 'known'
	    AND c.version = p_client_version
	FOR NO KEY UPDATE OF g;
	IF NOT FOUND THEN
		outcome := coalesce(poppy.client_judge(p_client_no,
		    p_client_version, p_bucket, p_sid, p_address), 'dead');
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
		    WHEN of_shop IS DISTINCT FROM 'ok' THEN 'dead'
		    WHEN bound <> coalesce(p_resource, '') THEN 'target'
		    WHEN p_scopes IS NOT NULL AND (p_scopes = ''
			OR NOT string_to_array(p_scopes, ' ')
			<@ string_to_array(granted, ' ')) THEN 'scope' END;
		IF outcome IS NOT NULL THEN
			RETURN;
		END IF;
	END IF;
	IF p_sid IS NOT NULL AND NOT reused THEN
		SELECT s.started_at, s.account, EXISTS (SELECT
		    FROM poppy.session_grant sg WHERE sg.bucket = s.bucket
			AND sg.sid = s.sid AND sg.grant_no = of_no)
		INTO began_at, session_account, known
		FROM poppy.session s
		WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid
		    AND s.client_no = p_client_no AND s.user_key = of_user
		    AND s.ended_at IS NULL AND s.used_at + p_idle_s > now_at
		    AND s.started_at + p_max_s > now_at
		FOR NO KEY UPDATE;
		IF NOT FOUND OR session_account <> of_account THEN
			outcome := CASE WHEN FOUND THEN 'account_mismatch'
			    ELSE 'invalid_session' END;
			ignored := poppy.audit_put(outcome, p_client_no,
			    of_user, p_bucket, p_sid, p_address, NULL);
			RETURN;
		END IF;
	END IF;

	seen := poppy.spend(p_spend, p_iat, p_future_s, now_at);
	IF seen IS DISTINCT FROM 0 THEN
		outcome := CASE WHEN seen IS NULL THEN 'clock'
		    WHEN seen < 0 THEN 'epoch' ELSE 'replay' END;
		retry_s := CASE WHEN seen IS NULL THEN 1
		    WHEN seen < 0 THEN -seen END;
		IF seen > 0 THEN
			replayed := seen;
			ignored := poppy.audit_put(outcome, p_client_no,
			    of_user, p_bucket, p_sid, p_address,
			    CASE seen + (p_jkt IS NULL)::int WHEN 1 THEN 'proof'
			    ELSE 'client_assertion' END);
		END IF;
		RETURN;
	END IF;
	IF p_per_address > 0 OR p_per_client > 0 THEN
		outcome := poppy.limited(1, p_address_key, p_per_address,
		    p_client_no, p_per_client, now_at);
		IF outcome IS NOT NULL THEN
			ignored := poppy.unspend(p_spend);
			ignored := poppy.audit_put(outcome, p_client_no,
			    of_user, NULL, NULL, p_address, NULL);
			retry_s := 60 - now_at % 60;
			RETURN;
		END IF;
	END IF;
	IF reused THEN
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

	-- Its Sessions know their last use to the second; this is for when they
	-- are gone.
	IF was_used < now_at - 86400 THEN
		UPDATE poppy.grants g SET used_at = now_at
		WHERE g.bucket = p_bucket::smallint AND g.grant_no = of_no;
	END IF;
	-- As session_sign, without the call.
	sid := coalesce(p_sid, p_new_sid);
	scopes := coalesce(p_scopes, granted);
	end_at := least(now_at + p_idle_s, began_at + p_max_s);
	IF poppy.fits(p_bucket, sid, of_user, p_token, p_jkt, p_resource)
	    IS NOT TRUE THEN
		RAISE 'a Session or a token of another shape';
	END IF;
	IF p_sid IS NULL THEN
		INSERT INTO poppy.session (bucket, sid, client_no, user_key,
		    started_at, used_at, ends_at, account)
		VALUES (p_bucket, sid, p_client_no, of_user, now_at, now_at,
		    end_at, of_account);
		INSERT INTO poppy.session_grant (bucket, sid, grant_no)
		VALUES (p_bucket, sid, of_no);
	ELSE
		UPDATE poppy.session s
		SET used_at = greatest(s.used_at, now_at), ends_at = end_at,
		    account = of_account
		WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid;
		IF NOT known THEN
			INSERT INTO poppy.session_grant (bucket, sid, grant_no)
			VALUES (p_bucket, p_sid, of_no)
			ON CONFLICT DO NOTHING;
		END IF;
	END IF;
	end_at := least(end_at, now_at + p_token_s);
	INSERT INTO poppy.token (bucket, hash, sid, jkt, resource, scopes,
	    grant_no, issued_at, expires_at)
	VALUES (p_bucket, p_token, sid, p_jkt, p_resource, scopes, of_no,
	    now_at, end_at);
	expires_in := end_at - now_at;
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
