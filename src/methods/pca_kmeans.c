/* PCA, then k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  X - 1 m' = V S U'                  m: the mean of the rows
 *   (E2)  r: the smallest with sum_{i <= r} s_i^2 >= energy |X - 1 m'|^2
 *   (E3)  Y = (X - 1 m') U_r                 k-means on the rows of Y
 *
 * Each task is clustered separately, or all of them stacked (pooled): PCAKM and All PCAKM of [GZ09] Q. Gu, J. Zhou:
 * Learning the shared subspace for multi-task clustering and transductive transfer classification. ICDM 2009,
 * with 95% of the energy as there. The centred matrix is never formed: its Gram matrix is that of X with the mean
 * subtracted,
 *
 *   (E4)  X'X - n m m'   (d <= n),      H XX' H = V S^2 V', H = I - 11'/n   (n < d)
 *
 * and if n < d, (E3) is Y = V_r S_r: U_r = (X - 1 m')' V_r S_r^-1 is formed once, as the result's array, or never
 * (keep=no): 95% of the energy of n texts are 9 n / 10 directions of all words. If the shorter side exceeds 3000, or
 * there is no time for all directions, at most 256 leading directions are computed by random projections
 * (matrix/range.c), with a warning if they have less than the requested energy.
 *
 * Rows may be held by several ranks: X'X, m and n are then those of all of them, added in floating point, hence up to
 * rounding; the shorter side is assumed to be d, because no rank has all rows.
 *
 * U_r      u, d x r                        Y        y, n x r
 * m        mean                            S        s
 * V_r S_r^-1   v, n x r */
#include "api/method.h"
#include "comm/comm.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/device_use.h"
#include "matrix/kept.h"
#include "matrix/range.h"
#include "methods/common/tasks.h"

enum { WHOLE_BELOW = 3000, MOST_DIRECTIONS = 256, ROUNDS = 6 };

