<?php
// What the web server shows where there is nothing.
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';

fail_page(404, 'There is no such page.');
