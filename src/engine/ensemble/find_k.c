/* The numbers of clusters that auto finds. SPDX-License-Identifier: BSD-3-Clause
 *
 * find_k.c computes the evidence for each task. If several numbers of clusters are fitted (matrix/kept.h), the number found here is moved into
 * their range, and the agreement of partitions is computed for that number only, because no other is reported. */
/* Whether clusters are clearer than those found in random noise.
 *
 * k-means finds clusters in any data, and members that use the same noise agree on them. Its clusters are therefore
 * compared with those it finds in noise of the same size and spread [the idea of Liu, Hayes, Nobel & Marron, JASA 103,
 * 2008]: with y the samples along their leading directions, s_j their spread along direction j and
 *
 *   (E1)  w(y) = sum_i |y_i - c(i)|^2 / sum_i |y_i - mean|^2,  c(i) the nearest of k means
 *   (E2)  z_ij = s_j g_ij, g independent and normal; rows brought to unit length where those of y were
 *   (E3)  beyond = (mean of w(z) - w(y)) / spread of w(z),     over DRAWS draws of z
 *
 * For normal y itself (E3) is Student's t with DRAWS - 1 degrees of freedom, times sqrt(1 + 1 / DRAWS). With few draws
 * or few starts, the same samples would count as noise with one seed and not with another. If rows are distributed over
 * ranks, the inspected rows are sent to all ranks, and each computes the same. */
/* Suggests the number of clusters.
 *
 * On the graph of 20 neighbours, with a partition into k by k-means on the rows of its first k eigenvectors:
 *
 *   (E4)  gap(k) = l_k - l_(k+1), l the eigenvalues of D^-1/2 W D^-1/2 in decreasing order     [von Luxburg 2007, section 8.3]
 *   (E5)  modularity(k) = sum_c w_c / w - (d_c / w)^2, w_c the weight of the edges inside cluster c, d_c the degrees in it,
 *         w those of all                                                                      [Newman, Girvan 2004]
 *   (E6)  score(k) = gap and modularity, each scaled to 0 .. 1 over 2 .. most, and added
 *   (E7)  agreement(k) = mean over RUNS runs and pairs of kinds of the adjusted Rand index of two partitions: the one above,
 *         the same on the graph of 10 neighbours, and k-means on the 2 k leading directions
 *
 * The guess is the k with the highest score, or with the highest mean score over tasks that share one k. The gap alone
 * suggests 2 for most texts; modularity alone suggests too many. Whether the guess is supported is decided by
 * independent evidence: if k is right, different kinds of clustering find the same clusters; otherwise each errs in its
 * own way, even if each is stable. Supported: (E7) is at least `agreed`. The range has those k whose score is within
 * `nearly` of the highest. docs/notes/auto.md reports how often this is right.
 *
 * Known classes are evidence, too: k is their number if the guess is smaller or not supported, or if their number is in the range.
 *
 * A graph of landmarks (engine/graph/landmarks.h) replaces that of neighbours if rows may be on several ranks: rows
 * are joined to the same number of landmarks, and to half that number. */
#include <stdio.h>

#include "comm/comm.h"
#include "core/internal.h"
#include "core/side_by_side.h"
#include "engine/ensemble/poll.h"
#include "engine/graph/spectrum.h"
#include "engine/kmeans/kmeans.h"
#include "engine/metrics/metrics.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"

enum { DRAWS = 24, MOST_ROWS = 600, STARTS = 5, LEAST_VALUES = 1000 };

/* (E1) */
static kdr_status left_over(kdr_context *ctx, const double *y, int64_t n, int64_t d, int64_t k, double *out)
{
	kdr_status st;
	kdri_kmeans_result whole = { 0 }, parts = { 0 };
	kdr_mat x = kdr_mat_from_dense(y, n, d);
	kdri_kmeans_options o = kdri_kmeans_defaults(1);
	o.stage = NULL;
	o.n_init = 1;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &whole));
	o.k = k;
	o.n_init = STARTS;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &parts));
	*out = whole.objective > 0 ? parts.objective / whole.objective : 1;
done:
	kdri_kmeans_free(ctx, &whole);
	kdri_kmeans_free(ctx, &parts);
	return st;
}

