<?php
// Product pictures: one drawing a shape, coloured and patterned on request.
declare(strict_types=1);

// A colour moved towards white (0..1) or black (0..-1).
function shade(string $hex, float $by): string
{
	$out = '#';
	foreach (str_split($hex, 2) as $part) {
		$v = hexdec($part);
		$v = $by > 0 ? $v + (255 - $v) * $by : $v * (1 + $by);
		$out .= str_pad(dechex((int)round($v)), 2, '0', STR_PAD_LEFT);
	}
	return $out;
}

// Gradients and patterns that every drawing may use by name.
function defs(string $hex): string
{
	$c = '#' . $hex;
	$stops = fn (array $at) => implode('', array_map(fn ($o, $s) =>
	    "<stop offset=\"$o\" stop-color=\"$s\"/>", array_keys($at), $at));
	$body = $stops(['0' => shade($hex, -.28), '.22' => $c,
	    '.45' => shade($hex, .28), '.7' => $c, '1' => shade($hex, -.38)]);
	$wood = $stops(['0' => '#8a5f39', '.4' => '#c59663', '1' => '#77502f']);
	$brass = $stops(['0' => '#7d5f22', '.4' => '#e7c878', '1' => '#86652a']);
	$light = array_sum(array_map('hexdec', str_split($hex, 2))) > 480;
	$back = $stops(['0' => shade($hex, $light ? .5 : .82),
	    '1' => shade($hex, $light ? .12 : .62)]);
	$line = shade($hex, -.45);
	$pale = shade($hex, .55);
	return <<<SVG
<linearGradient id="body">$body</linearGradient>
<linearGradient id="down" x2="0" y2="1"><stop stop-color="{$pale}" offset="0"/><stop stop-color="$c" offset="1"/></linearGradient>
<linearGradient id="wood">$wood</linearGradient>
<linearGradient id="brass">$brass</linearGradient>
<radialGradient id="glow"><stop stop-color="#fff2c2" offset="0"/><stop stop-color="#ffe09a" stop-opacity=".55" offset=".5"/><stop stop-color="#ffd98a" stop-opacity="0" offset="1"/></radialGradient>
<linearGradient id="back" x2="0" y2="1">$back</linearGradient>
<radialGradient id="floor"><stop stop-color="#000" stop-opacity=".34" offset="0"/><stop stop-color="#000" stop-opacity="0" offset="1"/></radialGradient>
<linearGradient id="glass"><stop stop-color="$c" stop-opacity=".75" offset="0"/><stop stop-color="#fff" stop-opacity=".55" offset=".3"/><stop stop-color="$c" stop-opacity=".35" offset=".6"/><stop stop-color="$line" stop-opacity=".6" offset="1"/></linearGradient>
<pattern id="plain" width="9" height="9" patternUnits="userSpaceOnUse"><path d="M0 9L9 0" stroke="#fff" stroke-opacity=".05"/></pattern>
<pattern id="stripe" width="400" height="26" patternUnits="userSpaceOnUse"><path d="M0 6h400" stroke="$pale" stroke-opacity=".8" stroke-width="6"/></pattern>
<pattern id="band" width="400" height="400" patternUnits="userSpaceOnUse"><path d="M0 226h400" stroke="$pale" stroke-opacity=".75" stroke-width="34"/></pattern>
<pattern id="dot" width="23" height="19" patternUnits="userSpaceOnUse"><circle cx="4" cy="5" r="1.7" fill="$line"/><circle cx="15" cy="13" r="1.1" fill="$line"/><circle cx="19" cy="3" r=".8" fill="$line"/></pattern>
<pattern id="check" width="44" height="44" patternUnits="userSpaceOnUse"><path d="M0 11h44M11 0v44" stroke="$line" stroke-opacity=".38" stroke-width="13"/><path d="M0 33h44M33 0v44" stroke="$pale" stroke-opacity=".7" stroke-width="3"/></pattern>
SVG;
}

// A part with its colour, and the same outline again with the pattern on it.
function part(string $d, string $pattern, string $fill = 'url(#body)'): string
{
	return "<path d=\"$d\" fill=\"$fill\"/><path d=\"$d\" " .
	    "fill=\"url(#$pattern)\"/>";
}

function shadow(int $y, int $rx, int $x = 200): string
{
	return "<ellipse cx=\"$x\" cy=\"$y\" rx=\"$rx\" ry=\"" .
	    (int)($rx * .13 + 4) . '" fill="url(#floor)"/>';
}

// null for a shape, colour or pattern that isn't ours.
function draw(string $shape, string $hex, string $pattern): ?string
{
	static $shapes = null;

	if ($shapes === null)
		foreach (glob(__DIR__ . '/../draw/*.php') as $file)
			$shapes = ($shapes ?? []) + require $file;
	if (!isset($shapes[$shape]) || !preg_match('/^[0-9a-f]{6}$/D', $hex) ||
	    !in_array($pattern, ['plain', 'stripe', 'band', 'dot', 'check'], true))
		return null;
	return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">' .
	    '<defs>' . defs($hex) . '</defs>' .
	    '<rect width="400" height="400" fill="url(#back)"/>' .
	    $shapes[$shape]($hex, $pattern) . '</svg>';
}
