/* Coupled non-negative tri-factorisations. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  min   sum over sides and their data sets l of  w_l |X_l' - [F1 F2_l] [A1; A2_l] G_l'|^2
 *
 * over non-negative F (features x clusters), A (clusters x classes) and G (samples x classes); X_l' is features x
 * samples [TSZY15, eqs. 6 and 7, with squared norms]. F1 and A1 are shared by the two data sets of a side, G by
 * all data sets of the same samples. Every step multiplies an entry by the ratio of the negative part of the gradient to
 * its positive part, which never raises (E1) [Lee & Seung, NIPS 2000]; with N = F A G',
 *
 *   (E2)  F1  by  sum w_l X_l'G_l A1' / sum w_l N_l G_l A1'           F2_l  by  X_l'G_l A2_l' / N_l G_l A2_l'
 *   (E3)  A1  by  sum w_l F1'X_l'G_l / sum w_l F1'N_l G_l             A2_l  by  F2_l'X_l'G_l / F2_l'N_l G_l
 *   (E4)  G   by  sum w_l X_l F_l A_l / G sum w_l A_l'F_l'F_l A_l     over all data sets of these samples
 *
 * N is never formed: N G = F A (G'G), so that with B = X'G, S = G'G and H = F A all of (E2), (E3) are products with c
 * columns, done row by row in trifactor_rows.c, and (E4) needs X H and H'H; labels are in trifactor.c. A sweep costs
 * O(nnz c + (m + n) p c) and memory is O(nnz + (m + n) (p + c)). Then
 *
 *   (E5)  F <- F D^-1, A <- D A, D the column sums of F               which leaves F A unchanged.
 *
 * Rows of X and G may be held by several ranks (comm/comm.h): X'G, G'G and |X|^2 are then added up, and each rank
 * computes the same F and A.
 *
 * DEVIATION: the paper normalises F and G alone (according to its lemma 1 this lowers the objective, but it raised it
 * in 60 of 60 steps). (E5) is exact. `norm` specifies the normalisation of G; `paper` is the literal form. */
/* The labels of a tri-factorisation.
 *
 * With H = F A and sums over the data sets l of the same samples, for a row g of G and the row x of each X_l:
 *
 *   (E6)  num = sum w_l x_l H_l,   Q = sum w_l H_l'H_l
 *   (E7)  g_k <- g_k num_k / (g Q)_k
 *
 * (E7) minimises, coordinate by coordinate, a quadratic that lies above the objective and touches it at g [Lee & Seung,
 * NIPS 2000]. With norm = mm the same quadratic is minimised over the simplex instead:
 *
 *   (E8)  g_k <- g_k max(num_k - nu, 0) / (g Q)_k,   nu such that the row sums to 1.
 *
 * The left side of that condition falls in nu and is linear between the num_k: starting from all k, those that nu
 * passes are dropped until none is, at most c rounds. */
#include "comm/comm.h"
#include "methods/ttl/ttl.h"

enum { LANES = KDRI_TRI_LANES };
static const double least = 1e-300, vanishing = 1e-100;

/* --- memory ------------------------------------------------------------------------------------- */

static kdr_status data_new(kdr_context *ctx, const kdri_tri_shape *shape, int d, kdri_tri_data *out)
{
	kdr_status st;
	const kdr_mat *x = shape->data[d].x;
	int64_t n = kdr_mat_rows(x);
	double *norms = NULL;
	out->x = *x;
	out->set = shape->data[d].set;
	out->columns.view = kdr_mat_from_dense(NULL, 0, 0);
	KDRI_TRY(KDRI_NEW(ctx, &norms, n));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norms));
	for (int64_t i = 0; i < n; i++)
		out->square += norms[i];
	KDRI_TRY(kdri_sum(ctx, &out->square, 1));
	/* X'G row by row of X': it can be shared out between threads, and reads G from a cache. */
	if (x->kind == KDR_MAT_CSR && !shape->constant[out->set])
		KDRI_TRY(kdri_mat_transpose(ctx, x, &out->columns));
