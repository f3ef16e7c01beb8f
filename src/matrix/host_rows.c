/* The table of operations on host memory: rows, k-means, neighbours. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. */
#include "comm/exact.h"
#include "matrix/host.h"

#include "matrix/linalg.h"
#include "matrix/select.h"

static kdr_context *context_of(kdri_device *d)
{
	return ((kdri_host *)d->self)->ctx;
}

/* --- row by row ------------------------------------------------------------------------------------------- */

static kdri_dstatus host_row_nth(kdri_device *d, kdri_dmat a, int64_t place, int64_t first, kdri_buf *out)
{
	kdr_status st;
	double *room = NULL;
	KDRI_HOST_ENTER(d, "row_nth");
	const double *p = kdri_host_view(d, "row_nth", a);
	double *o = kdri_host_vector(d, "row_nth", out, a.rows, sizeof *o);
	KDRI_HOST_NEED(p && o);
	KDRI_TRY(KDRI_NEW(context_of(d), &room, a.cols));
	for (int64_t i = 0; i < a.rows; i++) { /* (E11) */
		memcpy(room, p + i * a.stride, (size_t)a.cols * sizeof *room);
		if (first >= 0 && first + i < a.cols)
			room[first + i] = INFINITY;
		o[i] = kdri_nth(room, a.cols, place);
	}
done:
	kdri_free(context_of(d), room);
	return kdri_host_status(d, st);
}

static kdri_dstatus host_row_sums(kdri_device *d, kdri_dmat a, double weight, double beta, kdri_buf *out)
{
	KDRI_HOST_ENTER(d, "row_sums");
	const double *p = kdri_host_view(d, "row_sums", a);
	double *o = kdri_host_vector(d, "row_sums", out, a.rows, sizeof *o);
	KDRI_HOST_NEED(p && o);
	for (int64_t i = 0; i < a.rows; i++) /* (E12) */
		o[i] = (beta == 0 ? 0 : beta * o[i]) + weight * kdri_nrm2sq(p + i * a.stride, a.cols);
	return KDRI_D_OK;
}

static kdri_dstatus host_count_from(kdri_device *d, kdri_dmat a, double least, int64_t *out)
{
	KDRI_HOST_ENTER(d, "count_from");
	const double *p = kdri_host_view(d, "count_from", a);
	KDRI_HOST_NEED(p);
	*out = 0;
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++)
			*out += p[i * a.stride + j] >= least;
	return KDRI_D_OK;
}

static kdri_dstatus host_pick(kdri_device *d, kdri_dmat a, int64_t first, const kdri_buf *limit,
                              kdri_buf *starts, kdri_buf *col, kdri_buf *val)
{
	KDRI_HOST_ENTER(d, "pick");
	const double *p = kdri_host_view(d, "pick", a),
	             *most = kdri_host_vector(d, "pick", limit, a.rows, sizeof *most);
	int64_t *at = kdri_host_vector(d, "pick", starts, a.rows, sizeof *at);
	KDRI_HOST_NEED(p && most && at);
	int32_t *c = col ? kdri_host_vector(d, "pick", col, 0, sizeof *c) : NULL;
	double *v = col ? kdri_host_vector(d, "pick", val, 0, sizeof *v) : NULL;
	KDRI_HOST_NEED(!col || (c && v));
	for (int64_t i = 0; i < a.rows; i++) {
		int64_t count = 0;
		for (int64_t j = 0; j < a.cols; j++) {
			if (!(p[i * a.stride + j] < most[i]) || j == first + i) /* (E13) */
				continue;
			if (c) {
				c[at[i] + count] = (int32_t)j;
				v[at[i] + count] = p[i * a.stride + j];
			}
			count++;
		}
		if (!c)
			at[i] = count;
	}
	return KDRI_D_OK;
}