/* (E2) */
static void reference_draw(kdri_rng *rng, int64_t n, int64_t d, const double *spread, bool unit, double *z)
{
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d; j++)
			z[i * d + j] = spread[j] * kdri_rng_normal(rng);
		double length = unit ? sqrt(kdri_nrm2sq(z + i * d, d)) : 1;
		for (int64_t j = 0; j < d && length > 0; j++)
			z[i * d + j] /= length;
	}
}

typedef struct comparison {
	const double *rows, *spread;
	int64_t n, d, k;
	bool unit;
	double w[DRAWS + 1]; /* of the draws; of the rows */
} comparison;

static kdr_status reference_one(kdr_context *ctx, void *user, int64_t i, int worker)
{
	kdr_status st;
	comparison *c = user;
	double *z = NULL;
	(void)worker;
	if (i == DRAWS)
		return left_over(ctx, c->rows, c->n, c->d, c->k, &c->w[i]);
	kdri_rng rng = kdri_rng_stream(ctx->seed, "noise", (uint64_t)i);
	KDRI_TRY(KDRI_NEW(ctx, &z, c->n * c->d));
	reference_draw(&rng, c->n, c->d, c->spread, c->unit, z);
	KDRI_TRY(left_over(ctx, z, c->n, c->d, c->k, &c->w[i]));
done:
	kdri_free(ctx, z);
	return st;
}

/* (E3) */
static kdr_status reference_compare(kdr_context *ctx, comparison *c, double *out)
{
	double sum = 0, square = 0;
	/* Starting threads takes longer than a draw from few values. */
	const int workers = c->n * c->d < LEAST_VALUES ? 1 : (int)KDRI_MIN(kdri_team(ctx), DRAWS + 1);
	KDRI_DO(kdri_side_by_side(
	        ctx,
	        &(kdri_side){ .count = DRAWS + 1, .workers = workers, .run = reference_one, .user = c }));
	for (int64_t i = 0; i < DRAWS; i++)
		sum += c->w[i];
	for (int64_t i = 0; i < DRAWS; i++)
		square += (c->w[i] - sum / DRAWS) * (c->w[i] - sum / DRAWS);
	double off = sqrt(square / (DRAWS - 1));
	*out = off > 0 ? (sum / DRAWS - c->w[DRAWS]) / off : 0;
	return KDR_OK;
}

kdr_status kdri_beyond_noise(kdr_context *ctx, const kdr_dense *y, const double *spread, bool unit, int64_t k,
                             double *out)
{
	kdr_status st;
	int64_t start, all, n, d = y->cols;
	double *rows = NULL;
	kdr_context own = *ctx; /* separately: the time limit must not stop only one rank */
	*out = 0;
	KDRI_TRY(kdri_part(ctx, y->rows, &start, &all));
	n = KDRI_MIN(all, MOST_ROWS);
	if (k < 2 || n < 3 * k || d < 1)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &rows, n * d));
	for (int64_t i = 0; i < n; i++) {
		int64_t row = kdri_chunk_begin(all, n, i) - start;
		if (row >= 0 && row < y->rows)
			memcpy(rows + i * d, y->data + row * y->stride, (size_t)d * sizeof *rows);
	}
	KDRI_TRY(kdri_sum(ctx, rows, n * d));
	comparison c = { .rows = rows, .spread = spread, .n = n, .d = d, .k = k, .unit = unit };
	if (!kdri_together(ctx)) {
		st = reference_compare(ctx, &c, out);
		goto done;
	}
	own.comm = NULL;
	own.progress = NULL;
	own.deadline = 0;
	st = reference_compare(&own, &c, out);
	if (st != KDR_OK)
		st = kdri_fail(ctx, st, "%s", own.error);
done:
	kdri_free(ctx, rows);
	return st;
}

enum { RUNS = 2, KINDS = 3, GUESS_K_STARTS = 2, FEW_CLUSTERS = 20, MANY_CLUSTERS = 40, SHARE = 5 };
static const double nearly = 0.3, agreed = 0.85;

int64_t kdri_k_most(const kdr_options *options, double n)
{
	const int64_t most = kdri_opt_int(options, "k_max");
	if (most > 0)
		return KDRI_MAX(most, 2);
	return (int64_t)KDRI_MAX(FEW_CLUSTERS, KDRI_MIN(MANY_CLUSTERS, sqrt(n) / SHARE));
}

