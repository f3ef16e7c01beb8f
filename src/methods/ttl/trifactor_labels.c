/* The labels of a tri-factorisation. SPDX-License-Identifier: BSD-3-Clause
 *
 * With H = F A and sums over the data sets l of the same samples, for a row g of G and the row x of each X_l:
 *
 *   (E1)  num = sum w_l x_l H_l,   Q = sum w_l H_l'H_l
 *   (E2)  g_k <- g_k num_k / (g Q)_k
 *
 * (E2) minimises, coordinate by coordinate, a quadratic that lies above the objective and touches it at g [Lee & Seung,
 * NIPS 2000]. With norm = mm the same quadratic is minimised over the simplex instead:
 *
 *   (E3)  g_k <- g_k max(num_k - nu, 0) / (g Q)_k,   nu such that the row sums to 1.
 *
 * The left side of that condition falls in nu and is linear between the num_k: starting from all k, those that nu
 * passes are dropped until none is, at most c rounds. */
#include "methods/ttl/trifactor_labels.h"

#include "comm/comm.h"

static const double least = 1e-300, vanishing = 1e-100;

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

/* (E1): num of the set, and Q into t->quadratic. */
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

/* (E3) on one row; r is room for c numbers. */
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
		double x = den[k] > least ? g[k] * (num[k] / den[k]) : g[k]; /* (E2) */
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

void kdri_tri_normalise_g(kdr_context *ctx, kdri_tri *t, int set)
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
