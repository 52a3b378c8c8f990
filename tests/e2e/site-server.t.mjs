// The guard before the shop's pages, as the web servers' includes have it: asked
// about whoever names the cookie of a joined browser, and about nobody else. A
// guard of the test's own stands in for the real one and notes what it is asked.
import { createHash } from 'node:crypto';
import http2 from 'node:http2';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { proves, run, test, until } from './lib/tap.mjs';
import { Authorizer } from './lib/authorizer.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { SERVER } from './lib/settings.mjs';
import { World } from './lib/world.mjs';

const APACHE = SERVER === 'apache';
const INSIDE = 'what-is-inside', NAME = '__Host-poppy', OTHER = '__Host-other';
const JOINED = ['Cookie', `${NAME}=pbs_x`];
const ENV = '<?php header("Content-Type: application/json"); ' +
    'echo json_encode($_SERVER + ["inside" => "' + INSIDE + '", ' +
    '"body" => file_get_contents("php://input")]);\n';
// The shop's error page; what it is told, too, but it is no page inside.
const LOST = '<?php http_response_code(404); ' + ENV.slice(6)
    .replace(INSIDE, 'nothing');
// Apache names a guard that is away 500.
const AWAY = APACHE ? 500 : 503;
let w, guard, at;

// What a guard says of a Session; every answer to Apache has the gate.
const WHO = {
	POPPY_VIA: 'cookie', POPPY_CLIENT_ID: 'https://agent.example/a.json',
	POPPY_USER: 'a'.repeat(64), POPPY_SESSION: `ses_AA${random(32)}`,
	POPPY_SIGNED_IN: '1', POPPY_ACCOUNT: '7', POPPY_SCOPE: 'poppy:read',
	POPPY_GRANT: '12', POPPY_AGENT: 'Ann%27s%20Agent',
};
const GATE = APACHE ? 'Variable-POPPY_GATE: open\r\n' : '';
const ALLOWS = `Status: 200\r\n${GATE}`;
const SIGNED_IN = ALLOWS + Object.entries(WHO)
    .map(([k, v]) => `Variable-${k}: ${v}\r\n`).join('') + '\r\n';
const page = (status, text, more = '') => `Status: ${status}\r\n` +
    'Content-Type: text/html; charset=utf-8\r\n' +
    "Content-Security-Policy: default-src 'none'\r\n" +
    `Cache-Control: no-store\r\n${more}\r\n${text}`;
const REFUSED = '<!doctype html><meta charset="utf-8">Für Agenten geschlossen';

function answer(env)
{
	const q = env.REQUEST_URI.split('?')[1];

	if (q === 'refuse')
		return page(403, REFUSED);
	if (q === 'away')
		return page(503, REFUSED, 'Retry-After: 3\r\n');
	return q === 'open' ? `${ALLOWS}\r\n` : SIGNED_IN;
}

function put(path, text)
{
	const file = `${w.dir}/shop/public/${path}`;

	mkdirSync(file.replace(/\/[^/]*$/, ''), { recursive: true });
	writeFileSync(file, text, { mode: 0o644 });
}

const basic = (name, word) => ['Authorization',
	`Basic ${btoa(`${name}:${word}`)}`];

// As shops do it: in .htaccess files.
function apacheShop()
{
	writeFileSync(`${w.dir}/conf/staff`, `ann:{SHA}${createHash('sha1')
	    .update('secret').digest('base64')}\n`, { mode: 0o644 });
	put('denied/.htaccess', 'Require all denied\n');
	put('staff/.htaccess', 'AuthType Basic\nAuthName "staff"\n' +
	    `AuthUserFile "${w.dir}/conf/staff"\nRequire valid-user\n`);
	put('front/.htaccess', 'FallbackResource "/env.php"\n');
	put('pretty/.htaccess', 'RewriteEngine On\n' +
	    'RewriteRule "^twice" "/pretty/once" [L]\n' +
	    'RewriteRule "^once" "/env.php" [L]\n');
	put('errors/.htaccess', [403, 404, 500, 503].map((n) =>
	    `ErrorDocument ${n} /lost.php\n`).join(''));
}

