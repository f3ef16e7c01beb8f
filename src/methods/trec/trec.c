/* TrEC: transfer between data sets with different features. SPDX-License-Identifier: BSD-3-Clause
 *
 * Source and target need not share a single feature. The knowledge that is transferred is the behaviour of an ensemble
 * of clusterings: two samples of the same class tend to share clusters, and to be well inside them. The steps
 * [B19, algorithm TrEC]:
 *     (E1)  an ensemble of L runs on each data set: H^S, H^T, and mean silhouettes
 *     (E2)  a rule f learnt from source pairs: (p, h) -> [y_i = y_j]                      [B19, eq. 1]
 *     (E3)  the coincidence predicted for the target: z^(i, j) = [f(p^T(i, j), h^T(i, j)) > 0]
 *     (E4)  the partition into K clusters nearest to it, from EC's by greedy moves:
 *           min Q = |Z - Z^|_F                                                           [B19, eq. 2]
 * Q is the objective; it falls with each move.
 *
 * No matrix is N x N: pairs of the source are sampled above a limit, the rule is tabulated (pairs.c),
 * rows of Z^ are made when needed. Memory O(N (L + K)).
 *
 * The labels are clusters of the target, without the names of classes: the correspondence of clusters and classes is
 * unknown. EC's partition is in the array `ec_labels`.
 *
 * Trust. The source's samples are split in halves, class by class; the rule learnt from the pairs within one half is
 * tested on those within the other, and vice versa:
 *     (E5)  trusted = [held-out accuracy > proportion of the more frequent kind of pair].
 * If it is not trusted, there is a warning, and with `guard` EC's partition is kept.
 *
 * L  runs    K  clusters of the target    z, Z  coincidence       y  classes
 * h, H  co-association    p  mean silhouette of a pair            Q  distance (E4)
 *
 * DEVIATION: [B19, section 2.3] prints Z = [y_i != y_j]; (E2) needs the opposite, as section 2.4 has it. What
 * it calls P^S for target data is P^T. Its stop rules lack "no move helps". it_max is 40
 * for its 80 samples, and half of the samples beyond that.
 * [B19] V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019. */
/* Greedy migration.
 *
 * Finds a partition whose coincidence matrix Z is near a given one, Z^ [B19, eq. 2]:
 *     (E6)  Q^2 = |Z - Z^|^2 = sum over i != j of (z_ij - z^_ij)^2.
 * One sample after the other moves to another cluster, each time the one whose move lowers Q most. With
 *     (E7)  S_ik = sum over j in cluster k, j != i, of z^_ij,
 * moving i from a to b changes
 *     (E8)  Q^2 by 2 [(2 S_ia - (n_a - 1)) - (2 S_ib - n_b)],
 * and S, n x k, is all the memory needed: a row of Z^ is recomputed when its sample moves. It ends when Q < q_min,
 * after it_max moves, or when no move lowers Q: [B19] lacks the third rule, without which moves that raise Q would
 * follow. A cluster is never emptied. Ties are resolved by the lowest sample, then the lowest cluster. All sums are
 * of integers, so nothing depends on their order.
 *
 * Work: n^2 (L + 1) once for S, then n (L + k) per move. [B19] V. Berikov: Heterogeneous transfer learning in
 * ensemble clustering. 2019. */
#include <stdio.h>
#include <stdlib.h>

#include "api/method.h"
#include "engine/ensemble/ensemble.h"
#include "matrix/linalg.h"
#include "methods/common/tasks.h"
#include "methods/trec/trec.h"

enum { PIECE = 1024, ROWS = 512 };

/* --- predicted rows ------------------------------------------------------------------------------ */

/* count[j] = runs in which rows i and begin + j share a cluster. */
KDRI_KERNEL
static void count_runs(const int32_t *label, int64_t n, int64_t runs, int64_t i, int64_t begin, int64_t width,
                       int32_t *count)
{
	for (int64_t j = 0; j < width; j++)
		count[j] = 0;
	for (int64_t l = 0; l < runs; l++) {
		const int32_t *from = label + l * n + begin;
		int32_t own = label[l * n + i];
		for (int64_t j = 0; j < width; j++)
			count[j] += from[j] == own;
	}
}

