/* libFuzzer target: two bytes of options, wishes about columns up to a byte 0x1d, then any bytes as a table of text: read,
 * inspected, preprocessed, and read again as a model would have it read. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/table/table.h"
#include "prepare/prep.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/survey.h"

static void check_sheet(const kdr_data *d)
{
	const kdri_sheet *s = d->sheet;
	int64_t features = 0;
	FUZZ_CHECK(s && s->source && s->nfeatures == d->cols);
	for (int64_t c = 0; c < s->ncolumns; c++) {
		FUZZ_CHECK(s->columns[c].name && s->columns[c].why && s->columns[c].number == c + 1);
		FUZZ_CHECK(kdr_column_kind_name(s->columns[c].kind)[0] && isfinite(s->origin[c]));
		features += s->columns[c].features;
	}
	FUZZ_CHECK(features == d->cols);
	for (int64_t j = 0; j < d->cols; j++)
		FUZZ_CHECK(s->source[j] >= 0 && s->source[j] < s->ncolumns &&
		           (!s->fill || isfinite(s->fill[j])));
	for (int64_t h = 0; h < s->nholes; h++)
		FUZZ_CHECK(s->hole_row[h] < d->rows && s->hole_feature[h] < d->cols);
	for (int64_t i = 1; i < d->nleft_out; i++)
		FUZZ_CHECK(d->left_out[i].row > d->left_out[i - 1].row);
}

static kdr_data *read_bytes(kdr_context *ctx, const kdr_read_options *o, const uint8_t *data, size_t size)
{
	kdri_input *in = NULL;
	kdr_data *d = NULL;
	if (!fuzz_open(ctx, data, size, &in))
		return NULL;
	FUZZ_CHECK(kdri_data_new(ctx, "fuzz", "fuzz", &d) == KDR_OK);
	kdr_status st = kdri_csv_read(ctx, in, o, '\0', d);
	fuzz_check_data(ctx, st, d);
	kdri_input_close(ctx, in);
	if (st == KDR_OK)
		return d;
	kdr_data_free(d);
	return NULL;
}

static void inspect(kdr_context *ctx, const kdr_read_options *o, const uint8_t *data, size_t size)
{
	kdri_input *in = NULL;
	kdr_findings found = { .allocator = ctx->allocator };
	if (!fuzz_open(ctx, data, size, &in))
		return;
	kdr_status st = kdri_csv_inspect(ctx, in, o, '\0', &found);
	FUZZ_CHECK(st == KDR_OK || kdr_context_error(ctx)[0]);
	for (int64_t i = 0; i < found.count; i++) {
		FUZZ_CHECK(found.items[i].found[0] && found.items[i].then[0] &&
		           !strchr(found.items[i].found, '\n'));
		kdri_free(ctx, (char *)found.items[i].found);
		kdri_free(ctx, (char *)found.items[i].then);
	}
	kdri_free(ctx, found.items);
	kdri_input_close(ctx, in);
}

/* Cells that are inspected in slices give what cells inspected one after the other give. */
static void survey_both_ways(kdr_context *ctx, const kdr_read_options *o, const uint8_t *data, size_t size)
{
	kdri_csv_layout l[2];
	kdri_survey s[2];
	kdr_status st = survey_bytes(ctx, data, size, o, INT64_MAX, &l[0], &s[0]);
	FUZZ_CHECK(survey_bytes(ctx, data, size, o, 1, &l[1], &s[1]) == st);
	FUZZ_CHECK(st != KDR_OK || !survey_difference(&s[0], &s[1], l[0].fields));
	for (int i = 0; i < 2; i++) {
		kdri_survey_free(ctx, &l[i], &s[i]);
		kdri_csv_layout_free(ctx, &l[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const missing[] = { NULL,       "zero",        "mean",  "median",
		                               "drop-row", "drop-column", "error", NULL };
	static const char *const encoding[] = { NULL, "utf-8", "latin-1", "utf-16le" };
	static const char *const na[] = { "-9", "x", NULL };
	char columns[128];
	const uint8_t *end = size > 2 ? memchr(data + 2, 0x1d, size - 2) : NULL;
	if (!end || (size_t)(end - data - 2) >= sizeof columns)
		return 0;
	memcpy(columns, data + 2, (size_t)(end - data - 2));
	columns[end - data - 2] = '\0';
	kdr_read_options o = {
		.size = sizeof(kdr_read_options),
		.missing = missing[data[0] & 7],
		.header = (kdr_header)((data[0] >> 3 & 3) % 3),
		.decimal = data[0] & 32   ? ","
		           : data[0] & 64 ? "."
		                          : NULL,
		.encoding = encoding[data[1] & 3],
		.na = data[1] & 4 ? na : NULL,
		.delimiter = data[1] & 8 ? ";" : NULL,
		.task_column = data[1] & 16 ? "1" : NULL,
		.label_column = data[1] & 32 ? "2" : NULL,
		.columns = columns,
	};
	size -= (size_t)(end + 1 - data);
	kdr_context *ctx = fuzz_context();
	inspect(ctx, &o, end + 1, size);
	survey_both_ways(ctx, &o, end + 1, size);
	kdr_data *d = read_bytes(ctx, &o, end + 1, size), *again = NULL;
	if (d) {
		kdr_prep *prep = NULL;
		kdr_prep_options how = { .size = sizeof(kdr_prep_options),
			                 .scale = data[1] & 64 ? KDR_SCALE_STANDARD : KDR_SCALE_NONE };
		check_sheet(d);
		kdr_status st = kdr_prepare(ctx, &d, 1, &how, &prep);
		FUZZ_CHECK(st == KDR_OK || kdr_context_error(ctx)[0]);
		if (st == KDR_OK) {
			fuzz_check_data(ctx, st, d);
			o.columns = prep->reading_columns;
			again = read_bytes(ctx, &o, end + 1, size);
			st = again ? kdr_prep_apply(ctx, prep, 0, again) : KDR_OK;
			FUZZ_CHECK(st == KDR_OK || kdr_context_error(ctx)[0]);
		}
		kdr_prep_free(prep);
	}
	kdr_data_free(again);
	kdr_data_free(d);
	kdr_context_free(ctx);
	return 0;
}
