// customer - a person at our pages without a browser: cookies, redirects and
// forms, no more. Every part of a form can be bent before it is sent.
import { send } from './http.mjs';

const ENTITY = { amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'' };

export const unescape = (s) => s.replace(/&(#x?)?([0-9a-z]+);/gi,
    (all, num, v) => num ? String.fromCodePoint(parseInt(v,
	num.length > 1 ? 16 : 10)) : ENTITY[v] ?? all);

// name -> value of a start tag; without a value ''.
function attributes(tag)
{
	const out = {};

	for (const m of tag.matchAll(
	    /\s([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/gi))
		out[m[1].toLowerCase()] =
		    unescape(m[2] ?? m[3] ?? m[4] ?? '');
	return out;
}

// The forms of a page: { action, method, fields, boxes, buttons }, fields
// being all that is sent as it stands, boxes the checkboxes.
export function forms(html, base)
{
	return [...html.matchAll(/<form\b[^>]*>([\s\S]*?)<\/form>/gi)].map((m) => {
		const a = attributes(m[0].slice(0, m[0].indexOf('>')));
		const inputs = [...m[1].matchAll(
		    /<(input|button|textarea|select)\b[^>]*>/gi)]
		    .map((x) => ({ tag: x[1].toLowerCase(),
			...attributes(x[0].slice(0, -1)) }));
		const is = (x, ...types) => types.includes(x.type ??
		    (x.tag === 'button' ? 'submit' : 'text'));

		return {
			action: new URL(a.action ?? base, base).href,
			method: (a.method ?? 'get').toLowerCase(), html: m[0],
			fields: inputs.filter((x) => !is(x, 'submit', 'checkbox',
			    'button') && x.name).map((x) => [x.name, x.value ?? '']),
			boxes: inputs.filter((x) => is(x, 'checkbox')),
			buttons: inputs.filter((x) => is(x, 'submit')),
		};
	});
}

export class Customer {
	constructor(w, account)
	{
		this.w = w;
		this.account = account;
		this.jar = new Map();
	}

	// One request with our cookies; no redirect is followed.
	async fetch(url, { method = 'GET', headers = [], body } = {})
	{
		const mine = this.jar.size ? [['Cookie', [...this.jar].map(
		    ([k, v]) => `${k}=${v}`).join('; ')]] : [];
		const res = await send(new URL(url, this.w.base).href, {
			ca: this.w.ca, method, body,
			headers: [...mine, ...headers] });

		for (const c of res.all('set-cookie'))
			this.keep(c);
		res.url = new URL(url, this.w.base).href;
		return res;
	}

	keep(cookie)
	{
		const [, k, v] = /^([^=]*)=([^;]*)/.exec(cookie);

		if (v === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(cookie))
			this.jar.delete(k);
		else
			this.jar.set(k, v);
	}

	// Follow redirects that stay with the company.
	async open(url, opts)
	{
		let res = await this.fetch(url, opts);

		for (let i = 0; i < 8; i++) {
			const to = res.header('location');

			if (![302, 303].includes(res.status) || !to ||
			    !new URL(to, res.url).href.startsWith(`${this.w.base}/`))
				return res;
			res = await this.fetch(new URL(to, res.url).href);
		}
		throw new Error(`round in circles: ${url}`);
	}

	// Send a form; over changes fields, undefined drops one; extra: pairs.
	submit(form, over = {}, { extra = [], headers, follow = false } = {})
	{
		const pairs = [...form.fields.map(([k, v]) =>
		    [k, k in over ? over[k] : v]),
		...Object.entries(over).filter(([k]) =>
		    !form.fields.some(([n]) => n === k)), ...extra]
		    .filter(([, v]) => v !== undefined);
		const opts = { method: 'POST', body: new URLSearchParams(pairs)
		    .toString(), headers: [['Content-Type',
			'application/x-www-form-urlencoded'],
		...headers ?? [['Origin', this.w.base]]] };

		return follow ? this.open(form.action, opts) :
		    this.fetch(form.action, opts);
	}

	// The form that wants a password, if this page is the login page.
	static loginForm(res)
	{
		return forms(res.text, res.url).find((f) =>
		    /type="?password/i.test(f.html));
	}

	// The form with a button that declines.
	static consentForm(res)
	{
		return forms(res.text, res.url).find((f) =>
		    f.buttons.some((b) => b.value === 'decline'));
	}

	static loginFields(form, account)
	{
		const [login] = form.fields.find(([k]) =>
		    /login|email|user/i.test(k)) ?? ['login'];

		return { [login]: account.email, password: account.password };
	}

	// Log in where a page asks for it; the page behind.
	async login(res, account = this.account)
	{
		const form = Customer.loginForm(res);

		return form ? this.submit(form, Customer.loginFields(form,
		    account), { follow: true }) : res;
	}

	// From an authorization URL to the page that asks.
	async consent(url)
	{
		const page = await this.login(await this.open(url));

		if (!Customer.consentForm(page))
			throw new Error(`no consent page: ${page.status} ` +
			    `${page.header('location') ?? ''} ` +
			    page.text.slice(0, 300));
		return page;
	}

	// scopes: those ticked, by default as the page has them.
	decide(page, { scopes, decline, over = {}, extra = [], headers } = {})
	{
		const form = Customer.consentForm(page);
		const button = form.buttons.find((b) => decline ?
		    b.value === 'decline' : b.value === 'approve');
		const ticked = form.boxes.filter((b) => scopes === undefined ?
		    'checked' in b : scopes.includes(b.value));

		return this.submit(form, { [button.name]: button.value, ...over },
		    { headers, extra: [...ticked.map((b) => [b.name, b.value]),
			...extra] });
	}

	// The page of a device request, where the code was typed.
	async device(code, { page } = {})
	{
		let res = page ?? await this.login(await this.open(
		    '/poppy/device'));
		const form = forms(res.text, res.url).find((f) =>
		    f.fields.some(([k]) => k === 'user_code') &&
		    !f.buttons.some((b) => b.value === 'decline'));

		if (!form)
			throw new Error(`no field for the code: ${res.status}`);
		res = await (form.method === 'get' ? this.open(`${form.action
		    .split('?')[0]}?${new URLSearchParams({ user_code: code })}`) :
		    this.submit(form, { user_code: code }, { follow: true }));
		return this.login(res);
	}

	// The page of connected agents: { page, forms }, one form for each that
	// can be disconnected, by way of the page that asks; "all" comes last.
	async agents()
	{
		const page = await this.login(await this.open('/poppy/agents'));
		const links = [...page.text.matchAll(/<a\b[^>]*>/gi)]
		    .map((m) => attributes(m[0].slice(0, -1)).href ?? '')
		    .map((href) => new URL(href, page.url).href)
		    .filter((u) => u.startsWith(`${this.w.base}/poppy/agents?`) &&
			!/[?&]lang=/.test(u));
		const found = [];

		for (const u of links) {
			const ask = await this.open(u);

			found.push(...forms(ask.text, ask.url).filter((f) =>
			    !/logout|lang/.test(f.action)));
		}
		return { page, forms: found };
	}
}