static void predicted_row(const kdri_coincidence *z, int64_t i, uint8_t *out)
{
	const kdri_predicted *p = z->data;
	const kdri_ensemble *e = p->e;
	int32_t count[PIECE];
	for (int64_t begin = 0; begin < e->n; begin += PIECE) {
		int64_t width = KDRI_MIN(PIECE, e->n - begin);
		count_runs(e->label, e->n, e->runs, i, begin, width, count);
		for (int64_t j = 0; j < width; j++) {
			double s = e->silhouette ? (e->silhouette[i] + e->silhouette[begin + j]) / 2 : 0;
			out[begin + j] = kdri_pair_table_decide(p->table, count[j], s);
		}
	}
}

kdri_coincidence kdri_coincidence_predicted(const kdri_predicted *predicted)
{
	return (kdri_coincidence){ .n = predicted->e->n, .row = predicted_row, .data = predicted };
}

/* --- the state ------------------------------------------------------------------------------------ */

typedef struct state {
	const kdri_coincidence *z;
	int64_t n, k;
	int64_t *labels, *size;
	int32_t *s;   /* n x k (E7) */
	uint8_t *row; /* threads x n */
} state;

/* (E7); returns false if stopped early. */
static bool fill_sums(kdr_context *ctx, state *w)
{
	for (int64_t begin = 0; begin < w->n; begin += ROWS) {
		int64_t end = KDRI_MIN(w->n, begin + ROWS);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16) if (w->n > ROWS)
		for (int64_t i = begin; i < end; i++) {
			uint8_t *row = w->row + kdri_thread() * w->n;
			int32_t *s = w->s + i * w->k;
			w->z->row(w->z, i, row);
			row[i] = 0;
			for (int64_t j = 0; j < w->n; j++)
				s[w->labels[j]] += row[j];
		}
		if (w->n > ROWS && kdri_iteration(ctx, "coincidence", end, w->n, NAN))
			return false;
	}
	return true;
}

/* (E6): if z = 1, a term is 1 - z^; if z = 0, it is z^. */
static int64_t square_of(const state *w)
{
	int64_t square = 0;
	for (int64_t i = 0; i < w->n; i++)
		for (int64_t c = 0; c < w->k; c++) {
			int64_t s = w->s[i * w->k + c];
			square += c == w->labels[i] ? w->size[c] - 1 - s : s;
		}
	return square;
}

typedef struct migrate_move {
	int64_t change, sample, to;
} migrate_move;

static migrate_move best_move(const state *w)
{
	migrate_move best = { 0, -1, -1 };
	for (int64_t i = 0; i < w->n; i++) {
		int64_t a = w->labels[i];
		const int32_t *s = w->s + i * w->k;
		if (w->size[a] == 1)
			continue;
		int64_t leave = 2 * (int64_t)s[a] - (w->size[a] - 1);
		for (int64_t b = 0; b < w->k; b++) {
			int64_t change = 2 * (leave - (2 * (int64_t)s[b] - w->size[b])); /* (E8) */
			if (b != a && change < best.change)
				best = (migrate_move){ change, i, b };
		}
	}
	return best;
}

static kdr_status record(kdr_context *ctx, kdri_migration *m, int64_t *room, const int64_t *three, double q)
{
	if (m->count == *room) {
		*room = *room ? 2 * *room : 64;
		KDRI_DO(KDRI_GROW(ctx, &m->moves, 3 * *room));
		KDRI_DO(KDRI_GROW(ctx, &m->q, *room));
	}
	memcpy(m->moves + 3 * m->count, three, 3 * sizeof *three);
	m->q[m->count++] = q;
	return KDR_OK;
}

