/* Mixtures of numbers and categories, fitted by EM. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of T tables come from k clusters whose columns are independent: numbers are normal, categories multinomial. Every
 * table has its own shares of the clusters. A missing cell has no influence. With row i of table t(i), weights u_j of
 * the columns (1, or 1/g for one of g columns that repeat each other) and r_ic the probability that row i is of
 * cluster c:
 *
 *   (E1)  pi_tc = (sum over i of t of r_ic + 1) / (n_t + k)
 *   (E2)  m_cj, s_cj: mean and variance of number j over its present cells, weighted by r_ic; w_cj their total weight
 *         shared variances: v_cj = sum_c w_cj s_cj / sum_c w_cj;   own: v_cj = (w_cj s_cj + g_j / 2) / (w_cj + 1)
 *         with g_j the variance of the column; in both cases at least 0.02 g_j
 *   (E3)  theta_jlc = (sum over i with level l of r_ic + f_jl) / (sum over l of the same),  f_jl the column's shares
 *   (E4)  r_ic proportional to exp(ln pi_tc + sum over present j of u_j ln p_j(x_ij | c))
 *   (E5)  LL = sum over i of ln sum over c of that exponential
 *
 * The constants in (E1) to (E3) are pseudo-counts: they keep shares, variances and levels off zero. The M step is therefore
 * the maximum of a penalised likelihood, and what never falls from one iteration to the next is not LL but
 *
 *   (E6)  LL + sum_tc ln pi_tc + sum_j u_j sum_cl f_jl ln theta_jlc - [own] sum_j u_j sum_c (ln v_cj + g_j / (2 v_cj)) / 2
 *
 * from which LL differs by at most those sums; LL itself may fall by a small fraction of them. Iterations end when LL changes
 * by less than tol |LL|.
 *
 *   (E7)  P = (k + 1) p + k sum (L - 1) + (k - 1) T + M p   free parameters, of p numbers and categories of L levels; M: 1, or T
 *         if each table is taken less its own means
 *
 * An iteration is one pass over the rows, O(n k columns), and adds up (E1) to (E3) as soon as a row's (E4) is known. Numbers
 * are standardised inside, so that sums of squares lose no digits; LL is that of the numbers as given.
 *
 * r  posterior     pi  share     m  mean     v  variance     theta  theta     g  spread^2     f  base */
#include "engine/mixture/mixture.h"

#include "comm/comm.h"
#include "matrix/linalg.h"
#include "matrix/logexp.h"

static const double start_weight = 0.95, least_variance = 0.02, own_prior = 0.5, two_pi = 6.283185307179586;
enum { ROWS = 64, LANES = 8 }; /* rows at a time; k is padded to a multiple of LANES */

/* A pass over the rows: coefficients of (E4) in, sums of (E1) to (E3) out. Cells are described by features: for number j its
 * standardised value z, z^2 and, if cells are missing, whether it is present; levels of categories are looked up. */
typedef struct pass {
	const kdri_mixture_data *d;
	int64_t k, lanes, levels; /* lanes: k padded; levels of all categories */
	int64_t *offset;          /* of each category's first level */
	double *centre, *spread;  /* of each number, over its present cells */
	double *filled;           /* present cells of each number */
	bool *holes;              /* whether number j has missing cells */
	int64_t features;         /* 2 or 3 of each number */
	double *base;             /* levels: f */
	/* coefficients */
	double *w;      /* features x lanes */
	double *lookup; /* levels x lanes: u ln theta */
	double *prior;  /* tables x lanes: ln pi */
	/* sums: features x lanes, levels x lanes, tables x lanes, LL; one set per chunk */
	int64_t size;
	double *sums;
} pass;

static void pass_free(kdr_context *ctx, pass *p)
{
	KDRI_FREE(ctx, p->offset, p->centre, p->spread, p->filled, p->holes, p->base, p->w, p->lookup,
	          p->prior, p->sums);
}

