/* Tables with columns of all kinds, with every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause */
#include "oom.h"

#include <string.h>

static const char text[] =
        "Nr;stadt;preis;tag;notiz\n"
        "1;K\xf6ln;1.000,5 EUR;1.2.2021;a\n2;Rom;2,5 EUR;2.2.2021;b\n3;K\xf6ln;NA;3.2.2021;c\n"
        "4;Rom;4,25 EUR;;c\n5;K\xf6ln;7 EUR;7.2.2021;d\n6;\"Rom\";8 EUR;9.2.2021;\"e \"\"f\"\"\"\n"
        "7;Rom;1 EUR;11.2.2021;g\n8;Bern;1 EUR;12.2.2021;g\n9;Bern;2 EUR;13.2.2021;g\n";

static kdr_status written(kdr_context *ctx, const char **path)
{
	*path = file("mixed.csv");
	return kdr_write_file(ctx, *path, text, strlen(text), true);
}

static kdr_status policies(kdr_context *ctx)
{
	static const char *const all[] = { "zero", "mean", "median", "drop-row", "drop-column" };
	static const char *const na[] = { "7 EUR", NULL };
	const char *path;
	kdr_status st = written(ctx, &path);
	for (int i = 0; i < 5 && st == KDR_OK; i++) {
		kdr_data *data = NULL;
		kdr_read_options o = { .size = sizeof(kdr_read_options),
			               .missing = all[i],
			               .na = na,
			               .columns = "-Nr,notiz:category,\"tag\":date",
			               .rename = (const char *const[]){ "stadt=Ort", NULL } };
		st = kdr_read(ctx, path, &o, &data);
		kdr_data_free(data);
	}
	return st;
}

/* A part of a table's rows, and of those of an HDF5 file. */
static kdr_status parted(kdr_context *ctx)
{
	const char *path;
	kdr_data *data = NULL, *again = NULL;
	kdr_read_options o = {
		.size = sizeof(kdr_read_options), .part = 1, .parts = 2, .missing = "zero", .columns = "-tag"
	};
	kdr_status st = written(ctx, &path);
	if (st == KDR_OK)
		st = kdr_read(ctx, path, &o, &data);
	if (st == KDR_OK && kdr_build_has("hdf5")) {
		st = kdr_write(ctx, file("part.h5"), NULL, data, true);
		if (st == KDR_OK)
			st = kdr_read(ctx, file("part.h5"), &o, &again);
	}
	kdr_data_free(data);
	kdr_data_free(again);
	return st;
}

static kdr_status inspected(kdr_context *ctx)
{
	const char *path;
	kdr_findings *found = NULL;
	kdr_status st = written(ctx, &path);
	if (st == KDR_OK)
		st = kdr_inspect_file(ctx, path, NULL, &found);
	kdr_findings_free(found);
	return st;
}

