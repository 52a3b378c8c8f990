// load - agents that come and call without end, and what they were told. What
// they spent is kept, to be tried again after a fault: nobody may use it twice.
import { User } from './agent.mjs';
import { sleep } from './tap.mjs';

const KEEP = 40;		// of what was spent, the newest

export class Load {
	constructor(agent, { loops = 6, calls = 3, url } = {})
	{
		this.agent = agent;
		this.world = agent.world;
		this.calls = calls;
		this.url = url ?? this.world.stock;
		this.spent = [];
		this.reset();
		this.running = true;
		this.done = Promise.all(Array.from({ length: loops },
		    () => this.loop()));
	}

	// Count from here; gives what was counted before.
	reset()
	{
		const before = this.counts;

		this.counts = {};
		return before;
	}

	async stop()
	{
		this.running = false;
		await this.done;
		return this.reset();
	}

	// A refusal must say when to come again, if it is one of ours.
	note(kind, res)
	{
		let what = String(res.status);

		if (res.status === 503 && res.json !== undefined &&
		    !/^[1-9]\d*$/.test(res.header('retry-after') ?? ''))
			what = '503 without Retry-After';
		const key = `${kind} ${what}`;
		this.counts[key] = (this.counts[key] ?? 0) + 1;
		return res.status === 200;
	}

	keep(what)
	{
		this.spent.push(what);
		if (this.spent.length > KEEP)
			this.spent.shift();
	}

	async start()
	{
		const user = new User();
		const form = this.agent.form(user);
		const proof = user.proof('POST', this.world.tokenEndpoint);
		const res = await this.agent.token(user, { form, proof })
		    .catch((e) => ({ status: `gone ${e.code ?? e.message}` }));

		if (!this.note('start', res))
			return null;
		this.keep(() => this.agent.token(user, { form, proof }));
		return { user, token: res.json.access_token,
			id: res.json.session_id };
	}

	async call(s)
	{
		const proof = s.user.proof('GET', this.url.split('?')[0],
		    { token: s.token });
		const again = () => this.agent.call(s, 'GET', this.url,
		    { proof });
		const res = await again()
		    .catch((e) => ({ status: `gone ${e.code ?? e.message}` }));

		if (this.note('call', res))
			this.keep(again);
	}

	async loop()
	{
		while (this.running) {
			const s = await this.start();

			if (s === null)
				await sleep(100);
			for (let i = 0; s !== null && i < this.calls; i++)
				await this.call(s);
		}
	}

	// Try all that was spent once more: the statuses, by how often.
	async replay()
	{
		const out = {};

		for (const again of this.spent) {
			const { status } = await again();

			out[status] = (out[status] ?? 0) + 1;
		}
		return out;
	}
}

// How many were counted whose name is not like this.
export function others(counts, pattern)
{
	return Object.entries(counts).filter(([k]) => !pattern.test(k))
	    .reduce((sum, [, n]) => sum + n, 0);
}

// Every answer that was counted is like the pattern.
export function fits(t, counts, pattern, what)
{
	t.eq(others(counts, pattern), 0, `${what} ${JSON.stringify(counts)}`);
}
