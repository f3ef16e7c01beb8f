/* Members that learn features: clusters of features, and features that undo noise. SPDX-License-Identifier: BSD-3-Clause
 *
 * This is method nmtf with every feature cluster shared, started from the predictions of a logistic regression of
 * cost 10, for 25 sweeps. With more sweeps, the features alone determine the classes. This is worse if the initial
 * labels are right (webkb: .80 after 15, .74 after 25, .66 after 40) and better if they are wrong (20 Newsgroups of
 * 3-4 classes: .59, .63, .64). Entries must not be negative: if some are, each feature becomes two,
 *
 *   (E1)  x_j -> (max(x_j, 0), max(-x_j, 0)). */
/* A member: a classifier on the data and on features that undo noise.
 *
 * Two layers of method msda, noise 0.5, on the 600 commonest features of words, or the 400 of largest variance of
 * other data; of what the layers give, h, the 100 leading directions:
 *
 *   (E2)  h - mean = U S V',  y = a U S, a such that the mean square length of its rows is 1
 *   (E3)  an svm of cost 1 on [Z y]
 *
 * If all directions are used, y is only turned by V, which changes no svm: then y = a (h - mean). */
#include "matrix/device_use.h"
#include "matrix/range.h"
#include "methods/transfer_auto/auto_transfer.h"

static const kdri_setting nmtf_settings[] = { { .name = "p1", .value = 30 },
	                                      { .name = "p2", .value = 0 },
	                                      { .name = "max_iter", .value = 25 },
	                                      { 0 } };

static kdri_own factors_no_matrix(void)
{
	return (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

/* (E1) */
static kdr_status split_signs(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), *rowptr = NULL, size;
	int32_t *col = NULL;
	double *val = NULL;
	if (x->kind == KDR_MAT_DENSE) {
		KDRI_TRY(kdri_mul(ctx, n, 2 * d, &size));
		KDRI_TRY(KDRI_NEW(ctx, &val, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < d; j++) {
				double v = x->as.dense.data[i * x->as.dense.stride + j];
				val[i * 2 * d + j] = v > 0 ? v : 0;
				val[i * 2 * d + d + j] = v < 0 ? -v : 0;
			}
		*out = (kdri_own){ kdr_mat_from_dense(val, n, 2 * d), { val } };
		return KDR_OK;
	}
	const kdr_csr *a = &x->as.csr;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, kdr_mat_nnz(x)));
	KDRI_TRY(KDRI_NEW(ctx, &val, kdr_mat_nnz(x)));
	int64_t at = 0;
	for (int64_t i = 0; i < n; i++) {
		rowptr[i] = at;
		for (int sign = 1; sign >= -1; sign -= 2)
			for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++)
				if (a->val[p] * sign > 0) {
					col[at] = (int32_t)(a->col[p] + (sign > 0 ? 0 : d));
					val[at++] = a->val[p] * sign;
				}
	}
	rowptr[n] = at;
	*out = kdri_own_csr(n, 2 * d, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

/* Some rows of x as a separate matrix; it borrows the entries of x if no row is excluded. */
static kdr_status factors_take(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, bool known,
                               kdri_own *out, int64_t *labels)
{
	kdr_status st;
	int64_t *rows = NULL, count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &rows, d->n));
	for (int64_t i = known ? 0 : kdri_transfer_first(d); i < d->n; i++)
		if (!known || d->labels[i] >= 0) {
			labels[count] = d->labels[i];
			rows[count++] = i;
		}
	if (count > 0 && rows[count - 1] - rows[0] + 1 == count)
		KDRI_TRY(kdri_rows_own(ctx, x, rows[0], rows[0] + count, out));
	else
		KDRI_TRY(kdri_mat_take(ctx, x, rows, count, out));
done:
	kdri_free(ctx, rows);
	return st;
}

