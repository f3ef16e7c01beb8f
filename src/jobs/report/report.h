/* The report: a checked result and the project's own scripts and styles as one page. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sit in one block of JSON; what draws them is report/, compiled in (assets.h). */
#ifndef KDRI_REPORT_H
#define KDRI_REPORT_H

#include "core/internal.h"
#include "core/json_write.h"

/* block.c: the writer of a page's data. */
kdri_json kdri_page_json(kdr_context *ctx);
/* The shortened result: fields that the page does not show are omitted, and numbers are rounded. `root` is an
 * object. */
void kdri_page_block(kdri_json *j, const kdri_json_value *root);
/* about.c: the registry's information about the method, its options and fields. */
void kdri_page_about(kdri_json *j, const kdri_json_value *root);
/* meanings.c: the explanation of a number or text in method_fields; NULL: none. */
const char *kdri_meaning(const char *stem);

/* The page of a result, in memory; free *html with kdri_free. */
kdr_status kdri_report_page(kdr_context *ctx, const kdri_json_value *root, char **html, size_t *length);
kdr_status kdri_report_write(kdr_context *ctx, const kdri_json_value *root, const char *output_html,
                             bool force);

#endif
