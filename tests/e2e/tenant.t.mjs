// One company over several names: issuers with a path, several domains, hosts
// with further names, documents hosted for domains elsewhere (sections 3, 3.2).
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { RESPONDER, Shot, environment, request } from './lib/fcgi.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

const PATH = '/.well-known/poppy.json';
const META = '/.well-known/oauth-authorization-server';
const TENANT = '/tenant/one';
let w, issuer;

const get = (path, host, opts = {}) => send(w.url(path, host),
    { ca: w.ca, ...opts });

function bend(c)
{
	c.issuer += TENANT;
	c.mounts = { oauth: `${TENANT}/oauth` };
	c.hosts.push(
	    // another name for the issuer's host, as behind a front proxy
	    { host: 'inner.localhost', base: c.hosts[0].base },
	    // nobody comes here by this name: its own server redirects
	    { host: 'brand.example', base: 'https://brand.example',
		domain: 'brand.example' });
}

test('the metadata of an issuer with a path: at both forms, the same bytes',
    proves('R-3.2-1', 'R-3.2-2', 'R-3.2-3'), async (t) => {
	const inserted = await get(META + TENANT);
	const appended = await get(TENANT + META);

	for (const [what, res] of [['inserted', inserted],
		['appended', appended]]) {
		t.eq(res.status, 200, what);
		t.eq(res.json?.issuer, issuer, `${what}: issuer`);
		t.eq(res.header('cache-control'), 'public, max-age=300',
		    `${what}: caching`);
		t.eq(res.header('access-control-allow-origin'), '*',
		    `${what}: CORS`);
	}
	t.eq(appended.text, inserted.text, 'bytes');
	t.eq(appended.header('etag'), inserted.header('etag'), 'ETag');
	t.eq((await get(TENANT + META, 'localhost', { headers: [
		['If-None-Match', inserted.header('etag')]] })).status, 304,
	'not modified');
});

test('no other place of any host shows the issuer',
    proves('R-3.2-2', 'R-3.2-3'), async (t) => {
	for (const p of [META, `${META}/`, `${META}/tenant`, `${META}/one`,
		`${META}${TENANT}/`, `${META}${TENANT}/x`, `${META}/TENANT/one`,
		`${META}/tenant%2Fone`, `/tenant${META}`, `/one${META}`,
		`/x${TENANT}${META}`, `${TENANT}/x${META}`, `//${META}`,
		`/tenant/other${META}`, `${TENANT}${META}/x`]) {
		const res = await send(w.url('/'), { ca: w.ca, target: p });

		t.ok([400, 404].includes(res.status), p, res.status);
		t.unlike(res.text, /token_endpoint/, p);
	}
	for (const host of ['shop2.localhost', 'api.localhost',
		'www.localhost'])
		for (const p of [META + TENANT, TENANT + META])
			t.eq((await get(p, host)).status, 404, `${host}${p}`);
});

test('every document names the issuer by the same bytes',
    proves('R-3.1-6', 'R-3.2-3', 'R-3.2-4', 'R-3.2-5'), async (t) => {
	const meta = (await get(META + TENANT)).json;

	t.eq(meta.poppy_domains, ['localhost', 'shop2.localhost',
		'brand.example'], 'poppy_domains');
	for (const [host, domain] of [['localhost', 'localhost'],
		['www.localhost', 'localhost'],
		['shop2.localhost', 'shop2.localhost']]) {
		const { json } = await get(PATH, host);

		t.eq(json?.auth?.issuer, issuer, host);
		t.eq(json?.organization?.domain, domain, `${host}: domain`);
	}
});

test('a domain of another server: hosted here, named as it is',
    proves('R-3-2', 'R-3-4', 'R-3.1-4'), async (t) => {
	for (const host of ['localhost', 'api.localhost', 'shop2.localhost'])
		for (const domain of ['brand.example', 'www.brand.example',
			'BRAND.example', 'brand.example.']) {
			const res = await get(`${PATH}?domain=${domain}`, host);

			t.eq(res.status, 200, `${host}: ${domain}`);
			t.eq(res.json?.organization?.domain, 'brand.example',
			    `${host}: ${domain}`);
			t.eq(res.json?.auth?.issuer, issuer, 'the one issuer');
		}
	for (const domain of ['brand.example.evil', 'x.brand.example',
		'brandexample', 'example'])
		t.eq((await get(`${PATH}?domain=${domain}`)).status, 404,
		    domain);
});

test('another name for a host is that host', proves('R-3.2-2'),
    async (t) => {
	for (const p of [META + TENANT, TENANT + META]) {
		const res = await get(p, 'inner.localhost');

		t.eq(res.status, 200, p);
		t.eq(res.json?.issuer, issuer, 'names what is public');
		t.unlike(res.text, /inner/, 'and not the other name');
	}
	t.eq((await get(PATH, 'inner.localhost')).status, 404,
	    'it has no domain');
});

// The shipped include knows the OAuth endpoints where they are by default, so a
// token request goes to the program itself.
async function ask(a, user, aud)
{
	const url = w.tokenEndpoint;
	const body = new URLSearchParams(a.form(user, { client_assertion:
		a.clientAssertion({ aud }) })).toString();
	const shot = await Shot.open(`${w.dir}/run/auth-1.sock`);

	return shot.fire(request(RESPONDER, environment('POST', url, [
		['DPoP', user.proof('POST', url)],
		['Content-Type', 'application/x-www-form-urlencoded']],
	body), body));
}

test('endpoints below the issuer\'s path: a Session and a call',
    proves('R-3.2-6', 'R-4.2-1', 'R-4.2-4'), async (t) => {
	const { token_endpoint: at } = (await get(META + TENANT)).json;

	t.eq(at, `${issuer}/oauth/token`, 'token_endpoint');
	w.tokenEndpoint = at;
	const a = new Agent(w), user = new User();
	for (const aud of [at, issuer]) {
		const res = await ask(a, user, aud);

		t.eq(res.status, 200, `aud ${aud}: ${res.text}`);
		const s = { user, token: res.json?.access_token };
		for (const host of ['localhost', 'shop2.localhost'])
			t.eq((await a.call(s, 'GET', w.url(
			    '/api/whoami.php', host))).status, 200, host);
	}
	for (const aud of [w.base, `${w.base}/tenant`, `${issuer}/`,
		`${w.base}/poppy/oauth/token`, `${issuer}/oauth`])
		t.eq((await ask(a, user, aud)).json?.error, 'invalid_client',
		    aud);
});

await run({
	before: async () => {
		w = await World.up({ bend,
			args: ['--host', 'inner.localhost'] });
		issuer = w.base + TENANT;
	},
	after: () => w?.close(),
});
