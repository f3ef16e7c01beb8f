/* An ensemble of k-means partitions. SPDX-License-Identifier: BSD-3-Clause
 *
 * The random subspace method of [B19, section 3]: run l draws m of the d features and k_l, and is one run of
 * k-means. Its columns are copied (n x m, the only large memory besides the labels) and freed before the next run.
 * Random features and rows are drawn in increasing order by selection sampling: entry j of d is selected with
 * probability (still needed) / (still remaining).
 *
 * [B19] V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019. */
/* One partition from an ensemble.
 *
 * With B (n x M) the one-hot labels of all L runs side by side, M = k_1 + ... + k_L, the co-association
 * matrix is H = B B' / L, its degrees D = diag(H 1), and spectral clustering [Ng, Jordan & Weiss 2001] needs the
 * leading eigenvectors of D^-1/2 H D^-1/2 = W W', W = D^-1/2 B / sqrt L. H has rank M, so [B19, step 2 of EC] they
 * come from the small Gram matrix:
 *     (E1)  d_i = (1/L) sum_l |cluster of i in run l|
 *     (E2)  G = W'W,  G_ab = (1/L) sum over i in both a and b of 1 / d_i
 *     (E3)  G V = V diag(lambda),  U = W V diag(lambda)^-1/2: the eigenvectors wanted
 *     (E4)  row i of U = (L d_i)^-1/2 sum_l row (l, label) of V diag(lambda)^-1/2
 * The factor (L d_i)^-1/2 cancels when the row is scaled to unit length, so that a row of the embedding is the sum of
 * L rows of a table. Eigenvectors whose values are zero up to rounding count as zero.
 *
 * Work: n L^2 / 2 additions for (E2), M^3 for (E3), n L k for (E4), in addition to L runs of k-means that cost n m k
 * per iteration each. Memory: n (L + k) and M^2; never n x n.
 *
 * Each block of G for a pair of runs is summed by one thread, exactly (comm/exact.h): the same bits for any number of threads.
 * Rows may be held by several ranks (comm/comm.h), each with the labels of its own. Sizes of clusters, G and the counts
 * below are then those of all rows, and exact for any distribution of the rows. Therefore V is the same on every
 * rank, and each rank computes the rows of U for its own labels. 2 M^2 numbers are exchanged for G; M k and M for the
 * counts.
 *
 * Agreement of a partition with the ensemble, from the counts T_l(a, c) of rows in cluster a of run l and
 * cluster c of the partition:
 *     (E5)  stability_i = ((1/L) sum_l T_l(label_l(i), c_i) - 1) / (n_c - 1)
 *     (E6)  score = (1/L) sum_l NMI(run l, partition), over the geometric mean of the entropies
 * (E5) is the mean of h_ij over the other samples j of i's cluster. */
#include "engine/ensemble/ensemble.h"
#include "api/method.h"
#include "comm/comm.h"
#include "engine/kmeans/kmeans.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

enum { AUTO_K_MIN = 2, AUTO_K_MAX = 20 };

