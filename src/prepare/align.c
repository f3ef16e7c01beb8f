/* Alignment of features. SPDX-License-Identifier: BSD-3-Clause
 *
 * Union: the first task's columns in their order, then every new name as it appears. Intersect: those of them that all
 * tasks have, which keeps the first task's order. Position: column j is column j. The default is union, or position without names; for genes it is intersect,
 * because a zero is a measurement of a gene (jobs also intersect counts of molecules with other names). All names of all tasks are looked up
 * once; besides that, only the few names that are listed in a warning are searched for. */
#include "core/numbers.h"
#include "prepare/prep.h"

#include <stdio.h>

enum {
	EXAMPLES = 3, /* names given as examples in a message */
	MANY = 100    /* of so many features, numbers say more than names */
};

/* --- lists of names in messages ----------------------------------------------------------------------------- */

typedef struct name_list {
	const char *names[EXAMPLES], *last;
	size_t lengths[EXAMPLES], last_length;
	int64_t count; /* of all names, listed or not */
} name_list;

/* The first `length` bytes of a name; levels of one category, which follow each other, are added once. */
static void list_add_part(name_list *list, const char *name, size_t length)
{
	if (list->last && length < strlen(name) && length == list->last_length &&
	    strncmp(list->last, name, length + 1) == 0)
		return;
	if (list->count < EXAMPLES) {
		list->names[list->count] = name;
		list->lengths[list->count] = length;
	}
	list->last = name;
	list->last_length = length;
	list->count++;
}

static void list_add(name_list *list, const char *name)
{
	list_add_part(list, name, strlen(name));
}

/* "'x', 'y' and 12 more", long names cut. */
static const char *list_text(const name_list *list, char *text, size_t size)
{
	size_t used = 0;
	text[0] = '\0';
	for (int64_t i = 0; i < KDRI_MIN(list->count, EXAMPLES) && used < size; i++) {
		bool last = i == list->count - 1;
		used += (size_t)snprintf(text + used, size - used, "%s'%.*s'",
		                         i == 0 ? ""
		                         : last ? " and "
		                                : ", ",
		                         (int)KDRI_MIN(list->lengths[i], 32), list->names[i]);
	}
	if (list->count > EXAMPLES && used < size)
		snprintf(text + used, size - used, " and %lld more", (long long)(list->count - EXAMPLES));
	return text;
}

/* "tasks a and b share no feature name (a: 'x', 'y' ...; b: 'u', 'v' ...)". */
static void disjoint_text(const kdr_data *a, const kdr_data *b, char *text, size_t size)
{
	const kdr_data *both[2] = { a, b };
	char lists[2][144];
	for (int i = 0; i < 2; i++) {
		name_list list = { .count = 0 };
		for (int64_t j = 0; j < both[i]->cols; j++)
			list_add(&list, both[i]->features[j]);
		list_text(&list, lists[i], sizeof lists[i]);
	}
	snprintf(text, size,
	         "data sets %.40s and %.40s have no feature name in common (%.40s: %s; %.40s: %s)", a->name,
	         b->name, a->name, lists[0], b->name, lists[1]);
}

/* --- by position ------------------------------------------------------------------------------ */

static kdr_status identity(kdr_context *ctx, int64_t cols, kdri_columns *c)
{
	KDRI_DO(KDRI_NEW(ctx, &c->to, cols));
	for (int64_t j = 0; j < cols; j++)
		c->to[j] = j;
	c->identity = c->increasing = true;
	return KDR_OK;
}

