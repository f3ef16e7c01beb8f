/* The pseudo-inverse of a symmetric matrix. SPDX-License-Identifier: BSD-3-Clause
 *
 * With g = V diag(w) V', g^+ = V diag(1/w) V' over the eigenvalues that are not 0 to rounding. For the small
 * matrices P'P of methods whose columns may vanish. O(c^3). */
#include <float.h>

#include "matrix/linalg.h"

kdr_status kdri_pseudo_inverse(kdr_context *ctx, int64_t c, const double *g, double *out, double *half)
{
	kdr_status st;
	double *v = NULL, *w = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &v, c * c));
	KDRI_TRY(KDRI_NEW(ctx, &w, c));
	memcpy(v, g, (size_t)(c * c) * sizeof *v);
	KDRI_TRY(kdri_eigh(ctx, c, v, c, w));
	memset(out, 0, (size_t)(c * c) * sizeof *out);
	if (half)
		memset(half, 0, (size_t)(c * c) * sizeof *half);
	for (int64_t j = 0; j < c; j++) {
		if (w[j] <= 1e-12 * w[c - 1] || w[j] <= DBL_MIN)
			continue;
		for (int64_t p = 0; p < c; p++)
			for (int64_t q = 0; q < c; q++) {
				double vv = v[p * c + j] * v[q * c + j];
				out[p * c + q] += vv / w[j];
				if (half)
					half[p * c + q] += vv / sqrt(w[j]);
			}
	}
done:
	KDRI_FREE(ctx, v, w);
	return st;
}
