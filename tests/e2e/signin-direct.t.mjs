// Direct Sign-In (sections 4.4 and 4.5): from the authorization URL to the code
// and what it gives. What a person does on the pages is in signin-pages.t.mjs.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Customer } from './lib/customer.mjs';
import { b64u, random, sha256 } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { ALL, OWN, READ, WRITE, flows, signinSettings }
	from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, ada, jonas;

const get = (url) => send(url, { ca: w.ca });
// The same by a form: web servers refuse control characters in a URL.
const byForm = (r) => {
	const u = new URL(r.url);

	return [`${u.origin}${u.pathname}`, { method: 'POST',
		body: u.search.slice(1), headers: [['Content-Type',
			'application/x-www-form-urlencoded']] }];
};
const posted = (r) => {
	const [url, opts] = byForm(r);

	return send(url, { ca: w.ca, ...opts });
};
const where = (res) => res.header('location') ?? '';

// The parameters of a redirect back to the agent.
function back(t, res, r, what)
{
	const to = where(res);

	t.ok([302, 303].includes(res.status), `${what}: a redirect`,
	    [res.status, res.text.slice(0, 200)]);
	t.ok(to.startsWith(r.redirect), `${what}: to the agent`, to);
	return new URL(to || 'about:blank').searchParams;
}

// An error that goes back to the agent: code, state and iss.
function failed(t, res, r, error, what)
{
	const q = back(t, res, r, what);

	t.eq(q.get('error'), error, `${what}: error`);
	t.eq(q.get('state'), r.state ?? null, `${what}: state`);
	t.eq(q.get('iss'), w.base, `${what}: iss`);
	t.eq(q.get('code'), null, `${what}: no code`);
}

// A page that tells the person, and no redirect.
function page(t, res, status, what)
{
	t.eq(res.status, status, `${what}: status`);
	t.eq(res.header('location'), undefined, `${what}: no redirect`);
	t.match(res.header('content-type') ?? '', /^text\/html/,
	    `${what}: a page`);
}

test('the metadata say what there is',
    proves('R-3.2-8', 'R-3.2-10', 'R-3.1-7', 'R-3.1-11', 'R-4.4-4', 'R-4.4-5'),
    async (t) => {
	const as = (await get(w.url(
	    '/.well-known/oauth-authorization-server'))).json;
	const { auth } = (await get(w.url('/.well-known/poppy.json'))).json;

	t.eq(as.authorization_endpoint, `${w.base}/poppy/oauth/authorize`,
	    'endpoint');
	t.eq([as.code_challenge_methods_supported,
		as.response_types_supported,
		as.authorization_response_iss_parameter_supported],
	[['S256'], ['code'], true], 'PKCE, code, iss');
	for (const g of ['authorization_code', 'refresh_token'])
		t.ok(as.grant_types_supported.includes(g), g);
	t.ok(ALL.split(' ').every((s) => as.scopes_supported.includes(s)),
	    'scopes', as.scopes_supported);
	t.eq(auth.direct.scopes, ALL.split(' '), 'scopes of the type');
	t.eq(auth.custom_scopes, { [OWN]: 'See your orders' },
	    'own scopes are described');
	t.ok(Object.keys(auth.custom_scopes).every((s) =>
	    !s.startsWith('poppy:')), 'none is the protocol\'s');
});

test('a sign-in from beginning to end',
    proves('R-4.5-1', 'R-4.5-7', 'R-4.5-8', 'R-4.5-15', 'R-4.4-10',
	'R-4.4-11', 'R-4.4-1', 'R-4.4-16'), async (t) => {
	const f = ada();
	const s = await f.agent.session(f.user);
	const other = await f.agent.session(f.user);
	const c = await f.code();

	t.eq(c.back.get('state'), c.state, 'state');
	t.eq(c.back.get('iss'), w.base, 'iss');
	t.eq([...c.back.keys()].sort(), ['code', 'iss', 'state'], 'no more');
	const res = await f.redeem(c, s.id);
	t.must(res.status === 200, 'redeemed', res.text);
	const { json } = res;
	t.match(json.access_token, /^pst_/, 'Session Token');
	t.match(json.refresh_token, /^pat_/, 'Account Token');
	t.eq([json.token_type, json.session_id, json.signed_in],
	    ['DPoP', s.id, true], 'the Session in use');
	t.eq(json.scope, `${READ} ${WRITE}`, 'scope');
	t.ok(json.expires_in > 0 && Number.isInteger(json.expires_in),
	    'expires_in');
	t.eq(json.refresh_token_expires_in, 2592000, 'of the Account Token');
	t.match(res.header('cache-control'), /no-store/, 'not stored');
	const now = f.session(res);
	t.eq([await f.reads(now), await f.writes(now)], ['200', '200'],
	    'account calls');
	t.eq(await f.outcome(now, '/api/whoami.php?own=1'),
	    '403 insufficient_scope', 'a scope it has not');
	t.eq([await f.reads(s), await f.reads(other)],
	    ['403 sign_in_required', '403 sign_in_required'],
	    'what was issued before is signed out');
	t.eq((await f.agent.call(s, 'GET', w.stock)).status, 200,
	    'and works as before');
	t.eq((await f.agent.session(f.user, { form: { session_id: other.id } }))
	    .res.json.signed_in, false, 'other Sessions unchanged');
});

