/* AnnData's .h5ad: X, a layer or coordinates, names of cells and genes, label and task columns. SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * Three generations of files are read. Since 0.8, obs and var are groups with one object per column, and a categorical
 * column is a group of codes and categories. 0.7 keeps the categories in obs/__categories. Before that obs and var are
 * tables (compound datasets), the categories of a column in uns/<column>_categories. */
#include "core/names.h"
#include "io/binary.h"
#include "io/hdf5/h5.h"
#include "io/table/table.h"

#include <stdio.h>

/* --- names -------------------------------------------------------------------------------------------- */

/* The index column of obs or var. */
static kdr_status h5ad_read_names(kdr_context *ctx, const kdri_h5 *h5, const char *frame, int64_t expected,
                                  char ***out)
{
	kdr_status st = KDR_OK;
	kdri_h5_array a = { 0 };
	char column[512], name[1024];
	const char *field = NULL;
	bool text;
	kdri_h5_kind kind = kdri_h5_what(h5, frame);
	if (kind == KDRI_H5_NONE)
		return KDR_OK;
	if (kind == KDRI_H5_DATASET) {
		KDRI_TRY(kdri_h5_array_open(ctx, h5, frame, &a));
		field = kdri_h5_has_field(&a, "index", &text) ? "index" : "_index";
		if (!kdri_h5_has_field(&a, field, &text))
			goto done;
	} else {
		if (!kdri_h5_text(h5, frame, "_index", column, sizeof column))
			snprintf(column, sizeof column, "_index");
		snprintf(name, sizeof name, "%s/%s", frame, column);
		if (kdri_h5_what(h5, name) != KDRI_H5_DATASET)
			goto done;
		KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
	}
	if (a.ndim != 1 || a.shape[0] != expected)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: has %lld names for %lld %s", a.label,
		          (long long)a.shape[0], (long long)expected,
		          strstr(frame, "obs") ? "rows" : "columns");
	KDRI_TRY(kdri_h5_strings(ctx, &a, field, out));
done:
	kdri_h5_array_close(&a);
	return st;
}

/* --- columns ------------------------------------------------------------------------------------------ */

/* The values of a plain column: strings in order of first appearance, integers in increasing order, as in label files. */
static kdr_status groups_of_strings(kdr_context *ctx, char *const *strings, bool integers, int64_t n,
                                    kdri_groups *out)
{
	kdr_status st;
	kdri_names names = { 0 };
	int64_t *of = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &of, n));
	for (int64_t i = 0; i < n; i++)
		KDRI_TRY(kdri_names_add(ctx, &names, strings[i], strlen(strings[i]), &of[i]));
	if (integers)
		KDRI_TRY(kdri_names_sort_integers(ctx, &names, of, n, &integers));
	*out = (kdri_groups){ .of = of, .names = names.names, .count = names.count };
	of = NULL;
	names.names = NULL;
done:
	kdri_names_free(ctx, &names);
	kdri_free(ctx, of);
	return st;
}

/* Codes into a list of categories; -1 is a missing value. Takes over `codes`. */
static kdr_status groups_of_codes(kdr_context *ctx, const kdri_h5 *h5, const char *categories, int64_t *codes,
                                  int64_t n, kdri_groups *out)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	char **names = NULL;
	KDRI_TRY(kdri_h5_array_open(ctx, h5, categories, &a));
	KDRI_TRY(kdri_h5_strings(ctx, &a, NULL, &names));
	for (int64_t i = 0; i < n; i++)
		if (codes[i] < -1 || codes[i] >= a.shape[0])
			KDRI_FAIL(ctx, KDR_ERR_FORMAT,
			          "%s: row %lld has code %lld; there are %lld categories", a.label,
			          (long long)i + 1, (long long)codes[i], (long long)a.shape[0]);
	*out = (kdri_groups){ .of = codes, .names = names, .count = a.shape[0] };
	codes = NULL;
	names = NULL;
done:
	kdri_strings_free(&ctx->allocator, names, a.shape[0]);
	kdri_h5_array_close(&a);
	kdri_free(ctx, codes);
	return st;
}

typedef struct names {
	char text[256];
} names;

static bool note_column(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	(void)h5, (void)kind;
	names *list = user;
	const char *base = strrchr(name, '/') + 1;
	if (strcmp(base, "__categories") != 0)
		kdri_list_add(list->text, sizeof list->text, "%s", base);
	return true;
}

