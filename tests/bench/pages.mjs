#!/usr/bin/env node
/*
 * What visitors of a shop's pages pay for us: CPU time of a page over all server
 * processes, served by the shop alone, as if poppy-fcgi weren't there; with our
 * includes and bridge, to a visitor; and to an agent's browser that joined its
 * Session.
 *
 *	tests/bench/pages.mjs --build DIR [--server lighttpd|apache] [--rounds N]
 *
 * Prints [{ page, what, alone, plain, joined }] as JSON: microseconds a request.
 * tests/bench/run runs it and judges. Rounds are many and short, and the least
 * of them counts: whatever else runs on the machine can only add.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const STACK = fileURLToPath(new URL('../../deploy/demo/stack',
    import.meta.url));
const CONNS = 4, TICK_US = 10000;
const PAGES = [
	{ page: '/style.css', what: 'a file', requests: 1600 },
	{ page: '/about.php', what: 'PHP alone', requests: 400 },
	{ page: '/', what: 'PHP and database', requests: 80 },
];

const { values: opt } = parseArgs({ options: {
	build: { type: 'string' },
	server: { type: 'string', default: 'lighttpd' },
	rounds: { type: 'string', default: '14' } } });
process.env.POPPY_TEST_BUILD = path.resolve(opt.build);
process.env.POPPY_TEST_SERVER = opt.server;
const { World, freePort } = await import('../e2e/lib/world.mjs');
const { Agent } = await import('../e2e/lib/agent.mjs');
const { COOKIE, tab } = await import('../e2e/lib/browser.mjs');
const { closeAll, send } = await import('../e2e/lib/http.mjs');

/* What is there to read of a process, if it hasn't ended meanwhile. */
const here = (look, none) => {
	try {
		return look();
	} catch {
		return none;
	}
};
const read = (f) => here(() => fs.readFileSync(f, 'utf8'), '');

/* CPU of a process and all below it, those that ended included. */
function cpuBelow(pid)
{
	const stat = read(`/proc/${pid}/stat`).replace(/^.*\) /, '').split(' ');
	let us = (Number(stat[13] ?? 0) + Number(stat[14] ?? 0)) * TICK_US;

	for (const t of here(() => fs.readdirSync(`/proc/${pid}/task`), [])) {
		us += Number(read(`/proc/${pid}/task/${t}/schedstat`)
		    .split(' ')[0]) / 1000;
		for (const c of read(`/proc/${pid}/task/${t}/children`)
		    .split(' ').filter(Boolean))
			us += cpuBelow(c);
	}
	return us;
}

function cpuOf(dir)
{
	const pids = fs.readdirSync(`${dir}/run`)
	    .filter((f) => f.endsWith('.pid'))
	    .map((f) => read(`${dir}/run/${f}`).split(' ')[0].trim());
	const pg = read(`${dir}/pg/data/postmaster.pid`).split('\n')[0];

	return [...new Set([...pids, pg])].reduce((sum, p) =>
	    sum + cpuBelow(p), 0);
}

/* Microseconds of CPU a request. */
async function burst(v, page, requests)
{
	const before = cpuOf(v.dir);

	await Promise.all(Array.from({ length: CONNS }, async () => {
		for (let i = 0; i < requests / CONNS; i++) {
			const r = await send(`https://localhost:${v.port}${page}`,
			    { ca: v.ca, headers: [['Cookie', v.cookie]] });

			if (r.status !== 200)
				throw new Error(`${page}: status ${r.status}`);
		}
	}));
	return (cpuOf(v.dir) - before) / requests;
}

/* The shop's own cookie, as any visitor brings it. */
async function visit(v)
{
	const res = await send(`https://localhost:${v.port}/cart.php`,
	    { ca: v.ca });

	v.cookie = res.all('set-cookie').map((c) => c.split(';')[0]).join('; ') ||
	    'visited=1';
	return v;
}

async function measure(kinds)
{
	const out = [];

	for (const { page, what, requests } of PAGES) {
		const row = { page, what };

		for (const k of Object.keys(kinds)) {
			row[k] = [];
			await burst(kinds[k], page, requests);
		}
		/* To and fro, so that what drifts meets all of them alike. */
		for (let i = 0; i < Number(opt.rounds); i++)
			for (const k of i % 2 ? Object.keys(kinds).reverse() :
			    Object.keys(kinds))
				row[k].push(await burst(kinds[k], page,
				    requests));
		for (const k of Object.keys(kinds))
			row[k] = Math.min(...row[k]);
		out.push(row);
	}
	return out;
}

const alone = { dir: fs.mkdtempSync('/tmp/poppy-bench.'),
	port: await freePort() };
let w, status = 1;
try {
	w = await World.up({ bend: (c) => {
		c.log = 'info';
		c.browser = { enabled: true };
		c.site = { closed: [{ path: '/login.php' }], rules: [
			{ path: '/style.css', open: true },
			{ path: '/', methods: ['GET'] }] };
	} });
	fs.chmodSync(alone.dir, 0o755);
	World.stackUp(alone.dir, alone.port, undefined, ['--shop-only']);
	const ours = { dir: w.dir, port: w.port, ca: w.ca };
	alone.ca = fs.readFileSync(`${alone.dir}/ca/ca.pem`);
	const agent = new Agent(w);
	const t = await tab(agent, await agent.session());

	console.log(JSON.stringify(await measure({
		alone: await visit(alone),
		plain: await visit({ ...ours }),
		joined: { ...ours, cookie: `${COOKIE}=${t.cookie}` },
	})));
	status = 0;
} catch (e) {
	console.error(`pages: ${e.message}`);
} finally {
	closeAll();
	execFileSync(STACK, ['down', alone.dir], { stdio: 'ignore' });
	fs.rmSync(alone.dir, { recursive: true, force: true });
	await w?.close();
}
process.exit(status);
