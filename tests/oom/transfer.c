/* Transfer methods, bridges and what compares data sets, with every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/metrics/metrics.h"
#include "jobs/relate/relate.h"
#include "oom.h"

#include "engine/linear/aligned.h"

#include <stdio.h>
#include <string.h>

static kdr_status advise(kdr_context *ctx)
{
	kdr_mat x[2] = { kdr_mat_from_dense(points, N, D), kdr_mat_from_csr(N, D, rowptr, columns, points) };
	static const char *const names[] = { "a", "b" };
	double nearness[4];
	char advice[2][KDRI_ADVICE_ROOM];
	return kdri_relate_advice(ctx, x, names, 2, NULL, nearness, advice);
}

static kdr_status fit_direct_transfer(kdr_context *ctx)
{
	static const char *const methods[] = { "cocc",          "gfhf",          "llgc",
		                               "svm",           "logreg",        "tsvm",
		                               "self-training", "aligned-ridge", "ot-prototypes" };
	kdr_status st = KDR_OK;
	for (size_t i = 0; i < sizeof methods / sizeof methods[0] && st == KDR_OK; i++) {
		kdr_task tasks[2] = { { .name = "s",
			                .role = KDR_ROLE_SOURCE,
			                .x = kdr_mat_from_dense(points, N, D),
			                .labels = labels_a },
			              { .name = "t",
			                .role = KDR_ROLE_TARGET,
			                .x = kdr_mat_from_csr(N, D, rowptr, columns, points) } };
		kdr_problem problem = {
			.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = K
		};
		kdr_result *result = NULL;
		st = kdr_fit(ctx, methods[i], &problem, NULL, &result);
		kdr_result_free(result);
	}
	return st;
}

/* All classes at once; a row without a class is excluded by a copy. */
static kdr_status fit_joint_logreg(kdr_context *ctx)
{
	static const char *const settings[][2] = { { "joint", "true" }, { NULL, NULL } };
	int64_t known[N];
	memcpy(known, labels_a, sizeof known);
	known[N - 1] = -1;
	kdr_task tasks[2] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = known },
		{ .name = "t",
		  .role = KDR_ROLE_TARGET,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points) },
	};
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = K };
	return fit_set(ctx, "logreg", &problem, settings, NULL);
}

/* Two sources, so that the vote is held without each. */
static kdr_status fit_auto_transfer(kdr_context *ctx)
{
	kdr_task tasks[3] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "s2",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points),
		  .labels = labels_a },
		{ .name = "t",
		  .role = KDR_ROLE_TARGET,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points) },
	};
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 3, .classes = K };
	kdr_result *result = NULL;
	kdr_status st = kdr_fit(ctx, "auto-transfer", &problem, NULL, &result);
	kdr_result_free(result);
	return st;
}

/* One source and one target. */
static kdr_status fit_auto_pair(kdr_context *ctx, const char *const settings[][2])
{
	kdr_task tasks[2] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "t",
		  .role = KDR_ROLE_TARGET,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points) },
	};
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = K };
	return fit_set(ctx, "auto-transfer", &problem, settings, NULL);
}

/* The graphs on landmarks. */
static kdr_status fit_auto_landmarks(kdr_context *ctx)
{
	static const char *const settings[][2] = {
		{ "graph", "landmarks" }, { "landmarks", "9" }, { "follow_shares", "no" }, { NULL, NULL }
	};
	return fit_auto_pair(ctx, settings);
}

/* The members for tables, of which forests allocate often: the gate is in fit_auto_transfer. */
static kdr_status fit_auto_tables(kdr_context *ctx)
{
	static const char *const settings[][2] = { { "tables", "yes" }, { "gate", "no" }, { NULL, NULL } };
	return fit_auto_pair(ctx, settings);
}

