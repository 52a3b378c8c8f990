// The device endpoint and its polls (section 4.6; RFC 8628): bad input, limits,
// and what is counted. Customers decide by lib/consent.
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { ASSERTION_TYPE, Agent, User, encode } from './lib/agent.mjs';
import { accounts, decided } from './lib/consent.mjs';
import { now, random, tampered } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { OWN, READ, WRITE, signinSettings } from './lib/signin.mjs';
import { World } from './lib/world.mjs';

const CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;
let w, ada, few;

// A request whose interval no clock can end by chance; what it was told is 1 s.
async function unhurried(at, f)
{
	const one = await f.begun();

	await at.sql('UPDATE poppy.device SET interval_s = 60 WHERE user_code = ' +
	    `'${one.d.user_code.replace('-', '')}'`);
	return one;
}

test('a request, and a code that is its own', proves('R-4.6-1'),
    async (t) => {
	const f = ada(), seen = new Set(), letters = new Map();

	for (let i = 0; i < 60; i++) {
		const res = await f.device();

		t.must(res.status === 200, 'status', res.text);
		t.match(res.json.user_code, CODE, 'user_code');
		t.match(res.json.device_code, /^pdc_AA[\w-]{43}$/, 'device_code');
		t.match(res.header('cache-control'), /no-store/, 'not stored');
		seen.add(res.json.user_code).add(res.json.device_code);
		for (const l of res.json.user_code.replace('-', ''))
			letters.set(l, (letters.get(l) ?? 0) + 1);
	}
	t.eq(seen.size, 120, 'none twice');
	// 480 letters, 24 of each expected: with one over 70 the world is to end.
	t.ok(letters.size === 20 && [...letters.values()].every((n) => n < 70),
	    'letters are spread', [...letters]);
	const rows = await w.sql('SELECT count(*) FROM poppy.device WHERE ' +
	    [...seen].filter((s) => s.startsWith('pdc_')).map((s) =>
		`encode(hash, 'escape') = '${s}'`).join(' OR '));
	t.eq(rows.trim(), '0', 'kept as hashes');
});

test('whom the client\'s assertion may be for',
    proves('R-4.6-2', 'R-4.1-7'), async (t) => {
	const f = ada(), at = `${w.base}/poppy/oauth/device`;
	const ask = (aud) => f.device({ client_assertion:
		f.agent.clientAssertion({ aud }) });

	for (const aud of [at, w.tokenEndpoint, w.base, [at], ['x', at]])
		t.eq((await ask(aud)).status, 200, JSON.stringify(aud));
	for (const aud of [`${at}/`, `${w.base}/poppy/oauth/revoke`,
		`${w.base}/poppy/device`, `${w.base}/poppy/oauth/authorize`, 'x',
		[], undefined])
		t.refused(await ask(aud), 401, 'invalid_client',
		    JSON.stringify(aud));
	t.refused(await f.poll({ device_code: `pdc_AA${random(32)}` }, 'x',
	    { client_assertion: f.agent.clientAssertion({ aud: at }) }), 401,
	'invalid_client', 'one for here is no good there');
});

test('who asks must prove it', proves('R-4.6-2'), async (t) => {
	const f = ada(), g = ada();
	const good = f.agent.clientAssertion();

	for (const [what, over] of [
		['no assertion', { client_assertion: undefined }],
		['no type', { client_assertion_type: undefined }],
		['another type', { client_assertion_type: 'x' }],
		['tampered', { client_assertion: tampered(good) }],
		['another client\'s', { client_assertion:
			g.agent.clientAssertion() }],
		['another client_id', { client_id: g.agent.id }],
		['expired', { client_assertion: f.agent.clientAssertion(
		    { iat: now() - 120, exp: now() - 60 }) }],
		['a Session assertion', { client_assertion:
			f.agent.sessionAssertion(f.user) }]])
		t.refused(await f.device(over), 401, 'invalid_client', what);
	t.eq((await f.device({ client_assertion: good })).status, 200, 'good');
	t.refused(await f.device({ client_assertion: good }), 401,
	    'invalid_client', 'spent');
});

