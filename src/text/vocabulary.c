/* Terms, their numbers, and the choice of columns. SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "text/text.h"

/* Words that have the same stem become one term.
 *
 * Documents are counted by their words; when all have been read, each different word is stemmed once. A term can then be named by its
 * stem, or by the word that occurs most often among those that have it. A term of several words is stemmed word by word. If the
 * documents have several languages, each word is stemmed once for each language of the documents that contain it. */

kdr_status kdri_stem_term(kdr_context *ctx, kdri_stemmer *stemmer, const char *text, size_t length,
                          char **out, int64_t *room, size_t *written)
{
	size_t used = 0;
	for (size_t at = 0; at <= length;) {
		const char *end = memchr(text + at, ' ', length - at);
		size_t n = end ? (size_t)(end - text) - at : length - at, next = at + n + 1;
		const char *stem = kdri_stem(stemmer, text + at, &n);
		if (!stem)
			return kdri_fail(ctx, KDR_ERR_MEMORY, "out of memory while stemming");
		KDRI_DO(KDRI_ROOM(ctx, out, room, (int64_t)(used + n) + 1));
		if (used > 0)
			(*out)[used++] = ' ';
		memcpy(*out + used, stem, n);
		used += n;
		at = next;
	}
	*written = used;
	return KDR_OK;
}

/* Words by language: word i of language l has the number l * count + i. The same word may have two stems then. */
typedef struct word_forms {
	const kdri_terms *words;
	int64_t count, all; /* all: of all languages */
	int32_t *stem;      /* -1: no text of the language has the word */
	int64_t *occurrences;
} word_forms;

static int64_t form_of(const word_forms *f, const kdri_counts *task, int64_t row, int32_t word)
{
	return f->all > f->count ? task->language[row] * f->count + word : word;
}

static void count_occurrences(const word_forms *f, const kdri_counts *tasks, int64_t count)
{
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0, p = 0; i < tasks[t].done; i++)
			for (; p < tasks[t].end[i]; p++) {
				const kdri_pair *pair = &tasks[t].pairs[p];
				f->occurrences[form_of(f, &tasks[t], i, pair->term)] += pair->count;
			}
}

/* The stem of each word in one language, as a number of `stems`. */
static kdr_status group_words(kdr_context *ctx, const char *name, const word_forms *f, int64_t first,
                              kdri_terms *stems)
{
	kdr_status st;
	kdri_stemmer *stemmer = NULL;
	char *stem = NULL;
	int64_t room = 0;
	size_t n;
	KDRI_TRY(kdri_stemmer_new(ctx, name, &stemmer));
	for (int64_t i = 0; i < f->count; i++) {
		const kdri_term *word = &f->words->terms[i];
		f->stem[first + i] = -1;
		if (f->occurrences[first + i] == 0)
			continue;
		KDRI_TRY(kdri_stem_term(ctx, stemmer, f->words->text + word->offset, word->length, &stem,
		                        &room, &n));
		KDRI_TRY(kdri_terms_add(ctx, stems, stem, n, kdri_term_hash(stem, n), &f->stem[first + i]));
	}
done:
	kdri_stemmer_free(ctx, stemmer);
	kdri_free(ctx, stem);
	return st;
}

/* Counts documents; pairs name stems afterwards. */
static void count_documents(const word_forms *f, kdri_counts *tasks, int64_t count, kdri_terms *stems,
                            int64_t *last)
{
	int64_t document = 0;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0, p = 0; i < tasks[t].done; i++) {
			document++;
			for (; p < tasks[t].end[i]; p++) {
				kdri_pair *pair = &tasks[t].pairs[p];
				const int32_t stem = f->stem[form_of(f, &tasks[t], i, pair->term)];
				stems->terms[stem].df += last[stem] != document;
				last[stem] = document;
				pair->term = stem;
			}
		}
}

/* The word that occurs most often for each stem, by its number in f; of equals the first in byte order. */
static void choose_forms(const word_forms *f, int64_t *form)
{
	const kdri_terms *words = f->words;
	for (int64_t i = 0; i < f->all; i++) {
		const int32_t stem = f->stem[i];
		if (stem < 0)
			continue;
		const int64_t other = form[stem];
		const kdri_term *a = &words->terms[i % f->count],
		                *b = other < 0 ? a : &words->terms[other % f->count];
		if (other >= 0 && f->occurrences[i] < f->occurrences[other])
			continue;
		const int order = memcmp(words->text + a->offset, words->text + b->offset,
		                         KDRI_MIN(a->length, b->length));
		if (other < 0 || f->occurrences[i] > f->occurrences[other] || order < 0 ||
		    (order == 0 && a->length < b->length))
			form[stem] = i;
	}
}

