// poppy-agent's own duties, against a Company that behaves as each point wants.
//
// The Company is an HTTPS server of this file with an openssl-made certificate:
// it judges every assertion and proof with Node's crypto, and can be told to
// challenge, to throttle, to redirect, to publish wrong documents. Needs the
// built program, openssl and Node; no shop and no database.
import { execFileSync, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { proves, run, sleep, test, until } from './lib/tap.mjs';

const build = process.env.POPPY_TEST_BUILD ?? process.env.top_builddir ?? '.';
const PROGRAM = path.join(build, 'tools/poppy-agent/poppy-agent');
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const CLIENT_ID = 'https://localhost:65000/agent.json';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'poppy-agent.'));
const certFile = path.join(dir, 'cert.pem'), keyFile = path.join(dir, 'key.pem');
let server, plain, port, plainPort;

const sha256 = (s) => crypto.createHash('sha256').update(s).digest('base64url');
const random = () => crypto.randomBytes(24).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);

// ---- the Company -----------------------------------------------------------

// What a point may change; forgotten before the next one.
let company;
function freshCompany()
{
	company = {
		requests: [],		// all of them, as they came
		faults: [],		// what the agent did wrong
		tokens: new Map(),	// token -> { jkt, session }
		sessions: new Map(),	// session -> sub
		jtis: new Set(),
		jwks: null,
		poppy: {}, metadata: {}, openapi: {}, token: {},
		headers: { 'Cache-Control': 'no-cache' },
		hooks: {},		// path -> (req, res, body) => true if answered
	};
}

const base = () => `https://localhost:${port}`;
const merged = (a, b) => Object.fromEntries(
	Object.entries({ ...a, ...b }).filter(([, v]) => v !== undefined));

const poppyDoc = () => merged({
	protocol_version: '0.1',
	organization: { name: 'Test Company', domain: 'localhost' },
	auth: { issuer: `${base()}/issuer` },
	apis: [
		{ type: 'carrier-pigeon', url: 17 },
		{ type: 'openapi', url: `${base()}/openapi.json`, description: 'x' },
	],
	unknown_member: { deep: [1, null, 2.5] },
}, company.poppy);

const metadataDoc = () => merged({
	issuer: `${base()}/issuer`,
	token_endpoint: `${base()}/token`,
	revocation_endpoint: `${base()}/revoke`,
	poppy_domains: ['example.net', 'localhost'],
	something_new: true,
}, company.metadata);

const openapiDoc = () => merged({
	openapi: '3.1.0',
	info: { title: 'Stock', version: '1' },
	servers: [{ url: '/api' }],
	paths: {
		'/mine': { get: { security: [{ poppy: ['poppy:read'] }] } },
		'/nothing/{id}': { get: { parameters: [
			{ name: 'id', in: 'path', required: true }] } },
		'/stock/{shop}': { get: { parameters: [
			{ name: 'shop', in: 'path', required: true, example: 'a b' },
			{ name: 'sku', in: 'query', required: true,
				schema: { type: 'string', example: 'S&1' } },
			{ name: 'page', in: 'query', schema: { default: 1 } },
		] } },
	},
}, company.openapi);

function judgeJwt(jwt, jwk, what)
{
	const [h, p, s] = jwt.split('.');
	const header = JSON.parse(Buffer.from(h, 'base64url'));
	const claims = JSON.parse(Buffer.from(p, 'base64url'));
	const key = jwk ?? header.jwk;

	if (!key || !crypto.verify('sha256', Buffer.from(`${h}.${p}`), {
		key: crypto.createPublicKey({ key, format: 'jwk' }),
		dsaEncoding: 'ieee-p1363' }, Buffer.from(s, 'base64url')))
		company.faults.push(`${what}: signature`);
	if (company.jtis.has(claims.jti) || !(claims.jti?.length >= 22))
		company.faults.push(`${what}: jti ${claims.jti}`);
	company.jtis.add(claims.jti);
	if (Math.abs(claims.iat - now()) > 5)
		company.faults.push(`${what}: iat`);
	return { header, claims };
}

const jkt = (k) => sha256(JSON.stringify(
	{ crv: k.crv, kty: k.kty, x: k.x, y: k.y }));

function judgeProof(req, token)
{
	const want = { htm: req.method,
		htu: base() + req.url.split('?')[0] };
	const { header, claims } = judgeJwt(req.headers.dpop ?? '..', null, 'proof');

	if (header.typ !== 'dpop+jwt' || header.alg !== 'ES256' || header.jwk.d)
		company.faults.push('proof: header');
	for (const m of ['htm', 'htu'])
		if (claims[m] !== want[m])
			company.faults.push(`proof: ${m} ${claims[m]}`);
	if (claims.ath !== (token === undefined ? undefined : sha256(token)))
		company.faults.push('proof: ath');
	return { jkt: jkt(header.jwk), nonce: claims.nonce, jti: claims.jti };
}

function judgeAssertion(jwt, what)
{
	const kid = JSON.parse(Buffer.from(jwt.split('.')[0], 'base64url')).kid;
	const jwk = publicKeys().find((k) => k.kid === kid);
	const { header, claims } = judgeJwt(jwt, jwk ?? {}, what);

	if (header.jwk)
		company.faults.push(`${what}: embedded key`);
	if (claims.iss !== CLIENT_ID || claims.aud !== `${base()}/token` ||
	    !(claims.exp - claims.iat <= 300 && claims.exp > claims.iat))
		company.faults.push(`${what}: claims ${JSON.stringify(claims)}`);
	return claims;
}

function json(res, status, body, headers = {})
{
	res.writeHead(status, { 'Content-Type': 'application/json', ...headers });
	res.end(JSON.stringify(body));
}

function tokenEndpoint(req, res, body)
{
	const form = new URLSearchParams(body);
	const proof = judgeProof(req);

	req.proof = proof;
	req.form = form;
	const sub = judgeAssertion(form.get('assertion') ?? '', 'assertion').sub;
	const client = judgeAssertion(form.get('client_assertion') ?? '',
	    'client assertion');
	if (client.sub !== CLIENT_ID || form.get('client_id') !== CLIENT_ID ||
	    form.get('grant_type') !== JWT_BEARER ||
	    form.get('client_assertion_type') !== ASSERTION)
		company.faults.push('token request: form');
	req.sub = sub;
	if (company.onToken && company.onToken(req, res, form))
		return;
	let session = form.get('session_id');
	if (session !== null && company.sessions.get(session) !== sub)
		return json(res, 400, { error: 'invalid_session' });
	session ??= `ses_${random().slice(0, 8)}`;
	company.sessions.set(session, sub);
	const token = `pst_${random()}`;
	company.tokens.set(token, { jkt: proof.jkt, session });
	json(res, 200, merged({ access_token: token, token_type: 'DPoP',
		expires_in: 3600, scope: '', session_id: session,
		signed_in: false, later_field: [] }, company.token),
	    { 'Cache-Control': 'no-store' });
}

