// tap - a test file in TAP: named points, each naming the rows it proves.
//
// A file registers its points with test() and ends with `await run()`, which
// prints the plan before the first point: a file that dies is short of it.
import { readFileSync } from 'node:fs';
import { inspect, isDeepStrictEqual } from 'node:util';

const known = new Set(readFileSync(
	new URL('../../requirements', import.meta.url), 'utf8')
	.split('\n').filter((l) => /^[RA]-/.test(l)).map((l) => l.split('\t')[0]));
const points = [];

// The rows of tests/requirements that a point proves. A typing error throws.
export function proves(...rows)
{
	for (const r of rows)
		if (!known.has(r))
			throw new Error(`no such requirement: ${r}`);
	return rows;
}

export function test(name, rows, body, { timeout = 30000 } = {})
{
	if (typeof rows === 'function')
		throw new Error(`${name}: say proves() or []`);
	points.push({ name, rows, body, timeout });
}

const show = (v) => {
	const s = typeof v === 'string' ? JSON.stringify(v) :
	    inspect(v, { depth: 4, breakLength: 100 });
	return s.length > 700 ? s.slice(0, 700) + '...' : s;
};

// What a point's body gets. Checks note what fails and go on, so that one run
// tells all that is wrong; must() ends the point.
class Checks {
	constructor()
	{
		this.faults = [];
		this.count = 0;
	}

	ok(cond, what, detail)
	{
		this.count++;
		if (!cond)
			this.faults.push(what + (detail === undefined ? '' :
			    `: ${show(detail)}`));
		return Boolean(cond);
	}

	eq(got, want, what)
	{
		return this.ok(isDeepStrictEqual(got, want),
		    `${what}: want ${show(want)}, got ${show(got)}`);
	}

	match(got, pattern, what)
	{
		return this.ok(typeof got === 'string' && pattern.test(got),
		    `${what}: ${show(got)} is not like ${pattern}`);
	}

	unlike(got, pattern, what)
	{
		return this.ok(!pattern.test(String(got)),
		    `${what}: ${show(got)} is like ${pattern}`);
	}

	must(cond, what, detail)
	{
		if (!this.ok(cond, what, detail))
			throw new Stop();
		return cond;
	}

	// An OAuth error reply: status, code, JSON, not to be stored.
	refused(res, status, code, what = '')
	{
		const err = res.json && res.json.error;

		this.ok(res.status === status && err === code,
		    `${what}: want ${status} ${code}, got ${res.status} ${err} ` +
		    `(${res.json ? res.json.error_description : show(res.text)})`);
		this.match(res.header('content-type') ?? '',
		    /^application\/json(;|$)/, `${what}: content type`);
		this.match(res.header('cache-control') ?? '', /no-store/,
		    `${what}: cache control`);
		return res;
	}

	// A refusal with a challenge: the same error and algs in the header.
	challenged(res, status, code, what = '', scheme = 'DPoP')
	{
		const all = res.all('www-authenticate');
		const ch = all.find((v) =>
		    v.toLowerCase().startsWith(scheme.toLowerCase() + ' ')) ?? '';

		this.refused(res, status, code, what);
		this.ok(ch.includes(`error="${code}"`),
		    `${what}: no ${scheme} challenge with error="${code}"`, all);
		if (scheme === 'DPoP')
			this.match(ch, /algs="[^"]*ES256[^"]*"/,
			    `${what}: algs of the challenge`);
		return res;
	}
}

class Stop extends Error {}

function late(ms)
{
	let timer;
	const promise = new Promise((_, fail) => {
		timer = setTimeout(() => fail(new Error(`no end in ${ms} ms`)), ms);
	});

	return { promise, clear: () => clearTimeout(timer) };
}

async function inTime(body, ms, arg)
{
	const limit = late(ms);

	try {
		await Promise.race([body(arg), limit.promise]);
	} finally {
		limit.clear();
	}
}

async function one(p, n)
{
	const t = new Checks();

	try {
		await inTime(p.body, p.timeout, t);
	} catch (e) {
		if (!(e instanceof Stop))
			t.faults.push(e.stack ?? String(e));
	}
	// A body without a single check would be a point that can't fail.
	if (t.count === 0 && t.faults.length === 0)
		t.faults.push('nothing was checked');
	const rows = p.rows.length ? `[${p.rows.join(' ')}] ` : '';
	const name = p.name.replace(/[#\n]/g, ' ');
	console.log(`${t.faults.length ? 'not ok' : 'ok'} ${n} - ${rows}${name}`);
	for (const f of t.faults)
		console.log(f.split('\n').map((l) => `#   ${l}`).join('\n'));
	return t.faults.length === 0;
}

// Run all points in their order; set up before, tear down after. A failing
// set-up fails every point, each by its name.
export async function run({ before, after } = {})
{
	const only = process.env.POPPY_TEST_ONLY;
	const chosen = only ? points.filter((p) => p.name.includes(only)) : points;
	let failed = 0, broken = null, n = 0;

	console.log(`1..${chosen.length}`);
	try {
		if (before)
			await inTime(before, 120000);
	} catch (e) {
		broken = e;
	}
	for (const p of chosen) {
		n++;
		if (broken !== null)
			p.body = () => { throw broken; };
		if (!await one(p, n))
			failed++;
	}
	try {
		if (after)
			await after();
	} catch (e) {
		console.log(`Bail out! tear-down: ${e.stack}`);
		failed++;
	}
	process.exit(failed ? 1 : 0);
}

export const sleep = (ms) => new Promise((ok) => setTimeout(ok, ms));

// Wait until look() gives something true; null after ms.
export async function until(look, ms = 5000, step = 50)
{
	const end = Date.now() + ms;

	for (;;) {
		const got = await look();

		if (got)
			return got;
		if (Date.now() > end)
			return null;
		await sleep(step);
	}
}
