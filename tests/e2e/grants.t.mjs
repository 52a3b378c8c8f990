// The grant for a code (section 4.5): every bad input, in which order it is
// judged, and what that spends. Customers decide by lib/consent.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { accounts, decided, serviceUrl, servicesUp, target }
	from './lib/consent.mjs';
import { b64u, random, sha256, tampered } from './lib/jose.mjs';
import { READ, WRITE } from './lib/signin.mjs';

let w, ada;

const ready = async (over, opts) => {
	const f = ada();

	return { f, s: await f.agent.session(f.user),
		c: await f.code(over, opts) };
};

test('the exchange signs the Session in',
    proves('R-4.5-15', 'R-4.4-10', 'R-4.4-11', 'R-4.4-12'), async (t) => {
	const { f, s, c } = await ready({ scope: `${READ} ${WRITE}` },
	    { scopes: [READ] });
	const other = await f.agent.session(f.user);
	const res = await f.redeem(c, s.id);

	t.must(res.status === 200, 'status', res.text);
	t.eq(Object.keys(res.json).sort(), ['access_token', 'expires_in',
		'refresh_token', 'refresh_token_expires_in', 'scope',
		'session_id', 'signed_in', 'token_type'], 'members');
	const { json } = res;
	t.match(json.access_token, /^pst_/, 'Session Token');
	t.match(json.refresh_token, /^pat_/, 'Account Token');
	t.eq(json.refresh_token.slice(4, 6), s.id.slice(4, 6), 'its bucket');
	t.eq([json.token_type, json.scope, json.session_id, json.signed_in],
	    ['DPoP', READ, s.id, true], 'values');
	t.eq([json.expires_in, json.refresh_token_expires_in],
	    [3600, 2592000], 'seconds');
	t.match(res.header('cache-control'), /no-store/, 'not to be stored');
	const who = w.who(await f.agent.call(f.session(res), 'GET', w.whoami));
	t.eq([who?.POPPY_SIGNED_IN, who?.POPPY_ACCOUNT, who?.POPPY_SCOPE],
	    ['1', f.account.id, READ], 'what PHP sees');
	t.eq(await f.reads(s), '403 sign_in_required', 'the token before it');
	t.eq(await f.reads(other), '403 sign_in_required', 'another Session');
});

test('each field is needed', proves('R-4.5-11', 'R-4.5-12'), async (t) => {
	const { f, s, c } = await ready();

	for (const [error, name] of [['invalid_request', 'code'],
		['invalid_request', 'redirect_uri'],
		['invalid_request', 'code_verifier'],
		['invalid_request', 'session_id'],
		['invalid_request', 'grant_type']])
		t.refused(await f.redeem(c, s.id, { [name]: undefined }), 400,
		    error, name);
	for (const name of ['client_assertion', 'client_assertion_type'])
		t.refused(await f.redeem(c, s.id, { [name]: undefined }), 401,
		    'invalid_client', name);
	t.challenged(await f.redeem(c, s.id, {}, { proof: null }), 400,
	    'invalid_dpop_proof', 'proof');
	for (const [name, error] of [['code', 'invalid_grant'],
		['redirect_uri', 'invalid_grant'],
		['code_verifier', 'invalid_grant'],
		['session_id', 'invalid_session'],
		['grant_type', 'unsupported_grant_type']])
		t.refused(await f.redeem(c, s.id, { [name]: '' }), 400, error,
		    `${name} empty`);
	t.eq((await f.redeem(c, s.id, { client_id: undefined })).status, 200,
	    'client_id alone is said by the assertion');
});

test('no field may stand there twice', proves('R-4.5-11'), async (t) => {
	const { f, s, c } = await ready();
	const form = [['grant_type', 'authorization_code'], ['code', c.code],
		['redirect_uri', c.redirect], ['code_verifier', c.verifier],
		['session_id', s.id], ['client_id', f.agent.id],
		['client_assertion_type', f.agent.form(f.user)[3][1]],
		['client_assertion', f.agent.clientAssertion()]];

	for (const [name, value] of form)
		t.refused(await f.agent.token(f.user, { form: [...form,
			[name, value]] }), 400, 'invalid_request', name);
	t.eq((await f.agent.token(f.user, { form })).status, 200, 'once');
});

