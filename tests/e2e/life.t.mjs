// The programs as processes: settings that are wrong, reload, orderly end. They
// run beside the shared stack, on sockets of their own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { AUTHORIZER, RESPONDER, Shot, environment, record, request }
	from './lib/fcgi.mjs';
import { settings } from './lib/settings.mjs';
import { World } from './lib/world.mjs';

let w, agent, cmd, n = 0;

const write = (name, text) => {
	const file = `${w.dir}/conf/${name}`;

	writeFileSync(file, text, { mode: 0o644 });
	return file;
};
const bent = (bend) =>
    JSON.stringify(settings(w.dir, w.port, bend), null, '\t');

// Run a program with a settings file to its end; never longer than 5 s.
function once(program, file, args = ['-t'])
{
	const { argv, uid, gid } = w.command(w.pids(program)[0]);
	const r = spawnSync(argv[0], ['-c', file, ...args],
	    { uid, gid, cwd: '/', timeout: 5000, encoding: 'utf8' });

	return { status: r.status, err: r.stderr, out: r.stdout };
}

// The line of a text where a key stands, from 1.
const lineOf = (text, what) =>
    text.slice(0, text.indexOf(what)).split('\n').length;

test('good settings pass the check', [], (t) => {
	const file = write('good.json', bent());

	for (const p of ['auth', 'guard']) {
		const r = once(p, file);

		t.eq(r.status, 0, `poppy-${p}: status`);
		t.eq(r.err, '', `poppy-${p}: says nothing`);
	}
});

test('comments and trailing commas are settings too', [], (t) => {
	const text = '// head\n' + bent().replace(/\n}\s*$/, ',\n}')
	    .replace('"log"', '/* here */ "log"');

	t.eq(once('auth', write('comments.json', text)).status, 0, 'status');
});

// Each: what is wrong, how to bend the text, the key that must be named.
const FAULTS = [
	['an unknown key', (c) => { c.nonsense = 1; }, 'nonsense'],
	['an unknown key inside', (c) => { c.agents.prots = []; },
		'agents.prots'],
	['a text for a number', (c) => { c.workers.auth = '4'; },
		'workers.auth'],
	['a number for a text', (c) => { c.issuer = 5; }, 'issuer'],
	['null', (c) => { c.log = null; }, 'log'],
	['too many workers', (c) => { c.workers.auth = 65; }, 'workers.auth'],
	['no worker', (c) => { c.workers.guard = 0; }, 'workers.guard'],
	['half a worker', (c) => { c.workers.guard = 1.5; }, 'workers.guard'],
	['an issuer over http', (c) => { c.issuer = 'http://localhost'; },
		'issuer'],
	['an issuer with a slash', (c) => { c.issuer += '/'; }, 'issuer'],
	['an issuer on no host of ours', (c) => {
		c.issuer = 'https://other.example'; }, 'issuer'],
	['a base with a path', (c) => { c.hosts[1].base += '/x'; },
		'hosts[1].base'],
	['a host with a port', (c) => { c.hosts[0].host += ':1'; },
		'hosts[0].host'],
	['a host in upper case', (c) => { c.hosts[0].host = 'LOCALHOST'; },
		'hosts[0].host'],
	['a host twice', (c) => { c.hosts.push(c.hosts[0]); }, 'hosts[4]'],
	['no host', (c) => { c.hosts = []; }, 'hosts'],
	['a guard before our own', (c) => { c.guard[0].prefix = '/poppy/x/'; },
		'guard[0].prefix'],
	['a guard before the well-known', (c) => {
		c.guard[0].prefix = '/.well-known/'; }, 'guard[0].prefix'],
	['a rule outside of its prefix', (c) => {
		c.guard[0].rules[1].path = '/other.php'; },
	'guard[0].rules[1].path'],
	['a query without a value', (c) => {
		c.guard[0].rules[1].query = 'route'; },
	'guard[0].rules[1].query'],
	['a query with a name to decode', (c) => {
		c.guard[0].rules[1].query = 'ro%75te=x'; },
	'guard[0].rules[1].query'],
	['a query with two names', (c) => {
		c.guard[0].rules[1].query = 'a=b&c=d'; },
	'guard[0].rules[1].query'],
	['a query with a star inside', (c) => {
		c.guard[0].rules[1].query = 'a=b*c'; },
	'guard[0].rules[1].query'],
	['a method that is none', (c) => {
		c.guard[0].rules[1].methods = ['GET', 'STEAL']; },
	'guard[0].rules[1].methods'],
	['a scope that is none', (c) => {
		c.guard[0].rules[3].scopes = ['a b']; },
	'guard[0].rules[3].scopes'],
	['a log level that is none', (c) => { c.log = 'loud'; }, 'log'],
	['a port that is none', (c) => { c.agents.ports = ['70000']; },
		'agents.ports'],
	['a network that is none', (c) => {
		c.agents.allow_networks = ['127.0.0.0/33']; },
	'agents.allow_networks'],
	['an api over http', (c) => { c.apis[0].url = 'http://localhost/x'; },
		'apis[0].url'],
	['no database', (c) => { delete c.database; }, 'database'],
	['no organization', (c) => { delete c.organization; }, 'organization'],
];
// A fault that lies between keys is named without the place in the list.
const bare = (key) => key.replaceAll(/\[\d+\]/g, '');

