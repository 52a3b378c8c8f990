-- The agent of poppyctl doctor: for an hour its documents are published below
-- /poppy/doctor/ on the issuer's host, and known here already, so that nobody
-- has to fetch them, which from the shop's own network may be impossible. Few
-- at a time, each of its own random name.
--   ok		published
--   full	there are eight already
--   blocked	the operator has blocked agents on the issuer's host
CREATE OR REPLACE FUNCTION poppy_api.doctor_publish(p_id text,
    p_client_id text, p_metadata text, p_jwks text)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	until bigint := now_at + 3600;
BEGIN
	-- One at a time, or two could both be the eighth.
	LOCK TABLE poppy.doctor IN SHARE ROW EXCLUSIVE MODE;
	DELETE FROM poppy.client c USING poppy.doctor d
	WHERE d.expires_at <= now_at AND c.client_id = d.client_id;
	DELETE FROM poppy.doctor d WHERE d.expires_at <= now_at;
	IF (SELECT count(*) FROM poppy.doctor) >= 8 THEN
		RETURN 'full';
	END IF;
	INSERT INTO poppy.doctor (id, client_id, metadata, jwks, expires_at)
	VALUES (p_id, p_client_id, p_metadata, p_jwks, until);
	IF (SELECT s.outcome FROM poppy_api.client_store(p_client_id,
	    p_metadata, p_jwks, 3600, 0) s) <> 'ok' THEN
		DELETE FROM poppy.client c WHERE c.client_id = p_client_id;
		DELETE FROM poppy.doctor d WHERE d.id = p_id;
		RETURN 'blocked';
	END IF;
	-- Never fetched, not on suspicion either; let in where agents register.
	UPDATE poppy.client c
	SET refetch_after = c.fresh_until, allowed = true
	WHERE c.client_id = p_client_id;
	RETURN 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.doctor_publish(text, text, text, text)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.doctor_publish(text, text, text, text)
    TO poppy_auth;

-- Its documents; NULL if there is none of that name, or not any more.
CREATE OR REPLACE FUNCTION poppy_api.doctor_get(p_id text, OUT metadata text,
    OUT jwks text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	SELECT d.metadata, d.jwks INTO doctor_get.metadata, doctor_get.jwks
	FROM poppy.doctor d
	WHERE d.id = p_id AND d.expires_at > poppy.now_at();
END
$$;
REVOKE ALL ON FUNCTION poppy_api.doctor_get(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.doctor_get(text) TO poppy_auth;

-- Take away an agent of doctor's, and no other, with its Sessions and tokens.
-- Each call goes through 256 of the 4,096 buckets and returns where to go on;
-- NULL: done, or there is no such agent.
CREATE OR REPLACE FUNCTION poppy_api.doctor_end(p_id text, p_bucket int)
RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	the_client text := (SELECT d.client_id FROM poppy.doctor d
	    WHERE d.id = p_id);
	the_no bigint := (SELECT c.client_no FROM poppy.client c
	    WHERE c.client_id = the_client);
BEGIN
	IF the_client IS NULL THEN
		RETURN NULL;
	END IF;
	FOR b IN p_bucket..least(p_bucket + 255, 4095) LOOP
		DELETE FROM poppy.token t USING poppy.session s
		WHERE s.bucket = b::smallint AND s.client_no = the_no
		    AND t.bucket = b::smallint AND t.sid = s.sid;
		DELETE FROM poppy.session s
		WHERE s.bucket = b::smallint AND s.client_no = the_no;
	END LOOP;
	IF p_bucket + 256 < 4096 THEN
		RETURN p_bucket + 256;
	END IF;
	DELETE FROM poppy.client c WHERE c.client_id = the_client;
	DELETE FROM poppy.doctor d WHERE d.id = p_id;
	RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.doctor_end(text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.doctor_end(text, int) TO poppy_auth;