/* Two tasks of one table, a model, and samples read as it was fitted. */
static kdr_status modelled(kdr_context *ctx)
{
	const char *path;
	kdr_data **tasks = NULL, *again = NULL, *view = NULL;
	kdr_result *r = NULL, *predicted = NULL;
	kdr_model *model = NULL;
	kdr_job_options o;
	kdr_read_options reading = { .size = sizeof(kdr_read_options),
		                     .missing = "mean",
		                     .task_column = "stadt" };
	char **copies = NULL;
	int64_t count = 0;
	kdr_status st = written(ctx, &path);
	const kdr_task_path one = { .path = path };
	const kdr_prep_options prep = { .size = sizeof prep, .scale = KDR_SCALE_STANDARD };
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.prep = &prep;
	o.k = 1;
	if (st == KDR_OK)
		st = kdr_read_tasks(ctx, &one, 1, &reading, &tasks, NULL, &count);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, tasks, count, &o, &r);
	if (st == KDR_OK)
		st = kdr_copy_paths(ctx, tasks, count, true, file("back.csv"), &copies);
	kdr_free(ctx, copies);
	if (st == KDR_OK)
		st = kdr_result_write_input(ctx, r, 0, NULL, file("back.csv"), true);
	if (st == KDR_OK)
		st = kdr_result_write(ctx, r, file("result.json"), true);
	if (st == KDR_OK)
		st = kdr_write_file(ctx, file("names.csv"), "0,here\n", 7, true);
	const kdr_relabel_options tables = { .size = sizeof tables, .table = file("edited.csv") };
	if (st == KDR_OK)
		st = kdr_relabel(ctx, file("result.json"), file("names.csv"), file("edited"), &tables, true);
	path = file("mixed.csv");
	if (st == KDR_OK)
		st = kdr_model_new(ctx, r, &model);
	reading = (kdr_read_options){ .size = sizeof(kdr_read_options), .task_column = "stadt" };
	if (st == KDR_OK) {
		kdr_model_reading(model, &reading);
		st = kdr_read(ctx, path, &reading, &again);
	}
	if (st == KDR_OK)
		st = kdr_data_view(ctx, again, NULL, &view);
	kdr_predict_options task = { .size = sizeof(kdr_predict_options), .task = "Rom" };
	if (st == KDR_OK)
		st = kdr_predict(ctx, model, view, &task, &predicted);
	kdr_result_free(predicted);
	predicted = NULL;
	if (st == KDR_OK) /* each row by its own task */
		st = kdr_predict(ctx, model, again, NULL, &predicted);
	kdr_result_free(predicted);
	kdr_data_free(view);
	kdr_data_free(again);
	kdr_model_free(model);
	kdr_result_free(r);
	for (int64_t i = 0; tasks && i < count; i++)
		kdr_data_free(tasks[i]);
	kdr_free(ctx, tasks);
	return st;
}

/* The words of a column, with names and data sets in others, and the table written back. */
static kdr_status texts(kdr_context *ctx)
{
	static const char table[] =
	        "nr,where,text\nr1,a,red wine and bread\nr2,b,blue sea\nr3,a,...\nr4,b,sail the sea\nr5,a,red bread\n";
	const kdr_read_options reading = { .size = sizeof reading,
		                           .id_column = "nr",
		                           .task_column = "where",
		                           .text_column = "text",
		                           .texts = "tokens=ascii\ndrop-empty=1\n" };
	kdr_data **tasks = NULL;
	kdr_result *r = NULL;
	kdr_job_options o;
	int64_t count = 0;
	kdr_status st = kdr_write_file(ctx, file("texts.csv"), table, sizeof table - 1, true);
	const kdr_task_path one = { .path = file("texts.csv") };
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = 1;
	if (st == KDR_OK)
		st = kdr_read_tasks(ctx, &one, 1, &reading, &tasks, NULL, &count);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, tasks, count, &o, &r);
	if (st == KDR_OK)
		st = kdr_result_write_input(ctx, r, 0, NULL, file("back.csv"), true);
	kdr_result_free(r);
	for (int64_t i = 0; tasks && i < count; i++)
		kdr_data_free(tasks[i]);
	kdr_free(ctx, tasks);
	return st;
}

/* Two tables, several numbers of clusters. */
static kdr_status levels(kdr_context *ctx)
{
	const char *path;
	kdr_data *data[2] = { NULL };
	kdr_result *r = NULL;
	kdr_job_options o;
	const kdr_read_options reading = { .size = sizeof(kdr_read_options), .missing = "keep" };
	kdr_job_options_init(&o);
	o.choice = KDR_PREP_BY_DATA;
	o.k = 2;
	o.k_to = 4;
	kdr_status st = written(ctx, &path);
	if (st == KDR_OK)
		st = kdr_read(ctx, path, &reading, &data[0]);
	if (st == KDR_OK)
		st = kdr_write_file(ctx, file("other.csv"), text, strlen(text), true);
	if (st == KDR_OK)
		st = kdr_read(ctx, file("other.csv"), &reading, &data[1]);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data, 2, &o, &r);
	kdr_result_free(r);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

const oom_scenario oom_tables[] = {
	{ "tables: missing values", policies, 1 },
	{ "tables: parts of the rows", parted, 1 },
	{ "tables: inspected", inspected, 1 },
	{ "tables: a model", modelled, 1 },
	{ "tables: texts", texts, 1 },
	{ "tables: levels", levels, 1 },
	{ NULL, NULL, 0 },
};
