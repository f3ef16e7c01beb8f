/* Bridges of kindred transfer. SPDX-License-Identifier: BSD-3-Clause */
#include "bridges.h"
#include "core/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text, size_t length)
{
	char *copy = malloc(length + 1);
	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

int cli_bridges_parse(const cli_args *args, cli_bridges *out)
{
	int single = 0;
	while (cli_get_nth(args, "bridge", out->count))
		out->count++;
	out->path = calloc((size_t)out->count * 2 + 1, sizeof *out->path);
	for (int k = 0; out->path && k < out->count; k++) {
		const char *text = cli_get_nth(args, "bridge", k), *comma = strchr(text, ',');
		/* A file whose own name holds a comma is still one file. */
		if (!comma || kdri_exists(text)) {
			out->path[k] = copy_text(text, strlen(text));
			single++;
		} else {
			out->path[k] = copy_text(text, (size_t)(comma - text));
			out->path[out->count + k] = copy_text(comma + 1, strlen(comma + 1));
			if (strchr(comma + 1, ','))
				return cli_usage_error(
				        "--bridge %s: give one file, or two files with two views of the same samples",
				        text);
			if (!out->path[out->count + k])
				out->path[k] = NULL;
		}
		if (!out->path[k])
			return cli_no_memory();
	}
	if (!out->path)
		return cli_no_memory();
	out->views = out->count > 0 && single == 0;
	if (single > 0 && single < out->count)
		return cli_usage_error(
		        "--bridge: %d of %d bridges have two views; give two views for all of them, or for none",
		        out->count - single, out->count);
	return EXIT_DONE;
}

void cli_bridges_free(cli_bridges *b)
{
	for (int k = 0; b->path && k < 2 * b->count; k++)
		free(b->path[k]);
	free(b->path);
}

/* --- the ranking, for the summary ------------------------------------------------------------------------ */

static double bridge_number(const kdri_json_value *bridge, const char *key)
{
	return kdri_json_number(kdri_json_get(bridge, key), NAN);
}

/* A number, or a dash if it is unknown. */
static void print_number(FILE *out, int width, double value)
{
	if (isfinite(value))
		fprintf(out, "  %*.3f", width, value);
	else
		fprintf(out, "  %*s", width, "-");
}

void cli_bridges_table(FILE *out, const cli_run *run)
{
	const kdri_json_value *list = kdri_json_get(run->about, "bridges"), *first = kdri_json_at(list, 0);
	int64_t count = kdri_json_count(list);
	int widest = 6;
	bool scored = false;
	if (count == 0)
		return;
	for (int64_t k = 0; k < count; k++) {
		int length = (int)strlen(kdri_json_text(kdri_json_get(kdri_json_at(list, k), "name"), NULL));
		widest = length > widest ? length : widest;
		scored = scored || isfinite(bridge_number(kdri_json_at(list, k), "acc"));
	}
	bool trained = isfinite(bridge_number(first, "probability"));
	fprintf(out,
	        "\nbridges, the best first (A: A-distance, 0 = indistinguishable, 2 = fully separable)\nA(source, target) = %.3f\n",
	        bridge_number(first, "a_source_target"));
	fprintf(out, "%-*s  %10s  %17s  %17s", widest, "bridge", "complexity", "A(source, bridge)",
	        "A(bridge, target)");
	fprintf(out, trained ? "  %11s" : "  %9s", trained ? "probability" : "recovered");
	fprintf(out, scored ? "  %6s\n" : "\n", "acc");
	for (int64_t k = 0; k < count; k++) {
		const kdri_json_value *b = kdri_json_at(list, k);
		fprintf(out, "%-*s  %10.3f  %17.3f  %17.3f", widest,
		        kdri_json_text(kdri_json_get(b, "name"), NULL), bridge_number(b, "complexity_bridge"),
		        bridge_number(b, "a_source_bridge"), bridge_number(b, "a_bridge_target"));
		if (trained)
			fprintf(out, "  %11.3f", bridge_number(b, "probability"));
		else
			print_number(out, 9, bridge_number(b, "back"));
		if (scored)
			print_number(out, 6, bridge_number(b, "acc"));
		fprintf(out, "\n");
	}
	fprintf(out, "chosen bridge: %s (%s)\n", kdri_json_text(kdri_json_get(first, "name"), NULL),
	        kdri_json_text(kdri_json_get(first, "reason"), NULL));
}

/* --- the selection model ---------------------------------------------------------------------------- */

int cli_train_selector(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, const cli_job *job)
{
	const char *path = cli_get(args, "train-selector", NULL);
	kdr_selector model = { 0 };
	kdr_status st = kdr_train_selector(ctx, tasks->data, tasks->count, &job->prep, &model);
	if (st == KDR_OK && !cli_interrupted())
		st = kdr_selector_save(ctx, path, &model, cli_flag(args, "force"));
	if (cli_interrupted())
		return EXIT_INTERRUPTED;
	if (st != KDR_OK)
		return cli_fail(ctx, st);
	if (!cli_quiet(args))
		cli_printf(
		        "selection model trained on %lld triples; the bridge helps in %lld of them\nwritten: %s\n",
		        (long long)model.triples, (long long)model.helpful, path);
	return EXIT_DONE;
}
