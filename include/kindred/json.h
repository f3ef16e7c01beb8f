/* Reading JSON: results, plans, models of bridges, lines of text. SPDX-License-Identifier: BSD-3-Clause
 *
 * Strict (RFC 8259): UTF-8 is checked, a key comes once in an object, nesting ends at 500. All accessors take
 * NULL, as an absent value, so that a chain of them needs one look at its end. */
#ifndef KINDRED_JSON_H
#define KINDRED_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kindred/context.h"

typedef enum kdr_json_type {
	KDR_JSON_ABSENT, /* NULL */
	KDR_JSON_NULL,
	KDR_JSON_FALSE,
	KDR_JSON_TRUE,
	KDR_JSON_INTEGER, /* written without fraction or exponent, and within 64 bits */
	KDR_JSON_REAL,
	KDR_JSON_TEXT,
	KDR_JSON_ARRAY,
	KDR_JSON_OBJECT
} kdr_json_type;

/* A value, and all it holds. */
typedef struct kdr_json kdr_json;

/* Parses `size` bytes. Errors (KDR_ERR_FORMAT) begin with `name` and count lines from `line`. Values below the root
 * live as long as the root. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_json_parse(kdr_context *ctx, const char *name, int64_t line,
                                                   const char *text, size_t size, kdr_json **root);
KDR_EXPERIMENTAL KDR_API void kdr_json_free(kdr_json *root);

KDR_EXPERIMENTAL KDR_API kdr_json_type kdr_json_typeof(const kdr_json *value);
/* Entries of an array or an object; 0 of all else. */
KDR_EXPERIMENTAL KDR_API int64_t kdr_json_count(const kdr_json *value);
/* Entry `index` of an array or an object, in the order of the file; NULL beyond its end. */
KDR_EXPERIMENTAL KDR_API const kdr_json *kdr_json_at(const kdr_json *value, int64_t index);
/* The key of a value in an object; "" elsewhere. */
KDR_EXPERIMENTAL KDR_API const char *kdr_json_key(const kdr_json *value);
/* The value at `key` of an object; NULL if there is none. */
KDR_EXPERIMENTAL KDR_API const kdr_json *kdr_json_get(const kdr_json *object, const char *key);
/* A number of either type, or `otherwise`. */
KDR_EXPERIMENTAL KDR_API double kdr_json_number(const kdr_json *value, double otherwise);
KDR_EXPERIMENTAL KDR_API int64_t kdr_json_integer(const kdr_json *value, int64_t otherwise);
/* A text, ending with NUL (and perhaps holding some: `length`, unless NULL, gets its bytes); NULL for all else. */
KDR_EXPERIMENTAL KDR_API const char *kdr_json_text(const kdr_json *value, size_t *length);

static inline bool kdr_json_is(const kdr_json *value, kdr_json_type type)
{
	return kdr_json_typeof(value) == type;
}

static inline bool kdr_json_is_number(const kdr_json *value)
{
	return kdr_json_is(value, KDR_JSON_INTEGER) || kdr_json_is(value, KDR_JSON_REAL);
}

static inline bool kdr_json_is_bool(const kdr_json *value)
{
	return kdr_json_is(value, KDR_JSON_FALSE) || kdr_json_is(value, KDR_JSON_TRUE);
}

#endif
