// Several hosts, each a network namespace with processes of both programs; one
// web server before them, one database behind. Its own stack.
//
// lighttpd spreads both programs over the hosts. Apache spreads poppy-auth, by
// mod_proxy_balancer; mod_authnz_fcgi asks one guard, on Apache's own host, and
// those of the other hosts are asked by the tests themselves.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent, User, encode } from './lib/agent.mjs';
import { AUTHORIZER, RESPONDER, Shot, environment, request }
	from './lib/fcgi.mjs';
import { Load, fits } from './lib/load.mjs';
import { SERVER } from './lib/settings.mjs';
import { World } from './lib/world.mjs';

const FINE = /^(start|call) 200$/;
const AWAY = /^(start|call) (200|50[0234])$/;
const id = process.pid % 10000;
const net = `10.213.${process.pid % 250}`;
const HOSTS = [1, 2].map((n) => ({ ns: `poppy-${id}-${n}`,
	ip: `${net}.${n + 1}`, link: `pv${id}-${n}` }));
const bridge = `pb${id}`;
const PORTS = { auth: 9101, guard: 9102 };
// What the web server spreads over the hosts.
const SPREAD = SERVER === 'apache' ? ['auth'] : ['auth', 'guard'];
let w, agent, socks;

const ip = (...argv) => execFileSync('ip', argv, { stdio: 'pipe' });

// A bridge on this host, and a cable from it to each of the others.
function cable()
{
	ip('link', 'add', bridge, 'type', 'bridge');
	ip('addr', 'add', `${net}.1/24`, 'dev', bridge);
	ip('link', 'set', bridge, 'up');
	for (const h of HOSTS) {
		ip('netns', 'add', h.ns);
		ip('link', 'add', h.link, 'type', 'veth', 'peer', 'name', 'eth0',
		    'netns', h.ns);
		ip('link', 'set', h.link, 'master', bridge, 'up');
		ip('-n', h.ns, 'addr', 'add', `${h.ip}/24`, 'dev', 'eth0');
		ip('-n', h.ns, 'link', 'set', 'eth0', 'up');
		ip('-n', h.ns, 'link', 'set', 'lo', 'up');
	}
}

function uncable()
{
	for (const argv of [...HOSTS.map((h) => ['netns', 'del', h.ns]),
		['link', 'del', bridge]])
		try {
			ip(...argv);
		} catch {
			// It never came to be.
		}
}

// PostgreSQL for the other hosts, over TCP.
async function openDatabase()
{
	await w.sql(`ALTER SYSTEM SET listen_addresses = '${net}.1'`);
	appendFileSync(`${w.dir}/pg/data/pg_hba.conf`,
	    `host shop poppy_auth,poppy_guard ${net}.0/24 trust\n`);
	await w.pg('stop');
	await w.pg('start');
}

// What the web server shows to guards that anybody in the network could ask.
// Apache does so on its own host, too, and has one already.
let secret = 'gate-of-the-hosts-'.repeat(3);

function makeGate()
{
	const file = `${w.dir}/secrets/gate`;

	if (SERVER === 'apache') {
		secret = readFileSync(file, 'utf8').trim();
		w.guardVars = { POPPY_GATE: secret };
		return;
	}
	const { uid, gid } = w.command(w.pids('guard')[0]);

	writeFileSync(file, secret, { mode: 0o400 });
	chownSync(file, uid, gid);
	w.guardVars = { POPPY_GATE: secret };
}

// The programs of one host, with settings that name the database's host.
async function boot(h)
{
	const set = JSON.parse(readFileSync(`${w.dir}/settings.json`, 'utf8'));
	const file = `${w.dir}/conf/${h.ns}.json`;

	set.database.conninfo = `host=${net}.1 dbname=shop`;
	set.listen_anywhere = true;
	set.gate = 'gate';
	writeFileSync(file, JSON.stringify(set));
	h.programs = ['auth', 'guard'].map((p) => w.launch({ argv: ['ip',
		'netns', 'exec', h.ns, 'setpriv', '--reuid', 'www-data',
		'--regid', 'www-data', '--init-groups', '--',
		`${w.dir}/bin/poppy-${p}`, '-c', file, '-l',
		`${h.ip}:${PORTS[p]}`] }, [], `${h.ns}-${p}`));
	for (const p of ['auth', 'guard'])
		if (!await until(() => Shot.open({ host: h.ip, port: PORTS[p] })
		    .then((s) => s.sock.destroy() && true, () => false), 10000))
			throw new Error(`poppy-${p} of ${h.ns} does not start`);
}

function sockets(p, mode = '')
{
	const one = (h) => `( "host" => "${h.ip}", "port" => ${PORTS[p]}, ` +
	    `${mode} "check-local" => "disable", "connect-timeout" => 1 )`;

	return `var.poppy_${p} = ( ${HOSTS.map(one).join(', ')} )\n`;
}

