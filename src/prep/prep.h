/* Preprocessing, inside the library. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PREP_H
#define KDRI_PREP_H

#include "core/internal.h"

/* --- dump.c: fitted preprocessing as named arrays, for model files --------------------------- */

typedef struct kdri_dump_array {
	const char *name;
	kdr_dtype type;
	int64_t count;
	const void *data;
} kdri_dump_array;

typedef struct kdri_dump_strings {
	const char *name;
	int64_t count;
	const char *const *strings;
} kdri_dump_strings;

typedef struct kdri_prep_dump {
	kdri_dump_array arrays[24];
	int narrays;
	kdri_dump_strings strings[8];
	int nstrings;
} kdri_prep_dump;

/* Everything kdri_prep_import needs, borrowed from `prep`. Arrays that do not apply are left out. */
kdr_status kdri_prep_export(kdr_context *ctx, const kdr_prep *prep, kdri_prep_dump *dump);
/* Builds a copy. Every name, type, count and value is checked first: a damaged or hostile file gives
 * KDR_ERR_FORMAT. Arrays and strings of names it does not know are passed over. */
kdr_status kdri_prep_import(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep **out);

#endif
