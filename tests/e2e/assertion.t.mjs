// The Session assertion and every way it can be wrong (section 4.2): always
// 400 invalid_grant, and no Session.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { jws, jwsHmac, jwsNone, makeKey, now, random, tampered }
	from './lib/jose.mjs';
import { World } from './lib/world.mjs';

let w, agent;

// Each bends the Session assertion; the answer is 400 invalid_grant.
const GRANT_FAULTS = [
	['iss of another agent', ['R-4.2-2'],
		() => ({ iss: 'https://other.example/agent.json' })],
	['iss missing', ['R-4.2-2'], () => ({ iss: undefined })],
	['iss not a text', ['R-4.2-2'], () => ({ iss: [agent.id] })],
	['sub missing', ['R-4.2-3'], () => ({ sub: undefined })],
	['sub empty', ['R-4.2-3'], () => ({ sub: '' })],
	['sub a number', ['R-4.2-3'], () => ({ sub: 7 })],
	['sub null', ['R-4.2-3'], () => ({ sub: null })],
	['sub is the client', ['R-4.2-10'], () => ({ sub: agent.id })],
	['sub with NUL', ['R-4.2-3'], () => ({ sub: 'usr\0x' })],
	['aud an array of one', ['R-4.2-4'], () => ({ aud: [w.tokenEndpoint] })],
	['aud an array of two', ['R-4.2-4'],
		() => ({ aud: [w.tokenEndpoint, 'https://other.example'] })],
	['aud the issuer', ['R-4.2-4'], () => ({ aud: w.base })],
	['aud with a slash more', ['R-4.2-4'],
		() => ({ aud: `${w.tokenEndpoint}/` })],
	['aud in upper case', ['R-4.2-4'],
		() => ({ aud: w.tokenEndpoint.toUpperCase() })],
	['aud of another company', ['R-4.2-4'],
		() => ({ aud: 'https://other.example/poppy/oauth/token' })],
	['aud missing', ['R-4.2-4'], () => ({ aud: undefined })],
	['aud empty', ['R-4.2-4'], () => ({ aud: '' })],
	['iat missing', ['R-4.2-5'], () => ({ iat: undefined })],
	['exp missing', ['R-4.2-5'], () => ({ exp: undefined })],
	['expired', ['R-4.2-5', 'R-4.2-27'],
		() => ({ iat: now() - 120, exp: now() - 60 })],
	['issued in the future', ['R-4.2-5'],
		() => ({ iat: now() + 120, exp: now() + 180 })],
	['too long a life', ['R-4.2-5'],
		() => ({ iat: now(), exp: now() + 301 })],
	['a year of life', ['R-4.2-5'],
		() => ({ iat: now(), exp: now() + 31536000 })],
	['life hidden by an old iat', ['R-4.2-5'],
		() => ({ iat: now() - 600, exp: now() + 20 })],
	['exp before iat', ['R-4.2-5'],
		() => ({ iat: now() + 20, exp: now() + 10 })],
	['exp a text', ['R-4.2-5'], () => ({ exp: String(now() + 60) })],
	['exp huge', ['R-4.2-5'], () => ({ exp: 1e300 })],
	['iat negative', ['R-4.2-5'], () => ({ iat: -1 })],
	['nbf in the future', ['R-4.2-5'], () => ({ nbf: now() + 300 })],
	['jti missing', ['R-4.2-7'], () => ({ jti: undefined })],
	['jti empty', ['R-4.2-7'], () => ({ jti: '' })],
	['jti of 21 characters', ['R-4.2-7'], () => ({ jti: 'j'.repeat(21) })],
	['jti a number', ['R-4.2-7'], () => ({ jti: 12345678901234567890 })],
	['jti an object', ['R-4.2-7'], () => ({ jti: { a: random() } })],
	['jti endless', ['R-4.2-7'], () => ({ jti: 'j'.repeat(5000) })],
];
for (const [why, rows, bend] of GRANT_FAULTS)
	test(`assertion refused: ${why}`, proves('R-4.2-27', ...rows),
	    async (t) => {
		const user = new User();

		t.refused(await agent.token(user, { form: { assertion:
			agent.sessionAssertion(user, bend()) } }), 400,
		    'invalid_grant', why);
	});

