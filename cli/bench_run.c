/* Runs one table of a plan: data x methods x settings x repeats. SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeat r has the seed --seed + r for everything in it: generated data, the rows drawn, the shared random
 * start, and the methods. All rows of a repeat see the same data. Known classes are used for scoring, for k
 * where the plan gives none, and as the classes of sources: no method sees those of what it labels. A run
 * that fails is counted, and its first error told under the table; the other rows go on. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINES = 100000 };

static int64_t random_below(uint64_t *state, int64_t n)
{
	return (int64_t)(kdr_random(state) % (uint64_t)n); /* the bias is n / 2^64 */
}

/* --- data ------------------------------------------------------------------------------------------ */

/* A data set of the table in one repeat. Its known classes are those of all data sets together. */
typedef struct item {
	kdr_data *raw;  /* as read; of generated data NULL */
	kdr_data *data; /* as fitted */
	int64_t *init;
	int64_t n, k, classes; /* classes of its own */
} item;

typedef struct state {
	kdr_context *ctx;
	const bench_table *table;
	item *items;
	bool ready; /* the data of this repeat serve the next one too */
} state;

static int out_of_memory(void)
{
	cli_error("out of memory");
	return EXIT_OTHER;
}

static void drop_repeat(item *it)
{
	kdr_data_free(it->data);
	free(it->init);
	it->data = NULL;
	it->init = NULL;
}

/* Several classes may have been given one name. */
static int64_t distinct_classes(const kdr_data *d)
{
	int64_t count, distinct = 0;
	const char *const *names = kdr_data_classes(d, &count);
	for (int64_t c = 0; c < count; c++) {
		bool seen = false;
		for (int64_t e = 0; e < c && !seen; e++)
			seen = strcmp(names[e], names[c]) == 0;
		distinct += !seen;
	}
	return distinct;
}

/* Classes by name, so that those of source and target are the same numbers. */
static int merge_classes(const state *s, bool raw)
{
	kdr_data **list = calloc((size_t)s->table->ndata, sizeof(kdr_data *));
	int64_t n = 0;
	if (!list)
		return out_of_memory();
	for (int i = 0; i < s->table->ndata; i++) {
		kdr_data *d = raw ? s->items[i].raw : s->items[i].data;
		if (!kdr_data_labels(d))
			continue;
		s->items[i].classes = distinct_classes(d);
		list[n++] = d;
	}
	kdr_status st = kdr_data_merge_classes(s->ctx, list, n);
	free(list);
	return st == KDR_OK ? EXIT_DONE : cli_fail(s->ctx, st);
}

/* Only the rows of the classes that the plan names, numbered in its order. */
static int keep_classes(state *s, const bench_data *d, item *it)
{
	int64_t count, n = 0;
	const int64_t *labels = kdr_data_labels(it->raw);
	const char *const *names = kdr_data_classes(it->raw, &count);
	kdr_mat x = kdr_data_mat(it->raw);
	int64_t *rows = calloc((size_t)kdr_mat_rows(&x) + 1, sizeof *rows);
	int64_t *values = calloc((size_t)kdr_mat_rows(&x) + 1, sizeof *values);
	int64_t *map = calloc((size_t)count + 1, sizeof *map);
	int code = rows && map && values ? EXIT_DONE : out_of_memory();
	for (int64_t c = 0; c < count && code == EXIT_DONE; c++)
		map[c] = -1;
	for (int i = 0; i < d->nclasses && code == EXIT_DONE; i++) {
		int64_t c = 0;
		while (c < count && strcmp(names[c], d->classes[i]) != 0)
			c++;
		if (c == count) {
			cli_error("%s: no sample has the class '%s'", d->path, d->classes[i]);
			code = EXIT_DATA;
		} else {
			map[c] = i;
		}
	}
	for (int64_t i = 0; i < kdr_mat_rows(&x) && code == EXIT_DONE; i++)
		if (labels[i] >= 0 && map[labels[i]] >= 0) {
			values[n] = map[labels[i]];
			rows[n++] = i;
		}
	if (code == EXIT_DONE) {
		kdr_data *kept = NULL;
		kdr_status st = kdr_data_rows(s->ctx, it->raw, rows, n, &kept);
		if (st == KDR_OK)
			st = kdr_data_set_labels(s->ctx, kept, values, (const char *const *)d->called,
			                         d->nclasses);
		kdr_data_free(st == KDR_OK ? it->raw : kept);
		it->raw = st == KDR_OK ? kept : it->raw;
		code = st == KDR_OK ? EXIT_DONE : cli_fail(s->ctx, st);
	}
	free(rows);
	free(map);
	free(values);
	return code;
}