static kdr_status no_column(kdr_context *ctx, const kdri_h5 *h5, const char *frame, const char *column)
{
	names list = { "" };
	if (kdri_h5_what(h5, frame) == KDRI_H5_GROUP)
		kdri_h5_walk(ctx, h5, frame, 0, note_column, &list);
	return kdri_fail(ctx, KDR_ERR_DATA, "%s: %s has no column '%s'%s%s", h5->path, frame, column,
	                 list.text[0] ? "; its columns are: " : "", list.text);
}

static kdr_status check_length(kdr_context *ctx, const kdri_h5_array *a, int64_t rows)
{
	if (a->ndim == 1 && a->shape[0] == rows)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: has %lld values for %lld %s", a->label,
	                 (long long)(a->ndim == 1 ? a->shape[0] : 0), (long long)rows,
	                 strstr(a->label, "obs") ? "rows" : "columns");
}

/* A column that is a dataset, or a field of the old table. */
static kdr_status read_plain_column(kdr_context *ctx, const kdri_h5 *h5, const kdri_h5_array *a,
                                    const char *frame, const char *field, const char *categories,
                                    int64_t rows, kdri_groups *out)
{
	kdr_status st;
	char **strings = NULL;
	int64_t *codes = NULL;
	bool text = false;
	KDRI_TRY(check_length(ctx, a, rows));
	if (!kdri_h5_has_field(a, field, &text)) {
		st = no_column(ctx, h5, frame, field);
		goto done;
	}
	if (kdri_h5_what(h5, categories) == KDRI_H5_DATASET && !text) {
		KDRI_TRY(kdri_h5_field_int64(ctx, a, field, &codes));
		KDRI_TRY(groups_of_codes(ctx, h5, categories, codes, rows, out));
	} else {
		KDRI_TRY(kdri_h5_strings(ctx, a, field, &strings));
		KDRI_TRY(groups_of_strings(ctx, strings, !text, rows, out));
	}
done:
	kdri_strings_free(&ctx->allocator, strings, rows);
	return st;
}

/* A column of obs or var, whatever it is. */
static kdr_status read_column(kdr_context *ctx, const kdri_h5 *h5, const char *frame, const char *column,
                              int64_t rows, kdri_groups *out)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	char name[600], categories[640];
	int64_t *codes = NULL;
	if (strlen(column) > 500 || strchr(column, '/'))
		return no_column(ctx, h5, frame, column);
	snprintf(name, sizeof name, "%s/%s", frame, column);
	if (kdri_h5_what(h5, frame) == KDRI_H5_DATASET) {
		snprintf(categories, sizeof categories, "uns/%s_categories", column);
		KDRI_TRY(kdri_h5_array_open(ctx, h5, frame, &a));
		KDRI_TRY(read_plain_column(ctx, h5, &a, frame, column, categories, rows, out));
		goto done;
	}
	switch (kdri_h5_what(h5, name)) {
	case KDRI_H5_DATASET:
		snprintf(categories, sizeof categories, "%s/__categories/%s", frame, column);
		KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
		KDRI_TRY(read_plain_column(ctx, h5, &a, frame, NULL, categories, rows, out));
		break;
	case KDRI_H5_GROUP:
		snprintf(name, sizeof name, "%s/%s/codes", frame, column);
		snprintf(categories, sizeof categories, "%s/%s/categories", frame, column);
		KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
		KDRI_TRY(check_length(ctx, &a, rows));
		KDRI_TRY(kdri_h5_field_int64(ctx, &a, NULL, &codes));
		KDRI_TRY(groups_of_codes(ctx, h5, categories, codes, rows, out));
		break;
	default: st = no_column(ctx, h5, frame, column);
	}
done:
	kdri_h5_array_close(&a);
	return st;
}

/* The groups of the rows that were read: a part of them, or all. */
static void keep_groups(const kdr_data *data, kdri_groups *g)
{
	for (int64_t i = 0; data->origin && i < data->rows; i++)
		g->of[i] = g->of[data->origin[i]];
}

/* Groups by first appearance in all rows of the file, and no others: so they are the same whatever part is read. */
static kdr_status order_groups(kdr_context *ctx, int64_t rows, kdri_groups *g)
{
	kdr_status st;
	int64_t *place = NULL, count = 0;
	char **kept = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &place, g->count));
	KDRI_TRY(KDRI_NEW0(ctx, &kept, g->count));
	for (int64_t k = 0; k < g->count; k++)
		place[k] = -1;
	for (int64_t i = 0; i < rows; i++) {
		int64_t k = g->of[i];
		if (k >= 0 && place[k] < 0) {
			kept[count] = g->names[k];
			g->names[k] = NULL;
			place[k] = count++;
		}
		g->of[i] = k < 0 ? k : place[k];
	}
	kdri_strings_free(&ctx->allocator, g->names, g->count);
	g->names = kept;
	g->count = count;
	g->all = true;
	kept = NULL;
