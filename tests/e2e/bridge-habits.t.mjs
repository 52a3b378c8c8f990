// What PHP shops do with sessions, and what can go wrong: the PHP session of a
// Session, the customer and the cart in it are what they should be, or there is no
// page (section 5). Most of it by FastCGI straight to PHP. Its own stack.
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, readFileSync, readdirSync,
	readlinkSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { COOKIE, browserSettings, tab } from './lib/browser.mjs';
import { accounts, decided } from './lib/consent.mjs';
import { Customer, forms, unescape } from './lib/customer.mjs';
import { RESPONDER, Shot, environment, request } from './lib/fcgi.mjs';
import { random } from './lib/jose.mjs';
import { READ } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const SHOP = '__Host-tidewell';
let w, agent, people, ada, sku, other;

// A shop with every habit that a shop can have; "do" names those of a page.
const TRAP = `<?php
$do = array_filter(explode(' ', $_GET['do'] ?? ''));
$is = fn ($x) => in_array($x, $do, true);
final class Own extends SessionHandler {}
final class Files implements SessionHandlerInterface {
	private function file($id) {
		return ini_get('session.save_path') . '/own_' . $id;
	}
	public function open($p, $n): bool { return true; }
	public function close(): bool { return true; }
	public function read($id): string {
		return (string)@file_get_contents($this->file($id));
	}
	public function write($id, $d): bool {
		return file_put_contents($this->file($id), $d) !== false;
	}
	public function destroy($id): bool { return @unlink($this->file($id)); }
	public function gc($max): int { return 0; }
}
if ($is('flush'))
	while (ob_get_level())
		ob_end_flush();
if ($is('callback'))
	header_register_callback(fn () => 0);
if ($is('end'))
	register_shutdown_function(fn () => $_SESSION['end'] = 'reached');
foreach (['name' => fn () => session_name('__Host-trap'),
    'strict' => fn () => ini_set('session.use_strict_mode', '1'),
    'cookies' => fn () => ini_set('session.use_cookies', '1'),
    'anywhere' => fn () => ini_set('session.use_only_cookies', '0'),
    'own' => fn () => session_set_save_handler(new Own, true),
    'files' => fn () => session_set_save_handler(new Files, true),
    'ourfiles' => fn () => session_set_save_handler(
	Poppy::saveHandler(new Files), true),
    'id' => fn () => session_id($_GET['id']),
    'noid' => fn () => session_id(''),
    'php' => fn () => ini_set('session.serialize_handler', 'php'),
    ] as $name => $f)
	if ($is($name))
		@$f();
$acted = null;
if (!$is('none'))
	session_start($is('options') ? ['use_strict_mode' => 1,
	    'use_cookies' => 1, 'cookie_lifetime' => 60] : []);
if ($is('act')) {
	try {
		$acted = Poppy::actAs(fn ($a) => $_SESSION['as'] = $a);
	} catch (PoppyException $e) {
		$acted = $e->getCode();
	}
}
if (isset($_GET['put']))
	$_SESSION['put'] = $_GET['put'];
if (isset($_GET['add']))
	$_SESSION['cart'][$_GET['add']] = ($_SESSION['cart'][$_GET['add']] ?? 0) +
	    (int)($_GET['n'] ?? 1);
if ($is('remove'))
	$_SESSION['cart'] = [];
if ($is('code'))
	$_SESSION['coupon'] = 'HARBOUR10';
foreach (['fresh' => fn () => session_regenerate_id(true),
    'again' => fn () => session_regenerate_id(),
    'pause' => fn () => sleep(1),
    'twice' => fn () => session_write_close() && session_start(),
    'manual' => function () {
	$id = session_create_id('shop-');
	session_commit();
	session_id($id);
	session_start();
    },
    'reset' => fn () => session_reset(),
    'abort' => fn () => session_abort(),
    'destroy' => fn () => session_destroy()] as $name => $f)
	if ($is($name))
		$f();
setcookie('preference', 'x');
header('Content-Type: application/json');
echo json_encode(['id' => session_id(), 'session' => $_SESSION ?? null,
    'cookies' => $_COOKIE, 'header' => $_SERVER['HTTP_COOKIE'] ?? null,
    'request' => $_REQUEST, 'acted' => $acted, 'agent' => Poppy::isAgent(),
    'see' => Poppy::session(), 'cart' => $is('cart') ? Poppy::cart() : null,
    'key' => Poppy::sessionId()]);
`;

