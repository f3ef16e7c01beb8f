/* A graph on several levels, to solve with its Laplacian. SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods that propagate along edges solve M = D - W of a large neighbour graph slowly, because distant vertices are
 * many steps apart. Strongly connected vertices are therefore merged into one, a few at a time, until a small graph
 * remains. With P (n x n_c) the 0/1 matrix that maps vertices to merged ones,
 *
 *   (E1)  W_c = P' W P,  D_c = P' D P,  M_c = D_c - W_c = P' M P
 *
 * A cycle on one level, for M x = b and J = the diagonal of M:
 *
 *   (E2)  x = (2/3) J^-1 b                                      smooth: removes errors along edges
 *   (E3)  x += P c,  c ~ M_c^-1 P' (b - M x)                     corrects the rest on the coarser level
 *   (E4)  x += (2/3) J^-1 (b - M x)                              smooth again
 *
 * c in (E3) is computed by two steps of conjugate gradients on the coarser level, preconditioned by its own cycle
 * [Notay, An aggregation-based algebraic multigrid method, ETNA 37, 2010]; from a Cholesky factor on the last, of
 * M_c + 1e-6 D_c, since M may be singular. Vertices are merged greedily, in their order: each vertex not yet merged
 * joins the neighbour with the largest w_ij / sqrt(J_i J_j) whose group is not full.
 *
 * A cycle costs about eight products with W; building each level takes one pass over W. */
/* Conjugate gradients for several right-hand sides.
 *
 *   (E5)  alpha = <r, z> / <p, A p>,  x += alpha p,  r -= alpha A p
 *   (E6)  z = r / scale
 *   (E7)  beta = <r, z> / <r, z> before,  p = z + beta p          [Hestenes & Stiefel 1952]
 *
 * for each column with its own alpha and beta, so that one product A P serves all columns. Columns that have
 * converged are no longer updated. */
#include "matrix/linalg.h"
#include "matrix/ritz.h"

typedef struct state {
	double *r, *z, *p, *ap, *partial;
	double *rz, *before, *alpha, *beta, *norm, *bound; /* m */
	bool *busy;
} state;

static kdr_status state_new(kdr_context *ctx, int64_t n, int64_t m, state *s)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, n, m, &size));
	KDRI_DO(KDRI_NEW(ctx, &s->r, size));
	KDRI_DO(KDRI_NEW(ctx, &s->z, size));
	KDRI_DO(KDRI_NEW(ctx, &s->p, size));
	KDRI_DO(KDRI_NEW(ctx, &s->ap, size));
	KDRI_DO(KDRI_NEW(ctx, &s->partial, KDRI_CHUNKS * m));
	KDRI_DO(KDRI_NEW(ctx, &s->rz, 6 * m));
	KDRI_DO(KDRI_NEW(ctx, &s->busy, m));
	s->before = s->rz + m;
	s->alpha = s->rz + 2 * m;
	s->beta = s->rz + 3 * m;
	s->norm = s->rz + 4 * m;
	s->bound = s->rz + 5 * m;
	return KDR_OK;
}

static void precondition(kdr_context *ctx, int64_t n, int64_t m, const double *scale, const double *r,
                         double *z)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * m > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < m; j++)
			z[i * m + j] = scale ? r[i * m + j] / scale[i] : r[i * m + j]; /* (E6) */
}

/* True while a column's residual is above its bound. */
static bool any_busy(kdr_context *ctx, int64_t n, int64_t m, state *s)
{
	bool any = false;
	kdri_vectors_dot(ctx, n, m, s->r, s->r, s->partial, s->norm);
	for (int64_t j = 0; j < m; j++) {
		s->busy[j] = s->norm[j] > s->bound[j];
		any = any || s->busy[j];
	}
	return any;
}

