/* Stop words and fixed vocabularies: lists of words from files. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

#include "core/system.h"

static kdr_status stopwords_add(kdr_context *ctx, kdri_terms *terms, const char *text, size_t length)
{
	int32_t id;
	return kdri_terms_add(ctx, terms, text, length, kdri_term_hash(text, length), &id);
}

/* Blank lines and those that begin with "#" are comments. */
static kdr_status read_stopwords(kdr_context *ctx, const char *path, bool keep_case, kdri_terms *terms)
{
	kdr_status st;
	kdri_records *records = NULL;
	char *record, word[1024];
	size_t length;
	int64_t line;
	bool more;
	KDRI_TRY(kdri_records_open(ctx, path, &records));
	for (;;) {
		KDRI_TRY(kdri_records_next(ctx, records, '\0', &record, &length, &line, &more));
		if (!more)
			break;
		while (length > 0 && (record[length - 1] == ' ' || record[length - 1] == '\t'))
			length--;
		if (length == 0 || record[0] == '#')
			continue;
		size_t n = kdri_utf8_valid(record, length)
		                   ? kdri_fold_word(!keep_case, record, length, word, sizeof word)
		                   : 0;
		if (n == 0)
			KDRI_FAIL(ctx, KDR_ERR_FORMAT,
			          "%s: line %lld is not a word in UTF-8; one word per line is needed", path,
			          (long long)line);
		KDRI_TRY(stopwords_add(ctx, terms, word, n));
	}
done:
	kdri_records_close(ctx, records);
	return st;
}

/* The words of a text, separated by spaces. */
static kdr_status add_listed(kdr_context *ctx, const char *list, kdri_terms *terms)
{
	kdr_status st = KDR_OK;
	for (const char *p = list; *p && st == KDR_OK; p += strspn(p, " ")) {
		const size_t length = strcspn(p, " ");
		st = stopwords_add(ctx, terms, p, length);
		p += length;
	}
	return st;
}

/* The words of a language or of a file. */
static kdr_status add_named(kdr_context *ctx, const char *name, bool keep_case, kdri_terms *terms)
{
	const int language = kdri_language_number(name, strlen(name));
	if (language >= 0)
		return kdri_language_words(ctx, language, terms);
	/* What appears to be a path gets the error of a file that cannot be read. */
	if (!strpbrk(name, "./\\") && !kdri_exists(name))
		return kdri_language_unknown(ctx, "stop-words", name,
		                             "none, auto, a file with one word per line");
	return read_stopwords(ctx, name, keep_case, terms);
}

kdr_status kdri_stopwords(kdr_context *ctx, const kdr_text_options *options, kdri_terms **out)
{
	kdr_status st = KDR_OK;
	kdri_terms *terms = NULL;
	char *copy = NULL;
	const char *name = options->stopwords;
	if (!name || strcmp(name, "none") == 0) {
		*out = NULL;
		return KDR_OK;
	}
	KDRI_TRY(kdri_terms_new(ctx, &terms));
	if (strncmp(name, KDRI_LISTED, strlen(KDRI_LISTED)) == 0) {
		KDRI_TRY(add_listed(ctx, name + strlen(KDRI_LISTED), terms));
	} else if (kdri_exists(name)) {
		KDRI_TRY(add_named(ctx, name, options->keep_case, terms));
	} else {
		KDRI_TRY(kdri_strdup(ctx, name, &copy));
		for (char *part = copy, *comma; part; part = comma) {
			comma = strchr(part, ',');
			if (comma)
				*comma++ = '\0';
			KDRI_TRY(add_named(ctx, part, options->keep_case, terms));
		}
	}
	*out = terms;
	terms = NULL;
done:
	kdri_free(ctx, copy);
	kdri_terms_free(ctx, terms);
	return st;
}

kdr_status kdri_vocabulary_read(kdr_context *ctx, const char *path, kdri_terms **out)
{
	kdr_status st;
	kdri_records *records = NULL;
	kdri_terms *terms = NULL;
	char *record;
	size_t length;
	int64_t line;
	bool more;
	KDRI_TRY(kdri_terms_new(ctx, &terms));
	KDRI_TRY(kdri_records_open(ctx, path, &records));
	for (;;) {
		KDRI_TRY(kdri_records_next(ctx, records, '\0', &record, &length, &line, &more));
		if (!more)
			break;
		int64_t before = terms->count;
		if (memchr(record, '\0', length))
			KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: line %lld: a term contains a NUL byte", path,
			          (long long)line);
		KDRI_TRY(stopwords_add(ctx, terms, record, length));
		if (terms->count == before)
			KDRI_FAIL(ctx, KDR_ERR_FORMAT,
			          "%s: line %lld: '%.*s' occurs twice; list each term once", path,
			          (long long)line, (int)KDRI_MIN(length, 60), record);
	}
	if (terms->count == 0)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: the file has no terms; one term per line is needed",
		          path);
	*out = terms;
	terms = NULL;
done:
	kdri_records_close(ctx, records);
	kdri_terms_free(ctx, terms);
	return st;
}
