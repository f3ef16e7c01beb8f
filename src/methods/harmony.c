/* Harmony: samples of all tasks in one space, moved until tasks mix in every cluster; then k-means.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * [KMF19] I. Korsunsky et al.: Fast, sensitive and accurate integration of single-cell data with Harmony. Nature Methods
 *         16:1289-1296, 2019; numbers of its supplement's equations are not cited, since its printings differ.
 *
 *   (E1)  Z = (X - 1 m') U_r                 all tasks stacked, their r leading directions; z_i the rows
 *   (E2)  J = sum_ic R_ic [ 2 (1 - y_c . z_i / |z_i|) + sigma log R_ic + sigma theta log((O_tc + 1) / (E_tc + 1)) ]
 *         O_tc = sum_{i in t} R_ic,   E_tc = (n_t / n) sum_i R_ic,   |y_c| = 1,   sum_c R_ic = 1,   t the task of i
 *   (E3)  y_c ~ sum_i R_ic z_i / |z_i|
 *   (E4)  R_ic ~ exp(-2 (1 - y_c . z_i / |z_i|) / sigma) ((E_tc + 1) / (O_tc + 1))^theta
 *         a block of samples at a time, with O and E of all the others
 *   (E5)  B_c = argmin sum_i R_ic |z_i - b_c0 - b_ct|^2 + ridge sum_t |b_ct|^2       of the first Z, not the moved one
 *   (E6)  z_i <- z_i - sum_c R_ic b_ct
 *
 * (E3) and (E4) alternate until the relative decrease of J is less than 1e-5, at most 20 times; then (E5) and (E6)
 * follow. All this is repeated until J falls by less than tol in a round. Then k-means on the rows of all tasks:
 * cluster j is the same in each.
 *
 * (E5) has a closed form: with N_tc = O_tc + ridge and S_tc = sum_{i in t} R_ic z_i, eliminating the b_ct gives
 *
 *   (E7)  b_c0 = sum_t (1 - O_tc / N_tc) S_tc / sum_t (1 - O_tc / N_tc) O_tc,   b_ct = (S_tc - O_tc b_c0) / N_tc
 *
 * so that a round takes O(n C r) operations, C the number of soft clusters, and one pass over Z.
 *
 * DEVIATION: + 1 in (E2) and (E4) as in the authors' program (the paper has E / O); blocks are samples i = b mod BLOCKS of
 * the stacked tasks, not random ones; the first y are from k-means on the rows of Z scaled to unit length. A cluster
 * without samples in any task (O = 0) moves no sample.
 *
 * If several numbers of clusters are fitted (matrix/kept.h), samples are moved once: only the last k-means depends on k.
 *
 * Z        z, n x r; moved: moved               R        soft, n x C
 * y_c      centres, C x r                       O, E     seen, due: ntasks x C
 * S_tc     sums, ntasks x C x r                 b_ct     shift, ntasks x C x r */
#include "api/method.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/device_use.h"
#include "matrix/kept.h"
#include "matrix/range.h"
#include "methods/common/tasks.h"

static const char stage[] = "harmony";

enum { BLOCKS = 20, INNER = 20, ROUNDS = 4, MOST_SOFT = 100, SAMPLES_EACH = 30, BETWEEN_POLLS = 4096 };
static const double inner_tol = 1e-5;

static const kdr_option_desc options_table[] = {
	KDRI_INT("l", 20, 1, 256, "number of leading principal directions in which samples are moved",
	         .symbol = "r"),
	KDRI_INT("clusters", 0, 0, 1e6,
	         "number of soft clusters in which data sets must mix; 0: one per 30 samples, at most 100",
	         .automatic = "min(100, n / 30)"),
	KDRI_REAL("theta", 2, 0, 1e3, "how strongly clusters are pushed to mix the data sets; 0: not at all",
	          .symbol = "theta"),
	KDRI_REAL("sigma", 0.1, 0, 1e3, "width of the soft clusters", .open_min = true, .symbol = "sigma"),
	KDRI_REAL("ridge", 1, 0, 1e9, "penalty on moving a data set within a cluster", .open_min = true,
	          .symbol = "lambda"),
	KDRI_MAX_ITER(10),
	KDRI_TOL(1e-4),
	KDRI_N_INIT(10),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x r",
	           "coordinates of the samples along the leading directions, after the move",
	           .per_task = true, .common_space = true),
	KDRI_ARRAY("unmoved", KDR_FLOAT64, "n x r",
	           "coordinates of the samples along the leading directions, before the move",
	           .per_task = true),
	KDRI_ARRAY("soft_centres", KDR_FLOAT64, "C x r",
	           "initial centres of the soft clusters, scaled to unit length"),
	KDRI_ARRAY("centres", KDR_FLOAT64, "k x r", "cluster centres of the moved samples"),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"I. Korsunsky et al.: Fast, sensitive and accurate integration of single-cell data with Harmony. Nature Methods "
	"16:1289-1296, 2019.",
	NULL,
};

