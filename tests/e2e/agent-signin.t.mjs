// poppy-agent signs its User in, by each type, against a whole stack.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync,
	writeFileSync } from 'node:fs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Customer } from './lib/customer.mjs';
import { send } from './lib/http.mjs';
import { signinSettings } from './lib/signin.mjs';
import { freePort, World } from './lib/world.mjs';

const AGENT = `${process.env.POPPY_TEST_BUILD}/tools/poppy-agent/poppy-agent`;
let w, dir, server, account, place, origin;

const args = (rest) => ['--state', `${dir}/state`, '--ca', `${dir}/ca`,
	...rest];

function agent(...rest)
{
	const r = spawnSync(AGENT, args(rest), { encoding: 'utf8',
		timeout: 60000, input: '',
		env: { ...process.env,
			POPPY_AGENT_PASSWORD: account.password } });

	return { status: r.status, out: r.stdout, err: r.stderr,
		all: r.stdout + r.stderr };
}

// A command that waits for its person: { text(), line(s), ended }.
function begin(...rest)
{
	const child = spawn(AGENT, args(rest));
	let text = '';

	child.stdout.on('data', (d) => { text += d; });
	child.stderr.on('data', (d) => { text += d; });
	return { text: () => text, line: (s) => child.stdin.write(`${s}\n`),
		close: () => child.stdin.end(),
		ended: new Promise((ok) => child.on('close', ok)) };
}

async function printed(p, pattern)
{
	await until(() => pattern.test(p.text()), 15000);
	return pattern.exec(p.text());
}

const state = () => JSON.parse(readFileSync(`${dir}/state`, 'utf8'));
const call = () => agent('call', 'GET',
    `${w.base}/api/reserved.php?sku=${w.sku}`);
const secrets = () => state().users.flatMap((u) => [
	...u.accounts.map((a) => a.token), ...u.sessions.map((s) => s.token)]);

// Codes go to a file, which the programs' own user may write.
function bend(c)
{
	const at = c.secrets.replace(/\/secrets$/, '');

	signinSettings(c);
	writeFileSync(`${at}/send-code`, `#!/bin/sh\ncat >${at}/sent\n`,
	    { mode: 0o755 });
	writeFileSync(`${at}/sent`, '', { mode: 0o666 });
	chmodSync(`${at}/sent`, 0o666);
	c.sign_in.mediated = ['poppy:read'];
	c.mediated = { code: 'always', fields: [
		{ name: 'email', label: 'E-mail', secret: false },
		{ name: 'password', label: 'Password', secret: true }] };
	c.codes = { command: [`${at}/send-code`] };
}

async function publish()
{
	const { cert, key } = w.cert('localhost'), port = await freePort();

	origin = `https://localhost:${port}`;
	writeFileSync(`${dir}/ca`, w.ca);
	writeFileSync(`${dir}/cert`, cert);
	writeFileSync(`${dir}/key`, key);
	server = spawn(AGENT, ['--state', `${dir}/state`, 'serve', '--listen',
	    `127.0.0.1:${port}`, '--client-id', `${origin}/agent.json`,
	    '--cert', `${dir}/cert`, '--key', `${dir}/key`],
	{ stdio: 'ignore' });
	await until(() => send(`${origin}/agent.json`, { ca: w.ca }).then(
	    (r) => r.status === 200, () => false), 10000);
}

const person = () => new Customer(w, account);

async function approve(url, opts)
{
	const p = person();
	const res = await p.decide(await p.consent(url), opts);

	return res.header('location');
}

test('direct: the browser comes back to serve',
    proves('R-4.5-1', 'R-4.5-7', 'R-4.5-8', 'R-4.5-15', 'R-4.4-10'),
    async (t) => {
	const p = begin('signin', 'direct', place, '--scope',
	    'poppy:read poppy:write');
	const [url] = await printed(p, /https:\/\/\S+authorize\?\S+/);
	const back = await approve(url, { scopes: ['poppy:read'] });

	t.ok(back.startsWith(`${origin}/oauth/callback?`), 'where to', back);
	const landed = await send(back, { ca: w.ca });
	t.eq(landed.status, 200, 'taken in');
	t.match(landed.header('cache-control'), /no-store/, 'not kept');
	t.eq(await p.ended, 0, 'exit status', p.text());
	t.match(p.text(), /signed in\s+yes/, 'told');
	t.eq(state().users[0].accounts.map((a) => a.scope), ['poppy:read'],
	    'what was approved, kept');
	t.eq(state().pending, [], 'nothing waits any more');
	const called = call();
	t.eq(called.status, 0, `a call that needs the account: ${called.all}`);
	t.eq((await send(back, { ca: w.ca })).status, 400, 'not twice');
});

