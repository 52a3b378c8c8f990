// What follows on the button of the page that asks, in Chromium, which judges
// each redirect behind a form by the form's page.
import { Agent, User } from '../e2e/lib/agent.mjs';
import { flows, signinSettings } from '../e2e/lib/signin.mjs';
import { proves, run, test } from '../e2e/lib/tap.mjs';
import { World } from '../e2e/lib/world.mjs';
import { Browser } from './lib/browser.mjs';
import { approve, consent, decline } from './lib/pages.mjs';

let w, b, ada, people;

for (const [name, button] of [['approved', approve], ['declined', decline]])
	test(`${name}: the agent may lead on to a page on another host`,
	    proves('R-4.5-7', 'R-4.5-9'), async (t) => {
		const f = ada(new User(), new Agent(w)), r = f.request();
		const p = await b.person(), { page } = p;
		const to = `https://shop2.localhost:${w.port}/robots.txt`;
		let asked;

		w.docs.set(new URL(f.redirect).pathname, (req, res) => {
			asked = new URL(req.url, w.docs.base).searchParams;
			res.writeHead(302, { Location: to });
			res.end();
		});
		await consent(page, r, people[0]);
		await Promise.all([page.waitForURL(to), button(page).click()]);
		t.eq(asked?.get('state'), r.state, 'by way of the agent');
		await p.leave(t);
	}, { timeout: 60000 });

await run({
	before: async () => {
		w = await World.up({ bend: signinSettings });
		people = w.customers();
		ada = flows(w, people[0]);
		b = await Browser.start(w);
	},
	after: async () => {
		await b?.stop();
		await w?.close();
	},
});
