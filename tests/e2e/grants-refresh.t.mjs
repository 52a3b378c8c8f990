// The grant for an Account Token, and its revocation (sections 4.8 and 4.9):
// every bad input, in which order it is judged, and what that spends. Customers
// decide by lib/consent.
import { proves, run, test } from './lib/tap.mjs';
import { accounts, decided, serviceSettings, serviceUrl, servicesUp, target }
	from './lib/consent.mjs';
import { random } from './lib/jose.mjs';
import { MCP_ARGS } from './lib/mcp.mjs';
import { OWN, READ, WRITE } from './lib/signin.mjs';

let w, ada;

test('an Account Token: each field, and texts that are none',
    proves('R-4.8-4', 'R-4.8-5'), async (t) => {
	const f = ada(), s = await f.signedIn();

	t.refused(await f.refresh(undefined), 400, 'invalid_request', 'missing');
	for (const pat of ['', 'x', 'pat_', s.pat.slice(0, -1), `${s.pat}A`,
		` ${s.pat}`, `${s.pat} `, s.pat.toLowerCase(), s.token,
		s.pat.replace('pat_', 'pst_'), `pat_AA${random(32)}`,
		`pat_${s.pat[5]}${s.pat[4]}${s.pat.slice(6)}x`,
		'x'.repeat(20000)])
		t.refused(await f.refresh(pat), 400, 'invalid_grant',
		    JSON.stringify(pat.slice(0, 12)));
	for (const scheme of ['DPoP', 'Bearer'])
		t.challenged(await f.agent.call(s, 'GET', w.whoami, { scheme,
			token: s.pat, proof: f.user.proof('GET', w.whoami,
			    { token: s.pat }) }), 401, 'invalid_token',
		`at an API as ${scheme}`);
	t.eq((await f.refresh(s.pat)).status, 200, 'where it belongs');
});

test('scope: a list of what it has, written as OAuth writes it',
    proves('R-4.8-8', 'R-4.8-9'), async (t) => {
	const f = ada(), s = await f.signedIn({ scope: `${READ} ${OWN}` });

	for (const scope of ['', ' ', ` ${READ}`, `${READ} `, `${READ}  ${OWN}`,
		`${READ},${OWN}`, `"${READ}"`, 'poppy:READ', WRITE,
		`${READ} ${WRITE}`, `${READ}\t${OWN}`, 'ä', 'x'.repeat(200)])
		t.refused(await f.refresh(s.pat, { scope }), 400,
		    'invalid_scope', JSON.stringify(scope.slice(0, 30)));
	for (const [scope, want] of [[READ, READ], [OWN, OWN],
		[`${READ} ${READ}`, READ], [undefined, `${READ} ${OWN}`]])
		t.eq((await f.refresh(s.pat, { scope })).json.scope, want,
		    String(scope));
	const both = (await f.refresh(s.pat, { scope: `${OWN} ${READ}` })).json;
	t.eq(both.scope.split(' ').sort(), [OWN, READ].sort(), 'in any order');
});

test('the Account Token is judged before the Session',
    proves('R-4.8-6', 'R-4.8-12'), async (t) => {
	const f = ada(), s = await f.signedIn(), g = ada();
	const foreign = await g.agent.session(g.user);

	t.refused(await f.refresh(s.pat, { session_id: foreign.id }), 400,
	    'invalid_session', 'alive, and another\'s Session');
	const swapped = `ses_${foreign.id.slice(4, 6)}${s.id.slice(6)}`;
	t.refused(await f.refresh(s.pat, { session_id: swapped }), 400,
	    'invalid_session', 'its own with another bucket');
	await f.revoke(s.pat);
	t.refused(await f.refresh(s.pat, { session_id: foreign.id }), 400,
	    'invalid_grant', 'dead');
});

