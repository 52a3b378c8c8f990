// poppyctl check: a stack that is well has nothing to complain of, and each
// thing that is made wrong with it is found, named and advised on.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync }
	from 'node:fs';
import { CTL, SQL, checker } from './lib/checker.mjs';
import { run, test, until } from './lib/tap.mjs';
import { freePort, World } from './lib/world.mjs';

let w, dir, check, bent, finds, other;

// The company with an MCP server, and without agents' browsers, whose points are
// those of ctl-check-browser.
function withMcp(c)
{
	delete c.browser;
	delete c.site;
	const base = c.hosts[0].base.replace('localhost', 'mcp.localhost');

	c.hosts.push({ host: 'mcp.localhost', base }, {
		host: 'www.shop2.localhost', domain: 'shop2.localhost',
		base: c.hosts[0].base.replace('localhost', 'www.shop2.localhost') });
	c.apis.push({ type: 'mcp', url: `${base}/mcp.php`, description: 'MCP' });
	c.guard.push({ prefix: '/mcp.php', api: `${base}/mcp.php`,
		rules: [{ path: '/mcp.php', methods: ['POST'] }] });
}

const filter = (area, result) => (p) => p.area === area &&
    p.result === result;

test('a stack that is well: what is for tests alone is warned of', [], (t) => {
	const r = check();
	const want = ['settings'];

	if (process.getuid() === 0)	// its keys are the web server's user's
		want.push('secrets');
	t.eq(r.bad.map((p) => `${p.result} ${p.area}`),
	    want.map((a) => `warning ${a}`), 'complaints');
	t.eq([r.status, r.json.warnings, r.json.faults], [1, want.length, 0],
	    'exit status and counts');
	t.eq(r.points.filter(filter('documents', 'ok')).length, 7, 'documents');
	t.eq(r.points.filter(filter('roles', 'ok')).length, 6, 'roles');
	t.eq(r.points.filter(filter('headers', 'ok')).length, 3, 'headers');
	for (const area of ['settings', 'secrets', 'database', 'clock', 'hosts'])
		t.ok(r.points.some(filter(area, 'ok')), area, r.points);
	t.ok(r.points.some(filter('streaming', 'left out')), 'streaming');
});

test('without what is for tests alone nothing is left', [], (t) => {
	const conf = bent((c, at) => {
		delete c.agents.allow_networks;
		delete c.agents.extra_ca;
		cpSync(`${w.dir}/secrets`, `${at}/secrets`, { recursive: true });
		chmodSync(`${at}/secrets`, 0o700);
		c.secrets = `${at}/secrets`;
	});
	const r = check({ conf });

	t.eq(r.bad, [], 'complaints');
	t.eq(r.status, 0, 'exit status');
});

test('a domain without its www. host, and who need none', [], (t) => {
	const conf = bent((c) => {
		const [host] = c.hosts.filter((h) => h.domain ===
		    'shop2.localhost');

		c.hosts = c.hosts.filter((h) => !h.host.startsWith('www.'));
		c.hosts.push({ ...host, host: 'a.shop.example',
			domain: 'a.shop.example' }, { ...host,
			host: '192.0.2.1', domain: '192.0.2.1' });
	});
	const r = check({ conf });

	t.eq(r.bad.map((p) => /^(\S+) is none of hosts/.exec(p.text)?.[1])
	    .filter(Boolean), ['www.localhost', 'www.shop2.localhost'], 'which');
	finds(t, r, 'settings', /add it with domain shop2\.localhost/, 'warning');
});

test('for people: one line a point and the sum', [], (t) => {
	const r = spawnSync(CTL, ['-c', `${w.dir}/poppy.conf`, '--sql', SQL,
		'--ca', `${w.dir}/ca/ca.pem`, 'check'], { encoding: 'utf8' });
	const lines = r.stdout.trim().split('\n');

	t.eq(r.status, 1, 'exit status');
	t.eq(lines.filter((l) => !/^(ok|left out|warning|fault) +[a-z]+ +\S/
	    .test(l)).length, 1, 'lines that are no point');
	t.match(lines.at(-1), /^\d+ ok, \d warnings, 0 faults$/, 'the sum');
});

test('settings that can\'t be read', [], (t) => {
	writeFileSync(`${dir}/broken.conf`, '{\n\t"issuer": 1\n}\n');
	const r = check({ conf: `${dir}/broken.conf` });

	t.eq(r.status, 2, 'exit status');
	t.match(r.error, /broken\.conf:\d+: /, 'where');
});

