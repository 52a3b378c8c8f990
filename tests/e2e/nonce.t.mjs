// DPoP nonces as a setting, on a stack that demands them (section 4.3; RFC 9449,
// 8 and 9). The nonces of other times are made here from the master key.
import { execFile, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { proves, run, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { now, random, tampered } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { World, freePort } from './lib/world.mjs';

const exec = promisify(execFile);
const SLOT = 120;
let w, agent, s;

// The nonce of a time, by any master key.
function nonceOf(at, master = readFileSync(`${w.dir}/secrets/master`))
{
	const key = Buffer.from(crypto.hkdfSync('sha256', master, '',
	    'poppy dpop nonce 1', 32));
	const slot = Buffer.alloc(16);

	slot.writeBigUInt64BE(8n, 0);
	slot.writeBigUInt64BE(BigInt(Math.floor(at / SLOT)), 8);
	return crypto.createHmac('sha256', key).update(slot).digest()
	    .subarray(0, 16).toString('base64url');
}

// Exactly one, fresh, in a reply that nobody stores.
function told(t, res, what)
{
	const all = res.all('dpop-nonce');

	t.eq(all.length, 1, `${what}: DPoP-Nonce headers`);
	t.ok([nonceOf(now()), nonceOf(now() - 5)].includes(all[0]),
	    `${what}: the nonce of now`, all);
	t.match(res.header('cache-control') ?? '', /no-store/,
	    `${what}: not stored`);
	t.match(res.header('access-control-expose-headers') ?? '',
	    /DPoP-Nonce/, `${what}: seen by scripts`);
	return all[0];
}

const proof = (user, nonce, opts = {}) => user.proof('POST', w.tokenEndpoint,
    { ...opts, claims: { nonce, ...opts.claims } });
const token = (user, nonce, opts = {}) => agent.token(user, { ...opts,
	proof: opts.proof ?? proof(user, nonce) });
const call = (x, nonce, opts = {}) => agent.call(x, 'GET', w.stock, {
	proof: x.user.proof('GET', w.stockBare, { token: x.token,
		claims: { nonce } }), ...opts });
const revoke = (opts = {}) => send(w.url('/poppy/oauth/revoke'), {
	ca: w.ca, method: 'POST', headers: [['Content-Type',
		'application/x-www-form-urlencoded']], body: '', ...opts });

test('the token endpoint asks for one: 400, and the retry succeeds',
    proves('R-4.3-13', 'R-4.3-14'), async (t) => {
	const user = new User();
	const res = await token(user);

	t.challenged(res, 400, 'use_dpop_nonce', 'without');
	const nonce = told(t, res, 'without');
	const again = await token(user, nonce);
	t.eq(again.status, 200, 'with it');
	told(t, again, 'a success');
});

test('the guard asks for one: 401, and the retry succeeds',
    proves('R-4.3-13', 'R-4.3-14'), async (t) => {
	const res = await call(s);

	t.challenged(res, 401, 'use_dpop_nonce', 'without');
	t.eq((await call(s, told(t, res, 'without'))).status, 200, 'with it');
});

test('a challenge burns nothing: the assertions are good for the retry',
    proves('R-4.3-13', 'R-4.2-6', 'R-4.1-8'), async (t) => {
	const user = new User(), jti = random();
	const form = { assertion: agent.sessionAssertion(user),
		client_assertion: agent.clientAssertion() };
	const before = await w.countSessions();

	for (let i = 0; i < 3; i++)
		t.challenged(await token(user, undefined, { form }), 400,
		    'use_dpop_nonce', `challenge ${i}`);
	t.eq(await w.countSessions(), before, 'no Session');
	// Not even the proof's own jti.
	const bare = proof(user, undefined, { claims: { jti } });
	t.challenged(await token(user, '', { form, proof: bare }), 400,
	    'use_dpop_nonce', 'with a jti');
	t.eq((await token(user, '', { form, proof: proof(user, nonceOf(now()),
	    { claims: { jti } }) })).status, 200, 'the same ones, once more');
	t.eq((await token(user, nonceOf(now()), { form })).status, 401,
	    'and then they are spent');
});

test('a challenge asks no database', proves('R-4.3-13'), async (t) => {
	// A line is written after its reply, so those of other requests may
	// come now: these are known by an address that is theirs alone.
	const from = '127.0.43.13';
	const lines = (program) => w.logs(program).filter((l) =>
	    l.event === 'request' && l.remote === from);

	for (const [program, status, ask] of [
		['auth', 400, () => token(new User(), undefined, { from })],
		['guard', 401, () => call(s, undefined, { from })]]) {
		await ask();
		t.ok(await until(() => lines(program).length > 0, 20000),
		    program);
		t.eq(lines(program).map((l) => [l.status, l.db_trips]),
		    [[status, 0]], program);
	}
});

test('forged, foreign and old nonces are refused with a fresh one',
    proves('R-4.3-13'), async (t) => {
	const good = nonceOf(now());
	const flip = (good[0] === 'A' ? 'B' : 'A') + good.slice(1);

	for (const [why, nonce] of [['empty', ''], ['a guess', random(16)],
		['cut', good.slice(1)], ['longer', `${good}A`],
		['changed', flip], ['in upper case', good.toUpperCase() + ' '],
		['the time', String(now())], ['of an hour ago',
			nonceOf(now() - 3600)],
		['two slots old', nonceOf(now() - 2 * SLOT)],
		['of the slot to come', nonceOf(now() + 2 * SLOT)],
		['by another master', nonceOf(now(), crypto.randomBytes(32))],
		['huge', 'A'.repeat(1500)]]) {
		const at = await token(new User(), nonce);

		t.challenged(at, 400, 'use_dpop_nonce', `token: ${why}`);
		told(t, at, `token: ${why}`);
		const guarded = await call(s, nonce);
		t.challenged(guarded, 401, 'use_dpop_nonce', `call: ${why}`);
		told(t, guarded, `call: ${why}`);
	}
});

test('the nonce of the slot before still counts', proves('R-4.3-13'),
    async (t) => {
	t.eq((await token(new User(), nonceOf(now() - SLOT))).status, 200,
	    'token');
	t.eq((await call(s, nonceOf(now() - SLOT))).status, 200, 'call');
});

test('a nonce that is no text is no proof', proves('R-4.3-13'),
    async (t) => {
	for (const nonce of [17, null, true, [nonceOf(now())],
		{ nonce: nonceOf(now()) }])
		t.challenged(await token(new User(), nonce), 400,
		    'invalid_dpop_proof', JSON.stringify(nonce));
});

test('a nonce makes no other fault good', proves('R-4.3-14'), async (t) => {
	const user = new User(), good = nonceOf(now());

	t.challenged(await token(user, '', { proof: tampered(proof(user,
	    good)) }), 400, 'invalid_dpop_proof', 'signature');
	t.challenged(await token(user, '', { proof: proof(user, good,
	    { claims: { iat: now() - 600 } }) }), 400, 'invalid_dpop_proof',
	    'iat');
	const once = proof(user, good);
	t.eq((await token(user, '', { proof: once })).status, 200, 'once');
	t.challenged(await token(user, '', { proof: once }), 400,
	    'invalid_dpop_proof', 'twice');
});

test('every reply of the OAuth endpoints has exactly one',
    proves('R-4.3-13'), async (t) => {
	const good = () => nonceOf(now());
	const user = new User();

	for (const [what, status, res] of [
		['no proof', 400, await token(user, '', { proof: null })],
		['garbage', 400, await token(user, '', { proof: 'x' })],
		['bad client', 401, await token(user, good(), { form:
			{ client_assertion: 'x' } })],
		['bad grant', 400, await token(user, good(), { form:
			{ assertion: 'x' } })],
		['no grant type', 400, await token(user, good(), { form:
			{ grant_type: undefined } })],
		['bad scope', 400, await token(user, good(), { form:
			{ scope: 'poppy:read' } })],
		['bad resource', 400, await token(user, good(), { form:
			{ resource: 'https://a.example/' } })],
		['bad Session', 400, await token(user, good(), { form:
			{ session_id: 'ses_x' } })],
		['no form', 415, await token(user, good(), { type:
			'application/json', body: '{}' })],
		['a long form', 413, await token(user, good(), { body:
			'a='.padEnd(40000, 'x') })],
		['GET', 405, await send(w.tokenEndpoint, { ca: w.ca })],
		['DELETE', 405, await send(w.tokenEndpoint, { ca: w.ca,
			method: 'DELETE' })],
		['revoke: nothing', 401, await revoke()],
		['revoke: bad client', 401, await revoke({ body:
			'client_id=x&client_assertion=y&token=z&' +
			'client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A' +
			'client-assertion-type%3Ajwt-bearer' })],
		['revoke: GET', 405, await send(w.url('/poppy/oauth/revoke'),
		    { ca: w.ca })]]) {
		t.eq(res.status, status, `${what}: status`);
		told(t, res, what);
	}
	const form = { client_id: agent.id, token: s.token,
		client_assertion_type: agent.form(user)[3][1],
		client_assertion: agent.clientAssertion({ aud:
			w.url('/poppy/oauth/revoke') }) };
	const res = await revoke({ body: new URLSearchParams({ ...form,
		token: 'pst_none' }).toString() });
	t.eq(res.status, 200, 'revoked');
	told(t, res, 'revoke: success');
});

test('discovery and pages have none', proves('R-4.3-13'), async (t) => {
	for (const p of ['/.well-known/poppy.json', '/poppy/oauth/nothing',
		'/.well-known/oauth-authorization-server', '/', '/api/none'])
		t.eq((await send(w.url(p), { ca: w.ca })).all('dpop-nonce'), [],
		    p);
});

test('every challenge of the guard has exactly one', proves('R-4.3-13'),
    async (t) => {
	const none = { authorization: null, proof: null };
	const reserved = w.url('/api/reserved.php');
	const with_ = (url) => s.user.proof('GET', url, { token: s.token,
		claims: { nonce: nonceOf(now()) } });

	for (const [what, status, res] of [
		['nothing', 401, await agent.call(s, 'GET', w.stock, none)],
		['no proof', 401, await agent.call(s, 'GET', w.stock,
		    { proof: null })],
		['Bearer', 401, await agent.call(s, 'GET', w.stock,
		    { scheme: 'Bearer' })],
		['sign-in', 403, await agent.call(s, 'GET', reserved,
		    { proof: with_(reserved) })]]) {
		t.eq(res.status, status, what);
		told(t, res, what);
	}
});

test('PHP gets the next nonce, to send it on', proves('R-4.3-13'),
    async (t) => {
	const res = await agent.call(s, 'GET', w.whoami, { proof: s.user.proof(
	    'GET', w.whoami, { token: s.token,
		claims: { nonce: nonceOf(now()) } }) });

	t.eq(res.status, 200, 'status');
	t.ok([nonceOf(now()), nonceOf(now() - 5)].includes(
	    w.who(res)?.POPPY_DPOP_NONCE), 'POPPY_DPOP_NONCE', res.json);
	t.eq(res.all('variable-poppy_dpop_nonce'), [], 'not to the agent');
});

test('poppy-agent learns the nonce and walks its whole visit',
    proves('R-4.3-13'), async (t) => {
	const port = await freePort();
	const program = `${process.env.POPPY_TEST_BUILD}/tools/poppy-agent/` +
	    'poppy-agent';
	const base = ['--state', `${w.dir}/agent-state.json`, '--ca',
		`${w.dir}/ca/ca.pem`];
	const serving = spawn(program, [...base, 'serve', '--listen',
		`127.0.0.1:${port}`, '--client-id',
		`https://localhost:${port}/agent.json`, '--cert',
		`${w.dir}/test-localhost.pem`, '--key',
		`${w.dir}/test-localhost.key`], { stdio: 'ignore' });

	try {
		t.must(await until(async () => {
			try {
				return (await send(
				    `https://localhost:${port}/agent.json`,
				    { ca: w.ca })).status === 200;
			} catch {
				return false;
			}
		}, 10000), 'it is published');
		const { stdout } = await exec(program, [...base, '--verbose',
			'visit', `localhost:${w.port}`]);
		t.match(stdout, /a nonce is required/, 'it was asked for one');
		t.match(stdout, /Session/, 'it has a Session');
	} catch (e) {
		t.ok(false, 'the visit', `${e.message} ${e.stdout ?? ''}`);
	} finally {
		serving.kill('SIGTERM');
		rmSync(`${w.dir}/agent-state.json`, { force: true });
	}
}, { timeout: 60000 });

test('without PostgreSQL: 503 to a good nonce, never another challenge',
    proves('R-4.3-13'), async (t) => {
	await w.pg('stop');
	try {
		const start = await token(new User(), nonceOf(now()));

		t.refused(start, 503, 'temporarily_unavailable', 'token');
		told(t, start, 'token');
		t.refused(await call(s, nonceOf(now())), 503,
		    'temporarily_unavailable', 'call');
		t.challenged(await token(new User()), 400, 'use_dpop_nonce',
		    'no nonce');
		t.challenged(await call(s, 'old'), 401, 'use_dpop_nonce',
		    'call without');
	} finally {
		await w.pg('start');
	}
	t.ok(await until(async () => (await call(s, nonceOf(now()))).status ===
	    200, 10000), 'and then as before');
}, { timeout: 60000 });

test('with nonces off, none is told and none is looked at',
    proves('R-4.3-13'), async (t) => {
	w.restart();
	const res = await token(new User(), 'anything');

	t.eq(res.status, 200, 'a nonce does no harm');
	t.eq(res.all('dpop-nonce'), [], 'token');
	const guarded = await call(s, undefined, { proof: null });
	t.challenged(guarded, 401, 'invalid_dpop_proof', 'call');
	t.eq(guarded.all('dpop-nonce'), [], 'call');
	const who = w.who(await agent.call(s, 'GET', w.whoami));
	t.ok(who, 'a plain call');
	t.eq(who?.POPPY_DPOP_NONCE, undefined, 'no variable');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			c.proofs = { nonces: true };
		} });
		agent = new Agent(w);
		const user = new User();
		s = await agent.session(user, { proof: proof(user,
		    nonceOf(now())) });
	},
	after: () => w?.close(),
});