// And in lighttpd.conf.
async function lighttpdShop()
{
	const conf = `${w.dir}/conf/lighttpd.conf`;

	writeFileSync(`${w.dir}/conf/staff`, 'ann:secret\n', { mode: 0o644 });
	writeFileSync(conf, readFileSync(conf, 'utf8')
	    .replace('"mod_access",', '"mod_access", "mod_auth", ' +
		'"mod_authn_file",')
	    .replace('url.rewrite-once = (', 'url.rewrite-once = (\n' +
		'"^/(front|pretty)/" => "/env.php",\n')
	    .replace('"/missing.php"', '"/lost.php"') +
	    '$HTTP["url"] =~ "^/denied" { url.access-deny = ( "" ) }\n' +
	    'auth.backend = "plain"\n' +
	    `auth.backend.plain.userfile = "${w.dir}/conf/staff"\n` +
	    'auth.require = ( "/staff/" => ( "method" => "basic", ' +
	    '"realm" => "staff", "require" => "valid-user" ) )\n');
	await w.relight(readFileSync(`${w.dir}/conf/sockets.conf`, 'utf8'));
}

// The place of the real guard, which ends.
async function take()
{
	const { argv } = w.command(w.pids('guard')[0]);

	at = argv[argv.indexOf('-l') + 1];
	await w.program('guard', 'stop');
	guard = await Authorizer.listen(at, answer);
}

// A request that is to be asked about so often.
async function get(t, path, headers, times, opts = {})
{
	const { res, asked } = await guard.during(() => send(w.url('/'), {
		ca: w.ca, target: path, headers, ...opts }));
	const what = `${path} ${headers.map((h) => h.join(': ').slice(0, 60))}`;

	t.eq(asked.length, times, `${what}: asked`);
	t.ok(asked.every((e) => e.REQUEST_URI === path &&
	    e.REQUEST_METHOD === (opts.method ?? 'GET')), `${what}: asked that`);
	return res;
}

// POPPY_BRIDGE is of PHP's own pool.
const poppy = (res) => Object.fromEntries(Object.entries(res.json ?? {})
    .filter(([k]) => /^(REDIRECT_)*POPPY_/.test(k) && k !== 'POPPY_BRIDGE' &&
	// A header's name, on which nobody relies.
	!k.startsWith('HTTP_')));

// What PHP was told of a joined browser, and nothing else.
function told(t, res, what)
{
	t.eq(res.status, 200, `${what}: status`);
	t.eq(poppy(res), WHO, `${what}: PHP learns who`);
	t.ok([res.json?.REMOTE_USER, res.json?.REDIRECT_REMOTE_USER]
	    .every((u) => u === undefined), `${what}: no user's name`);
}

function shut(t, res, what, statuses = [401, 403, 404])
{
	t.ok(statuses.includes(res.status), `${what}: status`, res.status);
	t.ok(!res.text.includes(INSIDE), `${what}: nothing of it`);
}

const NAMED = [
	['alone', [JOINED]],
	['in small letters', [['cookie', `${NAME}=x`]]],
	['in capitals', [['COOKIE', `${NAME}=x`]]],
	['behind others', [['Cookie', `a=b; ${NAME}=x`]]],
	['before others', [['Cookie', `${NAME}=x; a=b`]]],
	['without a space', [['Cookie', `a=b;${NAME}=x`]]],
	['behind a tab', [['Cookie', `a=b;\t${NAME}=x`]]],
	['behind a comma', [['Cookie', `a=b,${NAME}=x`]]],
	['behind a comma and a space', [['Cookie', `a=b, ${NAME}=x`]]],
	['without a value', [['Cookie', NAME]]],
	['without a value, before others', [['Cookie', `${NAME}; a=b`]]],
	['with nothing for a value', [['Cookie', `${NAME}=`]]],
	['with a space before the sign', [['Cookie', `${NAME} =x`]]],
	['as an array, which PHP makes of it', [['Cookie', `${NAME}[a]=x`]]],
	['twice', [['Cookie', `${NAME}=x; ${NAME}=y`]]],
	['in the second of two fields', [['Cookie', 'a=b'], JOINED]],
	['in the first of two fields', [JOINED, ['Cookie', 'a=b']]],
	['in the last of many', [...Array(20).fill(['Cookie', 'a=b']), JOINED]],
	['behind an empty field', [['Cookie', ''], JOINED]],
	['behind much', [['Cookie', `${'=;'.repeat(1200)}${NAME}=x`]]],
];

