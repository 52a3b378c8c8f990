// Joining (section 5): what the endpoint takes, and all that it refuses with
// one page, no cookie and no reason. Its own stack.
import { proves, run, test, until } from './lib/tap.mjs';
import { ASSERTION_TYPE, Agent, User } from './lib/agent.mjs';
import { COOKIE, browserAssertion, browserSettings, cookieOf, endpoint,
	isJoined, isRefused, join, post, seenPages, tab }
	from './lib/browser.mjs';
import { Data } from './lib/data.mjs';
import { makeKey, now, random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

// The defaults of sessions.idle_seconds and sessions.max_seconds.
const IDLE = 30 * 86400, LONGEST = 180 * 86400;
let w, agent, s;

// A Session grows older by so many seconds.
const shift = ({ id }, column, seconds) => w.sql('UPDATE poppy.session SET ' +
    `${column} = ${column} - ${seconds} WHERE sid = ${Data.sid(id)}`);

test('poppy.json of each domain names the endpoint of its first host',
    proves('R-5-1', 'R-3.1-5'), async (t) => {
	for (const [host, of] of [['localhost', 'localhost'],
		['www.localhost', 'localhost'],
		['shop2.localhost', 'shop2.localhost']])
		t.eq((await send(w.url('/.well-known/poppy.json', host),
		    { ca: w.ca })).json?.web?.browser_session_endpoint,
		endpoint(w, of), host);
});

test('a form with an assertion: a cookie and 303 to return_to',
    proves('R-5-2', 'R-5-13', 'R-5-17', 'R-5-21'), async (t) => {
	const to = w.url('/seen.php?a=b%20c&d=%2F..%2F#part');
	const res = await join(agent, s, { return_to: to });
	const c = cookieOf(res);
	const age = c.attributes.find((a) => a.startsWith('Max-Age='));

	t.must(isJoined(t, res, to), 'joined', res.text);
	t.match(res.header('cache-control'), /no-store/, 'not stored');
	t.eq(res.header('referrer-policy'), 'no-referrer', 'no referrer');
	t.eq(c.name, COOKIE, 'its name');
	t.eq(c.attributes.filter((a) => a !== age).sort(), ['HttpOnly',
		'Path=/', 'SameSite=Lax', 'Secure'], 'its attributes');
	const ends = Number(await w.sql('SELECT ends_at - extract(epoch FROM ' +
	    `now())::bigint FROM poppy.session WHERE sid = ${Data.sid(s.id)}`));
	const seconds = Number(age?.slice('Max-Age='.length));
	t.ok(seconds > 0 && seconds <= ends + 1, 'no longer than the Session',
	    [seconds, ends]);
});

test('a cookie near the Session\'s end is shorter', proves('R-5-16'),
    async (t) => {
	const mine = await agent.session();

	await shift(mine, 'started_at', LONGEST - 100);
	const res = await join(agent, mine);
	const age = /Max-Age=(\d+)/.exec(res.header('set-cookie') ?? '')?.[1];

	t.ok(age > 0 && age <= 100, 'Max-Age', age ?? res.status);
});

test('other methods are 405', proves('R-5-2'), async (t) => {
	for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
		const res = await send(endpoint(w), { ca: w.ca, method,
			body: /^P/.test(method) ? 'x' : undefined });

		t.eq(res.status, 405, method);
		t.match(res.header('allow'), /^POST$/, `${method}: Allow`);
		t.eq(res.all('set-cookie'), [], `${method}: no cookie`);
	}
});

test('the path is exact', proves('R-5-2'), async (t) => {
	for (const p of ['/', 's', '/x', '.php', ';x', '%2f']) {
		const res = await post(w, { url: endpoint(w) + p, fields:
		    [['assertion', browserAssertion(agent, s)]] });

		t.ok([400, 403, 404].includes(res.status), p, res.status);
		t.eq(res.all('set-cookie').filter((c) => /poppy/.test(c)), [],
		    `${p}: no cookie`);
	}
});

