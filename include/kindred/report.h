/* A result as an HTML page. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_REPORT_H
#define KINDRED_REPORT_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/fit.h"

/* Reads the result.json at `result_json` ("-": standard input) and writes one self-contained HTML page to `output_html`,
 * completely or not at all. Missing fields are omitted from the page. Returns KDR_ERR_FORMAT for a file that is
 * not JSON and for a field of the wrong type, and KDR_ERR_EXISTS if the page exists and `force` is false. The same result
 * gives the same bytes. Cost: O(size of the JSON text) time and memory. */
KDR_API kdr_status kdr_report(kdr_context *ctx, const char *result_json, const char *output_html, bool force);
/* Does the same for a result in memory. Set kdr_job_options.map to have its samples drawn. Cost: as for kdr_report. */
KDR_API kdr_status kdr_report_result(kdr_context *ctx, const kdr_result *result, const char *output_html,
                                     bool force);

#endif
