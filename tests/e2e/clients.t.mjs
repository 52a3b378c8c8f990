// Clients that others wrote, unchanged: an OAuth client and the official client
// of MCP, each from npm. Its own stack.
import { proves, run, sleep, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { MCP_ARGS, mcpClient, mcpInstall, mcpSettings, whoami }
	from './lib/mcp.mjs';
import { OAuth } from './lib/oauth.mjs';
import { Flow, READ, WRITE, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, agent, MCP;

// The text of what a promise was refused with.
const refusal = (promise) => promise.then(() => 'none',
    (e) => [e.code, e.cause?.code, e.message].join(' '));

test('an OAuth client finds the issuer and believes it',
    proves('R-3.2-1', 'R-3.2-3', 'R-3.2-6', 'R-3.2-10'), async (t) => {
	const o = await OAuth.make(w, agent, new User());

	t.eq(o.as.issuer, w.base, 'issuer');
	t.eq(o.as.token_endpoint, w.tokenEndpoint, 'token endpoint');
	t.ok(o.as.dpop_signing_alg_values_supported.includes('ES256'), 'DPoP');
	t.ok(o.as.token_endpoint_auth_methods_supported
	    .includes('private_key_jwt'), 'private_key_jwt');
	t.match(await refusal(o.discover(new URL(w.url('/x')))),
	    /RESPONSE_IS_NOT_CONFORM|INVALID_RESPONSE|ATTRIBUTE_COMPARISON/,
	    'an issuer that there isn\'t');
});

test('it starts a Session, renews it, and calls the shop\'s API by proof',
    proves('R-4.2-1', 'R-4.2-2', 'R-6-4', 'R-4.3-1'), async (t) => {
	const o = await OAuth.make(w, agent, new User());
	const s = await o.session();

	t.eq(s.token_type, 'dpop', 'DPoP, in the client\'s spelling');
	t.eq([s.signed_in, s.scope], [false, ''], 'signed out');
	const res = await o.call(s.access_token, w.stock);
	t.eq([res.status, (await res.json()).sku ?? w.sku], [200, w.sku],
	    'the shop\'s answer');
	const more = await o.session({ session_id: s.session_id });
	t.eq(more.session_id, s.session_id, 'renewed');
	t.match(await refusal(o.call(s.access_token,
	    w.url('/api/reserved.php'))), /WWW_AUTHENTICATE_CHALLENGE/,
	'a challenge that it understands');
});

test('it reads what it may not do from the reply',
    proves('R-4.3-16', 'R-4.2-15'), async (t) => {
	const o = await OAuth.make(w, agent, new User());

	t.match(await refusal(o.session({}, o.opts)),
	    /invalid_dpop_proof|RESPONSE_BODY_ERROR|WWW_AUTHENTICATE/,
	    'no proof');
	t.match(await refusal(o.session({ session_id: `ses_AA${'A'
	    .repeat(22)}` })), /RESPONSE_BODY_ERROR/, 'no such Session');
});

test('Direct Sign-In, refresh and revocation, unchanged',
    proves('R-4.5-7', 'R-4.5-8', 'R-4.5-12', 'R-4.8-1', 'R-4.8-8', 'R-4.9-1',
	'R-4.9-3'), async (t) => {
	const f = new Flow(agent, new User(), w.customers()[0]);
	const o = await OAuth.make(w, agent, f.user);
	const s = await o.session();
	const got = await o.direct(f, s.session_id, { scope: `${READ} ${WRITE}` });

	t.eq([got.token_type, got.scope, got.session_id, got.signed_in],
	    ['dpop', `${READ} ${WRITE}`, s.session_id, true], 'signed in');
	const reserved = w.url(`/api/reserved.php?sku=${w.sku}`);
	t.eq((await o.call(got.access_token, reserved)).status, 200, 'account');
	const less = await o.refresh(got.refresh_token, { scope: READ,
		session_id: s.session_id });
	t.eq([less.scope, less.session_id], [READ, s.session_id], 'refreshed');
	await o.revoke(got.refresh_token);
	t.match(await refusal(o.refresh(got.refresh_token)), /RESPONSE_BODY/,
	    'revoked');
	t.match(await refusal(o.call(got.access_token, reserved)),
	    /WWW_AUTHENTICATE_CHALLENGE/, 'signed out');
	t.match(await refusal(o.direct(f, s.session_id, { scope: READ,
		decline: true })), /AUTHORIZATION_RESPONSE_ERROR/,
	'a decline that it understands');
});

test('Device Sign-In, unchanged', proves('R-4.6-1', 'R-4.6-6', 'R-4.6-8'),
    async (t) => {
	const f = new Flow(agent, new User(), w.customers()[0]);
	const o = await OAuth.make(w, agent, f.user);
	const s = await o.session(), p = f.person();
	const d = await o.device(READ);
	const pending = await o.poll(d.device_code, s.session_id)
	    .then(() => null, (e) => e);

	t.eq(pending?.error, 'authorization_pending', 'pending');
	await p.decide(await p.device(d.user_code));
	await sleep(d.interval * 1000 + 100);
	const got = await o.poll(d.device_code, s.session_id);
	t.eq([got.scope, got.session_id], [READ, s.session_id], 'signed in');
	t.match(got.refresh_token, /^pat_/, 'Account Token');
});

test('it finds the authorization server of an MCP server (RFC 9728)',
    proves('R-6-7'), async (t) => {
	const o = await OAuth.make(w, agent, new User());
	const found = await o.lib.processResourceDiscoveryResponse(new URL(MCP),
	    await o.lib.resourceDiscoveryRequest(new URL(MCP), o.opts));

	t.eq(found.resource, MCP, 'resource');
	t.eq(found.authorization_servers, [w.base], 'issuer');
	t.eq((await o.discover(new URL(found.authorization_servers[0])))
	    .issuer, w.base, 'which is there');
});

test('the MCP client works with a Bearer token of a Session',
    proves('R-6-3', 'R-6-4', 'R-4.3-15'), async (t) => {
	const o = await OAuth.make(w, agent, new User());
	const s = await o.session({ resource: MCP }, o.opts);
	const seen = [];
	const { client, transport } = await mcpClient(w, MCP, { seen,
		requestInit: { headers: {
			Authorization: `Bearer ${s.access_token}` } } });

	t.eq(s.token_type, 'bearer', 'Bearer');
	await client.connect(transport);
	t.eq((await client.listTools()).tools.map((x) => x.name),
	    ['whoami', 'order'], 'tools');
	const who = await whoami(client);
	t.eq([who.POPPY_CLIENT_ID, who.POPPY_SESSION, who.POPPY_SIGNED_IN],
	    [agent.id, s.session_id, '0'], 'who asks');
	t.match(await refusal(client.callTool({ name: 'order' })),
	    /403|sign_in_required|Forbidden/, 'a tool that needs an account');
	await client.close();
	t.ok(seen.length >= 4 && seen.every(([, url]) => url === MCP),
	    'it spoke to the MCP server alone', seen);
});

test('without a token, and with one of another kind, it is shut out',
    proves('R-6-6', 'R-6-9', 'R-6-10'), async (t) => {
	const o = await OAuth.make(w, agent, new User());
	const dpop = (await o.session()).access_token;

	for (const headers of [{}, { Authorization: `Bearer ${dpop}` },
		{ Authorization: 'Bearer x' }]) {
		const { client, transport } = await mcpClient(w, MCP,
		    { requestInit: { headers } });

		t.match(await refusal(client.connect(transport)),
		    /401|invalid_token/, JSON.stringify(headers).slice(0, 30));
	}
});

await run({
	before: async () => {
		w = await World.up({ args: MCP_ARGS, bend: (c) => {
			signinSettings(c);
			mcpSettings(c);
		} });
		MCP = mcpInstall(w);
		agent = new Agent(w);
	},
	after: () => w?.close(),
});
