-- What poppyctl check wants to know of the shop's view of its customers: counts
-- over a thousand of them, and nothing of anyone.
--   rows		how many were looked at
--   id_twice, login_twice, upper, empty	how many are so and must not be
--   status		detail: the status
--   hash		detail: hash_kind, or '' and more: how the hash begins
--   slow_id, slow_login	milliseconds to find one by it
--   error		more: why the view can't be read
CREATE OR REPLACE FUNCTION poppy_api.customer_check()
RETURNS TABLE (what text, detail text, more text, n bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	one poppy_shop.customer;
	began timestamptz;
BEGIN
	RETURN QUERY
	WITH c AS MATERIALIZED (
		SELECT k.id, k.login, coalesce(k.status, '') AS status,
		    coalesce(k.hash_kind, '') AS kind,
		    CASE WHEN coalesce(k.hash_kind, '') = '' THEN
		    coalesce(pg_catalog.substring(k.password_hash,
		    '^U?\$[A-Za-z0-9-]{1,12}\$'), '') ELSE '' END AS head
		FROM poppy_shop.customer k LIMIT 1000)
	SELECT 'rows'::text, ''::text, ''::text, count(*) FROM c
	UNION ALL
	SELECT 'id_twice', '', '', count(*) FROM (SELECT 1 FROM c
	    GROUP BY c.id HAVING count(*) > 1) AS d
	UNION ALL
	SELECT 'login_twice', '', '', count(*) FROM (SELECT 1 FROM c
	    GROUP BY c.login HAVING count(*) > 1) AS d
	UNION ALL
	SELECT 'upper', '', '', count(*) FROM c
	WHERE c.login <> pg_catalog.lower(c.login)
	UNION ALL
	SELECT 'empty', '', '', count(*) FROM c
	WHERE coalesce(c.id, '') = '' OR coalesce(c.login, '') = ''
	UNION ALL
	SELECT 'status', c.status, '', count(*) FROM c GROUP BY c.status
	UNION ALL
	SELECT 'hash', c.kind, c.head, count(*) FROM c GROUP BY c.kind, c.head;

	SELECT * INTO one FROM poppy_shop.customer k
	WHERE k.id <> '' AND k.login <> '' LIMIT 1;
	began := pg_catalog.clock_timestamp();
	PERFORM FROM poppy_shop.customer k WHERE k.id = one.id;
	RETURN QUERY SELECT 'slow_id'::text, ''::text, ''::text,
	    (EXTRACT(epoch FROM pg_catalog.clock_timestamp() - began)
	    * 1000)::bigint;
	began := pg_catalog.clock_timestamp();
	PERFORM FROM poppy_shop.customer k WHERE k.login = one.login;
	RETURN QUERY SELECT 'slow_login'::text, ''::text, ''::text,
	    (EXTRACT(epoch FROM pg_catalog.clock_timestamp() - began)
	    * 1000)::bigint;
EXCEPTION WHEN OTHERS THEN
	RETURN QUERY SELECT 'error'::text, ''::text, SQLERRM, 0::bigint;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.customer_check() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.customer_check() TO poppy_auth;