test('a code_verifier is 43 to 128 unreserved characters',
    proves('R-4.5-12'), async (t) => {
	const all = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' +
	    '0123456789-._~';

	for (const v of ['a'.repeat(43), 'a'.repeat(128),
		'~.'.repeat(32), all]) {
		const { f, s, c } = await ready({ code_challenge:
			b64u(sha256(v)), code_challenge_method: 'S256' });

		t.eq((await f.redeem(c, s.id, { code_verifier: v })).status,
		    200, `${v.length} characters`);
	}
	// Even where the challenge is that of the very same text.
	for (const v of ['a', 'a'.repeat(42), 'a'.repeat(129),
		'a'.repeat(4096), `${'a'.repeat(42)} `, `${'a'.repeat(42)}+`,
		`${'a'.repeat(42)}/`, `${'a'.repeat(43)}=`, `${'a'.repeat(42)}ä`,
		`${'a'.repeat(42)}%`, `${'a'.repeat(43)}\n`]) {
		const { f, s, c } = await ready({ code_challenge:
			b64u(sha256(v)), code_challenge_method: 'S256' });

		for (let i = 0; i < 6; i++)
			t.refused(await f.redeem(c, s.id, { code_verifier: v }),
			    400, 'invalid_grant', JSON.stringify(v.slice(-3)));
		t.refused(await f.redeem(c, s.id, { code_verifier: c.verifier }),
		    400, 'invalid_grant', 'nor is it any other');
	}
}, { timeout: 60000 });

test('the verifier is its challenge\'s, never the challenge itself',
    proves('R-4.5-12'), async (t) => {
	const { f, s, c } = await ready();

	for (const v of [b64u(sha256(c.verifier)), c.verifier.toLowerCase(),
		c.verifier.split('').reverse().join('')])
		t.refused(await f.redeem(c, s.id, { code_verifier: v }), 400,
		    'invalid_grant', v.slice(0, 4));
	t.eq((await f.redeem(c, s.id)).status, 200, 'the right one');
});

test('texts that are no code, or another secret', proves('R-4.5-12'),
    async (t) => {
	const { f, s, c } = await ready();
	const done = await f.redeem(c, s.id), live = await f.code();

	for (const code of ['x', 'pac_', live.code.slice(0, -1),
		`${live.code}A`, live.code.toUpperCase(), ` ${live.code}`,
		`${live.code}\n`, live.code.replace('pac_', 'pat_'),
		live.code.replace('pac_', 'pdc_'), `pac_AA${random(32)}`,
		`pac_//${random(32)}`, `pac_BB${live.code.slice(6)}`,
		done.json.refresh_token, done.json.access_token,
		'SplxlOBeZQQYbYS6WxSbIA', 'x'.repeat(20000)])
		t.refused(await f.redeem({ ...live, code }, s.id), 400,
		    'invalid_grant', JSON.stringify(code.slice(0, 12)));
	t.eq((await f.redeem(live, s.id)).status, 200, 'the code itself');
});

test('redirect_uri is that of the request, byte for byte',
    proves('R-4.5-12'), async (t) => {
	const { f, s, c } = await ready();
	const uri = c.redirect;

	for (const redirect_uri of [`${uri}/`, `${uri}?`, `${uri}#`,
		uri.slice(0, -1), uri.toUpperCase(), uri.replace('https', 'http'),
		uri.replace('https', 'HTTPS'), `${uri} `, ` ${uri}`,
		uri.replace('/cb', '/%63b'), uri.replace('/cb', '/./cb'),
		`${uri}?a=b`, 'https://evil.example/cb', 'urn:ietf:wg:oauth:2.0:oob'])
		t.refused(await f.redeem(c, s.id, { redirect_uri }), 400,
		    'invalid_grant', redirect_uri.slice(-12));
	t.eq((await f.redeem(c, s.id)).status, 200, 'none of that cost a try');
});

test('Sessions that it can\'t sign in', proves('R-4.5-13', 'R-4.2-22'),
    async (t) => {
	const { f, s, c } = await ready();
	const ended = await f.agent.session(f.user), g = ada();
	const foreign = await g.agent.session(g.user);

	await w.endSession(ended.id);
	for (const id of ['x', 'ses_', `${s.id}A`, s.id.slice(0, -1),
		s.id.replace('ses_', 'sos_'), s.id.toUpperCase(),
		`ses_AA${random(16)}`, `ses_${s.id[5]}${s.id[4]}${s.id.slice(6)}`,
		ended.id, foreign.id, s.token].filter((i) => i !== s.id))
		t.refused(await f.redeem(c, id), 400, 'invalid_session', id);
	const res = await f.redeem(c, s.id);
	t.eq([res.status, res.json.session_id], [200, s.id], 'its own');
});

