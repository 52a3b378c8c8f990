// Sessions: start, renewal, end, and the form of a token request (sections 4,
// 4.2).
import { proves, run, test } from './lib/tap.mjs';
import { Agent, GRANT, User, encode } from './lib/agent.mjs';
import { ALGS } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

let w, agent;

test('a Session starts signed out, with all that is promised',
    proves('R-4.2-1', 'R-4.2-11', 'R-4.2-12', 'R-4.2-13', 'R-4.2-14',
	'R-4.2-15', 'R-4.2-16', 'R-4.2-17', 'R-4.2-18', 'R-4-3'),
    async (t) => {
	const res = await agent.token(new User());
	const j = t.must(res.json, 'JSON', res.text);

	t.eq(res.status, 200, 'status');
	t.match(res.header('content-type'), /^application\/json(;|$)/, 'type');
	t.match(res.header('cache-control'), /no-store/, 'not stored');
	t.eq(j.token_type, 'DPoP', 'token_type');
	t.ok(Number.isInteger(j.expires_in) && j.expires_in > 0 &&
	    j.expires_in <= 86400, 'expires_in', j.expires_in);
	t.match(j.session_id, /^[\w-]{8,256}$/, 'session_id');
	t.match(j.access_token, /^[\w.~+/-]{20,}=*$/, 'access_token');
	t.eq(j.signed_in, false, 'signed_in');
	t.eq(j.scope, '', 'scope');
	t.eq(Object.hasOwn(j, 'refresh_token'), false, 'no Account Token');
	t.eq(res.header('set-cookie'), undefined, 'no cookie');
});

test('a core start with an agent that lists no extension is complete',
    proves('R-3.3-6'), async (t) => {
	const plain = new Agent(w);

	t.eq(plain.document.extensions, undefined, 'no extensions listed');
	const s = await plain.session();
	t.eq((await plain.call(s, 'GET', w.stock)).status, 200, 'call');
	const r = await plain.session(s.user, { form: { session_id: s.id } });
	t.eq(r.id, s.id, 'renewal');
});

for (const alg of ALGS)
	test(`an agent with ${alg} keys, also for proofs`,
	    proves('R-4.2-1', 'R-4.1-6', 'R-4.3-3'), async (t) => {
		const a = new Agent(w, { alg });
		const s = await a.session(new User(alg));

		t.eq(s.res.json.token_type, 'DPoP', 'token');
		t.eq((await a.call(s, 'GET', w.stock)).status, 200, 'call');
	});

test('one User, several Sessions, all usable', proves('R-4-2'), async (t) => {
	const user = new User();
	const a = await agent.session(user), b = await agent.session(user);

	t.ok(a.id !== b.id, 'two session_ids');
	t.ok(a.token !== b.token, 'two tokens');
	for (const s of [a, b, a])
		t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'call');
});

test('renewal: same Session, new token, the old one lives on',
    proves('R-4.2-15', 'R-4.2-20', 'R-4.2-23'), async (t) => {
	const s = await agent.session();
	const r = await agent.session(s.user, { form: { session_id: s.id } });

	t.eq(r.id, s.id, 'session_id');
	t.ok(r.token !== s.token, 'another token');
	t.eq(r.res.json.signed_in, false, 'signed_in');
	t.eq(r.res.json.scope, '', 'scope');
	t.eq((await agent.call(r, 'GET', w.stock)).status, 200, 'new token');
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'old token');
});

test('a renewal may bring a new key; each token keeps its own',
    proves('R-4.3-2', 'R-4.2-20'), async (t) => {
	const s = await agent.session();
	const other = new User();

	other.sub = s.user.sub;
	const r = await agent.session(other, { form: { session_id: s.id } });
	t.eq(r.id, s.id, 'session_id');
	t.eq((await agent.call(r, 'GET', w.stock)).status, 200, 'new key');
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'old key');
	t.challenged(await agent.call({ ...s, user: other }, 'GET', w.stock),
	    401, 'invalid_dpop_proof', 'old token, new key');
});

