// DPoP Proofs, at the token endpoint and at an API (section 4.3, RFC 9449).
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { ALGS, b64u, jws, jwsHmac, jwsNone, makeKey, now, random, sha256,
	tampered, thumbprint } from './lib/jose.mjs';
import { World } from './lib/world.mjs';

let w, agent, s;

// The same faults at both places: 400 at the token endpoint, 401 at the API.
// make(p) gets what a good proof has and returns a proof text (or several).
const FAULTS = [
	['garbage', ['R-4.3-3'], () => 'garbage'],
	['empty', ['R-4.3-1'], () => ''],
	['two parts', ['R-4.3-3'], (p) => p.good().split('.', 2).join('.')],
	['tampered signature', ['R-4.3-3'], (p) => tampered(p.good())],
	['tampered payload', ['R-4.3-3'], (p) => tampered(p.good(), 1)],
	['tampered header', ['R-4.3-3'], (p) => tampered(p.good(), 0)],
	['signature of another key', ['R-4.3-3'], (p) => p.make({}, {},
	    { ...makeKey(), pub: p.user.key.pub })],
	['padded', ['R-4.3-3'], (p) => `${p.good()}==`],
	['GET for POST', ['R-4.3-5'], (p) => p.make({
		htm: p.method === 'GET' ? 'POST' : 'GET' })],
	['htm in lower case', ['R-4.3-5'], (p) => p.make({
		htm: p.method.toLowerCase() })],
	['htm missing', ['R-4.3-5'], (p) => p.make({ htm: undefined })],
	['htm not a text', ['R-4.3-5'], (p) => p.make({ htm: [p.method] })],
	['htu missing', ['R-4.3-6'], (p) => p.make({ htu: undefined })],
	['htu not a text', ['R-4.3-6'], (p) => p.make({ htu: { u: p.url } })],
	['htu of another path', ['R-4.3-6'], (p) => p.make({
		htu: p.url + 'x' })],
	['htu with a slash more', ['R-4.3-6'], (p) => p.make({
		htu: p.url + '/' })],
	['htu in other case', ['R-4.3-6'], (p) => p.make({
		htu: p.url.slice(0, -1) + p.url.slice(-1).toUpperCase() })],
	['htu with an encoded letter', ['R-4.3-6'], (p) => p.make({
		htu: p.url.slice(0, -1) + '%' +
		    p.url.charCodeAt(p.url.length - 1).toString(16) })],
	['htu with a dot segment', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace(/\/([^/]*)$/, '/x/../$1') })],
	['htu of another host', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace('localhost', 'shop2.localhost') })],
	['htu of another port', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace(/:(\d+)\//, ':1$1/') })],
	['htu without port', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace(/:\d+\//, '/') })],
	['htu over http', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace('https:', 'http:') })],
	['htu relative', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace(/^https:\/\/[^/]*/, '') })],
	['htu with a user', ['R-4.3-6'], (p) => p.make({
		htu: p.url.replace('https://', 'https://a@') })],
	['htu empty', ['R-4.3-6'], (p) => p.make({ htu: '' })],
	['iat missing', ['R-4.3-7'], (p) => p.make({ iat: undefined })],
	['iat a text', ['R-4.3-7'], (p) => p.make({ iat: String(now()) })],
	['iat ten minutes old', ['R-4.3-7'], (p) => p.make({
		iat: now() - 600 })],
	['iat 62 s old', ['R-4.3-7'], (p) => p.make({ iat: now() - 62 })],
	['iat ten minutes ahead', ['R-4.3-7'], (p) => p.make({
		iat: now() + 600 })],
	['iat 13 s ahead', ['R-4.3-7'], (p) => p.make({ iat: now() + 13 })],
	['iat in milliseconds', ['R-4.3-7'], (p) => p.make({
		iat: Date.now() })],
	['iat zero', ['R-4.3-7'], (p) => p.make({ iat: 0 })],
	['iat beyond all', ['R-4.3-7'], (p) => p.make({ iat: 1e300 })],
	['iat null', ['R-4.3-7'], (p) => p.make({ iat: null })],
	['jti missing', ['R-4.3-8'], (p) => p.make({ jti: undefined })],
	['jti misspelt', ['R-4.3-8'], (p) => p.make({ jti: undefined,
		jit: random() })],
	['jti empty', ['R-4.3-8'], (p) => p.make({ jti: '' })],
	['jti of 257 characters', ['R-4.3-8'], (p) => p.make({
		jti: 'j'.repeat(257) })],
	['jti a number', ['R-4.3-8'], (p) => p.make({ jti: 1 })],
	['typ JWT', ['R-4.3-10'], (p) => p.make({}, { typ: 'JWT' })],
	['typ missing', ['R-4.3-10'], (p) => p.make({}, { typ: undefined })],
	['typ a number', ['R-4.3-10'], (p) => p.make({}, { typ: 1 })],
	['alg none', ['R-4.3-10'], (p) => jwsNone({ typ: 'dpop+jwt',
		jwk: p.user.key.pub }, p.claims())],
	['alg HS256', ['R-4.3-10'], (p) => jwsHmac(p.user.key.pub.x,
	    { typ: 'dpop+jwt', jwk: p.user.key.pub }, p.claims())],
	['alg HS256 with an oct key', ['R-4.3-10'], (p) => jwsHmac('key',
	    { typ: 'dpop+jwt', jwk: { kty: 'oct', k: b64u('key') } },
	    p.claims())],
	['alg that is not the key\'s', ['R-4.3-10'], (p) => p.make({},
	    { alg: 'ES384' })],
	['jwk missing', ['R-4.3-10'], (p) => p.make({}, { jwk: undefined })],
	['jwk private', ['R-4.3-10'], (p) => p.make({},
	    { jwk: p.user.key.secret })],
	['jwk a text', ['R-4.3-10'], (p) => p.make({},
	    { jwk: JSON.stringify(p.user.key.pub) })],
	['jwk empty', ['R-4.3-10'], (p) => p.make({}, { jwk: {} })],
	['jwk not on the curve', ['R-4.3-10'], (p) => p.make({},
	    { jwk: { ...p.user.key.pub, y: p.user.key.pub.x } })],
	['jwk with a bad curve', ['R-4.3-10'], (p) => p.make({},
	    { jwk: { ...p.user.key.pub, crv: 'secp256k1' } })],
	['kid instead of jwk', ['R-4.3-10'], (p) => p.make({},
	    { jwk: undefined, kid: agent.kid })],
	['x5c beside jwk', ['R-4.3-10'], (p) => p.make({},
	    { x5c: ['AA=='] })],
	['crit', ['R-4.3-10'], (p) => p.make({}, { crit: ['exp'] })],
	['two headers', ['R-4.3-11'], (p) => [p.good(), p.good()]],
	['the same header twice', ['R-4.3-11'], (p) => {
		const g = p.good();

		return [g, g];
	}],
	['two proofs with a comma', ['R-4.3-11'], (p) =>
	    `${p.good()}, ${p.good()}`],
	['two proofs with a space', ['R-4.3-11'], (p) =>
	    `${p.good()} ${p.good()}`],
	['a scheme in front', ['R-4.3-11'], (p) => `DPoP ${p.good()}`],
	['payload with a member twice', ['R-4.3-3'], (p) => jws(p.user.key,
	    { typ: 'dpop+jwt', jwk: p.user.key.pub },
	    `{"htm":"X",${JSON.stringify(p.claims()).slice(1)}`)],
	['payload no object', ['R-4.3-3'], (p) => jws(p.user.key,
	    { typ: 'dpop+jwt', jwk: p.user.key.pub }, '[1]')],
	['a Session assertion', ['R-4.3-10'], (p) =>
	    agent.sessionAssertion(p.user)],
];

