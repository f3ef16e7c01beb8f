/* kindred inspect. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"
#include "core/words.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_FLAG("json", "print JSON"),
	CLI_OPTIONS_END,
};

/* Where the problems of a data set go: to a list of a JSON text or, if that is NULL, to standard output. */
typedef struct problems {
	kdri_json *json;
	int64_t count;
} problems;

/* Something odd, and what the commands would do about it. Fatal: fitting would refuse the data. */
static void put_problem(problems *p, const char *found, const char *then, bool fatal, int64_t line)
{
	p->count++;
	if (!p->json) {
		cli_printf("  %s %s\n      -> %s\n", fatal ? "!" : "-", found, then);
		return;
	}
	kdri_json_object(p->json, NULL);
	kdri_json_string(p->json, "found", found);
	kdri_json_string(p->json, "then", then);
	kdri_json_bool(p->json, "fatal", fatal);
	if (line > 0)
		kdri_json_int(p->json, "line", line);
	kdri_json_end_object(p->json);
}

/* Puts what `format` describes. */
KDR_PRINTF(4, 5)
static void problem(problems *p, const char *then, bool fatal, const char *format, ...)
{
	char found[256];
	va_list args;
	va_start(args, format);
	vsnprintf(found, sizeof found, format, args);
	va_end(args);
	put_problem(p, found, then, fatal, 0);
}

/* What is odd about the text of a table; problems of the matrix follow. */
static void put_findings(problems *p, const kdr_findings *found)
{
	const kdr_finding *x;
	for (int64_t i = 0; (x = kdr_findings_at(found, i)); i++)
		put_problem(p, x->found, x->then, x->fatal, x->line);
}

/* Entries of the matrix that are NaN because of missing values, which are reported separately. */
static int64_t holes_of(const kdr_data *data)
{
	int64_t holes = 0;
	const kdr_column *column;
	for (int64_t c = 0; (column = kdr_data_column_at(data, c)); c++)
		holes += column->missing * column->features;
	return holes;
}

/* Values that count something, such as molecules or words. */
static bool are_counts(const kdr_inspection *s)
{
	return s->integers && s->negatives == 0 && s->max > 1;
}

/* "3 values are", or "1 value is", until the next call. */
static const char *are(int64_t count, const char *noun)
{
	static char text[64];
	snprintf(text, sizeof text, "%s %s", cli_count(count, noun), count == 1 ? "is" : "are");
	return text;
}

static void put_problems(problems *p, const kdr_data *data, const kdr_inspection *s)
{
	const bool counts = are_counts(s);
	char row[KDRI_ROW_NAME];
	if (strstr(kdr_data_path(data), ".h5ad")) /* methods for cells need to know */
		problem(p,
		        counts ? "normalised for every method unless --weight is given; use --weight none to turn this off"
		               : "used unchanged; if a layer has the counts, use FILE.h5ad:layers/NAME",
		        false, counts ? "the values are counts" : "the values are not counts");
	if (s->nonfinite > holes_of(data))
		problem(p, "error: fix the file, or use --missing for empty cells in CSV files", true,
		        "%s NaN or infinite, the first in %s, column %lld", are(s->nonfinite, "value"),
		        kdri_row_name(data, s->bad_row, row), (long long)s->bad_col + 1);
	if (s->duplicate_names)
		problem(p, "error if data sets are aligned by name; use --features position to ignore names",
		        true, "%s occur%s more than once", cli_count(s->duplicate_names, "feature name"),
		        s->duplicate_names == 1 ? "s" : "");
	if (s->empty_rows)
		problem(p, "kept; texts and sparse rows without content get no label", false, "%s empty%s",
		        are(s->empty_rows, kdr_data_text_note(data) ? "text" : "row"),
		        kdr_data_text_note(data) ? ", or without any of the words" : " (all zeros)");
	if (s->empty_cols)
		problem(p, "kept; empty columns have no influence. Use --top-features to remove them", false,
		        "%s empty (all zeros)", are(s->empty_cols, "column"));
	if (s->constant_cols > s->empty_cols)
		problem(p, "kept; --scale standard sets constant columns to zero", false, "%s constant",
		        are(s->constant_cols - s->empty_cols, "column"));
	if (s->duplicate_rows)
		problem(p, "kept; repeated rows count separately", false, "%s identical to an earlier row",
		        are(s->duplicate_rows, "row"));
	if (s->negatives)
		problem(p, "allowed; but --weight log1p, cpm and tfidf and some methods need values >= 0",
		        false, "%s negative", are(s->negatives, "value"));
}