// sockets.conf of each server, as an operator would write it for these hosts.
const lighttpdConf = () => 'fastcgi.balance = "round-robin"\n' +
    sockets('auth') + sockets('guard', '"mode" => "authorizer",') +
    'var.poppy_guarded = ( "/api/" => var.poppy_guard )\n' +
    'var.poppy_browser = var.poppy_auth\n' +
    'var.poppy_cookie = "__Host-poppy"\n' +
    'server.modules += ( "mod_setenv" )\n' +
    '$HTTP["url"] =~ "^/api/" { setenv.add-environment = ( ' +
    `"POPPY_GATE" => "${secret}" ) }\n`;
const balancer = (name) => `<Proxy "balancer://poppy-${name}">\n` +
    HOSTS.map((h) => `BalancerMember "fcgi://${h.ip}:${PORTS.auth}" ` +
	'flushpackets=on timeout=360 connectiontimeout=1 retry=1\n').join('') +
    'ProxySet lbmethod=bybusyness\n</Proxy>\n';
// Nobody joins here: poppy-auth may answer for poppy-browser.
const apacheConf = () => balancer('auth') + balancer('browser') +
    'Define POPPY_GUARDED "/api/"\nDefine POPPY_COOKIE "__Host-poppy"\n';

// Requests that a host's program has logged.
const served = (h, p) => w.logs(`${h.ns}-${p}`)
    .filter((l) => l.event === 'request').length;

test('both hosts get their share, and share what they know', [],
    async (t) => {
	const load = new Load(agent);

	await sleep(2500);
	const got = await load.stop();
	fits(t, got, FINE, 'under load');
	for (const p of SPREAD) {
		const n = HOSTS.map((h) => served(h, p));

		t.ok(Math.min(...n) > 10 && Math.max(...n) < 3 * Math.min(...n),
		    `requests of poppy-${p}`, n);
	}
	const again = await load.replay();
	t.eq(again[200] ?? 0, 0, `replays that passed ${JSON.stringify(again)}`);
});

test('the same request at both hosts at once: one wins',
    proves('R-4.3-8', 'R-4.2-6', 'R-4.1-8'), async (t) => {
	const user = new User(), s = await agent.session();
	const type = ['Content-Type', 'application/x-www-form-urlencoded'];
	const both = async (p, bytes) => {
		const shots = await Promise.all(HOSTS.map((h) =>
		    Shot.open({ host: h.ip, port: PORTS[p] })));

		return (await Promise.all(shots.map((x) => x.fire(bytes))))
		    .filter((r) => r.status === 200).length;
	};

	for (let i = 0; i < 50; i++) {
		const body = encode(agent.form(user));
		const proof = user.proof('POST', w.tokenEndpoint);

		t.eq(await both('auth', request(RESPONDER, environment('POST',
		    w.tokenEndpoint, [type, ['DPoP', proof]], body), body)), 1,
		`start ${i}`);
		t.eq(await both('guard', request(AUTHORIZER, {
			...environment('GET', w.stock, [
				['Authorization', `DPoP ${s.token}`],
				['DPoP', s.user.proof('GET', w.stockBare,
				    { token: s.token })]]),
			...w.guardVars })), 1, `call ${i}`);
	}
});

test('a host is unplugged under load, and comes back', [], async (t) => {
	const [gone] = HOSTS, load = new Load(agent);

	await sleep(500);
	ip('link', 'set', gone.link, 'down');
	await sleep(6000);
	fits(t, load.reset(), AWAY, 'when it goes');
	await sleep(2000);
	fits(t, load.reset(), AWAY, 'without it');
	const before = served(gone, SPREAD.at(-1));
	ip('link', 'set', gone.link, 'up');
	t.ok(await until(() => served(gone, SPREAD.at(-1)) > before + 10, 20000),
	    'it serves again, and nobody was restarted');
	await sleep(1500);	// what began before has been answered
	load.reset();
	await sleep(1500);
	fits(t, await load.stop(), FINE, 'with it');
}, { timeout: 60000 });

test('a host dies: the other serves alone', [], async (t) => {
	const load = new Load(agent);

	await sleep(500);
	for (const c of HOSTS[1].programs)
		process.kill(c.pid, 'SIGKILL');
	await sleep(1500);
	fits(t, load.reset(), AWAY, 'when it dies');
	await sleep(1500);
	fits(t, await load.stop(), FINE, 'without it');
	const s = await agent.session();
	t.eq((await agent.call(s, 'GET', w.stock)).status, 200, 'a call');
});

try {
	uncable();
	cable();
} catch (e) {
	uncable();
	console.log('1..0 # SKIP network namespaces are not permitted here: ' +
	    String(e.stderr ?? e).trim().replaceAll('\n', ' '));
	process.exit(0);
}
await run({
	before: async () => {
		w = await World.up();
		agent = new Agent(w);
		// The others can't reach this host's loopback, where the agent
		// publishes: they take its documents from the database.
		await agent.session();
		await openDatabase();
		makeGate();
		for (const h of HOSTS)
			await boot(h);
		await w.relight(SERVER === 'apache' ? apacheConf() :
		    lighttpdConf());
	},
	after: async () => {
		await w?.close();
		uncable();
	},
});
