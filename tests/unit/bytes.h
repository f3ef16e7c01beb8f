/* Files for tests of readers: written byte by byte, removed at the end. SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef KDRI_TESTS_BYTES_H
#define KDRI_TESTS_BYTES_H

#include "tests/unit/unit.h"

#include "io/io.h"

#include <unistd.h>

/* A new folder of this process's own under /tmp, made on the first call. */
static inline const char *bytes_folder(void)
{
	static char folder[64];
	if (!folder[0]) {
		snprintf(folder, sizeof folder, "/tmp/kindred-test-XXXXXX");
		assert_non_null(mkdtemp(folder));
	}
	return folder;
}

/* A path in that folder, valid until the eighth next call. */
static inline const char *bytes_path(const char *name)
{
	static char paths[8][256];
	static int next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", bytes_folder(), name);
	return path;
}

static inline void bytes_write(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* The whole file; the caller frees. */
static inline unsigned char *bytes_read(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	unsigned char *data = malloc(*size + 1);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

/* Removes the folder with everything in it: a group's teardown. */
static inline int bytes_clean(void **state)
{
	(void)state;
	char command[96];
	snprintf(command, sizeof command, "rm -rf '%s'", bytes_folder());
	return system(command) == 0 ? 0 : -1;
}

/* Reads with a format, as kdr_read would; on failure *data stays NULL. */
static inline kdr_status bytes_load(kdr_context *ctx, const kdri_format *format, const char *path,
                                    const kdr_read_options *options, kdr_data **data)
{
	*data = NULL;
	kdr_status st = kdri_data_new(ctx, "test", path, data);
	if (st == KDR_OK)
		st = format->read(ctx, path, options, *data);
	if (st != KDR_OK) {
		kdr_data_free(*data);
		*data = NULL;
	}
	return st;
}

/* Fails with `status` and a message that holds `words`. */
#define assert_fails(ctx, call, status, words) \
	do { \
		kdr_status unit_st = (call); \
		if (unit_st != (status) || !strstr(kdr_context_error(ctx), words)) \
			fail_msg("%s: status %d, \"%s\"; expected %d, \"%s\"", #call, (int)unit_st, \
			         kdr_context_error(ctx), (int)(status), words); \
	} while (0)

#endif
