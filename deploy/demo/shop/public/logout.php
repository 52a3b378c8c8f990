<?php
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';
session_begin();
need_post();

session_logout();
$waiting = waiting();
redirect($waiting === null ? '/' :
    '/login.php?poppy_request=' . rawurlencode($waiting));