kdr_status kdri_ensemble_options(kdr_context *ctx, const kdr_options *options, const kdr_task *task,
                                 int64_t k, kdri_ensemble_spec *out)
{
	int64_t n, d = kdr_mat_cols(&task->x);
	int64_t k_min = kdri_opt_int(options, "k_min"), k_max = kdri_opt_int(options, "k_max");
	kdri_ensemble_spec s = { .runs = kdri_opt_int(options, "runs"),
		                 .features = kdri_opt_int(options, "features"),
		                 .max_iter = kdri_opt_int(options, "max_iter"),
		                 .tol = kdri_opt_real(options, "tol") };
	KDRI_DO(kdri_part(ctx, kdr_mat_rows(&task->x), NULL, &n));
	if (s.features > d)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "option features is %lld, but data set %s has only %lld columns",
		                 (long long)s.features, kdri_task_name(task), (long long)d);
	if (s.features == 0)
		s.features = (d + 1) / 2;
	if (k_min > n || k_max > n)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s is %lld, but data set %s has only %lld samples",
		                 k_min > n ? "k_min" : "k_max", (long long)(k_min > n ? k_min : k_max),
		                 kdri_task_name(task), (long long)n);
	if (k_max > 0 && k_min > k_max)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "k_min is %lld, but k_max is %lld; k_max must be at least k_min",
		                 (long long)k_min, (long long)k_max);
	/* Defaults: k, if given; otherwise a wide range, so that the spectrum shows the stable clusters. */
	if (k_min == 0)
		k_min = KDRI_MIN(k > 0 ? k : AUTO_K_MIN, k_max > 0 ? k_max : n);
	if (k_max == 0)
		k_max = KDRI_MIN(KDRI_MAX(k > 0 ? k : AUTO_K_MAX, k_min), n);
	s.k_min = k_min;
	s.k_max = k_max;
	double share = kdri_opt_real(options, "subsample");
	if (share < 1) {
		s.rows = (int64_t)ceil(share * (double)n);
		if (s.rows < k_max)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "subsample = %g leaves %lld of the %lld samples of data set %s, but runs of up to %lld clusters need at least as many",
			        share, (long long)s.rows, (long long)n, kdri_task_name(task),
			        (long long)k_max);
	}
	*out = s;
	return KDR_OK;
}

/* The next of 0 .. total - 1, after `last`, if `have` of `count` were chosen before it. */
static int64_t ensemble_choose(kdri_rng *rng, int64_t last, int64_t total, int64_t have, int64_t count)
{
	int64_t j = last + 1;
	while (kdri_rng_below(rng, total - j) >= count - have)
		j++;
	return j;
}

/* --- columns of a matrix ---------------------------------------------------------------------- */

static kdr_status dense_columns(kdr_context *ctx, const kdr_dense *x, const int32_t *features, int64_t m,
                                kdri_own *out)
{
	int64_t size, n = x->rows;
	double *to = NULL;
	KDRI_DO(kdri_mul(ctx, n, m, &size));
	KDRI_DO(KDRI_NEW(ctx, &to, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (size > 1 << 16)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < m; j++)
			to[i * m + j] = x->data[i * x->stride + features[j]];
	*out = (kdri_own){ .view = kdr_mat_from_dense(to, n, m), .parts = { to } };
	return KDR_OK;
}

static kdr_status sparse_columns(kdr_context *ctx, const kdr_csr *x, const int32_t *features, int64_t m,
                                 kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, nnz = 0;
	int32_t *place = NULL, *col = NULL; /* place: new number + 1 of a column, or 0 */
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &place, x->cols));
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, x->rows + 1));
	for (int64_t j = 0; j < m; j++)
		place[features[j]] = (int32_t)j + 1;
	rowptr[0] = 0;
	for (int64_t i = 0; i < x->rows; i++) {
		for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
			nnz += place[x->col[p]] > 0;
		rowptr[i + 1] = nnz;
	}
	KDRI_TRY(KDRI_NEW(ctx, &col, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &val, nnz));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (nnz > 1 << 16)
	for (int64_t i = 0; i < x->rows; i++) {
		int64_t at = rowptr[i];
		for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
			if (place[x->col[p]] > 0) {
				col[at] = place[x->col[p]] - 1;
				val[at++] = x->val[p];
			}
	}
	*out = (kdri_own){ .view = kdr_mat_from_csr(x->rows, m, rowptr, col, val),
		           .parts = { rowptr, col, val } };
	rowptr = NULL;
	col = NULL;
	val = NULL;
done:
	KDRI_FREE(ctx, place, rowptr, col, val);
	return st;
}

/* --- one run ---------------------------------------------------------------------------------- */

/* Starts at rows centres[0 .. k - 1] of x. */
static kdr_status start_centres(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t k,
                                double **out)
{
	int64_t d = kdr_mat_cols(x), size;
	double *c = NULL;
	KDRI_DO(kdri_mul(ctx, k, d, &size));
	KDRI_DO(KDRI_NEW0(ctx, &c, size));
	for (int64_t j = 0; j < k; j++) {
		int64_t i = rows[j];
		if (x->kind == KDR_MAT_DENSE)
			memcpy(c + j * d, x->as.dense.data + i * x->as.dense.stride, (size_t)d * sizeof *c);
		else
			for (int64_t p = x->as.csr.rowptr[i]; p < x->as.csr.rowptr[i + 1]; p++)
				c[j * d + x->as.csr.col[p]] = x->as.csr.val[p];
	}
	*out = c;
	return KDR_OK;
}

