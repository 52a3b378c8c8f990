<?php
// Shows which POPPY_* variables the web server passed on. The only file of
// the shop that knows their prefix; tests and operators ask it.
declare(strict_types=1);

header('Content-Type: application/json');
header('Cache-Control: no-store');
$vars = array_filter($_SERVER, fn ($k) => str_starts_with((string)$k, 'POPPY_'),
    ARRAY_FILTER_USE_KEY);
ksort($vars);
echo json_encode((object)$vars, JSON_UNESCAPED_SLASHES), "\n";
