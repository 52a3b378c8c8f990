// consent - what customers decide, without pages: the functions that our pages
// call, in the role of poppy-auth. So the endpoints of agents are tested for
// themselves.
import { copyFileSync, mkdirSync } from 'node:fs';
import { Agent, User } from './agent.mjs';
import { Data } from './data.mjs';
import { random, sha256 } from './jose.mjs';
import { MCP_ARGS, mcpInstall, mcpSettings } from './mcp.mjs';
import { Flow, signinSettings } from './signin.mjs';
import { World } from './world.mjs';

const text = (v) => v === undefined || v === null ? 'NULL' :
    `'${String(v).replaceAll("'", "''")}'`;
const bytes = (b) => `'\\x${Buffer.from(b).toString('hex')}'::bytea`;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' +
    '0123456789-_';
export const bucketOf = (s) =>
    BASE64URL.indexOf(s[4]) * 64 + BASE64URL.indexOf(s[5]);

// The ids of accounts, by their login.
export async function accounts(w)
{
	const rows = (await w.sql('SELECT login, id FROM poppy_shop.customer'))
	    .trim().split('\n').map((l) => l.split('|'));
	const ids = new Map(rows);

	return w.customers().map((c) => ({ ...c,
		id: ids.get(c.email.toLowerCase()) }));
}

// Settings of sign-in with two services that have tokens of their own, at
// serviceUrl(w, name), and an MCP server.
export const SERVICES = ['own', 'two'];
export const target = (w, name) => w.url(`/${name}`, 'api.localhost');
export const serviceUrl = (w, name) => w.url(`/api/${name}/whoami.php`);

export function serviceSettings(c)
{
	const api = c.hosts.find((h) => h.host === 'api.localhost').base;

	signinSettings(c);
	mcpSettings(c);
	for (const name of SERVICES) {
		const url = `${c.issuer}/api/${name}/openapi.json`;

		c.apis.push({ type: 'openapi', description: name, url,
			resource: `${api}/${name}` });
		c.guard.push({ prefix: `/api/${name}/`, api: url,
			rules: [{ path: `/api/${name}/whoami.php` }] });
	}
}

// A stack with all that; the MCP server's URL is w.mcp.
export async function servicesUp(args = {})
{
	const w = await World.up({ bend: serviceSettings, ...args,
		args: MCP_ARGS });
	const pub = `${w.dir}/shop/public/api`;

	for (const name of SERVICES) {
		mkdirSync(`${pub}/${name}`, { mode: 0o755 });
		copyFileSync(`${pub}/whoami.php`, `${pub}/${name}/whoami.php`);
	}
	w.mcp = mcpInstall(w);
	return w;
}

export class Decided extends Flow {
	// One row of a function, as a list of its columns.
	async ask(call)
	{
		const out = await this.w.sql(`SELECT * FROM poppy_api.${call}`,
		    'poppy_auth');

		return out.trim().split('|');
	}

	async must(call, what)
	{
		const row = await this.ask(call);

		if (row[0] !== 'ok')
			throw new Error(`${what}: ${row}`);
		return row;
	}

	// Its number, once our programs have seen its documents.
	async clientNo()
	{
		const look = async () => (await this.w.sql('SELECT client_no FROM ' +
		    `poppy.client WHERE client_id = '${this.agent.id}'`)).trim();

		if (await look() === '')
			await this.redeem({ code: `pac_AA${random(32)}`, verifier:
				random(32), redirect: this.redirect }, undefined);
		if (await look() === '')
			await this.agent.session(new User());
		return look();
	}

	// As Flow.code(): over changes the authorization request. seconds: how
	// long the code lives.
	async code(over = {}, { scopes, seconds = 60 } = {})
	{
		const r = this.request(over), q = new URL(r.url).searchParams;
		const sid = q.get('session_id'), resource = q.get('resource');
		const user = sha256(`mcp ${this.agent.id} ${this.account.id}`);
		const own = !sid && resource;
		const code = 'pac_' + (own ? BASE64URL[user[0] >> 2] +
		    BASE64URL[(user[0] & 3) << 4 | user[1] >> 4] : 'AA') +
		    random(32);
		const req = bytes(sha256(random(32)));
		const account = text(this.account.id);

		await this.must(`authorize_start(${req}, ${await this.clientNo()}, ` +
		    `${text(this.agent.id)}, 'Test', NULL, ` +
		    `${text(q.get('redirect_uri'))}, NULL, ` +
		    `${bytes(Buffer.from(q.get('code_challenge'), 'base64url'))}, ` +
		    `${text(q.get('scope'))}, ${sid ? Data.sid(sid) : 'NULL'}, ` +
		    `${sid ? bucketOf(sid) : 'NULL'}, ${text(resource)}, 600, ` +
		    `${bytes('0123456789abcdef')}, 0)`, 'authorize_start');
		await this.must(`authorize_show(${req}, ${account})`,
		    'authorize_show');
		await this.must(`authorize_decide(${req}, ${account}, true, ` +
		    `${text((scopes ?? q.get('scope').split(' ')).join(' '))}, ` +
		    `${bytes(sha256(code))}, ${seconds}, ${bytes(user)}, NULL)`,
		'authorize_decide');
		return { ...r, code };
	}

	// A device request: { d, s }, with the Session to poll for.
	async begun(fields)
	{
		const res = await this.device(fields);

		if (res.status !== 200)
			throw new Error(`no request: ${res.status} ${res.text}`);
		return { d: res.json, s: await this.agent.session(this.user) };
	}

	// The customer's word about it.
	async decide(d, { approve = true, scopes = 'poppy:read poppy:write' } = {})
	{
		const code = text(d.user_code.replace('-', ''));
		const account = text(this.account.id);

		await this.must(`device_show(${code}, ${account}, ` +
		    `${bytes('0123456789abcdef')}, 1000)`, 'device_show');
		return this.ask(`device_decide(${code}, ${account}, ${approve}, ` +
		    `${text(scopes)}, NULL)`);
	}
}

// As flows() of lib/signin: for an account of accounts().
export const decided = (w, account) => (user = new User(),
    agent = new Agent(w)) => new Decided(agent, user, account);
