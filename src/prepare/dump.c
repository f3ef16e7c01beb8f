/* Fitted preprocessing, also as named arrays for model files. SPDX-License-Identifier: BSD-3-Clause
 *
 *   strings  align, weight, norm, scale   one each, as the command line spells them
 *            top_by                       likewise; missing: df
 *            features                     names of the aligned columns; missing if unnamed
 *   int64    columns, tasks, fit_each, centred, top_features   one value each; rows with idf
 *            place (columns)              number of the output column, or -1; missing: all
 *            column_kind, group (columns)  scale table: kdri_table_kind, and the first column of the category, or -1
 *   float64  idf (sets x columns), median (sets), offset, divisor (sets x columns)
 *            fill (tasks x columns)       replacements for missing values of tables
 *            unit, low, high (sets x columns), hole (tasks x columns)   scale table
 *            origin (columns)             the day that dates are counted from, since 1970-01-01; else 0
 *   strings  words                       that have a vector: vectors (words x columns), word_idf (words), float64
 *   strings  read_columns, read_missing, read_texts (one each), read_na, read_rename, read_recode   how files of new samples are read
 *
 * sets is `tasks` if fit_each is 1, else 1. The contents of a file are not trusted: sizes are compared with the data
 * before anything is allocated, and numbers must be valid. */
#include "prepare/prep.h"

#include <stdio.h>

const char *const kdri_align_names[] = { "default", "union", "intersect", "position", NULL };
const char *const kdri_weight_names[] = { "none", "binary", "log1p", "cpm", "tfidf", "sqrt", NULL };
const char *const kdri_norm_names[] = { "none", "l1", "l2", NULL };
const char *const kdri_scale_names[] = { "none", "standard", "minmax", "table", NULL };
const char *const kdri_top_names[] = { "df", "variance", "dispersion", NULL };

/* --- the fitted object ------------------------------------------------------------------------- */

kdr_status kdri_prep_new(kdr_context *ctx, const kdr_prep_options *options, int64_t tasks, kdr_prep **out)
{
	kdr_prep *p;
	kdr_status st = KDRI_NEW0(ctx, &p, 1);
	if (st != KDR_OK)
		return st;
	p->allocator = ctx->allocator;
	p->options = *options;
	p->tasks = tasks;
	p->fit_each = options->fit_each;
	p->sets = options->fit_each ? tasks : 1;
	*out = p;
	return KDR_OK;
}

void kdr_prep_free(kdr_prep *p)
{
	if (!p)
		return;
	kdr_allocator a = p->allocator;
	kdri_strings_free(&a, p->names, p->cols);
	KDRI_FREE_WITH(&a, p->idf, p->median, p->offset, p->divisor, p->column_kind, p->unit, p->low, p->high,
	               p->hole, p->kept, p->group, p->origin, p->fill, p->reading_columns, p->reading_missing,
	               p->reading_texts);
	kdri_vectors_release(p->vectors);
	kdri_strings_free(&a, p->reading_na, p->reading_nna);
	kdri_strings_free(&a, p->reading_rename, p->reading_nrename);
	kdri_strings_free(&a, p->reading_recode, p->reading_nrecode);
	kdri_free_with(&a, p->place);
	kdri_strings_free(&a, p->warnings, p->nwarnings);
	kdri_free_with(&a, p);
}

kdr_status kdri_prep_warn(kdr_context *ctx, kdr_prep *p, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	kdri_vsnprintf(text, sizeof text, format, args);
	va_end(args);
	kdri_one_line(text);
	return kdri_strings_append(ctx, &p->warnings, &p->nwarnings, text);
}

int64_t kdri_prep_warning_count(const kdr_prep *p)
{
	return p ? p->nwarnings : 0;
}

const char *kdri_prep_warning_at(const kdr_prep *p, int64_t index)
{
	return p && index >= 0 && index < p->nwarnings ? p->warnings[index] : NULL;
}

