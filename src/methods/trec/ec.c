/* EC: ensemble clustering. SPDX-License-Identifier: BSD-3-Clause
 *
 * Many rough partitions agree on real clusters and disagree on artefacts. L runs of k-means, each on m random features
 * (and optionally a random number of clusters or a random part of the samples), vote on every pair of samples:
 *     (E1)  h(i, j) = (1/L) sum_l [i and j share a cluster in run l]             [B19, section 2.2]
 * and the final partition is spectral clustering of H = (h): rows of the k leading eigenvectors of
 * D^-1/2 H D^-1/2, scaled to unit length, clustered by k-means:
 *     (E2)  J = sum_i |u_i - c_{z_i}|^2, which never rises.
 * H stays in low-rank form (ensemble.c): memory n (L + k), never n x n. Rows may be held by several ranks: labels are then
 * those of one process, bit for bit.
 *
 * The results besides the labels are the stability of each sample (its mean h with the others of its cluster), the
 * mean of the normalised mutual information between the result and the runs (`consensus`), and the k the eigengap
 * suggests, which `-k auto` uses:
 *     (E3)  k = argmax over 2 .. k_max of lambda_k - lambda_{k+1}.
 * If every run has the same k, the spectrum has a gap there anyway: the suggestion is informative only if the runs vary
 * in k, as they do with `-k auto`.
 *
 * L, m      runs, features       h, H      co-association         u_i   row of the embedding
 * k_min..k_max  clusters of a run                                 z_i   labels
 *
 * DEVIATION: [B19] fixes neither m nor the clusters of a run; m is half of the features unless given (3 in
 * its experiment), and a run has k clusters. [B19] V. Berikov: Heterogeneous transfer learning in ensemble
 * clustering. 2019. */
#include "api/method.h"
#include "comm/comm.h"
#include "engine/ensemble/ensemble.h"
#include "methods/common/tasks.h"

#include <stdio.h>

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_ENSEMBLE(20), KDRI_N_INIT(10), KDRI_MAX_ITER(300), KDRI_TOL(1e-6), { .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("stability", KDR_FLOAT64, "n",
	           "mean co-association of each sample with the others of its cluster", .per_task = true),
	KDRI_ARRAY("eigenvalues", KDR_FLOAT64, "k + 1 or more",
	           "largest eigenvalues of the normalised co-association matrix, descending",
	           .per_task = true),
	KDRI_ARRAY("ensemble", KDR_INT64, "runs x n",
	           "labels of every run: the co-association matrix in low-rank form", .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019.",
	"V. Berikov, I. Novikov: Model and computationally efficient method of ensemble clustering. 2018.",
	"A. Y. Ng, M. I. Jordan, Y. Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001.",
	"A. Strehl, J. Ghosh: Cluster ensembles. J. Machine Learning Research 3:583-617, 2002.",
	NULL,
};

static kdr_status fit_task(kdr_context *ctx, const kdr_task *task, const kdr_options *options, int64_t t,
                           kdr_result *result, kdri_consensus *out)
{
	kdr_status st;
	kdri_ensemble_spec spec;
	kdri_ensemble e = { 0 };
	double sum;
	int64_t all;
	KDRI_TRY(kdri_ensemble_options(ctx, options, task, task->k, &spec));
	spec.stream = (uint64_t)t;
	KDRI_TRY(kdri_ensemble_new(ctx, &task->x, &spec, NULL, &e)); /* (E1) */
	kdri_consensus_options o = { .k = task->k,
		                     .most = spec.k_max,
		                     .n_init = kdri_opt_int(options, "n_init"),
		                     .max_iter = spec.max_iter,
		                     .tol = spec.tol,
		                     .init = task->init,
		                     .stream = (uint64_t)t };
	KDRI_TRY(kdri_consensus_new(ctx, &e, &o, out)); /* (E2), (E3) */
	kdri_result_set_k(result, t, out->k);
	double *to = NULL;
	int64_t *labels = NULL, *runs = NULL;
	KDRI_TRY(kdri_result_labels(ctx, result, t, &labels));
	memcpy(labels, out->kmeans.labels, (size_t)e.n * sizeof *labels);
	KDRI_TRY(kdri_result_array(ctx, result, "stability", t, KDR_FLOAT64, 1, (int64_t[]){ e.n }, &to));
	memcpy(to, out->stability, (size_t)e.n * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "eigenvalues", t, KDR_FLOAT64, 1, (int64_t[]){ out->count },
	                           &to));
	memcpy(to, out->values, (size_t)out->count * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "ensemble", t, KDR_INT64, 2, (int64_t[]){ e.runs, e.n },
	                           &runs));
	for (int64_t i = 0; i < e.runs * e.n; i++)
		runs[i] = e.label[i];
	KDRI_TRY(kdri_part(ctx, e.n, NULL, &all));
	KDRI_TRY(kdri_rows_sum(ctx, NULL, out->stability, e.n, all, &sum));
	KDRI_TRY(kdri_result_task_number(ctx, result, t, "stability", sum / (double)all));
	KDRI_TRY(kdri_result_task_number(ctx, result, t, "consensus", out->score));
	KDRI_TRY(kdri_result_task_number(ctx, result, t, "suggested_k", (double)out->suggested));
	if (out->kmeans.distinct < out->k)
		KDRI_TRY(kdri_result_warn(
		        ctx, result, "data set %s: the ensemble distinguishes only %lld groups for k = %lld",
		        kdri_task_name(task), (long long)out->kmeans.distinct, (long long)out->k));
done:
	kdri_ensemble_free(ctx, &e);
	return st;
}

static kdr_status ec_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                         kdr_result *result)
{
	kdr_status st;
	kdri_consensus *parts = NULL;
	kdri_trace *traces = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &parts, problem->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &traces, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		KDRI_TRY(fit_task(ctx, &problem->tasks[t], options, t, result, &parts[t]));
		const kdri_kmeans_result *r = &parts[t].kmeans;
		traces[t] = (kdri_trace){ r->objective_start, r->trace, r->iterations,
			                  kdri_ensemble_stopped(ctx) ? kdri_stop_reason(ctx) : r->stop, 1 };
	}
	KDRI_TRY(kdri_put_traces(ctx, traces, problem->ntasks, result)); /* (E2) */
done:
	for (int64_t t = 0; parts && t < problem->ntasks; t++)
		kdri_consensus_free(ctx, &parts[t]);
	KDRI_FREE(ctx, parts, traces);
	return st;
}

const kdri_algo kdri_algo_ec = {
	.info = { .id = "ec",
	          .class_name = "EC",
	          .title = "Ensemble clustering",
	          .summary = "many k-means runs on random features vote on each pair of samples",
	          .objective =
	                  "J = sum_t sum_i |u_i - c_z(i)|^2, of the last k-means\n"
	                  "t      data set\n"
	                  "u_i    sample i in the k leading eigenvectors of D^-1/2 H D^-1/2, scaled to unit length; D: row sums of H\n"
	                  "H_ij   fraction of the runs in which samples i and j share a cluster\n"
	                  "z(i)   cluster of sample i\n"
	                  "c_j    centre of cluster j",
	          .steps = "1. runs of k-means, each on random features (array ensemble)\n"
	                   "2. the eigenvectors of H, which is kept in low-rank form\n"
	                   "3. k-means on their rows",
	          .use = "Many features, of which any half shows the clusters.",
	          .cost = "The runs; then memory n (runs + k), never n x n.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_AUTO_K,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = ec_fit,
	.ranks = true,
};
