// What our programs, PostgreSQL and the web server write down: never a token,
// a proof, an assertion or a User ID.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { proves, run, sleep, test, until } from './lib/tap.mjs';
import { Agent, User } from './lib/agent.mjs';
import { random, tampered } from './lib/jose.mjs';
import { send } from './lib/http.mjs';
import { World } from './lib/world.mjs';

let w, agent;
const planted = new Map();	// what may appear nowhere -> what it is

function plant(what, value)
{
	planted.set(value, what);
	// A part gives it away as well: the signature, the middle.
	for (const part of value.split('.'))
		if (part.length >= 20)
			planted.set(part.slice(-30), `${what}, a part`);
	return value;
}

function files(dir, out = [])
{
	for (const f of readdirSync(dir, { withFileTypes: true }))
		if (f.isDirectory())
			files(`${dir}/${f.name}`, out);
		else if (f.isFile())
			out.push(`${dir}/${f.name}`);
	return out;
}

// Send secrets everywhere they can be sent, in requests good and bad.
async function sow()
{
	const user = new User();
	const proof = () => plant('proof', user.proof('POST', w.tokenEndpoint));
	const form = (over = {}) => ({
		assertion: plant('assertion', agent.sessionAssertion(user)),
		client_assertion: plant('client assertion',
		    agent.clientAssertion()), ...over });

	plant('User ID', user.sub);
	const s = { user, id: '' };
	const first = await agent.token(user, { form: form(), proof: proof() });
	s.token = plant('token', first.json.access_token);
	s.id = first.json.session_id;
	await agent.token(user, { form: form({ session_id: s.id }),
		proof: proof() });
	for (const bad of [{ client_assertion: plant('bad client assertion',
		    tampered(agent.clientAssertion())) },
		{ assertion: plant('bad assertion',
		    tampered(agent.sessionAssertion(user))) },
		{ session_id: plant('made-up Session', `ses_${random(40)}`) },
		{ grant_type: plant('grant type', random(30)) },
		{ client_secret: plant('client secret', random(30)) },
		{ refresh_token: plant('Account Token', `pat_${random(32)}`),
			grant_type: 'refresh_token' },
		{ password: plant('password', random(30)) }])
		await agent.token(user, { form: form(bad), proof: proof() });
	await agent.token(user, { form: form(), proof: plant('bad proof',
	    tampered(user.proof('POST', w.tokenEndpoint))) });
	await agent.token(user, { body: plant('body', random(60)),
		proof: proof() });
	for (const over of [{}, { scheme: 'Bearer' },
		{ token: plant('wrong token', random(40)) },
		{ authorization: `Basic ${plant('Basic', random(40))}` },
		{ headers: [['Cookie', `c=${plant('cookie', random(40))}`]] }]) {
		const p = plant('proof of a call', user.proof('GET', w.stockBare,
		    { token: s.token }));

		await agent.call(s, 'GET', w.stock, { proof: p, ...over });
		await agent.call(s, 'GET', w.stock, { proof: p, ...over });
	}
	// A key that is no secret of ours but of an agent that slips.
	const slip = new Agent(w);
	slip.publish({ keys: [{ ...slip.key.secret, kid: 'x' }] });
	plant('private key', slip.key.secret.d);
	await slip.token(new User());
	return s;
}

test('no log of any part holds a secret', proves('A-21'), async (t) => {
	const s = await sow();

	// While PostgreSQL refuses, errors are logged that quote parameters.
	await w.sql('ALTER FUNCTION poppy_api.session_start RENAME TO gone');
	await agent.token(s.user, { form: {
		assertion: plant('assertion of an error',
		    agent.sessionAssertion(s.user)) } });
	await w.sql('ALTER FUNCTION poppy_api.gone RENAME TO session_start');
	await sleep(500);
	const all = [...files(`${w.dir}/log`), ...files(`${w.dir}/pg`)
	    .filter((f) => /\/log(\/|$)/.test(f) || f.endsWith('.log'))];
	let bytes = 0;

	t.ok(all.length >= 4, 'logs', all);
	for (const f of all) {
		const text = readFileSync(f, 'latin1');

		bytes += statSync(f).size;
		for (const [value, what] of planted)
			if (text.includes(value))
				t.ok(false, `${f} holds a ${what}`);
	}
	t.ok(bytes > 1000, 'something was logged', bytes);
	t.ok(planted.size > 40, 'secrets planted', planted.size);
}, { timeout: 60000 });

test('a token in a URL is not in our own logs', proves('A-21'), async (t) => {
	const s = await agent.session();

	await send(`${w.stock}&access_token=${s.token}`, { ca: w.ca });
	await sleep(300);
	for (const f of files(`${w.dir}/log`)
	    .filter((x) => /\/poppy-[^/]*$/.test(x)))
		t.ok(!readFileSync(f, 'latin1').includes(s.token), f);
});

test('every line of our logs is one JSON object', [], async (t) => {
	let n = 0;

	await agent.token(new User(), { form: { session_id: 'a\n{"x":1}\r\n' } });
	await send(w.url('/poppy/oauth/a%0Ab%0D%22%7D'), { ca: w.ca });
	await sleep(300);
	for (const f of files(`${w.dir}/log`)
	    .filter((x) => /poppy-(auth|guard).*out/.test(x)))
		for (const l of readFileSync(f, 'utf8').split('\n')) {
			if (l === '')
				continue;
			n++;
			let ok = false;
			try {
				ok = typeof JSON.parse(l).event === 'string';
			} catch {
				ok = false;
			}
			t.ok(ok, `${f}: ${l.slice(0, 100)}`);
		}
	t.ok(n > 0, 'lines', n);
});

test('the database knows no secret either', proves('A-21', 'R-4.2-24'),
    async (t) => {
	// Each process writes what it has refused every 10 s.
	t.ok(await until(async () => Number(await w.sql('SELECT count(*) ' +
	    "FROM poppy.audit WHERE kind = 'refused' AND detail LIKE " +
	    "'invalid_client: %'")) > 0, 25000, 500),
	'the audit has what was refused');
	const dump = await w.dump();

	t.ok(dump.includes('COPY poppy.audit '), 'the audit is in the dump');

	for (const [value, what] of planted)
		t.ok(!dump.includes(value) && !dump.includes(
		    Buffer.from(value).toString('hex')), what);
});

test('a program\'s role can read no table', [], async (t) => {
	for (const role of ['poppy_auth', 'poppy_guard'])
		for (const q of ['SELECT * FROM poppy.session',
			'SELECT * FROM poppy.token', 'SELECT * FROM poppy.client',
			'DELETE FROM poppy.replay_0', 'SELECT * FROM shop.customer',
			'CREATE TABLE poppy.x (a int)']) {
			let denied = false;

			try {
				await w.sql(q, role);
			} catch (e) {
				denied = /permission denied/.test(e.message);
			}
			t.ok(denied, `${role}: ${q}`);
		}
	let denied = false;
	try {
		await w.sql('SELECT * FROM poppy_api.session_start(1,1,1,NULL,' +
		    'NULL,NULL,NULL,1,1,1,NULL,NULL,NULL,NULL,1)', 'poppy_guard');
	} catch (e) {
		denied = /permission denied/.test(e.message);
	}
	t.ok(denied, 'the guard can start no Session');
});

await run({
	before: async () => {
		w = await World.up();
		agent = new Agent(w);
		await agent.session();
	},
	after: () => w?.close(),
});
