/* Greedy migration. SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds a partition whose coincidence matrix Z is near a given one, Z^ [B19, eq. 2]:
 *     (E1)  Q^2 = |Z - Z^|^2 = sum over i != j of (z_ij - z^_ij)^2.
 * One sample after the other moves to another cluster, each time the one whose move lowers Q most. With
 *     (E2)  S_ik = sum over j in cluster k, j != i, of z^_ij,
 * moving i from a to b changes
 *     (E3)  Q^2 by 2 [(2 S_ia - (n_a - 1)) - (2 S_ib - n_b)],
 * and S, n x k, is all the memory needed: a row of Z^ is recomputed when its sample moves. It ends when Q < q_min,
 * after it_max moves, or when no move lowers Q: [B19] lacks the third rule, without which moves that raise Q would
 * follow. A cluster is never emptied. Ties are resolved by the lowest sample, then the lowest cluster. All sums are
 * of integers, so nothing depends on their order.
 *
 * Work: n^2 (L + 1) once for S, then n (L + k) per move. [B19] V. Berikov: Heterogeneous transfer learning in
 * ensemble clustering. 2019. */
#include "methods/trec/migrate.h"

#include "matrix/linalg.h"

enum { PIECE = 1024, ROWS = 512 };

/* --- predicted rows ------------------------------------------------------------------------------ */

/* count[j] = runs in which rows i and begin + j share a cluster. */
KDRI_KERNEL
static void count_runs(const int32_t *label, int64_t n, int64_t runs, int64_t i, int64_t begin, int64_t width,
                       int32_t *count)
{
	for (int64_t j = 0; j < width; j++)
		count[j] = 0;
	for (int64_t l = 0; l < runs; l++) {
		const int32_t *from = label + l * n + begin;
		int32_t own = label[l * n + i];
		for (int64_t j = 0; j < width; j++)
			count[j] += from[j] == own;
	}
}

static void predicted_row(const kdri_coincidence *z, int64_t i, uint8_t *out)
{
	const kdri_predicted *p = z->data;
	const kdri_ensemble *e = p->e;
	int32_t count[PIECE];
	for (int64_t begin = 0; begin < e->n; begin += PIECE) {
		int64_t width = KDRI_MIN(PIECE, e->n - begin);
		count_runs(e->label, e->n, e->runs, i, begin, width, count);
		for (int64_t j = 0; j < width; j++) {
			double s = e->silhouette ? (e->silhouette[i] + e->silhouette[begin + j]) / 2 : 0;
			out[begin + j] = kdri_pair_table_decide(p->table, count[j], s);
		}
	}
}

kdri_coincidence kdri_coincidence_predicted(const kdri_predicted *predicted)
{
	return (kdri_coincidence){ .n = predicted->e->n, .row = predicted_row, .data = predicted };
}

/* --- the state ------------------------------------------------------------------------------------ */

typedef struct state {
	const kdri_coincidence *z;
	int64_t n, k;
	int64_t *labels, *size;
	int32_t *s;   /* n x k (E2) */
	uint8_t *row; /* threads x n */
} state;

/* (E2); returns false if stopped early. */
static bool fill_sums(kdr_context *ctx, state *w)
{
	for (int64_t begin = 0; begin < w->n; begin += ROWS) {
		int64_t end = KDRI_MIN(w->n, begin + ROWS);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16) if (w->n > ROWS)
		for (int64_t i = begin; i < end; i++) {
			uint8_t *row = w->row + kdri_thread() * w->n;
			int32_t *s = w->s + i * w->k;
			w->z->row(w->z, i, row);
			row[i] = 0;
			for (int64_t j = 0; j < w->n; j++)
				s[w->labels[j]] += row[j];
		}
		if (w->n > ROWS && kdri_iteration(ctx, "coincidence", end, w->n, NAN))
			return false;
	}
	return true;
}

