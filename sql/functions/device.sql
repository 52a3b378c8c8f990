-- Device Sign-In (RFC 8628).

-- A request of an agent. user_code is unique over all that are remembered.
--   ok
--   taken	the user_code is in use: make another one and call again; nothing
--		was spent
-- and blocked, stale, replay, epoch, clock, limit_address, limit_client as
-- session_start. Counts as a token request. May be lost in a crash.
CREATE OR REPLACE FUNCTION poppy_api.device_start(p_client_no bigint,
    p_client_version bigint, p_device bytea, p_user_code text, p_name text,
    p_logo text, p_scopes text, p_seconds int, p_interval_s int,
    p_spend bytea[], p_iat bigint[], p_future_s int, p_address text,
    p_address_key bytea, p_per_address int, p_per_client int,
    OUT outcome text, OUT replayed int, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	outcome := poppy.client_judge(p_client_no, p_client_version, NULL, NULL,
	    p_address);
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	INSERT INTO poppy.device (hash, user_code, client_no, client_id, name,
	    logo_uri, scopes, interval_s, created_at, expires_at)
	SELECT p_device, p_user_code, p_client_no, c.client_id, p_name, p_logo,
	    p_scopes, p_interval_s, now_at, now_at + p_seconds
	FROM poppy.client c WHERE c.client_no = p_client_no
	ON CONFLICT (user_code) DO NOTHING;
	IF NOT FOUND THEN
		outcome := 'taken';
		RETURN;
	END IF;
	SELECT s.outcome, s.replayed, s.retry_s
	INTO outcome, replayed, retry_s
	FROM poppy.spend_count(p_spend, p_iat, p_future_s, true, false, 1,
	    p_address_key, p_per_address, p_client_no, p_per_client, now_at,
	    NULL, NULL, p_address) s;
	IF outcome IS NOT NULL THEN
		DELETE FROM poppy.device d WHERE d.hash = p_device;
		RETURN;
	END IF;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.device_start(bigint, bigint, bytea, text,
    text, text, text, int, int, bytea[], bigint[], int, text, bytea, int, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.device_start(bigint, bigint, bytea, text,
    text, text, text, int, int, bytea[], bigint[], int, text, bytea, int, int)
    TO poppy_auth;

-- What the page shows about a user_code: 'ok'; 'absent' for one that is unknown,
-- expired or decided; 'limit', retry_s. A miss counts for the account and for
-- its address, before it is known to be one. Whoever has seen it last may
-- decide, so nobody can guess at device_decide. (Nobody who holds one of these
-- counts is waited for by who holds a device's row.)
CREATE OR REPLACE FUNCTION poppy_api.device_show(p_user_code text,
    p_account text, p_address_key bytea, p_guesses int, OUT outcome text,
    OUT retry_s int, OUT client_id text, OUT name text, OUT logo text,
    OUT scopes text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	of_account bytea := sha256(convert_to(p_account, 'UTF8'));
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	IF poppy.quarter_full(9, p_address_key, p_guesses, now_at)
	    OR poppy.quarter_full(10, of_account, p_guesses, now_at) THEN
		outcome := 'limit';
		retry_s := 900 - now_at % 900;
		RETURN;
	END IF;
	UPDATE poppy.device d SET account = p_account
	WHERE d.user_code = p_user_code AND d.status = 'pending'
	    AND d.expires_at > now_at AND EXISTS (SELECT FROM poppy.client c
		WHERE c.client_no = d.client_no AND c.status = 'known')
	RETURNING d.client_id, d.name, d.logo_uri, d.scopes
	INTO client_id, name, logo, scopes;
	IF NOT FOUND THEN
		outcome := 'absent';
		RETURN;
	END IF;
	outcome := 'ok';
	ignored := poppy.quarter_back(9, p_address_key, now_at);
	ignored := poppy.quarter_back(10, of_account, now_at);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.device_show(text, text, bytea, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.device_show(text, text, bytea, int)
    TO poppy_auth;

-- Decide, once: 'ok', and approved false if declined or no scope of the request
-- is left; 'absent' as above, or somebody else saw it last; 'refused' if the
-- account is not to be used, and status says why.
CREATE OR REPLACE FUNCTION poppy_api.device_decide(p_user_code text,
    p_account text, p_approve boolean, p_scopes text, p_address text,
    OUT outcome text, OUT approved boolean, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	d poppy.device;
	granted text;
	ignored text;
BEGIN
	SELECT * INTO d FROM poppy.device r
	WHERE r.user_code = p_user_code FOR NO KEY UPDATE;
	IF (d.status = 'pending' AND d.account = p_account
	    AND d.expires_at > now_at AND EXISTS (SELECT FROM poppy.client c
		WHERE c.client_no = d.client_no AND c.status = 'known'))
	    IS NOT TRUE THEN
		outcome := 'absent';
		RETURN;
	END IF;
	granted := poppy.scope_cut(p_scopes, d.scopes);
	approved := coalesce(p_approve, false) AND granted <> '';
	IF approved THEN
		status := poppy.customer_status(p_account);
		IF status <> 'ok' THEN
			outcome := 'refused';
			approved := NULL;
			RETURN;
		END IF;
	ELSE
		ignored := poppy.audit_put('sign_in_declined', d.client_no,
		    NULL, NULL, NULL, p_address, 'device', p_account);
	END IF;
	UPDATE poppy.device r
	SET status = CASE WHEN approved THEN 'approved' ELSE 'denied' END,
	    scopes = CASE WHEN approved THEN granted ELSE r.scopes END
	WHERE r.hash = d.hash;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.device_decide(text, text, boolean, text, text)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.device_decide(text, text, boolean, text,
    text) TO poppy_auth;

-- An agent's poll.
--   ok			signed in, once
--   pending, slow_down	not decided; too early after the last poll that was
--			answered, and from now on it is 5 s longer
--   denied, expired	declined; not decided or fetched in time
--   dead		unknown, another client's, used, or the account is not to
--			be used any more
--   invalid_session, account_mismatch	the Session
-- and as session_start. Every poll that is answered spends what it brings; dead
-- and the errors of client and Session spend nothing. An approved request is
-- answered even on an early poll. Only a sign-in waits for the disk.
CREATE OR REPLACE FUNCTION poppy_api.device_redeem(p_client_no bigint,
    p_client_version bigint, p_device bytea, p_bucket int, p_sid bytea,
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
	durable text := current_setting('synchronous_commit');
	ignored text := set_config('synchronous_commit', 'off', true);
	d poppy.device;
	of_user bytea;
	began_at bigint;
	answer text;
BEGIN
	outcome := poppy.client_judge(p_client_no, p_client_version, p_bucket,
	    p_sid, p_address);
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT * INTO d FROM poppy.device r
	WHERE r.hash = p_device FOR NO KEY UPDATE;
	answer := CASE
	    WHEN d.hash IS NULL OR d.client_no <> p_client_no
		OR d.status = 'used' THEN 'dead'
	    WHEN d.status = 'denied' THEN 'denied'
	    WHEN d.expires_at <= now_at THEN 'expired'
	    WHEN d.status = 'approved' THEN
		CASE WHEN poppy.customer_status(d.account) = 'ok' THEN 'ok'
		ELSE 'dead' END
	    WHEN now_at - d.polled_at < d.interval_s THEN 'slow_down'
	    ELSE 'pending' END;
	IF answer = 'dead' THEN
		outcome := answer;
		RETURN;
	ELSIF answer NOT IN ('denied', 'expired') THEN
		-- Who polls for a Session that is over is told at once; the
		-- account is not known before the end.
		SELECT j.fault, j.user_key, j.began_at
		INTO outcome, of_user, began_at
		FROM poppy.session_judge(p_bucket, p_sid, p_client_no, NULL,
		    CASE WHEN answer = 'ok' THEN d.account END, p_idle_s,
		    p_max_s, now_at, p_address) j;
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
	END IF;
	outcome := answer;
	IF answer <> 'ok' THEN
		UPDATE poppy.device r
		SET polled_at = now_at, interval_s = r.interval_s +
		    CASE WHEN answer = 'slow_down' THEN 5 ELSE 0 END
		WHERE r.hash = p_device;
		RETURN;
	END IF;
	ignored := set_config('synchronous_commit', durable, true);
	sid := p_sid;
	scopes := d.scopes;
	SELECT s.expires_in, s.grant_expires_in
	INTO expires_in, grant_expires_in
	FROM poppy.sign_in('device', p_client_no, false, p_bucket, p_sid,
	    of_user, began_at, d.account, d.scopes, NULL, NULL, p_token,
	    p_token_s, p_account_token, p_grant_s, p_idle_s, p_max_s, p_jkt,
	    p_resource, now_at, p_address) s;
	UPDATE poppy.device r SET status = 'used' WHERE r.hash = p_device;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.device_redeem(bigint, bigint, bytea, int,
    bytea, bytea, int, bytea, bigint, bigint, bigint, bytea, text, bytea[],
    bigint[], int, text, bytea, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.device_redeem(bigint, bigint, bytea, int,
    bytea, bytea, int, bytea, bigint, bigint, bigint, bytea, text, bytea[],
    bigint[], int, text, bytea, int, int) TO poppy_auth;
