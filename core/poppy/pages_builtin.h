/*
 * pages_builtin - the files of pages/, put into the program by pages/embed.
 */
#ifndef PF_PAGES_BUILTIN_H
#define PF_PAGES_BUILTIN_H

#include "core/base/str.h"

struct pf_builtin {
	const char *name;
	const unsigned char *p;
	size_t n;
};

extern const struct pf_builtin pf_builtin_pages[];
extern const size_t pf_builtin_npages;

#endif