static double weight_of_number(const kdri_mixture_data *d, int64_t j)
{
	return d->number_weight ? d->number_weight[j] : 1;
}

static double weight_of_category(const kdri_mixture_data *d, int64_t j)
{
	return d->category_weight ? d->category_weight[j] : 1;
}

/* Means and spreads of the numbers over present cells, in two passes. */
static kdr_status find_spreads(kdr_context *ctx, pass *p)
{
	kdr_status st;
	const kdri_mixture_data *d = p->d;
	int64_t q = d->numbers;
	double *sums = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, 3 * q + 1));
	for (int64_t i = 0; i < d->n; i++)
		for (int64_t j = 0; j < q; j++)
			if (!isnan(d->x[i * q + j])) {
				sums[j]++;
				sums[q + j] += d->x[i * q + j];
			}
	sums[2 * q] = (double)d->n;
	KDRI_TRY(kdri_sum(ctx, sums, 2 * q + 1));
	double rows = sums[2 * q];
	for (int64_t j = 0; j < q; j++) {
		p->filled[j] = sums[j];
		p->centre[j] = sums[j] > 0 ? sums[q + j] / sums[j] : 0;
		p->holes[j] = sums[j] < rows;
		p->features += p->holes[j] ? 3 : 2;
	}
	memset(sums, 0, (size_t)q * sizeof *sums);
	for (int64_t i = 0; i < d->n; i++)
		for (int64_t j = 0; j < q; j++)
			if (!isnan(d->x[i * q + j])) {
				double e = d->x[i * q + j] - p->centre[j];
				sums[j] += e * e;
			}
	KDRI_TRY(kdri_sum(ctx, sums, q));
	for (int64_t j = 0; j < q; j++) /* 0: constant, and ignored */
		p->spread[j] = p->filled[j] > 0 ? sqrt(sums[j] / p->filled[j]) : 0;
done:
	kdri_free(ctx, sums);
	return st;
}

/* f of (E3). */
static kdr_status find_base(kdr_context *ctx, pass *p)
{
	const kdri_mixture_data *d = p->d;
	for (int64_t i = 0; i < d->n; i++)
		for (int64_t j = 0; j < d->categories; j++)
			if (d->code[i * d->categories + j] >= 0)
				p->base[p->offset[j] + d->code[i * d->categories + j]]++;
	KDRI_DO(kdri_sum(ctx, p->base, p->levels));
	for (int64_t j = 0; j < d->categories; j++) {
		double all = 0;
		for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++)
			all += p->base[l];
		for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++)
			p->base[l] = all > 0 ? p->base[l] / all : 0;
	}
	return KDR_OK;
}

static kdr_status pass_new(kdr_context *ctx, const kdri_mixture_data *d, int64_t k, bool to_fit, pass *p)
{
	int64_t lanes = (k + LANES - 1) / LANES * LANES;
	*p = (pass){ .d = d, .k = k, .lanes = lanes };
	KDRI_DO(KDRI_NEW0(ctx, &p->offset, d->categories + 1));
	for (int64_t j = 0; j < d->categories; j++)
		p->offset[j + 1] = p->offset[j] + d->levels[j];
	p->levels = p->offset[d->categories];
	KDRI_DO(KDRI_NEW0(ctx, &p->centre, d->numbers));
	KDRI_DO(KDRI_NEW0(ctx, &p->spread, d->numbers));
	KDRI_DO(KDRI_NEW0(ctx, &p->filled, d->numbers));
	KDRI_DO(KDRI_NEW0(ctx, &p->holes, d->numbers));
	KDRI_DO(KDRI_NEW0(ctx, &p->base, p->levels));
	if (to_fit) {
		KDRI_DO(find_spreads(ctx, p));
		KDRI_DO(find_base(ctx, p));
	} else {
		/* New rows are not rescaled: their own spread is unrelated to the parameters. */
		for (int64_t j = 0; j < p->d->numbers; j++) {
			p->spread[j] = 1;
			p->holes[j] = true;
			p->features += 3;
		}
	}
	p->size = (p->features + p->levels + d->tables) * lanes + 1;
	KDRI_DO(KDRI_NEW0(ctx, &p->w, p->features * lanes));
	KDRI_DO(KDRI_NEW0(ctx, &p->lookup, p->levels * lanes));
	KDRI_DO(KDRI_NEW0(ctx, &p->prior, d->tables * lanes));
	return KDRI_NEW(ctx, &p->sums, KDRI_MAX(kdri_chunks(d->n), 1) * p->size);
}

