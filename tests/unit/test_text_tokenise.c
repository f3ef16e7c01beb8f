/* Tokens: what a word is, and how it is spelt. */
#include "tests/unit/unit.h"
#include "text/text.h"

/* The tokens of `text`, each followed by a space. */
static const char *tokens_of(const kdr_text_options *o, const kdri_terms *stop, const char *text,
                             size_t length)
{
	static char room[8192];
	static uint32_t start[4096];
	kdri_tokens t = { .text = room, .start = start, .text_room = sizeof room - 1, .room = 4096 };
	start[0] = 0;
	assert_int_equal(kdri_tokenise(o, stop, NULL, text, length, &t), KDRI_TOKENS_DONE);
	assert_int_equal(start[t.count], t.text_used);
	for (int64_t i = 0; i < t.count; i++)
		assert_int_equal(room[start[i + 1] - 1], ' ');
	room[t.text_used] = '\0';
	return room;
}

static const char *plain(const kdr_text_options *o, const char *text)
{
	return tokens_of(o, NULL, text, strlen(text));
}

static kdr_text_options defaults(void)
{
	kdr_text_options o;
	kdr_text_options_init(&o);
	kdri_text_resolve(&o);
	o.min_length = 1;
	return o;
}

static kdr_text_options letters(void)
{
	kdr_text_options o = defaults();
	o.tokens = KDR_TOKENS_LETTERS;
	return o;
}

static void letters__case__is_folded(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_text_options o = letters();
	assert_string_equal(plain(&o, "Straße STRASSE straße"), "strasse strasse strasse ");
	/* Final, medial and capital sigma are one letter. */
	assert_string_equal(plain(&o, "ΣΟΦΟΣ σοφος σοφοσ"), "σοφοσ σοφοσ σοφοσ ");
	assert_string_equal(plain(&o, "ЁЛКА ёлка"), "ёлка ёлка ");
	assert_string_equal(plain(&o, "Don't X2Y"), "don t x y ");
	o.keep_case = true;
	assert_string_equal(plain(&o, "Straße ΣΟΦΟΣ Don"), "Straße ΣΟΦΟΣ Don ");
}

static void letters__combining_marks__belong_to_the_word_and_are_composed(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_text_options o = defaults();
	/* Precomposed, combining, and combining marks in the other order. */
	assert_string_equal(plain(&o, "na\u00efve nai\u0308ve"), "na\u00efve na\u00efve ");
	assert_string_equal(plain(&o, "q\u0323\u0307 q\u0307\u0323"), "q\u0323\u0307 q\u0323\u0307 ");
	/* A mark without a letter starts nothing. */
	assert_string_equal(plain(&o, "\u0308 \u0308x"), "x ");
	/* Vowel signs of Devanagari are marks. */
	assert_string_equal(plain(&o, "हिन्दी भाषा"), "हिन्दी भाषा ");
}

static void letters__scripts_without_spaces__pairs_of_characters(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	unit_needs("utf8proc");
	assert_string_equal(plain(&o, "東京都。大阪 人"), "東京 京都 大阪 人 ");
	assert_string_equal(plain(&o, "日本のUSBメモリ"), "日本 本の usb メモ モリ ");
	/* Marks belong to their letters; Korean has spaces. */
	assert_string_equal(plain(&o, "ที่นี่ดี"), "ที่นี่ นี่ดี ");
	assert_string_equal(plain(&o, "한국어 단어"), "한국어 단어 ");
	o.min_length = 3;
	assert_string_equal(plain(&o, "東京都。人"), "東京 京都 ");
	o.tokens = KDR_TOKENS_RUNS;
	assert_string_equal(plain(&o, "東京都。大阪"), "東京都 ");
}

static void letters__invisible_characters__joined_or_separating(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_text_options o = defaults();
	assert_string_equal(plain(&o, "co\u00adoperate"), "cooperate ");
	assert_string_equal(plain(&o, "mi\u200cx"), "mix ");
	assert_string_equal(plain(&o, "zero\u200bwidth"), "zero width ");
	assert_string_equal(plain(&o, "\u00ad \u200d"), "");
}

static void letters__nul_bytes_and_digits__separate(void **state)
{
	(void)state;
	kdr_text_options o = letters();
	assert_string_equal(tokens_of(&o, NULL, "a\0b\0\0c1d", 8), "a b c d ");
	assert_string_equal(tokens_of(&o, NULL, "", 0), "");
}

