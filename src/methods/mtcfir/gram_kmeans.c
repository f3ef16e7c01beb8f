/* k-means through the Gram matrix. SPDX-License-Identifier: BSD-3-Clause
 *
 * With K = Z Z' the squared distance of sample i to the mean of cluster c is
 *
 *   (E1)  K_ii - 2 S_ic / n_c + T_c / n_c^2,   S_ic = sum_{j in c} K_ij,   T_c = sum_{i in c} S_ic
 *
 * so Z itself, which may have many times as many columns as there are samples, is not needed. S is built
 * by one pass over K (n^2 additions) and then follows the samples that move, n additions each: later
 * iterations, where few move, are nearly free. S is double whatever K is. It is kept by clusters: K being
 * symmetric, sample j adds its row of K, which lies together, to the row of its cluster, a piece at a time that
 * stays in the cache.
 *
 * On a device the rows of K are added there, in the same order, and samples are compared there; what is of the size of labels comes here.
 *
 * The start is k-means++ with greedy trials, as in kmeanspp.c; ties go to the lowest index; an emptied
 * cluster takes the sample farthest from its centre. */
#include "methods/mtcfir/gram_kmeans.h"

enum { CANDIDATES = 48, PIECE = 512 };

typedef struct run {
	const kdri_block *gram;
	int64_t n, k;
	double *diagonal;        /* n */
	double *sums;            /* k x n: S transposed; on a device there */
	double *own;             /* n: S of each sample and its own cluster */
	double *self;            /* k: T */
	double *away;            /* n: the distance to the sample's own centre */
	int64_t *size;           /* k */
	int64_t *labels, *next;  /* n */
	int64_t *moved;          /* n: those with next != labels */
	double *nearest, *trial; /* n, n x CANDIDATES: of the start */
	double *row;             /* n: a row of K */

	/* On a device. */
	kdr_context *ctx;
	kdri_device *dev;
	kdri_dmat there, dsums;
	bool single;
	kdri_buf *label, *before, *list, *next_there;
	kdri_buf *diagonal_there, *own_there, *away_there, *sizes_there, *self_there;
	int32_t *narrow; /* n */
	double *sizes;   /* k */
	int64_t *begin;  /* k + 1 */
} run;

/* Row s of K, in r->row. */
static kdr_status read_row(const run *r, int64_t s)
{
	if (r->dev)
		return kdri_dmat_get(r->ctx, r->dev, kdri_dmat_part(r->there, s, 0, 1, r->n), r->row, r->n);
	kdri_block_read(r->gram, s, 0, r->n, r->row);
	return KDR_OK;
}

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
	kdr_status st = KDR_OK;
	bool floats = r->single;
	int64_t n = r->n, trials = 2 + (int64_t)log((double)r->k);
	double total = 0;
	for (int64_t i = 0; i < n; i++) {
		r->nearest[i] = INFINITY;
		r->labels[i] = 0;
	}
	for (int64_t c = 0; c < r->k && (c == 0 || total > 0); c++) {
		int64_t count = c ? trials : 1, best = 0;
		double least = INFINITY;
		for (int64_t q = 0; q < count; q++) {
			int64_t s = c ? gram_kmeans_draw(r->nearest, n, total, rng) : kdri_rng_below(rng, n);
			double sum = 0, *trial = r->trial + q * n;
			KDRI_TRY(read_row(r, s)); /* by symmetry it holds column s, and lies together */
			for (int64_t i = 0; i < n; i++) {
				double gap = r->diagonal[i] + r->diagonal[s] - 2 * r->row[i];
				/* What rounding leaves between equal samples is no distance. */
				double noise = (floats ? 4e-6 : 1e-14) * (r->diagonal[i] + r->diagonal[s]);
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
				r->labels[i] = c;
			}
		total = least;
	}
done:
	return st;
}

/* --- the iterations ----------------------------------------------------------------------------------- */

