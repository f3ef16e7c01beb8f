/* Bridges of kindred transfer: candidates, their ranking, and the selection model. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_CLI_BRIDGES_H
#define KINDRED_CLI_BRIDGES_H

#include "cli.h"

typedef struct cli_bridges {
	int count;   /* candidates */
	bool views;  /* each is two files: the same samples in the source's features and in the target's */
	char **path; /* count x (1 + views): first views, then second ones */
} cli_bridges;

/* Reads every --bridge. Exit status. */
int cli_bridges_parse(const cli_args *args, cli_bridges *out);
void cli_bridges_free(cli_bridges *b);
/* Number of files. */
static inline int cli_bridges_files(const cli_bridges *b)
{
	return b->count * (b->views ? 2 : 1);
}
/* Fits a selection model on labelled data sets and saves it. Exit status. */
int cli_train_selector(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, const cli_job *job);

#endif
