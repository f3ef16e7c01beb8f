/* The data sets of a table, as a plan names them. SPDX-License-Identifier: BSD-3-Clause
 *
 * {"title": "reviews", "pairs": [A, B, C], ...} stands for a table from each set to each other one and, with three sets
 * or more, from all others to each. Tables without "rows" have those of the plan. */
#include "bench.h"
#include "core/json_read.h"
#include "core/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- pairs --------------------------------------------------------------------------------------- */

/* The name of a data set: its own, or its file's. */
static const char *bench_pairs_name_of(const kdri_json_value *item)
{
	const char *name = kdri_json_text(kdri_json_get(item, "name"), NULL);
	const char *path = kdri_json_text(
	        kdri_json_is(item, KDRI_JSON_OBJECT) ? kdri_json_get(item, "path") : item, NULL);
	return name ? name : path ? path + kdri_folder_length(path) : "?";
}

/* The sets of a table written short, or NULL. */
static const kdri_json_value *sets_of(const kdri_json_value *table)
{
	const kdri_json_value *sets = kdri_json_get(table, "pairs");
	return kdri_json_is(sets, KDRI_JSON_ARRAY) ? sets : NULL;
}

static int64_t count_of(const kdri_json_value *table)
{
	int64_t n = kdri_json_count(sets_of(table));
	return sets_of(table) ? n * (n - 1) + (n > 2 ? n : 0) : 1;
}

int64_t bench_pairs_count(const kdri_json_value *root)
{
	const kdri_json_value *tables = kdri_json_get(root, "tables");
	int64_t count = 0;
	for (int64_t i = 0; kdri_json_is(tables, KDRI_JSON_ARRAY) && i < kdri_json_count(tables); i++)
		count += count_of(kdri_json_at(tables, i));
	return count;
}

bench_pair bench_pairs_at(const kdri_json_value *root, int64_t index)
{
	const kdri_json_value *tables = kdri_json_get(root, "tables");
	int64_t t = 0;
	while (index >= count_of(kdri_json_at(tables, t)))
		index -= count_of(kdri_json_at(tables, t++));
	bench_pair out = { .table = kdri_json_at(tables, t) };
	const kdri_json_value *rows = kdri_json_get(out.table, "rows");
	int64_t n = kdri_json_count(sets_of(out.table));
	out.rows = rows ? rows : kdri_json_get(root, "rows");
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
	const char *title = kdri_json_text(kdri_json_get(pair->table, "title"), NULL);
	snprintf(text, room, "%s: %s to %s", title ? title : "",
	         pair->from < 0 ? "all others" : bench_pairs_name_of(kdri_json_at(pair->sets, pair->from)),
	         bench_pairs_name_of(kdri_json_at(pair->sets, pair->to)));
}

void bench_pairs_group(const bench_pair *pair, char *text, size_t room)
{
	const char *title = kdri_json_text(kdri_json_get(pair->table, "title"), NULL);
	snprintf(text, room, "%s%s", title ? title : "", pair->sets && pair->from < 0 ? ", all sources" : "");
}

/* --- files ---------------------------------------------------------------------------------------- */

/* A relative path starts at the plan's folder or, if there is no such file there, at KINDRED_DATA, as in presets. */
static char *join_path(plan_place *p, const char *path, size_t *given)
{
	const char *data = getenv("KINDRED_DATA"),
	           *folders[] = { p->folder ? p->folder : "", data ? data : "" };
	char *out = NULL;
	for (int f = 0; f < 2; f++) {
		const size_t length = strlen(folders[f]), room = length + strlen(path) + 2;
		if (kdri_is_absolute(path) || (f > 0 && length == 0))
			break;
		char *joined = plan_many(p, room, 1);
		if (!joined)
			break;
		snprintf(joined, room, "%s%s%s", folders[f], length ? "/" : "", path);
		if (f == 0 || kdri_exists(joined)) {
			free(out);
			out = joined;
			*given = length ? length + 1 : 0;
		} else {
			free(joined);
		}
		if (kdri_exists(out))
			break;
	}
	if (out || p->code != EXIT_DONE)
		return out;
	*given = 0;
	return plan_copy(p, path);
}

/* One class of a file, and what it is called here. */
static bool add_class(plan_place *p, bench_data *d, const kdri_json_value *class, const char *called)
{
	char **classes = realloc(d->classes, ((size_t)d->nclasses + 1) * sizeof *classes);
	if (!classes)
		return plan_no_memory(p);
	d->classes = classes;
	char **names = realloc(d->called, ((size_t)d->nclasses + 1) * sizeof *names);
	if (!names)
		return plan_no_memory(p);
	d->called = names;
	if (!(classes[d->nclasses] = plan_value(p, class)))
		return false;
	if (!(names[d->nclasses] = strdup(called ? called : classes[d->nclasses]))) {
		free(classes[d->nclasses]);
		return plan_no_memory(p);
	}
	d->nclasses++;
	return true;
}

