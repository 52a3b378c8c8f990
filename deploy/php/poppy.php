<?php
/*
 * The bridge between a PHP shop and poppy-fcgi. It needs PHP 8.2 with PDO for
 * PostgreSQL, and no framework. Load it before the shop, in php.ini or the pool:
 *
 *	auto_prepend_file = /usr/local/share/poppy-fcgi/deploy/php/poppy.php
 *
 * For plain visitors it does nothing until it is asked. The browser of an agent
 * that has joined a Session gets a PHP session of its own (visit.php), in which
 * the shop finds that Session's customer and cart (adapter.php). Its settings are
 * /etc/poppy/bridge.ini, or the file that the environment variable POPPY_BRIDGE
 * names; bridge.ini beside this file shows them.
 *
 * Poppy::session()		which agent asks, for whom, and what it may do
 * Poppy::actAs($login)		what the shop does to be this customer there
 * Poppy::cart(), Poppy::cartChange($lines, $coupons)
 *				the Session's cart, for pages and APIs
 * Poppy::saveHandler($h)	for shops that keep PHP sessions by a handler of
 *				their own; Poppy::sessionId(), for those that
 *				don't use PHP's sessions at all
 * Poppy::refuseAgents()	first on the pages for login, registration,
 *				password, e-mail and closing an account: an
 *				agent's browser gets 403 there
 * Poppy::request()		the sign-in that poppy-auth waits for, if it sent
 *				the customer here ("login.by": "shop")
 * Poppy::requestField()	carries it through the login form
 * Poppy::ticket($r, $id)	after login: the form that leads back
 * Poppy::agentsUrl()		the page "Connected agents", to link to
 * Poppy::endEverything($id, $why)
 *				once the new password is stored, or the account
 *				is gone: no agent keeps its access
 * Poppy::export($id), Poppy::erase($id)
 *				what poppy-fcgi keeps about a customer
 *
 * $id is what the view poppy_shop.customer has as id. What can't be done throws
 * a PoppyException, whose code says why.
 */
declare(strict_types=1);

require_once __DIR__ . '/base.php';
require_once __DIR__ . '/session.php';
require_once __DIR__ . '/visit.php';

final class Poppy
{
	/* A secret: prefix, two characters of a bucket, 32 bytes. The last of
	 * 43 characters has four bits. */
	private const REQUEST = '/^prq_AA[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/D';

	private static ?PoppySession $session = null;
	private static bool $agent = false;	/* once seen, it stays */

	/**
	 * Does this request come out of a Session: from a browser that an agent
	 * drives, or from an agent itself?
	 *
	 * The header is looked at and not $_COOKIE, which lacks what comes
	 * behind max_input_vars others.
	 */
	public static function isAgent(): bool
	{
		self::$agent = self::$agent ||
		    ($_SERVER['POPPY_VIA'] ?? '') === 'ended' ||
		    ($_SERVER['POPPY_SESSION'] ?? '') !== '' ||
		    PoppyBase::names($_SERVER['HTTP_COOKIE'] ?? '');
		return self::$agent;
	}

	/**
	 * The Session of this request, by the cookie of a joined browser or, in an
	 * API, by a token; null for everybody else.
	 */
	public static function session(): ?PoppySession
	{
		return self::$session ??= PoppySession::read($_SERVER);
	}

	/**
	 * The shop treats a signed-in Session as its customer: $login gets the
	 * account and does to the PHP session what a login of the shop does.
	 * Call it after session_start(), on every page. It does nothing for
	 * others, and throws if the PHP session is not that of the Session, for
	 * in any other one it would log somebody in for good. True if $login was
	 * called. With 'login' in an adapter there is no need for it.
	 */
	public static function actAs(callable $login): bool
	{
		$s = self::session();

		if ($s === null || $s->via !== 'cookie' || !$s->signedIn)
			return false;
		if (session_status() !== PHP_SESSION_ACTIVE ||
		    session_id() !== PoppyVisit::id())
			throw new PoppyException('The PHP session is not that ' .
			    'of the agent\'s Session: call session_start() ' .
			    'before, and leave its id alone.',
			    PoppyException::MISUSE);
		$login($s->account);
		return true;
	}

