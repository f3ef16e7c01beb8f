/* Characters of UTF-8, one at a time. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_UTF8_H
#define KDRI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text`, of which `left` bytes are there, and its number; 0 if it is none. */
static inline size_t kdri_utf8_at(const char *text, size_t left, uint32_t *number)
{
	const unsigned char *p = (const unsigned char *)text;
	*number = p[0];
	if (p[0] < 0x80)
		return 1;
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > left)
		return 0;
	uint32_t c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	*number = c;
	/* Nothing longer than need be, no halves of a pair, nothing beyond the last. */
	return c >= (n == 2   ? 0x80u
	             : n == 3 ? 0x800u
	                      : 0x10000u) &&
	                       c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)
	               ? n
	               : 0;
}

#endif
