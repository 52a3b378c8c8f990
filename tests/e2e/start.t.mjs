// The ways to start the programs: systemd's units and sockets, spawn-fcgi, and
// lighttpd itself (bin-path); Apache starts no FastCGI programs. Its own stack.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync,
	readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SERVER } from './lib/settings.mjs';
import { run, test, until } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { AUTHORIZER, RESPONDER, Shot, environment, request }
	from './lib/fcgi.mjs';
import { World } from './lib/world.mjs';

const SYSTEMD = fileURLToPath(new URL('../../deploy/systemd', import.meta.url));
const root = process.getuid() === 0;
// How root becomes the programs' user.
const drop = root ? ['setpriv', '--reuid', 'www-data', '--regid', 'www-data',
	'--init-groups', '--'] : [];
const PROGRAMS = ['auth', 'browser', 'guard'];
let w, agent;

const conf = () => `${w.dir}/poppy.conf`;
const program = (name) => `${w.dir}/bin/poppy-${name}`;

// Start something that ends with the test.
function launch(argv)
{
	const child = spawn(argv[0], argv.slice(1), { cwd: '/',
		stdio: 'ignore' });

	w.children.push(child);
	return child;
}

function tokenRequest()
{
	const user = new User(), body = encode(agent.form(user));

	return request(RESPONDER, environment('POST', w.tokenEndpoint, [
		['Content-Type', 'application/x-www-form-urlencoded'],
		['DPoP', user.proof('POST', w.tokenEndpoint)]], body), body);
}

const guardedCall = (s) => request(AUTHORIZER, {
	...environment('GET', w.stock, [
		['Authorization', `DPoP ${s.token}`],
		['DPoP', s.user.proof('GET', w.stockBare,
		    { token: s.token })]]), ...w.guardVars });

async function ask(sock, bytes)
{
	let shot;

	// The file is there a moment before somebody listens.
	if (!await until(async () => (shot = await Shot.open(sock)
	    .catch(() => null)) !== null, 5000))
		return { status: 'no socket' };
	return shot.fire(bytes);
}

// The units with our programs in the place of installed ones.
function units()
{
	const dir = `${w.dir}/units`;

	mkdirSync(dir);
	for (const f of readdirSync(SYSTEMD)) {
		const text = readFileSync(`${SYSTEMD}/${f}`, 'utf8')
		    .replaceAll('@pkglibexecdir@', `${w.dir}/bin`)
		    .replaceAll(/^Documentation=.*\n/gm, '');

		writeFileSync(`${dir}/${f.replace(/\.in$/, '')}`, text);
	}
	return dir;
}

test("systemd's units are sound, and closed", [], async (t) => {
	const dir = units();

	for (const f of readdirSync(dir)) {
		if (!f.startsWith('poppy-'))
			continue;
		const { status, stdout, stderr } = spawnSync('systemd-analyze',
		    ['verify', `${dir}/${f}`], { encoding: 'utf8' });

		t.eq([status, stdout + stderr], [0, ''], f);
	}
	// 0 is closed, 10 is open: what is over 2 has been forgotten.
	for (const p of PROGRAMS) {
		const { status, stderr } = spawnSync('systemd-analyze',
		    ['security', '--offline=yes', '--threshold=20',
			`${dir}/poppy-${p}.service`], { encoding: 'utf8' });

		t.eq(status, 0, `poppy-${p}.service: exposure ${stderr}`);
	}
});

test("users and folders in systemd's own words", [], async (t) => {
	const at = `${w.dir}/root`;

	mkdirSync(`${at}/etc`, { recursive: true });
	const users = spawnSync('systemd-sysusers', [`--root=${at}`,
		`${SYSTEMD}/poppy.sysusers`], { encoding: 'utf8' });
	t.eq(users.status, 0, `sysusers: ${users.stderr}`);
	const passwd = readFileSync(`${at}/etc/passwd`, 'utf8');
	for (const p of PROGRAMS)
		t.match(passwd, new RegExp(`^poppy_${p}:.*nologin$`, 'm'), p);
	const folders = spawnSync('systemd-tmpfiles', ['--create',
		`--root=${at}`, `${SYSTEMD}/poppy.tmpfiles`],
	{ encoding: 'utf8' });
	t.eq(folders.status, 0, `tmpfiles: ${folders.stderr}`);
	t.ok(existsSync(`${at}/run/poppy`), '/run/poppy');
	t.ok(existsSync(`${at}/etc/poppy/secrets`), '/etc/poppy/secrets');
});

