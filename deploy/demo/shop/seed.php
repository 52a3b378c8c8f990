<?php
// Adds the first customers, as the database's owner, each with a password hashed
// in one of the ways that shops have side by side after the years. Prints what
// the accounts are, one line a customer: e-mail, password, kind, hash.
declare(strict_types=1);

require __DIR__ . '/lib/password.php';

const PEOPLE = [
	['ada@tidewell.example', 'Ada Brandt', 'salt-and-lantern-1',
	    'bcrypt', 'customer'],
	['jonas@tidewell.example', 'Jonas Okafor', 'salt-and-lantern-2',
	    'argon2id', 'customer'],
	['mira@tidewell.example', 'Mira Sørensen', 'salt-and-lantern-3',
	    'bcrypt', 'customer'],
	['leo@tidewell.example', 'Leo Castellanos', 'salt-and-lantern-4',
	    'argon2id', 'customer'],
	['loft@tidewell.example', 'Hanne Vik', 'salt-and-lantern-5',
	    'bcrypt', 'manager'],
	['closed@tidewell.example', 'Piet Closed', 'salt-and-lantern-6',
	    'bcrypt', 'disabled'],
	['nora@tidewell.example', 'Nora Lindqvist', 'salt-and-lantern-7',
	    'wordpress', 'customer'],
	['yusuf@tidewell.example', 'Yusuf Demir', 'salt-and-lantern-8',
	    'phpass', 'customer'],
	['emil@tidewell.example', 'Emil Moreau', 'salt-and-lantern-9',
	    'bcrypt', 'unverified'],
];

function hash_of(string $password, string $how): string
{
	return match ($how) {
	'bcrypt' => password_hash($password, PASSWORD_BCRYPT),
	'argon2id' => password_hash($password, PASSWORD_ARGON2ID),
	'wordpress' => '$wp' . password_hash(wordpress($password),
	    PASSWORD_BCRYPT),
	'phpass' => phpass($password, '$P$B' . bin2hex(random_bytes(4))),
	};
}

const PLACES = [
	['Fischmarkt 11', '', '20459', 'Hamburg', 'DE'],
	['12 Quay Street', 'Flat 3', 'BS1 4DJ', 'Bristol', 'GB'],
	['Nyhavn 38', '', '1051', 'København', 'DK'],
	['Calle del Mar 7', '2º', '46003', 'València', 'ES'],
];

function add_people(PDO $db): void
{
	$add = $db->prepare('INSERT INTO shop.customer (email, name, password, ' .
	    'role, active, confirmed) VALUES (?, ?, ?, ?, ?, ?)');
	foreach (PEOPLE as [$email, $name, $password, $how, $kind]) {
		$add->execute([$email, $name, hash_of($password, $how),
		    $kind === 'manager' ? 'manager' : 'customer',
		    $kind === 'disabled' ? 'f' : 't',
		    $kind === 'unverified' ? 'f' : 't']);
		echo implode("\t", [$email, $password, $kind, $how]), "\n";
	}
}

function add_addresses(PDO $db): void
{
	$add = $db->prepare('INSERT INTO shop.address (customer_id, name, ' .
	    'street, extra, postcode, city, country, is_default) ' .
	    'SELECT id, name, ?, ?, ?, ?, ?, true FROM shop.customer ' .
	    'WHERE email = ?');
	foreach (PLACES as $i => $place)
		$add->execute([...$place, PEOPLE[$i][0]]);
}

// Three orders a customer who has an address, the newest still to be packed.
function add_orders(PDO $db): void
{
	$db->exec(<<<'SQL'
WITH o AS (
	INSERT INTO shop.sales_order (customer_id, email, status, currency,
	    subtotal, shipping, total, tax, checkout_key, ship_name,
	    ship_street, ship_extra, ship_postcode, ship_city, ship_country,
	    tracking, placed_at, updated_at)
	SELECT c.id, c.email, (ARRAY['sent', 'sent', 'placed'])[n], 'EUR',
	    p.sum, s.ship, p.sum + s.ship, round((p.sum + s.ship) / 6, 2),
	    format('seed-%s-%s', c.id, n), a.name, a.street, a.extra,
	    a.postcode, a.city, a.country,
	    CASE WHEN n < 3 THEN format('TW%s9%s', c.id, 4471 + n) END,
	    now() - (4 - n) * interval '31 days' - c.id * interval '5 hours',
	    now() - (4 - n) * interval '29 days'
	FROM shop.customer c JOIN shop.address a ON a.customer_id = c.id,
	    generate_series(1, 3) AS n,
	    LATERAL (SELECT sum(amount * (1 + v.id % 2)) AS sum
	    FROM shop.variant v JOIN shop.price p ON p.variant_id = v.id
	    AND p.currency = 'EUR'
	    WHERE v.id IN (c.id * 9 + n * 4, c.id * 5 + n * 11)) AS p,
	    LATERAL (SELECT CASE WHEN p.sum >= 60 THEN 0.00 ELSE 4.90 END
	    AS ship) AS s
	RETURNING id, customer_id, right(checkout_key, 1)::int AS n
)
INSERT INTO shop.order_line
SELECT o.id, row_number() OVER (PARTITION BY o.id ORDER BY v.id), v.id, v.sku,
    p.name, c.name || CASE WHEN v.size = '' THEN '' ELSE ', ' || v.size END,
    1 + v.id % 2, pr.amount
FROM o JOIN shop.variant v
    ON v.id IN (o.customer_id * 9 + o.n * 4, o.customer_id * 5 + o.n * 11)
JOIN shop.product p ON p.id = v.product_id
JOIN shop.colour c ON c.code = v.colour
JOIN shop.price pr ON pr.variant_id = v.id AND pr.currency = 'EUR'
SQL);
}

$db = new PDO($argv[1] ?? 'pgsql:dbname=shop', $argv[2] ?? null, null,
    [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->beginTransaction();
add_people($db);
add_addresses($db);
add_orders($db);
$db->commit();
