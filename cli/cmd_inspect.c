/* kindred inspect. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_FLAG("json", "print JSON"),
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Input files", cli_reading_options },
	CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* Something odd, and what the commands would do about it. */
typedef struct finding {
	char what[256];
	const char *then;
	bool fatal; /* fitting would refuse the data */
} finding;

enum { MOST_FINDINGS = 12 };

/* Adds what `format` describes. */
KDR_PRINTF(5, 6)
static void inspect_add(finding *f, int *count, const char *then, bool fatal, const char *format, ...)
{
	finding *new = &f[(*count)++];
	va_list args;
	new->then = then;
	new->fatal = fatal;
	va_start(args, format);
	vsnprintf(new->what, sizeof new->what, format, args);
	va_end(args);
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

/* "s are", or " is" for one. */
static const char *are(int64_t count)
{
	return count == 1 ? " is" : "s are";
}

static int find_problems(const kdr_data *data, const kdr_inspection *s, finding *f)
{
	int n = 0;
	if (strstr(kdr_data_path(data), ".h5ad")) /* methods for cells need to know */
		inspect_add(
		        f, &n,
		        are_counts(s)
		                ? "normalised for every method unless --weight is given; use --weight none to turn this off"
		                : "used unchanged; if a layer has the counts, use FILE.h5ad:layers/NAME",
		        false, are_counts(s) ? "the values are counts" : "the values are not counts");
	if (s->nonfinite > holes_of(data))
		inspect_add(f, &n, "error: fix the file, or use --missing for empty cells in CSV files", true,
		            "%lld value%s NaN or infinite, the first in row %lld, column %lld",
		            (long long)s->nonfinite, are(s->nonfinite), (long long)s->bad_row + 1,
		            (long long)s->bad_col + 1);
	if (s->duplicate_names)
		inspect_add(f, &n,
		            "error if data sets are aligned by name; use --features position to ignore names",
		            true, "%lld feature name%s occur%s more than once", (long long)s->duplicate_names,
		            CLI_S(s->duplicate_names), s->duplicate_names == 1 ? "s" : "");
	if (s->empty_rows)
		inspect_add(f, &n, "kept; texts and sparse rows without content get no label", false,
		            kdr_data_text_note(data) ? "%lld text%s empty, or without any of the words"
		                                     : "%lld row%s empty (all zeros)",
		            (long long)s->empty_rows, are(s->empty_rows));
	if (s->empty_cols)
		inspect_add(f, &n, "kept; empty columns have no influence. Use --top-features to remove them",
		            false, "%lld column%s empty (all zeros)", (long long)s->empty_cols,
		            are(s->empty_cols));
	if (s->constant_cols > s->empty_cols)
		inspect_add(f, &n, "kept; --scale standard sets constant columns to zero", false,
		            "%lld column%s constant", (long long)(s->constant_cols - s->empty_cols),
		            are(s->constant_cols - s->empty_cols));
	if (s->duplicate_rows)
		inspect_add(f, &n, "kept; repeated rows count separately", false,
		            "%lld row%s identical to an earlier row", (long long)s->duplicate_rows,
		            are(s->duplicate_rows));
	if (s->negatives)
		inspect_add(f, &n,
		            "allowed; but --weight log1p, cpm and tfidf and some methods need values >= 0",
		            false, "%lld value%s negative", (long long)s->negatives, are(s->negatives));
	return n;
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
	const char **copy = kdr_data_features(data) ? malloc((size_t)n * sizeof *copy) : NULL;
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
	char **lines;
	int count;
	kdr_context *ctx;
} hints;

static kdr_data_kind kind_of(const hints *h, kdr_data *data)
{
	kdr_recipe recipe;
	return kdr_recipe_find(h->ctx, &data, 1, &recipe) == KDR_OK ? recipe.kind : KDR_DATA_UNKNOWN;
}

/* What the default alignment would do with a pair of tasks. */
static void pair_text(const hints *h, kdr_data *a, kdr_data *b, char *out, size_t room)
{
	kdr_mat x = kdr_data_mat(a), y = kdr_data_mat(b);
	int64_t n = kdr_mat_cols(&x), m = kdr_mat_cols(&y);
	const char **p = sorted_names(a), **q = sorted_names(b);
	if (p && q) {
		int64_t shared = shared_names(p, n, q, m);
		const bool texts = kdr_data_text_note(a) && kdr_data_text_note(b);
		const bool tables = kind_of(h, a) == KDR_DATA_UNITS && kind_of(h, b) == KDR_DATA_UNITS;
		if (texts)
			snprintf(out, room, "%lld word%s in common (of %lld and %lld)", (long long)shared,
			         CLI_S(shared), (long long)n, (long long)m);
		else
			snprintf(
			        out, room, "%lld feature name%s in common (of %lld and %lld): %s",
			        (long long)shared, CLI_S(shared), (long long)n, (long long)m,
			        shared == n && n == m ? "columns are matched by name"
			        : shared > 0
			                ? tables ? "columns are matched by name; others are missing values (cluster) or skipped (transfer)"
			                         : "columns are matched by name, and missing columns are filled with zeros"
			                : "use --features position to match columns by position");
	} else {
		snprintf(out, room, "%lld and %lld columns, not all of them with names: %s", (long long)n,
		         (long long)m,
		         n == m ? "columns are matched by position" : "error: they cannot be aligned");
	}
	free(p);
	free(q);
}

static int keep_hint(void *user, const kdr_event *e)
{
	hints *h = user;
	if (e->kind != KDR_EVENT_MESSAGE || strncmp(e->message, "column", 6) != 0)
		return 0;
	char **longer = realloc(h->lines, (size_t)(h->count + 1) * sizeof *longer);
	if (longer) {
		h->lines = longer;
		if ((h->lines[h->count] = strdup(e->message)))
			h->count++;
	}
	return 0;
}

/* Aligns views of the data sets, which reports them. Data that cannot be aligned have none, and alignment may copy large ones. */
static void find_hints(kdr_data **data, int count, hints *out)
{
	enum { VALUES_MOST = 20 * 1000 * 1000 };
	kdr_context *own = NULL;
	kdr_data **views = calloc((size_t)count, sizeof *views);
	double values = 0;
	int n = 0;
	for (int i = 0; i < count; i++) {
		kdr_mat x = kdr_data_mat(data[i]);
		values += (double)kdr_mat_rows(&x) * (double)kdr_mat_cols(&x);
	}
	if (count > 1 && views && values < VALUES_MOST && kdr_context_new(&own, NULL) == KDR_OK) {
		kdr_context_set_progress(own, keep_hint, out);
		for (int i = 0; i < count; i++)
			n += data[i] && kdr_data_view(own, data[i], NULL, &views[n]) == KDR_OK;
		if (n > 1)
			(void)kdr_prepare(own, views, n, NULL, NULL);
	}
	for (int i = 0; i < n; i++)
		kdr_data_free(views[i]);
	free(views);
	kdr_context_free(own);
}

static void hints_free(hints *h)
{
	for (int i = 0; i < h->count; i++)
		free(h->lines[i]);
	free(h->lines);
}

/* --- output ----------------------------------------------------------------------------------------------
 */

static void json_finding(kdri_json *j, const char *found, const char *then, bool fatal, int64_t line)
{
	kdri_json_object(j, NULL);
	kdri_json_string(j, "found", found);
	kdri_json_string(j, "then", then);
	kdri_json_bool(j, "fatal", fatal);
	if (line > 0)
		kdri_json_int(j, "line", line);
	kdri_json_end_object(j);
}

/* What is odd about the text of a table; problems of the matrix follow. */
static void json_findings(kdri_json *j, const kdr_findings *found)
{
	const kdr_finding *x;
	for (int64_t i = 0; (x = kdr_findings_at(found, i)); i++)
		json_finding(j, x->found, x->then, x->fatal, x->line);
}

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

static void json_task(kdri_json *j, kdr_data *data, const kdr_inspection *s, const kdr_findings *found,
                      const hints *h)
{
	finding f[MOST_FINDINGS];
	int count = find_problems(data, s, f);
	kdr_mat x = kdr_data_mat(data);
	int64_t nclasses;
	kdr_data_classes(data, &nclasses);
	kdri_json_object(j, NULL);
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
	kdri_json_array(j, "problems");
	json_findings(j, found);
	for (int i = 0; i < count; i++)
		json_finding(j, f[i].what, f[i].then, f[i].fatal, 0);
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static void inspect_print_json(kdr_data **data, const kdr_inspection *s, kdr_findings **found, int count,
                               const hints *h)
{
	kdri_json j = { 0 };
	kdri_json_object(&j, NULL);
	kdri_json_array(&j, "tasks");
	for (int i = 0; i < count; i++)
		if (data[i]) {
			json_task(&j, data[i], &s[i], found[i], h);
		} else {
			kdri_json_object(&j, NULL);
			kdri_json_array(&j, "problems");
			json_findings(&j, found[i]);
			kdri_json_end_array(&j);
			kdri_json_end_object(&j);
		}
	kdri_json_end_array(&j);
	kdri_json_array(&j, "pairs");
	for (int b = 1; b < count; b++)
		for (int a = 0; a < b && data[b]; a++) {
			char text[256];
			if (!data[a])
				continue;
			pair_text(h, data[a], data[b], text, sizeof text);
			kdri_json_object(&j, NULL);
			kdri_json_string(&j, "from", kdr_data_name(data[a]));
			kdri_json_string(&j, "to", kdr_data_name(data[b]));
			kdri_json_string(&j, "found", text);
			kdri_json_end_object(&j);
		}
	kdri_json_end_array(&j);
	kdri_json_array(&j, "hints");
	for (int i = 0; i < h->count; i++)
		kdri_json_string(&j, NULL, h->lines[i]);
	kdri_json_end_array(&j);
	kdri_json_end_object(&j);
	cli_print_json(&j);
}

static void print_findings(const kdr_findings *found)
{
	const kdr_finding *x;
	for (int64_t i = 0; (x = kdr_findings_at(found, i)); i++)
		cli_printf("  %s %s\n      -> %s\n", x->fatal ? "!" : "-", x->found, x->then);
}

static void print_task(kdr_data *data, const kdr_inspection *s, const kdr_findings *found, const hints *h)
{
	finding f[MOST_FINDINGS];
	int count = find_problems(data, s, f);
	kdr_mat x = kdr_data_mat(data);
	int64_t nclasses;
	kdr_data_classes(data, &nclasses);
	cli_printf("%s (%s)\n", kdr_data_name(data), kdr_data_path(data));
	cli_printf("  %lld sample%s x %lld feature%s, %s, %lld non-zero value%s (%.3g %%)\n",
	           (long long)s->rows, CLI_S(s->rows), (long long)s->cols, CLI_S(s->cols),
	           x.kind == KDR_MAT_CSR ? "sparse" : "dense", (long long)s->nonzeros, CLI_S(s->nonzeros),
	           100 * density(s));
	cli_printf("  values from %g to %g, %s\n", s->min, s->max,
	           s->integers ? "all whole numbers" : "real numbers");
	if (kind_of(h, data) == KDR_DATA_EMBEDDINGS)
		cli_printf("  appear to be embeddings: samples are compared by cosine\n");
	if (kdr_data_text_note(data))
		cli_printf("  %lld text%s, %lld word%s, of which %lld different\n  %s\n", (long long)s->rows,
		           CLI_S(s->rows), (long long)count_words(data), CLI_S(count_words(data)),
		           (long long)s->cols, kdr_data_text_note(data));
	cli_printf("  features %s, rows %s", kdr_data_features(data) ? "named" : "without names",
	           kdr_data_ids(data) ? "named" : "without names");
	if (kdr_data_labels(data))
		cli_printf("; %lld known class%s", (long long)nclasses, CLI_ES(nclasses));
	cli_printf("\n");
	print_findings(found);
	for (int i = 0; i < count; i++)
		cli_printf("  %s %s\n      -> %s\n", f[i].fatal ? "!" : "-", f[i].what, f[i].then);
	if (count == 0 && !kdr_findings_at(found, 0))
		cli_printf("  no problems found\n");
}

static void inspect_print_text(kdr_data **data, const kdr_inspection *s, kdr_findings **found, int count,
                               const hints *h)
{
	for (int i = 0; i < count; i++) {
		if (data[i])
			print_task(data[i], &s[i], found[i], h);
		else
			print_findings(found[i]); /* of a file that cannot be read */
		putchar('\n');
	}
	for (int b = 1; b < count; b++)
		for (int a = 0; a < b && data[b]; a++) {
			char text[256];
			if (!data[a])
				continue;
			pair_text(h, data[a], data[b], text, sizeof text);
			cli_printf("%s, %s: %s\n", kdr_data_name(data[a]), kdr_data_name(data[b]), text);
		}
	for (int i = 0; i < h->count; i++)
		cli_printf("%s\n", h->lines[i]);
}

/* Whether a second reading would find nothing: standard input, pipes, FIFOs. */
static bool comes_once(const char *path)
{
	kdri_file info;
	return strcmp(path, "-") == 0 || (kdri_file_at(path, &info) && !info.regular && !info.folder);
}

/* Reads and looks at one file. What is odd about its text is listed even where that keeps it from being read. */
static int look_at(kdr_context *ctx, const char *path, const kdr_read_options *reading, kdr_data **data,
                   kdr_inspection *s, kdr_findings **found)
{
	kdr_status st = KDR_OK;
	if (!comes_once(path))
		st = kdr_inspect_file(ctx, path, reading, found);
	if (st == KDR_OK) {
		st = kdr_read(ctx, path, reading, data);
		const kdr_finding *x;
		for (int64_t i = 0; st != KDR_OK && (x = kdr_findings_at(*found, i)); i++)
			if (x->fatal) /* the list has the reason, and more */
				return EXIT_DONE;
	}
	if (st == KDR_OK)
		st = kdr_inspect(ctx, *data, s);
	return cli_code_reading(ctx, st);
}

static int inspect_run(cli_args *args)
{
	int code = EXIT_DONE, count = cli_positional_count(args);
	kdr_read_options reading;
	if (count == 0)
		return cli_usage_error("inspect needs at least one data file");
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	kdr_data **data = calloc((size_t)count, sizeof(kdr_data *));
	kdr_inspection *s = calloc((size_t)count, sizeof *s);
	kdr_findings **found = calloc((size_t)count, sizeof(kdr_findings *));
	if (!data || !s || !found)
		code = cli_no_memory();
	cli_reading(args, &reading);
	char *texts = cli_text_settings(args);
	if (!texts && code == EXIT_DONE)
		code = EXIT_USAGE;
	reading.texts = texts;
	reading.keep_nonfinite = true;
	reading.may_lack_columns = count > 1;
	for (int i = 0; i < count && code == EXIT_DONE; i++) {
		char name[256];
		const char *path;
		cli_task_split(cli_positional(args, i), name, sizeof name, &path);
		reading.name = name[0] ? name : strcmp(path, "-") == 0 ? "stdin" : NULL;
		code = look_at(ctx, path, &reading, &data[i], &s[i], &found[i]);
	}
	if (code == EXIT_DONE) {
		hints h = { .ctx = ctx };
		find_hints(data, count, &h);
		(cli_flag(args, "json") ? inspect_print_json : inspect_print_text)(data, s, found, count, &h);
		hints_free(&h);
		for (int i = 0; i < count && code == EXIT_DONE; i++)
			if (!data[i]) {
				fflush(stdout);
				code = cli_fail_with(EXIT_DATA,
				                     "%s cannot be read; fix the problems marked with !",
				                     cli_positional(args, i));
			}
	}
	for (int i = 0; i < count; i++) {
		kdr_data_free(data ? data[i] : NULL);
		kdr_findings_free(found ? found[i] : NULL);
	}
	free(data);
	free(s);
	free(found);
	free(texts);
	return cli_session_close(ctx, code);
}

const cli_command cli_inspect = {
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
	.groups = groups,
	.completes_files = true,
	.run = inspect_run,
};