static kdr_status factors_factorise(kdr_context *ctx, const kdri_transfer_work *t, const kdr_mat *x,
                                    double *p)
{
	kdr_status st;
	const kdri_domains *d = t->d;
	int64_t c = d->classes, first = kdri_transfer_first(d), n = kdri_transfer_count(d);
	kdri_own source = factors_no_matrix(), target = factors_no_matrix();
	int64_t *labels = NULL, *known = NULL, *init = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &labels, d->n));
	KDRI_TRY(KDRI_NEW(ctx, &known, d->n));
	KDRI_TRY(KDRI_NEW(ctx, &init, n));
	KDRI_TRY(factors_take(ctx, d, x, true, &source, labels));
	KDRI_TRY(factors_take(ctx, d, x, false, &target, known));
	KDRI_TRY(kdri_transfer_logistic(ctx, d, &t->v->z.view, 10, p));
	for (int64_t i = 0; i < n; i++)
		init[i] = kdri_rest_best(p + (first + i) * c, c);
	const kdr_task tasks[] = {
		{ .name = "source", .role = KDR_ROLE_SOURCE, .x = source.view, .k = c, .labels = labels },
		{ .name = "target",
		  .role = KDR_ROLE_TARGET,
		  .x = target.view,
		  .k = c,
		  .labels = known,
		  .init = init },
	};
	const kdr_problem problem = { .tasks = tasks, .ntasks = 2, .classes = c };
	KDRI_TRY(kdri_options_new(ctx, kdri_algo_find("nmtf"), nmtf_settings, &options));
	KDRI_TRY(kdri_fit_member(ctx, &problem, options, &result));
	kdr_array found = kdr_result_array(result, "probabilities", 1);
	memcpy(p + first * c, found.data, (size_t)(n * c) * sizeof *p);
done:
	kdri_own_free(ctx, &source);
	kdri_own_free(ctx, &target);
	KDRI_FREE(ctx, labels, known, init);
	kdr_options_free(options);
	kdr_result_free(result);
	return st;
}

kdr_status kdri_transfer_factors(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	kdri_own split = factors_no_matrix();
	if (t->v->negative)
		KDRI_TRY(split_signs(ctx, &t->v->unit.view, &split));
	KDRI_TRY(factors_factorise(ctx, t, t->v->negative ? &split.view : &t->v->unit.view, p));
done:
	kdri_own_free(ctx, &split);
	return st;
}

enum { WORDS = 600, OTHERS = 400, LAYERS = 2, DIRECTIONS = 100, ROUNDS = 3 };
static const kdri_setting layers_settings[] = { { .name = "layers", .value = 2 }, { 0 } };
/* 0.8 GB, and as much again while layers are made. */
static const double most_cells = 1e8;

static int64_t columns_of(const kdri_transfer_work *t)
{
	return KDRI_MIN(t->v->words ? WORDS : OTHERS, kdr_mat_cols(&t->v->z.view));
}

double kdri_transfer_layers_cells(const kdri_transfer_work *t)
{
	return (double)t->d->n * (double)(columns_of(t) * (LAYERS + 1));
}

bool kdri_transfer_layers_able(const kdri_transfer_work *t)
{
	return kdri_transfer_layers_cells(t) <= most_cells;
}

/* Rows that have a feature, or its variance. */
static kdr_status weigh_columns(kdr_context *ctx, const kdri_transfer_work *t, double *weight)
{
	kdr_status st;
	const kdr_mat *x = &t->v->unit.view;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), *counts = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &counts, d));
	kdri_mat_col_counts(ctx, x, counts);
	for (int64_t j = 0; j < d; j++)
		weight[j] = t->v->words ? (double)counts[j] : -(double)n * t->v->mean[j] * t->v->mean[j];
	for (int64_t i = 0; i < n && !t->v->words; i++)
		for (int64_t p = x->kind == KDR_MAT_DENSE ? 0 : x->as.csr.rowptr[i],
		             end = x->kind == KDR_MAT_DENSE ? d : x->as.csr.rowptr[i + 1];
		     p < end; p++) {
			double v = x->kind == KDR_MAT_DENSE ? x->as.dense.data[i * x->as.dense.stride + p]
			                                    : x->as.csr.val[p];
			weight[x->kind == KDR_MAT_DENSE ? p : x->as.csr.col[p]] += v * v;
		}
