<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
require __DIR__ . '/../lib/order.php';
session_begin();

$who = need_customer();
$orders = rows('SELECT o.id, o.placed_at, o.status, o.total, o.currency, ' .
    'sum(l.quantity) AS pieces FROM sales_order o ' .
    'JOIN order_line l ON l.order_id = o.id WHERE o.customer_id = ? ' .
    'GROUP BY o.id ORDER BY o.placed_at DESC, o.id DESC LIMIT 100',
    [$who['id']]);

page_head('Your orders');
?>
<header class="intro"><h1>Your orders</h1></header>
<?php if (!$orders): ?><p class="words">You have not ordered yet.</p>
<?php else: ?>
<table class="list"><thead><tr><th>Order</th><th>Date</th><th>State</th>
<th>Pieces</th><th>Total</th></tr></thead><tbody>
<?php foreach ($orders as $o): ?>
<tr><td><a href="/order.php?n=<?= e($o['id']) ?>"><?= e($o['id']) ?></a></td>
<td><?= e(date('j M Y', strtotime($o['placed_at']))) ?></td>
<td><?= e(STATUS[$o['status']]) ?></td><td><?= e($o['pieces']) ?></td>
<td><?= e(money($o['total'], $o['currency'])) ?></td></tr>
<?php endforeach ?></tbody></table>
<?php endif;
page_foot();
