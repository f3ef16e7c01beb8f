/* A plan from --methods and the tasks on the command line. SPDX-License-Identifier: BSD-3-Clause
 *
 * It is made as JSON, so that there is one reader of plans. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static bool has_option(const kdr_algo *algo, const char *name, size_t length)
{
	for (const kdr_option_desc *o = algo->options; o->name; o++)
		if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
			return true;
	return false;
}

/* Whether the option that `text` (name=...) sets is set again by a later one: the last wins. */
static bool set_again(const cli_args *args, const char *option, int i, size_t length)
{
	const char *text = cli_get_nth(args, option, i), *later;
	while ((later = cli_get_nth(args, option, ++i)))
		if (strncmp(later, text, length + 1) == 0)
			return true;
	return false;
}

/* Puts every --set or --grid NAME=... of `option` that the method has into an object called as the option. */
static void bench_args_collect(const cli_args *args, const char *option, const kdr_algo *algo, kdri_json *out)
{
	const char *text;
	kdri_json_object(out, option);
	for (int i = 0; (text = cli_get_nth(args, option, i)); i++) {
		const char *equals = strchr(text, '=');
		size_t length = equals ? (size_t)(equals - text) : 0;
		cli_list list;
		if (!equals || !has_option(algo, text, length) || set_again(args, option, i, length))
			continue;
		char *name = strdup(text);
		if (name)
			name[length] = '\0';
		if (name && strcmp(option, "set") == 0) {
			kdri_json_string(out, name, equals + 1);
		} else if (name && cli_list_split(equals + 1, &list)) {
			kdri_json_strings(out, name, list.items, list.count);
			cli_list_free(&list);
		}
		free(name);
	}
	kdri_json_end_object(out);
}

/* A setting that no method has is a mistake. */
static int check_settings(const cli_args *args, const char *option, const cli_list *methods)
{
	const char *text;
	for (int i = 0; (text = cli_get_nth(args, option, i)); i++) {
		const char *equals = strchr(text, '=');
		bool found = false;
		for (int m = 0; equals && m < methods->count; m++) {
			const kdr_algo *algo = kdr_algo_find(methods->items[m]);
			found |= algo && has_option(algo, text, (size_t)(equals - text));
		}
		if (!equals || !found) {
			cli_error(equals ? "--%s: none of the methods has the option in '%s'"
			                 : "--%s: '%s' is not valid; use NAME=VALUE",
			          option, text);
			return EXIT_USAGE;
		}
	}
	return EXIT_DONE;
}

static void copy_choice(const cli_args *args, const char *option, kdri_json *table)
{
	const char *value = cli_get(args, option, NULL);
	if (value)
		kdri_json_string(table, option, value);
}

static int write_clusters(const cli_args *args, kdri_json *table)
{
	cli_list list;
	int code = EXIT_DONE, count = cli_positional_count(args);
	const char *text = cli_get(args, "clusters", NULL);
	if (!text)
		return EXIT_DONE;
	if (!cli_list_split(text, &list))
		return EXIT_OTHER;
	kdri_json_array(table, "k");
	for (int i = 0; i < count && code == EXIT_DONE; i++) {
		char *end;
		const char *item = list.items[i < list.count ? i : list.count - 1];
		long long value = strtoll(item, &end, 10);
		if (*end || end == item || value < 1 || (list.count != 1 && list.count != count)) {
			cli_error(
			        "-k: '%s' is not valid; use one whole number, 1 or larger, for all data sets, or one for each",
			        text);
			code = EXIT_USAGE;
		}
		kdri_json_int(table, NULL, value);
	}
	kdri_json_end_array(table);
	cli_list_free(&list);
	return code;
}

/* The one table of the plan. */
static int bench_args_write_table(const cli_args *args, const cli_list *methods, int64_t top,
                                  kdri_json *table)
{
	kdri_json_object(table, NULL);
	kdri_json_string(table, "title", "methods compared");
	kdri_json_array(table, "data");
	for (int i = 0; i < cli_positional_count(args); i++)
		kdri_json_string(table, NULL, cli_positional(args, i));
	kdri_json_end_array(table);
	kdri_json_array(table, "rows");
	for (int i = 0; i < methods->count; i++) {
		kdri_json_object(table, NULL);
		kdri_json_string(table, "method", methods->items[i]);
		bench_args_collect(args, "set", kdr_algo_find(methods->items[i]), table);
		bench_args_collect(args, "grid", kdr_algo_find(methods->items[i]), table);
		kdri_json_end_object(table);
	}
	kdri_json_end_array(table);
	if (cli_flag(args, "pick"))
		kdri_json_string(table, "pick", "truth");
	if (top)
		kdri_json_int(table, "top_features", top);
	if (top && cli_get(args, "top-by", NULL))
		kdri_json_string(table, "top_by", cli_get(args, "top-by", NULL));
	copy_choice(args, "features", table);
	copy_choice(args, "weight", table);
	copy_choice(args, "norm", table);
	copy_choice(args, "scale", table);
	if (cli_get(args, "fit-on", NULL))
		kdri_json_string(table, "fit_on", cli_get(args, "fit-on", NULL));
	int code = write_clusters(args, table);
	kdri_json_end_object(table);
	return code;
}

int bench_plan_from_args(kdr_context *ctx, const cli_args *args, bench_plan *plan)
{
	cli_list methods;
	kdri_json json = { 0 };
	int code = EXIT_DONE;
	int64_t top = 0;
	if (cli_positional_count(args) == 0) {
		cli_error("--methods needs at least one TASK: a data file with its classes in <stem>.labels");
		return EXIT_USAGE;
	}
	if (!cli_get_int(args, "top-features", 1, INT64_MAX, &top))
		return EXIT_USAGE;
	if (!cli_list_split(cli_get(args, "methods", ""), &methods))
		return EXIT_OTHER;
	for (int i = 0; i < methods.count && code == EXIT_DONE; i++)
		if (kdr_algo_require(ctx, methods.items[i], KDR_FAMILY_CLUSTER, NULL) != KDR_OK)
			code = cli_fail(ctx, KDR_ERR_ARGUMENT);
	if (code == EXIT_DONE)
		code = check_settings(args, "set", &methods);
	if (code == EXIT_DONE)
		code = check_settings(args, "grid", &methods);
	if (code == EXIT_DONE) {
		kdri_json_object(&json, NULL);
		kdri_json_string(&json, "title", "methods compared");
		kdri_json_array(&json, "tables");
		code = bench_args_write_table(args, &methods, top, &json);
		kdri_json_end_array(&json);
		kdri_json_end_object(&json);
	}
	cli_list_free(&methods);
	if (code == EXIT_DONE && json.failed)
		code = bench_no_memory();
	if (code == EXIT_DONE)
		code = bench_plan_parse("--methods", json.text, json.used, "", plan);
	kdri_json_free(&json);
	return code;
}
