// The bridge to a PHP shop: customers log in on the shop's own page and come
// back with a ticket, agents' browsers find every door closed, and what the shop
// ends is ended (sections 4.5 and 4.9). Its own stack, with login by shop.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { proves, run, test } from './lib/tap.mjs';
import { Customer, forms, unescape } from './lib/customer.mjs';
import { random, sha256 } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { flows, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const CUSTOMER = fileURLToPath(new URL('../../deploy/demo/customer',
    import.meta.url));
const BRIDGE = fileURLToPath(new URL('../../deploy/php/poppy.php',
    import.meta.url));
const NAME = 'Ada Brandt';
let w, ada, people;

const CLOSED = ['/login.php', '/register.php', '/password.php', '/close.php',
	'/loft.php'];
const TICKET = /ptk_AA[A-Za-z0-9_-]{43}/;

const shopLogin = (p, request = '') => p.open(`/login.php${request &&
    `?poppy_request=${request}`}`);
const ticketForm = (res) => forms(res.text, res.url).find((f) =>
    f.fields.some(([k]) => k === 'ticket'));
const field = (form, name) => form.fields.find(([k]) => k === name)?.[1];
const tickets = async () => Number(await w.sql('SELECT count(*) FROM ' +
    'poppy.shop_login WHERE ticket IS NOT NULL'));

// From an authorization URL to the shop's login page.
async function toShop(t, f = ada(), p = f.person())
{
	const r = f.request(), page = await p.open(r.url);

	t.match(page.url, /\/login\.php\?poppy_request=prq_AA/, 'at the shop');
	return { f, p, r, page, request: new URL(page.url).searchParams
	    .get('poppy_request') };
}

// ... and to the form with the ticket.
async function ticketed(t, ...args)
{
	const s = await toShop(t, ...args);

	s.page = await s.p.login(s.page);
	s.form = t.must(ticketForm(s.page), 'a ticket', s.page.text);
	return s;
}

// With the ticket to our page, which asks whether that is who they are, and on.
async function enter(p, form, over = {})
{
	const res = await p.submit(form, over, { follow: true });
	const ours = forms(res.text, res.url).find((f) =>
	    f.buttons.some((b) => b.value === 'continue'));

	return ours === undefined ? res : p.submit(ours,
	    { answer: 'continue' }, { follow: true });
}

// The bridge by itself, with settings of one's own: what it says.
function php(ini, code, { mode = 0o400 } = {})
{
	const dir = mkdtempSync('/tmp/bridge-');
	const file = `${dir}/bridge.ini`;

	try {
		writeFileSync(file, ini);
		chmodSync(file, mode);
		return execFileSync('php', ['-r', `require '${BRIDGE}'; ` +
			`try { ${code}; } catch (PoppyException $e) { ` +
			'echo $e->getCode(), " ", $e->getMessage(); }'],
		{ env: { ...process.env, POPPY_BRIDGE: file }, cwd: '/',
			encoding: 'utf8' });
	} finally {
		rmSync(dir, { recursive: true });
	}
}

test('login at the shop, back by ticket, consent, signed in',
    proves('R-4.5-1', 'R-4.5-15'), async (t) => {
	const { f, p, r, form, page } = await ticketed(t);

	t.eq(form.action, w.url('/poppy/login/ticket'), 'leads to our page');
	t.match(field(form, 'ticket'), /^ptk_AA[A-Za-z0-9_-]{43}$/, 'ticket');
	t.eq(form.buttons.length, 1, 'a button, for browsers without scripts');
	t.ok(form.html.includes(`Continue as ${NAME}`), 'names the account');
	t.match(page.header('cache-control') ?? '', /no-store/, 'kept nowhere');
	t.eq(page.header('referrer-policy'), 'strict-origin', 'no Referer');
	t.match(page.header('content-security-policy') ?? '',
	    /script-src 'nonce-[^']+'; form-action/, 'its script by nonce alone');

	const consent = await enter(p, form);
	t.must(Customer.consentForm(consent), 'the page that asks',
	    `${consent.status} ${consent.url} ${consent.text.slice(0, 300)}`);
	t.ok(unescape(consent.text).includes(NAME), 'as that account');
	const back = new URL((await p.decide(consent)).header('location'))
	    .searchParams;
	const s = await f.agent.session(f.user);
	const res = await f.redeem({ ...r, code: back.get('code') }, s.id);
	t.eq(res.status, 200, 'redeemed');
	t.eq(await f.reads(f.session(res)), '200', 'signed in');
});

test('a wrong password first; what is asked for is not lost', [], async (t) => {
	const { p, page } = await toShop(t);
	const again = await p.login(page, { ...people[0], password: 'wrong' });

	t.eq(again.status, 403, 'refused');
	t.ok(!TICKET.test(again.text), 'no ticket');
	t.must(ticketForm(await p.login(again)), 'then right: a ticket');
});

test('who is logged in at the shop is asked, not taken for it', [],
    async (t) => {
	const p = ada().person();

	await p.login(await shopLogin(p));
	const { page, request } = await toShop(t, ada(), p);
	t.ok(!TICKET.test(page.text), 'no ticket before they say so');
	t.ok(unescape(page.text).includes(people[0].email), 'names the account');
	const [yes, no] = forms(page.text, page.url).filter((f) =>
	    field(f, 'poppy_request') === request);
	t.must(yes && no, 'yes and no');
	for (const csrf of [undefined, 'x'])
		t.eq((await p.submit(yes, { csrf })).status, 403, 'no token');
	t.must(ticketForm(await p.submit(yes)), 'yes: a ticket');

	const other = await p.submit(no, {}, { follow: true });
	t.ok(!unescape(other.text).includes(people[0].email), 'no: logged out');
	const form = ticketForm(await p.login(other, people[1]));
	t.must(form, 'as somebody else: a ticket');
	const consent = await enter(p, form);
	t.must(Customer.consentForm(consent), 'the page that asks');
	t.ok(unescape(consent.text).includes('Jonas Okafor'), 'somebody else');
});

test('a new account', [], async (t) => {
	const { p, page, request } = await toShop(t);
	const link = /href="(\/register\.php\?poppy_request=[^"]*)"/
	    .exec(page.text);
	const reg = await p.open(unescape(t.must(link, 'a link')[1]));
	const [form] = forms(reg.text, reg.url).filter((f) =>
	    field(f, 'poppy_request') === request);
	const password = random(), email = `${random(9)}@new.example`;

	t.must(form, 'carried along');
	t.must(ticketForm(await p.submit(form, { name: 'New', email, password,
		again: password })), 'a ticket');
});