done:
	kdri_free(ctx, norms);
	return st;
}

static kdr_status trifactor_side_new(kdr_context *ctx, const kdri_tri *t, const kdri_tri_shape *shape, int s,
                                     kdri_tri_side *out)
{
	int64_t size;
	out->m = kdr_mat_cols(shape->data[shape->side[s].data[0]].x);
	out->panels = (out->m + LANES - 1) / LANES;
	for (int l = 0; l < 2; l++) {
		out->data[l] = shape->side[s].data[l];
		out->weight[l] = shape->side[s].weight[l];
		KDRI_DO(KDRI_NEW0(ctx, &out->h[l], out->m * t->c));
		KDRI_DO(KDRI_NEW0(ctx, &out->gram[l], t->c * t->c));
	}
	KDRI_DO(kdri_mul(ctx, out->panels * LANES, t->q, &size));
	KDRI_DO(KDRI_NEW0(ctx, &out->f, size));
	KDRI_DO(KDRI_NEW0(ctx, &out->a, t->q * t->c));
	return KDRI_NEW0(ctx, &out->column_sum, t->q);
}

static kdr_status set_new(kdr_context *ctx, kdri_tri *t, const kdri_tri_shape *shape, int k,
                          kdri_tri_set *out)
{
	int64_t size, rows = t->c;
	for (int d = 0; d < shape->datas; d++)
		if (shape->data[d].set == k) {
			out->n = kdr_mat_rows(shape->data[d].x);
			rows += kdr_mat_cols(shape->data[d].x);
		}
	out->constant = shape->constant[k];
	KDRI_DO(kdri_mul(ctx, rows, t->c, &out->sums));
	KDRI_DO(KDRI_NEW0(ctx, &out->gram, out->sums));
	double *b = out->gram + t->c * t->c;
	for (int d = 0; d < shape->datas; d++)
		if (shape->data[d].set == k) {
			t->data[d].b = b;
			b += kdr_mat_cols(shape->data[d].x) * t->c;
		}
	KDRI_DO(kdri_mul(ctx, out->n, t->c, &size));
	KDRI_DO(KDRI_NEW0(ctx, &out->g, size));
	KDRI_DO(KDRI_NEW0(ctx, &out->fixed, out->n));
	if (!out->constant)
		KDRI_DO(KDRI_NEW(ctx, &out->num, size));
	return KDR_OK;
}

kdr_status kdri_tri_new(kdr_context *ctx, const kdri_tri_shape *shape, kdri_tri *out)
{
	kdr_status st = KDR_OK;
	kdri_tri t = { .c = shape->classes,
		       .p1 = shape->p1,
		       .p2 = shape->p2,
		       .q = shape->p1 + 2 * shape->p2,
		       .norm = shape->norm,
		       .sides = shape->sides,
		       .sets = shape->sets,
		       .datas = shape->datas };
	int64_t wide = 1, tall = 1, size;
	for (int d = 0; d < t.datas; d++) {
		KDRI_TRY(data_new(ctx, shape, d, &t.data[d]));
		wide = KDRI_MAX(wide, kdr_mat_cols(shape->data[d].x));
		tall = KDRI_MAX(tall, kdr_mat_rows(shape->data[d].x));
	}
	for (int s = 0; s < t.sides; s++)
		KDRI_TRY(trifactor_side_new(ctx, &t, shape, s, &t.side[s]));
	for (int k = 0; k < t.sets; k++)
		KDRI_TRY(set_new(ctx, &t, shape, k, &t.set[k]));
	KDRI_TRY(kdri_mul(ctx, wide, t.c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &t.spare, size));
	KDRI_TRY(kdri_mul(ctx, tall, t.c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &t.other, size));
	KDRI_TRY(KDRI_NEW(ctx, &t.quadratic, t.c * t.c));
	KDRI_TRY(KDRI_NEW(ctx, &t.rows, (tall / KDRI_BLOCK + 1) * 2 * t.c));
	KDRI_TRY(KDRI_NEW(ctx, &t.at, t.q * (t.c + 1)));
	KDRI_TRY(kdri_mul(ctx, kdri_tri_sums_of(t.c, t.p1, t.p2).size, KDRI_CHUNKS * LANES, &size));
	KDRI_TRY(KDRI_NEW(ctx, &t.partial, size));
	*out = t;
	t = (kdri_tri){ 0 };
done:
	kdri_tri_free(ctx, &t);
	return st;
}

