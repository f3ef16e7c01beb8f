/* SNMF: symmetric non-negative factorisation of similarities. SPDX-License-Identifier: BSD-3-Clause
 *
 * [KDP12] D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM 2012;
 * the single-task method that [ZZL19] compares with.
 *
 *   (E1)  M_ij = max(cos(x_i, x_j), 0), or exp(-|x_i - x_j|^2 / (2 sigma^2))
 *   (E2)  min |M - Y Y'|^2 over Y >= 0 (n x k), from k-means; label = argmax      parts/snmf_steps.c
 *
 * Each task by itself. M is n x n and dense; a sparse X stays sparse.
 *
 * M   gram (in its place)        Y   memberships        sigma   sigma */
#include "algo/parts/consistent.h"
#include "algo/parts/msda.h"
#include "algo/parts/snmf_task.h"
#include "algo/parts/tasks.h"

#include <stdio.h>

static const char stage[] = "snmf";

static const kdr_option_desc options_table[] = {
	{ .name = "similarity",
	  .type = KDR_OPTION_CHOICE,
	  .initial = KDRI_SIMILARITY_COSINE,
	  .choices = kdri_similarity_names,
	  .help = "how alike two samples are: their cosine, if positive, or a Gaussian of their distance" },
	{ .name = "sigma",
	  .type = KDR_OPTION_REAL,
	  .initial = 0,
	  .min = 0,
	  .max = 1e300,
	  .automatic = "median distance",
	  .symbol = "sigma",
	  .help = "width of the Gaussian; 0: the median distance between two samples" },
	KDRI_OPTION_FINAL,
	KDRI_OPTION_PRECISION,
	KDRI_OPTION_MAX_ITER(200),
	KDRI_OPTION_TOL(1e-6),
	KDRI_OPTION_N_INIT(10),
	KDRI_OPTIONS_END,
};

static const kdr_field_desc fields_table[] = { KDRI_FIELDS_FINAL, { .name = NULL } };

static const char *const references_table[] = {
	"D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM "
	"2012. "
	"[KDP12]",
	NULL,
};

/* X X' */
static kdr_status fill_gram(kdr_context *ctx, const kdr_mat *x, const kdri_block *gram)
{
	kdr_status st;
	kdri_own xt = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_block narrow = { 0 };
	if (x->kind == KDR_MAT_CSR) {
		KDR_TRY(kdri_mat_transpose(ctx, x, &xt));
		KDR_TRY(kdri_sparse_gram(ctx, &x->as.csr, &xt.view.as.csr, NULL, gram));
	} else if (!gram->single) {
		const kdr_dense *a = &x->as.dense;
		KDR_TRY(kdri_syrk(ctx, false, a->rows, a->cols, a->data, a->stride, gram->data,
		                  gram->stride));
	} else {
		const kdr_dense *a = &x->as.dense;
		KDR_TRY(kdri_block_new(ctx, a->rows, a->cols, true, &narrow));
		for (int64_t i = 0; i < a->rows; i++)
			kdri_block_write(&narrow, i, 0, a->cols, a->data + i * a->stride);
		KDR_TRY(kdri_block_syrk(ctx, false, 1, &narrow, 0, gram));
	}
	kdri_block_mirror(ctx, gram);
done:
	kdri_own_free(ctx, &xt);
	kdri_block_free(ctx, &narrow);
	return st;
}

static kdr_status cluster(kdr_context *ctx, const kdr_task *task, int64_t t, const kdr_options *options,
                          kdr_result *result, kdri_trace *trace)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(&task->x), n_init = kdri_opt_int(options, "n_init"), *starts = NULL, size;
	kdri_similarity similarity = (kdri_similarity)kdri_opt_choice(options, "similarity");
	double sigma = kdri_opt_real(options, "sigma");
	kdri_block gram = { 0 };
	char unnamed[32];
	snprintf(unnamed, sizeof unnamed, "%lld", (long long)t + 1);
	kdri_snmf_task s = { .task = t,
		             .k = task->k,
		             .name = task->name ? task->name : unnamed,
		             .dense = &gram,
		             .runs = 1,
		             .given = task->init != NULL,
		             .options = options,
		             .stage = stage };
	KDR_TRY(kdri_mul(ctx, n, n_init, &size));
	KDR_TRY(KDRI_NEW(ctx, &starts, size));
	bool single = kdri_precision_single(options, n);
	KDR_TRY(kdri_memory_check(ctx, (single ? 4 : 8) * (double)n * (double)n, "method 'snmf'", n,
	                          kdr_mat_cols(&task->x)));
	KDR_TRY(kdri_block_new(ctx, n, n, single, &gram));
	KDR_TRY(fill_gram(ctx, &task->x, &gram));
	if (task->init)
		memcpy(starts, task->init, (size_t)n * sizeof *starts);
	else if (kdri_opt_choice(options, "final") == KDRI_FINAL_SNMF)
		KDR_TRY(kdri_snmf_starts(ctx, &gram, task->k, n_init, t, starts, &s.runs));
	s.starts = starts;
	if (similarity == KDRI_SIMILARITY_GAUSS && sigma == 0)
		KDR_TRY(kdri_gram_median(ctx, &gram, &sigma));
	KDR_TRY(kdri_gram_similarity(ctx, &gram, similarity, sigma)); /* (E1) */
	kdri_block_clip(ctx, &gram);
	KDR_TRY(kdri_snmf_task_run(ctx, &s, result, trace)); /* (E2) */
done:
	kdri_block_free(ctx, &gram);
	kdri_free(ctx, starts);
	return st;
}

static kdr_status fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                      kdr_result *result)
{
	kdr_status st;
	kdri_trace *traces = NULL;
	kdri_stage_start(ctx, stage, kdri_opt_int(options, "max_iter"));
	KDR_TRY(KDRI_NEW0(ctx, &traces, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++)
		KDR_TRY(cluster(ctx, &problem->tasks[t], t, options, result, &traces[t]));
	KDR_TRY(kdri_put_traces(ctx, traces, problem->ntasks, result));
done:
	kdri_stage_end(ctx, stage);
	kdri_free(ctx, traces);
	return st;
}

const kdri_algo kdri_algo_snmf = {
	.info = { .id = "snmf",
	          .title = "Symmetric non-negative matrix factorisation",
	          .summary = "factorises the similarities of a task's samples into memberships; each task by "
	                     "itself",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_MONOTONE,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = fit,
};
