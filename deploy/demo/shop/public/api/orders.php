<?php
// GET /api/orders.php: the customer's orders, the newest first.
declare(strict_types=1);
require __DIR__ . '/../../lib/api.php';

need_get();
answer(200, ['orders' => array_map(fn ($o) => ['number' => $o['id'],
    'placed_on' => substr($o['placed_at'], 0, 10), 'status' => $o['status'],
    'total' => $o['total'], 'currency' => $o['currency'],
    'tracking' => $o['tracking']],
    rows('SELECT id, placed_at, status, total, currency, tracking ' .
    'FROM sales_order WHERE customer_id = ? ORDER BY placed_at DESC LIMIT 50',
    [need_account()]))]);
