/* Arguments of callers: structs of another version of the headers, lists, matrices. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every option struct begins with its size in the caller's header. Members that an older caller does not have become zero,
 * which is their default; members that only a newer header has are refused unless they are zero. */
#include "core/internal.h"

/* No struct grows by more: a larger size is memory that was never set. */
enum { MOST_GROWTH = 4096 };

kdr_status kdri_sized_take(kdr_context *ctx, const char *type, const void *given, size_t size, void *own)
{
	size_t theirs = size;
	memset(own, 0, size);
	if (given)
		memcpy(&theirs, given, sizeof theirs);
	if (theirs < sizeof theirs || theirs > size + MOST_GROWTH)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: the member size is %zu, but %zu is expected; set it with %s_init", type,
		                 theirs, size, type);
	for (size_t i = size; given && i < theirs; i++)
		if (((const unsigned char *)given)[i])
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "%s: a member that version %s of the library does not have is not zero; set it to zero or use a newer library",
			        type, kdr_version());
	if (given)
		memcpy(own, given, KDRI_MIN(size, theirs));
	memcpy(own, &size, sizeof size);
	return KDR_OK;
}

kdr_status kdri_check_sets(kdr_context *ctx, const char *what, kdr_data *const *sets, int64_t count,
                           int64_t least)
{
	if (!sets || count < least)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: the number of data sets is %lld, but must be at least %lld", what,
		                 sets ? (long long)count : 0, (long long)least);
	for (int64_t t = 0; t < count; t++)
		if (!sets[t])
			return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: data set %lld of %lld is NULL", what,
			                 (long long)t + 1, (long long)count);
	return KDR_OK;
}

kdr_status kdri_check_mat(kdr_context *ctx, const char *what, const kdr_mat *x)
{
	if (x->kind != KDR_MAT_DENSE && x->kind != KDR_MAT_CSR)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: matrix kind %d is not a value of kdr_mat_kind",
		                 what, (int)x->kind);
	int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x);
	if (rows < 0 || cols < 0 || (x->kind == KDR_MAT_DENSE && x->as.dense.stride < cols))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "%s: invalid matrix of %lld rows and %lld columns; sizes must not be negative, and the stride must be at least the number of columns",
		        what, (long long)rows, (long long)cols);
	if (x->kind == KDR_MAT_DENSE
	            ? rows > 0 && cols > 0 && !x->as.dense.data
	            : !x->as.csr.rowptr || (x->as.csr.rowptr[rows] > 0 && (!x->as.csr.col || !x->as.csr.val)))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s: an array of the matrix is NULL", what);
	return KDR_OK;
}
