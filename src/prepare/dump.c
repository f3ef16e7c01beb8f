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
 * sets is `tasks` if fit_each is 1, else 1. dump_head and dump_fields list the fields once, for both directions. The contents of a file
 * are not trusted: sizes are compared with the data before anything is allocated, and numbers must be valid. */
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
	               p->hole, p->typical, p->spread, p->kept, p->group, p->origin, p->fill,
	               p->reading_columns, p->reading_missing, p->reading_texts);
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
	char text[1024];
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

/* --- as named arrays ------------------------------------------------------------------------------ */

/* One direction: fields go to `to`, or come from `from`. */
typedef struct dump_io {
	kdr_context *ctx;
	kdri_prep_dump *to; /* NULL: load */
	const kdri_prep_dump *from;
} dump_io;

static kdr_status damaged(const dump_io *d, const char *name, const char *what)
{
	return kdri_fail(d->ctx, KDR_ERR_FORMAT, "preprocessing in the model: %s: %s", name, what);
}

static const kdri_dump_array *find_array(const dump_io *d, const char *name)
{
	for (int i = 0; i < d->from->narrays; i++)
		if (d->from->arrays[i].name && strcmp(d->from->arrays[i].name, name) == 0)
			return &d->from->arrays[i];
	return NULL;
}

static const kdri_dump_strings *find_strings(const dump_io *d, const char *name)
{
	for (int i = 0; i < d->from->nstrings; i++)
		if (d->from->strings[i].name && strcmp(d->from->strings[i].name, name) == 0)
			return &d->from->strings[i];
	return NULL;
}

/* Whether there is an array that may be missing. */
static bool has(const dump_io *d, const char *name, bool present)
{
	return d->to ? present : find_array(d, name) != NULL;
}

static kdr_status put(const dump_io *d, const char *name, kdr_dtype type, int64_t count, const void *data)
{
	if (data)
		d->to->arrays[d->to->narrays++] = (kdri_dump_array){ name, type, count, data };
	return KDR_OK;
}

static kdr_status put_strings(const dump_io *d, const char *name, int64_t count, const char *const *strings)
{
	if (strings)
		d->to->strings[d->to->nstrings++] = (kdri_dump_strings){ name, count, strings };
	return KDR_OK;
}

/* The array with this name, type and size; it is an error if it is missing. */
static kdr_status need(const dump_io *d, const char *name, kdr_dtype type, int64_t count, const void **out)
{
	const kdri_dump_array *a = find_array(d, name);
	if (!a || !a->data)
		return damaged(d, name, "is missing");
	if (a->type != type || a->count != count)
		return kdri_fail(d->ctx, KDR_ERR_FORMAT,
		                 "preprocessing in the model: %s: %lld %s expected, found %lld %s", name,
		                 (long long)count, type == KDR_INT64 ? "integers" : "numbers",
		                 (long long)a->count, a->type == KDR_INT64 ? "integers" : "numbers");
	*out = a->data;
	return KDR_OK;
}

/* --- one field, in both directions ------------------------------------------------------------- */

static kdr_status check_integers(const dump_io *d, const char *name, int64_t count, int64_t low, int64_t high,
                                 const int64_t **out)
{
	const void *raw = NULL;
	KDRI_DO(need(d, name, KDR_INT64, count, &raw));
	*out = raw;
	for (int64_t i = 0; i < count; i++)
		if ((*out)[i] < low || (*out)[i] > high)
			return damaged(d, name, "out of range");
	return KDR_OK;
}

/* An integer in low .. high. */
static kdr_status integer(const dump_io *d, const char *name, int64_t low, int64_t high, int64_t *value)
{
	const int64_t *found = NULL;
	if (d->to)
		return put(d, name, KDR_INT64, 1, value);
	KDRI_DO(check_integers(d, name, 1, low, high, &found));
	*value = *found;
	return KDR_OK;
}

static kdr_status integers(const dump_io *d, const char *name, int64_t count, int64_t low, int64_t high,
                           int64_t **values)
{
	const int64_t *found = NULL;
	if (d->to)
		return put(d, name, KDR_INT64, count, *values);
	KDRI_DO(check_integers(d, name, count, low, high, &found));
	KDRI_DO(KDRI_NEW(d->ctx, values, count));
	memcpy(*values, found, (size_t)count * sizeof *found);
	return KDR_OK;
}

