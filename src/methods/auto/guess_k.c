/* Suggests the number of clusters. SPDX-License-Identifier: BSD-3-Clause
 *
 * On the graph of 20 neighbours, with a partition into k by k-means on the rows of its first k eigenvectors:
 *
 *   (E1)  gap(k) = l_k - l_(k+1), l the eigenvalues of D^-1/2 W D^-1/2 in decreasing order     [von Luxburg 2007, section 8.3]
 *   (E2)  modularity(k) = sum_c w_c / w - (d_c / w)^2, w_c the weight of the edges inside cluster c, d_c the degrees in it,
 *         w those of all                                                                      [Newman, Girvan 2004]
 *   (E3)  score(k) = gap and modularity, each scaled to 0 .. 1 over 2 .. most, and added
 *   (E4)  agreement(k) = mean over RUNS runs and pairs of kinds of the adjusted Rand index of two partitions: the one above,
 *         the same on the graph of 10 neighbours, and k-means on the 2 k leading directions
 *
 * The guess is the k with the highest score, or with the highest mean score over tasks that share one k. The gap alone
 * suggests 2 for most texts; modularity alone suggests too many. Whether the guess is supported is decided by
 * independent evidence: if k is right, different kinds of clustering find the same clusters; otherwise each errs in its
 * own way, even if each is stable. Supported: (E4) is at least `agreed`. The range has those k whose score is within
 * `nearly` of the highest. docs/notes/auto.md reports how often this is right.
 *
 * A graph of landmarks (engine/graph/landmarks.h) replaces that of neighbours if rows may be on several ranks: rows
 * are joined to the same number of landmarks, and to half that number. */
#include "methods/auto/guess_k.h"

#include "comm/comm.h"
#include "engine/graph/spectral.h"
#include "engine/kmeans/lloyd.h"
#include "engine/metrics/metrics.h"

enum { RUNS = 2, KINDS = 3, STARTS = 2, FEW_CLUSTERS = 20, MANY_CLUSTERS = 40, SHARE = 5 };
static const double nearly = 0.3, agreed = 0.85;

int64_t kdri_k_most(const kdr_options *options, double n)
{
	const int64_t most = kdri_opt_int(options, "k_max");
	if (most > 0)
		return KDRI_MAX(most, 2);
	return (int64_t)KDRI_MAX(FEW_CLUSTERS, KDRI_MIN(MANY_CLUSTERS, sqrt(n) / SHARE));
}

void kdri_k_curves_free(kdr_context *ctx, kdri_k_curves *c)
{
	kdri_free(ctx, c->gap);
	kdri_free(ctx, c->agreement);
	kdri_free(ctx, c->modularity);
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
	o.n_init = STARTS;
	o.tol = 1e-4;
	o.stage = NULL;
	o.stream = stream;
	kdr_status st = kdri_kmeans(ctx, &x, NULL, &o, &r);
	if (st == KDR_OK)
		memcpy(labels, r.labels, (size_t)n * sizeof *labels);
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* (E2) */
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
	kdri_free(ctx, inside);
	kdri_free(ctx, degree);
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
	kdri_free(ctx, inside);
	kdri_free(ctx, degree);
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
	kdri_free(ctx, m->leading);
	kdri_free(ctx, m->rows);
	kdri_free(ctx, m->labels);
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

/* The graph of all neighbours and its spectrum, which (E1), (E2) and the first kind of partition need. */
static kdr_status add_wide(kdr_context *ctx, material *m, kdri_k_curves *c)
{
	KDRI_DO(graph_of(ctx, m->task, KDRI_GUESS_NEIGHBOURS, &m->wide));
	KDRI_DO(spectrum_of(ctx, &m->wide.view, m->landmarks, m->most + 1, &c->wide));
	m->kinds[0] = (kind){ c->wide.vectors, m->most + 1, 1, true };
	m->has_wide = true;
	return KDR_OK;
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

/* (E2) of the partition of the first kind. */
static kdr_status put_modularity(kdr_context *ctx, const material *m, int64_t k, kdri_k_curves *c)
{
	double *out = &c->modularity[k - 2];
	return m->landmarks ? landmark_modularity(ctx, &m->wide.view, m->labels, k, out)
	                    : modularity(ctx, &m->wide.view.as.csr, m->labels, k, out);
}

/* (E4) for one k, and (E2) if the graph is available. */
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
	c->agreement[k - 2] = sum / (RUNS * KINDS * (KINDS - 1) / 2.0); /* (E4) */
	return KDR_OK;
}

/* Curves up to where the time ends. */
static kdr_status draw_curves(kdr_context *ctx, material *m, bool agreement_later, kdri_k_curves *c)
{
	KDRI_DO(add_wide(ctx, m, c));
	if (!agreement_later)
		KDRI_DO(add_others(ctx, m));
	for (int64_t k = 2; k <= m->most; k++) {
		if (agreement_later) {
			KDRI_DO(partition_of(ctx, m, 0, k, 0));
			KDRI_DO(put_modularity(ctx, m, k, c));
		} else {
			KDRI_DO(look_at(ctx, m, k, c));
		}
		c->gap[k - 2] = c->wide.values[k - 1] - c->wide.values[k]; /* (E1) */
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

/* (E3), the mean over the tasks. */
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
