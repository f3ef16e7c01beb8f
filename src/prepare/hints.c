/* Hints about columns that mean the same in two data sets and do not match. SPDX-License-Identifier: BSD-3-Clause
 *
 *   names   that differ only in case, blanks, underscores, hyphens and points
 *   units   numbers whose median magnitude or range is FAR times larger in one data set, and the other of the two at least NEAR
 *           times, in the same direction; 100 is the factor between a percentage and a share, which samples blur
 *   coding  yes/no columns with other words; columns that are a category in one table and numbers in the other
 *
 * Each hint is a warning of one line. At most MOST_ROWS rows are inspected, evenly spaced. */
#include "core/names.h"
#include "core/numbers.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

#include <stdio.h>

enum {
	MOST_ROWS = 2000,
	MOST_COLUMNS = 4096,
	MOST_SETS = 20,
	MOST_HINTS = 3,
	LEAST_VALUES = 5,
	KEY_LENGTH = 120
};
static const double FAR = 50, NEAR = 10, UNITS_MOST = 1e15; /* larger factors are not those of units */

/* A column of a data set: that of its table, or a feature of a matrix. */
typedef struct column {
	const char *name;
	kdr_column_kind kind;
	int64_t first, count; /* its features */
} column;

typedef struct set {
	const kdr_data *data;
	column *columns;
	int64_t ncolumns;
	kdri_names names; /* of columns[i]; of equal names the first counts */
	int64_t *of_name;
} set;

/* The findings over all data sets: a few of each kind are enough. */
typedef struct hints {
	kdr_context *ctx;
	kdr_prep *prep;
	double *values;    /* MOST_ROWS */
	kdri_names hinted; /* columns that have a hint */
	int64_t names, units, codes;
} hints;

/* A warning of the preparation or, with a model, of the context. */
KDR_PRINTF(2, 3)
static kdr_status hint(hints *h, const char *format, ...)
{
	char text[900];
	va_list arguments;
	va_start(arguments, format);
	kdri_vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (h->prep)
		return kdri_prep_warn(h->ctx, h->prep, "%s", text);
	kdri_warning(h->ctx, "%s", text);
	return KDR_OK;
}

static void set_free(kdr_context *ctx, set *s)
{
	kdri_names_free(ctx, &s->names);
	KDRI_FREE(ctx, s->columns, s->of_name);
}

static kdr_status set_new(kdr_context *ctx, const kdr_data *d, set *s)
{
	const kdri_sheet *sheet = d->sheet && d->sheet->source ? d->sheet : NULL;
	int64_t before = -1, index;
	*s = (set){ .data = d, .names = { .borrows = true } };
	if (!d->features)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &s->columns, d->cols));
	KDRI_DO(KDRI_NEW(ctx, &s->of_name, d->cols));
	for (int64_t j = 0; j < d->cols; j++) {
		if (sheet && sheet->source[j] == before) {
			s->columns[s->ncolumns - 1].count++;
			continue;
		}
		before = sheet ? sheet->source[j] : -1;
		column *c = &s->columns[s->ncolumns];
		*c = (column){ sheet ? sheet->columns[before].name : d->features[j],
			       sheet ? sheet->columns[before].kind : KDR_COLUMN_NUMBER, j, 1 };
		const int64_t known = s->names.count;
		KDRI_DO(kdri_names_add(ctx, &s->names, c->name, strlen(c->name), &index));
		if (index == known)
			s->of_name[index] = s->ncolumns;
		s->ncolumns++;
	}
	return KDR_OK;
}

static const column *set_find(const set *s, const char *name)
{
	int64_t index = s->names.count > 0 ? kdri_names_find(&s->names, name) : -1;
	return index >= 0 ? &s->columns[s->of_name[index]] : NULL;
}

/* --- names ---------------------------------------------------------------------------------------------- */

