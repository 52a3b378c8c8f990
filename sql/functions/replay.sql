-- Replay memory. A slot is 900 s of signed time; its number is iat / 900, its
-- table number % 4. An iat counts while it lies between now - 760 s and
-- now + 120 s: more than any lifetime plus skews, and less than a slot, so at
-- most two slots are live at once.
--
-- None of this is for a program to call: it runs inside functions of poppy_api
-- and with their search_path. It stands on the way of every signed request, so
-- it is written for few statements: each costs what ten expressions do.

-- Unix seconds of the database's clock, which alone decides about slots.
CREATE OR REPLACE FUNCTION poppy.now_at() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN pg_catalog.floor(pg_catalog.date_part('epoch',
    pg_catalog.clock_timestamp()))::bigint;

-- Whether the tables of slot p_low and the one after it, which are all that is
-- live, hold one of up to three keys; NULL is none. Both in one statement: a
-- second one would cost more than the look itself.
CREATE OR REPLACE FUNCTION poppy.spent(p_low bigint, p_1 bytea, p_2 bytea,
    p_3 bytea)
RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
	CASE p_low % 4
	WHEN 0 THEN
		RETURN EXISTS (SELECT FROM poppy.replay_0 r
		    WHERE r.spend IN (p_1, p_2, p_3))
		    OR EXISTS (SELECT FROM poppy.replay_1 r
		    WHERE r.spend IN (p_1, p_2, p_3));
	WHEN 1 THEN
		RETURN EXISTS (SELECT FROM poppy.replay_1 r
		    WHERE r.spend IN (p_1, p_2, p_3))
		    OR EXISTS (SELECT FROM poppy.replay_2 r
		    WHERE r.spend IN (p_1, p_2, p_3));
	WHEN 2 THEN
		RETURN EXISTS (SELECT FROM poppy.replay_2 r
		    WHERE r.spend IN (p_1, p_2, p_3))
		    OR EXISTS (SELECT FROM poppy.replay_3 r
		    WHERE r.spend IN (p_1, p_2, p_3));
	ELSE
		RETURN EXISTS (SELECT FROM poppy.replay_3 r
		    WHERE r.spend IN (p_1, p_2, p_3))
		    OR EXISTS (SELECT FROM poppy.replay_0 r
		    WHERE r.spend IN (p_1, p_2, p_3));
	END CASE;
END
$$;

-- Whether it was this very request that spent the key.
CREATE OR REPLACE FUNCTION poppy.spent_by(p_spend bytea, p_iat bigint,
    p_request_id text)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
	r record;
BEGIN
	IF p_request_id IS NULL THEN
		RETURN false;
	END IF;
	CASE p_iat / 900 % 4
	WHEN 0 THEN SELECT * INTO r FROM poppy.replay_0 WHERE spend = p_spend;
	WHEN 1 THEN SELECT * INTO r FROM poppy.replay_1 WHERE spend = p_spend;
	WHEN 2 THEN SELECT * INTO r FROM poppy.replay_2 WHERE spend = p_spend;
	ELSE	    SELECT * INTO r FROM poppy.replay_3 WHERE spend = p_spend;
	END CASE;
	RETURN coalesce(r.request_id = p_request_id AND r.iat = p_iat, false);
END
$$;