	/**
	 * For session_set_save_handler(): a shop's own handler, made to keep the
	 * PHP session of the Session as the bridge's own does; unchanged for
	 * everybody else.
	 */
	public static function saveHandler(SessionHandlerInterface $handler):
	    SessionHandlerInterface
	{
		return PoppyVisit::store($handler) ?? $handler;
	}

	/**
	 * 64 hex digits that only this sign-in of this Session has, for a shop
	 * that keeps sessions by itself; null if no joined browser asks. Never
	 * show it, and never take such an id from a request.
	 */
	public static function sessionId(): ?string
	{
		$id = PoppyVisit::id();

		return $id === null ? null : hash('sha256', $id);
	}

	/**
	 * The cart of the Session: [lines, coupons], a line with sku, options ('')
	 * and quantity. Empty without a Session.
	 */
	public static function cart(): array
	{
		$s = self::session();

		if ($s === null)
			return [[], []];
		require_once __DIR__ . '/cart.php';
		return PoppyCart::read($s->id);
	}

	/**
	 * Change it: each line has sku, options and either delta or 'remove' =>
	 * true; $coupons take the place of those that are there, null leaves
	 * them. False: too much, or no Session; nothing was done.
	 */
	public static function cartChange(array $lines,
	    ?array $coupons = null): bool
	{
		$s = self::session();

		if ($s === null)
			return false;
		require_once __DIR__ . '/cart.php';
		return PoppyCart::write($s->id, $lines, $coupons);
	}

	/**
	 * End the request with status 403 if an agent makes it. $page prints the
	 * shop's own page; without it there is a plain one.
	 */
	public static function refuseAgents(?callable $page = null): void
	{
		if (!self::isAgent())
			return;
		http_response_code(403);
		header('Cache-Control: no-store');
		if ($page !== null) {
			$page();
			exit;
		}
		header('Content-Type: text/html; charset=utf-8');
		header("Content-Security-Policy: default-src 'none'; " .
		    "frame-ancestors 'none'");
		exit("<!doctype html>\n<html lang=\"en\"><head>" .
		    '<meta charset="utf-8"><title>Not for agents</title></head>' .
		    '<body><h1>Not for agents</h1><p>This page is for people ' .
		    "alone.</p></body></html>\n");
	}

	/**
	 * The sign-in that waits for this customer to log in at the shop, from
	 * the URL or, after the login form, from the form; null if there is none.
	 */
	public static function request(): ?string
	{
		$id = $_POST['poppy_request'] ?? $_GET['poppy_request'] ?? null;

		return is_string($id) && preg_match(self::REQUEST, $id) === 1 ?
		    $id : null;
	}

	/** A hidden field for the login form; '' if no sign-in waits. */
	public static function requestField(): string
	{
		$id = self::request();

		return $id === null ? '' :
		    self::hidden('poppy_request', $id);
	}

	/**
	 * The form, to print, that brings the customer back to poppy-auth, with a
	 * ticket that says who logged in. It counts once, for 60 seconds, and
	 * only in the browser in which the sign-in began.
	 *
	 * The form has a button, whose text is $button. $nonce is the one of the
	 * page's Content-Security-Policy, by which the form submits itself; ''
	 * if the page has no such policy, null for the button alone. The policy's
	 * form-action must allow Poppy::origin().
	 *
	 * Call it right after the login, or after a page on which a customer who
	 * was logged in already has said that he is the one.
	 */
	public static function ticket(string $request, int|string $customer,
	    string $button = 'Continue', ?string $nonce = null): string
	{
		if (self::isAgent())
			throw new PoppyException('An agent\'s browser gets no ' .
			    'ticket: people sign in, in a browser of their own.',
			    PoppyException::AGENT);
		if (preg_match(self::REQUEST, $request) !== 1)
			throw new PoppyException('poppy_request is none of ' .
			    'poppy-auth.', PoppyException::ABSENT);
		$ticket = 'ptk_AA' . self::base64url(random_bytes(32));
		$outcome = PoppyBase::call('ticket_put(?::bytea, ?::bytea, ?::text)',
		    [self::hash($request), self::hash($ticket),
		    self::account($customer)]);
		if ($outcome !== 'ok')
			throw new PoppyException('This sign-in is over, or was ' .
			    'used already: begin again where you came from.',
			    PoppyException::ABSENT);
		self::unseen();
		return '<form id="poppy-ticket" method="post" action="' .
		    self::text(self::pages() . '/login/ticket') . '">' .
		    self::hidden('ticket', $ticket) .
		    self::hidden('poppy_request', $request) .
		    '<button class="button wide">' . self::text($button) .
		    '</button></form>' . self::submit($nonce);
	}