kdr_status kdri_prep_keep(kdr_context *ctx, kdr_prep *p, int64_t *kept, int64_t nkept)
{
	int64_t *place = NULL;
	KDRI_DO(KDRI_NEW(ctx, &place, p->cols));
	for (int64_t j = 0; j < p->cols; j++)
		place[j] = -1;
	for (int64_t k = 0; k < nkept; k++)
		place[kept[k]] = k;
	p->kept = kept;
	p->nkept = nkept;
	p->place = place;
	return KDR_OK;
}

void kdri_prep_finish(kdr_prep *p)
{
	const kdr_prep_options *o = &p->options;
	if (!p->kept)
		p->nkept = p->cols;
	char *text = p->description;
	size_t size = sizeof p->description;
	int used = snprintf(text, size, "features: %s (%lld data set%s, %lld columns)",
	                    kdri_align_names[o->align], (long long)p->tasks, p->tasks == 1 ? "" : "s",
	                    (long long)p->cols);
	if (o->weight != KDR_WEIGHT_NONE)
		used += snprintf(text + used, size - (size_t)used, "; %s", kdri_weight_names[o->weight]);
	if (o->norm != KDR_NORM_NONE)
		used += snprintf(text + used, size - (size_t)used, "; %s", kdri_norm_names[o->norm]);
	if (o->scale != KDR_SCALE_NONE)
		used += snprintf(text + used, size - (size_t)used, "; %s%s", kdri_scale_names[o->scale],
		                 o->scale == KDR_SCALE_STANDARD && !p->centred ? " without centring" : "");
	if (p->column_kind) {
		kdri_table_sentence(p, text, size);
		return;
	}
	if (p->kept)
		used += snprintf(text + used, size - (size_t)used, "; top %lld%s%s", (long long)p->nkept,
		                 o->top_by == KDR_TOP_DF ? "" : " by ",
		                 o->top_by == KDR_TOP_DF ? "" : kdri_top_names[o->top_by]);
	if (p->fit_each)
		snprintf(text + used, size - (size_t)used, "; fitted on each data set");
}

const char *kdri_prep_describe(const kdr_prep *p)
{
	return p ? p->description : "";
}

/* --- out --------------------------------------------------------------------------------------- */

static void dump_put(kdri_prep_dump *dump, const char *name, kdr_dtype type, int64_t count, const void *data)
{
	if (data)
		dump->arrays[dump->narrays++] = (kdri_dump_array){ name, type, count, data };
}

static void put_strings(kdri_prep_dump *dump, const char *name, int64_t count, const char *const *strings)
{
	if (strings)
		dump->strings[dump->nstrings++] = (kdri_dump_strings){ name, count, strings };
}