const refusedTicket = (t, res, why) => {
	t.ok(res.status >= 400 && res.status < 500, `${why}: status`,
	    res.status);
	t.ok(!Customer.consentForm(res), `${why}: no consent`);
};

test('a ticket counts once, here, and for what was asked', [], async (t) => {
	const s = await ticketed(t), other = await ticketed(t);
	const thief = ada().person();

	await thief.open('/poppy/login');
	refusedTicket(t, await enter(thief, s.form), 'another browser');
	refusedTicket(t, await enter(other.p, other.form, { ticket:
		field(s.form, 'ticket') }), 'another\'s ticket');
	const third = await ticketed(t);
	refusedTicket(t, await enter(third.p, third.form, { poppy_request:
		field(other.form, 'poppy_request') }), 'another request');

	const once = await ticketed(t);
	const jar = new Map(once.p.jar);
	t.ok(Customer.consentForm(await enter(once.p, once.form)), 'once');
	for (const [why, cookies] of [['as it was', jar], ['as it is',
		once.p.jar]]) {
		const again = ada().person();

		again.jar = new Map(cookies);
		refusedTicket(t, await enter(again, once.form),
		    `twice, the browser ${why}`);
	}
});

test('a ticket of a minute ago', [], async (t) => {
	const s = await ticketed(t);

	await w.sql('UPDATE poppy.shop_login SET ticket_until = ' +
	    'extract(epoch FROM now())::bigint - 1');
	refusedTicket(t, await enter(s.p, s.form), 'late');
});

