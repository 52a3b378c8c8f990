<?php
// Stoneware and glass.
declare(strict_types=1);

return [
'mug' => fn ($c, $p) => shadow(316, 112) .
	'<path d="M268 170c62-12 76 84 2 92" fill="none" stroke="' .
	shade($c, -.2) . '" stroke-width="20" stroke-linecap="round"/>' .
	part('M122 128h152l-7 168q-2 20-24 20h-90q-22 0-24-20z', $p) .
	'<ellipse cx="198" cy="128" rx="76" ry="17" fill="' . shade($c, .35) .
	'"/><ellipse cx="198" cy="130" rx="67" ry="12" fill="' .
	shade($c, -.5) . '"/><path d="M136 152l5 120" stroke="#fff" ' .
	'stroke-opacity=".35" stroke-width="7" stroke-linecap="round"/>',

'tumbler' => fn ($c, $p) => shadow(316, 86) .
	part('M134 118h132l-14 182q-2 16-18 16h-68q-16 0-18-16z', $p,
	    'url(#body)') .
	'<path d="M151 306q49 12 98 0" stroke="' . shade($c, -.4) .
	'" fill="none" stroke-width="4"/>' .
	'<ellipse cx="200" cy="118" rx="66" ry="15" fill="' . shade($c, .45) .
	'"/><ellipse cx="200" cy="120" rx="57" ry="11" fill="' .
	shade($c, -.35) . '"/><path d="M152 146l9 126" stroke="#fff" ' .
	'stroke-opacity=".4" stroke-width="8" stroke-linecap="round"/>',

'bowl' => fn ($c, $p) => shadow(300, 128) .
	part('M68 172h264q-4 84-78 116h-108q-74-32-78-116z', $p) .
	'<path d="M150 288h100l-6 14h-88z" fill="' . shade($c, -.45) . '"/>' .
	'<ellipse cx="200" cy="172" rx="132" ry="33" fill="' . shade($c, .4) .
	'"/><ellipse cx="200" cy="175" rx="120" ry="26" fill="' .
	shade($c, -.18) . '"/><path d="M96 184q104 34 208 0-30 17-104 17t-104' .
	'-17" fill="' . shade($c, .12) . '"/>',

'plate' => fn ($c, $p) => shadow(292, 160) .
	'<circle cx="200" cy="198" r="146" fill="' . shade($c, -.25) . '"/>' .
	'<circle cx="200" cy="194" r="146" fill="url(#down)"/>' .
	"<circle cx=\"200\" cy=\"194\" r=\"146\" fill=\"url(#$p)\"/>" .
	'<circle cx="200" cy="194" r="100" fill="' . shade($c, -.08) . '"/>' .
	'<circle cx="200" cy="197" r="98" fill="#' . $c . '"/>' .
	'<path d="M86 142a126 126 0 0 1 90-70" stroke="#fff" fill="none" ' .
	'stroke-opacity=".5" stroke-width="8" stroke-linecap="round"/>',

'teapot' => fn ($c, $p) => shadow(304, 124) .
	'<path d="M128 164q4-104 72-104t72 104" fill="none" ' .
	'stroke="url(#brass)" stroke-width="10"/>' .
	'<path d="M280 232q40-8 46-66l24-10q-6 88-66 116z" fill="' .
	shade($c, -.22) . '"/>' .
	part('M110 168q90-44 180 0 42 92-30 136h-120q-72-44-30-136z', $p) .
	'<ellipse cx="200" cy="156" rx="66" ry="17" fill="' . shade($c, .3) .
	'"/><path d="M140 152q60-30 120 0z" fill="' . shade($c, .1) . '"/>' .
	'<circle cx="200" cy="130" r="12" fill="' . shade($c, -.2) . '"/>' .
	'<path d="M116 198q-14 44 8 76" stroke="#fff" stroke-opacity=".35" ' .
	'stroke-width="8" fill="none" stroke-linecap="round"/>',

'carafe' => fn ($c, $p) => shadow(334, 86) .
	'<path d="M164 90h72v56q0 22 24 58 34 60-4 130h-112q-38-70-4-130 24-36 ' .
	'24-58z" fill="url(#glass)"/>' .
	'<path d="M136 232h128q16 50-12 96h-104q-28-46-12-96z" fill="#cfe6ea" ' .
	'fill-opacity=".6"/><ellipse cx="200" cy="232" rx="64" ry="10" ' .
	'fill="#fff" fill-opacity=".55"/>' .
	'<path d="M158 60h84l-4 48h-76z" fill="url(#glass)"/>' .
	'<ellipse cx="200" cy="60" rx="42" ry="9" fill="#fff" ' .
	'fill-opacity=".6"/><path d="M150 226q-14 46 2 84" stroke="#fff" ' .
	'stroke-opacity=".8" stroke-width="6" fill="none" ' .
	'stroke-linecap="round"/>',
];
