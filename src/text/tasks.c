/* Data sets that belong together, from files and folders. SPDX-License-Identifier: BSD-3-Clause
 *
 * A folder with a matrix.mtx is a 10x folder; otherwise it is a folder of texts, and the words of all such folders are
 * counted over one shared vocabulary. */
#include "core/side_by_side.h"
#include "core/system.h"
#include "io/binary.h"
#include "io/table/table.h"
#include "text/text.h"

typedef struct tasks {
	kdr_data **sets;
	int64_t *from; /* index of the path of each */
	int64_t count;
} tasks;

static bool is_text_folder(const char *path, const kdr_read_options *options)
{
	kdri_file info;
	return !options->format && !options->memory && kdri_file_at(path, &info) && info.folder &&
	       !kdri_is_tenx(path);
}

/* Whether the words of a path are counted: of a folder of texts, or of the column of texts of a file. */
static bool is_text(const char *path, const kdr_read_options *options)
{
	return is_text_folder(path, options) || (options->text_column && !options->memory);
}

/* Texts are read from tables and from JSON lines. */
static kdr_status check_table(kdr_context *ctx, const char *path, const kdr_read_options *o)
{
	const kdri_format *f = kdri_format_find(o->format, path);
	if (!f || f->holds & KDR_HOLDS_CHARACTERS)
		return KDR_OK;
	if (f != &kdri_format_xlsx || !kdri_is_book(path))
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: --text-column reads CSV, TSV, Excel and JSON-lines files, not %s; give one of these",
		        path, f->id);
	kdr_status st = KDR_OK;
	char **sheets = NULL;
	int64_t count = 0;
	if (!kdri_path_sheet(path))
		st = kdri_xlsx_sheets(ctx, path, &sheets, &count);
	if (count > 1)
		kdri_warning(
		        ctx,
		        "%s: sheet '%.60s' was read, but not the others (%lld); use --sheet NAME or --sheet all",
		        path, sheets[0], (long long)count - 1);
	kdri_strings_free(&ctx->allocator, sheets, count);
	return st;
}

/* Whether a path has lines of JSON: by the specified format, or by its name. */
static bool is_json(const char *path, const char *format)
{
	static const char *const endings[] = { ".jsonl",    ".ndjson",    ".json",
		                               ".jsonl.gz", ".ndjson.gz", ".json.gz" };
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
		if (format ? strcmp(format, endings[i] + 1) == 0 : kdri_ends_with(path, endings[i]))
			return true;
	return false;
}

/* The corpus that a path is. */
static kdr_corpus corpus_of(kdr_context *ctx, const kdr_task_path *path, const kdr_read_options *o)
{
	kdr_corpus out = { .name = path->name, .path = path->path, .kind = KDR_CORPUS_FOLDER };
	if (is_text_folder(path->path, o))
		return out;
	out.kind = is_json(path->path, o->format) ? KDR_CORPUS_JSON : KDR_CORPUS_TABLE;
	out.text_field = o->text_column;
	out.label_field = o->label_column;
	if (o->delimiter)
		out.delimiter = strcmp(o->delimiter, "tab") == 0 ? '\t' : o->delimiter[0];
	else if (kdri_format_find(o->format, path->path) == &kdri_format_tsv)
		out.delimiter = '\t';
	out.header = o->header;
	if (out.label_field && (path->may_lack_labels || o->may_lack_labels) &&
	    kdri_corpus_can_reopen(&out)) {
		kdri_corpus *opened = NULL; /* fails if the column does not exist */
		const kdri_corpus_roles roles = { .skip_rows = o->skip_rows };
		if (kdri_corpus_open(ctx, &out, &roles, &opened) != KDR_OK)
			out.label_field = NULL;
		kdri_corpus_close(ctx, opened);
	}
	return out;
}

static kdr_status check_folder(kdr_context *ctx, const char *path, const kdr_read_options *options)
{
	kdr_status st;
	kdri_folder folder = { 0 };
	if (options->task_column || options->transpose)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: a folder of texts has no %s", path,
		                 options->task_column ? "task column" : "matrix to be transposed");
	KDRI_TRY(kdri_folder_list(ctx, path, &folder));
	if (folder.count == 0)
		KDRI_FAIL(
		        ctx, KDR_ERR_READ,
		        "%s: is a directory without files; a data file, a folder of texts or a 10x folder is needed",
		        path);
