// What joining and browsing leave behind: no assertion and no cookie, and
// in the logs only what one line can hold. Its own stack.
import { readFileSync, readdirSync } from 'node:fs';
import { proves, run, sleep, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { COOKIE, browserAssertion, browserSettings, isRefused, join, post,
	seenPages, tab } from './lib/browser.mjs';
import { random, tampered } from './lib/jose.mjs';
import { World } from './lib/world.mjs';

let w, agent, s;

const rename = (from, to) => w.sql('DO $$ BEGIN EXECUTE (SELECT ' +
    `'ALTER FUNCTION ' || oid::regprocedure || ' RENAME TO ${to}' ` +
    `FROM pg_proc WHERE proname = '${from}'); END $$`);

test('no log holds an assertion or a cookie', proves('A-21'), async (t) => {
	const planted = new Map(), user = new User();
	const plant = (what, v) => {
		planted.set(v, what);
		if (v.includes('.'))
			planted.set(v.slice(-30), `${what}, a part`);
		return v;
	};
	const his = await agent.session(user);
	const mine = (over, opts) => plant('assertion',
	    browserAssertion(agent, his, over, opts));

	plant('User ID', user.sub);
	const same = mine();
	for (const a of [same, same, mine({ aud: 'x' }), mine({ exp: 1 }),
		plant('bad assertion', tampered(browserAssertion(agent, his))),
		mine({ session_id: plant('made-up Session',
		    `ses_AA${random(30)}`) }),
		mine({ return_to: `http://${plant('return', random(20))
		    .toLowerCase()}/` }), plant('garbage', random(40))])
		await post(w, { fields: [['assertion', a]] });
	await post(w, { body: plant('body', random(50)) });
	const b = await tab(agent, his);
	plant('cookie', b.cookie);
	await b.seen();
	await b.fetch('/writes.php');
	await b.fetch('/login.php');
	await b.joined();
	plant('cookie', b.cookie);
	b.jar.set(COOKIE, plant('bad cookie', `pbs_AA${random(32)}`));
	await b.seen();
	b.jar.set(COOKIE, plant('bad cookie', random(60)));
	await b.fetch('/writes.php');
	await b.joined();
	plant('cookie', b.cookie);
	// While PostgreSQL refuses, errors are logged that quote parameters.
	await rename('browser_join', 'join_gone');
	await rename('cookie_use', 'use_gone');
	const err = await post(w, { fields: [['assertion', mine()]] });
	t.eq(err.all('set-cookie'), [], 'no cookie in trouble');
	t.ok(err.status >= 500, 'an error', err.status);
	t.ok((await b.fetch('/seen.php')).status >= 500, 'nor a page');
	await rename('join_gone', 'browser_join');
	await rename('use_gone', 'cookie_use');
	await sleep(11000);	// the audit is written every 10 s
	const dump = await w.dump();
	const logs = [`${w.dir}/log`, `${w.dir}/pg`, `${w.dir}/pg/data/log`]
	    .flatMap((d) => {
		try {
			return readdirSync(d, { withFileTypes: true })
			    .filter((f) => f.isFile() && (d.endsWith('log') ||
				/log/.test(f.name)))
			    .map((f) => `${d}/${f.name}`);
		} catch {
			return [];
		}
	});
	t.ok(logs.some((f) => /poppy-browser/.test(f)), 'logs of it', logs);
	for (const f of logs)
		for (const [v, what] of planted)
			t.ok(!readFileSync(f, 'latin1').includes(v),
			    `${f}: ${what}`);
	for (const [v, what] of planted)
		t.ok(!dump.includes(v) && !dump.includes(Buffer.from(v)
		    .toString('hex')), `database: ${what}`);
	t.ok(planted.size > 20, 'planted', planted.size);
}, { timeout: 60000 });

test('every line of the log is one JSON object', [], async (t) => {
	isRefused(t, await join(agent, s, { return_to: 'a\n{"x":1}\r\n' }),
	    'x');
	isRefused(t, await join(agent, s, { session_id: '"\n\u0000\u001b[1m' }),
	    'y');
	await sleep(200);
	let n = 0;
	for (const f of readdirSync(`${w.dir}/log`)
	    .filter((x) => /poppy-browser.*out/.test(x)))
		for (const l of readFileSync(`${w.dir}/log/${f}`, 'utf8')
		    .split('\n').filter((x) => x)) {
			n++;
			try {
				t.ok(JSON.parse(l).event, l);
			} catch {
				t.ok(false, `${f}: ${l.slice(0, 100)}`);
			}
		}
	t.ok(n > 0, 'lines', n);
});

test('the program\'s role can read no table', [], async (t) => {
	for (const q of ['SELECT * FROM poppy.session',
		'SELECT * FROM poppy.browser', 'SELECT * FROM poppy.token',
		'SELECT * FROM poppy.cart', 'DELETE FROM poppy.replay_0',
		'SELECT * FROM shop.customer', 'CREATE TABLE poppy.x (a int)'])
		t.ok(await w.sql(q, 'poppy_browser').then(() => false,
		    (e) => /permission denied/.test(e.message)), q);
	const own = 'SELECT has_function_privilege(\'poppy_guard\', oid, ' +
	    '\'execute\') FROM pg_proc WHERE proname = \'browser_join\'';
	t.eq((await w.sql(own)).trim(), 'f', 'the guard can join nobody');
});

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings });
		seenPages(w);
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
