// How often an agent may ask, over all processes together; whose address it is;
// and what the audit says about who was refused.
import tls from 'node:tls';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { ASSERTION_TYPE, Agent, User, encode } from './lib/agent.mjs';
import { AUTHORIZER, RESPONDER, Shot, environment, request }
	from './lib/fcgi.mjs';
import { Conn, bytesOf } from './lib/http.mjs';
import { random, tampered } from './lib/jose.mjs';
import { World } from './lib/world.mjs';

const FORM = ['Content-Type', 'application/x-www-form-urlencoded'];
const PER_ADDRESS = 120, REFUSED = 40, CALLS = 30, OPEN = 50;
let w, agent, auths, guards;

// Limits count by minutes of the database's clock: a test that counts one must
// not begin at its end.
async function early(need = 25)
{
	const left = 60 - (Date.now() / 1000) % 60;

	if (left < need)
		await sleep((left + 0.5) * 1000);
}

// An address that nothing else has used.
let last = 0;
const fresh = () => `198.51.100.${++last}`;

function tokenShot(address, { user = new User(), form = {}, proof,
	more = {} } = {})
{
	const body = encode(agent.form(user, form));

	return request(RESPONDER, { ...environment('POST', w.tokenEndpoint,
	    [FORM, ['DPoP', proof ?? user.proof('POST', w.tokenEndpoint)]], body),
	REMOTE_ADDR: address, ...more }, body);
}

async function fire(path, bytes)
{
	return (await Shot.open(path)).fire(bytes);
}

function retryAfter(res)
{
	return /^Retry-After: (\d+)\r?$/mi.exec(res.head ?? '')?.[1];
}

// A 429 as it must be: code, integer header, not cached.
function limited(t, res, what)
{
	t.eq(res.status, 429, what);
	t.eq(res.json?.error, 'rate_limited', 'its code');
	const s = Number(retryAfter(res));

	t.ok(Number.isInteger(s) && s >= 1 && s <= 60, 'Retry-After', res.head);
	t.ok(/^Cache-Control: no-store\r?$/mi.test(res.head), 'no-store');
	return s;
}

async function audit(where)
{
	return Number(await w.sql('SELECT coalesce(sum(n), 0) FROM poppy.audit ' +
	    `WHERE ${where}`));
}

test('120 token requests a minute of an address, over two processes; the ' +
    '121st is 429', proves('A-22', 'R-4.2-31', 'R-4.1-13'), async (t) => {
	const address = fresh();
	let ok = 0;

	await early();
	const before = await w.countSessions();
	for (let i = 0; i < PER_ADDRESS + 20; i += 10)
		ok += (await Promise.all(Array.from({ length: 10 }, (_, k) =>
		    fire(auths[k % 2], tokenShot(address)))))
		    .filter((r) => r.status === 200).length;
	t.eq(ok, PER_ADDRESS, 'of 140 sent to two processes');
	t.eq(await w.countSessions() - before, PER_ADDRESS, 'Sessions');
	limited(t, await fire(auths[0], tokenShot(address)), 'one process');
	limited(t, await fire(auths[1], tokenShot(address)), 'the other');
	t.eq((await fire(auths[0], tokenShot(fresh()))).status, 200,
	    'another address is not touched');
	t.eq((await fire(auths[1], tokenShot(fresh()))).status, 200,
	    'nor is one at the other process');
	t.ok(await audit(`kind = 'limit_address' AND address = '${address}'`) > 0,
	    'the audit tells it');
}, { timeout: 90000 });

test('what is refused by a limit has spent nothing, and passes a minute later',
    proves('R-4.2-31'), async (t) => {
	const address = fresh(), user = new User();

	await early();
	for (let i = 0; i < PER_ADDRESS; i += 10)
		await Promise.all(Array.from({ length: 10 }, (_, k) =>
		    fire(auths[k % 2], tokenShot(address))));
	const form = { assertion: agent.sessionAssertion(user, { exp:
	    Math.floor(Date.now() / 1000) + 200 }), client_assertion:
	    agent.clientAssertion({ exp: Math.floor(Date.now() / 1000) + 200 }) };
	const s = limited(t, await fire(auths[0], tokenShot(address,
	    { user, form })), 'one too many');

	await sleep(s * 1000);
	t.eq((await fire(auths[0], tokenShot(address, { user, form }))).status,
	    200, 'the same assertions after Retry-After');
}, { timeout: 120000 });

