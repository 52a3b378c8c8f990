<?php
/*
 * Where the PHP session of a Session is kept: where the shop's own are, under
 * one id that does not change while the page runs. See visit.php.
 *
 * It is kept in letters that none of PHP's own formats can read: a page of a
 * visitor that was led to it, by an id that leaked or before our code ran, finds
 * nobody logged in, and no object in what an agent has typed.
 */
declare(strict_types=1);

final class PoppyStore implements SessionHandlerInterface, SessionIdInterface,
    SessionUpdateTimestampHandlerInterface
{
	/* Once something went wrong, nothing of the page is kept. */
	private bool $failed = false;

	public function __construct(private readonly string $own,
	    private readonly ?PoppyAdapter $adapter,
	    private readonly SessionHandlerInterface $inner)
	{
	}

	public function open(string $path, string $name): bool
	{
		return $this->inner->open($path, $name);
	}

	public function close(): bool
	{
		return $this->failed || $this->inner->close();
	}

	/* For session_regenerate_id(): the id is as new as the sign-in, and
	 * nobody can have given it to this browser. */
	public function create_sid(): string
	{
		return self::within('session_create_id') ?
		    bin2hex(random_bytes(32)) : $this->own;
	}

	public function validateId(string $id): bool
	{
		return $id === $this->own;
	}

	/* Between read and write the PHP session is locked, so what the adapter
	 * does belongs to one page alone. Whatever id the shop asks for, it gets
	 * no other's. */
	public function read(string $id): string|false
	{
		if (($data = $this->inner->read($this->own)) === false)
			return false;
		/* What somebody else has written there is nothing. */
		$data = base64_decode($data, true) ?: '';
		/* There PHP throws it away: the page goes on with what it has. */
		if ($this->adapter === null ||
		    self::within('session_regenerate_id'))
			return $data;
		return $this->careful(fn () => $this->adapter->load($data));
	}

	public function write(string $id, string $data): bool
	{
		if ($this->failed)
			return true;
		if ($this->adapter !== null)
			$this->careful(fn () => $this->adapter->store());
		return $this->inner->write($this->own, base64_encode($data));
	}

	public function updateTimestamp(string $id, string $data): bool
	{
		return $this->write($id, $data);
	}

	public function destroy(string $id): bool
	{
		return self::within('session_regenerate_id') ||
		    $this->inner->destroy($this->own);
	}

	public function gc(int $max_lifetime): int|false
	{
		return $this->inner->gc($max_lifetime);
	}

	private function careful(callable $do): mixed
	{
		try {
			return $do();
		} catch (Throwable $e) {
			/* PHP would not close, and so lock the next page out. */
			$this->inner->close();
			$this->failed = true;
			PoppyVisit::fail($e);
		}
	}

	/* Does PHP do this for that function? It does not say. */
	private static function within(string $function): bool
	{
		$calls = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 4);

		return in_array($function, array_column($calls, 'function'), true);
	}
}

/* Nowhere: for who has no Session. */
final class PoppyNoStore implements SessionHandlerInterface, SessionIdInterface,
    SessionUpdateTimestampHandlerInterface
{
	public function open(string $path, string $name): bool
	{
		return true;
	}

	public function close(): bool
	{
		return true;
	}

	public function read(string $id): string
	{
		return '';
	}

	public function write(string $id, string $data): bool
	{
		return true;
	}

	public function destroy(string $id): bool
	{
		return true;
	}

	public function gc(int $max_lifetime): int
	{
		return 0;
	}

	public function create_sid(): string
	{
		return 'poppy-' . bin2hex(random_bytes(32));
	}

	public function validateId(string $id): bool
	{
		return true;
	}

	public function updateTimestamp(string $id, string $data): bool
	{
		return true;
	}
}
