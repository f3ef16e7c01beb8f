/* Related tables with known segments. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every cell of column j in a row of segment c and table t is computed from a score
 *
 *   z = m_tcj + e,   m_tcj = separation a_cj + shift b_tcj,   a, b ~ N(0, 1),                  (E1)
 *
 * with e ~ N(0, 1) independent of everything else. Tables without common segments draw a for each table. Noise columns have one
 * m for all segments, a_j. The value of a cell depends on its score and the kind of its column, with u a unit of 1,
 * 10, 100 or 1000:
 *
 *   number    u (20 + z)
 *   skewed    u exp(z / 2)
 *   outliers  u (20 + z), plus or minus 20 u in one of 50 cells
 *   grade     3 + z, rounded, 1 to 5
 *   date      day 17,532 (2018-01-01) + 120 z, rounded
 *   yes/no    yes if z > 0
 *   category  the level l with the largest m_tcjl + e_l, e_l ~ Gumbel: shares proportional to exp(m_tcjl)                  (E2)
 *
 * A row holds one value per column: a number, a day, or the number of a level; NaN if the cell is missing. */
#include "core/numbers.h"
#include "jobs/generate/synth.h"

#include <stdio.h>

typedef enum kind { NUMBER, CATEGORY, SKEWED, YES_NO, GRADE, DATE, OUTLIERS, KINDS } kind;

static const char *const kind_names[KINDS] = { "number", "category", "skewed",  "yesno",
	                                       "grade",  "date",     "outliers" };
enum {
	MOST_COLUMNS = 10000,
	FEWEST_LEVELS = 3,
	MORE_LEVELS = 5,
	TWO = 2,
	LEVELS = FEWEST_LEVELS + MORE_LEVELS - 1
};
static const int64_t first_day = 17532, most_days = 100000;

/* Columns of every table: those that carry the segments, noise, then the table's own. */
typedef struct tables {
	int64_t informative, noise, own;
	double missing_cells;
	double *mean; /* tasks x k x columns x LEVELS: (E1), of each level, or of a column without levels the first */
} tables;

typedef struct column {
	kind kind;
	int64_t levels, number; /* levels: 0 if it has none; number: of its kind, from 1 */
	bool own, noise;
} column;

static column column_of(const tables *s, int64_t task, int64_t j)
{
	column c = { .own = j >= s->informative + s->noise };
	int64_t index = c.own ? j - s->informative - s->noise : j >= s->informative ? j - s->informative : j;
	c.noise = c.own ? index % 2 == 0 : j >= s->informative;
	/* Tables begin with different kinds of columns of their own, the first with a category. */
	c.kind = (kind)((index + (c.own ? task + CATEGORY : 0)) % KINDS);
	c.number = index / KINDS + 1;
	c.levels = c.kind == YES_NO     ? TWO
	           : c.kind == CATEGORY ? FEWEST_LEVELS + 2 * c.number % MORE_LEVELS
	                                : 0;
	return c;
}

static void free_tables(const kdr_allocator *a, void *state)
{
	KDRI_FREE_WITH(a, ((tables *)state)->mean, state);
}

/* --- rows -------------------------------------------------------------------------------------- */

static double draw_level(kdri_rng *rng, const double *mean, int64_t levels)
{
	int64_t best = 0;
	double most = -INFINITY;
	for (int64_t l = 0; l < levels; l++) {
		double score = mean[l] - log(-log(1 - kdri_rng_uniform(rng))); /* (E2) */
		if (score > most) {
			most = score;
			best = l;
		}
	}
	return (double)best;
}

static double draw_cell(kdri_rng *rng, const column *c, const double *mean, int64_t j)
{
	static const double units[] = { 1, 10, 100, 1000 };
	if (c->kind == CATEGORY)
		return draw_level(rng, mean, c->levels);
	double z = mean[0] + kdri_rng_normal(rng), digits = 1000, unit = units[j % 4];
	switch (c->kind) {
	case YES_NO: return z > 0;
	case GRADE: return KDRI_MAX(1, KDRI_MIN(5, round(3 + z)));
	case DATE: return (double)first_day + KDRI_MAX(-most_days, KDRI_MIN(most_days, round(120 * z)));
	case SKEWED: return round(digits * exp(z / 2)) * unit / digits;
	case OUTLIERS: {
		double u = kdri_rng_uniform(rng) * 100;
		return round(digits * (20 + z + (u < 1 ? 20 : u < 2 ? -20 : 0))) * unit / digits;
	}
	default: return round(digits * (20 + z)) * unit / digits;
	}
}

static void tables_row(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng, double *row)
{
	const tables *s = g->state;
	const double *mean = s->mean + (task * g->k + label) * g->features * LEVELS;
	for (int64_t j = 0; j < g->features; j++) {
		column c = column_of(s, task, j);
		row[j] = draw_cell(rng, &c, mean + j * LEVELS, j);
		if (kdri_rng_uniform(rng) < s->missing_cells)
			row[j] = NAN;
	}
}

/* --- columns and cells as text ------------------------------------------------------------------ */

