/* Cells, column specifications and columns of tables. SPDX-License-Identifier: BSD-3-Clause */
#include "io/table/table.h"
#include "survey.h"
#include "text.h"

#include <stdio.h>

static kdri_look number(const char *text)
{
	kdri_look look = { 0 };
	kdri_number_look(text, text + strlen(text), KDRI_ANY_GROUPS, &look);
	return look;
}

static double value(const char *text, char decimal)
{
	double v = NAN;
	return kdri_number_value(text, text + strlen(text), decimal, KDRI_ANY_GROUPS, &v) ? v : NAN;
}

static void table_number__ways_people_write__understood(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned decimals;
		bool differ;
		double point, comma;
	} cases[] = {
		{ "7", KDRI_POINT | KDRI_COMMA, false, 7, 7 },
		{ "12.5", KDRI_POINT, false, 12.5, NAN },
		{ "12,5", KDRI_COMMA, false, NAN, 12.5 },
		{ "1,234", KDRI_POINT | KDRI_COMMA, true, 1234, 1.234 },
		{ "1.234", KDRI_POINT | KDRI_COMMA, true, 1.234, 1234 },
		{ "0.123", KDRI_POINT, false, 0.123, NAN },
		{ "-0,123", KDRI_COMMA, false, NAN, -0.123 },
		{ "1\xe2\x80\x99"
		  "234",
		  KDRI_POINT | KDRI_COMMA, false, 1234, 1234 },
		{ "1.234,5", KDRI_COMMA, false, NAN, 1234.5 },
		{ "1,234,567.25", KDRI_POINT, false, 1234567.25, NAN },
		{ "1 234 567", KDRI_POINT | KDRI_COMMA, false, 1234567, 1234567 },
		{ "1\xc2\xa0"
		  "234,5",
		  KDRI_COMMA, false, NAN, 1234.5 },
		{ "1'000.5", KDRI_POINT, false, 1000.5, NAN },
		{ "- $ 3.5", KDRI_POINT, false, -3.5, NAN },
		{ "$-3", KDRI_POINT | KDRI_COMMA, false, -3, -3 },
		{ "(1,234.5)", KDRI_POINT, false, -1234.5, NAN },
		{ "5\xc2\xa0\xe2\x82\xac", KDRI_POINT | KDRI_COMMA, false, 5, 5 },
		{ "\xe2\x88\x92"
		  "2",
		  KDRI_POINT | KDRI_COMMA, false, -2, -2 },
		{ "12 %", KDRI_POINT | KDRI_COMMA, false, 12, 12 },
		{ "1e3", KDRI_POINT | KDRI_COMMA, false, 1000, 1000 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		kdri_look look = number(cases[i].text);
		double p = value(cases[i].text, '.'), c = value(cases[i].text, ',');
		if (look.decimals != cases[i].decimals || look.differ != cases[i].differ ||
		    (p != cases[i].point && !(isnan(p) && isnan(cases[i].point))) ||
		    (c != cases[i].comma && !(isnan(c) && isnan(cases[i].comma))))
			fail_msg("%s: decimals %u, differ %d, %g, %g", cases[i].text, look.decimals,
			         look.differ, p, c);
	}
	static const char *const none[] = { "",           "-",    "$",       "%",    "1.2.3", "12.34.567",
		                            "1,23,456",   "1 23", "1,234 5", "0x10", "abc",   "12abc",
		                            "2021-01-02", "()",   "1..2",    "EUR" };
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (number(none[i]).decimals)
			fail_msg("'%s' is no number", none[i]);
}

static void table_date__forms__days_since_1970(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned orders;
		double day_first, month_first;
	} cases[] = {
		{ "1970-01-01", 3, 0, 0 },
		{ "2000-02-29", 3, 11016, 11016 },
		{ "1969/12/31", 3, -1, -1 },
		{ "1.2.1970", 1, 31, NAN },
		{ "01/02/1970", 3, 31, 1 },
		{ "13/02/1970", 1, 43, NAN },
		{ "02-13-1970", 2, NAN, 43 },
		{ "1 Feb 1970", 3, 31, 31 },
		{ "February 1, 1970", 3, 31, 31 },
		{ "1970-01-02T06:00:00Z", 3, 1.25, 1.25 },
		{ "1970-01-02 06:00+06:00", 3, 1, 1 },
		{ "1/2/1970 12:00 AM", 3, 31, 1 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *text = cases[i].text, *end = text + strlen(text);
		kdri_look look = { 0 };
		double d = NAN, m = NAN;
		bool is = kdri_date_look(text, end, &look);
		kdri_date_value(text, end, KDRI_DAY_FIRST, &d);
		kdri_date_value(text, end, KDRI_MONTH_FIRST, &m);
		if (!is || look.orders != cases[i].orders ||
		    (d != cases[i].day_first && !(isnan(d) && isnan(cases[i].day_first))) ||
		    (m != cases[i].month_first && !(isnan(m) && isnan(cases[i].month_first))))
			fail_msg("%s: orders %u, %g, %g", text, look.orders, d, m);
	}
	static const char *const none[] = { "1970",     "1970-13-01",  "1970-02-30",    "30.2.1970",
		                            "1/2/70",   "12:30",       "1970-01-01x",   "1.2-1970",
		                            "Feb 1970", "32 Jan 1970", "1970-1-1 25:00" };
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		kdri_look look = { 0 };
		if (kdri_date_look(none[i], none[i] + strlen(none[i]), &look))
			fail_msg("'%s' is no date", none[i]);
	}
}

