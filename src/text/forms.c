/* Words that have the same stem become one term. SPDX-License-Identifier: BSD-3-Clause
 *
 * Documents are counted by their words; when all have been read, each different word is stemmed once. A term can then be named by its
 * stem, or by the word that occurs most often among those that have it. A term of several words is stemmed word by word. If the
 * documents have several languages, each word is stemmed once for each language of the documents that contain it. */
#include "text/matrix.h"

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