test('a renewal by others is refused and changes nothing',
    proves('R-4-1', 'R-4.2-21', 'R-4.2-28'), async (t) => {
	const s = await agent.session();
	const foreign = new Agent(w);
	const twin = new User();

	twin.sub = s.user.sub;
	t.refused(await agent.token(new User(), { form: { session_id: s.id } }),
	    400, 'invalid_session', 'other User');
	t.refused(await foreign.token(twin, { form: { session_id: s.id } }),
	    400, 'invalid_session', 'other client, same sub');
	t.refused(await foreign.token(new User(), { form: { session_id: s.id } }),
	    400, 'invalid_session', 'other client, other sub');
	const r = await agent.session(s.user, { form: { session_id: s.id } });
	t.eq(r.id, s.id, 'still renewable by its owner');
});

test('sessions that are none', proves('R-4.2-22', 'R-4.2-28'), async (t) => {
	const s = await agent.session();
	const flip = s.id.slice(0, -1) + (s.id.endsWith('A') ? 'E' : 'A');

	for (const [why, id] of [['unknown', flip], ['short', s.id.slice(0, -1)],
		['long', s.id + 'A'], ['garbage', 'x'], ['quote', `${s.id}'`],
		['huge', 'A'.repeat(5000)], ['a token instead', s.token],
		['upper case', s.id.toUpperCase()]])
		t.refused(await agent.token(s.user, { form: { session_id: id } }),
		    400, 'invalid_session', why);
});

test('an ended Session is invalid_session; a fresh start works',
    proves('R-4.2-22'), async (t) => {
	const s = await agent.session();

	await w.endSession(s.id);
	t.refused(await agent.token(s.user, { form: { session_id: s.id } }),
	    400, 'invalid_session', 'ended');
	t.challenged(await agent.call(s, 'GET', w.stock), 401, 'invalid_token',
	    'its token');
	const again = await agent.session(s.user);
	t.ok(again.id !== s.id, 'another Session');
});

test('session_id opens nothing', proves('R-4.2-19'), async (t) => {
	const s = await agent.session();

	for (const [scheme, token] of [['DPoP', s.id], ['Bearer', s.id]])
		t.challenged(await agent.call(s, 'GET', w.stock, { scheme, token,
			proof: s.user.proof('GET', w.stockBare, { token }) }),
		    401, 'invalid_token', scheme);
	t.challenged(await agent.call(s, 'GET', `${w.stock}&session_id=${s.id}`,
	    { authorization: null }), 401, 'invalid_token', 'in the query');
	t.challenged(await agent.call(s, 'GET', w.stock, { authorization: null,
		headers: [['Cookie', `session_id=${s.id}`]] }), 401,
	    'invalid_token', 'as a cookie');
});