test('PHP learns whose account it is, and nothing else of it',
    proves('R-6-13', 'R-4.4-3'), async (t) => {
	const f = ada();
	const s = await f.signedIn();
	const who = w.who(await f.agent.call(s, 'GET', w.whoami));

	t.eq(who.POPPY_SIGNED_IN, '1', 'signed in');
	t.eq(who.POPPY_SCOPE, `${READ} ${WRITE}`, 'scopes');
	t.ok(who.POPPY_ACCOUNT, 'account', who);
	t.ok(!JSON.stringify(who).includes('tidewell'), 'no address', who);
});

test('the customer grants less than was asked for',
    proves('R-4.4-12', 'R-4.5-6', 'R-4.4-7', 'R-4.4-2'), async (t) => {
	const f = ada();
	const s = await f.signedIn({ scope: ALL }, { scopes: [WRITE] });

	t.eq(s.res.json.scope, WRITE, 'scope');
	t.eq([await f.reads(s), await f.writes(s)],
	    ['403 insufficient_scope', '200'], 'a write does not read');
	const all = await f.signedIn({ scope: ALL });
	t.eq(all.res.json.scope.split(' ').sort(), ALL.split(' ').sort(),
	    'all of them');
});

test('declining, or granting nothing, is access_denied',
    proves('R-4.5-9', 'R-4.5-6', 'R-4.5-8'), async (t) => {
	const f = ada();

	for (const opts of [{ decline: true }, { scopes: [] }]) {
		const r = f.request(), p = f.person();
		const res = await p.decide(await p.consent(r.url), opts);

		failed(t, res, r, 'access_denied', JSON.stringify(opts));
	}
});

test('a bad client_id gives a page and no redirect', proves('R-4.5-4'),
    async (t) => {
	const f = ada();

	for (const client_id of [undefined, '', 'x', `${f.agent.id}x`,
		f.agent.id.replace('https', 'http'), `${f.agent.id}#a`,
		'javascript:alert(1)', `${w.docs.base}/none/agent.json`])
		page(t, await get(f.request({ client_id }).url), 400,
		    String(client_id));
	page(t, await get(f.request({}, [['client_id', f.agent.id]]).url), 400,
	    'two of them');
});

test('redirect_uri is compared byte by byte', proves('R-4.5-3'),
    async (t) => {
	const f = ada(), good = f.redirect, u = new URL(good);

	for (const redirect_uri of [undefined, '', `${good}/`, `${good}?`,
		`${good}#`, `${good}?a=b`, `${good}%20`, `${good}/../cb`,
		good.replace('/cb', '/./cb'), good.replace('/cb', '/CB'),
		good.replace('/cb', '/%63b'), good.replace('/cb', '//cb'),
		good.replace('/cb', '/..;/cb'), good.replace('https', 'http'),
		good.replace('https', 'HTTPS'),
		good.replace('localhost', 'LOCALHOST'),
		good.replace(u.host, `${u.host}.evil.example`),
		good.replace(u.host, `evil.example\\@${u.host}`),
		good.replace(u.host, `user@${u.host}`),
		good.replace(`:${u.port}`, ''),
		'https://evil.example/cb', '//evil.example/cb', '/cb',
		'javascript:alert(1)', 'data:text/html,x',
		'http://localhost:1/cb', 'http://127.0.0.1/cb', ` ${good}`,
		`${good}\n`, `${good} ${good}`])
		page(t, await get(f.request({ redirect_uri }).url), 400,
		    String(redirect_uri));
	page(t, await get(f.request({}, [['redirect_uri',
		'https://evil.example/']]).url), 400, 'two of them');
});