static void column_specs__read__or_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_column_specs w = { 0 };
	assert_int_equal(kdri_column_specs_read(ctx, "a, b:category,-c,+d,\"e,\"\"f\"?:mdy,-\"g:h\"", &w),
	                 KDR_OK);
	assert_int_equal(w.count, 6);
	assert_true(w.only && !w.numbers);
	assert_string_equal(w.items[1].name, "b");
	assert_int_equal(w.items[1].kind, KDR_COLUMN_CATEGORY);
	assert_true(w.items[2].leave && w.items[3].keep);
	assert_string_equal(w.items[4].name, "e,\"f");
	assert_true(w.items[4].optional && w.items[4].order == KDRI_MONTH_FIRST);
	assert_string_equal(w.items[5].name, "g:h");
	kdri_column_specs_free(ctx, &w);
	assert_int_equal(kdri_column_specs_read(ctx, "*:number", &w), KDR_OK);
	assert_true(w.numbers && w.count == 0);
	kdri_column_specs_free(ctx, &w);
	assert_fails(ctx, kdri_column_specs_read(ctx, "a:colour", &w), KDR_ERR_OPTION,
	             "'colour' of column 'a'");
	assert_fails(ctx, kdri_column_specs_read(ctx, "a,,b", &w), KDR_ERR_OPTION, "no column name");
	assert_fails(ctx, kdri_column_specs_read(ctx, "\"a", &w), KDR_ERR_OPTION, "missing closing quote");
	assert_fails(ctx, kdri_column_specs_read(ctx, "-a:number", &w), KDR_ERR_OPTION, "cannot have a type");
	assert_fails(ctx, kdri_column_specs_read(ctx, "*", &w), KDR_ERR_OPTION, "-*");
	assert_fails(ctx, kdri_column_specs_read(ctx, "\"a\"b", &w), KDR_ERR_OPTION, "comma is expected");
	kdr_context_free(ctx);
}

