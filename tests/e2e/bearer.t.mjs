// Bearer tokens for MCP servers (sections 4.3 and 6; RFC 6750, 9728): three of
// them behind the guard, two under one path on two hosts, two on one host.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { proves, run, test, until } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const ARGS = ['--guarded', '/mcp', '--host', 'mcp.localhost', '--host',
	'also-mcp.localhost'];
let w, agent, dpop, bearer, MCP, TWIN, NEXT;
const all = () => [MCP, TWIN, NEXT];

function bend(c)
{
	const at = (name) => c.issuer.replace('localhost', name);
	const rules = (path) => [{ path, methods: ['POST', 'GET'] }];

	c.hosts.push({ host: 'mcp.localhost', base: at('mcp.localhost') },
	    { host: 'also-mcp.localhost', base: at('mcp.localhost') });
	for (const [url, more] of [
		[`${at('mcp.localhost')}/mcp.php`, {}],
		[`${at('api.localhost')}/mcp.php`, {}],
		[`${at('mcp.localhost')}/mcp-next.php`,
			{ scopes: ['poppy:write', 'orders'] }]]) {
		c.apis.push({ type: 'mcp', url, description: `MCP ${url}` });
		c.guard.push({ prefix: new URL(url).pathname, api: url,
			rules: rules(new URL(url).pathname).map((r) =>
			    ({ ...r, ...more })) });
	}
}

// What stack up copies anew goes beside the shop's own pages.
function install()
{
	const file = fileURLToPath(new URL('./lib/mcp.php', import.meta.url));

	for (const name of ['mcp.php', 'mcp-next.php'])
		copyFileSync(file, `${w.dir}/shop/public/${name}`);
}

const get = (url, opts = {}) => send(url, { ca: w.ca, ...opts });
const ask = (resource, form = {}, user = new User()) => agent.token(user,
    { form: { resource, ...form }, proof: null });

const agentForm = (user) => ({ assertion: agent.sessionAssertion(user),
	client_assertion: agent.clientAssertion() });

async function session(resource, form, user = new User())
{
	return agent.session(user, { form: { resource, ...form },
		proof: null });
}

// A JSON-RPC request to an MCP server.
const rpc = (s, url, method, params = {}, opts = {}) => agent.call(s, 'POST',
    url, { scheme: 'Bearer', proof: null, body: JSON.stringify({
	    jsonrpc: '2.0', id: 1, method, params }), ...opts, headers: [
	    ['Content-Type', 'application/json'],
	    ['Accept', 'application/json, text/event-stream'],
	    ['MCP-Protocol-Version', '2025-06-18'], ...opts.headers ?? []] });
const tool = (s, url, name, opts) => rpc(s, url, 'tools/call', { name }, opts);
const metadataOf = (url) => new URL(url).origin + WELL_KNOWN +
    new URL(url).pathname;

// A Bearer challenge that leads to the metadata of this server.
function challenged(t, res, status, error, url, what)
{
	t.challenged(res, status, error, what, 'Bearer');
	const h = res.all('www-authenticate');
	t.eq(h.length, 1, `${what}: one challenge`);
	t.ok(h[0]?.includes(`resource_metadata="${metadataOf(url)}"`),
	    `${what}: resource_metadata`, h);
	t.unlike(h[0], /algs=/, `${what}: no algs`);
}

test('a token request without a proof for an MCP url: a Bearer token',
    proves('R-4.3-15', 'R-4.2-11'), async (t) => {
	const res = await ask(MCP);

	t.eq(res.status, 200, 'status');
	t.eq(res.json.token_type, 'Bearer', 'type');
	t.ok(res.json.expires_in > 0, 'expires_in');
	t.eq([res.json.scope, res.json.signed_in], ['', false], 'signed out');
	t.match(res.json.session_id, /^ses_/, 'a new Session');
	t.match(res.header('cache-control'), /no-store/, 'not stored');
});

