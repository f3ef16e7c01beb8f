/* Status codes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every function that can fail returns a kdr_status; zero is success. The values never change and come in bands of ten,
 * so that a caller can react to the band without knowing each code: 10 argument, 20 data, 30 numeric, 40 memory,
 * 50 input/output, 60 unsupported, 90 internal. Not converging is not an error: see kdr_result_stop(). */
#ifndef KINDRED_STATUS_H
#define KINDRED_STATUS_H

#include "kindred/export.h"

typedef enum kdr_status {
	KDR_OK = 0,
	KDR_ERR_ARGUMENT = 10, /* an argument is NULL or out of range, or arguments contradict each other */
	KDR_ERR_OPTION = 11,   /* the name of an option is unknown, or its value is not allowed */
	KDR_ERR_EXISTS = 12,   /* the output exists and may not be replaced */
	KDR_ERR_DATA = 20,     /* the data were read but cannot be used: NaN, no rows, different shapes */
	KDR_ERR_FORMAT = 21,   /* a file does not have the format that its name or header claims */
	KDR_ERR_READ = 22,     /* a file cannot be opened or read */
	KDR_ERR_NUMERIC = 30,  /* a factorisation or an iteration broke down */
	KDR_ERR_MEMORY = 40,   /* an allocation failed */
	KDR_ERR_SIZE = 41,     /* a size does not fit the integer type that must hold it */
	KDR_ERR_WRITE = 50,    /* an output cannot be created or written */
	KDR_ERR_UNSUPPORTED = 60, /* valid, but not available in this build or for this method */
	KDR_ERR_INTERNAL = 90     /* a bug in kindred */
} kdr_status;

/* Returns a short English description of `status`. Accepts any integer; never returns NULL. Cost: O(1). */
KDR_API const char *kdr_strerror(int status);

#endif
