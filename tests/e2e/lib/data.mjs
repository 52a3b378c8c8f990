// data - what a stack's database holds, and what no request brings about yet.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Agent } from './agent.mjs';
import { sha256, thumbprint } from './jose.mjs';
import { Parts } from './parts.mjs';

const run = promisify(execFile);
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' +
    '0123456789-_';

export class Data extends Parts {
	// SQL as the superuser, or as a program's role: rows as text.
	async sql(query, role = 'postgres')
	{
		const { stdout } = await run('psql', ['-X', '-q', '-A', '-t', '-v',
			'ON_ERROR_STOP=1', '-h', `${this.dir}/pg`, '-U', role, '-d',
			'shop', '-c', query], { cwd: '/' });

		return stdout;
	}

	async dump()
	{
		const { stdout } = await run('pg_dump', ['-h', `${this.dir}/pg`,
			'-U', 'postgres', '-d', 'shop'],
		    { cwd: '/', maxBuffer: 1 << 28 });

		return stdout;
	}

	// The shop's accounts as it was filled: kind is their role, or disabled.
	customers()
	{
		return readFileSync(`${this.dir}/customers`, 'utf8').trim()
		    .split('\n').map((l) => l.split('\t'))
		    .map(([email, password, kind]) => ({ email, password, kind }));
	}

	async countSessions()
	{
		return Number(await this.sql('SELECT count(*) FROM poppy.session'));
	}

	// A Session's row is found by the bytes of its id.
	static sid(id)
	{
		return `'\\x${Buffer.from(id.slice(6), 'base64url')
		    .toString('hex')}'::bytea`;
	}

	static hash(token)
	{
		return `'\\x${sha256(token).toString('hex')}'::bytea`;
	}

	// What no request can bring about yet, or not in a test's time.
	endSession(id)
	{
		return this.sql('UPDATE poppy.session SET ended_at = ' +
		    `extract(epoch FROM now())::bigint WHERE sid = ${Data.sid(id)}`);
	}

	expireToken(s)
	{
		return this.sql('UPDATE poppy.token SET expires_at = ' +
		    'extract(epoch FROM now())::bigint - 1 ' +
		    `WHERE hash = ${Data.hash(s.token)}`);
	}

	signIn(s, scopes)
	{
		const list = scopes.join(' ');

		return this.sql("UPDATE poppy.session SET account = '1' WHERE " +
		    `sid = ${Data.sid(s.id)}; WITH g AS (INSERT INTO ` +
		    'poppy.grants (bucket, client_no, user_key, account, ' +
		    'scopes, kind, created_at, used_at, expires_at) ' +
		    'SELECT bucket, client_no, user_key, account, ' +
		    `'${list || 'none'}', 'direct', started_at, started_at, ` +
		    'started_at + 86400 FROM poppy.session WHERE ' +
		    `sid = ${Data.sid(s.id)} RETURNING grant_no) ` +
		    `UPDATE poppy.token SET scopes = '${list}', grant_no = ` +
		    `(SELECT grant_no FROM g) WHERE hash = ${Data.hash(s.token)}`);
	}

	block(client_id, on)
	{
		return this.rule(client_id, on ? 'block' : null);
	}

	// poppyctl as the operator runs it: exit status and what it printed.
	async ctl(...args)
	{
		try {
			const { stdout } = await run(`${process.env
			    .POPPY_TEST_BUILD}/tools/poppyctl/poppyctl`,
			['--conninfo', `host=${this.dir}/pg dbname=shop ` +
			    'user=postgres', ...args], { cwd: '/' });

			return { status: 0, text: stdout };
		} catch (e) {
			return { status: e.code, text: e.stdout + e.stderr };
		}
	}

	// The operator's word about a client_id or host; null takes it back.
	rule(pattern, verdict)
	{
		return this.sql('SELECT changed FROM poppy.client_rule_set(' +
		    `'${pattern}', ${verdict === null ? 'NULL' :
			`'${verdict}'`})`);
	}

	// The copy of a client's documents grows old: fresh for s seconds from
	// now. Processes have to look again.
	age(client_id, s = -1)
	{
		return this.sql('UPDATE poppy.client SET fresh_until = ' +
		    `extract(epoch FROM now())::bigint + ${s}, ` +
		    'refetch_after = 0, version = version + 1 ' +
		    `WHERE client_id = '${client_id}'`);
	}

	// Spend a jti with an iat by the guard's own function and role.
	async spend(jti, iat)
	{
		this.spender ??= new Agent(this).session();
		const { user, token } = await this.spender;
		const bucket = BASE64URL.indexOf(token[4]) * 64 +
		    BASE64URL.indexOf(token[5]);
		const jkt = Buffer.from(thumbprint(user.key.pub), 'base64url')
		    .toString('hex');
		const key = sha256(jti).subarray(0, 16).toString('hex');

		return (await this.sql('SELECT outcome FROM poppy_api.token_use(' +
		    `${bucket}, ${Data.hash(token)}, '\\x${jkt}', '\\x${key}', ` +
		    `${iat}, 10, NULL, 86400, 86400)`, 'poppy_guard')).trim();
	}

	// The POPPY_* variables that PHP saw.
	who(res)
	{
		return res.status === 200 ? res.json : undefined;
	}
}
