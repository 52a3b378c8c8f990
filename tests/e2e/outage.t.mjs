// What happens while a part is away: PostgreSQL, our programs. Its own stack.
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { readFileSync } from 'node:fs';
import { World } from './lib/world.mjs';

let w, agent, s;

function unavailable(t, res, what)
{
	t.refused(res, 503, 'temporarily_unavailable', what);
	t.match(res.header('retry-after') ?? '', /^[1-9]\d*$/,
	    `${what}: Retry-After`);
}

// Processor time of a process in ticks.
function ticks(pid)
{
	const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]
	    .split(' ');

	return Number(f[11]) + Number(f[12]);
}

test('all is well at first', [], async (t) => {
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'call');
});

test('PostgreSQL away: 503 with Retry-After, discovery goes on',
    [], async (t) => {
	const user = new User();
	const form = { assertion: agent.sessionAssertion(user),
		client_assertion: agent.clientAssertion() };
	const proof = user.proof('POST', w.tokenEndpoint);

	await w.pg('stop');
	for (let i = 0; i < 5; i++) {
		unavailable(t, await agent.token(new User()), 'token');
		unavailable(t, await agent.call(s, 'GET', w.stock), 'call');
		unavailable(t, await agent.token(user, { form, proof }),
		    'kept for later');
	}
	for (const p of ['/.well-known/poppy.json',
		'/.well-known/oauth-authorization-server'])
		t.eq((await send(w.url(p), { ca: w.ca })).status, 200, p);
	// What the database need not be asked for keeps its own answer.
	t.challenged(await agent.call(s, 'GET', w.stock,
	    { authorization: null, proof: null }), 401, 'invalid_token',
	    'no token');
	t.challenged(await agent.call(s, 'GET', w.stock, { proof: 'x' }), 401,
	    'invalid_dpop_proof', 'bad proof');
	// Nobody spins while it waits.
	const before = w.pids('auth').concat(w.pids('guard')).map(ticks);
	await sleep(2000);
	const after = w.pids('auth').concat(w.pids('guard')).map(ticks);
	t.ok(after.every((x, i) => x - before[i] < 20),
	    'processor time of two idle seconds', [before, after]);

	await w.pg('start');
	t.ok(await until(async () => (await agent.token(new User()))
	    .status === 200, 10000), 'tokens again, without a restart');
	t.ok(await until(async () => (await agent.call(s, 'GET', w.stock))
	    .status === 200, 10000), 'calls again');
	// An orderly stop forgets no replay: the request that was refused
	// before has burnt nothing, and counts once.
	t.eq((await agent.token(user, { form, proof })).status, 200,
	    'the request that was kept');
	t.eq((await agent.token(user, { form, proof })).status, 400,
	    'and only once');
}, { timeout: 90000 });

test('PostgreSQL killed: nothing that was spent can be used again',
    proves('R-4.3-8', 'R-4.2-6'), async (t) => {
	const user = new User();
	const form = { assertion: agent.sessionAssertion(user),
		client_assertion: agent.clientAssertion() };
	const proof = user.proof('POST', w.tokenEndpoint);
	const call = s.user.proof('GET', w.stockBare, { token: s.token });

	t.eq((await agent.token(user, { form, proof })).status, 200, 'token');
	t.eq((await agent.call(s, 'GET', w.stock, { proof: call })).status, 200,
	    'call');
	await w.pg('crash');
	await w.pg('start');
	// Replay memory is gone with the crash: what is as old as it, nobody can
	// judge, so it is "later", never "yes" and never a false "invalid".
	const seen = new Set();
	const first = await until(async () => {
		const res = await agent.token(user, { form, proof });

		seen.add(`${res.status} ${res.json?.error}`);
		return res.status === 503 && res.json?.error ===
		    'temporarily_unavailable' && res;
	}, 10000, 200);
	t.ok(first, 'the old token request', [...seen]);
	const again = await agent.call(s, 'GET', w.stock, { proof: call });
	t.eq(again.status, 503, 'the old call');
	t.ok(await until(async () => {
		const res = await agent.token(new User());

		if (res.status === 503)
			t.match(res.header('retry-after') ?? '', /^[1-9]\d*$/,
			    'Retry-After');
		return res.status === 200;
	}, 60000, 500), 'fresh requests are served after the skew');
	t.eq((await agent.token(user, { form, proof })).status === 200, false,
	    'the old one never');
	// The signed-out Session itself may be lost in a crash, not its proofs.
	const res = await agent.call(s, 'GET', w.stock, { proof: call });
	t.ok(res.status === 401 || res.status === 503, 'the old call', res.status);
}, { timeout: 120000 });

test('a database connection that is cut is made again', [], async (t) => {
	await w.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity " +
	    "WHERE usename LIKE 'poppy%'");
	const got = [];
	for (let i = 0; i < 20; i++)
		got.push((await agent.token(new User())).status);
	t.ok(got.every((x) => x === 200 || x === 503), 'answers', got);
	t.eq(got.at(-1), 200, 'the last');
	t.ok(got.filter((x) => x !== 200).length <= 8, 'few were refused', got);
});

test('a frozen PostgreSQL: an answer in time, no pile-up', [], async (t) => {
	await w.pg('freeze');
	try {
		const began = Date.now();
		const all = await Promise.all(Array.from({ length: 10 }, () =>
		    agent.token(new User(), {}).catch(() => ({ status: 0 }))));

		t.ok(all.every((r) => r.status === 503), 'answers',
		    all.map((r) => r.status));
		t.ok(Date.now() - began < 15000, 'in time', Date.now() - began);
	} finally {
		await w.pg('thaw');
	}
	t.ok(await until(async () => (await agent.token(new User()))
	    .status === 200, 20000, 300), 'served again');
}, { timeout: 90000 });

test('a program killed in the middle: the others and its heir serve', [],
    async (t) => {
	await w.program('guard', 'kill');
	const res = await agent.call(s, 'GET', w.stock);
	t.ok(res.status >= 500, 'without the guard nothing opens', res.status);
	t.ok(!res.text.includes(w.sku), 'and nothing leaks');
	t.eq((await agent.token(new User())).status, 200, 'auth lives');
	await w.program('guard', 'start');
	const fresh = await agent.session();
	t.ok(await until(async () => (await agent.call(fresh, 'GET', w.stock))
	    .status === 200, 10000), 'the guard again');
}, { timeout: 60000 });

test('poppy and PostgreSQL stopped: a plain visitor sees no difference',
    [], async (t) => {
	const pages = w.freePages;
	const before = [];

	for (const p of pages)
		before.push((await send(w.url(p), { ca: w.ca })).text);
	await w.program('auth', 'stop');
	await w.program('guard', 'stop');
	await w.pg('stop');
	try {
		for (const [i, p] of pages.entries()) {
			const res = await send(w.url(p), { ca: w.ca,
				headers: [['Cookie', 'PHPSESSID=abc; a=b']] });

			t.eq(res.status, 200, p);
			t.eq(res.text, before[i], `${p}: the same`);
		}
		const api = await send(w.stock, { ca: w.ca });
		t.ok(api.status >= 500, 'the API stays shut', api.status);
	} finally {
		await w.pg('start');
		await w.program('auth', 'start');
		await w.program('guard', 'start');
	}
	t.ok(await until(async () => (await agent.token(new User()))
	    .status === 200, 20000), 'all is back');
}, { timeout: 90000 });

await run({
	before: async () => {
		w = await World.up();
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
