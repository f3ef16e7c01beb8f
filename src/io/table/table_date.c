/* Dates in tables. SPDX-License-Identifier: BSD-3-Clause
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
#include "io/table/table.h"

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
