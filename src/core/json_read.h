/* Reading JSON: results, plans, models of bridges, lines of text. SPDX-License-Identifier: BSD-3-Clause
 *
 * The reader is strict (RFC 8259): UTF-8 is checked, a key may occur once in an object, and nesting is limited to 500
 * levels. All accessors accept NULL as an absent value, so that a chain of them needs only one check at its end. */
#ifndef KDRI_JSON_READ_H
#define KDRI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kindred/context.h"

typedef enum kdri_json_type {
	KDRI_JSON_ABSENT, /* NULL */
	KDRI_JSON_NULL,
	KDRI_JSON_FALSE,
	KDRI_JSON_TRUE,
	KDRI_JSON_INTEGER, /* written without fraction or exponent, and within 64 bits */
	KDRI_JSON_REAL,
	KDRI_JSON_TEXT,
	KDRI_JSON_ARRAY,
	KDRI_JSON_OBJECT
} kdri_json_type;

/* Frees a value and everything in it. */
typedef struct kdri_json_value kdri_json_value;

/* Parses `size` bytes. Errors (KDR_ERR_FORMAT) begin with `name` and count lines from `line`. Values below the root
 * live as long as the root. */
kdr_status kdri_json_parse(kdr_context *ctx, const char *name, int64_t line, const char *text, size_t size,
                           kdri_json_value **root);
void kdri_json_value_free(kdri_json_value *root);

kdri_json_type kdri_json_typeof(const kdri_json_value *value);
/* The line of the text that a value begins in, from 1; 0 for an absent value. */
int64_t kdri_json_line(const kdri_json_value *value);
/* The number of entries of an array or an object; 0 for other values. */
int64_t kdri_json_count(const kdri_json_value *value);
/* Entry `index` of an array or an object, in the order of the file; NULL beyond its end. */
const kdri_json_value *kdri_json_at(const kdri_json_value *value, int64_t index);
/* The key of a value in an object; "" elsewhere. */
const char *kdri_json_key(const kdri_json_value *value);
/* The value at `key` of an object; NULL if there is none. */
const kdri_json_value *kdri_json_get(const kdri_json_value *object, const char *key);
/* A number of either type, or `otherwise`. */
double kdri_json_number(const kdri_json_value *value, double otherwise);
int64_t kdri_json_integer(const kdri_json_value *value, int64_t otherwise);
/* A string that ends with NUL and may contain NULs (`length`, unless NULL, gets its bytes); NULL for other values. */
const char *kdri_json_text(const kdri_json_value *value, size_t *length);

static inline bool kdri_json_is(const kdri_json_value *value, kdri_json_type type)
{
	return kdri_json_typeof(value) == type;
}

static inline bool kdri_json_is_number(const kdri_json_value *value)
{
	return kdri_json_is(value, KDRI_JSON_INTEGER) || kdri_json_is(value, KDRI_JSON_REAL);
}

static inline bool kdri_json_is_bool(const kdri_json_value *value)
{
	return kdri_json_is(value, KDRI_JSON_FALSE) || kdri_json_is(value, KDRI_JSON_TRUE);
}

#endif