typedef struct harmony {
	const kdri_stack *stack;
	int64_t n, r, soft_k, ntasks, *task; /* n: the task of each sample */
	double theta, sigma, ridge;
	double *z, *moved, *unit;    /* n x r: (E1), (E6), its rows of unit length */
	double *soft, *close, *mass; /* n x C: R, y_c . z_i / |z_i|; C: sum_i R_ic */
	double *centres, *first;     /* C x r: now, at the start */
	double *seen, *due;          /* ntasks x C */
	double *sums, *shift;        /* ntasks x C x r */
	int64_t iterations, most, room;
	double start, *trace;
	kdr_stop stop;
} harmony;

/* --- start -------------------------------------------------------------------------------------- */

/* (E1) */
static kdr_status harmony_directions(kdr_context *ctx, harmony *h)
{
	kdr_status st;
	kdri_own own = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	const kdr_mat *x = &own.view;
	int64_t n = h->n, d = kdr_mat_cols(&h->stack->x), r = h->r;
	double *mean = NULL, *u = NULL, *s = NULL;
	kdri_held *held = NULL;
	KDRI_TRY(kdri_mat_by_content(ctx, &h->stack->x, &own)); /* labels do not depend on the storage */
	KDRI_TRY(KDRI_NEW(ctx, &mean, d));
	KDRI_TRY(KDRI_NEW(ctx, &u, d * r));
	KDRI_TRY(KDRI_NEW(ctx, &s, r));
	KDRI_TRY(kdri_mat_col_sums(ctx, x, mean));
	for (int64_t j = 0; j < d; j++)
		mean[j] /= (double)n;
	const kdri_centred centred = { x, mean };
	const kdri_op op = kdri_op_centred(&centred);
	KDRI_TRY(kdri_hold_leading(ctx, x, r, ROUNDS, &held));
	KDRI_TRY(kdri_leading(ctx, &op, r, ROUNDS, NULL, s, u));
	KDRI_TRY(KDRI_NEW(ctx, &h->z, n * r));
	KDRI_TRY(op.apply(ctx, &op, u, r, r, h->z, r));
done:
	kdri_unhold(ctx, held);
	kdri_own_free(ctx, &own);
	KDRI_FREE(ctx, mean, u, s);
	return st;
}

/* Scales rows to unit length; a row of zeros is unchanged. */
static void harmony_scale_rows(const double *from, int64_t n, int64_t r, double *to)
{
	for (int64_t i = 0; i < n; i++) {
		double size = sqrt(kdri_nrm2sq(from + i * r, r));
		for (int64_t j = 0; j < r; j++)
			to[i * r + j] = size > 0 ? from[i * r + j] / size : 0;
	}
}

static kdr_status first_centres(kdr_context *ctx, harmony *h)
{
	kdr_status st;
	kdri_kmeans_result found = { 0 };
	kdri_kmeans_options o = kdri_kmeans_defaults(h->soft_k);
	const kdr_mat unit = kdr_mat_from_dense(h->unit, h->n, h->r);
	o.n_init = 1;
	o.stream = 1; /* the last k-means has 0 */
	KDRI_TRY(kdri_kmeans(ctx, &unit, NULL, &o, &found));
	harmony_scale_rows(found.centres, h->soft_k, h->r, h->centres);
	memcpy(h->first, h->centres, (size_t)(h->soft_k * h->r) * sizeof *h->first);
done:
	kdri_kmeans_free(ctx, &found);
	return st;
}

static void harmony_set(const kdri_stack *stack, const kdr_options *options, harmony *h)
{
	int64_t n = stack->begin[stack->ntasks], wanted = kdri_opt_int(options, "clusters");
	const int64_t most = KDRI_MIN(n, kdr_mat_cols(&stack->x)); /* directions that the data have */
	*h = (harmony){ .stack = stack,
		        .n = n,
		        .r = KDRI_MIN(kdri_opt_int(options, "l"), most),
		        .ntasks = stack->ntasks,
		        .most = kdri_opt_int(options, "max_iter"),
		        .theta = kdri_opt_real(options, "theta"),
		        .sigma = kdri_opt_real(options, "sigma"),
		        .ridge = kdri_opt_real(options, "ridge") };
	h->soft_k = wanted ? KDRI_MIN(wanted, n) : KDRI_MAX(1, KDRI_MIN(MOST_SOFT, n / SAMPLES_EACH));
}

