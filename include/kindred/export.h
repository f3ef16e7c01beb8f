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

#endif
