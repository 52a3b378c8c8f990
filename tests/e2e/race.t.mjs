// One proof, one assertion, sent at the very same moment to four workers in two
// processes: exactly one wins, every time.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { AUTHORIZER, RESPONDER, Shot, environment, request }
	from './lib/fcgi.mjs';
import { b64u, now, random, sha256 } from './lib/jose.mjs';
import { World } from './lib/world.mjs';

const ROUNDS = Number(process.env.POPPY_TEST_ROUNDS ?? 1000);
const BATCH = 10;		// rounds in flight together
let w, agent, auths, guards;

// Two shots at each of two processes, opened before the first is fired.
async function volley(sockets, bytes)
{
	const shots = await Promise.all([...sockets, ...sockets].map((p) =>
	    Shot.open(p)));

	return Promise.all(shots.map((s, i) => s.fire(bytes[i])));
}

// Rounds of volleys; make() gives the four requests of one. Says how many
// rounds had exactly one winner, and what else was answered.
async function rounds(sockets, n, make, lost)
{
	const out = { one: 0, none: 0, many: 0, odd: [] };

	for (let i = 0; i < n; i += BATCH)
		await Promise.all(Array.from({ length: Math.min(BATCH, n - i) },
		    async () => {
			const got = await volley(sockets, make());
			const won = got.filter((r) => r.status === 200).length;

			out[won === 1 ? 'one' : won === 0 ? 'none' : 'many']++;
			for (const r of got)
				if (r.status !== 200 && !lost(r))
					out.odd.push(`${r.status} ${r.text}`
					    .slice(0, 200));
		}));
	return out;
}

function judge(t, out, n)
{
	t.eq(out.one, n, 'rounds with exactly one winner');
	t.eq(out.many, 0, 'rounds with more');
	t.eq(out.none, 0, 'rounds with none');
	t.eq([...new Set(out.odd)].slice(0, 3), [], 'other answers');
}

const isLost = (status, code) => (r) =>
    r.status === status && r.text.includes(`"${code}"`);

const tokenRequest = (user, form, proof) => {
	const body = encode(form);

	return request(RESPONDER, environment('POST', w.tokenEndpoint, [
		['Content-Type', 'application/x-www-form-urlencoded'],
		['DPoP', proof]], body), body);
};

test(`one proof at the guard, four at once, ${ROUNDS} times`,
    proves('R-4.3-8'), async (t) => {
	const s = await agent.session();

	judge(t, await rounds(guards, ROUNDS, () => {
		const one = request(AUTHORIZER, { ...environment('GET', w.stock, [
			['Authorization', `DPoP ${s.token}`],
			['DPoP', s.user.proof('GET', w.stockBare,
			    { token: s.token })]]), ...w.guardVars });

		return [one, one, one, one];
	}, isLost(401, 'invalid_dpop_proof')), ROUNDS);
}, { timeout: 120000 });

test(`one proof under token requests, four at once, ${ROUNDS} times`,
    proves('R-4.3-8', 'R-4.3-12'), async (t) => {
	const user = new User();

	judge(t, await rounds(auths, ROUNDS, () => {
		const proof = user.proof('POST', w.tokenEndpoint);

		return Array.from({ length: 4 }, () =>
		    tokenRequest(user, agent.form(user), proof));
	}, isLost(400, 'invalid_dpop_proof')), ROUNDS);
}, { timeout: 200000 });

test(`one Session assertion, four at once, ${ROUNDS} times`,
    proves('R-4.2-6'), async (t) => {
	const user = new User();

	judge(t, await rounds(auths, ROUNDS, () => {
		const assertion = agent.sessionAssertion(user);

		return Array.from({ length: 4 }, () =>
		    tokenRequest(user, agent.form(user, { assertion }),
			user.proof('POST', w.tokenEndpoint)));
	}, isLost(400, 'invalid_grant')), ROUNDS);
}, { timeout: 200000 });