/* (E1): if z = 1, a term is 1 - z^; if z = 0, it is z^. */
static int64_t square_of(const state *w)
{
	int64_t square = 0;
	for (int64_t i = 0; i < w->n; i++)
		for (int64_t c = 0; c < w->k; c++) {
			int64_t s = w->s[i * w->k + c];
			square += c == w->labels[i] ? w->size[c] - 1 - s : s;
		}
	return square;
}

typedef struct move {
	int64_t change, sample, to;
} move;

static move best_move(const state *w)
{
	move best = { 0, -1, -1 };
	for (int64_t i = 0; i < w->n; i++) {
		int64_t a = w->labels[i];
		const int32_t *s = w->s + i * w->k;
		if (w->size[a] == 1)
			continue;
		int64_t leave = 2 * (int64_t)s[a] - (w->size[a] - 1);
		for (int64_t b = 0; b < w->k; b++) {
			int64_t change = 2 * (leave - (2 * (int64_t)s[b] - w->size[b])); /* (E3) */
			if (b != a && change < best.change)
				best = (move){ change, i, b };
		}
	}
	return best;
}

static void make_move(state *w, const move *m)
{
	int64_t i = m->sample, a = w->labels[i], b = m->to;
	w->z->row(w->z, i, w->row);
	for (int64_t j = 0; j < w->n; j++)
		if (j != i && w->row[j]) {
			w->s[j * w->k + a]--;
			w->s[j * w->k + b]++;
		}
	w->labels[i] = b;
	w->size[a]--;
	w->size[b]++;
}

static kdr_status record(kdr_context *ctx, kdri_migration *m, int64_t *room, const int64_t *three, double q)
{
	if (m->count == *room) {
		*room = *room ? 2 * *room : 64;
		KDRI_DO(KDRI_GROW(ctx, &m->moves, 3 * *room));
		KDRI_DO(KDRI_GROW(ctx, &m->q, *room));
	}
	memcpy(m->moves + 3 * m->count, three, 3 * sizeof *three);
	m->q[m->count++] = q;
	return KDR_OK;
}

kdr_status kdri_migrate(kdr_context *ctx, const kdri_coincidence *z, int64_t k, double q_min, int64_t it_max,
                        int64_t *labels, kdri_migration *out)
{
	kdr_status st;
	state w = { .z = z, .n = z->n, .k = k, .labels = labels };
	kdri_migration m = { .stop = KDR_STOP_CONVERGED };
	int64_t cells, room = 0;
	if (w.n > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%lld samples are too many to migrate", (long long)w.n);
	KDRI_TRY(kdri_mul(ctx, w.n, k, &cells));
	KDRI_TRY(KDRI_NEW0(ctx, &w.s, cells));
	KDRI_TRY(KDRI_NEW0(ctx, &w.size, k));
	KDRI_TRY(KDRI_NEW(ctx, &w.row, ctx->threads * w.n));
	for (int64_t i = 0; i < w.n; i++)
		w.size[labels[i]]++;
	if (!fill_sums(ctx, &w)) {
		m.stop = kdri_stop_reason(ctx);
		goto stopped;
	}
	int64_t square = square_of(&w);
	m.start = sqrt((double)square);
	while (sqrt((double)square) >= q_min) {
		move next = best_move(&w);
		if (next.sample < 0)
			break;
		if (m.count == it_max) {
			m.stop = KDR_STOP_MAX_ITER;
			break;
		}
		int64_t three[3] = { next.sample, labels[next.sample], next.to };
		make_move(&w, &next);
		square += next.change;
		KDRI_TRY(record(ctx, &m, &room, three, sqrt((double)square)));
		if (kdri_iteration(ctx, "migrate", m.count, it_max, sqrt((double)square))) {
			m.stop = kdri_stop_reason(ctx);
			break;
		}
	}
stopped:
	*out = m;
	m = (kdri_migration){ 0 };
done:
	KDRI_FREE(ctx, w.s, w.size, w.row);
	kdri_migration_free(ctx, &m);
	return st;
}

void kdri_migration_free(kdr_context *ctx, kdri_migration *m)
{
	KDRI_FREE(ctx, m->moves, m->q);
	*m = (kdri_migration){ 0 };
}