test('scope: demanded, and as this type has it',
    proves('R-4.6-3', 'R-4.4-8', 'R-4.4-9'), async (t) => {
	const f = ada(), form = { client_assertion: f.agent.clientAssertion() };

	for (const scope of [undefined, '', ' ', 'none', OWN, `${READ} ${OWN}`,
		`${READ},${WRITE}`, ` ${READ}`, `${READ} `, `${READ}  ${WRITE}`,
		READ.toUpperCase(), 'poppy:', `"${READ}"`, 'x'.repeat(9000)])
		t.refused(await f.device({ ...form, scope }), 400,
		    'invalid_scope', JSON.stringify(scope)?.slice(0, 30));
	t.eq((await f.device({ ...form, scope: READ })).status, 200,
	    'none of that spent the assertion');
	t.refused(await f.device({ scope: 'none', client_assertion: 'x' }), 401,
	    'invalid_client', 'the client is judged first');
});

test('forms that are none', proves('R-4.6-1'), async (t) => {
	const url = `${w.base}/poppy/oauth/device`, f = ada();
	const pairs = () => [['scope', READ], ['client_id', f.agent.id],
		['client_assertion_type', ASSERTION_TYPE],
		['client_assertion', f.agent.clientAssertion()]];
	const post = (body, type = 'application/x-www-form-urlencoded') => send(
	    url, { ca: w.ca, method: 'POST', body,
		    headers: [['Content-Type', type]] });

	for (const name of ['scope', 'client_id', 'client_assertion'])
		t.refused(await post(encode([...pairs(), [name, 'x']])), 400,
		    'invalid_request', `${name} twice`);
	t.refused(await post(`${encode(pairs())}&a=%zz`), 400,
	    'invalid_request', 'a bad % sequence');
	t.refused(await post(JSON.stringify({ scope: READ }),
	    'application/json'), 415, 'unsupported_media_type', 'JSON');
	t.refused(await post(''), 401, 'invalid_client', 'nothing');
	for (const method of ['GET', 'PUT', 'DELETE'])
		t.eq((await send(url, { ca: w.ca, method })).status, 405, method);
	t.eq((await post(encode([...pairs(), ['user_code', 'AAAA-AAAA'],
		['more', '1']]))).status, 200, 'what we don\'t know is ignored');
});

test('a poll: each field, and codes that are none',
    proves('R-4.6-11', 'R-4.6-12'), async (t) => {
	const f = ada(), { d, s } = await f.begun(), g = ada();
	const theirs = await g.agent.session(g.user);
	const form = { client_assertion: f.agent.clientAssertion() };
	const proof = f.user.proof('POST', w.tokenEndpoint);

	t.refused(await f.poll({}, s.id, form, { proof }), 400,
	    'invalid_request', 'no device_code');
	t.refused(await f.poll(d, undefined, form, { proof }), 400,
	    'invalid_request', 'no session_id');
	for (const device_code of ['', 'x', d.user_code,
		d.device_code.slice(0, -1), `${d.device_code}A`,
		d.device_code.replace('pdc_', 'pac_'), `pdc_AA${random(32)}`,
		`pdc_BB${d.device_code.slice(6)}`])
		t.refused(await f.poll({ device_code }, s.id, form, { proof }),
		    400, 'invalid_grant', device_code.slice(0, 12));
	for (const id of ['', 'x', s.token, `ses_AA${random(16)}`, theirs.id])
		t.refused(await f.poll(d, id, form, { proof }), 400,
		    'invalid_session', id);
	t.refused(await g.poll(d, theirs.id), 400, 'invalid_grant',
	    'another client');
	t.refused(await f.poll(d, s.id, form, { proof }), 400,
	    'authorization_pending', 'none of that spent anything');
	t.refused(await f.poll(d, s.id, form), 401, 'invalid_client',
	    'an answer does');
});

test('approved: the reply, once', proves('R-4.6-8', 'R-4.6-11', 'R-4.4-10',
    'R-4.4-12'), async (t) => {
	const f = ada(), { d, s } = await f.begun();

	await f.decide(d, { scopes: READ });
	const res = await f.poll(d, s.id);
	t.must(res.status === 200, 'status', res.text);
	t.eq([res.json.token_type, res.json.scope, res.json.session_id,
		res.json.signed_in], ['DPoP', READ, s.id, true], 'reply');
	t.match(res.json.refresh_token, /^pat_/, 'Account Token');
	t.eq(await f.reads(f.session(res)), '200', 'it is signed in');
	t.refused(await f.poll(d, s.id), 400, 'invalid_grant', 'used');
	t.eq(await f.reads(f.session(res)), '200', 'and stays so');
	t.eq((await f.refresh(res.json.refresh_token)).json.scope, READ,
	    'its Account Token');
});

