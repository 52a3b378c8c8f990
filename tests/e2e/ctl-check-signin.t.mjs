// poppyctl check, what sign-in adds to it: the shop's view of its customers, the
// pages, the shop's login page, and the bridge.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { checker } from './lib/checker.mjs';
import { signinSettings } from './lib/signin.mjs';
import { run, test } from './lib/tap.mjs';
import { World } from './lib/world.mjs';

let w, dir, check, bent, finds, other;

function signInOn(c)
{
	signinSettings(c);
	c.sign_in.mediated = ['poppy:read'];
	c.codes = { command: ['/bin/true'] };
}

const of = (r, area) => r.points.filter((p) => p.area === area)
    .map((p) => p.result);
const byShop = (path, url) => bent((c) => {
	c.login = { by: 'shop', shop_url: url ?? `${c.issuer}${path}` };
});

test('a stack that is well', [], (t) => {
	const r = check();

	t.eq(r.json.faults, 0, 'faults', r.bad);
	t.eq(of(r, 'customers'), ['ok'], 'customers');
	t.eq(of(r, 'pages'), ['ok'], 'pages');
	t.eq(of(r, 'bridge'), ['left out'], 'no bridge.ini');
	const p = r.points.find((x) => x.area === 'customers');
	for (const says of [/^9 looked at/, /6 ok/, /1 privileged/, /5 hashed by \$2y\$/,
		/1 hashed by \$wp\$/])
		t.match(p?.text, says, 'what it saw');
});

test('without sign-in nothing of it is looked at', [], (t) => {
	const r = check({ conf: bent((c) => { delete c.sign_in; }) });

	t.eq([of(r, 'customers'), of(r, 'pages'), of(r, 'bridge')],
	    [['left out'], ['left out'], []], 'points');
});

// The view, otherwise.
async function view(t, sql, pattern, result)
{
	const old = await w.sql("SELECT pg_get_viewdef('poppy_shop.customer')");

	await w.sql(`CREATE OR REPLACE VIEW poppy_shop.customer AS ${sql}`);
	try {
		finds(t, check(), 'customers', pattern, result);
	} finally {
		await w.sql('CREATE OR REPLACE VIEW poppy_shop.customer AS ' + old);
	}
}

const columns = (over = {}) => 'SELECT ' + Object.entries({ id: 'id::text',
	login: 'lower(email)', name: 'name', email: 'email', phone: 'phone',
	password_hash: 'password', hash_kind: "''::text", status: "'ok'::text",
	locale: "''::text", ...over }).map(([k, v]) => `${v} AS ${k}`)
    .join(', ') + ' FROM shop.customer';

for (const [why, sql, pattern, result] of [
	['a slow one', `${columns()} WHERE pg_sleep(0.06) IS NOT NULL`,
		/^to find one by (id|login) takes \d+ ms.*index/, 'warning'],
	['nobody', columns() + ' WHERE false', /shows nobody.*adapter/],
	['the same accounts twice', `${columns()} UNION ALL ${columns()}`,
		/^9 ids are there more than once/],
	['one login for all', columns({ login: "'a@b'::text" }),
		/^1 logins are there more than once/],
	['capital letters', columns({ login: 'upper(email)' }),
		/^9 logins have capital.*lower/],
	['no login', columns({ login: "nullif(email, 'ada@tidewell.example')" }),
		/^1 rows have no id or no login/],
	['other states', columns({ status: "'active'::text" }),
		/status "active" of 9 is none of ok, /, 'warning'],
	['all are disabled', columns({ status: "'disabled'::text" }),
		/none has status ok/, 'warning'],
	['an unknown hash', columns({ password_hash:
	    "CASE id WHEN 1 THEN '$argon9$x' ELSE password END" }),
	/^1 hashes that begin with "\$argon9\$".*hash_kind/, 'warning'],
	['hashes that don\'t tell', columns({ password_hash: 'md5(password)' }),
		/^9 hashes that begin with "".*hash_kind/, 'warning'],
	['an unknown kind', columns({ hash_kind: "'joomla'::text" }),
		/^hash_kind "joomla" of 9 /, 'warning']])
	test(`the view: ${why}`, [], (t) => view(t, sql, pattern, result));