const encode = (o) => Object.entries(o).map(([k, v]) => `${k}=` +
    encodeURIComponent(v)).join('&');

// A page of the shop, with the variables that the guard would give: q is its
// query, vars those variables.
async function page(vars, q = {}, { cookie, path = '/trap.php', body = '',
	more = {}, sock = `${w.dir}/run/php.sock` } = {})
{
	const query = encode(q);
	const headers = [...cookie ? [['Cookie', cookie]] : [],
		...body ? [['Content-Type',
			'application/x-www-form-urlencoded']] : []];
	const env = { ...environment(body ? 'POST' : 'GET',
	    `${w.url(path)}${query && `?${query}`}`, headers, body),
	SCRIPT_FILENAME: `${w.dir}/shop/public${path}`, SCRIPT_NAME: path,
	DOCUMENT_ROOT: `${w.dir}/shop/public`, ...vars, ...more };
	const shot = await Shot.open(sock);

	return shot.fire(request(RESPONDER, env, body));
}

// What the guard says of a Session, in or out.
let grants = 1000;
const sid = () => `ses_AA${random(16)}`;
const joined = (session = sid(), account) => ({ POPPY_VIA: 'cookie',
	POPPY_CLIENT_ID: 'https://agent.example/a.json', POPPY_SESSION: session,
	POPPY_USER: 'u', POPPY_AGENT: 'Mr%20%3CX%3E',
	POPPY_SIGNED_IN: account ? '1' : '0',
	...account ? { POPPY_ACCOUNT: account, POPPY_SCOPE: `${READ} x`,
		POPPY_GRANT: String(++grants) } : {} });

const setsNothing = (t, res, what) => t.unlike(res.head, /^set-cookie:/mi,
    `${what}: no cookie`);
const files = () => readdirSync(`${w.dir}/sessions`).sort();
const file = (id) => `${w.dir}/sessions/sess_${id}`;
const state = (id) => [createHash('sha256').update(readFileSync(file(id)))
    .digest('hex'), statSync(file(id)).mtimeMs];
const cart = async (s) => JSON.parse(await w.sql('SELECT to_jsonb(c) FROM ' +
    `poppy_api.cart_read('${s}') c`, 'poppy_bridge'));
const change = (s, lines, coupons = null) => w.sql('SELECT outcome FROM ' +
    `poppy_api.cart_change('${s}', '${JSON.stringify(lines)}', ` +
    `${coupons === null ? 'NULL' : `'${JSON.stringify(coupons)}'`})`,
'poppy_bridge');
const pieces = async (s) => Object.fromEntries((await cart(s)).lines
    .map((l) => [l.sku, l.quantity]));

// A person's browser, logged in at the shop as somebody.
async function visitor(account)
{
	const p = new Customer(w, account);

	await p.login(await p.open('/login.php'));
	return p;
}

// The bridge's settings bent, for the time of body.
async function bent(bend, body)
{
	const at = `${w.dir}/bridge/bridge.ini`, was = readFileSync(at, 'utf8');
	const { uid, gid, mode } = statSync(at);
	const put = (text) => {
		unlinkSync(at);
		writeFileSync(at, text);
		chownSync(at, uid, gid);
		chmodSync(at, mode);
	};

	put(bend(was));
	try {
		await body();
	} finally {
		put(was);
	}
}

