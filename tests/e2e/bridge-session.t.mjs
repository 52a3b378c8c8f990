// The bridge in the browser of an agent: the Session has a PHP session of its
// own, the shop's customer and one cart, and the visitor who used that browser
// before is left alone. Its own stack.
import { chownSync, chmodSync, existsSync, readFileSync, statSync,
	writeFileSync }
	from 'node:fs';
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Tab, browserSettings, tab } from './lib/browser.mjs';
import { accounts, decided } from './lib/consent.mjs';
import { send } from './lib/http.mjs';
import { READ, WRITE } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, agent, people, ada, bob, skus;

// Does with its session what shops do, and says what came of it.
const SESS = `<?php
$do = explode(' ', $_GET['do'] ?? '');
foreach ($do as $d)
	match ($d) {
	'strict' => ini_set('session.use_strict_mode', '1'),
	'cookies' => ini_set('session.use_cookies', '1'),
	'name' => session_name('MYSHOP'),
	'path' => session_save_path($_SERVER['DOCUMENT_ROOT'] . '/../../sessions'),
	default => null,
	};
session_start(in_array('options', $do, true) ? ['use_cookies' => 1,
    'use_strict_mode' => 1, 'cookie_secure' => true, 'name' => 'OTHER',
    'use_only_cookies' => 1, 'lazy_write' => 1] : []);
if (in_array('cookies', $do, true))
	setcookie('remember', 'me', ['path' => '/', 'secure' => true]);
if (in_array('new', $do, true))
	session_regenerate_id(true);
if (in_array('twice', $do, true)) {
	session_write_close();
	session_start();
}
$_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
header('Content-Type: application/json');
echo json_encode(['n' => $_SESSION['n'], 'id' => session_id(),
    'customer' => $_SESSION['customer'] ?? null, 'cookies' => $_COOKIE,
    'header' => $_SERVER['HTTP_COOKIE'] ?? null]);
`;

// Takes its session's id from where it should not.
const GIVEN = `<?php
$id = $_REQUEST['sid'] ?? $_GET['sid'] ?? $_POST['sid'] ??
    $_COOKIE['sid'] ?? $_SERVER['HTTP_X_SID'] ?? '';
if (is_array($id))
	$id = $id['a'] ?? '';
if ($id !== '')
	session_id($id);
ini_set('session.serialize_handler', $_GET['as'] ?? 'php');
session_start();
header('Content-Type: application/json');
echo json_encode(['id' => session_id(), 'word' => $_REQUEST['word'] ?? null,
    'all' => $_SESSION]);
`;

// What Poppy:: says.
const ASK = `<?php
header('Content-Type: application/json');
$s = Poppy::session();
$as = [];
$try = function () use (&$as) {
	try {
		return Poppy::actAs(function ($id) use (&$as) { $as[] = $id; });
	} catch (PoppyException $e) {
		return $e->getCode();
	}
};
$before = $try();
@session_start();
echo json_encode(['session' => $s, 'read' => $s?->may('poppy:read'),
    'before' => $before, 'after' => $try(), 'as' => $as,
    'agent' => Poppy::isAgent(), 'cart' => Poppy::cart()]);
`;

const ini = () => `${w.dir}/bridge/bridge.ini`;

// With another bridge.ini, or another adapter.
async function bent(text, body)
{
	const was = readFileSync(ini(), 'utf8'), { uid, gid } = statSync(ini());
	const put = (s) => {
		writeFileSync(ini(), s);
		chownSync(ini(), uid, gid);
	};

	chmodSync(ini(), 0o600);
	put(text(was));
	chmodSync(ini(), 0o400);
	try {
		await body();
	} finally {
		chmodSync(ini(), 0o600);
		put(was);
		chmodSync(ini(), 0o400);
	}
}

async function begin(who = ada)
{
	const f = who(new User(), agent), s = await agent.session(f.user);

	return { f, s, b: await tab(agent, s) };
}

const page = async (b, what = '') => (await b.fetch(
    `/sess.php?do=${encodeURIComponent(what)}`));
const sql = async (q) => (await w.sql(q)).trim();
const cartOf = async (s) => JSON.parse(await sql("SELECT coalesce((SELECT " +
    `json_object_agg(x->>'sku', x->'quantity') FROM jsonb_array_elements(` +
    `lines) x), '{}') FROM poppy_api.cart_read('${s.id}')`));
const change = (s, lines, coupons = 'NULL') => sql('SELECT outcome FROM ' +
    `poppy_api.cart_change('${s.id}', '${JSON.stringify(lines)}', ${coupons})`);