/* The letters and digits of a name, in lower case; its length. */
static size_t key_of(const char *name, char key[KEY_LENGTH])
{
	size_t n = 0;
	for (; *name && n + 1 < KEY_LENGTH; name++)
		if (!strchr(" _-.", *name))
			key[n++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
	key[n] = '\0';
	return n;
}

static kdr_status compare_names(hints *h, const set *a, const set *b)
{
	kdr_status st = KDR_OK;
	kdri_names keys = { 0 };
	int64_t *of_key = NULL, index, found = 0, alone[2] = { 0, 0 };
	const char *one = NULL, *other = NULL;
	char key[KEY_LENGTH];
	if (h->names >= MOST_HINTS || a->ncolumns == 0 || b->ncolumns == 0)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(h->ctx, &of_key, a->ncolumns));
	for (int64_t i = 0; i < a->ncolumns; i++) {
		const int64_t known = keys.count;
		const size_t n = key_of(a->columns[i].name, key);
		if (n == 0 || set_find(b, a->columns[i].name))
			continue;
		alone[0]++;
		KDRI_TRY(kdri_names_add(h->ctx, &keys, key, n, &index));
		if (index == known)
			of_key[index] = i;
	}
	for (int64_t i = 0; i < b->ncolumns && keys.count > 0; i++) {
		const char *name = b->columns[i].name;
		const size_t n = key_of(name, key);
		if (n == 0 || set_find(a, name))
			continue;
		alone[1]++;
		if ((index = kdri_names_find_text(&keys, key, n)) < 0)
			continue;
		if (found++ == 0) {
			one = a->columns[of_key[index]].name;
			other = name;
		}
	}
	/* Of features that are no columns of tables, most have to: words may well be spelt in two ways. */
	if (found > 0 && (a->data->sheet || b->data->sheet || 2 * found >= KDRI_MIN(alone[0], alone[1]))) {
		char more[60] = "";
		if (found > 1)
			snprintf(more, sizeof more, " (and %lld more pair%s)", (long long)found - 1,
			         found == 2 ? "" : "s");
		h->names++;
		KDRI_TRY(hint(
		        h,
		        "columns '%.40s' of %.40s and '%.40s' of %.40s have almost the same name%s: use --rename '%.40s=%.40s' to match them",
		        one, a->data->name, other, b->data->name, more, other, one));
	}
done:
	kdri_names_free(h->ctx, &keys);
	kdri_free(h->ctx, of_key);
	return st;
}

/* --- values --------------------------------------------------------------------------------------------- */

/* Copies the non-missing values of a feature from at most MOST_ROWS rows; returns their number. */
static int64_t take_values(const hints *h, const kdr_data *d, int64_t j)
{
	const int64_t step = (d->rows + MOST_ROWS - 1) / MOST_ROWS;
	int64_t n = 0;
	for (int64_t i = 0; i < d->rows; i += step) {
		const double x = d->dense[i * d->cols + j];
		if (isfinite(x))
			h->values[n++] = x;
	}
	return n;
}

/* The size and range of values: the median magnitude, and the distance between the quantiles .05 and .95. Returns
 * false if there are too few values, or at most two different ones. */
static bool measure(double *v, int64_t n, double *median, double *range)
{
	double other = NAN;
	bool several = false;
	for (int64_t i = 1; i < n && !several; i++) {
		several = v[i] != v[0] && !isnan(other) && v[i] != other;
		other = v[i] != v[0] ? v[i] : other;
	}
	if (n < LEAST_VALUES || !several)
		return false;
	const int64_t tail = n / 20;
	*range = kdri_select(v, n, n - 1 - tail) - kdri_select(v, n, tail);
	for (int64_t i = 0; i < n; i++)
		v[i] = fabs(v[i]);
	*median = kdri_median(v, n);
	return true;
}

static bool magnitude(const hints *h, const kdr_data *d, int64_t j, double *median, double *range)
{
	return measure(h->values, take_values(h, d, j), median, range);
}

/* Whether values of these two magnitudes m and ranges r probably have different units; *by: how many times they differ. */
static bool units_differ(const double m[2], const double r[2], double *by)
{
	const bool first = m[0] > m[1];
	const double wide = first ? r[0] / r[1] : r[1] / r[0];
	*by = first ? m[0] / m[1] : m[1] / m[0];
	return m[0] > 0 && m[1] > 0 && r[0] > 0 && r[1] > 0 && *by < UNITS_MOST &&
	       ((*by >= FAR && wide >= NEAR) || (wide >= FAR && *by >= NEAR));
}

static const char *percent_perhaps(const double m[2], double by)
{
	return by > 30 && by < 300 && KDRI_MIN(m[0], m[1]) <= 1 ? ", such as percent or fractions" : "";
}

