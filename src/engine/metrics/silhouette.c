/* Silhouettes: how much nearer a sample is to its own cluster than to the next one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * (E1) s_i = (b_i - a_i) / max(a_i, b_i); 0 if the sample is alone in its cluster, or a_i = b_i = 0
 * (E2) exact [Rousseeuw 1987]: a_i is the mean distance to the other samples of its cluster, b_i the
 *      smallest mean distance to the samples of another cluster
 * (E3) simplified: a_i is the distance to the centroid of its cluster, b_i that to the nearest centroid of
 *      another cluster
 * (E4) |x - r|^2 = |x|^2 + |r|^2 - 2 x'r
 *
 * Both are distances from all rows to a set of reference points: all the rows, or the centroids. The
 * references are taken in blocks of `width`, the rows in tiles, and the products x'r of a tile with a
 * block are one matrix product, 2 n d flops a reference. If (E4) cancels, that is, if the points are near each other
 * compared with their norms, the distance is computed from the differences instead. To make that rare, dense tiles
 * are centred as they are copied: 1/width of the work.
 *
 * Sparse rows are used without conversion. Against centroids they are multiplied by a dense block. Against each
 * other both sides are sparse: the products of a row with all rows are gathered from the columns in
 * which the row has entries, sum over those of the columns' lengths.
 *
 * Memory: a tile, a block, and their products; never n x n, nor dense n x d. Each sum is made by
 * one thread over the rows in order, so the values do not depend on how many threads there are. For (E3) rows may be held by
 * several ranks: centroids are those of all rows. */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

enum { PANEL = 16, MOST_WIDTH = 256, MOST_TILE_ROWS = 4096, BUFFER = 1 << 21 };

/* (E4) is off by about eps (|x|^2 + |r|^2), so above this share of it the root is good to 1e-13. */
static const double cancels_below = 0x1p-9;

typedef struct engine {
	kdr_context *ctx;
	const kdr_mat *x;
	bool sparse;
	int64_t n, d, k, all;       /* all: rows of all ranks */
	int64_t *code, *size, *own; /* clusters of the rows, and their sizes, of all rows and of those here */
	double *mean;               /* of the columns; dense only */
	double *norm;               /* squared, of the rows (centred if dense) */
	int64_t width, tile_rows;
	double *ref;      /* dense: width x d, centred; centroids of sparse rows: d x width */
	double *ref_norm; /* squared */
	double *tile;     /* dense: the centred rows */
	double *product;  /* products, then distances: tile_rows x width, sparse and exact: width x n */
	int64_t begin;    /* the rows and references at work */
	int64_t rows, first, count;
	bool refs_are_rows; /* references are the rows first .. first + count - 1 */
	double *sum;      /* distances of the references to the clusters (E2); k x width, sparse: width x k */
	kdri_own columns; /* sparse and exact: the transpose */
	double *a, *b;
	int64_t *next; /* (E3): the cluster whose centroid b_i is the distance to; NULL: not wanted */
} engine;

/* --- distances from differences ------------------------------------------------------------- */

