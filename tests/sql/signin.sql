-- A shop with customers, and short ways to call the functions of sign-in: what
-- is not named has a value that passes, secrets go by a word of which they are
-- the hash, and every call spends something of its own.
CREATE SCHEMA shop;
CREATE TABLE shop.customer (id int PRIMARY KEY, login text NOT NULL,
    status text);
CREATE UNIQUE INDEX ON shop.customer ((id::text));
CREATE INDEX ON shop.customer (login);
INSERT INTO shop.customer VALUES (1, 'ann', 'ok'), (2, 'bob', 'ok'),
    (3, 'cy', 'disabled'), (4, 'di', 'privileged'), (5, 'ed', 'unverified'),
    (6, 'flo', NULL), (7, 'twice', 'ok'), (8, 'twice', 'ok');
GRANT USAGE ON SCHEMA shop TO poppy_owner;
GRANT SELECT ON shop.customer TO poppy_owner;
CREATE OR REPLACE VIEW poppy_shop.customer AS
SELECT c.id::text AS id, c.login,
    CASE WHEN c.login <> 'nameless' THEN upper(c.login) END AS name,
    c.login || '@example.com' AS email, '+1555' || c.id AS phone,
    '$2y$' || c.login AS password_hash, '' AS hash_kind, c.status,
    'de' AS locale
FROM shop.customer c;

CREATE SCHEMA t;
GRANT USAGE ON SCHEMA t TO poppy_auth, poppy_guard, poppy_bridge, poppy_browser;
ALTER DEFAULT PRIVILEGES IN SCHEMA t GRANT EXECUTE ON FUNCTIONS TO PUBLIC;

CREATE FUNCTION t.h(word text) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN sha256(convert_to(word, 'UTF8'));
CREATE FUNCTION t.sid(word text) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN substr(t.h(word), 1, 16);
CREATE FUNCTION t.any() RETURNS text LANGUAGE sql VOLATILE
RETURN gen_random_uuid()::text;
CREATE FUNCTION t.now() RETURNS bigint LANGUAGE sql VOLATILE
RETURN floor(date_part('epoch', clock_timestamp()))::bigint;
-- Columns as text, with a '-' where there is none.
CREATE FUNCTION t.say(VARIADIC v text[]) RETURNS text LANGUAGE sql
RETURN array_to_string(v, ' ', '-');

CREATE FUNCTION t.start(sid text, usr text DEFAULT 'u', client bigint DEFAULT 1,
    token text DEFAULT t.any(), renew boolean DEFAULT false,
    bucket int DEFAULT 7)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT outcome FROM poppy_api.session_start(client, 1, bucket, t.h(usr),
    CASE WHEN renew THEN t.sid(sid) END, t.sid(sid), t.h(token), 3600, 2592000,
    15552000, t.h('key'), NULL, ARRAY[uuid_send(gen_random_uuid())],
    ARRAY[t.now()], 30)
$$;

-- outcome, account, scopes, signed_in
CREATE FUNCTION t.use(token text, bucket int DEFAULT 7,
    bearer boolean DEFAULT false)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, account, '(' || scopes || ')', signed_in::text)
FROM poppy_api.token_use(bucket, t.h(token), CASE WHEN bearer THEN NULL ELSE
    t.h('key') END, CASE WHEN bearer THEN NULL ELSE
    uuid_send(gen_random_uuid()) END, t.now(), 10, NULL, 2592000, 15552000)
$$;

CREATE FUNCTION t.authorize(request text, client bigint DEFAULT 1,
    scopes text DEFAULT 'poppy:read poppy:write', sid text DEFAULT NULL,
    resource text DEFAULT NULL, seconds int DEFAULT 600,
    per_address int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT outcome FROM poppy_api.authorize_start(t.h(request), client,
    'https://a.example/c', 'An agent', 'https://a.example/logo', 'https://back',
    'st', t.h('verifier'), scopes, t.sid(sid), CASE WHEN sid IS NOT NULL THEN 7
    END, resource, seconds, t.h('address'), per_address)
$$;
CREATE FUNCTION t.show(request text, account text DEFAULT '1')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, client_id, redirect, scopes)
FROM poppy_api.authorize_show(t.h(request), account)
$$;
CREATE FUNCTION t.decide(request text, code text, account text DEFAULT '1',
    approve boolean DEFAULT true,
    scopes text DEFAULT 'poppy:read poppy:write', usr text DEFAULT NULL,
    seconds int DEFAULT 60)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, redirect, state, approved::text, status)
