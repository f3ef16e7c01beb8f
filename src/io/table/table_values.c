/* Values in the cells of tables: missing ones, numbers, dates. SPDX-License-Identifier: BSD-3-Clause */
/* Dates in tables.
 *
 * The accepted forms are 2021-03-14 (also with slashes or points), 14.3.2021, 14/3/2021 and 3/14/2021 (also with
 * hyphens), 14 Mar 2021, 14-Mar-2021 and March 14, 2021; a time may follow: 2021-03-14T09:30:00.5Z, 14.3.2021 9:30,
 * 3/14/2021 2:30 PM. A zone moves the time to UTC. Years have four digits. If only slashes or hyphens separate day
 * and month, their order is decided for the entire column: kdri_date_look gives the orders that a cell allows.
 *
 * Days since 1970-01-01 of the proleptic Gregorian calendar, with y, m counted from March so that the leap day ends the
 * year [Hinnant, "chrono-compatible low-level date algorithms", 2013]:
 *
 *   days = 365 y + floor(y/4) - floor(y/100) + floor(y/400) + floor((153 m + 2) / 5) + d - 719469        (E1) */
#include <stdio.h>

#include "io/table/table.h"

bool kdri_is_missing(const char *p, const char *end, const char *const *na)
{
	/* NA has to be written so: Na is sodium. */
	static const char *const words[] = { "n/a", "#n/a", "nan", "null", "none", NULL };
	while (p < end && kdri_is_blank(*p))
		p++;
	while (end > p && kdri_is_blank(end[-1]))
		end--;
	size_t n = (size_t)(end - p);
	if (n == 0 || (n == 1 && (*p == '?' || *p == '-')) || (n == 2 && memcmp(p, "NA", 2) == 0))
		return true;
	for (int i = 0; n <= 4 && words[i]; i++)
		if (kdri_same_word(p, n, words[i]))
			return true;
	for (; na && *na; na++)
		if (strlen(*na) == n && memcmp(p, *na, n) == 0)
			return true;
	return false;
}

bool kdri_is_word_for_missing(const char *p, const char *end, const char *const *na)
{
	const size_t n = (size_t)(end - p);
	if (!kdri_same_word(p, n, "none") && !kdri_same_word(p, n, "null") && !kdri_same_word(p, n, "n/a") &&
	    !(n == 2 && memcmp(p, "NA", 2) == 0))
		return false;
	for (; na && *na; na++)
		if (strlen(*na) == n && memcmp(p, *na, n) == 0)
			return false;
	return true;
}

/* Numbers as people write them in tables.
 *
 * "1.234,50 EUR", "$1,234.50", "(3)", "12 %", "1'000", "1 000,5": around the digits a sign or brackets (a negative
 * number), a currency and a percent sign, which are removed; among them the decimal sign and thousands separators.
 * Which of point and comma is the decimal sign is not always clear from one cell: kdri_number_look returns with which
 * signs a cell is a number, and whether the numbers differ; the column decides (table_kind.c). Spaces and apostrophes
 * separate thousands with both. The percent sign does not change the number: 12 % is 12. */

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

/* Bytes of the apostrophe at p, straight or curved. 0: none. */
static size_t apostrophe_at(const char *p, const char *end)
{
	if (p < end && *p == '\'')
		return 1;
	return end - p >= 3 && memcmp(p, "\xe2\x80\x99", 3) == 0 ? 3 : 0;
}

/* The digits without what separates thousands, with a point. Groups have three digits, the first one to three and no leading zero, as
 * in 0.123, and one separator throughout. 0: it is no such number. */
