/* Tokens: what a word is, and how it is spelt. */
#include "tests/unit/unit.h"
#include "text/text.h"

#include <libstemmer.h>

/* The tokens of `text`, each followed by a space. */
static const char *tokens_of(const kdr_text_options *o, const kdri_terms *stop, kdri_stemmer *stemmer,
                             const char *text, size_t length)
{
	static char room[8192];
	static uint32_t start[4096];
	kdri_tokens t = { .text = room, .start = start, .text_room = sizeof room - 1, .room = 4096 };
	start[0] = 0;
	assert_int_equal(kdri_tokenise(o, stop, stemmer, text, length, &t), KDRI_TOKENS_DONE);
	assert_int_equal(start[t.count], t.text_used);
	for (int64_t i = 0; i < t.count; i++)
		assert_int_equal(room[start[i + 1] - 1], ' ');
	room[t.text_used] = '\0';
	return room;
}

static const char *plain(const kdr_text_options *o, const char *text)
{
	return tokens_of(o, NULL, NULL, text, strlen(text));
}

static kdr_text_options defaults(void)
{
	kdr_text_options o;
	kdr_text_options_init(&o);
	kdri_text_resolve(&o);
	o.min_length = 1;
	return o;
}

static void letters__case__is_folded(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
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
	kdr_text_options o = defaults();
	/* Precomposed, combining, and combining marks in the other order. */
	assert_string_equal(plain(&o, "na\u00efve nai\u0308ve"), "na\u00efve na\u00efve ");
	assert_string_equal(plain(&o, "q\u0323\u0307 q\u0307\u0323"), "q\u0323\u0307 q\u0323\u0307 ");
	/* A mark without a letter starts nothing. */
	assert_string_equal(plain(&o, "\u0308 \u0308x"), "x ");
	/* Vowel signs of Devanagari are marks. */
	assert_string_equal(plain(&o, "हिन्दी भाषा"), "हिन्दी भाषा ");
}

static void letters__scripts_without_spaces__one_token_a_run(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	assert_string_equal(plain(&o, "東京都。大阪"), "東京都 大阪 ");
}

static void letters__invisible_characters__joined_or_separating(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	assert_string_equal(plain(&o, "co\u00adoperate"), "cooperate ");
	assert_string_equal(plain(&o, "mi\u200cx"), "mix ");
	assert_string_equal(plain(&o, "zero\u200bwidth"), "zero width ");
	assert_string_equal(plain(&o, "\u00ad \u200d"), "");
}

static void letters__nul_bytes_and_digits__separate(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	assert_string_equal(tokens_of(&o, NULL, NULL, "a\0b\0\0c1d", 8), "a b c d ");
	assert_string_equal(tokens_of(&o, NULL, NULL, "", 0), "");
}

static void ascii__other_letters__separate(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	o.tokens = KDR_TOKENS_ASCII;
	assert_string_equal(plain(&o, "caf\u00e9 Na\u00efve \u0391bc"), "caf na ve bc ");
}

static void length__limits__are_in_characters_before_stemming(void **state)
{
	(void)state;
	kdr_text_options o = defaults();
	o.min_length = 3;
	o.max_length = 5;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	assert_string_equal(plain(&o, "ab abc abcde abcdef éé ééé ééééé éééééé"), "abc abcde ééé ééééé ");
	/* ß counts as the two letters it folds to. */
	assert_string_equal(plain(&o, "ßa ß"), "ssa ");
	kdr_context *ctx = unit_context();
	kdri_stemmer *stemmer = NULL;
	assert_ok(ctx, kdri_stemmer_new(ctx, "porter", &stemmer));
	assert_string_equal(tokens_of(&o, NULL, stemmer, "use", 3), "us ");
	kdri_stemmer_free(ctx, stemmer);
	kdr_context_free(ctx);
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

static void stopwords__folded__are_left_out_before_stemming(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	kdri_terms *stop = NULL;
	unit_needs("stemmer");
	o.stopwords = "english";
	assert_ok(ctx, kdri_stopwords(ctx, &o, &stop));
	kdri_stemmer *stemmer = NULL;
	assert_ok(ctx, kdri_stemmer_new(ctx, "english", &stemmer));
	static const char text[] = "The running DOGS and others were running";
	assert_string_equal(tokens_of(&o, stop, stemmer, text, strlen(text)), "run dog run ");
	kdri_stemmer_free(ctx, stemmer);
	kdri_terms_free(ctx, stop);
	kdr_context_free(ctx);
}

static void stopwords__built_in__sorted_and_lower_case(void **state)
{
	(void)state;
	int64_t count;
	const char *const *words = kdri_stopwords_english(&count);
	assert_true(count > 250);
	for (int64_t i = 0; i < count; i++) {
		for (const char *p = words[i]; *p; p++)
			assert_in_range(*p, 'a', 'z');
		if (i > 0)
			assert_true(strcmp(words[i - 1], words[i]) < 0);
	}
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

static void stem__memory__never_changes_a_stem(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_stemmer *kept = NULL;
	struct sb_stemmer *plain_one = sb_stemmer_new("porter", NULL);
	kdri_rng rng = kdri_rng_stream(5, "stem", 0);
	static const char *const endings[] = { "", "s", "ing", "ed", "ational", "fulness", "y", "ies" };
	assert_ok(ctx, kdri_stemmer_new(ctx, "porter", &kept));
	for (int i = 0; i < 50000; i++) {
		char word[64];
		size_t n = (size_t)kdri_rng_below(&rng, 22) + 1;
		int64_t kind = kdri_rng_below(&rng, 40); /* few kinds, so that words come back */
		for (size_t k = 0; k < n; k++)
			word[k] = (char)('a' + (kind * 7 + (int64_t)k * (kind % 5 + 1)) % 26);
		n += (size_t)snprintf(word + n, sizeof word - n, "%s", endings[kdri_rng_below(&rng, 8)]);
		size_t length = n;
		const char *stem = kdri_stem(kept, word, &length, kdri_term_hash(word, n));
		const sb_symbol *expected = sb_stemmer_stem(plain_one, (const sb_symbol *)word, (int)n);
		assert_int_equal(length, sb_stemmer_length(plain_one));
		assert_memory_equal(stem, expected, length);
	}
	sb_stemmer_delete(plain_one);
	kdri_stemmer_free(ctx, kept);
	kdr_context_free(ctx);
}

static void stemmers__list__has_porter_and_german(void **state)
{
	(void)state;
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
		cmocka_unit_test(letters__scripts_without_spaces__one_token_a_run),
		cmocka_unit_test(letters__invisible_characters__joined_or_separating),
		cmocka_unit_test(letters__nul_bytes_and_digits__separate),
		cmocka_unit_test(ascii__other_letters__separate),
		cmocka_unit_test(length__limits__are_in_characters_before_stemming),
		cmocka_unit_test(length__run_far_too_long__is_dropped),
		cmocka_unit_test(stopwords__folded__are_left_out_before_stemming),
		cmocka_unit_test(stopwords__built_in__sorted_and_lower_case),
		cmocka_unit_test(tokenise__no_room__says_so),
		cmocka_unit_test(stem__memory__never_changes_a_stem),
		cmocka_unit_test(stemmers__list__has_porter_and_german),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
