-- Roles are the cluster's, everything else is the database's: this script may
-- find any of them already there. None has a password: peer authentication, or
-- what pg_hba.conf and the operator say.
--
--   poppy_owner	owns schemas, tables and functions; nobody logs in as it
--   poppy_auth		poppy-auth
--   poppy_guard	poppy-guard
--   poppy_browser	poppy-browser
--   poppy_bridge	the shop's own PHP
DO $$
DECLARE
	r text;
BEGIN
	FOREACH r IN ARRAY ARRAY['poppy_owner', 'poppy_auth', 'poppy_guard',
	    'poppy_browser', 'poppy_bridge']
	LOOP
		IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles
		    WHERE rolname = r) THEN
			EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', r);
		END IF;
		CONTINUE WHEN r = 'poppy_owner';
		EXECUTE pg_catalog.format('ALTER ROLE %I LOGIN', r);
		EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I',
		    pg_catalog.current_database(), r);
		-- No call of ours takes long; one that does must not pile up.
		EXECUTE pg_catalog.format(
		    'ALTER ROLE %I SET statement_timeout TO ''5s''', r);
		EXECUTE pg_catalog.format(
		    'ALTER ROLE %I SET lock_timeout TO ''2s''', r);
		EXECUTE pg_catalog.format('ALTER ROLE %I SET '
		    'idle_in_transaction_session_timeout TO ''10s''', r);
		-- Spending looks, then inserts, under a lock: what was
		-- committed before the lock must be seen after it.
		EXECUTE pg_catalog.format('ALTER ROLE %I SET '
		    'default_transaction_isolation TO ''read committed''', r);
		-- Every statement finds rows by a key. A plan is kept as long
		-- as the connection lives, and one made while a table was
		-- small must still be right when it has grown.
		EXECUTE pg_catalog.format(
		    'ALTER ROLE %I SET enable_seqscan TO off', r);
		EXECUTE pg_catalog.format(
		    'ALTER ROLE %I SET plan_cache_mode TO '
		    '''force_generic_plan''', r);
		EXECUTE pg_catalog.format('ALTER ROLE %I SET jit TO off', r);
	END LOOP;
	-- All that the guard writes may be lost in a crash: replay memory, which
	-- knows that it was, and last use.
	ALTER ROLE poppy_guard SET synchronous_commit TO off;
	-- Who is no superuser must be a member to make things for the owner.
	IF NOT pg_catalog.pg_has_role('poppy_owner', 'MEMBER') THEN
		EXECUTE pg_catalog.format('GRANT poppy_owner TO %I',
		    CURRENT_USER);
	END IF;
END
$$;
