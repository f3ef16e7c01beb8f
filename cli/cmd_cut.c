/* kindred cut. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>

static const cli_option own_options[] = {
	CLI_VALUE("clusters", "K[,K2,...]",
	          "number of clusters: one of the range that the result was made with, or one for each data "
	          "set",
	          .letter = 'k'),
	CLI_VALUE("output", "DIR", "folder to write to", .letter = 'o'),
	CLI_TABLE_OPTION,
	CLI_FLAG("force", "replace existing files"),
	CLI_RAW_OPTION,
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* -k 4 or -k 4,3: to be freed; NULL after an error was printed. */
static int64_t *cut_parse(const char *text, int64_t *count)
{
	cli_list list;
	if (!cli_list_split(text, &list))
		return NULL;
	int64_t *k = calloc((size_t)list.count, sizeof *k);
	*count = list.count;
	if (!k)
		cli_error("out of memory");
	for (int i = 0; k && i < list.count; i++) {
		char *end;
		errno = 0;
		k[i] = strtoll(list.items[i], &end, 10);
		if (end == list.items[i] || *end || errno || k[i] < 1) {
			cli_error("-k: '%s' is not valid; use a whole number, 1 or larger", list.items[i]);
			free(k);
			k = NULL;
		}
	}
	cli_list_free(&list);
	return k;
}

static int cut_run(cli_args *args)
{
	int64_t count = 0;
	const char *path = cli_positional(args, 0), *folder = cli_get(args, "output", NULL),
	           *text = cli_get(args, "clusters", NULL);
	if (cli_positional_count(args) != 1)
		return cli_usage_error("cut needs one RESULT.json (got %d)", cli_positional_count(args));
	if (!text || !folder)
		return cli_usage_error(text ? "cut needs -o DIR to write to"
		                            : "cut needs -k K: the number of clusters");
	int64_t *k = cut_parse(text, &count);
	kdr_context *ctx = NULL;
	int code = k ? cli_session_open(args, &ctx) : EXIT_USAGE;
	if (code == EXIT_DONE)
		code = cli_make_folder(folder);
	if (code == EXIT_DONE) {
		kdr_status st = kdr_cut(ctx, path, k, count, folder, cli_get(args, "write-table", NULL),
		                        cli_get(args, "write-columns", NULL), cli_flag(args, "force"));
		if (st != KDR_OK)
			code = st == KDR_ERR_ARGUMENT ? cli_fail(ctx, st) : cli_code_reading(ctx, st);
		else if (!cli_quiet(args))
			cli_printf("written: %s\n", folder);
	}
	free(k);
	return ctx ? cli_session_close(ctx, code) : code;
}

const cli_command cli_cut = {
	.name = "cut",
	.usage = "-k K[,K2,...] -o DIR RESULT.json",
	.summary = "write the clusters of a result for another k",
	.description =
	        "If 'kindred cluster' was run with a range such as -k 3-8, its result.json has the clusters for every number in the "
	        "range. This command writes those for one of them: <task>.labels and <task>.samples.csv for each data set.",
	.example = "kindred cluster -k 3-8 -o out customers.csv\n"
	           "kindred cut -k 5 -o five out/result.json",
	.groups = groups,
	.completes_files = true,
	.run = cut_run,
};