kdr_status kdri_cg(kdr_context *ctx, const kdri_op *a, const double *scale, int64_t m, const double *b,
                   double tol, int64_t max_iter, const char *stage, double *x, int64_t *iterations,
                   kdr_stop *stop)
{
	kdr_status st;
	state s = { 0 };
	int64_t n = a->rows;
	*iterations = 0;
	*stop = KDR_STOP_CONVERGED;
	KDRI_TRY(state_new(ctx, n, m, &s));
	KDRI_TRY(a->apply(ctx, a, x, m, m, s.r, m));
	kdri_vectors_dot(ctx, n, m, b, b, s.partial, s.bound);
	for (int64_t j = 0; j < m; j++) {
		s.bound[j] *= tol * tol;
		s.alpha[j] = 1;
		s.beta[j] = -1;
	}
	kdri_vectors_combine(ctx, n, m, s.beta, s.alpha, b, s.r); /* r = b - A x */
	precondition(ctx, n, m, scale, s.r, s.z);
	memcpy(s.p, s.z, (size_t)(n * m) * sizeof *s.p);
	kdri_vectors_dot(ctx, n, m, s.r, s.z, s.partial, s.rz);
	while (any_busy(ctx, n, m, &s)) {
		if (*iterations >= max_iter) {
			*stop = KDR_STOP_MAX_ITER;
			break;
		}
		KDRI_TRY(a->apply(ctx, a, s.p, m, m, s.ap, m));
		kdri_vectors_dot(ctx, n, m, s.p, s.ap, s.partial, s.alpha);
		for (int64_t j = 0; j < m; j++)
			s.alpha[j] = s.busy[j] && s.alpha[j] > 0 ? s.rz[j] / s.alpha[j] : 0; /* (E5) */
		kdri_vectors_combine(ctx, n, m, NULL, s.alpha, s.p, x);
		for (int64_t j = 0; j < m; j++)
			s.alpha[j] = -s.alpha[j];
		kdri_vectors_combine(ctx, n, m, NULL, s.alpha, s.ap, s.r);
		precondition(ctx, n, m, scale, s.r, s.z);
		memcpy(s.before, s.rz, (size_t)m * sizeof *s.before);
		kdri_vectors_dot(ctx, n, m, s.r, s.z, s.partial, s.rz);
		for (int64_t j = 0; j < m; j++) {
			s.beta[j] = s.before[j] > 0 ? s.rz[j] / s.before[j] : 0; /* (E7) */
			s.alpha[j] = 1;
		}
		kdri_vectors_combine(ctx, n, m, s.beta, s.alpha, s.z, s.p);
		++*iterations;
		if (kdri_iteration(ctx, stage, *iterations, 0, NAN)) {
			*stop = kdri_stop_reason(ctx);
			break;
		}
	}
done:
	KDRI_FREE(ctx, s.r, s.z, s.p, s.ap, s.partial, s.rz, s.busy);
	return st;
}

enum { COARSEST = 200, MOST_FACTORED = 2000, MOST_LEVELS = 40, TOGETHER = 4 };
static const double damping = 2.0 / 3, stalled = 0.8, ridge = 1e-6;

typedef struct level {
	kdr_csr w;            /* borrowed on the first level */
	const double *degree; /* D */
	double *smooth;       /* (2/3) J^-1 */
	/* To the next level: vertex i belongs to parent[i]; those of parent c are order[begin[c]] .. */
	int32_t *parent, *order;
	int64_t *begin;
	void *own[4];               /* rowptr, col, val, degree where they are not borrowed */
	double *b, *x, *r, *c, *mc; /* n x width of room each; the first level needs r alone */
} level;

struct kdri_levels {
	int64_t count, width;
	level list[MOST_LEVELS];
	double *factor; /* of the last level; NULL: it is too large for one */
};

void kdri_levels_free(kdr_context *ctx, kdri_levels *s)
{
	for (int64_t l = 0; s && l < s->count; l++) {
		level *v = &s->list[l];
		KDRI_FREE(ctx, v->smooth, v->parent, v->order, v->begin, v->own[0], v->own[1], v->own[2],
		          v->own[3], v->b, v->x, v->r, v->c, v->mc);
	}
	if (s)
		kdri_free(ctx, s->factor);
	kdri_free(ctx, s);
}

/* --- coarser graphs ----------------------------------------------------------------------------------- */

static kdr_status diagonal(kdr_context *ctx, level *v)
{
	int64_t n = v->w.rows;
	KDRI_DO(KDRI_NEW(ctx, &v->smooth, n));
	for (int64_t i = 0; i < n; i++) {
		double own = v->degree[i];
		for (int64_t p = v->w.rowptr[i]; p < v->w.rowptr[i + 1]; p++)
			own -= v->w.col[p] == i ? v->w.val[p] : 0;
		/* A vertex that is all of its component has nothing but rounding here. */
		v->smooth[i] = own > 1e-10 * v->degree[i] ? damping / own : 0;
	}
	return KDR_OK;
}

