/* The text of many rows, made by several threads and written in order. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/write/row_text.h"

enum { ROWS = 1024, ROW_BYTES = 128 };

bool kdri_row_text_shared(const kdr_context *ctx, int64_t rows)
{
	return ctx->threads > 1 && rows > 2 * ROWS;
}

kdr_status kdri_row_text_write(kdr_context *ctx, const kdri_row_text *t, int64_t rows)
{
	kdr_status st = KDR_OK;
	const int blocks = (int)KDRI_MIN(ctx->threads, (rows + ROWS - 1) / ROWS);
	const size_t room = (size_t)ROWS * ROW_BYTES;
	char *text = NULL;
	size_t *used = NULL;
	if (!kdri_row_text_shared(ctx, rows))
		return t->write(t->user, 0, rows);
	KDRI_TRY(KDRI_NEW(ctx, &text, blocks * (int64_t)room));
	KDRI_TRY(KDRI_NEW(ctx, &used, blocks));
	for (int64_t first = 0; first < rows; first += (int64_t)blocks * ROWS) {
		const int here = (int)KDRI_MIN(blocks, (rows - first + ROWS - 1) / ROWS);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static, 1)
		for (int b = 0; b < here; b++) {
			const int64_t begin = first + b * ROWS, end = KDRI_MIN(rows, begin + ROWS);
			if (!t->make(t->user, b, begin, end, text + (size_t)b * room, room, &used[b]))
				used[b] = SIZE_MAX;
		}
		for (int b = 0; b < here; b++) {
			const int64_t begin = first + b * ROWS, end = KDRI_MIN(rows, begin + ROWS);
			KDRI_TRY(used[b] == SIZE_MAX ? t->write(t->user, begin, end)
			                             : t->take(t->user, text + (size_t)b * room, used[b]));
		}
	}
done:
	KDRI_FREE(ctx, text, used);
	return st;
}
