// Who the agent is: client assertion, key set, rotation, block (section 4.1).
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { ASSERTION_TYPE, Agent, User } from './lib/agent.mjs';
import { jws, jwsHmac, jwsNone, makeKey, now, random, tampered }
	from './lib/jose.mjs';
import { World } from './lib/world.mjs';

let w, agent;

test('a new agent is known from its document alone',
    proves('R-4.1-1', 'R-4.1-6'), async (t) => {
	const a = new Agent(w);

	t.eq((await a.token(new User())).status, 200, 'status');
	t.eq(a.hits(), 1, 'its document was fetched');
	t.eq(a.hits('jwks.json'), 1, 'its keys were fetched');
	t.eq((await a.token(new User())).status, 200, 'again');
	t.eq(a.hits(), 1, 'and kept');
});

// Each bends a field of the form; the answer is 401 invalid_client.
const FORM_FAULTS = [
	['no client_assertion', ['R-4.1-6'], () => ({
		client_assertion: undefined })],
	['no client_assertion_type', ['R-4.1-6'], () => ({
		client_assertion_type: undefined })],
	['wrong client_assertion_type', ['R-4.1-6'], () => ({
		client_assertion_type: ASSERTION_TYPE.replace('jwt', 'saml2') })],
	['client_secret instead', ['R-4.1-6'], () => ({
		client_assertion: undefined, client_assertion_type: undefined,
		client_secret: 'x' })],
	['garbage', ['R-4.1-6'], () => ({ client_assertion: 'garbage' })],
	['empty', ['R-4.1-6'], () => ({ client_assertion: '' })],
	['tampered signature', ['R-4.1-6'], () => ({
		client_assertion: tampered(agent.clientAssertion()) })],
	['tampered payload', ['R-4.1-6'], () => ({
		client_assertion: tampered(agent.clientAssertion(), 1) })],
	['another key', ['R-4.1-6'], () => ({
		client_assertion: agent.clientAssertion({},
		    { key: makeKey() }) })],
	['another key of another alg', ['R-4.1-6'], () => ({
		client_assertion: agent.clientAssertion({},
		    { key: makeKey('EdDSA') }) })],
	['unknown kid', ['R-4.1-6'], () => ({
		client_assertion: agent.clientAssertion({},
		    { header: { kid: 'other' } }) })],
	['client_id of another', ['R-4.1-7'], () => ({
		client_id: `${agent.id}x` })],
	['key in the header', ['R-4.1-9'], () => {
		const evil = makeKey();

		return { client_assertion: agent.clientAssertion({}, { key: evil,
			header: { kid: undefined, jwk: evil.pub } }) };
	}],
	['right key, in the header too', ['R-4.1-9'], () => ({
		client_assertion: agent.clientAssertion({}, {
			header: { jwk: agent.key.pub } }) })],
	['jku', ['R-4.1-9'], () => ({
		client_assertion: agent.clientAssertion({}, {
			header: { jku: agent.document.jwks_uri } }) })],
	['x5c', ['R-4.1-9'], () => ({
		client_assertion: agent.clientAssertion({}, {
			header: { x5c: ['AA=='] } }) })],
	['crit', ['R-4.1-6'], () => ({
		client_assertion: agent.clientAssertion({}, {
			header: { crit: ['x'], x: 1 } }) })],
	['none', ['R-4.1-10'], () => ({
		client_assertion: jwsNone({}, agent.claims(agent.id)) })],
	['HS256 with the public key', ['R-4.1-10'], () => ({
		client_assertion: jwsHmac(agent.key.priv.export({ type: 'pkcs8',
			format: 'der' }), { kid: agent.kid },
		    agent.claims(agent.id)) })],
	['HS384', ['R-4.1-10'], () => ({
		client_assertion: jwsHmac('', { kid: agent.kid },
		    agent.claims(agent.id), 'HS384') })],
	['typ of a proof', ['R-4.1-7'], () => ({
		client_assertion: agent.clientAssertion({}, {
			header: { typ: 'dpop+jwt' } }) })],
	['typ of a browser assertion', ['R-4.1-7'], () => ({
		client_assertion: agent.clientAssertion({}, {
			header: { typ: 'poppy-browser+jwt' } }) })],
	['a proof as client assertion', ['R-4.1-7'], () => ({
		client_assertion: new User().proof('POST', w.tokenEndpoint) })],
];
for (const [why, rows, bend] of FORM_FAULTS)
	test(`client refused: ${why}`, proves('R-4.2-26', ...rows),
	    async (t) => {
		t.refused(await agent.token(new User(), { form: bend() }), 401,
		    'invalid_client', why);
	});

