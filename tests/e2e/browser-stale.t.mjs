// Somebody's login in a browser that an agent drives (section 5): the Session
// counts, and the login is neither used nor touched. Its own stack.
import { readFileSync, readdirSync } from 'node:fs';
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { COOKIE, browserSettings, seenPages, tab } from './lib/browser.mjs';
import { accounts, decided } from './lib/consent.mjs';
import { Customer } from './lib/customer.mjs';
import { send } from './lib/http.mjs';
import { READ } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, agent, people, bob;

const signedIn = (f, s, scope) => f.signedIn({ scope }, { session: s });

// Another account's Session and browser.
async function begin()
{
	const f = bob(new User(), agent), s = await agent.session(f.user);

	return { f, s, b: await tab(agent, s) };
}

// The bytes of all PHP sessions, by file.
function phpSessions()
{
	return Object.fromEntries(readdirSync(`${w.dir}/sessions`).map((f) =>
	    [f, readFileSync(`${w.dir}/sessions/${f}`, 'latin1')]));
}

async function visitor(account)
{
	const p = new Customer(w, account);
	const page = await p.open('/login.php');
	const res = await p.login(page);

	if (!p.jar.size)
		throw new Error(`no login: ${res.status}`);
	return p;
}

test('a stale login beside the cookie changes nothing', proves('R-5-19'),
    async (t) => {
	const p = await visitor(people[0]), { f, s, b } = await begin();
	const hello = async () => (await p.open('/account.php')).text;

	t.match(await hello(), new RegExp(people[0].email), 'he is logged in');
	const before = phpSessions(), alone = await b.seen();
	for (const [k, v] of p.jar)
		b.jar.set(k, v);
	t.eq(await b.seen(), alone, 'the same Session');
	const page = await b.fetch('/seen.php');
	t.eq(page.json?.cookies, {}, 'PHP sees no cookie');
	t.eq(page.json?.header, '', 'nor the header');
	t.match(await b.outcome('/account.php'), /^403 sign_in_required/,
	    'his account is not open');
	t.unlike((await b.open('/')).text, new RegExp(people[0].email),
	    'nor does the shop know him');
	await signedIn(f, s, READ);
	const mine = await b.open('/account.php');
	t.match(mine.text, new RegExp(people[1].email), 'its own account');
	t.unlike(mine.text, new RegExp(people[0].email), 'and not his');
	const after = phpSessions();
	for (const [name, text] of Object.entries(before))
		t.eq(after[name], text, `${name} as it was`);
	t.match(await hello(), new RegExp(people[0].email),
	    'he still is logged in');
});

test('a cookie that is over lets no stale login in', proves('R-5-19',
    'R-5-16'), async (t) => {
	const p = await visitor(people[0]), { s, b } = await begin();
	const mine = b.cookie;

	await w.endSession(s.id);
	for (const [k, v] of p.jar)
		b.jar.set(k, v);
	const page = await b.fetch('/seen.php');
	t.eq([page.json?.poppy, page.json?.cookies, page.json?.header],
	    [{ POPPY_VIA: 'ended' }, {}, ''], 'PHP sees a guest, no cookies');
	b.jar.set(COOKIE, mine);
	t.match(await b.outcome('/account.php'), /^403/, 'no account');
});

test('nobody uses a Session\'s own PHP session as a visitor',
    proves('R-5-19'), async (t) => {
	const { f, s, b } = await begin();

	await signedIn(f, s, READ);
	t.match((await b.open('/account.php')).text,
	    new RegExp(people[1].email), 'it is signed in');
	const mine = Object.keys(phpSessions()).filter((n) =>
	    n.startsWith('sess_poppy-')).map((n) => n.slice('sess_'.length));
	t.ok(mine.length, 'there is a PHP session', mine);
	for (const id of mine)
		for (const c of [`__Host-tidewell=${id}`, `PHPSESSID=${id}`,
			`__Host-tidewell=x; __Host-tidewell=${id}`,
			`__Host-tidewell=${id.replace('-', '%2d')}`]) {
			const res = await send(w.url('/account.php'), {
				ca: w.ca, headers: [['Cookie', c]] });

			t.ok(!res.text.includes(people[1].email), c);
			t.eq(res.status, 303, `${c}: to the login page`);
		}
});

await run({
	before: async () => {
		w = await World.up({ bend: browserSettings });
		seenPages(w);
		agent = new Agent(w);
		people = await accounts(w);
		bob = decided(w, people[1]);
	},
	after: () => w?.close(),
});