test('a program\'s own settings that say something else', [], (t) => {
	const conf = bent(() => {}, {
		'auth.conf': (c) => { c.organization.name = 'Other'; },
		'guard.conf': (c) => { c.log = 'error'; } });
	const r = check({ conf });

	finds(t, r, 'settings', /auth\.conf and .* differ.*SIGHUP/);
	t.ok(r.points.some((p) => p.result === 'ok' &&
	    /guard\.conf says what/.test(p.text)),
	'what is a program\'s own may differ', r.points);
});

test('secrets: missing, open to others, another key', [], (t) => {
	const at = (mode, key) => bent((c, folder) => {
		c.secrets = `${folder}/secrets`;
		if (mode === null)
			return;
		mkdirSync(c.secrets);
		writeFileSync(`${c.secrets}/master`, key ?? Buffer.alloc(32, 7));
		chmodSync(`${c.secrets}/master`, mode[1]);
		chmodSync(c.secrets, mode[0]);
	});

	finds(t, check({ conf: at(null) }), 'secrets', /poppyctl secrets init/);
	finds(t, check({ conf: at([0o755, 0o400]) }), 'secrets', /chmod 700/);
	finds(t, check({ conf: at([0o700, 0o440]) }), 'secrets', /chmod 0400/);
	finds(t, check({ conf: at([0o700, 0o400], Buffer.alloc(31)) }),
	    'secrets', /exactly 32 bytes/);
	const gate = (mode) => bent((c, folder) => {
		c.secrets = folder;
		c.gate = 'gate';
		if (mode)
			writeFileSync(`${folder}/gate`, 'x', { mode });
	});
	finds(t, check({ conf: gate(0o440) }), 'secrets', /gate: .*chmod 0400/);
	finds(t, check({ conf: gate() }), 'secrets', /gate: No such file/);
	finds(t, check({ conf: bent(() => {}, { 'guard.conf': (c, folder) => {
		c.secrets = `${folder}/guard`;
		mkdirSync(c.secrets, { mode: 0o700 });
		writeFileSync(`${c.secrets}/master`, Buffer.alloc(32, 9),
		    { mode: 0o400 });
	} }) }), 'secrets', /another key .*strangers/);
});

test('database: away, behind, with functions of another release', [], (t) => {
	const sql = `${dir}/sql`;

	finds(t, check({ args: ['--conninfo', `host=${dir}/nix`] }),
	    'database', /poppy_auth: .*pg_hba\.conf/);
	cpSync(SQL, sql, { recursive: true });
	writeFileSync(`${sql}/functions/zz.sql`, '-- more\n');
	finds(t, check({ sql }), 'database',
	    /poppy_guard: .*functions of another release.*db migrate/);
	writeFileSync(`${sql}/migrate/9999-more.sql`, 'SELECT 1;\n');
	finds(t, check({ sql }), 'database', /stands where/, 'warning');
	rmSync(`${sql}/migrate/9999-more.sql`);
	const n = String(Number(execFileSync('sh', ['-c',
		`ls ${sql}/migrate | wc -l`])) + 1).padStart(4, '0');
	writeFileSync(`${sql}/migrate/${n}-more.sql`, 'SELECT 1;\n');
	finds(t, check({ sql }), 'database',
	    /poppy_auth: the schema is version \d+, the files have \d+.*migrate/);
});

// Made wrong in the database, and right again.
async function wrongly(t, wrong, right, area, pattern)
{
	await w.sql(wrong);
	try {
		finds(t, check(), area, pattern);
	} finally {
		await w.sql(right);
	}
}

