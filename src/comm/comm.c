/* Rows of one problem on several processes: the code that does not depend on how they communicate.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over the rows of all ranks do not depend on their distribution: exact.h. */
#include "comm/comm.h"

/* The status that a rank sends before an exchange: 0 for success, 1 and 2 to request a stop, larger values for a
 * failure. The largest counts: the status of the failure and, of ranks with the same status, the first. */
enum { RANK_BITS = 32 };

static int64_t word_of(const kdri_comm *c, kdr_status st)
{
	return st == KDR_OK
	               ? 0
	               : ((int64_t)st << RANK_BITS) | (int64_t)(((uint32_t)INT32_MAX - (uint32_t)c->rank));
}

int kdri_rank(const kdr_context *ctx)
{
	return ctx->comm ? ctx->comm->rank : 0;
}

int kdri_ranks(const kdr_context *ctx)
{
	return ctx->comm ? ctx->comm->ranks : 1;
}

/* The connection to the other ranks is lost: all further calls fail at once. */
static kdr_status lost(kdr_context *ctx)
{
	ctx->comm->failed = KDR_ERR_INTERNAL;
	return kdri_fail(ctx, KDR_ERR_INTERNAL, "rank %d of %d cannot communicate with the others",
	                 ctx->comm->rank, ctx->comm->ranks);
}

/* The error line of rank `who`, which failed with `st`, becomes that of all ranks. */
static kdr_status take_error(kdr_context *ctx, kdr_status st, int who)
{
	kdri_comm *c = ctx->comm;
	char text[sizeof ctx->error];
	memcpy(text, ctx->error, sizeof text);
	if (!c->ops.share(c->user, text, (int64_t)sizeof text, who))
		return lost(ctx);
	text[sizeof text - 1] = '\0';
	c->failed = st;
	if (who == 0) { /* usually all ranks fail with the same error: a wrong option, k above n */
		memcpy(ctx->error, text, sizeof text);
		return st;
	}
	return kdri_fail(ctx, st, "rank %d: %s", who, text[0] ? text : kdr_strerror(st));
}

void kdri_meeting_join(const kdri_meeting *one, kdri_meeting *all)
{
	int64_t word = KDRI_MAX(one->word, all->word);
	if (one->brings && !all->brings) {
		*all = *one;
	} else if (one->brings) {
		for (int i = 0; i < all->count; i++) {
			const int how = i < all->count - all->tops ? all->how : KDRI_FOLD_MAX;
			if (all->whole) {
				int64_t a = one->v.whole[i], b = all->v.whole[i];
				all->v.whole[i] = how == KDRI_FOLD_SUM   ? a + b
				                  : how == KDRI_FOLD_MAX ? KDRI_MAX(a, b)
				                                         : KDRI_MIN(a, b);
			} else {
				double a = one->v.real[i], b = all->v.real[i];
				all->v.real[i] = how == KDRI_FOLD_SUM   ? a + b
				                 : how == KDRI_FOLD_MAX ? KDRI_MAX(a, b)
				                                        : KDRI_MIN(a, b);
			}
		}
	}
	all->word = word;
}

/* All ranks meet: gives the largest status, or a failure. A rank without failure sends whether it requests a stop. */
static kdr_status meet_with(kdr_context *ctx, kdri_meeting *m)
{
	kdri_comm *c = ctx->comm;
	if (c->failed != KDR_OK)
		return c->failed;
	c->exchanges++;
	c->bytes += (int64_t)sizeof m->word * (1 + m->count);
	m->word = KDRI_MAX(m->word, kdri_stop_request(ctx));
	if (!c->ops.meet(c->user, m))
		return lost(ctx);
	if (m->word < (int64_t)1 << RANK_BITS) {
		c->heard = (int)m->word;
		return KDR_OK;
	}
	return take_error(ctx, (kdr_status)(m->word >> RANK_BITS),
	                  (int)((uint32_t)INT32_MAX - (uint32_t)(m->word & UINT32_MAX)));
}

static kdr_status comm_meet(kdr_context *ctx, int64_t *word)
{
	kdri_meeting m = { .word = *word };
	kdr_status st = meet_with(ctx, &m);
	*word = m.word;
	return st;
}

