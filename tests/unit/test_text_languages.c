/* The language of each text, and collections in several languages. */
#include "tests/unit/failing.h"
#include "tests/unit/sentences.h"
#include "tests/unit/unit.h"
#include "text/text.h"

/* The bytes of the first n words. */
static size_t first_words(const char *text, int n)
{
	const char *p = text;
	for (; n > 0 && *p; n--) {
		p += strspn(p, " ");
		p += strcspn(p, " ");
	}
	return (size_t)(p - text);
}

static int language_of(const kdri_languages *languages, const char *text, size_t length)
{
	static char room[1024];
	static uint32_t start[256];
	kdr_text_options o;
	kdri_tokens t = { .text = room, .start = start, .text_room = sizeof room, .room = 256 };
	kdr_text_options_init(&o);
	kdri_text_resolve(&o);
	assert_int_equal(kdri_tokenise(&o, NULL, languages->words, text, length, &t), KDRI_TOKENS_DONE);
	const int found = kdri_languages_of_text(languages, t.hits);
	return found < 0 ? -1 : languages->of[found];
}

static kdri_languages parsed(kdr_context *ctx, const char *list)
{
	kdri_languages languages = { 0 };
	assert_true(kdri_languages_parse(list, &languages));
	assert_ok(ctx, kdri_languages_prepare(ctx, &languages));
	return languages;
}

/* Sentences cut to `words` words: which share of them gets the right language, and which the wrong one. */
static double accuracy(kdr_context *ctx, const char *list, int words, double *wrong)
{
	kdri_languages languages = parsed(ctx, list);
	int right = 0, other = 0, all = 0;
	for (int i = 0; i < languages.count; i++)
		for (int k = 0; k < SENTENCES; k++) {
			const char *text = sentences[languages.of[i]].text[k];
			const int found = language_of(&languages, text, first_words(text, words));
			right += found == languages.of[i];
			other += found >= 0 && found != languages.of[i];
			all++;
		}
	kdri_terms_free(ctx, languages.words);
	*wrong = (double)other / all;
	return (double)right / all;
}

/* docs/notes/text.md has these figures. */
static void text__cut_to_few_words__language_is_right_or_uncertain(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_context *ctx = unit_context();
	static const struct {
		const char *list;
		double right[4];
	} sets[] = {
		{ "english,german", { 0.95, 0.95, 0.99, 0.99 } },
		{ "english,french,german,italian,spanish", { 0.65, 0.85, 0.95, 0.99 } },
		{ "danish,dutch,english,finnish,french,german,hungarian,italian,norwegian,portuguese,romanian,"
		  "russian,spanish,swedish,turkish",
		  { 0.45, 0.6, 0.8, 0.85 } }
	};
	static const int words[] = { 3, 5, 8, 12 };
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
		for (int w = 0; w < 4; w++) {
			double wrong, right = accuracy(ctx, sets[i].list, words[w], &wrong);
			print_message("%.40s, %d words: %.1f %% right, %.1f %% wrong\n", sets[i].list,
			              words[w], 100 * right, 100 * wrong);
			assert_true(right >= sets[i].right[w]);
			assert_true(wrong <= 0.07);
		}
	kdr_context_free(ctx);
}

