-- Replay memory. A slot is 900 s of signed time; its number is iat / 900, its
-- table number % 4. An iat counts while it lies between now - 760 s and
-- now + 120 s: more than any lifetime plus skews, and less than a slot, so at
-- most two slots are live at once. Spending is spend_check(), the caller's
-- other checks, spend(): whatever else is wrong, nothing has been spent.
--
-- Neither is for a program to call: they run inside functions of poppy_api and
-- with their search_path.

-- Unix seconds of the database's clock, which alone decides about slots.
CREATE OR REPLACE FUNCTION poppy.now_at() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN pg_catalog.floor(pg_catalog.date_part('epoch',
    pg_catalog.clock_timestamp()))::bigint;

-- Lock the keys of a request until the transaction ends and say whether they
-- may be spent:
--   0	none was seen before
--   i	the one at place i (from 1, the lowest) was, here or earlier
--   -s	the memory is younger than an iat, so nobody knows: 503, s seconds
--   NULL	an iat is no live one by this clock
-- The same jti with another iat may lie in the other live slot, hence the look
-- into both. Two connections that spend one jti meet at its lock, whatever iats
-- they bring; the second looks after the first has committed.
CREATE OR REPLACE FUNCTION poppy.spend_check(p_spend bytea[], p_iat bigint[],
    p_future_s int, p_now bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	n int := cardinality(p_spend);
	lowest bigint := p_iat[1];
	highest bigint := p_iat[1];
	since bigint;
	keys bytea[] := p_spend;
	key bytea;
	last bytea;
	at int;
	seen int;
	locked text;
BEGIN
	-- A caller that forgets to spend must not pass.
	IF n IS NULL OR n = 0 OR n <> cardinality(p_iat) THEN
		RAISE 'spend keys and iats must come in pairs';
	END IF;
	FOR i IN 2..n LOOP
		lowest := least(lowest, p_iat[i]);
		highest := greatest(highest, p_iat[i]);
	END LOOP;
	IF lowest < p_now - 760 OR highest > p_now + 120 THEN
		RETURN NULL;
	END IF;

	SELECT e.since INTO since FROM poppy.replay_epoch e WHERE e.one;
	IF NOT FOUND THEN
		INSERT INTO poppy.replay_epoch (since) VALUES (p_now)
		    ON CONFLICT DO NOTHING;
		since := p_now;
	END IF;
	IF lowest <= since + p_future_s THEN
		RETURN -greatest(1, since + p_future_s + 1 - p_now);
	END IF;

	-- In one order for all, so that no two requests wait for each other.
	IF n > 1 THEN
		keys := (SELECT array_agg(u.k ORDER BY u.k)
		    FROM unnest(p_spend) u (k));
	END IF;
	FOREACH key IN ARRAY keys LOOP
		IF key = last THEN
			seen := least(seen, array_position(p_spend, key,
			    array_position(p_spend, key) + 1));
		END IF;
		last := key;
		locked := pg_advisory_xact_lock(
		    hashtextextended(encode(key, 'hex'), 0));
	END LOOP;

	FOR slot IN (p_now - 760) / 900 .. (p_now + 120) / 900 LOOP
		CASE slot % 4
		WHEN 0 THEN
			SELECT min(array_position(p_spend, r.spend)) INTO at
			FROM poppy.replay_0 r WHERE r.spend = ANY (p_spend);
		WHEN 1 THEN
			SELECT min(array_position(p_spend, r.spend)) INTO at
			FROM poppy.replay_1 r WHERE r.spend = ANY (p_spend);
		WHEN 2 THEN
			SELECT min(array_position(p_spend, r.spend)) INTO at
			FROM poppy.replay_2 r WHERE r.spend = ANY (p_spend);
		ELSE
			SELECT min(array_position(p_spend, r.spend)) INTO at
			FROM poppy.replay_3 r WHERE r.spend = ANY (p_spend);
		END CASE;
		seen := least(seen, at);
	END LOOP;
	RETURN coalesce(seen, 0);
END
$$;

-- Spend what spend_check() has locked and found unseen.
CREATE OR REPLACE FUNCTION poppy.spend(p_spend bytea[], p_iat bigint[],
    p_request_id text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..cardinality(p_spend) LOOP
		CASE p_iat[i] / 900 % 4
		WHEN 0 THEN
			INSERT INTO poppy.replay_0 (spend, iat, request_id)
			VALUES (p_spend[i], p_iat[i], p_request_id);
		WHEN 1 THEN
			INSERT INTO poppy.replay_1 (spend, iat, request_id)
			VALUES (p_spend[i], p_iat[i], p_request_id);
		WHEN 2 THEN
			INSERT INTO poppy.replay_2 (spend, iat, request_id)
			VALUES (p_spend[i], p_iat[i], p_request_id);
		ELSE
			INSERT INTO poppy.replay_3 (spend, iat, request_id)
			VALUES (p_spend[i], p_iat[i], p_request_id);
		END CASE;
	END LOOP;
END
$$;

-- Whether it was this very request that spent the key: Apache asks an
-- authorizer again after an internal redirect, with the same UNIQUE_ID.
CREATE OR REPLACE FUNCTION poppy.spent_by(p_spend bytea, p_iat bigint,
    p_request_id text)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
	r record;
BEGIN
	CASE p_iat / 900 % 4
	WHEN 0 THEN SELECT * INTO r FROM poppy.replay_0 WHERE spend = p_spend;
	WHEN 1 THEN SELECT * INTO r FROM poppy.replay_1 WHERE spend = p_spend;
	WHEN 2 THEN SELECT * INTO r FROM poppy.replay_2 WHERE spend = p_spend;
	ELSE	    SELECT * INTO r FROM poppy.replay_3 WHERE spend = p_spend;
	END CASE;
	RETURN FOUND AND coalesce(r.request_id = p_request_id, false)
	    AND r.iat = p_iat;
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