FROM poppy_api.authorize_decide(t.h(request), account, approve, scopes,
    t.h(code), seconds, t.h(usr), '192.0.2.1')
$$;

CREATE FUNCTION t.redeem(code text, sid text, token text DEFAULT t.any(),
    pat text DEFAULT t.any(), verifier text DEFAULT 'verifier',
    redirect text DEFAULT 'https://back', client bigint DEFAULT 1,
    version bigint DEFAULT 1, new_sid text DEFAULT t.any(),
    bucket int DEFAULT 7, bearer boolean DEFAULT false,
    resource text DEFAULT NULL, spend bytea DEFAULT
    uuid_send(gen_random_uuid()), per_address int DEFAULT 0,
    per_client int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, scopes, expires_in::text, grant_expires_in::text)
FROM poppy_api.code_redeem(client, version, t.h(code), redirect, t.h(verifier),
    bucket, t.sid(sid), t.sid(new_sid), t.h(token), 3600, t.h(pat), 86400,
    2592000, 15552000, CASE WHEN bearer THEN NULL ELSE t.h('key') END, resource,
    CASE WHEN spend IS NULL THEN '{}' ELSE ARRAY[spend] END,
    CASE WHEN spend IS NULL THEN '{}' ELSE ARRAY[t.now()] END, 30,
    '192.0.2.1', t.h('address'), per_address, per_client)
$$;

-- All the way to a code: its scopes, granted by an account.
CREATE FUNCTION t.code(code text, account text DEFAULT '1',
    scopes text DEFAULT 'poppy:read poppy:write', client bigint DEFAULT 1,
    sid text DEFAULT NULL, resource text DEFAULT NULL,
    usr text DEFAULT NULL, seconds int DEFAULT 60)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	request text := t.any();
	ignored text;
BEGIN
	ignored := t.authorize(request, client, scopes, sid, resource);
	ignored := t.show(request, account);
	RETURN t.decide(request, code, account, true, scopes, usr, seconds);
END
$$;

CREATE FUNCTION t.login_begin(login text, per_login int DEFAULT 0,
    per_address int DEFAULT 0, address text DEFAULT 'address')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, account, password_hash, status)
FROM poppy_api.login_begin(login, t.h('login ' || login), t.h(address),
    per_login, per_address)
$$;
CREATE FUNCTION t.login(cookie text, account text, login text DEFAULT NULL,
    old text DEFAULT NULL)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, status) FROM poppy_api.login_start(t.h(cookie), t.h(old),
    account, t.h('login ' || login), CASE WHEN login IS NOT NULL THEN
    t.h('address') END, '192.0.2.1')
$$;
CREATE FUNCTION t.login_use(cookie text, idle_s int DEFAULT 900)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, account, login, name, status, locale)
FROM poppy_api.login_use(t.h(cookie), idle_s)
$$;

CREATE FUNCTION t.device(device text, user_code text DEFAULT 'BCDFGHJK',
    client bigint DEFAULT 1, version bigint DEFAULT 1, seconds int DEFAULT 600,
    scopes text DEFAULT 'poppy:read poppy:write', spend bytea DEFAULT
    uuid_send(gen_random_uuid()), per_address int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT outcome FROM poppy_api.device_start(client, version, t.h(device),
    user_code, 'An agent', NULL, scopes, seconds, 5, ARRAY[spend],
    ARRAY[t.now()], 30, '192.0.2.1', t.h('device address'), per_address, 0)
$$;
CREATE FUNCTION t.device_show(user_code text DEFAULT 'BCDFGHJK',
    account text DEFAULT '1', guesses int DEFAULT 0,
    address text DEFAULT 'address')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, client_id, name, logo, scopes)
FROM poppy_api.device_show(user_code, account, t.h(address), guesses)
$$;
CREATE FUNCTION t.device_decide(user_code text DEFAULT 'BCDFGHJK',
    account text DEFAULT '1', approve boolean DEFAULT true,
    scopes text DEFAULT 'poppy:read poppy:write')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, approved::text, status)
