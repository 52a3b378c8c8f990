<?php
/*
 * A page that the browser of an agent asks for. Its Session has a PHP session of
 * its own, whose id nobody can guess or bring along; what cookies the shop has
 * given to that browser before is out of sight, and stays as it is.
 *
 * This is done before the shop's first line runs. The shop's session_start()
 * then finds that PHP session, whatever it sets for cookies, strict mode or the
 * session's name, and session_regenerate_id() keeps it. A save handler that the
 * shop installs itself takes over what the settings say (session.save_handler);
 * with strict mode it must find ids that it has not made, or the shop sees a
 * new session on each page.
 */
declare(strict_types=1);

require_once __DIR__ . '/adapter.php';
require_once __DIR__ . '/store.php';

final class PoppyVisit
{
	/* Of ids of our PHP sessions. No visitor may bring one, nor what a
	 * shop's database, which ignores case, takes for one. A shop has other
	 * words that begin like them. */
	private const PREFIX = 'poppy-';
	private const LIKE_OURS = '/^\s*poppy-[0-9a-f]{64}\s*$/Di';

	private static ?string $id = null;

	/** Called once, by poppy.php. */
	public static function begin(): void
	{
		$via = $_SERVER['POPPY_VIA'] ?? '';

		if ($via === 'cookie')
			self::enter(Poppy::session());
		elseif ($via === 'ended' || ($via === '' && Poppy::isAgent()))
			self::shut();
		else
			self::strip();
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
		self::$id = self::PREFIX . hash_hmac('sha256', implode('|', [$s->id,
		    $s->signIn, rawurlencode($s->account ?? '')]),
		    Poppy::sessionKey());
		self::hide();
		$adapter = PoppyAdapter::of($s);
		session_set_save_handler(new PoppyStore(self::$id, $adapter), true);
		session_id(self::$id);
	}

	/* No Session any more, or nobody has said which: a guest whom nobody
	 * remembers, until the agent joins again. Its cookie stays, for without it
	 * this browser would find the doors open that are for people. */
	private static function shut(): void
	{
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
		header_register_callback(fn () => header_remove('Set-Cookie'));
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