KDRI_KERNEL
static double dense_gap(const double *a, const double *b, int64_t n)
{
	double lane[8] = { 0 };
	int64_t i = 0;
	for (; i + 8 <= n; i += 8)
#pragma omp simd
		for (int l = 0; l < 8; l++)
			lane[l] += (a[i + l] - b[i + l]) * (a[i + l] - b[i + l]);
	for (; i < n; i++)
		lane[i & 7] += (a[i] - b[i]) * (a[i] - b[i]);
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static double sparse_gap(const kdr_csr *x, int64_t i, int64_t j)
{
	double sum = 0;
	int64_t p = x->rowptr[i], q = x->rowptr[j];
	while (p < x->rowptr[i + 1] || q < x->rowptr[j + 1]) {
		int32_t cp = p < x->rowptr[i + 1] ? x->col[p] : INT32_MAX;
		int32_t cq = q < x->rowptr[j + 1] ? x->col[q] : INT32_MAX;
		double gap = 0;
		if (cp <= cq)
			gap += x->val[p++];
		if (cq <= cp)
			gap -= x->val[q++];
		sum += gap * gap;
	}
	return sum;
}

/* Between a sparse row and column `c` of the references. */
static double mixed_gap(const kdr_csr *x, int64_t i, const double *ref, int64_t width, int64_t c)
{
	double sum = 0;
	int64_t p = x->rowptr[i];
	for (int64_t t = 0; t < x->cols; t++) {
		double gap = -ref[t * width + c];
		if (p < x->rowptr[i + 1] && x->col[p] == t)
			gap += x->val[p++];
		sum += gap * gap;
	}
	return sum;
}

static double direct_distance(const engine *e, int64_t tile_row, int64_t c)
{
	int64_t i = e->begin + tile_row, r = e->first + c;
	if (e->sparse)
		return sqrt(mixed_gap(&e->x->as.csr, i, e->ref, e->width, c));
	const kdr_dense *x = &e->x->as.dense;
	if (e->refs_are_rows)
		return sqrt(dense_gap(x->data + i * x->stride, x->data + r * x->stride, e->d));
	return sqrt(dense_gap(e->tile + tile_row * e->d, e->ref + c * e->d, e->d));
}

/* --- distances of a tile -------------------------------------------------------------------- */

/* Products to distances by (E4) in one row; those that cancel become -1 and are counted. */
KDRI_KERNEL
static int64_t expand(double *product, int64_t count, double norm, const double *ref_norm)
{
	int64_t cancelled = 0;
#pragma omp simd reduction(+ : cancelled)
	for (int64_t c = 0; c < count; c++) {
		double size = norm + ref_norm[c], square = size - 2 * product[c];
		bool good = square >= cancels_below * size;
		product[c] = good ? sqrt(square) : -1;
		cancelled += !good;
	}
	return cancelled;
}

/* Replaces the products by the distances of a tile's rows row0 .. row1 - 1 to references c0 .. c1 - 1. */
static void finish_distances(const engine *e, int64_t row0, int64_t row1, int64_t c0, int64_t c1)
{
	for (int64_t i = row0; i < row1; i++) {
		double *p = e->product + i * e->width;
		if (expand(p + c0, c1 - c0, e->norm[e->begin + i], e->ref_norm + c0) == 0)
			continue;
		for (int64_t c = c0; c < c1; c++)
			if (p[c] < 0)
				p[c] = direct_distance(e, i, c);
	}
}

static void centre_row(const engine *e, int64_t row, double *out)
{
	const double *from = e->x->as.dense.data + row * e->x->as.dense.stride;
	for (int64_t t = 0; t < e->d; t++)
		out[t] = from[t] - e->mean[t];
}

/* Products of the rows begin .. begin + rows - 1 with the references at work. */
static kdr_status multiply_tile(engine *e, int64_t begin, int64_t rows)
{
	e->begin = begin;
	e->rows = rows;
	if (e->sparse) {
		const kdr_csr *x = &e->x->as.csr;
		kdr_mat part = kdr_mat_from_csr(rows, e->d, x->rowptr + begin, x->col, x->val);
		return kdri_mat_mul(e->ctx, &part, e->ref, e->count, e->width, e->product, e->width);
	}
#pragma omp parallel for num_threads(kdri_team(e->ctx)) if (rows * e->d > 1 << 14)
	for (int64_t i = 0; i < rows; i++)
		centre_row(e, begin + i, e->tile + i * e->d);
	return kdri_gemm(e->ctx, false, true, rows, e->count, e->d, 1, e->tile, e->d, e->ref, e->d, 0,
	                 e->product, e->width);
}

/* --- exact (E2) ----------------------------------------------------------------------------- */

static void sum_panel(const engine *e, int64_t c0, int64_t c1)
{
	finish_distances(e, 0, e->rows, c0, c1);
	for (int64_t i = 0; i < e->rows; i++) {
		const double *from = e->product + i * e->width;
		double *to = e->sum + e->code[e->begin + i] * e->width;
		for (int64_t c = c0; c < c1; c++)
			to[c] += from[c];
	}
}

/* a and b of row i, from its sums over the clusters, `step` apart. */
static void means_of(engine *e, int64_t i, const double *sum, int64_t step)
{
	for (int64_t j = 0; j < e->k; j++) {
		if (j == e->code[i])
			e->a[i] = e->size[j] > 1 ? sum[j * step] / (double)(e->size[j] - 1) : 0;
		else
			e->b[i] = fmin(e->b[i], sum[j * step] / (double)e->size[j]);
	}
}

static kdr_status exact_dense(engine *e)
{
	e->refs_are_rows = true;
	for (e->first = 0; e->first < e->n; e->first += e->width) {
		e->count = KDRI_MIN(e->width, e->n - e->first);
		for (int64_t c = 0; c < e->count; c++) {
			e->ref_norm[c] = e->norm[e->first + c];
			centre_row(e, e->first + c, e->ref + c * e->d);
		}
		memset(e->sum, 0, (size_t)(e->k * e->width) * sizeof *e->sum);
		for (int64_t begin = 0; begin < e->n; begin += e->tile_rows) {
			KDRI_DO(multiply_tile(e, begin, KDRI_MIN(e->tile_rows, e->n - begin)));
#pragma omp parallel for num_threads(kdri_team(e->ctx)) schedule(dynamic) if (e->rows * e->count > 1 << 12)
			for (int64_t c = 0; c < e->count; c += PANEL)
				sum_panel(e, c, KDRI_MIN(e->count, c + PANEL));
		}
		for (int64_t c = 0; c < e->count; c++)
			means_of(e, e->first + c, e->sum + c, e->width);
	}
	return KDR_OK;
}

/* Row i against all rows, with `product` (n) and `sum` (k) to work in. */
static void exact_sparse_row(engine *e, int64_t i, double *product, double *sum)
{
	const kdr_csr *x = &e->x->as.csr, *columns = &e->columns.view.as.csr;
	memset(product, 0, (size_t)e->n * sizeof *product);
	for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
		for (int64_t q = columns->rowptr[x->col[p]]; q < columns->rowptr[x->col[p] + 1]; q++)
			product[columns->col[q]] += x->val[p] * columns->val[q];
	if (expand(product, e->n, e->norm[i], e->norm) > 0)
		for (int64_t j = 0; j < e->n; j++)
			if (product[j] < 0)
				product[j] = sqrt(sparse_gap(x, i, j));
	memset(sum, 0, (size_t)e->k * sizeof *sum);
	for (int64_t j = 0; j < e->n; j++)
		sum[e->code[j]] += product[j];
	means_of(e, i, sum, 1);
}

static void exact_sparse(engine *e)
{
	for (int64_t first = 0; first < e->n; first += e->width) {
		int64_t count = KDRI_MIN(e->width, e->n - first);
#pragma omp parallel for num_threads(kdri_team(e->ctx)) schedule(dynamic)
		for (int64_t c = 0; c < count; c++)
			if (!kdri_leave_off(e->ctx, "silhouettes", first + c, e->n) || !e->ctx->abandon)
				exact_sparse_row(e, first + c, e->product + c * e->n, e->sum + c * e->k);
	}
}

/* --- simplified (E3) ------------------------------------------------------------------------ */

/* The sum of the rows of cluster first + c that are here, `member`, into zeros. */
static void load_centroid(engine *e, int64_t c, const int64_t *member)
{
	int64_t step = e->sparse ? e->width : 1;
	double *ref = e->sparse ? e->ref + c : e->ref + c * e->d;
	for (int64_t m = 0; m < e->own[e->first + c]; m++) {
		if (e->sparse) {
			const kdr_csr *x = &e->x->as.csr;
			for (int64_t p = x->rowptr[member[m]]; p < x->rowptr[member[m] + 1]; p++)
				ref[x->col[p] * step] += x->val[p];
		} else {
			const double *from = e->x->as.dense.data + member[m] * e->x->as.dense.stride;
			for (int64_t t = 0; t < e->d; t++)
				ref[t] += from[t] - e->mean[t];
		}
	}
}

static void nearest_centroids(const engine *e, int64_t i)
{
	finish_distances(e, i, i + 1, 0, e->count);
	int64_t row = e->begin + i;
	for (int64_t c = 0; c < e->count; c++) {
		double distance = e->product[i * e->width + c];
		if (e->first + c == e->code[row]) {
			e->a[row] = distance;
		} else if (distance < e->b[row]) {
			e->b[row] = distance;
			if (e->next)
				e->next[row] = e->first + c;
		}
	}
}

static kdr_status simplified(engine *e)
{
	kdr_status st;
	int64_t *start = NULL, *member = NULL;
	KDRI_TRY(KDRI_NEW0(e->ctx, &start, e->k + 2));
	KDRI_TRY(KDRI_NEW(e->ctx, &member, e->n));
	for (int64_t j = 0; j < e->k; j++)
		start[j + 2] = start[j + 1] + e->own[j];
	for (int64_t i = 0; i < e->n; i++)
		member[start[e->code[i] + 1]++] = i;
	e->refs_are_rows = false;
	for (e->first = 0; e->first < e->k; e->first += e->width) {
		e->count = KDRI_MIN(e->width, e->k - e->first);
		memset(e->ref, 0, (size_t)(e->width * e->d) * sizeof *e->ref);
#pragma omp parallel for num_threads(kdri_team(e->ctx)) schedule(dynamic) if (e->n * e->d > 1 << 14)
		for (int64_t c = 0; c < e->count; c++)
			load_centroid(e, c, member + start[e->first + c]);
		KDRI_TRY(kdri_sum(e->ctx, e->ref, e->width * e->d));
		for (int64_t c = 0; c < e->count; c++) {
			/* Sums become centroids. */
			int64_t step = e->sparse ? e->width : 1;
			double *ref = e->sparse ? e->ref + c : e->ref + c * e->d, norm = 0;
			for (int64_t t = 0; t < e->d; t++) {
				ref[t * step] /= (double)e->size[e->first + c];
				norm += ref[t * step] * ref[t * step];
			}
			e->ref_norm[c] = norm;
		}
		for (int64_t begin = 0; begin < e->n; begin += e->tile_rows) {
			KDRI_TRY(multiply_tile(e, begin, KDRI_MIN(e->tile_rows, e->n - begin)));
#pragma omp parallel for num_threads(kdri_team(e->ctx)) if (e->rows * e->count > 1 << 12)
			for (int64_t i = 0; i < e->rows; i++)
				nearest_centroids(e, i);
		}
	}
done:
	KDRI_FREE(e->ctx, start, member);
	return st;
}

/* --- all steps ------------------------------------------------------------------------------ */

/* The number of lines of a buffer with `per` numbers per line: about BUFFER numbers, and a multiple of PANEL. */
static int64_t lines_for(int64_t per, int64_t most, int64_t needed)
{
	int64_t lines = KDRI_MIN(most, BUFFER / KDRI_MAX(per, 1));
	lines = KDRI_MIN(lines, needed + PANEL - 1) / PANEL * PANEL;
	return KDRI_MAX(lines, PANEL);
}

static kdr_status buffer(engine *e, double **out, int64_t a, int64_t b)
{
	int64_t size;
	kdr_status st = kdri_mul(e->ctx, a, b, &size);
	return st == KDR_OK ? KDRI_NEW(e->ctx, out, size) : st;
}

static kdr_status prepare_dense(engine *e)
{
	const kdr_dense *x = &e->x->as.dense;
	KDRI_DO(buffer(e, &e->tile, e->tile_rows, e->d));
	KDRI_DO(buffer(e, &e->mean, 1, e->d));
	KDRI_DO(kdri_mat_col_sums(e->ctx, e->x, e->mean));
	KDRI_DO(kdri_sum(e->ctx, e->mean, e->d));
	for (int64_t t = 0; t < e->d; t++)
		e->mean[t] /= (double)e->all;
#pragma omp parallel for num_threads(kdri_team(e->ctx)) if (e->n * e->d > 1 << 14)
	for (int64_t i = 0; i < e->n; i++)
		e->norm[i] = dense_gap(x->data + i * x->stride, e->mean, e->d);
	return KDR_OK;
}

static kdr_status silhouette_prepare(engine *e, bool all_pairs)
{
	bool pairs_of_sparse = all_pairs && e->sparse;
	int64_t per = pairs_of_sparse ? e->n : e->d;
	e->width = lines_for(all_pairs ? KDRI_MAX(per, e->k) : per, MOST_WIDTH, all_pairs ? e->n : e->k);
	/* Few centroids are little work per row: larger tiles, so that threads wait for each other less often. */
	e->tile_rows = lines_for(e->sparse ? e->width : KDRI_MAX(e->d, e->width),
	                         all_pairs ? MOST_TILE_ROWS : 8 * MOST_TILE_ROWS, e->n);
	KDRI_DO(buffer(e, &e->norm, 1, e->n));
	KDRI_DO(buffer(e, &e->a, 1, e->n));
	KDRI_DO(buffer(e, &e->b, 1, e->n));
	for (int64_t i = 0; i < e->n; i++) {
		e->a[i] = 0;
		e->b[i] = INFINITY;
	}
	KDRI_DO(buffer(e, &e->product, pairs_of_sparse ? e->n : e->tile_rows, e->width));
	if (all_pairs)
		KDRI_DO(buffer(e, &e->sum, e->k, e->width));
	if (pairs_of_sparse) {
		KDRI_DO(kdri_mat_transpose(e->ctx, e->x, &e->columns));
	} else {
		KDRI_DO(buffer(e, &e->ref, e->width, e->d));
		KDRI_DO(buffer(e, &e->ref_norm, 1, e->width));
	}
	return e->sparse ? kdri_mat_row_norms(e->ctx, e->x, e->norm) : prepare_dense(e);
}

static kdr_status silhouette_of_sample(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                       kdr_silhouette_kind kind, double *values, double *mean, int64_t *next)
{
	kdr_status st;
	engine e = { .ctx = ctx, .x = x, .next = next };
	int64_t *names = NULL;
	if (!x || !labels || (kind != KDR_SILHOUETTE_EXACT && kind != KDR_SILHOUETTE_SIMPLIFIED))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "silhouette: an argument is NULL or has an unknown kind");
	e.sparse = x->kind == KDR_MAT_CSR;
	e.n = kdr_mat_rows(x);
	e.d = kdr_mat_cols(x);
	KDRI_TRY(KDRI_NEW(ctx, &e.code, KDRI_MAX(e.n, 0)));
	KDRI_TRY(kdri_part(ctx, e.n, NULL, &e.all));
	KDRI_TRY(kdri_labels_compact_all(ctx, labels, e.n, e.code, &names, &e.k));
	if (e.k < 2)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "silhouette: there is only 1 cluster; at least 2 are needed");
	KDRI_TRY(kdri_mat_check_finite(ctx, x, "silhouette"));
	KDRI_TRY(KDRI_NEW(ctx, &e.size, e.k));
	KDRI_TRY(KDRI_NEW0(ctx, &e.own, e.k));
	for (int64_t i = 0; i < e.n; i++)
		e.own[e.code[i]]++;
	memcpy(e.size, e.own, (size_t)e.k * sizeof *e.size);
	KDRI_TRY(kdri_sum_int(ctx, e.size, e.k));
	KDRI_TRY(silhouette_prepare(&e, kind == KDR_SILHOUETTE_EXACT));
	for (int64_t i = 0; next && i < e.n; i++)
		next[i] = -1;
	bool alone = e.k == e.all; /* each sample in a cluster of its own: all values are 0 */
	if (!alone && kind == KDR_SILHOUETTE_SIMPLIFIED)
		KDRI_TRY(simplified(&e));
	else if (!alone && e.sparse)
		exact_sparse(&e);
	else if (!alone)
		KDRI_TRY(exact_dense(&e));
	KDRI_TRY(kdri_abandoned(ctx));
	kdri_neumaier sum = { 0 };
	for (int64_t i = 0; i < e.n; i++) { /* (E1) */
		double larger = KDRI_MAX(e.a[i], e.b[i]);
		double s = e.size[e.code[i]] > 1 && larger > 0 ? (e.b[i] - e.a[i]) / larger : 0;
		if (values)
			values[i] = s;
		kdri_neumaier_add(&sum, s);
	}
	double total = kdri_neumaier_value(&sum);
	KDRI_TRY(kdri_sum(ctx, &total, 1));
	if (mean)
		*mean = total / (double)e.all;
	for (int64_t i = 0; next && i < e.n; i++)
		next[i] = next[i] < 0 ? -1 : names[next[i]];
done:
	kdri_free(ctx, names);
	KDRI_FREE(e.ctx, e.code, e.size, e.own, e.mean, e.norm, e.ref, e.ref_norm, e.tile, e.product, e.sum);
	kdri_own_free(e.ctx, &e.columns);
	KDRI_FREE(e.ctx, e.a, e.b);
	return st;
}

kdr_status kdri_silhouette(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                           kdr_silhouette_kind kind, double *values, double *mean)
{
	return silhouette_of_sample(ctx, x, labels, kind, values, mean, NULL);
}

kdr_status kdri_silhouette_next(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, double *values,
                                int64_t *next)
{
	return silhouette_of_sample(ctx, x, labels, KDR_SILHOUETTE_SIMPLIFIED, values, NULL, next);
}
