-- Which migration the database has; programs compare it with what they know.
CREATE OR REPLACE FUNCTION poppy_api.schema_version() RETURNS int
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT max(m.number) FROM poppy.schema_migration m);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.schema_version() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.schema_version()
    TO poppy_auth, poppy_guard, poppy_browser;

-- The oldest programs that the functions here still serve, as the schema
-- version they came with. A release that drops or changes what those call
-- raises it: programs run on while the database migrates, and are replaced
-- afterwards.
CREATE OR REPLACE FUNCTION poppy_api.schema_oldest() RETURNS int
LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN 1;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.schema_oldest() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.schema_oldest()
    TO poppy_auth, poppy_guard, poppy_browser;