static int read_item(state *s, const bench_data *d, item *it)
{
	kdr_status st = kdr_read(s->ctx, d->path, &(kdr_read_options){ .name = d->name }, &it->raw);
	if (st != KDR_OK)
		return cli_fail_reading(s->ctx, st);
	char *beside = cli_labels_beside(d->path);
	if (!beside)
		return out_of_memory();
	int code = EXIT_DONE;
	if (access(beside, F_OK) == 0) {
		code = cli_labels_read(s->ctx, beside, it->raw);
		if (code == EXIT_DONE && d->nclasses)
			code = keep_classes(s, d, it);
	} else if (d->role != KDR_ROLE_BRIDGE) {
		cli_error("%s: there is no %s: bench needs known classes to score against", d->path, beside);
		code = EXIT_DATA;
	}
	free(beside);
	return code;
}

/* What share of row i's class is kept. */
static double share_kept(const bench_data *d, const item *it, int64_t i)
{
	int64_t count, label = kdr_data_labels(it->raw) ? kdr_data_labels(it->raw)[i] : -1;
	const char *const *names = kdr_data_classes(it->raw, &count);
	for (int c = 0; c < d->nrare && label >= 0; c++)
		if (strcmp(names[label], d->rare[c]) == 0)
			return d->kept[c];
	return 1;
}

/* Rows that may be drawn. Lots are the same for every data set of as many rows: parts of one file do not meet. */
static int64_t able_rows(const bench_data *d, const item *it, int64_t n, uint64_t seed, int64_t *rows)
{
	uint64_t lots = seed ^ 0x6c6f7473u, some = seed ^ 0x736f6d65u;
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++) {
		double lot = (double)kdr_random(&lots) * 0x1p-64, luck = (double)kdr_random(&some) * 0x1p-64;
		if ((d->part[1] == 0 || (lot >= d->part[0] && lot < d->part[1])) &&
		    (d->nrare == 0 || luck < share_kept(d, it, i)))
			rows[count++] = i;
	}
	return count;
}

/* The rows of this repeat: all, or a sample drawn without replacement, in their old order. */
static int draw_item(state *s, const bench_data *d, item *it, uint64_t seed, uint64_t *random)
{
	kdr_mat x = kdr_data_mat(it->raw);
	int64_t *rows = calloc((size_t)kdr_mat_rows(&x) + 1, sizeof *rows);
	if (!rows)
		return out_of_memory();
	int64_t n = able_rows(d, it, kdr_mat_rows(&x), seed, rows);
	int64_t take = s->table->sample && s->table->sample < n ? s->table->sample : n;
	/* Selection sampling [Knuth, algorithm S]: each subset of that size is as likely as any other. */
	int64_t taken = 0;
	for (int64_t i = 0; i < n; i++)
		if (take == n || random_below(random, n - i) < take - taken)
			rows[taken++] = rows[i];
	it->n = take;
	kdr_status st = kdr_data_rows(s->ctx, it->raw, rows, take, &it->data);
	free(rows);
	return st == KDR_OK ? EXIT_DONE : cli_fail(s->ctx, st);
}

static kdr_status new_generator(state *s, int index, kdr_generator **out, int64_t *task)
{
	const bench_table *t = s->table;
	*task = index;
	if (strcmp(t->design, "berikov") == 0) {
		kdr_berikov spec;
		kdr_berikov_init(&spec);
		spec.target = index == 1;
		spec.separation = t->separation > 0 ? t->separation : spec.separation;
		*task = 0;
		return kdr_generate_berikov(s->ctx, &spec, out);
	}
	if (strcmp(t->design, "topics") == 0) {
		kdr_topics spec;
		kdr_topics_init(&spec);
		spec.tasks = t->ndata;
		return kdr_generate_topics(s->ctx, &spec, out);
	}
	kdr_blobs spec;
	kdr_blobs_init(&spec);
	spec.tasks = t->ndata;
	spec.separation = t->separation > 0 ? t->separation : spec.separation;
	return kdr_generate_blobs(s->ctx, &spec, out);
}

static int generate_item(state *s, int index, item *it)
{
	kdr_generator *generator = NULL;
	int64_t task;
	kdr_status st = new_generator(s, index, &generator, &task);
	if (st == KDR_OK)
		st = kdr_generator_data(s->ctx, generator, task, &it->data);
	kdr_generator_free(generator);
	if (st != KDR_OK)
		return cli_fail(s->ctx, st);
	kdr_mat x = kdr_data_mat(it->data);
	it->n = kdr_mat_rows(&x);
	return EXIT_DONE;
}