/* --- kernels: a few rows at a time, all clusters side by side ------------------------------------------------------ */

/* s (rows x lanes) += phi (rows x features) w (features x lanes) */
KDRI_KERNEL static void add_scores(const double *phi, const double *w, int64_t rows, int64_t features,
                                   int64_t lanes, double *s)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t l = 0; l < lanes; l += LANES) {
			double sum[LANES];
			memcpy(sum, s + i * lanes + l, sizeof sum);
			for (int64_t f = 0; f < features; f++) {
				double v = phi[i * features + f];
				for (int e = 0; e < LANES; e++)
					sum[e] += v * w[f * lanes + l + e];
			}
			memcpy(s + i * lanes + l, sum, sizeof sum);
		}
}

/* sums (features x lanes) += phi' r */
KDRI_KERNEL static void add_moments(const double *phi, const double *r, int64_t rows, int64_t features,
                                    int64_t lanes, double *sums)
{
	for (int64_t f = 0; f < features; f++)
		for (int64_t l = 0; l < lanes; l += LANES) {
			double sum[LANES];
			memcpy(sum, sums + f * lanes + l, sizeof sum);
			for (int64_t i = 0; i < rows; i++) {
				double v = phi[i * features + f];
				for (int e = 0; e < LANES; e++)
					sum[e] += v * r[i * lanes + l + e];
			}
			memcpy(sums + f * lanes + l, sum, sizeof sum);
		}
}

/* Scores become probabilities (padding: 0); returns the sum of the rows' ln sum exp. */
KDRI_KERNEL static double soften(double *s, int64_t rows, int64_t k, int64_t lanes)
{
	double total = 0;
	for (int64_t i = 0; i < rows; i++) {
		double *row = s + i * lanes, top = row[0], sum = 0;
		for (int64_t c = 1; c < k; c++)
			top = row[c] > top ? row[c] : top;
		for (int64_t c = 0; c < lanes; c++)
			row[c] = c < k ? kdri_exp(row[c] - top) : 0;
		for (int64_t c = 0; c < k; c++)
			sum += row[c];
		for (int64_t c = 0; c < k; c++)
			row[c] /= sum;
		total += top + log(sum);
	}
	return total;
}

/* The features of some rows. */
static void fill_features(const pass *p, int64_t first, int64_t rows, double *phi)
{
	const kdri_mixture_data *d = p->d;
	for (int64_t i = 0; i < rows; i++) {
		const double *x = d->x + (first + i) * d->numbers;
		for (int64_t j = 0; j < d->numbers; j++) {
			bool present = !isnan(x[j]) && p->spread[j] > 0;
			double z = present ? (x[j] - p->centre[j]) / p->spread[j] : 0;
			*phi++ = z;
			*phi++ = z * z;
			if (p->holes[j])
				*phi++ = present;
		}
	}
}

/* (E4) of some rows of table t into r; what that adds to (E5). */
static double find_posteriors(const pass *p, int64_t t, int64_t first, int64_t rows, const double *phi,
                              double *r)
{
	const kdri_mixture_data *d = p->d;
	for (int64_t i = 0; i < rows; i++) {
		double *row = r + i * p->lanes;
		memcpy(row, p->prior + t * p->lanes, (size_t)p->lanes * sizeof *row);
		for (int64_t j = 0; j < d->categories; j++) {
			int32_t code = d->code[(first + i) * d->categories + j];
			if (code >= 0)
				kdri_axpy(1, p->lookup + (p->offset[j] + code) * p->lanes, row, p->lanes);
		}
	}
	add_scores(phi, p->w, rows, p->features, p->lanes, r);
	return soften(r, rows, p->k, p->lanes);
}