/* The words that the stems are called by. A word that another stem is called by gets the name of its language. */
static kdr_status name_forms(kdr_context *ctx, const char *const *stemmers, kdri_terms *words, int64_t count,
                             const int64_t *form, int64_t nstems, int32_t *out)
{
	kdr_status st = KDR_OK;
	bool *used = NULL;
	char *name = NULL;
	int64_t room = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &used, count));
	for (int64_t i = 0; i < nstems; i++) {
		const int64_t word = form[i] % count;
		out[i] = (int32_t)word;
		if (used[word]) {
			const char *language = stemmers[form[i] / count];
			const size_t length = words->terms[word].length, n = length + strlen(language) + 3;
			KDRI_TRY(KDRI_ROOM(ctx, &name, &room, (int64_t)n + 1));
			memcpy(name, words->text + words->terms[word].offset, length);
			kdri_snprintf(name + length, n + 1 - length, " (%s)", language);
			KDRI_TRY(kdri_terms_add(ctx, words, name, n, kdri_term_hash(name, n), &out[i]));
		}
		used[word] = true;
	}
done:
	KDRI_FREE(ctx, used, name);
	return st;
}

kdr_status kdri_stems_merge(kdr_context *ctx, const char *const *stemmers, int nstemmers, kdri_terms *words,
                            kdri_counts *tasks, int64_t count, kdri_terms **out, int32_t **form)
{
	kdr_status st;
	kdri_terms *stems = NULL;
	word_forms f = { words, words->count, words->count * nstemmers, NULL, NULL };
	int64_t *last = NULL, *chosen = NULL;
	KDRI_TRY(kdri_terms_new(ctx, &stems));
	KDRI_TRY(KDRI_NEW(ctx, &f.stem, f.all));
	KDRI_TRY(KDRI_NEW0(ctx, &f.occurrences, f.all));
	count_occurrences(&f, tasks, count);
	for (int l = 0; l < nstemmers; l++)
		KDRI_TRY(group_words(ctx, stemmers[l], &f, l * f.count, stems));
	KDRI_TRY(KDRI_NEW0(ctx, &last, stems->count));
	KDRI_TRY(KDRI_NEW(ctx, &chosen, stems->count));
	KDRI_TRY(KDRI_NEW(ctx, form, stems->count));
	memset(chosen, 0xff, (size_t)stems->count * sizeof *chosen);
	count_documents(&f, tasks, count, stems, last);
	choose_forms(&f, chosen);
	KDRI_TRY(name_forms(ctx, stemmers, words, f.count, chosen, stems->count, *form));
	*out = stems;
	stems = NULL;
done:
	kdri_terms_free(ctx, stems);
	KDRI_FREE(ctx, f.stem, f.occurrences, last, chosen);
	return st;
}

kdr_status kdri_stems_list(kdr_context *ctx, const char *stemmer_name, const kdri_terms *names,
                           const int32_t *name, const kdri_terms *stems, const kdri_term_columns *columns,
                           char **out)
{
	kdr_status st;
	kdri_stemmer *stemmer = NULL;
	char *stem = NULL, *list = NULL;
	int64_t stem_room = 0, used = 0, room = 0;
	size_t n;
	KDRI_TRY(kdri_stemmer_new(ctx, stemmer_name, &stemmer));
	for (int64_t j = 0; j < columns->count; j++) {
		const kdri_term *word = &names->terms[name[j]], *own = &stems->terms[columns->term[j]];
		KDRI_TRY(kdri_stem_term(ctx, stemmer, names->text + word->offset, word->length, &stem,
		                        &stem_room, &n));
		if (n == own->length && memcmp(stem, stems->text + own->offset, n) == 0)
			continue;
		KDRI_TRY(KDRI_ROOM(ctx, &list, &room,
		                   used + (int64_t)word->length + (int64_t)own->length + 3));
		used += kdri_snprintf(list + used, (size_t)(room - used), "%.*s\t%.*s\t", (int)word->length,
		                      names->text + word->offset, (int)own->length,
		                      stems->text + own->offset);
	}
	*out = list;
	list = NULL;
done:
	kdri_stemmer_free(ctx, stemmer);
	KDRI_FREE(ctx, stem, list);
	return st;
}

