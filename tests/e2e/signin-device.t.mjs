// Device Sign-In (section 4.6, RFC 8628): the request, polls, and the page where
// the code is typed.
import { proves, run, sleep, test } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { Customer } from './lib/customer.mjs';
import { random } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { DEVICE, OWN, READ, WRITE, flows, signinSettings }
	from './lib/signin.mjs';
import { World } from './lib/world.mjs';

let w, ada, jonas;

const where = (res) => res.header('location') ?? '';

// A request with a Session to poll for: { d, s }.
async function begun(f, fields)
{
	const res = await f.device(fields);

	if (res.status !== 200)
		throw new Error(`no request: ${res.status} ${res.text}`);
	return { d: res.json, s: await f.agent.session(f.user) };
}

// Polls are timed from the last one: these are what the interval wants.
const waitFor = (d, more = 0) => sleep(d.interval * 1000 + 150 + more);

// The page for this code, as a person gets it by typing.
const typed = (p, code) => p.device(code);

test('the request is answered with all that an agent needs',
    proves('R-4.6-1', 'R-3.1-8', 'R-3.2-9'), async (t) => {
	const f = ada(), res = await f.device();
	const as = (await send(w.url('/.well-known/oauth-authorization-server'),
	    { ca: w.ca })).json;
	const { auth } = (await send(w.url('/.well-known/poppy.json'),
	    { ca: w.ca })).json;

	t.eq(as.device_authorization_endpoint,
	    `${w.base}/poppy/oauth/device`, 'endpoint');
	t.ok(as.grant_types_supported.includes(DEVICE), 'grant type');
	t.eq(auth.device.scopes, [READ, WRITE], 'scopes');
	t.eq(res.status, 200, 'status');
	const d = res.json;
	t.match(d.device_code, /^pdc_/, 'device_code');
	t.match(d.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/,
	    'user_code');
	t.eq([d.verification_uri, d.verification_uri_complete],
	    [`${w.base}/poppy/device`,
		`${w.base}/poppy/device?user_code=${d.user_code}`], 'URLs');
	t.eq([d.expires_in, d.interval], [600, 1], 'times');
	t.match(res.header('cache-control') ?? '', /no-store/, 'not stored');
	t.ok((await f.device()).json.user_code !== d.user_code, 'another code');
});

test('the client must prove itself', proves('R-4.6-2'), async (t) => {
	const f = ada(), g = ada();

	t.refused(await f.device({ client_assertion: undefined }), 401,
	    'invalid_client', 'none');
	t.refused(await f.device({ client_assertion:
		g.agent.clientAssertion() }), 401, 'invalid_client', 'another\'s');
	const once = f.agent.clientAssertion();
	t.eq((await f.device({ client_assertion: once })).status, 200, 'once');
	t.refused(await f.device({ client_assertion: once }), 401,
	    'invalid_client', 'twice');
	const res = await send(`${w.base}/poppy/oauth/device`, { ca: w.ca });
	t.eq(res.status, 405, 'GET');
});

test('scope is demanded, and limited to what this type gives',
    proves('R-4.6-3', 'R-4.4-8', 'R-4.4-9', 'R-4.4-7'), async (t) => {
	const f = ada();

	for (const scope of [undefined, '', 'none', OWN, `${READ} ${OWN}`,
		'poppy:admin', `${READ},${WRITE}`])
		t.refused(await f.device({ scope }), 400, 'invalid_scope',
		    String(scope));
});

