<?php
// Bags: the body in colour, straps in leather, buckles in brass.
declare(strict_types=1);

return [
'backpack' => fn ($c, $p) => shadow(342, 120) .
	'<path d="M176 76q0-40 24-40t24 40" fill="none" stroke="#6d4a30" ' .
	'stroke-width="11"/>' .
	'<path d="M110 170q-30 80-6 150M290 170q30 80 6 150" stroke="#6d4a30" ' .
	'stroke-width="18" fill="none"/>' .
	part('M112 130q8-66 88-66t88 66v186q0 26-28 26h-120q-28 0-28-26z', $p) .
	part('M106 118q12-62 94-62t94 62v58q-94 28-188 0z', $p, 'url(#down)') .
	'<path d="M140 232h120v70q0 16-18 16h-84q-18 0-18-16z" fill="' .
	shade($c, -.18) . '"/><path d="M140 232h120v16h-120z" fill="' .
	shade($c, -.42) . '"/>' .
	'<path d="M160 168v60M240 168v60" stroke="#6d4a30" stroke-width="14"/>' .
	'<rect x="150" y="206" width="20" height="16" rx="3" ' .
	'fill="url(#brass)"/><rect x="230" y="206" width="20" height="16" ' .
	'rx="3" fill="url(#brass)"/>',

'tote' => fn ($c, $p) => shadow(336, 130) .
	'<path d="M148 160q0-110 52-110t52 110" fill="none" stroke="' .
	shade($c, -.5) . '" stroke-width="10"/>' .
	part('M94 146h212l16 172q2 18-18 18h-208q-20 0-18-18z', $p) .
	'<path d="M142 168q0-112 58-112t58 112" fill="none" stroke="#7a5335" ' .
	'stroke-width="12"/><path d="M132 160h22v34h-22zM246 160h22v34h-22z" ' .
	'fill="#7a5335"/><path d="M94 146h212l1 12h-214z" fill="' .
	shade($c, -.35) . '"/>' .
	'<rect x="176" y="270" width="48" height="26" rx="3" fill="#7a5335"/>',

'weekender' => fn ($c, $p) => shadow(322, 158) .
	'<path d="M132 190q0-96 68-96t68 96" fill="none" stroke="#6d4a30" ' .
	'stroke-width="13"/>' .
	part('M62 186q4-32 42-32h192q38 0 42 32l8 104q2 30-30 30h-232q-32 0' .
	'-30-30z', $p) .
	'<path d="M84 166q116-18 232 0" fill="none" stroke="url(#brass)" ' .
	'stroke-width="6"/>' .
	'<path d="M120 168h26v152h-26zM254 168h26v152h-26z" fill="#6d4a30"/>' .
	'<path d="M54 286h292q2 34-30 34h-232q-32 0-30-34z" fill="#5d3f29"/>' .
	'<circle cx="133" cy="196" r="7" fill="url(#brass)"/>' .
	'<circle cx="267" cy="196" r="7" fill="url(#brass)"/>',

'pouch' => fn ($c, $p) => shadow(300, 142) .
	part('M76 150q124-14 248 0 8 70-2 134-2 14-18 14h-208q-16 0-18-14' .
	'-10-64-2-134z', $p) .
	'<path d="M76 152q124-14 248 0" fill="none" stroke="' .
	shade($c, -.5) . '" stroke-width="12"/>' .
	'<path d="M80 151q120-13 240 0" fill="none" stroke="url(#brass)" ' .
	'stroke-width="5" stroke-dasharray="5 3"/>' .
	'<path d="M318 150l22 12-6 34-16-4z" fill="#7a5335"/>' .
	'<rect x="92" y="256" width="44" height="24" rx="3" fill="#7a5335"/>',
];
