<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

$cat = row('SELECT id, slug, name, intro FROM category WHERE slug = ?',
    [param($_GET, 'c', 40)]);
if ($cat === null)
	fail_page(404, 'We have no such department.');
$sort = isset(SORTS[param($_GET, 'sort')]) ? param($_GET, 'sort') : 'new';

page_head($cat['name'], $cat['slug']);
?>
<header class="intro"><h1><?= e($cat['name']) ?></h1>
<p><?= e($cat['intro']) ?></p></header>
<nav class="sort" aria-label="Order">
<?php foreach (SORTS as $key => [$label]): ?>
 <a href="/category.php?c=<?= e($cat['slug']) ?>&amp;sort=<?= $key ?>"<?=
   $key === $sort ? ' aria-current="true"' : '' ?>><?= e($label) ?></a>
<?php endforeach ?>
</nav>
<?php
cards_html(cards('AND k.id = ?', [$cat['id']], $sort));
page_foot();
