/* Jobs of one call each, files, measures, with every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/metrics/metrics.h"
#include "oom.h"

#include <stdio.h>
#include <string.h>

static kdr_status evaluate(kdr_context *ctx)
{
	kdr_scores scores;
	int64_t *counts = NULL, *clusters = NULL, *classes = NULL, nclusters, nclasses;
	kdr_status st = kdr_evaluate(ctx, labels_a, labels_b, N, &scores);
	if (st == KDR_OK)
		st = kdr_contingency(ctx, labels_a, labels_b, N, &counts, &clusters, &nclusters, &classes,
		                     &nclasses);
	kdr_free(ctx, counts);
	kdr_free(ctx, clusters);
	kdr_free(ctx, classes);
	return st;
}

static kdr_status silhouettes(kdr_context *ctx)
{
	double values[N], mean;
	kdr_mat dense = kdr_mat_from_dense(points, N, D),
	        sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_status st = kdri_silhouette(ctx, &dense, labels_a, KDR_SILHOUETTE_EXACT, values, &mean);
	if (st == KDR_OK)
		st = kdri_silhouette(ctx, &sparse, labels_a, KDR_SILHOUETTE_EXACT, values, &mean);
	if (st == KDR_OK)
		st = kdri_silhouette(ctx, &sparse, labels_a, KDR_SILHOUETTE_SIMPLIFIED, values, &mean);
	return st;
}

static kdr_status read_and_prepare(kdr_context *ctx)
{
	kdr_data *data[3] = { NULL };
	kdr_prep *prep = NULL;
	kdr_labels *labels = NULL;
	kdr_prep_options options = { .size = sizeof(kdr_prep_options),
		                     .weight = KDR_WEIGHT_TFIDF,
		                     .norm = KDR_NORM_L2,
		                     .top_features = 2 };
	kdr_recipe recipe;
	kdr_status st = kdr_read(ctx, file("a.csv"), NULL, &data[0]);
	if (st == KDR_OK)
		st = kdr_read(ctx, file("b.mtx.gz"), NULL, &data[1]);
	if (st == KDR_OK)
		st = kdr_read(ctx, file("c.npy"), NULL, &data[2]);
	if (st == KDR_OK)
		st = kdr_read_labels(ctx, file("a.labels"), &labels);
	if (st == KDR_OK)
		st = kdr_recipe_find(ctx, data, 3, &recipe);
	if (st == KDR_OK)
		st = kdr_prepare(ctx, data, 3, &options, &prep);
	if (st == KDR_OK)
		st = kdr_write(ctx, file("d.mtx.gz"), NULL, data[1], true);
	kdr_labels_free(labels);
	kdr_prep_free(prep);
	for (int i = 0; i < 3; i++)
		kdr_data_free(data[i]);
	return st;
}

/* Rows of the points with names and classes, from a file. */
static kdr_status labelled(kdr_context *ctx, const char *name, kdr_data **out)
{
	static const char *const features[] = { "x", "y", "z" }, *const classes[] = { "p", "q", "r" };
	kdr_mat x = kdr_mat_from_dense(points, N, D);
	kdr_status st = kdr_data_new(ctx, name, &x, features, out);
	return st == KDR_OK ? kdr_data_set_labels(ctx, *out, labels_a, classes, K) : st;
}

/* JSON to memory and disk, and a page. */
static kdr_status tell(kdr_context *ctx, const kdr_result *result)
{
	char *text = NULL;
	kdr_status st = kdr_result_json(ctx, result, true, &text, NULL);
	kdr_free(ctx, text);
	if (st == KDR_OK)
		st = kdr_result_write(ctx, result, file("job.json"), true);
	return st == KDR_OK ? kdr_report_result(ctx, result, file("page.html"), true) : st;
}

