-- Mediated Sign-In (section 4.7). The Session Token and its proof were judged by
-- token_use, which spent the proof; what is left is the customer and the Session.

-- What the shop has of a login name, as login_begin; an attempt counts for the
-- login, wherever somebody tries it, for the address and for the client, until
-- it turns out to be right. limit: retry_s. unusual: a one-time code should be
-- asked for, since this client never had a grant of this account, or not at this
-- address, or it was shut out since (it may still know the password), or there
-- were failures today or yesterday.
CREATE OR REPLACE FUNCTION poppy_api.mediated_begin(p_bucket int,
    p_sid bytea, p_client_no bigint, p_login text, p_login_key bytea,
    p_address_key bytea, p_per_login int, p_per_address int,
    p_per_client int, OUT outcome text, OUT retry_s int, OUT account text,
    OUT name text, OUT email text, OUT phone text, OUT password_hash text,
    OUT hash_kind text, OUT status text, OUT locale text,
    OUT unusual boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
	c poppy_shop.customer;
	failed int;
BEGIN
	IF poppy.quarter_full(6, p_address_key, p_per_address, now_at)
	    OR poppy.quarter_full(7, p_login_key, p_per_login, now_at)
	    OR poppy.quarter_full(8, int8send(p_client_no), p_per_client,
		now_at) THEN
		outcome := 'limit';
		retry_s := 900 - now_at % 900;
		RETURN;
	END IF;
	failed := poppy.day_count(p_login_key, 1, now_at) - 1;
	c := poppy.customer_find(p_login);
	outcome := CASE WHEN c.id IS NULL THEN 'unknown' ELSE 'ok' END;
	account := c.id;
	name := c.name;
	email := c.email;
	phone := c.phone;
	password_hash := c.password_hash;
	hash_kind := c.hash_kind;
	status := c.status;
	locale := c.locale;
	unusual := failed > 0 OR NOT EXISTS (SELECT FROM poppy.grants g
	    WHERE g.account = c.id AND g.client_no = p_client_no
		AND g.address_key = p_address_key
		AND NOT EXISTS (SELECT FROM poppy.grants e
		    WHERE e.account = g.account AND e.client_no = g.client_no
			AND e.revoked_why <> 'signed_out'
			AND (e.grant_no = g.grant_no
			    OR e.revoked_at > g.created_at)));
END
$$;
REVOKE ALL ON FUNCTION poppy_api.mediated_begin(int, bytea, bigint, text,
    bytea, bytea, int, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.mediated_begin(int, bytea, bigint, text,
    bytea, bytea, int, int, int) TO poppy_auth;

-- Failures of a login name today and yesterday, with p_more of now. The row of a
-- day stands under the last minute of the day after, since clean() takes what is
-- over.
CREATE OR REPLACE FUNCTION poppy.day_count(p_login_key bytea, p_more int,
    p_now bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	today bigint := (p_now / 86400 + 2) * 1440 - 1;
	n int;
BEGIN
	INSERT INTO poppy.limit_count AS l (minute, kind, key, shard, n)
	VALUES (today, 11, p_login_key, 0, greatest(p_more, 0))
	ON CONFLICT (minute, kind, key, shard)
	DO UPDATE SET n = greatest(l.n + p_more, 0)
	RETURNING l.n INTO n;
	RETURN n + coalesce((SELECT l.n FROM poppy.limit_count l
	    WHERE l.minute = today - 1440 AND l.kind = 11
		AND l.key = p_login_key AND l.shard = 0), 0);
END
$$;

-- Give back what an attempt that was right has counted.
CREATE OR REPLACE FUNCTION poppy.mediated_back(p_client_no bigint,
    p_login_key bytea, p_address_key bytea, p_now bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
	ignored text;
BEGIN
	ignored := poppy.quarter_back(6, p_address_key, p_now);
	ignored := poppy.quarter_back(7, p_login_key, p_now);
	ignored := poppy.quarter_back(8, int8send(p_client_no), p_now);
	IF p_login_key IS NOT NULL THEN
		ignored := poppy.day_count(p_login_key, -1, p_now);
	END IF;
END
$$;

-- The common end: customer and Session judged, then signed in.
CREATE OR REPLACE FUNCTION poppy.mediated_sign_in(p_client_no bigint,
    p_bucket int, p_sid bytea, p_account text, p_scopes text, p_token bytea,
    p_token_s int, p_account_token bytea, p_grant_s bigint, p_idle_s bigint,
    p_max_s bigint, p_jkt bytea, p_resource text, p_login_key bytea,
    p_address_key bytea, p_address text, p_now bigint, OUT outcome text,
    OUT expires_in int, OUT grant_expires_in bigint, OUT status text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
	of_user bytea;
	began_at bigint;
	ignored text;
BEGIN
	status := poppy.customer_status(p_account);
	IF status <> 'ok' THEN
		outcome := 'refused';
		ignored := poppy.audit_put('sign_in_failed', p_client_no, NULL,
		    p_bucket, p_sid, p_address, 'mediated: ' || status,
		    p_account);
		RETURN;
	END IF;
	SELECT j.fault, j.user_key, j.began_at
	INTO outcome, of_user, began_at
	FROM poppy.session_judge(p_bucket, p_sid, p_client_no, NULL, p_account,
	    p_idle_s, p_max_s, p_now, p_address) j;
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT s.expires_in, s.grant_expires_in
	INTO expires_in, grant_expires_in
	FROM poppy.sign_in('mediated', p_client_no, false, p_bucket, p_sid,
	    of_user, began_at, p_account, p_scopes, NULL, p_address_key,
	    p_token, p_token_s, p_account_token, p_grant_s, p_idle_s, p_max_s,
	    p_jkt, p_resource, p_now, p_address) s;
	ignored := poppy.mediated_back(p_client_no, p_login_key, p_address_key,
	    p_now);
	outcome := 'ok';
END
$$;

-- The password was right and no code is needed.
--   ok			signed in; durable
--   refused		the account is not to be used: status
--   invalid_session, account_mismatch	the Session
-- p_login_key and p_address_key as for mediated_begin, whose counts are given
-- back. The address's stays with the grant, to know it again, so it should be an
-- HMAC.
CREATE OR REPLACE FUNCTION poppy_api.mediated_finish(p_client_no bigint,
    p_bucket int, p_sid bytea, p_account text, p_scopes text, p_token bytea,
    p_token_s int, p_account_token bytea, p_grant_s bigint, p_idle_s bigint,
    p_max_s bigint, p_jkt bytea, p_resource text, p_login_key bytea,
    p_address_key bytea, p_address text, OUT outcome text, OUT scopes text,
    OUT expires_in int, OUT grant_expires_in bigint, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	SELECT s.outcome, s.expires_in, s.grant_expires_in, s.status
	INTO outcome, expires_in, grant_expires_in, status
	FROM poppy.mediated_sign_in(p_client_no, p_bucket, p_sid, p_account,
	    p_scopes, p_token, p_token_s, p_account_token, p_grant_s, p_idle_s,
	    p_max_s, p_jkt, p_resource, p_login_key, p_address_key, p_address,
	    poppy.now_at()) s;
	scopes := CASE WHEN outcome = 'ok' THEN p_scopes END;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.mediated_finish(bigint, int, bytea, text,
    text, bytea, int, bytea, bigint, bigint, bigint, bytea, text, bytea, bytea,
    text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.mediated_finish(bigint, int, bytea, text,
    text, bytea, int, bytea, bigint, bigint, bigint, bytea, text, bytea, bytea,
    text) TO poppy_auth;

-- The password was right and a one-time code (p_code: an HMAC of it) is on its
-- way, or will be: 'ok', 'refused', 'invalid_session' or 'account_mismatch' as
-- above. An earlier sign-in of this Session to this account, which still waits
-- for its code, has failed with this. The counts stay until the code was right.
CREATE OR REPLACE FUNCTION poppy_api.mediated_ask(p_id bytea, p_bucket int,
    p_sid bytea, p_account text, p_scopes text, p_code bytea,
    p_sent_to text, p_seconds int, p_tries int, p_login_key bytea,
    p_address_key bytea, OUT outcome text, OUT expires_at bigint,
    OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
	of_account text;
BEGIN
	status := poppy.customer_status(p_account);
	SELECT s.account INTO of_account FROM poppy.session s
	WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid
	    AND s.ended_at IS NULL;
	outcome := CASE WHEN status <> 'ok' THEN 'refused'
	    WHEN NOT FOUND THEN 'invalid_session'
	    WHEN of_account <> p_account THEN 'account_mismatch' END;
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	UPDATE poppy.mediated m SET status = 'failed'
	WHERE m.account = p_account AND m.bucket = p_bucket::smallint
	    AND m.sid = p_sid AND m.status = 'waiting';
	expires_at := now_at + p_seconds;
	INSERT INTO poppy.mediated (hash, bucket, sid, account, scopes, code,
	    sent_to, tries, login_key, address_key, created_at, expires_at)
	VALUES (p_id, p_bucket, p_sid, p_account, p_scopes, p_code, p_sent_to,
	    p_tries, p_login_key, p_address_key, now_at, expires_at);
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.mediated_ask(bytea, int, bytea, text, text,
    bytea, text, int, int, bytea, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.mediated_ask(bytea, int, bytea, text, text,
    bytea, text, int, int, bytea, bytea) TO poppy_auth;

-- A code for a sign-in that this Session began.
--   ok			signed in, once; durable
--   code_required	wrong, and there are tries left; a failure of the login name
--   failed		wrong too often, or the account is not to be used
--   expired
--   absent		unknown, done, or another Session's
--   invalid_session, account_mismatch	the Session
CREATE OR REPLACE FUNCTION poppy_api.mediated_try(p_client_no bigint,
    p_id bytea, p_bucket int, p_sid bytea, p_code bytea, p_token bytea,
    p_token_s int, p_account_token bytea, p_grant_s bigint, p_idle_s bigint,
    p_max_s bigint, p_jkt bytea, p_resource text, p_address text,
    OUT outcome text, OUT sent_to text, OUT expires_at bigint,
    OUT scopes text, OUT expires_in int, OUT grant_expires_in bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	m poppy.mediated;
	ignored text;
BEGIN
	SELECT * INTO m FROM poppy.mediated r
	WHERE r.hash = p_id AND r.bucket = p_bucket::smallint AND r.sid = p_sid
	FOR NO KEY UPDATE;
	outcome := CASE
	    WHEN m.hash IS NULL OR m.status = 'used' THEN 'absent'
	    WHEN m.status = 'failed' THEN 'failed'
	    WHEN m.expires_at <= now_at THEN 'expired' END;
	IF outcome IS NOT NULL THEN
		RETURN;
	ELSIF m.code IS DISTINCT FROM p_code THEN
		outcome := CASE WHEN m.tries > 1 THEN 'code_required'
		    ELSE 'failed' END;
		UPDATE poppy.mediated r
		SET tries = r.tries - 1, status = CASE WHEN r.tries > 1
		    THEN 'waiting' ELSE 'failed' END
		WHERE r.hash = p_id;
		-- Who has the password could have a new code for every few
		-- guesses; mediated_begin has the limit.
		IF m.login_key IS NOT NULL THEN
			ignored := poppy.quarter_full(7, m.login_key,
			    2147483647, now_at);
		END IF;
		IF outcome = 'failed' THEN
			ignored := poppy.audit_put('sign_in_failed',
			    p_client_no, NULL, p_bucket, p_sid, p_address,
			    'mediated: wrong codes', m.account);
			RETURN;
		END IF;
		sent_to := m.sent_to;
		expires_at := m.expires_at;
		RETURN;
	END IF;
	SELECT s.outcome, s.expires_in, s.grant_expires_in
	INTO outcome, expires_in, grant_expires_in
	FROM poppy.mediated_sign_in(p_client_no, p_bucket, p_sid, m.account,
	    m.scopes, p_token, p_token_s, p_account_token, p_grant_s, p_idle_s,
	    p_max_s, p_jkt, p_resource, m.login_key, m.address_key, p_address,
	    now_at) s;
	IF outcome IN ('ok', 'refused') THEN
		UPDATE poppy.mediated r SET status = CASE WHEN outcome = 'ok'
		    THEN 'used' ELSE 'failed' END
		WHERE r.hash = p_id;
	END IF;
	IF outcome = 'ok' THEN
		scopes := m.scopes;
	ELSIF outcome = 'refused' THEN
		outcome := 'failed';
	END IF;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.mediated_try(bigint, bytea, int, bytea, bytea,
    bytea, int, bytea, bigint, bigint, bigint, bytea, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.mediated_try(bigint, bytea, int, bytea,
    bytea, bytea, int, bytea, bigint, bigint, bigint, bytea, text, text)
    TO poppy_auth;
