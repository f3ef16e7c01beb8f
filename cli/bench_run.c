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

/* --- random choices of the driver ----------------------------------------------------------------- */

/* splitmix64 [Steele, Lea & Flood 2014]. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int64_t random_below(uint64_t *state, int64_t n)
{
	return (int64_t)(next_random(state) % (uint64_t)n); /* the bias is n / 2^64 */
}

/* --- data ------------------------------------------------------------------------------------------ */

/* A data set of the table in one repeat. */
typedef struct item {
	kdr_data *raw;  /* as read; of generated data NULL */
	kdr_data *data; /* as fitted */
	int64_t *all;   /* classes of the rows of raw */
	int64_t *truth; /* of the rows of data */
	int64_t *init;
	int64_t n, k, classes;
} item;

typedef struct state {
	kdr_context *ctx;
	const bench_table *table;
	item *items;
	char **classes; /* names of the classes of all data sets together */
	int64_t nclasses;
	bool ready; /* the data of this repeat serve the next one too */
} state;

static int out_of_memory(void)
{
	cli_error("out of memory");
	return EXIT_OTHER;
}

static int64_t class_of(state *s, const char *name)
{
	for (int64_t c = 0; c < s->nclasses; c++)
		if (strcmp(s->classes[c], name) == 0)
			return c;
	char **grown = realloc(s->classes, (size_t)(s->nclasses + 1) * sizeof *grown);
	if (!grown)
		return -1;
	s->classes = grown;
	if (!(s->classes[s->nclasses] = strdup(name)))
		return -1;
	return s->nclasses++;
}

/* Classes by name, so that those of source and target are the same numbers. */
static int take_classes(state *s, item *it, const int64_t *values, int64_t n, const char *const *names,
                        int64_t count)
{
	int64_t *map = calloc((size_t)count + 1, sizeof *map);
	int code = EXIT_DONE;
	it->all = calloc((size_t)n + 1, sizeof *it->all);
	if (!map || !it->all)
		code = out_of_memory();
	for (int64_t c = 0; c < count && code == EXIT_DONE; c++)
		if ((map[c] = class_of(s, names[c])) < 0)
			code = out_of_memory();
	for (int64_t i = 0; i < n && code == EXIT_DONE; i++)
		it->all[i] = values[i] < 0 ? -1 : map[values[i]];
	it->classes = 0; /* several may have been given one name */
	for (int64_t c = 0; c < count && code == EXIT_DONE; c++) {
		bool seen = false;
		for (int64_t e = 0; e < c && !seen; e++)
			seen = map[e] == map[c];
		it->classes += !seen;
	}
	free(map);
	return code;
}

static void drop_repeat(item *it)
{
	kdr_data_free(it->data);
	free(it->truth);
	free(it->init);
	it->data = NULL;
	it->truth = NULL;
	it->init = NULL;
}

/* A copy of the rows in `rows` (increasing), or of all if NULL. */
static kdr_status copy_rows(kdr_context *ctx, const kdr_data *from, const int64_t *rows, int64_t n,
                            kdr_data **out)
{
	kdr_mat x = kdr_data_mat(from), y = x;
	if (!rows)
		return kdr_data_new(ctx, kdr_data_name(from), &x, kdr_data_features(from), out);
	int64_t d = kdr_mat_cols(&x), nnz = 0;
	kdr_status st = KDR_ERR_MEMORY;
	if (x.kind == KDR_MAT_DENSE) {
		double *values = malloc((size_t)(n * d) * sizeof *values + 1);
		for (int64_t i = 0; values && i < n; i++)
			memcpy(values + i * d, x.as.dense.data + rows[i] * x.as.dense.stride,
			       (size_t)d * sizeof *values);
		y = kdr_mat_from_dense(values, n, d);
		if (values)
			st = kdr_data_new(ctx, kdr_data_name(from), &y, kdr_data_features(from), out);
		free(values);
		return st;
	}
	const kdr_csr *a = &x.as.csr;
	for (int64_t i = 0; i < n; i++)
		nnz += a->rowptr[rows[i] + 1] - a->rowptr[rows[i]];
	int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr);
	int32_t *col = malloc((size_t)nnz * sizeof *col + 1);
	double *val = malloc((size_t)nnz * sizeof *val + 1);
	if (rowptr && col && val) {
		for (int64_t i = 0; i < n; i++) {
			int64_t begin = a->rowptr[rows[i]], count = a->rowptr[rows[i] + 1] - begin;
			memcpy(col + rowptr[i], a->col + begin, (size_t)count * sizeof *col);
			memcpy(val + rowptr[i], a->val + begin, (size_t)count * sizeof *val);
			rowptr[i + 1] = rowptr[i] + count;
		}
		y = kdr_mat_from_csr(n, d, rowptr, col, val);
		st = kdr_data_new(ctx, kdr_data_name(from), &y, kdr_data_features(from), out);
	}
	free(rowptr);
	free(col);
	free(val);
	return st;
}

