/* mSDA as a step before any method: features learnt on all tasks together. SPDX-License-Identifier: BSD-3-Clause
 *
 * [CXWS12] M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation. ICML 2012.
 *
 *   (E1)  Z = [h^0, h^1, .., h^g],   h^0 = the samples, h^i = layer i of msda_run.c
 *
 * Z, which has (g + 1) d columns, is stored here, because any method may follow; mtcfir only needs its products and does
 * not store it. The option --features-from msda of the program runs it before a method.
 *
 * Z   features        g   layers        p   noise */
#include "methods/mtcfir/msda.h"
#include "api/method.h"
#include "methods/common/tasks.h"

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_MSDA,
	KDRI_OPTION_PRECISION,
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("features", KDR_FLOAT64, "n x (layers + 1) d",
	           "the features of the samples, followed by the output of each layer", .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation. ICML 2012. [CXWS12]",
	NULL,
};

/* A fit at work. */
typedef struct work {
	const kdri_stack *stack;
	const kdri_msda_options *options;
	double **z; /* where the layers go: of each task, in the result */
	int64_t wide;
	kdri_msda_info info;
} work;

/* Rows i.. of task t from the output of a layer: their columns in Z. */
static double *place_of(const work *w, int64_t t, int64_t i, int64_t layer)
{
	return w->z[t] + (i - w->stack->begin[t]) * w->wide + layer * kdr_mat_cols(&w->stack->x); /* (E1) */
}

static kdr_status put_layer(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                            const kdri_panels *h)
{
	const work *w = user;
	for (int64_t t = 0; t < w->stack->ntasks; t++)
		for (int64_t i = w->stack->begin[t], end = w->stack->begin[t + 1], rows; i < end; i += rows) {
			kdri_block part;
			double *to = place_of(w, t, i, layer);
			rows = h ? KDRI_MIN(h->high, end - i) : 1;
			for (int64_t p = h ? 0 : x->as.csr.rowptr[i]; !h && p < x->as.csr.rowptr[i + 1]; p++)
				to[x->as.csr.col[p]] = x->as.csr.val[p];
			if (!h)
				continue;
			KDRI_DO(kdri_panels_load(h, i, 0, rows, h->d, &part));
			KDRI_DO(kdri_block_fetch(ctx, part, to, w->wide));
		}
	return KDR_OK;
}

static kdr_status msda_compute(kdr_context *ctx, kdri_device *dev, void *user)
{
	work *w = user;
	const kdr_mat *x = &w->stack->x;
	return kdri_msda_run(ctx, dev, x, kdr_mat_rows(x), w->options, put_layer, w, &w->info);
}

static kdr_status msda_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_stack stack = { .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	work w = { .stack = &stack };
	KDRI_TRY(kdri_stack_new(ctx, problem, &stack));
	int64_t n = stack.begin[stack.ntasks], d = kdr_mat_cols(&stack.x);
	kdri_msda_options o = kdri_msda_options_of(options, n);
	w.options = &o;
	w.wide = (o.layers + 1) * d;
	KDRI_TRY(KDRI_NEW(ctx, &w.z, stack.ntasks));
	for (int64_t t = 0; t < stack.ntasks; t++)
		KDRI_TRY(kdri_result_array(ctx, result, "features", t, KDR_FLOAT64, 2,
		                           (int64_t[]){ stack.begin[t + 1] - stack.begin[t], w.wide },
		                           &w.z[t]));
	bool before = ctx->abandon;
	ctx->abandon = true; /* a layer that is not done stays zero, like those after it */
	st = kdri_compute(ctx, (double)o.layers * 4 * (double)n * (double)d * (double)KDRI_MIN(n, d),
	                  msda_compute, &w);
	ctx->abandon = before;
	bool stopped = ctx->cancelled || ctx->timed_out;
	KDRI_TRY(st == KDR_ERR_NUMERIC && stopped ? KDR_OK : st);
	KDRI_TRY(kdri_msda_warn(ctx, &w.info, result));
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, w.info.layers);
done:
	kdri_stack_free(ctx, &stack);
	kdri_free(ctx, w.z);
	return st;
}

const kdri_algo kdri_algo_msda = {
	.info = { .id = "msda",
	          .class_name = "MSDA",
	          .title = "Marginalised stacked denoising autoencoders",
	          .summary =
	                  "learns features that are robust to noise on all data sets together; a step before other methods (--features-from msda)",
	          .family = KDR_FAMILY_FEATURES,
	          .flags = KDR_ALGO_JOINT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = msda_fit,
};
