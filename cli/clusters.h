/* Feature clusters that data sets share, in words: kindred transfer. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_CLI_CLUSTERS_H
#define KINDRED_CLI_CLUSTERS_H

#include "cli.h"

/* Clusters shared with the source, and with the target, as arrays top_<side> and association_<side> of the result. */
typedef struct cli_clusters {
	const kdr_result *result;
	const char *const *features[2]; /* names of the columns on each side, or NULL */
	const char *const *classes;
	int64_t nclasses;
} cli_clusters;

/* Nothing is printed where the method leaves no such arrays. */
void cli_clusters_json(cli_json *j, const cli_clusters *c);
/* For each class the cluster that is most its own, on the target's side. */
void cli_clusters_summary(FILE *out, const cli_clusters *c);

#endif
