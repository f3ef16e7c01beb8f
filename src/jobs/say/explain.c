/* A second view of the samples: columns that explain what was found by others. SPDX-License-Identifier: BSD-3-Clause
 *
 * People cluster sentence embeddings and read words, or cluster principal components and read genes. Samples are compared by the columns of
 * a data set; profiles, markers, splits of levels, and what the report shows of samples come from its view, which has a row for each of them.
 * The views of all data sets are aligned and preprocessed together, by their own kind of data, after the fit. */
#include "core/names.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "prepare/prep.h"

static const char *called(const kdr_data *data)
{
	return data->path[0] ? data->path : data->name;
}

const kdr_data *kdri_shown(const kdr_data *data)
{
	return data->view ? data->view : data;
}

/* --- which rows belong together ------------------------------------------------------------------------ */

enum { NAMED = 3 };

/* The row of a view for each row of the data, and the other way round; -1: there is none. */
typedef struct pairing {
	const kdr_data *data, *view;
	int64_t *of_data, *of_view;
	int64_t both;
} pairing;

static kdr_status by_ids(kdr_context *ctx, pairing *p)
{
	kdr_status st = KDR_OK;
	kdri_names names = { .borrows = true };
	const kdr_data *const lists[] = { p->view, p->data };
	int64_t at;
	for (int i = 0; i < 2; i++) {
		for (int64_t r = 0; r < lists[i]->rows; r++) {
			const char *id = lists[i]->ids[r];
			KDRI_TRY(kdri_names_add(ctx, &names, id, strlen(id), &at));
			if (at != r)
				KDRI_FAIL(
				        ctx, KDR_ERR_DATA,
				        "%s: the id '%.60s' of row %lld is that of row %lld, too; rows are matched by ids, which must be unique",
				        called(lists[i]), id, (long long)kdri_file_row(lists[i], r),
				        (long long)kdri_file_row(lists[i], at));
		}
		if (i == 1)
			break; /* only tested */
		for (int64_t r = 0; r < p->data->rows; r++) {
			p->of_data[r] = kdri_names_find(&names, p->data->ids[r]);
			if (p->of_data[r] >= 0)
				p->of_view[p->of_data[r]] = r;
		}
		kdri_names_free(ctx, &names);
		names = (kdri_names){ .borrows = true };
	}
done:
	kdri_names_free(ctx, &names);
	return st;
}

static kdr_status by_position(kdr_context *ctx, pairing *p)
{
	kdr_status st;
	int64_t *mine = NULL, *other = NULL, *at = NULL, rows, others;
	KDRI_TRY(kdri_data_origin(ctx, p->data, &mine, &rows));
	KDRI_TRY(kdri_data_origin(ctx, p->view, &other, &others));
	if (rows != others)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "%s has %lld rows and %s %lld; without ids in both, rows are matched by position and must be as many",
		        called(p->data), (long long)rows, called(p->view), (long long)others);
	KDRI_TRY(KDRI_NEW(ctx, &at, rows));
	for (int64_t i = 0; i < rows; i++)
		at[i] = -1;
	for (int64_t i = 0; i < p->view->rows; i++)
		at[other[i]] = i;
	for (int64_t i = 0; i < p->data->rows; i++) {
		p->of_data[i] = at[mine[i]];
		if (p->of_data[i] >= 0)
			p->of_view[p->of_data[i]] = i;
	}
done:
	KDRI_FREE(ctx, mine, other, at);
	return st;
}

/* Says which rows have no counterpart. */
static void warn_alone(kdr_context *ctx, const kdr_data *from, const kdr_data *in, const int64_t *of)
{
	char list[200] = "", called_row[KDRI_ROW_NAME];
	int64_t count = 0;
	for (int64_t i = 0; i < from->rows; i++) {
		if (of[i] >= 0)
			continue;
		if (count < NAMED && from->ids)
			kdri_list_add(list, sizeof list, "%.40s", from->ids[i]);
		else if (count < NAMED)
			kdri_list_add(list, sizeof list, "%s", kdri_row_name(from, i, called_row));
		count++;
	}
	if (count > 0)
		kdri_warning(ctx, "%s: %lld row%s not in %s %s skipped: %s%s", called(from), (long long)count,
		             count == 1 ? "" : "s", called(in), count == 1 ? "is" : "are", list,
		             count > NAMED ? ", ..." : "");
}