test('the view: not to be read', [], async (t) => {
	await w.sql('REVOKE SELECT ON poppy_shop.customer FROM poppy_owner');
	finds(t, check(), 'customers',
	    /can't be read: permission denied.*poppy_owner may SELECT/);
	await w.sql('GRANT SELECT ON poppy_shop.customer TO poppy_owner');
});

test('with login by shop hashes don\'t matter', [], async (t) => {
	const old = await w.sql("SELECT pg_get_viewdef('poppy_shop.customer')");

	await w.sql('CREATE OR REPLACE VIEW poppy_shop.customer AS ' +
	    columns({ password_hash: 'md5(password)' }));
	t.eq(of(check({ conf: byShop('/login.php') }), 'customers'), ['ok'],
	    'no complaint');
	await w.sql('CREATE OR REPLACE VIEW poppy_shop.customer AS ' + old);
});

test('what the bridge\'s role may do', [], async (t) => {
	await w.sql('GRANT SELECT ON poppy_shop.customer TO poppy_bridge');
	finds(t, check(), 'roles', /poppy_bridge has rights to customer/);
	await w.sql('REVOKE SELECT ON poppy_shop.customer FROM poppy_bridge');
});

test('the shop\'s login page: missing, open to agents', [], async (t) => {
	finds(t, check({ conf: byShop('/none.php') }), 'pages',
	    /none\.php: status 404: correct login\.shop_url/);
	finds(t, check({ conf: byShop('/about.php') }), 'pages',
	    /about\.php: status 200 to an agent's.*refuseAgents/);
	finds(t, check({ conf: byShop('', 'https://localhost:1/l') }),
	    'pages', /localhost:1\/l: no answer/);
	finds(t, check({ conf: byShop('', 'https://shop.example/login') }),
	    'pages', /shop\.example and the issuer's localhost are two sites/);
	const r = check({ conf: byShop('/login.php') });
	t.ok(r.points.some((p) => p.area === 'pages' && p.result === 'ok' &&
	    /login\.php: the shop's login page, closed/.test(p.text)),
	'closed', r.points);
	// poppy-auth runs with login by password.
	finds(t, r, 'pages', /poppy\/login: status 200 instead of 303 to login/);
	finds(t, r, 'bridge', /PHP on this host .*gives no tickets/, 'warning');
});

test('with login by shop the policy is looked at, too', [], async (t) => {
	w.restart((c) => {
		signInOn(c);
		c.login = { by: 'shop', shop_url: `${c.issuer}/login.php` };
	});
	t.eq(of(check(), 'pages'), ['ok', 'ok'], 'all is well', check().bad);
	const s = await other('policy', 'add');
	const r = check({ conf: s.conf });

	s.stop();
	w.restart(signInOn);
	finds(t, r, 'pages', /authorize: comes with .* beside/, 'warning');
}, { timeout: 90000 });

for (const path of ['/poppy/login', '/poppy/agents', '/poppy/device',
	'/poppy/style.css', '/poppy/sign-in'])
	test(`a web server that doesn't know ${path}`, [], async (t) => {
		const s = await other('path', path);
		const r = check({ conf: s.conf });

		s.stop();
		finds(t, r, 'pages', new RegExp(`${path}: status 404`));
	});

test('a web server with a policy of its own', [], async (t) => {
	// Apache's "set" leaves ours beside it.
	for (const [how, pattern] of [['add', /a Content-Security-Policy beside/],
		['set', /(another|a) Content-Security-Policy (than|beside)/]]) {
		const s = await other('policy', how);
		const r = check({ conf: s.conf });

		s.stop();
		finds(t, r, 'pages', pattern, 'warning');
	}
});

test('a web server that takes cookies away', [], async (t) => {
	const s = await other('header', 'Cookie');
	const r = check({ conf: s.conf });

	s.stop();
	finds(t, r, 'pages', /to an agent's browser instead of 403.*Cookie/);
});

test('Mediated Sign-In without one-time codes', [], (t) => {
	const with_ = (more) => check({ conf: bent((c) =>
	    Object.assign(c, more)) });

	finds(t, with_({ codes: {} }), 'settings', /no way to send one-time codes/,
	    'warning');
	finds(t, with_({ mediated: { code: 'never' } }), 'settings',
	    /code is never/, 'warning');
	t.ok(!check().bad.some((p) => /code/.test(p.text)), 'with a way');
});

test('bridge.ini', [], (t) => {
	const ini = (pages, mode = 0o400, how = (c) => {
		delete c.browser;
		delete c.site;
	}) => {
		const conf = bent(how);
		const file = conf.replace('poppy.conf', 'bridge.ini');

		writeFileSync(file, `dsn = "pgsql:dbname=x"\n${pages}\n`);
		chmodSync(file, mode);
		return check({ conf });
	};
	const pages = `pages = "${w.base}/poppy"`;

	t.eq(of(ini(pages), 'bridge'), ['ok'], 'as it should be');
	t.eq(of(ini(pages.replaceAll('"', ''), 0o640), 'bridge'), ['ok'],
	    'without quotes, for a group');
	finds(t, ini(pages, 0o444), 'bridge', /everybody may read it: chmod/);
	for (const other of ['', 'pages = "https://else.example/poppy"',
		`${pages.slice(0, -1)}/"`, `; ${pages}`])
		finds(t, ini(other), 'bridge', /pages must be "https:.*\/poppy"/);
	const browsers = (more) => ini(`${pages}\n${more}`, 0o400, (c) => {
		c.browser = { enabled: true };
		c.site = { rules: [{ path: '/' }] };
	});
	const key = `session_key = "${'k'.repeat(32)}"`;

	t.eq(of(browsers(`${key}\nadapter = "/x.php"`), 'bridge'), ['ok', 'ok'],
	    'ready for agents\' browsers');
	for (const more of ['', key.replace('kk', 'k'), `${key}\nsession_key = "k"`])
		finds(t, browsers(more), 'bridge', /session_key is missing or/);
	finds(t, browsers(key), 'bridge', /no adapter/, 'warning');
});

test('programs that run with other settings', [], (t) => {
	const conf = bent(() => {});

	w.restart();
	finds(t, check({ conf }), 'documents',
	    /authorization_endpoint is "" and must/);
}, { timeout: 90000 });

await run({
	before: async () => {
		w = await World.up({ bend: signInOn });
		dir = mkdtempSync('/tmp/check-');
		chmodSync(dir, 0o755);
		({ check, bent, finds, other } = checker(w, dir));
	},
	after: () => {
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
