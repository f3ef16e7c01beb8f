/* Data set names from file names. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "io/io.h"

bool kdri_ends_with(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && strcmp(text + n - m, suffix) == 0;
}

kdr_status kdri_path_stem(kdr_context *ctx, const char *path, char **out)
{
	const char *base = path + kdri_folder_length(path);
	size_t n = strlen(base);
	if (n > 3 && kdri_ends_with(base, ".gz"))
		n -= 3;
	/* The ending is what follows the last dot, but a leading dot is part of the name. */
	for (size_t i = n; i > 1; i--)
		if (base[i - 1] == '.') {
			n = i - 1;
			break;
		}
	return kdri_strndup(ctx, base, n, out);
}

kdr_status kdri_folder_name(kdr_context *ctx, const char *path, char **out)
{
	size_t end = strlen(path), begin;
	while (end > 1 && kdri_is_separator(path[end - 1]))
		end--;
	for (begin = end; begin > 0 && !kdri_is_separator(path[begin - 1]); begin--)
		;
	return kdri_strndup(ctx, path + begin, end - begin, out);
}
