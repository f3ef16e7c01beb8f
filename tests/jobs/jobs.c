/* The jobs through the library alone, as another program or a binding would do them. SPDX-License-Identifier: BSD-3-Clause
 *
 * tests/cli/test_jobs.py runs each command and this side by side. Usage: jobs COMMAND [name=value...] FILE...; files of a
 * transfer are named role:path. The result is written to out=FILE as JSON, labels of the last task to standard
 * output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kindred/kindred.h"

enum { MOST = 8 };

typedef struct request {
	int argc;
	char **argv;
	kdr_data *data[MOST];
	char role[MOST];
	int count;
	kdr_options *settings;
	kdr_job_options job;
} request;

/* The value of name=value, or `otherwise`. */
static const char *get(const request *r, const char *name, const char *otherwise)
{
	size_t length = strlen(name);
	for (int i = 2; i < r->argc; i++)
		if (strncmp(r->argv[i], name, length) == 0 && r->argv[i][length] == '=')
			return r->argv[i] + length + 1;
	return otherwise;
}

static void check(kdr_context *ctx, kdr_status st)
{
	if (st == KDR_OK)
		return;
	fprintf(stderr, "jobs: %s\n", kdr_context_error(ctx));
	exit(1);
}

static void read_data(kdr_context *ctx, request *r)
{
	static const char *const roles[] = { "source", "bridge", "target" };
	for (int i = 2; i < r->argc; i++) {
		kdr_read_options o = { .size = sizeof(kdr_read_options) };
		const char *path = r->argv[i];
		if (strchr(path, '='))
			continue;
		for (int k = 0; k < 3; k++)
			if (strncmp(path, roles[k], 6) == 0 && path[6] == ':') {
				r->role[r->count] = roles[k][0];
				o.name = k == 1 ? NULL : roles[k];
				path += 7;
				break;
			}
		check(ctx, kdr_read(ctx, path, &o, &r->data[r->count++]));
	}
}

static void read_job(kdr_context *ctx, request *r, kdr_family family)
{
	const char *set = get(r, "set", NULL), *weight = get(r, "weight", NULL);
	static const kdr_prep_options tfidf = { .size = sizeof tfidf,
		                                .weight = KDR_WEIGHT_TFIDF,
		                                .norm = KDR_NORM_L2 };
	const kdr_algo *algo = NULL;
	char name[64];
	kdr_job_options_init(&r->job);
	r->job.method = get(r, "method", NULL);
	r->job.features_from = get(r, "features", NULL);
	r->job.score = get(r, "score", NULL) != NULL;
	if (weight && strcmp(weight, "tfidf") == 0)
		r->job.prep = &tfidf;
	if (weight && strcmp(weight, "none") == 0)
		r->job.choice = KDR_PREP_NONE;
	if (!set)
		return;
	check(ctx, kdr_algo_require(ctx, r->job.method, family, &algo));
	check(ctx, kdr_options_new(ctx, algo->id, &r->settings));
	snprintf(name, sizeof name, "%.*s", (int)strcspn(set, ":"), set);
	check(ctx, kdr_options_set(ctx, r->settings, name, set + strcspn(set, ":") + 1));
	r->job.settings = r->settings;
}

static void cluster(kdr_context *ctx, request *r, kdr_result **result)
{
	static int64_t each[MOST];
	kdr_job_options o;
	read_job(ctx, r, KDR_FAMILY_CLUSTER);
	o = r->job;
	o.k = atoi(get(r, "k", "0"));
	o.each_k = get(r, "each", NULL) ? each : NULL;
	o.neighbours = true;
	o.pooled = get(r, "pooled", NULL) != NULL;
	o.quality = get(r, "quality", NULL) != NULL;
	for (int i = 0; i < r->count && o.score; i++) {
		char labels[512];
		const char *path = kdr_data_path(r->data[i]), *dot = strrchr(path, '.');
		snprintf(labels, sizeof labels, "%.*s.labels", (int)(dot - path), path);
		check(ctx, kdr_data_read_labels(ctx, r->data[i], labels));
	}
	check(ctx, kdr_cluster(ctx, r->data, r->count, &o, result));
}

