/* Writes a generated task directly to disk. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows are generated, written and discarded, so that their number is not limited. Matrix Market requires the number
 * of entries before the first one: the rows of a sparse design are generated twice, which is cheaper than storing
 * them. */
#include "io/binary.h"
#include "jobs/generate/synth.h"

enum { ENTRY = 64 }; /* bytes that one printed entry needs at most: two integers, a number, separators */

/* Where rows go on their way out. */
typedef struct writer {
	kdr_generator *g;
	int64_t task, rows;
	double *values; /* a dense row, or the values of a sparse one */
	int32_t *cols;
	char *text;
	kdri_output *out;
} writer;

/* Reports progress from time to time; returns false (with the error set) on a request to stop. */
static kdr_status stream_advance(kdr_context *ctx, const writer *w, int64_t row)
{
	if (row % 4096 == 0 && kdri_iteration(ctx, "generate", row, w->rows, NAN))
		return kdri_fail(ctx, KDR_ERR_WRITE, "generate: stopped at row %lld of %lld", (long long)row,
		                 (long long)w->rows);
	return KDR_OK;
}

static kdr_status write_csv(kdr_context *ctx, writer *w)
{
	int64_t d = w->g->features, label;
	char name[64];
	int (*print)(const kdr_generator *, int64_t, int64_t, double, char *) = w->g->design->print_cell;
	for (int64_t j = 0; j < d; j++) {
		w->g->design->feature_name(w->g, w->task, j, name, sizeof name);
		KDRI_DO(kdri_output_printf(ctx, w->out, "%s%c", name, j + 1 < d ? ',' : '\n'));
	}
	for (int64_t i = 0; i < w->rows; i++) {
		size_t used = 0;
		KDRI_DO(stream_advance(ctx, w, i));
		KDRI_DO(kdri_generator_row(w->g, w->task, i, w->values, &label));
		for (int64_t j = 0; j < d; j++) {
			char *text = w->text + used;
			used += (size_t)(print ? print(w->g, w->task, j, w->values[j], text)
			                       : kdri_print_double(w->values[j], text));
			w->text[used++] = j + 1 < d ? ',' : '\n';
		}
		KDRI_DO(kdri_output_write(ctx, w->out, w->text, used));
	}
	return KDR_OK;
}

static kdr_status write_npy(kdr_context *ctx, writer *w)
{
	unsigned char header[KDRI_NPY_HEADER_ROOM];
	const int64_t shape[2] = { w->rows, w->g->features };
	int64_t label;
	KDRI_DO(kdri_output_write(ctx, w->out, header, kdri_npy_make_header("f8", 2, shape, header)));
	for (int64_t i = 0; i < w->rows; i++) {
		KDRI_DO(stream_advance(ctx, w, i));
		KDRI_DO(kdri_generator_row(w->g, w->task, i, w->values, &label));
		KDRI_DO(kdri_output_write(ctx, w->out, w->values, (size_t)shape[1] * sizeof *w->values));
	}
	return KDR_OK;
}

/* Row i as columns and values, whatever the design. */
static int64_t take_entries(const writer *w, int64_t i)
{
	int64_t nnz = 0, label;
	if (w->g->design->sparse_row) {
		kdri_generator_sparse_row(w->g, w->task, i, w->cols, w->values, &nnz, &label);
		return nnz;
	}
	kdri_generator_row(w->g, w->task, i, w->values, &label);
	for (int64_t j = 0; j < w->g->features; j++)
		if (w->values[j] != 0) {
			w->cols[nnz] = (int32_t)j;
			w->values[nnz++] = w->values[j];
		}
	return nnz;
}