test('a sign-in from beginning to end',
    proves('R-4.6-4', 'R-4.6-6', 'R-4.6-8', 'R-4.6-11', 'R-4.4-10',
	'R-4.4-11', 'R-4.4-12'), async (t) => {
	const f = ada(), { d, s } = await begun(f);

	t.refused(await f.poll(d, s.id), 400, 'authorization_pending', 'before');
	const p = f.person();
	const page = await typed(p, d.user_code);
	t.must(Customer.consentForm(page), 'a page that asks',
	    page.text.slice(0, 300));
	t.ok(page.text.includes('Test Agent'), 'it names the agent');
	const done = await p.decide(page, { scopes: [READ] });
	t.ok(!where(done).startsWith(f.redirect), 'no redirect to the agent');
	await waitFor(d);
	const res = await f.poll(d, s.id);
	t.must(res.status === 200, 'granted', res.text);
	t.eq([res.json.scope, res.json.session_id, res.json.signed_in],
	    [READ, s.id, true], 'reply');
	t.match(res.json.refresh_token, /^pat_/, 'Account Token');
	t.ok(res.json.refresh_token_expires_in > 0, 'its lifetime');
	t.eq([await f.reads(f.session(res)), await f.writes(f.session(res))],
	    ['200', '403 insufficient_scope'], 'what it may');
	t.refused(await f.poll(d, s.id), 400, 'invalid_grant', 'only once');
});

test('opening the link, even logged in, approves nothing',
    proves('R-4.6-5'), async (t) => {
	const f = ada(), { d, s } = await begun(f), p = f.person();

	for (let i = 0; i < 2; i++) {
		const page = await p.login(await p.open(
		    d.verification_uri_complete));

		t.ok(Customer.consentForm(page), 'it asks');
		t.ok(page.text.includes(d.user_code), 'it shows the code');
	}
	for (const q of ['&decision=approve', '&action=approve',
		`&scope=${READ}`])
		await p.open(d.verification_uri_complete + q);
	t.refused(await f.poll(d, s.id), 400, 'authorization_pending', 'poll');
});

test('declined is access_denied', proves('R-4.6-9', 'R-4.6-4'),
    async (t) => {
	for (const opts of [{ decline: true }, { scopes: [] }]) {
		const f = ada(), { d, s } = await begun(f), p = f.person();

		await p.decide(await typed(p, d.user_code), opts);
		t.refused(await f.poll(d, s.id), 400, 'access_denied',
		    JSON.stringify(opts));
	}
});

test('polls that come too fast are told to slow down, and only those',
    proves('R-4.6-7'), async (t) => {
	const f = ada(), { d, s } = await begun(f);

	t.refused(await f.poll(d, s.id), 400, 'authorization_pending',
	    'the first is never early');
	t.refused(await f.poll(d, s.id), 400, 'slow_down', 'at once again');
	// The interval is 1 + 5 seconds now, measured from the last answer.
	await sleep(3000);
	t.refused(await f.poll(d, s.id), 400, 'slow_down', 'in half of it');
	const p = f.person();
	await p.decide(await typed(p, d.user_code));
	t.eq((await f.poll(d, s.id)).status, 200,
	    'a decision is never withheld');
});

test('a client that keeps the interval is never told to slow down',
    proves('R-4.6-6', 'R-4.6-7'), async (t) => {
	const f = ada(), { d, s } = await begun(f);

	for (const more of [0, 30, 0, 60, 0]) {
		t.refused(await f.poll(d, s.id), 400, 'authorization_pending',
		    'steady');
		await waitFor(d, more);
	}
}, { timeout: 40000 });

test('after its time it is expired_token', proves('R-4.6-10'),
    async (t) => {
	const f = ada(), { d, s } = await begun(f), p = f.person();
	const page = await typed(p, d.user_code);

	await w.sql('UPDATE poppy.device SET expires_at = ' +
	    'extract(epoch FROM now())::bigint - 1');
	t.refused(await f.poll(d, s.id), 400, 'expired_token', 'poll');
	await p.decide(page);
	await waitFor(d);
	t.refused(await f.poll(d, s.id), 400, 'expired_token',
	    'too late to approve');
});

