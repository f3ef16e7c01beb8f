/* Words in messages. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "core/internal.h"

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

void kdri_unknown_method(const char *id, const kdr_family *family, char *text, size_t room)
{
	const char *all[64] = { NULL }, *nearest[1] = { NULL };
	size_t count = 0;
	for (size_t i = 0; i < kdr_algo_count() && count < 64; i++)
		if (!family || kdr_algo_at(i)->family == *family)
			all[count++] = kdr_algo_at(i)->id;
	if (id && kdr_suggest(id, all, count, nearest, 1) > 0)
		snprintf(text, room, "there is no method '%s'; did you mean %s?", id, nearest[0]);
	else
		snprintf(text, room, "there is no method '%s'; run 'kindred methods' for a list",
		         id ? id : "(null)");
}