static kdr_status compare_units(hints *h, const set *a, const column *x, const set *b, const column *y)
{
	double m[2], r[2], by;
	if (h->units >= MOST_HINTS || !magnitude(h, a->data, x->first, &m[0], &r[0]) ||
	    !magnitude(h, b->data, y->first, &m[1], &r[1]) || !units_differ(m, r, &by))
		return KDR_OK;
	h->units++;
	return hint(
	        h,
	        "column '%.60s': the median magnitude is %.3g in %.40s and %.3g in %.40s: check that both use the same unit%s",
	        x->name, m[0], a->data->name, m[1], b->data->name, percent_perhaps(m, by));
}

/* --- coding --------------------------------------------------------------------------------------------- */

int kdri_yes_or_no(const char *text, size_t length)
{
	static const char *const words[][17] = {
		{ "n", "no", "false", "f", "0", "nein", "non", "falsch", "faux", "off", NULL },
		{ "y", "yes", "true", "t", "1", "j", "ja", "o", "oui", "s", "si", "sí", "wahr", "vrai", "on",
		  NULL },
	};
	for (int yes = 0; yes < 2; yes++)
		for (int i = 0; words[yes][i]; i++)
			if (kdri_same_word(text, length, words[yes][i]))
				return yes;
	return -1;
}

/* The words of a yes/no column, such as "Y/N", the words apart by a slash; false: it is none. */
static bool coding(const hints *h, const set *s, const column *c, char *out, size_t room)
{
	const kdr_data *d = s->data;
	out[0] = '\0';
	if (c->kind == KDR_COLUMN_CATEGORY && c->count <= 2) {
		for (int64_t j = c->first; j < c->first + c->count; j++) {
			const char *text = d->features[j] + strlen(c->name) + 1; /* after "name=" */
			const size_t used = strlen(out);
			if (kdri_yes_or_no(text, strlen(text)) < 0)
				return false;
			snprintf(out + used, room - used, "%s%s", used ? "/" : "", text);
		}
		return true;
	}
	if (c->kind != KDR_COLUMN_NUMBER)
		return false;
	const int64_t n = take_values(h, d, c->first);
	for (int64_t i = 0; i < n; i++)
		if (h->values[i] != 0 && h->values[i] != 1)
			return false;
	snprintf(out, room, "0/1");
	return n > 0;
}

/* Whether all words of one coding are words of the other. */
static bool within(const char *a, const char *b)
{
	for (const char *p = a; *p;) {
		const size_t n = strcspn(p, "/");
		bool found = false;
		for (const char *q = b; *q && !found;) {
			const size_t m = strcspn(q, "/");
			found = n == m && memcmp(p, q, n) == 0;
			q += m + (q[m] == '/');
		}
		if (!found)
			return false;
		p += n + (p[n] == '/');
	}
	return true;
}

/* " --recode 'smoker:ja=yes'" for each word of `other` with its counterpart in `one`. */
static void recodes(const char *name, const char *one, const char *other, char *out, size_t room)
{
	out[0] = '\0';
	for (const char *p = other; *p;) {
		const size_t n = strcspn(p, "/");
		for (const char *q = one; *q;) {
			const size_t m = strcspn(q, "/"), used = strlen(out);
			if (kdri_yes_or_no(p, n) == kdri_yes_or_no(q, m))
				snprintf(out + used, room - used, " --recode '%.60s:%.*s=%.*s'", name, (int)n,
				         p, (int)m, q);
			q += m + (q[m] == '/');
		}
		p += n + (p[n] == '/');
	}
}

static kdr_status compare_coding(hints *h, const set *a, const column *x, const set *b, const column *y)
{
	char one[80], other[80], commands[480];
	if (h->codes >= MOST_HINTS || (x->kind == KDR_COLUMN_NUMBER && y->kind == KDR_COLUMN_NUMBER))
		return KDR_OK;
	const bool yes_no = coding(h, a, x, one, sizeof one) && coding(h, b, y, other, sizeof other);
	if (yes_no && (within(one, other) || within(other, one)))
		return KDR_OK;
	if (yes_no) {
		h->codes++;
		recodes(x->name, one, other, commands, sizeof commands);
		KDRI_DO(hint(h,
		             "column '%.60s' is coded %.40s in %.40s and %.40s in %.40s: use%s to match them",
		             x->name, one, a->data->name, other, b->data->name, commands));
	} else if ((x->kind == KDR_COLUMN_CATEGORY && y->kind == KDR_COLUMN_NUMBER) ||
	           (x->kind == KDR_COLUMN_NUMBER && y->kind == KDR_COLUMN_CATEGORY)) {
		h->codes++;
		KDRI_DO(hint(
		        h,
		        "column '%.60s' is a category in %.40s and a number in %.40s: use --columns '%.60s:category' for one kind in all files",
		        x->name, (x->kind == KDR_COLUMN_CATEGORY ? a : b)->data->name,
		        (x->kind == KDR_COLUMN_CATEGORY ? b : a)->data->name, x->name));
	}
	return KDR_OK;
}

