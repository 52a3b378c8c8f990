<?php
// What pages share: escaping, money, pictures, the frame around a page.
declare(strict_types=1);

function e(mixed $text): string
{
	return htmlspecialchars((string)$text, ENT_QUOTES | ENT_SUBSTITUTE,
	    'UTF-8');
}

function money(string $amount, ?string $currency = null): string
{
	$sign = ['EUR' => '€', 'GBP' => '£'][$currency ?? currency()];
	[$whole, $part] = explode('.', $amount . '.00');
	return $sign . number_format((int)$whole) . '.' . substr($part, 0, 2);
}

function picture(array $p, string $class = '', string $alt = ''): string
{
	$src = '/picture.php?' . http_build_query(['shape' => $p['shape'],
	    'colour' => $p['hex'], 'pattern' => $p['pattern']]);
	return '<img class="' . e($class) . '" src="' . e($src) . '" alt="' .
	    e($alt) . '" width="400" height="400" loading="lazy">';
}

function head_html(string $title): void
{
	header('Content-Type: text/html; charset=utf-8');
?>
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title><?= e($title) ?> · Tidewell</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<?php
}

// The frame of a page that needs the session and the database.
function page_head(string $title, string $here = ''): void
{
	$who = customer();
	$cats = categories();
	head_html($title);
?>
<body>
<a class="skip" href="#main">Skip to content</a>
<?php agent_banner($who) ?>
<p class="strip">Free shipping from €60 / £50 · Returns within 60 days ·
Repairs for life</p>
<header class="top">
 <a class="brand" href="/"><?= mark() ?><span>Tidewell</span></a>
 <nav class="cats" aria-label="Departments">
<?php foreach ($cats as $c): ?>
  <a href="/category.php?c=<?= e($c['slug']) ?>"<?=
    $here === $c['slug'] ? ' aria-current="page"' : '' ?>><?= e($c['name']) ?></a>
<?php endforeach ?>
 </nav>
 <form class="find" action="/search.php" role="search">
  <input type="search" name="q" placeholder="Search" aria-label="Search"
   value="<?= e(param($_GET, 'q')) ?>" maxlength="80">
 </form>
 <nav class="me" aria-label="Account and basket">
<?php if ($who): ?>
  <a href="/account.php"><?= e(explode(' ', $who['name'])[0]) ?></a>
<?php elseif (may_log_in()): ?>
  <a href="/login.php">Log in</a>
<?php endif ?>
  <a class="basket" href="/cart.php">Basket<b><?= cart_count() ?></b></a>
 </nav>
</header>
<main id="main">
<?php
	if (isset($_SESSION['notice'])) {
		[$text, $good] = $_SESSION['notice'];
		unset($_SESSION['notice']);
		echo '<p class="notice ', $good ? 'good' : 'bad',
		    '" role="status">', e($text), "</p>\n";
	}
}

function page_foot(): void
{
	$other = currency() === 'EUR' ? 'GBP' : 'EUR';
?>
</main>
<footer class="foot">
 <div><a class="brand" href="/"><?= mark() ?><span>Tidewell</span></a>
  <p>Good things for the house, from people we know by name. In an old sail
  loft on the harbour since 1987.</p></div>
 <div><h2>Shop</h2><ul>
<?php foreach (categories() as $c): ?>
  <li><a href="/category.php?c=<?= e($c['slug']) ?>"><?= e($c['name']) ?></a></li>
<?php endforeach ?></ul></div>
 <div><h2>Help</h2><ul>
  <li><a href="/about.php">About us</a></li>
  <li><a href="/about.php#shipping">Shipping and returns</a></li>
  <li><a href="/about.php#repairs">Repairs</a></li>
  <li><a href="/account.php">Your account</a></li></ul></div>
 <div><h2>Prices</h2>
  <form method="post" action="/currency.php"><?= csrf() ?>
   <input type="hidden" name="next" value="<?= e(local_path(
     $_SERVER['REQUEST_URI'])) ?>">
   <p>Shown in <?= e(currency()) ?>, VAT included.</p>
   <button class="quiet" name="currency" value="<?= $other ?>">Show
   <?= $other ?></button></form></div>
</footer>
</body>
</html>
<?php
}

function mark(): string
{
	return '<svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" ' .
	    'cy="16" r="14.5" fill="none" stroke="currentColor"/><path d="M4 ' .
	    '18q6-5 12 0t12 0M6.5 23q5-4 9.5 0t9.5 0M16 4v9" fill="none" ' .
	    'stroke="currentColor" stroke-width="1.8" ' .
	    'stroke-linecap="round"/></svg>';
}

