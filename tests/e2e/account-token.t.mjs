// Account Tokens (sections 4.4 and 4.8): what a sign-in is remembered by, with
// rotation (its own stack) and without.
import { proves, run, sleep, test } from './lib/tap.mjs';
import { User } from './lib/agent.mjs';
import { random } from './lib/jose.mjs';
import { ALL, OWN, READ, WRITE, flows, signinSettings }
	from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, turning, ada, jonas, rotated;

test('with a Session, that one is signed in', proves('R-4.8-1', 'R-4.8-3'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const other = await f.agent.session(f.user);
	const res = await f.refresh(s.pat, { session_id: other.id });

	t.must(res.status === 200, 'status', res.text);
	t.eq([res.json.session_id, res.json.signed_in, res.json.token_type],
	    [other.id, true, 'DPoP'], 'reply');
	t.eq(res.json.scope, `${READ} ${WRITE}`, 'scope');
	t.eq(res.json.refresh_token, undefined, 'no new Account Token');
	t.eq(await f.reads(f.session(res)), '200', 'account call');
	t.eq(await f.reads(other), '403 sign_in_required', 'the old token');
	const again = await f.refresh(s.pat, { session_id: s.id });
	t.eq([again.status, again.json.session_id], [200, s.id], 'renewed');
});

test('without one, it is a new Session', proves('R-4.8-2', 'R-4.8-3'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const res = await f.refresh(s.pat);

	t.must(res.status === 200, 'status', res.text);
	t.match(res.json.session_id, /^ses_/, 'Session');
	t.ok(res.json.session_id !== s.id, 'a new one');
	t.eq([res.json.signed_in, res.json.refresh_token], [true, undefined],
	    'signed in');
	const now = f.session(res);
	t.eq(await f.reads(now), '200', 'account call');
	t.eq(w.who(await f.agent.call(now, 'GET', w.whoami))?.POPPY_USER,
	    w.who(await f.agent.call(s, 'GET', w.whoami))?.POPPY_USER,
	    'the same User');
});

test('its token is bound to the key of the proof that asked',
    proves('R-4.8-1', 'R-4.3-2'), async (t) => {
	const f = ada(), s = await f.signedIn(), twin = new User();

	twin.sub = f.user.sub;
	const res = await f.refresh(s.pat, {}, { user: twin });
	t.eq(res.status, 200, 'another key of the User');
	const now = f.session(res);
	t.eq(await f.reads({ ...now, user: twin }), '200', 'with that key');
	t.challenged(await f.agent.call(now, 'GET', w.whoami), 401,
	    'invalid_dpop_proof', 'with another');
});

test('it works at the token endpoint alone', proves('R-4.8-4'),
    async (t) => {
	const f = ada(), s = await f.signedIn();

	for (const scheme of ['DPoP', 'Bearer'])
		t.challenged(await f.agent.call(s, 'GET', w.stock, { scheme,
			token: s.pat, proof: scheme === 'DPoP' ? f.user.proof(
			    'GET', w.stockBare, { token: s.pat }) : null }),
		401, 'invalid_token', scheme);
	t.refused(await f.grant({ grant_type: 'authorization_code',
		code: s.pat, redirect_uri: f.redirect,
		code_verifier: random(32), session_id: s.id }), 400,
	'invalid_grant', 'as a code');
	t.refused(await f.poll({ device_code: s.pat }, s.id), 400,
	    'invalid_grant', 'as a device_code');
	t.refused(await f.refresh(s.token), 400, 'invalid_grant',
	    'nor is a Session Token one');
});

test('it is for its client alone, which proves itself', proves('R-4.8-5'),
    async (t) => {
	const f = ada(), s = await f.signedIn(), thief = ada(f.user);

	t.refused(await thief.refresh(s.pat), 400, 'invalid_grant',
	    'another client');
	t.refused(await f.refresh(s.pat, { client_assertion: undefined }), 401,
	    'invalid_client', 'no assertion');
	t.refused(await f.refresh(s.pat, { client_assertion:
		thief.agent.clientAssertion() }), 401, 'invalid_client',
	'another\'s assertion');
	t.challenged(await f.refresh(s.pat, {}, { proof: null }), 400,
	    'invalid_dpop_proof', 'no proof');
	for (const pat of [undefined, '', 'x', `${s.pat}x`, s.pat.slice(0, -1),
		s.pat.toUpperCase(), `pat_AA${random(32)}`])
		t.ok(['invalid_grant', 'invalid_request'].includes((await f
		    .refresh(pat)).json?.error), String(pat));
	t.eq((await f.refresh(s.pat)).status, 200, 'it still works');
});

