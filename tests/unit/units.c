/* All unit tests as one program, run in parts: `units PART PARTS`. SPDX-License-Identifier: BSD-3-Clause
 *
 * For the address sanitizer, which looks for leaks at the end of each process and may take seconds for that. list.h is
 * written by CMake, one line per test; each of their main() has the name of its file. */
#include <stdio.h>
#include <stdlib.h>

#define UNIT(name) int name##_main(void);
#include "list.h"
#undef UNIT

static const struct {
	const char *name;
	int (*run)(void);
} units[] = {
#define UNIT(name) { #name, name##_main },
#include "list.h"
#undef UNIT
};

int main(int argc, char **argv)
{
	int count = (int)(sizeof units / sizeof *units), failed = 0;
	int part = argc == 3 ? atoi(argv[1]) : 0, parts = argc == 3 ? atoi(argv[2]) : 0;
	if (part < 1 || part > parts) {
		fprintf(stderr, "usage: units PART PARTS\n");
		return 2;
	}
	for (int i = part - 1; i < count; i += parts) {
		printf("%s\n", units[i].name);
		fflush(stdout);
		if (units[i].run() != 0) {
			fprintf(stderr, "%s failed\n", units[i].name);
			failed++;
		}
	}
	return failed > 0;
}
