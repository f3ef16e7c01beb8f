/* Conversion of other encodings to UTF-8 while a text is read. SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-16 of both byte orders, as spreadsheets export it, and Latin-1, read as Windows-1252, which has the same letters
 * and a character for every byte. Lines that end in a carriage return alone end in a newline here. */
#include "core/utf8.h"
#include "io/text.h"

enum { CHUNK = 1 << 13, LOOKED_AT = 1 << 12, CHECKED = 1 << 20 };

static unsigned unit_at(const kdri_recode *r, const unsigned char *p)
{
	return r->from == KDRI_UTF16LE ? p[0] | (unsigned)p[1] << 8 : p[1] | (unsigned)p[0] << 8;
}

/* Writes the characters of the bytes; an incomplete character at the end is kept for the next call. Returns the
 * number of bytes written. */
static size_t from_utf16(kdri_recode *r, const unsigned char *bytes, size_t n, bool last, char *to)
{
	char *out = to;
	size_t i = 0;
	while (i + 2 <= n) {
		uint32_t c = unit_at(r, bytes + i);
		if (c >= 0xd800 && c < 0xdc00) { /* the first half of a pair */
			if (i + 4 > n && !last)
				break;
			uint32_t low = i + 4 <= n ? unit_at(r, bytes + i + 2) : 0;
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		i += 2;
		out += kdri_utf8_put(c, out);
	}
	r->nrest = last ? 0 : n - i;
	memcpy(r->rest, bytes + i, r->nrest);
	return (size_t)(out - to);
}

kdr_status kdri_recode_read(kdr_context *ctx, kdri_recode *r, kdri_input *in, char *to, size_t want,
                            size_t *got)
{
	unsigned char bytes[CHUNK];
	*got = 0;
	/* A byte becomes at most three: the maximum is that of 0x80 in Windows-1252, the euro sign. */
	while (want - *got >= 16 && !r->end) {
		size_t room = KDRI_MIN((want - *got) / 3, (size_t)CHUNK) - r->nrest, n;
		memcpy(bytes, r->rest, r->nrest);
		KDRI_DO(kdri_input_read(ctx, in, bytes + r->nrest, room, &n));
		r->end = n < room;
		n += r->nrest;
		r->nrest = 0;
		char *out = to + *got;
		if (r->from == KDRI_LATIN1) {
			*got += kdri_decode_1252((const char *)bytes, n, out);
		} else if (r->from == KDRI_UTF8) {
			memcpy(out, bytes, n);
			*got += n;
		} else {
			*got += from_utf16(r, bytes, n, r->end, out);
		}
		for (char *p = out; r->returns && p < to + *got; p++)
			if (*p == '\r')
				*p = '\n';
	}
	return KDR_OK;
}

kdri_encoding kdri_encoding_find(const char *text, size_t length, bool whole, size_t *mark)
{
	size_t n = KDRI_MIN(length, (size_t)LOOKED_AT), even = 0, odd = 0;
	*mark = 0;
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		*mark = 3;
		return KDRI_UTF8;
	}
	if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
		*mark = 2;
		return text[0] == '\xff' ? KDRI_UTF16LE : KDRI_UTF16BE;
	}
	for (size_t i = 0; i < n; i++)
		*(i % 2 ? &odd : &even) += text[i] == '\0';
	if (n >= 4 && even + odd > 0 && (even == 0 || odd == 0) && 4 * (even + odd) >= n)
		return odd ? KDRI_UTF16LE : KDRI_UTF16BE;
	/* Names are at the beginning; if other cells are text, the entire file is inspected (table_survey.c). */
	whole = whole && length <= CHECKED;
	length = KDRI_MIN(length, (size_t)CHECKED);
	while (!whole && length > 0 && text[length - 1] != '\n') /* a character may be incomplete */
		length--;
	return kdri_utf8_valid(text, length) ? KDRI_UTF8 : KDRI_LATIN1;
}
