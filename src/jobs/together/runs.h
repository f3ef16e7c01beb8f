/* Each data set alone, before all of them are clustered together. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOBS_RUNS_H
#define KDRI_JOBS_RUNS_H

#include "engine/ensemble/evidence.h"
#include "jobs/known.h"

struct kdri_k_ranges;

/* carry.c: a data set with at most that many samples per cluster is small. */
enum { KDRI_SHARING_PER_CLUSTER = 20 };
/* carry.c: the fewest samples, and how many times as many the other data set has. */
enum { KDRI_CARRY_LEAST = 10, KDRI_CARRY_TIMES = 4 };
/* How much more than by chance the proportions of the clusters may differ. */
#define KDRI_CARRY_EXCESS 0.1

/* The data set that a data set was compared with. */
typedef struct kdri_runs_note {
	int64_t nearest; /* -1: none */
	double apart;    /* NaN: none */
	double excess;   /* how much more than by chance the proportions of their clusters differ */
} kdri_runs_note;

typedef enum kdri_when {
	KDRI_ALONE_NEVER,
	KDRI_ALONE_FIRST, /* before all data sets are preprocessed */
	KDRI_ALONE_LATER  /* once the numbers of clusters are known, on copies of the data */
} kdri_when;

typedef struct kdri_runs {
	kdri_evidence evidence; /* for the poll of all data sets */
	kdri_when when;
	bool sees; /* a job has clustered each data set alone, or tried to: the poll does not compare again */
	bool ranges; /* they have a range of numbers of clusters each */
	kdri_job *job;
	const kdri_job_known *known;
	const struct kdri_k_ranges *levels;
	kdr_result **range; /* count: these runs */
	kdr_data **raw;     /* the data sets before preprocessing: the caller's, or copies */
	const kdr_data **
	        words; /* count: the same texts with words of their own, for the runs alone; borrowed. NULL: there is none, or it is not used */
	int64_t *rows; /* count: samples of each on all ranks */
	int64_t *k;    /* count: numbers of clusters that were asked for */
	int64_t count;
	bool transfer; /* data sets may learn from each other */
	bool carries;  /* clusters may be carried over */
	bool tables;
	kdri_runs_note *notes; /* count */
	const char **names;    /* count: borrowed, of the data sets */
	char **prep;           /* count: the preprocessing of each run alone */
	const char *why;       /* static: why no data set was clustered alone */
} kdri_runs;

/* plan.c: whether every data set gets the result of a run alone. */
kdr_status kdri_runs_nothing(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets, int64_t count,
                             bool *out);
/* plan.c: before the data sets are preprocessed. Prepares to cluster each alone. There are no runs for other methods than auto, for data on
 * disk, and, if data sets may learn from each other, under limits of time or memory. */
kdr_status kdri_runs_plan(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                          const kdri_job_known *known, const struct kdri_k_ranges *levels, kdri_runs *out);
/* What the poll of all data sets is given; NULL: no job looks at them. */
const kdri_evidence *kdri_runs_evidence(const kdri_runs *s);
/* alone.c: the runs, with k[t] clusters each; 0: to be found in each. With ranges, kdri_runs_level then chooses the labels of one number each. */
kdr_status kdri_runs_find(kdr_context *ctx, kdri_runs *s, const int64_t *k);
kdr_status kdri_runs_level(kdr_context *ctx, kdri_runs *s, const int64_t *k);
/* Adds what runs alone have warned of to the result of the fit. */
kdr_status kdri_runs_report(kdr_context *ctx, const kdri_runs *s, kdr_result *result);
/* carry.c: decides for each small data set whether it takes over the clusters of another; k[t]: numbers of clusters. */
kdr_status kdri_runs_carry(kdr_context *ctx, kdri_runs *s, const int64_t *k);
/* Whether any data set may do so, judged by the numbers of samples. */
bool kdri_runs_may_carry(const kdri_runs *s, const int64_t *k);
/* A copy of the rows that this rank has. */
kdr_status kdri_runs_copy(kdr_context *ctx, const kdr_data *data, kdr_data **out);
/* why.c: what data set t of the result has from others. */
kdr_status kdri_runs_note_task(kdr_context *ctx, const kdri_runs *s, int64_t t, kdr_result *result);
/* Also after a failure. */
void kdri_runs_free(kdr_context *ctx, kdri_runs *s);

#endif
