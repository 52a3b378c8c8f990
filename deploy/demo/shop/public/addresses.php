<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

const ADDRESSES_MAX = 10;

$who = need_customer();
$given = [];

function address_add(int $who, array $a): ?string
{
	if ($a['problem'] !== null)
		return $a['problem'];
	$n = count(addresses($who));
	if ($n >= ADDRESSES_MAX)
		return 'The address book is full.';
	query('INSERT INTO address (customer_id, name, street, extra, ' .
	    'postcode, city, country, is_default) ' .
	    'VALUES (?, ?, ?, ?, ?, ?, ?, ?)', [$who, $a['name'], $a['street'],
	    $a['extra'], $a['postcode'], $a['city'], $a['country'], $n === 0]);
	return null;
}

function address_prefer(int $who, int $id): void
{
	transaction(function () use ($who, $id) {
		query('UPDATE address SET is_default = false ' .
		    'WHERE customer_id = ? AND is_default', [$who]);
		query('UPDATE address SET is_default = true ' .
		    'WHERE customer_id = ? AND id = ?', [$who, $id]);
	});
}

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	check_csrf();
	$id = (int)param($_POST, 'id', 10);
	$why = null;
	switch (param($_POST, 'do')) {
	case 'add':
		$given = address_input();
		$why = address_add($who['id'], $given);
		break;
	case 'prefer':
		address_prefer($who['id'], $id);
		break;
	case 'remove':
		query('DELETE FROM address WHERE customer_id = ? AND id = ?',
		    [$who['id'], $id]);
		break;
	}
	notice($why ?? 'Saved.', $why === null);
	if ($why === null)
		redirect('/addresses.php');
}

page_head('Your addresses');
?>
<header class="intro"><h1>Your addresses</h1></header>
<div class="cart">
<ul class="books">
<?php foreach (addresses($who['id']) as $a): ?>
<li><?= address_html($a) ?>
 <form method="post" action="/addresses.php"><?= csrf() ?>
  <input type="hidden" name="id" value="<?= e($a['id']) ?>">
<?php if ($a['is_default']): ?><span class="tag">Usual address</span>
<?php else: ?><button class="link" name="do" value="prefer">Make it the usual
  one</button><?php endif ?>
  <button class="link" name="do" value="remove">Remove</button></form></li>
<?php endforeach ?>
</ul>
<form class="form sum" method="post" action="/addresses.php"><?= csrf() ?>
 <h2>A new one</h2><?= address_fields($given) ?>
 <button class="button wide" name="do" value="add">Save</button></form>
</div>
<?php page_foot();