function api(req, res)
{
	const [scheme, token] = (req.headers.authorization ?? '').split(' ');
	const known = company.tokens.get(token);

	req.token = token;
	if (scheme !== 'DPoP' || !known)
		return json(res, 401, {}, { 'WWW-Authenticate':
			'DPoP error="invalid_token", algs="ES256"' });
	req.proof = judgeProof(req, token);
	if (req.proof.jkt !== known.jkt)
		company.faults.push('proof: another key than the token\'s');
	if (company.onApi && company.onApi(req, res))
		return;
	json(res, 200, { path: req.url, session: known.session });
}

function answer(req, res, body)
{
	const p = req.url.split('?')[0];

	company.requests.push(req);
	if (company.hooks[p] && company.hooks[p](req, res, body))
		return;
	if (p === '/.well-known/poppy.json')
		json(res, 200, poppyDoc(), company.headers);
	else if (p === '/.well-known/oauth-authorization-server/issuer')
		json(res, 200, metadataDoc(), company.headers);
	else if (p === '/openapi.json')
		json(res, 200, openapiDoc(), company.headers);
	else if (p === '/token')
		tokenEndpoint(req, res, body);
	else if (p.startsWith('/api/'))
		api(req, res);
	else
		json(res, 404, {});
}

function collect(req, res)
{
	let body = '';

	req.on('data', (d) => { body += d; });
	req.on('end', () => {
		try {
			answer(req, res, body);
		} catch (e) {
			company.faults.push(e.stack);
			json(res, 500, {});
		}
	});
}

const seen = (p) => company.requests.filter((r) => r.url.split('?')[0] === p);

// ---- the agent -------------------------------------------------------------

let states = 0, state;
const env = { PATH: process.env.PATH, HOME: dir,
	ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? '' };

function agent(args, { input, ca = certFile, file = state } = {})
{
	return new Promise((done) => {
		const child = spawn(PROGRAM,
		    ['--state', file, ...(ca ? ['--ca', ca] : []), ...args],
		    { env });
		let out = '', err = '';

		child.stdout.on('data', (d) => { out += d; });
		child.stderr.on('data', (d) => { err += d; });
		child.on('error', (e) => { err += e; });
		child.on('close', (code, signal) => done({ code, signal, out, err,
			all: out + err }));
		child.stdin.on('error', () => {});
		child.stdin.end(input ?? '');
	});
}

const publicKeys = () => JSON.parse(execFileSync(PROGRAM,
	['--state', state, 'keys', 'jwks'], { env })).keys;
const domain = () => `localhost:${port}`;
const stored = () => JSON.parse(fs.readFileSync(state, 'utf8'));

async function fresh()
{
	freshCompany();
	state = path.join(dir, `state${++states}.json`);
	const r = await agent(['init', '--client-id', CLIENT_ID]);
	if (r.code !== 0)
		throw new Error(`init: ${r.all}`);
}

function clean(t)
{
	t.eq(company.faults, [], 'what the agent did wrong');
}

// A point that begins with an agent and a Company of its own.
function point(name, rows, body)
{
	test(name, rows, async (t) => {
		await fresh();
		await body(t);
		clean(t);
	});
}

async function refusesDomain(t, change, rule, say)
{
	Object.assign(company, change);
	const r = await agent(['session', domain()]);
	t.eq(r.code, 1, `exit status: ${say}`);
	t.match(r.all, new RegExp(`breaks +${rule.replaceAll('.', '\\.')}`),
	    `names ${rule}`);
	t.match(r.all, say, 'says what came back');
	t.match(r.all, /asked +GET https:/, 'says what was asked');
	t.eq(seen('/token').length, 0, 'nothing went to the token endpoint');
}

// ---- discovery -------------------------------------------------------------

