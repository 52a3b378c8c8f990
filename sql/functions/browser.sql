-- Agents' browsers: one joins a Session by an assertion of its agent, and from
-- then on its cookie stands for that Session as it is at each moment.

-- Whether there is such a live Session of a client that is known and not
-- blocked. Asked before anything is fetched: who has no Session of ours makes us
-- ask nobody.
CREATE OR REPLACE FUNCTION poppy_api.browser_look(p_client_id text,
    p_bucket int, p_sid bytea, p_user_key bytea, p_idle_s bigint,
    p_max_s bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
BEGIN
	RETURN EXISTS (SELECT FROM poppy.session s
	    JOIN poppy.client c ON c.client_no = s.client_no
	    WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid
		AND s.user_key = p_user_key AND s.ended_at IS NULL
		AND s.used_at + p_idle_s > now_at
		AND s.started_at + p_max_s > now_at
		AND c.client_id = p_client_id AND c.status = 'known');
END
$$;
REVOKE ALL ON FUNCTION poppy_api.browser_look(text, int, bytea, bytea, bigint,
    bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.browser_look(text, int, bytea, bytea,
    bigint, bigint) TO poppy_browser;

-- A browser joins a Session; p_cookie is the hash of what it gets.
--   ok		and the Session ends in expires_in, if it isn't used before
--   invalid_session	p_sid is unknown, over, or another client's or User's
-- and as session_start; anything but 'ok' spends and writes nothing. It counts
-- as a use of the Session. Of the cookies that the Session had, the newest
-- p_per_session - 1 stay. A crash may take what was given, as with a Session
-- start.
CREATE OR REPLACE FUNCTION poppy_api.browser_join(p_client_no bigint,
    p_client_version bigint, p_bucket int, p_user_key bytea, p_sid bytea,
    p_cookie bytea, p_per_session int, p_idle_s bigint, p_max_s bigint,
    p_spend bytea[], p_iat bigint[], p_future_s int, p_address text,
    p_address_key bytea, p_per_address int, p_per_client int,
    OUT outcome text, OUT replayed int, OUT expires_in bigint,
    OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
	began_at bigint;
	end_at bigint;
BEGIN
	-- A caller that doesn't say whose Session it is must not pass.
	IF (p_per_session > 0 AND octet_length(p_user_key) = 32) IS NOT TRUE
	THEN
		RAISE 'a User, and one cookie or more';
	END IF;
	outcome := poppy.client_judge(p_client_no, p_client_version, p_bucket,
	    p_sid, p_address);
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT j.fault, j.began_at INTO outcome, began_at
	FROM poppy.session_judge(p_bucket, p_sid, p_client_no, p_user_key, NULL,
	    p_idle_s, p_max_s, now_at, p_address) j;
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT c.outcome, c.replayed, c.retry_s INTO outcome, replayed, retry_s
	FROM poppy.spend_count(p_spend, p_iat, p_future_s, true, false, 12,
	    p_address_key, p_per_address, p_client_no, p_per_client, now_at,
	    p_bucket, p_sid, p_address) c;
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;

	end_at := least(now_at + p_idle_s, began_at + p_max_s);
	UPDATE poppy.session s
	SET used_at = greatest(s.used_at, now_at), ends_at = end_at
	WHERE s.bucket = p_bucket::smallint AND s.sid = p_sid;
	DELETE FROM poppy.browser b
	WHERE b.bucket = p_bucket::smallint AND b.sid = p_sid
	    AND b.place <= (SELECT o.place FROM poppy.browser o
		WHERE o.bucket = p_bucket::smallint AND o.sid = p_sid
		ORDER BY o.place DESC OFFSET p_per_session - 1 LIMIT 1);
	INSERT INTO poppy.browser (bucket, hash, sid, joined_at)
	VALUES (p_bucket, p_cookie, p_sid, now_at);
	ignored := poppy.audit_put('browser_joined', p_client_no, p_user_key,
	    p_bucket, p_sid, p_address, NULL);
	expires_in := end_at - now_at;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.browser_join(bigint, bigint, int, bytea, bytea,
    bytea, int, bigint, bigint, bytea[], bigint[], int, text, bytea, int, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.browser_join(bigint, bigint, int, bytea,
    bytea, bytea, int, bigint, bigint, bytea[], bigint[], int, text, bytea, int,
    int) TO poppy_browser;

-- Whose a cookie is at this moment.
--   ok		the client, the User, the Session; signed_in with account, scopes
--		and grant_no as long as one of its grants lives: the newest of
--		those decides, whatever tokens the agent has
--   unknown	no such cookie, or another has taken its place
--   ended	its Session is over
--   blocked	its client is
-- A grant for one resource alone signs no pages in. Asked for every page, so it
-- is one SELECT; use is written down only once an hour, or in time before a
-- shorter p_idle_s is over.
CREATE OR REPLACE FUNCTION poppy_api.cookie_use(p_bucket int, p_cookie bytea,
    p_idle_s bigint, p_max_s bigint, p_address text, OUT outcome text,
    OUT client_no bigint, OUT client_id text, OUT client_name text,
    OUT user_key bytea, OUT sid bytea, OUT account text, OUT scopes text,
    OUT signed_in boolean, OUT grant_no bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	of_client text;
	lives boolean;
	idle_from bigint;
	ignored text;
BEGIN
	SELECT b.sid, s.client_no, s.user_key, s.used_at, c.client_id, c.name,
	    c.status, s.ended_at IS NULL AND s.used_at + p_idle_s > now_at
	    AND s.started_at + p_max_s > now_at, g.grant_no, g.account, g.scopes
	INTO sid, client_no, user_key, idle_from, client_id, client_name,
	    of_client, lives, grant_no, account, scopes
	FROM poppy.browser b
	LEFT JOIN poppy.session s ON s.bucket = b.bucket AND s.sid = b.sid
	LEFT JOIN poppy.client c ON c.client_no = s.client_no
	LEFT JOIN LATERAL (SELECT k.grant_no, k.account, k.scopes
	    FROM poppy.session_grant sg
	    JOIN poppy.grants k ON k.bucket = sg.bucket
		AND k.grant_no = sg.grant_no
	    WHERE sg.bucket = b.bucket AND sg.sid = b.sid
		AND k.revoked_at IS NULL AND k.expires_at > now_at
		AND k.resource IS NULL
	    ORDER BY sg.grant_no DESC LIMIT 1) g ON true
	WHERE b.bucket = p_bucket::smallint AND b.hash = p_cookie;
	IF lives AND of_client = 'known' THEN
		outcome := 'ok';
		signed_in := grant_no IS NOT NULL;
		scopes := coalesce(scopes, '');
		IF idle_from < now_at - least(3600, p_idle_s / 2) THEN
			UPDATE poppy.session s
			SET used_at = greatest(s.used_at, now_at),
			    ends_at = least(now_at + p_idle_s,
			    s.started_at + p_max_s)
			WHERE s.bucket = p_bucket::smallint
			    AND s.sid = cookie_use.sid AND s.ended_at IS NULL;
		END IF;
		RETURN;
	END IF;
	outcome := CASE WHEN sid IS NULL THEN 'unknown'
	    WHEN lives IS NOT TRUE THEN 'ended' ELSE 'blocked' END;
	IF outcome = 'blocked' THEN
		ignored := poppy.audit_put(outcome, client_no, user_key,
		    p_bucket, sid, p_address, 'cookie');
	END IF;
	client_no := NULL;
	client_id := NULL;
	client_name := NULL;
	user_key := NULL;
	sid := NULL;
	account := NULL;
	scopes := NULL;
	grant_no := NULL;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.cookie_use(int, bytea, bigint, bigint, text)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.cookie_use(int, bytea, bigint, bigint, text)
    TO poppy_guard;
