<?php
declare(strict_types=1);

const COUNTRIES = ['AT' => 'Austria', 'BE' => 'Belgium', 'DE' => 'Germany',
    'DK' => 'Denmark', 'ES' => 'Spain', 'FI' => 'Finland', 'FR' => 'France',
    'GB' => 'United Kingdom', 'IE' => 'Ireland', 'IT' => 'Italy',
    'NL' => 'Netherlands', 'PT' => 'Portugal', 'SE' => 'Sweden'];

const LOGIN_TRIES = 10;

// Who is logged in. An account that is closed meanwhile is out at once.
function customer(): ?array
{
	static $found = [];

	$id = $_SESSION['customer'] ?? 0;
	if (!array_key_exists($id, $found))
		$found[$id] = $id === 0 ? null : row('SELECT id, email, name, ' .
		    'phone, role FROM customer WHERE id = ? AND active', [$id]);
	if ($found[$id] === null)
		unset($_SESSION['customer']);
	return $found[$id];
}

function need_customer(): array
{
	$c = customer();
	if ($c === null)
		redirect('/login.php?next=' . rawurlencode(local_path(
		    $_SERVER['REQUEST_URI'])));
	return $c;
}

// A path on this shop, else $else: never a way to another host.
function local_path(string $path, string $else = '/'): string
{
	return preg_match('~^/([A-Za-z0-9_-]+\.php(\?[A-Za-z0-9=&_.%+-]*)?)?$~D',
	    $path) ? $path : $else;
}

// The customer's row, or why not. An unknown address costs a hash as well,
// so that the time taken doesn't tell which addresses have an account.
function login(string $email, string $password): array|string
{
	static $dummy =
	    '$2y$10$WbrjvW5ipbWUjEQEf2TYmesJpHGX2Yk.ARf6srlDz4GfzZ4ht6HKG';

	if (value("SELECT count(*) FROM login_failure WHERE email = lower(?) " .
	    "AND at > now() - interval '15 minutes'", [$email]) >= LOGIN_TRIES)
		return 'Too many attempts. Please wait a quarter of an hour.';
	$c = row('SELECT id, email, name, password, active FROM customer ' .
	    'WHERE lower(email) = lower(?)', [$email]);
	if (!password_fits($password, $c['password'] ?? $dummy) || !$c) {
		query('INSERT INTO login_failure VALUES (lower(?))', [$email]);
		return 'E-mail address or password is not right.';
	}
	if (!$c['active'])
		return 'This account is closed. Please write to us.';
	query('DELETE FROM login_failure WHERE email = lower(?)', [$email]);
	return $c;
}

const ADDRESS_FIELDS = ['name' => 120, 'street' => 120, 'extra' => 120,
    'postcode' => 12, 'city' => 80, 'country' => 2];

// The address of a form, with the first thing wrong with it in 'problem'.
function address_input(): array
{
	$a = [];
	foreach (ADDRESS_FIELDS as $f => $max)
		$a[$f] = param($_POST, $f, $max);
	$a['problem'] = null;
	foreach (['name', 'street', 'postcode', 'city'] as $f)
		if ($a[$f] === '')
			$a['problem'] ??= "Please fill in the field $f.";
	if (!isset(COUNTRIES[$a['country']]))
		$a['problem'] ??= 'We do not send to that country.';
	return $a;
}

function addresses(int $customer): array
{
	return rows('SELECT * FROM address WHERE customer_id = ? ' .
	    'ORDER BY is_default DESC, id', [$customer]);
}
