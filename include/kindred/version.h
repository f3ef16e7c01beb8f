/* The version. It is the one in the file VERSION; the build stops if they differ. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_VERSION_H
#define KINDRED_VERSION_H

#include <stdbool.h>

#include "kindred/export.h"

#define KDR_VERSION_MAJOR 0
#define KDR_VERSION_MINOR 3
#define KDR_VERSION_PATCH 0
#define KDR_VERSION       "0.3.0"

/* Returns the version of the library in use: that of a release, such as "0.3.0"; of what is built between releases "0.3.0-dev", with
 * the commit after a "+" where it is known: "0.3.0-dev+858c0022". KDR_VERSION is the version of the header. Cost: O(1). */
KDR_API const char *kdr_version(void);
/* Returns the compiler, the BLAS and the optional parts of this build, one per line, with what is not available without
 * each missing part. Cost: O(1). */
KDR_API const char *kdr_build_info(void);
/* Returns whether this build has an optional part: "hdf5", "zlib", "utf8proc", "stemmer", "libsvm" or "openmp".
 * Cost: O(1). */
KDR_API bool kdr_build_has(const char *part);

#endif
