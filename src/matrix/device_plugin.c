/* Finding a plug-in. SPDX-License-Identifier: BSD-3-Clause
 *
 * It is searched for in the folders that KINDRED_PLUGINS names, then in the folder of the library or of the program that it is
 * linked into, then in the library folder next to that one. The last one is for installed programs (bin/ and lib/) as
 * well as the build tree (cli/ and lib/). */
#define _GNU_SOURCE /* dladdr, realpath */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/system.h"
#include "matrix/device_use.h"

#ifndef KDR_LIBRARY_FOLDER
#define KDR_LIBRARY_FOLDER "lib"
#endif

enum { PATH = 4096 };
static const char plugin_file[] = "libkindred_cuda.so";

typedef const kdri_plugin *kdri_plugin_fn(int abi);

/* The plug-in in `folder`, or NULL with the reason in `why`. */
static const kdri_plugin *load_plugin(const char *folder, size_t length, char *why, size_t room)
{
	char path[PATH];
	union {
		void *object;
		kdri_plugin_fn *function;
	} symbol = { NULL };
	if (snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, plugin_file) >= (int)sizeof path)
		return NULL;
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!file) {
		/* Report the reason if the file exists but cannot be loaded. */
		FILE *existing = fopen(path, "rb");
		if (existing) {
			const char *reason = dlerror();
			kdri_snprintf(why, room, "%s", reason ? reason : path);
			(void)fclose(existing);
		}
		return NULL;
	}
	symbol.object = dlsym(file, KDRI_PLUGIN_SYMBOL);
	const kdri_plugin *plugin = symbol.object ? symbol.function(KDRI_DEVICE_ABI) : NULL;
	if (plugin && plugin->abi == KDRI_DEVICE_ABI)
		return plugin;
	kdri_snprintf(why, room, "%s was built for another version of kindred", path);
	dlclose(file);
	return NULL;
}

/* The folder of the library, or of the program that it is linked into, with symbolic links resolved. `folder` has PATH bytes. */
static bool own_folder(char *folder)
{
	Dl_info info;
	if (!dladdr(plugin_file, &info) || !info.dli_fname)
		return false;
	/* A program that was found through PATH is known by its bare name only. */
	if (!realpath(strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe", folder))
		return false;
	*strrchr(folder, '/') = 0;
	return true;
}

/* The next folder to search: those of *listed, which begins as KINDRED_PLUGINS, then two of our own; *step begins as 0. `folder` has PATH
 * bytes. */
static bool next_folder(const char **listed, int *step, char *folder)
{
	if (*listed && **listed) {
		size_t length = strcspn(*listed, ":");
		kdri_snprintf(folder, PATH, "%.*s", (int)KDRI_MIN(length, (size_t)PATH - 1), *listed);
		*listed += length + ((*listed)[length] == ':');
		return true;
	}
	if (*step > 1 || !own_folder(folder))
		return false;
	const size_t length = strlen(folder);
	if (++*step == 2)
		kdri_snprintf(folder + length, PATH - length, "/../" KDR_LIBRARY_FOLDER);
	return true;
}

const kdri_plugin *kdri_plugin_find(char *why, size_t room)
{
	const kdri_plugin *plugin = NULL;
	const char *listed = getenv("KINDRED_PLUGINS");
	char folder[PATH];
	int step = 0;
	kdri_snprintf(why, room, "%s was not found", plugin_file);
	while (!plugin && next_folder(&listed, &step, folder))
		plugin = load_plugin(folder, strlen(folder), why, room);
	if (plugin && plugin->count() < 1) {
		kdri_snprintf(why, room, "%s finds no GPU with a driver", plugin_file);
		plugin = NULL;
	}
	return plugin;
}

bool kdri_plugin_exists(void)
{
	const char *listed = getenv("KINDRED_PLUGINS");
	char folder[PATH], path[PATH + sizeof plugin_file];
	int step = 0;
	while (next_folder(&listed, &step, folder)) {
		kdri_snprintf(path, sizeof path, "%s/%s", folder, plugin_file);
		if (kdri_exists(path))
			return true;
	}
	return false;
}
