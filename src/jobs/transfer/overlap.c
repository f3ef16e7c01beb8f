/* Whether a target has the features of the sources. SPDX-License-Identifier: BSD-3-Clause
 *
 * Classes cannot be transferred to samples that have nothing in common with the labelled ones. The fraction of a
 * target that the sources cover is the weight of its entries in columns where some source has an entry, relative to
 * the weight of all its entries. Zeros and missing values are not entries. The weight of an entry is that of tf-idf,
 * which depends on how few samples have an entry in its column, and not on its value, so that the fraction depends
 * neither on units nor on storage. A target below `least_share` is refused. */
#include "comm/comm.h"
#include "core/names.h"
#include "core/words.h"
#include "jobs/job.h"
#include "jobs/transfer/transfer.h"
#include "matrix/linalg.h"

static const double least_share = 0.01;

typedef struct overlap {
	bool named;       /* columns are matched by name, else by position */
	kdri_names names; /* of all columns */
	int64_t cols, samples;
	bool *covered; /* some source has an entry here */
	double *with;  /* samples with an entry */
} overlap;

static kdr_status overlap_column(kdr_context *ctx, overlap *o, const kdr_data *d, int64_t j, int64_t *out)
{
	*out = j;
	if (!o->named)
		return KDR_OK;
	return kdri_names_add(ctx, &o->names, d->features[j], strlen(d->features[j]), out);
}

/* The number of entries of each column. */
static kdr_status overlap_count(kdr_context *ctx, const kdr_data *d, int64_t **out)
{
	const kdr_mat x = kdr_data_mat(d);
	kdr_status st = KDRI_NEW(ctx, out, d->cols);
	if (st == KDR_OK)
		kdri_mat_col_counts(ctx, &x, *out);
	return st;
}

static kdr_status overlap_add(kdr_context *ctx, overlap *o, const kdr_data *d, bool source)
{
	kdr_status st;
	int64_t *counts = NULL, at;
	KDRI_TRY(overlap_count(ctx, d, &counts));
	for (int64_t j = 0; j < d->cols; j++) {
		KDRI_TRY(overlap_column(ctx, o, d, j, &at));
		o->with[at] += (double)counts[j];
		/* Another rank may have the rows with an entry. */
		o->covered[at] = o->covered[at] || (source && (counts[j] > 0 || kdri_together(ctx)));
	}
	o->samples += d->rows;
done:
	kdri_free(ctx, counts);
	return st;
}

/* Writes the first names of columns, such as "a, b, ...". */
static void overlap_names(const overlap *o, const kdr_data *d, char *out, size_t room)
{
	out[0] = '\0';
	for (int64_t j = 0; o->named && j < KDRI_MIN(d->cols, 3); j++)
		kdri_list_add(out, room, "%.40s", d->features[j]);
	if (o->named && d->cols > 3)
		kdri_list_add(out, room, "...");
}

static kdr_status overlap_fail(kdr_context *ctx, const overlap *o, const kdr_data *d, const kdr_data *source,
                               int64_t nsources, int64_t columns)
{
	char names[2][140], about[320] = "";
	const bool few =
	        o->named && KDRI_MAX(d->cols, source->cols) <= 64; /* a table; texts have more columns */
	overlap_names(o, source, names[0], sizeof names[0]);
	overlap_names(o, d, names[1], sizeof names[1]);
	if (columns > 0)
		kdri_snprintf(about, sizeof about, " (%lld of %lld)", (long long)columns, (long long)d->cols);
	else if (few && strcmp(names[0], names[1]) != 0)
		kdri_snprintf(about, sizeof about, " (%s and %s)", names[0], names[1]);
	return kdri_fail(ctx, KDR_ERR_DATA, "%.60s and %.60s share %s %s%s; use %s",
	                 nsources > 1 ? "the sources" : source->name, d->name,
	                 columns > 0 ? "almost no" : "no", d->texts ? "word" : "column", about,
	                 few ? "--rename OLD=NEW or --features position"
	                     : "--bridge FILE with a data set that has features of both");
}

/* An error if too little of target d is covered. */
static kdr_status overlap_check(kdr_context *ctx, overlap *o, const kdr_data *d, const kdr_data *source,
                                int64_t nsources)
{
	kdr_status st;
	int64_t *counts = NULL, at, columns = 0;
	double weight[2] = { 0 }; /* covered, and in all */
	KDRI_TRY(overlap_count(ctx, d, &counts));
	for (int64_t j = 0; j < d->cols; j++) {
		KDRI_TRY(overlap_column(ctx, o, d, j, &at));
		double w = (double)counts[j] * (log((1 + (double)o->samples) / (1 + o->with[at])) + 1);
		columns += o->covered[at] && counts[j] > 0;
		weight[0] += o->covered[at] ? w : 0;
		weight[1] += w;
	}
	KDRI_TRY(kdri_sum(ctx, weight, 2));
	if (weight[0] >= least_share * weight[1])
		goto done;
	st = overlap_fail(ctx, o, d, source, nsources, columns);
done:
	kdri_free(ctx, counts);
	return st;
}

kdr_status kdri_check_overlap(kdr_context *ctx, kdr_data *const *sources, int64_t nsources,
                              kdr_data *const *targets, int64_t ntargets, kdr_align align)
{
	kdr_status st;
	overlap o = { .named = align != KDR_ALIGN_POSITION, .names = { .borrows = true } };
	const struct {
		kdr_data *const *list;
		int64_t count;
	} sets[] = { { sources, nsources }, { targets, ntargets } };
	for (int i = 0; i < 2; i++)
		for (int64_t s = 0; s < sets[i].count; s++) {
			o.named = o.named && sets[i].list[s]->features;
			o.cols += sets[i].list[s]->cols;
		}
	KDRI_TRY(KDRI_NEW0(ctx, &o.covered, o.cols));
	KDRI_TRY(KDRI_NEW0(ctx, &o.with, o.cols));
	for (int i = 0; i < 2; i++)
		for (int64_t s = 0; s < sets[i].count; s++)
			KDRI_TRY(overlap_add(ctx, &o, sets[i].list[s], i == 0));
	for (int64_t t = 0; t < ntargets; t++)
		KDRI_TRY(overlap_check(ctx, &o, targets[t], sources[0], nsources));
done:
	kdri_names_free(ctx, &o.names);
	KDRI_FREE(ctx, o.covered, o.with);
	return st;
}
