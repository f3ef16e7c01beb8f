/* The samples of a transfer problem, by data set. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/common/domains.h"

kdr_status kdri_domains_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                            kdri_domains *out)
{
	kdr_status st;
	kdri_domains d = { .set.x.view = kdr_mat_from_dense(NULL, 0, 0), .ntasks = problem->ntasks };
	int64_t *number = NULL;
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &d.set));
	d.n = d.set.n;
	KDRI_TRY(KDRI_NEW0(ctx, &d.begin, d.ntasks + 1));
	KDRI_TRY(KDRI_NEW(ctx, &d.class_of, problem->classes));
	KDRI_TRY(KDRI_NEW(ctx, &number, problem->classes));
	KDRI_TRY(KDRI_NEW0(ctx, &d.share, problem->classes));
	KDRI_TRY(KDRI_NEW(ctx, &d.labels, d.n));
	KDRI_TRY(KDRI_NEW(ctx, &d.source, d.n));
	KDRI_TRY(KDRI_NEW(ctx, &d.unlabelled, d.n));
	for (int64_t c = 0; c < problem->classes; c++) {
		if (d.set.counts[c] == 0)
			continue;
		d.share[d.classes] = (double)d.set.counts[c] / (double)d.set.known;
		number[c] = d.classes;
		d.class_of[d.classes++] = c;
	}
	for (int64_t t = 0; t < d.ntasks; t++) {
		d.begin[t + 1] = d.begin[t] + kdr_mat_rows(&problem->tasks[t].x);
		for (int64_t i = d.begin[t]; i < d.begin[t + 1]; i++) {
			d.labels[i] = d.set.labels[i] >= 0 ? number[d.set.labels[i]] : -1;
			d.source[i] = problem->tasks[t].role == KDR_ROLE_SOURCE;
			d.unlabelled[i] = d.labels[i] < 0 && !d.source[i];
			d.known += d.labels[i] >= 0;
			d.wanted += d.unlabelled[i];
		}
	}
	*out = d;
	d = (kdri_domains){ .set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_free(ctx, number);
	kdri_domains_free(ctx, &d);
	return st;
}

void kdri_domains_free(kdr_context *ctx, kdri_domains *d)
{
	kdri_labelled_free(ctx, &d->set);
	KDRI_FREE(ctx, d->begin, d->class_of, d->share, d->labels, d->source, d->unlabelled);
	*d = (kdri_domains){ .set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
}

kdr_status kdri_domains_put(kdr_context *ctx, const kdri_domains *d, const double *posterior,
                            const char *name, kdr_result *result)
{
	kdr_status st;
	double *all = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, d->n, d->set.classes, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &all, size));
	for (int64_t i = 0; i < d->n; i++)
		for (int64_t c = 0; c < d->classes; c++)
			all[i * d->set.classes + d->class_of[c]] = posterior[i * d->classes + c];
	KDRI_TRY(kdri_labelled_put(ctx, &d->set, all, name, result));
done:
	kdri_free(ctx, all);
	return st;
}
