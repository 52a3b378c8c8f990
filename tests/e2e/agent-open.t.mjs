// poppy-agent open: a browser that the agent controls joins the Session, by a
// page on this computer or, with --headless, in Chromium without a window.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync }
	from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { Browser } from '../browser/lib/browser.mjs';
import { send } from './lib/http.mjs';
import { now } from './lib/jose.mjs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { freePort, World } from './lib/world.mjs';

let w, dir, server, clientId, site;
const AGENT = `${process.env.POPPY_TEST_BUILD}/tools/poppy-agent/poppy-agent`;
const args = () => ['--state', `${dir}/state`, '--ca', `${w.dir}/ca/ca.pem`];
const env = () => ({ ...process.env, TMPDIR: `${dir}/tmp` });

function agent(...more)
{
	const r = spawnSync(AGENT, [...args(), ...more], { encoding: 'utf8',
		timeout: 100000, env: env() });

	return { status: r.status, out: r.stdout, err: r.stderr };
}

async function publish()
{
	const { cert, key } = w.cert('localhost'), port = await freePort();

	clientId = `https://localhost:${port}/agent.json`;
	writeFileSync(`${dir}/cert`, cert);
	writeFileSync(`${dir}/key`, key);
	server = spawn(AGENT, ['--state', `${dir}/state`, 'serve', '--listen',
	    `127.0.0.1:${port}`, '--client-id', clientId, '--cert',
	    `${dir}/cert`, '--key', `${dir}/key`], { stdio: 'ignore' });
	await sleep(1000);
}

// What `open` prints while it waits: the local page's URL.
async function opening(url = `${w.base}/`)
{
	const p = spawn(AGENT, [...args(), 'open', site, url], { env: env() });
	const o = { p, out: '', err: '' };

	p.stdout.on('data', (d) => { o.out += d; });
	p.stderr.on('data', (d) => { o.err += d; });
	o.ended = new Promise((ok) => p.on('exit', ok));
	await until(() => o.out.includes('\n'), 15000);
	o.url = o.out.trim();
	return o;
}

function local(url, method = 'GET')
{
	return new Promise((ok, fail) => {
		const rq = http.request(url, { method, agent: false }, (res) => {
			let body = '';

			res.on('data', (d) => { body += d; });
			res.on('end', () => ok({ status: res.statusCode,
				headers: res.headers, body }));
		});

		rq.on('error', fail);
		rq.end();
	});
}

const leftovers = () => readdirSync(`${dir}/tmp`);
const browsers = () => spawnSync('pgrep', ['-f', `${dir}/tmp`],
    { encoding: 'utf8' }).stdout.trim();

test('the local page is served once and then is gone', proves('R-5-2',
    'R-5-3', 'R-5-13'), async (t) => {
	const o = await opening(`${w.base}/?a="b"`.replaceAll('"', '%22'));

	t.match(o.url, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}$/, 'its URL');
	t.match(o.err, /never in the User's own browser/, 'a warning');
	const other = await local(new URL('/x', o.url));
	t.eq(other.status, 404, 'another path');
	t.ok(!other.body.includes('eyJ'), 'has nothing to give');
	t.eq((await local(o.url, 'HEAD')).status, 405, 'HEAD takes nothing');
	t.eq((await local(o.url, 'POST')).status, 405, 'nor does POST');
	const page = await local(o.url);
	t.eq(page.status, 200, 'the page');
	t.eq(page.headers['cache-control'], 'no-store', 'is kept nowhere');
	t.match(page.headers['content-security-policy'],
	    /default-src 'none'.*form-action https:\/\/localhost:\*/, 'policy');
	t.eq(await o.ended, 0, 'exit status');
	t.ok(await local(o.url).then(() => false, () => true), 'then it is gone');

	const nonce = /nonce-([\w-]+)/.exec(
	    page.headers['content-security-policy'])[1];
	t.ok(page.body.includes(`<script nonce="${nonce}">`), 'its script');
	t.ok(page.body.includes('<button'), 'and a button');
	const jwt = /name="assertion" value="([^"]+)"/.exec(page.body)[1];
	const part = (i) => JSON.parse(Buffer.from(jwt.split('.')[i],
	    'base64url'));
	t.eq(part(0).typ, 'poppy-browser+jwt', 'typ');
	const c = part(1);
	t.eq(Object.keys(c).sort(), ['aud', 'exp', 'iat', 'iss', 'jti',
		'return_to', 'session_id', 'sub'], 'claims');
	t.eq([c.iss, c.aud, c.return_to, c.exp - c.iat], [clientId,
		`${w.base}/poppy/browser-session`, `${w.base}/?a=%22b%22`, 60],
	    'what they say');
	t.ok(Math.abs(c.iat - now()) < 10, 'of this moment');

	const r = await send(c.aud, { ca: w.ca, method: 'POST', headers: [
		['Content-Type', 'application/x-www-form-urlencoded']],
	    body: `assertion=${jwt}` });
	t.eq(r.status, 303, 'the Company takes it', r.body);
	t.ok(!o.err.includes(jwt) && !o.out.includes(jwt), 'never printed');
});

