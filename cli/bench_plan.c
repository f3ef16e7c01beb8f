/* Plans for kindred bench: read from JSON, or made from the command line. SPDX-License-Identifier: BSD-3-Clause
 */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
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

/* Entries of a list; 0 of all else, objects too. */
static int64_t list_count(const kdr_json *value)
{
	return kdr_json_is(value, KDR_JSON_ARRAY) ? kdr_json_count(value) : 0;
}

/* Every key must be one of `known`. */
static bool check_keys(place *p, const kdr_json *object, const char *const *known)
{
	if (!kdr_json_is(object, KDR_JSON_OBJECT))
		return wrong(p, "an object {...} is needed");
	for (int64_t i = 0; i < kdr_json_count(object); i++) {
		const char *key = kdr_json_key(kdr_json_at(object, i));
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
static char *get_text(place *p, const kdr_json *object, const char *key, bool needed)
{
	const kdr_json *value = kdr_json_get(object, key);
	if (!value && !needed)
		return NULL;
	if (!kdr_json_is(value, KDR_JSON_TEXT)) {
		wrong(p, "'%s' must be a text", key);
		return NULL;
	}
	return copy(p, kdr_json_text(value, NULL));
}

static double get_number(place *p, const kdr_json *object, const char *key, double low, double high,
                         double otherwise)
{
	const kdr_json *value = kdr_json_get(object, key);
	if (!value)
		return otherwise;
	double x = kdr_json_number(value, 0);
	if (!kdr_json_is_number(value) || !(x >= low && x <= high))
		wrong(p, "'%s' must be a number from %g to %g", key, low, high);
	return x;
}

static int get_choice(place *p, const kdr_json *object, const char *key, const char *const *choices,
                      int otherwise)
{
	const kdr_json *value = kdr_json_get(object, key);
	char all[200] = "";
	if (!value)
		return otherwise;
	for (int i = 0; choices[i]; i++) {
		if (kdr_json_is(value, KDR_JSON_TEXT) && strcmp(kdr_json_text(value, NULL), choices[i]) == 0)
			return i;
		size_t used = strlen(all);
		snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", choices[i]);
	}
	wrong(p, "'%s' must be one of %s", key, all);
	return otherwise;
}

/* Numbers, one for each task, separated by commas. */
static char *list_text(place *p, const kdr_json *list)
{
	enum { WIDE = 32 }; /* of a number and its comma */
	size_t count = (size_t)list_count(list), used = 0, room = count * WIDE + 1;
	char *text = many(p, room, 1);
	for (size_t i = 0; text && i < count; i++) {
		const kdr_json *item = kdr_json_at(list, (int64_t)i);
		if (!kdr_json_is_number(item)) {
			wrong(p, "a list of values of an option must be numbers");
			free(text);
			return NULL;
		}
		used += (size_t)snprintf(text + used, room - used, "%s%.15g", i ? "," : "",
		                         kdr_json_number(item, 0));
	}
	return text;
}

/* An option's value as text, as --set takes it. */
static char *value_text(place *p, const kdr_json *value)
{
	char text[64];
	if (kdr_json_is(value, KDR_JSON_TEXT))
		return copy(p, kdr_json_text(value, NULL));
	if (kdr_json_is_bool(value))
		return copy(p, kdr_json_is(value, KDR_JSON_TRUE) ? "true" : "false");
	if (kdr_json_is(value, KDR_JSON_INTEGER))
		snprintf(text, sizeof text, "%lld", (long long)kdr_json_integer(value, 0));
	else if (kdr_json_is(value, KDR_JSON_REAL))
		snprintf(text, sizeof text, "%.15g", kdr_json_number(value, 0));
	else {
		wrong(p, "a value of an option must be a number, a text, true or false");
		return NULL;
	}
	return copy(p, text);
}

/* The same, or a number for each task. */
static char *option_text(place *p, const kdr_json *value)
{
	return list_count(value) > 0 ? list_text(p, value) : value_text(p, value);
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
static bool add_class(place *p, bench_data *d, const kdr_json *class, const char *called)
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
static bool read_classes(place *p, bench_data *d, const kdr_json *classes)
{
	if (list_count(classes) > 0) {
		for (int64_t i = 0; i < list_count(classes); i++)
			if (!add_class(p, d, kdr_json_at(classes, i), NULL))
				return false;
		return true;
	}
	if (!kdr_json_is(classes, KDR_JSON_OBJECT) || kdr_json_count(classes) == 0)
		return wrong(p, "'classes' must be a list of names, or an object of such lists");
	for (int64_t c = 0; c < kdr_json_count(classes); c++) {
		const kdr_json *list = kdr_json_at(classes, c);
		if (list_count(list) == 0)
			return wrong(p, "'classes': '%s' must be a list of names", kdr_json_key(list));
		for (int64_t i = 0; i < list_count(list); i++)
			if (!add_class(p, d, kdr_json_at(list, i), kdr_json_key(list)))
				return false;
	}
	return true;
}

/* "part": [0, 0.5]: the samples whose lot is in there. */
static bool read_part(place *p, bench_data *d, const kdr_json *part)
{
	for (int i = 0; part && i < 2; i++)
		d->part[i] = kdr_json_number(kdr_json_at(part, i), NAN);
	if (part &&
	    (list_count(part) != 2 || !(0 <= d->part[0] && d->part[0] < d->part[1] && d->part[1] <= 1)))
		return wrong(p, "'part' must be two numbers from 0 to 1, the smaller one first");
	return true;
}

/* "keep": {"a": 0.2}: so many of a class's samples. */
static bool read_kept(place *p, bench_data *d, const kdr_json *keep)
{
	if (!keep)
		return true;
	if (!kdr_json_is(keep, KDR_JSON_OBJECT))
		return wrong(p, "'keep' must be an object: classes, and what share of each is kept");
	d->rare = many(p, (size_t)kdr_json_count(keep), sizeof *d->rare);
	d->kept = many(p, (size_t)kdr_json_count(keep), sizeof *d->kept);
	for (int64_t i = 0; d->rare && d->kept && i < kdr_json_count(keep); i++) {
		const char *name = kdr_json_key(kdr_json_at(keep, i));
		d->kept[i] = get_number(p, keep, name, 0, 1, 1);
		if (p->code != EXIT_DONE || !(d->rare[i] = copy(p, name)))
			return false;
		d->nrare++;
	}
	return d->rare && d->kept;
}

/* A file, or {"path": ..., "name": ..., "classes": ..., "part": ..., "keep": ...}. */
static bool read_file(place *p, bench_data *d, const kdr_json *item, const char *key)
{
	static const char *const keys[] = { "path", "name", "classes", "part", "keep", NULL };
	const kdr_json *path = kdr_json_is(item, KDR_JSON_OBJECT) ? kdr_json_get(item, "path") : item;
	const kdr_json *classes = kdr_json_is(item, KDR_JSON_OBJECT) ? kdr_json_get(item, "classes") : NULL;
	if (!kdr_json_is(path, KDR_JSON_TEXT))
		return wrong(p, "'%s' must be a file, an object with its \"path\", or a list of these", key);
	if (!(d->path = join_path(p, kdr_json_text(path, NULL))))
		return false;
	if (kdr_json_is(item, KDR_JSON_TEXT))
		return true;
	if (!check_keys(p, item, keys))
		return false;
	d->name = get_text(p, item, "name", false);
	if (!read_part(p, d, kdr_json_get(item, "part")) || !read_kept(p, d, kdr_json_get(item, "keep")))
		return false;
	if (!classes)
		return p->code == EXIT_DONE;
	return read_classes(p, d, classes) && p->code == EXIT_DONE;
}

static bool add_data(place *p, bench_table *t, const kdr_json *list, const char *key, kdr_role role)
{
	if (!list)
		return true;
	size_t n = kdr_json_is(list, KDR_JSON_ARRAY) ? (size_t)list_count(list) : 1;
	bench_data *grown = realloc(t->data, ((size_t)t->ndata + n + 1) * sizeof *grown);
	if (!grown)
		return no_memory(p);
	t->data = grown;
	for (size_t i = 0; i < n; i++) {
		const kdr_json *item =
		        kdr_json_is(list, KDR_JSON_ARRAY) ? kdr_json_at(list, (int64_t)i) : list;
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

/* The sources: those written, or those of a pair. */
static bool add_sources(place *p, bench_table *t, const bench_pair *pair)
{
	if (!pair->sets)
		return add_data(p, t, kdr_json_get(pair->table, "source"), "source", KDR_ROLE_SOURCE);
	for (int64_t i = 0; i < kdr_json_count(pair->sets); i++)
		if ((pair->from < 0 ? i != pair->to : i == pair->from) &&
		    !add_data(p, t, kdr_json_at(pair->sets, i), "pairs", KDR_ROLE_SOURCE))
			return false;
	return true;
}

static bool read_data(place *p, bench_table *t, const bench_pair *pair)
{
	const kdr_json *object = pair->table;
	static const char *const designs[] = { "blobs", "topics", "berikov", NULL };
	const kdr_json *k = kdr_json_get(object, "k");
	if (kdr_json_get(object, "generate")) {
		int design = get_choice(p, object, "generate", designs, 0);
		int64_t tasks = (int64_t)get_number(p, object, "tasks", 1, 100, 2);
		t->separation = get_number(p, object, "separation", 0, 1e6, 0);
		if (p->code != EXIT_DONE || !(t->design = copy(p, designs[design])) ||
		    !add_design(p, t, tasks))
			return false;
	} else if (!add_data(p, t, kdr_json_get(object, "data"), "data", KDR_ROLE_TASK) ||
	           !add_sources(p, t, pair) ||
	           !add_data(p, t, kdr_json_get(object, "bridge"), "bridge", KDR_ROLE_BRIDGE) ||
	           !add_data(p, t,
	                     pair->sets ? kdr_json_at(pair->sets, pair->to) : kdr_json_get(object, "target"),
	                     "target", KDR_ROLE_TARGET)) {
		return false;
	}
	if (t->ndata == 0)
		return wrong(p, "no data: 'data', or 'source' and 'target', or 'generate' is needed");
	for (int i = 0; k && i < t->ndata; i++) {
		const kdr_json *item = kdr_json_is(k, KDR_JSON_ARRAY) ? kdr_json_at(k, i) : k;
		if (!kdr_json_is(item, KDR_JSON_INTEGER) || kdr_json_integer(item, 0) < 1)
			return wrong(p, "'k' must be a whole number from 1, or one for each data set");
		t->data[i].k = kdr_json_integer(item, 0);
	}
	return true;
}

/* --- rows --------------------------------------------------------------------------------------- */

static bool read_settings(place *p, bench_row *row, const kdr_json *set, const kdr_json *grid)
{
	if ((set && !kdr_json_is(set, KDR_JSON_OBJECT)) || (grid && !kdr_json_is(grid, KDR_JSON_OBJECT)))
		return wrong(p,
		             "'set' and 'grid' must be objects: an option's name, and its value or values");
	row->set = many(p, (size_t)kdr_json_count(set), sizeof *row->set);
	row->grid = many(p, (size_t)kdr_json_count(grid), sizeof *row->grid);
	if (!row->set || !row->grid)
		return false;
	for (int64_t i = 0; i < kdr_json_count(set); i++) {
		const kdr_json *value = kdr_json_at(set, i);
		bench_setting *s = &row->set[row->nset++];
		if (!(s->name = copy(p, kdr_json_key(value))) || !(s->value = option_text(p, value)))
			return false;
	}
	for (int64_t g = 0; g < kdr_json_count(grid); g++) {
		const kdr_json *value = kdr_json_at(grid, g);
		const char *key = kdr_json_key(value);
		bench_axis *axis = &row->grid[row->ngrid++];
		size_t n = (size_t)list_count(value);
		if (n == 0)
			return wrong(p, "'grid': the values of '%s' must be a list", key);
		if (!(axis->name = copy(p, key)) || !(axis->values = many(p, n, sizeof(char *))))
			return false;
		for (size_t i = 0; i < n; i++) {
			if (!(axis->values[i] = option_text(p, kdr_json_at(value, (int64_t)i))))
				return false;
			axis->nvalues++;
		}
	}
	return true;
}

/* "references": {"paper": {"acc": [0.57, ...]}}: one figure for each scored data set, null where none. */
static bool read_references(place *p, const bench_table *t, int scored, bench_row *row,
                            const kdr_json *object)
{
	if (object && !kdr_json_is(object, KDR_JSON_OBJECT))
		return wrong(p, "'references' must be an object");
	for (int64_t o = 0; o < kdr_json_count(object); o++) {
		const kdr_json *figures = kdr_json_at(object, o);
		if (row->nreferences == BENCH_MOST_REFERENCES)
			return wrong(p, "at most %d references are allowed", BENCH_MOST_REFERENCES);
		bench_reference *r = &row->references[row->nreferences++];
		r->label = copy(p, kdr_json_key(figures));
		r->values = many(p, (size_t)t->nscores * (size_t)scored, sizeof *r->values);
		if (!r->label || !r->values)
			return false;
		for (int i = 0; i < t->nscores * scored; i++)
			r->values[i] = NAN;
		for (int64_t f = 0; f < kdr_json_count(figures); f++) {
			const kdr_json *list = kdr_json_at(figures, f);
			const char *score = kdr_json_key(list);
			int at = 0;
			while (at < t->nscores && strcmp(bench_score_names[t->scores[at]], score) != 0)
				at++;
			if (at == t->nscores || (int)list_count(list) != scored)
				return wrong(p,
				             "references: '%s' must be a score of the table, with a list of "
				             "%d figures",
				             score, scored);
			for (int i = 0; i < scored; i++)
				if (kdr_json_is_number(kdr_json_at(list, (int64_t)i)))
					r->values[at * scored + i] =
					        kdr_json_number(kdr_json_at(list, (int64_t)i), 0);
		}
	}
	return true;
}

static bool read_row(place *p, const bench_table *t, int scored, bench_row *row, const kdr_json *object)
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
	row->name = kdr_json_get(object, "name") ? get_text(p, object, "name", true) : copy(p, row->method);
	row->pooled = kdr_json_is(kdr_json_get(object, "pooled"), KDR_JSON_TRUE);
	return row->name &&
	       read_settings(p, row, kdr_json_get(object, "set"), kdr_json_get(object, "grid")) &&
	       read_references(p, t, scored, row, kdr_json_get(object, "references"));
}

/* --- tables and plans ---------------------------------------------------------------------------- */

static bool read_scores(place *p, bench_table *t, const kdr_json *list)
{
	if (!list) { /* what the papers report */
		t->scores[t->nscores++] = 0;
		t->scores[t->nscores++] = 1;
		return true;
	}
	for (int64_t i = 0; i < list_count(list); i++) {
		const char *name = kdr_json_text(kdr_json_at(list, i), NULL);
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

static bool read_table(place *p, bench_table *t, const bench_pair *pair)
{
	const kdr_json *object = pair->table;
	const char *const keys[] = { "title",
		                     "note",
		                     "group",
		                     "data",
		                     "source",
		                     "bridge",
		                     "target",
		                     "generate",
		                     "tasks",
		                     "separation",
		                     "k",
		                     "features",
		                     "weight",
		                     "norm",
		                     "scale",
		                     "top_features",
		                     "top_by",
		                     "sample",
		                     "repeats",
		                     "start",
		                     "pick",
		                     "paired",
		                     "scores",
		                     "rows",
		                     pair->sets ? "pairs" : NULL,
		                     NULL };
	static const char *const starts[] = { "own", "random", NULL };
	static const char *const picks[] = { "none", "truth", NULL };
	char title[512], group[512];
	bench_pairs_title(pair, title, sizeof title);
	bench_pairs_group(pair, group, sizeof group);
	if (!check_keys(p, object, keys) ||
	    !(t->title = pair->sets ? copy(p, title) : get_text(p, object, "title", true)) ||
	    !(t->group = kdr_json_get(object, "group") ? get_text(p, object, "group", true) : copy(p, group)))
		return false;
	t->note = get_text(p, object, "note", false);
	t->paired = get_text(p, object, "paired", false);
	/* "auto": as the method auto prepares its data, by what they look like. */
	const kdr_json *weight = kdr_json_get(object, "weight");
	t->suggest = kdr_json_is(weight, KDR_JSON_TEXT) && strcmp(kdr_json_text(weight, NULL), "auto") == 0;
	t->prep = (kdr_prep_options){
		.align = (kdr_align)(get_choice(p, object, "features", cli_prep_choices("features"), -1) + 1),
		.weight = t->suggest ? KDR_WEIGHT_NONE
		                     : (kdr_weight)get_choice(p, object, "weight", cli_prep_choices("weight"),
		                                              0),
		.norm = (kdr_norm)get_choice(p, object, "norm", cli_prep_choices("norm"), 0),
		.scale = (kdr_scale)get_choice(p, object, "scale", cli_prep_choices("scale"), 0),
		.top_features = (int64_t)get_number(p, object, "top_features", 1, 1e15, 0),
		.top_by = (kdr_top)get_choice(p, object, "top_by", cli_prep_choices("top-by"), 0),
	};
	t->sample = (int64_t)get_number(p, object, "sample", 2, 1e15, 0);
	t->repeats = (int)get_number(p, object, "repeats", 1, 1e5, 10);
	t->start = (bench_start)get_choice(p, object, "start", starts, 0);
	t->pick = (bench_pick)get_choice(p, object, "pick", picks, 0);
	if (p->code != EXIT_DONE || !read_scores(p, t, kdr_json_get(object, "scores")) ||
	    !read_data(p, t, pair))
		return false;
	int scored = 0;
	for (int i = 0; i < t->ndata; i++)
		scored += t->data[i].role == KDR_ROLE_TASK || t->data[i].role == KDR_ROLE_TARGET;
	const kdr_json *rows = pair->rows;
	size_t n = (size_t)list_count(rows);
	if (n == 0)
		return wrong(p, "'rows' must be a list of methods");
	if (!(t->rows = many(p, n, sizeof *t->rows)))
		return false;
	bool found = !t->paired;
	for (size_t i = 0; i < n; i++) {
		if (!read_row(p, t, scored, &t->rows[t->nrows++], kdr_json_at(rows, (int64_t)i)))
			return false;
		found |= t->paired && t->rows[i].name && strcmp(t->paired, t->rows[i].name) == 0;
	}
	return found || wrong(p, "'paired': there is no row '%s'", t->paired);
}

/* {"row": "auto", "against": ["svm"]}: all tables have the plan's rows. */
static bool read_summary(place *p, const kdr_json *root, bench_plan *plan)
{
	static const char *const keys[] = { "row", "against", NULL };
	const kdr_json *summary = kdr_json_get(root, "summary"), *against = kdr_json_get(summary, "against");
	if (!summary)
		return true;
	snprintf(p->where, sizeof p->where, "summary");
	if (!check_keys(p, summary, keys) || !(plan->summary = get_text(p, summary, "row", true)))
		return false;
	plan->against = many(p, (size_t)list_count(against), sizeof *plan->against);
	if (!plan->against)
		return false;
	for (int64_t i = 0; i < list_count(against); i++) {
		if (!(plan->against[i] = value_text(p, kdr_json_at(against, i))))
			return false;
		plan->nagainst++;
	}
	for (int t = 0; t < plan->ntables; t++)
		if (plan->tables[t].nrows != plan->tables[0].nrows)
			return wrong(p, "all tables must have the same rows");
	for (int i = -1; i < plan->nagainst; i++) {
		const char *name = i < 0 ? plan->summary : plan->against[i];
		bool found = false;
		for (int r = 0; name && r < plan->tables[0].nrows; r++)
			found |= strcmp(plan->tables[0].rows[r].name, name) == 0;
		if (!found)
			return wrong(p, "there is no row '%s'", name);
	}
	return true;
}

int bench_plan_parse(const char *name, const char *text, size_t size, const char *folder, bench_plan *out)
{
	static const char *const keys[] = { "title", "tables", "rows", "summary", NULL };
	place p = { .file = name, .folder = folder };
	kdr_context *ctx = NULL;
	kdr_json *root = NULL;
	*out = (bench_plan){ 0 };
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st == KDR_OK)
		st = kdr_json_parse(ctx, name, 1, text, size, &root);
	if (st != KDR_OK) {
		int code = cli_fail(ctx, st);
		kdr_context_free(ctx);
		return code;
	}
	size_t n = (size_t)bench_pairs_count(root);
	if (check_keys(&p, root, keys) && (out->title = get_text(&p, root, "title", true))) {
		if (n == 0)
			wrong(&p, "'tables' must be a list of tables");
		else
			out->tables = many(&p, n, sizeof *out->tables);
		for (size_t i = 0; i < n && p.code == EXIT_DONE; i++) {
			snprintf(p.where, sizeof p.where, "table %zu", i + 1);
			bench_pair pair = bench_pairs_at(root, (int64_t)i);
			read_table(&p, &out->tables[out->ntables++], &pair);
		}
		if (p.code == EXIT_DONE)
			read_summary(&p, root, out);
	}
	kdr_json_free(root);
	kdr_context_free(ctx);
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
	for (int i = 0; i < d->nrare; i++)
		free(d->rare[i]);
	free(d->rare);
	free(d->kept);
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
		free(t->group);
		free(t->title);
	}
	for (int i = 0; i < plan->nagainst; i++)
		free(plan->against[i]);
	free(plan->against);
	free(plan->summary);
	free(plan->tables);
	free(plan->title);
	*plan = (bench_plan){ 0 };
}
