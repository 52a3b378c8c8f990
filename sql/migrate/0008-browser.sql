-- Agents' browsers that have joined a Session, carts of Sessions, and a replay
-- memory that is emptied at less cost.
GRANT USAGE ON SCHEMA poppy_api TO poppy_browser;
SET LOCAL ROLE poppy_owner;

-- Cookies of browsers, as SHA-256 of their whole text. One lives as long as its
-- Session, so it has no times of its own; place is the order of joining.
CREATE TABLE poppy.browser (
	bucket		smallint NOT NULL CHECK (bucket BETWEEN 0 AND 4095),
	hash		bytea NOT NULL CHECK (octet_length(hash) = 32),
	sid		bytea NOT NULL CHECK (octet_length(sid) = 16),
	joined_at	bigint NOT NULL,
	place		bigint GENERATED ALWAYS AS IDENTITY,
	PRIMARY KEY (bucket, hash)
);
CREATE INDEX browser_sid ON poppy.browser (bucket, sid, place);

-- A Session's cart, one for API and pages. The row of poppy.cart is the lock of
-- its lines; version counts changes.
CREATE TABLE poppy.cart (
	bucket		smallint NOT NULL CHECK (bucket BETWEEN 0 AND 4095),
	sid		bytea NOT NULL CHECK (octet_length(sid) = 16),
	version		bigint NOT NULL DEFAULT 1,
	coupons		text[] NOT NULL DEFAULT '{}',
	changed_at	bigint NOT NULL,
	PRIMARY KEY (bucket, sid)
) WITH (fillfactor = 90);
CREATE TABLE poppy.cart_line (
	bucket		smallint NOT NULL,
	sid		bytea NOT NULL,
	sku		text NOT NULL
			CHECK (octet_length(sku) BETWEEN 1 AND 200),
	options		text NOT NULL DEFAULT ''
			CHECK (octet_length(options) <= 1000),
	quantity	int NOT NULL CHECK (quantity BETWEEN 1 AND 9999),
	place		bigint GENERATED ALWAYS AS IDENTITY,
	PRIMARY KEY (bucket, sid, sku, options)
) WITH (fillfactor = 90);

-- TRUNCATE of an unlogged table waits for the disk once for each of its parts,
-- and a TOAST table is three of them. No row here is ever long, and where no
-- column may move out PostgreSQL makes no TOAST table: neither for a new table
-- nor when it writes an old one anew, which ALTER ... TYPE ... USING makes it do.
-- Rows stay, so what was spent is spent. Requests go on meanwhile and take these
-- tables in an order of their own, so all four are had at once or none of them.
DO $$
BEGIN
	FOR try IN 1..400 LOOP
		BEGIN
			LOCK TABLE poppy.replay_0, poppy.replay_1,
			    poppy.replay_2, poppy.replay_3 NOWAIT;
			EXIT;
		EXCEPTION WHEN lock_not_available THEN
			IF try = 400 THEN
				RAISE;
			END IF;
			PERFORM pg_catalog.pg_sleep(0.01);
		END;
	END LOOP;
	FOR i IN 0..3 LOOP
		EXECUTE pg_catalog.format('ALTER TABLE poppy.replay_%s
		    ALTER spend SET STORAGE PLAIN,
		    ALTER request_id SET STORAGE PLAIN,
		    ALTER iat TYPE bigint USING iat + 0', i);
	END LOOP;
END
$$;