// The adapter bent: another file, for PHP keeps what it has compiled.
let adapters = 0;
function adapted(bend, body)
{
	const at = `${w.dir}/bridge/shop-${++adapters}.php`;
	const was = readFileSync(`${w.dir}/bridge/shop.php`, 'utf8');

	if (bend(was) === was)
		throw new Error('nothing is bent');
	writeFileSync(at, bend(was), { mode: 0o644 });
	return bent((ini) => ini.replace(/adapter = .*/, `adapter = "${at}"`),
	    body);
}

const HABITS = ['', 'name', 'strict', 'strict name cookies', 'options',
	'anywhere cookies', 'fresh', 'again', 'strict fresh', 'strict again',
	'strict name cookies fresh again', 'options fresh', 'manual',
	'strict manual', 'twice', 'strict noid', 'callback cookies',
	'callback strict cookies fresh', 'flush cookies', 'end', 'ourfiles',
	'strict ourfiles fresh'];

for (const habit of HABITS)
	test(`one PHP session, page by page: ${habit || 'no habits'}`,
	    proves('R-5-15', 'R-5-19'), async (t) => {
		const s = await agent.session(), who = joined(s.id, '1');
		const put = random(6), q = { do: habit };
		const one = await page(who, { ...q, put, add: sku });

		t.must(one.json, 'JSON', one.text);
		setsNothing(t, one, 'first');
		const two = await page(who, q);
		t.must(two.json, 'JSON', two.text);
		setsNothing(t, two, 'second');
		t.eq([two.json.session?.put, two.json.session?.customer,
			two.json.session?.cart], [put, 1, { [sku]: 1 }], 'kept');
		t.eq(await pieces(s.id), { [sku]: 1 }, 'the cart');
		t.eq((await page(joined(s.id), q)).json?.session?.put, undefined,
		    'signed out: another one');
		t.eq((await page(who)).json?.session?.put,
		    habit.includes('ourfiles') ? undefined : put,
		    'without the habit');
		if (habit.includes('end'))
			t.eq(two.json.session.end, 'reached', 'its last word');
	});

test('one id for one sign-in of one Session', proves('R-5-15', 'R-5-16'),
    async (t) => {
	const a = sid(), guest = joined(a), one = joined(a, '1');
	const all = [guest, one, { ...one, POPPY_GRANT: '9' },
		{ ...one, POPPY_ACCOUNT: '2' }, joined(sid()), joined(sid(), '1')];
	const ids = [], keys = [];

	for (const v of all) {
		const { id, key } = (await page(v)).json;

		ids.push(id);
		keys.push(key);
		t.match(id, /^poppy-[0-9a-f]{64}$/, 'an id of ours');
		t.match(key, /^[0-9a-f]{64}$/, 'for other sessions');
		t.eq((await page(v)).json.id, id, 'again');
	}
	t.eq(new Set([...ids, ...keys]).size, 2 * all.length, 'all differ');
	await bent((ini) => ini.replace(/session_key = "../,
	    'session_key = "zz'), async () => {
		t.ok(!ids.includes((await page(one)).json.id), 'by the key');
	});
	// Separators within a value make no other's id.
	t.ok((await page({ ...one, POPPY_ACCOUNT: '1%7C2' })).json.id !==
	    (await page({ ...one, POPPY_ACCOUNT: '1',
		POPPY_GRANT: `${one.POPPY_GRANT}|2` })).json.id, 'no mixing');
});

test('sign-out leaves nothing that the next page could reach',
    proves('R-5-15', 'R-5-18'), async (t) => {
	const a = sid(), one = joined(a, '1');

	await page(one, { do: 'act', put: 'private' });
	const out = (await page(joined(a), { do: 'strict act' })).json;
	t.eq([out.session.put, out.session.customer, out.session.as, out.acted],
	    [undefined, undefined, undefined, false], 'a guest');
	const two = (await page(joined(a, '2'), { do: 'act' })).json;
	t.eq([two.session.put, two.session.customer, two.session.as],
	    [undefined, 2, '2'], 'another account');
	const back = (await page(joined(a, '1'))).json;
	t.eq(back.session.put, undefined, 'the same account, a new sign-in');
});

