-- Delete tokens that expired and Sessions that ended a day ago or more. There
-- is no index on either time: it would cost every start and renewal. Instead
-- each call goes on through up to 64 of the 4,096 buckets, or until p_limit rows are
-- gone; a call a minute sees every bucket within some 64 minutes. One worker at
-- a time.
CREATE OR REPLACE FUNCTION poppy_api.clean(p_limit int, OUT sessions int,
    OUT tokens int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	before_at bigint := poppy.now_at() - 86400;
	ignored text := set_config('synchronous_commit', 'off', true);
	b int;
	n int;
BEGIN
	sessions := 0;
	tokens := 0;
	IF NOT pg_try_advisory_xact_lock(20480, 2) THEN
		RETURN;
	END IF;
	b := (SELECT c.bucket FROM poppy.clean_cursor c WHERE c.one);
	FOR turn IN 1..64 LOOP
		DELETE FROM poppy.token t
		WHERE t.bucket = b::smallint AND t.expires_at < before_at;
		GET DIAGNOSTICS n = ROW_COUNT;
		tokens := tokens + n;
		DELETE FROM poppy.session s
		WHERE s.bucket = b::smallint
		    AND least(s.ended_at, s.ends_at) < before_at;
		GET DIAGNOSTICS n = ROW_COUNT;
		sessions := sessions + n;
		b := (b + 1) % 4096;
		EXIT WHEN sessions + tokens >= p_limit;
	END LOOP;
	UPDATE poppy.clean_cursor c SET bucket = b WHERE c.one;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.clean(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.clean(int) TO poppy_auth, poppy_guard;
