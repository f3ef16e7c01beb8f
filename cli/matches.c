/* Which clusters of one task match which of another, for people. SPDX-License-Identifier: BSD-3-Clause
 *
 * For any method that relates clusters: each cluster's best match by weight, how good it is where the method
 * says so, and, where features have names
 * and the method leaves centroids over them, what stands out in both: the features whose value lies farthest
 * above the task's mean. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 3, MOST_ROWS = 12, WORDS = 4, LONGEST = 24 };

/* The centroids of a task over its features; data NULL where there are none. */
static kdr_array centroids_of(const cli_run *run, int64_t task)
{
	static const char *const names[] = { "centroids", "centres" };
	kdr_mat x = kdr_data_mat(run->tasks->data[task]);
	for (int i = 0; i < 2; i++) {
		kdr_array a = kdr_result_array(run->result, names[i], task);
		if (a.data && a.type == KDR_FLOAT64 && a.ndim == 2 && a.shape[1] == kdr_mat_cols(&x) &&
		    a.shape[0] == kdr_result_k(run->result, task))
			return a;
	}
	return (kdr_array){ 0 };
}

/* How many samples each cluster has; NULL if there is no memory or no labels. */
static int64_t *sizes_of(const cli_run *run, int64_t task)
{
	int64_t n, k = kdr_result_k(run->result, task);
	const int64_t *labels = kdr_result_labels(run->result, task, &n);
	int64_t *sizes = labels ? calloc((size_t)(k > 0 ? k : 1), sizeof *sizes) : NULL;
	for (int64_t i = 0; sizes && i < n; i++)
		sizes[labels[i]]++;
	return sizes;
}

/* The task's mean, from its centroids and their sizes. */
static double *mean_of(const kdr_array *c, const int64_t *sizes)
{
	const double *value = c->data;
	double *mean = calloc((size_t)c->shape[1], sizeof *mean), total = 0;
	for (int64_t z = 0; mean && z < c->shape[0]; z++) {
		total += (double)sizes[z];
		for (int64_t f = 0; f < c->shape[1]; f++)
			mean[f] += (double)sizes[z] * value[z * c->shape[1] + f];
	}
	for (int64_t f = 0; mean && f < c->shape[1] && total > 0; f++)
		mean[f] /= total;
	return mean;
}

/* "orbit, launch, moon, nasa": what stands out in cluster z. */
static void top_features(const kdr_array *c, const double *mean, const char *const *names, int64_t z,
                         char *out, size_t room)
{
	const double *value = (const double *)c->data + z * c->shape[1];
	int64_t best[WORDS];
	int count = 0;
	size_t used = 0;
	out[0] = '\0';
	for (int64_t f = 0; f < c->shape[1]; f++) {
		int at = count;
		if (!(value[f] > mean[f]))
			continue;
		while (at > 0 && value[f] - mean[f] > value[best[at - 1]] - mean[best[at - 1]])
			at--;
		if (at == WORDS)
			continue;
		if (count < WORDS)
			count++;
		memmove(best + at + 1, best + at, (size_t)(count - at - 1) * sizeof *best);
		best[at] = f;
	}
	for (int i = 0; i < count && used + LONGEST + 8 < room; i++)
		used += (size_t)snprintf(out + used, room - used, "%s%.*s", i ? ", " : "", LONGEST,
		                         names[best[i]]);
}

/* What is known of one side of a pair. */
typedef struct side {
	const char *name;
	const char *const *features; /* NULL: there is nothing to say about them */
	kdr_array centroids;
	double *mean;
} side;

static void side_open(const cli_run *run, int64_t task, side *s)
{
	const kdr_data *data = run->tasks->data[task];
	int64_t *sizes = sizes_of(run, task);
	*s = (side){ .name = kdr_data_name(data), .centroids = centroids_of(run, task) };
	if (sizes && s->centroids.data && kdr_data_features(data))
		s->mean = mean_of(&s->centroids, sizes);
	if (s->mean)
		s->features = kdr_data_features(data);
	free(sizes);
}

static void print_pair(FILE *out, const cli_run *run, const kdr_correspondence *c)
{
	side a, b;
	side_open(run, c->from, &a);
	side_open(run, c->to, &b);
	bool words = a.features && b.features;
	kdr_array quality = kdr_result_array(run->result, "match_quality", c->from); /* tasks x clusters */
	for (int64_t z = 0; z < c->rows; z++) {
		int64_t best = 0;
		double total = 0;
		const double *w = c->matrix + z * c->cols;
		if (z == MOST_ROWS && c->rows > MOST_ROWS + 1) {
			fprintf(out, "  ... (%lld more)\n", (long long)(c->rows - z));
			break;
		}
		for (int64_t l = 0; l < c->cols; l++) {
			total += w[l] > 0 ? w[l] : 0;
			if (w[l] > w[best])
				best = l;
		}
		if (!(w[best] > 0)) {
			fprintf(out, "  %s %lld  matches nothing\n", a.name, (long long)z);
			continue;
		}
		char left[160], right[160];
		fprintf(out, "  %s %lld = %s %lld", a.name, (long long)z, b.name, (long long)best);
		if (quality.data)
			fprintf(out, " (%.2f)", ((const double *)quality.data)[c->to * c->rows + z]);
		/* Split between several clusters: how much of it this one has. */
		if (w[best] < 0.995 * total)
			fprintf(out, " (%.0f%% of it)", 100 * w[best] / total);
		if (words) {
			top_features(&a.centroids, a.mean, a.features, z, left, sizeof left);
			top_features(&b.centroids, b.mean, b.features, best, right, sizeof right);
			fprintf(out, ": %s | %s", left, right);
		}
		fputc('\n', out);
	}
	free(a.mean);
	free(b.mean);
}

void cli_matches(FILE *out, const cli_run *run)
{
	int64_t count = kdr_result_correspondence_count(run->result), printed = 0, left = 0;
	for (int64_t i = 0; i < count; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(run->result, i);
		if (c.from > c.to) /* the other direction of a pair that was shown */
			continue;
		if (printed == MOST_PAIRS) {
			left++;
			continue;
		}
		fprintf(out, "\nclusters of %s and those of %s they match best%s\n",
		        kdr_data_name(run->tasks->data[c.from]), kdr_data_name(run->tasks->data[c.to]),
		        centroids_of(run, c.from).data && kdr_data_features(run->tasks->data[c.from])
		                ? ": what stands out in both"
		                : "");
		print_pair(out, run, &c);
		printed++;
	}
	if (left)
		fprintf(out, "\n... and %lld more pair%s of tasks: see correspondence in result.json\n",
		        (long long)left, left == 1 ? "" : "s");
}
