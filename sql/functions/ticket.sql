-- Login on the shop's own page: poppy-auth begins it, the shop's PHP puts a
-- ticket for who logged in there, and the same browser brings that back. Bound
-- to one request and one browser, 60 s, once.

CREATE OR REPLACE FUNCTION poppy_api.shop_login_start(p_request bytea,
    p_browser bytea, p_next text, p_seconds int, OUT outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	INSERT INTO poppy.shop_login (hash, browser, next, expires_at)
	VALUES (p_request, p_browser, p_next, poppy.now_at() + p_seconds);
	outcome := 'ok';
END
$$;
REVOKE ALL ON FUNCTION poppy_api.shop_login_start(bytea, bytea, text, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.shop_login_start(bytea, bytea, text, int)
    TO poppy_auth;

-- By the shop's PHP: 'ok', or 'absent' if there is no such request that waits.
-- A later ticket takes the place of an earlier one.
CREATE OR REPLACE FUNCTION poppy_api.ticket_put(p_request bytea,
    p_ticket bytea, p_account text, OUT outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	now_at bigint := poppy.now_at();
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	UPDATE poppy.shop_login s
	SET ticket = p_ticket, account = p_account, ticket_until = now_at + 60
	WHERE s.hash = p_request AND s.spent_at IS NULL
	    AND s.expires_at > now_at AND p_ticket IS NOT NULL
	    AND p_account <> '';
	outcome := CASE WHEN FOUND THEN 'ok' ELSE 'absent' END;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.ticket_put(bytea, bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.ticket_put(bytea, bytea, text)
    TO poppy_bridge;

-- Spend a ticket. A login session is made by login_start after that.
--   ok		who it is, and where the browser wanted to go
--   dead	unknown, late, spent, another request's or another browser's
--   refused	spent, and the account is not to be used: status says why
CREATE OR REPLACE FUNCTION poppy_api.ticket_spend(p_request bytea,
    p_browser bytea, p_ticket bytea, OUT outcome text, OUT account text,
    OUT name text, OUT next text, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	of_account text;
	ignored text;
BEGIN
	UPDATE poppy.shop_login s SET spent_at = now_at
	WHERE s.hash = p_request AND s.browser = p_browser
	    AND s.ticket = p_ticket AND s.spent_at IS NULL
	    AND s.ticket_until > now_at
	RETURNING s.account, s.next INTO of_account, next;
	IF NOT FOUND THEN
		outcome := 'dead';
		-- What names no request of ours is anybody's guess.
		IF EXISTS (SELECT FROM poppy.shop_login s
		    WHERE s.hash = p_request) THEN
			ignored := poppy.audit_put('ticket_dead', NULL, NULL,
			    NULL, NULL, NULL, NULL);
		END IF;
		RETURN;
	END IF;
	status := poppy.customer_status(of_account);
	IF status <> 'ok' THEN
		outcome := 'refused';
		RETURN;
	END IF;
	outcome := 'ok';
	account := of_account;
	SELECT c.name INTO name FROM poppy_shop.customer c
	WHERE c.id = of_account;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.ticket_spend(bytea, bytea, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.ticket_spend(bytea, bytea, bytea)
    TO poppy_auth;