static int ungroup(const shell *s, char decimal, char thousands, char *out, char *separator)
{
	const char *p = s->begin, *end = s->end;
	int n = 0, run = 0, groups = 0;
	*separator = '\0';
	if (end - p > GROUPED_MOST || *p == '0')
		return 0;
	for (; digit_at(p, end); run++)
		out[n++] = *p++;
	while (p < end && *p != decimal) {
		const size_t blank = blank_at(p, end), apostrophe = apostrophe_at(p, end),
		             length = KDRI_MAX(blank + apostrophe, 1);
		const char found = blank ? ' ' : apostrophe ? '\'' : *p;
		if ((!blank && !apostrophe && found != (decimal == '.' ? ',' : '.')) ||
		    (*separator && found != *separator) ||
		    (thousands != KDRI_ANY_GROUPS && found != thousands) ||
		    (groups == 0 ? run < 1 || run > 3 : run != 3))
			return 0;
		*separator = found;
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

/* *separator: what separates thousands, or '\0'. */
static bool shell_value(const shell *s, char decimal, char thousands, double *value, char *separator)
{
	char text[GROUPED_MOST + 2];
	*separator = '\0';
	if (kdri_parse_decimal(s->begin, s->end, decimal, value) != s->end) {
		int n = ungroup(s, decimal, thousands, text, separator);
		if (n == 0 || kdri_parse_double(text, text + n, value) != text + n)
			return false;
	}
	if (s->negative)
		*value = -*value;
	return true;
}

kdr_status kdri_thousands_read(kdr_context *ctx, const char *text, char *out)
{
	static const struct {
		const char *text;
		char sign;
	} signs[] = {
		{ "none", KDRI_NO_GROUPS }, { ".", '.' },           { ",", ',' },     { "'", '\'' },
		{ "\xe2\x80\x99", '\'' },   { " ", ' ' },           { "space", ' ' }, { "\xc2\xa0", ' ' },
		{ "\xe2\x80\xaf", ' ' },    { "\xe2\x80\x89", ' ' }
	};
	*out = KDRI_ANY_GROUPS;
	if (!text)
		return KDR_OK;
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strcmp(text, signs[i].text) == 0) {
			*out = signs[i].sign;
			return KDR_OK;
		}
	return kdri_fail(
	        ctx, KDR_ERR_OPTION,
	        "thousands separator '%.20s' is not valid; use '.', ',', an apostrophe, 'space' or 'none'",
	        text);
}

bool kdri_number_value(const char *p, const char *end, char decimal, char thousands, double *value)
{
	shell s;
	char separator;
	return open_shell(p, end, &s) && shell_value(&s, decimal, thousands, value, &separator);
}

bool kdri_number_look(const char *p, const char *end, char thousands, kdri_look *look)
{
	shell s;
	double point, comma;
	char g, h;
	if (!open_shell(p, end, &s))
		return false;
	bool by_point = shell_value(&s, '.', thousands, &point, &g),
	     by_comma = shell_value(&s, ',', thousands, &comma, &h);
	if (!by_point && !by_comma)
		return false;
	look->decimals = (by_point ? KDRI_POINT : 0) | (by_comma ? KDRI_COMMA : 0);
	look->differ = by_point && by_comma && point != comma;
	look->comma = memchr(s.begin, ',', (size_t)(s.end - s.begin)) != NULL;
	look->grouped = (by_point ? g : h) && (by_comma ? h : g);
	look->spaced = look->grouped && (by_point ? g : h) != ',' && (by_comma ? h : g) != '.';
	look->round = look->differ && s.end[-1] == '0';
	look->percent = s.percent;
	look->currency = s.currency;
	look->value = by_point ? point : comma;
	const char *q = s.begin;
	while (digit_at(q, s.end))
		q++;
	look->bare = q == s.end && look->value != 0;
	return true;
}

static const char *currency_name(int currency)
{
	static const char *const names[] = {
		"",    "$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "\xe2\x82\xb9", "EUR",
		"USD", "GBP", "CHF",          "JPY",      "kr",       "Fr."
	};
	return names[currency];
}

/* The decimal sign of each column of numbers.
 *
 * A number such as 12,5 or 1.234,5 can only be read with a decimal comma, 12.5, 0.123 or 1,234.5 only with a point; 7 is the
 * same with both, and 1,234 and 1.234 are different numbers with each. The sign of a column is the one that fits all
 * its numbers. If both fit and the numbers differ, the rest of the file decides, in this order:
 *
 *   another column needs one of the signs         that sign
 *   blanks or apostrophes separate thousands      the sign that occurs: nobody separates them in two ways
 *   450 and 12.500 in one column                  a thousands separator: decimals that are all written with three digits are not left
 *                                                 out, and if they are left out, zeros at their end are, too
 *   amounts in euros or crowns                    a thousands separator: no amount has three decimals
 *   1234 and 1.234 in one column                  a decimal sign: thousands are separated everywhere or nowhere
 *   a comma                                       an error
 *   a point, columns separated by commas          a decimal point, as in every table written by a program
 *   a point, columns separated by semicolons,     an error: a comma may well be the decimal sign
 *     or the text of a cell of a workbook
 *   a point, other separators                     a decimal point
 *
 * From the third line on the decision is reported, except for a decimal point in a table separated by commas. In an error, the user
 * specifies the sign with --decimal or --thousands. */

/* How a column of numbers is written, for people. */
static void put_why(const kdri_evidence *e, char point, char *why, size_t room)
{
	why[0] = '\0';
	if (point == ',' && e->decimals == KDRI_COMMA)
		kdri_list_add(why, room, "decimal comma");
	if (e->grouped || (point == ',' ? e->point_differs : e->comma_differs))
		kdri_list_add(why, room, "thousands separators");
	if (e->percent)
		kdri_list_add(why, room, "percent");
	if (e->currency > 0)
		kdri_list_add(why, room, "%s", currency_name(e->currency));
}

/* The error in the numbers of a column that is independent of their decimal sign. */
static kdr_status check_units(kdr_context *ctx, const kdri_evidence *e, const kdri_csv_layout *l, int64_t j,
                              kdr_findings *findings)
{
	char place[160], title[24], then[200];
	snprintf(then, sizeof then, "fix the file, or use --columns '-%.60s' to skip the column",
	         kdri_csv_title(l, j, title));
	if (e->infinite && !l->keep_nonfinite)
		KDRI_DO(kdri_finding_add(
		        ctx, findings, e->infinite_line, true, "use --na 'inf' to treat it as missing",
		        "%s: %lld cell%s not a finite number", kdri_place(l, e->infinite_line, j, place),
		        (long long)e->infinite, e->infinite == 1 ? " is" : "s are"));
	if (e->percent && e->unit)
		KDRI_DO(kdri_finding_add(ctx, findings, 0, true, then,
		                         "%s: some numbers have a percent sign and some do not",
		                         kdri_place(l, 0, j, place)));
	if (e->currency < 0)
		KDRI_DO(kdri_finding_add(ctx, findings, 0, true, then,
		                         "%s: amounts are in several currencies",
		                         kdri_place(l, 0, j, place)));
	return KDR_OK;
}

/* What the numbers of all columns together need or have. */
typedef struct signs {
	bool point, comma, spaced;
} signs;

static bool is_euro_or_crown(int currency)
{
	static const char *const names[] = { "\xe2\x82\xac", "EUR", "kr" };
	for (size_t i = 0; currency > 0 && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(currency_name(currency), names[i]) == 0)
			return true;
	return false;
}

/* The decimal sign of a column; 0: ambiguous. *sure: it needs no mention. */
static char sign_of(const kdri_evidence *e, const signs *file, const kdri_csv_layout *l, bool *sure)
{
	const bool by_program = l->delimiter == ',' && !l->typed;
	*sure = true;
	if (e->decimals != (KDRI_POINT | KDRI_COMMA))
		return e->decimals == KDRI_COMMA ? ',' : e->decimals == KDRI_POINT ? '.' : '\0';
	if (!e->point_differs && !e->comma_differs)
		return '.';
	if (file->point != file->comma)
		return file->comma ? ',' : '.';
	if (file->comma || (e->point_differs && e->comma_differs))
		return '\0';
	const char found = e->comma_differs ? ',' : '.';
	if (file->spaced)
		return found;
	*sure = false;
	if (e->bare_small && !e->bare_large && e->round && !by_program)
		return found == '.' ? ',' : '.';
	if (found == ',')
		return '\0';
	if (is_euro_or_crown(e->currency))
		return ',';
	*sure = by_program;
	return e->bare_large || (l->delimiter != ';' && !l->typed) ? '.' : '\0';
}

static kdr_status table_decimal_refuse(kdr_context *ctx, const kdri_evidence *e, const kdri_csv_layout *l,
                                       int64_t j, kdr_findings *findings)
{
	char place[160], then[300];
	if (e->decimals == 0 || l->point_given)
		return kdri_finding_add(
		        ctx, findings, e->mixed_line ? e->mixed_line : 0, true,
		        "specify the decimal separator with --decimal, or use --na to treat values as missing",
		        "%s: '%.40s' does not match the decimal %s of other cells",
		        kdri_place(l, e->mixed_line, j, place), e->mixed[0] ? e->mixed : "a number",
		        l->point_given ? (l->point == ',' ? "comma" : "point") : "sign");
	const char *text = e->unclear[0] ? e->unclear : "a number";
	const bool comma = strchr(text, ',') != NULL;
	const char sign = comma ? ',' : '.';
	snprintf(then, sizeof then,
	         "use --decimal '%c' if it separates decimals, or --thousands '%c' if it separates thousands",
	         sign, sign);
	return kdri_finding_add(ctx, findings, e->unclear_line, true, then,
	                        "%s: '%.40s' is ambiguous: decimal %s or thousands separator",
	                        kdri_place(l, e->unclear_line, j, place), text, comma ? "comma" : "point");
}

/* A decision that was not certain, in `count` columns, of which j is the first. */
static kdr_status note_sign(kdr_context *ctx, const kdri_evidence *e, const kdri_csv_layout *l, int64_t j,
                            int64_t count, kdr_findings *findings)
{
	char place[160], then[200], more[60] = "";
	double value = 0, other = 0;
	const size_t n = strlen(e->unclear);
	const char sign = l->points[j], shown = strchr(e->unclear, ',') ? ',' : '.';
	kdri_number_value(e->unclear, e->unclear + n, sign, l->thousands, &value);
	kdri_number_value(e->unclear, e->unclear + n, sign == '.' ? ',' : '.', l->thousands, &other);
	if (count > 1)
		snprintf(more, sizeof more, " (and %lld other column%s)", (long long)count - 1,
		         count == 2 ? "" : "s");
	snprintf(then, sizeof then, "use --%s '%c' if it is %.15g", shown == sign ? "thousands" : "decimal",
	         shown, other);
	return kdri_finding_add(ctx, findings, e->unclear_line, false, then,
	                        "%s%s: '%.40s' was read as %.15g", kdri_place(l, 0, j, place), more,
	                        e->unclear, value);
}

/* What the numbers of the file need. */
static signs signs_of(const kdri_survey *s, const kdri_csv_layout *l)
{
	signs file = { false };
	for (int64_t j = 0; j < l->fields; j++)
		if (l->roles[j].kind == KDR_COLUMN_NUMBER) {
			file.point = file.point || s->fields[j].decimals == KDRI_POINT;
			file.comma = file.comma || s->fields[j].decimals == KDRI_COMMA;
			file.spaced = file.spaced || s->fields[j].spaced;
		}
	return file;
}

kdr_status kdri_decimals_decide(kdr_context *ctx, const kdri_survey *s, kdri_csv_layout *l,
                                kdr_findings *findings)
{
	const signs file = signs_of(s, l);
	int64_t first[2] = { -1, -1 },
	        count[2] = { 0, 0 }; /* columns with an uncertain decimal point, and comma */
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_evidence *e = &s->fields[j];
		kdri_role *role = &l->roles[j];
		if (role->kind != KDR_COLUMN_NUMBER || e->numbers < e->cells - e->missing)
			continue; /* cells that are not numbers were refused before */
		KDRI_DO(check_units(ctx, e, l, j, findings));
		bool fits = e->decimals & (l->point == ',' ? KDRI_COMMA : KDRI_POINT), sure = true;
		char sign = l->point_given ? (fits ? l->point : '\0') : sign_of(e, &file, l, &sure);
		if (sign == '\0') {
			KDRI_DO(table_decimal_refuse(ctx, e, l, j, findings));
			continue;
		}
		l->points[j] = sign;
		put_why(e, sign, role->why, sizeof role->why);
		const int which = sign == ',';
		if (!sure && count[which]++ == 0)
			first[which] = j;
	}
	for (int which = 0; which < 2; which++)
		if (first[which] >= 0)
			KDRI_DO(note_sign(ctx, &s->fields[first[which]], l, first[which], count[which],
			                  findings));
	return KDR_OK;
}