point('discovery of a sound Company, unknown members and types aside',
    proves('R-3.1-19', 'R-3.3-4'), async (t) => {
	const r = await agent(['discover', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.match(r.out, /Test Company/, 'name');
	t.match(r.out, /openapi/, 'the api it knows');
	t.unlike(r.out, /pigeon/, 'the api it does not know');
	t.eq(seen('/.well-known/poppy.json')[0].headers.authorization, undefined,
	    'no identity with it');
});

for (const [what, change, rule, say] of [
	['another major version', { poppy: { protocol_version: '1.0' } },
	    'R-3.1-1', /1\.0/],
	['a version that is none', { poppy: { protocol_version: '0' } },
	    'R-3.1-1', /major\.minor/],
	['a version as a number', { poppy: { protocol_version: 0.1 } },
	    'R-3.1-1', /protocol_version/],
	['no organization', { poppy: { organization: undefined } },
	    'R-3.1-2', /organization/],
	['another domain', { poppy: { organization: { name: 'x',
	    domain: 'example.com' } } }, 'R-3.1-3', /example\.com/],
	['none of agent, apis, web', { poppy: { apis: undefined } },
	    'R-3.1-12', /none of/],
	['no auth', { poppy: { auth: undefined } }, 'R-3.1-5', /auth/],
	['an issuer by http', { poppy: { auth: {
	    issuer: 'http://localhost/issuer' } } }, 'R-3.1-6', /HTTPS/],
	['an issuer that differs in a slash', { metadata: {
	    get issuer() { return `${base()}/issuer/`; } } },
	    'R-3.2-3', /issuer\//],
	['a domain that the issuer does not list', { metadata: {
	    poppy_domains: ['example.net', 'xlocalhost'] } },
	    'R-3.2-4', /poppy_domains/],
	['no poppy_domains', { metadata: { poppy_domains: undefined } },
	    'R-3.2-4', /poppy_domains/],
	['no token_endpoint', { metadata: { token_endpoint: undefined } },
	    'R-3.2-6', /token_endpoint/],
	['a token_endpoint by http', { metadata: {
	    token_endpoint: 'http://localhost/token' } },
	    'R-3.2-6', /token_endpoint/],
	['no revocation_endpoint', { metadata: {
	    revocation_endpoint: undefined } }, 'R-3.2-7', /revocation/],
	['direct without authorization_endpoint', { poppy: {
	    get auth() { return { issuer: `${base()}/issuer`,
	    direct: { scopes: [] } }; } } }, 'R-3.2-8', /authorization/],
	['device without its endpoint', { poppy: {
	    get auth() { return { issuer: `${base()}/issuer`,
	    device: { scopes: [] } }; } } }, 'R-3.2-9', /device/],
])
	point(`refused: ${what}`, proves(rule), (t) =>
	    refusesDomain(t, change, rule, say));

point('a newer minor version is used', proves('R-3.1-1'), async (t) => {
	company.poppy = { protocol_version: '0.9' };
	t.eq((await agent(['discover', domain()])).code, 0, 'exit status');
});

point('a leading www. is ignored, on both sides', proves('R-3.1-3'),
    async (t) => {
	company.poppy = { organization: { name: 'x', domain: 'www.localhost' } };
	company.metadata = { poppy_domains: ['www.localhost'] };
	t.eq((await agent(['discover', domain()])).code, 0, 'exit status');
});

point('HTTPS redirects are followed, and the document speaks for the domain ' +
    'asked', proves('R-3-2', 'R-3-4', 'R-3.1-4'), async (t) => {
	company.hooks['/.well-known/poppy.json'] = (req, res) => {
		res.writeHead(302, { Location:
			`https://127.0.0.1:${port}/hosted.json` }).end();
		return true;
	};
	company.hooks['/hosted.json'] = (req, res) => {
		json(res, 200, poppyDoc());
		return true;
	};
	t.eq((await agent(['discover', domain()])).code, 0, 'exit status');
	t.eq(seen('/hosted.json').length, 1, 'followed');
});

point('a redirect to http is refused, and not asked for', proves('R-3-3'),
    async (t) => {
	let asked = 0;
	plain.removeAllListeners('request');
	plain.on('request', (req, res) => {
		asked++;
		json(res, 200, poppyDoc());
	});
	company.hooks['/.well-known/poppy.json'] = (req, res) => {
		res.writeHead(301, { Location:
			`http://localhost:${plainPort}/poppy.json` }).end();
		return true;
	};
	await refusesDomain(t, {}, 'R-3-3', /http:\/\/localhost/);
	t.eq(asked, 0, 'requests by http');
});

point('redirects without an end are given up', [], async (t) => {
	company.hooks['/.well-known/poppy.json'] = (req, res) => {
		res.writeHead(302, { Location: '/.well-known/poppy.json' }).end();
		return true;
	};
	const r = await agent(['discover', domain()]);
	t.eq(r.code, 1, 'exit status');
	t.match(r.all, /more than 5 redirects/, 'says so');
	t.ok(company.requests.length <= 7, 'bounded', company.requests.length);
});

point('a certificate that nobody vouches for is refused', proves('R-3-1'),
    async (t) => {
	const r = await agent(['discover', domain()], { ca: null });
	t.eq(r.code, 1, 'exit status');
	t.match(r.all, /certificate/, 'says so');
	t.eq(company.requests.length, 0, 'requests that got through');
});

point('JSON is read strictly', [], async (t) => {
	for (const [what, text] of [
		['a member twice', '{"protocol_version":"0.1","protocol_version":"0.1"}'],
		['single quotes', "{'a':1}"], ['NaN', '{"a":NaN}'],
		['trailing bytes', '{} x'], ['nothing', ''],
		['a control character', '{"a":"\n"}'], ['an array', '[]'],
	]) {
		company.hooks['/.well-known/poppy.json'] = (req, res) => {
			res.end(text);
			return true;
		};
		const r = await agent(['discover', domain()]);
		t.eq(r.code, 1, what);
		t.match(r.all, /JSON/, `${what}: says so`);
	}
});

point('fresh documents come from the cache, stale ones by their ETag',
    proves('R-3-5', 'R-3.2-11'), async (t) => {
	company.headers = { 'Cache-Control': 'max-age=300' };
	await agent(['discover', domain()]);
	await agent(['discover', domain()]);
	t.eq(company.requests.length, 2, 'two documents, asked once each');
	let r = await agent(['--refresh', 'discover', domain()]);
	t.eq(company.requests.length, 4, 'asked again with --refresh');

	company.headers = { 'Cache-Control': 'no-cache', ETag: '"one"' };
	await agent(['--refresh', 'discover', domain()]);
	company.hooks['/.well-known/poppy.json'] = (req, res) => {
		if (req.headers['if-none-match'] !== '"one"')
			return false;
		res.writeHead(304).end();
		return true;
	};
	company.poppy = { organization: { name: 'Changed', domain: 'localhost' } };
	r = await agent(['discover', domain()]);
	t.match(r.out, /Test Company/, '304: what was kept counts');
	t.eq(seen('/.well-known/poppy.json').at(-1).headers['if-none-match'],
	    '"one"', 'If-None-Match');

	company.headers = { 'Cache-Control': 'no-store' };
	delete company.hooks['/.well-known/poppy.json'];
	await agent(['--refresh', 'discover', domain()]);
	t.eq(stored().documents, [], 'no-store: nothing is kept');
});

// ---- Sessions --------------------------------------------------------------

point('a Session starts: two assertions and a proof, all judged',
    proves('R-4.2-1', 'R-4.1-6', 'R-4.1-7', 'R-4.2-4', 'R-4.2-7', 'R-4.3-12'),
    async (t) => {
	const r = await agent(['session', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.eq(seen('/token').length, 1, 'token requests');
	const [token] = company.tokens.keys();
	t.unlike(r.all, new RegExp(token), 'the whole token shown');
	t.match(r.out, /pst_\S\S… \(36 characters\)/, 'the token shortened');
	t.unlike(r.all, new RegExp(seen('/token')[0].sub), 'the User ID shown');
	t.eq(seen('/token')[0].headers.cookie, undefined, 'cookie');
});

point('User IDs: drawn, stable at a Company, another one for each User and ' +
    'Company', proves('R-4.2-3'), async (t) => {
	for (const user of ['me', 'me', 'someone@example.org'])
		await agent(['--user', user, 'session', domain()]);
	company.metadata = { get issuer() { return `${base()}/issuer2`; } };
	company.poppy = { get auth() { return { issuer: `${base()}/issuer2` }; } };
	company.hooks['/.well-known/oauth-authorization-server/issuer2'] =
	    (req, res) => { json(res, 200, metadataDoc()); return true; };
	await agent(['session', domain()]);
	const subs = seen('/token').map((r) => r.sub);
	t.eq(subs.length, 4, 'token requests');
	t.eq(subs[0], subs[1], 'the same User twice');
	t.eq(new Set(subs).size, 3, 'different User IDs');
	for (const s of subs)
		t.match(s, /^usr_[A-Za-z0-9_-]{22,}$/, '128 random bits or more');
	const keys = seen('/token').map((r) => r.proof.jkt);
	t.eq(new Set(keys).size, 3, 'a DPoP key for each User at each Company');
	t.ok(!publicKeys().some((k) => keys.includes(jkt(k))),
	    'DPoP keys are not published');
});

point('a renewal carries session_id, and its token is used from then on',
    proves('R-4.2-20', 'R-4.2-23'), async (t) => {
	await agent(['session', domain()]);
	const r = await agent(['renew', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.eq(seen('/token')[1].form.get('session_id'),
	    [...company.sessions.keys()][0], 'session_id');
	await agent(['visit', domain()]);
	const c = await agent(['call', 'GET', `${base()}/api/x`]);
	t.eq(c.code, 0, 'call');
	t.eq(seen('/api/x')[0].token, [...company.tokens.keys()].at(-1),
	    'the newest token');
});

point('an ended Session: a new one is started', proves('R-4.2-22'),
    async (t) => {
	await agent(['session', domain()]);
	company.sessions.clear();
	const r = await agent(['renew', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.eq(seen('/token').map((x) => x.form.has('session_id')),
	    [false, true, false], 'started, renewed, started');
});

for (const [what, change, rule] of [
	['expires_in 0', { expires_in: 0 }, 'R-4.2-13'],
	['expires_in as text', { expires_in: '3600' }, 'R-4.2-13'],
	['no access_token', { access_token: undefined }, 'R-4.2-12'],
	['a token with a line break', { access_token: 'a\r\nX: y' }, 'R-4.2-12'],
	['token_type Bearer', { token_type: 'Bearer' }, 'R-4.2-12'],
	['no session_id', { session_id: undefined }, 'R-4.2-15'],
	['signed_in true', { signed_in: true }, 'R-4.2-16'],
	['a scope', { scope: 'poppy:read' }, 'R-4.2-17'],
	['an Account Token', { refresh_token: 'pat_1' }, 'R-4.2-18'],
])
	point(`a token reply with ${what} is refused`, proves(rule), async (t) => {
		company.token = change;
		const r = await agent(['session', domain()]);
		t.eq(r.code, 1, 'exit status');
		t.match(r.all, new RegExp(`breaks +${rule}`), 'names the row');
		t.match(r.all, /asked +POST https:\S+\/token/, 'what was asked');
		t.eq(stored().users[0].sessions, [], 'Sessions kept');
	});

point('a renewal that answers for another Session is refused',
    proves('R-4.2-20'), async (t) => {
	await agent(['session', domain()]);
	company.token = { session_id: 'ses_other' };
	const r = await agent(['renew', domain()]);
	t.eq(r.code, 1, 'exit status');
	t.match(r.all, /R-4\.2-20/, 'names the row');
});

point('errors of the token endpoint are told with their meaning',
    proves('R-4.2-26', 'R-4.2-32'), async (t) => {
	company.onToken = (req, res) => {
		json(res, 401, { error: 'invalid_client',
			error_description: 'not \u001b[31mhere' });
		return true;
	};
	let r = await agent(['session', domain()]);
	t.eq(r.code, 1, 'exit status');
	t.match(r.err, /401 invalid_client: .*does not accept this client_id/,
	    'meaning');
	t.unlike(r.all, /\u001b/, 'an escape character of the Company');
	company.onToken = (req, res) => {
		res.writeHead(500).end('<html>');
		return true;
	};
	r = await agent(['session', domain()]);
	t.match(r.err, /status 500 without an OAuth error[^]*R-4\.2-32/, '500');
	company.onToken = (req, res) => {
		res.writeHead(307, { Location: '/elsewhere' }).end();
		return true;
	};
	r = await agent(['session', domain()]);
	t.match(r.err, /redirect/, 'a redirect is told');
	t.eq(seen('/elsewhere').length, 0, 'and not followed');
});

// ---- nonces and Retry-After ------------------------------------------------

const challenge = (res, status, nonce) => {
	json(res, status, { error: 'use_dpop_nonce' }, {
		'WWW-Authenticate': 'DPoP error="use_dpop_nonce", algs="ES256"',
		...(nonce && { 'DPoP-Nonce': nonce }) });
	return true;
};

point('use_dpop_nonce at the token endpoint: one retry, with fresh assertions',
    proves('R-4.3-13'), async (t) => {
	company.onToken = (req, res) => req.proof.nonce !== 'nonce-one' &&
	    challenge(res, 400, 'nonce-one');
	let r = await agent(['session', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.eq(seen('/token').map((x) => x.proof.nonce), [undefined, 'nonce-one'],
	    'nonces');
	r = await agent(['session', domain()]);
	t.eq(seen('/token').length, 3, 'remembered: no challenge any more');

	company.onToken = (req, res) => challenge(res, 400, random());
	r = await agent(['session', domain()]);
	t.eq(r.code, 1, 'a second challenge ends it');
	t.eq(seen('/token').length, 5, 'exactly one retry');
	t.match(r.err, /use_dpop_nonce/, 'says so');

	company.onToken = (req, res) => challenge(res, 400);
	r = await agent(['session', domain()]);
	t.eq(seen('/token').length, 6, 'no retry without a nonce');
	t.match(r.err, /without a DPoP-Nonce/, 'says so');
});

point('use_dpop_nonce at an API: one retry; its nonce is not the token ' +
    'endpoint\'s', proves('R-4.3-13'), async (t) => {
	company.onToken = (req, res) => {
		res.setHeader('DPoP-Nonce', 'for-tokens');
		return false;
	};
	company.onApi = (req, res) => req.proof.nonce !== 'for-apis' &&
	    challenge(res, 401, 'for-apis');
	await agent(['visit', domain()]);
	t.eq(seen('/api/stock/a%20b').map((x) => x.proof.nonce),
	    [undefined, 'for-apis', 'for-apis'], 'nonces at the API');
	t.eq(seen('/token').map((x) => x.proof.nonce),
	    [undefined, 'for-tokens'], 'nonces at the token endpoint');
	company.onApi = (req, res) => challenge(res, 401, random());
	const r = await agent(['call', 'GET', `${base()}/api/again`]);
	t.eq(r.code, 1, 'exit status');
	t.eq(seen('/api/again').length, 2, 'exactly one retry');
});

point('a nonce that comes with a success is used next', proves('R-4.3-13'),
    async (t) => {
	let n = 0;
	company.onToken = (req, res) => {
		res.setHeader('DPoP-Nonce', `nonce-${++n}`);
		return false;
	};
	await agent(['session', domain()]);
	await agent(['renew', domain()]);
	await agent(['renew', domain()]);
	t.eq(seen('/token').map((x) => x.proof.nonce),
	    [undefined, 'nonce-1', 'nonce-2'], 'nonces');
});

const throttle = (res, after) => {
	json(res, 429, { error: 'rate_limited' },
	    after === undefined ? {} : { 'Retry-After': after });
	return true;
};

point('a short Retry-After is waited out, at the token endpoint and at an API',
    proves('R-4.2-31', 'R-4.3-28'), async (t) => {
	let first = true, at;
	company.onToken = (req, res) => {
		if (!first)
			return false;
		first = false;
		at = Date.now();
		return throttle(res, '1');
	};
	let r = await agent(['visit', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.ok(Date.now() - at >= 1000, 'a second passed');
	t.match(r.all, /as Retry-After asks/, 'says so');
	first = true;
	company.onApi = (req, res) => {
		if (!first)
			return false;
		first = false;
		return throttle(res, new Date(Date.now() + 1500).toUTCString());
	};
	r = await agent(['call', 'GET', `${base()}/api/x`]);
	t.eq(r.code, 0, 'call');
	t.eq(seen('/api/x').length, 2, 'asked twice');
});

point('a long Retry-After ends the run, and holds the next ones',
    proves('R-4.2-31', 'R-4.3-28'), async (t) => {
	company.onToken = (req, res) => throttle(res, '3600');
	let r = await agent(['session', domain()]);
	t.eq(r.code, 1, 'exit status');
	t.match(r.err, /Retry-After that runs until 20\d\d-/, 'says until when');
	r = await agent(['session', domain()]);
	t.eq(r.code, 1, 'exit status of the next run');
	t.eq(seen('/token').length, 1, 'nothing was sent before the time');
	r = await agent(['--max-wait', '0', '--user', 'two', 'session', domain()]);
	t.eq(seen('/token').length, 1, 'the limit is the client\'s, not a User\'s');
});

point('429 without Retry-After is told as what it breaks', proves('R-4.3-28'),
    async (t) => {
	company.onToken = (req, res) => throttle(res);
	const r = await agent(['session', domain()]);
	t.eq(r.code, 1, 'exit status');
	t.match(r.err, /429 without a Retry-After[^]*R-4\.3-28/, 'names the row');
	t.eq(seen('/token').length, 1, 'requests');
});

// ---- calls -----------------------------------------------------------------

async function ready()
{
	const r = await agent(['visit', domain()]);
	if (r.code !== 0)
		throw new Error(r.all);
	company.requests = [];
}

point('call: token, proof, body and fields; the answer on standard output',
    proves('R-4.3-1', 'R-4.3-6', 'R-4.3-23', 'R-4.3-26'), async (t) => {
	await ready();
	let body;
	company.hooks['/api/orders'] = (req, res, b) => { body = b; return false; };
	const r = await agent(['call', 'POST', `${base()}/api/orders?q=1`,
	    '--data', '-', '--header', 'X-Test: yes'], { input: '{"a":1}' });
	t.eq(r.code, 0, 'exit status');
	t.eq(JSON.parse(r.out).path, '/api/orders?q=1', 'the answer alone');
	const [req] = seen('/api/orders');
	t.eq([req.method, body, req.headers['x-test'],
		req.headers['content-type']],
	    ['POST', '{"a":1}', 'yes', 'application/json'], 'request');
	t.eq(req.headers.cookie, undefined, 'cookie');
	t.eq(seen('/token').length, 0, 'the token was still good');
});

point('no token goes to a host that the documents do not name', [],
    async (t) => {
	await ready();
	for (const url of [`https://127.0.0.1:${port}/api/x`,
		`https://localhost.evil.example/api/x`,
		`https://localhost:${port}@evil.example/x`,
		`http://localhost:${plainPort}/api/x`,
		`https://localhost:1/api/x`]) {
		const r = await agent(['call', 'GET', url]);
		t.eq(r.code, 1, url);
	}
	t.eq(company.requests.length, 0, 'requests');
});

point('a token goes to the server of the description, while it names that',
    proves('R-6-4'), async (t) => {
	company.openapi = { servers: [{ url: `https://127.0.0.1:${port}/api` }],
		paths: { '/x': { get: {} } } };
	company.requests = [];
	// htu names the other host: this Company's own judge would object.
	company.hooks['/api/x'] = (req, res) => { json(res, 200, {}); return true; };
	const there = ['call', 'GET', `https://127.0.0.1:${port}/api/x`];
	t.eq((await agent(['discover', domain()])).code, 0, 'discover');
	t.eq((await agent(there)).code, 1, 'not before it is read');
	t.eq((await agent(['visit', domain()])).code, 0, 'visit');
	t.eq((await agent(there)).code, 0, 'then');
	company.openapi = { paths: { '/x': { get: {} } } };
	t.eq((await agent(['visit', domain()])).code, 0, 'visit again');
	t.eq((await agent(there)).code, 1, 'no longer');
	t.eq(seen('/api/x').length, 5, 'calls');
});

point('no token goes into a URL', proves('R-4.3-27'), async (t) => {
	await ready();
	const token = [...company.tokens.keys()].at(-1);
	for (const q of [`?t=${token}`, '?access_token=abc', `/${token}`]) {
		const r = await agent(['call', 'GET', `${base()}/api/x${q}`]);
		t.eq(r.code, 1, q);
		t.match(r.err, /R-4\.3-27/, 'names the row');
	}
	t.eq(company.requests.length, 0, 'requests');
});

point('fields that are the agent\'s own, or no fields, are refused', [],
    async (t) => {
	await ready();
	for (const h of ['Authorization: Bearer x', 'dpop: x', 'Host: evil',
		'X-A: b\r\nX-C: d', 'no colon', ': empty', 'a b: c',
		'Transfer-Encoding: chunked'])
		t.eq((await agent(['call', 'GET', `${base()}/api/x`, '--header',
			h])).code, 1, h);
	t.eq((await agent(['call', 'get ', `${base()}/api/x`])).code, 1, 'method');
	t.eq(company.requests.length, 0, 'requests');
});

point('invalid_token: renewed once, called again with the new token',
    proves('R-6-10', 'R-4.2-20'), async (t) => {
	await ready();
	company.tokens.clear();
	let r = await agent(['call', 'GET', `${base()}/api/x`]);
	t.eq(r.code, 0, 'exit status');
	t.eq(company.requests.filter((q) => /token|api/.test(q.url))
	    .map((q) => q.url), ['/api/x', '/token', '/api/x'], 'order');
	company.requests = [];
	company.onApi = (req, res) => {
		json(res, 401, {}, { 'WWW-Authenticate':
			'Bearer, DPoP realm="x, y", error="invalid_token"' });
		return true;
	};
	r = await agent(['call', 'GET', `${base()}/api/x`]);
	t.eq(r.code, 1, 'still refused');
	t.eq(seen('/token').length, 1, 'renewed once');
	t.eq(seen('/api/x').length, 2, 'called twice');
	t.match(r.err, /401 invalid_token.*after a renewal/, 'says so');
});

point('an expired token is renewed before it is sent', [], async (t) => {
	company.token = { expires_in: 3 };
	await ready();
	company.token = {};
	t.eq((await agent(['call', 'GET', `${base()}/api/x`])).code, 0, 'status');
	t.eq(company.requests.filter((q) => /token|api/.test(q.url))
	    .map((q) => q.url), ['/token', '/api/x'], 'order');
});

point('sign_in_required, insufficient_scope and redirects are told',
    proves('R-6-11', 'R-6-12'), async (t) => {
	await ready();
	for (const [status, headers, say] of [
		[403, { 'WWW-Authenticate': 'DPoP error="sign_in_required"' },
			/403 sign_in_required: .*signed in/],
		[403, { 'WWW-Authenticate': 'DPoP error="insufficient_scope", ' +
			'scope="poppy:read addresses"' },
			/insufficient_scope: .*poppy:read addresses/],
		[302, { Location: 'https://evil.example/' }, /redirect/],
		[401, {}, /R-6-9/], [500, {}, /status 500/],
	]) {
		company.onApi = (req, res) => {
			json(res, status, {}, headers);
			return true;
		};
		const r = await agent(['call', 'GET', `${base()}/api/x`]);
		t.eq(r.code, 1, String(say));
		t.match(r.err, say, 'says so');
	}
});

point('data that is no text reaches standard output unchanged', [],
    async (t) => {
	await ready();
	const bytes = Buffer.from([0, 255, 27, 10]);
	company.onApi = (req, res) => { res.end(bytes); return true; };
	const child = spawn(PROGRAM, ['--state', state, '--ca', certFile, 'call',
		'GET', `${base()}/api/x`], { env });
	const got = [];
	child.stdout.on('data', (d) => got.push(d));
	await new Promise((ok) => child.on('close', ok));
	t.eq(Buffer.concat(got).toString('hex'), bytes.toString('hex'), 'bytes');
});

// ---- visit -----------------------------------------------------------------

point('visit: the whole path, in order, and well told',
    proves('R-3-1', 'R-3.2-1', 'R-3.2-2', 'R-4.2-1', 'R-4.2-20', 'R-6-2',
    'R-6-4'), async (t) => {
	const r = await agent(['visit', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.eq(company.requests.map((q) => `${q.method} ${q.url}`), [
		'GET /.well-known/poppy.json',
		'GET /.well-known/oauth-authorization-server/issuer',
		'POST /token', 'GET /openapi.json',
		'GET /api/stock/a%20b?sku=S%261',
		'POST /token',
		'GET /api/stock/a%20b?sku=S%261',
	], 'requests');
	const [one, two] = seen('/api/stock/a%20b');
	t.ok(one.token !== two.token, 'the second call has the new token');
	t.eq(company.sessions.size, 1, 'one Session all the time');
	t.match(r.out, /1\. Discovery[^]*6\. Call once more/, 'steps');
	t.match(r.out, /The visit went well\./, 'the end');
	t.unlike(r.out, /\u001b/, 'colour off a terminal');
	for (const secret of [one.token, two.token, one.headers.dpop,
		seen('/token')[0].form.get('assertion'), seen('/token')[0].sub])
		t.ok(!r.all.includes(secret), 'a secret shown whole');
	t.match(r.out, /DPoP +eyJ\S\S\S… \(\d+ characters\)/, 'proof shortened');
});

point('visit --json: one object a step', [], async (t) => {
	const r = await agent(['--json', 'visit', domain()]);
	const steps = r.out.trim().split('\n').map((l) => JSON.parse(l));
	t.eq(steps.map((s) => s.step), ['discover', 'session', 'describe', 'call',
		'renew', 'call again', 'browse'], 'steps');
	t.ok(steps.every((s) => s.ok === true), 'all went well');
	t.eq(steps[1].exchanges[0].status, 200, 'status');
	t.match(steps[1].exchanges[0].sent.assertion, /characters/, 'shortened');
	company.poppy = { protocol_version: '2.0' };
	const bad = JSON.parse((await agent(['--json', 'visit', domain()])).out);
	t.eq([bad.step, bad.ok, bad.fault.breaks], ['discover', false, 'R-3.1-1'],
	    'a fault');
});

point('visit joins a browser, and judges how that is answered',
    proves('R-5-13', 'R-5-17'), async (t) => {
	const good = 'c=v; Path=/; Secure; HttpOnly; SameSite=Lax';
	let status = 303, cookie = good, to;

	company.poppy = { web: { browser_session_endpoint: `${base()}/join` } };
	company.hooks['/join'] = (req, res, body) => {
		const jwt = new URLSearchParams(body).get('assertion');
		const { header, claims } = judgeJwt(jwt, publicKeys()[0], 'join');

		t.eq([req.method, req.url, header.typ, claims.aud], ['POST',
			'/join', 'poppy-browser+jwt', `${base()}/join`], 'asked');
		res.writeHead(status, merged({ 'Content-Type': 'text/html',
			Location: to ?? claims.return_to, 'Set-Cookie': cookie }));
		res.end();
		return true;
	};
	company.hooks['/'] = (req, res) => {
		t.eq(req.headers.cookie, 'c=v', 'the cookie');
		res.writeHead(200, { 'Content-Type': 'text/html' });
		res.end('<title>Front \x1b[31m&amp; page</title>');
		return true;
	};
	const well = await agent(['visit', domain()]);
	t.eq(well.code, 0, 'exit status', well.all);
	t.match(well.out, /Front \\x1b\[31m& page/, 'the page, escaped');
	for (const [what, change, rule] of [
		['302', () => { status = 302; }, 'R-5-13'],
		['400', () => { status = 400; }, 'R-5-13'],
		['no cookie', () => { cookie = undefined; }, 'R-5-13'],
		['Strict', () => { cookie = good.replace('Lax', 'Strict'); },
			'R-5-17'],
		['not Secure', () => { cookie = good.replace('Secure;', ''); },
			'R-5-17'],
		['another page', () => { to = 'https://evil.example/'; }, 'R-5-13'],
	]) {
		[status, cookie, to] = [303, good, undefined];
		change();
		const before = seen('/').length;
		const r = await agent(['visit', domain()]);
		t.eq(r.code, 1, `${what}: exit status`);
		t.match(r.all, new RegExp(`breaks +${rule}`), `${what}: why`);
		t.eq(seen('/').length, before, `${what}: not followed`);
	}
});

point('visit goes on past an operation that wants an account',
    proves('R-6-11'), async (t) => {
	company.openapi = { paths: {
		'/first': { get: {} }, '/second': { get: {} } } };
	company.onApi = (req, res) => {
		if (req.url !== '/api/first')
			return false;
		json(res, 403, {}, { 'WWW-Authenticate':
			'DPoP error="sign_in_required"' });
		return true;
	};
	const r = await agent(['visit', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.eq(seen('/api/second').length, 2, 'called');
});

point('visit fails where a step fails', [], async (t) => {
	company.openapi = { openapi: '2.0' };
	let r = await agent(['visit', domain()]);
	t.eq(r.code, 1, 'exit status');
	t.match(r.out, /R-6-2[^]*The visit failed/, 'says why');
	company.openapi = { servers: [{ url: 'http://localhost/api' }] };
	r = await agent(['visit', domain()]);
	t.eq(r.code, 1, 'a server by http');
	t.match(r.out, /R-6-2/, 'says why');
});

point('a Company without an openapi api: visited as far as it goes', [],
    async (t) => {
	company.poppy = { apis: [{ type: 'mcp', url: 'https://localhost/mcp',
		description: 'x' }] };
	const r = await agent(['visit', domain()]);
	t.eq(r.code, 0, 'exit status');
	t.match(r.out, /skipped[^]*as far as it could/, 'says so');
});

// ---- the state file --------------------------------------------------------

point('the state: 0600, and refused where others can read it', [],
    async (t) => {
	t.eq(fs.statSync(state).mode & 0o777, 0o600, 'mode');
	fs.chmodSync(state, 0o640);
	let r = await agent(['session', domain()]);
	t.eq(r.code, 1, 'readable by the group');
	t.match(r.err, /chmod 600/, 'says what to do');
	t.eq(company.requests.length, 0, 'requests');
	fs.chmodSync(state, 0o600);
	const text = fs.readFileSync(state, 'utf8');
	for (const [what, bad] of [['cut', text.slice(0, -20)], ['empty', ''],
		['of another version', text.replace('"version":1', '"version":2')]]) {
		fs.writeFileSync(state, bad);
		t.eq((await agent(['status'])).code, 1, what);
		t.eq(fs.readFileSync(state, 'utf8'), bad, `${what}: left alone`);
	}
	fs.writeFileSync(state, text);
	fs.renameSync(state, `${state}.real`);
	fs.symlinkSync(`${state}.real`, state);
	t.eq((await agent(['status'])).code, 1, 'a symbolic link');
	fs.unlinkSync(state);
	fs.renameSync(`${state}.real`, state);
});

point('without --state: under the state home, in folders of its own', [],
    (t) => {
	const home = path.join(dir, 'home');
	fs.mkdirSync(home);
	const args = ['init', '--client-id', CLIENT_ID];
	execFileSync(PROGRAM, args, { env: { HOME: home } });
	execFileSync(PROGRAM, args, { env: { XDG_STATE_HOME: `${home}/xdg` } });
	for (const at of ['.local/state', 'xdg']) {
		const folder = path.join(home, at, 'poppy-agent');
		t.eq(fs.statSync(folder).mode & 0o777, 0o700, `${at}: folder`);
		t.eq(fs.statSync(path.join(folder, 'state.json')).mode & 0o777,
		    0o600, `${at}: file`);
	}
});

point('a token that another run got in the meantime is the one used', [],
    async (t) => {
	await ready();
	let second;
	// While the first call is under way, another run renews the Session.
	company.onApi = (req, res) => {
		if (second !== undefined || req.url !== '/api/x')
			return false;
		second = agent(['renew', domain()]).then(() =>
			json(res, 503, {}, { 'Retry-After': '0' }));
		return true;
	};
	const r = await agent(['call', 'GET', `${base()}/api/x`]);
	t.eq(r.code, 0, 'exit status');
	t.eq(seen('/api/x').length, 2, 'calls');
	t.eq(seen('/api/x')[1].token, [...company.tokens.keys()].at(-1),
	    'the newest token');
});

point('eight agents at once on one state lose nothing', [], async (t) => {
	const all = await Promise.all(Array.from({ length: 8 }, (_, i) =>
		agent(['--user', `u${i}`, 'session', domain()])));
	t.eq(all.map((r) => r.code), Array(8).fill(0), 'exit statuses');
	const users = stored().users;
	t.eq(users.length, 8, 'Users');
	t.ok(users.every((u) => u.sessions.length === 1), 'a Session each');
	t.eq(fs.readdirSync(dir).filter((f) => /json\.[A-Za-z0-9]{6}$/.test(f)),
	    [], 'temporary files');
});

// ---- serve -----------------------------------------------------------------

const get = (url, opts = {}) => new Promise((ok, fail) => {
	https.request(url, { ca: fs.readFileSync(certFile), agent: false, ...opts },
	    (res) => {
		let body = '';
		res.on('data', (d) => { body += d; });
		res.on('end', () => ok({ status: res.statusCode,
			headers: res.headers, body }));
	}).on('error', fail).end();
});

async function serving(body)
{
	const free = await new Promise((ok) => {
		const s = http.createServer().listen(0, '127.0.0.1', () => {
			const p = s.address().port;
			s.close(() => ok(p));
		});
	});
	const id = `https://localhost:${free}/a/agent.json`;
	const child = spawn(PROGRAM, ['--state', state, 'serve', '--listen',
		`127.0.0.1:${free}`, '--client-id', id, '--cert', certFile,
		'--key', keyFile], { env });
	let out = '';
	child.stdout.on('data', (d) => { out += d; });
	child.stderr.on('data', (d) => { out += d; });
	const ended = new Promise((ok) => child.on('close', ok));
	try {
		if (!await until(() => /listening on/.test(out)))
			throw new Error(`serve: ${out}`);
		await body(id, free);
	} finally {
		child.kill('SIGTERM');
	}
	return ended;
}

point('serve: metadata and keys as 4.1 wants them',
    proves('R-4.1-1', 'R-4.1-2', 'R-4.1-3', 'R-4.1-4', 'R-4.1-5'),
    async (t) => {
	const code = await serving(async (id) => {
		const doc = await get(id);
		t.eq(doc.status, 200, 'status');
		t.match(doc.headers['cache-control'], /max-age=300/, 'caching');
		const m = JSON.parse(doc.body);
		const at = id.replace('agent.json', '');
		t.eq(m, { client_id: id, client_name: 'Poppy Agent',
			jwks_uri: `${at}jwks.json`,
			redirect_uris: [`${at}oauth/callback`],
			token_endpoint_auth_method: 'private_key_jwt' }, 'metadata');
		const jwks = await get(m.jwks_uri);
		t.unlike(jwks.body, /"(d|p|q|dp|dq|qi|k)"/, 'private members');
		t.eq(JSON.parse(jwks.body).keys.length, 1, 'keys');
		t.eq((await get(id, { headers: {
			'If-None-Match': doc.headers.etag } })).status, 304, 'ETag');
		await agent(['keys', 'rotate', '--alg', 'EdDSA']);
		const after = JSON.parse((await get(m.jwks_uri)).body).keys;
		t.eq(after.map((k) => k.kty), ['OKP', 'EC'],
		    'the new key first, the old one still there');
	});
	t.eq(code, 0, 'exit status after SIGTERM');
});

point('serve: what it does not publish, and bytes that are no request', [],
    async (t) => {
	await serving(async (id, p) => {
		t.eq((await get(`${id}x`)).status, 404, 'another path');
		t.eq((await get(id, { method: 'DELETE' })).status, 405, 'method');
		t.eq((await get(id, { method: 'HEAD' })).body, '', 'HEAD');
		const tls = await import('node:tls');
		const raw = (text) => new Promise((ok) => {
			const s = tls.connect({ port: p, host: '127.0.0.1',
				servername: 'localhost', ca: fs.readFileSync(certFile) },
			    () => s.write(text));
			let got = '';
			s.on('data', (d) => { got += d; });
			s.on('error', () => ok(got));
			s.on('close', () => ok(got));
		});
		for (const [what, text, status] of [
			['no request', 'hello\r\n\r\n', 400],
			['a control character', 'GET /\x01 HTTP/1.1\r\n\r\n', 400],
			['a folded field', 'GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n', 400],
			['a space before the colon', 'GET / HTTP/1.1\r\nA : b\r\n\r\n', 400],
			['HTTP/2', 'GET / HTTP/2.0\r\n\r\n', 505],
			['a body', 'GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc', 413],
			['an endless field', `GET / HTTP/1.1\r\nA: ${'b'.repeat(9000)}`, 431],
		])
			t.match(await raw(text), new RegExp(`^HTTP/1.1 ${status} `), what);
	});
});

point('serve: silent peers do not keep others out', [], async (t) => {
	await serving(async (id, p) => {
		const net = await import('node:net');
		const silent = Array.from({ length: 20 }, () => {
			const s = net.connect(p, '127.0.0.1');
			s.on('error', () => {});
			return s;
		});
		await sleep(200);
		t.eq((await get(id)).status, 200, 'status');
		silent.forEach((s) => s.destroy());
	});
});

point('words and options that are wrong', [], async (t) => {
	for (const args of [[], ['dance'], ['visit'], ['visit', 'a', 'b'],
		['visit', 'x', '--listen', '1:2'], ['--nope', 'status'],
		['--max-wait', 'x', 'status']])
		t.eq((await agent(args)).code, 2, args.join(' '));
	for (const args of [['discover', 'https://localhost/'],
		['discover', 'localhost/x'], ['discover', 'a@localhost'],
		['discover', 'local host'], ['discover', ''],
		['init', '--client-id', 'http://localhost/a'],
		['init', '--client-id', 'https://localhost'],
		['init', '--client-id', 'https://localhost/a?b'],
		['init', '--client-id', 'https://localhost/jwks.json'],
		['keys', 'rotate', '--alg', 'HS256'],
		['serve', '--listen', 'nowhere']])
		t.eq((await agent(args)).code, 1, args.join(' '));
	t.eq(company.requests.length, 0, 'requests');
});

// ----------------------------------------------------------------------------

async function before()
{
	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
		'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile, '-out',
		certFile, '-days', '2', '-subj', '/CN=agent test', '-addext',
		'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
	server = https.createServer({ key: fs.readFileSync(keyFile),
		cert: fs.readFileSync(certFile) }, collect);
	plain = http.createServer();
	await new Promise((ok) => server.listen(0, '127.0.0.1', ok));
	await new Promise((ok) => plain.listen(0, '127.0.0.1', ok));
	port = server.address().port;
	plainPort = plain.address().port;
}

await run({ before, after: () => fs.rmSync(dir, { recursive: true }) });
