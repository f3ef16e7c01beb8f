/* Leading eigenvectors of a normalised graph. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  S = D^-1/2 W D^-1/2,  D = diag(W 1)
 *
 * The eigenvalues of S are the union of those of its connected components. Each component with edges has
 * the eigenvalue 1 once, with a vector that needs no search,
 *
 *   (E2)  v_i = sqrt(d_i / vol)  on the component, vol its sum of degrees,
 *
 * and lies in [-1, 1) otherwise. So the 1s come first, the largest volume before the others, and only the remaining
 * ones of the k are searched for, in each component separately, on
 *
 *   (E3)  S - 3 v v',
 *
 * where v's eigenvalue is -2, below all others. The search uses blocks (matrix/ritz.c) wider than the number of
 * values needed, so that all copies of a multiple eigenvalue are found. In large sparse components its steps are
 * preconditioned with the levels of the graph. It ends when the residuals are a small part of the gap
 * after the last value needed: more digits would not change the rows from which clusters are made. */
/* The normalised Laplacian of a graph, for the eigensolver.
 *
 *   (E4)  S = D^-1/2 W D^-1/2;  the operator is -S, or 3 v v' - S with v = D^1/2 1 / |D^1/2 1| set aside
 *   (E5)  T = D^1/2 M^+ D^1/2 ~ (I - S)^-1,  M = D - W, by one cycle over the levels of the graph (matrix/levels.c)
 *
 * With v set aside, M is singular along 1: the component of x along v bypasses the cycle, T v = v. It must be kept;
 * otherwise the eigensolver could never correct the components of its vectors along v. */
#include "engine/graph/spectrum.h"
#include "matrix/ritz.h"

/* Below this size the plain method is faster than building several levels. */
enum { LEVELS_FROM = 500 };

void kdri_laplacian_free(kdr_context *ctx, kdri_laplacian *l)
{
	KDRI_FREE(ctx, l->root, l->room);
	kdri_levels_free(ctx, l->levels);
	*l = (kdri_laplacian){ 0 };
}

kdr_status kdri_laplacian_new(kdr_context *ctx, const kdr_mat *w, const double *degree, bool aside,
                              int64_t count, kdri_laplacian *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(w), size;
	kdri_laplacian l = { .w = w, .width = kdri_ritz_block(n, count) };
	KDRI_TRY(KDRI_NEW(ctx, &l.root, n));
	KDRI_TRY(kdri_mul(ctx, n, l.width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &l.room, size));
	for (int64_t i = 0; i < n; i++) {
		l.root[i] = sqrt(degree[i]);
		l.volume += aside ? degree[i] : 0;
	}
	if (w->kind == KDR_MAT_CSR && n >= LEVELS_FROM)
		KDRI_TRY(kdri_levels_new(ctx, &w->as.csr, degree, l.width, &l.levels));
	*out = l;
	l = (kdri_laplacian){ 0 };
done:
	kdri_laplacian_free(ctx, &l);
	return st;
}

/* along[j] = v' x_j / |D^1/2 1|, in chunks that depend on n alone. */
static kdr_status parts_along(kdr_context *ctx, const kdri_laplacian *l, const double *x, int64_t k,
                              int64_t ldx, double *along)
{
	return kdri_gemm(ctx, true, false, 1, k, kdr_mat_rows(l->w), 1 / l->volume, l->root, 1, x, ldx, 0,
	                 along, k);
}

/* Both have a kdri_laplacian as their data. Y = -D^-1/2 W D^-1/2 X, whose lowest eigenvectors are searched; and an
 * approximate inverse after adding I, which is available if `levels` is not NULL. */
static kdr_status laplacian_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                  int64_t ldx, double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_laplacian *l = op->data;
	int64_t n = op->rows, size;
	double *scaled = NULL, *along = NULL;
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &scaled, size));
	KDRI_TRY(KDRI_NEW0(ctx, &along, k));
	if (l->volume > 0)
		KDRI_TRY(parts_along(ctx, l, x, k, ldx, along));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			scaled[i * k + j] = x[i * ldx + j] / l->root[i];
	KDRI_TRY(kdri_mat_mul(ctx, l->w, scaled, k, k, y, ldy));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++) /* (E4) */
			y[i * ldy + j] = 3 * along[j] * l->root[i] - y[i * ldy + j] / l->root[i];
done:
	KDRI_FREE(ctx, scaled, along);
	return st;
}

