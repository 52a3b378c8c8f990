<?php
/*
 * Laravel: a guard for the browsers of agents. In the boot() of a service
 * provider
 *
 *	Auth::viaRequest('poppy', require base_path('poppy/laravel.php'));
 *
 * in config/auth.php
 *
 *	'guards' => ['web' => [...], 'poppy' => ['driver' => 'poppy',
 *	    'provider' => 'users']],
 *
 * and auth:poppy,web on the routes, in this order. The provider is asked for the
 * account, which is what the view poppy_shop.customer has as id.
 */
declare(strict_types=1);

use Illuminate\Contracts\Auth\UserProvider;
use Illuminate\Http\Request;

return function (Request $request, ?UserProvider $users = null): mixed {
	$s = Poppy::session();

	return $s === null || !$s->signedIn ? null :
	    $users->retrieveById($s->account);
};