// A page that needs neither session nor database.
function plain_page(string $title, string $text): void
{
	head_html($title);
	echo '<body class="plain"><main id="main"><a class="brand" href="/">',
	    mark(), '<span>Tidewell</span></a><h1>', e($title), '</h1><p>',
	    e($text), "</p></main></body></html>\n";
}

function fail_page(int $status, string $text): never
{
	http_response_code($status);
	plain_page([403 => 'Not like this', 404 => 'Not on our shelves',
	    405 => 'Not like this'][$status] ?? 'Sorry', $text);
	exit;
}

function cards_html(array $cards): void
{
	echo "<ul class=\"grid\">\n";
	foreach ($cards as $p) {
		$url = '/product.php?p=' . rawurlencode($p['slug']) .
		    '&v=' . rawurlencode($p['sku']);
?>
<li class="card"><a href="<?= e($url) ?>">
 <span class="shot"><?= picture($p) ?><?php if ($p['stock'] == 0): ?>
  <i class="tag">Sold out</i><?php elseif ($p['was']): ?>
  <i class="tag sale">Reduced</i><?php endif ?></span>
 <span class="name"><?= e($p['name']) ?></span>
 <span class="line"><?= e($p['tagline']) ?></span>
 <span class="price"><?= $p['price_from'] !== $p['price_to'] ? 'from ' : '' ?><?=
   e(money($p['price_from'])) ?></span></a>
 <span class="dots"><?php foreach (explode(' ', $p['hexes']) as $hex): ?>
  <svg viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" fill="#<?= e($hex)
    ?>"/></svg><?php endforeach ?></span></li>
<?php
	}
	echo "</ul>\n";
}

function price_html(array $v): string
{
	return ($v['was'] ? '<s>' . e(money($v['was'])) . '</s> ' : '') .
	    '<b>' . e(money($v['amount'])) . '</b>';
}

function field(string $label, string $name, string $value = '',
    string $more = 'required'): string
{
	return '<label>' . e($label) . '<input name="' . e($name) .
	    '" value="' . e($value) . '" ' . $more . '></label>';
}

function address_fields(array $a): string
{
	$out = field('Name', 'name', $a['name'] ?? '',
	    'required maxlength="120" autocomplete="name"') .
	    field('Street and number', 'street', $a['street'] ?? '',
	    'required maxlength="120" autocomplete="address-line1"') .
	    field('Flat, company (optional)', 'extra', $a['extra'] ?? '',
	    'maxlength="120" autocomplete="address-line2"') .
	    '<div class="pair">' .
	    field('Postcode', 'postcode', $a['postcode'] ?? '',
	    'required maxlength="12" autocomplete="postal-code"') .
	    field('Town', 'city', $a['city'] ?? '',
	    'required maxlength="80" autocomplete="address-level2"') . '</div>' .
	    '<label>Country<select name="country" autocomplete="country">';
	foreach (COUNTRIES as $code => $name)
		$out .= "<option value=\"$code\"" . (($a['country'] ?? 'DE') ===
		    $code ? ' selected' : '') . '>' . e($name) . '</option>';
	return $out . '</select></label>';
}

function address_html(array $a, string $prefix = ''): string
{
	$country = COUNTRIES[$a[$prefix . 'country']] ??
	    $a[$prefix . 'country'];
	$lines = array_filter([$a[$prefix . 'name'], $a[$prefix . 'street'],
	    $a[$prefix . 'extra'],
	    $a[$prefix . 'postcode'] . ' ' . $a[$prefix . 'city'], $country]);
	return '<address>' . implode('<br>', array_map('e', $lines)) .
	    '</address>';
}

// Sums of a cart or an order.
function totals_html(array $t, ?string $currency = null): string
{
	$rows = ['Subtotal' => money($t['subtotal'], $currency)];
	if ($t['discount'] !== '0.00')
		$rows['Discount'] = '−' . money($t['discount'], $currency);
	$rows['Shipping'] = $t['shipping'] === '0.00' ? 'free' :
	    money($t['shipping'], $currency);
	$out = '<dl class="totals">';
	foreach ($rows as $k => $v)
		$out .= '<dt>' . e($k) . '</dt><dd>' . e($v) . '</dd>';
	return $out . '<dt class="grand">Total</dt><dd class="grand">' .
	    e(money($t['total'], $currency)) . '</dd><dt class="vat">VAT ' .
	    'included</dt><dd class="vat">' . e(money($t['tax'], $currency)) .
	    '</dd></dl>';
}
