<?php
// Textiles.
declare(strict_types=1);

function fringe(string $hex, int $from, int $to, int $y, int $by): string
{
	$d = '';
	for ($x = $from; $x <= $to; $x += 9)
		$d .= "M$x {$y}l" . ($x % 2 ? 2 : -2) . " $by";
	return "<path d=\"$d\" stroke=\"" . shade($hex, -.15) .
	    '" stroke-width="3" stroke-linecap="round"/>';
}

return [
'throw' => fn ($c, $p) => shadow(322, 148) .
	fringe($c, 78, 322, 306, 20) .
	part('M70 236q130-20 260 0v66q0 8-8 8h-244q-8 0-8-8z', $p) .
	part('M76 176q124-22 248 0v62q-124-18-248 0z', $p, 'url(#down)') .
	part('M82 122q118-24 236 0v58q-118-20-236 0z', $p) .
	'<path d="M70 238q130-20 260 0M76 180q124-22 248 0" fill="none" ' .
	'stroke="' . shade($c, -.5) . '" stroke-opacity=".55" ' .
	'stroke-width="4"/>',

'cushion' => fn ($c, $p) => shadow(318, 136) .
	part('M78 100q122 26 244 0 12-2 10 10-24 94 0 194 2 12-10 10-122-26' .
	'-244 0-12 2-10-10 24-100 0-194-2-12 10-10z', $p, 'url(#down)') .
	'<path d="M84 108q24 100 0 200M316 108q-24 100 0 200" fill="none" ' .
	'stroke="' . shade($c, -.35) . '" stroke-opacity=".5" ' .
	'stroke-width="3"/><path d="M140 158q60 20 118 0M132 262q66-18 136 2" ' .
	'fill="none" stroke="#fff" stroke-opacity=".22" stroke-width="10" ' .
	'stroke-linecap="round"/>',

'towel' => fn ($c, $p) =>
	'<rect x="56" y="77" width="288" height="13" rx="6" ' .
	'fill="url(#brass)"/><circle cx="60" cy="84" r="14" ' .
	'fill="url(#brass)"/><circle cx="340" cy="84" r="14" ' .
	'fill="url(#brass)"/>' .
	'<path d="M134 82h170v216h-170z" fill="' . shade($c, -.35) . '"/>' .
	part('M112 76h170v256q-85 12-170 0z', $p, 'url(#down)') .
	'<path d="M112 296q85 12 170 0" stroke="' . shade($c, -.4) .
	'" stroke-width="4" fill="none"/>' . fringe($c, 116, 280, 334, 12),

'rug' => fn ($c, $p) => shadow(318, 170) .
	'<g transform="matrix(1 0 -.22 .62 58 96)">' .
	fringe($c, 62, 338, 30, -16) . fringe($c, 62, 338, 330, 18) .
	'<rect x="56" y="30" width="288" height="300" fill="' .
	shade($c, .08) . '"/><rect x="56" y="30" width="288" height="300" ' .
	"fill=\"url(#$p)\"/>" .
	'<rect x="76" y="50" width="248" height="260" fill="none" stroke="' .
	shade($c, -.4) . '" stroke-width="7"/></g>',
];
