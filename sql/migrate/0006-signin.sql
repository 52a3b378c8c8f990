-- Customers sign in: what they granted, and everything on the way to it. All
-- secrets are kept as SHA-256 of their whole text; accounts are named by the
-- shop's own ids as text.
GRANT USAGE ON SCHEMA poppy_api TO poppy_bridge;
CREATE SCHEMA poppy_shop AUTHORIZATION poppy_owner;
SET LOCAL ROLE poppy_owner;

-- The contract with the shop: an adapter replaces the view by one over the
-- shop's own table. login in lower case; hash_kind '' if the hash tells by its
-- prefix; status 'ok', 'disabled', 'unverified' or 'privileged'; locale '' if
-- not known. Rows are looked up by id and by login.
CREATE VIEW poppy_shop.customer AS
SELECT ''::text AS id, ''::text AS login, ''::text AS name, ''::text AS email,
    ''::text AS phone, ''::text AS password_hash, ''::text AS hash_kind,
    'disabled'::text AS status, ''::text AS locale
WHERE false;

-- What one sign-in gave. An Account Token, if there is one, is another row, so
-- that it can be exchanged. Its scopes never change.
CREATE TABLE poppy.grants (
	bucket		smallint NOT NULL CHECK (bucket BETWEEN 0 AND 4095),
	grant_no	bigint GENERATED ALWAYS AS IDENTITY,
	client_no	bigint NOT NULL,
	user_key	bytea NOT NULL CHECK (octet_length(user_key) = 32),
	account		text NOT NULL CHECK (account <> ''),
	scopes		text NOT NULL CHECK (scopes <> ''),
	kind		text NOT NULL
			CHECK (kind IN ('direct', 'device', 'mediated')),
	resource	text,			-- good for this one alone
	address_key	bytea,			-- of a mediated sign-in
	created_at	bigint NOT NULL,
	used_at		bigint NOT NULL,
	expires_at	bigint NOT NULL,
	revoked_at	bigint,
	revoked_why	text,
	PRIMARY KEY (bucket, grant_no)
) WITH (fillfactor = 90);
CREATE INDEX grants_account ON poppy.grants (account);

-- Account Tokens. One that was exchanged for its successor (rotation) works on
-- for a grace period; its use after that revokes the grant.
CREATE TABLE poppy.account_token (
	bucket		smallint NOT NULL CHECK (bucket BETWEEN 0 AND 4095),
	hash		bytea NOT NULL CHECK (octet_length(hash) = 32),
	grant_no	bigint NOT NULL,
	issued_at	bigint NOT NULL,
	replaced_at	bigint,
	successor	bytea CHECK (octet_length(successor) = 32),
	PRIMARY KEY (bucket, hash)
);

-- Which grants have signed a Session in. Looked up by grant it is read by
-- bucket, which is one part in 4,096.
CREATE TABLE poppy.session_grant (
	bucket		smallint NOT NULL,
	sid		bytea NOT NULL,
	grant_no	bigint NOT NULL,
	PRIMARY KEY (bucket, sid, grant_no)
);

-- An authorization request on its way through login and consent.
CREATE TABLE poppy.sign_in_request (
	hash		bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
	client_no	bigint NOT NULL,
	client_id	text NOT NULL,
	name		text,
	logo_uri	text,
	redirect_uri	text NOT NULL,
	state		text,
	challenge	bytea NOT NULL CHECK (octet_length(challenge) = 32),
	scopes		text NOT NULL,
	bucket		smallint,		-- of the Session that it names
	sid		bytea,
	resource	text,
	account		text,			-- who has seen it
	created_at	bigint NOT NULL,
	expires_at	bigint NOT NULL,
	decided_at	bigint
);
CREATE INDEX sign_in_request_expires ON poppy.sign_in_request (expires_at);
CREATE INDEX sign_in_request_account ON poppy.sign_in_request (account);

CREATE TABLE poppy.code (
	hash		bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
	client_no	bigint NOT NULL,
	redirect_uri	text NOT NULL,
	challenge	bytea NOT NULL CHECK (octet_length(challenge) = 32),
	scopes		text NOT NULL,
	account		text NOT NULL,
	bucket		smallint,		-- of the Session that it is for
	sid		bytea,
	resource	text,
	user_key	bytea CHECK (octet_length(user_key) = 32),
	created_at	bigint NOT NULL,
	expires_at	bigint NOT NULL,
	tries		int NOT NULL DEFAULT 0,	-- with a wrong verifier
	used_at		bigint,
	grant_bucket	smallint,		-- what it gave
	grant_no	bigint
);
CREATE INDEX code_expires ON poppy.code (expires_at);
CREATE INDEX code_account ON poppy.code (account);

CREATE TABLE poppy.device (
	hash		bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
	user_code	text NOT NULL UNIQUE,
	client_no	bigint NOT NULL,
	client_id	text NOT NULL,
	name		text,
	logo_uri	text,
	scopes		text NOT NULL,		-- asked for, then granted
	status		text NOT NULL DEFAULT 'pending' CHECK (status IN
			('pending', 'approved', 'denied', 'used')),
	account		text,			-- who saw it last, then decided
	interval_s	int NOT NULL,
	polled_at	bigint,
	created_at	bigint NOT NULL,
	expires_at	bigint NOT NULL
);
CREATE INDEX device_expires ON poppy.device (expires_at);
CREATE INDEX device_account ON poppy.device (account);

-- Login sessions of poppy-auth's own pages; not the shop's.
CREATE TABLE poppy.login (
	hash		bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
	account		text NOT NULL,
	created_at	bigint NOT NULL,
	used_at		bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX login_created ON poppy.login (created_at);
CREATE INDEX login_account ON poppy.login (account);

-- A login on the shop's own page, and the ticket that comes back from there.
CREATE TABLE poppy.shop_login (
	hash		bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
	browser		bytea NOT NULL CHECK (octet_length(browser) = 32),
	next		text NOT NULL,
	expires_at	bigint NOT NULL,
	ticket		bytea CHECK (octet_length(ticket) = 32),
	account		text,
	ticket_until	bigint,
	spent_at	bigint
);
CREATE INDEX shop_login_expires ON poppy.shop_login (expires_at);
CREATE INDEX shop_login_account ON poppy.shop_login (account);

-- A Mediated Sign-In that waits for its one-time code.
CREATE TABLE poppy.mediated (
	hash		bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
	bucket		smallint NOT NULL,
	sid		bytea NOT NULL,
	account		text NOT NULL,
	scopes		text NOT NULL,
	code		bytea NOT NULL,
	sent_to		text NOT NULL,
	tries		int NOT NULL,		-- left
	status		text NOT NULL DEFAULT 'waiting' CHECK (status IN
			('waiting', 'failed', 'used')),
	login_key	bytea,			-- counts that success gives back
	address_key	bytea,
	created_at	bigint NOT NULL,
	expires_at	bigint NOT NULL
);
CREATE INDEX mediated_expires ON poppy.mediated (expires_at);
CREATE INDEX mediated_account ON poppy.mediated (account);

-- Rows about an account: to be found when it is erased.
ALTER TABLE poppy.audit ADD COLUMN account text;
CREATE INDEX audit_account ON poppy.audit (account) WHERE account IS NOT NULL;
