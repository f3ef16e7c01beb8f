/* Plans for kindred bench: rows, tables, plans, read from JSON. SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
#include "core/json_read.h"
#include "core/system.h"
#include "core/words.h"

#include <errno.h>
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

/* --- rows --------------------------------------------------------------------------------------- */

static bool read_settings(plan_place *p, bench_row *row, const kdri_json_value *set,
                          const kdri_json_value *grid)
{
	if ((set && !kdri_json_is(set, KDRI_JSON_OBJECT)) || (grid && !kdri_json_is(grid, KDRI_JSON_OBJECT)))
		return plan_wrong(p, "'set' and 'grid' must be objects with option names and their values");
	row->set = plan_many(p, (size_t)kdri_json_count(set), sizeof *row->set);
	row->grid = plan_many(p, (size_t)kdri_json_count(grid), sizeof *row->grid);
	if (!row->set || !row->grid)
		return false;
	for (int64_t i = 0; i < kdri_json_count(set); i++) {
		const kdri_json_value *value = kdri_json_at(set, i);
		bench_setting *s = &row->set[row->nset++];
		if (!(s->name = plan_copy(p, kdri_json_key(value))) || !(s->value = plan_option(p, value)))
			return false;
	}
	for (int64_t g = 0; g < kdri_json_count(grid); g++) {
		const kdri_json_value *value = kdri_json_at(grid, g);
		const char *key = kdri_json_key(value);
		bench_axis *axis = &row->grid[row->ngrid++];
		size_t n = (size_t)plan_list_count(value);
		if (n == 0)
			return plan_wrong(p, "'grid': the values of '%s' must be a list", key);
		if (!(axis->name = plan_copy(p, key)) || !(axis->values = plan_many(p, n, sizeof(char *))))
			return false;
		for (size_t i = 0; i < n; i++) {
			if (!(axis->values[i] = plan_option(p, kdri_json_at(value, (int64_t)i))))
				return false;
			axis->nvalues++;
		}
	}
	return true;
}

/* "references": {"paper": {"acc": [0.57, ...]}}: one figure for each scored data set, null where none. */
static bool read_references(plan_place *p, const bench_table *t, int scored, bench_row *row,
                            const kdri_json_value *object)
{
	if (object && !kdri_json_is(object, KDRI_JSON_OBJECT))
		return plan_wrong(p, "'references' must be an object");
	for (int64_t o = 0; o < kdri_json_count(object); o++) {
		const kdri_json_value *figures = kdri_json_at(object, o);
		if (row->nreferences == BENCH_MOST_REFERENCES)
			return plan_wrong(p, "at most %d references are allowed", BENCH_MOST_REFERENCES);
		bench_reference *r = &row->references[row->nreferences++];
		r->label = plan_copy(p, kdri_json_key(figures));
		r->values = plan_many(p, (size_t)t->nscores * (size_t)scored, sizeof *r->values);
		if (!r->label || !r->values)
			return false;
		for (int i = 0; i < t->nscores * scored; i++)
			r->values[i] = NAN;
		for (int64_t f = 0; f < kdri_json_count(figures); f++) {
			const kdri_json_value *list = kdri_json_at(figures, f);
			const char *score = kdri_json_key(list);
			int at = 0;
			while (at < t->nscores && strcmp(bench_score_names[t->scores[at]], score) != 0)
				at++;
			if (at == t->nscores || (int)plan_list_count(list) != scored)
				return plan_wrong(
				        p,
				        "references: '%s' must be a score of the table, with a list of "
				        "%d figures",
				        score, scored);
			for (int i = 0; i < scored; i++)
				if (kdri_json_is_number(kdri_json_at(list, (int64_t)i)))
					r->values[at * scored + i] =
					        kdri_json_number(kdri_json_at(list, (int64_t)i), 0);
		}
	}
	return true;
}

