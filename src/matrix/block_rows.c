/* Loops over rows of a block, whatever its precision. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/block.h"

#define REAL       double
#define NAME(loop) loop##_doubles
#include "matrix/block_rows_of.h"
#undef REAL
#undef NAME
#define REAL       float
#define NAME(loop) loop##_floats
#include "matrix/block_rows_of.h"

void kdri_row_add_moments(const kdri_block *row, double *sum, double *squares)
{
	if (row->floats)
		add_moments_floats(row->data, row->cols, sum, squares);
	else
		add_moments_doubles(row->data, row->cols, sum, squares);
}

int64_t kdri_row_count_beyond(const kdri_block *row, double limit)
{
	return row->floats ? count_beyond_floats(row->data, row->cols, (float)limit)
	                   : count_beyond_doubles(row->data, row->cols, limit);
}

int64_t kdri_row_count_from(const kdri_block *row, double least)
{
	return row->floats ? count_from_floats(row->data, row->cols, least)
	                   : count_from_doubles(row->data, row->cols, least);
}

double kdri_row_squares(const kdri_block *row)
{
	return row->floats ? squares_floats(row->data, row->cols) : squares_doubles(row->data, row->cols);
}

void kdri_row_add(const kdri_block *row, double factor, double *to)
{
	if (row->floats)
		add_floats(row->data, factor, row->cols, to);
	else
		add_doubles(row->data, factor, row->cols, to);
}

void kdri_row_centre(const kdri_block *row, const double *mean, double shift, const double *scale,
                     const kdri_block *to)
{
	if (row->floats)
		centre_floats(row->data, mean, shift, scale, row->cols, to->data);
	else
		centre_doubles(row->data, mean, shift, scale, row->cols, to->data);
}
