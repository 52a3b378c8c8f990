// How one-time codes reach a customer (section 4.7): by a mail server, by a
// command of the operator's, or not at all.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { proves, run, test, until } from './lib/tap.mjs';
import { READ, flows, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const SMTP = fileURLToPath(new URL('../unit/smtp.mjs', import.meta.url));
const WORD = 'correct battery';

let w, customer, server;

// A mail server of smtp.mjs: { port, mails, stop() }.
async function mailServer(mode)
{
	const child = spawn('node', [SMTP, mode, `${w.dir}/mail.key`,
		`${w.dir}/mail.pem`], { stdio: ['ignore', 'pipe', 'inherit'] });
	const mails = [];
	let port;

	createInterface({ input: child.stdout }).on('line', (l) => {
		if (port === undefined)
			port = Number(l);
		else
			mails.push(JSON.parse(l));
	});
	await until(() => port, 5000);
	return { port, mails, stop: () => child.kill() };
}

const base = (c) => {
	signinSettings(c);
	c.sign_in.mediated = [READ];
	c.mediated = { code: 'always', failures_per_client: 10000 };
};

const byMail = (c, more = {}) => {
	base(c);
	c.codes = { smtp: { url: `smtp://localhost:${server.port}`,
		from: 'codes@tidewell.example', user: 'shop',
		password_file: 'mail', ca_file: `${w.dir}/mail.pem` }, ...more };
};

// Ask for a code: { f, s, res }.
async function ask()
{
	const f = flows(w, customer)(), s = await f.agent.session(f.user);
	const res = await f.mediated(s, { scope: READ, credentials: {
		email: customer.email, password: customer.password } });

	return { f, s, res };
}

const told = (event) => w.logs('').filter((l) => l.event === event);

// What could not be sent is our fault, not the customer's.
const unavailable = (t, res, what) => {
	t.eq([res.status, res.json?.error], [503, 'temporarily_unavailable'],
	    what);
	t.match(res.header('retry-after') ?? '', /^[1-9]\d*$/,
	    `${what}: Retry-After`);
};

test('by a mail server, with STARTTLS and a password',
    proves('R-4.7-5', 'R-4.7-6', 'R-4.7-12'), async (t) => {
	const { f, s, res } = await ask();

	t.eq([res.status, res.json?.status], [200, 'code_required'], 'asked');
	t.match(res.json?.code?.sent_to, /^Email to .\*\*\*@.\*\*\*\.[a-z]+$/,
	    'sent_to');
	const mail = await until(() => server.mails[0], 5000);
	t.eq([mail.tls, mail.auth], [true, `|shop|${WORD}`], 'TLS, and who');
	t.match(mail.from, /^<codes@tidewell.example>/, 'from');
	t.eq(mail.to, `<${customer.email}>`, 'to');
	t.match(mail.data, /^From: <codes@tidewell\.example>$/m, 'From');
	t.match(mail.data, new RegExp(`^To: ${customer.email}$`, 'm'), 'To');
	t.match(mail.data, /^Date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/m,
	    'Date');
	t.ok(mail.data.includes(new URL(f.agent.id).hostname),
	    'names the agent by its host');
	const code = /\b\d{6}\b/.exec(mail.data.replace(/^.*?\n\n/s, ''))?.[0];
	const done = await f.mediated(s, { code: `${code.slice(0, 3)} ${
	    code.slice(3)}` }, { id: res.json.sign_in_id });
	t.eq(done.json?.status, 'complete', 'the code, as it is read out');
	const logs = JSON.stringify(w.logs(''));
	t.ok(!logs.includes(WORD) && !logs.includes(customer.email), 'logs');
});

test('what the message says is the operator\'s', proves('R-4.7-5'),
    async (t) => {
	await w.restart((c) => byMail(c, { subject: 'Ihr Code für {shop}',
		text: '{code} für {agent}, {minutes} Minuten {nichts} {\n' }));
	const n = server.mails.length, { f } = await ask();
	const mail = await until(() => server.mails[n], 5000);

	t.match(mail.data, /^Subject: =\?UTF-8\?B\?SWhyIENvZGUgZsO8ci/m,
	    'subject');
	t.match(mail.data, new RegExp(`\\n\\n\\d{6} für ${
	    new URL(f.agent.id).hostname}, 10 Minuten \\{nichts\\} \\{\\n`),
	'text');
}, { timeout: 60000 });

test('a mail server that is away, or whom we can\'t trust',
    proves('R-4.7-5'), async (t) => {
	const before = told('code_not_sent').length;

	await w.restart((c) => {
		byMail(c);
		c.codes.smtp.ca_file = '';
	});
	unavailable(t, (await ask()).res, 'unknown authority');
	server.stop();
	await w.restart((c) => byMail(c));
	unavailable(t, (await ask()).res, 'nobody there');
	t.ok(told('code_not_sent').length >= before + 2, 'told in the log');
	t.ok(!JSON.stringify(told('code_not_sent')).includes(customer.email),
	    'without the recipient');
}, { timeout: 60000 });

test('a command that fails, or hangs', proves('R-4.7-5'), async (t) => {
	for (const [what, command] of [['fails', ['/bin/false']],
		['hangs', ['/bin/sleep', '60']],
		['is not there', ['/nonexistent/command']]]) {
		await w.restart((c) => {
			base(c);
			c.codes = { command, timeout_ms: 500 };
		});
		unavailable(t, (await ask()).res, what);
	}
}, { timeout: 120000 });

test('a code without a way to send it', proves('R-4.7-13'), async (t) => {
	await w.restart(base);
	const { res } = await ask();

	t.eq([res.status, res.text.trim()], [200, '{"status":"failed"}'],
	    'failed, and nothing says why');
	t.ok(told('settings').some((l) => /no way to send codes/.test(l.warning)),
	    'the operator was warned');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: base });
		[customer] = w.customers();
		execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
			'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj',
			'/CN=localhost', '-addext', 'subjectAltName=DNS:localhost',
			'-keyout', `${w.dir}/mail.key`, '-out',
			`${w.dir}/mail.pem`], { stdio: 'ignore' });
		chmodSync(`${w.dir}/mail.pem`, 0o644);
		const file = `${w.dir}/secrets/mail`;
		const { uid, gid } = statSync(`${w.dir}/secrets/master`);
		writeFileSync(file, `${WORD}\n`, { mode: 0o400 });
		chownSync(file, uid, gid);
		server = await mailServer('starttls');
		await w.restart((c) => byMail(c));
	},
	after: async () => {
		server?.stop();
		await w?.close();
	},
});