done:
	kdri_folder_free(ctx, &folder);
	return st;
}

/* How the words of texts are counted; *settings is what it borrows. */
static kdr_status counting_of(kdr_context *ctx, const kdr_read_options *options, kdr_text_options *how,
                              char **settings)
{
	kdr_text_options_init(how);
	how->detect = !options->terms;
	how->terms = options->terms;
	how->nterms = options->nterms;
	return options->texts ? kdri_text_settings_read(ctx, options->texts, how, settings) : KDR_OK;
}

/* All texts, over one vocabulary. */
static kdr_status tasks_read_texts(kdr_context *ctx, const kdr_task_path *paths, int64_t count,
                                   const kdr_read_options *options, kdr_data **sets)
{
	kdr_status st = KDR_OK;
	kdr_corpus *corpora = NULL;
	kdr_data **made = NULL;
	int64_t n = 0;
	kdr_text_stats stats = { 0 };
	kdr_text_options how;
	const kdri_corpus_roles roles = { .id = options->id_column,
		                          .task = options->task_column,
		                          .skip_rows = options->skip_rows,
		                          .vectors = (kdri_vectors *)options->vectors };
	char *settings = NULL;
	double start = kdri_now();
	KDRI_TRY(KDRI_NEW0(ctx, &corpora, count));
	KDRI_TRY(kdri_calloc(ctx, &made, count, sizeof(kdr_data *)));
	for (int64_t i = 0; i < count; i++)
		if (is_text(paths[i].path, options)) {
			if (is_text_folder(paths[i].path, options))
				KDRI_TRY(check_folder(ctx, paths[i].path, options));
			else
				KDRI_TRY(check_table(ctx, paths[i].path, options));
			corpora[n++] = corpus_of(ctx, &paths[i], options);
		}
	if (n == 0) {
		if (options->texts && options->texts[0] && !options->terms)
			st = kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "text options are given, but no data set is a folder of texts; specify the text column of a table with --text-column");
		goto done;
	}
	KDRI_TRY(counting_of(ctx, options, &how, &settings));
	KDRI_TRY(kdri_vectorize(ctx, corpora, n, &roles, &how, made, &stats));
	kdri_message(ctx, "%lld documents, %lld tokens, %lld different terms", (long long)stats.documents,
	             (long long)stats.tokens, (long long)stats.terms);
	made[0]->seconds = kdri_now() - start;
	int64_t entries = 0;
	for (int64_t t = 0; t < n; t++) {
		const kdr_data *words = made[t]->view ? made[t]->view : made[t];
		entries += words->rowptr[words->rows];
	}
	if (options->terms && entries == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA,
		          "%s: none of the %lld words that the model was fitted on occurs in the texts",
		          corpora[0].path, (long long)options->nterms);
	for (int64_t i = 0, t = 0; i < count; i++)
		if (is_text(paths[i].path, options))
			sets[i] = made[t++];
done:
	for (int64_t t = 0; st != KDR_OK && made && t < n; t++)
		kdr_data_free(made[t]);
	KDRI_FREE(ctx, settings, made, corpora);
	return st;
}

/* Reads the texts of a data set again as if there were no other: set->alone. `group`: its value in the column of data sets, or NULL. What
 * cannot be read twice, or has no words then, keeps those of all texts. */
static kdr_status read_alone(kdr_context *ctx, const kdr_task_path *path, const kdr_read_options *options,
                             const char *group, kdr_data *set)
{
	kdr_status st;
	kdr_data *alone = NULL;
	kdr_text_options how;
	char *settings = NULL;
	const double start = kdri_now();
	const kdri_corpus_roles roles = { .id = options->id_column,
		                          .task = group ? options->task_column : NULL,
		                          .skip_rows = options->skip_rows,
		                          .only = group };
	kdr_corpus what = corpus_of(ctx, path, options);
	what.name = set->name;
	if (!kdri_corpus_can_reopen(&what))
		return KDR_OK;
	KDRI_TRY(counting_of(ctx, options, &how, &settings));
	st = kdri_vectorize(ctx, &what, 1, &roles, &how, &alone, NULL);
	if (st == KDR_ERR_DATA)
		st = KDR_OK;
	set->seconds += kdri_now() - start;
	if (st != KDR_OK || !alone || alone->rows != set->rows)
		goto done;
	kdr_data_free(alone->view); /* only its rows are used */
	alone->view = NULL;
	set->alone = alone;
	alone = NULL;
done:
	kdr_data_free(alone);
	kdri_free(ctx, settings);
	return st;
}

