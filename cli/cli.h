/* Declarations that all commands use. SPDX-License-Identifier: BSD-3-Clause
 *
 * A command is a table entry: its options, help, manual page and shell completion all come from the same cli_command. What it
 * does is a plain sequence of steps: where one fails, its error is printed and the program ends there (cli_end). */
#ifndef KINDRED_CLI_H
#define KINDRED_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/json_read.h"
#include "core/json_write.h"
#include "kindred/kindred.h"

/* Exit statuses: a promise to users. */
enum {
	EXIT_DONE = 0,
	EXIT_OTHER = 1,
	EXIT_USAGE = 2,
	EXIT_DATA = 3,
	EXIT_NUMERIC = 4,
	EXIT_NOT_CONVERGED = 5,
	EXIT_INTERRUPTED = 130
};

/* --- args.c: the command line ---------------------------------------------------------------- */

typedef struct cli_option {
	const char *name;           /* long name without dashes */
	char letter;                /* short form, or 0 */
	const char *value;          /* placeholder of the value in the help; NULL: a flag */
	const char *const *choices; /* allowed values, NULL-terminated; or NULL */
	bool listed;                /* the library lists them: kdr_choices */
	bool negatable;             /* a flag that also exists as --no-NAME */
	bool repeats;               /* may be given several times */
	bool any_text;              /* values may begin with '-' and a letter */
	const char *help;           /* one line */
	bool of_job;                /* the name lists options of the library: CLI_JOB */
} cli_option;
/* Entries of tables of options: one with a value, and a flag. Further members follow the help. */
#define CLI_VALUE(option, placeholder, ...) \
	{ \
		.name = option, .value = placeholder, .help = __VA_ARGS__ \
	}
#define CLI_FLAG(option, ...) \
	{ \
		.name = option, .help = __VA_ARGS__ \
	}
/* A flag that also exists as --no-NAME. */
#define CLI_SWITCH(option, text) CLI_FLAG(option, text, .negatable = true)
/* Options of the library's table (kdr_job_option_at), in its order: those with these names, separated by blanks, or "*" and a
 * group: all of the group that have no other place in the table. */
#define CLI_JOB(names) \
	{ \
		.name = names, .of_job = true \
	}
#define CLI_OPTIONS_END \
	{ \
		.name = NULL \
	}

typedef struct cli_option_group {
	const char *title;
	const cli_option *options;
} cli_option_group;

typedef struct cli_args cli_args;
typedef struct cli_run cli_run;

typedef struct cli_command {
	const char *name;
	const char *usage;           /* what follows the name, such as "[OPTION...] -k K TASK..." */
	const char *summary;         /* one line */
	const char *description;     /* paragraphs separated by blank lines */
	const char *example;         /* command lines with comments */
	cli_option_group groups[10]; /* end with a NULL title */
	bool completes_files;        /* positional arguments are files */
	const char *(*argument)(
	        int index); /* or one of these words, for completion: NULL past the last. Or NULL */
	void (*run)(cli_run *run);
} cli_command;

/* The commands, ended by a NULL name: main.c. */
extern cli_command *const cli_commands[];
const cli_command *cli_command_find(const char *name);
/* Puts the library's options in the place of CLI_JOB, in the tables of all commands. */
void cli_options_complete(void);

/* Parses argv[0..] (after the command's name). */
const cli_args *cli_args_parse(const cli_command *command, int argc, char **argv);
const cli_command *cli_args_command(const cli_args *args);

/* The last value given to an option, or `otherwise`. For flags: "1", or "0" after --no-NAME. */
const char *cli_get(const cli_args *args, const char *name, const char *otherwise);
bool cli_flag(const cli_args *args, const char *name);
/* 1 if it is given, 2 after --no-NAME, otherwise 0: as kdr_header and kdr_stream. */
int cli_switch(const cli_args *args, const char *name);
/* The value of an option that repeats: the i-th, or NULL past the last. */
const char *cli_get_nth(const cli_args *args, const char *name, int index);
/* Numbers with bounds. `out` keeps its value if not given. */
void cli_get_int(const cli_args *args, const char *name, int64_t min, int64_t max, int64_t *out);
void cli_get_real(const cli_args *args, const char *name, double min, double max, double *out);
/* Bytes, above 0, such as 500M or 1.5G: K, M, G and T are powers of 1000. */
void cli_get_size(const cli_args *args, const char *name, double *out);
/* The whole number of an item of a list, 1 or larger. */
int64_t cli_positive(const char *option, const char *item);
/* The index of the value among the option's choices, or `otherwise` if not given. */
int cli_get_choice(const cli_args *args, const char *name, int otherwise);
int cli_positional_count(const cli_args *args);
/* All arguments after the name of the command, one by one; NULL after the last. */
const char *cli_word(const cli_args *args, int index);
const char *cli_positional(const cli_args *args, int index);

