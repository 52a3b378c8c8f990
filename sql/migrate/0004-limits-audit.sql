-- The audit, and what limits count.
SET LOCAL ROLE poppy_owner;

-- One row for each event of security, or for many refusals of one kind. Never a
-- token, a proof or a User ID: a User is known by the key of its Session.
CREATE TABLE poppy.audit (
	audit_no	bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at		bigint NOT NULL,
	kind		text NOT NULL,
	n		bigint NOT NULL DEFAULT 1 CHECK (n > 0),
	login		text NOT NULL DEFAULT session_user,	-- who wrote it
	client_no	bigint,
	client_id	text,
	user_key	bytea,
	bucket		smallint,
	sid		bytea,
	address		text,		-- plain, or hmac:..., by the settings
	detail		text
);

-- Requests of this minute. minute leads the key, so that what is over is found
-- at one end. A crash empties it, which forgives.
CREATE UNLOGGED TABLE poppy.limit_count (
	minute		bigint,
	kind		smallint,
	key		bytea,
	shard		smallint,
	n		int NOT NULL,
	PRIMARY KEY (minute, kind, key, shard)
) WITH (fillfactor = 50);

-- Their successors say on whose behalf they are called.
DROP FUNCTION IF EXISTS poppy_api.session_start(bigint, bigint, int, bytea,
    bytea, bytea, bytea, int, bigint, bigint, bytea, text, bytea[], bigint[],
    int);
DROP FUNCTION IF EXISTS poppy_api.token_revoke(bigint, bytea, bigint, int, int,
    bytea);
DROP FUNCTION IF EXISTS poppy_api.token_use(int, bytea, bytea, bytea, bigint,
    int, text, bigint, bigint);
DROP FUNCTION IF EXISTS poppy_api.clean(int);
