<?php
// Hashes as the shops' own PHP makes them, and what that PHP says of passwords
// that fit and of some that nearly do. A line each:
//
//	kind TAB hash TAB password (both in hex) TAB 1 or 0
//
// The passwords are the same at every run, the salts are not.
mt_srand(1);
const ITOA64 =
    './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function encode64(string $in, int $n): string
{
	$out = '';
	for ($i = 0; $i < $n; ) {
		$v = ord($in[$i++]);
		$out .= ITOA64[$v & 63];
		if ($i < $n)
			$v |= ord($in[$i]) << 8;
		$out .= ITOA64[$v >> 6 & 63];
		if ($i++ >= $n)
			break;
		if ($i < $n)
			$v |= ord($in[$i]) << 16;
		$out .= ITOA64[$v >> 12 & 63];
		if ($i++ >= $n)
			break;
		$out .= ITOA64[$v >> 18 & 63];
	}
	return $out;
}

function rounds(string $algo, string $head, int $cost, string $password): string
{
	$salt = substr(encode64(random_bytes(6), 6), 0, 8);
	$hash = hash($algo, $salt . $password, true);
	for ($i = 1 << $cost; $i > 0; $i--)
		$hash = hash($algo, $hash . $password, true);
	return $head . ITOA64[$cost] . $salt . encode64($hash, strlen($hash));
}

function again(string $algo, string $made, string $password): bool
{
	$salt = substr($made, 4, 8);
	$hash = hash($algo, $salt . $password, true);
	for ($i = 1 << strpos(ITOA64, $made[3]); $i > 0; $i--)
		$hash = hash($algo, $hash . $password, true);
	return substr(substr($made, 0, 12) . encode64($hash, strlen($hash)), 0,
	    strlen($made)) === $made;
}

function symfony(string $p): string
{
	return strlen($p) > 72 || str_contains($p, "\0") ?
	    base64_encode(hash('sha512', $p, true)) : $p;
}

function wordpress(string $p): string
{
	return base64_encode(hash_hmac('sha384', trim($p), 'wp-sha384', true));
}

function opencart(string $salt, string $p): string
{
	return sha1($salt . sha1($salt . sha1($p)));
}

function sodium(string $p, string $salt, int $n, int $ops, int $mem): string
{
	$salt = strlen($salt) < 16 ? str_pad($salt, 16, $salt) :
	    substr($salt, 0, 16);
	return bin2hex(sodium_crypto_pwhash($n, $p, $salt, $ops, $mem,
	    SODIUM_CRYPTO_PWHASH_ALG_ARGON2ID13));
}