/* The job whose options a command has. */
kdr_family cli_family(const cli_command *command);
/* The library's option number *index or later that this job has; NULL: there is none. */
const kdr_job_option *cli_job_option(kdr_family family, size_t *index);
/* The next word of a list, such as NAME or NAME=VALUE; false after the last. */
typedef struct cli_item {
	char name[64];
	const char *value; /* after '=', or NULL */
} cli_item;
bool cli_next_item(const char **list, cli_item *out);
/* Option number `index` of a command, of all its groups; NULL past the last. */
const cli_option *cli_option_at(const cli_command *command, int index);
/* Whether a command has an option. */
bool cli_has_option(const cli_command *command, const char *name);
/* effects.c: whether a path has one of these endings, or one and ".gz"; the list ends with NULL. */
bool cli_has_ending(const char *path, const char *const *endings);
extern const char *const cli_json_endings[];
/* effects.c: ends the program unless every option that is given has an effect. */
void cli_check_effects(const cli_args *args);

/* A comma-separated list. */
typedef struct cli_list {
	char **items;
	int count;
} cli_list;
cli_list cli_list_split(const char *text);

/* Options most commands take. */
extern const cli_option cli_common_options[];  /* --seed --threads -q -v --progress --time-limit */
extern const cli_option cli_reading_options[]; /* --format --label-column ... */
extern const cli_option
        cli_text_options[]; /* --vectors, which vectorize does not have, --stop-words --stemmer ... */
extern const cli_option cli_direct_text_options[]; /* --text-column */
#define CLI_TEXT_GROUPS \
	{ "Text input: folders of documents, or a column", cli_direct_text_options }, \
	{ \
		"Text processing", cli_text_options \
	}
extern const cli_option cli_output_options[]; /* -o --force --report ... */
extern const cli_option cli_prep_options[];   /* --weight --norm --scale ... */
#define CLI_COMMON \
	{ \
		"Common", cli_common_options \
	}
/* Of commands that prepare the data they read. */
#define CLI_DATA_GROUPS \
	{ "Preprocessing, in this order", cli_prep_options }, { "Input files", cli_reading_options }, \
	        CLI_TEXT_GROUPS, CLI_COMMON
/* The allowed values of an option; NULL if any text is allowed. */
const char *const *cli_choices(const cli_option *option);

/* --- help.c ---------------------------------------------------------------------------------- */

void cli_help_overview(FILE *out);
void cli_help_command(FILE *out, const cli_command *command);
/* Words of `text` from column `at` on, continued at `indent`, and a line feed. */
void cli_wrapped(FILE *out, const char *text, int at, int indent);
/* Formats generated from the same tables: man page (command NULL: kindred.1), completions. */
void cli_man(FILE *out, const cli_command *command);
void cli_completion_bash(FILE *out);
void cli_completion_zsh(FILE *out);
void cli_completion_fish(FILE *out);

/* --- errors and the session: session.c -------------------------------------------------------- */

/* One line on standard error, with the program's name before it. */
KDR_PRINTF(1, 2) void cli_error(const char *format, ...);
/* The same, and the program ends with this exit status. */
KDR_PRINTF(2, 3) _Noreturn void cli_stop(int code, const char *format, ...);
#define cli_usage_error(...) cli_stop(EXIT_USAGE, __VA_ARGS__)
/* From now on only the next error is printed: a full disk is full for every file. */
void cli_errors_once(void);
/* Prints text with names that come from files and users so that no terminal interprets it: bytes that are not UTF-8 and control
 * characters, but for ends of lines and tabs, appear as \xNN. */
