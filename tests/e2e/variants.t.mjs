// Companies of other kinds, on a stack of their own: the address policy of
// production, an issuer with a path, short lives, a website alone.
import http2 from 'node:http2';
import net from 'node:net';
import { proves, run, sleep, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Conn, bytesOf, send } from './lib/http.mjs';
import { SERVER } from './lib/settings.mjs';
import { World } from './lib/world.mjs';

const PATH = '/.well-known/poppy.json';
const META = '/.well-known/oauth-authorization-server';
let w;

const get = (path, host) => send(w.url(path, host), { ca: w.ca });

// First the stack as begin() made it: agents only from public addresses.
test('production: no way to an inner address', proves('R-4.1-16', 'R-4.1-1'),
    async (t) => {
	const port = w.docs.base.split(':').pop();
	const seen = [];
	const trap = net.createServer((c) => {
		seen.push(c.remoteAddress);
		c.destroy();
	});
	const before = w.docs.connections;

	await new Promise((ok) => trap.listen(0, '::', ok));
	const inner = trap.address().port;
	for (const host of ['localhost', '127.0.0.1', '127.1', '127.0.0.2',
		'2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0',
		'localhost.', 'a.localhost', '[::1]', '[::]',
		'[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]',
		'[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]',
		'[2001:0:0:0:0:0:80ff:fffe]', '[fe80::1]', '[fc00::1]',
		'[ff02::1]', '10.0.0.1', '172.16.0.1', '192.168.0.1',
		'169.254.169.254', '[::ffff:169.254.169.254]', '100.64.0.1',
		'192.0.0.1', '198.18.0.1', '224.0.0.1', '240.0.0.1',
		'255.255.255.255', '127.0.0.1%00.example.com',
		'①②⑦.0.0.1', '127。0。0。1']) {
		for (const p of [port, inner]) {
			const a = new Agent(w);

			a.id = `https://${host}:${p}/${a.name}/agent.json`;
			const began = Date.now();
			t.refused(await a.token(new User()), 401,
			    'invalid_client', `${host}:${p}`);
			t.ok(Date.now() - began < 7000, `${host}: in time`);
		}
	}
	t.eq(w.docs.connections, before, 'connections to the agent');
	t.eq(seen, [], 'connections to an inner service');
	trap.close();
}, { timeout: 120000 });

test('an issuer with a path: the inserted URL, the appended one, no other',
    proves('R-3.2-2', 'R-3.2-3', 'R-3.1-6'), async (t) => {
	w.restart((c) => { c.issuer += '/tenant/one'; });
	const issuer = `${w.base}/tenant/one`;
	const inserted = await get(`${META}/tenant/one`);
	const appended = await get(`/tenant/one${META}`);

	t.eq(inserted.status, 200, 'inserted');
	t.eq(inserted.json?.issuer, issuer, 'issuer');
	t.eq(appended.status, 200, 'appended');
	t.eq(appended.json, inserted.json, 'the same document');
	for (const p of [META, `${META}/`, `${META}/tenant`, `${META}/tenant/`,
		`${META}/tenant/one/`, `${META}/tenant/one/x`, `${META}/other`,
		`/tenant${META}`])
		t.ok([404, 400].includes((await get(p)).status), p);
	for (const host of ['localhost', 'shop2.localhost'])
		t.eq((await get(PATH, host)).json?.auth?.issuer, issuer, host);
	w.tokenEndpoint = inserted.json.token_endpoint;
	const a = new Agent(w);
	t.eq((await a.token(new User(), { form: { client_assertion:
		a.clientAssertion({ aud: issuer }) } })).status, 200,
	    'aud = issuer');
	t.refused(await a.token(new User(), { form: { client_assertion:
		a.clientAssertion({ aud: w.base }) } }), 401, 'invalid_client',
	    'aud = a part of the issuer');
}, { timeout: 90000 });

test('short lives: a token and a Session end, and say so',
    proves('R-4.2-22', 'R-6-10', 'R-4.2-13', 'R-4.2-23'), async (t) => {
	w.restart((c) => {
		c.tokens = { session_seconds: 3 };
		c.sessions = { idle_seconds: 8, max_seconds: 12 };
	});
	w.tokenEndpoint = `${w.base}/poppy/oauth/token`;
	const a = new Agent(w);
	const s = await a.session();
	const began = Date.now();
	const at = (sec) => sleep(Math.max(0, began + sec * 1000 - Date.now()));

	t.eq(s.res.json.expires_in, 3, 'expires_in');
	t.eq((await a.call(s, 'GET', w.stock)).status, 200, 'fresh');
	await at(4.5);
	t.challenged(await a.call(s, 'GET', w.stock), 401, 'invalid_token',
	    'its time is over');
	const r = await a.session(s.user, { form: { session_id: s.id } });
	t.eq(r.id, s.id, 'renewed in time');
	t.eq((await a.call(r, 'GET', w.stock)).status, 200, 'new token');
	await at(10);
	const again = await a.token(s.user, { form: { session_id: s.id } });
	t.eq(again.status, 200, 'used 5.5 s ago, so it lives');
	await at(14);
	t.refused(await a.token(s.user, { form: { session_id: s.id } }), 400,
	    'invalid_session', 'past its longest life');
	const idle = await a.session();
	await sleep(9500);
	t.refused(await a.token(idle.user, { form: { session_id: idle.id } }),
	    400, 'invalid_session', 'not used for too long');
}, { timeout: 120000 });

