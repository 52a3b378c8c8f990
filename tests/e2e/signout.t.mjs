// Signing out (section 4.9): by the agent at the revocation endpoint, and by the
// customer on the page of connected agents. Both count at the next request.
import { proves, run, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Customer, unescape } from './lib/customer.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { READ, WRITE, flows, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, ada, jonas, mira;
const OUT = '403 sign_in_required';

test('a revoked Account Token and all it signed in',
    proves('R-4.9-1', 'R-4.9-3', 'R-4.9-4', 'R-4.9-5', 'R-4.9-6', 'R-4.9-7'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const two = f.session(await f.refresh(s.pat));
	const three = f.session(await f.refresh(s.pat, { scope: READ }));
	const apart = await f.signedIn();

	t.eq(await Promise.all([s, two, three, apart].map((x) => f.reads(x))),
	    ['200', '200', '200', '200'], 'before');
	const res = await f.revoke(s.pat);
	t.eq(res.status, 200, 'revoked');
	t.ok(s.res.json.expires_in > 300,
	    'tokens live longer, since each request is checked');
	t.eq(await Promise.all([s, two, three].map((x) => f.reads(x))),
	    [OUT, OUT, OUT], 'at the next request');
	t.eq([await f.reads(apart), (await f.refresh(apart.pat)).status],
	    ['200', 200], 'another sign-in of the same User stays');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'refresh');
	t.eq((await f.agent.call(s, 'GET', w.stock)).status, 200,
	    'the Session goes on');
	const again = await f.agent.session(f.user, { form:
		{ session_id: s.id } });
	t.eq([again.id, again.res.json.signed_in], [s.id, false], 'renewed');
	t.eq(w.who(await f.agent.call(s, 'GET', w.whoami))?.POPPY_SIGNED_IN,
	    '0', 'PHP is told so');
});

test('signed out, it can be signed in again', proves('R-4.9-5'),
    async (t) => {
	const f = ada(), s = await f.signedIn();

	await f.revoke(s.pat);
	const again = await f.signedIn({}, { session: s });
	t.eq([again.id, await f.reads(again)], [s.id, '200'], 'signed in');
	t.eq(await f.reads(s), OUT, 'the old token does not come to life');
});

test('revocation is for clients that prove themselves', proves('R-4.9-2'),
    async (t) => {
	const f = ada(), s = await f.signedIn(), g = ada();

	for (const client_assertion of [undefined, '', 'x',
		g.agent.clientAssertion()])
		t.refused(await f.revoke(s.pat, { client_assertion }), 401,
		    'invalid_client', String(client_assertion).slice(0, 9));
	t.eq(await f.reads(s), '200', 'nothing happened');
});

test('unknown, foreign and revoked ones are answered alike',
    proves('R-4.9-8', 'R-4.9-9'), async (t) => {
	const f = ada(), s = await f.signedIn(), g = ada(), gone =
	    await g.signedIn();
	const body = [];

	await g.revoke(gone.pat);
	for (const token of [s.pat, gone.pat, `pat_AA${random(32)}`, 'x',
		`pac_AA${random(32)}`, 'x'.repeat(3000)]) {
		const res = await g.revoke(token);

		t.eq(res.status, 200, token.slice(0, 12));
		body.push(res.text);
	}
	t.eq(new Set(body).size, 1, 'one answer', body);
	t.eq([await f.reads(s), (await f.refresh(s.pat)).status], ['200', 200],
	    'its owner has it');
});

test('hints are ignored', proves('R-4.9-1'), async (t) => {
	for (const token_type_hint of ['refresh_token', 'access_token', 'x',
		'']) {
		const f = ada(), s = await f.signedIn();

		t.eq((await f.revoke(s.pat, { token_type_hint })).status, 200,
		    token_type_hint);
		t.eq(await f.reads(s), OUT, token_type_hint);
	}
});

test('a Session Token revoked is that one alone', proves('R-4.9-1'),
    async (t) => {
	const f = ada(), s = await f.signedIn();
	const two = f.session(await f.refresh(s.pat, { session_id: s.id }));

	t.eq((await f.revoke(two.token)).status, 200, 'revoked');
	t.eq(await f.reads(two), '401 invalid_token', 'gone');
	t.eq([await f.reads(s), (await f.refresh(s.pat)).status], ['200', 200],
	    'all else stays');
});