test('client, User and account of the Session must be its own',
    proves('R-4.8-6', 'R-4.8-7', 'R-4.4-15', 'R-4.2-29'), async (t) => {
	const f = ada(), s = await f.signedIn();
	const stranger = new User();
	const session = await f.agent.session(stranger);
	const thief = ada(f.user);
	const foreign = await thief.agent.session(f.user);
	const other = await jonas(f.user, f.agent).signedIn();

	t.refused(await f.refresh(s.pat, { session_id: session.id }), 400,
	    'invalid_session', 'another User');
	t.refused(await f.refresh(s.pat, { session_id: foreign.id }), 400,
	    'invalid_session', 'another client');
	t.refused(await f.refresh(s.pat, { session_id: `ses_AA${random(16)}` }),
	    400, 'invalid_session', 'none');
	for (const session_id of ['', 'x'])
		t.ok(['invalid_request', 'invalid_session'].includes((await f
		    .refresh(s.pat, { session_id })).json?.error), session_id);
	t.refused(await f.refresh(s.pat, { session_id: other.id }), 400,
	    'account_mismatch', 'another account');
	t.eq(await f.reads(other), '200', 'which is unchanged');
	await f.revoke(other.pat);
	t.refused(await f.refresh(s.pat, { session_id: other.id }), 400,
	    'account_mismatch', 'after its sign-out too');
});

test('it may be asked for less, never for more',
    proves('R-4.8-8', 'R-4.8-9', 'R-4.3-21'), async (t) => {
	const f = ada(), s = await f.signedIn({ scope: ALL },
	    { scopes: [READ, WRITE] });
	const less = await f.refresh(s.pat, { scope: READ });

	t.eq([less.status, less.json.scope], [200, READ], 'less');
	t.eq([await f.reads(f.session(less)), await f.writes(f.session(less))],
	    ['200', '403 insufficient_scope'], 'and so it is held');
	for (const scope of [OWN, `${READ} ${OWN}`, 'none', 'poppy:admin',
		`${READ},${WRITE}`])
		t.refused(await f.refresh(s.pat, { scope }), 400,
		    'invalid_scope', scope);
	const all = await f.refresh(s.pat, { session_id:
		less.json.session_id });
	t.eq(all.json.scope, `${READ} ${WRITE}`, 'all of them later');
	t.eq(await f.writes(f.session(all)), '200', 'and so it is held');
	t.eq(await f.writes(f.session(less)), '403 insufficient_scope',
	    'a narrowed token stays narrow');
});

test('use does not extend its life', proves('R-4.8-10', 'R-4.4-11'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const until = async () => (await w.sql('SELECT max(expires_at) FROM ' +
	    'poppy.grants g JOIN poppy.client c USING (client_no) ' +
	    `WHERE c.client_id = '${f.agent.id}'`)).trim();
	const first = await until();

	t.match(first, /^\d+$/, 'a time');
	await sleep(1100);
	for (let i = 0; i < 2; i++)
		t.eq((await f.refresh(s.pat)).status, 200, 'used');
	t.eq(await until(), first, 'the same end');
	await w.sql('UPDATE poppy.grants g SET expires_at = ' +
	    'extract(epoch FROM now())::bigint - 1 FROM poppy.client c ' +
	    `WHERE c.client_no = g.client_no AND c.client_id = '${f.agent.id}'`);
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'expired');
	t.eq(await f.reads(s), '403 sign_in_required', 'and its tokens');
});

test('expired or revoked, the Session goes on signed out',
    proves('R-4.8-12', 'R-4.9-5'), async (t) => {
	const f = ada(), s = await f.signedIn();

	await f.revoke(s.pat);
	t.refused(await f.refresh(s.pat, { session_id: s.id }), 400,
	    'invalid_grant', 'revoked');
	const res = await f.agent.session(f.user, { form: { session_id: s.id } });
	t.eq([res.id, res.res.json.signed_in], [s.id, false], 'renewed');
	t.eq((await f.agent.call(res, 'GET', w.stock)).status, 200, 'and used');
});