static const kdr_option_desc options_table[] = {
	KDRI_REAL("energy", 0.95, 0, 1, "fraction of the variance that the kept components must explain",
	          .open_min = true),
	KDRI_BOOL(
	        "keep", true,
	        "keep the principal directions (features x components numbers), which are needed to label new samples"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(300),
	KDRI_TOL(1e-6),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("mean", KDR_FLOAT64, "d", "mean of the samples", .per_task = true, .in_model = true),
	KDRI_ARRAY("components", KDR_FLOAT64, "d x r", "principal directions", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY("variances", KDR_FLOAT64, "r", "sum of squares along each direction", .per_task = true),
	KDRI_ARRAY("centres", KDR_FLOAT64, "k x r", "cluster centres along the principal directions",
	           .per_task = true, .in_model = true),
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x r",
	           "coordinates of the samples along the principal directions", .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"K. Pearson: On lines and planes of closest fit to systems of points in space. Phil. Mag. 2:559-572, 1901.",
	"C. Ding, X. He: K-means clustering via principal component analysis. ICML 2004.",
	NULL,
};

typedef struct run {
	int64_t n, d, rank;
	int64_t all;              /* rows of all ranks */
	bool wide;                /* the shorter side is n */
	bool keep;                /* U for the result */
	const kdr_mat *x;         /* as long as the run */
	double *mean, *u, *s, *y; /* d; d x rank, or NULL if v is used; rank; n x rank */
	double *v;                /* n x rank, where u is NULL */
	double energy;            /* share held */
	kdri_kmeans_result clusters;
} run;

static void run_free(kdr_context *ctx, run *r)
{
	KDRI_FREE(ctx, r->mean, r->u, r->v, r->s, r->y);
	kdri_kmeans_free(ctx, &r->clusters);
}

/* (E4), in place, on the Gram matrix of the shorter side. */
static void centre_gram(const run *r, double *gram)
{
	int64_t n = r->n, d = r->d;
	if (!r->wide) {
		for (int64_t i = 0; i < d; i++)
			kdri_axpy(-(double)r->all * r->mean[i], r->mean, gram + i * d, d);
		return;
	}
	for (int pass = 0; pass < 2; pass++) /* rows, then the columns of the matrix, no longer symmetric */
		for (int64_t i = 0; i < n; i++) {
			double sum = 0;
			for (int64_t j = 0; j < n; j++)
				sum += gram[pass ? j * n + i : i * n + j] / (double)n;
			for (int64_t j = 0; j < n; j++)
				gram[pass ? j * n + i : i * n + j] -= sum;
		}
}

/* (E2): how many of `found` directions, s descending; at least one, and no others that are rounding. */
static int64_t choose_rank(run *r, int64_t found, double total, double energy)
{
	double sum = r->s[0] * r->s[0];
	int64_t rank = 1;
	while (rank < found && r->s[rank] > 1e-6 * r->s[0] && sum < energy * total * (1 - 1e-12)) {
		sum += r->s[rank] * r->s[rank];
		rank++;
	}
	r->energy = total > 0 ? KDRI_MIN(sum / total, 1) : 1;
	return rank;
}

/* All directions of small data, from the centred Gram matrix: S, and U (d x rank), or V S^-1 and Y (n x rank). */
static kdr_status components_whole(kdr_context *ctx, const kdr_mat *x, double total, double energy, run *r)
{
	kdr_status st;
	int64_t side = r->wide ? r->n : r->d;
	double *gram = NULL, *w = NULL, *v = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &gram, side * side));
	KDRI_TRY(KDRI_NEW(ctx, &w, side));
	KDRI_TRY(r->wide ? kdri_gram(ctx, x, gram) : kdri_gram_columns(ctx, x, gram));
	KDRI_TRY(kdri_sum(ctx, gram, side * side));
	centre_gram(r, gram);
	KDRI_TRY(kdri_eigh(ctx, side, gram, side, w));
	for (int64_t j = 0; j < side; j++)
		r->s[j] = sqrt(KDRI_MAX(w[side - 1 - j], 0));
	r->rank = choose_rank(r, side, total, energy);
	KDRI_TRY(KDRI_NEW(ctx, &v, side * r->rank));
	if (r->wide)
		KDRI_TRY(KDRI_NEW(ctx, &r->y, side * r->rank));
	for (int64_t i = 0; i < side; i++)
		for (int64_t j = 0; j < r->rank; j++) {
			double value = gram[i * side + side - 1 - j];
			v[i * r->rank + j] = value / (!r->wide || r->s[j] == 0 ? 1 : r->s[j]);
			if (r->wide)
				r->y[i * r->rank + j] = value * r->s[j]; /* (E4) */
		}
	*(r->wide ? &r->v : &r->u) = v;
	v = NULL;
done:
	KDRI_FREE(ctx, gram, w, v);
	return st;
}

static kdr_status components_leading(kdr_context *ctx, const kdr_mat *x, double total, double energy, run *r)
{
	kdr_status st;
	int64_t found = MOST_DIRECTIONS;
	double *v = NULL;
	kdri_held *held = NULL;
	const kdri_centred centred = { x, r->mean };
	const kdri_op op = kdri_op_centred(&centred);
	KDRI_TRY(kdri_hold_leading(ctx, x, found, ROUNDS, &held));
	KDRI_TRY(KDRI_NEW(ctx, &v, r->d * found));
	KDRI_TRY(kdri_leading(ctx, &op, found, ROUNDS, NULL, r->s, v));
	r->rank = choose_rank(r, found, total, energy);
	KDRI_TRY(KDRI_NEW(ctx, &r->u, r->d * r->rank));
	for (int64_t i = 0; i < r->d; i++)
		memcpy(r->u + i * r->rank, v + i * found, (size_t)r->rank * sizeof *v);
done:
	kdri_unhold(ctx, held);
	kdri_free(ctx, v);
	return st;
}

