/* Reading and writing files: choice of the format. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include "core/system.h"
#include "io/binary.h"
#include "io/io.h"
#include "io/table/table.h"

/* The last part of the path of a folder: "data/a.b/" -> "a.b". */
static kdr_status folder_name(kdr_context *ctx, const char *path, char **out)
{
	size_t end = strlen(path), begin;
	while (end > 1 && kdri_is_separator(path[end - 1]))
		end--;
	for (begin = end; begin > 0 && !kdri_is_separator(path[begin - 1]); begin--)
		;
	return kdri_strndup(ctx, path + begin, end - begin, out);
}

/* A method needs about as much memory as its data in addition, and preprocessing may copy them; a compressed file
 * contains more than its size. */
enum { PARTS = 3, PACKED = 4, SMALL = 1 << 16 };

/* "csv, tsv, mtx, ...": the formats that can be read, or written. */
static void list_formats(bool write, char *list, size_t room)
{
	const kdri_format *f;
	list[0] = '\0';
	for (int64_t i = 0; (f = kdri_format_at(i)); i++)
		if (!write || f->write)
			kdri_list_add(list, room, "%s", f->id);
}

static kdr_status find_format(kdr_context *ctx, const char *id, const char *path, bool write,
                              const kdri_format **out)
{
	kdr_status st = KDR_OK;
	kdri_input *in = NULL;
	char list[200];
	const kdri_format *f = kdri_format_find(id, path);
	list_formats(write, list, sizeof list);
	if (f && (!write || f->write)) {
		*out = f;
		return st;
	}
	if (f)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED, "%s: format %s cannot be written; use one of: %s",
		                 path, f->id, list);
	if (id)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: unknown format '%s'; use one of: %s", path, id,
		                 list);
	if (strcmp(path, "-") == 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "standard %s: specify the format with %s, one of: %s",
		                 write ? "output" : "input", write ? "--to" : "--format", list);
	kdri_file info;
	if (!write && kdri_file_at(path, &info) && info.folder)
		return kdri_fail(
		        ctx, KDR_ERR_READ,
		        "%s: is a directory without matrix.mtx (10x Genomics); a data file is needed", path);
	/* A missing file is reported as such. */
	if (!write)
		KDRI_TRY(kdri_input_open(ctx, path, &in));
	const char *elsewhere = kdri_format_elsewhere(path);
	if (elsewhere)
		KDRI_FAIL(ctx, KDR_ERR_UNSUPPORTED, "%s: %s files cannot be %s; %s%s", path, elsewhere,
		          write ? "written" : "read", write ? "use one of: " : "",
		          write ? list
		                : "save it as CSV or .npz first, such as with pandas: "
		                  "read_parquet, read_feather, read_excel, then to_csv(index=False)");
	st = kdri_fail(ctx, write ? KDR_ERR_ARGUMENT : KDR_ERR_FORMAT,
	               "%s: unknown format; specify it with %s (one of: %s)", path,
	               write ? "--to" : "--format", list);
done:
	kdri_input_close(ctx, in);
	return st;
}

/* The lines of the file `name` with `ending` in the folder of `path`, if it has `want` of them. The file is optional:
 * one that does not match or cannot be read is ignored. */
static kdr_status attach_lines(kdr_context *ctx, const char *path, const char *name, const char *ending,
                               int64_t want, char ***out)
{
	kdr_status st;
	int folder = (int)kdri_folder_length(path);
	size_t room = (size_t)folder + strlen(name) + strlen(ending) + 1;
	char *beside = NULL, **lines = NULL;
	int64_t count = 0;
	if (*out)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &beside, (int64_t)room));
	snprintf(beside, room, "%.*s%s%s", folder, path, name, ending);
	if (!kdri_exists(beside))
		goto done;
	st = kdri_lines_read(ctx, beside, want, &lines, &count);
	if (st != KDR_OK && st != KDR_ERR_MEMORY) {
		st = KDR_OK;
		ctx->error[0] = '\0';
	} else if (st == KDR_OK && count == want) {
		*out = lines;
		lines = NULL;
	}
done:
	kdri_strings_free(&ctx->allocator, lines, count);
	kdri_free(ctx, beside);
	return st;
}

/* One line per row of the file; keeps those of the rows that were read. */
static kdr_status attach_rows(kdr_context *ctx, const char *path, const char *name, const char *ending,
                              const kdr_data *data, char ***out)
{
	bool before = *out != NULL;
	kdr_status st =
	        attach_lines(ctx, path, name, ending, data->origin ? data->file_rows : data->rows, out);
	if (!before)
		kdri_range_keep(ctx, data, *out);
	return st;
}

