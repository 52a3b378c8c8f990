// Assertions that the endpoint for browsers refuses (section 5), whatever is
// wrong with them, and return_to that would lead elsewhere.
import { proves, run, test } from './lib/tap.mjs';
import { Agent } from './lib/agent.mjs';
import { browserAssertion, endpoint, isJoined, isRefused, join, post }
	from './lib/browser.mjs';
import { jwsHmac, jwsNone, makeKey, now, random, tampered }
	from './lib/jose.mjs';
import { World } from './lib/world.mjs';

let w, agent, s;

// What is wrong with an assertion: name, rows, function to it.
const own = (over, opts) => () => browserAssertion(agent, s, over, opts);
const stranger = makeKey();
const BAD = [
	['another key under our kid', ['R-5-4'], own({}, { key: stranger })],
	['another key and kid', ['R-5-4'], own({}, { key: stranger,
		header: { kid: 'k-x' } })],
	['another client\'s key and name', ['R-5-4'], () => {
		const other = new Agent(w);

		return browserAssertion(agent, s, {}, { key: other.key,
			header: { kid: other.kid } });
	}],
	['its own key in the header', ['R-5-4'], own({}, { key: stranger,
		header: { jwk: stranger.pub, kid: undefined } })],
	['a key by URL', ['R-5-4'], own({}, { header: {
		jku: 'https://evil.example/jwks.json' } })],
	['a broken signature', ['R-5-4'], () => tampered(
	    browserAssertion(agent, s))],
	['a changed payload', ['R-5-4'], () => tampered(
	    browserAssertion(agent, s), 1)],
	['no signature', ['R-5-4'], () => jwsNone({ typ: 'poppy-browser+jwt' },
	    claims())],
	['the public key as a secret', ['R-5-4'], () => jwsHmac(JSON.stringify(
	    agent.key.pub), { typ: 'poppy-browser+jwt', kid: agent.kid },
	claims())],
	['a critical extension', ['R-5-4'], own({}, { header: { crit: ['x'],
		x: 1 } })],
	['no typ', ['R-5-5'], own({}, { header: { typ: undefined } })],
	...['JWT', 'dpop+jwt', 'poppy-browser', 'poppy-browser+jwt ', '', 1,
	    null].map((typ) => [`typ ${JSON.stringify(typ)}`, ['R-5-5'],
		own({}, { header: { typ } })]),
	['a Session assertion', ['R-5-6'], () =>
	    agent.sessionAssertion(s.user)],
	['a Session assertion for here', ['R-5-6'], () =>
	    agent.sessionAssertion(s.user, { aud: endpoint(w),
		    session_id: s.id, return_to: w.url('/') })],
	['a client assertion', ['R-5-6'], () => agent.clientAssertion({
		aud: endpoint(w) })],
	['a proof', ['R-5-6'], () => s.user.proof('POST', endpoint(w))],
	...[['the token endpoint', () => w.tokenEndpoint],
		['another domain\'s endpoint', () => endpoint(w,
		    'shop2.localhost')],
		['the other host of the domain', () => endpoint(w,
		    'www.localhost')],
		['the issuer', () => w.base],
		['a slash more', () => `${endpoint(w)}/`],
		['a query', () => `${endpoint(w)}?`],
		['capitals', () => endpoint(w).replace('browser', 'Browser')],
		['no port', () => 'https://localhost/poppy/browser-session'],
		['http', () => endpoint(w).replace('https', 'http')],
		['a list', () => [endpoint(w), w.tokenEndpoint]],
		['an empty list', () => []], ['none', () => undefined],
		['null', () => null], ['a number', () => 1]]
	    .map(([name, aud]) => [`aud: ${name}`, ['R-5-8'],
		() => browserAssertion(agent, s, { aud: aud() })]),
	['61 seconds', ['R-5-9'], () => browserAssertion(agent, s, { iat: now(),
		exp: now() + 61 })],
	['61 seconds from the past', ['R-5-9'], () => browserAssertion(agent,
	    s, { iat: now() - 20, exp: now() + 41 })],
	['expired', ['R-5-9'], () => browserAssertion(agent, s, {
		iat: now() - 140, exp: now() - 80 })],
	['not yet', ['R-5-9'], () => browserAssertion(agent, s, {
		iat: now() + 300, exp: now() + 340 })],
	['exp before iat', ['R-5-9'], () => browserAssertion(agent, s, {
		iat: now() + 5, exp: now() })],
	...['iat', 'exp', 'jti', 'iss', 'sub', 'session_id', 'return_to']
	    .flatMap((claim) => [['none', undefined], ['empty', ''],
		['null', null], ['an object', {}], ['a list', ['x']]]
		.map(([name, v]) => [`${claim}: ${name}`, ['R-5-14'],
		    () => browserAssertion(agent, s, { [claim]: v })])),
	['exp as a text', ['R-5-9'], () => browserAssertion(agent, s, {
		exp: String(now() + 60) })],
	['an endless exp', ['R-5-9'], own({ exp: 1e300 })],
	['a huge jti', ['R-5-10'], own({ jti: 'x'.repeat(5000) })],
	['iss without documents', ['R-5-4'], own({
		iss: 'https://localhost:1/agent.json' })],
	['iss that is no URL', ['R-5-4'], own({ iss: 'agent' })],
	['another User', ['R-5-11'], own({ sub: 'usr_other' })],
	['a Session that never was', ['R-5-11'], own({
		session_id: `ses_AA${random(16)}` })],
	['a Session in other letters', ['R-5-11'], () => browserAssertion(agent,
	    s, { session_id: s.id.toUpperCase() })],
	['a token for a Session', ['R-5-11'], () => browserAssertion(agent, s, {
		session_id: s.token })],
	['something behind the Session', ['R-5-11'], () => browserAssertion(
	    agent, s, { session_id: `${s.id}\0` })],
];

