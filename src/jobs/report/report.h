/* The report: a checked result and the project's own scripts and styles as one page. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sit in one block of JSON; what draws them is src/jobs/report/page, compiled in (assets.h). */
#ifndef KDRI_REPORT_H
#define KDRI_REPORT_H

#include "core/internal.h"
#include "core/json_read.h"

/* --- out.c: text in memory -------------------------------------------------------------------- */

/* A page being written. The first failure sticks in `st`, and all later calls do nothing: writers need to look at it
 * once, at the end. */
typedef struct kdri_page {
	kdr_context *ctx;
	kdr_status st;
	char *data;
	int64_t used, room;
} kdri_page;

void kdri_page_bytes(kdri_page *p, const char *bytes, size_t count);
/* Trusted text, as it is. */
void kdri_page_raw(kdri_page *p, const char *text);
/* A text of a user as a JSON string that may stand in a script element: what could end the element, turn the direction of
 * text or break a line is escaped or replaced, and it is cut after `most` characters. */
void kdri_page_string(kdri_page *p, const char *text, int64_t most);
/* A number with so many significant digits, null where it is not finite. */
void kdri_page_number(kdri_page *p, double value, int digits);
/* The SHA-256 of bytes, as a content policy wants it: base64. `out` has room for 45. */
void kdri_page_hash(const char *bytes, size_t count, char *out);

/* --- check.c: whether it is a result, and every field of the type it should have -------------------- */

kdr_status kdri_report_check(kdr_context *ctx, const char *file, const kdri_json_value *root);

/* --- block.c, about.c: the data ------------------------------------------------------------------- */

/* The result, shorter: what the page does not show is left out, numbers are rounded. `root` is an object. */
void kdri_page_block(kdri_page *p, const kdri_json_value *root);
/* "about": what the registry knows of the method, its options and fields. */
void kdri_page_about(kdri_page *p, const kdri_json_value *root);
/* meanings.c: what a number or text that methods leave in method_fields means; NULL: nobody says. */
const char *kdri_meaning(const char *stem);

/* --- report.c --------------------------------------------------------------------------------------- */

/* A result.json in full; free *out with kdri_free. */
kdr_status kdri_report_read(kdr_context *ctx, const char *path, char **out, size_t *size);
/* The page of a result, in memory; free *html with kdri_free. `file` is for errors. */
kdr_status kdri_report_render(kdr_context *ctx, const char *file, const char *json, size_t size, char **html,
                              int64_t *length);

#endif
