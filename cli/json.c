/* JSON built in memory; numbers with 17 digits, never NaN or infinity. SPDX-License-Identifier: BSD-3-Clause
 */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put(cli_json *j, const char *text, size_t length)
{
	if (j->failed)
		return;
	if (j->used + length + 1 > j->room) {
		size_t room = (j->used + length + 1) * 2;
		char *grown = realloc(j->text, room);
		if (!grown) {
			j->failed = true;
			return;
		}
		j->text = grown;
		j->room = room;
	}
	memcpy(j->text + j->used, text, length);
	j->used += length;
	j->text[j->used] = '\0';
}

static void puts_(cli_json *j, const char *text)
{
	put(j, text, strlen(text));
}

static void quoted(cli_json *j, const char *text)
{
	put(j, "\"", 1);
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		char escape[8];
		if (c == '"' || c == '\\') {
			escape[0] = '\\';
			escape[1] = (char)c;
			put(j, escape, 2);
		} else if (c < 32 || c == 127) {
			put(j, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
		} else {
			put(j, p, 1);
		}
	}
	put(j, "\"", 1);
}

/* What stands before a value: a comma, a new line for keys, the key. */
static void lead(cli_json *j, const char *key)
{
	if (j->comma)
		put(j, key ? "," : ", ", key ? 1 : 2);
	if (key) {
		puts_(j, "\n");
		for (int i = 0; i < j->depth; i++)
			puts_(j, "  ");
		quoted(j, key);
		puts_(j, ": ");
	}
	j->comma = true;
}

static void open_with(cli_json *j, const char *key, const char *bracket)
{
	lead(j, key);
	puts_(j, bracket);
	j->depth++;
	j->comma = false;
}

void cli_json_object(cli_json *j, const char *key)
{
	open_with(j, key, "{");
}

void cli_json_array(cli_json *j, const char *key)
{
	open_with(j, key, "[");
}

void cli_json_end_object(cli_json *j)
{
	j->depth--;
	if (j->comma) {
		puts_(j, "\n");
		for (int i = 0; i < j->depth; i++)
			puts_(j, "  ");
	}
	puts_(j, "}");
	j->comma = true;
}

void cli_json_end_array(cli_json *j)
{
	j->depth--;
	puts_(j, "]");
	j->comma = true;
}

void cli_json_string(cli_json *j, const char *key, const char *value)
{
	lead(j, key);
	quoted(j, value);
}

void cli_json_int(cli_json *j, const char *key, int64_t value)
{
	char text[32];
	lead(j, key);
	put(j, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

void cli_json_real(cli_json *j, const char *key, double value)
{
	char text[40];
	lead(j, key);
	if (isfinite(value))
		put(j, text, (size_t)snprintf(text, sizeof text, "%.17g", value));
	else
		puts_(j, "null");
}

void cli_json_bool(cli_json *j, const char *key, bool value)
{
	lead(j, key);
	puts_(j, value ? "true" : "false");
}

void cli_json_null(cli_json *j, const char *key)
{
	lead(j, key);
	puts_(j, "null");
}

void cli_json_free(cli_json *j)
{
	free(j->text);
	*j = (cli_json){ 0 };
}
