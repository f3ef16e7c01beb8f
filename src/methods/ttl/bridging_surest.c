/* The most certain predictions of each class, which are used for training. SPDX-License-Identifier: BSD-3-Clause
 *
 * Row i claims class k by its lift l_ik = p_ik / q_k, q_k the share of the class. Claims are ordered by size, the
 * largest first, then by the lower row and the lower class;
 *
 *   (E1)  row i gets class k unless it has one, or k has ceil(q_k n) rows; the first ceil(part q_k n) of a class are
 *         used for training.
 *
 * Rows may be held by several ranks, so that no rank has the list of claims. It is not needed: as long as the same
 * classes are open, a row gets the class of its largest claim on one of them, and class k is full after the last
 * claim that it can accept. Therefore
 *
 *   (E2)  of these last claims the first is found, rows up to there get their classes, its class is closed, and the others
 *         claim the next: at most as often as there are classes
 *   (E3)  the w-th claim on k, of the largest first: byte by byte of (bits of the lift, n - 1 - row), since numbers that are not
 *         negative are ordered as their bits are; the counts of claims by their next byte determine that of the w-th
 *
 * which takes at most 16 counts over the rows, one exchange each, and gives exactly the result of (E1).
 *
 * l  key[0]      w  wanted      k  class */
#include "comm/comm.h"
#include "methods/ttl/bridging.h"

enum { BYTE = 256 };

/* The largest claim of each row here. */
typedef struct claims {
	int64_t n, c, all;
	uint64_t *key[2]; /* n: bits of the lift; rows after this one, so that the larger is first in both */
	int64_t *class;   /* n: -1: there is no claim */
	uint64_t *place[2];            /* c: keys of a claim on each class */
	bool *found;                   /* c: there is such a claim */
	int64_t *room, *teach, *spare; /* c: rows that a class has room for; that teach */
	int64_t *count;                /* c x BYTE */
} claims;

static void claims_free(kdr_context *ctx, claims *v)
{
	for (int w = 0; w < 2; w++) {
		KDRI_FREE(ctx, v->key[w], v->place[w]);
	}
	KDRI_FREE(ctx, v->class, v->found, v->room, v->count);
}

static kdr_status claims_new(kdr_context *ctx, const kdri_bridging_rows *rows, claims *v)
{
	for (int w = 0; w < 2; w++) {
		KDRI_DO(KDRI_NEW0(ctx, &v->key[w], v->n));
		KDRI_DO(KDRI_NEW0(ctx, &v->place[w], v->c));
	}
	KDRI_DO(KDRI_NEW0(ctx, &v->class, v->n));
	KDRI_DO(KDRI_NEW0(ctx, &v->found, v->c));
	KDRI_DO(KDRI_NEW0(ctx, &v->room, 3 * v->c));
	KDRI_DO(KDRI_NEW0(ctx, &v->count, v->c * BYTE));
	v->teach = v->room + v->c;
	v->spare = v->teach + v->c;
	for (int64_t i = 0; i < v->n; i++)
		v->key[1][i] = (uint64_t)(v->all - 1 - rows->number[i]);
	return KDR_OK;
}

/* Whether the claim of row i comes after the place of class k. */
static inline bool is_after(const claims *v, int64_t i, int64_t k)
{
	return v->key[0][i] < v->place[0][k] ||
	       (v->key[0][i] == v->place[0][k] && v->key[1][i] < v->place[1][k]);
}

/* Whether the claim of row i has the bytes of the place that are known: those of word w above `shift`. */
static inline bool agrees(const claims *v, int64_t i, int64_t k, int w, int shift)
{
	return (w == 0 || v->key[0][i] == v->place[0][k]) &&
	       (v->key[w][i] & ~(uint64_t)0 << shift << 8) == v->place[w][k];
}

/* How many claims of all ranks on each class, of those that agree so far, have which byte next. */
static kdr_status count_bytes(kdr_context *ctx, const claims *v, int w, int shift)
{
	memset(v->count, 0, (size_t)(v->c * BYTE) * sizeof *v->count);
	for (int64_t i = 0; i < v->n; i++) {
		int64_t k = v->class[i];
		if (k >= 0 && agrees(v, i, k, w, shift))
			v->count[k * BYTE + (int64_t)(v->key[w][i] >> shift & (BYTE - 1))]++;
	}
	return kdri_sum_int(ctx, v->count, v->c * BYTE);
}