// What the table's functions get: how a good proof for this place is made.
function kit(user, method, url, token)
{
	const ath = token && b64u(sha256(token));
	const claims = () => ({ jti: random(), htm: method, htu: url, iat: now(),
		ath });

	return {
		user, method, url, claims,
		good: () => user.proof(method, url, { token }),
		make: (over, header = {}, key = user.key) => jws(key,
		    { typ: 'dpop+jwt', jwk: key.pub, ...header },
		    { ...claims(), ...over }, { sign: key.alg }),
	};
}

for (const [why, rows, bend] of FAULTS) {
	test(`token endpoint: ${why}`,
	    proves('R-4.3-12', 'R-4.2-30', 'R-4.3-14', ...rows), async (t) => {
		const user = new User();
		const proof = bend(kit(user, 'POST', w.tokenEndpoint));

		t.challenged(await agent.token(user, { proof }), 400,
		    'invalid_dpop_proof', why);
	});

	test(`API: ${why}`, proves('R-4.3-14', 'R-6-9', ...rows), async (t) => {
		const proof = bend(kit(s.user, 'GET', w.stockBare, s.token));

		t.challenged(await agent.call(s, 'GET', w.stock, { proof }), 401,
		    'invalid_dpop_proof', why);
	});
}

test('no proof at the token endpoint, and never a Bearer token',
    proves('R-4.3-16', 'R-4.3-12', 'R-4.2-30'), async (t) => {
	t.challenged(await agent.token(new User(), { proof: null }), 400,
	    'invalid_dpop_proof', 'no resource');
	for (const resource of ['https://other.example/mcp', w.base, w.stockBare,
		w.openapi, '', 'x'])
		t.refused(await agent.token(new User(), { proof: null,
			form: { resource } }), 400, 'invalid_target', resource);
});

