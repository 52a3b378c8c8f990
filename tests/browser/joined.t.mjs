// A Chromium that an agent drives joins its Session by a form on another site
// (section 5); what is shut to it, and how that looks.
import { Agent, User } from '../e2e/lib/agent.mjs';
import { COOKIE, browserAssertion, browserSettings, endpoint, seenPages }
	from '../e2e/lib/browser.mjs';
import { accounts, decided } from '../e2e/lib/consent.mjs';
import { proves, run, test } from '../e2e/lib/tap.mjs';
import { World } from '../e2e/lib/world.mjs';
import { Browser } from './lib/browser.mjs';
import { Launch, ours } from './lib/launch.mjs';
import { CONTRAST } from './lib/look.mjs';

let w, b, launch, agent, people, ada;

// A User's sign-in and Session at our agent.
async function begin()
{
	const f = ada(new User(), agent);

	return { f, s: await agent.session(f.user) };
}

const text = (page) => page.locator('body').innerText();

function visit(name, rows, body, opts = {})
{
	test(name, rows, async (t) => {
		const p = await b.person(opts);

		await body(t, p, p.page);
		await p.leave(t);
	}, { timeout: 60000 });
}

visit('the cookie lands, and the page behind 303 has it at once',
    proves('R-5-13', 'R-5-17', 'R-5-21'), async (t, p, page) => {
	const { s } = await begin(), to = w.url('/seen.php?first=1');
	const seen = [];

	page.on('response', (r) => seen.push(r));
	await launch.join(page, s, '/seen.php?first=1');
	t.eq(seen.find((r) => r.url() === endpoint(w))?.status(), 303, 'join');
	const sent = await seen.find((r) => r.url() === to)?.request()
	    .allHeaders();
	t.match(sent?.cookie, new RegExp(`^${COOKIE}=pbs_`), 'sent at once');
	t.eq(sent?.referer, undefined, 'no referrer');
	t.match(await text(page), new RegExp(s.id), 'PHP knows the Session');
	const [c, ...more] = await ours(p);
	t.must(c, 'the cookie');
	t.eq([c.secure, c.httpOnly, c.sameSite, c.path, c.domain, more.length],
	    [true, true, 'Lax', '/', 'localhost', 0], 'as it must be');
	t.ok(c.expires > Date.now() / 1000, 'it ends some day');
	t.eq(await page.evaluate(() => document.cookie), '',
	    'no script reads it');
});

visit('every way in is shut', proves('R-5-18', 'R-4.5-6'),
    async (t, p, page) => {
	const { f, s } = await begin(), r = f.request();

	await launch.join(page, s);
	for (const path of ['/login.php', '/register.php', '/password.php',
		'/close.php', '/loft.php', '/poppy/login', '/poppy/agents',
		'/poppy/device', '/poppy/device?user_code=ABCD', r.url,
		`/login.php?poppy_request=prq_AA${'A'.repeat(43)}`]) {
		const res = await page.goto(path);

		t.eq(res.status(), 403, path);
		t.eq(await page.locator('input[type=password]').count(), 0,
		    `${path}: no password`);
	}
	for (const path of ['/poppy/login', '/poppy/login/ticket',
		`/poppy/consent/prq_AA${'A'.repeat(43)}`, '/login.php',
		'/register.php'])
		t.eq((await p.context.request.post(w.url(path), {
			headers: { Origin: w.base }, form: { ticket: 'x',
				login: people[0].email, email: people[0].email,
				password: people[0].password },
			ignoreHTTPSErrors: true })).status(), 403,
		    `POST ${path}`);
});

for (const [name, opts] of [['320 pixels', { viewport: { width: 320,
	height: 568 } }], ['the dark', { colorScheme: 'dark' }],
['without scripts', { javaScriptEnabled: false }]])
	visit(`a page that is refused can be read: ${name}`, proves('R-5-18'),
	    async (t, p, page) => {
		const { s } = await begin();
		const look = async (what) => {
			await p.shot(`${what}-${name.replaceAll(' ', '-')}`);
			t.match(await page.title(), /./, `${what}: title`);
			t.eq(await page.locator('h1').count(), 1,
			    `${what}: heading`);
			t.match(await page.locator('html').getAttribute('lang'),
			    /^en/, `${what}: language`);
			t.ok(await page.locator('main').count(),
			    `${what}: a main part`);
			if (opts.javaScriptEnabled !== false) {
				t.eq(await p.overflow(), 0, `${what}: fits`);
				t.eq(await page.evaluate(CONTRAST), [],
				    `${what}: contrast`);
			}
		};

		await launch.join(page, s, '/', { press: true });
		t.eq((await page.goto('/orders.php')).status(), 403, 'orders');
		await look('refused');
		t.eq((await page.goto('/login.php')).status(), 403, 'login');
		await look('closed');
		await page.goto(launch.page(endpoint(w), 'x', { press: true }));
		await Promise.all([page.waitForURL(endpoint(w)),
			page.locator('button').click()]);
		await look('failed');
	}, opts);

visit('an assertion in the URL sets nothing', proves('R-5-3'),
    async (t, p, page) => {
	const { s } = await begin();

	await page.goto(launch.page(endpoint(w), browserAssertion(agent, s),
	    { method: 'get' })).catch(() => {});
	await page.waitForURL(`${endpoint(w)}?**`);
	t.eq(await ours(p), [], 'no cookie');
});

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings });
		seenPages(w);
		agent = new Agent(w, { doc: { client_name: 'Paloma' } });
		people = await accounts(w);
		ada = decided(w, people[0]);
		launch = await Launch.start(agent);
		b = await Browser.start(w);
	},
	after: async () => {
		await b?.stop();
		await launch?.stop();
		await w?.close();
	},
});
