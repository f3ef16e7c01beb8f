/* Nearest neighbours. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of some rows with some others are one dgemm; then a warp scans a row of them, 32 at a time, with its list
 * of the k best in registers (lists.cuh). */
#include "lists.cuh"

enum { ASKING = 8192, ASKED = 4096 };

template <int REGS>
static __global__ void scan_rows(const double *dots, int64_t lds, int64_t rows, int64_t cols, nn_job job)
{
	int lane = threadIdx.x;
	int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
	if (r >= rows)
		return;
	nn_list<REGS> list;
	list.load(job, r, lane);
	for (int64_t c0 = 0; c0 < cols; c0 += 32) {
		int64_t c = c0 + lane;
		double s = c < cols && job.from + c != job.myself + r ? list.score(job, c, dots[r * lds + c]) : -INFINITY;
		list.meet(s, job.from + c0, lane);
	}
	list.store(job, r, lane);
}

static kdr_status dense_neighbours(kdri_device *d, kdri_block rows, kdri_block x, nn_job all)
{
	cudaStream_t stream = self_of(d)->stream;
	const double one = 1, zero = 0;
	int64_t m = rows.rows < ASKING ? rows.rows : ASKING, n = x.rows < ASKED ? x.rows : ASKED;
	cuda_scratch dots(d);
	if (m == 0 || n == 0)
		return KDR_OK;
	TRY_D(dots.take((size_t)(m * n) * 8));
	for (int64_t i = 0; i < rows.rows; i += m)
		for (int64_t j = 0; j < x.rows; j += n) {
			int64_t high = rows.rows - i < m ? rows.rows - i : m, wide = x.rows - j < n ? x.rows - j : n;
			TRY_LIB(d, "neighbours",
			        cublasDgemm_64(self_of(d)->blas, CUBLAS_OP_T, CUBLAS_OP_N, wide, high, x.cols, &one,
			                       at(x) + j * x.stride, x.stride, at(rows) + i * rows.stride, rows.stride, &zero,
			                       dots.as<double>(), n));
			auto scan = all.k > 32 ? scan_rows<2> : scan_rows<1>;
			scan<<<(unsigned)parts_of(high, 8), dim3(32, 8), 0, stream>>>(dots.as<double>(), n, high, wide,
			                                                             all.part(i, j));
			TRY_LAUNCH(d, "neighbours");
		}
	return KDR_OK;
}

static kdr_status cuda_find(kdr_context *, kdri_drows rows, kdri_drows others, const kdri_nn *nn)
{
	kdri_device *d = rows.sparse ? rows.csr.dev : rows.dense.dev;
	ENTER(d, "neighbours");
	const int64_t entries = rows.rows * nn->k;
	cuda_sent<double> factor(d), shift(d), own_factor(d), own_shift(d);
	cuda_scratch index(d), best(d);
	if (entries == 0)
		return KDR_OK;
	TRY_D(factor.of("neighbours", nn->factor, others.rows));
	TRY_D(shift.of("neighbours", nn->shift, others.rows));
	TRY_D(own_factor.of("neighbours", nn->own_factor, rows.rows));
	TRY_D(own_shift.of("neighbours", nn->own_shift, rows.rows));
	TRY_D(index.take((size_t)entries * sizeof *nn->index));
	TRY_D(best.take((size_t)entries * sizeof *nn->best));
	if (!nn->fresh) {
		TRY_D(send(d, "neighbours", index.data, nn->index, (size_t)entries * sizeof *nn->index));
		TRY_D(send(d, "neighbours", best.data, nn->best, (size_t)entries * sizeof *nn->best));
	}
	const nn_job job = { (int)nn->score, nn->magic, nn->square, factor.data, shift.data, own_factor.data, own_shift.data,
		             nn->myself, nn->from, nn->k, nn->fresh, index.as<int32_t>(), best.as<double>() };
	TRY_D(rows.sparse ? neighbours_of_sparse(d, &rows.csr, &others.csr, job)
	                  : dense_neighbours(d, rows.dense, others.dense, job));
	TRY_D(fetch(d, "neighbours", nn->index, index.data, (size_t)entries * sizeof *nn->index));
	return fetch(d, "neighbours", nn->best, best.data, (size_t)entries * sizeof *nn->best);
}

void cuda_neighbours(kdri_device *d)
{
	d->neighbours = cuda_find;
}