kdr_status kdri_prep_export(kdr_context *ctx, const kdr_prep *p, kdri_prep_dump *dump)
{
	const kdr_prep_options *o = &p->options;
	int64_t table;
	kdr_status st = kdri_mul(ctx, p->sets, p->cols, &table);
	if (st != KDR_OK)
		return st;
	*dump = (kdri_prep_dump){ .narrays = 0 };
	put_strings(dump, "align", 1, &kdri_align_names[o->align]);
	put_strings(dump, "weight", 1, &kdri_weight_names[o->weight]);
	put_strings(dump, "norm", 1, &kdri_norm_names[o->norm]);
	put_strings(dump, "scale", 1, &kdri_scale_names[o->scale]);
	if (o->top_by != KDR_TOP_DF)
		put_strings(dump, "top_by", 1, &kdri_top_names[o->top_by]);
	put_strings(dump, "features", p->cols, (const char *const *)p->names);
	dump_put(dump, "columns", KDR_INT64, 1, &p->cols);
	dump_put(dump, "tasks", KDR_INT64, 1, &p->tasks);
	dump_put(dump, "fit_each", KDR_INT64, 1, &p->fit_each);
	dump_put(dump, "centred", KDR_INT64, 1, &p->centred);
	dump_put(dump, "top_features", KDR_INT64, 1, &o->top_features);
	dump_put(dump, "place", KDR_INT64, p->cols, p->place);
	dump_put(dump, "idf", KDR_FLOAT64, table, p->idf);
	if (p->idf && p->rows > 0)
		dump_put(dump, "rows", KDR_INT64, 1, &p->rows);
	dump_put(dump, "median", KDR_FLOAT64, p->sets, p->median);
	dump_put(dump, "offset", KDR_FLOAT64, table, p->offset);
	dump_put(dump, "divisor", KDR_FLOAT64, table, p->divisor);
	dump_put(dump, "origin", KDR_FLOAT64, p->cols, p->origin);
	dump_put(dump, "column_kind", KDR_INT64, p->cols, p->column_kind);
	if (p->column_kind)
		dump_put(dump, "group", KDR_INT64, p->cols, p->group);
	dump_put(dump, "unit", KDR_FLOAT64, table, p->unit);
	dump_put(dump, "low", KDR_FLOAT64, table, p->low);
	dump_put(dump, "high", KDR_FLOAT64, table, p->high);
	dump_put(dump, "hole", KDR_FLOAT64, p->tasks * p->cols, p->hole);
	dump_put(dump, "fill", KDR_FLOAT64, p->tasks * p->cols, p->fill);
	if (p->reading_columns)
		put_strings(dump, "read_columns", 1, (const char *const *)&p->reading_columns);
	if (p->reading_missing)
		put_strings(dump, "read_missing", 1, (const char *const *)&p->reading_missing);
	if (p->reading_texts)
		put_strings(dump, "read_texts", 1, (const char *const *)&p->reading_texts);
	if (p->vectors) {
		put_strings(dump, "words", p->vectors->count, (const char *const *)p->vectors->words);
		dump_put(dump, "word_idf", KDR_FLOAT64, p->vectors->count, p->vectors->idf);
		dump_put(dump, "vectors", KDR_FLOAT64, p->vectors->count * p->vectors->dim,
		         p->vectors->values);
	}
	if (p->reading_nna > 0)
		put_strings(dump, "read_na", p->reading_nna, (const char *const *)p->reading_na);
	if (p->reading_nrename > 0)
		put_strings(dump, "read_rename", p->reading_nrename, (const char *const *)p->reading_rename);
	if (p->reading_nrecode > 0)
		put_strings(dump, "read_recode", p->reading_nrecode, (const char *const *)p->reading_recode);
	return KDR_OK;
}

/* --- in ---------------------------------------------------------------------------------------- */

static kdr_status dump_damaged(kdr_context *ctx, const char *name, const char *what)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "preprocessing in the model: %s: %s", name, what);
}

static const kdri_dump_array *dump_find(const kdri_prep_dump *dump, const char *name)
{
	for (int i = 0; i < dump->narrays; i++)
		if (dump->arrays[i].name && strcmp(dump->arrays[i].name, name) == 0)
			return &dump->arrays[i];
	return NULL;
}

static const kdri_dump_strings *find_strings(const kdri_prep_dump *dump, const char *name)
{
	for (int i = 0; i < dump->nstrings; i++)
		if (dump->strings[i].name && strcmp(dump->strings[i].name, name) == 0)
			return &dump->strings[i];
	return NULL;
}

/* The array with this name, type and size; it is an error if it is missing. */
static kdr_status need(kdr_context *ctx, const kdri_prep_dump *dump, const char *name, kdr_dtype type,
                       int64_t count, const void **out)
{
	const kdri_dump_array *a = dump_find(dump, name);
	if (!a || !a->data)
		return dump_damaged(ctx, name, "is missing");
	if (a->type != type || a->count != count)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "preprocessing in the model: %s: %lld %s expected, found %lld %s", name,
		                 (long long)count, type == KDR_INT64 ? "integers" : "numbers",
		                 (long long)a->count, a->type == KDR_INT64 ? "integers" : "numbers");
	*out = a->data;
	return KDR_OK;
}

