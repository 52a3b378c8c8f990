// http - a client that sends exactly the bytes it is told to.
//
// Node's own client normalises paths, joins headers and refuses nonsense;
// hostile requests need none of that. Every name leads to 127.0.0.1, as
// *.localhost should; the certificate is checked against the name.
import net from 'node:net';
import tls from 'node:tls';
import { StringDecoder } from 'node:string_decoder';

const IDLE_MS = 1500;		// below the server's keep-alive
const OPEN_MS = 10000;

export class Response {
	constructor(status, headers, body)
	{
		this.status = status;
		this.headers = headers;		// [[name, value], ...] as sent
		this.body = body;
		this.text = new StringDecoder('utf8').end(body);
		try {
			this.json = JSON.parse(this.text);
		} catch {
			this.json = undefined;
		}
	}

	all(name)
	{
		return this.headers.filter(([n]) => n.toLowerCase() === name)
		    .map(([, v]) => v);
	}

	header(name)
	{
		return this.all(name)[0];
	}
}

// One connection, TLS unless plain. ca: PEM of the demo's authority; from: which
// of this machine's addresses it has, 127.anything, by which logs know it.
export class Conn {
	constructor(sock)
	{
		this.sock = sock;
		this.buf = Buffer.alloc(0);
		this.ended = false;
		this.fault = null;
		this.wake = () => {};
		sock.on('data', (d) => {
			this.buf = Buffer.concat([this.buf, d]);
			this.wake();
		});
		sock.on('end', () => { this.ended = true; this.wake(); });
		sock.on('close', () => { this.ended = true; this.wake(); });
		sock.on('error', (e) => {
			this.fault = e;
			this.ended = true;
			this.wake();
		});
	}

	static open({ host, port, ca, plain = false, path, alpn, from })
	{
		return new Promise((ok, fail) => {
			const to = path ? { path } :
			    { host: '127.0.0.1', port, localAddress: from };
			const sock = plain || path ? net.connect(to) : tls.connect({
				...to, servername: host, ca,
				ALPNProtocols: alpn ?? ['http/1.1'],
			});

			sock.setNoDelay(true);
			sock.setTimeout(OPEN_MS, () => {
				sock.destroy();
				fail(new Error('no connection in time'));
			});
			sock.once('error', fail);
			sock.once(plain || path ? 'connect' : 'secureConnect', () => {
				sock.off('error', fail);
				sock.setTimeout(0);
				ok(new Conn(sock));
			});
		});
	}

	write(bytes)
	{
		return new Promise((ok) => {
			if (this.ended)
				return ok();
			this.sock.write(bytes, () => ok());
		});
	}

	close()
	{
		this.sock.destroy();
	}

	// Wait for more bytes, the end, or the deadline.
	more(deadline)
	{
		return new Promise((ok, fail) => {
			const left = deadline - Date.now();

			if (left <= 0)
				return fail(new Error('no answer in time'));
			const timer = setTimeout(() =>
			    fail(new Error('no answer in time')), left);
			this.wake = () => {
				clearTimeout(timer);
				this.wake = () => {};
				ok();
			};
			if (this.ended)
				this.wake();
		});
	}

	async want(test, deadline)
	{
		for (;;) {
			const got = test();

			if (got !== undefined)
				return got;
			if (this.ended)
				throw this.fault ?? new Error('connection closed');
			await this.more(deadline);
		}
	}

	take(n)
	{
		const b = this.buf.subarray(0, n);

		this.buf = this.buf.subarray(n);
		return b;
	}

	async line(deadline)
	{
		const at = await this.want(() => {
			const i = this.buf.indexOf('\r\n');

			return i < 0 ? undefined : i;
		}, deadline);
		const s = this.take(at).toString('latin1');

		this.take(2);
		return s;
	}

	async bytes(n, deadline)
	{
		await this.want(() => this.buf.length >= n ? true : undefined,
		    deadline);
		return this.take(n);
	}

	async chunks(deadline)
	{
		const parts = [];

		for (;;) {
			const n = parseInt(await this.line(deadline), 16);

			if (n === 0)
				break;
			parts.push(await this.bytes(n, deadline));
			await this.line(deadline);
		}
		while (await this.line(deadline) !== '')
			;
		return Buffer.concat(parts);
	}

