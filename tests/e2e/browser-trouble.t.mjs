// Joining when something is away, slow, or asked too often. Its own stack.
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent } from './lib/agent.mjs';
import { browserSettings, cookieOf, endpoint, isJoined, isRefused, join, meta,
	seenPages } from './lib/browser.mjs';
import { Data } from './lib/data.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

let w, agent, s;

test('without the setting there is no route', proves('R-5-1'),
    async (t) => {
	const plain = await World.up({ bend: (c) => {
		delete c.browser;
		delete c.site;
	} });

	try {
		const a = new Agent(plain), mine = await a.session();
		const doc = await send(plain.url('/.well-known/poppy.json'),
		    { ca: plain.ca });

		t.eq(doc.status, 200, 'poppy.json');
		t.eq(doc.json?.web?.browser_session_endpoint, undefined,
		    'says nothing of it');
		const res = await join(a, mine);
		t.ok([404, 503].includes(res.status), 'status', res.status);
		t.eq(res.all('set-cookie').filter((c) => /poppy/.test(c)), [],
		    'no cookie');
		t.eq((await send(plain.url('/'), { ca: plain.ca })).status, 200,
		    'the shop is there');
	} finally {
		await plain.close();
	}
}, { timeout: 60000 });

test('a process that has never seen the client joins it', proves('R-5-2'),
    async (t) => {
	await w.program('browser', 'stop');
	await w.program('browser', 'start');
	isJoined(t, await join(agent, s), w.url('/seen.php'), 'from its copy');
	const before = agent.hits('jwks.json');
	await w.program('browser', 'stop');
	await w.age(agent.id, -90000);
	await w.program('browser', 'start');
	isJoined(t, await join(agent, s), w.url('/seen.php'), 'by a look');
	t.ok(agent.hits('jwks.json') > before, 'documents were fetched');
});

test('slow documents hold up nobody else', proves('R-5-2'), async (t) => {
	const slow = new Agent(w), his = await slow.session();
	const page = slow.jwks();
	let waiting = 0;

	w.docs.set(`/${slow.name}/jwks.json`, (req, res) => {
		waiting++;
		setTimeout(() => {
			res.writeHead(200, { 'Content-Type':
			    'application/json' });
			res.end(JSON.stringify(page));
		}, 1500);
	});
	await w.program('browser', 'stop');
	await w.age(slow.id, -90000);
	await w.program('browser', 'start');
	const first = Array.from({ length: 8 }, () => join(slow, his));
	t.ok(await until(() => waiting > 0), 'it is asked');
	const began = Date.now();
	isJoined(t, await join(agent, s), w.url('/seen.php'), 'another');
	t.ok(Date.now() - began < 1200, 'meanwhile', Date.now() - began);
	for (const res of await Promise.all(first))
		isJoined(t, res, w.url('/seen.php'), 'in the end');
	t.ok(waiting <= 2, 'one fetch for all', waiting);
});

test('documents that went away: no cookie', proves('R-5-4', 'R-5-14'),
    async (t) => {
	const gone = new Agent(w), his = await gone.session();

	gone.publish({ keys: [] });
	await w.age(gone.id, -90000);
	await w.program('browser', 'stop');
	await w.program('browser', 'start');
	const res = await join(gone, his);
	t.ok([400, 503].includes(res.status), 'no key', res.status);
	t.eq(res.all('set-cookie'), [], 'no cookie');
});

test('the database is away: 503 and no cookie', proves('R-5-14'),
    async (t) => {
	await w.pg('stop');
	try {
		isRefused(t, await join(agent, s), 'join', 503);
	} finally {
		await w.pg('start');
	}
	t.ok(await until(async () => (await join(agent, s)).status === 303,
	    10000, 200), 'it comes back');
}, { timeout: 60000 });

// The last ones, with other settings.
test('a cookie for all hosts of a domain, and for two browsers',
    proves('R-5-17', 'R-5-20'), async (t) => {
	const host = 'shop2.localhost', url = endpoint(w, host);
	const to = w.url('/', `www.${host}`);

	w.restart((c) => {
		browserSettings(c);
		c.browser = { enabled: true, cookie: '__Secure-poppy',
			domain: host, per_session: 2 };
		// The cookie's domain is that of all hosts which have one.
		for (const h of c.hosts)
			if (h.host !== host)
				delete h.domain;
		c.limits.token_per_address = 20;
	});
	seenPages(w);
	const mine = await agent.session();
	for (let i = 0; i < 3; i++) {
		const res = await join(agent, mine, { aud: url, return_to: to },
		    {}, { url });
		const c = cookieOf(res);

		isJoined(t, res, to, 'below the domain');
		t.eq([c.name, ...c.attributes.filter((a) => !/^Max/.test(a))
		    .sort()], ['__Secure-poppy', `Domain=${host}`, 'HttpOnly',
			'Path=/', 'SameSite=Lax', 'Secure'], 'its attributes');
	}
	t.eq((await w.sql('SELECT count(*) FROM poppy.browser WHERE sid = ' +
	    Data.sid(mine.id))).trim(), '2', 'the newest two');
}, { timeout: 60000 });

test('too many from one address: 429, and when to come again',
    proves('R-5-14'), async (t) => {
	const host = 'shop2.localhost', url = endpoint(w, host);
	const over = { aud: url, return_to: w.url('/', host) };
	const left = 60 - (Date.now() / 1000) % 60;
	let ok = 0, last;

	if (left < 10)
		await sleep((left + 0.5) * 1000);
	await w.sql('DELETE FROM poppy.limit_count');
	for (let i = 0; i < 25; i++) {
		last = await join(agent, s, over, {}, { url });
		ok += last.status === 303;
	}
	t.eq(ok, 20, 'joined');
	isRefused(t, last, 'then', 429);
	t.match(last.header('retry-after'), /^[1-9]\d?$/, 'Retry-After');
	t.eq(meta(last, 'error'), 'rate_limited', 'for machines');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings });
		seenPages(w);
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
