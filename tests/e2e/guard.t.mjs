// The guard before the shop's own API: tokens, challenges, what PHP gets to
// know, and what nobody may pretend (sections 4.3 and 6).
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

let w, agent, s;

test('a signed-out token and a proof reach the shop\'s API, without cookies',
    proves('R-6-4', 'R-4.3-1', 'R-4.3-26'), async (t) => {
	const res = await agent.call(s, 'GET', w.stock);

	t.eq(res.status, 200, 'status');
	t.must(res.json, 'JSON of the shop', res.text);
	t.ok(JSON.stringify(res.json).includes(w.sku), 'the article', res.json);
	t.eq(res.all('set-cookie').length, 0, 'no cookie');
});

test('HEAD goes by the rule of GET', proves('R-6-4'), async (t) => {
	t.eq((await agent.call(s, 'HEAD', w.stock)).status, 200, 'HEAD');
});

test('without a token: 401, a challenge with algs',
    proves('A-11', 'R-4.3-1', 'R-6-9', 'R-6-10'), async (t) => {
	const none = await agent.call(s, 'GET', w.stock, { authorization: null,
		proof: null });

	t.challenged(none, 401, 'invalid_token', 'nothing');
	t.challenged(await agent.call(s, 'GET', w.stock,
	    { authorization: null }), 401, 'invalid_token', 'a proof alone');
	const algs = /algs="([^"]*)"/.exec(none.header('www-authenticate'))?.[1];
	for (const alg of ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'])
		t.ok(algs?.split(' ').includes(alg), alg, algs);
});

test('without a proof', proves('A-11', 'R-4.3-1', 'R-6-9'), async (t) => {
	t.challenged(await agent.call(s, 'GET', w.stock, { proof: null }), 401,
	    'invalid_dpop_proof', 'token alone');
});

test('tokens that are none', proves('R-6-10', 'A-11'), async (t) => {
	const flip = s.token.slice(0, -3) + (s.token.at(-3) === 'A' ? 'E' : 'A') +
	    s.token.slice(-2);

	for (const [why, token] of [['unknown', flip], ['short', 'x'],
		['cut', s.token.slice(0, -1)], ['long', `${s.token}A`],
		['in upper case', s.token.toUpperCase()],
		['a JWT', agent.clientAssertion()], ['huge', 'A'.repeat(3000)],
		['quoted', `"${s.token}"`], ['of an odd alphabet', 'ä%00\'']])
		t.challenged(await agent.call(s, 'GET', w.stock, { token, proof:
			s.user.proof('GET', w.stockBare, { token }) }), 401,
		    'invalid_token', why);
});

test('Authorization headers out of shape', proves('R-6-10', 'R-4.3-1'),
    async (t) => {
	for (const authorization of ['DPoP', 'DPoP ', `DPoP${s.token}`, s.token,
		`DPoP ${s.token} ${s.token}`, `DPoP ${s.token}, DPoP ${s.token}`,
		'Basic YTpi', `DPoP token="${s.token}"`, `Token ${s.token}`]) {
		const res = await agent.call(s, 'GET', w.stock,
		    { authorization });

		t.eq(res.status, 401, `status for ${authorization.slice(0, 12)}`);
		t.match(res.header('www-authenticate') ?? '', /^DPoP .*error="/,
		    'challenge');
	}
});

test('two Authorization headers are refused', proves('R-4.3-1'),
    async (t) => {
	const other = await agent.session();

	for (const second of [`DPoP ${other.token}`, `DPoP ${s.token}`])
		t.ok([400, 401].includes((await agent.call(s, 'GET', w.stock,
		    { headers: [['Authorization', second]] })).status),
		    `second: ${second.slice(0, 8)}`);
});

test('the scheme in any case', proves('R-4.3-1'), async (t) => {
	for (const scheme of ['DPoP', 'dpop', 'DPOP', 'dPoP'])
		t.eq((await agent.call(s, 'GET', w.stock, { scheme })).status,
		    200, scheme);
});

test('a DPoP token under Bearer is refused',
    proves('R-4.3-20', 'R-6-4', 'A-11'), async (t) => {
	for (const scheme of ['Bearer', 'bearer'])
		for (const proof of [undefined, null])
			t.challenged(await agent.call(s, 'GET', w.stock,
			    { scheme, proof }), 401, 'invalid_token', scheme);
});

test('a token in the URL or in a body opens nothing',
    proves('R-4.3-27', 'A-11'), async (t) => {
	for (const q of [`access_token=${s.token}`, `token=${s.token}`,
		`dpop=${s.token}`, `authorization=DPoP%20${s.token}`])
		t.challenged(await agent.call(s, 'GET', `${w.stock}&${q}`,
		    { authorization: null }), 401, 'invalid_token', q);
	// lighttpd refuses a GET with a body by itself.
	t.ok([400, 401].includes((await agent.call(s, 'GET', w.stockBare, {
		authorization: null, body: `access_token=${s.token}`, headers: [
			['Content-Type', 'application/x-www-form-urlencoded']] }))
	    .status), 'in a body');
});