/* (E5) */
static kdr_status modularity(kdr_context *ctx, const kdr_csr *g, const int64_t *labels, int64_t k,
                             double *out)
{
	kdr_status st;
	double *inside = NULL, *degree = NULL, all = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &inside, k));
	KDRI_TRY(KDRI_NEW0(ctx, &degree, k));
	for (int64_t i = 0; i < g->rows; i++)
		for (int64_t p = g->rowptr[i]; p < g->rowptr[i + 1]; p++) {
			degree[labels[i]] += g->val[p];
			inside[labels[i]] += labels[i] == labels[g->col[p]] ? g->val[p] : 0;
			all += g->val[p];
		}
	*out = 0;
	for (int64_t c = 0; c < k && all > 0; c++)
		*out += inside[c] / all - degree[c] / all * (degree[c] / all);
done:
	KDRI_FREE(ctx, inside, degree);
	return st;
}

void kdri_k_curves_free(kdr_context *ctx, kdri_k_curves *c)
{
	KDRI_FREE(ctx, c->gap, c->agreement, c->modularity);
	kdri_spectrum_free(ctx, &c->wide);
	*c = (kdri_k_curves){ 0 };
}

/* Rows of the first k of `width` columns, scaled to unit length. */
static void guess_k_embed(const double *vectors, int64_t n, int64_t width, int64_t k, bool unit, double *out)
{
	for (int64_t i = 0; i < n; i++) {
		double length = unit ? sqrt(kdri_nrm2sq(vectors + i * width, k)) : 1;
		for (int64_t j = 0; j < k; j++)
			out[i * k + j] = length > 0 ? vectors[i * width + j] / length : 0;
	}
}

