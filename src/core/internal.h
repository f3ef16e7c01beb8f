/* Declarations for every file of the library. SPDX-License-Identifier: BSD-3-Clause
 *
 * Clean-up convention: pointers start NULL, a function has one `done:` label, KDRI_TRY jumps there with `st` set, and
 * every *_free accepts NULL. On failure, outputs are unchanged. */
#ifndef KDRI_INTERNAL_H
#define KDRI_INTERNAL_H

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/words.h"
#include "kindred/context.h"
#include "kindred/kindred.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Passes the error of a call on: KDRI_DO returns it, KDRI_TRY jumps to the clean-up at done. */
#define KDRI_DO(call) \
	do { \
		const kdr_status status_ = (call); \
		if (status_ != KDR_OK) \
			return status_; \
	} while (0)
#define KDRI_TRY(call) \
	do { \
		st = (call); \
		if (st != KDR_OK) \
			goto done; \
	} while (0)
/* Stores the error message and returns `status`, so that one can write `return kdri_fail(...)`. A macro, so that
 * compilers and analysers see that the status is not KDR_OK. */
#define kdri_fail(ctx, status, ...) (kdri_set_error((ctx), __VA_ARGS__), (status))

/* KDRI_FAIL(ctx, status, format, ...): sets the error and jumps to done. */
#define KDRI_FAIL(...) \
	do { \
		st = kdri_fail(__VA_ARGS__); \
		goto done; \
	} while (0)
#define KDRI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define KDRI_MAX(a, b) ((a) > (b) ? (a) : (b))

/* The stage whose fraction is reported. A stage that starts with a total, or whose iterations have one, contains all other stages
 * until it ends: their iterations do not change the fraction. Without such a stage, every stage is counted separately. */
typedef struct kdri_progress {
	char open[32], counted[32]; /* the stage started last; the stage that is counted */
	bool contains;              /* the open stage is counted until it ends */
	bool at_most;               /* it may converge before its last iteration */
	double since, last;         /* seconds: when it began, and of the last event */
	double fraction, remaining; /* NaN: not known */
	int64_t part, parts;        /* the open stage runs once for each data set; 0 parts: once */
} kdri_progress;

struct kdr_context {
	kdr_allocator allocator;
	int threads;                  /* at most; a parallel region uses kdri_team */
	const struct kdri_crew *crew; /* who shares the threads, this context as number `seat`; or NULL */
	int seat;
	uint64_t seed;
	kdr_progress_fn progress;
	void *progress_user;
	double clock_start, deadline; /* seconds of the monotonic clock; deadline 0: none */
	double isolation;             /* seconds a child may take to read HDF5; 0: no child */
	double max_memory;            /* bytes that may be used; 0: no limit */
	struct kdri_limit *limit;     /* what counts them: core/limit.h; NULL: no limit was set */
	bool over_limit;              /* the last error was that max_memory was exceeded */
	bool limit_failed;            /* there was no memory for the limit: every allocation fails */
	const char *method, *stage;   /* the method that is fitted, and the stage: for messages; or NULL */
	double max_unpacked;          /* bytes that a compressed file may unpack to; 0: the default */
	double asked;                 /* when the callback was last called */
	kdri_progress stages;
	atomic_bool
	        cancelled; /* like timed_out, it stays set until the time limit is set again; other threads read it */
	bool timed_out;
	bool stop_requested; /* with comm: the callback has requested this rank to stop, which kdri_iteration sends to the
		        others */
	int writing; /* above 0: results are being written. A time limit and an interrupt end the fit, but not this: files that are copied are
	        read to their end */
	bool no_model;  /* what only predictions need is not computed */
	bool raw_cells; /* tables for spreadsheets: formulas get no apostrophe */
	bool abandon; /* products, factors and inverses fail once it is time to stop; set by callers that can do
		         without their results */
	/* The device it computes on: matrix/device_use.h. */
	enum { KDRI_DEVICE_AUTO, KDRI_DEVICE_CPU, KDRI_DEVICE_NAMED } device_choice;
	struct kdri_device *device;             /* found; with AUTO it may still be NULL */
	char device_name[16];                   /* as the user specified it */
	bool device_failed;                     /* the last failure was the device's */
	struct kdri_held *held;                 /* matrices that it holds: matrix/device_use.h */
	const struct kdri_inspected *inspected; /* matrices whose traits are known: matrix/traits.h */
	struct kdri_named
	        *named; /* columns that options name, while files are read: io/table/table.h; or NULL */
	struct kdri_comm *comm; /* processes with the other rows: comm/comm.h; NULL: none */
	int (*most_wanted)(kdr_context *ctx,
	                   bool met); /* with comm: the strongest request to stop of all ranks */
	void (*comm_close)(kdr_context *ctx);
	/* io/output/set.h: files that appear together, and files that were read; or NULL. */
	struct kdri_output_set *outputs;
	struct kdri_seen *seen;
	void (*outputs_close)(kdr_context *ctx), (*seen_close)(kdr_context *ctx);
	uint64_t tidied[2]; /* the folder without temporary files of ended processes: device and number */
	char error[512];
};

