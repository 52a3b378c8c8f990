// The shop behind the guard keeps what is its own: what it denies stays denied
// to guests, Sessions and accounts alike; its rewrites, index files and error
// pages work, and PHP learns who asks through them. Its own stack.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { proves, run, test } from './lib/tap.mjs';
import { Agent } from './lib/agent.mjs';
import { gate } from './lib/fcgi.mjs';
import { send } from './lib/http.mjs';
import { SERVER } from './lib/settings.mjs';
import { twin } from './lib/twin.mjs';
import { World } from './lib/world.mjs';

const INSIDE = 'what-is-inside';
const ENV = '<?php header("Content-Type: application/json"); ' +
    `echo json_encode($_SERVER + ["inside" => "${INSIDE}"]);\n`;
let w, agent, s, account;

// The rules let all of it through: what is shut is shut by the shop.
const RULES = [
	{ path: '/api/.git/', open: true }, { path: '/api/.htaccess', open: true },
	{ path: '/api/denied.php', open: true }, { path: '/api/denied/' },
	{ path: '/api/staff/', open: true }, { path: '/api/staff-token/' },
	{ path: '/api/env.php' }, { path: '/api/open.php', open: true },
	{ path: '/api/pretty' }, { path: '/api/index/' },
	{ path: '/api/front/' }, { path: '/api/out/' },
	{ path: '/api/errors/', open: true },
	{ path: '/api/route.php', query: 'route=open/*', open: true },
	{ path: '/api/route.php', query: 'route=account/*',
		scopes: ['poppy:read'] },
	{ path: '/api/route.php', query: 'route=stock/list' },
];

function put(path, text)
{
	const file = `${w.dir}/shop/public/${path}`;

	mkdirSync(file.replace(/\/[^/]*$/, ''), { recursive: true });
	writeFileSync(file, text, { mode: 0o644 });
}

function files()
{
	for (const f of ['api/.git/config', '.git/config'])
		put(f, INSIDE);
	for (const f of ['api/denied.php', 'api/denied/x.php',
		'api/staff/x.php', 'api/staff-token/x.php', 'api/env.php',
		'api/open.php', 'api/index/index.php', 'api/route.php',
		'who.php'])
		put(f, ENV);
}

// As shops do it: in .htaccess files.
function apacheShop()
{
	const basic = 'AuthType Basic\nAuthName "staff"\n' +
	    `AuthUserFile "${w.dir}/conf/staff"\nRequire valid-user\n`;

	writeFileSync(`${w.dir}/conf/staff`, `ann:{SHA}${createHash('sha1')
	    .update('secret').digest('base64')}\n`, { mode: 0o644 });
	put('.htaccess', 'RewriteEngine On\nRewriteRule "(^|/)\\.git" - [F]\n');
	put('api/.htaccess', `# ${INSIDE}\nRewriteEngine On\n` +
	    'RewriteRule "(^|/)\\.git" - [F]\n' +
	    'RewriteRule "^pretty$" "env.php" [L]\n' +
	    '<Files "denied.php">\nRequire all denied\n</Files>\n');
	put('api/denied/.htaccess', 'Require all denied\n');
	put('api/staff/.htaccess', basic);
	put('api/staff-token/.htaccess', basic);
	put('api/front/.htaccess', 'FallbackResource "/api/env.php"\n');
	put('api/out/.htaccess', 'FallbackResource "/who.php"\n');
	put('api/errors/.htaccess', 'ErrorDocument 404 /who.php\n' +
	    'ErrorDocument 401 /who.php\n');
}

// And in lighttpd.conf.
async function lighttpdShop()
{
	const conf = `${w.dir}/conf/lighttpd.conf`;
	const text = readFileSync(conf, 'utf8');
	const need = '( "method" => "basic", "realm" => "staff", ' +
	    '"require" => "valid-user" )';

	put('api/.htaccess', INSIDE);
	writeFileSync(`${w.dir}/conf/staff`, 'ann:secret\n', { mode: 0o644 });
	writeFileSync(conf, text
	    .replace('"mod_access",', '"mod_access", "mod_auth", ' +
		'"mod_authn_file",')
	    .replace('url.rewrite-once = (', 'url.rewrite-once = (\n' +
		'"^/api/pretty$" => "/api/env.php",\n' +
		'"^/api/front/" => "/api/env.php",\n') +
	    '$HTTP["url"] =~ "/\\.(git|ht)|^/api/denied" ' +
	    '{ url.access-deny = ( "" ) }\n' +
	    'auth.backend = "plain"\n' +
	    `auth.backend.plain.userfile = "${w.dir}/conf/staff"\n` +
	    `auth.require = ( "/api/staff/" => ${need}, ` +
	    `"/api/staff-token/" => ${need} )\n`);
	await w.relight(readFileSync(`${w.dir}/conf/sockets.conf`, 'utf8'));
}

