/* The languages that texts are written in, judged by their stop words. SPDX-License-Identifier: BSD-3-Clause
 *
 * A collection has one language if the stop words among all words of a sample point to it. It has several if, for each of
 * them, enough texts of the sample are clearly written in it. The language of a text is then one of these: the choice among
 * few languages is reliable for shorter texts than the choice among all. */
#include "core/system.h"
#include "text/text.h"

/* Stop words and fixed vocabularies: lists of words from files. */

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

enum { LEAST_WORDS = 5, LEAST_HITS = 3, LEAST_TEXTS = 5, SEEN = 62 };

/* A language is recognised by LEAST_WORDS different stop words, if at least this fraction of the tokens are its stop
 * words, and this many times as many as for any other language. */
static const double least_share = 0.12, least_ratio = 1.1;
/* A text is clearly written in a language by LEAST_HITS different stop words (one fewer if it has none of any other language),
 * the same share of its words, and this many times as many as for any other language. At least this share of the texts, and
 * LEAST_TEXTS, have to be clear. */
static const double clear_ratio = 1.7, text_share = 0.02;

/* Danish and Norwegian have nearly the same stop words, so that texts in one of them are never clear. */
static int twin_of(int language)
{
	enum { DANISH = 0, NORWEGIAN = 8 };
	return language == DANISH ? NORWEGIAN : language == NORWEGIAN ? DANISH : -1;
}

/* The language with the most hits, and the most hits of any other; `twins`: of any but its twin. */
static int best_language(const int64_t *hits, bool twins, int64_t *second)
{
	int best = 0;
	for (int l = 1; l < KDRI_LANGUAGES; l++)
		best = hits[l] > hits[best] ? l : best;
	*second = 0;
	for (int l = 0; l < KDRI_LANGUAGES; l++)
		if (l != best && !(twins && l == twin_of(best)))
			*second = KDRI_MAX(*second, hits[l]);
	return best;
}

/* The language of all words together; -1: uncertain. */
static int common_language(const kdri_terms *words, const int64_t *hits, int64_t tokens)
{
	int64_t second, distinct = 0;
	const int best = best_language(hits, false, &second);
	for (int64_t i = 0; i < words->count; i++)
		distinct += words->terms[i].df >> SEEN & words->terms[i].df >> best & 1;
	return distinct >= LEAST_WORDS && (double)hits[best] >= least_share * (double)tokens &&
	                       hits[best] > 0 && (double)hits[best] >= least_ratio * (double)second
	               ? best
	               : -1;
}

/* The stop words of a document. Single ASCII letters are not counted: "a" is very frequent in Hungarian, too. */
typedef struct text_hits {
	int64_t tokens, of[KDRI_LANGUAGES], distinct[KDRI_LANGUAGES];
} text_hits;

/* Counts the stop words of a document, whose pairs are first .. end - 1, and adds those of any length to `all`. */
static text_hits count_hits(const kdri_chunk *c, int64_t first, int64_t end, kdri_terms *words, int64_t *all)
{
	text_hits hits = { 0 };
	for (int64_t p = first; p < end; p++) {
		const kdri_local_term *t = &c->terms[c->pairs[p].term];
		const int32_t id = kdri_terms_find(words, c->tokens.text + t->offset, t->length, t->hash);
		hits.tokens += c->pairs[p].count;
		if (id < 0)
			continue;
		words->terms[id].df |= INT64_C(1) << SEEN;
		for (int l = 0; l < KDRI_LANGUAGES; l++) {
			if (!(words->terms[id].df >> l & 1))
				continue;
			all[l] += c->pairs[p].count;
			hits.of[l] += t->length > 1 ? c->pairs[p].count : 0;
			hits.distinct[l] += t->length > 1;
		}
	}
	return hits;
}

/* The language that a text is clearly written in; -1: uncertain. */
static int clear_language(const text_hits *hits)
{
	int64_t second;
	const int best = best_language(hits->of, true, &second);
	return hits->distinct[best] >= LEAST_HITS - (second == 0) &&
	                       (double)hits->of[best] >= least_share * (double)hits->tokens &&
	                       (double)hits->of[best] >= clear_ratio * (double)second
	               ? best
	               : -1;
}