/* The start: mostly the label, a little of everything. */
static void put_start(const pass *p, const int64_t *start, int64_t first, int64_t rows, double *r)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t c = 0; c < p->lanes; c++)
			r[i * p->lanes + c] = c >= p->k ? 0
			                                : (1 - start_weight) / (double)p->k +
			                                          (start[first + i] == c ? start_weight : 0);
}

static void add_sums(const pass *p, int64_t t, int64_t first, int64_t rows, const double *phi,
                     const double *r, double *sums)
{
	const kdri_mixture_data *d = p->d;
	double *levels = sums + p->features * p->lanes, *shares = levels + (p->levels + t) * p->lanes;
	add_moments(phi, r, rows, p->features, p->lanes, sums);
	for (int64_t i = 0; i < rows; i++) {
		kdri_axpy(1, r + i * p->lanes, shares, p->lanes);
		for (int64_t j = 0; j < d->categories; j++) {
			int32_t code = d->code[(first + i) * d->categories + j];
			if (code >= 0)
				kdri_axpy(1, r + i * p->lanes, levels + (p->offset[j] + code) * p->lanes,
				          p->lanes);
		}
	}
}

/* What a pass is for: posteriors from labels or from parameters, kept or not. */
typedef struct request {
	const int64_t *start; /* labels to start from; NULL: (E4) */
	bool sums;            /* add up (E1) to (E3) */
	int64_t table;        /* that all rows count as; -1: their own */
	int64_t *labels;      /* most probable clusters, or NULL */
	double *posterior;    /* n x k, or NULL */
} request;

static void put_posteriors(const pass *p, const request *q, int64_t first, int64_t rows, const double *r)
{
	for (int64_t i = 0; i < rows; i++) {
		const double *row = r + i * p->lanes;
		int64_t best = 0;
		for (int64_t c = 1; c < p->k; c++)
			best = row[c] > row[best] ? c : best;
		if (q->labels)
			q->labels[first + i] = best;
		if (q->posterior)
			memcpy(q->posterior + (first + i) * p->k, row, (size_t)p->k * sizeof *row);
	}
}

/* One chunk of the rows, a block at a time, blocks within one table. */
static void run_chunk(const pass *p, const request *q, int64_t begin, int64_t end, double *phi, double *r,
                      double *sums)
{
	const kdri_mixture_data *d = p->d;
	int64_t t = 0;
	memset(sums, 0, (size_t)p->size * sizeof *sums);
	for (int64_t i = begin, rows; i < end; i += rows) {
		while (i >= d->begin[t + 1])
			t++;
		rows = KDRI_MIN(KDRI_MIN(end, d->begin[t + 1]) - i, ROWS);
		fill_features(p, i, rows, phi);
		if (q->start)
			put_start(p, q->start, i, rows, r);
		else
			sums[p->size - 1] += find_posteriors(p, q->table < 0 ? t : q->table, i, rows, phi, r);
		if (q->sums)
			add_sums(p, t, i, rows, phi, r, sums);
		if (q->labels || q->posterior)
			put_posteriors(p, q, i, rows, r);
	}
}