bool kdri_decimals_unclear(const kdri_survey *s, const kdri_csv_layout *l)
{
	for (int64_t j = 0; j < l->fields; j++)
		if (s->fields[j].decimals == (KDRI_POINT | KDRI_COMMA) && s->fields[j].point_differs)
			return true;
	return false;
}

typedef struct date {
	int year, month, day;
	bool either; /* day and month could be exchanged, and differ */
	unsigned orders;
} date;

static const char *take_int(const char *p, const char *end, int least, int most, int *out)
{
	int n = 0;
	*out = 0;
	for (; p < end && *p >= '0' && *p <= '9' && n < most; n++)
		*out = *out * 10 + (*p++ - '0');
	return n < least || (p < end && *p >= '0' && *p <= '9') ? NULL : p;
}

static const char *skip_spaces(const char *p, const char *end)
{
	while (p < end && kdri_is_blank(*p))
		p++;
	return p;
}

/* The first three letters or the full name of a month. */
static const char *take_month(const char *p, const char *end, int *month)
{
	static const char *const names[] = { "january",   "february", "march",    "april",
		                             "may",       "june",     "july",     "august",
		                             "september", "october",  "november", "december" };
	size_t n = 0;
	while (p + n < end && ((p[n] | 32) >= 'a' && (p[n] | 32) <= 'z'))
		n++;
	for (int m = 0; m < 12; m++)
		if (n >= 3 && (kdri_same_word(p, n, names[m]) ||
		               (n == 3 && kdri_same_word(p, 1, (char[]){ names[m][0], '\0' }) &&
		                (p[1] | 32) == names[m][1] && (p[2] | 32) == names[m][2]))) {
			*month = m + 1;
			p += n;
			return p < end && *p == '.' ? p + 1 : p;
		}
	return NULL;
}