/* After the directions, which need most memory. */
static kdr_status harmony_room(kdr_context *ctx, harmony *h)
{
	const int64_t n = h->n, c = h->soft_k;
	KDRI_DO(KDRI_NEW(ctx, &h->task, n));
	KDRI_DO(KDRI_NEW(ctx, &h->moved, n * h->r));
	KDRI_DO(KDRI_NEW(ctx, &h->unit, n * h->r));
	KDRI_DO(KDRI_NEW0(ctx, &h->soft, n * c));
	KDRI_DO(KDRI_NEW(ctx, &h->close, n * c));
	KDRI_DO(KDRI_NEW(ctx, &h->mass, c));
	KDRI_DO(KDRI_NEW(ctx, &h->centres, c * h->r));
	KDRI_DO(KDRI_NEW(ctx, &h->first, c * h->r));
	KDRI_DO(KDRI_NEW0(ctx, &h->seen, h->ntasks * c));
	KDRI_DO(KDRI_NEW0(ctx, &h->due, h->ntasks * c));
	KDRI_DO(KDRI_NEW(ctx, &h->sums, h->ntasks * c * h->r));
	KDRI_DO(KDRI_NEW(ctx, &h->shift, h->ntasks * c * h->r));
	for (int64_t t = 0; t < h->ntasks; t++)
		for (int64_t i = h->stack->begin[t]; i < h->stack->begin[t + 1]; i++)
			h->task[i] = t;
	return KDR_OK;
}

/* --- soft clusters ------------------------------------------------------------------------------ */

/* close = unit centres'. */
static kdr_status harmony_compare(kdr_context *ctx, harmony *h)
{
	return kdri_gemm(ctx, false, true, h->n, h->soft_k, h->r, 1, h->unit, h->r, h->centres, h->r, 0,
	                 h->close, h->soft_k);
}

/* Adds (sign 1) or subtracts (-1) the contribution of sample i to O and mass; E is computed in weigh. */
static void harmony_count(harmony *h, int64_t i, double sign)
{
	int64_t c = h->soft_k;
	kdri_axpy(sign, h->soft + i * c, h->seen + h->task[i] * c, c);
	kdri_axpy(sign, h->soft + i * c, h->mass, c);
}

static double harmony_share_of(const harmony *h, int64_t t)
{
	return (double)(h->stack->begin[t + 1] - h->stack->begin[t]) / (double)h->n;
}

/* (E4) for samples b, b + BLOCKS, ...; `penalty` false: without the last factor, for the first R. */
static void assign_block(harmony *h, int64_t b, bool penalty)
{
	int64_t c = h->soft_k;
	if (penalty) {
		for (int64_t i = b; i < h->n; i += BLOCKS)
			harmony_count(h, i, -1);
		for (int64_t t = 0; t < h->ntasks; t++)
			for (int64_t j = 0; j < c; j++) /* rounding errors can make a zero negative */
				h->due[t * c + j] =
				        h->theta *
				        log((harmony_share_of(h, t) * KDRI_MAX(h->mass[j], 0) + 1) /
				            (KDRI_MAX(h->seen[t * c + j], 0) + 1));
	}
	for (int64_t i = b; i < h->n; i += BLOCKS) {
		double *soft = h->soft + i * c, most = -INFINITY, sum = 0;
		for (int64_t j = 0; j < c; j++) {
			soft[j] = -2 * (1 - h->close[i * c + j]) / h->sigma +
			          (penalty ? h->due[h->task[i] * c + j] : 0);
			most = KDRI_MAX(most, soft[j]);
		}
		for (int64_t j = 0; j < c; j++)
			sum += soft[j] = exp(soft[j] - most);
		for (int64_t j = 0; j < c; j++)
			soft[j] /= sum;
		harmony_count(h, i, 1);
	}
}