test('IPv6 addresses count as the /64 they are in', proves('A-22'),
    async (t) => {
	let ok = 0, n = 0;

	await early();
	for (let i = 0; i < PER_ADDRESS + 10; i += 10)
		ok += (await Promise.all(Array.from({ length: 10 }, (_, k) =>
		    fire(auths[k % 2], tokenShot(`2001:db8:1:2::${
			(++n).toString(16)}`)))))
		    .filter((r) => r.status === 200).length;
	t.eq(ok, PER_ADDRESS, 'of 130 different addresses');
	t.eq((await fire(auths[0], tokenShot('2001:db8:1:3::1'))).status, 200,
	    'the neighbouring /64 is not touched');
}, { timeout: 90000 });

test('through the web server: one address is full, the next is not',
    proves('A-22', 'R-4.2-31'), async (t) => {
	const post = async (localAddress) => {
		const user = new User();
		const sock = tls.connect({ host: '127.0.0.1', port: w.port,
			servername: 'localhost', ca: w.ca, localAddress,
			ALPNProtocols: ['http/1.1'] });

		await new Promise((ok, fail) => sock.once('secureConnect', ok)
		    .once('error', fail));
		const c = new Conn(sock);
		await c.write(bytesOf({ method: 'POST', target:
		    '/poppy/oauth/token', host: `localhost:${w.port}`,
		headers: [FORM, ['Connection', 'close'],
			['DPoP', user.proof('POST', w.tokenEndpoint)]],
		body: encode(agent.form(user)) }));
		const res = await c.response({ method: 'POST' });

		c.close();
		return res;
	};

	await early();
	await w.sql('INSERT INTO poppy.limit_count SELECT floor(extract(epoch ' +
	    "FROM clock_timestamp()) / 60), 1, '\\x00000000000000000000ffff" +
	    "7f000005', 0, 119 ON CONFLICT (minute, kind, key, shard) " +
	    'DO UPDATE SET n = 119');
	t.eq((await post('127.0.0.5')).status, 200, 'the 120th');
	const res = await post('127.0.0.5');

	t.eq(res.status, 429, 'the 121st');
	t.eq(res.json?.error, 'rate_limited', 'its code');
	t.ok(/^[1-9]\d?$/.test(res.header('retry-after')), 'Retry-After',
	    res.header('retry-after'));
	t.eq((await post('127.0.0.6')).status, 200, 'another address');
}, { timeout: 90000 });

test('behind a proxy of the settings each client has a limit of its own',
    proves('A-22'), async (t) => {
	const proxy = '10.9.8.7';
	const via = (forwarded, remote = proxy) => tokenShot(remote,
	    { more: { HTTP_X_FORWARDED_FOR: forwarded } });

	await early();
	const one = fresh(), two = fresh();
	let ok = 0;
	for (let i = 0; i < PER_ADDRESS + 10; i += 10)
		ok += (await Promise.all(Array.from({ length: 10 }, (_, k) =>
		    fire(auths[k % 2], via(one)))))
		    .filter((r) => r.status === 200).length;
	t.eq(ok, PER_ADDRESS, 'of one client');
	limited(t, await fire(auths[0], via(`203.0.113.${last}, ${one}`)),
	    'whatever it writes in front');
	limited(t, await fire(auths[0], via(`${two}, 10.1.1.1, ${one}`)),
	    'a proxy\'s address, even');
	t.eq((await fire(auths[0], via(two))).status, 200,
	    'another client of that proxy');
	limited(t, await fire(auths[0], via(two, one)),
	    'who is no proxy can\'t name another');
	t.ok(await audit(`kind = 'limit_address' AND address = '${one}'`) > 0,
	    'the audit names the client');
	t.eq(await audit(`address = '${proxy}'`), 0, 'and never the proxy');
}, { timeout: 90000 });

