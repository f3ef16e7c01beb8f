/* libFuzzer target: any bytes as an Excel workbook: as they are, or, after a first byte 1, as its parts, cut at bytes 0x1d:
 * the sheet, shared texts, formats, workbook and relations. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_file.h"

#include "io/archive/zip.h"

enum { PARTS = 5 };

/* Replaces an empty part. */
static const char *const usual[PARTS] = {
	"", "<sst/>", "<styleSheet/>", "<workbook><sheets><sheet name='S' r:id='r1'/></sheets></workbook>",
	"<Relationships><Relationship Id='r1' Type='x/worksheet' Target='worksheets/sheet1.xml'/>"
	"<Relationship Id='r2' Type='x/sharedStrings' Target='sharedStrings.xml'/>"
	"<Relationship Id='r3' Type='x/styles' Target='/xl/styles.xml'/></Relationships>"
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[PARTS] = { "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml",
		                                  "xl/styles.xml", "xl/workbook.xml",
		                                  "xl/_rels/workbook.xml.rels" };
	if (size == 0 || data[0] != 1)
		return fuzz_format(&kdri_format_xlsx, NULL, data, size);
	kdri_zip_part parts[PARTS];
	kdri_zip_new members[PARTS];
	data++, size--;
	for (int i = 0; i < PARTS; i++) {
		const uint8_t *end = size > 0 ? memchr(data, 0x1d, size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;
		parts[i] = n > 0 ? (kdri_zip_part){ data, n } : (kdri_zip_part){ usual[i], strlen(usual[i]) };
		members[i] = (kdri_zip_new){ names[i], &parts[i], 1 };
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	kdr_context *ctx = NULL;
	kdr_data *d = NULL;
	kdri_output *o = NULL;
	const char *path = fuzz_file(data, 0);
	if (kdr_context_new(&ctx, NULL) != KDR_OK || kdri_output_open(ctx, path, true, &o) != KDR_OK ||
	    kdri_zip_write(ctx, o, members, PARTS) != KDR_OK ||
	    kdri_output_finish(ctx, o, KDR_OK) != KDR_OK || kdri_data_new(ctx, "fuzz", path, &d) != KDR_OK)
		exit(1);
	kdr_context_set_threads(ctx, 1);
	if (kdri_format_xlsx.read(ctx, path, NULL, d) == KDR_OK)
		fuzz_check_data(d);
	else
		FUZZ_CHECK(kdr_context_error(ctx)[0]);
	kdr_data_free(d);
	kdr_context_free(ctx);
	unlink(path);
	return 0;
}