/* (E2). Returns false, without a value, if it is time to stop. */
static bool harmony_value_of(kdr_context *ctx, harmony *h, double *out)
{
	int64_t c = h->soft_k;
	double value = 0;
	memset(h->seen, 0, (size_t)(h->ntasks * c) * sizeof *h->seen); /* anew: no rounding adds up */
	memset(h->mass, 0, (size_t)c * sizeof *h->mass);
	for (int64_t i = 0; i < h->n; i++) {
		if (i % BETWEEN_POLLS == 0 && kdri_leave_off(ctx, stage, h->iterations, h->most))
			return false;
		harmony_count(h, i, 1);
		for (int64_t j = 0; j < c; j++) {
			double soft = h->soft[i * c + j];
			if (soft > 0)
				value += soft * (2 * (1 - h->close[i * c + j]) + h->sigma * log(soft));
		}
	}
	for (int64_t t = 0; t < h->ntasks; t++)
		for (int64_t j = 0; j < c; j++) {
			double seen = h->seen[t * c + j];
			value += h->sigma * h->theta * seen *
			         log((seen + 1) / (harmony_share_of(h, t) * h->mass[j] + 1));
		}
	*out = value;
	return true;
}

/* (E4) for all samples, and (E2). False if it is time to stop. */
static bool harmony_assign(kdr_context *ctx, harmony *h, bool penalty, double *value)
{
	for (int64_t b = 0; b < BLOCKS; b++) {
		if (kdri_leave_off(ctx, stage, h->iterations, h->most))
			return false;
		assign_block(h, b, penalty);
	}
	return harmony_value_of(ctx, h, value);
}

/* (E3) and (E4) until J converges. *stopped: the run was stopped before that. */
static kdr_status harmony_settle(kdr_context *ctx, harmony *h, double *value, bool *stopped)
{
	int64_t c = h->soft_k, r = h->r;
	double before = *value;
	for (int inner = 0; inner < INNER; inner++) {
		KDRI_DO(kdri_gemm(ctx, true, false, c, r, h->n, 1, h->soft, c, h->unit, r, 0, h->centres, r));
		harmony_scale_rows(h->centres, c, r, h->centres); /* (E3) */
		KDRI_DO(harmony_compare(ctx, h));
		*stopped = !harmony_assign(ctx, h, true, value);
		if (*stopped || before - *value <= inner_tol * fabs(before))
			break;
		before = *value;
	}
	return KDR_OK;
}

/* --- moving ------------------------------------------------------------------------------------- */

/* (E7) for cluster c of all tasks; mean: b_c0, r numbers of room. */
static void find_shift(harmony *h, int64_t c, double *mean)
{
	int64_t r = h->r;
	double weight = 0;
	memset(mean, 0, (size_t)r * sizeof *mean);
	for (int64_t t = 0; t < h->ntasks; t++) {
		double seen = h->seen[t * h->soft_k + c], left = h->ridge / (seen + h->ridge); /* 1 - O / N */
		kdri_axpy(left, h->sums + (t * h->soft_k + c) * r, mean, r);
		weight += left * seen;
	}
	for (int64_t j = 0; j < r; j++)
		mean[j] = weight > 0 ? mean[j] / weight : 0;
	for (int64_t t = 0; t < h->ntasks; t++) {
		double seen = h->seen[t * h->soft_k + c], *shift = h->shift + (t * h->soft_k + c) * r;
		const double *sum = h->sums + (t * h->soft_k + c) * r;
		for (int64_t j = 0; j < r; j++)
			shift[j] = weight > 0 ? (sum[j] - seen * mean[j]) / (seen + h->ridge) : 0;
	}
}

/* (E5), (E6) */
static kdr_status harmony_move(kdr_context *ctx, harmony *h)
{
	int64_t c = h->soft_k, r = h->r;
	for (int64_t t = 0; t < h->ntasks; t++) {
		int64_t begin = h->stack->begin[t], n = h->stack->begin[t + 1] - begin;
		KDRI_DO(kdri_gemm(ctx, true, false, c, r, n, 1, h->soft + begin * c, c, h->z + begin * r, r,
		                  0, h->sums + t * c * r, r));
	}
	for (int64_t j = 0; j < c; j++)
		find_shift(h, j, h->unit); /* which is made anew below */
	memcpy(h->moved, h->z, (size_t)(h->n * r) * sizeof *h->z);
	for (int64_t t = 0; t < h->ntasks; t++) {
		int64_t begin = h->stack->begin[t], n = h->stack->begin[t + 1] - begin;
		KDRI_DO(kdri_gemm(ctx, false, false, n, r, c, -1, h->soft + begin * c, c,
		                  h->shift + t * c * r, r, 1, h->moved + begin * r, r));
	}
	harmony_scale_rows(h->moved, h->n, r, h->unit);
	return harmony_compare(ctx, h);
}

