-- Revoke a Session Token for the client that it was issued to (RFC 7009). The
-- client assertion is spent in the same transaction.
--   ok		revoked, or nothing of this client's to revoke: the same answer
--   blocked	the client is
--   stale	the client's documents are of another version: load them, check
--		again, call again
--   replay	the assertion's jti was seen before
--   epoch	the replay memory is too young to tell: 503, retry_s
--   clock	iat is no live one by the database's clock: 503, retry_s
--   limit_address, limit_client	has had its revocations of this minute: 429,
--		retry_s
-- p_bucket and p_token are NULL for what can't be a token. A revocation is
-- durable: nobody may find the token alive after a crash. Programs that came
-- before p_client_version call without it, and nothing is compared.
DROP FUNCTION IF EXISTS poppy_api.token_revoke(bigint, bytea, bigint, int, int,
    bytea, text, bytea, int, int);
CREATE OR REPLACE FUNCTION poppy_api.token_revoke(p_client_no bigint,
    p_spend bytea, p_iat bigint, p_future_s int, p_bucket int, p_token bytea,
    p_address text DEFAULT NULL, p_address_key bytea DEFAULT NULL,
    p_per_address int DEFAULT 0, p_per_client int DEFAULT 0,
    p_client_version bigint DEFAULT NULL, OUT outcome text, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	of_client text;
	of_version bigint;
	seen int;
	of_user bytea;
	of_sid bytea;
	ignored text;
BEGIN
	SELECT c.status, c.version INTO of_client, of_version
	FROM poppy.client c WHERE c.client_no = p_client_no;
	IF of_client = 'blocked'
	    OR p_client_version IS NULL AND of_client IS NULL THEN
		outcome := 'blocked';
		ignored := poppy.audit_put(outcome, p_client_no, NULL, NULL,
		    NULL, p_address, NULL);
		RETURN;
	ELSIF of_version IS DISTINCT FROM
	    coalesce(p_client_version, of_version) THEN
		outcome := 'stale';
		RETURN;
	END IF;
	seen := poppy.spend(p_spend, p_iat, p_future_s, now_at, NULL);
	outcome := CASE WHEN seen IS NULL THEN 'clock' WHEN seen < 0 THEN 'epoch'
	    WHEN seen > 0 THEN 'replay' END;
	IF outcome IS NOT NULL THEN
		retry_s := CASE WHEN seen IS NULL THEN 1
		    WHEN seen < 0 THEN -seen END;
		IF seen > 0 THEN
			ignored := poppy.audit_put(outcome, p_client_no, NULL,
			    NULL, NULL, p_address, 'client_assertion');
		END IF;
		RETURN;
	END IF;
	outcome := poppy.limited(3, p_address_key, p_per_address, p_client_no,
	    p_per_client, now_at);
	IF outcome IS NOT NULL THEN
		ignored := poppy.unspend(ARRAY[p_spend]);
		ignored := poppy.audit_put(outcome, p_client_no, NULL, NULL,
		    NULL, p_address, NULL);
		retry_s := 60 - now_at % 60;
		RETURN;
	END IF;
	DELETE FROM poppy.token t
	USING poppy.session s
	WHERE t.bucket = p_bucket::smallint AND t.hash = p_token
	    AND s.bucket = t.bucket AND s.sid = t.sid
	    AND s.client_no = p_client_no
	RETURNING s.user_key, s.sid INTO of_user, of_sid;
	IF FOUND THEN
		ignored := poppy.audit_put('token_revoked', p_client_no,
		    of_user, p_bucket, of_sid, p_address, NULL);
	END IF;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.token_revoke(bigint, bytea, bigint, int, int,
    bytea, text, bytea, int, int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.token_revoke(bigint, bytea, bigint, int,
    int, bytea, text, bytea, int, int, bigint) TO poppy_auth;
