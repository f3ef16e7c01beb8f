/* The context: errors, clock, progress, cancellation. SPDX-License-Identifier: BSD-3-Clause */
/* The progress of a job and its remaining time.
 *
 * If a share f of a stage took t seconds, the rest takes
 *
 *   (E1)  r = t (1 - f) / f
 *
 * seconds. Steps take unequal time, so that r is averaged with the last figure, less the seconds since then. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/internal.h"
#include "core/limit.h"
#include "core/side_by_side.h"
#include "core/system.h"

/* Arguments of callers: structs of another version of the headers, lists, matrices.
 *
 * Every option struct begins with its size in the caller's header. Members that an older caller does not have become zero,
 * which is their default; members that only a newer header has are refused unless they are zero. */

/* No struct grows by more: a larger size is memory that was never set. */
enum { MOST_GROWTH = 4096 };

kdr_status kdri_sized_take(kdr_context *ctx, const char *type, const void *given, size_t size, void *own)
{
	size_t theirs = size;
	memset(own, 0, size);
	if (given)
		memcpy(&theirs, given, sizeof theirs);
	if (theirs < sizeof theirs || theirs > size + MOST_GROWTH)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: the member size is %zu, but %zu is expected; set it with %s_init", type,
		                 theirs, size, type);
	for (size_t i = size; given && i < theirs; i++)
		if (((const unsigned char *)given)[i])
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "%s: a member that version %s of the library does not have is not zero; set it to zero or use a newer library",
			        type, kdr_version());
	if (given)
		memcpy(own, given, KDRI_MIN(size, theirs));
	memcpy(own, &size, sizeof size);
	return KDR_OK;
}

kdr_status kdri_check_sets(kdr_context *ctx, const char *what, kdr_data *const *sets, int64_t count,
                           int64_t least)
{
	if (!sets || count < least)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: the number of data sets is %lld, but must be at least %lld", what,
		                 sets ? (long long)count : 0, (long long)least);
	for (int64_t t = 0; t < count; t++)
		if (!sets[t])
			return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: data set %lld of %lld is NULL", what,
			                 (long long)t + 1, (long long)count);
	return KDR_OK;
}

kdr_status kdri_check_mat(kdr_context *ctx, const char *what, const kdr_mat *x)
{
	if (x->kind != KDR_MAT_DENSE && x->kind != KDR_MAT_CSR)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: matrix kind %d is not a value of kdr_mat_kind",
		                 what, (int)x->kind);
	int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x);
	if (rows < 0 || cols < 0 || (x->kind == KDR_MAT_DENSE && x->as.dense.stride < cols))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "%s: invalid matrix of %lld rows and %lld columns; sizes must not be negative, and the stride must be at least the number of columns",
		        what, (long long)rows, (long long)cols);
	if (x->kind == KDR_MAT_DENSE
	            ? rows > 0 && cols > 0 && !x->as.dense.data
	            : !x->as.csr.rowptr || (x->as.csr.rowptr[rows] > 0 && (!x->as.csr.col || !x->as.csr.val)))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: an array of the matrix is NULL", what);
	return KDR_OK;
}

static void count_stage(kdri_progress *p, const char *stage, double since)
{
	kdri_snprintf(p->counted, sizeof p->counted, "%s", stage);
	p->since = since;
	p->fraction = p->remaining = NAN;
	p->at_most = false;
}

static void estimate_remaining(kdri_progress *p, double now)
{
	static const double patience = 2, memory = 3; /* seconds */
	const double elapsed = now - p->since, step = now - p->last;
	if (!(p->fraction > 0) || elapsed < patience)
		return;
	const double rest = elapsed * (1 - p->fraction) / p->fraction; /* (E1) */
	const double before = isnan(p->remaining) ? rest : KDRI_MAX(p->remaining - step, 0);
	p->remaining = before + (rest - before) * step / (step + memory);
}

void kdri_progress_update(kdri_progress *p, kdr_event *e, double now)
{
	const bool start = e->kind == KDR_EVENT_START, iteration = e->kind == KDR_EVENT_ITERATION;
	if (start && !p->contains) {
		kdri_snprintf(p->open, sizeof p->open, "%s", e->stage);
		count_stage(p, e->stage, now);
		p->contains = e->total > 0;
		p->fraction = p->contains ? 0 : NAN;
	}
	const bool own = strncmp(e->stage, p->open, sizeof p->open - 1) == 0;
	if (iteration && (own || !p->contains)) {
		double fraction = e->total > 0 ? (double)e->iteration / (double)e->total : NAN;
		if (own && p->parts > 0)
			fraction = ((double)p->part + fraction) / (double)p->parts;
		/* A fraction below the last one: the stage runs again. */
		if (strncmp(e->stage, p->counted, sizeof p->counted - 1) != 0 || fraction < p->fraction)
			count_stage(p, e->stage, p->last);
		p->contains |= own && e->total > 0;
		p->at_most |= isfinite(e->objective);
		p->fraction = fraction > 1 ? 1 : fraction;
	}
	if (start || iteration)
		estimate_remaining(p, now);
	p->last = now;
	e->counted = start || iteration ? p->counted : "";
	e->fraction = start || iteration ? p->fraction : NAN;
	e->remaining = start || iteration ? p->remaining : NAN;
	e->at_most = p->at_most;
	if (e->kind == KDR_EVENT_END && own)
		*p = (kdri_progress){ .last = now, .fraction = NAN, .remaining = NAN };
}