const BAD = [['one short', `prq_AA${'A'.repeat(42)}`],
	['one long', `prq_AA${'A'.repeat(44)}`],
	['stray low bits', `prq_AA${'A'.repeat(42)}B`],
	['another prefix', `pli_AA${'A'.repeat(43)}`],
	['another bucket', `prq_AB${'A'.repeat(43)}`],
	['a blank behind', `prq_AA${'A'.repeat(43)} `],
	['markup', '"><script>alert(1)</script>'], ['nothing', '']];

// By the form, or by the way to a new account.
const carried = (page) => /register\.php\?|name="poppy_request"/
    .test(page.text);

// As the demo does it.
const customer = (...args) => new Promise((ok) => execFile(CUSTOMER, args,
    { env: { ...process.env, CA_FILE: `${w.dir}/ca/ca.pem` } },
    (e, out, err) => ok({ status: e?.code ?? 0, out, err })));

test('the demo\'s customer approves, by shell and curl', [], async (t) => {
	const f = ada(), r = f.request();
	const { email, password } = people[0];
	const yes = await customer(r.url, email, password);

	t.eq(yes.status, 0, 'status');
	t.ok(yes.out.startsWith(`${r.redirect}?`) &&
	    /[?&]code=pac_/.test(yes.out), 'back to the agent', yes);
	t.eq((await customer(r.url, email, 'wrong')).status, 1, 'not by a wrong ' +
	    'password');
	t.eq((await customer(w.url('/about.php'), email, password)).status, 1,
	    'nothing to approve');
});

test('what is no request is none', [], async (t) => {
	for (const [why, id] of BAD) {
		const p = ada().person();
		const page = await p.open('/login.php?' +
		    new URLSearchParams({ poppy_request: id }));

		t.ok(!carried(page), `${why}: not carried`);
		const res = await p.submit(Customer.loginForm(page),
		    { ...Customer.loginFields(Customer.loginForm(page),
			people[0]), poppy_request: id });
		t.eq([res.status, res.header('location')],
		    [303, '/account.php'], `${why}: a plain login`);
	}
	const p = ada().person(), page = await p.open(
	    '/login.php?poppy_request[]=prq_AA');
	t.eq(page.status, 200, 'a list');
	t.ok(!carried(page), 'a list: not carried');
});

test('a request that nobody made, or that is over', [], async (t) => {
	const gone = await toShop(t);

	await w.sql('UPDATE poppy.shop_login SET expires_at = ' +
	    'extract(epoch FROM now())::bigint - 1');
	for (const id of [`prq_AA${random(32)}`, gone.request]) {
		const p = ada().person();
		const res = await p.login(await shopLogin(p, id));

		t.eq(res.status, 410, 'status');
		t.ok(!TICKET.test(res.text), 'no ticket');
		t.match(res.text, /begin again/, 'says what to do');
	}
});

test('accounts that no agent gets', [], async (t) => {
	for (const [kind, at] of [['manager', true], ['unverified', true],
		['disabled', false]]) {
		const account = people.find((a) => a.kind === kind);
		const { p, page } = await toShop(t, flows(w, account)());
		const res = await p.login(page);

		t.eq(Boolean(ticketForm(res)), at, `${kind}: the shop lets in`);
		if (at)
			refusedTicket(t, await enter(p, ticketForm(res)), kind);
	}
});

// As browsers, and what they could be made to send.
const JOINED = ['__Host-poppy=x', '__Host-poppy=', '__Host-poppy',
	'a=b; __Host-poppy=x', 'a=b;__Host-poppy=x;c=d',
	'a=b,__Host-poppy=x', `${'=;'.repeat(1200)}__Host-poppy=x`];