/* Entries begin .. begin + count - 1 of cluster c's row of S follow sample j in (sign 1) or out (-1). */
static void add_sample(const run *r, int64_t j, int64_t c, double sign, int64_t begin, int64_t count)
{
	kdri_block row = kdri_block_part(r->gram, j, begin, 1, count);
	kdri_row_add(&row, sign, r->sums + c * r->n + begin);
}

/* S of `labels` on the device: anew, or following those that moved since. */
static kdr_status sums_there(run *r, const int64_t *labels, bool all)
{
	kdr_status st;
	for (int64_t i = 0; i < r->n; i++)
		r->narrow[i] = (int32_t)labels[i];
	KDRI_TRY(kdri_dbuf_put(r->ctx, r->dev, r->label, r->narrow, r->n, sizeof *r->narrow));
	KDRI_DTRY(r->ctx, r->dev,
	          r->dev->order(r->dev, r->label, r->before, r->n, r->k, all, r->list, r->begin));
	KDRI_DTRY(r->ctx, r->dev,
	          r->dev->sums(r->dev, r->there, r->list, r->begin, NULL, NULL, 0, !all, r->dsums));
done:
	return st;
}

static kdr_status rebuild(kdr_context *ctx, run *r)
{
	if (r->dev)
		return sums_there(r, r->labels, true);
	memset(r->sums, 0, (size_t)(r->n * r->k) * sizeof *r->sums);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (r->n > 256)
	for (int64_t begin = 0; begin < r->n; begin += PIECE)
		for (int64_t j = 0; j < r->n; j++)
			add_sample(r, j, r->labels[j], 1, begin, KDRI_MIN(PIECE, r->n - begin));
	return KDR_OK;
}

/* Follows the `count` samples in r->moved from their labels to next. */
static kdr_status follow(kdr_context *ctx, run *r, int64_t count)
{
	if (r->dev)
		return sums_there(r, r->next, false);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (r->n * count > 1 << 14)
	for (int64_t begin = 0; begin < r->n; begin += PIECE)
		for (int64_t m = 0; m < count; m++) {
			int64_t j = r->moved[m], size = KDRI_MIN(PIECE, r->n - begin);
			add_sample(r, j, r->labels[j], -1, begin, size);
			add_sample(r, j, r->next[j], 1, begin, size);
		}
	return KDR_OK;
}

/* n_c and T_c, by samples in their order. */
static kdr_status count_sizes(run *r)
{
	kdr_status st = KDR_OK;
	if (r->dev) {
		KDRI_DTRY(r->ctx, r->dev, r->dev->own(r->dev, r->dsums, r->label, r->own_there));
		KDRI_TRY(kdri_dbuf_get(r->ctx, r->dev, r->own_there, r->own, r->n, sizeof *r->own));
	} else {
		for (int64_t i = 0; i < r->n; i++)
			r->own[i] = r->sums[r->labels[i] * r->n + i];
	}
	memset(r->size, 0, (size_t)r->k * sizeof *r->size);
	memset(r->self, 0, (size_t)r->k * sizeof *r->self);
	for (int64_t i = 0; i < r->n; i++) {
		r->size[r->labels[i]]++;
		r->self[r->labels[i]] += r->own[i];
	}
done:
	return st;
}

/* (E1), S_ic being `sum`. */
static double gram_kmeans_distance(const run *r, int64_t i, int64_t c, double sum)
{
	double m = (double)r->size[c];
	return r->diagonal[i] - 2 * sum / m + r->self[c] / (m * m);
}

static kdr_status assign_there(run *r)
{
	kdr_status st;
	for (int64_t c = 0; c < r->k; c++)
		r->sizes[c] = (double)r->size[c];
	KDRI_TRY(kdri_dbuf_put(r->ctx, r->dev, r->sizes_there, r->sizes, r->k, sizeof *r->sizes));
	KDRI_TRY(kdri_dbuf_put(r->ctx, r->dev, r->self_there, r->self, r->k, sizeof *r->self));
	KDRI_DTRY(r->ctx, r->dev,
	          r->dev->closest(r->dev, r->dsums, r->diagonal_there, r->sizes_there, r->self_there,
	                          r->next_there, r->away_there));
	KDRI_TRY(kdri_dbuf_get(r->ctx, r->dev, r->next_there, r->narrow, r->n, sizeof *r->narrow));
	for (int64_t i = 0; i < r->n; i++)
		r->next[i] = r->narrow[i];
done:
	return st;
}