static bool read_row(plan_place *p, const bench_table *t, int scored, bench_row *row,
                     const kdri_json_value *object)
{
	static const char *const keys[] = { "name", "method", "missing",    "repeats", "pooled",
		                            "set",  "grid",   "references", "alone",   NULL };
	if (!plan_check_keys(p, object, keys))
		return false;
	if (kdri_json_get(object, "missing")) /* the figures of others alone */
		return (row->missing = plan_text(p, object, "missing", true)) &&
		       (row->name = plan_text(p, object, "name", true)) &&
		       read_settings(p, row, NULL, NULL) &&
		       read_references(p, t, scored, row, kdri_json_get(object, "references"));
	if (!(row->method = plan_text(p, object, "method", true)))
		return false;
	bool transfers = false, alone = kdri_json_is(kdri_json_get(object, "alone"), KDRI_JSON_TRUE);
	for (int i = 0; i < t->ndata; i++)
		transfers |= t->data[i].role == KDR_ROLE_SOURCE;
	/* "auto" is a method of both families: with sources it is that of transfer, as in 'kindred transfer -m auto'. */
	const kdr_algo *algo = NULL;
	if (!transfers || alone || kdr_algo_require(NULL, row->method, KDR_FAMILY_TRANSFER, &algo) != KDR_OK)
		algo = kdr_algo_find(row->method);
	if (!algo) {
		char text[256];
		kdri_unknown_method(row->method, NULL, text, sizeof text);
		return plan_wrong(p, "%s", text);
	}
	if (alone && algo->family == KDR_FAMILY_TRANSFER)
		return plan_wrong(p, "'alone': method '%s' cannot run without the sources", row->method);
	row->name = kdri_json_get(object, "name") ? plan_text(p, object, "name", true)
	                                          : plan_copy(p, row->method);
	if (strcmp(algo->id, row->method) != 0) {
		free(row->method);
		if (!(row->method = plan_copy(p, algo->id)))
			return false;
	}
	if (algo->family == KDR_FAMILY_TRANSFER && !transfers)
		return plan_wrong(p, "method '%s' transfers labels: the table needs 'source' and 'target'",
		                  row->method);
	row->repeats = (int)plan_number(p, object, "repeats", 1, 1e5, 0);
	row->pooled = kdri_json_is(kdri_json_get(object, "pooled"), KDRI_JSON_TRUE);
	return row->name &&
	       read_settings(p, row, kdri_json_get(object, "set"), kdri_json_get(object, "grid")) &&
	       read_references(p, t, scored, row, kdri_json_get(object, "references"));
}

/* --- tables and plans ---------------------------------------------------------------------------- */

static bool read_scores(plan_place *p, bench_table *t, const kdri_json_value *list)
{
	if (!list) { /* what the papers report */
		t->scores[t->nscores++] = 0;
		t->scores[t->nscores++] = 1;
		return true;
	}
	for (int64_t i = 0; i < plan_list_count(list); i++) {
		const char *name = kdri_json_text(kdri_json_at(list, i), NULL);
		int which = 0;
		while (name && bench_score_names[which] && strcmp(bench_score_names[which], name) != 0)
			which++;
		if (!name || !bench_score_names[which] || t->nscores == BENCH_MOST_SCORES)
			return plan_wrong(
			        p,
			        "'scores' must be a list of acc, nmi, nmi_arithmetic, nmi_max, ari, purity, homogeneity, completeness, v_measure");
		t->scores[t->nscores++] = which;
	}
	return t->nscores > 0 || plan_wrong(p, "'scores' is empty");
}