test('a refresh that fails spends nothing', proves('R-4.8-5', 'R-4.8-9'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const form = { client_assertion: f.agent.clientAssertion() };
	const proof = f.user.proof('POST', w.tokenEndpoint);

	for (const [error, pat, over] of [
		['invalid_grant', `pat_AA${random(32)}`, {}],
		['invalid_scope', s.pat, { scope: OWN }],
		['invalid_session', s.pat, { session_id: 'x' }],
		['invalid_session', s.pat, { session_id: `ses_AA${random(16)}` }]])
		t.refused(await f.refresh(pat, { ...form, ...over }, { proof }),
		    400, error, error);
	t.eq((await f.refresh(s.pat, form, { proof })).status, 200, 'at last');
	t.challenged(await f.refresh(s.pat, {}, { proof }), 400,
	    'invalid_dpop_proof', 'the proof is spent');
	t.refused(await f.refresh(s.pat, form), 401, 'invalid_client',
	    'the assertion too');
});

test('what a refresh says of the Account Token\'s life',
    proves('R-4.8-3', 'R-4.8-10'), async (t) => {
	const f = ada(), s = await f.signedIn();

	await w.sql('UPDATE poppy.grants g SET expires_at = expires_at - 1000 ' +
	    'FROM poppy.client c WHERE c.client_no = g.client_no AND ' +
	    `c.client_id = '${f.agent.id}'`);
	const { json } = await f.refresh(s.pat);
	t.eq(json.refresh_token, undefined, 'no new one');
	t.ok(Math.abs(json.refresh_token_expires_in - 2591000) < 20,
	    'what is left', json.refresh_token_expires_in);
});

test('revoked, with any hint; the reply tells nobody anything',
    proves('R-4.9-1', 'R-4.9-3', 'R-4.9-8', 'R-4.9-9'), async (t) => {
	const f = ada(), s = await f.signedIn(), g = ada();
	const replies = [await g.revoke(s.pat), await g.revoke(s.token),
		await g.revoke(`pat_AA${random(32)}`)];

	t.eq(await f.reads(s), '200', 'not by another client');
	replies.push(await f.revoke(s.pat, { token_type_hint: 'access_token' }),
	    await f.revoke(s.pat));
	t.eq(replies.map((r) => [r.status, r.text]),
	    replies.map(() => [200, '']), 'always the same');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'revoked');
	t.eq(await f.reads(s), '403 sign_in_required', 'signed out');
	const client_assertion = f.agent.clientAssertion();
	t.eq((await f.revoke(s.pat, { client_assertion })).status, 200, 'once');
	t.refused(await f.revoke(s.pat, { client_assertion }), 401,
	    'invalid_client', 'an assertion is spent');
});

test('a sign-in for one service is refreshed for it alone',
    proves('R-4.3-23', 'R-4.3-25'), async (t) => {
	const f = ada(), own = { resource: target(w, 'own') };
	const s = await f.agent.session(f.user);
	const { json } = await f.redeem(await f.code(own), s.id, own);
	const pat = json.refresh_token;

	for (const resource of [undefined, target(w, 'two')])
		t.refused(await f.refresh(pat, { resource }), 400,
		    'invalid_target', String(resource));
	const res = await f.refresh(pat, own);
	t.must(res.status === 200, 'its own', res.text);
	t.eq((await f.agent.call(f.session(res), 'GET', serviceUrl(w, 'own'))).status,
	    200, 'there');
	t.challenged(await f.agent.call(f.session(res), 'GET', w.whoami), 401,
	    'invalid_token', 'and nowhere else');
});

