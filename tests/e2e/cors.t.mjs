// CORS: whose scripts may use the OAuth endpoints. Its own stack.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

const ORIGIN = 'https://agent.example', OTHER = 'https://agent.example:8443';
let w, agent;

const oauth = (end) => w.url(`/poppy/oauth/${end}`);

function post(end, origin, body, headers = [],
	type = 'application/x-www-form-urlencoded')
{
	return send(oauth(end), { ca: w.ca, method: 'POST', body, headers: [
		...origin === null ? [] : [['Origin', origin]],
		['Content-Type', type], ...headers] });
}

function preflight(url, origin)
{
	return send(url, { ca: w.ca, method: 'OPTIONS', headers: [
		['Origin', origin], ['Access-Control-Request-Method', 'POST'],
		['Access-Control-Request-Headers', 'content-type,dpop']] });
}

// All names of a list header, over all its lines.
const names = (res, header) => res.all(header).join(',').toLowerCase()
    .split(',').map((s) => s.trim());

function shown(t, res, what)
{
	t.eq(res.all('access-control-allow-origin'), [ORIGIN], what);
	t.eq(res.header('access-control-allow-credentials'), undefined,
	    `${what}: no cookies`);
	t.ok(names(res, 'vary').includes('origin'), `${what}: Vary`,
	    res.all('vary'));
	for (const h of ['dpop-nonce', 'www-authenticate', 'retry-after'])
		t.ok(names(res, 'access-control-expose-headers').includes(h),
		    `${what}: ${h}`);
}

function hidden(t, res, what)
{
	for (const h of ['origin', 'methods', 'headers', 'credentials'])
		t.eq(res.header(`access-control-allow-${h}`), undefined,
		    `${what}: allow-${h}`);
}

test('a listed origin sees a Session start and every refusal',
    proves('R-4.2-1', 'R-4.3-28'), async (t) => {
	const user = new User(), form = encode(agent.form(user));
	const proof = ['DPoP', user.proof('POST', w.tokenEndpoint)];
	const ok = await post('token', ORIGIN, form, [proof]);

	t.eq(ok.status, 200, 'start');
	shown(t, ok, 'start');
	const again = await post('token', ORIGIN, form, [proof]);
	t.refused(again, 400, 'invalid_dpop_proof', 'a replay');
	shown(t, again, 'a replay');
	for (const [what, end, body, type] of [
		['no form', 'token', ''], ['a bad form', 'token', 'a=%zz'],
		['no proof', 'token', form],
		['another type', 'token', '{}', 'application/json'],
		['revoke', 'revoke', ''], ['no endpoint', 'none', '']]) {
		const res = await post(end, ORIGIN, body, [], type);

		t.ok(res.status >= 400, what, res.status);
		shown(t, res, what);
	}
});

test('preflights of a listed origin', proves('R-4.3-28'), async (t) => {
	for (const url of [oauth('token'), oauth('device'), oauth('revoke'),
		w.url('/poppy/sign-in'), w.url('/poppy/sign-in/x')]) {
		const res = await preflight(url, ORIGIN), end = url;

		t.eq(res.status, 204, `${end}: status`);
		t.eq(res.all('access-control-allow-origin'), [ORIGIN], 'origin');
		t.eq(names(res, 'access-control-allow-methods'), ['post'],
		    'methods');
		for (const h of ['dpop', 'content-type', 'authorization'])
			t.ok(names(res, 'access-control-allow-headers')
			    .includes(h), h);
		t.ok(Number(res.header('access-control-max-age')) > 0, 'max-age');
		t.ok(names(res, 'vary').includes('origin'), 'Vary');
		t.eq(res.header('access-control-allow-credentials'), undefined,
		    'no cookies');
	}
});

for (const origin of [OTHER, 'http://agent.example', 'https://AGENT.example',
	'https://agent.example/', 'https://agent.example.evil.example',
	'https://evil.example', 'null', '*', '',
	`${ORIGIN}, https://evil.example`, `${ORIGIN} https://evil.example`])
	test(`not shown to ${JSON.stringify(origin)}`, proves('R-4.3-28'),
	    async (t) => {
		const res = await post('token', origin, '');

		t.eq(res.status, 400, 'answered as ever');
		hidden(t, res, 'token');
		if (origin !== '')
			t.ok(names(res, 'vary').includes('origin'), 'Vary');
		hidden(t, await preflight(oauth('token'), origin), 'preflight');
	});

test('pages and guarded APIs are shown to none, discovery to all',
    proves('R-3-1'), async (t) => {
	for (const path of ['/poppy/oauth/authorize', '/poppy/login',
		'/poppy/agents', '/api/stock.php'])
		for (const res of [await preflight(w.url(path), ORIGIN),
			await send(w.url(path), { ca: w.ca,
				headers: [['Origin', ORIGIN]] })])
			hidden(t, res, path);
	for (const path of ['/.well-known/poppy.json',
		'/.well-known/oauth-authorization-server']) {
		const res = await send(w.url(path), { ca: w.ca,
			headers: [['Origin', 'https://evil.example']] });

		t.eq(res.all('access-control-allow-origin'), ['*'], path);
	}
});

test('without cors.origins nothing is shown', [], async (t) => {
	w.restart(() => {});
	for (const res of [await post('token', ORIGIN, ''),
		await preflight(oauth('token'), ORIGIN)]) {
		hidden(t, res, 'token');
		t.eq(res.header('vary'), undefined, 'no Vary');
	}
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			c.cors = { origins: ['https://one.example', ORIGIN] };
			c.sign_in = { ...c.sign_in, mediated: ['poppy:read'] };
		} });
		agent = new Agent(w);
	},
	after: () => w?.close(),
});
