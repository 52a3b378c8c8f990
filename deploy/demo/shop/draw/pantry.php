<?php
// Packages and jars, each with a label in the shop's hand.
declare(strict_types=1);

function label(int $x, int $y, int $w, int $h, string $hex): string
{
	$mid = $x + intdiv($w, 2);
	$ink = shade($hex, -.55);
	$wave = $y + intdiv($h, 2) - 8;
	return "<rect x=\"$x\" y=\"$y\" width=\"$w\" height=\"$h\" rx=\"2\" " .
	    'fill="#f7f1e4"/>' .
	    "<path d=\"M" . ($mid - 24) . " {$wave}q12-10 24 0t24 0M" .
	    ($mid - 24) . ' ' . ($wave + 10) . "q12-10 24 0t24 0\" fill=\"none\" " .
	    "stroke=\"$ink\" stroke-width=\"3\"/>" .
	    "<path d=\"M" . ($mid - 30) . ' ' . ($wave + 28) . 'h60M' .
	    ($mid - 18) . ' ' . ($wave + 37) . "h36\" stroke=\"$ink\" " .
	    'stroke-width="3"/>';
}

return [
'coffee' => fn ($c, $p) => shadow(340, 104) .
	part('M118 96h164l10 226q1 18-20 18h-144q-21 0-20-18z', $p) .
	'<path d="M118 96h164l2 30h-168z" fill="' . shade($c, -.35) . '"/>' .
	'<path d="M112 74h176v24h-176z" fill="' . shade($c, -.2) . '"/>' .
	'<path d="M112 84h176" stroke="' . shade($c, .4) .
	'" stroke-width="3"/><circle cx="200" cy="142" r="8" fill="' .
	shade($c, -.5) . '"/>' . label(146, 176, 108, 112, $c),

'tin' => fn ($c, $p) => shadow(340, 100) .
	part('M120 130h160v196q0 14-80 14t-80-14z', $p) .
	part('M114 88h172v46q0 12-86 12t-86-12z', 'plain', 'url(#body)') .
	'<ellipse cx="200" cy="88" rx="86" ry="16" fill="' . shade($c, .3) .
	'"/><ellipse cx="200" cy="87" rx="66" ry="10" fill="none" stroke="' .
	shade($c, -.2) . '" stroke-width="3"/>' .
	label(150, 190, 100, 104, $c),

'jar' => fn ($c, $p) => shadow(334, 98) .
	part('M116 150q0-26 24-34h120q24 8 24 34v158q0 26-26 26h-116q-26 0' .
	'-26-26z', 'plain') .
	'<path d="M130 160q-4 70 4 150" stroke="#fff" stroke-opacity=".5" ' .
	'stroke-width="8" fill="none" stroke-linecap="round"/>' .
	'<path d="M134 82h132v36h-132z" fill="url(#brass)"/>' .
	'<ellipse cx="200" cy="82" rx="66" ry="11" fill="#e9d196"/>' .
	label(144, 186, 112, 104, $c),

'bottle' => fn ($c, $p) => shadow(350, 78) .
	'<path d="M180 76h40v64q0 20 22 36 16 12 16 40v116q0 18-18 18h-80q-18 ' .
	'0-18-18v-116q0-28 16-40 22-16 22-36z" fill="' . shade($c, -.5) . '"/>' .
	'<path d="M156 210q-2 62 0 120" stroke="#fff" stroke-opacity=".35" ' .
	'stroke-width="8" fill="none" stroke-linecap="round"/>' .
	'<path d="M176 44h48v36h-48z" fill="url(#wood)"/>' .
	label(148, 222, 104, 100, $c),
];