test('with several redirect_uris, each of them alone', proves('R-4.5-3'),
    async (t) => {
	const f = ada(), { agent } = f;
	const uris = ['/one', '/two?x=1&y=%2F'].map((p) =>
	    `${w.docs.base}/${agent.name}${p}`);

	agent.document.redirect_uris = uris;
	agent.publish();
	for (const redirect_uri of uris) {
		const r = f.request({ redirect_uri }), p = f.person();
		const res = await p.decide(await p.consent(r.url));

		t.ok(where(res).startsWith(redirect_uri +
		    (redirect_uri.includes('?') ? '&' : '?')),
		'appended to, never rewritten', where(res));
		const q = back(t, res, r, redirect_uri);
		const s = await agent.session(f.user);
		t.refused(await f.redeem({ ...r, code: q.get('code') }, s.id,
		    { redirect_uri: uris.find((x) => x !== redirect_uri) }),
		400, 'invalid_grant', 'the other one');
		t.eq((await f.redeem({ ...r, code: q.get('code') }, s.id))
		    .status, 200, 'the same');
	}
});

test('a request without PKCE S256 goes back as invalid_request',
    proves('R-4.5-2'), async (t) => {
	const f = ada();
	const challenge = b64u(sha256('x'));

	for (const over of [{ code_challenge: undefined },
		{ code_challenge_method: undefined },
		{ code_challenge_method: 'plain' },
		{ code_challenge_method: 's256' },
		{ code_challenge_method: '' }, { code_challenge: '' },
		{ code_challenge: challenge.slice(1) },
		{ code_challenge: `${challenge}A` },
		{ code_challenge: `${challenge}=` },
		{ code_challenge: `${challenge.slice(1)}+` },
		{ code_challenge: `${challenge.slice(0, -1)}B` },
		{ code_challenge: undefined, code_challenge_method: undefined },
		{ code_challenge: random(32), code_challenge_method: 'plain' }]) {
		const r = f.request(over);

		failed(t, await get(r.url), r, 'invalid_request',
		    JSON.stringify(over));
	}
});

test('a scope that is missing, unknown or not on offer',
    proves('R-4.5-10', 'R-4.4-8', 'R-4.4-9', 'R-4.4-6'), async (t) => {
	const f = ada();

	for (const scope of [undefined, '', ' ', 'none', `${READ} none`,
		'poppy:admin', 'POPPY:READ', 'poppy:read,poppy:write',
		`${READ}\t${WRITE}`, '"poppy:read"', 'openid']) {
		const r = f.request({ scope });

		failed(t, await (/\t/.test(scope) ? posted(r) : get(r.url)), r,
		    'invalid_scope', String(scope));
	}
});

test('other bad requests go back with state and iss',
    proves('R-4.5-8', 'R-4.5-2'), async (t) => {
	const f = ada();
	const bad = (error, over, extra) => [error, f.request(over, extra)];

	for (const [error, r] of [
		bad('unsupported_response_type', { response_type: 'token' }),
		bad('unsupported_response_type',
		    { response_type: 'code id_token' }),
		bad('invalid_request', { response_type: undefined }),
		bad('invalid_request', {}, [['scope', READ]]),
		bad('invalid_request', {}, [['response_type', 'code']]),
		bad('invalid_request', {}, [['code_challenge', 'x']]),
		bad('request_not_supported', { request: 'a.b.c' }),
		bad('request_uri_not_supported',
		    { request_uri: 'https://evil.example/r' }),
		bad('invalid_target', { resource: 'https://evil.example/' })])
		failed(t, await get(r.url), r, error, r.url.slice(-60));
	const twice = f.request({}, [['state', 'other']]);
	const q = back(t, await get(twice.url), twice, 'two states');
	t.eq([q.get('error'), q.get('iss')], ['invalid_request', w.base],
	    'two states');
});

test('state comes back byte by byte', proves('R-4.5-7'), async (t) => {
	const f = ada(), p = f.person();

	for (const state of [undefined, 'a b+c%20&d=e#f', 'äöü€😀', '"\'<>',
		'x'.repeat(1000), '%00', '../..', 'a\r\nLocation: x']) {
		const r = f.request({ state });
		const page = await p.login(await p.open(...byForm(r)));
		const res = await p.decide(page);
		const q = back(t, res, r, String(state).slice(0, 20));

		t.eq(q.get('state'), state ?? null, 'after yes');
		t.ok(q.get('code'), 'a code');
		const no = f.request({ state, scope: 'none' });
		failed(t, await posted(no), no, 'invalid_scope', 'after no');
	}
}, { timeout: 60000 });

