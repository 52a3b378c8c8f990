-- The cache of agents' documents, shared by all workers of all hosts. Waiting
-- for another worker's fetch is the caller's: a claim lasts 8 s, and whoever
-- asks after that may fetch. What the operator says about agents is in agents.sql.

-- A place for a client_id that has no copy, with a claim or a failure in it.
-- False: somebody else was faster.
CREATE OR REPLACE FUNCTION poppy.failure_put(p_client_id text, p_why text,
    p_failed_until bigint, p_claimed_until bigint)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
	free int := nextval('poppy.client_failure_place');
BEGIN
	DELETE FROM poppy.client_failure f WHERE f.place = free;
	INSERT INTO poppy.client_failure (place, client_id, failure,
	    failed_until, claimed_until)
	VALUES (free, p_client_id, p_why, p_failed_until, p_claimed_until)
	ON CONFLICT DO NOTHING;
	RETURN FOUND;
END
$$;

-- One more new client_id in a counter of this hour. False: it is full.
CREATE OR REPLACE FUNCTION poppy.client_count(p_kind text, p_key text,
    p_most int, p_now bigint)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
	this_hour bigint := p_now / 3600;
	first boolean;
BEGIN
	INSERT INTO poppy.client_new AS w (kind, key, hour, n)
	VALUES (p_kind, p_key, this_hour, 1)
	ON CONFLICT (kind, key) DO UPDATE
	SET hour = this_hour,
	    n = CASE WHEN w.hour = this_hour THEN w.n + 1 ELSE 1 END
	WHERE w.hour <> this_hour OR p_most IS NULL OR w.n < p_most
	RETURNING w.n = 1 INTO first;
	IF first THEN
		DELETE FROM poppy.client_new w WHERE w.hour < this_hour;
	END IF;
	RETURN first IS NOT NULL;
END
$$;

-- May one more new client_id come, from this network and on this domain? 0, or
-- the seconds until there may be one. With p_count it is counted for the
-- network. For the domain, and in all, only documents that were found good
-- count, in client_store(): else strangers who invent names on a domain would
-- close it for its own agents.
CREATE OR REPLACE FUNCTION poppy.client_admit(p_count boolean, p_now bigint,
    p_net text, p_domain text, p_per_net int, p_per_domain int, p_per_hour int)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	this_hour bigint := p_now / 3600;
BEGIN
	IF EXISTS (SELECT FROM poppy.client_new w
	    WHERE w.kind = 'net' AND w.key = p_net AND w.hour = this_hour
		AND w.n >= p_per_net)
	    OR EXISTS (SELECT FROM poppy.client_new w
	    WHERE w.kind = 'domain' AND w.key = p_domain
		AND w.hour = this_hour AND w.n >= p_per_domain)
	    OR EXISTS (SELECT FROM poppy.client_new w
	    WHERE w.kind = 'all' AND w.key = '' AND w.hour = this_hour
		AND w.n >= p_per_hour) THEN
		RETURN 3600 - p_now % 3600;
	END IF;
	-- Two at once may pass the look; the row decides.
	IF p_count AND NOT poppy.client_count('net', p_net, p_per_net, p_now)
	THEN
		RETURN 3600 - p_now % 3600;
	END IF;
	RETURN 0;
END
$$;

-- A claim on the fetch of an id without a row in poppy.client, or what stands
-- in the way of one. p_new: never asked for before.
CREATE OR REPLACE FUNCTION poppy.client_claim_new(p_client_id text,
    p_new boolean, p_now bigint, p_claim_s int)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
	IF p_new THEN
		RETURN CASE WHEN poppy.failure_put(p_client_id, NULL, 0,
		    p_now + p_claim_s) THEN 'fetch' ELSE 'wait' END;
	END IF;
	UPDATE poppy.client_failure cf SET claimed_until = p_now + p_claim_s
	WHERE cf.client_id = p_client_id AND cf.claimed_until <= p_now
	    AND cf.failed_until <= p_now;
	RETURN CASE WHEN FOUND THEN 'fetch' ELSE 'wait' END;