/* Names of columns and rows, and first words of texts, from files in the same folder. */
static kdr_status attach_names(kdr_context *ctx, const char *path, kdr_data *data)
{
	kdr_status st;
	char *stem = NULL;
	KDRI_TRY(kdri_path_stem(ctx, path, &stem));
	KDRI_TRY(attach_lines(ctx, path, "features.txt", "", data->cols, &data->features));
	KDRI_TRY(attach_rows(ctx, path, stem, ".ids", data, &data->ids));
	KDRI_TRY(attach_rows(ctx, path, stem, ".excerpts", data, &data->excerpts));
done:
	kdri_free(ctx, stem);
	return st;
}

static kdr_status check_parts(kdr_context *ctx, const char *path, const kdri_format *format,
                              const kdr_read_options *o)
{
	char list[100];
	const kdri_format *f;
	if (o->parts == 0 && o->part == 0)
		return KDR_OK;
	if (o->parts < 0 || o->part < 0 || o->part >= KDRI_MAX(o->parts, 1))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: part %lld of %lld does not exist; use 0 to %lld",
		                 path, (long long)o->part, (long long)o->parts,
		                 (long long)KDRI_MAX(o->parts, 1) - 1);
	list[0] = '\0';
	for (int64_t i = 0; (f = kdri_format_at(i)); i++)
		if (f->parts)
			kdri_list_add(list, sizeof list, "%s", f->id);
	if (!format->parts || o->transpose || (!format->columns && (o->label_column || o->task_column)))
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: format %s cannot be read in parts with these options; formats that can are %s (label and task columns: h5ad only); or give each process its own file",
		        path, format->id, list);
	return KDR_OK;
}

double kdri_file_bytes(const char *path)
{
	static const char *const packed[] = { ".gz", ".h5", ".h5ad", ".hdf5", ".npz", ".mat", ".xlsx" };
	kdri_file info;
	if (!kdri_file_at(path, &info) || !info.regular)
		return 0;
	double size = (double)info.bytes;
	for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
		if (kdri_ends_with(path, packed[i]))
			size *= PACKED;
	return size;
}

bool kdri_streams(const kdr_context *ctx, kdr_stream wanted, double bytes)
{
	if (wanted != KDR_STREAM_BY_SIZE)
		return wanted == KDR_STREAM_YES;
	return bytes > SMALL && PARTS * bytes > kdri_memory_free(ctx);
}

static kdr_status read_format(kdr_context *ctx, const kdri_format *format, const char *path,
                              const kdr_read_options *options, kdr_data *data)
{
	kdr_status st;
	kdri_input *in = NULL;
	if (format->read)
		return format->read(ctx, path, options, data);
	if (options->memory)
		KDRI_TRY(kdri_input_from_memory(ctx, options->memory, options->memory_bytes, path, &in));
	else
		KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(format->parse(ctx, in, options, data));
done:
	kdri_input_close(ctx, in);
	return st;
}

kdr_status kdri_read(kdr_context *ctx, const char *path, const kdr_read_options *options, kdr_data **out)
{
	kdr_read_options own;
	kdr_status st;
	kdr_data *data = NULL;
	char *stem = NULL, *file = NULL, *member = NULL;
	kdri_named named = { 0 };
	bool stream = false, alone = !ctx->named; /* no other file is read with it */
	double start = kdri_now();
	const kdri_format *format;
	kdri_stage_start(ctx, "read", 0);
	KDRI_TRY(KDRI_TAKE(ctx, kdr_read_options, options, &own));
	options = &own;
	if (alone)
		KDRI_TRY(kdri_named_begin(ctx, options, options->may_lack_columns, &named));
	if (options->transpose && (options->label_column || options->task_column))
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: transposed data cannot have a label column or task column", path);
	KDRI_TRY(find_format(ctx,
	                     options->format   ? options->format
	                     : options->memory ? "csv"
	                                       : NULL,
	                     path, false, &format));
	if (options->memory && format->read)
		KDRI_FAIL(ctx, KDR_ERR_UNSUPPORTED,
		          "%s: format %s cannot be read from memory; csv and tsv can", path, format->id);
	KDRI_TRY(check_parts(ctx, path, format, options));
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	kdri_file info = { 0 };
	if (!options->memory && kdri_file_at(file, &info) && info.regular && info.bytes == 0)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: the file is empty", path);
	if (!options->name)
		KDRI_TRY(info.folder ? folder_name(ctx, file, &stem) : kdri_path_stem(ctx, file, &stem));
	stream = kdri_streams(ctx, options->stream,
	                      options->memory ? (double)options->memory_bytes : kdri_file_bytes(file));
	if (stream)
		kdri_spool_begin(ctx, true);
	KDRI_TRY(
	        kdri_data_new(ctx, options->name ? options->name : stem, options->memory ? "" : path, &data));
	data->streamed = stream;
	KDRI_TRY(read_format(ctx, format, path, options, data));
	if (options->task_column && !data->groups.of)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: format %s has no task column '%s'; only tables and AnnData can have one", path,
		          format->id, options->task_column);
	if (options->transpose)
		KDRI_TRY(kdri_data_transpose(ctx, data));
	else if (format == &kdri_format_mtx && kdri_beside_tenx(path))
		kdri_warning(
		        ctx,
		        "%s: appears to be transposed, because barcodes.tsv in the same folder implies that cells are columns; give the folder, or use --format '10x'",
		        path);
	if (strcmp(path, "-") != 0 && !options->memory)
		KDRI_TRY(attach_names(ctx, file, data));
	if (data->features && (!data->sheet || options->transpose)) /* the reader of tables has done it */
		KDRI_TRY(kdri_named_rename(ctx, path, data->features, data->cols));
	if (alone && !options->may_lack_columns)
		KDRI_TRY(kdri_named_check(ctx, options, &data, 1));
	data->seconds = kdri_now() - start;
	*out = data;
	data = NULL;
