-- The shop's accounts, by the contract poppy_shop. Nothing here writes to it.

-- 'ok', or why the account may not be used: 'disabled', 'unverified',
-- 'privileged'; 'absent' if the shop has it no more. What the shop leaves open
-- counts as disabled.
CREATE OR REPLACE FUNCTION poppy.customer_status(p_account text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	of_shop text;
BEGIN
	SELECT coalesce(c.status, 'disabled') INTO of_shop
	FROM poppy_shop.customer c WHERE c.id = p_account;
	RETURN coalesce(of_shop, 'absent');
END
$$;

-- The account with this login; all NULL if there is none, or more than one.
CREATE OR REPLACE FUNCTION poppy.customer_find(p_login text)
RETURNS poppy_shop.customer
LANGUAGE plpgsql
AS $$
DECLARE
	c poppy_shop.customer;
BEGIN
	IF EXISTS (SELECT FROM poppy_shop.customer k WHERE k.login = p_login
	    OFFSET 1) THEN
		RETURN NULL;
	END IF;
	SELECT * INTO c FROM poppy_shop.customer k WHERE k.login = p_login;
	RETURN c;
END
$$;