static kdri_dstatus host_column_dots(kdri_device *d, kdri_dmat a, kdri_dmat b, kdri_buf *out)
{
	KDRI_HOST_ENTER(d, "column_dots");
	const double *p = kdri_host_view(d, "column_dots", a), *q = kdri_host_view(d, "column_dots", b);
	double *o = kdri_host_vector(d, "column_dots", out, a.cols, sizeof *o);
	KDRI_HOST_NEED(p && q && o);
	memset(o, 0, (size_t)a.cols * sizeof *o);
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++)
			o[j] += p[i * a.stride + j] * q[i * b.stride + j];
	return KDRI_D_OK;
}

/* --- k-means ----------------------------------------------------------------------------------------------- */

/* Nothing is saved here by a rough look. What is kept is x itself, so that `nearest` can tell whether it is still the same. */
static kdri_dstatus host_rough(kdri_device *d, kdri_dmat x, const kdri_buf *mean, kdri_buf **out)
{
	KDRI_HOST_ENTER(d, "rough");
	const double *p = kdri_host_view(d, "rough", x),
	             *m = kdri_host_vector(d, "rough", mean, x.cols, sizeof *m);
	size_t row = (size_t)x.cols * sizeof *p;
	KDRI_HOST_NEED(p && m);
	*out = NULL;
	if (row * (size_t)x.rows > d->room(d) / 4)
		return KDRI_D_OK;
	kdri_dstatus ds = d->alloc(d, row * (size_t)x.rows, out);
	for (int64_t i = 0; ds == KDRI_D_OK && i < x.rows; i++)
		memcpy((*out)->data + (size_t)i * row, p + i * x.stride, row);
	return ds;
}

bool kdri_host_nearest_of(kdri_device *d, int64_t rows, int64_t k, const kdri_buf *offset,
                          const kdri_buf *twice, const kdri_buf *norm, double error_row, double error_base,
                          kdri_buf *label, kdri_buf *value, kdri_buf *doubt, kdri_host_near *out)
{
	*out = (kdri_host_near){
		.offset = kdri_host_vector(d, "nearest", offset, k, sizeof *out->offset),
		.twice = twice ? kdri_host_vector(d, "nearest", twice, rows, sizeof *out->twice) : NULL,
		.norm = kdri_host_vector(d, "nearest", norm, rows, sizeof *out->norm),
		.error_row = error_row,
		.error_base = error_base,
		.label = kdri_host_vector(d, "nearest", label, rows, sizeof *out->label),
		.value = value ? kdri_host_vector(d, "nearest", value, rows, sizeof *out->value) : NULL,
		.doubt = kdri_host_vector(d, "nearest", doubt, rows, sizeof *out->doubt)
	};
	return out->offset && out->norm && out->label && out->doubt && (!twice || out->twice) &&
	       (!value || out->value);
}

void kdri_host_nearest_row(kdri_host_near *to, int64_t i, int64_t k, const double *dots)
{
	double best = INFINITY, second = INFINITY;
	int32_t arg = 0;
	for (int64_t j = 0; j < k; j++) { /* (E17) */
		double v = to->offset[j] - (to->twice ? to->twice[i] : 2) * dots[j];
		if (v < best) {
			second = best;
			best = v;
			arg = (int32_t)j;
		} else if (v < second) {
			second = v;
		}
	}
	to->label[i] = arg;
	if (to->value)
		to->value[i] = best;
	if (!(second - best > 2.01 * (to->error_row * to->norm[i] + to->error_base)))
		to->doubt[to->doubts++] = (int32_t)i;
}