done:
	kdri_free(ctx, counts);
	return st;
}

/* The columns chosen, dense. */
static kdr_status take_columns(kdr_context *ctx, const kdri_transfer_work *t, int64_t count, double *out)
{
	kdr_status st;
	const kdr_mat *x = &t->v->z.view;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *weight = NULL;
	bool *chosen = NULL;
	int32_t *place = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &weight, d));
	KDRI_TRY(KDRI_NEW(ctx, &chosen, d));
	KDRI_TRY(KDRI_NEW(ctx, &place, d));
	KDRI_TRY(weigh_columns(ctx, t, weight));
	/* The columns with the largest weights, in increasing order; of equals the lower. */
	memset(chosen, 0, (size_t)d * sizeof *chosen);
	for (int64_t k = 0; k < count; k++) {
		int64_t best = -1;
		for (int64_t j = 0; j < d; j++)
			if (!chosen[j] && (best < 0 || weight[j] > weight[best]))
				best = j;
		chosen[best] = true;
	}
	for (int64_t j = 0, at = 0; j < d; j++)
		place[j] = chosen[j] ? (int32_t)at++ : -1;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++) {
		memset(out + i * count, 0, (size_t)count * sizeof *out);
		bool dense = x->kind == KDR_MAT_DENSE;
		for (int64_t p = dense ? 0 : x->as.csr.rowptr[i], end = dense ? d : x->as.csr.rowptr[i + 1];
		     p < end; p++) {
			int64_t j = dense ? p : x->as.csr.col[p];
			if (place[j] >= 0)
				out[i * count + place[j]] =
				        dense ? x->as.dense.data[i * x->as.dense.stride + p]
				              : x->as.csr.val[p];
		}
	}
done:
	KDRI_FREE(ctx, weight, chosen, place);
	return st;
}

/* (E2) without the turn: y = a (h - mean). */
static kdr_status centre_features(kdr_context *ctx, const kdr_mat *h, const double *mean, double **y)
{
	const int64_t n = kdr_mat_rows(h), d = kdr_mat_cols(h), chunks = kdri_chunks(n);
	int64_t size;
	double part[KDRI_CHUNKS], total = 0, *out;
	KDRI_DO(kdri_mul(ctx, n, d, &size));
	KDRI_DO(KDRI_NEW(ctx, y, size));
	out = *y;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (size > KDRI_BLOCK)
	for (int64_t c = 0; c < chunks; c++) {
		part[c] = 0;
		for (int64_t i = kdri_chunk_begin(n, chunks, c); i < kdri_chunk_begin(n, chunks, c + 1);
		     i++) {
			for (int64_t j = 0; j < d; j++)
				out[i * d + j] = h->as.dense.data[i * h->as.dense.stride + j] - mean[j];
			part[c] += kdri_nrm2sq(out + i * d, d);
		}
	}
	for (int64_t c = 0; c < chunks; c++)
		total += part[c];
	const double scale = total > 0 ? sqrt((double)n / total) : 1;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (size > KDRI_BLOCK)
	for (int64_t e = 0; e < size; e++)
		out[e] *= scale;
	return KDR_OK;
}

/* (E2) of the layers' features (n x wide): y (n x width). */
static kdr_status find_directions(kdr_context *ctx, const double *h, int64_t n, int64_t wide, int64_t stride,
                                  int64_t width, double **y)
{
	kdr_status st;
	double *mean = NULL, *s = NULL, total = 0;
	kdri_held *held = NULL;
	kdr_mat x = kdr_mat_from_dense(h, n, wide);
	x.as.dense.stride = stride;
	KDRI_TRY(KDRI_NEW(ctx, &mean, wide));
	KDRI_TRY(KDRI_NEW(ctx, &s, width));
	KDRI_TRY(kdri_mat_col_sums(ctx, &x, mean));
	for (int64_t j = 0; j < wide; j++)
		mean[j] /= (double)n;
	if (width == wide) {
		KDRI_TRY(centre_features(ctx, &x, mean, y));
		goto done;
	}
	const kdri_centred centred = { &x, mean };
	const kdri_op op = kdri_op_centred(&centred);
	KDRI_TRY(kdri_hold_leading(ctx, &x, width, ROUNDS, &held));
	KDRI_TRY(kdri_leading(ctx, &op, width, ROUNDS, y, s, NULL));
	for (int64_t j = 0; j < width; j++)
		total += s[j] * s[j];
	double scale = total > 0 ? sqrt((double)n / total) : 1;
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < width; j++)
			(*y)[i * width + j] *= scale * s[j];
