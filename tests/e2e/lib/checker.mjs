// checker - poppyctl check on a stack, with its settings or others.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { twin } from './twin.mjs';

const BUILD = process.env.POPPY_TEST_BUILD;
export const CTL = `${BUILD}/tools/poppyctl/poppyctl`;
export const SQL = fileURLToPath(new URL('../../../sql', import.meta.url));

// dir: for settings that are made here.
export function checker(w, dir)
{
	// One run: every point as { result, area, text }, beside status and output.
	function check({ conf = `${w.dir}/poppy.conf`, sql = SQL, args = [],
		ca = `${w.dir}/ca/ca.pem`, env = {} } = {})
	{
		const r = spawnSync(CTL, ['-c', conf, '--sql', sql, '--json',
			...(ca ? ['--ca', ca] : []), ...args, 'check'],
		{ encoding: 'utf8', timeout: 60000, env: { ...process.env, ...env } });
		const json = JSON.parse(r.stdout);

		return { status: r.status, json, error: json.error,
			bad: (json.points ?? []).filter((p) =>
			    ['warning', 'fault'].includes(p.result)),
			points: json.points ?? [] };
	}

	// poppy.conf of the stack, changed, in a folder of its own.
	function bent(bend, more = {})
	{
		const at = mkdtempSync(`${dir}/conf-`);
		const conf = JSON.parse(readFileSync(`${w.dir}/settings.json`, 'utf8'));

		chmodSync(at, 0o755);
		bend(conf, at);
		writeFileSync(`${at}/poppy.conf`, JSON.stringify(conf));
		for (const [name, change] of Object.entries(more)) {
			const own = structuredClone(conf);

			change(own, at);
			writeFileSync(`${at}/${name}`, JSON.stringify(own));
		}
		return `${at}/poppy.conf`;
	}

	// Found as a fault (or warning), with exit status and advice.
	function finds(t, r, area, pattern, result = 'fault')
	{
		const p = r.bad.find((b) => b.area === area && pattern.test(b.text));

		t.ok(p !== undefined && p.result === result, `${result} of ${area} ` +
		    `like ${pattern}`, r.bad.filter((b) => b.area === area));
		if (result === 'fault')
			t.eq(r.status, 2, 'exit status');
	}

	// A second web server without something, and settings with its port.
	async function other(...what)
	{
		const { port, stop } = await twin(w, ...what);

		return { stop, conf: bent((c) => {
			const at = (u) => u.replace(`:${w.port}`, `:${port}`);

			c.issuer = at(c.issuer);
			for (const h of c.hosts)
				h.base = at(h.base);
			for (const a of c.apis)
				a.url = at(a.url);
			for (const g of c.guard)
				g.api = at(g.api);
		}) };
	}

	return { check, bent, finds, other };
}
