// Login at the shop's own page in Chromium, and back by ticket; what an agent's
// browser finds there. Its own stack, with login by shop.
import { Agent, User } from '../e2e/lib/agent.mjs';
import { flows, signinSettings } from '../e2e/lib/signin.mjs';
import { proves, run, test } from '../e2e/lib/tap.mjs';
import { World } from '../e2e/lib/world.mjs';
import { Browser } from './lib/browser.mjs';
import { approve, decide, landing } from './lib/pages.mjs';

let w, b, ada, people;

const paloma = () => landing(ada(new User(), new Agent(w, { doc: {
	client_name: 'Paloma' } })));

async function shopLogin(page, account = people[0])
{
	await page.getByLabel('E-mail').fill(account.email);
	await page.getByLabel('Password').fill(account.password);
	await page.getByRole('button', { name: 'Log in' }).click();
}

// From the ticket to the page that asks: some pages only want a button, and
// with scripts the first of them presses itself.
async function onward(p)
{
	const { page } = p;
	const yes = page.locator('#poppy-ticket button, ' +
	    'button[value=continue]');

	for (let i = 0; i < 4; i++) {
		await page.locator('#poppy-ticket button, ' +
		    'button[value=continue], button[value=approve]').first()
		    .waitFor();
		await p.shot(`step-${i}`);
		if (await approve(page).count())
			return;
		await yes.first().click({ timeout: 3000 }).catch(() => {});
	}
}

for (const [name, opts] of [['', {}], [', without scripts',
	{ javaScriptEnabled: false }], [', on a phone',
	{ viewport: { width: 320, height: 568 }, hasTouch: true }]])
	test(`login at the shop and back${name}`, proves('R-4.5-1', 'R-4.5-7'),
	    async (t) => {
		const p = await b.person(opts), { page } = p;
		const f = paloma(), r = f.request();

		await page.goto(r.url);
		if (!page.url().includes('/login.php'))
			await page.locator('a.button').first().click();
		await page.waitForURL('**/login.php?poppy_request=*');
		await p.shot('shop');
		t.eq(await p.overflow(), 0, 'fits');
		await shopLogin(page);
		await onward(p);
		const back = await decide(page, approve(page), r);
		const s = await f.agent.session(f.user);
		t.eq((await f.redeem({ ...r, code: back.get('code') }, s.id))
		    .status, 200, 'signed in');
		await p.leave(t);
	}, { timeout: 90000 });

test('who is logged in at the shop already is asked, not passed through',
    proves('R-4.5-6'), async (t) => {
	const p = await b.person(), { page } = p, f = paloma(), r = f.request();

	await page.goto('/login.php');
	await shopLogin(page);
	await page.waitForURL('**/account.php');
	await page.goto(r.url);
	if (!page.url().includes('/login.php'))
		await page.locator('a.button').first().click();
	await page.waitForURL('**/login.php?poppy_request=*');
	t.match(await page.locator('h1').innerText(), /Are you/, 'a question');
	await p.shot('are-you');
	await page.getByRole('button', { name: /Continue as/ }).click();
	await onward(p);
	t.ok((await decide(page, approve(page), r)).get('code'), 'a code');
	await p.leave(t);
}, { timeout: 90000 });

test('a link to somebody else\'s sign-in leads nowhere', proves('R-4.5-6'),
    async (t) => {
	const p = await b.person(), q = await b.person(), f = paloma();
	const r = f.request();

	await p.page.goto(r.url);
	if (!p.page.url().includes('/login.php'))
		await p.page.locator('a.button').first().click();
	await p.page.waitForURL('**/login.php?poppy_request=*');
	await q.page.goto(p.page.url());
	await shopLogin(q.page);
	await q.page.waitForURL('**/poppy/**').catch(() => {});
	t.eq(await approve(q.page).count(), 0, 'the other browser is not asked');
	await p.page.goto(`${w.base}/poppy/agents`);
	t.eq(await p.page.getByRole('heading', { name: /connected/i }).count(),
	    0, 'nor is this one let in');
	await p.context.close();
	await q.context.close();
}, { timeout: 90000 });

test('the account page leads to the connected agents', proves('R-4.9-10'),
    async (t) => {
	const p = await b.person(), { page } = p;

	await page.goto('/login.php');
	await shopLogin(page);
	await page.waitForURL('**/account.php');
	t.ok(await page.locator('a[href$="/poppy/agents"]').count(), 'a link');
	await p.shot('account');
	await p.leave(t);
});

test('an agent\'s browser finds the shop\'s ways in shut', proves('R-4.5-6'),
    async (t) => {
	const p = await b.person(), { page } = p, f = paloma();

	await p.context.addCookies([{ name: '__Host-poppy', value: 'pbs_AAxyz',
		url: `${w.base}/`, secure: true, httpOnly: true }]);
	for (const path of ['/login.php', '/register.php', '/password.php',
		'/close.php', `/login.php?poppy_request=prq_AA${'A'.repeat(43)}`,
		f.request().url, '/poppy/login', '/poppy/agents']) {
		const res = await page.goto(path);

		t.eq(res.status(), 403, path);
		t.eq(await page.locator('input[type=password]').count(), 0,
		    `${path}: no password is asked for`);
	}
	await p.shot('shut');
	await p.context.close();
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			signinSettings(c);
			c.login = { ...c.login, by: 'shop',
				shop_url: `${c.issuer}/login.php` };
		} });
		people = w.customers();
		ada = flows(w, people[0]);
		b = await Browser.start(w);
	},
	after: async () => {
		await b?.stop();
		await w?.close();
	},
});