test('revocation against refresh at one moment',
    proves('R-4.9-3', 'R-4.9-6'), async (t) => {
	for (let i = 0; i < 8; i++) {
		const f = ada(), s = await f.signedIn();
		const [gone, ...all] = await Promise.all([f.revoke(s.pat),
			f.refresh(s.pat), f.refresh(s.pat, { session_id: s.id }),
			f.refresh(s.pat)]);

		t.eq(gone.status, 200, 'revoked');
		for (const r of all) {
			t.ok(r.status === 200 ||
			    r.json?.error === 'invalid_grant', 'or refused',
			r.text);
			if (r.status === 200)
				t.eq(await f.reads(f.session(r)), OUT,
				    'what it still gave is signed out');
		}
		t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'after');
	}
}, { timeout: 60000 });

// The page of connected agents, logged in.
const agents = async (f, p = f.person()) => ({ p, ...await p.agents() });

// The button of a form, as it stands.
const press = (p, form, over = {}, opts = {}) => {
	const b = form.buttons.find((x) => x.name);

	return p.submit(form, { ...b ? { [b.name]: b.value } : {}, ...over },
	    opts);
};

test('the customer sees who is connected, and disconnects',
    proves('R-4.9-10', 'R-4.9-4', 'R-4.9-6'), async (t) => {
	const f = mira(undefined, new Agent(w, { doc: {
		client_name: 'Paloma the Agent' } }));
	const s = await f.signedIn();
	const two = f.session(await f.refresh(s.pat));
	const view = await agents(f);
	const text = unescape(view.page.text);

	t.ok(text.includes('Paloma the Agent'), 'name');
	t.ok(text.includes(new URL(f.agent.id).host), 'host');
	t.match(text.replace(/\s+/g, ' '), /Sessions: 2\b/, 'where');
	t.ok(text.includes('In your browser'), 'how');
	t.must(view.forms.length > 0, 'a form', text.slice(0, 800));
	const form = view.forms[0];
	t.eq(form.method, 'post', 'by POST');
	for (const url of [form.action, `${form.action}?${form.fields.map(
	    ([k, v]) => `${k}=${encodeURIComponent(v)}`).join('&')}`])
		await view.p.open(url);
	t.eq(await f.reads(s), '200', 'looking disconnects nothing');
	const res = await press(view.p, form);
	t.ok(res.status < 400, 'done', res.status);
	t.eq([await f.reads(s), await f.reads(two)], [OUT, OUT],
	    'at the next request');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'refresh');
	t.eq((await f.agent.session(f.user, { form: { session_id: s.id } }))
	    .id, s.id, 'the Session goes on');
	t.ok(!unescape((await agents(f, view.p)).page.text)
	    .includes('Paloma the Agent'), 'it is gone from the list');
});

test('disconnecting needs the form\'s token and the login',
    proves('R-4.9-10'), async (t) => {
	const f = mira(), s = await f.signedIn(), { p, forms: [form] } =
	    await agents(f);
	const csrf = form.fields.find(([, v]) =>
	    /^[A-Za-z0-9_-]{20,}$/.test(v))?.[0];

	t.must(csrf, 'a token', form.fields);
	for (const v of [undefined, '', 'x'])
		await press(p, form, { [csrf]: v });
	await press(p, form, {}, { headers: [['Origin',
		'https://evil.example']] });
	await press(jonas().person(), form);
	t.eq(await f.reads(s), '200', 'nothing happened');
	await press(p, form);
	t.eq(await f.reads(s), OUT, 'until it is right');
});

test('another customer\'s agent is as unknown as none', proves('R-4.9-10'),
    async (t) => {
	const f = mira(), s = await f.signedIn(), mine = await agents(f);
	const g = jonas(), other = await g.signedIn(), theirs = await agents(g);
	const [form] = theirs.forms;
	const fields = Object.fromEntries(mine.forms[0].fields.filter(([, v]) =>
	    !/^[A-Za-z0-9_-]{20,}$/.test(v)));
	const button = mine.forms[0].buttons.find((b) => b.name);
	const foreign = await theirs.p.submit(form, { ...fields,
		...button ? { [button.name]: button.value } : {} });
	const none = await theirs.p.submit(form, { ...Object.fromEntries(Object
	    .keys(fields).map((k) => [k, '999999'])),
	...button ? { [button.name]: /^\d+$/.test(button.value) ? '999999' :
	    button.value } : {} });

	t.eq([foreign.status, foreign.header('location')],
	    [none.status, none.header('location')], 'the same answer');
	t.eq(await f.reads(s), '200', 'and nothing happened');
	t.ok(await g.reads(other), 'whatever became of their own');
	await press(mine.p, mine.forms[0]);
});

