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

-- The shop says that an account's sign-ins must end, because its password was
-- changed or it was deleted: how many grants that were. Login sessions, and all
-- that is under way, go too. Durable.
CREATE OR REPLACE FUNCTION poppy_api.customer_end(p_account text, p_why text,
    OUT n int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ignored text;
BEGIN
	DELETE FROM poppy.sign_in_request r
	WHERE r.account = p_account AND r.decided_at IS NULL;
	UPDATE poppy.device d SET account = NULL
	WHERE d.account = p_account AND d.status = 'pending';
	UPDATE poppy.shop_login s SET spent_at = poppy.now_at()
	WHERE s.account = p_account AND s.spent_at IS NULL;
	UPDATE poppy.mediated m SET status = 'failed'
	WHERE m.account = p_account AND m.status = 'waiting';
	n := poppy.account_end(p_account, NULL, 'customer_ended', NULL);
	DELETE FROM poppy.login l WHERE l.account = p_account;
	ignored := poppy.audit_put('customer_ended', NULL, NULL, NULL, NULL,
	    NULL, left(p_why, 100), p_account);
END
$$;
REVOKE ALL ON FUNCTION poppy_api.customer_end(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.customer_end(text, text) TO poppy_bridge;