/* The languages of which enough texts are clear, by decreasing number of texts. */
static void frequent_languages(int64_t *texts, const int64_t *hits, int64_t documents, kdri_languages *out)
{
	const int64_t least = KDRI_MAX(LEAST_TEXTS, (int64_t)ceil(text_share * (double)documents));
	for (int l = 0; l < KDRI_LANGUAGES; l++) {
		const int twin = twin_of(l);
		if (twin > l) {
			const int more = hits[twin] > hits[l] ? twin : l;
			texts[more] = texts[l] + texts[twin];
			texts[more == l ? twin : l] = 0;
		}
	}
	out->count = 0;
	for (int l = 0; l < KDRI_LANGUAGES; l++) {
		int at = out->count;
		if (texts[l] < least)
			continue;
		for (; at > 0 && texts[out->of[at - 1]] < texts[l]; at--)
			out->of[at] = out->of[at - 1];
		out->of[at] = l;
		out->count++;
	}
}

kdr_status kdri_languages_find(kdr_context *ctx, const kdri_chunk *chunks, int64_t count, kdri_languages *out)
{
	kdr_status st;
	kdri_terms *words = NULL;
	int64_t tokens = 0, documents = 0, all[KDRI_LANGUAGES] = { 0 }, texts[KDRI_LANGUAGES] = { 0 };
	KDRI_TRY(kdri_terms_new(ctx, &words));
	for (int l = 0; l < KDRI_LANGUAGES; l++)
		KDRI_TRY(kdri_language_words(ctx, l, words));
	for (int64_t c = 0; c < count; c++)
		for (int64_t d = 0; d < chunks[c].count; d++) {
			const text_hits hits = count_hits(&chunks[c], d > 0 ? chunks[c].pair_end[d - 1] : 0,
			                                  chunks[c].pair_end[d], words, all);
			const int language = clear_language(&hits);
			if (language >= 0)
				texts[language]++;
			tokens += hits.tokens;
			documents++;
		}
	frequent_languages(texts, all, documents, out);
	if (out->count < 2) {
		const int common = common_language(words, all, tokens);
		out->of[0] = out->count == 1 && common >= 0 ? out->of[0] : common;
		out->count = common >= 0;
	}
done:
	kdri_terms_free(ctx, words);
	return st;
}

bool kdri_languages_parse(const char *list, kdri_languages *out)
{
	out->count = 0;
	for (const char *p = list;; p++) {
		const size_t n = strcspn(p, ",");
		const int l = kdri_language_number(p, n);
		if (l < 0)
			return false;
		bool known = false;
		for (int i = 0; i < out->count; i++)
			known |= out->of[i] == l;
		if (!known)
			out->of[out->count++] = l;
		p += n;
		if (!*p)
			return true;
	}
}

void kdri_languages_list(const kdri_languages *languages, const char *separator, char *out, size_t room)
{
	size_t used = 0;
	out[0] = '\0';
	for (int i = 0; i < languages->count; i++)
		used += (size_t)kdri_snprintf(out + used, room - used, "%s%s", i ? separator : "",
		                              kdri_language_name(languages->of[i]));
}

kdr_status kdri_language_unknown(kdr_context *ctx, const char *option, const char *name, const char *known)
{
	kdri_languages all = { .count = KDRI_LANGUAGES };
	char list[KDRI_LANGUAGES_ROOM];
	for (int l = 0; l < KDRI_LANGUAGES; l++)
		all.of[l] = l;
	kdri_languages_list(&all, ", ", list, sizeof list);
	return kdri_fail(ctx, KDR_ERR_OPTION, "--%s: '%.60s' is not valid; use %s, or languages: %s", option,
	                 name, known, list);
}

kdr_status kdri_languages_prepare(kdr_context *ctx, kdri_languages *languages)
{
	if (languages->count < 2)
		return KDR_OK;
	KDRI_DO(kdri_terms_new(ctx, &languages->words));
	for (int i = 0; i < languages->count; i++)
		KDRI_DO(kdri_language_words(ctx, languages->of[i], languages->words));
	return KDR_OK;
}

int kdri_languages_of_text(const kdri_languages *languages, const int32_t *hits)
{
	int best = -1;
	int32_t most = 0;
	for (int i = 0; i < languages->count; i++) {
		const int32_t n = hits[languages->of[i]];
		if (n >= most) {
			best = n > most ? i : -1;
			most = n;
		}
	}
	return best;
}
