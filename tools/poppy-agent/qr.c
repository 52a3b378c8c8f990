#include "config.h"

#include "tools/poppy-agent/qr.h"

#include <qrencode.h>
#include <string.h>

#define TEXT_MAX	1000
#define QUIET		2	/* modules of margin; readers manage with it */

static bool
dark(const QRcode *q, int x, int y)
{
	return x >= 0 && y >= 0 && x < q->width && y < q->width &&
	    (q->data[y * q->width + x] & 1) != 0;
}

static void
put_line(FILE *to, const QRcode *q, int y)
{
	/* Upper and lower half of one character; set means light. */
	static const char *const blocks[2][2] = {
		{ "\xe2\x96\x88", "\xe2\x96\x80" },
		{ "\xe2\x96\x84", " " },
	};

	fputs("\033[97;40m", to);
	for (int x = -QUIET; x < q->width + QUIET; x++)
		fputs(blocks[dark(q, x, y)][dark(q, x, y + 1)], to);
	fputs("\033[0m\n", to);
}

void
ag_qr_show(FILE *to, struct pf_str text)
{
	char z[TEXT_MAX + 1];
	QRcode *q;

	if (text.n > TEXT_MAX)
		return;
	(void)memcpy(z, text.p, text.n);
	z[text.n] = '\0';
	q = QRcode_encodeString8bit(z, 0, QR_ECLEVEL_L);
	if (q == NULL)
		return;
	for (int y = -QUIET; y < q->width + QUIET; y += 2)
		put_line(to, q, y);
	QRcode_free(q);
}
