<?php
/*
 * The cart of a Session, as the database keeps it for pages and API alike. A
 * change says what is added and what is taken away, so that two at once both
 * count.
 */
declare(strict_types=1);

final class PoppyCart
{
	/** [lines, coupons]; a line has sku, options and quantity. */
	public static function read(string $session): array
	{
		$cart = PoppyBase::ask('cart_read(?::text)', [$session]);

		return [$cart['lines'], $cart['coupons']];
	}

	/** false: something of it is over the limits, and nothing was done. */
	public static function write(string $session, array $change,
	    ?array $coupons): bool
	{
		$answer = PoppyBase::ask('cart_change(?::text, ?::jsonb, ?::jsonb)',
		    [$session, self::json($change),
		    $coupons === null ? null : self::json($coupons)]);

		return $answer['outcome'] === 'ok';
	}

	/** Lines by what they are, so that two carts can be compared. */
	public static function byKey(array $lines): array
	{
		$by = [];
		foreach ($lines as $l) {
			$line = ['sku' => (string)$l['sku'],
			    'options' => (string)($l['options'] ?? ''),
			    'quantity' => (int)$l['quantity']];
			$key = $line['sku'] . "\0" . $line['options'];
			$line['quantity'] += $by[$key]['quantity'] ?? 0;
			$by[$key] = $line;
		}
		return $by;
	}

	/** What leads from one to the other. */
	public static function change(array $from, array $to): array
	{
		$change = [];
		foreach ($from as $key => $l)
			if (($to[$key]['quantity'] ?? 0) < 1)
				$change[] = ['sku' => $l['sku'],
				    'options' => $l['options'], 'remove' => true];
		foreach ($to as $key => $l) {
			$more = $l['quantity'] - ($from[$key]['quantity'] ?? 0);
			if ($l['quantity'] > 0 && $more !== 0)
				$change[] = ['sku' => $l['sku'],
				    'options' => $l['options'], 'delta' => $more];
		}
		return $change;
	}

	private static function json(array $value): string
	{
		return json_encode($value, JSON_THROW_ON_ERROR |
		    JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
	}
}