static void tables_name(const kdr_generator *g, int64_t task, int64_t j, char *name, size_t size)
{
	column c = column_of(g->state, task, j);
	char only[32] = "";
	if (c.own)
		snprintf(only, sizeof only, "only%lld_", (long long)task + 1);
	snprintf(name, size, "%s%s%s%lld", only, c.noise ? "noise_" : "", kind_names[c.kind],
	         (long long)c.number);
}

static const char *level_name(const column *c, int64_t level)
{
	static const char *const letters[LEVELS] = { "A", "B", "C", "D", "E", "F", "G" };
	return c->kind == CATEGORY ? letters[level] : level ? "yes" : "no";
}

static int tables_cell(const kdr_generator *g, int64_t task, int64_t j, double value, char *text)
{
	column c = column_of(g->state, task, j);
	if (isnan(value))
		return 0;
	if (c.levels > 0)
		return snprintf(text, KDRI_CELL, "%s", level_name(&c, (int64_t)value));
	if (c.kind != DATE)
		return kdri_print_double(value, text);
	char since[KDRI_CELL];
	kdri_days_text(value, since, sizeof since);
	return snprintf(text, KDRI_CELL, "%s", since + strlen("days since "));
}

/* --- data in memory, as read from a file ---------------------------------------------------------- */

/* The description of column j of a table, computed from its cells: its entry in the sheet, and the levels that
 * occur. */
static kdr_status describe_column(kdr_context *ctx, const kdr_generator *g, int64_t task, int64_t j,
                                  const double *cells, int64_t rows, bool *seen, kdri_sheet *sheet)
{
	column c = column_of(g->state, task, j);
	kdr_column *out = &sheet->columns[j];
	char text[64], *name = NULL, *why = NULL;
	double low = INFINITY, high = -INFINITY;
	*out = (kdr_column){ .number = j + 1,
		             .kind = c.levels > 0     ? KDR_COLUMN_CATEGORY
		                     : c.kind == DATE ? KDR_COLUMN_DATE
		                                      : KDR_COLUMN_NUMBER };
	for (int64_t i = 0; i < rows; i++) {
		double v = cells[i * g->features + j];
		out->missing += isnan(v);
		low = KDRI_MIN(low, isnan(v) ? low : v);
		high = KDRI_MAX(high, isnan(v) ? high : v);
		if (!isnan(v) && c.levels > 0)
			seen[(int64_t)v] = true;
	}
	out->constant = low == high;
	if (low > high)
		out->kind = KDR_COLUMN_EMPTY;
	else if (c.levels == 0)
		seen[0] = true;
	for (int64_t l = 0; l < LEVELS; l++)
		out->features += seen[l];
	if (c.kind == DATE && low <= high) {
		sheet->origin[j] = low;
		kdri_days_text(low, text, sizeof text);
	} else {
		snprintf(text, sizeof text, "%lld different texts", (long long)out->features);
	}
	KDRI_DO(kdri_strdup(ctx, c.kind == DATE || c.levels > 0 ? text : "", &why));
	out->why = why;
	g->design->feature_name(g, task, j, text, sizeof text);
	KDRI_DO(kdri_strdup(ctx, text, &name));
	out->name = name;
	sheet->nfeatures += out->features;
	return KDR_OK;
}

static void fill_row(const kdr_generator *g, const kdri_sheet *sheet, const bool *seen, const double *cells,
                     double *row)
{
	int64_t at = 0;
	for (int64_t j = 0; j < g->features; j++)
		for (int64_t l = 0; l < LEVELS; l++)
			if (seen[j * LEVELS + l])
				row[at++] = isnan(cells[j]) ? NAN
				            : sheet->columns[j].kind == KDR_COLUMN_CATEGORY
				                    ? (double)(cells[j] == (double)l)
				                    : cells[j] - sheet->origin[j];
}

static kdr_status name_features(kdr_context *ctx, const kdr_generator *g, int64_t task, const bool *seen,
                                kdr_data *d)
{
	char text[96];
	int64_t at = 0;
	KDRI_DO(KDRI_NEW(ctx, &d->sheet->source, d->cols));
	KDRI_DO(KDRI_NEW0(ctx, &d->features, d->cols));
	for (int64_t j = 0; j < g->features; j++) {
		column c = column_of(g->state, task, j);
		for (int64_t l = 0; l < LEVELS; l++)
			if (seen[j * LEVELS + l]) {
				snprintf(text, sizeof text, "%.60s%s%s", d->sheet->columns[j].name,
				         c.levels > 0 ? "=" : "", c.levels > 0 ? level_name(&c, l) : "");
				d->sheet->source[at] = j;
				KDRI_DO(kdri_strdup(ctx, text, &d->features[at++]));
			}
	}
	return KDR_OK;
}

