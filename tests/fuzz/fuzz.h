/* What fuzz targets of readers share: a reader either fails with a line, or its data set is sound.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_FUZZ_H
#define KDRI_FUZZ_H

#include <stdlib.h>

#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static inline kdr_context *fuzz_context(void)
{
	kdr_context *ctx = NULL;
	FUZZ_CHECK(kdr_context_new(&ctx, NULL) == KDR_OK);
	kdr_context_set_threads(ctx, 1);
	return ctx;
}

/* The bytes as an input; false if they are compressed and this build has no zlib, which must be reported. */
static inline bool fuzz_open(kdr_context *ctx, const uint8_t *data, size_t size, kdri_input **in)
{
	kdr_status st = kdri_input_from_memory(ctx, data, size, "fuzz", in);
	if (st == KDR_ERR_UNSUPPORTED && !kdr_build_has("zlib")) {
		FUZZ_CHECK(kdr_context_error(ctx)[0]);
		return false;
	}
	FUZZ_CHECK(st == KDR_OK);
	return true;
}

static inline void fuzz_check_strings(char *const *strings, int64_t count)
{
	for (int64_t i = 0; strings && i < count; i++)
		FUZZ_CHECK(strings[i] && strlen(strings[i]) < (size_t)1 << 40);
}

static inline void fuzz_check_data(kdr_context *ctx, kdr_status st, const kdr_data *d)
{
	if (st != KDR_OK) {
		FUZZ_CHECK(kdr_context_error(ctx)[0]);
		return;
	}
	FUZZ_CHECK(d->rows >= 1 && d->cols >= 1);
	if (d->kind == KDR_MAT_DENSE) {
		for (int64_t i = 0; i < d->rows * d->cols; i++)
			FUZZ_CHECK(isfinite(d->dense[i]));
	} else {
		FUZZ_CHECK(d->rowptr[0] == 0);
		for (int64_t i = 0; i < d->rows; i++) {
			FUZZ_CHECK(d->rowptr[i] <= d->rowptr[i + 1]);
			for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
				FUZZ_CHECK(d->col[p] >= 0 && d->col[p] < d->cols && isfinite(d->val[p]) &&
				           d->val[p] != 0 &&
				           (p == d->rowptr[i] || d->col[p - 1] < d->col[p]));
		}
	}
	fuzz_check_strings(d->features, d->cols);
	fuzz_check_strings(d->ids, d->rows);
	fuzz_check_strings(d->classes, d->nclasses);
	for (int64_t i = 0; d->labels && i < d->rows; i++)
		FUZZ_CHECK(d->labels[i] >= -1 && d->labels[i] < d->nclasses);
}

#endif
