/* Golden cases: JSON files of tests/golden, read by our own reader. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_GOLDEN_H
#define KDRI_TESTS_GOLDEN_H

#include "core/json_read.h"
#include "tests/unit/unit.h"

static inline const kdri_json_value *golden_load(const char *name)
{
	char path[1024], *text = NULL;
	kdr_context *ctx = unit_context();
	kdri_json_value *root = NULL;
	long size = -1;
	snprintf(path, sizeof path, "%s/golden/%s", KDR_TEST_DATA, name);
	FILE *file = fopen(path, "rb");
	if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
	    fseek(file, 0, SEEK_SET) == 0)
		text = malloc((size_t)size + 1);
	if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
		fail_msg("%s: cannot be read", path);
	fclose(file);
	assert_ok(ctx, kdri_json_parse(ctx, path, 1, text, (size_t)size, &root));
	free(text);
	kdr_context_free(ctx);
	return root;
}

static inline void golden_free(const kdri_json_value *root)
{
	kdri_json_value_free((kdri_json_value *)root);
}

static inline int64_t golden_count(const kdri_json_value *value)
{
	if (!kdri_json_is(value, KDRI_JSON_ARRAY))
		return 1;
	int64_t sum = 0;
	for (int64_t i = 0; i < kdri_json_count(value); i++)
		sum += golden_count(kdri_json_at(value, i));
	return sum;
}

static inline void golden_copy(const kdri_json_value *value, double **to)
{
	if (!kdri_json_is(value, KDRI_JSON_ARRAY))
		*(*to)++ = kdri_json_number(value, 0);
	for (int64_t i = 0; kdri_json_is(value, KDRI_JSON_ARRAY) && i < kdri_json_count(value); i++)
		golden_copy(kdri_json_at(value, i), to);
}

/* Nested lists as one array in C order; free it. */
static inline double *golden_numbers(const kdri_json_value *value, int64_t *count)
{
	int64_t n = golden_count(value);
	double *data = calloc((size_t)(n ? n : 1), sizeof *data), *to = data;
	assert_non_null(value);
	golden_copy(value, &to);
	if (count)
		*count = n;
	return data;
}

static inline int64_t *golden_integers(const kdri_json_value *value, int64_t *count)
{
	int64_t n;
	double *numbers = golden_numbers(value, &n);
	int64_t *data = malloc((size_t)(n ? n : 1) * sizeof *data);
	for (int64_t i = 0; i < n; i++)
		data[i] = (int64_t)numbers[i];
	free(numbers);
	if (count)
		*count = n;
	return data;
}

static inline double golden_number(const kdri_json_value *object, const char *name)
{
	const kdri_json_value *value = kdri_json_get(object, name);
	if (!kdri_json_is_number(value))
		fail_msg("golden case has no number '%s'", name);
	return kdri_json_number(value, 0);
}

/* Fails unless |got - want| <= tol max(1, max |want|) everywhere. */
static inline void golden_close(const char *name, const char *what, const double *got,
                                const kdri_json_value *want, double tol)
{
	int64_t n;
	double *numbers = golden_numbers(want, &n), scale = 1;
	for (int64_t i = 0; i < n; i++)
		scale = fmax(scale, fabs(numbers[i]));
	for (int64_t i = 0; i < n; i++)
		if (!(fabs(got[i] - numbers[i]) <= tol * scale))
			fail_msg("%s: %s[%lld] is %.17g, expected %.17g", name, what, (long long)i, got[i],
			         numbers[i]);
	free(numbers);
}

#endif
