/* Measures how long a method runs without checking whether it should stop. SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: polls METHOD K FILE...                             cluster (METHOD relate: kdr_relate; K 0: the method chooses)
 *        polls METHOD 0 SOURCE SOURCE.labels TARGET [BRIDGE...]   transfer
 *
 * Runs the job on one thread twice. The first run is complete and finds the longest period of processor time between
 * two events. The second run answers the event before that period with "stop" and measures the time until the job
 * ends. */
#include <kindred/kindred.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct watch {
	double last, longest;
	char before[64], after[64], now[64];
	long events, at, stop; /* stop: answer that event, from 0, by "stop" */
	double stopped;
} watch;

static const double worth_a_line = 0.3; /* as soon as it is seen: some jobs take long */

static double processor(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void look(watch *w, const char *name)
{
	double now = processor();
	if (now - w->last > w->longest) {
		w->longest = now - w->last;
		w->at = w->events - 1;
		snprintf(w->before, sizeof w->before, "%s", w->now);
		snprintf(w->after, sizeof w->after, "%s", name);
		if (w->longest > worth_a_line)
			fprintf(stderr, "%.2f s at %.1f s, from '%s' to '%s'\n", w->longest, now, w->before,
			        w->after);
	}
	snprintf(w->now, sizeof w->now, "%s", name);
	w->last = now;
}

static int on_event(void *user, const kdr_event *e)
{
	static const char *const kinds[] = { "start", "iteration", "message", "warning", "end" };
	watch *w = user;
	char name[64];
	snprintf(name, sizeof name, "%s %s %lld", e->stage ? e->stage : "",
	         (size_t)e->kind < sizeof kinds / sizeof kinds[0] ? kinds[e->kind] : "?",
	         (long long)e->iteration);
	look(w, name);
	bool stop = w->stop >= 0 && w->events >= w->stop;
	if (stop && w->stopped < 0)
		w->stopped = processor();
	w->events++;
	return stop;
}

static kdr_status job(kdr_context *ctx, kdr_family family, const char *method, int64_t k,
                      kdr_data *const *sets, int64_t count)
{
	kdr_status st;
	kdr_result *result = NULL;
	if (strcmp(method, "relate") == 0) {
		char *relation = NULL;
		st = kdr_relate(ctx, sets, count, NULL, &relation, NULL);
		kdr_free(ctx, relation);
		return st;
	}
	if (family == KDR_FAMILY_CLUSTER) {
		kdr_job_options o;
		kdr_job_options_init(&o);
		o.method = method;
		o.k = k;
		st = kdr_cluster(ctx, sets, count, &o, &result);
	} else {
		kdr_job_options o;
		kdr_job_options_init(&o);
		o.method = method;
		kdr_transfer_sets s = { .size = sizeof(kdr_transfer_sets),
			                .sources = sets,
			                .nsources = 1,
			                .targets = sets + 1,
			                .ntargets = 1,
			                .bridges = sets + 2,
			                .nbridges = count - 2 };
		st = kdr_transfer(ctx, &s, &o, &result);
	}
	kdr_result_free(result);
	return st;
}

static kdr_status run(int argc, char **argv, watch *w)
{
	kdr_family family = argc > 4 && strstr(argv[4], ".labels") ? KDR_FAMILY_TRANSFER : KDR_FAMILY_CLUSTER;
	kdr_context *ctx = NULL;
	kdr_data *sets[64] = { NULL };
	int64_t count = 0;
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st == KDR_OK)
		kdr_context_set_threads(ctx, 1);
	for (int i = 3; i < argc && count < 64 && st == KDR_OK; i++) {
		if (family == KDR_FAMILY_TRANSFER && i == 4)
			st = kdr_data_read_labels(ctx, sets[0], argv[i]);
		else
			st = kdr_read(ctx, argv[i], NULL, &sets[count++]);
	}
	if (st == KDR_OK) {
		kdr_context_set_progress(ctx, on_event, w);
		w->last = processor();
		st = job(ctx, family, argv[1], strtol(argv[2], NULL, 10), sets, count);
		look(w, "the end");
	}
	if (st != KDR_OK && w->stop < 0)
		fprintf(stderr, "polls: %s\n", kdr_context_error(ctx));
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(sets[i]);
	kdr_context_free(ctx);
	return st;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: polls METHOD K FILE...\n");
		return 2;
	}
	watch whole = { .stop = -1, .now = "the beginning" };
	double start = processor();
	if (run(argc, argv, &whole) != KDR_OK)
		return 1;
	printf("%s: %.2f s, %ld events; longest stretch %.3f s, from '%s' to '%s'\n", argv[1],
	       processor() - start, whole.events, whole.longest, whole.before, whole.after);
	watch cut = { .stop = whole.at, .stopped = -1, .now = "the beginning" };
	if (whole.at < 0)
		return 0;
	(void)run(argc, argv, &cut);
	printf("%s: stopped at the event before it: %.3f s to the end, longest stretch %.3f s from '%s' to '%s'\n",
	       argv[1], processor() - cut.stopped, cut.longest, cut.before, cut.after);
	return 0;
}
