/* Plans for kindred bench: read from JSON, or made from the command line. SPDX-License-Identifier: BSD-3-Clause
 */
#include "bench.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_score_names[] = { "acc",    "nmi",         "nmi_arithmetic", "nmi_max",   "ari",
	                                  "purity", "homogeneity", "completeness",   "v_measure", NULL };

double bench_score_value(const kdr_scores *s, int which)
{
	const double values[] = { s->acc,    s->nmi,         s->nmi_arithmetic, s->nmi_max,  s->ari,
		                  s->purity, s->homogeneity, s->completeness,   s->v_measure };
	return values[which];
}

/* --- reading JSON, with errors that say where --------------------------------------------------- */

/* Where in the plan we are; the first failure is printed and remembered. */
typedef struct place {
	const char *file;
	const char *folder; /* relative paths start here */
	char where[200];
	int code;
} place;

KDR_PRINTF(2, 3) static bool wrong(place *p, const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (p->code == EXIT_DONE)
		cli_error("%s: %s%s%s", p->file, p->where, p->where[0] ? ": " : "", text);
	p->code = EXIT_DATA;
	return false;
}

static bool no_memory(place *p)
{
	if (p->code == EXIT_DONE)
		cli_error("out of memory");
	p->code = EXIT_OTHER;
	return false;
}

static char *copy(place *p, const char *text)
{
	char *out = strdup(text);
	if (!out)
		no_memory(p);
	return out;
}

/* calloc of at least one, so that NULL always means no memory. */
static void *many(place *p, size_t count, size_t size)
{
	void *out = calloc(count ? count : 1, size);
	if (!out)
		no_memory(p);
	return out;
}

/* Every key must be one of `known`. */
static bool check_keys(place *p, json_t *object, const char *const *known)
{
	const char *key;
	json_t *value;
	if (!json_is_object(object))
		return wrong(p, "an object {...} is needed");
	json_object_foreach(object, key, value)
	{
		const char *nearest[1];
		size_t n = 0;
		bool found = false;
		for (; known[n]; n++)
			found |= strcmp(known[n], key) == 0;
		if (!found)
			return kdr_suggest(key, known, n, nearest, 1)
			               ? wrong(p, "there is no key '%s'; did you mean '%s'?", key, nearest[0])
			               : wrong(p, "there is no key '%s'", key);
	}
	return true;
}

/* Text at `key`, or NULL if it is absent and may be. */
static char *get_text(place *p, json_t *object, const char *key, bool needed)
{
	json_t *value = json_object_get(object, key);
	if (!value && !needed)
		return NULL;
	if (!json_is_string(value)) {
		wrong(p, "'%s' must be a text", key);
		return NULL;
	}
	return copy(p, json_string_value(value));
}

static double get_number(place *p, json_t *object, const char *key, double low, double high, double otherwise)
{
	json_t *value = json_object_get(object, key);
	if (!value)
		return otherwise;
	double x = json_number_value(value);
	if (!json_is_number(value) || !(x >= low && x <= high))
		wrong(p, "'%s' must be a number from %g to %g", key, low, high);
	return x;
}

static int get_choice(place *p, json_t *object, const char *key, const char *const *choices, int otherwise)
{
	json_t *value = json_object_get(object, key);
	char all[200] = "";
	if (!value)
		return otherwise;
	for (int i = 0; choices[i]; i++) {
		if (json_is_string(value) && strcmp(json_string_value(value), choices[i]) == 0)
			return i;
		size_t used = strlen(all);
		snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", choices[i]);
	}
	wrong(p, "'%s' must be one of %s", key, all);
	return otherwise;
}

/* Numbers, one for each task, separated by commas. */
static char *list_text(place *p, const json_t *list)
{
	enum { WIDE = 32 }; /* of a number and its comma */
	size_t count = json_array_size(list), used = 0, room = count * WIDE + 1;
	char *text = many(p, room, 1);
	for (size_t i = 0; text && i < count; i++) {
		const json_t *item = json_array_get(list, i);
		if (!json_is_number(item)) {
			wrong(p, "a list of values of an option must be numbers");
			free(text);
			return NULL;
		}
		used += (size_t)snprintf(text + used, room - used, "%s%.15g", i ? "," : "",
		                         json_number_value(item));
	}
	return text;
}