test('silent connections do not keep a browser from the page', [],
    async (t) => {
	const o = await opening();
	const { port } = new URL(o.url);
	const idle = Array.from({ length: 20 }, () => net.connect(port,
	    '127.0.0.1').on('error', () => {}));

	await sleep(300);
	idle[19].write(`GET ${'/'.repeat(9000)} HTTP/1.1\r\n\r\n`);
	t.eq((await local(o.url)).status, 200, 'the page');
	t.eq(await o.ended, 0, 'exit status');
	idle.forEach((s) => s.destroy());
});

test('a real browser goes from the local page to the shop', proves('R-5-2',
    'R-5-13', 'R-5-21'), async (t) => {
	const b = await Browser.start(w);

	try {
		for (const javaScriptEnabled of [true, false]) {
			const p = await b.person({ javaScriptEnabled });
			const what = javaScriptEnabled ? 'by script' : 'by button';
			const o = await opening(`${w.base}/cart.php`);

			await p.page.goto(o.url, { waitUntil: 'commit' });
			if (!javaScriptEnabled)
				await p.page.click('button');
			await p.page.waitForURL(`${w.base}/cart.php`);
			t.eq(await o.ended, 0, `${what}: exit status`);
			const [c] = await p.context.cookies(w.base);
			t.eq([c?.httpOnly, c?.secure, c?.sameSite],
			    [true, true, 'Lax'], `${what}: the cookie`);
			await p.leave(t);
		}
	} finally {
		await b.stop();
	}
}, { timeout: 90000 });

test('what can not be asked for is told before anything is sent',
    proves('R-5-12'), (t) => {
	for (const [url, what] of [
		['http://localhost/', 'no HTTPS'],
		['https://evil.example/', 'another domain'],
		['https://localhost.evil.example/', 'look-alike'],
		['https://notlocalhost/', 'look-alike without a dot'],
		['https://user@localhost/', 'userinfo'],
		['https://localhost\\@evil.example/', 'backslash'],
		['https://localhost/#x', 'fragment'],
		['//localhost/', 'no scheme'],
		['javascript:alert(1)', 'a script'],
		['https://localhost/?access_token=x', 'a token in it'],
	])
		for (const more of [[], ['--headless']]) {
			const r = agent('open', site, url, ...more);

			t.eq(r.status, 1, `${what} ${more}`);
			t.eq(r.out, '', `${what} ${more}: nothing opened`);
		}
	t.eq(leftovers(), [], 'no folder made');
});

test('--text without --headless is refused', [], (t) => {
	t.eq(agent('open', site, `${w.base}/`, '--text').status, 1, 'status');
});

test('headless: joined, and where it landed', proves('R-5-2', 'R-5-13',
    'R-5-21'), (t) => {
	const r = agent('open', site, `${w.base}/`, '--headless', '--text');

	t.eq(r.status, 0, 'exit status', r.out + r.err);
	t.match(r.out + r.err, new RegExp(`URL.*${w.base}/`), 'URL');
	t.match(r.out, /status.* 200/, 'status');
	t.match(r.out, /title +\S/, 'title');
	t.match(r.out, /Poppy Agent \(localhost\) shops here for a guest/,
	    'the text, of a guest');
	if (process.getuid() === 0)
		t.match(r.out, /--no-sandbox/, 'says that it has no sandbox');
	t.eq(leftovers(), [], 'the profile is gone');
	t.eq(browsers(), '', 'and so is the browser');
	t.ok(!/eyJ[\w-]{20}/.test(r.out + r.err), 'no assertion is printed');
}, { timeout: 90000 });

