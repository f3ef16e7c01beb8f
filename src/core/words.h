/* Words in messages: lists, choices, names of methods and data sets. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_WORDS_H
#define KDRI_WORDS_H

#include <stdarg.h>
#include <stddef.h>

#include "kindred/algorithm.h"
#include "kindred/data.h"

/* errors.c and system_*.c: snprintf and vsnprintf that write a decimal point in every locale. */
KDR_PRINTF(3, 4) int kdri_snprintf(char *text, size_t room, const char *format, ...);
KDR_PRINTF(3, 0) int kdri_vsnprintf(char *text, size_t room, const char *format, va_list args);
/* Appends an item to the list "a, b"; what does not fit is cut off. */
KDR_PRINTF(3, 4) void kdri_list_add(char *list, size_t room, const char *format, ...);
/* Replaces control characters, so that a text which quotes a file stays on one line. */
void kdri_one_line(char *text);
/* The index of a word in a list that ends with NULL; -1 if it is not in the list. */
int kdri_word_index(const char *const *words, const char *word);
/* registry.c: writes the message for an unknown method `id`: it suggests the nearest names, of a family if one is given. */
void kdri_unknown_method(const char *id, const kdr_family *family, char *text, size_t room);
/* The sheet in the path of a sheet of a workbook, after the colon; NULL: the path has none. */
const char *kdri_path_sheet(const char *path);
/* The row of the file that a row of a data set is, from 1: as kdr_left_out counts, without a header. */
int64_t kdri_file_row(const kdr_data *data, int64_t row);
/* What a row is called in messages: "row 12 (id 'c7')", or "row 12" if it has no id. */
enum { KDRI_ROW_NAME = 96 };
const char *kdri_row_name(const kdr_data *data, int64_t row, char room[KDRI_ROW_NAME]);
/* Names data sets that have no name and would not have that of their file: standard input, and sheets of one workbook, which would all
 * have its name. Names borrow from the paths. */
void kdri_name_paths(kdr_task_path *paths, int64_t count);

#endif