/* Computes v->parent and returns the number of merged vertices. size: scratch, n numbers. */
static int64_t take_together(const level *v, int32_t *size)
{
	int64_t n = v->w.rows, count = 0;
	for (int64_t i = 0; i < n; i++)
		v->parent[i] = -1;
	for (int64_t i = 0; i < n; i++) {
		int64_t best = -1;
		double most = 0;
		if (v->parent[i] >= 0)
			continue;
		for (int64_t p = v->w.rowptr[i]; p < v->w.rowptr[i + 1]; p++) {
			int64_t j = v->w.col[p];
			double strength = v->w.val[p] * sqrt(v->smooth[j]);
			if (j != i && strength > most &&
			    (v->parent[j] < 0 || size[v->parent[j]] < TOGETHER)) {
				most = strength;
				best = j;
			}
		}
		if (best < 0 || v->parent[best] < 0) {
			size[count] = 0;
			v->parent[i] = (int32_t)count;
			if (best >= 0) {
				v->parent[best] = (int32_t)count;
				size[count]++;
			}
			size[count++]++;
		} else {
			v->parent[i] = v->parent[best];
			size[v->parent[i]]++;
		}
	}
	return count;
}

static kdr_status list_children(kdr_context *ctx, level *v, int64_t count)
{
	int64_t n = v->w.rows;
	KDRI_DO(KDRI_NEW(ctx, &v->order, n));
	KDRI_DO(KDRI_NEW0(ctx, &v->begin, count + 1));
	for (int64_t i = 0; i < n; i++)
		v->begin[v->parent[i] + 1]++;
	for (int64_t c = 0; c < count; c++)
		v->begin[c + 1] += v->begin[c];
	for (int64_t i = 0; i < n; i++)
		v->order[v->begin[v->parent[i]]++] = (int32_t)i;
	for (int64_t c = count; c > 0; c--)
		v->begin[c] = v->begin[c - 1];
	v->begin[0] = 0;
	return KDR_OK;
}

/* (E1); at: count numbers of scratch. */
static kdr_status coarsen(kdr_context *ctx, const level *v, int64_t count, int64_t *at, level *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, end = 0;
	int32_t *col = NULL;
	double *val = NULL, *degree = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, count + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, v->w.rowptr[v->w.rows]));
	KDRI_TRY(KDRI_NEW(ctx, &val, v->w.rowptr[v->w.rows]));
	KDRI_TRY(KDRI_NEW0(ctx, &degree, count));
	for (int64_t c = 0; c < count; c++)
		at[c] = -1;
	rowptr[0] = 0;
	for (int64_t c = 0; c < count; c++) {
		for (int64_t q = v->begin[c]; q < v->begin[c + 1]; q++) {
			int64_t i = v->order[q];
			degree[c] += v->degree[i];
			for (int64_t p = v->w.rowptr[i]; p < v->w.rowptr[i + 1]; p++) {
				int64_t to = v->parent[v->w.col[p]];
				if (at[to] < rowptr[c]) {
					at[to] = end;
					col[end] = (int32_t)to;
					val[end++] = 0;
				}
				val[at[to]] += v->w.val[p];
			}
		}
		rowptr[c + 1] = end;
	}
	*out = (level){ .w = { .rows = count, .cols = count, .rowptr = rowptr, .col = col, .val = val },
		        .degree = degree,
		        .own = { rowptr, col, val, degree } };
	return KDR_OK;
done:
	KDRI_FREE(ctx, rowptr, col, val, degree);
	return st;
}

static kdr_status next_level(kdr_context *ctx, kdri_levels *s, bool *more)
{
	kdr_status st;
	level *v = &s->list[s->count - 1];
	int64_t n = v->w.rows, *at = NULL;
	int32_t *size = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &v->parent, n));
	KDRI_TRY(KDRI_NEW(ctx, &size, n));
	KDRI_TRY(KDRI_NEW(ctx, &at, n));
	int64_t count = take_together(v, size);
	*more = (double)count < stalled * (double)n;
	if (*more) {
		KDRI_TRY(list_children(ctx, v, count));
		KDRI_TRY(coarsen(ctx, v, count, at, v + 1));
		s->count++;
		KDRI_TRY(diagonal(ctx, v + 1));
	}
done:
	KDRI_FREE(ctx, size, at);
	return st;
}

