/* Gzipped files for tests; without zlib, a test that needs one is skipped. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_GZIP_H
#define KDRI_TESTS_GZIP_H

#include "tests/unit/unit.h"

#include <zlib.h>

#ifndef KDRI_HAVE_ZLIB
typedef void *gzFile;

static inline gzFile gzopen(const char *path, const char *mode)
{
	(void)path;
	(void)mode;
	skip();
	return NULL;
}

/* Functions rather than macros: the result of many calls is not used. */
static inline int gzwrite(gzFile f, const void *data, unsigned size)
{
	(void)f;
	(void)data;
	return (int)size;
}

static inline int gzputs(gzFile f, const char *text)
{
	return gzwrite(f, text, (unsigned)strlen(text));
}

static inline int gzclose(gzFile f)
{
	return gzwrite(f, NULL, Z_OK);
}
#endif

#endif
