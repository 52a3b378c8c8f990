// MCP clients that know nothing of the protocol sign in by MCP's own flow
// (section 6, RFC 8707, 8252, 9728): the official client, and what others try.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Customer, unescape } from './lib/customer.mjs';
import { Host, MCP_ARGS, mcpClient, mcpInstall, mcpSettings, whoami }
	from './lib/mcp.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { OWN, READ, WRITE, Flow, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const LOOPBACK = 'http://127.0.0.1/callback';
let w, people, MCP;

// A client whose document names no keys; it runs on the customer's computer.
const app = (doc = {}) => new Agent(w, { doc: { client_name: 'Desk',
	jwks_uri: undefined, redirect_uris: [LOOPBACK],
	token_endpoint_auth_method: 'none', ...doc } });

// A flow of such a client: requests carry resource and no assertion.
class McpFlow extends Flow {
	request(over = {}, extra)
	{
		return super.request({ resource: MCP, redirect_uri: this.redirect
		    .replace('127.0.0.1', '127.0.0.1:4711'), ...over }, extra);
	}

	redeem(c, session, over = {}, opts = {})
	{
		const none = this.agent.document.token_endpoint_auth_method ===
		    'none' ? { client_assertion: undefined,
			client_assertion_type: undefined } : {};

		return super.redeem(c, session, { resource: MCP, ...none,
			...over }, { proof: null, ...opts });
	}
}

const flow = (agent = app(), account = people[0]) =>
    new McpFlow(agent, new User(), account);

const tool = (token, name) => send(MCP, { ca: w.ca, method: 'POST',
	headers: [['Authorization', `Bearer ${token}`],
		['Content-Type', 'application/json']],
	body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
		params: { name } }) });
const vars = (res) => JSON.parse(res.json?.result?.content?.[0]?.text ??
    '{}');

// Connect as a host does: turned away, sign in, connect again.
async function connected(host, seen = [])
{
	const first = await mcpClient(w, MCP, { seen, authProvider: host });
	const turned = await first.client.connect(first.transport)
	    .then(() => null, (e) => e);

	if (turned?.constructor.name !== 'UnauthorizedError')
		throw new Error(`not turned away: ${turned}`);
	await first.transport.finishAuth(host.back.searchParams.get('code'));
	const { client, transport } = await mcpClient(w, MCP, { seen,
		authProvider: host });

	await client.connect(transport);
	return client;
}

test('the official client signs in by its own flow, as a public client',
    proves('R-6-8', 'R-6-5', 'R-6-7', 'R-6-3', 'R-4.5-7'), async (t) => {
	const redirect = LOOPBACK.replace('127.0.0.1', '127.0.0.1:49152');
	const host = new Host(app().id, redirect, new Customer(w, people[0]),
	    `${READ} ${WRITE}`);
	const seen = [], client = await connected(host, seen);

	t.eq(host.url.searchParams.get('resource'), MCP, 'for this server');
	t.ok(host.back.href.startsWith(`${redirect}?`), 'to its own port',
	    host.back.href);
	t.eq(host.back.searchParams.get('iss'), w.base, 'iss');
	t.eq(host.kept.tokens.token_type.toLowerCase(), 'bearer', 'Bearer');
	t.eq(host.kept.tokens.refresh_token, undefined, 'no refresh token');
	t.eq((await client.listTools()).tools.length, 2, 'tools');
	const who = await whoami(client);
	t.eq([who.POPPY_SIGNED_IN, who.POPPY_CLIENT_ID, who.POPPY_VIA],
	    ['1', host.clientMetadataUrl, 'bearer'], 'signed in');
	t.match(who.POPPY_SESSION, /^ses_/, 'in a new Session');
	t.ok((await client.callTool({ name: 'order' })).content,
	    'a tool that needs poppy:write');
	await client.close();
	t.ok(seen.every(([, url]) => !url.includes('/register')),
	    'without registration');
});