const claims = () => agent.claims(s.user.sub, { aud: endpoint(w),
	session_id: s.id, return_to: w.url('/') });

for (const rows of [...new Set(BAD.map(([, r]) => r[0]))])
	test(`assertions refused by ${rows}`, proves(rows, 'R-5-14'),
	    async (t) => {
		for (const [name, r, make] of BAD)
			if (r[0] === rows)
				isRefused(t, await post(w, { fields:
				    [['assertion', make()]] }), name);
		isJoined(t, await join(agent, s), w.url('/seen.php'),
		    'a good one still is taken');
	}, { timeout: 60000 });

const RETURN = (p) => ['', ' ', '/', '/seen.php', 'seen.php', '?a', '#a',
	'//localhost/', '///localhost/', `//localhost:${p}/`, 'https:',
	'https:/',
	'https://', 'https:///', `https:localhost:${p}/`,
	`https:/localhost:${p}/`, `https:///localhost:${p}/`,
	`http://localhost:${p}/`, `ftp://localhost:${p}/`,
	'javascript:alert(1)', 'data:text/html,x', 'about:blank',
	'https://evil.example/', 'https://evil-localhost/',
	`https://evil-localhost:${p}/`, 'https://localhost.evil.example/',
	`https://localhost.evil.example:${p}/`, 'https://evillocalhost/',
	`https://localhost@evil.example:${p}/`,
	`https://localhost:${p}@evil.example/`,
	`https://x@localhost:${p}/`, `https://x:y@localhost:${p}/`,
	`https://@localhost:${p}/`, `https://:@localhost:${p}/`,
	`https://evil.example%40localhost:${p}/`,
	`https://evil.example\\@localhost:${p}/`,
	`https://localhost:${p}\\@evil.example/`,
	'https://evil.example\\.localhost/', `https:\\\\localhost:${p}\\`,
	`https://localhost:${p}\\seen.php`, `\\\\localhost:${p}\\`,
	`https://evil.example#@localhost:${p}/`,
	`https://evil.example?@localhost:${p}/`,
	`https://evil.example/@localhost:${p}/`,
	'https://evil.example#.localhost/', 'https://evil.example?.localhost/',
	'https://localhost%2eevil.example/', `https://local%68ost:${p}/`,
	`https://localhost%00:${p}/`, 'https://localhost%00.evil.example/',
	`https://localhost.:${p}/`, `https://.localhost:${p}/`,
	`https://a..localhost:${p}/`, `https://-.localhost:${p}.evil/`,
	`https://loc\u0430lhost:${p}/`, `https://\uff4cocalhost:${p}/`,
	`https://evil\u3002localhost:${p}/`,
	'https://evil.example\u2044.localhost/',
	'https://evil.example\uff0f.localhost/',
	'https://xn--lcalhost-x.example/',
	`https://localhost\u00ad:${p}/`, `https://localhost:${p}/\u00e9`,
	'https://localhost:1/', 'https://localhost:0/',
	'https://localhost:99999/',
	`https://localhost:0${p}x/`, 'https://localhost:-1/',
	'https://localhost:x/',
	`https://localhost:+${p}/`, `https://localhost: ${p}/`,
	`https://[::1]:${p}/`, `https://127.0.0.1:${p}/`,
	`https://2130706433:${p}/`,
	`https://localhost:${p}/a b`, ` https://localhost:${p}/`,
	`https://localhost:${p}/ `, `https://localhost:${p}/\t`,
	`https://local\thost:${p}/`, `ht\ttps://localhost:${p}/`,
	`https://localhost:${p}/\r\nSet-Cookie: a=b`,
	`https://localhost:${p}/\nX: y`, `https://localhost:${p}/\r`,
	`https://localhost:${p}/\0`, `https://localhost:${p}/\x7f`,
	`https://localhost:${p}/"><script>`, `https://localhost:${p}/<x`,
	`https://evil.example/\thttps://localhost:${p}/`,
	`https://localhost:${p}/${'a'.repeat(9000)}`];

test('return_to leads nowhere else', proves('R-5-12', 'R-5-14'),
    async (t) => {
	const elsewhere = new URL(w.docs.base).port;

	for (const to of [...RETURN(w.port), `${w.docs.base}/`,
		`https://localhost:${elsewhere}/seen.php`,
		endpoint(w).replace('localhost:', 'localhost.evil.example:')])
		isRefused(t, await join(agent, s, { return_to: to }),
		    JSON.stringify(to).slice(0, 60));
}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.shared();
		agent = new Agent(w);
		s = await agent.session();
	},
	after: () => w?.close(),
});