static kdr_status align_position(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                                 kdri_columns *columns)
{
	const kdr_data *named = NULL; /* the first task that has names */
	prep->cols = tasks[0]->cols;
	for (int64_t t = 0; t < count; t++) {
		const kdr_data *d = tasks[t];
		if (d->cols != prep->cols)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "data set %s has %lld features and data set %s has %lld; to be aligned by position, all data sets need equally many",
			        tasks[0]->name, (long long)prep->cols, d->name, (long long)d->cols);
		KDRI_DO(identity(ctx, d->cols, &columns[t]));
		if (!d->features)
			continue;
		if (!named) {
			named = d;
			KDRI_DO(kdri_strings_copy(ctx, d->features, prep->cols, &prep->names));
			continue;
		}
		for (int64_t j = 0; j < d->cols; j++)
			if (strcmp(named->features[j], d->features[j]) != 0) {
				KDRI_DO(kdri_prep_warn(
				        ctx, prep,
				        "features are aligned by position, but column %lld is '%.40s' in data set %s and '%.40s' in data set %s",
				        (long long)j + 1, named->features[j], named->name, d->features[j],
				        d->name));
				break;
			}
	}
	return KDR_OK;
}

/* --- by name ---------------------------------------------------------------------------------- */

/* The last task that had a name, and its column. */
typedef struct mark {
	int64_t task, column;
} mark;

static kdr_status twice(kdr_context *ctx, const kdr_data *d, int64_t first, int64_t second)
{
	return kdri_fail(
	        ctx, KDR_ERR_DATA,
	        "data set %s: columns %lld and %lld are both named '%.80s'; rename one, or use --features position to align columns by position",
	        d->name, (long long)first + 1, (long long)second + 1, d->features[second]);
}

/* Numbers the names of all tasks into `all`; with[u] is set to the number of tasks that have name u. */
static kdr_status number_names(kdr_context *ctx, kdr_data *const *tasks, int64_t count, kdri_names *all,
                               mark *marks, int64_t *with, kdri_columns *columns)
{
	for (int64_t t = 0; t < count; t++) {
		const kdr_data *d = tasks[t];
		KDRI_DO(KDRI_NEW(ctx, &columns[t].to, d->cols));
		for (int64_t j = 0; j < d->cols; j++) {
			int64_t before = all->count, u;
			KDRI_DO(kdri_names_add(ctx, all, d->features[j], strlen(d->features[j]), &u));
			if (u == before)
				with[u] = 0;
			else if (marks[u].task == t)
				return twice(ctx, d, marks[u].column, j);
			marks[u] = (mark){ t, j };
			with[u]++;
			columns[t].to[j] = u;
		}
	}
	return KDR_OK;
}

/* The last task before `t` that shares no name with it, or -1. It ends at the first shared name, so that it is slow only
 * if there is something to report. */
static int64_t disjoint_from(kdr_data *const *tasks, int64_t t, const kdri_columns *columns, mark *marks)
{
	for (int64_t j = 0; j < tasks[t]->cols; j++)
		marks[columns[t].to[j]].task = t;
	for (int64_t s = t - 1; s >= 0; s--) {
		bool shared = false;
		for (int64_t j = 0; j < tasks[s]->cols && !shared; j++)
			shared = marks[columns[s].to[j]].task == t;
		if (!shared && tasks[s]->cols > 0 && tasks[t]->cols > 0)
			return s;
	}
	return -1;
}

int64_t kdri_category_of(const kdr_data *d, const char *name)
{
	for (int64_t c = 0; d->sheet && d->sheet->source && c < d->sheet->ncolumns; c++) {
		size_t n = strlen(d->sheet->columns[c].name);
		if (d->sheet->columns[c].kind == KDR_COLUMN_CATEGORY &&
		    strncmp(name, d->sheet->columns[c].name, n) == 0 && name[n] == '=')
			return c;
	}
	return -1;
}

/* The treatment of a column that a data set does not have. */
static const char *instead(const kdr_prep *prep, const kdri_columns *columns)
{
	if (prep->options.scale == KDR_SCALE_TABLE)
		return "treated as missing";
	if (!columns->fill)
		return "filled with zeros";
	return prep->reading_missing && strcmp(prep->reading_missing, "median") == 0
	               ? "filled with the median of the fitted data"
	               : "filled with the mean of the fitted data";
}

