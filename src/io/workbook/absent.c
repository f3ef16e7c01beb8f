/* Excel workbooks in a build without expat. SPDX-License-Identifier: BSD-3-Clause */
#include "io/io.h"
#include "io/workbook/xlsx_book.h"

kdr_status kdri_xlsx_append_columns(kdr_context *ctx, const kdri_added *added, int64_t sheets,
                                    const char *const *titles, int count, const char *path, bool force)
{
	(void)sheets;
	(void)titles;
	(void)count;
	(void)path;
	(void)force;
	return kdri_absent(ctx, added->input, "expat, which Excel workbooks need", "save the sheet as CSV");
}

kdr_status kdri_xlsx_sheets(kdr_context *ctx, const char *path, char ***out, int64_t *count)
{
	(void)out;
	(void)count;
	return kdri_absent(ctx, path, "expat, which Excel workbooks need", "save the sheet as CSV");
}

kdr_status kdri_xlsx_text(kdr_context *ctx, const char *path, kdri_input **out)
{
	(void)out;
	return kdri_absent(ctx, path, "expat, which Excel workbooks need", "save the sheet as CSV");
}

static kdr_status read_none(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	(void)options;
	(void)data;
	return kdri_absent(ctx, path, "expat, which Excel workbooks need", "save the sheet as CSV");
}

static const char *const endings[] = { ".xlsx", ".xlsm", NULL };

const kdri_format kdri_format_xlsx = {
	.id = "xlsx",
	.endings = endings,
	.read = read_none,
	.holds = KDR_HOLDS_COLUMNS,
	.help = "Excel: not in this build",
};