test('the shop\'s doors are closed to an agent\'s browser', [], async (t) => {
	for (const cookie of JOINED)
		for (const path of CLOSED) {
			const res = await send(w.url(path), { ca: w.ca,
				headers: [['Cookie', cookie]] });

			t.eq(res.status, 403, `${path}, ${cookie.slice(-40)}`);
			t.match(res.text, /for people/, 'says why');
		}
	for (const cookie of ['__Host-poppy-login=x', '__Host-poppyx=x',
		'x__Host-poppy=x', 'a=__Host-poppyy'])
		t.eq((await send(w.url('/login.php'), { ca: w.ca,
			headers: [['Cookie', cookie]] })).status, 200, cookie);
});

test('no ticket for an agent\'s browser, whatever it knows', [], async (t) => {
	const { p, page, request } = await toShop(t), before = await tickets();
	const form = Customer.loginForm(page);
	const bent = (jar) => ({ headers: [['Cookie', jar],
		['Origin', w.base]] });
	const jar = [...p.jar].map(([k, v]) => `${k}=${v}`).join('; ');

	for (const cookie of JOINED) {
		const res = await send(form.action, { ca: w.ca, method: 'POST',
			body: new URLSearchParams([...form.fields.filter(([k]) =>
			    !['email', 'password'].includes(k)),
			['email', people[0].email],
			['password', people[0].password]]).toString(),
			headers: [['Content-Type',
				'application/x-www-form-urlencoded'],
			...bent(`${jar}; ${cookie}`).headers] });

		t.eq(res.status, 403, cookie.slice(-40));
		t.ok(!TICKET.test(res.text), 'no ticket');
	}
	await p.login(await p.open('/login.php'));
	const mine = [...p.jar].map(([k, v]) => `${k}=${v}`).join('; ');
	t.eq((await send(w.url(`/login.php?poppy_request=${request}`), {
		ca: w.ca, headers: [['Cookie', `${mine}; __Host-poppy=x`]] }))
	    .status, 403, 'logged in at the shop');
	t.eq(await tickets(), before, 'none was made');
});

test('a new password ends what agents have',
    proves('R-4.9-3', 'R-4.9-4', 'R-4.9-6'), async (t) => {
	const mira = people[2], f = flows(w, mira)(), p = f.person();
	const r = f.request();
	const shop = await p.login(await p.open(r.url));
	const consent = await enter(p, t.must(ticketForm(shop), 'ticket'));
	const back = new URL((await p.decide(consent)).header('location'))
	    .searchParams;
	const s = await f.agent.session(f.user);
	const res = await f.redeem({ ...r, code: back.get('code') }, s.id);
	const now = f.session(res), password = random();

	t.eq(await f.reads(now), '200', 'before');
	const page = await p.open('/password.php');
	const form = forms(page.text, page.url).find((x) =>
	    x.fields.some(([k]) => k === 'again'));
	t.eq((await p.submit(form, { old: 'wrong', password,
		again: password })).status, 422, 'not by a wrong one');
	t.eq(await f.reads(now), '200', 'nothing ended');
	t.eq((await p.submit(form, { old: mira.password, password,
		again: password })).header('location'), '/account.php',
	'changed');
	t.eq(await f.reads(now), '403 sign_in_required', 'signed out');
	t.refused(await f.refresh(res.json.refresh_token), 400,
	    'invalid_grant', 'the Account Token');
	t.match((await p.open('/poppy/agents')).url, /login\.php/,
	    'the login on our pages is over, too');
	await w.sql('UPDATE shop.customer SET password = ' +
	    `(SELECT password FROM shop.customer WHERE id = 1) WHERE id = 3`);
});

