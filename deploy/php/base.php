<?php
/*
 * What the bridge stands on: its settings and the database. See poppy.php.
 */
declare(strict_types=1);

final class PoppyException extends RuntimeException
{
	/* Settings or database: nothing that the customer can change. */
	public const BROKEN = 1;
	/* The sign-in is over or was never there: begin again at the agent. */
	public const ABSENT = 2;
	/* An agent's browser asks for what only people may have. */
	public const AGENT = 3;
	/* The shop called with something that can't be right. */
	public const MISUSE = 4;
}

final class PoppyBase
{
	private const SETTINGS = '/etc/poppy/bridge.ini';
	private const COOKIE = '__Host-poppy';
	private const KEYS = ['dsn', 'user', 'password', 'pages', 'cookie',
	    'session_key', 'adapter'];

	private static ?array $settings = null;
	private static ?PDO $db = null;

	public static function settings(): array
	{
		return self::$settings ??= self::read(
		    getenv('POPPY_BRIDGE') ?: self::SETTINGS);
	}

	/** What ids of PHP sessions are made of. */
	public static function sessionKey(): string
	{
		$key = self::settings()['session_key'] ?? '';

		if (strlen($key) < 32)
			throw self::broken('session_key of bridge.ini must have ' .
			    '32 characters or more, the same on all hosts: ' .
			    'openssl rand -hex 32');
		return $key;
	}

	public static function adapter(): ?string
	{
		$file = self::settings()['adapter'] ?? '';

		return $file === '' ? null : $file;
	}

	/** Is our cookie in this header, as every server between may have written
	 * it, and PHP could read it? Every page of every visitor asks, also where
	 * there are no settings. */
	public static function names(string $header): bool
	{
		if ($header === '')
			return false;
		$cookie = self::cookie();
		return str_contains($header, $cookie) &&
		    preg_match('/(?:^|[;,\s])' . preg_quote($cookie, '/') .
		    '(?:[=;,\s\[]|$)/', $header) !== 0;
	}

	/* Its name alone: to read and judge all settings takes as long as a
	 * small page does. */
	private static function cookie(): string
	{
		$text = @file_get_contents(getenv('POPPY_BRIDGE') ?:
		    self::SETTINGS);

		return is_string($text) && preg_match_all('/^\h*cookie\h*=\h*' .
		    '"?([A-Za-z0-9_-]+)/m', $text, $m) > 0 ?
		    end($m[1]) : self::COOKIE;
	}

	/** What a function of poppy_api returns: the first value, or another. */
	public static function call(string $call, array $args,
	    string $what = '*'): mixed
	{
		try {
			$st = self::db()->prepare("SELECT $what " .
			    "FROM poppy_api.$call AS x");
			$st->execute($args);
			return $st->fetchColumn();
		} catch (PDOException $e) {
			self::$db = null;
			throw self::broken('The database of poppy-fcgi does not ' .
			    'answer as it should: ' . $e->getMessage(), $e);
		}
	}

	/** A row that it returns, jsonb as arrays. */
	public static function ask(string $call, array $args): array
	{
		return json_decode((string)self::call($call, $args,
		    'pg_catalog.to_jsonb(x)'), true, 64, JSON_THROW_ON_ERROR);
	}

	public static function broken(string $why, ?Throwable $e = null):
	    PoppyException
	{
		return new PoppyException($why, PoppyException::BROKEN, $e);
	}

	/* Who may read the file may speak for every customer. */
	private static function read(string $file): array
	{
		$mode = @fileperms($file);
		if ($mode === false)
			throw self::broken("$file: can't be found: is it there, " .
			    'and in open_basedir?');
		if (($mode & 0007) !== 0)
			throw self::broken("$file: everybody may read it: make " .
			    'it PHP\'s user\'s own, mode 0400.');
		$ini = @parse_ini_file($file, false, INI_SCANNER_RAW);
		if ($ini === false)
			throw self::broken("$file: can't be read.");
		foreach (array_keys($ini) as $key)
			if (!in_array($key, self::KEYS, true))
				throw self::broken("$file: $key is no setting.");
		if (!str_starts_with($ini['dsn'] ?? '', 'pgsql:'))
			throw self::broken("$file: dsn must begin with pgsql:");
		if (preg_match('~^https://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._/-]*' .
		    '[A-Za-z0-9_-])?$~D', $ini['pages'] ?? '') !== 1)
			throw self::broken("$file: pages must be an https URL " .
			    'without a slash at its end.');
		return $ini + ['user' => 'poppy_bridge', 'password' => null];
	}

	/* No named statements, so that a PgBouncer may stand between. */
	private static function db(): PDO
	{
		$s = self::settings();

		return self::$db ??= new PDO($s['dsn'], $s['user'], $s['password'], [
			PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
			PDO::PGSQL_ATTR_DISABLE_PREPARES => true,
			PDO::ATTR_TIMEOUT => 3,
		]);
	}
}