test('disconnecting one of two, and then all', proves('R-4.9-10'),
    async (t) => {
	const one = mira(), two = mira();
	const a = await one.signedIn(), b = await two.signedIn();
	const view = await agents(one);

	await press(view.p, view.forms[0]);
	const left = [await one.reads(a), await two.reads(b)].sort();
	t.eq(left, ['200', OUT], 'one of them');
	const c = await one.signedIn();
	const all = (await agents(one, view.p)).forms.at(-1);
	await press(view.p, all);
	t.eq([await one.reads(c), await two.reads(b)], [OUT, OUT], 'all');
	const none = unescape((await agents(one, view.p)).page.text);
	t.match(none, /No agent has access to your account/, 'none is left');
	t.unlike(none, /These agents may use/, 'and none is announced');
});

test('disconnecting is for one account alone', proves('R-4.9-10'),
    async (t) => {
	const user = new User(), agent = new Agent(w);
	const f = mira(user, agent), g = jonas(user, agent);
	const mine = await f.signedIn(), theirs = await g.signedIn();
	const view = await agents(f);

	await press(view.p, view.forms.at(-1));
	t.eq([await f.reads(mine), await g.reads(theirs)], [OUT, '200'],
	    'the other account of the same User stays');
});

test('disconnecting against refresh at one moment', proves('R-4.9-10'),
    async (t) => {
	for (let i = 0; i < 5; i++) {
		const f = mira(), s = await f.signedIn();
		const { p, forms: list } = await agents(f);
		const [res, ...all] = await Promise.all([
			press(p, list.at(-1)), f.refresh(s.pat),
			f.refresh(s.pat, { session_id: s.id })]);

		t.ok(res.status < 400, 'done', res.status);
		for (const r of all)
			if (r.status === 200)
				t.eq(await f.reads(f.session(r)), OUT,
				    'what it still gave is signed out');
			else
				t.refused(r, 400, 'invalid_grant', 'refused');
	}
}, { timeout: 60000 });

test('after disconnecting, the customer can sign in anew',
    proves('R-4.9-10'), async (t) => {
	const f = mira(), s = await f.signedIn();
	const view = await agents(f);

	await press(view.p, view.forms.at(-1));
	const again = await f.signedIn({ scope: WRITE }, { session: s });
	t.eq([again.id, await f.writes(again)], [s.id, '200'], 'signed in');
});

test('the shop ends everything for a customer in one call',
    proves('R-4.9-10'), async (t) => {
	const f = mira(), s = await f.signedIn(), p = f.person();
	const account = w.who(await f.agent.call(s, 'GET', w.whoami))
	    .POPPY_ACCOUNT;

	await p.login(await p.open('/poppy/agents'));
	await w.sql('SELECT poppy_api.customer_end(' +
	    `'${decodeURIComponent(account)}', 'password')`, 'poppy_bridge');
	t.eq(await f.reads(s), OUT, 'at the next request');
	t.refused(await f.refresh(s.pat), 400, 'invalid_grant', 'refresh');
	t.ok(Customer.loginForm(await p.open('/poppy/agents')),
	    'logins on our pages as well');
});

test('the page is for those who log in', proves('R-4.9-10'), async (t) => {
	const res = await send(w.url('/poppy/agents'), { ca: w.ca });

	t.ok([302, 303].includes(res.status), 'to the login', res.status);
	t.match(res.header('location') ?? '', /\/poppy\/login\?next=agents$/,
	    'and back');
});

// Last: for some seconds after it no assertion can be judged.
test('a revocation survives a crash of the database', proves('R-4.9-1'),
    async (t) => {
	const f = ada(), s = await f.signedIn();

	t.eq((await f.revoke(s.pat)).status, 200, 'revoked');
	await w.pg('crash');
	await w.pg('start');
	let res;
	for (let i = 0; i < 40; i++) {
		res = await f.refresh(s.pat);
		if (res.status !== 503)
			break;
		await new Promise((ok) => setTimeout(ok, 500));
	}
	t.refused(res, 400, 'invalid_grant', 'still');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		const people = w.customers();

		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
		mira = flows(w, people[2]);
	},
	after: () => w?.close(),
});
