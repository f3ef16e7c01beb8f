/* Where mixtures start from. SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts are partitions of the rows: k-means with 4 initialisations on encodings B, H and V, two seeds each, and Ward's method on
 * B for tables of at most 3,000 rows; for all tables together only k-means, each table minus its own mean. EM
 * (mixture.c) runs from each, and the result with the highest log-likelihood is used. */
/* Ward's hierarchical clustering.
 *
 * [W63] J. H. Ward: Hierarchical grouping to optimize an objective function. JASA 58:236-244, 1963.
 * [M83] F. Murtagh: A survey of recent advances in hierarchical clustering algorithms. Computer Journal 26:354-359, 1983.
 *
 *   (E1)  D(a, b) = 2 n_a n_b / (n_a + n_b) |m_a - m_b|^2,  of single rows |x_a - x_b|^2                              [W63]
 *   (E2)  D(c, a u b) = ((n_a + n_c) D(a, c) + (n_b + n_c) D(b, c) - n_c D(a, b)) / (n_a + n_b + n_c)
 *
 * Clusters that are each other's nearest may be merged in any order without changing the tree: a chain from a cluster
 * to its nearest, to that one's nearest and so on ends in such a pair after at most n steps [M83]. So all merges take
 * O(n^2), and the n - k lowest of them leave k clusters. */
#include <stdlib.h>

#include "engine/kmeans/kmeans.h"
#include "engine/mixture/mixture.h"
#include "matrix/linalg.h"

typedef struct merge {
	double height;
	int64_t a, b; /* rows, one of each cluster */
} merge;

static int by_height(const void *x, const void *y)
{
	const merge *a = x, *b = y;
	if (a->height != b->height)
		return a->height < b->height ? -1 : 1;
	return (a->a > b->a) - (a->a < b->a); /* the same order everywhere */
}

/* Place of the pair in the lower triangle. */
static int64_t pair_of(int64_t i, int64_t j)
{
	return i > j ? i * (i - 1) / 2 + j : j * (j - 1) / 2 + i;
}

/* (E1) of all pairs of rows. */
static void fill_pairs(kdr_context *ctx, const double *x, int64_t n, int64_t d, double *pairs)
{
	(void)ctx;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
	for (int64_t i = 1; i < n; i++)
		for (int64_t j = 0; j < i; j++) {
			double sum = 0;
			for (int64_t f = 0; f < d; f++) {
				double e = x[i * d + f] - x[j * d + f];
				sum += e * e;
			}
			pairs[i * (i - 1) / 2 + j] = sum;
		}
}

/* The cluster nearest to a: the one before it in the chain if no other is nearer, else the one with the lowest
 * number. */
static int64_t nearest_to(const double *pairs, const double *size, int64_t n, int64_t a, int64_t before)
{
	int64_t best = before;
	double least = before >= 0 ? pairs[pair_of(a, before)] : INFINITY;
	for (int64_t b = 0; b < n; b++)
		if (b != a && size[b] > 0 && pairs[pair_of(a, b)] < least) {
			least = pairs[pair_of(a, b)];
			best = b;
		}
	return best;
}

/* b joins a: (E2). */
static void join_clusters(double *pairs, double *size, int64_t n, int64_t a, int64_t b)
{
	const double between = pairs[pair_of(a, b)], na = size[a], nb = size[b];
	for (int64_t c = 0; c < n; c++)
		if (c != a && c != b && size[c] > 0) {
			double *to = &pairs[pair_of(a, c)], nc = size[c];
			*to = ((na + nc) * *to + (nb + nc) * pairs[pair_of(b, c)] - nc * between) /
			      (na + nb + nc);
		}
	size[a] += nb;
	size[b] = 0;
}

