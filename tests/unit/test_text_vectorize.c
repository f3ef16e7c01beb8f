/* The whole way from files to matrices. */
#include "tests/unit/unit.h"

#include "tests/unit/gzip.h"
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof root, "/tmp/kdr-text-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

/* A path below the test's folder; the last few stay valid. */
static const char *at(const char *name)
{
	static char paths[8][256];
	static int next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", root, name);
	return path;
}

static void put_bytes(const char *name, const char *text, size_t length)
{
	char path[256];
	snprintf(path, sizeof path, "%s", at(name));
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, length, f), length);
	assert_int_equal(fclose(f), 0);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static kdr_corpus corpus(kdr_corpus_kind kind, const char *name)
{
	return (kdr_corpus){ .path = at(name), .kind = kind };
}

static kdr_text_options defaults(void)
{
	kdr_text_options o;
	kdr_text_options_init(&o);
	return o;
}

/* The entire data set as text: "id[class]:feature*count,..." for each row, followed by ";". */
static const char *show(const kdr_data *d)
{
	static char out[4096];
	size_t used = 0;
	kdr_mat m = kdr_data_mat(d);
	int64_t classes;
	const char *const *class_names = kdr_data_classes(d, &classes);
	out[0] = '\0';
	for (int64_t i = 0; i < m.as.csr.rows; i++) {
		used += (size_t)snprintf(out + used, sizeof out - used, "%s", kdr_data_ids(d)[i]);
		if (kdr_data_labels(d))
			used += (size_t)snprintf(
			        out + used, sizeof out - used, "[%s]",
			        kdr_data_labels(d)[i] < 0 ? "?" : class_names[kdr_data_labels(d)[i]]);
		for (int64_t p = m.as.csr.rowptr[i]; p < m.as.csr.rowptr[i + 1]; p++)
			used += (size_t)snprintf(out + used, sizeof out - used, "%c%s*%.0f",
			                         p == m.as.csr.rowptr[i] ? ':' : ',',
			                         kdr_data_features(d)[m.as.csr.col[p]], m.as.csr.val[p]);
		used += (size_t)snprintf(out + used, sizeof out - used, ";");
		assert_true(used < sizeof out);
	}
	return out;
}

static void expect(kdr_context *ctx, kdr_corpus what, kdr_text_options o, const char *expected)
{
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	assert_string_equal(show(d), expected);
	kdr_data_free(d);
}

static void expect_error(kdr_context *ctx, kdr_corpus what, kdr_text_options o, kdr_status status,
                         const char *part)
{
	kdr_data *d = NULL;
	assert_int_equal(kdr_vectorize(ctx, &what, 1, &o, &d, NULL), status);
	assert_null(d);
	if (!strstr(kdr_context_error(ctx), part))
		fail_msg("'%s' does not say '%s'", kdr_context_error(ctx), part);
}

