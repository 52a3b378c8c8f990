<?php
/*
 * Laravel: its sessions are not PHP's, and go by a cookie that the bridge keeps
 * out of sight. In app/Http/Kernel.php, in the place of
 * Illuminate\Session\Middleware\StartSession, this one: in the browser of an agent
 * the session is that of the sign-in of its Session. Without it each page of an
 * agent has a new one, and no form of it gets by VerifyCsrfToken.
 */
declare(strict_types=1);

namespace App\Http\Middleware;

use Illuminate\Http\Request;
use Illuminate\Session\Middleware\StartSession;
use Poppy;

final class PoppyStartSession extends StartSession
{
	public function getSession(Request $request)
	{
		$session = parent::getSession($request);
		$id = Poppy::sessionId();

		/* So long are Laravel's. */
		if ($id !== null)
			$session->setId(substr($id, 0, 40));
		return $session;
	}
}
