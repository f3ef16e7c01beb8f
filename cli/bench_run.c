/* Runs one table of a plan: data x methods x settings x repeats. SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeat r uses the seed --seed + r for everything: generated data, the rows drawn, the shared random start, and the methods.
 * All rows of a repeat use the same data. Known classes are used for scoring, for k if the plan has none, and as the classes
 * of sources; no method sees the classes of the data that it labels. Failed runs are counted, and the first error is printed
 * below the table; the other rows continue. */
#include "bench.h"
#include "core/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 100000 };

bool bench_scored(const bench_table *t, int i)
{
	return t->data[i].role == KDR_ROLE_TASK || t->data[i].role == KDR_ROLE_TARGET;
}

/* How many classes the sources have: theirs were numbered first. */
static int64_t source_classes(const bench_state *s)
{
	int64_t count = 0;
	for (int i = 0; i < s->table->ndata; i++)
		for (int64_t r = 0; s->table->data[i].role == KDR_ROLE_SOURCE && r < s->items[i].n; r++)
			if (kdr_data_labels(s->items[i].data)[r] >= count)
				count = kdr_data_labels(s->items[i].data)[r] + 1;
	return count;
}

/* Whether a method is given the i-th data set: clustering methods get what is scored alone, and only some take bridges. */
static bool given(const bench_table *t, const kdr_algo *algo, int i)
{
	return bench_scored(t, i) ||
	       (algo->family == KDR_FAMILY_TRANSFER &&
	        (t->data[i].role != KDR_ROLE_BRIDGE || (algo->flags & (KDR_ALGO_BRIDGE | KDR_ALGO_BRIDGES))));
}

static kdr_status fit_row(bench_state *s, const bench_row *row, const kdr_options *options,
                          kdr_result **result)
{
	const bench_table *t = s->table;
	const kdr_algo *algo = kdr_algo_find(row->method);
	bool transfers = algo->family == KDR_FAMILY_TRANSFER;
	kdr_task *list = calloc((size_t)t->ndata, sizeof *list);
	int64_t classes = source_classes(s);
	int n = 0;
	if (!list)
		return KDR_ERR_MEMORY;
	for (int i = 0; i < t->ndata; i++) {
		bench_item *it = &s->items[i];
		if (given(t, algo, i))
			list[n++] = (kdr_task){
				.name = kdr_data_name(it->data),
				.role = transfers ? t->data[i].role : KDR_ROLE_TASK,
				.x = kdr_data_mat(it->data),
				.k = transfers ? classes : it->k,
				.init = transfers ? NULL : it->init,
				.labels =
				        t->data[i].role == KDR_ROLE_SOURCE ? kdr_data_labels(it->data) : NULL,
			};
	}
	kdr_problem problem = { .size = sizeof problem,
		                .tasks = list,
		                .ntasks = n,
		                .classes = transfers ? classes : 0,
		                .pooled = row->pooled };
	kdr_status st = kdr_fit(s->ctx, row->method, &problem, options, result);
	free(list);
	return st;
}

/* Scores of every scored data set into values[score * ntasks + task]. Named classes are compared by name:
 * their accuracy is the share that is right, not the best map's. */
static kdr_status score_row(bench_state *s, const bench_row *row, const kdr_result *result, int ntasks,
                            double *values)
{
	const bench_table *t = s->table;
	const kdr_algo *algo = kdr_algo_find(row->method);
	bool transfers = algo->family == KDR_FAMILY_TRANSFER;
	bool named = transfers && !(algo->flags & KDR_ALGO_CLUSTERS_TARGET);
	int at = 0, place = 0;
	for (int i = 0; i < t->ndata; i++) {
		int64_t n, right = 0;
		int position = place;
		place += given(t, algo, i);
		if (!bench_scored(t, i))
			continue;
		kdr_scores scores;
		const int64_t *labels = kdr_result_labels(result, position, &n);
		const int64_t *truth = kdr_data_labels(s->items[i].data);
		kdr_status st = kdr_evaluate(s->ctx, labels, truth, n, &scores);
		if (st != KDR_OK)
			return st;
		for (int64_t r = 0; r < n; r++)
			right += labels[r] == truth[r];
		if (named)
			scores.acc = (double)right / (double)n;
		for (int c = 0; c < t->nscores; c++)
			values[c * ntasks + at] = bench_score_value(&scores, t->scores[c]);
		at++;
	}
	return KDR_OK;
}

