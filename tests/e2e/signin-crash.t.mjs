// The database dies in the middle of signing in (PostgreSQL is killed, not
// stopped): what a person or an agent was told is still so afterwards.
import { proves, run, test } from './lib/tap.mjs';
import { Customer } from './lib/customer.mjs';
import { READ, WRITE, flows, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, ada, jonas;

async function crash()
{
	await w.pg('crash');
	await w.pg('start');
}

// For some seconds after a crash no assertion can be judged: 503.
async function later(call)
{
	let res;

	for (let i = 0; i < 80; i++) {
		res = await call();
		if (res.status !== 503)
			break;
		await new Promise((ok) => setTimeout(ok, 500));
	}
	return res;
}

// A device request that the customer has just approved.
async function approved(f)
{
	const d = (await f.device()).json;
	const person = f.person();

	await person.decide(await person.device(d.user_code));
	return d;
}

test('what was approved, spent and taken back survives a crash',
    proves('R-4.5-8', 'R-4.5-14', 'R-4.6-8', 'R-4.8-1', 'R-4.9-1'),
    async (t) => {
	const f = ada(), g = jonas();
	const [s, used, back, gone] = [await f.agent.session(f.user),
		await f.signedIn(), await f.signedIn(), await g.signedIn()];
	const code = await f.code(), spent = await f.code();
	const first = await f.redeem(spent, s.id);
	const d = await approved(f);
	const person = g.person();
	const { forms } = await person.agents();

	t.must(first.status === 200, 'a code was redeemed', first.text);
	t.eq((await f.revoke(back.pat)).status, 200, 'an Account Token revoked');
	t.eq((await person.submit(forms.at(-1))).status, 303,
	    'an agent disconnected');
	await crash();

	t.eq((await later(() => f.redeem(code, s.id))).status, 200,
	    'a code that was handed out');
	t.eq((await later(() => f.poll(d, s.id))).status, 200,
	    'a device that was approved');
	t.eq((await f.refresh(used.pat)).status, 200, 'an Account Token');
	t.refused(await f.refresh(back.pat), 400, 'invalid_grant',
	    'one that was revoked');
	t.refused(await g.refresh(gone.pat), 400, 'invalid_grant',
	    'one whose agent was disconnected');
	t.eq((await f.refresh(first.json.refresh_token)).status, 200,
	    'what the code gave');
	t.refused(await f.redeem(spent, s.id), 400, 'invalid_grant',
	    'the code was used');
	t.refused(await f.refresh(first.json.refresh_token), 400,
	    'invalid_grant', 'and its use again took that back');
}, { timeout: 120000 });

test('without the database nothing is promised', proves('R-4.5-8'),
    async (t) => {
	const f = ada(), person = f.person();
	const r = f.request(), page = await person.consent(r.url);

	// Who logs in need not wait for the disk; a second later it is there.
	await new Promise((ok) => setTimeout(ok, 1500));
	await w.pg('crash');
	const res = await person.decide(page);
	t.eq([res.status, res.header('location')], [503, undefined],
	    'no answer to the question');
	t.match(res.header('content-type') ?? '', /^text\/html/, 'a page');
	t.eq((await new Customer(w).fetch(r.url)).status, 503,
	    'nor is another asked');
	await w.pg('start');
	const again = await later(() => person.decide(page));
	t.match(again.header('location') ?? '', /[?&]code=pac_/,
	    'the same form again', [again.status, again.text.slice(0, 200)]);
}, { timeout: 120000 });

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		const people = w.customers();

		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
	},
	after: () => w?.close(),
});
