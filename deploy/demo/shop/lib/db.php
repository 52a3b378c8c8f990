<?php
declare(strict_types=1);

function db(): PDO
{
	static $db = null;

	if ($db === null) {
		$db = new PDO(getenv('SHOP_DSN') ?: 'pgsql:dbname=shop',
		    getenv('SHOP_DB_USER') ?: 'shop',
		    getenv('SHOP_DB_PASSWORD') ?: null, [
			PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
			PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
			PDO::ATTR_EMULATE_PREPARES => false,
			PDO::ATTR_TIMEOUT => 3,
		    ]);
		$db->exec("SET search_path = shop, pg_catalog; " .
		    "SET statement_timeout = '5s'");
	}
	return $db;
}

function query(string $sql, array $args = []): PDOStatement
{
	$st = db()->prepare($sql);
	foreach (array_values($args) as $i => $v)
		$st->bindValue($i + 1, $v, match (true) {
			is_bool($v) => PDO::PARAM_BOOL,
			is_int($v) => PDO::PARAM_INT,
			$v === null => PDO::PARAM_NULL,
			default => PDO::PARAM_STR,
		});
	$st->execute();
	return $st;
}

function rows(string $sql, array $args = []): array
{
	return query($sql, $args)->fetchAll();
}

function row(string $sql, array $args = []): ?array
{
	return query($sql, $args)->fetch() ?: null;
}

function value(string $sql, array $args = []): mixed
{
	$v = query($sql, $args)->fetchColumn();
	return $v === false ? null : $v;
}

// All of $work or nothing of it.
function transaction(callable $work): mixed
{
	db()->beginTransaction();
	try {
		$out = $work();
		db()->commit();
		return $out;
	} catch (Throwable $e) {
		if (db()->inTransaction())
			db()->rollBack();
		throw $e;
	}
}
