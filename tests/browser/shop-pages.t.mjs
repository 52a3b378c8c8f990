// The demo shop in Chromium: a visitor without our cookie finds every page as
// it was, also while our programs are away.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Docs } from '../e2e/lib/docs.mjs';
import { run, test } from '../e2e/lib/tap.mjs';
import { World } from '../e2e/lib/world.mjs';
import { Browser } from './lib/browser.mjs';

let w, b, account;

async function login(p)
{
	const { page } = p;

	await page.goto('/login.php?next=/account.php');
	await page.getByLabel('E-mail').fill(account.email);
	await page.getByLabel('Password').fill(account.password);
	await page.getByRole('button', { name: 'Log in' }).click();
	await page.waitForURL('**/account.php');
}

// What a customer does: look, put something into the cart, log in.
async function visit(t, p, name)
{
	const { page } = p;

	t.eq((await page.goto('/')).status(), 200, 'front page');
	await p.shot(`${name}-front`);
	await page.goto(`/search.php?q=${encodeURIComponent(w.sku)}`);
	await page.goto('/');
	await page.locator('a[href*="/category.php"]').first().click();
	await page.locator('main a[href*="/product.php"]').first().click();
	t.match(await page.locator('h1').first().innerText(), /./, 'an article');
	await page.locator('form[action*="cart"] button').first().click();
	t.eq((await page.goto('/cart.php')).status(), 200, 'cart');
	await p.shot(`${name}-cart`);
	await login(p);
	t.match(await page.locator('h1').innerText(), /^Hello/, 'account');
	await p.shot(`${name}-account`);
	t.ok((await p.context.cookies()).every((c) => !/poppy/.test(c.name)),
	    'no cookie of ours');
}

test('a customer shops, logs in, and gets no cookie of ours', [],
    async (t) => {
	const p = await b.person();

	await visit(t, p, 'with');
	await p.leave(t);
}, { timeout: 60000 });

test('a certificate of no known authority stays an error', [],
    async (t) => {
	const at = `${w.dir}/stranger`, p = await b.person();

	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
		'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=localhost',
		'-addext', 'subjectAltName=DNS:localhost', '-days', '2',
		'-keyout', `${at}.key`, '-out', `${at}.pem`],
	{ stdio: 'ignore' });
	const server = await Docs.start({ cert: readFileSync(`${at}.pem`),
		key: readFileSync(`${at}.key`) });
	const error = await p.page.goto(`${server.base}/`)
	    .then(() => 'opened', (e) => e.message);
	t.match(error, /ERR_CERT_AUTHORITY_INVALID/, 'refused');
	await p.leave(t);
	await server.stop();
});

test('with our programs stopped, the same, unchanged', [],
    async (t) => {
	await w.program('auth', 'stop');
	await w.program('guard', 'stop');
	const p = await b.person();

	await visit(t, p, 'without');
	await p.leave(t);
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up();
		[account] = w.customers();
		b = await Browser.start(w);
	},
	after: async () => {
		await b?.stop();
		await w?.close();
	},
});
