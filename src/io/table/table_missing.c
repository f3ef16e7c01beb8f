/* Cells without a value. SPDX-License-Identifier: BSD-3-Clause */
#include "io/table/table.h"

bool kdri_is_missing(const char *p, const char *end, const char *const *na)
{
	/* NA has to be written so: Na is sodium. */
	static const char *const words[] = { "n/a", "#n/a", "nan", "null", "none", NULL };
	while (p < end && kdri_is_blank(*p))
		p++;
	while (end > p && kdri_is_blank(end[-1]))
		end--;
	size_t n = (size_t)(end - p);
	if (n == 0 || (n == 1 && (*p == '?' || *p == '-')) || (n == 2 && memcmp(p, "NA", 2) == 0))
		return true;
	for (int i = 0; n <= 4 && words[i]; i++)
		if (kdri_same_word(p, n, words[i]))
			return true;
	for (; na && *na; na++)
		if (strlen(*na) == n && memcmp(p, *na, n) == 0)
			return true;
	return false;
}
