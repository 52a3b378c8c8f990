/*
 * What tests/bench/run --all measures beside speed: growth, memory, refreshed
 * tokens, and token requests while customers sign in. x is what run has: its
 * programs, its database, and burst() to load them with.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

const MILLION = 1000000;
const LOGINS = 50;
const PAGES = fileURLToPath(new URL('pages.mjs', import.meta.url));
const ROWS = 2000;		// of a loop in SQL

/* CPU of a start and of a guarded call, against the floor's at that moment. */
export function costs(x)
{
	const kinds = ['start', 'startFloor', 'guard', 'guardFloor'];
	const got = Object.fromEntries(kinds.map((k) => [k, []]));

	for (let i = 0; i < 3; i++)
		for (const k of kinds)
			got[k].push(x.burst({ ...x.kinds[k], requests: 800 }));
	return { start: x.ratio(got.start, got.startFloor),
		guard: x.ratio(got.guard, got.guardFloor) };
}

/* A million Sessions with their tokens, and as many jtis in the live table. */
function fill(x)
{
	x.psql(x.db, '-c', `
INSERT INTO poppy.session (bucket, sid, client_no, user_key, started_at,
    used_at, ends_at)
SELECT i % 4096, decode(md5('s' || i), 'hex'), 1 + i % 64,
    sha256(('u' || i)::bytea), n, n, n + 86400
FROM generate_series(1, ${MILLION}) i, poppy.now_at() n`, '-c', `
INSERT INTO poppy.token (bucket, hash, sid, jkt, issued_at, expires_at)
SELECT i % 4096, sha256(('t' || i)::bytea), decode(md5('s' || i), 'hex'),
    sha256(('k' || i)::bytea), n, n + 3600
FROM generate_series(1, ${MILLION}) i, poppy.now_at() n`, '-c',
	jtis('n / 900', 'n'), '-c',
	'VACUUM ANALYZE poppy.session, poppy.token', '-c', 'CHECKPOINT');
}

/* A million jtis into the table of a slot; both are expressions of n, now. */
const jtis = (slot, iat) => `
DO $$
DECLARE
	n bigint := poppy.now_at();
BEGIN
	EXECUTE format('INSERT INTO poppy.replay_%s (spend, iat) SELECT '
	    'decode(md5(%L || i), ''hex''), %s FROM generate_series(1, '
	    '${MILLION}) i', (${slot}) % 4, random(), ${iat});
END
$$`;

export function growth(x, before)
{
	fill(x);
	const after = costs(x);

	x.goal('5 a start among 10^6 Sessions and jtis, beside 10^3',
	    after.start / before.start, 1.25, ' x');
	x.goal('5 a guarded call among them', after.guard / before.guard, 1.25,
	    ' x');
}

/* Load in the background: what it prints. */
function loading(x, mode, port, conns, requests)
{
	const p = spawn(x.exe('tests/bench/load'), [mode, x.dir,
		`127.0.0.1:${port}`, x.base, String(conns), String(requests),
		'64'], { stdio: ['ignore', 'pipe', 'inherit'] });
	let text = '';

	p.stdout.on('data', (d) => { text += d; });
	return new Promise((ok, fail) => p.on('exit', (code) => code === 0 ?
	    ok(JSON.parse(text)) : fail(new Error('load failed'))));
}

/* A slice of a million jtis goes, under load. */
export async function slice(x)
{
	for (let i = 0; i < 3; i++) {
		/* It has been out of use for a while when it goes. */
		x.psql(x.db, '-c', jtis('(n + 120) / 900 + 2', 'n'), '-c',
		    'CHECKPOINT');
		const load = loading(x, 'guard', x.ports.product, 8, 16000);
		await x.sleep(2500);
		const out = x.psql(x.db, '-c', '\\timing on', '-c',
		    'SELECT poppy_api.replay_rotate()');
		const r = await load;

		/* A worker may have been sooner. */
		if (!/^[1-9]/m.test(out))
			continue;
		x.goal('5 dropping a slice of 10^6 jtis',
		    Number(/Time: ([\d.]+) ms/.exec(out)[1]), 50, ' ms');
		x.goal('5 longest request meanwhile', r.max_us / 1000, 50,
		    ' ms');
		return;
	}
	throw new Error('a worker always emptied the slice first');
}

