/* Letters of all scripts, through utf8proc. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

#include <utf8proc.h>

enum { ZERO_WIDTH_SPACE = 0x200b };

const bool kdri_unicode_known = true;

kdri_character_role kdri_character(const char *p, const char *end, int *bytes)
{
	utf8proc_int32_t c = 0;
	utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)p, end - p, &c);
	*bytes = n > 0 ? (int)n : 1;
	const utf8proc_property_t *property = utf8proc_get_property(n > 0 ? c : 0);
	switch (property->category) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO: return KDRI_STARTS;
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ME: return KDRI_CONTINUES;
	default: return property->ignorable && c != ZERO_WIDTH_SPACE ? KDRI_CONTINUES : KDRI_SEPARATES;
	}
}

size_t kdri_fold_run(bool lowercase, const char *text, size_t length, int32_t *run)
{
	utf8proc_option_t how =
	        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_IGNORE | (lowercase ? UTF8PROC_CASEFOLD : 0);
	/* Every character gives at least one, except ignored ones: a much longer run cannot fit. */
	if (length > 16 * KDRI_RUN_MAX)
		return 0;
	utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, run,
	                                        KDRI_RUN_MAX, how);
	if (n <= 0 || n > KDRI_RUN_MAX)
		return 0;
	n = utf8proc_reencode(run, n, how); /* in place: needs space for one more */
	return n > 0 ? (size_t)n : 0;
}

size_t kdri_fold_word(bool lowercase, const char *text, size_t length, char *out, size_t room)
{
	int32_t run[KDRI_RUN_MAX + 1];
	size_t n = kdri_fold_run(lowercase, text, length, run);
	if (n > room)
		return 0;
	memcpy(out, run, n);
	return n;
}