static kdr_status job_cluster(kdr_context *ctx)
{
	static const int64_t rows[] = { 0, 1, 2, 5, 7, 8, 11, 13 };
	kdr_data *data[2] = { NULL }, *some = NULL;
	kdr_result *result = NULL;
	kdr_model *model = NULL;
	kdr_job *job = NULL;
	static const char *const words[][2] = { { "method", "mbc" },
		                                { "set", "max_iter=20" },
		                                { "clusters", "3,3" },
		                                { "preprocess", "by-data" } };
	kdr_status st = labelled(ctx, "a", &data[0]);
	if (st == KDR_OK)
		st = kdr_job_new(ctx, KDR_FAMILY_CLUSTER, &job);
	for (int i = 0; i < 4 && st == KDR_OK; i++)
		st = kdr_job_set(ctx, job, words[i][0], words[i][1]);
	if (st == KDR_OK)
		kdr_job_options_of(job)->score = true;
	if (st == KDR_OK)
		st = labelled(ctx, "b", &data[1]);
	if (st == KDR_OK)
		st = kdr_data_rows(ctx, data[0], rows, 8, &some);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data, 2, kdr_job_options_of(job), &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	if (st == KDR_OK)
		st = kdr_model_save(ctx, file("job.h5"), result, true);
	if (st == KDR_OK)
		st = kdr_model_load(ctx, file("job.h5"), &model);
	kdr_result_free(result);
	result = NULL;
	if (st == KDR_OK)
		st = kdr_predict(ctx, model, some,
		                 &(kdr_predict_options){ .size = sizeof(kdr_predict_options), .task = "b" },
		                 &result);
	kdr_result_free(result);
	kdr_model_free(model);
	kdr_job_free(job);
	kdr_data_free(some);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

/* Texts by word vectors: a model, and predictions for the same texts. */
static kdr_status job_vectors(kdr_context *ctx)
{
	kdr_data *data = NULL, *again = NULL;
	kdr_result *result = NULL;
	kdr_model *model = NULL;
	kdr_job_options o;
	kdr_read_options reading;
	char texts[700];
	snprintf(texts, sizeof texts, "vectors=%s", file("t.vec"));
	kdr_read_options_init(&reading);
	reading.text_column = "text";
	reading.texts = texts;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = 2;
	o.model = true;
	kdr_status st = kdr_read(ctx, file("t.csv"), &reading, &data);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, &data, 1, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	if (st == KDR_OK)
		st = kdr_model_save(ctx, file("job.h5"), result, true);
	if (st == KDR_OK)
		st = kdr_model_load(ctx, file("job.h5"), &model);
	kdr_result_free(result);
	result = NULL;
	if (st == KDR_OK) {
		kdr_model_reading(model, &reading);
		st = kdr_read(ctx, file("t.csv"), &reading, &again);
	}
	if (st == KDR_OK)
		st = kdr_predict(ctx, model, again, NULL, &result);
	kdr_result_free(result);
	kdr_model_free(model);
	kdr_data_free(data);
	kdr_data_free(again);
	return st;
}

/* A small data set with a larger one like it, into K to k_to clusters (0: K). `from`: whose clusters it should have, NULL: none. */
static kdr_status together(kdr_context *ctx, bool transfer, int64_t k_to, const char *from)
{
	enum { MANY = 4 * N };
	static double many[MANY * D];
	kdr_data *data[2] = { NULL };
	kdr_options *settings = NULL;
	kdr_result *result = NULL;
	kdr_job_options o;
	for (int i = 0; i < MANY * D; i++)
		many[i] = points[i % (N * D)] + (i / (N * D)) * 0.01 * (i % 7);
	const kdr_mat small = kdr_mat_from_dense(points, N, D), large = kdr_mat_from_dense(many, MANY, D);
	kdr_job_options_init(&o);
	o.k = K;
	o.k_to = k_to;
	kdr_status st = kdr_data_new(ctx, "small", &small, NULL, &data[0]);
	if (st == KDR_OK)
		st = kdr_data_new(ctx, "large", &large, NULL, &data[1]);
	if (st == KDR_OK)
		st = kdr_options_new(ctx, "auto", &settings);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, settings, "seeds", "1");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, settings, "transfer", transfer ? "true" : "false");
	o.settings = settings;
	o.choice = KDR_PREP_NONE;
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data, 2, &o, &result);
	if (st == KDR_OK) {
		const char *found = kdr_result_sharing(result, 0).from;
		if (from ? !found || strcmp(found, from) != 0 : found != NULL)
			st = KDR_ERR_DATA; /* the scenario does not do what it is for */
	}
	kdr_result_free(result);
	kdr_options_free(settings);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

static kdr_status job_carried(kdr_context *ctx)
{
	return together(ctx, true, 0, "large");
}

static kdr_status job_alone(kdr_context *ctx)
{
	return together(ctx, false, 0, NULL);
}

static kdr_status job_alone_levels(kdr_context *ctx)
{
	return together(ctx, false, K + 1, NULL);
}

