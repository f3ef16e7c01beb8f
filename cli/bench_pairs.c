/* Tables of a plan written short: pairs of data sets, and rows for all tables. SPDX-License-Identifier: BSD-3-Clause
 *
 * {"title": "reviews", "pairs": [A, B, C], ...} stands for a table from each set to each other one and, with three sets
 * or more, from all others to each. Tables without "rows" have those of the plan. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* The name of a data set: its own, or its file's. */
static const char *name_of(json_t *item)
{
	json_t *name = json_is_object(item) ? json_object_get(item, "name") : NULL;
	json_t *path = json_is_object(item) ? json_object_get(item, "path") : item;
	const char *text = json_string_value(name ? name : path);
	const char *slash = text ? strrchr(text, '/') : NULL;
	return slash && !name ? slash + 1 : text ? text : "?";
}

static bool add_table(json_t *tables, json_t *table, json_t *source, const char *from, json_t *target)
{
	json_t *copy = json_copy(table);
	const char *title = json_string_value(json_object_get(table, "title"));
	char text[512];
	snprintf(text, sizeof text, "%s: %s to %s", title ? title : "", from, name_of(target));
	bool done = copy && json_object_del(copy, "pairs") == 0 &&
	            json_object_set(copy, "source", source) == 0 &&
	            json_object_set(copy, "target", target) == 0 &&
	            json_object_set_new(copy, "title", json_string(text)) == 0 &&
	            json_array_append(tables, copy) == 0;
	json_decref(copy);
	return done;
}

static bool add_pairs(json_t *tables, json_t *table, json_t *sets)
{
	size_t n = json_array_size(sets);
	bool done = true;
	for (size_t i = 0; i < n && done; i++)
		for (size_t k = 0; k < n && done; k++)
			if (i != k)
				done = add_table(tables, table, json_array_get(sets, i),
				                 name_of(json_array_get(sets, i)), json_array_get(sets, k));
	for (size_t k = 0; k < n && n > 2 && done; k++) {
		json_t *others = json_copy(sets);
		done = others && json_array_remove(others, k) == 0 &&
		       add_table(tables, table, others, "all others", json_array_get(sets, k));
		json_decref(others);
	}
	return done;
}

json_t *bench_pairs_expand(json_t *root)
{
	json_t *tables = json_object_get(root, "tables"), *rows = json_object_get(root, "rows"),
	       *out = json_array();
	bool done = out != NULL;
	for (size_t i = 0; i < json_array_size(tables) && done; i++) {
		json_t *table = json_array_get(tables, i), *sets = json_object_get(table, "pairs");
		if (rows && json_is_object(table) && !json_object_get(table, "rows"))
			done = json_object_set(table, "rows", rows) == 0;
		if (done)
			done = json_is_array(sets) ? add_pairs(out, table, sets)
			                           : json_array_append(out, table) == 0;
	}
	if (!done) {
		json_decref(out);
		return NULL;
	}
	return out;
}
