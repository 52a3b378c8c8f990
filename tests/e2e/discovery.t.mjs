// Discovery: poppy.json of each domain and the issuer's metadata (section 3).
import https from 'node:https';
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

const PATH = '/.well-known/poppy.json';
const META = '/.well-known/oauth-authorization-server';
const DOMAINS = { 'localhost': 'localhost', 'www.localhost': 'localhost',
	'shop2.localhost': 'shop2.localhost' };
let w, meta;

const get = (host, target, opts = {}) =>
    send(w.url(target, host), { ca: w.ca, target, ...opts });

for (const [host, domain] of Object.entries(DOMAINS))
	test(`${host} serves the document of ${domain}`,
	    proves('R-3-1', 'R-3-6', 'R-3.1-1', 'R-3.1-2', 'R-3.1-3'),
	    async (t) => {
		const res = await get(host, PATH);

		t.eq(res.status, 200, 'status');
		t.match(res.header('content-type'), /^application\/json(;|$)/,
		    'content type');
		t.eq(res.header('set-cookie'), undefined, 'no cookie');
		t.must(res.json, 'JSON', res.text);
		t.eq(res.json.protocol_version, '0.1', 'version');
		t.eq(res.json.organization.domain, domain, 'domain');
		t.ok(res.json.organization.name.length > 0, 'name');
	});

test('the host counts without port, case, www. and trailing dot',
    proves('R-3.1-3'), async (t) => {
	for (const h of ['localhost', 'LocalHost', `LOCALHOST:${w.port}`,
		'localhost.', `www.localhost:${w.port}`, 'localhost:1']) {
		const res = await get('localhost', PATH,
		    { headers: [['Host', h]] });

		t.eq(res.status, 200, `status for ${h}`);
		t.eq(res.json?.organization?.domain, 'localhost', `for ${h}`);
	}
});

test('a host that is not ours gets no document', proves('R-3.1-3'),
    async (t) => {
	for (const h of ['evil.example', 'localhost.evil.example',
		'evillocalhost', 'www.www.localhost', '127.0.0.1',
		'xn--lcalhost-54a']) {
		const res = await get('localhost', PATH,
		    { headers: [['Host', h]] });

		t.eq(res.status, 404, `status for ${h}`);
		t.unlike(res.text, /evil|www\.www/, `${h} is not echoed`);
	}
});

test('hosts that are no hosts get an error, never a document',
    proves('R-3.1-3'), async (t) => {
	for (const h of ['', 'local host', 'localhost/x', 'localhost@evil.example',
		'localhost:x', '[::1', 'a'.repeat(300), 'localhost\\evil', 'locälhost']) {
		const res = await get('localhost', PATH,
		    { headers: [['Host', h]], fresh: true });

		t.ok(res.status === 400 || res.status === 404,
		    `status for ${h}`, res.status);
		t.eq(res.json?.organization, undefined, `document for ${h}`);
	}
});

test('no forwarding header makes another domain', proves('R-3.1-3'),
    async (t) => {
	const plain = await get('localhost', PATH);
	const res = await get('localhost', PATH, { headers: [
		['X-Forwarded-Host', 'shop2.localhost'],
		['X-Forwarded-Proto', 'http'], ['X-Host', 'shop2.localhost'],
		['Forwarded', 'host=shop2.localhost'],
		['Poppy-Host', 'shop2.localhost'],
		['POPPY_HOST', 'shop2.localhost']] });

	t.eq(res.status, 200, 'status');
	t.eq(res.text, plain.text, 'the same bytes');
});

test('a request line with a whole URL takes its host from there',
    proves('R-3.1-3'), async (t) => {
	const res = await get('localhost', PATH, {
		target: `https://shop2.localhost:${w.port}${PATH}` });

	t.ok(res.status === 400 || res.status === 404 ||
	    res.json?.organization?.domain === 'shop2.localhost',
	    'its own document or an error', res.text);
});