/* Numbers, all finite and, if `positive`, above zero. */
static kdr_status reals(const dump_io *d, const char *name, int64_t count, bool positive, double **values)
{
	const void *raw = NULL;
	if (d->to)
		return put(d, name, KDR_FLOAT64, count, *values);
	KDRI_DO(need(d, name, KDR_FLOAT64, count, &raw));
	const double *found = raw;
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(found[i]) || (positive && !(found[i] > 0)))
			return damaged(d, name,
			               positive ? "a value is not above 0" : "a value is not finite");
	KDRI_DO(KDRI_NEW(d->ctx, values, count));
	memcpy(*values, found, (size_t)count * sizeof *found);
	return KDR_OK;
}

static kdr_status choice(const dump_io *d, const char *name, const char *const *choices, int value, int *out)
{
	if (d->to)
		return put_strings(d, name, 1, &choices[value]);
	const kdri_dump_strings *s = find_strings(d, name);
	if (!s || s->count != 1 || !s->strings || !s->strings[0])
		return damaged(d, name, "is missing");
	*out = kdri_word_index(choices, s->strings[0]);
	return *out < 0 ? damaged(d, name, "unknown value") : KDR_OK;
}

/* A string that may be missing. */
static kdr_status text(const dump_io *d, const char *name, char **value)
{
	if (d->to)
		return put_strings(d, name, 1, *value ? (const char *const *)value : NULL);
	const kdri_dump_strings *s = find_strings(d, name);
	if (s && (s->count != 1 || !s->strings || !s->strings[0]))
		return damaged(d, name, "one string is expected");
	return s ? kdri_strdup(d->ctx, s->strings[0], value) : KDR_OK;
}

/* A list of strings, ended by NULL; empty if there is none. */
static kdr_status texts(const dump_io *d, const char *name, char ***out, int64_t *count)
{
	if (d->to)
		return put_strings(d, name, *count, *count > 0 ? (const char *const *)*out : NULL);
	const kdri_dump_strings *list = find_strings(d, name);
	KDRI_DO(KDRI_NEW0(d->ctx, out, (list ? list->count : 0) + 1));
	for (; list && list->strings && *count < list->count; ++*count)
		KDRI_DO(kdri_strdup(d->ctx, list->strings[*count] ? list->strings[*count] : "",
		                    &(*out)[*count]));
	return KDR_OK;
}

/* --- fields that depend on each other ---------------------------------------------------------- */

static kdr_status load_features(const dump_io *d, kdr_prep *p)
{
	kdr_status st = KDR_OK;
	kdri_names table = { .borrows = true };
	bool by_name = p->options.align != KDR_ALIGN_POSITION;
	const kdri_dump_strings *s = find_strings(d, "features");
	if (!s)
		return by_name ? damaged(d, "features", "is missing") : KDR_OK;
	if (s->count != p->cols || !s->strings)
		return damaged(d, "features", "there must be one name per column");
	for (int64_t j = 0; j < p->cols; j++)
		if (!s->strings[j])
			return damaged(d, "features", "a name is missing");
	KDRI_TRY(KDRI_NEW0(d->ctx, &p->names, p->cols));
	for (int64_t j = 0; j < p->cols; j++) {
		int64_t u = j;
		if (by_name)
			KDRI_TRY(kdri_names_add(d->ctx, &table, s->strings[j], strlen(s->strings[j]), &u));
		if (u < j)
			KDRI_TRY(damaged(d, "features", "a name occurs twice"));
		KDRI_TRY(kdri_strdup(d->ctx, s->strings[j], &p->names[j]));
	}
done:
	kdri_names_free(d->ctx, &table);
	return st;
}

/* The vectors of words, which have as many dimensions as there are columns. */
static kdr_status load_vectors(const dump_io *d, kdr_prep *p)
{
	kdri_vectors *v;
	const void *idf = NULL, *values = NULL;
	int64_t size;
	const kdri_dump_strings *words = find_strings(d, "words");
	if (!words)
		return KDR_OK;
	if (!p->reading_texts || !words->strings || p->cols < 1)
		return damaged(d, "words", "the samples are not texts");
	KDRI_DO(kdri_mul(d->ctx, words->count, p->cols, &size));
	KDRI_DO(need(d, "word_idf", KDR_FLOAT64, words->count, &idf));
	KDRI_DO(need(d, "vectors", KDR_FLOAT64, size, &values));
	KDRI_DO(kdri_vectors_new(d->ctx, words->count, p->cols, &v));
	p->vectors = v;
	memcpy(v->idf, idf, (size_t)v->count * sizeof *v->idf);
	memcpy(v->values, values, (size_t)size * sizeof *v->values);
	for (int64_t i = 0; i < v->count; i++) {
		if (!words->strings[i] || !(v->idf[i] > 0) || !isfinite(v->idf[i]))
			return damaged(d, "words", "a word or its weight is missing");
		KDRI_DO(kdri_strdup(d->ctx, words->strings[i], &v->words[i]));
	}
	for (int64_t i = 0; i < size; i++)
		if (!isfinite(v->values[i]))
			return damaged(d, "vectors", "a value is not finite");
	return KDR_OK;
}

