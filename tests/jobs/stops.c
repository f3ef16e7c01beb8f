/* Jobs that are stopped at each of their events. SPDX-License-Identifier: BSD-3-Clause
 *
 * A job is run once to count its events, then again and again: at event number n it is cancelled, or its time is over. What it returns
 * then is used as a caller would: written, reported, saved as a model, read again. All of this must succeed, because the limit is
 * that of the job. A field that an early stop leaves unset ends the program or makes a file that cannot be read.
 *
 * Usage: stops [SCENARIO...]. KINDRED_STOPS=N in the environment: about N events of each job (default 8): half of them where another
 * stage begins, half at equal distances. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kindred/kindred.h"

enum { ROWS = 30, GROUPS = 3, SETS = 3 };

static char folder[] = "/tmp/kindred-stops-XXXXXX";

static const char *file(const char *name)
{
	static char path[8][256];
	static int next;
	char *p = path[next++ % 8];
	snprintf(p, 256, "%s/%s", folder, name);
	return p;
}

/* --- when to stop ------------------------------------------------------------------------------------------- */

enum { MOST_EVENTS = 1 << 18 };

typedef struct stop {
	kdr_context *ctx;
	long events, at; /* seen; the one at which it stops, from 1; 0: none */
	bool late;       /* by its time limit */
	bool *begins; /* at == 0: whether event number i is of another kind or stage than the one before it */
	char last[64];
} stop;

static int on_event(void *user, const kdr_event *event)
{
	stop *s = user;
	char own[64];
	s->events++;
	if (s->begins && s->events < MOST_EVENTS) {
		snprintf(own, sizeof own, "%d %s", (int)event->kind, event->stage);
		s->begins[s->events] = strcmp(own, s->last) != 0;
		memcpy(s->last, own, sizeof own);
	}
	if (s->at == 0 || s->events < s->at)
		return 0;
	if (s->late && s->events == s->at)
		kdr_context_set_time_limit(s->ctx, 1e-9);
	return !s->late;
}

/* --- what can be done with a result --------------------------------------------------------------------------- */

/* The failure of a step, which has a name for the message. */
typedef struct steps {
	kdr_context *ctx; /* of the job */
	const char *failed;
	char why[512];
} steps;

static void step_of(steps *s, kdr_context *ctx, const char *name, kdr_status st)
{
	if (s->failed || st == KDR_OK)
		return;
	s->failed = name;
	snprintf(s->why, sizeof s->why, "%s", kdr_context_error(ctx));
}

static void step(steps *s, const char *name, kdr_status st)
{
	step_of(s, s->ctx, name, st);
}

static bool take(void *user, const char *text, size_t length)
{
	(void)text;
	*(size_t *)user += length;
	return true;
}

static void look_at_tables(steps *s, const kdr_result *r)
{
	int64_t classes;
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		if (!kdr_result_labels(r, t, NULL))
			continue;
		step(s, "labels",
		     kdr_result_write_table(s->ctx, r, KDR_TABLE_LABELS, t, file("x.labels"), true));
		step(s, "samples",
		     kdr_result_write_table(s->ctx, r, KDR_TABLE_SAMPLES, t, file("x.samples.csv"), true));
		if (kdr_result_probabilities(r, t, &classes))
			step(s, "probabilities",
			     kdr_result_write_table(s->ctx, r, KDR_TABLE_PROBABILITIES, t, file("x.p.csv"),
			                            true));
		for (int64_t i = 0; kdr_result_advice(r, t, i); i++)
			step(s, "advice", KDR_OK);
	}
	step(s, "features",
	     kdr_result_write_table(s->ctx, r, KDR_TABLE_FEATURES, 0, file("features.csv"), true));
	for (int64_t i = 0; i < kdr_result_array_count(r); i++)
		step(s, "array", kdr_result_write_table(s->ctx, r, KDR_TABLE_ARRAY, i, file("x.npy"), true));
}

