-- What is kept about a customer: all of it, and none of it. By the shop's id of
-- the account, since the shop may have deleted it already. (See
-- poppy.customer_find() for an account by its login.)

-- Everything as JSON, for the customer to read: no secret is in it, nor the hash
-- of one.
CREATE OR REPLACE FUNCTION poppy_api.customer_export(p_account text)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN jsonb_build_object('account', p_account,
	'exported_at', poppy.now_at(),
	'grants', (SELECT coalesce(jsonb_agg(jsonb_build_object(
	    'grant', g.grant_no, 'client_id', c.client_id, 'kind', g.kind,
	    'scopes', g.scopes, 'resource', g.resource,
	    'created_at', g.created_at, 'used_at', g.used_at,
	    'expires_at', g.expires_at, 'ended_at', g.revoked_at,
	    'ended_why', g.revoked_why) ORDER BY g.grant_no), '[]')
	    FROM poppy.grants g
	    LEFT JOIN poppy.client c ON c.client_no = g.client_no
	    WHERE g.account = p_account),
	'sessions', (SELECT coalesce(jsonb_agg(jsonb_build_object(
	    'client_id', c.client_id, 'started_at', s.started_at,
	    'used_at', s.used_at, 'ends_at', coalesce(s.ended_at, s.ends_at),
	    'browsers_joined_at', (SELECT coalesce(jsonb_agg(b.joined_at
		ORDER BY b.place), '[]') FROM poppy.browser b
		WHERE b.bucket = s.bucket AND b.sid = s.sid),
	    'cart', (SELECT coalesce(jsonb_agg(jsonb_build_object(
		'sku', l.sku, 'options', l.options, 'quantity', l.quantity)
		ORDER BY l.place), '[]') FROM poppy.cart_line l
		WHERE l.bucket = s.bucket AND l.sid = s.sid),
	    'coupons', (SELECT to_jsonb(k.coupons) FROM poppy.cart k
		WHERE k.bucket = s.bucket AND k.sid = s.sid))
	    ORDER BY s.started_at), '[]')
	    FROM poppy.account_sessions(p_account) a
	    JOIN poppy.session s ON s.bucket = a.bucket AND s.sid = a.sid
	    LEFT JOIN poppy.client c ON c.client_no = s.client_no),
	'logins', (SELECT coalesce(jsonb_agg(jsonb_build_object(
	    'created_at', l.created_at, 'used_at', l.used_at)
	    ORDER BY l.created_at), '[]')
	    FROM poppy.login l WHERE l.account = p_account),
	'requests', (SELECT coalesce(jsonb_agg(jsonb_build_object(
	    'kind', r.kind, 'client_id', c.client_id,
	    'created_at', r.created_at) ORDER BY r.created_at), '[]')
	    FROM (SELECT 'direct' AS kind, q.client_no, q.created_at
		FROM poppy.sign_in_request q WHERE q.account = p_account
		UNION ALL SELECT 'code', k.client_no, k.created_at
		FROM poppy.code k WHERE k.account = p_account
		UNION ALL SELECT 'device', d.client_no, d.created_at
		FROM poppy.device d WHERE d.account = p_account
		UNION ALL SELECT 'mediated', NULL, m.created_at
		FROM poppy.mediated m WHERE m.account = p_account
		UNION ALL SELECT 'shop', NULL, NULL
		FROM poppy.shop_login t WHERE t.account = p_account) r
	    LEFT JOIN poppy.client c ON c.client_no = r.client_no),
	'audit', (SELECT coalesce(jsonb_agg(jsonb_build_object('at', a.at,
	    'kind', a.kind, 'client_id', a.client_id, 'address', a.address,
	    'detail', a.detail) ORDER BY a.audit_no), '[]')
	    FROM poppy.audit a WHERE a.account = p_account));