static kdr_status partition(kdr_context *ctx, const double *rows, int64_t n, int64_t d, int64_t k,
                            uint64_t stream, int64_t *labels)
{
	kdr_mat x = kdr_mat_from_dense(rows, n, d);
	kdri_kmeans_result r = { 0 };
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	o.n_init = GUESS_K_STARTS;
	o.tol = 1e-4;
	o.stage = NULL;
	o.stream = stream;
	kdr_status st = kdri_kmeans(ctx, &x, NULL, &o, &r);
	if (st == KDR_OK)
		memcpy(labels, r.labels, (size_t)n * sizeof *labels);
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* The same on a graph of landmarks. */
static kdr_status landmark_modularity(kdr_context *ctx, const kdr_mat *z, const int64_t *labels, int64_t k,
                                      double *out)
{
	kdr_status st;
	double *inside = NULL, *degree = NULL, all = 0;
	KDRI_TRY(KDRI_NEW(ctx, &inside, k));
	KDRI_TRY(KDRI_NEW(ctx, &degree, k));
	KDRI_TRY(kdri_landmarks_cut(ctx, z, labels, k, inside, degree));
	for (int64_t c = 0; c < k; c++)
		all += degree[c];
	*out = 0;
	for (int64_t c = 0; c < k && all > 0; c++)
		*out += inside[c] / all - degree[c] / all * (degree[c] / all);
done:
	KDRI_FREE(ctx, inside, degree);
	return st;
}

/* The adjusted Rand index of two partitions into k, of the rows of all ranks. */
static kdr_status rand_index(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                             double *out)
{
	kdr_status st;
	kdr_scores s;
	int64_t *counts = NULL;
	if (!kdri_together(ctx)) {
		KDRI_TRY(kdr_evaluate(ctx, a, b, n, &s));
	} else {
		KDRI_TRY(KDRI_NEW0(ctx, &counts, k * k));
		for (int64_t i = 0; i < n; i++)
			counts[a[i] * k + b[i]]++;
		KDRI_TRY(kdri_sum_int(ctx, counts, k * k));
		KDRI_TRY(kdri_evaluate_counts(ctx, counts, k, k, &s));
	}
	*out = s.ari;
done:
	kdri_free(ctx, counts);
	return st;
}

typedef struct kind {
	const double *vectors; /* n x width */
	int64_t width, each;   /* columns a cluster */
	bool unit;
} kind;

/* What partitions are made from, with room for them. */
typedef struct material {
	const kdri_views_task *task;
	int64_t n, most;
	bool landmarks;
	kdri_own wide;       /* the graph of all neighbours */
	bool has_wide;       /* on all ranks, some of which may have no rows */
	kdri_spectrum fewer; /* of the graph of half as many */
	double *leading;     /* directions */
	kind kinds[KINDS];
	double *rows;    /* n x max(2 most, KINDS) */
	int64_t *labels; /* n x KINDS */
} material;

static void material_free(kdr_context *ctx, material *m)
{
	kdri_own_free(ctx, &m->wide);
	kdri_spectrum_free(ctx, &m->fewer);
	KDRI_FREE(ctx, m->leading, m->rows, m->labels);
}

static kdr_status graph_of(kdr_context *ctx, const kdri_views_task *task, int64_t neighbors, kdri_own *out)
{
	return task->landmarks.count > 0 ? kdri_views_landmarks(ctx, task, task->centred, neighbors, out)
	                                 : kdri_views_graph(ctx, task, neighbors, out);
}

static kdr_status spectrum_of(kdr_context *ctx, const kdr_mat *graph, bool landmarks, int64_t k,
                              kdri_spectrum *out)
{
	return landmarks ? kdri_landmarks_spectrum(ctx, graph, k, out)
	                 : kdri_spectrum_new(ctx, graph, k, out);
}

static kdr_status material_new(kdr_context *ctx, const kdri_views_task *task, int64_t most, material *m)
{
	int64_t size;
	*m = (material){ .task = task,
		         .n = kdr_mat_rows(&task->rows.view),
		         .most = most,
		         .landmarks = task->landmarks.count > 0,
		         .wide = { .view = kdr_mat_from_dense(NULL, 0, 0) } };
	KDRI_DO(kdri_mul(ctx, m->n, KDRI_MAX(2 * most, KINDS), &size));
	KDRI_DO(KDRI_NEW(ctx, &m->rows, size));
	return KDRI_NEW(ctx, &m->labels, m->n * KINDS);
}

/* What the other kinds of partition need. */
static kdr_status add_others(kdr_context *ctx, material *m)
{
	kdr_status st;
	kdri_own graph = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t width = 0;
	KDRI_TRY(graph_of(ctx, m->task, KDRI_GUESS_NEIGHBOURS / 2, &graph));
	KDRI_TRY(spectrum_of(ctx, &graph.view, m->landmarks, m->most + 1, &m->fewer));
	KDRI_TRY(kdri_views_leading(ctx, m->task, m->most, &m->leading, &width));
	m->kinds[1] = (kind){ m->fewer.vectors, m->most + 1, 1, true };
	m->kinds[2] = (kind){ m->leading, width, 2, m->task->cosine };
done:
	kdri_own_free(ctx, &graph);
	return st;
}

static kdr_status partition_of(kdr_context *ctx, material *m, int64_t a, int64_t k, int64_t run)
{
	const kind *of = &m->kinds[a];
	const int64_t d = KDRI_MIN(of->each * k, of->width);
	guess_k_embed(of->vectors, m->n, of->width, d, of->unit, m->rows);
	return partition(ctx, m->rows, m->n, d, k, (uint64_t)((k * RUNS + run) * KINDS + a),
	                 m->labels + a * m->n);
}

/* (E5) of the partition of the first kind. */
static kdr_status put_modularity(kdr_context *ctx, const material *m, int64_t k, kdri_k_curves *c)
{
	double *out = &c->modularity[k - 2];
	return m->landmarks ? landmark_modularity(ctx, &m->wide.view, m->labels, k, out)
	                    : modularity(ctx, &m->wide.view.as.csr, m->labels, k, out);
}

/* (E7) for one k, and (E5) if the graph is available. */
static kdr_status look_at(kdr_context *ctx, material *m, int64_t k, kdri_k_curves *c)
{
	double sum = 0, ari;
	for (int64_t run = 0; run < RUNS; run++) {
		for (int64_t a = 0; a < KINDS; a++) {
			KDRI_DO(partition_of(ctx, m, a, k, run));
			for (int64_t b = 0; b < a; b++) {
				KDRI_DO(rand_index(ctx, m->labels + a * m->n, m->labels + b * m->n, m->n, k,
				                   &ari));
				sum += ari;
			}
		}
		if (run == 0 && m->has_wide)
			KDRI_DO(put_modularity(ctx, m, k, c));
	}
	c->agreement[k - 2] = sum / (RUNS * KINDS * (KINDS - 1) / 2.0); /* (E7) */
	return KDR_OK;
}

/* Curves up to where the time ends. */
static kdr_status draw_curves(kdr_context *ctx, material *m, bool agreement_later, kdri_k_curves *c)
{
	/* The graph of all neighbours and its spectrum, which (E4), (E5) and the first kind of partition need. */
	KDRI_DO(graph_of(ctx, m->task, KDRI_GUESS_NEIGHBOURS, &m->wide));
	KDRI_DO(spectrum_of(ctx, &m->wide.view, m->landmarks, m->most + 1, &c->wide));
	m->kinds[0] = (kind){ c->wide.vectors, m->most + 1, 1, true };
	m->has_wide = true;
	if (!agreement_later)
		KDRI_DO(add_others(ctx, m));
	for (int64_t k = 2; k <= m->most; k++) {
		if (agreement_later) {
			KDRI_DO(partition_of(ctx, m, 0, k, 0));
			KDRI_DO(put_modularity(ctx, m, k, c));
		} else {
			KDRI_DO(look_at(ctx, m, k, c));
		}
		c->gap[k - 2] = c->wide.values[k - 1] - c->wide.values[k]; /* (E4) */
		c->tried = k - 1;
		if (kdri_iteration(ctx, "number of clusters", k - 1, m->most - 1, NAN))
			break;
	}
	return KDR_OK;
}

/* Out of time is no error here: what was found until then counts. */
static kdr_status unless_stopped(const kdr_context *ctx, kdr_status st)
{
	return st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out) ? KDR_OK : st;
}