/* The number of this thread in its team: 0 outside a parallel region and in builds without threads. */
static inline int64_t kdri_thread(void)
{
#ifdef _OPENMP
	return omp_get_thread_num();
#else
	return 0;
#endif
}

/* The number of threads for a parallel region now: all of the context's, or its share of them if other jobs run
 * side by side (side_by_side.h). A share grows when another job ends, and is never more than ctx->threads. */
int kdri_team(const kdr_context *ctx);

/* --- errors: context.c --------------------------------------------------------------------- */

/* Stores the error message, one line. Must not be called inside a parallel region. `ctx` may be NULL. */
KDR_PRINTF(2, 3)
void kdri_set_error(kdr_context *ctx, const char *format, ...);

/* Fails with KDR_ERR_MEMORY because of the context's limit on memory. */
#define kdri_fail_limit(ctx, ...) \
	(kdri_set_error((ctx), __VA_ARGS__), (ctx)->over_limit = true, KDR_ERR_MEMORY)

/* Fails with KDR_ERR_UNSUPPORTED because `what` needs a part that this build does not have. `instead` names an
 * alternative, or is NULL. */
#define kdri_absent(ctx, what, part, instead) \
	(kdri_set_absent((ctx), (what), (part), (instead)), KDR_ERR_UNSUPPORTED)
void kdri_set_absent(kdr_context *ctx, const char *what, const char *part, const char *instead);

/* --- memory: alloc.c ----------------------------------------------------------------------- */

/* That of a context for which the caller gives no allocator: malloc. */
extern const kdr_allocator kdri_standard;

/* All use the context's allocator, check count * size for overflow, and set the error. A count of 0 gives a valid
 * pointer. Free the memory with kdri_free. */
kdr_status kdri_alloc(kdr_context *ctx, void *out, int64_t count, size_t size);
kdr_status kdri_calloc(kdr_context *ctx, void *out, int64_t count, size_t size);
kdr_status kdri_realloc(kdr_context *ctx, void *inout, int64_t count, size_t size);
void kdri_free(kdr_context *ctx, void *ptr);
#define KDRI_FREE_WITH(allocator, ...) \
	kdri_free_all((allocator), (void *[]){ __VA_ARGS__ }, \
	              sizeof((void *[]){ __VA_ARGS__ }) / sizeof(void *))
/* KDRI_FREE(ctx, p, q, ...): frees several pointers. KDRI_FREE_WITH takes an allocator instead of the context. */
#define KDRI_FREE(ctx, ...) KDRI_FREE_WITH(&(ctx)->allocator, __VA_ARGS__)
void kdri_free_all(const kdr_allocator *allocator, void *const *list, size_t count);
kdr_status kdri_strdup(kdr_context *ctx, const char *text, char **out);
kdr_status kdri_strndup(kdr_context *ctx, const char *text, size_t length, char **out);

/* Lists of strings: each string and the list itself are allocated. NULL is accepted, and copied to NULL. */
#define kdri_strings_copy(ctx, strings, count, out) \
	kdri_strings_pick((ctx), (const char *const *)(strings), NULL, (count), (out))
/* strings[which[0]] to strings[which[count - 1]], and a NULL after them; `which` NULL: the first `count`. */
kdr_status kdri_strings_pick(kdr_context *ctx, const char *const *strings, const int64_t *which,
                             int64_t count, char ***out);
/* Adds a copy of `text` to a list of `count` strings. */
kdr_status kdri_strings_append(kdr_context *ctx, char ***strings, int64_t *count, const char *text);
void kdri_strings_free(const kdr_allocator *allocator, char **strings, int64_t count);

/* KDRI_NEW(ctx, &p, n): allocates n elements of the type of *p. `void *out` above hides the pointer's type; these macros
 * restore it. */