/* The length of a feature's name in a warning: that of its column's name if it is a level of a category that data set
 * `d` lacks and another one has, otherwise that of its own name. */
static size_t shown_length(kdr_data *const *tasks, int64_t count, const kdr_data *d, const char *name)
{
	if (kdri_category_of(d, name) >= 0)
		return strlen(name);
	for (int64_t t = 0; t < count; t++) {
		int64_t c = kdri_category_of(tasks[t], name);
		if (c >= 0)
			return strlen(tasks[t]->sheet->columns[c].name);
	}
	return strlen(name);
}

static kdr_status warn_union(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                             const kdri_names *all, const kdri_columns *columns, mark *marks)
{
	char text[512], who[64];
	bool mixed = false;
	for (int64_t t = 0; t < count; t++)
		mixed = mixed || kdri_data_mixed(tasks[t], false);
	for (int64_t u = 0; u < all->count; u++)
		marks[u].task = -1;
	for (int64_t t = 0; t < count; t++) {
		int64_t s = disjoint_from(tasks, t, columns, marks); /* and marks what t has */
		if (s >= 0) {
			disjoint_text(tasks[s], tasks[t], text, sizeof text);
			KDRI_DO(kdri_prep_warn(ctx, prep, "%s", text));
		}
		name_list missing = { .count = 0 };
		const bool table = prep->options.scale == KDR_SCALE_TABLE, each = table || mixed;
		for (int64_t u = 0; u < all->count && (each || missing.count < EXAMPLES); u++)
			if (marks[u].task != t && !(table && kdri_category_of(tasks[t], all->names[u]) >= 0))
				list_add_part(&missing, all->names[u],
				              mixed ? shown_length(tasks, count, tasks[t], all->names[u])
				                    : strlen(all->names[u]));
		if (!each)
			missing.count = all->count - tasks[t]->cols;
		if (count == 2)
			snprintf(who, sizeof who, "data set %.40s has", tasks[1 - t]->name);
		else
			snprintf(who, sizeof who, "other data sets have");
		if (missing.count > 0)
			KDRI_DO(kdri_prep_warn(ctx, prep, "data set %.40s has no feature %s, which %s: %s",
			                       tasks[t]->name, list_text(&missing, text, sizeof text), who,
			                       instead(prep, &columns[t])));
	}
	return KDR_OK;
}

static kdr_status nothing_shared(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                                 const kdri_names *all, const kdri_columns *columns, mark *marks)
{
	char text[512];
	for (int64_t u = 0; u < all->count; u++)
		marks[u].task = -1;
	for (int64_t t = 1; t < count; t++) {
		int64_t s = disjoint_from(tasks, t, columns, marks);
		if (s >= 0) {
			disjoint_text(tasks[s], tasks[t], text, sizeof text);
			return kdri_fail(ctx, KDR_ERR_DATA, "%s", text);
		}
	}
	return kdri_fail(
	        ctx, KDR_ERR_DATA,
	        "no feature name occurs in all %lld data sets; use --features union to keep all features",
	        (long long)count);
}

bool kdri_has_column(const kdri_columns *columns, int64_t cols, int64_t u)
{
	for (int64_t j = 0; j < cols; j++)
		if (columns->to[j] == u)
			return true;
	return false;
}

/* One line with the numbers, for many features. */
static kdr_status warn_numbers(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                               const kdri_columns *columns)
{
	char lost[300] = "";
	int64_t any = 0;
	for (int64_t t = 0; t < count; t++) {
		int64_t n = 0;
		for (int64_t j = 0; j < tasks[t]->cols; j++)
			n += columns[t].to[j] < 0;
		kdri_list_add(lost, sizeof lost, "%.40s %lld", tasks[t]->name, (long long)n);
		any += n;
	}
	return any == 0
	               ? KDR_OK
	               : kdri_prep_warn(
	                         ctx, prep,
	                         "features: %lld kept, which all data sets have; lost: %s; use --features union to keep all, with zeros where a data set has none",
	                         (long long)prep->cols, lost);
}

