-- Which migration the database has; programs compare it with what they know.
CREATE OR REPLACE FUNCTION poppy_api.schema_version() RETURNS int
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT max(m.number) FROM poppy.schema_migration m);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.schema_version() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.schema_version() TO poppy_auth, poppy_guard;