static int64_t cluster_of(int64_t *parent, int64_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* The n - k lowest merges, and numbers by first appearance. */
static void cut_tree(merge *merges, int64_t n, int64_t k, int64_t *parent, int64_t *labels)
{
	int64_t count = 0;
	qsort(merges, (size_t)(n - 1), sizeof *merges, by_height);
	for (int64_t i = 0; i < n; i++) {
		parent[i] = i;
		labels[i] = -1;
	}
	for (int64_t i = 0; i < n - k; i++) {
		int64_t a = cluster_of(parent, merges[i].a), b = cluster_of(parent, merges[i].b);
		parent[KDRI_MAX(a, b)] = KDRI_MIN(a, b);
	}
	for (int64_t i = 0; i < n; i++) { /* a root is the first row of its cluster */
		int64_t root = cluster_of(parent, i);
		labels[i] = root == i ? count++ : labels[root];
	}
}

/* k clusters of the n rows of x (n x d): the pair of clusters whose union adds least to the within-cluster sum of
 * squares is merged until k remain. O(n^2 d) time, 8 n^2 / 2 bytes. Clusters are numbered by first appearance. */
static kdr_status kdri_ward(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t k,
                            int64_t *labels)
{
	kdr_status st;
	double *pairs = NULL, *size = NULL;
	int64_t *chain = NULL, length = 0, count = 0, first = 0;
	merge *merges = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &pairs, n * (n - 1) / 2));
	KDRI_TRY(KDRI_NEW(ctx, &size, n));
	KDRI_TRY(KDRI_NEW(ctx, &chain, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &merges, n));
	fill_pairs(ctx, x, n, d, pairs);
	for (int64_t i = 0; i < n; i++)
		size[i] = 1;
	while (count < n - 1) {
		if (length == 0) {
			while (size[first] == 0)
				first++;
			chain[length++] = first;
		}
		int64_t a = chain[length - 1], before = length > 1 ? chain[length - 2] : -1,
		        b = nearest_to(pairs, size, n, a, before);
		if (b != before) {
			chain[length++] = b;
			continue;
		}
		merges[count++] = (merge){ pairs[pair_of(a, b)], a, b };
		join_clusters(pairs, size, n, a, b);
		length -= 2;
	}
	cut_tree(merges, n, k, chain, labels);
done:
	KDRI_FREE(ctx, pairs, size, chain, merges);
	return st;
}

/* The same from clusters 0 .. from - 1 of the rows, which `labels` has: merged until k remain. O(n d + from^3 d). */
static kdr_status ward_join(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t from, int64_t k,
                            int64_t *labels)
{
	kdr_status st;
	double *mean = NULL, *size = NULL;
	int64_t *now = NULL, count;
	KDRI_TRY(kdri_mul(ctx, from, d, &count));
	KDRI_TRY(KDRI_NEW0(ctx, &mean, count));
	KDRI_TRY(KDRI_NEW0(ctx, &size, from));
	KDRI_TRY(KDRI_NEW(ctx, &now, from));
	for (int64_t i = 0; i < n; i++) {
		kdri_axpy(1, x + i * d, mean + labels[i] * d, d);
		size[labels[i]]++;
	}
	for (int64_t c = 0; c < from; c++)
		for (int64_t f = 0; f < d; f++)
			mean[c * d + f] /= KDRI_MAX(size[c], 1);
	for (; from > k; from--) { /* (E1), half of it */
		int64_t a = 0, b = 1;
		double least = INFINITY;
		for (int64_t p = 1; p < from; p++)
			for (int64_t q = 0; q < p; q++) {
				double sum = 0, both = size[p] + size[q];
				for (int64_t f = 0; f < d; f++) {
					double e = mean[p * d + f] - mean[q * d + f];
					sum += e * e;
				}
				sum *= both > 0 ? size[p] * size[q] / both : 0;
				if (sum < least) {
					least = sum;
					a = q;
					b = p;
				}
			}
		const double both = KDRI_MAX(size[a] + size[b], 1);
		for (int64_t f = 0; f < d; f++)
			mean[a * d + f] = (size[a] * mean[a * d + f] + size[b] * mean[b * d + f]) / both;
		size[a] += size[b];
		size[b] = size[from - 1];
		memmove(mean + b * d, mean + (from - 1) * d, (size_t)d * sizeof *mean);
		for (int64_t c = 0; c < from; c++)
			now[c] = c == b ? a : c == from - 1 ? b : c;
		for (int64_t i = 0; i < n; i++)
			labels[i] = now[labels[i]];
	}
done:
	KDRI_FREE(ctx, mean, size, now);
	return st;
}

