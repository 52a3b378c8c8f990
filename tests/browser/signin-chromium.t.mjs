// Sign-in in Chromium: what customers see and do, with and without scripts, by
// keyboard, on small windows, in the dark and from right to left.
import { Agent, User } from '../e2e/lib/agent.mjs';
import { ALL, READ, WRITE, flows, signinSettings }
	from '../e2e/lib/signin.mjs';
import { proves, run, test } from '../e2e/lib/tap.mjs';
import { World } from '../e2e/lib/world.mjs';
import { Browser } from './lib/browser.mjs';
import { CONTRAST } from './lib/look.mjs';
import { approve, consent, decide, decline, enter, landing, login }
	from './lib/pages.mjs';

let w, b, ada, people;

const paloma = () => landing(ada(new User(), new Agent(w, { doc: {
	client_name: 'Paloma', logo_uri: `${w.docs.base}/logo.svg` } })));

// A point with a person of its own, who leaves with nothing held against us.
function visit(name, rows, opts, body)
{
	test(name, rows, async (t) => {
		const p = await b.person(opts);

		await body(t, p, p.page);
		await p.leave(t);
	}, { timeout: 60000 });
}

visit('Direct Sign-In, from the agent and back to it',
    proves('R-4.5-1', 'R-4.5-5', 'R-4.5-6', 'R-4.5-7', 'R-4.5-8'), {},
    async (t, p, page) => {
	const f = paloma(), r = f.request({ scope: ALL });

	await page.goto(r.url);
	await p.shot('login');
	await login(page, people[0]);
	await approve(page).waitFor();
	await p.shot('consent');
	t.match(await page.locator('main').innerText(), /Paloma/, 'name');
	t.eq(await page.locator('input[name=scope]').count(), 3, 'scopes');
	const back = await decide(page, approve(page), r);
	t.eq([back.get('state'), back.get('iss')], [r.state, w.base], 'back');
	t.eq(await page.evaluate(() => document.referrer), '', 'no referrer');
	const s = await f.agent.session(f.user);
	const res = await f.redeem({ ...r, code: back.get('code') }, s.id);
	t.eq([res.status, res.json?.signed_in], [200, true], 'signed in');
	t.eq(await f.reads(f.session(res)), '200', 'account call');
});

visit('a scope unticked is not granted', proves('R-4.5-6', 'R-4.4-12'), {},
    async (t, p, page) => {
	const f = paloma(), r = f.request();

	await consent(page, r, people[0]);
	const box = page.locator(`input[name=scope][value="${WRITE}"]`);
	t.eq(await box.isChecked(), true, 'ticked at first');
	await box.uncheck();
	await p.shot('unticked');
	const back = await decide(page, approve(page), r);
	const s = await f.agent.session(f.user);
	t.eq((await f.redeem({ ...r, code: back.get('code') }, s.id)).json
	    ?.scope, READ, 'scope');
});

visit('declining', proves('R-4.5-9'), {}, async (t, p, page) => {
	const f = paloma(), r = f.request();

	await consent(page, r, people[0]);
	const back = await decide(page, decline(page), r);
	t.eq([back.get('error'), back.get('state'), back.get('iss')],
	    ['access_denied', r.state, w.base], 'back');
});

visit('without scripts it is the same', proves('R-4.5-6', 'R-4.5-7'),
    { javaScriptEnabled: false }, async (t, p, page) => {
	const f = paloma(), r = f.request();

	await consent(page, r, people[0]);
	t.ok((await decide(page, approve(page), r)).get('code'), 'a code');
});

// Tab until the element has the focus; 40 are more than any page of ours has.
async function tabTo(page, locator)
{
	for (let i = 0; i < 40; i++) {
		await page.keyboard.press('Tab');
		if (await locator.evaluate((e) => e === document.activeElement))
			return i + 1;
	}
	return null;
}

visit('by keyboard alone, and one sees where one is', proves('R-4.5-6'), {},
    async (t, p, page) => {
	const f = paloma(), r = f.request();

	await page.goto(r.url);
	const name = page.locator('input[autocomplete=username]');
	if (!await name.evaluate((e) => e === document.activeElement))
		t.ok(await tabTo(page, name), 'login name');
	await page.keyboard.type(people[0].email);
	t.ok(await tabTo(page, page.locator('input[type=password]')),
	    'password');
	await page.keyboard.type(people[0].password);
	await page.keyboard.press('Enter');
	await approve(page).waitFor();
	const box = page.locator(`input[name=scope][value="${WRITE}"]`);
	t.ok(await tabTo(page, box), 'a scope');
	await page.keyboard.press('Space');
	t.eq(await box.isChecked(), false, 'unticked');
	t.ok(await tabTo(page, approve(page)), 'approve');
	const ring = await approve(page).evaluate((e) => {
		const s = getComputedStyle(e);

		return [s.outlineStyle, s.outlineWidth, s.boxShadow];
	});
	t.ok((ring[0] !== 'none' && ring[1] !== '0px') || ring[2] !== 'none',
	    'the focus shows', ring);
	await p.shot('focus');
	await Promise.all([page.waitForURL((u) => u.href.startsWith(r.redirect)),
		page.keyboard.press('Enter')]);
	t.ok(new URL(page.url()).searchParams.get('code'), 'a code');
});