done:
	kdri_unhold(ctx, held);
	KDRI_FREE(ctx, mean, s);
	return st;
}

/* [Z y], dense or sparse as Z is. */
static kdr_status layers_join(kdr_context *ctx, const kdr_mat *z, const double *y, int64_t width,
                              kdri_own *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(z), d = kdr_mat_cols(z), size, *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	if (z->kind == KDR_MAT_DENSE) {
		KDRI_TRY(kdri_mul(ctx, n, d + width, &size));
		KDRI_TRY(KDRI_NEW(ctx, &val, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
		for (int64_t i = 0; i < n; i++) {
			memcpy(val + i * (d + width), z->as.dense.data + i * z->as.dense.stride,
			       (size_t)d * sizeof *val);
			memcpy(val + i * (d + width) + d, y + i * width, (size_t)width * sizeof *val);
		}
		*out = (kdri_own){ kdr_mat_from_dense(val, n, d + width), { val } };
		return KDR_OK;
	}
	const kdr_csr *a = &z->as.csr;
	size = kdr_mat_nnz(z) + n * width;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, size));
	KDRI_TRY(KDRI_NEW(ctx, &val, size));
	for (int64_t i = 0, at = 0; i < n; i++) {
		rowptr[i] = at;
		for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++, at++) {
			col[at] = a->col[p];
			val[at] = a->val[p];
		}
		for (int64_t j = 0; j < width; j++, at++) {
			col[at] = (int32_t)(d + j);
			val[at] = y[i * width + j];
		}
		rowptr[i + 1] = at;
	}
	*out = kdri_own_csr(n, d + width, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

kdr_status kdri_transfer_layers(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	int64_t n = t->d->n, d = columns_of(t), wide = LAYERS * d, size;
	int64_t width = KDRI_MIN(DIRECTIONS, KDRI_MIN(wide, n));
	double *x = NULL, *y = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdri_own joined = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(kdri_mul(ctx, n, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &x, size));
	KDRI_TRY(take_columns(ctx, t, d, x));
	const kdr_task all = {
		.name = "all", .role = KDR_ROLE_TASK, .x = kdr_mat_from_dense(x, n, d), .k = 1
	};
	const kdr_problem problem = { .tasks = &all, .ntasks = 1 };
	KDRI_TRY(kdri_options_new(ctx, kdri_algo_find("msda"), layers_settings, &options));
	KDRI_TRY(kdri_fit_member(ctx, &problem, options, &result));
	kdri_free(ctx, x);
	x = NULL;
	kdr_array h = kdr_result_array(result, "features", 0);
	KDRI_TRY(find_directions(ctx, (const double *)h.data + d, n, wide, wide + d, width, &y));
	kdr_result_free(result);
	result = NULL;
	KDRI_TRY(layers_join(ctx, &t->v->z.view, y, width, &joined));
	KDRI_TRY(kdri_transfer_classify(ctx, t->d, &joined.view, KDRI_LOSS_SQUARED_HINGE, 1, t->v->free_bias,
	                                p)); /* (E3) */
	kdri_rest_soften(ctx, p, n, t->d->classes, 2);
done:
	KDRI_FREE(ctx, x, y);
	kdri_own_free(ctx, &joined);
	kdr_options_free(options);
	kdr_result_free(result);
	return st;
}