/* Labels of all rows of x, from centres found on some of them. */
static kdr_status run_on_sample(kdr_context *ctx, const kdr_mat *x, const kdri_kmeans_options *o,
                                int64_t count, kdri_rng *rng, int64_t *labels)
{
	kdr_status st;
	int64_t *rows = NULL, n = kdr_mat_rows(x), first, all, mine = 0;
	kdri_own part = { 0 };
	kdri_kmeans_result r = { 0 };
	KDRI_TRY(kdri_part(ctx, n, &first, &all));
	KDRI_TRY(KDRI_NEW(ctx, &rows, KDRI_MIN(count, n)));
	for (int64_t have = 0, row = -1; have < count; have++) { /* of all ranks' rows, those here */
		row = ensemble_choose(rng, row, all, have, count);
		if (row >= first && row < first + n)
			rows[mine++] = row - first;
	}
	KDRI_TRY(kdri_mat_take(ctx, x, rows, mine, &part));
	KDRI_TRY(kdri_kmeans(ctx, &part.view, NULL, o, &r));
	KDRI_TRY(kdri_kmeans_assign(ctx, x, r.centres, o->k, false, labels));
done:
	kdri_free(ctx, rows);
	kdri_own_free(ctx, &part);
	kdri_kmeans_free(ctx, &r);
	return st;
}

static kdr_status run_on_all(kdr_context *ctx, const kdr_mat *x, const kdri_kmeans_options *o,
                             int64_t *labels)
{
	kdr_status st;
	kdri_kmeans_result r = { 0 };
	KDRI_TRY(kdri_kmeans(ctx, x, NULL, o, &r));
	memcpy(labels, r.labels, (size_t)kdr_mat_rows(x) * sizeof *labels);
done:
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* Adds the silhouettes of one run. A partition of one cluster has none: 0. None are added if it is time to stop. */
static kdr_status add_silhouettes(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                  kdr_silhouette_kind kind, double *values, double *sum)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x);
	bool several = false;
	for (int64_t i = 1; i < n && !several; i++)
		several = labels[i] != labels[0];
	if (!several)
		return KDR_OK;
	const bool before = ctx->abandon;
	ctx->abandon = !kdri_together(ctx);
	st = kdri_silhouette(ctx, x, labels, kind, values, NULL);
	ctx->abandon = before;
	if (st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out))
		return KDR_OK;
	KDRI_TRY(st);
	for (int64_t i = 0; i < n; i++)
		sum[i] += values[i];
done:
	return st;
}

typedef struct workspace {
	int32_t *features;
	int64_t *labels;
	double *silhouette;
} workspace;

static kdr_status one_run(kdr_context *ctx, const kdr_mat *x, const kdri_ensemble_spec *spec,
                          const kdri_run *run, kdri_rng *rng, int64_t index, workspace *w, kdri_ensemble *e)
{
	kdr_status st = KDR_OK;
	kdri_own part = { 0 };
	double *centres = NULL;
	const kdr_mat *seen = x;
	if (run->features && run->nfeatures < kdr_mat_cols(x)) {
		KDRI_TRY(x->kind == KDR_MAT_DENSE
		                 ? dense_columns(ctx, &x->as.dense, run->features, run->nfeatures, &part)
		                 : sparse_columns(ctx, &x->as.csr, run->features, run->nfeatures, &part));
		seen = &part.view;
	}
	kdri_kmeans_options o = kdri_kmeans_defaults(run->k);
	o.n_init = 1;
	o.max_iter = spec->max_iter;
	o.tol = spec->tol;
	o.stream = (spec->stream << 20) + (uint64_t)index;
	if (run->centres) {
		KDRI_TRY(start_centres(ctx, seen, run->centres, run->k, &centres));
		o.init_centres = centres;
	}
	KDRI_TRY(spec->rows > 0 && !centres ? run_on_sample(ctx, seen, &o, spec->rows, rng, w->labels)
	                                    : run_on_all(ctx, seen, &o, w->labels));
	if (e->silhouette)
		KDRI_TRY(add_silhouettes(ctx, seen, w->labels, spec->kind, w->silhouette, e->silhouette));
	for (int64_t i = 0; i < e->n; i++)
		e->label[index * e->n + i] = (int32_t)w->labels[i];
	e->offset[index + 1] = e->offset[index] + run->k;
done:
	kdri_free(ctx, centres);
	kdri_own_free(ctx, &part);
	return st;
}