static kdri_dstatus host_nearest(kdri_device *d, kdri_dmat x, kdri_dmat c, const kdri_buf *rough,
                                 const kdri_buf *offset, const kdri_buf *twice, const kdri_buf *norm,
                                 double error_row, double error_base, kdri_buf *label, kdri_buf *value,
                                 kdri_buf *doubt, int64_t *doubts)
{
	KDRI_HOST_ENTER(d, "nearest");
	const double *p = kdri_host_view(d, "nearest", x), *q = kdri_host_view(d, "nearest", c);
	kdri_host *h = d->self;
	kdri_host_near to;
	double *dots = NULL;
	KDRI_HOST_NEED(p && q &&
	               kdri_host_nearest_of(d, x.rows, c.rows, offset, twice, norm, error_row, error_base,
	                                    label, value, doubt, &to));
	const double *kept =
	        rough ? kdri_host_vector(d, "nearest", rough, x.rows * x.cols, sizeof *kept) : NULL;
	KDRI_HOST_NEED(!rough || kept);
	for (int64_t i = 0; kept && i < x.rows; i++)
		if (memcmp(kept + i * x.cols, p + i * x.stride, (size_t)x.cols * sizeof *kept) != 0) {
			kdri_snprintf(d->error, sizeof d->error,
			              "nearest: the rough rows are those of other rows");
			return KDRI_D_FAILED;
		}
	kdr_status st = KDRI_NEW(h->ctx, &dots, c.rows);
	for (int64_t i = 0; st == KDR_OK && i < x.rows; i++) {
		for (int64_t j = 0; j < c.rows; j++)
			dots[j] = kdri_dot(p + i * x.stride, q + j * c.stride, x.cols);
		kdri_host_nearest_row(&to, i, c.rows, dots);
	}
	*doubts = to.doubts;
	kdri_free(h->ctx, dots);
	return kdri_host_status(d, st);
}

static kdri_dstatus host_order(kdri_device *d, const kdri_buf *label, kdri_buf *before, int64_t n, int64_t k,
                               bool all, kdri_buf *list, int64_t *begin)
{
	KDRI_HOST_ENTER(d, "order");
	const int32_t *to = kdri_host_vector(d, "order", label, n, sizeof *to);
	int32_t *from = kdri_host_vector(d, "order", before, n, sizeof *from);
	KDRI_HOST_NEED(to && from);
	memset(begin, 0, (size_t)(k + 1) * sizeof *begin);
	for (int64_t i = 0; i < n; i++)
		if (all || to[i] != from[i]) {
			begin[to[i] + 1]++;
			if (!all)
				begin[from[i] + 1]++;
		}
	for (int64_t j = 0; j < k; j++)
		begin[j + 1] += begin[j];
	int32_t *out = kdri_host_vector(d, "order", list, begin[k], sizeof *out);
	KDRI_HOST_NEED(out);
	for (int64_t i = 0; i < n; i++) { /* (E18) */
		if (!all && to[i] == from[i])
			continue;
		out[begin[to[i]]++] = (int32_t)(i + 1);
		if (!all)
			out[begin[from[i]]++] = (int32_t) - (i + 1);
		from[i] = to[i];
	}
	memmove(begin + 1, begin, (size_t)k * sizeof *begin);
	begin[0] = 0;
	return KDRI_D_OK;
}

static kdri_dstatus host_changed(kdri_device *d, const kdri_buf *label, const kdri_buf *before, int64_t n,
                                 int64_t k, int64_t *moved, int64_t *counts)
{
	KDRI_HOST_ENTER(d, "changed");
	const int32_t *a = kdri_host_vector(d, "changed", label, n, sizeof *a),
	              *b = kdri_host_vector(d, "changed", before, n, sizeof *b);
	KDRI_HOST_NEED(a && b);
	*moved = 0;
	memset(counts, 0, (size_t)k * sizeof *counts);
	for (int64_t i = 0; i < n; i++) {
		*moved += a[i] != b[i];
		counts[a[i]]++;
	}
	return KDRI_D_OK;
}

bool kdri_host_groups_of(kdri_device *d, const char *name, int64_t rows, int64_t cols, const kdri_buf *list,
                         const int64_t *begin, const kdri_buf *coef, const kdri_buf *unit, double ratio,
                         bool add, kdri_dmat sums, kdri_host_groups *out)
{
	*out = (kdri_host_groups){
		.list = kdri_host_vector(d, name, list, begin[sums.rows], sizeof *out->list),
		.coef = coef ? kdri_host_vector(d, name, coef, rows, sizeof *out->coef) : NULL,
		.unit = unit ? kdri_host_vector(d, name, unit, cols, sizeof *out->unit) : NULL,
		.ratio = ratio,
		.sums = kdri_host_view(d, name, sums),
		.stride = sums.stride,
		.cols = cols
	};
	if (!out->list || !out->sums || (coef && !out->coef) || (unit && !out->unit))
		return false;
	if (sums.cols != (unit ? 2 : 1) * cols)
		return kdri_host_misfit(d, name) == KDRI_D_OK;
	for (int64_t j = 0; j < sums.rows && !add; j++)
		memset(out->sums + j * sums.stride, 0, (size_t)sums.cols * sizeof *out->sums);
	return true;
}

