<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

$who = need_customer();
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$name = param($_POST, 'name', 120);
	if ($name === '') {
		notice('Please tell us your name.', false);
	} else {
		query('UPDATE customer SET name = ?, phone = ?, ' .
		    'updated_at = now() WHERE id = ?',
		    [$name, param($_POST, 'phone', 40), $who['id']]);
		notice('Saved.');
	}
	redirect('/account.php');
}

page_head('Your account');
?>
<header class="intro"><h1>Hello, <?= e($who['name']) ?></h1>
<p><?= e($who['email']) ?></p></header>
<ul class="doors text">
 <li><a href="/orders.php"><b>Orders</b>What is on its way, and what was</a></li>
 <li><a href="/addresses.php"><b>Addresses</b>Where parcels go</a></li>
<?php if (may_log_in()): ?>
 <li><a href="/password.php"><b>Password</b>Choose a new one</a></li>
<?php endif ?>
<?php if (bridged() && may_log_in()): ?>
 <li><a href="<?= e(Poppy::agentsUrl()) ?>"><b>Connected agents</b>Who may use
  your account for you</a></li>
<?php endif ?>
<?php if ($who['role'] === 'manager'): ?>
 <li><a href="/loft.php"><b>The loft</b>Orders to pack, shelves to fill</a></li>
<?php endif ?>
</ul>
<form class="form narrow" method="post" action="/account.php"><?= csrf() ?>
 <h2>About you</h2>
 <?= field('Name', 'name', $who['name'],
   'required maxlength="120" autocomplete="name"') ?>
 <?= field('Telephone (optional)', 'phone', $who['phone'],
   'maxlength="40" autocomplete="tel"') ?>
 <button class="button">Save</button></form>
<?php if (may_log_in()): ?>
<form class="narrow" method="post" action="/logout.php"><?= csrf() ?>
 <button class="quiet">Log out</button></form>
<p class="narrow"><a href="/close.php">Close the account</a></p>
<?php endif ?>
<?php page_foot();