static kdr_status load_kept(const dump_io *d, kdr_prep *p)
{
	kdr_status st;
	const void *raw = NULL;
	int64_t *kept = NULL, n = 0;
	if (!find_array(d, "place"))
		return KDR_OK;
	KDRI_TRY(need(d, "place", KDR_INT64, p->cols, &raw));
	const int64_t *place = raw;
	for (int64_t j = 0; j < p->cols; j++) {
		if (place[j] != -1 && place[j] != n)
			return damaged(d, "place", "columns must be numbered from 0");
		n += place[j] >= 0;
	}
	KDRI_TRY(KDRI_NEW(d->ctx, &kept, n));
	n = 0;
	for (int64_t j = 0; j < p->cols; j++)
		if (place[j] >= 0)
			kept[n++] = j;
	KDRI_TRY(kdri_prep_keep(d->ctx, p, kept, n));
	kept = NULL;
done:
	kdri_free(d->ctx, kept);
	return st;
}

/* What scale table needs; the levels of a category are adjacent. */
static kdr_status table_fields(const dump_io *d, int64_t table, kdr_prep *p)
{
	int64_t holes;
	KDRI_DO(kdri_mul(d->ctx, p->tasks, p->cols, &holes));
	KDRI_DO(integers(d, "column_kind", p->cols, KDRI_TABLE_NUMBER, KDRI_TABLE_LEVEL, &p->column_kind));
	KDRI_DO(integers(d, "group", p->cols, -1, p->cols - 1, &p->group));
	for (int64_t u = 0; u < p->cols && !d->to; u++) {
		const int64_t group = p->group[u];
		if ((p->column_kind[u] == KDRI_TABLE_LEVEL) != (group >= 0) ||
		    (group >= 0 && group != u && (u == 0 || p->group[u - 1] != group)))
			return damaged(d, "group", "the levels of a category must be adjacent");
	}
	KDRI_DO(reals(d, "unit", table, false, &p->unit));
	KDRI_DO(reals(d, "low", table, false, &p->low));
	KDRI_DO(reals(d, "high", table, false, &p->high));
	return reals(d, "hole", holes, false, &p->hole);
}

static kdr_status vector_fields(const dump_io *d, kdr_prep *p)
{
	if (!d->to)
		return load_vectors(d, p);
	if (!p->vectors)
		return KDR_OK;
	put_strings(d, "words", p->vectors->count, (const char *const *)p->vectors->words);
	put(d, "word_idf", KDR_FLOAT64, p->vectors->count, p->vectors->idf);
	return put(d, "vectors", KDR_FLOAT64, p->vectors->count * p->vectors->dim, p->vectors->values);
}

/* --- all fields -------------------------------------------------------------------------------- */

/* What the size and kind of the others depend on. */
static kdr_status dump_head(const dump_io *d, kdr_prep *p)
{
	kdr_prep_options *o = &p->options;
	int align = 0, weight = 0, norm = 0, scale = 0, top = KDR_TOP_DF;
	KDRI_DO(choice(d, "align", kdri_align_names, (int)o->align, &align));
	KDRI_DO(choice(d, "weight", kdri_weight_names, (int)o->weight, &weight));
	KDRI_DO(choice(d, "norm", kdri_norm_names, (int)o->norm, &norm));
	KDRI_DO(choice(d, "scale", kdri_scale_names, (int)o->scale, &scale));
	if (d->to ? o->top_by != KDR_TOP_DF : find_strings(d, "top_by") != NULL)
		KDRI_DO(choice(d, "top_by", kdri_top_names, (int)o->top_by, &top));
	KDRI_DO(integer(d, "columns", 0, INT64_MAX, &p->cols));
	KDRI_DO(integer(d, "tasks", 1, INT64_MAX, &p->tasks));
	KDRI_DO(integer(d, "fit_each", 0, 1, &p->fit_each));
	KDRI_DO(integer(d, "centred", 0, scale == KDR_SCALE_STANDARD, &p->centred));
	KDRI_DO(integer(d, "top_features", 0, INT64_MAX, &o->top_features));
	if (d->to)
		return KDR_OK;
	if (align == KDR_ALIGN_DEFAULT)
		return damaged(d, "align", "unknown value");
	o->align = (kdr_align)align;
	o->weight = (kdr_weight)weight;
	o->norm = (kdr_norm)norm;
	o->scale = (kdr_scale)scale;
	o->fit_each = p->fit_each == 1;
	o->top_by = (kdr_top)top;
	return KDR_OK;
}

