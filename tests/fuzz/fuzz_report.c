/* libFuzzer target: any bytes as a result.json. Either a page comes out, with no markup of the file's own
 * making, or a status with one line of reason. SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "jobs/report/report.h"
#include "jobs/write/result_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kdr_context *ctx = NULL;
	char *html = NULL;
	size_t length = 0;
	kdri_json_value *root = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return 0;
	kdr_status st = kdri_json_parse(ctx, "fuzz.json", 1, (const char *)data, size, &root);
	if (st == KDR_OK)
		st = kdri_result_file_check(ctx, "fuzz.json", root);
	if (st == KDR_OK)
		st = kdri_report_page(ctx, root, &html, &length);
	if ((st == KDR_OK) != (html != NULL) || (st != KDR_OK && !kdr_context_error(ctx)[0]))
		abort();
	for (size_t i = 0; i + 1 < length; i++)
		if (html[i] == '<' && (html[i + 1] == 's' || html[i + 1] == 'S') &&
		    strncmp(html + i, "<script", KDRI_MIN(7, length - i)) == 0)
			abort();
	kdri_free(ctx, html);
	kdri_json_value_free(root);
	kdr_context_free(ctx);
	return 0;
}