test('a resource that is none is invalid_target', [],
    async (t) => {
	for (const resource of ['https://other.example/', 'garbage'])
		t.refused(await agent.token(new User(), { form: { resource } }),
		    400, 'invalid_target', resource);
});

test('good htu spellings are taken', proves('R-4.3-6'), async (t) => {
	const host = `//localhost:${w.port}/`;

	for (const htu of [w.tokenEndpoint,
		w.tokenEndpoint.replace('https', 'HTTPS'),
		w.tokenEndpoint.replace(host, `//LocalHost:${w.port}/`),
		`${w.tokenEndpoint}?a=b`, `${w.tokenEndpoint}#frag`]) {
		const user = new User();

		t.eq((await agent.token(user, { proof: user.proof('POST',
			w.tokenEndpoint, { claims: { htu } }) })).status, 200,
		    htu);
	}
});

test('query and fragment do not count, for request or htu',
    proves('R-4.3-6'), async (t) => {
	for (const [url, htu] of [[w.stock, w.stockBare],
		[`${w.stock}&cursor=abc`, w.stockBare], [w.stock, w.stock],
		[w.stock, `${w.stockBare}?other=1#x`], [`${w.stock}&x=%2F..%00`,
			w.stockBare]])
		t.ok((await agent.call(s, 'GET', url, { proof: s.user.proof('GET',
			w.stockBare, { token: s.token, claims: { htu } }) }))
		    .status !== 401, `${url} with ${htu}`);
});

test('the URL is the configured one, whatever headers say',
    proves('R-4.3-6'), async (t) => {
	const headers = [['X-Forwarded-Host', 'evil.example'],
		['X-Forwarded-Proto', 'http'], ['X-Forwarded-Port', '80'],
		['Forwarded', 'host=evil.example;proto=http']];
	const user = new User();

	t.eq((await agent.token(user, { headers })).status, 200, 'token');
	t.eq((await agent.call(s, 'GET', w.stock, { headers })).status, 200,
	    'API');
	const evil = w.stockBare.replace('localhost', 'evil.example');
	t.challenged(await agent.call(s, 'GET', w.stock, { headers, proof:
		s.user.proof('GET', evil, { token: s.token }) }), 401,
	    'invalid_dpop_proof', 'htu as forwarded');
});