const guest = (path, headers = []) => send(w.url(path), { ca: w.ca, headers });
const BASIC = ['Authorization', `Basic ${btoa('ann:secret')}`];

function shut(t, res, what)
{
	t.ok([401, 403, 404].includes(res.status), `${what}: status`,
	    res.status);
	t.ok(!res.text.includes(INSIDE), `${what}: nothing of it`);
}

const DENIED = ['/api/.git/config', '/api/.htaccess', '/api/denied.php',
	'/api/denied/x.php', '/.git/config', '/.htaccess'];

for (const [who, call] of [
	['a guest', (p) => guest(p)],
	['a Session', (p) => agent.call(s, 'GET', w.url(p))],
	['an account', (p) => agent.call(account, 'GET', w.url(p))]])
	test(`what the shop denies stays denied to ${who}`, proves('R-6-4'),
	    async (t) => {
		for (const p of DENIED)
			shut(t, await call(p), p);
	});

test('the shop\'s Basic password is asked of everybody', proves('R-6-4'),
    async (t) => {
	for (const p of ['/api/staff/x.php', '/api/staff-token/x.php']) {
		shut(t, await guest(p), `a guest, ${p}`);
		shut(t, await agent.call(s, 'GET', w.url(p)), `a Session, ${p}`);
		shut(t, await agent.call(account, 'GET', w.url(p)),
		    `an account, ${p}`);
		shut(t, await guest(p, [['Authorization',
			`Basic ${btoa('ann:wrong')}`]]), `a wrong one, ${p}`);
		shut(t, await guest(p, [['Authorization',
			`Basic ${btoa('poppy-guard:')}`]]), `our name, ${p}`);
	}
	const res = await guest('/api/staff/x.php', [BASIC]);
	t.eq(res.status, 200, 'with it, by an open rule');
	// There is one Authorization header, and the guard wants it.
	shut(t, await guest('/api/staff-token/x.php', [BASIC]),
	    'with it, by a rule that wants a token');
});

// POPPY_BRIDGE is of PHP's own pool.
const poppy = (env) => Object.fromEntries(Object.entries(env)
    .filter(([k]) => k.startsWith('POPPY_') && k !== 'POPPY_BRIDGE'));

// Nothing of ours under another name, and the secret of the gate nowhere.
function clean(t, res, what)
{
	t.ok(!Object.keys(res.json).some((k) => /^REDIRECT_.*POPPY_/.test(k)),
	    `${what}: no renamed variables`);
	t.ok(gate.secret === null || !res.text.includes(gate.secret),
	    `${what}: no gate secret`);
}

test('without a rule that asks for a token there is no POPPY_ variable',
    proves('R-6-13'), async (t) => {
	for (const p of ['/api/open.php', '/who.php']) {
		const res = await agent.call(s, 'GET', w.url(p));

		t.must(res.json, p, res.text);
		t.eq(poppy(res.json), {}, p);
		clean(t, res, p);
	}
});

test('the name that the guard gives counts nowhere', proves('R-6-13'),
    async (t) => {
	const res = await agent.call(s, 'GET', w.url('/api/env.php'));

	t.must(res.json, 'JSON', res.text);
	t.eq(res.json.REMOTE_USER, undefined, 'REMOTE_USER');
	clean(t, res, 'env.php');
});

// lighttpd rewrites before it looks for the prefix: what it leads out of one is
// not guarded there (BUGS of poppy-guard(8)).
const OUT = SERVER === 'apache' ?
    [['a front controller outside of it', '/api/out/a']] : [];

for (const [why, path] of [['a rewrite inside the prefix', '/api/pretty'],
	['an index file', '/api/index/'],
	['a front controller inside the prefix', '/api/front/a/b'], ...OUT])
	test(`${why}: asked once or twice, one request`,
	    proves('R-4.3-8', 'R-6-13'), async (t) => {
		const plain = poppy((await agent.call(s, 'GET',
		    w.url('/api/env.php'))).json);
		const url = w.url(path);
		const proof = s.user.proof('GET', url, { token: s.token });
		const res = await agent.call(s, 'GET', url, { proof });

		t.eq(res.status, 200, 'status');
		t.must(res.json, 'JSON', res.text);
		t.eq(poppy(res.json), plain, 'PHP learns the same');
		clean(t, res, why);
		t.challenged(await agent.call(s, 'GET', url, { proof }), 401,
		    'invalid_dpop_proof', 'the proof again');
		t.challenged(await guest(path), 401, 'invalid_token',
		    'without a token');
	});

if (SERVER === 'apache')
	test('an error page of the shop keeps the guard\'s refusals as they are',
	    proves('R-6-9'), async (t) => {
		const res = await guest('/api/errors/none.txt');

		t.eq(res.status, 404, 'a file that is not there');
		t.eq(res.json?.inside, INSIDE, 'the shop\'s own page');
		t.eq(poppy(res.json ?? {}), {}, 'no variables');
		clean(t, res, 'error page');
		t.refused(await guest('/api/none'), 404, 'not_found', 'ours');
	});

