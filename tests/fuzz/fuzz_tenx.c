/* libFuzzer target: any bytes as a 10x folder: its matrix, barcodes and features, cut at bytes 0x1d.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_file.h"

#include <sys/stat.h>

static void put(const char *folder, const char *name, const uint8_t *data, size_t size)
{
	char path[160];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		exit(1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "matrix.mtx", "barcodes.tsv", "features.tsv" };
	static char folder[96];
	if (!folder[0]) {
		const char *name = fuzz_file(data, 0);
		snprintf(folder, sizeof folder, "%s.d", name);
		unlink(name);
	}
	mkdir(folder, 0700);
	for (int i = 0; i < 3; i++) {
		const uint8_t *end = size > 0 && i < 2 ? memchr(data, 0x1d, size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;
		put(folder, names[i], data, n);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	kdr_context *ctx = NULL;
	kdr_data *d = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		exit(1);
	kdr_context_set_threads(ctx, 1);
	if (kdr_read(ctx, folder, NULL, &d) == KDR_OK)
		fuzz_check_data(d);
	else
		FUZZ_CHECK(kdr_context_error(ctx)[0]);
	kdr_data_free(d);
	kdr_context_free(ctx);
	for (int i = 0; i < 3; i++) {
		char path[160];
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	return 0;
}
