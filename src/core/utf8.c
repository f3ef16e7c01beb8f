/* Bytes to valid UTF-8. SPDX-License-Identifier: BSD-3-Clause
 *
 * Old news and web pages specify no encoding, or a wrong one. A document that is valid UTF-8 is read as UTF-8, because
 * other encodings are hardly ever valid UTF-8 by chance. Everything else is read as Windows-1252, which has the letters
 * of Latin-1 and more, and a character for every byte. */
#include <string.h>

#include "core/utf8.h"

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

/* Detects the East Asian character set of a text that is not UTF-8.
 *
 * In these sets nearly every sequence of bytes is some text, so validity alone decides little. Each set keeps the
 * characters that are used most in a block of its own, though, and a text read as the wrong set hits the block of that
 * set rarely:
 *
 *   GB18030    lead bytes b0 to d7 (level 1 of GB 2312) hold over 90 % of the characters of Chinese texts
 *   EUC-KR     lead bytes b0 to c8 hold all syllables in use; of Chinese texts, only about half of the characters are there
 *   Big5       lead bytes a4 to c6, with any second byte
 *   Shift-JIS  lead bytes 82 and 83 hold kana, 88 to 97 the common kanji
 *   EUC-JP     lead bytes a4 and a5 hold kana, b0 to cf the common kanji
 *
 * Texts of Windows-1252 and of other sets of single bytes have few pairs of bytes from the upper half, or words of odd
 * length, whose last byte is followed by a space: an error in all sets. Quotation marks of Windows-1252 followed by a
 * letter look like kanji of Shift-JIS, but nothing in such texts looks like kana. */

/* At most this fraction of the characters may be damaged; at least this fraction must be common, or kana. */
static const double most_errors = 0.02, least_common = 0.85, least_korean = 0.9, least_kana = 0.12,
                    least_high = 0.25;
enum { LEAST_PAIRS = 3 };

const char *kdri_charset_name(kdri_charset charset)
{
	static const char *const names[] = { "", "GB18030", "Big5", "Shift-JIS", "EUC-KR", "EUC-JP" };
	return names[charset];
}

static bool in(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

/* A character in one of the sets: its bytes, 0 if there is none, and its type. */
typedef struct character {
	int bytes;
	bool common, kana;
} character;

static character gb18030(const unsigned char *p, size_t left)
{
	if (!in(p[0], 0x81, 0xfe) || left < 2)
		return (character){ 0 };
	if (in(p[1], 0x30, 0x39))
		return (character){ left >= 4 && in(p[2], 0x81, 0xfe) && in(p[3], 0x30, 0x39) ? 4 : 0, false,
			            false };
	if (!in(p[1], 0x40, 0xfe) || p[1] == 0x7f)
		return (character){ 0 };
	return (character){ 2, p[1] >= 0xa1 && (in(p[0], 0xb0, 0xd7) || p[0] == 0xa1 || p[0] == 0xa3),
		            p[1] >= 0xa1 && in(p[0], 0xa4, 0xa5) };
}

static character big5(const unsigned char *p, size_t left)
{
	if (!in(p[0], 0x81, 0xfe) || left < 2 || !(in(p[1], 0x40, 0x7e) || in(p[1], 0xa1, 0xfe)))
		return (character){ 0 };
	return (character){ 2, in(p[0], 0xa1, 0xc6), false };
}

static character shift_jis(const unsigned char *p, size_t left)
{
	if (in(p[0], 0xa1, 0xdf)) /* half-width kana, which few texts have */
		return (character){ 1, false, false };
	if (!(in(p[0], 0x81, 0x9f) || in(p[0], 0xe0, 0xfc)) || left < 2 || !in(p[1], 0x40, 0xfc) ||
	    p[1] == 0x7f)
		return (character){ 0 };
	const bool kana = (p[0] == 0x82 && in(p[1], 0x9f, 0xf1)) || (p[0] == 0x83 && in(p[1], 0x40, 0x96));
	return (character){ 2, in(p[0], 0x81, 0x83) || in(p[0], 0x88, 0x97), kana };
}

static character euc_kr(const unsigned char *p, size_t left)
{
	if (!in(p[0], 0x81, 0xfe) || left < 2 ||
	    !(in(p[1], 0x41, 0x5a) || in(p[1], 0x61, 0x7a) || in(p[1], 0x81, 0xfe)))
		return (character){ 0 };
	return (character){ 2, p[1] >= 0xa1 && (in(p[0], 0xb0, 0xc8) || p[0] == 0xa1 || p[0] == 0xa3),
		            false };
}

static character euc_jp(const unsigned char *p, size_t left)
{
	if (p[0] == 0x8e && left >= 2 && in(p[1], 0xa1, 0xdf))
		return (character){ 2, false, true };
	if (p[0] == 0x8f && left >= 3 && p[1] >= 0xa1 && p[2] >= 0xa1)
		return (character){ 3, false, false };
	if (!in(p[0], 0xa1, 0xfe) || left < 2 || !in(p[1], 0xa1, 0xfe))
		return (character){ 0 };
	const bool kana = in(p[0], 0xa4, 0xa5);
	return (character){ 2, kana || in(p[0], 0xb0, 0xcf) || p[0] == 0xa1 || p[0] == 0xa3, kana };
}

void kdri_charset_count(const char *text, size_t length, kdri_charset_counts *counts)
{
	static character (*const read[])(const unsigned char *, size_t) = { gb18030, big5, shift_jis, euc_kr,
		                                                            euc_jp };
	const unsigned char *p = (const unsigned char *)text;
	for (int e = KDRI_GB18030; e < KDRI_CHARSETS; e++)
		for (size_t i = 0; i < length;) {
			if (p[i] < 0x80) {
				i++;
				continue;
			}
			const character c = read[e - 1](p + i, length - i);
			/* A text may end within its last character. */
			counts->of[e].errors += c.bytes == 0 && i + 1 < length;
			counts->of[e].pairs += c.bytes > 0;
			counts->of[e].common += c.common;
			counts->of[e].kana += c.kana;
			counts->of[e].high += c.bytes > 1 && p[i + 1] >= 0x80;
			i += c.bytes > 0 ? (size_t)c.bytes : 1;
		}
}

kdri_charset kdri_charset_find(const kdri_charset_counts *counts)
{
	/* Korean texts are common in GB18030 too, but not the other way round. */
	static const kdri_charset order[] = { KDRI_SHIFT_JIS, KDRI_EUC_JP, KDRI_EUC_KR, KDRI_BIG5,
		                              KDRI_GB18030 };
	for (int i = 0; i < KDRI_CHARSETS - 1; i++) {
		const kdri_charset e = order[i];
		const bool japanese = e == KDRI_SHIFT_JIS || e == KDRI_EUC_JP;
		const double pairs = (double)counts->of[e].pairs;
		if (pairs >= LEAST_PAIRS && (double)counts->of[e].errors <= most_errors * pairs &&
		    (double)counts->of[e].high >= least_high * pairs &&
		    (double)counts->of[e].common >=
		            (e == KDRI_EUC_KR ? least_korean : least_common) * pairs &&
		    (double)counts->of[e].kana >= (japanese ? least_kana : 0) * pairs)
			return e;
	}
	return KDRI_CHARSET_NONE;
}
