/* The JSON reader and writer. SPDX-License-Identifier: BSD-3-Clause */
#include "core/json_write.h"
#include "tests/unit/failing.h"

static kdri_json_value *parse(kdr_context *ctx, const char *text)
{
	kdri_json_value *root = NULL;
	assert_ok(ctx, kdri_json_parse(ctx, "t", 1, text, strlen(text), &root));
	return root;
}

static void assert_refused(const char *text, const char *message)
{
	kdr_context *ctx = unit_context();
	kdri_json_value *root = NULL;
	assert_int_equal(kdri_json_parse(ctx, "t", 1, text, strlen(text), &root), KDR_ERR_FORMAT);
	assert_null(root);
	if (!strstr(kdr_context_error(ctx), message))
		fail_msg("%s: '%s' is not in '%s'", text, message, kdr_context_error(ctx));
	kdr_context_free(ctx);
}

static void json__all_types__found_in_order(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_json_value *v = parse(
	        ctx, " {\"n\": null, \"f\": false, \"t\": true, \"i\": -12, \"r\": 2.5e-1,\n \"s\": \"x\","
	             " \"a\": [1, [], {}], \"o\": {\"p\": {\"q\": 7}}}\r\n");
	static const struct {
		const char *key;
		kdri_json_type type;
	} wanted[] = { { "n", KDRI_JSON_NULL },    { "f", KDRI_JSON_FALSE }, { "t", KDRI_JSON_TRUE },
		       { "i", KDRI_JSON_INTEGER }, { "r", KDRI_JSON_REAL },  { "s", KDRI_JSON_TEXT },
		       { "a", KDRI_JSON_ARRAY },   { "o", KDRI_JSON_OBJECT } };
	assert_int_equal(kdri_json_count(v), 8);
	for (int i = 0; i < 8; i++) {
		assert_string_equal(kdri_json_key(kdri_json_at(v, i)), wanted[i].key);
		assert_int_equal(kdri_json_typeof(kdri_json_at(v, i)), wanted[i].type);
		assert_ptr_equal(kdri_json_get(v, wanted[i].key), kdri_json_at(v, i));
	}
	assert_int_equal(kdri_json_integer(kdri_json_get(v, "i"), 0), -12);
	assert_true(kdri_json_number(kdri_json_get(v, "i"), 0) == -12);
	assert_true(kdri_json_number(kdri_json_get(v, "r"), 0) == 0.25);
	assert_int_equal(kdri_json_integer(kdri_json_get(v, "r"), 5), 5);
	assert_string_equal(kdri_json_text(kdri_json_get(v, "s"), NULL), "x");
	assert_int_equal(kdri_json_count(kdri_json_get(v, "a")), 3);
	assert_int_equal(kdri_json_integer(kdri_json_get(kdri_json_get(kdri_json_get(v, "o"), "p"), "q"), 0),
	                 7);
	kdri_json_value_free(v);
	kdr_context_free(ctx);
}

static void json__absent_values__safe_to_ask(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_json_value *v = parse(ctx, "[1]");
	size_t length = 3;
	assert_null(kdri_json_at(v, 1));
	assert_null(kdri_json_at(v, -1));
	assert_null(kdri_json_get(v, "x"));
	assert_null(kdri_json_get(kdri_json_get(NULL, "x"), "y"));
	assert_int_equal(kdri_json_typeof(NULL), KDRI_JSON_ABSENT);
	assert_int_equal(kdri_json_count(NULL), 0);
	assert_int_equal(kdri_json_count(kdri_json_at(v, 0)), 0);
	assert_string_equal(kdri_json_key(kdri_json_at(v, 0)), "");
	assert_null(kdri_json_text(kdri_json_at(v, 0), &length));
	assert_int_equal(length, 0);
	assert_true(kdri_json_number(NULL, 0.5) == 0.5);
	kdri_json_value_free(v);
	kdri_json_value_free(NULL);
	kdr_context_free(ctx);
}

