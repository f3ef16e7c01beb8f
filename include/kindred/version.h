/* The version, in this one place: the build reads it from here. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_VERSION_H
#define KINDRED_VERSION_H

#include <stdbool.h>

#include "kindred/export.h"

#define KDR_VERSION_MAJOR 0
#define KDR_VERSION_MINOR 1
#define KDR_VERSION_PATCH 0
#define KDR_VERSION       "0.1.0"

/* The version of the library that is running. */
KDR_API const char *kdr_version(void);
/* Compiler, BLAS and optional parts of this build, one a line, with what is refused where one is missing. */
KDR_API const char *kdr_build_info(void);
/* Whether this build has a part: "hdf5", "zlib", "utf8proc", "stemmer", "libsvm", "openmp". */
KDR_API bool kdr_build_has(const char *part);

#endif
