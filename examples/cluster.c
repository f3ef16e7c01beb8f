/* The smallest useful program: cluster two related data sets held in memory.
 *
 * cc cluster.c $(pkg-config --cflags --libs kindred) && ./a.out */
#include <kindred/kindred.h>
#include <stdio.h>

int main(void)
{
	const double a[] = { 0, 0, 0, 1, 1, 0, 9, 9, 9, 8, 8, 9 }; /* six samples, two features */
	const double b[] = { 1, 1, 0, 0, 9, 8, 8, 8 };             /* four samples, the same features */
	kdr_task tasks[] = {
		{ .name = "a", .x = kdr_mat_from_dense(a, 6, 2), .k = 2 },
		{ .name = "b", .x = kdr_mat_from_dense(b, 4, 2), .k = 2 },
	};
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_context *ctx = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;

	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st == KDR_OK)
		st = kdr_options_new(ctx, "kmeans", &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "n_init", "5");
	if (st == KDR_OK)
		st = kdr_fit(ctx, "kmeans", &problem, options, &result);
	if (st != KDR_OK) {
		fprintf(stderr, "%s: %s\n", kdr_strerror(st), kdr_context_error(ctx));
	} else {
		for (int64_t t = 0; t < 2; t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(result, t, &n);
			printf("%s:", tasks[t].name);
			for (int64_t i = 0; i < n; i++)
				printf(" %lld", (long long)labels[i]);
			printf("\n");
		}
	}
	kdr_result_free(result);
	kdr_options_free(options);
	kdr_context_free(ctx);
	return st == KDR_OK ? 0 : 1;
}