/* All rows, in chunks whose sums are added in order: p->sums begins with those of all rows, of all ranks. */
static kdr_status run_pass(kdr_context *ctx, pass *p, const request *q)
{
	kdr_status st;
	int64_t n = p->d->n, chunks = KDRI_MAX(kdri_chunks(n), 1), block = ROWS * (p->features + p->lanes);
	double *room = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &room, ctx->threads * block));
	memset(p->sums, 0, (size_t)p->size * sizeof *p->sums);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (n > KDRI_BLOCK)
	for (int64_t c = 0; c < chunks; c++)
		if (n > 0)
			run_chunk(p, q, kdri_chunk_begin(n, chunks, c), kdri_chunk_begin(n, chunks, c + 1),
			          room + kdri_thread() * block,
			          room + kdri_thread() * block + ROWS * p->features, p->sums + c * p->size);
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, p->sums + c * p->size, p->sums, p->size);
	KDRI_TRY(kdri_sum(ctx, p->sums, p->size));
done:
	kdri_free(ctx, room);
	return st;
}

/* --- the M step ---------------------------------------------------------------------------------------------------- */

/* (E2), of standardised numbers: g_j is 1. */
static void find_moments(const pass *p, const double *sums, const double *tables, bool shared,
                         kdri_mixture *m)
{
	const double *at = sums;
	for (int64_t j = 0; j < m->numbers; j++) {
		double all = 0, within = 0;
		for (int64_t c = 0; c < m->k; c++) {
			double w = 0;
			if (p->holes[j])
				w = at[2 * p->lanes + c];
			else
				for (int64_t t = 0; t < m->tables; t++)
					w += tables[t * p->lanes + c];
			double mean = w > 0 ? at[c] / w : 0,
			       variance = w > 0 ? KDRI_MAX(at[p->lanes + c] / w - mean * mean, 0) : 0;
			m->mean[c * m->numbers + j] = mean;
			m->variance[c * m->numbers + j] =
			        KDRI_MAX((w * variance + own_prior) / (w + 1), least_variance);
			all += w;
			within += w * variance;
		}
		for (int64_t c = 0; c < m->k && shared; c++)
			m->variance[c * m->numbers + j] =
			        KDRI_MAX(all > 0 ? within / all : 1, least_variance);
		at += (p->holes[j] ? 3 : 2) * p->lanes;
	}
}

static void maximise(const pass *p, bool shared, kdri_mixture *m)
{
	const double *levels = p->sums + p->features * p->lanes, *tables = levels + p->levels * p->lanes;
	/* (E1) */
	for (int64_t t = 0; t < m->tables; t++) {
		double rows = 0;
		for (int64_t c = 0; c < m->k; c++)
			rows += tables[t * p->lanes + c];
		for (int64_t c = 0; c < m->k; c++)
			m->share[t * m->k + c] = (tables[t * p->lanes + c] + 1) / (rows + (double)m->k);
	}
	find_moments(p, p->sums, tables, shared, m);
	/* (E3) */
	for (int64_t j = 0; j < m->categories; j++)
		for (int64_t c = 0; c < m->k; c++) {
			double all = 0;
			for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++)
				all += levels[l * p->lanes + c] + p->base[l];
			for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++)
				m->theta[l * m->k + c] =
				        all > 0 ? (levels[l * p->lanes + c] + p->base[l]) / all : 0;
		}
}

/* Coefficients of (E4) from the parameters, numbers standardised. */
static void set_coefficients(pass *p, const kdri_mixture *m)
{
	const kdri_mixture_data *d = p->d;
	double *to = p->w;
	for (int64_t t = 0; t < m->tables; t++)
		for (int64_t c = 0; c < m->k; c++)
			p->prior[t * p->lanes + c] = log(m->share[t * m->k + c]);
	for (int64_t j = 0; j < m->numbers; j++) {
		for (int64_t c = 0; c < m->k; c++) {
			double mean = m->mean[c * m->numbers + j], v = m->variance[c * m->numbers + j];
			double u = p->spread[j] > 0 && v > 0 ? weight_of_number(d, j) : 0;
			if (u == 0) /* a constant */
				mean = v = 1;
			double at_zero = -u * (log(two_pi * v) + mean * mean / v) / 2;
			to[c] = u * mean / v;
			to[p->lanes + c] = -u / (2 * v);
			if (p->holes[j])
				to[2 * p->lanes + c] = at_zero;
			else
				for (int64_t t = 0; t < m->tables; t++)
					p->prior[t * p->lanes + c] += at_zero;
		}
		to += (p->holes[j] ? 3 : 2) * p->lanes;
	}
	for (int64_t j = 0; j < m->categories; j++)
		for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++)
			for (int64_t c = 0; c < m->k; c++) /* a level without rows does not count */
				p->lookup[l * p->lanes + c] =
				        m->theta[l * m->k + c] > 0
				                ? weight_of_category(d, j) * log(m->theta[l * m->k + c])
				                : 0;
}

