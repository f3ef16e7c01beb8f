/* Texts of messages. SPDX-License-Identifier: BSD-3-Clause */
#include "core/words.h"

#include "core/system.h"

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

const char *kdri_path_sheet(const char *path)
{
	for (const char *dot = strstr(path, ".xls"); dot; dot = strstr(dot + 1, ".xls"))
		if ((dot[4] == 'x' || dot[4] == 'm') && dot[5] == ':')
			return dot + 6;
	return NULL;
}

int64_t kdri_file_row(const kdr_data *data, int64_t row)
{
	const int64_t *origin = kdr_data_origin(data, NULL);
	const kdr_left_out *skipped;
	int64_t at = (origin ? origin[row] : row) + 1;
	for (int64_t i = 0; !origin && (skipped = kdr_data_left_out_at(data, i)) && skipped->row <= at; i++)
		at++;
	return at;
}

const char *kdri_row_name(const kdr_data *data, int64_t row, char room[KDRI_ROW_NAME])
{
	const char *const *ids = kdr_data_ids(data);
	const char *id = ids ? ids[row] : "";
	kdri_snprintf(room, KDRI_ROW_NAME, "row %lld%s%.50s%s", (long long)kdri_file_row(data, row),
	              *id ? " (id '" : "", id, *id ? "')" : "");
	kdri_one_line(room);
	return room;
}

/* Whether another sheet of this workbook has no name but its own. */
static bool has_sibling(const kdr_task_path *paths, int64_t count, int64_t at, const char *sheet)
{
	const size_t book = (size_t)(sheet - paths[at].path);
	for (int64_t i = 0; i < count; i++) {
		const char *other = i == at ? NULL : kdri_path_sheet(paths[i].path);
		if (other && (size_t)(other - paths[i].path) == book &&
		    memcmp(paths[i].path, paths[at].path, book) == 0 &&
		    (!paths[i].name || strcmp(paths[i].name, other) == 0))
			return true;
	}
	return false;
}

void kdri_name_paths(kdr_task_path *paths, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		const char *sheet = kdri_path_sheet(paths[i].path);
		if (paths[i].name)
			continue;
		if (strcmp(paths[i].path, "-") == 0)
			paths[i].name = "stdin";
		else if (sheet && !strpbrk(sheet, kdri_not_in_names) && has_sibling(paths, count, i, sheet))
			paths[i].name = sheet;
	}
}