static void table__columns_and_rows_left_out__described(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL, *view = NULL;
	kdr_read_options o = { .size = sizeof(kdr_read_options), .missing = "drop-row" };
	assert_int_equal(text_load(ctx, TEXT_CSV, "id,k,x,e\na,u,1,\nb,v,,\nc,u,3,\nd,v,4,\n", &o, &d),
	                 KDR_OK);
	const kdr_column *c[4];
	for (int64_t j = 0; j < 4; j++)
		assert_non_null(c[j] = kdr_data_column_at(d, j));
	assert_null(kdr_data_column_at(d, 4));
	assert_null(kdr_data_column_at(d, -1));
	assert_int_equal(c[0]->kind, KDR_COLUMN_ID);
	assert_int_equal(c[1]->kind, KDR_COLUMN_CATEGORY);
	assert_int_equal(c[1]->features, 2);
	assert_string_equal(c[1]->why, "2 different texts");
	assert_int_equal(c[2]->missing, 1);
	assert_string_equal(kdr_column_kind_name(c[3]->kind), "empty");
	const kdr_left_out *left = kdr_data_left_out_at(d, 0);
	assert_null(kdr_data_left_out_at(d, 1));
	assert_int_equal(left->row, 2);
	assert_string_equal(left->id, "b");
	assert_string_equal(left->reason, "missing: x");
	assert_int_equal(kdr_data_view(ctx, d, "w", &view), KDR_OK);
	assert_string_equal(kdr_data_name(view), "w");
	assert_string_equal(kdr_data_ids(view)[2], "d");
	assert_non_null(kdr_data_column_at(view, 3));
	assert_null(kdr_data_column_at(view, 4));
	kdr_data_free(view);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* A cell of a column of the given kind; sometimes one that does not belong there. */
static int survey_cell(uint64_t *random, int kind, int64_t row, bool odd, char *to, size_t room)
{
	static const char *const others[] = { "",        "NA",    "inf",  "1e999",      "abc", "1.234",
		                              "\"1,5\"", "12 %",  "$ 5",  "01",         "?",   "-",
		                              " 7 ",     "+3",    "\xe9", "2021-01-01", "nan", "-inf",
		                              "12",      "0.000", ".5",   "1.",         "1e5" };
	static const char *const words[] = { "a", "b", "\"two\nlines\"", "\"say \"\"c\"\"\"", "d e" };
	const uint64_t r = kdri_random(random);
	const int n = (int)(r % 1000000);
	const double x = (double)(r >> 11) * 0x1p-53;
	if (odd)
		return snprintf(to, room, "%s", others[r % (sizeof others / sizeof others[0])]);
	switch (kind) {
	case 0: return snprintf(to, room, "%.17g", x * 4 - 2);
	case 1: return snprintf(to, room, "%.3f", x * 9);
	case 2: return snprintf(to, room, "%d", n % 600);
	case 3: return snprintf(to, room, "%d", n % 5);
	case 4: return snprintf(to, room, "%lld", (long long)row + 1);
	case 5: return snprintf(to, room, "%05d", n);
	case 6: return snprintf(to, room, "%s", words[r % 5]);
	case 7: return snprintf(to, room, "s%lld", (long long)row);
	case 8: return snprintf(to, room, "s%d", n % 5000);
	case 9: return snprintf(to, room, "%d/%d/2021", 1 + n % 12, 1 + n / 12 % (n % 97 ? 12 : 31));
	case 10: return snprintf(to, room, "\"%.2f\"", x * 2000);
	case 11: return snprintf(to, room, "\"%d,%03d.5\"", n % 1000, n / 1000);
	case 12: return snprintf(to, room, "%d %%", n % 100);
	case 13: return snprintf(to, room, "%d EUR", n);
	case 14: return snprintf(to, room, "%*d", n % 50 == 0 ? 140 : 6, n);
	default: return snprintf(to, room, "%.8e", x);
	}
}

static void survey__slices_of_rows__as_one_row_after_the_other(void **state)
{
	enum { ROWS = 1000, ROOM = 1 << 19, KINDS = 16, TABLES = 200 };
	static const kdr_read_options plain = { .size = sizeof plain },
	                              labels = { .size = sizeof plain, .label_column = "1" };
	(void)state;
	kdr_context *ctx = unit_context();
	uint64_t random = 7;
	char *text = test_malloc(ROOM);
	int64_t compared = 0;
	for (int table = 0; table < TABLES; table++) {
		int kinds[6], fields = 2 + table % 5;
		const uint64_t rarity = table % 4 == 0 ? UINT64_MAX : (uint64_t)30 << 2 * (table % 4);
		for (int j = 0; j < fields; j++)
			kinds[j] = (int)(kdri_random(&random) % KINDS);
		snprintf(text, ROOM, "%s,b,c,d,e,f", table % 3 ? "a" : "id");
		size_t n = (size_t)(strchr(text, ',') - text) + 2 * (size_t)(fields - 1);
		for (int64_t i = 0; i < ROWS; i++) {
			const bool shape = kdri_random(&random) % rarity == 1;
			text[n++] = '\n';
			for (int j = 0; j < fields + (shape && i % 2); j++) {
				if (j > 0)
					text[n++] = ',';
				const bool odd = kdri_random(&random) % rarity == 0;
				n += (size_t)survey_cell(&random, kinds[j % fields], i, odd, text + n,
				                         ROOM - n);
				if (shape && i % 6 == 0) /* a short row; a blank line; text after a quote */
					n += (size_t)snprintf(text + n, ROOM - n, "\n  \n\"x\"y");
			}
			if (table % 7 == 0)
				text[n++] = ',';
		}
		for (int threads = 1; threads <= 4; threads += 3) {
			kdri_csv_layout l[2];
			kdri_survey s[2];
			const kdr_read_options *o = table % 5 ? &plain : &labels;
			kdr_context_set_threads(ctx, threads);
			kdr_status st = survey_bytes(ctx, text, n, o, INT64_MAX, &l[0], &s[0]);
			assert_int_equal(survey_bytes(ctx, text, n, o, 1 + table % 3 * 320, &l[1], &s[1]),
			                 st);
			const char *what = st == KDR_OK ? survey_difference(&s[0], &s[1], l[0].fields) : NULL;
			if (what)
				fail_msg("table %d, %d threads: %s differs", table, threads, what);
			compared += st == KDR_OK ? s[0].rows : 0;
			for (int i = 0; i < 2; i++) {
				kdri_survey_free(ctx, &l[i], &s[i]);
				kdri_csv_layout_free(ctx, &l[i]);
			}
		}
	}
	assert_true(compared > ROWS * TABLES); /* of both numbers of threads */
	test_free(text);
	kdr_context_free(ctx);
}

static void survey__every_allocation_failed__memory_error(void **state)
{
	(void)state;
	char text[8192], *to = text;
	to += snprintf(to, 8, "a,b");
	for (int i = 0; i < 600; i++)
		to += snprintf(to, 16, "\n%s,%d", i % 2 ? "u" : "v", i == 500 ? 77777 : i % 3);
	text_assert_no_memory(TEXT_CSV, text, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_number__ways_people_write__understood),
		cmocka_unit_test(table_date__forms__days_since_1970),
		cmocka_unit_test(column_specs__read__or_refused),
		cmocka_unit_test(table__columns_and_rows_left_out__described),
		cmocka_unit_test(survey__slices_of_rows__as_one_row_after_the_other),
		cmocka_unit_test(survey__every_allocation_failed__memory_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
