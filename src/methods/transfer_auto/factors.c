/* A member: feature clusters that source and target share. SPDX-License-Identifier: BSD-3-Clause
 *
 * This is method nmtf with every feature cluster shared, started from the predictions of a logistic regression of
 * cost 10, for 25 sweeps. With more sweeps, the features alone determine the classes. This is worse if the initial
 * labels are right (webkb: .80 after 15, .74 after 25, .66 after 40) and better if they are wrong (20 Newsgroups of
 * 3-4 classes: .59, .63, .64). Entries must not be negative: if some are, each feature becomes two,
 *
 *   (E1)  x_j -> (max(x_j, 0), max(-x_j, 0)). */
#include "methods/transfer_auto/members.h"

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
