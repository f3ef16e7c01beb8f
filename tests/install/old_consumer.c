/* A program that was compiled with other headers than the library. SPDX-License-Identifier: BSD-3-Clause
 *
 * Its option structs end earlier (an older header) or later (a newer one) than the library's. What lies behind a shorter struct
 * is filled with a pattern: a library that read it would see nonsense, and one that wrote there would change it. */
#include <kindred/kindred.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;

static void expect(bool ok, const char *what, kdr_context *ctx)
{
	if (ok)
		return;
	fprintf(stderr, "old_consumer: %s: %s\n", what, kdr_context_error(ctx));
	failed = 1;
}

/* kdr_job_options up to k. */
typedef struct old_job_options {
	size_t size;
	const char *method;
	const kdr_options *settings;
	const kdr_prep_options *prep;
	kdr_prep_choice choice;
	const char *features_from;
	const kdr_options *feature_settings;
	bool score, map, pooled, quality;
	int64_t k;
} old_job_options;

/* kdr_prep_options up to norm. */
typedef struct old_prep_options {
	size_t size;
	kdr_align align;
	kdr_weight weight;
	kdr_norm norm;
} old_prep_options;

/* A later version with another member. */
typedef struct new_job_options {
	kdr_job_options known;
	const char *addition;
} new_job_options;

enum { GUARD = 256 };
typedef struct guarded {
	union {
		old_job_options job;
		old_prep_options prep;
	} as;
	unsigned char guard[GUARD];
} guarded;

/* The bytes from the end of the struct on. */
static void fill_guard(guarded *g, size_t size)
{
	memset((unsigned char *)g + size, 0xab, sizeof *g - size);
}

static bool guard_is_whole(const guarded *g, size_t size)
{
	for (size_t i = size; i < sizeof *g; i++)
		if (((const unsigned char *)g)[i] != 0xab)
			return false;
	return true;
}

int main(void)
{
	const double values[] = { 0, 0, 0, 1, 1, 0, 9, 9, 9, 8, 8, 9 };
	const kdr_mat x = kdr_mat_from_dense(values, 6, 2);
	kdr_context *ctx = NULL;
	kdr_data *data = NULL;
	kdr_result *result = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK || kdr_data_new(ctx, "a", &x, NULL, &data) != KDR_OK)
		return 1;

	guarded job = { 0 }, prep = { 0 };
	prep.as.prep = (old_prep_options){ .size = sizeof prep.as.prep, .norm = KDR_NORM_L1 };
	fill_guard(&prep, sizeof prep.as.prep);
	job.as.job = (old_job_options){ .size = sizeof job.as.job, .method = "kmeans", .k = 2 };
	job.as.job.prep = (const kdr_prep_options *)(const void *)&prep;
	fill_guard(&job, sizeof job.as.job);
	expect(kdr_cluster(ctx, &data, 1, (const kdr_job_options *)(const void *)&job, &result) == KDR_OK,
	       "shorter options are refused", ctx);
	expect(kdr_result_k(result, 0) == 2, "a member of shorter options is lost", ctx);
	expect(guard_is_whole(&job, sizeof job.as.job) && guard_is_whole(&prep, sizeof prep.as.prep),
	       "the library wrote behind shorter options", ctx);
	kdr_result_free(result);
	result = NULL;

	new_job_options later = { .known = { .size = sizeof later, .method = "kmeans", .k = 2 } };
	expect(kdr_cluster(ctx, &data, 1, &later.known, &result) == KDR_OK, "longer options are refused",
	       ctx);
	kdr_result_free(result);
	result = NULL;
	later.addition = "x";
	expect(kdr_cluster(ctx, &data, 1, &later.known, &result) == KDR_ERR_ARGUMENT && !result,
	       "an unknown member is ignored", ctx);
	expect(strstr(kdr_context_error(ctx), "kdr_job_options") != NULL,
	       "the message does not name the struct", ctx);

	kdr_job_options unset = { .method = "kmeans", .k = 2 };
	expect(kdr_cluster(ctx, &data, 1, &unset, &result) == KDR_ERR_ARGUMENT, "options without a size pass",
	       ctx);
	memset(&unset, 0xab, sizeof unset); /* never set at all */
	expect(kdr_cluster(ctx, &data, 1, &unset, &result) == KDR_ERR_ARGUMENT, "options of nonsense pass",
	       ctx);

	kdr_data_free(data);
	kdr_context_free(ctx);
	return failed;
}
