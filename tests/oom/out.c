/* What comes out of jobs besides labels: tables, quality, probabilities. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/job.h"
#include "oom.h"

#include <stddef.h>

static kdr_status make(kdr_context *ctx, const char *name, kdr_data **out)
{
	static const char *const features[] = { "x", "y", "z" }, *const classes[] = { "p", "q", "r" };
	kdr_mat x = kdr_mat_from_dense(points, N, D);
	kdr_status st = kdr_data_new(ctx, name, &x, features, out);
	return st == KDR_OK ? kdr_data_set_labels(ctx, *out, labels_a, classes, K) : st;
}

static bool take(void *user, const char *text, size_t length)
{
	(void)text;
	*(size_t *)user += length;
	return true;
}

/* Every table of the last task. */
static kdr_status tables(kdr_context *ctx, const kdr_result *r)
{
	int64_t last = kdr_result_ntasks(r) - 1, classes;
	char *text = NULL;
	kdr_status st = kdr_result_write_table(ctx, r, KDR_TABLE_SAMPLES, last, file("s.csv"), true);
	if (st == KDR_OK)
		st = kdr_result_write_table(ctx, r, KDR_TABLE_FEATURES, 0, file("f.csv"), true);
	if (st == KDR_OK && kdr_result_probabilities(r, last, &classes))
		st = kdr_result_write_table(ctx, r, KDR_TABLE_PROBABILITIES, last, file("p.csv"), true);
	if (st == KDR_OK)
		st = kdr_result_json(ctx, r, true, &text, NULL);
	kdr_free(ctx, text);
	size_t length = 0;
	if (st == KDR_OK)
		st = kdr_result_put(ctx, r, take, &length);
	if (st == KDR_OK)
		st = kdr_result_write(ctx, r, file("r.json"), true);
	if (st == KDR_OK)
		st = kdr_result_write_table(ctx, r, KDR_TABLE_LABELS, last, file("l"), true);
	if (st == KDR_OK && kdr_result_array_count(r) > 0)
		st = kdr_result_write_table(ctx, r, KDR_TABLE_ARRAY, 0, file("a.npy"), true);
	return st;
}

static kdr_status quality(kdr_context *ctx)
{
	kdr_data *data = NULL;
	kdr_result *r = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = K;
	o.quality = true;
	o.resamples = 1;
	kdr_status st = make(ctx, "a", &data);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, &data, 1, &o, &r);
	if (st == KDR_OK)
		st = tables(ctx, r);
	kdr_result_free(r);
	kdr_data_free(data);
	return st;
}

static kdr_status stability(kdr_context *ctx)
{
	kdr_data *data = NULL;
	kdr_job_options o;
	const int64_t *labels = labels_a;
	int64_t resamples = 1;
	double found;
	kdr_mat sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_quality q;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	kdr_status st = kdr_quality_find(ctx, &sparse, labels_b, &q);
	if (st == KDR_OK)
		st = make(ctx, "a", &data);
	if (st == KDR_OK)
		st = kdr_stability(ctx, &data, 1, &labels, &o, &resamples, &found);
	kdr_data_free(data);
	return st;
}

static kdr_status probabilities(kdr_context *ctx)
{
	kdr_data *source = NULL, *target = NULL;
	kdr_result *r = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "logreg";
	o.probabilities = true;
	kdr_status st = make(ctx, "source", &source);
	if (st == KDR_OK)
		st = make(ctx, "target", &target);
	const kdr_transfer_sets sets = { .size = sizeof(kdr_transfer_sets),
		                         .sources = &source,
		                         .nsources = 1,
		                         .targets = &target,
		                         .ntargets = 1 };
	if (st == KDR_OK)
		st = kdr_transfer(ctx, &sets, &o, &r);
	if (st == KDR_OK)
		st = tables(ctx, r);
	kdr_result_free(r);
	kdr_data_free(source);
	kdr_data_free(target);
	return st;
}

const oom_scenario oom_out[] = {
	{ "quality", quality, 1 },
	{ "stability", stability, 1 },
	{ "probabilities", probabilities, 1 },
	{ NULL, NULL, 0 },
};