static void words__digits__belong_to_letters(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	assert_string_equal(plain(&o, "3G covid19 COVID-19 x2y mp3s 2024 10.000"),
	                    "3g covid19 covid x2y mp3s ");
	/* The digits of numbers, times and dates are no part of a word. */
	assert_string_equal(plain(&o, "2.4GHz 10:30am 2024-03-04T10:00Z v1.2b"), "ghz am t10 z v1 b ");
	unit_needs("utf8proc");
	assert_string_equal(plain(&o, "über9000 2024年度 第3回"), "über9000 年度 第 回 ");
}

static void words__programming_languages__keep_their_signs(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	assert_string_equal(plain(&o, "C, C++ (C++17), C#, F#; Notepad++."), "c c++ c++ c# f# notepad++ ");
	assert_string_equal(plain(&o, "a+++b a++b issue#12 C#4 x# 5++ a+b C++"),
	                    "a b a b issue c x# a b c++ ");
	o.min_length = 2;
	assert_string_equal(plain(&o, "c C# C++ 3G"), "c# c++ 3g ");
	o.tokens = KDR_TOKENS_LETTERS;
	assert_string_equal(plain(&o, "go C# C++ 3G"), "go ");
}

static void words__addresses__are_removed(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	assert_string_equal(
	        plain(&o, "see https://example.org/a?b=c&d#e, or www.example.org/x (http://b.c/d) end"),
	        "see or end ");
	assert_string_equal(plain(&o, "[link](ftp://h.org/a)more <http://x.y>text www.\na://"),
	                    "link more text www a ");
	assert_string_equal(plain(&o, "mail jane.doe+x@mail.example.org. <1993Apr5.12@host.edu> 7@x.org bye"),
	                    "mail bye ");
	assert_string_equal(plain(&o, "@handle user@host a@ b@.c"), "handle user host a b c ");
	assert_string_equal(plain(&o, "one.two.three well-known snake_case and/or 5%x"),
	                    "one two three well known snake case and or x ");
	unit_needs("utf8proc");
	assert_string_equal(plain(&o, "siehe https://de.example.org/wiki/Zürich “ja” 見http://a.b/c。東京"),
	                    "siehe ja 見 東京 ");
	o.tokens = KDR_TOKENS_LETTERS;
	assert_string_equal(plain(&o, "http://a.org x@y.de"), "http a org x y de ");
}

/* Each emoji is a token, whatever the length limits; what is drawn as one is one, without style and skin tone. */
static void words__emojis__are_tokens(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	o.min_length = 2;
	assert_string_equal(plain(&o, "good👍👍🏽 ok ❤️❤ 😀."), "good 👍 👍 ok ❤ ❤ 😀 ");
	assert_string_equal(plain(&o, "👩‍👩‍👧‍👦! 👩🏽‍💻 🇩🇪🇫🇷 🇩"),
	                    "👩‍👩‍👧‍👦 👩‍💻 🇩🇪 🇫🇷 🇩 ");
	o.tokens = KDR_TOKENS_ASCII;
	assert_string_equal(plain(&o, "ok👍"), "ok ");
	unit_needs("utf8proc");
	o.tokens = KDR_TOKENS_LETTERS;
	assert_string_equal(plain(&o, "ok👍"), "ok ");
}

/* A joiner that joins nothing is no part of a token. */
static void words__joiner_at_the_end__is_dropped(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	char many[40 * 7 + 1] = "";
	unit_needs("utf8proc");
	assert_string_equal(plain(&o, "👍\u200d"), "👍 ");
	for (int i = 0; i < 40; i++)
		memcpy(many + 7 * i, "👍\u200d", 8);
	assert_in_range(strlen(plain(&o, many)), 40 * 4, 40 * 8);
}

static void ascii__other_letters__separate(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	o.tokens = KDR_TOKENS_ASCII;
	assert_string_equal(plain(&o, "caf\u00e9 Na\u00efve \u0391bc"), "caf na ve bc ");
}

static void length__limits__are_in_characters(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	o.min_length = 3;
	o.max_length = 5;
	unit_needs("utf8proc");
	assert_string_equal(plain(&o, "ab abc abcde abcdef éé ééé ééééé éééééé"), "abc abcde ééé ééééé ");
	/* ß counts as the two letters it folds to. */
	assert_string_equal(plain(&o, "ßa ß"), "ssa ");
}

static void length__run_far_too_long__is_dropped(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	o.max_length = 255;
	unit_needs("utf8proc");
	for (size_t n = 1000; n <= 100000; n *= 10) {
		char *text = test_malloc(2 * n + 3);
		for (size_t i = 0; i < n; i++)
			memcpy(text + 2 * i, "\u00e9", 2);
		memcpy(text + 2 * n, " x", 3);
		assert_string_equal(plain(&o, text), "x ");
		test_free(text);
	}
}

