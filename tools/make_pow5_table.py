#!/usr/bin/env python3
"""Writes src/core/pow5_table.h: 5^q to 128 bits, for q = -342 .. 324. SPDX-License-Identifier: BSD-3-Clause

Each entry is the mantissa of 5^q, scaled so that its top bit is set. Positive powers are cut off (exact up
to 5^55), 5^-27 .. 5^-1 are rounded up and smaller ones cut off: what Lemire's parsing proof asks for.
Printing needs all of them rounded up and adds one where it must.
"""
LOW, HIGH = -342, 324


def mantissa(q):
    if q >= 0:
        c = 5**q
        return c << (128 - c.bit_length()) if c.bit_length() < 128 else c >> (c.bit_length() - 128)
    p = 5**-q
    z = (p - 1).bit_length()
    c = 2 ** (z + 127 if q >= -27 else 2 * z + 128) // p + 1
    return c >> (c.bit_length() - 128)


print("/* 5^q to 128 bits, high word first: made by tools/make_pow5_table.py. SPDX-License-Identifier: BSD-3-Clause */")
print("#ifndef KDRI_POW5_TABLE_H\n#define KDRI_POW5_TABLE_H\n\n#include <stdint.h>\n")
print(f"enum {{ KDRI_POW5_LOW = {LOW}, KDRI_POW5_HIGH = {HIGH} }};\n")
print("/* clang-format off */")
print(f"static const uint64_t kdri_pow5[{HIGH - LOW + 1}][2] = {{")
for q in range(LOW, HIGH + 1):
    m = mantissa(q)
    assert m.bit_length() == 128
    print(f"\t{{ 0x{m >> 64:016x}u, 0x{m & (2**64 - 1):016x}u }},")
print("};\n/* clang-format on */\n\n#endif")