/* Texts that are read together and alone: compared with runs alone, or with nothing from each other. */
static kdr_status texts_together(kdr_context *ctx, bool transfer)
{
	kdr_data **data = NULL;
	kdr_options *settings = NULL;
	kdr_result *result = NULL;
	int64_t count = 0;
	kdr_read_options reading;
	kdr_job_options o;
	const kdr_task_path paths = { .path = file("u.csv") };
	kdr_read_options_init(&reading);
	reading.text_column = "text";
	reading.task_column = "place";
	kdr_job_options_init(&o);
	o.k = 2;
	kdr_status st = kdr_read_tasks(ctx, &paths, 1, &reading, &data, NULL, &count);
	if (st == KDR_OK)
		st = kdr_options_new(ctx, "auto", &settings);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, settings, "seeds", "1");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, settings, "transfer", transfer ? "true" : "false");
	o.settings = settings;
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data, count, &o, &result);
	kdr_result_free(result);
	kdr_options_free(settings);
	for (int64_t t = 0; t < count; t++)
		kdr_data_free(data[t]);
	kdr_free(ctx, data);
	return st;
}

static kdr_status job_texts(kdr_context *ctx)
{
	return texts_together(ctx, true);
}

static kdr_status job_texts_alone(kdr_context *ctx)
{
	return texts_together(ctx, false);
}

static kdr_status job_features(kdr_context *ctx)
{
	static const char edits[] =
	        "{\"format\": \"kindred-edits\", \"version\": 1, \"edits\": [{\"do\": \"rename\", \"cluster\": 0, \"name\": \"x\"},"
	        "{\"do\": \"wrong\", \"task\": \"a\", \"samples\": [0]},"
	        "{\"do\": \"merge\", \"cluster\": 1, \"into\": 0},"
	        "{\"do\": \"note\", \"task\": \"a\", \"samples\": [1], \"text\": \"y\"}]}";
	kdr_data *data = NULL;
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.features_from = "msda";
	o.k = K - 1;
	o.k_to = K;
	kdr_status st = labelled(ctx, "a", &data);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, &data, 1, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	if (st == KDR_OK)
		st = kdr_cut(ctx, file("job.json"), &o.k, 1, file(""), NULL, NULL, true);
	if (st == KDR_OK)
		st = kdr_write_file(ctx, file("edits.json"), edits, sizeof edits - 1, true);
	if (st == KDR_OK)
		st = kdr_relabel(ctx, file("job.json"), file("edits.json"), file("edited"), NULL, true);
	kdr_result_free(result);
	kdr_data_free(data);
	return st;
}

/* Levels that auto derives from the members of two of them. */
static kdr_status job_levels(kdr_context *ctx)
{
	kdr_data *data = NULL;
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.k = 2;
	o.k_to = K + 1;
	kdr_status st = labelled(ctx, "a", &data);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, &data, 1, &o, &result);
	kdr_result_free(result);
	kdr_data_free(data);
	return st;
}

/* Levels of methods that compute a graph, directions or features once. */
static kdr_status job_levels_shared(kdr_context *ctx)
{
	static const char *const methods[] = { "ncut", "pca-kmeans", "mtcfir" };
	kdr_status st = KDR_OK;
	for (size_t m = 0; m < sizeof methods / sizeof *methods && st == KDR_OK; m++) {
		kdr_data *data = NULL;
		kdr_result *result = NULL;
		kdr_job_options o;
		kdr_job_options_init(&o);
		o.method = methods[m];
		o.k = 2;
		o.k_to = 3;
		st = labelled(ctx, "a", &data);
		if (st == KDR_OK)
			st = kdr_cluster(ctx, &data, 1, &o, &result);
		kdr_result_free(result);
		kdr_data_free(data);
	}
	return st;
}

/* Known classes and links from files. */
static kdr_status job_known(kdr_context *ctx)
{
	kdr_data *data = NULL;
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	char known[256];
	snprintf(known, sizeof known, "%s", file("known.txt"));
	FILE *f = fopen(known, "w");
	for (int i = 0; f && i < N; i++)
		fprintf(f, "%s\n", i < 6 ? i % K == 0 ? "x" : "y" : "?");
	if (f)
		fclose(f);
	const char *files[] = { known };
	o.method = "kmeans";
	o.k = K;
	o.known_files = files;
	o.nknown_files = 1;
	kdr_status st = labelled(ctx, "a", &data);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, &data, 1, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	kdr_result_free(result);
	kdr_data_free(data);
	return st;
}