kdr_status kdri_migrate(kdr_context *ctx, const kdri_coincidence *z, int64_t k, double q_min, int64_t it_max,
                        int64_t *labels, kdri_migration *out)
{
	kdr_status st;
	state w = { .z = z, .n = z->n, .k = k, .labels = labels };
	kdri_migration m = { .stop = KDR_STOP_CONVERGED };
	int64_t cells, room = 0;
	if (w.n > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%lld samples are too many to migrate", (long long)w.n);
	KDRI_TRY(kdri_mul(ctx, w.n, k, &cells));
	KDRI_TRY(KDRI_NEW0(ctx, &w.s, cells));
	KDRI_TRY(KDRI_NEW0(ctx, &w.size, k));
	KDRI_TRY(KDRI_NEW(ctx, &w.row, ctx->threads * w.n));
	for (int64_t i = 0; i < w.n; i++)
		w.size[labels[i]]++;
	if (!fill_sums(ctx, &w)) {
		m.stop = kdri_stop_reason(ctx);
		goto stopped;
	}
	int64_t square = square_of(&w);
	m.start = sqrt((double)square);
	while (sqrt((double)square) >= q_min) {
		migrate_move next = best_move(&w);
		if (next.sample < 0)
			break;
		if (m.count == it_max) {
			m.stop = KDR_STOP_MAX_ITER;
			break;
		}
		int64_t three[3] = { next.sample, labels[next.sample], next.to };
		int64_t i = next.sample, a = w.labels[i], b = next.to;
		w.z->row(w.z, i, w.row);
		for (int64_t j = 0; j < w.n; j++)
			if (j != i && w.row[j]) {
				w.s[j * w.k + a]--;
				w.s[j * w.k + b]++;
			}
		w.labels[i] = b;
		w.size[a]--;
		w.size[b]++;
		square += next.change;
		KDRI_TRY(record(ctx, &m, &room, three, sqrt((double)square)));
		if (kdri_iteration(ctx, "migrate", m.count, it_max, sqrt((double)square))) {
			m.stop = kdri_stop_reason(ctx);
			break;
		}
	}
stopped:
	*out = m;
	m = (kdri_migration){ 0 };
done:
	KDRI_FREE(ctx, w.s, w.size, w.row);
	kdri_migration_free(ctx, &m);
	return st;
}

void kdri_migration_free(kdr_context *ctx, kdri_migration *m)
{
	KDRI_FREE(ctx, m->moves, m->q);
	*m = (kdri_migration){ 0 };
}

enum { EXACT_UP_TO = 10000, FIRST_IT_MAX = 40 };

static const char *const classifiers[] = { "svm", "logistic", NULL };
static const char *const silhouettes[] = { "auto", "exact", "simplified", NULL };
enum { SILHOUETTE_AUTO, SILHOUETTE_EXACT };
static const char *const metas[] = { "both", "coassociation", "silhouette", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_ENSEMBLE(10),
	KDRI_INT("k", 0, 0, INT32_MAX,
	         "number of clusters of the target; 0: the number of classes of the source",
	         .automatic = "classes", .symbol = "K_T"),
	KDRI_CHOICE(
	        "classifier", 0, classifiers,
	        "classifier that learns which pairs belong together: support vector machine with RBF kernel, or logistic regression (fast)"),
	KDRI_REAL("sigma", 4, 0, 1e6, "width of the RBF kernel exp(-d^2 / (2 sigma^2))", .open_min = true,
	          .symbol = "sigma"),
	KDRI_REAL("cost", 10, 0, 1e6, "penalty for training pairs on the wrong side; logistic: 1 / ridge",
	          .open_min = true, .symbol = "C"),
	KDRI_BOOL("balanced", 0,
	          "give pairs of the same class and pairs of different classes equal total weight"),
	KDRI_BOOL("standardise", 0, "scale meta-features by their standard deviation on the source"),
	KDRI_CHOICE("meta", 0, metas, "which meta-features of a pair the rule uses"),
	KDRI_CHOICE("silhouette", 0, silhouettes,
	            "exact: O(n^2); simplified: distances to centroids; auto: exact up to 10000 samples"),
	KDRI_INT("pairs", 5000, 2, 200000,
	         "maximum number of source pairs to learn from; if there are more, they are sampled"),
	KDRI_REAL("q_min", 5, 0, 1e18, "stop when the objective is less than this", .symbol = "Q_min"),
	KDRI_INT("it_max", 0, 0, 1e9, "maximum number of moves; 0: half of the target's samples, at least 40",
	         .automatic = "max(40, n/2)", .symbol = "It_max"),
	KDRI_BOOL("guard", 0, "keep the clustering of ec if the transfer is not trusted"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(300),
	KDRI_TOL(1e-6),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("ec_labels", KDR_INT64, "n",
	           "clustering of the target by ec alone, from which the moves start", .per_task = true,
	           .holds = "k"),
	KDRI_ARRAY("moves", KDR_INT64, "moves x 3", "sample, from cluster, to cluster, in order",
	           .per_task = true, .holds = "n k k"),
	KDRI_ARRAY("silhouette", KDR_FLOAT64, "n",
	           "silhouette of each sample of the target, mean over the runs", .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019.",
	"C.-C. Chang, C.-J. Lin: LIBSVM: a library for support vector machines. ACM TIST 2(3):27, 2011.",
	NULL,
};

/* --- the source --------------------------------------------------------------------------------- */

/* What all sources gave: pairs to learn from, and pairs held out from them, fold by fold. */
typedef struct lessons {
	kdri_pairs all, half[2];
} lessons;

static kdr_status ensemble_of(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                              int64_t t, int64_t k, kdri_ensemble *out)
{
	kdri_ensemble_spec spec;
	int64_t largest = 0;
	int choice = kdri_opt_choice(options, "silhouette");
	KDRI_DO(kdri_ensemble_options(ctx, options, &problem->tasks[t], k, &spec));
	for (int64_t i = 0; i < problem->ntasks; i++)
		largest = KDRI_MAX(largest, kdr_mat_rows(&problem->tasks[i].x));
	/* One kind for all tasks: their values must mean the same. */
	bool exact = choice == SILHOUETTE_EXACT || (choice == SILHOUETTE_AUTO && largest <= EXACT_UP_TO);
	spec.kind = exact ? KDR_SILHOUETTE_EXACT : KDR_SILHOUETTE_SIMPLIFIED;
	spec.silhouettes = kdri_opt_choice(options, "meta") != KDRI_META_COASSOCIATION;
	spec.stream = (uint64_t)t;
	KDRI_DO(kdri_ensemble_new(ctx, &problem->tasks[t].x, &spec, NULL, out)); /* (E1) */
	return KDR_OK;
}

/* The labelled rows in random order, into `rows`; their number. */
static int64_t labelled_rows(const kdr_task *task, kdri_rng *rng, int64_t *rows)
{
	int64_t count = 0;
	for (int64_t i = 0; i < kdr_mat_rows(&task->x); i++)
		if (task->labels[i] >= 0) {
			int64_t j = kdri_rng_below(rng, count + 1);
			rows[count] = rows[j];
			rows[j] = i;
			count++;
		}
	return count;
}

static int trec_by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Every other row of each class to the front; how many those are. */
static int64_t halve(const int64_t *classes, int64_t *rows, int64_t count, int64_t *seen, int64_t *room)
{
	int64_t first = 0, second = 0;
	for (int64_t i = 0; i < count; i++) {
		if (seen[classes[rows[i]]]++ % 2 == 0)
			rows[first++] = rows[i];
		else
			room[second++] = rows[i];
	}
	memcpy(rows + first, room, (size_t)second * sizeof *rows);
	return first;
}

static kdr_status learn_from(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             int64_t t, int64_t most, lessons *out)
{
	kdr_status st;
	const kdr_task *task = &problem->tasks[t];
	kdri_ensemble e = { 0 };
	int64_t n = kdr_mat_rows(&task->x), *rows = NULL, *room = NULL, *seen = NULL, met = 0;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "trec.pairs", (uint64_t)t);
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	KDRI_TRY(KDRI_NEW(ctx, &room, n));
	KDRI_TRY(KDRI_NEW0(ctx, &seen, problem->classes));
	int64_t count = labelled_rows(task, &rng, rows);
	int64_t first = halve(task->labels, rows, count, seen, room);
	for (int64_t c = 0; c < problem->classes; c++)
		met += seen[c] > 0;
	if (met < 2)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "source %s has %lld class%s; at least two are needed",
		          kdri_task_name(task), (long long)met, met == 1 ? "" : "es");
	if (count == met)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "source %s has only one sample of each class, so there is no pair of the same class to learn from",
		        kdri_task_name(task));
	KDRI_TRY(ensemble_of(ctx, problem, options, t, KDRI_MIN(met, n), &e));
	KDRI_TRY(kdri_pairs_add(ctx, &e, task->labels, rows, first, most, &rng, &out->half[0]));
	KDRI_TRY(kdri_pairs_add(ctx, &e, task->labels, rows + first, count - first, most, &rng,
	                        &out->half[1]));
	/* The order of the pairs is that of the rows, whatever the halves were. */
	qsort(rows, (size_t)count, sizeof *rows, trec_by_value);
	KDRI_TRY(kdri_pairs_add(ctx, &e, task->labels, rows, count, most, &rng, &out->all));
done:
	KDRI_FREE(ctx, rows, room, seen);
	kdri_ensemble_free(ctx, &e);
	return st;
}