kdr_status kdri_k_curves_new(kdr_context *ctx, const kdri_views_task *task, int64_t most,
                             bool agreement_later, kdri_k_curves *out)
{
	kdr_status st = KDR_OK;
	material m = { .n = 0 };
	kdri_k_curves c = { 0 };
	most = KDRI_MIN(most,
	                (task->landmarks.count > 0 ? task->landmarks.count : kdr_mat_rows(&task->rows.view)) -
	                        1);
	if (most < 2) {
		*out = c;
		return KDR_OK;
	}
	c.count = most - 1;
	KDRI_TRY(KDRI_NEW(ctx, &c.gap, c.count));
	KDRI_TRY(KDRI_NEW(ctx, &c.agreement, c.count));
	KDRI_TRY(KDRI_NEW(ctx, &c.modularity, c.count));
	for (int64_t i = 0; i < c.count; i++)
		c.gap[i] = c.agreement[i] = c.modularity[i] = NAN;
	KDRI_TRY(material_new(ctx, task, most, &m));
	KDRI_TRY(unless_stopped(ctx, draw_curves(ctx, &m, agreement_later, &c)));
	if (!agreement_later)
		kdri_spectrum_free(ctx, &c.wide);
	*out = c;
	c = (kdri_k_curves){ 0 };
done:
	material_free(ctx, &m);
	kdri_k_curves_free(ctx, &c);
	return st;
}

kdr_status kdri_k_agreement(kdr_context *ctx, const kdri_views_task *task, int64_t k, kdri_k_curves *c)
{
	kdr_status st;
	material m = { .n = 0 };
	if (!c->wide.vectors || k < 2 || k - 1 > c->count)
		return KDR_OK;
	KDRI_TRY(material_new(ctx, task, c->count + 1, &m));
	m.kinds[0] = (kind){ c->wide.vectors, m.most + 1, 1, true };
	st = add_others(ctx, &m);
	if (st == KDR_OK)
		st = look_at(ctx, &m, k, c);
	KDRI_TRY(unless_stopped(ctx, st));
done:
	material_free(ctx, &m);
	return st;
}

kdr_status kdri_k_unfinished(kdr_context *ctx, kdr_result *result)
{
	return kdri_result_warn(
	        ctx, result,
	        "%s before the number of clusters was found: k is only a guess; allow more time or specify k",
	        ctx->cancelled ? "stopped" : "time limit reached");
}

