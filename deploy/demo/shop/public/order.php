<?php
// One order: its customer's, or a guest's in the session that placed it.
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
require __DIR__ . '/../lib/order.php';
session_begin();

$n = (int)param($_GET, 'n', 10);
$who = customer();
$o = row('SELECT * FROM sales_order WHERE id = ?', [$n]);
$mine = $o && ($o['customer_id'] === null ?
    in_array($n, $_SESSION['placed'] ?? [], true) :
    $o['customer_id'] === ($who['id'] ?? null));
if (!$mine && !$who)
	need_customer();
if (!$mine)
	fail_page(404, 'You have no order with this number.');

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$ok = $who && order_cancel($n, $who['id']);
	notice($ok ? 'The order is cancelled.' :
	    'It is packed already. Please write to us.', $ok);
	redirect("/order.php?n=$n");
}

page_head("Order $n");
?>
<header class="intro"><h1><?= param($_GET, 'thanks') ?
  'Thank you. It is as good as packed.' : 'Order ' . $n ?></h1>
<p>Order <?= $n ?>, placed <?= e(date('j F Y',
  strtotime($o['placed_at']))) ?> · <b><?= e(STATUS[$o['status']]) ?></b><?=
  $o['tracking'] ? ' · parcel ' . e($o['tracking']) : '' ?></p></header>
<div class="cart">
<ul class="lines">
<?php foreach (order_lines($n) as $l): ?>
<li><a href="/product.php?p=<?= e(rawurlencode($l['slug'])) ?>&amp;v=<?=
  e(rawurlencode($l['sku'])) ?>"><?= picture($l) ?></a>
 <div><span class="name"><?= e($l['name']) ?></span>
  <p><?= e($l['options']) ?> · <?= e($l['quantity']) ?> × <?=
   e(money($l['unit_price'], $o['currency'])) ?></p></div>
 <b><?= e(money(from_cents(cents($l['unit_price']) * $l['quantity']),
   $o['currency'])) ?></b></li>
<?php endforeach ?>
</ul>
<aside class="sum">
 <?= totals_html($o, $o['currency']) ?>
 <h3>Goes to</h3><?= address_html($o, 'ship_') ?>
<?php if ($o['status'] === 'placed' && $o['customer_id'] !== null): ?>
 <form method="post" action="/order.php?n=<?= $n ?>"><?= csrf() ?>
  <button class="quiet wide">Cancel this order</button></form>
<?php endif ?>
</aside></div>
<?php page_foot();
