// Mediated Sign-In (section 4.7): credentials, one-time codes, limits. Codes go
// to a command that keeps them in a file, in place of mail or text messages.
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync,
	writeFileSync } from 'node:fs';
import { proves, run, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { OWN, READ, WRITE, flows, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, strict, ada, jonas, leo, coded, people;

const credentials = (f) => ({ email: f.account.email,
	password: f.account.password });
const body = (f, over = {}) => ({ scope: READ, credentials: credentials(f),
	...over });

// A Session whose token is to be used for signing in.
const session = (f) => f.agent.session(f.user);

// An error of the request itself.
const refused = (t, res, status, code, what) => {
	t.eq([res.status, res.json?.error], [status, code], what);
	t.match(res.header('cache-control') ?? '', /no-store/,
	    `${what}: not stored`);
};

// The status of a sign-in: 200 and JSON that nobody keeps.
const status = (t, res, want, what) => {
	t.eq([res.status, res.json?.status], [200, want], what);
	t.match(res.header('cache-control') ?? '', /no-store/,
	    `${what}: not stored`);
	return res.json ?? {};
};

test('the document says what is asked for', proves('R-3.1-9'),
    async (t) => {
	const { auth } = (await send(w.url('/.well-known/poppy.json'),
	    { ca: w.ca })).json;

	t.eq(auth.mediated.endpoint, `${w.base}/poppy/sign-in`, 'endpoint');
	t.eq(auth.mediated.scopes, [READ], 'scopes');
	t.eq(auth.mediated.fields, [
		{ name: 'email', label: 'E-mail', secret: false },
		{ name: 'password', label: 'Password', secret: true }],
	'fields');
});

test('right credentials complete it',
    proves('R-4.7-4', 'R-4.7-1', 'R-4.7-14', 'R-4.4-10'), async (t) => {
	const f = ada(), s = await session(f);
	const json = status(t, await f.mediated(s, body(f)), 'complete',
	    'complete');

	t.match(json.access_token ?? '', /^pst_/, 'Session Token');
	t.match(json.refresh_token ?? '', /^pat_/, 'Account Token');
	t.eq([json.token_type, json.scope, json.session_id, json.signed_in],
	    ['DPoP', READ, s.id, true], 'members');
	t.ok(json.expires_in > 0 && json.refresh_token_expires_in > 0,
	    'lifetimes');
	const now = { ...s, token: json.access_token };
	t.eq(await f.reads(now), '200', 'account call');
	t.eq(await f.reads(s), '403 sign_in_required', 'the old token');
	t.eq((await f.refresh(json.refresh_token)).status, 200, 'refresh');
});

test('the new token is bound to the key of the proof', proves('R-4.7-14'),
    async (t) => {
	const f = ada(), s = await session(f);
	const { json } = await f.mediated(s, body(f));
	const now = { ...s, token: json.access_token };

	t.challenged(await f.agent.call({ ...now, user: new User() }, 'GET',
	    w.whoami), 401, 'invalid_dpop_proof', 'another key');
});

test('a token, a proof, POST and JSON', proves('R-4.7-1'), async (t) => {
	const f = ada(), s = await session(f);

	t.eq((await f.mediated(s, body(f), { authorization: null })).status,
	    401, 'no token');
	t.eq((await f.mediated(s, body(f), { proof: null })).status, 401,
	    'no proof');
	t.eq((await f.mediated(s, body(f), { scheme: 'Bearer' })).status, 401,
	    'Bearer');
	t.eq((await f.mediated({ ...s, user: new User() }, body(f))).status,
	    401, 'another key');
	t.eq((await f.agent.call(s, 'GET', `${w.base}/poppy/sign-in`)).status,
	    405, 'GET');
	const proof = f.user.proof('POST', `${w.base}/poppy/sign-in`,
	    { token: s.token });
	refused(t, await f.mediated(s, '{}', { proof }), 400, 'invalid_scope',
	    'a proof');
	t.eq((await f.mediated(s, body(f), { proof })).status, 401,
	    'the same again');
	for (const text of ['', 'x', '[]', '"a"', '7', 'null', '{',
		'{"scope":"poppy:read","scope":"poppy:read"}',
		'{"scope":"\\ud800"}', '{"scope":7}', `{"a":"${'x'
		    .repeat(100000)}"}`]) {
		const res = await f.mediated(s, text);

		t.ok([400, 413].includes(res.status), text.slice(0, 20),
		    res.status);
	}
});

test('scope is demanded, and limited to this type',
    proves('R-4.7-2', 'R-4.4-8', 'R-4.4-9', 'R-4.4-7'), async (t) => {
	const f = ada(), s = await session(f);

	for (const scope of [undefined, '', WRITE, OWN, `${READ} ${WRITE}`,
		'none', 'poppy:admin'])
		refused(t, await f.mediated(s, body(f, { scope })), 400,
		    'invalid_scope', String(scope));
});

test('every field is demanded, as text', proves('R-4.7-3'), async (t) => {
	const f = ada(), s = await session(f), good = credentials(f);

	for (const c of [undefined, null, {}, [], 'x', { email: good.email },
		{ password: good.password }, { ...good, email: 7 },
		{ ...good, password: null }, { ...good, password: ['x'] },
		{ ...good, email: {} }])
		refused(t, await f.mediated(s, body(f, { credentials: c })), 400,
		    'invalid_request', JSON.stringify(c ?? null));
});

test('wrong credentials are failed, and nothing says which',
    proves('R-4.7-9'), async (t) => {
	const f = leo(), s = await session(f), replies = [];

	for (const c of [{ ...credentials(f), password: 'wrong' },
		{ email: 'nobody@tidewell.example', password: 'wrong' },
		{ ...credentials(f), password: '' },
		{ email: '', password: 'x' },
		{ email: 'x'.repeat(2000), password: 'y'.repeat(5000) }]) {
		const res = await f.mediated(s, body(f, { credentials: c }));

		if (res.status === 200)
			replies.push(res.text);
		else
			t.eq([res.status, res.json?.error],
			    [400, 'invalid_request'], 'too long at most');
		t.ok(!res.json?.access_token, 'no token');
	}
	t.ok(replies.length >= 2, 'replies');
	t.eq([...new Set(replies.map((x) => x.trim()))],
	    ['{"status":"failed"}'], 'one answer');
	t.eq((await f.agent.call(s, 'GET', w.stock)).status, 200,
	    'the Session is as before');
});

test('credentials are never said again, kept or logged', proves('R-4.7-12'),
    async (t) => {
	const f = leo(), s = await session(f), secret = `secret-${random()}`;
	const replies = [];

	for (const c of [{ ...credentials(f), password: secret },
		{ email: secret, password: secret }, { email: secret },
		{ ...credentials(f), other: secret }])
		replies.push(await f.mediated(s, body(f, { credentials: c })));
	replies.push(await f.mediated(s, `{"scope":"${secret}"}`),
	    await f.mediated(s, `{"${secret}":`),
	    await f.mediated(s, body(f, { scope: 'x', [secret]: secret })));
	const { password } = f.account;
	replies.push(await f.mediated(s, body(f)));
	for (const r of replies)
		t.ok(!(r.text + JSON.stringify(r.headers)).includes(secret) &&
		    !r.text.includes(password), 'reply', r.text);
	const all = await w.dump();
	t.ok(!all.includes(secret) && !all.includes(password), 'database');
	const logs = JSON.stringify(w.logs(''));
	t.ok(!logs.includes(secret) && !logs.includes(password), 'logs');
});

test('a different account on a signed-in Session', proves('R-4.7-15',
    'R-4.4-15'), async (t) => {
	const f = ada(), s = await session(f);
	const { json } = await f.mediated(s, body(f));
	const now = { ...s, token: json.access_token };
	const other = jonas(f.user, f.agent);

	refused(t, await other.mediated(now, body(other)), 400,
	    'account_mismatch', 'another');
	t.eq(await f.reads(now), '200', 'unchanged');
});

test('accounts that may not sign in are failed', proves('A-24'),
    async (t) => {
	for (const account of people.filter((c) => c.kind !== 'customer')) {
		const f = flows(w, account)(new User(), new Agent(w));
		const res = await f.mediated(await session(f), body(f));

		status(t, res, 'failed', account.kind);
		t.ok(!res.json?.access_token, 'no token');
	}
});

test('an ended Session, and a blocked client, sign nobody in',
    proves('R-4.7-1'), async (t) => {
	const f = ada(), s = await session(f);

	await w.endSession(s.id);
	t.eq((await f.mediated(s, body(f))).status, 401, 'ended');
	const g = ada(), x = await session(g);
	await w.block(g.agent.id, true);
	t.eq((await g.mediated(x, body(g))).status, 401, 'blocked');
	await w.block(g.agent.id, false);
});

// One-time codes: strict is a stack where one is always wanted.
const outbox = () => `${strict.dir}/sent`;
const messages = () => readdirSync(outbox()).sort();

// The code that was sent last.
async function lastCode(before)
{
	const name = await until(() => messages().find((m) =>
	    !before.includes(m)), 5000);

	if (!name)
		throw new Error('no message');
	const text = await until(() => readFileSync(`${outbox()}/${name}`,
	    'utf8'), 3000);
	const code = /\b\d{6,8}\b/.exec(text.replace(/^[A-Za-z-]+:.*$/mg, ''));

	if (!code)
		throw new Error(`no code in ${text}`);
	return { code: code[0], text };
}

// A sign-in as far as the code: { f, s, id, code, reply }.
async function asked(t, make = coded)
{
	const f = make(), s = await session(f), before = messages();
	const reply = status(t, await f.mediated(s, body(f)), 'code_required',
	    'code_required');

	return { f, s, id: reply.sign_in_id, reply, ...await lastCode(before) };
}

const wrong = (code) => String((Number(code) + 1) % 10 ** code.length)
    .padStart(code.length, '0');

test('a code is asked for, sent, and completes it',
    proves('R-4.7-5', 'R-4.7-6', 'R-4.7-13', 'R-4.7-12'), async (t) => {
	const { f, s, id, code, reply, text } = await asked(t);

	t.match(id ?? '', /^sgn_/, 'sign_in_id');
	t.match(reply.expires_at ?? '',
	    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
	    'expires_at');
	t.ok(Date.parse(reply.expires_at) > Date.now(), 'in time to come');
	t.match(reply.code?.sent_to ?? '', /./, 'sent_to');
	t.ok(!reply.code?.sent_to.includes(f.account.email),
	    'not the whole address', reply.code);
	t.ok(!JSON.stringify(reply).includes(code), 'not the code');
	t.eq([reply.access_token, reply.refresh_token], [undefined, undefined],
	    'no token yet');
	t.ok(!text.includes(f.account.password), 'no password in the message');
	t.eq(await f.reads(s), '403 sign_in_required', 'not signed in yet');
	const json = status(t, await f.mediated(s, { code }, { id }),
	    'complete', 'with it');
	t.eq([json.scope, json.session_id, json.signed_in],
	    [READ, s.id, true], 'members');
	t.eq(await f.reads({ ...s, token: json.access_token }), '200',
	    'account call');
	const again = await f.mediated(s, { code }, { id });
	t.ok(!again.json?.access_token, 'only once', again.text);
});

test('wrong codes: asked again, then failed for good',
    proves('R-4.7-7', 'R-4.7-11'), async (t) => {
	const { f, s, id, code, reply } = await asked(t);

	for (let i = 0; i < 4; i++) {
		const json = status(t, await f.mediated(s, { code: wrong(code) },
		    { id }), 'code_required', `wrong ${i + 1}`);

		t.eq([json.sign_in_id, json.code, json.expires_at],
		    [id, reply.code, reply.expires_at], 'repeated');
	}
	status(t, await f.mediated(s, { code: wrong(code) }, { id }), 'failed',
	    'the fifth');
	status(t, await f.mediated(s, { code }, { id }), 'failed',
	    'the right one too late');
});

test('codes out of shape', proves('R-4.7-6'), async (t) => {
	const { f, s, id, code } = await asked(t);

	for (const b of [{}, { code: null }, { code: Number(code) },
		{ code: [code] }, '[]', ''])
		refused(t, await f.mediated(s, b, { id }), 400,
		    'invalid_request', JSON.stringify(b));
	status(t, await f.mediated(s, { code, credentials: credentials(f) },
	    { id }), 'complete', 'none of it counted');
});

test('it belongs to the Session where it began', proves('R-4.7-8'),
    async (t) => {
	const { f, s, id, code } = await asked(t);
	const other = await session(f), g = coded();

	t.eq((await f.mediated(other, { code }, { id })).status, 404,
	    'another Session of the User');
	t.eq((await g.mediated(await session(g), { code }, { id })).status, 404,
	    'another client');
	for (const none of [`sgn_AA${random(32)}`, 'x', 'sgn_'])
		t.eq((await f.mediated(s, { code }, { id: none })).status, 404,
		    none);
	t.eq((await f.agent.call(s, 'GET', `${strict.base}/poppy/sign-in/${id}`))
	    .status, 405, 'GET');
	const renewed = await f.agent.session(f.user, { form: {
		session_id: s.id } });
	status(t, await f.mediated(renewed, { code }, { id }), 'complete',
	    'a renewed token of the same one');
});

test('past its time it is expired', proves('R-4.7-10'), async (t) => {
	const { f, s, id, code } = await asked(t);

	await strict.sql('UPDATE poppy.mediated SET expires_at = ' +
	    'extract(epoch FROM now())::bigint - 1');
	status(t, await f.mediated(s, { code }, { id }), 'expired', 'late');
	status(t, await f.mediated(s, { code }, { id }), 'expired', 'for good');
});

test('one code at one moment: one completes', proves('R-4.7-7'),
    async (t) => {
	for (let i = 0; i < 3; i++) {
		const { f, s, id, code } = await asked(t);
		const all = await Promise.all(Array.from({ length: 4 }, () =>
		    f.mediated(s, { code }, { id })));

		t.eq(all.filter((r) => r.json?.status === 'complete').length, 1,
		    'one');
	}
}, { timeout: 60000 });

test('guesses at one moment are counted', proves('R-4.7-7', 'R-4.7-11'),
    async (t) => {
	const { f, s, id, code } = await asked(t);
	const all = await Promise.all(Array.from({ length: 12 }, () =>
	    f.mediated(s, { code: wrong(code) }, { id })));
	const count = all.filter((r) => r.json?.status === 'code_required')
	    .length;

	t.ok(count <= 4, 'asked again four times at most', count);
	status(t, await f.mediated(s, { code }, { id }), 'failed', 'then');
});

test('codes are kept as hashes, and never logged', proves('R-4.7-12'),
    async (t) => {
	const { code } = await asked(t);
	const rows = await strict.sql('SELECT * FROM poppy.mediated');

	t.unlike(rows, new RegExp(`(^|\\D)${code}(\\D|$)`, 'm'), 'table');
	t.unlike(strict.logs('').filter((l) => l.event).map((l) =>
	    JSON.stringify(l)).join('\n'), new RegExp(`"${code}"`), 'logs');
});

test('a client new to the account is unusual, and then it isn\'t',
    proves('R-4.7-13'), async (t) => {
	const f = flows(strict, people[3])(), before = messages();

	await strict.restart((c) => policy(c, 'unusual'));
	const s = await session(f);
	const first = status(t, await f.mediated(s, body(f)), 'code_required',
	    'new client');
	const { code } = await lastCode(before);
	status(t, await f.mediated(s, { code }, { id: first.sign_in_id }),
	    'complete', 'signed in');
	status(t, await f.mediated(await session(f), body(f)), 'complete',
	    'known by now');
	await f.mediated(s, body(f, { credentials: { ...credentials(f),
		password: 'wrong' } }));
	status(t, await f.mediated(await session(f), body(f)), 'code_required',
	    'after a failure');
}, { timeout: 60000 });

test('attempts are limited, over all processes', proves('R-4.7-11'),
    async (t) => {
	await strict.restart((c) => {
		policy(c, 'always');
		c.login.failures_per_login = 4;
	});
	const f = flows(strict, people[1])(), s = await session(f);
	let res;

	for (let i = 0; i < 6; i++)
		res = await f.mediated(s, body(f, { credentials: {
			...credentials(f), password: `wrong${i}` } }));
	t.eq(res.status, 429, 'too many');
	t.match(res.header('retry-after') ?? '', /^[1-9]\d*$/, 'Retry-After');
	t.eq((await f.mediated(s, body(f))).status, 429,
	    'the right ones then, either');
	// One without many codes that nobody has entered.
	const g = flows(strict, people[3])();
	t.ok((await g.mediated(await session(g), body(g))).status === 200,
	    'another account is not touched');
}, { timeout: 60000 });

// A command that keeps what it reads: one file a message.
function connector(dir)
{
	mkdirSync(`${dir}/sent`, { recursive: true });
	chmodSync(`${dir}/sent`, 0o777);	// by the programs' user
	const file = `${dir}/send-code`;

	if (!existsSync(file))
		writeFileSync(file, '#!/bin/sh\numask 022\n' +
		    `f=$(mktemp ${dir}/sent/.XXXXXX) && cat >"$f" &&\n` +
		    `chmod 644 "$f" && mv "$f" "${dir}/sent/` +
		    '$(date +%s%N)"\n', { mode: 0o755 });
	return file;
}

function policy(c, code)
{
	const dir = c.secrets.replace(/\/secrets$/, '');

	signinSettings(c);
	c.sign_in.mediated = [READ];
	c.mediated = { fields: [
		{ name: 'email', label: 'E-mail', secret: false },
		{ name: 'password', label: 'Password', secret: true }],
	code, tries: 5, failures_per_client: 10000 };
	if (code !== 'never')
		c.codes = { command: [connector(dir)] };
}

await run({
	before: async () => {
		w = await World.up({ bend: (c) => policy(c, 'never') });
		people = w.customers();
		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
		leo = flows(w, people[3]);
		strict = await World.up({ bend: (c) => policy(c, 'always') });
		coded = flows(strict, people[0]);
	},
	after: async () => {
		await strict?.close();
		await w?.close();
	},
});