void kdri_tri_free(kdr_context *ctx, kdri_tri *t)
{
	if (!t)
		return;
	for (int d = 0; d < KDRI_TRI_DATA; d++)
		kdri_own_free(ctx, &t->data[d].columns);
	for (int s = 0; s < KDRI_TRI_SIDES; s++) {
		for (int l = 0; l < 2; l++) {
			KDRI_FREE(ctx, t->side[s].h[l], t->side[s].gram[l]);
		}
		KDRI_FREE(ctx, t->side[s].f, t->side[s].a, t->side[s].column_sum);
	}
	for (int k = 0; k < KDRI_TRI_SETS; k++) {
		KDRI_FREE(ctx, t->set[k].g, t->set[k].num, t->set[k].gram, t->set[k].fixed);
	}
	KDRI_FREE(ctx, t->at, t->partial, t->spare, t->other, t->quadratic, t->rows);
	*t = (kdri_tri){ 0 };
}

/* --- F in panels ---------------------------------------------------------------------------------- */

static inline double *trifactor_entry(const kdri_tri *t, const kdri_tri_side *side, int64_t i, int64_t j)
{
	return side->f + ((i / LANES) * t->q + j) * LANES + i % LANES;
}

void kdri_tri_get_f(const kdri_tri *t, int side, int64_t begin, int64_t count, double *f)
{
	for (int64_t i = 0; i < t->side[side].m; i++)
		for (int64_t j = 0; j < count; j++)
			f[i * count + j] = *trifactor_entry(t, &t->side[side], i, begin + j);
}

void kdri_tri_random(kdr_context *ctx, kdri_tri *t, uint64_t stream)
{
	for (int s = 0; s < t->sides; s++) {
		kdri_tri_side *side = &t->side[s];
		kdri_rng rng = kdri_rng_stream(ctx->seed, "trifactor", stream * KDRI_TRI_SIDES + (uint64_t)s);
		for (int64_t j = 0; j < t->q; j++) {
			double sum = 0;
			for (int64_t i = 0; i < side->m; i++)
				sum += *trifactor_entry(t, side, i, j) = kdri_rng_uniform(&rng);
			for (int64_t i = 0; i < side->m && sum > 0; i++)
				*trifactor_entry(t, side, i, j) /= sum;
		}
		for (int64_t i = 0; i < t->q * t->c; i++)
			side->a[i] = kdri_rng_uniform(&rng);
	}
}

/* --- the steps of a side: (E2), (E3) --------------------------------------------------------------- */

typedef void pass_fn(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                     double *room);

/* All panels, in chunks that depend on the number of features alone. */
static void run_pass(kdr_context *ctx, const kdri_tri *t, const kdri_tri_side *side, const kdri_tri_pass *p,
                     const kdri_tri_sums *sums, pass_fn *pass)
{
	int64_t chunks = kdri_chunks(side->m);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (side->m * t->q > 1 << 13)
	for (int64_t k = 0; k < chunks; k++)
		pass(p, kdri_chunk_begin(side->panels, chunks, k),
		     kdri_chunk_begin(side->panels, chunks, k + 1), sums,
		     t->partial + k * sums->size * LANES);
}

/* out[i] = the sum at `at + i` over chunks and lanes. */
static void trifactor_gather(const kdri_tri *t, const kdri_tri_side *side, const kdri_tri_sums *sums,
                             int64_t at, int64_t count, double *out)
{
	int64_t chunks = kdri_chunks(side->m);
	int lanes = kdri_tri_sum_lanes();
	for (int64_t i = 0; i < count; i++) {
		double sum = 0;
		for (int64_t k = 0; k < chunks; k++)
			for (int r = 0; r < lanes; r++)
				sum += t->partial[k * sums->size * LANES + (at + i) * lanes + r];
		out[i] = sum;
	}
}

