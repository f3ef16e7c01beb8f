/* Combines files that the ranks have read, each its own, into one task. SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank alone knows neither the position of its rows among all rows nor, if its file has no rows, the columns: without
 * cells, a title may belong to a number or to a category of five texts. A part without rows therefore gets everything
 * that is the same for all rows from the first rank that has some: the kind of matrix, columns and their names, their
 * description in a table, the list of classes. Values that need all rows of a table (dates are counted from the
 * earliest, --missing mean is the mean of all) are not available from one file of several, and such options are errors,
 * as for parts of one file. */
#include "api/place.h"
#include "comm/comm.h"
#include "core/names.h"

/* Bytes that are written by one rank and read by others with the same lines. */
typedef struct pack {
	kdr_context *ctx;
	char *bytes;
	int64_t used, size; /* size: of the data read; while writing, the available space */
	bool reads;
} pack;

static kdr_status place_move(pack *p, void *value, size_t n)
{
	if (n == 0)
		return KDR_OK;
	if (!p->bytes || p->used + (int64_t)n > p->size) {
		if (p->reads)
			return kdri_fail(p->ctx, KDR_ERR_INTERNAL,
			                 "the ranks sent messages of different sizes");
		int64_t room = 2 * p->size + (int64_t)n;
		KDRI_DO(KDRI_GROW(p->ctx, &p->bytes, room));
		p->size = room;
	}
	if (p->reads)
		memcpy(value, p->bytes + p->used, n);
	else
		memcpy(p->bytes + p->used, value, n);
	p->used += (int64_t)n;
	return KDR_OK;
}

static kdr_status place_number(pack *p, int64_t *value)
{
	return place_move(p, value, sizeof *value);
}

static kdr_status place_text(pack *p, char **value)
{
	int64_t n = p->reads ? 0 : (int64_t)strlen(*value);
	KDRI_DO(place_number(p, &n));
	if (p->reads)
		KDRI_DO(KDRI_NEW0(p->ctx, value, n + 1));
	return place_move(p, *value, (size_t)n);
}

/* A list that may be NULL. */
static kdr_status texts(pack *p, char ***list, int64_t count)
{
	int64_t present = *list != NULL;
	KDRI_DO(place_number(p, &present));
	if (!present)
		return KDR_OK;
	if (p->reads)
		KDRI_DO(KDRI_NEW0(p->ctx, list, count));
	for (int64_t i = 0; *list && i < count; i++)
		KDRI_DO(place_text(p, &(*list)[i]));
	return KDR_OK;
}

static kdr_status column(pack *p, kdr_column *c)
{
	kdr_status st;
	char *name = (char *)c->name, *why = (char *)c->why;
	int64_t kind = c->kind, constant = c->constant;
	KDRI_TRY(place_number(p, &c->number));
	KDRI_TRY(place_number(p, &kind));
	KDRI_TRY(place_number(p, &c->features));
	KDRI_TRY(place_number(p, &constant));
	c->kind = (kdr_column_kind)kind;
	c->constant = constant != 0;
	st = place_text(p, &name);
	c->name = name;
	if (st == KDR_OK)
		st = place_text(p, &why);
	c->why = why;
done:
	return st;
}

/* What columns were in a table: none of it is about rows. */
static kdr_status sheet(pack *p, kdri_sheet **of)
{
	int64_t present = *of != NULL;
	KDRI_DO(place_number(p, &present));
	if (!present)
		return KDR_OK;
	if (p->reads)
		KDRI_DO(KDRI_NEW0(p->ctx, of, 1));
	kdri_sheet *s = *of;
	if (!s)
		return KDR_OK;
	int64_t columns = s->ncolumns, has_missing = s->missing != NULL, latin = s->latin;
	KDRI_DO(place_number(p, &columns));
	KDRI_DO(place_number(p, &s->nfeatures));
	KDRI_DO(place_number(p, &latin));
	KDRI_DO(place_number(p, &has_missing));
	s->latin = latin != 0;
	if (p->reads) {
		KDRI_DO(KDRI_NEW0(p->ctx, &s->columns, columns));
		KDRI_DO(KDRI_NEW0(p->ctx, &s->origin, columns));
		KDRI_DO(KDRI_NEW0(p->ctx, &s->order, columns));
		KDRI_DO(KDRI_NEW(p->ctx, &s->source, s->nfeatures));
		s->ncolumns = columns;
	}
	for (int64_t j = 0; j < columns; j++)
		KDRI_DO(column(p, &s->columns[j]));
	for (int64_t j = 0; j < s->nfeatures; j++)
		KDRI_DO(place_number(p, &s->source[j]));
	if (has_missing)
		KDRI_DO(place_text(p, &s->missing));
	int64_t tokens = s->nna;
	KDRI_DO(place_number(p, &tokens));
	s->nna = tokens;
	return texts(p, &s->na, tokens);
}

