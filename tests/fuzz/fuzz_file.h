/* Any bytes as a file of a format: either a sound data set comes out, or a status with a reason.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_FUZZ_FILE_H
#define KDRI_TESTS_FUZZ_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a file, in memory where the system lets us; the same name each time. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	if (!path[0])
		snprintf(path, sizeof path, "%s/kindred-fuzz-%ld",
		         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		exit(1);
	return path;
}

#define FUZZ_CHECK(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

/* What every reader promises of a data set. */
static inline void fuzz_check_data(const kdr_data *d)
{
	FUZZ_CHECK(d->rows > 0 && d->cols > 0);
	if (d->kind == KDR_MAT_DENSE) {
		double sum = 0;
		for (int64_t i = 0; i < d->rows * d->cols; i++)
			sum += d->dense[i];
		FUZZ_CHECK(sum == sum || sum != sum); /* every entry was there to be read */
	} else {
		FUZZ_CHECK(d->rowptr[0] == 0);
		for (int64_t i = 0; i < d->rows; i++)
			for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++) {
				FUZZ_CHECK(d->col[p] >= 0 && d->col[p] < d->cols);
				FUZZ_CHECK(p == d->rowptr[i] || d->col[p] > d->col[p - 1]);
			}
	}
	for (int64_t j = 0; d->features && j < d->cols; j++)
		FUZZ_CHECK(strlen(d->features[j]) < SIZE_MAX);
	for (int64_t i = 0; d->ids && i < d->rows; i++)
		FUZZ_CHECK(strlen(d->ids[i]) < SIZE_MAX);
	for (int64_t i = 0; d->labels && i < d->rows; i++)
		FUZZ_CHECK(d->labels[i] >= -1 && d->labels[i] < d->nclasses);
	for (int64_t i = 0; d->groups.of && i < d->rows; i++)
		FUZZ_CHECK(d->groups.of[i] >= -1 && d->groups.of[i] < d->groups.count);
}

static inline int fuzz_format(const kdri_format *format, const kdr_read_options *options,
                              const uint8_t *bytes, size_t size)
{
	kdr_context *ctx = NULL;
	kdr_data *data = NULL;
	const char *path = fuzz_file(bytes, size);
	if (kdr_context_new(&ctx, NULL) != KDR_OK || kdri_data_new(ctx, "fuzz", path, &data) != KDR_OK)
		exit(1);
	kdr_status st = format->read(ctx, path, options, data);
	if (st == KDR_OK)
		fuzz_check_data(data);
	else
		FUZZ_CHECK(kdr_context_error(ctx)[0]);
	kdr_data_free(data);
	kdr_context_free(ctx);
	unlink(path);
	return 0;
}

#endif
