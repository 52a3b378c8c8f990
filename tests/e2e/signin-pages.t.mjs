// The pages of sign-in by HTTP: who may decide what, forms that were changed on
// their way, what markup in an agent's words comes to, and the headers
// (sections 4.4 to 4.6). Chromium sees them in tests/browser.
import { proves, run, test } from './lib/tap.mjs';
import { Agent } from './lib/agent.mjs';
import { Customer, forms, unescape } from './lib/customer.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { ALL, OWN, READ, WRITE, flows, signinSettings }
	from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, ada, jonas, people;

const where = (res) => res.header('location') ?? '';
const query = (res) => new URL(where(res) || 'about:blank').searchParams;
const NOT_FOUND_OR_OLD = [400, 403, 404, 409, 410];

// Was something decided by this reply?
const decided = (res) => /[?&](code|error)=/.test(where(res));

const COOKIE = '__Host-poppy-login';

test('the page names the agent, its hosts and each scope',
    proves('R-4.5-5', 'R-4.5-6'), async (t) => {
	const f = ada(undefined, new Agent(w, { doc: {
		client_name: 'Paloma the Agent',
		logo_uri: `${w.docs.base}/logo.svg` } }));
	const page = await f.person().consent(f.request({ scope: ALL }).url);
	const text = unescape(page.text);
	const form = Customer.consentForm(page);

	t.ok(text.includes('Paloma the Agent'), 'name');
	t.ok(text.includes(`${w.docs.base}/logo.svg`), 'logo');
	t.ok(text.includes(new URL(f.agent.id).host), 'host of client_id');
	t.eq(form.boxes.map((b) => [b.name, b.value]), ALL.split(' ')
	    .map((s) => ['scope', s]), 'a box for each scope');
	t.ok(text.includes('See your orders'), 'own scope described');
	t.eq(form.buttons.map((b) => b.value).sort(), ['approve', 'decline'],
	    'two buttons');
	t.eq(form.method, 'post', 'by POST');
});

test('an agent without name or logo is known by its host',
    proves('R-4.5-5'), async (t) => {
	const f = ada(undefined, new Agent(w, { doc: {
		client_name: undefined } }));
	const page = await f.person().consent(f.request().url);

	t.ok(page.text.includes(new URL(f.agent.id).host), 'host');
});

test('headers of every page',
    proves('R-4.5-6'), async (t) => {
	const f = ada(), p = f.person();
	const r = f.request();
	const login = await p.open(r.url);
	const consent = await p.consent(r.url);
	const redirect = new URL(f.redirect);

	for (const [what, res] of [['login', login], ['consent', consent],
		['device', await p.open('/poppy/device')],
		['agents', await p.open('/poppy/agents')],
		['error', await p.open(f.request({ redirect_uri: 'x' }).url)]]) {
		const csp = res.header('content-security-policy') ?? '';
		const policy = Object.fromEntries(csp.split(';').map((d) => {
			const [name, ...v] = d.trim().split(/\s+/);

			return [name, v.join(' ')];
		}));

		t.match(res.header('content-type') ?? '',
		    /^text\/html; *charset=utf-8$/i, `${what}: type`);
		t.eq(policy['default-src'], '\'none\'', `${what}: default`);
		t.eq(policy['frame-ancestors'], '\'none\'', `${what}: framing`);
		t.eq(policy['base-uri'], '\'none\'', `${what}: base`);
		t.unlike(csp, /unsafe|\*|script-src(?! 'none')/, `${what}: CSP`);
		t.eq(res.header('x-frame-options'), 'DENY', `${what}: framing`);
		t.match(res.header('referrer-policy') ?? '', /^(no-referrer|same-origin)$/,
		    `${what}: referrer`);
		t.match(res.header('cache-control') ?? '', /no-store/,
		    `${what}: not stored`);
		t.eq(res.header('x-content-type-options'), 'nosniff',
		    `${what}: nosniff`);
		t.unlike(res.text, /<script|\son[a-z]+=|<style|\sstyle=/i,
		    `${what}: nothing inline`);
		if (what === 'consent')
			t.ok(policy['form-action'].includes(redirect.origin),
			    'the redirect may follow the form', csp);
	}
});

