<?php
// For managers: orders to pack and shelves that run empty.
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
require __DIR__ . '/../lib/order.php';
session_begin();
people_only();

const NEXT = ['placed' => 'packed', 'packed' => 'sent'];

$who = need_customer();
if ($who['role'] !== 'manager')
	fail_page(403, 'The loft is for those who work in it.');

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$from = param($_POST, 'from');
	if (isset(NEXT[$from]))
		query('UPDATE sales_order SET status = ?, updated_at = now() ' .
		    'WHERE id = ? AND status = ?',
		    [NEXT[$from], (int)param($_POST, 'id', 10), $from]);
	redirect('/loft.php');
}

page_head('The loft');
?>
<header class="intro"><h1>The loft</h1></header>
<h2>To pack and send</h2>
<table class="list"><thead><tr><th>Order</th><th>To</th><th>Total</th>
<th>State</th><th></th></tr></thead><tbody>
<?php foreach (rows("SELECT id, ship_name, ship_city, total, currency, status
    FROM sales_order WHERE status IN ('placed', 'packed')
    ORDER BY placed_at LIMIT 50") as $o): ?>
<tr><td><?= e($o['id']) ?></td><td><?= e($o['ship_name']) ?>, <?=
  e($o['ship_city']) ?></td><td><?= e(money($o['total'], $o['currency'])) ?></td>
<td><?= e(STATUS[$o['status']]) ?></td>
<td><form method="post" action="/loft.php"><?= csrf() ?>
 <input type="hidden" name="id" value="<?= e($o['id']) ?>">
 <button class="link" name="from" value="<?= e($o['status']) ?>">Mark as <?=
   e(NEXT[$o['status']]) ?></button></form></td></tr>
<?php endforeach ?></tbody></table>
<h2>Nearly gone</h2>
<table class="list"><tbody>
<?php foreach (rows('SELECT v.sku, p.name, v.stock, v.restock_on
    FROM variant v JOIN product p ON p.id = v.product_id WHERE v.stock <= 3
    ORDER BY v.stock, v.sku LIMIT 50') as $v): ?>
<tr><td><?= e($v['sku']) ?></td><td><?= e($v['name']) ?></td><td><?=
  e($v['stock']) ?></td><td><?= e($v['restock_on']) ?></td></tr>
<?php endforeach ?></tbody></table>
<?php page_foot();
