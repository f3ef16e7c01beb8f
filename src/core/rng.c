/* Random numbers. SPDX-License-Identifier: BSD-3-Clause
 *
 * xoshiro256** (Blackman & Vigna, ACM TOMS 47:4, 2021), seeded by splitmix64 (Steele, Lea & Flood,
 * OOPSLA 2014). A stream is named by (seed, stage, index), so that what one stage draws never depends
 * on another stage, another task or the number of threads. tests/unit/test_rng.c pins the outputs. */
#include "core/internal.h"

uint64_t kdri_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t kdri_fnv1a(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return hash;
}

kdri_rng kdri_rng_stream(uint64_t seed, const char *stage, uint64_t index)
{
	uint64_t state = seed, hash = kdri_fnv1a(stage, strlen(stage));
	/* Mix the three words one after the other, so that neighbouring seeds or indices share nothing. */
	state = kdri_random(&state) ^ hash;
	state = kdri_random(&state) ^ index;
	kdri_rng rng;
	for (int i = 0; i < 4; i++)
		rng.s[i] = kdri_random(&state);
	return rng;
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t kdri_rng_u64(kdri_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

double kdri_rng_uniform(kdri_rng *rng)
{
	return (double)(kdri_rng_u64(rng) >> 11) * 0x1p-53;
}

double kdri_rng_normal(kdri_rng *rng)
{
	/* Marsaglia's polar method without the second value: no state besides the generator's. */
	for (;;) {
		double u = 2 * kdri_rng_uniform(rng) - 1, v = 2 * kdri_rng_uniform(rng) - 1;
		double s = u * u + v * v;
		if (s > 0 && s < 1)
			return u * sqrt(-2 * log(s) / s);
	}
}

int64_t kdri_rng_below(kdri_rng *rng, int64_t bound)
{
	/* Reject the incomplete last interval, so that every value is equally likely. */
	uint64_t b = (uint64_t)bound, limit = UINT64_MAX - UINT64_MAX % b, r;
	do {
		r = kdri_rng_u64(rng);
	} while (r >= limit);
	return (int64_t)(r % b);
}
