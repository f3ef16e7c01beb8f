/* The data of a table in one repeat: read, drawn or generated, prepared. SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeat r has the seed --seed + r for everything in it: generated data, the rows drawn, the shared random start. */
#include "bench.h"
#include "core/system.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* splitmix64 (Steele, Lea & Flood, OOPSLA 2014). */
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

int bench_no_memory(void)
{
	cli_error("out of memory");
	return EXIT_OTHER;
}

void bench_drop_repeat(bench_item *it)
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
int bench_merge_classes(const bench_state *s, bool raw)
{
	kdr_data **list = calloc((size_t)s->table->ndata, sizeof(kdr_data *));
	int64_t n = 0;
	if (!list)
		return bench_no_memory();
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
static int keep_classes(bench_state *s, const bench_data *d, bench_item *it)
{
	int64_t count, n = 0;
	const int64_t *labels = kdr_data_labels(it->raw);
	const char *const *names = kdr_data_classes(it->raw, &count);
	kdr_mat x = kdr_data_mat(it->raw);
	int64_t *rows = calloc((size_t)kdr_mat_rows(&x) + 1, sizeof *rows);
	int64_t *values = calloc((size_t)kdr_mat_rows(&x) + 1, sizeof *values);
	int64_t *map = calloc((size_t)count + 1, sizeof *map);
	int code = rows && map && values ? EXIT_DONE : bench_no_memory();
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

int bench_read_item(bench_state *s, const bench_data *d, bench_item *it)
{
	const kdr_read_options how = {
		.size = sizeof how, .name = d->name, .label_column = d->label, .missing = d->missing
	};
	kdr_status st = kdr_read(s->ctx, d->path, &how, &it->raw);
	if (st != KDR_OK)
		return cli_fail_reading(s->ctx, st);
	if (d->label)
		return d->nclasses ? keep_classes(s, d, it) : EXIT_DONE;
	char *beside = NULL;
	if (kdr_labels_beside(s->ctx, d->path, &beside) != KDR_OK)
		return bench_no_memory();
	int code = EXIT_DONE;
	if (kdri_exists(beside)) {
		code = cli_labels_read(s->ctx, beside, it->raw);
		if (code == EXIT_DONE && d->nclasses)
			code = keep_classes(s, d, it);
	} else if (d->role != KDR_ROLE_BRIDGE) {
		cli_error("%s: %s was not found; bench needs known classes for scoring, one per line",
		          d->path, beside);
		code = EXIT_DATA;
	}
	kdr_free(s->ctx, beside);
	return code;
}

/* What share of row i's class is kept. */
static double share_kept(const bench_data *d, const bench_item *it, int64_t i)
{
	int64_t count, label = kdr_data_labels(it->raw) ? kdr_data_labels(it->raw)[i] : -1;
	const char *const *names = kdr_data_classes(it->raw, &count);
	for (int c = 0; c < d->nrare && label >= 0; c++)
		if (strcmp(names[label], d->rare[c]) == 0)
			return d->kept[c];
	return 1;
}

/* Rows that may be drawn. Lots are the same for every data set of as many rows: parts of one file do not meet. */
static int64_t able_rows(const bench_data *d, const bench_item *it, int64_t n, uint64_t seed, int64_t *rows)
{
	uint64_t lots = seed ^ 0x6c6f7473u, some = seed ^ 0x736f6d65u;
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++) {
		double lot = (double)next_random(&lots) * 0x1p-64,
		       luck = (double)next_random(&some) * 0x1p-64;
		if ((d->part[1] == 0 || (lot >= d->part[0] && lot < d->part[1])) &&
		    (d->nrare == 0 || luck < share_kept(d, it, i)))
			rows[count++] = i;
	}
	return count;
}

/* Sets the features to zero whose lot is not in the data set's share. Lots are the same for every data set of as many
 * features. */
static int draw_words(bench_state *s, const bench_data *d, bench_item *it, uint64_t seed)
{
	kdr_mat x = kdr_data_mat(it->data);
	int64_t n = kdr_mat_rows(&x), classes = 0;
	if (d->words[1] == 0)
		return EXIT_DONE;
	if (x.kind != KDR_MAT_CSR) {
		cli_error("%s: 'words' needs a sparse data set", d->path);
		return EXIT_DATA;
	}
	uint64_t lots = seed ^ 0x776f726473u;
	const kdr_csr *from = &x.as.csr;
	size_t entries = (size_t)from->rowptr[n];
	bool *in = calloc((size_t)from->cols + 1, sizeof *in);
	int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr);
	int32_t *col = calloc(entries + 1, sizeof *col);
	double *val = calloc(entries + 1, sizeof *val);
	kdr_data *kept = NULL;
	int code = in && rowptr && col && val ? EXIT_DONE : bench_no_memory();
	for (int64_t c = 0; c < from->cols && code == EXIT_DONE; c++) {
		double lot = (double)next_random(&lots) * 0x1p-64;
		in[c] = lot >= d->words[0] && lot < d->words[1];
	}
	int64_t used = 0;
	for (int64_t r = 0; r < n && code == EXIT_DONE; r++) {
		for (int64_t e = from->rowptr[r]; e < from->rowptr[r + 1]; e++)
			if (in[from->col[e]]) {
				col[used] = from->col[e];
				val[used++] = from->val[e];
			}
		rowptr[r + 1] = used;
	}
	if (code == EXIT_DONE) {
		kdr_mat some = kdr_mat_from_csr(n, from->cols, rowptr, col, val);
		const char *const *names = kdr_data_classes(it->data, &classes);
		kdr_status st = kdr_data_new(s->ctx, kdr_data_name(it->data), &some,
		                             kdr_data_features(it->data), &kept);
		if (st == KDR_OK && kdr_data_labels(it->data))
			st = kdr_data_set_labels(s->ctx, kept, kdr_data_labels(it->data), names, classes);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(s->ctx, st);
		kdr_data_free(code == EXIT_DONE ? it->data : kept);
		it->data = code == EXIT_DONE ? kept : it->data;
	}
	free(in);
	free(rowptr);
	free(col);
	free(val);
	return code;
}

