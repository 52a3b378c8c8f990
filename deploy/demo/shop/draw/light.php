<?php
// Lamps and candles, all of them lit.
declare(strict_types=1);

function halo(int $y, int $r): string
{
	return "<circle cx=\"200\" cy=\"$y\" r=\"$r\" fill=\"url(#glow)\" " .
	    'opacity=".9"/>';
}

return [
'tablelamp' => fn ($c, $p) => halo(160, 150) . shadow(338, 96) .
	'<path d="M190 196h20l4 60q42 10 44 62 0 18-22 18h-72q-22 0-22-18 ' .
	'2-52 44-62z" fill="url(#wood)"/>' .
	part('M150 74h100l42 126h-184z', $p) .
	'<ellipse cx="200" cy="200" rx="92" ry="13" fill="#fff3cf"/>' .
	'<ellipse cx="200" cy="74" rx="50" ry="8" fill="#fff0c4"/>',

'pendant' => fn ($c, $p) => halo(262, 130) .
	'<path d="M200 0v120" stroke="#3a3632" stroke-width="5"/>' .
	'<rect x="184" y="112" width="32" height="30" rx="6" ' .
	'fill="url(#brass)"/>' .
	part('M178 138h44q78 22 96 122h-236q18-100 96-122z', $p) .
	'<ellipse cx="200" cy="260" rx="118" ry="20" fill="#fff6dc"/>' .
	'<circle cx="200" cy="262" r="24" fill="#fffdf2"/>',

'floorlamp' => fn ($c, $p) => halo(116, 120) . shadow(362, 92) .
	'<path d="M200 130v226" stroke="url(#wood)" stroke-width="11"/>' .
	'<path d="M197 150h7v206h-7z" fill="' . shade($c, -.3) . '"/>' .
	'<path d="M136 352h128l10 14h-148z" fill="' . shade($c, -.4) . '"/>' .
	part('M152 46h96l30 104h-156z', $p) .
	'<ellipse cx="200" cy="150" rx="78" ry="11" fill="#fff3cf"/>' .
	'<circle cx="200" cy="182" r="6" fill="url(#brass)"/>',

'lantern' => fn ($c, $p) => halo(220, 110) . shadow(344, 90) .
	'<path d="M128 150q72-176 144 0" fill="none" stroke="' .
	shade($c, -.3) . '" stroke-width="8"/>' .
	'<path d="M140 158h120v150h-120z" fill="#fff4d2" fill-opacity=".75"/>' .
	'<path d="M188 252h24v56h-24z" fill="#f4ead6"/>' .
	'<path d="M200 202q18 26 0 48-18-22 0-48z" fill="#f6a93b"/>' .
	'<path d="M140 158v150M260 158v150M180 158v150M220 158v150" stroke="' .
	shade($c, -.25) . '" stroke-width="7"/>' .
	part('M160 104h80l34 56h-148z', $p) .
	part('M122 304h156v30q0 10-12 10h-132q-12 0-12-10z', $p),

'candle' => fn ($c, $p) => halo(118, 110) . shadow(340, 84) .
	'<path d="M200 84q22 34 0 60-22-26 0-60z" fill="#f7a833"/>' .
	'<path d="M200 108q10 18 0 34-10-16 0-34z" fill="#fff3c4"/>' .
	'<path d="M200 138v26" stroke="#38312a" stroke-width="4"/>' .
	part('M136 164h128v160q0 16-18 16h-92q-18 0-18-16z', $p) .
	'<ellipse cx="200" cy="164" rx="64" ry="14" fill="' . shade($c, .5) .
	'"/><ellipse cx="200" cy="165" rx="44" ry="8" fill="#fff2c6"/>',
];