static kdr_status write_mtx(kdr_context *ctx, writer *w)
{
	int64_t total = 0;
	for (int64_t i = 0; i < w->rows; i++) {
		KDRI_DO(stream_advance(ctx, w, i));
		total += take_entries(w, i);
	}
	KDRI_DO(kdri_output_printf(ctx, w->out,
	                           "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n",
	                           (long long)w->rows, (long long)w->g->features, (long long)total));
	for (int64_t i = 0; i < w->rows; i++) {
		size_t used = 0;
		KDRI_DO(stream_advance(ctx, w, i));
		int64_t nnz = take_entries(w, i);
		for (int64_t p = 0; p < nnz; p++) {
			used += (size_t)kdri_print_double((double)(i + 1), w->text + used);
			w->text[used++] = ' ';
			used += (size_t)kdri_print_double((double)(w->cols[p] + 1), w->text + used);
			w->text[used++] = ' ';
			used += (size_t)kdri_print_double(w->values[p], w->text + used);
			w->text[used++] = '\n';
		}
		KDRI_DO(kdri_output_write(ctx, w->out, w->text, used));
	}
	return KDR_OK;
}

static kdr_status write_classes(kdr_context *ctx, const writer *w, const char *path, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	for (int64_t i = 0; i < w->rows; i++)
		KDRI_TRY(kdri_output_printf(ctx, o, "c%lld\n", (long long)kdri_class_of(w->g, w->task, i)));
done:
	return kdri_output_finish(ctx, o, st);
}

kdr_status kdr_generator_write(kdr_context *ctx, kdr_generator *g, int64_t task, const char *path,
                               const char *labels_path, bool force)
{
	kdr_status st;
	KDRI_NEED(ctx, g && path);
	const kdri_format *format = kdri_format_find(NULL, path);
	kdr_status (*write)(kdr_context *, writer *) = format == &kdri_format_csv   ? write_csv
	                                               : format == &kdri_format_mtx ? write_mtx
	                                               : format == &kdri_format_npy ? write_npy
	                                                                            : NULL;
	if (!write)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: generated data can be written as .csv, .mtx or .npy", path);
	if (g->design->print_cell && write != write_csv)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: generated tables can be written as .csv only",
		                 path);
	if (task < 0 || task >= g->tasks)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "generate: data set %lld does not exist; there are %lld", (long long)task,
		                 (long long)g->tasks);
	writer w = { .g = g, .task = task, .rows = g->samples[task] };
	int64_t room = KDRI_MAX(g->features, g->most);
	kdri_stage_start(ctx, "generate", w.rows);
	KDRI_TRY(KDRI_NEW(ctx, &w.values, room));
	KDRI_TRY(KDRI_NEW(ctx, &w.cols, room));
	KDRI_TRY(kdri_alloc(ctx, &w.text, room, ENTRY));
	KDRI_TRY(kdri_output_open(ctx, path, force, &w.out));
	KDRI_TRY(write(ctx, &w));
	if (labels_path)
		KDRI_TRY(write_classes(ctx, &w, labels_path, force));
done:
	kdri_stage_end(ctx, "generate");
	KDRI_FREE(ctx, w.values, w.cols, w.text);
	return kdri_output_finish(ctx, w.out, st);
}

kdr_status kdr_generator_write_features(kdr_context *ctx, kdr_generator *g, const char *path, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	char name[64];
	KDRI_NEED(ctx, g && path);
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	for (int64_t j = 0; j < g->features; j++) {
		g->design->feature_name(g, 0, j, name, sizeof name);
		KDRI_TRY(kdri_output_printf(ctx, o, "%s\n", name));
	}
done:
	return kdri_output_finish(ctx, o, st);
}

kdr_status kdr_generate(kdr_context *ctx, const kdr_design *given, kdr_generator **out)
{
	kdr_design design;
	KDRI_NEED(ctx, given && out);
	kdr_status st = KDRI_TAKE(ctx, kdr_design, given, &design);
	if (st != KDR_OK)
		return st;
	switch (design.kind) {
	case KDR_DESIGN_BLOBS: return kdri_generate_blobs(ctx, &design, out);
	case KDR_DESIGN_TOPICS: return kdri_generate_topics(ctx, &design, out);
	case KDR_DESIGN_BERIKOV: return kdri_generate_berikov(ctx, &design, out);
	case KDR_DESIGN_TABLES: return kdri_generate_tables(ctx, &design, out);
	}
	return kdri_fail(ctx, KDR_ERR_ARGUMENT, "kdr_generate: %d is not one of kdr_design_kind",
	                 (int)design.kind);
}