enum { SEEDS = 2, STARTS = KDRI_ENCODINGS * SEEDS + 1, FEW_RUNS = 4, WARD_ROWS = 3000 };
static const char stage[] =
        "mixture"; /* every run checks whether to stop, and then ends with its current result */

void kdri_encoded_free(kdr_context *ctx, kdri_encoded *e)
{
	for (int i = 0; i < KDRI_ENCODINGS; i++) {
		kdri_encoder_free(ctx, &e->encoder[i]);
		kdri_free(ctx, e->rows[i]);
	}
}

kdr_status kdri_encoded_new(kdr_context *ctx, const kdri_mixed *m, bool pooled, int64_t begin, int64_t end,
                            kdri_encoded *e)
{
	int64_t size;
	e->begin = begin;
	for (int i = 0; i < KDRI_ENCODINGS; i++) {
		KDRI_DO(kdri_encoder_new(ctx, m, (kdri_encoding)i, pooled, &e->encoder[i]));
		KDRI_DO(kdri_mul(ctx, end - begin, e->encoder[i].width, &size));
		KDRI_DO(KDRI_NEW(ctx, &e->rows[i], size));
		kdri_encode(&e->encoder[i], m, begin, end, e->rows[i]);
	}
	return KDR_OK;
}

kdr_status kdri_encoded_kmeans(kdr_context *ctx, const kdri_encoded *e, int i, int64_t begin, int64_t end,
                               int64_t k, int64_t runs, uint64_t stream, const int64_t *start,
                               int64_t *labels, double *centres)
{
	kdr_status st;
	const int64_t width = e->encoder[i].width;
	const kdr_mat x = kdr_mat_from_dense(e->rows[i] + (begin - e->begin) * width, end - begin, width);
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result r = { 0 };
	o.n_init = runs;
	o.init_labels = start;
	o.stage = stage;
	o.stream = stream;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &r));
	memcpy(labels, r.labels, (size_t)(end - begin) * sizeof *labels);
	if (centres)
		memcpy(centres, r.centres, (size_t)(k * width) * sizeof *centres);
done:
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* One start is enough if it is time to stop. */
static bool starts_stopped(const kdr_context *ctx)
{
	return ctx->cancelled || ctx->timed_out;
}

/* --- mixtures ---------------------------------------------------------------------------------------------------------- */

kdr_status kdri_starts_new(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t k,
                           bool ward, bool few, uint64_t stream, kdri_starts *s)
{
	int64_t size;
	*s = (kdri_starts){ .n = end - begin };
	KDRI_DO(kdri_mul(ctx, STARTS, s->n, &size));
	KDRI_DO(KDRI_NEW(ctx, &s->labels, size));
	for (int i = 0; i < KDRI_ENCODINGS; i++)
		for (int seed = 0; seed < (few ? 1 : SEEDS) && (s->count == 0 || !starts_stopped(ctx));
		     seed++, s->count++)
			KDRI_DO(kdri_encoded_kmeans(ctx, e, i, begin, end, k, FEW_RUNS,
			                            stream * STARTS + (uint64_t)s->count, NULL,
			                            s->labels + s->count * s->n, NULL));
	if (ward && s->n <= WARD_ROWS && !starts_stopped(ctx)) {
		const int64_t width = e->encoder[KDRI_ENCODE_B].width;
		KDRI_DO(kdri_ward(ctx, e->rows[KDRI_ENCODE_B] + (begin - e->begin) * width, s->n, width, k,
		                  s->labels + s->count * s->n));
		s->count++;
	}
	return KDR_OK;
}

kdr_status kdri_starts_join(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t from,
                            const int64_t *labels, int64_t k, kdri_starts *s)
{
	const int64_t width = e->encoder[KDRI_ENCODE_B].width;
	*s = (kdri_starts){ .n = end - begin, .count = 1 };
	KDRI_DO(KDRI_NEW(ctx, &s->labels, s->n));
	memcpy(s->labels, labels, (size_t)s->n * sizeof *labels);
	return ward_join(ctx, e->rows[KDRI_ENCODE_B] + (begin - e->begin) * width, s->n, width, from, k,
	                 s->labels);
}

