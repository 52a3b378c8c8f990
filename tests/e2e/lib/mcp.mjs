// mcp - a minimal MCP server (mcp.php) behind the guard, and the official
// client of the protocol for it.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fetchFrom, npm } from './npm.mjs';

const FILE = fileURLToPath(new URL('./mcp.php', import.meta.url));

// For World.up(): the server is at https://api.localhost/mcp.php.
export const MCP_ARGS = ['--guarded', '/mcp'];

export function mcpSettings(c)
{
	const url = `${c.hosts.find((h) => h.host === 'api.localhost').base}` +
	    '/mcp.php';

	c.apis.push({ type: 'mcp', url, description: 'Orders' });
	c.guard.push({ prefix: '/mcp.php', api: url,
		rules: [{ path: '/mcp.php', methods: ['POST', 'GET'] }] });
}

// After each start of the stack, since that copies the shop anew.
export function mcpInstall(w)
{
	copyFileSync(FILE, `${w.dir}/shop/public/mcp.php`);
	return w.url('/mcp.php', 'api.localhost');
}

// The client as its makers ship it. opts: of StreamableHTTPClientTransport;
// seen gets its requests.
export async function mcpClient(w, url, { seen, ...opts } = {})
{
	const sdk = '@modelcontextprotocol/sdk/client';
	const { Client } = await npm(`${sdk}/index.js`);
	const { StreamableHTTPClientTransport: Http } =
	    await npm(`${sdk}/streamableHttp.js`);
	const client = new Client({ name: 'test', version: '1' });
	const transport = new Http(new URL(url),
	    { fetch: fetchFrom(w.ca, seen), ...opts });

	return { client, transport };
}

// What an MCP host lends the client for MCP's own sign-in (OAuth): a place to
// keep things, and a browser, that of person. id is the URL of its document.
export class Host {
	constructor(id, redirect, person, scope)
	{
		this.clientMetadataUrl = id;
		this.redirectUrl = redirect;
		this.person = person;
		this.clientMetadata = { client_name: 'Desk', scope,
			redirect_uris: [redirect] };
		this.kept = {};
	}

	state()
	{
		return this.kept.state ??= `s${process.hrtime.bigint()}`;
	}

	clientInformation()
	{
		return this.kept.client;
	}

	saveClientInformation(client)
	{
		this.kept.client = client;
	}

	tokens()
	{
		return this.kept.tokens;
	}

	saveTokens(tokens)
	{
		this.kept.tokens = tokens;
	}

	codeVerifier()
	{
		return this.kept.verifier;
	}

	saveCodeVerifier(verifier)
	{
		this.kept.verifier = verifier;
	}

	async redirectToAuthorization(url)
	{
		this.url = url;
		this.page = await this.person.consent(url.href);
		const res = await this.person.decide(this.page);

		this.back = new URL(res.header('location'));
	}
}

// What the tool whoami says of the caller.
export async function whoami(client)
{
	const res = await client.callTool({ name: 'whoami' });

	return JSON.parse(res.content[0].text);
}