static kdr_status get_int(kdr_context *ctx, const kdri_prep_dump *dump, const char *name, int64_t min,
                          int64_t max, int64_t *out)
{
	const void *raw = NULL;
	kdr_status st = need(ctx, dump, name, KDR_INT64, 1, &raw);
	if (st != KDR_OK)
		return st;
	const int64_t *value = raw;
	if (*value < min || *value > max)
		return dump_damaged(ctx, name, "out of range");
	*out = *value;
	return KDR_OK;
}

static kdr_status get_choice(kdr_context *ctx, const kdri_prep_dump *dump, const char *name,
                             const char *const *choices, int *out)
{
	const kdri_dump_strings *s = find_strings(dump, name);
	if (!s || s->count != 1 || !s->strings || !s->strings[0])
		return dump_damaged(ctx, name, "is missing");
	const int i = kdri_word_index(choices, s->strings[0]);
	if (i < 0)
		return dump_damaged(ctx, name, "unknown value");
	*out = i;
	return KDR_OK;
}

/* A copy of `count` doubles, all finite and, if `positive`, above zero. */
static kdr_status get_reals(kdr_context *ctx, const kdri_prep_dump *dump, const char *name, int64_t count,
                            bool positive, double **out)
{
	const void *raw = NULL;
	double *copy = NULL;
	KDRI_DO(need(ctx, dump, name, KDR_FLOAT64, count, &raw));
	const double *values = raw;
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(values[i]) || (positive && !(values[i] > 0)))
			return dump_damaged(ctx, name,
			                    positive ? "a value is not above 0" : "a value is not finite");
	KDRI_DO(KDRI_NEW(ctx, &copy, count));
	memcpy(copy, values, (size_t)count * sizeof *copy);
	*out = copy;
	return KDR_OK;
}

static kdr_status get_features(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep *p)
{
	kdr_status st = KDR_OK;
	kdri_names table = { .borrows = true };
	bool by_name = p->options.align != KDR_ALIGN_POSITION;
	const kdri_dump_strings *s = find_strings(dump, "features");
	if (!s)
		return by_name ? dump_damaged(ctx, "features", "is missing") : KDR_OK;
	if (s->count != p->cols || !s->strings)
		return dump_damaged(ctx, "features", "there must be one name per column");
	for (int64_t j = 0; j < p->cols; j++)
		if (!s->strings[j])
			return dump_damaged(ctx, "features", "a name is missing");
	KDRI_TRY(KDRI_NEW0(ctx, &p->names, p->cols));
	for (int64_t j = 0; j < p->cols; j++) {
		int64_t u = j;
		if (by_name)
			KDRI_TRY(kdri_names_add(ctx, &table, s->strings[j], strlen(s->strings[j]), &u));
		if (u < j)
			KDRI_TRY(dump_damaged(ctx, "features", "a name occurs twice"));
		KDRI_TRY(kdri_strdup(ctx, s->strings[j], &p->names[j]));
	}
done:
	kdri_names_free(ctx, &table);
	return st;
}

/* A list of strings, ended by NULL; empty if there is none. */
static kdr_status get_list(kdr_context *ctx, const kdri_prep_dump *dump, const char *name, char ***out,
                           int64_t *count)
{
	const kdri_dump_strings *list = find_strings(dump, name);
	KDRI_DO(KDRI_NEW0(ctx, out, (list ? list->count : 0) + 1));
	for (; list && list->strings && *count < list->count; ++*count)
		KDRI_DO(kdri_strdup(ctx, list->strings[*count] ? list->strings[*count] : "",
		                    &(*out)[*count]));
	return KDR_OK;
}

