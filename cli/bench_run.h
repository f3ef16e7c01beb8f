/* What running a table stands on. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_BENCH_RUN_H
#define KINDRED_BENCH_RUN_H

#include "bench.h"

/* A data set of the table in one repeat. Its known classes are those of all data sets together. */
typedef struct bench_item {
	kdr_data *raw;  /* as read; of generated data NULL */
	kdr_data *data; /* as fitted */
	int64_t *init;
	int64_t n, k, classes; /* classes of its own */
} bench_item;

typedef struct bench_state {
	kdr_context *ctx;
	const bench_table *table;
	bench_item *items;
	bool ready; /* the data of this repeat serve the next one too */
} bench_state;

int bench_no_memory(void);
/* Reads a data set with its classes, those alone that the plan wants. Exit status. */
int bench_read_item(bench_state *s, const bench_data *d, bench_item *it);
/* Classes by name, so that those of source and target are the same numbers. */
int bench_merge_classes(const bench_state *s, bool raw);
/* Data, truth and shared start of one repeat. */
int bench_begin_repeat(bench_state *s, uint64_t seed);
void bench_drop_repeat(bench_item *it);

#endif