/* A_j <- A_j num / den for `count` rows of A; the sums of a chunk's first lane serve as room for the two. */
static void step_a(const kdri_tri *t, const kdri_tri_side *side, const kdri_tri_sums *sums, int64_t num,
                   int64_t den, int64_t first, int64_t count)
{
	for (int64_t i = 0; i < count * t->c; i++) {
		double top, bottom, *a = &side->a[first * t->c + i];
		trifactor_gather(t, side, sums, num + i, 1, &top);
		trifactor_gather(t, side, sums, den + i, 1, &bottom);
		double x = bottom > least ? *a * (top / bottom) : *a;
		*a = x < vanishing ? 0 : x;
	}
}

static void transpose_a(const kdri_tri *t, const kdri_tri_side *side)
{
	for (int64_t j = 0; j < t->q; j++)
		for (int64_t k = 0; k < t->c; k++)
			t->at[k * t->q + j] = side->a[j * t->c + k];
}

static kdri_tri_pass pass_of(const kdri_tri *t, const kdri_tri_side *side, unsigned steps)
{
	kdri_tri_pass p = { .at = t->at,
		            .scale = t->at + t->q * t->c,
		            .f = side->f,
		            .m = side->m,
		            .c = t->c,
		            .p1 = t->p1,
		            .p2 = t->p2,
		            .q = t->q,
		            .steps = steps };
	for (int l = 0; l < 2; l++) {
		const kdri_tri_data *d = &t->data[side->data[l]];
		p.b[l] = d->b;
		p.s[l] = t->set[d->set].gram;
		p.h[l] = side->h[l];
		p.weight[l] = side->weight[l];
	}
	return p;
}

/* F times `scale` (q, at the end of t->at), then H and H'H. */
static void finish_side(kdr_context *ctx, kdri_tri *t, kdri_tri_side *side)
{
	const kdri_tri_sums sums = kdri_tri_sums_of(t->c, t->p1, t->p2);
	const kdri_tri_pass p = pass_of(t, side, 0);
	transpose_a(t, side);
	run_pass(ctx, t, side, &p, &sums, kdri_tri_pass3);
	for (int l = 0; l < 2; l++)
		trifactor_gather(t, side, &sums, sums.gram[l], t->c * t->c, side->gram[l]);
}

void kdri_tri_side_step(kdr_context *ctx, kdri_tri *t, int s, unsigned steps)
{
	kdri_tri_side *side = &t->side[s];
	const kdri_tri_sums sums = kdri_tri_sums_of(t->c, t->p1, t->p2);
	const kdri_tri_pass p = pass_of(t, side, steps);
	double *scale = t->at + t->q * t->c;
	transpose_a(t, side);
	run_pass(ctx, t, side, &p, &sums, kdri_tri_pass1); /* (E2) */
	trifactor_gather(t, side, &sums, sums.columns, t->q, side->column_sum);
	if (steps & KDRI_TRI_A1)
		step_a(t, side, &sums, sums.num1, sums.den1, 0, t->p1); /* (E3) */
	if (steps & (KDRI_TRI_A2A | KDRI_TRI_A2B)) {
		transpose_a(t, side);
		run_pass(ctx, t, side, &p, &sums, kdri_tri_pass2);
		for (int l = 0; l < 2; l++)
			if (steps & (l ? KDRI_TRI_A2B : KDRI_TRI_A2A))
				step_a(t, side, &sums, sums.num2[l], sums.den2[l], t->p1 + l * t->p2, t->p2);
	}
	for (int64_t j = 0; j < t->q; j++) {
		double sum = side->column_sum[j];
		bool now = t->norm != KDRI_TRI_PAPER && sum > 0;
		scale[j] = now ? 1 / sum : 1; /* (E5) */
		for (int64_t k = 0; k < t->c && now; k++)
			side->a[j * t->c + k] *= sum;
	}
	finish_side(ctx, t, side);
}