/* --- the guess ------------------------------------------------------------------------------------------------ */

/* Entry p of a curve brought to 0 .. 1 over its first `length`. */
static double in_range(const double *curve, int64_t length, int64_t p)
{
	double low = curve[0], high = curve[0];
	for (int64_t i = 1; i < length; i++) {
		low = KDRI_MIN(low, curve[i]);
		high = KDRI_MAX(high, curve[i]);
	}
	return high > low ? (curve[p] - low) / (high - low) : 0;
}

/* (E6), the mean over the tasks. */
static double mean_score(const kdri_k_curves *curves, int64_t count, int64_t length, int64_t p)
{
	double score = 0;
	for (int64_t t = 0; t < count; t++)
		score += (in_range(curves[t].gap, length, p) + in_range(curves[t].modularity, length, p)) /
		         (double)count;
	return score;
}

kdri_k_guess kdri_k_guess_of(const kdri_k_curves *curves, int64_t count)
{
	kdri_k_guess g = { .k = 1, .score = -1 };
	int64_t length = count ? curves[0].tried : 0;
	for (int64_t t = 1; t < count; t++)
		length = KDRI_MIN(length, curves[t].tried);
	double second = -1;
	for (int64_t p = 0; p < length; p++) {
		double score = mean_score(curves, count, length, p);
		if (score > g.score) {
			g.next = g.score >= 0 ? g.k : 0;
			second = g.score;
			g.k = p + 2;
			g.score = score;
		} else if (score > second) {
			g.next = p + 2;
			second = score;
		}
	}
	g.low = g.high = g.k;
	for (int64_t p = 0; p < length; p++)
		if (mean_score(curves, count, length, p) >= g.score - nearly) {
			g.low = KDRI_MIN(g.low, p + 2);
			g.high = KDRI_MAX(g.high, p + 2);
		}
	for (int64_t t = 0; t < count && length > 0; t++)
		g.agreement += curves[t].agreement[g.k - 2] / (double)count;
	g.sure = length > 0 && g.agreement >= agreed;
	return g;
}

/* A curve of task t. */
static kdr_status put_curve(kdr_context *ctx, kdr_result *result, int64_t t, const char *name,
                            const double *values, int64_t count)
{
	double *to = NULL;
	if (!values || count == 0) /* two samples leave nothing to choose */
		return KDR_OK;
	KDRI_DO(kdri_result_array(ctx, result, name, t, KDR_FLOAT64, 1, &count, &to));
	memcpy(to, values, (size_t)count * sizeof *to);
	return KDR_OK;
}

kdr_status kdri_k_report_curves(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_found *f)
{
	const kdri_k_curves *c = &f->curves;
	KDRI_DO(put_curve(ctx, result, t, "eigengap", c->gap, c->count));
	KDRI_DO(put_curve(ctx, result, t, "k_agreement", c->agreement, c->count));
	return put_curve(ctx, result, t, "modularity", c->modularity, c->count);
}

kdr_status kdri_k_report_scores(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_found *f)
{
	KDRI_DO(put_curve(ctx, result, t, "bic", f->bic, f->scores));
	return put_curve(ctx, result, t, "prediction_strength", f->strength, f->scores);
}

void kdri_k_found_free(kdr_context *ctx, kdri_k_found *f)
{
	kdri_k_curves_free(ctx, &f->curves);
	KDRI_FREE(ctx, f->bic, f->strength);
	*f = (kdri_k_found){ 0 };
}

int64_t kdri_k_with_classes(int64_t k, bool prefer, int64_t classes, int64_t rows)
{
	return classes >= 2 && (k < classes || prefer) ? KDRI_MIN(classes, rows) : k;
}

/* kdri_k_guess_of, and the number of clusters if that many classes are known. */
static void guess_with_classes(const kdri_poll *j, const kdri_k_curves *curves, int64_t count, int64_t rows,
                               int64_t *k)
{
	const kdri_k_guess g = kdri_k_guess_of(curves, count);
	const int64_t classes = j->problem->classes;
	*k = kdri_k_with_classes(g.k,
	                         !(g.sure || isnan(g.agreement)) || (classes >= g.low && classes <= g.high),
	                         classes, rows);
}