/* The copies of the input, of which the first `inputs` data sets of the result have a row each. */
static void look_at_copies(steps *s, const kdr_result *r, const kdr_read_options *reading,
                           kdr_data *const *data, int64_t inputs)
{
	for (int64_t t = 0; t < inputs; t++)
		if (kdr_result_labels(r, t, NULL))
			step(s, "table", kdr_result_write_input(s->ctx, r, t, NULL, file("back.csv"), true));
	if (inputs > 0 && kdr_build_has("hdf5"))
		step(s, "h5ad",
		     kdr_write_h5ad(s->ctx, file("back.h5ad"), kdr_data_path(data[0]), reading, data, inputs,
		                    r, NULL, NULL, true));
}

/* Each level, from the result.json. */
static void look_at_levels(steps *s, kdr_context *ctx, const kdr_result *r)
{
	const kdr_result *level;
	int64_t k[SETS];
	step_of(s, ctx, "folder", kdr_write_file(ctx, file("cut/x"), "", 0, true));
	for (int64_t i = 0; (level = kdr_result_level_at(r, i)); i++) {
		for (int64_t t = 0; t < kdr_result_ntasks(r); t++)
			k[t] = kdr_result_k(level, t);
		step_of(s, ctx, "cut",
		        kdr_cut(ctx, file("result.json"), k, kdr_result_ntasks(r), file("cut"), NULL, NULL,
		                true));
	}
}

/* What can be made of the files and of a model, by another command. */
static void look_again(steps *s, const kdr_result *r, kdr_read_options reading, kdr_data *const *data,
                       bool model)
{
	const kdr_relabel_options page = { .size = sizeof page, .report = true };
	const kdr_predict_options task = { .size = sizeof task, .task = kdr_result_task_name(r, 0) };
	kdr_context *ctx = NULL;
	kdr_model *loaded = NULL;
	kdr_data *again = NULL;
	kdr_result *predicted = NULL;
	step(s, "context", kdr_context_new(&ctx, NULL));
	if (s->failed)
		return;
	step_of(s, ctx, "report of result.json",
	        kdr_report(ctx, file("result.json"), file("again.html"), true));
	if (!kdr_result_classes(r, NULL))
		step_of(s, ctx, "relabel",
		        kdr_relabel(ctx, file("result.json"), file("names.csv"), file("edited"), &page,
		                    true));
	look_at_levels(s, ctx, r);
	if (model) {
		step_of(s, ctx, "model of it", kdr_model_new(ctx, r, &loaded));
		if (loaded)
			kdr_model_reading(loaded, &reading);
		step_of(s, ctx, "reading again", kdr_read(ctx, kdr_data_path(data[0]), &reading, &again));
		if (!s->failed)
			step_of(s, ctx, "prediction", kdr_predict(ctx, loaded, again, &task, &predicted));
	}
	kdr_result_free(predicted);
	kdr_data_free(again);
	kdr_model_free(loaded);
	kdr_context_free(ctx);
}

/* All that can be made of a result, together, as the program does it. */
static void look(steps *s, kdr_result *r, const kdr_read_options *reading, kdr_data *const *data,
                 int64_t inputs, bool model)
{
	char *text = NULL;
	size_t length = 0;
	step(s, "begin", kdr_outputs_begin(s->ctx, folder));
	if (model && kdr_build_has("hdf5"))
		step(s, "model", kdr_model_save(s->ctx, file("model.h5"), r, true));
	look_at_copies(s, r, reading, data, inputs);
	look_at_tables(s, r);
	step(s, "report", kdr_report_result(s->ctx, r, file("report.html"), true));
	step(s, "result.json", kdr_result_write(s->ctx, r, file("result.json"), true));
	step(s, "end", kdr_outputs_end(s->ctx, s->failed ? KDR_ERR_DATA : KDR_OK));
	for (int samples = 0; samples < 2; samples++) {
		step(s, "json", kdr_result_json(s->ctx, r, samples, &text, NULL));
		kdr_free(s->ctx, text);
		text = NULL;
	}
	step(s, "output", kdr_result_put(s->ctx, r, take, &length));
	if (!s->failed)
		look_again(s, r, *reading, data, model);
}

/* --- scenarios ------------------------------------------------------------------------------------------------- */

