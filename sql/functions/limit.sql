-- Limits over all workers: requests of this minute by the database's clock.
-- Kinds: 1 and 2 token requests of an address and of a client, 3 and 4
-- revocations.

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
