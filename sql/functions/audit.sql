-- The audit. Kinds of events:
--   replay, key, blocked, invalid_session	a signed request that was refused:
--			its jti was used before; its proof is of another key
--			than the token; its client is blocked; it named a
--			Session that is over or not its own
--   limit_address, limit_client	a limit was reached
--   token_revoked
--   browser_joined	a browser has joined a Session
--   client_new, client_changed	documents that were seen for the first time, or
--			are others than before
--   client_allowed, client_blocked, client_known, client_forgotten	by what the
--			operator said
--   rule_allow, rule_block, rule_none	the operator's word about the agents
--			that detail names
--   session_ended	by the operator
--   signed_in, sign_in_failed, sign_in_declined	a sign-in of an agent
--   signed_out, disconnected, customer_ended, grant_revoked	a grant was
--			revoked by its agent, by the customer, by the shop, by the
--			operator
--   code_reused, grant_reused	a grant was revoked because its code, or an
--			Account Token that had its successor, was used again
--   account_mismatch	a Session is signed in to another account
--   login, login_failed, ticket_dead	on the pages for customers
--   customer_erased	and all other rows of that account name its hash
--   refused		n requests that were refused before the database, or for
--			a token that nobody knows; detail says why
-- A row is part of the transaction that decides, and as durable as that.
DROP FUNCTION IF EXISTS poppy.audit_put(text, bigint, bytea, int, bytea, text,
    text);
CREATE OR REPLACE FUNCTION poppy.audit_put(p_kind text, p_client_no bigint,
    p_user_key bytea, p_bucket int, p_sid bytea, p_address text, p_detail text,
    p_account text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO poppy.audit (at, kind, client_no, client_id, user_key,
	    bucket, sid, address, detail, account)
	VALUES (poppy.now_at(), p_kind, p_client_no,
	    (SELECT c.client_id FROM poppy.client c
	    WHERE c.client_no = p_client_no),
	    p_user_key, p_bucket, p_sid, left(p_address, 64), p_detail,
	    p_account);
END
$$;

-- Documents and status of clients, whoever changes them.
CREATE OR REPLACE FUNCTION poppy.client_audit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ignored text;
	kind text := CASE
	    WHEN NEW.allowed AND NOT OLD.allowed THEN 'client_allowed'
	    WHEN NEW.status <> OLD.status THEN 'client_' || NEW.status
	    WHEN OLD.allowed AND NOT NEW.allowed THEN 'client_known'
	    WHEN OLD.version = 0 THEN 'client_new'
	    WHEN NEW.jwks IS NULL THEN 'client_forgotten'
	    ELSE 'client_changed' END;
BEGIN
	ignored := poppy.audit_put(kind, NEW.client_no, NULL, NULL, NULL, NULL,
	    'version ' || NEW.version);
	RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER client_audit
AFTER UPDATE OF status, allowed, version ON poppy.client
FOR EACH ROW WHEN (NEW.status <> OLD.status OR NEW.allowed <> OLD.allowed
    OR NEW.version <> OLD.version)
EXECUTE FUNCTION poppy.client_audit();

-- What a process has refused since it last called: a JSON list of objects with
-- detail, address (may be missing) and n. At most 200 of them are kept.
CREATE OR REPLACE FUNCTION poppy_api.audit_add(p_rows text, OUT added int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ignored text := set_config('synchronous_commit', 'off', true);
BEGIN
	INSERT INTO poppy.audit (at, kind, n, address, detail)
	SELECT poppy.now_at(), 'refused', r.n, left(r.address, 64),
	    left(r.detail, 200)
	FROM jsonb_to_recordset(p_rows::jsonb)
	    AS r (detail text, address text, n bigint)
	WHERE r.n > 0
	LIMIT 200;
	GET DIAGNOSTICS added = ROW_COUNT;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.audit_add(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.audit_add(text)
    TO poppy_auth, poppy_guard, poppy_browser;