// A form of a page of the shop, sent.
async function act(b, path, fields)
{
	const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(
	    (await b.fetch(path)).text)?.[1];

	return b.fetch(path, { method: 'POST', headers: [['Content-Type',
		'application/x-www-form-urlencoded']],
	body: new URLSearchParams({ csrf, ...fields }).toString() });
}

const add = (b, sku, n = 1) => act(b, '/cart.php', { do: 'add', sku,
	quantity: n });

for (const how of ['', 'strict', 'name', 'cookies', 'strict name cookies',
	'options', 'strict new', 'new', 'twice', 'path', 'strict twice new'])
	test(`one PHP session over the pages, none known outside: ${how}`,
	    proves('R-5-15'), async (t) => {
		const { s, b } = await begin();
		const id = (await page(b)).json.id;

		t.match(id, /^poppy-[0-9a-f]{64}$/, 'an id of ours');
		for (const n of [2, 3, 4]) {
			const res = await page(b, how);

			t.eq([res.json.n, res.json.id], [n, id], `page ${n}`);
			t.eq(res.all('set-cookie'), [], 'no cookie is set');
			t.eq([res.json.cookies, res.json.header], [[], null],
			    'none is seen');
		}
		t.ok(!id.includes(s.id.slice(6)), 'not by the id of the Session');
		const other = await tab(agent, await agent.session(s.user));

		t.eq((await page(other)).json.n, 1, 'another Session, another one');
	});

test('nobody brings the id of a Session\'s PHP session along',
    proves('R-5-19'), async (t) => {
	const { b } = await begin(), { id } = (await page(b)).json;

	for (const [name, how] of [['PHPSESSID', ''], ['MYSHOP', 'name'],
		['OTHER', 'options'], ['__Host-tidewell', '']]) {
		const res = await send(w.url(`/sess.php?do=${how}&` +
		    `PHPSESSID=${id}`), { ca: w.ca,
			headers: [['Cookie', `${name}=${id}`]] });

		t.eq(res.json.n, 1, `${name}: a new session`);
		t.ok(res.json.id !== id, `${name}: of its own`);
	}
	t.eq((await page(b)).json.n, 2, 'it goes on where it was');
});

test('a shop that takes ids from anywhere gets none of a Session',
    proves('R-5-19'), async (t) => {
	const { f, s, b } = await begin();

	await f.signedIn({ scope: READ }, { session: s });
	const { id } = (await page(b)).json;
	const form = [['Content-Type', 'application/x-www-form-urlencoded']];
	const ask = async (query, o = {}) => (await send(w.url(
	    `/given.php?${query}`), { ca: w.ca, ...o })).json;

	for (const [why, query, o] of [
		['URL', `sid=${id}`], ['URL, an array', `sid[a]=${id}`],
		['form', '', { method: 'POST', headers: form,
			body: `sid=${id}` }],
		['form, an array', '', { method: 'POST', headers: form,
			body: `sid[a]=${id}` }],
		['cookie', '', { headers: [['Cookie', `sid=${id}`]] }],
		['cookie, an array', '', { headers: [['Cookie',
			`sid[a]=${id}`]] }],
		['for a database without case', `sid=${id.toUpperCase()}`],
		['with a space', `sid=${id}%20`]]) {
		const a = await ask(query, o);

		t.ok(!a.id.toLowerCase().includes('poppy-'), `${why}: another id`);
		t.eq(a.all, [], `${why}: nothing in it`);
	}
	t.eq((await ask('word=poppy-seeds')).word, 'poppy-seeds',
	    'a word of the shop\'s is left alone');
	t.eq((await page(b)).json.n, 2, 'it goes on where it was');
});

test('what is kept for a Session tells no visitor\'s page anything',
    proves('R-5-19'), async (t) => {
	for (const as of ['php', 'php_serialize', 'php_binary']) {
		const { f, s, b } = await begin();

		await f.signedIn({ scope: READ }, { session: s });
		const { id, customer } = (await page(b)).json;

		t.eq(String(customer), String(people[0].id), `${as}: logged in`);
		const a = (await send(w.url(`/given.php?as=${as}`), { ca: w.ca,
			headers: [['X-Sid', id]] })).json;

		t.eq(a.all, [], `${as}: nobody is`);
		const after = (await page(b)).json;
		t.eq([after.n, String(after.customer)], [1,
			String(people[0].id)], `${as}: it begins anew`);
	}
});

