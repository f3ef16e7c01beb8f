/* The smallest useful program: cluster two related data sets, as 'kindred cluster' would.
 *
 * cc cluster.c $(pkg-config --cflags --libs kindred) && ./a.out */
#include <kindred/kindred.h>
#include <stdio.h>

int main(void)
{
	const double a[] = { 0, 0, 0, 1, 1, 0, 9, 9, 9, 8, 8, 9 }; /* six samples, two features */
	const double b[] = { 1, 1, 0, 0, 9, 8, 8, 8 };             /* four samples, the same features */
	const kdr_mat x[] = { kdr_mat_from_dense(a, 6, 2), kdr_mat_from_dense(b, 4, 2) };
	kdr_data *sets[2] = { NULL };
	kdr_context *ctx = NULL;
	kdr_result *result = NULL;
	kdr_job_options options;
	kdr_job_options_init(&options);
	options.k = 2;

	kdr_status st = kdr_context_new(&ctx, NULL);
	for (int t = 0; t < 2 && st == KDR_OK; t++)
		st = kdr_data_new(ctx, t ? "b" : "a", &x[t], NULL, &sets[t]);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, sets, 2, &options, &result);
	if (st != KDR_OK)
		fprintf(stderr, "%s: %s\n", kdr_strerror(st), kdr_context_error(ctx));
	for (int64_t t = 0; t < 2 && st == KDR_OK; t++) {
		int64_t n;
		const int64_t *labels = kdr_result_labels(result, t, &n);
		printf("%s:", kdr_result_task_name(result, t));
		for (int64_t i = 0; i < n; i++)
			printf(" %lld", (long long)labels[i]);
		printf("\n");
	}
	kdr_result_free(result);
	kdr_data_free(sets[0]);
	kdr_data_free(sets[1]);
	kdr_context_free(ctx);
	return st == KDR_OK ? 0 : 1;
}
