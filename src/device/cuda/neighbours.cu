/* Nearest neighbours. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. Products of some rows with some others are one dgemm; then a warp goes along a row of them, 32
 * at a time, with its list of the k best in registers, place p in lane p mod 32. After the first few thousand hardly one
 * gets into the list: a comparison and a vote. */
#include "cuda.cuh"

enum { ASKING = 8192, ASKED = 4096 };

template <int REGS>
static __global__ void scan_rows(const double *dots, int64_t lds, int64_t rows, int64_t cols, int score, double magic,
                                 double square, const double *factor, const double *shift, int64_t first,
                                 int64_t from, int64_t k, bool fresh, int32_t *index, double *best)
{
	const unsigned all = ~0u;
	int lane = threadIdx.x;
	int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y, own = first + r;
	if (r >= rows)
		return;
	double v[REGS];
	int32_t at[REGS];
#pragma unroll
	for (int q = 0; q < REGS; q++) {
		int64_t p = q * 32 + lane;
		bool there = p < k && !fresh;
		v[q] = there ? best[r * k + p] : -INFINITY;
		at[q] = there ? index[r * k + p] : -1;
	}
	double f = score == KDRI_NN_EUCLIDEAN ? 0 : factor[own];
	double g = score == KDRI_NN_SHIFTED ? shift[own] - square : 0;
	int last_lane = (int)((k - 1) % 32), last_reg = (int)((k - 1) / 32);
	double floor = __shfl_sync(all, last_reg && REGS > 1 ? v[REGS - 1] : v[0], last_lane);
	for (int64_t c0 = 0; c0 < cols; c0 += 32) {
		int64_t c = c0 + lane, j = from + c;
		double s = -INFINITY;
		if (c < cols && j != own) {
			double p = dots[r * lds + c];
			if (score == KDRI_NN_COSINE)
				s = __dmul_rn(__dmul_rn(p, factor[j]), f);
			else if (score == KDRI_NN_SHIFTED)
				s = __dmul_rn(__dmul_rn(p - shift[j] - g, factor[j]), f);
			else
				s = p - factor[j];
			s = (s + magic) - magic;
		}
		unsigned better = __ballot_sync(all, s > floor);
		while (better) {
			int from_lane = __ffs((int)better) - 1;
			better &= better - 1;
			double now = __shfl_sync(all, s, from_lane);
			int32_t where = (int32_t)(from + c0 + from_lane);
			if (!(now > floor))
				continue;
			/* (E20): those below move on by one place. */
			double carry_v = 0;
			int32_t carry_at = 0;
#pragma unroll
			for (int q = 0; q < REGS; q++) {
				double up_v = __shfl_up_sync(all, v[q], 1);
				int32_t up_at = __shfl_up_sync(all, at[q], 1);
				double end_v = __shfl_sync(all, v[q], 31);
				int32_t end_at = __shfl_sync(all, at[q], 31);
				if (lane == 0) {
					up_v = q ? carry_v : INFINITY;
					up_at = q ? carry_at : -1;
				}
				carry_v = end_v;
				carry_at = end_at;
				if (v[q] < now) {
					bool here = !(up_v < now); /* the one before stays: this is the place */
					v[q] = here ? now : up_v;
					at[q] = here ? where : up_at;
				}
			}
			floor = __shfl_sync(all, last_reg && REGS > 1 ? v[REGS - 1] : v[0], last_lane);
		}
	}
#pragma unroll
	for (int q = 0; q < REGS; q++) {
		int64_t p = q * 32 + lane;
		if (p < k) {
			best[r * k + p] = v[q];
			index[r * k + p] = at[q];
		}
	}
}

static kdri_dstatus cuda_find(kdri_device *d, kdri_dmat rows, kdri_dmat x, const kdri_nn *nn)
{
	ENTER(d, "neighbours");
	cudaStream_t stream = self_of(d)->stream;
	const double one = 1, zero = 0;
	int64_t m = rows.rows < ASKING ? rows.rows : ASKING, n = x.rows < ASKED ? x.rows : ASKED;
	cuda_scratch dots(d);
	if (m == 0 || n == 0)
		return KDRI_D_OK;
	TRY_D(dots.take((size_t)(m * n) * 8));
	for (int64_t i = 0; i < rows.rows; i += m)
		for (int64_t j = 0; j < x.rows; j += n) {
			int64_t high = rows.rows - i < m ? rows.rows - i : m, wide = x.rows - j < n ? x.rows - j : n;
			TRY_LIB(d, "neighbours",
			        cublasDgemm_64(self_of(d)->blas, CUBLAS_OP_T, CUBLAS_OP_N, wide, high, x.cols, &one,
			                       at(x) + j * x.stride, x.stride, at(rows) + i * rows.stride, rows.stride, &zero,
			                       dots.as<double>(), n));
			auto scan = nn->k > 32 ? scan_rows<2> : scan_rows<1>;
			scan<<<(unsigned)parts_of(high, 8), dim3(32, 8), 0, stream>>>(
				dots.as<double>(), n, high, wide, (int)nn->score, nn->magic, nn->square, vec<double>(nn->factor),
				vec<double>(nn->shift), nn->first + i, nn->from + j, nn->k, nn->fresh && j == 0,
				vec<int32_t>(nn->index) + i * nn->k, vec<double>(nn->best) + i * nn->k);
			TRY_LAUNCH(d, "neighbours");
		}
	return KDRI_D_OK;
}

void cuda_neighbours(kdri_device *d)
{
	d->neighbours = cuda_find;
}