/* One line, whole characters, at most 120 of them, nothing that cannot be seen. */
static void excerpts__any_text__first_words_on_one_line(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_context *ctx = unit_context();
	kdr_corpus what = corpus(KDR_CORPUS_FOLDER, "first");
	kdr_text_options o = defaults();
	kdr_data *d = NULL, *part = NULL, *view = NULL;
	char wide[2 * 200 + 1], cut[2 * 120 + 4];
	for (int i = 0; i < 200; i++)
		memcpy(wide + 2 * i, "é", 3);
	memcpy(cut, wide, 240);
	memcpy(cut + 240, "…", 4);
	put("first/a", "Subject: None\n\n  <p>Some \t words,\n\n\nand\x01 more\xe2\x80\xae.  </p>\n");
	put("first/b", wide);
	wide[240] = '\0';
	put("first/c", wide);
	put("first/d", " \n ");
	put_bytes("first/e", "caf\xe9 one", 8);
	o.strip_mail = o.strip_html = true;
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	assert_string_equal(kdr_data_excerpts(d)[0], "Some words, and more .");
	assert_string_equal(kdr_data_excerpts(d)[1], cut);
	assert_string_equal(kdr_data_excerpts(d)[2], wide);
	assert_string_equal(kdr_data_excerpts(d)[3], "");
	assert_string_equal(kdr_data_excerpts(d)[4], "café one");
	assert_ok(ctx, kdr_data_rows(ctx, d, (const int64_t[]){ 4, 0 }, 2, &part));
	assert_string_equal(kdr_data_excerpts(part)[0], "café one");
	assert_ok(ctx, kdr_data_view(ctx, part, NULL, &view));
	assert_string_equal(kdr_data_excerpts(view)[1], "Some words, and more .");
	kdr_data_free(view);
	kdr_data_free(part);
	kdr_data_free(d);
	d = NULL;
	o.drop_empty = true;
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	/* long runs of letters are no words: two documents are left */
	assert_string_equal(kdr_data_excerpts(d)[1], "café one");
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void folder__sub_folders__are_classes(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	put("f/beta/2.txt", "red red blue");
	put("f/beta/deep/1.txt", "blue");
	put("f/alpha/1.txt", "red");
	put("f/.hidden/1.txt", "secret");
	put("f/alpha/.also", "secret");
	put("f/top.txt", "green");
	assert_int_equal(symlink("..", at("f/alpha/loop")), 0);
	assert_int_equal(symlink("nowhere", at("f/alpha/dangling")), 0);
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "f"), defaults(),
	       "alpha/1.txt[alpha]:red*1;beta/2.txt[beta]:blue*1,red*2;beta/deep/1.txt[beta]:blue*1;top.txt[?]:green*1;");
	put("flat/b", "red");
	put("flat/a", "red blue");
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "flat"), defaults(), "a:red*1,blue*1;b:red*1;");
	expect_error(ctx, corpus(KDR_CORPUS_FOLDER, "missing"), defaults(), KDR_ERR_READ, "missing");
	expect_error(ctx, corpus(KDR_CORPUS_FOLDER, "flat/a"), defaults(), KDR_ERR_READ, "a folder");
	kdr_context_free(ctx);
}

static void folder__gzip_and_latin1__are_read(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	kdr_context *ctx = unit_context();
	kdr_corpus what = corpus(KDR_CORPUS_FOLDER, "g");
	kdr_text_stats stats;
	kdr_data *d = NULL;
	put("g/latin", "caf\xe9 caf\xe9s");
	put("g/utf", "caf\u00e9");
	put_bytes("g/nul", "ab\0cd\0", 6);
	gzFile z = gzopen(at("g/zipped.gz"), "wb");
	assert_int_equal(gzputs(z, "zipped"), 6);
	assert_int_equal(gzclose(z), Z_OK);
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, NULL, &d, &stats));
	assert_string_equal(
	        show(d), "latin:caf\u00e9*1,caf\u00e9s*1;nul:ab*1,cd*1;utf:caf\u00e9*1;zipped.gz:zipped*1;");
	assert_int_equal(stats.not_utf8, 1);
	assert_int_equal(stats.documents, 4);
	assert_int_equal(stats.tokens, 6);
	assert_int_equal(stats.terms, 5);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void lines__endings_and_blanks__one_document_each(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	put("l.txt", "\xef\xbb\xbfone two\r\n\nthree two\nlast");
	expect(ctx, corpus(KDR_CORPUS_LINES, "l.txt"), o, "1:two*1,one*1;2;3:two*1,three*1;4:last*1;");
	o.drop_empty = true;
	expect(ctx, corpus(KDR_CORPUS_LINES, "l.txt"), o, "1:two*1,one*1;3:two*1,three*1;4:last*1;");
	put("empty.txt", "");
	expect_error(ctx, corpus(KDR_CORPUS_LINES, "empty.txt"), o, KDR_ERR_DATA, "no documents");
	put("digits.txt", "1 2 3\n");
	expect_error(ctx, corpus(KDR_CORPUS_LINES, "digits.txt"), o, KDR_ERR_DATA, "no term");
	kdr_context_free(ctx);
}

static void lines__longer_than_any_buffer__are_whole(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const size_t n = 3 << 20;
	char *text = test_malloc(n + 1);
	kdr_text_options o = defaults();
	for (size_t i = 0; i < n; i++)
		text[i] = "ab "[i % 3];
	text[n] = '\n';
	put_bytes("long.txt", text, n + 1);
	expect(ctx, corpus(KDR_CORPUS_LINES, "long.txt"), o, "1:ab*1048576;");
	test_free(text);
	kdr_context_free(ctx);
}

