// Behind the cookie (section 5): every page follows the Session as it is now,
// and not a moment longer. Its own stack.
import { proves, run, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { COOKIE, Tab, browserSettings, isRefused, meta, seenPages, tab }
	from './lib/browser.mjs';
import { accounts, decided } from './lib/consent.mjs';
import { Data } from './lib/data.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { READ, WRITE } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, agent, people, ada;

const shut = `403 sign_in_required ${READ}`;
const signedIn = (f, s, scope) => f.signedIn({ scope }, { session: s });

// A Session, its browser, and the customer's side of it.
async function begin()
{
	const f = ada(new User(), agent), s = await agent.session(f.user);

	return { f, s, b: await tab(agent, s) };
}

test('a signed-out Session: PHP learns what it learns of a call',
    proves('R-5-13', 'R-5-21', 'R-6-13'), async (t) => {
	const { s, b } = await begin();
	const v = await b.seen(), call = w.who(await agent.call(s, 'GET',
	    w.whoami));

	t.eq([v.POPPY_VIA, v.POPPY_SIGNED_IN, v.POPPY_SESSION],
	    ['cookie', '0', s.id], 'who');
	for (const k of ['CLIENT_ID', 'USER', 'SESSION', 'SIGNED_IN'])
		t.eq(v[`POPPY_${k}`], call[`POPPY_${k}`], k);
	t.eq(decodeURIComponent(v.POPPY_AGENT ?? ''), 'Test Agent', 'agent');
	for (const k of ['ACCOUNT', 'SCOPE', 'GRANT'])
		t.eq(v[`POPPY_${k}`] ?? '', '', `no ${k}`);
	t.ok(!JSON.stringify(v).includes(s.user.sub), 'not the User ID');
});

test('a signed-in one: account and scopes', proves('R-5-15', 'R-6-13'),
    async (t) => {
	const { f, s, b } = await begin();
	const in1 = await signedIn(f, s, `${READ} ${WRITE}`);
	const v = await b.seen(), call = w.who(await agent.call(in1, 'GET',
	    w.whoami));

	for (const k of ['CLIENT_ID', 'USER', 'SESSION', 'SIGNED_IN', 'ACCOUNT',
		'SCOPE'])
		t.eq(v[`POPPY_${k}`], call[`POPPY_${k}`], k);
	t.eq(v.POPPY_SIGNED_IN, '1', 'signed in');
	t.match(v.POPPY_GRANT, /^\d+$/, 'a number of the sign-in');
});

test('sign in and out between two pages', proves('R-5-15', 'R-5-18'),
    async (t) => {
	const { f, s, b } = await begin();

	t.eq((await b.seen()).POPPY_SIGNED_IN, '0', 'before');
	t.eq(await b.outcome('/reads.php'), shut, 'no page of an account');
	const one = await signedIn(f, s, READ);
	const v = await b.seen();
	t.eq([v.POPPY_SIGNED_IN, v.POPPY_ACCOUNT], ['1', people[0].id], 'in');
	t.eq(await b.outcome('/reads.php'), '200', 'the page is open');
	t.eq((await f.revoke(one.pat)).status, 200, 'revoked');
	const out = await b.seen();
	t.eq([out.POPPY_VIA, out.POPPY_SIGNED_IN, out.POPPY_ACCOUNT],
	    ['cookie', '0', undefined], 'out');
	t.eq(await b.outcome('/reads.php'), shut, 'and shut again');
	await signedIn(f, s, READ);
	const again = await b.seen();
	t.eq(again.POPPY_ACCOUNT, people[0].id, 'in again');
	t.ok(again.POPPY_GRANT !== v.POPPY_GRANT, 'another sign-in',
	    again.POPPY_GRANT);
});

test('scopes that change show on the next page', proves('R-5-15', 'R-5-18'),
    async (t) => {
	const { f, s, b } = await begin();

	await signedIn(f, s, READ);
	t.eq(await b.outcome('/writes.php'),
	    `403 insufficient_scope ${WRITE}`, 'reads alone');
	const more = await signedIn(f, s, `${READ} ${WRITE}`);
	t.eq(await b.outcome('/writes.php'), '200', 'the newest sign-in');
	t.eq(await b.outcome('/reads.php'), '200', 'has both');
	await f.revoke(more.pat);
	t.eq(await b.outcome('/writes.php'),
	    `403 insufficient_scope ${WRITE}`, 'the older one counts again');
	t.eq((await b.seen()).POPPY_SIGNED_IN, '1', 'still signed in');
});

test('the same denial over API and page', proves('R-4.4-3', 'R-5-18'),
    async (t) => {
	const { f, s, b } = await begin();
	const both = async (token, api, page) => {
		const res = await agent.call(token, 'GET', w.url(api));
		const scope = /scope="([^"]*)"/.exec(res.header(
		    'www-authenticate') ?? '')?.[1];

		t.eq(await b.outcome(page), [res.status, res.json?.error, scope]
		    .filter((x) => x).join(' '), `${api} and ${page}`);
		return res.status;
	};
	const reads = `/api/reserved.php?sku=${w.sku}`;
	const writes = '/api/whoami.php?write=1';

	t.eq(await both(s, reads, '/reads.php'), 403, 'signed out');
	t.eq(await both(s, writes, '/writes.php'), 403, 'signed out');
	const one = await signedIn(f, s, READ);
	t.eq(await both(one, reads, '/reads.php'), 200, 'reads');
	t.eq(await both(one, writes, '/writes.php'), 403, 'does not write');
	const two = await signedIn(f, s, `${READ} ${WRITE}`);
	t.eq(await both(two, writes, '/writes.php'), 200, 'writes');
	await f.revoke(one.pat);
	await f.revoke(two.pat);
});