/* Everything that is the same for all rows. `d` while reading: a data set with only a name. */
static kdr_status layout(pack *p, kdr_data *d)
{
	int64_t kind = d->kind, cols = d->cols, ids = d->ids != NULL, classes = d->nclasses;
	int64_t labels = d->labels != NULL, excerpts = d->excerpts != NULL;
	KDRI_DO(place_number(p, &kind));
	KDRI_DO(place_number(p, &cols));
	KDRI_DO(place_number(p, &ids));
	KDRI_DO(place_number(p, &excerpts));
	KDRI_DO(place_number(p, &labels));
	KDRI_DO(place_number(p, &classes));
	if (p->reads) {
		KDRI_DO(kdri_data_no_rows(p->ctx, d, (kdr_mat_kind)kind, cols));
		if (ids)
			KDRI_DO(KDRI_NEW(p->ctx, &d->ids, 0));
		if (excerpts)
			KDRI_DO(KDRI_NEW(p->ctx, &d->excerpts, 0));
		if (labels)
			KDRI_DO(KDRI_NEW(p->ctx, &d->labels, 0));
		d->nclasses = classes;
	}
	KDRI_DO(texts(p, &d->features, cols));
	KDRI_DO(texts(p, &d->classes, classes));
	return sheet(p, &d->sheet);
}

/* Whether the columns of the part without rows, as far as known, match those of the part with rows. */
static bool place_fits(const kdr_data *none, const kdr_data *like)
{
	const kdri_sheet *a = none->sheet, *b = like->sheet;
	if (none->cols > 0 && none->cols != like->cols)
		return false;
	for (int64_t j = 0; none->features && like->features && j < none->cols; j++)
		if (strcmp(none->features[j], like->features[j]) != 0)
			return false;
	if (!a || !b)
		return true;
	/* A header may have one title less, where rows begin with names. */
	int64_t more = b->ncolumns - a->ncolumns;
	for (int64_t j = 0; (more == 0 || more == 1) && j < a->ncolumns; j++)
		if (strcmp(a->columns[j].name, b->columns[j + more].name) != 0)
			return false;
	return more == 0 || more == 1;
}

/* The layout of rank `from` in the parts that have no rows. */
static kdr_status take_layout(kdr_context *ctx, kdr_data *data, int from)
{
	kdr_status st;
	pack p = { .ctx = ctx };
	kdr_data *like = NULL;
	if (kdri_rank(ctx) == from)
		KDRI_TRY(layout(&p, data));
	int64_t bytes = p.used;
	KDRI_TRY(kdri_share(ctx, &bytes, sizeof bytes, from));
	if (kdri_rank(ctx) != from)
		KDRI_TRY(KDRI_GROW(ctx, &p.bytes, bytes));
	KDRI_TRY(kdri_share(ctx, p.bytes, bytes, from));
	if (data->rows > 0)
		goto done;
	p = (pack){ .ctx = ctx, .bytes = p.bytes, .size = bytes, .reads = true };
	KDRI_TRY(kdri_data_new(ctx, data->name, data->path, &like));
	KDRI_TRY(layout(&p, like));
	if (!place_fits(data, like))
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "%s: the file has no rows, and its columns differ from those of the file of rank %d, which has %lld",
		        data->path, from, (long long)like->cols);
	like->streamed = data->streamed;
	like->seconds = data->seconds;
	kdr_data old = *data;
	*data = *like;
	*like = old;
done:
	kdr_data_free(like);
	kdri_free(ctx, p.bytes);
	return st;
}

static kdr_status check_table(kdr_context *ctx, const kdr_data *d)
{
	static const char *const all_rows[] = { "mean", "median", "drop-column" };
	const kdri_sheet *s = d->sheet;
	for (size_t i = 0; s && s->missing && i < sizeof all_rows / sizeof all_rows[0]; i++)
		if (strcmp(s->missing, all_rows[i]) == 0)
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "%s: --missing %s needs all rows, but each rank has its own file here; use error, zero or drop-row",
			        d->path, s->missing);
	for (int64_t j = 0; s && j < s->ncolumns; j++)
		if (s->columns[j].kind == KDR_COLUMN_DATE)
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "%s: column %lld (%s) has dates, which are counted from the earliest of all rows, but each rank has its own file here; use --columns '-%s' to skip it",
			        d->path, (long long)j + 1, s->columns[j].name, s->columns[j].name);
	return KDR_OK;
}

kdr_status kdri_data_place(kdr_context *ctx, kdr_data *data)
{
	kdr_status st;
	int64_t first = 0, all = 0, *each = NULL, *origin = NULL;
	bool known = data->origin != NULL, none = data->rows == 0;
	int from = 0;
	KDRI_TRY(kdri_any(ctx, &known));
	if (known || !kdri_several(ctx))
		goto done;
	KDRI_TRY(check_table(ctx, data));
	KDRI_TRY(KDRI_NEW(ctx, &each, kdri_ranks(ctx)));
	KDRI_TRY(kdri_each(ctx, data->rows, each));
	for (int r = 0; r < kdri_ranks(ctx); all += each[r++])
		first += r < kdri_rank(ctx) ? each[r] : 0;
	if (all == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "data set %s: no rank has a row of it", data->name);
	KDRI_TRY(kdri_any(ctx, &none));
	while (each[from] == 0)
		from++;
	if (none)
		KDRI_TRY(take_layout(ctx, data, from));
	bool left = data->nleft_out > 0;
	KDRI_TRY(kdri_any(ctx, &left));
	if (left)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &origin, data->rows));
	for (int64_t i = 0; i < data->rows; i++)
		origin[i] = first + i;
	data->origin = origin;
	data->file_rows = all;
done:
	kdri_free(ctx, each);
	return st;
}

#ifdef KDRI_HAVE_MPI
#include "kindred/mpi.h"

kdr_status kdr_mpi_place(kdr_context *ctx, kdr_data *data)
{
	if (!ctx || !data)
		return KDR_ERR_ARGUMENT;
	kdri_enter(ctx);
	return kdri_leave(ctx, kdri_data_place(ctx, data));
}
#endif
