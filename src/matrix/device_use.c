/* Choosing a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in is searched for (device_plugin.c) when a device is first needed, or about to be. A missing plug-in or driver is an error only if the
 * user asked for the device by name. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "core/side_by_side.h"
#include "core/system.h"
#include "matrix/device_use.h"
#include "matrix/range.h"

enum { MOST_DEVICES = 16 };

/* Of the process, guarded by `lock`. */
static struct {
	bool looked;
	const kdri_plugin *plugin;
	char why[256]; /* not available */
	kdri_device *open[MOST_DEVICES];
} state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Once; under `lock`. */
static void device_use_look(void)
{
	if (!state.looked)
		state.plugin = kdri_plugin_find(state.why, sizeof state.why);
	state.looked = true;
}

/* Whether there is a device `index`; otherwise *why. Under `lock`. */
static bool device_exists(int index, char *why, size_t room)
{
	device_use_look();
	if (!state.plugin) {
		kdri_snprintf(why, room, "%s", state.why);
		return false;
	}
	int count = KDRI_MIN(state.plugin->count(), MOST_DEVICES);
	if (index >= count) {
		kdri_snprintf(why, room, "there %s %d GPU%s, numbered from 0", count == 1 ? "is" : "are",
		              count, count == 1 ? "" : "s");
		return false;
	}
	return true;
}

/* Opens device `index`; NULL: *why. Under `lock`. */
static kdri_device *open_device(int index, char *why, size_t room)
{
	if (!device_exists(index, why, room))
		return NULL;
	if (!state.open[index])
		state.open[index] = state.plugin->open(index, why, room);
	return state.open[index];
}

/* --- opening in the background ---------------------------------------------------------------------------------- */

/* Opening a card takes about half a second. One thread per process does it while data are read; whoever needs the device before waits
 * for `lock`. The thread has ended before a process ends or forks. */
static const double expect_bytes = 128e6; /* for each thread: such data take longer in any case */
enum { NOT_STARTED, STARTING, RUNNING, ENDED };
static atomic_int opener_state = NOT_STARTED;
static pthread_t opener;

static void *open_in_background(void *index)
{
	char why[256];
	pthread_mutex_lock(&lock);
	(void)open_device((int)(intptr_t)index, why,
	                  sizeof why); /* who needs it tries again and has the reason */
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void settle(void)
{
	int running = RUNNING;
	if (atomic_compare_exchange_strong(&opener_state, &running, ENDED))
		(void)pthread_join(opener, NULL);
}

/* false: it was done before, or there is no thread to be had. */
static bool start_opening(int index)
{
	int none = NOT_STARTED;
	if (!atomic_compare_exchange_strong(&opener_state, &none, STARTING))
		return false;
	const bool started = kdri_thread_start(&opener, open_in_background, (void *)(intptr_t)index);
	atomic_store(&kdri_settle_hook, settle);
	atomic_store(&opener_state, started ? RUNNING : ENDED);
	return started;
}

static void expect(kdr_context *ctx, double bytes)
{
	if (ctx->device_choice == KDRI_DEVICE_AUTO && !ctx->device && ctx->threads > 1 &&
	    bytes >= expect_bytes * ctx->threads && kdri_plugin_exists())
		(void)start_opening(0);
}

void kdr_device_info(char *text, size_t room)
{
	if (!text || room == 0)
		return;
	text[0] = 0;
	pthread_mutex_lock(&lock);
	device_use_look();
	if (!state.plugin)
		kdri_snprintf(text, room, "device: cpu only: %s\n", state.why);
	for (int i = 0; state.plugin && i < KDRI_MIN(state.plugin->count(), MOST_DEVICES); i++) {
		char what[128] = "";
		size_t used = strlen(text);
		state.plugin->describe(i, what, sizeof what);
		kdri_snprintf(text + used, room - used, "device: cuda:%d %s\n", i, what);
	}
	pthread_mutex_unlock(&lock);
}

/* --- lanes ----------------------------------------------------------------------------------------------------- */

/* A handle of a card, with its own stream, and who uses it. The first handle of a card stands for the card. */
enum { LANES = 4 };
typedef struct lane {
	kdri_device *card, *dev; /* NULL: none */
	pthread_t owner;
	int depth;  /* 0: free */
	bool alone; /* its job needs the card for itself */
} lane;

/* Guarded by `busy`, which may be held when `lock` is taken, but not the other way round. */
static lane lanes[MOST_DEVICES * LANES];
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t leaves = PTHREAD_COND_INITIALIZER;

/* Another stream costs some memory of the card. */
static const size_t least_room = (size_t)1 << 30;
/* Opening it takes about as long. */
static const long patience_ns = 50 * 1000 * 1000;

/* The number of a card that the plug-in has opened, or -1. */
static int number_of(const kdri_device *card)
{
	int found = -1;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST_DEVICES && found < 0; i++)
		if (card == state.open[i])
			found = i;
	pthread_mutex_unlock(&lock);
	return found;
}

