<?php
// Closing an account. Orders stay, as the law wants; who placed them goes.
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();
people_only();

function close_account(array $who): void
{
	transaction(function () use ($who) {
		query('DELETE FROM address WHERE customer_id = ?', [$who['id']]);
		query("UPDATE customer SET active = false, name = 'Closed', " .
		    "phone = '', password = '', email = ?, updated_at = now() " .
		    'WHERE id = ?', ["closed-{$who['id']}@closed.invalid",
		    $who['id']]);
	});
	end_agents($who['id'], 'account closed');
}

$who = need_customer();
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$raw = $_POST['password'] ?? '';
	$c = login($who['email'], is_string($raw) ? $raw : '');
	if (is_array($c)) {
		close_account($who);
		session_logout();
		notice('Your account is closed. Fair winds.');
		redirect('/');
	}
	http_response_code(422);
	notice('The password is not right.', false);
}

page_head('Close the account');
?>
<div class="gate"><form class="form" method="post" action="/close.php">
<?= csrf() ?>
 <h1>Close the account</h1>
 <p>Name, telephone and addresses are erased, and no agent keeps its access.
 We keep orders as long as the law wants.</p>
 <?= field('Password', 'password', '',
   'type="password" required autocomplete="current-password"') ?>
 <button class="button wide">Close it for good</button></form></div>
<?php page_foot();