test('pages are not there on other hosts of the company', [], async (t) => {
	for (const path of ['/poppy/login', '/poppy/device', '/poppy/agents',
		'/poppy/oauth/authorize'])
		t.eq((await send(w.url(path, 'shop2.localhost'), { ca: w.ca }))
		    .status, 404, path);
});

test('a Session\'s browser is shut out of every page', proves('R-4.5-6'),
    async (t) => {
	const f = ada(), r = f.request();
	const cookie = [['Cookie', `__Host-poppy=pst_AA${random(32)}`]];

	for (const path of [r.url, '/poppy/login', '/poppy/device',
		'/poppy/device?user_code=BCDF-GHJK', '/poppy/agents',
		`/poppy/consent/prq_AA${random(32)}`])
		for (const method of ['GET', 'POST']) {
			const res = await send(new URL(path, w.base).href, {
				ca: w.ca, method, body: method === 'POST' ?
				    'a=b' : undefined, headers: [...cookie,
					['Content-Type',
						'application/x-www-form-urlencoded'],
					['Origin', w.base]] });

			t.ok(res.status === 403 || (method === 'POST' &&
			    res.status === 405), `${method} ${path}`,
			res.status);
			t.eq(where(res), '', `${path}: no redirect`);
		}
	const p = f.person();
	const page = await p.consent(r.url);
	p.jar.set('__Host-poppy', 'x');
	t.eq((await p.decide(page)).status, 403, 'nor can it decide');
	p.jar.delete('__Host-poppy');
	p.jar.set('a', '1, __Host-poppy=x');
	t.eq((await p.decide(page)).status, 403,
	    'not behind a comma either, by which servers join fields');
});

test('opening the page decides nothing, and it can be opened again',
    proves('R-4.5-6'), async (t) => {
	const f = ada(), p = f.person(), r = f.request();
	const page = await p.consent(r.url);

	for (let i = 0; i < 3; i++)
		t.ok(Customer.consentForm(await p.open(page.url)), 'again');
	const form = Customer.consentForm(page);
	for (const q of ['decision=approve', 'action=approve', form.fields.map(
	    ([k, v]) => `${k}=${encodeURIComponent(v)}`).join('&') +
	    `&${form.buttons[0].name}=approve&scope=${READ}`])
		t.ok(!decided(await p.fetch(`${page.url.split('?')[0]}?${q}`)),
		    'by GET');
	t.ok(query(await p.decide(page)).get('code'), 'by POST');
});

test('decided once, never again', proves('R-4.5-7'), async (t) => {
	const f = ada(), p = f.person();

	for (const first of [{}, { decline: true }]) {
		const page = await p.consent(f.request().url);

		t.ok(decided(await p.decide(page, first)), 'once');
		for (const then of [{}, { decline: true }]) {
			const res = await p.decide(page, then);

			t.ok(!decided(res), 'twice', where(res));
			t.ok(NOT_FOUND_OR_OLD.includes(res.status), 'a page',
			    res.status);
		}
	}
});

test('approve against decline at one moment: one of them counts',
    proves('R-4.5-7', 'R-4.5-9'), async (t) => {
	for (let i = 0; i < 8; i++) {
		const f = ada(), p = f.person();
		const page = await p.consent(f.request().url);
		const all = await Promise.all([{}, { decline: true }, {},
			{ decline: true }].map((o) => p.decide(page, o)));

		t.ok(all.filter(decided).length === 1, 'one decision',
		    all.map((r) => [r.status, where(r)]));
	}
}, { timeout: 60000 });

test('without the form\'s own token nothing is decided', proves('R-4.5-6'),
    async (t) => {
	const f = ada(), p = f.person(), other = f.person();
	const page = await p.consent(f.request().url);
	const csrf = Customer.consentForm(page).fields.find(([, v]) =>
	    /^[A-Za-z0-9_-]{20,}$/.test(v))?.[0];
	const theirs = Customer.consentForm(await other.consent(f.request()
	    .url)).fields.find(([k]) => k === csrf)?.[1];

	t.must(csrf, 'there is a token', Customer.consentForm(page).fields);
	for (const v of [undefined, '', 'x', theirs, theirs + 'A'])
		t.ok(!decided(await p.decide(page, { over: { [csrf]: v } })),
		    `token ${v}`);
	t.ok(!decided(await p.decide(page, { extra: [[csrf, 'x']] })), 'two');
	for (const origin of ['https://evil.example', 'null',
		w.base.replace('https', 'http'), `${w.base}.evil.example`,
		w.url('', 'shop2.localhost'), w.docs.base])
		t.ok(!decided(await p.decide(page, { headers: [['Origin',
			origin]] })), origin);
	p.jar.delete(COOKIE);
	t.ok(!decided(await p.decide(page)), 'no login');
});