/* Only the rows of the classes that the plan names. */
static int keep_classes(state *s, const bench_data *d, item *it, const kdr_labels *labels)
{
	int64_t *rows = calloc((size_t)labels->n + 1, sizeof *rows), n = 0;
	int64_t *map = calloc((size_t)labels->count + 1, sizeof *map);
	int64_t *values = calloc((size_t)labels->n + 1, sizeof *values);
	int code = rows && map && values ? EXIT_DONE : out_of_memory();
	for (int64_t c = 0; c < labels->count && code == EXIT_DONE; c++)
		map[c] = -1;
	for (int i = 0; i < d->nclasses && code == EXIT_DONE; i++) {
		int64_t c = 0;
		while (c < labels->count && strcmp(labels->names[c], d->classes[i]) != 0)
			c++;
		if (c == labels->count) {
			cli_error("%s: no sample has the class '%s'", d->path, d->classes[i]);
			code = EXIT_DATA;
		} else {
			map[c] = i;
		}
	}
	for (int64_t i = 0; i < labels->n && code == EXIT_DONE; i++)
		if (map[labels->values[i]] >= 0) {
			values[n] = map[labels->values[i]];
			rows[n++] = i;
		}
	if (code == EXIT_DONE) {
		kdr_data *kept = NULL;
		kdr_status st = copy_rows(s->ctx, it->raw, rows, n, &kept);
		if (st == KDR_OK) {
			kdr_data_free(it->raw);
			it->raw = kept;
			code = take_classes(s, it, values, n, (const char *const *)d->called, d->nclasses);
		} else {
			code = cli_fail(s->ctx, st);
		}
	}
	free(rows);
	free(map);
	free(values);
	return code;
}

static int read_item(state *s, const bench_data *d, item *it)
{
	kdr_labels *labels = NULL;
	kdr_status st =
	        kdr_read(s->ctx, d->path, &(kdr_read_options){ .name = d->name, .header = -1 }, &it->raw);
	if (st != KDR_OK)
		return cli_fail_reading(s->ctx, st);
	char *beside = cli_labels_beside(d->path);
	if (!beside)
		return out_of_memory();
	int code = EXIT_DONE;
	if (access(beside, F_OK) == 0) {
		code = cli_labels_read(s->ctx, beside, it->raw, "known classes", &labels);
		if (code == EXIT_DONE)
			code = d->nclasses ? keep_classes(s, d, it, labels)
			                   : take_classes(s, it, labels->values, labels->n,
			                                  (const char *const *)labels->names, labels->count);
	} else if (d->role != KDR_ROLE_BRIDGE) {
		cli_error("%s: there is no %s: bench needs known classes to score against", d->path, beside);
		code = EXIT_DATA;
	}
	kdr_labels_free(labels);
	free(beside);
	return code;
}