/* M + 1e-6 D, as a dense matrix. */
static void levels_fill_dense(const level *v, double *a)
{
	int64_t n = v->w.rows;
	memset(a, 0, (size_t)(n * n) * sizeof *a);
	for (int64_t i = 0; i < n; i++) {
		a[i * n + i] = v->degree[i] > 0 ? v->degree[i] * (1 + ridge) : 1;
		for (int64_t p = v->w.rowptr[i]; p < v->w.rowptr[i + 1]; p++)
			a[i * n + v->w.col[p]] -= v->w.val[p];
	}
}

kdr_status kdri_levels_new(kdr_context *ctx, const kdr_csr *w, const double *degree, int64_t width,
                           kdri_levels **out)
{
	kdr_status st;
	kdri_levels *s = NULL;
	bool more = true;
	KDRI_TRY(KDRI_NEW0(ctx, &s, 1));
	s->width = width;
	s->count = 1;
	s->list[0] = (level){ .w = *w, .degree = degree };
	KDRI_TRY(diagonal(ctx, &s->list[0]));
	while (more && s->count < MOST_LEVELS && s->list[s->count - 1].w.rows > COARSEST)
		KDRI_TRY(next_level(ctx, s, &more));
	const level *last = &s->list[s->count - 1];
	if (last->w.rows <= MOST_FACTORED) {
		KDRI_TRY(KDRI_NEW(ctx, &s->factor, last->w.rows * last->w.rows));
		levels_fill_dense(last, s->factor);
		KDRI_TRY(kdri_cholesky(ctx, last->w.rows, s->factor, last->w.rows));
	}
	for (int64_t l = 0; l < s->count; l++) {
		level *v = &s->list[l];
		double **all[] = { &v->r, &v->b, &v->x, &v->c, &v->mc };
		int64_t size;
		KDRI_TRY(kdri_mul(ctx, v->w.rows, s->width, &size));
		for (int i = 0; i < (l == 0 ? 1 : 5); i++)
			KDRI_TRY(KDRI_NEW(ctx, all[i], size));
	}
	*out = s;
	s = NULL;
done:
	kdri_levels_free(ctx, s);
	return st;
}

/* --- the cycle ------------------------------------------------------------------------------------------ */

/* y = M x */
static void levels_multiply(kdr_context *ctx, const level *v, const double *x, int64_t k, int64_t ldx,
                            double *y)
{
	kdri_csr_mul(ctx, &v->w, x, k, ldx, y, k);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (v->w.rows * k > 1 << 15)
	for (int64_t i = 0; i < v->w.rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * k + j] = v->degree[i] * x[i * ldx + j] - y[i * k + j];
}

/* P' r of level v */
static void restrict_to(kdr_context *ctx, const level *v, int64_t count, const double *r, int64_t k,
                        double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (v->w.rows * k > 1 << 15)
	for (int64_t c = 0; c < count; c++) {
		double *to = out + c * k;
		memset(to, 0, (size_t)k * sizeof *to);
		for (int64_t q = v->begin[c]; q < v->begin[c + 1]; q++)
			for (int64_t j = 0; j < k; j++)
				to[j] += r[v->order[q] * k + j];
	}
}

/* out[j] = sum_i a_ij b_ij, in chunks that depend on n alone. */
static void column_dots(kdr_context *ctx, int64_t n, int64_t k, const double *a, const double *b,
                        double *part, double *out)
{
	int64_t chunks = kdri_chunks(n);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t c = 0; c < chunks; c++) {
		double *sum = part + c * k;
		memset(sum, 0, (size_t)k * sizeof *sum);
		for (int64_t i = kdri_chunk_begin(n, chunks, c); i < kdri_chunk_begin(n, chunks, c + 1); i++)
			for (int64_t j = 0; j < k; j++)
				sum[j] += a[i * k + j] * b[i * k + j];
	}
	memset(out, 0, (size_t)k * sizeof *out);
	for (int64_t c = 0; c < chunks; c++)
		for (int64_t j = 0; j < k; j++)
			out[j] += part[c * k + j];
}

/* to += from diag(factor) */
static void add_scaled(kdr_context *ctx, int64_t n, int64_t k, const double *from, const double *factor,
                       double *to)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			to[i * k + j] += factor[j] * from[i * k + j];
}

static kdr_status cycle(kdr_context *ctx, kdri_levels *s, int64_t l, const double *b, int64_t k, int64_t ldb,
                        double *x, int64_t ldx);