/* One more handle of the card; NULL: none. */
static kdri_device *another_handle(kdri_device *card)
{
	char why[256];
	const int number = number_of(card);
	if (number < 0 || card->room(card) < least_room)
		return NULL;
	pthread_mutex_lock(&lock);
	kdri_device *found = state.plugin->open(number, why, sizeof why);
	pthread_mutex_unlock(&lock);
	return found;
}

/* The lane that a job may use now; NULL: it must wait. `more`: it may open another. */
static lane *lane_for(kdri_device *card, bool alone, bool more)
{
	lane *unused = NULL, *idle = NULL;
	int handles = 0, used = 0;
	for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
		lane *l = &lanes[i];
		if (l->depth > 0 && l->card == card && pthread_equal(l->owner, pthread_self()))
			return l;
		if (!l->card) {
			unused = unused ? unused : l;
		} else if (l->card == card) {
			handles++;
			used += l->depth > 0;
			alone = alone || (l->depth > 0 && l->alone);
			idle = l->depth == 0 && !idle ? l : idle;
		}
	}
	if ((alone && used > 0) || idle)
		return alone && used > 0 ? NULL : idle;
	kdri_device *dev = handles == 0 ? card : more && handles < LANES ? another_handle(card) : NULL;
	if (!dev || !unused)
		return NULL;
	*unused = (lane){ .card = card, .dev = dev };
	return unused;
}

static kdri_device *lane_take(kdri_device *card, bool alone)
{
	lane *l;
	bool more = false;
	pthread_mutex_lock(&busy);
	while (!(l = lane_for(card, alone, more))) {
		struct timespec until;
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += patience_ns;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		more = pthread_cond_timedwait(&leaves, &busy, &until) != 0;
	}
	if (l->depth++ == 0) {
		l->owner = pthread_self();
		l->alone = alone;
		l->dev->users = alone ? 1 : LANES;
	}
	kdri_device *dev = l->dev;
	pthread_mutex_unlock(&busy);
	return dev;
}

/* --- the context's choice -------------------------------------------------------------------------------------- */

/* "cuda" or "cuda:N"; -1: neither. */
static int cuda_index(const char *name)
{
	if (strncmp(name, "cuda", 4) != 0)
		return -1;
	if (name[4] == 0)
		return 0;
	if (name[4] != ':' || name[5] < '0' || name[5] > '9' || strlen(name) > 7)
		return -1;
	char *end = NULL;
	long index = strtol(name + 5, &end, 10);
	return *end == 0 ? (int)index : -1;
}

static kdr_status not_available(kdr_context *ctx, const char *name, const char *why)
{
	return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
	                 "device '%s' is not available: %s; use --device 'auto' or 'cpu' to run on the CPU",
	                 name, why);
}