static kdr_status put_words(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_words *w)
{
	char text[384], found[160], range[80] = "";
	if (w->low < w->high)
		snprintf(range, sizeof range, " (%lld to %lld score nearly as well)", (long long)w->low,
		         (long long)w->high);
	kdri_snprintf(found, sizeof found,
	              "%s, right for %d %% of the %s (repeated clusterings agree by %.2f; 1 = fully)",
	              w->right > 50 ? "supported" : "only a suggestion", w->right, w->tests, w->agreement);
	if (w->classes < 2)
		snprintf(text, sizeof text, "k = %lld%s: %s", (long long)w->found, range, found);
	else if (w->k != w->found)
		snprintf(text, sizeof text,
		         "k = %lld, the number of known classes; without them, k would be %lld%s: %s",
		         (long long)w->k, (long long)w->found, range, found);
	else if (w->k == w->classes)
		snprintf(text, sizeof text, "k = %lld, also the number of known classes%s: %s",
		         (long long)w->k, range, found);
	else
		snprintf(text, sizeof text, "k = %lld, although only %lld classes are known%s: %s",
		         (long long)w->k, (long long)w->classes, range, found);
	return kdri_result_task_text(ctx, result, t, "k_evidence", text);
}

kdr_status kdri_k_report(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_found *f)
{
	if (f->identical)
		return kdri_result_task_text(ctx, result, t, "k_evidence",
		                             "k = 1: all samples are identical");
	if (f->words.k == 0)
		return KDR_OK;
	KDRI_DO(put_words(ctx, result, t, &f->words));
	KDRI_DO(kdri_result_task_number(ctx, result, t, "k_sure", f->sure));
	if (f->next > 0)
		KDRI_DO(kdri_result_task_number(ctx, result, t, "k_next", (double)f->next));
	return KDR_OK;
}

/* What is said about k clusters of task t, or of all of them: -1. */
static kdr_status put_guess(kdr_context *ctx, kdri_poll *j, int64_t t, const kdri_k_guess *g, int64_t k)
{
	kdri_k_found *f = &j->found[t < 0 ? j->T : t];
	f->words = (kdri_k_words){ .k = k,
		                   .found = g->k,
		                   .low = g->low,
		                   .high = g->high,
		                   .classes = j->problem->classes,
		                   .right = g->sure ? 32 : 17,
		                   .tests = "test data sets",
		                   .agreement = g->agreement };
	f->sure = g->sure;
	f->next = g->next;
	return kdri_k_report(ctx, j->result, t, f);
}

static bool is_complete(const kdri_k_curves *c)
{
	return c->tried == c->count;
}

/* The curves that a common k is found from: the complete ones of those that were looked at, or the longest if time was out before the
 * first was complete. */
static int64_t choose_curves(const kdri_poll *j, const bool *wanted, kdri_k_curves *out)
{
	int64_t count = 0;
	const kdri_k_curves *longest = NULL;
	for (int64_t t = 0; t < j->T; t++) {
		const kdri_k_curves *own = &j->found[t].curves;
		if (!wanted[t])
			continue;
		if (is_complete(own))
			out[count++] = *own;
		if (!longest || own->tried > longest->tried)
			longest = own;
	}
	if (count == 0 && longest && longest->tried > 0)
		out[count++] = *longest;
	return count;
}

/* Looks at each task without a given k: wanted[t] and its curves. */
static kdr_status draw_all(kdr_context *ctx, kdri_poll *j, bool *wanted)
{
	int64_t distinct;
	for (int64_t i = 0; i < j->T; i++) {
		const int64_t t = kdri_task_at(&j->order, i);
		if (j->k[t] > 0)
			continue;
		KDRI_DO(kdri_rows_distinct(ctx, &j->problem->tasks[t].x, NULL,
		                           kdri_k_most(j->options, (double)j->views.rows[t]), &distinct));
		if (distinct == 1) {
			j->k[t] = 1;
			j->found[t].identical = true;
			KDRI_DO(kdri_k_report(ctx, j->result, j->T > 1 ? t : -1, &j->found[t]));
			continue;
		}
		KDRI_DO(kdri_k_curves_new(ctx, &j->views.tasks[t], distinct, kdri_has_range(ctx),
		                          &j->found[t].curves));
		wanted[t] = true;
	}
	return KDR_OK;
}