typedef struct scenario {
	const char *name;
	/* Does the job with a context that may stop it, and looks at the result. Returns the status of the job. */
	kdr_status (*run)(steps *s, stop *when, const struct scenario *own);
	const char *words[5][2]; /* options of the job */
	bool texts, model, one;  /* one: a single data set */
	bool needs_model;        /* that of write_model */
	bool bridged;            /* the second data set is a bridge */
	kdr_family family;
} scenario;

static kdr_status job(steps *s, stop *when, const scenario *own);

static kdr_read_options reading_of(const scenario *own)
{
	kdr_read_options o;
	kdr_read_options_init(&o);
	o.missing = "keep";
	o.label_column = "kind";
	o.text_column = own->texts ? "text" : NULL;
	return o;
}

static kdr_status read_all(steps *s, const scenario *own, kdr_data **data, int64_t *count)
{
	kdr_data **list = NULL;
	const kdr_read_options o = reading_of(own);
	const char *first = own->texts ? "t.csv" : own->needs_model && own->run == job ? "c.csv" : "a.csv";
	const kdr_task_path paths[SETS] = { { .path = file(first) },
		                            { .path = file(own->texts ? "u.csv" : "b.csv") },
		                            { .path = file("c.csv") } };
	kdr_status st = kdr_read_tasks(s->ctx, paths,
	                               own->one     ? 1
	                               : own->texts ? 2
	                                            : SETS,
	                               &o, &list, NULL, count);
	for (int64_t t = 0; st == KDR_OK && t < *count; t++)
		data[t] = list[t];
	kdr_free(s->ctx, list);
	return st;
}

static void free_all(kdr_data **data, int64_t count)
{
	for (int64_t t = 0; t < count; t++)
		kdr_data_free(data[t]);
}

static void begin(stop *when)
{
	kdr_context_set_progress(when->ctx, on_event, when);
}

/* Cluster or transfer. */
static kdr_status job(steps *s, stop *when, const scenario *own)
{
	const bool transfer = own->family == KDR_FAMILY_TRANSFER;
	const kdr_read_options reading = reading_of(own);
	kdr_data *data[SETS] = { NULL };
	kdr_result *r = NULL;
	kdr_job *options = NULL;
	kdr_model *model = NULL;
	const char *known[] = { file("known.txt") };
	int64_t count = 0;
	kdr_status st = read_all(s, own, data, &count);
	step(s, "reading", st);
	step(s, "options", kdr_job_new(s->ctx, own->family, &options));
	for (int i = 0; i < 5 && own->words[i][0] && !s->failed; i++) {
		kdr_job_options *o = kdr_job_options_of(options);
		if (strcmp(own->words[i][0], "known") == 0) {
			o->known_files = known;
			o->nknown_files = 1;
		} else if (strcmp(own->words[i][0], "into") == 0) {
			step(s, "model", kdr_model_load(s->ctx, file("into.h5"), &model));
			o->into = model;
		} else {
			step(s, own->words[i][0],
			     kdr_job_set(s->ctx, options, own->words[i][0], own->words[i][1]));
		}
	}
	if (!s->failed) {
		kdr_job_options *o = kdr_job_options_of(options);
		o->map = o->representation = true;
		o->score = true;
		o->model = own->model && kdr_build_has("hdf5");
		begin(when);
		const kdr_transfer_sets sets = { .size = sizeof sets,
			                         .sources = data,
			                         .nsources = 1,
			                         .bridges = data + 1,
			                         .nbridges = own->bridged,
			                         .targets = data + 1 + own->bridged,
			                         .ntargets = count - 1 - own->bridged };
		st = transfer ? kdr_transfer(s->ctx, &sets, o, &r) : kdr_cluster(s->ctx, data, count, o, &r);
	}
	if (r)
		look(s, r, &reading, data, kdr_result_ntasks(r) == count ? count : 0, own->model);
	kdr_result_free(r);
	kdr_job_free(options);
	kdr_model_free(model);
	free_all(data, count);
	return st;
}