/* The rows of this repeat: all, or a sample drawn without replacement, in their old order. */
static int draw_item(state *s, item *it, uint64_t *random)
{
	kdr_mat x = kdr_data_mat(it->raw);
	int64_t n = kdr_mat_rows(&x), take = s->table->sample && s->table->sample < n ? s->table->sample : n;
	int64_t *rows = calloc((size_t)n + 1, sizeof *rows);
	it->truth = it->all ? malloc((size_t)take * sizeof *it->truth + 1) : NULL;
	if (!rows || (it->all && !it->truth)) {
		free(rows);
		return out_of_memory();
	}
	/* Selection sampling [Knuth, algorithm S]: each subset of that size is as likely as any other. */
	int64_t taken = 0;
	for (int64_t i = 0; i < n; i++)
		if (take == n || random_below(random, n - i) < take - taken)
			rows[taken++] = i;
	for (int64_t i = 0; it->truth && i < take; i++)
		it->truth[i] = it->all[rows[i]];
	it->n = take;
	kdr_status st = copy_rows(s->ctx, it->raw, take == n ? NULL : rows, take, &it->data);
	free(rows);
	return st == KDR_OK ? EXIT_DONE : cli_fail(s->ctx, st);
}

static kdr_status new_generator(state *s, int index, kdr_generator **out, int64_t *task)
{
	const bench_table *t = s->table;
	*task = index;
	if (strcmp(t->design, "berikov") == 0) {
		kdr_berikov spec;
		kdr_berikov_default(&spec);
		spec.target = index == 1;
		spec.separation = t->separation > 0 ? t->separation : spec.separation;
		*task = 0;
		return kdr_generate_berikov(s->ctx, &spec, out);
	}
	if (strcmp(t->design, "topics") == 0) {
		kdr_topics spec;
		kdr_topics_default(&spec);
		spec.tasks = t->ndata;
		return kdr_generate_topics(s->ctx, &spec, out);
	}
	kdr_blobs spec;
	kdr_blobs_default(&spec);
	spec.tasks = t->ndata;
	spec.separation = t->separation > 0 ? t->separation : spec.separation;
	return kdr_generate_blobs(s->ctx, &spec, out);
}

static int generate_item(state *s, int index, item *it)
{
	kdr_generator *generator = NULL;
	int64_t task, count;
	kdr_status st = new_generator(s, index, &generator, &task);
	if (st == KDR_OK)
		st = kdr_generator_data(s->ctx, generator, task, &it->data);
	kdr_generator_free(generator);
	if (st != KDR_OK)
		return cli_fail(s->ctx, st);
	kdr_mat x = kdr_data_mat(it->data);
	it->n = kdr_mat_rows(&x);
	const char *const *names = kdr_data_classes(it->data, &count);
	free(it->all);
	it->all = NULL;
	int code = take_classes(s, it, kdr_data_labels(it->data), it->n, names, count);
	it->truth = it->all;
	it->all = NULL;
	return code;
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
		code = t->design ? generate_item(s, i, &s->items[i]) : draw_item(s, &s->items[i], &random);
		if (code == EXIT_DONE)
			list[i] = s->items[i].data;
	}
	kdr_status st = KDR_OK;
	kdr_prep_options prep = t->prep;
	const char *kind;
	if (t->suggest && code == EXIT_DONE && !s->ready)
		st = kdr_prep_suggest(s->ctx, list, t->ndata, &prep, &kind);
	for (int i = 0; i < t->ndata && own && st == KDR_OK && code == EXIT_DONE && !s->ready; i++)
		st = kdr_prepare(s->ctx, &list[i], 1, &prep, NULL);
	if (!own && st == KDR_OK && code == EXIT_DONE && !s->ready)
		st = kdr_prepare(s->ctx, list, t->ndata, &prep, NULL);
	free(list);
	if (st != KDR_OK)
		code = cli_fail(s->ctx, st);
	s->ready = !t->design && !t->sample;
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
			if (s->items[i].truth[r] >= count)
				count = s->items[i].truth[r] + 1;
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
				.labels = t->data[i].role == KDR_ROLE_SOURCE ? it->truth : NULL,
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
		kdr_status st = kdr_evaluate(s->ctx, labels, s->items[i].truth, n, &scores);
		if (st != KDR_OK)
			return st;
		for (int64_t r = 0; r < n; r++)
			right += labels[r] == s->items[i].truth[r];
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
		free(s.items[i].all);
	}
	for (int64_t c = 0; c < s.nclasses; c++)
		free(s.classes[c]);
	free(s.classes);
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