test(`one client assertion, four at once, ${ROUNDS} times`,
    proves('R-4.1-8'), async (t) => {
	const user = new User();

	judge(t, await rounds(auths, ROUNDS, () => {
		const client_assertion = agent.clientAssertion();

		return Array.from({ length: 4 }, () =>
		    tokenRequest(user, agent.form(user, { client_assertion }),
			user.proof('POST', w.tokenEndpoint)));
	}, isLost(401, 'invalid_client')), ROUNDS);
}, { timeout: 200000 });

test('the whole request, byte for byte, four at once, 200 times',
    proves('R-4.2-6', 'R-4.1-8', 'R-4.3-8'), async (t) => {
	const user = new User();
	const before = await w.countSessions();

	judge(t, await rounds(auths, 200, () => {
		const one = tokenRequest(user, agent.form(user),
		    user.proof('POST', w.tokenEndpoint));

		return [one, one, one, one];
	}, (r) => [400, 401].includes(r.status)), 200);
	t.eq(await w.countSessions() - before, 200, 'Sessions that came to be');
}, { timeout: 120000 });

test('one jti with four iats, four at once, 200 times', proves('R-4.3-8'),
    async (t) => {
	const s = await agent.session();

	judge(t, await rounds(guards, 200, () => {
		const jti = random();

		return [0, -10, -40, 5].map((d) => request(AUTHORIZER, {
			...environment('GET', w.stock, [
				['Authorization', `DPoP ${s.token}`],
				['DPoP', s.user.proof('GET', w.stockBare, {
					token: s.token,
					claims: { jti, iat: now() + d } })]]),
			...w.guardVars }));
	}, isLost(401, 'invalid_dpop_proof')), 200);
}, { timeout: 60000 });

test('through the web server the same', proves('R-4.3-8'), async (t) => {
	const s = await agent.session();

	for (let i = 0; i < 50; i++) {
		const proof = s.user.proof('GET', w.stockBare,
		    { token: s.token });
		const got = await Promise.all(Array.from({ length: 4 }, () =>
		    agent.call(s, 'GET', w.stock, { proof })));

		t.eq(got.map((r) => r.status).sort(), [200, 401, 401, 401],
		    `round ${i}`);
	}
}, { timeout: 60000 });

// Slots of replay memory are 900 s of signed time. Where a border is not near,
// the function that every process calls is asked with iats on both sides.
test('the same jti on both sides of a slot border', proves('R-4.3-8'),
    async (t) => {
	const at = now(), border = Math.floor(at / 900) * 900;

	for (const [one, two] of [[border - 1, border], [border, border - 1],
		[border + 900, border + 899], [border + 899, border + 900]]) {
		const live = (x) => x > at - 700 && x < at + 110;

		// Only iats that are live now can be asked about; one border of
		// the two is, unless we stand in the middle of a slot.
		if (!live(one) || !live(two)) {
			t.ok(true, 'this border is not live');
			continue;
		}
		const jti = b64u(sha256(random()));

		t.eq(await w.spend(jti, one), 'ok', `first, iat ${one - border}`);
		t.eq(await w.spend(jti, two), 'replay',
		    `second, iat ${two - border}`);
		t.eq(await w.spend(jti, one), 'replay', 'the first again');
	}
});

test('iats on both sides of a border, many at once', proves('R-4.3-8'),
    async (t) => {
	const at = now(), last = Math.floor(at / 900) * 900;
	// The border that is nearest to live on both sides.
	const border = at - last < 700 ? last : last + 900;
	const reach = border - 1 < at + 110 ? border : at;
	let wins = 0;

	for (let i = 0; i < 20; i++) {
		const jti = b64u(sha256(random()));
		const got = await Promise.all([reach - 1, reach, reach - 2,
			reach + 1].map((iat) => w.spend(jti, iat)));

		wins += got.filter((x) => x === 'ok').length;
		t.ok(got.every((x) => x === 'ok' || x === 'replay'), 'answers',
		    got);
	}
	t.eq(wins, 20, 'winners');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		await agent.session();
		auths = await w.twins('auth');
		guards = await w.twins('guard');
		// Both processes know the agent before it counts.
		for (const path of auths) {
			const user = new User();
			const shot = await Shot.open(path);

			await shot.fire(tokenRequest(user, agent.form(user),
			    user.proof('POST', w.tokenEndpoint)));
		}
	},
	after: () => w?.close(),
});