// However it ends: by the operator, by the settings, or when its row is gone.
for (const [how, end] of [
	['ended', 'UPDATE poppy.session SET ended_at = poppy.now_at()'],
	['too long idle', 'UPDATE poppy.session SET used_at = 1'],
	['too old', 'UPDATE poppy.session SET started_at = 1'],
	['cleaned away', 'DELETE FROM poppy.session']])
	test(`the Session is ${how}: its Account Token begins another`,
	    proves('R-4-5', 'R-4.8-2'), async (t) => {
		const f = ada(), s = await f.signedIn();

		await w.sql(`${end} WHERE sid = ${World.sid(s.id)}`);
		t.challenged(await f.agent.call(s, 'GET', w.whoami), 401,
		    'invalid_token', 'its token');
		t.refused(await f.refresh(s.pat, { session_id: s.id }), 400,
		    'invalid_session', 'nothing wakes it');
		const res = await f.refresh(s.pat);
		t.must(res.status === 200, 'status', res.text);
		t.ok(res.json.session_id !== s.id, 'a new Session');
		t.eq([res.json.signed_in, res.json.scope],
		    [true, `${READ} ${WRITE}`], 'signed in');
		t.eq(await f.reads(f.session(res)), '200', 'account call');
	});

test('a second sign-in for more leaves the first until it is revoked',
    proves('R-4.4-14'), async (t) => {
	const f = ada(), s = await f.signedIn({ scope: READ });
	const more = await f.signedIn({ scope: `${READ} ${WRITE}` },
	    { session: s });

	t.eq(more.id, s.id, 'on the same Session');
	t.eq([(await f.refresh(s.pat)).status, (await f.refresh(more.pat))
	    .status], [200, 200], 'both work');
	t.eq((await f.revoke(s.pat)).status, 200, 'the old one is revoked');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'the old');
	t.eq([await f.reads(more), await f.writes(more)], ['200', '200'],
	    'the Session stays signed in');
	t.eq((await f.refresh(more.pat, { session_id: s.id })).json.scope,
	    `${READ} ${WRITE}`, 'and is renewed by the new one');
	t.eq(await f.reads(s), '403 sign_in_required',
	    'a token of the old sign-in is signed out');
});

test('parallel tasks with the old and the new token', proves('R-4.4-14'),
    async (t) => {
	const f = ada(), s = await f.signedIn({ scope: READ });
	const more = await f.signedIn({}, { session: s });
	const old = await f.refresh(s.pat, { session_id: s.id });

	t.eq(old.json.scope, READ, 'the old one gives its own');
	t.eq(await f.writes(more), '200', 'without cutting the new one');
	await f.revoke(s.pat);
	t.eq(await f.reads(f.session(old)), '403 sign_in_required',
	    'its token is signed out');
	t.eq(await f.writes(more), '200', 'the other is not');
});

test('an assertion renews a signed-in Session as signed out, harmlessly',
    proves('R-4.2-16', 'R-4.4-16'), async (t) => {
	const f = ada(), s = await f.signedIn();
	const out = await f.agent.session(f.user, { form: { session_id: s.id } });

	t.eq(out.res.json.signed_in, false, 'signed out');
	t.eq(await f.reads(out), '403 sign_in_required', 'no account');
	t.eq(await f.reads(s), '200', 'the sign-in stands');
});

test('an account that was closed since gets nothing', proves('A-24'),
    async (t) => {
	const mira = flows(w, w.customers()[2])(), s = await mira.signedIn();
	const email = mira.account.email;

	await w.sql('UPDATE shop.customer SET active = false ' +
	    `WHERE email = '${email}'`);
	const res = await mira.refresh(s.pat);
	await w.sql('UPDATE shop.customer SET active = true ' +
	    `WHERE email = '${email}'`);
	t.refused(res, 400, 'invalid_grant', 'refresh');
});

