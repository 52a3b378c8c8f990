-- Limits over all workers, by the database's clock. Kinds: 1 and 2 token requests
-- of an address and of a client, 3 and 4 revocations, 5 authorization requests of
-- an address, 12 and 13 browsers that join, each of this minute. Of this quarter of an hour: 6 and 7 failed
-- logins of an address and of a login name, 8 failed Mediated Sign-Ins of a
-- client, 9 and 10 wrong user codes of an address and of an account. 11 failed
-- Mediated Sign-Ins of a login name, by the day.

-- Count a request of an address and of a client, and say which of them has one
-- too many: 'limit_address', 'limit_client', or NULL. A limit of 0 is none.
-- An address is exact: its row is the lock, which is held until the transaction
-- ends, so this is the last thing that a function does. A client with a wide
-- limit has up to 16 rows, so that its requests don't wait for each other; once
-- the row that was met has had half of its share all of them are added up, so
-- it may pass by what is under way at that moment. p_kind is that of the
-- address.
CREATE OR REPLACE FUNCTION poppy.limited(p_kind int, p_address bytea,
    p_per_address int, p_client_no bigint, p_per_client int, p_now bigint)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	of_client bytea := int8send(p_client_no);
	shards int := least(16, greatest(1, p_per_client / 64));
	counted int;
BEGIN
	IF p_per_client > 0 THEN
		INSERT INTO poppy.limit_count AS l (minute, kind, key, shard, n)
		VALUES (p_now / 60, p_kind + 1, of_client,
		    trunc(random() * shards), 1)
		ON CONFLICT (minute, kind, key, shard)
		DO UPDATE SET n = l.n + 1
		RETURNING l.n INTO counted;
		IF counted > p_per_client / shards / 2 AND (SELECT sum(l.n)
		    FROM poppy.limit_count l WHERE l.minute = p_now / 60
		    AND l.kind = p_kind + 1 AND l.key = of_client)
		    > p_per_client THEN
			RETURN 'limit_client';
		END IF;
	END IF;
	IF p_per_address > 0 THEN
		INSERT INTO poppy.limit_count AS l (minute, kind, key, shard, n)
		VALUES (p_now / 60, p_kind, p_address, 0, 1)
		ON CONFLICT (minute, kind, key, shard)
		DO UPDATE SET n = l.n + 1
		RETURNING l.n INTO counted;
		IF counted > p_per_address THEN
			RETURN 'limit_address';
		END IF;
	END IF;
	RETURN NULL;
END
$$;

-- Count one more in this quarter of an hour, unless there were p_most: then true,
-- and nothing is counted. Who turns out to have been right gets it back. The row
-- stands under the last minute of its quarter, since clean() takes what is over.
CREATE OR REPLACE FUNCTION poppy.quarter_full(p_kind int, p_key bytea,
    p_most int, p_now bigint)
RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
	IF p_most <= 0 THEN
		RETURN false;
	END IF;
	INSERT INTO poppy.limit_count AS l (minute, kind, key, shard, n)
	VALUES (p_now / 900 * 15 + 14, p_kind, p_key, 0, 1)
	ON CONFLICT (minute, kind, key, shard) DO UPDATE SET n = l.n + 1
	WHERE l.n < p_most;
	RETURN NOT FOUND;
END
$$;

-- Give one back. A NULL key is nobody's.
CREATE OR REPLACE FUNCTION poppy.quarter_back(p_kind int, p_key bytea,
    p_now bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	UPDATE poppy.limit_count l SET n = l.n - 1
	WHERE l.minute = p_now / 900 * 15 + 14 AND l.kind = p_kind
	    AND l.key = p_key AND l.shard = 0 AND l.n > 0;
END
$$;
