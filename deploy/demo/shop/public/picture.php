<?php
// A product picture. Needs no database: the same address is the same picture.
declare(strict_types=1);
require __DIR__ . '/../lib/draw.php';

$text = fn ($name) => is_string($_GET[$name] ?? null) ? $_GET[$name] : '';
$svg = draw($text('shape'), $text('colour'), $text('pattern') ?: 'plain');
header('X-Content-Type-Options: nosniff');
if ($svg === null) {
	http_response_code(404);
	header('Content-Type: text/plain');
	exit("no such picture\n");
}
$tag = '"' . substr(hash('sha256', $svg), 0, 24) . '"';
header('ETag: ' . $tag);
header('Cache-Control: public, max-age=86400');
if (($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === $tag) {
	http_response_code(304);
	exit;
}
header('Content-Type: image/svg+xml');
header("Content-Security-Policy: default-src 'none'");
echo $svg;