	// The next response; interim ones (100) are passed over.
	async response({ method = 'GET', timeout = 20000 } = {})
	{
		const deadline = Date.now() + timeout;
		let status, headers;

		do {
			const m = /^HTTP\/1\.[01] (\d\d\d)/
			    .exec(await this.line(deadline));
			if (!m)
				throw new Error('not a status line');
			status = Number(m[1]);
			headers = [];
			for (;;) {
				const l = await this.line(deadline);

				if (l === '')
					break;
				const i = l.indexOf(':');
				headers.push([l.slice(0, i), l.slice(i + 1).trim()]);
			}
		} while (status === 100);
		const res = new Response(status, headers, Buffer.alloc(0));
		const body = await this.body(res, method, deadline);

		// Apache says "Upgrade, close".
		this.reusable = !/\bclose\b/i.test(res.header('connection') ??
		    '') && !this.ended;
		this.idleAt = Date.now();
		return new Response(status, headers, body);
	}

	async body(res, method, deadline)
	{
		if (method === 'HEAD' || res.status === 204 || res.status === 304)
			return Buffer.alloc(0);
		if ((res.header('transfer-encoding') ?? '') === 'chunked')
			return this.chunks(deadline);
		const n = res.header('content-length');
		if (n !== undefined)
			return this.bytes(Number(n), deadline);
		while (!this.ended)
			await this.more(deadline);
		return this.take(this.buf.length);
	}
}

const pool = new Map();		// "host:port" -> idle connections

async function borrow(key, opts)
{
	const idle = pool.get(key) ?? [];

	for (;;) {
		const c = idle.pop();

		if (c === undefined)
			return Conn.open(opts);
		if (!c.ended && Date.now() - c.idleAt < IDLE_MS)
			return c;
		c.close();
	}
}

function give(key, c)
{
	if (!c.reusable) {
		c.close();
		return;
	}
	if (!pool.has(key))
		pool.set(key, []);
	c.sock.unref();
	pool.get(key).push(c);
}

// The bytes of a request. headers: [[name, value], ...]; target as it is.
export function bytesOf({ method = 'GET', target, host, headers = [], body })
{
	const has = (n) => headers.some(([k]) => k.toLowerCase() === n);
	let head = `${method} ${target} HTTP/1.1\r\n`;

	if (!has('host'))
		head += `Host: ${host}\r\n`;
	for (const [n, v] of headers)
		head += `${n}: ${v}\r\n`;
	if (body !== undefined && !has('content-length') &&
	    !has('transfer-encoding'))
		head += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
	return Buffer.concat([Buffer.from(head + '\r\n', 'latin1'),
		Buffer.from(body ?? '')]);
}

// Split without normalising: new URL() would eat dot segments.
export function splitUrl(url)
{
	const m = /^(https?):\/\/([^/?#:]+)(?::(\d+))?([^#]*)$/.exec(url);

	if (!m)
		throw new Error(`not a URL: ${url}`);
	return {
		plain: m[1] === 'http',
		host: m[2],
		port: Number(m[3] ?? (m[1] === 'http' ? 80 : 443)),
		target: m[4].startsWith('/') ? m[4] : '/' + m[4],
	};
}

// One request to url; target overrides the path byte for byte.
export async function send(url, { ca, method = 'GET', headers = [], body,
	target, timeout, fresh = false, from } = {})
{
	const u = splitUrl(url);
	const key = `${u.plain}:${u.host}:${u.port}:${from}`;
	const opts = { host: u.host, port: u.port, plain: u.plain, ca, from };
	const c = fresh ? await Conn.open(opts) : await borrow(key, opts);

	c.sock.ref();
	try {
		await c.write(bytesOf({
			method, target: target ?? u.target, headers, body,
			host: u.port === 443 ? u.host : `${u.host}:${u.port}`,
		}));
		const res = await c.response({ method, timeout });

		give(key, c);
		return res;
	} catch (e) {
		c.close();
		throw e;
	}
}

export function closeAll()
{
	for (const idle of pool.values())
		for (const c of idle)
			c.close();
	pool.clear();
}