/* (E1) to (E3) up to k-means. */
static kdr_status pca_kmeans_embed(kdr_context *ctx, const kdr_mat *x, double energy, run *r)
{
	kdr_status st;
	int64_t n = r->n, d = r->d, side = r->wide ? n : d;
	double total = 0, *norms = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &r->mean, d));
	KDRI_TRY(KDRI_NEW0(ctx, &r->s, KDRI_MAX(side, MOST_DIRECTIONS)));
	KDRI_TRY(KDRI_NEW(ctx, &norms, n));
	KDRI_TRY(kdri_mat_col_sums(ctx, x, r->mean));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norms));
	KDRI_TRY(kdri_sum(ctx, r->mean, d));
	for (int64_t j = 0; j < d; j++)
		r->mean[j] /= (double)r->all;
	KDRI_TRY(kdri_rows_sum(ctx, NULL, norms, n, r->all, &total));
	total = KDRI_MAX(total - (double)r->all * kdri_nrm2sq(r->mean, d), 0);
	st = side <= WHOLE_BELOW ? components_whole(ctx, x, total, energy, r) : KDR_ERR_SIZE;
	if (side > WHOLE_BELOW || (st != KDR_OK && !kdri_together(ctx) && (ctx->cancelled || ctx->timed_out)))
		st = components_leading(ctx, x, total, energy,
		                        r); /* large, or no time: directions by chance, at worst */
	KDRI_TRY(st);
	if (r->y)
		goto done;
	const kdri_centred centred = { x, r->mean };
	const kdri_op op = kdri_op_centred(&centred);
	KDRI_TRY(KDRI_NEW(ctx, &r->y, n * r->rank));
	KDRI_TRY(op.apply(ctx, &op, r->u, r->rank, r->rank, r->y, r->rank)); /* (E3) */
done:
	kdri_free(ctx, norms);
	return st;
}

/* --- other numbers of clusters: the directions are the same (matrix/kept.h) ------------------------ */

enum { PARTS = 5 };
static const char kept_about[] = "pca-kmeans", kept_parts[] = "pca-kmeans.directions";

static void run_parts(const run *r, kdri_kept_part out[PARTS])
{
	const size_t each = (size_t)r->rank * sizeof(double);
	out[0] = (kdri_kept_part){ r->mean, (size_t)r->d * sizeof(double) };
	out[1] = (kdri_kept_part){ r->s, each };
	out[2] = (kdri_kept_part){ r->u, (size_t)r->d * each };
	out[3] = (kdri_kept_part){ r->v, (size_t)r->n * each };
	out[4] = (kdri_kept_part){ r->y, (size_t)r->n * each };
}

/* What another fit has found. */
static kdr_status run_find(kdr_context *ctx, uint64_t key, run *r, bool *out)
{
	kdr_status st = KDR_OK;
	double about[3];
	kdri_kept_part parts[PARTS];
	run own = *r;
	*out = false;
	if (!kdri_kept_find(ctx, kept_about, key, about, sizeof about))
		return KDR_OK;
	own.rank = (int64_t)about[0];
	own.energy = about[1];
	KDRI_TRY(KDRI_NEW(ctx, &own.mean, own.d));
	KDRI_TRY(KDRI_NEW(ctx, &own.s, own.rank));
	KDRI_TRY(KDRI_NEW(ctx, &own.y, own.n * own.rank));
	if (about[2] > 0)
		KDRI_TRY(KDRI_NEW(ctx, &own.u, own.d * own.rank));
	else
		KDRI_TRY(KDRI_NEW(ctx, &own.v, own.n * own.rank));
	run_parts(&own, parts);
	*out = kdri_kept_find_parts(ctx, kept_parts, key, parts, PARTS);
	if (*out)
		*r = own;
done:
	if (!*out)
		run_free(ctx, &own);
	return st;
}

static kdr_status run_embed(kdr_context *ctx, const kdr_mat *x, const kdr_options *options, run *r)
{
	const uint64_t key = kdri_keeps(ctx) ? kdri_options_key(ctx, options, x) : 0;
	bool found = false;
	if (kdri_keeps(ctx))
		KDRI_DO(run_find(ctx, key, r, &found));
	if (found)
		return KDR_OK;
	KDRI_DO(pca_kmeans_embed(ctx, x, kdri_opt_real(options, "energy"), r));
	const double about[] = { (double)r->rank, r->energy, r->u != NULL };
	kdri_kept_part parts[PARTS];
	run_parts(r, parts);
	KDRI_DO(kdri_kept_put_parts(ctx, kept_parts, key, parts, PARTS));
	return kdri_kept_put(ctx, kept_about, key, about, sizeof about);
}

/* Numbers the clusters in the order of their first samples. Runs that end in one partition differ by rounding
 * alone, and rounding must not choose the names: dense and sparse data get the same. */