/* Source and target of different widths, two views of a bridge between them. */
static kdr_status fit_auto_bridged(kdr_context *ctx)
{
	kdr_mat narrow = kdr_mat_from_dense(points, N, D - 1);
	narrow.as.dense.stride = D;
	kdr_task tasks[4] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "v", .role = KDR_ROLE_BRIDGE, .x = kdr_mat_from_dense(points, N, D) },
		{ .name = "w", .role = KDR_ROLE_BRIDGE, .x = narrow },
		{ .name = "t", .role = KDR_ROLE_TARGET, .x = narrow },
	};
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 4, .classes = K };
	kdr_result *result = NULL;
	kdr_status st = kdr_fit(ctx, "auto-transfer", &problem, NULL, &result);
	kdr_result_free(result);
	return st;
}

/* Directions of some of the rows. */
static kdr_status aligned_by_some(kdr_context *ctx)
{
	kdr_status st = KDR_OK;
	const int64_t begin[] = { 0, N / 3, N };
	for (int sparse = 0; sparse < 2 && st == KDR_OK; sparse++) {
		kdr_mat x = sparse ? kdr_mat_from_csr(N, D, rowptr, columns, points)
		                   : kdr_mat_from_dense(points, N, D);
		const kdri_sets sets = { &x, 2, begin };
		double means[2 * D], *e = NULL;
		st = kdri_sets_means(ctx, &sets, means);
		if (st == KDR_OK)
			st = kdri_aligned_new(ctx, &sets, means, 2, N / 2, &e);
		kdri_free(ctx, e);
	}
	return st;
}

static kdr_status emd(kdr_context *ctx)
{
	kdr_mat x = kdr_mat_from_dense(points, N, D);
	double uniform, proportional;
	return kdr_emd(ctx, &x, labels_a, labels_b, &uniform, &proportional);
}

static kdr_status transport(kdr_context *ctx)
{
	static const double supply[] = { .2, .5, .3 }, demand[] = { .25, .25, .4, .1 };
	double flow[12], total;
	int64_t match[3];
	kdr_status st = kdri_transport(ctx, points, 3, 4, supply, demand, flow, NULL, NULL, &total);
	return st == KDR_OK ? kdri_assign_checked(ctx, points, 3, 4, match, &total) : st;
}

/* A source, two views of a bridge (or one bridge), and a target of which a row is known. */
static kdr_status fit_bridged(kdr_context *ctx, const char *method, int bridges)
{
	int64_t known[N] = { 0 };
	for (int i = 1; i < N; i++)
		known[i] = -1;
	kdr_task tasks[4] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "t",
		  .role = KDR_ROLE_TARGET,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points),
		  .labels = known },
		{ .name = "v",
		  .role = KDR_ROLE_BRIDGE,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points) },
		{ .name = "w", .role = KDR_ROLE_BRIDGE, .x = kdr_mat_from_dense(points, N, D) },
	};
	kdr_problem problem = {
		.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 + bridges, .classes = K
	};
	const char *const settings[][2] = { { "n_init", "2" }, { "max_iter", "2" }, { NULL, NULL } };
	return fit_set(ctx, method, &problem, settings, NULL);
}

static kdr_status fit_ttl(kdr_context *ctx)
{
	kdr_status st = fit_bridged(ctx, "ttl", 1);
	return st == KDR_OK ? fit_bridged(ctx, "ttl", 2) : st;
}

static kdr_status fit_nmtf(kdr_context *ctx)
{
	return fit_bridged(ctx, "nmtf", 1);
}

static kdr_status relate(kdr_context *ctx)
{
	kdr_mat x[3] = { kdr_mat_from_dense(points, N, D),
		         kdr_mat_from_csr(N / 2, D, rowptr, columns, points),
		         kdr_mat_from_dense(points + (size_t)5 * D, N - 5, D) };
	kdri_relate_task tasks[3];
	kdri_relate_pair pairs[3];
	kdr_relate_options o;
	kdr_relate_options_init(&o);
	o.most_rows = 10;
	return kdri_relate_matrices(ctx, x, 3, &o, tasks, pairs);
}

