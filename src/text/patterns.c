/* Addresses, emojis and names such as C++: what KDR_TOKENS_WORDS treats in a special way. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every look-ahead is bounded or skips what it has seen, so that tokenising stays linear in the length of the text. */
#include "text/text.h"

/* The longest local part of an e-mail address [RFC 5321, 4.5.3.1.1]. */
enum { LOCAL_MAX = 64 };

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (unsigned)(((unsigned char)c | 32) - 'a') < 26;
}

/* The end of a URL whose scheme or "www" ends at p. */
static const char *url_end(const char *p, const char *end)
{
	for (int bytes = 1; p < end; p += bytes) {
		bytes = 1;
		if ((unsigned char)*p <= ' ' || strchr("<>\"`)]}", *p))
			break;
		if ((unsigned char)*p >= 0x80 &&
		    (kdri_character(p, end, &bytes) == KDRI_SEPARATES || kdri_is_dense(p, end)))
			break;
	}
	return p;
}

/* The end of an e-mail address of which a run of letters and digits ends at p; NULL if it is none. */
static const char *mail_end(const char *p, const char *end)
{
	const char *limit = end - p > LOCAL_MAX ? p + LOCAL_MAX : end, *domain;
	while (p < limit &&
	       (is_alphanumeric(*p) || *p == '.' || *p == '-' || *p == '_' || *p == '%' || *p == '+'))
		p++;
	if (p >= limit || *p != '@')
		return NULL;
	domain = ++p;
	bool dotted = false;
	for (; p < end && (is_alphanumeric(*p) || *p == '-' || *p == '.'); p++)
		dotted |= *p == '.' && p > domain && p + 1 < end && is_alphanumeric(p[1]);
	return dotted ? p : NULL;
}

static bool is_www(const char *p)
{
	return (p[0] | 32) == 'w' && (p[1] | 32) == 'w' && (p[2] | 32) == 'w';
}

const char *kdri_address_end(const char *begin, const char *p, const char *end)
{
	if (*p == ':')
		return end - p > 3 && p[1] == '/' && p[2] == '/' ? url_end(p + 3, end) : NULL;
	if (*p == '.' && p - begin == 3 && end - p > 1 && is_alphanumeric(p[1]) && is_www(begin))
		return url_end(p, end);
	return mail_end(p, end);
}

size_t kdri_name_suffix(const char *begin, const char *p, const char *end)
{
	if (*p == '+' && end - p > 1 && p[1] == '+') {
		const char next = end - p > 2 ? p[2] : ' ';
		return next == '+' || (is_alphanumeric(next) && next > '9') ? 0 : 2;
	}
	return *p == '#' && p - begin == 1 && (end - p == 1 || !is_alphanumeric(p[1])) ? 1 : 0;
}

/* --- emojis ------------------------------------------------------------------------------------- */

enum { JOINER = 0x200d, TEXT_STYLE = 0xfe0e, EMOJI_STYLE = 0xfe0f };

static bool is_between(uint32_t c, uint32_t low, uint32_t high)
{
	return c >= low && c <= high;
}

static bool is_flag_letter(uint32_t c)
{
	return is_between(c, 0x1f1e6, 0x1f1ff);
}

/* Styles, skin tones and tags change how the emoji before them is drawn. */
static bool is_variation(uint32_t c)
{
	return c == TEXT_STYLE || c == EMOJI_STYLE || is_between(c, 0x1f3fb, 0x1f3ff) ||
	       is_between(c, 0xe0020, 0xe007f);
}

static bool is_emoji(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0x231a, 0x231b },   { 0x23e9, 0x23fa },   { 0x2600, 0x26ff },   { 0x2705, 0x2705 },
		{ 0x2708, 0x270d },   { 0x2728, 0x2728 },   { 0x274c, 0x274e },   { 0x2753, 0x2757 },
		{ 0x2763, 0x2764 },   { 0x2b50, 0x2b55 },   { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
		{ 0x1f18e, 0x1f19a }, { 0x1f1e6, 0x1f251 }, { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff },
		{ 0x1f7e0, 0x1f7eb }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }
	};
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (is_between(c, ranges[i][0], ranges[i][1]))
			return true;
	return false;
}

size_t kdri_emoji(const char *text, const char *end, char *out, size_t *length)
{
	const char *p = text;
	uint32_t c = 0, next = 0;
	size_t n = kdri_utf8_at(p, (size_t)(end - p), &c), m, used = 0;
	if (n == 0 || !is_emoji(c))
		return 0;
	for (;;) {
		memcpy(out + used, p, n);
		used += n;
		p += n;
		while (p < end && (n = kdri_utf8_at(p, (size_t)(end - p), &next)) > 0 && is_variation(next))
			p += n;
		if (p >= end || n == 0)
			break;
		if (used == n && is_flag_letter(c) && is_flag_letter(next))
			continue;
		/* The next emoji belongs to this one if a joiner connects them. */
		m = next == JOINER && p + n < end ? kdri_utf8_at(p + n, (size_t)(end - p) - n, &c) : 0;
		if (m == 0 || !is_emoji(c) || used + n + m > KDRI_EMOJI_ROOM)
			break;
		memcpy(out + used, p, n);
		used += n;
		p += n;
		n = m;
	}
	*length = used;
	return (size_t)(p - text);
}
