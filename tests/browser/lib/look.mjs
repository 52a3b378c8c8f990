// look - what can be seen of a page, judged in the page itself.

// Contrast of two colours (WCAG 2.2), in the page.
export const CONTRAST = () => {
	const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
	const lum = ([r, g, bl]) => [r, g, bl].map((v) => v / 255).map((v) =>
	    v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
	    .reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		for (let n = e; n; n = n.parentElement) {
			const c = parse(getComputedStyle(n).backgroundColor);

			if (c.length === 3 || c[3] === 1)
				return c;
		}
		return [255, 255, 255];
	};
	const bad = [];

	for (const e of document.querySelectorAll('body *')) {
		const text = [...e.childNodes].some((n) => n.nodeType === 3 &&
		    n.textContent.trim());

		if (!text || !e.offsetParent)
			continue;
		const s = getComputedStyle(e);
		const [x, y] = [lum(parse(s.color)), lum(behind(e))]
		    .sort((a, c) => c - a);
		const ratio = (x + 0.05) / (y + 0.05);
		const large = parseFloat(s.fontSize) >= 24;

		if (ratio < (large ? 3 : 4.5))
			bad.push(`${e.tagName} "${e.textContent.trim()
			    .slice(0, 30)}" ${ratio.toFixed(2)}`);
	}
	return bad;
};
