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

/* With a limit that is not reached. The context is the caller's, so the limit is removed at the end. */
static kdr_status limited(kdr_context *ctx)
{
	const kdr_task task = { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K };
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	kdr_result *fitted = NULL;
	kdr_context_set_max_memory(ctx, 1e9);
	kdr_status st = kdr_fit(ctx, "kmeans", &problem, NULL, &fitted);
	kdr_result_free(fitted);
	kdr_context_set_max_memory(ctx, 0);
	return st;
}

const oom_scenario oom_stream[] = {
	{ "limit", limited, 1 },
	{ "stream", streamed, 1 },
	{ NULL, NULL, 0 },
};
