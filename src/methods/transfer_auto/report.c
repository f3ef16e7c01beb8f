/* What the ensemble of a transfer reports in addition to labels. SPDX-License-Identifier: BSD-3-Clause
 *
 * The keys of numbers and texts end with the target's name. The guard reports how many samples a plain SVM and a plain
 * logistic regression would label differently; how the members agree; the distance of the data sets (A-distance, from 0
 * to 2); how the class proportions differ (half the sum of differences); which classes the target appears not to have;
 * and how far to trust the labels, judged by the mean confidence (docs/notes/transfer.md). */
/* Which target samples differ from the source, and which a person should label.
 *
 * With d(i, S) the mean of 1 - cos on E over the 5 rows of S nearest to target row i, other than i,
 *
 *   (E1)  s_i = min over classes k of d(i, source rows of class k) - d(i, target rows)
 *   (E2)  unlike_i = rank of ((D^-1 W)^2 s)_i, from 0 (most like the source) to 1
 *
 * W is the target's graph. S has at most 2048 rows in total, evenly spaced, so that time is linear in the samples of the target.
 *
 *   (E3)  Samples to label: by increasing margin P_i,answer - max over other classes of P_ik, P the mean posterior of the members, with
 *         at most 2 N / (number of clusters), rounded up, from each cluster of the target; then, if there are fewer than N, by margin alone.
 *
 * docs/labelling.md says what these were measured on. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/graph/knn.h"
#include "methods/transfer_auto/auto_transfer.h"

enum { NEIGHBOURS = 5, MOST_ROWS = 2048 };

typedef struct ranked {
	double value;
	int64_t row;
} ranked;

static int by_value(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* --- least like the source ------------------------------------------------------------------------------- */

/* Mean distance of each row of x from its nearest rows of y. first >= 0: row i of x is row `first + i` of the matrix that y's rows were
 * taken from, numbered by `rows`, and is not its own neighbour. Without neighbours it is 0. */
static kdr_status mean_distance(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, const int64_t *rows,
                                int64_t first, double *out)
{
	kdr_status st;
	kdri_knn knn = { 0 };
	const int64_t n = kdr_mat_rows(x), /* of the same rows, a row is not its own neighbour */
	        k = KDRI_MIN(NEIGHBOURS + (first >= 0 ? 1 : 0), kdr_mat_rows(y) - (x == y));
	KDRI_TRY(kdri_knn_among(ctx, x, NULL, y, NULL, k, KDRI_METRIC_COSINE, &knn));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		int64_t count = 0;
		for (int64_t p = 0; p < k && count < NEIGHBOURS; p++) {
			const int64_t j = knn.index[i * k + p];
			if (j < 0 || (first >= 0 && rows[j] == first + i))
				continue;
			sum += 1 - knn.value[i * k + p];
			count++;
		}
		out[i] = count > 0 ? sum / (double)count : 0;
	}
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

/* Rows begin .. end - 1 whose label is `class` (-2: all), at most `share` of them, evenly spaced. */
static kdr_status choose_rows(kdr_context *ctx, const int64_t *labels, int64_t begin, int64_t end,
                              int64_t class, int64_t share, int64_t **rows, int64_t *count)
{
	int64_t all = 0;
	*rows = NULL;
	*count = 0;
	KDRI_DO(KDRI_NEW(ctx, rows, end - begin));
	for (int64_t i = begin; i < end; i++)
		if (class == -2 || labels[i] == class)
			(*rows)[all++] = i;
	*count = KDRI_MIN(all, share);
	for (int64_t i = 0; i < *count; i++)
		(*rows)[i] = (*rows)[i * all / *count];
	return KDR_OK;
}

static kdr_status distance_from(kdr_context *ctx, const kdr_mat *e, const kdr_mat *target,
                                const int64_t *labels, int64_t begin, int64_t end, int64_t class,
                                int64_t share, double *out, bool *found)
{
	kdr_status st;
	int64_t *rows = NULL, count;
	kdri_own part = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(choose_rows(ctx, labels, begin, end, class, share, &rows, &count));
	*found = count > 0;
	if (count > 0) {
		KDRI_TRY(kdri_mat_take(ctx, e, rows, count, &part));
		KDRI_TRY(mean_distance(ctx, target, &part.view, rows, class == -2 ? begin : -1, out));
	}
done:
	kdri_own_free(ctx, &part);
	kdri_free(ctx, rows);
	return st;
}

