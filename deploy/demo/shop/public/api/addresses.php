<?php
// GET /api/addresses.php: where the customer's parcels go.
declare(strict_types=1);
require __DIR__ . '/../../lib/api.php';

need_get();
answer(200, ['addresses' => array_map(fn ($a) => array_intersect_key($a,
    ADDRESS_FIELDS) + ['usual' => $a['is_default']],
    addresses(need_account()))]);
