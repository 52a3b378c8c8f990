<?php
// Paper, brass and wood.
declare(strict_types=1);

function clock_marks(): string
{
	$d = '';
	for ($i = 0; $i < 12; $i++) {
		$a = $i * M_PI / 6;
		$r = $i % 3 ? 92 : 84;
		$d .= sprintf('M%.1f %.1fL%.1f %.1f', 200 + sin($a) * $r,
		    196 - cos($a) * $r, 200 + sin($a) * 102,
		    196 - cos($a) * 102);
	}
	return $d;
}

return [
'notebook' => fn ($c, $p) => shadow(340, 128) .
	'<path d="M112 72h190v262h-190z" fill="#efe8d8"/>' .
	'<path d="M300 76v256M296 76v258" stroke="#cfc4ad" ' .
	'stroke-width="2"/>' .
	part('M100 62h186q8 0 8 8v256q0 8-8 8h-186z', $p) .
	'<path d="M100 62h28v272h-28z" fill="' . shade($c, -.35) . '"/>' .
	'<rect x="158" y="112" width="106" height="52" rx="2" ' .
	'fill="#f5efe2"/><path d="M174 132h74M174 146h46" stroke="' .
	shade($c, -.5) . '" stroke-width="3"/>' .
	'<path d="M270 334v34l-7-8-7 8v-34z" fill="#b3563a"/>',

'pen' => fn ($c, $p) => shadow(316, 140) .
	'<g transform="rotate(-32 200 200)">' .
	part('M60 182h214v38h-214q-12 0-12-19t12-19z', $p, 'url(#down)') .
	'<path d="M60 212h214v8h-214q-6 0-8-8z" fill="' . shade($c, -.35) .
	'"/><path d="M274 184l62 14q6 3 0 6l-62 14z" fill="url(#brass)"/>' .
	'<path d="M336 198l18 3-18 3z" fill="#2d2a26"/>' .
	'<path d="M178 180h9v42h-9zM262 181h8v40h-8z" fill="url(#brass)"/>' .
	'<path d="M66 172h96v9h-96z" fill="url(#brass)"/></g>',

'tray' => fn ($c, $p) => shadow(300, 164) .
	'<path d="M92 140h216l44 120h-304z" fill="' . shade($c, -.5) . '"/>' .
	'<path d="M104 152h192l36 96h-264z" fill="' . shade($c, -.3) . '"/>' .
	"<path d=\"M104 152h192l36 96h-264z\" fill=\"url(#$p)\"/>" .
	'<path d="M150 168l86-8 22 62-96 10z" fill="#f7f2e6"/>' .
	'<path d="M170 180l56-5M174 192l60-6M180 204l40-4" stroke="#b8ac95" ' .
	'stroke-width="3"/>' .
	part('M48 260h304v26q0 12-12 12h-280q-12 0-12-12z', 'plain') .
	'<path d="M92 140l-44 120h14l42-108z" fill="' . shade($c, .2) .
	'"/><path d="M308 140l44 120h-14l-42-108z" fill="' . shade($c, -.1) .
	'"/>',

'clock' => fn ($c, $p) => shadow(348, 100) .
	'<circle cx="200" cy="200" r="136" fill="' . shade($c, -.45) . '"/>' .
	'<circle cx="200" cy="196" r="136" fill="url(#body)"/>' .
	'<circle cx="200" cy="196" r="116" fill="#f8f4ea"/>' .
	'<path d="' . clock_marks() . '" stroke="#35322e" stroke-width="5" ' .
	'stroke-linecap="round"/>' .
	'<path d="M200 196l-50-34" stroke="#2f2c29" stroke-width="8" ' .
	'stroke-linecap="round"/><path d="M200 196l34-66" stroke="#2f2c29" ' .
	'stroke-width="6" stroke-linecap="round"/>' .
	'<circle cx="200" cy="196" r="8" fill="#b3563a"/>' .
	'<path d="M112 122a116 116 0 0 1 70-40" stroke="#fff" fill="none" ' .
	'stroke-width="6" stroke-opacity=".7" stroke-linecap="round"/>',
];
