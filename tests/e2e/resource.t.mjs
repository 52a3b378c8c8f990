// Tokens for one service, and services that want such tokens (sections 3.1 and
// 4.3; RFC 8707), on a stack that has some.
import { copyFileSync, mkdirSync } from 'node:fs';
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

let w, agent, plain, own, two;
const at = (name) => ({ resource: w.url(`/${name}`, 'api.localhost') });
const url = (name) => w.url(`/api/${name}/whoami.php`);

// Two services with a resource each beside the plain one.
function bend(c)
{
	const base = c.issuer, api = c.hosts.find((h) =>
	    h.host === 'api.localhost').base;

	for (const name of ['own', 'two']) {
		c.apis.push({ type: 'openapi', description: name,
			url: `${base}/api/${name}/openapi.json`,
			resource: `${api}/${name}` });
		c.guard.push({ prefix: `/api/${name}/`,
			api: `${base}/api/${name}/openapi.json`,
			rules: [{ path: `/api/${name}/whoami.php` },
				{ path: `/api/${name}/reserved.php`,
					scopes: ['poppy:read'] }] });
	}
}

test('poppy.json says which entries want tokens of their own',
    proves('R-3.1-16', 'R-6-1'), async (t) => {
	const { json } = await send(w.url('/.well-known/poppy.json'),
	    { ca: w.ca });

	t.eq(json.apis.map((a) => [a.type, a.resource]), [
		['openapi', undefined],
		['openapi', at('own').resource],
		['openapi', at('two').resource]], 'resources');
});

test('a token for one service is a DPoP token as any other',
    proves('R-4.3-23', 'R-4.3-25', 'R-3.1-16'), async (t) => {
	const { json } = own.res;

	t.eq(json.token_type, 'DPoP', 'type');
	t.eq([json.scope, json.signed_in], ['', false], 'signed out');
	t.match(json.session_id, /^ses_/, 'Session');
	const res = await agent.call(own, 'GET', url('own'));
	t.eq(res.status, 200, 'at its service');
	t.eq(w.who(res)?.POPPY_VIA, 'proof', 'by proof');
	t.eq((await agent.call(two, 'GET', url('two'))).status, 200,
	    'the other at the other');
});

test('it is refused at all other services', proves('R-4.3-25', 'R-6-10'),
    async (t) => {
	for (const [s, what] of [[own, 'own'], [two, 'two']])
		for (const u of [w.whoami, w.stock, url('own'), url('two')])
			if (!u.includes(`/${what}/`))
				t.challenged(await agent.call(s, 'GET', u), 401,
				    'invalid_token', `${what} at ${u}`);
});

test('a plain token is refused at a service with a resource',
    proves('R-4.3-25', 'R-3.1-16'), async (t) => {
	for (const name of ['own', 'two'])
		t.challenged(await agent.call(plain, 'GET', url(name)), 401,
		    'invalid_token', name);
	t.eq((await agent.call(plain, 'GET', w.whoami)).status, 200,
	    'and good everywhere else');
});

test('one plain token works at all services without a resource',
    proves('R-4.3-24'), async (t) => {
	for (const u of [w.stock, w.whoami, w.url('/api/stock.php?sku=' + w.sku,
	    'shop2.localhost'), w.url('/api/whoami.php', 'api.localhost')])
		t.eq((await agent.call(plain, 'GET', u)).status, 200, u);
});

test('a Session holds tokens for several services and a plain one',
    proves('R-4.3-23', 'R-4.3-24'), async (t) => {
	const one = await agent.session(plain.user, { form: {
		session_id: plain.id, ...at('own') } });

	t.eq(one.id, plain.id, 'the same Session');
	t.eq((await agent.call(one, 'GET', url('own'))).status, 200, 'its own');
	t.eq((await agent.call(plain, 'GET', w.whoami)).status, 200, 'plain');
	t.eq(w.who(await agent.call(one, 'GET', url('own')))?.POPPY_SESSION,
	    plain.id, 'as PHP sees it');
});

test('a renewal without resource gives a plain token',
    proves('R-4.3-24', 'R-4.3-25'), async (t) => {
	const again = await agent.session(own.user,
	    { form: { session_id: own.id } });

	t.eq((await agent.call(again, 'GET', w.whoami)).status, 200, 'plain');
	t.challenged(await agent.call(again, 'GET', url('own')), 401,
	    'invalid_token', 'not for the service');
});

test('a resource that is none of the listed: invalid_target, and no token',
    proves('R-4.3-23', 'R-4.3-16'), async (t) => {
	const good = at('own').resource;
	const before = await w.countSessions();

	for (const resource of ['', 'x', `${good}/`, `${good}?`, `${good}#x`,
		`${good}x`, good.slice(0, -1), good.toUpperCase(),
		good.replace('https', 'HTTPS'), good.replace('api.', 'API.'),
		good.replace('https', 'http'), good.replace('/own', '/./own'),
		good.replace('/own', '/%6Fwn'), ` ${good}`, `${good} `,
		`${good} ${at('two').resource}`, w.base, `${w.base}/own`,
		w.openapi, w.url('/api/own/openapi.json'), w.stockBare,
		'https://other.example/own', 'x'.repeat(3000)])
		for (const proof of [undefined, null])
			t.refused(await agent.token(new User(),
			    { form: { resource }, proof }), 400,
			'invalid_target', resource.slice(0, 60));
	t.eq(await w.countSessions(), before, 'no Session');
}, { timeout: 60000 });

