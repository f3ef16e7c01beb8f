/* libFuzzer target: any bytes as JSON. Either a tree comes out, all of which can be walked and whose keys are found again,
 * or a status with one line of reason. SPDX-License-Identifier: BSD-3-Clause */
#include "core/json_read.h"
#include "tests/fuzz/fuzz.h"

static int64_t walk(const kdri_json_value *value)
{
	int64_t values = 1, count = kdri_json_count(value);
	size_t length = 0;
	const char *text = kdri_json_text(value, &length);
	FUZZ_CHECK(kdri_json_typeof(value) != KDRI_JSON_ABSENT);
	FUZZ_CHECK(!text || text[length] == '\0');
	FUZZ_CHECK(isfinite(kdri_json_number(value, 0)));
	for (int64_t i = 0; i < count; i++) {
		const kdri_json_value *entry = kdri_json_at(value, i);
		FUZZ_CHECK(!kdri_json_is(value, KDRI_JSON_OBJECT) ||
		           kdri_json_get(value, kdri_json_key(entry)) == entry);
		values += walk(entry);
	}
	return values;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kdr_context *ctx = fuzz_context();
	kdri_json_value *root = NULL;
	kdr_status st = kdri_json_parse(ctx, "fuzz", 1, (const char *)data, size, &root);
	FUZZ_CHECK((st == KDR_OK) == (root != NULL));
	FUZZ_CHECK(st == KDR_OK || kdr_context_error(ctx)[0]);
	if (root)
		FUZZ_CHECK(walk(root) <= (int64_t)size);
	kdri_json_value_free(root);
	kdr_context_free(ctx);
	return 0;
}
