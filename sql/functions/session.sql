-- Whether a Session and a token of it may be written: what the tables would
-- CHECK, at a fraction of the cost. A token without a key is for one service.
CREATE OR REPLACE FUNCTION poppy.fits(p_bucket int, p_sid bytea,
    p_user_key bytea, p_token bytea, p_jkt bytea, p_resource text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN p_bucket BETWEEN 0 AND 4095 AND pg_catalog.octet_length(p_sid) = 16
    AND pg_catalog.octet_length(p_user_key) = 32
    AND pg_catalog.octet_length(p_token) = 32
    AND CASE WHEN p_jkt IS NULL THEN p_resource IS NOT NULL
    ELSE pg_catalog.octet_length(p_jkt) = 32 END;

-- Start a Session, or renew one, and issue a Session Token: one call decides
-- and does everything. Anything but 'ok' spends and writes nothing.
--   ok			sid and expires_in
--   blocked		the client is
--   stale		the client's documents are of another version: load them,
--			check again, call again
--   replay		the jti at place `replayed` was seen before
--   epoch		the replay memory is too young to tell: 503, retry_s
--   clock		an iat is no live one by the database's clock: 503, retry_s
--   invalid_session	p_renew is unknown, over, or another client's or User's
--   limit_address, limit_client	has had its token requests of this minute:
--			429, retry_s
-- Earlier tokens of a renewed Session stay valid. A token never outlives its
-- Session, which ends p_idle_s after its last use and p_max_s after its start.
CREATE OR REPLACE FUNCTION poppy_api.session_start(p_client_no bigint,
    p_client_version bigint, p_bucket int, p_user_key bytea, p_renew bytea,
    p_new_sid bytea, p_token bytea, p_token_s int, p_idle_s bigint,
    p_max_s bigint, p_jkt bytea, p_resource text, p_spend bytea[],
    p_iat bigint[], p_future_s int, p_address text DEFAULT NULL,
    p_address_key bytea DEFAULT NULL, p_per_address int DEFAULT 0,
    p_per_client int DEFAULT 0, OUT outcome text, OUT replayed int,
    OUT sid bytea, OUT expires_in int, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	-- A signed-out Session may be lost in a crash, so nobody waits for disk.
	ignored text := set_config('synchronous_commit', 'off', true);
	of_client text;
	of_version bigint;
	began_at bigint := now_at;
	was_used bigint;
	would_end bigint;
	seen int;
	end_at bigint;
	limited text;
BEGIN
	SELECT client.status, client.version INTO of_client, of_version
	FROM poppy.client WHERE client.client_no = p_client_no;
	IF of_client = 'blocked' THEN
		outcome := 'blocked';
		ignored := poppy.audit_put(outcome, p_client_no, p_user_key,
		    p_bucket, p_renew, p_address, NULL);
		RETURN;
	ELSIF of_version IS DISTINCT FROM p_client_version THEN
		outcome := 'stale';
		RETURN;
	END IF;
	IF p_renew IS NOT NULL THEN
		SELECT s.started_at, s.used_at, s.ends_at
		INTO began_at, was_used, would_end
		FROM poppy.session s
		WHERE s.bucket = p_bucket::smallint AND s.sid = p_renew
		    AND s.client_no = p_client_no AND s.user_key = p_user_key
		    AND s.ended_at IS NULL AND s.used_at + p_idle_s > now_at
		    AND s.started_at + p_max_s > now_at
		FOR NO KEY UPDATE;
		IF NOT FOUND THEN
			outcome := 'invalid_session';
			ignored := poppy.audit_put(outcome, p_client_no,
			    p_user_key, p_bucket, p_renew, p_address, NULL);
			RETURN;
		END IF;
	END IF;

	seen := poppy.spend(p_spend, p_iat, p_future_s, now_at);
	outcome := CASE WHEN seen IS NULL THEN 'clock' WHEN seen < 0 THEN 'epoch'
	    WHEN seen > 0 THEN 'replay' END;
	IF outcome IS NOT NULL THEN
		retry_s := CASE WHEN seen IS NULL THEN 1
		    WHEN seen < 0 THEN -seen END;
		replayed := CASE WHEN seen > 0 THEN seen END;
		IF seen > 0 THEN
			ignored := poppy.audit_put(outcome, p_client_no,
			    p_user_key, p_bucket, p_renew, p_address,
			    CASE seen + (p_jkt IS NULL)::int WHEN 1 THEN 'proof'
			    WHEN 2 THEN 'client_assertion'
			    ELSE 'assertion' END);
		END IF;
		RETURN;
	END IF;

	end_at := least(now_at + p_idle_s, began_at + p_max_s);
	sid := coalesce(p_renew, p_new_sid);
	IF poppy.fits(p_bucket, sid, p_user_key, p_token, p_jkt, p_resource)
	    IS NOT TRUE THEN
		RAISE 'a Session or a token of another shape';
	END IF;
	IF p_renew IS NULL THEN
		INSERT INTO poppy.session (bucket, sid, client_no, user_key,
		    started_at, used_at, ends_at)
		VALUES (p_bucket, sid, p_client_no, p_user_key, now_at, now_at,
		    end_at);
	ELSE
		UPDATE poppy.session s
		SET used_at = greatest(s.used_at, now_at), ends_at = end_at
		WHERE s.bucket = p_bucket::smallint AND s.sid = p_renew;
	END IF;
	end_at := least(end_at, now_at + p_token_s);
	INSERT INTO poppy.token (bucket, hash, sid, jkt, resource, issued_at,
	    expires_at)
	VALUES (p_bucket, p_token, sid, p_jkt, p_resource, now_at, end_at);
	outcome := 'ok';
	expires_in := end_at - now_at;
	IF p_per_address > 0 OR p_per_client > 0 THEN
		limited := poppy.limited(1, p_address_key, p_per_address,
		    p_client_no, p_per_client, now_at);
		IF limited IS NULL THEN
			RETURN;
		END IF;
		-- Rare: a process does not ask again in this minute. What was
		-- done is undone here, so that the count stays.
		DELETE FROM poppy.token t
		WHERE t.bucket = p_bucket::smallint AND t.hash = p_token;
		IF p_renew IS NULL THEN
			DELETE FROM poppy.session s
			WHERE s.bucket = p_bucket::smallint AND s.sid = p_new_sid;
		ELSE
			UPDATE poppy.session s
			SET used_at = was_used, ends_at = would_end
			WHERE s.bucket = p_bucket::smallint AND s.sid = p_renew;
		END IF;
		ignored := poppy.unspend(p_spend);
		ignored := poppy.audit_put(limited, p_client_no, p_user_key,
		    NULL, NULL, p_address, NULL);
		outcome := limited;
		sid := NULL;
		expires_in := NULL;
		retry_s := 60 - now_at % 60;
	END IF;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.session_start(bigint, bigint, int, bytea,
    bytea, bytea, bytea, int, bigint, bigint, bytea, text, bytea[], bigint[],
    int, text, bytea, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.session_start(bigint, bigint, int, bytea,
    bytea, bytea, bytea, int, bigint, bigint, bytea, text, bytea[], bigint[],
    int, text, bytea, int, int) TO poppy_auth;