// One assertion and one proof for all tries: whatever fails spends nothing, so
// they are good for the next one.
test('what is wrong is said in one order, and spends nothing',
    proves('R-4.5-11', 'R-4.5-12', 'R-4.3-12'), async (t) => {
	const { f, s, c } = await ready(), proof = f.user.proof('POST',
	    w.tokenEndpoint);
	const good = { client_assertion: f.agent.clientAssertion() };
	const bad = { code: `pac_AA${random(32)}`, session_id: 'x',
		client_assertion: tampered(good.client_assertion),
		resource: 'https://other.example/' };
	const tries = [
		['invalid_target', 'all', bad, tampered(proof)],
		['invalid_dpop_proof', 'all but resource',
			{ ...bad, resource: undefined }, tampered(proof)],
		['invalid_client', 'client and grant',
			{ ...bad, resource: undefined }, proof],
		['invalid_session', 'what can\'t be a Session', { ...good,
			code: bad.code, session_id: 'x' }, proof],
		['invalid_grant', 'grant and Session', { ...good,
			code: bad.code, session_id: `ses_AA${random(16)}` },
		proof],
		['invalid_session', 'Session', { ...good,
			session_id: `ses_AA${random(16)}` }, proof],
	];

	for (const [error, what, over, p] of tries)
		t.refused(await f.redeem(c, s.id, over, { proof: p }),
		    error === 'invalid_client' ? 401 : 400, error, what);
	t.eq((await f.redeem(c, s.id, good, { proof })).status, 200,
	    'the same ones at last');
	t.challenged(await f.redeem(c, s.id, {}, { proof }), 400,
	    'invalid_dpop_proof', 'and now they are spent');
});

test('a wrong verifier spends what was signed', proves('R-4.5-12'),
    async (t) => {
	const { f, s, c } = await ready(), proof = f.user.proof('POST',
	    w.tokenEndpoint);

	t.refused(await f.redeem(c, s.id, { code_verifier: random(32) },
	    { proof }), 400, 'invalid_grant', 'wrong');
	t.challenged(await f.redeem(c, s.id, {}, { proof }), 400,
	    'invalid_dpop_proof', 'the proof is spent');
	t.eq((await f.redeem(c, s.id)).status, 200, 'the code is not');
});

test('only who has the verifier takes back what a code gave',
    proves('R-4.5-14'), async (t) => {
	const { f, s, c } = await ready(), first = await f.redeem(c, s.id);

	t.refused(await f.redeem(c, s.id, { code_verifier: random(32) }), 400,
	    'invalid_grant', 'seen somewhere');
	t.eq(await f.reads(f.session(first)), '200', 'signs nobody out');
	t.refused(await f.redeem(c, s.id), 400, 'invalid_grant', 'used again');
	t.eq(await f.reads(f.session(first)), '403 sign_in_required',
	    'does');
});

test('an account that was closed since is not signed in',
    proves('R-4.5-12', 'A-24'), async (t) => {
	const { f, s, c } = await ready();

	await w.sql('UPDATE shop.customer SET active = false WHERE id = ' +
	    f.account.id);
	const res = await f.redeem(c, s.id);
	await w.sql('UPDATE shop.customer SET active = true WHERE id = ' +
	    f.account.id);
	t.refused(res, 400, 'invalid_grant', 'closed');
});

test('a code for one service gives tokens for it alone',
    proves('R-4.3-23', 'R-4.3-25'), async (t) => {
	const { f, s, c } = await ready({ resource: target(w, 'own') });

	for (const resource of [undefined, target(w, 'two')])
		t.refused(await f.redeem(c, s.id, { resource }), 400,
		    'invalid_target', String(resource));
	t.refused(await f.redeem(c, s.id, { resource: w.mcp }, { proof: null }),
	    400, 'invalid_target', 'an MCP server');
	const res = await f.redeem(c, s.id, { resource: target(w, 'own') });
	t.must(res.status === 200, 'its own', res.text);
	const it = f.session(res);
	t.eq((await f.agent.call(it, 'GET', serviceUrl(w, 'own'))).status, 200,
	    'there');
	for (const url of [serviceUrl(w, 'two'), w.whoami])
		t.challenged(await f.agent.call(it, 'GET', url), 401,
		    'invalid_token', url);
});