test('it renews a Session, and both kinds live side by side',
    proves('R-4.3-15', 'R-4.3-18'), async (t) => {
	const b = await session(MCP, { session_id: dpop.id }, dpop.user);

	t.eq(b.id, dpop.id, 'the same Session');
	for (let i = 0; i < 2; i++) {
		t.eq((await agent.call(dpop, 'GET', w.stock)).status, 200,
		    'DPoP');
		t.eq((await tool(b, MCP, 'whoami')).status, 200, 'Bearer');
	}
	const d = await agent.session(b.user, { form: { session_id: b.id } });
	t.eq(d.id, b.id, 'and back');
	t.eq((await tool(b, MCP, 'whoami')).status, 200,
	    'the Bearer token lives on');
	const begun = await session(MCP);
	t.eq((await agent.session(begun.user, { form: {
		session_id: begun.id } })).res.json.token_type, 'DPoP',
	'DPoP for a Session that began with Bearer');
});

test('the Session must be this client\'s and User\'s', proves('R-4.3-15'),
    async (t) => {
	t.refused(await ask(MCP, { session_id: dpop.id }), 400,
	    'invalid_session', 'another User');
	t.refused(await ask(MCP, { session_id: `ses_AA${random(16)}` }), 400,
	    'invalid_session', 'none');
});

test('a proof together with an MCP url is invalid_target',
    proves('R-4.3-15'), async (t) => {
	const user = new User();
	const good = user.proof('POST', w.tokenEndpoint);

	for (const proof of [good, 'x', [good, good]])
		t.refused(await agent.token(user, { form: { resource: MCP },
			proof }), 400, 'invalid_target',
		    String(proof).slice(0, 9));
});

test('without a proof, only an MCP url gives a token', proves('R-4.3-16'),
    async (t) => {
	const before = await w.countSessions();

	t.challenged(await ask(undefined), 400, 'invalid_dpop_proof', 'none');
	for (const resource of ['', `${MCP}/`, `${MCP}?`, `${MCP}#`, `${MCP}x`,
		MCP.slice(0, -1), MCP.toUpperCase(),
		MCP.replace('mcp.l', 'MCP.l'),
		MCP.replace('https', 'http'), new URL(MCP).origin,
		`${new URL(MCP).origin}/`, MCP.replace('//', '//also-'),
		MCP.replace('mcp.localhost', 'localhost'),
		metadataOf(MCP), w.openapi, w.stockBare, w.base,
		'https://other.example/mcp', ` ${MCP}`, `${MCP} ${NEXT}`])
		t.refused(await ask(resource), 400, 'invalid_target', resource);
	t.refused(await agent.token(dpop.user, { proof: null, form: [
		...agent.form(dpop.user), ['resource', MCP],
		['resource', NEXT]] }), 400, 'invalid_target', 'two of them');
	t.eq(await w.countSessions(), before, 'no Session');
});

test('the client must prove itself all the same, and nothing counts twice',
    proves('R-4.3-15', 'R-4.1-8', 'R-4.2-6'), async (t) => {
	const user = new User();
	const form = agentForm(user);

	t.refused(await ask(MCP, { client_assertion: undefined }), 401,
	    'invalid_client', 'no client assertion');
	t.refused(await ask(MCP, { assertion: undefined }), 400,
	    'invalid_grant', 'no assertion');
	t.eq((await ask(MCP, form, user)).status, 200, 'once');
	t.refused(await ask(MCP, form, user), 401, 'invalid_client', 'twice');
	t.refused(await ask(MCP, { ...agentForm(user),
		assertion: form.assertion }, user), 400, 'invalid_grant', 'the Session assertion');
	t.refused(await agent.token(user, { form }), 401, 'invalid_client',
	    'nor with a proof');
	t.refused(await ask(MCP, { scope: 'poppy:read' }), 400,
	    'invalid_scope', 'scopes');
});

test('of requests at one moment with one assertion, one gets a token',
    proves('R-4.2-6', 'R-4.1-8', 'R-4.3-15'), async (t) => {
	for (const shared of ['assertion', 'client_assertion']) {
		const user = new User(), one = agentForm(user);
		const all = await Promise.all(Array.from({ length: 8 }, () =>
		    ask(MCP, { ...agentForm(user), [shared]: one[shared] },
			user)));

		t.eq(all.filter((r) => r.status === 200).length, 1, shared);
	}
});

