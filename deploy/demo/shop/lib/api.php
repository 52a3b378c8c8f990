<?php
// What the API's answers share: JSON, GET only, one article by its SKU.
declare(strict_types=1);

define('SHOP_API', true);
require __DIR__ . '/boot.php';

header('Content-Type: application/json');
header('Cache-Control: no-store');

function answer(int $status, array $body): never
{
	http_response_code($status);
	echo json_encode($body, JSON_UNESCAPED_SLASHES |
	    JSON_UNESCAPED_UNICODE), "\n";
	exit;
}

function need_get(): void
{
	if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD'], true)) {
		header('Allow: GET, HEAD');
		answer(405, ['error' => 'method_not_allowed']);
	}
}

function need_sku(): array
{
	$sku = param($_GET, 'sku', 40);
	if (!preg_match('/^[A-Z0-9-]{4,40}$/D', $sku))
		answer(400, ['error' => 'invalid_sku',
		    'message' => 'sku must be an article number']);
	$v = row('SELECT v.id, v.sku, v.stock, v.restock_on, v.size, ' .
	    'c.name AS colour, p.name, p.slug FROM variant v ' .
	    'JOIN product p ON p.id = v.product_id AND p.active ' .
	    'JOIN colour c ON c.code = v.colour WHERE v.sku = ?', [$sku]);
	if ($v === null)
		answer(404, ['error' => 'unknown_sku']);
	return $v;
}

// The customer whose account the agent may use. The guard's rules let nobody
// else get here, and without a guard nobody is named.
function need_account(): int
{
	$id = rawurldecode($_SERVER['POPPY_ACCOUNT'] ?? '');
	$c = ctype_digit($id) ? value('SELECT id FROM customer ' .
	    'WHERE id = ? AND active', [(int)$id]) : null;
	if ($c === null)
		answer(403, ['error' => 'sign_in_required']);
	return $c;
}