/* An exchange of few numbers is over when the ranks have met. */
static kdr_status fold_along(kdr_context *ctx, void *v, int64_t count, int64_t tops, bool whole,
                             kdri_fold how)
{
	kdri_meeting m = { .count = (int16_t)count,
		           .tops = (int16_t)tops,
		           .how = (int16_t)how,
		           .brings = true,
		           .whole = whole };
	const size_t bytes = (size_t)count * sizeof m.v.real[0];
	memcpy(&m.v, v, bytes);
	kdr_status st = meet_with(ctx, &m);
	if (st == KDR_OK)
		memcpy(v, &m.v, bytes);
	return st;
}

/* Before an exchange of `bytes`: is everybody here? */
static kdr_status comm_begin(kdr_context *ctx, int64_t bytes)
{
	int64_t word = 0;
	kdr_status st = comm_meet(ctx, &word);
	if (st == KDR_OK) {
		ctx->comm->exchanges++;
		ctx->comm->bytes += bytes;
	}
	return st;
}

/* --- a context and its ranks --------------------------------------------------------------------- */

/* The strongest request to stop of all ranks, for kdri_iteration; `met`: use the value of the last meeting. */
static int most_wanted(kdr_context *ctx, bool met)
{
	int64_t word = 0;
	if (!kdri_together(ctx))
		return kdri_stop_request(ctx);
	if (ctx->comm->failed != KDR_OK)
		return 2;
	return met || comm_meet(ctx, &word) == KDR_OK ? ctx->comm->heard : 2;
}

static void comm_close(kdr_context *ctx)
{
	if (ctx->comm)
		ctx->comm->ops.close(ctx->comm->user);
	kdri_free(ctx, ctx->comm);
	ctx->comm = NULL;
}

kdr_status kdri_comm_set(kdr_context *ctx, const kdri_comm_ops *ops, void *user, int rank, int ranks)
{
	kdr_status st;
	kdri_comm *c = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &c, 1));
	*c = (kdri_comm){ .ops = *ops, .user = user, .rank = rank, .ranks = ranks };
	comm_close(ctx);
	ctx->comm = c;
	ctx->most_wanted = most_wanted;
	ctx->comm_close = comm_close;
done:
	if (st != KDR_OK)
		ops->close(user);
	return st;
}

void kdri_enter(kdr_context *ctx)
{
	if (ctx->comm && ctx->comm->apart == 0 && ctx->comm->depth++ == 0)
		ctx->comm->failed = KDR_OK;
}

kdr_status kdri_agree(kdr_context *ctx, kdr_status st)
{
	if (!kdri_together(ctx))
		return st;
	if (ctx->comm->failed != KDR_OK)
		return ctx->comm->failed;
	int64_t word = word_of(ctx->comm, st);
	return comm_meet(ctx, &word);
}

kdr_status kdri_leave(kdr_context *ctx, kdr_status st)
{
	if (!kdri_together(ctx))
		return st;
	st = kdri_agree(ctx, st);
	ctx->comm->depth--;
	return st;
}

void kdri_apart(kdr_context *ctx)
{
	if (ctx->comm)
		ctx->comm->apart++;
}

void kdri_rejoin(kdr_context *ctx)
{
	if (ctx->comm)
		ctx->comm->apart--;
}

/* --- exchanges ------------------------------------------------------------------------------------ */

static kdr_status fold_real(kdr_context *ctx, double *v, int64_t count, kdri_fold how)
{
	if (!kdri_together(ctx))
		return KDR_OK;
	if (count <= KDRI_ALONG)
		return fold_along(ctx, v, count, 0, false, how);
	kdr_status st = comm_begin(ctx, count * (int64_t)sizeof *v);
	if (st == KDR_OK && !ctx->comm->ops.fold_real(ctx->comm->user, v, count, how))
		st = lost(ctx);
	return st;
}

static kdr_status fold_int(kdr_context *ctx, int64_t *v, int64_t count, kdri_fold how)
{
	if (!kdri_together(ctx))
		return KDR_OK;
	if (count <= KDRI_ALONG)
		return fold_along(ctx, v, count, 0, true, how);
	kdr_status st = comm_begin(ctx, count * (int64_t)sizeof *v);
	if (st == KDR_OK && !ctx->comm->ops.fold_int(ctx->comm->user, v, count, how))
		st = lost(ctx);
	return st;
}

kdr_status kdri_sum(kdr_context *ctx, double *v, int64_t count)
{
	return fold_real(ctx, v, count, KDRI_FOLD_SUM);
}

kdr_status kdri_sum_int(kdr_context *ctx, int64_t *v, int64_t count)
{
	return fold_int(ctx, v, count, KDRI_FOLD_SUM);
}

