/* Groups of samples that one data set has and the others do not, within a cluster. SPDX-License-Identifier: BSD-3-Clause
 *
 * A type of sample that only one data set has is absorbed by a cluster if all data sets have the same number of clusters. In the coordinates
 * that the map starts from (kdri_embed_shared: at most 20 leading directions of all samples, each minus the mean of its data set), with at
 * most KDRI_APART_MOST samples of each data set:
 *
 *     (E1)  the n >= LEAST samples of data set t in a cluster are divided into 2, 3 and 4 parts by k-means. A candidate is a part S with
 *           FEWEST to n / 2 samples; R are the others of the n
 *     (E2)  d = |a - b| / sqrt((v_S + v_R) / 2): a, b the means of S and R, v their variances along a - b
 *     (E3)  o: samples of other data sets that are nearer to a than to b and to the means of t's other clusters;
 *           e = |S| N / n_t: as many if all data sets had the group, for N samples of others and n_t of t
 *     (E4)  S is a group of t alone if d >= 6, o <= e / 4, and at most o of e by chance (Poisson) has a probability below 0.001
 *
 * The candidate with the largest d is reported, at most one for each cluster of a data set. docs/notes/statements.md has how often this was
 * said and right. O(samples x 20 x parts) for each iteration of k-means. */
#include "engine/embed/embed.h"
#include "engine/graph/knn.h"
#include "engine/kmeans/kmeans.h"
#include "jobs/job.h"

enum { LEAST = 20, FEWEST = 5, PARTS = 4, ROWS_PER_PART = 10 };
static const double least_gap = 6, most_found = 0.25, by_chance = 1e-3;

/* Drawn rows of all data sets, one after the other, in common coordinates. */
typedef struct space {
	int64_t n, width;
	int64_t *begin; /* ntasks + 1 */
	int64_t *label; /* n */
	double *x;      /* n x width */
} space;

static void space_free(kdr_context *ctx, space *s)
{
	KDRI_FREE(ctx, s->begin, s->label, s->x);
}

static kdr_status space_new(kdr_context *ctx, const kdr_result *r, kdr_data *const *data, space *s)
{
	kdr_status st;
	kdri_own *taken = NULL;
	kdr_mat *x = NULL;
	int64_t *rows = NULL, count;
	KDRI_TRY(KDRI_NEW0(ctx, &taken, r->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &x, r->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &s->begin, r->ntasks + 1));
	for (int64_t t = 0; t < r->ntasks; t++)
		s->n += KDRI_MIN(data[t]->rows, KDRI_APART_MOST);
	KDRI_TRY(KDRI_NEW(ctx, &s->label, s->n));
	for (int64_t t = 0; t < r->ntasks; t++) {
		const kdr_mat all = kdr_data_mat(data[t]);
		KDRI_TRY(kdri_apart_rows(ctx, data[t]->rows, &rows, &count));
		KDRI_TRY(kdri_mat_take(ctx, &all, rows, count, &taken[t]));
		x[t] = taken[t].view;
		s->begin[t + 1] = s->begin[t] + count;
		for (int64_t i = 0; i < count; i++)
			s->label[s->begin[t] + i] = r->tasks[t].labels[rows[i]];
		kdri_free(ctx, rows);
		rows = NULL;
	}
	KDRI_TRY(kdri_embed_shared(ctx, x, r->ntasks, KDRI_EMBED_SHARED, &s->x, &s->width));
done:
	for (int64_t t = 0; taken && t < r->ntasks; t++)
		kdri_own_free(ctx, &taken[t]);
	KDRI_FREE(ctx, taken, x, rows);
	return st;
}

/* --- one cluster of one data set ---------------------------------------------------------------------------- */

/* Samples of data set t in cluster z, and the means of t's clusters, with room for a further one. */
typedef struct cluster_of {
	int64_t t, z, n, k;
	kdri_own x;
	double *means; /* k + 1 x width */
	double *axis;  /* width */
} cluster_of;

static double distance(const double *a, const double *b, int64_t width)
{
	double sum = 0;
	for (int64_t c = 0; c < width; c++)
		sum += (a[c] - b[c]) * (a[c] - b[c]);
	return sum;
}