kdr_status kdri_tri_start(kdr_context *ctx, kdri_tri *t)
{
	for (int k = 0; k < t->sets; k++)
		KDRI_DO(kdri_tri_refresh(ctx, t, k));
	for (int64_t j = 0; j < t->q; j++)
		t->at[t->q * t->c + j] = 1;
	for (int s = 0; s < t->sides; s++)
		finish_side(ctx, t, &t->side[s]);
	return KDR_OK;
}

/* --- all steps --------------------------------------------------------------------------------------- */

/* Scales rows of G to sum 1; fixed rows and rows of zeros are unchanged. */
static void tri_normalise_g(kdr_context *ctx, kdri_tri *t, int set)
{
	kdri_tri_set *s = &t->set[set];
	int64_t c = t->c;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (s->n * c > 1 << 14)
	for (int64_t i = 0; i < s->n; i++) {
		double sum = 0, *g = s->g + i * c;
		for (int64_t k = 0; k < c; k++)
			sum += g[k];
		for (int64_t k = 0; k < c && sum > 0 && !s->fixed[i]; k++)
			g[k] /= sum;
	}
}

kdr_status kdri_tri_normalise(kdr_context *ctx, kdri_tri *t)
{
	for (int k = 0; k < t->sets; k++)
		if (!t->set[k].constant && (t->norm == KDRI_TRI_RESCALE_G || t->norm == KDRI_TRI_PAPER)) {
			tri_normalise_g(ctx, t, k);
			KDRI_DO(kdri_tri_refresh(ctx, t, k));
		}
	for (int s = 0; s < t->sides && t->norm == KDRI_TRI_PAPER; s++) {
		for (int64_t j = 0; j < t->q; j++)
			t->at[t->q * t->c + j] =
			        t->side[s].column_sum[j] > 0 ? 1 / t->side[s].column_sum[j] : 1;
		finish_side(ctx, t, &t->side[s]);
	}
	return KDR_OK;
}

kdr_status kdri_tri_sweep(kdr_context *ctx, kdri_tri *t)
{
	bool again = t->norm == KDRI_TRI_RESCALE_G || t->norm == KDRI_TRI_PAPER;
	for (int s = 0; s < t->sides; s++)
		kdri_tri_side_step(ctx, t, s, KDRI_TRI_ALL);
	for (int k = 0; k < t->sets; k++)
		if (!t->set[k].constant) {
			KDRI_DO(kdri_tri_update_g(ctx, t, k)); /* (E4) */
			if (!again)
				KDRI_DO(kdri_tri_refresh(ctx, t, k));
		}
	return kdri_tri_normalise(ctx, t);
}

double kdri_tri_objective(const kdri_tri *t)
{
	double value = 0;
	for (int s = 0; s < t->sides; s++)
		for (int l = 0; l < 2; l++) {
			const kdri_tri_side *side = &t->side[s];
			const kdri_tri_data *d = &t->data[side->data[l]];
			double cross = kdri_dot(d->b, side->h[l], side->m * t->c);
			double fitted = kdri_dot(side->gram[l], t->set[d->set].gram, t->c * t->c);
			value += side->weight[l] * (d->square - 2 * cross + fitted); /* (E1) */
		}
	return value;
}

kdr_status kdri_tri_refresh(kdr_context *ctx, kdri_tri *t, int set)
{
	kdri_tri_set *s = &t->set[set];
	KDRI_DO(kdri_syrk(ctx, true, t->c, s->n, s->g, t->c, s->gram, t->c));
	for (int d = 0; d < t->datas; d++) {
		kdri_tri_data *data = &t->data[d];
		if (data->set != set)
			continue;
		if (data->columns.parts[0])
			KDRI_DO(kdri_mat_mul(ctx, &data->columns.view, s->g, t->c, t->c, data->b, t->c));
		else
			KDRI_DO(kdri_mat_tmul(ctx, &data->x, s->g, t->c, t->c, data->b, t->c));
	}
	return kdri_sum(ctx, s->gram, s->sums);
}

