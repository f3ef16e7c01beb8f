/* MATLAB files: v7.3 is HDF5, the others are not. SPDX-License-Identifier: BSD-3-Clause */
#include "io/matlab/mat.h"

#include <stdio.h>

void kdri_mat_note(kdri_mat_search *s, const char *name, const char *problem)
{
	if (!problem && s->count++ == 0)
		snprintf(s->name, sizeof s->name, "%s", name);
	kdri_list_add(s->others, sizeof s->others, "%s%s%s%s", name, problem ? " (" : "",
	              problem ? problem : "", problem ? ")" : "");
}

kdr_status kdri_mat_choose(kdr_context *ctx, const char *path, const char *wanted, kdri_mat_search *s)
{
	if (wanted)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: has no variable '%s'; its variables are: %s", path,
		                 wanted, s->others[0] ? s->others : "none");
	if (s->count != 1)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: has %lld matrices of numbers; specify one as file.mat:variable%s%s",
		                 path, (long long)s->count, s->others[0] ? ": " : "", s->others);
	return KDR_OK;
}

static kdr_status read_mat(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	(void)options;
	kdr_status st;
	kdri_input *in = NULL;
	char *file = NULL, *member = NULL, start[128];
	size_t got = 0;
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(kdri_input_open(ctx, file, &in)); /* sets the error for a file that cannot be read */
	KDRI_TRY(kdri_input_read(ctx, in, start, sizeof start, &got));
	/* Bytes 124 to 127 of the text header: the version, and "MI" as the writer's integers lie. v7.3 keeps
	 * that header in front of HDF5. */
	bool little = got == sizeof start && memcmp(start + 126, "IM", 2) == 0;
	bool big = got == sizeof start && memcmp(start + 126, "MI", 2) == 0;
	int version = little ? start[125] : big ? start[124] : 0;
	if (version == 2 || (got >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0))
		KDRI_TRY(kdri_mat73_read(ctx, path, data));
	else if (version == 1)
		KDRI_TRY(kdri_mat5_read(ctx, file, member, data));
	else
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not a MATLAB file of version 5 or 7.3", file);
done:
	kdri_input_close(ctx, in);
	KDRI_FREE(ctx, file, member);
	return st;
}

static const char *const endings[] = { ".mat", NULL };

const kdri_format kdri_format_mat = {
	.id = "mat",
	.endings = endings,
	.read = read_mat,
	.help = "MATLAB v5 and v7.3: the only matrix, or file.mat:variable",
};
