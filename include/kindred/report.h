/* A result as a page to read. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_REPORT_H
#define KINDRED_REPORT_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/fit.h"

/* Reads the result.json at `result_json` ("-": standard input) and writes one self-contained HTML page
 * to `output_html`, whole or not at all. Fields that are missing are left out of the page; a file that
 * is not JSON, or a field of the wrong type, is KDR_ERR_FORMAT. An existing page is KDR_ERR_EXISTS
 * unless `force`. The same result gives the same bytes. */
KDR_API kdr_status kdr_report(kdr_context *ctx, const char *result_json, const char *output_html, bool force);
/* The same from a result that was not written. */
KDR_API kdr_status kdr_report_result(kdr_context *ctx, const kdr_result *result, const char *output_html,
                                     bool force);

#endif