#define KDRI_NEW(ctx, pp, count)  kdri_alloc((ctx), (pp), (int64_t)(count), sizeof **(pp))
#define KDRI_NEW0(ctx, pp, count) kdri_calloc((ctx), (pp), (int64_t)(count), sizeof **(pp))
#define KDRI_GROW(ctx, pp, count) kdri_realloc((ctx), (pp), (int64_t)(count), sizeof **(pp))
/* KDRI_ROOM(ctx, &p, &room, n): makes sure that p, which has room for `room` elements, can hold n. The room at least
 * doubles, so that elements can be added one by one. */
#define KDRI_ROOM(ctx, pp, room, need) kdri_make_room((ctx), (pp), (room), (int64_t)(need), sizeof **(pp))
kdr_status kdri_make_room(kdr_context *ctx, void *inout, int64_t *room, int64_t need, size_t size);
/* Whether a call that returned `st` failed because the context's limit on memory was reached. The work is then skipped, if
 * there is a result without it. */
static inline bool kdri_over_limit(const kdr_context *ctx, kdr_status st)
{
	return st == KDR_ERR_MEMORY && ctx->over_limit;
}

/* The limit of the control group, infinite if there is none; its files are searched below `root`. */
double kdri_memory_quota(const char *root);
/* Bytes of memory that this process can still allocate, considering its control group; infinite if unknown. */
double kdri_memory_free(const kdr_context *ctx);

/* --- data sets larger than memory: spool.c --------------------------------------------------- */

/* From now on the context's allocator recognises arrays that are mapped files when it frees them. */
kdr_status kdri_spool_enable(kdr_context *ctx);
/* Sets whether large arrays are allocated in scratch files from now on; returns the previous setting. */
bool kdri_spool_begin(kdr_context *ctx, bool wanted);
bool kdri_spool_on(const kdr_context *ctx); /* they are */
/* The allocator for arrays in memory if the context's recognises mapped files; NULL if it does not. */
const kdr_allocator *kdri_spool_below(const kdr_context *ctx);
bool kdri_spooled(const void *at); /* `at` is a position in an array that is a mapped file */
/* Announces to the system that these bytes of a mapped file will be needed soon. */
void kdri_spool_ahead(const void *at, size_t bytes);
/* Maps part of an open file as a read-only array, which is freed like any other; `path` is for error messages. */
kdr_status kdri_spool_map(kdr_context *ctx, int fd, int64_t offset, int64_t bytes, const char *path,
                          void *out);
/* Makes part of a shared mapping, which begins on a page of its own, an array that is freed like any other. `fd` is the
 * scratch file that is mapped there, or -1 for memory. Returns false if that is not possible; the caller then copies. */
bool kdri_spool_adopt(kdr_context *ctx, void *at, size_t bytes, int fd);
/* Pages of mapped files are released before the process uses `bytes` bytes; 0: whenever the system needs them. */
void kdri_spool_limit(double bytes);

/* The number of threads that can run at the same time, according to CPU affinity and the quota of the control group (a
 * container): cpus.c. */
int kdri_cpus(void);
/* That quota in processors, infinite if there is none; its files are searched below `root`. */
double kdri_cpu_quota(const char *root);

/* *out = a * b, or KDR_ERR_SIZE. */
kdr_status kdri_mul(kdr_context *ctx, int64_t a, int64_t b, int64_t *out);

/* Frees with an allocator by value, which objects keep so that they can be freed after their context. */
static inline void kdri_free_with(const kdr_allocator *allocator, void *ptr)
{
	if (ptr)
		allocator->free(allocator->user, ptr);
}

/* --- random numbers: rng.c ----------------------------------------------------------------- */

typedef struct kdri_rng {
	uint64_t s[4];
} kdri_rng;

uint64_t kdri_fnv1a(const char *text, size_t length); /* a hash */
/* The random stream of (seed, stage, index): independent of the number of threads and of the numbers that other stages
 * have drawn. */
/* The next number of a splitmix64 sequence; `state` may start as any number. */
uint64_t kdri_random(uint64_t *state);
kdri_rng kdri_rng_stream(uint64_t seed, const char *stage, uint64_t index);
uint64_t kdri_rng_u64(kdri_rng *rng);
double kdri_rng_uniform(kdri_rng *rng);               /* [0, 1), 53 bits */
double kdri_rng_normal(kdri_rng *rng);                /* mean 0, variance 1 */
int64_t kdri_rng_below(kdri_rng *rng, int64_t bound); /* 0 .. bound-1, unbiased */

