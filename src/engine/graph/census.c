/* What entries look like: how many are zero, and whether some are negative. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/graph/census.h"

#include "comm/comm.h"

static const double sparse_share = 0.1;

kdr_status kdri_census_add(kdr_context *ctx, const kdr_mat *x, kdri_census *c)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double found[3] = { (double)n * (double)d, 0, 0 };
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++) {
			found[1] += row.val[p] != 0;
			found[2] += row.val[p] < 0;
		}
	}
	KDRI_TRY(kdri_sum(ctx, found, 3));
	c->cells += found[0];
	c->nonzero += found[1];
	c->negative |= found[2] > 0;
done:
	return st;
}

bool kdri_census_words(const kdri_census *c)
{
	return !c->negative && c->nonzero < sparse_share * c->cells;
}