static void table__quotes_and_columns__by_name_or_number(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_corpus what = corpus(KDR_CORPUS_TABLE, "t.csv");
	put("t.csv", "id,body,class\n7,\"one, \"\"two\"\"\nthree\",x\n\n8,four,\n9,five,y\n");
	what.text_field = "body";
	expect(ctx, what, defaults(), "2:one*1,three*1,two*1;5:four*1;6:five*1;");
	what.label_field = "class";
	expect(ctx, what, defaults(), "2[x]:one*1,three*1,two*1;5[?]:four*1;6[y]:five*1;");
	what.header = KDR_HEADER_YES;
	what.text_field = "2";
	expect(ctx, what, defaults(), "2[x]:one*1,three*1,two*1;5[?]:four*1;6[y]:five*1;");
	what.text_field = "bodi";
	expect_error(ctx, what, defaults(), KDR_ERR_ARGUMENT, "'bodi'; the 3 columns are: id, body, class");
	what.header = KDR_HEADER_NO;
	expect_error(ctx, what, defaults(), KDR_ERR_ARGUMENT, "by number");
	put("t.tsv", "one\ta\ntwo, \"x\" yy\tb\nthree\n");
	what = corpus(KDR_CORPUS_TABLE, "t.tsv");
	what.text_field = "1";
	expect(ctx, what, defaults(), "1:one*1;2:two*1,yy*1;3:three*1;");
	what.label_field = "2";
	expect_error(ctx, what, defaults(), KDR_ERR_FORMAT, "line 3 has 1 columns, but column 2");
	put("open.csv", "text\nab\n\"cd\nef\n");
	expect_error(ctx, corpus(KDR_CORPUS_TABLE, "open.csv"), defaults(), KDR_ERR_FORMAT,
	             "line 3: a quoted");
	kdr_context_free(ctx);
}

static void json__objects__text_and_label(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	kdr_corpus what = corpus(KDR_CORPUS_JSON, "j.jsonl");
	put("j.jsonl",
	    "{\"text\": \"one \\u00e9t\\u00e9\\u0000two\", \"y\": \"a\"}\n\n{\"y\": 5, \"text\": \"one\"}\n"
	    "{\"text\": \"\", \"y\": true}\n{\"text\": \"one\"}\n");
	what.label_field = "y";
	expect(ctx, what, defaults(), "1[a]:one*1,two*1,\u00e9t\u00e9*1;3[5]:one*1;4[true];5[?]:one*1;");
	what = corpus(KDR_CORPUS_JSON, "bad.jsonl");
	put("bad.jsonl", "{\"text\": \"one\"}\n{\"text\": \n");
	expect_error(ctx, what, defaults(), KDR_ERR_FORMAT, "line 2, column 10: not valid JSON");
	put("bad.jsonl", "{\"body\": \"one\"}\n");
	expect_error(ctx, what, defaults(), KDR_ERR_FORMAT, "missing");
	put("bad.jsonl", "[1]\n");
	expect_error(ctx, what, defaults(), KDR_ERR_FORMAT, "not an object");
	kdr_context_free(ctx);
}

static void markup__mail_and_html__stripped_on_request(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	put("m/1", "Server: x\nSubject: hello\n\n<b>wor</b>ld &eacute;t&eacute;");
	o.strip_mail = o.strip_html = true;
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "m"), o, "1:world*1,\u00e9t\u00e9*1;");
	o.keep_subject = true;
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "m"), o, "1:hello*1,world*1,\u00e9t\u00e9*1;");
	kdr_context_free(ctx);
}

static void ngrams__range__within_documents_only(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	put("n.txt", "aa bb aa bb\ncc\n");
	o.ngram_max = 2;
	expect(ctx, corpus(KDR_CORPUS_LINES, "n.txt"), o, "1:aa*2,aa bb*2,bb*2,bb aa*1;2:cc*1;");
	o.ngram_min = o.ngram_max = 3;
	expect(ctx, corpus(KDR_CORPUS_LINES, "n.txt"), o, "1:aa bb aa*1,bb aa bb*1;2;");
	o.binary = true;
	o.ngram_min = o.ngram_max = 1;
	expect(ctx, corpus(KDR_CORPUS_LINES, "n.txt"), o, "1:aa*1,bb*1;2:cc*1;");
	kdr_context_free(ctx);
}

