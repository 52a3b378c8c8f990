-- What a host tells of itself, and what is known of the others: the hash of the
-- settings that all of a company's hosts share, and a mark of the master key
-- (NULL: it could not be read). Hosts not heard of for 30 days are forgotten.
CREATE OR REPLACE FUNCTION poppy_api.host_tell(p_host text, p_settings bytea,
    p_master bytea)
RETURNS TABLE (other text, same_settings boolean, same_master boolean,
    age_s bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
BEGIN
	DELETE FROM poppy.host_settings h
	WHERE h.told_at < now_at - 30 * 86400;
	INSERT INTO poppy.host_settings AS h (host, settings, master, told_at)
	VALUES (p_host, p_settings, p_master, now_at)
	ON CONFLICT ON CONSTRAINT host_settings_pkey DO UPDATE
	SET settings = excluded.settings, master = excluded.master,
	    told_at = excluded.told_at;
	RETURN QUERY
	SELECT h.host, h.settings = p_settings, h.master = p_master,
	    now_at - h.told_at
	FROM poppy.host_settings h WHERE h.host <> p_host
	ORDER BY h.host LIMIT 1000;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.host_tell(text, bytea, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.host_tell(text, bytea, bytea) TO poppy_auth;

-- SHA-256 over the files that the functions were made from.
CREATE OR REPLACE FUNCTION poppy_api.schema_functions() RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT m.sha256 FROM poppy.schema_migration m
	    WHERE m.number = 0);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.schema_functions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.schema_functions()
    TO poppy_auth, poppy_guard, poppy_browser;
