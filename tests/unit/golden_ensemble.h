/* Golden cases: numbers out of tests/golden/<name>.json. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_GOLDEN_ENSEMBLE_H
#define KDRI_TESTS_GOLDEN_ENSEMBLE_H

#include <jansson.h>

#include "tests/unit/unit.h"

static inline json_t *golden_load(const char *name)
{
	char path[1024];
	json_error_t error;
	snprintf(path, sizeof path, "%s/golden/%s.json", KDR_TEST_DATA, name);
	json_t *root = json_load_file(path, 0, &error);
	if (!root)
		fail_msg("%s: %s", path, error.text);
	return root;
}

static inline const json_t *golden_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!value)
		fail_msg("no '%s' in the golden case", key);
	return value;
}

static inline void golden_flatten(const json_t *value, double *out, size_t *used)
{
	if (json_is_array(value))
		for (size_t i = 0; i < json_array_size(value); i++)
			golden_flatten(json_array_get(value, i), out, used);
	else if (out)
		out[(*used)++] = json_number_value(value);
	else
		(*used)++;
}

/* All numbers of an array of any depth, in order; the caller frees them. `count` may be NULL. */
static inline double *golden_reals(const json_t *object, const char *key, int64_t *count)
{
	size_t used = 0;
	golden_flatten(golden_get(object, key), NULL, &used);
	double *out = malloc((used + 1) * sizeof *out);
	used = 0;
	golden_flatten(golden_get(object, key), out, &used);
	if (count)
		*count = (int64_t)used;
	return out;
}

static inline int64_t *golden_ints(const json_t *object, const char *key, int64_t *count)
{
	int64_t n;
	double *x = golden_reals(object, key, &n);
	int64_t *out = malloc((size_t)(n + 1) * sizeof *out);
	for (int64_t i = 0; i < n; i++)
		out[i] = (int64_t)x[i];
	free(x);
	if (count)
		*count = n;
	return out;
}

#endif
