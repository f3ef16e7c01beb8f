/* MTCFIR: multi-task clustering by feature and instance transfer. SPDX-License-Identifier: BSD-3-Clause
 *
 * [ZZL19] X. Zhang, X. Zhang, H. Liu: Weighed multi-task clustering by feature and instance transfer. Chinese
 * Journal of Computers 42(12), 2019.
 *
 * Tasks t = 1..T share features; each has its own number of clusters k^t, and tasks may be related only in part.
 *
 *   (E1)  h^0 = the samples of all tasks,   h^i = tanh(W^i [h^(i-1); 1])    msda.c      [ZZL19, eqs. 1-6]
 *   (E2)  Z = [h^0; ...; h^g],   K = Z Z' = sum_i h^i h^i'                                     [ZZL19, sec. 3.3]
 *   (E3)  V = cosines of Z from K, or Gaussian similarities
 *   (E4)  l^t = ceil(lambda n^t / k^t), or as given                                            [ZZL19, sec. 4.3]
 *   (E5)  eps^t, alpha_s^t, A^t, M^t from V and l^t                         consistent.c [ZZL19, eqs. 7-20]
 *   (E6)  min |M^t - Y Y'|^2, Y >= 0, from k-means on Z; label = argmax     snmf_steps.c [ZZL19, eqs. 21-25]
 *
 * K, V and the layers are on a device, which may be the CPU; M, which is sparse, and vectors are on the host.
 *
 * Everything after (E2) only needs K: Z, which is (g + 1) d columns wide, is never stored, and k-means uses K
 * (consistent.c). V overwrites K.
 *
 * variant   nF: h^0 alone in (E2). nI: M^t = max(V^tt, 0). nR: all alpha = 1 in A (alpha is reported all the same).
 * final     ncut: the normalised cut of M^t instead of (E6). M is good and SNMF the weak step: on Reuters
 *           ncut finds 98% where SNMF finds 93%.
 *
 * Labels depend on the scale of the data: tanh and the constant 1 in (E1) are not homogeneous, as in the paper. With
 * rows of unit length (norm l2) the scale does not matter. The same holds for nF, without layers.
 *
 * The relatedness reported is alpha_s^t / alpha_t^t, as in the paper's tables 8-11.
 *
 * g       layers      p  noise     lambda  neighbors    K, V   pool.v
 * alpha   alpha       l  l         eps     eps          Y      memberships
 *
 * Cost: see msda.c, N^2 d flops per layer for K, sum_t n_t^2 N for A. Memory: N^2 numbers for K, N d for h, and the
 * smaller of d^2 and N^2 doubles; single precision above 4096 samples halves the first two. */
#include "methods/mtcfir/mtcfir.h"
#include "api/method.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"
#include "methods/common/tasks.h"

static const char stage[] = "mtcfir";

static const char *const variants[] = { "full", "nF", "nI", "nR", NULL };

/* The distances of a task's samples are stored in full up to this size. */
static const int64_t distance_bytes = (int64_t)1 << 29;

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_MSDA,
	KDRI_REALS("neighbors", 0.3, 0, 1e9,
	           "neighbours of a sample: below 1, as a fraction of n/k; 1 and above, their number",
	           .open_min = true, .symbol = "lambda"),
	KDRI_CHOICE(
	        "variant", KDRI_MTCFIR_FULL, variants,
	        "full; nF: without learnt features; nI: without samples of other data sets; nR: without relatedness"),
	KDRI_OPTION_FINAL,
	KDRI_CHOICE("similarity", KDRI_SIMILARITY_COSINE, kdri_similarity_names,
	            "similarity of two samples: their cosine, or a Gaussian of their distance"),
	KDRI_REAL("sigma", 0, 0, 1e300, "width of the Gaussian; 0: the median distance between two samples",
	          .automatic = "median distance", .symbol = "sigma"),
	KDRI_OPTION_PRECISION,
	KDRI_BOOL(
	        "keep", true,
	        "keep the samples and learnt features, which are needed to label new samples, the similarity and the discrepancies; false: keep only the labels"),
	KDRI_REAL(
	        "max_gflop", 0, 0, 1e300,
	        "with keep=false and sparse data: billions of operations for learning features, from as many of the most frequent features as this allows; 0: from all"),
	KDRI_MAX_ITER(200),
	KDRI_TOL(1e-6),
	KDRI_N_INIT(10),
	{ .name = NULL },
};

