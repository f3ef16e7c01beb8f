/* The sample reader and the sample sentence of CONTRIBUTING.md at work.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ensemble/poll.h"
#include "io/io.h"
#include "tests/unit/unit.h"

extern const kdri_format kdri_format_points;
void sample_advice(const kdri_guard *g, int64_t n, const char *name, char *out, size_t room);

/* Reads the first `size` bytes of a file of 2 x 3 values. */
static kdr_status points_read(kdr_context *ctx, size_t size, kdr_data *data)
{
	const int64_t shape[] = { 2, 3 };
	const double values[] = { 1, 2, 3, 4, 5, 6 };
	char bytes[4 + sizeof shape + sizeof values];
	kdri_input *in = NULL;
	memcpy(bytes, "PNTS", 4);
	memcpy(bytes + 4, shape, sizeof shape);
	memcpy(bytes + 4 + sizeof shape, values, sizeof values);
	assert_true(size <= sizeof bytes);
	assert_ok(ctx, kdri_input_from_memory(ctx, bytes, size, "a.points", &in));
	kdr_status st = kdri_format_points.parse(ctx, in, NULL, data);
	kdri_input_close(ctx, in);
	return st;
}

static void points__complete_file__is_read(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *data = NULL;
	assert_ok(ctx, kdri_data_new(ctx, "a", "a.points", &data));
	assert_ok(ctx, points_read(ctx, 68, data));
	assert_int_equal(data->rows, 2);
	assert_int_equal(data->cols, 3);
	assert_true(data->dense[0] == 1 && data->dense[5] == 6);
	kdr_data_free(data);
	kdr_context_free(ctx);
}

static void points__truncated_anywhere__is_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (size_t size = 0; size < 68; size++) {
		kdr_data *data = NULL;
		assert_ok(ctx, kdri_data_new(ctx, "a", "a.points", &data));
		assert_int_equal(points_read(ctx, size, data), KDR_ERR_FORMAT);
		kdr_data_free(data);
	}
	kdr_context_free(ctx);
}

static void advice__all_samples_moved__names_their_number(void **state)
{
	(void)state;
	char text[200] = "";
	const kdri_guard all = { .moved = 40 }, some = { .moved = 39 };
	sample_advice(&some, 40, "a", text, sizeof text);
	assert_string_equal(text, "");
	sample_advice(&all, 40, "a", text, sizeof text);
	assert_non_null(strstr(text, "all 40 samples"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points__complete_file__is_read),
		cmocka_unit_test(points__truncated_anywhere__is_refused),
		cmocka_unit_test(advice__all_samples_moved__names_their_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