done:
	KDRI_FREE(ctx, place, kept);
	return st;
}

/* Coordinates have no names: "X_pca1", "X_pca2", the same in every file. */
static kdr_status number_columns(kdr_context *ctx, const char *name, kdr_data *data)
{
	char text[300];
	KDRI_DO(KDRI_NEW0(ctx, &data->features, data->cols));
	for (int64_t j = 0; j < data->cols; j++) {
		snprintf(text, sizeof text, "%.256s%lld", name, (long long)j + 1);
		KDRI_DO(kdri_strdup(ctx, text, &data->features[j]));
	}
	return KDR_OK;
}

/* Names of features from a column of var, which need not be unique. Those without a name keep that of the index. */
static kdr_status name_features(kdr_context *ctx, const kdri_h5 *h5, const char *frame, const char *column,
                                kdr_data *data)
{
	kdr_status st;
	kdri_groups g = { 0 };
	KDRI_TRY(read_column(ctx, h5, frame, column, data->cols, &g));
	if (!data->features)
		KDRI_TRY(number_columns(ctx, "feature", data));
	for (int64_t j = 0; j < data->cols; j++) {
		char *name = NULL;
		if (g.of[j] < 0 || !g.names[g.of[j]][0])
			continue;
		KDRI_TRY(kdri_strdup(ctx, g.names[g.of[j]], &name));
		kdri_free(ctx, data->features[j]);
		data->features[j] = name;
	}
	KDRI_TRY(kdri_names_distinct(ctx, data->features, data->cols));
done:
	kdri_strings_free(&ctx->allocator, g.names, g.count);
	kdri_free(ctx, g.of);
	return st;
}

/* Whether the column is missing and is not required. */
static bool may_lack(const kdri_h5 *h5, const kdr_read_options *options)
{
	char name[600];
	if (!options->may_lack_labels || kdri_h5_what(h5, "obs") != KDRI_H5_GROUP ||
	    strlen(options->label_column) > 500 || strchr(options->label_column, '/'))
		return false;
	snprintf(name, sizeof name, "obs/%s", options->label_column);
	return kdri_h5_what(h5, name) == KDRI_H5_NONE;
}

static kdr_status h5ad_read_open(kdr_context *ctx, const kdri_h5 *h5, const char *member,
                                 const kdr_read_options *options, kdr_data *data)
{
	const char *name = member ? member + (member[0] == '/') : "X";
	KDRI_DO(kdri_h5_read_matrix(ctx, h5, name, options, data));
	const int64_t rows = data->origin ? data->file_rows : data->rows;
	KDRI_DO(h5ad_read_names(ctx, h5, "obs", rows, &data->ids));
	kdri_range_keep(ctx, data, data->ids);
	if (strncmp(name, "obsm/", 5) == 0) {
		KDRI_DO(number_columns(ctx, name + 5, data));
	} else {
		const char *frame = strncmp(name, "raw/", 4) == 0 ? "raw/var" : "var";
		KDRI_DO(h5ad_read_names(ctx, h5, frame, data->cols, &data->features));
		if (options && options->feature_names)
			KDRI_DO(name_features(ctx, h5, frame, options->feature_names, data));
	}
	if (options && options->label_column && !may_lack(h5, options)) {
		kdri_groups classes = { 0 };
		KDRI_DO(read_column(ctx, h5, "obs", options->label_column, rows, &classes));
		keep_groups(data, &classes);
		data->labels = classes.of;
		data->classes = classes.names;
		data->nclasses = classes.count;
	}
	if (options && options->task_column) {
		KDRI_DO(read_column(ctx, h5, "obs", options->task_column, rows, &data->groups));
		if (data->origin)
			KDRI_DO(order_groups(ctx, rows, &data->groups));
		keep_groups(data, &data->groups);
	}
	return KDR_OK;
}

static kdr_status read_h5ad(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	return kdri_h5_read(ctx, path, options, h5ad_read_open, data);
}

/* --- hints about a file for the user ---------------------------------------------------------------- */

/* Pairs of texts: a finding, and what to do about it. They are made in the child process that opens the file. */
typedef struct remarks {
	char **texts;
	int64_t count;
} remarks;