/* For field tables. */
/* clang-format off */
#define KDRI_FIELDS_LAYERS \
	KDRI_ARRAY("layers", KDR_FLOAT64, "layers x m x m", \
	           "the layers, if small: W' for m features, or R for m samples if there are fewer samples", \
	           .in_model = true), \
	KDRI_ARRAY("layer_bias", KDR_FLOAT64, "layers x d", \
	           "what each layer adds before tanh: b, or c with R", .in_model = true)
/* clang-format on */

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_FINAL,
	KDRI_ARRAY(
	        "alpha", KDR_FLOAT64, "tasks x tasks",
	        "fraction of similarities above the threshold of the data set; row t: how much data set t draws on the others",
	        .in_model = true),
	KDRI_ARRAY("thresholds", KDR_FLOAT64, "tasks",
	           "eps: the similarity above which two samples count as related"),
	KDRI_ARRAY("neighbors", KDR_INT64, "tasks", "l: number of neighbours of each sample",
	           .in_model = true),
	KDRI_ARRAY("similarity_rowptr", KDR_INT64, "n + 1",
	           "consistent similarity M in compressed rows: where each row starts", .per_task = true),
	KDRI_ARRAY("similarity_col", KDR_INT64, "entries", "consistent similarity M: columns",
	           .per_task = true),
	KDRI_ARRAY("similarity_val", KDR_FLOAT64, "entries", "consistent similarity M: values",
	           .per_task = true),
	KDRI_ARRAY(
	        "mmd2_linear", KDR_FLOAT64, "2 x tasks x tasks",
	        "squared mean discrepancy of the data sets with a linear kernel, before and after feature learning"),
	KDRI_ARRAY("mmd2_gauss", KDR_FLOAT64, "2 x tasks x tasks",
	           "the same with a Gaussian kernel whose width is the median distance"),
	KDRI_FIELDS_TRAIN,
	KDRI_FIELDS_LAYERS,
	{ .name = NULL },
};

static const char *const references_table[] = {
	"X. Zhang, X. Zhang, H. Liu: Weighed multi-task clustering by feature and instance transfer. Chinese "
	"Journal of Computers 42(12):2614-2630, 2019. [ZZL19]",
	"M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation. ICML 2012. [CXWS12]",
	"D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM 2012.",
	NULL,
};

/* A fit at work. */
typedef struct work {
	kdr_context *ctx;
	const kdr_problem *problem;
	const kdr_options *options;
	kdr_result *result;
	kdri_stack stack;
	kdri_column_set
	        once; /* its columns that differ, where they are few enough, or the most frequent; copies NULL: all */
	bool cut;        /* only the most frequent are in `once` */
	kdri_pool pool;  /* K, then V */
	double *mmd[2];  /* in the result: linear, gauss; NULL with one task */
	int64_t *wanted; /* l before it is capped, which (E1) of consistent.c can still use */
	int64_t *l;      /* in the result */
	double *eps, *alpha;
	int64_t *starts,
	        *runs; /* of all tasks: task t has runs[t] starts of n_t labels at n_init * begin[t] */
	kdri_trace *traces;
	const kdri_msda_options *layers;
	const int64_t *init; /* labels to start from, or NULL */
	double flops;        /* of dense products and factorisations */
	double about[2];     /* of the features: saturated, flops */
	bool answered;       /* a task has its answer: it is too late to begin anew */
	bool started;        /* initial labels are given */
} work;

/* --- before the start --------------------------------------------------------------------------------- */