test('who names the cookie is asked about once, and PHP learns the answer',
    proves('R-5-15', 'R-5-18'), async (t) => {
	for (const [how, headers] of NAMED)
		told(t, await get(t, '/env.php', headers, 1), how);
});

test('who doesn\'t is not asked about', proves('R-5-1'), async (t) => {
	for (const headers of [[], [['Cookie', '']], [['Cookie', 'a=b; c=d']],
		[['Cookie', 'PHPSESSID=1'], ['Cookie', 'b=2']],
		...['-login=x', 'x=y', '_=z', '2'].map((tail) =>
		    [['Cookie', `${NAME}${tail}`]]),
		[['Cookie', `x${NAME}=1`]], [['Cookie', `a=b; -${NAME}=1`]],
		[['Cookie', NAME.toLowerCase()]], [['X-Cookie', `${NAME}=x`]],
		[['Cookie2', `${NAME}=x`]]]) {
		const res = await get(t, '/env.php', headers, 0);

		t.eq(res.status, 200, 'status');
		t.eq(poppy(res), {}, 'PHP learns nothing');
		t.unlike(res.header('vary'), /cookie/i, 'caches may keep it');
	}
});

test('files, index pages and what is not there', proves('R-5-18'),
    async (t) => {
	const css = await get(t, '/style.css', [JOINED], 1);
	const there = readFileSync(`${w.dir}/shop/public/style.css`, 'utf8');

	t.eq([css.status, css.text], [200, there], 'a file');
	t.unlike(css.header('vary'), /cookie/i, 'as it was');
	shut(t, await get(t, '/style.css?refuse', [JOINED], 1), 'and shut', [403]);
	told(t, await get(t, '/dir/', [JOINED], 1), 'an index page');
	t.eq((await get(t, '/dir', [JOINED], 1)).status, 301, 'a folder');
	t.eq((await get(t, '/none', [JOINED], 1)).status, 404, 'missing');
	t.eq((await get(t, '/style.css', [], 0)).status, 200, 'a guest, a file');
	t.eq((await get(t, '/dir/', [], 0)).status, 200, 'a guest, a page');
	t.eq((await get(t, '/none', [], 0)).status, 404, 'a guest, missing');
	// An open rule says nothing.
	const open = await get(t, '/env.php?open', [JOINED], 1);
	t.eq([open.status, poppy(open)], [200, {}], 'an open rule');
	t.eq((await get(t, '/env.php', [JOINED], 1, { method: 'HEAD' }))
	    .status, 200, 'HEAD');
});

test('rewrites and error pages: asked once, PHP learns the same', [],
    async (t) => {
	told(t, await get(t, '/front/a/b', [JOINED], 1), 'a front controller');
	told(t, await get(t, '/front/a', [JOINED], 1, { method: 'POST',
		body: 'a=b' }), 'a POST to it');
	told(t, await get(t, '/pretty/once', [JOINED], 1), 'a rewrite');
	told(t, await get(t, '/pretty/twice', [JOINED], 1), 'two of them');
	for (const method of ['GET', 'POST']) {
		const res = await get(t, '/errors/none', [JOINED], 1,
		    { method, body: method === 'POST' ? 'a=b' : undefined });

		t.eq(res.status, 404, `an error page, ${method}: status`);
		t.eq(poppy(res), WHO, `an error page, ${method}: PHP learns`);
	}
	for (const p of ['/front/a', '/pretty/twice', '/errors/none'])
		t.eq(poppy(await get(t, p, [], 0)), {}, `a guest, ${p}`);
	for (const p of ['/front/a', '/pretty/once', '/errors/none']) {
		const res = await get(t, `${p}?refuse`, [JOINED], 1);

		t.eq([res.status, res.text], [403, REFUSED], `refused, ${p}`);
	}
});