/* (E3) for all classes at once. */
static kdr_status find_places(kdr_context *ctx, const claims *v, const int64_t *wanted)
{
	int64_t *left = v->spare;
	memcpy(left, wanted, (size_t)v->c * sizeof *left);
	for (int w = 0; w < 2; w++) {
		int shift = 56;
		while (w == 1 && shift > 0 && v->all >> shift == 0)
			shift -= 8;
		memset(v->place[w], 0, (size_t)v->c * sizeof *v->place[w]);
		for (; shift >= 0; shift -= 8) {
			KDRI_DO(count_bytes(ctx, v, w, shift));
			for (int64_t k = 0; k < v->c; k++) {
				uint64_t byte = BYTE - 1;
				for (; byte > 0 && v->count[k * BYTE + (int64_t)byte] < left[k]; byte--)
					left[k] -= v->count[k * BYTE + (int64_t)byte];
				v->place[w][k] |= byte << shift;
			}
		}
	}
	for (int64_t k = 0; k < v->c; k++)
		v->found[k] = left[k] <= v->count[k * BYTE + (int64_t)(v->place[1][k] & (BYTE - 1))];
	return KDR_OK;
}

/* Rows without a class claim the likeliest class that is still open. */
static void claim(const claims *v, const double *p, const double *share, const int64_t *labels)
{
	for (int64_t i = 0; i < v->n; i++) {
		double most = 0;
		v->class[i] = -1;
		if (labels[i] >= 0)
			continue;
		for (int64_t k = 0; k < v->c; k++) {
			double lift = v->room[k] > 0 ? p[i * v->c + k] / share[k] : 0;
			if (lift > most) {
				most = lift;
				v->class[i] = k;
			}
		}
		memcpy(&v->key[0][i], &most, sizeof most);
	}
}

/* The class whose last claim comes first; -1: all classes can accept all claims. */
static int64_t first_full(const claims *v)
{
	int64_t first = -1;
	for (int64_t k = 0; k < v->c; k++)
		if (v->room[k] > 0 && v->found[k] &&
		    (first < 0 || v->place[0][k] > v->place[0][first] ||
		     (v->place[0][k] == v->place[0][first] && v->place[1][k] > v->place[1][first])))
			first = k;
	return first;
}

/* (E2) into labels. */
static kdr_status give_out(kdr_context *ctx, const claims *v, const double *p, const double *share,
                           int64_t *labels)
{
	for (int64_t full = 0; full >= 0;) {
		claim(v, p, share, labels);
		KDRI_DO(find_places(ctx, v, v->room));
		full = first_full(v);
		memset(v->spare, 0, (size_t)v->c * sizeof *v->spare);
		for (int64_t i = 0; i < v->n; i++)
			if (v->class[i] >= 0 && (full < 0 || !is_after(v, i, full))) {
				labels[i] = v->class[i];
				v->spare[labels[i]]++;
			}
		KDRI_DO(kdri_sum_int(ctx, v->spare, v->c));
		for (int64_t k = 0; k < v->c; k++)
			v->room[k] -= v->spare[k];
	}
	return KDR_OK;
}

kdr_status kdri_bridging_surest(kdr_context *ctx, const kdri_bridging_rows *rows, const double *p, int64_t c,
                                const double *share, double part, int64_t *labels)
{
	kdr_status st;
	claims v = { .n = rows->n, .c = c, .all = rows->all };
	KDRI_TRY(claims_new(ctx, rows, &v));
	for (int64_t k = 0; k < c; k++) {
		v.room[k] = (int64_t)ceil(share[k] * (double)v.all);
		v.teach[k] = (int64_t)ceil(part * share[k] * (double)v.all);
	}
	for (int64_t i = 0; i < v.n; i++)
		labels[i] = -1;
	KDRI_TRY(give_out(ctx, &v, p, share, labels));
	memcpy(v.class, labels, (size_t)v.n * sizeof *labels);
	KDRI_TRY(find_places(ctx, &v, v.teach));
	for (int64_t i = 0; i < v.n; i++) {
		int64_t k = labels[i];
		if (k >= 0 && v.found[k] && is_after(&v, i, k))
			labels[i] = -1; /* (E1) */
	}
done:
	claims_free(ctx, &v);
	return st;
}
