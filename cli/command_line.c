/* The command as it was given, so that it can be given again. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* Whether a shell takes the word as it stands. */
static bool is_plain(const char *word)
{
	static const char plain[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	return word[0] && word[strspn(word, plain)] == '\0';
}

/* A quote inside quotes is '\''. */
static char *put_word(char *to, const char *word)
{
	static const char quote[4] = { '\'', '\\', '\'', '\'' };
	bool plain = is_plain(word);
	if (!plain)
		*to++ = '\'';
	for (; *word; word++)
		if (*word == '\'') {
			memcpy(to, quote, sizeof quote);
			to += sizeof quote;
		} else {
			*to++ = *word;
		}
	if (!plain)
		*to++ = '\'';
	return to;
}

char *cli_command_line(const cli_args *args)
{
	static const char program[] = "kindred ";
	const char *name = cli_command_name(args), *word;
	size_t room = sizeof program + strlen(name);
	for (int i = 0; (word = cli_word(args, i)); i++)
		room += 4 * strlen(word) + 3;
	char *text = malloc(room), *to = text;
	if (!text)
		return NULL;
	to += sprintf(to, "%s%s", program, name);
	for (int i = 0; (word = cli_word(args, i)); i++) {
		*to++ = ' ';
		to = put_word(to, word);
	}
	*to = '\0';
	return text;
}
