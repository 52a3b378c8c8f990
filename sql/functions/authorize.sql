-- An authorization request (RFC 6749, 4.1.1), from the agent's link to the code.
-- It is stored here and named by a random id, so what the consent page sends back
-- decides nothing but yes or no, and which scopes.

--   ok		stored, for p_seconds
--   blocked	the client is, or isn't known
--   limit	has had its requests of this minute: 429, retry_s
-- May be lost in a crash: nothing was decided.
CREATE OR REPLACE FUNCTION poppy_api.authorize_start(p_request bytea,
    p_client_no bigint, p_client_id text, p_name text, p_logo text,
    p_redirect text, p_state text, p_challenge bytea, p_scopes text,
    p_sid bytea, p_bucket int, p_resource text, p_seconds int,
    p_address_key bytea, p_per_address int, OUT outcome text, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	IF NOT EXISTS (SELECT FROM poppy.client c
	    WHERE c.client_no = p_client_no AND c.status = 'known') THEN
		outcome := 'blocked';
	ELSIF poppy.limited(5, p_address_key, p_per_address, NULL, 0, now_at)
	    IS NOT NULL THEN
		outcome := 'limit';
		retry_s := 60 - now_at % 60;
	ELSE
		INSERT INTO poppy.sign_in_request (hash, client_no, client_id,
		    name, logo_uri, redirect_uri, state, challenge, scopes,
		    bucket, sid, resource, created_at, expires_at)
		VALUES (p_request, p_client_no, p_client_id, p_name, p_logo,
		    p_redirect, p_state, p_challenge, p_scopes, p_bucket,
		    p_sid, p_resource, now_at, now_at + p_seconds);
		outcome := 'ok';
	END IF;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.authorize_start(bytea, bigint, text, text,
    text, text, text, bytea, text, bytea, int, text, int, bytea, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.authorize_start(bytea, bigint, text, text,
    text, text, text, bytea, text, bytea, int, text, int, bytea, int)
    TO poppy_auth;

-- Lock a request that can still be decided, for p_account. What is judged is
-- outcome: 'ok', 'absent' (unknown, expired, decided, or its client is blocked),
-- 'other_account' (somebody else has begun it).
CREATE OR REPLACE FUNCTION poppy.request_judge(p_request bytea,
    p_account text, p_now bigint, OUT outcome text,
    OUT r poppy.sign_in_request)
LANGUAGE plpgsql
AS $$
BEGIN
	SELECT * INTO r FROM poppy.sign_in_request q
	WHERE q.hash = p_request FOR NO KEY UPDATE;
	outcome := CASE
	    WHEN r.hash IS NULL OR r.decided_at IS NOT NULL
		OR r.expires_at <= p_now
		OR NOT EXISTS (SELECT FROM poppy.client c
		WHERE c.client_no = r.client_no AND c.status = 'known')
		THEN 'absent'
	    WHEN r.account <> p_account THEN 'other_account'
	    ELSE 'ok' END;
END
$$;

-- What the consent page shows. Whoever sees it first is the only one who may
-- decide.
CREATE OR REPLACE FUNCTION poppy_api.authorize_show(p_request bytea,
    p_account text, OUT outcome text, OUT client_no bigint,
    OUT client_id text, OUT name text, OUT logo text, OUT redirect text,
    OUT scopes text, OUT resource text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	r poppy.sign_in_request;
	judged record;
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	judged := poppy.request_judge(p_request, p_account, poppy.now_at());
	outcome := judged.outcome;
	r := judged.r;
	IF outcome <> 'ok' THEN
		RETURN;
	END IF;
	IF r.account IS NULL THEN
		UPDATE poppy.sign_in_request q SET account = p_account
		WHERE q.hash = p_request;
	END IF;
	client_no := r.client_no;
	client_id := r.client_id;
	name := r.name;
	logo := r.logo_uri;
	redirect := r.redirect_uri;
	scopes := r.scopes;
	resource := r.resource;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.authorize_show(bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.authorize_show(bytea, text) TO poppy_auth;

-- Decide, once. approved false: declined, or no scope of the request is left.
--   ok		redirect to `redirect` with state; with the code if approved
--   absent	as above, or nobody has seen it
--   other_account
--   refused	the account is not to be used: status says why
-- p_user_key is the User of an MCP client's request (no Session, a resource).
CREATE OR REPLACE FUNCTION poppy_api.authorize_decide(p_request bytea,
    p_account text, p_approve boolean, p_scopes text, p_code bytea,
    p_code_s int, p_user_key bytea, p_address text, OUT outcome text,
    OUT redirect text, OUT state text, OUT approved boolean, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	r poppy.sign_in_request;
	judged record;
	granted text;
	ignored text;
BEGIN
	judged := poppy.request_judge(p_request, p_account, now_at);
	outcome := judged.outcome;
	r := judged.r;
	IF outcome = 'ok' AND r.account IS NULL THEN
		outcome := 'absent';
	END IF;
	IF outcome <> 'ok' THEN
		RETURN;
	END IF;
	granted := poppy.scope_cut(p_scopes, r.scopes);
	approved := coalesce(p_approve, false) AND granted <> '';
	IF approved THEN
		status := poppy.customer_status(p_account);
		IF status <> 'ok' THEN
			outcome := 'refused';
			approved := NULL;
			RETURN;
		END IF;
		INSERT INTO poppy.code (hash, client_no, redirect_uri,
		    challenge, scopes, account, bucket, sid, resource,
		    user_key, created_at, expires_at)
		VALUES (p_code, r.client_no, r.redirect_uri, r.challenge,
		    granted, p_account, r.bucket, r.sid, r.resource,
		    CASE WHEN r.sid IS NULL AND r.resource IS NOT NULL
		    THEN p_user_key END, now_at, now_at + p_code_s);
	ELSE
		ignored := poppy.audit_put('sign_in_declined', r.client_no,
		    NULL, r.bucket, r.sid, p_address, 'direct', p_account);
	END IF;
	UPDATE poppy.sign_in_request q SET decided_at = now_at
	WHERE q.hash = p_request;
	redirect := r.redirect_uri;
	state := r.state;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.authorize_decide(bytea, text, boolean, text,
    bytea, int, bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.authorize_decide(bytea, text, boolean,
    text, bytea, int, bytea, text) TO poppy_auth;
