<?php
/*
 * Symfony: an authenticator for the browsers of agents. In security.yaml
 *
 *	firewalls:
 *	    main:
 *		custom_authenticators: [App\Security\PoppyAuthenticator]
 *
 * as the first of the firewall. The user provider is asked for the account, which
 * is what the view poppy_shop.customer has as id. Each scope is a role, such as
 * ROLE_POPPY_READ for poppy:read, which access_control and controllers can ask
 * for; a customer's own browser has none of them.
 */
declare(strict_types=1);

namespace App\Security;

use Poppy;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Security\Core\Authentication\Token\TokenInterface;
use Symfony\Component\Security\Core\Exception\AuthenticationException;
use Symfony\Component\Security\Http\Authenticator\AbstractAuthenticator;
use Symfony\Component\Security\Http\Authenticator\Passport\Badge\UserBadge;
use Symfony\Component\Security\Http\Authenticator\Passport\Passport;
use Symfony\Component\Security\Http\Authenticator\Passport\SelfValidatingPassport;
use Symfony\Component\Security\Http\Authenticator\Token\PostAuthenticationToken;

final class PoppyAuthenticator extends AbstractAuthenticator
{
	public function supports(Request $request): ?bool
	{
		$s = Poppy::session();

		return $s !== null && $s->signedIn;
	}

	public function authenticate(Request $request): Passport
	{
		return new SelfValidatingPassport(
		    new UserBadge(Poppy::session()->account));
	}

	public function createToken(Passport $passport, string $firewall):
	    TokenInterface
	{
		$user = $passport->getUser();
		$scopes = array_map(fn (string $s): string => 'ROLE_' .
		    strtoupper(preg_replace('/[^A-Za-z0-9]/', '_', $s)),
		    Poppy::session()->scopes);

		return new PostAuthenticationToken($user, $firewall,
		    array_merge($user->getRoles(), $scopes));
	}

	/* Symfony before 6 asks by this name. */
	public function createAuthenticatedToken($passport, string $firewall):
	    TokenInterface
	{
		return $this->createToken($passport, $firewall);
	}

	public function onAuthenticationSuccess(Request $request,
	    TokenInterface $token, string $firewall): ?Response
	{
		return null;		/* on to the page */
	}

	public function onAuthenticationFailure(Request $request,
	    AuthenticationException $e): ?Response
	{
		return new Response('This account can\'t be used here.', 403);
	}
}
