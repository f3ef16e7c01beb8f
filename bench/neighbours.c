/* Where the descent of knn_descent.c overtakes looking at all pairs. SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: neighbours K THREADS FILE...
 *
 * The K nearest neighbours by cosine of every row of each file (sparse ones as tfidf, rows of length 1): seconds of the clock and of the
 * processor from all pairs and by descent, the multiplications that all pairs take (kdri_knn_products), and the share of true
 * neighbours that the descent finds. OMP_NUM_THREADS=1 where THREADS is 1. */
#include "core/internal.h"
#include "engine/graph/knn.h"

#include <kindred/kindred.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double clock_of(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static kdr_status look(kdr_context *ctx, const char *path, int64_t k)
{
	kdr_status st;
	kdr_data *data = NULL;
	kdri_knn all = { 0 }, near = { 0 };
	double products, recall, wall[3], cpu[3];
	kdr_prep_options prep;
	KDRI_TRY(kdr_read(ctx, path, NULL, &data));
	kdr_mat x = kdr_data_mat(data);
	kdr_prep_options_init(&prep);
	if (x.kind == KDR_MAT_CSR) {
		prep.weight = KDR_WEIGHT_TFIDF;
		prep.norm = KDR_NORM_L2;
		KDRI_TRY(kdr_prepare(ctx, &data, 1, &prep, NULL));
		x = kdr_data_mat(data);
	}
	KDRI_TRY(kdri_knn_products(ctx, &x, &products));
	wall[0] = clock_of(CLOCK_MONOTONIC), cpu[0] = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	KDRI_TRY(kdri_knn_find(ctx, &x, k, KDRI_METRIC_COSINE, &all));
	wall[1] = clock_of(CLOCK_MONOTONIC), cpu[1] = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	KDRI_TRY(kdri_knn_descent(ctx, &x, k, KDRI_METRIC_COSINE, NULL, &near, &recall));
	wall[2] = clock_of(CLOCK_MONOTONIC), cpu[2] = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	printf("%s: %lld x %lld, %.3g entries, %.3g products; all pairs %.2f s (%.2f), descent %.2f s (%.2f), recall %.3f\n",
	       path, (long long)kdr_mat_rows(&x), (long long)kdr_mat_cols(&x), (double)kdr_mat_nnz(&x),
	       products, wall[1] - wall[0], cpu[1] - cpu[0], wall[2] - wall[1], cpu[2] - cpu[1], recall);
	fflush(stdout);
done:
	kdri_knn_free(ctx, &all);
	kdri_knn_free(ctx, &near);
	kdr_data_free(data);
	return st;
}

int main(int argc, char **argv)
{
	kdr_context *ctx = NULL;
	if (argc < 4) {
		fprintf(stderr, "usage: neighbours K THREADS FILE...\n");
		return 2;
	}
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st == KDR_OK)
		kdr_context_set_threads(ctx, (int)strtol(argv[2], NULL, 10));
	for (int i = 3; i < argc && st == KDR_OK; i++)
		st = look(ctx, argv[i], strtol(argv[1], NULL, 10));
	if (st != KDR_OK)
		fprintf(stderr, "neighbours: %s\n", kdr_context_error(ctx));
	kdr_context_free(ctx);
	return st != KDR_OK;
}
