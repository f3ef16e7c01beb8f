/* Transductive support vector machine. SPDX-License-Identifier: BSD-3-Clause
 *
 * A linear classifier whose margin also avoids the unlabelled samples. For each class against the rest, with l the
 * labelled samples, u the others, u_i = (x_i, bias) and L(z) = max(0, 1 - z)^2,
 *
 *   (E1)  min over w and y_u in {-1, 1}  |w|^2 / 2 + C sum_l L(y_i <w, u_i>) + C* sum_u L(y_i <w, u_i>)
 *   (E2)  with round(r |u|) of the y_u positive, r the class's share of the labelled samples
 *
 * [J99, OP 2], with the squared hinge of [SK06, eq. 2] instead of the hinge. Two steps alternate:
 *
 *   (E3)  w <- the minimum of (E1) for these y_u (engine/linear/linear.c)
 *   (E4)  y_i, y_j are swapped, y_i = 1, y_j = -1, if that lowers (E1) for this w: L(z_i) + L(-z_j) > L(-z_i) + L(z_j);
 *         the pair of the r-th least certain on both sides, r = 1, 2, .. [SK06, section 3.1]
 *
 * (E4) swaps many pairs at once, which keeps (E2), never raises (E1) and ends, because no labelling occurs twice. The
 * initial y_u are from a classifier trained on the labelled samples only, with the most certain ones positive (E2).
 * C* rises to its value in STAGES steps, each of which starts from the result of the previous one [J99, section 4].
 *
 * The objective reported is (E1) at the final C*, summed over classes, after each (E3): at earlier stages it
 * is that of another problem. The predicted class is that with the largest score.
 *
 * C  cost     C*  cost_target     y_u  sign (n x outputs)     z  scores     r  counts / known */
#include "api/method.h"
#include "methods/common/labelled.h"

#include <stdlib.h>

enum { STAGES = 9 }; /* C* 1e-4, .., 1: a factor of sqrt(10) each */

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_LINEAR(1, 1e-4),
	KDRI_REAL("cost_target", 1, 0, 1e300, "weight of the losses of unlabelled samples", .symbol = "C*"),
	KDRI_INT("max_iter", 100, 0, 1e9, "maximum number of rounds of switching labels per value of C*"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_LINEAR,
	KDRI_ARRAY("scores", KDR_FLOAT64, "n x classes",
	           "score of each class, positive on its side of the margin", .per_task = true,
	           .scoring = KDR_SCORING_MARGINS),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"T. Joachims: Transductive inference for text classification using support vector machines. ICML 1999. [J99]",
	"V. Sindhwani, S. S. Keerthi: Large scale semi-supervised linear SVMs. SIGIR 2006. [SK06]",
	NULL,
};

typedef struct ranked {
	double z;
	int64_t i;
} ranked;

typedef struct machine {
	const kdri_labelled *set;
	int64_t m, free;   /* outputs; samples without a label */
	int64_t *rows;     /* free: which they are */
	double *cost;      /* n x m: signed, as required by engine/linear/linear.h */
	double *w, *z;     /* (d + 1) x m; n x m */
	ranked *up, *down; /* free */
	kdri_linear_options o;
} machine;

static kdr_status machine_new(kdr_context *ctx, const kdri_labelled *set, const kdr_options *options,
                              machine *t)
{
	int64_t size;
	t->set = set;
	t->m = kdri_linear_outputs(set->classes);
	t->o = (kdri_linear_options){ .loss = KDRI_LOSS_SQUARED_HINGE,
		                      .bias = kdri_opt_real(options, "bias"),
		                      .tol = kdri_opt_real(options, "tol"),
		                      .max_iter = 1000,
		                      .stage = "tsvm" };
	KDRI_DO(kdri_mul(ctx, set->n, t->m, &size));
	KDRI_DO(KDRI_NEW(ctx, &t->rows, set->n));
	KDRI_DO(KDRI_NEW0(ctx, &t->cost, size));
	KDRI_DO(KDRI_NEW0(ctx, &t->w, (set->d + 1) * t->m));
	KDRI_DO(KDRI_NEW(ctx, &t->z, size));
	KDRI_DO(KDRI_NEW(ctx, &t->up, set->n));
	KDRI_DO(KDRI_NEW(ctx, &t->down, set->n));
	t->free = kdri_labelled_rows(set, false, t->rows);
	for (int64_t i = 0; i < set->n; i++)
		for (int64_t j = 0; j < t->m && set->labels[i] >= 0; j++) {
			int64_t c = kdri_linear_class(set->classes, j);
			double cost = set->counts[c] > 0 ? kdri_opt_real(options, "cost") : 0;
			t->cost[i * t->m + j] = set->labels[i] == c ? cost : -cost;
		}
	return KDR_OK;
}