test('a start and a call take one round trip to the database', [],
    async (t) => {
	const lines = (program, path) => w.logs(program).filter((l) =>
	    l.event === 'request' && l.status === 200 && l.path === path)
	    .map((l) => l.db_trips);
	const before = [lines('auth', '/poppy/oauth/token').length,
		lines('guard', '/mcp.php').length];

	for (let i = 0; i < 30; i++)
		await tool(await session(MCP), MCP, 'whoami');
	for (const [i, [program, path]] of [['auth', '/poppy/oauth/token'],
		['guard', '/mcp.php']].entries()) {
		// A line is written after its reply.
		const found = await until(() => {
			const all = lines(program, path).slice(before[i]);

			return all.length >= 30 && all;
		}, 20000) ?? [];

		t.ok(found.length >= 30, `${program}: lines`, found.length);
		// One more where a connection prepares the statement.
		t.ok(found.every((n) => n === 1 || n === 2), program, found);
		t.ok(found.filter((n) => n === 2).length <= 4, program, found);
	}
});

test('the server speaks MCP to a Bearer token', proves('R-6-3', 'R-6-4'),
    async (t) => {
	const init = await rpc(bearer, MCP, 'initialize', {
		protocolVersion: '2025-06-18', capabilities: {},
		clientInfo: { name: 't', version: '1' } });

	t.eq(init.status, 200, 'initialize');
	t.eq(init.json?.result?.protocolVersion, '2025-06-18', 'version');
	t.eq((await rpc(bearer, MCP, 'notifications/initialized', {}, {
		body: JSON.stringify({ jsonrpc: '2.0',
			method: 'notifications/initialized' }) }))
	    .status, 202, 'initialized');
	t.eq((await rpc(bearer, MCP, 'tools/list')).json?.result?.tools?.length,
	    2, 'tools');
	for (const scheme of ['bearer', 'BEARER'])
		t.eq((await tool(bearer, MCP, 'whoami', { scheme })).status,
		    200, scheme);
});

test('PHP learns who asks, and that it was by Bearer', proves('R-6-13'),
    async (t) => {
	const res = await tool(bearer, MCP, 'whoami');
	const vars = JSON.parse(res.json?.result?.content?.[0]?.text ?? '{}');

	t.eq(vars.POPPY_VIA, 'bearer', 'how');
	t.eq(vars.POPPY_CLIENT_ID, agent.id, 'client');
	t.eq(vars.POPPY_SESSION, bearer.id, 'Session');
	t.eq(vars.POPPY_SIGNED_IN, '0', 'signed out');
	t.match(vars.POPPY_USER ?? '', /^[0-9a-f]{64}$/, 'User');
	t.ok(await w.logOf('guard', (l) => l.event === 'request' &&
	    l.client_id === agent.id && l.user && l.path === '/mcp.php'),
	'the log names both');
});

test('each Bearer token works at its own server alone',
    proves('R-4.3-17', 'R-6-6', 'R-4.3-25'), async (t) => {
	for (const mine of all()) {
		const s = await session(mine);

		await w.signIn(s, ['poppy:write', 'orders']);
		for (const url of all()) {
			const res = await tool(s, url, 'whoami');

			if (url === mine)
				t.eq(res.status, 200, `at its own: ${url}`);
			else
				challenged(t, res, 401, 'invalid_token', url,
				    `${mine} at ${url}`);
		}
	}
});

test('two names of one host are one server', proves('R-6-6'), async (t) => {
	const other = MCP.replace('mcp.localhost', 'also-mcp.localhost');

	t.eq((await tool(bearer, other, 'whoami')).status, 200, 'a token');
	challenged(t, await tool(bearer, other, 'whoami', {
		authorization: null }), 401, 'invalid_token', MCP, 'no token');
	t.eq((await get(metadataOf(other).replace('//mcp', '//also-mcp'))).json
	    ?.resource, MCP, 'the document names the one');
});

