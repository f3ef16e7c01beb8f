/* The report: a checked result and the project's own scripts and styles as one page. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sit in one block of JSON; what draws them is report/, compiled in (assets.h). */
#ifndef KDRI_REPORT_H
#define KDRI_REPORT_H

#include "core/internal.h"
#include "core/json_read.h"

/* --- out.c: text in memory -------------------------------------------------------------------- */

/* A page being written. The first failure is stored in `st`, and all later calls do nothing: writers only need to
 * check it once, at the end. */
typedef struct kdri_page {
	kdr_context *ctx;
	kdr_status st;
	char *data;
	int64_t used, room;
} kdri_page;

void kdri_page_bytes(kdri_page *p, const char *bytes, size_t count);
/* Writes trusted text unchanged. */
void kdri_page_raw(kdri_page *p, const char *text);
/* A user's text as a JSON string for a script element: characters that could end the element, change the direction of
 * text or break a line are escaped or replaced, and the text is truncated after `most` characters. */
void kdri_page_string(kdri_page *p, const char *text, int64_t most);
/* A number with `digits` significant digits; null if it is not finite. */
void kdri_page_number(kdri_page *p, double value, int digits);
/* The SHA-256 of bytes, as required by a content policy: base64. `out` has space for 45 bytes. */
void kdri_page_hash(const char *bytes, size_t count, char *out);

/* --- check.c: whether it is a result, and every field of the type it should have -------------------- */

kdr_status kdri_report_check(kdr_context *ctx, const char *file, const kdri_json_value *root);

/* --- block.c, about.c: the data ------------------------------------------------------------------- */

/* The shortened result: fields that the page does not show are omitted, and numbers are rounded. `root` is an
 * object. */
void kdri_page_block(kdri_page *p, const kdri_json_value *root);
/* "about": the registry's information about the method, its options and fields. */
void kdri_page_about(kdri_page *p, const kdri_json_value *root);
/* meanings.c: the explanation of a number or text in method_fields; NULL: none. */
const char *kdri_meaning(const char *stem);

/* --- report.c --------------------------------------------------------------------------------------- */

/* result_file.c: a result.json in full; free *out with kdri_free. */
kdr_status kdri_report_read(kdr_context *ctx, const char *path, char **out, size_t *size);
/* The page of a result, in memory; free *html with kdri_free. `file` is for errors. */
kdr_status kdri_report_render(kdr_context *ctx, const char *file, const char *json, size_t size, char **html,
                              int64_t *length);

#endif
