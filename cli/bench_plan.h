/* What the readers of a plan share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_BENCH_PLAN_H
#define KINDRED_BENCH_PLAN_H

#include "bench.h"

/* --- bench_values.c ----------------------------------------------------------------------------- */

/* Where in the plan we are; the first failure is printed and remembered. */
typedef struct plan_place {
	const char *file;
	const char *folder; /* relative paths start here */
	char where[200];
	int code;
} plan_place;

/* Both print, unless something was printed before, and return false. */
KDR_PRINTF(2, 3) bool plan_wrong(plan_place *p, const char *format, ...);
bool plan_no_memory(plan_place *p);
char *plan_copy(plan_place *p, const char *text);
/* calloc of at least one, so that NULL always means no memory. */
void *plan_many(plan_place *p, size_t count, size_t size);
/* Entries of a list; 0 of all else, objects too. */
int64_t plan_list_count(const kdr_json *value);
/* Every key must be one of `known`. */
bool plan_check_keys(plan_place *p, const kdr_json *object, const char *const *known);
/* Text at `key`, or NULL if it is absent and may be. */
char *plan_text(plan_place *p, const kdr_json *object, const char *key, bool needed);
double plan_number(plan_place *p, const kdr_json *object, const char *key, double low, double high,
                   double otherwise);
int plan_choice(plan_place *p, const kdr_json *object, const char *key, const char *const *choices,
                int otherwise);
/* An option's value as text, as --set takes it; with plan_option also a list, a number for each task. */
char *plan_value(plan_place *p, const kdr_json *value);
char *plan_option(plan_place *p, const kdr_json *value);

/* --- bench_sets.c ------------------------------------------------------------------------------- */

bool bench_sets_read(plan_place *p, bench_table *t, const bench_pair *pair);
void bench_set_free(bench_data *d);

#endif
