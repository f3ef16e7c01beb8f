/* Words that have the same stem become one term. SPDX-License-Identifier: BSD-3-Clause
 *
 * Documents are counted by their words; when all have been read, each different word is stemmed once. A term can then be named by its
 * stem, or by the word that occurs most often among those that have it. A term of several words is stemmed word by word. */
#include "text/matrix.h"

kdr_status kdri_stem_term(kdr_context *ctx, kdri_stemmer *stemmer, const char *text, size_t length,
                          char **out, int64_t *room, size_t *written)
{
	kdr_status st = KDR_OK;
	size_t used = 0;
	for (size_t at = 0; at <= length;) {
		const char *end = memchr(text + at, ' ', length - at);
		size_t n = end ? (size_t)(end - text) - at : length - at, next = at + n + 1;
		const char *stem = kdri_stem(stemmer, text + at, &n);
		if (!stem)
			KDRI_FAIL(ctx, KDR_ERR_MEMORY, "out of memory while stemming");
		KDRI_TRY(KDRI_ROOM(ctx, out, room, (int64_t)(used + n) + 1));
		if (used > 0)
			(*out)[used++] = ' ';
		memcpy(*out + used, stem, n);
		used += n;
		at = next;
	}
	*written = used;
done:
	return st;
}

/* The stem of each word, as a number of `stems`. */
static kdr_status group_words(kdr_context *ctx, const char *name, const kdri_terms *words, kdri_terms *stems,
                              int32_t *of_word)
{
	kdr_status st;
	kdri_stemmer *stemmer = NULL;
	char *stem = NULL;
	int64_t room = 0;
	size_t n;
	KDRI_TRY(kdri_stemmer_new(ctx, name, &stemmer));
	for (int64_t i = 0; i < words->count; i++) {
		const kdri_term *word = &words->terms[i];
		KDRI_TRY(kdri_stem_term(ctx, stemmer, words->text + word->offset, word->length, &stem, &room,
		                        &n));
		KDRI_TRY(kdri_terms_add(ctx, stems, stem, n, kdri_term_hash(stem, n), &of_word[i]));
	}
done:
	kdri_stemmer_free(ctx, stemmer);
	kdri_free(ctx, stem);
	return st;
}

/* Counts documents and occurrences; pairs name stems afterwards. */
static void count_documents(kdri_counts *tasks, int64_t count, const int32_t *of_word, kdri_terms *stems,
                            int64_t *last, int64_t *occurrences)
{
	int64_t document = 0;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0, p = 0; i < tasks[t].done; i++) {
			document++;
			for (; p < tasks[t].end[i]; p++) {
				kdri_pair *pair = &tasks[t].pairs[p];
				const int32_t stem = of_word[pair->term];
				occurrences[pair->term] += pair->count;
				stems->terms[stem].df += last[stem] != document;
				last[stem] = document;
				pair->term = stem;
			}
		}
}

/* The word that occurs most often for each stem; of equals the first in byte order. */
static void choose_forms(const kdri_terms *words, const int32_t *of_word, const int64_t *occurrences,
                         int32_t *form)
{
	for (int64_t i = 0; i < words->count; i++) {
		const int32_t stem = of_word[i], other = form[stem];
		const kdri_term *a = &words->terms[i], *b = other < 0 ? a : &words->terms[other];
		if (other >= 0 && occurrences[i] < occurrences[other])
			continue;
		const int order = memcmp(words->text + a->offset, words->text + b->offset,
		                         KDRI_MIN(a->length, b->length));
		if (other < 0 || occurrences[i] > occurrences[other] || order < 0 ||
		    (order == 0 && a->length < b->length))
			form[stem] = (int32_t)i;
	}
}

kdr_status kdri_stems_merge(kdr_context *ctx, const char *name, const kdri_terms *words, kdri_counts *tasks,
                            int64_t count, kdri_terms **out, int32_t **form)
{
	kdr_status st;
	kdri_terms *stems = NULL;
	int32_t *of_word = NULL;
	int64_t *last = NULL, *occurrences = NULL;
	KDRI_TRY(kdri_terms_new(ctx, &stems));
	KDRI_TRY(KDRI_NEW(ctx, &of_word, words->count));
	KDRI_TRY(group_words(ctx, name, words, stems, of_word));
	KDRI_TRY(KDRI_NEW0(ctx, &last, stems->count));
	KDRI_TRY(KDRI_NEW0(ctx, &occurrences, words->count));
	KDRI_TRY(KDRI_NEW(ctx, form, stems->count));
	memset(*form, 0xff, (size_t)stems->count * sizeof **form);
	count_documents(tasks, count, of_word, stems, last, occurrences);
	choose_forms(words, of_word, occurrences, *form);
	*out = stems;
	stems = NULL;
done:
	kdri_terms_free(ctx, stems);
	KDRI_FREE(ctx, of_word, last, occurrences);
	return st;
}