const CLAIM_FAULTS = [
	['iss of another', { iss: 'https://other.example/agent.json' }],
	['iss missing', { iss: undefined }],
	['sub of another', { sub: 'https://other.example/agent.json' }],
	['sub missing', { sub: undefined }],
	['sub a User', { sub: 'usr_x' }],
	['aud of another company', { aud: 'https://other.example/token' }],
	['aud a list of others', { aud: ['https://other.example/token', ''] }],
	['aud a list with a number', { aud: [1] }],
	['aud an empty list', { aud: [] }],
	['aud missing', { aud: undefined }],
	['aud an object', { aud: {} }],
	['expired', { iat: -200, exp: -100 }],
	['in the future', { iat: 100, exp: 160 }],
	['too long a life', { exp: 301 }],
	['exp missing', { exp: undefined }],
	['exp a text', { exp: 'soon' }],
	['jti missing', { jti: undefined }],
	['jti of 15 characters', { jti: 'j'.repeat(15) }],
	['jti endless', { jti: 'j'.repeat(4000) }],
];
for (const [why, over] of CLAIM_FAULTS)
	test(`client refused, claims: ${why}`, proves('R-4.1-7', 'R-4.2-26'),
	    async (t) => {
		const c = { ...over };

		for (const k of ['iat', 'exp'])
			if (typeof c[k] === 'number')
				c[k] += now();
		t.refused(await agent.token(new User(), { form: {
			client_assertion: agent.clientAssertion(c) } }), 401,
		    'invalid_client', why);
	});

test('aud may be endpoint or issuer, alone or in a list', proves('R-4.1-7'),
    async (t) => {
	for (const aud of [w.tokenEndpoint, w.base, [w.tokenEndpoint], [w.base],
		['https://other.example/', w.base]])
		t.eq((await agent.token(new User(), { form: {
			client_assertion: agent.clientAssertion({ aud }) } }))
		    .status, 200, JSON.stringify(aud));
});

test('typ is free otherwise', proves('R-4.1-7'), async (t) => {
	for (const typ of [undefined, 'JWT', 'jwt', 'client-authentication+jwt'])
		t.eq((await agent.token(new User(), { form: { client_assertion:
			agent.clientAssertion({}, { header: { typ } }) } }))
		    .status, 200, String(typ));
});

test('jti of 16 characters will do for a client assertion',
    proves('R-4.1-7'), async (t) => {
	t.eq((await agent.token(new User(), { form: { client_assertion:
		agent.clientAssertion({ jti: random(12) }) } })).status, 200,
	    'status');
});

test('a client assertion counts once', proves('R-4.1-8', 'R-4.2-26'),
    async (t) => {
	const client_assertion = agent.clientAssertion();
	const form = { client_assertion };

	t.eq((await agent.token(new User(), { form })).status, 200, 'first');
	t.refused(await agent.token(new User(), { form }), 401,
	    'invalid_client', 'second');
	t.refused(await agent.token(new User(), { form: { client_assertion:
		agent.clientAssertion({ jti: JSON.parse(Buffer.from(
		    client_assertion.split('.')[1], 'base64url')).jti,
			iat: now() - 25 }) } }), 401, 'invalid_client',
	    'the same jti again');
});

test('client_id may be left out of the form, not contradicted',
    proves('R-4.1-7'), async (t) => {
	const other = new Agent(w);
	const res = await agent.token(new User(), { form: {
		client_id: other.id } });

	t.refused(res, 401, 'invalid_client', 'contradicted');
	const none = await agent.token(new User(), { form: {
		client_id: undefined } });
	t.ok(none.status === 200 || none.json?.error === 'invalid_client' ||
	    none.json?.error === 'invalid_request', 'left out', none.status);
});