test('each host has its own URL', proves('R-4.3-6'), async (t) => {
	const there = w.url('/api/stock.php', 'shop2.localhost');

	t.eq((await agent.call(s, 'GET', `${there}?sku=${w.sku}`)).status, 200,
	    'its own');
	t.challenged(await agent.call(s, 'GET', `${there}?sku=${w.sku}`,
	    { htu: w.stockBare }), 401, 'invalid_dpop_proof', 'htu of the other');
});

test('clocks may differ a little', proves('R-4.3-7'), async (t) => {
	for (const d of [-57, -10, 0, 8]) {
		const user = new User(), claims = { iat: now() + d };

		t.eq((await agent.token(user, { proof: user.proof('POST',
			w.tokenEndpoint, { claims }) })).status, 200,
		    `token, ${d} s`);
		t.eq((await agent.call(s, 'GET', w.stock, { proof:
			s.user.proof('GET', w.stockBare, { token: s.token,
				claims: { iat: now() + d } }) })).status, 200,
		    `API, ${d} s`);
	}
});

test('a fractional iat of a good moment is taken or refused, not broken',
    proves('R-4.3-7'), async (t) => {
	const res = await agent.call(s, 'GET', w.stock, { proof:
		s.user.proof('GET', w.stockBare, { token: s.token,
			claims: { iat: now() + 0.5 } }) });

	t.ok(res.status === 200 || res.status === 401, 'status', res.status);
});

test('a stale proof is told apart: iat, our time, the window',
    proves('R-4.3-7'), async (t) => {
	const iat = now() - 600;
	const res = await agent.call(s, 'GET', w.stock, { proof:
		s.user.proof('GET', w.stockBare, { token: s.token,
			claims: { iat } }) });
	const said = res.json?.error_description ?? '';

	t.match(said, /iat/, 'names iat');
	t.match(said, /\d/, 'says numbers');
});

test('a proof counts once', proves('R-4.3-8'), async (t) => {
	for (const d of [0, -50, 9]) {
		const claims = { iat: now() + d };
		const proof = s.user.proof('GET', w.stockBare, { token: s.token,
			claims });

		t.eq((await agent.call(s, 'GET', w.stock, { proof })).status,
		    200, `first, iat ${d}`);
		for (const n of [2, 3])
			t.challenged(await agent.call(s, 'GET', w.stock,
			    { proof }), 401, 'invalid_dpop_proof',
			    `use ${n}, iat ${d}`);
	}
});

test('a jti counts once for its key, whatever else differs',
    proves('R-4.3-8'), async (t) => {
	const jti = random();
	const again = (claims, url = w.stockBare) => agent.call(s, 'GET', w.stock,
	    { proof: s.user.proof('GET', url, { token: s.token,
		claims: { jti, ...claims } }) });

	t.eq((await again({})).status, 200, 'first');
	for (const claims of [{}, { iat: now() - 30 }, { iat: now() + 5 },
		{ extra: 1 }])
		t.challenged(await again(claims), 401, 'invalid_dpop_proof',
		    JSON.stringify(claims));
});

test('keys with the same counter as jti do not collide', proves('R-4.3-8'),
    async (t) => {
	const jti = `n-${random()}`;

	for (let i = 0; i < 3; i++) {
		const user = new User();

		t.eq((await agent.token(user, { proof: user.proof('POST',
			w.tokenEndpoint, { claims: { jti } }) })).status, 200,
		    `key ${i}`);
	}
});

test('jti of 1 and of 256 characters', proves('R-4.3-8'), async (t) => {
	for (const jti of [random(1).slice(0, 1), 'j'.repeat(256)]) {
		const user = new User();

		t.eq((await agent.token(user, { proof: user.proof('POST',
			w.tokenEndpoint, { claims: { jti } }) })).status, 200,
		    `${jti.length}`);
	}
});