kdri_mixture_options kdri_mixture_options_of(int64_t k, bool shared)
{
	kdri_mixture_options o = kdri_mixture_defaults(k);
	o.shared = shared;
	o.stage = stage;
	return o;
}

kdr_status kdri_best_mixture(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                             const kdri_starts *s, kdri_mixture *out, int64_t *labels)
{
	kdr_status st = KDR_OK;
	kdri_mixture best = { 0 }, m = { 0 };
	int64_t *found = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &found, s->n));
	for (int64_t i = 0; i < s->count && (i == 0 || !starts_stopped(ctx)); i++) {
		KDRI_TRY(kdri_mixture_fit(ctx, d, o, s->labels + i * s->n, &m, found, NULL));
		if (i == 0 || m.loglik > best.loglik) {
			kdri_mixture_free(ctx, &best);
			best = m;
			m = (kdri_mixture){ 0 };
			memcpy(labels, found, (size_t)s->n * sizeof *labels);
		}
		kdri_mixture_free(ctx, &m);
	}
	*out = best;
	best = (kdri_mixture){ 0 };
done:
	kdri_mixture_free(ctx, &m);
	kdri_mixture_free(ctx, &best);
	kdri_free(ctx, found);
	return st;
}

kdr_status kdri_mixture_of(kdr_context *ctx, const kdri_mixed *m, int64_t k, bool few, kdri_pooled *out)
{
	kdr_status st;
	kdri_encoded e = { 0 };
	kdri_mixed_part part = { 0 };
	const kdri_mixture_options o = kdri_mixture_options_of(k, true);
	KDRI_TRY(KDRI_NEW(ctx, &out->labels, m->n));
	KDRI_TRY(kdri_encoded_new(ctx, m, true, 0, m->n, &e));
	KDRI_TRY(kdri_starts_new(ctx, &e, 0, m->n, k, false, few, 0, &out->starts));
	KDRI_TRY(kdri_mixed_pool_new(ctx, m, &part));
	KDRI_TRY(kdri_best_mixture(ctx, &part.data, &o, &out->starts, &out->mixture, out->labels));
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_encoded_free(ctx, &e);
	return st;
}

void kdri_pooled_free(kdr_context *ctx, kdri_pooled *p)
{
	KDRI_FREE(ctx, p->starts.labels, p->labels);
	kdri_mixture_free(ctx, &p->mixture);
	*p = (kdri_pooled){ 0 };
}

kdr_status kdri_mixture_continue(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                                 kdri_mixture *m, int64_t *labels)
{
	kdri_mixture after = { 0 };
	kdr_status st = kdri_mixture_refit(ctx, d, o, m, &after, labels, NULL);
	if (st != KDR_OK)
		return st;
	kdri_mixture_free(ctx, m);
	*m = after;
	return KDR_OK;
}

kdr_status kdri_mixed_find_centring(kdr_context *ctx, const kdri_mixed *m, int64_t k, bool *centred,
                                    kdri_pooled *found)
{
	enum { MOST_ROWS = 2000 }; /* of each table */
	kdr_status st;
	kdri_mixed some = { 0 };
	kdri_pooled with[2] = { 0 };
	double bic[2];
	*centred = true;
	if (m->tables < 2 || m->numbers == 0)
		return KDR_OK;
	KDRI_TRY(kdri_mixed_sample(ctx, m, -1, MOST_ROWS, &some));
	const int64_t n = some.n, clusters = KDRI_MIN(k, n);
	for (int i = 0; i < 2; i++) {
		some.centred = i;
		KDRI_TRY(kdri_mixture_of(ctx, &some, clusters, false, &with[i]));
		bic[i] = kdri_mixed_bic(&some, -1, clusters, with[i].mixture.loglik, n);
	}
	*centred = bic[1] < bic[0];
	if (found && n == m->n) {
		*found = with[*centred];
		with[*centred] = (kdri_pooled){ 0 };
	}
done:
	kdri_mixed_free(ctx, &some);
	kdri_pooled_free(ctx, &with[0]);
	kdri_pooled_free(ctx, &with[1]);
	return st;
}
