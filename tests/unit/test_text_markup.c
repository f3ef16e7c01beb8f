/* HTML, mail headers and encodings: the remaining text of a document. */
#include "tests/unit/unit.h"
#include "text/text.h"

static const char *html(const char *text)
{
	static char out[4096];
	size_t n = kdri_html_strip(text, strlen(text), out);
	assert_true(n <= strlen(text));
	out[n] = '\0';
	return out;
}

/* Subject, a bar, body. */
static const char *mail(const char *text, bool keep_subject)
{
	static char out[4096];
	size_t begin, n = kdri_mail_strip(text, strlen(text), keep_subject, &begin, out);
	assert_true(n + strlen(text) - begin <= strlen(text));
	snprintf(out + n, sizeof out - n, "|%s", text + begin);
	return out;
}

static void html__tags__go_and_words_stay_whole(void **state)
{
	(void)state;
	assert_string_equal(html("<p>one<br>two</p>"), " one two ");
	assert_string_equal(html("<B>H</b>ello <a href='x'>wor</A>ld"), "Hello world");
	assert_string_equal(html("<img alt=\"a > b\">x"), " x");
	assert_string_equal(html("<td width = 'a>b'>x"), " x");
	assert_string_equal(html("a < b, c <3, <"), "a < b, c <3, <");
}

static void html__never_closed__costs_little(void **state)
{
	(void)state;
	assert_string_equal(html("a <p title=\"open>b</p> c"), "a  b  c");
	assert_string_equal(html("a <!-- open> b"), "a  b");
	assert_string_equal(html("a <p"), "a  ");
	assert_string_equal(html("a <script>b c"), "a  ");
	assert_string_equal(html("a </"), "a  ");
	assert_string_equal(html("a <!"), "a ");
}

static void html__comments_scripts_styles__vanish(void **state)
{
	(void)state;
	assert_string_equal(html("a<!-- <b>x</b> -- > -->b"), "ab");
	assert_string_equal(html("a<!-->b"), "ab");
	assert_string_equal(html("<!DOCTYPE html><?xml x?>a"), "a");
	assert_string_equal(html("a<SCRIPT type=x>if (a<b) \"</p>\"</Script>b"), "a  b");
	assert_string_equal(html("a<style>p { }</style >b"), "a  b");
	assert_string_equal(html("<scripture>a"), " a");
}

static void html__entities__are_decoded(void **state)
{
	(void)state;
	assert_string_equal(html("&lt;&amp;&gt;&quot;&apos;"), "<&>\"'");
	assert_string_equal(html("caf&eacute; &Eacute; &alpha;&hellip;&thetasym;"),
	                    "caf\u00e9 \u00c9 \u03b1\u2026\u03d1");
	assert_string_equal(html("&#65;&#x42;&#X43;&#68 &#x20AC;"), "ABCD \u20ac");
	assert_string_equal(html("&#150;&#x80;"), "\u2013\u20ac");
	assert_string_equal(html("&#0;&#xD800;&#99999999999;"), "\ufffd\ufffd\ufffd");
	assert_string_equal(html("R&D &nosuch; &; &# &#x; &amp"), "R&D &nosuch; &; &# &#x; &");
	assert_string_equal(html("&lt;b&gt;"), "<b>");
}

static void html__random_bytes__output_never_longer(void **state)
{
	(void)state;
	static const char alphabet[] = "<>!-/\"'=&#;x a1?scriptyle\0";
	kdri_rng rng = kdri_rng_stream(3, "html", 0);
	char text[400], out[400];
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)kdri_rng_below(&rng, (int64_t)sizeof text + 1);
		for (size_t i = 0; i < n; i++)
			text[i] = alphabet[kdri_rng_below(&rng, sizeof alphabet)];
		assert_true(kdri_html_strip(text, n, out) <= n);
	}
}

