// fcgi - speak FastCGI straight to a program's socket, as a web server does.
//
// For what a web server would not do for a test: two processes at the very same
// moment, thousands of times.
import net from 'node:net';

const BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6, STDERR = 7;
export const RESPONDER = 1, AUTHORIZER = 2;

export function record(type, content = Buffer.alloc(0))
{
	const head = Buffer.alloc(8);

	head[0] = 1;
	head[1] = type;
	head.writeUInt16BE(1, 2);
	head.writeUInt16BE(content.length, 4);
	return Buffer.concat([head, content]);
}

function length(n)
{
	const b = Buffer.alloc(n < 128 ? 1 : 4);

	if (n < 128)
		b[0] = n;
	else
		b.writeUInt32BE((n | 0x80000000) >>> 0);
	return b;
}

export function params(vars)
{
	const parts = [];

	for (const [k, v] of Object.entries(vars)) {
		const name = Buffer.from(k), value = Buffer.from(v);

		parts.push(length(name.length), length(value.length), name, value);
	}
	return Buffer.concat(parts);
}

// What params() made, as a web server sent it.
export function values(b)
{
	const vars = {};
	let at = 0;
	const size = () => {
		const n = b[at] < 128 ? b[at] : b.readUInt32BE(at) & 0x7fffffff;

		at += b[at] < 128 ? 1 : 4;
		return n;
	};
	const text = (n) => b.toString('latin1', at, at += n);

	while (at < b.length) {
		const name = size(), value = size(), key = text(name);

		vars[key] = text(value);
	}
	return vars;
}

export function request(role, vars, body = '')
{
	const begin = Buffer.from([0, role, 0, 0, 0, 0, 0, 0]);
	const p = params(vars);
	const out = [record(BEGIN, begin)];

	for (let i = 0; i < p.length; i += 65535)
		out.push(record(PARAMS, p.subarray(i, i + 65535)));
	out.push(record(PARAMS));
	if (role === RESPONDER) {
		if (body.length)
			out.push(record(STDIN, Buffer.from(body)));
		out.push(record(STDIN));
	}
	return Buffer.concat(out);
}

// What the web server shows to a guard that wants to see it.
export const gate = { secret: null };

// The environment that a web server makes of a request.
export function environment(method, url, headers, body = '')
{
	const m = /^https:\/\/([^/]*)(\/[^?]*)(?:\?(.*))?$/.exec(url);
	const vars = {
		GATEWAY_INTERFACE: 'CGI/1.1', SERVER_PROTOCOL: 'HTTP/1.1',
		REQUEST_METHOD: method, REQUEST_URI: m[2] + (m[3] ? `?${m[3]}` : ''),
		QUERY_STRING: m[3] ?? '', HTTP_HOST: m[1],
		REMOTE_ADDR: '127.0.0.1', REMOTE_PORT: '40000', HTTPS: 'on',
		SCRIPT_NAME: m[2], CONTENT_LENGTH: String(Buffer.byteLength(body)),
	};

	if (gate.secret)
		vars.POPPY_GATE = gate.secret;
	for (const [n, v] of headers)
		vars[n.toLowerCase() === 'content-type' ? 'CONTENT_TYPE' :
		    `HTTP_${n.toUpperCase().replaceAll('-', '_')}`] = v;
	return vars;
}

// A socket's path, or address:port.
export function address(at)
{
	const m = /^([0-9.]+):(\d+)$/.exec(at);

	return m ? { host: m[1], port: Number(m[2]) } : { path: at };
}

// A connection whose request is ready to go: open first, fire together.
export class Shot {
	constructor(sock)
	{
		this.sock = sock;
		this.done = new Promise((ok, fail) => {
			const parts = [];

			sock.on('data', (d) => parts.push(d));
			sock.on('error', fail);
			sock.on('close', () => {
				try {
					ok(parse(Buffer.concat(parts)));
				} catch (e) {
					fail(e);
				}
			});
		});
	}

	// at: a socket's path, or { host, port }.
	static open(at)
	{
		return new Promise((ok, fail) => {
			const sock = net.connect(at.port ? at : address(at));

			sock.once('error', fail);
			sock.once('connect', () => {
				sock.off('error', fail);
				ok(new Shot(sock));
			});
		});
	}

	fire(bytes)
	{
		this.sock.write(bytes);
		return this.done;
	}
}

function parse(b)
{
	const out = [];
	let ended = false;

	while (b.length >= 8) {
		const n = b.readUInt16BE(4);

		if (b[1] === STDOUT || b[1] === STDERR)
			out.push(b.subarray(8, 8 + n));
		ended ||= b[1] === END;
		b = b.subarray(8 + n + b[6]);
	}
	const text = Buffer.concat(out).toString();
	const m = /^Status: (\d+)/mi.exec(text);
	const at = text.search(/\r?\n\r?\n/);
	const body = at < 0 ? '' : text.slice(at).trim();
	let json;

	try {
		json = JSON.parse(body);
	} catch {
		json = undefined;
	}
	return { ended, status: m ? Number(m[1]) : (ended ? 200 : 0), text,
		json, head: at < 0 ? text : text.slice(0, at) };
}