test('a valid token in the URL is refused even beside a good header',
    proves('R-4.3-27', 'A-11'), async (t) => {
	const res = await agent.call(s, 'GET',
	    `${w.stock}&access_token=${s.token}`);

	t.ok([400, 401].includes(res.status), 'status', res.status);
});

test('cookies change nothing', proves('R-4.3-26'), async (t) => {
	for (const c of ['PHPSESSID=abc', 'a=b; c=d', `__Host-poppy=${s.token}`,
		'=', ';;;', 'x'.repeat(2000)]) {
		t.eq((await agent.call(s, 'GET', w.stock,
		    { headers: [['Cookie', c]] })).status, 200,
		    `with token: ${c.slice(0, 20)}`);
		t.eq((await agent.call(s, 'GET', w.stock, { authorization: null,
			proof: null, headers: [['Cookie', c]] })).status, 401,
		    `without: ${c.slice(0, 20)}`);
	}
});

test('what needs an account is sign_in_required for a signed-out token',
    proves('R-6-11', 'R-6-9'), async (t) => {
	const res = await agent.call(s, 'GET', w.url('/api/reserved.php'));

	t.challenged(res, 403, 'sign_in_required', 'signed out');
	t.match(res.header('www-authenticate'), /scope="poppy:read"/,
	    'names the scope');
	t.eq((await agent.call(s, 'GET', w.url('/api/reserved.php'),
	    { authorization: null, proof: null })).status, 401, 'no token');
});

test('signed in without the scope: insufficient_scope names it',
    proves('R-6-12', 'R-6-9'), async (t) => {
	const mine = await agent.session();

	await w.signIn(mine, ['poppy:write']);
	const res = await agent.call(mine, 'GET', w.url('/api/reserved.php'));
	t.challenged(res, 403, 'insufficient_scope', 'other scope');
	t.match(res.header('www-authenticate'), /scope="poppy:read"/,
	    'names the scope');
	const good = await agent.session();
	await w.signIn(good, ['poppy:read']);
	t.eq((await agent.call(good, 'GET', w.url(
	    `/api/reserved.php?sku=${w.sku}`))).status, 200, 'with the scope');
});

test('inside the prefix, what no rule names is 404', proves('R-6-4'),
    async (t) => {
	for (const p of ['/api/', '/api/none', '/api/stock.phpx',
		'/api/stock.php/', '/api/stock.php/extra', '/api/Stock.php',
		'/api/stock.php;x=1', '/api/index.php'])
		for (const who of [{}, { authorization: null, proof: null }])
			t.eq((await agent.call(s, 'GET', w.url(p), who)).status,
			    404, p);
});

test('a method that no rule names is refused', proves('R-6-4'),
    async (t) => {
	for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS',
		'PROPFIND']) {
		const res = await agent.call(s, method, w.stock, { body: '' });

		t.ok([404, 405, 501].includes(res.status), method, res.status);
		t.ok(!res.text.includes(w.sku), `${method} does not reach PHP`);
	}
});

// Each of these would be another file to a careless reader.
const ODD = ['/api/%73tock.php', '/api/stock%2Ephp', '/api//stock.php',
	'//api/stock.php', '/api/./stock.php', '/api/x/../stock.php',
	'/x/../api/stock.php', '/api/%2e%2e/api/stock.php', '/api%2Fstock.php',
	'/api/stock.php%00', '/api/stock.php%00.html', '/api\\stock.php',
	'/api/%5Cstock.php', '/api/..;/api/stock.php', '/%61pi/stock.php',
	'/api/stock.php%20', '/api/stock.php.', '/api/stock.php%2F',
	'/api/reserved.php%3F', '/API/stock.php', '/api/stock.php#x',
	'/api/%', '/api/%zz', '/api/%c0%ae%c0%ae/stock.php'];

test('odd spellings of a guarded path reach nothing without a token',
    proves('R-4.3-1'), async (t) => {
	for (const base of ODD)
		for (const p of [base, base.replace('stock', 'reserved')]) {
			const res = await send(w.url('/'), { ca: w.ca,
				target: `${p}?sku=${w.sku}`, fresh: true });

			t.ok(res.status >= 400 && res.status < 500, `status: ${p}`,
			    res.status);
			t.ok(!/"stock"|"quantity"|reserved"/.test(res.text) &&
			    !res.text.includes('<?php'), `content: ${p}`);
		}
}, { timeout: 60000 });

test('odd spellings are refused with a token too, never served as another',
    proves('R-4.3-6'), async (t) => {
	for (const p of ODD.filter((x) => !x.includes('#'))) {
		const url = w.url('/') .slice(0, -1) + p;
		const res = await agent.call(s, 'GET', url, {
			target: `${p}?sku=${w.sku}` });

		t.ok(res.status >= 400 && res.status < 500, p, res.status);
	}
}, { timeout: 60000 });

