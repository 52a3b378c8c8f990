/*
 * qr - a link as a QR code in the terminal; the one file that knows
 * libqrencode.
 */
#ifndef AG_QR_H
#define AG_QR_H

#include <stdio.h>

#include "core/base/str.h"

/* Dark on light whatever the terminal's colours are, two rows of modules a
 * line. A text too long for a code is left out. */
void ag_qr_show(FILE *to, struct pf_str text);

#endif