	/** Where the ticket's form leads, for form-action of the page's policy. */
	public static function origin(): string
	{
		return preg_replace('~^(https://[^/]*).*$~D', '$1', self::pages());
	}

	/** "Connected agents": what a customer links to from the account page. */
	public static function agentsUrl(): string
	{
		return self::pages() . '/agents';
	}

	/**
	 * All sign-ins of a customer are revoked and all logins on our pages
	 * ended, from the next request on. $why is for the audit, such as
	 * "password changed". Returns how many sign-ins there were.
	 */
	public static function endEverything(int|string $customer,
	    string $why): int
	{
		if (preg_match('/^[\x20-\x7e]{1,100}$/D', $why) !== 1)
			throw new PoppyException('$why is 1 to 100 characters ' .
			    'of ASCII.', PoppyException::MISUSE);
		return (int)PoppyBase::call('customer_end(?::text, ?::text)',
		    [self::account($customer), $why]);
	}

	/** All that poppy-fcgi keeps about a customer, to hand it out. */
	public static function export(int|string $customer): array
	{
		return self::json('customer_export(?::text)', $customer);
	}

	/**
	 * Remove it: sign-ins, the Sessions that they signed in, and logins; rows
	 * of the audit stay under a hash. Returns how many rows of which kind
	 * there were.
	 */
	public static function erase(int|string $customer): array
	{
		return self::json('customer_erase(?::text)', $customer);
	}

	private static function submit(?string $nonce): string
	{
		return $nonce === null ? '' : '<script' . ($nonce === '' ? '' :
		    ' nonce="' . self::text($nonce) . '"') . '>document' .
		    '.getElementById("poppy-ticket").submit()</script>';
	}

	private static function json(string $call, int|string $customer): array
	{
		return PoppyBase::ask($call, [self::account($customer)]);
	}

	private static function account(int|string $customer): string
	{
		$id = (string)$customer;

		if ($id === '' || $id === '0' || strlen($id) > 200)
			throw new PoppyException('That is no id of a customer.',
			    PoppyException::MISUSE);
		return $id;
	}

	/* A page with a secret in it or in its URL: kept by nobody, and the URL
	 * is told to nobody. Its origin is, which poppy-auth wants to see. */
	private static function unseen(): void
	{
		if (headers_sent())
			return;
		header('Cache-Control: no-store');
		header('Referrer-Policy: strict-origin');
	}

	private static function hidden(string $name, string $value): string
	{
		return '<input type="hidden" name="' . $name . '" value="' .
		    self::text($value) . '">';
	}

	private static function text(string $text): string
	{
		return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE,
		    'UTF-8');
	}

	private static function base64url(string $bytes): string
	{
		return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
	}

	/* As PostgreSQL reads a bytea. */
	private static function hash(string $secret): string
	{
		return '\x' . hash('sha256', $secret);
	}

	private static function pages(): string
	{
		return PoppyBase::settings()['pages'];
	}
}

/* The one thing that is done unasked. */
try {
	PoppyVisit::begin();
} catch (Throwable $e) {
	PoppyVisit::fail($e);
}