static int by_score(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->z != y->z)
		return x->z < y->z ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static int by_falling_score(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->z != y->z)
		return x->z > y->z ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* (E3), which minimises (E1), and the scores of all samples. */
static kdr_status tsvm_train(kdr_context *ctx, machine *t, kdri_linear_report *report)
{
	const kdr_mat *x = &t->set->x.view;
	KDRI_DO(kdri_linear_train(ctx, x, t->m, t->cost, &t->o, t->w, report));
	return kdri_linear_scores(ctx, x, t->m, t->o.bias, t->w, t->z);
}

static void set_target_cost(machine *t, double cost)
{
	for (int64_t p = 0; p < t->free; p++)
		for (int64_t j = 0; j < t->m; j++) {
			double *q = &t->cost[t->rows[p] * t->m + j];
			*q = *q > 0 ? cost : *q < 0 ? -cost : 0;
		}
}

static double tsvm_loss(double z)
{
	return z < 1 ? (1 - z) * (1 - z) : 0;
}

/* (E4) for all outputs; returns the number of pairs swapped. */
static int64_t switch_labels(machine *t)
{
	int64_t switched = 0;
	for (int64_t j = 0; j < t->m; j++) {
		int64_t ups = 0, downs = 0;
		for (int64_t p = 0; p < t->free; p++) {
			int64_t at = t->rows[p] * t->m + j;
			if (t->cost[at] > 0)
				t->up[ups++] = (ranked){ t->z[at], at };
			else if (t->cost[at] < 0)
				t->down[downs++] = (ranked){ t->z[at], at };
		}
		qsort(t->up, (size_t)ups, sizeof *t->up, by_score);
		qsort(t->down, (size_t)downs, sizeof *t->down, by_falling_score);
		for (int64_t p = 0; p < KDRI_MIN(ups, downs); p++) {
			double zi = t->up[p].z, zj = t->down[p].z;
			double now = tsvm_loss(zi) + tsvm_loss(-zj), then = tsvm_loss(-zi) + tsvm_loss(zj);
			if (now <= then * (1 + 1e-9)) /* clearly lower, or rounding could turn in circles */
				break;
			t->cost[t->up[p].i] = -t->cost[t->up[p].i];
			t->cost[t->down[p].i] = -t->cost[t->down[p].i];
			switched++;
		}
	}
	return switched;
}

/* One value of C*. In the last stage the values go into the result. */
static kdr_status run_stage(kdr_context *ctx, machine *t, int64_t max_iter, kdr_result *trace,
                            int64_t *switched, kdri_linear_report *report)
{
	double start = 0;
	int64_t rounds = 0;
	for (;; rounds++) {
		KDRI_DO(tsvm_train(ctx, t, report));
		start = rounds == 0 ? report->start : start;
		if (trace)
			KDRI_DO(kdri_result_objective(ctx, trace, report->value));
		if (ctx->cancelled || ctx->timed_out || rounds >= max_iter)
			break;
		int64_t pairs = switch_labels(t);
		*switched += pairs;
		if (pairs == 0) {
			report->stop = KDR_STOP_CONVERGED;
			break;
		}
	}
	if (ctx->cancelled || ctx->timed_out)
		report->stop = kdri_stop_reason(ctx);
	else if (rounds >= max_iter)
		report->stop = KDR_STOP_MAX_ITER;
	report->start = start;
	report->iterations = rounds + 1;
	return KDR_OK;
}