static kdr_status get_reading(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep *p)
{
	const kdri_dump_strings *columns = find_strings(dump, "read_columns"),
	                        *missing = find_strings(dump, "read_missing"),
	                        *texts = find_strings(dump, "read_texts");
	if (texts && (texts->count != 1 || !texts->strings || !texts->strings[0]))
		return dump_damaged(ctx, "read_texts", "one string is expected");
	if (texts)
		KDRI_DO(kdri_strdup(ctx, texts->strings[0], &p->reading_texts));
	if (!columns)
		return KDR_OK;
	if (columns->count != 1 || !columns->strings || !columns->strings[0])
		return dump_damaged(ctx, "read_columns", "one string is expected");
	if (missing && (missing->count != 1 || !missing->strings || !missing->strings[0]))
		return dump_damaged(ctx, "read_missing", "one string is expected");
	KDRI_DO(kdri_strdup(ctx, columns->strings[0], &p->reading_columns));
	if (missing)
		KDRI_DO(kdri_strdup(ctx, missing->strings[0], &p->reading_missing));
	KDRI_DO(get_list(ctx, dump, "read_na", &p->reading_na, &p->reading_nna));
	KDRI_DO(get_list(ctx, dump, "read_rename", &p->reading_rename, &p->reading_nrename));
	return get_list(ctx, dump, "read_recode", &p->reading_recode, &p->reading_nrecode);
}

/* The vectors of words, which have as many dimensions as there are columns. */
static kdr_status get_vectors(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep *p)
{
	kdri_vectors *v;
	const void *idf = NULL, *values = NULL;
	int64_t size;
	const kdri_dump_strings *words = find_strings(dump, "words");
	if (!words)
		return KDR_OK;
	if (!p->reading_texts || !words->strings || p->cols < 1)
		return dump_damaged(ctx, "words", "the samples are not texts");
	KDRI_DO(kdri_mul(ctx, words->count, p->cols, &size));
	KDRI_DO(need(ctx, dump, "word_idf", KDR_FLOAT64, words->count, &idf));
	KDRI_DO(need(ctx, dump, "vectors", KDR_FLOAT64, size, &values));
	KDRI_DO(kdri_vectors_new(ctx, words->count, p->cols, &v));
	p->vectors = v;
	memcpy(v->idf, idf, (size_t)v->count * sizeof *v->idf);
	memcpy(v->values, values, (size_t)size * sizeof *v->values);
	for (int64_t i = 0; i < v->count; i++) {
		if (!words->strings[i] || !(v->idf[i] > 0) || !isfinite(v->idf[i]))
			return dump_damaged(ctx, "words", "a word or its weight is missing");
		KDRI_DO(kdri_strdup(ctx, words->strings[i], &v->words[i]));
	}
	for (int64_t i = 0; i < size; i++)
		if (!isfinite(v->values[i]))
			return dump_damaged(ctx, "vectors", "a value is not finite");
	return KDR_OK;
}

static kdr_status get_kept(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep *p)
{
	kdr_status st;
	const void *raw = NULL;
	int64_t *kept = NULL, n = 0;
	if (!dump_find(dump, "place"))
		return KDR_OK;
	KDRI_TRY(need(ctx, dump, "place", KDR_INT64, p->cols, &raw));
	const int64_t *place = raw;
	for (int64_t j = 0; j < p->cols; j++) {
		if (place[j] != -1 && place[j] != n)
			return dump_damaged(ctx, "place", "columns must be numbered from 0");
		n += place[j] >= 0;
	}
	KDRI_TRY(KDRI_NEW(ctx, &kept, n));
	n = 0;
	for (int64_t j = 0; j < p->cols; j++)
		if (place[j] >= 0)
			kept[n++] = j;
	KDRI_TRY(kdri_prep_keep(ctx, p, kept, n));
	kept = NULL;
done:
	kdri_free(ctx, kept);
	return st;
}

