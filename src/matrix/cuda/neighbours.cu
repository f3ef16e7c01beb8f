/* Nearest neighbours. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. Products of some rows with some others are one dgemm; then a warp goes along a row of them, 32
 * at a time, with its list of the k best in registers (lists.cuh). */
#include "lists.cuh"

enum { ASKING = 8192, ASKED = 4096 };

template <int REGS>
static __global__ void scan_rows(const double *dots, int64_t lds, int64_t rows, int64_t cols, nn_job job)
{
	int lane = threadIdx.x;
	int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y, own = job.first + r;
	if (r >= rows)
		return;
	nn_list<REGS> list;
	list.load(job, r, lane);
	for (int64_t c0 = 0; c0 < cols; c0 += 32) {
		int64_t c = c0 + lane, j = job.from + c;
		double s = c < cols && j != own ? list.score(job, j, dots[r * lds + c]) : -INFINITY;
		list.meet(s, job.from + c0, lane);
	}
	list.store(job, r, lane);
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
			nn_job job = nn_job_of(nn);
			job.first += i;
			job.from += j;
			job.fresh = nn->fresh && j == 0;
			job.index += i * nn->k;
			job.best += i * nn->k;
			auto scan = nn->k > 32 ? scan_rows<2> : scan_rows<1>;
			scan<<<(unsigned)parts_of(high, 8), dim3(32, 8), 0, stream>>>(dots.as<double>(), n, high, wide, job);
			TRY_LAUNCH(d, "neighbours");
		}
	return KDRI_D_OK;
}

void cuda_neighbours(kdri_device *d)
{
	d->neighbours = cuda_find;
}