/* (E4) */
static kdr_status find_neighbours(work *w)
{
	for (int64_t t = 0; t < w->problem->ntasks; t++) {
		const kdr_task *task = &w->problem->tasks[t];
		int64_t n = kdr_mat_rows(&task->x);
		double lambda = kdri_opt_reals(w->options, "neighbors", t);
		double share = lambda < 1 ? lambda * (double)n / (double)task->k : lambda;
		w->wanted[t] = w->l[t] = (int64_t)KDRI_MAX(1, KDRI_MIN(1e15, ceil(share - 1e-9)));
		if (w->l[t] <= n - 2)
			continue;
		KDRI_DO(kdri_result_warn(
		        w->ctx, w->result,
		        "data set %s: %lld neighbours are more than its %lld samples allow; using %lld",
		        kdri_task_name(task), (long long)w->l[t], (long long)n, (long long)n - 2));
		w->l[t] = n - 2;
	}
	return KDR_OK;
}

/* Of all products and factorisations of the layers, nearly. */
static double layer_flops(const kdri_msda_options *o, double n, double d)
{
	const double side = KDRI_MIN(n, d);
	return (double)o->layers * (n * n * d + 2 * n * d * side + side * side * side);
}

/* The most of d columns for which n samples need no more operations than allowed; at least one. */
static int64_t columns_allowed(const kdr_options *options, const kdri_msda_options *o, double n, int64_t d)
{
	const double most = 1e9 * kdri_opt_real(options, "max_gflop");
	int64_t least = 1;
	if (most == 0 || layer_flops(o, n, (double)d) <= most)
		return d;
	while (d - least > 1) {
		const int64_t middle = least + (d - least) / 2;
		if (layer_flops(o, n, (double)middle) <= most)
			least = middle;
		else
			d = middle;
	}
	return least;
}

/* All samples, as features are learnt from them. */
static const kdr_mat *samples(const work *w)
{
	return w->once.copies ? &w->once.x.view : &w->stack.x;
}

static kdr_status mtcfir_prepare(work *w)
{
	kdr_context *ctx = w->ctx;
	int64_t tasks = w->problem->ntasks, n = w->stack.begin[tasks], size;
	KDRI_DO(kdri_mul(ctx, n, kdri_opt_int(w->options, "n_init"), &size));
	KDRI_DO(KDRI_NEW(ctx, &w->starts, size));
	KDRI_DO(KDRI_NEW(ctx, &w->wanted, tasks));
	KDRI_DO(KDRI_NEW0(ctx, &w->runs, tasks));
	KDRI_DO(KDRI_NEW0(ctx, &w->traces, tasks));
	KDRI_DO(kdri_result_array(ctx, w->result, "neighbors", -1, KDR_INT64, 1, (int64_t[]){ tasks },
	                          &w->l));
	KDRI_DO(find_neighbours(w));
	KDRI_DO(kdri_result_array(ctx, w->result, "alpha", -1, KDR_FLOAT64, 2, (int64_t[]){ tasks, tasks },
	                          &w->alpha));
	KDRI_DO(kdri_result_array(ctx, w->result, "thresholds", -1, KDR_FLOAT64, 1, (int64_t[]){ tasks },
	                          &w->eps));
	for (int i = 0; i < 2 && tasks > 1; i++)
		KDRI_DO(kdri_result_array(ctx, w->result, i ? "mmd2_gauss" : "mmd2_linear", -1, KDR_FLOAT64,
		                          3, (int64_t[]){ 2, tasks, tasks }, &w->mmd[i]));
	w->pool.ntasks = tasks;
	w->pool.begin = w->stack.begin;
	return KDR_OK;
}

/* --- (E1), (E2): the Gram matrix ---------------------------------------------------------------------- */

/* Discrepancies before (0) or after (1) feature learning. */
static kdr_status put_mmd(work *w, int after)
{
	int64_t tasks = w->pool.ntasks;
	double sigma;
	if (tasks == 1 || !kdri_opt_bool(w->options, "keep"))
		return KDR_OK;
	KDRI_DO(kdri_gram_median(w->ctx, w->pool.v, &sigma));
	for (int i = 0; i < (sigma > 0 ? 2 : 1); i++)
		KDRI_DO(kdri_gram_mmd(w->ctx, w->pool.v, w->pool.begin, tasks, i ? sigma : 0,
		                      w->mmd[i] + after * tasks * tasks));
	return KDR_OK;
}

