/* Excel workbooks. */
#include "io/workbook/xlsx_book.h"
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"

static kdr_status read_path(kdr_context *ctx, const char *path)
{
	kdr_data *d = NULL;
	kdr_status st = kdr_read(ctx, path, NULL, &d);
	kdr_data_free(d);
	return st;
}

static void make_xlsx(const char *path)
{
	static const char *const
	        names[] = { "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml",
		            "xl/sharedStrings.xml", "xl/styles.xml" },
	        *const texts[] = {
		        "<workbook><sheets><sheet name='S' r:id='r1'/></sheets></workbook>",
		        "<R><Relationship Id='r1' Type='w' Target='worksheets/sheet1.xml'/>"
		        "<Relationship Id='r2' Type='/sharedStrings' Target='sharedStrings.xml'/>"
		        "<Relationship Id='r3' Type='/styles' Target='/xl/styles.xml'/></R>",
		        "<sheetData><row r='2'><c r='A2' t='s'><v>1</v></c><c r='B2' t='s'><v>0</v></c></row>"
		        "<row><c r='B3'><v>2</v></c><c r='A3'><v>-1.5e1</v></c></row>"
		        "<row><c><v>4</v></c><c t='b'><v>1</v></c></row></sheetData>",
		        "<sst><si><t>y</t></si><si><r><t>x</t></r><r><t>&lt;1</t></r></si></sst>",
		        "<s><numFmts><numFmt numFmtId='164' formatCode='dd/mm/yy'/></numFmts><cellXfs><xf "
		        "numFmtId='0'/><xf numFmtId='164'/></cellXfs></s>"
	        };
	kdr_context *ctx = unit_context();
	kdri_output *o = NULL;
	kdri_zip_part parts[5];
	kdri_zip_new members[5];
	for (int i = 0; i < 5; i++) {
		parts[i] = (kdri_zip_part){ texts[i], strlen(texts[i]) };
		members[i] = (kdri_zip_new){ names[i], &parts[i], 1 };
	}
	assert_ok(ctx, kdri_output_open(ctx, path, true, &o));
	assert_ok(ctx, kdri_zip_write(ctx, o, members, 5));
	assert_ok(ctx, kdri_output_finish(ctx, o, KDR_OK));
	kdr_context_free(ctx);
}

static void read__excel__as_a_table(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	const char *path = bytes_path("t.xlsx");
	make_xlsx(path);
	assert_ok(ctx, kdr_read(ctx, path, NULL, &d));
	assert_int_equal(d->rows, 2);
	assert_int_equal(d->cols, 2);
	assert_string_equal(d->features[0], "x<1");
	assert_true(d->dense[0] == -15 && d->dense[1] == 2 && d->dense[2] == 4 && d->dense[3] == 1);
	kdr_data_free(d);
	kdr_context_free(ctx);
	failing_all(read_path, path);
}

static void excel__days__are_those_of_the_calendar(void **state)
{
	(void)state;
	static const struct {
		double serial;
		bool from_1904;
		const char *text;
	} days[] = { { 1, false, "1900-01-01" },
		     { 59, false, "1900-02-28" },
		     { 61, false, "1900-03-01" },
		     { 25569, false, "1970-01-01" },
		     { 45351, false, "2024-02-29" },
		     { 45351.75, false, "2024-02-29T18:00:00" },
		     { 45351.9999999, false, "2024-03-01" },
		     { 0, true, "1904-01-01" },
		     { 2958465, false, "9999-12-31" },
		     { -1, false, NULL },
		     { 1e9, false, NULL } };
	char text[32];
	for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
		bool is = kdri_xlsx_date(days[i].serial, days[i].from_1904, text, sizeof text);
		assert_int_equal(is, days[i].text != NULL);
		if (is)
			assert_string_equal(text, days[i].text);
	}
	static const char *const shown[] = { "dd.mm.yyyy", "[$-409]d-mmm-yy;@", "yyyy" },
	                         *const not_shown[] = { "0.00",       "General",  "h:mm",
		                                        "0 \"days\"", "[Red]0.0", "\\d0" };
	for (int i = 0; i < 3; i++)
		assert_true(kdri_xlsx_shows_day(shown[i]));
	for (int i = 0; i < 6; i++)
		assert_false(kdri_xlsx_shows_day(not_shown[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__excel__as_a_table),
		cmocka_unit_test(excel__days__are_those_of_the_calendar),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