test('the exchange needs client assertion, proof and Session',
    proves('R-4.5-11', 'R-4.5-12'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const c = await f.code();

	t.refused(await f.redeem(c, s.id, { client_assertion: undefined }), 401,
	    'invalid_client', 'no client assertion');
	t.challenged(await f.redeem(c, s.id, {}, { proof: null }), 400,
	    'invalid_dpop_proof', 'no proof');
	t.refused(await f.redeem(c, undefined), 400, 'invalid_request',
	    'no Session');
	for (const name of ['code', 'redirect_uri', 'code_verifier'])
		t.ok(['invalid_request', 'invalid_grant'].includes((await f
		    .redeem(c, s.id, { [name]: undefined })).json?.error),
		`no ${name}`);
	t.eq((await f.redeem(c, s.id)).status, 200, 'none of it cost the code');
});

test('a code is for one client, redirect_uri and verifier',
    proves('R-4.5-12', 'R-4.5-13'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const thief = ada(f.user);
	const theirs = await thief.agent.session(f.user);
	const c = await f.code();

	t.refused(await thief.redeem(c, theirs.id), 400, 'invalid_grant',
	    'another client');
	t.refused(await f.redeem(c, s.id, { redirect_uri: `${c.redirect}/` }),
	    400, 'invalid_grant', 'another redirect_uri');
	for (const code_verifier of [random(32), c.verifier.slice(1), 'x',
		c.verifier.toUpperCase()])
		t.ok(['invalid_grant', 'invalid_request'].includes((await f
		    .redeem(c, s.id, { code_verifier })).json?.error),
		`verifier ${code_verifier}`);
	for (const code of ['', 'x', `${c.code}x`, c.code.slice(1)])
		t.ok(['invalid_grant', 'invalid_request'].includes((await f
		    .redeem({ ...c, code }, s.id)).json?.error), `code ${code}`);
	t.refused(await f.redeem(c, theirs.id), 400, 'invalid_session',
	    'another client\'s Session');
	t.refused(await f.redeem(c, `ses_AA${random(16)}`), 400,
	    'invalid_session', 'no such Session');
	t.eq((await f.redeem(c, s.id)).status, 200,
	    'its own client still has it');
});

test('five wrong verifiers kill a code', proves('R-4.5-12'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const c = await f.code();

	for (let i = 0; i < 5; i++)
		t.refused(await f.redeem(c, s.id,
		    { code_verifier: random(32) }), 400, 'invalid_grant', i);
	t.refused(await f.redeem(c, s.id), 400, 'invalid_grant',
	    'the right one comes too late');
});

test('a wrong verifier\'s request can\'t be sent again to kill a code',
    proves('R-4.5-14'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const c = await f.code();
	const wrong = { code_verifier: random(32),
		client_assertion: f.agent.clientAssertion() };

	t.refused(await f.redeem(c, s.id, wrong), 400, 'invalid_grant', 'once');
	for (let i = 0; i < 6; i++)
		t.refused(await f.redeem(c, s.id, wrong), 401, 'invalid_client',
		    'replayed');
	t.eq((await f.redeem(c, s.id)).status, 200, 'the code lives');
});

test('used twice, a code takes back what it gave', proves('R-4.5-14'),
    async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const c = await f.code();
	const first = await f.redeem(c, s.id);

	t.eq(first.status, 200, 'once');
	t.refused(await f.redeem(c, s.id), 400, 'invalid_grant', 'twice');
	t.eq(await f.reads(f.session(first)), '403 sign_in_required',
	    'the Session Token');
	t.refused(await f.refresh(first.json.refresh_token), 400,
	    'invalid_grant', 'the Account Token');
	t.eq((await f.agent.session(f.user, { form: { session_id: s.id } })).id,
	    s.id, 'the Session goes on signed out');
});

test('too late, a code gives nothing', proves('R-4.5-14'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const c = await f.code();

	await w.sql('UPDATE poppy.code SET expires_at = ' +
	    'extract(epoch FROM now())::bigint - 1');
	t.refused(await f.redeem(c, s.id), 400, 'invalid_grant', 'expired');
});