// What is wrong with a page for people who don't see or point well.
const LABELS = () => [...document.querySelectorAll(
    'input:not([type=hidden]), button')].filter((e) =>
    !(e.labels?.length || e.getAttribute('aria-label') ||
	e.textContent.trim())).map((e) => e.outerHTML);

async function accessible(t, page, what)
{
	t.eq(await page.evaluate(CONTRAST), [], `${what}: contrast`);
	t.eq(await page.evaluate(LABELS), [], `${what}: labels`);
	t.eq(await page.locator('h1').count(), 1, `${what}: one heading`);
	t.ok(await page.locator('main').count(), `${what}: a main part`);
	t.match(await page.title(), /./, `${what}: a title`);
}

for (const [name, opts] of [
	['a wide window', { viewport: { width: 1280, height: 800 } }],
	['a phone of 320 pixels', { viewport: { width: 320, height: 568 },
		hasTouch: true }],
	// What 200 % of zoom leaves of 640 pixels.
	['zoom of 200 %', { viewport: { width: 320, height: 400 },
		deviceScaleFactor: 2 }],
	['the dark', { colorScheme: 'dark' }],
	['a phone in the dark', { colorScheme: 'dark',
		viewport: { width: 320, height: 568 } }]])
	visit(`all pages fit ${name}`, proves('R-4.5-6'), opts,
	    async (t, p, page) => {
		const f = paloma(), r = f.request({ scope: ALL });
		const look = async (what) => {
			await p.shot(`${name}-${what}`.replace(/[ %]+/g, '-'));
			t.eq(await p.overflow(), 0, `${what}: fits`);
			await accessible(t, page, what);
		};

		await page.goto(r.url);
		await look('login');
		await enter(page, { ...people[0], password: 'wrong' });
		await page.locator('[role=alert]').waitFor();
		await look('wrong');
		await consent(page, r, people[0]);
		await look('consent');
		await page.goto('/poppy/device');
		await look('device');
		await page.goto('/poppy/agents');
		await look('agents');
		await page.goto(f.request({ redirect_uri: 'x' }).url);
		await look('error');
		if (opts.colorScheme === 'dark')
			t.ok(await page.evaluate(() => getComputedStyle(document
			    .body).backgroundColor.match(/\d+/g).every((v) =>
			    v < 100)), 'dark');
	});

visit('Arabic, from right to left', proves('R-4.5-6'),
    { locale: 'ar-EG', viewport: { width: 320, height: 568 } },
    async (t, p, page) => {
	const f = paloma(), r = f.request();

	await consent(page, r, people[0]);
	await p.shot('arabic');
	t.eq(await page.evaluate(() => [document.documentElement.lang,
		getComputedStyle(document.body).direction]), ['ar', 'rtl'],
	'language and direction');
	t.match(await page.locator('h1').innerText(), /[\u0600-\u06ff]/,
	    'in Arabic letters');
	t.eq(await p.overflow(), 0, 'fits');
	t.ok((await decide(page, approve(page), r)).get('code'), 'a code');
});

test('Device Sign-In on a second browser',
    proves('R-4.6-4', 'R-4.6-5', 'R-4.6-8', 'R-4.6-13'), async (t) => {
	const f = paloma(), d = (await f.device()).json;
	const s = await f.agent.session(f.user);
	const p = await b.person({ viewport: { width: 390, height: 700 } });
	const { page } = p;

	await page.goto(d.verification_uri);
	await page.locator('input[type=password], input[name=user_code]')
	    .first().waitFor();
	if (await page.locator('input[type=password]').count())
		await login(page, people[0]);
	await page.locator('input[name=user_code]').fill(d.user_code
	    .toLowerCase().replace('-', ''));
	await page.keyboard.press('Enter');
	if (await page.locator('input[type=password]').count())
		await login(page, people[0]);
	await approve(page).waitFor();
	await p.shot('device-consent');
	t.refused(await f.poll(d, s.id), 400, 'authorization_pending',
	    'not by looking');
	await approve(page).click();
	await decline(page).waitFor({ state: 'detached' });
	await p.shot('device-done');
	await new Promise((ok) => setTimeout(ok, 1200));
	t.eq((await f.poll(d, s.id)).status, 200, 'signed in');
	await p.leave(t);
	const q = await b.person();
	await q.page.goto(d.verification_uri_complete);
	await login(q.page, people[1]);
	t.eq(await approve(q.page).count(), 0, 'used up for everybody else');
	await q.leave(t);
}, { timeout: 60000 });

