// poppyctl doctor: an agent of the operator's own visits the shop, published
// for as long as it needs, and nothing of it stays. The shop here may fetch
// nothing from its own network and lets in registered agents alone.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync,
	writeFileSync } from 'node:fs';
import { Agent, User } from './lib/agent.mjs';
import { send } from './lib/http.mjs';
import { random } from './lib/jose.mjs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { twin } from './lib/twin.mjs';
import { World } from './lib/world.mjs';

const BUILD = process.env.POPPY_TEST_BUILD;
const CTL = `${BUILD}/tools/poppyctl/poppyctl`;
const AGENT = `${BUILD}/tools/poppy-agent/poppy-agent`;
let w, dir;

const args = (more, conf = `${w.dir}/poppy.conf`, agent = AGENT) => ['-c', conf,
	'--ca', `${w.dir}/ca/ca.pem`, '--agent', agent, ...more, 'doctor'];

function doctor(...a)
{
	const r = spawnSync(CTL, args(...a), { encoding: 'utf8',
		timeout: 120000 });

	return { status: r.status, out: r.stdout, err: r.stderr };
}

// Rows of the tables that a visit writes, and folders.
async function left()
{
	const n = await w.sql('SELECT (SELECT count(*) FROM poppy.doctor), ' +
	    '(SELECT count(*) FROM poppy.client), ' +
	    '(SELECT count(*) FROM poppy.session), ' +
	    '(SELECT count(*) FROM poppy.token)');

	return n.trim() + readdirSync(dir).filter((f) =>
	    f.startsWith('poppy-doctor-')).join();
}

// A published agent without a program, as the function makes it.
const idOf = () => random(16);
const urlOf = (id, host = 'localhost') => w.url(`/poppy/doctor/${id}.json`,
    host);
async function publish(id, { url = urlOf(id), metadata = { client_id: url },
	jwks = { keys: [] } } = {})
{
	const q = (v) => `'${typeof v === 'string' ? v : JSON.stringify(v)}'`;

	return (await w.sql(`SELECT poppy_api.doctor_publish(${q(id)}, ` +
	    `${q(url)}, ${q(metadata)}, ${q(jwks)})`, 'poppy_auth')).trim();
}
const end = (id) => w.sql(`SELECT poppy_api.doctor_end('${id}', 3840)`,
    'poppy_auth');
const get = (path, host, more = {}) => send(w.url(path, host),
    { ca: w.ca, ...more });