test('without kid the keys that fit are tried', proves('R-4.1-6'),
    async (t) => {
	const a = new Agent(w), extra = makeKey(), rsa = makeKey('RS256');

	a.publish({ keys: [
		{ ...rsa.pub, kid: 'r', use: 'sig' },
		{ ...extra.pub, kid: 'e', use: 'sig' },
		{ kty: 'oct', kid: 'future', crv: 'X' },
		{ ...a.key.pub, kid: 'mine', use: 'sig' }].filter(
	    (k) => k.kty !== 'oct') });
	const header = { kid: undefined };
	const user = new User();
	const form = {
		assertion: a.sessionAssertion(user, {}, { header }),
		client_assertion: a.clientAssertion({}, { header }),
	};
	t.eq((await a.token(user, { form })).status, 200, 'status');
});

test('a key for encryption signs nothing', proves('R-4.1-6'), async (t) => {
	const a = new Agent(w);

	a.publish({ keys: [{ ...a.key.pub, kid: a.kid, use: 'enc' }] });
	t.refused(await a.token(new User()), 401, 'invalid_client', 'use enc');
});

test('a short RSA key is refused', proves('R-4.1-6'), async (t) => {
	const a = new Agent(w, { key: makeKey('RS256', { modulusLength: 1024 }),
		alg: 'RS256' });

	t.refused(await a.token(new User()), 401, 'invalid_client', '1024 bits');
});

test('keys of kinds we do not know stand beside one that works',
    proves('R-4.1-6', 'R-3.1-19'), async (t) => {
	const a = new Agent(w);

	a.publish({ keys: [
		{ kty: 'OKP', crv: 'X25519', kid: 'x', x: random(32) },
		{ kty: 'AKP', alg: 'ML-DSA-44', kid: 'q', pub: 'AAAA' },
		...a.jwks().keys], note: 'ignored' });
	t.eq((await a.token(new User())).status, 200, 'status');
});

test('new keys are picked up, removed ones go',
    proves('R-4.1-15'), async (t) => {
	const a = new Agent(w, {}), old = a.key, oldKid = a.kid;

	t.eq((await a.token(new User())).status, 200, 'the first key');
	a.key = makeKey();
	a.kid = 'second';
	a.publish();
	t.eq((await a.token(new User())).status, 200,
	    'a new kid is fetched at once');
	t.refused(await a.token(new User(), { form: { client_assertion:
		a.clientAssertion({}, { key: old, header: { kid: oldKid } }) } }),
	    401, 'invalid_client', 'the removed key');
});

test('a key that changed under its kid is fetched too',
    proves('R-4.1-15'), async (t) => {
	const a = new Agent(w);

	t.eq((await a.token(new User())).status, 200, 'the first key');
	a.key = makeKey();
	a.publish();
	t.eq((await a.token(new User())).status, 200, 'the same kid, a new key');
});

test('unknown kids cannot make us hammer an agent', proves('R-4.1-16'),
    async (t) => {
	const a = new Agent(w);

	await a.session();
	const before = a.hits('jwks.json');
	await Promise.all(Array.from({ length: 100 }, (_, i) =>
	    a.token(new User(), { form: { client_assertion:
		a.clientAssertion({}, { header: { kid: `no-${i}` } }) } })));
	t.ok(a.hits('jwks.json') - before <= 2, 'fetches for 100 bad kids',
	    a.hits('jwks.json') - before);
	t.eq((await a.token(new User())).status, 200, 'and it still works');
}, { timeout: 60000 });

test('many first requests of one agent share a fetch', proves('R-4.1-16'),
    async (t) => {
	const a = new Agent(w);
	const all = await Promise.all(Array.from({ length: 12 },
	    () => a.token(new User())));

	for (const res of all)
		t.eq(res.status, 200, 'status');
	t.ok(a.hits() <= w.processes, 'fetches', a.hits());
});

test('a blocked agent: no token, and its tokens are dead at once',
    proves('R-4.1-12'), async (t) => {
	const a = new Agent(w);
	const s = await a.session();

	t.eq((await a.call(s, 'GET', w.stock)).status, 200, 'before');
	await w.block(a.id, true);
	try {
		t.refused(await a.token(new User()), 401, 'invalid_client',
		    'a start');
		t.refused(await a.token(s.user, { form: { session_id: s.id } }),
		    401, 'invalid_client', 'a renewal');
		t.challenged(await a.call(s, 'GET', w.stock), 401,
		    'invalid_token', 'a call');
	} finally {
		await w.block(a.id, false);
	}
	t.ok(await until(async () => (await a.token(new User())).status === 200,
	    5000, 500), 'let in again');
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
	},
	after: () => w?.close(),
});
