<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

$q = param($_GET, 'q', 80);
$found = search($q);

page_head($q === '' ? 'Search' : "Search: $q");
?>
<header class="intro"><h1><?= $q === '' ? 'What are you looking for?' :
  '“' . e($q) . '”' ?></h1>
<p><?= $q === '' ? 'Type a word into the field above.' : match (count($found)) {
	0 => 'Nothing on our shelves matches. Try a shorter word.',
	1 => 'One thing on our shelves.',
	default => count($found) . ' things on our shelves.',
} ?></p></header>
<?php
cards_html($found);
page_foot();
