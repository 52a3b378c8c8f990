<?php
/*
 * A shop without a framework: its own session_start(), and who is logged in is
 * in $_SESSION. This goes into the file that every page begins with. (With
 * 'login' in an adapter even these lines are not needed.)
 */
declare(strict_types=1);

session_start();

/* In the browser of an agent: the customer that the Session is signed in to. */
Poppy::actAs(function (string $account): void {
	$_SESSION['customer_id'] = (int)$account;
});

/* What a page shows of it. */
function shop_agent_banner(): string
{
	$s = Poppy::session();

	return $s === null ? '' : '<p role="status">' .
	    htmlspecialchars($s->agent) . ' shops for ' .
	    ($s->signedIn ? 'a customer' : 'a guest') . '.</p>';
}

/* A page that changes something in the account asks for the scope, where
 * poppy-guard's rules have not done so already. */
function shop_may_change(): bool
{
	$s = Poppy::session();

	return $s === null || $s->may('poppy:write');
}