static bool read_table(plan_place *p, bench_table *t, const bench_pair *pair)
{
	const kdri_json_value *object = pair->table;
	const char *const keys[] = {
		"title",   "note",     "group", "data",         "source",  "bridge",
		"target",  "generate", "tasks", "separation",   "k",       "features",
		"weight",  "norm",     "scale", "top_features", "top_by",  "sample",
		"repeats", "start",    "pick",  "paired",       "record",  "curve",
		"fit_on",  "scores",   "rows",  "label_column", "missing", pair->sets ? "pairs" : NULL,
		NULL
	};
	static const char *const starts[] = { "own", "random", NULL };
	static const char *const picks[] = { "none", "truth", NULL };
	char title[512], group[512];
	bench_pairs_title(pair, title, sizeof title);
	bench_pairs_group(pair, group, sizeof group);
	if (!plan_check_keys(p, object, keys) ||
	    !(t->title = pair->sets ? plan_copy(p, title) : plan_text(p, object, "title", true)) ||
	    !(t->group = kdri_json_get(object, "group") ? plan_text(p, object, "group", true)
	                                                : plan_copy(p, group)))
		return false;
	t->note = plan_text(p, object, "note", false);
	t->paired = plan_text(p, object, "paired", false);
	t->record = kdri_json_is(kdri_json_get(object, "record"), KDRI_JSON_TRUE);
	/* "auto": the preprocessing that the method auto chooses by the kind of data. */
	const kdri_json_value *weight = kdri_json_get(object, "weight");
	t->suggest =
	        kdri_json_is(weight, KDRI_JSON_TEXT) && strcmp(kdri_json_text(weight, NULL), "auto") == 0;
	t->prep = (kdr_prep_options){
		.size = sizeof t->prep,
		.align = (kdr_align)plan_choice(p, object, "features", kdr_choices("features"), 0),
		.weight = t->suggest ? KDR_WEIGHT_NONE
		                     : (kdr_weight)plan_choice(p, object, "weight", kdr_choices("weight"), 0),
		.norm = (kdr_norm)plan_choice(p, object, "norm", kdr_choices("norm"), 0),
		.scale = (kdr_scale)plan_choice(p, object, "scale", kdr_choices("scale"), 0),
		.top_features = (int64_t)plan_number(p, object, "top_features", 1, 1e15, 0),
		.fit_each = plan_choice(p, object, "fit_on", kdr_choices("fit-on"), 0) == 1,
		.top_by = (kdr_top)plan_choice(p, object, "top_by", kdr_choices("top-by"), 0),
	};
	t->sample = (int64_t)plan_number(p, object, "sample", 2, 1e15, 0);
	t->repeats = (int)plan_number(p, object, "repeats", 1, 1e5, 10);
	t->start = (bench_start)plan_choice(p, object, "start", starts, 0);
	t->pick = (bench_pick)plan_choice(p, object, "pick", picks, 0);
	if (p->code != EXIT_DONE || !read_scores(p, t, kdri_json_get(object, "scores")) ||
	    !bench_sets_read(p, t, pair))
		return false;
	int scored = 0;
	plan_choice(p, object, "missing", kdr_choices("missing"), 0); /* refuses other names */
	for (int i = 0; i < t->ndata; i++) {
		t->data[i].label = plan_text(p, object, "label_column", false);
		t->data[i].missing = plan_text(p, object, "missing", false);
		scored += t->data[i].role == KDR_ROLE_TASK || t->data[i].role == KDR_ROLE_TARGET;
	}
	if (p->code != EXIT_DONE)
		return false;
	const kdri_json_value *rows = pair->rows;
	size_t n = (size_t)plan_list_count(rows);
	if (n == 0)
		return plan_wrong(p, "'rows' must be a list of methods");
	if (!(t->rows = plan_many(p, n, sizeof *t->rows)))
		return false;
	bool found = !t->paired;
	for (size_t i = 0; i < n; i++) {
		if (!read_row(p, t, scored, &t->rows[t->nrows++], kdri_json_at(rows, (int64_t)i)))
			return false;
		found |= t->paired && t->rows[i].name && strcmp(t->paired, t->rows[i].name) == 0;
	}
	return found || plan_wrong(p, "'paired': the table has no row '%s'", t->paired);
}