/* The rows of this repeat: all, or a sample drawn without replacement, in their old order. */
static int draw_item(bench_state *s, const bench_data *d, bench_item *it, uint64_t seed, uint64_t *random)
{
	kdr_mat x = kdr_data_mat(it->raw);
	int64_t *rows = calloc((size_t)kdr_mat_rows(&x) + 1, sizeof *rows);
	if (!rows)
		return bench_no_memory();
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
	return st == KDR_OK ? draw_words(s, d, it, seed) : cli_fail(s->ctx, st);
}

static kdr_status new_generator(bench_state *s, int index, kdr_generator **out, int64_t *task)
{
	const bench_table *t = s->table;
	const bool berikov = strcmp(t->design, "berikov") == 0, topics = strcmp(t->design, "topics") == 0;
	kdr_design spec;
	kdr_design_init(&spec, berikov ? KDR_DESIGN_BERIKOV : topics ? KDR_DESIGN_TOPICS : KDR_DESIGN_BLOBS);
	spec.tasks = t->ndata;
	spec.separation = t->separation > 0 ? t->separation : spec.separation;
	spec.target = index == 1;
	*task = berikov ? 0 : index;
	return kdr_generate(s->ctx, &spec, out);
}

static int generate_item(bench_state *s, int index, bench_item *it)
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
int bench_begin_repeat(bench_state *s, uint64_t seed)
{
	const bench_table *t = s->table;
	uint64_t random = seed ^ 0x6b696e6472656421u;
	kdr_data **list = calloc((size_t)t->ndata, sizeof(kdr_data *));
	int code = list ? EXIT_DONE : bench_no_memory();
	bool own = false; /* features of their own: nothing to align */
	for (int r = 0; r < t->nrows; r++)
		own |= t->rows[r].method &&
		       (kdr_algo_find(t->rows[r].method)->flags & KDR_ALGO_OWN_FEATURES) != 0;
	for (int i = 0; i < t->ndata && code == EXIT_DONE && !s->ready; i++) {
		bench_drop_repeat(&s->items[i]);
		code = t->design ? generate_item(s, i, &s->items[i])
		                 : draw_item(s, &t->data[i], &s->items[i], seed, &random);
		if (code == EXIT_DONE)
			list[i] = s->items[i].data;
	}
	if (code == EXIT_DONE && t->design)
		code = bench_merge_classes(s, false);
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
		drawn |= t->data[i].nrare > 0 || t->data[i].part[1] > 0 || t->data[i].words[1] > 0;
	s->ready = !t->design && !drawn;
	for (int i = 0; i < t->ndata && code == EXIT_DONE; i++) {
		bench_item *it = &s->items[i];
		it->k = t->data[i].k ? t->data[i].k : it->classes;
		if (t->start != BENCH_START_RANDOM)
			continue;
		if (!it->init && !(it->init = malloc((size_t)it->n * sizeof *it->init + 1)))
			return bench_no_memory();
		for (int64_t r = 0; r < it->n; r++)
			it->init[r] = r < it->k ? r : random_below(&random, it->k);
	}
	return code;
}
