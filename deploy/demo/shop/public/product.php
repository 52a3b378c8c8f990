<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

$p = product(param($_GET, 'p', 80));
$all = $p ? variants($p['id']) : [];
if (!$all)
	fail_page(404, 'We do not have this any more.');

// The variant asked for, else the first that is in stock.
$sku = param($_GET, 'v', 40);
$v = current(array_filter($all, fn ($x) => $x['sku'] === $sku)) ?:
    current(array_filter($all, fn ($x) => $x['stock'] > 0)) ?: $all[0];
$colours = [];
foreach ($all as $x)
	if (!isset($colours[$x['colour']]) || $x['size'] === $v['size'])
		$colours[$x['colour']] = $x;
$sizes = array_filter($all, fn ($x) => $x['colour'] === $v['colour'] &&
    $x['size'] !== '');
$link = fn ($x) => '/product.php?p=' . rawurlencode($p['slug']) .
    '&amp;v=' . rawurlencode($x['sku']);
[$state, $stock] = stock_text($v);

page_head($p['name'], $p['category_slug']);
?>
<nav class="crumbs"><a href="/">Tidewell</a> / <a
 href="/category.php?c=<?= e($p['category_slug']) ?>"><?= e($p['category']) ?></a></nav>
<article class="product">
 <div class="big"><?= picture($v, '', $p['name'] . ' in ' .
   $v['colour_name']) ?></div>
 <div class="facts">
  <p class="kicker"><?= e($p['category']) ?></p>
  <h1><?= e($p['name']) ?></h1>
  <p class="tagline"><?= e($p['tagline']) ?></p>
  <p class="price large"><?= price_html($v) ?> <small>incl. VAT</small></p>
  <p class="pick">Colour <b><?= e($v['colour_name']) ?></b></p>
  <p class="swatches"><?php foreach ($colours as $x): ?>
   <a href="<?= $link($x) ?>"<?= $x['colour'] === $v['colour'] ?
     ' aria-current="true"' : '' ?> title="<?= e($x['colour_name']) ?>"
    aria-label="<?= e($x['colour_name']) ?>"><svg viewBox="0 0 10 10"><circle
    cx="5" cy="5" r="5" fill="#<?= e($x['hex']) ?>"/></svg></a>
<?php endforeach ?></p>
<?php if ($sizes): ?>
  <p class="pick">Size <b><?= e($v['size']) ?></b></p>
  <p class="sizes"><?php foreach ($sizes as $x): ?>
   <a href="<?= $link($x) ?>"<?= $x['sku'] === $v['sku'] ?
     ' aria-current="true"' : '' ?><?= $x['stock'] ? '' : ' class="gone"'
     ?>><?= e($x['size']) ?></a>
<?php endforeach ?></p>
<?php endif ?>
  <p class="stock <?= $state ?>"><?= e($stock) ?></p>
<?php if ($v['stock'] > 0): ?>
  <form class="buy" method="post" action="/cart.php"><?= csrf() ?>
   <input type="hidden" name="do" value="add">
   <input type="hidden" name="sku" value="<?= e($v['sku']) ?>">
   <label>Quantity <select name="quantity"><?php
    for ($i = 1; $i <= min(10, $v['stock']); $i++)
    	echo "<option>$i</option>"; ?></select></label>
   <button class="button">Add to basket</button>
  </form>
<?php endif ?>
  <p class="words"><?= e($p['description']) ?></p>
  <dl><dt>Material</dt><dd><?= e($p['material']) ?></dd>
   <dt>Care</dt><dd><?= e($p['care']) ?></dd>
   <dt>Weight</dt><dd><?= $v['weight_g'] < 1000 ? e($v['weight_g']) . ' g' :
     e(number_format($v['weight_g'] / 1000, 1)) . ' kg' ?></dd>
   <dt>Article</dt><dd><?= e($v['sku']) ?></dd></dl>
 </div>
</article>
<section><h2>Goes with it</h2>
<?php
cards_html(cards('AND k.slug = ? AND p.id <> ?',
    [$p['category_slug'], $p['id']], 'new', 4));
echo '</section>';
page_foot();