test('a shop that routes by the query is guarded by it', proves('R-6-11'),
    async (t) => {
	const at = (q) => w.url(`/api/route.php${q}`);

	t.eq((await guest('/api/route.php?route=open/a')).status, 200, 'open');
	t.eq((await agent.call(s, 'GET', at('?route=stock/list&x=1'))).status,
	    200, 'by a token');
	t.challenged(await guest('/api/route.php?route=stock/list'), 401,
	    'invalid_token', 'without one');
	t.challenged(await agent.call(s, 'GET', at('?route=account/a')), 403,
	    'sign_in_required', 'signed out');
	t.eq((await agent.call(account, 'GET', at('?route=account/a'))).status,
	    200, 'signed in');
	for (const q of ['', '?', '?route', '?route=', '?route=account',
		'?route=stock/list2', '?Route=open/a'])
		t.refused(await guest(`/api/route.php${q}`), 404, 'not_found', q);
	// PHP takes the last one, and these names for the same.
	for (const q of ['route=open/a&route=account/a',
		'route=open/a&rout%65=account/a', 'route=open/a&route[]=a',
		'route=open/a&+route=account/a', 'rout%65=open/a',
		'route=open/a&route%5B%5D=a', 'route=open/..%2faccount/a',
		'route=open/../account/a', 'route=open//account/a'])
		t.refused(await guest(`/api/route.php?${q}`), 400,
		    'invalid_request', q);
});

// Spellings of guarded paths, with a token that would open the plain one.
const WALKS = ['/%61pi/env.php', '/api/%65nv.php', '/api/env.php/foo',
	'/api/env.php;x', '/api/env.php;x=/foo', '/API/env.php',
	'/api/ENV.php', '/api%2Fenv.php', '/api/env%2Ephp', '//api/env.php',
	'/api//env.php', '/./api/env.php', '/api/./env.php',
	'/x/../api/env.php', '/api/x/../env.php', '/api/%2e/env.php',
	'/api/..%2Fapi/env.php', '/api/..;/api/env.php', '/api/env.php%00',
	'/api/env.php%00.css', '/api\\env.php', '/api/env.php%20',
	'/api/env.php.', '/api/index', '/api/index//',
	'/api/front/%2e%2e/env.php', '/api/front/..%2fenv.php',
	'/api/index/%2e%2e/denied.php'];

for (const [who, headers] of [['without a token', () => []],
	['with a token', (p) => [['Authorization', `DPoP ${s.token}`],
		['DPoP', s.user.proof('GET', w.base + p,
		    { token: s.token })]]]])
	test(`walks around the guard, ${who}`, proves('R-4.3-1', 'R-4.3-6'),
	    async (t) => {
		for (const p of WALKS) {
			const res = await send(w.url('/'), { ca: w.ca, target: p,
				headers: headers(p), fresh: true });

			t.ok(!res.text.includes(INSIDE), p, res.text);
			t.ok(res.status >= 300 && res.status < 500,
			    `${p}: status`, res.status);
		}
	}, { timeout: 60000 });

if (SERVER === 'apache')
	test('Authorization that a rewrite kept, under its own name and under ' +
	    'that of a redirect', proves('R-4.3-1'), async (t) => {
		const { port, stop } = await twin(w, 'rewrite');
		const call = (path, opts) => agent.call(s, 'GET',
		    `https://localhost:${port}${path}`,
		    { htu: w.url(path), ...opts });
		const plain = await call('/api/env.php');
		const pretty = await call('/api/pretty');

		t.eq(plain.status, 200, 'its own name');
		t.match(plain.json?.HTTP_AUTHORIZATION, /^DPoP /, 'that is it');
		t.eq(pretty.status, 200, 'after a redirect');
		t.eq([pretty.json?.HTTP_AUTHORIZATION, pretty.json?.POPPY_VIA],
		    [undefined, 'proof'], 'PHP has no other');
		t.match(pretty.json?.REDIRECT_HTTP_AUTHORIZATION, /^DPoP /,
		    'that is the other one');
		for (const p of ['/api/env.php', '/api/pretty']) {
			t.challenged(await call(p, { authorization: null }), 401,
			    'invalid_token', `none, ${p}`);
			t.challenged(await call(p, { authorization: null,
				headers: [['Redirect-Http-Authorization',
					`DPoP ${s.token}`],
				['REDIRECT_HTTP_AUTHORIZATION',
					`DPoP ${s.token}`]] }), 401,
			'invalid_token', `a header of that name, ${p}`);
		}
		stop();
	});

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			c.guard[0].rules.unshift(...RULES.map((r) =>
			    ({ methods: ['GET'], ...r })));
		} });
		files();
		await (SERVER === 'apache' ? apacheShop() : lighttpdShop());
		agent = new Agent(w);
		s = await agent.session();
		account = await agent.session();
		await w.signIn(account, ['poppy:read']);
	},
	after: () => w?.close(),
});