kdr_status kdr_context_set_device(kdr_context *ctx, const char *name)
{
	int index = -1;
	kdri_device *found = NULL;
	bool there = false;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!name)
		name = "auto";
	atomic_store(&kdri_expect_hook, expect);
	if (strcmp(name, "auto") != 0 && strcmp(name, "cpu") != 0) {
		char why[256] = "";
		index = cuda_index(name);
		if (index < 0)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "device '%.40s' is not valid; use auto, cpu, cuda or cuda:N", name);
		pthread_mutex_lock(&lock);
		there = device_exists(index, why, sizeof why);
		found = there ? state.open[index] : NULL;
		pthread_mutex_unlock(&lock);
		if (!there)
			return not_available(ctx, name, why);
		if (!found && !start_opening(index)) {
			pthread_mutex_lock(&lock);
			found = open_device(index, why, sizeof why);
			pthread_mutex_unlock(&lock);
			if (!found)
				return not_available(ctx, name, why);
		}
	}
	ctx->device = found;
	ctx->device_choice = there ? KDRI_DEVICE_NAMED : *name == 'c' ? KDRI_DEVICE_CPU : KDRI_DEVICE_AUTO;
	if (there)
		kdri_snprintf(ctx->device_name, sizeof ctx->device_name, "cuda:%d", index);
	else
		kdri_snprintf(ctx->device_name, sizeof ctx->device_name, "%s", name);
	return KDR_OK;
}

void kdri_device_use(kdr_context *ctx, kdri_device *d)
{
	ctx->device = d;
	ctx->device_choice = d ? KDRI_DEVICE_NAMED : KDRI_DEVICE_CPU;
}

/* Whether a device is faster overall: opening it takes about a second, using it a few milliseconds. */
static bool pays(const kdr_context *ctx, double flops, bool open)
{
	const double rate = 1.5e10; /* of a thread: a lower bound would keep work from the device */
	return flops / (rate * ctx->threads) > (open ? 0.1 : 2);
}

kdri_device *kdri_device_take(kdr_context *ctx, double flops)
{
	if (ctx->device_choice == KDRI_DEVICE_CPU)
		return &kdri_cpu;
	if (ctx->device_choice == KDRI_DEVICE_AUTO && !pays(ctx, flops, ctx->device != NULL))
		return &kdri_cpu;
	if (!ctx->device) {
		char why[256] = "";
		pthread_mutex_lock(&lock);
		ctx->device = open_device(KDRI_MAX(cuda_index(ctx->device_name), 0), why, sizeof why);
		pthread_mutex_unlock(&lock);
		if (!ctx->device && ctx->device_choice == KDRI_DEVICE_AUTO)
			return &kdri_cpu;
		if (!ctx->device) {
			(void)not_available(ctx, ctx->device_name, why);
			return NULL;
		}
	}
	return lane_take(ctx->device, !ctx->crew);
}

void kdri_device_leave(kdri_device *d)
{
	if (!kdri_is_cpu(d)) {
		pthread_mutex_lock(&busy);
		for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
			lane *l = &lanes[i];
			if (l->dev != d || l->depth == 0 || --l->depth > 0)
				continue;
			if (l->dev == l->card && number_of(l->card) < 0)
				*l = (lane){ 0 }; /* borrowed: it may be closed from now on */
			pthread_cond_broadcast(&leaves);
		}
		pthread_mutex_unlock(&busy);
	}
}

kdr_status kdri_compute(kdr_context *ctx, double flops, kdri_compute_fn *run, void *user)
{
	kdri_device *dev = kdri_device_take(ctx, flops);
	if (!dev)
		return KDR_ERR_UNSUPPORTED;
	kdr_status st = run(ctx, dev, user);
	kdri_device_leave(dev);
	return kdri_device_gave_up(ctx, st) ? run(ctx, &kdri_cpu, user) : st;
}

bool kdri_device_gave_up(kdr_context *ctx, kdr_status st)
{
	bool device = ctx->device_failed;
	ctx->device_failed = false;
	if (st == KDR_OK || !device || ctx->device_choice != KDRI_DEVICE_AUTO)
		return false;
	kdri_warning(ctx, "%s; continuing on the CPU", ctx->error);
	ctx->device_choice = KDRI_DEVICE_CPU;
	return true;
}

