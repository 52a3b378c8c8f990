// The examples for PHP developers, run: plain PHP, Symfony's authenticator and
// Laravel's guard, with the packages of Debian.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { proves, run, test } from './lib/tap.mjs';

const PHP = fileURLToPath(new URL('../../deploy/php', import.meta.url));
let dir;

const SIGNED_IN = { POPPY_VIA: 'cookie', POPPY_CLIENT_ID:
	'https://agent.example/agent.json', POPPY_AGENT: 'Ann%27s%20%3CAgent%3E',
POPPY_SESSION: `ses_${'A'.repeat(24)}`, POPPY_USER: 'a'.repeat(64),
POPPY_SIGNED_IN: '1', POPPY_ACCOUNT: '7', POPPY_SCOPE: 'poppy:read addresses',
POPPY_GRANT: '12' };
const GUEST = { ...SIGNED_IN, POPPY_SIGNED_IN: '0', POPPY_ACCOUNT: undefined,
	POPPY_SCOPE: undefined, POPPY_GRANT: undefined };

// What a script of a shop prints as JSON, in a request with these variables.
function php(vars, code)
{
	writeFileSync(`${dir}/page.php`, `<?php ${code}`);
	const text = execFileSync('php', ['-d',
		`auto_prepend_file=${PHP}/poppy.php`, '-d',
		`session.save_path=${dir}`, '-d', 'error_reporting=E_ALL & ' +
		    '~E_DEPRECATED', '-d', 'display_errors=stderr',
		`${dir}/page.php`], { env: { PATH: process.env.PATH,
		POPPY_BRIDGE: `${dir}/bridge.ini`, ...vars },
	encoding: 'utf8' });

	return JSON.parse(text);
}

test('plain PHP', proves('R-5-15'), async (t) => {
	const code = `require '${PHP}/examples/plain.php';
	    echo json_encode([$_SESSION['customer_id'] ?? null,
		shop_agent_banner(), shop_may_change()]);`;

	t.eq(php(SIGNED_IN, code), [7, '<p role="status">Ann&#039;s ' +
	    '&lt;Agent&gt; shops for a customer.</p>', false], 'signed in');
	t.eq(php(GUEST, code)[0], null, 'signed out');
	t.match(php(GUEST, code)[1], /a guest/, 'and says so');
	t.eq(php({}, code), [null, '', true], 'a person');
});

const SYMFONY = `
require '/usr/share/php/Symfony/Component/Security/Http/autoload.php';
require '${PHP}/examples/PoppyAuthenticator.php';
use Symfony\\Component\\HttpFoundation\\Request;
use Symfony\\Component\\Security\\Core\\User\\InMemoryUser;
use Symfony\\Component\\Security\\Core\\User\\InMemoryUserProvider;
use Symfony\\Component\\Security\\Http\\Authenticator\\Passport\\Badge\\UserBadge;
$auth = new App\\Security\\PoppyAuthenticator;
$request = Request::createFromGlobals();
if (!$auth->supports($request))
	exit(json_encode(null));
$users = new InMemoryUserProvider(['7' => ['password' => null,
    'roles' => ['ROLE_USER']], '8' => ['password' => null]]);
$passport = $auth->authenticate($request);
$passport->getBadge(UserBadge::class)->setUserLoader(
    $users->loadUserByIdentifier(...));
$token = $auth->createToken($passport, 'main');
echo json_encode([$token->getUser()->getUserIdentifier(),
    $token->getRoleNames(),
    $auth->onAuthenticationSuccess($request, $token, 'main'),
    $request->cookies->all()]);`;

test('Symfony: the authenticator', proves('R-5-15', 'R-5-18'), async (t) => {
	t.eq(php(SIGNED_IN, SYMFONY), ['7', ['ROLE_USER', 'ROLE_POPPY_READ',
		'ROLE_ADDRESSES'], null, []], 'signed in');
	t.eq(php(GUEST, SYMFONY), null, 'signed out: not its business');
	t.eq(php({}, SYMFONY), null, 'a person: neither');
});

