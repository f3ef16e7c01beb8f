/* A build that cannot load plug-ins. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/device_use.h"

const kdri_plugin *kdri_plugin_find(char *why, size_t room)
{
	kdri_snprintf(why, room, "this build of kindred loads no plug-ins");
	return NULL;
}

bool kdri_plugin_exists(void)
{
	return false;
}
