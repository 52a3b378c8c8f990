<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();
people_only();

$next = local_path(param($_GET, 'next', 300), '/account.php');
$waiting = waiting();
$who = customer();
$email = '';

// Logged in already: is it you who lets the agent in?
if ($waiting !== null && $who !== null) {
	if ($_SERVER['REQUEST_METHOD'] === 'POST') {
		check_csrf();
		sign_in($waiting, $who);
	}
	page_head('Is this you?');
?>
<div class="gate"><div class="form">
 <h1>Are you <?= e($who['name']) ?>?</h1>
 <p>An agent asks to use an account of this shop. You are logged in as
 <b><?= e($who['email']) ?></b>.</p>
 <form method="post" action="/login.php"><?= csrf(), waiting_field() ?>
  <button class="button wide">Continue as <?= e($who['name']) ?></button></form>
 <form method="post" action="/logout.php"><?= csrf(), waiting_field() ?>
  <p><button class="link">Not you? Log in as somebody else</button></p></form>
</div></div>
<?php
	page_foot();
	exit;
}

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$email = param($_POST, 'email', 120);
	$raw = $_POST['password'] ?? '';
	$c = login($email, is_string($raw) ? $raw : '');
	if (is_array($c)) {
		session_login($c['id']);
		if ($waiting !== null)
			sign_in($waiting, $c);
		redirect($next);
	}
	http_response_code(403);
	notice($c, false);
}

page_head('Log in');
?>
<div class="gate"><form class="form" method="post" action="/login.php?next=<?=
  e(rawurlencode($next)) ?>"><?= csrf(), waiting_field() ?>
 <h1>Welcome back</h1>
<?php if ($waiting !== null): ?>
 <p>An agent asks to use your account. Log in, and then decide what it may
 do.</p>
<?php endif ?>
 <?= field('E-mail', 'email', $email,
   'type="email" required maxlength="120" autocomplete="username"') ?>
 <?= field('Password', 'password', '',
   'type="password" required autocomplete="current-password"') ?>
 <button class="button wide">Log in</button>
 <p>New here? <a href="/register.php<?= $waiting === null ? '' :
   '?poppy_request=' . e($waiting) ?>">Open an account</a></p></form></div>
<?php page_foot();