static kdr_status get_options(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep_options *o,
                              int64_t *tasks)
{
	int align = 0, weight = 0, norm = 0, scale = 0, top = KDR_TOP_DF;
	int64_t fit_each = 0;
	KDRI_DO(get_choice(ctx, dump, "align", kdri_align_names, &align));
	KDRI_DO(get_choice(ctx, dump, "weight", kdri_weight_names, &weight));
	KDRI_DO(get_choice(ctx, dump, "norm", kdri_norm_names, &norm));
	KDRI_DO(get_choice(ctx, dump, "scale", kdri_scale_names, &scale));
	if (find_strings(dump, "top_by"))
		KDRI_DO(get_choice(ctx, dump, "top_by", kdri_top_names, &top));
	KDRI_DO(get_int(ctx, dump, "fit_each", 0, 1, &fit_each));
	KDRI_DO(get_int(ctx, dump, "tasks", 1, INT64_MAX, tasks));
	KDRI_DO(get_int(ctx, dump, "top_features", 0, INT64_MAX, &o->top_features));
	if (align == KDR_ALIGN_DEFAULT)
		return dump_damaged(ctx, "align", "unknown value");
	o->align = (kdr_align)align;
	o->weight = (kdr_weight)weight;
	o->norm = (kdr_norm)norm;
	o->scale = (kdr_scale)scale;
	o->fit_each = fit_each == 1;
	o->top_by = (kdr_top)top;
	return KDR_OK;
}

/* Integers of each column, in low .. high. */
static kdr_status get_column_integers(kdr_context *ctx, const kdri_prep_dump *dump, const char *name,
                                      int64_t cols, int64_t low, int64_t high, int64_t **out)
{
	const void *raw = NULL;
	KDRI_DO(need(ctx, dump, name, KDR_INT64, cols, &raw));
	const int64_t *values = raw;
	for (int64_t u = 0; u < cols; u++)
		if (values[u] < low || values[u] > high)
			return dump_damaged(ctx, name, "out of range");
	KDRI_DO(KDRI_NEW(ctx, out, cols));
	memcpy(*out, values, (size_t)cols * sizeof *values);
	return KDR_OK;
}

/* What scale table needs; the levels of a category are adjacent. */
static kdr_status get_table(kdr_context *ctx, const kdri_prep_dump *dump, int64_t table, kdr_prep *p)
{
	int64_t holes;
	KDRI_DO(kdri_mul(ctx, p->tasks, p->cols, &holes));
	KDRI_DO(get_column_integers(ctx, dump, "column_kind", p->cols, KDRI_TABLE_NUMBER, KDRI_TABLE_LEVEL,
	                            &p->column_kind));
	KDRI_DO(get_column_integers(ctx, dump, "group", p->cols, -1, p->cols - 1, &p->group));
	for (int64_t u = 0; u < p->cols; u++) {
		const int64_t group = p->group[u];
		if ((p->column_kind[u] == KDRI_TABLE_LEVEL) != (group >= 0) ||
		    (group >= 0 && group != u && (u == 0 || p->group[u - 1] != group)))
			return dump_damaged(ctx, "group", "the levels of a category must be adjacent");
	}
	KDRI_DO(get_reals(ctx, dump, "unit", table, false, &p->unit));
	KDRI_DO(get_reals(ctx, dump, "low", table, false, &p->low));
	KDRI_DO(get_reals(ctx, dump, "high", table, false, &p->high));
	return get_reals(ctx, dump, "hole", holes, false, &p->hole);
}

