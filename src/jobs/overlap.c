/* Whether a target has the features of the sources. SPDX-License-Identifier: BSD-3-Clause
 *
 * Classes cannot be transferred to samples that have nothing in common with the labelled ones. The fraction of a
 * target that the sources cover is the weight of its entries in columns where some source has an entry, relative to
 * the weight of all its entries. Zeros and missing values are not entries. The weight of an entry is that of tf-idf,
 * which depends on how few samples have an entry in its column, and not on its value, so that the fraction depends
 * neither on units nor on storage. A target below `least_share` is refused. */
#include "comm/comm.h"
#include "core/names.h"
#include "jobs/job.h"
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

/* An error if too little of target d is covered. */
static kdr_status overlap_check(kdr_context *ctx, overlap *o, const kdr_data *d, const kdr_data *source,
                                int64_t nsources)
{
	kdr_status st;
	int64_t *counts = NULL, at, columns = 0;
	double weight[2] = { 0 }; /* covered, and in all */
	char more[40] = "", example[160] = "";
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
	if (nsources > 1)
		kdri_snprintf(more, sizeof more, " and %lld more source%s", (long long)nsources - 1,
		              nsources == 2 ? "" : "s");
	if (o->named && source->cols > 0)
		kdri_snprintf(example, sizeof example, " (%.60s: '%.40s', %.60s: '%.40s')", d->name,
		              d->features[0], source->name, source->features[0]);
	st = kdri_fail(
	        ctx, KDR_ERR_DATA,
	        "%.60s has %s in common with %.60s%s%s: %.2g %% of the weight of its values, in %lld of %lld columns; at least "
	        "%g %% is needed. Give columns with the same meaning the same name (--rename), vectorize the texts together, or use "
	        "--bridge with a data set that has features of both%s",
	        d->name, columns > 0 ? "almost no feature" : "no feature", source->name, more, example,
	        weight[1] > 0 ? 100 * weight[0] / weight[1] : 0, (long long)columns, (long long)d->cols,
	        100 * least_share, o->named ? "; use --features position to match columns by position" : "");
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