static double density(const kdr_inspection *s)
{
	return (double)s->nonzeros / ((double)s->rows * (double)s->cols);
}

/* --- between tasks -------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many names of `b` are also in `a`; both sorted. */
static int64_t shared_names(const char **a, int64_t n, const char **b, int64_t m)
{
	int64_t shared = 0, i = 0, j = 0;
	while (i < n && j < m) {
		int order = strcmp(a[i], b[j]);
		shared += order == 0;
		i += order <= 0;
		j += order >= 0;
	}
	return shared;
}

static const char **sorted_names(const kdr_data *data)
{
	kdr_mat x = kdr_data_mat(data);
	int64_t n = kdr_mat_cols(&x);
	const char **copy = kdr_data_features(data) ? cli_new((size_t)n, sizeof *copy) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, kdr_data_features(data), (size_t)n * sizeof *copy);
	qsort(copy, (size_t)n, sizeof *copy, by_text);
	return copy;
}

/* Words of texts after stop words and rare words were removed, each as often as it occurs. */
static int64_t count_words(const kdr_data *data)
{
	const kdr_mat x = kdr_data_mat(data);
	double words = 0;
	for (int64_t e = 0; x.kind == KDR_MAT_CSR && e < kdr_mat_nnz(&x); e++)
		words += x.as.csr.val[e];
	return (int64_t)words;
}

/* Hints about columns that do not match, as a job with these data sets gives them. */
typedef struct hints {
	const char **lines;
	int count;
	kdr_context *ctx;
	bool intersect;     /* only features that all data sets have are used */
	kdr_data_kind kind; /* of all data sets together, as a job finds it */
} hints;

static kdr_data_kind kind_of(const hints *h, kdr_data *data)
{
	kdr_recipe recipe;
	return kdr_recipe_find(h->ctx, &data, 1, &recipe) == KDR_OK ? recipe.kind : KDR_DATA_UNKNOWN;
}

/* What the default alignment would do with a pair of tasks. */
static void put_pair(kdri_json *j, const hints *h, kdr_data *a, kdr_data *b)
{
	char text[256];
	kdr_mat x = kdr_data_mat(a), y = kdr_data_mat(b);
	int64_t n = kdr_mat_cols(&x), m = kdr_mat_cols(&y);
	const char **p = sorted_names(a), **q = sorted_names(b);
	const int64_t shared = p && q ? shared_names(p, n, q, m) : 0;
	const bool tables = h->kind ? h->kind == KDR_DATA_UNITS
	                            : kind_of(h, a) == KDR_DATA_UNITS && kind_of(h, b) == KDR_DATA_UNITS;
	if (!p || !q)
		snprintf(text, sizeof text, "%lld and %lld columns, not all of them with names: %s",
		         (long long)n, (long long)m,
		         n == m ? "columns are matched by position" : "error: they cannot be aligned");
	else if (kdr_data_text_note(a) && kdr_data_text_note(b))
		snprintf(text, sizeof text, "%s in common (of %lld and %lld)", cli_count(shared, "word"),
		         (long long)n, (long long)m);
	else
		snprintf(
		        text, sizeof text, "%s in common (of %lld and %lld): %s",
		        cli_count(shared, "feature name"), (long long)n, (long long)m,
		        shared == n && n == m ? "columns are matched by name"
		        : shared == 0         ? "use --features position to match columns by position"
		        : h->intersect
		                ? "columns are matched by name, and those that a data set lacks are skipped"
		        : tables
		                ? "columns are matched by name; others are missing values (cluster) or skipped (transfer)"
		                : "columns are matched by name, and missing columns are filled with zeros");
	if (!j) {
		cli_printf("%s, %s: %s\n", kdr_data_name(a), kdr_data_name(b), text);
		return;
	}
	kdri_json_object(j, NULL);
	kdri_json_string(j, "from", kdr_data_name(a));
	kdri_json_string(j, "to", kdr_data_name(b));
	kdri_json_string(j, "found", text);
	kdri_json_end_object(j);
}