/* --- all of them ------------------------------------------------------------------------------ */

kdr_status kdri_ensemble_new(kdr_context *ctx, const kdr_mat *x, const kdri_ensemble_spec *spec,
                             const kdri_run *plan, kdri_ensemble *out)
{
	kdr_status st;
	kdri_ensemble e = { .n = kdr_mat_rows(x) };
	workspace w = { 0 };
	int64_t d = kdr_mat_cols(x);
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, spec->runs, e.n, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &e.offset, spec->runs + 1));
	KDRI_TRY(KDRI_NEW(ctx, &e.label, size));
	KDRI_TRY(KDRI_NEW(ctx, &w.features, d));
	KDRI_TRY(KDRI_NEW(ctx, &w.labels, e.n));
	if (spec->silhouettes) {
		KDRI_TRY(KDRI_NEW0(ctx, &e.silhouette, e.n));
		KDRI_TRY(KDRI_NEW(ctx, &w.silhouette, e.n));
	}
	for (bool stop = false; e.runs < spec->runs && !stop; e.runs++) {
		kdri_rng rng =
		        kdri_rng_stream(ctx->seed, "ensemble", (spec->stream << 20) + (uint64_t)e.runs);
		kdri_run drawn = { .nfeatures = spec->features, .features = w.features };
		if (!plan) {
			drawn.k = spec->k_min + kdri_rng_below(&rng, spec->k_max - spec->k_min + 1);
			for (int64_t j = 0; j < spec->features; j++)
				w.features[j] = (int32_t)ensemble_choose(&rng, j ? w.features[j - 1] : -1, d,
				                                         j, spec->features);
			if (spec->features == 0)
				drawn.features = NULL;
		}
		KDRI_TRY(one_run(ctx, x, spec, plan ? &plan[e.runs] : &drawn, &rng, e.runs, &w, &e));
		stop = kdri_iteration(ctx, "ensemble", e.runs + 1, spec->runs, NAN);
	}
	for (int64_t i = 0; e.silhouette && i < e.n; i++)
		e.silhouette[i] /= (double)e.runs;
	*out = e;
	e = (kdri_ensemble){ 0 };
done:
	KDRI_FREE(ctx, w.features, w.labels, w.silhouette);
	kdri_ensemble_free(ctx, &e);
	return st;
}

void kdri_ensemble_free(kdr_context *ctx, kdri_ensemble *e)
{
	KDRI_FREE(ctx, e->offset, e->label, e->silhouette);
	*e = (kdri_ensemble){ 0 };
}

/* ALL_BELOW: all eigenpairs are found up to this many columns, since Lanczos may miss copies of a multiple
 * eigenvalue (1 has as many copies as H has blocks). STARTS_ON: restarts of the last k-means are tried on that many
 * random rows, and only the best one continues with all rows. */
enum { ROWS = 4096, ALL_BELOW = 1024, STARTS_ON = 1 << 15 };
static const double rank_tol = 1e-12;

/* --- (E1), (E2) ------------------------------------------------------------------------------- */

/* 1 / (L d_i) into w, in the two parts that exact sums are made of. */
static kdr_status inverse_degrees(kdr_context *ctx, const kdri_ensemble *e, kdri_exact *w)
{
	kdr_status st;
	int64_t *size = NULL, all;
	double largest = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &size, e->offset[e->runs]));
	for (int64_t l = 0; l < e->runs; l++)
		for (int64_t i = 0; i < e->n; i++)
			size[e->offset[l] + e->label[l * e->n + i]]++;
	KDRI_TRY(kdri_part(ctx, e->n, NULL, &all));
	KDRI_TRY(kdri_sum_int(ctx, size, e->offset[e->runs]));