test('the path of an MCP server on a host that has none is nothing',
    proves('R-6-6'), async (t) => {
	for (const host of ['localhost', 'shop2.localhost', 'www.localhost'])
		for (const opts of [{}, { authorization: null }])
			t.eq((await tool(bearer, w.url('/mcp.php', host),
			    'whoami', opts)).status, 404, host);
	for (const p of ['/mcp-next.php', '/mcp', '/mcp.php/x', '/mcp.phpx'])
		t.eq((await tool(bearer, w.url(p, 'api.localhost'), 'whoami'))
		    .status, 404, p);
});

test('Bearer tokens are refused at every other API', proves('R-4.3-19'),
    async (t) => {
	for (const url of [w.stock, w.whoami, w.url('/api/reserved.php')])
		for (const scheme of ['Bearer', 'bearer', 'DPoP'])
			for (const proof of [undefined, null]) {
				const res = await agent.call(bearer, 'GET', url,
				    { scheme, proof });

				t.challenged(res, 401, scheme === 'DPoP' &&
				    proof === null ? 'invalid_dpop_proof' :
				    'invalid_token', `${scheme} at ${url}`);
			}
});

test('DPoP tokens are refused at an MCP server, whatever the scheme',
    proves('R-6-6', 'R-4.3-20', 'R-6-4'), async (t) => {
	const proof = () => dpop.user.proof('POST', MCP, { token: dpop.token });

	for (const scheme of ['DPoP', 'Bearer', 'dpop'])
		for (const p of [null, proof()])
			challenged(t, await tool(dpop, MCP, 'whoami',
			    { scheme, proof: p }), 401, 'invalid_token', MCP,
			`${scheme}, ${p ? 'a proof' : 'no proof'}`);
});

test('a Bearer token under DPoP is refused at its own server too',
    proves('R-6-6', 'R-6-9'), async (t) => {
	for (const proof of [null, bearer.user.proof('POST', MCP,
	    { token: bearer.token })])
		challenged(t, await tool(bearer, MCP, 'whoami',
		    { scheme: 'DPoP', proof }), 401, 'invalid_token', MCP,
		proof ? 'with a proof' : 'alone');
});

test('tokens that are none, missing, expired or in odd places',
    proves('R-6-9', 'R-6-10', 'R-4.3-27'), async (t) => {
	const gone = await session(MCP);

	await w.expireToken(gone);
	for (const [why, opts, s] of [
		['none', { authorization: null }],
		['empty', { authorization: '' }],
		['scheme alone', { authorization: 'Bearer' }],
		['no space', { authorization: `Bearer${bearer.token}` }],
		['two', { authorization:
			`Bearer ${bearer.token} ${bearer.token}` }],
		['a list', { authorization:
			`Bearer ${bearer.token}, Bearer ${bearer.token}` }],
		['Basic', { authorization: 'Basic YTpi' }],
		['unknown', { token: bearer.token.slice(0, -3) + 'AAE' }],
		['in upper case', { token: bearer.token.toUpperCase() }],
		['a JWT', { token: agent.clientAssertion() }],
		['expired', {}, gone],
		['by URL', { authorization: null,
			target: `/mcp.php?access_token=${bearer.token}` }],
		['by URL and header', {
			target: `/mcp.php?access_token=${bearer.token}` }]])
		challenged(t, await tool(s ?? bearer, MCP, 'whoami', opts), 401,
		    'invalid_token', MCP, why);
	challenged(t, await agent.call(bearer, 'GET', MCP, {
		authorization: null, proof: null }), 401, 'invalid_token', MCP,
	'GET');
	t.eq((await agent.call(bearer, 'GET', MCP, { scheme: 'Bearer',
		proof: null })).status, 405, 'GET gets as far as the server');
});

test('revoked, its Session ended, its client blocked: no more',
    proves('R-6-10', 'R-4.1-12'), async (t) => {
	const a = await session(MCP), b = await session(MCP);
	const other = new Agent(w), user = new User();
	const c = await other.session(user, { form: { resource: MCP },
		proof: null });

	t.eq((await send(w.url('/poppy/oauth/revoke'), { ca: w.ca,
		method: 'POST', headers: [['Content-Type',
			'application/x-www-form-urlencoded']],
		body: encode([['token', a.token], ['client_id', agent.id],
			['client_assertion_type', agent.form(user)[3][1]],
			['client_assertion', agent.clientAssertion({ aud:
				w.url('/poppy/oauth/revoke') })]]) })).status,
	200, 'revoked');
	await w.endSession(b.id);
	t.eq((await tool(c, MCP, 'whoami')).status, 200, 'not yet blocked');
	await w.block(other.id, true);
	for (const [why, s] of [['revoked', a], ['ended', b], ['blocked', c]])
		challenged(t, await tool(s, MCP, 'whoami'), 401,
		    'invalid_token', MCP, why);
});