test('a device_code is for its client alone', proves('R-4.6-11'),
    async (t) => {
	const f = ada(), { d, s } = await begun(f), g = ada(f.user);
	const theirs = await g.agent.session(g.user);

	t.refused(await g.poll(d, theirs.id), 400, 'invalid_grant',
	    'another client');
	for (const device_code of ['x', `${d.device_code}x`,
		`pdc_AA${random(32)}`])
		t.refused(await f.poll({ device_code }, s.id), 400,
		    'invalid_grant', device_code);
	t.refused(await f.poll(d, s.id), 400, 'authorization_pending',
	    'its own');
});

test('polls are checked like every token request',
    proves('R-4.6-12', 'R-4.4-15'), async (t) => {
	const f = ada(), { d, s } = await begun(f), g = ada();
	const foreign = await g.agent.session(g.user);
	const p = f.person();

	await p.decide(await typed(p, d.user_code));
	t.challenged(await f.poll(d, s.id, {}, { proof: null }), 400,
	    'invalid_dpop_proof', 'no proof');
	t.refused(await f.poll(d, s.id, { client_assertion: undefined }), 401,
	    'invalid_client', 'no client assertion');
	t.refused(await f.poll(d, undefined), 400, 'invalid_request',
	    'no Session');
	t.refused(await f.poll(d, s.id, { device_code: undefined }), 400,
	    'invalid_request', 'no device_code');
	t.refused(await f.poll(d, foreign.id), 400, 'invalid_session',
	    'another client\'s Session');
	const other = await jonas(f.user, f.agent).signedIn();
	t.refused(await f.poll(d, other.id), 400, 'account_mismatch',
	    'a Session of another account');
	t.eq((await f.poll(d, s.id)).status, 200, 'none of it cost anything');
});

test('every poll spends its assertion and its proof', proves('R-4.6-12'),
    async (t) => {
	const f = ada(), { d, s } = await begun(f);
	const client_assertion = f.agent.clientAssertion();
	const proof = f.user.proof('POST', w.tokenEndpoint);

	t.refused(await f.poll(d, s.id, { client_assertion }, { proof }), 400,
	    'authorization_pending', 'once');
	t.refused(await f.poll(d, s.id, { client_assertion }), 401,
	    'invalid_client', 'the assertion again');
	t.challenged(await f.poll(d, s.id, {}, { proof }), 400,
	    'invalid_dpop_proof', 'the proof again');
});

test('the code is taken as it is typed', proves('R-4.6-13'), async (t) => {
	const f = ada(), { d } = await begun(f), p = f.person();
	const c = d.user_code;

	for (const code of [c, c.toLowerCase(), c.replace('-', ''),
		c.replace('-', '').toLowerCase(), c.replace('-', ' '),
		` ${c} `])
		t.ok(Customer.consentForm(await typed(p, code)), `"${code}"`);
});