#pragma omp parallel for num_threads(kdri_team(ctx)) reduction(max : largest) if (e->n > ROWS)
	for (int64_t i = 0; i < e->n; i++) {
		int64_t sum = 0; /* L d_i, an integer */
		for (int64_t l = 0; l < e->runs; l++)
			sum += size[e->offset[l] + e->label[l * e->n + i]]; /* (E1) */
		w[i].high = 1 / (double)sum;
		largest = KDRI_MAX(largest, w[i].high);
	}
	KDRI_TRY(kdri_max(ctx, &largest, 1));
	double big = kdri_exact_big(largest, all), small = big * kdri_exact_ratio(all);
	for (int64_t i = 0; i < e->n; i++) {
		kdri_exact parts = { 0, 0 };
		kdri_exact_add(&parts, big, small, w[i].high);
		w[i] = parts;
	}
done:
	kdri_free(ctx, size);
	return st;
}

/* The blocks (l, 0) .. (l, l) of G. Rows in pieces, so that a piece of all labels stays in the cache. */
static void gram_line(const kdri_ensemble *e, int64_t l, const kdri_exact *w, kdri_exact *g)
{
	int64_t m = e->offset[e->runs];
	for (int64_t begin = 0; begin < e->n; begin += ROWS) {
		int64_t end = KDRI_MIN(e->n, begin + ROWS);
		const int32_t *a = e->label + l * e->n;
		for (int64_t r = 0; r <= l; r++) {
			const int32_t *b = e->label + r * e->n;
			kdri_exact *to = g + e->offset[l] * m + e->offset[r];
			for (int64_t i = begin; i < end; i++) { /* (E2) */
				kdri_exact *cell = to + a[i] * m + b[i];
				cell->high += w[i].high;
				cell->low += w[i].low;
			}
		}
	}
}

static kdr_status gram(kdr_context *ctx, const kdri_ensemble *e, const kdri_exact *w, double *g)
{
	kdr_status st;
	int64_t m = e->offset[e->runs];
	kdri_exact *sums = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, m * m));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (e->n * e->runs > ROWS)
	for (int64_t l = e->runs - 1; l >= 0; l--) /* the longest first */
		gram_line(e, l, w, sums);
	KDRI_TRY(kdri_sum(ctx, &sums[0].high, 2 * m * m));
	for (int64_t a = 0; a < m; a++)
		for (int64_t b = 0; b <= a; b++)
			g[b * m + a] = g[a * m + b] = sums[a * m + b].high + sums[a * m + b].low;
done:
	kdri_free(ctx, sums);
	return st;
}

/* --- (E3), (E4) ------------------------------------------------------------------------------- */

/* The largest `count` eigenpairs of g (m x m, lost), descending. */
static kdr_status eigenpairs(kdr_context *ctx, double *g, int64_t m, int64_t count, double *values,
                             double *vectors)
{
	kdr_status st;
	double *all = NULL;
	if (m > ALL_BELOW && count < m / 4) {
		kdr_mat mat = kdr_mat_from_dense(g, m, m);
		kdri_op op = kdri_op_mat(&mat);
		op.apply_t = NULL;
		return kdri_eigsh(ctx, &op, count, KDRI_LARGEST, 1e-12, values, vectors);
	}
	KDRI_TRY(KDRI_NEW(ctx, &all, m));
	KDRI_TRY(kdri_eigh(ctx, m, g, m, all));
	for (int64_t j = 0; j < count; j++) {
		values[j] = all[m - 1 - j];
		for (int64_t a = 0; a < m; a++)
			vectors[a * count + j] = g[a * m + m - 1 - j];
	}
done:
	kdri_free(ctx, all);
	return st;
}

