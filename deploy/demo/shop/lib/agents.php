<?php
// What the shop and poppy-fcgi have to say to each other, by way of the bridge,
// which PHP loads before every page. Without poppy-fcgi there is no bridge, and
// the shop runs all the same.
declare(strict_types=1);

function bridged(): bool
{
	return class_exists('Poppy', false);
}

// Login, passwords and the loft are closed to browsers that agents drive.
function people_only(): void
{
	if (bridged())
		Poppy::refuseAgents(fn () => fail_page(403,
		    'This page is for people, and an agent drives this ' .
		    'browser. Please open it in a browser of your own.'));
}

// The sign-in of an agent that waits for this customer to log in; null if none
// does. The page's URL names it, so nobody is told that URL.
function waiting(): ?string
{
	$request = bridged() ? Poppy::request() : null;
	if ($request !== null)
		header('Referrer-Policy: strict-origin');
	return $request;
}

function waiting_field(): string
{
	return bridged() ? Poppy::requestField() : '';
}

// Back to that sign-in, as this customer.
function sign_in(string $request, array $who): never
{
	$nonce = base64_encode(random_bytes(18));
	try {
		$form = Poppy::ticket($request, $who['id'],
		    'Continue as ' . $who['name'], $nonce);
	} catch (PoppyException $e) {
		if ($e->getCode() !== PoppyException::ABSENT)
			throw $e;
		fail_page(410, $e->getMessage());
	}
	header("Content-Security-Policy: default-src 'none'; img-src 'self'; " .
	    "style-src 'self'; script-src 'nonce-$nonce'; form-action 'self' " .
	    Poppy::origin() . "; frame-ancestors 'none'; base-uri 'none'");
	page_head('Logged in');
	echo '<div class="gate"><div class="form"><h1>You are logged in</h1>',
	    '<p>On the next page you decide what your agent may do.</p>',
	    $form, '</div></div>';
	page_foot();
	exit;
}

// No agent keeps its access to this account.
function end_agents(int $customer, string $why): void
{
	if (bridged())
		Poppy::endEverything($customer, $why);
}

const SCOPES = ['poppy:read' => 'see orders', 'poppy:write' => 'change things',
    'addresses' => 'use addresses'];

// Who drives this browser, if it is an agent, and what it may do.
function agent_banner(?array $who): void
{
	$s = bridged() ? Poppy::session() : null;
	if ($s === null)
		return;
	$host = parse_url($s->clientId, PHP_URL_HOST);
	echo '<p class="agent" role="status"><b>', e($s->agent), '</b> (', e($host),
	    ') shops here for ', $who ? e($who['name']) : 'a guest', '.';
	if ($s->signedIn)
		echo ' It may: ', e(implode(', ', array_map(fn ($x) =>
		    SCOPES[$x] ?? $x, $s->scopes))), '.';
	echo "</p>\n";
}

// People log in; for an agent its User does, in another browser.
function may_log_in(): bool
{
	return !bridged() || !Poppy::isAgent();
}
