<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();
need_post();

$_SESSION['currency'] = param($_POST, 'currency') === 'GBP' ? 'GBP' : 'EUR';
redirect(local_path(param($_POST, 'next', 300)));