/* (E2), with means[z] = b and means[k] = a; 0 if S is no candidate. */
static double gap_of(const cluster_of *c, const int64_t *part, int64_t which, int64_t width, int64_t *size)
{
	double *means[2] = { c->means + c->z * width, c->means + c->k * width }, sum[2] = { 0, 0 },
	       square[2] = { 0, 0 }, scale = 0;
	int64_t count[2] = { 0, 0 };
	const double *x = c->x.parts[0];
	for (int s = 0; s < 2; s++)
		memset(means[s], 0, (size_t)width * sizeof(double));
	for (int64_t i = 0; i < c->n; i++) {
		const int s = part[i] == which;
		count[s]++;
		for (int64_t d = 0; d < width; d++)
			means[s][d] += x[i * width + d];
	}
	*size = count[1];
	if (count[1] < FEWEST || 2 * count[1] > c->n)
		return 0;
	for (int64_t d = 0; d < width; d++) {
		means[0][d] /= (double)count[0];
		means[1][d] /= (double)count[1];
		c->axis[d] = means[1][d] - means[0][d];
		scale += c->axis[d] * c->axis[d];
	}
	for (int64_t i = 0; i < c->n; i++) {
		double p = 0;
		for (int64_t d = 0; d < width; d++)
			p += (x[i * width + d] - means[0][d]) * c->axis[d];
		sum[part[i] == which] += p / scale;
		square[part[i] == which] += p / scale * (p / scale);
	}
	double variance = 0;
	for (int s = 0; s < 2; s++)
		variance += (square[s] - sum[s] * sum[s] / (double)count[s]) / (double)count[s] / 2;
	return scale > 0 ? 1 / sqrt(KDRI_MAX(variance, 1e-12)) : 0;
}

/* The probability of at most `found` of `expected`. */
static double poisson(int64_t found, double expected)
{
	double term = exp(-expected), sum = term;
	for (int64_t i = 1; i <= found; i++) {
		term *= expected / (double)i;
		sum += term;
	}
	return sum;
}

/* (E3), (E4) */
static bool others_lack(const space *s, const cluster_of *c, int64_t size, int64_t ntasks)
{
	const int64_t own = s->begin[c->t + 1] - s->begin[c->t];
	const double expected = (double)size * (double)(s->n - own) / (double)own;
	int64_t found = 0;
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t i = s->begin[t]; t != c->t && i < s->begin[t + 1]; i++) {
			const double *x = s->x + i * s->width;
			const double near = distance(x, c->means + c->k * s->width, s->width);
			bool nearest = true;
			for (int64_t z = 0; z < c->k && nearest; z++)
				nearest = near < distance(x, c->means + z * s->width, s->width);
			found += nearest;
		}
	return (double)found <= most_found * expected && poisson(found, expected) < by_chance;
}

static kdr_status means_of(kdr_context *ctx, const space *s, cluster_of *c)
{
	int64_t *count = NULL;
	KDRI_DO(KDRI_NEW0(ctx, &count, c->k));
	memset(c->means, 0, (size_t)(c->k * s->width) * sizeof(double));
	for (int64_t i = s->begin[c->t]; i < s->begin[c->t + 1]; i++) {
		count[s->label[i]]++;
		for (int64_t d = 0; d < s->width; d++)
			c->means[s->label[i] * s->width + d] += s->x[i * s->width + d];
	}
	for (int64_t z = 0; z < c->k; z++) /* an empty cluster is infinitely far */
		for (int64_t d = 0; d < s->width; d++)
			c->means[z * s->width + d] =
			        count[z] > 0 ? c->means[z * s->width + d] / (double)count[z] : INFINITY;
	kdri_free(ctx, count);
	return KDR_OK;
}

/* (E1): the size of the group among the drawn samples; 0: there is none. */
static kdr_status find_group(kdr_context *ctx, const space *s, cluster_of *c, int64_t ntasks, int64_t *out)
{
	kdr_status st = KDR_OK;
	kdri_kmeans_result found = { 0 };
	double best = least_gap;
	*out = 0;
	for (int64_t parts = 2; parts <= PARTS && c->n >= ROWS_PER_PART * parts; parts++) {
		kdri_kmeans_options o = kdri_kmeans_defaults(parts);
		o.stage = NULL;
		KDRI_TRY(kdri_kmeans(ctx, &c->x.view, NULL, &o, &found));
		for (int64_t p = 0; p < parts; p++) {
			int64_t size;
			const double gap = gap_of(c, found.labels, p, s->width, &size);
			if (gap >= best && others_lack(s, c, size, ntasks)) {
				best = gap;
				*out = size;
			}
		}
		kdri_kmeans_free(ctx, &found);
		found = (kdri_kmeans_result){ 0 };
	}
done:
	return st;
}