/* The options of a line: the row's settings, and those of its place in the grid. */
static kdr_status line_options(kdr_context *ctx, const bench_row *row, int64_t place, kdr_options **out)
{
	kdr_options *options = NULL;
	kdr_status st = kdr_options_new(ctx, row->method, &options);
	for (int i = 0; i < row->nset && st == KDR_OK; i++)
		st = kdr_options_set(ctx, options, row->set[i].name, row->set[i].value);
	for (int i = 0; i < row->ngrid && st == KDR_OK; i++) {
		const bench_axis *axis = &row->grid[i];
		st = kdr_options_set(ctx, options, axis->name, axis->values[place % axis->nvalues]);
		place /= axis->nvalues;
	}
	if (st == KDR_OK)
		*out = options;
	else
		kdr_options_free(options);
	return st;
}

static char *setting_text(const bench_row *row, int64_t place)
{
	size_t room = 1;
	for (int i = 0; i < row->ngrid; i++)
		for (int v = 0; v < row->grid[i].nvalues; v++)
			room += strlen(row->grid[i].name) + strlen(row->grid[i].values[v]) + 6;
	char *text = calloc(room, 1);
	for (int i = 0; text && i < row->ngrid; i++) {
		const bench_axis *axis = &row->grid[i];
		kdri_list_add(text, room, "%s = %s", axis->name, axis->values[place % axis->nvalues]);
		place /= axis->nvalues;
	}
	return text;
}

/* --- the table ------------------------------------------------------------------------------------------ */

/* Settings of a row: the points of its grid. */
static int64_t places(const bench_row *row)
{
	int64_t count = 1;
	for (int i = 0; i < row->ngrid && count <= MOST_LINES; i++)
		count *= row->grid[i].nvalues;
	return count;
}

int bench_lines_new(const bench_table *t, int row, bench_outcome *out)
{
	int64_t count = 0;
	for (int r = 0; r < t->nrows; r++) {
		count += places(&t->rows[r]);
		if (count > MOST_LINES) {
			cli_error("%s: the grid has more than %d settings; make it smaller", t->title,
			          MOST_LINES);
			return EXIT_USAGE;
		}
	}
	size_t cells = (size_t)t->repeats * (size_t)t->nscores * (size_t)out->ntasks;
	out->lines = calloc((size_t)count + 1, sizeof *out->lines);
	for (int r = 0; out->lines && r < t->nrows; r++) {
		for (int64_t place = 0; place < places(&t->rows[r]); place++) {
			if (row >= 0 && r != row)
				continue;
			bench_line *line = &out->lines[out->nlines++];
			*line = (bench_line){ .row = &t->rows[r],
				              .setting = setting_text(&t->rows[r], place),
				              .values = malloc(cells * sizeof *line->values) };
			if (!line->setting || !line->values)
				return bench_no_memory();
			for (size_t i = 0; i < cells; i++)
				line->values[i] = NAN;
		}
	}
	return out->lines ? EXIT_DONE : bench_no_memory();
}

/* --- other results than labels --------------------------------------------------------------------- */

/* Appends to the record of that name. */
static kdr_status add_record(bench_line *line, const char *name, const double *values, int64_t count)
{
	int at = 0;
	while (at < line->nrecords && strcmp(line->records[at].name, name) != 0)
		at++;
	if (at == line->nrecords) {
		bench_record *grown = realloc(line->records, ((size_t)at + 1) * sizeof *grown);
		if (!grown)
			return KDR_ERR_MEMORY;
		line->records = grown;
		grown[at] = (bench_record){ .name = strdup(name) };
		if (!grown[at].name)
			return KDR_ERR_MEMORY;
		line->nrecords++;
	}
	bench_record *r = &line->records[at];
	double *more = realloc(r->values, (size_t)(r->count + count + 1) * sizeof *more);
	if (!more)
		return KDR_ERR_MEMORY;
	r->values = more;
	memcpy(more + r->count, values, (size_t)count * sizeof *values);
	r->count += count;
	return KDR_OK;
}

/* Numbers, relatedness and small arrays of all tasks, of each repeat; the objective of the first. */
static kdr_status record_line(bench_line *line, const kdr_result *result, int repeat)
{
	enum { SMALL = 200 };
	int64_t n = kdr_result_ntasks(result), steps;
	kdr_status st = KDR_OK;
	const double *objective = kdr_result_objective(result, &steps);
	if (repeat == 0 && objective)
		st = add_record(line, "objective", objective, steps);
	if (st == KDR_OK && kdr_result_relatedness(result))
		st = add_record(line, "relatedness", kdr_result_relatedness(result), n * n);
	for (int64_t i = 0; i < kdr_result_field_count(result) && st == KDR_OK; i++) {
		double number = NAN;
		const char *text = NULL, *name = kdr_result_field_at(result, i, &number, &text);
		if (!text)
			st = add_record(line, name, &number, 1);
	}
	for (int64_t i = 0; i < kdr_result_array_count(result) && st == KDR_OK; i++) {
		kdr_array a = kdr_result_array_at(result, i);
		int64_t size = 1;
		for (int k = 0; k < a.ndim; k++)
			size *= a.shape[k];
		if (a.task < 0 && a.type == KDR_FLOAT64 && size <= SMALL)
			st = add_record(line, a.name, a.data, size);
	}
	return st;
}

