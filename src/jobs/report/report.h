/* The report: a checked result and the project's own scripts and styles as one page. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sit in one block of JSON; what draws them is report/, compiled in (assets.h). */
#ifndef KDRI_REPORT_H
#define KDRI_REPORT_H

#include "core/internal.h"
#include "core/json_write.h"

/* hash.c: the SHA-256 of bytes in base64, as a content policy requires it. `out` has space for 45 bytes. */
void kdri_page_hash(const char *bytes, size_t count, char *out);

/* check.c: whether it is a result, and every field of the type it should have. */
kdr_status kdri_report_check(kdr_context *ctx, const char *file, const kdri_json_value *root);

/* block.c: the writer of a page's data. */
kdri_json kdri_page_json(kdr_context *ctx);
/* The shortened result: fields that the page does not show are omitted, and numbers are rounded. `root` is an
 * object. */
void kdri_page_block(kdri_json *j, const kdri_json_value *root);
/* about.c: the registry's information about the method, its options and fields. */
void kdri_page_about(kdri_json *j, const kdri_json_value *root);
/* meanings.c: the explanation of a number or text in method_fields; NULL: none. */
const char *kdri_meaning(const char *stem);

/* report.c: a result.json in full; free *out with kdri_free. */
kdr_status kdri_report_read(kdr_context *ctx, const char *path, char **out, size_t *size);
/* The page of a result, in memory; free *html with kdri_free. */
kdr_status kdri_report_page(kdr_context *ctx, const kdri_json_value *root, char **html, size_t *length);
kdr_status kdri_report_write(kdr_context *ctx, const kdri_json_value *root, const char *output_html,
                             bool force);

#endif
