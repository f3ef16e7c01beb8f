/* The report: a result read into a model, and the model written as HTML. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef KDRI_REPORT_H
#define KDRI_REPORT_H

#include "core/internal.h"

/* --- html.c: text that is escaped by default ------------------------------------------------- */

/* A page being written. The first failure sticks in `st`, and all later calls do nothing: writers need
 * to look at it once, at the end. */
typedef struct kdri_html {
	kdr_context *ctx;
	kdr_status st;
	char *data;
	int64_t used, room;
} kdri_html;

/* Trusted markup, as it is. */
void kdri_html_raw(kdri_html *h, const char *markup);
/* Markup with values, written like printf so that the compiler checks the types, but:
 *   %s    text, escaped, control characters replaced, cut after 1000 (or %.Ns) characters with an ellipsis
 *   %d    an int, plain
 *   %lld  a count, in groups of three digits
 *   %g    a number to read, 6 (or %.Ng) significant digits: 1.5×10⁻⁶; "–" where it is not finite
 *   %f    2 (or %.Nf) decimals: scores, shares, coordinates (which are never negative)
 * There is no conversion that writes text without escaping it, and none looks at the locale. */
KDR_PRINTF(2, 3) void kdri_html_put(kdri_html *h, const char *format, ...);
/* A number exactly, in the shortest form that a program reads back: 1e-06. */
void kdri_html_exact(kdri_html *h, double value);

/* --- model.c: what a result.json says -------------------------------------------------------- */

/* Samples of one cluster or class. */
typedef struct kdri_group {
	const char *name; /* NULL: the cluster of that number */
	int64_t number;   /* -1: without a cluster */
	int64_t count;
} kdri_group;

typedef struct kdri_report_task {
	const char *name, *path;  /* name: never NULL */
	int64_t n, d, nnz, k;     /* -1: not told */
	kdri_group *groups;       /* NULL: neither sizes nor labels */
	int64_t ngroups, grouped; /* grouped: the samples in all groups */
	const kdr_json *metrics;  /* an object, or NULL: no truth */
} kdri_report_task;

typedef struct kdri_report_matrix {
	const char *from, *to; /* correspondence only */
	int64_t rows, cols;
	double *value; /* NaN: null in the file */
} kdri_report_matrix;

enum { KDRI_STAGES = 4 };
extern const char *const kdri_stage_names[KDRI_STAGES];

/* Texts point into `root`. NULL, -1 and NaN stand for what the file does not tell. */
typedef struct kdri_report {
	kdr_json *root;
	const char *version, *command, *method, *stop;
	const kdr_algo *algo; /* NULL: not in this library's registry */
	char seed[24];
	int64_t threads, iterations, peak_bytes;
	const kdr_json *options, *fields; /* objects, or NULL */
	kdri_report_task *tasks;
	int64_t ntasks;
	double *objective, objective_start;
	int64_t nobjective;
	double stage[KDRI_STAGES], total; /* seconds */
	kdri_report_matrix relatedness;   /* value NULL: none */
	const char **related;             /* names of its rows */
	kdri_report_matrix *matches;
	int64_t nmatches;
	const char **warnings;
	int64_t nwarnings;
} kdri_report;

/* Fills `report` (zeroed by the caller) from JSON text; `file` is for messages. In any case the caller
 * calls kdri_report_clear. */
kdr_status kdri_report_parse(kdr_context *ctx, const char *file, const char *json, size_t size,
                             kdri_report *report);
void kdri_report_clear(kdr_context *ctx, kdri_report *report);

/* --- page.c, tasks.c, matrices.c, charts.c: parts of the page --------------------------------- */

void kdri_page(kdri_html *h, const kdri_report *r);
void kdri_page_tasks(kdri_html *h, const kdri_report *r);
void kdri_page_scores(kdri_html *h, const kdri_report *r);

/* --- words.c ------------------------------------------------------------------------------------ */

void kdri_page_advice(kdri_html *h, const kdri_report *r);
/* What sets clusters apart. */
void kdri_page_clusters(kdri_html *h, const kdri_report *r);
void kdri_page_correspondence(kdri_html *h, const kdri_report *r);
void kdri_page_relatedness(kdri_html *h, const kdri_report *r);

/* The value of `name` among a task's metrics; NaN if there is none. */
double kdri_report_metric(const kdri_report_task *task, const char *name);

/* A bar of `share` (0 to 1) of the width, as a table cell's content. */
void kdri_chart_bar(kdri_html *h, double share);
/* Sizes of many groups as columns, largest first. */
void kdri_chart_columns(kdri_html *h, const kdri_group *sorted, int64_t count);
/* value[i] after iteration i + 1; `start` (or NaN) before the first. */
void kdri_chart_objective(kdri_html *h, const double *value, int64_t count, double start);
/* Parts of a whole side by side; colours are the classes c0, c1, … */
void kdri_chart_parts(kdri_html *h, const double *part, int count, double total);
/* A matrix too large for numbers as coloured squares; `most` is the largest absolute value. */
void kdri_chart_squares(kdri_html *h, const kdri_report_matrix *m, double most);
/* The colour class of a value on the scale -most .. 0 .. most: "p0".."p8", "n1".."n8", or "na". */
const char *kdri_chart_shade(double value, double most);

/* --- report.c -------------------------------------------------------------------------------- */

/* The page of a result.json in memory; *html is allocated and not NUL-terminated. */
kdr_status kdri_report_render(kdr_context *ctx, const char *file, const char *json, size_t size, char **html,
                              int64_t *length);

#endif
