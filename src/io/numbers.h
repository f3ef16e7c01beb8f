/* What the number readers share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NUMBERS_H
#define KDRI_NUMBERS_H

#include <stdint.h>

__extension__ typedef unsigned __int128 kdri_u128;

/* As kdri_parse_double, with `point` for the decimal point ('.' or ','). */
const char *kdri_parse_decimal(const char *p, const char *end, char point, double *value);

#endif