static kdr_status job_predict(steps *s, stop *when, const scenario *own)
{
	kdr_data *data[SETS] = { NULL };
	kdr_result *r = NULL;
	kdr_model *model = NULL;
	int64_t count = 0;
	step(s, "reading", read_all(s, own, data, &count));
	step(s, "model", kdr_model_load(s->ctx, file("into.h5"), &model));
	begin(when);
	const kdr_status st = s->failed ? KDR_OK : kdr_predict(s->ctx, model, data[0], NULL, &r);
	if (r) {
		look_at_tables(s, r);
		step(s, "table", kdr_result_write_input(s->ctx, r, 0, NULL, file("back.csv"), true));
		step(s, "result.json", kdr_result_write(s->ctx, r, file("result.json"), true));
		step(s, "report", kdr_report_result(s->ctx, r, file("report.html"), true));
	}
	kdr_result_free(r);
	kdr_model_free(model);
	free_all(data, count);
	return st;
}

static kdr_status job_relate(steps *s, stop *when, const scenario *own)
{
	kdr_data *data[SETS] = { NULL };
	char *text = NULL;
	int64_t count = 0;
	step(s, "reading", read_all(s, own, data, &count));
	begin(when);
	const kdr_status st = kdr_relate(s->ctx, data, count, NULL, &text, NULL);
	if (st == KDR_OK && !strstr(text, "\"pairs\""))
		s->failed = "json";
	kdr_free(s->ctx, text);
	free_all(data, count);
	return st;
}

static kdr_status job_embed(steps *s, stop *when, const scenario *own)
{
	kdr_data *data[SETS] = { NULL };
	kdr_embedding *e = NULL;
	int64_t count = 0, n = 0;
	step(s, "reading", read_all(s, own, data, &count));
	begin(when);
	const kdr_status st = kdr_embed(s->ctx, data, count, NULL, &e);
	const double *xy[SETS] = { NULL };
	for (int64_t t = 0; e && t < count; t++) {
		xy[t] = kdr_embedding_task(e, t, &n);
		for (int64_t i = 0; i < 2 * n; i++)
			if (!(xy[t][i] - xy[t][i] == 0))
				s->failed = "coordinates";
	}
	if (e && kdr_build_has("hdf5"))
		step(s, "h5ad",
		     kdr_write_h5ad(s->ctx, file("back.h5ad"), kdr_data_path(data[0]), NULL, data, count,
		                    NULL, xy, NULL, true));
	if (e && !kdr_embedding_preprocessing(e))
		s->failed = "preprocessing";
	kdr_embedding_free(e);
	free_all(data, count);
	return st;
}

/* Reading, looking at files, counting words. */
static kdr_status job_files(steps *s, stop *when, const scenario *own)
{
	const kdr_corpus corpus = { .path = file("lines.txt"), .kind = KDR_CORPUS_LINES };
	kdr_data *data[SETS] = { NULL }, *words = NULL;
	kdr_findings *found = NULL;
	kdr_inspection about;
	kdr_scores scores;
	int64_t count = 0, labels[ROWS];
	begin(when);
	kdr_status st = kdr_inspect_file(s->ctx, file("a.csv"), NULL, &found);
	for (int64_t i = 0; st == KDR_OK && kdr_findings_at(found, i); i++)
		step(s, "finding", kdr_findings_at(found, i)->found ? KDR_OK : KDR_ERR_DATA);
	if (st == KDR_OK)
		st = kdr_vectorize(s->ctx, &corpus, 1, NULL, &words, NULL);
	if (st == KDR_OK)
		st = kdr_inspect(s->ctx, words, &about);
	if (st == KDR_OK)
		st = kdr_write(s->ctx, file("words.mtx"), NULL, words, true);
	if (st == KDR_OK)
		st = read_all(s, own, data, &count);
	for (int i = 0; i < ROWS; i++)
		labels[i] = i % GROUPS;
	if (st == KDR_OK)
		st = kdr_evaluate(s->ctx, labels, kdr_data_labels(data[0]), ROWS, &scores);
	kdr_findings_free(found);
	kdr_data_free(words);
	free_all(data, count);
	return st;
}