static void frequency__limits__cut_and_order_columns(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	put("d.txt", "all zz yy\nall yy zz\nall one\nall two xx\n");
	o.min_df = 2;
	expect(ctx, corpus(KDR_CORPUS_LINES, "d.txt"), o,
	       "1:all*1,yy*1,zz*1;2:all*1,yy*1,zz*1;3:all*1;4:all*1;");
	o.max_df_share = 0.5;
	expect(ctx, corpus(KDR_CORPUS_LINES, "d.txt"), o, "1:yy*1,zz*1;2:yy*1,zz*1;3;4;");
	o = defaults();
	o.max_df = 1;
	o.max_features = 2; /* ties: byte order */
	expect(ctx, corpus(KDR_CORPUS_LINES, "d.txt"), o, "1;2;3:one*1;4:two*1;");
	o = defaults();
	o.max_features = 2;
	expect(ctx, corpus(KDR_CORPUS_LINES, "d.txt"), o, "1:all*1,yy*1;2:all*1,yy*1;3:all*1;4:all*1;");
	o = defaults();
	o.min_df_share = 0.75;
	expect(ctx, corpus(KDR_CORPUS_LINES, "d.txt"), o, "1:all*1;2:all*1;3:all*1;4:all*1;");
	kdr_context_free(ctx);
}

static void vocabulary__fixed__columns_are_its_lines(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	kdr_corpus what = corpus(KDR_CORPUS_LINES, "v.txt");
	kdr_data *d = NULL;
	put("v.txt", "red red blue\ngreen\n");
	put("features.txt", "blue\nnever\nred\n");
	o.vocabulary = at("features.txt");
	assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
	assert_string_equal(show(d), "1:blue*1,red*2;2;");
	kdr_mat m = kdr_data_mat(d);
	assert_int_equal(kdr_mat_cols(&m), 3);
	assert_string_equal(kdr_data_features(d)[1], "never");
	kdr_data_free(d);
	put("features.txt", "blue\nred\nblue\n");
	expect_error(ctx, what, o, KDR_ERR_FORMAT, "line 3: 'blue' occurs twice");
	kdr_context_free(ctx);
}

static void stems__named__by_stem_or_by_most_frequent_word(void **state)
{
	(void)state;
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	kdr_corpus what = corpus(KDR_CORPUS_LINES, "s.txt");
	put("s.txt", "running runs dogs\nrunning dog dog\n");
	o.stemmer = "english";
	expect(ctx, what, o, "1:dog*1,run*2;2:dog*2,run*1;");
	o.ngram_max = 2;
	o.max_features = 3;
	expect(ctx, what, o, "1:dog*1,run*2,run dog*1;2:dog*2,run*1,run dog*1;");
	o = defaults();
	o.detect = true;
	o.stemmer = "english";
	expect(ctx, what, o, "1:dog*1,running*2;2:dog*2,running*1;");
	/* A fixed column is a word that represents its stem, or in a file the stem itself. */
	static const char *const terms[] = { "runs", "cat", "dogs" };
	o = defaults();
	o.stemmer = "english";
	o.terms = terms;
	o.nterms = 3;
	expect(ctx, what, o, "1:runs*2,dogs*1;2:runs*1,dogs*2;");
	o.terms = NULL;
	put("features.txt", "run\ndogs\n");
	o.vocabulary = at("features.txt");
	expect(ctx, what, o, "1:run*2,dogs*1;2:run*1,dogs*2;");
	kdr_context_free(ctx);
}