void cli_print_safely(FILE *out, const char *text, size_t length);
/* Prints the text of a JSON writer as one line to standard output, and frees it. */
void cli_print_json(kdri_json *j);
/* Prints text for users, not data, safely to standard output. */
KDR_PRINTF(1, 2) void cli_printf(const char *format, ...);
KDR_PRINTF(1, 2) void cli_warn(const char *format, ...);
/* Why a part of standard output could not be written; 0: it could, or the reason is unknown. */
extern int cli_output_error;
/* The exit status of a call of the library; cli_code prints its error, if it failed. */
int cli_exit_code(kdr_status status);
int cli_code(kdr_status status);
/* Ends the program if the call failed. For reading: unsupported or too large content of a file is invalid data. */
void cli_check(kdr_status status);
void cli_check_reading(kdr_status status);
/* Ends the program, unless the status is EXIT_DONE. */
void cli_pass(int code);
/* Ends the program: frees what the command has, ends together with the other ranks, and flushes standard output, as a full disk or a
 * closed pipe there is an error like any other. */
_Noreturn void cli_end(int code);
/* Memory of zeros that lasts as long as the program. */
void *cli_new(size_t count, size_t size);
/* A text that lasts as long as the program. */
KDR_PRINTF(1, 2) char *cli_format(const char *format, ...);
/* "1 sample" or "12 samples"; the text lasts for a few calls. */
const char *cli_count(int64_t n, const char *noun);

/* Runs a command. Afterwards it has nothing left. */
void cli_command_run(const cli_args *args);
/* Sets up run->ctx from the common options, with progress on a terminal and Ctrl-C turned into cancellation. */
void cli_session_open(cli_run *run);
/* progress.c: one line, such as "snmf  [######......] 52 %  3.1 s  about 40 s left", `elapsed` seconds after the start. `limit`:
 * seconds that the job may take; 0 if there is no limit. */
void cli_progress_text(const kdr_event *event, double elapsed, double limit, char *text, size_t room);
/* Applies --time-limit, minus the time that has passed. Reading for a job is never cut short, because half of the data is useless. */
void cli_session_limit(kdr_context *ctx);
bool cli_interrupted(void);
bool cli_quiet(const cli_args *args);

/* --- tasks.c: data sets named on the command line ---------------------------------------------- */

typedef struct cli_tasks {
	int64_t count;
	kdr_data **data;
	kdr_labels **init;     /* initial labels, or NULL entries */
	const int64_t **start; /* the same as numbers; NULL without --init */
	const char **known;    /* files of --known, one per task; NULL without it */
	bool scored;           /* the known classes of the data are used for scoring */
	int64_t *from;         /* which of the files read each task came from */
	int64_t files;
	kdr_model *model; /* --into: data sets are read as those of this model; NULL: there is none */
} cli_tasks;

/* What a command works with. */
struct cli_run {
	const cli_args *args;
	kdr_context *ctx;
	kdr_job *job;
	cli_tasks tasks;
	int64_t first;    /* tasks from this one on get labels */
	char **copies[2]; /* their files of --write-h5ad and --write-table: kdr_copy_paths; NULL: not given */
	kdr_result *result;
	double start; /* of the command, in seconds */
	bool strict;  /* a warning of the library is an error: the job stops */
	bool refused; /* one has been */
	const kdri_json_value
	        *about; /* result.json without its lists of samples, for the summary; else NULL */
};

/* What an argument names: path or name=path. */
kdr_task_path cli_task_at(const char *argument);
void cli_reading(const cli_args *args, kdr_read_options *out);
/* The options of texts that are given, as in kdr_read_options.texts. */
const char *cli_text_settings(const cli_args *args);
/* The data sets given as positional arguments. */
kdr_task_path *cli_positional_tasks(const cli_args *args);
/* Reads the data sets of the run. */
void cli_tasks_read(cli_run *run, kdr_task_path *list, int count);
/* The same for the tasks given as positional arguments. */
void cli_tasks_read_positional(cli_run *run);
/* Whether the names of data sets can be names of files, and differ. */
void cli_names_check(kdr_data *const *data, int64_t count);
/* The same for names of which files are made: on every system different files. */
void cli_names_check_files(kdr_data *const *data, int64_t count);
/* Reads the known classes (--truth, --score, or a column of classes) of the data sets from run->first on. */
void cli_tasks_truth(cli_run *run);
/* --explain: reads the second views of these data sets. */
void cli_tasks_explain(cli_run *run);
/* Initial labels (--init). */
void cli_tasks_init(cli_run *run);
/* Splits --known: the library reads the files. */
void cli_tasks_known(cli_run *run);
void cli_tasks_free(cli_tasks *tasks);
/* Reads the model of --into, if it is given, before any data set. */
void cli_tasks_into(cli_run *run);

