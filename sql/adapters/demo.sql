-- The demo shop's customers, as poppy-fcgi sees them. Run by whoever owns the
-- shop's tables and may give things away (a superuser):
--
--	psql -d shop -f /usr/local/share/poppy-fcgi/sql/adapters/demo.sql
--
-- The view belongs to the owner of shop.customer, so it reads that table with
-- his rights; poppy-fcgi's own roles have none there, and its functions see
-- what the view shows. Nothing of ours writes to the shop's tables.
BEGIN;

-- What customers log in with is in lower case here. Who works in the loft can
-- do more than a customer, so no agent gets that account.
CREATE OR REPLACE VIEW poppy_shop.customer AS
SELECT	c.id::text		AS id,
	lower(c.email)		AS login,
	c.name			AS name,
	c.email			AS email,
	c.phone			AS phone,
	c.password		AS password_hash,
	''::text		AS hash_kind,	-- by its beginning
	CASE	WHEN NOT c.active THEN 'disabled'
		WHEN c.role <> 'customer' THEN 'privileged'
		WHEN NOT c.confirmed THEN 'unverified'
		ELSE 'ok' END	AS status,
	''::text		AS locale	-- the shop keeps none
FROM shop.customer c;

-- Customers are looked up by login and by id, as text. The shop has an index on
-- lower(email); its primary key is a number, so this is one more.
CREATE INDEX IF NOT EXISTS customer_poppy_id ON shop.customer ((id::text));

DO $$
BEGIN
	EXECUTE pg_catalog.format('ALTER VIEW poppy_shop.customer OWNER TO %s',
	    (SELECT relowner::regrole FROM pg_catalog.pg_class
	    WHERE oid = 'shop.customer'::regclass));
END
$$;
REVOKE ALL ON poppy_shop.customer FROM PUBLIC;
GRANT SELECT ON poppy_shop.customer TO poppy_owner;

COMMIT;
