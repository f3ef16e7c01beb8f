/* Declarations that all commands use. SPDX-License-Identifier: BSD-3-Clause
 *
 * The program uses the library's public header alone. A command is a table entry: its options, help,
 * manual page and shell completion all come from the same cli_command. */
#ifndef KINDRED_CLI_H
#define KINDRED_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/figures.h"
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

typedef struct cli_command {
	const char *name;
	const char *usage;        /* what follows the name, such as "[OPTION...] -k K TASK..." */
	const char *summary;      /* one line */
	const char *description;  /* paragraphs separated by blank lines */
	const char *example;      /* command lines with comments */
	cli_option_group *groups; /* ends with a NULL title */
	bool completes_files;     /* positional arguments are files */
	const char *(*argument)(
	        int index); /* or one of these words, for completion: NULL past the last. Or NULL */
	int (*run)(cli_args *args);
} cli_command;

/* The commands, ended by a NULL name: main.c. */
extern const cli_command *const cli_commands[];
const cli_command *cli_command_find(const char *name);
/* Puts the library's options in the place of CLI_JOB, in the tables of all commands; false if memory is short. */
bool cli_options_complete(void);

/* Parses argv[0..] (after the command's name). Prints the error and returns NULL on misuse. */
cli_args *cli_args_parse(const cli_command *command, int argc, char **argv);
void cli_args_free(cli_args *args);
const cli_command *cli_args_command(const cli_args *args);

/* The last value given to an option, or `otherwise`. For flags: "1", or "0" after --no-NAME. */
const char *cli_get(const cli_args *args, const char *name, const char *otherwise);
bool cli_flag(const cli_args *args, const char *name);
/* The value of an option that repeats: the i-th, or NULL past the last. */
const char *cli_get_nth(const cli_args *args, const char *name, int index);
/* Numbers with bounds; false after an error was printed. `out` keeps its value if not given. */
bool cli_get_int(const cli_args *args, const char *name, int64_t min, int64_t max, int64_t *out);
bool cli_get_real(const cli_args *args, const char *name, double min, double max, double *out);
/* Bytes, above 0, such as 500M or 1.5G: K, M, G and T are powers of 1000. */
bool cli_get_size(const cli_args *args, const char *name, double *out);
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
/* Whether a command has an option. */
bool cli_has_option(const cli_command *command, const char *name);
/* effects.c: whether every option that is given has an effect; false after an error was printed. */
bool cli_check_effects(const cli_args *args);

/* A comma-separated list. */
typedef struct cli_list {
	char **items;
	int count;
} cli_list;
bool cli_list_split(const char *text, cli_list *out);
void cli_list_free(cli_list *list);

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
/* The same, with an exit status as value; macros, so that static analysis knows it. */
#define cli_fail_with(code, ...) (cli_error(__VA_ARGS__), (code))
#define cli_usage_error(...)     cli_fail_with(EXIT_USAGE, __VA_ARGS__)
#define cli_no_memory()          cli_fail_with(EXIT_OTHER, "out of memory")
/* From now on only the next error is printed: a full disk is full for every file. */
void cli_errors_once(void);
/* Prints text with names that come from files and users so that no terminal interprets it: bytes that are not UTF-8 and control
 * characters, but for ends of lines and tabs, appear as \xNN. */
void cli_print_safely(FILE *out, const char *text, size_t length);
/* Writes data to standard output: byte for byte, but safely if that is a terminal. */
void cli_print_data(const char *text, size_t length);
/* Prints the text of a JSON writer as one line to standard output, and frees it. */
void cli_print_json(kdri_json *j);
/* Prints to `out`, safely, what `print` writes about `what`. */
void cli_print_by(FILE *out, void (*print)(FILE *out, const void *what), const void *what);
/* Prints text for users, not data, safely to standard output. */
KDR_PRINTF(1, 2) void cli_printf(const char *format, ...);
KDR_PRINTF(1, 2) void cli_warn(const char *format, ...);
/* Prints the error of the context, or the description of the status, and returns the exit status. */
int cli_fail(const kdr_context *ctx, kdr_status status);
/* EXIT_DONE if the call succeeded; otherwise the same. */
int cli_code(const kdr_context *ctx, kdr_status status);
/* The same for reading: unsupported or too large content of a file is invalid data. */
int cli_code_reading(const kdr_context *ctx, kdr_status status);

/* Returns the exit status of a call, unless it is EXIT_DONE. For functions that have nothing to free. */
#define CLI_DO(call) \
	do { \
		const int code_of_call = (call); \
		if (code_of_call != EXIT_DONE) \
			return code_of_call; \
	} while (0)

