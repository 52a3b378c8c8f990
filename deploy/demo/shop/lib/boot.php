<?php
// Every page begins here: errors, output rules, the database, the session.
declare(strict_types=1);

error_reporting(E_ALL);
ini_set('display_errors', '0');

require __DIR__ . '/view.php';
require __DIR__ . '/db.php';
require __DIR__ . '/session.php';
require __DIR__ . '/catalog.php';
require __DIR__ . '/cart.php';
require __DIR__ . '/password.php';
require __DIR__ . '/customer.php';
require __DIR__ . '/agents.php';

// The database may be away for a moment: say so, and say it with a status
// that neither browsers nor search engines keep.
set_exception_handler(function (Throwable $e): void {
	error_log('shop: ' . get_class($e) . ': ' . $e->getMessage() .
	    ' at ' . $e->getFile() . ':' . $e->getLine());
	$away = $e instanceof PDOException || $e instanceof PoppyException;
	if (!headers_sent()) {
		http_response_code($away ? 503 : 500);
		header('Retry-After: 10');
		header('Cache-Control: no-store');
	}
	if (defined('SHOP_API')) {
		echo json_encode(['error' => $away ? 'unavailable' : 'internal']);
		return;
	}
	plain_page($away ? 'We are stocking the shelves' : 'Something broke',
	    $away ? 'The shop is closed for a moment. Please try again shortly.'
	    : 'That was our fault. Please try again.');
});

header('X-Content-Type-Options: nosniff');
header('Referrer-Policy: same-origin');
header("Content-Security-Policy: default-src 'none'; img-src 'self'; " .
    "style-src 'self'; form-action 'self'; frame-ancestors 'none'; " .
    "base-uri 'none'");

// Where the shop is reached, from its settings and never from a request.
function shop_url(string $path = ''): string
{
	return rtrim(getenv('SHOP_URL') ?: 'https://localhost', '/') . $path;
}

// One text parameter, cut to what a field may hold; arrays count as absent.
function param(array $from, string $name, int $max = 200): string
{
	$v = $from[$name] ?? '';
	if (!is_string($v) || !preg_match('//u', $v))
		return '';
	$v = preg_replace('/[\x00-\x08\x0b-\x1f\x7f]/', '', $v);
	return trim(iconv_substr($v, 0, $max, 'UTF-8'));
}

function redirect(string $to): never
{
	header('Location: ' . $to, true, 303);
	exit;
}

function need_post(): void
{
	if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
		header('Allow: POST');
		fail_page(405, 'This page takes forms only.');
	}
	check_csrf();
}
