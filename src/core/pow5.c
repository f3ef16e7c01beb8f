/* Powers of five to 128 bits, computed at first use. SPDX-License-Identifier: BSD-3-Clause
 *
 * 5^q for q >= 0 is multiplied up, and 2^TOP / 5^-q divided down, as integers of LIMBS x 64 bits. The result is their
 * 128 bits from the highest one on: floor(floor(x / a) / b) = floor(x / (a b)), so that no precision is lost. */
#include "core/numbers.h"

#include <pthread.h>

/* 5^342 has 795 bits; a quotient needs 128 more than that. */
enum { LIMBS = 16, COUNT = KDRI_POW5_HIGH - KDRI_POW5_LOW + 1 };

uint64_t kdri_pow5_table[COUNT][2];
atomic_bool kdri_pow5_ready;

/* The 128 bits from the highest one on, high word first. */
static void take_top(const uint64_t limb[LIMBS], uint64_t out[2])
{
	int i = LIMBS - 1;
	while (i > 2 && limb[i] == 0)
		i--;
	const int shift = __builtin_clzll(limb[i]);
	for (int k = 0; k < 2; k++)
		out[k] = shift == 0 ? limb[i - k] : limb[i - k] << shift | limb[i - k - 1] >> (64 - shift);
}

static void fill_table(void)
{
	uint64_t up[LIMBS] = { [2] = 1 },
	         down[LIMBS] = { [LIMBS - 1] = 1 }; /* [2]: zeros below for take_top */
	for (int q = 0; q <= KDRI_POW5_HIGH; q++) {
		uint64_t carry = 0;
		take_top(up, kdri_pow5_table[q - KDRI_POW5_LOW]);
		for (int i = 0; i < LIMBS; i++) {
			const kdri_u128 x = (kdri_u128)up[i] * 5 + carry;
			up[i] = (uint64_t)x;
			carry = (uint64_t)(x >> 64);
		}
	}
	for (int q = -1; q >= KDRI_POW5_LOW; q--) {
		uint64_t rest = 0, *out = kdri_pow5_table[q - KDRI_POW5_LOW];
		for (int i = LIMBS - 1; i >= 0; i--) {
			const kdri_u128 x = (kdri_u128)rest << 64 | down[i];
			down[i] = (uint64_t)(x / 5);
			rest = (uint64_t)(x % 5);
		}
		take_top(down, out);
		if (q >= -27) /* here the quotient is rounded up, as numbers.c and print.c expect */
			out[0] += ++out[1] == 0;
	}
	atomic_store_explicit(&kdri_pow5_ready, true, memory_order_release);
}

void kdri_pow5_fill(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, fill_table);
}
