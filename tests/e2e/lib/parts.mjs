// parts - the processes of a stack: find, start, stop, kill, freeze them.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readdirSync, rmSync }
	from 'node:fs';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { address } from './fcgi.mjs';
import { until } from './tap.mjs';

const CLUSTER = fileURLToPath(new URL('../../pg-cluster', import.meta.url));

function began(pid)
{
	try {
		return readFileSync(`/proc/${pid}/stat`, 'utf8')
		    .replace(/^.*\) /, '').split(' ')[19];
	} catch {
		return null;
	}
}

// Gone, or waiting for a parent that will not ask.
export function ended(pid)
{
	try {
		return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`,
		    'utf8'));
	} catch {
		return true;
	}
}

// Does a program listen there: a socket file, or a TCP port?
function listens(at)
{
	if (at.startsWith('/'))
		return existsSync(at);
	return new Promise((ok) => {
		const sock = net.connect(address(at));

		sock.on('connect', () => { sock.destroy(); ok(true); });
		sock.on('error', () => ok(false));
	});
}

export class Parts {
	constructor(dir)
	{
		this.dir = dir;
		this.children = [];
		this.commands = {};	// how to start what was ended
	}

	// Pids of a program's processes that live, by the stack's pid files:
	// "pid start-time", since ids are given again soon.
	pids(program)
	{
		return readdirSync(`${this.dir}/run`)
		    .filter((f) => f.startsWith(`poppy-${program}`) &&
			f.endsWith('.pid'))
		    .map((f) => readFileSync(`${this.dir}/run/${f}`, 'utf8')
			.trim().split(' '))
		    .filter(([pid, at]) => began(pid) === at)
		    .map(([pid]) => Number(pid));
	}

	command(pid)
	{
		const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
		    .split('\0').slice(0, -1);
		const id = (what) => Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm')
		    .exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

		return { argv, uid: id('Uid'), gid: id('Gid') };
	}

	// Start a program as the stack did, with more arguments behind.
	launch({ argv, uid, gid, env = {} }, extra = [], name = 'extra')
	{
		const log = openSync(`${this.dir}/log/${name}.out`, 'a');
		const child = spawn(argv[0], [...argv.slice(1), ...extra],
		    { uid, gid, cwd: '/', stdio: ['ignore', log, log],
			env: { ...process.env, ...env } });

		closeSync(log);
		this.children.push(child);
		child.ended = new Promise((ok) => child.on('exit',
		    (code, signal) => ok({ code, signal })));
		return child;
	}

	// Two processes of a program: the stack's own first one, and a twin.
	async twins(program)
	{
		const cmd = this.command(this.pids(program)[0]);
		const l = cmd.argv.indexOf('-l');
		const first = l > 0 ? cmd.argv[l + 1] :
		    JSON.parse(readFileSync(`${this.dir}/settings.json`,
			'utf8')).listen[program];
		const second = `${this.dir}/run/twin-${program}.sock`;
		const before = this.twin?.[program];

		// An earlier one has the settings of its time.
		if (before !== undefined) {
			before.kill('SIGTERM');
			await before.ended;
		}
		rmSync(second, { force: true });
		this.twin = { ...this.twin, [program]: this.launch(cmd,
		    ['-l', second], `twin-${program}`) };
		if (!await until(() => existsSync(second), 10000))
			throw new Error(`no twin of poppy-${program}`);
		return [first, second];
	}

	// kill, stop, or start a program of this stack (one process each).
	async program(name, how)
	{
		if (how === 'start') {
			const { sock } = this.commands[name];

			if (sock.startsWith('/'))
				rmSync(sock, { force: true });
			this.launch(this.commands[name], [], `poppy-${name}`);
			await until(() => listens(sock), 10000);
			return;
		}
		const mine = this.children.filter((c) => c.exitCode === null &&
		    c.signalCode === null && c.spawnargs[0].endsWith(name));
		const pid = mine[0]?.pid ?? this.pids(name)[0];
		const cmd = this.command(pid);
		const l = cmd.argv.indexOf('-l');
		cmd.sock = l > 0 ? cmd.argv[l + 1] : JSON.parse(readFileSync(
		    `${this.dir}/settings.json`, 'utf8')).listen[name];
		this.commands[name] = cmd;
		process.kill(pid, how === 'kill' ? 'SIGKILL' : 'SIGTERM');
		await until(() => ended(pid), 10000);
	}

	postgres()
	{
		return Number(readFileSync(`${this.dir}/pg/data/postmaster.pid`,
		    'utf8').split('\n')[0]);
	}

	async pg(how)
	{
		const all = () => {
			const main = this.postgres();

			return [main, ...execFileSync('ps', ['-o', 'pid=', '--ppid',
				String(main)]).toString().split('\n')
			    .map(Number).filter(Boolean)];
		};

		switch (how) {
		case 'stop':
			return void execFileSync(CLUSTER, ['stop', `${this.dir}/pg`]);
		case 'crash':
			return void execFileSync(CLUSTER, ['stop', `${this.dir}/pg`,
				'immediate']);
		case 'start':
			execFileSync(CLUSTER, ['start', '-m', '0755',
				`${this.dir}/pg`], { stdio: 'ignore' });
			return;
		case 'freeze':
			for (const pid of all())
				process.kill(pid, 'SIGSTOP');
			return;
		case 'thaw':
			for (const pid of all())
				process.kill(pid, 'SIGCONT');
			return;
		default:
			throw new Error(how);
		}
	}

	// Lines that our programs logged, parsed.
	logs(program)
	{
		return readdirSync(`${this.dir}/log`)
		    .filter((f) => f.includes(program))
		    .flatMap((f) => readFileSync(`${this.dir}/log/${f}`, 'utf8')
			.split('\n').flatMap((l) => {
			try {
				return [JSON.parse(l)];
			} catch {
				return [];
			}
		}));
	}

	logOf(program, test, ms = 3000)
	{
		return until(() => this.logs(program).find(test), ms, 100);
	}
}