/* Renumbers the columns: only names that all tasks have, or columns of categories that have the name, stay. number[] is with[], reused. */
static kdr_status intersect(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                            kdri_names *all, int64_t *number, kdri_columns *columns, mark *marks)
{
	int64_t kept = 0;
	char text[512];
	for (int64_t u = 0; u < all->count; u++) {
		for (int64_t t = 0; t < count && number[u] < count;
		     t++) /* a text that no row has is no lack */
			number[u] += kdri_category_of(tasks[t], all->names[u]) >= 0 &&
			             !kdri_has_column(&columns[t], tasks[t]->cols, u);
		kept += number[u] == count;
	}
	if (kept == 0)
		return nothing_shared(ctx, tasks, count, all, columns, marks);
	kept = 0;
	for (int64_t u = 0; u < all->count; u++) {
		bool stays = number[u] == count;
		number[u] = stays ? kept : -1;
		if (stays)
			all->names[kept++] = all->names[u];
	}
	prep->cols = kept;
	const bool many = all->count >= MANY;
	for (int64_t t = 0; t < count; t++) {
		name_list dropped = { .count = 0 };
		for (int64_t j = 0; j < tasks[t]->cols; j++) {
			columns[t].to[j] = number[columns[t].to[j]];
			if (columns[t].to[j] < 0)
				list_add(&dropped, tasks[t]->features[j]);
		}
		if (dropped.count > 0 && !many)
			KDRI_DO(kdri_prep_warn(
			        ctx, prep,
			        "data set %.40s: feature%s %s skipped, because not all data sets have %s",
			        tasks[t]->name, dropped.count == 1 ? "" : "s",
			        list_text(&dropped, text, sizeof text), dropped.count == 1 ? "it" : "them"));
	}
	return many ? warn_numbers(ctx, prep, tasks, count, columns) : KDR_OK;
}

static kdr_status align_names(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                              kdri_columns *columns)
{
	kdr_status st;
	kdri_names all = { .borrows = true };
	mark *marks = NULL;
	int64_t *with = NULL, total = 0;
	for (int64_t t = 0; t < count; t++)
		total += tasks[t]->cols;
	KDRI_TRY(KDRI_NEW(ctx, &marks, total));
	KDRI_TRY(KDRI_NEW(ctx, &with, total));
	KDRI_TRY(number_names(ctx, tasks, count, &all, marks, with, columns));
	prep->cols = all.count;
	if (prep->options.align == KDR_ALIGN_INTERSECT)
		KDRI_TRY(intersect(ctx, prep, tasks, count, &all, with, columns, marks));
	else
		KDRI_TRY(warn_union(ctx, prep, tasks, count, &all, columns, marks));
	for (int64_t t = 0; t < count; t++)
		kdri_columns_order(&columns[t], tasks[t]->cols, prep->cols);
	KDRI_TRY(kdri_strings_copy(ctx, all.names, prep->cols, &prep->names));
done:
	kdri_names_free(ctx, &all);
	KDRI_FREE(ctx, marks, with);
	return st;
}

/* Whether most names of a data set are those of genes: Ensembl ids, "gene" and a number, or many letters and digits that begin in many
 * ways (CD3E, RPL13, Actb). */
