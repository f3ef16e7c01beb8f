/* kindred bench: plans and their results. SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan is a list of tables. A table is data x rows, a row is a method with its settings, and every row
 * is run as often as the table repeats, on the same data and from the same seeds. Plans are JSON
 * (docs/bench.md); the presets are plans that are built into the program. */
#ifndef KINDRED_BENCH_H
#define KINDRED_BENCH_H

#include "cli.h"
#include "core/json_read.h"

enum { BENCH_MOST_SCORES = 9, BENCH_MOST_REFERENCES = 4 };

typedef struct bench_setting {
	char *name, *value;
} bench_setting;

/* Several values of one option: each is tried. */
typedef struct bench_axis {
	char *name;
	char **values;
	int nvalues;
} bench_axis;

/* Published figures, shown next to ours: one per data set and score, NaN if unknown. */
typedef struct bench_reference {
	char *label;
	double *values; /* scores x tasks */
} bench_reference;

typedef struct bench_row {
	char *name;
	char *method;  /* NULL: only published figures */
	char *missing; /* the reason why there are none of ours; or NULL */
	bool pooled;
	int repeats; /* most repeats of this row; 0: those of the table */
	bench_setting *set;
	int nset;
	bench_axis *grid;
	int ngrid;
	bench_reference references[BENCH_MOST_REFERENCES];
	int nreferences;
} bench_row;

/* What a data set is in the table. */
typedef struct bench_data {
	char *path;   /* or, of generated data, the name of the task */
	size_t given; /* where in the path the text of the plan begins */
	kdr_role role;
	int64_t k;      /* clusters wanted; 0: as many as there are known classes */
	char *name;     /* NULL: the file's stem */
	char *label;    /* column of a table with the known classes; NULL: they are in a file next to it */
	char *missing;  /* how missing values of a table are handled; NULL: they are an error */
	char **classes; /* only samples of these classes; NULL: all */
	char **called;  /* nclasses: what each is called here */
	int nclasses;
	double words
	        [2]; /* the features whose lot, drawn anew for each repeat, is in there, the others zero; 0, 0: all */
	double part[2]; /* the samples whose lot, drawn anew for each repeat, is in [from, to); 0, 0: all */
	char **rare;    /* classes of which only some samples are drawn */
	double *kept;   /* nrare: the fraction of each */
	int nrare;
} bench_data;

typedef enum bench_start { BENCH_START_OWN, BENCH_START_RANDOM } bench_start;
typedef enum bench_pick { BENCH_PICK_NONE, BENCH_PICK_TRUTH } bench_pick;

typedef struct bench_table {
	char *title, *note;
	char *group; /* of a plan's summary */
	bench_data *data;
	int ndata;
	char *design;      /* generated data: "blobs", "topics", "berikov"; NULL: from files */
	double separation; /* of generated data; 0: the design's own */
	kdr_prep_options prep;
	bool suggest;   /* preprocessing chosen by the kind of data */
	int64_t sample; /* most rows of each data set, drawn again for each repeat; 0: all */
	int repeats;
	bench_start start;
	bench_pick pick;
	bool record;  /* also keep other results of the methods: numbers, relatedness, the objective */
	char *paired; /* the row that the others are compared with by a paired t-test; or NULL */
	int scores[BENCH_MOST_SCORES], nscores;
	bench_row *rows;
	int nrows;
} bench_table;

typedef struct bench_plan {
	char *title;
	char *paper; /* whose tables these are: part of `bench all`; or NULL */
	bench_table *tables;
	int ntables;
	char *summary;  /* the row that is compared in the summary; NULL: there is none */
	char **against; /* rows it is compared with */
	int nagainst;
} bench_plan;

/* --- bench_plan.c ------------------------------------------------------------------------------- */

/* The names of the scores, in the order of bench_score_value; ended by NULL. */
extern const char *const bench_score_names[];
double bench_score_value(const kdr_scores *scores, int which);

/* Reads a plan; `folder` is where its relative paths start. Prints what is wrong. Exit status. */
int bench_plan_parse(const char *name, const char *text, size_t size, const char *folder, bench_plan *out);
int bench_plan_read(const char *path, bench_plan *out);
void bench_plan_free(bench_plan *plan);

/* The name of the i-th preset, and its text; NULL past the last: presets.c, made from plans/ by CMake. */
const char *bench_preset(int index, const char **text, size_t *size);

/* --- bench_values.c ----------------------------------------------------------------------------- */

/* All of a file, which may be a pipe, followed by a zero; NULL with errno set if it cannot be read. */
char *bench_read_text(const char *path, size_t *size);

/* Where in the plan we are; the first failure is printed and remembered. */
typedef struct plan_place {
	const char *file;
	const char *folder; /* relative paths start here */
	char where[200];
	int code;
} plan_place;

