/* The method and its options, for cluster and transfer alike. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

const char *cli_method_id(const char *name, kdr_family family)
{
	const kdr_algo *algo = kdr_algo_find_in(family, name);
	return algo ? algo->id : name;
}

const char *cli_method_name(const char *id)
{
	const kdr_algo *algo = kdr_algo_find(id);
	return algo && algo->called ? algo->called : id;
}

int cli_method_check(const char *id, kdr_family family)
{
	const kdr_algo *algo = kdr_algo_find(id);
	const char *all[128], *nearest[1];
	size_t n = 0;
	if (algo && algo->family == family)
		return EXIT_DONE;
	for (size_t i = 0; i < kdr_algo_count() && n < 128; i++)
		if (kdr_algo_at(i)->family == family)
			all[n++] = kdr_algo_at(i)->id;
	if (algo)
		cli_error("method '%s' does not %s; 'kindred methods' says what it does", id,
		          family == KDR_FAMILY_CLUSTER    ? "cluster"
		          : family == KDR_FAMILY_TRANSFER ? "transfer labels"
		                                          : "learn features");
	else if (kdr_suggest(id, all, n, nearest, 1))
		cli_error("there is no method '%s'; did you mean %s?", id, nearest[0]);
	else
		cli_error("there is no method '%s'; 'kindred methods' lists them", id);
	return EXIT_USAGE;
}

static int set_options(kdr_context *ctx, const cli_args *args, const char *option, kdr_options *options)
{
	const char *setting;
	for (int i = 0; (setting = cli_get_nth(args, option, i)); i++) {
		const char *equals = strchr(setting, '=');
		char name[128];
		if (!equals || equals == setting || (size_t)(equals - setting) >= sizeof name) {
			cli_error("--%s: '%s' is not of the form name=value", option, setting);
			return EXIT_USAGE;
		}
		memcpy(name, setting, (size_t)(equals - setting));
		name[equals - setting] = '\0';
		kdr_status st = kdr_options_set(ctx, options, name, equals + 1);
		if (st != KDR_OK)
			return cli_fail(ctx, st);
	}
	return EXIT_DONE;
}

int cli_method_settings(kdr_context *ctx, const cli_args *args, const char *setting, const char *id,
                        kdr_options **out)
{
	kdr_options *options = NULL;
	kdr_status st = kdr_options_new(ctx, id, &options);
	if (st != KDR_OK)
		return cli_fail(ctx, st);
	int code = set_options(ctx, args, setting, options);
	if (code == EXIT_DONE)
		*out = options;
	else
		kdr_options_free(options);
	return code;
}

int cli_method_options(kdr_context *ctx, const cli_args *args, const char *id, kdr_options **out)
{
	return cli_method_settings(ctx, args, "set", id, out);
}

int cli_method_exit(const cli_args *args, const kdr_result *result)
{
	kdr_stop stop = kdr_result_stop(result);
	if (stop == KDR_STOP_CANCELLED)
		return EXIT_INTERRUPTED;
	if (stop != KDR_STOP_CONVERGED && cli_flag(args, "strict")) {
		cli_error("--strict: the method did not converge (%s after %lld iterations)",
		          kdr_stop_name(stop), (long long)kdr_result_iterations(result));
		return EXIT_NOT_CONVERGED;
	}
	return EXIT_DONE;
}