#define CLUSTER(name_, ...) \
	{ \
		.name = name_, .run = job, .family = KDR_FAMILY_CLUSTER, .words = { __VA_ARGS__ }
#define TRANSFER(name_, ...) \
	{ \
		.name = name_, .run = job, .family = KDR_FAMILY_TRANSFER, .words = { __VA_ARGS__ }

static const scenario scenarios[] = { CLUSTER("cluster", { "clusters", "3" }), .model = true },
                      CLUSTER("cluster, quality", { "clusters", "3" }, { "quality", "1" },
                              { "resamples", "1" })
}
, CLUSTER("cluster, any k", { "quality", "1" })
}
, CLUSTER("cluster, levels", { "clusters", "2-4" }), .model = true
}
, CLUSTER("cluster, levels of kmeans", { "method", "kmeans" }, { "clusters", "2-4" }, { "quality", "1" })
}
, CLUSTER("cluster, texts", { "clusters", "2" }), .texts = true, .model = true
}
, CLUSTER("cluster, one", { "clusters", "3" }), .model = true, .one = true
}
, CLUSTER("cluster, known", { "known", "" }, { "clusters", "3" }), .one = true
}
, CLUSTER("cluster, alone", { "clusters", "3" }, { "transfer", "0" })
}
, CLUSTER("cluster, features", { "method", "kmeans" }, { "features-from", "msda" }, { "clusters", "3" })
}
, CLUSTER("cluster, pooled", { "method", "kmeans" }, { "pooled", "1" }, { "clusters", "3" }), .model = true
}
, TRANSFER("transfer", { NULL, NULL }), .model = true
}
, TRANSFER("transfer, probabilities", { "probabilities", "1" })
}
, TRANSFER("transfer, texts", { NULL, NULL }), .texts = true, .model = true
}
, CLUSTER("cluster, into a model", { "into", "" }, { "clusters", "3" }), .one = true, .needs_model = true
}
, { .name = "predict", .run = job_predict, .one = true, .needs_model = true },
        { .name = "relate", .run = job_relate }, { .name = "embed", .run = job_embed },
        { .name = "files", .run = job_files },
}
;

/* --- the driver ------------------------------------------------------------------------------------------------ */

/* One run, stopped at event `at`; 0: at none. Returns how many events there were; -1: something failed. */
static long run(const scenario *own, long at, bool late, bool *begins)
{
	kdr_context *ctx = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return -1;
	stop when = { .ctx = ctx, .at = at, .late = late, .begins = begins };
	steps s = { .ctx = ctx };
	kdr_context_set_threads(ctx, 1);
	const kdr_status st = own->run(&s, &when, own);
	/* Reading and relating return an error instead of a part, which says that they were stopped. */
	const bool refused = st != KDR_OK && (at == 0 || !strstr(kdr_context_error(ctx), "stopped"));
	if (s.failed || refused)
		fprintf(stderr, "%s, %s at event %ld: %s: %s\n", own->name,
		        late ? "out of time" : "cancelled", at, s.failed ? s.failed : "the job",
		        s.failed ? s.why : kdr_context_error(ctx));
	kdr_context_free(ctx);
	return s.failed || refused ? -1 : when.events;
}

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text ? strtol(text, NULL, 10) : otherwise;
}

/* Whether number i of n is one of `most` at equal distances, with the first and the last. */
static bool chosen(long i, long n, long most)
{
	return n <= most || i + 1 == n || i * (most - 1) / (n - 1) != (i - 1) * (most - 1) / (n - 1) ||
	       i == 0;
}

static int stop_everywhere(const scenario *own)
{
	static bool begins[MOST_EVENTS];
	const long half = setting("KINDRED_STOPS", 8) / 2, count = run(own, 0, false, begins);
	long stopped = 0, stages = 0, stage = 0;
	int failed = count <= 0;
	if (count == 0)
		fprintf(stderr, "%s: no event\n", own->name);
	for (long at = 1; at <= count; at++)
		stages += begins[at];
	for (long at = 1; at <= count; at++) {
		const bool first = begins[at] && chosen(stage, stages, half);
		stage += begins[at];
		for (int late = 0; late < 2 && (first || chosen(at - 1, count, half)); late++, stopped++)
			failed |= run(own, at, late, NULL) < 0;
	}
	printf("%s: %ld events of %ld stages, stopped %ld times\n", own->name, count, stages, stopped);
	fflush(stdout);
	return failed;
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(file(name), "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(name);
		exit(1);
	}
}