static void text__no_or_equal_evidence__is_uncertain(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_languages languages = parsed(ctx, "english,german");
	static const struct {
		const char *text;
		int language;
	} texts[] = {
		{ "Server Update", -1 }, { "in", -1 }, { "the Server", 2 }, { "der Server", 5 }, { "", -1 }
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_int_equal(language_of(&languages, texts[i].text, strlen(texts[i].text)),
		                 texts[i].language);
	kdri_terms_free(ctx, languages.words);
	assert_false(kdri_languages_parse("english,klingon", &languages));
	assert_false(kdri_languages_parse("english,", &languages));
	assert_true(kdri_languages_parse("german,english,german", &languages));
	assert_int_equal(languages.count, 2);
	assert_int_equal(languages.of[0], 5);
	kdr_context_free(ctx);
}

/* The languages found among the sentences of a language and the first `more` of another. */
static const char *found_in(kdr_context *ctx, int a, int b, int more)
{
	static char list[KDRI_LANGUAGES_ROOM];
	kdri_raw raw[2 * SENTENCES] = { 0 };
	kdri_chunk chunk = { 0 };
	kdri_languages found = { 0 };
	const kdr_text_options o = { .max_length = 40, .min_length = 1, .ngram_min = 1, .ngram_max = 1 };
	for (int k = 0; k < SENTENCES + more; k++) {
		const char *text = k < SENTENCES ? sentences[a].text[k] : sentences[b].text[k - SENTENCES];
		raw[chunk.count++] = (kdri_raw){ text, strlen(text), KDRI_CHARSET_NONE };
	}
	assert_ok(ctx, kdri_chunks_run(ctx, &o, NULL, NULL, raw, &chunk, 1));
	assert_ok(ctx, kdri_languages_find(ctx, &chunk, 1, &found));
	kdri_chunk_free(ctx, &chunk);
	kdri_languages_list(&found, ",", list, sizeof list);
	return list;
}

static void collection__one_or_two_languages__are_found(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_context *ctx = unit_context();
	enum { DANISH = 0, NORWEGIAN = 8 };
	for (int a = 0; a < KDRI_LANGUAGES; a++) {
		assert_string_equal(sentences[a].language, kdri_language_name(a));
		assert_string_equal(found_in(ctx, a, a, 0), sentences[a].language);
		for (int b = 0; b < KDRI_LANGUAGES; b++) {
			kdri_languages found = { 0 };
			if (a == b || (a == DANISH && b == NORWEGIAN) || (a == NORWEGIAN && b == DANISH))
				continue;
			assert_true(kdri_languages_parse(found_in(ctx, a, b, SENTENCES), &found));
			assert_int_equal(found.count, 2);
			assert_true(found.of[0] + found.of[1] == a + b &&
			            (found.of[0] == a || found.of[0] == b));
			/* A few texts do not make a language of the collection. */
			assert_string_equal(found_in(ctx, a, b, 4), sentences[a].language);
		}
	}
	kdr_context_free(ctx);
}

/* --- from files to columns -------------------------------------------------------------------------- */

static char root[64];

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof root, "/tmp/kdr-languages-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

/* A file with the sentences of a language, one per line, each followed by `more`. */
static void put_sentences(const char *name, int language, const char *more, bool append)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", root, name);
	FILE *f = fopen(path, append ? "ab" : "wb");
	assert_non_null(f);
	for (int k = 0; k < SENTENCES; k++)
		fprintf(f, "%s %s\n", sentences[language].text[k], more);
	assert_int_equal(fclose(f), 0);
}

static double value_at(const kdr_data *d, int64_t row, const char *feature)
{
	const kdr_mat m = kdr_data_mat(d);
	for (int64_t p = m.as.csr.rowptr[row]; p < m.as.csr.rowptr[row + 1]; p++)
		if (strcmp(kdr_data_features(d)[m.as.csr.col[p]], feature) == 0)
			return m.as.csr.val[p];
	return 0;
}

static bool has_feature(const kdr_data *d, const char *feature)
{
	const kdr_mat m = kdr_data_mat(d);
	for (int64_t j = 0; j < kdr_mat_cols(&m); j++)
		if (strcmp(kdr_data_features(d)[j], feature) == 0)
			return true;
	return false;
}

