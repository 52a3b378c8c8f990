// Agents' documents, hostile in every way (section 4.1): each ends in 401
// invalid_client, in time, and nobody else is harmed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Docs } from './lib/docs.mjs';
import { jws, makeKey, random } from './lib/jose.mjs';
import { World } from './lib/world.mjs';

let w, good;

async function refused(t, a, what, opts = {})
{
	const began = Date.now();
	const res = await a.token(new User(), opts);

	t.refused(res, 401, 'invalid_client', what);
	t.ok(Date.now() - began < 9000, `${what}: in time`, Date.now() - began);
	return res;
}

// An agent under an id of any kind, as far as our words go.
function named(id)
{
	const a = new Agent(w);

	a.id = id;
	return a;
}

test('ids that are no proper HTTPS URL are refused without a fetch',
    proves('R-4.1-1', 'R-4.1-16'), async (t) => {
	const before = w.docs.connections;
	const host = w.docs.base.slice('https://'.length);

	for (const id of [`http://${host}/x/agent.json`, 'agent', '', ' ',
		'https://', `https://user@${host}/x/agent.json`,
		`https://user:pw@${host}/x/agent.json`,
		`https://${host}/x/agent.json#frag`, `https://${host}/x/../agent.json`,
		`https://${host}/x/%2e%2e/agent.json`, `https://${host}/./agent.json`,
		`https://${host}/x\\agent.json`, `https://${host}/a b`,
		`https://${host}/x\r\nX: y`, `https://${host}/\x7f`,
		`HTTPS:/${host}/x`, `//${host}/x`, `ftp://${host}/x`,
		'file:///etc/passwd', 'javascript:alert(1)',
		`https://${host.replace(/:.*/, ':0')}/x`,
		`https://${host.replace(/:.*/, ':99999')}/x`,
		`https://${host}/${'x'.repeat(4000)}`, 'https://[::1/x',
		`https://ex ample/x`, 'https://.example/x', 'https://a..b/x'])
		await refused(t, named(id), JSON.stringify(id).slice(0, 60));
	t.eq(w.docs.connections, before, 'connections to the agent\'s host');
}, { timeout: 60000 });

test('a port outside the list is refused', proves('R-4.1-16'), async (t) => {
	for (const port of [22, 25, 5432, w.port + 7])
		await refused(t, named(`https://localhost:${port}/agent.json`),
		    `port ${port}`);
});

test('an agent that is not there', proves('R-4.1-1'), async (t) => {
	await refused(t, named(`${w.docs.base}/nobody/agent.json`), '404');
	await refused(t, named('https://no-such-host.invalid/agent.json'),
	    'no such host');
});

// Documents that are wrong; each function gets the agent and returns members.
const DOCUMENTS = [
	['names another URL', ['R-4.1-2'], (a) => ({ client_id: `${a.id}x` })],
	['names another host', ['R-4.1-2'], (a) => ({
		client_id: a.id.replace('localhost', 'LOCALHOST') })],
	['names nothing', ['R-4.1-2'], () => ({ client_id: undefined })],
	['names a list', ['R-4.1-2'], (a) => ({ client_id: [a.id] })],
	['jwks_uri missing', ['R-4.1-3'], () => ({ jwks_uri: undefined })],
	['jwks_uri missing, keys inline', ['R-4.1-3'], (a) => ({
		jwks_uri: undefined, jwks: a.jwks() })],
	['jwks_uri over http', ['R-4.1-3'], (a) => ({
		jwks_uri: a.document.jwks_uri.replace('https', 'http') })],
	['jwks_uri on another host', ['R-4.1-3'], () => ({
		jwks_uri: 'https://other.example/jwks.json' })],
	['jwks_uri on a look-alike', ['R-4.1-3'], (a) => ({
		jwks_uri: a.document.jwks_uri.replace('localhost',
		    'localhost.evil.example') })],
	['jwks_uri on a host that ends alike', ['R-4.1-3'], (a) => ({
		jwks_uri: a.document.jwks_uri.replace('localhost',
		    'evillocalhost') })],
	['jwks_uri with a user', ['R-4.1-3'], (a) => ({
		jwks_uri: a.document.jwks_uri.replace('https://',
		    'https://localhost@') })],
	['jwks_uri a number', ['R-4.1-3'], () => ({ jwks_uri: 1 })],
	['jwks_uri empty', ['R-4.1-3'], () => ({ jwks_uri: '' })],
	['jwks_uri relative', ['R-4.1-3'], () => ({ jwks_uri: '/jwks.json' })],
	['one foreign redirect_uri', ['R-4.1-4'], (a) => ({ redirect_uris: [
		...a.document.redirect_uris, 'https://evil.example/cb'] })],
	['redirect_uri over http', ['R-4.1-4'], (a) => ({ redirect_uris: [
		a.document.redirect_uris[0].replace('https', 'http')] })],
	['redirect_uri on a look-alike', ['R-4.1-4'], (a) => ({ redirect_uris: [
		a.document.redirect_uris[0].replace('localhost',
		    'localhost.evil.example')] })],
	['redirect_uri a script', ['R-4.1-4'], () => ({
		redirect_uris: ['javascript:alert(1)'] })],
	['redirect_uri of loopback', ['R-4.1-4'], () => ({
		redirect_uris: ['http://127.0.0.1/cb'] })],
	['redirect_uris a text', ['R-4.1-4'], (a) => ({
		redirect_uris: a.document.redirect_uris[0] })],
	['redirect_uris with a null', ['R-4.1-4'], () => ({
		redirect_uris: [null] })],
	['auth method none', ['R-4.1-6'], () => ({
		token_endpoint_auth_method: 'none' })],
	['auth method client_secret_basic', ['R-4.1-6'], () => ({
		token_endpoint_auth_method: 'client_secret_basic' })],
	['auth method a number', ['R-4.1-6'], () => ({
		token_endpoint_auth_method: 5 })],
];
for (const [why, rows, bend] of DOCUMENTS)
	test(`document: ${why}`, proves('R-4.2-26', ...rows), async (t) => {
		const a = new Agent(w);

		a.publish(a.jwks(), { ...a.document, ...bend(a) });
		await refused(t, a, why);
	});

