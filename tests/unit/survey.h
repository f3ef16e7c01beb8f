/* Compares the findings about a table's cells. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_SURVEY_H
#define KDRI_TESTS_SURVEY_H

#include "io/table/table.h"

/* Inspects all cells of the bytes; the first `first` rows one after the other. The caller frees both results if *fields > 0. */
static inline kdr_status survey_bytes(kdr_context *ctx, const void *bytes, size_t size,
                                      const kdr_read_options *options, int64_t first, kdri_csv_layout *layout,
                                      kdri_survey *out)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_window w = { 0 };
	*layout = (kdri_csv_layout){ .id = -1, .label = -1, .tasks = -1 };
	*out = (kdri_survey){ 0 };
	KDRI_TRY(kdri_input_from_memory(ctx, bytes, size, "t", &in));
	KDRI_TRY(kdri_csv_start(ctx, in, options, '\0', &w, layout));
	KDRI_TRY(kdri_survey_run(ctx, &w, layout, first, out));
done:
	kdri_window_close(ctx, &w);
	kdri_input_close(ctx, in);
	return st;
}

#define SURVEY_SAME(member) \
	if (memcmp(&a->member, &b->member, sizeof a->member) != 0) \
	return #member

static inline const char *survey_evidence_difference(const kdri_evidence *a, const kdri_evidence *b)
{
	SURVEY_SAME(cells);
	SURVEY_SAME(missing);
	SURVEY_SAME(numbers);
	SURVEY_SAME(dates);
	SURVEY_SAME(infinite);
	SURVEY_SAME(decimals);
	SURVEY_SAME(point_differs);
	SURVEY_SAME(comma_differs);
	SURVEY_SAME(grouped);
	SURVEY_SAME(percent);
	SURVEY_SAME(unit);
	SURVEY_SAME(currency);
	SURVEY_SAME(orders);
	SURVEY_SAME(either);
	SURVEY_SAME(running);
	SURVEY_SAME(whole);
	SURVEY_SAME(digits);
	SURVEY_SAME(padded);
	SURVEY_SAME(missing_line);
	SURVEY_SAME(text_line);
	SURVEY_SAME(infinite_line);
	SURVEY_SAME(mixed_line);
	SURVEY_SAME(undated_line);
	SURVEY_SAME(unclear_line);
	SURVEY_SAME(many);
	SURVEY_SAME(repeats);
	SURVEY_SAME(unwatched);
	SURVEY_SAME(seen_count);
	SURVEY_SAME(texts.count);
	if (strcmp(a->text, b->text) != 0 || strcmp(a->undated, b->undated) != 0 ||
	    strcmp(a->mixed, b->mixed) != 0 || strcmp(a->unclear, b->unclear) != 0)
		return "text of the first cell";
	for (int64_t i = 0; i < a->texts.count; i++)
		if (strcmp(a->texts.names[i], b->texts.names[i]) != 0)
			return "texts";
	return NULL;
}

/* What differs between two surveys, or NULL. */
static inline const char *survey_difference(const kdri_survey *a, const kdri_survey *b, int64_t fields)
{
	SURVEY_SAME(rows);
	SURVEY_SAME(ragged);
	SURVEY_SAME(ragged_line);
	SURVEY_SAME(ragged_fields);
	SURVEY_SAME(torn);
	SURVEY_SAME(torn_line);
	SURVEY_SAME(torn_field);
	SURVEY_SAME(unclosed_line);
	SURVEY_SAME(not_utf8);
	for (int64_t j = 0; j < fields; j++) {
		const char *what = survey_evidence_difference(&a->fields[j], &b->fields[j]);
		if (what)
			return what;
	}
	return NULL;
}

#endif
