/* Named values, written as JSON or made into a tree. SPDX-License-Identifier: BSD-3-Clause
 *
 * The text is built in memory or handed on in blocks; it needs only an allocator. The first failure is kept in `failed`, and all later
 * calls do nothing, so that callers check it once, at the end. */
#ifndef KDRI_JSON_H
#define KDRI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/json_read.h"
#include "kindred/context.h"
#include "kindred/metrics.h"

/* Receives finished text; false: it failed. */
typedef bool kdri_json_take(void *user, const char *text, size_t length);

typedef struct kdri_json {
	const kdr_allocator *allocator; /* NULL: the C library's */
	char *text;                     /* ends with a NUL */
	size_t used, room;
	int depth;
	bool failed, comma;
	kdri_json_take *take; /* NULL: all of it stays in memory */
	void *user;
	kdri_json_tree *tree; /* gets the values instead; no text is made */
	/* The data of a page (jobs/report/block.c): without blanks, and such that no text can end the script element around it, change the
	 * direction of text or break a line. */
	bool page;
	int digits;         /* of real numbers in a page */
	int64_t characters; /* in a page: of a text, the rest of which is left out */
	int64_t entries;    /* in a page: of lists that kdri_json_put copies */
} kdri_json;

void kdri_json_object(kdri_json *j, const char *key); /* key NULL inside arrays and at the top */
void kdri_json_array(kdri_json *j, const char *key);
void kdri_json_end_object(kdri_json *j);
void kdri_json_end_array(kdri_json *j);
/* Text as it is: JSON, or what is around it. */
void kdri_json_raw(kdri_json *j, const char *text, size_t length);
/* Entries of a list, already as JSON, with the comma before the first one. */
void kdri_json_entries(kdri_json *j, const char *text, size_t length);
/* A value that is JSON already. */
void kdri_json_insert(kdri_json *j, const char *key, const char *text, size_t length);
/* Any value, and all that is in it. A tree that is made shares them, and may not live longer. */
void kdri_json_put(kdri_json *j, const char *key, const kdri_json_value *value);
void kdri_json_string(kdri_json *j, const char *key, const char *value);
void kdri_json_int(kdri_json *j, const char *key, int64_t value);
/* 17 significant digits, a decimal point in any locale; null if not finite. */
void kdri_json_real(kdri_json *j, const char *key, double value);
void kdri_json_bool(kdri_json *j, const char *key, bool value);
void kdri_json_null(kdri_json *j, const char *key);
/* Arrays of `count` values. */
void kdri_json_ints(kdri_json *j, const char *key, const int64_t *values, int64_t count);
void kdri_json_reals(kdri_json *j, const char *key, const double *values, int64_t count);
void kdri_json_texts(kdri_json *j, const char *key, const char *const *values, int64_t count);
#define kdri_json_strings(j, key, values, count) \
	kdri_json_texts((j), (key), (const char *const *)(values), (count))
/* Passes on the text so far if there is a function to receive it. */
void kdri_json_flush(kdri_json *j);
/* Gives the text, of `what`, to the caller if `st`, how writing it went, is KDR_OK; else frees it. `length` may be NULL. */
kdr_status kdri_json_take_text(kdr_context *ctx, kdri_json *j, kdr_status st, const char *what, char **text,
                               size_t *length);
void kdri_json_free(kdri_json *j);

/* Writes acc, nmi, ... into the open object. */
void kdri_json_scores(kdri_json *j, const kdr_scores *scores);
/* Writes them as an object "metrics", null if there are none. */
void kdri_json_metrics(kdri_json *j, const kdr_scores *scores);
/* Writes an object "quality": scores that need no true classes. */
void kdri_json_quality(kdri_json *j, const kdr_quality *quality);
/* A sentence about what these scores do not measure. */
const char *kdri_quality_note(void);

#endif
