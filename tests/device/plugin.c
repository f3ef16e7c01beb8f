/* A plug-in without an accelerator: the stand-in under the name of CUDA's plug-in, so that the program, the package and entire tests can
 * be run as they would on a card. SPDX-License-Identifier: BSD-3-Clause
 *
 * `kindred version -v` and kindred.devices() describe it with its folder and the number of calls so far. */
#define _GNU_SOURCE /* dladdr */
#include "tests/device/standin.h"

#include <dlfcn.h>

#include <stdio.h>
#include <stdlib.h>

/* Under the name that the library asks for, which is a type's here. */
const kdri_plugin *plugin_of(int abi) __asm__(KDRI_PLUGIN_SYMBOL) __attribute__((visibility("default")));

static standin_limits limits;

static int count(void)
{
	return 1;
}

static void describe(int index, char *text, size_t room)
{
	Dl_info info;
	const char *path = dladdr(&limits, &info) && info.dli_fname ? info.dli_fname : "",
	           *end = strrchr(path, '/');
	(void)index;
	snprintf(text, room, "fake in %.*s, %lld calls", end ? (int)(end - path) : 0, path,
	         (long long)limits.calls);
}

static kdri_device *open_fake(int index, char *error, size_t room)
{
	kdr_context *ctx = NULL;
	kdri_device *device = NULL;
	const char *most = getenv("KINDRED_DEVICE_ROOM");
	(void)index;
	if (getenv("KINDRED_DEVICE_BROKEN")) {
		snprintf(error, room, "the stand-in is broken");
		return NULL;
	}
	limits.most = most ? (size_t)strtoull(most, NULL, 10) : 0;
	if (kdr_context_new(&ctx, NULL) != KDR_OK || standin_new(ctx, &limits, &device) != KDR_OK) {
		snprintf(error, room, "out of memory");
		kdr_context_free(ctx);
		return NULL;
	}
	return device; /* for as long as the process lives, and the context with it */
}

const kdri_plugin *plugin_of(int abi)
{
	static const kdri_plugin plugin = { KDRI_DEVICE_ABI, "cuda", count, describe, open_fake };
	return abi == KDRI_DEVICE_ABI ? &plugin : NULL;
}