test('and as a client with a key, whose Account Token it uses by itself',
    proves('R-6-8', 'R-4.8-2', 'R-4.3-15'), async (t) => {
	const agent = new Agent(w), redirect = agent.document.redirect_uris[0];
	const host = new Host(agent.id, redirect, new Customer(w, people[0]),
	    READ);

	host.addClientAuthentication = (headers, params) => {
		params.set('client_id', agent.id);
		params.set('client_assertion_type',
		    'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
		params.set('client_assertion', agent.clientAssertion());
	};
	const client = await connected(host);
	const first = host.kept.tokens;
	t.match(first.refresh_token ?? '', /^pat_/, 'Account Token');
	t.eq((await whoami(client)).POPPY_SCOPE, READ, 'scope');
	await w.expireToken({ token: first.access_token });
	t.eq((await whoami(client)).POPPY_SIGNED_IN, '1', 'refreshed');
	t.ok(host.kept.tokens.access_token !== first.access_token,
	    'by itself');
	await client.close();
});

test('the reply of the code exchange', proves('R-6-8', 'R-4.4-10'),
    async (t) => {
	const f = flow(), c = await f.code({ scope: READ });
	const res = await f.redeem(c);

	t.must(res.status === 200, 'status', res.text);
	t.eq([res.json.token_type, res.json.signed_in, res.json.scope,
		res.json.refresh_token], ['Bearer', true, READ, undefined],
	'members');
	t.match(res.json.session_id, /^ses_/, 'Session');
	const who = vars(await tool(res.json.access_token, 'whoami'));
	t.eq([who.POPPY_SESSION, who.POPPY_SIGNED_IN],
	    [res.json.session_id, '1'], 'its token works');
	t.eq((await tool(res.json.access_token, 'order')).status, 403,
	    'a scope that it has not');
	t.refused(await f.redeem(c), 400, 'invalid_grant', 'used twice');
	t.ok([401, 403].includes((await tool(res.json.access_token, 'order'))
	    .status), 'takes back what it gave');
	t.ok(vars(await tool(res.json.access_token, 'whoami'))
	    .POPPY_SIGNED_IN !== '1', 'signed out');
});

test('its token is for its server alone', proves('R-6-6', 'R-4.3-19'),
    async (t) => {
	const f = flow(), { json } = await f.redeem(await f.code());

	for (const scheme of ['Bearer', 'DPoP'])
		t.eq((await send(w.stock, { ca: w.ca, headers: [['Authorization',
			`${scheme} ${json.access_token}`]] })).status, 401,
		scheme);
});

test('one account at one client is one User, another is another',
    proves('R-6-8', 'R-6-13'), async (t) => {
	const agent = app(), users = [];

	for (const [a, account] of [[agent, people[0]], [agent, people[0]],
		[agent, people[1]], [app(), people[0]]]) {
		const f = flow(a, account);
		const { json } = await f.redeem(await f.code());
		const who = vars(await tool(json.access_token, 'whoami'));

		t.eq(who.POPPY_SIGNED_IN, '1', 'signed in');
		users.push(who.POPPY_USER);
	}
	t.eq(users[0], users[1], 'again');
	t.eq(new Set(users).size, 3, 'another account, another client');
});

test('resource must be an MCP server, and the same at both steps',
    proves('R-6-8', 'R-4.3-16'), async (t) => {
	const f = flow();

	for (const resource of [`${MCP}/`, 'https://evil.example/mcp', w.base,
		w.openapi, '', MCP.toUpperCase()]) {
		const res = await send(f.request({ resource }).url,
		    { ca: w.ca });

		// Without an MCP server a loopback redirect is none of its own.
		t.ok(res.status === 400 || /error=invalid_target/.test(
		    res.header('location')), resource, res.status);
	}
	const c = await f.code();
	for (const resource of ['', `${MCP}/`, w.base, w.openapi])
		t.ok(['invalid_target', 'invalid_dpop_proof',
			'invalid_request'].includes((await f.redeem(c,
			    undefined, { resource })).json?.error), resource);
	t.challenged(await f.redeem(c, undefined, { resource: undefined }), 400,
	    'invalid_dpop_proof', 'none');
	t.refused(await f.redeem(c, undefined, {}, { proof: f.user.proof('POST',
	    w.tokenEndpoint) }), 400, 'invalid_target', 'with a proof');
	t.refused(await f.redeem(c, undefined, { code_verifier: random(32) }),
	    400, 'invalid_grant', 'another verifier');
	t.refused(await f.redeem(c, undefined, { redirect_uri: LOOPBACK }), 400,
	    'invalid_grant', 'another port');
	t.eq((await f.redeem(c)).status, 200, 'as it was begun');
});

test('a code of the protocol\'s own flow needs its Session',
    proves('R-6-8', 'R-4.5-11'), async (t) => {
	const agent = new Agent(w);
	const f = new Flow(agent, new User(), people[0]);
	const c = await f.code();

	t.refused(await f.redeem(c, undefined, {}), 400, 'invalid_request',
	    'no Session');
	t.refused(await f.redeem(c, undefined, { resource: MCP },
	    { proof: null }), 400, 'invalid_target',
	'a resource that wasn\'t asked for');
	const s = await agent.session(f.user);
	t.eq((await f.redeem(c, s.id)).status, 200, 'with it');
});

test('a public client can do nothing else', proves('R-4.1-8', 'R-4.9-2'),
    async (t) => {
	const f = flow();
	const none = { client_assertion: undefined,
		client_assertion_type: undefined };
	const { json } = await f.redeem(await f.code());

	t.refused(await f.agent.token(f.user, { form: none }), 401,
	    'invalid_client', 'a Session of its own');
	t.refused(await f.device(none), 401, 'invalid_client', 'device');
	t.refused(await f.revoke(json.access_token, none), 401,
	    'invalid_client', 'revocation');
	t.refused(await f.refresh(`pat_AA${random(32)}`, none), 401,
	    'invalid_client', 'refresh');
	t.refused(await f.redeem(await f.code(), undefined, { client_assertion:
		f.agent.clientAssertion() }), 401, 'invalid_client',
	'an assertion by a key that it doesn\'t publish');
});

test('a client with a key may not leave its assertion out',
    proves('R-4.5-11'), async (t) => {
	const f = flow(new Agent(w));
	const c = await f.code({ redirect_uri: f.redirect });

	t.refused(await f.redeem(c, undefined, { client_assertion: undefined,
		client_assertion_type: undefined }), 401, 'invalid_client',
	'none');
	t.eq((await f.redeem(c)).status, 200, 'with it');
});

test('loopback redirects: any port, else byte by byte',
    proves('R-4.5-3', 'R-6-8'), async (t) => {
	const f = flow(app({ redirect_uris: [LOOPBACK, 'http://[::1]/cb',
		'http://localhost/cb'] }));
	const status = async (redirect_uri, over) => (await f.person().open(
	    f.request({ redirect_uri, ...over }).url)).status;

	for (const uri of ['http://127.0.0.1:1/callback',
		'http://127.0.0.1:65535/callback', LOOPBACK,
		'http://[::1]:8080/cb', 'http://localhost:3000/cb'])
		t.eq(await status(uri), 200, uri);
	for (const uri of ['http://127.0.0.1:1/callback/',
		'http://127.0.0.1:1/other', 'https://127.0.0.1:1/callback',
		'http://127.0.0.2:1/callback', 'http://127.0.0.1:1/callback?x',
		'http://127.0.0.1:1@evil.example/callback',
		'http://127.0.0.1:x/callback', 'http://127.0.0.1:/callback',
		'http://127.0.0.1:99999/callback',
		'http://127.0.0.1.evil.example/callback',
		'http://evil.example/callback', 'http://localhost:1/callback',
		'http://[::1]:1/callback', 'http://2130706433:1/callback'])
		t.eq(await status(uri), 400, uri);
	t.eq(await status('http://127.0.0.1:1/callback',
	    { resource: undefined }), 400, 'not outside of MCP\'s flow');
});

test('consent names the app on this computer', proves('R-4.5-5'),
    async (t) => {
	const f = flow(), text = unescape((await f.person().consent(f.request()
	    .url)).text);

	t.match(text, /app on this computer/i, 'where it leads');
	t.ok(text.includes(new URL(f.agent.id).host), 'host of client_id');
	t.ok(text.includes('Desk'), 'name');
});

test('it is listed, and disconnected like any other',
    proves('R-4.9-10', 'R-6-8'), async (t) => {
	const f = flow(app({ client_name: 'Desk of Ada' }), people[2]);
	const p = f.person(), { json } = await f.redeem(await f.code());
	const { page, forms: [form] } = await p.agents();

	t.ok(unescape(page.text).includes('Desk of Ada'), 'listed');
	t.eq(vars(await tool(json.access_token, 'whoami')).POPPY_SIGNED_IN, '1',
	    'before');
	const b = form.buttons.find((x) => x.name);
	await p.submit(form, b ? { [b.name]: b.value } : {});
	t.ok(vars(await tool(json.access_token, 'whoami')).POPPY_SIGNED_IN !==
	    '1', 'after');
	t.eq((await tool(json.access_token, 'order')).status, 403, 'shut out');
});

test('scopes of the shop\'s own, and none that are not on offer',
    proves('R-4.4-9', 'R-4.4-4'), async (t) => {
	const f = flow(), { json } = await f.redeem(await f.code({ scope:
		OWN }));

	t.eq(json.scope, OWN, 'own');
	const res = await send(f.request({ scope: 'offline_access' }).url,
	    { ca: w.ca });
	t.match(res.header('location') ?? '', /error=invalid_scope/, 'foreign');
});

test('with public clients off, they are unknown', proves('R-6-8'),
    async (t) => {
	const off = await World.up({ args: MCP_ARGS, bend: (c) => {
		signinSettings(c);
		mcpSettings(c);
		c.mcp = { public_clients: false };
	} });

	try {
		const agent = new Agent(off, { doc: { jwks_uri: undefined,
			redirect_uris: [LOOPBACK],
			token_endpoint_auth_method: 'none' } });
		const f = new Flow(agent, new User(), people[0]);
		const as = (await send(off.url(
		    '/.well-known/oauth-authorization-server'),
		{ ca: off.ca })).json;

		t.eq((await send(f.request({ resource: mcpInstall(off) }).url,
		    { ca: off.ca })).status, 400, 'no page that asks');
		t.ok(!as.token_endpoint_auth_methods_supported.includes('none'),
		    'not in the metadata');
	} finally {
		await off.close();
	}
	const as = (await send(w.url('/.well-known/oauth-authorization-server'),
	    { ca: w.ca })).json;
	t.ok(as.token_endpoint_auth_methods_supported.includes('none'),
	    'where they are on, it is');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ args: MCP_ARGS, bend: (c) => {
			signinSettings(c);
			mcpSettings(c);
		} });
		people = w.customers();
		MCP = mcpInstall(w);
	},
	after: () => w?.close(),
});
