<?php
declare(strict_types=1);

// A cookie that only this host, only HTTPS and no script can read.
function session_begin(): void
{
	if (session_status() === PHP_SESSION_ACTIVE)
		return;
	session_name('__Host-tidewell');
	session_set_cookie_params(['lifetime' => 0, 'path' => '/',
	    'secure' => true, 'httponly' => true, 'samesite' => 'Lax']);
	ini_set('session.use_strict_mode', '1');
	ini_set('session.use_only_cookies', '1');
	ini_set('session.gc_maxlifetime', '86400');
	session_cache_limiter('nocache');
	session_start();
	$_SESSION += ['cart' => [], 'csrf' => bin2hex(random_bytes(16))];
}

// Login changes what the id is worth, so the id changes.
function session_login(int $customer): void
{
	session_regenerate_id(true);
	$_SESSION['customer'] = $customer;
	$_SESSION['csrf'] = bin2hex(random_bytes(16));
}

function session_logout(): void
{
	$_SESSION = [];
	session_regenerate_id(true);
	$_SESSION = ['cart' => [], 'csrf' => bin2hex(random_bytes(16))];
}

function csrf(): string
{
	return '<input type="hidden" name="csrf" value="' .
	    e($_SESSION['csrf']) . '">';
}

function check_csrf(): void
{
	if (!hash_equals($_SESSION['csrf'], param($_POST, 'csrf')))
		fail_page(403, 'The form was out of date. Please go back, ' .
		    'reload the page and send it again.');
}

// A word for the next page, shown once.
function notice(string $text, bool $good = true): void
{
	$_SESSION['notice'] = [$text, $good];
}

function currency(): string
{
	return $_SESSION['currency'] ?? 'EUR';
}