test('an assertion in the URL is refused, with a body or without',
    proves('R-5-3', 'R-5-14'), async (t) => {
	const at = (q) => `${endpoint(w)}?${q}`;
	const a = () => browserAssertion(agent, s);

	isRefused(t, await post(w, { url: at(`assertion=${a()}`) }), 'alone');
	isRefused(t, await post(w, { url: at(`assertion=${a()}`),
		fields: [['assertion', a()]] }), 'beside a good one');
	const same = a();
	isRefused(t, await post(w, { url: at(`assertion=${same}`),
		fields: [['assertion', same]] }), 'the same');
	isRefused(t, await post(w, { url: at(`%61ssertion=${a()}`),
		fields: [['assertion', a()]] }), 'escaped');
	isRefused(t, await post(w, { url: at('x=1'),
		fields: [['assertion', a()]] }), 'any query');
	const got = await send(at(`assertion=${a()}`), { ca: w.ca });
	t.eq([got.status, got.all('set-cookie')], [405, []], 'GET');
});

test('60 seconds pass, and a clock a little off', proves('R-5-9'),
    async (t) => {
	for (const [name, iat, exp] of [['sixty', 0, 60], ['a moment', 0, 5],
		['older', -30, 30]])
		isJoined(t, await join(agent, s, { iat: now() + iat,
			exp: now() + exp }), w.url('/seen.php'), name);
});

test('a browser assertion opens nothing at the token endpoint',
    proves('R-5-7'), async (t) => {
	for (const aud of [endpoint(w), w.tokenEndpoint]) {
		t.refused(await agent.token(s.user, { form: { assertion:
		    browserAssertion(agent, s, { aud }) } }), 400,
		'invalid_grant', 'as assertion');
		t.refused(await agent.token(s.user, { form: {
			client_assertion_type: ASSERTION_TYPE,
			client_assertion: browserAssertion(agent, s, { aud,
				sub: agent.id }) } }), 401,
		'invalid_client', 'as client assertion');
	}
});

test('an assertion counts once', proves('R-5-10'), async (t) => {
	const again = { fields: [['assertion', browserAssertion(agent, s)]] };
	const jti = random();

	isJoined(t, await post(w, again), w.url('/seen.php'), 'first');
	isRefused(t, await post(w, again), 'second');
	isRefused(t, await post(w, again), 'third');
	isJoined(t, await join(agent, s, { jti }), w.url('/seen.php'), 'a jti');
	isRefused(t, await join(agent, s, { jti }), 'the jti, signed anew');
	const other = new Agent(w);
	isJoined(t, await join(other, await other.session(), { jti }),
	    w.url('/seen.php'), 'another client may use it');
});

test('what was refused has spent no jti', proves('R-5-10'), async (t) => {
	const jti = random();

	for (const over of [{ return_to: 'https://evil.example/' },
		{ session_id: `ses_AA${random(16)}` }, { aud: w.base }])
		isRefused(t, await join(agent, s, { jti, ...over }), 'bad');
	isJoined(t, await join(agent, s, { jti }), w.url('/seen.php'), 'good');
});

test('twice at once at two processes: one wins', proves('R-5-10'),
    async (t) => {
	t.eq(w.pids('browser').length, 2, 'processes');
	for (let i = 0; i < 10; i++) {
		const body = { fields: [['assertion',
			browserAssertion(agent, s)]] };
		const got = await Promise.all([1, 2, 3, 4].map(() =>
		    post(w, body)));
		t.eq(got.map((r) => r.status).sort(), [303, 400, 400, 400],
		    'one joins');
		t.eq(got.flatMap((r) => r.all('set-cookie')).length, 1,
		    'one cookie');
	}
});

test('the Session is live, and of that client and User', proves('R-5-11'),
    async (t) => {
	const foreign = new Agent(w), twin = new User();
	const theirs = await foreign.session(twin);
	const mine = await agent.session(), over = await agent.session();
	const gone = await agent.session(), idle = await agent.session();

	await w.endSession(mine.id);
	isRefused(t, await join(agent, mine), 'ended');
	await shift(over, 'started_at', LONGEST);
	isRefused(t, await join(agent, over), 'over');
	t.eq((await w.ctl('sessions', 'end', gone.id)).status, 0, 'poppyctl');
	isRefused(t, await join(agent, gone), 'ended by the operator');
	await shift(idle, 'used_at', IDLE);
	isRefused(t, await join(agent, idle), 'idle too long');
	isRefused(t, await join(agent, { user: twin, id: theirs.id }),
	    'another client\'s, by its sub');
	isRefused(t, await join(agent, { user: s.user, id: theirs.id }),
	    'another client\'s');
	const same = new User();
	same.sub = s.user.sub;
	await foreign.session(same);
	isRefused(t, await join(foreign, s), 'ours, under the same sub');
	isRefused(t, await join(agent, { user: (await agent.session()).user,
		id: s.id }), 'another User\'s');
	await w.block(foreign.id, true);
	isRefused(t, await join(foreign, theirs), 'blocked');
	await w.block(foreign.id, false);
});