test('roles that may too much or too little', [], async (t) => {
	await wrongly(t, 'ALTER ROLE poppy_auth SUPERUSER',
	    'ALTER ROLE poppy_auth NOSUPERUSER', 'roles',
	    /poppy_auth is a superuser.*NOSUPERUSER/);
	await wrongly(t, 'ALTER ROLE poppy_guard CREATEROLE',
	    'ALTER ROLE poppy_guard NOCREATEROLE', 'roles', /poppy_guard is/);
	await wrongly(t, 'GRANT poppy_owner TO poppy_guard',
	    'REVOKE poppy_owner FROM poppy_guard', 'roles',
	    /poppy_guard is a member of poppy_owner/);
	await wrongly(t, 'GRANT SELECT ON poppy.token TO poppy_guard',
	    'REVOKE SELECT ON poppy.token FROM poppy_guard', 'roles',
	    /poppy_guard has rights to token/);
	await wrongly(t, 'GRANT UPDATE (name) ON poppy.client TO PUBLIC',
	    'REVOKE UPDATE (name) ON poppy.client FROM PUBLIC', 'roles',
	    /poppy_auth has rights to client/);
	const use = `(SELECT oid::regprocedure FROM pg_proc WHERE proname =
	    'session_start' ORDER BY oid DESC LIMIT 1)`;
	const all = (what) => `DO $$ BEGIN EXECUTE format('${what}', ${use}); ` +
	    'END $$';
	await wrongly(t, all('GRANT EXECUTE ON FUNCTION %s TO poppy_guard'),
	    all('REVOKE EXECUTE ON FUNCTION %s FROM poppy_guard'), 'roles',
	    /poppy_guard may call session_start, which is not its own/);
	await wrongly(t, all('REVOKE EXECUTE ON FUNCTION %s FROM poppy_auth'),
	    all('GRANT EXECUTE ON FUNCTION %s TO poppy_auth'), 'roles',
	    /poppy_auth may call \d+ of its \d+ functions/);
	t.eq(check().json.faults, 0, 'all is well again');
});

test('hosts with other settings or another key are named', [], async (t) => {
	const copy = (host, settings, master) => 'INSERT INTO ' +
	    'poppy.host_settings SELECT ' + `'${host}', ${settings}, ${master}` +
	    ", told_at FROM poppy.host_settings WHERE host NOT LIKE '%.test'";

	await w.sql(copy('same.test', 'settings', 'master'));
	t.eq(check().json.faults, 0, 'one with the same');
	await w.sql(copy('conf.test', 'sha256(settings)', 'master'));
	finds(t, check(), 'hosts', /^conf\.test had other settings/);
	await w.sql("DELETE FROM poppy.host_settings WHERE host = 'conf.test'");
	await w.sql(copy('key.test', 'settings', 'substr(sha256(master), 1, 8)'));
	const r = check();
	finds(t, r, 'hosts', /^key\.test had another master key/);
	t.eq(r.bad.filter((p) => p.area === 'hosts').length, 1, 'and no other');
	await w.sql("UPDATE poppy.host_settings SET told_at = told_at - 31 * " +
	    "86400 WHERE host LIKE '%.test'");
	t.eq(check().json.faults, 0, 'after a month they are forgotten');
	t.eq((await w.sql('SELECT count(*) FROM poppy.host_settings')).trim(),
	    '1', 'rows left');
});

test('what is a host\'s own makes no difference, all else does', [], (t) => {
	const own = bent((c) => {
		c.listen.auth = '/run/other.sock';
		c.workers.auth = 2;
		c.log = 'warn';
	}, { 'auth.conf': (c) => { c.workers.auth = 3; } });
	const r = check({ conf: own });

	t.eq(r.json.faults, 0, 'own', r.bad);
	const deep = bent(() => {}, { 'auth.conf': (c) =>
	    c.guard[0].rules[3].scopes.push('poppy:more') });
	finds(t, check({ conf: deep }), 'settings', /auth\.conf/);
});

test('the clock', [], (t) => {
	const so = `${dir}/late.so`;

	writeFileSync(`${dir}/late.c`, '#define _GNU_SOURCE\n' +
	    '#include <stdlib.h>\n#include <time.h>\n' +
	    '#include <sys/syscall.h>\n#include <unistd.h>\n' +
	    'int clock_gettime(clockid_t c, struct timespec *t) {\n' +
	    'int r = (int)syscall(SYS_clock_gettime, c, t);\n' +
	    'if (c == CLOCK_REALTIME) t->tv_sec += atoi(getenv("LATE"));\n' +
	    'return r; }\n');
	execFileSync('cc', ['-shared', '-fPIC', '-o', so, `${dir}/late.c`]);
	const late = (s) => check({ env: { LD_PRELOAD: so, LATE: String(s),
		ASAN_OPTIONS: 'verify_asan_link_order=0:detect_leaks=0' } });

	finds(t, late(4), 'clock', /differ by [345]\d{3} ms.*NTP/, 'warning');
	const r = late(-400);
	finds(t, r, 'clock', /differ by (399|400)\d{3} ms/);
	finds(t, r, 'headers', /iat .*run NTP/);
});

