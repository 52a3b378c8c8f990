<?php
// Products and their variants, with prices in the visitor's currency.
declare(strict_types=1);

// A card shows one of the variants in stock, not always the first, so that a
// page of cards isn't all of one colour.
const CARD = <<<'SQL'
SELECT p.id, p.slug, p.name, p.tagline, p.shape, p.pattern, k.name AS category,
    k.slug AS category_slug, min(pr.amount) AS price_from,
    max(pr.amount) AS price_to, max(pr.was) AS was, sum(v.stock) AS stock,
    (array_agg(c.hex ORDER BY v.stock = 0, v.place))[s.n] AS hex,
    (array_agg(v.sku ORDER BY v.stock = 0, v.place))[s.n] AS sku,
    string_agg(DISTINCT c.hex, ' ') AS hexes
FROM product p
JOIN category k ON k.id = p.category_id
JOIN variant v ON v.product_id = p.id
JOIN colour c ON c.code = v.colour
JOIN price pr ON pr.variant_id = v.id AND pr.currency = ?
CROSS JOIN LATERAL (SELECT 1 + p.id % greatest(1, count(*)) AS n
    FROM variant x WHERE x.product_id = p.id AND x.stock > 0) AS s
WHERE p.active
SQL;

const SORTS = [
	'new' => ['Newest', 'p.created_at DESC'],
	'low' => ['Price, low to high', 'min(pr.amount), p.id'],
	'high' => ['Price, high to low', 'min(pr.amount) DESC, p.id'],
	'name' => ['Name', 'p.name'],
];

function cards(string $where, array $args, string $sort, int $limit = 60): array
{
	return rows(CARD . " $where GROUP BY p.id, k.id, s.n ORDER BY " .
	    SORTS[$sort][1] . ' LIMIT ?', [currency(), ...$args, $limit]);
}

function categories(): array
{
	return rows('SELECT id, slug, name, intro FROM category ORDER BY id');
}

// Every word must be somewhere; % and _ of the visitor are no wildcards.
function search(string $text): array
{
	$words = array_slice(preg_split('/\s+/u', $text, -1,
	    PREG_SPLIT_NO_EMPTY), 0, 6);
	$where = '';
	$args = [];
	foreach ($words as $w) {
		$where .= " AND (p.name || ' ' || p.tagline || ' ' || " .
		    "p.description || ' ' || p.material || ' ' || k.name || " .
		    "' ' || (SELECT string_agg(x.sku || ' ' || y.name, ' ') " .
		    'FROM variant x JOIN colour y ON y.code = x.colour ' .
		    'WHERE x.product_id = p.id)) ILIKE ?';
		$args[] = '%' . addcslashes($w, '\\%_') . '%';
	}
	return $words ? cards($where, $args, 'name') : [];
}

function product(string $slug): ?array
{
	return row('SELECT p.*, k.name AS category, k.slug AS category_slug ' .
	    'FROM product p JOIN category k ON k.id = p.category_id ' .
	    'WHERE p.slug = ? AND p.active', [$slug]);
}

const VARIANT = <<<'SQL'
SELECT v.id, v.sku, v.size, v.stock, v.restock_on, v.colour, v.weight_g,
    c.name AS colour_name, c.hex, pr.amount, pr.was, pr.currency,
    p.name, p.slug, p.shape, p.pattern, p.tagline
FROM variant v
JOIN colour c ON c.code = v.colour
JOIN product p ON p.id = v.product_id AND p.active
JOIN price pr ON pr.variant_id = v.id
SQL;

function variants(int $product): array
{
	return rows(VARIANT . ' WHERE v.product_id = ? AND pr.currency = ? ' .
	    'ORDER BY v.place', [$product, currency()]);
}

function variant(string $sku): ?array
{
	return row(VARIANT . ' WHERE v.sku = ? AND pr.currency = ?',
	    [$sku, currency()]);
}

function options_text(array $v): string
{
	return $v['colour_name'] . ($v['size'] === '' ? '' : ', ' . $v['size']);
}

function stock_text(array $v): array
{
	return match (true) {
	$v['stock'] == 0 => ['out', 'Out of stock' . ($v['restock_on'] ?
	    ', expected ' . date('j F', strtotime($v['restock_on'])) : '')],
	$v['stock'] <= 3 => ['low', "Only {$v['stock']} left"],
	default => ['in', 'In stock, sent within two days'],
	};
}