/* ln densities of the numbers as given are those of the standardised ones minus ln spread. */
static double change_of_units(const pass *p)
{
	double sum = 0;
	for (int64_t j = 0; j < p->d->numbers; j++)
		if (p->spread[j] > 0)
			sum -= weight_of_number(p->d, j) * p->filled[j] * log(p->spread[j]);
	return sum;
}

/* The terms of (E6) other than LL. */
static double penalty(const pass *p, const kdri_mixture *m, bool shared)
{
	double sum = 0;
	for (int64_t i = 0; i < m->tables * m->k; i++)
		sum += log(m->share[i]);
	for (int64_t j = 0; j < m->categories; j++)
		for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++)
			for (int64_t c = 0; c < m->k && p->base[l] > 0; c++)
				sum += weight_of_category(p->d, j) * p->base[l] * log(m->theta[l * m->k + c]);
	for (int64_t j = 0; j < m->numbers && !shared; j++)
		for (int64_t c = 0; c < m->k && p->spread[j] > 0; c++) {
			double v = m->variance[c * m->numbers + j];
			sum -= weight_of_number(p->d, j) * (log(v) + own_prior / v) / 2;
		}
	return sum;
}

/* --- parameters ------------------------------------------------------------------------------------------------------ */

void kdri_mixture_free(kdr_context *ctx, kdri_mixture *m)
{
	KDRI_FREE(ctx, m->share, m->mean, m->variance, m->theta, m->values);
	*m = (kdri_mixture){ 0 };
}

static kdr_status mixture_new(kdr_context *ctx, const pass *p, int64_t max_iter, kdri_mixture *m)
{
	*m = (kdri_mixture){
		.k = p->k, .tables = p->d->tables, .numbers = p->d->numbers, .categories = p->d->categories
	};
	KDRI_DO(KDRI_NEW(ctx, &m->share, m->tables * m->k));
	KDRI_DO(KDRI_NEW(ctx, &m->mean, m->k * m->numbers));
	KDRI_DO(KDRI_NEW(ctx, &m->variance, m->k * m->numbers));
	KDRI_DO(KDRI_NEW(ctx, &m->theta, p->levels * m->k));
	return KDRI_NEW(ctx, &m->values, max_iter);
}

kdri_mixture_options kdri_mixture_defaults(int64_t k)
{
	return (kdri_mixture_options){ .k = k, .max_iter = 100, .tol = 1e-5 };
}

/* EM from labels, or from parameters that m has. */
static kdr_status mixture_iterate(kdr_context *ctx, pass *p, const kdri_mixture_options *o,
                                  const int64_t *start, kdri_mixture *m)
{
	double before = -INFINITY, units = change_of_units(p);
	m->stop = KDR_STOP_MAX_ITER;
	if (!start)
		set_coefficients(p, m);
	KDRI_DO(run_pass(ctx, p, &(request){ .start = start, .sums = true, .table = -1 }));
	for (m->iterations = 0; m->iterations < o->max_iter;) {
		maximise(p, o->shared, m);
		set_coefficients(p, m);
		KDRI_DO(run_pass(ctx, p, &(request){ .sums = true, .table = -1 }));
		m->loglik = p->sums[p->size - 1] + units;
		m->values[m->iterations++] = m->loglik + penalty(p, m, o->shared);
		if (fabs(m->loglik - before) < o->tol * fabs(m->loglik) || m->loglik == before) {
			m->stop = KDR_STOP_CONVERGED;
			break;
		}
		before = m->loglik;
		if (o->stage && kdri_iteration(ctx, o->stage, m->iterations, o->max_iter, m->loglik)) {
			m->stop = kdri_stop_reason(ctx);
			break;
		}
	}
	return KDR_OK;
}

