// npm - packages that tests/npm/install has put beside the results, and what
// they need to reach a stack: a fetch that trusts its authority.
import https from 'node:https';
import { existsSync } from 'node:fs';
import { webcrypto } from 'node:crypto';
import { pathToFileURL } from 'node:url';

// Node 18 has these, but not as globals.
globalThis.crypto ??= webcrypto;
globalThis.CryptoKey ??= webcrypto.CryptoKey;

// A package, or a file of one: npm('oauth4webapi').
export async function npm(name)
{
	const file = `${process.env.POPPY_TEST_NPM}/load.mjs`;

	if (!process.env.POPPY_TEST_NPM || !existsSync(file))
		throw new Error(`no ${name}: tests/npm/install has not run`);
	return (await import(pathToFileURL(file))).load(name);
}

// fetch() as clients call it, to names that all lead here. seen: a list that
// gets [method, URL, status] of every request.
export function fetchFrom(ca, seen = [])
{
	return async (input, init) => {
		const req = new Request(input, init);
		const body = req.body ? Buffer.from(await req.arrayBuffer()) :
		    undefined;
		const res = await ask(req, body, ca);

		seen.push([req.method, req.url, res.statusCode]);
		return answer(res);
	};
}

function ask(req, body, ca)
{
	const headers = Object.fromEntries(req.headers);

	if (body)
		headers['content-length'] = body.length;
	return new Promise((ok, fail) => {
		const out = https.request(req.url, { ca, headers,
			method: req.method, signal: req.signal, agent: false,
			lookup: (name, opts, done) => opts.all ? done(null,
			    [{ address: '127.0.0.1', family: 4 }]) :
			    done(null, '127.0.0.1', 4) }, ok);

		out.on('error', fail);
		out.end(body);
	});
}

// Whole, since no reply here is without end.
async function answer(res)
{
	const headers = new Headers(), parts = [];

	for (let i = 0; i < res.rawHeaders.length; i += 2)
		headers.append(res.rawHeaders[i], res.rawHeaders[i + 1]);
	for await (const part of res)
		parts.push(part);
	// No body may go with these.
	const none = [204, 205, 304].includes(res.statusCode);

	return new Response(none ? null : Buffer.concat(parts),
	    { status: res.statusCode, headers });
}