/* (E1) */
kdr_status kdri_unlike_distances(kdr_context *ctx, const kdr_mat *e, int64_t first, const int64_t *labels,
                                 int64_t classes, double *out)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(e), rows = n - first;
	double *d = NULL;
	bool found;
	kdri_own target = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &d, rows));
	KDRI_TRY(kdri_rows_own(ctx, e, first, n, &target));
	for (int64_t i = 0; i < rows; i++)
		out[i] = INFINITY;
	for (int64_t k = 0; k < classes; k++) {
		KDRI_TRY(distance_from(ctx, e, &target.view, labels, 0, first, k,
		                       KDRI_MAX(1, MOST_ROWS / classes), d, &found));
		for (int64_t i = 0; found && i < rows; i++)
			out[i] = KDRI_MIN(out[i], d[i]);
	}
	KDRI_TRY(distance_from(ctx, e, &target.view, labels, first, n, -2, MOST_ROWS, d, &found));
	for (int64_t i = 0; i < rows; i++)
		out[i] -= d[i];
done:
	kdri_own_free(ctx, &target);
	kdri_free(ctx, d);
	return st;
}

kdr_status kdri_unlike_ranks(kdr_context *ctx, double *values, int64_t n)
{
	kdr_status st;
	ranked *list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &list, n));
	for (int64_t i = 0; i < n; i++)
		list[i] = (ranked){ values[i], i };
	qsort(list, (size_t)n, sizeof *list, by_value);
	for (int64_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].value == list[i].value; end++)
			;
		for (int64_t j = i; j < end; j++)
			values[list[j].row] = n > 1 ? (double)(i + end - 1) / 2 / (double)(n - 1) : 0;
	}
done:
	kdri_free(ctx, list);
	return st;
}

/* (D^-1 W)^2 s; a row without neighbours keeps its value. */
static kdr_status smooth(kdr_context *ctx, const kdri_transfer_graph *g, double *s, int64_t n)
{
	kdr_status st;
	double *ones = NULL, *degree = NULL, *sum = NULL;
	const kdri_op w = kdri_transfer_graph_op(g);
	KDRI_TRY(KDRI_NEW(ctx, &ones, n));
	KDRI_TRY(KDRI_NEW(ctx, &degree, n));
	KDRI_TRY(KDRI_NEW(ctx, &sum, n));
	for (int64_t i = 0; i < n; i++)
		ones[i] = 1;
	KDRI_TRY(w.apply(ctx, &w, ones, 1, 1, degree, 1));
	for (int step = 0; step < 2; step++) {
		KDRI_TRY(w.apply(ctx, &w, s, 1, 1, sum, 1));
		for (int64_t i = 0; i < n; i++)
			s[i] = degree[i] > 0 ? sum[i] / degree[i] : s[i];
	}
done:
	KDRI_FREE(ctx, ones, degree, sum);
	return st;
}

/* The finer of the clusterings that voted. */
static kdr_status keep_clusters(const kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	const int64_t z = w->clusterings - 1;
	if (z < 0)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(w->ctx, &v->cluster, w->n));
	v->clusters = w->k[z];
	for (int64_t i = 0; i < w->n; i++)
		v->cluster[i] = w->clusters[z][i];
	return KDR_OK;
}