static void json__texts__decoded(void **state)
{
	(void)state;
	static const char text[] = "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\\u20AC\\ud83d\\ude00\", "
	                           "\"a\\u0000b\", \"\xc3\xa9\","
	                           " \"\", \"\xef\xbf\xbf\xf4\x8f\xbf\xbf\"]";
	static const struct {
		const char *bytes;
		size_t length;
	} wanted[] = { { "\"\\/\b\f\n\r\t", 8 },
		       { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9 },
		       { "a\0b", 3 },
		       { "\xc3\xa9", 2 },
		       { "", 0 },
		       { "\xef\xbf\xbf\xf4\x8f\xbf\xbf", 7 } };
	kdr_context *ctx = unit_context();
	kdri_json_value *v = parse(ctx, text);
	for (int i = 0; i < 6; i++) {
		size_t length;
		const char *got = kdri_json_text(kdri_json_at(v, i), &length);
		assert_int_equal(length, wanted[i].length);
		assert_memory_equal(got, wanted[i].bytes, length + 1);
	}
	kdri_json_value_free(v);
	kdr_context_free(ctx);
}

static void json__numbers__exact(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_json_value *v = parse(
	        ctx, "[9223372036854775807, -9223372036854775808, 9223372036854775808, 0, -0, 1e0, 0.1, "
	             "5e-324, 1.7976931348623157e308, 1E+2, 123456789012345678901234567890]");
	assert_int_equal(kdri_json_integer(kdri_json_at(v, 0), 0), INT64_MAX);
	assert_int_equal(kdri_json_integer(kdri_json_at(v, 1), 0), INT64_MIN);
	assert_int_equal(kdri_json_typeof(kdri_json_at(v, 2)), KDRI_JSON_REAL);
	assert_true(kdri_json_number(kdri_json_at(v, 2), 0) == 9223372036854775808.0);
	assert_int_equal(kdri_json_typeof(kdri_json_at(v, 3)), KDRI_JSON_INTEGER);
	assert_int_equal(kdri_json_integer(kdri_json_at(v, 4), 1), 0);
	assert_int_equal(kdri_json_typeof(kdri_json_at(v, 5)), KDRI_JSON_REAL);
	assert_true(kdri_json_number(kdri_json_at(v, 6), 0) == 0.1);
	assert_true(kdri_json_number(kdri_json_at(v, 7), 0) == 5e-324);
	assert_true(kdri_json_number(kdri_json_at(v, 8), 0) == 1.7976931348623157e308);
	assert_true(kdri_json_number(kdri_json_at(v, 9), 0) == 100);
	assert_true(kdri_json_number(kdri_json_at(v, 10), 0) == 123456789012345678901234567890.0);
	kdri_json_value_free(v);
	kdr_context_free(ctx);
}

static void json__damaged__refused_with_line_and_column(void **state)
{
	(void)state;
	assert_refused("", "line 1, column 1: not valid JSON: unexpected end");
	assert_refused("{\"a\": 1,\n \"b\": [1, 2", "line 2, column 12: not valid JSON: unexpected end");
	assert_refused("{\"a\": 1,\n  x}",
	               "line 2, column 3: not valid JSON: a key in double quotes is expected");
	assert_refused("[1, 2,]", "line 1, column 7: not valid JSON: a value is expected");
	assert_refused("[,1]", "a value is expected");
	assert_refused("[1 2]", "',' or ']' is expected");
	assert_refused("{\"a\" 1}", "':' is expected");
	assert_refused("{\"a\": 1} x", "unexpected text after the end");
	assert_refused("tru", "unexpected end");
	assert_refused("trux", "a value is expected");
	assert_refused("nan", "a value is expected");
	assert_refused("01", "no leading zero");
	assert_refused("-", "it needs a digit");
	assert_refused("1.", "after the decimal point");
	assert_refused("1e+", "in the exponent");
	assert_refused("1e999", "number out of range");
	assert_refused("+1", "a value is expected");
	assert_refused("\"abc", "unexpected end");
	assert_refused("\"abc\\", "unexpected end");
	assert_refused("\"a\nb\"", "control character (0x0a)");
	assert_refused("\"\\x\"", "invalid escape sequence");
	assert_refused("\"\\u12g4\"", "four hexadecimal digits");
	assert_refused("\"\\ud800\"", "surrogate");
	assert_refused("\"\\ud800\\u0041\"", "surrogate");
	assert_refused("\"\\udc00\"", "surrogate");
	assert_refused("\"\xff\"", "not UTF-8 (0xff)");
	assert_refused("\"\xc0\x80\"", "not UTF-8");
	assert_refused("\"\xed\xa0\x80\"", "not UTF-8");
	assert_refused("\"\xf4\x90\x80\x80\"", "not UTF-8");
	assert_refused("\"\xe2\x82\"", "not UTF-8");
	assert_refused("{\"a\": 1, \"b\": 2, \"a\": 3}", "key 'a' occurs twice");
	assert_refused("{\"a\\u0000\": 1}", "a key contains");
}