FROM poppy_api.device_decide(user_code, account, approve, scopes, '192.0.2.1')
$$;
CREATE FUNCTION t.poll(device text, sid text, token text DEFAULT t.any(),
    pat text DEFAULT t.any(), client bigint DEFAULT 1,
    version bigint DEFAULT 1, bucket int DEFAULT 7, spend bytea DEFAULT
    uuid_send(gen_random_uuid()), per_address int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, scopes, expires_in::text, grant_expires_in::text)
FROM poppy_api.device_redeem(client, version, t.h(device), bucket, t.sid(sid),
    t.h(token), 3600, t.h(pat), 86400, 2592000, 15552000, t.h('key'), NULL,
    ARRAY[spend], ARRAY[t.now()], 30, '192.0.2.1', t.h('device address'),
    per_address, 0)
$$;

-- Sign Session sid in at once, a new one if need be, with this Account Token.
CREATE FUNCTION t.sign_in(sid text, pat text, token text DEFAULT t.any(),
    account text DEFAULT '1', scopes text DEFAULT 'poppy:read poppy:write',
    client bigint DEFAULT 1, usr text DEFAULT 'u',
    resource text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	code text := t.any();
	ignored text;
BEGIN
	IF t.start(sid, usr, client, renew => true) <> 'ok' THEN
		ignored := t.start(sid, usr, client);
	END IF;
	ignored := t.code(code, account, scopes, client,
	    resource => resource);
	RETURN split_part(t.redeem(code, sid, token, pat, client => client,
	    resource => resource), ' ', 1);
END
$$;
CREATE FUNCTION t.refresh(pat text, sid text DEFAULT NULL,
    token text DEFAULT t.any(), new_sid text DEFAULT t.any(),
    successor text DEFAULT NULL, scopes text DEFAULT NULL,
    client bigint DEFAULT 1, version bigint DEFAULT 1, bucket int DEFAULT 7,
    resource text DEFAULT NULL, grace_s int DEFAULT 60, spend bytea DEFAULT
    uuid_send(gen_random_uuid()), per_address int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, scopes, expires_in::text, rotated::text)
FROM poppy_api.token_refresh(client, version, t.h(pat), bucket, t.sid(sid),
    t.sid(new_sid), t.h(token), 3600, 2592000, 15552000, t.h('key'), resource,
    scopes, t.h(successor), grace_s, ARRAY[spend], ARRAY[t.now()], 30,
    '192.0.2.1', t.h('refresh address'), per_address, 0)
$$;
CREATE FUNCTION t.revoke(pat text, client bigint DEFAULT 1,
    version bigint DEFAULT 1, bucket int DEFAULT 7, spend bytea DEFAULT
    uuid_send(gen_random_uuid()), per_address int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT outcome FROM poppy_api.account_revoke(client, version, spend, t.now(),
    30, bucket, t.h(pat), '192.0.2.1', t.h('revoke address'), per_address, 0)
$$;
CREATE FUNCTION t.connected(account text DEFAULT '1')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT coalesce(string_agg(t.say(client_no::text, client_id, kinds, scopes,
    sessions::text), ', '), 'none')
FROM poppy_api.connected_list(account)
$$;
CREATE FUNCTION t.disconnect(account text DEFAULT '1',
    client bigint DEFAULT NULL)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT n::text FROM poppy_api.connected_end(account, client, '192.0.2.1')
$$;

CREATE FUNCTION t.shop_login(request text, browser text DEFAULT 'browser',
    seconds int DEFAULT 600)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT outcome FROM poppy_api.shop_login_start(t.h(request), t.h(browser),
    'agents', seconds)
$$;
CREATE FUNCTION t.put(request text, ticket text, account text DEFAULT '1')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT outcome FROM poppy_api.ticket_put(t.h(request), t.h(ticket), account)
$$;
CREATE FUNCTION t.spend(request text, ticket text,
    browser text DEFAULT 'browser')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, account, name, next, status)
FROM poppy_api.ticket_spend(t.h(request), t.h(browser), t.h(ticket))
$$;

-- outcome, account, unusual
CREATE FUNCTION t.mediated(login text, per_login int DEFAULT 0,
    per_address int DEFAULT 0, per_client int DEFAULT 0,
    address text DEFAULT 'home', client bigint DEFAULT 1)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, account, unusual::text)
FROM poppy_api.mediated_begin(7, t.sid('s'), client, login,
    t.h('login ' || login), t.h(address), per_login, per_address, per_client)
