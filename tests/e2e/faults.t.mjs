// Faults under load, with two processes of each program: no replay passes, what
// must be durable is not lost, and nobody needs a restart. Its own stack.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chownSync, cpSync, existsSync, mkdirSync,
	readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Load, fits, others } from './lib/load.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const ARGS = ['--auth-procs', '2', '--guard-procs', '2'];
const FINE = /^(start|call) 200$/;
// While a part is away: refused by us with Retry-After, or by the web server.
const AWAY = /^(start|call) (200|50[0234])$/;
const OURS = /^(start|call) (200|503)$/;
// A crash may lose Sessions of the last moment, not their revocation.
const CRASH = /^((start|call) (200|503)|call 401)$/;
const root = process.getuid() === 0;
let w, agent, s;

// Both of what replay memory needs after a crash are short here.
function bend(c)
{
	c.proofs = { future_seconds: 2 };
	c.assertions = { skew_seconds: 2 };
	c.database.conninfo = `host=${w?.dir ?? ''}/pg dbname=shop`;
}

const standby = (dir) => (c) => {
	bend(c);
	c.database.conninfo = `host=${dir}/pg,${dir}/pg2 dbname=shop ` +
	    'target_session_attrs=read-write';
};

// As the database's own user.
function asPg(argv)
{
	return execFileSync(root ? 'runuser' : argv[0], root ?
	    ['-u', 'postgres', '--', ...argv] : argv.slice(1),
	{ cwd: '/', encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const pgBin = (name) => readdirSync('/usr/lib/postgresql')
    .map((v) => `/usr/lib/postgresql/${v}/bin/${name}`)
    .filter(existsSync).at(-1);

const postgresId = () => Number(execFileSync('id', ['-u', 'postgres']));

// A folder that PostgreSQL's user may write.
function pgFolder(dir)
{
	mkdirSync(dir, { recursive: true });
	if (root)
		chownSync(dir, postgresId(), -1);
	return dir;
}

async function serves(t, what, ms = 20000, url = w.stock)
{
	const ok = async () => {
		const fresh = new User();
		const res = await agent.token(fresh);

		if (res.status !== 200)
			return false;
		const one = { user: fresh, token: res.json.access_token };
		for (let i = 0; i < 4; i++)
			if ((await agent.call(one, 'GET', url)).status !== 200)
				return false;
		return true;
	};

	return t.ok(await until(ok, ms, 200), `${what}: served again`);
}

// Nothing that was spent before the fault is good for anything now.
async function noReplay(t, load, what)
{
	const got = await load.replay();

	t.ok(load.spent.length > 10, `${what}: there is what to replay`);
	t.eq(got[200] ?? 0, 0, `${what}: replays that passed of ` +
	    JSON.stringify(got));
	fits(t, got, /^(400|401|503)$/, `${what}: answers`);
}

for (const program of ['auth', 'guard'])
	test(`kill -9 of a poppy-${program} under load: the other serves`, [],
	    async (t) => {
		const pid = w.pids(program)[0], cmd = w.command(pid);
		const load = new Load(agent);

		await sleep(700);
		process.kill(pid, 'SIGKILL');
		await sleep(1000);
		const at = load.reset();
		fits(t, at, AWAY, 'around the kill');
		// What it had in hand is lost, and nothing else.
		t.ok(others(at, FINE) <= 8, 'lost', at);
		await sleep(1500);
		const then = load.reset();
		fits(t, then, FINE, 'without it');
		const heir = w.launch(cmd, [], `heir-${program}`);
		t.ok(await until(() => w.logs(`heir-${program}`).find((l) =>
		    l.pid === heir.pid && l.event === 'request'), 10000),
		'its heir gets requests, without a restart of the web server');
		const last = await load.stop();
		fits(t, last, FINE, 'with the heir');
		await noReplay(t, load, 'afterwards');
	}, { timeout: 60000 });

test('kill -9 of a backend of PostgreSQL: no replay passes', proves('R-4.3-8',
    'R-4.2-6', 'R-4.1-8'), async (t) => {
	const load = new Load(agent);

	await sleep(1000);
	const pid = Number((await w.sql('SELECT pid FROM pg_stat_activity ' +
	    "WHERE usename = 'poppy_auth' LIMIT 1")).trim());
	process.kill(pid, 'SIGKILL');
	await sleep(300);
	await noReplay(t, load, 'at once');
	await serves(t, 'after the crash');
	const got = await load.stop();
	fits(t, got, CRASH, 'meanwhile');
	await noReplay(t, load, 'later');
}, { timeout: 90000 });

// What is durable by design outlives a crash at the very next moment.
test('immediate stop and start under load: revocation is durable',
    proves('R-4.3-8', 'R-4.2-6', 'R-4.1-8'), async (t) => {
	const load = new Load(agent);
	const mine = await agent.session();

	await sleep(800);
	const body = new URLSearchParams([['token', mine.token],
		...agent.form(mine.user)
		    .filter(([k]) => k.startsWith('client'))]);
	const res = await send(`${w.base}/poppy/oauth/revoke`, { ca: w.ca,
		method: 'POST', body: String(body), headers: [['Content-Type',
			'application/x-www-form-urlencoded']] });
	t.eq(res.status, 200, 'revoked');
	await w.pg('crash');
	await sleep(500);
	await noReplay(t, load, 'while PostgreSQL is away');
	await w.pg('start');
	await noReplay(t, load, 'at once');
	await serves(t, 'after the start');
	const got = await load.stop();
	fits(t, got, CRASH, 'meanwhile');
	await noReplay(t, load, 'later');
	t.challenged(await agent.call(mine, 'GET', w.stock), 401,
	    'invalid_token', 'the revoked token');
}, { timeout: 90000 });

test('clean restart of PostgreSQL under load: no replay passes',
    proves('R-4.3-8', 'R-4.2-6', 'R-4.1-8'), async (t) => {
	const load = new Load(agent);
	const before = await agent.session();

	await sleep(800);
	await w.pg('stop');
	await w.pg('start');
	await noReplay(t, load, 'at once');
	await serves(t, 'after the start', 8000);
	const got = await load.stop();
	fits(t, got, OURS, 'meanwhile');
	await noReplay(t, load, 'later');
	t.eq((await agent.call(before, 'GET', w.stock)).status, 200,
	    'a Session from before');
}, { timeout: 60000 });

// Old programs go on while the next release's database is made, and connect to
// it anew.
test('the database migrates under load: old programs run on', [], async (t) => {
	const sql = `${w.dir}/next-sql`, load = new Load(agent);
	const db = `host=${w.dir}/pg dbname=shop user=postgres`;
	const version = async () => Number(await w.sql(
	    'SELECT poppy_api.schema_version()'));

	cpSync(`${TOP}/sql`, sql, { recursive: true });
	const old = await version();
	const number = String(old + 1).padStart(4, '0');
	writeFileSync(`${sql}/migrate/${number}-next.sql`,
	    'ALTER TABLE poppy.session ADD COLUMN next int;\n' +
	    'CREATE INDEX ON poppy.session (next);\n');
	appendFileSync(`${sql}/functions/token.sql`, '-- changed\n');
	await sleep(500);
	execFileSync(`${w.dir}/bin/poppyctl`, ['--conninfo', db, '--sql', sql,
		'db', 'migrate'], { cwd: '/' });
	t.eq(await version(), old + 1, 'the version moved');
	await sleep(500);
	const got = load.reset();
	fits(t, got, FINE, 'meanwhile');
	await w.sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity ' +
	    "WHERE usename LIKE 'poppy\\_%'");
	await serves(t, 'on new connections', 8000);
	fits(t, await load.stop(), OURS, 'on the way');
	// The stack's next start has only the files of today.
	await w.sql('DELETE FROM poppy.schema_migration ' +
	    `WHERE number = ${old + 1}`);
}, { timeout: 60000 });

// PgBouncer gives each transaction whatever connection is free.
async function pooler()
{
	const dir = pgFolder(`${w.dir}/pool`), ini = `${dir}/pgbouncer.ini`;

	writeFileSync(`${dir}/users`, '"poppy_auth" ""\n"poppy_guard" ""\n');
	writeFileSync(ini, `[databases]\nshop = host=${w.dir}/pg\n` +
	    '[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n' +
	    `unix_socket_dir = ${dir}\n` +
	    `auth_type = trust\nauth_file = ${dir}/users\n` +
	    'pool_mode = transaction\ndefault_pool_size = 2\n');
	const child = spawn('/usr/sbin/pgbouncer', [ini], { cwd: '/',
		stdio: 'ignore', uid: root ? postgresId() : undefined });
	w.children.push(child);
	return { dir, up: await until(() => existsSync(`${dir}/.s.PGSQL.6432`),
	    5000) };
}

test('through PgBouncer in transaction mode', [], async (t) => {
	t.must(existsSync('/usr/sbin/pgbouncer'), 'package pgbouncer');
	const { dir, up } = await pooler();
	t.must(up, 'PgBouncer runs');
	w.restart((c) => {
		bend(c);
		c.database.notify_conninfo = c.database.conninfo;
		c.database.conninfo = `host=${dir} port=6432 dbname=shop`;
		c.database.prepare = false;
	}, ARGS);
	await serves(t, 'first');
	const load = new Load(agent);
	await sleep(2000);
	const got = await load.stop();
	fits(t, got, FINE, 'under load');
	t.ok((got['call 200'] ?? 0) > 30, 'calls', got);
	await noReplay(t, load, 'afterwards');
	const mine = await agent.session();
	t.eq((await agent.token(mine.user)).status, 200, 'renewed');
	const n = Number(await w.sql('SELECT count(*) FROM pg_stat_activity ' +
	    "WHERE usename IN ('poppy_auth', 'poppy_guard')"));
	// Two a role, and one a process that listens.
	t.ok(n >= 2 && n <= 8, 'connections of sixteen workers', n);
}, { timeout: 60000 });

// A standby that follows the primary, made from it as an operator would.
async function makeStandby()
{
	const dir = pgFolder(`${w.dir}/pg2`);

	appendFileSync(`${w.dir}/pg/data/pg_hba.conf`,
	    'local replication all peer map=stack\n');
	await w.sql('SELECT pg_reload_conf()');
	await sleep(300);
	asPg([pgBin('pg_basebackup'), '-h', `${w.dir}/pg`, '-U', 'postgres',
		'-D', `${dir}/data`, '-R', '-X', 'stream', '-c', 'fast']);
	const conf = `${dir}/data/postgresql.conf`;
	writeFileSync(conf, readFileSync(conf, 'utf8')
	    .replaceAll(`${w.dir}/pg'`, `${dir}'`));
	execFileSync(`${TOP}/tests/pg-cluster`, ['start', '-m', '0755', dir],
	    { stdio: 'ignore' });
	return dir;
}

test('a promoted standby: no replay passes, nothing that arrived is lost',
    proves('R-4.3-8', 'R-4.2-6', 'R-4.1-8'), async (t) => {
	w.restart(standby(w.dir), ARGS);
	await serves(t, 'first');
	const other = await makeStandby();
	// Not the shop's stock: PHP keeps asking the dead primary.
	const load = new Load(agent, { url: w.whoami });
	await sleep(1000);
	const mine = await agent.session();
	const sessions = await w.countSessions();
	const lsn = (await w.sql('SELECT pg_switch_wal()')).trim();
	t.must(await until(async () => (await w.sql('SELECT replay_lsn >= ' +
	    `'${lsn}' FROM pg_stat_replication`)).trim() === 't', 10000),
	'the standby has it');
	await w.pg('crash');
	asPg([pgBin('pg_ctl'), '-D', `${other}/data`, '-w', 'promote']);
	await noReplay(t, load, 'at once');
	await serves(t, 'on the standby', 30000, w.whoami);
	const got = await load.stop();
	fits(t, got, CRASH, 'meanwhile');
	t.ok((got['start 503'] ?? 0) > 0, 'refused for a while', got);
	await noReplay(t, load, 'later');
	t.eq((await agent.call(mine, 'GET', w.whoami)).status, 200,
	    'a Session from before');
	const there = execFileSync('psql', ['-XAt', '-h', other, '-U',
		'postgres', '-d', 'shop', '-c',
		'SELECT count(*) FROM poppy.session'],
	{ cwd: '/', encoding: 'utf8' });
	t.ok(Number(there) >= sessions, 'Sessions there', [there, sessions]);
}, { timeout: 120000 });

await run({
	before: async () => {
		w = await World.up({ bend: (c) => {
			c.proofs = { future_seconds: 2 };
			c.assertions = { skew_seconds: 2 };
		}, args: ARGS });
		agent = new Agent(w);
		s = await agent.session();
	},
	after: async () => {
		if (w && existsSync(`${w.dir}/pg2/data`))
			execFileSync(`${TOP}/tests/pg-cluster`, ['stop',
				`${w.dir}/pg2`, 'immediate']);
		await w?.close();
	},
});