kdr_status kdri_device_check(kdr_context *ctx, kdri_device *d, double bytes, const char *what, int64_t rows,
                             int64_t cols)
{
	const double giga = 1e9, room = (double)d->room(d);
	if (kdri_is_cpu(d) || bytes <= room)
		return KDR_OK;
	ctx->device_failed = true; /* the processor may have more */
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on %lld samples with %lld features needs about %.1f GB of memory on device %s, which has %.1f GB",
	        what, (long long)rows, (long long)cols, bytes / giga, d->kind, room / giga);
}

/* Matrices that a device holds.
 *
 * The device has the rows of a dense x, which are also used for x', or the rows of a sparse x and those of x'. If they
 * do not fit, they are sent in tiles, of which all but the first are sent again for every product; this is faster
 * overall if there are many columns per CPU thread. */

/* The base comes first: ctx->held is a list of these. */
typedef struct held {
	kdri_held base;
	kdri_device *dev;
	kdr_mat x;
	pthread_t owner;
	kdri_tiles rows, columns; /* of x; of x', where x is sparse */
	kdri_own other;           /* x' itself, while its tiles are replaced */
	bool turned;
	double *in, *out; /* of the device: the longer side of x times `wide` */
	int64_t wide;
} held;

double kdri_held_flops(const kdr_mat *x)
{
	return x->kind == KDR_MAT_DENSE
	               ? 2 * (double)x->as.dense.rows * (double)x->as.dense.cols
	               : 2 * (double)(x->as.csr.rowptr[x->as.csr.rows] - x->as.csr.rowptr[0]);
}

/* Bytes of x on the device, and of x' if it is a separate matrix. */
static double size_of(const kdr_mat *x, bool turned)
{
	double rows = kdri_rows_bytes(x, false, 0, kdr_mat_rows(x));
	return x->kind == KDR_MAT_CSR && turned ? 2 * rows + 8 * (double)kdr_mat_cols(x) : rows;
}

/* Bytes of the columns that it is multiplied by, and of the result. */
static double columns_of(const kdr_mat *x, int64_t k)
{
	return 16 * (double)KDRI_MAX(kdr_mat_rows(x), kdr_mat_cols(x)) * (double)k;
}

/* Whether to send x anew for every product takes less time than the product takes here; a device that was named is used. */
static bool worth_sending(const kdr_context *ctx, const kdr_mat *x, int64_t k)
{
	const double bytes_per_second = 1e10, rate = 1.5e10;
	return ctx->device_choice == KDRI_DEVICE_NAMED ||
	       size_of(x, false) / bytes_per_second <
	               (double)k * kdri_held_flops(x) / (rate * (double)ctx->threads);
}

/* Whether x is what h holds, or rows *first .. of it. */
static bool is_part(const held *h, const kdr_mat *x, int64_t *first)
{
	if (x->kind != h->x.kind)
		return false;
	*first = 0;
	if (x->kind == KDR_MAT_CSR)
		return x->as.csr.rowptr == h->x.as.csr.rowptr && x->as.csr.rows == h->x.as.csr.rows &&
		       x->as.csr.val == h->x.as.csr.val && x->as.csr.col == h->x.as.csr.col;
	const kdr_dense *a = &h->x.as.dense, *b = &x->as.dense;
	if (b->cols != a->cols || b->stride != a->stride || b->rows == 0 || b->data < a->data ||
	    b->data >= a->data + a->rows * a->stride || (b->data - a->data) % a->stride != 0)
		return false;
	*first = (b->data - a->data) / a->stride;
	return *first + b->rows <= a->rows;
}

static kdr_status device_held_make_room(kdr_context *ctx, held *h, int64_t k)
{
	int64_t most = KDRI_MAX(kdr_mat_rows(&h->x), kdr_mat_cols(&h->x));
	if (k <= h->wide)
		return KDR_OK;
	h->dev->release(ctx, h->dev, h->in);
	h->dev->release(ctx, h->dev, h->out);
	h->in = h->out = NULL;
	h->wide = 0;
	KDRI_DO(KDRI_DNEW(ctx, h->dev, &h->in, most * k));
	KDRI_DO(KDRI_DNEW(ctx, h->dev, &h->out, most * k));
	h->wide = k;
	return KDR_OK;
}