test('it visits, tells people, and leaves nothing', proves('A-27'),
    async (t) => {
	const before = await left();
	const r = doctor([]);
	const lines = r.out.trim().split('\n');

	t.eq(r.status, 0, 'exit status', r.out + r.err);
	t.match(lines.at(-1), /^0 of \d+ points failed$/, 'the sum');
	t.ok(lines.length > 80, 'points', lines.length);
	t.eq(lines.slice(0, -1).filter((l) => !/^ok {7}\S.* \([RA]-/.test(l)),
	    ['# localhost', '# shop2.localhost'], 'other lines: every domain');
	const half = lines.slice(lines.indexOf('# shop2.localhost') + 1, -1);
	t.eq(half, lines.slice(1, half.length + 1), 'the same points for both');
	t.eq(await left(), before, 'rows and folders afterwards');
	t.unlike(r.out + r.err, /eyJ[\w-]{20}|pst_[\w-]{20}|usr_[\w-]{10}/,
	    'no JWT, token or User ID');
});

test('as JSON and as TAP', [], async (t) => {
	const json = JSON.parse(doctor(['--json']).out);

	t.match(json.client_id, new RegExp(`^${w.base}/poppy/doctor/` +
	    '[\\w-]{22}\\.json$'), 'client_id');
	t.eq(json.failed, 0, 'failed');
	t.ok(json.points.length > 80 && json.points.every((p) =>
	    p.result === 'ok' && /^[RA]-/.test(p.requirements)), 'points');
	t.eq([...new Set(json.points.map((p) => p.domain))],
	    ['localhost', 'shop2.localhost'], 'of every domain');
	const tap = doctor(['--tap']);
	t.match(tap.out, /^TAP version 13\n# localhost\nok 1 - /, 'TAP');
	const numbers = [...tap.out.matchAll(/^(?:not )?ok (\d+) - \S/mg)]
	    .map((m) => Number(m[1]));
	t.eq(numbers, json.points.map((_, i) => i + 1), 'one numbering');
	t.match(tap.out, new RegExp(`\n1\\.\\.${numbers.length}\n$`),
	    'one plan, at the end');
	t.eq([...tap.out.matchAll(/^(1\.\.|TAP)/mg)].length, 2, 'once each');
	t.eq(tap.status, 0, 'exit status');
});

test('nobody fetches its documents but doctor itself', [], async (t) => {
	const { client_id: url } = JSON.parse(doctor(['--json']).out);
	const path = new URL(url).pathname.replace('.json', '');

	const look = () => readFileSync(`${w.dir}/log/access.log`, 'utf8')
	    .split('\n').filter((l) => l.includes(path));

	await until(() => look().length >= 2, 20000);
	await sleep(1200);	// lighttpd writes its log once a second
	const lines = look();
	t.eq(lines.length, 2, 'requests', lines);
	t.ok(lines.every((l) => l.includes('poppyctl/')), 'who', lines);
});

test('what is published, and where', [], async (t) => {
	const id = idOf(), jwks = { keys: [{ kty: 'x' }] };

	t.eq(await publish(id, { jwks }), 'ok', 'publish');
	const doc = await get(`/poppy/doctor/${id}.json`);
	t.eq([doc.status, doc.json], [200, { client_id: urlOf(id) }], 'document');
	t.match(doc.header('content-type'), /^application\/json/, 'type');
	t.eq((await get(`/poppy/doctor/${id}.jwks.json`)).json, jwks, 'keys');
	for (const host of ['www.localhost', 'api.localhost', 'shop2.localhost'])
		t.eq((await get(`/poppy/doctor/${id}.json`, host)).status, 404,
		    host);
	for (const name of [id, `${id}.txt`, `${id}x.json`, id.slice(1) + '.json',
		`${id}.json.json`, `${id}.JSON`, `${id}/.json`, '.json', '',
		`${idOf()}.json`, `${id.slice(1)}%27.json`, `${id}.jwks`])
		t.eq((await get(`/poppy/doctor/${name}`)).status, 404,
		    `"${name}"`);
	t.eq((await get(`/poppy/doctor/${id}.json`, 'localhost', {
		method: 'POST', body: '' })).status, 405, 'POST');
	await w.sql('UPDATE poppy.doctor SET expires_at = 0');
	t.eq((await get(`/poppy/doctor/${id}.json`)).status, 404, 'expired');
	await end(id);
	t.eq(await w.sql('SELECT * FROM poppy.doctor'), '', 'ended');
});

test('few, small, and of the right name alone', [], async (t) => {
	const refused = async (what, id, more) => {
		let error = '';

		try {
			await publish(id, more);
		} catch (e) {
			error = e.message;
		}
		t.match(error, /violates check constraint/, what);
	};
	const big = { keys: ['x'.repeat(8192)] };
	await refused('metadata too large', idOf(), { metadata: big });
	await refused('keys too large', idOf(), { jwks: big });
	await refused('an id that is too short', 'x');
	await refused('another id in the URL', idOf(), { url: urlOf(idOf()) });
	await refused('another folder', 'A'.repeat(22), { url:
	    w.url(`/poppy/oauth/${'A'.repeat(22)}.json`) });
	await refused('http', 'A'.repeat(22), { url:
	    urlOf('A'.repeat(22)).replace('https', 'http') });
	const before = await left(), ids = Array.from({ length: 9 }, idOf);
	const got = [];
	for (const id of ids)
		got.push(await publish(id));
	t.eq(got, [...Array(8).fill('ok'), 'full'], 'nine');
	const r = doctor([]);
	t.eq(r.status, 2, 'exit status of doctor meanwhile');
	t.match(r.err, /eight of these/, 'and why');
	await w.sql('UPDATE poppy.doctor SET expires_at = 0 ' +
	    `WHERE id <> '${ids[0]}'`);
	t.eq(await publish(ids[8]), 'ok', 'the expired make room');
	t.eq((await w.sql('SELECT count(*) FROM poppy.doctor')).trim(), '2',
	    'and are gone');
	await end(ids[0]);
	await end(ids[8]);
	t.eq(await left(), before, 'rows afterwards');
});

test('an agent that is published lives an hour and not on suspicion', [],
    async (t) => {
	const id = idOf();

	await publish(id);
	const row = (await w.sql('SELECT fresh_until - fetched_at, stale_until ' +
	    '- fetched_at, refetch_after - fetched_at, allowed FROM ' +
	    `poppy.client WHERE client_id = '${urlOf(id)}'`)).trim();
	t.eq(row, '3600|3600|3600|t', 'its row');
	await end(id);
});

// A Session start with that client_id and the keys of what is published.
async function asks(t, what, url, key)
{
	const agent = new Agent(w, { key });

	agent.id = url;
	const res = await agent.token(new User());
	t.eq(res.json?.error, 'invalid_client', `${what}: ` +
	    `${res.json?.error_description}`);
	t.unlike(res.json?.error_description, /registered|not accepted/,
	    `${what}: it was looked for`);
	t.eq((await w.sql(`SELECT count(*) FROM poppy.client WHERE client_id = ` +
	    `'${url}' AND fresh_until > 0`)).trim(), '0', `${what}: no copy`);
}

test('no other client_id is served from the database', proves('R-4.1-1'),
    async (t) => {
	const id = idOf(), agent = new Agent(w), url = urlOf(id);

	await publish(id, { jwks: agent.jwks() });
	agent.id = url;
	t.eq((await agent.token(new User())).status, 200, 'it itself', url);
	await w.sql("INSERT INTO poppy.client_rule SELECT '*.localhost', " +
	    "'allow', 0 UNION ALL SELECT 'localhost', 'allow', 0");
	for (const [what, other] of [
		['another id', urlOf(idOf())],
		['the same on another host of ours', urlOf(id, 'www.localhost')],
		['the same on a stranger\'s port', url.replace(`:${w.port}`,
		    new URL(w.docs.base).port.replace(/^/, ':'))],
		['with a query', `${url}?x`],
		['the key set', url.replace('.json', '.jwks.json')],
		['one folder on', url.replace('/doctor/', '/doctor/x/')],
	])
		await asks(t, what, other, agent.key);
	await w.sql('DELETE FROM poppy.client_rule');
	await end(id);
});

test('its end is no other agent\'s', [], async (t) => {
	const id = idOf(), agent = new Agent(w);

	await publish(id, { jwks: agent.jwks() });
	agent.id = urlOf(id);
	const s = await agent.session();
	const before = await left();
	t.eq((await w.sql(`SELECT poppy_api.doctor_end('${idOf()}', 0)`,
	    'poppy_auth')).trim(), '', 'an unknown one');
	t.eq(await left(), before, 'takes nothing away');
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'a call');
	let at = 0, calls = 0;
	for (; at !== '' && calls < 20; calls++)
		at = (await w.sql(`SELECT poppy_api.doctor_end('${id}', ${at})`,
		    'poppy_auth')).trim();
	t.eq(calls, 16, 'calls to its own end');
	t.challenged(await agent.call(s, 'GET', w.stock), 401, 'invalid_token',
	    'its token');
	t.eq((await agent.token(new User())).json?.error, 'invalid_client',
	    'a new Session');
});

test('a path that the web server does not lead to us', [], async (t) => {
	const settings = readFileSync(`${w.dir}/settings.json`, 'utf8');
	const before = await left(), { port, stop } = await twin(w, 'doctor');

	writeFileSync(`${dir}/twin.conf`,
	    settings.replaceAll(`:${w.port}`, `:${port}`));
	const r = doctor([], `${dir}/twin.conf`);
	stop();
	t.eq(r.status, 2, 'exit status');
	t.match(r.err, /status 404.*lead \/poppy\/doctor\/ to poppy-auth/, 'why');
	t.eq(await left(), before, 'rows and folders afterwards');
});

test('what fails is told, with what came back', [], async (t) => {
	const before = await left();

	await w.program('guard', 'stop');
	const r = doctor([]), json = JSON.parse(doctor(['--json']).out);
	await w.program('guard', 'start');
	t.eq(r.status, 2, 'exit status');
	t.match(r.out, /^failed {3}\S.*\n {9}\S/m, 'a failed point and why');
	t.match(r.out, /^[1-9]\d* of \d+ points failed$/m, 'the sum');
	t.ok(json.failed > 0 && json.points.some((p) => p.result === 'failed' &&
	    p.details.length > 0), 'JSON', json);
	t.eq(await left(), before, 'rows and folders afterwards');
}, { timeout: 200000 });

test('cut off, it takes its agent away', [], async (t) => {
	const before = await left(), slow = `${dir}/slow`;

	writeFileSync(slow, `#!/bin/sh\ncase "$*" in\n*" check "*) ` +
	    `exec sleep 60;;\nesac\nexec ${AGENT} "$@"\n`);
	chmodSync(slow, 0o755);
	const child = spawn(CTL, args([], undefined, slow),
	    { stdio: ['ignore', 'ignore', 'pipe'] });
	const ended = new Promise((ok) => child.on('exit', ok));
	t.ok(await until(async () => (await left()) !== before), 'published');
	await sleep(500);
	child.kill('SIGTERM');
	t.eq(await ended, 2, 'exit status');
	t.eq(await left(), before, 'rows and folders afterwards');
});

test('without what it needs', [], async (t) => {
	const before = await left(), none = doctor([], undefined, '/nix');
	const conf = JSON.parse(readFileSync(`${w.dir}/settings.json`, 'utf8'));

	t.eq(none.status, 2, 'no poppy-agent');
	t.match(none.err, /\/nix can't be run/, 'and why');
	t.match(JSON.parse(doctor(['--json'], undefined, '/nix').out).error,
	    /\/nix can't be run/, 'as JSON');
	writeFileSync(`${dir}/away.conf`, JSON.stringify({ ...conf, database:
	    { conninfo: `host=${dir}` } }));
	const away = doctor([], `${dir}/away.conf`);
	t.eq(away.status, 2, 'no database');
	t.match(away.err, /see poppyctl check/, 'and why');
	writeFileSync(`${dir}/web.conf`, JSON.stringify({ ...conf, issuer: '',
		apis: [], guard: [] }));
	t.eq(doctor([], `${dir}/web.conf`).status, 2, 'no issuer');
	t.eq(await left(), before, 'rows and folders afterwards');
});

test('agents on the issuer\'s host are blocked', [], async (t) => {
	const before = await left();

	await w.sql("INSERT INTO poppy.client_rule VALUES ('localhost', " +
	    "'block', 0)");
	const r = doctor([]);

	await w.sql('DELETE FROM poppy.client_rule');
	t.eq(r.status, 2, 'exit status');
	t.match(r.err, /are blocked: allow https:/, 'why');
	t.eq(await left(), before, 'rows and folders afterwards');
});

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			c.agents.registration = true;
			delete c.agents.allow_networks;
			delete c.agents.extra_ca;
		} });
		dir = mkdtempSync('/tmp/doctor-');
		chmodSync(dir, 0o755);
		process.env.TMPDIR = dir;
	},
	after: () => {
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
