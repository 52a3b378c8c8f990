// browser - the browser that an agent drives, without Chromium: browser
// assertions, the form that brings one, the cookie, and the pages behind it.
// Every part can be bent.
import { writeFileSync } from 'node:fs';
import { encode } from './agent.mjs';
import { Customer, unescape } from './customer.mjs';
import { jws } from './jose.mjs';
import { send } from './http.mjs';
import { READ, WRITE, signinSettings } from './signin.mjs';

export const COOKIE = '__Host-poppy';
export const FORM = ['Content-Type', 'application/x-www-form-urlencoded'];
const TYP = 'poppy-browser+jwt';

export const endpoint = (w, host) => w.url('/poppy/browser-session', host);

// For World.up(): sign-in, and a shop whose pages need scopes.
export function browserSettings(c)
{
	signinSettings(c);
	c.site = {
		closed: ['/login.php', '/register.php', '/password.php',
			'/close.php', '/loft.php'].map((path) => ({ path })),
		rules: [
			{ path: '/style.css', open: true },
			{ path: '/seen.php', methods: ['GET', 'POST'] },
			{ path: '/reads.php', scopes: [READ] },
			{ path: '/writes.php', methods: ['GET', 'POST'],
				scopes: [WRITE] },
			{ path: '/orders.php', scopes: [READ] },
			{ path: '/account.php', scopes: [READ] },
			{ path: '/addresses.php', methods: ['POST'],
				scopes: [WRITE] },
			{ path: '/addresses.php', scopes: [READ] },
			{ path: '/cart.php', methods: ['GET', 'POST'] },
			{ path: '/', methods: ['GET'] },
		],
	};
}

// Pages that tell what PHP is told.
const SEEN = `<?php
header('Content-Type: application/json');
header('Cache-Control: no-store');
echo json_encode(['poppy' => (object)array_filter($_SERVER, fn ($k) =>
    str_starts_with((string)$k, 'POPPY_') && $k !== 'POPPY_BRIDGE',
    ARRAY_FILTER_USE_KEY), 'cookies' => (object)$_COOKIE,
    'header' => $_SERVER['HTTP_COOKIE'] ?? '']);
`;

export function seenPages(w)
{
	for (const name of ['seen', 'reads', 'writes'])
		writeFileSync(`${w.dir}/shop/public/${name}.php`, SEEN,
		    { mode: 0o644 });
}

// over: claims to change, undefined to leave out. opts: header, key, sign.
export function browserAssertion(agent, s, over = {}, { header = {},
	key = agent.key, sign } = {})
{
	return jws(key, { typ: TYP, kid: agent.kid, ...header },
	    agent.claims(s.user.sub, { aud: endpoint(agent.world),
		    session_id: s.id, return_to: agent.world.url('/seen.php'),
		    ...over }), { sign: sign ?? key.alg });
}

// The form as it is sent: body or fields (a list of pairs).
export function post(w, { fields = [], body, url = endpoint(w), method = 'POST',
	headers = [], type = FORM[1] } = {})
{
	return send(url, { ca: w.ca, method, body: body ?? encode(fields),
		headers: [...type === null ? [] : [[FORM[0], type]],
			...headers] });
}

// One try to join; over and opts as of browserAssertion(), more: of post().
export function join(agent, s, over, opts, more = {})
{
	return post(agent.world, { fields: [['assertion',
		browserAssertion(agent, s, over, opts)]], ...more });
}

// The name, value and attributes of a Set-Cookie.
export function cookieOf(res)
{
	const [first, ...rest] = (res.header('set-cookie') ?? '').split('; ');
	const [, name, value] = /^([^=]*)=(.*)$/.exec(first) ?? [];

	return { name, value, attributes: rest };
}

export function isJoined(t, res, to, what = '')
{
	t.eq(res.status, 303, `${what}: status`);
	t.eq(res.header('location'), to, `${what}: Location`);
	t.eq(res.all('set-cookie').length, 1, `${what}: one cookie`);
	t.match(cookieOf(res).value, /^pbs_[\w-]{45}$/, `${what}: its value`);
	return res.status === 303;
}

// A page that says no more than that it failed.
export function isRefused(t, res, what, status = 400)
{
	t.eq(res.status, status, `${what}: status`);
	t.eq(res.all('set-cookie'), [], `${what}: no cookie`);
	t.eq(res.header('location'), undefined, `${what}: no Location`);
	t.match(res.header('content-type'), /^text\/html(;|$)/i,
	    `${what}: HTML`);
	t.match(res.header('cache-control'), /no-store/, `${what}: no-store`);
	return res;
}

// What a page of ours says to machines.
export function meta(res, name)
{
	const m = new RegExp(`<meta name="poppy-${name}" content="([^"]*)"`)
	    .exec(res.text);

	return m ? unescape(m[1]) : undefined;
}

// One browser: its cookies, and the Session that it was joined to last.
export class Tab extends Customer {
	constructor(agent, s)
	{
		super(agent.world);
		this.agent = agent;
		this.s = s;
	}

	get cookie()
	{
		return this.jar.get(COOKIE);
	}

	join(over, opts)
	{
		const a = browserAssertion(this.agent, this.s, over, opts);

		return this.fetch(endpoint(this.w), { method: 'POST',
			headers: [FORM], body: encode([['assertion', a]]) });
	}

	async joined(s = this.s)
	{
		this.s = s;
		const res = await this.join();

		if (res.status !== 303 || !this.cookie)
			throw new Error(`not joined: ${res.status} ` +
			    res.text);
		return this;
	}

	// The POPPY_* variables of a page; its status if it is none of those.
	async seen(path = '/seen.php', opts)
	{
		const res = await this.fetch(path, opts);

		return res.json?.poppy ?? res.status;
	}

	// "200", or "403 CODE SCOPE".
	async outcome(path, opts)
	{
		const res = await this.fetch(path, opts);

		return [res.status, meta(res, 'error'), meta(res, 'scope')]
		    .filter((x) => x).join(' ');
	}
}

// A browser that has joined.
export const tab = (agent, s) => new Tab(agent, s).joined();
