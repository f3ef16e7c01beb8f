/* Golden cases: JSON files of tests/golden, read with jansson. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_GOLDEN_H
#define KDRI_TESTS_GOLDEN_H

#include <jansson.h>

#include "tests/unit/unit.h"

static inline json_t *golden_load(const char *name)
{
	char path[1024];
	json_error_t error;
	snprintf(path, sizeof path, "%s/golden/%s", KDR_TEST_DATA, name);
	json_t *root = json_load_file(path, 0, &error);
	if (!root)
		fail_msg("%s:%d: %s", path, error.line, error.text);
	return root;
}

static inline int64_t golden_count(const json_t *value)
{
	if (!json_is_array(value))
		return 1;
	int64_t sum = 0;
	for (size_t i = 0; i < json_array_size(value); i++)
		sum += golden_count(json_array_get(value, i));
	return sum;
}

static inline void golden_copy(const json_t *value, double **to)
{
	if (!json_is_array(value))
		*(*to)++ = json_number_value(value);
	for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
		golden_copy(json_array_get(value, i), to);
}

/* Nested lists as one array in C order; free it. */
static inline double *golden_numbers(const json_t *value, int64_t *count)
{
	int64_t n = golden_count(value);
	double *data = calloc((size_t)(n ? n : 1), sizeof *data), *to = data;
	assert_non_null(value);
	golden_copy(value, &to);
	if (count)
		*count = n;
	return data;
}

static inline int64_t *golden_integers(const json_t *value, int64_t *count)
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

static inline double golden_number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	if (!json_is_number(value))
		fail_msg("golden case has no number '%s'", name);
	return json_number_value(value);
}

/* Fails unless |got - want| <= tol max(1, max |want|) everywhere. */
static inline void golden_close(const char *name, const char *what, const double *got, const json_t *want,
                                double tol)
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