/* Reports the evidence for the k of each task, or of all of them. */
static kdr_status put_evidence(kdr_context *ctx, kdri_poll *j, const bool *wanted, bool same, int64_t common,
                               kdri_k_curves *used)
{
	bool complete = true;
	const int64_t count = choose_curves(j, wanted, used);
	const int64_t k = kdri_k_guess_of(used, count).k;
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t]) {
			kdri_k_curves *own = &j->found[t].curves;
			KDRI_DO(kdri_k_agreement(ctx, &j->views.tasks[t],
			                         same ? k : kdri_k_guess_of(own, 1).k, own));
			complete = complete && is_complete(own);
		}
	if (!complete || ctx->cancelled || ctx->timed_out) {
		return kdri_k_unfinished(ctx, j->result);
	}
	if (same) {
		const kdri_k_guess all = kdri_k_guess_of(used, count);
		KDRI_DO(put_guess(ctx, j, -1, &all, common));
	}
	for (int64_t i = 0; i < j->T && !same; i++) {
		const int64_t t = kdri_task_at(&j->order, i);
		if (wanted[t]) {
			const kdri_k_guess own = kdri_k_guess_of(&j->found[t].curves, 1);
			KDRI_DO(put_guess(ctx, j, t, &own, j->k[t]));
		}
	}
	return KDR_OK;
}

/* Used if the time ends before anything is known. */
enum { KDRI_K_FALLBACK = 2 };

kdr_status kdri_poll_find_k(kdr_context *ctx, kdri_poll *j)
{
	kdr_status st;
	const bool same = kdri_opt_bool(j->options, "same_k");
	kdri_k_curves *used = NULL;
	bool *wanted = NULL, any = false;
	int64_t least = INT64_MAX;
	KDRI_TRY(KDRI_NEW0(ctx, &j->found, j->T + 1)); /* of each task, then of all */
	KDRI_TRY(KDRI_NEW0(ctx, &used, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &wanted, j->T));
	for (int64_t i = 0; i < j->T; i++) {
		const int64_t t = kdri_task_at(&j->order, i);
		if (!j->has[t] || j->problem->tasks[t].k > 0)
			continue;
		/* The run alone has found it. */
		KDRI_TRY(kdri_k_report(ctx, j->result, t, &j->alone_runs[t]->found));
		KDRI_TRY(kdri_k_report_curves(ctx, j->result, t, &j->alone_runs[t]->found));
	}
	KDRI_TRY(draw_all(ctx, j, wanted));
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t]) {
			any = true;
			least = KDRI_MIN(least, j->views.rows[t]);
		}
	if (!any)
		goto done;
	const int64_t count = choose_curves(j, wanted, used);
	int64_t common = KDRI_K_FALLBACK;
	if (count > 0)
		guess_with_classes(j, used, count, least, &common);
	common = KDRI_MIN(common, least);
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t]) {
			j->k[t] = common;
			const kdri_k_curves *own = &j->found[t].curves;
			if (!same && own->tried >= KDRI_MIN(1, own->count))
				guess_with_classes(j, own, 1, j->views.rows[t], &j->k[t]);
		}
	if (kdri_enter_range(ctx, j->order.order, j->T, j->k)) { /* then the evidence is for another k */
		for (int64_t t = 0; t < j->T; t++)
			if (wanted[t] && !is_complete(&j->found[t].curves)) {
				KDRI_TRY(kdri_k_unfinished(ctx, j->result));
				break;
			}
	} else {
		KDRI_TRY(put_evidence(ctx, j, wanted, same, common, used));
	}
	for (int64_t i = 0; i < j->T; i++) {
		const int64_t t = kdri_task_at(&j->order, i);
		if (wanted[t])
			KDRI_TRY(kdri_k_report_curves(ctx, j->result, t, &j->found[t]));
	}
done:
	for (int64_t t = 0; j->found && t < j->T; t++)
		kdri_spectrum_free(ctx, &j->found[t].curves.wide);
	KDRI_FREE(ctx, used, wanted);
	return st;
}