static bool valid(int year, int month, int day)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
	       day <= days[month - 1] + (month == 2 && leap);
}

/* 14 Mar 2021, 14-Mar-2021 or March 14, 2021. */
static const char *take_named(const char *p, const char *end, date *d)
{
	const char *q = take_month(p, end, &d->month);
	if (q) {
		q = take_int(skip_spaces(q, end), end, 1, 2, &d->day);
		if (!q)
			return NULL;
		if (q < end && *q == ',')
			q++;
	} else {
		q = take_int(p, end, 1, 2, &d->day);
		if (!q || q == end)
			return NULL;
		q = *q == '-' || *q == '.' ? skip_spaces(q + 1, end) : skip_spaces(q, end);
		q = take_month(q, end, &d->month);
		if (!q)
			return NULL;
		if (q < end && *q == '-')
			q++;
	}
	d->orders = KDRI_DAY_FIRST | KDRI_MONTH_FIRST;
	return take_int(skip_spaces(q, end), end, 4, 4, &d->year);
}

/* Three numbers between equal separators. `order`: how 14/3/2021 is read. */
static const char *take_numbers(const char *p, const char *end, unsigned order, date *d)
{
	int a, b, c;
	const char *q = take_int(p, end, 1, 4, &a);
	if (!q || q == end || (*q != '-' && *q != '/' && *q != '.'))
		return NULL;
	char separator = *q;
	bool year_first = q - p == 4;
	q = take_int(q + 1, end, 1, 2, &b);
	if (!q || q == end || *q != separator)
		return NULL;
	q = take_int(q + 1, end, year_first ? 1 : 4, year_first ? 2 : 4, &c);
	if (!q)
		return NULL;
	if (year_first) {
		*d = (date){ a, b, c, false, KDRI_DAY_FIRST | KDRI_MONTH_FIRST };
		return q;
	}
	bool month_first = order == KDRI_MONTH_FIRST && separator != '.';
	d->orders = valid(c, b, a) ? KDRI_DAY_FIRST : 0;
	if (separator != '.' && valid(c, a, b))
		d->orders |= KDRI_MONTH_FIRST;
	d->either = d->orders == (KDRI_DAY_FIRST | KDRI_MONTH_FIRST) && a != b;
	d->year = c;
	d->month = month_first ? a : b;
	d->day = month_first ? b : a;
	return q;
}