static kdr_status compare_values(hints *h, const set *a, const set *b)
{
	int64_t index;
	if (a->data->kind != KDR_MAT_DENSE || b->data->kind != KDR_MAT_DENSE || a->ncolumns > MOST_COLUMNS)
		return KDR_OK;
	for (int64_t i = 0; i < a->ncolumns; i++) {
		const column *x = &a->columns[i], *y = set_find(b, x->name);
		const int64_t before = h->units + h->codes;
		if (!y || kdri_names_find(&h->hinted, x->name) >= 0)
			continue;
		if (x->kind == KDR_COLUMN_NUMBER && y->kind == KDR_COLUMN_NUMBER)
			KDRI_DO(compare_units(h, a, x, b, y));
		KDRI_DO(compare_coding(h, a, x, b, y));
		if (h->units + h->codes > before) /* one hint per column, however many data sets have it */
			KDRI_DO(kdri_names_add(h->ctx, &h->hinted, x->name, strlen(x->name), &index));
	}
	return KDR_OK;
}

kdr_status kdri_hints(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count)
{
	kdr_status st = KDR_OK;
	hints h = { .ctx = ctx, .prep = prep };
	set *sets = NULL;
	count = KDRI_MIN(count, MOST_SETS);
	if (count < 2 || ctx->comm ||
	    !prep->names) /* by position, names mean nothing; a rank has some rows only */
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &sets, count));
	KDRI_TRY(KDRI_NEW(ctx, &h.values, MOST_ROWS));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(set_new(ctx, tasks[t], &sets[t]));
	for (int64_t b = 1; b < count; b++)
		for (int64_t a = 0; a < b; a++) {
			KDRI_TRY(compare_names(&h, &sets[a], &sets[b]));
			KDRI_TRY(compare_values(&h, &sets[a], &sets[b]));
		}
done:
	for (int64_t t = 0; sets && t < count; t++)
		set_free(ctx, &sets[t]);
	kdri_names_free(ctx, &h.hinted);
	KDRI_FREE(ctx, h.values, sets);
	return st;
}

/* --- a model -------------------------------------------------------------------------------------------- */

/* The columns of a model: a category is the text before "=" of its features. */
static kdr_status model_set(kdr_context *ctx, const kdr_prep *prep, kdri_sheet *sheet, kdr_data *model,
                            set *s)
{
	int64_t n = 0;
	KDRI_DO(KDRI_NEW0(ctx, &sheet->columns, prep->cols));
	KDRI_DO(KDRI_NEW(ctx, &sheet->source, prep->cols));
	for (int64_t u = 0; u < prep->cols; u++) {
		const bool level = prep->group && prep->group[u] >= 0;
		if (!level || prep->group[u] == u) {
			char *name = NULL;
			KDRI_DO(kdri_strndup(ctx, prep->names[u],
			                     level ? strcspn(prep->names[u], "=") : strlen(prep->names[u]),
			                     &name));
			sheet->columns[n] =
			        (kdr_column){ .name = name,
				              .kind = level ? KDR_COLUMN_CATEGORY : KDR_COLUMN_NUMBER };
			sheet->ncolumns = ++n;
		}
		sheet->source[u] = n - 1;
	}
	*model = (kdr_data){
		.name = (char *)"the model", .features = prep->names, .cols = prep->cols, .sheet = sheet
	};
	return set_new(ctx, model, s);
}

/* A column of a table with almost the name of a column of the model that the table lacks. Those that the model does not have were
 * skipped when the table was read. */
static kdr_status find_spelling(hints *h, const char *name, const kdr_data *data, const set *model)
{
	char key[KEY_LENGTH], other[KEY_LENGTH];
	const size_t n = key_of(name, key);
	for (int64_t c = 0; c < data->sheet->ncolumns && h->names < MOST_HINTS && n > 0; c++) {
		const char *found = data->sheet->columns[c].name;
		if (key_of(found, other) != n || memcmp(key, other, n) != 0 || set_find(model, found))
			continue;
		h->names++;
		return hint(
		        h,
		        "column '%.40s' of %.40s has almost the name '%.40s' of the model: use --rename '%.40s=%.40s' to match them",
		        found, data->name, name, found, name);
	}
	return KDR_OK;
}