test('a request is for the account that opened it', proves('R-4.5-6'),
    async (t) => {
	const f = ada(), p = f.person(), other = jonas().person();
	const page = await p.consent(f.request().url);
	const res = await other.login(await other.open(page.url));

	t.ok(!Customer.consentForm(res), 'another account sees no form');
	t.ok(NOT_FOUND_OR_OLD.includes(res.status), 'a page', res.status);
	t.ok(query(await p.decide(page)).get('code'), 'the first still decides');
});

test('what the form says beyond the ticks does nothing',
    proves('R-4.4-7', 'R-4.5-6'), async (t) => {
	const f = ada(), s = await f.agent.session(f.user);
	const r = f.request({ scope: READ }), p = f.person();
	const page = await p.consent(r.url);
	const res = await p.decide(page, { over: { redirect_uri:
		'https://evil.example/', state: 'other', client_id: 'x',
		code_challenge: 'x', resource: 'x', response_type: 'token' },
	extra: [['scope', WRITE], ['scope', OWN], ['scope', 'admin'],
		['scope', `${READ} ${WRITE}`]] });

	t.ok(where(res).startsWith(r.redirect), 'the agent\'s redirect',
	    where(res));
	t.eq(query(res).get('state'), r.state, 'its state');
	const out = await f.redeem({ ...r, code: query(res).get('code') }, s.id);
	t.eq(out.json?.scope, READ, 'no scope more than asked for');
});

test('a scope that was not asked for is not granted alone, either',
    proves('R-4.4-7', 'R-4.5-9'), async (t) => {
	const f = ada(), p = f.person(), r = f.request({ scope: READ });
	const res = await p.decide(await p.consent(r.url), { scopes: [],
		extra: [['scope', WRITE]] });

	t.ok(!query(res).get('code'), 'no code', where(res));
});

// What a browser would make something of.
const EVIL = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>',
	'\'-alert(1)-\'', '</title><script>', '{{7*7}}', '&lt;b&gt;',
	'javascript:alert(1)', '<svg onload=alert(1)>', '\u202eevil',
	'`${alert(1)}`', '<!--', ']]>', '<b>bold</b>'];

