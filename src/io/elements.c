/* Conversion of numbers in files: any width, either byte order. SPDX-License-Identifier: BSD-3-Clause */
#include "io/binary.h"

size_t kdri_element_size(kdri_element type)
{
	static const unsigned char size[] = {
		[KDRI_ELEMENT_I1] = 1, [KDRI_ELEMENT_I2] = 2, [KDRI_ELEMENT_I4] = 4, [KDRI_ELEMENT_I8] = 8,
		[KDRI_ELEMENT_U1] = 1, [KDRI_ELEMENT_U2] = 2, [KDRI_ELEMENT_U4] = 4, [KDRI_ELEMENT_U8] = 8,
		[KDRI_ELEMENT_F2] = 2, [KDRI_ELEMENT_F4] = 4, [KDRI_ELEMENT_F8] = 8, [KDRI_ELEMENT_BOOL] = 1,
	};
	return size[type];
}

bool kdri_element_integer(kdri_element type)
{
	return type <= KDRI_ELEMENT_U8;
}

bool kdri_little_endian(void)
{
	const uint16_t one = 1;
	unsigned char first;
	memcpy(&first, &one, 1);
	return first == 1;
}

static uint16_t swap16(uint16_t x)
{
	return (uint16_t)(x << 8 | x >> 8);
}

static uint32_t swap32(uint32_t x)
{
	return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

static uint64_t swap64(uint64_t x)
{
	return (uint64_t)swap32((uint32_t)x) << 32 | swap32((uint32_t)(x >> 32));
}

/* IEEE 754 binary16: every value is a double. */
static double half_to_double(uint16_t h)
{
	int exponent = h >> 10 & 31, fraction = h & 1023;
	double magnitude;
	if (exponent == 31)
		magnitude = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		magnitude = ldexp(fraction, -24);
	else
		magnitude = ldexp(1024 + fraction, exponent - 25);
	return h >> 15 ? -magnitude : magnitude;
}

/* One loop a type: `bits` unsigned of the element's width, in this machine's order. */
#define CONVERT(bits_type, swap, expression) \
	for (int64_t i = 0; i < count; i++) { \
		bits_type bits; \
		memcpy(&bits, from + (size_t)i * sizeof bits, sizeof bits); \
		if (swapped) \
			bits = swap(bits); \
		out[i] = (expression); \
	} \
	break
#define SAME(x) (x)

static float as_float(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static double as_double(uint64_t bits)
{
	double x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

void kdri_element_to_double(kdri_element type, bool swapped, const void *raw, int64_t count, double *out)
{
	const unsigned char *from = raw;
	if (type == KDRI_ELEMENT_F8 && !swapped) {
		memmove(out, raw, (size_t)count * sizeof *out);
		return;
	}
	switch (type) {
	case KDRI_ELEMENT_I1: CONVERT(uint8_t, SAME, (int8_t)bits);
	case KDRI_ELEMENT_I2: CONVERT(uint16_t, swap16, (int16_t)bits);
	case KDRI_ELEMENT_I4: CONVERT(uint32_t, swap32, (int32_t)bits);
	case KDRI_ELEMENT_I8: CONVERT(uint64_t, swap64, (double)(int64_t)bits);
	case KDRI_ELEMENT_U1: CONVERT(uint8_t, SAME, bits);
	case KDRI_ELEMENT_U2: CONVERT(uint16_t, swap16, bits);
	case KDRI_ELEMENT_U4: CONVERT(uint32_t, swap32, bits);
	case KDRI_ELEMENT_U8: CONVERT(uint64_t, swap64, (double)bits);
	case KDRI_ELEMENT_F2: CONVERT(uint16_t, swap16, half_to_double(bits));
	case KDRI_ELEMENT_F4: CONVERT(uint32_t, swap32, as_float(bits));
	case KDRI_ELEMENT_F8: CONVERT(uint64_t, swap64, as_double(bits));
	case KDRI_ELEMENT_BOOL: CONVERT(uint8_t, SAME, bits != 0);
	}
}

bool kdri_element_to_int64(kdri_element type, bool swapped, const void *raw, int64_t count, int64_t *out)
{
	const unsigned char *from = raw;
	switch (type) {
	case KDRI_ELEMENT_I1: CONVERT(uint8_t, SAME, bits < 128 ? bits : bits - 256);
	case KDRI_ELEMENT_I2: CONVERT(uint16_t, swap16, (int16_t)bits);
	case KDRI_ELEMENT_I4: CONVERT(uint32_t, swap32, (int32_t)bits);
	case KDRI_ELEMENT_I8: CONVERT(uint64_t, swap64, (int64_t)bits);
	case KDRI_ELEMENT_BOOL:
	case KDRI_ELEMENT_U1: CONVERT(uint8_t, SAME, bits);
	case KDRI_ELEMENT_U2: CONVERT(uint16_t, swap16, bits);
	case KDRI_ELEMENT_U4: CONVERT(uint32_t, swap32, bits);
	case KDRI_ELEMENT_U8: CONVERT(uint64_t, swap64, bits > INT64_MAX ? INT64_MIN : (int64_t)bits);
	default: return false;
	}
	if (type == KDRI_ELEMENT_U8)
		for (int64_t i = 0; i < count; i++)
			if (out[i] == INT64_MIN)
				return false;
	return true;
}
