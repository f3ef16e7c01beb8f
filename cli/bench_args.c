/* A plan from --methods and the tasks on the command line. SPDX-License-Identifier: BSD-3-Clause
 *
 * It is made as JSON, so that there is one reader of plans. */
#include "bench.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool has_option(const kdr_algo *algo, const char *name, size_t length)
{
	for (const kdr_option_desc *o = algo->options; o->name; o++)
		if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
			return true;
	return false;
}

/* Puts every --set or --grid NAME=... of `option` that the method has into `out`. */
static void collect(const cli_args *args, const char *option, const kdr_algo *algo, json_t *out)
{
	const char *text;
	for (int i = 0; (text = cli_get_nth(args, option, i)); i++) {
		const char *equals = strchr(text, '=');
		cli_list list;
		if (!equals || !has_option(algo, text, (size_t)(equals - text)))
			continue;
		char *name = strndup(text, (size_t)(equals - text));
		if (name && strcmp(option, "set") == 0) {
			json_object_set_new(out, name, json_string(equals + 1));
		} else if (name && cli_list_split(equals + 1, &list)) {
			json_t *values = json_array();
			for (int v = 0; v < list.count; v++)
				json_array_append_new(values, json_string(list.items[v]));
			json_object_set_new(out, name, values);
			cli_list_free(&list);
		}
		free(name);
	}
}

/* A setting that no method has is a slip. */
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
			cli_error(equals ? "--%s: none of the methods has the option of '%s'"
			                 : "--%s: '%s' is not of the form name=value",
			          option, text);
			return EXIT_USAGE;
		}
	}
	return EXIT_DONE;
}

static void copy_choice(const cli_args *args, const char *option, const char *key, json_t *table)
{
	const char *value = cli_get(args, option, NULL);
	if (value)
		json_object_set_new(table, key, json_string(value));
}

static int parse_clusters(const cli_args *args, json_t *table)
{
	cli_list list;
	const char *text = cli_get(args, "clusters", NULL);
	if (!text)
		return EXIT_DONE;
	if (!cli_list_split(text, &list))
		return EXIT_OTHER;
	json_t *k = json_array();
	for (int i = 0; i < cli_positional_count(args); i++) {
		char *end;
		const char *item = list.items[i < list.count ? i : list.count - 1];
		long long value = strtoll(item, &end, 10);
		if (*end || end == item || value < 1 ||
		    (list.count != 1 && list.count != cli_positional_count(args))) {
			cli_error("-k %s: a whole number from 1 for all tasks, or one for each, is needed",
			          text);
			cli_list_free(&list);
			json_decref(k);
			return EXIT_USAGE;
		}
		json_array_append_new(k, json_integer(value));
	}
	json_object_set_new(table, "k", k);
	cli_list_free(&list);
	return EXIT_DONE;
}

int bench_plan_from_args(kdr_context *ctx, const cli_args *args, bench_plan *plan)
{
	cli_list methods;
	int64_t top = 0;
	if (cli_positional_count(args) == 0) {
		cli_error("--methods needs at least one TASK: a data file with its classes in <stem>.labels");
		return EXIT_USAGE;
	}
	if (!cli_get_int(args, "top-features", 1, INT64_MAX, &top))
		return EXIT_USAGE;
	if (!cli_list_split(cli_get(args, "methods", ""), &methods))
		return EXIT_OTHER;
	json_t *root = json_object(), *table = json_object(), *data = json_array(), *rows = json_array();
	int code = EXIT_DONE;
	for (int i = 0; i < methods.count && code == EXIT_DONE; i++)
		if (kdr_algo_require(ctx, methods.items[i], KDR_FAMILY_CLUSTER, NULL) != KDR_OK)
			code = cli_fail(ctx, KDR_ERR_ARGUMENT);
	if (code == EXIT_DONE)
		code = check_settings(args, "set", &methods);
	if (code == EXIT_DONE)
		code = check_settings(args, "grid", &methods);
	if (code == EXIT_DONE)
		code = parse_clusters(args, table);
	for (int i = 0; i < methods.count && code == EXIT_DONE; i++) {
		json_t *row = json_object(), *set = json_object(), *grid = json_object();
		collect(args, "set", kdr_algo_find(methods.items[i]), set);
		collect(args, "grid", kdr_algo_find(methods.items[i]), grid);
		json_object_set_new(row, "method", json_string(methods.items[i]));
		json_object_set_new(row, "set", set);
		json_object_set_new(row, "grid", grid);
		json_array_append_new(rows, row);
	}
	for (int i = 0; i < cli_positional_count(args); i++)
		json_array_append_new(data, json_string(cli_positional(args, i)));
	json_object_set_new(root, "title", json_string("methods compared"));
	json_object_set_new(table, "title", json_string("methods compared"));
	json_object_set_new(table, "data", data);
	json_object_set_new(table, "rows", rows);
	if (cli_flag(args, "pick"))
		json_object_set_new(table, "pick", json_string("truth"));
	if (top)
		json_object_set_new(table, "top_features", json_integer(top));
	copy_choice(args, "features", "features", table);
	copy_choice(args, "weight", "weight", table);
	copy_choice(args, "norm", "norm", table);
	copy_choice(args, "scale", "scale", table);
	json_object_set_new(root, "tables", json_pack("[o]", table));
	char *text = json_dumps(root, 0);
	json_decref(root);
	cli_list_free(&methods);
	if (code == EXIT_DONE && !text) {
		cli_error("out of memory");
		code = EXIT_OTHER;
	}
	if (code == EXIT_DONE)
		code = bench_plan_parse("--methods", text, strlen(text), "", plan);
	free(text);
	return code;
}