/* --- all clusters ------------------------------------------------------------------------------------------- */

static kdr_status own_group(kdr_context *ctx, const space *s, const kdr_result *r, int64_t t, int64_t z,
                            int64_t *size)
{
	kdr_status st;
	cluster_of c = { .t = t, .z = z, .k = r->tasks[t].k };
	double *x = NULL;
	*size = 0;
	for (int64_t i = s->begin[t]; i < s->begin[t + 1]; i++)
		c.n += s->label[i] == z;
	if (c.n < LEAST)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &x, c.n * s->width));
	for (int64_t i = s->begin[t], at = 0; i < s->begin[t + 1]; i++)
		if (s->label[i] == z)
			memcpy(x + s->width * at++, s->x + s->width * i, (size_t)s->width * sizeof *x);
	c.x = (kdri_own){ kdr_mat_from_dense(x, c.n, s->width), { x } };
	x = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &c.means, (c.k + 1) * s->width));
	KDRI_TRY(KDRI_NEW(ctx, &c.axis, s->width));
	KDRI_TRY(means_of(ctx, s, &c));
	KDRI_TRY(find_group(ctx, s, &c, r->ntasks, size));
done:
	KDRI_FREE(ctx, x, c.means, c.axis);
	kdri_own_free(ctx, &c.x);
	return st;
}

/* One more than today's number of clusters for data set t: "3,2". */
static void list_numbers(const kdr_result *r, int64_t t, char *out, size_t room)
{
	size_t used = 0;
	for (int64_t i = 0; i < r->ntasks && used < room; i++)
		used += (size_t)kdri_snprintf(out + used, room - used, "%s%lld", i > 0 ? "," : "",
		                              (long long)r->tasks[i].k + (i == t));
}

static kdr_status put_group(kdr_context *ctx, kdr_result *r, int64_t t, int64_t z, int64_t size,
                            int64_t drawn)
{
	char numbers[200];
	const kdri_task_result *task = &r->tasks[t];
	const double samples = (double)size * (double)task->n / (double)drawn;
	list_numbers(r, t, numbers, sizeof numbers);
	KDRI_DO(kdri_result_task_number(ctx, r, t, "own_group", samples));
	return kdri_result_warn(
	        ctx, r,
	        "%s%.0f samples of %s form a group of their own within cluster %lld; use -k %s to separate it",
	        drawn < task->n ? "about " : "", samples, task->name, (long long)kdri_cluster_number(task, z),
	        numbers);
}

void kdri_own_groups_tried(kdr_result *r, int64_t t)
{
	char said[512]; /* as in put_group */
	kdri_snprintf(said, sizeof said, " samples of %s form a group of their own ", r->tasks[t].name);
	for (int64_t w = 0; w < r->warning_count; w++) {
		char *text = strstr(r->warnings[w], said),
		     *advice = text ? strstr(text + strlen(said), "; use -k ") : NULL;
		if (advice)
			*advice = '\0';
	}
}

/* Whether another data set has a cluster with that number. */
static bool has_counterpart(const kdr_result *r, int64_t t, int64_t z)
{
	for (int64_t o = 0; o < r->ntasks; o++)
		if (o != t && kdri_cluster_at(&r->tasks[o], kdri_cluster_number(&r->tasks[t], z)) >= 0)
			return true;
	return false;
}

kdr_status kdri_job_own_groups(kdr_context *ctx, kdr_result *r, kdr_data *const *data, bool matched,
                               int64_t *more)
{
	kdr_status st;
	space s = { 0 };
	memset(more, 0, (size_t)r->ntasks * sizeof *more);
	for (int64_t t = 0; t < r->ntasks; t++)
		if (r->ntasks < 2 || data[t]->cols != data[0]->cols || data[t]->rows != r->tasks[t].n)
			return KDR_OK;
	KDRI_TRY(space_new(ctx, r, data, &s));
	for (int64_t t = 0; t < r->ntasks; t++)
		for (int64_t z = 0; z < r->tasks[t].k; z++) {
			int64_t size;
			if (matched && !has_counterpart(r, t, z))
				continue;
			KDRI_TRY(own_group(ctx, &s, r, t, z, &size));
			if (size == 0)
				continue;
			more[t]++;
			KDRI_TRY(put_group(ctx, r, t, z, size, s.begin[t + 1] - s.begin[t]));
		}
done:
	space_free(ctx, &s);
	return st;
}
