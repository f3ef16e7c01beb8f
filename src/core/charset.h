/* Detects the East Asian character set of a text that is not UTF-8. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CHARSET_H
#define KDRI_CHARSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kdri_charset {
	KDRI_CHARSET_NONE, /* another one */
	KDRI_GB18030,
	KDRI_BIG5,
	KDRI_SHIFT_JIS,
	KDRI_EUC_KR,
	KDRI_EUC_JP,
	KDRI_CHARSETS
} kdri_charset;

/* Characters of several bytes in a text, read as each of the character sets. */
typedef struct kdri_charset_counts {
	struct {
		int64_t pairs, errors; /* characters of several bytes; bytes that belong to none */
		int64_t common, kana;  /* of `pairs`: those that most texts consist of; Japanese letters */
		int64_t high;          /* of `pairs`: without any byte of ASCII */
	} of[KDRI_CHARSETS];
} kdri_charset_counts;

/* Such as "GB18030". */
const char *kdri_charset_name(kdri_charset charset);
/* Adds the characters of a text. */
void kdri_charset_count(const char *text, size_t length, kdri_charset_counts *counts);
kdri_charset kdri_charset_find(const kdri_charset_counts *counts);

#endif
