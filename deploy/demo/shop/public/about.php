<?php
// Needs neither database nor session.
declare(strict_types=1);
require __DIR__ . '/../lib/boot.php';

head_html('About us');
?>
<body class="plain"><main id="main" class="words">
<a class="brand" href="/"><?= mark() ?><span>Tidewell</span></a>
<h1>An old sail loft, and what we keep in it</h1>
<p>Tidewell began in 1987 with a shelf of mugs by the harbour. We still buy the
same way: we visit, we use the thing for a year, and then we put it on the
shelf. Forty workshops now, most of them smaller than our packing table.</p>
<h2 id="shipping">Shipping and returns</h2>
<p>Parcels leave within two working days. Shipping is free from €60 or £50, and
€4.90 or £4.20 below. You may send anything back within sixty days, used or
not, and we pay the postage.</p>
<h2 id="repairs">Repairs</h2>
<p>Everything with a seam, a socket or a hinge can be mended, and we do it for
as long as we have the parts. Write to loft@tidewell.example with your order
number.</p>
<p><a class="button" href="/">To the shop</a></p>
</main></body></html>