test('a flood of bad signatures is answered 429 without being looked at',
    proves('A-22', 'R-4.3-28'), async (t) => {
	const address = fresh(), user = new User();
	const bad = () => tokenShot(address, { user, proof: tampered(
	    user.proof('POST', w.tokenEndpoint)) });
	const got = [];

	for (let i = 0; i < REFUSED + 20; i++)
		got.push(await fire(auths[0], bad()));
	const refused = got.filter((r) => r.status === 400).length;

	t.ok(refused >= REFUSED && refused <= REFUSED + 3,
	    'refused for what it is', refused);
	t.ok(got.slice(-10).every((r) => r.status === 429), 'then 429');
	limited(t, got.at(-1), 'the last');
	t.eq((await fire(auths[0], tokenShot(fresh()))).status, 200,
	    'another address is not touched');
	t.eq((await fire(auths[1], tokenShot(address))).status, 200,
	    'nor is this one at another process');
	t.ok(await until(async () => await audit("kind = 'refused' AND detail " +
	    `LIKE 'invalid_dpop_proof: %' AND address = '${address}'`) ===
	    refused, 25000), 'the audit has them as one number');
	t.ok(Number(await w.sql('SELECT count(*) FROM poppy.audit WHERE ' +
	    `address = '${address}' AND kind = 'refused'`)) <= 6,
	'in a few rows');
	t.ok(await audit("kind = 'refused' AND detail LIKE 'rate_limited: %' " +
	    `AND address = '${address}'`) > 0, 'and that it was limited');
}, { timeout: 60000 });

test('calls of a Session over its limit are 429, those of another are not',
    proves('R-4.3-28'), async (t) => {
	const s = await agent.session(), other = await agent.session();
	const call = (who, vars = {}) => fire(guards[0], request(AUTHORIZER, {
		...environment('GET', w.stock, [
			['Authorization', `DPoP ${who.token}`],
			['DPoP', who.user.proof('GET', w.stockBare,
			    { token: who.token })]]), ...w.guardVars, ...vars }));
	let ok = 0, res;

	for (let i = 0; i < CALLS + 15; i++) {
		res = await call(s, { REMOTE_ADDR: fresh() });
		ok += res.status === 200;
	}
	t.ok(ok >= CALLS && ok <= CALLS + 3, 'passed', ok);
	limited(t, res, 'the last one');
	t.eq((await call(other)).status, 200, 'another Session');
	const through = await agent.call(s, 'GET', w.stock);

	t.eq(through.status, 429, 'through the web server');
	t.ok(/^[1-9]\d?$/.test(through.header('retry-after')), 'Retry-After');
	t.eq(through.json?.error, 'rate_limited', 'its code');
}, { timeout: 60000 });

test('revocations have a limit of their own', proves('R-4.3-28'),
    async (t) => {
	const address = fresh(), url = `${w.base}/poppy/oauth/revoke`;
	const revoke = (token) => {
		const body = encode([['token', token], ['client_id', agent.id],
			['client_assertion_type', ASSERTION_TYPE],
			['client_assertion', agent.clientAssertion()]]);

		return fire(auths[0], request(RESPONDER, { ...environment('POST',
		    url, [FORM], body), REMOTE_ADDR: address }, body));
	};

	await early();
	const s = await agent.session();
	for (let i = 0; i < PER_ADDRESS; i += 10)
		await Promise.all(Array.from({ length: 10 }, () =>
		    revoke(`pst_${random(34)}`)));
	limited(t, await revoke(s.token), 'one too many');
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200,
	    'the token was not touched');
	t.eq((await fire(auths[0], tokenShot(address))).status, 200,
	    'token requests of that address go on');
}, { timeout: 90000 });

