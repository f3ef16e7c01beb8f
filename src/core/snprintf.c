/* printf whose numbers have a point, whatever locale the caller has set. SPDX-License-Identifier: BSD-3-Clause
 *
 * uselocale changes the calling thread alone; the "C" locale is part of the C library and needs no memory. */
#include <locale.h>
#include <stdio.h>

#include "core/internal.h"

int kdri_vsnprintf(char *text, size_t room, const char *format, va_list args)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = plain ? uselocale(plain) : (locale_t)0;
	int n = vsnprintf(text, room, format, args);
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	return n;
}

int kdri_snprintf(char *text, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = kdri_vsnprintf(text, room, format, args);
	va_end(args);
	return n;
}
