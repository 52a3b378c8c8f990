-- Carts of Sessions, by the shop's PHP: its pages and its API see the same one.
-- A change says what to add and what to take away, never what is there, so that
-- two at once both count.

-- A Session by its text, as POPPY_SESSION has it: 'ses_', two letters of bucket,
-- 16 bytes in base64url. NULLs for any other text.
CREATE OR REPLACE FUNCTION poppy.sid_parse(p_text text, OUT bucket int,
    OUT sid bytea)
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
	digits CONSTANT text := 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
	    'abcdefghijklmnopqrstuvwxyz0123456789-_';
BEGIN
	-- The last letter has but two bits to say.
	IF p_text ~ '^ses_[A-Za-z0-9_-]{23}[AQgw]$' THEN
		bucket := strpos(digits, substr(p_text, 5, 1)) * 64 - 64
		    + strpos(digits, substr(p_text, 6, 1)) - 1;
		sid := decode(translate(substr(p_text, 7), '-_', '+/') || '==',
		    'base64');
	END IF;
END
$$;

-- What is in the cart, in the order in which it came. A Session that is over, or
-- that nobody knows, has an empty one of version 0.
CREATE OR REPLACE FUNCTION poppy_api.cart_read(p_session text,
    OUT version bigint, OUT lines jsonb, OUT coupons jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	of_bucket smallint;
	of_sid bytea;
BEGIN
	SELECT p.bucket, p.sid INTO of_bucket, of_sid
	FROM poppy.sid_parse(p_session) p;
	SELECT c.version, to_jsonb(c.coupons), (SELECT jsonb_agg(
	    jsonb_build_object('sku', l.sku, 'options', l.options,
	    'quantity', l.quantity) ORDER BY l.place)
	    FROM poppy.cart_line l
	    WHERE l.bucket = c.bucket AND l.sid = c.sid)
	INTO version, coupons, lines
	FROM poppy.cart c
	JOIN poppy.session s ON s.bucket = c.bucket AND s.sid = c.sid
	WHERE c.bucket = of_bucket AND c.sid = of_sid
	    AND s.ended_at IS NULL AND s.ends_at > now_at;
	version := coalesce(version, 0);
	lines := coalesce(lines, '[]');
	coupons := coalesce(coupons, '[]');
END
$$;
REVOKE ALL ON FUNCTION poppy_api.cart_read(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.cart_read(text) TO poppy_bridge;

-- One line of a change, under the lock of the cart.
CREATE OR REPLACE FUNCTION poppy.cart_line_change(p_bucket smallint,
    p_sid bytea, p_line jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
	of_sku text := p_line ->> 'sku';
	of_options text := coalesce(p_line ->> 'options', '');
	delta numeric := p_line ->> 'delta';
	gone boolean := coalesce((p_line ->> 'remove')::boolean, false);
	q numeric;
BEGIN
	IF (octet_length(of_sku) BETWEEN 1 AND 200
	    AND octet_length(of_options) <= 1000
	    AND gone = (delta IS NULL) AND (gone OR delta = trunc(delta)))
	    IS NOT TRUE THEN
		RAISE 'a line of a cart has a sku and a delta, or remove';
	END IF;
	q := CASE WHEN gone THEN 0 ELSE delta + coalesce((SELECT l.quantity
	    FROM poppy.cart_line l
	    WHERE l.bucket = p_bucket AND l.sid = p_sid AND l.sku = of_sku
		AND l.options = of_options), 0) END;
	IF q > 9999 THEN
		RAISE SQLSTATE 'PF001';
	ELSIF q > 0 THEN
		INSERT INTO poppy.cart_line AS l (bucket, sid, sku, options,
		    quantity)
		VALUES (p_bucket, p_sid, of_sku, of_options, q)
		ON CONFLICT (bucket, sid, sku, options)
		DO UPDATE SET quantity = excluded.quantity;
	ELSE
		DELETE FROM poppy.cart_line l
		WHERE l.bucket = p_bucket AND l.sid = p_sid
		    AND l.sku = of_sku AND l.options = of_options;
	END IF;
END
$$;

-- Change a cart, or make it. p_lines is a list of objects, done in turn: sku,
-- options ('' if missing), and delta (what is left of 0 or less is no line) or
-- remove. p_coupons replaces those that are there; NULL leaves them.
--   ok		and the version that it has now
--   full	more than 200 lines, 9,999 of one, or 20 coupons: nothing is done
--   ended	there is no such live Session
CREATE OR REPLACE FUNCTION poppy_api.cart_change(p_session text, p_lines jsonb,
    p_coupons jsonb, OUT version bigint, OUT outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	of_bucket smallint;
	of_sid bytea;
	given text[];
	line jsonb;
	ignored text;
BEGIN
	SELECT p.bucket, p.sid INTO of_bucket, of_sid
	FROM poppy.sid_parse(p_session) p;
	-- Against the Session's end; its uses go on.
	PERFORM FROM poppy.session s
	WHERE s.bucket = of_bucket AND s.sid = of_sid
	    AND s.ended_at IS NULL AND s.ends_at > now_at
	FOR KEY SHARE;
	IF NOT FOUND THEN
		outcome := 'ended';
		RETURN;
	END IF;
	IF jsonb_array_length(p_lines) > 1000 OR pg_column_size(p_coupons) > 8192
	THEN
		RAISE 'a change of a cart is too long';
	END IF;
	given := CASE WHEN jsonb_typeof(p_coupons) <> 'null' THEN
	    ARRAY(SELECT c.v FROM jsonb_array_elements_text(p_coupons) c (v)) END;
	IF EXISTS (SELECT FROM unnest(given) c (v)
	    WHERE (octet_length(c.v) BETWEEN 1 AND 100) IS NOT TRUE) THEN
		RAISE 'a coupon has 1 to 100 bytes';
	END IF;
	-- What is full is undone to here.
	BEGIN
		INSERT INTO poppy.cart AS c (bucket, sid, coupons, changed_at)
		VALUES (of_bucket, of_sid, coalesce(given, '{}'), now_at)
		ON CONFLICT (bucket, sid) DO UPDATE
		SET version = c.version + 1, changed_at = now_at,
		    coupons = coalesce(given, c.coupons)
		RETURNING c.version INTO version;
		FOR line IN SELECT e.v FROM jsonb_array_elements(p_lines) e (v)
		LOOP
			ignored := poppy.cart_line_change(of_bucket, of_sid,
			    line);
		END LOOP;
		IF cardinality(given) > 20 OR (SELECT count(*)
		    FROM poppy.cart_line l
		    WHERE l.bucket = of_bucket AND l.sid = of_sid) > 200 THEN
			RAISE SQLSTATE 'PF001';
		END IF;
		outcome := 'ok';
	EXCEPTION WHEN SQLSTATE 'PF001' THEN
		version := NULL;
		outcome := 'full';
	END;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.cart_change(text, jsonb, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.cart_change(text, jsonb, jsonb)
    TO poppy_bridge;