static void detect__german_mail__is_stripped_and_without_stop_words(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	kdr_text_options o = defaults();
	put("de/1",
	    "From: a@b.de\nSubject: Die Häuser\nMessage-ID: <1>\n\nDas sind nicht die Häuser, und ich habe keins.");
	put("de/2",
	    "From: c@d.de\nSubject: Re: Haus\n\nDas Haus ist nicht für uns, und die Häuser sind es auch nicht.");
	put("de/3", "Und der Hund ist in dem Haus, das wir haben.");
	o.detect = true;
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "de"), o, "1:haus*2,keins*1;2:haus*3,re*1;3:haus*1,hund*1;");
	assert_ok(ctx, kdr_text_options_set(ctx, &o, "strip-mail", "0"));
	assert_ok(ctx, kdr_text_options_set(ctx, &o, "stop-words", "none"));
	assert_ok(ctx, kdr_text_options_set(ctx, &o, "stemmer", "none"));
	assert_ok(ctx, kdr_text_options_set(ctx, &o, "min-df", "100%"));
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "de"), o, "1:das*1,und*1;2:das*1,und*1;3:das*1,und*1;");
	o = defaults();
	put("none/1", "lorem ipsum dolor\n");
	put("none/2", "lorem amet\n");
	o.detect = true;
	expect(ctx, corpus(KDR_CORPUS_FOLDER, "none"), o, "1:lorem*1,dolor*1,ipsum*1;2:lorem*1,amet*1;");
	kdr_context_free(ctx);
}

static void tasks__several__one_vocabulary(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d[2] = { NULL, NULL };
	put("a.txt", "xx yy\n");
	put("b.txt", "yy zz\nyy\n");
	kdr_corpus what[2] = { corpus(KDR_CORPUS_LINES, "a.txt"), corpus(KDR_CORPUS_LINES, "b.txt") };
	what[1].name = "second";
	assert_ok(ctx, kdr_vectorize(ctx, what, 2, NULL, d, NULL));
	assert_string_equal(kdr_data_name(d[0]), "a");
	assert_string_equal(kdr_data_name(d[1]), "second");
	assert_string_equal(show(d[0]), "1:yy*1,xx*1;");
	assert_string_equal(show(d[1]), "1:yy*1,zz*1;2:yy*1;");
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	/* A folder keeps its dots. */
	put("rec.autos/1", "red");
	kdr_corpus folder = corpus(KDR_CORPUS_FOLDER, "rec.autos//");
	assert_ok(ctx, kdr_vectorize(ctx, &folder, 1, NULL, d, NULL));
	assert_string_equal(kdr_data_name(d[0]), "rec.autos");
	kdr_data_free(d[0]);
	kdr_context_free(ctx);
}

static void vectors__short_texts__are_weighted_means(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d[2] = { NULL, NULL };
	put("s.txt", "red blue blue\nred unknown\n");
	put("t.txt", "unknown\nblue\n");
	put("v.txt", "red 1 0\nother 5 5\nblue 0 2\n");
	kdr_corpus what[2] = { corpus(KDR_CORPUS_LINES, "s.txt"), corpus(KDR_CORPUS_LINES, "t.txt") };
	kdr_text_options o = defaults();
	o.vectors = at("v.txt");
	assert_ok(ctx, kdr_vectorize(ctx, what, 2, &o, d, NULL));
	const double idf = log(5.0 / 3) + 1; /* both words are in 2 of 4 texts */
	const double s[] = { idf / (3 * idf), 2 * 2 * idf / (3 * idf), 1, 0 }, t[] = { 0, 0, 0, 2 };
	for (int i = 0; i < 4; i++) {
		assert_true(fabs(d[0]->dense[i] - s[i]) <= 1e-15);
		assert_true(fabs(d[1]->dense[i] - t[i]) <= 1e-15);
	}
	assert_null(d[0]->features);
	assert_string_equal(show(d[0]->view), "1:blue*2,red*1;2:red*1,unknown*1;");
	assert_ptr_equal(d[0]->vectors, d[1]->vectors);
	assert_int_equal(d[0]->vectors->count, 2);
	assert_non_null(strstr(d[0]->compared, "without a vector: 1 of 3 words, 1 of 4 texts"));
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	/* Texts without words are dropped from both. */
	put("s.txt", "!\nred\n");
	o.drop_empty = true;
	assert_ok(ctx, kdr_vectorize(ctx, what, 1, &o, d, NULL));
	assert_int_equal(d[0]->rows, 1);
	assert_true(fabs(d[0]->dense[0] - 1) <= 0);
	assert_int_equal(d[0]->view->rows, 1);
	kdr_data_free(d[0]);
	/* Long texts are compared by words. */
	put("s.txt", "red red red red red red red red red blue blue\n");
	assert_ok(ctx, kdr_vectorize(ctx, what, 1, &o, d, NULL));
	assert_null(d[0]->view);
	assert_null(d[0]->vectors);
	assert_string_equal(show(d[0]), "1:blue*2,red*9;");
	assert_int_equal(strncmp(d[0]->compared, "words, because the median text has 11 ", 38), 0);
	kdr_data_free(d[0]);
	kdr_context_free(ctx);
}

