/* Every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each scenario uses the public API from beginning to end. It is run once to see which calls its allocations come from, then
 * again and again, each time with another allocation that fails: every run must return KDR_ERR_MEMORY and give back all it took.
 * Two ways of failing: only the one allocation fails, or it and all later ones.
 *
 * Where a loop allocates, the same chain of calls comes back many times; of those the first few and the last are failed. So what
 * goes unseen is a mistake that only the middle rounds of a loop make. Without backtrace() all are failed.
 *
 * KINDRED_OOM_REPEATS=N in the environment: how many are the first few (default 2). KINDRED_OOM_MOST=N: at most about N of a
 * scenario's allocations, evenly spread, for a sanitizer that makes each run take ten times as long. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAVE_BACKTRACE
#endif
#endif

#include "oom.h"

typedef struct budget {
	long allowed;
	atomic_long made, live;
	int once;        /* only allocation number `allowed` fails */
	uint64_t *calls; /* where it is wanted: of each allocation, a number for the calls that lead to it */
	long room;
} budget;

/* A hash of the chain of calls that leads here; 0 where it cannot be known. */
static uint64_t calls_here(void)
{
	uint64_t hash = 0;
#ifdef HAVE_BACKTRACE
	enum { DEEPEST = 64 };
	void *at[DEEPEST];
	int depth = backtrace(at, DEEPEST);
	for (int i = 0; i < depth; i++)
		hash = (hash ^ (uint64_t)(uintptr_t)at[i]) * 0x100000001b3u + 1;
#endif
	return hash;
}

static int refuse(budget *b)
{
	long number = b->made++;
	if (b->calls && number < b->room)
		b->calls[number] = calls_here();
	return b->once ? number == b->allowed : number >= b->allowed;
}

static void *count_alloc(void *user, size_t size)
{
	budget *b = user;
	void *p;
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

/* One run. */
static kdr_status run(const oom_scenario *s, budget *b)
{
	kdr_allocator allocator = { count_alloc, count_realloc, count_free, b };
	kdr_context *ctx = NULL;
	kdr_status st = kdr_context_new(&ctx, &allocator);
	if (st == KDR_OK) {
		kdr_context_set_threads(ctx, 2);
		st = s->run(ctx);
	}
	if (st != KDR_OK && st != KDR_ERR_MEMORY)
		fprintf(stderr, "%s: %s\n", s->name, kdr_context_error(ctx));
	kdr_context_free(ctx);
	return st;
}

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text ? strtol(text, NULL, 10) : otherwise;
}

/* An allocation, by the calls that lead to it. */
typedef struct site {
	uint64_t calls;
	long number;
} site;

static int by_calls(const void *a, const void *b)
{
	const site *x = a, *y = b;
	return x->calls != y->calls ? (x->calls > y->calls) - (x->calls < y->calls)
	                            : (x->number > y->number) - (x->number < y->number);
}

/* Marks the allocations to fail. Returns how many allocations there are, or -1. */
static long choose(const oom_scenario *s, bool **out)
{
	long repeats = setting("KINDRED_OOM_REPEATS", 2), most = setting("KINDRED_OOM_MOST", 0), chosen = 0,
	     kept = 0;
	budget count = { .allowed = LONG_MAX };
	(void)run(s, &count); /* whether that is a success is seen later */
	budget b = { .allowed = LONG_MAX, .room = count.made };
	b.calls = calloc((size_t)count.made + 1, sizeof *b.calls);
	site *sites = calloc((size_t)count.made + 1, sizeof *sites);
	bool *wanted = calloc((size_t)count.made + 1, sizeof *wanted);
	if (!b.calls || !sites || !wanted) {
		free(b.calls);
		free(sites);
		free(wanted);
		return -1;
	}
	(void)run(s, &b);
	for (long i = 0; i < count.made; i++)
		sites[i] = (site){ b.calls[i], i };
	qsort(sites, (size_t)count.made, sizeof *sites, by_calls);
	for (long i = 0, first = 0; i < count.made; i++) {
		if (sites[i].calls != sites[first].calls)
			first = i;
		bool last = i + 1 == count.made || sites[i + 1].calls != sites[i].calls;
		wanted[sites[i].number] = (sites[i].calls == 0 || i - first < repeats || last) &&
		                          sites[i].number % s->step == 0;
		chosen += wanted[sites[i].number];
	}
	for (long i = 0, seen = 0; i < count.made; i++)
		if (wanted[i]) {
			wanted[i] = most == 0 || chosen <= most || kept * chosen <= seen * most;
			kept += wanted[i];
			seen++;
		}
	free(b.calls);
	free(sites);
	*out = wanted;
	return count.made;
}

