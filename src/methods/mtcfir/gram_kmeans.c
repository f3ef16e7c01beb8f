/* k-means through the Gram matrix. SPDX-License-Identifier: BSD-3-Clause
 *
 * With K = Z Z' the squared distance of sample i to the mean of cluster c is
 *
 *   (E1)  K_ii - 2 S_ic / n_c + T_c / n_c^2,   S_ic = sum_{j in c} K_ij,   T_c = sum_{i in c} S_ic
 *
 * so Z itself, which may have many times as many columns as there are samples, is not needed. S is built by one pass
 * over K (n^2 additions) and then follows the samples that move, n additions each: later iterations, where few move, are
 * nearly free. S is double whatever K is. It is kept by clusters: K being symmetric, sample j adds its row of K to the
 * row of its cluster. K and S are on a device; vectors of the size of the labels are on the host.
 *
 * The start is k-means++ with greedy trials, as in kmeanspp.c; ties go to the lowest index; an emptied cluster takes the
 * sample farthest from its centre. */
#include "methods/mtcfir/gram_kmeans.h"

enum { CANDIDATES = 48 };

typedef struct run {
	kdr_context *ctx;
	kdri_device *dev;
	kdri_block gram;
	int64_t n, k;
	kdri_block sums;         /* k x n: S transposed */
	double *diagonal;        /* n */
	double *own;             /* n: S of each sample and its own cluster */
	double *self;            /* k: T */
	double *away;            /* n: the distance to the sample's own centre */
	double *size;            /* k */
	int32_t *label, *next;   /* n */
	double *nearest, *trial; /* n, n x CANDIDATES: of the start */
	double *row;             /* n: a row of K */
} run;

/* --- the start ---------------------------------------------------------------------------------------- */

static int64_t gram_kmeans_draw(const double *weight, int64_t n, double total, kdri_rng *rng)
{
	double left = kdri_rng_uniform(rng) * total;
	int64_t last = 0;
	for (int64_t i = 0; i < n; i++) {
		if (weight[i] <= 0)
			continue;
		last = i;
		if (left < weight[i])
			break;
		left -= weight[i];
	}
	return last;
}

/* Labels of the nearest of k seeds; fewer distinct samples than k leave the last clusters empty. */
static kdr_status gram_kmeans_seed(run *r, kdri_rng *rng)
{
	bool single = r->gram.single;
	int64_t n = r->n, trials = 2 + (int64_t)log((double)r->k);
	double total = 0;
	for (int64_t i = 0; i < n; i++) {
		r->nearest[i] = INFINITY;
		r->label[i] = 0;
	}
	for (int64_t c = 0; c < r->k && (c == 0 || total > 0); c++) {
		int64_t count = c ? trials : 1, best = 0;
		double least = INFINITY;
		for (int64_t q = 0; q < count; q++) {
			int64_t s = c ? gram_kmeans_draw(r->nearest, n, total, rng) : kdri_rng_below(rng, n);
			double sum = 0, *trial = r->trial + q * n;
			/* By symmetry the row holds column s, and lies together. */
			KDRI_DO(kdri_block_fetch(r->ctx, kdri_block_part(r->gram, s, 0, 1, n), r->row, n));
			for (int64_t i = 0; i < n; i++) {
				double gap = r->diagonal[i] + r->diagonal[s] - 2 * r->row[i];
				/* What rounding leaves between equal samples is no distance. */
				double noise = (single ? 4e-6 : 1e-14) * (r->diagonal[i] + r->diagonal[s]);
				trial[i] = gap <= noise ? 0 : KDRI_MIN(gap, r->nearest[i]);
				trial[i] = KDRI_MIN(trial[i], r->nearest[i]);
				sum += trial[i];
			}
			if (sum < least) {
				least = sum;
				best = q;
			}
		}
		const double *taken = r->trial + best * n;
		for (int64_t i = 0; i < n; i++)
			if (taken[i] < r->nearest[i]) {
				r->nearest[i] = taken[i];
				r->label[i] = (int32_t)c;
			}
		total = least;
	}
	return KDR_OK;
}

/* --- the iterations ----------------------------------------------------------------------------------- */

