-- Grants of a bucket that ended before p_before, with their Account Tokens. First
-- in the bucket, as the order of locks wants; what somebody holds waits for the
-- next turn.
CREATE OR REPLACE FUNCTION poppy.clean_grants(p_bucket int, p_before bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	old bigint[] := ARRAY(SELECT g.grant_no FROM poppy.grants g
	    WHERE g.bucket = p_bucket::smallint
		AND least(g.revoked_at, g.expires_at) < p_before
		AND g.grant_no NOT IN (SELECT sg.grant_no
		    FROM poppy.session_grant sg
		    WHERE sg.bucket = p_bucket::smallint)
	    FOR UPDATE OF g SKIP LOCKED);
BEGIN
	IF cardinality(old) > 0 THEN
		DELETE FROM poppy.account_token a
		WHERE a.bucket = p_bucket::smallint
		    AND a.grant_no = ANY (old);
		DELETE FROM poppy.grants g
		WHERE g.bucket = p_bucket::smallint
		    AND g.grant_no = ANY (old);
	END IF;
	RETURN cardinality(old);
END
$$;

-- What was on its way to a sign-in, and login sessions, each in order of time.
CREATE OR REPLACE FUNCTION poppy.clean_sign_ins(p_limit int,
    p_requests bigint, p_codes bigint, p_devices bigint, p_logins bigint)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	of_table text;
	by_time text;
	before_at bigint;
	n int;
	total int := 0;
BEGIN
	FOR of_table, by_time, before_at IN VALUES
	    ('sign_in_request', 'expires_at', p_requests),
	    ('shop_login', 'expires_at', p_requests),
	    ('mediated', 'expires_at', p_requests),
	    ('code', 'expires_at', p_codes),
	    ('device', 'expires_at', p_devices),
	    ('login', 'created_at', p_logins)
	LOOP
		EXECUTE format('DELETE FROM poppy.%1$I r WHERE r.hash IN ('
		    'SELECT o.hash FROM poppy.%1$I o WHERE o.%2$I < $1 '
		    'ORDER BY o.%2$I LIMIT $2 FOR UPDATE SKIP LOCKED)',
		    of_table, by_time) USING before_at, p_limit;
		GET DIAGNOSTICS n = ROW_COUNT;
		total := total + n;
	END LOOP;
	RETURN total;
END
$$;

-- Delete tokens that expired and Sessions that ended a day ago or more, and grants
-- that ended p_grants_s ago and have signed in no Session that is still there.
-- There is no index on their times: it would cost every start and renewal.
-- Instead each call goes on through up to 64 of the 4,096 buckets, or until
-- p_limit rows are gone; a call a minute sees every bucket within some 64
-- minutes. One worker at a time. Rows of the audit go after p_audit_s, counts of
-- limits once their minute is over. What was on its way to a sign-in goes so long
-- after it expired (p_requests_s: authorization requests, logins on the shop's
-- page, Mediated Sign-Ins), login sessions so long after the login, whatever
-- their use.
DROP FUNCTION IF EXISTS poppy_api.clean(int, bigint);
CREATE OR REPLACE FUNCTION poppy_api.clean(p_limit int,
    p_audit_s bigint DEFAULT 15552000, p_requests_s bigint DEFAULT 86400,
    p_codes_s bigint DEFAULT 86400, p_devices_s bigint DEFAULT 86400,
    p_logins_s bigint DEFAULT 86400, p_grants_s bigint DEFAULT 7776000,
    OUT sessions int, OUT tokens int, OUT audits int, OUT grants int,
    OUT others int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	before_at bigint := now_at - 86400;
	ignored text := set_config('synchronous_commit', 'off', true);
	b int;
	n int;
BEGIN
	sessions := 0;
	tokens := 0;
	audits := 0;
	grants := 0;
	others := 0;
	IF NOT pg_try_advisory_xact_lock(20480, 2) THEN
		RETURN;
	END IF;
	b := (SELECT c.bucket FROM poppy.clean_cursor c WHERE c.one);
	FOR turn IN 1..64 LOOP
		grants := grants + poppy.clean_grants(b, now_at - p_grants_s);
		WITH gone AS (
		    DELETE FROM poppy.session s
		    WHERE s.bucket = b::smallint
			AND least(s.ended_at, s.ends_at) < before_at
		    RETURNING s.sid),
		also AS (
		    DELETE FROM poppy.session_grant sg USING gone
		    WHERE sg.bucket = b::smallint AND sg.sid = gone.sid),
		browsers AS (
		    DELETE FROM poppy.browser j USING gone
		    WHERE j.bucket = b::smallint AND j.sid = gone.sid),
		lines AS (
		    DELETE FROM poppy.cart_line l USING gone
		    WHERE l.bucket = b::smallint AND l.sid = gone.sid),
		carts AS (
		    DELETE FROM poppy.cart k USING gone
		    WHERE k.bucket = b::smallint AND k.sid = gone.sid)
		SELECT count(*) INTO n FROM gone;
		sessions := sessions + n;
		DELETE FROM poppy.token t
		WHERE t.bucket = b::smallint AND t.expires_at < before_at;
		GET DIAGNOSTICS n = ROW_COUNT;
		tokens := tokens + n;
		b := (b + 1) % 4096;
		EXIT WHEN sessions + tokens + grants >= p_limit;
	END LOOP;
	-- There may be more of them than a call a minute would get through.
	others := poppy.clean_sign_ins(10 * p_limit, now_at - p_requests_s,
	    now_at - p_codes_s, now_at - p_devices_s, now_at - p_logins_s);
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
REVOKE ALL ON FUNCTION poppy_api.clean(int, bigint, bigint, bigint, bigint,
    bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.clean(int, bigint, bigint, bigint, bigint,
    bigint, bigint) TO poppy_auth, poppy_guard;