test('sign-in and sign-out lead to other PHP sessions', proves('R-5-15'),
    async (t) => {
	const { f, s, b } = await begin();
	const guest = (await page(b)).json;

	t.eq(guest.customer, null, 'a guest');
	const one = await f.signedIn({ scope: READ }, { session: s });
	const first = (await page(b)).json;
	t.eq([first.n, String(first.customer)], [1, String(people[0].id)],
	    'the shop\'s customer');
	await f.revoke(one.pat);
	const back = (await page(b)).json;
	t.eq([back.id, back.n, back.customer], [guest.id, 2, null],
	    'the guest of before');
	await f.signedIn({ scope: READ }, { session: s });
	const again = (await page(b)).json;
	t.eq(again.n, 1, 'signed in again: nothing of the first time');
	t.eq(new Set([guest.id, first.id, again.id]).size, 3, 'three ids');
});

test('the shop shows whose agent it is, and its customer\'s pages',
    proves('R-5-15', 'R-5-18'), async (t) => {
	const { f, s, b } = await begin();
	const shop = async (path) => (await b.fetch(path)).text;

	t.match(await shop('/'), /class="agent"[^]*Test Agent[^]*a guest/,
	    'the banner');
	t.ok(!/login\.php/.test(await shop('/')), 'no way to log in');
	await f.signedIn({ scope: `${READ} ${WRITE}` }, { session: s });
	t.match(await shop('/'), /class="agent"[^]*It may: see orders, change/,
	    'what it may');
	t.match(await shop('/account.php'), new RegExp(people[0].email),
	    'the account');
	t.ok(!/class="agent"/.test((await send(w.url('/'), { ca: w.ca })).text),
	    'nothing of it for people');
});

test('the cart of the Session is the one on the page', [], async (t) => {
	const { f, s, b } = await begin(), [x, y] = skus;

	t.eq(await change(s, [{ sku: x, options: '', delta: 2 }]), 'ok', 'API');
	t.match((await b.fetch('/cart.php')).text, new RegExp(
	    `value="${x}"[^]*name="quantity"[^>]*value="2"`), 'on the page');
	t.eq((await add(b, y, 1)).status, 303, 'the page adds');
	t.eq(await cartOf(s), { [x]: 2, [y]: 1 }, 'seen by the API');
	await act(b, '/cart.php', { do: 'remove', sku: x });
	t.eq(await cartOf(s), { [y]: 1 }, 'the page removes');
	await f.signedIn({ scope: READ }, { session: s });
	t.match((await b.fetch('/cart.php')).text, new RegExp(`value="${y}"`),
	    'it is there after sign-in');
	await change(s, [{ sku: y, remove: true }]);
	t.match((await b.fetch('/cart.php')).text, /nothing in it/,
	    'the API removes');
});

test('two pages and the API at once: all of it counts', [], async (t) => {
	const { s, b } = await begin(), [x, y, z] = skus;
	const two = new Tab(agent, s);

	two.jar = b.jar;
	await b.fetch('/cart.php');
	for (let i = 0; i < 3; i++)
		await Promise.all([add(b, x), add(two, y), change(s,
		    [{ sku: z, options: '', delta: 1 }])]);
	t.eq(await cartOf(s), { [x]: 3, [y]: 3, [z]: 3 }, 'three of each');
});

test('what Poppy:: says of a Session, and of none', proves('R-6-13'),
    async (t) => {
	const { f, s, b } = await begin();
	const ask = async () => (await b.fetch('/ask.php')).json;

	let a = await ask();
	t.eq([a.session.via, a.session.id, a.session.clientId,
		a.session.agent], ['cookie', s.id, agent.id, 'Test Agent'],
	'who');
	t.eq([a.session.signedIn, a.session.account, a.session.scopes,
		a.before, a.after, a.as], [false, null, [], false, false, []],
	'signed out');
	await f.signedIn({ scope: READ }, { session: s });
	a = await ask();
	t.eq([a.session.signedIn, a.session.account, a.session.scopes, a.read],
	    [true, String(people[0].id), [READ], true], 'signed in');
	t.eq([a.before, a.after, a.as], [4, true, [String(people[0].id)]],
	    'actAs: in the PHP session alone');
	const people_ = (await send(w.url('/ask.php'), { ca: w.ca })).json;
	t.eq([people_.session, people_.before, people_.after, people_.agent],
	    [null, false, false, false], 'a visitor');
});

