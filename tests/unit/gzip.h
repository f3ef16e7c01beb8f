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

#define gzwrite(f, data, size) ((void)(f), (void)(data), (int)(size))
#define gzputs(f, text)        ((void)(f), (int)strlen(text))
#define gzclose(f)             ((void)(f), Z_OK)
#endif

#endif
