/* Memory taken for a part of the work: rows of a matrix as one of their own, columns mixed in place, arrays that grow into scratch
 * files; with every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/linalg.h"
#include "matrix/range.h"
#include "matrix/ritz.h"
#include "oom.h"

static kdr_status rows_own(kdr_context *ctx)
{
	enum { BEGIN = 5, END = 20 };
	const kdr_mat x = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdri_own part = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdr_status st = kdri_rows_own(ctx, &x, BEGIN, END, &part);
	if (st == KDR_OK && (part.view.as.csr.rowptr[0] != 0 || part.view.as.csr.val[0] != points[BEGIN * D]))
		st = KDR_ERR_INTERNAL;
	kdri_own_free(ctx, &part);
	return st;
}

static kdr_status mixed(kdr_context *ctx)
{
	static const double mix[D * 2] = {
		0, 1, 1, 0, 0, 1
	}; /* the second column; the first and the third */
	double a[N * D];
	memcpy(a, points, sizeof a);
	kdr_status st = kdri_mix_columns(ctx, N, D, a, D, 2, mix, 2, 2);
	for (int i = 0; i < N && st == KDR_OK; i++)
		if (a[i * 2] != points[i * D + 1] || a[i * 2 + 1] != points[i * D] + points[i * D + 2])
			st = KDR_ERR_INTERNAL;
	return st;
}

/* Leading directions of rows: fewer than there are, which are mixed in place, and more, of which some are 0. */
static kdr_status leading(kdr_context *ctx)
{
	kdr_status st = KDR_OK;
	const kdr_mat x = kdr_mat_from_csr(N, D, rowptr, columns, points);
	for (int count = 2; count <= D + 1 && st == KDR_OK; count += D - 1) {
		double s[D + 1], *u = NULL;
		kdri_op op = kdri_op_mat(&x);
		st = kdri_leading(ctx, &op, count, 2, &u, s, NULL);
		kdri_free(ctx, u);
	}
	return st;
}

/* From nothing to memory, to a file, to a longer one; and on when the context is back to memory for what is new. */
static kdr_status grown(kdr_context *ctx)
{
	static const int64_t sizes[] = { 100, 1000, 9000, 50000, 200000 };
	enum { SIZES = sizeof sizes / sizeof sizes[0] };
	int64_t *a = NULL, filled = 0;
	bool before = false;
	kdr_status st = kdri_spool_enable(ctx);
	if (st == KDR_OK)
		before = kdri_spool_begin(ctx, true);
	for (int i = 0; i < SIZES && st == KDR_OK; i++) {
		if (i == SIZES - 1)
			kdri_spool_begin(ctx, false);
		st = KDRI_GROW(ctx, &a, sizes[i]);
		for (; st == KDR_OK && filled < sizes[i]; filled++)
			a[filled] = filled;
		if (st == KDR_OK && kdri_spooled(a) != (i >= 2))
			st = KDR_ERR_INTERNAL;
	}
	for (int64_t i = 0; i < filled && st == KDR_OK; i++)
		if (a[i] != i)
			st = KDR_ERR_INTERNAL;
	kdri_spool_begin(ctx, before);
	kdri_free(ctx, a);
	return st;
}

const oom_scenario oom_scratch[] = {
	{ "rows of their own", rows_own, 1 },
	{ "columns mixed in place", mixed, 1 },
	{ "leading directions", leading, 1 },
	{ "scratch arrays that grow", grown, 1 },
	{ NULL, NULL, 0 },
};