test('one page for codes that are unknown, expired, used or nonsense',
    proves('R-4.6-13', 'R-4.6-11'), async (t) => {
	const f = ada(), p = f.person(), pages = [];
	const used = await begun(f), late = await begun(f);

	await p.decide(await typed(p, used.d.user_code), { decline: true });
	await w.sql('UPDATE poppy.device SET expires_at = ' +
	    'extract(epoch FROM now())::bigint - 1 WHERE user_code = ' +
	    `'${late.d.user_code.replace('-', '')}'`);
	for (const code of [used.d.user_code, late.d.user_code, 'BCDF-GHJK',
		'AAAA-AAAA', '', 'x', 'BCDF-GHJ', '😀', 'x'.repeat(500)]) {
		const res = await typed(p, code);

		t.ok(!Customer.consentForm(res), `no way in: ${code}`);
		t.ok(res.status < 500, 'status', res.status);
		pages.push([code, res.text.replaceAll(code || '\0', '')
		    .replace(/[A-Za-z0-9_-]{40,}/g, '')
		    .replace(/value="[^"]*"/g, '')]);
	}
	t.eq([pages[0][1], pages[1][1]], [pages[2][1], pages[2][1]],
	    'used, expired and unknown look alike');
});

test('a form for one request decides no other', proves('R-4.6-5'),
    async (t) => {
	const f = ada(), one = await begun(f), two = await begun(f);
	const p = f.person();
	const page = await typed(p, one.d.user_code);

	for (const code of [two.d.user_code, two.d.user_code.replace('-', '')])
		await p.decide(page, { over: { user_code: code } });
	t.refused(await f.poll(two.d, two.s.id), 400, 'authorization_pending',
	    'the other');
	const q = f.person();
	await q.consent(f.request().url);
	const csrf = Customer.consentForm(page).fields.find(([, v]) =>
	    /^[A-Za-z0-9_-]{20,}$/.test(v))?.[0];
	t.must(csrf, 'a token');
	await p.decide(page, { over: { [csrf]: 'x' } });
	t.refused(await f.poll(one.d, one.s.id), 400, 'authorization_pending',
	    'without the form\'s token');
	await p.decide(page, { headers: [['Origin', 'https://evil.example']] });
	await waitFor(one.d);
	t.refused(await f.poll(one.d, one.s.id), 400, 'authorization_pending',
	    'from another site');
});

test('approve against decline at one moment: one of them counts',
    proves('R-4.6-8', 'R-4.6-9'), async (t) => {
	for (let i = 0; i < 5; i++) {
		const f = ada(), { d, s } = await begun(f), p = f.person();
		const page = await typed(p, d.user_code);

		await Promise.all([{}, { decline: true }, {}, { decline: true }]
		    .map((o) => p.decide(page, o)));
		const res = await f.poll(d, s.id);
		t.ok(res.status === 200 || res.json?.error === 'access_denied',
		    'one of them', res.text);
		await p.decide(page, res.status === 200 ? { decline: true } : {});
		if (res.status === 200)
			t.eq(await f.reads(f.session(res)), '200', 'it stays');
		else
			t.refused(await f.poll(d, s.id), 400, 'access_denied',
			    'it stays');
	}
}, { timeout: 60000 });

test('polls at one moment after approval: one gets the tokens',
    proves('R-4.6-11'), async (t) => {
	for (let i = 0; i < 5; i++) {
		const f = ada(), { d, s } = await begun(f), p = f.person();

		await p.decide(await typed(p, d.user_code));
		const all = await Promise.all(Array.from({ length: 4 }, () =>
		    f.poll(d, s.id)));
		t.ok(all.filter((r) => r.status === 200).length === 1, 'one',
		    all.map((r) => r.text));
		t.ok(all.every((r) => r.status === 200 ||
		    r.json?.error === 'invalid_grant'), 'the others none',
		all.map((r) => r.text));
	}
}, { timeout: 60000 });

test('guesses are limited', proves('R-4.6-13'), async (t) => {
	const few = await World.up({ bend: (c) => {
		signinSettings(c);
		c.device.guesses = 4;
	} });

	try {
		const f = flows(few, few.customers()[0])();
		const { d } = await begun(f);
		const p = f.person();
		let status;
		for (let i = 0; i < 6; i++)
			status = (await typed(p, `BCDF-GH${'JKLMNP'[i]}B`))
			    .status;
		t.eq(status, 429, 'too many');
		t.ok(!Customer.consentForm(await typed(p, d.user_code)),
		    'a right one then, either');
	} finally {
		await few.close();
	}
}, { timeout: 60000 });

test('privileged and disabled accounts approve nothing', proves('A-24'),
    async (t) => {
	for (const account of w.customers().filter((c) =>
	    c.kind !== 'customer')) {
		const f = flows(w, account)(new User(), new Agent(w));
		const { d, s } = await begun(f), p = f.person();
		const res = await p.login(await p.open(
		    d.verification_uri_complete));

		t.ok(!Customer.consentForm(res), account.kind);
		t.refused(await f.poll(d, s.id), 400, 'authorization_pending',
		    account.kind);
	}
});

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		const people = w.customers();

		ada = flows(w, people[0]);
		jonas = flows(w, people[1]);
	},
	after: () => w?.close(),
});