/* The same for the data sets that a path has become, of which there are others; `whole`: all of them before it was split, or NULL. */
static kdr_status read_each_alone(kdr_context *ctx, const kdr_task_path *path, const kdr_read_options *o,
                                  const kdr_data *whole, kdr_data **sets, int64_t count)
{
	if (o->together_only || o->terms || !is_text(path->path, o))
		return KDR_OK;
	for (int64_t t = 0; t < count; t++) {
		const char *group = NULL;
		if (whole && (whole->origin || sets[t]->rows == 0))
			continue;
		if (whole)
			group = whole->groups.names[whole->groups.of[sets[t]->origin[0]]];
		KDRI_DO(read_alone(ctx, path, o, group, sets[t]));
	}
	return KDR_OK;
}

static kdr_status tasks_append(kdr_context *ctx, kdr_data **sets, int64_t n, int64_t from, tasks *to)
{
	KDRI_DO(kdri_realloc(ctx, &to->sets, to->count + n, sizeof(kdr_data *)));
	KDRI_DO(KDRI_GROW(ctx, &to->from, to->count + n));
	for (int64_t i = 0; i < n; i++) {
		to->sets[to->count] = sets[i];
		to->from[to->count++] = from;
		sets[i] = NULL;
	}
	return KDR_OK;
}

/* One path's data set, split if it has a column of tasks. Takes over *set. */
static kdr_status add_set(kdr_context *ctx, const kdr_task_path *paths, int64_t npaths,
                          const kdr_read_options *o, kdr_data **set, int64_t from, tasks *to)
{
	kdr_status st;
	kdr_data **parts = NULL;
	char *prefix = NULL;
	int64_t n = 0;
	if (!o->task_column) {
		if (npaths > 1)
			KDRI_DO(read_each_alone(ctx, &paths[from], o, NULL, set, 1));
		return tasks_append(ctx, set, 1, from, to);
	}
	if (npaths > 1) {
		size_t room = strlen((*set)->name) + 2;
		KDRI_TRY(KDRI_NEW(ctx, &prefix, room));
		memcpy(prefix, (*set)->name, room - 2);
		memcpy(prefix + room - 2, "-", 2);
	}
	KDRI_TRY(kdri_data_split(ctx, *set, NULL, prefix, &parts, &n));
	if (n > 0)
		parts[0]->seconds = (*set)->seconds;
	for (int64_t i = 1; i < n; i++)
		parts[i]->seconds = 0;
	if (npaths > 1 || n > 1)
		KDRI_TRY(read_each_alone(ctx, &paths[from], o, *set, parts, n));
	KDRI_TRY(tasks_append(ctx, parts, n, from, to));
	kdr_data_free(*set);
	*set = NULL;
done:
	for (int64_t i = 0; parts && i < n; i++)
		kdr_data_free(parts[i]);
	KDRI_FREE(ctx, parts, prefix);
	return st;
}

/* --- headers ---------------------------------------------------------------------------------------------- */

static bool has_header(const kdr_data *set)
{
	return set && set->sheet && set->sheet->header;
}

