/* Texts of messages. SPDX-License-Identifier: BSD-3-Clause */
#include "core/words.h"

#include <stdio.h>
#include <string.h>

void kdri_list_add(char *list, size_t room, const char *format, ...)
{
	size_t used = strlen(list);
	va_list args;
	if (used > 0)
		used += (size_t)snprintf(list + used, room - used, ", ");
	va_start(args, format);
	if (used < room)
		kdri_vsnprintf(list + used, room - used, format, args);
	va_end(args);
}

void kdri_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 32 || *text == 127)
			*text = '?';
}

int kdri_word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}
