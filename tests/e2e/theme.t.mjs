// What an operator may change about the pages: templates, style, languages,
// names; and how a visitor chooses a language. A stack of its own.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { run, test, until } from './lib/tap.mjs';
import { Customer, forms } from './lib/customer.mjs';
import { send } from './lib/http.mjs';
import { flows, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const folder = mkdtempSync('/tmp/poppy-pages-');
let w;

const put = (name, text) => {
	if (text === null)
		rmSync(`${folder}/${name}`, { force: true });
	else
		writeFileSync(`${folder}/${name}`, text, { mode: 0o644 });
};
const get = (path, headers = []) =>
    send(w.url(path), { ca: w.ca, headers });

// poppy-auth -t: what it says of the settings as they are.
function check()
{
	const { argv, uid, gid } = w.command(w.pids('auth')[0]);
	const r = spawnSync(argv[0], ['-c', `${w.dir}/poppy.conf`, '-t'],
	    { uid, gid, cwd: '/', timeout: 5000, encoding: 'utf8' });

	return { status: r.status, err: r.stderr };
}

const reload = () => w.pids('auth').forEach((pid) =>
    process.kill(pid, 'SIGHUP'));
const said = (name) => w.logs(name).filter((l) => l.event === 'settings');

test('name, logo and style of the shop', [], async (t) => {
	const page = await get('/poppy/login');
	const csp = page.header('content-security-policy');
	const css = /href="([^"]*style\.css[^"]*)"/.exec(page.text)?.[1];

	t.match(page.text, /<span>Harbour &amp; Co<\/span>/, 'name');
	t.match(page.text, /<img src="https:\/\/cdn\.example\/logo\.png"/,
	    'logo');
	t.match(csp, /img-src 'self' https:\/\/cdn\.example;/, 'allowed');
	const sheet = await get(css);
	t.match(sheet.text, /:root[\s\S]*--main: teal/, 'theirs behind ours');
	t.match(sheet.header('cache-control'), /immutable/, 'for good');
	t.eq((await get(css, [['If-None-Match', sheet.header('etag')]]))
	    .status, 304, 'not sent twice');
	t.unlike((await get(css.replace(/v=.*/, 'v=x')))
	    .header('cache-control'), /immutable/, 'another version');
});

test('a template of their own, taken by SIGHUP', [], async (t) => {
	put('message.html', '<!doctype html><html lang="{{lang}}">' +
	    '<title>{{title}}</title><p class="ours">{{text}}</p></html>\n');
	reload();
	t.ok(await until(async () => (await get('/poppy/oauth/authorize'))
	    .text.includes('class="ours"')), 'there');
});

// What an operator gets wrong, and the line that is named.
const FAULTS = [
	['login.html', '{{> top.html}}\n<p onclick="x()">', 2],
	['login.html', '<p>\n{{password}}', 2],
	['login.html', '\n\n{{#if agent}}', 3],
	['login.html', '<script src="/x.js"></script>', 1],
	['consent.html', '<a href="{{agent}}">x</a>', 1],
	['hidden.html', '{{#each hidden}}\n{{csrf}}\n{{/each}}', 2],
	['nl.mo', 'no catalogue'],
	['Dutch.mo', 'no catalogue'],
];

test('what is wrong is told with file and line, and nothing changes', [],
    async (t) => {
	for (const [name, text, line] of FAULTS) {
		put(name, text);
		const r = check();
		const place = `${folder}/${name}${line ? `:${line}:` : ':'}`;
		t.eq(r.status, 78, `${name}: -t`);
		t.ok(r.err.startsWith(place), `${name}: ${place}`, r.err);
		const before = said('').length;
		reload();
		t.ok(await until(() => said('').length > before),
		    `${name}: in the log`);
		t.eq((await get('/poppy/login')).status, 200, `${name}: serves`);
		put(name, null);
	}
	t.eq(check(), { status: 0, err: '' }, 'without them it is good');
	reload();
}, { timeout: 60000 });

const PO = `msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"
msgid "LANGUAGE"
msgstr "Nederlands"
msgid "DIRECTION"
msgstr "ltr"
msgid "Sign in to {shop}"
msgstr "Aanmelden bij {shop}"
`;

test('a language more, made by msgfmt', [], async (t) => {
	const r = spawnSync('msgfmt', ['-o', `${folder}/nl.mo`, '-'],
	    { input: PO, encoding: 'utf8' });

	t.eq(r.status, 0, 'msgfmt', r.stderr);
	chmodSync(`${folder}/nl.mo`, 0o644);
	reload();
	t.ok(await until(async () => (await get('/poppy/login',
	    [['Accept-Language', 'nl-BE, en;q=0.5']])).text
	    .includes('Aanmelden bij Harbour')), 'there');
	t.match((await get('/poppy/login')).text, />Nederlands<\/a>/, 'offered');
});

test('a language that was chosen stays', [], async (t) => {
	const p = new Customer(w, w.customers()[0]);
	const lang = (res) => /<html[^>]*lang="([a-z]+)"/.exec(res.text)?.[1];

	t.eq(lang(await p.open('/poppy/login')), 'en', 'at first');
	t.eq(lang(await p.open('/poppy/login?lang=fr')), 'fr', 'chosen');
	t.eq(lang(await p.open('/poppy/login')), 'fr', 'later');
	t.eq(lang(await p.open('/poppy/agents?lang=ja')), 'ja',
	    'over a redirect');
	for (const bad of ['xx', '', 'fr%3BA=b', '../de', 'fr&lang=de'])
		t.eq(lang(await p.open(`/poppy/device?lang=${bad}`)) ?? 'ja',
		    'ja', `lang=${bad}`);
	const res = await p.open('/poppy/login?next=device&lang=de');
	t.match(res.text, /href="\?next=device&amp;lang=es"/,
	    'the links keep where one is');
});

test('whoever is not the one who is logged in can leave', [],
    async (t) => {
	const [one, two] = w.customers().filter((c) => c.kind === 'customer');
	const f = flows(w, one)(), p = f.person();
	const page = await p.consent(f.request().url);
	const out = forms(page.text, page.url).find((x) =>
	    /logout$/.test(x.action));

	t.ok(page.text.includes(one.name ?? ''), 'the account is named');
	for (const csrf of [undefined, '', 'x'])
		t.eq((await p.submit(out, { csrf })).status, 403,
		    `token ${csrf}`);
	const left = await p.submit(out);
	t.eq([left.status, left.header('location')], [200, undefined],
	    'a page, and no way back to the agent');
	const again = await p.open(f.request().url);
	t.ok(Customer.loginForm(again), 'asked anew who they are');
	t.ok(Customer.consentForm(await p.login(again, two)), 'another one');
	t.ok(!Customer.consentForm(await p.open(page.url)),
	    'what the first had opened is not for the second');
});

await run({
	before: async () => {
		chmodSync(folder, 0o755);
		put('shop.css', ':root { --main: teal; }\n');
		w = await World.up({ bend: (c) => {
			signinSettings(c);
			c.pages = { folder, shop_name: 'Harbour & Co',
				logo: 'https://cdn.example/logo.png' };
		} });
	},
	after: async () => {
		await w?.close();
		rmSync(folder, { recursive: true, force: true });
	},
});