static int run_line(bench_state *s, bench_outcome *o, const bench_row *row, int64_t place, bench_line *line,
                    int repeat)
{
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	/* A wrong option is the plan's fault, and ends the run; a fit that fails is a finding. */
	kdr_status st = line_options(s->ctx, row, place, &options);
	if (st != KDR_OK)
		return cli_fail(s->ctx, st);
	double start = cli_now();
	st = fit_row(s, row, options, &result);
	line->seconds += cli_now() - start;
	line->runs++;
	if (st == KDR_OK && kdr_result_stop(result) == KDR_STOP_CANCELLED)
		o->cut = true;
	if (st == KDR_OK)
		st = score_row(s, row, result, o->ntasks,
		               line->values + (size_t)repeat * (size_t)(o->table->nscores * o->ntasks));
	if (st == KDR_OK && o->table->record)
		st = record_line(line, result, repeat);
	if (st != KDR_OK && !cli_interrupted()) {
		line->failed++;
		if (!line->error)
			line->error = strdup(kdr_context_error(s->ctx));
	}
	kdr_result_free(result);
	kdr_options_free(options);
	return EXIT_DONE;
}

static int name_tasks(const bench_state *s, bench_outcome *out)
{
	const bench_table *t = s->table;
	out->tasks = calloc((size_t)t->ndata + 1, sizeof(char *));
	for (int i = 0; out->tasks && i < t->ndata; i++)
		if (bench_scored(t, i)) {
			const char *name = t->design ? t->data[i].path : kdr_data_name(s->items[i].raw);
			if (!(out->tasks[out->ntasks++] = strdup(name)))
				return bench_no_memory();
		}
	return out->tasks ? EXIT_DONE : bench_no_memory();
}

int bench_run(kdr_context *ctx, const bench_how *how, const bench_table *table, bench_outcome *out)
{
	bench_state s = { .ctx = ctx, .table = table };
	uint64_t seed = how->seed;
	double start = cli_now();
	int code = EXIT_DONE;
	*out = (bench_outcome){ .table = table };
	if (!(s.items = calloc((size_t)table->ndata, sizeof *s.items)))
		return bench_no_memory();
	for (int i = 0; i < table->ndata && code == EXIT_DONE && !table->design; i++)
		code = bench_read_item(&s, &table->data[i], &s.items[i]);
	if (code == EXIT_DONE && !table->design)
		code = bench_merge_classes(&s, true);
	if (code == EXIT_DONE)
		code = name_tasks(&s, out);
	if (code == EXIT_DONE)
		code = bench_lines_new(table, how->row, out);
	for (int r = 0; r < table->repeats && code == EXIT_DONE && !out->cut; r++) {
		kdr_context_set_seed(ctx, seed + (uint64_t)r);
		code = bench_begin_repeat(&s, seed + (uint64_t)r);
		int64_t place = 0; /* in the grid of the line's row */
		for (int l = 0; l < out->nlines && code == EXIT_DONE && !out->cut; l++, place++) {
			bench_line *line = &out->lines[l];
			place = l && line[-1].row == line->row ? place : 0;
			if (line->row && line->row->method && (!line->row->repeats || r < line->row->repeats))
				code = run_line(&s, out, line->row, place, line, r);
			out->cut |= cli_interrupted() || (how->limit > 0 && cli_now() - start > how->limit);
		}
		if (!out->cut || r == 0)
			out->repeats = r + 1;
	}
	for (int i = 0; i < table->ndata; i++) {
		bench_drop_repeat(&s.items[i]);
		kdr_data_free(s.items[i].raw);
	}
	free(s.items);
	if (code != EXIT_DONE)
		bench_outcome_free(out);
	return code;
}

void bench_outcome_free(bench_outcome *o)
{
	for (int i = 0; i < o->nlines; i++) {
		free(o->lines[i].setting);
		free(o->lines[i].values);
		free(o->lines[i].error);
		for (int r = 0; r < o->lines[i].nrecords; r++) {
			free(o->lines[i].records[r].name);
			free(o->lines[i].records[r].values);
		}
		free(o->lines[i].records);
	}
	for (int i = 0; i < o->ntasks; i++)
		free(o->tasks[i]);
	free(o->lines);
	free(o->tasks);
	*o = (bench_outcome){ 0 };
}
