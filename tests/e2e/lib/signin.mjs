// signin - the agent's side of signing in: authorization URLs, codes, device
// requests, credentials, Account Tokens. Every part can be bent.
import { ASSERTION_TYPE, Agent, User } from './agent.mjs';
import { Customer } from './customer.mjs';
import { b64u, random, sha256 } from './jose.mjs';
import { send } from './http.mjs';

export const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
export const READ = 'poppy:read', WRITE = 'poppy:write', OWN = 'orders';
export const ALL = `${READ} ${WRITE} ${OWN}`;

// For World.up(): direct gives all scopes, device two of them.
export function signinSettings(c)
{
	c.sign_in = { direct: [READ, WRITE, OWN], device: [READ, WRITE],
		custom_scopes: [{ name: OWN,
			description: 'See your orders' }] };
	// All tests come from one address, and few accounts are there.
	c.login = { by: 'password', failures_per_login: 1000,
		failures_per_address: 10000 };
	c.device = { seconds: 600, interval_seconds: 1, guesses: 1000 };
	c.guard[0].rules.unshift({ path: '/api/whoami.php', methods: ['GET'],
		query: 'write=*', scopes: [WRITE] }, { path: '/api/whoami.php',
		methods: ['GET'], query: 'own=*', scopes: [OWN] });
}

// Fields with undefined dropped, as pairs, with a client assertion.
function pairs(agent, fields)
{
	return Object.entries({
		client_id: agent.id,
		client_assertion_type: ASSERTION_TYPE,
		client_assertion: agent.clientAssertion(),
		...fields,
	}).filter(([, v]) => v !== undefined);
}

export class Flow {
	// One User of one agent at one company; account: of w.customers().
	constructor(agent, user, account)
	{
		this.agent = agent;
		this.user = user;
		this.w = agent.world;
		this.account = account;
	}

	get redirect()
	{
		return this.agent.document.redirect_uris[0];
	}

	// A request for the User's browser: { url, verifier, state }. over changes
	// parameters, undefined drops one; extra: pairs put behind.
	request(over = {}, extra = [])
	{
		const verifier = random(32);
		const q = {
			response_type: 'code', client_id: this.agent.id,
			redirect_uri: this.redirect, scope: `${READ} ${WRITE}`,
			state: random(), code_challenge: b64u(sha256(verifier)),
			code_challenge_method: 'S256', ...over,
		};
		const query = [...Object.entries(q).filter(([, v]) =>
		    v !== undefined), ...extra].map(([k, v]) =>
		    `${k}=${encodeURIComponent(v)}`).join('&');

		return { verifier, state: q.state, redirect: q.redirect_uri,
			url: `${this.w.base}/poppy/oauth/authorize?${query}` };
	}

	person()
	{
		return new Customer(this.w, this.account);
	}

	// The User says yes (or no); what came back to redirect_uri.
	async ask(r, { person = this.person(), scopes, decline } = {})
	{
		const page = await person.consent(r.url);
		const res = await person.decide(page, { scopes, decline });

		return new URL(res.header('location') ?? 'about:blank')
		    .searchParams;
	}

	// A code with all that belongs to it.
	async code(over, opts)
	{
		const r = this.request(over);
		const back = await this.ask(r, opts);

		if (!back.get('code'))
			throw new Error(`no code: ${back}`);
		return { ...r, code: back.get('code'), back };
	}

	// A token request of any grant. opts as Agent.token().
	grant(fields, opts = {})
	{
		const agent = opts.agent ?? this.agent;

		return agent.token(opts.user ?? this.user, { ...opts,
			form: pairs(agent, fields) });
	}

	redeem(c, session, over = {}, opts = {})
	{
		return this.grant({ grant_type: 'authorization_code',
			code: c.code, redirect_uri: c.redirect,
			code_verifier: c.verifier, session_id: session,
			...over }, opts);
	}

	refresh(pat, over = {}, opts = {})
	{
		return this.grant({ grant_type: 'refresh_token',
			refresh_token: pat, ...over }, opts);
	}

	poll(d, session, over = {}, opts = {})
	{
		return this.grant({ grant_type: DEVICE,
			device_code: d.device_code, session_id: session,
			...over }, opts);
	}

	post(url, fields, { agent = this.agent, headers = [] } = {})
	{
		return send(url, { ca: this.w.ca, method: 'POST', headers: [
			['Content-Type', 'application/x-www-form-urlencoded'],
			...headers],
		body: new URLSearchParams(pairs(agent, fields)).toString() });
	}

	device(fields = {}, opts)
	{
		return this.post(`${this.w.base}/poppy/oauth/device`,
		    { scope: `${READ} ${WRITE}`, ...fields }, opts);
	}

	revoke(token, fields = {}, opts)
	{
		return this.post(`${this.w.base}/poppy/oauth/revoke`,
		    { token, ...fields }, opts);
	}

	// Credentials under the Session's token and a proof.
	mediated(s, body, { id = '', ...opts } = {})
	{
		return this.agent.call(s, 'POST',
		    `${this.w.base}/poppy/sign-in${id && `/${id}`}`, {
			    body: typeof body === 'string' ? body :
				JSON.stringify(body), ...opts,
			    headers: [['Content-Type', 'application/json'],
				...opts.headers ?? []] });
	}

	// A Session of the User that signs in by Direct Sign-In: as
	// Agent.session(), with pat and the whole reply.
	async signedIn(over = {}, { session, ...opts } = {})
	{
		const s = session ?? await this.agent.session(this.user);
		const res = await this.redeem(await this.code(over, opts), s.id);

		if (res.status !== 200)
			throw new Error(`no sign-in: ${res.status} ${res.text}`);
		return { user: this.user, id: res.json.session_id, before: s,
			token: res.json.access_token,
			pat: res.json.refresh_token, res };
	}

	// As a Session object of agent.call(), from a token reply.
	session(res)
	{
		return { user: this.user, token: res.json.access_token,
			id: res.json.session_id, res };
	}

	// What a call comes to that needs the scope poppy:read, and others.
	reads(s)
	{
		return this.outcome(s, `/api/reserved.php?sku=${this.w.sku}`);
	}

	writes(s)
	{
		return this.outcome(s, '/api/whoami.php?write=1');
	}

	async outcome(s, path)
	{
		const res = await this.agent.call(s, 'GET', this.w.url(path));

		return `${res.status} ${res.json?.error ?? ''}`.trim();
	}
}

// Flows for one account: each of a new User, at an agent of its own by default.
export const flows = (w, account) => (user = new User(),
    agent = new Agent(w)) => new Flow(agent, user, account);
