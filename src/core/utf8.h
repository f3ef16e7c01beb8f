/* UTF-8, character by character, and other encodings made into it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_UTF8_H
#define KDRI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes of the character at `text`, of which `left` bytes are available, and gives its code point;
 * 0 if it is not a character. */
static inline size_t kdri_utf8_at(const char *text, size_t left, uint32_t *number)
{
	const unsigned char *p = (const unsigned char *)text;
	*number = p[0];
	if (p[0] < 0x80)
		return 1;
	const size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	const uint32_t least = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > left)
		return 0;
	uint32_t c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	*number = c;
	/* Overlong forms, surrogates and code points above the last character are not characters. */
	return c >= least && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? n : 0;
}

bool kdri_utf8_valid(const char *text, size_t length);
/* Writes 1 to 4 bytes; invalid code points become U+FFFD. */
size_t kdri_utf8_put(uint32_t character, char *out);
/* The character of Windows-1252 for a byte from 0x80 to 0x9f. */
uint32_t kdri_1252(unsigned char byte);
/* Writes the UTF-8 of `text` read as Windows-1252 (a superset of the printable part of Latin-1); `out` needs 3 x length
 * bytes. Returns the number of bytes written. */
size_t kdri_decode_1252(const char *text, size_t length, char *out);

/* Detects the East Asian character set of a text that is not UTF-8. */

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