/* 09:30[:00[.5]] [AM|PM] [Z|+01:00] as a part of a day. */
static const char *take_time(const char *p, const char *end, double *part)
{
	int hour, minute, second = 0, zone_hour = 0, zone_minute = 0;
	double fraction = 0, unit = 1;
	const char *q = take_int(p, end, 1, 2, &hour);
	if (!q || q == end || *q != ':' || !(q = take_int(q + 1, end, 2, 2, &minute)))
		return NULL;
	if (q < end && *q == ':') {
		if (!(q = take_int(q + 1, end, 2, 2, &second)))
			return NULL;
		if (q < end && *q == '.')
			for (q++; q < end && *q >= '0' && *q <= '9'; q++)
				fraction += (unit /= 10) * (*q - '0');
	}
	const char *r = skip_spaces(q, end);
	if (end - r >= 2 && (r[1] | 32) == 'm' && ((r[0] | 32) == 'a' || (r[0] | 32) == 'p')) {
		if (hour < 1 || hour > 12)
			return NULL;
		hour = hour % 12 + ((r[0] | 32) == 'p' ? 12 : 0);
		q = r + 2;
	}
	if (q < end && (*q == 'Z' || *q == 'z')) {
		q++;
	} else if (q < end && (*q == '+' || *q == '-')) {
		int sign = *q == '+' ? 1 : -1;
		if (end - q < 3)
			return NULL;
		zone_hour = (q[1] - '0') * 10 + (q[2] - '0');
		if (q[1] < '0' || q[1] > '1' || q[2] < '0' || q[2] > '9')
			return NULL;
		q += 3;
		if (q < end && *q == ':')
			q++;
		if (q < end && !(q = take_int(q, end, 2, 2, &zone_minute)))
			return NULL;
		zone_hour *= sign;
		zone_minute *= sign;
	}
	if (hour > 24 || minute > 59 || second > 60)
		return NULL;
	*part = ((hour - zone_hour) * 3600.0 + (minute - zone_minute) * 60.0 + second + fraction) / 86400;
	return q;
}

