/* Bytes to valid UTF-8. SPDX-License-Identifier: BSD-3-Clause
 *
 * Old news and web pages say nothing, or something wrong, about their encoding. A document that is
 * valid UTF-8 is taken as such: other encodings hardly ever look so by chance. Everything else is read
 * as Windows-1252, which has the letters of Latin-1 and more, and knows a character for every byte. */
#include "core/encoding.h"

#include <string.h>

bool kdri_utf8_valid(const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + length;
	while (p < end) {
		uint64_t eight;
		while (end - p >= 8 && (memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0))
			p += 8;
		if (p == end)
			break;
		unsigned c = *p++;
		if (c < 0x80)
			continue;
		/* How many bytes follow, and the range of the first of them: that excludes overlong forms,
		 * surrogates and what lies above U+10FFFF. */
		int follow = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
		unsigned low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
		unsigned high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
		if (c < 0xc2 || c > 0xf4 || end - p < follow || *p < low || *p > high)
			return false;
		for (p++; --follow > 0; p++)
			if ((*p & 0xc0) != 0x80)
				return false;
	}
	return true;
}

uint32_t kdri_1252(unsigned char byte)
{
	/* The five bytes without a character keep their control codes. */
	static const uint16_t high[32] = {
		0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
		0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
		0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178,
	};
	return byte >= 0x80 && byte < 0xa0 ? high[byte - 0x80] : byte;
}

size_t kdri_utf8_put(uint32_t c, char *out)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t kdri_decode_1252(const char *text, size_t length, char *out)
{
	char *to = out;
	for (size_t i = 0; i < length; i++)
		to += kdri_utf8_put(kdri_1252((unsigned char)text[i]), to);
	return (size_t)(to - out);
}
