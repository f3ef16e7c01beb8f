/* The cells of some rows of a table of text. SPDX-License-Identifier: BSD-3-Clause */
#include "io/table/csv.h"

#include <stdio.h>

typedef struct picker {
	kdr_context *ctx;
	const kdri_dialect *dialect;
	const int64_t *place; /* by data row: which row of `cells` it becomes, or -1 */
	int64_t rows, at;     /* rows: entries of place; at: data rows read */
	bool header;          /* still to come */
	char **titles, **cells;
} picker;

static kdr_status pick_cells(const picker *p, const char *row, char **out)
{
	kdri_csv_cell cell;
	const char *at = row;
	for (int64_t f = 0; f < p->dialect->fields && at; f++) {
		cell = kdri_csv_cell_at(at, p->dialect->delimiter);
		KDRI_DO(kdri_csv_text(p->ctx, &cell, &out[f]));
		at = *cell.stop == '\n' ? NULL : cell.stop + 1;
	}
	return KDR_OK;
}

static kdr_status pick_row(void *user, const char *row, const char *end, bool added)
{
	picker *p = user;
	(void)end;
	(void)added;
	const char *q = row;
	while (kdri_is_blank(*q) && *q != p->dialect->delimiter)
		q++;
	if (kdri_at_newline(q))
		return KDR_OK;
	if (p->header) {
		p->header = false;
		return pick_cells(p, row, p->titles);
	}
	const int64_t to = p->at < p->rows ? p->place[p->at] : -1;
	p->at++;
	return to >= 0 ? pick_cells(p, row, p->cells + to * p->dialect->fields) : KDR_OK;
}

kdr_status kdri_csv_pick(kdr_context *ctx, const char *input, const kdri_dialect *dialect,
                         const int64_t *place, int64_t rows, char **titles, char **cells)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_window w = { 0 };
	picker p = { .ctx = ctx,
		     .dialect = dialect,
		     .place = place,
		     .rows = rows,
		     .header = dialect->header,
		     .titles = titles,
		     .cells = cells };
	KDRI_TRY(kdri_input_open(ctx, input, &in));
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	w.recode.from = (kdri_encoding)dialect->encoding;
	w.recode.returns = dialect->returns;
	KDRI_TRY(kdri_window_fill(ctx, &w));
	kdri_csv_skip_start(&w);
	KDRI_TRY(kdri_csv_each_row(ctx, &w, dialect->delimiter, pick_row, &p));
	KDRI_TRY(kdri_csv_same_rows(ctx, input, p.at, rows));
done:
	kdri_window_close(ctx, &w);
	kdri_input_close(ctx, in);
	return st;
}