/* K += h h'. */
static kdr_status add_layer(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                            const kdri_panels *h)
{
	work *w = user;
	const bool all = w->cut && layer == 0; /* these products are cheap */
	KDRI_DO(kdri_msda_add_gram(ctx, w->pool.v, layer, all ? &w->stack.x : x, h,
	                           all ? NULL : w->once.copies));
	if (h)
		w->flops += (double)h->rows * (double)h->rows * (double)h->d;
	if (layer == 0)
		KDRI_DO(put_mmd(w, 0));
	return KDR_OK;
}

/* --- other numbers of clusters: the features are the same (matrix/kept.h) ------------------------------ */

enum { PARTS = 6 };
static const char kept_features[] = "mtcfir.features";

/* K, the discrepancies and the layers of a model. */
static void features_parts(work *w, kdri_kept_part out[PARTS])
{
	const kdri_block *v = &w->pool.v;
	const kdri_layers *kept = w->layers->kept;
	const int64_t tasks = w->problem->ntasks, d = kdr_mat_cols(&w->stack.x),
	              side = kdri_msda_side(w->layers, kdr_mat_rows(&w->stack.x), d);
	const size_t mmd = (size_t)(2 * tasks * tasks) * sizeof(double),
	             layer = (size_t)w->layers->layers * sizeof(double);
	out[0] = (kdri_kept_part){ v->data, (size_t)(v->rows * v->stride) *
		                                    (v->floats ? sizeof(float) : sizeof(double)) };
	out[1] = (kdri_kept_part){ w->about, sizeof w->about };
	out[2] = (kdri_kept_part){ w->mmd[0], mmd };
	out[3] = (kdri_kept_part){ w->mmd[1], mmd };
	out[4] = (kdri_kept_part){ kept ? kept->map : NULL, (size_t)(side * side) * layer };
	out[5] = (kdri_kept_part){ kept ? kept->bias : NULL, (size_t)d * layer };
}

/* Of all that the features depend on. */
static uint64_t features_key(const work *w)
{
	const double how[] = { (double)w->layers->layers,
		               w->layers->noise,
		               w->layers->ridge,
		               (double)w->layers->single,
		               (double)w->layers->side,
		               w->layers->kept != NULL,
		               w->cut ? (double)kdr_mat_cols(samples(w)) : 0 };
	const kdr_mat settings = kdr_mat_from_dense(how, 1, sizeof how / sizeof *how);
	return kdri_mat_hash(&settings, kdri_mat_hash(&w->stack.x, w->ctx->seed));
}

static kdr_status learn_features(work *w)
{
	kdri_msda_info info = { 0 };
	const bool keeps = kdri_keeps(w->ctx) && kdri_is_cpu(w->pool.v.dev);
	const uint64_t key = keeps ? features_key(w) : 0;
	kdri_kept_part parts[PARTS];
	features_parts(w, parts);
	const bool found = keeps && kdri_kept_find_parts(w->ctx, kept_features, key, parts, PARTS);
	if (found) {
		info.saturated = w->about[0];
		w->flops = w->about[1];
	} else {
		KDRI_DO(kdri_msda_run(w->ctx, w->pool.v.dev, samples(w), w->stack.begin[w->pool.ntasks],
		                      w->layers, add_layer, w, &info));
		w->flops += info.flops;
	}
	KDRI_DO(kdri_msda_warn(w->ctx, &info, w->result));
	KDRI_DO(kdri_result_number(w->ctx, w->result, "saturated", info.saturated));
	if (found || w->ctx->cancelled || w->ctx->timed_out)
		return KDR_OK;
	KDRI_DO(put_mmd(w, 1));
	w->about[0] = info.saturated;
	w->about[1] = w->flops;
	if (keeps)
		KDRI_DO(kdri_kept_put_parts(w->ctx, kept_features, key, parts, PARTS));
	return KDR_OK;
}

/* --- (E3)-(E6) ---------------------------------------------------------------------------------------- */

