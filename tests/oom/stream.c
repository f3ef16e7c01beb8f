/* Data sets that stay on disk, with every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause */
#include "oom.h"

enum { LONG = 4000, WIDE = 3 };

static kdr_status written(kdr_context *ctx, const char *path)
{
	static double x[LONG * WIDE];
	kdr_data *d = NULL;
	for (int i = 0; i < LONG * WIDE; i++)
		x[i] = i * 37 % 101;
	const kdr_mat m = kdr_mat_from_dense(x, LONG, WIDE);
	kdr_status st = kdr_data_new(ctx, "x", &m, NULL, &d);
	if (st == KDR_OK)
		st = kdr_write(ctx, path, NULL, d, true);
	kdr_data_free(d);
	return st;
}

/* A mapped file, and one of another format in a scratch file, preprocessed. */
static kdr_status streamed(kdr_context *ctx)
{
	const char *const paths[2] = { file("s.npy"), file("s.mtx") };
	kdr_data *sets[2] = { NULL, NULL }, *view = NULL;
	const kdr_read_options reading = { .size = sizeof(kdr_read_options), .stream = KDR_STREAM_YES };
	const kdr_prep_options prep = { .size = sizeof(kdr_prep_options), .norm = KDR_NORM_L2 };
	kdr_status st = KDR_OK;
	for (int i = 0; i < 2 && st == KDR_OK; i++) {
		st = written(ctx, paths[i]);
		if (st == KDR_OK)
			st = kdr_read(ctx, paths[i], &reading, &sets[i]);
	}
	if (st == KDR_OK)
		st = kdr_data_view(ctx, sets[0], "view", &view);
	if (st == KDR_OK)
		st = kdr_prepare(ctx, sets, 2, &prep, NULL);
	kdr_data_free(view);
	kdr_data_free(sets[0]);
	kdr_data_free(sets[1]);
	return st;
}

/* From sizes alone; ensembles need options of their members. */
static kdr_status estimated(kdr_context *ctx)
{
	const kdr_task_shape shape = { .rows = 1000, .cols = 20, .dense = true, .k = 3 },
	                     two[2] = { { .rows = 100, .cols = 20, .dense = true, .role = KDR_ROLE_SOURCE },
		                        { .rows = 100, .cols = 20, .dense = true, .role = KDR_ROLE_TARGET } };
	kdr_estimate e;
	kdr_status st = kdr_estimate_bytes(ctx, "auto", &shape, 1, 0, false, NULL, &e);
	if (st == KDR_OK)
		st = kdr_estimate_bytes(ctx, "auto-transfer", two, 2, 3, false, NULL, &e);
	return st;
}

/* Of jobs that fit nothing. */
static kdr_status estimated_jobs(kdr_context *ctx)
{
	const kdr_task_shape shape = { .rows = 1000, .cols = 20, .dense = true }, both[2] = { shape, shape };
	const kdr_task task = { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K };
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	const kdr_corpus corpus = { .path = file("a.csv"), .kind = KDR_CORPUS_LINES };
	kdr_estimate e;
	kdr_result *fitted = NULL;
	kdr_model *model = NULL;
	kdr_status st = kdr_estimate_bytes_job(ctx, "relate", NULL, both, 2, &e);
	if (st == KDR_OK)
		st = kdr_estimate_bytes_job(ctx, "embed", NULL, both, 2, &e);
	if (st == KDR_OK)
		st = kdr_estimate_bytes_vectorize(ctx, &corpus, 1, NULL, &e);
	if (st == KDR_OK)
		st = kdr_fit(ctx, "kmeans", &problem, NULL, &fitted);
	if (st == KDR_OK)
		st = kdr_model_new(ctx, fitted, &model);
	if (st == KDR_OK)
		st = kdr_estimate_bytes_job(ctx, "predict", model, &shape, 1, &e);
	kdr_model_free(model);
	kdr_result_free(fitted);
	return st;
}

const oom_scenario oom_stream[] = {
	{ "estimate", estimated, 1 },
	{ "estimate jobs", estimated_jobs, 1 },
	{ "stream", streamed, 1 },
	{ NULL, NULL, 0 },
};