END
$$;

-- What is known of a client.
--   fresh	use the copy, for fresh_s
--   blocked	by the operator
--   unregistered	p_registration, and the operator has not allowed it
--   capped	it is new, and there were enough new ones: not for retry_s
--   failed	the last fetch failed a moment ago; failure says why
--   fetch	the caller must fetch and then call client_store or client_fail
--		(if p_claim; without it nothing is claimed, only said)
--   wait	somebody else is fetching
-- With fetch and wait comes a copy that may still serve if the agent's host
-- can't be reached, if there is one. p_force asks for a fetch although the copy
-- is fresh (unknown kid, bad signature): granted once in 30 s; 'wait' while that
-- one is under way, so that all who met a new key get it; else 'fresh'. A claim
-- lasts p_claim_s, which must be longer than the fetch may take. p_net and
-- p_domain are for counting who is new; p_per_net and so on NULL: no cap.
CREATE OR REPLACE FUNCTION poppy_api.client_get(p_client_id text,
    p_claim boolean, p_force boolean, p_registration boolean DEFAULT false,
    p_claim_s int DEFAULT 8, p_net bytea DEFAULT NULL,
    p_domain text DEFAULT NULL, p_per_net int DEFAULT NULL,
    p_per_domain int DEFAULT NULL, p_per_hour int DEFAULT NULL,
    OUT outcome text, OUT client_no bigint, OUT version bigint,
    OUT metadata text, OUT jwks text, OUT fresh_s int, OUT failure text,
    OUT allowed boolean, OUT retry_s int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	c poppy.client;
	f poppy.client_failure;
	verdict text;
BEGIN
	SELECT * INTO c FROM poppy.client WHERE client.client_id = p_client_id;
	IF NOT FOUND THEN
		IF octet_length(p_client_id) > 2048 THEN
			outcome := 'failed';
			failure := 'client_id is longer than 2048 bytes';
			RETURN;
		END IF;
		verdict := poppy.client_verdict(p_client_id);
		allowed := verdict IS NOT DISTINCT FROM 'allow';
		SELECT * INTO f FROM poppy.client_failure cf
		WHERE cf.client_id = p_client_id;
		IF verdict = 'block' THEN
			outcome := 'blocked';
		ELSIF p_registration AND NOT allowed THEN
			outcome := 'unregistered';
		ELSIF f.failed_until > now_at THEN
			outcome := 'failed';
			failure := f.failure;
		ELSIF f.claimed_until > now_at THEN
			outcome := 'wait';
		ELSE
			retry_s := CASE WHEN f.client_id IS NULL
			    AND NOT allowed AND p_per_hour IS NOT NULL
			    THEN poppy.client_admit(p_claim, now_at,
			    encode(p_net, 'hex'), p_domain, p_per_net,
			    p_per_domain, p_per_hour) ELSE 0 END;
			outcome := CASE WHEN retry_s > 0 THEN 'capped'
			    WHEN p_claim THEN poppy.client_claim_new(
			    p_client_id, f.client_id IS NULL, now_at,
			    p_claim_s) ELSE 'fetch' END;
		END IF;
		RETURN;
	END IF;
	client_no := c.client_no;
	version := c.version;
	allowed := c.allowed;
	IF c.status = 'blocked' THEN
		outcome := 'blocked';
		RETURN;
	ELSIF p_registration AND NOT c.allowed THEN
		outcome := 'unregistered';
		RETURN;
	END IF;

	IF c.fresh_until > now_at THEN
		outcome := 'fresh';
		IF p_force AND c.claimed_until > now_at THEN
			-- Newer keys are on their way: judge by those.
			outcome := 'wait';
		ELSIF p_force AND c.refetch_after <= now_at
		    AND NOT p_claim THEN
			outcome := 'fetch';
		ELSIF p_force AND c.refetch_after <= now_at THEN
			UPDATE poppy.client
			SET refetch_after = now_at + 30,
			    claimed_until = now_at + p_claim_s
			WHERE client.client_no = c.client_no
			    AND client.refetch_after <= now_at;
			outcome := CASE WHEN FOUND THEN 'fetch'
			    ELSE 'wait' END;
		END IF;
		fresh_s := c.fresh_until - now_at;
	ELSIF c.failed_until > now_at AND c.stale_until > now_at THEN
		-- The host was away a moment ago: the copy serves till the
		-- next try.
		outcome := 'fresh';
		fresh_s := least(c.failed_until, c.stale_until) - now_at;
	ELSIF c.failed_until > now_at THEN
		outcome := 'failed';
		failure := c.failure;
	ELSIF c.claimed_until > now_at THEN
		outcome := 'wait';
	ELSIF NOT p_claim THEN
		outcome := 'fetch';
	ELSE
		UPDATE poppy.client SET claimed_until = now_at + p_claim_s
		WHERE client.client_no = c.client_no
		    AND client.claimed_until <= now_at;
		outcome := CASE WHEN FOUND THEN 'fetch' ELSE 'wait' END;
	END IF;
	IF greatest(c.fresh_until, c.stale_until) > now_at THEN
		metadata := c.metadata;
		jwks := c.jwks;
	END IF;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.client_get(text, boolean, boolean, boolean, int,
    bytea, text, int, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.client_get(text, boolean, boolean, boolean,
    int, bytea, text, int, int, int) TO poppy_auth, poppy_browser;

-- Keep documents that were fetched and found good: 'ok', or 'blocked' and
-- nothing is kept. The version moves only if one of them is another text, so a
-- refetch of the same makes no worker parse anything. p_domain, of a client_id
-- that is new, is counted; NULL counts nothing.
DROP FUNCTION IF EXISTS poppy_api.client_store(text, text, text, int, int,
    text, text);
CREATE OR REPLACE FUNCTION poppy_api.client_store(p_client_id text,
    p_metadata text, p_jwks text, p_fresh_s int, p_stale_s int,
    p_name text DEFAULT NULL, p_logo_uri text DEFAULT NULL,
    p_domain text DEFAULT NULL, OUT outcome text, OUT client_no bigint,
    OUT version bigint, OUT allowed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	until bigint := now_at + greatest(60, least(p_fresh_s, 86400));
	-- Rules are not changed meanwhile: see poppy.client_rule_set().
	locked text := pg_advisory_xact_lock_shared(20480, 30);
	counted boolean;
BEGIN
	-- Two first fetches at once: the second finds the first one's row.
	INSERT INTO poppy.client AS c (client_id, status, allowed, version,
	    first_at)
	SELECT p_client_id, CASE WHEN v.v = 'block' THEN 'blocked'
	    ELSE 'known' END, v.v IS NOT DISTINCT FROM 'allow', 0, now_at
	FROM poppy.client_verdict(p_client_id) v (v)
	WHERE NOT EXISTS (SELECT FROM poppy.client k
	    WHERE k.client_id = p_client_id)
	ON CONFLICT (client_id) DO NOTHING
	RETURNING c.allowed INTO allowed;
	-- A new one, and not of the operator's own list, counts.
	IF NOT allowed AND p_domain IS NOT NULL THEN
		counted := poppy.client_count('domain', p_domain, NULL, now_at);
		counted := poppy.client_count('all', '', NULL, now_at);
	END IF;
	UPDATE poppy.client c
	SET version = c.version + CASE WHEN c.version = 0
		OR c.metadata IS DISTINCT FROM p_metadata
		OR c.jwks IS DISTINCT FROM p_jwks THEN 1 ELSE 0 END,
	    metadata = p_metadata, jwks = p_jwks, name = p_name,
	    logo_uri = p_logo_uri, fetched_at = now_at,
	    fresh_until = until,
	    stale_until = until + greatest(0, least(p_stale_s, 86400)),
	    failure = NULL, failed_until = 0, claimed_until = 0
	WHERE c.client_id = p_client_id AND c.status = 'known'
	RETURNING c.client_no, c.version, c.allowed
	INTO client_no, version, allowed;
	outcome := CASE WHEN FOUND THEN 'ok' ELSE 'blocked' END;
	DELETE FROM poppy.client_failure f WHERE f.client_id = p_client_id;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.client_store(text, text, text, int, int,
    text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.client_store(text, text, text, int, int,
    text, text, text) TO poppy_auth, poppy_browser;

-- A fetch failed. While the host can't be reached (p_transient) a copy serves
-- on, as long as it may ('stale'); anything else makes the client invalid as
-- soon as its copy is no longer fresh. 'failed': there is no copy that may
-- serve. No further fetch for p_retry_s. With p_retry_s 0 there was no fetch,
-- for a reason of ours: the claim is given back, nothing is held against the
-- client, and after 2 s somebody else may fetch.
CREATE OR REPLACE FUNCTION poppy_api.client_fail(p_client_id text, p_why text,
    p_transient boolean, p_retry_s int, OUT outcome text,
    OUT client_no bigint, OUT version bigint, OUT metadata text, OUT jwks text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	now_at bigint := poppy.now_at();
	until bigint := now_at + greatest(1, least(p_retry_s, 3600));
	why text := left(p_why, 200);
	c poppy.client;
	ignored boolean;
BEGIN
	outcome := 'failed';
	IF p_retry_s = 0 THEN
		UPDATE poppy.client
		SET claimed_until = least(client.claimed_until, now_at + 2),
		    refetch_after = least(client.refetch_after, now_at + 2)
		WHERE client.client_id = p_client_id
		RETURNING client.* INTO c;
	ELSE
		UPDATE poppy.client
		SET failure = why, failed_until = until, claimed_until = 0,
		    stale_until = CASE WHEN p_transient
			THEN client.stale_until
			ELSE least(client.stale_until, client.fresh_until) END
		WHERE client.client_id = p_client_id
		RETURNING client.* INTO c;
	END IF;
	IF c.client_no IS NOT NULL THEN
		client_no := c.client_no;
		version := c.version;
		IF c.status = 'known'
		    AND greatest(c.fresh_until, c.stale_until) > now_at THEN
			outcome := 'stale';
			metadata := c.metadata;
			jwks := c.jwks;
		END IF;
		RETURN;
	END IF;
	IF p_retry_s = 0 THEN
		UPDATE poppy.client_failure f
		SET claimed_until = least(f.claimed_until, now_at + 2)
		WHERE f.client_id = p_client_id;
		RETURN;
	END IF;
	UPDATE poppy.client_failure f
	SET failure = why, failed_until = until, claimed_until = 0
	WHERE f.client_id = p_client_id;
	IF NOT FOUND AND octet_length(p_client_id) <= 2048 THEN
		ignored := poppy.failure_put(p_client_id, why, until, 0);
	END IF;
END
$$;
REVOKE ALL ON FUNCTION poppy_api.client_fail(text, text, boolean, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.client_fail(text, text, boolean, int)
    TO poppy_auth, poppy_browser;

-- The metadata document of a client as it was last fetched and found good; NULL
-- if there is no such client, or it is blocked.
CREATE OR REPLACE FUNCTION poppy_api.client_metadata(p_client_no bigint)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT c.metadata FROM poppy.client c
	    WHERE c.client_no = p_client_no AND c.status = 'known');
END
$$;
REVOKE ALL ON FUNCTION poppy_api.client_metadata(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION poppy_api.client_metadata(bigint) TO poppy_auth;