/* A model, a data set that is added to it, and predictions; `words`: with weights of words; `means`: without samples. */
static kdr_status into(kdr_context *ctx, bool words, bool means)
{
	kdr_data *data[3] = { NULL };
	kdr_result *result = NULL, *added = NULL, *found = NULL;
	kdr_model *model = NULL;
	kdr_job_options o;
	kdr_prep_options prep = { .size = sizeof prep, .weight = KDR_WEIGHT_TFIDF, .norm = KDR_NORM_L2 };
	kdr_job_options_init(&o);
	o.k = K;
	o.model = true;
	o.model_size = N - 2;
	o.model_without_samples = means;
	o.prep = words ? &prep : NULL;
	kdr_status st = labelled(ctx, "a", &data[0]);
	if (st == KDR_OK)
		st = labelled(ctx, "b", &data[1]);
	if (st == KDR_OK)
		st = labelled(ctx, "c", &data[2]);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data, 1, &o, &result);
	if (st == KDR_OK)
		st = kdr_model_save(ctx, file("into.h5"), result, true);
	if (st == KDR_OK)
		st = kdr_model_load(ctx, file("into.h5"), &model);
	o.into = model;
	o.prep = NULL;
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data + 1, 1, &o, &added);
	if (st == KDR_OK)
		st = kdr_predict(ctx, model, data[2], NULL, &found);
	kdr_result_free(found);
	kdr_result_free(added);
	kdr_model_free(model);
	kdr_result_free(result);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	kdr_data_free(data[2]);
	return st;
}

static kdr_status job_into(kdr_context *ctx)
{
	return into(ctx, false, false);
}

static kdr_status job_into_words(kdr_context *ctx)
{
	return into(ctx, true, false);
}

static kdr_status job_into_means(kdr_context *ctx)
{
	return into(ctx, false, true);
}