/* (E5) and (E6) for task t. */
static kdr_status cluster_task(work *w, int64_t t, int64_t variant)
{
	kdr_status st;
	const kdr_task *task = &w->problem->tasks[t];
	int64_t tasks = w->pool.ntasks, begin = w->pool.begin[t], n = kdri_pool_size(&w->pool, t);
	double *ones = NULL;
	kdri_consistent c = { .sharp.view = kdr_mat_from_dense(NULL, 0, 0),
		              .m.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_block own = kdri_pool_pair(&w->pool, t, t);
	kdri_snmf_task s = { .task = t,
		             .k = task->k,
		             .name = kdri_task_name(task),
		             .dev = own.dev,
		             .starts = w->starts + kdri_opt_int(w->options, "n_init") * begin,
		             .runs = w->runs[t],
		             .given = w->init != NULL,
		             .options = w->options,
		             .stage = stage };
	w->answered = true;
	KDRI_TRY(KDRI_NEW(w->ctx, &ones, tasks));
	for (int64_t i = 0; i < tasks; i++)
		ones[i] = 1;
	const double *alpha = variant == KDRI_MTCFIR_NR ? ones : w->alpha + t * tasks;
	if (variant == KDRI_MTCFIR_NI) {
		KDRI_OP(w->ctx, own.dev, clip, own);
		s.dense = &own;
	} else {
		KDRI_TRY(kdri_consistent_new(w->ctx, &w->pool, t, alpha, w->l[t], distance_bytes, &c));
		if (kdri_opt_bool(w->options, "keep"))
			KDRI_TRY(kdri_put_csr(w->ctx, w->result, "similarity", t, &c.m.view.as.csr));
		s.sparse = &c.m.view;
		w->flops += (double)n * (double)n * (double)w->pool.begin[tasks];
	}
	KDRI_TRY(kdri_snmf_task_run(w->ctx, &s, w->result, &w->traces[t]));
done:
	kdri_consistent_free(w->ctx, &c);
	kdri_free(w->ctx, ones);
	return st;
}

/* Whether to stop before a step after the Gram matrix: tasks that are not clustered keep their start. */
static bool mtcfir_stops(const work *w, int64_t step)
{
	return kdri_iteration(w->ctx, "relate", step, 2 + w->pool.ntasks, NAN);
}

static kdr_status mtcfir_cluster(work *w)
{
	int variant = kdri_opt_choice(w->options, "variant");
	kdri_similarity similarity = (kdri_similarity)kdri_opt_choice(w->options, "similarity");
	double sigma = kdri_opt_real(w->options, "sigma");
	/* Labels to start from: the user's, or those of k-means on Z. */
	int64_t n_init = kdri_opt_int(w->options, "n_init");
	bool ncut = kdri_opt_choice(w->options, "final") == KDRI_FINAL_NCUT;
	for (int64_t t = 0; t < w->pool.ntasks; t++) {
		int64_t begin = w->pool.begin[t], *to = w->starts + n_init * begin;
		kdri_block own = kdri_pool_pair(&w->pool, t, t);
		if (w->init)
			memcpy(to, w->init + begin, (size_t)own.rows * sizeof *to);
		w->runs[t] = 1;
		if (w->init || ncut)
			continue;
		KDRI_DO_OP(w->ctx, own.dev, mirror, own); /* so far K has its lower triangle alone */
		KDRI_DO(kdri_snmf_starts(w->ctx, own, w->problem->tasks[t].k, n_init, t, to, &w->runs[t]));
	}
	w->started = w->init || kdri_opt_choice(w->options, "final") == KDRI_FINAL_SNMF;
	if (mtcfir_stops(w, 0))
		return KDR_OK;
	if (similarity == KDRI_SIMILARITY_GAUSS && sigma == 0)
		KDRI_DO(kdri_gram_median(w->ctx, w->pool.v, &sigma));
	if (similarity == KDRI_SIMILARITY_GAUSS)
		KDRI_DO(kdri_result_number(w->ctx, w->result, "sigma", sigma));
	KDRI_DO(kdri_gram_similarity(w->ctx, w->pool.v, similarity, sigma)); /* (E3) */
	if (mtcfir_stops(w, 1))
		return KDR_OK;
	KDRI_DO(kdri_relate(w->ctx, &w->pool, w->wanted, w->eps, w->alpha));
	double *matrix = NULL;
	int64_t tasks = w->pool.ntasks;
	KDRI_DO(kdri_result_relatedness(w->ctx, w->result, &matrix));
	for (int64_t t = 0; t < tasks; t++)
		for (int64_t s = 0; s < tasks; s++)
			matrix[t * tasks + s] = w->alpha[t * tasks + s] / w->alpha[t * tasks + t];
	for (int64_t t = 0; t < w->pool.ntasks; t++) {
		if (mtcfir_stops(w, 2 + t))
			return KDR_OK;
		KDRI_DO(cluster_task(w, t, variant));
	}
	KDRI_DO(kdri_put_traces(w->ctx, w->traces, w->pool.ntasks, w->result));
	return kdri_result_number(w->ctx, w->result, "dense_gflop", 1e-9 * w->flops);
}

/* --- out of time ---------------------------------------------------------------------------------------- */

static double flops_of(const work *w)
{
	return layer_flops(w->layers, (double)kdr_mat_rows(&w->stack.x), (double)kdr_mat_cols(samples(w)));
}

/* Of everything: the features, and about 250 products of the similarities of each task with its clusters. */
static double all_flops(const work *w)
{
	double thin = 0;
	for (int64_t t = 0; t < w->problem->ntasks; t++) {
		const double n = (double)kdr_mat_rows(&w->problem->tasks[t].x);
		thin += 250 * n * n * (double)w->problem->tasks[t].k;
	}
	return flops_of(w) + kdri_thin_flops(w->ctx, thin);
}

/* Whether even fast machines could not learn the features in the time that is left. */
static bool hopeless(const work *w, const kdri_device *dev)
{
	const double most_flops = 2e10; /* a second and thread */
	return w->ctx->deadline > 0 && kdri_is_cpu(dev) &&
	       flops_of(w) > most_flops * kdri_team(w->ctx) * KDRI_MAX(w->ctx->deadline - kdri_now(), 0);
}

/* Tasks without an answer keep the labels given, or get those of k-means, which is quick. */
static kdr_status give_up(work *w)
{
	int64_t given_up = 0, n;
	for (int64_t t = 0; t < w->pool.ntasks; t++) {
		if (kdr_result_labels(w->result, t, &n))
			continue;
		const int64_t *start = w->starts + kdri_opt_int(w->options, "n_init") * w->pool.begin[t];
		KDRI_DO(kdri_snmf_give_up(w->ctx, w->problem, t, w->started ? start : NULL, w->result));
		given_up++;
	}
	return kdri_snmf_warn_given_up(w->ctx, w->problem, given_up, w->result);
}

/* All of it on one device. */
static kdr_status mtcfir_compute(kdr_context *ctx, kdri_device *dev, void *user)
{
	kdr_status st;
	work *w = user;
	int64_t n = w->stack.begin[w->problem->ntasks];
	bool before = ctx->abandon;
	w->flops = 0;
	KDRI_TRY(kdri_device_check(ctx, dev, 8.0 * (double)n * (double)n, "method 'mtcfir'", n,
	                           kdr_mat_cols(&w->stack.x)));
	KDRI_TRY(kdri_block_new(ctx, dev, n, n, w->layers->single, &w->pool.v));
	if (hopeless(w, dev))
		goto done;
	ctx->abandon = true;
	st = learn_features(w);
	if (st == KDR_OK && !ctx->cancelled && !ctx->timed_out)
		st = mtcfir_cluster(w);
	ctx->abandon = before;
	if (st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out))
		st = KDR_OK;
done:
	if (w->answered)
		ctx->device_failed = false;
	kdri_block_free(ctx, &w->pool.v);
	return st;
}