/* Both print, unless something was printed before, and return false. */
KDR_PRINTF(2, 3) bool plan_wrong(plan_place *p, const char *format, ...);
bool plan_no_memory(plan_place *p);
char *plan_copy(plan_place *p, const char *text);
/* calloc of at least one, so that NULL always means no memory. */
void *plan_many(plan_place *p, size_t count, size_t size);
/* Entries of a list; 0 of all else, objects too. */
int64_t plan_list_count(const kdri_json_value *value);
/* Every key must be one of `known`. */
bool plan_check_keys(plan_place *p, const kdri_json_value *object, const char *const *known);
/* Text at `key`, or NULL if it is absent and may be. */
char *plan_text(plan_place *p, const kdri_json_value *object, const char *key, bool needed);
double plan_number(plan_place *p, const kdri_json_value *object, const char *key, double low, double high,
                   double otherwise);
int plan_choice(plan_place *p, const kdri_json_value *object, const char *key, const char *const *choices,
                int otherwise);
/* An option's value as text, as --set takes it; with plan_option also a list, a number for each task. */
char *plan_value(plan_place *p, const kdri_json_value *value);
char *plan_option(plan_place *p, const kdri_json_value *value);

/* --- bench_sets.c ------------------------------------------------------------------------------- */

/* A table of a plan: as it is written, or from one of its sets (all but `to`, where `from` is -1) to another. */
typedef struct bench_pair {
	const kdri_json_value *table, *rows;
	const kdri_json_value *sets; /* NULL: as written */
	int64_t from, to;
} bench_pair;
/* How many tables a plan has, with what it writes short written out, and each of them. */
int64_t bench_pairs_count(const kdri_json_value *root);
bench_pair bench_pairs_at(const kdri_json_value *root, int64_t index);
/* The title of one that is written short, and its collection's. */
void bench_pairs_title(const bench_pair *pair, char *text, size_t room);
void bench_pairs_group(const bench_pair *pair, char *text, size_t room);
bool bench_sets_read(plan_place *p, bench_table *t, const bench_pair *pair);
void bench_set_free(bench_data *d);

/* --- bench_args.c ------------------------------------------------------------------------------- */

/* A plan from --methods and the tasks on the command line. Exit status. */
int bench_plan_from_args(kdr_context *ctx, const cli_args *args, bench_plan *out);

/* --- bench_run.c -------------------------------------------------------------------------------- */

/* Other results of a method than labels, one for each repeat. */
typedef struct bench_record {
	char *name;
	double *values;
	int64_t count;
} bench_record;

/* One row at one setting of its grid. */
typedef struct bench_line {
	const bench_row *row;
	char *setting;    /* "lambda = 0.5, l = 4", or "" */
	double *values;   /* repeats x scores x scored tasks; NaN where a run failed */
	double seconds;   /* mean time of a fit */
	int failed, runs; /* runs that gave an error; all that were tried */
	char *error;      /* of the first that failed, or NULL */
	bench_record *records;
	int nrecords;
} bench_line;

typedef struct bench_outcome {
	const bench_table *table;
	char **tasks; /* names of the data sets that are scored */
	int ntasks, repeats;
	bench_line *lines;
	int nlines;
	bool cut;  /* interrupted, or out of time: `repeats` are the complete ones */
	bool some; /* --only: lines without runs are not shown */
} bench_outcome;

/* How a table is run. */
typedef struct bench_how {
	uint64_t seed;
	double limit; /* seconds; 0: none */
	int row;      /* this one alone; -1: all */
} bench_how;
int bench_run(kdr_context *ctx, const bench_how *how, const bench_table *table, bench_outcome *out);
/* The lines of a table that is not run: nothing but NaN. Names of tasks are the caller's business. Exit status. */
int bench_lines_new(const bench_table *table, int row, bench_outcome *out);
/* Whether the i-th data set is scored. */
bool bench_scored(const bench_table *t, int i);
void bench_outcome_free(bench_outcome *outcome);

/* --- bench_draw.c ------------------------------------------------------------------------------- */

/* A data set of the table in one repeat. Its known classes are those of all data sets together. */
typedef struct bench_item {
	kdr_data *raw;  /* as read; of generated data NULL */
	kdr_data *data; /* as fitted */
	int64_t *init;
	int64_t n, k, classes; /* the classes that it has */
} bench_item;

typedef struct bench_state {
	kdr_context *ctx;
	const bench_table *table;
	bench_item *items;
	bool ready; /* the data of this repeat serve the next one too */
} bench_state;

int bench_no_memory(void);
/* Reads a data set and its classes, only those that the plan selects. Exit status. */
int bench_read_item(bench_state *s, const bench_data *d, bench_item *it);
/* Classes by name, so that those of source and target are the same numbers. */
int bench_merge_classes(const bench_state *s, bool raw);
/* Data, truth and shared start of one repeat. */
int bench_begin_repeat(bench_state *s, uint64_t seed);
void bench_drop_repeat(bench_item *it);

