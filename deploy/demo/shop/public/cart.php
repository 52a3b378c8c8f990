<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$sku = param($_POST, 'sku', 40);
	$quantity = (int)param($_POST, 'quantity', 4);
	switch (param($_POST, 'do')) {
	case 'add':
		$why = cart_add($sku, $quantity);
		notice($why ?? 'In your basket.', $why === null);
		break;
	case 'set':
		cart_set($sku, $quantity);
		break;
	case 'remove':
		cart_set($sku, 0);
		break;
	case 'coupon':
		$cart = cart_read();
		$c = coupon_check(param($_POST, 'code', 30), $cart['subtotal']);
		if (is_array($c))
			$_SESSION['coupon'] = $c['code'];
		notice(is_array($c) ? $c['label'] : $c, is_array($c));
		break;
	case 'nocoupon':
		unset($_SESSION['coupon']);
		break;
	}
	redirect('/cart.php');
}

$cart = cart_read();
page_head('Basket');
?>
<header class="intro"><h1>Basket</h1></header>
<?php if (!$cart['lines']): ?>
<p class="words">There is nothing in it yet.
<a href="/category.php?c=table">Begin at the table?</a></p>
<?php page_foot(); exit; endif ?>
<div class="cart">
<ul class="lines">
<?php foreach ($cart['lines'] as $l): ?>
<li><a href="/product.php?p=<?= e(rawurlencode($l['slug'])) ?>&amp;v=<?=
  e(rawurlencode($l['sku'])) ?>"><?= picture($l) ?></a>
 <div><a class="name" href="/product.php?p=<?= e(rawurlencode($l['slug']))
   ?>&amp;v=<?= e(rawurlencode($l['sku'])) ?>"><?= e($l['name']) ?></a>
  <p><?= e(options_text($l)) ?> · <?= e(money($l['amount'])) ?></p>
<?php if ($l['short']): ?>
  <p class="stock out">Only <?= e($l['stock']) ?> in stock</p>
<?php endif ?>
  <form method="post" action="/cart.php"><?= csrf() ?>
   <input type="hidden" name="sku" value="<?= e($l['sku']) ?>">
   <input class="count" type="number" name="quantity" min="0" max="<?=
     CART_PIECES ?>" value="<?= e($l['quantity']) ?>" aria-label="Quantity">
   <button class="link" name="do" value="set">Update</button>
   <button class="link" name="do" value="remove">Remove</button></form></div>
 <b><?= e(money($l['sum'])) ?></b></li>
<?php endforeach ?>
</ul>
<aside class="sum">
 <?= totals_html($cart) ?>
<?php if ($cart['coupon']): ?>
 <form method="post" action="/cart.php"><?= csrf() ?>
  <p>Code <?= e($cart['coupon']['code']) ?>
  <button class="link" name="do" value="nocoupon">Remove</button></p></form>
<?php else: ?>
 <form class="coupon" method="post" action="/cart.php"><?= csrf() ?>
  <input name="code" maxlength="30" placeholder="Coupon code"
   aria-label="Coupon code"><button class="quiet" name="do"
   value="coupon">Apply</button></form>
<?php endif ?>
<?php if (may_log_in()): ?>
 <a class="button wide" href="/checkout.php">Check out</a>
<?php else: ?>
 <p>People pay, in a browser of their own.</p>
<?php endif ?>
</aside>
</div>
<?php page_foot();