const LARAVEL = `
require '/usr/share/php/Illuminate/Auth/autoload.php';
require '/usr/share/php/Illuminate/Http/autoload.php';
use Illuminate\\Auth\\GenericUser;
use Illuminate\\Auth\\RequestGuard;
use Illuminate\\Contracts\\Auth\\Authenticatable;
use Illuminate\\Contracts\\Auth\\UserProvider;
$users = new class implements UserProvider {
	public function retrieveById($id)
	{
		return $id === '7' ? new GenericUser(['id' => 7]) : null;
	}
	public function retrieveByToken($id, $token) { return null; }
	public function updateRememberToken(Authenticatable $u, $token) {}
	public function retrieveByCredentials(array $c) { return null; }
	public function validateCredentials(Authenticatable $u, array $c)
	{
		return false;
	}
};
$guard = new RequestGuard(require '${PHP}/examples/laravel.php',
    Illuminate\\Http\\Request::capture(), $users);
echo json_encode([$guard->check(), $guard->id()]);`;

test('Laravel: the guard', proves('R-5-15'), async (t) => {
	t.eq(php(SIGNED_IN, LARAVEL), [true, 7], 'signed in');
	t.eq(php({ ...SIGNED_IN, POPPY_ACCOUNT: '9' }, LARAVEL), [false, null],
	    'an account that is gone');
	t.eq(php(GUEST, LARAVEL), [false, null], 'signed out');
	t.eq(php({}, LARAVEL), [false, null], 'a person');
});

const LARAVEL_SESSION = `
require '/usr/share/php/Illuminate/Session/autoload.php';
require '/usr/share/php/Illuminate/Http/autoload.php';
require '${PHP}/examples/laravel-session.php';
use Illuminate\\Http\\Request;
use Illuminate\\Http\\Response;
$app = new Illuminate\\Container\\Container;
$app->instance('config', new class {
	public function get($key, $else = null)
	{
		return ['session.driver' => 'file', 'session.lifetime' => 9,
		    'session.files' => DIR, 'session.cookie' => 'laravel_session',
		    'session' => ['driver' => 'file', 'lifetime' => 9,
		    'lottery' => [0, 1], 'path' => '/', 'domain' => null]][$key] ??
		    $else;
	}
	public function offsetGet($key) { return $this->get($key); }
});
$app->instance('files', new Illuminate\\Filesystem\\Filesystem);
$start = new App\\Http\\Middleware\\PoppyStartSession(
    new Illuminate\\Session\\SessionManager($app));
$n = 0;
$start->handle(Request::capture(), function (Request $r) use (&$n) {
	$n = $r->session()->increment('n');
	return new Response;
});
echo json_encode([$n]);`;

test('Laravel: a session of the Session\'s own', proves('R-5-15'),
    async (t) => {
	const at = (vars) => php(vars, LARAVEL_SESSION.replace('DIR',
	    `'${dir}'`))[0];

	t.eq([at(SIGNED_IN), at(SIGNED_IN), at(SIGNED_IN)], [1, 2, 3],
	    'page by page');
	t.eq([at(GUEST), at({ ...SIGNED_IN, POPPY_GRANT: '13' })], [1, 1],
	    'signed out, and signed in anew');
	t.eq([at({}), at({})], [1, 1], 'a person by the cookie alone');
});

await run({
	before: () => {
		dir = mkdtempSync(`${tmpdir()}/poppy-frameworks-`);
		writeFileSync(`${dir}/bridge.ini`, 'dsn = "pgsql:host=/nowhere"\n' +
		    'pages = "https://shop.example/poppy"\n' +
		    `session_key = "${'k'.repeat(40)}"\n`, { mode: 0o600 });
	},
	after: () => dir && rmSync(dir, { recursive: true }),
});