test('a token request\'s proof counts once', proves('R-4.3-8', 'R-4.3-12'),
    async (t) => {
	const user = new User();
	const proof = user.proof('POST', w.tokenEndpoint);

	t.eq((await agent.token(user, { proof })).status, 200, 'first');
	t.challenged(await agent.token(user, { proof }), 400,
	    'invalid_dpop_proof', 'second');
});

test('ath at the token endpoint is ignored', proves('R-4.3-12'),
    async (t) => {
	const user = new User();

	t.eq((await agent.token(user, { proof: user.proof('POST',
		w.tokenEndpoint, { claims: { ath: 'nonsense' } }) })).status, 200,
	    'status');
});

test('ath is the hash of this token', proves('R-4.3-9', 'R-4.3-14'),
    async (t) => {
	const other = await agent.session(s.user);
	const hex = sha256(s.token).toString('hex');

	for (const [why, ath] of [['missing', undefined], ['empty', ''],
		['garbage', 'x'], ['of another token', b64u(sha256(other.token))],
		['of nothing', b64u(sha256(''))], ['in hex', hex],
		['the token itself', s.token], ['padded',
			`${b64u(sha256(s.token))}=`], ['a number', 1],
		['in standard base64', sha256(s.token).toString('base64')]])
		t.challenged(await agent.call(s, 'GET', w.stock, { proof:
			s.user.proof('GET', w.stockBare, { claims: { ath } }) }),
		    401, 'invalid_dpop_proof', why);
});

test('only the key that the token is bound to', proves('R-4.3-2', 'R-4.3-4'),
    async (t) => {
	for (const key of [makeKey(), makeKey('EdDSA'), makeKey('RS256'),
		agent.key])
		t.challenged(await agent.call(s, 'GET', w.stock, { proof:
			s.user.proof('GET', w.stockBare, { token: s.token, key,
				header: { jwk: key.pub } }) }), 401,
		    'invalid_dpop_proof', key.alg);
});

for (const alg of ALGS)
	test(`proofs with ${alg}`, proves('R-4.3-3', 'R-4.3-10'), async (t) => {
		const user = new User(alg);
		const mine = await agent.session(user);

		t.eq((await agent.call(mine, 'GET', w.stock)).status, 200, 'good');
		t.challenged(await agent.call(mine, 'GET', w.stock, { proof:
			tampered(user.proof('GET', w.stockBare,
			    { token: mine.token })) }), 401,
		    'invalid_dpop_proof', 'tampered');
	});

test('extra members of the jwk do not make another key', proves('R-4.3-2'),
    async (t) => {
	const jwk = { ...s.user.key.pub, kid: 'x', use: 'sig', alg: 'ES256' };

	t.eq(thumbprint(jwk), thumbprint(s.user.key.pub), 'one thumbprint');
	t.eq((await agent.call(s, 'GET', w.stock, { proof: s.user.proof('GET',
		w.stockBare, { token: s.token, header: { jwk } }) })).status,
	    200, 'taken');
});

test('DER signatures and other lengths are refused', proves('R-4.3-3'),
    async (t) => {
	const { createSign } = await import('node:crypto');
	const good = s.user.proof('GET', w.stockBare, { token: s.token });
	const signed = good.split('.').slice(0, 2).join('.');
	const sign = (b) => `${signed}.${b64u(b)}`;
	const raw = Buffer.from(good.split('.')[2], 'base64url');

	for (const [why, sig] of [
		['DER', createSign('sha256').update(signed).sign(s.user.key.priv)],
		['63 bytes', raw.subarray(0, 63)],
		['65 bytes', Buffer.concat([raw, Buffer.from([0])])],
		['r of zero', Buffer.concat([Buffer.alloc(32), raw.subarray(32)])],
		['all zero', Buffer.alloc(64)],
		['all ones', Buffer.alloc(64, 255)], ['none', Buffer.alloc(0)]])
		t.challenged(await agent.call(s, 'GET', w.stock,
		    { proof: sign(sig) }), 401, 'invalid_dpop_proof', why);
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