test('scopes: of a whole server by the guard, of a tool by the server',
    proves('R-6-5', 'R-6-9', 'R-6-11', 'R-6-12'), async (t) => {
	const next = await session(NEXT), s = await session(MCP);

	challenged(t, await tool(next, NEXT, 'whoami'), 403, 'sign_in_required',
	    NEXT, 'signed out');
	await w.signIn(next, ['poppy:read', 'poppy:write']);
	const res = await tool(next, NEXT, 'whoami');
	challenged(t, res, 403, 'insufficient_scope', NEXT, 'one is missing');
	t.match(res.header('www-authenticate'), /scope="poppy:write orders"/,
	    'names all that it needs');
	await w.signIn(next, ['orders', 'poppy:write']);
	t.eq((await tool(next, NEXT, 'whoami')).status, 200, 'both');

	t.eq((await tool(s, MCP, 'order')).json?.error, 'sign_in_required',
	    'the tool, signed out');
	await w.signIn(s, ['poppy:read']);
	const denied = await tool(s, MCP, 'order');
	t.eq([denied.status, denied.json?.error], [403, 'insufficient_scope'],
	    'the tool, read only');
	t.match(denied.header('www-authenticate') ?? '',
	    /^Bearer error="insufficient_scope", scope="poppy:write"/,
	    'the server\'s own challenge gets through');
	t.eq((await tool(s, MCP, 'whoami')).status, 200, 'the other tool');
	await w.signIn(s, ['poppy:read', 'poppy:write']);
	t.eq((await tool(s, MCP, 'order')).status, 200, 'with the scope');
});

test('poppy.json lists the servers', proves('R-6-1', 'R-3.1-15'),
    async (t) => {
	const { json } = await get(w.url('/.well-known/poppy.json'));

	t.eq(json.apis.map((a) => a.type), ['openapi', 'mcp', 'mcp', 'mcp'],
	    'types');
	t.eq(json.apis.slice(1).map((a) => a.url), all(), 'urls');
	t.ok(json.apis.every((a) => a.description && !('resource' in a)),
	    'described; an MCP server needs no resource', json.apis);
});

test('the metadata of the OAuth server keeps true', proves('R-3.2-10'),
    async (t) => {
	const { json } = await get(w.url(
	    '/.well-known/oauth-authorization-server'));

	t.eq(json.protected_resources, all(), 'protected_resources');
	for (const m of ['token_endpoint_auth_methods_supported',
		'revocation_endpoint_auth_methods_supported'])
		t.eq(json[m], ['private_key_jwt'], m);
});

test('from a 401 to a token, as an MCP client finds its way',
    proves('R-6-7', 'R-4.3-15'), async (t) => {
	for (const url of all()) {
		const res = await rpc({ token: '' }, url, 'initialize', {},
		    { authorization: null });
		const named = /resource_metadata="([^"]+)"/.exec(
		    res.header('www-authenticate') ?? '')?.[1];
		const doc = (await get(t.must(named, 'a URL', url))).json;

		t.eq(doc?.resource, url, 'resource is the url');
		t.ok(doc?.authorization_servers?.includes(w.base), 'issuer',
		    doc);
		const meta = (await get(`${doc.authorization_servers[0]}` +
		    '/.well-known/oauth-authorization-server')).json;
		t.eq(meta?.issuer, w.base, 'the issuer\'s own document');
		t.eq(meta?.token_endpoint, w.tokenEndpoint, 'its endpoint');
		t.eq((await ask(doc.resource)).json?.token_type, 'Bearer',
		    'a token');
	}
});