static kdr_status harmony_iterate(kdr_context *ctx, harmony *h, double tol)
{
	double value = NAN, before;
	bool stopped;
	memset(h->mass, 0, (size_t)h->soft_k * sizeof *h->mass);
	KDRI_DO(harmony_compare(ctx, h));
	stopped = !harmony_assign(ctx, h, false, &value);
	h->start = value;
	h->stop = KDR_STOP_MAX_ITER;
	while (!stopped && h->stop == KDR_STOP_MAX_ITER && h->iterations < h->most) {
		before = value;
		KDRI_DO(harmony_settle(ctx, h, &value, &stopped));
		if (stopped) /* samples stay where the last complete round moved them */
			break;
		KDRI_DO(harmony_move(ctx, h));
		KDRI_DO(kdri_trace_push(ctx, &h->trace, &h->iterations, &h->room, value));
		if (before - value <= tol * fabs(before))
			h->stop = KDR_STOP_CONVERGED;
		stopped = kdri_iteration(ctx, stage, h->iterations, h->most, value);
	}
	if (stopped)
		h->stop = kdri_stop_reason(ctx);
	return KDR_OK;
}

/* --- other numbers of clusters ------------------------------------------------------------------ */

enum { PARTS = 4 };
static const char kept_about[] = "harmony", kept_moved[] = "harmony.moved";

static void harmony_parts(const harmony *h, kdri_kept_part out[PARTS])
{
	const size_t each = (size_t)h->r * sizeof(double);
	out[0] = (kdri_kept_part){ h->z, (size_t)h->n * each };
	out[1] = (kdri_kept_part){ h->moved, (size_t)h->n * each };
	out[2] = (kdri_kept_part){ h->first, (size_t)h->soft_k * each };
	out[3] = (kdri_kept_part){ h->iterations > 0 ? h->trace : NULL,
		                   (size_t)h->iterations * sizeof *h->trace };
}

/* What another fit has moved. */
static kdr_status harmony_find(kdr_context *ctx, uint64_t key, harmony *h, bool *out)
{
	double about[3];
	kdri_kept_part parts[PARTS];
	*out = false;
	if (!kdri_kept_find(ctx, kept_about, key, about, sizeof about))
		return KDR_OK;
	h->iterations = (int64_t)about[0];
	h->stop = (kdr_stop)about[1];
	h->start = about[2];
	KDRI_DO(KDRI_NEW(ctx, &h->z, h->n * h->r));
	KDRI_DO(KDRI_NEW(ctx, &h->moved, h->n * h->r));
	KDRI_DO(KDRI_NEW(ctx, &h->first, h->soft_k * h->r));
	KDRI_DO(KDRI_NEW(ctx, &h->trace, KDRI_MAX(1, h->iterations)));
	h->room = KDRI_MAX(1, h->iterations);
	harmony_parts(h, parts);
	*out = kdri_kept_find_parts(ctx, kept_moved, key, parts, PARTS);
	if (!*out) {
		h->iterations = h->room = 0;
		KDRI_FREE(ctx, h->z, h->moved, h->first, h->trace);
		h->z = h->moved = h->first = h->trace = NULL;
	}
	return KDR_OK;
}

/* Samples of all tasks, moved. */
static kdr_status harmony_run(kdr_context *ctx, const kdr_options *options, harmony *h)
{
	uint64_t key = 0;
	bool found = false;
	if (kdri_keeps(ctx)) {
		key = kdri_options_key(ctx, options, &h->stack->x);
		KDRI_DO(harmony_find(ctx, key, h, &found));
	}
	if (found)
		return KDR_OK;
	KDRI_DO(harmony_directions(ctx, h));
	KDRI_DO(harmony_room(ctx, h));
	memcpy(h->moved, h->z, (size_t)(h->n * h->r) * sizeof *h->z);
	harmony_scale_rows(h->moved, h->n, h->r, h->unit);
	KDRI_DO(first_centres(ctx, h));
	KDRI_DO(harmony_iterate(ctx, h, kdri_opt_real(options, "tol")));
	const double about[] = { (double)h->iterations, (double)h->stop, h->start };
	kdri_kept_part parts[PARTS];
	harmony_parts(h, parts);
	KDRI_DO(kdri_kept_put_parts(ctx, kept_moved, key, parts, PARTS));
	return kdri_kept_put(ctx, kept_about, key, about, sizeof about);
}

