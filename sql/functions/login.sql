-- Logins of customers on the pages of poppy-auth.

-- What the shop has of a login name, to check a password by. The attempt is
-- counted before it is known to be one that fails, so that many at once don't
-- pass; login_start gives it back.
--   ok		the account; its status may be one that login_start refuses
--   unknown	no account, or more than one, has this login
--   limit	too many failures in this quarter of an hour: retry_s
CREATE OR REPLACE FUNCTION poppy_api.login_begin(p_login text,
    p_login_key bytea, p_address_key bytea, p_per_login int,
    p_per_address int, OUT outcome text, OUT retry_s int, OUT account text,
    OUT name text, OUT password_hash text, OUT hash_kind text,
    OUT status text, OUT locale text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
	c poppy_shop.customer;
BEGIN
	IF poppy.quarter_full(6, p_address_key, p_per_address, now_at)
	    OR poppy.quarter_full(7, p_login_key, p_per_login, now_at) THEN
		outcome := 'limit';
		retry_s := 900 - now_at % 900;
		RETURN;
	END IF;
	c := poppy.customer_find(p_login);
	outcome := CASE WHEN c.id IS NULL THEN 'unknown' ELSE 'ok' END;
	account := c.id;
	name := c.name;
	password_hash := c.password_hash;
	hash_kind := c.hash_kind;
	status := c.status;
	locale := c.locale;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.login_begin(text, bytea, bytea, int, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.login_begin(text, bytea, bytea, int, int)
    TO poppy_auth;

-- A login session for who has proved to be p_account: 'ok', or 'refused' with
-- the account's status. p_old is over in any case: nobody goes on with a secret
-- from before the login. The keys are those of login_begin, whose count is given
-- back; NULL after a login on the shop's page.
CREATE OR REPLACE FUNCTION poppy_api.login_start(p_login bytea, p_old bytea,
    p_account text, p_login_key bytea, p_address_key bytea, p_address text,
    OUT outcome text, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	DELETE FROM poppy.login l WHERE l.hash = p_old;
	ignored := poppy.quarter_back(6, p_address_key, now_at);
	ignored := poppy.quarter_back(7, p_login_key, now_at);
	status := poppy.customer_status(p_account);
	IF status <> 'ok' THEN
		outcome := 'refused';
		ignored := poppy.audit_put('login_failed', NULL, NULL, NULL,
		    NULL, p_address, status, p_account);
		RETURN;
	END IF;
	INSERT INTO poppy.login (hash, account, created_at, used_at)
	VALUES (p_login, p_account, now_at, now_at);
	outcome := 'ok';
	ignored := poppy.audit_put('login', NULL, NULL, NULL, NULL, p_address,
	    NULL, p_account);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.login_start(bytea, bytea, text, bytea, bytea,
    text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.login_start(bytea, bytea, text, bytea,
    bytea, text) TO poppy_auth;

-- Whose login session this is: 'ok', or 'none': unknown, idle for p_idle_s, or
-- the account is not to be used any more, which status says and which ends it.
-- name is what pages show, and never empty: people must see whose account it is.
CREATE OR REPLACE FUNCTION poppy_api.login_use(p_login bytea, p_idle_s int,
    OUT outcome text, OUT account text, OUT login text, OUT name text,
    OUT status text, OUT locale text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
	of_account text;
	was_used bigint;
BEGIN
	outcome := 'none';
	SELECT l.account, l.used_at INTO of_account, was_used
	FROM poppy.login l
	WHERE l.hash = p_login AND l.used_at + p_idle_s > now_at;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	SELECT c.login, left(coalesce(nullif(btrim(c.name), ''), c.login), 200),
	    coalesce(c.status, 'disabled'), c.locale
	INTO login, name, status, locale
	FROM poppy_shop.customer c WHERE c.id = of_account;
	IF status IS DISTINCT FROM 'ok' THEN
		DELETE FROM poppy.login l WHERE l.hash = p_login;
		status := coalesce(status, 'absent');
		login := NULL;
		name := NULL;
		RETURN;
	END IF;
	-- A page with three requests is one use.
	IF was_used < now_at - 10 THEN
		UPDATE poppy.login l SET used_at = now_at
		WHERE l.hash = p_login;
	END IF;
	account := of_account;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.login_use(bytea, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.login_use(bytea, int) TO poppy_auth;

-- Log out. Durable: it must not come back.
CREATE OR REPLACE FUNCTION poppy_api.login_end(p_login bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	DELETE FROM poppy.login l WHERE l.hash = p_login;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.login_end(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.login_end(bytea) TO poppy_auth;