/* --- bench_sheet.c ------------------------------------------------------------------------------ */

typedef enum bench_format { BENCH_MARKDOWN, BENCH_CSV, BENCH_LATEX } bench_format;

/* A table that is being printed: title, text, begin, the cells of each row (the first is its header), finish. */
typedef struct bench_sheet {
	FILE *out;
	bench_format format;
	const char *missing; /* for a number that is NaN; NULL: nothing */
	int words, numbers;  /* columns */
	int cells;           /* of this row so far */
	bool header;         /* this is the first row */
} bench_sheet;
void bench_sheet_title(bench_sheet *s, const char *title);
void bench_sheet_text(bench_sheet *s, const char *text);
void bench_sheet_begin(bench_sheet *s, int words, int numbers);
void bench_sheet_cell(bench_sheet *s, const char *text);
void bench_sheet_number(bench_sheet *s, const char *format, double value);
void bench_sheet_end_row(bench_sheet *s);
void bench_sheet_finish(bench_sheet *s);

/* --- bench_print.c ------------------------------------------------------------------------------ */

/* Mean and standard deviation (n - 1) over repeats of a score on a task; task -1: of the mean over tasks. */
void bench_summarise(const bench_outcome *o, const bench_line *line, int score, int task, double *mean,
                     double *deviation);
/* The two-sided p of a paired t-test between two lines on the first score, mean over tasks. */
double bench_paired_p(const bench_outcome *o, const bench_line *a, const bench_line *b);
/* Markdown also reads well on a terminal; `first`: a CSV file begins with its titles. */
void bench_print(FILE *out, const bench_outcome *outcome, bench_format format, bool first);
void bench_json(kdri_json *j, const bench_outcome *outcome);

/* All tables of a plan in one. Borrows the plan. */
typedef struct bench_summary {
	const bench_plan *plan;
	int rows;
	double *means; /* tables x rows; NaN where no run was right */
	bool *done;    /* tables */
} bench_summary;
int bench_summary_new(const bench_plan *plan, bench_summary *out);
void bench_summary_free(bench_summary *s);
void bench_summary_add(bench_summary *s, int table, const bench_outcome *outcome);
void bench_summary_print(FILE *out, const bench_summary *s, bench_format format);

/* --- bench_rows.c -------------------------------------------------------------------------------- */

/* One row of one table of one preset: what `bench -o DIR` writes a file of. Borrows the plan. */
typedef struct bench_unit {
	const char *preset;
	const bench_plan *plan;
	int table, row;
	bool quick;
	uint64_t seed;
} bench_unit;

/* The text in lower case, with '-' for everything but letters and digits. */
void bench_slug(const char *text, char *out, size_t room);
/* PRESET/TABLE/ROW.json below `folder`. False if it is too long. */
bool bench_unit_path(const bench_unit *u, const char *folder, char *out, size_t room);
/* A hash, in 16 hexadecimal digits, of everything in the plan that the figures of the row depend on. False: out of memory. */
bool bench_unit_key(const bench_unit *u, char out[17]);
/* Writes the file completely or not at all; `seconds`: processor time. Exit status. */
int bench_unit_write(kdr_context *ctx, const bench_unit *u, const char *path, const bench_outcome *o,
                     double seconds);
/* Reads the file of a row. `done`: it is of the same plan and of the present defaults of the method; `seconds`: its time, NaN without a file.
 * With `out`, which has the table's lines, the row's figures are put there. Exit status. */
int bench_unit_read(kdr_context *ctx, const bench_unit *u, const char *path, bool *done, double *seconds,
                    bench_outcome *out);

/* --- bench_all.c --------------------------------------------------------------------------------- */

/* Runs every row of the plans that is not in the folder yet, several at a time. Exit status. */
int bench_rows_run(kdr_context *ctx, const cli_args *args, const bench_unit *units, int count,
                   const char *folder);

/* --- bench_presets.c ------------------------------------------------------------------------------ */

int bench_presets_list(void);
int bench_preset_find(const char *wanted, const char **text, size_t *size);
int bench_preset_read(const char *name, bench_plan *plan);
/* --repeats, --sample, --quick: cmd_bench.c. Exit status. */
int bench_plan_adjust(const cli_args *args, bench_plan *plan);

/* The rows of several presets. */
typedef struct bench_set_of_rows {
	bench_plan *plans;
	const char **names;
	int nplans;
	bench_unit *units;
	int nunits;
} bench_set_of_rows;
/* Of the presets named or, with `all`, of every one of a paper. Exit status. */
int bench_set_of_rows_read(const cli_args *args, bool all, bench_set_of_rows *out);
void bench_set_of_rows_free(bench_set_of_rows *s);

#endif
