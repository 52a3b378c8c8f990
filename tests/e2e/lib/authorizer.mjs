// authorizer - a guard that says what a test wants, and notes whom a web server
// asked about. It takes the place of a stack's own.
import { chmodSync, rmSync } from 'node:fs';
import net from 'node:net';
import { address, record, values } from './fcgi.mjs';

const END = 3, PARAMS = 4, STDOUT = 6;

export class Authorizer {
	// answer(env) gives the text of a response.
	static async listen(at, answer)
	{
		const a = new Authorizer();

		a.asked = [];		// what was asked, as an environment each
		a.answer = answer;
		a.server = net.createServer((c) => a.take(c));
		if (at.startsWith('/'))
			rmSync(at, { force: true });
		await new Promise((ok, fail) => {
			a.server.on('error', fail);
			a.server.listen(address(at), ok);
		});
		if (at.startsWith('/'))
			chmodSync(at, 0o666);
		return a;
	}

	take(sock)
	{
		let buf = Buffer.alloc(0), params = Buffer.alloc(0);

		sock.on('error', () => {});
		sock.on('data', (d) => {
			buf = Buffer.concat([buf, d]);
			while (buf.length >= 8) {
				const n = buf.readUInt16BE(4), all = 8 + n + buf[6];

				if (buf.length < all)
					return;
				const type = buf[1], body = buf.subarray(8, 8 + n);

				buf = buf.subarray(all);
				if (type !== PARAMS)
					continue;
				if (n > 0)
					params = Buffer.concat([params, body]);
				else
					this.reply(sock, values(params));
			}
		});
	}

	reply(sock, env)
	{
		this.asked.push(env);
		sock.end(Buffer.concat([record(STDOUT,
		    Buffer.from(this.answer(env))), record(STDOUT),
		record(END, Buffer.alloc(8))]));
	}

	// What was asked while doing it, and what that gave.
	async during(doing)
	{
		const before = this.asked.length;
		const res = await doing();

		return { res, asked: this.asked.slice(before) };
	}

	close()
	{
		return new Promise((ok) => this.server.close(ok));
	}
}