/* The model for new samples has all features, because words that are equal in the training samples may differ in new
 * ones. */
static kdr_status choose_columns(work *w)
{
	const kdri_own none = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_column_set most = { .x = none };
	bool fewer;
	if (kdri_opt_bool(w->options, "keep") || w->layers->layers == 0 || w->stack.x.kind != KDR_MAT_CSR)
		return KDR_OK;
	KDRI_DO(kdri_columns_once(w->ctx, &w->stack.x, &w->once, &fewer));
	const int64_t d = kdr_mat_cols(samples(w)),
	              count = columns_allowed(w->options, w->layers, (double)kdr_mat_rows(&w->stack.x), d);
	if (count == d)
		return KDR_OK;
	KDRI_DO(kdri_columns_most(w->ctx, samples(w), w->once.copies, count, &most));
	kdri_column_set_free(w->ctx, &w->once);
	w->once = most;
	w->cut = true;
	return KDR_OK;
}

static kdr_status mtcfir_run(work *w)
{
	kdr_status st;
	int64_t *init = NULL;
	for (int64_t t = 0; t < w->problem->ntasks; t++) {
		const kdr_task *task = &w->problem->tasks[t];
		if (kdr_mat_rows(&task->x) < 3)
			KDRI_FAIL(
			        w->ctx, KDR_ERR_DATA,
			        "data set %s has %lld samples; method 'mtcfir' needs at least 3 in each data set",
			        kdri_task_name(task), (long long)kdr_mat_rows(&task->x));
	}
	KDRI_TRY(kdri_stack_new(w->ctx, w->problem, &w->stack));
	int64_t n = w->stack.begin[w->problem->ntasks], d = kdr_mat_cols(&w->stack.x);
	kdri_msda_options o = kdri_mtcfir_layers(w->options, n);
	kdri_layers layers;
	KDRI_TRY(mtcfir_prepare(w));
	if (kdri_opt_bool(w->options, "keep")) {
		KDRI_TRY(kdri_train_keep(w->ctx, w->problem, w->result));
		KDRI_TRY(kdri_layers_keep(w->ctx, w->result, n, d, &layers, &o));
	}
	KDRI_TRY(kdri_stack_init(w->ctx, w->problem, &w->stack, &init));
	w->layers = &o;
	KDRI_TRY(choose_columns(w));
	o.copies = w->once.copies;
	w->init = init;
	KDRI_TRY(kdri_compute(w->ctx, all_flops(w), mtcfir_compute, w));
	KDRI_TRY(give_up(w));
done:
	kdri_free(w->ctx, init);
	return st;
}

