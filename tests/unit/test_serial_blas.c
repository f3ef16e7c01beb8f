/* A BLAS that several threads must not call. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

/* In the place of OpenBLAS's own. */
static int built;
int openblas_get_parallel(void);
int openblas_get_parallel(void)
{
	return built;
}

static void threads__openblas_built_without_them__one(void **state)
{
	(void)state;
	built = 0;
	kdr_context *ctx = unit_context();
	assert_int_equal(kdr_context_threads(ctx), 1);
	kdr_context_set_threads(ctx, 4);
	assert_int_equal(kdr_context_threads(ctx), 1);
#ifdef _OPENMP
	for (built = 1; built <= 2; built++) {
		kdr_context_set_threads(ctx, 4);
		assert_int_equal(kdr_context_threads(ctx), 4);
	}
#endif
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(threads__openblas_built_without_them__one) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
