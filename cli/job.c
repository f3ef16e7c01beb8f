/* Options of jobs: the library's table on the command line. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

kdr_family cli_family(const cli_command *command)
{
	return command == &cli_transfer ? KDR_FAMILY_TRANSFER : KDR_FAMILY_CLUSTER;
}

const kdr_job_option *cli_job_option(kdr_family family, size_t *index)
{
	const kdr_job_option *o;
	while ((o = kdr_job_option_at(*index)) && !(o->families >> family & 1))
		++*index;
	return o;
}

/* Whether a CLI_JOB of a table has this option by name or, with a group, all options of its group. */
static bool is_listed(const cli_option *entry, const kdr_job_option *o, bool group)
{
	cli_item item;
	for (const char *list = entry->of_job ? entry->name : NULL; cli_next_item(&list, &item);)
		if (group ? item.name[0] == '*' && o->group && strcmp(item.name + 1, o->group) == 0
		          : strcmp(item.name, o->name) == 0)
			return true;
	return false;
}

static bool is_named(const cli_option *table, const kdr_job_option *o)
{
	while (table->name && !is_listed(table, o, false))
		table++;
	return table->name != NULL;
}

/* A copy of a table with the library's options. */
static const cli_option *completed(const cli_option *table, kdr_family family)
{
	size_t room = 1, n = 0;
	bool any = false;
	const kdr_job_option *o;
	while (kdr_job_option_at(room))
		room++;
	for (const cli_option *own = table; own->name; own++, room++)
		any = any || own->of_job;
	if (!any)
		return table;
	cli_option *out = cli_new(room, sizeof *out);
	for (const cli_option *own = table; own->name; own++) {
		if (!own->of_job)
			out[n++] = *own;
		for (size_t i = 0; own->of_job && (o = cli_job_option(family, &i)); i++)
			if (is_listed(own, o, false) || (is_listed(own, o, true) && !is_named(table, o)))
				out[n++] = (cli_option){ .name = o->name,
					                 .letter = o->letter,
					                 .value = o->value,
					                 .listed = o->kind == KDR_JOB_CHOICE,
					                 .negatable = o->kind == KDR_JOB_FLAG && o->initial,
					                 .repeats = o->kind == KDR_JOB_SETTING,
					                 .help = o->help };
	}
	return out;
}

void cli_options_complete(void)
{
	for (cli_command *const *c = cli_commands; *c; c++)
		for (cli_option_group *g = (*c)->groups; g->title; g++)
			g->options = completed(g->options, cli_family(*c));
}

const kdr_algo *cli_job_algo(kdr_job *job)
{
	return kdr_options_algo(kdr_job_options_of(job)->settings);
}

kdr_job_options *cli_job_read(cli_run *run)
{
	const cli_args *args = run->args;
	const kdr_family family = cli_family(cli_args_command(args));
	const kdr_job_option *o;
	const char *value;
	cli_check(kdr_job_new(run->ctx, family, &run->job));
	for (size_t i = 0; (o = cli_job_option(family, &i)); i++)
		for (int n = 0; (value = cli_get_nth(args, o->name, n)); n++)
			cli_check(kdr_job_set(run->ctx, run->job, o->name, value));
	kdr_job_options *options = kdr_job_options_of(run->job);
	options->map = cli_flag(args, "report");
	options->representation = cli_get(args, "write-h5ad", NULL) != NULL;
	options->model = cli_get(args, "save-model", NULL) != NULL;
	options->no_model = !options->model && !cli_get(args, "arrays", NULL);
	if (options->model && options->features_from)
		cli_usage_error(
		        "--save-model cannot be combined with --features-from, because 'predict' cannot compute the learned features; remove one of them");
	return options;
}

void cli_job_ready(cli_run *run)
{
	if (cli_rank() == 0) { /* only the first rank writes */
		cli_outputs_check(run, true);
		cli_check(cli_write_back(run, NULL));
	}
	cli_pass(cli_ranks_agree(EXIT_DONE));
	cli_session_limit(run->ctx);
}

void cli_job_finish(cli_run *run)
{
	const kdr_result *result = run->result;
	cli_outputs_finish(run);
	if (kdr_result_stop(result) == KDR_STOP_CANCELLED)
		cli_end(EXIT_INTERRUPTED);
	if (!kdr_result_complete(result) && cli_flag(run->args, "strict"))
		cli_stop(
		        EXIT_NOT_CONVERGED,
		        "--strict: the method did not converge (%s after %s); increase max_iter with --set, or remove --strict",
		        kdr_stop_name(kdr_result_stop(result)),
		        cli_count(kdr_result_iterations(result), "iteration"));
}
