/* kdr_relate: every measure of every task and pair. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/relate/relate.h"

#include <stdio.h>

#include "engine/metrics/metrics.h"
#include "matrix/blas.h"

static const char stage[] = "relate";

kdr_relate_options kdri_relate_resolve(const kdr_relate_options *options)
{
	kdr_relate_options o = options ? *options : (kdr_relate_options){ .size = sizeof o };
	o.rare = o.rare != 0 ? o.rare : 0.1;
	o.ridge = o.ridge != 0 ? o.ridge : 1;
	o.folds = o.folds ? o.folds : 5;
	o.most_rows = o.most_rows ? o.most_rows : 4000;
	return o;
}

static kdr_status measures_check(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                 const kdr_relate_options *o)
{
	if (count < 1 || !x)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "relate: no data set was given; at least one is needed");
	if (!(o->rare >= 0 && o->rare <= 1) || !(o->ridge > 0) || o->folds < 2 || o->most_rows < 2)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "relate: rare is %g (use 0 to 1), ridge %g (above 0), folds %lld (2 or more), most rows %lld (2 or more)",
		        o->rare, o->ridge, (long long)o->folds, (long long)o->most_rows);
	for (int64_t t = 0; t < count; t++) {
		if (kdr_mat_rows(&x[t]) < 1 || kdr_mat_cols(&x[t]) != kdr_mat_cols(&x[0]))
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "relate: data set %lld has %lld rows and %lld columns; at least one row and the %lld columns of the first are needed",
			        (long long)t + 1, (long long)kdr_mat_rows(&x[t]),
			        (long long)kdr_mat_cols(&x[t]), (long long)kdr_mat_cols(&x[0]));
		char name[32];
		snprintf(name, sizeof name, "%lld", (long long)t + 1);
		KDRI_DO(kdri_mat_check_finite(ctx, &x[t], name));
	}
	return KDR_OK;
}

/* At most `most` evenly spaced rows; they are copied to `own` if some are omitted. */
static kdr_status thin(kdr_context *ctx, const kdr_mat *x, int64_t most, kdri_own *own, kdr_mat *out)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x), *rows = NULL;
	*out = *x;
	if (n <= most)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &rows, most));
	/* One of each of `most` equal stretches, so that data sorted by class keep their shares. The seed is fixed:
	 * a measure of data must not change with the seed of a run. */
	kdri_rng rng = kdri_rng_stream(1, stage, (uint64_t)n);
	for (int64_t k = 0; k < most; k++)
		rows[k] = kdri_chunk_draw(&rng, n, most, k);
	KDRI_TRY(kdri_mat_take(ctx, x, rows, most, own));
	*out = own->view;
done:
	kdri_free(ctx, rows);
	return st;
}

void kdri_relate_task_counts(const int64_t *counts, int64_t d, double rare, kdri_relate_task *t)
{
	t->observed = 0;
	for (int64_t j = 0; j < d; j++)
		t->observed += counts[j] > 0;
	t->complexity = kdri_complexity(counts, d, t->samples, rare, false);
	t->complexity_observed = kdri_complexity(counts, d, t->samples, rare, true);
}

void kdri_relate_pair_counts(int64_t *const *counts, int64_t d, kdri_relate_pair *p)
{
	int64_t either = 0;
	p->shared = 0;
	for (int64_t j = 0; j < d; j++) {
		p->shared += counts[p->a][j] > 0 && counts[p->b][j] > 0;
		either += counts[p->a][j] > 0 || counts[p->b][j] > 0;
	}
	p->overlap = either > 0 ? (double)p->shared / (double)either : NAN;
}

static kdr_status measure_pair(kdr_context *ctx, const kdr_mat *x, const kdr_relate_options *o,
                               int64_t *const *counts, kdri_relate_pair *p)
{
	kdr_status st;
	kdri_own a = { .view = kdr_mat_from_dense(NULL, 0, 0) }, b = a;
	kdr_mat xa, xb;
	kdri_relate_pair_counts(counts, kdr_mat_cols(x), p);
	KDRI_TRY(kdri_a_distance(ctx, &x[p->a], &x[p->b], o->ridge, o->folds, &p->a_distance));
	p->mmd_linear = p->mmd_gaussian = p->bandwidth = NAN;
	if (!o->no_mmd) {
		kdri_mmd_value v;
		KDRI_TRY(thin(ctx, &x[p->a], o->most_rows, &a, &xa));
		KDRI_TRY(thin(ctx, &x[p->b], o->most_rows, &b, &xb));
		KDRI_TRY(kdri_mmd(ctx, &xa, &xb, &v));
		KDRI_TRY(kdri_mmd_linear(ctx, &x[p->a], &x[p->b], &p->mmd_linear));
		p->mmd_gaussian = v.gaussian;
		p->bandwidth = v.bandwidth;
	}
done:
	kdri_own_free(ctx, &a);
	kdri_own_free(ctx, &b);
	return st;
}

static kdr_status measures_measure(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                   const kdr_relate_options *o, int64_t **counts, kdri_relate_task *tasks,
                                   kdri_relate_pair *pairs)
{
	int64_t d = kdr_mat_cols(x), k = 0, total = count * (count - 1) / 2;
	for (int64_t t = 0; t < count; t++) {
		int64_t n = kdr_mat_rows(&x[t]);
		KDRI_DO(KDRI_NEW(ctx, &counts[t], d));
		kdri_mat_col_counts(ctx, &x[t], counts[t]);
		tasks[t] = (kdri_relate_task){ .samples = n, .features = d };
		kdri_relate_task_counts(counts[t], d, o->rare, &tasks[t]);
	}
	for (int64_t b = 1; b < count; b++)
		for (int64_t a = 0; a < b; a++, k++) {
			pairs[k] = (kdri_relate_pair){ .a = a, .b = b };
			KDRI_DO(measure_pair(ctx, x, o, counts, &pairs[k]));
			/* The measures of this pair may have been cut short. */
			if (kdri_iteration(ctx, stage, k + 1, total, NAN))
				return kdri_fail(
				        ctx, KDR_ERR_NUMERIC,
				        "relate: stopped%s in pair %lld of %lld; a result needs all pairs",
				        ctx->cancelled ? "" : " at the time limit", (long long)k + 1,
				        (long long)total);
		}
	return KDR_OK;
}

kdr_status kdri_relate_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                const kdr_relate_options *options, kdri_relate_task *tasks,
                                kdri_relate_pair *pairs)
{
	kdr_status st;
	kdr_relate_options o;
	int64_t **counts = NULL;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	o = kdri_relate_resolve(options);
	KDRI_TRY(measures_check(ctx, x, count, &o));
	KDRI_TRY(kdri_blas_reserve(ctx));
	KDRI_TRY(KDRI_NEW0(ctx, &counts, count));
	kdri_stage_start(ctx, stage, count * (count - 1) / 2);
	st = measures_measure(ctx, x, count, &o, counts, tasks, pairs);
	kdri_stage_end(ctx, stage);
done:
	for (int64_t t = 0; counts && t < count; t++)
		kdri_free(ctx, counts[t]);
	kdri_free(ctx, counts);
	return st;
}