/* v->x ~ M^-1 v->b by two steps of conjugate gradients; both are n x k. */
static kdr_status conjugate(kdr_context *ctx, kdri_levels *s, int64_t l, int64_t k)
{
	kdr_status st;
	level *v = &s->list[l];
	int64_t n = v->w.rows;
	double *room = NULL;
	if (l == s->count - 1 && s->factor)
		return cycle(ctx, s, l, v->b, k, k, v->x, k);
	KDRI_TRY(KDRI_NEW(ctx, &room, (KDRI_CHUNKS + 7) * k));
	double *part = room + 7 * k, *length = room, *along = room + k, *step = room + 2 * k,
	       *back = room + 3 * k, *second = room + 4 * k, *cross = room + 5 * k, *down = room + 6 * k;
	KDRI_TRY(cycle(ctx, s, l, v->b, k, k, v->x, k));
	levels_multiply(ctx, v, v->x, k, k, v->mc);
	column_dots(ctx, n, k, v->x, v->mc, part, length);
	column_dots(ctx, n, k, v->x, v->b, part, along);
	for (int64_t j = 0; j < k; j++) {
		step[j] = length[j] > 0 ? along[j] / length[j] : 1;
		down[j] = -step[j];
	}
	add_scaled(ctx, n, k, v->mc, down, v->b);
	memcpy(v->c, v->x, (size_t)(n * k) * sizeof *v->c);
	/* The second cycle overwrites x and r; what it needs later is in c and mc. */
	KDRI_TRY(cycle(ctx, s, l, v->b, k, k, v->x, k));
	column_dots(ctx, n, k, v->x, v->mc, part, cross);
	column_dots(ctx, n, k, v->x, v->b, part, along);
	levels_multiply(ctx, v, v->x, k, k, v->mc);
	column_dots(ctx, n, k, v->x, v->mc, part, second);
	for (int64_t j = 0; j < k; j++) {
		double left = second[j] - (length[j] > 0 ? cross[j] * cross[j] / length[j] : 0);
		double part_of = left > 1e-12 * second[j] ? along[j] / left : 0;
		back[j] = step[j] - (length[j] > 0 ? cross[j] / length[j] * part_of : 0);
		down[j] = part_of - 1;
	}
	for (int64_t i = 0; i < n * k; i++) /* in the order x diag(down + 1) + c diag(back) */
		v->x[i] += down[i % k] * v->x[i];
	add_scaled(ctx, n, k, v->c, back, v->x);
done:
	kdri_free(ctx, room);
	return st;
}

static kdr_status cycle(kdr_context *ctx, kdri_levels *s, int64_t l, const double *b, int64_t k, int64_t ldb,
                        double *x, int64_t ldx)
{
	level *v = &s->list[l];
	int64_t n = v->w.rows;
	if (l == s->count - 1 && s->factor) {
		for (int64_t i = 0; i < n; i++)
			memcpy(x + i * ldx, b + i * ldb, (size_t)k * sizeof *x);
		return kdri_cholesky_solve(ctx, n, s->factor, n, x, k, ldx);
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			x[i * ldx + j] = v->smooth[i] * b[i * ldb + j]; /* (E2) */
	if (l < s->count - 1) {
		level *next = v + 1;
		levels_multiply(ctx, v, x, k, ldx, v->r);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < k; j++)
				v->r[i * k + j] = b[i * ldb + j] - v->r[i * k + j];
		restrict_to(ctx, v, next->w.rows, v->r, k, next->b);
		KDRI_DO(conjugate(ctx, s, l + 1, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < k; j++)
				x[i * ldx + j] += next->x[v->parent[i] * k + j]; /* (E3) */
	}
	levels_multiply(ctx, v, x, k, ldx, v->r);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			x[i * ldx + j] += v->smooth[i] * (b[i * ldb + j] - v->r[i * k + j]); /* (E4) */
	return KDR_OK;
}

kdr_status kdri_levels_solve(kdr_context *ctx, kdri_levels *s, const double *x, int64_t k, int64_t ldx,
                             double *y, int64_t ldy)
{
	kdr_status st = KDR_OK;
	for (int64_t j = 0; j < k && st == KDR_OK; j += s->width)
		st = cycle(ctx, s, 0, x + j, KDRI_MIN(s->width, k - j), ldx, y + j, ldy);
	return st;
}
