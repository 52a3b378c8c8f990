// Growth: tens of thousands of requests, and neither memory nor descriptors of
// the programs move. POPPY_TEST_REQUESTS=1000000 makes it a million.
import { readFileSync, readdirSync } from 'node:fs';
import { run, sleep, test } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { AUTHORIZER, RESPONDER, Shot, environment, request }
	from './lib/fcgi.mjs';
import { World } from './lib/world.mjs';

const TOTAL = Number(process.env.POPPY_TEST_REQUESTS ?? 50000);
const WARM = Math.min(10000, TOTAL / 5);
const LOOPS = 8;
const WORKERS = 4;		// of a program, as the tests' settings have it
const EACH = 20;		// calls with one token
// A sanitizer's own books grow with what it has seen.
const SANITIZED = /san/.test(process.env.POPPY_TEST_BUILD ?? '');
let w, agent, socks;

const form = 'application/x-www-form-urlencoded';

function start(user)
{
	const body = encode(agent.form(user));

	return request(RESPONDER, environment('POST', w.tokenEndpoint, [
		['Content-Type', form],
		['DPoP', user.proof('POST', w.tokenEndpoint)]], body), body);
}

const call = (s) => request(AUTHORIZER, { ...environment('GET', w.stock, [
	['Authorization', `DPoP ${s.token}`],
	['DPoP', s.user.proof('GET', w.stockBare, { token: s.token })]]),
...w.guardVars });

// One more connection each, as from lighttpd.
async function ask(sock, bytes)
{
	return (await Shot.open(sock)).fire(bytes);
}

// Good ones, and every tenth call refused: those must not leak either.
async function work(n, seen)
{
	let left = n;
	const note = (status) => {
		seen[status] = (seen[status] ?? 0) + 1;
		left--;
	};
	const loop = async () => {
		while (left > 0) {
			const user = new User();
			const res = await ask(socks.auth, start(user));

			note(res.status);
			if (res.status !== 200)
				continue;
			const s = { user, token: res.json.access_token };
			for (let i = 0; i < EACH && left > 0; i++) {
				const bytes = call(i % 10 === 9 ?
				    { user: new User(), token: s.token } : s);

				note((await ask(socks.guard, bytes)).status);
			}
		}
	};

	await Promise.all(Array.from({ length: LOOPS }, loop));
}

// A worker that no request has needed so far has no connection to the database
// yet: the one that was busy last goes first.
async function size(program)
{
	const pid = w.pids(program)[0];
	const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm')
	    .exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]);

	return { rss: kib('Rss'), fds: readdirSync(`/proc/${pid}/fd`).length,
		db: Number(await w.sql('SELECT count(*) FROM pg_stat_activity ' +
		    `WHERE usename = 'poppy_${program}'`)) };
}

test(`${TOTAL} requests: memory and descriptors stay`, [], async (t) => {
	const seen = {};

	await work(WARM, seen);
	await sleep(500);
	const before = { auth: await size('auth'), guard: await size('guard') };
	await work(TOTAL - WARM, seen);
	await sleep(500);
	for (const program of ['auth', 'guard']) {
		const at = await size(program), was = before[program];

		t.ok(at.db <= WORKERS, `connections of poppy-${program}`, at);
		t.ok(at.fds - at.db <= was.fds - was.db,
		    `other descriptors of poppy-${program}`, [was, at]);
		t.ok(SANITIZED || at.rss <= was.rss + 1024,
		    `KiB of poppy-${program}`, [was, at]);
		console.log(`# poppy-${program}: ${was.rss} KiB after ` +
		    `${WARM}, ${at.rss} KiB after ${TOTAL}`);
	}
	t.ok((seen[200] ?? 0) > TOTAL * 0.8, 'served', seen);
	t.ok((seen[401] ?? 0) > TOTAL * 0.05, 'refused', seen);
	t.eq(Object.keys(seen).sort(), ['200', '401'], 'answers');
}, { timeout: 60000 + TOTAL * 10 });

await run({
	before: async () => {
		w = await World.up();
		agent = new Agent(w);
		await agent.session();
		const sock = (p) => {
			const { argv } = w.command(w.pids(p)[0]);

			return argv[argv.indexOf('-l') + 1];
		};
		socks = { auth: sock('auth'), guard: sock('guard') };
	},
	after: () => w?.close(),
});