static kdr_status fill_table(kdr_context *ctx, const kdr_generator *g, int64_t task, kdr_data *d)
{
	kdr_status st;
	double *cells = NULL;
	bool *seen = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, d->rows, g->features, &size));
	KDRI_TRY(KDRI_NEW(ctx, &cells, size));
	KDRI_TRY(KDRI_NEW0(ctx, &seen, g->features * LEVELS));
	KDRI_TRY(KDRI_NEW0(ctx, &d->sheet, 1));
	KDRI_TRY(KDRI_NEW0(ctx, &d->sheet->columns, g->features));
	KDRI_TRY(KDRI_NEW0(ctx, &d->sheet->origin, g->features));
	KDRI_TRY(KDRI_NEW0(ctx, &d->sheet->order, g->features));
	KDRI_TRY(kdri_strdup(ctx, "keep", &d->sheet->missing));
	d->sheet->ncolumns = g->features;
	for (int64_t i = 0; i < d->rows; i++)
		d->labels[i] = kdri_generator_dense_row(g, task, i, cells + i * g->features);
	for (int64_t j = 0; j < g->features; j++)
		KDRI_TRY(describe_column(ctx, g, task, j, cells, d->rows, seen + j * LEVELS, d->sheet));
	d->cols = d->sheet->nfeatures;
	KDRI_TRY(name_features(ctx, g, task, seen, d));
	KDRI_TRY(kdri_mul(ctx, d->rows, d->cols, &size));
	KDRI_TRY(KDRI_NEW(ctx, &d->dense, size));
	for (int64_t i = 0; i < d->rows; i++)
		fill_row(g, d->sheet, seen, cells + i * g->features, d->dense + i * d->cols);
done:
	KDRI_FREE(ctx, cells, seen);
	return st;
}

static const kdri_design design = { .stage = "generate.tables",
	                            .dense_row = tables_row,
	                            .feature_name = tables_name,
	                            .print_cell = tables_cell,
	                            .fill = fill_table,
	                            .free_state = free_tables };

/* --- making one -------------------------------------------------------------------------------- */

/* (E1). Columns of one table only are drawn for that table, and so is everything if the segments are not common. */
static kdr_status make_means(kdr_context *ctx, kdr_generator *g, const kdr_design *spec)
{
	tables *s = g->state;
	const int64_t width = g->features * LEVELS, common = (s->informative + s->noise) * LEVELS;
	int64_t per_task, size;
	KDRI_DO(kdri_mul(ctx, g->k, width, &per_task));
	KDRI_DO(kdri_mul(ctx, g->tasks, per_task, &size));
	KDRI_DO(KDRI_NEW(ctx, &s->mean, size));
	for (int64_t t = 0; t < g->tasks; t++) {
		kdri_rng segment = kdri_rng_stream(g->seed, "generate.tables.segments",
		                                   spec->unrelated ? (uint64_t)t : 0);
		kdri_rng own = kdri_rng_stream(g->seed, "generate.tables.own", (uint64_t)t);
		kdri_rng move = kdri_rng_stream(g->seed, "generate.tables.shift", (uint64_t)t);
		double *first = s->mean + t * per_task;
		for (int64_t c = 0; c < g->k; c++)
			for (int64_t j = 0; j < width; j++) {
				double a = kdri_rng_normal(j < common ? &segment : &own),
				       b = kdri_rng_normal(&move);
				if (!column_of(s, t, j / LEVELS).noise)
					first[c * width + j] = spec->separation * a + spec->shift * b;
				else
					first[c * width + j] = c > 0 ? first[j] : a;
			}
	}
	return KDR_OK;
}

static kdr_status tables_check(kdr_context *ctx, const kdr_design *s)
{
	static const char what[] = "tables";
	KDRI_DO(kdri_check_count(ctx, what, "features", s->features, 1, MOST_COLUMNS));
	KDRI_DO(kdri_check_count(ctx, what, "noise features", s->noise_features, 0, MOST_COLUMNS));
	KDRI_DO(kdri_check_count(ctx, what, "own features", s->own_features, 0, MOST_COLUMNS));
	KDRI_DO(kdri_check_real(ctx, what, "separation", s->separation, 0, 100));
	KDRI_DO(kdri_check_real(ctx, what, "shift", s->shift, 0, 100));
	KDRI_DO(kdri_check_real(ctx, what, "imbalance", s->imbalance, 0, 1));
	KDRI_DO(kdri_check_real(ctx, what, "missing cells", s->missing_cells, 0, 1));
	return kdri_check_count(ctx, what, "missing (of k segments)", s->missing, 0, s->k - 1);
}

kdr_status kdri_generate_tables(kdr_context *ctx, const kdr_design *spec, kdr_generator **out)
{
	kdr_status st;
	kdr_generator *g = NULL;
	tables *s = NULL;
	KDRI_TRY(kdri_generator_new(ctx, &design, "tables", spec->tasks, spec->k, spec->samples, &g));
	KDRI_TRY(tables_check(ctx, spec));
	KDRI_TRY(KDRI_NEW0(ctx, &s, 1));
	*s = (tables){ .informative = spec->features,
		       .noise = spec->noise_features,
		       .own = spec->own_features,
		       .missing_cells = spec->missing_cells };
	g->state = s;
	g->features = s->informative + s->noise + s->own;
	KDRI_TRY(make_means(ctx, g, spec));
	KDRI_TRY(kdri_classes_new(ctx, g, spec->missing, spec->imbalance, true));
	*out = g;
	g = NULL;
done:
	kdr_generator_free(g);
	return st;
}
