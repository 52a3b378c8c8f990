// Passwords are dear to check, and token requests must not wait for them.
import { proves, run, sleep, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { READ, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const STORM = 50;
// A password's, with bcrypt at cost 12: a quarter of a second of a processor.
const DEAR = '$2y$12$5ccfxAE9pNcTexfXMubn7uqTfewC/5JQ3K1zPXZP1WN5ha5LRUhym';
const WORD = 'ohne Belang';

let w, customer;

// Latencies of n starts of a known client, one after the other, sorted.
async function latencies(agent, n)
{
	const ms = [];

	for (let i = 0; i < n; i++) {
		const began = performance.now();
		const res = await agent.token(new User());

		ms.push(performance.now() - began);
		if (res.status !== 200)
			throw new Error(`no Session: ${res.text}`);
	}
	return ms.sort((x, y) => x - y);
}

const p99 = (sorted) => sorted[Math.floor(sorted.length * 0.99)];
const median = (all) => all.sort((x, y) => x - y)[all.length >> 1];

// A sign-in by whose reply nobody is surprised if it is late.
function login(s, password)
{
	const url = `${w.base}/poppy/sign-in`;

	return send(url, { ca: w.ca, method: 'POST', timeout: 60000,
		body: JSON.stringify({ scope: READ, credentials: {
			email: customer.email, password } }),
		headers: [['Content-Type', 'application/json'],
			['Authorization', `DPoP ${s.token}`],
			['DPoP', s.user.proof('POST', url, { token: s.token })]],
	});
}

// 50 logins at once; each ends as one that was checked or turned away.
async function storm()
{
	const all = [], agent = new Agent(w);
	const sessions = await Promise.all(Array.from({ length: STORM }, () =>
	    agent.session(new User())));
	let left = STORM;

	for (const [i, s] of sessions.entries())
		all.push(login(s, i === 0 ? WORD : `guess ${i}`)
		    .finally(() => left--));
	return { left: () => left, end: () => Promise.all(all) };
}

test('50 logins at once at bcrypt cost 12 don\'t hold up Session starts',
    proves('R-4.7-11'), async (t) => {
	const good = new Agent(w), quiet = [], busy = [];

	await latencies(good, 100);
	for (let round = 0; round < 3; round++) {
		quiet.push(p99(await latencies(good, 100)));
		const logins = await storm();

		// TLS handshakes of 50 peers are not what is measured.
		await sleep(700);
		busy.push(p99(await latencies(good, 100)));
		t.ok(logins.left() > 0, 'and the storm still lasts');
		const all = await logins.end();
		const good200 = all.filter((r) => r.status === 200);
		const away = all.filter((r) => r.status === 503);

		t.eq(good200.length + away.length, STORM, 'all are answered');
		t.ok(away.every((r) => Number(r.header('retry-after')) >= 1),
		    'who is turned away is told when to come again');
		t.ok(good200.filter((r) => r.json?.status === 'complete')
		    .length <= 1 && good200.every((r) =>
		    ['complete', 'failed'].includes(r.json?.status)),
		'none by a guess');
	}
	const ratio = median(busy.map((ms, i) => ms / quiet[i]));

	// On the workers eight at a time would keep others waiting for seconds.
	t.ok(ratio < 4 || median(busy) < 250, 'p99 of a start',
	    { ratio, quiet, busy });
}, { timeout: 240000 });

test('after a storm the right password is as good as before',
    proves('R-4.7-4'), async (t) => {
	const res = await login(await new Agent(w).session(new User()), WORD);

	t.eq(res.json?.status, 'complete', 'signed in');
});

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			signinSettings(c);
			c.sign_in.mediated = [READ];
			c.mediated = { code: 'never', failures_per_client: 100000 };
			c.limits = { ...c.limits, token_per_address: 0 };
		} });
		[customer] = w.customers();
		await w.sql(`UPDATE shop.customer SET password = '${DEAR}' ` +
		    `WHERE lower(email) = lower('${customer.email}')`);
	},
	after: () => w?.close(),
});