/* A view of rows x k on one of the two buffers. */
static kdri_block columns_on(const held *h, double *buffer, int64_t rows, int64_t k)
{
	return (kdri_block){ .dev = h->dev, .rows = rows, .cols = k, .stride = k, .data = buffer };
}

/* Sparse: y = X b or X'b, one tile of the rows of the multiplied matrix at a time. */
static kdr_status multiply_sparse(kdr_context *ctx, held *h, kdri_tiles *tiles, int64_t k, double *y,
                                  int64_t ldy)
{
	kdri_device *dev = h->dev;
	kdri_block in = columns_on(h, h->in, kdr_mat_cols(&tiles->x), k);
	for (int64_t t = 0; t < tiles->count; t++) {
		kdri_drows x;
		KDRI_DO(kdri_tiles_get(ctx, dev, tiles, t, &x));
		KDRI_DO_OP(ctx, dev, multiply, &x.csr, false, in,
		           columns_on(h, h->out + x.begin * k, x.rows, k));
	}
	return kdri_block_fetch(ctx, columns_on(h, h->out, kdr_mat_rows(&tiles->x), k), y, ldy);
}

/* Dense: of `rows` rows of x from `first` on, those that are in each tile. */
static kdr_status multiply_dense(kdr_context *ctx, held *h, int64_t first, int64_t rows, bool turned,
                                 int64_t k, double *y, int64_t ldy)
{
	kdri_device *dev = h->dev;
	int64_t cols = kdr_mat_cols(&h->x);
	bool begun = false;
	for (int64_t t = 0; t < h->rows.count; t++) {
		int64_t begin = KDRI_MAX(first, h->rows.begin[t]),
		        end = KDRI_MIN(first + rows, h->rows.begin[t + 1]);
		kdri_drows x;
		if (begin >= end)
			continue;
		KDRI_DO(kdri_tiles_get(ctx, dev, &h->rows, t, &x));
		kdri_block part = kdri_block_part(x.dense, begin - x.begin, 0, end - begin, cols);
		kdri_block along =
		        columns_on(h, (turned ? h->in : h->out) + (begin - first) * k, end - begin, k);
		kdri_block whole = columns_on(h, turned ? h->out : h->in, cols, k);
		KDRI_DO_OP(ctx, dev, gemm, turned, false, 1, part, turned ? along : whole,
		           turned && begun ? 1 : 0, turned ? whole : along);
		begun = true;
	}
	return kdri_block_fetch(ctx, columns_on(h, h->out, turned ? cols : rows, k), y, ldy);
}

static kdr_status device_held_multiply(kdr_context *ctx, held *h, int64_t first, int64_t rows, bool turned,
                                       const double *b, int64_t k, int64_t ldb, double *y, int64_t ldy)
{
	bool tiled = h->rows.count > 1 || h->columns.count > 1;
	if (!tiled)
		KDRI_DO(device_held_make_room(ctx, h, k));
	/* If rows are sent in tiles, there is no space for more columns than announced. */
	for (int64_t j = 0; j < k; j += h->wide) {
		int64_t wide = KDRI_MIN(h->wide, k - j);
		kdri_block in = columns_on(h, h->in, turned ? rows : kdr_mat_cols(&h->x), wide);
		KDRI_DO(kdri_block_send(ctx, in, b + j, ldb));
		if (h->x.kind == KDR_MAT_CSR)
			KDRI_DO(multiply_sparse(ctx, h, turned ? &h->columns : &h->rows, wide, y + j, ldy));
		else
			KDRI_DO(multiply_dense(ctx, h, first, rows, turned, wide, y + j, ldy));
	}
	return KDR_OK;
}

