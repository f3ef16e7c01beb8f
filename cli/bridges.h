/* Bridges of kindred transfer: candidates, their ranking, and the selection model. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_CLI_BRIDGES_H
#define KINDRED_CLI_BRIDGES_H

#include "cli.h"

typedef struct cli_bridges {
	int count;   /* candidates */
	bool views;  /* each is two files: the same samples in the source's features and in the target's */
	char **path; /* count x (1 + views): first views, then second ones */
	kdr_bridge_score *scores; /* NULL unless there was a choice */
	char **names;             /* of the candidates, as ranked */
	double *accuracy; /* of the first target with each of them (--bridge-all and truth), else NaN */
	bool *fitted;
	int chosen;
	bool trained; /* ranked by a selection model */
} cli_bridges;

/* Reads every --bridge. Exit status. */
int cli_bridges_parse(const cli_args *args, cli_bridges *out);
void cli_bridges_free(cli_bridges *b);
/* Number of files. */
static inline int cli_bridges_files(const cli_bridges *b)
{
	return b->count * (b->views ? 2 : 1);
}
/* Ranks the candidates, whose first is tasks->data[first], and chooses the best. Exit status. */
int cli_bridges_rank(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, int64_t first,
                     cli_bridges *b);
/* The ranking, for people and for result.json; nothing where there was no choice. */
void cli_bridges_table(FILE *out, const cli_bridges *b);
void cli_bridges_json(cli_json *j, const cli_bridges *b);

/* Fits a selection model on labelled data sets and saves it. labels: classes of each task's rows. Exit status. */
int cli_train_selector(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, int64_t *const *labels,
                       int64_t classes);

#endif
