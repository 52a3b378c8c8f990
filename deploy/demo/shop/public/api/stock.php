<?php
// GET /api/stock.php?sku=: how many there are and what one costs.
declare(strict_types=1);
require __DIR__ . '/../../lib/api.php';

need_get();
$v = need_sku();
answer(200, [
	'sku' => $v['sku'],
	'name' => $v['name'],
	'colour' => $v['colour'],
	'size' => $v['size'],
	'stock' => $v['stock'],
	'in_stock' => $v['stock'] > 0,
	'restock_on' => $v['restock_on'],
	'price' => rows('SELECT amount, currency, was FROM price ' .
	    'WHERE variant_id = ? ORDER BY currency', [$v['id']]),
	'url' => shop_url('/product.php?p=' . $v['slug'] . '&v=' . $v['sku']),
]);