/* kdri_held.product: returns false for a matrix that is not, or cannot be, held here. */
static bool product(kdr_context *ctx, kdri_held *base, const kdr_mat *x, bool turned, const double *b,
                    int64_t k, int64_t ldb, double *y, int64_t ldy, kdr_status *st)
{
	held *h = (held *)base;
	int64_t first;
	if (!is_part(h, x, &first) || !pthread_equal(h->owner, pthread_self()) ||
	    (turned && x->kind == KDR_MAT_CSR && !h->turned) || ctx->device_choice == KDRI_DEVICE_CPU)
		return false;
	*st = device_held_multiply(ctx, h, first, kdr_mat_rows(x), turned, b, k, ldb, y, ldy);
	return !kdri_device_gave_up(ctx, *st);
}

static void held_free(kdr_context *ctx, held *h)
{
	if (!h)
		return;
	kdri_tiles_free(ctx, &h->rows);
	kdri_tiles_free(ctx, &h->columns);
	kdri_own_free(ctx, &h->other);
	h->dev->release(ctx, h->dev, h->in);
	h->dev->release(ctx, h->dev, h->out);
	kdri_device_leave(h->dev);
	kdri_free(ctx, h);
}

/* All rows at once, if all are on the device; returned to the caller only in that case. */
static kdr_status device_held_send(kdr_context *ctx, held *h, int64_t k, double bytes)
{
	kdri_drows first;
	bool two = h->x.kind == KDR_MAT_CSR && h->turned;
	KDRI_DO(device_held_make_room(ctx, h, k));
	KDRI_DO(kdri_tiles_new(ctx, h->dev, &h->x, false, two ? bytes / 2 : bytes, &h->rows));
	KDRI_DO(kdri_tiles_get(ctx, h->dev, &h->rows, 0, &first));
	if (two) {
		KDRI_DO(kdri_mat_transpose(ctx, &h->x, &h->other));
		KDRI_DO(kdri_tiles_new(ctx, h->dev, &h->other.view, false, bytes / 2, &h->columns));
		KDRI_DO(kdri_tiles_get(ctx, h->dev, &h->columns, 0, &first));
		if (h->columns.count == 1)
			kdri_own_free(ctx, &h->other);
	}
	return KDR_OK;
}

kdr_status kdri_hold(kdr_context *ctx, const kdr_mat *x, bool turned, int64_t k, double flops,
                     kdri_held **out)
{
	kdr_status st;
	held *h = NULL;
	*out = NULL;
	if (kdr_mat_rows(x) == 0 || kdr_mat_cols(x) == 0)
		return KDR_OK;
	kdri_device *dev = kdri_device_take(ctx, flops);
	if (!dev)
		return KDR_ERR_UNSUPPORTED;
	if (kdri_is_cpu(dev))
		return KDR_OK;
	double room = 0.8 * (double)dev->room(dev), bytes = room - columns_of(x, k);
	if (size_of(x, turned) > bytes && (bytes < room / 4 || !worth_sending(ctx, x, k))) {
		kdri_device_leave(dev);
		return KDR_OK;
	}
	st = KDRI_NEW0(ctx, &h, 1);
	if (st != KDR_OK) {
		kdri_device_leave(dev);
		return st;
	}
	*h = (held){ .dev = dev,
		     .x = *x,
		     .owner = pthread_self(),
		     .turned = turned,
		     .other.view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(device_held_send(ctx, h, k, bytes));
	h->base = (kdri_held){ .next = ctx->held, .product = product };
	ctx->held = &h->base;
	*out = &h->base;
	h = NULL;
done:
	held_free(ctx, h);
	return kdri_device_gave_up(ctx, st) ? KDR_OK : st;
}

kdr_status kdri_hold_leading(kdr_context *ctx, const kdr_mat *x, int64_t count, int rounds, kdri_held **out)
{
	int64_t k = KDRI_MIN(count + KDRI_LEADING_BESIDE, KDRI_MIN(kdr_mat_rows(x), kdr_mat_cols(x)));
	return kdri_hold(ctx, x, true, k, (2 * rounds + 1) * (double)k * kdri_held_flops(x), out);
}

void kdri_unhold(kdr_context *ctx, kdri_held *base)
{
	if (!base)
		return;
	for (kdri_held **at = &ctx->held; *at; at = &(*at)->next)
		if (*at == base) {
			*at = base->next;
			break;
		}
	held_free(ctx, (held *)base);
}