/* n_c and T_c, by samples in their order. */
static kdr_status count_sizes(run *r)
{
	kdr_status st;
	KDRI_OP(r->ctx, r->dev, group_own, r->sums, r->label, r->own);
	memset(r->size, 0, (size_t)r->k * sizeof *r->size);
	memset(r->self, 0, (size_t)r->k * sizeof *r->self);
	for (int64_t i = 0; i < r->n; i++) {
		r->size[r->label[i]]++;
		r->self[r->label[i]] += r->own[i];
	}
done:
	return st;
}

/* Clusters that `next` leaves empty take the sample farthest from its centre, if any is away from it. */
static void gram_kmeans_fill_empty(run *r)
{
	memset(r->size, 0, (size_t)r->k * sizeof *r->size);
	for (int64_t i = 0; i < r->n; i++)
		r->size[r->next[i]]++;
	for (int64_t c = 0; c < r->k; c++) {
		int64_t far = -1;
		for (int64_t i = 0; i < r->n && r->size[c] == 0; i++)
			if (r->size[r->next[i]] > 1 && r->away[i] > (far < 0 ? 0 : r->away[far]))
				far = i;
		if (far < 0)
			continue;
		r->size[r->next[far]]--;
		r->next[far] = (int32_t)c;
		r->away[far] = 0;
		r->size[c] = 1;
	}
}

static kdr_status gram_kmeans_iterate(run *r, int64_t max_iter)
{
	kdr_status st;
	KDRI_OP(r->ctx, r->dev, group_rows, r->gram, r->label, NULL, r->sums);
	for (int64_t it = 0; it < max_iter; it++) {
		int64_t count = 0;
		KDRI_TRY(count_sizes(r));
		KDRI_OP(r->ctx, r->dev, group_closest, r->sums, r->diagonal, r->size, r->self, r->next,
		        r->away); /* (E1) */
		gram_kmeans_fill_empty(r);
		for (int64_t i = 0; i < r->n; i++)
			count += r->next[i] != r->label[i];
		if (count == 0)
			break;
		/* Where many samples move, S is built anew. */
		KDRI_OP(r->ctx, r->dev, group_rows, r->gram, r->next, count < r->n / 4 ? r->label : NULL,
		        r->sums);
		memcpy(r->label, r->next, (size_t)r->n * sizeof *r->label);
	}
done:
	return st;
}

kdr_status kdri_gram_kmeans(kdr_context *ctx, kdri_block gram, int64_t k, int64_t max_iter, uint64_t stream,
                            int64_t *labels)
{
	kdr_status st;
	int64_t n = gram.rows;
	run r = { .ctx = ctx, .dev = gram.dev, .gram = gram, .n = n, .k = k };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "gram kmeans", stream);
	KDRI_TRY(kdri_block_new(ctx, r.dev, k, n, false, &r.sums));
	KDRI_TRY(KDRI_NEW(ctx, &r.diagonal, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.own, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.self, k));
	KDRI_TRY(KDRI_NEW(ctx, &r.away, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.size, k));
	KDRI_TRY(KDRI_NEW(ctx, &r.label, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.next, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.nearest, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.trial, n * KDRI_MIN(CANDIDATES, 2 + (int64_t)log((double)k))));
	KDRI_TRY(KDRI_NEW(ctx, &r.row, n));
	KDRI_TRY(kdri_block_diagonal(ctx, gram, r.diagonal));
	KDRI_TRY(gram_kmeans_seed(&r, &rng));
	KDRI_TRY(gram_kmeans_iterate(&r, max_iter));
	for (int64_t i = 0; i < n; i++)
		labels[i] = r.label[i];
done:
	kdri_block_free(ctx, &r.sums);
	kdri_free(ctx, r.diagonal);
	kdri_free(ctx, r.own);
	kdri_free(ctx, r.self);
	kdri_free(ctx, r.away);
	kdri_free(ctx, r.size);
	kdri_free(ctx, r.label);
	kdri_free(ctx, r.next);
	kdri_free(ctx, r.nearest);
	kdri_free(ctx, r.trial);
	kdri_free(ctx, r.row);
	return st;
}
