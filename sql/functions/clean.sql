-- Delete tokens that expired and Sessions that ended a day ago or more. There
-- is no index on either time: it would cost every start and renewal. Instead
-- each call goes on through up to 64 of the 4,096 buckets, or until p_limit rows are
-- gone; a call a minute sees every bucket within some 64 minutes. One worker at
-- a time. Rows of the audit go after p_audit_s, counts of limits once their
-- minute is over.
CREATE OR REPLACE FUNCTION poppy_api.clean(p_limit int,
    p_audit_s bigint DEFAULT 15552000, OUT sessions int, OUT tokens int,
    OUT audits int)
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
	audits := 0;
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
	-- Both are in order of time, so what is over lies at one end.
	DELETE FROM poppy.audit a
	WHERE a.at < before_at + 86400 - p_audit_s AND a.audit_no IN (
	    SELECT o.audit_no FROM poppy.audit o
	    ORDER BY o.audit_no LIMIT p_limit);
	GET DIAGNOSTICS audits = ROW_COUNT;
	DELETE FROM poppy.limit_count l
	WHERE (l.minute, l.kind, l.key, l.shard) IN (
	    SELECT o.minute, o.kind, o.key, o.shard FROM poppy.limit_count o
	    WHERE o.minute < (before_at + 86400) / 60 - 1
	    ORDER BY o.minute LIMIT 20000);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.clean(int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.clean(int, bigint)
    TO poppy_auth, poppy_guard;