test('a document with more than we know is taken',
    proves('R-3.3-3', 'R-3.3-2', 'R-3.1-19', 'R-4.1-6'), async (t) => {
	for (const doc of [{ extensions: { 'x.example/y': { version: '3', z: 1 },
		operations: { version: 1 } } }, { extensions: {} },
		{ jwks: { keys: [] }, token_endpoint_auth_method: undefined },
		{ 'x-more': [{ a: null }], client_name: undefined,
			logo_uri: 'https://localhost/logo.png' }]) {
		const a = new Agent(w, { doc });

		t.eq((await a.token(new User())).status, 200,
		    JSON.stringify(doc));
	}
});

// Bodies that are no such document. text(a) gets the right one.
const BODIES = [
	['empty', () => ''],
	['HTML', () => '<html>'],
	['cut', (d) => d.slice(0, -2)],
	['more behind', (d) => `${d} x`],
	['a list', (d) => `[${d}]`],
	['a text', (d) => JSON.stringify(d)],
	['null', () => 'null'],
	['a member twice', (d) => d.replace(/^\{("\w+":)/, '{$1"x",$1')],
	['single quotes', (d) => d.replaceAll('"', "'")],
	['a comment', (d) => `/* x */${d}`],
	['NUL behind', (d) => `${d}\0`],
	['NUL in a name', (d) => `{"a\\u0000b":1,${d.slice(1)}`],
	['NaN', (d) => `{"a":NaN,${d.slice(1)}`],
	['a lone surrogate', (d) => `{"a":"\\ud800",${d.slice(1)}`],
	['bad UTF-8', (d) => Buffer.concat([Buffer.from('{"a":"'),
		Buffer.from([0xff, 0xfe]), Buffer.from(`",${d.slice(1)}`)])],
	['deep nesting', (d) => `{"a":${'['.repeat(500)}${']'.repeat(500)},` +
	    d.slice(1)],
	['over 64 KiB', (d) => `{"a":"${'x'.repeat(66000)}",${d.slice(1)}`],
	['compressed unasked', (d) => gzipSync(d)],
];
for (const [why, bend] of BODIES)
	for (const which of ['agent.json', 'jwks.json'])
		test(`${which} is ${why}`, proves('R-4.1-16', 'R-4.2-26'),
		    async (t) => {
			const a = new Agent(w);
			const right = JSON.stringify(which === 'agent.json' ?
			    a.document : a.jwks());

			w.docs.set(`/${a.name}/${which}`, (req, res) => {
				res.writeHead(200, { 'Content-Type':
					'application/json' });
				res.end(bend(right));
			});
			await refused(t, a, why);
		});

// Answers out of order, for both documents.
const ANSWERS = [
	['301', (a, to) => (req, res) => {
		res.writeHead(301, { Location: to });
		res.end();
	}],
	['302', (a, to) => (req, res) => {
		res.writeHead(302, { Location: to });
		res.end();
	}],
	['307 with the document in it', (a, to, right) => (req, res) => {
		res.writeHead(307, { Location: to });
		res.end(right);
	}],
	['401', () => (req, res) => { res.writeHead(401); res.end('{}'); }],
	['404 with the document in it', (a, to, right) => (req, res) => {
		res.writeHead(404);
		res.end(right);
	}],
	['500', (a, to, right) => (req, res) => {
		res.writeHead(500);
		res.end(right);
	}],
	['204', () => (req, res) => { res.writeHead(204); res.end(); }],
	['206', (a, to, right) => (req, res) => {
		res.writeHead(206, { 'Content-Range': 'bytes 0-9/10' });
		res.end(right);
	}],
	['a cut body', (a, to, right) => (req, res) => {
		res.writeHead(200, { 'Content-Length': right.length + 100 });
		res.write(right);
		setTimeout(() => req.socket.destroy(), 50);
	}],
	['endless', () => (req, res) => {
		const more = () => {
			while (!res.destroyed && res.write('x'.repeat(16384)))
				;
		};

		res.writeHead(200);
		res.on('drain', more);
		more();
	}],
	['a connection closed', () => (req) => req.socket.destroy()],
];
for (const [why, make] of ANSWERS)
	for (const which of ['agent.json', 'jwks.json'])
		test(`${which} answers ${why}`,
		    proves('R-4.1-16', 'R-4.1-1', 'R-4.2-26'), async (t) => {
			const a = new Agent(w);
			const right = JSON.stringify(which === 'agent.json' ?
			    a.document : a.jwks());

			w.docs.set(`/${a.name}/other`, right);
			w.docs.set(`/${a.name}/${which}`, make(a,
			    `${w.docs.base}/${a.name}/other`, right));
			await refused(t, a, why);
			t.eq(a.hits('other'), 0, 'redirects followed');
		});

test('a silent host and one that trickles end within the limit, and others ' +
    'are served meanwhile', proves('R-4.1-16'), async (t) => {
	const silent = new Agent(w), trickle = new Agent(w);

	w.docs.set(`/${silent.name}/agent.json`, () => {});
	w.docs.set(`/${trickle.name}/agent.json`, (req, res) => {
		res.writeHead(200);
		const timer = setInterval(() => res.write(' '), 300);

		req.socket.on('close', () => clearInterval(timer));
	});
	const began = Date.now();
	const waiting = [refused(t, silent, 'silent'),
		refused(t, trickle, 'trickling')];
	let served = 0, slowest = 0;
	while (Date.now() - began < 2000) {
		const at = Date.now();

		if ((await good.token(new User())).status === 200)
			served++;
		slowest = Math.max(slowest, Date.now() - at);
	}
	t.ok(served > 20, 'others served meanwhile', served);
	t.ok(slowest < 1000, 'none waited', slowest);
	await Promise.all(waiting);
}, { timeout: 40000 });

test('too many slow hosts at once: refused with Retry-After, nobody else hurt',
    proves('R-4.1-16'), async (t) => {
	const slow = Array.from({ length: 8 }, () => new Agent(w));

	for (const a of slow)
		w.docs.set(`/${a.name}/agent.json`, () => {});
	const waiting = slow.map((a) => a.token(new User()));
	t.eq((await good.token(new User())).status, 200, 'a known agent');
	for (const res of await Promise.all(waiting)) {
		t.ok([401, 503].includes(res.status), 'status', res.status);
		if (res.status === 503)
			t.match(res.header('retry-after') ?? '', /^[1-9]\d*$/,
			    'Retry-After');
	}
}, { timeout: 60000 });

// Key sets that are wrong; each gets the agent and returns the set.
const KEYSETS = [
	['empty', ['R-4.1-6'], () => ({ keys: [] })],
	['without keys', ['R-4.1-6'], () => ({})],
	['keys no list', ['R-4.1-6'], (a) => ({ keys: a.jwks().keys[0] })],
	['a key no object', ['R-4.1-6'], (a) => ({
		keys: [...a.jwks().keys, 'x'] })],
	['private EC key', ['R-4.1-5'], (a) => ({
		keys: [{ ...a.key.secret, kid: a.kid }] })],
	['private RSA key beside', ['R-4.1-5'], (a) => ({ keys: [
		...a.jwks().keys, { ...makeKey('RS256').secret, kid: 'r' }] })],
	['private Ed25519 key beside', ['R-4.1-5'], (a) => ({ keys: [
		...a.jwks().keys, { ...makeKey('EdDSA').secret, kid: 'e' }] })],
	['shared secret beside', ['R-4.1-5'], (a) => ({ keys: [
		...a.jwks().keys, { kty: 'oct', k: random(32), kid: 'o' }] })],
	['a d member of null', ['R-4.1-5'], (a) => ({ keys: [
		{ ...a.jwks().keys[0], d: '' }] })],
	['kid twice', ['R-4.1-6'], (a) => ({ keys: [...a.jwks().keys,
		{ ...makeKey().pub, kid: a.kid }] })],
	['21 keys', ['R-4.1-16'], (a) => ({ keys: [...a.jwks().keys,
		...Array.from({ length: 20 }, (_, i) => ({ ...makeKey().pub,
			kid: `n${i}` }))] })],
	['point off the curve', ['R-4.1-6'], (a) => ({ keys: [
		{ ...a.jwks().keys[0], y: a.key.pub.x }] })],
	['coordinate of 31 bytes', ['R-4.1-6'], (a) => ({ keys: [
		{ ...a.jwks().keys[0], x: random(31) }] })],
	['kty of another', ['R-4.1-6'], (a) => ({ keys: [
		{ ...a.jwks().keys[0], kty: 'RSA' }] })],
];
for (const [why, rows, make] of KEYSETS)
	test(`key set: ${why}`, proves('R-4.2-26', ...rows), async (t) => {
		const a = new Agent(w);

		a.publish(make(a));
		await refused(t, a, why);
	});

test('20 keys are taken', proves('R-4.1-16'), async (t) => {
	const a = new Agent(w);

	a.publish({ keys: [...a.jwks().keys, ...Array.from({ length: 19 },
	    (_, i) => ({ ...makeKey().pub, kid: `n${i}` }))] });
	t.eq((await a.token(new User())).status, 200, 'status');
});

test('a failure is remembered for a while, not asked again at once',
    proves('R-4.1-16'), async (t) => {
	const a = new Agent(w);

	w.docs.set(`/${a.name}/agent.json`, 'broken');
	for (let i = 0; i < 10; i++)
		await refused(t, a, `try ${i}`);
	t.ok(a.hits() <= w.processes, 'fetches', a.hits());
});

test('TLS that does not hold: foreign authority, wrong name',
    proves('R-4.1-1', 'R-4.1-16'), async (t) => {
	const dir = mkdtempSync(`${w.dir}/self`);

	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
		'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj',
		'/CN=localhost', '-addext', 'subjectAltName=DNS:localhost',
		'-keyout', `${dir}/key`, '-out', `${dir}/cert`],
	    { stdio: 'ignore' });
	const own = { cert: readFileSync(`${dir}/cert`),
		key: readFileSync(`${dir}/key`) };
	rmSync(dir, { recursive: true });
	for (const [why, pair] of [['own authority', own],
		['another name', w.cert('other.localhost')]]) {
		const docs = await Docs.start({ ...pair });
		const a = new Agent({ ...w, docs, tokenEndpoint: w.tokenEndpoint,
			ca: w.ca });

		try {
			await refused(t, a, why);
			t.eq(a.hits(), 0, 'requests that arrived');
		} finally {
			await docs.stop();
		}
	}
});

test('an agent that moves away is served from what is kept',
    proves('R-4.1-15', 'R-4.1-16'), async (t) => {
	const a = new Agent(w);

	await a.session();
	w.docs.set(`/${a.name}/agent.json`, (req) => req.socket.destroy());
	w.docs.set(`/${a.name}/jwks.json`, (req) => req.socket.destroy());
	t.eq((await a.token(new User())).status, 200, 'status');
});

test('what a failing agent sends never reaches others', proves('R-4.1-9'),
    async (t) => {
	const evil = new Agent(w);

	// Its document claims to be the good agent's, with keys of its own.
	evil.publish(evil.jwks(), { ...good.document,
		jwks_uri: evil.document.jwks_uri });
	await refused(t, evil, 'as itself');
	const user = new User();
	t.refused(await good.token(user, { form: { client_assertion: jws(evil.key,
		{ kid: evil.kid }, good.claims(good.id)) } }), 401,
	    'invalid_client', 'as the other');
	t.eq((await good.token(new User())).status, 200, 'the good one');
});

await run({
	before: async () => {
		w = await World.shared();
		good = new Agent(w);
		await good.session();
	},
	after: () => w?.close(),
});