static void json__many_keys__found_and_twins_refused(void **state)
{
	(void)state;
	enum { COUNT = 2000, ROOM = COUNT * 24 + 32 };
	char *text = malloc(ROOM), key[16];
	size_t used = 0;
	kdr_context *ctx = unit_context();
	used += (size_t)snprintf(text, ROOM, "{");
	for (int i = 0; i < COUNT; i++)
		used += (size_t)snprintf(text + used, ROOM - used, "%s\"k%d\": %d", i ? ", " : "",
		                         (i * 7919) % COUNT, i);
	memcpy(text + used, "}", 2);
	kdri_json_value *v = parse(ctx, text);
	for (int i = 0; i < COUNT; i++) {
		snprintf(key, sizeof key, "k%d", (i * 7919) % COUNT);
		assert_int_equal(kdri_json_integer(kdri_json_get(v, key), -1), i);
		assert_string_equal(kdri_json_key(kdri_json_at(v, i)), key);
	}
	assert_null(kdri_json_get(v, "k2000"));
	kdri_json_value_free(v);
	snprintf(text + used, ROOM - used, ", \"k17\": 0}");
	assert_refused(text, "key 'k17' occurs twice");
	kdr_context_free(ctx);
	free(text);
}

static void json__depth__bounded(void **state)
{
	(void)state;
	char text[2001];
	kdr_context *ctx = unit_context();
	memset(text, '[', 500);
	memset(text + 500, ']', 500);
	text[1000] = '\0';
	kdri_json_value_free(parse(ctx, text));
	memset(text, '[', 2000);
	text[2000] = '\0';
	assert_refused(text, "nested more than 500 levels deep");
	kdr_context_free(ctx);
}

static void json__lines__counted_from_the_one_given(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_json_value *root = NULL;
	assert_int_equal(kdri_json_parse(ctx, "f.jsonl", 17, "{]", 2, &root), KDR_ERR_FORMAT);
	assert_non_null(strstr(kdr_context_error(ctx), "f.jsonl: line 17, column 2:"));
	assert_int_equal(kdri_json_parse(ctx, "f", 1, NULL, 0, &root), KDR_ERR_ARGUMENT);
	kdr_context_free(ctx);
}

static kdr_status parse_file(kdr_context *ctx, const char *path)
{
	static const char text[] =
	        "{\"a\": [1, 2, 3], \"b\": {\"c\": \"d\", \"1\": 1, \"2\": 2, \"3\": 3, \"4\": 4, \"5\": 5, "
	        "\"6\": 6, \"7\": 7, \"8\": 8, \"9\": 9}}";
	kdri_json_value *root = NULL;
	(void)path;
	kdr_status st = kdri_json_parse(ctx, "t", 1, text, sizeof text - 1, &root);
	kdri_json_value_free(root);
	return st;
}

static void json__no_memory__reported(void **state)
{
	(void)state;
	failing_all(parse_file, "");
}

/* --- the writer: a text, and a tree ------------------------------------------------------------------------------ */