test('return_to on the domain and below it', proves('R-5-12'), async (t) => {
	for (const to of [w.base, `${w.base}/`, w.url('/cart.php?x=1'),
		w.url('/', 'www.localhost'), w.url('/a?b=c', 'shop2.localhost'),
		w.url('/', 'a.b.localhost'),
		`${w.base}/?to=https://evil.example/`,
		`${w.base}/%5c%0d%0a`]) {
		const res = await join(agent, s, { return_to: to });

		isJoined(t, res, to, to);
	}
	isRefused(t, await join(agent, s, { aud: endpoint(w,
	    'shop2.localhost') }, {}, { url: endpoint(w, 'shop2.localhost') }),
	'localhost is not below shop2.localhost');
});

test('each domain has its own endpoint', proves('R-5-8', 'R-5-12'),
    async (t) => {
	const host = 'shop2.localhost', url = endpoint(w, host);
	const to = w.url('/seen.php', host);

	isJoined(t, await join(agent, s, { aud: url, return_to: to }, {},
	    { url }), to, host);
	isRefused(t, await join(agent, s, { return_to: to }, {}, { url }),
	    'for the other');
	for (const other of ['www.localhost', 'api.localhost']) {
		const at = endpoint(w, other);

		for (const aud of [at, endpoint(w)]) {
			const res = await join(agent, s, { aud }, {},
			    { url: at });

			t.ok([400, 404].includes(res.status),
			    `none at ${other}`, res.status);
			t.eq(res.all('set-cookie'), [], `${other}: no cookie`);
		}
	}
});