static kdr_status has_genes(kdr_context *ctx, const kdr_data *d, bool *out)
{
	enum { LEAST = 5, MANY_NAMES = 50 };
	kdr_status st = KDR_OK;
	kdri_names stems = { 0 };
	double plain = 0, digits = 0, ids = 0;
	const double n = (double)d->cols;
	int64_t index;
	*out = false;
	if (d->cols < LEAST || !d->features || d->texts || d->vectors || kdri_data_mixed(d, true))
		return KDR_OK;
	for (int64_t j = 0; j < d->cols; j++) {
		const char *name = d->features[j];
		const size_t stem = strcspn(name, "0123456789.-_");
		const bool capital = name[0] >= 'A' && name[0] <= 'Z';
		ids += kdri_is_gene(name) || (kdri_same_word(name, KDRI_MIN(stem, 4), "gene") &&
		                              strspn(name + stem, "0123456789.-_") == strlen(name + stem));
		plain += (capital || strncmp(name, "mt-", 3) == 0) && !strpbrk(name, " ,;:=()/");
		digits += strpbrk(name, "0123456789") != NULL;
		KDRI_TRY(kdri_names_add(ctx, &stems, name, stem, &index));
	}
	*out = ids > 0.9 * n || (d->cols >= MANY_NAMES && plain > 0.9 * n && digits > 0.3 * n &&
	                         (double)stems.count > 0.3 * n);
done:
	kdri_names_free(ctx, &stems);
	return st;
}

kdr_status kdri_align(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                      kdri_columns *columns)
{
	const kdr_data *unnamed = NULL;
	for (int64_t t = 0; t < count; t++)
		if (!tasks[t]->features)
			unnamed = tasks[t];
	kdr_align align = prep->options.align;
	if (align == KDR_ALIGN_DEFAULT) {
		bool genes = count > 1 && !unnamed;
		for (int64_t t = 0; t < count && genes; t++)
			KDRI_DO(has_genes(ctx, tasks[t], &genes));
		align = unnamed ? KDR_ALIGN_POSITION : genes ? KDR_ALIGN_INTERSECT : KDR_ALIGN_UNION;
	}
	prep->options.align = align;
	if (align == KDR_ALIGN_POSITION)
		return align_position(ctx, prep, tasks, count, columns);
	if (unnamed)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "data set %s has no feature names, so features can only be aligned by position",
		        unnamed->name);
	return align_names(ctx, prep, tasks, count, columns);
}

/* --- new data --------------------------------------------------------------------------------- */

static kdr_status not_texts(kdr_context *ctx, const kdr_data *d)
{
	return kdri_fail(
	        ctx, KDR_ERR_DATA,
	        "%s is a table, but the model was fitted on texts; name the column with the texts: --text-column NAME",
	        d->path && d->path[0] ? d->path : d->name);
}

/* Whether the model has a text of that category of the data set; one that was constant in the fitted data is not in the model. */
static bool knows_category(const kdr_prep *prep, const kdr_data *d, int64_t c)
{
	const char *name = d->sheet->columns[c].name;
	const size_t n = strlen(name);
	for (int64_t u = 0; u < prep->cols; u++)
		if (strncmp(prep->names[u], name, n) == 0 && prep->names[u][n] == '=')
			return true;
	return false;
}

