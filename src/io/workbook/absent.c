/* Excel workbooks in a build without expat. SPDX-License-Identifier: BSD-3-Clause */
#include "io/io.h"

static kdr_status read_none(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	(void)options;
	(void)data;
	return kdri_absent(ctx, path, "expat, which Excel workbooks need", "save the sheet as CSV");
}

static const char *const endings[] = { ".xlsx", ".xlsm", NULL };

const kdri_format kdri_format_xlsx = {
	.id = "xlsx", .endings = endings, .read = read_none, .help = "Excel: not in this build"
};