static kdr_status rename_clusters(kdr_context *ctx, int64_t k, run *r)
{
	kdr_status st;
	int64_t *name = NULL, next = 0;
	double *centres = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &name, k));
	KDRI_TRY(KDRI_NEW(ctx, &centres, k * r->rank));
	for (int64_t j = 0; j < k; j++)
		name[j] = -1;
	for (int64_t i = 0; i < r->n; i++) {
		int64_t *to = &name[r->clusters.labels[i]];
		if (*to < 0)
			*to = next++;
		r->clusters.labels[i] = *to;
	}
	for (int64_t j = 0; j < k; j++) {
		if (name[j] < 0)
			name[j] = next++;
		memcpy(centres + name[j] * r->rank, r->clusters.centres + j * r->rank,
		       (size_t)r->rank * sizeof *centres);
	}
	memcpy(r->clusters.centres, centres, (size_t)(k * r->rank) * sizeof *centres);
done:
	KDRI_FREE(ctx, name, centres);
	return st;
}

static kdr_status run_new(kdr_context *ctx, const kdr_mat *x, int64_t k, const int64_t *init, uint64_t stream,
                          const kdr_options *options, void *left)
{
	run *r = left;
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	o.n_init = kdri_opt_int(options, "n_init");
	o.max_iter = kdri_opt_int(options, "max_iter");
	o.tol = kdri_opt_real(options, "tol");
	o.init_labels = init;
	o.stream = stream;
	r->x = x;
	r->keep = kdri_opt_bool(options, "keep");
	r->n = kdr_mat_rows(x);
	r->d = kdr_mat_cols(x);
	r->wide = !kdri_together(ctx) && r->n < r->d;
	KDRI_DO(kdri_part(ctx, r->n, NULL, &r->all));
	KDRI_DO(run_embed(ctx, x, options, r));
	kdr_mat y = kdr_mat_from_dense(r->y, r->n, r->rank);
	KDRI_DO(kdri_kmeans(ctx, &y, NULL, &o, &r->clusters));
	if (!init && !kdri_together(ctx)) /* kdr_fit does the same over all ranks */
		KDRI_DO(rename_clusters(ctx, k, r));
	return KDR_OK;
}

/* U of task t; `again`: that of the first. */
static kdr_status put_components(kdr_context *ctx, const run *r, bool again, int64_t t, kdr_result *result)
{
	int64_t d = r->d, q = r->rank;
	double *to = NULL;
	const kdri_centred centred = { r->x, r->mean };
	const kdri_op op = kdri_op_centred(&centred);
	KDRI_DO(kdri_result_array(ctx, result, "components", t, KDR_FLOAT64, 2, (int64_t[]){ d, q }, &to));
	if (r->u || again)
		memcpy(to, r->u ? r->u : kdr_result_array(result, "components", 0).data,
		       (size_t)(d * q) * sizeof *to);
	else
		KDRI_DO(op.apply_t(ctx, &op, r->v, q, q, to, q));
	return KDR_OK;
}

/* Task t, which has rows begin.. of the run. */
static kdr_status pca_kmeans_put_task(kdr_context *ctx, const kdr_problem *problem, const void *left,
                                      int64_t t, int64_t begin, kdr_result *result)
{
	const run *r = left;
	int64_t n = kdr_mat_rows(&problem->tasks[t].x), d = r->d, q = r->rank, k = problem->tasks[t].k;
	int64_t *labels = NULL;
	double *to = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
	memcpy(labels, r->clusters.labels + begin, (size_t)n * sizeof *labels);
	KDRI_DO(kdri_result_array(ctx, result, "mean", t, KDR_FLOAT64, 1, (int64_t[]){ d }, &to));
	memcpy(to, r->mean, (size_t)d * sizeof *to);
	if (r->keep)
		KDRI_DO(put_components(ctx, r, problem->pooled && t > 0, t, result));
	KDRI_DO(kdri_result_array(ctx, result, "variances", t, KDR_FLOAT64, 1, (int64_t[]){ q }, &to));
	for (int64_t j = 0; j < q; j++)
		to[j] = r->s[j] * r->s[j];
	KDRI_DO(kdri_result_array(ctx, result, "centres", t, KDR_FLOAT64, 2, (int64_t[]){ k, q }, &to));
	memcpy(to, r->clusters.centres, (size_t)(k * q) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "embedding", t, KDR_FLOAT64, 2, (int64_t[]){ n, q }, &to));
	memcpy(to, r->y + begin * q, (size_t)(n * q) * sizeof *to);
	/* of each task: names are unique in result.json */
	KDRI_DO(kdri_result_task_number(ctx, result, t, "components", (double)q));
	return kdri_result_task_number(ctx, result, t, "energy", r->energy);
}

