<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

$next = local_path(param($_GET, 'next', 300), '/account.php');
$email = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$email = param($_POST, 'email', 120);
	$raw = $_POST['password'] ?? '';
	$c = login($email, is_string($raw) ? $raw : '');
	if (is_array($c)) {
		session_login($c['id']);
		redirect($next);
	}
	http_response_code(403);
	notice($c, false);
}

page_head('Log in');
?>
<div class="gate"><form class="form" method="post" action="/login.php?next=<?=
  e(rawurlencode($next)) ?>"><?= csrf() ?>
 <h1>Welcome back</h1>
 <?= field('E-mail', 'email', $email,
   'type="email" required maxlength="120" autocomplete="username"') ?>
 <?= field('Password', 'password', '',
   'type="password" required autocomplete="current-password"') ?>
 <button class="button wide">Log in</button>
 <p>New here? <a href="/register.php">Open an account</a></p></form></div>
<?php page_foot();