static kdr_status tsvm_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_labelled set = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	machine t = { 0 };
	kdri_linear_report report = { 0 };
	double *scores = NULL, target = kdri_opt_real(options, "cost_target");
	int64_t size, switched = 0, max_iter = kdri_opt_int(options, "max_iter");
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &set));
	KDRI_TRY(machine_new(ctx, &set, options, &t));
	KDRI_TRY(kdri_mul(ctx, set.n, set.classes, &size));
	KDRI_TRY(KDRI_NEW(ctx, &scores, size));
	KDRI_TRY(tsvm_train(ctx, &t, &report));
	/* The first y_u (E2), as costs of +-1. */
	for (int64_t j = 0; j < t.m; j++) {
		int64_t c = kdri_linear_class(t.set->classes, j);
		int64_t positive = llround((double)t.free * (double)t.set->counts[c] / (double)t.set->known);
		for (int64_t p = 0; p < t.free; p++)
			t.down[p] = (ranked){ t.z[t.rows[p] * t.m + j], t.rows[p] };
		qsort(t.down, (size_t)t.free, sizeof *t.down, by_falling_score);
		for (int64_t p = 0; p < t.free; p++)
			t.cost[t.down[p].i * t.m + j] = t.set->counts[c] == 0 ? 0 : p < positive ? 1 : -1;
	}
	for (int s = 0; s < STAGES && !ctx->cancelled && !ctx->timed_out; s++) {
		bool last = s == STAGES - 1;
		set_target_cost(&t, target * pow(10, (s - STAGES + 1) / 2.0));
		KDRI_TRY(run_stage(ctx, &t, max_iter, last ? result : NULL, &switched, &report));
	}
	kdri_linear_spread(ctx, set.n, set.classes, t.z, scores);
	KDRI_TRY(kdri_labelled_put(ctx, &set, scores, "scores", result));
	KDRI_TRY(kdri_linear_put(ctx, result, set.d, set.classes, t.o.bias, t.w));
	KDRI_TRY(kdri_result_number(ctx, result, "objective_start", report.start));
	KDRI_TRY(kdri_result_number(ctx, result, "pairs_switched", (double)switched));
	kdri_result_stop(result, report.stop, report.iterations);
done:
	KDRI_FREE(ctx, t.rows, t.cost, t.w, t.z, t.up, t.down);
	kdri_labelled_free(ctx, &set);
	kdri_free(ctx, scores);
	return st;
}

const kdri_algo kdri_algo_tsvm = {
	.info = { .id = "tsvm",
	          .class_name = "TSVM",
	          .title = "Transductive support vector machine",
	          .summary = "linear SVM whose margin also avoids the target's samples",
	          .objective =
	                  "J = sum_c ( |w_c|^2 / 2 + C sum_l L(y_lc <w_c, u_l>) + C* sum_u L(y_uc <w_c, u_u>) ), L(z) = max(0, 1 - z)^2\n"
	                  "c      class; of two classes only one is counted\n"
	                  "w_c    weights of class c (arrays weights, intercept)\n"
	                  "l, u   labelled and unlabelled samples, extended by the constant bias\n"
	                  "y_lc   1 if sample l is of class c, otherwise -1\n"
	                  "y_uc   the same for an unlabelled sample, chosen by the method; a fixed number of them are 1\n"
	                  "C, C*  options cost and cost_target",
	          .steps =
	                  "1. label the target with a classifier of the source; for each class, the most certain samples get y = 1\n"
	                  "2. w_c: the minimum of J for these y_u\n"
	                  "3. swap pairs of y_u that lower J; repeat 2 and 3 while C* rises to its value",
	          .use = "The classes have the same proportions in the target as in the source.",
	          .cost = "Several fits of svm on all samples.",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = tsvm_fit,
	.predict = kdri_linear_predict,
};