static kdr_status mixture_fit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                              const int64_t *start, const kdri_mixture *from, kdri_mixture *out,
                              int64_t *labels, double *posterior)
{
	kdr_status st;
	pass p = { 0 };
	kdri_mixture m = { 0 };
	KDRI_TRY(pass_new(ctx, data, o->k, true, &p));
	KDRI_TRY(mixture_new(ctx, &p, o->max_iter, &m));
	if (from) {
		memcpy(m.share, from->share, (size_t)(m.tables * m.k) * sizeof *m.share);
		memcpy(m.theta, from->theta, (size_t)(p.levels * m.k) * sizeof *m.theta);
		for (int64_t c = 0; c < m.k; c++)
			for (int64_t j = 0; j < m.numbers; j++) {
				double s = p.spread[j] > 0 ? p.spread[j] : 1,
				       v = from->variance[c * m.numbers + j];
				m.mean[c * m.numbers + j] = (from->mean[c * m.numbers + j] - p.centre[j]) / s;
				m.variance[c * m.numbers + j] = v > 0 ? v / (s * s) : 1;
			}
	}
	KDRI_TRY(mixture_iterate(ctx, &p, o, start, &m));
	KDRI_TRY(run_pass(ctx, &p, &(request){ .table = -1, .labels = labels, .posterior = posterior }));
	/* Between standardised numbers and those as given. A constant number has its value for a mean, and no variance. */
	for (int64_t c = 0; c < m.k; c++)
		for (int64_t j = 0; j < m.numbers; j++) {
			double *mean = &m.mean[c * m.numbers + j], *v = &m.variance[c * m.numbers + j];
			*mean = p.centre[j] + p.spread[j] * *mean;
			*v *= p.spread[j] * p.spread[j];
		}
	*out = m;
	m = (kdri_mixture){ 0 };
done:
	kdri_mixture_free(ctx, &m);
	pass_free(ctx, &p);
	return st;
}

kdr_status kdri_mixture_fit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                            const int64_t *start, kdri_mixture *out, int64_t *labels, double *posterior)
{
	return mixture_fit(ctx, data, o, start, NULL, out, labels, posterior);
}

kdr_status kdri_mixture_refit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                              const kdri_mixture *from, kdri_mixture *out, int64_t *labels, double *posterior)
{
	return mixture_fit(ctx, data, o, NULL, from, out, labels, posterior);
}

kdr_status kdri_mixture_assign(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture *m,
                               int64_t t, int64_t *labels, double *posterior)
{
	kdr_status st;
	pass p = { 0 };
	const int64_t begin[] = { 0, data->n };
	kdri_mixture_data rows = *data;
	if (t >= 0) { /* all rows are of one of the tables that shares are known of */
		rows.tables = m->tables;
		rows.begin = begin;
	}
	KDRI_TRY(pass_new(ctx, &rows, m->k, false, &p));
	set_coefficients(&p, m);
	KDRI_TRY(run_pass(ctx, &p, &(request){ .table = t, .labels = labels, .posterior = posterior }));
done:
	pass_free(ctx, &p);
	return st;
}

double kdri_mixture_bic(double loglik, int64_t k, int64_t tables, int64_t centres, int64_t numbers,
                        int64_t levels_less_one, int64_t rows)
{
	int64_t free_parameters =
	        (k + 1) * numbers + k * levels_less_one + (k - 1) * tables + centres * numbers; /* (E7) */
	return -2 * loglik + (double)free_parameters * log((double)rows);
}