/* --- the rule ----------------------------------------------------------------------------------- */

static kdri_rule_options rule_options(const kdr_options *options)
{
	return (kdri_rule_options){ .logistic = kdri_opt_choice(options, "classifier") == 1,
		                    .sigma = kdri_opt_real(options, "sigma"),
		                    .cost = kdri_opt_real(options, "cost"),
		                    .balanced = kdri_opt_bool(options, "balanced"),
		                    .standardise = kdri_opt_bool(options, "standardise"),
		                    .meta = (kdri_meta)kdri_opt_choice(options, "meta") };
}

/* LIBSVM cannot be stopped, so that requests to stop are checked before each rule. Three rules are learnt: on all pairs,
 * and on either half of them. */
static bool stop_before_rule(kdr_context *ctx, int64_t rule)
{
	enum { RULES = 3 };
	return kdri_iteration(ctx, "rule", rule, RULES, NAN);
}

/* (E5); 0 and 0 where it was stopped. */
static kdr_status try_out(kdr_context *ctx, const lessons *l, const kdri_rule_options *o, double *accuracy,
                          double *majority)
{
	double right = 0, pairs = (double)(l->half[0].count + l->half[1].count),
	       same = (double)(l->half[0].same + l->half[1].same);
	*accuracy = *majority = 0;
	if (l->half[0].count == 0 || l->half[1].count == 0)
		return KDR_OK;
	for (int f = 0; f < 2; f++) {
		kdri_rule rule = { 0 };
		if (stop_before_rule(ctx, f + 1))
			return KDR_OK;
		KDRI_DO(kdri_rule_new(ctx, &l->half[f], o, &rule));
		right += kdri_rule_accuracy(ctx, &rule, &l->half[1 - f]) * (double)l->half[1 - f].count;
		kdri_rule_free(ctx, &rule);
	}
	*accuracy = right / pairs;
	*majority = KDRI_MAX(same, pairs - same) / pairs;
	return KDR_OK;
}

