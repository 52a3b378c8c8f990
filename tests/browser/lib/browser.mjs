// browser - Debian's Chromium for tests: one a file, a fresh context (cookies,
// cache) for each person that a point needs.
//
// It trusts the stack's authority as a computer's owner would tell it, by the
// NSS database of its home; a wrong certificate stays an error.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { npm } from '../../e2e/lib/npm.mjs';
import { SERVER } from '../../e2e/lib/settings.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
const OUT = process.env.POPPY_TEST_OUT;

function home(ca)
{
	const dir = mkdtempSync(`${tmpdir()}/poppy-home.`);
	const db = `${dir}/.pki/nssdb`;

	mkdirSync(db, { recursive: true });
	execFileSync('certutil', ['-d', `sql:${db}`, '-N', '--empty-password']);
	execFileSync('certutil', ['-d', `sql:${db}`, '-A', '-n', 'stack',
		'-t', 'C,,', '-i', ca]);
	return dir;
}

export class Browser {
	// w: the World whose pages it opens.
	static async start(w)
	{
		const { chromium } = await npm('playwright-core');
		const b = new Browser();

		b.w = w;
		b.home = home(`${w.dir}/ca/ca.pem`);
		b.people = [];
		b.shots = OUT && `${OUT}/shots/${SERVER}/` +
		    basename(process.argv[1], '.t.mjs');
		if (b.shots)
			mkdirSync(b.shots, { recursive: true });
		b.chromium = await chromium.launch({
			executablePath: CHROMIUM.find((f) => existsSync(f)),
			// Root has no sandbox to give; no test needs a network.
			args: [...process.getuid() === 0 ? ['--no-sandbox'] : [],
				'--disable-quic', '--no-first-run',
				'--disable-background-networking'],
			env: { ...process.env, HOME: b.home, LANG: 'C.UTF-8' },
		});
		return b;
	}

	// A person with a browser of their own; opts as of newContext().
	async person(opts = {})
	{
		const p = await Person.make(this, opts);

		this.people.push(p);
		return p;
	}

	async stop()
	{
		await this.chromium?.close();
		rmSync(this.home, { recursive: true, force: true });
	}
}

export class Person {
	static async make(b, opts)
	{
		const p = new Person();

		p.w = b.w;
		p.shots = b.shots;
		p.faults = [];		// what Chromium held against our pages
		p.context = await b.chromium.newContext({ locale: 'en-GB',
			baseURL: b.w.base, ...opts });
		p.context.setDefaultTimeout(20000);
		p.context.on('console', (m) => p.note(m.text()));
		p.context.on('weberror', (e) => p.note(`script: ${e.error()}`));
		p.page = await p.context.newPage();
		return p;
	}

	// Said in the console, whether scripts are allowed or not.
	note(text)
	{
		if (/content.security.policy|refused to |^script: /i.test(text))
			this.faults.push(text);
	}

	async shot(name)
	{
		if (this.shots)
			await this.page.screenshot({ fullPage: true,
				path: `${this.shots}/${name}.png` });
	}

	// Is anything wider than the window?
	overflow()
	{
		return this.page.evaluate(() => {
			const wide = document.documentElement.scrollWidth -
			    document.documentElement.clientWidth;

			return wide > 0 ? wide : 0;
		});
	}

	async leave(t)
	{
		t.eq(this.faults, [], 'Chromium finds nothing to refuse');
		await this.context.close();
	}
}