/* An option's value as text, as --set takes it. */
static char *value_text(place *p, json_t *value)
{
	char text[64];
	if (json_is_string(value))
		return copy(p, json_string_value(value));
	if (json_is_boolean(value))
		return copy(p, json_is_true(value) ? "true" : "false");
	if (json_is_integer(value))
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, sizeof text, "%.15g", json_real_value(value));
	else {
		wrong(p, "a value of an option must be a number, a text, true or false");
		return NULL;
	}
	return copy(p, text);
}

/* The same, or a number for each task. */
static char *option_text(place *p, json_t *value)
{
	return json_array_size(value) > 0 ? list_text(p, value) : value_text(p, value);
}

/* --- data --------------------------------------------------------------------------------------- */

static char *join_path(place *p, const char *path)
{
	if (path[0] == '/' || !p->folder || !p->folder[0])
		return copy(p, path);
	size_t room = strlen(p->folder) + strlen(path) + 2;
	char *out = many(p, room, 1);
	if (out)
		snprintf(out, room, "%s/%s", p->folder, path);
	return out;
}

/* One class of a file, and what it is called here. */
static bool add_class(place *p, bench_data *d, json_t *class, const char *called)
{
	char **classes = realloc(d->classes, ((size_t)d->nclasses + 1) * sizeof *classes);
	if (!classes)
		return no_memory(p);
	d->classes = classes;
	char **names = realloc(d->called, ((size_t)d->nclasses + 1) * sizeof *names);
	if (!names)
		return no_memory(p);
	d->called = names;
	if (!(classes[d->nclasses] = value_text(p, class)))
		return false;
	if (!(names[d->nclasses] = strdup(called ? called : classes[d->nclasses]))) {
		free(classes[d->nclasses]);
		return no_memory(p);
	}
	d->nclasses++;
	return true;
}

/* ["a", "b"]: the samples of these alone; {"x": ["a", "b"], "y": ["c"]}: of these, under other names. */
static bool read_classes(place *p, bench_data *d, json_t *classes)
{
	const char *called;
	json_t *list, *one;
	size_t i;
	if (json_is_array(classes) && json_array_size(classes) > 0) {
		json_array_foreach(classes, i, one) if (!add_class(p, d, one, NULL)) return false;
		return true;
	}
	if (!json_is_object(classes) || json_object_size(classes) == 0)
		return wrong(p, "'classes' must be a list of names, or an object of such lists");
	json_object_foreach(classes, called, list)
	{
		if (!json_is_array(list) || json_array_size(list) == 0)
			return wrong(p, "'classes': '%s' must be a list of names", called);
		json_array_foreach(list, i, one) if (!add_class(p, d, one, called)) return false;
	}
	return true;
}

/* A file, or {"path": ..., "name": ..., "classes": ...}. */
static bool read_file(place *p, bench_data *d, json_t *item, const char *key)
{
	static const char *const keys[] = { "path", "name", "classes", NULL };
	json_t *path = json_is_object(item) ? json_object_get(item, "path") : item;
	json_t *classes = json_is_object(item) ? json_object_get(item, "classes") : NULL;
	if (!json_is_string(path))
		return wrong(p, "'%s' must be a file, an object with its \"path\", or a list of these", key);
	if (!(d->path = join_path(p, json_string_value(path))))
		return false;
	if (json_is_string(item))
		return true;
	if (!check_keys(p, item, keys))
		return false;
	d->name = get_text(p, item, "name", false);
	if (!classes)
		return p->code == EXIT_DONE;
	return read_classes(p, d, classes) && p->code == EXIT_DONE;
}

static bool add_data(place *p, bench_table *t, json_t *list, const char *key, kdr_role role)
{
	if (!list)
		return true;
	size_t n = json_is_array(list) ? json_array_size(list) : 1;
	bench_data *grown = realloc(t->data, ((size_t)t->ndata + n + 1) * sizeof *grown);
	if (!grown)
		return no_memory(p);
	t->data = grown;
	for (size_t i = 0; i < n; i++) {
		json_t *item = json_is_array(list) ? json_array_get(list, i) : list;
		t->data[t->ndata] = (bench_data){ .role = role };
		if (!read_file(p, &t->data[t->ndata++], item, key))
			return false;
	}
	return true;
}

