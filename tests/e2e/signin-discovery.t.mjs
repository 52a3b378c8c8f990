// What discovery says about sign-in, with types on and off (sections 3.1, 3.2
// and 4.4).
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

const PATH = '/.well-known/poppy.json';
const META = '/.well-known/oauth-authorization-server';
const SIGN_IN = {
	direct: ['poppy:read', 'poppy:write', 'addresses'],
	device: ['poppy:read'],
	custom_scopes: [{ name: 'addresses',
		description: 'Read and change "saved" <addresses>' }],
};
let w;

const get = async (path) => {
	const res = await send(w.url(path), { ca: w.ca });
	return res.json;
};

test('types of sign-in with their scopes, and what the shop\'s own mean',
    proves('R-3.1-7', 'R-3.1-8', 'R-3.1-11', 'R-4.4-4', 'R-4.4-5'),
    async (t) => {
	const { auth } = await get(PATH);

	t.eq(auth.direct, { scopes: SIGN_IN.direct }, 'direct');
	t.eq(auth.device, { scopes: SIGN_IN.device }, 'device');
	t.eq(auth.custom_scopes, { addresses:
	    SIGN_IN.custom_scopes[0].description }, 'custom scopes');
	t.ok(Object.keys(auth.custom_scopes).every((s) =>
	    !s.startsWith('poppy:')), 'none has the protocol\'s prefix');
});

test('the endpoints and what they do', proves('R-3.2-8', 'R-3.2-9',
    'R-3.2-10'), async (t) => {
	const m = await get(META);

	t.eq(m.authorization_endpoint, `${w.base}/poppy/oauth/authorize`,
	    'authorization endpoint');
	t.eq(m.device_authorization_endpoint, `${w.base}/poppy/oauth/device`,
	    'device authorization endpoint');
	t.eq(m.response_types_supported, ['code'], 'response types');
	t.eq(m.response_modes_supported, ['query'], 'response modes');
	t.eq(m.code_challenge_methods_supported, ['S256'], 'PKCE');
	t.eq(m.authorization_response_iss_parameter_supported, true, 'iss');
	t.eq([...m.grant_types_supported].sort(), ['authorization_code',
		'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code',
		'urn:ietf:params:oauth:grant-type:jwt-bearer'], 'grants');
	t.eq([...m.scopes_supported].sort(), ['addresses', 'poppy:read',
		'poppy:write'], 'scopes');
	t.eq(m.revocation_endpoint_auth_methods_supported,
	    ['private_key_jwt'], 'nobody revokes without a key');
});

test('without sign-in nothing of it is there, and no grant of it works',
    proves('R-3.1-7', 'R-3.1-8', 'R-3.1-10', 'R-3.2-8', 'R-3.2-9'),
    async (t) => {
	await w.restart((c) => { delete c.sign_in; });
	const { auth } = await get(PATH);
	const m = await get(META);

	t.eq(Object.keys(auth), ['issuer'], 'poppy.json');
	t.eq(m.authorization_endpoint, undefined, 'authorization endpoint');
	t.eq(m.device_authorization_endpoint, undefined, 'device endpoint');
	t.eq(m.response_types_supported, [], 'response types');
	t.eq(m.grant_types_supported,
	    ['urn:ietf:params:oauth:grant-type:jwt-bearer'], 'grants');
	const agent = new Agent(w);
	for (const grant of ['authorization_code', 'refresh_token',
		'urn:ietf:params:oauth:grant-type:device_code']) {
		const res = await agent.token(new User(), { form: { grant_type: grant,
			assertion: undefined } });

		t.eq(res.status, 400, `${grant}: status`);
		t.eq(res.json?.error, 'unsupported_grant_type', grant);
	}
});

await run({
	before: async () => {
		w = await World.up({ bend: (c) => { c.sign_in = SIGN_IN; } });
	},
	after: () => w?.close(),
});
