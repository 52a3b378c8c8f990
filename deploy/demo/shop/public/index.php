<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();

page_head('Good things for the house');
$shown = cards('AND p.featured', [], 'new', 8);
$hero = $shown ? array_slice($shown, 0, 3) : [];
?>
<section class="hero">
 <div><p class="kicker">The harbour collection</p>
  <h1>Good things for the house, made to be used.</h1>
  <p>Stoneware, wool, wood and brass from forty small workshops. Nothing here
  is disposable; all of it can be mended.</p>
  <p><a class="button" href="/category.php?c=table">Set the table</a>
  <a class="button quiet" href="/category.php?c=rest">Find something warm</a></p></div>
 <div class="stage"><?php foreach ($hero as $p) echo picture($p); ?></div>
</section>
<section><h2>Departments</h2>
<ul class="doors">
<?php foreach (rows('SELECT DISTINCT ON (k.id) k.slug, k.name, k.intro,
    p.shape, p.pattern, c.hex FROM category k
    JOIN product p ON p.category_id = k.id AND p.active
    JOIN variant v ON v.product_id = p.id JOIN colour c ON c.code = v.colour
    ORDER BY k.id, p.featured DESC, p.id, v.place') as $k): ?>
 <li><a href="/category.php?c=<?= e($k['slug']) ?>"><?= picture($k) ?>
  <span><?= e($k['name']) ?></span></a></li>
<?php endforeach ?>
</ul></section>
<section><h2>On the front table</h2>
<?php cards_html($shown) ?></section>
<section class="promise">
 <div><h3>Sent within two days</h3><p>From our own loft, in paper, by people
 who know what is in the box.</p></div>
 <div><h3>Sixty days to decide</h3><p>Use it, sleep on it, send it back. We pay
 the postage.</p></div>
 <div><h3>Repairs for life</h3><p>A new strap, a new socket, a new zip. Write
 to us and we will mend it.</p></div>
</section>
<?php page_foot();