/* If it was stopped, there is no rule, or its quality is unknown: *trusted is false. */
static kdr_status trec_learn(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result, kdri_rule *rule, bool *trusted)
{
	kdr_status st = KDR_OK;
	lessons l = { 0 };
	double held_out = 0, majority = 0;
	kdri_rule_options o = rule_options(options);
	int64_t sources = 0;
	for (int64_t t = 0; t < problem->ntasks; t++)
		sources += problem->tasks[t].role == KDR_ROLE_SOURCE;
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == KDR_ROLE_SOURCE)
			KDRI_TRY(learn_from(ctx, problem, options, t,
			                    KDRI_MAX(1, kdri_opt_int(options, "pairs") / sources), &l));
	*trusted = false;
	if (!stop_before_rule(ctx, 0)) {
		KDRI_TRY(kdri_rule_new(ctx, &l.all, &o, rule)); /* (E2) */
		KDRI_TRY(try_out(ctx, &l, &o, &held_out, &majority));
	}
	if (kdri_ensemble_stopped(ctx)) {
		st = kdri_result_warn(
		        ctx, result,
		        "stopped before the rule for pairs was learnt and tested; the clustering of ec is kept");
		goto done;
	}
	*trusted = held_out > majority;
	KDRI_TRY(kdri_result_number(ctx, result, "training_pairs", (double)l.all.count));
	KDRI_TRY(kdri_result_number(ctx, result, "training_accuracy", kdri_rule_accuracy(ctx, rule, &l.all)));
	KDRI_TRY(kdri_result_number(ctx, result, "heldout_accuracy", held_out));
	KDRI_TRY(kdri_result_number(ctx, result, "majority_accuracy", majority));
	KDRI_TRY(kdri_result_text(ctx, result, "trusted", *trusted ? "yes" : "no"));
	if (!*trusted)
		KDRI_TRY(kdri_result_warn(
		        ctx, result,
		        "the transfer is not trusted: the rule is right on %.1f%% of held-out source pairs, while always guessing the more frequent kind is right on %.1f%%%s",
		        100 * held_out, 100 * majority,
		        kdri_opt_bool(options, "guard") ? "; the clustering of ec is kept"
		                                        : "; use --guard to keep the clustering of ec"));
