/* Numbers as people write them in tables. SPDX-License-Identifier: BSD-3-Clause
 *
 * "1.234,50 EUR", "$1,234.50", "(3)", "12 %", "1'000", "1 000,5": around the digits a sign or brackets (a negative
 * number), a currency and a percent sign, which are removed; among them the decimal sign and thousands separators.
 * Which of point and comma is the decimal sign is not always clear from one cell: kdri_number_look returns with which
 * signs a cell is a number, and whether the numbers differ; the column decides (table_kind.c). Spaces and apostrophes
 * separate thousands with both. The percent sign does not change the number: 12 % is 12. */
#include "io/table/table.h"

enum { GROUPED_MOST = 64 }; /* characters of a number with separated thousands */

/* The text around a number. */
typedef struct shell {
	const char *begin, *end; /* the digits and the characters among them */
	bool negative, percent;
	int currency;
} shell;

static const struct {
	const char *text;
	bool word; /* letters: in any case */
} currencies[] = {
	{ "$", false },
	{ "\xe2\x82\xac", false },
	{ "\xc2\xa3", false },
	{ "\xc2\xa5", false },
	{ "\xe2\x82\xb9", false },
	{ "eur", true },
	{ "usd", true },
	{ "gbp", true },
	{ "chf", true },
	{ "jpy", true },
	{ "kr", true },
	{ "fr.", true },
};

/* Bytes of the blank at p: a space, a tab, or a non-breaking space. 0: none. */
static size_t blank_at(const char *p, const char *end)
{
	if (p < end && kdri_is_blank(*p))
		return 1;
	if (end - p >= 2 && memcmp(p, "\xc2\xa0", 2) == 0)
		return 2;
	if (end - p >= 3 && (memcmp(p, "\xe2\x80\xaf", 3) == 0 || memcmp(p, "\xe2\x80\x89", 3) == 0))
		return 3;
	return 0;
}

static void table_number_trim(shell *s)
{
	size_t n;
	while ((n = blank_at(s->begin, s->end)))
		s->begin += n;
	for (bool more = true; more;) {
		more = false;
		for (size_t size = 1; size <= 3; size++)
			if (s->end - s->begin >= (ptrdiff_t)size && blank_at(s->end - size, s->end) == size) {
				s->end -= size;
				more = true;
			}
	}
}

static bool take_sign(shell *s)
{
	size_t n = 0;
	if (s->begin < s->end && (*s->begin == '-' || *s->begin == '+'))
		n = 1;
	else if (s->end - s->begin >= 3 && memcmp(s->begin, "\xe2\x88\x92", 3) == 0)
		n = 3; /* the minus of typographers */
	if (n == 0)
		return false;
	s->negative = *s->begin != '+';
	s->begin += n;
	table_number_trim(s);
	return true;
}

/* A currency before or after the digits. */
static bool take_currency(shell *s)
{
	for (int c = 0; c < (int)(sizeof currencies / sizeof currencies[0]); c++) {
		const char *text = currencies[c].text;
		size_t n = strlen(text);
		if ((size_t)(s->end - s->begin) <= n)
			continue;
		bool before = currencies[c].word ? kdri_same_word(s->begin, n, text)
		                                 : memcmp(s->begin, text, n) == 0;
		bool after = currencies[c].word ? kdri_same_word(s->end - n, n, text)
		                                : memcmp(s->end - n, text, n) == 0;
		if (!before && !after)
			continue;
		s->begin += before ? n : 0;
		s->end -= before ? 0 : n;
		s->currency = c + 1;
		table_number_trim(s);
		return true;
	}
	return false;
}

static bool open_shell(const char *p, const char *end, shell *s)
{
	*s = (shell){ .begin = p, .end = end };
	table_number_trim(s);
	if (s->end - s->begin > 2 && *s->begin == '(' && s->end[-1] == ')') {
		s->begin++;
		s->end--;
		s->negative = true;
		table_number_trim(s);
		take_currency(s);
	} else {
		bool sign = take_sign(s);
		if (take_currency(s) && !sign)
			take_sign(s);
	}
	if (s->end > s->begin && s->end[-1] == '%') {
		s->end--;
		s->percent = true;
		table_number_trim(s);
	}
	return s->begin < s->end &&
	       (*s->begin == '.' || *s->begin == ',' || (*s->begin >= '0' && *s->begin <= '9'));
}

static bool digit_at(const char *p, const char *end)
{
	return p < end && *p >= '0' && *p <= '9';
}

/* The digits without what separates thousands, with a point. Groups have three digits, the first one to three, and
 * one separator throughout. 0: it is no such number. */
static int ungroup(const shell *s, char decimal, char *out)
{
	const char *p = s->begin, *end = s->end;
	int n = 0, run = 0, groups = 0;
	char separator = '\0';
	if (end - p > GROUPED_MOST)
		return 0;
	for (; digit_at(p, end); run++)
		out[n++] = *p++;
	while (p < end && *p != decimal) {
		size_t blank = blank_at(p, end), length = blank ? blank : 1;
		char found = blank ? ' ' : *p;
		if ((!blank && found != '\'' && found != (decimal == '.' ? ',' : '.')) ||
		    (separator && found != separator) || (groups == 0 ? run < 1 || run > 3 : run != 3))
			return 0;
		separator = found;
		p += length;
		for (run = 0; digit_at(p, end); run++)
			out[n++] = *p++;
		groups++;
	}
	if (groups == 0 || run != 3)
		return 0;
	if (p < end) {
		out[n++] = '.';
		for (p++; digit_at(p, end); p++)
			out[n++] = *p;
	}
	return p == end ? n : 0;
}

static bool shell_value(const shell *s, char decimal, double *value, bool *grouped)
{
	char text[GROUPED_MOST + 2];
	*grouped = false;
	if (kdri_parse_decimal(s->begin, s->end, decimal, value) != s->end) {
		int n = ungroup(s, decimal, text);
		if (n == 0 || kdri_parse_double(text, text + n, value) != text + n)
			return false;
		*grouped = true;
	}
	if (s->negative)
		*value = -*value;
	return true;
}

bool kdri_number_value(const char *p, const char *end, char decimal, double *value)
{
	shell s;
	bool grouped;
	return open_shell(p, end, &s) && shell_value(&s, decimal, value, &grouped);
}

bool kdri_number_look(const char *p, const char *end, kdri_look *look)
{
	shell s;
	double point, comma;
	bool g, h;
	if (!open_shell(p, end, &s))
		return false;
	bool by_point = shell_value(&s, '.', &point, &g), by_comma = shell_value(&s, ',', &comma, &h);
	if (!by_point && !by_comma)
		return false;
	look->decimals = (by_point ? KDRI_POINT : 0) | (by_comma ? KDRI_COMMA : 0);
	look->differ = by_point && by_comma && point != comma;
	look->comma = memchr(s.begin, ',', (size_t)(s.end - s.begin)) != NULL;
	look->grouped = (by_point ? g : h) && (by_comma ? h : g);
	look->percent = s.percent;
	look->currency = s.currency;
	look->value = by_point ? point : comma;
	return true;
}

const char *kdri_currency_name(int currency)
{
	static const char *const names[] = {
		"",    "$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "\xe2\x82\xb9", "EUR",
		"USD", "GBP", "CHF",          "JPY",      "kr",       "Fr."
	};
	return names[currency];
}