test('direct: what no sign-in waits for changes nothing', [], async (t) => {
	const before = readFileSync(`${dir}/state`, 'utf8');

	for (const q of ['code=x&state=y', 'state=', 'state=%zz', 'code=x',
		'state=a&state=a'])
		t.eq((await send(`${origin}/oauth/callback?${q}`,
		    { ca: w.ca })).status, 400, q);
	t.eq(readFileSync(`${dir}/state`, 'utf8'), before, 'the state file');
});

test('direct: another iss is not believed', proves('R-4.5-8'),
    async (t) => {
	const p = begin('signin', 'direct', place, '--scope', 'poppy:read');
	const [url] = await printed(p, /https:\/\/\S+authorize\?\S+/);
	const back = new URL(await approve(url));

	back.searchParams.set('iss', 'https://evil.example');
	p.line(back.href);
	t.eq(await p.ended, 1, 'exit status');
	t.match(p.text(), /R-4\.5-8/, 'why');
});

test('direct: declined, pasted by hand', proves('R-4.5-9'), async (t) => {
	const p = begin('signin', 'direct', place, '--scope', 'poppy:read');
	const [url] = await printed(p, /https:\/\/\S+authorize\?\S+/);

	p.line('');
	p.line(await approve(url, { decline: true }));
	t.eq(await p.ended, 1, 'exit status');
	t.match(p.text(), /access_denied/, 'told');
	t.eq(state().users[0].accounts.length, 1, 'the old one is still there');
});

test('device: a link, a code, a QR code; the old token is revoked',
    proves('R-4.6-1', 'R-4.6-8', 'R-4.4-14'), async (t) => {
	const [old] = state().users[0].accounts;
	const p = begin('signin', 'device', place, '--scope',
	    'poppy:read poppy:write');
	const [, code] = await printed(p, /enter ([A-Z]{4}-[A-Z]{4})/);
	const who = person();

	t.match(p.text(), /█/, 'a QR code');
	await who.decide(await who.device(code));
	t.eq(await p.ended, 0, 'exit status', p.text());
	const now = state().users[0].accounts;
	t.eq(now.length, 1, 'one Account Token');
	t.ok(now[0].token !== old.token, 'another');
	t.eq(call().status, 0, 'a call');
});

test('mediated: credentials, and a code if one is wanted',
    proves('R-4.7-4', 'R-4.7-5', 'R-4.7-6', 'R-4.7-7'), async (t) => {
	const p = begin('signin', 'mediated', place, '--scope', 'poppy:read');

	p.line(account.email);
	p.line(account.password);
	await printed(p, /a code was sent: \S+/);
	const sent = await until(() => readFileSync(
	    `${w.dir}/sent`, 'utf8'), 5000);
	const [code] = /\b\d{6,8}\b/.exec(sent);
	p.line(code === '000000' ? '111111' : '000000');
	p.line(code);
	t.eq(await p.ended, 0, `exit status: ${p.text()}`);
	t.ok(!p.text().includes(account.password), 'the password is not shown');
	t.ok(!readFileSync(`${dir}/state`, 'utf8').includes(account.password),
	    'nor kept');
	t.eq(state().users[0].accounts.length, 1, 'one Account Token');
	const wrong = begin('signin', 'mediated', place, '--scope',
	    'poppy:read');
	wrong.line(account.email);
	wrong.line('not the password');
	t.eq(await wrong.ended, 1, 'wrong password');
	t.match(wrong.text(), /status failed/, 'told');
});

