/* kindred convert. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <string.h>

static const cli_option own_options[] = {
	CLI_VALUE("from", "FORMAT", "format of IN, if its name does not show it"),
	CLI_VALUE("to", "FORMAT", "format of OUT, if its name does not show it"),
	CLI_FLAG("force", "replace existing files"),
	CLI_OPTIONS_END,
};

/* "dir/a.mtx.gz" with ".labels" -> "dir/a.labels"; with "features.txt" -> "dir/features.txt". */
static const char *convert_beside(const char *path, const char *name)
{
	char *out = strcpy(cli_new(strlen(path) + strlen(name) + 2, 1), path);
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

/* What the format of OUT cannot store is written to files next to it, which are found again when OUT is read. */
enum { BESIDE = 2 };
static const char *const beside[BESIDE] = { "features.txt", ".labels" };

static void write_names(const cli_run *run, const kdr_data *data, const char *out, const char **written)
{
	const unsigned holds = kdr_format_holds(cli_get(run->args, "to", NULL), out);
	const kdr_mat x = kdr_data_mat(data);
	int64_t nclasses;
	const struct {
		const char *const *texts;
		const int64_t *index;
		int64_t count;
	} lines[BESIDE] = {
		{ holds & KDR_HOLDS_FEATURES ? NULL : kdr_data_features(data), NULL, kdr_mat_cols(&x) },
		{ holds & KDR_HOLDS_LABELS || !kdr_data_labels(data) ? NULL
		                                                     : kdr_data_classes(data, &nclasses),
		  kdr_data_labels(data), kdr_mat_rows(&x) },
	};
	for (int b = 0; b < BESIDE; b++) {
		const char *path = convert_beside(out, beside[b]);
		if (lines[b].texts && strcmp(out, "-") == 0)
			cli_warn(
			        "standard output has no room for %s, which this format cannot store; use a file name, or --to csv",
			        b == 0 ? "the names of the features" : "the classes");
		else if (lines[b].texts &&
		         cli_write_lines(run, path, lines[b].texts, lines[b].index, lines[b].count, ""))
			written[b] = path;
	}
}

static void convert_run(cli_run *run)
{
	kdr_read_options reading;
	const char *in = cli_positional(run->args, 0), *out = cli_positional(run->args, 1);
	const char *written[BESIDE] = { NULL };
	const bool force = cli_flag(run->args, "force");
	if (cli_positional_count(run->args) != 2)
		cli_usage_error("convert needs two files, IN and OUT (got %d)",
		                cli_positional_count(run->args));
	if (strcmp(out, "-") == 0 && !cli_get(run->args, "to", NULL))
		cli_usage_error("convert to standard output needs --to FORMAT, such as --to csv");
	cli_session_open(run);
	cli_reading(run->args, &reading);
	reading.format = cli_get(run->args, "from", reading.format); /* its own name for --format */
	run->tasks.data = cli_new(1, sizeof(kdr_data *));
	run->tasks.count = 1;
	cli_check_reading(kdr_read(run->ctx, in, &reading, run->tasks.data));
	const kdr_data *data = run->tasks.data[0];
	const char *note;
	for (int64_t i = 0; (note = kdr_data_note_at(data, i)); i++)
		cli_warn("%s", note);
	/* All files appear together: a matrix never lies next to the names of another. */
	cli_check(kdr_write_check(run->ctx, out, force));
	cli_check(kdr_outputs_begin(run->ctx, NULL));
	cli_check(kdr_write(run->ctx, out, cli_get(run->args, "to", NULL), data, force));
	write_names(run, data, out, written);
	cli_check(kdr_outputs_end(run->ctx, KDR_OK));
	if (cli_quiet(run->args) || strcmp(out, "-") == 0)
		return;
	const kdr_mat x = kdr_data_mat(data);
	cli_printf("written: %s (%s x %s, %s)\n", out, cli_count(kdr_mat_rows(&x), "sample"),
	           cli_count(kdr_mat_cols(&x), "feature"),
	           cli_count(kdr_mat_nnz(&x), x.kind == KDR_MAT_CSR ? "non-zero value" : "value"));
	for (int b = 0; b < BESIDE; b++)
		if (written[b])
			cli_printf("written: %s\n", written[b]);
}

cli_command cli_convert = {
	.name = "convert",
	.usage = "[OPTION...] IN OUT",
	.summary = "convert a data file to another format",
	.description =
	        "Converts IN to the format of OUT. The file names show the formats (.csv .tsv .mtx .svm .npy .npz .h5 "
	        ".h5ad .mat, also with .gz "
	        "where usual); otherwise use --from and --to. OUT - is standard output and needs --to. Values are kept exactly. Feature "
	        "names and classes that the new format cannot store are written next to OUT, to features.txt and "
	        "<stem>.labels.",
	.example = "kindred convert measurements.csv measurements.npz\n"
	           "kindred convert --label-column species iris.csv iris.mtx",
	.groups = { { "Options", own_options }, { "Input files", cli_reading_options }, CLI_COMMON },
	.completes_files = true,
	.run = convert_run,
};
