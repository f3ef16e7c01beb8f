/* kindred demo: the main job on built-in data. SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the very commands a user would type, so that the demo cannot drift from the program. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_VALUE("output", "DIR", "folder for the data and results (default kindred-demo)", .letter = 'o'),
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

enum { MOST_WORDS = 24 };

/* Shows and runs one command line; "@" at the start of a word is replaced by the folder. */
static int demo_step(const char *folder, const char *line)
{
	char words[MOST_WORDS][512], *argv[MOST_WORDS];
	int argc = 0;
	cli_printf("$ kindred");
	while (*line && argc < MOST_WORDS) {
		size_t n = strcspn(line, " ");
		const char *prefix = line[0] == '@' ? folder : "";
		size_t skip = line[0] == '@';
		snprintf(words[argc], sizeof words[argc], "%s%.*s", prefix, (int)(n - skip), line + skip);
		argv[argc] = words[argc];
		cli_printf(" %s", argv[argc++]);
		line += n;
		line += strspn(line, " ");
	}
	cli_printf("\n");
	fflush(stdout);
	const cli_command *command = cli_command_find(argv[0]);
	cli_args *args = cli_args_parse(command, argc - 1, argv + 1);
	if (!args)
		return EXIT_USAGE;
	int code = command->run(args);
	cli_args_free(args);
	cli_printf("\n");
	return code;
}

static int demo_run(cli_args *args)
{
	const char *folder = cli_get(args, "output", "kindred-demo");
	static const char *const steps[] = {
		"generate --design topics --tasks 3 -k 4 -n 200,60,40 --words 1500 --length 35 --seed 7 -q --force -o @/data",
		"cluster -k 4 --score --force --report -o @/result @/data/task1.mtx @/data/task2.mtx @/data/task3.mtx",
		"evaluate @/result/task1.labels @/data/task1.labels",
	};
	if (cli_positional_count(args) > 0)
		return cli_usage_error("unexpected argument '%s'; demo takes only options, such as -o DIR",
		                       cli_positional(args, 0));
	if (strlen(folder) > 400)
		return cli_usage_error("-o: the folder name is too long; use a shorter one");
	cli_printf(
	        "Three related sets of synthetic documents share four topics. Each set also has words of its own.\n\n");
	int code = cli_make_folder(folder);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == EXIT_DONE; i++)
		code = demo_step(folder, steps[i]);
	if (code == EXIT_DONE)
		cli_printf(
		        "The result is in %s/result. To explore it, open this page in a browser:\n%s/result/report.html\n",
		        folder, folder);
	return cli_finish(code);
}

const cli_command cli_demo = {
	.name = "demo",
	.usage = "[-o DIR]",
	.summary = "cluster built-in example data and write a report",
	.description =
	        "Generates three small related sets of documents, clusters them, scores the result and writes a report "
	        "that you can open in a browser. Prints each command that it runs. Existing files in the folder are "
	        "replaced.",
	.example = "kindred demo -o demo",
	.groups = groups,
	.run = demo_run,
};