static kdr_status match_names(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d,
                              const kdri_names *table, int64_t *column_of, kdri_columns *c)
{
	name_list unknown = { .count = 0 }, missing = { .count = 0 }, new_texts = { .count = 0 };
	char text[192];
	int64_t found = 0;
	KDRI_DO(KDRI_NEW(ctx, &c->to, d->cols));
	for (int64_t j = 0; j < prep->cols; j++)
		column_of[j] = -1;
	for (int64_t j = 0; j < d->cols; j++) {
		int64_t u = kdri_names_find(table, d->features[j]);
		c->to[j] = u;
		if (u < 0) {
			const int64_t category = kdri_category_of(d, d->features[j]);
			const bool known = category >= 0 && knows_category(prep, d, category);
			list_add(known ? &new_texts : &unknown, d->features[j]);
			continue;
		}
		if (column_of[u] >= 0)
			return twice(ctx, d, column_of[u], j);
		column_of[u] = j;
		found++;
	}
	for (int64_t u = 0; u < prep->cols; u++)
		if (column_of[u] < 0 &&
		    kdri_category_of(d, prep->names[u]) < 0) /* a text that no row has is no lack */
			list_add_part(&missing, prep->names[u],
			              prep->group && prep->group[u] >= 0 ? strcspn(prep->names[u], "=")
			                                                 : strlen(prep->names[u]));
	if (found == 0 && prep->cols > 0) {
		char own[192];
		if (prep->reading_texts && !d->texts)
			return not_texts(ctx, d);
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s has none of the model's columns: it has %s, the model %s; use --rename OLD=NEW",
		        d->path && d->path[0] ? d->path : d->name, list_text(&unknown, own, sizeof own),
		        list_text(&missing, text, sizeof text));
	}
	if (unknown.count > 0)
		kdri_message(ctx,
		             "data set %.40s: feature %s skipped, because the model was fitted without it",
		             d->name, list_text(&unknown, text, sizeof text));
	if (new_texts.count > 0)
		kdri_warning(ctx, "%.80s: not in the data that the model was fitted on: %s; %s", d->name,
		             list_text(&new_texts, text, sizeof text),
		             prep->options.scale == KDR_SCALE_TABLE
		                     ? "such values are treated as missing"
		                     : "rows with such values have none of the known ones");
	if (missing.count > 0 && !d->texts)
		kdri_warning(ctx, "%.80s has no feature %s, which the model was fitted on: %s", d->name,
		             list_text(&missing, text, sizeof text), instead(prep, c));
	kdri_columns_order(c, d->cols, prep->cols);
	return kdri_hints_model(ctx, prep, d);
}

kdr_status kdri_align_new(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d, kdri_columns *c)
{
	kdr_status st;
	kdri_names table = { .borrows = true };
	int64_t *column_of = NULL;
	if (!d->features || !prep->names || prep->options.align == KDR_ALIGN_POSITION) {
		if (prep->vectors && !d->vectors)
			return not_texts(ctx, d);
		if (d->cols != prep->cols)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "%s has %lld columns, but the model has %lld; give columns names, or as many as the model",
			        d->path && d->path[0] ? d->path : d->name, (long long)d->cols,
			        (long long)prep->cols);
		return identity(ctx, d->cols, c);
	}
	KDRI_TRY(KDRI_NEW(ctx, &column_of, prep->cols));
	for (int64_t j = 0, u; j < prep->cols; j++)
		KDRI_TRY(kdri_names_add(ctx, &table, prep->names[j], strlen(prep->names[j]), &u));
	KDRI_TRY(match_names(ctx, prep, d, &table, column_of, c));
done:
	kdri_names_free(ctx, &table);
	kdri_free(ctx, column_of);
	return st;
}

kdr_status kdri_align_absent(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d, kdri_columns *c)
{
	kdr_status st = KDR_OK;
	bool *has = NULL;
	if (prep->options.scale != KDR_SCALE_TABLE && !c->fill)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &has, prep->cols));
	KDRI_TRY(KDRI_NEW(ctx, &c->absent, prep->cols));
	if (c->fill)
		KDRI_TRY(KDRI_NEW(ctx, &c->text_of, prep->cols));
	for (int64_t j = 0; j < d->cols; j++)
		if (c->to[j] >= 0)
			has[c->to[j]] = true;
	for (int64_t u = 0; u < prep->cols; u++) {
		if (has[u])
			continue;
		if (c->text_of)
			c->text_of[c->nabsent] = kdri_category_of(d, prep->names[u]);
		c->absent[c->nabsent++] = u;
	}
done:
	kdri_free(ctx, has);
	return st;
}

void kdri_align_free(kdr_context *ctx, kdri_columns *c)
{
	KDRI_FREE(ctx, c->to, c->shift, c->absent, c->text_of, c->apart);
	kdri_strings_free(&ctx->allocator, c->since, c->nsince);
}