test('a page that is refused says what is missing', proves('R-5-18'),
    async (t) => {
	const { f, s, b } = await begin();

	await signedIn(f, s, READ);
	const res = await b.fetch('/writes.php');
	t.eq(res.status, 403, 'status');
	t.match(res.header('content-type'), /^text\/html/, 'HTML');
	t.match(res.header('cache-control'), /no-store/, 'not stored');
	t.eq(meta(res, 'error'), 'insufficient_scope', 'for machines');
	t.match(res.text, new RegExp(`<body[^]*${WRITE}`), 'for people');
	t.match(res.text, /<html[^>]* lang="/, 'a language');
	t.eq((res.text.match(/<h1/g) ?? []).length, 1, 'one heading');
	t.ok(Buffer.byteLength(res.text) < 8192, 'short', res.text.length);
	t.ok(!res.text.includes(b.cookie), 'no secret');
	t.eq(await b.outcome('/writes.php', { method: 'POST', body: 'a=b' }),
	    `403 insufficient_scope ${WRITE}`, 'POST');
	t.eq((await b.fetch('/writes.php', { method: 'HEAD' })).status, 403,
	    'HEAD');
});

test('what no rule names is closed, and so is what is closed',
    proves('R-5-18'), async (t) => {
	const { f, s, b } = await begin();

	for (let i = 0; i < 2; i++) {
		for (const p of ['/login.php', '/register.php', '/password.php',
			'/close.php', '/loft.php', '/login.php?next=/'])
			t.match(await b.outcome(p), /^403/, `closed: ${p}`);
		t.match(await b.outcome('/checkout.php', { method: 'POST',
			body: 'x=y' }), /^403/, 'a method that no rule names');
		t.match(await b.outcome('/seen.php', { method: 'PUT',
			body: 'x' }), /^403/, 'PUT');
		await signedIn(f, s, `${READ} ${WRITE}`);
	}
	t.eq((await b.fetch('/style.css')).status, 200, 'a style sheet');
});

test('odd spellings lead to no closed page', proves('R-5-18'),
    async (t) => {
	const { b } = await begin();
	const mine = [['Cookie', `${COOKIE}=${b.cookie}`]];

	for (const p of ['/%6cogin.php', '/login%2Ephp', '//login.php',
		'/./login.php', '/x/../login.php', '/LOGIN.php', '/login.php/',
		'/login.php/x', '/login.php;x', '/login.php%00',
		'/login.php%20',
		'\\login.php', '/login.php?a[]=b', '/writes.php/x',
		'/%77rites.php', '/x/../writes.php', '//writes.php',
		'/login', '/Login', '/login/x', '/index.php/login.php',
		'/seen.php/login', '/seen.php/writes.php', '/seen.php/writes',
		'/style.css/x.php/login', '/login.php%3Fx']) {
		const res = await send(w.url('/'), { ca: w.ca, target: p,
			headers: mine, fresh: true });

		t.ok(!/type="password"|"POPPY_/.test(res.text), p);
		t.ok(res.status >= 300, `${p}: status`, res.status);
	}
});

test('the Session ends, and with it the cookie', proves('R-5-16'),
    async (t) => {
	for (const [how, end] of [
		['by poppyctl', (s) => w.ctl('sessions', 'end', s.id)],
		// Beyond the defaults of "sessions".
		['by idleness', (s) => w.sql('UPDATE poppy.session SET ' +
		    'used_at = used_at - 30 * 86400 WHERE sid = ' +
		    Data.sid(s.id))],
		['by age', (s) => w.sql('UPDATE poppy.session SET ' +
		    'started_at = started_at - 180 * 86400 WHERE sid = ' +
		    Data.sid(s.id))],
		['in the database', (s) => w.endSession(s.id)]]) {
		const { f, s, b } = await begin();
		const mine = b.cookie;

		await signedIn(f, s, READ);
		t.eq(await b.outcome('/reads.php'), '200', `${how}: before`);
		await end(s);
		b.jar.set(COOKIE, mine);
		const v = await b.seen();
		t.eq(v, { POPPY_VIA: 'ended' }, `${how}: nobody is known`);
		b.jar.set(COOKIE, mine);
		t.match(await b.outcome('/reads.php'), /^403/,
		    `${how}: no page of an account`);
		b.jar.set(COOKIE, mine);
		t.match(await b.outcome('/login.php'), /^403/,
		    `${how}: closed stays closed`);
	}
});

test('a client that is blocked is shut out at once', proves('R-5-16'),
    async (t) => {
	const other = new Agent(w), b = await tab(other, await other.session());

	t.eq((await b.seen()).POPPY_VIA, 'cookie', 'before');
	await w.block(other.id, true);
	t.eq((await b.fetch('/seen.php')).status, 403, 'blocked');
	await w.block(other.id, false);
});

test('values that are none', proves('R-5-16'), async (t) => {
	const { b } = await begin(), value = b.cookie;
	const flip = (v, i) => v.slice(0, i) + (v[i] === 'A' ? 'B' : 'A') +
	    v.slice(i + 1);

	for (const v of ['x', '""', value.slice(1), value.slice(0, -1),
		`${value}A`, value.toUpperCase(), flip(value, 10),
		flip(value, 4), `pbs_AA${random(32)}`,
		`pst_${value.slice(4)}`, b.s.id, b.s.token,
		'a'.repeat(4000), '%00', `%70${value.slice(1)}`]) {
		const res = await send(w.url('/seen.php'), { ca: w.ca,
			headers: [['Cookie', `${COOKIE}=${v}`]] });

		t.eq(res.json?.poppy ?? res.status, { POPPY_VIA: 'ended' },
		    v.slice(0, 60));
	}
	for (const c of [`${COOKIE}=${value}; ${COOKIE}=x`,
		`${COOKIE}=x; ${COOKIE}=${value}`,
		`${COOKIE}=; ${COOKIE}=${value}`]) {
		const res = await send(w.url('/seen.php'), { ca: w.ca,
			headers: [['Cookie', c]] });

		t.eq(res.json?.poppy?.POPPY_SESSION, undefined, c.slice(0, 30));
	}
	t.eq((await b.seen()).POPPY_VIA, 'cookie', 'the real one');
});

test('the cookie opens no API, and a token no page', proves('R-5-18'),
    async (t) => {
	const { s, b } = await begin();

	t.challenged(await b.fetch('/api/whoami.php'), 401, 'invalid_token',
	    'the cookie alone');
	const res = await agent.call(s, 'GET', w.url('/seen.php'));
	t.eq(res.json?.poppy, {}, 'a token names nobody on a page');
	const other = await agent.session();
	const both = await agent.call(other, 'GET', w.whoami, { headers: [
		['Cookie', `${COOKIE}=${b.cookie}`]] });
	t.eq(w.who(both)?.POPPY_SESSION, other.id, 'a call goes by the token');
});

test('a host that is none of ours shows no page', proves('R-5-18'),
    async (t) => {
	const { b } = await begin();
	const res = await send(w.url('/seen.php'), { ca: w.ca, headers: [
		['Host', 'evil.example'], ['Cookie', `${COOKIE}=${b.cookie}`]] });

	t.ok([403, 404, 421].includes(res.status), 'shut', res.status);
});

test('POPPY_ headers of a client change nothing', proves('R-6-13'),
    async (t) => {
	const { b } = await begin(), clean = await b.seen();
	const planted = ['POPPY_USER', 'Poppy-User', 'Poppy-Account',
		'POPPY_VIA', 'Poppy-Scope', 'Variable-POPPY_ACCOUNT',
		'Redirect-POPPY_ACCOUNT'].map((n) => [n, 'planted']);

	t.eq(await b.seen('/seen.php', { headers: planted }), clean, 'joined');
	t.eq((await send(w.url('/seen.php'), { ca: w.ca, headers: planted }))
	    .json?.poppy, {}, 'a visitor');
});

test('a second join replaces the first', proves('R-5-20', 'R-5-10'),
    async (t) => {
	const { s, b } = await begin(), first = b.cookie;

	await b.joined();
	t.ok(b.cookie !== first, 'another value');
	t.eq((await b.seen()).POPPY_SESSION, s.id, 'the same Session');
	const old = new Tab(agent, s);
	old.jar.set(COOKIE, first);
	t.eq(await old.seen(), { POPPY_VIA: 'ended' }, 'the old value is dead');
	const other = await agent.session(s.user);
	await b.joined(other);
	t.eq((await b.seen()).POPPY_SESSION, other.id, 'another Session');
	t.eq(b.jar.size, 1, 'by one cookie');
	const third = new Agent(w), c = new Tab(third, await third.session());
	c.jar.set(COOKIE, b.cookie);
	await c.joined();
	t.eq(decodeURIComponent((await c.seen()).POPPY_CLIENT_ID), third.id,
	    'another client');
});

test('a join that fails leaves the cookie of before', proves('R-5-14',
    'R-5-20'), async (t) => {
	const { s, b } = await begin();

	isRefused(t, await b.join({ return_to: 'https://evil.example/' }),
	    'refused');
	t.eq((await b.seen()).POPPY_SESSION, s.id, 'still there');
});

test('every page request is logged with client and User', proves('R-6-13'),
    async (t) => {
	const other = new Agent(w), b = await tab(other, await other.session());

	await b.seen();
	await b.outcome('/writes.php');
	for (const [path, status] of [['/seen.php', 200],
		['/writes.php', 403]]) {
		const l = await w.logOf('guard', (x) => x.event === 'request' &&
		    x.client_id === other.id && x.path === path);

		t.ok(l, `${path}: a line names the client`);
		t.eq(l?.status, status, `${path}: status`);
		t.match(l?.user, /./, `${path}: the User`);
	}
});

test('without the cookie a page asks nobody', proves('R-5-1'), async (t) => {
	const pids = w.pids('guard');

	for (const pid of pids)
		process.kill(pid, 'SIGSTOP');
	try {
		for (const p of ['/', '/style.css', '/cart.php'])
			t.eq((await send(w.url(p), { ca: w.ca, timeout: 5000,
				headers: [['Cookie', 'a=b; ' +
					'__Host-poppyx=1; x__Host-poppy=2']] }))
			    .status, 200, p);
	} finally {
		for (const pid of pids)
			process.kill(pid, 'SIGCONT');
	}
	t.ok(await until(async () => (await (await begin()).b.seen())
	    .POPPY_VIA === 'cookie'), 'with it, it is asked');
});

test('the database is away: 503, and nothing opens', proves('R-5-16'),
    async (t) => {
	const b = await tab(agent, await agent.session());

	t.eq(await b.outcome('/style.css'), '200', 'before');
	await w.pg('stop');
	try {
		t.eq((await b.fetch('/seen.php')).status, 503, 'a page');
		t.eq((await b.fetch('/login.php')).status, 403,
		    'closed is closed');
		t.eq((await b.fetch('/style.css')).status, 200, 'a file');
	} finally {
		await w.pg('start');
	}
	t.ok(await until(async () => (await b.seen()).POPPY_VIA === 'cookie',
	    10000, 200), 'it comes back, with the cookie of before');
}, { timeout: 60000 });

test('the guard is away: no page with the cookie, all is well without',
    proves('R-5-16'), async (t) => {
	const b = await tab(agent, await agent.session());

	await w.program('guard', 'stop');
	try {
		for (const p of ['/seen.php', '/login.php', '/style.css'])
			t.ok([500, 503].includes((await b.fetch(p)).status), p);
		for (const p of ['/', '/style.css', '/login.php'])
			t.eq((await send(w.url(p), { ca: w.ca })).status, 200,
			    p);
	} finally {
		await w.program('guard', 'start');
	}
	t.ok(await until(async () => (await b.seen()).POPPY_VIA === 'cookie',
	    10000, 200), 'it comes back');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings });
		seenPages(w);
		agent = new Agent(w);
		people = await accounts(w);
		ada = decided(w, people[0]);
	},
	after: () => w?.close(),
});