kdr_status kdri_sum_block(kdr_context *ctx, double *v, int64_t rows, int64_t cols, int64_t step)
{
	kdr_status st;
	double *packed = NULL;
	if (!kdri_together(ctx) || step == cols)
		return kdri_sum(ctx, v, rows * cols);
	KDRI_TRY(KDRI_NEW(ctx, &packed, rows * cols));
	for (int64_t i = 0; i < rows; i++)
		memcpy(packed + i * cols, v + i * step, (size_t)cols * sizeof *v);
	KDRI_TRY(kdri_sum(ctx, packed, rows * cols));
	for (int64_t i = 0; i < rows; i++)
		memcpy(v + i * step, packed + i * cols, (size_t)cols * sizeof *v);
done:
	kdri_free(ctx, packed);
	return st;
}

kdr_status kdri_max(kdr_context *ctx, double *v, int64_t count)
{
	return fold_real(ctx, v, count, KDRI_FOLD_MAX);
}

kdr_status kdri_sum_and_max(kdr_context *ctx, double *v, int64_t sums, int64_t tops)
{
	if (kdri_together(ctx) && sums + tops <= KDRI_ALONG)
		return fold_along(ctx, v, sums + tops, tops, false, KDRI_FOLD_SUM);
	kdr_status st = kdri_sum(ctx, v, sums);
	return st == KDR_OK ? kdri_max(ctx, v + sums, tops) : st;
}

kdr_status kdri_max_int(kdr_context *ctx, int64_t *v, int64_t count)
{
	return fold_int(ctx, v, count, KDRI_FOLD_MAX);
}

kdr_status kdri_min_int(kdr_context *ctx, int64_t *v, int64_t count)
{
	return fold_int(ctx, v, count, KDRI_FOLD_MIN);
}

kdr_status kdri_any(kdr_context *ctx, bool *v)
{
	int64_t yes = *v;
	kdr_status st = kdri_max_int(ctx, &yes, 1);
	*v = yes != 0;
	return st;
}

kdr_status kdri_share(kdr_context *ctx, void *bytes, int64_t count, int from)
{
	if (!kdri_together(ctx))
		return KDR_OK;
	kdr_status st = comm_begin(ctx, from == ctx->comm->rank ? count : 0);
	if (st == KDR_OK && !ctx->comm->ops.share(ctx->comm->user, bytes, count, from))
		st = lost(ctx);
	return st;
}

kdr_status kdri_send(kdr_context *ctx, const void *bytes, int64_t count, int to)
{
	ctx->comm->exchanges++;
	ctx->comm->bytes += count;
	return ctx->comm->ops.send(ctx->comm->user, bytes, count, to) ? KDR_OK : lost(ctx);
}

kdr_status kdri_receive(kdr_context *ctx, void *bytes, int64_t count, int from)
{
	ctx->comm->exchanges++;
	return ctx->comm->ops.receive(ctx->comm->user, bytes, count, from) ? KDR_OK : lost(ctx);
}

kdr_status kdri_each(kdr_context *ctx, int64_t mine, int64_t *all)
{
	memset(all, 0, (size_t)kdri_ranks(ctx) * sizeof *all);
	all[kdri_rank(ctx)] = mine;
	return kdri_sum_int(ctx, all, kdri_ranks(ctx));
}

kdr_status kdri_gather(kdr_context *ctx, const void *bytes, int64_t count, void *all, int64_t *total)
{
	kdr_status st = KDR_OK;
	kdri_comm *c = ctx->comm;
	unsigned char *to = NULL;
	int64_t *sizes = NULL, sum = 0;
	bool together = kdri_together(ctx);
	memcpy(all, &to, sizeof to);
	if (!together) {
		KDRI_TRY(KDRI_NEW(ctx, &to, count));
		memcpy(to, bytes, (size_t)count);
		memcpy(all, &to, sizeof to);
		*total = count;
		return KDR_OK;
	}
	st = KDRI_NEW(ctx, &sizes, c->ranks);
	st = kdri_agree(ctx, st);
	if (st != KDR_OK)
		goto done;
	KDRI_TRY(kdri_each(ctx, count, sizes));
	for (int r = 0; r < c->ranks; r++)
		sum += sizes[r];
	if (c->rank == 0)
		st = KDRI_NEW(ctx, &to, sum);
	st = kdri_agree(ctx, st);
	if (st != KDR_OK)
		goto done;
	c->exchanges++;
	c->bytes += c->rank == 0 ? 0 : count;
	bool well = c->rank == 0 || c->ops.send(c->user, bytes, count, 0);
	for (int64_t r = 0, at = 0; c->rank == 0 && r < c->ranks && well; at += sizes[r++])
		if (r == 0)
			memcpy(to, bytes, (size_t)count);
		else
			well = c->ops.receive(c->user, to + at, sizes[r], (int)r);
	if (!well) {
		st = lost(ctx);
		goto done;
	}
	memcpy(all, &to, sizeof to);
	*total = sum;
	to = NULL;
done:
	KDRI_FREE(ctx, sizes, to);
	return st;
}