test('the visitor\'s own session is not read, changed or ended',
    proves('R-5-19'), async (t) => {
	const p = await visitor(people[1]), id = p.jar.get(SHOP);
	const cookie = `${SHOP}=${id}; x=y; PHPSESSID=${id}; __Host-trap=${id}`;
	const before = state(id);

	await sleep(20);
	for (const habit of [...HABITS, 'destroy', 'own', 'files', 'own strict',
		'id', 'id strict', 'id anywhere', 'id destroy', 'id fresh'])
		for (const vars of [joined(), joined(sid(), '1'),
			{ POPPY_VIA: 'ended' }, { ...joined(sid(), '1'),
				POPPY_VIA: 'proof' }]) {
			const res = await page(vars, { do: habit, put: 'x', id,
				PHPSESSID: id, '__Host-trap': id }, { cookie });
			const what = `${habit}, ${vars.POPPY_VIA}`;

			t.ok(res.json, what, res.text);
			setsNothing(t, res, what);
			t.eq([res.json?.cookies, res.json?.header], [[], null],
			    `${what}: cookies`);
			t.ok(![2, '2'].includes(res.json?.session?.customer),
			    `${what}: not that customer`);
		}
	t.eq(state(id), before, 'its file');
	t.match((await p.open('/account.php')).text, /Hello/, 'still logged in');
}, { timeout: 120000 });

test('with session.auto_start, too', proves('R-5-19'), async (t) => {
	const p = await visitor(people[1]), id = p.jar.get(SHOP);
	const at = `${w.dir}/run/php-auto.sock`;
	const conf = `${w.dir}/conf/php-auto.conf`;

	writeFileSync(conf, readFileSync(`${w.dir}/conf/php-fpm.conf`, 'utf8')
	    .replace('/run/php.sock', '/run/php-auto.sock')
	    .replace(/pm\.max_children.*/, '$&\nphp_admin_flag[session.' +
		`auto_start] = on\nphp_admin_value[session.name] = ${SHOP}`));
	const pid = Number(readFileSync(`${w.dir}/run/php-fpm.pid`, 'utf8')
	    .split(' ')[0]);
	const { uid, gid } = w.command(pid);
	const fpm = w.launch({ uid, gid, argv: [readlinkSync(`/proc/${pid}/exe`),
		'-F', '-y', conf] });
	try {
		t.must(await until(() => existsSync(at), 10000), 'PHP is there');
		const before = state(id), cookie = `${SHOP}=${id}`;

		await sleep(20);
		const opts = { sock: at, cookie };
		for (const vars of [joined(sid(), '1'), { POPPY_VIA: 'ended' }]) {
			const res = await page(vars, { put: 'x' }, opts);

			t.must(res.json, vars.POPPY_VIA, res.text);
			setsNothing(t, res, vars.POPPY_VIA);
			t.ok(res.json.session.customer !== 2, 'not that one');
		}
		t.eq(state(id), before, 'its file');
		t.eq((await page({}, { do: 'none' }, opts)).json.session
		    ?.customer, 2, 'a plain visitor has it');
		const mine = (await page(joined(sid(), '1'), {},
		    { sock: at })).json.id;
		const thief = (await page({}, { do: 'none' }, { sock: at,
			cookie: `${SHOP}=${mine}` })).json;
		t.ok(thief.id !== mine, 'none of ours', thief.id);
	} finally {
		fpm.kill('SIGTERM');
		await fpm.ended;
	}
});