/* Names of the columns of the data sets, and of those that have another purpose; a NULL ends them. Borrowed. */
static kdr_status header_names(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                               const kdr_read_options *o, const char ***out)
{
	kdr_status st;
	const char **names = NULL;
	const char *const more[] = { o->label_column, o->id_column, o->task_column };
	int64_t n = 0, room = 4;
	for (int64_t i = 0; i < count; i++)
		room += sets[i] && sets[i]->sheet ? sets[i]->sheet->ncolumns : 0;
	KDRI_TRY(kdri_calloc(ctx, &names, room, sizeof *names));
	for (int64_t i = 0; i < count; i++)
		for (int64_t j = 0; has_header(sets[i]) && j < sets[i]->sheet->ncolumns; j++)
			names[n++] = sets[i]->sheet->columns[j].name;
	for (int i = 0; n > 0 && i < 3; i++)
		if (more[i])
			names[n++] = more[i];
	*out = names;
	names = NULL;
done:
	kdri_free(ctx, names);
	return st;
}

/* A file can be read again if it is one. */
static bool is_file(const char *path)
{
	kdri_file info;
	return kdri_file_at(path, &info) && info.regular;
}

/* Reads the file of a path, or leaves *out NULL if it cannot be read yet. */
static kdr_status read_path(kdr_context *ctx, const kdr_task_path *path, const kdr_read_options *options,
                            bool again, kdr_data **out)
{
	kdr_read_options o = *options;
	o.name = path->name;
	o.may_lack_labels = path->may_lack_labels || o.may_lack_labels;
	kdr_status st = kdri_read(ctx, path->path, &o, out);
	return again && (st == KDR_ERR_DATA || st == KDR_ERR_FORMAT) && is_file(path->path) ? KDR_OK : st;
}

/* A table of texts only does not show whether its first line is a header: it is one if it repeats names that another file has. So files
 * that have no names, or cannot be read without them, are read again when the names of the others are known. */
static kdr_status read_paths(kdr_context *ctx, const kdr_task_path *paths, int64_t count,
                             const kdr_read_options *options, kdr_data **sets)
{
	kdr_status st = KDR_OK;
	kdr_read_options o = *options;
	kdr_data *second = NULL;
	const char **names = NULL;
	const bool several = count > 1 && o.header == KDR_HEADER_FIND_OUT;
	for (int64_t i = 0; i < count; i++)
		if (!sets[i])
			KDRI_TRY(read_path(ctx, &paths[i], &o, several, &sets[i]));
	if (!several)
		goto done;
	KDRI_TRY(header_names(ctx, sets, count, &o, &names));
	o.header_names = names;
	for (int64_t i = 0; i < count; i++) {
		if (sets[i] &&
		    (!sets[i]->sheet || has_header(sets[i]) || !names[0] || !is_file(paths[i].path)))
			continue;
		KDRI_TRY(read_path(ctx, &paths[i], &o, false, &second));
		if (!sets[i] || has_header(second)) {
			kdr_data_free(sets[i]);
			sets[i] = second;
		} else {
			kdr_data_free(second);
		}
		second = NULL;
	}
done:
	kdri_free(ctx, names);
	return st;
}

kdr_status kdr_read(kdr_context *ctx, const char *path, const kdr_read_options *options, kdr_data **out)
{
	kdr_status st;
	kdr_read_options o;
	char *sheet = NULL;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!path || !out)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "kdr_read: path and out must not be NULL");
	KDRI_TRY(KDRI_TAKE(ctx, kdr_read_options, options, &o));
	KDRI_TRY(kdri_sheet_path(ctx, path, &o, &sheet));
	const kdr_task_path one = { .path = sheet, .name = o.name };
	st = is_text(sheet, &o) ? tasks_read_texts(ctx, &one, 1, &o, out) : kdri_read(ctx, sheet, &o, out);
done:
	kdri_free(ctx, sheet);
	return st;
}

/* Paths with those of sheets in place of their workbooks (kdri_sheet_paths). */
typedef struct sheets {
	kdr_task_path *list;
	int64_t *of;   /* of each: the path that was given */
	char ***paths; /* of each of the `given` paths that were expanded */
	int64_t *lengths;
	int64_t given, count;
} sheets;