function harmless(t, res, evil, what)
{
	const live = /<script|<svg|<b>bold|<[a-z][^>]*\son[a-z]+=/i;

	t.unlike(res.text.replace(/<link[^>]*>/g, ''), live,
	    `${what}: ${evil}`);
	if (/[<"]/.test(evil))
		t.ok(!res.text.includes(evil), `${what}: escaped: ${evil}`);
}

test('markup in what an agent says stays text', proves('R-4.5-5'),
    async (t) => {
	const p = ada().person();

	for (const evil of EVIL) {
		const f = ada(undefined, new Agent(w, { doc: {
			client_name: evil } }));
		const page = await p.consent(f.request({ state: evil }).url);

		harmless(t, page, evil, 'client_name, state');
		harmless(t, await p.open(f.request({ scope: evil,
			redirect_uri: 'x' }).url), evil, 'scope');
		harmless(t, await p.open(f.request({ redirect_uri: evil }).url),
		    evil, 'redirect_uri');
		harmless(t, await p.open(f.request({ client_id: evil }).url),
		    evil, 'client_id');
		const q = encodeURIComponent(evil);
		for (const path of [`/poppy/device?user_code=${q}`,
			`/poppy/login?next=${q}`, `/poppy/agents?x=${q}`,
			`/poppy/consent/${q}`])
			harmless(t, await p.open(path), evil, path);
	}
}, { timeout: 90000 });

test('a logo that is no https URL is not shown', proves('R-4.5-5'),
    async (t) => {
	const p = ada().person();

	for (const logo_uri of ['javascript:alert(1)', 'data:image/svg+xml,x',
		'http://localhost/x.png', '//x', '"><b>', 'https://a b/', 7]) {
		const f = ada(undefined, new Agent(w, { doc: { logo_uri } }));
		const page = await p.open(f.request().url);

		t.ok(!unescape(page.text).includes(String(logo_uri)) ||
		    logo_uri === 7, `${logo_uri}`);
		t.unlike(page.text, /src="(?!https:\/\/|\/)/, `${logo_uri}`);
	}
});

test('a wrong password and an unknown login look alike', [], async (t) => {
	const f = ada(), pages = [];

	for (const account of [{ ...people[0], password: 'wrong' },
		{ email: 'nobody@tidewell.example', password: 'wrong' },
		{ ...people[0], password: '' }, { ...people[0], password:
			`${people[0].password} ` },
		{ ...people[0], password: 'x'.repeat(5000) }]) {
		const p = f.person();
		const page = await p.open(f.request().url);
		const res = await p.login(page, account);

		t.ok(Customer.loginForm(res) || res.status >= 400,
		    'no way in', res.status);
		t.ok(!Customer.consentForm(res), 'no consent');
		t.ok(account.password === '' || !res.text.includes(
		    account.password), 'the password is not on the page');
		pages.push(res.text.replaceAll(account.email, '')
		    .replace(/[A-Za-z0-9_-]{40,}/g, ''));
	}
	t.eq(pages[0], pages[1], 'the same page');
});

test('customers log in, whatever hash the shop has of their password', [],
    async (t) => {
	for (const account of people.filter((c) => c.kind === 'customer')) {
		const p = flows(w, account)().person();
		const res = await p.login(await p.open('/poppy/agents'));

		t.eq([res.status, Customer.loginForm(res)], [200, undefined],
		    account.email);
	}
});

test('the login name in any case, with blanks around it', [],
    async (t) => {
	const f = ada();

	for (const email of [people[0].email.toUpperCase(),
		` ${people[0].email} `]) {
		const p = f.person();
		const res = await p.login(await p.open(f.request().url),
		    { ...people[0], email });

		t.ok(Customer.consentForm(res), email, res.status);
	}
});

test('a login is a new one: what the browser had before is worth nothing',
    proves('R-4.5-6'), async (t) => {
	const f = ada(), p = f.person();
	const page = await p.open(f.request().url);
	const before = p.jar.get(COOKIE);

	await p.login(page);
	const after = p.jar.get(COOKIE);
	t.ok(after && after !== before, 'another cookie');
	const thief = f.person();
	if (before)
		thief.jar.set(COOKIE, before);
	t.ok(Customer.loginForm(await thief.open('/poppy/agents')),
	    'the old one is nobody\'s');
	thief.jar.set(COOKIE, `pli_AA${random(32)}`);
	t.ok(Customer.loginForm(await thief.open('/poppy/agents')),
	    'nor is a made-up one');
	thief.jar.set(COOKIE, after);
	t.ok(!Customer.loginForm(await thief.open('/poppy/agents')),
	    'the new one is');
});

test('the cookie is for this host, HTTPS, and no script', [], async (t) => {
	const f = ada(), p = f.person();
	const page = await p.open(f.request().url);
	const form = Customer.loginForm(page);
	const res = await p.submit(form, Customer.loginFields(form, p.account));
	const c = res.all('set-cookie').find((x) => x.startsWith(COOKIE));

	t.must(c, 'a cookie', res.headers);
	for (const a of ['Secure', 'HttpOnly', 'Path=/', 'SameSite=Lax'])
		t.ok(c.toLowerCase().includes(a.toLowerCase()), a, c);
	t.unlike(c, /expires|max-age|domain/i, 'ends with the browser');
});

test('the login form has a token of its own', [], async (t) => {
	const f = ada(), p = f.person();
	const page = await p.open(f.request().url);
	const form = Customer.loginForm(page);
	const csrf = form.fields.find(([, v]) =>
	    /^[A-Za-z0-9_-]{20,}$/.test(v))?.[0];
	const fields = Customer.loginFields(form, p.account);
	const inside = async (over, opts) => {
		await p.submit(form, { ...fields, ...over }, opts);
		return !Customer.loginForm(await p.open('/poppy/agents'));
	};

	t.must(csrf, 'a token', form.fields);
	for (const v of [undefined, '', 'x'])
		t.ok(!await inside({ [csrf]: v }), `token ${v}`);
	t.ok(!await inside({}, { headers: [['Origin',
		'https://evil.example']] }), 'a foreign form');
	const stranger = f.person();
	await stranger.submit(form, fields);
	t.ok(Customer.loginForm(await stranger.open('/poppy/agents')),
	    'another browser\'s form');
	t.ok(await inside({}), 'as it is');
});

test('idle for too long, and after logout, a login is over', [],
    async (t) => {
	const f = ada(), p = f.person();

	await p.consent(f.request().url);
	const out = forms((await p.open('/poppy/agents')).text, w.base)
	    .find((x) => /logout/.test(x.action));
	t.must(out, 'a way out');
	const cookie = p.jar.get(COOKIE);
	await p.submit(out);
	p.jar.set(COOKIE, cookie);
	t.ok(Customer.loginForm(await p.open('/poppy/agents')), 'logged out');
	await p.login(await p.open('/poppy/agents'));
	t.ok(!Customer.loginForm(await p.open('/poppy/agents')), 'in again');
	await w.sql('UPDATE poppy.login SET used_at = used_at - 1000');
	t.ok(Customer.loginForm(await p.open('/poppy/agents')), 'idle');
});

test('next leads nowhere else', [], async (t) => {
	const p = ada().person();

	for (const next of ['https://evil.example/', '//evil.example',
		'/\\evil.example', 'agents/../../x', 'consent/../../../x',
		'javascript:alert(1)', `${w.docs.base}/`, 'consent/x\r\nA: b',
		'device?user_code=x&y', '/']) {
		p.jar.clear();
		const page = await p.open(
		    `/poppy/login?next=${encodeURIComponent(next)}`);
		const form = Customer.loginForm(page);

		// Control characters in a URL are refused by the web server.
		if (/[\r\n]/.test(next) && page.status === 400) {
			t.eq(form, undefined, next);
			continue;
		}
		const res = await p.submit(form, Customer.loginFields(form,
		    p.account), { headers: [['Origin', w.base]] });
		const to = new URL(where(res), res.url);

		t.ok(to.href.startsWith(`${w.base}/poppy/`), next, where(res));
	}
});

test('no password gets into a log', [], async (t) => {
	const marker = `pw-${random()}`;
	const f = ada(), p = f.person();

	await p.login(await p.open(f.request().url), { ...people[0],
		password: marker });
	t.ok(!JSON.stringify(w.logs('')).includes(marker), 'logs');
	t.ok(!(await w.dump()).includes(marker), 'database');
});

test('the style sheet is there, and can be kept', [], async (t) => {
	const page = await ada().person().open('/poppy/login');
	const href = /<link[^>]*href="([^"]*style\.css[^"]*)"/.exec(page.text);

	t.must(href, 'linked', page.text.slice(0, 500));
	const res = await send(new URL(unescape(href[1]), page.url).href,
	    { ca: w.ca });
	t.eq(res.status, 200, 'status');
	t.match(res.header('content-type') ?? '', /^text\/css/, 'type');
	t.match(res.header('cache-control') ?? '', /max-age=[1-9]/, 'kept');
});

const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'];

test('in the customer\'s language', proves('R-4.5-6'), async (t) => {
	const seen = new Set(), p = ada().person();

	for (const lang of LANGUAGES) {
		const res = await p.fetch('/poppy/login', { headers: [[
			'Accept-Language', `xx, ${lang}-XY;q=0.8, en;q=0.1`]] });

		t.match(res.text, new RegExp(`<html[^>]*lang="${lang}"`), lang);
		t.eq(/<html[^>]*dir="rtl"/.test(res.text), lang === 'ar',
		    `${lang}: direction`);
		seen.add(/<h1[^>]*>([\s\S]*?)<\/h1>/.exec(res.text)?.[1]);
		t.match(res.header('vary') ?? '', /accept-language/i, 'Vary');
	}
	t.eq(seen.size, LANGUAGES.length, 'each says it in its own words',
	    [...seen]);
	for (const bad of ['', 'xx', '*', ';q=', 'de;q=0', 'x'.repeat(3000),
		'../../etc/passwd', 'en\u0001'])
		t.match((await p.fetch('/poppy/login', { headers: [[
			'Accept-Language', bad]] })).text ?? '',
		/<html[^>]*lang="en"|400/, `else English: ${bad.slice(0, 20)}`);
});

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		people = w.customers();
		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
	},
	after: () => w?.close(),
});
