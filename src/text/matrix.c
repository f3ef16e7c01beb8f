/* The counts of one task, and the data set made of them. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

/* The number of a name, which may be new; -1 for none. */
static kdr_status number_name(kdr_context *ctx, const char *name, size_t length, kdri_terms **names,
                              int32_t *out)
{
	kdr_status st = KDR_OK;
	*out = -1;
	if (!name)
		return st;
	if (!*names)
		KDRI_TRY(kdri_terms_new(ctx, names));
	KDRI_TRY(kdri_terms_add(ctx, *names, name, length, kdri_term_hash(name, length), out));
done:
	return st;
}

kdr_status kdri_counts_document(kdr_context *ctx, kdri_counts *c, const kdri_document *d)
{
	if (c->rows == c->rows_room) {
		int64_t room = 2 * c->rows_room + 256;
		KDRI_DO(KDRI_GROW(ctx, &c->ids, room));
		KDRI_DO(KDRI_GROW(ctx, &c->excerpts, room));
		KDRI_DO(KDRI_GROW(ctx, &c->labels, room));
		KDRI_DO(KDRI_GROW(ctx, &c->language, room));
		KDRI_DO(KDRI_GROW(ctx, &c->task_of, room));
		KDRI_DO(KDRI_GROW(ctx, &c->end, room));
		c->rows_room = room;
	}
	KDRI_DO(number_name(ctx, d->label, d->label_length, &c->classes, &c->labels[c->rows]));
	KDRI_DO(number_name(ctx, d->task, d->task_length, &c->tasks, &c->task_of[c->rows]));
	KDRI_DO(kdri_strndup(ctx, d->id, d->id_length, &c->ids[c->rows]));
	c->excerpts[c->rows++] = NULL;
	return KDR_OK;
}

kdr_status kdri_counts_append(kdr_context *ctx, kdri_counts *c, const kdri_chunk *chunk,
                              const int32_t *number)
{
	int64_t used = c->pair_count, p = 0;
	KDRI_DO(KDRI_ROOM(ctx, &c->pairs, &c->pair_room, used + chunk->pair_count));
	for (int64_t d = 0; d < chunk->count; d++) {
		for (; p < chunk->pair_end[d]; p++) {
			int32_t term = number[chunk->pairs[p].term];
			if (term >= 0)
				c->pairs[used++] = (kdri_pair){ term, chunk->pairs[p].count };
		}
		KDRI_DO(kdri_strdup(ctx, chunk->excerpts + d * KDRI_EXCERPT_ROOM, &c->excerpts[c->done]));
		c->language[c->done] = chunk->language[d];
		c->end[c->done++] = used;
	}
	c->pair_count = used;
	return KDR_OK;
}

void kdri_counts_languages(kdri_counts *c, int languages, int64_t *texts)
{
	int64_t own[KDRI_LANGUAGES] = { 0 };
	int main = 0;
	for (int64_t i = 0; i < c->done; i++)
		if (c->language[i] >= 0)
			own[c->language[i]]++;
	for (int l = 1; l < languages; l++)
		main = own[l] > own[main] ? l : main;
	for (int64_t i = 0; i < c->done; i++) {
		if (c->language[i] < 0)
			c->language[i] = (int8_t)main;
		texts[c->language[i]]++;
	}
}

/* Drops pairs without a column and, if requested, rows without pairs; pairs then refer to columns, each at most once
 * per row. `last` has space for all columns. */
static int64_t matrix_compact(kdr_context *ctx, kdri_counts *c, const int32_t *column, bool drop_empty,
                              int64_t *last)
{
	int64_t used = 0, p = 0, row = 0;
	for (int64_t i = 0; i < c->rows; i++) {
		int64_t first = used;
		for (; p < c->end[i]; p++) {
			int32_t j = column[c->pairs[p].term];
			if (j < 0)
				continue;
			if (last[j] > first) {
				c->pairs[last[j] - 1].count += c->pairs[p].count;
				continue;
			}
			c->pairs[used++] = (kdri_pair){ j, c->pairs[p].count };
			last[j] = used;
		}
		if (drop_empty && used == first) {
			KDRI_FREE(ctx, c->ids[i], c->excerpts[i]);
			continue;
		}
		c->ids[row] = c->ids[i];
		c->excerpts[row] = c->excerpts[i];
		c->labels[row] = c->labels[i];
		c->task_of[row] = c->task_of[i];
		if (c->origin)
			c->origin[row] = i;
		c->end[row++] = used;
	}
	int64_t dropped = c->rows - row;
	c->rows = c->done = row;
	c->pair_count = used;
	return dropped;
}

/* Rows with their columns in increasing order, by two counting passes: entries are moved to the lists of their
 * columns, row by row, and from there, column by column, back to their rows. */