test('two Host headers are refused', proves('R-3.1-3'), async (t) => {
	const res = await get('localhost', PATH, { fresh: true, headers: [
		['Host', 'localhost'], ['Host', 'shop2.localhost']] });

	t.eq(res.status, 400, 'status');
});

test('?domain= serves a hosted domain, and no other',
    proves('R-3.1-4', 'R-3.1-3'), async (t) => {
	const hosted = await get('api.localhost',
	    `${PATH}?domain=shop2.localhost`);

	t.eq(hosted.status, 200, 'status');
	t.eq(hosted.json?.organization?.domain, 'shop2.localhost', 'domain');
	for (const q of ['evil.example', '', 'localhost.evil.example',
		'localhost%00', 'localhost%2Fx', '..', 'a'.repeat(2000)]) {
		const res = await get('api.localhost', `${PATH}?domain=${q}`);

		t.ok(res.status === 404 || res.status === 400,
		    `domain=${q.slice(0, 30)}`, res.status);
		t.eq(res.json?.organization, undefined, 'no document');
	}
	const twice = await get('api.localhost',
	    `${PATH}?domain=localhost&domain=shop2.localhost`);
	t.ok(twice.status === 400 || twice.status === 404, 'given twice',
	    twice.status);
});

test('a host without a domain has no document', proves('R-3.1-4'),
    async (t) => {
	t.eq((await get('api.localhost', PATH)).status, 404, 'status');
});

test('a domain may redirect here and keeps its name',
    proves('R-3-2', 'R-3-3', 'R-3-4', 'R-3.1-4'), async (t) => {
	for (const domain of ['localhost', 'shop2.localhost']) {
		const front = await redirector(domain);

		try {
			const res = await follow(t,
			    `https://${domain}:${front.port}${PATH}`);
			t.eq(res.json?.organization?.domain, domain, 'domain');
		} finally {
			front.server.close();
		}
	}
});

// What a company's own server would do that hosts its document with us.
async function redirector(domain)
{
	const { cert, key } = w.cert(domain);
	const server = https.createServer({ cert, key }, (req, res) => {
		res.writeHead(302, { Connection: 'close', Location:
		    w.url(`${PATH}?domain=${domain}`, 'api.localhost') });
		res.end();
	});

	await new Promise((ok) => server.listen(0, '127.0.0.1', ok));
	return { server, port: server.address().port };
}

async function follow(t, url)
{
	let res = await send(url, { ca: w.ca, fresh: true });
	let hops = 0;

	while (res.status >= 300 && res.status < 400 && hops++ < 5) {
		const to = res.header('location');

		t.match(to, /^https:\/\//, 'Location is https');
		res = await send(to, { ca: w.ca, target:
		    to.replace(/^https:\/\/[^/]*/, '') });
	}
	t.eq(hops, 1, 'hops');
	t.eq(res.status, 200, 'status at the end');
	return res;
}

test('plain HTTP serves no document of ours', proves('R-3-1'), async (t) => {
	let got;

	try {
		got = await send(`http://localhost:${w.port}${PATH}`,
		    { fresh: true, timeout: 5000 });
	} catch {
		got = { status: 0 };
	}
	t.ok(got.status !== 200, 'no answer without TLS', got.status);
});

for (const [what, target, rows] of [
	['poppy.json', PATH, ['R-3-5']],
	['metadata', META, ['R-3.2-11', 'R-3.2-1']],
]) {
	test(`${what} can be cached and read from any page`, proves(...rows),
	    async (t) => {
		const res = await get('localhost', target);
		const cc = res.header('cache-control') ?? '';

		t.eq(res.status, 200, 'status');
		t.match(cc, /public/, 'public');
		t.match(cc, /max-age=300/, 'max-age');
		t.match(res.header('etag'), /^(W\/)?"[^"]+"$/, 'ETag');
		t.eq(res.header('access-control-allow-origin'), '*', 'CORS');
		t.eq(res.header('set-cookie'), undefined, 'no cookie');
	});

	test(`${what}: If-None-Match`, proves(...rows), async (t) => {
		const tag = (await get('localhost', target)).header('etag');

		for (const [v, want] of [[tag, 304], [`"x", ${tag}`, 304],
			[`W/${tag.replace(/^W\//, '')}`, 304], ['*', 304],
			['"x"', 200], [tag.slice(0, -2) + '"', 200], ['', 200],
			['garbage', 200], ['"', 200]]) {
			const res = await get('localhost', target,
			    { headers: [['If-None-Match', v]] });

			t.eq(res.status, want, `status for ${v}`);
			t.eq(res.body.length === 0, want === 304,
			    `empty body for ${v}`);
		}
	});

	test(`${what}: HEAD as GET without a body, nothing else`,
	    proves(...rows), async (t) => {
		const res = await get('localhost', target, { method: 'HEAD' });

		t.eq(res.status, 200, 'HEAD');
		t.eq(res.body.length, 0, 'no body');
		for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'QQQ']) {
			const no = await get('localhost', target,
			    { method, body: '', fresh: true });

			t.ok(no.status === 405 || (method === 'QQQ' &&
			    [400, 501].includes(no.status)), method, no.status);
			if (no.status === 405)
				t.match(no.header('allow') ?? '', /GET/, 'Allow');
		}
	});
}

