/* Entries of a sparse matrix in any order, sorted in place. SPDX-License-Identifier: BSD-3-Clause
 *
 * Triples of 16 bytes become compressed rows of 12, so that a copy would take more than twice the memory of the result.
 * Instead, an American flag sort [McIlroy, Bostic, McIlroy 1993] permutes them in place: the key is (row, column) in as
 * few bits as the shape needs, each level sorts by eight bits from the top, and small pieces are finished by insertion
 * sort. It works in O(n x bytes of the key) on any input. The first level is sequential, its 256 pieces are independent
 * of each other and sorted in parallel. */
#include "io/binary.h"
#include "io/text.h"

/* Conversion of numbers in files: any width, either byte order. */

size_t kdri_element_size(kdri_element type)
{
	static const unsigned char size[] = {
		[KDRI_ELEMENT_I1] = 1,  [KDRI_ELEMENT_I2] = 2, [KDRI_ELEMENT_I4] = 4, [KDRI_ELEMENT_I8] = 8,
		[KDRI_ELEMENT_U1] = 1,  [KDRI_ELEMENT_U2] = 2, [KDRI_ELEMENT_U4] = 4, [KDRI_ELEMENT_U8] = 8,
		[KDRI_ELEMENT_F2] = 2,  [KDRI_ELEMENT_F4] = 4, [KDRI_ELEMENT_F8] = 8, [KDRI_ELEMENT_BOOL] = 1,
		[KDRI_ELEMENT_BF2] = 2,
	};
	return size[type];
}

bool kdri_element_integer(kdri_element type)
{
	return type <= KDRI_ELEMENT_U8;
}

bool kdri_little_endian(void)
{
	const uint16_t one = 1;
	unsigned char first;
	memcpy(&first, &one, 1);
	return first == 1;
}

static uint16_t swap16(uint16_t x)
{
	return (uint16_t)(x << 8 | x >> 8);
}

