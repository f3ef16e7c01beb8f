/* Leading eigenvectors of a normalised graph. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  S = D^-1/2 W D^-1/2,  D = diag(W 1)
 *
 * The eigenvalues of S are the union of those of its connected components. Each component with edges has
 * the eigenvalue 1 once, with a vector that needs no search,
 *
 *   (E2)  v_i = sqrt(d_i / vol)  on the component, vol its sum of degrees,
 *
 * and lies in [-1, 1) otherwise. So the 1s come first, the largest volume before the others, and only
 * what is left of k is searched for, in each component by itself, on
 *
 *   (E3)  S - 2 v v',
 *
 * where v's eigenvalue is -1, below all others that matter. Lanczos from one vector may miss copies of a
 * multiple eigenvalue, which is what a graph in several equal pieces has; between components that
 * cannot happen here. Within one, a last search on
 *
 *   (E4)  S - 2 v v' - sum_j (lambda_j + 1) u_j u_j'
 *
 * for one eigenvalue above the least found shows a copy that was missed, until there is none. */
#include "engine/graph/similarity.h"
#include "engine/graph/spectral.h"

/* Pairs of components this small come from LAPACK (kdri_eigsh), exact multiplicities included. */
enum { EXACT_BELOW = 128 };
static const double tolerance = 1e-8;

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
		kdri_free(ctx, p->list[c].values);
		kdri_free(ctx, p->list[c].vectors);
	}
	kdri_free(ctx, p->degree);
	kdri_free(ctx, p->part);
	kdri_free(ctx, p->order);
	kdri_free(ctx, p->place);
	kdri_free(ctx, p->list);
	kdri_free(ctx, p->by_volume);
}

/* A heap sort of components by volume; equal ones by their number. */
static bool before(const pieces *p, int64_t a, int64_t b)
{
	return p->list[a].volume > p->list[b].volume || (p->list[a].volume == p->list[b].volume && a < b);
}

static void sift(const pieces *p, int64_t *heap, int64_t at, int64_t size)
{
	for (int64_t child; (child = 2 * at + 1) < size; at = child) {
		if (child + 1 < size && before(p, heap[child], heap[child + 1]))
			child++;
		if (!before(p, heap[at], heap[child]))
			return;
		int64_t t = heap[at];
		heap[at] = heap[child];
		heap[child] = t;
	}
}

static void sort_by_volume(pieces *p)
{
	for (int64_t c = 0; c < p->count; c++)
		if (p->list[c].volume > 0)
			p->by_volume[p->edged++] = c;
	for (int64_t at = p->edged / 2; at-- > 0;)
		sift(p, p->by_volume, at, p->edged);
	for (int64_t size = p->edged; size-- > 1;) {
		int64_t t = p->by_volume[0];
		p->by_volume[0] = p->by_volume[size];
		p->by_volume[size] = t;
		sift(p, p->by_volume, 0, size);
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
	sort_by_volume(&p);
	*out = p;
	p = (pieces){ 0 };
done:
	pieces_free(ctx, &p);
	return st;
}

/* S restricted to a component: no vertex outside it has an edge into it. */
static kdr_status submatrix(kdr_context *ctx, const kdr_mat *w, const pieces *p, const component *c,
                            kdri_own *out)
{
	kdr_status st;
	kdri_own rows = { .view = kdr_mat_from_dense(NULL, 0, 0) };
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
				int64_t from = p->order[c->first + i], to = col[q];
				col[at] = (int32_t)p->place[to];
				val[at++] = weight / sqrt(p->degree[from]) / sqrt(p->degree[to]); /* (E1) */
			}
			rowptr[i + 1] = at;
		}
		rows.view.as.csr.cols = c->size;
	} else {
		double *a = rows.parts[0];
		for (int64_t i = 0; i < c->size; i++)
			for (int64_t j = 0; j < c->size; j++) {
				int64_t from = p->order[c->first + i], to = p->order[c->first + j];
				a[i * p->n + j] =
				        a[i * p->n + to] / sqrt(p->degree[from]) / sqrt(p->degree[to]);
			}
		rows.view.as.dense.cols = c->size;
	}
	*out = rows;
	rows = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_own_free(ctx, &rows);
	return st;
}

/* --- one component ---------------------------------------------------------------------------------- */

/* S less what is known of it, (E3) and (E4): A = S - sum_j shift_j q_j q_j'. */
typedef struct deflated {
	const kdr_mat *s;
	int64_t count, stride;
	const double *q; /* n x count */
	const double *shift;
} deflated;