test('auth stands beside apis, with one issuer on all domains',
    proves('R-3.1-5', 'R-3.1-6'), async (t) => {
	for (const host of Object.keys(DOMAINS)) {
		const { json } = await get(host, PATH);

		t.ok(Array.isArray(json.apis) && json.apis.length > 0, 'apis');
		t.eq(json.auth?.issuer, w.base, `issuer at ${host}`);
		t.match(json.auth?.issuer, /^https:\/\//, 'https');
	}
});

test('no sign-in type is listed, and none answers',
    proves('R-3.1-7', 'R-3.1-8', 'R-3.1-10', 'R-3.2-8', 'R-3.2-9'),
    async (t) => {
	const { json } = await get('localhost', PATH);
	const agent = new Agent(w);
	const user = new User();

	for (const kind of ['direct', 'device', 'mediated'])
		t.eq(json.auth[kind], undefined, kind);
	t.eq(meta.authorization_endpoint, undefined, 'authorization_endpoint');
	t.eq(meta.device_authorization_endpoint, undefined, 'device endpoint');
	t.eq((await agent.token(user)).status, 200, 'a Session starts');
	for (const [grant, extra] of [
		['authorization_code', { code: 'x', redirect_uri: 'https://x/' }],
		['urn:ietf:params:oauth:grant-type:device_code',
			{ device_code: 'x' }],
		['password', { username: 'a', password: 'b' }],
		['client_credentials', {}]])
		t.refused(await agent.token(user, { form: { grant_type: grant,
			assertion: undefined, ...extra } }), 400,
		    'unsupported_grant_type', grant);
	for (const [method, path] of [
		['GET', '/poppy/oauth/authorize'], ['POST', '/poppy/oauth/device'],
		['GET', '/poppy/device'], ['POST', '/poppy/sign-in']])
		t.eq((await get('localhost', path, { method, body: '',
			headers: [['Content-Type',
				'application/x-www-form-urlencoded']] })).status,
		    404, path);
});

test('something to work with is there: apis in full, web',
    proves('R-3.1-12', 'R-3.1-15', 'R-6-1'), async (t) => {
	const { json } = await get('localhost', PATH);

	for (const api of json.apis) {
		t.eq(api.type, 'openapi', 'type');
		t.match(api.url, /^https:\/\//, 'url');
		t.ok(api.description.length > 0, 'description');
	}
	t.eq(typeof json.web, 'object', 'web');
});

test('the openapi url leads to OpenAPI 3 with a server', proves('R-6-2'),
    async (t) => {
	for (const host of ['localhost', 'shop2.localhost']) {
		const { json } = await get(host, PATH);
		const res = await send(json.apis[0].url, { ca: w.ca });

		t.eq(res.status, 200, 'status');
		t.match(res.json?.openapi, /^3\.[01]/, 'openapi');
		t.match(res.json?.servers?.[0]?.url, /^https:\/\//, 'server');
		t.ok(Object.keys(res.json?.paths ?? {}).length > 0, 'paths');
	}
});

test('where browsers join: at the first host of each domain', [],
    async (t) => {
	for (const [host, first] of [['localhost', 'localhost'],
		['www.localhost', 'localhost'],
		['shop2.localhost', 'shop2.localhost']])
		t.eq((await get(host, PATH)).json?.web?.browser_session_endpoint,
		    w.url('/poppy/browser-session', first), host);
});

test('issuer and domains agree, byte for byte', proves('R-3.2-3', 'R-3.2-4'),
    async (t) => {
	t.eq(meta.issuer, w.base, 'issuer');
	t.eq([...meta.poppy_domains].sort(), ['localhost', 'shop2.localhost'],
	    'poppy_domains');
	for (const d of meta.poppy_domains) {
		const { json } = await get(d, PATH);

		t.eq(json.auth.issuer, meta.issuer, `issuer of ${d}`);
		t.eq(json.organization.domain, d, `domain of ${d}`);
	}
});

test('endpoints are there, over TLS', proves('R-3.2-6', 'R-3.2-7'),
    async (t) => {
	t.match(meta.token_endpoint, /^https:\/\//, 'token_endpoint');
	t.match(meta.revocation_endpoint, /^https:\/\//, 'revocation_endpoint');
});

test('the rest of the metadata says what is true', proves('R-3.2-10'),
    async (t) => {
	const algs = ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256'];

	for (const m of ['token_endpoint_auth_signing_alg_values_supported',
		'dpop_signing_alg_values_supported'])
		t.eq([...meta[m] ?? []].sort(), algs, m);
	t.eq(meta.token_endpoint_auth_methods_supported, ['private_key_jwt'],
	    'auth methods');
	t.ok(meta.grant_types_supported.includes(
	    'urn:ietf:params:oauth:grant-type:jwt-bearer'), 'grant');
	t.ok(Array.isArray(meta.response_types_supported),
	    'response_types_supported is required by RFC 8414');
	t.eq(meta.client_id_metadata_document_supported, true, 'documents');
	for (const [k, v] of Object.entries(meta))
		t.ok(!(Array.isArray(v) && v.length === 0 &&
		    k !== 'response_types_supported') && v !== null && v !== '',
		    `${k} is not empty`);
});

test('below the well-known names there is nothing more', proves('R-3.2-1'),
    async (t) => {
	for (const p of [`${META}/`, `${META}/other`, `${PATH}/`, `${PATH}x`,
		'/.well-known/', '/.well-known/oauth-authorization-serverx',
		'/poppy/', '/poppy/oauth/', '/poppy/oauth/nothing'])
		t.eq((await get('localhost', p)).status, 404, p);
});

test('domains of one issuer share Users, Sessions and tokens',
    proves('R-3.2-5', 'R-4.2-25'), async (t) => {
	const agent = new Agent(w);
	const s = await agent.session();
	const b = await get('shop2.localhost', PATH);

	t.eq(b.json.auth.issuer, meta.issuer, 'the same issuer at B');
	const again = await agent.session(s.user, { form: {
		session_id: s.id } });
	t.eq(again.id, s.id, 'renewed');
	for (const host of ['localhost', 'shop2.localhost', 'www.localhost'])
		t.eq((await agent.call(again, 'GET',
		    w.url('/api/stock.php?sku=' + w.sku, host))).status, 200,
		    `call at ${host}`);
});

await run({
	before: async () => {
		w = await World.shared();
		meta = (await get('localhost', META)).json;
	},
	after: () => w?.close(),
});