-- One key into the table of its slot.
CREATE OR REPLACE FUNCTION poppy.spend_put(p_spend bytea, p_iat bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	CASE p_iat / 900 % 4
	WHEN 0 THEN
		INSERT INTO poppy.replay_0 (spend, iat)
		VALUES (p_spend, p_iat);
	WHEN 1 THEN
		INSERT INTO poppy.replay_1 (spend, iat)
		VALUES (p_spend, p_iat);
	WHEN 2 THEN
		INSERT INTO poppy.replay_2 (spend, iat)
		VALUES (p_spend, p_iat);
	ELSE
		INSERT INTO poppy.replay_3 (spend, iat)
		VALUES (p_spend, p_iat);
	END CASE;
END
$$;

-- The memory was emptied by a crash or is a new standby's: it begins now.
CREATE OR REPLACE FUNCTION poppy.epoch_begin(p_now bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO poppy.replay_epoch (since) VALUES (p_now)
	ON CONFLICT DO NOTHING;
	RETURN p_now;
END
$$;

-- The lowest place of a key that is there already, in the memory or in p_spend
-- itself. For the rare case that one is.
CREATE OR REPLACE FUNCTION poppy.spent_place(p_spend bytea[], p_low bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..cardinality(p_spend) LOOP
		IF poppy.spent(p_low, p_spend[i], NULL, NULL)
		    OR array_position(p_spend, p_spend[i]) < i THEN
			RETURN i;
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;

-- Spend the keys of one request, at most three, or none of them: the last check
-- of a function, before it writes anything.
--   0		spent
--   i		the one at place i (from 1, the lowest) was spent before, or stands
--		in p_spend twice
--   -s		the memory is younger than an iat, so nobody knows: 503, s seconds
--   NULL	an iat is no live one by this clock
-- Two connections that spend one jti meet at the locks, whatever iats they
-- bring, and the second statement begins when the first has committed. The
-- locks are taken in one order by all, so that no two requests wait for each
-- other; least() and greatest() pass over what is NULL.
--
-- Nearly always one table holds all the iats. Then one statement asks for the
-- epoch, looks into both tables that are live and inserts all or nothing. It
-- stands here once, in $branch$, and is written out for each table @ and the
-- other live one #, which is the one before (even numbers) or the next: a
-- table's name can't be a variable.
DO $make$
DECLARE
	branches text := '';
BEGIN
	FOR i IN 0..7 LOOP
		branches := branches || E'\n\t\tWHEN ' || i || ' THEN'
		    || replace(replace($branch$
			INSERT INTO poppy.replay_@ (spend, iat)
			SELECT v.spend, v.iat
			FROM (VALUES (k1, i1), (k2, i2), (k3, i3))
			    AS v (spend, iat)
			WHERE v.spend IS NOT NULL AND lowest - p_future_s >
			    (SELECT e.since FROM poppy.replay_epoch e)
			    AND NOT EXISTS (SELECT FROM poppy.replay_@ r
			    WHERE r.spend IN (k1, k2, k3))
			    AND NOT EXISTS (SELECT FROM poppy.replay_# r
			    WHERE r.spend IN (k1, k2, k3));$branch$,
		    '@', (i / 2)::text),
		    '#', ((i / 2 + CASE i % 2 WHEN 0 THEN 3 ELSE 1 END) % 4)::text);
	END LOOP;
	EXECUTE $begin$
CREATE OR REPLACE FUNCTION poppy.spend(p_spend bytea[], p_iat bigint[],
    p_future_s int, p_now bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	n int := cardinality(p_spend);
	k1 bytea := p_spend[1];
	k2 bytea := p_spend[2];
	k3 bytea := p_spend[3];
	i1 bigint := p_iat[1];
	i2 bigint := p_iat[2];
	i3 bigint := p_iat[3];
	lowest bigint := least(i1, i2, i3);
	low bigint := (p_now - 760) / 900;
	a bigint := hashtextextended(encode(k1, 'hex'), 0);
	b bigint := hashtextextended(encode(k2, 'hex'), 0);
	c bigint := hashtextextended(encode(k3, 'hex'), 0);
	first bigint := least(a, b, c);
	last bigint := greatest(a, b, c);
	twice boolean := (k2 = k1 OR k3 IN (k1, k2)) IS TRUE;
	since bigint;
	ignored text;
BEGIN
	-- A caller that forgets to spend must not pass.
	IF (n BETWEEN 1 AND 3 AND n = cardinality(p_iat)
	    AND octet_length(k1) = 16 AND (n < 2 OR octet_length(k2) = 16)
	    AND (n < 3 OR octet_length(k3) = 16)) IS NOT TRUE THEN
		RAISE 'one to three keys, each with its iat';
	END IF;
	IF lowest < p_now - 760 OR greatest(i1, i2, i3) > p_now + 120 THEN
		RETURN NULL;
	END IF;
	ignored := pg_advisory_xact_lock(first);
	IF c IS NOT NULL THEN	-- the middle one: what is left of all three
		ignored := pg_advisory_xact_lock(a # b # c # first # last);
	END IF;
	IF last <> first THEN
		ignored := pg_advisory_xact_lock(last);
	END IF;
	IF NOT twice AND lowest / 900 = greatest(i1, i2, i3) / 900 THEN
		CASE lowest / 900 % 4 * 2 + (lowest / 900 = low)::int$begin$
		    || branches || $end$
		END CASE;
		IF FOUND THEN
			RETURN 0;
		END IF;
	END IF;

	-- Rare: there is something to say, or the iats lie in two tables.
	since := (SELECT e.since FROM poppy.replay_epoch e);
	IF since IS NULL THEN
		since := poppy.epoch_begin(p_now);
	END IF;
	IF lowest <= since + p_future_s THEN
		RETURN -greatest(1, since + p_future_s + 1 - p_now);
	END IF;
	IF twice OR poppy.spent(low, k1, k2, k3) THEN
		RETURN poppy.spent_place(p_spend, low);
	END IF;
	FOR i IN 1..n LOOP
		ignored := poppy.spend_put(p_spend[i], p_iat[i]);
	END LOOP;
	RETURN 0;
END
$$
$end$;
END
$make$;

-- The same for a request that brings a single key, with everything in one body:
-- every guarded call comes through here, and a call of a function inside costs
-- what two expressions do. A key that this very request has spent is 0 again:
-- Apache asks an authorizer again after an internal redirect, with the same
-- UNIQUE_ID. p_request_id NULL is like no other.
CREATE OR REPLACE FUNCTION poppy.spend(p_spend bytea, p_iat bigint,
    p_future_s int, p_now bigint, p_request_id text)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	since bigint;
	seen boolean;
	locked text;
BEGIN
	IF octet_length(p_spend) IS DISTINCT FROM 16 OR p_iat IS NULL THEN
		RAISE 'a key and its iat';
	END IF;
	IF p_iat < p_now - 760 OR p_iat > p_now + 120 THEN
		RETURN NULL;
	END IF;
	since := (SELECT e.since FROM poppy.replay_epoch e);
	IF since IS NULL THEN
		since := poppy.epoch_begin(p_now);
	END IF;
	IF p_iat <= since + p_future_s THEN
		RETURN -greatest(1, since + p_future_s + 1 - p_now);
	END IF;
	locked := pg_advisory_xact_lock(
	    hashtextextended(encode(p_spend, 'hex'), 0));
	CASE (p_now - 760) / 900 % 4
	WHEN 0 THEN
		seen := EXISTS (SELECT FROM poppy.replay_0 r
		    WHERE r.spend = p_spend)
		    OR EXISTS (SELECT FROM poppy.replay_1 r
		    WHERE r.spend = p_spend);
	WHEN 1 THEN
		seen := EXISTS (SELECT FROM poppy.replay_1 r
		    WHERE r.spend = p_spend)
		    OR EXISTS (SELECT FROM poppy.replay_2 r
		    WHERE r.spend = p_spend);
	WHEN 2 THEN
		seen := EXISTS (SELECT FROM poppy.replay_2 r
		    WHERE r.spend = p_spend)
		    OR EXISTS (SELECT FROM poppy.replay_3 r
		    WHERE r.spend = p_spend);
	ELSE
		seen := EXISTS (SELECT FROM poppy.replay_3 r
		    WHERE r.spend = p_spend)
		    OR EXISTS (SELECT FROM poppy.replay_0 r
		    WHERE r.spend = p_spend);
	END CASE;
	IF seen THEN
		RETURN CASE WHEN poppy.spent_by(p_spend, p_iat, p_request_id)
		    THEN 0 ELSE 1 END;
	END IF;
	CASE p_iat / 900 % 4
	WHEN 0 THEN
		INSERT INTO poppy.replay_0 (spend, iat, request_id)
		VALUES (p_spend, p_iat, p_request_id);
	WHEN 1 THEN
		INSERT INTO poppy.replay_1 (spend, iat, request_id)
		VALUES (p_spend, p_iat, p_request_id);
	WHEN 2 THEN
		INSERT INTO poppy.replay_2 (spend, iat, request_id)
		VALUES (p_spend, p_iat, p_request_id);
	ELSE
		INSERT INTO poppy.replay_3 (spend, iat, request_id)
		VALUES (p_spend, p_iat, p_request_id);
	END CASE;
	RETURN 0;
END
$$;

-- Take back what this transaction has spent: a limit is known last of all.
CREATE OR REPLACE FUNCTION poppy.unspend(p_spend bytea[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	DELETE FROM poppy.replay_0 r WHERE r.spend = ANY (p_spend);
	DELETE FROM poppy.replay_1 r WHERE r.spend = ANY (p_spend);
	DELETE FROM poppy.replay_2 r WHERE r.spend = ANY (p_spend);
	DELETE FROM poppy.replay_3 r WHERE r.spend = ANY (p_spend);
END
$$;

-- Empty what is out of use: neither live nor next to come. One worker at a
-- time; a table that somebody holds is left for the next turn.
CREATE OR REPLACE FUNCTION poppy_api.replay_rotate(OUT emptied int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	slot bigint;
	ignored text;
BEGIN
	emptied := 0;
	IF NOT pg_try_advisory_xact_lock(20480, 1) THEN
		RETURN;
	END IF;
	ignored := set_config('lock_timeout', '100ms', true);
	ignored := set_config('synchronous_commit', 'off', true);
	-- From behind the slot to come, around the ring, to before the oldest
	-- live one.
	FOR slot IN (now_at + 120) / 900 + 2 .. (now_at - 760) / 900 + 3 LOOP
		IF slot % 4 = 0 AND pg_relation_size('poppy.replay_0') > 0 THEN
			TRUNCATE poppy.replay_0;
		ELSIF slot % 4 = 1
		    AND pg_relation_size('poppy.replay_1') > 0 THEN
			TRUNCATE poppy.replay_1;
		ELSIF slot % 4 = 2
		    AND pg_relation_size('poppy.replay_2') > 0 THEN
			TRUNCATE poppy.replay_2;
		ELSIF slot % 4 = 3
		    AND pg_relation_size('poppy.replay_3') > 0 THEN
			TRUNCATE poppy.replay_3;
		ELSE
			CONTINUE;
		END IF;
		emptied := emptied + 1;
	END LOOP;
EXCEPTION WHEN lock_not_available THEN
	emptied := 0;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.replay_rotate() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.replay_rotate() TO poppy_auth, poppy_guard;