/* Data, truth and shared start of one repeat. */
static int begin_repeat(state *s, uint64_t seed)
{
	const bench_table *t = s->table;
	uint64_t random = seed ^ 0x6b696e6472656421u;
	kdr_data **list = calloc((size_t)t->ndata, sizeof(kdr_data *));
	int code = list ? EXIT_DONE : out_of_memory();
	bool own = false; /* features of their own: nothing to align */
	for (int r = 0; r < t->nrows; r++)
		own |= (kdr_algo_find(t->rows[r].method)->flags & KDR_ALGO_OWN_FEATURES) != 0;
	for (int i = 0; i < t->ndata && code == EXIT_DONE && !s->ready; i++) {
		drop_repeat(&s->items[i]);
		code = t->design ? generate_item(s, i, &s->items[i])
		                 : draw_item(s, &t->data[i], &s->items[i], seed, &random);
		if (code == EXIT_DONE)
			list[i] = s->items[i].data;
	}
	if (code == EXIT_DONE && t->design)
		code = merge_classes(s, false);
	kdr_status st = KDR_OK;
	kdr_prep_options prep = t->prep;
	kdr_recipe recipe;
	if (t->suggest && code == EXIT_DONE && !s->ready) {
		st = kdr_recipe_find(s->ctx, list, t->ndata, &recipe);
		prep.weight = st == KDR_OK ? recipe.weight : prep.weight;
		prep.norm = st == KDR_OK ? recipe.norm : prep.norm;
		prep.scale = st == KDR_OK ? recipe.scale : prep.scale;
	}
	for (int i = 0; i < t->ndata && own && st == KDR_OK && code == EXIT_DONE && !s->ready; i++)
		st = kdr_prepare(s->ctx, &list[i], 1, &prep, NULL);
	if (!own && st == KDR_OK && code == EXIT_DONE && !s->ready)
		st = kdr_prepare(s->ctx, list, t->ndata, &prep, NULL);
	free(list);
	if (st != KDR_OK)
		code = cli_fail(s->ctx, st);
	bool drawn = t->sample > 0;
	for (int i = 0; i < t->ndata; i++)
		drawn |= t->data[i].nrare > 0 || t->data[i].part[1] > 0;
	s->ready = !t->design && !drawn;
	for (int i = 0; i < t->ndata && code == EXIT_DONE; i++) {
		item *it = &s->items[i];
		it->k = t->data[i].k ? t->data[i].k : it->classes;
		if (t->start != BENCH_START_RANDOM)
			continue;
		if (!it->init && !(it->init = malloc((size_t)it->n * sizeof *it->init + 1)))
			return out_of_memory();
		for (int64_t r = 0; r < it->n; r++)
			it->init[r] = r < it->k ? r : random_below(&random, it->k);
	}
	return code;
}

/* --- one run ------------------------------------------------------------------------------------------ */

static bool scored(const bench_table *t, int i)
{
	return t->data[i].role == KDR_ROLE_TASK || t->data[i].role == KDR_ROLE_TARGET;
}

/* How many classes the sources have: theirs were numbered first. */
static int64_t source_classes(const state *s)
{
	int64_t count = 0;
	for (int i = 0; i < s->table->ndata; i++)
		for (int64_t r = 0; s->table->data[i].role == KDR_ROLE_SOURCE && r < s->items[i].n; r++)
			if (kdr_data_labels(s->items[i].data)[r] >= count)
				count = kdr_data_labels(s->items[i].data)[r] + 1;
	return count;
}

/* Clustering methods in a table of transfers get the targets alone. */
static kdr_status fit_row(state *s, const bench_row *row, const kdr_options *options, kdr_result **result)
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
		item *it = &s->items[i];
		if (transfers || scored(t, i))
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
	kdr_problem problem = {
		.tasks = list, .ntasks = n, .classes = transfers ? classes : 0, .pooled = row->pooled
	};
	kdr_status st = kdr_fit(s->ctx, row->method, &problem, options, result);
	free(list);
	return st;
}

/* Scores of every scored data set into values[score * ntasks + task]. Named classes are compared by name:
 * their accuracy is the share that is right, not the best map's. */