test('a plain visitor gets no PHP session of ours by its id',
    proves('R-5-19'), async (t) => {
	const one = joined(sid(), '1');
	const { id } = (await page(one, { put: 'private' })).json;

	for (const [how, q, opts] of [
		['cookie', {}, { cookie: `PHPSESSID=${id}` }],
		['cookie, upper case', {},
			{ cookie: `PHPSESSID=${id.toUpperCase()}` }],
		['among others', { do: 'strict' },
			{ cookie: `a=b; PHPSESSID=${id}; c=d` }],
		['its name', { do: 'name' }, { cookie: `__Host-trap=${id}` }],
		['query', { do: 'anywhere', PHPSESSID: id }, {}],
		['form', { do: 'anywhere' }, { body: `PHPSESSID=${id}` }]]) {
		const res = (await page({}, q, opts)).json;

		t.ok(res && res.id.toLowerCase() !== id, `${how}: another id`,
		    res);
		t.eq(res?.session?.put, undefined, `${how}: nothing in it`);
	}
	t.eq((await page({}, {}, { cookie: 'a=poppy-seeds' })).json.cookies,
	    { a: 'poppy-seeds' }, 'what only begins like it stays');
	t.eq((await page(one)).json.session.put, 'private', 'still there');
});

test('a Session that is over, or a guard that was not asked: a guest whom ' +
    'nobody remembers', proves('R-5-16'), async (t) => {
	const before = files();

	for (const [vars, cookie] of [[{ POPPY_VIA: 'ended' }, 'a=b'],
		[{}, `${COOKIE}=x`], [{}, `a=b; ${COOKIE}`],
		[{ POPPY_VIA: 'ended' }, `${COOKIE}=x; PHPSESSID=${'a'
		    .repeat(26)}`]])
		for (const habit of ['', 'strict cookies', 'options fresh act',
			'name callback']) {
			const res = await page(vars, { do: habit, put: 'x',
				add: sku }, { cookie });

			t.must(res.json, 'JSON', res.text);
			setsNothing(t, res, habit);
			t.eq([res.json.see, res.json.agent, res.json.cookies,
				res.json.header, res.json.key],
			[null, true, [], null, null], 'what it sees');
			t.ok(!res.json.acted, 'nobody');
			t.eq((await page(vars, { do: habit }, { cookie })).json
			    .session, [], 'nothing kept');
		}
	t.eq(files(), before, 'no files');
});

test('a call of an API acts for nobody on pages', proves('R-5-19', 'R-6-13'),
    async (t) => {
	const before = files();

	for (const POPPY_VIA of ['proof', 'bearer']) {
		const vars = { ...joined(sid(), '1'), POPPY_VIA };
		const res = await page(vars, { do: 'act', put: 'x' },
		    { cookie: `PHPSESSID=${'b'.repeat(26)}` });

		t.must(res.json, 'JSON', res.text);
		t.eq([res.json.acted, res.json.session.customer,
			res.json.cookies], [false, undefined, []], POPPY_VIA);
		t.eq([res.json.see.account, res.json.see.signedIn], ['1', true],
		    'though it may use the account');
		t.eq((await page(vars)).json.session, [], 'nothing kept');
	}
	t.eq(files(), before, 'no files');
});

test('actAs: a customer there and nowhere else', proves('R-5-15'),
    async (t) => {
	const a = sid(), one = joined(a, '1');

	t.eq((await page(one, { do: 'act' })).json.acted, true, 'signed in');
	t.eq((await page(one)).json.session.as, '1', 'kept');
	t.eq((await page(joined(a), { do: 'act' })).json.acted, false,
	    'signed out');
	t.eq((await page({}, { do: 'act' })).json.acted, false, 'a visitor');
	t.eq((await page(one, { do: 'none act' })).json.acted, 4,
	    'before session_start()');
	t.eq((await page(one, { do: 'id act', id: 'abc' })).json.acted, 4,
	    'under another id');
});

