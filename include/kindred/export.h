/* Symbol visibility. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_EXPORT_H
#define KINDRED_EXPORT_H

/* The library is built with hidden visibility; only what carries KDR_API is exported, and a test
 * compares the exports with src/exports.txt. */
#if defined(__GNUC__)
#define KDR_API               __attribute__((visibility("default")))
#define KDR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define KDR_API
#define KDR_PRINTF(fmt, args)
#endif

/* Functions that may still change, or go, with any version: all others stay as they are until the minor version
 * changes. Who would rather not meet them defines KDR_STABLE_ONLY before including a header: to call one is then an
 * error of the compiler. */
#if defined(KDR_STABLE_ONLY) && defined(__GNUC__)
#define KDR_EXPERIMENTAL __attribute__((error("experimental: it may change with any version of kindred")))
#else
#define KDR_EXPERIMENTAL
#endif

#endif