/* --- time, progress: context.c ------------------------------------------------------------- */

double kdri_now(void); /* monotonic seconds */
void kdri_stage_start(kdr_context *ctx, const char *stage, int64_t total);
void kdri_stage_end(kdr_context *ctx, const char *stage);
/* stages.c: reports begin and end of the call, which returns a status; the stages above are reported too. */
#define KDRI_TIMED(stage, call) (kdri_timed_begin(stage), kdri_timed_end(stage, call))
void kdri_timed_begin(const char *stage);
kdr_status kdri_timed_end(const char *stage, kdr_status st);
/* Before a thread starts a worker: the thread's name in the record. The worker then tells its own. */
const char *kdri_timed_start(int worker);
void kdri_timed_worker(const char *parent, int number);
KDR_PRINTF(2, 3) void kdri_message(kdr_context *ctx, const char *format, ...);
KDR_PRINTF(2, 3) void kdri_warning(kdr_context *ctx, const char *format, ...);
/* Reports the progress of a stage; a request to stop is kept until the ranks meet. */
void kdri_tell_iteration(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total,
                         double objective);
/* Reports an iteration; true if the caller must stop now (cancelled, or out of time). Objective NaN:
 * none. Cheap enough for every iteration; inner loops call it once per block. */
bool kdri_iteration(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total, double objective);
/* The same for iterations in which ranks meet anyway. Each has sent there whether it wants to stop, so that no further
 * meeting is needed. A request of the callback in this call takes effect in the next iteration. */
bool kdri_iteration_met(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total,
                        double objective);
/* What this rank requests: 0 to continue, 1 to stop because the time limit was reached, 2 because it was cancelled. */
int kdri_stop_request(const kdr_context *ctx);
/* Whether the time limit was reached. Changes nothing, so that it can also be called inside parallel regions. */
static inline bool kdri_late(const kdr_context *ctx)
{
	return ctx->deadline > 0 && kdri_now() > ctx->deadline;
}
/* Whether to stop, for long work without iterations; can be called inside parallel regions. The first thread of a team
 * is the caller's and calls the callback a few times a second. */
bool kdri_leave_off(kdr_context *ctx, const char *stage, int64_t done, int64_t total);
/* The status that such work returns at its end: an error if the context abandons the work and it was time to stop. */
kdr_status kdri_abandoned(kdr_context *ctx);
/* Why kdri_iteration returned true. */
kdr_stop kdri_stop_reason(const kdr_context *ctx);

/* The name of a task in messages. */
static inline const char *kdri_task_name(const kdr_task *task)
{
	return task->name ? task->name : "(unnamed)";
}

/* --- data sets: data.c --------------------------------------------------------------------- */

/* Where the features of a data set come from: columns of a table (sheet.c). */
typedef struct kdri_sheet {
	kdr_column *columns; /* texts are owned */
	int64_t ncolumns;
	double *origin;    /* of each column: the day its dates are counted from; else 0 */
	bool *asked;       /* of each column: --columns names it; NULL: unknown */
	int64_t *order;    /* of each column of dates: 1 day first, 2 month first, 0 either; else 0 */
	int64_t nfeatures; /* of the data set as it was read */
	int64_t *source;   /* of each feature: its column; NULL once features have been aligned */
	bool header;       /* columns have names from the first line */
	bool latin;        /* the file is not UTF-8 and no encoding was specified: Windows-1252 was assumed */
	char *missing;     /* the policy; texts are NULL if none was specified */
	char **na;         /* specified texts that mean a missing value */
	int64_t nna;
	char **rename, **recode; /* changes of names and values, as kdr_read_options has them */
	int64_t nrename, nrecode;
	double *fill; /* of each feature: the mean or median that replaces missing values; NULL: another policy */
	int64_t *hole_row, *hole_feature;
	int64_t nholes;
	char **notes; /* kdr_data_note_at */
	int64_t nnotes;
} kdri_sheet;
/* Adds a note of one line. */
KDR_PRINTF(3, 4)
kdr_status kdri_sheet_note(kdr_context *ctx, kdri_sheet *sheet, const char *format, ...);
void kdri_sheet_free(const kdr_allocator *allocator, kdri_sheet *sheet);
/* Copies it for the given rows, without missing values of other rows; `rows` NULL: all rows. */
kdr_status kdri_sheet_copy(kdr_context *ctx, const kdri_sheet *sheet, const int64_t *rows, int64_t n,
                           kdri_sheet **out);