static void options__wrong__are_explained(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	kdr_context *ctx = unit_context();
	kdr_corpus what = corpus(KDR_CORPUS_LINES, "a.txt");
	kdr_text_options o = defaults();
	put("a.txt", "xx yy\n");
	o.stemmer = "klingon";
	expect_error(ctx, what, o, KDR_ERR_OPTION, "'klingon' is not valid; use one of: none, ");
	o = defaults();
	o.ngram_max = 4;
	expect_error(ctx, what, o, KDR_ERR_OPTION, "ngram_max: use a number from 1 to 3 (got 4)");
	o = defaults();
	o.max_df_share = NAN;
	expect_error(ctx, what, o, KDR_ERR_OPTION, "max_df_share");
	o = defaults();
	o.stopwords = at("no-such-list");
	expect_error(ctx, what, o, KDR_ERR_READ, "no-such-list");
	o = defaults();
	what.kind = (kdr_corpus_kind)9;
	expect_error(ctx, what, o, KDR_ERR_ARGUMENT, "corpus kind");
	kdr_context_free(ctx);
}

/* Documents enough for many chunks, from a heavy-tailed vocabulary. */
static void put_many(const char *name, int documents)
{
	kdri_rng rng = kdri_rng_stream(11, "text", 0);
	FILE *f = fopen(at(name), "wb");
	assert_non_null(f);
	for (int d = 0; d < documents; d++) {
		int64_t n = kdri_rng_below(&rng, 300);
		for (int64_t i = 0; i < n; i++) {
			int64_t w = (int64_t)(20000 * pow(kdri_rng_uniform(&rng), 4));
			fprintf(f, "w%c%c%c%c ", (int)('a' + w % 26), (int)('a' + w / 26 % 26),
			        (int)('a' + w / 676 % 26), (int)('a' + w / 17576));
		}
		fputc('\n', f);
	}
	assert_int_equal(fclose(f), 0);
}

static void threads__any_number__same_result(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	put_many("many.txt", 4000);
	kdr_corpus what = corpus(KDR_CORPUS_LINES, "many.txt");
	kdr_text_options o = defaults();
	kdr_data *first = NULL;
	o.ngram_max = 2;
	o.min_df = 2;
	for (int threads = 1; threads <= 5; threads += 2) {
		kdr_data *d = NULL;
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdr_vectorize(ctx, &what, 1, &o, &d, NULL));
		if (!first) {
			first = d;
			continue;
		}
		kdr_mat a = kdr_data_mat(first), b = kdr_data_mat(d);
		int64_t nnz = kdr_mat_nnz(&a), cols = kdr_mat_cols(&a);
		assert_int_equal(kdr_mat_nnz(&b), nnz);
		assert_int_equal(kdr_mat_cols(&b), cols);
		assert_memory_equal(a.as.csr.rowptr, b.as.csr.rowptr, 4001 * sizeof(int64_t));
		assert_memory_equal(a.as.csr.col, b.as.csr.col, (size_t)nnz * sizeof(int32_t));
		assert_memory_equal(a.as.csr.val, b.as.csr.val, (size_t)nnz * sizeof(double));
		for (int64_t j = 0; j < cols; j++)
			assert_string_equal(kdr_data_features(first)[j], kdr_data_features(d)[j]);
		kdr_data_free(d);
	}
	kdr_data_free(first);
	kdr_context_free(ctx);
}

static int stop_early(void *user, const kdr_event *event)
{
	int *events = user;
	if (strcmp(event->stage, "read") == 0) /* on a slow machine, between others */
		return 0;
	assert_string_equal(event->stage, "vectorize");
	return event->kind == KDR_EVENT_ITERATION && ++*events == 1;
}

