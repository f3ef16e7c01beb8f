/* "file.h5:name": a file and something inside it. SPDX-License-Identifier: BSD-3-Clause */
#include "io/binary.h"

#include <sys/stat.h>

kdr_status kdri_split_member(kdr_context *ctx, const char *path, char **file, char **member)
{
	kdr_status st;
	struct stat info;
	char *f = NULL, *m = NULL;
	KDRI_TRY(kdri_strdup(ctx, path, &f));
	/* A file of exactly that name wins: names may hold colons. Otherwise the longest one that exists. */
	if (stat(path, &info) != 0)
		for (size_t i = strlen(path); i > 1; i--) {
			if (path[i - 1] != ':')
				continue;
			f[i - 1] = '\0';
			if (stat(f, &info) == 0) {
				KDRI_TRY(kdri_strdup(ctx, path + i, &m));
				break;
			}
			f[i - 1] = ':';
		}
	*file = f;
	*member = m;
	f = NULL;
done:
	kdri_free(ctx, f);
	return st;
}