static kdr_status job_transfer(kdr_context *ctx)
{
	kdr_data *source = NULL, *target = NULL, *bridges[2] = { NULL };
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "nmtf";
	o.score = true;
	o.every_bridge = true;
	kdr_status st = labelled(ctx, "source", &source);
	if (st == KDR_OK)
		st = labelled(ctx, "target", &target);
	for (int i = 0; i < 2 && st == KDR_OK; i++)
		st = labelled(ctx, i ? "b1" : "b0", &bridges[i]);
	const kdr_transfer_sets sets = { .size = sizeof(kdr_transfer_sets),
		                         .sources = &source,
		                         .nsources = 1,
		                         .targets = &target,
		                         .ntargets = 1,
		                         .bridges = bridges,
		                         .nbridges = 2 };
	if (st == KDR_OK)
		st = kdr_transfer(ctx, &sets, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	kdr_result_free(result);
	kdr_data_free(source);
	kdr_data_free(target);
	kdr_data_free(bridges[0]);
	kdr_data_free(bridges[1]);
	return st;
}

static kdr_status job_selector(kdr_context *ctx)
{
	kdr_data *data[3] = { NULL };
	kdr_selector s;
	kdr_status st = KDR_OK;
	static const char *const classes[] = { "p", "q", "r", "s" };
	for (int i = 0; i < 3 && st == KDR_OK; i++)
		st = labelled(ctx, &"abc"[i], &data[i]);
	if (st == KDR_OK) /* classes that nothing helps to find */
		st = kdr_data_set_labels(ctx, data[2], labels_b, classes, 4);
	if (st == KDR_OK)
		st = kdr_train_selector(ctx, data, 3, NULL, &s);
	for (int i = 0; i < 3; i++)
		kdr_data_free(data[i]);
	return st;
}

static kdr_status job_relate(kdr_context *ctx)
{
	kdr_data *data[2] = { NULL };
	char *text = NULL;
	kdr_status st = labelled(ctx, "a", &data[0]);
	if (st == KDR_OK)
		st = labelled(ctx, "b", &data[1]);
	if (st == KDR_OK)
		st = kdr_relate(ctx, data, 2, NULL, &text, NULL);
	kdr_free(ctx, text);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

static kdr_status job_embed(kdr_context *ctx)
{
	kdr_data *data[2] = { NULL };
	kdr_embedding *embedding = NULL;
	kdr_embed_options o;
	kdr_embed_options_init(&o);
	o.sweeps = 3;
	kdr_status st = labelled(ctx, "a", &data[0]);
	if (st == KDR_OK)
		st = labelled(ctx, "b", &data[1]);
	if (st == KDR_OK)
		st = kdr_embed(ctx, data, 2, &o, &embedding);
	kdr_embedding_free(embedding);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

/* A text a sample, and what a report draws of them. */
static kdr_status job_map(kdr_context *ctx)
{
	static const char lines[] =
	        "red wine and bread\nblue sea, white sail\nred wine\nsail the blue sea\nbread, red\nsea\n";
	kdr_data *data = NULL, *view = NULL;
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_status st = kdr_write_file(ctx, file("lines.txt"), lines, sizeof lines - 1, true);
	const kdr_corpus corpus = { .path = file("lines.txt"), .kind = KDR_CORPUS_LINES };
	const kdr_text_options ascii = { .size = sizeof(kdr_text_options), .tokens = KDR_TOKENS_ASCII };
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.map = o.representation = true;
	o.k = 2;
	if (st == KDR_OK)
		st = kdr_vectorize(ctx, &corpus, 1, &ascii, &data, NULL);
	if (st == KDR_OK)
		st = kdr_data_view(ctx, data, "again", &view);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, (kdr_data *const[]){ data, view }, 2, &o, &result);
	if (st == KDR_OK)
		st = kdr_result_set_command_line(ctx, result, "kindred cluster -k 2 lines.txt");
	if (st == KDR_OK)
		st = tell(ctx, result);
	kdr_result_free(result);
	kdr_data_free(view);
	kdr_data_free(data);
	return st;
}

static kdr_status generate(kdr_context *ctx)
{
	kdr_design spec;
	kdr_design blobs;
	static const int64_t samples[] = { 10, 6 };
	kdr_design tables;
	kdr_generator *g = NULL, *h = NULL, *made = NULL;
	kdr_data *data = NULL, *table = NULL;
	kdr_design_init(&spec, KDR_DESIGN_TOPICS);
	kdr_design_init(&tables, KDR_DESIGN_TABLES);
	kdr_design_init(&blobs, KDR_DESIGN_BLOBS);
	spec.samples = blobs.samples = tables.samples = samples;
	spec.tasks = blobs.tasks = 2;
	spec.words = 60;
	kdr_status st = kdr_generate(ctx, &spec, &g);
	if (st == KDR_OK)
		st = kdr_generator_data(ctx, g, 1, &data);
	if (st == KDR_OK)
		st = kdr_generator_write(ctx, g, 0, file("topics.mtx"), file("topics.labels"), true);
	if (st == KDR_OK)
		st = kdr_generate(ctx, &blobs, &h);
	if (st == KDR_OK)
		st = kdr_generator_write(ctx, h, 0, file("blobs.csv.gz"), NULL, true);
	if (st == KDR_OK)
		st = kdr_generate(ctx, &tables, &made);
	if (st == KDR_OK)
		st = kdr_generator_write(ctx, made, 1, file("tables.csv"), NULL, true);
	if (st == KDR_OK)
		st = kdr_generator_data(ctx, made, 0, &table);
	kdr_data_free(table);
	kdr_generator_free(made);
	kdr_data_free(data);
	kdr_generator_free(g);
	kdr_generator_free(h);
	return st;
}

static kdr_status report(kdr_context *ctx)
{
	return kdr_report(ctx, file("result.json"), file("report.html"), true);
}

const oom_scenario oom_jobs[] = {
	{ "evaluate", evaluate, 1 },
	{ "silhouettes", silhouettes, 1 },
	{ "read_and_prepare", read_and_prepare, 1 },
	{ "job_cluster", job_cluster, 1 },
	{ "job_vectors", job_vectors, 1 },
	{ "job_carried", job_carried, 11 },
	{ "job_alone", job_alone, 11 },
	{ "job_alone_levels", job_alone_levels, 23 },
	{ "job_texts", job_texts, 23 },
	{ "job_texts_alone", job_texts_alone, 23 },
	{ "job_features", job_features, 1 },
	{ "job_levels", job_levels, 1 },
	{ "job_levels_shared", job_levels_shared, 1 },
	{ "job_known", job_known, 1 },
	{ "job_into", job_into, 1 },
	{ "job_into_words", job_into_words, 1 },
	{ "job_into_means", job_into_means, 1 },
	{ "job_transfer", job_transfer, 1 },
	{ "job_relate", job_relate, 1 },
	{ "job_selector", job_selector, 1 },
	{ "job_embed", job_embed, 1 },
	{ "job_map", job_map, 1 },
	{ "generate", generate, 1 },
	{ "report", report, 1 },
	{ NULL, NULL, 0 },
};