for (const [why, bend, key] of FAULTS)
	test(`settings: ${why}`, [], (t) => {
		const file = write(`bad-${n++}.json`, bent(bend));

		for (const p of ['auth', 'guard']) {
			const r = once(p, file);
			const said = r.err.split('\n')[0];

			t.eq(r.status, 78, `poppy-${p}: exit status`);
			t.match(said, new RegExp(`^${file}:\\d+: `),
			    'file and line');
			t.ok(bare(said).includes(bare(key)), `names ${key}`,
			    said);
		}
	});

test('the line that is named is the right one', [], (t) => {
	const text = bent((c) => { c.workers.guard = 999; });
	const r = once('auth', write('line.json', text));

	t.match(r.err, new RegExp(`:${lineOf(text, '"guard": 999')}: ` +
	    'workers\\.guard: \\S'), 'line, key and a reason');
});

// Texts that are no settings at all.
const TEXTS = [
	['empty', '', 1], ['no object', '[]', 1], ['cut', '{\n"log": "in', 2],
	['a key twice', '{\n"log": "info",\n"log": "info"\n}', 3],
	['a brace too many', '{}\n}', 2], ['single quotes', "{'log': 'info'}", 1],
	['an open comment', '{ /* \n', 1], ['NUL', '{"log": "in\0fo"}', 1],
	['bad UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 1],
	['deep', '['.repeat(10000), 1],
];
for (const [why, text] of TEXTS)
	test(`settings file: ${why}`, [], (t) => {
		const file = write(`text-${n++}.json`, text);
		const r = once('auth', file);

		t.eq(r.status, 78, 'exit status');
		t.match(r.err, new RegExp(`^${file}:\\d+: .`), 'file and line');
	});

test('a settings file that is not there', [], (t) => {
	for (const file of [`${w.dir}/conf/none`, w.dir]) {
		const r = once('auth', file);

		t.eq(r.status, 78, 'exit status');
		t.ok(r.err.includes(file), 'names the file', r.err);
	}
});

test('secrets that are missing, short or open to all', [], (t) => {
	const dir = `${w.dir}/test-secrets`;
	const file = write('secrets.json', bent((c) => { c.secrets = dir; }));

	mkdirSync(dir, { recursive: true });
	for (const [why, make] of [
		['missing', () => {}],
		['short', () => writeFileSync(`${dir}/master`, 'abc',
		    { mode: 0o400 })],
		['empty', () => writeFileSync(`${dir}/master`, '',
		    { mode: 0o400 })]]) {
		rmSync(`${dir}/master`, { force: true });
		make();
		const r = once('auth', file);
		t.ok(r.status !== 0 && r.status !== null, `${why}: status`,
		    r.status);
		t.match(r.err, /master|secrets/, `${why}: says which`);
	}
	rmSync(dir, { recursive: true });
});

test('an option that is none', [], (t) => {
	const r = once('auth', 'x', ['-Z']);

	t.eq(r.status, 2, 'exit status');
	t.match(r.err, /usage/, 'usage');
	t.eq(once('auth', 'x', ['-V']).status, 0, 'version');
});

// A program of our own on a socket of its own.
async function start(program, bend = () => {}, name = `own-${n++}`)
{
	const sock = `${w.dir}/run/${name}.sock`;
	const file = write(`${name}.json`, bent(bend));
	const base = w.command(w.pids(program)[0]);
	const child = w.launch({ ...base, argv: [base.argv[0]] },
	    ['-c', file, '-l', sock], name);

	child.sock = sock;
	child.file = file;
	child.logName = name;
	if (!await until(() => {
		const r = spawnSync('test', ['-S', sock]);

		return r.status === 0;
	}, 10000))
		throw new Error(`${name} does not start`);
	return child;
}

const get = async (sock, path) => {
	const shot = await Shot.open(sock);

	return shot.fire(request(RESPONDER, environment('GET', w.url(path), [])));
};
const post = async (sock, user, form) => {
	const body = encode(form);
	const shot = await Shot.open(sock);

	return shot.fire(request(RESPONDER, environment('POST', w.tokenEndpoint, [
		['Content-Type', 'application/x-www-form-urlencoded'],
		['DPoP', user.proof('POST', w.tokenEndpoint)]], body), body));
};

test('SIGHUP takes new settings, without losing a request', [],
    async (t) => {
	const p = await start('auth');
	const doc = '/.well-known/poppy.json';
	let lost = 0, asked = 0, stop = false;
	const load = (async () => {
		while (!stop || asked < 100) {
			const r = await get(p.sock, doc);

			asked++;
			if (r.status !== 200)
				lost++;
		}
	})();

	t.match((await get(p.sock, doc)).text, /Test Company/, 'before');
	writeFileSync(p.file, bent((c) => {
		c.organization.name = 'Renamed Company'; }));
	p.kill('SIGHUP');
	t.ok(await until(async () => (await get(p.sock, doc)).text
	    .includes('Renamed Company'), 5000), 'after');
	// A bad file changes nothing and is told.
	writeFileSync(p.file, '{ "log": 1 }');
	p.kill('SIGHUP');
	const told = await until(() => {
		const log = readFileSync(`${w.dir}/log/${p.logName}.out`, 'utf8');

		return log.split('\n').some((l) => l.startsWith('{') &&
		    l.includes('"event":"settings"') && l.includes(p.file) &&
		    JSON.parse(l).line === 1);
	}, 5000);
	t.ok(told, 'the fault is told with file and line');
	t.match((await get(p.sock, doc)).text, /Renamed Company/, 'still');
	t.eq(p.exitCode, null, 'it lives');
	stop = true;
	await load;
	t.ok(asked > 10, 'requests meanwhile', asked);
	t.eq(lost, 0, 'lost');
	p.kill('SIGTERM');
	t.eq(await p.ended, { code: 0, signal: null }, 'end');
}, { timeout: 40000 });

for (const [sig, program] of [['SIGTERM', 'auth'], ['SIGINT', 'auth'],
	['SIGTERM', 'guard']])
	test(`${sig}: an idle poppy-${program} is gone within a second`, [],
	    async (t) => {
		const p = await start(program);

		await sleep(200);
		const began = Date.now();
		p.kill(sig);
		t.eq(await p.ended, { code: 0, signal: null }, 'end');
		t.ok(Date.now() - began < 1000, 'in time', Date.now() - began);
	});

test('SIGTERM: silent and half-sent connections hold up nothing', [],
    async (t) => {
	const p = await start('guard');
	const open = [];

	for (let i = 0; i < 10; i++) {
		const shot = await Shot.open(p.sock);

		shot.done.catch(() => {});
		if (i % 2)
			shot.sock.write(record(1, Buffer.alloc(8)).subarray(0, 6));
		open.push(shot);
	}
	await sleep(200);
	const began = Date.now();
	p.kill('SIGTERM');
	t.eq(await p.ended, { code: 0, signal: null }, 'end');
	t.ok(Date.now() - began < 2000, 'in time', Date.now() - began);
	for (const shot of open)
		shot.sock.destroy();
});

test('SIGTERM finishes what runs', proves('R-4.2-1'), async (t) => {
	const p = await start('auth');
	const slow = new Agent(w);

	w.docs.set(`/${slow.name}/agent.json`, (req, res) => {
		setTimeout(() => {
			res.writeHead(200, { 'Content-Type': 'application/json' });
			res.end(JSON.stringify(slow.document));
		}, 1500);
	});
	const user = new User();
	const running = post(p.sock, user, slow.form(user));
	t.ok(await until(() => slow.hits() > 0, 10000), 'it runs');
	p.kill('SIGTERM');
	await sleep(200);
	let refused = false;
	try {
		const late = await Shot.open(p.sock);
		const r = await late.fire(request(RESPONDER,
		    environment('GET', w.url('/.well-known/poppy.json'), [])));

		refused = r.status !== 200;
	} catch {
		refused = true;
	}
	t.ok(refused, 'nothing new is taken');
	const res = await running;
	t.ok(res.status === 200 || res.status === 503, 'the running one is ' +
	    'answered', res.text.slice(0, 200));
	t.ok(res.ended, 'in full');
	t.eq(await p.ended, { code: 0, signal: null }, 'end');
}, { timeout: 30000 });

test('a socket that is in use is an error, a stale one is replaced', [],
    async (t) => {
	const p = await start('auth', undefined, 'twice');
	const second = w.launch({ ...cmd, argv: [cmd.argv[0]] },
	    ['-c', p.file, '-l', p.sock], 'twice-2');
	const end = await second.ended;

	t.ok(end.code !== 0 && end.code !== null, 'the second one', end);
	t.eq((await get(p.sock, '/.well-known/poppy.json')).status, 200,
	    'the first one');
	p.kill('SIGKILL');
	await p.ended;
	const third = w.launch({ ...cmd, argv: [cmd.argv[0]] },
	    ['-c', p.file, '-l', p.sock], 'twice-3');
	t.ok(await until(async () => {
		try {
			return (await get(p.sock, '/.well-known/poppy.json'))
			    .status === 200;
		} catch {
			return false;
		}
	}, 5000), 'its heir');
	third.kill('SIGTERM');
	await third.ended;
}, { timeout: 30000 });

test('a start without PostgreSQL answers 503 and waits for it', [],
    async (t) => {
	const p = await start('auth', (c) => {
		c.database.conninfo = `host=${w.dir}/nowhere dbname=shop`; });
	const user = new User();
	const res = await post(p.sock, user, agent.form(user));

	t.eq(res.status, 503, 'status');
	t.match(res.head, /^Retry-After: [1-9]/mi, 'Retry-After');
	t.eq((await get(p.sock, '/.well-known/poppy.json')).status, 200,
	    'discovery');
	p.kill('SIGTERM');
	t.eq(await p.ended, { code: 0, signal: null }, 'end');
}, { timeout: 30000 });

test('broken FastCGI ends the connection, not the program', [],
    async (t) => {
	const p = await start('guard');

	for (const junk of [Buffer.from('GET / HTTP/1.1\r\n\r\n'),
		Buffer.alloc(4096, 255), record(1, Buffer.alloc(8, 0)),
		record(4, Buffer.from([0xff, 0xff, 0xff, 0xff])),
		request(RESPONDER, { REQUEST_METHOD: 'GET' }),
		request(AUTHORIZER, {}), request(AUTHORIZER, {
			REQUEST_METHOD: 'GET', REQUEST_URI: '' }),
		request(AUTHORIZER, { REQUEST_METHOD: 'GET',
			REQUEST_URI: '/api/stock.php' })]) {
		const shot = await Shot.open(p.sock);
		const r = await Promise.race([shot.fire(junk).catch(() => null),
			sleep(12000).then(() => 'hang')]);

		t.ok(r !== 'hang', `no hang: ${junk.subarray(0, 12)
		    .toString('hex')}`);
		t.ok(r === null || r.status !== 200, 'no consent', r?.text);
		shot.sock.destroy();
	}
	t.eq(p.exitCode, null, 'it lives');
	p.kill('SIGTERM');
	t.eq(await p.ended, { code: 0, signal: null }, 'end');
}, { timeout: 60000 });

test('every start with a test setting on warns', [], async (t) => {
	for (const p of ['auth', 'guard'])
		t.ok(await w.logOf(p, (l) => l.level === 'warn' &&
		    JSON.stringify(l).includes('allow_networks')), p);
});

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		cmd = w.command(w.pids('auth')[0]);
	},
	after: () => w?.close(),
});