static void same_rows(const kdr_data *a, const kdr_data *b)
{
	const kdr_mat x = kdr_data_mat(a), y = kdr_data_mat(b);
	const int64_t nnz = kdr_mat_nnz(&x);
	assert_int_equal(kdr_mat_nnz(&y), nnz);
	assert_int_equal(kdr_mat_rows(&y), kdr_mat_rows(&x));
	assert_memory_equal(x.as.csr.rowptr, y.as.csr.rowptr,
	                    (size_t)(kdr_mat_rows(&x) + 1) * sizeof(int64_t));
	assert_memory_equal(x.as.csr.col, y.as.csr.col, (size_t)nnz * sizeof(int32_t));
	assert_memory_equal(x.as.csr.val, y.as.csr.val, (size_t)nnz * sizeof(double));
}

/* "rates" has the stem "rate" in English and "rat" in German; the last text of the second file has no stop word. */
static void files__english_and_german__each_text_has_its_stemmer(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	enum { ENGLISH = 2, GERMAN = 5 };
	kdr_context *ctx = unit_context();
	char paths[2][128], *storage = NULL;
	kdr_corpus what[2] = { 0 };
	kdr_data *d[2] = { NULL, NULL }, *again = NULL;
	kdr_text_options o;
	put_sentences("a", ENGLISH, "rates tickets", false);
	put_sentences("a", GERMAN, "", true);
	put_sentences("b", GERMAN, "Rate Häuser", false);
	snprintf(paths[1], sizeof paths[1], "%s/b", root);
	FILE *f = fopen(paths[1], "ab");
	assert_non_null(f);
	fprintf(f, "Häusern\n");
	assert_int_equal(fclose(f), 0);
	for (int t = 0; t < 2; t++) {
		snprintf(paths[t], sizeof paths[t], "%s/%c", root, 'a' + t);
		what[t] = (kdr_corpus){ .path = paths[t], .kind = KDR_CORPUS_LINES };
	}
	kdr_text_options_init(&o);
	o.detect = true;
	assert_ok(ctx, kdr_vectorize(ctx, what, 2, &o, d, NULL));
	assert_non_null(strstr(d[0]->texts_note,
	                       "texts: 25 German, 12 English (stop words removed, words counted by stem)"));
	assert_non_null(strstr(d[0]->texts, "stemmer=german,english\n"));
	assert_non_null(strstr(d[0]->texts, "stop-words=german,english"));
	for (int i = 0; i < 2; i++) {
		assert_false(has_feature(d[i], "the") || has_feature(d[i], "der") ||
		             has_feature(d[i], "and"));
		assert_true(has_feature(d[i], "rates") && has_feature(d[i], "rate") &&
		            has_feature(d[i], "tickets"));
	}
	assert_true(value_at(d[0], 0, "rates") == 1 && value_at(d[0], 0, "rate") == 0);
	assert_true(value_at(d[1], 0, "rates") == 0 && value_at(d[1], 0, "rate") == 1);
	/* The language of its file: the stem of "Häuser". */
	assert_true(value_at(d[1], SENTENCES, "häuser") == 1);
	/* New texts are counted in the same way, each file alone. */
	kdr_mat m = kdr_data_mat(d[0]);
	kdr_text_options_init(&o);
	assert_ok(ctx, kdri_text_settings_read(ctx, d[0]->texts, &o, &storage));
	o.terms = kdr_data_features(d[0]);
	o.nterms = kdr_mat_cols(&m);
	for (int t = 0; t < 2; t++) {
		assert_ok(ctx, kdr_vectorize(ctx, &what[t], 1, &o, &again, NULL));
		same_rows(d[t], again);
		assert_string_equal(again->texts, d[t]->texts);
		kdr_data_free(again);
		again = NULL;
	}
	kdri_free(ctx, storage);
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	kdr_context_free(ctx);
}

