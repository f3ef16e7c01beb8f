/* libFuzzer target: any bytes as JSON. Either a tree comes out, all of which can be walked and whose keys are found again,
 * or a status with one line of reason. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz.h"

static int64_t walk(const kdr_json *value)
{
	int64_t values = 1, count = kdr_json_count(value);
	size_t length = 0;
	const char *text = kdr_json_text(value, &length);
	FUZZ_CHECK(kdr_json_typeof(value) != KDR_JSON_ABSENT);
	FUZZ_CHECK(!text || text[length] == '\0');
	FUZZ_CHECK(isfinite(kdr_json_number(value, 0)));
	for (int64_t i = 0; i < count; i++) {
		const kdr_json *entry = kdr_json_at(value, i);
		FUZZ_CHECK(!kdr_json_is(value, KDR_JSON_OBJECT) ||
		           kdr_json_get(value, kdr_json_key(entry)) == entry);
		values += walk(entry);
	}
	return values;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kdr_context *ctx = fuzz_context();
	kdr_json *root = NULL;
	kdr_status st = kdr_json_parse(ctx, "fuzz", 1, (const char *)data, size, &root);
	FUZZ_CHECK((st == KDR_OK) == (root != NULL));
	FUZZ_CHECK(st == KDR_OK || kdr_context_error(ctx)[0]);
	if (root)
		FUZZ_CHECK(walk(root) <= (int64_t)size);
	kdr_json_free(root);
	kdr_context_free(ctx);
	return 0;
}
