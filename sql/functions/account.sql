-- Sign out: revoke the grant of an Account Token for the client that it was
-- issued to (RFC 7009). Its Session Tokens count as signed out from the next
-- request on; a Session that another live grant has signed in stays so by that
-- one's tokens.
--   ok		revoked, or nothing of this client's to revoke: the same answer
-- and blocked, stale, replay, epoch, clock, limit_address, limit_client as
-- token_revoke. A token that was exchanged for its successor revokes as well:
-- who holds it had the sign-in.
CREATE OR REPLACE FUNCTION poppy_api.account_revoke(p_client_no bigint,
    p_client_version bigint, p_spend bytea, p_iat bigint, p_future_s int,
    p_bucket int, p_token bytea, p_address text, p_address_key bytea,
    p_per_address int, p_per_client int, OUT outcome text, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	of_no bigint;
	ignored text;
BEGIN
	outcome := poppy.client_judge(p_client_no, p_client_version, NULL, NULL,
	    p_address);
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT g.grant_no INTO of_no
	FROM poppy.account_token a
	JOIN poppy.grants g ON g.bucket = a.bucket AND g.grant_no = a.grant_no
	WHERE a.bucket = p_bucket::smallint AND a.hash = p_token
	    AND g.client_no = p_client_no
	FOR NO KEY UPDATE OF g;
	SELECT s.outcome, s.retry_s INTO outcome, retry_s
	FROM poppy.spend_count(ARRAY[p_spend], ARRAY[p_iat], p_future_s, true,
	    false, 3, p_address_key, p_per_address, p_client_no, p_per_client,
	    now_at, NULL, NULL, p_address) s;
	IF outcome IS NOT NULL THEN
		RETURN;
	END IF;
	IF of_no IS NOT NULL THEN
		ignored := poppy.grant_end(p_bucket, of_no, 'signed_out',
		    now_at, p_address);
	END IF;
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.account_revoke(bigint, bigint, bytea, bigint,
    int, int, bytea, text, bytea, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.account_revoke(bigint, bigint, bytea,
    bigint, int, int, bytea, text, bytea, int, int) TO poppy_auth;