done:
	if (stream)
		kdri_spool_begin(ctx, false);
	if (alone)
		kdri_named_end(ctx, &named);
	kdri_stage_end(ctx, "read");
	KDRI_FREE(ctx, stem, file, member);
	kdr_data_free(data);
	return st;
}

kdr_status kdri_sheet_paths(kdr_context *ctx, const char *path, const kdr_read_options *o, char ***out,
                            int64_t *count)
{
	kdr_status st = KDR_OK;
	char *file = NULL, *member = NULL, *text = NULL, **names = NULL, **paths = NULL;
	int64_t n = 0, made = 0;
	const bool book = o->sheet && !o->memory && kdri_format_find(o->format, path) == &kdri_format_xlsx;
	if (book)
		KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	if (book && !member && strcmp(o->sheet, "all") == 0)
		KDRI_TRY(kdri_xlsx_sheets(ctx, file, &names, &n));
	else if (book && !member)
		KDRI_TRY(kdri_strings_append(ctx, &names, &n, o->sheet));
	for (int64_t i = 0; i < n; i++) {
		const size_t room = strlen(path) + strlen(names[i]) + 2;
		KDRI_TRY(KDRI_NEW(ctx, &text, (int64_t)room));
		snprintf(text, room, "%s:%s", path, names[i]);
		KDRI_TRY(kdri_strings_append(ctx, &paths, &made, text));
		kdri_free(ctx, text);
		text = NULL;
	}
	if (n == 0)
		KDRI_TRY(kdri_strings_append(ctx, &paths, &made, path));
	*out = paths;
	*count = made;
	paths = NULL;
done:
	kdri_strings_free(&ctx->allocator, names, n);
	kdri_strings_free(&ctx->allocator, paths, made);
	KDRI_FREE(ctx, file, member, text);
	return st;
}

kdr_status kdri_sheet_path(kdr_context *ctx, const char *path, const kdr_read_options *o, char **out)
{
	kdr_status st;
	char **paths = NULL;
	int64_t n = 0;
	KDRI_TRY(kdri_sheet_paths(ctx, path, o, &paths, &n));
	if (n != 1)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: has %lld sheets, but one is needed here; name it with --sheet", path,
		          (long long)n);
	*out = paths[0];
	paths[0] = NULL;
done:
	kdri_strings_free(&ctx->allocator, paths, n);
	return st;
}

kdr_status kdr_inspect_file(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_findings **out)
{
	kdr_status st;
	kdr_findings *found = NULL;
	kdri_named named = { 0 };
	kdr_read_options own;
	char *sheet = NULL;
	KDRI_NEED(ctx, path && out);
	KDRI_TRY(KDRI_TAKE(ctx, kdr_read_options, options, &own));
	KDRI_TRY(kdri_sheet_path(ctx, path, &own, &sheet));
	path = sheet;
	const kdri_format *format = kdri_format_find(own.format, path);
	KDRI_TRY(KDRI_NEW0(ctx, &found, 1));
	found->allocator = ctx->allocator;
	KDRI_TRY(kdri_named_begin(ctx, &own, own.may_lack_columns, &named));
	if (format && format->inspect && !own.text_column)
		KDRI_TRY(format->inspect(ctx, path, &own, found));
	*out = found;
	found = NULL;
done:
	if (ctx->named == &named)
		kdri_named_end(ctx, &named);
	kdr_findings_free(found);
	kdri_free(ctx, sheet);
	return st;
}

kdr_status kdr_write(kdr_context *ctx, const char *path, const char *format, const kdr_data *data, bool force)
{
	const kdri_format *f;
	KDRI_NEED(ctx, path && data);
	KDRI_DO(find_format(ctx, format, path, true, &f));
	return f->write(ctx, path, data, force);
}