static kdr_status to_csr(kdr_context *ctx, const kdri_counts *c, int64_t cols, bool binary, kdr_data *out)
{
	kdr_status st;
	int64_t *start = NULL, nnz = c->pair_count;
	struct {
		int64_t row;
		int32_t count;
	} *by_column = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &start, cols + 1));
	KDRI_TRY(KDRI_NEW(ctx, &by_column, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &out->rowptr, c->rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &out->col, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &out->val, nnz));
	for (int64_t p = 0; p < nnz; p++)
		start[c->pairs[p].term + 1]++;
	for (int64_t j = 0; j < cols; j++)
		start[j + 1] += start[j];
	for (int64_t i = 0, p = 0; i < c->rows; i++) {
		out->rowptr[i] = p;
		for (; p < c->end[i]; p++) {
			int64_t at = start[c->pairs[p].term]++;
			by_column[at].row = i;
			by_column[at].count = c->pairs[p].count;
		}
	}
	/* start[j] is now where column j ends; rowptr[i] runs through row i and is set back after. */
	for (int64_t j = 0, p = 0; j < cols; j++)
		for (; p < start[j]; p++) {
			int64_t at = out->rowptr[by_column[p].row]++;
			out->col[at] = (int32_t)j;
			out->val[at] = binary ? 1 : by_column[p].count;
		}
	for (int64_t i = c->rows; i > 0; i--)
		out->rowptr[i] = out->rowptr[i - 1];
	out->rowptr[0] = 0;
	out->kind = KDR_MAT_CSR;
done:
	KDRI_FREE(ctx, start, by_column);
	return st;
}

static kdr_status matrix_copy_names(kdr_context *ctx, const kdri_terms *terms, const int32_t *which,
                                    int64_t count, char ***out, int64_t *written)
{
	KDRI_DO(KDRI_NEW0(ctx, out, count));
	*written = count;
	for (int64_t i = 0; i < count; i++) {
		const kdri_term *t = &terms->terms[which ? which[i] : i];
		KDRI_DO(kdri_strndup(ctx, terms->text + t->offset, t->length, &(*out)[i]));
	}
	return KDR_OK;
}

/* The numbers of names, and the names, in the form that data sets have. */
static kdr_status matrix_copy_numbers(kdr_context *ctx, const kdri_terms *names, const int32_t *numbers,
                                      int64_t rows, int64_t **of, char ***out, int64_t *count)
{
	kdr_status st = KDR_OK;
	if (!names)
		return st;
	KDRI_TRY(matrix_copy_names(ctx, names, NULL, names->count, out, count));
	KDRI_TRY(KDRI_NEW(ctx, of, rows));
	for (int64_t i = 0; i < rows; i++)
		(*of)[i] = numbers[i];
done:
	return st;
}

kdr_status kdri_counts_finish(kdr_context *ctx, const kdr_corpus *what, kdri_counts *c,
                              const kdri_terms *names, const int32_t *name_of,
                              const kdri_term_columns *columns, const kdr_text_options *options,
                              kdr_data **out, int64_t *dropped)
{
	kdr_status st;
	kdr_data *d = NULL;
	char *name = NULL;
	int64_t *last = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &last, columns->count));
	const int64_t file_rows = c->rows;
	if (options->drop_empty)
		KDRI_TRY(KDRI_NEW(ctx, &c->origin, c->rows));
	*dropped += matrix_compact(ctx, c, columns->of_term, options->drop_empty, last);
	KDRI_TRY(kdri_corpus_name(ctx, what, &name));
	KDRI_TRY(kdri_data_new(ctx, name, what->path, &d));
	KDRI_TRY(to_csr(ctx, c, columns->count, options->binary, d));
	kdri_free(ctx, c->pairs);
	c->pairs = NULL;
	KDRI_TRY(matrix_copy_names(ctx, names, name_of, columns->count, &d->features, &d->cols));
	KDRI_TRY(matrix_copy_numbers(ctx, c->classes, c->labels, c->rows, &d->labels, &d->classes,
	                             &d->nclasses));
	KDRI_TRY(matrix_copy_numbers(ctx, c->tasks, c->task_of, c->rows, &d->groups.of, &d->groups.names,
	                             &d->groups.count));
	d->dialect = c->dialect;
	d->origin = c->origin;
	d->file_rows = file_rows;
	c->origin = NULL;
	d->rows = c->rows;
	d->ids = c->ids;
	d->excerpts = c->excerpts;
	c->ids = c->excerpts = NULL;
	c->rows = 0;
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	KDRI_FREE(ctx, last, name);
	return st;
}

void kdri_counts_free(kdr_context *ctx, kdri_counts *c)
{
	kdri_strings_free(&ctx->allocator, c->ids, c->rows);
	kdri_strings_free(&ctx->allocator, c->excerpts, c->rows);
	kdri_terms_free(ctx, c->classes);
	kdri_terms_free(ctx, c->tasks);
	KDRI_FREE(ctx, c->labels, c->task_of, c->origin, c->end, c->language, c->pairs);
	*c = (kdri_counts){ 0 };
}
