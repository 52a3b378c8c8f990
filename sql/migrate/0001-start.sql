-- Clients, Sessions, their tokens, and the memory of what was spent.
--
-- Times are Unix seconds (bigint), called ..._at or ..._until. No foreign key
-- stands on the way of a request: it would lock the one row of a big agent for
-- each of its calls. The functions of poppy_api own what keys would guard.

CREATE SCHEMA poppy AUTHORIZATION poppy_owner;
CREATE SCHEMA poppy_api AUTHORIZATION poppy_owner;
SET LOCAL ROLE poppy_owner;

-- A function that forgets its REVOKE must not be a hole.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
GRANT USAGE ON SCHEMA poppy_api TO poppy_auth, poppy_guard;

-- What was applied. Number 0 stands for the functions, which are replaced as a
-- whole; its sha256 is that of all their files.
CREATE TABLE poppy.schema_migration (
	number		int PRIMARY KEY,
	name		text NOT NULL,
	sha256		bytea NOT NULL,
	applied_at	timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- An agent's documents. Never written on the way of a request that finds them
-- fresh.
CREATE TABLE poppy.client (
	client_no	bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	client_id	text NOT NULL UNIQUE
			CHECK (octet_length(client_id) <= 2048),
	status		text NOT NULL DEFAULT 'known'
			CHECK (status IN ('known', 'blocked')),
	metadata	text,
	jwks		text,
	version		bigint NOT NULL DEFAULT 0,	-- counts changed copies
	fetched_at	bigint NOT NULL DEFAULT 0,
	fresh_until	bigint NOT NULL DEFAULT 0,
	stale_until	bigint NOT NULL DEFAULT 0,	-- usable if the host is away
	failure		text,
	failed_until	bigint NOT NULL DEFAULT 0,
	claimed_until	bigint NOT NULL DEFAULT 0,	-- somebody fetches
	refetch_after	bigint NOT NULL DEFAULT 0	-- next fetch on suspicion
);

-- Claims and failures of client_ids that never worked, of which anybody can
-- invent any number: a ring of 10,000 places, so that the oldest goes.
CREATE UNLOGGED TABLE poppy.client_failure (
	place		int PRIMARY KEY,
	client_id	text NOT NULL UNIQUE,
	failure		text,
	failed_until	bigint NOT NULL DEFAULT 0,
	claimed_until	bigint NOT NULL DEFAULT 0
);
CREATE SEQUENCE poppy.client_failure_place
	MINVALUE 0 MAXVALUE 9999 CYCLE CACHE 1;

-- The bucket (0 to 4095, from client_id and User) leads every key, so a row is
-- found by what the token says. Not partitioned by it: a kept plan locks every
-- partition, and with 8 of them token_use took 20 % more CPU (16: 25 %). The
-- key is ready for it, or for more than one server.
CREATE TABLE poppy.session (
	bucket		smallint NOT NULL CHECK (bucket BETWEEN 0 AND 4095),
	sid		bytea NOT NULL CHECK (octet_length(sid) = 16),
	client_no	bigint NOT NULL,
	user_key	bytea NOT NULL CHECK (octet_length(user_key) = 32),
	started_at	bigint NOT NULL,
	used_at		bigint NOT NULL,
	ends_at		bigint NOT NULL,	-- by the settings of the last use
	ended_at	bigint,
	account		text,			-- set once, stays after sign-out
	PRIMARY KEY (bucket, sid)
) WITH (fillfactor = 90);

CREATE TABLE poppy.token (
	bucket		smallint NOT NULL CHECK (bucket BETWEEN 0 AND 4095),
	hash		bytea NOT NULL CHECK (octet_length(hash) = 32),
	sid		bytea NOT NULL,
	jkt		bytea CHECK (octet_length(jkt) = 32),	-- NULL: Bearer
	resource	text,
	scopes		text NOT NULL DEFAULT '',
	grant_no	bigint,			-- NULL: signed out
	issued_at	bigint NOT NULL,
	expires_at	bigint NOT NULL,
	CHECK (jkt IS NOT NULL OR resource IS NOT NULL),
	PRIMARY KEY (bucket, hash)
);

-- Replay memory: a ring of four tables of 900 s each, by the signed iat. Rows
-- are only added; a table is truncated while it is out of use. A crash empties
-- them all, and replay_epoch with them: see poppy.spend(). No autovacuum: there
-- is nothing to reclaim, and it would stand in the way of TRUNCATE.
CREATE UNLOGGED TABLE poppy.replay_0 (
	spend		bytea PRIMARY KEY CHECK (octet_length(spend) = 16),
	iat		bigint NOT NULL,
	request_id	text
) WITH (autovacuum_enabled = off);
CREATE UNLOGGED TABLE poppy.replay_1
	(LIKE poppy.replay_0 INCLUDING ALL) WITH (autovacuum_enabled = off);
CREATE UNLOGGED TABLE poppy.replay_2
	(LIKE poppy.replay_0 INCLUDING ALL) WITH (autovacuum_enabled = off);
CREATE UNLOGGED TABLE poppy.replay_3
	(LIKE poppy.replay_0 INCLUDING ALL) WITH (autovacuum_enabled = off);

-- Since when everything spent is remembered. A fresh install has spent nothing,
-- so it remembers from the beginning.
CREATE UNLOGGED TABLE poppy.replay_epoch (
	one		boolean PRIMARY KEY DEFAULT true CHECK (one),
	since		bigint NOT NULL
);
INSERT INTO poppy.replay_epoch (since) VALUES (0);

-- Where poppy_api.clean() goes on.
CREATE TABLE poppy.clean_cursor (
	one		boolean PRIMARY KEY DEFAULT true CHECK (one),
	bucket		int NOT NULL
);
INSERT INTO poppy.clean_cursor (bucket) VALUES (0);