$$;
CREATE FUNCTION t.finish(sid text, token text DEFAULT t.any(),
    pat text DEFAULT t.any(), account text DEFAULT '1',
    login text DEFAULT 'ann', address text DEFAULT 'home',
    client bigint DEFAULT 1, bucket int DEFAULT 7)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, scopes, expires_in::text, grant_expires_in::text, status)
FROM poppy_api.mediated_finish(client, bucket, t.sid(sid), account,
    'poppy:read', t.h(token), 3600, t.h(pat), 86400, 2592000, 15552000,
    t.h('key'), NULL, t.h('login ' || login), t.h(address), '192.0.2.1')
$$;
CREATE FUNCTION t.ask(id text, sid text, code text DEFAULT '123456',
    account text DEFAULT '1', tries int DEFAULT 3, seconds int DEFAULT 600,
    login text DEFAULT 'ann', address text DEFAULT 'home')
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, status) FROM poppy_api.mediated_ask(t.h(id), 7,
    t.sid(sid), account, 'poppy:read', t.h(code), 'phone ending in 71',
    seconds, tries, t.h('login ' || login), t.h(address))
$$;
CREATE FUNCTION t.try(id text, sid text, code text DEFAULT '123456',
    token text DEFAULT t.any(), client bigint DEFAULT 1, bucket int DEFAULT 7)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, sent_to, scopes, expires_in::text, grant_expires_in::text)
FROM poppy_api.mediated_try(client, t.h(id), bucket, t.sid(sid), t.h(code),
    t.h(token), 3600, t.h(t.any()), 86400, 2592000, 15552000, t.h('key'), NULL,
    '192.0.2.1')
$$;

-- outcome, replayed, expires_in, retry_s
CREATE FUNCTION t.join(sid text, cookie text, usr text DEFAULT 'u',
    client bigint DEFAULT 1, version bigint DEFAULT 1, bucket int DEFAULT 7,
    per_session int DEFAULT 1, spend bytea DEFAULT
    uuid_send(gen_random_uuid()), iat bigint DEFAULT t.now(),
    idle_s bigint DEFAULT 2592000, max_s bigint DEFAULT 15552000,
    per_address int DEFAULT 0, per_client int DEFAULT 0)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, replayed::text, expires_in::text,
    sign(retry_s)::text)
FROM poppy_api.browser_join(client, version, bucket, t.h(usr), t.sid(sid),
    t.h(cookie), per_session, idle_s, max_s, ARRAY[spend], ARRAY[iat], 30,
    '192.0.2.1', t.h('browser address'), per_address, per_client)
$$;
CREATE FUNCTION t.look(sid text, client text DEFAULT 'https://a.example/c',
    usr text DEFAULT 'u', bucket int DEFAULT 7, idle_s bigint DEFAULT 2592000,
    max_s bigint DEFAULT 15552000)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT coalesce(poppy_api.browser_look(client, bucket, t.sid(sid), t.h(usr),
    idle_s, max_s)::text, 'null')
$$;
-- outcome, client_no, account, scopes, signed_in
CREATE FUNCTION t.cookie(cookie text, bucket int DEFAULT 7,
    idle_s bigint DEFAULT 2592000, max_s bigint DEFAULT 15552000)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, client_no::text, account, '(' || scopes || ')',
    signed_in::text)
FROM poppy_api.cookie_use(bucket, t.h(cookie), idle_s, max_s, '192.0.2.1')
$$;

-- A Session of bucket 7 as POPPY_SESSION has it.
CREATE FUNCTION t.text(sid text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'ses_AH' || rtrim(translate(encode(t.sid(sid), 'base64'), '+/', '-_'),
    '=');
CREATE FUNCTION t.cart(sid text) RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(version::text, lines::text, coupons::text)
FROM poppy_api.cart_read(t.text(sid))
$$;
CREATE FUNCTION t.change(sid text, lines jsonb, coupons jsonb DEFAULT NULL)
RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT t.say(outcome, version::text)
FROM poppy_api.cart_change(t.text(sid), lines, coupons)
$$;
CREATE FUNCTION t.add(sid text, sku text, delta int DEFAULT 1)
RETURNS text LANGUAGE sql VOLATILE
RETURN t.change(sid, jsonb_build_array(jsonb_build_object('sku', sku,
    'delta', delta)));