test('no page can be framed', proves('R-4.5-6'), async (t) => {
	const f = paloma(), r = f.request(), p = await b.person();
	const { page } = p;

	await consent(page, r, people[0]);
	for (const url of [page.url(), `${w.base}/poppy/login`,
		`${w.base}/poppy/device`, `${w.base}/poppy/agents`, r.url]) {
		w.docs.set('/frame', (req, res) => {
			res.writeHead(200, { 'Content-Type': 'text/html' });
			res.end(`<!doctype html><iframe src="${url}"></iframe>`);
		});
		await page.goto(`${w.docs.base}/frame`);
		await page.waitForTimeout(200);
		const inside = page.frames().find((x) =>
		    x !== page.mainFrame());
		t.eq(await inside.locator('form').count().catch(() => 0), 0,
		    url);
	}
	await p.context.close();
}, { timeout: 60000 });

test('a form on another site can\'t approve', proves('R-4.5-6'),
    async (t) => {
	const f = paloma(), r = f.request(), p = await b.person();
	const { page } = p;

	await consent(page, r, people[0]);
	const form = await page.locator('form:has(button[value=approve])')
	    .evaluate((x) => [x.action, [...new FormData(x)]]);
	const fields = [...form[1], ['decision', 'approve']].map(([k, v]) =>
	    `<input name="${k}" value="${v}">`).join('');
	w.docs.set('/evil', (req, res) => {
		res.writeHead(200, { 'Content-Type': 'text/html' });
		res.end('<!doctype html><form method=post action="' +
		    `${form[0]}">${fields}<button>Win</button></form>`);
	});
	const ask = page.url();
	await page.goto(`${w.docs.base}/evil`);
	await page.locator('button').click();
	await page.waitForTimeout(300);
	t.ok(!page.url().startsWith(r.redirect), 'no redirect', page.url());
	await page.goto(ask);
	t.ok(await approve(page).count(), 'still open');
	await p.context.close();
}, { timeout: 60000 });

const EVIL = '<img src=x onerror="document.title=\'owned\'">' +
    '<script>document.title="owned"</script>"\'>';

visit('markup in an agent\'s words runs nothing', proves('R-4.5-5'), {},
    async (t, p, page) => {
	const f = landing(ada(new User(), new Agent(w, { doc: {
		client_name: EVIL } })));
	const q = encodeURIComponent(EVIL);

	for (const url of [f.request({ state: EVIL }).url,
		f.request({ redirect_uri: EVIL }).url,
		f.request({ client_id: EVIL }).url,
		`/poppy/device?user_code=${q}`, `/poppy/login?next=${q}`]) {
		await page.goto(url);
		if (await page.locator('input[type=password]').count()) {
			await login(page, people[0]);
			await page.locator('h1').waitFor();
		}
		await page.waitForTimeout(50);
		t.unlike(await page.title(), /owned/, url.slice(0, 60));
		t.eq(await page.locator('img[onerror], main script').count(), 0,
		    url.slice(0, 60));
	}
	await p.shot('markup');
});

test('a Session\'s browser finds every way in shut', proves('R-4.5-6'),
    async (t) => {
	const f = paloma(), r = f.request(), p = await b.person();
	const { page } = p, d = (await f.device()).json;

	await consent(page, r, people[0]);
	const ask = page.url();
	await p.context.addCookies([{ name: '__Host-poppy', value: 'pbs_AAxyz',
		url: `${w.base}/`, secure: true, httpOnly: true }]);
	for (const url of [ask, r.url, '/poppy/login', '/poppy/device',
		d.verification_uri_complete, '/poppy/agents']) {
		const res = await page.goto(url);

		t.eq(res.status(), 403, url);
		t.eq(await page.locator('form').count(), 0, `${url}: no form`);
	}
	await p.shot('shut');
	await p.context.close();
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		people = w.customers();
		ada = flows(w, people[0]);
		w.docs.set('/logo.svg', (req, res) => {
			res.writeHead(200, { 'Content-Type': 'image/svg+xml' });
			res.end('<svg xmlns="http://www.w3.org/2000/svg" ' +
			    'viewBox="0 0 9 9"><circle cx="4" cy="4" r="4"/></svg>');
		});
		b = await Browser.start(w);
	},
	after: async () => {
		await b?.stop();
		await w?.close();
	},
});
