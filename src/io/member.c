/* "file.h5:name": a file and something inside it. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "io/binary.h"

kdr_status kdri_split_member(kdr_context *ctx, const char *path, char **file, char **member)
{
	kdr_status st;
	kdri_file info;
	char *f = NULL, *m = NULL;
	KDRI_TRY(kdri_strdup(ctx, path, &f));
	/* A file of exactly that name wins: names may hold colons. Otherwise the longest one that exists. */
	if (!kdri_file_at(path, &info))
		for (size_t i = strlen(path); i > 1; i--) {
			if (path[i - 1] != ':')
				continue;
			f[i - 1] = '\0';
			if (kdri_file_at(f, &info)) {
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