/* {"row": "auto", "against": ["svm"]}: all tables have the plan's rows. */
static bool read_summary(plan_place *p, const kdri_json_value *root, bench_plan *plan)
{
	static const char *const keys[] = { "row", "against", NULL };
	const kdri_json_value *summary = kdri_json_get(root, "summary"),
	                      *against = kdri_json_get(summary, "against");
	if (!summary)
		return true;
	snprintf(p->where, sizeof p->where, "summary");
	if (!plan_check_keys(p, summary, keys) || !(plan->summary = plan_text(p, summary, "row", true)))
		return false;
	plan->against = plan_many(p, (size_t)plan_list_count(against), sizeof *plan->against);
	if (!plan->against)
		return false;
	for (int64_t i = 0; i < plan_list_count(against); i++) {
		if (!(plan->against[i] = plan_value(p, kdri_json_at(against, i))))
			return false;
		plan->nagainst++;
	}
	for (int t = 0; t < plan->ntables; t++)
		if (plan->tables[t].nrows != plan->tables[0].nrows)
			return plan_wrong(p, "all tables must have the same rows");
	for (int i = -1; i < plan->nagainst; i++) {
		const char *name = i < 0 ? plan->summary : plan->against[i];
		bool found = false;
		for (int r = 0; name && r < plan->tables[0].nrows; r++)
			found |= strcmp(plan->tables[0].rows[r].name, name) == 0;
		if (!found)
			return plan_wrong(p, "the table has no row '%s'", name);
	}
	return true;
}

int bench_plan_parse(const char *name, const char *text, size_t size, const char *folder, bench_plan *out)
{
	static const char *const keys[] = { "title", "paper", "tables", "rows", "summary", NULL };
	plan_place p = { .file = name, .folder = folder };
	kdr_context *ctx = NULL;
	kdri_json_value *root = NULL;
	*out = (bench_plan){ 0 };
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st == KDR_OK)
		st = kdri_json_parse(ctx, name, 1, text, size, &root);
	if (st != KDR_OK) {
		int code = cli_fail(ctx, st);
		kdr_context_free(ctx);
		return code;
	}
	size_t n = (size_t)bench_pairs_count(root);
	if (plan_check_keys(&p, root, keys) && (out->title = plan_text(&p, root, "title", true))) {
		out->paper = plan_text(&p, root, "paper", false);
		if (n == 0)
			plan_wrong(&p, "'tables' must be a list of tables");
		else
			out->tables = plan_many(&p, n, sizeof *out->tables);
		for (size_t i = 0; i < n && p.code == EXIT_DONE; i++) {
			snprintf(p.where, sizeof p.where, "table %zu", i + 1);
			bench_pair pair = bench_pairs_at(root, (int64_t)i);
			read_table(&p, &out->tables[out->ntables++], &pair);
		}
		if (p.code == EXIT_DONE)
			read_summary(&p, root, out);
	}
	kdri_json_value_free(root);
	kdr_context_free(ctx);
	if (p.code != EXIT_DONE)
		bench_plan_free(out);
	return p.code;
}

int bench_plan_read(const char *path, bench_plan *out)
{
	char folder[4096] = "";
	size_t size = 0;
	char *text = bench_read_text(path, &size);
	if (!text) {
		int code = errno == ENOMEM ? EXIT_OTHER : EXIT_DATA;
		cli_error("%s: cannot open: %s", path, strerror(errno));
		return code;
	}
	size_t length = kdri_folder_length(path);
	if (length > 0 && length <= sizeof folder)
		memcpy(folder, path, length - 1);
	int code = bench_plan_parse(path, text, size, folder, out);
	free(text);
	return code;
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
	free(row->missing);
	free(row->method);
}

void bench_plan_free(bench_plan *plan)
{
	for (int i = 0; i < plan->ntables; i++) {
		bench_table *t = &plan->tables[i];
		for (int d = 0; d < t->ndata; d++)
			bench_set_free(&t->data[d]);
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
	free(plan->paper);
	*plan = (bench_plan){ 0 };
}