/* next = the nearest centre. */
static kdr_status gram_kmeans_assign(kdr_context *ctx, run *r)
{
	if (r->dev)
		return assign_there(r);
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (r->n > 1024)
	for (int64_t i = 0; i < r->n; i++) {
		int64_t best = r->labels[i];
		double least = INFINITY;
		for (int64_t c = 0; c < r->k; c++) {
			double v =
			        r->size[c] ? gram_kmeans_distance(r, i, c, r->sums[c * r->n + i]) : INFINITY;
			if (v < least) {
				least = v;
				best = c;
			}
		}
		r->next[i] = best;
		r->away[i] = KDRI_MAX(least, 0);
	}
	return KDR_OK;
}

/* How far samples are away, which is there until it is asked for. */
static kdr_status fetch_away(run *r)
{
	return r->dev ? kdri_dbuf_get(r->ctx, r->dev, r->away_there, r->away, r->n, sizeof *r->away) : KDR_OK;
}

/* Clusters that `next` leaves empty take the sample farthest from its centre, if any is away from it. */
static kdr_status gram_kmeans_fill_empty(run *r)
{
	kdr_status st = KDR_OK;
	bool empty = false;
	memset(r->size, 0, (size_t)r->k * sizeof *r->size);
	for (int64_t i = 0; i < r->n; i++)
		r->size[r->next[i]]++;
	for (int64_t c = 0; c < r->k; c++)
		empty = empty || r->size[c] == 0;
	if (empty)
		KDRI_TRY(fetch_away(r));
	for (int64_t c = 0; c < r->k && empty; c++) {
		int64_t far = -1;
		for (int64_t i = 0; i < r->n && r->size[c] == 0; i++)
			if (r->size[r->next[i]] > 1 && r->away[i] > (far < 0 ? 0 : r->away[far]))
				far = i;
		if (far < 0)
			continue;
		r->size[r->next[far]]--;
		r->next[far] = c;
		r->away[far] = 0;
		r->size[c] = 1;
	}
done:
	return st;
}

static kdr_status gram_kmeans_iterate(kdr_context *ctx, run *r, int64_t max_iter)
{
	kdr_status st;
	KDRI_TRY(rebuild(ctx, r));
	for (int64_t it = 0; it < max_iter; it++) {
		int64_t count = 0;
		KDRI_TRY(count_sizes(r));
		KDRI_TRY(gram_kmeans_assign(ctx, r));
		KDRI_TRY(gram_kmeans_fill_empty(r));
		for (int64_t i = 0; i < r->n; i++)
			if (r->next[i] != r->labels[i])
				r->moved[count++] = i;
		if (count == 0)
			return fetch_away(r);
		if (count < r->n / 4)
			KDRI_TRY(follow(ctx, r, count));
		memcpy(r->labels, r->next, (size_t)r->n * sizeof *r->labels);
		if (count >= r->n / 4)
			KDRI_TRY(rebuild(ctx, r));
	}
	KDRI_TRY(count_sizes(r));
	for (int64_t i = 0; i < r->n; i++)
		r->away[i] = gram_kmeans_distance(r, i, r->labels[i], r->own[i]);
done:
	return st;
}