/* A search through obs or the matrices of a file; long lists are truncated. */
typedef struct look {
	kdr_context *ctx;
	remarks *out;
	kdr_status status;
	int64_t rows, columns;
	char index[512];    /* the column of row names */
	char groups[400];   /* columns that can be classes or data sets, with the number of their values */
	char others[400];   /* other columns */
	char matrices[400]; /* besides the one that is read */
	const char *member; /* the one that is read */
} look;

enum { COLUMNS_MOST = 200, GROUPS_MOST = 200 };

static void add_remark(look *k, const char *found, const char *then)
{
	if (k->status == KDR_OK)
		k->status = kdri_strings_append(k->ctx, &k->out->texts, &k->out->count, found);
	if (k->status == KDR_OK)
		k->status = kdri_strings_append(k->ctx, &k->out->texts, &k->out->count, then);
}

/* Cells without a value in a column of numbers. */
static int64_t count_missing_numbers(kdr_context *ctx, const kdri_h5 *h5, const char *name, int64_t rows)
{
	kdri_h5_array a = { 0 };
	double *values = NULL;
	int64_t missing = -1; /* it is something else */
	kdr_status st = kdri_h5_array_open(ctx, h5, name, &a);
	if (st == KDR_OK && a.ndim == 1 && a.shape[0] == rows && a.type_class == KDRI_H5_NUMBER &&
	    KDRI_NEW(ctx, &values, rows) == KDR_OK && kdri_h5_rows_double(ctx, &a, 0, rows, values) == KDR_OK)
		for (int64_t i = missing = 0; i < rows; i++)
			missing += values[i] != values[i];
	kdri_free(ctx, values);
	kdri_h5_array_close(&a);
	return missing;
}

static void look_at_column(look *k, const kdri_h5 *h5, const char *column)
{
	kdri_groups g = { 0 };
	char text[300], name[600];
	int64_t missing = 0, present = 0;
	if (k->columns++ >= COLUMNS_MOST || strcmp(column, k->index) == 0 || strlen(column) > 500)
		return;
	if (read_column(k->ctx, h5, "obs", column, k->rows, &g) == KDR_OK) {
		bool *seen = NULL;
		if ((k->status = KDRI_NEW0(k->ctx, &seen, g.count)) != KDR_OK)
			goto done;
		for (int64_t i = 0; i < k->rows; i++) {
			const bool none = g.of[i] < 0 || g.names[g.of[i]][0] == '\0';
			missing += none;
			present += !none && !seen[g.of[i]];
			if (!none)
				seen[g.of[i]] = true;
		}
		kdri_free(k->ctx, seen);
		/* Values that repeat. */
		if (present >= 2 && present <= GROUPS_MOST && 2 * present <= k->rows)
			kdri_list_add(k->groups, sizeof k->groups, "%.60s (%lld values)", column,
			              (long long)present);
		else
			kdri_list_add(k->others, sizeof k->others, "%.60s (%lld value%s)", column,
			              (long long)present, present == 1 ? "" : "s");
	} else {
		k->ctx->error[0] = '\0';
		snprintf(name, sizeof name, "obs/%s", column);
		missing = count_missing_numbers(k->ctx, h5, name, k->rows);
		k->ctx->error[0] = '\0';
		kdri_list_add(k->others, sizeof k->others, "%.60s%s", column,
		              missing < 0 ? "" : " (numbers)");
	}
	if (missing > 0) {
		snprintf(text, sizeof text, "obs column '%.60s': %lld of %lld values are missing", column,
		         (long long)missing, (long long)k->rows);
		add_remark(
		        k, text,
		        "with --label-column, these samples have no known class; --task-column needs a value in every row");
	}
done:
	kdri_free(k->ctx, g.of);
	kdri_strings_free(&k->ctx->allocator, g.names, g.count);
}

static bool look_at_child(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	look *k = user;
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	(void)kind;
	if (strcmp(base, "__categories") != 0)
		look_at_column(k, h5, base);
	return k->status == KDR_OK;
}

static bool look_at_matrix(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	look *k = user;
	(void)kind;
	name += name[0] == '/';
	if (kdri_h5_is_matrix(h5, name) && strcmp(name, k->member) != 0)
		kdri_list_add(k->matrices, sizeof k->matrices, "%.80s", name);
	return true;
}

