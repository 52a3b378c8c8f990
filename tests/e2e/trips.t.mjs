// One round trip to PostgreSQL for each grant and a guarded call; none for what
// can be refused without it. The programs say in their log lines
// how many they made.
import { readFileSync, readdirSync } from 'node:fs';
import { proves, run, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { accounts, decided } from './lib/consent.mjs';
import { tampered } from './lib/jose.mjs';
import { signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, agent, s, flow;

// Each connection prepares a statement once, which is a round trip of its own:
// at most one for each worker of each process.
const WORKERS = 8;

// The numbers of round trips in log lines written since mark, by path and status.
function trips(mark, path, status)
{
	const found = [];

	for (const f of readdirSync(`${w.dir}/log`)) {
		const text = readFileSync(`${w.dir}/log/${f}`, 'utf8')
		    .slice(mark.get(f) ?? 0);

		for (const line of text.split('\n').slice(0, -1)) {
			if (!line.includes('"event":"request"'))
				continue;
			const e = JSON.parse(line);

			if (e.path === path && e.status === status)
				found.push(e.db_trips);
		}
	}
	return found;
}

function mark()
{
	return new Map(readdirSync(`${w.dir}/log`).map((f) =>
	    [f, readFileSync(`${w.dir}/log/${f}`, 'utf8').length]));
}

async function times(n, fn)
{
	for (let i = 0; i < n; i++)
		await fn(i);
}

// The same, as soon as there are n: a line is written after its reply.
async function tripsOf(n, look)
{
	let found = [];

	await until(() => (found = look()).length >= n, 20000);
	return found;
}

async function oneEach(t, m, path, status, n)
{
	const found = await tripsOf(n, () => trips(m, path, status));

	// Some that began before the mark may be among them.
	t.ok(found.length >= n, `${n} lines`, found.length);
	t.ok(found.every((k) => k === 1 || k === 2), 'one, or two', found);
	t.ok(found.filter((k) => k === 2).length <= WORKERS * w.processes,
	    'two only where a statement was prepared', found);
}

test('a Session start and a renewal take one round trip', proves(), async (t) => {
	const m = mark();

	await times(60, async () => {
		const one = await agent.session(new User());

		t.eq((await agent.token(one.user,
		    { form: { session_id: one.id } })).status, 200, 'renewed');
	});
	await oneEach(t, m, '/poppy/oauth/token', 200, 120);
});

test('a code takes one, a poll and a refresh', proves(), async (t) => {
	const one = async () => {
		const f = flow();
		return { f, s: await f.agent.session(f.user), c: await f.code(),
			d: (await f.begun()).d };
	};
	const all = [];

	for (let i = 0; i < 20; i++)
		all.push(await one());
	let m = mark();
	for (const x of all)
		x.pat = (await x.f.redeem(x.c, x.s.id)).json.refresh_token;
	await oneEach(t, m, '/poppy/oauth/token', 200, 20);
	m = mark();
	for (const x of all)
		t.refused(await x.f.poll(x.d, x.s.id), 400,
		    'authorization_pending', 'poll');
	await oneEach(t, m, '/poppy/oauth/token', 400, 20);
	m = mark();
	await times(60, async (i) => t.eq((await all[i % 20].f.refresh(all[i % 20]
	    .pat)).status, 200, 'refreshed'));
	await oneEach(t, m, '/poppy/oauth/token', 200, 60);
}, { timeout: 60000 });

test('a guarded call takes one', proves(), async (t) => {
	const m = mark();

	await times(60, async () =>
	    t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'called'));
	await oneEach(t, m, '/api/stock.php', 200, 60);
});

test('what is no token or code takes one less',
    proves(), async (t) => {
	const f = flow(), x = { code: 'pac_', verifier: 'a'.repeat(43),
		redirect: f.redirect };

	await f.agent.session(f.user);
	const m = mark();
	await times(10, async () => {
		t.refused(await f.redeem(x, s.id), 400, 'invalid_grant', 'code');
		t.refused(await f.poll({ device_code: 'pdc_' }, s.id), 400,
		    'invalid_grant', 'device_code');
		t.refused(await f.refresh('pat_'), 400, 'invalid_grant',
		    'Account Token');
	});
	const found = await tripsOf(30, () => trips(m, '/poppy/oauth/token',
	    400));
	t.eq(found.length, 30, 'lines');
	t.ok(found.filter((k) => k === 0).length >= 20, 'not asked', found);
});

test('a proof that is wrong takes none', proves(), async (t) => {
	const m = mark();

	await times(20, async () => {
		await agent.token(s.user, { proof: tampered(s.user.proof('POST',
		    w.tokenEndpoint)) });
		await agent.call(s, 'GET', w.stock, { proof: tampered(
		    s.user.proof('GET', w.stockBare, { token: s.token })) });
	});
	const found = await tripsOf(40, () => [
		...trips(m, '/poppy/oauth/token', 400),
		...trips(m, '/api/stock.php', 401)]);

	t.eq(found.length, 40, 'lines');
	t.ok(found.every((k) => k === 0), 'not asked', found);
});

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		flow = decided(w, (await accounts(w))[0]);
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