kdr_status kdri_prep_import(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep **out)
{
	kdr_status st;
	kdr_prep_options options = { .size = sizeof(kdr_prep_options) };
	kdr_prep *p = NULL;
	int64_t tasks = 0, table = 0;
	if (dump->narrays < 0 || dump->narrays > 32 || dump->nstrings < 0 || dump->nstrings > 16)
		return dump_damaged(ctx, "arrays", "too many");
	KDRI_TRY(get_options(ctx, dump, &options, &tasks));
	KDRI_TRY(kdri_prep_new(ctx, &options, tasks, &p));
	KDRI_TRY(get_int(ctx, dump, "columns", 0, INT64_MAX, &p->cols));
	KDRI_TRY(get_int(ctx, dump, "centred", 0, options.scale == KDR_SCALE_STANDARD, &p->centred));
	KDRI_TRY(kdri_mul(ctx, p->sets, p->cols, &table));
	KDRI_TRY(get_features(ctx, dump, p));
	if (options.weight == KDR_WEIGHT_TFIDF)
		KDRI_TRY(get_reals(ctx, dump, "idf", table, true, &p->idf));
	if (p->idf && dump_find(dump, "rows"))
		KDRI_TRY(get_int(ctx, dump, "rows", 1, INT64_MAX, &p->rows));
	if (options.weight == KDR_WEIGHT_CPM)
		KDRI_TRY(get_reals(ctx, dump, "median", p->sets, true, &p->median));
	if (options.scale != KDR_SCALE_NONE || dump_find(dump, "divisor")) {
		KDRI_TRY(get_reals(ctx, dump, "offset", table, false, &p->offset));
		KDRI_TRY(get_reals(ctx, dump, "divisor", table, true, &p->divisor));
	}
	if (options.scale == KDR_SCALE_TABLE)
		KDRI_TRY(get_table(ctx, dump, table, p));
	if (dump_find(dump, "origin"))
		KDRI_TRY(get_reals(ctx, dump, "origin", p->cols, false, &p->origin));
	if (dump_find(dump, "fill")) {
		KDRI_TRY(kdri_mul(ctx, p->tasks, p->cols, &table));
		KDRI_TRY(get_reals(ctx, dump, "fill", table, false, &p->fill));
	}
	KDRI_TRY(get_reading(ctx, dump, p));
	KDRI_TRY(get_vectors(ctx, dump, p));
	KDRI_TRY(get_kept(ctx, dump, p));
	kdri_prep_finish(p);
	*out = p;
	p = NULL;
done:
	kdr_prep_free(p);
	return st;
}

/* The rows of an array of tasks x columns, and their mean `more` times. */
static kdr_status extend_rows(kdr_context *ctx, const kdr_prep *p, const double *rows, int64_t more,
                              double **out)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, p->tasks + more, p->cols, &size));
	KDRI_DO(KDRI_NEW0(ctx, out, size));
	memcpy(*out, rows, (size_t)(p->tasks * p->cols) * sizeof *rows);
	for (int64_t t = p->tasks; t < p->tasks + more; t++)
		for (int64_t s = 0; s < p->tasks; s++)
			for (int64_t j = 0; j < p->cols; j++)
				(*out)[t * p->cols + j] += rows[s * p->cols + j] / (double)p->tasks;
	return KDR_OK;
}

kdr_status kdri_prep_extend(kdr_context *ctx, const kdr_prep *p, int64_t more, kdr_prep **out)
{
	kdr_status st;
	kdri_prep_dump dump;
	double *hole = NULL, *fill = NULL;
	const int64_t tasks = p->tasks + more;
	if (p->fit_each)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "the preprocessing was fitted on each data set separately (--fit-on each), so there is none for others");
	KDRI_TRY(kdri_prep_export(ctx, p, &dump));
	if (p->hole)
		KDRI_TRY(extend_rows(ctx, p, p->hole, more, &hole));
	if (p->fill)
		KDRI_TRY(extend_rows(ctx, p, p->fill, more, &fill));
	for (int i = 0; i < dump.narrays; i++) {
		kdri_dump_array *a = &dump.arrays[i];
		if (strcmp(a->name, "tasks") == 0)
			a->data = &tasks;
		if (strcmp(a->name, "hole") == 0 || strcmp(a->name, "fill") == 0) {
			a->data = a->name[0] == 'h' ? hole : fill;
			a->count = tasks * p->cols;
		}
	}
	KDRI_TRY(kdri_prep_import(ctx, &dump, out));
done:
	KDRI_FREE(ctx, hole, fill);
	return st;
}