/* --- job.c: options of the library ------------------------------------------------------------------ */

/* For the tables of commands. */
#define CLI_EXPLAIN_OPTION \
	CLI_VALUE("explain", "FILE[,FILE...]", \
	          "explain clusters by these files, one for each data set: texts (with --text-column), a " \
	          "table, counts or genes of the same samples; rows are matched by ids if both have them, " \
	          "else by position; of AnnData files also X, a layer or obsm/NAME of the same file"), \
	        CLI_FLAG("both-views", \
	                 "with --explain: compare samples by both, their own file and that of --explain; " \
	                 "transfer: --explain has the files of the sources first")
#define CLI_INTO_OPTION \
	CLI_VALUE("into", "MODEL", \
	          "add the data sets to this model, saved with --save-model: they get its " \
	          "preprocessing, and its clusters or classes keep their numbers and names")
/* Reads the options of the library's table into run->job, before any file is read, and returns them. */
kdr_job_options *cli_job_read(cli_run *run);
/* The method of a job. */
const kdr_algo *cli_job_algo(kdr_job *job);
/* Before the job: checks that its outputs can be written, and applies --time-limit. */
void cli_job_ready(cli_run *run);
/* After the job: writes everything, and prints the summary. Ends the program if the job was interrupted or, with --strict, did not
 * converge. */
void cli_job_finish(cli_run *run);

/* --- output.c: writing results and the summary ---------------------------------------------------- */

/* A path made without memory that a rank could lack: it would miss what the others write together. What is cut off is longer
 * than any system allows, and refused by it. */
typedef struct cli_path {
	char path[8192];
} cli_path;
cli_path cli_join(const char *folder, const char *name, const char *ending);
/* Creates a folder unless it exists. */
void cli_make_folder(const char *folder);
/* kdr_write_check of an output that may fail without the result; notes whether it replaces a file. */
kdr_status cli_write_check(const cli_run *run, const char *path);
/* Refuses a folder whose result another run is about to write: both together would leave a result of both. Until the command ends. */
void cli_lock_folder(const char *folder);
void cli_unlock_folders(void);
/* After a failure: removes the folders that cli_make_folder created last, unless something is in them. */
void cli_remove_empty_folder(void);
/* Fails early, before any work, if an output exists and --force was not given. */
void cli_outputs_check(const cli_run *run, bool labels);
/* Writes strings to a file, one a line: all in order or, with `index`, those it points to, "?" for -1; `blank` instead of empty ones.
 * Returns false if the file has just these lines already: data sets that are converted one by one share their features.txt. */
bool cli_write_lines(const cli_run *run, const char *path, const char *const *strings, const int64_t *index,
                     int64_t count, const char *blank);
/* Writes labels, arrays, model, result.json and report, or result.json to standard output; then prints the summary. All ranks call
 * it. */
void cli_outputs_finish(cli_run *run);

/* start.c: whether a limit on address space (ulimit -v) leaves that many bytes. */
bool cli_room(size_t bytes);

/* session.c: from here on, stages are recorded in the file that KINDRED_STAGES names. */
void cli_stages_record(void);

/* --- main.c: processes that mpirun, srun and the like have started together ------------------- */

/* The number of this process, starting at 0, or -1; and the number of processes. */
int cli_launched_rank(void);
int cli_launched_ranks(void);

/* --- ranks.c: under mpirun, in builds with KINDRED_MPI -------------------------------------------- */

#ifdef KDRI_HAVE_MPI
/* This process and how many there are: 0 of 1 without mpirun. */
int cli_rank(void);
int cli_ranks(void);
/* Under mpirun the context works with those of the other ranks from here on. */
void cli_ranks_join(const cli_run *run);
/* Keeps an error to be agreed on; false: it may be printed. */
bool cli_ranks_hold(const char *format, va_list args);
/* All ranks: the exit status of all of them; rank 0 prints the line of the first that failed. After that it is the status
 * at once, whatever it is asked. */
