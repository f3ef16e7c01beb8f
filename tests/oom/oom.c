/* Every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each scenario uses the public API from beginning to end. It is run with 0, 1, 2, ... allocations allowed,
 * until it succeeds; every run before that must return KDR_ERR_MEMORY, and every run must give back all it
 * took. Two ways of failing: only the one allocation fails, or it and all later ones.
 *
 * KINDRED_OOM_MOST=N in the environment: at most about N of a scenario's allocations, evenly spread, for every day and for a
 * sanitizer that makes each run take ten times as long; without one, all are tried (oom.every, minutes). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oom.h"

typedef struct budget {
	long allowed, made, live;
	int once; /* only allocation number `allowed` fails */
} budget;

static int refuse(budget *b)
{
	long number = b->made++;
	return b->once ? number == b->allowed : number >= b->allowed;
}

static void *count_alloc(void *user, size_t size)
{
	budget *b = user;
	void *p;
	/* Parallel code must not allocate, so plain counters do; the thread sanitizer would tell. */
	if (refuse(b) || !(p = malloc(size)))
		return NULL;
	b->live++;
	return p;
}

static void *count_realloc(void *user, void *ptr, size_t size)
{
	return refuse(user) ? NULL : realloc(ptr, size);
}

static void count_free(void *user, void *ptr)
{
	if (ptr)
		((budget *)user)->live--;
	free(ptr);
}

static char folder[] = "/tmp/kindred-oom-XXXXXX";

const char *file(const char *name)
{
	static char path[4][256];
	static int next;
	char *p = path[next++ % 4];
	snprintf(p, 256, "%s/%s", folder, name);
	return p;
}

double points[N * D];
int64_t labels_a[N], labels_b[N], rowptr[N + 1];
int32_t columns[N * D];

kdr_status fit_set(kdr_context *ctx, const char *method, const kdr_problem *problem,
                   const char *const (*settings)[2], kdr_result **out)
{
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, method, &options);
	for (; settings[0][0] && st == KDR_OK; settings++)
		if (settings[0][1])
			st = kdr_options_set(ctx, options, settings[0][0], settings[0][1]);
	if (st == KDR_OK)
		st = kdr_fit(ctx, method, problem, options, &result);
	kdr_options_free(options);
	if (out && st == KDR_OK)
		*out = result;
	else
		kdr_result_free(result);
	return st;
}

static void make_points(void)
{
	for (int i = 0; i < N; i++) {
		labels_a[i] = i % K;
		labels_b[i] = i * 7 % 4;
		rowptr[i + 1] = (int64_t)(i + 1) * D;
		for (int j = 0; j < D; j++) {
			points[i * D + j] = (i % K) * 10 + (i * 31 + j * 17) % 7;
			columns[i * D + j] = j;
		}
	}
}
/* --- the driver --------------------------------------------------------------------------------------- */

/* How many allocations a scenario makes where none fails. */
static long allocations_of(const oom_scenario *s)
{
	budget b = { .allowed = LONG_MAX };
	kdr_allocator allocator = { count_alloc, count_realloc, count_free, &b };
	kdr_context *ctx = NULL;
	if (kdr_context_new(&ctx, &allocator) == KDR_OK) {
		kdr_context_set_threads(ctx, 2);
		(void)s->run(ctx); /* whether that is a success is seen later */
	}
	kdr_context_free(ctx);
	return b.made;
}

static long step_of(const oom_scenario *s)
{
	const char *text = getenv("KINDRED_OOM_MOST");
	long most = text ? strtol(text, NULL, 10) : 0;
	long step = most > 0 ? allocations_of(s) / most : 0;
	return step > s->step ? step : s->step;
}

static int exhaust(const oom_scenario *s, int once)
{
	long step = step_of(s);
	for (long allowed = 0;; allowed += step) {
		budget b = { .allowed = allowed, .once = once };
		kdr_allocator allocator = { count_alloc, count_realloc, count_free, &b };
		kdr_context *ctx = NULL;
		kdr_status st = kdr_context_new(&ctx, &allocator);
		if (st == KDR_OK) {
			kdr_context_set_threads(ctx, 2);
			st = s->run(ctx);
		}
		bool reached = b.made > allowed;
		if ((reached && st != KDR_ERR_MEMORY) || (!reached && st != KDR_OK)) {
			fprintf(stderr, "%s: allocation %ld failed: status %d (%s)\n", s->name, allowed,
			        (int)st, kdr_context_error(ctx));
			return 1;
		}
		kdr_context_free(ctx);
		if (b.live != 0) {
			fprintf(stderr, "%s: allocation %ld failed: %ld blocks were not given back\n",
			        s->name, allowed, b.live);
			return 1;
		}
		if (!reached) {
			printf("%s: %ld allocations, %s failed %s\n", s->name, b.made,
			       step > 1 ? "some" : "each", once ? "alone" : "with all later ones");
			return 0;
		}
	}
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* Whether a scenario was asked for; without arguments all are. */
static bool wanted(const char *name, int argc, char **argv)
{
	bool found = argc < 2;
	for (int i = 1; i < argc; i++)
		found = found || strcmp(argv[i], name) == 0;
	return found;
}

int main(int argc, char **argv)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	make_points();
	write_text(file("a.csv"), "x,y,z\n1,0,2\n\"3\",4,0\n0,5,6\n");
	write_text(file("a.labels"), "red\ngreen\nred\n");
	write_text(file("result.json"),
	           "{\"kindred\":\"0\",\"method\":\"kmeans\",\"tasks\":[{\"name\":\"a\",\"n\":3,\"d\":2,"
	           "\"nnz\":6,\"k\":2,\"sizes\":[2,1],\"labels\":[0,0,1],\"metrics\":null}],"
	           "\"objective\":[3,2,1],\"stop\":\"converged\",\"iterations\":3}");
	/* The other inputs are written by the library itself. */
	kdr_context *ctx = NULL;
	kdr_data *data = NULL;
	kdr_mat sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_array array = { "c", -1, KDR_FLOAT64, 2, { N, D, 0 }, points };
	static const char *const names[] = { "x", "y", "z" };
	int failed = kdr_context_new(&ctx, NULL) != KDR_OK ||
	             kdr_data_new(ctx, "b", &sparse, names, &data) != KDR_OK ||
	             kdr_write(ctx, file("b.mtx.gz"), NULL, data, true) != KDR_OK ||
	             kdr_write_array(ctx, file("c.npy"), &array, true) != KDR_OK;
	if (failed)
		fprintf(stderr, "cannot make the inputs: %s\n", kdr_context_error(ctx));
	kdr_data_free(data);
	kdr_context_free(ctx);
	static const oom_scenario *const tables[] = { oom_cluster, oom_transfer, oom_jobs,
		                                      oom_out,     oom_tables,   oom_stream };
	for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
		for (const oom_scenario *s = tables[t]; s->name && !failed; s++)
			for (int once = 0; once < 2 && !failed && wanted(s->name, argc, argv); once++)
				failed = exhaust(s, once);
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || failed;
}
