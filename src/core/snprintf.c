/* printf whose numbers have a point, whatever locale the caller has set. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

int kdri_snprintf(char *text, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = kdri_vsnprintf(text, room, format, args);
	va_end(args);
	return n;
}