static bool table_date_parse(const char *p, const char *end, unsigned order, date *d, double *part)
{
	*d = (date){ 0 };
	*part = 0;
	p = skip_spaces(p, end);
	while (end > p && kdri_is_blank(end[-1]))
		end--;
	const char *q = take_numbers(p, end, order, d);
	if (!q) {
		*d = (date){ 0 };
		q = take_named(p, end, d);
	}
	if (!q || !d->orders || (!(d->orders & order) ? false : !valid(d->year, d->month, d->day)))
		return false;
	if (q == end)
		return true;
	if (*q != 'T' && !kdri_is_blank(*q))
		return false;
	return take_time(skip_spaces(q + 1, end), end, part) == end;
}

bool kdri_date_look(const char *p, const char *end, kdri_look *look)
{
	date d;
	double part;
	if (end - p < 8 || end - p > 48 || !table_date_parse(p, end, KDRI_DAY_FIRST, &d, &part))
		return false;
	/* What names its month or begins with its year has one meaning. */
	if (!(d.orders & KDRI_DAY_FIRST) && !table_date_parse(p, end, KDRI_MONTH_FIRST, &d, &part))
		return false;
	look->orders = d.orders;
	look->either = d.either;
	return true;
}

bool kdri_date_value(const char *p, const char *end, unsigned order, double *days)
{
	date d;
	double part;
	if (!table_date_parse(p, end, order, &d, &part) || !(d.orders & order))
		return false;
	int year = d.year - (d.month <= 2), month = (d.month + 9) % 12;
	int whole = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + d.day -
	            719469; /* (E1) */
	*days = whole + part;
	return true;
}