static kdr_status dump_fields(const dump_io *d, kdr_prep *p)
{
	const kdr_prep_options *o = &p->options;
	int64_t table = 0, fill = 0;
	KDRI_DO(kdri_mul(d->ctx, p->sets, p->cols, &table));
	KDRI_DO(d->to ? put_strings(d, "features", p->cols, (const char *const *)p->names)
	              : load_features(d, p));
	KDRI_DO(d->to ? put(d, "place", KDR_INT64, p->cols, p->place) : load_kept(d, p));
	if (o->weight == KDR_WEIGHT_TFIDF)
		KDRI_DO(reals(d, "idf", table, true, &p->idf));
	if (p->idf && has(d, "rows", p->rows > 0))
		KDRI_DO(integer(d, "rows", 1, INT64_MAX, &p->rows));
	if (o->weight == KDR_WEIGHT_CPM)
		KDRI_DO(reals(d, "median", p->sets, true, &p->median));
	if (o->scale != KDR_SCALE_NONE || has(d, "divisor", p->divisor)) {
		KDRI_DO(reals(d, "offset", table, false, &p->offset));
		KDRI_DO(reals(d, "divisor", table, true, &p->divisor));
	}
	if (has(d, "origin", p->origin))
		KDRI_DO(reals(d, "origin", p->cols, false, &p->origin));
	if (o->scale == KDR_SCALE_TABLE)
		KDRI_DO(table_fields(d, table, p));
	if (has(d, "typical", p->typical)) {
		KDRI_DO(reals(d, "typical", p->cols, false, &p->typical));
		KDRI_DO(reals(d, "spread", p->cols, false, &p->spread));
		for (int64_t u = 0; u < p->cols; u++)
			if (p->typical[u] < 0 || p->spread[u] < 0)
				return damaged(d, "typical", "a value is below 0");
	}
	if (has(d, "fill", p->fill)) {
		KDRI_DO(kdri_mul(d->ctx, p->tasks, p->cols, &fill));
		KDRI_DO(reals(d, "fill", fill, false, &p->fill));
	}
	KDRI_DO(text(d, "read_columns", &p->reading_columns));
	if (p->reading_columns)
		KDRI_DO(text(d, "read_missing", &p->reading_missing));
	KDRI_DO(text(d, "read_texts", &p->reading_texts));
	KDRI_DO(vector_fields(d, p));
	if (!p->reading_columns)
		return KDR_OK;
	KDRI_DO(texts(d, "read_na", &p->reading_na, &p->reading_nna));
	KDRI_DO(texts(d, "read_rename", &p->reading_rename, &p->reading_nrename));
	return texts(d, "read_recode", &p->reading_recode, &p->reading_nrecode);
}

kdr_status kdri_prep_export(kdr_context *ctx, const kdr_prep *p, kdri_prep_dump *out)
{
	const dump_io d = { .ctx = ctx, .to = out };
	kdr_prep *fields = (kdr_prep *)p; /* which this direction only reads */
	*out = (kdri_prep_dump){ .narrays = 0 };
	KDRI_DO(dump_head(&d, fields));
	return dump_fields(&d, fields);
}

kdr_status kdri_prep_import(kdr_context *ctx, const kdri_prep_dump *from, kdr_prep **out)
{
	kdr_status st;
	const dump_io d = { .ctx = ctx, .from = from };
	kdr_prep head = { .options.size = sizeof(kdr_prep_options) }, *p = NULL;
	if (from->narrays < 0 || from->narrays > 32 || from->nstrings < 0 || from->nstrings > 16)
		return damaged(&d, "arrays", "too many");
	KDRI_TRY(dump_head(&d, &head));
	KDRI_TRY(kdri_prep_new(ctx, &head.options, head.tasks, &p));
	p->cols = head.cols;
	p->centred = head.centred;
	KDRI_TRY(dump_fields(&d, p));
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
