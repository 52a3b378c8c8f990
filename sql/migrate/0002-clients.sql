-- The operator's word about agents, what they call themselves, and how many new
-- ones there were.
SET LOCAL ROLE poppy_owner;

-- A pattern is a client_id, a host ("agent.example": at any port), or all hosts
-- below one ("*.agent.example"). The closest one decides: client_id, host,
-- longest parent. status and allowed in poppy.client are what follows from it,
-- written there so that no request has to ask this table.
CREATE TABLE poppy.client_rule (
	pattern		text PRIMARY KEY
			CHECK (octet_length(pattern) BETWEEN 1 AND 2048),
	verdict		text NOT NULL CHECK (verdict IN ('allow', 'block')),
	set_at		bigint NOT NULL
);
INSERT INTO poppy.client_rule (pattern, verdict, set_at)
SELECT client_id, 'block', 0 FROM poppy.client WHERE status = 'blocked';

ALTER TABLE poppy.client
	ADD COLUMN allowed boolean NOT NULL DEFAULT false,
	ADD COLUMN name text CHECK (octet_length(name) <= 400),
	ADD COLUMN logo_uri text CHECK (octet_length(logo_uri) <= 2048),
	ADD COLUMN first_at bigint NOT NULL DEFAULT 0;

-- Client_ids never seen before, counted in this clock hour: for each network
-- that asks and each domain that they are on, and in all. Nothing is written
-- for one that is refused, so the table can't grow past three times the last.
CREATE UNLOGGED TABLE poppy.client_new (
	kind		text NOT NULL CHECK (kind IN ('net', 'domain', 'all')),
	key		text NOT NULL,
	hour		bigint NOT NULL,
	n		int NOT NULL,
	PRIMARY KEY (kind, key)
);

-- Their successors have more parameters.
DROP FUNCTION IF EXISTS poppy_api.client_get(text, boolean, boolean);
DROP FUNCTION IF EXISTS poppy_api.client_store(text, text, text, int, int);
DROP FUNCTION IF EXISTS poppy.client_get_new(text, boolean, bigint);
