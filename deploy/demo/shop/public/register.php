<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();
people_only();

// The new customer's id, or what is wrong.
function register(string $name, string $email, string $new, string $again):
    int|string
{
	if ($name === '')
		return 'Please tell us your name.';
	if (!filter_var($email, FILTER_VALIDATE_EMAIL))
		return 'This is not an e-mail address.';
	if (($why = password_problem($new, $again)) !== null)
		return $why;
	return value('INSERT INTO customer (email, password, name) ' .
	    'VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING id',
	    [$email, password_make($new), $name]) ??
	    'There is an account with this address already.';
}

$name = $email = '';
$waiting = waiting();
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$name = param($_POST, 'name', 120);
	$email = param($_POST, 'email', 120);
	$pw = array_map(fn ($f) => is_string($_POST[$f] ?? null) ? $_POST[$f] :
	    '', ['password', 'again']);
	$id = register($name, $email, $pw[0], $pw[1]);
	if (is_int($id)) {
		session_login($id);
		if ($waiting !== null)
			sign_in($waiting, ['id' => $id, 'name' => $name]);
		notice('Your account is open. Welcome.');
		redirect('/account.php');
	}
	http_response_code(422);
	notice($id, false);
}

page_head('Open an account');
?>
<div class="gate"><form class="form" method="post" action="/register.php">
<?= csrf(), waiting_field() ?>
 <h1>Open an account</h1>
 <?= field('Name', 'name', $name,
   'required maxlength="120" autocomplete="name"') ?>
 <?= field('E-mail', 'email', $email,
   'type="email" required maxlength="120" autocomplete="username"') ?>
 <?= field('Password', 'password', '', 'type="password" required ' .
   'minlength="10" autocomplete="new-password"') ?>
 <?= field('The same again', 'again', '', 'type="password" required ' .
   'minlength="10" autocomplete="new-password"') ?>
 <button class="button wide">Open the account</button></form></div>
<?php page_foot();