test('what the guard refuses arrives as it said it', proves('R-5-18'),
    async (t) => {
	for (const [q, status] of [['refuse', 403], ['away', 503]])
		for (const path of ['/env.php', '/', '/errors/x', '/none']) {
			const res = await get(t, `${path}?${q}`, [JOINED], 1);

			t.eq([res.status, res.text], [status, REFUSED], path);
			// Without a charset its own meta element counts.
			t.match(res.header('content-type'),
			    /^text\/html(; ?charset=utf-8)?$/i, 'HTML');
			t.eq(res.all('content-security-policy'),
			    ["default-src 'none'"], 'its policy');
			t.match(res.header('cache-control'), /no-store/, 'kept');
			t.eq(res.header('retry-after'), status === 503 ? '3' :
			    undefined, 'when to come again');
		}
});

test('a form\'s body is PHP\'s, and the guard gets none', [], async (t) => {
	for (const n of [1, 20000, 300000]) {
		const body = 'a'.repeat(n);
		const res = await get(t, '/env.php', [JOINED, ['Content-Type',
			'text/plain']], 1, { method: 'POST', body });

		told(t, res, `${n} bytes`);
		t.eq(res.json?.body?.length, n, `${n} bytes: all of it`);
	}
});

test('APIs are asked about as before; our own pages never', [], async (t) => {
	for (const headers of [[], [JOINED]]) {
		await get(t, '/api/stock.php', headers, 1);
		for (const p of ['/.well-known/poppy.json', '/poppy/style.css',
			'/.well-known/oauth-authorization-server', '/poppy',
			'/poppy/env.php', '/poppy/device'])
			await get(t, p, headers, 0);
	}
	for (const p of ['/poppyx/', '/poppy.php', '/.well-knownx', '/Poppy/'])
		await get(t, p, [JOINED], 1);
	const ours = await get(t, '/poppy/env.php', [JOINED], 0);
	t.eq(poppy(ours), {}, 'a page of the shop\'s in our place: a guest');
});

// What is served must have been asked about, whatever the spelling.
const WALKS = ['/%65nv.php', '//env.php', '/./env.php', '/x/../env.php',
	'/poppy/../env.php', '/poppy/%2e%2e/env.php', '/poppy/..%2fenv.php',
	'/poppy%2f../env.php', '/poppy%2f..%2fenv.php', '/poppy/..;/env.php',
	'/poppy/.%2e/env.php', '/%70oppy/../env.php', '/.well-known/../env.php',
	'/.well-known/%2e%2e/env.php', '/poppy\\..\\env.php', '/poppy//../env.php',
	'/poppy/./../env.php', '/poppy/x/../../env.php', '/env.php/poppy/',
	'/env.php;/poppy/', '/env.php?/poppy/', '/env.php/.well-known/x',
	'/ENV.php', '/env.php%00', '/env.php/'];

test('no spelling of a page leads past the guard', proves('R-5-18'),
    async (t) => {
	for (const p of WALKS) {
		const { res, asked } = await guard.during(() => send(w.url('/'),
		    { ca: w.ca, target: p, headers: [JOINED], fresh: true }));

		t.ok(!res.text.includes(INSIDE) || asked.length > 0, p);
	}
});

test('what the shop denies stays denied', [], async (t) => {
	for (const [how, headers] of [['a guest', []], ['joined', [JOINED]]]) {
		const ask = async (path, more = []) => (await guard.during(() =>
		    send(w.url(path), { ca: w.ca,
			headers: [...headers, ...more] }))).res;

		shut(t, await ask('/denied/env.php'), `${how}: denied`);
		shut(t, await ask('/staff/env.php'), `${how}: no password`);
		for (const [n, word] of [['ann', 'wrong'], ['poppy-guard', ''],
			['poppy-guard', 'secret']])
			shut(t, await ask('/staff/env.php', [basic(n, word)]),
			    `${how}: ${n} with ${word}`);
		t.eq((await ask('/staff/env.php', [basic('ann', 'secret')]))
		    .json?.inside, INSIDE, `${how}: the right one`);
	}
});

