// poppyctl check, what agents' browsers add to it: the endpoint, what is closed
// to them, and the cookie's reach.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { checker } from './lib/checker.mjs';
import { run, test } from './lib/tap.mjs';
import { World } from './lib/world.mjs';

let w, dir, check, bent, finds, other;

const of = (r) => r.points.filter((p) => p.area === 'browser')
    .map((p) => p.result);
// One host for each domain, so that a cookie has nowhere else to go.
const lone = (c) => {
	c.hosts = c.hosts.filter((h) => !h.host.startsWith('www.'));
};

test('a stack that is well', [], (t) => {
	t.eq(of(check({ conf: bent(lone) })), Array(4).fill('ok'),
	    'endpoint and closed page of each domain');
	const r = check();

	t.eq(r.json.faults, 0, 'faults', r.bad);
	finds(t, r, 'browser', /www\.localhost are of one domain/, 'warning');
});

test('a cookie for all hosts of a domain spreads', [], (t) => {
	// Settings alone: what the programs run with is another cookie.
	const r = check({ conf: bent((c) => {
		c.hosts = c.hosts.filter((h) => h.host.endsWith('shop2.localhost'));
		c.issuer = c.hosts[0].base;
		c.hosts.push({ host: 'www.shop2.localhost', base: w.url('',
		    'www.shop2.localhost'), domain: 'shop2.localhost' });
		c.browser = { enabled: true, cookie: '__Secure-poppy',
			domain: 'shop2.localhost' };
		c.apis = c.guard = [];
	}) });

	t.ok(!r.bad.some((p) => /are of one domain/.test(p.text)),
	    'no warning', r.bad);
	finds(t, r, 'browser', /have the cookie's name __Secure-poppy/);
});

test('switched off here, and not there', [], (t) => {
	const r = check({ conf: bent((c) => {
		delete c.browser;
		delete c.site;
	}) });

	t.eq(of(r), ['left out'], 'points');
	t.eq(r.points.filter((p) => /poppy_browser/.test(p.text)), [],
	    'the role is not looked at');
	finds(t, r, 'documents', /that poppy\.conf has not.*SIGHUP/);
});

test('an endpoint at another path than the web server knows', [], (t) => {
	const r = check({ conf: bent((c) => {
		c.mounts = { browser: '/poppy/join' };
	}) });

	finds(t, r, 'browser', /instead of 405 from poppy-browser/);
	finds(t, r, 'documents', /browser_session_endpoint is/);
});

test('a web server that doesn\'t lead there', [], async (t) => {
	const s = await other('path', '/poppy/browser-session');

	try {
		finds(t, check({ conf: s.conf }), 'browser',
		    /instead of 405 from poppy-browser/);
	} finally {
		await s.stop();
	}
});

test('a cookie that the web server does not know', [], (t) => {
	finds(t, check({ conf: bent((c) => {
		c.browser.cookie = '__Host-other';
	}) }), 'browser', /have the cookie's name __Host-other/);
});

test('nothing closed', [], (t) => {
	finds(t, check({ conf: bent((c) => { delete c.site.closed; }) }),
	    'browser', /site\.closed names no path/, 'warning');
});

test('a role that may not connect', [], async (t) => {
	await w.sql('ALTER ROLE poppy_browser NOLOGIN');
	try {
		finds(t, check(), 'database', /poppy_browser: /);
	} finally {
		await w.sql('ALTER ROLE poppy_browser LOGIN');
	}
});

await run({
	before: async () => {
		w = await World.up();
		dir = mkdtempSync('/tmp/check-');
		chmodSync(dir, 0o755);
		({ check, bent, finds, other } = checker(w, dir));
	},
	after: () => {
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
