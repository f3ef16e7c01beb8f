/* Tables of a plan written short: pairs of data sets, and rows for all tables. SPDX-License-Identifier: BSD-3-Clause
 *
 * {"title": "reviews", "pairs": [A, B, C], ...} stands for a table from each set to each other one and, with three sets
 * or more, from all others to each. Tables without "rows" have those of the plan. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* The name of a data set: its own, or its file's. */
static const char *bench_pairs_name_of(const kdr_json *item)
{
	const char *name = kdr_json_text(kdr_json_get(item, "name"), NULL);
	const char *path =
	        kdr_json_text(kdr_json_is(item, KDR_JSON_OBJECT) ? kdr_json_get(item, "path") : item, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL;
	return name ? name : slash ? slash + 1 : path ? path : "?";
}

/* The sets of a table written short, or NULL. */
static const kdr_json *sets_of(const kdr_json *table)
{
	const kdr_json *sets = kdr_json_get(table, "pairs");
	return kdr_json_is(sets, KDR_JSON_ARRAY) ? sets : NULL;
}

static int64_t count_of(const kdr_json *table)
{
	int64_t n = kdr_json_count(sets_of(table));
	return sets_of(table) ? n * (n - 1) + (n > 2 ? n : 0) : 1;
}

int64_t bench_pairs_count(const kdr_json *root)
{
	const kdr_json *tables = kdr_json_get(root, "tables");
	int64_t count = 0;
	for (int64_t i = 0; kdr_json_is(tables, KDR_JSON_ARRAY) && i < kdr_json_count(tables); i++)
		count += count_of(kdr_json_at(tables, i));
	return count;
}

bench_pair bench_pairs_at(const kdr_json *root, int64_t index)
{
	const kdr_json *tables = kdr_json_get(root, "tables");
	int64_t t = 0;
	while (index >= count_of(kdr_json_at(tables, t)))
		index -= count_of(kdr_json_at(tables, t++));
	bench_pair out = { .table = kdr_json_at(tables, t) };
	const kdr_json *rows = kdr_json_get(out.table, "rows");
	int64_t n = kdr_json_count(sets_of(out.table));
	out.rows = rows ? rows : kdr_json_get(root, "rows");
	out.sets = sets_of(out.table);
	if (out.sets && index < n * (n - 1)) {
		out.from = index / (n - 1);
		out.to = index % (n - 1) + (index % (n - 1) >= out.from);
	} else if (out.sets) {
		out.from = -1;
		out.to = index - n * (n - 1);
	}
	return out;
}

void bench_pairs_title(const bench_pair *pair, char *text, size_t room)
{
	const char *title = kdr_json_text(kdr_json_get(pair->table, "title"), NULL);
	snprintf(text, room, "%s: %s to %s", title ? title : "",
	         pair->from < 0 ? "all others" : bench_pairs_name_of(kdr_json_at(pair->sets, pair->from)),
	         bench_pairs_name_of(kdr_json_at(pair->sets, pair->to)));
}

void bench_pairs_group(const bench_pair *pair, char *text, size_t room)
{
	const char *title = kdr_json_text(kdr_json_get(pair->table, "title"), NULL);
	snprintf(text, room, "%s%s", title ? title : "", pair->sets && pair->from < 0 ? ", all sources" : "");
}
