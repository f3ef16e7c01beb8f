/* Order statistics by quickselect: O(n) on average. SPDX-License-Identifier: BSD-3-Clause
 *
 * The pivot is the median of first, middle and last, so that sorted input is no bad case. Entries equal to
 * the pivot are shared between both sides, so that many equal ones are none either. */
#include "algo/parts/select.h"

static void swap(double *a, double *b)
{
	double c = *a;
	*a = *b;
	*b = c;
}

double kdri_select(double *v, int64_t n, int64_t k)
{
	int64_t low = 0, high = n - 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2, i = low, j = high;
		if (v[middle] < v[low])
			swap(&v[middle], &v[low]);
		if (v[high] < v[low])
			swap(&v[high], &v[low]);
		if (v[high] < v[middle])
			swap(&v[high], &v[middle]);
		double pivot = v[middle];
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i <= j)
				swap(&v[i++], &v[j--]);
		}
		/* low..j <= pivot, i..high >= pivot, what lies between equals it */
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

double kdri_median(double *v, int64_t n)
{
	double upper = kdri_select(v, n, n / 2), lower = upper;
	if (n % 2 == 0) {
		lower = v[0];
		for (int64_t i = 1; i < n / 2; i++)
			lower = v[i] > lower ? v[i] : lower;
	}
	return (lower + upper) / 2;
}