/* "days since 2021-03-04", counted from 1970-01-01. */
void kdri_days_text(double days, char *text, size_t room);
/* A name for each row: the task column of a file. */
typedef struct kdri_groups {
	int64_t *of;  /* per row: index of its name, or -1 if it has none; NULL: there are no names */
	char **names; /* in order of first appearance, or as the file lists them */
	int64_t count;
	bool all; /* the groups of an entire file of which these rows are a part: all are listed, and their order
		     is kept */
} kdri_groups;

/* How a table is written in its file, so that it can be copied with one more column: io/table/csv_write.c, and of workbooks
 * io/workbook/xlsx_copy.c. */
typedef struct kdri_dialect {
	char delimiter; /* '\0': unknown, or not a table of text */
	bool workbook;
	bool header;
	int encoding;   /* kdri_encoding */
	bool returns;   /* lines end in CR alone */
	int64_t fields; /* cells in each row */
	int64_t above;  /* rows above the header, blank ones included */
} kdri_dialect;
/* Values of a preprocessed data set in the user's units, before weights, norms, scaling and filling of missing values:
 * prepare/prepare.c. */
typedef struct kdri_original {
	bool same;      /* preprocessing has changed nothing: the data set itself has them */
	double *values; /* rows x cols, NaN for missing; NULL: not kept */
	int *unit;      /* cols, with values: kdri_unit */
	double *origin; /* cols, with values: the day that dates are counted from, in days since 1970 */
} kdri_original;

/* Vectors of words, which the data sets that were made with them share: text/vectors.c. */
typedef struct kdri_vectors {
	kdr_allocator allocator;
	atomic_int users;
	int64_t count, dim;
	char **words;
	double *idf;    /* of each word */
	double *values; /* count x dim */
} kdri_vectors;
/* Room for vectors; the words are NULL. */
kdr_status kdri_vectors_new(kdr_context *ctx, int64_t count, int64_t dim, kdri_vectors **out);
/* One user more, or fewer; without any, they are freed. NULL is accepted. */
kdri_vectors *kdri_vectors_share(kdri_vectors *vectors);
void kdri_vectors_release(kdri_vectors *vectors);

/* Owned; readers fill one. Exactly one of dense or (rowptr, col, val) is set. */
struct kdr_data {
	kdr_allocator allocator;
	char *name, *path;
	kdr_mat_kind kind;
	int64_t rows, cols;
	bool borrowed; /* the caller owns the matrix: it must not be changed or freed */
	bool streamed; /* large arrays are files, and so are arrays that replace them: spool.c */
	void *mapped;  /* the file that the borrowed matrix is; NULL: none */
	double *dense; /* rows x cols, stride cols */
	int64_t *rowptr;
	int32_t *col;
	double *val;
	char **features;       /* cols names, or NULL */
	char **ids;            /* rows names, or NULL */
	const char *ids_title; /* of their column in a table for spreadsheets; static; NULL: it has none */
	char **excerpts;       /* rows: the first words of the text of each row; or NULL */
	int64_t *labels;       /* rows, or NULL */
	char **classes;
	int64_t nclasses;
	kdri_sheet *sheet;      /* its columns in a text table; NULL: it was not read from one */
	kdr_left_out *left_out; /* rows of the file that are not here, and why; texts are owned */
	int64_t nleft_out;
	kdri_groups groups; /* kdr_read_options.task_column */
	int64_t *origin; /* the row of the file that each row is, from 0; NULL: all of them in their order */
	int64_t file_rows; /* where origin is set: how many the file has */
	kdri_original original;
	kdri_dialect dialect;
	double seconds; /* reading took */
	char *texts; /* made from texts: the options that determine the terms, as in kdr_read_options.texts;
		        otherwise NULL */
	char *texts_note;      /* what was chosen automatically for the texts, as a message; or NULL */
	char *compared;        /* with vectors: what texts are compared by, and why, as a message; or NULL */
	kdri_vectors *vectors; /* rows are means of these vectors of the words of texts; or NULL */
	kdr_data *
	        view; /* the same samples in other columns, which explain what these give (jobs/say/explain.c); or NULL */
	bool combined; /* rows have the columns of both (jobs/combine.c) */
	kdr_data *
	        alone; /* texts that were read with others: the same rows as in a reading of their own, with its words; or NULL */
};
/* Lists how columns were interpreted and how missing values were handled, one line each: sheet.c. Free with
 * kdri_strings_free. */