static void progress__asked_to_stop__leaves_nothing(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	int events = 0;
	put_many("many.txt", 8000);
	kdr_context_set_progress(ctx, stop_early, &events);
	expect_error(ctx, corpus(KDR_CORPUS_LINES, "many.txt"), defaults(), KDR_ERR_READ, "stopped after");
	assert_int_equal(events, 1);
	kdr_context_free(ctx);
}

/* Fails the allocation whose number comes up. */
static long countdown;

static void *failing_alloc(void *user, size_t size)
{
	(void)user;
	return countdown-- == 0 ? NULL : malloc(size);
}

static void *failing_realloc(void *user, void *ptr, size_t size)
{
	(void)user;
	return countdown-- == 0 ? NULL : realloc(ptr, size);
}

static void plain_free(void *user, void *ptr)
{
	(void)user;
	free(ptr);
}

static void memory__each_allocation_fails__is_reported(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	unit_needs("stemmer");
	put("o/a/1", "From: x\nSubject: yes\n\nred <i>blue</i> caf\xe9");
	put("o/b/2", "red green");
	put_many("o/b/many", 30); /* outgrows the rooms chunks begin with */
	put("o.csv", "text,class\n\"one two\",k\nthree,\n");
	put("o.stop", "# words\none\n");
	char vectors[600];
	snprintf(vectors, sizeof vectors, "%s", at("o.vec"));
	kdr_corpus what[2] = { corpus(KDR_CORPUS_FOLDER, "o"), corpus(KDR_CORPUS_TABLE, "o.csv") };
	what[1].label_field = "class";
	kdr_text_options o = defaults();
	o.strip_html = o.strip_mail = o.keep_subject = o.drop_empty = o.detect = true;
	o.ngram_max = 2;
	o.stemmer = "english";
	o.max_features = 5;
	o.tokens = KDR_TOKENS_ASCII;
	o.stopwords = at("o.stop");
	put("o.vec", "3 2\nred 1 2\nGREEN 3 4\ntwo 5 6\n");
	o.vectors = vectors;
	kdr_allocator allocator = { failing_alloc, failing_realloc, plain_free, NULL };
	long fails = 0;
	for (kdr_status st = KDR_ERR_MEMORY; st != KDR_OK; fails++) {
		kdr_context *ctx = NULL;
		kdr_data *d[2] = { NULL, NULL };
		countdown = -1;
		assert_int_equal(kdr_context_new(&ctx, &allocator), KDR_OK);
		countdown = fails;
		st = kdr_vectorize(ctx, what, 2, &o, d, NULL);
		countdown = -1;
		if (st == KDR_OK) {
			kdr_data_free(d[0]);
			kdr_data_free(d[1]);
		} else {
			assert_int_equal(st, KDR_ERR_MEMORY);
			assert_null(d[0]);
		}
		kdr_context_free(ctx);
	}
	assert_true(fails > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(excerpts__any_text__first_words_on_one_line),
		cmocka_unit_test(folder__sub_folders__are_classes),
		cmocka_unit_test(folder__gzip_and_latin1__are_read),
		cmocka_unit_test(lines__endings_and_blanks__one_document_each),
		cmocka_unit_test(lines__longer_than_any_buffer__are_whole),
		cmocka_unit_test(table__quotes_and_columns__by_name_or_number),
		cmocka_unit_test(json__objects__text_and_label),
		cmocka_unit_test(markup__mail_and_html__stripped_on_request),
		cmocka_unit_test(ngrams__range__within_documents_only),
		cmocka_unit_test(frequency__limits__cut_and_order_columns),
		cmocka_unit_test(vocabulary__fixed__columns_are_its_lines),
		cmocka_unit_test(stems__named__by_stem_or_by_most_frequent_word),
		cmocka_unit_test(detect__german_mail__is_stripped_and_without_stop_words),
		cmocka_unit_test(tasks__several__one_vocabulary),
		cmocka_unit_test(vectors__short_texts__are_weighted_means),
		cmocka_unit_test(options__wrong__are_explained),
		cmocka_unit_test(threads__any_number__same_result),
		cmocka_unit_test(progress__asked_to_stop__leaves_nothing),
		cmocka_unit_test(memory__each_allocation_fails__is_reported),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
