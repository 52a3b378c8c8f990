// Requests that are oversized, truncated, broken: an answer of 4xx, never a
// hang, and the next request is served.
import { proves, run, sleep, test } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { Conn, bytesOf } from './lib/http.mjs';
import { SERVER } from './lib/settings.mjs';
import { World } from './lib/world.mjs';

let w, agent;
const TYPE = ['Content-Type', 'application/x-www-form-urlencoded'];
const path = () => new URL(w.tokenEndpoint).pathname;

const open = () => Conn.open({ host: 'localhost', port: w.port, ca: w.ca });

// Send raw bytes and say the status: 0 for a closed connection.
async function raw(bytes, { timeout = 15000 } = {})
{
	const c = await open();

	try {
		await c.write(bytes);
		return (await c.response({ timeout })).status;
	} catch (e) {
		if (/no answer/.test(e.message))
			throw e;
		return 0;
	} finally {
		c.close();
	}
}

async function alive(t)
{
	t.eq((await agent.token(new User())).status, 200, 'served afterwards');
}

function head(over = {})
{
	const user = new User();
	const body = over.body ?? encode(agent.form(user));

	return { method: 'POST', target: path(), host: `localhost:${w.port}`,
		headers: [TYPE, ['DPoP', user.proof('POST', w.tokenEndpoint)]],
		...over, body };
}