kdr_status kdr_context_new(kdr_context **out, const kdr_allocator *allocator)
{
	if (!out)
		return KDR_ERR_ARGUMENT;
	if (!allocator)
		allocator = &kdri_standard;
	if (!allocator->alloc || !allocator->realloc || !allocator->free)
		return KDR_ERR_ARGUMENT;
	kdr_context *ctx = allocator->alloc(allocator->user, sizeof *ctx);
	if (!ctx)
		return KDR_ERR_MEMORY;
	memset(ctx, 0, sizeof *ctx);
	ctx->allocator = *allocator;
	ctx->seed = 1;
	kdr_context_set_threads(ctx, 0);
	kdr_context_set_time_limit(ctx, 0);
	*out = ctx;
	return KDR_OK;
}

void kdr_context_set_raw_cells(kdr_context *ctx, bool raw)
{
	if (ctx)
		ctx->raw_cells = raw;
}

void (*_Atomic kdri_expect_hook)(kdr_context *ctx, double bytes);
void (*_Atomic kdri_settle_hook)(void);

void kdr_context_free(kdr_context *ctx)
{
	if (ctx && ctx->comm)
		ctx->comm_close(ctx);
	if (ctx && ctx->outputs)
		ctx->outputs_close(ctx);
	if (ctx && ctx->seen)
		ctx->seen_close(ctx);
	if (ctx)
		kdri_settle(); /* the process may be about to end */
	if (ctx) {
		kdri_limit *limit = ctx->limit;
		ctx->allocator.free(ctx->allocator.user, ctx);
		kdri_limit_leave(limit);
	}
}

#ifdef _OPENMP
#if defined(__GNUC__) && defined(__ELF__)
/* How OpenBLAS was built: 0 without threads. Such a build gives wrong products if several threads call it. */
extern int openblas_get_parallel(void) __attribute__((weak));
#endif

static bool one_thread_only(void)
{
#if defined(__GNUC__) && defined(__ELF__)
	return openblas_get_parallel && openblas_get_parallel() == 0;
#else
	return false;
#endif
}
#endif
#ifdef _OPENMP
/* A child has none of the threads of the process it was forked from, and gcc's OpenMP would wait for them for ever. It
 * therefore uses one thread, unless there were no threads. If this is unknown, there may have been some. */
static _Atomic bool wants_threads, has_threads, left_alone;

static void before_fork(void)
{
	char line[128];
	int count = 0;
	FILE *f = wants_threads ? kdri_fopen("/proc/self/status") : NULL;
	while (f && count == 0 && fgets(line, sizeof line, f))
		(void)sscanf(line, "Threads: %d", &count);
	if (f)
		fclose(f);
	has_threads = wants_threads && count != 1;
}

static void in_child(void)
{
	left_alone = left_alone || has_threads;
}

static void know_of_forks(void)
{
	(void)kdri_at_fork(before_fork, NULL, in_child);
}
#endif

void kdr_context_set_threads(kdr_context *ctx, int threads)
{
	if (!ctx)
		return;
#ifdef _OPENMP
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, know_of_forks);
	ctx->threads = one_thread_only() || left_alone ? 1 : threads > 0 ? threads : kdri_cpus();
	if (ctx->threads > 1)
		wants_threads = true;
#elif defined __EMSCRIPTEN_PTHREADS__
	ctx->threads = threads > 0 ? threads : kdri_cpus();
#else
	(void)threads;
	ctx->threads = 1;
#endif
}

int kdr_context_threads(const kdr_context *ctx)
{
	return ctx ? ctx->threads : 0;
}

void kdr_context_set_seed(kdr_context *ctx, uint64_t seed)
{
	if (ctx)
		ctx->seed = seed;
}

void kdr_context_set_progress(kdr_context *ctx, kdr_progress_fn fn, void *user)
{
	if (!ctx)
		return;
	ctx->progress = fn;
	ctx->progress_user = user;
}

void kdr_context_set_time_limit(kdr_context *ctx, double seconds)
{
	if (!ctx)
		return;
	ctx->clock_start = kdri_now();
	ctx->deadline = seconds > 0 ? ctx->clock_start + seconds : 0;
	ctx->cancelled = ctx->timed_out = ctx->stop_requested = false;
}

