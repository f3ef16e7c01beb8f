/* kindred convert. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_VALUE("from", "FORMAT", "format of IN, if its name does not show it"),
	CLI_VALUE("to", "FORMAT", "format of OUT, if its name does not show it"),
	CLI_FLAG("force", "replace existing files"),
	CLI_OPTIONS_END,
};

/* --from is this command's own name for --format. */
static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Input files", cli_reading_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* "dir/a.mtx.gz" with ".labels" -> "dir/a.labels"; with "features.txt" -> "dir/features.txt". */
static char *convert_beside(const char *path, const char *name)
{
	char *out = malloc(strlen(path) + strlen(name) + 2);
	if (!out)
		return NULL;
	strcpy(out, path);
	char *base = out + kdri_folder_length(out);
	if (name[0] != '.') {
		strcpy(base, name);
		return out;
	}
	size_t n = strlen(base);
	if (n > 3 && strcmp(base + n - 3, ".gz") == 0)
		base[n - 3] = '\0';
	char *dot = strrchr(base, '.');
	if (dot && dot != base)
		*dot = '\0';
	strcat(out, name);
	return out;
}

/* Whether the file holds just this text. */
static bool holds_already(const char *path, const char *text, size_t size)
{
	FILE *f = kdri_fopen(path);
	char *found = f ? malloc(size + 1) : NULL;
	bool same = found && fread(found, 1, size + 1, f) == size && memcmp(found, text, size) == 0;
	free(found);
	if (f)
		fclose(f);
	return same;
}

/* Writes one text per line to a file next to OUT, unless that file has them already: data sets converted one after another into
 * one folder share their features.txt. */
static int write_lines(kdr_context *ctx, const char *path, const char *const *texts, const int64_t *index,
                       int64_t count, bool force, bool *written)
{
	kdr_status st = KDR_OK;
	size_t room = 1, used = 0;
	for (int64_t i = 0; i < count; i++)
		room += (index && index[i] < 0 ? 1 : strlen(texts[index ? index[i] : i])) + 1;
	char *text = path ? malloc(room) : NULL;
	if (!text)
		return cli_no_memory();
	for (int64_t i = 0; i < count; i++)
		used += (size_t)sprintf(text + used, "%s\n",
		                        index && index[i] < 0 ? "?" : texts[index ? index[i] : i]);
	*written = !holds_already(path, text, used);
	if (*written && (st = kdr_write_check(ctx, path, force)) == KDR_OK)
		st = kdr_write_file(ctx, path, text, used, force);
	free(text);
	return cli_code(ctx, st);
}

/* What the format of OUT cannot store is written to files next to it, which are found again when OUT is read. */
enum { FEATURES, LABELS, BESIDE };
static const char *const beside[BESIDE] = { "features.txt", ".labels" };

static int write_names(kdr_context *ctx, const cli_args *args, const kdr_data *data, const char *out,
                       bool *written)
{
	const bool force = cli_flag(args, "force");
	unsigned holds = kdr_format_holds(cli_get(args, "to", NULL), out);
	kdr_mat x = kdr_data_mat(data);
	int64_t nclasses;
	const char *const *classes = kdr_data_classes(data, &nclasses), *const *features =
	                                                                        kdr_data_features(data);
	int code = EXIT_DONE;
	if (features && !(holds & KDR_HOLDS_FEATURES)) {
		char *path = convert_beside(out, beside[FEATURES]);
		code = write_lines(ctx, path, features, NULL, kdr_mat_cols(&x), force, &written[FEATURES]);
		free(path);
	}
	if (code == EXIT_DONE && kdr_data_labels(data) && !(holds & KDR_HOLDS_LABELS)) {
		char *path = convert_beside(out, beside[LABELS]);
		code = write_lines(ctx, path, classes, kdr_data_labels(data), kdr_mat_rows(&x), force,
		                   &written[LABELS]);
		free(path);
	}
	return code;
}

static void convert_print(const kdr_data *data, const char *out, const bool *written)
{
	kdr_mat x = kdr_data_mat(data);
	cli_printf("written: %s (%lld sample%s x %lld feature%s, %lld %svalue%s)\n", out,
	           (long long)kdr_mat_rows(&x), CLI_S(kdr_mat_rows(&x)), (long long)kdr_mat_cols(&x),
	           CLI_S(kdr_mat_cols(&x)), (long long)kdr_mat_nnz(&x),
	           x.kind == KDR_MAT_CSR ? "non-zero " : "", CLI_S(kdr_mat_nnz(&x)));
	for (int b = 0; b < BESIDE; b++) {
		char *path = written[b] ? convert_beside(out, beside[b]) : NULL;
		if (path)
			cli_printf("written: %s\n", path);
		free(path);
	}
}

/* All files appear together: a matrix never lies next to the names of another. */
static int convert_write(kdr_context *ctx, const cli_args *args, const kdr_data *data, const char *out,
                         bool *written)
{
	const bool force = cli_flag(args, "force");
	CLI_DO(cli_code(ctx, kdr_write_check(ctx, out, force)));
	CLI_DO(cli_code(ctx, kdr_outputs_begin(ctx, NULL)));
	CLI_DO(cli_code(ctx, kdr_write(ctx, out, cli_get(args, "to", NULL), data, force)));
	CLI_DO(write_names(ctx, args, data, out, written));
	return cli_code(ctx, kdr_outputs_end(ctx, KDR_OK));
}

static int convert_run(cli_args *args)
{
	kdr_data *data = NULL;
	kdr_read_options reading;
	bool written[BESIDE] = { false };
	const char *in = cli_positional(args, 0), *out = cli_positional(args, 1);
	if (cli_positional_count(args) != 2)
		return cli_usage_error("convert needs two files, IN and OUT (got %d)",
		                       cli_positional_count(args));
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	cli_reading(args, &reading);
	reading.format = cli_get(args, "from", reading.format);
	int code = cli_code_reading(ctx, kdr_read(ctx, in, &reading, &data));
	if (code == EXIT_DONE)
		code = convert_write(ctx, args, data, out, written);
	if (code == EXIT_DONE && !cli_quiet(args))
		convert_print(data, out, written);
	kdr_data_free(data);
	return cli_session_close(ctx, code);
}

const cli_command cli_convert = {
	.name = "convert",
	.usage = "[OPTION...] IN OUT",
	.summary = "convert a data file to another format",
	.description =
	        "Converts IN to the format of OUT. The file names show the formats (.csv .tsv .mtx .svm .npy .npz .h5 "
	        ".h5ad .mat, also with .gz "
	        "where usual); otherwise use --from and --to. Values are kept exactly. Feature "
	        "names and classes that the new format cannot store are written next to OUT, to features.txt and "
	        "<stem>.labels.",
	.example = "kindred convert measurements.csv measurements.npz\n"
	           "kindred convert --label-column species iris.csv iris.mtx",
	.groups = groups,
	.completes_files = true,
	.run = convert_run,
};