/* Buffers on the device. */
static kdr_status go_there(run *r, const kdri_gram_there *there)
{
	kdr_status st;
	r->dev = there->dev;
	r->there = there->k;
	r->single = there->single;
	KDRI_TRY(KDRI_NEW(r->ctx, &r->narrow, r->n));
	KDRI_TRY(KDRI_NEW(r->ctx, &r->begin, r->k + 1));
	KDRI_TRY(KDRI_NEW(r->ctx, &r->sizes, r->k));
	KDRI_TRY(kdri_dmat_new(r->ctx, r->dev, r->k, r->n, &r->dsums));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->n, sizeof *r->narrow, &r->label));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->n, sizeof *r->narrow, &r->before));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, 2 * r->n, sizeof *r->narrow, &r->list));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->n, sizeof *r->narrow, &r->next_there));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->n, sizeof *r->own, &r->own_there));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->n, sizeof *r->away, &r->away_there));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->k, sizeof *r->sizes, &r->sizes_there));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->k, sizeof *r->self, &r->self_there));
	KDRI_TRY(kdri_dbuf_new(r->ctx, r->dev, r->n, sizeof *r->diagonal, &r->diagonal_there));
	KDRI_TRY(kdri_dmat_get(r->ctx, r->dev,
	                       (kdri_dmat){ r->there.buf, r->there.at, r->n, 1, r->there.stride + 1 },
	                       r->diagonal, 1));
	KDRI_TRY(kdri_dbuf_put(r->ctx, r->dev, r->diagonal_there, r->diagonal, r->n, sizeof *r->diagonal));
done:
	return st;
}

static void come_back(run *r)
{
	kdri_buf *owned[] = { r->label,      r->before,      r->list,       r->next_there,    r->own_there,
		              r->away_there, r->sizes_there, r->self_there, r->diagonal_there };
	for (size_t i = 0; i < sizeof owned / sizeof *owned && r->dev; i++)
		r->dev->release(r->dev, owned[i]);
	if (r->dev)
		kdri_dmat_free(r->dev, &r->dsums);
	kdri_free(r->ctx, r->narrow);
	kdri_free(r->ctx, r->begin);
	kdri_free(r->ctx, r->sizes);
}

kdr_status kdri_gram_kmeans(kdr_context *ctx, const kdri_block *gram, const kdri_gram_kmeans_options *o,
                            int64_t *labels, double *objective)
{
	kdr_status st;
	int64_t n = o->there ? o->there->k.rows : gram->rows;
	run r = { .gram = gram, .n = n, .k = o->k, .ctx = ctx };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "gram kmeans", o->stream);
	KDRI_TRY(KDRI_NEW(ctx, &r.diagonal, n));
	if (!o->there)
		KDRI_TRY(KDRI_NEW(ctx, &r.sums, n * o->k));
	KDRI_TRY(KDRI_NEW(ctx, &r.own, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.self, o->k));
	KDRI_TRY(KDRI_NEW0(ctx, &r.away, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.size, o->k));
	KDRI_TRY(KDRI_NEW(ctx, &r.next, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.moved, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.nearest, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.trial, n * KDRI_MIN(CANDIDATES, 2 + (int64_t)log((double)o->k))));
	KDRI_TRY(KDRI_NEW(ctx, &r.row, n));
	r.labels = labels;
	if (o->there)
		KDRI_TRY(go_there(&r, o->there));
	else
		r.single = gram->floats;
	for (int64_t i = 0; i < n && !o->there; i++)
		r.diagonal[i] = kdri_block_get(gram, i, i);
	KDRI_TRY(gram_kmeans_seed(&r, &rng));
	KDRI_TRY(gram_kmeans_iterate(ctx, &r, o->max_iter));
	if (objective) {
		*objective = 0;
		for (int64_t i = 0; i < n; i++)
			*objective += r.away[i];
	}
done:
	kdri_free(ctx, r.diagonal);
	kdri_free(ctx, r.sums);
	kdri_free(ctx, r.own);
	kdri_free(ctx, r.self);
	kdri_free(ctx, r.away);
	kdri_free(ctx, r.size);
	kdri_free(ctx, r.next);
	kdri_free(ctx, r.moved);
	kdri_free(ctx, r.nearest);
	kdri_free(ctx, r.trial);
	kdri_free(ctx, r.row);
	come_back(&r);
	return st;
}