/* Every kind of value, an object with many members, texts that are no UTF-8, and numbers that are written without a fraction. */
static void write_all(kdri_json *j)
{
	static const double reals[] = {
		0.1, 3, -0.0, 99999999999999999, 1e17, -1e300, 5e-324, NAN, -INFINITY
	};
	static const char *const texts[] = { "", "a\"\\\n\x01\x7f\u20ac", "\xff|\xe2\x82|", "\xed\xa0\x80" };
	kdri_json_object(j, NULL);
	kdri_json_reals(j, "reals", reals, sizeof reals / sizeof *reals);
	kdri_json_ints(j, "integers", (int64_t[]){ 0, -7, INT64_MAX, INT64_MIN }, 4);
	kdri_json_strings(j, "texts", texts, 4);
	kdri_json_object(j, "many \xff");
	for (int i = 0; i < 20; i++) {
		char key[8];
		snprintf(key, sizeof key, "k%d", 7 * i % 20);
		kdri_json_bool(j, key, i % 2 == 0);
	}
	kdri_json_end_object(j);
	kdri_json_array(j, "lists");
	kdri_json_array(j, NULL);
	kdri_json_end_array(j);
	kdri_json_object(j, NULL);
	kdri_json_null(j, "nothing");
	kdri_json_end_object(j);
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static kdr_status make_tree(kdr_context *ctx, kdri_json_value **root)
{
	kdri_json_tree tree;
	kdri_json j = { .tree = &tree };
	kdr_status st = kdri_json_tree_begin(ctx, 64, &tree);
	if (st == KDR_OK)
		write_all(&j);
	return kdri_json_tree_end(&tree, st == KDR_OK && j.failed ? KDR_ERR_MEMORY : st, root);
}

static void assert_same(const kdri_json_value *a, const kdri_json_value *b)
{
	assert_int_equal(kdri_json_typeof(a), kdri_json_typeof(b));
	assert_string_equal(kdri_json_key(a), kdri_json_key(b));
	assert_int_equal(kdri_json_count(a), kdri_json_count(b));
	assert_int_equal(kdri_json_integer(a, 0), kdri_json_integer(b, 0));
	assert_true(kdri_json_number(a, 0) == kdri_json_number(b, 0));
	if (kdri_json_is(a, KDRI_JSON_TEXT))
		assert_string_equal(kdri_json_text(a, NULL), kdri_json_text(b, NULL));
	for (int64_t i = 0; i < kdri_json_count(a); i++) {
		const kdri_json_value *one = kdri_json_at(a, i);
		assert_same(one, kdri_json_at(b, i));
		if (kdri_json_is(a, KDRI_JSON_OBJECT))
			assert_ptr_equal(kdri_json_get(a, kdri_json_key(one)), one);
	}
}

static void write__tree__is_that_of_the_text(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_json_value *tree = NULL;
	kdri_json text = { 0 }, again = { 0 },
	          page = { .page = true, .digits = 3, .characters = 2, .entries = 3 };
	assert_ok(ctx, make_tree(ctx, &tree));
	write_all(&text);
	kdri_json_value *parsed = parse(ctx, text.text);
	assert_same(tree, parsed);
	kdri_json_put(&text, NULL, tree); /* the writer of both: the same bytes, but for -0 and U+FFFD */
	kdri_json_put(&again, NULL, parsed);
	assert_string_equal(text.text + text.used - again.used, again.text);
	/* a page has no blanks, and shortens */
	kdri_json_put(&page, NULL, tree);
	assert_non_null(strstr(page.text, "{\"reals\":[0.1,3,0],\"integers\":[0,-7,9223372036854775807],"
	                                  "\"texts\":[\"\",\"a\\u0022…\","));
	kdri_json_free(&text);
	kdri_json_free(&again);
	kdri_json_free(&page);
	kdri_json_value_free(parsed);
	kdri_json_value_free(tree);
	kdr_context_free(ctx);
}

static kdr_status grow_tree(kdr_context *ctx, const char *path)
{
	kdri_json_value *root = NULL;
	(void)path;
	const kdr_status st = make_tree(ctx, &root);
	kdri_json_value_free(root);
	return st;
}

static void write__tree_without_memory__reported(void **state)
{
	(void)state;
	failing_all(grow_tree, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json__all_types__found_in_order),
		cmocka_unit_test(json__absent_values__safe_to_ask),
		cmocka_unit_test(json__texts__decoded),
		cmocka_unit_test(json__numbers__exact),
		cmocka_unit_test(json__damaged__refused_with_line_and_column),
		cmocka_unit_test(json__many_keys__found_and_twins_refused),
		cmocka_unit_test(json__depth__bounded),
		cmocka_unit_test(json__lines__counted_from_the_one_given),
		cmocka_unit_test(json__no_memory__reported),
		cmocka_unit_test(write__tree__is_that_of_the_text),
		cmocka_unit_test(write__tree_without_memory__reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
