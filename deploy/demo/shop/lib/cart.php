<?php
// The cart lives in the PHP session as sku => quantity, for guests and
// customers alike. What it costs is read from the database each time.
declare(strict_types=1);

const CART_LINES = 40;
const CART_PIECES = 20;

function cart_count(): int
{
	return array_sum($_SESSION['cart']);
}

function cart_add(string $sku, int $quantity): ?string
{
	$v = variant($sku);
	if ($v === null)
		return 'We do not sell that article.';
	$now = ($_SESSION['cart'][$sku] ?? 0) + $quantity;
	if ($quantity < 1 || $now > CART_PIECES)
		return 'Up to ' . CART_PIECES . ' pieces of an article, please.';
	if ($now > $v['stock'])
		return $v['stock'] ? "Only {$v['stock']} of this article left."
		    : 'This article is out of stock.';
	if (!isset($_SESSION['cart'][$sku]) &&
	    count($_SESSION['cart']) >= CART_LINES)
		return 'The basket is full.';
	$_SESSION['cart'][$sku] = $now;
	return null;
}

function cart_set(string $sku, int $quantity): void
{
	if (!isset($_SESSION['cart'][$sku]))
		return;
	if ($quantity < 1)
		unset($_SESSION['cart'][$sku]);
	else
		$_SESSION['cart'][$sku] = min($quantity, CART_PIECES);
}

// The coupon's row if it may be used for $subtotal today, else why not.
function coupon_check(string $code, string $subtotal): array|string
{
	$c = row('SELECT *, starts_on > current_date AS early, ' .
	    'ends_on < current_date AS late, uses >= max_uses AS used, ' .
	    'min_total > ?::numeric AS small FROM coupon WHERE code = ?',
	    [$subtotal, strtoupper($code)]);
	return match (true) {
	$c === null => 'We do not know this code.',
	$c['early'] => 'This code is not valid yet.',
	$c['late'] => 'This code has expired.',
	$c['used'] === true => 'This code has been used up.',
	$c['currency'] !== null && $c['currency'] !== currency() =>
	    "This code holds for orders in {$c['currency']}.",
	$c['small'] => "This code holds from {$c['min_total']}.",
	default => $c,
	};
}

// Lines and exact sums. Money is text from numeric columns, added as whole
// cents or by PostgreSQL, never in floating point.
function cart_read(): array
{
	$lines = [];
	foreach ($_SESSION['cart'] as $sku => $quantity) {
		$v = variant((string)$sku);
		if ($v === null) {
			unset($_SESSION['cart'][$sku]);
			continue;
		}
		$lines[] = $v + ['quantity' => $quantity,
		    'short' => $quantity > $v['stock'],
		    'sum' => money_mul($v['amount'], $quantity)];
	}
	$subtotal = money_add(array_column($lines, 'sum'));
	$coupon = null;
	if (isset($_SESSION['coupon'])) {
		$coupon = coupon_check($_SESSION['coupon'], $subtotal);
		if (is_string($coupon)) {
			notice($coupon, false);
			unset($_SESSION['coupon']);
			$coupon = null;
		}
	}
	return ['lines' => $lines, 'coupon' => $coupon] +
	    totals($subtotal, $coupon, $lines !== []);
}

function totals(string $subtotal, ?array $coupon, bool $any): array
{
	return row(<<<'SQL'
WITH d AS (
	SELECT ?::numeric(10,2) AS subtotal, ?::numeric AS percent,
	    ?::numeric AS amount
), r AS (
	SELECT subtotal, least(subtotal, coalesce(amount,
	    round(subtotal * percent / 100, 2), 0))::numeric(10,2) AS discount
	FROM d
), s AS (
	SELECT r.*, CASE WHEN NOT ?::boolean OR
	    r.subtotal - r.discount >= h.free_from THEN 0.00 ELSE h.cost END
	    ::numeric(10,2) AS shipping, h.free_from
	FROM r, shipping h WHERE h.currency = ?
)
SELECT subtotal, discount, shipping, free_from,
    (subtotal - discount + shipping)::numeric(10,2) AS total,
    round((subtotal - discount + shipping) * 20 / 120, 2) AS tax
FROM s
SQL, [$subtotal, $coupon['percent'] ?? null, $coupon['amount'] ?? null,
	    $any, currency()]);
}

// Amounts have two decimals and fit 64 bits as cents.
function cents(string $amount): int
{
	[$whole, $part] = explode('.', $amount . '.00');
	return (int)$whole * 100 + (int)str_pad(substr($part, 0, 2), 2, '0');
}

function from_cents(int $c): string
{
	return intdiv($c, 100) . '.' . str_pad((string)($c % 100), 2, '0',
	    STR_PAD_LEFT);
}

function money_mul(string $amount, int $n): string
{
	return from_cents(cents($amount) * $n);
}

function money_add(array $amounts): string
{
	return from_cents(array_sum(array_map('cents', $amounts)));
}