static kdr_status look_at_obs(look *k, const kdri_h5 *h5)
{
	kdr_status st = KDR_OK;
	kdri_h5_array a = { 0 };
	char name[600] = "obs";
	const bool group = kdri_h5_what(h5, "obs") == KDRI_H5_GROUP;
	if (!kdri_h5_text(h5, "obs", "_index", k->index, sizeof k->index))
		snprintf(k->index, sizeof k->index, group ? "_index" : "index");
	if (group)
		snprintf(name, sizeof name, "obs/%s", k->index);
	/* The number of rows is that of row names: a file without row names has no columns either. */
	if (kdri_h5_what(h5, name) != KDRI_H5_DATASET)
		return KDR_OK;
	KDRI_TRY(kdri_h5_array_open(k->ctx, h5, name, &a));
	k->rows = a.ndim == 1 ? a.shape[0] : 0;
	if (group)
		KDRI_TRY(kdri_h5_walk(k->ctx, h5, "obs", 0, look_at_child, k));
	const int fields = !group && a.type_class == KDRI_H5_COMPOUND ? H5Tget_nmembers(a.type) : 0;
	for (int i = 0; i < fields && k->status == KDR_OK; i++) {
		char *field = H5Tget_member_name(a.type, (unsigned)i);
		if (field)
			look_at_column(k, h5, field);
		H5free_memory(field);
	}
done:
	kdri_h5_array_close(&a);
	return st == KDR_OK ? k->status : st;
}

static kdr_status look_at_file(kdr_context *ctx, const void *user, void *result)
{
	static const char *const groups[] = { "layers", "raw", "obsm" };
	const char *const *paths = user;
	kdr_status st;
	kdri_h5 h5 = { 0 };
	char text[480];
	look k = { .ctx = ctx, .out = result, .member = paths[1] ? paths[1] + (paths[1][0] == '/') : "X" };
	KDRI_TRY(kdri_h5_open(ctx, paths[0], &h5));
	KDRI_TRY(look_at_obs(&k, &h5));
	for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
		if (kdri_h5_what(&h5, groups[i]) == KDRI_H5_GROUP)
			KDRI_TRY(kdri_h5_walk(ctx, &h5, groups[i], 0, look_at_matrix, &k));
	if (k.groups[0]) {
		snprintf(text, sizeof text, "obs columns that can be used as classes or data sets: %s",
		         k.groups);
		add_remark(
		        &k, text,
		        "use --label-column NAME to read known classes, or --task-column NAME to make one data set per value");
	}
	if (k.others[0]) {
		snprintf(text, sizeof text, "other obs columns: %s", k.others);
		add_remark(&k, text, "not used; features come from the matrix");
	}
	if (k.matrices[0]) {
		snprintf(text, sizeof text, "the file has further matrices: %s", k.matrices);
		add_remark(&k, text, "use FILE.h5ad:NAME to read one of them instead of X");
	}
	st = k.status;
done:
	kdri_h5_close(&h5);
	return st;
}

static kdr_status inspect_h5ad(kdr_context *ctx, const char *path, const kdr_read_options *options,
                               kdr_findings *findings)
{
	kdr_status st;
	char *paths[2] = { NULL }, **texts = NULL;
	int64_t bytes = 0;
	kdri_handed handed = { 0 };
	remarks got = { 0 };
	(void)options;
	KDRI_TRY(kdri_split_member(ctx, path, &paths[0], &paths[1]));
	KDRI_TRY(kdri_h5_check_file(ctx, paths[0], &bytes));
	const kdri_child_job job = { .path = paths[0],
		                     .file_bytes = (double)bytes,
		                     .run = look_at_file,
		                     .user = paths,
		                     .result_size = sizeof got };
	st = kdri_run_apart(ctx, &job, &got, &handed);
	if (ctx->isolation <= 0)
		texts = got.texts;
	else if (st == KDR_OK)
		st = kdri_handed_strings(ctx, &handed, got.texts, got.count, &texts);
	for (int64_t i = 0; st == KDR_OK && texts && i + 1 < got.count; i += 2)
		st = kdri_finding_add(ctx, findings, 0, false, texts[i + 1], "%s", texts[i]);
done:
	kdri_strings_free(&ctx->allocator, texts, got.count);
	kdri_handed_free(&handed);
	KDRI_FREE(ctx, paths[0], paths[1]);
	return st;
}

static const char *const endings[] = { ".h5ad", NULL };

const kdri_format kdri_format_h5ad = {
	.id = "h5ad",
	.endings = endings,
	.read = read_h5ad,
	.inspect = inspect_h5ad,
	.parts = true,
	.columns = true,
	.help = "AnnData: X, or file.h5ad:layers/name or :obsm/name; names from obs and var",
	.holds = KDR_HOLDS_OBS,
};
