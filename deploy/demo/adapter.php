<?php
/*
 * The demo shop to the bridge: what it keeps in its PHP session (adapter.php of
 * deploy/php says what these are for). Who has an own shop begins here.
 */
declare(strict_types=1);

return [
	'login' => function (string $account): void {
		$_SESSION['customer'] = (int)$account;
	},

	'cart_load' => function (array $lines, array $coupons): void {
		$_SESSION['cart'] = array_column($lines, 'quantity', 'sku');
		$_SESSION['coupon'] = $coupons[0] ?? null;
	},

	'cart_store' => function (): array {
		$lines = [];
		foreach ($_SESSION['cart'] ?? [] as $sku => $quantity)
			$lines[] = ['sku' => (string)$sku, 'options' => '',
			    'quantity' => $quantity];
		return [$lines, isset($_SESSION['coupon']) ?
		    [$_SESSION['coupon']] : []];
	},
];