// Each: kind, made from a password, and whether another fits it.
$salt = 'Zq3mKx8pTw1rYb6n';
$low = ['cost' => 4];
$small = ['memory_cost' => 64, 'time_cost' => 1, 'threads' => 1];
$lanes = ['memory_cost' => 128, 'time_cost' => 2, 'threads' => 4];
$verify = fn($made, $p) => password_verify($p, $made);
$forms = [
	'bcrypt' => ['', fn($p) => password_hash($p, PASSWORD_BCRYPT, $low),
	    $verify],
	'symfony' => ['symfony', fn($p) => password_hash(symfony($p),
	    PASSWORD_BCRYPT, $low),
	    fn($made, $p) => password_verify(symfony($p), $made)],
	'argon2i' => ['', fn($p) => password_hash($p, PASSWORD_ARGON2I, $small),
	    $verify],
	'argon2id' => ['symfony', fn($p) => password_hash($p,
	    PASSWORD_ARGON2ID, $lanes), $verify],
	'wp' => ['', fn($p) => '$wp' . password_hash(wordpress($p),
	    PASSWORD_BCRYPT, $low),
	    fn($made, $p) => password_verify(wordpress($p), substr($made, 3))],
	'wp md5' => ['wordpress', fn($p) => md5(trim($p)),
	    fn($made, $p) => md5(trim($p)) === $made],
	'phpass' => ['phpass', fn($p) => rounds('md5', '$P$', 7, $p),
	    fn($made, $p) => again('md5', $made, $p)],
	'drupal' => ['drupal', fn($p) => substr(rounds('sha512', '$S$', 7, $p),
	    0, 55), fn($made, $p) => again('sha512', $made, $p)],
	'drupal U' => ['', fn($p) => 'U' . substr(rounds('sha512', '$S$', 7,
	    md5($p)), 0, 55),
	    fn($made, $p) => again('sha512', substr($made, 1), md5($p))],
	'magento 0' => ['magento', fn($p) => md5("$salt$p") . ":$salt:0",
	    fn($made, $p) => md5("$salt$p") . ":$salt:0" === $made],
	'magento 1' => ['magento', fn($p) => hash('sha256', "$salt$p") .
	    ":$salt:1",
	    fn($made, $p) => hash('sha256', "$salt$p") . ":$salt:1" === $made],
	'magento 0:1' => ['magento', fn($p) => hash('sha256', $salt .
	    md5("$salt$p")) . ":$salt:0:1", fn($made, $p) => hash('sha256',
	    $salt . md5("$salt$p")) . ":$salt:0:1" === $made],
	'magento 1:3' => ['magento', fn($p) => sodium(hash('sha256',
	    "$salt$p"), $salt, 32, 1, 8192) . ":$salt:1:3_32_1_8192",
	    fn($made, $p) => sodium(hash('sha256', "$salt$p"), $salt, 32, 1,
	    8192) . ":$salt:1:3_32_1_8192" === $made],
	'prestashop' => ['prestashop', fn($p) => md5("key$salt$p") .
	    ":key$salt", fn($made, $p) => md5("key$salt$p") .
	    ":key$salt" === $made],
	'opencart' => ['opencart', fn($p) => opencart('a1b2c3d4e', $p) .
	    ':a1b2c3d4e', fn($made, $p) => opencart('a1b2c3d4e', $p) .
	    ':a1b2c3d4e' === $made],
	'opencart html' => ['opencart', fn($p) => opencart('a1b2c3d4e',
	    htmlspecialchars($p, ENT_COMPAT)) . ':a1b2c3d4e',
	    fn($made, $p) => opencart('a1b2c3d4e', htmlspecialchars($p,
	    ENT_COMPAT)) . ':a1b2c3d4e' === $made],
];

function password(int $i): string
{
	static $chars = ['a', 'Z', '7', ' ', '<', '&', '"', "'", '%', 'é', 'ß',
	    '京', '🔑'];
	$n = [71, 72, 73, 1, 8, 20, 100][$i % 7];
	$p = '';
	while (strlen($p) < $n) {
		$c = $chars[mt_rand(0, count($chars) - 1)];
		$p .= strlen($p) + strlen($c) > $n ? 'x' : $c;
	}
	if ($i % 11 === 10)
		$p[mt_rand(0, $n - 1)] = "\0";
	return $p;
}

function row(string $kind, string $made, string $p, bool $fits): void
{
	echo "$kind\t", bin2hex($made), "\t", bin2hex($p), "\t", (int)$fits,
	    "\n";
}

$names = array_keys($forms);
for ($i = 0; $i < 500; $i++) {
	$name = $names[intdiv($i, 7) % count($names)];
	[$kind, $make, $fits] = $forms[$name];
	$p = password($i);
	// PHP makes no bcrypt of a NUL, and checks only what is before it; we
	// do not.
	if ($name === 'bcrypt')
		$p = str_replace("\0", '0', $p);
	// OpenCart hashes nothing at all where a text is no UTF-8.
	if ($name === 'opencart html' && !preg_match('//u', $p))
		$p = "no NUL, but < & > \" and '";
	if (trim($p) === '')
		$p = 'x';
	$made = $make($p);
	$last = $p;
	$last[strlen($p) - 1] = $last[strlen($p) - 1] === 'y' ? 'z' : 'y';
	foreach ([$p, $last, substr($p, 0, 72), "{$p}0", " $p", "q$p"] as $try)
		row($kind, $made, $try, $fits($made, $try));
}
