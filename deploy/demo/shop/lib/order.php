<?php
// From a cart to an order and back.
declare(strict_types=1);

const STATUS = ['placed' => 'Received', 'packed' => 'Being packed',
    'sent' => 'On its way', 'cancelled' => 'Cancelled'];

class Refused extends Exception {}

// Takes the pieces off the shelf; rows are locked in one order, so that two
// checkouts with the same articles wait for each other and never deadlock.
function take_stock(array $lines): void
{
	usort($lines, fn ($a, $b) => $a['id'] <=> $b['id']);
	foreach ($lines as $l) {
		$ok = query('UPDATE variant SET stock = stock - ? ' .
		    'WHERE id = ? AND stock >= ?',
		    [$l['quantity'], $l['id'], $l['quantity']])->rowCount();
		if (!$ok)
			throw new Refused("{$l['name']}: somebody was faster. " .
			    'Please look at your basket again.');
	}
}

function take_coupon(?array $coupon): void
{
	if ($coupon === null)
		return;
	$ok = query('UPDATE coupon SET uses = uses + 1 WHERE code = ? AND ' .
	    '(max_uses IS NULL OR uses < max_uses)',
	    [$coupon['code']])->rowCount();
	if (!$ok)
		throw new Refused('The code has just been used up.');
}

// The order's id; the same key gives the same order again.
function order_place(array $cart, array $to, string $email, ?int $customer,
    string $note, string $key): int
{
	return transaction(function () use ($cart, $to, $email, $customer,
	    $note, $key) {
		query('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))',
		    [$key]);
		$old = value('SELECT id FROM sales_order WHERE checkout_key = ?',
		    [$key]);
		if ($old !== null)
			return $old;
		take_stock($cart['lines']);
		take_coupon($cart['coupon']);
		return order_write($cart, $to, $email, $customer, $note, $key);
	});
}

function order_write(array $cart, array $to, string $email, ?int $customer,
    string $note, string $key): int
{
	$id = value('INSERT INTO sales_order (customer_id, email, currency, ' .
	    'subtotal, discount, shipping, total, tax, coupon_code, ' .
	    'checkout_key, ship_name, ship_street, ship_extra, ship_postcode, ' .
	    'ship_city, ship_country, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ' .
	    '?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id',
	    [$customer, $email, currency(), $cart['subtotal'],
	    $cart['discount'], $cart['shipping'], $cart['total'],
	    $cart['tax'], $cart['coupon']['code'] ?? null, $key, $to['name'],
	    $to['street'], $to['extra'], $to['postcode'], $to['city'],
	    $to['country'], $note]);
	foreach ($cart['lines'] as $i => $l)
		query('INSERT INTO order_line VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
		    [$id, $i + 1, $l['id'], $l['sku'], $l['name'],
		    options_text($l), $l['quantity'], $l['amount']]);
	return $id;
}

// An order may be taken back until it is packed; the pieces return.
function order_cancel(int $order, int $customer): bool
{
	return transaction(function () use ($order, $customer) {
		$n = query("UPDATE sales_order SET status = 'cancelled', " .
		    "updated_at = now() WHERE id = ? AND customer_id = ? " .
		    "AND status = 'placed'", [$order, $customer])->rowCount();
		if (!$n)
			return false;
		query('SELECT id FROM variant WHERE id IN (SELECT variant_id ' .
		    'FROM order_line WHERE order_id = ?) ORDER BY id FOR UPDATE',
		    [$order]);
		query('UPDATE variant v SET stock = v.stock + ' .
		    'l.quantity FROM order_line l WHERE l.order_id = ? ' .
		    'AND l.variant_id = v.id', [$order]);
		return true;
	});
}

function order_lines(int $order): array
{
	return rows('SELECT l.*, p.slug, p.shape, p.pattern, c.hex ' .
	    'FROM order_line l JOIN variant v ON v.id = l.variant_id ' .
	    'JOIN product p ON p.id = v.product_id ' .
	    'JOIN colour c ON c.code = v.colour ' .
	    'WHERE l.order_id = ? ORDER BY l.line', [$order]);
}
