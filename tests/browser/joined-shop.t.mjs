// The shop in a Chromium that an agent drives: a banner, a cart and an account
// that follow the Session from page to page, whoever used this browser before.
import { Agent, User } from '../e2e/lib/agent.mjs';
import { COOKIE, browserSettings, seenPages } from '../e2e/lib/browser.mjs';
import { accounts, decided } from '../e2e/lib/consent.mjs';
import { READ, WRITE } from '../e2e/lib/signin.mjs';
import { proves, run, test } from '../e2e/lib/tap.mjs';
import { World } from '../e2e/lib/world.mjs';
import { Browser } from './lib/browser.mjs';
import { Launch, ours } from './lib/launch.mjs';

let w, b, launch, agent, people, ada;

// A User's sign-in and Session at our agent.
async function begin()
{
	const f = ada(new User(), agent);

	return { f, s: await agent.session(f.user) };
}

const text = (page) => page.locator('body').innerText();

// Take the first article of the first category; its name.
async function buy(page)
{
	await page.goto('/');
	await page.locator('a[href*="/category.php"]').first().click();
	await page.locator('main a[href*="/product.php"]').first().click();
	const name = await page.locator('h1').first().innerText();
	await page.locator('form[action*="cart"] button').first().click();
	await page.goto('/cart.php');
	return name;
}

async function inCart(page)
{
	await page.goto('/cart.php');
	return page.locator('.cart .lines a.name').allInnerTexts();
}

function visit(name, rows, body, opts = {})
{
	test(name, rows, async (t) => {
		const p = await b.person(opts);

		await body(t, p, p.page);
		await p.leave(t);
	}, { timeout: 60000 });
}

visit('a guest shops, signs in, signs out, and keeps the cart',
    proves('R-5-15', 'R-5-18', 'R-5-21', 'R-4.4-3'), async (t, p, page) => {
	const { f, s } = await begin();

	await launch.join(page, s);
	t.match(await text(page), /Paloma/, 'the banner names the agent');
	const name = await buy(page);
	t.eq(await inCart(page), [name], 'in the cart');
	await p.shot('guest-cart');
	t.eq((await page.goto('/account.php')).status(), 403, 'no account');
	t.match(await page.locator('meta[name=poppy-error]')
	    .getAttribute('content'), /^sign_in_required$/, 'why');
	const one = await f.signedIn({ scope: READ }, { session: s });
	t.eq((await page.goto('/account.php')).status(), 200, 'signed in');
	t.match(await text(page), new RegExp(people[0].email), 'the account');
	t.match(await text(page), /Paloma/, 'still the agent');
	await p.shot('account');
	t.eq((await page.goto('/orders.php')).status(), 200, 'orders');
	t.eq(await inCart(page), [name], 'the cart is there');
	t.eq((await page.goto('/writes.php')).status(), 403, 'no more');
	t.eq((await f.revoke(one.pat)).status, 200, 'signed out');
	t.eq((await page.goto('/account.php')).status(), 403, 'a guest again');
	await page.goto('/');
	t.unlike(await text(page), new RegExp(people[0].email), 'nobody');
	t.eq(await inCart(page), [name], 'the cart is kept');
	t.eq((await p.context.cookies()).map((c) => c.name), [COOKIE],
	    'no cookie of the shop came along');
});

visit('the banner names the scopes', proves('R-5-18'), async (t, p, page) => {
	const { f, s } = await begin();

	await f.signedIn({ scope: `${READ} ${WRITE}` }, { session: s });
	await launch.join(page, s);
	for (const scope of [/see orders/, /change things/])
		t.match(await text(page), scope, String(scope));
	await p.shot('banner');
});

visit('a second join replaces the first', proves('R-5-20'),
    async (t, p, page) => {
	const one = await begin(), two = await begin();

	await launch.join(page, one.s);
	const [first] = await ours(p);
	const name = await buy(page);
	await launch.join(page, two.s, '/seen.php');
	t.match(await text(page), new RegExp(two.s.id), 'the other Session');
	t.eq(await inCart(page), [], 'with a cart of its own');
	const now = await ours(p);
	t.eq(now.length, 1, 'one cookie');
	t.ok(now[0]?.value !== first?.value, 'another value');
	await launch.join(page, one.s, '/cart.php');
	t.eq(await inCart(page), [name], 'and back');
	await p.context.addCookies([first]);
	await page.goto('/seen.php');
	t.unlike(await text(page), new RegExp(one.s.id), 'the first is dead');
});

visit('a stale login in the browser changes nothing, and stays as it was',
    proves('R-5-19'), async (t, p, page) => {
	const { s } = await begin(), mail = new RegExp(people[0].email);

	await page.goto('/login.php');
	await page.getByLabel('E-mail').fill(people[0].email);
	await page.getByLabel('Password').fill(people[0].password);
	await page.getByRole('button', { name: 'Log in' }).click();
	await page.waitForURL('**/account.php');
	const name = await buy(page), before = await p.context.cookies();
	await launch.join(page, s);
	t.eq((await page.goto('/account.php')).status(), 403, 'a guest');
	t.eq(await inCart(page), [], 'whose cart is empty');
	await page.goto('/');
	t.unlike(await text(page), mail, 'whom nobody greets');
	t.eq((await p.context.cookies()).filter((c) => c.name !== COOKIE),
	    before, 'his cookies are untouched');
	await p.context.clearCookies({ name: COOKIE });
	t.eq((await page.goto('/account.php')).status(), 200, 'he is back');
	t.match(await text(page), mail, 'as himself');
	t.eq(await inCart(page), [name], 'with his cart');
});

visit('after the Session a guest to whom the doors stay shut', proves('R-5-16'),
    async (t, p, page) => {
	const { f, s } = await begin();

	await f.signedIn({ scope: READ }, { session: s });
	await launch.join(page, s, '/account.php');
	t.match(await text(page), new RegExp(people[0].email), 'before');
	await w.endSession(s.id);
	await page.goto('/');
	t.unlike(await text(page), new RegExp(`${people[0].email}|Paloma`),
	    'after');
	t.eq((await page.goto('/login.php')).status(), 403, 'no login');
	t.eq((await page.goto('/account.php')).status(), 403, 'no account');
	const again = await agent.session(f.user);
	await launch.join(page, again);
	t.match(await text(page), /Paloma/, 'another join');
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