kdr_status kdri_laplacian_solve(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_laplacian *l = op->data;
	int64_t n = op->rows;
	double *along = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &along, 2 * k));
	if (l->volume > 0)
		KDRI_TRY(parts_along(ctx, l, x, k, ldx, along));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			l->room[i * k + j] = l->root[i] * (x[i * ldx + j] - along[j] * l->root[i]);
	KDRI_TRY(kdri_levels_solve(ctx, l->levels, l->room, k, k, y, ldy));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] *= l->root[i]; /* (E5) */
	if (l->volume > 0)
		KDRI_TRY(parts_along(ctx, l, y, k, ldy, along + k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] += (along[j] - along[k + j]) * l->root[i];
done:
	kdri_free(ctx, along);
	return st;
}

/* Removes the component along the eigenvector that was set aside from the columns of x (n x k). */
static void laplacian_clear(const kdri_laplacian *l, int64_t k, double *x)
{
	int64_t n = kdr_mat_rows(l->w);
	for (int64_t j = 0; j < k && l->volume > 0; j++) {
		double along = 0;
		for (int64_t i = 0; i < n; i++)
			along += l->root[i] * x[i * k + j];
		for (int64_t i = 0; i < n; i++)
			x[i * k + j] -= along / l->volume * l->root[i];
	}
}

/* Residuals that suffice: relative to 1, and relative to the gap. */
static const double tolerance = 1e-8, gap_tolerance = 1e-4;

/* --- components ----------------------------------------------------------------------------------- */

kdr_status kdri_components(kdr_context *ctx, const kdr_mat *w, int64_t *part, int64_t *count)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(w), *queue = NULL, found = 0;
	KDRI_TRY(KDRI_NEW(ctx, &queue, n));
	for (int64_t i = 0; i < n; i++)
		part[i] = -1;
	for (int64_t first = 0; first < n; first++) {
		int64_t head = 0, tail = 0;
		if (part[first] >= 0)
			continue;
		queue[tail++] = first;
		part[first] = found;
		while (head < tail) {
			int64_t i = queue[head++];
			bool dense = w->kind == KDR_MAT_DENSE;
			int64_t begin = dense ? 0 : w->as.csr.rowptr[i];
			int64_t end = dense ? n : w->as.csr.rowptr[i + 1];
			const double *v = dense ? w->as.dense.data + i * w->as.dense.stride : w->as.csr.val;
			for (int64_t p = begin; p < end; p++) {
				int64_t j = dense ? p : w->as.csr.col[p];
				if (v[p] > 0 && part[j] < 0) {
					part[j] = found;
					queue[tail++] = j;
				}
			}
		}
		found++;
	}
	*count = found;
done:
	kdri_free(ctx, queue);
	return st;
}

/* A component with edges: its vertices and their submatrix. */
typedef struct component {
	int64_t first, size;      /* vertices: order[first] .. order[first + size - 1], increasing */
	double volume;            /* sum of degrees; 0: a vertex without edges */
	int64_t wanted, taken;    /* eigenpairs to search for, and how many of them were used */
	double *values, *vectors; /* wanted; size x wanted */
} component;

typedef struct pieces {
	int64_t n, count;
	double *degree;     /* n */
	int64_t *part;      /* n */
	int64_t *order;     /* n, vertices by component */
	int64_t *place;     /* n, place of a vertex within its component */
	component *list;    /* count */
	int64_t *by_volume; /* components with edges, largest volume first */
	int64_t edged;      /* how many those are */
} pieces;

static void pieces_free(kdr_context *ctx, pieces *p)
{
	for (int64_t c = 0; p->list && c < p->count; c++) {
		KDRI_FREE(ctx, p->list[c].values, p->list[c].vectors);
	}
	KDRI_FREE(ctx, p->degree, p->part, p->order, p->place, p->list, p->by_volume);
}

/* A heap sort of components by volume; components of equal volume are sorted by their number. */
static bool spectrum_before(const pieces *p, int64_t a, int64_t b)
{
	return p->list[a].volume > p->list[b].volume || (p->list[a].volume == p->list[b].volume && a < b);
}

static void spectrum_sift(const pieces *p, int64_t *heap, int64_t at, int64_t size)
{
	for (int64_t child; (child = 2 * at + 1) < size; at = child) {
		if (child + 1 < size && spectrum_before(p, heap[child], heap[child + 1]))
			child++;
		if (!spectrum_before(p, heap[at], heap[child]))
			return;
		int64_t t = heap[at];
		heap[at] = heap[child];
		heap[child] = t;
	}
}