test('documents: certificates, wrong base, wrong issuer, other APIs', [],
    async (t) => {
	finds(t, check({ ca: null }), 'documents', /no answer: .*--ca/);
	const port = await freePort();
	finds(t, check({ conf: bent((c) => {
		c.hosts[1].base = `https://www.localhost:${port}`;
	}) }), 'documents', /www\.localhost:\d+\/.*no answer/);
	finds(t, check({ conf: bent((c) => {
		c.hosts[1].base = `${c.hosts[3].base}`;
	}) }), 'documents', /api\.localhost.*status 404.*host and base/);
	finds(t, check({ conf: bent((c) => { c.issuer += '/shop'; }) }),
	    'documents', /issuer is "[^"]*" and must be "[^"]*\/shop"/);
	finds(t, check({ conf: bent((c) => {
		c.hosts[2].domain = 'localhost';
	}) }), 'documents', /domain is "shop2.localhost" and must be/);
	finds(t, check({ conf: bent((c) => { c.apis = c.guard = []; }) }),
	    'documents', /lists 2 APIs, poppy.conf 0/);
	const r = check({ conf: bent((c) => {
		c.apis[0].url = w.url('/robots.txt');
	}) });
	finds(t, r, 'documents', /the API .*robots\.txt .*not there/);
	finds(t, r, 'documents', /robots\.txt: is no JSON object/);
	finds(t, check({ conf: bent((c) => {
		c.apis[0].url = w.url('/.well-known/poppy.json');
	}) }), 'documents', /is no OpenAPI document/);
	finds(t, check({ conf: bent((c) => {
		c.hosts.push({ host: 'more.localhost',
			base: w.url('', 'more.localhost'),
			domain: 'more.localhost' });
	}) }), 'documents', /poppy_domains lacks more\.localhost/);
	finds(t, check({ conf: bent((c) => {
		c.mounts = { oauth: '/elsewhere' };
	}) }), 'documents', /token_endpoint is/);
	finds(t, check({ conf: bent((c) => {
		c.hosts[0].domain = 'nobody.localhost';
	}) }), 'documents', /nobody\.localhost\/\.well-known.*no answer/);
}, { timeout: 60000 });

test('documents: an MCP server that is none', [], (t) => {
	finds(t, check({ conf: bent((c) => {
		c.apis[1].url = c.guard[1].api =
		    c.apis[1].url.replace('mcp.l', 'www.l');
	}) }), 'documents', /oauth-protected-resource\/mcp\.php: status 404/);
});

test('the programs see another URL than agents', [], async (t) => {
	const twinned = await other('nothing');

	try {
		const r = check({ conf: twinned.conf });

		finds(t, r, 'documents', /issuer is .*must be/);
		finds(t, r, 'documents', /resource is .*must be/);
		finds(t, r, 'headers', /\/poppy\/oauth\/token: status 400.*htu/);
		finds(t, r, 'headers', /stock\.php: status 401.*htu.*base/);
	} finally {
		twinned.stop();
	}
});

test('a web server that takes headers away', [], async (t) => {
	const without = async (name) => {
		const s = await other('header', name);
		const r = check({ conf: s.conf });

		s.stop();
		return r;
	};
	const r = await without('Authorization');

	finds(t, r, 'headers',
	    /stock\.php.*Authorization header missing.*CGIPassAuth On/);
	finds(t, r, 'headers', /mcp\.php.*Authorization header missing/);
	t.ok(r.bad.some((p) => /token: .*htu/.test(p.text)), 'DPoP came', r.bad);
	finds(t, await without('DPoP'), 'headers', /DPoP header missing/);
});

test('a guard that does not stand before its prefix', [], async (t) => {
	const s = await other('guard');
	const r = check({ conf: s.conf });

	s.stop();
	finds(t, r, 'headers', /stock\.php: status \d+ without a ch.*anybody/);
	finds(t, r, 'documents', /poppy\.json: status/);
});

test('programs that do not run', [], async (t) => {
	await w.program('auth', 'stop');
	const r = check();

	await w.program('auth', 'start');
	finds(t, r, 'documents', /poppy\.json: status 50\d/);
	finds(t, r, 'headers', /oauth\/token: status 50\d.*do the programs run/);
	await w.program('guard', 'stop');
	const g = check();

	await w.program('guard', 'start');
	finds(t, g, 'headers', /stock\.php: status 50\d/);
	t.ok(await until(() => check().json.faults === 0, 10000, 500),
	    'all is well again');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ args: ['--guarded', '/mcp', '--host',
			'mcp.localhost', '--host', 'www.shop2.localhost'],
		bend: withMcp });
		dir = mkdtempSync('/tmp/doctor-');
		chmodSync(dir, 0o755);
		({ check, bent, finds, other } = checker(w, dir));
	},
	after: () => {
		rmSync(dir, { recursive: true, force: true });
		return w?.close();
	},
});
