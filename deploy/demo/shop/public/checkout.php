<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
require __DIR__ . '/../lib/order.php';
session_begin();

$who = customer();
$saved = $who ? addresses($who['id']) : [];
$given = [];

// What the form says: the address, the e-mail address, and what is wrong.
function checkout_input(?array $who, array $saved): array
{
	$to = address_input();
	$pick = (int)param($_POST, 'address', 10);
	foreach ($saved as $a)
		if ($a['id'] === $pick)
			$to = $a + ['problem' => null];
	$to['email'] = $who['email'] ?? param($_POST, 'email', 120);
	if (!filter_var($to['email'], FILTER_VALIDATE_EMAIL))
		$to['problem'] ??= 'Please give us your e-mail address.';
	if (!preg_match('/^[0-9a-f]{32}$/D', param($_POST, 'key')))
		$to['problem'] ??= 'Please send the form again.';
	return $to;
}

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$given = checkout_input($who, $saved);
	$key = param($_POST, 'key');
	$mine = $_SESSION['placed'][$key] ?? null;
	if ($mine !== null)
		redirect("/order.php?n=$mine&thanks=1");
	$cart = cart_read();
	if (!$cart['lines'])
		redirect('/cart.php');
	try {
		if ($given['problem'] !== null)
			throw new Refused($given['problem']);
		$id = order_place($cart, $given, $given['email'],
		    $who['id'] ?? null, param($_POST, 'note', 400), $key);
		$_SESSION['placed'][$key] = $id;
		$_SESSION['cart'] = [];
		unset($_SESSION['coupon']);
		redirect("/order.php?n=$id&thanks=1");
	} catch (Refused $e) {
		notice($e->getMessage(), false);
	}
}

$cart = cart_read();
if (!$cart['lines'])
	redirect('/cart.php');
page_head('Check out');
?>
<header class="intro"><h1>Check out</h1>
<?php if (!$who): ?><p>As a guest, or <a
 href="/login.php?next=%2Fcheckout.php">log in</a> to use your addresses.</p>
<?php endif ?></header>
<form class="cart" method="post" action="/checkout.php">
<?= csrf() ?>
<input type="hidden" name="key" value="<?= bin2hex(random_bytes(16)) ?>">
<div class="form">
 <h2>Where to</h2>
<?php if (!$who): ?>
 <?= field('E-mail', 'email', $given['email'] ?? '',
   'type="email" required maxlength="120" autocomplete="email"') ?>
<?php endif ?>
<?php foreach ($saved as $i => $a): ?>
 <label class="choice"><input type="radio" name="address" value="<?=
   e($a['id']) ?>"<?= $i ? '' : ' checked' ?>> <?= address_html($a) ?></label>
<?php endforeach ?>
<?php if ($saved): ?>
 <p><a href="/addresses.php">Change your addresses</a></p>
<?php else: ?>
 <?= address_fields($given) ?>
<?php endif ?>
 <label>Note to the loft (optional)<textarea name="note" maxlength="400"
  rows="2"></textarea></label>
 <h2>How to pay</h2>
 <p class="choice">By invoice, within thirty days of arrival. It is in the
 parcel.</p>
</div>
<aside class="sum">
 <ul class="small"><?php foreach ($cart['lines'] as $l): ?>
  <li><?= picture($l) ?><span><?= e($l['quantity']) ?> × <?= e($l['name']) ?>
   <small><?= e(options_text($l)) ?></small></span><b><?=
   e(money($l['sum'])) ?></b></li>
<?php endforeach ?></ul>
 <?= totals_html($cart) ?>
 <button class="button wide">Order and pay</button>
</aside>
</form>
<?php page_foot();
