/* What fits of the same data with other numbers of clusters can use again. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/kept.h"
#include "matrix/traits.h"

/* All values together: a graph of a million samples, or similarities of ten thousand. */
static const double most_bytes = 512e6;

typedef struct kdri_kept_value {
	struct kdri_kept_value *before;
	const char *name; /* static */
	uint64_t key;
	size_t bytes;
	void *data;
} kdri_kept_value;

static kdri_kept *kept_of(const kdr_context *ctx)
{
	for (const kdri_inspected *s = ctx->inspected; s; s = s->before)
		if (s->kept)
			return s->kept;
	return NULL;
}

bool kdri_keeps(const kdr_context *ctx)
{
	return kept_of(ctx) != NULL;
}

bool kdri_repeats(const kdr_context *ctx)
{
	const kdri_kept *kept = kept_of(ctx);
	return kept && kept->fits > 0;
}

int kdri_fits_before(const kdr_context *ctx)
{
	const kdri_kept *kept = kept_of(ctx);
	return kept ? kept->fits : 0;
}

bool kdri_derives(const kdr_context *ctx)
{
	const kdri_kept *kept = kept_of(ctx);
	return kept && kept->deriving;
}

bool kdri_has_range(const kdr_context *ctx)
{
	const kdri_kept *kept = kept_of(ctx);
	return kept && kept->enter;
}

bool kdri_enter_range(const kdr_context *ctx, const int64_t *order, int64_t ntasks, int64_t *k)
{
	const kdri_kept *kept = kept_of(ctx);
	uint64_t before = 0, after = 0;
	if (!kept || !kept->enter)
		return false;
	for (int64_t t = 0; t < ntasks; t++)
		before = kdri_hash_number((uint64_t)k[t], before);
	kept->enter(kept->ranges, order, ntasks, k);
	for (int64_t t = 0; t < ntasks; t++)
		after = kdri_hash_number((uint64_t)k[t], after);
	return before != after;
}

void kdri_kept_free(kdr_context *ctx, kdri_kept *kept)
{
	for (kdri_kept_value *v = kept->last, *before; v; v = before) {
		before = v->before;
		KDRI_FREE(ctx, v->data, v);
	}
	*kept = (kdri_kept){ 0 };
}

bool kdri_kept_find(const kdr_context *ctx, const char *name, uint64_t key, void *out, size_t bytes)
{
	const kdri_kept *kept = kept_of(ctx);
	for (const kdri_kept_value *v = kept ? kept->last : NULL; v; v = v->before)
		if (v->key == key && v->bytes == bytes && strcmp(v->name, name) == 0) {
			memcpy(out, v->data, bytes);
			return true;
		}
	return false;
}

kdr_status kdri_kept_put(kdr_context *ctx, const char *name, uint64_t key, const void *value, size_t bytes)
{
	kdr_status st;
	kdri_kept *kept = kept_of(ctx);
	kdri_kept_value *v = NULL;
	char *data = NULL;
	if (!kept || kept->looking || ctx->cancelled || ctx->timed_out || bytes == 0 ||
	    kept->bytes + (double)bytes > most_bytes)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &v, 1));
	KDRI_TRY(KDRI_NEW(ctx, &data, (int64_t)bytes));
	memcpy(data, value, bytes);
	*v = (kdri_kept_value){
		.before = kept->last, .name = name, .key = key, .bytes = bytes, .data = data
	};
	kept->last = v;
	kept->bytes += (double)bytes;
	v = NULL;
	data = NULL;
done:
	KDRI_FREE(ctx, v, data);
	return st;
}

bool kdri_kept_find_parts(const kdr_context *ctx, const char *name, uint64_t key, const kdri_kept_part *parts,
                          int count)
{
	bool found = true;
	for (int i = 0; i < count && found; i++)
		found = !parts[i].data || kdri_kept_find(ctx, name, kdri_hash_number((uint64_t)i, key),
		                                         parts[i].data, parts[i].bytes);
	return found;
}

kdr_status kdri_kept_put_parts(kdr_context *ctx, const char *name, uint64_t key, const kdri_kept_part *parts,
                               int count)
{
	const kdri_kept *kept = kept_of(ctx);
	double all = kept ? kept->bytes : 0;
	for (int i = 0; i < count; i++)
		all += parts[i].data ? (double)parts[i].bytes : 0;
	for (int i = 0; i < count && all <= most_bytes; i++)
		if (parts[i].data)
			KDRI_DO(kdri_kept_put(ctx, name, kdri_hash_number((uint64_t)i, key), parts[i].data,
			                      parts[i].bytes));
	return KDR_OK;
}

uint64_t kdri_hash_number(uint64_t number, uint64_t before)
{
	uint64_t state = number ^ (before * 0x9e3779b97f4a7c15u);
	return kdri_random(&state);
}

static uint64_t hash_words(const void *data, size_t bytes, uint64_t before)
{
	const unsigned char *at = data;
	uint64_t word = 0;
	for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		before = (before ^ word) * 0x9e3779b97f4a7c15u;
		before ^= before >> 29;
	}
	word = 0;
	memcpy(&word, at, bytes);
	return kdri_hash_number(word, before);
}

uint64_t kdri_mat_hash(const kdr_mat *x, uint64_t before)
{
	const int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	before = kdri_hash_number((uint64_t)n, before);
	before = kdri_hash_number((uint64_t)d, before);
	if (x->kind == KDR_MAT_DENSE) {
		for (int64_t i = 0; i < n; i++)
			before = hash_words(x->as.dense.data + i * x->as.dense.stride,
			                    (size_t)d * sizeof(double), before);
		return before;
	}
	const kdr_csr *c = &x->as.csr;
	const size_t entries = n > 0 ? (size_t)(c->rowptr[n] - c->rowptr[0]) : 0;
	before = hash_words(c->rowptr, (size_t)(n > 0 ? n + 1 : 0) * sizeof *c->rowptr, before);
	if (entries == 0)
		return before;
	before = hash_words(c->col + c->rowptr[0], entries * sizeof *c->col, before);
	return hash_words(c->val + c->rowptr[0], entries * sizeof *c->val, before);
}