END
$$;
REVOKE ALL ON FUNCTION poppy_api.customer_export(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.customer_export(text) TO poppy_bridge;

-- Sessions that the grants of an account have signed in.
CREATE OR REPLACE FUNCTION poppy.account_sessions(p_account text)
RETURNS TABLE (bucket smallint, sid bytea)
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN QUERY
	SELECT DISTINCT sg.bucket, sg.sid FROM poppy.grants g
	JOIN poppy.session_grant sg ON sg.bucket = g.bucket
	    AND sg.grant_no = g.grant_no
	WHERE g.account = p_account
	ORDER BY sg.bucket, sg.sid;
END
$$;

-- Forget a customer. Grants, the Sessions that they signed in with all tokens,
-- login sessions and what is under way are deleted; rows of the audit stay, under
-- a hash in place of the account that nobody can make again. Durable.
CREATE OR REPLACE FUNCTION poppy_api.customer_erase(p_account text,
    OUT grants int, OUT sessions int, OUT logins int, OUT requests int,
    OUT audits int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	ignored text;
	n int;
	g record;
	s record;
	hidden text := 'erased:' || left(encode(sha256(convert_to(
	    gen_random_uuid() || ' ' || gen_random_uuid() || ' ' || p_account,
	    'UTF8')), 'hex'), 32);
BEGIN
	DELETE FROM poppy.sign_in_request r WHERE r.account = p_account;
	GET DIAGNOSTICS requests = ROW_COUNT;
	DELETE FROM poppy.code c WHERE c.account = p_account;
	GET DIAGNOSTICS n = ROW_COUNT;
	requests := requests + n;
	DELETE FROM poppy.device d WHERE d.account = p_account;
	GET DIAGNOSTICS n = ROW_COUNT;
	requests := requests + n;
	DELETE FROM poppy.shop_login t WHERE t.account = p_account;
	GET DIAGNOSTICS n = ROW_COUNT;
	requests := requests + n;
	DELETE FROM poppy.mediated m WHERE m.account = p_account;
	GET DIAGNOSTICS n = ROW_COUNT;
	requests := requests + n;

	ignored := poppy.account_end(p_account, NULL, 'customer_erased', NULL);
	sessions := 0;
	FOR s IN SELECT a.bucket, a.sid FROM poppy.account_sessions(p_account) a
	LOOP
		DELETE FROM poppy.session r
		WHERE r.bucket = s.bucket AND r.sid = s.sid;
		GET DIAGNOSTICS n = ROW_COUNT;
		sessions := sessions + n;
		DELETE FROM poppy.token t
		WHERE t.bucket = s.bucket AND t.sid = s.sid;
		DELETE FROM poppy.session_grant sg
		WHERE sg.bucket = s.bucket AND sg.sid = s.sid;
		DELETE FROM poppy.browser b
		WHERE b.bucket = s.bucket AND b.sid = s.sid;
		DELETE FROM poppy.cart_line l
		WHERE l.bucket = s.bucket AND l.sid = s.sid;
		DELETE FROM poppy.cart k
		WHERE k.bucket = s.bucket AND k.sid = s.sid;
	END LOOP;
	grants := 0;
	FOR g IN DELETE FROM poppy.grants k WHERE k.account = p_account
	    RETURNING k.bucket, k.grant_no
	LOOP
		DELETE FROM poppy.account_token t
		WHERE t.bucket = g.bucket AND t.grant_no = g.grant_no;
		grants := grants + 1;
	END LOOP;
	DELETE FROM poppy.login l WHERE l.account = p_account;
	GET DIAGNOSTICS logins = ROW_COUNT;
	ignored := poppy.audit_put('customer_erased', NULL, NULL, NULL, NULL,
	    NULL, NULL, p_account);
	UPDATE poppy.audit a SET account = hidden WHERE a.account = p_account;
	GET DIAGNOSTICS audits = ROW_COUNT;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.customer_erase(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.customer_erase(text) TO poppy_bridge;
