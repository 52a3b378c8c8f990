// pages - what a person does on the pages of sign-in, in Chromium.

// The agent's landing page, so that redirects to it end somewhere.
export function landing(flow)
{
	flow.w.docs.set(new URL(flow.redirect).pathname, (req, res) => {
		res.writeHead(200, { 'Content-Type': 'text/html' });
		res.end('<!doctype html><title>Agent</title><h1>Back</h1>');
	});
	return flow;
}

// Fill in the login form and send it.
export async function enter(page, account)
{
	await page.locator('input[type=password]').fill(account.password);
	await page.locator('input[autocomplete=username]').fill(account.email);
	await page.locator('form:has(input[type=password]) button').first()
	    .click();
}

export async function login(page, account)
{
	await enter(page, account);
	await page.locator('input[type=password]').waitFor({ state:
		'detached' });
}

// From an authorization URL to the page that asks.
export async function consent(page, r, account)
{
	await page.goto(r.url);
	await login(page, account);
	await decline(page).waitFor();
}

export const approve = (page) => page.locator('button[value=approve]');
export const decline = (page) => page.locator('button[value=decline]');

// Press a button, and come back to the agent: what it is told.
export async function decide(page, button, r)
{
	await Promise.all([page.waitForURL((u) => u.href.startsWith(r.redirect)),
		button.click()]);
	return new URL(page.url()).searchParams;
}