static kdr_status pieces_new(kdr_context *ctx, const kdr_mat *w, pieces *out)
{
	kdr_status st;
	pieces p = { .n = kdr_mat_rows(w) };
	KDRI_TRY(KDRI_NEW(ctx, &p.degree, p.n));
	KDRI_TRY(KDRI_NEW(ctx, &p.part, p.n));
	KDRI_TRY(KDRI_NEW(ctx, &p.order, p.n));
	KDRI_TRY(KDRI_NEW(ctx, &p.place, p.n));
	KDRI_TRY(kdri_graph_degrees(ctx, w, p.degree));
	KDRI_TRY(kdri_components(ctx, w, p.part, &p.count));
	KDRI_TRY(KDRI_NEW0(ctx, &p.list, p.count));
	KDRI_TRY(KDRI_NEW(ctx, &p.by_volume, p.count));
	for (int64_t i = 0; i < p.n; i++)
		p.list[p.part[i]].size++;
	for (int64_t c = 1; c < p.count; c++)
		p.list[c].first = p.list[c - 1].first + p.list[c - 1].size;
	for (int64_t c = 0; c < p.count; c++)
		p.list[c].size = 0;
	for (int64_t i = 0; i < p.n; i++) {
		component *c = &p.list[p.part[i]];
		p.place[i] = c->size++;
		p.order[c->first + p.place[i]] = i;
		c->volume += p.degree[i];
	}
	for (int64_t c = 0; c < p.count; c++)
		if (p.list[c].volume > 0)
			p.by_volume[p.edged++] = c;
	for (int64_t at = p.edged / 2; at-- > 0;)
		spectrum_sift(&p, p.by_volume, at, p.edged);
	for (int64_t size = p.edged; size-- > 1;) {
		int64_t t = p.by_volume[0];
		p.by_volume[0] = p.by_volume[size];
		p.by_volume[size] = t;
		spectrum_sift(&p, p.by_volume, 0, size);
	}
	*out = p;
	p = (pieces){ 0 };
done:
	pieces_free(ctx, &p);
	return st;
}

/* All vertices in their order, with edges that count. */
static bool is_whole(const kdr_mat *w, const pieces *p, const component *c)
{
	if (w->kind != KDR_MAT_CSR || c->size < p->n)
		return false;
	for (int64_t q = w->as.csr.rowptr[0]; q < w->as.csr.rowptr[p->n]; q++)
		if (w->as.csr.val[q] <= 0)
			return false;
	return true;
}

/* W restricted to a component: no vertex outside it has an edge into it. */
static kdr_status submatrix(kdr_context *ctx, const kdr_mat *w, const pieces *p, const component *c,
                            kdri_own *out)
{
	kdr_status st;
	kdri_own rows = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	if (is_whole(w, p, c)) {
		*out = (kdri_own){ .view = *w };
		return KDR_OK;
	}
	KDRI_TRY(kdri_mat_take(ctx, w, p->order + c->first, c->size, &rows));
	if (rows.view.kind == KDR_MAT_CSR) {
		int64_t *rowptr = rows.parts[0], at = 0, q = 0;
		int32_t *col = rows.parts[1];
		double *val = rows.parts[2];
		for (int64_t i = 0; i < c->size; i++) {
			for (int64_t end = rowptr[i + 1]; q < end; q++) {
				double weight = val[q];
				if (weight <= 0) /* an entry of 0 may lead anywhere */
					continue;
				col[at] = (int32_t)p->place[col[q]];
				val[at++] = weight;
			}
			rowptr[i + 1] = at;
		}
		rows.view.as.csr.cols = c->size;
	} else {
		double *a = rows.parts[0];
		for (int64_t i = 0; i < c->size; i++)
			for (int64_t j = 0; j < c->size; j++)
				a[i * p->n + j] = a[i * p->n + p->order[c->first + j]];
		rows.view.as.dense.cols = c->size;
	}
	*out = rows;
	rows = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_own_free(ctx, &rows);
	return st;
}

/* --- one component ---------------------------------------------------------------------------------- */

