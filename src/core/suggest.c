/* Nearest spellings. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

enum { LONGEST = 63 };

/* Optimal string alignment distance (insert, delete, replace, swap neighbours), or a large number if a word is too
 * long. */
static int suggest_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	int d[3][LONGEST + 1];
	if (n > LONGEST || m > LONGEST)
		return 1000;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			int best = up[j - 1] + (a[i - 1] != b[j - 1]);
			best = KDRI_MIN(best, KDRI_MIN(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = KDRI_MIN(best, up2[j - 2] + 1);
			row[j] = best;
		}
	}
	return d[n % 3][m];
}

size_t kdr_suggest(const char *word, const char *const *words, size_t count, const char **out, size_t most)
{
	if (!word || !words || !out)
		return 0;
	size_t length = strlen(word), found = 0;
	/* A typing error changes at most about a third of a word; a word that only continues what was typed
	 * ("eval" for "evaluate") counts as nearest. */
	int limit = length <= 3 ? 1 : length <= 6 ? 2 : 3;
	for (int d = 0; d <= limit && found < most; d++)
		for (size_t i = 0; i < count && found < most; i++) {
			bool prefix = length >= 2 && strncmp(word, words[i], length) == 0;
			int own = prefix ? 0 : suggest_distance(word, words[i]);
			if (own == d)
				out[found++] = words[i];
		}
	return found;
}