/* Tables of three groups with their classes, texts of two topics with theirs, classes of some samples. */
static void write_inputs(void)
{
	static const char *const tables[] = { "a.csv", "b.csv", "c.csv" };
	char text[ROWS * 80];
	for (int t = 0; t < 3; t++) {
		strcpy(text, "x,y,z,kind\n");
		for (int i = 0; i < ROWS - 4 * t; i++)
			snprintf(text + strlen(text), 80, "%d.%d,%d.%d,%s%d,%c\n", i % GROUPS * 10,
			         (i * 7 + t) % 9, i % GROUPS * i % 4, i % 7, i % 11 == 5 && t == 1 ? "" : "1",
			         i % 5, 'p' + i % GROUPS);
		write_text(tables[t], text);
	}
	for (int t = 0; t < 2; t++) {
		strcpy(text, "text,kind\n");
		for (int i = 0; i < ROWS; i++)
			snprintf(text + strlen(text), 80, "%s word%d word%d,%c\n",
			         i % 2 ? "star moon orbit" : "stock bank price", i % 9, (i + t) % 4,
			         'p' + i % 2);
		write_text(t ? "u.csv" : "t.csv", text);
	}
	write_text(
	        "lines.txt",
	        "red wine and bread\nblue sea, white sail\nred wine\nsail the blue sea\nbread, red\nsea\n");
	write_text("names.csv", "0,here\n");
	text[0] = '\0';
	for (int i = 0; i < ROWS; i++)
		strcat(text, i < 6 ? i % GROUPS == 0 ? "x\n" : "y\n" : "?\n");
	write_text("known.txt", text);
}

/* The model that others are added to. */
static bool write_model(void)
{
	const scenario own = { .name = "model", .one = true };
	kdr_context *ctx = NULL;
	kdr_data *data[SETS] = { NULL };
	kdr_result *r = NULL;
	kdr_job_options o;
	int64_t count = 0;
	kdr_job_options_init(&o);
	o.k = GROUPS;
	o.model = true;
	bool made = kdr_context_new(&ctx, NULL) == KDR_OK;
	steps s = { .ctx = ctx };
	made = made && read_all(&s, &own, data, &count) == KDR_OK &&
	       kdr_cluster(ctx, data, count, &o, &r) == KDR_OK &&
	       kdr_model_save(ctx, file("into.h5"), r, true) == KDR_OK;
	if (!made)
		fprintf(stderr, "cannot make the model: %s\n", kdr_context_error(ctx));
	kdr_result_free(r);
	free_all(data, count);
	kdr_context_free(ctx);
	return made;
}

/* Whether a scenario was asked for; without arguments all are. */
static bool wanted(const char *name, int argc, char **argv)
{
	bool found = argc < 2;
	for (int i = 1; i < argc; i++)
		found = found || strcmp(argv[i], name) == 0;
	return found;
}

/* Each method of its own; the default has been stopped before. */
static int stop_methods(int argc, char **argv)
{
	const kdr_algo *algo;
	int failed = 0;
	for (size_t i = 0; (algo = kdr_algo_at(i)); i++) {
		const bool transfer = algo->family == KDR_FAMILY_TRANSFER;
		const scenario own = { .name = algo->id,
			               .run = job,
			               .family = algo->family,
			               .bridged = algo->flags & KDR_ALGO_BRIDGE,
			               .words = { { "method", algo->id },
			                          { transfer ? NULL : "clusters", "3" } } };
		if ((transfer || algo->family == KDR_FAMILY_CLUSTER) && strncmp(algo->id, "auto", 4) != 0 &&
		    wanted(algo->id, argc, argv))
			failed |= stop_everywhere(&own);
	}
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	const bool models = kdr_build_has("hdf5");
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	write_inputs();
	failed |= models && !write_model();
	for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
		if (wanted(scenarios[i].name, argc, argv) && (models || !scenarios[i].needs_model))
			failed |= stop_everywhere(&scenarios[i]);
	failed |= stop_methods(argc, argv);
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || failed;
}
