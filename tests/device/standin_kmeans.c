/* A device without an accelerator: k-means and neighbours, by plain loops. SPDX-License-Identifier: BSD-3-Clause */
#include "comm/exact.h"
#include "tests/device/standin.h"

static kdri_entries row_of(const kdri_drows *x, int64_t i)
{
	kdr_mat m = { .kind = x->sparse ? KDR_MAT_CSR : KDR_MAT_DENSE };
	if (x->sparse)
		m.as.csr = x->csr.x;
	else
		m.as.dense = (kdr_dense){ x->dense.data, x->dense.rows, x->dense.cols, x->dense.stride };
	return kdri_row_entries(&m, i);
}

static int64_t cols_of(const kdri_drows *x)
{
	return x->sparse ? x->csr.x.cols : x->dense.cols;
}

/* --- k-means ---------------------------------------------------------------------------------------------------- */

/* Nothing is saved here by a rough look. What is kept is x itself, so that `nearest` can tell whether it is still the same. */
static kdr_status standin_rough(kdr_context *ctx, kdri_block x, const double *mean, void **out)
{
	kdri_device *d = x.dev;
	size_t row = (size_t)x.cols * sizeof(double);
	STANDIN_BEGIN(d, "rough", &x);
	*out = NULL;
	if (!isfinite(mean[0]) || row * (size_t)x.rows > d->room(d) / 4)
		return KDR_OK;
	STANDIN_TRY(d->alloc(ctx, d, row * (size_t)x.rows, out));
	return kdri_cpu.put(ctx, &kdri_cpu, standin_vector(d, "rough", *out, x.rows, row), row, x.data,
	                    (size_t)x.stride * sizeof(double), row, (size_t)x.rows);
}

/* Vectors of the device become the host's. */
static kdr_status nearest_vectors(kdri_device *d, int64_t rows, int64_t k, kdri_nearest *n)
{
	n->offset = standin_vector(d, "nearest", n->offset, k, sizeof(double));
	n->norm = standin_vector(d, "nearest", n->norm, rows, sizeof(double));
	n->label = standin_vector(d, "nearest", n->label, rows, sizeof(int32_t));
	n->doubt = standin_vector(d, "nearest", n->doubt, rows, sizeof(int32_t));
	bool sound = n->offset && n->norm && n->label && n->doubt;
	if (n->twice)
		sound = (n->twice = standin_vector(d, "nearest", n->twice, rows, sizeof(double))) && sound;
	if (n->value)
		sound = (n->value = standin_vector(d, "nearest", n->value, rows, sizeof(double))) && sound;
	return sound ? KDR_OK : KDR_ERR_INTERNAL;
}

static void nearest_row(kdri_nearest *n, int64_t i, int64_t k, const double *dots)
{
	double best = INFINITY, second = INFINITY;
	int32_t arg = 0;
	for (int64_t j = 0; j < k; j++) {
		double v = n->offset[j] - (n->twice ? n->twice[i] : 2) * dots[j];
		if (v < best) {
			second = best;
			best = v;
			arg = (int32_t)j;
		} else if (v < second) {
			second = v;
		}
	}
	n->label[i] = arg;
	if (n->value)
		n->value[i] = best;
	if (!(second - best > 2.01 * (n->error_row * n->norm[i] + n->error_base)))
		n->doubt[n->doubts++] = (int32_t)i;
}

/* Whether the rough rows are those of x. */
static kdr_status check_rough(kdri_device *d, const kdri_drows *x, const void *rough)
{
	int64_t cols = cols_of(x);
	const double *kept = rough ? standin_vector(d, "nearest", rough, x->rows * cols, sizeof *kept) : NULL;
	if (rough && !kept)
		return KDR_ERR_INTERNAL;
	for (int64_t i = 0; kept && i < x->rows; i++)
		if (memcmp(kept + i * cols, (const double *)x->dense.data + i * x->dense.stride,
		           (size_t)cols * sizeof *kept) != 0) {
			kdri_snprintf(d->error, sizeof d->error,
			              "nearest: the rough rows are those of other rows");
			return KDR_ERR_INTERNAL;
		}
	return KDR_OK;
}

