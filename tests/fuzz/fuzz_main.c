/* Replays files through a fuzz target, without a fuzzer: seeds, and every crash ever found. Arguments are
 * files or folders; a missing folder counts as empty. SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(size + 1);
	int ok = f && data && fread(data, 1, size, f) == size;
	if (ok)
		LLVMFuzzerTestOneInput(data, size);
	else
		fprintf(stderr, "%s: cannot read\n", path);
	free(data);
	if (f)
		fclose(f);
	return ok;
}

/* The number of files replayed, or -1. */
static int replay(const char *path)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return 0;
	if (!S_ISDIR(info.st_mode))
		return replay_file(path, (size_t)info.st_size) ? 1 : -1;
	DIR *folder = opendir(path);
	int count = 0;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char inner[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		int more = replay(inner);
		if (more < 0) {
			count = -1;
			break;
		}
		count += more;
	}
	if (folder)
		closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	int total = 0;
	/* An empty and a non-empty input, even without a corpus. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	LLVMFuzzerTestOneInput((const uint8_t *)"{1,2}\n", 6);
	for (int i = 1; i < argc; i++) {
		int count = replay(argv[i]);
		if (count < 0)
			return 1;
		total += count;
	}
	printf("%d files\n", total);
	return 0;
}