test('rotation: the new one works from then on, the old one for a while',
    proves('R-4.8-11'), async (t) => {
	const f = rotated(), s = await f.signedIn();
	const first = await f.refresh(s.pat);

	t.must(first.status === 200, 'status', first.text);
	const next = first.json.refresh_token;
	t.match(next ?? '', /^pat_/, 'a new one');
	t.ok(next !== s.pat, 'another');
	t.eq((await f.refresh(s.pat)).json.refresh_token, next,
	    'the same again: a reply that was lost can be had once more');
	const then = await f.refresh(next);
	t.eq(then.status, 200, 'the new one works');
	t.ok(then.json.refresh_token && then.json.refresh_token !== next,
	    'and has a successor');
	t.ok(first.json.refresh_token_expires_in <= 2592000, 'not extended',
	    first.json.refresh_token_expires_in);
});

test('rotation: an old one used too late ends it all', proves('R-4.8-11'),
    async (t) => {
	const f = rotated(), s = await f.signedIn();
	const next = (await f.refresh(s.pat)).json.refresh_token;

	t.eq((await f.refresh(next)).status, 200, 'in use');
	await turning.sql('UPDATE poppy.account_token SET replaced_at = ' +
	    'replaced_at - 100 WHERE replaced_at IS NOT NULL');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'the old one');
	t.refused(await f.refresh(next), 400, 'invalid_grant',
	    'its successor too');
	t.eq(await f.outcome(s, `/api/reserved.php?sku=${turning.sku}`),
	    '403 sign_in_required', 'and its Session Tokens');
});

test('rotation: at one moment, all get the same successor',
    proves('R-4.8-11'), async (t) => {
	for (let i = 0; i < 5; i++) {
		const f = rotated(), s = await f.signedIn();
		const all = await Promise.all(Array.from({ length: 4 }, () =>
		    f.refresh(s.pat)));

		t.ok(all.every((r) => r.status === 200), 'all work',
		    all.map((r) => r.text));
		const next = new Set(all.map((r) => r.json?.refresh_token));
		t.eq(next.size, 1, 'one successor');
		t.eq((await f.refresh([...next][0])).status, 200, 'that works');
	}
}, { timeout: 60000 });

test('rotation: use of the new one against use of the old one, too late',
    proves('R-4.8-11'), async (t) => {
	for (let i = 0; i < 5; i++) {
		const f = rotated(), s = await f.signedIn();
		const next = (await f.refresh(s.pat)).json.refresh_token;

		await turning.sql('UPDATE poppy.account_token SET replaced_at ' +
		    '= replaced_at - 100 WHERE replaced_at IS NOT NULL');
		const [good, bad] = await Promise.all([f.refresh(next),
			f.refresh(s.pat)]);
		t.refused(bad, 400, 'invalid_grant', 'the old one');
		t.ok(good.status === 200 ||
		    good.json?.error === 'invalid_grant', 'the new one',
		good.text);
		t.refused(await f.refresh(next), 400, 'invalid_grant',
		    'afterwards neither');
		if (good.status === 200)
			t.eq(await f.outcome(f.session(good),
			    `/api/reserved.php?sku=${turning.sku}`),
			'403 sign_in_required', 'nor what it gave');
	}
}, { timeout: 60000 });

test('a lost assertion is spent once', proves('R-4.8-5'), async (t) => {
	const f = ada(), s = await f.signedIn();
	const client_assertion = f.agent.clientAssertion();
	const all = await Promise.all(Array.from({ length: 4 }, () =>
	    f.refresh(s.pat, { client_assertion })));

	t.eq(all.filter((r) => r.status === 200).length, 1, 'one');
	t.ok(all.every((r) => r.status === 200 ||
	    r.json?.error === 'invalid_client'), 'the others');
});

test('Account Tokens are kept as hashes, and never logged',
    proves('R-4.8-4'), async (t) => {
	const f = ada(), s = await f.signedIn();

	await f.refresh(s.pat);
	t.ok(!(await w.dump()).includes(s.pat), 'database');
	t.ok(!JSON.stringify(w.logs('')).includes(s.pat), 'logs');
});

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		const people = w.customers();

		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
		turning = await World.up({ bend: (c) => {
			signinSettings(c);
			c.account_tokens = { rotate: true, grace_seconds: 60 };
		} });
		rotated = flows(turning, people[0]);
	},
	after: async () => {
		await turning?.close();
		await w?.close();
	},
});
