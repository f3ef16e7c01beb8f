/* libFuzzer target: any bytes as the edits of a small result. Either an edited result comes out that can be read again, or a
 * status with one line of reason. SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "jobs/edit/relabel.h"
#include "jobs/report/report.h"
#include "jobs/write/result_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const results[] = {
	"{\"kindred\":\"0\",\"command\":\"cluster\",\"tasks\":[{\"name\":\"a\",\"n\":4,\"k\":3,\"sizes\":[2,1,1],\"labels\":[0,0,1,2],"
	"\"ids\":[\"p\",\"q\",\"r\",\"s\"],\"second\":[1,1,0,null],\"confidence\":[0.5,1,0.2,0],\"truth\":[\"u\",\"u\",\"v\",null],\"metrics\":{}},"
	"{\"name\":\"b\",\"n\":2,\"k\":2,\"labels\":[0,1],\"clusters\":[{\"number\":1,\"features\":[]}]}],"
	"\"correspondence\":[{\"from\":\"a\",\"to\":\"b\",\"matrix\":[[1,0],[0,1],[0,0]]}]}",
	"{\"kindred\":\"0\",\"command\":\"transfer\",\"tasks\":[{\"name\":\"s\",\"labels\":[],\"truth\":[\"x\",\"y\"]},"
	"{\"name\":\"t\",\"n\":3,\"labels\":[\"x\",\"y\",\"?\"],\"probabilities\":[[0.9,0.1],[0.2,0.8],[0.5,0.5]]}],"
	"\"calibration\":{\"classes\":[\"x\",\"y\"]}}",
};

static void fuzz_one(kdr_context *ctx, const char *result, const char *text, size_t size)
{
	kdri_json_value *root = NULL, *edits = NULL, *again = NULL;
	kdri_edited e = { .ctx = ctx };
	if (kdri_json_parse(ctx, "result.json", 1, result, strlen(result), &root) != KDR_OK ||
	    kdri_edited_open(ctx, "result.json", root, NULL, &e) != KDR_OK)
		abort();
	kdr_status st = kdri_json_parse(ctx, "edits.json", 1, text, size, &edits);
	if (st == KDR_OK)
		st = kdri_edits_apply(&e, "edits.json", edits);
	if (st != KDR_OK && !strstr(kdr_context_error(ctx), "edits.json: line"))
		abort();
	if (st == KDR_OK && (kdri_edited_tree(&e, "again.json", &again) != KDR_OK ||
	                     kdri_result_file_check(ctx, "again.json", again) != KDR_OK))
		abort();
	kdri_json_value_free(again);
	kdri_json_value_free(edits);
	kdri_edited_close(&e);
	kdri_json_value_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kdr_context *ctx = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return 0;
	for (size_t r = 0; r < sizeof results / sizeof *results; r++)
		fuzz_one(ctx, results[r], (const char *)data, size);
	kdr_context_free(ctx);
	return 0;
}
