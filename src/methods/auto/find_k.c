/* The numbers of clusters that auto finds. SPDX-License-Identifier: BSD-3-Clause
 *
 * guess_k.c computes the evidence for each task. If several numbers of clusters are fitted (matrix/kept.h), the number found here is moved into
 * their range, and the agreement of partitions is computed for that number only, because no other is reported. */
#include "core/internal.h"
#include "matrix/kept.h"
#include "matrix/rows.h"
#include "methods/auto/auto_report.h"
#include "methods/auto/guess_k.h"

#include <stdio.h>

static kdr_status put_curves(kdr_context *ctx, const kdri_auto *j, int64_t t, const kdri_k_curves *c)
{
	const struct {
		const char *name;
		const double *values;
	} curves[] = { { "eigengap", c->gap },
		       { "k_agreement", c->agreement },
		       { "modularity", c->modularity } };
	double *to = NULL;
	for (int i = 0; i < 3 && c->count > 0; i++) { /* two samples leave nothing to choose */
		KDRI_DO(kdri_result_array(ctx, j->result, curves[i].name, t, KDR_FLOAT64, 1,
		                          (int64_t[]){ c->count }, &to));
		memcpy(to, curves[i].values, (size_t)c->count * sizeof *to);
	}
	return KDR_OK;
}

/* Of task t, or of all of them: -1. */
static kdr_status put_guess(kdr_context *ctx, const kdri_auto *j, int64_t t, const kdri_k_guess *g)
{
	char text[256], range[96] = "";
	if (g->low < g->high)
		snprintf(range, sizeof range, " (%lld to %lld score nearly as well)", (long long)g->low,
		         (long long)g->high);
	kdri_snprintf(text, sizeof text,
	              "k = %lld%s: %s (agreement of three clusterings: %.2f; 1 = identical)", (long long)g->k,
	              range,
	              g->sure ? "supported, right in 2 of 3 similar cases"
	                      : "only a suggestion, right in 1 of 8 similar cases",
	              g->agreement);
	KDRI_DO(kdri_result_task_text(ctx, j->result, t, "k_evidence", text));
	KDRI_DO(kdri_result_task_number(ctx, j->result, t, "k_sure", g->sure));
	if (g->next > 0)
		KDRI_DO(kdri_result_task_number(ctx, j->result, t, "k_next", (double)g->next));
	return KDR_OK;
}

static bool is_complete(const kdri_k_curves *c)
{
	return c->tried == c->count;
}

/* The curves that a common k is found from: the complete ones of those that were looked at, or the longest if time was out before the
 * first was complete. */
static int64_t choose_curves(const kdri_k_curves *all, const bool *wanted, int64_t T, kdri_k_curves *out)
{
	int64_t count = 0;
	const kdri_k_curves *longest = NULL;
	for (int64_t t = 0; t < T; t++) {
		if (!wanted[t])
			continue;
		if (is_complete(&all[t]))
			out[count++] = all[t];
		if (!longest || all[t].tried > longest->tried)
			longest = &all[t];
	}
	if (count == 0 && longest && longest->tried > 0)
		out[count++] = *longest;
	return count;
}

/* Looks at each task without a given k: wanted[t] and its curves. */
static kdr_status draw_all(kdr_context *ctx, kdri_auto *j, bool *wanted, kdri_k_curves *curves)
{
	int64_t distinct;
	for (int64_t t = 0; t < j->T; t++) {
		if (j->k[t] > 0)
			continue;
		KDRI_DO(kdri_rows_distinct(ctx, &j->problem->tasks[t].x, NULL,
		                           kdri_k_most(j->options, (double)j->views.rows[t]), &distinct));
		if (distinct == 1) {
			j->k[t] = 1;
			KDRI_DO(kdri_result_task_text(ctx, j->result, j->T > 1 ? t : -1, "k_evidence",
			                              "k = 1: all samples are identical"));
			continue;
		}
		KDRI_DO(kdri_k_curves_new(ctx, &j->views.tasks[t], distinct, kdri_has_range(ctx),
		                          &curves[t]));
		wanted[t] = true;
	}
	return KDR_OK;
}

/* Reports the evidence for the k of each task, or of all of them. */
static kdr_status put_evidence(kdr_context *ctx, kdri_auto *j, const bool *wanted, bool same,
                               kdri_k_curves *curves, kdri_k_curves *used)
{
	bool complete = true;
	const int64_t count = choose_curves(curves, wanted, j->T, used);
	const int64_t k = kdri_k_guess_of(used, count).k;
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t]) {
			KDRI_DO(kdri_k_agreement(ctx, &j->views.tasks[t],
			                         same ? k : kdri_k_guess_of(&curves[t], 1).k, &curves[t]));
			complete = complete && is_complete(&curves[t]);
		}
	if (!complete || ctx->cancelled || ctx->timed_out) {
		return kdri_k_unfinished(ctx, j->result);
	}
	if (same) {
		const kdri_k_guess all = kdri_k_guess_of(used, count);
		KDRI_DO(put_guess(ctx, j, -1, &all));
	}
	for (int64_t t = 0; t < j->T && !same; t++)
		if (wanted[t]) {
			const kdri_k_guess own = kdri_k_guess_of(&curves[t], 1);
			KDRI_DO(put_guess(ctx, j, t, &own));
		}
	return KDR_OK;
}

kdr_status kdri_auto_find_k(kdr_context *ctx, kdri_auto *j)
{
	kdr_status st;
	const bool same = kdri_opt_bool(j->options, "same_k");
	kdri_k_curves *curves = NULL, *used = NULL;
	bool *wanted = NULL, any = false;
	int64_t least = INT64_MAX;
	KDRI_TRY(KDRI_NEW0(ctx, &curves, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &used, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &wanted, j->T));
	for (int64_t t = 0; t < j->T; t++)
		if (j->has[t] && j->problem->tasks[t].k == 0) /* the run alone has found it */
			KDRI_TRY(kdri_given_copy(
			        ctx, j->given[t], "k_",
			        (const char *const[]){ "eigengap", "k_agreement", "modularity", NULL },
			        j->result, t));
	KDRI_TRY(draw_all(ctx, j, wanted, curves));
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t]) {
			any = true;
			least = KDRI_MIN(least, j->views.rows[t]);
		}
	if (!any)
		goto done;
	const int64_t count = choose_curves(curves, wanted, j->T, used),
	              common = count > 0 ? kdri_k_guess_of(used, count).k : KDRI_K_FALLBACK;
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t])
			j->k[t] = same || curves[t].tried < KDRI_MIN(1, curves[t].count)
			                  ? KDRI_MIN(common, least)
			                  : kdri_k_guess_of(&curves[t], 1).k;
	if (kdri_enter_range(ctx, j->T, j->k)) { /* then the evidence is for another k */
		for (int64_t t = 0; t < j->T; t++)
			if (wanted[t] && !is_complete(&curves[t])) {
				KDRI_TRY(kdri_k_unfinished(ctx, j->result));
				break;
			}
	} else {
		KDRI_TRY(put_evidence(ctx, j, wanted, same, curves, used));
	}
	for (int64_t t = 0; t < j->T; t++)
		if (wanted[t])
			KDRI_TRY(put_curves(ctx, j, t, &curves[t]));
done:
	for (int64_t t = 0; curves && t < j->T; t++)
		kdri_k_curves_free(ctx, &curves[t]);
	kdri_free(ctx, curves);
	kdri_free(ctx, used);
	kdri_free(ctx, wanted);
	return st;
}
