/* The symmetric graph of neighbour lists. SPDX-License-Identifier: BSD-3-Clause
 *
 * Row i of W merges two sorted lists: the neighbours of i, and the rows that have i as a neighbour. The cost is
 * linear in the number of edges, apart from sorting each list of k, and small compared with finding them. */
#include "engine/graph/knn.h"

typedef struct edge {
	int32_t to;
	double weight;
} edge;

static bool is_edge(const kdri_knn *knn, const double *weight, int64_t p)
{
	return knn->index[p] >= 0 && weight[p] > 0;
}

/* i's own edges in increasing order; returns how many. */
static int64_t own_edges(const kdri_knn *knn, const double *weight, int64_t i, edge *list)
{
	int64_t count = 0;
	for (int64_t p = i * knn->k; p < (i + 1) * knn->k; p++) {
		int64_t at = count;
		if (!is_edge(knn, weight, p))
			continue;
		for (; at > 0 && list[at - 1].to > knn->index[p]; at--)
			list[at] = list[at - 1];
		list[at] = (edge){ knn->index[p], weight[p] };
		count++;
	}
	return count;
}

/* Merges a and b, both increasing, the larger weight where both have an edge; returns how many. With `col`
 * NULL it only counts. */
static int64_t merge(const edge *a, int64_t na, const edge *b, int64_t nb, int32_t *col, double *val)
{
	int64_t count = 0, p = 0, q = 0;
	for (; p < na || q < nb; count++) {
		bool from_a = p < na && (q >= nb || a[p].to <= b[q].to);
		bool from_b = q < nb && (p >= na || b[q].to <= a[p].to);
		if (col) {
			col[count] = from_a ? a[p].to : b[q].to;
			val[count] = KDRI_MAX(from_a ? a[p].weight : 0, from_b ? b[q].weight : 0);
		}
		p += from_a;
		q += from_b;
	}
	return count;
}

kdr_status kdri_knn_graph(kdr_context *ctx, const kdri_knn *knn, const double *weight, kdri_own *out)
{
	kdr_status st;
	int64_t n = knn->rows, size = n * knn->k, *start = NULL, *rowptr = NULL;
	edge *back = NULL, *list = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &start, n + 2));
	KDRI_TRY(KDRI_NEW(ctx, &back, size));
	KDRI_TRY(KDRI_NEW(ctx, &list, knn->k));
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	/* Edges by their end, those with the same end in increasing order of their beginning: a counting sort. During
	 * the sort, start[j + 1] is the position of the next edge to j. */
	for (int64_t p = 0; p < size; p++)
		if (is_edge(knn, weight, p))
			start[knn->index[p] + 2]++;
	for (int64_t i = 0; i < n; i++)
		start[i + 2] += start[i + 1];
	for (int64_t p = 0; p < size; p++)
		if (is_edge(knn, weight, p))
			back[start[knn->index[p] + 1]++] = (edge){ (int32_t)(p / knn->k), weight[p] };
	rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++)
		rowptr[i + 1] = rowptr[i] + merge(list, own_edges(knn, weight, i, list), back + start[i],
		                                  start[i + 1] - start[i], NULL, NULL);
	KDRI_TRY(KDRI_NEW(ctx, &col, rowptr[n]));
	KDRI_TRY(KDRI_NEW(ctx, &val, rowptr[n]));
	for (int64_t i = 0; i < n; i++)
		merge(list, own_edges(knn, weight, i, list), back + start[i], start[i + 1] - start[i],
		      col + rowptr[i], val + rowptr[i]);
	*out = kdri_own_csr(n, n, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, start, back, list, rowptr, col, val);
	return st;
}