test('of requests at one moment with one code, one succeeds at most',
    proves('R-4.5-14'), async (t) => {
	for (let i = 0; i < 5; i++) {
		const f = ada(), s = await f.agent.session(f.user);
		const c = await f.code();
		const all = await Promise.all(Array.from({ length: 4 }, () =>
		    f.redeem(c, s.id)));
		const good = all.filter((r) => r.status === 200);

		t.eq(good.length, 1, 'one reply');
		t.ok(all.every((r) => r.status === 200 ||
		    r.json?.error === 'invalid_grant'), 'else invalid_grant',
		all.map((r) => r.text));
		t.refused(await f.refresh(good[0]?.json?.refresh_token), 400,
		    'invalid_grant', 'and that is taken back');
	}
}, { timeout: 60000 });

test('one Session, one account', proves('R-4.5-16', 'R-4.4-15'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const other = jonas(f.user, f.agent);
	const c = await other.code();

	t.refused(await f.redeem(c, s.id), 400, 'account_mismatch', 'another');
	t.eq([await f.reads(s), (await f.refresh(s.pat)).status], ['200', 200],
	    'the Session is unchanged');
	const fresh = await f.agent.session(f.user);
	t.eq((await f.redeem(c, fresh.id)).status, 200,
	    'the code is good for a new Session');
	await f.revoke(s.pat);
	t.refused(await f.redeem(await other.code(), s.id), 400,
	    'account_mismatch', 'also after sign-out');
});

test('two accounts side by side', proves('R-4.4-17'), async (t) => {
	const f = ada(), other = jonas(f.user, f.agent);
	const one = await f.signedIn(), two = await other.signedIn();
	const account = async (s) => w.who(await f.agent.call(s, 'GET',
	    w.whoami))?.POPPY_ACCOUNT;

	t.eq([await f.reads(one), await f.reads(two)], ['200', '200'], 'both');
	const accounts = [await account(one), await account(two)];
	t.ok(accounts[0] && accounts[1] && accounts[0] !== accounts[1],
	    'two accounts', accounts);
	t.refused(await f.refresh(one.pat, { session_id: two.id }), 400,
	    'account_mismatch', 'crossed');
});

test('a session_id on the URL must be the one at the exchange',
    proves('R-4.5-13'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const other = await f.agent.session(f.user);
	const c = await f.code({ session_id: s.id });

	t.refused(await f.redeem(c, other.id), 400, 'invalid_session', 'other');
	t.eq((await f.redeem(c, s.id)).status, 200, 'the same');
});

test('tokens work on during a sign-in and after one that failed',
    proves('R-4.4-13'), async (t) => {
	const f = ada(), s = await f.signedIn();
	const p = f.person();
	const open = await p.consent(f.request().url);
	const works = async (what) => t.eq([await f.reads(s),
		(await f.refresh(s.pat)).status], ['200', 200], what);

	await works('during');
	await p.decide(open, { decline: true });
	await works('after no');
	await f.redeem(await f.code(), s.id, { code_verifier: random(32) });
	await works('after a wrong verifier');
});

test('an account that may not is told so, and no code is made',
    proves('A-24'), async (t) => {
	for (const account of w.customers().filter((c) =>
	    c.kind !== 'customer')) {
		const f = flows(w, account)();
		const p = f.person(), r = f.request();
		const res = await p.login(await p.open(r.url));

		t.ok(res.status === 403 || res.status === 200, account.kind,
		    res.status);
		t.ok(!Customer.consentForm(res), `${account.kind}: no consent`);
		t.ok(!where(res).includes('code='), `${account.kind}: no code`);
	}
});

test('blocked, an agent gets no consent page', proves('R-4.5-4'),
    async (t) => {
	const f = ada();

	await w.block(f.agent.id, true);
	const res = await f.person().open(f.request().url);
	t.eq(res.header('location'), undefined, 'no redirect');
	t.ok(res.status >= 400 && res.status < 500, 'a page', res.status);
	await w.block(f.agent.id, false);
});

test('an agent without a working document gets no redirect',
    proves('R-4.5-4'), async (t) => {
	const f = ada();

	w.docs.set(`/${f.agent.name}/agent.json`, '{');
	page(t, await get(f.request().url), 400, 'no JSON');
	const g = ada();
	g.agent.document.redirect_uris = ['https://evil.example/cb'];
	g.agent.publish();
	page(t, await get(g.request().url), 400, 'another host\'s redirect');
});

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		const people = w.customers();

		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
	},
	after: () => w?.close(),
});
