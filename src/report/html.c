/* HTML text, escaped by default. SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of tasks, files and classes come from users. They reach the page only through %s, which escapes
 * for text and for quoted attributes alike. Numbers are laid out here from their digits, because
 * printf's decimal point depends on the locale of the program the library runs in. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

/* U+202F, narrow and not broken at the end of a line: between groups of three digits. */
#define NARROW_SPACE "\xE2\x80\xAF"

/* Longer texts say no more in a page; a file may hold megabytes of them. */
enum { TEXT_MOST = 1000 };

static void append(kdri_html *h, const char *bytes, size_t count)
{
	if (h->st != KDR_OK || count == 0)
		return;
	if (h->room - h->used < (int64_t)count) {
		int64_t room = KDRI_MAX(2 * h->room, h->used + (int64_t)count + (1 << 14));
		h->st = KDRI_GROW(h->ctx, &h->data, room);
		if (h->st != KDR_OK)
			return;
		h->room = room;
	}
	memcpy(h->data + h->used, bytes, count);
	h->used += (int64_t)count;
}

void kdri_html_raw(kdri_html *h, const char *markup)
{
	append(h, markup, strlen(markup));
}

/* Marks that turn the direction of text (U+202A to U+202E, U+2066 to U+2069) could disguise a name and
 * whatever follows it. */
static bool turns_direction(const unsigned char *p)
{
	return p[0] == 0xE2 && ((p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE) ||
	                        (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
}

/* The text is valid UTF-8: the parser of the file saw to that. */
static void escaped(kdri_html *h, const char *text, int most)
{
	int characters = 0;
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if ((c & 0xC0) != 0x80 && characters++ == most) {
			kdri_html_raw(h, "…");
			return;
		}
		switch (c) {
		case '&': kdri_html_raw(h, "&amp;"); break;
		case '<': kdri_html_raw(h, "&lt;"); break;
		case '>': kdri_html_raw(h, "&gt;"); break;
		case '"': kdri_html_raw(h, "&quot;"); break;
		case '\'': kdri_html_raw(h, "&#39;"); break;
		default:
			if (c < 32 || c == 127) {
				kdri_html_raw(h, "\xEF\xBF\xBD"); /* U+FFFD */
			} else if (turns_direction((const unsigned char *)p)) {
				kdri_html_raw(h, "\xEF\xBF\xBD");
				p += 2;
			} else {
				append(h, p, 1);
			}
		}
	}
}

/* 1234567 -> 1 234 567 */
static void grouped(kdri_html *h, long long value)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%lld", value), sign = value < 0;
	if (sign)
		kdri_html_raw(h, "−");
	for (int i = sign; i < n; i++) {
		if (i > sign && (n - i) % 3 == 0 && n - sign > 4)
			kdri_html_raw(h, NARROW_SPACE);
		append(h, digits + i, 1);
	}
}

/* Fixed decimals through integers. Values too large for that do not occur in charts, and are written
 * as numbers to read. */
