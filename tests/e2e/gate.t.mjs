// The gate: who may ask the guard. On a Unix socket the file's mode decides; on
// TCP a secret does, and without one nobody gets anything.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync }
	from 'node:fs';
import net from 'node:net';
import { proves, run, test, until } from './lib/tap.mjs';
import { Agent } from './lib/agent.mjs';
import { AUTHORIZER, Shot, address, environment, request }
	from './lib/fcgi.mjs';
import { SERVER, settings } from './lib/settings.mjs';
import { World, freePort } from './lib/world.mjs';

const SECRET = 'Aa0-_'.repeat(8), OTHER = 'Bb1-_'.repeat(8);
let w, agent, s, base, n = 0;

// A file in the secrets folder that the programs' user may read.
function secret(name, text, mode = 0o400)
{
	const file = `${w.dir}/secrets/${name}`;

	rmSync(file, { force: true });
	writeFileSync(file, text, { mode });
	chmodSync(file, mode);
	chownSync(file, base.uid, base.gid);
	return name;
}

function conf(gate)
{
	const file = `${w.dir}/conf/gate-${n++}.json`;

	writeFileSync(file, JSON.stringify(settings(w.dir, w.port, (c) => {
		c.gate = gate; })), { mode: 0o644 });
	return file;
}

const up = (at) => new Promise((ok) => {
	const c = net.connect(address(at));

	c.on('connect', () => { c.destroy(); ok(true); });
	c.on('error', () => ok(false));
});

// A guard of our own, on a TCP port or on a socket file.
async function start(gate, at, env = {})
{
	const file = conf(gate);
	const child = w.launch({ ...base, argv: [base.argv[0]], env },
	    ['-c', file, '-l', at], `gate-${n}`);

	if (!await until(() => up(at), 10000))
		throw new Error('the guard does not start');
	return { child, file, at };
}

async function stop(t, g)
{
	g.child.kill('SIGTERM');
	t.eq(await g.child.ended, { code: 0, signal: null }, 'end');
}

const tcp = async () => `127.0.0.1:${await freePort()}`;

// A good call, straight to a guard; what the web server adds comes last.
async function ask(g, added = {}, path = '/api/stock.php')
{
	const url = w.url(path);
	const vars = environment('GET', url, [
		['Authorization', `DPoP ${s.token}`],
		['DPoP', s.user.proof('GET', url, { token: s.token })]]);

	delete vars.POPPY_GATE;
	return (await Shot.open(g.at)).fire(request(AUTHORIZER,
	    { ...vars, ...added }));
}

function shut(t, res, what)
{
	t.eq(res.status, 500, `${what}: status`);
	t.eq(res.json?.error, 'server_error', `${what}: code`);
	t.ok(!/Variable-/i.test(res.text), `${what}: tells nothing`, res.text);
}

test('on TCP without a gate everything is refused', proves('R-6-4'),
    async (t) => {
	const g = await start('', await tcp());

	shut(t, await ask(g), 'a good call');
	shut(t, await ask(g, { POPPY_GATE: '' }), 'an empty gate');
	shut(t, await ask(g, { POPPY_GATE: SECRET }), 'some gate');
	shut(t, await ask(g, {}, '/api/openapi.json'), 'an open rule');
	await stop(t, g);
});

test('on TCP the gate secret opens, and nothing else does', proves('R-6-4'),
    async (t) => {
	const g = await start(secret('t-good', `${SECRET}\n`), await tcp());

	t.eq((await ask(g, { POPPY_GATE: SECRET })).status, 200, 'the secret');
	shut(t, await ask(g), 'none');
	for (const [why, v] of [['empty', ''], ['another', OTHER],
		['short', SECRET.slice(0, -1)], ['long', `${SECRET}a`],
		['with the newline', `${SECRET}\n`],
		['in upper case', SECRET.toUpperCase()]])
		shut(t, await ask(g, { POPPY_GATE: v }), why);
	// Only the include sets this name; a header has another one.
	shut(t, await ask(g, { HTTP_POPPY_GATE: SECRET }), 'as a header');
	await stop(t, g);
});

test('PHP never sees the secret', [], async (t) => {
	const g = await start(secret('t-hide', SECRET), await tcp());

	for (const path of ['/api/stock.php', '/api/openapi.json']) {
		const res = await ask(g, { POPPY_GATE: SECRET }, path);

		t.eq(res.status, 200, path);
		t.match(res.head, /^Variable-POPPY_GATE: open/mi, path);
		t.ok(!res.text.includes(SECRET), 'not a trace');
	}
	await stop(t, g);
});

