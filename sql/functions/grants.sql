-- Grants for the operator, by poppyctl. Not for programs: these run with the
-- rights of who calls them.

-- Of one account or of all, of one client or of all (NULL), the newest first; those
-- that are over only with p_all.
CREATE OR REPLACE FUNCTION poppy.grants_list(p_account text, p_client text,
    p_all boolean, p_limit int)
RETURNS TABLE (grant_no bigint, client_id text, account text, login text,
    kind text, scopes text, resource text, created_at bigint, used_at bigint,
    expires_at bigint, state text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
BEGIN
	RETURN QUERY
	SELECT g.grant_no, c.client_id, g.account, s.login, g.kind, g.scopes,
	    g.resource, g.created_at, poppy.grant_used(g.bucket, g.grant_no,
	    g.used_at), g.expires_at,
	    CASE WHEN g.revoked_at IS NOT NULL THEN g.revoked_why
	    WHEN g.expires_at <= now_at THEN 'over' ELSE 'live' END
	FROM (SELECT * FROM poppy.grants k
	    WHERE k.account = coalesce(p_account, k.account)
		AND (p_client IS NULL OR k.client_no = (SELECT i.client_no
		FROM poppy.client i WHERE i.client_id = p_client))
		AND (p_all OR k.revoked_at IS NULL AND k.expires_at > now_at)
	    ORDER BY k.grant_no DESC LIMIT p_limit) g
	LEFT JOIN poppy.client c ON c.client_no = g.client_no
	LEFT JOIN poppy_shop.customer s ON s.id = g.account
	ORDER BY g.grant_no DESC;
END
$$;

-- Revoke one: whether there was a live one of that number, and it is over now.
CREATE OR REPLACE FUNCTION poppy.grant_revoke(p_grant_no bigint)
RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	of_bucket smallint;
BEGIN
	SELECT g.bucket INTO of_bucket FROM poppy.grants g
	WHERE g.bucket = ANY (ARRAY(SELECT b::smallint
	    FROM generate_series(0, 4095) b))
	    AND g.grant_no = p_grant_no AND g.expires_at > now_at;
	RETURN FOUND AND poppy.grant_end(of_bucket, p_grant_no,
	    'grant_revoked', now_at, NULL);
END
$$;