enum { FIRST_SLOTS = 1024 };

/* Eight bytes at a time: multiply, fold the high half into the low one (as wyhash does). Numbers are
 * given in order of arrival, so nothing that leaves the library depends on the hash. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ 0x9e3779b97f4a7c15u) * (b | 1);
	return x ^ x >> 32;
}

uint32_t kdri_term_hash(const char *text, size_t length)
{
	uint64_t h = length * 0xa0761d6478bd642fu, word;
	for (; length >= 8; text += 8, length -= 8) {
		memcpy(&word, text, 8);
		h = mix(h ^ word, 0xe7037ed1a0b428dbu);
	}
	word = 0;
	for (size_t i = 0; i < length; i++) /* not memcpy: little and big endian shall agree */
		word |= (uint64_t)(unsigned char)text[i] << (8 * i);
	h = mix(mix(h ^ word, 0x8ebc6af09c88c6e3u), 0x589965cc75374cc3u);
	return (uint32_t)(h ^ h >> 32);
}

kdr_status kdri_terms_new(kdr_context *ctx, kdri_terms **out)
{
	kdr_status st;
	kdri_terms *t = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &t, 1));
	KDRI_TRY(KDRI_NEW(ctx, &t->slots, FIRST_SLOTS));
	memset(t->slots, 0xff, FIRST_SLOTS * sizeof *t->slots);
	t->slot_count = FIRST_SLOTS;
	*out = t;
	t = NULL;
done:
	kdri_terms_free(ctx, t);
	return st;
}

void kdri_terms_free(kdr_context *ctx, kdri_terms *t)
{
	if (!t)
		return;
	KDRI_FREE(ctx, t->text, t->terms, t->slots, t);
}

/* The slot of the term, or the free slot for it. */
static int64_t slot_of(const kdri_terms *t, const char *text, size_t length, uint32_t hash)
{
	int64_t mask = t->slot_count - 1, s = (int64_t)hash & mask;
	for (; t->slots[s] >= 0; s = (s + 1) & mask) {
		const kdri_term *term = &t->terms[t->slots[s]];
		if (term->hash == hash && term->length == length &&
		    memcmp(t->text + term->offset, text, length) == 0)
			break;
	}
	return s;
}

int32_t kdri_terms_find(const kdri_terms *t, const char *text, size_t length, uint32_t hash)
{
	return t->slots[slot_of(t, text, length, hash)];
}

static kdr_status double_slots(kdr_context *ctx, kdri_terms *t)
{
	int64_t count = 2 * t->slot_count;
	int32_t *slots = NULL;
	kdr_status st = KDRI_NEW(ctx, &slots, count);
	if (st != KDR_OK)
		return st;
	memset(slots, 0xff, (size_t)count * sizeof *slots);
	for (int64_t i = 0; i < t->count; i++) {
		int64_t s = (int64_t)t->terms[i].hash & (count - 1);
		while (slots[s] >= 0)
			s = (s + 1) & (count - 1);
		slots[s] = (int32_t)i;
	}
	kdri_free(ctx, t->slots);
	t->slots = slots;
	t->slot_count = count;
	return KDR_OK;
}

kdr_status kdri_terms_add(kdr_context *ctx, kdri_terms *t, const char *text, size_t length, uint32_t hash,
                          int32_t *id)
{
	int64_t s = slot_of(t, text, length, hash);
	if (t->slots[s] >= 0) {
		*id = t->slots[s];
		return KDR_OK;
	}
	if (t->count >= INT32_MAX - 1)
		return kdri_fail(ctx, KDR_ERR_SIZE,
		                 "more than %d different terms; raise min_df or use shorter n-grams",
		                 INT32_MAX - 1);
	KDRI_DO(KDRI_ROOM(ctx, &t->terms, &t->room, t->count + 1));
	KDRI_DO(KDRI_ROOM(ctx, &t->text, &t->text_room, t->text_used + (int64_t)length));
	if (2 * (t->count + 1) > t->slot_count) {
		KDRI_DO(double_slots(ctx, t));
		s = slot_of(t, text, length, hash);
	}
	memcpy(t->text + t->text_used, text, length);
	t->terms[t->count] = (kdri_term){ (uint64_t)t->text_used, (uint32_t)length, hash, 0 };
	t->text_used += (int64_t)length;
	*id = t->slots[s] = (int32_t)t->count++;
	return KDR_OK;
}