/* The rows of both, in the order of the data. */
static kdr_status keep_both(kdr_context *ctx, const pairing *p, kdr_data **data, kdr_data **view)
{
	kdr_status st;
	int64_t *rows = NULL, *others = NULL, n = 0;
	bool same = p->both == p->view->rows;
	KDRI_TRY(KDRI_NEW(ctx, &rows, p->both));
	KDRI_TRY(KDRI_NEW(ctx, &others, p->both));
	for (int64_t i = 0; i < p->data->rows; i++)
		if (p->of_data[i] >= 0) {
			same = same && p->of_data[i] == n;
			rows[n] = i;
			others[n++] = p->of_data[i];
		}
	if (n < p->data->rows)
		KDRI_TRY(kdri_data_part(ctx, p->data, rows, n, data));
	if (!same)
		KDRI_TRY(kdri_data_part(ctx, p->view, others, n, view));
done:
	KDRI_FREE(ctx, rows, others);
	return st;
}

kdr_status kdr_data_explain(kdr_context *ctx, kdr_data **data, kdr_data *view)
{
	kdr_status st;
	kdr_data *part = NULL, *shown = NULL;
	KDRI_NEED(ctx, data && *data && view);
	pairing p = { .data = *data, .view = view };
	const bool ids = p.data->ids && p.view->ids;
	if (view->vectors)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: word vectors have no effect on texts that only explain; remove them",
		          called(view));
	KDRI_TRY(KDRI_NEW(ctx, &p.of_data, p.data->rows));
	KDRI_TRY(KDRI_NEW(ctx, &p.of_view, view->rows));
	for (int64_t i = 0; i < view->rows; i++)
		p.of_view[i] = -1;
	KDRI_TRY(ids ? by_ids(ctx, &p) : by_position(ctx, &p));
	for (int64_t i = 0; i < p.data->rows; i++)
		p.both += p.of_data[i] >= 0;
	if (p.both == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s and %s have no row in common%s%.60s%s%.60s%s",
		          called(p.data), called(view), ids ? " (ids such as '" : "",
		          ids && p.data->rows ? p.data->ids[0] : "", ids ? "' and '" : "",
		          ids && view->rows ? view->ids[0] : "", ids ? "')" : "");
	KDRI_TRY(keep_both(ctx, &p, &part, &shown));
	kdr_data *to = part ? part : *data;
	const kdr_data *from = shown ? shown : view;
	if (!to->labels && from->labels)
		KDRI_TRY(kdr_data_set_labels(ctx, to, from->labels, (const char *const *)from->classes,
		                             from->nclasses));
	warn_alone(ctx, p.data, view, p.of_data);
	warn_alone(ctx, view, p.data, p.of_view);
	kdr_data_free(to->view);
	to->view = shown ? shown : view;
	if (part)
		kdr_data_free(*data);
	if (shown)
		kdr_data_free(view);
	*data = to;
	part = shown = NULL;
done:
	kdr_data_free(part);
	kdr_data_free(shown);
	KDRI_FREE(ctx, p.of_data, p.of_view);
	return st;
}

/* --- explaining ----------------------------------------------------------------------------------------- */

kdr_status kdri_job_explain(kdr_context *ctx, kdr_result *r, kdr_data *const *data, bool *any,
                            kdr_data_kind *kind)
{
	kdr_status st;
	kdr_data **views = NULL;
	kdr_prep *prep = NULL;
	kdr_recipe recipe = { 0 };
	kdr_prep_options wanted;
	int64_t n = 0;
	kdr_prep_options_init(&wanted);
	KDRI_TRY(KDRI_NEW(ctx, &views, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++)
		if (data[t]->view)
			views[n++] = data[t]->view;
	*any = n > 0;
	if (n == 0)
		goto done;
	KDRI_TRY(kdri_job_alone(ctx, data[0]->vectors ? "--vectors" : "--explain", true));
	KDRI_TRY(kdri_prepare_sets(ctx, views, n, 0, false, &wanted, KDRI_PREP_RECIPE, true, &recipe, &prep));
	for (int64_t i = 0; i < n; i++)
		KDRI_TRY(kdri_table_encode(ctx, prep, i, views[i]));
	for (int64_t t = 0; t < r->ntasks; t++)
		if (data[t]->view) {
			KDRI_TRY(kdri_result_explain(ctx, r, t, data[t]->view));
			r->combined = r->combined || data[t]->combined;
		}
	*kind = recipe.kind;
done:
	kdr_prep_free(prep);
	kdri_free(ctx, views);
	return st;
}