static kdr_status select_bridge(kdr_context *ctx)
{
	kdr_mat x[3] = { kdr_mat_from_dense(points, N, D), kdr_mat_from_csr(N, D, rowptr, columns, points),
		         kdr_mat_from_dense(points, N, D) };
	const double six[2 * KDR_BRIDGE_FEATURES] = { 1, 2, 3, 4, 5, 6, 2, 2, 4, 3, 5, 1 };
	const int helps[2] = { 0, 1 };
	kdr_selector s = { .triples = 0 };
	kdri_bridge_candidate c = { x[1], x[1] };
	kdri_bridge_score score;
	kdr_status st = kdri_selector_fit(ctx, six, helps, 2, 0.1, &s);
	if (st == KDR_OK)
		st = kdr_selector_save(ctx, file("selector.json"), &s, true);
	if (st == KDR_OK)
		st = kdr_selector_load(ctx, file("selector.json"), &s);
	if (st == KDR_OK)
		st = kdri_bridge_rank(ctx, &x[0], &x[2], &c, 1, &s, NULL, &score);
	return st;
}

/* Samples to label next, with the columns of their file, and a class given back. */
static kdr_status labelling(kdr_context *ctx)
{
	kdr_data *source = NULL, *target = NULL;
	kdr_options *settings = NULL;
	kdr_result *r = NULL;
	char answers[512];
	snprintf(answers, sizeof answers, "%s", file("answers.csv"));
	const char *known[] = { answers };
	kdr_job_options o;
	FILE *f = fopen(answers, "w");
	if (!f || fputs("row,id,class\n2,2,green\n3,3,\n", f) < 0 || fclose(f) != 0)
		return KDR_ERR_WRITE;
	kdr_status st = kdr_read(ctx, file("a.csv"), NULL, &source);
	if (st == KDR_OK)
		st = kdr_data_read_labels(ctx, source, file("a.labels"));
	if (st == KDR_OK)
		st = kdr_read(ctx, file("a.csv"), NULL, &target);
	if (st == KDR_OK)
		st = kdr_options_new(ctx, "auto-transfer", &settings);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, settings, "member", "svm");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, settings, "ask", "2");
	kdr_transfer_sets sets = { .size = sizeof(kdr_transfer_sets),
		                   .sources = &source,
		                   .nsources = 1,
		                   .targets = &target,
		                   .ntargets = 1 };
	kdr_job_options_init(&o);
	o.method = "auto-transfer";
	o.settings = settings;
	o.known_files = known;
	o.nknown_files = 1;
	if (st == KDR_OK)
		st = kdr_transfer(ctx, &sets, &o, &r);
	if (st == KDR_OK)
		st = kdr_result_write_table(ctx, r, KDR_TABLE_ASK, 1, file("ask.csv"), true);
	if (st == KDR_OK)
		st = kdr_result_write(ctx, r, file("asked.json"), true);
	kdr_result_free(r);
	kdr_options_free(settings);
	kdr_data_free(source);
	kdr_data_free(target);
	return st;
}

const oom_scenario oom_transfer[] = {
	{ "labelling", labelling, 1 },
	{ "advise", advise, 1 },
	{ "fit_direct_transfer", fit_direct_transfer, 1 },
	{ "fit_joint_logreg", fit_joint_logreg, 1 },
	{ "fit_auto_transfer", fit_auto_transfer, 29 },
	{ "fit_auto_tables", fit_auto_tables, 97 },
	{ "fit_auto_landmarks", fit_auto_landmarks, 9 },
	{ "fit_auto_bridged", fit_auto_bridged, 3 },
	{ "fit_ttl", fit_ttl, 1 },
	{ "fit_nmtf", fit_nmtf, 1 },
	{ "relate", relate, 1 },
	{ "select_bridge", select_bridge, 1 },
	{ "aligned_by_some", aligned_by_some, 1 },
	{ "emd", emd, 1 },
	{ "transport", transport, 1 },
	{ NULL, NULL, 0 },
};
