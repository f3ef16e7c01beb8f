/* Compiles a kernel for each kind of machine. SPDX-License-Identifier: BSD-3-Clause
 *
 * A vector wider than the machine's registers is kept in memory: a tile of sums in such vectors is loaded and stored at
 * every step, which costs five times the arithmetic. A kernel that keeps a tile in registers is therefore written for
 * vectors of KDRI_WIDTH doubles, of which the machine has KDRI_REGISTERS, in a file of its own:
 *
 *     #define KDRI_BODY "engine/kmeans/kmeans_tiles.h"
 *     #include "matrix/each_machine.h"
 *
 * compiles that file for every kind of machine that the compiler supports. Each of its functions is KDRI_TARGET static,
 * and named KDRI_NAME(f); KDRI_PICK(f) is then the one for the machine that the program runs on. For loops that the
 * compiler vectorises automatically, KDRI_KERNEL (linalg.h) is simpler. */
#if defined KDR_HAVE_TARGET_CLONES || defined KDR_HAVE_TARGETS

#define KDRI_NAME(f)   f##_512
#define KDRI_TARGET    __attribute__((target("arch=x86-64-v4")))
#define KDRI_WIDTH     8
#define KDRI_REGISTERS 32
#include KDRI_BODY
#undef KDRI_NAME
#undef KDRI_TARGET
#undef KDRI_WIDTH
#undef KDRI_REGISTERS

#define KDRI_NAME(f)   f##_256
#define KDRI_TARGET    __attribute__((target("arch=x86-64-v3")))
#define KDRI_WIDTH     4
#define KDRI_REGISTERS 16
#include KDRI_BODY
#undef KDRI_NAME
#undef KDRI_TARGET
#undef KDRI_WIDTH
#undef KDRI_REGISTERS

#endif

/* The compiler's default target: 128 bits on x86-64 and arm64 without special flags. */
#define KDRI_NAME(f) f##_base
#define KDRI_TARGET
#if defined __AVX512F__
#define KDRI_WIDTH     8
#define KDRI_REGISTERS 32
#elif defined __AVX__
#define KDRI_WIDTH     4
#define KDRI_REGISTERS 16
#else
#define KDRI_WIDTH 2
#if defined __x86_64__ || defined __wasm__
#define KDRI_REGISTERS 16
#else
#define KDRI_REGISTERS 32
#endif
#endif
#include KDRI_BODY
#undef KDRI_NAME
#undef KDRI_TARGET
#undef KDRI_WIDTH
#undef KDRI_REGISTERS
#undef KDRI_BODY

#undef KDRI_PICK
#if defined KDR_HAVE_TARGET_CLONES || defined KDR_HAVE_TARGETS
#define KDRI_PICK(f) (kdri_machine() == 512 ? f##_512 : kdri_machine() == 256 ? f##_256 : f##_base)
#else
#define KDRI_PICK(f) f##_base
#endif