test('the documents of the servers', proves('R-6-7'), async (t) => {
	for (const url of all()) {
		const res = await get(metadataOf(url));

		t.eq(res.status, 200, url);
		t.eq(res.json.bearer_methods_supported, ['header'], 'methods');
		t.eq(res.json.scopes_supported, url === NEXT ?
		    ['poppy:write', 'orders'] : undefined, 'scopes');
		t.match(res.header('content-type'), /^application\/json/,
		    'type');
		t.eq(res.header('cache-control'), 'public, max-age=300',
		    'caching');
		t.eq(res.header('access-control-allow-origin'), '*', 'CORS');
		t.eq((await get(metadataOf(url), { headers: [['If-None-Match',
			res.header('etag')]] })).status, 304, 'ETag');
		t.eq((await get(metadataOf(url), { method: 'HEAD' })).status,
		    200, 'HEAD');
		t.eq((await get(metadataOf(url), { method: 'POST', body: '' }))
		    .status, 405, 'POST');
	}
});

test('and no others', proves('R-6-7'), async (t) => {
	for (const [path, host] of [['', 'mcp.localhost'],
		['/', 'mcp.localhost'],
		['/mcp.php/', 'mcp.localhost'], ['/mcp', 'mcp.localhost'],
		['/mcp.php/x', 'mcp.localhost'], ['/MCP.php', 'mcp.localhost'],
		['/mcp%2Ephp', 'mcp.localhost'], ['//mcp.php', 'mcp.localhost'],
		['/x/../mcp.php', 'mcp.localhost'],
		['/mcp.php', 'localhost'], ['/mcp.php', 'shop2.localhost'],
		['/mcp-next.php', 'api.localhost'],
		['/api/openapi.json', 'localhost'], ['', 'localhost']]) {
		const res = await get(w.url('/', host),
		    { target: WELL_KNOWN + path });

		t.ok([400, 404].includes(res.status), `${host}${path}`,
		    res.status);
		t.unlike(res.text, /authorization_servers/, `${host}${path}`);
	}
	for (const host of ['evil.example', 'mcp.localhost.evil.example'])
		t.eq((await get(metadataOf(MCP), { headers: [['Host', host]] }))
		    .status, 404, host);
});

test('with nonces on: they are for proofs alone', proves('R-4.3-13',
    'R-4.3-15'), async (t) => {
	w.restart((c) => {
		bend(c);
		c.proofs = { nonces: true };
	}, ARGS);
	install();
	const res = await ask(MCP);
	t.eq(res.status, 200, 'a Bearer token needs none');
	t.eq(res.all('dpop-nonce').length, 1, 'but every reply tells one');
	const none = await tool(bearer, MCP, 'whoami', { authorization: null });
	challenged(t, none, 401, 'invalid_token', MCP, 'the server');
	t.eq(none.all('dpop-nonce'), [], 'asks for none');
	const good = await tool(bearer, MCP, 'whoami');
	t.eq(good.status, 200, 'a token from before');
	t.unlike(good.text, /POPPY_DPOP_NONCE/, 'PHP has none to send');
}, { timeout: 60000 });

test('an issuer with a path, and servers on a host of their own',
    proves('R-6-7', 'R-3.2-2', 'R-3.1-6'), async (t) => {
	w.restart((c) => {
		bend(c);
		c.issuer += '/tenant/one';
	}, ARGS);
	install();
	for (const url of all())
		t.eq((await get(metadataOf(url))).json?.authorization_servers,
		    [`${w.base}/tenant/one`], url);
	t.eq((await get(metadataOf(MCP).replace('/mcp.php', '/tenant/one')))
	    .status, 404, 'the issuer is no resource');
	t.eq((await tool(await session(MCP), MCP, 'whoami')).status, 200,
	    'a token and a call');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend, args: ARGS });
		MCP = w.url('/mcp.php', 'mcp.localhost');
		TWIN = w.url('/mcp.php', 'api.localhost');
		NEXT = w.url('/mcp-next.php', 'mcp.localhost');
		install();
		agent = new Agent(w);
		dpop = await agent.session();
		bearer = await session(MCP);
	},
	after: () => w?.close(),
});