void kdr_context_set_max_memory(kdr_context *ctx, double bytes)
{
	if (!ctx)
		return;
	ctx->max_memory = bytes > 0 ? bytes : 0;
	kdri_limit_set(ctx, ctx->max_memory);
	kdri_spool_limit(ctx->max_memory);
}

void kdr_context_set_max_unpacked(kdr_context *ctx, double bytes)
{
	if (ctx)
		ctx->max_unpacked = bytes > 0 ? bytes : 0;
}

void kdr_context_set_isolation(kdr_context *ctx, double seconds)
{
	if (ctx)
		ctx->isolation = seconds > 0 ? seconds : 0;
}

double kdri_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void emit(kdr_context *ctx, kdr_event event)
{
	if (!ctx->progress)
		return;
	ctx->asked = kdri_now();
	event.seconds = ctx->asked - ctx->clock_start;
	kdri_progress_update(&ctx->stages, &event, ctx->asked);
	if (!ctx->progress(ctx->progress_user, &event))
		return;
	if (ctx->comm) /* methods branch on `cancelled`: all ranks must see it at the same place */
		ctx->stop_requested = true;
	else
		ctx->cancelled = true;
}

void kdri_stage_start(kdr_context *ctx, const char *stage, int64_t total)
{
#ifdef _OPENMP
	kdri_wait_asleep(ctx->threads);
#endif
	kdri_timed_begin(stage);
	ctx->stage = stage;
	emit(ctx, (kdr_event){ .kind = KDR_EVENT_START, .stage = stage, .total = total, .objective = NAN });
}

void kdri_stage_end(kdr_context *ctx, const char *stage)
{
	(void)kdri_timed_end(stage, KDR_OK);
	ctx->stage = NULL;
	emit(ctx, (kdr_event){ .kind = KDR_EVENT_END, .stage = stage, .objective = NAN });
}

static void context_tell(kdr_context *ctx, kdr_event_kind kind, const char *format, va_list args)
{
	char text[512];
	kdri_vsnprintf(text, sizeof text, format, args);
	emit(ctx, (kdr_event){ .kind = kind, .stage = "", .message = text, .objective = NAN });
}

void kdri_message(kdr_context *ctx, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	context_tell(ctx, KDR_EVENT_MESSAGE, format, args);
	va_end(args);
}

void kdri_warning(kdr_context *ctx, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	context_tell(ctx, KDR_EVENT_WARNING, format, args);
	va_end(args);
}

int kdri_stop_request(const kdr_context *ctx)
{
	return ctx->cancelled || ctx->stop_requested ? 2 : ctx->timed_out || kdri_late(ctx);
}

void kdri_tell_iteration(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total,
                         double objective)
{
	emit(ctx, (kdr_event){ .kind = KDR_EVENT_ITERATION,
	                       .stage = stage,
	                       .iteration = iteration,
	                       .total = total,
	                       .objective = objective });
}

static bool iteration_ends(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total,
                           double objective, bool met)
{
	kdri_tell_iteration(ctx, stage, iteration, total, objective);
	if (ctx->comm) { /* all stop, or none */
		int request = ctx->most_wanted(ctx, met);
		ctx->cancelled |= request == 2;
		ctx->timed_out |= request == 1;
	} else if (kdri_late(ctx)) {
		ctx->timed_out = true;
	}
	return ctx->cancelled || ctx->timed_out;
}

bool kdri_iteration(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total, double objective)
{
	return iteration_ends(ctx, stage, iteration, total, objective, false);
}

bool kdri_iteration_met(kdr_context *ctx, const char *stage, int64_t iteration, int64_t total,
                        double objective)
{
	return iteration_ends(ctx, stage, iteration, total, objective, true);
}

bool kdri_leave_off(kdr_context *ctx, const char *stage, int64_t done, int64_t total)
{
	const double often = 0.1; /* seconds: people feel no less */
	if (ctx->progress && kdri_thread() == 0 && kdri_now() - ctx->asked > often)
		kdri_tell_iteration(ctx, stage, done, total, NAN);
	return ctx->cancelled || kdri_late(ctx);
}

kdr_status kdri_abandoned(kdr_context *ctx)
{
	if (!ctx->abandon || (!ctx->cancelled && !kdri_late(ctx)))
		return KDR_OK;
	ctx->timed_out = ctx->timed_out || !ctx->cancelled;
	return kdri_fail(ctx, KDR_ERR_NUMERIC, ctx->cancelled ? "cancelled" : "the time limit was reached");
}

kdr_stop kdri_stop_reason(const kdr_context *ctx)
{
	return ctx->cancelled ? KDR_STOP_CANCELLED : KDR_STOP_TIME;
}