done:
	kdri_pairs_free(ctx, &l.all);
	kdri_pairs_free(ctx, &l.half[0]);
	kdri_pairs_free(ctx, &l.half[1]);
	return st;
}

/* --- a target ----------------------------------------------------------------------------------- */

static kdr_status migrate(kdr_context *ctx, const kdri_ensemble *e, const kdri_rule *rule, int64_t k,
                          const kdr_options *options, int64_t *labels, kdri_migration *out)
{
	kdr_status st;
	kdri_pair_table table = { 0 };
	double low = 0, high = 0;
	int64_t it_max = kdri_opt_int(options, "it_max");
	for (int64_t i = 0; e->silhouette && i < e->n; i++) {
		low = i == 0 ? e->silhouette[i] : KDRI_MIN(low, e->silhouette[i]);
		high = i == 0 ? e->silhouette[i] : KDRI_MAX(high, e->silhouette[i]);
	}
	KDRI_TRY(kdri_pair_table_new(ctx, rule, e->runs, low, high, &table)); /* (E3) */
	kdri_predicted predicted = { .e = e, .table = &table };
	kdri_coincidence z = kdri_coincidence_predicted(&predicted);
	KDRI_TRY(kdri_migrate(ctx, &z, k, kdri_opt_real(options, "q_min"),
	                      it_max > 0 ? it_max : KDRI_MAX(FIRST_IT_MAX, e->n / 2), labels,
	                      out)); /* (E4) */
done:
	kdri_pair_table_free(ctx, &table);
	return st;
}

static kdr_status fit_target(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             int64_t t, const kdri_rule *rule, bool move, kdr_result *result,
                             kdri_migration *out)
{
	kdr_status st;
	const kdr_task *task = &problem->tasks[t];
	kdri_ensemble e = { 0 };
	kdri_consensus c = { 0 };
	int64_t k = kdri_opt_int(options, "k"), n = kdr_mat_rows(&task->x), *labels = NULL, *to = NULL;
	double *values = NULL;
	char name[256];
	k = k > 0 ? k : problem->classes;
	if (k > n)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT, "k is %lld, but target %s has only %lld samples",
		          (long long)k, kdri_task_name(task), (long long)n);
	KDRI_TRY(ensemble_of(ctx, problem, options, t, k, &e));
	kdri_consensus_options o = { .k = k,
		                     .most = k,
		                     .n_init = kdri_opt_int(options, "n_init"),
		                     .max_iter = kdri_opt_int(options, "max_iter"),
		                     .tol = kdri_opt_real(options, "tol"),
		                     .init = task->init,
		                     .stream = (uint64_t)t };
	KDRI_TRY(kdri_consensus_new(ctx, &e, &o, &c));
	kdri_result_set_k(result, t, k);
	KDRI_TRY(kdri_result_labels(ctx, result, t, &labels));
	memcpy(labels, c.kmeans.labels, (size_t)n * sizeof *labels);
	KDRI_TRY(kdri_result_array(ctx, result, "ec_labels", t, KDR_INT64, 1, (int64_t[]){ n }, &to));
	memcpy(to, labels, (size_t)n * sizeof *to);
	if (e.silhouette) {
		KDRI_TRY(kdri_result_array(ctx, result, "silhouette", t, KDR_FLOAT64, 1, (int64_t[]){ n },
		                           &values));
		memcpy(values, e.silhouette, (size_t)n * sizeof *values);
	}
	if (move && !kdri_ensemble_stopped(ctx))
		KDRI_TRY(migrate(ctx, &e, rule, k, options, labels, out));
	KDRI_TRY(kdri_result_array(ctx, result, "moves", t, KDR_INT64, 2, (int64_t[]){ out->count, 3 }, &to));
	if (out->count > 0)
		memcpy(to, out->moves, (size_t)(3 * out->count) * sizeof *to);
	snprintf(name, sizeof name, "moves.%s", kdri_task_name(task));
	KDRI_TRY(kdri_result_number(ctx, result, name, (double)out->count));
