/* Trees of named values: what JSON texts are read into, and what a result is made into (json_write.h). SPDX-License-Identifier: BSD-3-Clause
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

/* Values below the root live as long as the root. They are small, since a result has several for each sample. */
typedef struct kdri_json_value {
	unsigned type : 4, line : 28; /* kdri_json_type; the line of the text that it begins in, from 0 */
	uint32_t count;               /* entries, or bytes of text */
	const char *key;              /* in an object, else NULL */
	union {
		double real;
		int64_t integer;
		const char *text;
		const struct kdri_json_value *items;
	} as;
} kdri_json_value;

/* Parses `size` bytes. Errors (KDR_ERR_FORMAT) begin with `name` and count lines from `line`. */
kdr_status kdri_json_parse(kdr_context *ctx, const char *name, int64_t line, const char *text, size_t size,
                           kdri_json_value **root);
/* Frees a root and everything in it. */
void kdri_json_value_free(kdri_json_value *root);

/* json_tree.c: a tree that is being made, one value after the other. */
typedef struct kdri_json_tree {
	kdr_context *ctx;
	struct kdri_json_document *doc;
	size_t used, room, block;   /* of the newest block of memory; the usual size of the next, in bytes */
	kdri_json_value *stack;     /* values of lists that are still open */
	int64_t height, stack_room; /* of the stack */
	int64_t open;               /* the place of the innermost open list; -1: none */
} kdri_json_tree;
/* `bytes`: a guess of the memory that the tree needs. */
kdr_status kdri_json_tree_begin(kdr_context *ctx, size_t bytes, kdri_json_tree *t);
/* Memory that lives as long as the tree. */
kdr_status kdri_json_tree_room(kdri_json_tree *t, size_t size, void *out);
/* Adds a value to the innermost open list. It may be of another tree, which then has to live as long as this one. */
kdr_status kdri_json_tree_add(kdri_json_tree *t, const kdri_json_value *value);
/* Begins and ends the entries of the array or object that was added last. */
void kdri_json_tree_open(kdri_json_tree *t);
kdr_status kdri_json_tree_close(kdri_json_tree *t);
/* A key that the object that was closed last has twice; NULL: none. */
const char *kdri_json_tree_twin(const kdri_json_tree *t);
/* Gives the tree to the caller if `st`, how making it went, is KDR_OK; else frees it. */
kdr_status kdri_json_tree_end(kdri_json_tree *t, kdr_status st, kdri_json_value **root);

/* What result.json has of a result (jobs/write/json.c), with or without the lists that have an entry for each sample. */
struct kdr_result;
kdr_status kdri_result_tree(kdr_context *ctx, const struct kdr_result *result, bool samples,
                            kdri_json_value **root);

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
