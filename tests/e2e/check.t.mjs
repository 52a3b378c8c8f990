// poppy-agent check: one command that tests a deployment as an agent sees it,
// mistakes included, and whose exit status tells.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { proves, run, test, until } from './lib/tap.mjs';
import { send } from './lib/http.mjs';
import { freePort, World } from './lib/world.mjs';

let w, dir, server, clientId;
const AGENT = `${process.env.POPPY_TEST_BUILD}/tools/poppy-agent/poppy-agent`;

// Each stack has an authority of its own.
function agent(of, ...args)
{
	writeFileSync(`${dir}/ca`, Buffer.concat([w.ca, of.ca]));
	const r = spawnSync(AGENT, ['--state', `${dir}/state`, '--ca',
	    `${dir}/ca`, ...args], { encoding: 'utf8', timeout: 250000 });

	return { status: r.status, out: r.stdout, err: r.stderr,
		points: r.stdout.split('\n').filter((l) =>
		    /^(not )?ok /.test(l)) };
}

async function publish()
{
	const { cert, key } = w.cert('localhost'), port = await freePort();

	clientId = `https://localhost:${port}/agent.json`;
	writeFileSync(`${dir}/cert`, cert);
	writeFileSync(`${dir}/key`, key);
	server = spawn(AGENT, ['--state', `${dir}/state`, 'serve', '--listen',
	    `127.0.0.1:${port}`, '--client-id', clientId, '--cert',
	    `${dir}/cert`, '--key', `${dir}/key`], { stdio: 'ignore' });
	if (!await until(() => send(clientId, { ca: w.ca }).then((r) =>
	    r.status === 200, () => false), 20000))
		throw new Error('the agent is not published');
}

test('against a whole stack every point is ok', proves('A-27'), (t) => {
	const r = agent(w, 'check', `localhost:${w.port}`);

	t.eq(r.status, 0, 'exit status', r.out + r.err);
	t.ok(r.points.length >= 80, 'points', r.points.length);
	t.eq(r.points.filter((l) => l.startsWith('not')), [], 'failed');
	t.match(r.out, new RegExp(`^1\\.\\.${r.points.length}$`, 'm'), 'plan');
	for (const row of ['R-4.3-8', 'R-4.2-6', 'R-4.1-8', 'R-6-11',
		'R-4.3-27', 'R-5-3', 'R-5-6', 'R-5-7', 'R-5-10', 'R-5-12',
		'R-5-17', 'R-5-20'])
		t.ok(r.points.some((l) => l.includes(row)), row);
	t.ok(!r.out.includes('SKIP'), 'nothing skipped', r.out);
});

test('against one that requires nonces and has an MCP server',
    proves('A-27'), async (t) => {
	const other = await World.up({ args: ['--guarded', '/mcp.php'],
		bend: (c) => {
			const url = `${c.issuer}/mcp.php`;

			// The agent's document stands under the first one's CA.
			c.agents.extra_ca = `${w.dir}/ca/ca.pem`;
			c.proofs = { nonces: true };
			c.apis.push({ type: 'mcp', url, description: 'mcp' });
			c.guard.push({ prefix: '/mcp.php', api: url, rules: [
				{ path: '/mcp.php', methods: ['GET', 'POST'] }] });
		} });

	try {
		const r = agent(other, 'check', `localhost:${other.port}`);

		t.eq(r.status, 0, 'exit status', r.out + r.err);
		for (const row of ['R-4.3-15', 'R-4.3-16', 'R-4.3-19', 'R-6-6',
			'R-6-7'])
			t.ok(r.points.some((l) => l.includes(row)), row);
	} finally {
		await other.close();
	}
}, { timeout: 120000 });

test('nothing secret is printed', [], (t) => {
	const r = agent(w, 'check', `localhost:${w.port}`);

	t.ok(!/eyJ[\w-]{20}|pst_[\w-]{20}|usr_[\w-]{10}/.test(r.out + r.err),
	    'no JWT, token or User ID');
});

test('a document that is not there fails it', proves('A-27'), (t) => {
	const r = agent(w, 'check', `localhost:${w.port}`, '--client-url',
	    clientId.replace('agent.json', 'other.json'));

	t.eq(r.status, 1, 'exit status');
	t.ok(r.points.some((l) => /^not ok .*R-4\.2-1\b/.test(l)),
	    'the start of a Session', r.out);
	t.match(r.out, /invalid_client/, 'and why');
});

test('a place without poppy fails it', proves('A-27'), async (t) => {
	const r = agent(w, 'check', `localhost:${await freePort()}`);

	t.eq(r.status, 1, 'exit status');
	t.match(r.out, /^not ok 1 - R-3/m, 'discovery');
});

test('a domain must be named', [], (t) => {
	t.eq(agent(w, 'check').status, 2, 'exit status');
});

await run({
	before: async () => {
		w = await World.shared();
		dir = mkdtempSync('/tmp/check-');
		await publish();
	},
	after: () => {
		server?.kill('SIGTERM');
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