/* Whether a scenario needs a part that this build does not have, such as HDF5, as reported by the library. */
static bool lacks_part(const oom_scenario *s)
{
	kdr_context *ctx = NULL;
	bool lacks = kdr_context_new(&ctx, NULL) == KDR_OK && s->run(ctx) == KDR_ERR_UNSUPPORTED &&
	             strstr(kdr_context_error(ctx), "this build of kindred has no");
	if (lacks)
		printf("%s: left out: %s\n", s->name, kdr_context_error(ctx));
	kdr_context_free(ctx);
	return lacks;
}

/* Fails the allocations that are wanted, one after another; then none, which must succeed. */
static int exhaust(const oom_scenario *s, int once)
{
	bool *wanted = NULL;
	long count = choose(s, &wanted), failed = 0;
	int bad = count < 0;
	for (long allowed = 0; allowed <= count && !bad; allowed++) {
		if (allowed < count && !wanted[allowed])
			continue;
		budget b = { .allowed = allowed < count ? allowed : LONG_MAX, .once = once };
		kdr_status st = run(s, &b);
		bool reached = b.made > allowed && allowed < count;
		bad = (reached && st != KDR_ERR_MEMORY) || (!reached && st != KDR_OK) || b.live != 0;
		failed += reached;
		if (bad)
			fprintf(stderr,
			        "%s: allocation %ld failed: status %d, %ld blocks were not given back\n",
			        s->name, allowed, (int)st, b.live);
	}
	if (!bad)
		printf("%s: %ld of %ld allocations failed %s\n", s->name, failed, count,
		       once ? "alone" : "with all later ones");
	free(wanted);
	return bad;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* Texts of two topics, a small data set and a larger one. */
static void write_topics(const char *path)
{
	char text[60 * 40] = "text,place\n";
	for (int i = 0; i < 50; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s x%d,%c\n",
		         i % 2 ? "star moon orbit" : "stock bank price", i % 9, i < 10 ? 'a' : 'b');
	write_text(path, text);
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
	write_text(file("t.csv"), "text\nred rose\nblue sky\nrose\n\nsky\n");
	write_topics(file("u.csv"));
	write_text(file("t.vec"), "red 1 0\nrose 1 .1\nblue 0 1\nSky .1 1\n");
	write_text(file("a.csv"), "x,y,z\n1,0,2\n\"3\",4,0\n0,5,6\n");
	write_text(file("a.labels"), "red\ngreen\nred\n");
	write_text(file("result.json"),
	           "{\"kindred\":\"0\",\"method\":\"kmeans\",\"tasks\":[{\"name\":\"a\",\"n\":3,\"d\":2,"
	           "\"nnz\":6,\"k\":2,\"sizes\":[2,1],\"labels\":[0,0,1],\"metrics\":null}],"
	           "\"objective\":[3,2,1],\"stop\":\"converged\",\"iterations\":3}");
	/* The other inputs are written by the library itself. */
	kdr_context *ctx = NULL;
	kdr_data *data = NULL, *table = NULL;
	kdr_mat sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_mat dense = kdr_mat_from_dense(points, N, D);
	static const char *const names[] = { "x", "y", "z" };
	const bool gzip = kdr_build_has("zlib");
	int failed =
	        kdr_context_new(&ctx, NULL) != KDR_OK ||
	        kdr_data_new(ctx, "b", &sparse, names, &data) != KDR_OK ||
	        kdr_write(ctx, file(gzip ? "b.mtx.gz" : "b.mtx"), NULL, data, true) != KDR_OK ||
	        (!gzip && rename(file("b.mtx"), file("b.mtx.gz")) != 0) || /* its bytes tell what it is */
	        kdr_data_new(ctx, "c", &dense, NULL, &table) != KDR_OK ||
	        kdr_write(ctx, file("c.npy"), NULL, table, true) != KDR_OK;
	if (failed)
		fprintf(stderr, "cannot make the inputs: %s\n", kdr_context_error(ctx));
	kdr_data_free(data);
	kdr_data_free(table);
	kdr_context_free(ctx);
	static const oom_scenario *const tables[] = { oom_cluster, oom_transfer, oom_jobs,   oom_out,
		                                      oom_tables,  oom_stream,   oom_device, oom_scratch };
	for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
		for (const oom_scenario *s = tables[t]; s->name && !failed; s++)
			if (wanted(s->name, argc, argv) && !lacks_part(s))
				for (int once = 0; once < 2 && !failed; once++)
					failed = exhaust(s, once);
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || failed;
}