kdr_status kdri_transfer_unlike(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	kdr_context *ctx = w->ctx;
	bool finite = true;
	KDRI_DO(keep_clusters(w, v));
	if (ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	KDRI_DO(kdri_transfer_views_align(ctx, &w->v, false));
	const kdr_mat e = kdr_mat_from_dense(w->v.e, w->d.n, w->v.width);
	KDRI_DO(KDRI_NEW(ctx, &v->unlike, w->n));
	KDRI_DO(kdri_unlike_distances(ctx, &e, w->first, w->d.labels, w->c, v->unlike));
	KDRI_DO(smooth(ctx, &w->v.graph, v->unlike, w->n));
	for (int64_t i = 0; i < w->n; i++)
		finite = finite && isfinite(v->unlike[i]);
	if (!finite || ctx->cancelled || ctx->timed_out) {
		kdri_free(ctx, v->unlike);
		v->unlike = NULL;
		return KDR_OK;
	}
	KDRI_DO(kdri_unlike_ranks(ctx, v->unlike, w->n)); /* (E2) */
	return KDR_OK;
}

/* --- what to label next ---------------------------------------------------------------------------------- */

double kdri_ask_margin(const kdri_ask_problem *p, int64_t i)
{
	const double *row = p->posterior + i * p->classes;
	double other = 0;
	for (int64_t k = 0; k < p->classes; k++)
		other = k != p->answer[i] && row[k] > other ? row[k] : other;
	return row[p->answer[i]] - other;
}

/* (E3) */
kdr_status kdri_ask_choose(kdr_context *ctx, const kdri_ask_problem *p, int64_t count, int64_t *rows)
{
	kdr_status st;
	const int64_t clusters = p->cluster ? KDRI_MAX(p->clusters, 1) : 1,
	              most = (2 * count + clusters - 1) / clusters;
	int64_t *used = NULL, candidates = 0, chosen = 0;
	ranked *list = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &used, clusters));
	KDRI_TRY(KDRI_NEW(ctx, &list, p->n));
	for (int64_t i = 0; i < p->n; i++)
		if (!p->known || p->known[i] < 0)
			list[candidates++] = (ranked){ kdri_ask_margin(p, i), i };
	qsort(list, (size_t)candidates, sizeof *list, by_value);
	for (int pass = 0; pass < 2; pass++)
		for (int64_t c = 0; c < candidates && chosen < count; c++) {
			const int64_t row = list[c].row, z = p->cluster && row >= 0 ? p->cluster[row] : 0;
			if (row < 0 || (pass == 0 && used[z] >= most))
				continue;
			used[z]++;
			rows[chosen++] = row;
			list[c].row = -1;
		}
done:
	KDRI_FREE(ctx, used, list);
	return st;
}

/* Mean confidence from which on an answer is called good, or fair. */
static const double good = 0.8, fair = 0.65;
static const double moved_much = 0.15, far_apart = 1.5, apart = 1;
/* A class has few answers if its share of them is at most `hardly` of its share of the labelled samples, or `few` of it with a mean
 * confidence that is lower by `less_sure` than the mean of the other classes': chosen on webkb and digits. There is a warning only if the
 * estimated share (shares.c) is below `halved` of the labelled samples' as well. */
static const double hardly = 0.1, few = 0.4, less_sure = 0.1, halved = 0.5;

typedef struct text {
	char s[1024];
	size_t used;
} text;

KDR_PRINTF(2, 3)
static void report_add(text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = kdri_vsnprintf(t->s + t->used, sizeof t->s - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used = KDRI_MIN(t->used + (size_t)n, sizeof t->s - 1);
}

static const char *report_name_of(const kdr_problem *problem, int64_t t, char *room, size_t size)
{
	if (problem->tasks[t].name)
		return problem->tasks[t].name;
	snprintf(room, size, "%lld", (long long)t + 1);
	return room;
}

/* Stores a number about a task, if it is finite. */
static kdr_status put_number(kdr_context *ctx, kdr_result *result, const char *what, int64_t task, double v)
{
	return isfinite(v) ? kdri_result_task_number(ctx, result, task, what, v) : KDR_OK;
}

/* --- arrays --------------------------------------------------------------------------------------------- */

static kdr_status put_array(kdr_context *ctx, kdr_result *result, const char *name, int64_t target,
                            int64_t rows, int64_t cols, const double *from)
{
	double *to = NULL;
	kdr_status st = kdri_result_array(ctx, result, name, target, KDR_FLOAT64, cols > 0 ? 2 : 1,
	                                  (int64_t[]){ rows, cols }, &to);
	if (st == KDR_OK)
		memcpy(to, from, (size_t)(rows * KDRI_MAX(cols, 1)) * sizeof *to);
	return st;
}

typedef struct unsure {
	double confidence;
	int64_t row;
} unsure;

static int by_confidence(const void *a, const void *b)
{
	const unsure *x = a, *y = b;
	if (x->confidence != y->confidence)
		return x->confidence < y->confidence ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* The least sure of the samples lose their class. */
static kdr_status drop_unsure(kdr_context *ctx, const kdri_transfer_verdict *v, double share, int64_t *labels)
{
	kdr_status st;
	unsure *list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &list, v->n));
	for (int64_t i = 0; i < v->n; i++)
		list[i] = (unsure){ v->confidence[i], i };
	qsort(list, (size_t)v->n, sizeof *list, by_confidence);
	for (int64_t i = 0; i < (int64_t)floor(share * (double)v->n + 1e-9); i++)
		labels[list[i].row] = -1;
done:
	kdri_free(ctx, list);
	return st;
}