test('a refusal names its error for Apache, where a gate was shown', [],
    async (t) => {
	const g = await start(secret('t-name', SECRET), await tcp());
	const res = await ask(g, { POPPY_GATE: SECRET }, '/api/none');

	t.eq(res.status, 404, 'status');
	t.match(res.head, /^Poppy-Error: not_found/mi, 'header');
	await stop(t, g);
});

test('a gate counts on a Unix socket too, once it is set', [], async (t) => {
	const at = `${w.dir}/run/gate-unix.sock`;
	const g = await start(secret('t-unix', SECRET), at);

	t.eq((await ask(g, { POPPY_GATE: SECRET })).status, 200, 'the secret');
	shut(t, await ask(g), 'none');
	await stop(t, g);
});

test('SIGHUP takes a new secret', [], async (t) => {
	const g = await start(secret('t-new', SECRET), await tcp());

	t.eq((await ask(g, { POPPY_GATE: SECRET })).status, 200, 'before');
	secret('t-new', OTHER);
	g.child.kill('SIGHUP');
	t.ok(await until(async () => (await ask(g, { POPPY_GATE: OTHER }))
	    .status === 200, 5000), 'the new one');
	shut(t, await ask(g, { POPPY_GATE: SECRET }), 'the old one');
	// A bad file leaves the secret in force.
	secret('t-new', 'short');
	g.child.kill('SIGHUP');
	await until(() => false, 300);
	t.eq((await ask(g, { POPPY_GATE: OTHER })).status, 200, 'still');
	await stop(t, g);
});

test('systemd may hand the gate over, or none', [], async (t) => {
	const dir = `${w.dir}/credentials`;

	secret('t-folder', OTHER);
	mkdirSync(dir, { recursive: true });
	for (const [what, said] of [['-', OTHER], [`${SECRET}\n`, SECRET]]) {
		writeFileSync(`${dir}/t-folder`, what, { mode: 0o600 });
		chownSync(`${dir}/t-folder`, base.uid, base.gid);
		const g = await start('t-folder', await tcp(),
		    { CREDENTIALS_DIRECTORY: dir });

		t.eq((await ask(g, { POPPY_GATE: said })).status, 200, what);
		shut(t, await ask(g, { POPPY_GATE: said === OTHER ? SECRET :
			OTHER }), 'the other one');
		await stop(t, g);
	}
});

// Each must end the start, naming the file.
const BAD = [
	['missing', () => 't-none', 'missing'],
	['short', () => secret('t-bad', 'a'.repeat(31)), '32 to 128'],
	['empty', () => secret('t-bad', ''), '32 to 128'],
	['long', () => secret('t-bad', 'a'.repeat(129)), '32 to 128'],
	['huge', () => secret('t-bad', 'a'.repeat(5000)), '32 to 128'],
	['two lines', () => secret('t-bad', `${SECRET}\n${SECRET}\n`),
		'letters'],
	['quoted', () => secret('t-bad', `"${SECRET}"`), 'letters'],
	['open to the group', () => secret('t-bad', SECRET, 0o440), 'others'],
	['open to all', () => secret('t-bad', SECRET, 0o404), 'others'],
	['a folder', () => '../conf', 'file name'],
	['the master key', () => 'master', 'master'],
	['a link', () => {
		secret('t-target', SECRET);
		rmSync(`${w.dir}/secrets/t-link`, { force: true });
		symlinkSync(`${w.dir}/secrets/t-target`,
		    `${w.dir}/secrets/t-link`);
		return 't-link';
	}, 'opened'],
];
for (const [why, make, said] of BAD)
	test(`a gate file that is bad: ${why}`, [], (t) => {
		const file = conf(make());
		const r = spawnSync(base.argv[0], ['-c', file, '-t'], { cwd: '/',
			uid: base.uid, gid: base.gid, encoding: 'utf8',
			timeout: 5000 });

		t.eq(r.status, 78, 'exit status');
		t.ok(r.stderr.includes(file) && r.stderr.includes('gate') &&
		    r.stderr.includes(said), 'a reason', r.stderr);
		t.ok(!r.stderr.includes(SECRET), 'not the secret');
	});

if (SERVER === 'apache')
	test('a client can\'t show the gate itself', proves('R-6-13'),
	    async (t) => {
		const res = await agent.call(s, 'GET', w.whoami, { headers: [
			['POPPY_GATE', SECRET], ['Poppy-Gate', SECRET]] });

		t.eq(res.status, 200, 'status');
		t.eq(Object.keys(w.who(res)).includes('POPPY_GATE'), false,
		    'PHP sees none');
	});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		s = await agent.session();
		base = w.command(w.pids('guard')[0]);
	},
	after: () => w?.close(),
});