/* ["a", "b"]: the samples of these alone; {"x": ["a", "b"], "y": ["c"]}: of these, under other names. */
static bool read_classes(plan_place *p, bench_data *d, const kdri_json_value *classes)
{
	if (plan_list_count(classes) > 0) {
		for (int64_t i = 0; i < plan_list_count(classes); i++)
			if (!add_class(p, d, kdri_json_at(classes, i), NULL))
				return false;
		return true;
	}
	if (!kdri_json_is(classes, KDRI_JSON_OBJECT) || kdri_json_count(classes) == 0)
		return plan_wrong(p, "'classes' must be a list of names, or an object of such lists");
	for (int64_t c = 0; c < kdri_json_count(classes); c++) {
		const kdri_json_value *list = kdri_json_at(classes, c);
		if (plan_list_count(list) == 0)
			return plan_wrong(p, "'classes': '%s' must be a list of names", kdri_json_key(list));
		for (int64_t i = 0; i < plan_list_count(list); i++)
			if (!add_class(p, d, kdri_json_at(list, i), kdri_json_key(list)))
				return false;
	}
	return true;
}

/* "part": [0, 0.5]: the samples whose lot is in there; "words": the features. */
static bool read_share(plan_place *p, const char *key, const kdri_json_value *part, double share[2])
{
	for (int i = 0; part && i < 2; i++)
		share[i] = kdri_json_number(kdri_json_at(part, i), NAN);
	if (part && (plan_list_count(part) != 2 || !(0 <= share[0] && share[0] < share[1] && share[1] <= 1)))
		return plan_wrong(p, "'%s' must be two numbers from 0 to 1, the smaller one first", key);
	return true;
}

/* "keep": {"a": 0.2}: the fraction of the samples of a class. */
static bool read_kept(plan_place *p, bench_data *d, const kdri_json_value *keep)
{
	if (!keep)
		return true;
	if (!kdri_json_is(keep, KDRI_JSON_OBJECT))
		return plan_wrong(
		        p, "'keep' must be an object with classes and the fraction of each that is kept");
	d->rare = plan_many(p, (size_t)kdri_json_count(keep), sizeof *d->rare);
	d->kept = plan_many(p, (size_t)kdri_json_count(keep), sizeof *d->kept);
	for (int64_t i = 0; d->rare && d->kept && i < kdri_json_count(keep); i++) {
		const char *name = kdri_json_key(kdri_json_at(keep, i));
		d->kept[i] = plan_number(p, keep, name, 0, 1, 1);
		if (p->code != EXIT_DONE || !(d->rare[i] = plan_copy(p, name)))
			return false;
		d->nrare++;
	}
	return d->rare && d->kept;
}

/* A file, or {"path": ..., "name": ..., "classes": ..., "part": ..., "keep": ..., "words": ...}. */
static bool bench_sets_read_file(plan_place *p, bench_data *d, const kdri_json_value *item, const char *key)
{
	static const char *const keys[] = { "path", "name", "classes", "part", "keep", "words", NULL };
	const kdri_json_value *path =
	        kdri_json_is(item, KDRI_JSON_OBJECT) ? kdri_json_get(item, "path") : item;
	const kdri_json_value *classes =
	        kdri_json_is(item, KDRI_JSON_OBJECT) ? kdri_json_get(item, "classes") : NULL;
	if (!kdri_json_is(path, KDRI_JSON_TEXT))
		return plan_wrong(p, "'%s' must be a file, an object with its \"path\", or a list of these",
		                  key);
	if (!(d->path = join_path(p, kdri_json_text(path, NULL), &d->given)))
		return false;
	if (kdri_json_is(item, KDRI_JSON_TEXT))
		return true;
	if (!plan_check_keys(p, item, keys))
		return false;
	d->name = plan_text(p, item, "name", false);
	if (!read_share(p, "part", kdri_json_get(item, "part"), d->part) ||
	    !read_share(p, "words", kdri_json_get(item, "words"), d->words) ||
	    !read_kept(p, d, kdri_json_get(item, "keep")))
		return false;
	if (!classes)
		return p->code == EXIT_DONE;
	return read_classes(p, d, classes) && p->code == EXIT_DONE;
}