const RAW = [
	['no HTTP', 'hello\r\n\r\n', [400, 0]],
	['HTTP/0.9', 'GET /\r\n\r\n', [400, 0]],
	// Apache takes every version above 1.0 for 1.1.
	['HTTP/3.7', 'GET /.well-known/poppy.json HTTP/3.7\r\n' +
		'Host: localhost\r\n\r\n',
		SERVER === 'apache' ? [200] : [400, 505, 0]],
	['no Host', 'GET /.well-known/poppy.json HTTP/1.1\r\n\r\n', [400]],
	['a header without colon',
		'GET / HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n', [400]],
	['a space before the colon',
		'GET / HTTP/1.1\r\nHost: localhost\r\nDPoP : x\r\n\r\n', [400]],
	['a NUL in a header',
		'GET / HTTP/1.1\r\nHost: localhost\r\nA: x\0y\r\n\r\n', [400]],
	['a bare CR in a header',
		'GET / HTTP/1.1\r\nHost: localhost\r\nA: x\ry\r\n\r\n', [400]],
	['a NUL in the path', 'GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n',
		[400]],
	['a length that is none',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Content-Length: x\r\n\r\n', [400]],
	['a negative length',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Content-Length: -1\r\n\r\n', [400]],
	['two lengths',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Content-Length: 1\r\nContent-Length: 2\r\n\r\nab', [400]],
	['a chunk size that is none',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Transfer-Encoding: chunked\r\n\r\nzz\r\n', [400]],
	['a chunk that is longer than it says',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n', [400]],
	['a chunk beyond all',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n',
		[400, 413]],
	['an unknown transfer encoding',
		'POST /poppy/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
		'Transfer-Encoding: gzip\r\n\r\n', [400, 501]],
	// To Apache it is a method like others, and the page is the shop's.
	['CONNECT', 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
		SERVER === 'apache' ? [200, 400] : [400, 404, 405, 501]],
	['a method of 5000 letters', `${'Q'.repeat(5000)} /poppy/oauth/token ` +
		'HTTP/1.1\r\nHost: localhost\r\n\r\n', [400, 405, 501, 0]],
];
for (const [why, bytes, allowed] of RAW)
	test(`raw: ${why}`, [], async (t) => {
		const status = await raw(bytes);

		t.ok(allowed.includes(status), 'status', status);
		await alive(t);
	});

test('headers too large', proves('R-4.3-11'), async (t) => {
	for (const headers of [
		[['DPoP', 'x'.repeat(40000)]], [['A', 'x'.repeat(100000)]],
		[['Cookie', 'x'.repeat(70000)]],
		[['Authorization', `DPoP ${'A'.repeat(50000)}`]],
		Array.from({ length: 4000 }, (_, i) => [`X-${i}`, 'x'.repeat(20)])]) {
		const status = await raw(bytesOf(head({
			headers: [TYPE, ...headers] })));

		t.ok([400, 431, 0].includes(status), headers[0][0], status);
	}
	await alive(t);
});

test('a path too long', [], async (t) => {
	const status = await raw(bytesOf(head({
		target: `${path()}/${'x'.repeat(100000)}` })));

	t.ok([400, 404, 414, 431].includes(status), 'status', status);
	await alive(t);
});

test('a body too large is 413', [], async (t) => {
	for (const n of [70000, 1 << 20, 20 << 20]) {
		const user = new User();
		const res = await agent.token(user, { body:
			`a=${'x'.repeat(n)}` });

		t.eq(res.status, 413, `${n} bytes`);
	}
	await alive(t);
}, { timeout: 60000 });

test('a chunked body is a body', proves('R-4.2-1'), async (t) => {
	const h = head();
	const body = h.body;

	h.headers.push(['Transfer-Encoding', 'chunked']);
	h.body = undefined;
	const cut = body.length >> 1;
	const chunk = (s) => `${s.length.toString(16)}\r\n${s}\r\n`;
	t.eq(await raw(Buffer.concat([bytesOf(h), Buffer.from(
	    chunk(body.slice(0, cut)) + chunk(body.slice(cut)) + '0\r\n\r\n')])),
	    200, 'status');
});

test('Expect: 100-continue', proves('R-4.2-1'), async (t) => {
	const h = head();

	h.headers.push(['Expect', '100-continue']);
	t.eq(await raw(bytesOf(h)), 200, 'status');
});

test('half requests hold nobody up', [], async (t) => {
	const whole = bytesOf(head());
	const conns = [];

	for (const part of [0, 10, 60, whole.length >> 1, whole.length - 1])
		for (let i = 0; i < 6; i++) {
			const c = await open();

			await c.write(whole.subarray(0, part));
			conns.push(c);
		}
	const began = Date.now();
	for (let i = 0; i < 20; i++)
		await alive(t);
	t.ok(Date.now() - began < 5000, 'in time', Date.now() - began);
	// One that goes on later is served all the same.
	const last = conns.at(-1);
	await last.write(whole.subarray(whole.length - 1));
	t.eq((await last.response({ timeout: 5000 })).status, 200, 'the late one');
	for (const c of conns)
		c.close();
	await sleep(100);
	await alive(t);
}, { timeout: 40000 });

test('a client that goes away mid-request harms nothing', [], async (t) => {
	for (let i = 0; i < 50; i++) {
		const c = await open();

		await c.write(bytesOf(head()));
		c.close();
	}
	await alive(t);
}, { timeout: 30000 });

test('pipelined requests are answered in order', proves('R-4.2-1'),
    async (t) => {
	const c = await open();

	// No 400 in the middle: Apache closes the connection behind one.
	await c.write(Buffer.concat([bytesOf(head()), bytesOf(head({
		body: 'a=b' })), bytesOf(head())]));
	const got = [];
	for (let i = 0; i < 3; i++)
		got.push((await c.response()).status);
	c.close();
	t.eq(got, [200, 401, 200], 'statuses');
});

test('an empty form, and one that is JSON, have no client', proves('R-4.2-32',
    'R-4.1-6'), async (t) => {
	for (const body of ['', '{"grant_type":"x"}', '[]', 'x'])
		t.refused(await agent.token(new User(), { body }), 401,
		    'invalid_client', body);
});

// Forms out of shape are invalid_request.
const FORMS = [
	['bad percent', (f) => `${f}&x=%`, 'invalid_request', 400],
	['bad hex', (f) => `${f}&x=%zz`, 'invalid_request', 400],
	['NUL in a value', (f) => `${f}&x=%00`, 'invalid_request', 400],
	['raw NUL', (f) => `${f}&x=\0`, 'invalid_request', 400],
	['bad UTF-8', (f) => `${f}&x=%ff%fe`, 'invalid_request', 400],
	['thousands of parameters', (f) =>
		`${f}${'&a=b'.repeat(5000)}`, 'invalid_request', 400],
];
for (const [why, bend, code, status] of FORMS)
	test(`form: ${why}`, proves('R-4.2-32'), async (t) => {
		const user = new User();

		t.refused(await agent.token(user, { body:
			bend(encode(agent.form(user))) }), status, code, why);
	});

test('empty pieces of a form are nothing', proves('R-4.2-1'), async (t) => {
	const user = new User();

	t.eq((await agent.token(user, { body:
		`&&${encode(agent.form(user))}&&` })).status, 200, 'status');
});

test('a compressed body is refused', [], async (t) => {
	const res = await agent.token(new User(), { headers:
		[['Content-Encoding', 'gzip']] });

	t.ok([200, 400, 415].includes(res.status), 'status', res.status);
	await alive(t);
});

test('garbage instead of TLS', [], async (t) => {
	for (const junk of ['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\xff\xff',
		'\0'.repeat(1000)]) {
		const c = await Conn.open({ host: 'localhost', port: w.port,
			plain: true });

		await c.write(junk);
		await sleep(30);
		c.close();
	}
	await alive(t);
});

test('no malformed request left a Session', proves('R-4.2-32'), async (t) => {
	const before = await w.countSessions();

	await agent.token(new User(), { body: 'x'.repeat(70000) });
	await raw(bytesOf(head()).subarray(0, -1).subarray(0, 400), {
		timeout: 1 }).catch(() => 0);
	await agent.token(new User(), { body: `${encode(agent.form(
	    new User()))}&x=%` });
	t.eq(await w.countSessions(), before, 'Sessions');
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		await agent.session();
	},
	after: () => w?.close(),
});