kdr_status kdri_hints_model(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data)
{
	kdr_status st;
	hints h = { .ctx = ctx };
	set model = { 0 }, own = { 0 };
	kdri_sheet sheet = { 0 };
	kdr_data as_data;
	if (!data->sheet || !data->sheet->source || ctx->comm)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &h.values, MOST_ROWS));
	KDRI_TRY(model_set(ctx, prep, &sheet, &as_data, &model));
	KDRI_TRY(set_new(ctx, data, &own));
	for (int64_t i = 0; i < model.ncolumns; i++) {
		const column *x = &model.columns[i], *y = set_find(&own, x->name);
		if (!y)
			KDRI_TRY(find_spelling(&h, x->name, data, &model));
		if (y && x->kind == KDR_COLUMN_CATEGORY)
			KDRI_TRY(compare_coding(&h, &model, x, &own, y));
	}
done:
	for (int64_t c = 0; sheet.columns && c < sheet.ncolumns; c++)
		kdri_free(ctx, (char *)sheet.columns[c].name);
	KDRI_FREE(ctx, sheet.columns, sheet.source);
	set_free(ctx, &model);
	set_free(ctx, &own);
	kdri_free(ctx, h.values);
	return st;
}

/* --- values of a model ------------------------------------------------------------------------------------ */

/* Whether feature j is a number; dates are counted from another day in each file. */
static bool is_number(const kdr_data *d, int64_t j)
{
	const kdri_sheet *sheet = d->sheet && d->sheet->source ? d->sheet : NULL;
	return !sheet || sheet->columns[sheet->source[j]].kind == KDR_COLUMN_NUMBER;
}

kdr_status kdri_sizes_keep(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                           const kdri_columns *columns)
{
	kdr_status st = KDR_OK;
	double *values = NULL;
	bool other = prep->cols > KDRI_ORIGINAL_MOST;
	for (int64_t t = 0; t < count; t++)
		other = other || tasks[t]->kind != KDR_MAT_DENSE || tasks[t]->streamed;
	if (other || ctx->comm)
		return KDR_OK;
	hints h = { .ctx = ctx };
	KDRI_TRY(KDRI_NEW0(ctx, &prep->typical, prep->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &prep->spread, prep->cols));
	KDRI_TRY(KDRI_NEW(ctx, &values, count * MOST_ROWS));
	for (int64_t u = 0; u < prep->cols; u++) {
		int64_t n = 0;
		for (int64_t t = 0; t < count; t++)
			for (int64_t j = 0; j < tasks[t]->cols; j++)
				if (columns[t].to[j] == u && is_number(tasks[t], j)) {
					h.values = values + n;
					n += take_values(&h, tasks[t], j);
				}
		if (!measure(values, n, &prep->typical[u], &prep->spread[u]) ||
		    !isfinite(prep->typical[u] + prep->spread[u]))
			prep->typical[u] = prep->spread[u] = 0;
	}
done:
	kdri_free(ctx, values);
	return st;
}

kdr_status kdri_sizes_compare(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d,
                              const kdri_columns *columns)
{
	kdr_status st = KDR_OK;
	hints h = { .ctx = ctx };
	char name[64];
	if (!prep->typical || d->kind != KDR_MAT_DENSE || ctx->comm)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &h.values, MOST_ROWS));
	for (int64_t j = 0; j < d->cols && h.units < MOST_HINTS; j++) {
		const int64_t u = columns->to[j];
		double m[2], r[2], by;
		if (u < 0 || prep->typical[u] == 0 || !is_number(d, j) || !magnitude(&h, d, j, &m[0], &r[0]))
			continue;
		m[1] = prep->typical[u];
		r[1] = prep->spread[u];
		if (!units_differ(m, r, &by))
			continue;
		h.units++;
		if (prep->names)
			snprintf(name, sizeof name, "'%.60s'", prep->names[u]);
		else
			snprintf(name, sizeof name, "%lld", (long long)u + 1);
		KDRI_TRY(hint(
		        &h,
		        "column %s: the median magnitude is %.3g in %.40s and %.3g in the data that the model was fitted on: check that both use the same unit%s",
		        name, m[0], d->name, m[1], percent_perhaps(m, by)));
	}
done:
	kdri_free(ctx, h.values);
	return st;
}
