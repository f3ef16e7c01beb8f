/* Small data sets for the tests of preprocessing. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_PREP_DATA_H
#define KDRI_TESTS_PREP_DATA_H

#include "tests/unit/unit.h"

/* A dense data set; `names` is a string such as "x y z", or NULL. */
static inline kdr_data *dense_data(kdr_context *ctx, const char *name, int64_t rows, int64_t cols,
                                   const double *x, const char *names)
{
	kdr_data *d = NULL;
	kdr_mat m = kdr_mat_from_dense(x, rows, cols);
	char text[256] = "", *p = text;
	const char *list[64] = { NULL };
	if (names) {
		snprintf(text, sizeof text, "%s", names);
		for (int64_t j = 0; j < cols; j++) {
			list[j] = p;
			p += strcspn(p, " ");
			if (*p)
				*p++ = '\0';
		}
	}
	assert_ok(ctx, kdr_data_new(ctx, name, &m, names ? list : NULL, &d));
	return d;
}

/* The same as compressed rows, without zeros. */
static inline kdr_data *sparse_copy(kdr_context *ctx, const kdr_data *d)
{
	int64_t rows = d->rows, cols = d->cols, n = 0;
	int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);
	int32_t *col = malloc((size_t)(rows * cols + 1) * sizeof *col);
	double *val = malloc((size_t)(rows * cols + 1) * sizeof *val);
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < cols; j++)
			if (d->dense[i * cols + j] != 0) {
				col[n] = (int32_t)j;
				val[n++] = d->dense[i * cols + j];
			}
		ptr[i + 1] = n;
	}
	kdr_mat m = kdr_mat_from_csr(rows, cols, ptr, col, val);
	kdr_data *out = NULL;
	assert_ok(ctx, kdr_data_new(ctx, d->name, &m, kdr_data_features(d), &out));
	free(ptr);
	free(col);
	free(val);
	return out;
}

static inline double entry(const kdr_data *d, int64_t i, int64_t j)
{
	if (d->kind == KDR_MAT_DENSE)
		return d->dense[i * d->cols + j];
	for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
		if (d->col[p] == j)
			return d->val[p];
	return 0;
}

/* Same shape, names and values, whatever the storage; and a well-formed matrix. */
static inline void assert_same_data(const kdr_data *a, const kdr_data *b, double tol)
{
	assert_int_equal(a->rows, b->rows);
	assert_int_equal(a->cols, b->cols);
	assert_int_equal(!a->features, !b->features);
	for (int64_t j = 0; j < a->cols && a->features; j++)
		assert_string_equal(a->features[j], b->features[j]);
	for (int64_t i = 0; i < a->rows; i++) {
		for (int64_t j = 0; j < a->cols; j++)
			assert_near(entry(a, i, j), entry(b, i, j), tol);
		for (int64_t p = a->kind == KDR_MAT_CSR ? a->rowptr[i] : 0;
		     a->kind == KDR_MAT_CSR && p < a->rowptr[i + 1]; p++)
			assert_true(a->col[p] >= 0 && a->col[p] < a->cols &&
			            (p == a->rowptr[i] || a->col[p] > a->col[p - 1]));
	}
}

static inline void assert_features(const kdr_data *d, const char *names)
{
	char text[512] = "";
	for (int64_t j = 0; j < d->cols; j++) {
		strcat(text, j ? " " : "");
		strcat(text, d->features[j]);
	}
	assert_string_equal(text, names);
}

static inline void assert_warning(const kdr_prep *prep, const char *part)
{
	for (int64_t i = 0; i < kdri_prep_warning_count(prep); i++)
		if (strstr(kdri_prep_warning_at(prep, i), part))
			return;
	for (int64_t i = 0; i < kdri_prep_warning_count(prep); i++)
		print_message("warning: %s\n", kdri_prep_warning_at(prep, i));
	fail_msg("no warning says: %s", part);
}

#endif
