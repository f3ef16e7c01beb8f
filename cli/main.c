/* kindred: the command-line program. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

cli_command *const cli_commands[] = {
	&cli_cluster, &cli_transfer, &cli_relate,  &cli_predict, &cli_evaluate,  &cli_embed,    &cli_report,
	&cli_cut,     &cli_relabel,  &cli_inspect, &cli_convert, &cli_vectorize, &cli_generate, &cli_methods,
	&cli_cite,    &cli_demo,     &cli_version, &cli_help,    NULL,
};

const cli_command *cli_command_find(const char *name)
{
	for (cli_command *const *c = cli_commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static _Noreturn void unknown_command(const char *name)
{
	const char *all[32], *nearest[1];
	size_t n = 0;
	for (cli_command *const *c = cli_commands; *c && n < 32; c++)
		all[n++] = (*c)->name;
	if (strcmp(name, "bench") == 0)
		cli_usage_error(
		        "unknown command 'bench'; use 'python -m kindred.bench', which is part of the Python package");
	if (kdr_suggest(name, all, n, nearest, 1))
		cli_usage_error("unknown command '%s'; did you mean '%s'?", name, nearest[0]);
	cli_usage_error("unknown command '%s'; 'kindred help' lists the commands", name);
}

/* --- processes that a launcher such as mpirun or srun has started together ---------------------------- */

/* The first of these variables that holds a number; -1 if none does. */
static int number_in(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		if (text && text[0] >= '0' && text[0] <= '9')
			return atoi(text);
	}
	return -1;
}

int cli_launched_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL };
	return number_in(names);
}

int cli_launched_ranks(void)
{
	static const char *const mpi[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL };
	static const char *const step[] = { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", NULL };
	int ranks = number_in(mpi);
	/* A batch script has Slurm's variables too, but is one process: only what srun starts for MPI has a rank. */
	if (ranks < 0 && cli_launched_rank() >= 0)
		ranks = number_in(step);
	return ranks > 1 ? ranks : 1;
}

/* --- version and help: small enough to live here ----------------------------------------------------- */

static void run_version(cli_run *run)
{
	printf("kindred %s\n", kdr_version());
	if (cli_flag(run->args, "verbose")) {
		char devices[2048];
		kdr_device_info(devices, sizeof devices);
		fputs(kdr_build_info(), stdout);
		fputs(devices, stdout);
	}
}

cli_command cli_version = {
	.name = "version",
	.usage = "[-v]",
	.summary = "print the version; with -v also build details and devices",
	.description =
	        "Prints the version. With -v, also prints the compiler and libraries the program was built with, and the devices it can use.",
	.example = "kindred version -v",
	.groups = { CLI_COMMON },
	.run = run_version,
};

static const char *const shells[] = { "bash", "zsh", "fish", NULL };
static const cli_option help_options[] = {
	CLI_FLAG("man", "print the manual page, in roff format"),
	CLI_VALUE("completion", "SHELL", "print the completion script for a shell", .choices = shells),
	CLI_OPTIONS_END,
};
static void run_help(cli_run *run)
{
	static void (*const completions[])(FILE *) = { cli_completion_bash, cli_completion_zsh,
		                                       cli_completion_fish }; /* as `shells` */
	const char *name = cli_positional(run->args, 0);
	const cli_command *command = name ? cli_command_find(name) : NULL;
	if (name && !command)
		unknown_command(name);
	if (cli_get(run->args, "completion", NULL))
		completions[cli_get_choice(run->args, "completion", 0)](stdout);
	else if (cli_flag(run->args, "man"))
		cli_man(stdout, command);
	else if (command)
		cli_help_command(stdout, command);
	else
		cli_help_overview(stdout);
}

static const char *command_name(int index)
{
	return cli_commands[index] ? cli_commands[index]->name : NULL;
}

cli_command cli_help = {
	.name = "help",
	.usage = "[COMMAND] [--man | --completion SHELL]",
	.summary = "show the help of a command",
	.description =
	        "Shows the help of a command. Without COMMAND, lists the commands. With --man or --completion, prints the manual "
	        "page or a completion script instead.",
	.example =
	        "kindred help cluster\n# enable completion in the current bash session\nsource <(kindred help --completion bash)",
	.groups = { { "Options", help_options }, CLI_COMMON },
	.argument = command_name,
	.run = run_help,
};

int main(int argc, char **argv)
{
	const cli_words words = cli_system_start(argc, argv);
	cli_options_complete();
	if (words.count < 2) {
		cli_help_overview(stderr);
		cli_end(EXIT_USAGE);
	}
	const char *name = words.texts[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	else if (strcmp(name, "--cite") == 0)
		name = "cite";
	const cli_command *command = cli_command_find(name);
	if (!command)
		unknown_command(name);
	if (cli_launched_ranks() > 1 && !kdr_build_has("mpi") && command != &cli_version &&
	    command != &cli_help) {
		if (cli_launched_rank() <= 0)
			cli_error(
			        "started as %d processes, but this build of kindred has no MPI, so each process would "
			        "do the same work and write the same files; start one process, or build with "
			        "-DKINDRED_MPI=ON",
			        cli_launched_ranks());
		cli_end(EXIT_USAGE);
	}
	const cli_args *args = cli_args_parse(command, words.count - 2, words.texts + 2);
	if (cli_flag(args, "help")) {
		cli_help_command(stdout, command);
	} else {
		cli_check_effects(args);
		cli_stages_record();
		cli_command_run(args);
	}
	cli_end(EXIT_DONE);
}
