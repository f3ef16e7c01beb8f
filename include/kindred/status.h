/* Status codes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every fallible function returns a kdr_status; zero is success. Values are fixed for ever and come
 * in bands of ten, so that a caller can react to the band without knowing each code:
 * 10 argument, 20 data, 30 numeric, 40 memory, 50 input/output, 60 unsupported, 90 internal.
 * Not converging is no error: see kdr_result_stop(). */
#ifndef KINDRED_STATUS_H
#define KINDRED_STATUS_H

#include "kindred/export.h"

typedef enum kdr_status {
	KDR_OK = 0,
	KDR_ERR_ARGUMENT = 10,    /* an argument is out of its range, or arguments contradict each other */
	KDR_ERR_OPTION = 11,      /* an option's name is unknown, or its value is not allowed */
	KDR_ERR_EXISTS = 12,      /* the output exists and may not be replaced */
	KDR_ERR_DATA = 20,        /* data were read but cannot be used: NaN, no rows, shapes that differ */
	KDR_ERR_FORMAT = 21,      /* a file is not what its name or header says */
	KDR_ERR_READ = 22,        /* a file cannot be opened or read */
	KDR_ERR_NUMERIC = 30,     /* a factorisation or an iteration broke down */
	KDR_ERR_MEMORY = 40,      /* an allocation failed */
	KDR_ERR_SIZE = 41,        /* a size does not fit the integers that must hold it */
	KDR_ERR_WRITE = 50,       /* an output cannot be created or written */
	KDR_ERR_UNSUPPORTED = 60, /* valid, but not in this build or not for this method */
	KDR_ERR_INTERNAL = 90     /* a bug in kindred */
} kdr_status;

/* A short English description of `status`. Accepts any integer; never returns NULL. */
KDR_API const char *kdr_strerror(int status);

#endif
