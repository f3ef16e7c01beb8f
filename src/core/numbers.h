/* Text to numbers and back, exactly, whatever the locale. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NUMBERS_H
#define KDRI_NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 kdri_u128;

/* Whether the `n` characters at p are `word`, which is in lower case; ASCII letters match in any case,
 * whatever the locale. */
static inline bool kdri_same_word(const char *p, size_t n, const char *word)
{
	size_t i = 0;
	for (; i < n && word[i]; i++)
		if (p[i] != word[i] && !(p[i] >= 'A' && p[i] <= 'Z' && p[i] + 32 == word[i]))
			return false;
	return i == n && !word[i];
}

/* numbers.c: 5^q to 128 bits, high word first, for KDRI_POW5_LOW <= q <= KDRI_POW5_HIGH: cut off, or rounded up from 5^-27 to
 * 5^-1. */
enum { KDRI_POW5_LOW = -342, KDRI_POW5_HIGH = 324 };
extern uint64_t kdri_pow5_table[][2];
extern atomic_bool kdri_pow5_ready;
void kdri_pow5_fill(void);
static inline const uint64_t *kdri_pow5(int64_t q)
{
	if (!atomic_load_explicit(&kdri_pow5_ready, memory_order_acquire))
		kdri_pow5_fill();
	return kdri_pow5_table[q - KDRI_POW5_LOW];
}

/* Parses a decimal number at p, which ends before `end`, with correct rounding. Returns the end of the number, or NULL
 * if there is none. Accepts "nan", "inf", "infinity" in any case. */
const char *kdri_parse_double(const char *p, const char *end, double *value);
const char *kdri_parse_int(const char *p, const char *end, int64_t *value);
/* numbers.c: shortest decimal that reads back as `value`; at most 25 bytes with its NUL. Returns the length. */
int kdri_print_double(double value, char *buffer);
/* What printf gives for %.17g, with a point in any locale, and for an integer; several times faster. Return the length. */
enum { KDRI_PRINT_17 = 48 };
int kdri_print_17(double value, char *buffer);
int kdri_print_int(int64_t value, char *buffer);
/* As kdri_parse_double, with `point` for the decimal point ('.' or ','). */
const char *kdri_parse_decimal(const char *p, const char *end, char point, double *value);

/* For qsort: increasing numbers, or structs that begin with one. */
int kdri_compare_doubles(const void *a, const void *b);

#endif
