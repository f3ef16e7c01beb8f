/* Ranks that are threads of one program: what MPI does between processes, for tests. Each rank has a context of its own.
 * Include after unit.h. */
#ifndef KINDRED_TESTS_RANKS_H
#define KINDRED_TESTS_RANKS_H

#include <pthread.h>
#include <stdlib.h>

#include "comm/comm.h"

enum { MOST_RANKS = 8 };

typedef struct crew {
	pthread_mutex_t lock;
	pthread_cond_t turn;
	int ranks, arrived;
	int64_t round;
	void *at[MOST_RANKS];         /* what each rank put down in this round */
	const void *mail[MOST_RANKS]; /* what it sends, until that is taken */
} crew;

typedef struct seat {
	crew *c;
	int rank;
} seat;

/* Waits until all ranks are here. */
static void everybody(crew *c)
{
	pthread_mutex_lock(&c->lock);
	int64_t round = c->round;
	if (++c->arrived == c->ranks) {
		c->arrived = 0;
		c->round++;
		pthread_cond_broadcast(&c->turn);
	}
	while (round == c->round)
		pthread_cond_wait(&c->turn, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static double join_real(double a, double b, kdri_fold how)
{
	return how == KDRI_FOLD_SUM ? a + b : how == KDRI_FOLD_MAX ? KDRI_MAX(a, b) : KDRI_MIN(a, b);
}

static int64_t join_int(int64_t a, int64_t b, kdri_fold how)
{
	return how == KDRI_FOLD_SUM ? a + b : how == KDRI_FOLD_MAX ? KDRI_MAX(a, b) : KDRI_MIN(a, b);
}

/* Ranks are added in an order of their own, so that sums which depend on it do differ. */
static bool crew_meet(void *user, kdri_meeting *m)
{
	seat *s = user;
	s->c->at[s->rank] = m;
	everybody(s->c);
	kdri_meeting all = *(kdri_meeting *)s->c->at[s->c->ranks - 1];
	for (int r = 0; r + 1 < s->c->ranks; r++)
		kdri_meeting_join(s->c->at[r], &all);
	everybody(s->c);
	*m = all;
	return true;
}

static bool crew_fold_real(void *user, double *v, int64_t count, kdri_fold how)
{
	seat *s = user;
	double *out = malloc((size_t)count * sizeof *out + 1);
	s->c->at[s->rank] = v;
	everybody(s->c);
	for (int64_t i = 0; i < count; i++) {
		out[i] = ((double *)s->c->at[s->c->ranks - 1])[i];
		for (int r = 0; r + 1 < s->c->ranks; r++)
			out[i] = join_real(out[i], ((double *)s->c->at[r])[i], how);
	}
	everybody(s->c);
	memcpy(v, out, (size_t)count * sizeof *out);
	free(out);
	return true;
}

static bool crew_fold_int(void *user, int64_t *v, int64_t count, kdri_fold how)
{
	seat *s = user;
	int64_t *out = malloc((size_t)count * sizeof *out + 1);
	s->c->at[s->rank] = v;
	everybody(s->c);
	for (int64_t i = 0; i < count; i++) {
		out[i] = ((int64_t *)s->c->at[0])[i];
		for (int r = 1; r < s->c->ranks; r++)
			out[i] = join_int(out[i], ((int64_t *)s->c->at[r])[i], how);
	}
	everybody(s->c);
	memcpy(v, out, (size_t)count * sizeof *out);
	free(out);
	return true;
}

static bool crew_share(void *user, void *bytes, int64_t count, int from)
{
	seat *s = user;
	s->c->at[s->rank] = bytes;
	everybody(s->c);
	if (s->rank != from)
		memcpy(bytes, s->c->at[from], (size_t)count);
	everybody(s->c);
	return true;
}

/* A sender leaves its bytes until they were taken. */
static bool crew_send(void *user, const void *bytes, int64_t count, int to)
{
	seat *s = user;
	(void)to;
	if (count == 0)
		return true;
	pthread_mutex_lock(&s->c->lock);
	s->c->mail[s->rank] = bytes;
	pthread_cond_broadcast(&s->c->turn);
	while (s->c->mail[s->rank])
		pthread_cond_wait(&s->c->turn, &s->c->lock);
	pthread_mutex_unlock(&s->c->lock);
	return true;
}

static bool crew_receive(void *user, void *bytes, int64_t count, int from)
{
	seat *s = user;
	if (count == 0)
		return true;
	pthread_mutex_lock(&s->c->lock);
	while (!s->c->mail[from])
		pthread_cond_wait(&s->c->turn, &s->c->lock);
	memcpy(bytes, s->c->mail[from], (size_t)count);
	s->c->mail[from] = NULL;
	pthread_cond_broadcast(&s->c->turn);
	pthread_mutex_unlock(&s->c->lock);
	return true;
}

static void crew_close(void *user)
{
	free(user);
}

/* What a rank does; returns when it is done. */
typedef void crew_work(kdr_context *ctx, int rank, void *user);

typedef struct crew_member {
	crew *c;
	int rank;
	crew_work *work;
	void *user;
	const kdr_allocator *allocator; /* or NULL */
} crew_member;

static void *crew_run_one(void *user)
{
	static const kdri_comm_ops ops = { crew_meet, crew_fold_real, crew_fold_int, crew_share,
		                           crew_send, crew_receive,   crew_close };
	crew_member *m = user;
	kdr_context *ctx = NULL;
	seat *s = malloc(sizeof *s);
	*s = (seat){ m->c, m->rank };
	kdr_context_new(&ctx, m->allocator);
	kdr_context_set_threads(ctx, 1);
	kdri_comm_set(ctx, &ops, s, m->rank, m->c->ranks);
	m->work(ctx, m->rank, m->user);
	kdr_context_free(ctx);
	return NULL;
}

/* Runs `work` on the given number of ranks; `allocators`: one each, or NULL. */
static inline void crew_run(int ranks, crew_work *work, void *user, const kdr_allocator *const *allocators)
{
	crew c = { .ranks = ranks };
	pthread_t threads[MOST_RANKS];
	crew_member members[MOST_RANKS];
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.turn, NULL);
	for (int r = 0; r < ranks; r++) {
		members[r] = (crew_member){ &c, r, work, user, allocators ? allocators[r] : NULL };
		pthread_create(&threads[r], NULL, crew_run_one, &members[r]);
	}
	for (int r = 0; r < ranks; r++)
		pthread_join(threads[r], NULL);
	pthread_cond_destroy(&c.turn);
	pthread_mutex_destroy(&c.lock);
}

#endif
