/* What the number readers share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NUMBERS_H
#define KDRI_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 kdri_u128;

/* Whether the `n` characters at p are `word`, which is in lower case; ASCII letters match in any case,
 * whatever the locale. */
static inline bool kdri_same_word(const char *p, size_t n, const char *word)
{
	size_t i = 0;
	for (; i < n && word[i]; i++)
		if (p[i] != word[i] && !(p[i] >= 'A' && p[i] <= 'Z' && p[i] + 32 == word[i]))
			return false;
	return i == n && !word[i];
}

/* As kdri_parse_double, with `point` for the decimal point ('.' or ','). */
const char *kdri_parse_decimal(const char *p, const char *end, char point, double *value);

#endif