test('a website alone: no auth, no apis, no endpoints', proves('R-3.1-5',
    'R-3.1-12', 'R-3.1-17'), async (t) => {
	w.restart((c) => {
		c.issuer = '';
		delete c.apis;
		c.guard = [];
	});
	const { status, json } = await get(PATH);

	t.eq(status, 200, 'status');
	t.eq(json?.auth, undefined, 'no auth');
	t.eq(json?.apis, undefined, 'no apis');
	t.eq(json?.agent, undefined, 'no agent');
	t.eq(json?.web, {}, 'web without browser endpoint');
	t.eq((await get(META)).status, 404, 'no metadata');
	const a = new Agent(w);
	t.eq((await a.token(new User())).status, 404, 'no token endpoint');
}, { timeout: 60000 });

test('two processes of each program are one company',
    proves('R-4.3-8', 'R-4.2-6', 'R-3.2-5'), async (t) => {
	w.restart(() => {}, ['--auth-procs', '2', '--guard-procs', '2']);
	w.tokenEndpoint = `${w.base}/poppy/oauth/token`;
	const a = new Agent(w);
	const all = await Promise.all(Array.from({ length: 20 }, () =>
	    a.session()));

	t.eq(w.pids('auth').length, 2, 'processes');
	for (const s of all) {
		const r = await a.session(s.user, { form: { session_id: s.id } });

		t.eq(r.id, s.id, 'renewed');
		t.eq((await a.call(r, 'GET', w.stock)).status, 200, 'call');
		const proof = s.user.proof('GET', w.stockBare,
		    { token: s.token });
		const got = await Promise.all([0, 1, 2, 3].map(() =>
		    a.call(s, 'GET', w.stock, { proof })));
		t.eq(got.filter((x) => x.status === 200).length, 1, 'winners');
	}
	t.ok(a.hits() <= 2, 'fetches', a.hits());
}, { timeout: 90000 });

// A process that has never seen a client asks the database, whose copy is fresh,
// whatever strangers have their host doing meanwhile.
test('strangers with slow documents keep no known agent waiting',
    proves('R-4.1-16', 'R-4-4'), async (t) => {
	const known = new Agent(w);

	await known.session();		// one of two processes knows it now
	const slow = Array.from({ length: 6 }, () => new Agent(w));
	for (const a of slow)
		w.docs.set(`/${a.name}/agent.json`, () => {});
	const waiting = slow.map((a) => a.token(new User()));
	await sleep(300);
	for (let i = 0; i < 8; i++)
		t.eq((await known.token(new User())).status, 200, 'known');
	const got = await Promise.all(waiting);
	t.ok(got.every((r) => [401, 503].includes(r.status)), 'strangers',
	    got.map((r) => r.status));
	t.ok(got.some((r) => r.status === 503 && r.header('retry-after')),
	    'some had no place');
}, { timeout: 60000 });

// A call under HTTP/2; its status.
function overHttp2(s, method, body)
{
	const session = http2.connect(w.base, { ca: w.ca });

	return new Promise((ok, fail) => {
		const req = session.request({ ':method': method,
			':path': '/api/whoami.php',
			authorization: `DPoP ${s.token}`, dpop: s.user.proof(
			    method, w.whoami, { token: s.token }) });

		session.on('error', fail);
		req.on('response', (h) => ok(h[':status']));
		req.on('error', fail);
		req.end(body);
	}).finally(() => session.close());
}

// Under HTTP/2 lighttpd gives the guard the body of a small request, and PHP
// none, so there it is off.
test('who speaks HTTP/2 is answered, and PHP gets the body',
    proves('R-4.3-1'), async (t) => {
	w.restart((c) => {
		for (const r of c.guard[0].rules)
			if (r.path.endsWith('whoami.php'))
				r.methods = ['GET', 'POST'];
	});
	const s = await new Agent(w).session();

	if (SERVER === 'apache') {
		t.eq(await overHttp2(s, 'GET'), 200, 'GET');
		t.eq(await overHttp2(s, 'POST', 'hello'), 200, 'POST');
		return;
	}
	const c = await Conn.open({ host: 'localhost', port: w.port, ca: w.ca,
		alpn: ['h2', 'http/1.1'] });

	try {
		t.eq(c.sock.alpnProtocol, 'http/1.1', 'protocol');
		await c.write(bytesOf({ method: 'POST', target: '/api/whoami.php',
			host: `localhost:${w.port}`, body: 'hello', headers: [
				['Authorization', `DPoP ${s.token}`],
				['DPoP', s.user.proof('POST', w.whoami,
				    { token: s.token })]] }));
		t.eq((await c.response({ method: 'POST' })).status, 200,
		    'status');
	} finally {
		c.close();
	}
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			delete c.agents.allow_networks;
		} });
	},
	after: () => w?.close(),
});