test('declined, or too late', proves('R-4.6-9', 'R-4.6-10'), async (t) => {
	const f = ada(), no = await f.begun(), late = await f.begun();

	await f.decide(no.d, { approve: false });
	await w.sql('UPDATE poppy.device SET expires_at = 1 WHERE user_code = ' +
	    `'${late.d.user_code.replace('-', '')}'`);
	for (let i = 0; i < 3; i++) {
		t.refused(await f.poll(no.d, no.s.id), 400, 'access_denied',
		    'declined');
		t.refused(await f.poll(late.d, late.s.id), 400, 'expired_token',
		    'late');
	}
});

test('each slow_down makes the interval longer, on every worker',
    proves('R-4.6-7'), async (t) => {
	const f = ada(), { d, s } = await unhurried(w, f);
	const interval = async () => Number(await w.sql('SELECT interval_s ' +
	    `FROM poppy.device WHERE user_code = '${d.user_code
		.replace('-', '')}'`));

	t.refused(await f.poll(d, s.id), 400, 'authorization_pending', 'first');
	t.eq(await interval(), 60, 'as it was');
	for (const want of [65, 70]) {
		t.refused(await f.poll(d, s.id), 400, 'slow_down', 'too soon');
		t.eq(await interval(), want, 'longer');
	}
	await f.decide(d);
	t.eq((await f.poll(d, s.id)).status, 200, 'an approval is not held back');
});

test('with nonces the device endpoint gives one as well',
    proves('R-4.3-13'), async (t) => {
	w.restart((c) => {
		signinSettings(c);
		c.proofs = { nonces: true };
	});
	const f = ada(), res = await f.device(), bad = await f.device(
	    { scope: 'none' });

	t.eq([res.status, bad.status], [200, 400], 'replies');
	t.eq([res, bad].map((r) => r.all('dpop-nonce').length), [1, 1],
	    'a nonce on each');
	w.restart(signinSettings);
}, { timeout: 60000 });

// The rest is on a stack of its own, with limits.
const counted = async (kind) => Number(await few.sql('SELECT ' +
    "coalesce(sum(n), 0) FROM poppy.audit WHERE kind = 'refused' AND detail " +
    `LIKE '%${kind}%'`));

test('polls are daily business, unknown codes are not',
    proves('R-4.6-6', 'R-4.6-11'), async (t) => {
	const f = decided(few, (await accounts(few))[0])();
	const { d, s } = await unhurried(few, f);
	const no = await f.begun();

	await f.decide(no.d, { approve: false });
	for (let i = 0; i < 12; i++) {
		t.refused(await f.poll(d, s.id), 400, i === 0 ?
		    'authorization_pending' : 'slow_down', 'open');
		t.refused(await f.poll(no.d, no.s.id), 400, 'access_denied',
		    'declined');
	}
	let last;
	for (let i = 0; i < 11 && last?.status !== 429; i++)
		last = await f.poll({ device_code: `pdc_AA${random(32)}` }, s.id);
	t.refused(last, 429, 'rate_limited', 'guesses');
	t.ok(Number(last.header('retry-after')) > 0, 'Retry-After');
	t.refused(await f.device(), 429, 'rate_limited', 'and all else');
	t.ok(await until(async () => await counted('invalid_grant') >= 10,
	    15000), 'guesses are in the audit');
	for (const kind of ['authorization_pending', 'slow_down',
		'access_denied'])
		t.eq(await counted(kind), 0, `${kind} is not`);
}, { timeout: 60000 });

test('requests count among the token requests of client and address',
    proves('R-4.6-2'), async (t) => {
	few.restart((c) => {
		signinSettings(c);
		c.limits = { token_per_client: 5 };
	});
	const f = decided(few, null)();
	const got = [];

	// The minute must not end among them.
	await sleep(Math.max(0, new Date().getSeconds() - 49) * 1000);
	for (let i = 0; i < 7; i++)
		got.push((await f.device()).status);
	t.eq(got, [200, 200, 200, 200, 200, 429, 429], 'five');
	t.refused(await f.device(), 429, 'rate_limited', 'so it says');
	t.refused(await f.refresh(`pat_AA${random(32)}`), 429, 'rate_limited',
	    'and the token endpoint');
	t.eq((await decided(few, null)(new User(), new Agent(few)).device())
	    .status, 200, 'not another client');
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		few = await World.up({ bend: (c) => {
			signinSettings(c);
			c.limits = { refused_per_address: 10 };
		} });
		ada = decided(w, (await accounts(w))[0]);
	},
	after: async () => {
		await few?.close();
		await w?.close();
	},
});