static uint32_t swap32(uint32_t x)
{
	return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

static uint64_t swap64(uint64_t x)
{
	return (uint64_t)swap32((uint32_t)x) << 32 | swap32((uint32_t)(x >> 32));
}

/* IEEE 754 binary16: every value is a double. */
static double half_to_double(uint16_t h)
{
	int exponent = h >> 10 & 31, fraction = h & 1023;
	double magnitude;
	if (exponent == 31)
		magnitude = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		magnitude = ldexp(fraction, -24);
	else
		magnitude = ldexp(1024 + fraction, exponent - 25);
	return h >> 15 ? -magnitude : magnitude;
}

/* One loop a type: `bits` unsigned of the element's width, in this machine's order. */
#define CONVERT(bits_type, swap, expression) \
	for (int64_t i = 0; i < count; i++) { \
		bits_type bits; \
		memcpy(&bits, from + (size_t)i * sizeof bits, sizeof bits); \
		if (swapped) \
			bits = swap(bits); \
		out[i] = (expression); \
	} \
	break
#define SAME(x) (x)

static float as_float(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static double as_double(uint64_t bits)
{
	double x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

void kdri_element_to_double(kdri_element type, bool swapped, const void *raw, int64_t count, double *out)
{
	const unsigned char *from = raw;
	if (type == KDRI_ELEMENT_F8 && !swapped) {
		memmove(out, raw, (size_t)count * sizeof *out);
		return;
	}
	switch (type) {
	case KDRI_ELEMENT_I1: CONVERT(uint8_t, SAME, (int8_t)bits);
	case KDRI_ELEMENT_I2: CONVERT(uint16_t, swap16, (int16_t)bits);
	case KDRI_ELEMENT_I4: CONVERT(uint32_t, swap32, (int32_t)bits);
	case KDRI_ELEMENT_I8: CONVERT(uint64_t, swap64, (double)(int64_t)bits);
	case KDRI_ELEMENT_U1: CONVERT(uint8_t, SAME, bits);
	case KDRI_ELEMENT_U2: CONVERT(uint16_t, swap16, bits);
	case KDRI_ELEMENT_U4: CONVERT(uint32_t, swap32, bits);
	case KDRI_ELEMENT_U8: CONVERT(uint64_t, swap64, (double)bits);
	case KDRI_ELEMENT_F2: CONVERT(uint16_t, swap16, half_to_double(bits));
	case KDRI_ELEMENT_F4: CONVERT(uint32_t, swap32, as_float(bits));
	case KDRI_ELEMENT_F8: CONVERT(uint64_t, swap64, as_double(bits));
	case KDRI_ELEMENT_BOOL: CONVERT(uint8_t, SAME, bits != 0);
	case KDRI_ELEMENT_BF2: CONVERT(uint16_t, swap16, as_float((uint32_t)bits << 16));
	}
}

bool kdri_element_to_int64(kdri_element type, bool swapped, const void *raw, int64_t count, int64_t *out)
{
	const unsigned char *from = raw;
	switch (type) {
	case KDRI_ELEMENT_I1: CONVERT(uint8_t, SAME, bits < 128 ? bits : bits - 256);
	case KDRI_ELEMENT_I2: CONVERT(uint16_t, swap16, (int16_t)bits);
	case KDRI_ELEMENT_I4: CONVERT(uint32_t, swap32, (int32_t)bits);
	case KDRI_ELEMENT_I8: CONVERT(uint64_t, swap64, (int64_t)bits);
	case KDRI_ELEMENT_BOOL:
	case KDRI_ELEMENT_U1: CONVERT(uint8_t, SAME, bits);
	case KDRI_ELEMENT_U2: CONVERT(uint16_t, swap16, bits);
	case KDRI_ELEMENT_U4: CONVERT(uint32_t, swap32, bits);
	case KDRI_ELEMENT_U8: CONVERT(uint64_t, swap64, bits > INT64_MAX ? INT64_MIN : (int64_t)bits);
	default: return false;
	}
	if (type == KDRI_ELEMENT_U8)
		for (int64_t i = 0; i < count; i++)
			if (out[i] == INT64_MIN)
				return false;
	return true;
}

enum { SMALL = 32, PIECES = 256 };

typedef struct entries {
	int32_t *row; /* NULL: the key is the column alone */
	int32_t *col;
	double *val;
	int col_bits;
} entries;

static inline uint64_t entries_key(const entries *e, int64_t i)
{
	return e->row ? (uint64_t)e->row[i] << e->col_bits | (uint64_t)e->col[i] : (uint64_t)e->col[i];
}

static inline void entries_swap(const entries *e, int64_t a, int64_t b)
{
	int32_t c = e->col[a];
	double v = e->val[a];
	e->col[a] = e->col[b];
	e->val[a] = e->val[b];
	e->col[b] = c;
	e->val[b] = v;
	if (e->row) {
		int32_t r = e->row[a];
		e->row[a] = e->row[b];
		e->row[b] = r;
	}
}

/* Deals [from, to) out by the eight key bits at `shift`; start[p] .. start[p + 1] is piece p. */
static void entries_deal(const entries *e, int64_t from, int64_t to, int shift, int64_t *start)
{
	int64_t head[PIECES], count[PIECES] = { 0 };
	for (int64_t i = from; i < to; i++)
		count[(entries_key(e, i) >> shift) & 255]++;
	start[0] = from;
	for (int p = 0; p < PIECES; p++) {
		head[p] = start[p];
		start[p + 1] = start[p] + count[p];
	}
	for (int p = 0; p < PIECES; p++)
		while (head[p] < start[p + 1]) {
			int home = (int)((entries_key(e, head[p]) >> shift) & 255);
			if (home == p)
				head[p]++;
			else
				entries_swap(e, head[p], head[home]++);
		}
}

/* `bits` of the key are still to be sorted by. At most eight levels deep. */
static void entries_sort(const entries *e, int64_t from, int64_t to, int bits)
{
	int64_t start[PIECES + 1];
	if (to - from <= SMALL) {
		for (int64_t i = from + 1; i < to; i++)
			for (int64_t j = i; j > from && entries_key(e, j - 1) > entries_key(e, j); j--)
				entries_swap(e, j - 1, j);
		return;
	}
	if (bits <= 0)
		return;
	int shift = KDRI_MAX(bits - 8, 0);
	entries_deal(e, from, to, shift, start);
	for (int p = 0; p < PIECES; p++)
		if (start[p + 1] - start[p] > 1)
			entries_sort(e, start[p], start[p + 1], shift);
}

/* Bits that hold 0 .. count - 1. */
static int bits_for(int64_t count)
{
	int bits = 0;
	while (bits < 32 && (int64_t)1 << bits < count)
		bits++;
	return bits;
}

/* Sorts `count` entries by row and column in place, adds up duplicates and drops zeros. */
static void kdri_entries_sort(const kdr_context *ctx, int64_t rows, int64_t cols, int64_t *count,
                              int32_t *row, int32_t *col, double *val)
{
	entries e = { row, col, val, bits_for(cols) };
	int64_t n = *count, start[PIECES + 1], kept = 0;
	bool sorted = true, clean = true;
	(void)ctx; /* without OpenMP */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) reduction(&& : sorted, clean)
	for (int64_t i = 0; i < n; i++) {
		sorted = sorted && (i == 0 || entries_key(&e, i - 1) < entries_key(&e, i));
		clean = clean && val[i] != 0;
	}
	if (sorted && clean)
		return;
	if (!sorted) {
		int shift = KDRI_MAX(bits_for(rows) + e.col_bits - 8, 0);
		entries_deal(&e, 0, n, shift, start);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
		for (int p = 0; p < PIECES; p++)
			entries_sort(&e, start[p], start[p + 1], shift);
	}
	for (int64_t i = 0; i < n;) {
		double sum = val[i];
		int64_t j = i + 1;
		for (; j < n && row[j] == row[i] && col[j] == col[i]; j++)
			sum += val[j];
		if (sum != 0) {
			row[kept] = row[i];
			col[kept] = col[i];
			val[kept++] = sum;
		}
		i = j;
	}
	*count = kept;
}

kdr_status kdri_entries_to_rows(kdr_context *ctx, int64_t rows, int64_t cols, int64_t *count, int32_t *row,
                                int32_t *col, double *val, int64_t **rowptr)
{
	int64_t *begin = NULL;
	kdri_entries_sort(ctx, KDRI_MAX(rows, 1), cols, count, row, col, val);
	kdr_status st = KDRI_NEW0(ctx, &begin, rows + 1);
	if (st != KDR_OK)
		return st;
		/* Where an entry of another row than the one before it is, the rows after that one begin, up to its own. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t p = 0; p <= *count; p++) {
		const int64_t from = p > 0 ? row[p - 1] + 1 : 0, to = p < *count ? row[p] : rows;
		for (int64_t i = from; i <= to; i++)
			begin[i] = p;
	}
	*rowptr = begin;
	return KDR_OK;
}

void kdri_entries_sort_row(int64_t count, int32_t *col, double *val)
{
	entries e = { 0 };
	e.col = col;
	e.val = val;
	for (int64_t i = 1; i < count; i++)
		if (col[i - 1] > col[i]) {
			entries_sort(&e, 0, count, 31);
			return;
		}
}

/* Samples in columns made samples in rows. */

enum { TILE = 32 }; /* rows and columns that are turned together, so that both stay in the cache */

static kdr_status turn_dense(kdr_context *ctx, kdr_data *d)
{
	double *turned = NULL;
	int64_t rows = d->rows, cols = d->cols, size;
	KDRI_DO(kdri_mul(ctx, rows, cols, &size));
	KDRI_DO(KDRI_NEW(ctx, &turned, size));
	for (int64_t i = 0; i < rows; i += TILE)
		for (int64_t j = 0; j < cols; j += TILE)
			for (int64_t p = i; p < KDRI_MIN(i + TILE, rows); p++)
				for (int64_t q = j; q < KDRI_MIN(j + TILE, cols); q++)
					turned[q * rows + p] = d->dense[p * cols + q];
	kdri_free(ctx, d->dense);
	d->dense = turned;
	return KDR_OK;
}

kdr_status kdri_data_transpose(kdr_context *ctx, kdr_data *d)
{
	int64_t rows = d->rows, cols = d->cols;
	char **names = d->features;
	if (d->labels || d->groups.of)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: transposed data cannot have a label column or task column", d->path);
	/* The kinds of columns describe features; columns that are samples must be numbers. */
	for (int64_t j = 0; d->sheet && j < d->sheet->ncolumns; j++) {
		kdr_column_kind kind = d->sheet->columns[j].kind;
		if (kind == KDR_COLUMN_CATEGORY || kind == KDR_COLUMN_DATE || kind == KDR_COLUMN_TEXT)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "%s: column %lld (%s) is not a sample but was detected as %s%s%s; use --columns '-NAME' to skip it",
			        d->path, (long long)j + 1, d->sheet->columns[j].name,
			        kdr_column_kind_name(kind), d->sheet->columns[j].why[0] ? ": " : "",
			        d->sheet->columns[j].why);
	}
	kdri_sheet_free(&d->allocator, d->sheet);
	d->sheet = NULL;
	if (d->kind == KDR_MAT_DENSE) {
		KDRI_DO(turn_dense(ctx, d));
	} else {
		/* Rows that are compressed are the columns of the other. */
		int64_t nnz = d->rowptr[rows];
		KDRI_DO(kdri_compressed_check(ctx, d->path, cols, rows, true, rows + 1, nnz, nnz));
	}
	kdri_sheet_free(&d->allocator, d->sheet); /* its columns are rows now */
	d->sheet = NULL;
	d->dialect = (kdri_dialect){ 0 };
	d->rows = cols;
	d->cols = rows;
	d->features = d->ids;
	d->ids = names;
	if (d->kind == KDR_MAT_CSR)
		KDRI_DO(kdri_compressed_finish(ctx, d->path, d, true, d->rowptr[rows]));
	return KDR_OK;
}

/* The rows of a part of a file. */

kdri_range kdri_range_of(const kdr_read_options *options, int64_t rows)
{
	if (!options || options->parts < 1)
		return (kdri_range){ 0, rows };
	int64_t each = rows / options->parts, rest = rows % options->parts, i = options->part;
	return (kdri_range){ i * each + KDRI_MIN(i, rest), (i + 1) * each + KDRI_MIN(i + 1, rest) };
}

kdr_status kdri_range_note(kdr_context *ctx, const kdr_read_options *options, kdri_range range, int64_t rows,
                           kdr_data *data)
{
	if (!options || options->parts < 1)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &data->origin, range.last - range.first));
	for (int64_t i = range.first; i < range.last; i++)
		data->origin[i - range.first] = i;
	data->file_rows = rows;
	return KDR_OK;
}

void kdri_range_keep(kdr_context *ctx, const kdr_data *data, char **texts)
{
	if (!data->origin || !texts)
		return;
	const int64_t first = data->rows ? data->origin[0] : 0;
	for (int64_t i = 0; i < data->file_rows; i++)
		if (i < first || i >= first + data->rows)
			kdri_free(ctx, texts[i]);
	memmove(texts, texts + first, (size_t)data->rows * sizeof *texts);
}
