/* Terms, their numbers, and the choice of columns. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

#include <stdlib.h>

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