static void stopwords__folded__are_removed(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	kdri_terms *stop = NULL;
	o.stopwords = "english";
	assert_ok(ctx, kdri_stopwords(ctx, &o, &stop));
	static const char text[] = "The running DOGS and others were running";
	assert_string_equal(tokens_of(&o, stop, text, strlen(text)), "running dogs running ");
	kdri_terms_free(ctx, stop);
	kdr_context_free(ctx);
}

static void stopwords__of_every_language_with_a_stemmer__exist(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	unit_needs("utf8proc");
	static const struct {
		const char *name, *text, *left;
	} some[] = {
		{ "danish", "Hunden og ikke katten er her", "hunden katten " },
		{ "dutch", "De hond en het huis van ons", "hond huis " },
		{ "english", "The dog and the house of ours", "dog house " },
		{ "finnish", "Koira ja talo ovat siellä", "koira talo " },
		{ "french", "Le chien et la maison sont à nous", "chien maison à " },
		{ "german", "Der Hund und das Haus, daß wir nicht", "hund haus " },
		{ "hungarian", "A kutya és a ház nem volt", "a kutya a ház " },
		{ "italian", "Il cane e la casa della città", "cane e casa città " },
		{ "norwegian", "Hunden og ikke katten er hennes", "hunden katten " },
		{ "portuguese", "O cão e a casa não são nossos", "o cão e a casa " },
		{ "romanian", "Câinele și casa nu sunt aici", "câinele casa " },
		{ "russian", "Собака и дом не были здесь", "собака дом " },
		{ "spanish", "El perro y la casa no están aquí", "perro casa " },
		{ "swedish", "Hunden och huset är inte här", "hunden huset " },
		{ "turkish", "Köpek ve ev bizim için değil", "köpek ev " },
	};
	for (int l = 0; l < 15; l++) {
		kdri_terms *stop = NULL;
		o.stopwords = some[l].name;
		assert_string_equal(kdri_language_name(l), some[l].name);
		assert_ok(ctx, kdri_stopwords(ctx, &o, &stop));
		assert_in_range(stop->count, 150, 400);
		assert_string_equal(tokens_of(&o, stop, some[l].text, strlen(some[l].text)), some[l].left);
		kdri_terms_free(ctx, stop);
	}
	assert_null(kdri_language_name(15));
	kdr_context_free(ctx);
}

static void tokenise__no_room__says_so(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	char room[8];
	uint32_t start[4] = { 0 };
	kdri_tokens t = { .text = room, .start = start, .text_room = 8, .room = 4 };
	assert_int_equal(kdri_tokenise(&o, NULL, NULL, "abcd efgh", 9, &t), KDRI_TOKENS_FULL);
	t.count = t.text_used = 0;
	assert_int_equal(kdri_tokenise(&o, NULL, NULL, "a b c d", 7, &t), KDRI_TOKENS_FULL);
}

static void stemmers__list__has_porter_and_german(void **state)
{
	(void)state;
	unit_needs("stemmer");
	const char *const *names = kdri_stemmer_names();
	bool porter = false, german = false;
	for (; *names; names++) {
		porter |= strcmp(*names, "porter") == 0;
		german |= strcmp(*names, "german") == 0;
	}
	assert_true(porter && german);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters__case__is_folded),
		cmocka_unit_test(letters__combining_marks__belong_to_the_word_and_are_composed),
		cmocka_unit_test(letters__scripts_without_spaces__pairs_of_characters),
		cmocka_unit_test(letters__invisible_characters__joined_or_separating),
		cmocka_unit_test(letters__nul_bytes_and_digits__separate),
		cmocka_unit_test(words__digits__belong_to_letters),
		cmocka_unit_test(words__programming_languages__keep_their_signs),
		cmocka_unit_test(words__addresses__are_removed),
		cmocka_unit_test(words__emojis__are_tokens),
		cmocka_unit_test(words__joiner_at_the_end__is_dropped),
		cmocka_unit_test(ascii__other_letters__separate),
		cmocka_unit_test(length__limits__are_in_characters),
		cmocka_unit_test(length__run_far_too_long__is_dropped),
		cmocka_unit_test(stopwords__folded__are_removed),
		cmocka_unit_test(stopwords__of_every_language_with_a_stemmer__exist),
		cmocka_unit_test(tokenise__no_room__says_so),
		cmocka_unit_test(stemmers__list__has_porter_and_german),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
