/* Scaling of values whose squares would overflow or underflow. SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods add up squares, and products of them: entries of 1e160 have no square, those of 1e-170 have the square 0, and
 * 1.8e308 is a common stand-in for "missing". With
 *
 *   (E1)  M = max |x_ij| over all tasks = f 2^e,  1/2 <= f < 1
 *
 * fourth powers of x, summed over 2^500 entries, are finite where e <= 128, and their squares are above 0 where e >=
 * -128. Elsewhere methods get
 *
 *   (E2)  x_ij 2^-e
 *
 * which is exact except for numbers so far below M that they are negligible. Methods without their own scale find
 * the same clusters as before; the result says that values were scaled, since arrays and objective are of the scaled
 * ones. */
#include "api/magnitude.h"
#include "comm/comm.h"
#include "matrix/linalg.h"
#include "matrix/traits.h"

#include <stdlib.h>

enum { LARGEST_EXPONENT = 128 };

/* (E1), 0 where nothing need be done. */
static int exponent_of(double largest)
{
	int e = 0;
	if (largest > 0)
		(void)frexp(largest, &e);
	return abs(e) > LARGEST_EXPONENT ? e : 0;
}

/* (E2) into values[]; out has the shape and the indices of x. */
static kdr_status scaled_copy(kdr_context *ctx, const kdr_mat *x, int exponent, double **values, kdr_mat *out)
{
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), size = 0;
	if (x->kind == KDR_MAT_DENSE)
		KDRI_DO(kdri_mul(ctx, n, d, &size));
	else
		size = x->as.csr.rowptr[n];
	KDRI_DO(KDRI_NEW(ctx, values, size));
	for (int64_t i = 0, to = 0; i < n; i++) {
		const kdri_entries r = kdri_row_entries(x, i);
		for (int64_t p = 0; p < r.count; p++)
			(*values)[to++] = ldexp(r.val[p], -exponent);
	}
	*out = x->kind == KDR_MAT_DENSE ? kdr_mat_from_dense(*values, n, d)
	                                : kdr_mat_from_csr(n, d, x->as.csr.rowptr, x->as.csr.col, *values);
	return KDR_OK;
}

void kdri_scaled_free(kdr_context *ctx, kdri_scaled *p)
{
	for (int64_t t = 0; p->values && t < p->problem.ntasks; t++)
		kdri_free(ctx, p->values[t]);
	KDRI_FREE(ctx, p->values, p->tasks);
	*p = (kdri_scaled){ 0 };
}

kdr_status kdri_scaled_new(kdr_context *ctx, const kdr_problem *problem, kdri_scaled *out)
{
	kdr_status st;
	kdri_scaled p = { .problem = *problem };
	double largest = 0;
	for (int64_t t = 0; t < problem->ntasks; t++)
		largest = KDRI_MAX(largest, kdri_traits_here(ctx, &problem->tasks[t].x).magnitude);
	KDRI_TRY(kdri_max(ctx, &largest, 1));
	p.exponent = exponent_of(largest);
	if (p.exponent != 0) {
		KDRI_TRY(KDRI_NEW(ctx, &p.tasks, problem->ntasks));
		KDRI_TRY(KDRI_NEW0(ctx, &p.values, problem->ntasks));
		for (int64_t t = 0; t < problem->ntasks; t++) {
			p.tasks[t] = problem->tasks[t];
			KDRI_TRY(scaled_copy(ctx, &problem->tasks[t].x, p.exponent, &p.values[t],
			                     &p.tasks[t].x));
		}
		p.problem.tasks = p.tasks;
	}
	*out = p;
	p = (kdri_scaled){ 0 };
done:
	kdri_scaled_free(ctx, &p);
	return st;
}

kdr_status kdri_predict(kdr_context *ctx, const kdri_algo *algo, const kdr_result *fitted,
                        const kdr_options *options, int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	int exponent = kdri_result_exponent(fitted);
	double *values = NULL, largest = kdri_traits_here(ctx, x).magnitude;
	kdr_mat rows = *x;
	if (exponent != 0)
		KDRI_TRY(scaled_copy(ctx, x, exponent, &values, &rows));
	if (exponent_of(ldexp(largest, -exponent)) > 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA,
		          "values are as large as %g, too far from those that the model was fitted on",
		          largest);
	KDRI_TRY(algo->predict(ctx, fitted, options, task, &rows, labels));
done:
	kdri_free(ctx, values);
	return st;
}