int cli_ranks_agree(int code);
/* All ranks: whether it is true on any of them. */
bool cli_ranks_any(bool here);
/* Finds the files of this rank, or its part of the rows of common files. */
void cli_ranks_paths(kdr_task_path *list, int count, kdr_read_options *reading);
/* All ranks: gives data that each rank has read from its own file their place among the rows of all ranks. */
void cli_ranks_place(const cli_run *run);
void cli_ranks_leave(void);
/* At the end: prints the error of a rank that failed before the ranks were connected. */
void cli_ranks_early(int code);
#else
#define cli_rank()                            0
#define cli_ranks()                           1
#define cli_ranks_join(run)                   ((void)0)
#define cli_ranks_hold(format, args)          false
#define cli_ranks_agree(code)                 (code)
#define cli_ranks_any(here)                   (here)
#define cli_ranks_paths(list, count, reading) ((void)0)
#define cli_ranks_place(run)                  ((void)0)
#define cli_ranks_leave()                     ((void)0)
#define cli_ranks_early(code)                 ((void)(code))
#endif

/* --- write_back.c ------------------------------------------------------------------------------------------ */

/* For the tables of commands. */
#define CLI_RAW_OPTION \
	CLI_FLAG("raw-cells", \
	         "CSV outputs: keep texts that begin with = + - @ as they are; by default they get an " \
	         "apostrophe, so that spreadsheets do not evaluate them")
#define CLI_KEY_OPTION \
	CLI_VALUE("key-added", "NAME", "with --write-h5ad: names begin with NAME instead of kindred")
#define CLI_H5AD_OPTION \
	CLI_VALUE("write-h5ad", "FILE", \
	          "write the AnnData input with the added columns obs[\"kindred\"] and " \
	          "obs[\"kindred_confidence\"]; several inputs: FILE-TASK for each"), \
	        CLI_KEY_OPTION
#define CLI_NAMES_OPTION \
	CLI_VALUE( \
	        "names", "FILE", \
	        "names of clusters, one line each: the number and the name, such as 3,families. Results, tables " \
	        "and models have them")
#define CLI_TABLE_OPTION \
	CLI_VALUE("write-table", "FILE", \
	          "write the input table with the clusters or classes, their names, confidences and second " \
	          "choices as further columns, in the format of the input; several inputs: FILE-TASK for " \
	          "each"), \
	        CLI_VALUE("write-columns", "LIST", \
	                  "with --write-table: which columns to add: label, name, confidence, second " \
	                  "(default: all that the result has)")
/* --names: gives the clusters of the result their names; before there is a result, checks the file. */
void cli_names_read(const cli_run *run);
/* --write-h5ad and --write-table: writes the files of the data sets from run->first on, with their results or coordinates `xy`; while
 * there are neither, checks whether they can be written. */
kdr_status cli_write_back(cli_run *run, const double *const *xy);
/* Prints the names of these files, once they are in place. */
void cli_write_back_print(const cli_run *run);

/* --- the summary: summary.c and clusters.c ---------------------------------------------------------- */

/* Prints it safely. */
void cli_summary(FILE *to, const cli_run *run);
/* The number of characters of a text. */
int cli_width(const char *text);
/* Prints at most `most` characters of a text, padded to `width` of them (negative: on the left). Returns how many were printed. */
int cli_put_cell(FILE *out, int width, int most, const char *text);
/* Members of an object of result.json: NULL, NAN or 0 if there is none. */
const char *cli_text_at(const kdri_json_value *object, const char *key);
double cli_number_at(const kdri_json_value *object, const char *key);
long long cli_integer_at(const kdri_json_value *object, const char *key);
/* What result.json has about a task. */
const kdri_json_value *cli_about(const cli_run *run, int64_t task, const char *key);
/* The features that distinguish each cluster. */
void cli_clusters(FILE *out, const cli_run *run);
/* -v: the same for each data set, with more features. */
void cli_profiles(FILE *out, const cli_run *run);
/* Matching clusters of the data sets, if the method finds them. */
void cli_matches(FILE *out, const cli_run *run);
/* Which numbers of clusters were fitted, and how clusters split. */
void cli_levels(FILE *out, const cli_run *run);
/* Whether the method labels with classes, not with clusters. */
bool cli_has_classes(const kdr_result *result);
/* Quality scores of one clustering that need no known classes. */
void cli_quality_lines(FILE *out, const kdr_quality *quality);

/* The seconds of the monotonic clock. */
double cli_now(void);

extern cli_command cli_cluster, cli_transfer, cli_relate, cli_evaluate, cli_convert, cli_inspect,
        cli_generate, cli_methods, cli_cite, cli_demo, cli_embed, cli_report, cli_predict, cli_vectorize,
        cli_cut, cli_relabel, cli_version, cli_help;

#endif
