/* What data sets that are clustered together have from each other. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOBS_SHARING_H
#define KDRI_JOBS_SHARING_H

#include "engine/ensemble/members.h"
#include "jobs/known.h"
#include "jobs/together/levels.h"

/* A data set with at most that many samples per cluster is small. */
enum { KDRI_SHARING_PER_CLUSTER = 20 };

/* The data set that a data set was compared with. */
typedef struct kdri_sharing_note {
	int64_t nearest; /* -1: none */
	double apart;    /* NaN: none */
	double excess;   /* (E4) of sharing.c */
} kdri_sharing_note;

typedef struct kdri_job_sharing {
	kdri_sharing
	        fit; /* for the fit of all data sets; tasks NULL: each data set was not clustered alone */
	kdri_job *job;
	const kdri_job_known *known;
	const kdri_k_ranges *levels;
	kdr_result **
	        range; /* count: runs alone with a range of numbers of clusters; NULL: with one number each */
	kdr_data **
	        raw; /* the data sets before preprocessing: the caller's, or copies until the numbers of clusters are known */
	const kdr_data **
	        words; /* count: the same texts with words of their own, for the runs alone; borrowed. NULL: there is none, or it is not used */
	int64_t *rows; /* count: samples of each on all ranks */
	int64_t *k;    /* count: numbers of clusters that were asked for */
	int64_t count;
	bool copies;   /* they are copies */
	bool transfer; /* data sets may learn from each other */
	bool carries;  /* clusters may be carried over */
	bool tables;
	kdri_sharing_note *notes; /* count */
	const char **names;       /* count: borrowed, of the data sets */
	char **prep;              /* count: the preprocessing of each run alone */
	const char *why;          /* static: why no data set was clustered alone */
} kdri_job_sharing;

/* alone.c: whether every data set gets the result of a run alone. */
kdr_status kdri_sharing_nothing(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets, int64_t count,
                                bool *out);
/* alone.c: before the data sets are preprocessed. Prepares to cluster each alone: in kdri_sharing_run, or as soon as a fit with
 * ctx->sharing = &out->fit knows the numbers of clusters. Does nothing for other methods than auto, for data on disk, and, if data sets
 * may learn from each other, under limits of time or memory. */
kdr_status kdri_sharing_begin(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                              const kdri_job_known *known, const kdri_k_ranges *levels,
                              kdri_job_sharing *out);
kdr_status kdri_sharing_run(kdr_context *ctx, kdri_job_sharing *s);
/* Adds what runs alone have warned of to the result of the fit. */
kdr_status kdri_sharing_report(kdr_context *ctx, const kdri_job_sharing *s, kdr_result *result);
/* sharing.c: decides for each small data set whether it takes over the clusters of another; k[t]: numbers of clusters. */
kdr_status kdri_sharing_carry(kdr_context *ctx, kdri_job_sharing *s, const int64_t *k);
/* Whether any data set may do so, judged by the numbers of samples. */
bool kdri_sharing_may_carry(const kdri_job_sharing *s, const int64_t *k);
/* What data set t of the result has from others. */
kdr_status kdri_sharing_note_task(kdr_context *ctx, const kdri_job_sharing *s, int64_t t, kdr_result *result);
/* A copy of the rows that this rank has. */
kdr_status kdri_sharing_copy(kdr_context *ctx, const kdr_data *data, kdr_data **out);
/* Also after a failure. */
void kdri_sharing_free(kdr_context *ctx, kdri_job_sharing *s);

#endif