test('closing the account does, too', [], async (t) => {
	const p = new Customer(w), password = random(), f = flows(w)();
	const email = `${random(9).toLowerCase()}@new.example`;
	const reg = await p.open('/register.php');

	await p.submit(forms(reg.text, reg.url).find((x) =>
	    x.fields.some(([k]) => k === 'again')),
	{ name: 'Short', email, password, again: password });
	f.account = { email, password };
	const page = await p.open(f.request().url);
	const [yes] = forms(page.text, page.url).filter((x) =>
	    field(x, 'poppy_request'));
	const consent = await enter(p, ticketForm(await p.submit(yes)));
	t.must(Customer.consentForm(consent), 'consent');
	const close = await p.open('/close.php');
	const form = Customer.loginForm(close);
	t.eq((await p.submit(form, { password: 'wrong' })).status, 422,
	    'not by a wrong password');
	t.eq((await p.submit(form, { password })).header('location'), '/',
	    'closed');
	const res = await p.decide(consent);
	t.ok(!/[?&]code=/.test(res.header('location') ?? ''),
	    'approves nothing any more', res.header('location'));
});

test('what there is about a customer, and then isn\'t', [], async (t) => {
	const leo = people[3], f = flows(w, leo)(), p = f.person();
	const ini = `dsn = "pgsql:host=${w.dir}/pg;dbname=shop"\n` +
	    `pages = "${w.base}/poppy"\n`;
	const ask = (code) => JSON.parse(php(ini,
	    `echo json_encode(Poppy::${code}(4))`));
	const r = f.request();
	const consent = await enter(p, ticketForm(await p.login(
	    await p.open(r.url))));
	const back = new URL((await p.decide(consent)).header('location'))
	    .searchParams;
	const s = await f.agent.session(f.user);
	const now = f.session(await f.redeem({ ...r, code: back.get('code') },
	    s.id));

	const all = ask('export');
	t.eq([all.account, all.grants?.length, all.grants?.[0].client_id,
		all.sessions?.length, all.logins?.length],
	['4', 1, f.agent.id, 1, 1], 'export');
	t.ok(!/p(st|at|li|ac)_/.test(JSON.stringify(all)), 'no secret in it');
	const { grants, sessions, logins } = ask('erase');
	t.eq([grants, sessions, logins], [1, 1, 1], 'erased');
	t.challenged(await f.agent.call(now, 'GET', w.whoami), 401,
	    'invalid_token', 'the token is nobody\'s');
	const none = ask('export');
	t.eq([none.grants, none.sessions, none.logins, none.audit],
	    [[], [], [], []], 'nothing is left');
	t.eq(ask('erase').grants, 0, 'again');
});

test('the account page leads to the connected agents', [], async (t) => {
	const p = ada().person();
	const res = await p.login(await shopLogin(p));

	t.ok(res.text.includes(`href="${w.url('/poppy/agents')}"`), 'a link',
	    res.url);
});

test('who may do what in the database', [], async (t) => {
	const denied = async (sql, role) => w.sql(sql, role).then(
	    () => 'let in', (e) => /permission denied/.test(e.stderr) ?
		'denied' : e.stderr);

	for (const sql of ['SELECT * FROM poppy.grants',
		'SELECT * FROM poppy.login', 'SELECT * FROM poppy.shop_login',
		'SELECT * FROM poppy_shop.customer', 'SELECT * FROM shop.customer',
		'DELETE FROM poppy.code', 'SET ROLE poppy_owner'])
		t.eq(await denied(sql, 'poppy_bridge'), 'denied', sql);
	for (const role of ['poppy_auth', 'poppy_guard', 'shop'])
		t.eq(await denied('SELECT * FROM poppy_shop.customer', role),
		    'denied', role);
	t.eq(await denied('SELECT * FROM shop.customer', 'poppy_auth'),
	    'denied', 'the shop\'s table');
	t.eq((await w.sql('SELECT has_table_privilege(\'poppy_owner\', ' +
	    '\'shop.customer\', \'SELECT\'), has_table_privilege(' +
	    '\'poppy_owner\', \'poppy_shop.customer\', \'INSERT\')')).trim(),
	'f|f', 'our functions see the view and no more');
});