static void transfer(kdr_context *ctx, request *r, kdr_result **result)
{
	kdr_data *parts[3][MOST];
	int64_t counts[3] = { 0 };
	kdr_job_options o;
	read_job(ctx, r, KDR_FAMILY_TRANSFER);
	o = r->job;
	o.every_bridge = get(r, "every", NULL) != NULL;
	o.probabilities = get(r, "probabilities", NULL) != NULL;
	for (int i = 0; i < r->count; i++) {
		int at = r->role[i] == 's' ? 0 : r->role[i] == 'b' ? 1 : 2;
		parts[at][counts[at]++] = r->data[i];
	}
	const kdr_transfer_sets sets = { .size = sizeof(kdr_transfer_sets),
		                         .sources = parts[0],
		                         .nsources = counts[0],
		                         .bridges = parts[1],
		                         .nbridges = counts[1],
		                         .targets = parts[2],
		                         .ntargets = counts[2] };
	check(ctx, kdr_data_read_labels(ctx, parts[0][0], get(r, "labels", "")));
	if (o.score)
		check(ctx, kdr_data_read_labels(ctx, parts[2][0], get(r, "score", "")));
	check(ctx, kdr_transfer(ctx, &sets, &o, result));
}

static void predict(kdr_context *ctx, request *r, kdr_result **result)
{
	kdr_model *model = NULL;
	kdr_predict_options o;
	kdr_predict_options_init(&o);
	o.task = get(r, "task", NULL);
	check(ctx, kdr_model_load(ctx, get(r, "model", ""), &model));
	check(ctx, kdr_predict(ctx, model, r->data[0], &o, result));
	kdr_model_free(model);
}

static void relate(kdr_context *ctx, request *r)
{
	char *text = NULL;
	size_t length;
	check(ctx, kdr_relate(ctx, r->data, r->count, NULL, &text, &length));
	check(ctx, kdr_write_file(ctx, get(r, "out", ""), text, length, true));
	kdr_free(ctx, text);
}

static void print_labels(const kdr_result *result)
{
	int64_t n, nclasses;
	const int64_t *labels = kdr_result_labels(result, kdr_result_ntasks(result) - 1, &n);
	const char *const *classes = kdr_result_classes(result, &nclasses);
	for (int64_t i = 0; i < n; i++)
		if (classes)
			printf("%s\n", classes[labels[i]]);
		else
			printf("%lld\n", (long long)labels[i]);
}

int main(int argc, char **argv)
{
	request r = { .argc = argc, .argv = argv };
	kdr_context *ctx = NULL;
	kdr_result *result = NULL;
	const char *command = argc > 1 ? argv[1] : "";
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return 1;
	read_data(ctx, &r);
	if (strcmp(command, "cluster") == 0)
		cluster(ctx, &r, &result);
	else if (strcmp(command, "transfer") == 0)
		transfer(ctx, &r, &result);
	else if (strcmp(command, "predict") == 0)
		predict(ctx, &r, &result);
	else if (strcmp(command, "relate") == 0)
		relate(ctx, &r);
	if (result) {
		print_labels(result);
		check(ctx, kdr_result_write(ctx, result, get(&r, "out", "out.json"), true));
		if (get(&r, "samples", NULL))
			check(ctx, kdr_result_write_table(ctx, result, KDR_TABLE_SAMPLES,
			                                  kdr_result_ntasks(result) - 1,
			                                  get(&r, "samples", NULL), true));
		if (get(&r, "features_to", NULL))
			check(ctx, kdr_result_write_table(ctx, result, KDR_TABLE_FEATURES, 0,
			                                  get(&r, "features_to", NULL), true));
		if (get(&r, "save", NULL))
			check(ctx, kdr_model_save(ctx, get(&r, "save", NULL), result, true));
		if (get(&r, "page", NULL))
			check(ctx, kdr_report_result(ctx, result, get(&r, "page", NULL), true));
	}
	kdr_result_free(result);
	kdr_options_free(r.settings);
	for (int i = 0; i < r.count; i++)
		kdr_data_free(r.data[i]);
	kdr_context_free(ctx);
	return 0;
}