kdr_status kdri_each_of(kdr_context *ctx, const int64_t *mine, int64_t count, int64_t **each)
{
	kdr_status st;
	const int64_t ranks = kdri_several(ctx) ? kdri_ranks(ctx) : 1, rank = ranks > 1 ? kdri_rank(ctx) : 0;
	int64_t *all = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &all, count * ranks));
	for (int64_t g = 0; g < count; g++)
		all[g * ranks + rank] = mine[g];
	if (ranks > 1)
		KDRI_TRY(kdri_sum_int(ctx, all, count * ranks));
	*each = all;
	all = NULL;
done:
	kdri_free(ctx, all);
	return st;
}

void kdri_parts_of(const kdr_context *ctx, const int64_t *each, int64_t first, int64_t count, int64_t *start,
                   int64_t *all)
{
	const int64_t ranks = kdri_several(ctx) ? kdri_ranks(ctx) : 1, rank = ranks > 1 ? kdri_rank(ctx) : 0;
	int64_t sum = 0;
	for (int64_t g = 0; g < count; g++)
		for (int64_t r = 0; r < ranks; r++) {
			if (r == rank && start)
				start[g] = sum;
			sum += each[(first + g) * ranks + r];
		}
	*all = sum;
}

kdr_status kdri_parts(kdr_context *ctx, const int64_t *mine, int64_t count, int64_t *start, int64_t *all)
{
	kdr_status st;
	int64_t *each = NULL;
	KDRI_TRY(kdri_each_of(ctx, mine, count, &each));
	kdri_parts_of(ctx, each, 0, count, start, all);
done:
	kdri_free(ctx, each);
	return st;
}

kdr_status kdri_part(kdr_context *ctx, int64_t n, int64_t *start, int64_t *all)
{
	return kdri_parts(ctx, &n, 1, start, all);
}

/* Sums over the rows of all ranks that do not depend on their distribution.
 *
 * (E101) to (E103) are in exact.h. The largest term has to be known before: one more pass over numbers that lie in
 * memory. */

/* The largest |w_i v_i|, or infinity where one is no number. */
static double rows_largest_of(const double *weights, const double *v, int64_t n, int64_t step)
{
	double largest = 0;
	bool bad = false;
	for (int64_t i = 0; i < n; i++) {
		double x = fabs(weights ? weights[i] * v[i * step] : v[i * step]);
		largest = x > largest ? x : largest;
		bad |= !(x <= 1.7976931348623157e308);
	}
	return bad ? INFINITY : largest;
}

/* The same for each of `count` columns of v, rows of which are `step` apart; at most KDRI_ROWS_SUMS. */
enum { KDRI_ROWS_SUMS = 8 };

kdr_status kdri_rows_sums(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t count,
                          int64_t step, int64_t all, double *out)
{
	double largest[KDRI_ROWS_SUMS];
	kdri_exact sum[KDRI_ROWS_SUMS] = { { 0, 0 } };
	for (int64_t c = 0; c < count; c++)
		largest[c] = rows_largest_of(weights, v + c, n, step);
	KDRI_DO(kdri_max(ctx, largest, count));
	for (int64_t c = 0; c < count; c++) {
		bool finite = isfinite(largest[c]) && isfinite(largest[c] * (double)all * 4);
		out[c] = finite ? 0 : INFINITY;
		if (!finite)
			continue;
		double big = kdri_exact_big(largest[c], all),
		       small = big * kdri_exact_ratio(all); /* (E102) */
		for (int64_t i = 0; i < n; i++)
			kdri_exact_add(&sum[c], big, small,
			               weights ? weights[i] * v[i * step + c] : v[i * step + c]);
	}
	KDRI_DO(kdri_sum(ctx, &sum[0].high, 2 * count));
	for (int64_t c = 0; c < count; c++)
		out[c] += sum[c].high + sum[c].low; /* (E103) */
	return KDR_OK;
}

kdr_status kdri_rows_sum(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t all,
                         double *out)
{
	return kdri_rows_sums(ctx, weights, v, n, 1, 1, all, out);
}