test('a sign-in for none is refreshed for any',
    proves('R-4.3-23', 'R-4.3-24', 'R-4.3-15'), async (t) => {
	const f = ada(), s = await f.signedIn();
	const two = await f.refresh(s.pat, { resource: target(w, 'two') });
	const bearer = await f.refresh(s.pat, { resource: w.mcp,
		session_id: s.id }, { proof: null });

	t.eq((await f.agent.call(f.session(two), 'GET', serviceUrl(w, 'two'))).status,
	    200, 'a service');
	t.eq([bearer.status, bearer.json.token_type, bearer.json.session_id],
	    [200, 'Bearer', s.id], 'an MCP server, in a Session');
	t.eq(await f.reads(f.session(await f.refresh(s.pat))), '200', 'plain');
	t.refused(await f.refresh(s.pat, { resource: w.mcp }), 400,
	    'invalid_target', 'an MCP server with a proof');
	t.refused(await f.refresh(s.pat, { resource: 'https://o.example/' }),
	    400, 'invalid_target', 'a strange one');
	t.challenged(await f.refresh(s.pat, {}, { proof: null }), 400,
	    'invalid_dpop_proof', 'none without a proof');
});

test('that of an MCP client is for its server and its User',
    proves('R-6-8', 'R-4.8-2', 'R-4.8-6'), async (t) => {
	const f = ada(), at = { resource: w.mcp }, open = { proof: null };
	const { json } = await f.redeem(await f.code(at), undefined, at, open);
	const pat = json.refresh_token;
	const more = await f.refresh(pat, at, open);

	t.must(more.status === 200, 'status', more.text);
	t.eq([more.json.token_type, more.json.signed_in], ['Bearer', true],
	    'refreshed');
	t.ok(more.json.session_id !== json.session_id, 'a new Session');
	t.refused(await f.refresh(pat), 400, 'invalid_target', 'nowhere else');
	t.refused(await f.refresh(pat, { ...at, session_id: (await f.agent
	    .session(f.user)).id }, open), 400, 'invalid_session',
	'nor for a User that the agent names');
});

test('no secret of a sign-in is stored or logged', proves('R-4.8-4'),
    async (t) => {
	const f = ada(), s = await f.agent.session(f.user), c = await f.code();
	const { d } = await f.begun();
	const { json } = await f.redeem(c, s.id);

	await f.refresh(json.refresh_token);
	await f.redeem(c, s.id, { code_verifier: random(32) });
	await f.poll(d, s.id);
	await f.revoke(json.refresh_token);
	const logs = JSON.stringify(w.logs('')), dump = await w.dump();
	t.ok(logs.includes('/poppy/oauth/device'), 'logs are there');
	t.ok(dump.includes('account_token'), 'so is the dump');
	for (const [what, secret] of Object.entries({ code: c.code,
		verifier: c.verifier, device_code: d.device_code,
		account: json.refresh_token, session: json.access_token }))
		t.eq([logs.includes(secret), dump.includes(secret)],
		    [false, false], what);
	t.ok(!logs.includes(d.user_code) &&
	    !logs.includes(d.user_code.replace('-', '')), 'user_code');
});

test('a type that is off has no grant, but what it gave goes on',
    proves('R-3.2-10', 'R-4.8-1'), async (t) => {
	const f = ada(), s = await f.signedIn(), c = await f.code();

	const without = (...types) => w.restart((conf) => {
		serviceSettings(conf);
		for (const type of types)
			conf.sign_in[type] = [];
	}, MCP_ARGS);
	without('direct');
	t.refused(await f.redeem(c, s.id), 400, 'unsupported_grant_type',
	    'code');
	t.eq((await f.device()).status, 200, 'another type');
	t.eq((await f.refresh(s.pat)).status, 200, 'refresh');
	without('direct', 'device');
	t.refused(await f.poll({ device_code: `pdc_AA${random(32)}` }, s.id),
	    400, 'unsupported_grant_type', 'device');
	t.refused(await f.device(), 404, 'not_found', 'device endpoint');
	t.refused(await f.refresh(s.pat), 400, 'unsupported_grant_type',
	    'no sign-in at all');
	t.eq((await f.revoke(s.pat)).status, 200, 'what was given can be ended');
	without('direct');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'so it is');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await servicesUp();
		ada = decided(w, (await accounts(w))[0]);
	},
	after: () => w?.close(),
});