// What is not a JWT, or not one that counts.
const TEXT_FAULTS = [
	['empty', () => ''],
	['garbage', () => 'garbage'],
	['two parts', (a) => a.split('.').slice(0, 2).join('.')],
	['four parts', (a) => `${a}.${random()}`],
	['five parts, as JWE', (a) => `${a}.a.b`],
	['padding', (a) => `${a}=`],
	['standard base64', (a) => `${a.slice(0, -2)}+/`],
	['a space inside', (a) => a.replace('.', ' .')],
	['a newline at the end', (a) => `${a}\n`],
	['signature cut', (a) => a.slice(0, -4)],
	['signature tampered', (a) => tampered(a)],
	['payload tampered', (a) => tampered(a, 1)],
	['header tampered', (a) => tampered(a, 0)],
	['20 kB', () => 'A'.repeat(20000)],
];
for (const [why, bend] of TEXT_FAULTS)
	test(`assertion no JWT: ${why}`, proves('R-4.2-9', 'R-4.2-27'),
	    async (t) => {
		const user = new User();

		t.refused(await agent.token(user, { form: { assertion:
			bend(agent.sessionAssertion(user)) } }), 400,
		    'invalid_grant', why);
	});

test('assertion missing', proves('R-4.2-9'), async (t) => {
	t.refused(await agent.token(new User(), { form:
	    { assertion: undefined } }), 400, 'invalid_grant', 'missing');
});

test('payloads that are no JSON objects', proves('R-4.2-9'), async (t) => {
	for (const payload of ['', '[]', '"x"', '1', 'null', '{', '{}x',
		"{'iss':'x'}", '{"iss":"a","iss":"b"}', '{"exp":NaN}', '\u0000',
		'{"sub":"\ud800"}', '['.repeat(2000)]) {
		const jwt = jws(agent.key, { kid: agent.kid }, payload);

		t.refused(await agent.token(new User(), { form:
		    { assertion: jwt } }), 400, 'invalid_grant',
		    payload.slice(0, 30));
	}
});

test('duplicate claims are refused, whichever would be right',
    proves('R-4.2-9'), async (t) => {
	const user = new User();
	const c = JSON.stringify(agent.claims(user.sub));

	for (const extra of ['"sub":"usr_other",', `"iss":"${agent.id}",`,
		'"\\u0073ub":"usr_other",']) {
		const jwt = jws(agent.key, { kid: agent.kid },
		    `{${extra}${c.slice(1)}`);

		t.refused(await agent.token(user, { form: { assertion: jwt } }),
		    400, 'invalid_grant', extra);
	}
});

test('keys in the header, none, HMAC and foreign keys',
    proves('R-4.2-8', 'R-4.1-9', 'R-4.1-10'), async (t) => {
	const user = new User(), evil = makeKey();
	const claims = () => agent.claims(user.sub);
	const pem = agent.key.pub;
	const tries = {
		'another key': jws(evil, { kid: agent.kid }, claims()),
		'another key without kid': jws(evil, {}, claims()),
		'jwk header': jws(evil, { jwk: evil.pub }, claims()),
		'jwk header of a right signature': jws(agent.key,
		    { kid: agent.kid, jwk: agent.key.pub }, claims()),
		'jku header': jws(agent.key, { kid: agent.kid,
			jku: agent.document.jwks_uri }, claims()),
		'x5u header': jws(agent.key, { kid: agent.kid,
			x5u: 'https://localhost/x' }, claims()),
		'x5c header': jws(agent.key, { kid: agent.kid, x5c: ['AAAA'] },
		    claims()),
		'crit header': jws(agent.key, { kid: agent.kid, crit: ['exp'] },
		    claims()),
		'b64 false': jws(agent.key, { kid: agent.kid, b64: false,
			crit: ['b64'] }, claims()),
		'alg none': jwsNone({ kid: agent.kid }, claims()),
		'HS256 with the public key': jwsHmac(JSON.stringify(pem),
		    { kid: agent.kid }, claims()),
		'HS512': jwsHmac('x', { kid: agent.kid }, claims(), 'HS512'),
		'alg that is not the key\'s': jws(agent.key, { kid: agent.kid,
			alg: 'RS256' }, claims(), { sign: 'ES256' }),
		'alg in lower case': jws(agent.key, { kid: agent.kid,
			alg: 'es256' }, claims()),
		'alg missing': jws(agent.key, `{"kid":"${agent.kid}"}`, claims()),
		'typ of a proof': jws(agent.key, { kid: agent.kid,
			typ: 'dpop+jwt' }, claims()),
		'typ of a browser assertion': jws(agent.key, { kid: agent.kid,
			typ: 'Application/Poppy-Browser+JWT' }, claims()),
		'kid a number': jws(agent.key, { kid: 7 }, claims()),
		'kid endless': jws(agent.key, { kid: 'k'.repeat(5000) }, claims()),
	};

	for (const [why, assertion] of Object.entries(tries))
		t.refused(await agent.token(user, { form: { assertion } }), 400,
		    'invalid_grant', why);
}, { timeout: 60000 });