test('two of them are invalid_target, whichever', proves('R-4.3-23'),
    async (t) => {
	const a = ['resource', at('own').resource];

	for (const b of [a, ['resource', at('two').resource],
		['resource', ''], ['resource', 'https://other.example/']])
		for (const pair of [[a, b], [b, a]])
			t.refused(await agent.token(plain.user, { form: [
				...agent.form(plain.user), ...pair] }), 400,
			'invalid_target', pair.map((p) => p[1]).join(' and '));
});

test('an unknown target burns nothing', proves('R-4.3-23', 'R-4.2-6'),
    async (t) => {
	const user = new User();
	const form = { assertion: agent.sessionAssertion(user),
		client_assertion: agent.clientAssertion() };
	const proof = user.proof('POST', w.tokenEndpoint);

	t.refused(await agent.token(user, { form: { ...form,
		resource: 'https://other.example/' }, proof }), 400,
	    'invalid_target', 'unknown');
	t.eq((await agent.token(user, { form: { ...form, ...at('own') },
		proof })).status, 200, 'the same ones for a listed one');
});

test('a service that is no MCP server wants a proof',
    proves('R-4.3-16', 'R-4.3-20'), async (t) => {
	t.challenged(await agent.token(new User(), { form: at('own'),
		proof: null }), 400, 'invalid_dpop_proof', 'token request');
	for (const scheme of ['Bearer', 'bearer'])
		for (const proof of [undefined, null])
			t.challenged(await agent.call(own, 'GET', url('own'),
			    { scheme, proof }), 401, 'invalid_token', scheme);
	t.challenged(await agent.call(own, 'GET', url('own'),
	    { proof: null }), 401, 'invalid_dpop_proof', 'no proof');
	const other = new User();
	t.challenged(await agent.call(own, 'GET', url('own'), { proof:
		other.proof('GET', url('own'), { token: own.token }) }), 401,
	    'invalid_dpop_proof', 'another key');
});

test('its errors are those of any API', proves('R-6-9', 'R-6-11', 'R-6-12'),
    async (t) => {
	const reserved = url('own').replace('whoami', 'reserved');
	const mine = await agent.session(new User(), { form: at('own') });

	t.challenged(await agent.call(mine, 'GET', reserved), 403,
	    'sign_in_required', 'signed out');
	await w.signIn(mine, ['poppy:write']);
	const res = await agent.call(mine, 'GET', reserved);
	t.challenged(res, 403, 'insufficient_scope', 'another scope');
	t.match(res.header('www-authenticate'), /scope="poppy:read"/,
	    'names it');
	// What it may do elsewhere does not count first.
	await w.signIn(plain, ['poppy:read']);
	t.challenged(await agent.call(plain, 'GET', reserved), 401,
	    'invalid_token', 'signed in, for no resource');
});

test('scope: none or empty is fine, any other is more than a signed-out ' +
    'Session has', proves('R-4.3-22'), async (t) => {
	for (const scope of [undefined, '']) {
		const res = await agent.token(new User(), { form: { scope,
			...at('own') } });

		t.eq(res.status, 200, `scope ${scope}`);
		t.eq(res.json.scope, '', 'none');
	}
	for (const scope of ['poppy:read', 'poppy:read poppy:write', 'orders',
		' ', 'a b', '"', 'openid', 'POPPY:READ'])
		for (const form of [{ scope }, { scope, ...at('own') }])
			t.refused(await agent.token(new User(), { form }), 400,
			    'invalid_scope', scope);
	t.refused(await agent.token(new User(), { body: encode([
		...agent.form(new User()), ['scope', ''], ['scope', '']]) }),
	400, 'invalid_request', 'twice');
});

test('resource on the revocation endpoint changes nothing',
    proves('R-4.3-23'), async (t) => {
	const mine = await agent.session(new User(), { form: at('own') });
	const res = await send(w.url('/poppy/oauth/revoke'), { ca: w.ca,
		method: 'POST', headers: [['Content-Type',
			'application/x-www-form-urlencoded']],
		body: encode([['token', mine.token], ['client_id', agent.id],
			['resource', at('two').resource],
			['client_assertion_type', agent.form(mine.user)[3][1]],
			['client_assertion', agent.clientAssertion({ aud:
				w.url('/poppy/oauth/revoke') })]]) });

	t.eq(res.status, 200, 'revoked');
	t.challenged(await agent.call(mine, 'GET', url('own')), 401,
	    'invalid_token', 'and gone');
});

await run({
	before: async () => {
		w = await World.up({ bend });
		const pub = `${w.dir}/shop/public/api`;
		for (const name of ['own', 'two']) {
			mkdirSync(`${pub}/${name}`, { mode: 0o755 });
			copyFileSync(`${pub}/whoami.php`,
			    `${pub}/${name}/whoami.php`);
		}
		agent = new Agent(w);
		plain = await agent.session();
		own = await agent.session(new User(), { form: at('own') });
		two = await agent.session(new User(), { form: at('two') });
	},
	after: () => w?.close(),
});