static kdr_status standin_nearest(kdr_context *ctx, kdri_drows x, kdri_nearest *out)
{
	kdri_nearest n = *out;
	kdri_device *d = n.centres.dev;
	int64_t k = x.sparse ? n.centres.cols : n.centres.rows, d_of = cols_of(&x);
	double *dots = NULL;
	STANDIN_BEGIN(d, "nearest", &n.centres);
	STANDIN_TRY(standin_rows(d, "nearest", &x));
	STANDIN_TRY(nearest_vectors(d, x.rows, k, &n));
	STANDIN_TRY(check_rough(d, &x, n.rough));
	if ((x.sparse ? n.centres.rows : n.centres.cols) != d_of)
		return standin_misfit(d, "nearest");
	STANDIN_TRY(standin_status(ctx, d, KDRI_NEW(ctx, &dots, k)));
	n.doubts = 0;
	const double *c = n.centres.data;
	for (int64_t i = 0; i < x.rows; i++) {
		const kdri_entries row = row_of(&x, i);
		memset(dots, 0, (size_t)k * sizeof *dots);
		for (int64_t p = 0; p < row.count; p++) {
			int64_t f = kdri_entry_column(&row, p);
			for (int64_t j = 0; j < k; j++)
				dots[j] += row.val[p] *
				           c[x.sparse ? f * n.centres.stride + j : j * n.centres.stride + f];
		}
		nearest_row(&n, i, k, dots);
	}
	out->doubts = n.doubts;
	kdri_free(ctx, dots);
	return KDR_OK;
}

static kdr_status standin_order(kdr_context *ctx, kdri_device *d, const int32_t *label, int32_t *before,
                                int64_t n, int64_t k, bool all, int32_t *list, int64_t *begin)
{
	(void)ctx;
	STANDIN_TRY(standin_enter(d, "order"));
	const int32_t *to = standin_vector(d, "order", label, n, sizeof *to);
	int32_t *from = standin_vector(d, "order", before, n, sizeof *from);
	if (!to || !from)
		return KDR_ERR_INTERNAL;
	memset(begin, 0, (size_t)(k + 1) * sizeof *begin);
	for (int64_t i = 0; i < n; i++)
		if (all || to[i] != from[i]) {
			begin[to[i] + 1]++;
			if (!all)
				begin[from[i] + 1]++;
		}
	for (int64_t j = 0; j < k; j++)
		begin[j + 1] += begin[j];
	int32_t *out = standin_vector(d, "order", list, begin[k], sizeof *out);
	if (!out)
		return KDR_ERR_INTERNAL;
	for (int64_t i = 0; i < n; i++) {
		if (!all && to[i] == from[i])
			continue;
		out[begin[to[i]]++] = (int32_t)(i + 1);
		if (!all)
			out[begin[from[i]]++] = (int32_t) - (i + 1);
		from[i] = to[i];
	}
	memmove(begin + 1, begin, (size_t)k * sizeof *begin);
	begin[0] = 0;
	return KDR_OK;
}

static kdr_status standin_changed(kdr_context *ctx, kdri_device *d, const int32_t *label,
                                  const int32_t *before, int64_t n, int64_t k, int64_t *moved,
                                  int64_t *counts)
{
	(void)ctx;
	STANDIN_TRY(standin_enter(d, "changed"));
	const int32_t *a = standin_vector(d, "changed", label, n, sizeof *a),
	              *b = standin_vector(d, "changed", before, n, sizeof *b);
	if (!a || !b)
		return KDR_ERR_INTERNAL;
	*moved = 0;
	memset(counts, 0, (size_t)k * sizeof *counts);
	for (int64_t i = 0; i < n; i++) {
		*moved += a[i] != b[i];
		counts[a[i]]++;
	}
	return KDR_OK;
}

static kdr_status standin_sums(kdr_context *ctx, kdri_drows x, const int32_t *list, const int64_t *begin,
                               const double *coef, const double *unit, double ratio, bool add,
                               kdri_block sums)
{
	kdri_device *d = sums.dev;
	int64_t cols = cols_of(&x);
	(void)ctx;
	STANDIN_BEGIN(d, "sums", &sums);
	STANDIN_TRY(standin_rows(d, "sums", &x));
	if (sums.cols != 2 * cols)
		return standin_misfit(d, "sums");
	list = standin_vector(d, "sums", list, begin[sums.rows], sizeof *list);
	unit = standin_vector(d, "sums", unit, cols, sizeof *unit);
	const double *factor = coef ? standin_vector(d, "sums", coef, x.rows, sizeof *coef) : NULL;
	if (!list || !unit || (coef && !factor))
		return KDR_ERR_INTERNAL;
	for (int64_t j = 0; j < sums.rows; j++) {
		double *high = (double *)sums.data + j * sums.stride, *low = high + cols;
		if (!add)
			memset(high, 0, (size_t)sums.cols * sizeof *high);
		for (int64_t at = begin[j]; at < begin[j + 1]; at++) {
			const int64_t entry = list[at], i = (entry < 0 ? -entry : entry) - 1;
			const double w = (factor ? factor[i] : 1) * (entry < 0 ? -1 : 1);
			const kdri_entries row = row_of(&x, i);
			for (int64_t p = 0; p < row.count; p++) {
				int64_t f = kdri_entry_column(&row, p);
				kdri_exact sum = { high[f], low[f] };
				kdri_exact_add(&sum, unit[f], unit[f] * ratio, w * row.val[p]);
				high[f] = sum.high;
				low[f] = sum.low;
			}
		}
	}
	return KDR_OK;
}

