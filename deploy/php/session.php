<?php
/*
 * A Session, as poppy-guard tells it to PHP: which agent asks, for which User,
 * and what the User lets it do with an account. See poppy.php.
 */
declare(strict_types=1);

final class PoppySession
{
	/**
	 * @param string $via "cookie" on a page, in the browser of an agent;
	 *	"proof" or "bearer" in a call of an API
	 * @param string $clientId the URL that names the agent; proved
	 * @param string $agent how it calls itself, or the host of $clientId
	 * @param string $user the same for one User of one agent, always
	 * @param ?string $account id of the customer, as the view
	 *	poppy_shop.customer has it; null if signed out
	 * @param list<string> $scopes what it may do there
	 * @param string $signIn changes with each sign-in; '' if signed out, and
	 *	in an API
	 */
	private function __construct(
		public readonly string $via,
		public readonly string $clientId,
		public readonly string $agent,
		public readonly string $id,
		public readonly string $user,
		public readonly bool $signedIn,
		public readonly ?string $account,
		public readonly array $scopes,
		public readonly string $signIn,
	) {
	}

	/** May it do with the account what this scope stands for? */
	public function may(string $scope): bool
	{
		return in_array($scope, $this->scopes, true);
	}

	/** What the guard's variables say; null without a Session. */
	public static function read(array $server): ?self
	{
		$text = fn (string $name): string =>
		    is_string($server["POPPY_$name"] ?? null) ?
		    $server["POPPY_$name"] : '';

		if ($text('SESSION') === '')
			return null;
		$in = $text('SIGNED_IN') === '1';
		$account = rawurldecode($text('ACCOUNT'));
		/* All of it or none: it would be somebody else's. */
		if ($in && $account === '')
			throw PoppyBase::broken('POPPY_ACCOUNT is missing.');
		if ($in && $text('VIA') === 'cookie' && $text('GRANT') === '')
			throw PoppyBase::broken('POPPY_GRANT is missing.');
		return new self($text('VIA'), $text('CLIENT_ID'),
		    rawurldecode($text('AGENT')) ?:
		    (string)parse_url($text('CLIENT_ID'), PHP_URL_HOST),
		    $text('SESSION'), $text('USER'), $in,
		    $in ? $account : null,
		    $in ? array_values(array_filter(explode(' ',
		    $text('SCOPE')), 'strlen')) : [],
		    $in ? $text('GRANT') : '');
	}
}