/* A context set up from the common options, with progress on a terminal and Ctrl-C turned into cancellation. Exit status. */
int cli_session_open(const cli_args *args, kdr_context **out);
/* progress.c: one line, such as "snmf  [######......] 52 %  3.1 s  about 40 s left", `elapsed` seconds after the start. `limit`:
 * seconds that the job may take; 0 if there is no limit. */
void cli_progress_text(const kdr_event *event, double elapsed, double limit, char *text, size_t room);
/* Applies --time-limit, minus the time that has passed. Reading is never cut short, because half of the data is useless. */
void cli_session_limit(kdr_context *ctx);
/* From now on a warning of the library is an error: the job stops, and cli_session_refused returns true. */
void cli_session_strict(void);
bool cli_session_refused(void);
/* Ends with cli_finish. */
int cli_session_close(kdr_context *ctx, int exit_code);
bool cli_interrupted(void);
bool cli_quiet(const cli_args *args);
/* Flushes standard output; a full disk or closed pipe there is an error like any other. */
int cli_finish(int exit_code);

/* --- tasks.c: data sets named on the command line ---------------------------------------------- */

typedef struct cli_tasks {
	int64_t count;
	kdr_data **data;
	kdr_labels **init;     /* initial labels, or NULL entries */
	const int64_t **start; /* the same as numbers; NULL without --init */
	const char **known;    /* files of --known, one per task; NULL without it */
	cli_list known_files;  /* the files as they were given */
	bool scored;           /* the known classes of the data are used for scoring */
	int64_t *from;         /* which of the files read each task came from */
	int64_t files;
	kdr_model *model; /* --into: data sets are read as those of this model; NULL: there is none */
} cli_tasks;

/* Splits name=path; *path points into `argument`, the name (or NULL) is copied to `name`. */
void cli_task_split(const char *argument, char *name, size_t room, const char **path);
void cli_reading(const cli_args *args, kdr_read_options *out);
/* The options of texts that are given, as in kdr_read_options.texts; to be freed. NULL: an error was reported. */
char *cli_text_settings(const cli_args *args);
/* A data set to read: its path, and its name ("" for the file's stem). */
typedef struct cli_task_arg {
	char name[256];
	const char *path;
	bool may_lack_labels; /* --label-column need not be in it */
} cli_task_arg;

/* Reads data sets. Exit status. */
int cli_tasks_read(kdr_context *ctx, const cli_args *args, cli_task_arg *list, int count, cli_tasks *out);
/* The same for the tasks given as positional arguments. */
int cli_tasks_read_positional(kdr_context *ctx, const cli_args *args, cli_tasks *out);
/* Whether the names of data sets can be names of files, and differ: exit status. */
int cli_names_check(kdr_data *const *data, int64_t count);
/* Reads classes from a file, which replace those of the data. Exit status. */
int cli_labels_read(kdr_context *ctx, const char *path, kdr_data *data);
/* Reads the known classes (--truth, --score, or a column of classes) of the data sets from `first` on. Exit status. */
int cli_tasks_truth(kdr_context *ctx, const cli_args *args, int64_t first, cli_tasks *tasks);
/* Initial labels (--init). Exit status. */
/* --explain: reads the second views of the data sets from `first` on. Exit status. */
int cli_tasks_explain(kdr_context *ctx, const cli_args *args, int64_t first, cli_tasks *tasks);
int cli_tasks_init(kdr_context *ctx, const cli_args *args, cli_tasks *tasks);
/* Splits --known: the library reads the files. Exit status. */
int cli_tasks_known(const cli_args *args, cli_tasks *tasks);
void cli_tasks_free(cli_tasks *tasks);

/* Reads the model of --into, if it is given, before any data set. Exit status. */
int cli_tasks_into(kdr_context *ctx, const cli_args *args, cli_tasks *tasks);

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
/* Reads the options of the library's table, before any file is read. Exit status; call kdr_job_free in any case. */
int cli_job_read(kdr_context *ctx, const cli_args *args, kdr_job **job);
/* The method of a job. */
const kdr_algo *cli_job_algo(kdr_job *job);
/* What the fit means for the exit status: interruption, and --strict. */
int cli_job_exit(const cli_args *args, const kdr_result *result);

/* --- output.c: writing results and the summary ---------------------------------------------------- */

typedef struct cli_run {
	const cli_args *args;
	kdr_result *result;
	const cli_tasks *tasks; /* those from `first` on get labels */
	int64_t first;
	double start; /* of the command, in seconds */
	const kdri_json_value
	        *about; /* result.json without its lists of samples, for the summary; else NULL */
} cli_run;

/* A path made without memory that a rank could lack: it would miss what the others write together. What is cut off is longer
 * than any system allows, and refused by it. */
