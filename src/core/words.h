/* Words in messages: lists, choices, names of methods. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_WORDS_H
#define KDRI_WORDS_H

#include "kindred/algorithm.h"

/* Appends an item to the list "a, b"; what does not fit is cut off. */
KDR_PRINTF(3, 4) void kdri_list_add(char *list, size_t room, const char *format, ...);
/* Replaces control characters, so that a text which quotes a file stays on one line. */
void kdri_one_line(char *text);
/* The index of a word in a list that ends with NULL; -1 if it is not in the list. */
int kdri_word_index(const char *const *words, const char *word);
/* registry.c: writes the message for an unknown method `id`: it suggests the nearest names, of a family if one is given. */
void kdri_unknown_method(const char *id, const kdr_family *family, char *text, size_t room);

#endif