static kdr_status standin_join(kdr_context *ctx, kdri_block sums, kdri_block to)
{
	kdri_device *d = sums.dev;
	(void)ctx;
	STANDIN_BEGIN(d, "join", &sums, &to);
	if (sums.rows != to.rows || sums.cols != 2 * to.cols)
		return standin_misfit(d, "join");
	for (int64_t j = 0; j < to.rows; j++)
		for (int64_t f = 0; f < to.cols; f++) {
			const double *s = (const double *)sums.data + j * sums.stride;
			((double *)to.data)[j * to.stride + f] = s[f] + s[to.cols + f];
		}
	return KDR_OK;
}

/* --- neighbours ------------------------------------------------------------------------------------------------------ */

/* Row r of those that ask meets row q of the others, with which its product is p. */
static void meet(const kdri_nn *nn, int64_t r, int64_t q, double p)
{
	double *best = nn->best + r * nn->k, s;
	int32_t *index = nn->index + r * nn->k;
	int64_t at = nn->k - 1;
	if (nn->from + q == nn->myself + r)
		return;
	if (nn->score == KDRI_NN_COSINE)
		s = p * nn->factor[q] * nn->own_factor[r];
	else if (nn->score == KDRI_NN_SHIFTED)
		s = (p - nn->shift[q] - (nn->own_shift[r] - nn->square)) * nn->factor[q] * nn->own_factor[r];
	else
		s = p - nn->factor[q];
	s = (s + nn->magic) - nn->magic;
	if (!(s > best[at]))
		return;
	for (; at > 0 && best[at - 1] < s; at--) {
		best[at] = best[at - 1];
		index[at] = index[at - 1];
	}
	best[at] = s;
	index[at] = (int32_t)(nn->from + q);
}

static kdr_status standin_neighbours(kdr_context *ctx, kdri_drows rows, kdri_drows others, const kdri_nn *nn)
{
	kdri_device *d = rows.sparse ? rows.csr.dev : rows.dense.dev;
	int64_t cols = cols_of(&rows);
	double *wide = NULL;
	STANDIN_TRY(standin_enter(d, "neighbours"));
	STANDIN_TRY(standin_rows(d, "neighbours", &rows));
	STANDIN_TRY(standin_rows(d, "neighbours", &others));
	if (cols != cols_of(&others) || nn->k > KDRI_NN_MOST || (others.sparse && !others.csr.turned.rowptr))
		return standin_misfit(d, "neighbours");
	for (int64_t p = 0; p < rows.rows * nn->k && nn->fresh; p++) {
		nn->best[p] = -INFINITY;
		nn->index[p] = -1;
	}
	STANDIN_TRY(standin_status(ctx, d, KDRI_NEW(ctx, &wide, cols)));
	for (int64_t r = 0; r < rows.rows; r++) {
		kdri_entries row = row_of(&rows, r);
		memset(wide, 0, (size_t)cols * sizeof *wide);
		for (int64_t p = 0; p < row.count; p++)
			wide[kdri_entry_column(&row, p)] = row.val[p];
		for (int64_t q = 0; q < others.rows; q++) {
			double sum = 0;
			row = row_of(&others, q);
			for (int64_t p = 0; p < row.count; p++) /* what only one has adds a zero */
				sum += wide[kdri_entry_column(&row, p)] * row.val[p];
			meet(nn, r, q, sum);
		}
	}
	kdri_free(ctx, wide);
	return KDR_OK;
}

void standin_kmeans(kdri_device *d)
{
	d->rough = standin_rough;
	d->nearest = standin_nearest;
	d->order = standin_order;
	d->changed = standin_changed;
	d->sums = standin_sums;
	d->join = standin_join;
	d->neighbours = standin_neighbours;
}