test('headers of a client never become POPPY_ variables', proves('R-6-13'),
    async (t) => {
	const forged = Object.entries(WHO).flatMap(([k, v]) => [[k, `f-${v}`],
		[k.replaceAll('_', '-'), `f-${v}`], [`Variable-${k}`, `f-${v}`],
		[`REDIRECT_${k}`, `f-${v}`],
		[`Redirect-${k.replaceAll('_', '-')}`, `f-${v}`]]);
	const more = [...forged, ['POPPY_GATE', 'open'],
		['Redirect-Poppy-Gate', 'open'], ['REDIRECT_POPPY_GATE', 'open']];

	for (const p of ['/env.php', '/front/a', '/pretty/once', '/dir/']) {
		t.eq(poppy(await get(t, p, more, 0)), {}, `a guest, ${p}`);
		t.eq(poppy(await get(t, `${p}?open`, [JOINED, ...more], 1)), {},
		    `an open rule, ${p}`);
		told(t, await get(t, p, [JOINED, ...more], 1), `joined, ${p}`);
	}
});

// Two fields are what HTTP/2 makes of two cookies (RFC 9113, 8.2.3).
if (APACHE)
	test('under HTTP/2, with a field for each cookie', [], async (t) => {
		const session = http2.connect(w.base, { ca: w.ca });
		const { asked, res } = await guard.during(() => new Promise(
		    (ok, fail) => {
			const req = session.request({ ':path': '/env.php',
				cookie: ['a=b', `${NAME}=x`, 'c=d'] });
			let text = '';

			session.on('error', fail);
			req.on('error', fail);
			req.on('data', (d) => { text += d; });
			req.on('end', () => ok(JSON.parse(text)));
			req.end();
		}).finally(() => session.close()));

		t.eq(asked.length, 1, 'asked');
		t.eq(poppy({ json: res }), WHO, 'PHP learns who');
	});

test('without poppy-fcgi the shop is open to people, and shut to a cookie',
    proves('R-5-1', 'R-5-18'), async (t) => {
	await guard.close();
	for (const name of ['auth', 'browser'])
		if (w.pids(name).length > 0)
			await w.program(name, 'stop');
	for (const p of ['/', '/env.php', '/style.css', '/dir/', '/front/a',
		'/pretty/once', '/login.php', '/cart.php']) {
		t.eq((await send(w.url(p), { ca: w.ca })).status, 200, p);
		for (const [how, headers] of NAMED)
			shut(t, await send(w.url(p), { ca: w.ca, headers }),
			    `${p}, ${how}`, [AWAY]);
	}
	t.eq((await send(w.url('/errors/none'), { ca: w.ca })).status, 404,
	    'missing');
	shut(t, await send(w.url('/errors/none'), { ca: w.ca,
		headers: [JOINED] }), 'missing, with a cookie', [AWAY]);
}, { timeout: 60000 });

test('the cookie may have another name', [], async (t) => {
	// A lighttpd of this file's own is none that the stack ends.
	for (const c of w.children)
		c.kill('SIGTERM');
	await until(() => w.children.every((c) => c.exitCode !== null ||
	    c.signalCode !== null), 10000);
	w.restart((c) => { c.browser.cookie = OTHER; }, ['--cookie', OTHER]);
	put('env.php', ENV);
	await take();
	told(t, await get(t, '/env.php', [['Cookie', `a=b; ${OTHER}=x`]], 1),
	    'the new one');
	await get(t, '/env.php', [JOINED], 0);
	await guard.close();
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up();
		for (const f of ['env.php', 'dir/index.php', 'denied/env.php',
			'staff/env.php', 'poppy/env.php'])
			put(f, ENV);
		put('lost.php', LOST);
		await (APACHE ? apacheShop() : lighttpdShop());
		await take();
	},
	after: () => w?.close(),
});