static kdr_status put_arrays(kdr_context *ctx, int64_t target, const kdri_transfer_verdict *v, double abstain,
                             kdr_result *result)
{
	static const char *const plain[] = { "plain_svm", "plain_logreg" };
	int64_t *labels = NULL, *to = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, target, &labels));
	memcpy(labels, v->answer, (size_t)v->n * sizeof *labels);
	if (abstain > 0)
		KDRI_DO(drop_unsure(ctx, v, abstain, labels));
	KDRI_DO(put_array(ctx, result, "confidence", target, v->n, 0, v->confidence));
	KDRI_DO(put_array(ctx, result, "agreement", target, v->n, 0, v->confidence));
	KDRI_DO(put_array(ctx, result, "probabilities", target, v->n, v->classes, v->posterior));
	KDRI_DO(put_array(ctx, result, "shares", target, v->classes, 2, v->shares));
	KDRI_DO(kdri_result_array(ctx, result, "votes", target, KDR_INT64, 2,
	                          (int64_t[]){ KDRI_TRANSFER_MEMBERS, v->n }, &to));
	memcpy(to, v->votes, (size_t)(KDRI_TRANSFER_MEMBERS * v->n) * sizeof *to);
	if (v->unlike)
		KDRI_DO(put_array(ctx, result, "unlike_source", target, v->n, 0, v->unlike));
	if (v->cluster) {
		KDRI_DO(kdri_result_array(ctx, result, "target_clusters", target, KDR_INT64, 1,
		                          (int64_t[]){ v->n }, &to));
		memcpy(to, v->cluster, (size_t)v->n * sizeof *to);
	}
	for (int k = 0; k < KDRI_PLAIN; k++) {
		if (!v->plain[k])
			continue;
		KDRI_DO(kdri_result_array(ctx, result, plain[k], target, KDR_INT64, 1, (int64_t[]){ v->n },
		                          &to));
		memcpy(to, v->plain[k], (size_t)v->n * sizeof *to);
	}
	return KDR_OK;
}

/* --- the guard --------------------------------------------------------------------------------------------- */

static int64_t differing(const int64_t *a, const int64_t *b, int64_t n)
{
	int64_t count = 0;
	for (int64_t i = 0; a && b && i < n; i++)
		count += a[i] != b[i];
	return count;
}

static double mean_of(const double *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += x[i] / (double)n;
	return sum;
}

/* Mean over the members that voted. */
static double mean_agreement(const kdri_transfer_verdict *v)
{
	double sum = 0, count = 0;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (v->used[m]) {
			sum += v->agreement[m];
			count++;
		}
	return sum / count;
}

static double moved(const kdri_transfer_verdict *v)
{
	double sum = 0;
	for (int64_t k = 0; k < v->classes; k++)
		sum += fabs(v->shares[2 * k] - v->shares[2 * k + 1]) / 2;
	return sum;
}

/* Members with the fraction of labels they agree with. */
kdr_status kdri_transfer_report_members(kdr_context *ctx, const kdr_problem *problem,
                                        const kdri_transfer_verdict *v, kdr_result *result)
{
	text t = { .s = "" };
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		double sum = 0, count = 0;
		const char *name = "";
		for (int64_t i = 0; i < problem->ntasks; i++)
			if (v[i].n > 0 && v[i].used[m]) {
				sum += v[i].agreement[m];
				count++;
				name = v[i].name[m];
			}
		if (count > 0)
			report_add(&t, "%s%s %.2f", t.used ? ", " : "", name, sum / count);
	}
	return kdri_result_text(ctx, result, "members", t.s);
}

/* Members that could have voted and did not, and why. */
static kdr_status put_excluded(kdr_context *ctx, int64_t target, const kdri_transfer_verdict *v,
                               kdr_result *result)
{
	text t = { .s = "" };
	bool any = false;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (v->excluded[m] == KDRI_TRANSFER_INACCURATE && !v->used[m]) {
			report_add(&t, "%s%s %.2f",
			           any ? ", " : "accuracy on held-out source samples: ", v->name[m],
			           v->heldout[m]);
			any = true;
		}
	any = false;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (v->excluded[m] == KDRI_TRANSFER_OVERLAP && !v->used[m]) {
			report_add(&t, "%s%s",
			           any      ? ", "
			           : t.used ? "; source and target overlap: "
			                    : "source and target overlap: ",
			           v->name[m]);
			any = true;
		}
	return t.used ? kdri_result_task_text(ctx, result, target, "excluded", t.s) : KDR_OK;
}

