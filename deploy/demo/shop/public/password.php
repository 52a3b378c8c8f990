<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();
people_only();

$who = need_customer();
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$pw = array_map(fn ($f) => is_string($_POST[$f] ?? null) ? $_POST[$f] :
	    '', ['old', 'password', 'again']);
	$c = login($who['email'], $pw[0]);
	$why = is_string($c) ? 'The present password is not right.' :
	    password_problem($pw[1], $pw[2]);
	if ($why === null) {
		query('UPDATE customer SET password = ?, updated_at = now() ' .
		    'WHERE id = ?', [password_make($pw[1]), $who['id']]);
		session_login($who['id']);
		end_agents($who['id'], 'password changed');
		notice('The new password holds from now on.');
		redirect('/account.php');
	}
	http_response_code(422);
	notice($why, false);
}

page_head('Password');
?>
<div class="gate"><form class="form" method="post" action="/password.php">
<?= csrf() ?>
 <h1>A new password</h1>
 <?= field('Present password', 'old', '',
   'type="password" required autocomplete="current-password"') ?>
 <?= field('New password', 'password', '', 'type="password" required ' .
   'minlength="10" autocomplete="new-password"') ?>
 <?= field('The same again', 'again', '', 'type="password" required ' .
   'minlength="10" autocomplete="new-password"') ?>
 <button class="button wide">Change it</button></form></div>
<?php page_foot();
