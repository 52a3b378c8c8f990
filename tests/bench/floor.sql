-- The least that a Session start and a guarded call must leave in a database:
-- what was spent, a Session, a token. No limits, no versions, no slots.
CREATE SCHEMA floor;
CREATE UNLOGGED TABLE floor.spent (spend bytea PRIMARY KEY, iat bigint NOT NULL);
CREATE TABLE floor.session (user_key bytea PRIMARY KEY, at bigint NOT NULL);
CREATE TABLE floor.token (hash bytea PRIMARY KEY, user_key bytea NOT NULL,
    jkt bytea NOT NULL, expires_at bigint NOT NULL);

CREATE FUNCTION floor.start(p_user bytea, p_hash bytea, p_jkt bytea,
    p_1 bytea, p_2 bytea, p_3 bytea, p_iat bigint)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	INSERT INTO floor.spent VALUES (p_1, p_iat), (p_2, p_iat), (p_3, p_iat)
	ON CONFLICT DO NOTHING;
	INSERT INTO floor.session VALUES (p_user, p_iat);
	INSERT INTO floor.token VALUES (p_hash, p_user, p_jkt, p_iat + 3600);
	RETURN true;
END
$$;

CREATE FUNCTION floor.guard(p_hash bytea, p_jkt bytea, p_spend bytea,
    p_iat bigint)
RETURNS bytea
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	u bytea;
BEGIN
	INSERT INTO floor.spent VALUES (p_spend, p_iat) ON CONFLICT DO NOTHING;
	IF FOUND THEN
		SELECT t.user_key INTO u FROM floor.token t
		WHERE t.hash = p_hash AND t.jkt = p_jkt
		    AND t.expires_at > p_iat;
	END IF;
	RETURN u;
END
$$;