/* (E6): num of the set, and Q into t->quadratic. */
static kdr_status numerators(kdr_context *ctx, kdri_tri *t, int set)
{
	kdri_tri_set *to = &t->set[set];
	double *q = t->quadratic, *h = t->spare;
	bool first = true;
	memset(q, 0, (size_t)(t->c * t->c) * sizeof *q);
	for (int d = 0; d < t->datas; d++) {
		if (t->data[d].set != set)
			continue;
		/* One product for all sides that see this matrix. */
		int64_t size = kdr_mat_cols(&t->data[d].x) * t->c;
		memset(h, 0, (size_t)size * sizeof *h);
		for (int s = 0; s < t->sides; s++)
			for (int l = 0; l < 2; l++)
				if (t->side[s].data[l] == d) {
					kdri_axpy(t->side[s].weight[l], t->side[s].h[l], h, size);
					kdri_axpy(t->side[s].weight[l], t->side[s].gram[l], q, t->c * t->c);
				}
		KDRI_DO(kdri_mat_mul(ctx, &t->data[d].x, h, t->c, t->c, first ? to->num : t->other, t->c));
		if (!first)
			kdri_axpy(1, t->other, to->num, to->n * t->c);
		first = false;
	}
	return KDR_OK;
}

/* (E8) on one row; r is room for c numbers. */
static void simplex_row(double *g, const double *num, const double *den, int64_t c, double *r)
{
	double nu = 0;
	int64_t left = 0;
	for (int64_t k = 0; k < c; k++) {
		if (g[k] > 0 && !(den[k] > least))
			return;
		r[k] = g[k] > 0 ? g[k] / den[k] : 0;
		left += r[k] > 0;
	}
	for (bool dropped = left > 0; dropped;) {
		double top = -1, bottom = 0;
		dropped = false;
		for (int64_t k = 0; k < c; k++) {
			top += r[k] * num[k];
			bottom += r[k];
		}
		nu = top / bottom;
		for (int64_t k = 0; k < c; k++)
			if (r[k] > 0 && num[k] <= nu && left > 1) {
				r[k] = 0;
				left--;
				dropped = true;
			}
	}
	for (int64_t k = 0; k < c && left > 0; k++) {
		double x = r[k] * (num[k] - nu);
		g[k] = x < vanishing ? 0 : x;
	}
}

static void step_row(double *g, const double *num, const double *den, int64_t c)
{
	for (int64_t k = 0; k < c; k++) {
		double x = den[k] > least ? g[k] * (num[k] / den[k]) : g[k]; /* (E7) */
		g[k] = x < vanishing ? 0 : x;
	}
}

kdr_status kdri_tri_update_g(kdr_context *ctx, kdri_tri *t, int set)
{
	kdri_tri_set *s = &t->set[set];
	const double *q = t->quadratic;
	int64_t c = t->c, blocks = (s->n + KDRI_BLOCK - 1) / KDRI_BLOCK;
	KDRI_DO(numerators(ctx, t, set));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (s->n * c * c > 1 << 14)
	for (int64_t block = 0; block < blocks; block++) {
		double *den = t->rows + block * 2 * c, *r = den + c;
		for (int64_t i = block * KDRI_BLOCK; i < KDRI_MIN(s->n, (block + 1) * KDRI_BLOCK); i++) {
			double *g = s->g + i * c;
			if (s->fixed[i])
				continue;
			for (int64_t k = 0; k < c; k++) {
				den[k] = 0;
				for (int64_t j = 0; j < c; j++)
					den[k] += g[j] * q[j * c + k];
			}
			if (t->norm == KDRI_TRI_MM)
				simplex_row(g, s->num + i * c, den, c, r);
			else
				step_row(g, s->num + i * c, den, c);
		}
	}
	return KDR_OK;
}
