/* Detects samples in columns from names. SPDX-License-Identifier: BSD-3-Clause
 *
 * Shapes are not informative, because texts and genes usually have more columns than rows. Names are; without
 * informative names there is no warning. A task appears to be transposed if
 *
 *   its columns are named like cells (nine in ten contain a run of twelve letters A, C, G and T: barcodes), or its rows like
 *   genes (ENSG00000141510), but not also the other way round; or
 *   most of another task's columns have the names of its rows, and not of its columns; or
 *   it and another task have most row names in common, but hardly any column name.
 *
 * Numbers do not count as names: rows numbered from 1 have the same names in all tables. */
#include "prepare/prep.h"

#include <stdio.h>

enum { FEWEST = 5, LOOK = 2000, TABLE_MOST = 1 << 18 };

static bool is_barcode(const char *name)
{
	int run = 0;
	for (; *name && run < 12; name++)
		run = strchr("ACGT", *name) ? run + 1 : 0;
	return run >= 12;
}

static bool is_gene(const char *name)
{
	if (strncmp(name, "ENS", 3) != 0)
		return false;
	const char *g = strpbrk(name, "0123456789");
	return g && g > name + 3 && g[-1] == 'G' && g - name <= 8 && strspn(g, "0123456789") >= 6;
}

static bool is_number(const char *name)
{
	return name[0] && name[strspn(name, "0123456789+-.eE")] == '\0';
}

/* The fraction of names, in a sample of them, that have the property. */
static double orientation_share(char *const *names, int64_t n, bool (*is)(const char *name))
{
	int64_t step = KDRI_MAX(1, n / LOOK), seen = 0, found = 0;
	for (int64_t i = 0; names && i < n; i += step, seen++)
		found += is(names[i]);
	return seen > 0 ? (double)found / (double)seen : 0;
}

static bool by_itself(const kdr_data *d, char *text, size_t room)
{
	if (!d->features || d->cols < FEWEST)
		return false;
	bool cells = orientation_share(d->features, d->cols, is_barcode) > 0.9 &&
	             orientation_share(d->ids, d->rows, is_barcode) < 0.1;
	bool genes = d->rows >= FEWEST && orientation_share(d->ids, d->rows, is_gene) > 0.9 &&
	             orientation_share(d->features, d->cols, is_gene) < 0.1;
	if (cells || genes)
		snprintf(
		        text, room,
		        "data set %.40s appears to be transposed: its %s are named like %s, such as %.40s; if so, add --transpose",
		        d->name, cells ? "columns" : "rows", cells ? "cells" : "genes",
		        cells ? d->features[0] : d->ids[0]);
	return cells || genes;
}

/* The fraction of names that are in the table, relative to the smaller list. */
static double common(char *const *names, int64_t n, const kdri_names *table)
{
	int64_t step = KDRI_MAX(1, n / LOOK), seen = 0, found = 0;
	for (int64_t i = 0; i < n; i += step, seen++)
		found += kdri_names_find(table, names[i]) >= 0;
	/* All names of a small table may be among the many. */
	double all = (double)found / (double)KDRI_MAX(seen, 1) * (double)n;
	return all / (double)KDRI_MAX(KDRI_MIN(n, table->count), 1);
}

static kdr_status orientation_fill(kdr_context *ctx, char *const *names, int64_t n, kdri_names *table)
{
	int64_t index;
	for (int64_t i = 0; i < n; i++)
		KDRI_DO(kdri_names_add(ctx, table, names[i], strlen(names[i]), &index));
	return KDR_OK;
}

static bool has_names(const kdr_data *d)
{
	return d->features && d->ids && d->cols >= FEWEST && d->rows >= FEWEST && d->rows <= TABLE_MOST &&
	       d->cols <= TABLE_MOST && orientation_share(d->ids, d->rows, is_number) < 0.5 &&
	       orientation_share(d->features, d->cols, is_number) < 0.5;
}

/* Compares task d with the first one, whose row and column names are in the tables. */
static bool orientation_beside(const kdr_data *a, const kdri_names *rows, const kdri_names *columns,
                               const kdr_data *d, char *text, size_t room)
{
	double same = common(d->features, d->cols, columns), turned = common(d->ids, d->rows, columns),
	       other = common(d->features, d->cols, rows), ids = common(d->ids, d->rows, rows);
	if (same >= 0.05)
		return false;
	if (turned > 0.5 || other > 0.5)
		snprintf(
		        text, room,
		        "data set %.40s appears to be transposed: its %s have the names of the %s of data set %.40s; if so, add --transpose",
		        d->name, turned > 0.5 ? "rows" : "columns", turned > 0.5 ? "columns" : "rows",
		        a->name);
	else if (ids > 0.5)
		snprintf(
		        text, room,
		        "data sets %.40s and %.40s appear to be transposed: their rows have the same names, but their columns do not; if so, add --transpose",
		        a->name, d->name);
	return turned > 0.5 || other > 0.5 || ids > 0.5;
}

kdr_status kdri_orientation(kdr_context *ctx, kdr_data *const *tasks, int64_t count, char *text, size_t room)
{
	kdr_status st = KDR_OK;
	kdri_names rows = { .borrows = true }, columns = { .borrows = true };
	text[0] = '\0';
	for (int64_t t = 0; t < count; t++)
		if (by_itself(tasks[t], text, room))
			return KDR_OK;
	if (count < 2 || !has_names(tasks[0]))
		return KDR_OK;
	KDRI_TRY(orientation_fill(ctx, tasks[0]->ids, tasks[0]->rows, &rows));
	KDRI_TRY(orientation_fill(ctx, tasks[0]->features, tasks[0]->cols, &columns));
	for (int64_t t = 1; t < count; t++)
		if (has_names(tasks[t]) &&
		    orientation_beside(tasks[0], &rows, &columns, tasks[t], text, room))
			break;
done:
	kdri_names_free(ctx, &rows);
	kdri_names_free(ctx, &columns);
	return st;
}