static void readable(kdri_html *h, double value, int significant);
static void fixed(kdri_html *h, double value, int decimals)
{
	static const double power[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };
	static const long long unit[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
	if (!(fabs(value) < 1e12)) {
		readable(h, value, 6);
		return;
	}
	long long scaled = llround(fabs(value) * power[decimals]);
	char text[32];
	int n = snprintf(text, sizeof text, "%s%lld", value < 0 && scaled > 0 ? "−" : "",
	                 scaled / unit[decimals]);
	append(h, text, (size_t)n);
	if (decimals > 0) {
		n = snprintf(text, sizeof text, ".%0*lld", decimals, scaled % unit[decimals]);
		append(h, text, (size_t)n);
	}
}

/* `count` significant digits of |value| > 0, and the exponent of the first: the digits of "%e" without
 * its decimal point, whatever that is. */
static int decompose(double value, int count, char digits[20], int *exponent)
{
	char text[48];
	int n = 0;
	snprintf(text, sizeof text, "%.*e", count - 1, fabs(value));
	const char *e = strchr(text, 'e');
	for (const char *p = text; p < e; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	*exponent = atoi(e + 1);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	return n;
}

/* Digits with the decimal point after the first `whole` of them; whole may lie outside the digits. */
static void lay_out(kdri_html *h, const char *digits, int n, int whole, bool group)
{
	if (whole <= 0)
		kdri_html_raw(h, "0.");
	for (int i = whole; i < 0; i++)
		kdri_html_raw(h, "0");
	for (int i = 0; i < KDRI_MAX(n, whole); i++) {
		if (i == whole && i > 0)
			kdri_html_raw(h, ".");
		else if (group && i > 0 && i < whole && whole > 4 && (whole - i) % 3 == 0)
			kdri_html_raw(h, NARROW_SPACE);
		append(h, i < n ? digits + i : "0", 1);
	}
}

static void readable(kdri_html *h, double value, int significant)
{
	static const char *const superscript[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
	char digits[20] = "", text[16];
	int exponent = 0;
	if (!isfinite(value)) {
		kdri_html_raw(h, "–");
		return;
	}
	if (value == 0) {
		kdri_html_raw(h, "0");
		return;
	}
	int n = decompose(value, significant, digits, &exponent);
	if (value < 0)
		kdri_html_raw(h, "−");
	if (exponent >= -4 && exponent < 7) {
		lay_out(h, digits, n, exponent + 1, true);
		return;
	}
	if (n > 1 || digits[0] != '1') {
		lay_out(h, digits, n, 1, false);
		kdri_html_raw(h, "×");
	}
	kdri_html_raw(h, exponent < 0 ? "10⁻" : "10");
	snprintf(text, sizeof text, "%d", abs(exponent));
	for (const char *p = text; *p; p++)
		kdri_html_raw(h, superscript[*p - '0']);
}

void kdri_html_exact(kdri_html *h, double value)
{
	char digits[20] = "", text[16];
	int exponent = 0, n = 1, count;
	if (!isfinite(value) || value == 0) {
		kdri_html_raw(h, value == 0 ? "0" : "–");
		return;
	}
	for (count = 1; count < 17; count++) {
		char trial[48];
		snprintf(trial, sizeof trial, "%.*e", count - 1, value);
		if (strtod(trial, NULL) == value)
			break;
	}
	n = decompose(value, count, digits, &exponent);
	if (value < 0)
		kdri_html_raw(h, "-");
	if (exponent >= -4 && exponent < 16) {
		lay_out(h, digits, n, exponent + 1, false);
		return;
	}
	lay_out(h, digits, n, 1, false);
	int length = snprintf(text, sizeof text, "e%+03d", exponent);
	append(h, text, (size_t)length);
}

void kdri_html_put(kdri_html *h, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	for (const char *p = format; *p; p++) {
		const char *start = p;
		while (*p && *p != '%')
			p++;
		append(h, start, (size_t)(p - start));
		if (!*p)
			break;
		int precision = -1;
		p++;
		if (*p == '.' && p[1] == '*') {
			precision = va_arg(args, int);
			p += 2;
		} else if (*p == '.')
			for (precision = 0, p++; *p >= '0' && *p <= '9'; p++)
				precision = 10 * precision + (*p - '0');
		switch (*p) {
		case 's':
			escaped(h, va_arg(args, const char *), precision < 0 ? TEXT_MOST : precision);
			break;
		case 'g': readable(h, va_arg(args, double), precision < 0 ? 6 : precision); break;
		case 'f': fixed(h, va_arg(args, double), precision < 0 ? 2 : precision); break;
		case 'l': /* lld */
			grouped(h, va_arg(args, long long));
			p += 2;
			break;
		case 'd': {
			char text[16];
			int n = snprintf(text, sizeof text, "%d", va_arg(args, int));
			append(h, text, (size_t)n);
			break;
		}
		default: append(h, p, 1); /* %% */
		}
	}
	va_end(args);
}
