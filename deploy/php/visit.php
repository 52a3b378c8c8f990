<?php
/*
 * A page that the browser of an agent asks for. Its Session has a PHP session of
 * its own, whose id nobody can guess or bring along; what cookies the shop has
 * given to that browser before is out of sight, and stays as it is.
 *
 * This is done before the shop's first line runs. The shop's session_start()
 * then finds that PHP session, whatever it sets for cookies, strict mode or the
 * session's name, and session_regenerate_id() keeps it. A save handler that the
 * shop installs itself would take the place of ours: Poppy::saveHandler() puts
 * ours around it. Without that the agent is a guest there, never somebody else.
 */
declare(strict_types=1);

final class PoppyVisit
{
	/* Of ids of our PHP sessions. No visitor may bring one, nor what a
	 * shop's database, which ignores case, takes for one. A shop has other
	 * words that begin like them. */
	private const PREFIX = 'poppy-';
	private const LIKE_OURS = '/^\s*poppy-[0-9a-f]{64}\s*$/Di';
	/* So much of a page waits for its end, to be taken back if that fails. */
	private const PAGE = 4 << 20;

	private static ?string $id = null;
	private static ?PoppyAdapter $adapter = null;

	/** Called once, by poppy.php. */
	public static function begin(): void
	{
		$via = $_SERVER['POPPY_VIA'] ?? '';

		if ($via === 'cookie')
			self::enter(Poppy::session() ??
			    throw PoppyBase::broken('POPPY_SESSION is missing.'));
		elseif (Poppy::isAgent())
			self::shut();
		else
			self::strip();
	}

	/**
	 * The end of a page that can't be done well: it would be somebody else's,
	 * or say that something is in the cart which is not.
	 */
	public static function fail(Throwable $e): never
	{
		error_log('poppy: ' . get_class($e) . ': ' . $e->getMessage());
		while (ob_get_level() > 0 && ob_end_clean())
			continue;
		if (headers_sent())
			exit;
		header_remove();
		http_response_code(503);
		header('Retry-After: 10');
		header('Cache-Control: no-store');
		header('Content-Type: text/plain; charset=utf-8');
		exit("The shop can't answer agents just now. Please try again " .
		    "soon.\n");
	}

	/** The store of the Session's PHP session, over $inner; null if no joined
	 * browser asks. */
	public static function store(SessionHandlerInterface $inner): ?PoppyStore
	{
		return self::$id === null ? null :
		    new PoppyStore(self::$id, self::$adapter, $inner);
	}

	/** The id of the Session's PHP session; null for everybody else. */
	public static function id(): ?string
	{
		return self::$id;
	}

	/* Sign-in and sign-out lead to another PHP session: what the one has
	 * seen of an account is not in the other. */
	private static function enter(PoppySession $s): void
	{
		/* Only here: plain visitors pay for no file that they don't need. */
		require_once __DIR__ . '/adapter.php';
		require_once __DIR__ . '/store.php';
		self::$id = self::PREFIX . hash_hmac('sha256', implode('|', [$s->id,
		    $s->signIn, rawurlencode($s->account ?? '')]),
		    PoppyBase::sessionKey());
		self::hide();
		self::$adapter = PoppyAdapter::of($s);
		session_set_save_handler(self::store(new SessionHandler), false);
		session_id(self::$id);
		/* Behind whatever the shop itself does last, and before the page
		 * goes out. */
		register_shutdown_function(fn () =>
		    register_shutdown_function('session_write_close'));
	}

	/* No Session any more, or nobody has said which: a guest whom nobody
	 * remembers, until the agent joins again. Its cookie stays, for without it
	 * this browser would find the doors open that are for people. The same for
	 * calls of an API by token: they are the Session's, and no cookie's. */
	private static function shut(): void
	{
		require_once __DIR__ . '/store.php';
		self::hide();
		session_set_save_handler(new PoppyNoStore, true);
		session_id(self::PREFIX . bin2hex(random_bytes(32)));
	}

	/* Cookies of the shop belong to the visitor who used this browser before:
	 * none is seen or changed. That visitor's session may have begun already
	 * (session.auto_start); it stays as it was. */
	private static function hide(): void
	{
		if (session_status() === PHP_SESSION_ACTIVE)
			session_abort();
		unset($GLOBALS['_SESSION']);
		foreach (array_keys($_COOKIE) as $name)
			if (($_REQUEST[$name] ?? null) === $_COOKIE[$name])
				unset($_REQUEST[$name]);
		$_COOKIE = [];
		unset($_SERVER['HTTP_COOKIE']);
		/* session.use_cookies stays as it is: without it PHP warns shops
		 * that set how their cookie is to be. */
		ini_set('session.use_trans_sid', '0');
		ini_set('session.use_only_cookies', '1');
		ini_set('session.serialize_handler', 'php_serialize');
		/* Twice, for the shop may register a callback of its own. */
		header_register_callback(fn () => header_remove('Set-Cookie'));
		ob_start(function (string $page): string {
			if (!headers_sent())
				header_remove('Set-Cookie');
			return $page;
		}, self::PAGE);
	}

	/* A plain visitor who brings the id of a Session's PHP session: from
	 * wherever a shop may take it, it opens nothing. */
	private static function strip(): void
	{
		$_COOKIE = self::without($_COOKIE);
		$_GET = self::without($_GET);
		$_POST = self::without($_POST);
		$_REQUEST = self::without($_REQUEST);
		if (session_status() !== PHP_SESSION_ACTIVE ||
		    preg_match(self::LIKE_OURS, session_id()) !== 1)
			return;
		session_abort();
		session_id(session_create_id());
		session_start();
	}

	private static function without(array $all): array
	{
		$kept = [];

		foreach ($all as $name => $v)
			if (is_array($v))
				$kept[$name] = self::without($v);
			elseif (!is_string($v) ||
			    preg_match(self::LIKE_OURS, $v) !== 1)
				$kept[$name] = $v;
		return $kept;
	}
}
