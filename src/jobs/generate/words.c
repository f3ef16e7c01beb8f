/* Invented words. SPDX-License-Identifier: BSD-3-Clause
 *
 * Word i is i written in base 70 with syllables as digits. So that consecutive words do not look similar, i is first
 * multiplied by a number coprime to 70, modulo 70^length: a permutation, so words stay different. */
#include "jobs/generate/synth.h"

void kdri_word(int64_t index, int64_t count, char *name, size_t size)
{
	static const char consonants[] = "bdfgklmnprstvz", vowels[] = "aeiou";
	uint64_t base = 70, most = base * base, length = 2;
	while (most < (uint64_t)count) {
		most *= base;
		length++;
	}
	uint64_t factor = most / 1618 * 1000 + 1; /* about the golden section of the range */
	while (factor % 2 == 0 || factor % 5 == 0 || factor % 7 == 0)
		factor++;
	/* For up to 70^5 < 2^31 words the product fits. */
	uint64_t code = ((uint64_t)index * factor + most / 3) % most;
	size_t n = 0;
	for (uint64_t s = 0; s < length && n + 3 <= size; s++) {
		name[n++] = consonants[code % base / 5];
		name[n++] = vowels[code % 5];
		code /= base;
	}
	name[n] = '\0';
}