static void html__hostile_repeats__are_linear(void **state)
{
	(void)state;
	/* Quadratic scans of these would take minutes. */
	static const char *const pieces[] = { "<a b=\"", "<a b='", "<!--", "<!-- >",
		                              "<a",      "&#",     "</",   "<script" };
	const size_t n = 4 << 20;
	char *text = test_malloc(n), *out = test_malloc(n);
	for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
		size_t m = strlen(pieces[k]);
		for (size_t i = 0; i < n; i++)
			text[i] = pieces[k][i % m];
		assert_true(kdri_html_strip(text, n, out) <= n);
	}
	test_free(text);
	test_free(out);
}

static void mail__headers__go_up_to_the_blank_line(void **state)
{
	(void)state;
	static const char message[] = "From: a@b.c\nSubject: Re: hello\n world\nX-Odd: 1\n\nbody: x\n\nmore";
	assert_string_equal(mail(message, false), "|body: x\n\nmore");
	assert_string_equal(mail(message, true), " Re: hello\n world\n|body: x\n\nmore");
	assert_string_equal(mail("MIME-Version: 1.0\r\nSUBJECT:x\r\n\r\nbody", true), "x\n|body");
	assert_string_equal(mail("From me Mon Jan 1\nTo: x\n\nbody", true), "|body");
	assert_string_equal(mail("HTTP/1.0 200 OK\nServer: x\n\nbody", true), "|body");
	/* A malformed line inside the header does not end it. */
	assert_string_equal(mail("A: 1\nnot a field\nSubject: no\n\nbody", true), "|body");
}

static void mail__without_header_or_blank_line__keeps_the_text(void **state)
{
	(void)state;
	assert_string_equal(mail("just text\n\nmore", true), "|just text\n\nmore");
	assert_string_equal(mail("\nA: b\n\nmore", true), "|\nA: b\n\nmore");
	assert_string_equal(mail("", true), "|");
	assert_string_equal(mail("A: b\ntext goes on\nC: d", true), "|text goes on\nC: d");
	assert_string_equal(mail("Subject: all", true), " all\n|");
	assert_string_equal(mail("Subject:", true), "\n|");
}

static void decode__windows_1252__to_utf8(void **state)
{
	(void)state;
	char out[32];
	size_t n = kdri_decode_1252("caf\xe9 \x80\x9c", 7, out);
	out[n] = '\0';
	assert_string_equal(out, "caf\u00e9 \u20ac\u0153");
}

static void utf8__validity__as_the_standard_says(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool valid;
	} cases[] = {
		{ "", true },
		{ "plain ASCII, more than eight bytes", true },
		{ "\u00e9\u20ac\U0001f600", true },
		{ "\xf4\x8f\xbf\xbf", true },
		{ "\xf4\x90\x80\x80", false }, /* above U+10FFFF */
		{ "\xed\xa0\x80", false },     /* a surrogate */
		{ "\xc0\xaf", false },         /* overlong */
		{ "\xe0\x9f\xbf", false },
		{ "\xf0\x8f\xbf\xbf", false },
		{ "12345678\xe9", false }, /* cut off */
		{ "\xe2\x82", false },
		{ "\xe2\x82z", false },
		{ "\x80", false },
		{ "\xff", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(kdri_utf8_valid(cases[i].text, strlen(cases[i].text)), cases[i].valid);
}

static void utf8__put_then_check__every_character(void **state)
{
	(void)state;
	char out[4];
	for (uint32_t c = 0; c < 0x110000; c++) {
		size_t n = kdri_utf8_put(c, out);
		assert_true(kdri_utf8_valid(out, n));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(html__tags__go_and_words_stay_whole),
		cmocka_unit_test(html__never_closed__costs_little),
		cmocka_unit_test(html__comments_scripts_styles__vanish),
		cmocka_unit_test(html__entities__are_decoded),
		cmocka_unit_test(html__random_bytes__output_never_longer),
		cmocka_unit_test(html__hostile_repeats__are_linear),
		cmocka_unit_test(mail__headers__go_up_to_the_blank_line),
		cmocka_unit_test(mail__without_header_or_blank_line__keeps_the_text),
		cmocka_unit_test(decode__windows_1252__to_utf8),
		cmocka_unit_test(utf8__validity__as_the_standard_says),
		cmocka_unit_test(utf8__put_then_check__every_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