test('what the bridge tells of a Session', proves('R-6-13'), async (t) => {
	const { see } = (await page(joined('ses_x', 'a%2Fb'))).json;

	t.eq([see.via, see.clientId, see.agent, see.id, see.user, see.signedIn,
		see.account, see.scopes], ['cookie',
		'https://agent.example/a.json', 'Mr <X>', 'ses_x', 'u', true,
		'a/b', [READ, 'x']], 'signed in');
	const { POPPY_AGENT, ...nameless } = joined();
	t.eq((await page(nameless)).json.see.agent, 'agent.example',
	    'without a name');
	t.ok(POPPY_AGENT, 'with one');
	t.eq((await page({ ...joined(), POPPY_ACCOUNT: '1', POPPY_SCOPE: READ }))
	    .json.see.account, null, 'signed out, whatever is left over');
	t.eq((await page({})).json.see, null, 'a visitor');
});

test('half of it is none of it', proves('R-5-15'), async (t) => {
	for (const name of ['ACCOUNT', 'GRANT', 'SESSION']) {
		const vars = joined(sid(), '1');

		delete vars[`POPPY_${name}`];
		t.eq((await page(vars)).status, 503, `no ${name}`);
	}
});

test('pages and API: one cart', proves('R-5-15'), async (t) => {
	const s = await agent.session(), who = joined(s.id);

	await change(s.id, [{ sku, options: '', delta: 2 }], ['HARBOUR10']);
	const seen = (await page(who, { do: 'cart' })).json;
	t.eq([seen.session.cart, seen.session.coupon], [{ [sku]: 2 },
		'HARBOUR10'], 'on the page');
	t.eq(seen.cart, [[{ sku, options: '', quantity: 2 }], ['HARBOUR10']],
	    'asked for');
	await page(who, { add: other });
	t.eq(await pieces(s.id), { [sku]: 2, [other]: 1 }, 'from the page');
	await change(s.id, [{ sku, options: '', remove: true }]);
	t.eq((await page(who)).json.session.cart, { [other]: 1 }, 'and back');
	t.eq((await page(joined(s.id, '1'))).json.session.cart, { [other]: 1 },
	    'signed in');
	await page(joined(s.id, '1'), { do: 'remove' });
	t.eq([(await cart(s.id)).lines, (await cart(s.id)).coupons],
	    [[], ['HARBOUR10']], 'emptied');
	const version = (await cart(s.id)).version;
	await page(who);
	t.eq((await cart(s.id)).version, version, 'a page that only looks');
});

test('two at once both count', proves('R-5-15'), async (t) => {
	for (const habit of ['pause', 'fresh pause', 'pause fresh',
		'pause again', 'pause twice', 'strict fresh pause fresh']) {
		const s = await agent.session(), who = joined(s.id, '1');

		await change(s.id, [{ sku, options: '', delta: 1 }]);
		const slow = page(who, { do: habit, add: sku });
		await sleep(400);
		await change(s.id, [{ sku, options: '', delta: 5 },
			{ sku: other, options: '', delta: 1 }], ['LATE']);
		const two = page(who, { add: other });
		t.ok((await slow).json, habit, (await slow).text);
		t.ok((await two).json, habit);
		t.eq(await pieces(s.id), { [sku]: 7, [other]: 2 }, habit);
		t.eq((await cart(s.id)).coupons, ['LATE'], `${habit}: codes`);
	}
}, { timeout: 60000 });

test('what the shop undoes is not done', proves('R-5-15'), async (t) => {
	const s = await agent.session(), who = joined(s.id);

	await page(who, { do: 'abort', add: sku, put: 'x' });
	t.eq(await pieces(s.id), {}, 'session_abort()');
	await page(who, { do: 'reset', add: sku });
	t.eq(await pieces(s.id), {}, 'session_reset()');
	t.eq((await page(who)).json.session.put, undefined, 'nothing kept');
	await page(who, { put: 'y', add: sku });
	await page(who, { do: 'destroy' });
	const now = (await page(who)).json.session;
	t.eq([now.put, now.cart], [undefined, { [sku]: 1 }],
	    'session_destroy(): the cart is the Session\'s');
});

