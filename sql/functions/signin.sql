-- What all sign-ins and the use of Account Tokens have in common. None of it is
-- for a program to call: it runs inside functions of poppy_api.
--
-- Order of locks, for every function of poppy_api: what was asked for (request,
-- code, device, ticket, mediated sign-in), grants by (bucket, grant_no), Session,
-- its cart, keys of the replay memory, counts of limits, tokens, cookies. A new
-- row is locked by nobody else, so it may be made at any time. Whoever may have
-- to wait for a row looks at what it decides by only after it has the lock.

-- NULL, or 'blocked' or 'stale', which spend nothing.
CREATE OR REPLACE FUNCTION poppy.client_judge(p_client_no bigint,
    p_version bigint, p_bucket int, p_sid bytea, p_address text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	of_client text;
	of_version bigint;
	ignored text;
BEGIN
	SELECT c.status, c.version INTO of_client, of_version
	FROM poppy.client c WHERE c.client_no = p_client_no;
	IF of_client = 'blocked' THEN
		ignored := poppy.audit_put('blocked', p_client_no, NULL,
		    p_bucket, p_sid, p_address, NULL);
		RETURN 'blocked';
	ELSIF of_version IS DISTINCT FROM p_version THEN
		RETURN 'stale';
	END IF;
	RETURN NULL;
END
$$;

-- Lock a Session and judge whether it may be signed in to p_account by this
-- client, for this User (NULL: whoever the Session is for). fault is NULL,
-- 'invalid_session' or 'account_mismatch'.
CREATE OR REPLACE FUNCTION poppy.session_judge(p_bucket int, p_sid bytea,
    p_client_no bigint, p_user_key bytea, p_account text, p_idle_s bigint,
    p_max_s bigint, p_now bigint, p_address text, OUT fault text,
    OUT user_key bytea, OUT began_at bigint)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
	of_account text;
	ignored text;
BEGIN
	SELECT s.user_key, s.started_at, s.account
	INTO user_key, began_at, of_account
	FROM poppy.session s
	WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid
	    AND s.client_no = p_client_no AND s.ended_at IS NULL
	    AND s.used_at + p_idle_s > p_now AND s.started_at + p_max_s > p_now
	    AND s.user_key = coalesce(p_user_key, s.user_key)
	FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		fault := 'invalid_session';
	ELSIF of_account <> p_account THEN
		fault := 'account_mismatch';
	ELSE
		RETURN;
	END IF;
	ignored := poppy.audit_put(fault, p_client_no, p_user_key, p_bucket,
	    p_sid, p_address, NULL);
END
$$;

-- Spend what a request brings and count it: the last check before anything is
-- written. outcome is NULL, or as in session_start, and then nothing is spent.
-- p_bearer: there is no proof, so the client assertion stands first. A public
-- client brings nothing to spend (p_none).
CREATE OR REPLACE FUNCTION poppy.spend_count(p_spend bytea[], p_iat bigint[],
    p_future_s int, p_bearer boolean, p_none boolean, p_kind int,
    p_address_key bytea, p_per_address int, p_client_no bigint,
    p_per_client int, p_now bigint, p_bucket int, p_sid bytea, p_address text,
    OUT outcome text, OUT replayed int, OUT retry_s int)
LANGUAGE plpgsql
AS $$
DECLARE
	seen int := 0;
	ignored text;
BEGIN
	IF NOT p_none OR cardinality(p_spend) > 0 THEN
		seen := poppy.spend(p_spend, p_iat, p_future_s, p_now);
	END IF;
	IF seen > 0 THEN
		outcome := 'replay';
		replayed := seen;
		ignored := poppy.audit_put(outcome, p_client_no, NULL, p_bucket,
		    p_sid, p_address, CASE WHEN seen = 1 AND NOT p_bearer
		    THEN 'proof' ELSE 'client_assertion' END);
	ELSIF seen IS NULL OR seen < 0 THEN
		outcome := CASE WHEN seen < 0 THEN 'epoch' ELSE 'clock' END;
		retry_s := coalesce(-seen, 1);
	ELSIF p_per_address > 0 OR p_per_client > 0 THEN
		outcome := poppy.limited(p_kind, p_address_key, p_per_address,
		    p_client_no, p_per_client, p_now);
		IF outcome IS NOT NULL THEN
			ignored := poppy.unspend(p_spend);
			ignored := poppy.audit_put(outcome, p_client_no, NULL,
			    NULL, NULL, p_address, NULL);
			retry_s := 60 - p_now % 60;
		END IF;
	END IF;
END
$$;

-- Sign a Session in (p_new: make it first) by a grant, and issue its token.
-- Session and grant are locked or new. Returns the token's seconds.
CREATE OR REPLACE FUNCTION poppy.session_sign(p_new boolean, p_bucket int,
    p_sid bytea, p_client_no bigint, p_user_key bytea, p_account text,
    p_began_at bigint, p_grant_no bigint, p_scopes text, p_token bytea,
    p_token_s int, p_idle_s bigint, p_max_s bigint, p_jkt bytea,
    p_resource text, p_now bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	end_at bigint := least(p_now + p_idle_s, p_began_at + p_max_s);
	until_at bigint := least(end_at, p_now + p_token_s);
BEGIN
	IF poppy.fits(p_bucket, p_sid, p_user_key, p_token, p_jkt, p_resource)
	    IS NOT TRUE THEN
		RAISE 'a Session or a token of another shape';
	END IF;
	IF p_new THEN
		INSERT INTO poppy.session (bucket, sid, client_no, user_key,
		    started_at, used_at, ends_at, account)
		VALUES (p_bucket, p_sid, p_client_no, p_user_key, p_now, p_now,
		    end_at, p_account);
	ELSE
		UPDATE poppy.session s
		SET used_at = greatest(s.used_at, p_now), ends_at = end_at,
		    account = p_account
		WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid;
	END IF;
	INSERT INTO poppy.session_grant (bucket, sid, grant_no)
	VALUES (p_bucket, p_sid, p_grant_no)
	ON CONFLICT DO NOTHING;
	INSERT INTO poppy.token (bucket, hash, sid, jkt, resource, scopes,
	    grant_no, issued_at, expires_at)
	VALUES (p_bucket, p_token, p_sid, p_jkt, p_resource, p_scopes,
	    p_grant_no, p_now, until_at);
	RETURN until_at - p_now;
END
$$;

-- The end of every sign-in: grant, Account Token, signed-in Session, its token.
-- p_new as in session_sign. Without an Account Token (a public client) nothing
-- can be had from the grant once the token is over, so it ends then.
CREATE OR REPLACE FUNCTION poppy.sign_in(p_kind text, p_client_no bigint,
    p_new boolean, p_bucket int, p_sid bytea, p_user_key bytea,
    p_began_at bigint, p_account text, p_scopes text, p_bound text,
    p_address_key bytea, p_token bytea, p_token_s int, p_account_token bytea,
    p_grant_s bigint, p_idle_s bigint, p_max_s bigint, p_jkt bytea,
    p_resource text, p_now bigint, p_address text, OUT expires_in int,
    OUT grant_expires_in bigint, OUT grant_no bigint)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
	ignored text;
BEGIN
	grant_expires_in := CASE WHEN p_account_token IS NULL
	    THEN p_token_s ELSE p_grant_s END;
	INSERT INTO poppy.grants AS g (bucket, client_no, user_key, account,
	    scopes, kind, resource, address_key, created_at, used_at,
	    expires_at)
	VALUES (p_bucket, p_client_no, p_user_key, p_account, p_scopes, p_kind,
	    p_bound, p_address_key, p_now, p_now, p_now + grant_expires_in)
	RETURNING g.grant_no INTO grant_no;
	IF p_account_token IS NOT NULL THEN
		INSERT INTO poppy.account_token (bucket, hash, grant_no,
		    issued_at)
		VALUES (p_bucket, p_account_token, grant_no, p_now);
	END IF;
	expires_in := poppy.session_sign(p_new, p_bucket, p_sid, p_client_no,
	    p_user_key, p_account, p_began_at, grant_no, p_scopes, p_token,
	    p_token_s, p_idle_s, p_max_s, p_jkt, p_resource, p_now);
	ignored := poppy.audit_put('signed_in', p_client_no, p_user_key,
	    p_bucket, p_sid, p_address, p_kind || ': ' || p_scopes, p_account);
END
$$;

-- Revoke a grant that the caller has locked or has just found alive: whether it
-- was. From now on its Account Tokens are dead and its Session Tokens count as
-- signed out; nothing of that has to be written there.
CREATE OR REPLACE FUNCTION poppy.grant_end(p_bucket int, p_grant_no bigint,
    p_why text, p_now bigint, p_address text)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
	g poppy.grants;
	ignored text;
BEGIN
	UPDATE poppy.grants r SET revoked_at = p_now, revoked_why = p_why
	WHERE r.bucket = p_bucket::smallint AND r.grant_no = p_grant_no
	    AND r.revoked_at IS NULL
	RETURNING * INTO g;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	ignored := poppy.audit_put(p_why, g.client_no, g.user_key, p_bucket,
	    NULL, p_address, 'grant ' || g.grant_no, g.account);
	RETURN true;
END
$$;

-- The scopes of p_wanted that are in p_allowed, in the order of p_allowed; ''
-- if none is.
CREATE OR REPLACE FUNCTION poppy.scope_cut(p_wanted text, p_allowed text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
	RETURN coalesce((SELECT string_agg(a.scope, ' ' ORDER BY a.place)
	    FROM unnest(string_to_array(p_allowed, ' '))
		WITH ORDINALITY AS a (scope, place)
	    WHERE a.scope <> '' AND a.scope = ANY (
		string_to_array(p_wanted, ' '))), '');
END
$$;
