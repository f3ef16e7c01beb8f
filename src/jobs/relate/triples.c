/* A selection model from labelled data sets. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every ordered triple (s, i, t) of the sets is tried: labels of s are spread over a graph of nearest neighbours, once on s and t, once on
 * s, i and t. The bridge helps [TSZY15, section 5.4.2] if
 *
 *   (E1)  accuracy(s, i, t) > 1.03 accuracy(s, t).
 *
 * DEVIATION: the paper joins all samples with a Gaussian, on which labels collapse to one class; here each is joined to its 20
 * nearest. */
#include "api/method.h"
#include "jobs/relate/relate.h"
#include "kindred/bridge.h"

static const double margin = 1.03, ridge = 1e-3;
enum { NEIGHBOURS = 20, P = KDR_BRIDGE_FEATURES };

typedef struct sets {
	const kdr_mat *x;
	const int64_t *const *labels;
	int64_t count, classes;
	kdr_options *options; /* of the method that spreads labels */
} sets;

/* Proportion of the target's rows that get their class; bridge < 0: none. */
static kdr_status accuracy(kdr_context *ctx, const sets *d, int64_t source, int64_t bridge, int64_t target,
                           double *out)
{
	kdr_status st;
	kdr_result *result = NULL;
	kdr_task tasks[3] = {
		{ .name = "source", .role = KDR_ROLE_SOURCE, .x = d->x[source], .labels = d->labels[source] },
		{ .name = "target", .role = KDR_ROLE_TARGET, .x = d->x[target] },
		{ .name = "bridge", .role = KDR_ROLE_BRIDGE },
	};
	if (bridge >= 0)
		tasks[2].x = d->x[bridge];
	const kdr_problem problem = { .tasks = tasks, .ntasks = bridge >= 0 ? 3 : 2, .classes = d->classes };
	KDRI_TRY(kdri_fit(ctx, &problem, d->options, &result));
	int64_t n, right = 0, known = 0;
	const int64_t *labels = kdr_result_labels(result, 1, &n);
	for (int64_t i = 0; i < n; i++) {
		known += d->labels[target][i] >= 0;
		right += d->labels[target][i] >= 0 && labels[i] == d->labels[target][i];
	}
	*out = known > 0 ? (double)right / (double)known : 0;
done:
	kdr_result_free(result);
	return st;
}

static double triples_distance(const kdri_relate_pair *pairs, int64_t a, int64_t b)
{
	int64_t low = KDRI_MIN(a, b), high = KDRI_MAX(a, b);
	double d = pairs[high * (high - 1) / 2 + low].a_distance;
	return isnan(d) ? 2 : d;
}

static kdr_status try_all(kdr_context *ctx, const sets *d, const kdri_relate_task *tasks,
                          const kdri_relate_pair *pairs, double *features, int *helps)
{
	int64_t n = d->count, at = 0;
	for (int64_t s = 0; s < n; s++)
		for (int64_t t = 0; t < n; t++) {
			double without, with;
			if (s == t)
				continue;
			KDRI_DO(accuracy(ctx, d, s, -1, t, &without));
			for (int64_t i = 0; i < n; i++) {
				if (i == s || i == t)
					continue;
				const double six[P] = {
					tasks[s].complexity,           tasks[i].complexity,
					tasks[t].complexity,           triples_distance(pairs, s, i),
					triples_distance(pairs, s, t), triples_distance(pairs, i, t)
				};
				KDRI_DO(accuracy(ctx, d, s, i, t, &with));
				memcpy(features + at * P, six, sizeof six);
				helps[at++] = with > margin * without; /* (E1) */
			}
		}
	return KDR_OK;
}

kdr_status kdri_selector_train(kdr_context *ctx, const kdr_mat *x, const int64_t *const *labels,
                               int64_t count, int64_t classes, const kdr_relate_options *options,
                               kdr_selector *out)
{
	kdr_status st;
	kdr_relate_options o;
	kdri_relate_task *tasks = NULL;
	kdri_relate_pair *pairs = NULL;
	double *features = NULL;
	int *helps = NULL;
	sets d = { .x = x, .labels = labels, .count = count, .classes = classes };
	if (!ctx || !x || !labels || !out || count < 3)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "selection model: %lld labelled data sets; at least three are needed",
		                 (long long)count);
	int64_t triples = count * (count - 1) * (count - 2);
	o = kdri_relate_resolve(options);
	o.no_mmd = true;
	KDRI_TRY(KDRI_NEW(ctx, &tasks, count));
	KDRI_TRY(KDRI_NEW(ctx, &pairs, count * (count - 1) / 2));
	KDRI_TRY(KDRI_NEW(ctx, &features, triples * P));
	KDRI_TRY(KDRI_NEW(ctx, &helps, triples));
	KDRI_TRY(kdr_options_new(ctx, "gfhf", &d.options));
	KDRI_TRY(kdr_options_set_number(ctx, d.options, "neighbors", NEIGHBOURS));
	KDRI_TRY(kdri_relate_matrices(ctx, x, count, &o, tasks, pairs));
	KDRI_TRY(try_all(ctx, &d, tasks, pairs, features, helps));
	KDRI_TRY(kdri_selector_fit(ctx, features, helps, triples, ridge, out));
done:
	KDRI_FREE(ctx, tasks, pairs, features, helps);
	kdr_options_free(d.options);
	return st;
}
