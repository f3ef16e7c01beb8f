/* The k best of a row, in the registers of a warp. SPDX-License-Identifier: BSD-3-Clause
 *
 * Place p of the list is in lane p mod 32, register p / 32. Scores are processed 32 at a time, one per lane. After the
 * first few thousand, hardly any gets into the list, so that the usual cost is one comparison and one warp vote. */
#ifndef KDRI_CUDA_LISTS_CUH
#define KDRI_CUDA_LISTS_CUH

#include "cuda.cuh"

/* The values that scores are computed from, on the device, for queries and candidates from some row on: members as in
 * kdri_nn. */
struct nn_job {
	int score;
	double magic, square;
	const double *factor, *shift, *own_factor, *own_shift;
	int64_t myself, from, k;
	bool fresh;
	int32_t *index;
	double *best;

	/* The same from query row i and candidate row j on. */
	nn_job part(int64_t i, int64_t j) const
	{
		nn_job p = *this;
		p.factor += j;
		p.shift = shift ? shift + j : nullptr;
		p.own_factor += i;
		p.own_shift = own_shift ? own_shift + i : nullptr;
		p.myself += i;
		p.from += j;
		p.fresh = fresh && j == 0;
		p.index += i * k;
		p.best += i * k;
		return p;
	}
};

template <int REGS> struct nn_list {
	double v[REGS], floor, f, g;
	int32_t at[REGS];
	int last_lane;
	bool last_reg;

	__device__ double last() const
	{
		return __shfl_sync(~0u, last_reg && REGS > 1 ? v[REGS - 1] : v[0], last_lane);
	}

	/* The current list of query row r. */
	__device__ void load(const nn_job &job, int64_t r, int lane)
	{
#pragma unroll
		for (int q = 0; q < REGS; q++) {
			int64_t p = q * 32 + lane;
			bool there = p < job.k && !job.fresh;
			v[q] = there ? job.best[r * job.k + p] : -INFINITY;
			at[q] = there ? job.index[r * job.k + p] : -1;
		}
		f = job.score == KDRI_NN_EUCLIDEAN ? 0 : job.own_factor[r];
		g = job.score == KDRI_NN_SHIFTED ? job.own_shift[r] - job.square : 0;
		last_lane = (int)((job.k - 1) % 32);
		last_reg = job.k > 32;
		floor = last();
	}

	/* The score of candidate row j, with which the product is p. */
	__device__ double score(const nn_job &job, int64_t j, double p) const
	{
		double s;
		if (job.score == KDRI_NN_COSINE)
			s = __dmul_rn(__dmul_rn(p, job.factor[j]), f);
		else if (job.score == KDRI_NN_SHIFTED)
			s = __dmul_rn(__dmul_rn(p - job.shift[j] - g, job.factor[j]), f);
		else
			s = p - job.factor[j];
		return (s + job.magic) - job.magic;
	}

	/* Rows where0 + lane with score s each; all lanes take part. */
	__device__ void meet(double s, int64_t where0, int lane)
	{
		const unsigned all = ~0u;
		unsigned better = __ballot_sync(all, s > floor);
		while (better) {
			int from_lane = __ffs((int)better) - 1;
			better &= better - 1;
			double now = __shfl_sync(all, s, from_lane);
			int32_t where = (int32_t)(where0 + from_lane);
			if (!(now > floor))
				continue;
			/* Those below move on by one place. */
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
					bool here = !(up_v < now); /* the one before stays: insert here */
					v[q] = here ? now : up_v;
					at[q] = here ? where : up_at;
				}
			}
			floor = last();
		}
	}

	__device__ void store(const nn_job &job, int64_t r, int lane) const
	{
#pragma unroll
		for (int q = 0; q < REGS; q++) {
			int64_t p = q * 32 + lane;
			if (p < job.k) {
				job.best[r * job.k + p] = v[q];
				job.index[r * job.k + p] = at[q];
			}
		}
	}
};

#endif
