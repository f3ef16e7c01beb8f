/* Measures the time that a machine loses when its cores wait for each other. SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: waiting THREADS SECONDS [ROWS]
 *
 * Threads, each bound to its own core, do equal pieces of work: distances of ROWS rows (500,000) of 48 numbers to 20
 * centres, a fiftieth of them at a time. They do not wait for each other and record when each piece was done. If they had met
 * after every m pieces, all would have waited for the slowest in each of these periods. So
 *
 *     efficiency(m) = pieces * (time of a piece of one thread alone) / sum over periods of the longest
 *
 * is the highest efficiency of ranks that do the same work and exchange nothing. It grows with m if cores lose time at
 * random, which averages out, and does not grow if some cores are slower than others. Prints one line of JSON for each m. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COLUMNS = 48, CENTRES = 20, LANES = 8, PARTS = 50, FIRST = 200, MOST = 20000 };

typedef struct job {
	pthread_t thread;
	int core, pieces;
	long rows;
	double *at; /* when each piece was done; at[0]: the beginning */
	double sink;
	int failed;
	pthread_barrier_t *all;
} job;

static double centres[CENTRES][COLUMNS];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double piece(const double *x, long rows)
{
	double sum = 0;
	for (long i = 0; i < rows; i++, x += COLUMNS) {
		double best = 1e300;
		for (int j = 0; j < CENTRES; j++) {
			double lane[LANES] = { 0 }, all = 0;
			for (int f = 0; f < COLUMNS; f += LANES)
				for (int q = 0; q < LANES; q++) {
					double e = x[f + q] - centres[j][f + q];
					lane[q] += e * e;
				}
			for (int q = 0; q < LANES; q++)
				all += lane[q];
			best = all < best ? all : best;
		}
		sum += best;
	}
	return sum;
}

static void *work(void *user)
{
	job *j = user;
	const long step = j->rows / PARTS;
	double *x = calloc((size_t)j->rows * COLUMNS, sizeof *x);
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(j->core, &set);
	j->failed = !x || pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0;
	for (long i = 0; !j->failed && i < j->rows * COLUMNS; i++)
		x[i] = (double)(i * 7919 % 1000) / 1000.0;
	pthread_barrier_wait(j->all);
	j->at[0] = now();
	for (int p = 0; !j->failed && p < j->pieces; p++) {
		j->sink += piece(x + p % PARTS * step * COLUMNS, step);
		j->at[p + 1] = now();
	}
	free(x);
	return NULL;
}

/* The given number of threads process the given number of pieces each. */
static int run(job *jobs, int threads, int pieces, const int *cores, long rows)
{
	pthread_barrier_t all;
	int started = 0, failed = 0;
	if (pthread_barrier_init(&all, NULL, (unsigned)threads) != 0)
		return 1;
	for (; started < threads; started++) {
		job *j = &jobs[started];
		*j = (job){
			.core = cores[started], .pieces = pieces, .rows = rows, .at = j->at, .all = &all
		};
		if (pthread_create(&j->thread, NULL, work, j) != 0)
			exit(1); /* those that were started wait for the others */
	}
	for (int t = 0; t < threads; t++) {
		pthread_join(jobs[t].thread, NULL);
		failed |= jobs[t].failed;
	}
	pthread_barrier_destroy(&all);
	return failed;
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	int cores[CPU_SETSIZE], found = 0, threads = argc > 1 ? atoi(argv[1]) : 0;
	double seconds = argc > 2 ? atof(argv[2]) : 0;
	long rows = argc > 3 ? atol(argv[3]) : 500000;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		for (int c = 0; c < CPU_SETSIZE; c++)
			if (CPU_ISSET(c, &set))
				cores[found++] = c;
	if (threads < 1 || threads > found || !(seconds > 0) || rows < PARTS) {
		fprintf(stderr, "usage: waiting THREADS SECONDS [ROWS]; there are %d cores\n", found);
		return 2;
	}
	job *jobs = calloc((size_t)threads, sizeof *jobs);
	if (!jobs)
		return 1;
	for (int t = 0; t < threads; t++)
		if (!(jobs[t].at = malloc((MOST + 1) * sizeof *jobs[t].at)))
			return 1;
	for (int i = 0; i < CENTRES * COLUMNS; i++)
		centres[i / COLUMNS][i % COLUMNS] = i * 31 % 97 / 97.0;
	if (run(jobs, 1, FIRST, cores, rows))
		return 1;
	double alone = (jobs[0].at[FIRST] - jobs[0].at[0]) / FIRST, slowest = 0;
	int pieces = (int)(seconds / alone);
	pieces = pieces > MOST ? MOST : pieces < 1 ? 1 : pieces;
	if (run(jobs, threads, pieces, cores, rows))
		return 1;
	for (int t = 0; t < threads; t++) {
		double own = (jobs[t].at[pieces] - jobs[t].at[0]) / pieces / alone;
		slowest = own > slowest ? own : slowest;
	}
	for (int m = 1; m <= pieces; m *= 2) {
		double sum = 0;
		int count = 0;
		for (int p = 0; p + m <= pieces; p += m, count++) {
			double most = 0;
			for (int t = 0; t < threads; t++) {
				double own = jobs[t].at[p + m] - jobs[t].at[p];
				most = own > most ? own : most;
			}
			sum += most;
		}
		printf("{\"kind\": \"waiting\", \"ranks\": %d, \"stretch\": %.6g, \"efficiency\": %.4f, \"slowest\": %.3f}\n",
		       threads, m * alone, alone * m * count / sum, slowest);
	}
	for (int t = 0; t < threads; t++)
		free(jobs[t].at);
	free(jobs);
	return 0;
}