/* By how much the answers of class k are less sure than those of the other classes, each class's mean weighing the same. */
static double doubt_of(const kdri_transfer_verdict *v, int64_t k)
{
	double own = 0, others = 0, count = 0;
	for (int64_t c = 0; c < v->classes; c++) {
		double sum = 0, rows = v->shares[2 * c + 1] * (double)v->n;
		if (v->shares[2 * c] <= 0)
			continue;
		for (int64_t i = 0; i < v->n; i++)
			sum += v->answer[i] == c ? v->confidence[i] : 0;
		double mean = rows > 0.5 ? sum / rows : 0;
		own = c == k ? mean : own;
		others += c == k ? 0 : mean;
		count += c != k;
	}
	return count > 0 ? others / count - own : 0;
}

static const char *class_name(const kdr_problem *problem, int64_t k, char *room, size_t size)
{
	if (problem->class_names)
		return problem->class_names[k];
	snprintf(room, size, "%lld", (long long)k);
	return room;
}

static kdr_status put_classes(kdr_context *ctx, const kdr_problem *problem, const kdri_transfer_verdict *v,
                              const char *name, kdr_result *result)
{
	for (int64_t k = 0; v->pi && k < v->classes; k++) {
		double known = v->shares[2 * k], given = v->shares[2 * k + 1];
		char room[32];
		if (known <= 0 || given > few * known || v->pi[k] >= halved * known ||
		    (given > hardly * known && doubt_of(v, k) < less_sure))
			continue;
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "%s: few samples were labelled '%.60s' (%.1f %%, but %.1f %% of the source samples)%s",
		        name, class_name(problem, k, room, sizeof room), 100 * given, 100 * known,
		        v->absent ? ": the target appears to have few such samples, or none" : ""));
	}
	return KDR_OK;
}

/* How far to trust labels, and how many were right in tests with real data (docs/notes/statements.md). */
static void add_verdict(text *t, double sure, bool tables)
{
	if (sure < fair)
		report_add(t, "check before use: at this confidence, 46 %% of labels were right in tests");
	else if (tables)
		report_add(t, "%s: in tests with tables, %d %% of such labels were right",
		           sure < good ? "trust with care" : "trustworthy", sure < good ? 56 : 77);
	else
		report_add(t, "%s: at this confidence, %d %% of labels were right in tests",
		           sure < good ? "trust with care" : "trustworthy", sure < good ? 60 : 88);
}

static kdr_status put_advice(kdr_context *ctx, const kdri_transfer_verdict *v, int64_t target,
                             const char *name, double sure, bool tables, kdr_result *result)
{
	text t = { .s = "" };
	double shift = moved(v);
	int64_t svm = differing(v->answer, v->plain[KDRI_PLAIN_SVM], v->n),
	        logreg = differing(v->answer, v->plain[KDRI_PLAIN_LOGREG], v->n);
	report_add(&t, "%s: ", name);
	add_verdict(&t, sure, tables);
	report_add(&t, "\nmean confidence: %.2f (estimated fraction of right labels)", sure);
	report_add(&t, "\nagreement: on average, each method agrees with %.0f %% of the labels",
	           100 * mean_agreement(v));
	if (isfinite(v->distance))
		report_add(
		        &t,
		        "\nsource and target: %s (A-distance %.2f; 0 = indistinguishable, 2 = fully separable)",
		        v->distance > far_apart ? "far apart"
		        : v->distance >= apart  ? "apart"
		                                : "near",
		        v->distance);
	report_add(&t,
	           "\nclass proportions: the predicted ones differ from the labelled samples by %.0f %%%s%s",
	           100 * shift,
	           v->absent ? "; classes appear to be absent, so methods based on class means were run again"
	           : v->followed ? "; methods based on class means were run again"
	                         : "",
	           shift > moved_much ? "; labels are less reliable in such cases" : "");
	report_add(
	        &t,
	        "\ncomparison: a plain SVM would label %lld of %lld samples differently, logistic regression %lld",
	        (long long)svm, (long long)v->n, (long long)logreg);
	return kdri_result_task_text(ctx, result, target, "advice", t.s);
}