for (const [how, args] of [['LISTEN_FDS', []], ['descriptor 0', ['--inetd']]])
	test(`sockets of systemd: ${how}`, [], async (t) => {
		const s = await agent.session();

		for (const p of ['auth', 'guard']) {
			const sock = `${w.dir}/run/${p}-sd${args.length}.sock`;

			launch(['systemd-socket-activate', ...args, '-l', sock,
				...drop, program(p), '-c', conf()]);
			const res = await ask(sock, p === 'auth' ?
			    tokenRequest() : guardedCall(s));
			t.eq(res.status, 200, `poppy-${p}`);
		}
	});

test('a credential of systemd wins over the folder of the settings', [],
    async (t) => {
	const dir = `${w.dir}/credentials`, file = `${w.dir}/handed.conf`;
	const set = JSON.parse(readFileSync(conf(), 'utf8'));
	const check = (env) => spawnSync(drop[0] ?? program('auth'),
	    [...drop.slice(1), ...(root ? [program('auth')] : []), '-t', '-c',
		file], { env: { PATH: process.env.PATH, ...env },
		encoding: 'utf8' });

	mkdirSync(dir);
	copyFileSync(`${set.secrets}/master`, `${dir}/master`);
	const group = Number(execFileSync('id', ['-g', ...(root ?
	    ['www-data'] : [])]));
	chownSync(`${dir}/master`, process.getuid(), group);
	chmodSync(`${dir}/master`, 0o440);
	set.secrets = '/nonexistent';
	writeFileSync(file, JSON.stringify(set));
	t.eq(check({}).status, 78, 'without it');
	const res = check({ CREDENTIALS_DIRECTORY: dir });
	t.eq(res.status, 0, `with it: ${res.stderr}`);
	t.eq(check({ CREDENTIALS_DIRECTORY: w.dir }).status, 78,
	    'a folder of others without a master');
	chmodSync(`${dir}/master`, 0o444);
	t.eq(check({ CREDENTIALS_DIRECTORY: dir }).status, 78,
	    'one that everybody may read');
});

test('spawn-fcgi', [], async (t) => {
	const sock = `${w.dir}/run/auth-spawned.sock`;
	const as = root ? ['-u', 'www-data', '-g', 'www-data',
		'-U', 'www-data', '-G', 'www-data'] : [];

	launch(['spawn-fcgi', '-n', '-s', sock, '-M', '0660', '-b', '4096',
		...as, '--', program('auth'), '-c', conf()]);
	t.eq((await ask(sock, tokenRequest())).status, 200, 'poppy-auth');
});

// lighttpd's list of a program's sockets, with the command that it starts.
const binPath = (p, mode = '') => `var.poppy_${p} = ((
	"socket" => "${w.dir}/run/${p}-bin.sock", ${mode}
	"bin-path" => "${program(p)} -c ${conf()}",
	"max-procs" => 2, "listen-backlog" => 4096, "kill-signal" => 15,
	"bin-copy-environment" => ( "PATH" ),
	"check-local" => "disable", "tcp-fin-propagate" => "enable"
))
`;

// Processes that lighttpd started.
const spawned = (p) => readdirSync('/proc').filter((f) => /^\d+$/.test(f))
    .map(Number).filter((pid) => {
	try {
		const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8');

		return argv.startsWith(program(p)) && !argv.includes('\0-l\0');
	} catch {
		return false;
	}
});

async function binPaths(t)
{
	for (const p of PROGRAMS)
		await w.program(p, 'stop');
	for (const c of w.children)
		c.kill('SIGTERM');
	t.must(await until(() => spawned('auth').length === 0, 10000),
	    'all others have ended');
	t.must(await w.relight(binPath('auth') + binPath('browser') +
	    binPath('guard', '"mode" => "authorizer",') +
	    'var.poppy_guarded = ( "/api/" => var.poppy_guard )\n' +
	    'var.poppy_cookie = "__Host-poppy"\n'), 'lighttpd serves');
	t.eq(PROGRAMS.map((p) => spawned(p).length), [2, 2, 2], 'processes');
	const s = await agent.session();
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'a call');
	process.kill(spawned('auth')[0], 'SIGKILL');
	t.ok(await until(() => spawned('auth').length === 2, 10000), 'an heir');
	for (let i = 0; i < 10; i++)
		t.eq((await agent.token(new User())).status, 200, `start ${i}`);
}

if (SERVER === 'lighttpd')
	test("lighttpd's bin-path: it starts them, and again after a kill", [],
	    binPaths, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up();
		agent = new Agent(w);
		await agent.session();
	},
	after: () => w?.close(),
});