test('a code for none is good for any', proves('R-4.3-23', 'R-4.3-24'),
    async (t) => {
	const { f, s, c } = await ready();
	const res = await f.redeem(c, s.id, { resource: target(w, 'two') });

	t.must(res.status === 200, 'redeemed for a service', res.text);
	t.eq((await f.agent.call(f.session(res), 'GET', serviceUrl(w, 'two'))).status,
	    200, 'there');
});

test('an agent of the protocol gets a Bearer token for its Session',
    proves('R-4.3-15', 'R-4.5-15'), async (t) => {
	const { f, s, c } = await ready({ resource: w.mcp, session_id: undefined });
	const res = await f.redeem(c, s.id, { resource: w.mcp }, { proof: null });

	t.must(res.status === 200, 'status', res.text);
	t.eq([res.json.token_type, res.json.session_id, res.json.signed_in],
	    ['Bearer', s.id, true], 'reply');
	t.match(res.json.refresh_token, /^pat_/, 'Account Token');
});

test('a public client: a code for an MCP server, and nothing else',
    proves('R-6-8', 'R-4.1-8'), async (t) => {
	const none = { client_assertion: undefined,
		client_assertion_type: undefined };
	const app = new Agent(w, { doc: { jwks_uri: undefined,
		token_endpoint_auth_method: 'none' } });
	const f = ada(new User(), app), mine = { ...none, resource: w.mcp };
	const open = { proof: null };
	const c = await f.code({ resource: w.mcp });
	const g = ada(), s = await g.agent.session(g.user);

	for (const [what, over, opts] of [
		['a Session', { ...mine, session_id: s.id }, open],
		['no resource', none, {}],
		['a service that is no MCP server',
			{ ...none, resource: target(w, 'own') }, {}],
		['no client_id', { ...mine, client_id: undefined }, open],
		['a client with keys', { ...mine, client_id: g.agent.id }, open],
		['another grant', { ...mine, grant_type: 'refresh_token',
			refresh_token: `pat_AA${random(32)}` }, open],
		['no client_id of ours', { ...mine, client_id: 'x' }, open],
		['half an assertion', { ...mine, client_assertion: '' }, open]])
		t.refused(await f.redeem(c, undefined, over, opts), 401,
		    'invalid_client', what);
	t.refused(await f.redeem(c, undefined, mine, { proof: f.user.proof(
	    'POST', w.tokenEndpoint) }), 400, 'invalid_target', 'with a proof');
	for (let i = 0; i < 4; i++)
		t.refused(await f.redeem(c, undefined, { ...mine,
			code_verifier: random(32) }, open), 400, 'invalid_grant',
		'another verifier');
	const res = await f.redeem(c, undefined, mine, open);
	t.must(res.status === 200, 'as it should be', res.text);
	t.eq([res.json.token_type, res.json.signed_in, res.json.refresh_token,
		res.json.refresh_token_expires_in],
	['Bearer', true, undefined, undefined], 'reply');
	t.eq(res.json.session_id.slice(4, 6), c.code.slice(4, 6), 'its bucket');
	t.refused(await f.redeem(c, undefined, mine, open), 400,
	    'invalid_grant', 'once');
});

test('an MCP client with keys gets an Account Token for its server',
    proves('R-6-8'), async (t) => {
	const f = ada(), c = await f.code({ resource: w.mcp });
	const open = { proof: null }, at = { resource: w.mcp };

	t.refused(await f.redeem(c, undefined, {}), 400, 'invalid_request',
	    'without the resource it needs a Session');
	t.refused(await f.redeem(await f.code(), undefined, at, open), 400,
	    'invalid_target', 'a code for none');
	const res = await f.redeem(c, undefined, at, open);
	t.must(res.status === 200, 'status', res.text);
	t.match(res.json.refresh_token, /^pat_/, 'Account Token');
});

await run({
	before: async () => {
		w = await servicesUp();
		ada = decided(w, (await accounts(w))[0]);
	},
	after: () => w?.close(),
});