static kdr_status sheets_new(kdr_context *ctx, const kdr_task_path *paths, int64_t npaths,
                             const kdr_read_options *o, sheets *out)
{
	KDRI_DO(kdri_calloc(ctx, &out->paths, npaths, sizeof *out->paths));
	KDRI_DO(KDRI_NEW0(ctx, &out->lengths, npaths));
	for (int64_t i = 0; i < npaths; i++) {
		if (!paths[i].path)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT, "kdr_read_tasks: path %lld of %lld is NULL",
			                 (long long)i + 1, (long long)npaths);
		KDRI_DO(kdri_sheet_paths(ctx, paths[i].path, o, &out->paths[i], &out->lengths[i]));
		out->given = i + 1;
		out->count += out->lengths[i];
	}
	KDRI_DO(KDRI_NEW(ctx, &out->list, out->count));
	KDRI_DO(KDRI_NEW(ctx, &out->of, out->count));
	int64_t n = 0;
	for (int64_t i = 0; i < npaths; i++)
		for (int64_t k = 0; k < out->lengths[i]; k++) {
			out->list[n] = paths[i];
			out->list[n].path = out->paths[i][k];
			if (out->lengths[i] > 1)
				out->list[n].name = NULL; /* that of the sheet */
			out->of[n++] = i;
		}
	kdri_name_paths(out->list, out->count);
	return KDR_OK;
}

static void sheets_free(kdr_context *ctx, sheets *s)
{
	for (int64_t i = 0; i < s->given; i++)
		kdri_strings_free(&ctx->allocator, s->paths[i], s->lengths[i]);
	KDRI_FREE(ctx, s->paths, s->lengths, s->list, s->of);
}

kdr_status kdr_read_tasks(kdr_context *ctx, const kdr_task_path *paths, int64_t npaths,
                          const kdr_read_options *options, kdr_data ***out, int64_t **from, int64_t *count)
{
	kdr_status st;
	tasks made = { 0 };
	kdri_named named = { 0 };
	kdr_data **read = NULL;
	sheets s = { .given = 0 };
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!paths || npaths < 1 || !out || !count)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "kdr_read_tasks: at least one path is needed, and out and count must not be NULL");
	kdr_read_options o;
	double bytes = 0;
	KDRI_TRY(KDRI_TAKE(ctx, kdr_read_options, options, &o));
	if (o.memory && npaths > 1)
		KDRI_FAIL(
		        ctx, KDR_ERR_ARGUMENT,
		        "kdr_read_tasks: a table in memory must be the only input, but there are %lld others",
		        (long long)npaths - 1);
	KDRI_TRY(sheets_new(ctx, paths, npaths, &o, &s));
	const kdr_task_path *list = s.list;
	npaths = s.count;
	bytes += o.memory ? (double)o.memory_bytes : 0;
	for (int64_t i = 0; i < npaths; i++)
		bytes += o.memory ? 0 : kdri_file_bytes(list[i].path);
	o.stream = kdri_streams(ctx, o.stream, bytes) ? KDR_STREAM_YES : KDR_STREAM_NO;
	kdri_expect(ctx, bytes);
	KDRI_TRY(kdri_calloc(ctx, &read, npaths, sizeof(kdr_data *)));
	KDRI_TRY(tasks_read_texts(ctx, list, npaths, &o, read));
	KDRI_TRY(kdri_named_begin(ctx, &o, npaths > 1 || o.may_lack_columns, &named));
	KDRI_TRY(read_paths(ctx, list, npaths, &o, read));
	if (!o.may_lack_columns)
		KDRI_TRY(kdri_named_check(ctx, &o, read, npaths));
	for (int64_t i = 0; i < npaths; i++)
		KDRI_TRY(add_set(ctx, list, npaths, &o, &read[i], i, &made));
	for (int64_t i = 0; i < made.count; i++)
		made.from[i] = s.of[made.from[i]];
	for (int64_t i = 0; o.temporary && i < made.count; i++)
		made.sets[i]->path[0] = '\0';
	*out = made.sets;
	*count = made.count;
	made.sets = NULL;
	if (from) {
		*from = made.from;
		made.from = NULL;
	}
done:
	if (ctx->named == &named)
		kdri_named_end(ctx, &named);
	for (int64_t i = 0; read && i < s.count; i++)
		kdr_data_free(read[i]);
	for (int64_t i = 0; made.sets && i < made.count; i++)
		kdr_data_free(made.sets[i]);
	sheets_free(ctx, &s);
	KDRI_FREE(ctx, read, made.sets, made.from);
	return st;
}