static int keep_hint(void *user, const kdr_event *e)
{
	hints *h = user;
	if (e->kind != KDR_EVENT_MESSAGE)
		return 0;
	h->intersect = h->intersect || strstr(e->message, "not all data sets have") ||
	               strstr(e->message, "which all data sets have");
	if (strncmp(e->message, "column", 6) != 0 && strncmp(e->message, "skipped:", 8) != 0 &&
	    strncmp(e->message, "features:", 9) != 0 && strncmp(e->message, "the values", 10) != 0)
		return 0;
	const char **longer = cli_new((size_t)h->count + 1, sizeof *longer);
	for (int i = 0; i < h->count; i++)
		longer[i] = h->lines[i];
	longer[h->count++] = strcpy(cli_new(strlen(e->message) + 1, 1), e->message);
	h->lines = longer;
	return 0;
}

static bool all_named(kdr_data *const *data, int count)
{
	for (int i = 0; i < count; i++)
		if (!kdr_data_features(data[i]))
			return false;
	return true;
}

/* Aligns views of the data sets, which reports them. Data that cannot be aligned have none, and alignment may copy large ones. */
static void find_hints(kdr_data **data, int count, hints *out)
{
	enum { VALUES_MOST = 20 * 1000 * 1000 };
	kdr_context *own = NULL;
	kdr_data **views = cli_new((size_t)count, sizeof(kdr_data *));
	double values = 0;
	int n = 0;
	for (int i = 0; i < count; i++) {
		kdr_mat x = kdr_data_mat(data[i]);
		values += (double)kdr_mat_rows(&x) * (double)kdr_mat_cols(&x);
	}
	if (count > 1 && values < VALUES_MOST && kdr_context_new(&own, NULL) == KDR_OK) {
		kdr_context_set_progress(own, keep_hint, out);
		for (int i = 0; i < count; i++)
			n += data[i] && kdr_data_view(own, data[i], NULL, &views[n]) == KDR_OK;
		kdr_recipe recipe = { .kind = KDR_DATA_UNKNOWN };
		const bool named = n > 1 && all_named(views, n);
		if (n > 1 && kdr_recipe_find(own, views, n, &recipe) == KDR_OK)
			out->kind = recipe.kind;
		const kdr_prep_options options = { .size = sizeof options,
			                           .align = named && recipe.kind == KDR_DATA_MOLECULES
			                                            ? KDR_ALIGN_INTERSECT
			                                            : KDR_ALIGN_DEFAULT };
		if (n > 1)
			(void)kdr_prepare(own, views, n, &options, NULL);
	}
	for (int i = 0; i < n; i++)
		kdr_data_free(views[i]);
	kdr_context_free(own);
}

/* --- output --------------------------------------------------------------------------------------------- */