kdr_status kdri_consensus_spectrum(kdr_context *ctx, const kdri_ensemble *e, int64_t count, double *values,
                                   double *table)
{
	kdr_status st;
	int64_t m = e->offset[e->runs], size;
	double *g = NULL;
	kdri_exact *w = NULL;
	KDRI_TRY(kdri_mul(ctx, m, m, &size));
	KDRI_TRY(KDRI_NEW(ctx, &g, size));
	KDRI_TRY(KDRI_NEW(ctx, &w, e->n));
	KDRI_TRY(inverse_degrees(ctx, e, w));
	KDRI_TRY(gram(ctx, e, w, g));
	KDRI_TRY(eigenpairs(ctx, g, m, count, values, table));
	for (int64_t j = 0; j < count; j++) {
		double scale = values[j] > rank_tol ? 1 / sqrt(values[j]) : 0;
		for (int64_t a = 0; a < m; a++)
			table[a * count + j] *= scale; /* (E3) */
	}
done:
	KDRI_FREE(ctx, w, g);
	return st;
}

void kdri_consensus_embed(kdr_context *ctx, const kdri_ensemble *e, const double *table, int64_t count,
                          int64_t k, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (e->n * k > ROWS)
	for (int64_t i = 0; i < e->n; i++) {
		double *row = out + i * k, square = 0;
		for (int64_t j = 0; j < k; j++)
			row[j] = 0;
		for (int64_t l = 0; l < e->runs; l++) {
			const double *from = table + (e->offset[l] + e->label[l * e->n + i]) * count;
			for (int64_t j = 0; j < k; j++)
				row[j] += from[j]; /* (E4) */
		}
		for (int64_t j = 0; j < k; j++)
			square += row[j] * row[j];
		double scale = square > 0 ? 1 / sqrt(square) : 0;
		for (int64_t j = 0; j < k; j++)
			row[j] *= scale;
	}
}

int64_t kdri_consensus_gap(const double *values, int64_t count, int64_t most)
{
	int64_t best = 1;
	double widest = -1;
	for (int64_t k = 2; k <= most && k <= count; k++) {
		double gap = values[k - 1] - (k < count ? values[k] : 0);
		if (gap > widest) {
			widest = gap;
			best = k;
		}
	}
	return best;
}

/* --- (E5), (E6) ------------------------------------------------------------------------------- */