test('the token tells nothing', proves('R-4.2-24', 'A-21'), async (t) => {
	const s = await agent.session();
	const parts = s.token.split(/[._]/);

	for (const p of parts) {
		const plain = Buffer.from(p, 'base64url').toString('latin1');

		t.unlike(plain, /[{]"|"iss|"sub|usr_|localhost|ses_/, 'decoded');
		t.ok(!plain.includes(s.user.sub), 'no User ID');
	}
	t.ok(!s.token.includes(s.id), 'no session_id');
	t.ok(!s.token.includes(s.user.sub), 'no User ID');
});

test('unknown grants', proves('R-4.2-33'), async (t) => {
	for (const g of ['', 'x', GRANT.toUpperCase(), `${GRANT} `, 'password',
		'implicit'])
		t.refused(await agent.token(new User(), { form:
		    { grant_type: g } }), 400, 'unsupported_grant_type', g);
	t.refused(await agent.token(new User(), { form:
	    { grant_type: undefined } }), 400, 'invalid_request', 'none');
});

test('every repeated parameter is refused', proves('R-4.2-32'), async (t) => {
	const user = new User();

	for (const name of ['grant_type', 'assertion', 'client_id',
		'client_assertion', 'client_assertion_type', 'session_id']) {
		const pairs = agent.form(user, { session_id: 'ses_x' });
		const one = pairs.find(([k]) => k === name);

		t.refused(await agent.token(user, { form: [...pairs, one] }),
		    400, 'invalid_request', name);
	}
	t.refused(await agent.token(user, { form: [...agent.form(user),
		['resource', 'https://a.example/'],
		['resource', 'https://b.example/']] }), 400, 'invalid_target',
	    'resource');
});

test('unknown parameters change nothing', proves('R-3.3-4', 'R-3.1-19'),
    async (t) => {
	const user = new User();
	const res = await agent.token(user, { form: [...agent.form(user),
		['x-unknown', '1'], ['signed_in', 'true'], ['account', '1']] });

	t.eq(res.status, 200, 'status');
	t.eq(res.json?.signed_in, false, 'still signed out');
});

test('unknown claims change nothing', proves('R-3.3-4', 'R-3.1-19'),
    async (t) => {
	const user = new User();

	t.eq((await agent.token(user, { form: { assertion:
		agent.sessionAssertion(user, { scope: 'poppy:write', azp: 1,
			'https://x.example/y': { a: [1, { b: null }] } }) } }))
	    .status, 200, 'status');
});

test('scope signed out: empty is fine, any other is refused',
    proves('R-4.3-22'), async (t) => {
	const s = await agent.token(new User(), { form: { scope: '' } });

	t.eq(s.status, 200, 'empty scope');
	for (const scope of ['poppy:read', 'poppy:read poppy:write', 'x'])
		t.refused(await agent.token(new User(), { form: { scope } }),
		    400, 'invalid_scope', scope);
});

test('errors are OAuth JSON in every case',
    proves('R-4.2-26', 'R-4.2-27', 'R-4.2-28', 'R-4.2-30', 'R-4.2-32'),
    async (t) => {
	const user = new User();

	t.refused(await agent.token(user, { form: { client_assertion: 'x' } }),
	    401, 'invalid_client', 'client');
	t.refused(await agent.token(user, { form: { assertion: 'x' } }), 400,
	    'invalid_grant', 'grant');
	t.refused(await agent.token(user, { form: { session_id: 'x' } }), 400,
	    'invalid_session', 'Session');
	t.refused(await agent.token(user, { proof: 'x' }), 400,
	    'invalid_dpop_proof', 'proof');
});

test('only POST with a form', proves('R-4.2-1'), async (t) => {
	const user = new User();
	const form = encode(agent.form(user));
	const proof = user.proof('GET', w.tokenEndpoint);
	const get = await send(`${w.tokenEndpoint}?${form}`, { ca: w.ca,
		headers: [['DPoP', proof]] });

	t.eq(get.status, 405, 'GET');
	t.match(get.header('allow') ?? '', /POST/, 'Allow');
	for (const type of ['application/json', 'text/plain',
		'multipart/form-data; boundary=x', ''])
		t.eq((await agent.token(user, { type })).status, 415,
		    `type ${type}`);
	t.eq((await agent.token(user, { type:
	    'Application/X-WWW-Form-URLencoded; charset=utf-8' })).status, 200,
	    'the right type in odd case with a parameter');
	const q = await send(`${w.tokenEndpoint}?${form}`, { ca: w.ca,
		method: 'POST', body: '', headers: [
			['DPoP', user.proof('POST', w.tokenEndpoint)],
			['Content-Type', 'application/x-www-form-urlencoded']] });
	t.ok(q.status === 400 || q.status === 401, 'parameters in the query',
	    q.status);
});

test('an agent\'s User ID is nowhere in the database', proves('A-21'),
    async (t) => {
	const s = await agent.session();
	const dump = await w.dump();

	t.ok(dump.length > 1000, 'a dump', dump.length);
	t.ok(!dump.includes(s.user.sub), 'no sub as text');
	t.ok(!dump.includes(Buffer.from(s.user.sub).toString('hex')),
	    'no sub as bytes');
	t.ok(!dump.includes(s.token), 'no token');
	t.ok(!dump.includes(Buffer.from(s.token).toString('hex')),
	    'no token as bytes');
});

test('a token ends when its time is over', proves('R-6-10', 'R-4.2-23'),
    async (t) => {
	const s = await agent.session();

	await w.expireToken(s);
	t.challenged(await agent.call(s, 'GET', w.stock), 401, 'invalid_token',
	    'expired');
	const r = await agent.session(s.user, { form: { session_id: s.id } });
	t.eq((await agent.call(r, 'GET', w.stock)).status, 200, 'renewed');
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
	},
	after: () => w?.close(),
});
