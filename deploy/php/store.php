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

final class PoppyStore extends SessionHandler
    implements SessionUpdateTimestampHandlerInterface
{
	public function __construct(private readonly string $own,
	    private readonly ?PoppyAdapter $adapter)
	{
	}

	/* For session_regenerate_id(): the id is as new as the sign-in, and
	 * nobody can have given it to this browser. */
	public function create_sid(): string
	{
		return $this->own;
	}

	public function validateId(string $id): bool
	{
		return $id === $this->own;
	}

	/* Between read and write the PHP session is locked, so what the adapter
	 * does belongs to one page alone. */
	public function read(string $id): string|false
	{
		if (($data = parent::read($id)) === false)
			return false;
		/* What somebody else has written there is nothing. */
		$data = base64_decode($data, true) ?: '';
		return $this->adapter === null ? $data :
		    $this->adapter->load($data);
	}

	public function write(string $id, string $data): bool
	{
		$this->adapter?->store();
		return parent::write($id, base64_encode($data));
	}

	public function updateTimestamp(string $id, string $data): bool
	{
		return $this->write($id, $data);
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