static bool add_data(plan_place *p, bench_table *t, const kdri_json_value *list, const char *key,
                     kdr_role role)
{
	if (!list)
		return true;
	size_t n = kdri_json_is(list, KDRI_JSON_ARRAY) ? (size_t)plan_list_count(list) : 1;
	bench_data *grown = realloc(t->data, ((size_t)t->ndata + n + 1) * sizeof *grown);
	if (!grown)
		return plan_no_memory(p);
	t->data = grown;
	for (size_t i = 0; i < n; i++) {
		const kdri_json_value *item =
		        kdri_json_is(list, KDRI_JSON_ARRAY) ? kdri_json_at(list, (int64_t)i) : list;
		t->data[t->ndata] = (bench_data){ .role = role };
		if (!bench_sets_read_file(p, &t->data[t->ndata++], item, key))
			return false;
	}
	return true;
}

/* Names of the data sets a design makes; the roles are the design's own. */
static bool add_design(plan_place *p, bench_table *t, int64_t tasks)
{
	bool pair = strcmp(t->design, "berikov") == 0;
	int n = pair ? 2 : (int)tasks;
	t->data = plan_many(p, (size_t)n, sizeof *t->data);
	for (int i = 0; t->data && i < n; i++) {
		char name[32];
		snprintf(name, sizeof name, "task%d", i + 1);
		t->data[i] = (bench_data){ .path = plan_copy(p, !pair    ? name
			                                        : i == 0 ? "source"
			                                                 : "target"),
			                   .role = !pair    ? KDR_ROLE_TASK
			                           : i == 0 ? KDR_ROLE_SOURCE
			                                    : KDR_ROLE_TARGET };
		t->ndata = i + 1;
		if (!t->data[i].path)
			return false;
	}
	return t->data != NULL;
}

/* The sources: those written, or those of a pair. */
static bool add_sources(plan_place *p, bench_table *t, const bench_pair *pair)
{
	if (!pair->sets)
		return add_data(p, t, kdri_json_get(pair->table, "source"), "source", KDR_ROLE_SOURCE);
	for (int64_t i = 0; i < kdri_json_count(pair->sets); i++)
		if ((pair->from < 0 ? i != pair->to : i == pair->from) &&
		    !add_data(p, t, kdri_json_at(pair->sets, i), "pairs", KDR_ROLE_SOURCE))
			return false;
	return true;
}

bool bench_sets_read(plan_place *p, bench_table *t, const bench_pair *pair)
{
	const kdri_json_value *object = pair->table;
	static const char *const designs[] = { "blobs", "topics", "berikov", NULL };
	const kdri_json_value *k = kdri_json_get(object, "k");
	if (kdri_json_get(object, "generate")) {
		int design = plan_choice(p, object, "generate", designs, 0);
		int64_t tasks = (int64_t)plan_number(p, object, "tasks", 1, 100, 2);
		t->separation = plan_number(p, object, "separation", 0, 1e6, 0);
		if (p->code != EXIT_DONE || !(t->design = plan_copy(p, designs[design])) ||
		    !add_design(p, t, tasks))
			return false;
	} else if (!add_data(p, t, kdri_json_get(object, "data"), "data", KDR_ROLE_TASK) ||
	           !add_sources(p, t, pair) ||
	           !add_data(p, t, kdri_json_get(object, "bridge"), "bridge", KDR_ROLE_BRIDGE) ||
	           !add_data(p, t,
	                     pair->sets ? kdri_json_at(pair->sets, pair->to)
	                                : kdri_json_get(object, "target"),
	                     "target", KDR_ROLE_TARGET)) {
		return false;
	}
	if (t->ndata == 0)
		return plan_wrong(p, "no data: add 'data', or 'source' and 'target', or 'generate'");
	for (int i = 0; k && i < t->ndata; i++) {
		const kdri_json_value *item = kdri_json_is(k, KDRI_JSON_ARRAY) ? kdri_json_at(k, i) : k;
		if (!kdri_json_is(item, KDRI_JSON_INTEGER) || kdri_json_integer(item, 0) < 1)
			return plan_wrong(
			        p, "'k' must be a whole number, 1 or larger, or one for each data set");
		t->data[i].k = kdri_json_integer(item, 0);
	}
	return true;
}

void bench_set_free(bench_data *d)
{
	for (int i = 0; i < d->nclasses; i++) {
		free(d->classes[i]);
		free(d->called[i]);
	}
	for (int i = 0; i < d->nrare; i++)
		free(d->rare[i]);
	free(d->rare);
	free(d->kept);
	free(d->classes);
	free(d->called);
	free(d->path);
	free(d->name);
	free(d->label);
	free(d->missing);
}