test('PHP has nothing to complain about', [], async (t) => {
	const file = `${w.dir}/log/shop.log`;
	const log = () => existsSync(file) ? readFileSync(file, 'utf8') : '';
	const { f, s, b } = await begin(), n = log().length;

	await f.signedIn({ scope: `${READ} ${WRITE}` }, { session: s });
	for (const path of ['/', '/cart.php', '/orders.php', '/account.php'])
		t.eq((await b.fetch(path)).status, 200, path);
	for (const how of ['', 'strict name', 'options', 'strict new', 'twice'])
		await page(b, how);
	await add(b, skus[0]);
	await act(b, '/cart.php', { do: 'remove', sku: skus[0] });
	b.jar.set('__Host-poppy', 'pbs_none');
	await b.fetch('/');
	await page(b, 'options');
	t.eq(log().slice(n), '', 'warnings');
});

test('a Session that is over: a guest whom nobody remembers',
    proves('R-5-16'), async (t) => {
	const { s, b } = await begin();

	await page(b);
	await w.sql('UPDATE poppy.session SET ended_at = 1 WHERE sid = ' +
	    `(SELECT sid FROM poppy.sid_parse('${s.id}'))`);
	for (const how of ['', 'strict cookies', 'new', 'options']) {
		const res = await page(b, how);

		t.eq([res.json.n, res.json.cookies, res.json.customer],
		    [1, [], null], `a guest: ${how}`);
		t.eq(res.all('set-cookie'), [], 'with no cookie');
	}
	t.eq((await b.fetch('/login.php')).status, 403, 'no way in');
});

test('a cookie in letters that a web server can\'t read hides no agent',
    proves('R-5-16', 'R-5-19'), async (t) => {
	const { f, s, b } = await begin();

	await f.signedIn({ scope: READ }, { session: s });
	const own = (await page(b)).json.id;
	const mine = [...b.jar].map(([k, v]) => `${k}=${v}`).join('; ');
	// lighttpd doesn't ask the guard, Apache does.
	for (const odd of ['\x80', '\xfc', '\xc3\x28', '\xed\xa0\x80'])
		for (const c of [`a=${odd}; ${mine}`, `${mine}; a=${odd}`,
			`a=${odd}; PHPSESSID=visitor; ${mine}`]) {
			const ask = (path) => send(w.url(path), { ca: w.ca,
				headers: [['Cookie', c]] });
			const res = (await ask('/sess.php')).json;

			t.eq([res.cookies, res.header], [[], null],
			    'PHP sees no cookie');
			t.ok(res.id === own || res.customer === null && res.n === 1,
			    'its own session, or a guest\'s', res);
			t.eq((await ask('/login.php')).status, 403, 'no way in');
		}
});

test('what is set up wrongly is 503 for agents alone', [], async (t) => {
	const { b } = await begin();
	let n = 0;

	for (const [why, text] of [
		['no key', (s) => s.replace(/session_key.*/, '')],
		['a short key', (s) => s.replace(/session_key.*/,
		    'session_key = "abc"')],
		['no adapter there', (s) => s.replace(/adapter.*/,
		    'adapter = "/nowhere.php"')],
		['a word that is no setting', (s) => `${s}\nwhat = 1\n`]])
		await bent(text, async () => {
			t.eq((await page(b)).status, 503, why);
			t.eq((await send(w.url('/'), { ca: w.ca })).status, 200,
			    `${why}: people shop on`);
		});
	for (const [why, code] of [['returns nothing', '<?php '],
		['half a cart', '<?php return ["cart_load" => fn () => 1];'],
		['an unknown part', '<?php return ["log_in" => fn () => 1];'],
		['no function', '<?php return ["login" => 7];']]) {
		// PHP looks at a file that it knows every two seconds.
		const file = `${w.dir}/bridge/bad-${n++}.php`;

		writeFileSync(file, code, { mode: 0o644 });
		await bent((x) => x.replace(/adapter.*/, `adapter = "${file}"`),
		    async () => t.eq((await page(b)).status, 503,
			`adapter: ${why}`));
	}
	t.eq((await page(b)).status, 200, 'and all is well again');
});

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			browserSettings(c);
			c.site.rules.unshift({ path: '/sess.php' },
			    { path: '/ask.php' });
		} });
		for (const [name, text] of [['sess', SESS], ['ask', ASK],
			['given', GIVEN]])
			writeFileSync(`${w.dir}/shop/public/${name}.php`, text,
			    { mode: 0o644 });
		agent = new Agent(w);
		people = await accounts(w);
		[ada, bob] = people.map((p) => decided(w, p));
		skus = (await sql("SELECT string_agg(sku, ' ') FROM (SELECT " +
		    'sku FROM shop.variant WHERE stock > 9 ORDER BY id LIMIT 3) ' +
		    'x')).split(' ');
	},
	after: () => w?.close(),
});