/* The same word with two stems: the second column is named after its language. */
static void stems__same_word_in_two_languages__two_names(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	enum { ENGLISH = 2, GERMAN = 5 };
	kdr_context *ctx = unit_context();
	char path[128];
	kdr_data *d = NULL;
	kdr_text_options o;
	put_sentences("c", ENGLISH, "server", false);
	put_sentences("c", GERMAN, "server", true);
	snprintf(path, sizeof path, "%s/c", root);
	const kdr_corpus what = { .path = path, .kind = KDR_CORPUS_LINES };
	kdr_text_options_init(&o);
	o.detect = true;
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	assert_true(value_at(d, 0, "server") == 1 && value_at(d, SENTENCES, "server (german)") == 1);
	assert_non_null(strstr(d->texts, "stems="));
	kdr_data_free(d);
	/* Without --detect, columns are named after the stems. */
	d = NULL;
	kdr_text_options_init(&o);
	o.stemmer = "english,german";
	o.stopwords = "english,german";
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	assert_true(value_at(d, 0, "server") == 1 && value_at(d, SENTENCES, "serv") == 1);
	assert_false(has_feature(d, "the") || has_feature(d, "der"));
	kdr_data_free(d);
	d = NULL;
	o.stemmer = "english,klingon";
	assert_int_equal(kdr_vectorize(ctx, &what, 1, &o, &d, NULL), KDR_ERR_OPTION);
	assert_non_null(strstr(kdr_context_error(ctx), "danish, dutch, english"));
	o.stemmer = NULL;
	o.stopwords = "english,klingon";
	assert_int_equal(kdr_vectorize(ctx, &what, 1, &o, &d, NULL), KDR_ERR_OPTION);
	assert_non_null(strstr(kdr_context_error(ctx), "'klingon' is not valid"));
	kdr_context_free(ctx);
}

/* A file sorted by language: the sample comes from all of it. */
static void file__sorted_by_language__both_are_found(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	char path[128];
	kdr_data *d = NULL;
	kdr_text_options o;
	for (int i = 0; i < 60; i++)
		put_sentences("sorted", i < 50 ? 2 : 5, "", i > 0);
	snprintf(path, sizeof path, "%s/sorted", root);
	const kdr_corpus what = { .path = path, .kind = KDR_CORPUS_LINES };
	kdr_text_options_init(&o);
	o.detect = true;
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	assert_non_null(strstr(d->texts_note, "texts: 600 English, 120 German (stop words removed"));
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* Detects the languages, and counts the texts again over the columns found. */
static kdr_status count_twice(kdr_context *ctx, const char *path)
{
	const kdr_corpus what = { .path = path, .kind = KDR_CORPUS_LINES };
	kdr_data *d = NULL, *again = NULL;
	kdr_text_options o;
	char *storage = NULL;
	kdr_text_options_init(&o);
	o.detect = true;
	kdr_status st = kdr_vectorize(ctx, &what, 1, &o, &d, NULL);
	if (st == KDR_OK) {
		const kdr_mat m = kdr_data_mat(d);
		kdr_text_options_init(&o);
		o.terms = kdr_data_features(d);
		o.nterms = kdr_mat_cols(&m);
		st = kdri_text_settings_read(ctx, d->texts, &o, &storage);
		if (st == KDR_OK)
			st = kdr_vectorize(ctx, &what, 1, &o, &again, NULL);
		if (st == KDR_OK)
			same_rows(d, again);
	}
	kdri_free(ctx, storage);
	kdr_data_free(again);
	kdr_data_free(d);
	return st;
}

static void memory__each_allocation_fails__is_reported(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	char path[128];
	snprintf(path, sizeof path, "%s/d", root);
	put_sentences("d", 2, "server", false);
	put_sentences("d", 5, "server", true);
	failing_all(count_twice, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text__cut_to_few_words__language_is_right_or_uncertain),
		cmocka_unit_test(text__no_or_equal_evidence__is_uncertain),
		cmocka_unit_test(collection__one_or_two_languages__are_found),
		cmocka_unit_test(files__english_and_german__each_text_has_its_stemmer),
		cmocka_unit_test(stems__same_word_in_two_languages__two_names),
		cmocka_unit_test(file__sorted_by_language__both_are_found),
		cmocka_unit_test(memory__each_allocation_fails__is_reported),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
