<?php
/*
 * What a shop keeps in its PHP session, told by the operator: who is logged in,
 * and the cart. By it a Session is that customer to the shop, and has one cart
 * on pages and in the API, without a change to the shop's own code.
 *
 * "adapter" in bridge.ini names a file that returns these, each of which may be
 * left out; they read and change $_SESSION, throw if they can't, and never exit:
 *	'login' => fn (string $account): void
 *		the Session is signed in: be this customer
 *	'cart_load' => fn (array $lines, array $coupons): void
 *		the cart is this; a line has sku, options ('') and quantity
 *	'cart_store' => fn (): array
 *		[$lines, $coupons] as they are now
 */
declare(strict_types=1);

require_once __DIR__ . '/cart.php';

final class PoppyAdapter
{
	private const PARTS = ['login', 'cart_load', 'cart_store'];

	/* The cart as it was when the page began; null: it has not. */
	private ?array $lines = null;
	private array $coupons = [];

	private function __construct(private readonly PoppySession $session,
	    private readonly array $do)
	{
	}

	/** null: the operator has none. */
	public static function of(PoppySession $s): ?self
	{
		$file = PoppyBase::adapter();

		return $file === null ? null : new self($s, self::read($file));
	}

	private static function read(string $file): array
	{
		$do = is_readable($file) ?
		    (static fn () => require $file)() : null;

		if (!is_array($do))
			throw PoppyBase::broken("$file: the adapter can't be " .
			    'read, or returns no array.');
		foreach ($do as $name => $part)
			if (!in_array($name, self::PARTS, true) ||
			    !is_callable($part))
				throw PoppyBase::broken("$file: $name is none " .
				    'of ' . implode(', ', self::PARTS) .
				    ', or no function.');
		if (isset($do['cart_load']) !== isset($do['cart_store']))
			throw PoppyBase::broken("$file: cart_load and " .
			    'cart_store belong together.');
		return $do;
	}

	/** What the PHP session holds, with what the Session knows better. */
	public function load(string $data): string
	{
		if (ini_get('session.serialize_handler') !== 'php_serialize')
			throw PoppyBase::broken('With an adapter the shop ' .
			    'can\'t set session.serialize_handler.');
		$_SESSION = $data === '' ? [] : (unserialize($data) ?: []);
		if ($this->session->signedIn && isset($this->do['login']))
			($this->do['login'])($this->session->account);
		if (isset($this->do['cart_load'])) {
			[$lines, $this->coupons] =
			    PoppyCart::read($this->session->id);
			$this->lines = PoppyCart::byKey($lines);
			($this->do['cart_load'])($lines, $this->coupons);
		}
		$data = serialize($_SESSION);
		$_SESSION = [];
		return $data;
	}

	/** What the page did to the cart, added to what others did meanwhile. */
	public function store(): void
	{
		if ($this->lines === null)
			return;
		[$lines, $coupons] = ($this->do['cart_store'])();
		$lines = PoppyCart::byKey($lines);
		$change = PoppyCart::change($this->lines, $lines);
		$other = $coupons !== $this->coupons;
		if (($change !== [] || $other) &&
		    !PoppyCart::write($this->session->id, $change,
		    $other ? array_values($coupons) : null))
			throw PoppyBase::broken('The cart is too large, or the ' .
			    'Session has ended meanwhile.');
		$this->lines = $lines;
		$this->coupons = $coupons;
	}
}
