/* Symbol visibility, and structs that may grow. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_EXPORT_H
#define KINDRED_EXPORT_H

#include <stddef.h>
#include <string.h>

/* The library is built with hidden visibility. Only functions marked KDR_API are exported, and a test compares the
 * exports with src/exports.txt. */
#if defined(__GNUC__)
#define KDR_API               __attribute__((visibility("default")))
#define KDR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define KDR_API
#define KDR_PRINTF(fmt, args)
#endif

/* Marks functions that may change or disappear with any version. All others stay as they are until the minor version
 * changes. Define KDR_STABLE_ONLY before including a header to make calling a marked function a compiler error. */
#if defined(KDR_STABLE_ONLY) && defined(__GNUC__)
#define KDR_EXPERIMENTAL __attribute__((error("experimental: it may change with any version of kindred")))
#else
#define KDR_EXPERIMENTAL
#endif

/* Structs and the ABI.
 *
 * A struct that the caller fills (options, designs, problems) begins with `size_t size`, the size of the struct in the
 * header the caller was compiled with. Set it with the struct's _init function, which is inline so that the size is the
 * caller's, or write .size = sizeof(...). The library accepts any size: members that an older caller does not have take
 * their defaults, and members that an older library does not know must be zero, else the call is refused with
 * KDR_ERR_ARGUMENT. New members are added at the end only.
 *
 * A struct that the library returns by pointer may grow at its end: use it through the pointer and do not copy it.
 *
 * All other public structs are frozen: their members and sizes never change within a minor version. The comment of each states this. */

/* Defines the _init function of a struct whose members are all zero by default. */
#define KDR_DEFINE_INIT(type) \
	static inline void type##_init(type *options) \
	{ \
		if (options) { \
			memset(options, 0, sizeof *options); \
			options->size = sizeof *options; \
		} \
	}

#endif