/* The `wanted` largest eigenvalues below the component's own 1. */
static kdr_status search_component(kdr_context *ctx, const kdr_mat *w, const pieces *p, component *c)
{
	kdr_status st;
	kdri_own part = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_laplacian l = { 0 };
	double *degree = NULL;
	bool converged;
	KDRI_TRY(KDRI_NEW(ctx, &degree, c->size));
	KDRI_TRY(KDRI_NEW(ctx, &c->values, c->wanted));
	KDRI_TRY(KDRI_NEW(ctx, &c->vectors, c->size * c->wanted));
	KDRI_TRY(submatrix(ctx, w, p, c, &part));
	for (int64_t i = 0; i < c->size; i++)
		degree[i] = p->degree[p->order[c->first + i]];
	KDRI_TRY(kdri_laplacian_new(ctx, &part.view, degree, true, c->wanted, &l)); /* (E1), (E3) */
	const kdri_op op = { c->size, c->size, laplacian_apply, NULL, &l },
	              inverse = { c->size, c->size, kdri_laplacian_solve, NULL, &l };
	const kdri_ritz_options o = { .count = c->wanted,
		                      .tol = tolerance,
		                      .gap_tol = gap_tolerance,
		                      .precondition = l.levels ? &inverse : NULL };
	KDRI_TRY(kdri_ritz_lowest(ctx, &op, &o, c->values, c->vectors, &converged));
	if (!converged && (ctx->cancelled || ctx->timed_out))
		st = kdri_fail(ctx, KDR_ERR_NUMERIC, "eigenvalues: the computation was stopped");
	laplacian_clear(&l, c->wanted, c->vectors);
	for (int64_t j = 0; j < c->wanted; j++)
		c->values[j] = -c->values[j];
done:
	kdri_laplacian_free(ctx, &l);
	kdri_own_free(ctx, &part);
	kdri_free(ctx, degree);
	return st;
}

/* --- all of them --------------------------------------------------------------------------------------- */

/* The largest of what the components found, into columns from `column` on. */
static void take_largest(pieces *p, int64_t column, int64_t k, double *values, double *vectors)
{
	for (; column < k; column++) {
		component *best = NULL;
		for (int64_t e = 0; e < p->edged; e++) {
			component *c = &p->list[p->by_volume[e]];
			if (c->taken < c->wanted &&
			    (!best || c->values[c->taken] > best->values[best->taken]))
				best = c;
		}
		if (!best)
			return;
		int64_t j = best->taken++;
		values[column] = best->values[j];
		for (int64_t i = 0; i < best->size; i++)
			vectors[p->order[best->first + i] * k + column] = best->vectors[i * best->wanted + j];
	}
}

kdr_status kdri_spectrum_new(kdr_context *ctx, const kdr_mat *w, int64_t k, kdri_spectrum *out)
{
	kdr_status st;
	pieces p = { 0 };
	kdri_spectrum s = { 0 };
	int64_t n = kdr_mat_rows(w), size;
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &s.values, k));
	KDRI_TRY(KDRI_NEW0(ctx, &s.vectors, size));
	KDRI_TRY(pieces_new(ctx, w, &p));
	for (int64_t e = 0; e < KDRI_MIN(p.edged, k); e++) { /* (E2) */
		const component *c = &p.list[p.by_volume[e]];
		s.values[e] = 1;
		for (int64_t i = c->first; i < c->first + c->size; i++)
			s.vectors[p.order[i] * k + e] = sqrt(p.degree[p.order[i]] / c->volume);
	}
	for (int64_t e = 0; p.edged < k && e < p.edged; e++) {
		component *c = &p.list[p.by_volume[e]];
		c->wanted = KDRI_MIN(c->size - 1, k - p.edged);
		KDRI_TRY(search_component(ctx, w, &p, c));
	}
	take_largest(&p, p.edged, k, s.values, s.vectors);
	s.components = p.edged;
	s.isolated = p.count - p.edged;
	*out = s;
	s = (kdri_spectrum){ 0 };
done:
	kdri_spectrum_free(ctx, &s);
	pieces_free(ctx, &p);
	return st;
}

void kdri_spectrum_free(kdr_context *ctx, kdri_spectrum *s)
{
	if (!s)
		return;
	KDRI_FREE(ctx, s->values, s->vectors);
	*s = (kdri_spectrum){ 0 };
}

kdr_status kdri_graph_degrees(kdr_context *ctx, const kdr_mat *w, double *degree)
{
	double *ones = NULL;
	int64_t n = kdr_mat_cols(w);
	kdr_status st = KDRI_NEW(ctx, &ones, n);
	for (int64_t i = 0; st == KDR_OK && i < n; i++)
		ones[i] = 1;
	if (st == KDR_OK)
		st = kdri_mat_mul(ctx, w, ones, 1, 1, degree, 1);
	kdri_free(ctx, ones);
	return st;
}