typedef struct cli_path {
	char path[8192];
} cli_path;
cli_path cli_join(const char *folder, const char *name, const char *ending);
/* Creates a folder unless it exists. Exit status. */
int cli_make_folder(const char *folder);
/* After a failure: removes the folders that cli_make_folder created last, unless something is in them. */
void cli_remove_empty_folder(void);
/* Fails early, before any work, if an output exists and --force was not given. */
int cli_outputs_check(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, bool labels);
/* The labels of a data set, one line per sample; to be freed. NULL: out of memory, or no labels. */
char *cli_labels_text(const kdr_result *result, int64_t task, size_t *length);
/* Writes labels, arrays, model, result.json and report; or result.json to standard output. All ranks call it. */
int cli_outputs_write(kdr_context *ctx, const cli_run *run);
/* Writes everything, then prints the summary. */
int cli_outputs_finish(kdr_context *ctx, const cli_run *run);

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
/* Under mpirun the context works with those of the other ranks from here on. Exit status. */
int cli_ranks_join(kdr_context *ctx, const cli_args *args);
/* Keeps an error to be agreed on; false: it may be printed. */
bool cli_ranks_hold(const char *format, va_list args);
/* All ranks: the exit status of all of them; rank 0 prints the line of the first that failed. After that it is the status
 * at once, whatever it is asked. */
int cli_ranks_agree(int code);
/* All ranks: whether it is true on any of them. */
bool cli_ranks_any(bool here);
/* Finds the files of this rank, or its part of the rows of common files. Exit status. */
int cli_ranks_paths(cli_task_arg *list, int count, kdr_read_options *reading);
/* All ranks: gives data that each rank has read from its own file their place among the rows of all ranks. Exit status. */
int cli_ranks_place(kdr_context *ctx, kdr_data *const *data, int64_t count);
void cli_ranks_leave(void);
/* At the end: prints the error of a rank that failed before the ranks were connected. */
void cli_ranks_early(int code);
#else
#define cli_rank()                            0
#define cli_ranks()                           1
#define cli_ranks_join(ctx, args)             EXIT_DONE
#define cli_ranks_hold(format, args)          false
#define cli_ranks_agree(code)                 (code)
#define cli_ranks_any(here)                   (here)
#define cli_ranks_paths(list, count, reading) EXIT_DONE
#define cli_ranks_place(ctx, data, count)     EXIT_DONE
#define cli_ranks_leave()                     ((void)0)
#define cli_ranks_early(code)                 ((void)(code))
#endif

/* Of a count in a sentence: the "s" of the plural, or "es". */
#define CLI_S(count)  ((count) == 1 ? "" : "s")
#define CLI_ES(count) ((count) == 1 ? "" : "es")

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
	                  "with --write-table: which columns to add: label, name, confidence, second, " \
	                  "may_be_new (default: all that the result has)")
/* --names: gives the clusters of a result their names; without a result, checks the file. */
int cli_names_read(kdr_context *ctx, const cli_args *args, kdr_result *result);
/* --write-h5ad and --write-table: writes the files of the data sets from `first` on, with their results; before the job,
 * when both are NULL, checks whether they can be written. Exit status. */
int cli_write_back(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, int64_t first,
                   const kdr_result *result, const double *const *xy);
/* Prints the names of these files, once they are in place. */
void cli_write_back_print(const cli_args *args, const cli_tasks *tasks, int64_t first);

/* --- the summary: summary.c and clusters.c ---------------------------------------------------------- */

void cli_summary(FILE *out, const cli_run *run);
/* The number of characters of a text. */
int cli_width(const char *text);
/* Prints at most `most` characters of a text, padded to `width` of them (negative: on the left). Returns how many were printed. */
int cli_put_cell(FILE *out, int width, int most, const char *text);
/* Members of an object of result.json: NULL, NAN or 0 if there is none. */
const char *cli_text_at(const kdri_json_value *object, const char *key);
double cli_number_at(const kdri_json_value *object, const char *key);
long long cli_integer_at(const kdri_json_value *object, const char *key);
/* What result.json has about a task. */
const kdri_json_value *cli_about_task(const cli_run *run, int64_t task);
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

/* cmd_methods.c: the id of method number `index`, NULL past the end; for completions. */
const char *cli_method_id(int index);
extern const cli_command cli_cluster, cli_transfer, cli_relate, cli_evaluate, cli_convert, cli_inspect,
        cli_generate, cli_methods, cli_cite, cli_demo, cli_embed, cli_report, cli_predict, cli_vectorize,
        cli_cut, cli_relabel, cli_version, cli_help;

#endif