kdr_status kdri_transfer_report_ask(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                    const kdri_transfer_verdict *v, int64_t count, kdr_result *result)
{
	int64_t *rows = NULL;
	double *margin = NULL;
	const kdri_ask_problem p = { .n = v->n,
		                     .classes = v->classes,
		                     .clusters = v->clusters,
		                     .posterior = v->posterior,
		                     .answer = v->answer,
		                     .known = problem->tasks[target].labels,
		                     .cluster = v->cluster };
	KDRI_DO(kdri_result_array(ctx, result, "ask", target, KDR_INT64, 1, (int64_t[]){ count }, &rows));
	KDRI_DO(kdri_result_array(ctx, result, "margin", target, KDR_FLOAT64, 1, (int64_t[]){ v->n },
	                          &margin));
	for (int64_t i = 0; i < v->n; i++)
		margin[i] = kdri_ask_margin(&p, i);
	return kdri_ask_choose(ctx, &p, count, rows);
}

kdr_status kdri_transfer_report(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                const kdri_transfer_verdict *v, double abstain, bool tables,
                                kdr_result *result)
{
	char room[32];
	const char *name = report_name_of(problem, target, room, sizeof room);
	double sure = mean_of(v->confidence, v->n);
	KDRI_DO(put_arrays(ctx, target, v, abstain, result));
	KDRI_DO(put_number(ctx, result, "confidence", target, sure));
	KDRI_DO(put_number(ctx, result, "member_agreement", target, mean_agreement(v)));
	KDRI_DO(put_number(ctx, result, "source_accuracy", target, v->right));
	KDRI_DO(put_number(ctx, result, "a_distance", target, v->distance));
	KDRI_DO(put_number(ctx, result, "shares_moved", target, moved(v)));
	KDRI_DO(put_excluded(ctx, target, v, result));
	if (!v->plain[KDRI_PLAIN_SVM] ||
	    !v->plain[KDRI_PLAIN_LOGREG]) /* out of time, one member alone, or through bridges */
		return KDR_OK;
	KDRI_DO(put_number(ctx, result, "differ_svm", target,
	                   (double)differing(v->answer, v->plain[KDRI_PLAIN_SVM], v->n)));
	KDRI_DO(put_number(ctx, result, "differ_logreg", target,
	                   (double)differing(v->answer, v->plain[KDRI_PLAIN_LOGREG], v->n)));
	KDRI_DO(put_advice(ctx, v, target, name, sure, tables, result));
	return put_classes(ctx, problem, v, name, result);
}

/* Stores the advice about a source: for the first target under the source's name, for the others under both names. */
static kdr_status put_source(kdr_context *ctx, kdr_result *result, int64_t s, const char *source,
                             const char *target, const char *advice)
{
	char key[700];
	if (!target)
		return kdri_result_task_text(ctx, result, s, "advice", advice);
	snprintf(key, sizeof key, "advice.%s.%s", source, target);
	return kdri_result_text(ctx, result, key, advice);
}

/* The first class that no other source has samples of, or -1. Confidences cannot be compared if there is one. */
static int64_t alone_has(const kdri_transfer_verdict *v, const kdri_transfer_verdict *without)
{
	for (int64_t k = 0; k < v->classes; k++)
		if (v->shares[2 * k] > 0 && without->shares[2 * k] == 0)
			return k;
	return -1;
}

kdr_status kdri_transfer_report_source(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                       int64_t s, const kdri_transfer_verdict *v,
                                       const kdri_transfer_verdict *without, kdr_result *result)
{
	char key[700], room[2][32];
	text t = { .s = "" };
	bool first = true;
	const char *source = report_name_of(problem, s, room[0], sizeof room[0]),
	           *name = report_name_of(problem, target, room[1], sizeof room[1]);
	for (int64_t i = 0; i < target; i++)
		first = first && problem->tasks[i].role != KDR_ROLE_TARGET;
	if (!without) {
		report_add(&t, "%s: no labels for %s are possible without this source", source, name);
		return put_source(ctx, result, s, source, first ? NULL : name, t.s);
	}
	double with = mean_of(v->confidence, v->n), less = mean_of(without->confidence, v->n);
	int64_t differ = differing(v->answer, without->answer, v->n);
	snprintf(key, sizeof key, "differ_without.%s.%s", source, name);
	KDRI_DO(kdri_result_number(ctx, result, key, (double)differ));
	report_add(
	        &t,
	        "%s: leaving out this source would change the labels of %lld of %lld samples of %s; mean confidence %.2f instead of %.2f",
	        source, (long long)differ, (long long)v->n, name, less, with);
	int64_t only = alone_has(v, without);
	char number[32];
	if (only >= 0)
		report_add(&t, "; only this source has class '%.60s'",
		           class_name(problem, only, number, sizeof number));
	return put_source(ctx, result, s, source, first ? NULL : name, t.s);
}
