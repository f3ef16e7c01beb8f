/* Bridges of kindred transfer. SPDX-License-Identifier: BSD-3-Clause */
#include "bridges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		if (!comma || access(text, F_OK) == 0) {
			out->path[k] = copy_text(text, strlen(text));
			single++;
		} else {
			out->path[k] = copy_text(text, (size_t)(comma - text));
			out->path[out->count + k] = copy_text(comma + 1, strlen(comma + 1));
			if (strchr(comma + 1, ',')) {
				cli_error("--bridge %s: a bridge is one file, or two views of it", text);
				return EXIT_USAGE;
			}
			if (!out->path[out->count + k])
				out->path[k] = NULL;
		}
		if (!out->path[k]) {
			cli_error("out of memory");
			return EXIT_OTHER;
		}
	}
	if (!out->path) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	out->views = out->count > 0 && single == 0;
	if (single > 0 && single < out->count) {
		cli_error("--bridge: %d of %d bridges have two views: all or none of them is needed",
		          out->count - single, out->count);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

void cli_bridges_free(cli_bridges *b)
{
	for (int k = 0; b->path && k < 2 * b->count; k++)
		free(b->path[k]);
	for (int k = 0; b->names && k < b->count; k++)
		free(b->names[k]);
	free(b->path);
	free(b->names);
	free(b->scores);
	free(b->accuracy);
	free(b->fitted);
}

/* --- ranking ------------------------------------------------------------------------------------- */

int cli_bridges_rank(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, int64_t first,
                     cli_bridges *b)
{
	const char *selector = cli_get(args, "selector", NULL);
	kdr_selector model;
	int code = EXIT_OTHER;
	kdr_bridge_candidate *list = calloc((size_t)b->count, sizeof *list);
	b->scores = calloc((size_t)b->count, sizeof *b->scores);
	b->names = calloc((size_t)b->count, sizeof *b->names);
	b->accuracy = calloc((size_t)b->count, sizeof *b->accuracy);
	b->fitted = calloc((size_t)b->count, sizeof *b->fitted);
	if (!list || !b->scores || !b->names || !b->accuracy || !b->fitted) {
		cli_error("out of memory");
		goto done;
	}
	for (int k = 0; k < b->count; k++) {
		const char *name = kdr_data_name(tasks->data[first + k]);
		list[k].source_view = kdr_data_mat(tasks->data[first + k]);
		list[k].target_view = kdr_data_mat(tasks->data[first + (b->views ? b->count : 0) + k]);
		b->accuracy[k] = NAN;
		b->names[k] = copy_text(name, strlen(name));
		if (!b->names[k]) {
			cli_error("out of memory");
			goto done;
		}
	}
	kdr_mat source = kdr_data_mat(tasks->data[0]);
	kdr_mat target = kdr_data_mat(tasks->data[first + cli_bridges_files(b)]);
	kdr_status st = selector ? kdr_selector_load(ctx, selector, &model) : KDR_OK;
	if (st != KDR_OK) {
		code = cli_fail_reading(ctx, st);
		goto done;
	}
	b->trained = selector != NULL;
	st = kdr_bridge_rank(ctx, &source, &target, list, b->count, selector ? &model : NULL, NULL,
	                     b->scores);
	if (st != KDR_OK) {
		code = cli_fail(ctx, st);
		goto done;
	}
	for (int k = 0; k < b->count; k++)
		if (b->scores[k].rank == 0)
			b->chosen = k;
	code = cli_interrupted() ? EXIT_INTERRUPTED : EXIT_DONE;
done:
	free(list);
	return code;
}

/* The candidate of a rank. */
static int ranked(const cli_bridges *b, int64_t rank)
{
	for (int k = 0; k < b->count; k++)
		if (b->scores[k].rank == rank)
			return k;
	return 0;
}

void cli_bridges_table(FILE *out, const cli_bridges *b)
{
	int widest = 6;
	bool scored = false;
	if (!b->scores)
		return;
	for (int k = 0; k < b->count; k++) {
		int length = (int)strlen(b->names[k]);
		widest = length > widest ? length : widest;
		scored = scored || isfinite(b->accuracy[k]);
	}
	const double *six = b->scores[0].features;
	fprintf(out, "\nbridges, the best first; A(source, target) = %.3f\n", six[4]);
	fprintf(out, "%-*s  %10s  %17s  %17s", widest, "bridge", "complexity", "A(source, bridge)",
	        "A(bridge, target)");
	fprintf(out, b->trained ? "  %11s" : "  %6s", b->trained ? "probability" : "gain");
	fprintf(out, scored ? "  %6s\n" : "\n", "acc");
	for (int64_t r = 0; r < b->count; r++) {
		int k = ranked(b, r);
		const kdr_bridge_score *s = &b->scores[k];
		fprintf(out, "%-*s  %10.3f  %17.3f  %17.3f", widest, b->names[k], s->features[1],
		        s->features[3], s->features[5]);
		fprintf(out, b->trained ? "  %11.3f" : "  %6.3f", s->score);
		if (scored && isfinite(b->accuracy[k]))
			fprintf(out, "  %6.3f", b->accuracy[k]);
		else if (scored)
			fprintf(out, "  %6s", "-");
		fprintf(out, "\n");
	}
	fprintf(out, "chosen: %s: %s\n", b->names[b->chosen], b->scores[b->chosen].reason);
}

void cli_bridges_json(cli_json *j, const cli_bridges *b)
{
	static const char *const features[KDR_BRIDGE_FEATURES] = {
		"complexity_source", "complexity_bridge", "complexity_target",
		"a_source_bridge",   "a_source_target",   "a_bridge_target",
	};
	if (!b->scores)
		return;
	cli_json_array(j, "bridges");
	for (int64_t r = 0; r < b->count; r++) {
		int k = ranked(b, r);
		const kdr_bridge_score *s = &b->scores[k];
		cli_json_object(j, NULL);
		cli_json_string(j, "name", b->names[k]);
		cli_json_string(j, "path", b->path[k]);
		for (int f = 0; f < KDR_BRIDGE_FEATURES; f++)
			cli_json_real(j, features[f], s->features[f]);
		cli_json_real(j, "score", s->score);
		cli_json_real(j, "probability", s->probability);
		cli_json_int(j, "rank", s->rank);
		cli_json_bool(j, "chosen", k == b->chosen);
		cli_json_string(j, "reason", s->reason);
		cli_json_real(j, "acc", b->accuracy[k]);
		cli_json_end_object(j);
	}
	cli_json_end_array(j);
}

/* --- the selection model ---------------------------------------------------------------------------- */

int cli_train_selector(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, int64_t *const *labels,
                       int64_t classes)
{
	const char *path = cli_get(args, "train-selector", NULL);
	kdr_selector model;
	int code = EXIT_OTHER;
	kdr_mat *x = calloc((size_t)tasks->count, sizeof *x);
	const int64_t **known = calloc((size_t)tasks->count, sizeof *known);
	if (!x || !known) {
		cli_error("out of memory");
		goto done;
	}
	for (int64_t i = 0; i < tasks->count; i++) {
		x[i] = kdr_data_mat(tasks->data[i]);
		known[i] = labels[i];
	}
	kdr_status st = kdr_selector_train(ctx, x, known, tasks->count, classes, NULL, &model);
	if (st == KDR_OK && !cli_interrupted())
		st = kdr_selector_save(ctx, path, &model, cli_flag(args, "force"));
	code = cli_interrupted() ? EXIT_INTERRUPTED : st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	if (code == EXIT_DONE && !cli_quiet(args))
		printf("selector of %lld triples, in %lld of which the bridge helps; written to %s\n",
		       (long long)model.triples, (long long)model.helpful, path);
done:
	free(x);
	free(known);
	return code;
}