/* Stability and score of any partition of the ensemble's rows into k clusters; either may be NULL. */
static kdr_status consensus_agreement(kdr_context *ctx, const kdri_ensemble *e, const int64_t *labels,
                                      int64_t k, double *stability, double *score)
{
	kdr_status st;
	int64_t *t = NULL, *size = NULL, cells, m = e->offset[e->runs];
	KDRI_TRY(kdri_mul(ctx, m, k, &cells));
	KDRI_TRY(KDRI_NEW0(ctx, &t, cells));
	KDRI_TRY(KDRI_NEW0(ctx, &size, k));
	for (int64_t i = 0; i < e->n; i++)
		size[labels[i]]++;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (e->n * e->runs > ROWS)
	for (int64_t l = 0; l < e->runs; l++)
		for (int64_t i = 0; i < e->n; i++)
			t[(e->offset[l] + e->label[l * e->n + i]) * k + labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, t, cells));
	KDRI_TRY(kdri_sum_int(ctx, size, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (e->n > ROWS)
	for (int64_t i = 0; i < (stability ? e->n : 0); i++) {
		int64_t sum = 0, others = size[labels[i]] - 1;
		for (int64_t l = 0; l < e->runs; l++)
			sum += t[(e->offset[l] + e->label[l * e->n + i]) * k + labels[i]];
		stability[i] = others > 0 ? (double)(sum - e->runs) / ((double)e->runs * (double)others)
		                          : 1; /* (E5) */
	}
	if (score) {
		double sum = 0, nmi;
		for (int64_t l = 0; l < e->runs; l++) {
			KDRI_TRY(kdri_nmi_counts(ctx, t + e->offset[l] * k, e->offset[l + 1] - e->offset[l],
			                         k, &nmi));
			sum += nmi;
		}
		*score = sum / (double)e->runs; /* (E6) */
	}
done:
	KDRI_FREE(ctx, t, size);
	return st;
}

/* --- all steps -------------------------------------------------------------------------------- */

/* k-means of the embedding. With more than STARTS_ON rows, the starts are compared on a sample of them. */
static kdr_status cluster_rows(kdr_context *ctx, const double *embedding, int64_t n, int64_t width, int64_t k,
                               const kdri_consensus_options *options, kdri_kmeans_result *out)
{
	kdr_status st;
	kdr_mat x = kdr_mat_from_dense(embedding, n, width);
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result first = { 0 };
	int64_t *rows = NULL, begin, all, mine = 0;
	kdri_own part = { 0 };
	o.n_init = options->n_init;
	o.max_iter = options->max_iter;
	o.tol = options->tol;
	o.stream = ((uint64_t)1 << 43) + options->stream;
	o.init_labels = options->init;
	KDRI_TRY(kdri_part(ctx, n, &begin, &all));
	if (all > STARTS_ON && k <= STARTS_ON && !options->init && o.n_init > 1) {
		KDRI_TRY(KDRI_NEW(ctx, &rows, STARTS_ON));
		kdri_rng rng = kdri_rng_stream(ctx->seed, "consensus.rows", options->stream);
		for (int64_t i = 0; i < STARTS_ON;
		     i++) { /* one of each all / STARTS_ON rows, if it is here */
			int64_t row = kdri_chunk_begin(all, STARTS_ON, i) +
			              kdri_rng_below(&rng, all / STARTS_ON) - begin;
			if (row >= 0 && row < n)
				rows[mine++] = row;
		}
		KDRI_TRY(kdri_mat_take(ctx, &x, rows, mine, &part));
		KDRI_TRY(kdri_kmeans(ctx, &part.view, NULL, &o, &first));
		o.init_centres = first.centres;
	}
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, out));
done:
	kdri_free(ctx, rows);
	kdri_own_free(ctx, &part);
	kdri_kmeans_free(ctx, &first);
	return st;
}

kdr_status kdri_consensus_new(kdr_context *ctx, const kdri_ensemble *e, const kdri_consensus_options *o,
                              kdri_consensus *out)
{
	kdr_status st;
	kdri_consensus c = { 0 };
	double *table = NULL, *embedding = NULL;
	int64_t m = e->offset[e->runs], most, all, size;
	KDRI_TRY(kdri_part(ctx, e->n, NULL, &all));
	most = KDRI_MIN(KDRI_MIN(o->most, m), all);
	c.count = KDRI_MIN(KDRI_MAX(o->k, most) + 1, m);
	KDRI_TRY(kdri_mul(ctx, m, c.count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &c.values, c.count));
	KDRI_TRY(KDRI_NEW(ctx, &table, size));
	KDRI_TRY(kdri_consensus_spectrum(ctx, e, c.count, c.values, table));
	c.suggested = kdri_consensus_gap(c.values, c.count, most);
	c.k = o->k > 0 ? o->k : c.suggested;
	/* Fewer columns than clusters: all of them are used; the partition is what they can distinguish. */
	int64_t width = KDRI_MIN(c.k, c.count);
	KDRI_TRY(kdri_mul(ctx, e->n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &embedding, size));
	kdri_consensus_embed(ctx, e, table, c.count, width, embedding);
	KDRI_TRY(cluster_rows(ctx, embedding, e->n, width, c.k, o, &c.kmeans));
	KDRI_TRY(KDRI_NEW(ctx, &c.stability, e->n));
	KDRI_TRY(consensus_agreement(ctx, e, c.kmeans.labels, c.k, c.stability, &c.score));
	*out = c;
	c = (kdri_consensus){ 0 };
done:
	KDRI_FREE(ctx, table, embedding);
	kdri_consensus_free(ctx, &c);
	return st;
}

void kdri_consensus_free(kdr_context *ctx, kdri_consensus *c)
{
	KDRI_FREE(ctx, c->values, c->stability);
	kdri_kmeans_free(ctx, &c->kmeans);
	*c = (kdri_consensus){ 0 };
}