int64_t kdri_host_listed(const kdri_host_groups *g, int64_t at, double *weight)
{
	const int64_t entry = g->list[at], row = (entry < 0 ? -entry : entry) - 1;
	*weight = (g->coef ? g->coef[row] : 1) * (entry < 0 ? -1 : 1);
	return row;
}

void kdri_host_add(const kdri_host_groups *g, int64_t j, int64_t f, double term)
{
	double *high = g->sums + j * g->stride + f, *low = high + g->cols;
	if (!g->unit) {
		*high += term;
		return;
	}
	kdri_exact sum = { *high, *low };
	kdri_exact_add(&sum, g->unit[f], g->unit[f] * g->ratio, term);
	*high = sum.high;
	*low = sum.low;
}

static kdri_dstatus host_sums(kdri_device *d, kdri_dmat x, const kdri_buf *list, const int64_t *begin,
                              const kdri_buf *coef, const kdri_buf *unit, double ratio, bool add,
                              kdri_dmat sums)
{
	kdri_host_groups g;
	KDRI_HOST_ENTER(d, "sums");
	const double *p = kdri_host_view(d, "sums", x);
	KDRI_HOST_NEED(p && kdri_host_groups_of(d, "sums", x.rows, x.cols, list, begin, coef, unit, ratio,
	                                        add, sums, &g));
	for (int64_t j = 0; j < sums.rows; j++)
		for (int64_t at = begin[j]; at < begin[j + 1]; at++) { /* (E19) */
			double w;
			int64_t i = kdri_host_listed(&g, at, &w);
			for (int64_t f = 0; f < x.cols; f++)
				kdri_host_add(&g, j, f, w * p[i * x.stride + f]);
		}
	return KDRI_D_OK;
}

static kdri_dstatus host_join(kdri_device *d, kdri_dmat sums, kdri_dmat to)
{
	KDRI_HOST_ENTER(d, "join");
	const double *s = kdri_host_view(d, "join", sums);
	double *t = kdri_host_view(d, "join", to);
	KDRI_HOST_NEED(s && t && sums.rows == to.rows && sums.cols == 2 * to.cols);
	for (int64_t j = 0; j < to.rows; j++)
		for (int64_t f = 0; f < to.cols; f++) /* (E23) */
			t[j * to.stride + f] = s[j * sums.stride + f] + s[j * sums.stride + to.cols + f];
	return KDRI_D_OK;
}

static kdri_dstatus host_own(kdri_device *d, kdri_dmat a, const kdri_buf *label, kdri_buf *out)
{
	KDRI_HOST_ENTER(d, "own");
	const double *p = kdri_host_view(d, "own", a);
	const int32_t *l = kdri_host_vector(d, "own", label, a.cols, sizeof *l);
	double *o = kdri_host_vector(d, "own", out, a.cols, sizeof *o);
	KDRI_HOST_NEED(p && l && o);
	for (int64_t i = 0; i < a.cols; i++) /* (E21) */
		o[i] = p[l[i] * a.stride + i];
	return KDRI_D_OK;
}

static kdri_dstatus host_closest(kdri_device *d, kdri_dmat a, const kdri_buf *diagonal, const kdri_buf *sizes,
                                 const kdri_buf *self, kdri_buf *next, kdri_buf *away)
{
	KDRI_HOST_ENTER(d, "closest");
	const double *p = kdri_host_view(d, "closest", a),
	             *k = kdri_host_vector(d, "closest", diagonal, a.cols, sizeof *k),
	             *m = kdri_host_vector(d, "closest", sizes, a.rows, sizeof *m),
	             *t = kdri_host_vector(d, "closest", self, a.rows, sizeof *t);
	int32_t *to = kdri_host_vector(d, "closest", next, a.cols, sizeof *to);
	double *o = kdri_host_vector(d, "closest", away, a.cols, sizeof *o);
	KDRI_HOST_NEED(p && k && m && t && to && o);
	for (int64_t i = 0; i < a.cols; i++) {
		double least = INFINITY;
		to[i] = 0;
		for (int64_t j = 0; j < a.rows; j++) { /* (E22) */
			double v = m[j] > 0 ? k[i] - 2 * p[j * a.stride + i] / m[j] + t[j] / (m[j] * m[j])
			                    : INFINITY;
			if (v < least) {
				least = v;
				to[i] = (int32_t)j;
			}
		}
		o[i] = KDRI_MAX(least, 0);
	}
	return KDRI_D_OK;
}

