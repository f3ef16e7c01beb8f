/* Ward's hierarchical clustering. SPDX-License-Identifier: BSD-3-Clause
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
#include "engine/mixture/ward.h"

#include "matrix/linalg.h"

#include <stdlib.h>

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

kdr_status kdri_ward(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t k, int64_t *labels)
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

kdr_status kdri_ward_join(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t from, int64_t k,
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
