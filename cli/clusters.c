/* Feature clusters that data sets share, in words. SPDX-License-Identifier: BSD-3-Clause */
#include "clusters.h"

static const char *const sides[2] = { "source", "target" };

static kdr_array side_array(const cli_clusters *c, const char *what, int side)
{
	char name[64];
	snprintf(name, sizeof name, "%s_%s", what, sides[side]);
	return kdr_result_array(c->result, name, -1);
}

/* The class in which cluster j has the largest share of the class's weight, and that share. */
static int64_t class_of(const kdr_array *a, int64_t j, double *share)
{
	const double *w = a->data;
	int64_t best = 0;
	double sum = 0, most = -1;
	for (int64_t k = 0; k < a->shape[1]; k++) {
		double total = 0;
		for (int64_t i = 0; i < a->shape[0]; i++)
			total += w[i * a->shape[1] + k];
		double part = total > 0 ? w[j * a->shape[1] + k] / total : 0;
		sum += part;
		if (part > most) {
			most = part;
			best = k;
		}
	}
	*share = sum > 0 ? most / sum : 0;
	return best;
}

void cli_clusters_json(cli_json *j, const cli_clusters *c)
{
	bool open = false;
	for (int side = 0; side < 2; side++) {
		kdr_array top = side_array(c, "top", side), a = side_array(c, "association", side);
		const char *const *names = c->features[side];
		if (!top.data || !a.data)
			continue;
		if (!open)
			cli_json_array(j, "feature_clusters");
		open = true;
		for (int64_t k = 0; k < top.shape[0]; k++) {
			double share;
			cli_json_object(j, NULL);
			cli_json_string(j, "shared_with", sides[side]);
			cli_json_int(j, "cluster", k);
			cli_json_string(j, "class", c->classes[class_of(&a, k, &share)]);
			cli_json_real(j, "share", share);
			cli_json_array(j, "features");
			for (int64_t i = 0; i < top.shape[1]; i++) {
				int64_t column = ((const int64_t *)top.data)[k * top.shape[1] + i];
				if (names)
					cli_json_string(j, NULL, names[column]);
				else
					cli_json_int(j, NULL, column);
			}
			cli_json_end_array(j);
			cli_json_end_object(j);
		}
	}
	if (open)
		cli_json_end_array(j);
}

void cli_clusters_summary(FILE *out, const cli_clusters *c)
{
	kdr_array top = side_array(c, "top", 1), a = side_array(c, "association", 1);
	const char *const *names = c->features[1];
	if (!top.data || !a.data || !names)
		return;
	fprintf(out, "\nfeatures shared with the target, most of one class:\n");
	for (int64_t class = 0; class < c->nclasses && class < 10; class ++) {
		int64_t best = -1;
		double most = 0, share;
		for (int64_t k = 0; k < top.shape[0]; k++)
			if (class_of(&a, k, &share) == class && share > most) {
				most = share;
				best = k;
			}
		fprintf(out, "  %s:", c->classes[class]);
		for (int64_t i = 0; best >= 0 && i < top.shape[1] && i < 8; i++)
			fprintf(out, " %s", names[((const int64_t *)top.data)[best * top.shape[1] + i]]);
		fprintf(out, best >= 0 ? "\n" : " (none)\n");
	}
}