done:
	kdri_ensemble_free(ctx, &e);
	kdri_consensus_free(ctx, &c);
	return st;
}

/* --- all steps ---------------------------------------------------------------------------------- */

static kdr_status trec_check(kdr_context *ctx, const kdr_problem *problem)
{
	int64_t sources = 0, targets = 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		sources += task->role == KDR_ROLE_SOURCE;
		targets += task->role == KDR_ROLE_TARGET;
		if (task->role == KDR_ROLE_SOURCE && !task->labels)
			return kdri_fail(ctx, KDR_ERR_DATA,
			                 "source %s has no classes, which trec needs to learn from",
			                 kdri_task_name(task));
		if (task->role == KDR_ROLE_BRIDGE || task->role == KDR_ROLE_TASK)
			return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
			                 "data set %s is neither source nor target; trec cannot use bridges",
			                 kdri_task_name(task));
		if (task->role == KDR_ROLE_TARGET && task->labels)
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "target %s has known classes, which trec cannot keep, because it finds unnamed clusters",
			        kdri_task_name(task));
	}
	if (sources == 0 || targets == 0)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "trec needs a labelled source and a target; got %lld sources and %lld targets",
		        (long long)sources, (long long)targets);
	return KDR_OK;
}

static kdr_status trec_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_rule rule = { 0 };
	kdri_migration *parts = NULL;
	kdri_trace *traces = NULL;
	bool trusted = false;
	KDRI_TRY(trec_check(ctx, problem));
	KDRI_TRY(KDRI_NEW0(ctx, &parts, problem->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &traces, problem->ntasks));
	KDRI_TRY(trec_learn(ctx, problem, options, result, &rule, &trusted));
	bool move = !kdri_ensemble_stopped(ctx) && (trusted || !kdri_opt_bool(options, "guard"));
	KDRI_TRY(kdri_result_text(ctx, result, "kept", move ? "trec" : "ec"));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role == KDR_ROLE_TARGET)
			KDRI_TRY(fit_target(ctx, problem, options, t, &rule, move, result, &parts[t]));
		traces[t] =
		        (kdri_trace){ parts[t].start, parts[t].q, parts[t].count,
			              kdri_ensemble_stopped(ctx) ? kdri_stop_reason(ctx) : parts[t].stop, 1 };
	}
	KDRI_TRY(kdri_put_traces(ctx, traces, problem->ntasks, result));
done:
	for (int64_t t = 0; parts && t < problem->ntasks; t++)
		kdri_migration_free(ctx, &parts[t]);
	KDRI_FREE(ctx, parts, traces);
	kdri_rule_free(ctx, &rule);
	return st;
}

const kdri_algo kdri_algo_trec = {
	.info = { .id = "trec",
	          .class_name = "TrEC",
	          .title = "Transfer ensemble clustering",
	          .summary =
	                  "clusters a target with a rule for pairs of samples, learnt on a source with other features",
	          .objective =
	                  "Q = sum_t |Z - Z^|_F: the square root of the number of ordered pairs i, j in which both matrices differ\n"
	                  "t      target\n"
	                  "Z_ij   1 if samples i and j of the target are in one cluster, otherwise 0\n"
	                  "Z^_ij  1 if the rule learnt on the source predicts that they are of one class, otherwise 0",
	          .steps =
	                  "1. ec on source and target: silhouettes, and the fraction of runs in which a pair shares a cluster\n"
	                  "2. a rule for source pairs: do both samples have the same class? (SVM, or logistic regression)\n"
	                  "3. start from the clusters of ec; move the sample that lowers Q most, until no move does",
	          .use = "Source and target have different features. The result has clusters without class names.",
	          .cost = "The runs of ec; memory O(n (runs + k)). Pairs of the source are sampled above a limit.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_OWN_FEATURES | KDR_ALGO_CLUSTERS_TARGET,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = trec_fit,
};