function pss(p)
{
	return Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(
	    `/proc/${p.pid}/smaps_rollup`, 'utf8'))[1]) / 1024;
}

/* MiB a worker, and how much more after many requests. */
export function memory(x, requests)
{
	const kinds = [['poppy-auth', 'start', x.servers.auth, 0.1],
		['poppy-guard', 'guard', x.servers.guard, 0.9]];

	for (const [name, kind, p, share] of kinds) {
		const was = pss(p), total = requests * share;

		for (let n = 0; n < total; n += 20000)
			x.burst({ ...x.kinds[kind],
			    requests: Math.min(20000, total - n) });
		x.goal(`6 ${name}, a worker's share`, pss(p) / x.threads, 2,
		    ' MiB');
		x.goal(`6 ${name}, growth over ${total} requests`,
		    pss(p) - was, 1, ' MiB');
	}
}

/* The runtime's own test parks a thousand and weighs them. */
export function parked(x)
{
	const { stdout } = spawnSync(x.exe('tests/unit/t_park'),
	    { encoding: 'utf8' });
	const [, n] = /(\d+) wait\b/.exec(stdout);
	const [, kib] = /less than 1 KiB each \((\d+) KiB\)/.exec(stdout);

	x.goal('6 a parked reader', kib / n, 1, ' KiB');
}

/* The time of a call in SQL, commit included, in microseconds. */
function timed(x, call)
{
	return Number(x.psql(x.db, '-c', 'SET synchronous_commit = off', '-c',
	    'SET enable_seqscan = off', '-c', 'SET jit = off', '-c',
	    'SET plan_cache_mode = force_generic_plan', '-c', `
DO $$
DECLARE
	began float;
	now_at bigint;
	outcome text;
BEGIN
	FOR i IN -100..${ROWS} LOOP
		IF i = 1 THEN
			began := date_part('epoch', clock_timestamp());
		END IF;
		now_at := poppy.now_at();
		${call}
		IF outcome <> 'ok' THEN
			RAISE 'outcome %', outcome;
		END IF;
		COMMIT;
	END LOOP;
	PERFORM set_config('bench.us', ((date_part('epoch',
	    clock_timestamp()) - began) * 1e6 / ${ROWS})::text, false);
END
$$`, '-c', "SELECT current_setting('bench.us')"));
}

const KEY = 'uuid_send(gen_random_uuid())';
const COMMON = (n) => `ARRAY[${Array(n).fill(KEY)}], ` +
    `ARRAY[${Array(n).fill('now_at')}], 60, '::1', '\\x01', 10000000, 0`;
const START = `outcome := (SELECT s.outcome FROM poppy_api.session_start(1, 1,
	i & 4095, sha256(${KEY}), NULL, ${KEY}, sha256(${KEY}), 3600, 86400,
	864000, sha256('k'), NULL, ${COMMON(3)}) s);`;
const REFRESH = `outcome := (SELECT r.outcome FROM poppy_api.token_refresh(1, 1,
	sha256('a'), 7, NULL, ${KEY}, sha256(${KEY}), 3600, 86400, 864000,
	sha256('k'), NULL, NULL, NULL, 60, ${COMMON(2)}) r);`;

export function refresh(x)
{
	const ratios = [];

	x.psql(x.db, '-c', `
WITH g AS (INSERT INTO poppy.grants (bucket, client_no, user_key, account,
    scopes, kind, created_at, used_at, expires_at)
SELECT 7, 1, sha256('u'), '1', 'poppy:read', 'direct', n, n, n + 86400
FROM poppy.now_at() n RETURNING bucket, grant_no, created_at)
INSERT INTO poppy.account_token (bucket, hash, grant_no, issued_at)
SELECT bucket, sha256('a'), grant_no, created_at FROM g`);
	for (let i = 0; i < 5; i++) {
		const start = timed(x, START);

		ratios.push(timed(x, REFRESH) / start);
	}
	x.goal('SQL of a refreshed token', x.median(ratios), 1.3, ' x start');
}