static void json_columns(kdri_json *j, const kdr_data *data)
{
	const kdr_column *column;
	if (!kdr_data_column_at(data, 0))
		return;
	kdri_json_array(j, "columns");
	for (int64_t c = 0; (column = kdr_data_column_at(data, c)); c++) {
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", column->name);
		kdri_json_string(j, "kind", kdr_column_kind_name(column->kind));
		kdri_json_int(j, "features", column->features);
		kdri_json_int(j, "missing", column->missing);
		kdri_json_bool(j, "constant", column->constant);
		kdri_json_string(j, "why", column->why);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

static void json_task(kdri_json *j, kdr_data *data, const kdr_inspection *s, const hints *h)
{
	kdr_mat x = kdr_data_mat(data);
	int64_t nclasses;
	kdr_data_classes(data, &nclasses);
	kdri_json_string(j, "name", kdr_data_name(data));
	kdri_json_string(j, "path", kdr_data_path(data));
	kdri_json_int(j, "rows", s->rows);
	kdri_json_int(j, "cols", s->cols);
	kdri_json_bool(j, "sparse", x.kind == KDR_MAT_CSR);
	kdri_json_int(j, "nonzeros", s->nonzeros);
	kdri_json_real(j, "density", density(s));
	kdri_json_real(j, "min", s->min);
	kdri_json_real(j, "max", s->max);
	kdri_json_bool(j, "integers", s->integers);
	kdri_json_bool(j, "counts", are_counts(s));
	kdri_json_bool(j, "embeddings", kind_of(h, data) == KDR_DATA_EMBEDDINGS);
	kdri_json_int(j, "negatives", s->negatives);
	kdri_json_int(j, "nonfinite", s->nonfinite);
	kdri_json_int(j, "empty_rows", s->empty_rows);
	kdri_json_int(j, "empty_cols", s->empty_cols);
	kdri_json_int(j, "constant_cols", s->constant_cols);
	kdri_json_int(j, "duplicate_rows", s->duplicate_rows);
	kdri_json_int(j, "duplicate_names", s->duplicate_names);
	kdri_json_bool(j, "feature_names", kdr_data_features(data) != NULL);
	kdri_json_bool(j, "row_names", kdr_data_ids(data) != NULL);
	kdri_json_int(j, "classes", kdr_data_labels(data) ? nclasses : 0);
	if (kdr_data_text_note(data)) {
		kdri_json_string(j, "texts", kdr_data_text_note(data));
		kdri_json_int(j, "words", count_words(data));
	}
	json_columns(j, data);
}

static void print_task(kdri_json *none, kdr_data *data, const kdr_inspection *s, const hints *h)
{
	(void)none;
	kdr_mat x = kdr_data_mat(data);
	int64_t nclasses;
	kdr_data_classes(data, &nclasses);
	cli_printf("%s (%s)\n", kdr_data_name(data), kdr_data_path(data));
	cli_printf("  %s x %s, %s, %s (%.3g %%)\n", cli_count(s->rows, "sample"),
	           cli_count(s->cols, "feature"), x.kind == KDR_MAT_CSR ? "sparse" : "dense",
	           cli_count(s->nonzeros, "non-zero value"), 100 * density(s));
	cli_printf("  values from %g to %g, %s\n", s->min, s->max,
	           s->integers ? "all whole numbers" : "real numbers");
	if (kind_of(h, data) == KDR_DATA_EMBEDDINGS)
		cli_printf("  appear to be embeddings: samples are compared by cosine\n");
	if (kdr_data_text_note(data))
		cli_printf("  %s, %s, of which %lld different\n  %s\n", cli_count(s->rows, "text"),
		           cli_count(count_words(data), "word"), (long long)s->cols,
		           kdr_data_text_note(data));
	cli_printf("  features %s, rows %s", kdr_data_features(data) ? "named" : "without names",
	           kdr_data_ids(data) ? "named" : "without names");
	if (kdr_data_labels(data))
		cli_printf("; %s", cli_count(nclasses, "known class"));
	cli_printf("\n");
}

/* Prints what was found, to a JSON text or, if that is NULL, to standard output. */
static void put_all(kdri_json *j, kdr_data **data, const kdr_inspection *s, kdr_findings **found, int count,
                    const hints *h)
{
	for (int i = 0; i < count; i++) {
		problems p = { .json = j };
		if (j)
			kdri_json_object(j, NULL);
		if (data[i]) /* else it cannot be read */
			(j ? json_task : print_task)(j, data[i], &s[i], h);
		if (j)
			kdri_json_array(j, "problems");
		put_findings(&p, found[i]);
		if (data[i])
			put_problems(&p, data[i], &s[i]);
		if (j) {
			kdri_json_end_array(j);
			kdri_json_end_object(j);
		} else {
			cli_printf(data[i] && p.count == 0 ? "  no problems found\n\n" : "\n");
		}
	}
	if (j) {
		kdri_json_end_array(j);
		kdri_json_array(j, "pairs");
	}
	for (int b = 1; b < count; b++)
		for (int a = 0; a < b && data[b]; a++)
			if (data[a])
				put_pair(j, h, data[a], data[b]);
	if (j) {
		kdri_json_end_array(j);
		kdri_json_array(j, "hints");
	}
	for (int i = 0; i < h->count; i++)
		if (j)
			kdri_json_string(j, NULL, h->lines[i]);
		else
			cli_printf("%s\n", h->lines[i]);
}

/* Whether a second reading would find nothing: standard input, pipes, FIFOs. */
static bool comes_once(const char *path)
{
	kdri_file info;
	return strcmp(path, "-") == 0 || (kdri_file_at(path, &info) && !info.regular && !info.folder);
}

/* Reads and looks at one file. What is odd about its text is listed even where that keeps it from being read. */
static void look_at(kdr_context *ctx, const char *path, const kdr_read_options *reading, kdr_data **data,
                    kdr_inspection *s, kdr_findings **found)
{
	const kdr_finding *x;
	if (!comes_once(path))
		cli_check_reading(kdr_inspect_file(ctx, path, reading, found));
	const kdr_status st = kdr_read(ctx, path, reading, data);
	for (int64_t i = 0; st != KDR_OK && (x = kdr_findings_at(*found, i)); i++)
		if (x->fatal) /* the list has the reason, and more */
			return;
	cli_check_reading(st);
	cli_check_reading(kdr_inspect(ctx, *data, s));
}

static void inspect_run(cli_run *run)
{
	const int count = cli_positional_count(run->args);
	kdr_read_options reading;
	if (count == 0)
		cli_usage_error("inspect needs at least one data file");
	cli_session_open(run);
	cli_session_limit(run->ctx);
	run->tasks.count = count;
	kdr_data **data = run->tasks.data = cli_new((size_t)count, sizeof(kdr_data *));
	kdr_inspection *s = cli_new((size_t)count, sizeof *s);
	kdr_findings **found = cli_new((size_t)count, sizeof(kdr_findings *));
	const kdr_task_path *list = cli_positional_tasks(run->args);
	cli_reading(run->args, &reading);
	reading.texts = cli_text_settings(run->args);
	reading.keep_nonfinite = true;
	reading.may_lack_columns = count > 1;
	for (int i = 0; i < count; i++) {
		reading.name = list[i].name;
		look_at(run->ctx, list[i].path, &reading, &data[i], &s[i], &found[i]);
	}
	hints h = { .ctx = run->ctx };
	find_hints(data, count, &h);
	kdri_json j = { 0 };
	if (cli_flag(run->args, "json")) {
		kdri_json_object(&j, NULL);
		kdri_json_array(&j, "tasks");
		put_all(&j, data, s, found, count, &h);
		kdri_json_end_array(&j);
		kdri_json_end_object(&j);
		cli_print_json(&j);
	} else {
		put_all(NULL, data, s, found, count, &h);
	}
	for (int i = 0; i < count; i++)
		kdr_findings_free(found[i]);
	for (int i = 0; i < count; i++)
		if (!data[i]) {
			fflush(stdout);
			cli_stop(EXIT_DATA, "%s cannot be read; fix the problems marked with !",
			         cli_positional(run->args, i));
		}
}

cli_command cli_inspect = {
	.name = "inspect",
	.usage = "[--json] TASK...",
	.summary = "show what data files contain, and list problems",
	.description =
	        "Prints the shape, density and value range of each data set, and lists everything that could spoil a "
	        "result, with what kindred does about it: empty or constant rows and columns, repeated rows, values that "
	        "are not finite, and repeated names. Problems marked with ! are errors.\n\n"
	        "Text tables are read to the end, and every problem is listed with the option that helps. For AnnData "
	        "files, the columns of obs are listed too.\n\n"
	        "For texts (a folder, or --text-column), prints the number of texts and words, the language, and how the "
	        "words are counted.\n\n"
	        "For several data sets, prints how their features match, and names columns that probably have the same "
	        "meaning but do not match: different spellings of a name, different units, or different words for yes and "
	        "no.",
	.example = "kindred inspect cornell.mtx texas.mtx",
	.groups = { { "Options", own_options },
	            { "Input files", cli_reading_options },
	            CLI_TEXT_GROUPS,
	            CLI_COMMON },
	.completes_files = true,
	.run = inspect_run,
};
