/* Bytes to valid UTF-8. SPDX-License-Identifier: BSD-3-Clause
 *
 * Old news and web pages specify no encoding, or a wrong one. A document that is valid UTF-8 is read as UTF-8, because
 * other encodings are hardly ever valid UTF-8 by chance. Everything else is read as Windows-1252, which has the letters
 * of Latin-1 and more, and a character for every byte. */
#include "core/utf8.h"

#include <string.h>

bool kdri_utf8_valid(const char *text, size_t length)
{
	const char *p = text, *end = text + length;
	while (p < end) {
		uint64_t eight; /* ASCII characters at once */
		while (end - p >= 8 && (memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0))
			p += 8;
		uint32_t c;
		const size_t n = p < end ? kdri_utf8_at(p, (size_t)(end - p), &c) : 0;
		if (n == 0)
			return p == end;
		p += n;
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
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(n == 1 ? c : lead[n] | c);
	return n;
}

size_t kdri_decode_1252(const char *text, size_t length, char *out)
{
	char *to = out;
	for (size_t i = 0; i < length; i++)
		to += kdri_utf8_put(kdri_1252((unsigned char)text[i]), to);
	return (size_t)(to - out);
}
