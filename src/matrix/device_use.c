/* Choosing a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in is searched for (device_plugin.c) when a device is first needed. A missing plug-in or driver is an error only if the
 * user asked for the device by name. */
#include "matrix/device_use.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_DEVICES = 16 };

/* Of the process. `state` is guarded by `lock`, the devices' work by `busy`. */
static struct {
	bool looked;
	const kdri_plugin *plugin;
	char why[256]; /* not available */
	kdri_device *open[MOST_DEVICES];
} state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy;
static pthread_once_t busy_once = PTHREAD_ONCE_INIT;

static void busy_new(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&busy, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* Once; under `lock`. */
static void device_use_look(void)
{
	if (!state.looked)
		state.plugin = kdri_plugin_find(state.why, sizeof state.why);
	state.looked = true;
}

/* Opens device `index`; NULL: *why. Under `lock`. */
static kdri_device *open_device(int index, char *why, size_t room)
{
	device_use_look();
	if (!state.plugin) {
		kdri_snprintf(why, room, "%s", state.why);
		return NULL;
	}
	int count = KDRI_MIN(state.plugin->count(), MOST_DEVICES);
	if (index >= count) {
		kdri_snprintf(why, room, "there %s %d GPU%s, numbered from 0", count == 1 ? "is" : "are",
		              count, count == 1 ? "" : "s");
		return NULL;
	}
	if (!state.open[index])
		state.open[index] = state.plugin->open(index, why, room);
	return state.open[index];
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

kdr_status kdr_context_set_device(kdr_context *ctx, const char *name)
{
	int index = -1;
	kdri_device *found = NULL;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!name)
		name = "auto";
	if (strcmp(name, "auto") != 0 && strcmp(name, "cpu") != 0) {
		char why[256] = "";
		index = cuda_index(name);
		if (index < 0)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "device '%.40s' is not valid; use auto, cpu, cuda or cuda:N", name);
		pthread_mutex_lock(&lock);
		found = open_device(index, why, sizeof why);
		pthread_mutex_unlock(&lock);
		if (!found)
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "device '%s' is not available: %s; use --device auto or --device cpu to run on the CPU",
			        name, why);
	}
	ctx->device = found;
	ctx->device_choice = found ? KDRI_DEVICE_NAMED : *name == 'c' ? KDRI_DEVICE_CPU : KDRI_DEVICE_AUTO;
	if (found)
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
	if (ctx->device_choice == KDRI_DEVICE_AUTO) {
		char why[256];
		if (!pays(ctx, flops, ctx->device != NULL))
			return &kdri_cpu;
		pthread_mutex_lock(&lock);
		ctx->device = open_device(0, why, sizeof why);
		pthread_mutex_unlock(&lock);
		if (!ctx->device)
			return &kdri_cpu;
	}
	pthread_once(&busy_once, busy_new);
	pthread_mutex_lock(&busy);
	return ctx->device;
}

void kdri_device_leave(kdri_device *d)
{
	if (!kdri_is_cpu(d))
		pthread_mutex_unlock(&busy);
}

kdr_status kdri_compute(kdr_context *ctx, double flops, kdri_compute_fn *run, void *user)
{
	kdri_device *dev = kdri_device_take(ctx, flops);
	kdr_status st = run(ctx, dev, user);
	kdri_device_leave(dev);
	return kdri_device_gave_up(ctx, st) ? run(ctx, &kdri_cpu, user) : st;
}

kdr_status kdri_device_status(kdr_context *ctx, const kdri_device *d, kdr_status st)
{
	if (st == KDR_OK || kdri_is_cpu(d))
		return st;
	ctx->device_failed = st != KDR_ERR_NUMERIC;
	return kdri_fail(ctx, st, "device %s: %s", d->kind, d->error);
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

kdr_status kdri_device_check(kdr_context *ctx, kdri_device *d, double host, double device_bytes,
                             const char *what, int64_t rows, int64_t cols)
{
	const double giga = 1e9, room = (double)d->room(d);
	if (kdri_is_cpu(d))
		return kdri_memory_check(ctx, host, what, rows, cols);
	if (device_bytes <= room)
		return KDR_OK;
	ctx->device_failed = true; /* the processor may have more */
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on %lld samples with %lld features needs about %.1f GB of memory on device %s, which has %.1f GB",
	        what, (long long)rows, (long long)cols, device_bytes / giga, d->kind, room / giga);
}