kdr_status kdri_sheet_notes(kdr_context *ctx, const kdr_data *data, char ***out, int64_t *count);
/* What happened to missing values, by the value of --missing: "replaced by column means". */
const char *kdri_missing_done(const char *policy);
/* Records a row that is skipped. */
kdr_status kdri_data_leave_out(kdr_context *ctx, kdr_data *data, int64_t row, const char *id,
                               const char *reason);

/* How to show the mean of a column: as a number, a fraction of the samples, or a date. */
typedef enum kdri_unit { KDRI_UNIT_NUMBER, KDRI_UNIT_SHARE, KDRI_UNIT_DATE } kdri_unit;
/* Data sets with more columns do not keep original values. */
enum { KDRI_ORIGINAL_MOST = 256 };
kdr_status kdri_data_new(kdr_context *ctx, const char *name, const char *path, kdr_data **out);
/* Gives the row of the file that each row is, from 0, and the number of rows of the file. Free *out. */
kdr_status kdri_data_origin(kdr_context *ctx, const kdr_data *data, int64_t **out, int64_t *file_rows);
/* kdr_data_rows without the second view. */
kdr_status kdri_data_part(kdr_context *ctx, const kdr_data *data, const int64_t *rows, int64_t n,
                          kdr_data **out);
void kdri_original_free(const kdr_allocator *allocator, kdri_original *original);
/* Replaces the matrix by one without rows. */
kdr_status kdri_data_no_rows(kdr_context *ctx, kdr_data *data, kdr_mat_kind kind, int64_t cols);
/* Replaces the matrix by a sparse one with these arrays, whose columns have no names and are no longer those of a table or of texts. */
void kdri_data_columns(kdr_data *data, int64_t cols, int64_t *rowptr, int32_t *col, double *val);
/* Replaces a borrowed matrix by a copy, before it is changed. */
kdr_status kdri_data_own(kdr_context *ctx, kdr_data *data);

/* Splits a data set by `names`, one per row, or, if that is NULL, by the task column it was read with
 * (kdr_read_options.task_column). There is one data set per name, in order of first appearance. It is called `prefix`
 * (NULL: nothing) followed by the name, with '_' instead of '/'. Free each with kdr_data_free, the list with kdr_free. */
kdr_status kdri_data_split(kdr_context *ctx, const kdr_data *data, const char *const *names,
                           const char *prefix, kdr_data ***out, int64_t *count);

int64_t kdri_prep_warning_count(const kdr_prep *prep);

const char *kdri_prep_warning_at(const kdr_prep *prep, int64_t index);

/* Describes the preprocessing on one line, such as "features: union (3 data sets, 2500 columns); tfidf; l2". */
const char *kdri_prep_describe(const kdr_prep *prep);

/* Such as "word counts"; "" if unknown. */
const char *kdri_data_kind_name(kdr_data_kind kind);

/* Returns KDR_ERR_ARGUMENT from a public function unless the context and the named pointers are given. */
#define KDRI_NEED(ctx, pointers) \
	do { \
		if (!(ctx) || !(pointers)) \
			return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: ctx && " #pointers " must not be NULL", \
			                 __func__); \
	} while (0)

/* --- context.c ------------------------------------------------------------------------------------ */

/* Copies a struct that begins with its size from a caller (NULL: all zero) into `own`, whose size is `size`. */
kdr_status kdri_sized_take(kdr_context *ctx, const char *type, const void *given, size_t size, void *own);
#define KDRI_TAKE(ctx, type, given, own) kdri_sized_take(ctx, #type, given, sizeof(type), own)
/* Returns KDR_ERR_ARGUMENT if an array of a matrix is NULL or its sizes are invalid. */
kdr_status kdri_check_mat(kdr_context *ctx, const char *what, const kdr_mat *x);
/* Returns KDR_ERR_ARGUMENT unless there are at least `least` data sets and none of them is NULL. */
kdr_status kdri_check_sets(kdr_context *ctx, const char *what, kdr_data *const *sets, int64_t count,
                           int64_t least);

/* The progress of a job and its remaining time. */

/* Takes an event at that time into account and sets its fields counted, fraction, remaining and at_most. */
void kdri_progress_update(kdri_progress *progress, kdr_event *event, double now);

#endif