test('headless: a page that is an error fails', proves('R-5-13'), (t) => {
	const r = agent('open', site, `${w.base}/no-such-page`, '--headless',
	    '--json');

	t.eq(r.status, 1, 'exit status', r.out + r.err);
	const step = r.out.trim().split('\n').map((l) => JSON.parse(l)).find(
	    (s) => s.step === 'open');
	t.eq(step.ok, false, 'the step');
	t.match(JSON.stringify(step), /has joined, but/, 'why');
}, { timeout: 90000 });

test('headless: an authority that nobody named is not trusted', [], (t) => {
	const r = spawnSync(AGENT, ['--state', `${dir}/state`, 'open', site,
	    `${w.base}/`, '--headless'], { encoding: 'utf8', env: {
		...env(), SSL_CERT_FILE: `${w.dir}/ca/ca.pem`,
		CURL_CA_BUNDLE: `${w.dir}/ca/ca.pem` } });

	t.eq(r.status, 1, 'exit status', r.stdout + r.stderr);
	t.match(r.stdout + r.stderr, /ERR_CERT|certificate/i, 'why');
	t.eq(browsers(), '', 'no browser stays');
}, { timeout: 90000 });

test('headless: no browser, or one that is none', [], (t) => {
	for (const [name, what] of [['/nonexistent/chromium', 'not there'],
		['/bin/true', 'ends at once'], ['/bin/cat', 'no DevTools']]) {
		const r = spawnSync(AGENT, [...args(), 'open', site,
		    `${w.base}/`, '--headless'], { encoding: 'utf8',
			env: { ...env(), CHROMIUM: name } });

		t.eq(r.status, 1, what, r.stderr);
		t.match(r.stdout + r.stderr, /Chromium/i, `${what}: says so`);
		t.eq(leftovers(), [], `${what}: nothing stays`);
	}
}, { timeout: 90000 });

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'])
	test(`headless: ${signal} leaves no browser behind`, [], async (t) => {
		const p = spawn(AGENT, [...args(), 'open', site, `${w.base}/`,
			'--headless'], { env: env(), stdio: 'ignore' });
		const ended = new Promise((ok) => p.on('exit',
		    (code, by) => ok(by ?? code)));

		await until(() => browsers().split('\n').length > 2, 20000);
		p.kill(signal);
		t.eq(await ended, signal === 'SIGKILL' ? signal : 1, 'ends');
		t.ok(await until(() => browsers() === '', 5000), 'no browser');
		if (signal !== 'SIGKILL')
			t.eq(leftovers(), [], 'nor its profile');
	}, { timeout: 60000 });

test('where joining is not announced, it says so', proves('R-5-1'),
    async (t) => {
	const other = await World.up({ bend: (c) => {
		delete c.browser;
		delete c.site;
		c.agents.extra_ca = `${w.dir}/ca/ca.pem`;
	} });

	try {
		const r = spawnSync(AGENT, ['--state', `${dir}/state`, '--ca',
		    `${other.dir}/ca/ca.pem`, 'open', `localhost:${other.port}`,
		    `${other.base}/`], { encoding: 'utf8' });

		t.eq(r.status, 1, 'exit status');
		t.match(r.stderr, /no web\.browser_session_endpoint/, 'why');
		t.match(r.stderr, /signed-out visitor/, 'and what to do');
	} finally {
		await other.close();
	}
}, { timeout: 120000 });

await run({
	before: async () => {
		w = await World.shared();
		site = `localhost:${w.port}`;
		dir = mkdtempSync('/tmp/agent-open-');
		mkdirSync(`${dir}/tmp`);
		await publish();
	},
	after: () => {
		server?.kill('SIGTERM');
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