test('each ticket is kept as a hash', [], async (t) => {
	const s = await ticketed(t), ticket = field(s.form, 'ticket');

	t.eq((await w.sql('SELECT count(*) FROM poppy.shop_login WHERE ' +
	    `ticket = '\\x${sha256(ticket).toString('hex')}' AND hash = ` +
	    `'\\x${sha256(s.request).toString('hex')}'`)).trim(), '1', 'hash');
	t.ok(!(await w.dump()).includes(ticket.slice(6)), 'the text nowhere');
});

const GOOD = 'dsn = "pgsql:host=/nowhere;dbname=shop"\n' +
    'pages = "https://shop.example/poppy"\n';

test('settings of the bridge that can\'t be right', [], (t) => {
	const url = 'echo Poppy::agentsUrl(), " ", Poppy::origin()';

	t.eq(php(GOOD, url), 'https://shop.example/poppy/agents ' +
	    'https://shop.example', 'good ones');
	for (const [why, ini, says, opts] of [
		['open to all', GOOD, /everybody may read/, { mode: 0o444 }],
		['no dsn', GOOD.replace('dsn', ';'), /dsn must begin/],
		['another database', GOOD.replace('pgsql', 'mysql'), /dsn must/],
		['a misspelt key', `${GOOD}page = x\n`, /page is no setting/],
		['no pages', GOOD.replace('pages', ';'), /pages must be/],
		['plain http', GOOD.replace('https', 'http'), /pages must be/],
		['a slash', GOOD.replace('/poppy"', '/poppy/"'), /pages must/],
		['a query', GOOD.replace('/poppy"', '/poppy?a"'), /pages must/],
		['no INI at all', 'a[\n', /can't be read/]])
		t.match(php(ini, url, opts), new RegExp(`^1 .*${says.source}`),
		    why);
	t.match(php(GOOD, `putenv('POPPY_BRIDGE=/none.ini'); ${url}`),
	    /^1 \/none\.ini: can't be found/, 'no file');
	t.match(php(GOOD, 'Poppy::endEverything(7, "why")'),
	    /^1 The database of poppy-fcgi does not answer/, 'no database');
});

test('what the shop can call wrongly', [], (t) => {
	const request = `prq_AA${random(32)}`;

	for (const [why, code, says] of [
		['no customer', `Poppy::ticket('${request}', 0)`, /^4 .*no id/],
		['an empty one', `Poppy::ticket('${request}', '')`, /^4 .*no id/],
		['no request', 'Poppy::ticket("", 7)', /^2 .*none of poppy/],
		['no reason', 'Poppy::endEverything(7, "")', /^4 .*why/],
		['a long reason', 'Poppy::endEverything(7, str_repeat("x", 101))',
			/^4 .*why/],
		['lines', 'Poppy::endEverything(7, "a\\nb")', /^4 .*why/],
		['a Session', '$_SERVER["POPPY_SESSION"] = "x"; ' +
		    `Poppy::ticket('${request}', 7)`, /^3 .*no ticket/],
		['its cookie', '$_SERVER["HTTP_COOKIE"] = "__Host-poppy=x"; ' +
		    `Poppy::ticket('${request}', 7)`, /^3 .*no ticket/]])
		t.match(php(GOOD, code), says, why);
	t.eq(php(GOOD, '$_SERVER["POPPY_SESSION"] = "x"; ' +
	    'Poppy::refuseAgents(fn () => print("mine")); echo "on"'), 'mine',
	'a page of one\'s own');
	t.match(php(GOOD, '$_SERVER["HTTP_COOKIE"] = "__Host-poppy=x"; ' +
	    'Poppy::refuseAgents(); echo "on"'), /for people\s+alone.*<\/html>\n$/,
	'the plain page');
	t.eq(php(GOOD, 'Poppy::refuseAgents(); echo "on"'), 'on', 'people');
});

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			signinSettings(c);
			c.login = { ...c.login, by: 'shop',
				shop_url: `${c.issuer}/login.php` };
		} });
		people = w.customers();
		ada = flows(w, people[0]);
	},
	after: () => w?.close(),
});
