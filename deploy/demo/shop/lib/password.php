<?php
// Passwords: made as PHP does now, and recognized as the shops did them that
// this one grew out of.
declare(strict_types=1);

const PASSWORD_MIN = 10;

function password_make(string $password): string
{
	return password_hash($password, defined('PASSWORD_ARGON2ID') ?
	    PASSWORD_ARGON2ID : PASSWORD_BCRYPT);
}

// What is wrong with a new password, or null.
function password_problem(string $new, string $again): ?string
{
	return match (true) {
	strlen($new) < PASSWORD_MIN =>
	    'A password has at least ' . PASSWORD_MIN . ' characters.',
	strlen($new) > 72 => 'A password has up to 72 bytes.',
	$new !== $again => 'The two passwords differ.',
	default => null,
	};
}

function password_fits(string $password, string $hash): bool
{
	if (str_starts_with($hash, '$wp$'))
		return password_verify(wordpress($password), substr($hash, 3));
	if (str_starts_with($hash, '$P$'))
		return hash_equals($hash, phpass($password, $hash));
	return password_verify($password, $hash);
}

// What WordPress hands to bcrypt, since 6.8.
function wordpress(string $password): string
{
	return base64_encode(hash_hmac('sha384', trim($password), 'wp-sha384',
	    true));
}

// Older ones: $setting is '$P$', how often, and eight characters of salt.
function phpass(string $password, string $setting): string
{
	$digits = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ' .
	    'abcdefghijklmnopqrstuvwxyz';
	$times = strpos($digits, $setting[3] ?? '.');
	$h = md5(substr($setting, 4, 8) . $password, true);
	for ($n = 1 << min($times, 20); $n > 0; $n--)
		$h = md5($h . $password, true);
	$out = substr($setting, 0, 12);
	// Three bytes are four digits, the lowest bits first.
	foreach (str_split($h, 3) as $three) {
		$bits = 0;
		foreach (str_split($three) as $i => $byte)
			$bits |= ord($byte) << 8 * $i;
		for ($i = 0; $i <= strlen($three); $i++)
			$out .= $digits[$bits >> 6 * $i & 63];
	}
	return $out;
}