/* Names of the data sets a design makes; the roles are the design's own. */
static bool add_design(place *p, bench_table *t, int64_t tasks)
{
	bool pair = strcmp(t->design, "berikov") == 0;
	int n = pair ? 2 : (int)tasks;
	t->data = many(p, (size_t)n, sizeof *t->data);
	for (int i = 0; t->data && i < n; i++) {
		char name[32];
		snprintf(name, sizeof name, "task%d", i + 1);
		t->data[i] = (bench_data){ .path = copy(p, !pair    ? name
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

static bool read_data(place *p, bench_table *t, json_t *object)
{
	static const char *const designs[] = { "blobs", "topics", "berikov", NULL };
	json_t *k = json_object_get(object, "k");
	if (json_object_get(object, "generate")) {
		int design = get_choice(p, object, "generate", designs, 0);
		int64_t tasks = (int64_t)get_number(p, object, "tasks", 1, 100, 2);
		t->separation = get_number(p, object, "separation", 0, 1e6, 0);
		if (p->code != EXIT_DONE || !(t->design = copy(p, designs[design])) ||
		    !add_design(p, t, tasks))
			return false;
	} else if (!add_data(p, t, json_object_get(object, "data"), "data", KDR_ROLE_TASK) ||
	           !add_data(p, t, json_object_get(object, "source"), "source", KDR_ROLE_SOURCE) ||
	           !add_data(p, t, json_object_get(object, "bridge"), "bridge", KDR_ROLE_BRIDGE) ||
	           !add_data(p, t, json_object_get(object, "target"), "target", KDR_ROLE_TARGET)) {
		return false;
	}
	if (t->ndata == 0)
		return wrong(p, "no data: 'data', or 'source' and 'target', or 'generate' is needed");
	for (int i = 0; k && i < t->ndata; i++) {
		json_t *item = json_is_array(k) ? json_array_get(k, (size_t)i) : k;
		if (!json_is_integer(item) || json_integer_value(item) < 1)
			return wrong(p, "'k' must be a whole number from 1, or one for each data set");
		t->data[i].k = json_integer_value(item);
	}
	return true;
}

/* --- rows --------------------------------------------------------------------------------------- */

static bool read_settings(place *p, bench_row *row, json_t *set, json_t *grid)
{
	const char *key;
	json_t *value;
	if ((set && !json_is_object(set)) || (grid && !json_is_object(grid)))
		return wrong(p,
		             "'set' and 'grid' must be objects: an option's name, and its value or values");
	row->set = many(p, json_object_size(set), sizeof *row->set);
	row->grid = many(p, json_object_size(grid), sizeof *row->grid);
	if (!row->set || !row->grid)
		return false;
	json_object_foreach(set, key, value)
	{
		bench_setting *s = &row->set[row->nset++];
		if (!(s->name = copy(p, key)) || !(s->value = option_text(p, value)))
			return false;
	}
	json_object_foreach(grid, key, value)
	{
		bench_axis *axis = &row->grid[row->ngrid++];
		size_t n = json_array_size(value);
		if (n == 0)
			return wrong(p, "'grid': the values of '%s' must be a list", key);
		if (!(axis->name = copy(p, key)) || !(axis->values = many(p, n, sizeof(char *))))
			return false;
		for (size_t i = 0; i < n; i++) {
			if (!(axis->values[i] = option_text(p, json_array_get(value, i))))
				return false;
			axis->nvalues++;
		}
	}
	return true;
}

/* "references": {"paper": {"acc": [0.57, ...]}}: one figure for each scored data set, null where none. */
static bool read_references(place *p, const bench_table *t, int scored, bench_row *row, json_t *object)
{
	const char *label, *score;
	json_t *figures, *list;
	if (object && !json_is_object(object))
		return wrong(p, "'references' must be an object");
	json_object_foreach(object, label, figures)
	{
		if (row->nreferences == BENCH_MOST_REFERENCES)
			return wrong(p, "at most %d references are allowed", BENCH_MOST_REFERENCES);
		bench_reference *r = &row->references[row->nreferences++];
		r->label = copy(p, label);
		r->values = many(p, (size_t)t->nscores * (size_t)scored, sizeof *r->values);
		if (!r->label || !r->values)
			return false;
		for (int i = 0; i < t->nscores * scored; i++)
			r->values[i] = NAN;
		json_object_foreach(figures, score, list)
		{
			int at = 0;
			while (at < t->nscores && strcmp(bench_score_names[t->scores[at]], score) != 0)
				at++;
			if (at == t->nscores || (int)json_array_size(list) != scored)
				return wrong(
				        p,
				        "references: '%s' must be a score of the table, with a list of %d figures",
				        score, scored);
			for (int i = 0; i < scored; i++)
				if (json_is_number(json_array_get(list, (size_t)i)))
					r->values[at * scored + i] =
					        json_number_value(json_array_get(list, (size_t)i));
		}
	}
	return true;
}

static bool read_row(place *p, const bench_table *t, int scored, bench_row *row, json_t *object)
{
	static const char *const keys[] = { "name", "method", "pooled", "set", "grid", "references", NULL };
	if (!check_keys(p, object, keys) || !(row->method = get_text(p, object, "method", true)))
		return false;
	const kdr_algo *algo = kdr_algo_find(row->method);
	if (!algo)
		return wrong(p, "there is no method '%s'; 'kindred methods' lists them", row->method);
	bool transfers = false;
	for (int i = 0; i < t->ndata; i++)
		transfers |= t->data[i].role == KDR_ROLE_SOURCE;
	if (algo->family == KDR_FAMILY_TRANSFER && !transfers)
		return wrong(p, "method '%s' transfers labels: the table needs 'source' and 'target'",
		             row->method);
	row->name =
	        json_object_get(object, "name") ? get_text(p, object, "name", true) : copy(p, row->method);
	row->pooled = json_is_true(json_object_get(object, "pooled"));
	return row->name &&
	       read_settings(p, row, json_object_get(object, "set"), json_object_get(object, "grid")) &&
	       read_references(p, t, scored, row, json_object_get(object, "references"));
}

/* --- tables and plans ---------------------------------------------------------------------------- */

static bool read_scores(place *p, bench_table *t, json_t *list)
{
	if (!list) { /* what the papers report */
		t->scores[t->nscores++] = 0;
		t->scores[t->nscores++] = 1;
		return true;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		int which = 0;
		while (name && bench_score_names[which] && strcmp(bench_score_names[which], name) != 0)
			which++;
		if (!name || !bench_score_names[which] || t->nscores == BENCH_MOST_SCORES)
			return wrong(
			        p,
			        "'scores' must be a list of acc, nmi, nmi_arithmetic, nmi_max, ari, purity, homogeneity, completeness, v_measure");
		t->scores[t->nscores++] = which;
	}
	return t->nscores > 0 || wrong(p, "'scores' is empty");
}

static bool read_table(place *p, bench_table *t, json_t *object)
{
	static const char *const keys[] = { "title",    "note",     "data",  "source",     "bridge",
		                            "target",   "generate", "tasks", "separation", "k",
		                            "features", "weight",   "norm",  "scale",      "top_features",
		                            "sample",   "repeats",  "start", "pick",       "paired",
		                            "scores",   "rows",     NULL };
	static const char *const starts[] = { "own", "random", NULL };
	static const char *const picks[] = { "none", "truth", NULL };
	if (!check_keys(p, object, keys) || !(t->title = get_text(p, object, "title", true)))
		return false;
	t->note = get_text(p, object, "note", false);
	t->paired = get_text(p, object, "paired", false);
	/* "auto": as the method auto prepares its data, by what they look like. */
	json_t *weight = json_object_get(object, "weight");
	t->suggest = json_is_string(weight) && strcmp(json_string_value(weight), "auto") == 0;
	t->prep = (kdr_prep_options){
		.align = (kdr_align)(get_choice(p, object, "features", cli_prep_choices("features"), -1) + 1),
		.weight = t->suggest ? KDR_WEIGHT_NONE
		                     : (kdr_weight)get_choice(p, object, "weight", cli_prep_choices("weight"),
		                                              0),
		.norm = (kdr_norm)get_choice(p, object, "norm", cli_prep_choices("norm"), 0),
		.scale = (kdr_scale)get_choice(p, object, "scale", cli_prep_choices("scale"), 0),
		.top_features = (int64_t)get_number(p, object, "top_features", 1, 1e15, 0),
	};
	t->sample = (int64_t)get_number(p, object, "sample", 2, 1e15, 0);
	t->repeats = (int)get_number(p, object, "repeats", 1, 1e5, 10);
	t->start = (bench_start)get_choice(p, object, "start", starts, 0);
	t->pick = (bench_pick)get_choice(p, object, "pick", picks, 0);
	if (p->code != EXIT_DONE || !read_scores(p, t, json_object_get(object, "scores")) ||
	    !read_data(p, t, object))
		return false;
	int scored = 0;
	for (int i = 0; i < t->ndata; i++)
		scored += t->data[i].role == KDR_ROLE_TASK || t->data[i].role == KDR_ROLE_TARGET;
	json_t *rows = json_object_get(object, "rows");
	size_t n = json_array_size(rows);
	if (n == 0)
		return wrong(p, "'rows' must be a list of methods");
	if (!(t->rows = many(p, n, sizeof *t->rows)))
		return false;
	bool found = !t->paired;
	for (size_t i = 0; i < n; i++) {
		if (!read_row(p, t, scored, &t->rows[t->nrows++], json_array_get(rows, i)))
			return false;
		found |= t->paired && strcmp(t->paired, t->rows[i].name) == 0;
	}
	return found || wrong(p, "'paired': there is no row '%s'", t->paired);
}

int bench_plan_parse(const char *name, const char *text, size_t size, const char *folder, bench_plan *out)
{
	static const char *const keys[] = { "title", "tables", "rows", NULL };
	place p = { .file = name, .folder = folder };
	json_error_t error;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	*out = (bench_plan){ 0 };
	if (!root) {
		cli_error("%s: line %d: %s", name, error.line, error.text);
		return EXIT_DATA;
	}
	json_t *tables = bench_pairs_expand(root);
	size_t n = json_array_size(tables);
	if (!tables)
		no_memory(&p);
	if (tables && check_keys(&p, root, keys) && (out->title = get_text(&p, root, "title", true))) {
		if (n == 0)
			wrong(&p, "'tables' must be a list of tables");
		else
			out->tables = many(&p, n, sizeof *out->tables);
		for (size_t i = 0; i < n && p.code == EXIT_DONE; i++) {
			snprintf(p.where, sizeof p.where, "table %zu", i + 1);
			read_table(&p, &out->tables[out->ntables++], json_array_get(tables, i));
		}
	}
	json_decref(tables);
	json_decref(root);
	if (p.code != EXIT_DONE)
		bench_plan_free(out);
	return p.code;
}

int bench_plan_read(const char *path, bench_plan *out)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL, folder[4096] = "";
	size_t used = 0, room = 0;
	int code = EXIT_DONE;
	if (!file) {
		cli_error("%s: cannot open: %s", path, strerror(errno));
		return EXIT_DATA;
	}
	do {
		if (room - used < 65536) {
			char *grown = realloc(text, room = used + (1 << 17));
			if (!grown) {
				cli_error("out of memory");
				code = EXIT_OTHER;
				break;
			}
			text = grown;
		}
		used += fread(text + used, 1, room - used, file);
	} while (!feof(file) && !ferror(file) && used < (1 << 26));
	if (code == EXIT_DONE && (ferror(file) || used >= (1 << 26))) {
		cli_error("%s: %s", path, ferror(file) ? strerror(errno) : "a plan of over 64 MB");
		code = EXIT_DATA;
	}
	fclose(file);
	const char *slash = strrchr(path, '/');
	if (slash && (size_t)(slash - path) < sizeof folder)
		memcpy(folder, path, (size_t)(slash - path));
	if (code == EXIT_DONE)
		code = bench_plan_parse(path, text, used, folder, out);
	free(text);
	return code;
}

static void free_data(bench_data *d)
{
	for (int i = 0; i < d->nclasses; i++) {
		free(d->classes[i]);
		free(d->called[i]);
	}
	free(d->classes);
	free(d->called);
	free(d->path);
	free(d->name);
}

static void free_row(bench_row *row)
{
	for (int i = 0; i < row->nset; i++) {
		free(row->set[i].name);
		free(row->set[i].value);
	}
	for (int i = 0; i < row->ngrid; i++) {
		for (int v = 0; v < row->grid[i].nvalues; v++)
			free(row->grid[i].values[v]);
		free(row->grid[i].values);
		free(row->grid[i].name);
	}
	for (int i = 0; i < row->nreferences; i++) {
		free(row->references[i].label);
		free(row->references[i].values);
	}
	free(row->set);
	free(row->grid);
	free(row->name);
	free(row->method);
}

void bench_plan_free(bench_plan *plan)
{
	for (int i = 0; i < plan->ntables; i++) {
		bench_table *t = &plan->tables[i];
		for (int d = 0; d < t->ndata; d++)
			free_data(&t->data[d]);
		for (int r = 0; r < t->nrows; r++)
			free_row(&t->rows[r]);
		free(t->data);
		free(t->rows);
		free(t->design);
		free(t->paired);
		free(t->note);
		free(t->title);
	}
	free(plan->tables);
	free(plan->title);
	*plan = (bench_plan){ 0 };
}
