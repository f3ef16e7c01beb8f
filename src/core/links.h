/* What a user knows about samples before they are clustered. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LINKS_H
#define KDRI_LINKS_H

#include "core/internal.h"

/* Known classes and links of the samples of some data sets, one after the other. */
typedef struct kdri_links {
	int64_t n;
	int64_t nknown; /* samples whose class is known */
	int64_t *
	        known; /* n: the class of each sample, -1 if unknown; samples that must be together share it */
	int64_t ngroups; /* groups of at least two samples that must be together */
	int64_t *group;  /* n: the first sample of the group; of a sample without a group: itself */
	int64_t napart;
	int64_t *apart; /* napart pairs of samples that must not be together */
} kdri_links;

/* Whether anything is known. */
static inline bool kdri_links_any(const kdri_links *links)
{
	return links->nknown > 0 || links->ngroups > 0 || links->napart > 0;
}

/* Whether a clustering problem has known classes or links. */
bool kdri_has_links(const kdr_problem *problem);

/* Collects what is known about the data sets first .. first + count - 1: must-links are extended to groups, and a class that is
 * known for one sample of a group is known for all. KDR_ERR_DATA if anything is contradictory; the message has the ids of the
 * samples if `sets` has the data sets of the problem, or their rows if it is NULL. Time: O((n + links) log n). */
kdr_status kdri_links_new(kdr_context *ctx, const kdr_problem *problem, int64_t first, int64_t count,
                          kdr_data *const *sets, kdri_links *out);
void kdri_links_free(kdr_context *ctx, kdri_links *links);

/* The id of a sample, or its row from 1 if it has none, for messages. */
enum { KDRI_SAMPLE_TEXT = 120 };
void kdri_sample_text(const kdr_problem *problem, kdr_data *const *sets, int64_t task, int64_t row,
                      char out[KDRI_SAMPLE_TEXT]);

#endif
