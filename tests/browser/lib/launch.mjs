// launch - the page from which an agent sends its browser into the shop: on
// another origin, with a form that brings the assertion.
import http from 'node:http';
import { COOKIE, browserAssertion, endpoint } from '../../e2e/lib/browser.mjs';

// Our cookies that a person's browser has.
export const ours = async (p) => (await p.context.cookies(p.w.base))
    .filter((c) => c.name === COOKIE);

export class Launch {
	static start(agent)
	{
		const l = new Launch();

		l.agent = agent;
		l.forms = [];
		l.server = http.createServer((req, res) => {
			const form = l.forms[Number(req.url.slice(1))];

			res.writeHead(form ? 200 : 404,
			    { 'Content-Type': 'text/html; charset=utf-8' });
			res.end(form ?? '');
		});
		return new Promise((ok, fail) => {
			l.server.on('error', fail);
			l.server.listen(0, '127.0.0.1', () => ok(l));
		});
	}

	// The URL of a page whose form goes to action; by itself, unless a
	// person has to press.
	page(action, assertion, { method = 'post', press = false } = {})
	{
		const { port } = this.server.address();
		const n = this.forms.push('<!doctype html><html lang="en">' +
		    `<title>Agent</title><form method="${method}" ` +
		    `action="${action}"><input type="hidden" ` +
		    `name="assertion" value="${assertion}">` +
		    '<button>Go</button></form>' + (press ? '' :
			'<script>document.forms[0].submit()</script>'));

		return `http://127.0.0.1:${port}/${n - 1}`;
	}

	// Join by the page's form, as a top-level navigation, and come to path;
	// over: claims to change.
	async join(page, s, path = '/', { over, press } = {})
	{
		const { world: w } = this.agent, to = w.url(path);
		const assertion = browserAssertion(this.agent, s,
		    { return_to: to, ...over });
		const url = this.page(endpoint(w), assertion, { press });
		const arrived = page.waitForURL(to);

		await page.goto(url).catch(() => {});
		if (press)
			await page.locator('button').click();
		await arrived;
	}

	stop()
	{
		this.server.closeAllConnections();
		return new Promise((ok) => this.server.close(ok));
	}
}