test('one page for every failure, which gives no reason', proves('R-5-14'),
    async (t) => {
	const first = await join(agent, s, { aud: 'x' });

	t.match(first.text, /<html[^>]* lang="/, 'a language');
	t.match(first.text, /<title>[^<]+<\/title>/, 'a title');
	t.match(first.text, /<h1/, 'a heading');
	t.unlike(first.text, /\baud\b|audience|jti|signature|expired|replay/i,
	    'no reason');
	for (const res of [await join(agent, s, { exp: now() - 80 }),
		await join(agent, s, {}, { key: makeKey() }),
		await join(agent, s, { return_to: 'https://evil.example/' }),
		await join(agent, s, { session_id: `ses_AA${random(16)}` }),
		await post(w), await post(w, { body: 'assertion=x' })])
		t.eq(res.text, first.text, 'the same page');
	const csp = first.header('content-security-policy') ?? '';
	t.match(csp, /default-src 'none'/, 'a policy');
	t.match(csp, /frame-ancestors 'none'/, 'no frames');
});

test('forms that are none', proves('R-5-2', 'R-5-14'), async (t) => {
	const a = () => browserAssertion(agent, s);
	const good = ['assertion', 0];
	const form = () => [[good[0], a()]];
	const same = a();
	const bytes = (body, opts = {}) => post(w, { body, ...opts });

	for (const [name, res] of [
		['two assertions', await post(w, { fields: [...form(),
			...form()] })],
		['the same twice', await post(w, { fields: [['assertion', same],
			['assertion', same]] })],
		['an empty one behind', await post(w, { fields: [...form(),
			['assertion', '']] })],
		['nothing', await bytes('')], ['no name', await bytes(a())],
		['empty', await bytes('assertion=')],
		['another name', await bytes(`Assertion=${a()}`)],
		['a list', await bytes(`assertion[]=${a()}`)],
		['garbage', await bytes('assertion=a.b.c')],
		['a NUL', await bytes(`assertion=${a()}%00`)],
		['half an escape', await bytes(`assertion=${a()}%`)],
		['spaces', await bytes(`assertion=+${a()}`)],
		['no content type', await post(w, { fields: form(),
			type: null })],
		['JSON', await bytes(JSON.stringify({ assertion: a() }),
		    { type: 'application/json' })],
		['plain text', await post(w, { fields: form(),
			type: 'text/plain' })],
		['multipart', await bytes('--x\r\nContent-Disposition: ' +
		    `form-data; name="assertion"\r\n\r\n${a()}\r\n--x--\r\n`,
		{ type: 'multipart/form-data; boundary=x' })]])
		isRefused(t, res, name);
	for (const [name, body] of [
		['a huge form', `assertion=${a()}&x=${'y'.repeat(20000)}`],
		['a huge assertion', `assertion=${'a'.repeat(60000)}`]]) {
		const res = await bytes(body);

		t.ok([400, 413].includes(res.status), name, res.status);
		t.eq(res.all('set-cookie'), [], `${name}: no cookie`);
	}
	isJoined(t, await post(w, { fields: [['x', 'y'], ...form()] }),
	    w.url('/seen.php'), 'fields more');
	isJoined(t, await post(w, { fields: form(),
		type: 'application/x-www-form-urlencoded; charset=UTF-8' }),
	w.url('/seen.php'), 'a charset');
});

test('where the form comes from does not count', proves('R-5-2'),
    async (t) => {
	for (const headers of [[['Origin', 'null']],
		[['Origin', 'http://127.0.0.1:9'],
			['Sec-Fetch-Site', 'cross-site'],
			['Referer', 'http://127.0.0.1:9/']],
		[['Cookie', `${COOKIE}=garbage; __Host-tidewell=x`]],
		[['Authorization', 'Basic eDp5']], [['DPoP', 'x']]])
		isJoined(t, await join(agent, s, {}, {}, { headers }),
		    w.url('/seen.php'), headers[0].join(': '));
});

test('who has no Session makes us fetch nothing', proves('R-5-11'),
    async (t) => {
	const unknown = new Agent(w), known = new Agent(w);
	const his = await known.session();

	isRefused(t, await join(unknown, s), 'unknown client');
	isRefused(t, await join(unknown, { user: new User(),
		id: `ses_AA${random(16)}` }), 'unknown Session');
	t.eq([unknown.hits(), unknown.hits('jwks.json')], [0, 0],
	    'nothing of an unknown client');
	await w.age(known.id, -90000);
	const before = [known.hits(), known.hits('jwks.json')];
	isRefused(t, await join(known, s), 'a foreign Session');
	isRefused(t, await join(known, { user: new User(), id: his.id }),
	    'another User');
	await w.endSession(his.id);
	isRefused(t, await join(known, his), 'an ended Session');
	t.eq([known.hits(), known.hits('jwks.json')], before,
	    'nothing of a known one either');
});

test('each kind of key', proves('R-5-4'), async (t) => {
	for (const alg of ['RS256', 'PS256', 'EdDSA', 'ES384']) {
		const other = new Agent(w, { alg });

		isJoined(t, await join(other, await other.session(
		    new User(alg))), w.url('/seen.php'), alg);
	}
});

test('who joined, and why somebody did not, is written down',
    proves('R-6-13', 'R-5-14'), async (t) => {
	const mine = await agent.session(), other = new Agent(w);
	const rows = async (from) =>
	    Number(await w.sql(`SELECT count(*) FROM ${from}`));

	await tab(agent, mine);
	t.ok(await until(async () => await rows('poppy.audit a JOIN ' +
	    'poppy.session s ON s.sid = a.sid WHERE kind = ' +
	    `'browser_joined' AND a.sid = ${Data.sid(mine.id)} AND ` +
	    'a.client_no = s.client_no AND a.user_key = s.user_key') === 1),
	'the audit names client, User and Session');
	const his = await other.session();
	isRefused(t, await join(other, his, { return_to: 'http://x/' }), 'bad');
	t.ok(await w.logOf('browser', (l) => l.event === 'refused' &&
	    /return_to/.test(l.why)), 'the log has the reason');
	t.ok(await until(async () => await rows('poppy.audit WHERE ' +
	    "kind = 'refused' AND detail LIKE '%return_to%'") > 0, 15000),
	'and the audit');
});

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings,
			args: ['--browser-procs', '2'] });
		seenPages(w);
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