static kdr_status score_row(state *s, const bench_row *row, const kdr_result *result, int ntasks,
                            double *values)
{
	const bench_table *t = s->table;
	const kdr_algo *algo = kdr_algo_find(row->method);
	bool transfers = algo->family == KDR_FAMILY_TRANSFER;
	bool named = transfers && !(algo->flags & KDR_ALGO_CLUSTERS_TARGET);
	int at = 0, place = 0;
	for (int i = 0; i < t->ndata; i++) {
		int64_t n, right = 0;
		int position = transfers ? i : place;
		place += scored(t, i);
		if (!scored(t, i))
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
	size_t room = 1, used = 0;
	for (int i = 0; i < row->ngrid; i++)
		for (int v = 0; v < row->grid[i].nvalues; v++)
			room += strlen(row->grid[i].name) + strlen(row->grid[i].values[v]) + 6;
	char *text = calloc(room, 1);
	for (int i = 0; text && i < row->ngrid; i++) {
		const bench_axis *axis = &row->grid[i];
		used += (size_t)snprintf(text + used, room - used, "%s%s = %s", i ? ", " : "", axis->name,
		                         axis->values[place % axis->nvalues]);
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

static int new_lines(const bench_table *t, bench_outcome *out)
{
	int64_t count = 0;
	for (int r = 0; r < t->nrows; r++) {
		count += places(&t->rows[r]);
		if (count > MOST_LINES) {
			cli_error("%s: over %d settings: make the grid smaller", t->title, MOST_LINES);
			return EXIT_USAGE;
		}
	}
	size_t cells = (size_t)t->repeats * (size_t)t->nscores * (size_t)out->ntasks;
	out->lines = calloc((size_t)count + 1, sizeof *out->lines);
	for (int r = 0; out->lines && r < t->nrows; r++) {
		for (int64_t place = 0; place < places(&t->rows[r]); place++) {
			bench_line *line = &out->lines[out->nlines++];
			*line = (bench_line){ .row = &t->rows[r],
				              .setting = setting_text(&t->rows[r], place),
				              .values = malloc(cells * sizeof *line->values) };
			if (!line->setting || !line->values)
				return out_of_memory();
			for (size_t i = 0; i < cells; i++)
				line->values[i] = NAN;
		}
	}
	return out->lines ? EXIT_DONE : out_of_memory();
}

static int run_line(state *s, bench_outcome *o, const bench_row *row, int64_t place, bench_line *line,
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
	if (st != KDR_OK && !cli_interrupted()) {
		line->failed++;
		if (!line->error)
			line->error = strdup(kdr_context_error(s->ctx));
	}
	kdr_result_free(result);
	kdr_options_free(options);
	return EXIT_DONE;
}

static int name_tasks(const state *s, bench_outcome *out)
{
	const bench_table *t = s->table;
	out->tasks = calloc((size_t)t->ndata + 1, sizeof(char *));
	for (int i = 0; out->tasks && i < t->ndata; i++)
		if (scored(t, i)) {
			const char *name = t->design ? t->data[i].path : kdr_data_name(s->items[i].raw);
			if (!(out->tasks[out->ntasks++] = strdup(name)))
				return out_of_memory();
		}
	return out->tasks ? EXIT_DONE : out_of_memory();
}

int bench_run(kdr_context *ctx, const cli_args *args, const bench_table *table, bench_outcome *out)
{
	state s = { .ctx = ctx, .table = table };
	int64_t seed = 1;
	double limit = INFINITY, start = cli_now();
	int code = EXIT_DONE;
	*out = (bench_outcome){ .table = table };
	if (!cli_get_int(args, "seed", 0, INT64_MAX / 2, &seed) ||
	    !cli_get_real(args, "time-limit", 0, INFINITY, &limit))
		return EXIT_USAGE;
	if (!(s.items = calloc((size_t)table->ndata, sizeof *s.items)))
		return out_of_memory();
	for (int i = 0; i < table->ndata && code == EXIT_DONE && !table->design; i++)
		code = read_item(&s, &table->data[i], &s.items[i]);
	if (code == EXIT_DONE && !table->design)
		code = merge_classes(&s, true);
	if (code == EXIT_DONE)
		code = name_tasks(&s, out);
	if (code == EXIT_DONE)
		code = new_lines(table, out);
	for (int r = 0; r < table->repeats && code == EXIT_DONE && !out->cut; r++) {
		kdr_context_set_seed(ctx, (uint64_t)seed + (uint64_t)r);
		code = begin_repeat(&s, (uint64_t)seed + (uint64_t)r);
		bench_line *line = out->lines;
		for (int i = 0; i < table->nrows; i++)
			for (int64_t place = 0; place < places(&table->rows[i]); place++, line++) {
				if (code != EXIT_DONE || out->cut)
					continue;
				code = run_line(&s, out, &table->rows[i], place, line, r);
				out->cut |= cli_interrupted() || (limit > 0 && cli_now() - start > limit);
			}
		if (!out->cut || r == 0)
			out->repeats = r + 1;
	}
	for (int i = 0; i < table->ndata; i++) {
		drop_repeat(&s.items[i]);
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
	}
	for (int i = 0; i < o->ntasks; i++)
		free(o->tasks[i]);
	free(o->lines);
	free(o->tasks);
	*o = (bench_outcome){ 0 };
}