test('PHP learns who asks, from the guard alone', proves('R-6-13', 'R-4.3-26'),
    async (t) => {
	const res = await agent.call(s, 'GET', w.whoami);
	const got = t.must(w.who(res), 'POPPY_ variables', res.text);

	t.eq(got.POPPY_SIGNED_IN, '0', 'signed in');
	t.eq(decodeURIComponent(got.POPPY_CLIENT_ID ?? ''), agent.id, 'client');
	t.eq(got.POPPY_SESSION, s.id, 'Session');
	t.ok((got.POPPY_USER ?? '').length > 10, 'User', got);
	t.ok(!JSON.stringify(got).includes(s.user.sub), 'not the User ID');
	t.ok(!JSON.stringify(res.json).includes(s.user.sub),
	    'not the User ID anywhere');
	for (const [k, v] of Object.entries(got))
		t.match(`${k}=${v}`, /^[A-Z_]+=[\x21-\x7e ]*$/, 'alphabet');
});

test('the same User is the same to PHP, another is another',
    proves('R-4.2-25', 'R-6-13'), async (t) => {
	const again = await agent.session(s.user), other = await agent.session();
	const twin = new User(), foreign = new Agent(w);
	const user = async (a, x) =>
	    w.who(await a.call(x, 'GET', w.whoami))?.POPPY_USER;

	twin.sub = s.user.sub;
	const mine = await user(agent, s);
	t.eq(await user(agent, again), mine, 'another Session');
	t.ok(await user(agent, other) !== mine, 'another User');
	t.ok(await user(foreign, await foreign.session(twin)) !== mine,
	    'the same sub at another agent');
});

// Names that a client may try to plant.
const SPOOF = ['POPPY_USER', 'Poppy-User', 'POPPY-USER', 'HTTP_POPPY_USER',
	'Variable-POPPY_USER', 'Variable-Poppy-User', 'POPPY_SIGNED_IN',
	'Poppy-Signed-In', 'REMOTE_USER', 'Remote-User', 'AUTH_TYPE',
	'POPPY_SCOPE', 'Poppy-Account', 'POPPY_GATE', 'Redirect-POPPY_USER'];

test('what a client sends under our names never gets through',
    proves('R-6-13'), async (t) => {
	const headers = SPOOF.map((n) => [n, 'planted']);
	const clean = w.who(await agent.call(s, 'GET', w.whoami));
	const res = await agent.call(s, 'GET', w.whoami, { headers });

	t.eq(res.status, 200, 'status');
	t.eq(w.who(res), clean, 'the same variables');
});

test('nor on pages that the guard does not ask about', proves('R-6-13'),
    async (t) => {
	for (const p of ['/', '/api/openapi.json', '/style.css']) {
		const res = await send(w.url(p), { ca: w.ca,
			headers: SPOOF.map((n) => [n, 'planted']) });

		t.ok(!res.text.includes('planted'), p);
	}
});

test('underscored doubles of the headers that matter cannot win',
    proves('R-4.3-11'), async (t) => {
	const other = await agent.session();

	t.ok([200, 400].includes((await agent.call(s, 'GET', w.whoami, {
		headers: [['X_Forwarded_For', '1.2.3.4']] })).status),
	    'of no weight');
	// The server may drop them; then nothing is there.
	t.ok([400, 401].includes((await agent.call(s, 'GET', w.whoami, {
		authorization: null, proof: null, headers: [
			['HTTP_AUTHORIZATION', `DPoP ${s.token}`],
			['D_PoP', s.user.proof('GET', w.whoami,
			    { token: s.token })]] })).status), 'alone');
	const res = await agent.call(s, 'GET', w.whoami, { headers: [
		['DPoP_', 'x'], ['Authorization_', `DPoP ${other.token}`]] });
	t.ok([200, 400, 401].includes(res.status), 'beside', res.status);
	if (res.status === 200)
		t.eq(w.who(res)?.POPPY_SESSION, s.id, 'the real one');
});

test('the guard is not asked before /poppy/ and /.well-known/',
    proves('R-3-6'), async (t) => {
	for (const p of ['/.well-known/poppy.json',
		'/.well-known/oauth-authorization-server'])
		t.eq((await agent.call(s, 'GET', w.url(p), {
			authorization: 'DPoP garbage', proof: 'garbage' }))
		    .status, 200, p);
});

test('a visitor\'s pages need nothing of ours', [],
    async (t) => {
	for (const p of ['/', '/index.php'])
		t.eq((await send(w.url(p), { ca: w.ca })).status, 200, p);
	t.eq((await send(w.url('/api/openapi.json'), { ca: w.ca })).status, 200,
	    'an open rule');
});

test('a challenge names no secret', proves('R-6-9'), async (t) => {
	const mark = `mark${random()}`;
	const res = await agent.call(s, 'GET', w.stock, { token: mark,
		proof: `${mark}.${mark}.${mark}` });

	t.eq(res.status, 401, 'status');
	t.ok(!res.text.includes(mark), 'body');
	t.ok(!JSON.stringify(res.headers).includes(mark), 'headers');
});

test('each accepted call is known by client and User', proves('R-6-13'),
    async (t) => {
	const log = await w.logOf('guard', (l) => l.event === 'request' &&
	    l.status === 200 && JSON.stringify(l).includes(agent.id));

	t.ok(log, 'a log line names the client');
	t.ok(log && Object.keys(log).some((k) => /user/.test(k)),
	    'and the User', log);
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
