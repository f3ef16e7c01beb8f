/* Work on a device, the stand-in, with every allocation failed in turn: the caller's, the device's, and those of its
 * operations. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/device_use.h"
#include "oom.h"
#include "tests/device/standin.h"

static kdr_status fit_there(kdr_context *ctx, const char *method, const kdr_problem *problem,
                            const char *const (*settings)[2])
{
	kdri_device *device = NULL;
	kdr_status st = standin_new(ctx, NULL, &device);
	if (st != KDR_OK)
		return st;
	kdri_device_use(ctx, device);
	st = fit_set(ctx, method, problem, settings, NULL);
	kdri_device_use(ctx, NULL);
	device->close(device);
	return st;
}

static kdr_status on_device(kdr_context *ctx, const char *method, kdr_mat x, const char *const (*settings)[2])
{
	kdr_task tasks[2] = { { .name = "a", .x = x, .k = K }, { .name = "b", .x = x, .k = 2 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	return fit_there(ctx, method, &problem, settings);
}

static const char *const none[][2] = { { NULL, NULL } };
static const char *const few[][2] = { { "n_init", "2" }, { "max_iter", "3" }, { NULL, NULL } };

static kdr_status kmeans_there(kdr_context *ctx)
{
	return on_device(ctx, "kmeans", kdr_mat_from_dense(points, N, D), few);
}

static kdr_status kmeans_sparse_there(kdr_context *ctx)
{
	return on_device(ctx, "kmeans", kdr_mat_from_csr(N, D, rowptr, columns, points), few);
}

static kdr_status mtcfir_there(kdr_context *ctx)
{
	return on_device(ctx, "mtcfir", kdr_mat_from_dense(points, N, D), few);
}

static kdr_status mtcfir_sparse_there(kdr_context *ctx)
{
	return on_device(ctx, "mtcfir", kdr_mat_from_csr(N, D, rowptr, columns, points), few);
}

static kdr_status snmf_there(kdr_context *ctx)
{
	return on_device(ctx, "snmf", kdr_mat_from_csr(N, D, rowptr, columns, points), few);
}

static kdr_status msda_there(kdr_context *ctx)
{
	return on_device(ctx, "msda", kdr_mat_from_dense(points, N, D), none);
}

static kdr_status ncut_there(kdr_context *ctx)
{
	static const char *const neighbours[][2] = { { "neighbors", "5" }, { NULL, NULL } };
	return on_device(ctx, "ncut", kdr_mat_from_dense(points, N, D), neighbours);
}

static kdr_status ncut_sparse_there(kdr_context *ctx)
{
	static const char *const neighbours[][2] = { { "neighbors", "5" }, { NULL, NULL } };
	return on_device(ctx, "ncut", kdr_mat_from_csr(N, D, rowptr, columns, points), neighbours);
}

/* Products of what a device holds, sparse. */
static kdr_status transfer_there(kdr_context *ctx, const char *method, const char *const (*settings)[2])
{
	kdr_mat x = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_task tasks[2] = { { .name = "s", .role = KDR_ROLE_SOURCE, .x = x, .labels = labels_a },
		              { .name = "t", .role = KDR_ROLE_TARGET, .x = x } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = K };
	return fit_there(ctx, method, &problem, settings);
}

static kdr_status nmtf_there(kdr_context *ctx)
{
	static const char *const settings[][2] = {
		{ "p1", "2" }, { "p2", "1" }, { "max_iter", "2" }, { "init", "half" }, { NULL, NULL }
	};
	return transfer_there(ctx, "nmtf", settings);
}

static kdr_status aligned_there(kdr_context *ctx)
{
	return transfer_there(ctx, "aligned-ridge", none);
}

const oom_scenario oom_device[] = {
	{ "kmeans on a device", kmeans_there, 1 },
	{ "kmeans on a device, sparse", kmeans_sparse_there, 1 },
	{ "mtcfir on a device", mtcfir_there, 3 },
	{ "mtcfir on a device, sparse", mtcfir_sparse_there, 3 },
	{ "snmf on a device", snmf_there, 1 },
	{ "msda on a device", msda_there, 1 },
	{ "ncut, neighbours on a device", ncut_there, 1 },
	{ "ncut, neighbours on a device, sparse", ncut_sparse_there, 1 },
	{ "nmtf, products on a device", nmtf_there, 1 },
	{ "aligned-ridge, directions on a device", aligned_there, 1 },
	{ NULL, NULL, 0 },
};