test('check: every point of sign-in', proves('A-27'), (t) => {
	const r = agent('check', place, '--login', account.email);

	t.eq(r.out.split('\n').filter((l) => l.startsWith('not')), [],
	    `failed: ${r.err}`);
	t.eq(r.status, 0, 'exit status');
	t.ok(!r.all.includes(account.password), 'the password is not shown');
	for (const row of ['R-4.5-3', 'R-4.5-8', 'R-4.5-12', 'R-4.6-5',
		'R-4.6-7', 'R-4.6-8', 'R-4.7-1', 'R-4.8-2', 'R-4.9-4',
		'R-4.9-8'])
		t.ok(r.out.includes(row), row);
}, { timeout: 120000 });

test('refresh: a new Session, and fewer scopes', proves('R-4.8-2', 'R-4.8-8'),
    (t) => {
	const before = state().users[0].sessions.length;
	const r = agent('refresh', place, '--scope', 'poppy:read');

	t.eq(r.status, 0, 'exit status', r.all);
	const { sessions } = state().users[0];
	t.eq(sessions.length, before + 1, 'one more Session');
	t.eq(sessions[0].scope, 'poppy:read', 'its scope');
	t.ok(sessions[0].signed_in, 'signed in');
	t.eq(call().status, 0, 'a call');
	t.eq(agent('refresh', place, '--scope', 'poppy:admin').status, 1,
	    'a scope that it has not');
});

test('an expired token of a signed-in Session is had anew, signed in',
    proves('R-4.8-1'), (t) => {
	const s = state();

	for (const u of s.users)
		for (const x of u.sessions)
			x.expires_at = 1;
	writeFileSync(`${dir}/state`, JSON.stringify(s));
	t.eq(call().status, 0, 'a call');
	t.ok(state().users[0].sessions[0].signed_in, 'still signed in');
});

test('signout: the access is gone, the Session goes on',
    proves('R-4.9-1', 'R-4.9-5', 'R-4.9-6'), async (t) => {
	const r = agent('signout', place);

	t.eq(r.status, 0, 'exit status', r.all);
	t.eq(state().users[0].accounts, [], 'no Account Token here');
	const kept = agent('status');
	t.match(kept.all, /signed out, token renewed at its next use/, 'status');
	t.ok(!/1970/.test(kept.all), 'no time that is none');
	const denied = call();
	t.eq(denied.status, 1, 'a call that needs the account');
	t.match(denied.all, /sign_in_required/, 'why');
	t.eq(agent('call', 'GET', w.stock).status, 0, 'one that does not');
	t.eq(agent('signout', place).status, 1, 'nothing more to end');
	t.eq(Number(await w.sql('SELECT count(*) FROM poppy.grants ' +
	    'WHERE revoked_at IS NULL')), 0, 'nor at the Company');
});

test('words that make no sense are refused', [], (t) => {
	t.eq(agent('signin', 'magic', place, '--scope', 'x').status, 1, 'type');
	t.eq(agent('signin', 'direct', place).status, 1, 'no scope');
	t.eq(agent('signin', 'direct').status, 2, 'no domain');
	t.eq(agent('refresh', place).status, 1, 'no Account Token');
});

test('no secret is shown, with --verbose either', [], async (t) => {
	const p = begin('--verbose', 'signin', 'device', place, '--scope',
	    'poppy:read');
	const [, code] = await printed(p, /enter ([A-Z]{4}-[A-Z]{4})/);
	const who = person();

	await who.decide(await who.device(code));
	t.eq(await p.ended, 0, 'exit status', p.text());
	const r = agent('--verbose', 'refresh', place);
	for (const s of secrets())
		t.ok(!(p.text() + r.all).includes(s), 'a token');
	t.ok(!/eyJ[\w-]{20}|p[ad][tc]_[\w-]{20}/.test(p.text() + r.all),
	    'no JWT, no code, no Account Token');
	await sleep(0);
});

await run({
	before: async () => {
		w = await World.up({ bend });
		place = `localhost:${w.port}`;
		[account] = w.customers();
		dir = mkdtempSync('/tmp/agent-signin-');
		await publish();
	},
	after: () => {
		server?.kill('SIGTERM');
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