static kdr_status mtcfir_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	work w = { .ctx = ctx,
		   .problem = problem,
		   .options = options,
		   .result = result,
		   .stack.own.view = kdr_mat_from_dense(NULL, 0, 0),
		   .once.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdr_status st = mtcfir_run(&w);
	kdri_stack_free(ctx, &w.stack);
	kdri_column_set_free(ctx, &w.once);
	KDRI_FREE(ctx, w.wanted, w.starts, w.runs, w.traces);
	return st;
}

const kdri_algo kdri_algo_mtcfir = {
	.info = { .id = "mtcfir",
	          .class_name = "MTCFIR",
	          .title = "Multi-task clustering by feature and instance transfer",
	          .summary =
	                  "clusters partly related data sets together with shared features, learnt relatedness and one consistent similarity per data set",
	          .objective =
	                  "J = sum_t |M_t - Y_t Y_t'|^2, Y_t >= 0; with final=ncut instead the normalised cut of M_t, one value\n"
	                  "t      data set\n"
	                  "M_t    consistent similarity of its samples: two are similar if they are similar to the same samples of all data sets\n"
	                  "Y_t    memberships of the samples (array memberships)",
	          .steps =
	                  "1. layers of denoising features of all data sets together (msda), and the similarities of all samples on them\n"
	                  "2. relatedness of each pair of data sets: the fraction of similarities above a threshold\n"
	                  "3. M_t: weights of the nearest neighbours, compared by their similarities to all samples, weighted by relatedness\n"
	                  "4. Y_t: multiply each entry by the square root of (M Y) / (Y Y'Y); the label is the largest entry",
	          .use = "Data sets that are related only in part, up to some ten thousand samples.",
	          .cost = "N^2 d operations per layer and N^2 numbers of memory, N the samples of all data sets.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = mtcfir_fit,
	.predict = kdri_mtcfir_predict,
};