/* --- results ------------------------------------------------------------------------------------ */

static kdr_status harmony_put(kdr_context *ctx, const harmony *h, const kdri_kmeans_result *clusters,
                              int64_t k, kdr_result *result)
{
	int64_t r = h->r, *labels = NULL;
	double *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "soft_centres", -1, KDR_FLOAT64, 2,
	                          (int64_t[]){ h->soft_k, r }, &to));
	memcpy(to, h->first, (size_t)(h->soft_k * r) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "centres", -1, KDR_FLOAT64, 2, (int64_t[]){ k, r }, &to));
	memcpy(to, clusters->centres, (size_t)(k * r) * sizeof *to);
	for (int64_t t = 0; t < h->ntasks; t++) {
		int64_t begin = h->stack->begin[t], n = h->stack->begin[t + 1] - begin;
		KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
		memcpy(labels, clusters->labels + begin, (size_t)n * sizeof *labels);
		KDRI_DO(kdri_result_array(ctx, result, "embedding", t, KDR_FLOAT64, 2, (int64_t[]){ n, r },
		                          &to));
		memcpy(to, h->moved + begin * r, (size_t)(n * r) * sizeof *to);
		KDRI_DO(kdri_result_array(ctx, result, "unmoved", t, KDR_FLOAT64, 2, (int64_t[]){ n, r },
		                          &to));
		memcpy(to, h->z + begin * r, (size_t)(n * r) * sizeof *to);
	}
	KDRI_DO(kdri_put_same_clusters(ctx, h->ntasks, k, result));
	const kdri_trace trace = { h->start, h->trace, h->iterations, h->stop, 1 };
	return kdri_put_traces(ctx, &trace, 1, result);
}

static kdr_status harmony_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                              kdr_result *result)
{
	kdr_status st;
	kdri_stack stack = { .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_kmeans_result clusters = { 0 };
	harmony h = { 0 };
	int64_t *init = NULL, k = problem->tasks[0].k;
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	KDRI_TRY(kdri_stack_new(ctx, problem, &stack));
	KDRI_TRY(kdri_stack_init(ctx, problem, &stack, &init));
	harmony_set(&stack, options, &h);
	KDRI_TRY(harmony_run(ctx, options, &h));
	const kdr_mat moved = kdr_mat_from_dense(h.moved, h.n, h.r);
	o.n_init = kdri_opt_int(options, "n_init");
	o.init_labels = init;
	KDRI_TRY(kdri_kmeans(ctx, &moved, NULL, &o, &clusters));
	KDRI_TRY(harmony_put(ctx, &h, &clusters, k, result));
done:
	kdri_kmeans_free(ctx, &clusters);
	KDRI_FREE(ctx, h.task, h.z, h.moved, h.unit, h.soft, h.close, h.mass, h.first, h.centres, h.seen,
	          h.due, h.sums, h.shift, h.trace);
	kdri_stack_free(ctx, &stack);
	kdri_free(ctx, init);
	return st;
}

const kdri_algo kdri_algo_harmony = {
	.info = { .id = "harmony",
	          .class_name = "Harmony",
	          .title = "Harmony, then k-means",
	          .summary =
	                  "moves samples until the data sets mix in every soft cluster, then clusters them together",
	          .objective =
	                  "J = sum_ic R_ic ( 2 (1 - y_c . z_i / |z_i|) + sigma ln R_ic + sigma theta ln((O_tc + 1) / (E_tc + 1)) )\n"
	                  "z_i    sample i along the leading directions of all data sets, as moved so far (array embedding: at the end)\n"
	                  "R_ic   membership of sample i in soft cluster c; rows sum to 1\n"
	                  "y_c    centre of soft cluster c, of unit length\n"
	                  "t      data set of sample i\n"
	                  "O_tc   sum of R_ic over the samples of data set t\n"
	                  "E_tc   the same if all data sets had the same share of the cluster\n"
	                  "sigma, theta: options",
	          .steps =
	                  "1. y and R in turn until J settles\n"
	                  "2. move the samples: subtract the data set's part of a regression in each soft cluster\n"
	                  "3. after the last round, k-means on all samples",
	          .use = "Batches of cells that differ by technical effects. It gives an integrated embedding.",
	          .cost = "O(n C r) operations per round, C soft clusters and r directions.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_SAME_K | KDR_ALGO_SHARED_CLUSTERS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = harmony_fit,
};