/* --- neighbours -------------------------------------------------------------------------------------------- */

bool kdri_host_lists_of(kdri_device *d, const kdri_nn *nn, int64_t rows, int64_t others, kdri_host_lists *out)
{
	int64_t all = KDRI_MAX(nn->first + rows, nn->from + others);
	*out = (kdri_host_lists){
		.nn = nn,
		.factor = kdri_host_vector(d, "neighbours", nn->factor, all, sizeof *out->factor),
		.shift = nn->shift ? kdri_host_vector(d, "neighbours", nn->shift, all, sizeof *out->shift)
		                   : NULL,
		.index = kdri_host_vector(d, "neighbours", nn->index, rows * nn->k, sizeof *out->index),
		.best = kdri_host_vector(d, "neighbours", nn->best, rows * nn->k, sizeof *out->best)
	};
	if (!out->factor || !out->index || !out->best || (nn->shift && !out->shift))
		return false;
	for (int64_t q = 0; q < rows * nn->k && nn->fresh; q++) {
		out->best[q] = -INFINITY;
		out->index[q] = -1;
	}
	return true;
}

void kdri_host_meet(const kdri_host_lists *to, int64_t r, int64_t q, double p)
{
	const kdri_nn *nn = to->nn;
	const double *f = to->factor, *g = to->shift;
	double *best = to->best + r * nn->k, s;
	int32_t *index = to->index + r * nn->k;
	int64_t own = nn->first + r, j = nn->from + q, at = nn->k - 1;
	if (j == own)
		return;
	if (nn->score == KDRI_NN_COSINE)
		s = p * f[j] * f[own];
	else if (nn->score == KDRI_NN_SHIFTED && g)
		s = (p - g[j] - (g[own] - nn->square)) * f[j] * f[own];
	else
		s = p - f[j];
	s = (s + nn->magic) - nn->magic;
	if (!(s > best[at])) /* (E20) */
		return;
	for (; at > 0 && best[at - 1] < s; at--) {
		best[at] = best[at - 1];
		index[at] = index[at - 1];
	}
	best[at] = s;
	index[at] = (int32_t)j;
}

static kdri_dstatus host_neighbours(kdri_device *d, kdri_dmat rows, kdri_dmat x, const kdri_nn *nn)
{
	kdri_host_lists to;
	KDRI_HOST_ENTER(d, "neighbours");
	const double *a = kdri_host_view(d, "neighbours", rows), *b = kdri_host_view(d, "neighbours", x);
	KDRI_HOST_NEED(a && b && kdri_host_lists_of(d, nn, rows.rows, x.rows, &to));
	for (int64_t r = 0; r < rows.rows; r++)
		for (int64_t q = 0; q < x.rows; q++)
			kdri_host_meet(&to, r, q, kdri_dot(a + r * rows.stride, b + q * x.stride, x.cols));
	return KDRI_D_OK;
}

void kdri_host_rows(kdri_device *d)
{
	d->row_nth = host_row_nth;
	d->row_sums = host_row_sums;
	d->count_from = host_count_from;
	d->pick = host_pick;
	d->column_dots = host_column_dots;
	d->rough = host_rough;
	d->nearest = host_nearest;
	d->join = host_join;
	d->own = host_own;
	d->closest = host_closest;
	d->order = host_order;
	d->changed = host_changed;
	d->sums = host_sums;
	d->neighbours = host_neighbours;
}