test('an assertion of the DPoP key is not one of the agent\'s',
    proves('R-4.2-8'), async (t) => {
	const user = new User();

	t.refused(await agent.token(user, { form: { assertion:
		agent.sessionAssertion(user, {}, { key: user.key }) } }), 400,
	    'invalid_grant', 'DPoP key');
});

test('a Session assertion counts once, with fresh client assertions too',
    proves('R-4.2-6', 'R-4.2-27'), async (t) => {
	const user = new User();
	const assertion = agent.sessionAssertion(user);

	t.eq((await agent.token(user, { form: { assertion } })).status, 200,
	    'first');
	for (const n of [2, 3])
		t.refused(await agent.token(user, { form: { assertion } }), 400,
		    'invalid_grant', `use ${n}`);
	const s = await agent.session(user);
	t.refused(await agent.token(user, { form: { assertion,
		session_id: s.id } }), 400, 'invalid_grant', 'for a renewal');
});

test('a jti counts once, whatever else differs', proves('R-4.2-6'),
    async (t) => {
	const jti = random(), user = new User(), other = new User();

	await agent.session(user, { form: { assertion:
		agent.sessionAssertion(user, { jti }) } });
	for (const [who, over] of [[user, { jti }], [other, { jti }],
		[user, { jti, iat: now() - 20 }],
		[user, { jti, exp: now() + 250 }]])
		t.refused(await agent.token(who, { form: { assertion:
			agent.sessionAssertion(who, over) } }), 400,
		    'invalid_grant', JSON.stringify(over));
});

test('the same jti of two agents is two jtis', proves('R-4.2-6'),
    async (t) => {
	const jti = random(), other = new Agent(w);

	for (const a of [agent, other]) {
		const user = new User();

		t.eq((await a.token(user, { form: { assertion:
			a.sessionAssertion(user, { jti }) } })).status, 200,
		    a.id);
	}
});

test('one jti space for both assertions of a client',
    proves('R-4.1-8', 'R-4.2-6'), async (t) => {
	const jti = random(), user = new User();
	const res = await agent.token(user, { form: {
		assertion: agent.sessionAssertion(user, { jti }),
		client_assertion: agent.clientAssertion({ jti }) } });

	t.ok(res.status === 400 || res.status === 401, 'refused', res.status);
	t.ok(['invalid_grant', 'invalid_client'].includes(res.json?.error),
	    'code', res.json);
});

test('one JWT in both places starts no Session', proves('R-4.2-10'),
    async (t) => {
	const before = await w.countSessions();
	const jwt = agent.clientAssertion();
	const res = await agent.token(new User(), { form:
	    { assertion: jwt, client_assertion: jwt } });

	t.refused(res, 400, 'invalid_grant', 'client assertion twice');
	const user = new User(), ses = agent.sessionAssertion(user);
	t.refused(await agent.token(user, { form:
	    { assertion: ses, client_assertion: ses } }), 401, 'invalid_client',
	    'Session assertion twice');
	t.eq(await w.countSessions(), before, 'no Session came to be');
});

test('no failed request leaves a Session behind', proves('R-4.2-27'),
    async (t) => {
	const before = await w.countSessions();
	const user = new User();

	await agent.token(user, { form: { assertion:
		agent.sessionAssertion(user, { exp: now() - 60 }) } });
	await agent.token(user, { form: { client_assertion:
		tampered(agent.clientAssertion()) } });
	await agent.token(user, { proof: null });
	await agent.token(user, { form: { session_id: 'ses_none' } });
	t.eq(await w.countSessions(), before, 'Sessions');
});

test('errors before the grant burn no assertion', proves('R-4.2-6'),
    async (t) => {
	const user = new User();
	const assertion = agent.sessionAssertion(user);
	const client_assertion = agent.clientAssertion();
	const form = { assertion, client_assertion };

	t.refused(await agent.token(user, { form, proof: null }), 400,
	    'invalid_dpop_proof', 'no proof');
	t.refused(await agent.token(user, { form: { ...form,
		client_assertion: tampered(client_assertion) } }), 401,
	    'invalid_client', 'bad client');
	t.refused(await agent.token(user, { form: { ...form,
		session_id: 'ses_nothing' } }), 400, 'invalid_session',
	    'no Session');
	t.eq((await agent.token(user, { form })).status, 200, 'still good');
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
	},
	after: () => w?.close(),
});