/* --- columns -------------------------------------------------------------------------------- */

typedef struct candidate {
	int64_t df;
	const char *text;
	uint32_t length;
	int32_t term;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
	const candidate *x = a, *y = b;
	if (x->df != y->df)
		return x->df > y->df ? -1 : 1;
	int order = memcmp(x->text, y->text, KDRI_MIN(x->length, y->length));
	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* The document frequency the last of the `wanted` most frequent has: saves sorting the long tail. */
static kdr_status threshold(kdr_context *ctx, const kdri_terms *t, int64_t documents, int64_t low,
                            int64_t high, int64_t wanted, int64_t *out)
{
	kdr_status st;
	int64_t *having = NULL, df = high, sum = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &having, documents + 1));
	for (int64_t i = 0; i < t->count; i++)
		having[t->terms[i].df]++;
	while (df > low && (sum += having[df]) < wanted)
		df--;
	*out = df;
done:
	kdri_free(ctx, having);
	return st;
}

kdr_status kdri_term_columns_select(kdr_context *ctx, const kdri_terms *t, int64_t documents,
                                    const kdr_text_options *options, kdri_term_columns *out)
{
	kdr_status st;
	candidate *list = NULL;
	kdri_term_columns columns = { NULL, NULL, 0 };
	int64_t count = 0;
	/* Shares are compared as scikit-learn does: df >= share * documents in double precision. */
	int64_t low = KDRI_MAX(options->min_df, (int64_t)ceil(options->min_df_share * (double)documents));
	int64_t high = KDRI_MIN(documents, (int64_t)floor(options->max_df_share * (double)documents));
	if (options->max_df > 0)
		high = KDRI_MIN(high, options->max_df);
	low = KDRI_MAX(low, 1);
	if (options->max_features > 0 && high > low)
		KDRI_TRY(threshold(ctx, t, documents, low, high, options->max_features, &low));
	for (int64_t i = 0; i < t->count; i++)
		count += t->terms[i].df >= low && t->terms[i].df <= high;
	KDRI_TRY(KDRI_NEW(ctx, &list, count));
	count = 0;
	for (int64_t i = 0; i < t->count; i++) {
		const kdri_term *term = &t->terms[i];
		if (term->df >= low && term->df <= high)
			list[count++] =
			        (candidate){ term->df, t->text + term->offset, term->length, (int32_t)i };
	}
	if (count > 0)
		qsort(list, (size_t)count, sizeof *list, compare_candidates);
	if (options->max_features > 0)
		count = KDRI_MIN(count, options->max_features);
	KDRI_TRY(KDRI_NEW(ctx, &columns.of_term, t->count));
	KDRI_TRY(KDRI_NEW(ctx, &columns.term, count));
	memset(columns.of_term, 0xff, (size_t)t->count * sizeof *columns.of_term);
	for (int64_t j = 0; j < count; j++) {
		columns.term[j] = list[j].term;
		columns.of_term[list[j].term] = (int32_t)j;
	}
	columns.count = count;
	*out = columns;
	columns = (kdri_term_columns){ NULL, NULL, 0 };
done:
	kdri_term_columns_free(ctx, &columns);
	kdri_free(ctx, list);
	return st;
}

kdr_status kdri_term_columns_all(kdr_context *ctx, const kdri_terms *t, kdri_term_columns *out)
{
	kdr_status st;
	kdri_term_columns columns = { NULL, NULL, t->count };
	KDRI_TRY(KDRI_NEW(ctx, &columns.of_term, t->count));
	KDRI_TRY(KDRI_NEW(ctx, &columns.term, t->count));
	for (int32_t i = 0; i < t->count; i++)
		columns.of_term[i] = columns.term[i] = i;
	*out = columns;
	columns = (kdri_term_columns){ NULL, NULL, 0 };
done:
	kdri_term_columns_free(ctx, &columns);
	return st;
}

void kdri_term_columns_free(kdr_context *ctx, kdri_term_columns *columns)
{
	KDRI_FREE(ctx, columns->of_term, columns->term);
	*columns = (kdri_term_columns){ NULL, NULL, 0 };
}