// What anybody may ask, of a process each.
const OPEN_ONES = [
	['poppy.json', () => [auths[0], RESPONDER, '/.well-known/poppy.json']],
	['OAuth server metadata', () => [auths[0], RESPONDER,
		'/.well-known/oauth-authorization-server']],
	['doctor\'s documents, those that are not there too', () => [auths[0],
		RESPONDER, `/poppy/doctor/${random(22).slice(0, 22)}.json`]],
	['an open rule of the guard', () => [guards[0], AUTHORIZER,
		'/api/openapi.json']],
];
for (const [what, how] of OPEN_ONES)
	test(`${what}: so many a minute of an address`, proves('A-22'),
	    async (t) => {
		const [sock, role, path] = how(), address = fresh();
		const get = (from, method = 'GET', target = path) => fire(sock,
		    request(role, { ...environment(method, w.url(target), []),
			...role === AUTHORIZER ? w.guardVars : {},
			REMOTE_ADDR: from }));
		const first = (await get(address)).status;
		let n = 1, res;

		while ((res = await get(address)).status === first && n < 200)
			n++;
		t.ok(n >= OPEN && n <= OPEN + 10, 'answered', n);
		limited(t, res, 'then');
		t.eq((await get(address, 'HEAD')).status, 429, 'HEAD, too');
		t.eq((await get(fresh())).status, first, 'another address');
		if (role === RESPONDER)
			limited(t, await get(address, 'GET',
			    '/.well-known/poppy.json'), 'one bucket for all');
		else
			t.eq((await get(address, 'GET', '/api/stock.php'))
			    .status, 401, 'what needs a token is asked for one');
		t.ok(await until(async () => await audit("kind = 'refused' AND " +
		    `detail LIKE 'rate_limited: %' AND address = '${address}'`) >
		    0, 25000), 'the audit tells it');
	}, { timeout: 60000 });

test('what the database refuses is in the audit, with whose it was',
    proves('A-22'), async (t) => {
	const user = new User(), address = fresh();
	const proof = user.proof('POST', w.tokenEndpoint);

	await fire(auths[0], tokenShot(address, { user, proof }));
	await fire(auths[0], tokenShot(address, { user, proof }));
	await fire(auths[0], tokenShot(address, { user, form: {
		session_id: (await agent.session()).id } }));
	const like = `address = '${address}' AND client_id = '${agent.id}' AND ` +
	    "octet_length(user_key) = 32 AND login = 'poppy_auth'";

	t.eq(await audit(`kind = 'replay' AND detail = 'proof' AND ${like}`), 1,
	    'a replay');
	t.ok(await audit("kind = 'client_new' AND client_id = " +
	    `'${agent.id}'`) === 1, 'when the client was first seen');
	await w.block(agent.id, true);
	await fire(auths[0], tokenShot(address, { user }));
	await w.block(agent.id, false);
	t.eq(await audit("kind = 'client_blocked' AND client_id = " +
	    `'${agent.id}'`), 1, 'that it was blocked');
	t.eq(await audit(`kind = 'blocked' AND ${like}`), 1, 'what it then tried');
	t.eq((await w.sql('SELECT count(*) FROM poppy.audit WHERE ' +
	    `strpos(audit::text, '${user.sub}') > 0`)).trim(), '0',
	'and no User ID');
}, { timeout: 60000 });

test('addresses are hashed where the settings ask for it', [], async (t) => {
	const address = fresh(), user = new User();

	w.restart((c) => bend(c, { addresses: 'hashed' }), []);
	[auths, guards] = [await w.twins('auth'), await w.twins('guard')];
	const proof = user.proof('POST', w.tokenEndpoint);
	for (let i = 0; i < 2; i++)
		await fire(auths[0], tokenShot(address, { user, proof }));
	await fire(auths[0], tokenShot(address, { proof: 'x' }));
	t.eq(await audit(`address LIKE '%${address}%'`), 0, 'never plain');
	t.eq(await audit("kind = 'replay' AND address ~ " +
	    "'^hmac:[A-Za-z0-9_-]{22}$'"), 1, 'a hash');
	t.ok(await until(async () => await audit("kind = 'refused' AND address ~ " +
	    "'^hmac:'") > 0, 25000), 'in aggregated rows, too');
}, { timeout: 60000 });

function bend(c, audit)
{
	c.proxies = ['10.0.0.0/8'];
	c.limits = { token_per_address: PER_ADDRESS,
		refused_per_address: REFUSED, calls_per_session: CALLS,
		open_per_address: OPEN };
	if (audit)
		c.audit = audit;
}

await run({
	before: async () => {
		w = await World.up({ bend: (c) => bend(c) });
		agent = new Agent(w);
		await agent.session();
		auths = await w.twins('auth');
		guards = await w.twins('guard');
	},
	after: () => w?.close(),
});