const away = async (t, res, what) => {
	t.eq(res.status, 503, `${what}: status`);
	t.match(res.head, /^cache-control: no-store/mi, `${what}: no-store`);
	t.match(res.head, /^retry-after: /mi, `${what}: when to come again`);
	t.match(res.text, /can't answer agents just now/, `${what}: says so`);
	t.unlike(res.text, /poppy_|SQLSTATE|\.php/, `${what}: and no more`);
	setsNothing(t, res, what);
};

test('rather no page than a wrong one: settings', proves('R-5-15'),
    async (t) => {
	for (const [why, bend] of [
		['no key', (s) => s.replace(/session_key.*/, '')],
		['a short key', (s) => s.replace(/session_key.*/,
		    `session_key = "${'a'.repeat(31)}"`)],
		['no adapter there', (s) => s.replace(/shop\.php/, 'none.php')],
		['no database', (s) => s.replace('/pg;', '/none;')],
		['an unknown key', (s) => `${s}sesion_key = "x"\n`]])
		await bent(bend, async () => {
			for (const vars of [joined(), joined(sid(), '1')])
				await away(t, await page(vars), why);
			t.eq((await page({})).json?.see, null,
			    `${why}: visitors come in`);
			t.eq((await page({ POPPY_VIA: 'ended' })).json?.agent,
			    true, `${why}: guests, too`);
		});
});

test('rather no page than a wrong one: the adapter', proves('R-5-15'),
    async (t) => {
	for (const [why, bend] of [
		['throws', (s) => s.replace("$_SESSION['customer'] =",
		    "throw new LogicException('x');")],
		['ends badly', (s) => s.replace("$_SESSION['coupon'] = $coupons" +
		    '[0]', 'undefined_function()')],
		['no array', (s) => s.replace('return [', 'return 1; [')],
		['misspelt', (s) => s.replace("'login'", "'logon'")],
		['no function', (s) => s.replace('return [',
		    "return ['login' => 'no such',")
		    .replace("'login' => function", "'logout' => function")],
		['half a cart', (s) => s.replace("'cart_store'", "// '")
		    .replace(/\/\/ '[^]*?\n\t},/, '')],
		['no PHP', (s) => s.replace('return [', 'return [[')]])
		await adapted(bend, async () => {
			await away(t, await page(joined(sid(), '1')), why);
			t.eq((await page({})).json?.see, null,
			    `${why}: visitors come in`);
		});
}, { timeout: 60000 });

test('rather no page than one that lies about the cart', proves('R-5-15'),
    async (t) => {
	const s = await agent.session(), who = joined(s.id);

	await page(who, { put: 'before', add: sku });
	await away(t, await page(who, { put: 'x', add: sku, n: 9999 }),
	    'too many');
	await away(t, await page(who, { do: 'php' }), 'another format');
	const ended = await agent.session(), gone = joined(ended.id);
	await w.endSession(ended.id);
	t.eq((await page(gone)).json?.session?.cart, [], 'ended meanwhile');
	await away(t, await page(gone, { add: sku }), 'and the cart with it');
	t.eq([await pieces(s.id), (await page(who)).json.session.put],
	    [{ [sku]: 1 }, 'before'], 'nothing was done');
	const late = await page(who, { do: 'flush', add: sku, n: 9999 });
	t.eq([late.status, await pieces(s.id)], [200, { [sku]: 1 }],
	    'a page that is out already can\'t be taken back');
});

test('a save handler of the shop\'s own, unannounced: a guest',
    proves('R-5-19'), async (t) => {
	const who = joined(sid(), '1');

	for (const habit of ['own', 'files', 'strict own', 'strict files']) {
		const { session } = (await page(who, { do: habit })).json;

		t.eq([session.customer, session.put], [undefined, undefined],
		    habit);
	}
	t.eq((await page({}, { do: 'ourfiles', put: 'v' })).json.session,
	    { put: 'v' }, 'and visitors have it as it is');
});

// Through the web server, the guard and the demo shop.
async function begin()
{
	const f = ada(new User(), agent), s = await agent.session(f.user);

	return { f, s, b: await tab(agent, s) };
}
const buy = async (b, res) => b.submit(forms(res.text, res.url).find((f) =>
    f.fields.some(([k, v]) => k === 'do' && v === 'add')), { quantity: '2' });
const banner = (res) => unescape(/<p class="agent"[^]*?<\/p>/.exec(res.text)
    ?.[0] ?? '').replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');

test('the demo shop, signed out, in and out again', proves('R-5-15',
    'R-5-18', 'R-5-21'), async (t) => {
	const { f, s, b } = await begin();
	const home = await b.open('/');

	t.match(banner(home), /Test Agent \(.*\) shops here for a guest\./,
	    'the banner');
	t.unlike(home.text, /href="\/login\.php/, 'no way to log in');
	const slug = (await w.sql('SELECT p.slug FROM shop.variant v JOIN ' +
	    'shop.product p ON p.id = v.product_id WHERE v.sku = ' +
	    `'${sku}'`)).trim();
	const shelf = await b.open(`/product.php?p=${slug}&v=${sku}`);
	t.eq((await buy(b, shelf)).status, 303, 'into the basket');
	t.eq(await pieces(s.id), { [sku]: 2 }, 'the Session\'s cart');
	await f.signedIn({ scope: READ }, { session: s });
	const account = await b.open('/account.php');
	t.match(account.text, /Hello, Ada/, 'the customer\'s page');
	t.match(banner(account), /for Ada Brandt\. It may: see orders\./,
	    'the banner');
	t.match((await b.open('/cart.php')).text, new RegExp(slug),
	    'with the same basket');
	const [{ pat }] = [await f.signedIn({ scope: READ }, { session: s })];
	t.match((await b.open('/orders.php')).text, /Your orders/, 'orders');
	await f.revoke(pat);
	await w.sql('UPDATE poppy.grants SET revoked_at = extract(epoch FROM ' +
	    'now())::bigint WHERE revoked_at IS NULL');
	const out = await b.open('/cart.php');
	t.match(out.text, new RegExp(slug), 'still the same basket');
	t.unlike(out.text, /Ada/, 'and a guest');
	t.eq((await b.open('/account.php')).status, 403, 'no account');
});

test('a visitor logged in before, in the same browser', proves('R-5-19'),
    async (t) => {
	const p = await visitor(people[1]), id = p.jar.get(SHOP);
	const before = state(id), { s, b } = await begin();

	for (const [k, v] of p.jar)
		b.jar.set(k, v);
	await sleep(20);
	for (const path of ['/', '/cart.php', '/account.php', '/orders.php']) {
		const res = await b.open(path);

		t.unlike(res.text, new RegExp(people[1].email), path);
		t.eq(res.all('set-cookie'), [], `${path}: no cookie`);
	}
	await change(s.id, [{ sku, options: '', delta: 1 }]);
	t.match((await b.open('/')).text, /Basket<b>1<\/b>/, 'its own basket');
	t.eq(state(id), before, 'the visitor\'s session is as it was');
	t.eq(b.jar.get(SHOP), id, 'and its cookie');
	await w.endSession(s.id);
	const over = await b.open('/');
	t.match(over.text, /Basket<b>0<\/b>/, 'over: a guest');
	t.unlike(over.text, new RegExp(people[1].email), 'and not the visitor');
	t.eq(state(id), before, 'whose session is as it was');
	b.jar.delete(COOKIE);
	t.match((await b.open('/account.php')).text, /Hello/,
	    'who comes back to it');
});

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings });
		writeFileSync(`${w.dir}/shop/public/trap.php`, TRAP,
		    { mode: 0o644 });
		agent = new Agent(w);
		people = await accounts(w);
		ada = decided(w, people[0]);
		sku = w.sku;
		other = (await w.sql('SELECT v.sku FROM shop.variant v JOIN ' +
		    'shop.product p ON p.id = v.product_id AND p.active ' +
		    `WHERE v.sku <> '${sku}' AND v.stock > 3 LIMIT 1`)).trim();
	},
	after: () => w?.close(),
});