/* A shop of customers whose hashes cost what PHP takes today. */
export function customers(x)
{
	const hash = execFileSync('php', ['-r', 'echo password_hash("secret", ' +
	    'PASSWORD_BCRYPT, ["cost" => 12]);'], { encoding: 'utf8' });

	x.psql(x.db, '-c', `
CREATE OR REPLACE VIEW poppy_shop.customer AS
SELECT i::text AS id, 'c' || i AS login, 'C' AS name, ''::text AS email,
    ''::text AS phone, '${hash}'::text AS password_hash, ''::text AS hash_kind,
    'ok'::text AS status, ''::text AS locale
FROM generate_series(1, ${LOGINS}) i`);
}

function ask(x, method, headers, body)
{
	return new Promise((ok, fail) => {
		const req = http.request({ host: '127.0.0.1', method,
			port: x.ports.product, path: '/poppy/login', headers: {
				Host: 'bench.example', ...headers } }, (res) => {
			let text = '';

			res.on('data', (d) => { text += d; });
			res.on('end', () => ok({ status: res.statusCode, text,
				cookie: (res.headers['set-cookie'] ?? [''])[0]
				    .split(';')[0] }));
		});

		req.on('error', fail);
		req.end(body);
	});
}

async function login(x, i)
{
	const page = await ask(x, 'GET', {});
	const form = new URLSearchParams([...page.text.matchAll(
	    /type="hidden" name="([^"]*)" value="([^"]*)"/g)]
	    .map((m) => [m[1], m[2]]));

	form.set('login', `c${i}`);
	form.set('password', 'secret');
	return (await ask(x, 'POST', { Cookie: page.cookie, Origin: x.base,
		'Content-Type': 'application/x-www-form-urlencoded' },
	String(form))).status;
}

/* p99 of token requests while fifty customers sign in at once. */
export async function logins(x)
{
	const quiet = await loading(x, 'start', x.ports.product, 2, 1000);
	const load = loading(x, 'start', x.ports.product, 2, 1000);

	await x.sleep(400);
	const began = Date.now();
	const got = await Promise.all(Array.from({ length: LOGINS },
	    (_, i) => login(x, i + 1)));
	const ms = Date.now() - began, busy = await load;
	const count = (s) => got.filter((g) => g === s).length;

	console.log(`\n${LOGINS} logins at once, bcrypt cost 12: ` +
	    `${count(303)} signed in, ${count(503)} told to come again, in ` +
	    `${ms} ms; token p99 meanwhile ${busy.p99_us} us ` +
	    `(quiet: ${quiet.p99_us} us)`);
	if (count(303) === 0 || count(303) + count(503) !== LOGINS)
		throw new Error(`logins: ${got}`);
}

/* A shop's pages, to those who are no agents and to those who are. */
export function pages(x)
{
	console.log('\nCPU of a page, us a request'.padEnd(37) + '   alone' +
	    ' visitor  joined × alone');
	for (const server of ['lighttpd', 'apache']) {
		const got = JSON.parse(execFileSync(process.execPath, [PAGES,
		    '--build', x.build, '--server', server, '--rounds',
		    String(2 * x.rounds)], { encoding: 'utf8' }));

		for (const p of got) {
			const f = (v) => v.toFixed(0).padStart(8);

			console.log(`${server}, ${p.what} (${p.page})`.padEnd(36) +
			    f(p.alone) + f(p.plain) + f(p.joined) +
			    (p.joined / p.alone).toFixed(2).padStart(8));
			x.goal(`5 ${p.what} to a visitor, ${server}`,
			    p.plain / p.alone, 1.05, ' x the shop alone');
		}
	}
}