static kdr_status deflated_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                 double *y, int64_t ldy)
{
	kdr_status st;
	const deflated *a = op->data;
	double *inner = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &inner, a->count * k));
	KDRI_TRY(kdri_mat_mul(ctx, a->s, x, k, ldx, y, ldy));
	KDRI_TRY(kdri_gemm(ctx, true, false, a->count, k, op->rows, 1, a->q, a->stride, x, ldx, 0, inner, k));
	for (int64_t j = 0; j < a->count; j++)
		for (int64_t c = 0; c < k; c++)
			inner[j * k + c] *= a->shift[j];
	KDRI_TRY(kdri_gemm(ctx, false, false, op->rows, k, a->count, -1, a->q, a->stride, inner, k, 1, y,
	                   ldy));
done:
	kdri_free(ctx, inner);
	return st;
}

/* Puts a pair into the descending list of `count`, whose last one drops out. */
static void put_pair(int64_t n, int64_t count, double *values, double *vectors, double value,
                     const double *vector)
{
	int64_t at = count - 1;
	for (; at > 0 && values[at - 1] < value; at--)
		values[at] = values[at - 1];
	values[at] = value;
	for (int64_t i = 0; i < n; i++) {
		double *row = vectors + i * count;
		memmove(row + at + 1, row + at, (size_t)(count - 1 - at) * sizeof *row);
		row[at] = vector[i];
	}
}

/* Searches for copies of eigenvalues that Lanczos missed (E4). `known` has room for v and all vectors. */
static kdr_status find_missed(kdr_context *ctx, const kdr_mat *s, int64_t count, double *known, double *shift,
                              double *values, double *vectors)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(s), width = count + 1;
	double *vector = NULL;
	/* Another start: all of the old one's part in an eigenspace is in the vector found there. */
	const uint64_t seed = ctx->seed;
	KDRI_TRY(KDRI_NEW(ctx, &vector, n));
	for (int64_t tries = 0; tries < count; tries++) {
		double value;
		for (int64_t i = 0; i < n; i++)
			memcpy(known + i * width + 1, vectors + i * count, (size_t)count * sizeof *known);
		for (int64_t j = 0; j < count; j++)
			shift[j + 1] = values[j] + 1;
		const deflated a = { s, width, width, known, shift };
		const kdri_op op = { n, n, deflated_apply, NULL, &a };
		ctx->seed = seed + 1 + (uint64_t)tries;
		KDRI_TRY(kdri_eigsh(ctx, &op, 1, KDRI_LARGEST, 1e-6, &value, vector));
		if (value <= values[count - 1] + 1e-6)
			break;
		KDRI_TRY(kdri_eigsh(ctx, &op, 1, KDRI_LARGEST, tolerance, &value, vector));
		put_pair(n, count, values, vectors, value, vector);
	}
done:
	ctx->seed = seed;
	kdri_free(ctx, vector);
	return st;
}

/* The `wanted` largest eigenvalues below the component's own 1. */
static kdr_status search_component(kdr_context *ctx, const kdr_mat *w, const pieces *p, component *c)
{
	kdr_status st;
	kdri_own s = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	double *known = NULL, *shift = NULL;
	int64_t width = c->wanted + 1, size;
	KDRI_TRY(kdri_mul(ctx, c->size, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &known, size));
	KDRI_TRY(KDRI_NEW(ctx, &shift, width));
	KDRI_TRY(KDRI_NEW(ctx, &c->values, c->wanted));
	KDRI_TRY(KDRI_NEW(ctx, &c->vectors, c->size * c->wanted));
	KDRI_TRY(submatrix(ctx, w, p, c, &s));
	for (int64_t i = 0; i < c->size; i++) /* (E2) */
		known[i * width] = sqrt(p->degree[p->order[c->first + i]] / c->volume);
	shift[0] = 2;
	const deflated a = { &s.view, 1, width, known, shift }; /* (E3) */
	const kdri_op op = { c->size, c->size, deflated_apply, NULL, &a };
	KDRI_TRY(kdri_eigsh(ctx, &op, c->wanted, KDRI_LARGEST, tolerance, c->values, c->vectors));
	if (c->size > EXACT_BELOW && 2 * c->wanted + 1 < c->size)
		KDRI_TRY(find_missed(ctx, &s.view, c->wanted, known, shift, c->values, c->vectors));
done:
	kdri_own_free(ctx, &s);
	kdri_free(ctx, known);
	kdri_free(ctx, shift);
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
	kdri_free(ctx, s->values);
	kdri_free(ctx, s->vectors);
	*s = (kdri_spectrum){ 0 };
}