static kdr_status put_rank(kdr_context *ctx, const void *left, const kdr_options *options, kdr_result *result)
{
	const run *r = left;
	double energy = kdri_opt_real(options, "energy");
	if ((r->wide ? r->n : r->d) > WHOLE_BELOW && r->energy < energy * (1 - 1e-9))
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "%lld components, the maximum for data of this size, explain %.1f%% of the variance instead of %.1f%%",
		        (long long)r->rank, 100 * r->energy, 100 * energy));
	return KDR_OK;
}

static kdri_trace pca_kmeans_trace_of(const void *left)
{
	const kdri_kmeans_result *c = &((const run *)left)->clusters;
	return (kdri_trace){ c->objective_start, c->trace, c->iterations, c->stop, 1 };
}

static void pca_kmeans_release(kdr_context *ctx, void *left)
{
	run_free(ctx, left);
}

static kdr_status pca_kmeans_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                                 kdr_result *result)
{
	static const kdri_runner how = { sizeof(run),         run_new,
		                         pca_kmeans_trace_of, put_rank,
		                         pca_kmeans_put_task, pca_kmeans_release };
	if (problem->pooled && kdri_together(ctx))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "pca-kmeans: pooling is not supported on several ranks; use kmeans");
	return kdri_run_tasks(ctx, problem, options, &how, result);
}

/* Along the components, then the nearest centre. */
static kdr_status pca_kmeans_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                                     int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdr_array u = kdr_result_array(fitted, "components", task),
	          m = kdr_result_array(fitted, "mean", task), c = kdr_result_array(fitted, "centres", task);
	int64_t n = kdr_mat_rows(x), q = u.shape[1];
	double *y = NULL;
	(void)options;
	if (!u.data || !m.data || !c.data || u.ndim != 2 || c.ndim != 2 || c.shape[1] != q ||
	    m.shape[0] != u.shape[0])
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no components for data set number %lld",
		                 (long long)task + 1);
	if (u.shape[0] != kdr_mat_cols(x))
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's components have %lld",
		                 (long long)kdr_mat_cols(x), (long long)u.shape[0]);
	const kdri_centred centred = { x, m.data };
	const kdri_op op = kdri_op_centred(&centred);
	KDRI_TRY(KDRI_NEW(ctx, &y, n * q));
	KDRI_TRY(op.apply(ctx, &op, u.data, q, q, y, q));
	kdr_mat embedded = kdr_mat_from_dense(y, n, q);
	KDRI_TRY(kdri_kmeans_assign(ctx, &embedded, c.data, c.shape[0], false, labels));
done:
	kdri_free(ctx, y);
	return st;
}

const kdri_algo kdri_algo_pca_kmeans = {
	.info = { .id = "pca-kmeans",
	          .class_name = "PCAKMeans",
	          .title = "PCA, then k-means",
	          .summary =
	                  "k-means along the principal components, for each data set separately or all pooled",
	          .objective =
	                  "J = sum_t sum_i |y_i - c_z(i)|^2\n"
	                  "t      data set; with --pooled all samples are one data set\n"
	                  "y_i    sample i minus the mean, along the r principal directions that explain the fraction energy of the variance (array embedding)\n"
	                  "z(i)   cluster of sample i\n"
	                  "c_j    centre of cluster j (array centres)",
	          .steps = "1. the principal directions\n"
	                   "2. k-means on y",
	          .use = "A baseline for data with many noisy features.",
	          .cost = "The Gram matrix of the shorter side and its eigenvectors; at most 256 directions by random projections if that side exceeds 3,000.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_POOLED | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = pca_kmeans_fit,
	.predict = pca_kmeans_predict,
	.ranks = true,
};
