<?php
// GET /api/reserved.php?sku=: pieces in orders that have not been sent yet.
declare(strict_types=1);
require __DIR__ . '/../../lib/api.php';

need_get();
$v = need_sku();
$n = value("SELECT coalesce(sum(l.quantity), 0) FROM order_line l " .
    "JOIN sales_order o ON o.id = l.order_id " .
    "WHERE l.variant_id = ? AND o.status IN ('placed', 'packed')", [$v['id']]);
answer(200, [
	'sku' => $v['sku'],
	'stock' => $v['stock'],
	'reserved' => (int)$n,
	'restock_on' => $v['restock_on'],
]);
