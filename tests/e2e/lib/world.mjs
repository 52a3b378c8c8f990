// world - the company as tests see it: a stack of real parts, its settings, its
// database, its logs, and the server where agents publish.
//
// World.shared() is one stack for all files of a run; World.up() makes one of
// the file's own, with settings or numbers of processes that it needs.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync,
	readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { Data } from './data.mjs';
import { Docs } from './docs.mjs';
import { gate } from './fcgi.mjs';
import { closeAll, send } from './http.mjs';
import { ended } from './parts.mjs';
import { SERVER, settings } from './settings.mjs';
import { until } from './tap.mjs';

const STACK = fileURLToPath(new URL('../../../deploy/demo/stack',
    import.meta.url));

export function freePort()
{
	return new Promise((ok, fail) => {
		const s = net.createServer();

		s.on('error', fail);
		s.listen(0, '127.0.0.1', () => {
			const { port } = s.address();

			s.close(() => ok(port));
		});
	});
}

export class World extends Data {
	constructor(dir, port, mine)
	{
		super(dir);
		this.port = port;
		this.mine = mine;	// ours to stop
		this.server = SERVER;
		this.base = `https://localhost:${port}`;
		this.ca = readFileSync(`${dir}/ca/ca.pem`);
		this.tokenEndpoint = `${this.base}/poppy/oauth/token`;
		this.stockBare = `${this.base}/api/stock.php`;
		this.whoami = `${this.base}/api/whoami.php`;
		this.openapi = `${this.base}/api/openapi.json`;
		this.freePages = ['/robots.txt', '/style.css', '/favicon.svg'];
		this.guardVars = {};
	}

	get stock()
	{
		return `${this.stockBare}?sku=${this.sku}`;
	}

	get processes()
	{
		return this.pids('auth').length;
	}

	url(path, host = 'localhost')
	{
		return `https://${host}:${this.port}${path}`;
	}

	static async shared()
	{
		const dir = `${process.env.POPPY_TEST_DIR}/main`;

		if (!process.env.POPPY_TEST_DIR)
			return World.up();
		if (existsSync(`${dir}/stack.env`)) {
			const port = Number(new URL(/SHOP_URL=(.*)/.exec(readFileSync(
			    `${dir}/stack.env`, 'utf8'))[1]).port);
			return new World(dir, port, false).begin();
		}
		return World.up({ dir, mine: false });
	}

	// bend changes settings; args go to deploy/demo/stack.
	static async up({ dir, bend, args = [], mine = true, port } = {})
	{
		const at = dir ?? mkdtempSync(
		    `${process.env.POPPY_TEST_DIR ?? '/tmp'}/stack-`);

		port ??= await freePort();
		mkdirSync(at, { recursive: true });
		World.stackUp(at, port, bend, args);
		return new World(at, port, mine).begin();
	}

	static stackUp(dir, port, bend, args = [])
	{
		const conf = `${dir}/settings.json`;

		writeFileSync(conf, JSON.stringify(settings(dir, port, bend), null,
		    '\t') + '\n');
		const log = openSync(`${dir}/stack.out`, 'a');
		try {
			execFileSync(STACK, ['up', dir, '--port', String(port),
				'--server', SERVER,
				'--prefix', process.env.POPPY_TEST_BUILD,
				'--host', 'www.localhost', '--host',
				'shop2.localhost', '--host', 'api.localhost',
				'--conf', conf, ...args], { stdio: ['ignore', log, log] });
		} catch (e) {
			throw new Error(`the stack does not start: ` +
			    readFileSync(`${dir}/stack.out`, 'utf8').slice(-2000));
		} finally {
			closeSync(log);
		}
	}

	// The same stack again with other settings.
	restart(bend, args)
	{
		closeAll();
		World.stackUp(this.dir, this.port, bend, args);
	}

	// The stack's web server gives way to one with other sockets: text is
	// what sockets.conf would hold. Is it there?
	async relight(text)
	{
		const conf = `${this.dir}/conf/${SERVER}.conf`;
		const pid = Number(readFileSync(`${this.dir}/run/${SERVER}.pid`,
		    'utf8').split(' ')[0]);

		writeFileSync(`${this.dir}/conf/sockets-other.conf`, text);
		writeFileSync(`${conf}.other`, readFileSync(conf, 'utf8')
		    .replace(/sockets\.conf"/, 'sockets-other.conf"'));
		closeAll();
		process.kill(pid, 'SIGTERM');
		await until(() => ended(pid), 10000);
		const argv = SERVER === 'apache' ?
		    ['apache2', '-D', 'FOREGROUND', '-f'] : ['lighttpd', '-D',
			'-f'];
		this.children.push(spawn(argv[0], [...argv.slice(1),
			`${conf}.other`], { stdio: 'ignore' }));
		return until(() => send(this.url('/robots.txt'), { ca: this.ca })
		    .then((r) => r.status === 200, () => false), 10000);
	}

	async begin()
	{
		const { cert, key } = this.cert('localhost');

		if (SERVER === 'apache')
			gate.secret = readFileSync(`${this.dir}/secrets/gate`,
			    'utf8').trim();
		this.docs = await Docs.start({ cert, key });
		this.sku = (await this.sql('SELECT v.sku FROM shop.variant v ' +
		    'JOIN shop.product p ON p.id = v.product_id AND p.active ' +
		    'ORDER BY v.id LIMIT 1')).trim();
		return this;
	}

	async close()
	{
		closeAll();
		for (const c of this.children)
			c.kill('SIGTERM');
		if (this.docs)
			await this.docs.stop();
		if (this.mine)
			execFileSync(STACK, ['down', this.dir], { stdio: 'ignore' });
		const report = this.sanitizerReport();
		if (this.mine)
			rmSync(this.dir, { recursive: true, force: true });
		if (report)
			throw new Error(report);
	}

	// With --asan the programs say there what they found, also at their end.
	sanitizerReport()
	{
		for (const f of readdirSync(`${this.dir}/log`)) {
			const text = readFileSync(`${this.dir}/log/${f}`, 'latin1');
			const at = text.search(/Sanitizer|runtime error:/);

			if (at >= 0)
				return `${f}: ${text.slice(at, at + 2000)}`;
		}
		return null;
	}

	// A certificate of the demo's authority for any name; names: further
	// ones, as OpenSSL writes them.
	cert(host, names = [`DNS:${host}`])
	{
		const f = `${this.dir}/test-${host}`;

		if (!existsSync(`${f}.pem`)) {
			const tmp = `${f}.${process.pid}`;

			writeFileSync(`${tmp}.ext`,
			    `subjectAltName=${names.join(',')}\n`);
			execFileSync('sh', ['-ec', 'openssl req -new -newkey ec ' +
				'-pkeyopt ec_paramgen_curve:P-256 -nodes -subj ' +
				'"/CN=$2" -keyout "$3.key" -out "$1.csr"; ' +
				'openssl x509 -req -in "$1.csr" -CA "$4/ca.pem" ' +
				'-CAkey "$4/ca.key" -days 2 -sha256 -set_serial ' +
				'"0x$(openssl rand -hex 12)" -extfile "$1.ext" ' +
				'-out "$3.pem"; rm "$1".*', 'sh', tmp, host, f,
			`${this.dir}/ca`], { stdio: 'ignore' });
		}
		return { cert: readFileSync(`${f}.pem`),
			key: readFileSync(`${f}.key`) };
	}
}
