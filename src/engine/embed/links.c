/* The pairs of samples that attract each other in a layout. SPDX-License-Identifier: BSD-3-Clause
 *
 * Within a task: nearest neighbours, as the ensemble finds them (engine/graph/views.c). Between tasks t and u: samples
 * that choose each other, in the space of the leading directions z that rows less their task's mean share,
 *
 *   (E1)  i of t and j of u are anchors if j is among the CHOSEN samples of u nearest to i, and i among those of t
 *         nearest to j
 *
 * [L. Haghverdi et al.: Batch effects in single-cell RNA-sequencing data are corrected by matching mutual nearest
 * neighbors, Nature Biotechnology 36, 2018]. Samples without a counterpart in the other task are not chosen and stay
 * free. In a large task, only LANDMARKS evenly spaced samples can be anchors: this suffices to align it, at O(n)
 * cost. */
#include "engine/embed/embed.h"

enum { LANDMARKS = 1500, CHOSEN = 5 };

kdr_status kdri_embed_graph(kdr_context *ctx, const kdri_views_task *task, kdri_own *out)
{
	kdr_status st;
	const kdri_knn *found = &task->knn;
	int64_t n = found->rows, k = found->k, size = n * k, lost = 0;
	double *weight = NULL;
	int64_t *without = NULL;
	kdri_knn knn = { .rows = n, .k = k };
	KDRI_TRY(KDRI_NEW(ctx, &weight, size));
	KDRI_TRY(KDRI_NEW(ctx, &knn.index, size));
	KDRI_TRY(KDRI_NEW(ctx, &without, n));
	for (int64_t i = 0; i < n; i++) {
		bool any = false;
		for (int64_t p = i * k; p < (i + 1) * k; p++) {
			knn.index[p] = found->index[p];
			/* a cosine of 0 is that of samples without direction, or without a common feature */
			weight[p] = !task->cosine || found->value[p] != 0;
			any |= weight[p] > 0 && found->index[p] >= 0;
		}
		if (!any)
			without[lost++] = i;
	}
	for (int64_t a = 0; a < lost; a++)
		for (int64_t p = 0; p < k; p++) {
			int64_t at = without[a] * k + p;
			knn.index[at] = p + 1 < lost ? (int32_t)without[(a + p + 1) % lost] : -1;
			weight[at] = 1;
		}
	KDRI_TRY(kdri_knn_graph(ctx, &knn, weight, out));
done:
	KDRI_FREE(ctx, weight, knn.index, without);
	return st;
}

/* --- anchors ------------------------------------------------------------------------------------------ */

typedef struct nearest {
	int32_t index;
	double distance;
} nearest;

typedef struct side {
	int64_t begin, n, count; /* rows of the task; landmarks */
	nearest *best;           /* count x CHOSEN, of the other side's landmarks */
	int64_t held;            /* of CHOSEN */
} side;

static int64_t landmark(const side *s, int64_t i)
{
	return s->begin + (int64_t)((double)i * (double)s->n / (double)s->count);
}

/* The CHOSEN nearest landmarks of `to`, for each of `from`. */
static void links_choose(kdr_context *ctx, const double *z, int64_t width, const side *to, side *from)
{
	from->held = KDRI_MIN(CHOSEN, to->count);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (from->count > KDRI_BLOCK)
	for (int64_t i = 0; i < from->count; i++) {
		const double *row = z + landmark(from, i) * width;
		nearest *best = from->best + i * CHOSEN;
		int64_t held = 0;
		for (int64_t j = 0; j < to->count; j++) {
			const double *other = z + landmark(to, j) * width;
			double d = 0;
			for (int64_t c = 0; c < width; c++)
				d += (row[c] - other[c]) * (row[c] - other[c]);
			if (held == from->held && d >= best[held - 1].distance)
				continue;
			int64_t at = held < from->held ? held++ : held - 1;
			for (; at > 0 && best[at - 1].distance > d; at--)
				best[at] = best[at - 1];
			best[at] = (nearest){ (int32_t)j, d };
		}
	}
}

static bool has_chosen(const side *s, int64_t i, int64_t j)
{
	for (int64_t c = 0; c < s->held; c++)
		if (s->best[i * CHOSEN + c].index == j)
			return true;
	return false;
}

typedef struct pair {
	int32_t a, b;
} pair;

/* (E1) */
static int64_t mutual(const side *a, const side *b, pair *pairs)
{
	int64_t count = 0;
	for (int64_t i = 0; i < a->count; i++)
		for (int64_t c = 0; c < a->held; c++) {
			int64_t j = a->best[i * CHOSEN + c].index;
			if (has_chosen(b, j, i))
				pairs[count++] = (pair){ (int32_t)landmark(a, i), (int32_t)landmark(b, j) };
		}
	return count;
}

/* Both directions of all pairs, as rows; a row's entries in the order of pairs. */
static kdr_status to_rows(kdr_context *ctx, int64_t n, const pair *pairs, int64_t count, kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL;
	int32_t *col = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, 2 * count));
	for (int64_t p = 0; p < count; p++) {
		rowptr[pairs[p].a]++;
		rowptr[pairs[p].b]++;
	}
	for (int64_t i = 0, sum = 0; i <= n; i++) {
		int64_t own = rowptr[i];
		rowptr[i] = sum;
		sum += own;
	}
	for (int64_t p = 0; p < count; p++) {
		col[rowptr[pairs[p].a]++] = pairs[p].b;
		col[rowptr[pairs[p].b]++] = pairs[p].a;
	}
	memmove(rowptr + 1, rowptr, (size_t)n * sizeof *rowptr);
	rowptr[0] = 0;
	*out = (kdri_own){ kdr_mat_from_csr(n, n, rowptr, col, NULL), { rowptr, col } };
	rowptr = NULL;
	col = NULL;
done:
	KDRI_FREE(ctx, rowptr, col);
	return st;
}

kdr_status kdri_embed_anchors(kdr_context *ctx, const kdri_views *v, const double *shared, int64_t width,
                              kdri_own *out)
{
	kdr_status st = KDR_OK;
	side a = { 0 }, b = { 0 };
	pair *pairs = NULL;
	int64_t count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &a.best, LANDMARKS * CHOSEN));
	KDRI_TRY(KDRI_NEW(ctx, &b.best, LANDMARKS * CHOSEN));
	for (int64_t t = 0; t < v->ntasks; t++)
		for (int64_t u = t + 1; u < v->ntasks; u++) {
			a.begin = v->begin[t];
			b.begin = v->begin[u];
			a.n = v->begin[t + 1] - a.begin;
			b.n = v->begin[u + 1] - b.begin;
			a.count = KDRI_MIN(a.n, LANDMARKS);
			b.count = KDRI_MIN(b.n, LANDMARKS);
			KDRI_TRY(KDRI_GROW(ctx, &pairs, count + a.count * CHOSEN));
			links_choose(ctx, shared, width, &b, &a);
			links_choose(ctx, shared, width, &a, &b);
			count += mutual(&a, &b, pairs + count);
			if (kdri_iteration(ctx, "anchors", t + 1, v->ntasks, NAN))
				goto enough;
		}
enough:
	KDRI_TRY(to_rows(ctx, v->begin[v->ntasks], pairs, count, out));
done:
	KDRI_FREE(ctx, a.best, b.best, pairs);
	return st;
}
