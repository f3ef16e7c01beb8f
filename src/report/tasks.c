/* Tasks: their shapes, the sizes of their clusters, their scores. SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

#include <stdlib.h>

enum {
	TASKS_MOST = 100, /* tasks with a card of their own */
	BARS_MOST = 24,   /* clusters with a bar of their own */
	BARS_LARGEST = 12 /* of more clusters: so many, and the others in one row */
};

/* The scores of kdr_evaluate, in the order of the page. */
static const struct score {
	const char *id, *title, *help;
} scores[] = {
	{ "acc", "Accuracy",
	  "share of samples in the right class; clusters are matched one to one with classes" },
	{ "nmi", "NMI", "mutual information over the geometric mean of the entropies; 1: same partition" },
	{ "ari", "ARI",
	  "pairs treated alike, corrected for chance; 0: as good as chance, 1: same partition" },
	{ "purity", "Purity", "share of samples in the commonest class of their cluster" },
	{ "v_measure", "V‑measure", "harmonic mean of homogeneity and completeness" },
	{ "homogeneity", "Homogeneity", "1: each cluster holds one class" },
	{ "completeness", "Completeness", "1: each class lies in one cluster" },
	{ "nmi_arithmetic", "NMI (arithmetic)", "as NMI, over the arithmetic mean of the entropies" },
	{ "nmi_max", "NMI (max)", "as NMI, over the larger entropy" },
};
enum { SCORES = sizeof scores / sizeof scores[0] };

double kdri_report_metric(const kdri_report_task *task, const char *name)
{
	return kdr_json_number(kdr_json_get(task->metrics, name), NAN);
}

static void count_cell(kdri_html *h, int64_t count)
{
	if (count < 0)
		kdri_html_raw(h, "<td class=\"num\">–</td>");
	else
		kdri_html_put(h, "<td class=\"num\">%lld</td>", (long long)count);
}

/* Share of the entries that are not zero; NaN where it is not told. */
static double density(const kdri_report_task *t)
{
	return t->n > 0 && t->d > 0 && t->nnz >= 0 ? (double)t->nnz / ((double)t->n * (double)t->d) : NAN;
}

/* --- clusters ------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const kdri_group *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static void group_row(kdri_html *h, const kdri_report_task *t, const kdri_group *g, int64_t largest)
{
	kdri_html_raw(h, "<tr><th scope=\"row\">");
	if (g->name)
		kdri_html_put(h, "<bdi>%.80s</bdi>", g->name);
	else if (g->number < 0)
		kdri_html_raw(h, "none");
	else
		kdri_html_put(h, "%lld", (long long)g->number);
	kdri_html_raw(h, "</th><td class=\"grow\">");
	kdri_chart_bar(h, largest > 0 ? (double)g->count / (double)largest : 0);
	kdri_html_put(h, "</td><td class=\"num\">%lld</td><td class=\"num\">%.1f %%</td></tr>",
	              (long long)g->count,
	              t->grouped > 0 ? 100 * (double)g->count / (double)t->grouped : 0.0);
}

static void sizes_table(kdri_html *h, const kdri_report_task *t, const kdri_group *sorted)
{
	bool many = t->ngroups > BARS_MOST;
	const kdri_group *shown = many ? sorted : t->groups;
	int64_t count = many ? BARS_LARGEST : t->ngroups, rest = t->grouped;
	kdri_html_put(
	        h,
	        "<table class=\"sizes full\"><thead><tr><th scope=\"col\">%s</th><th scope=\"col\">Samples</th>"
	        "<th scope=\"col\" class=\"num\">Count</th><th scope=\"col\" class=\"num\">Share</th></tr>"
	        "</thead><tbody>",
	        t->groups[0].name ? "Class" : "Cluster");
	for (int64_t i = 0; i < count; i++) {
		group_row(h, t, &shown[i], sorted[0].count);
		rest -= shown[i].count;
	}
	if (many)
		kdri_html_put(h,
		              "<tr><th scope=\"row\">%lld others</th><td class=\"grow\"></td>"
		              "<td class=\"num\">%lld</td><td class=\"num\">%.1f %%</td></tr>",
		              (long long)(t->ngroups - count), (long long)rest,
		              t->grouped > 0 ? 100 * (double)rest / (double)t->grouped : 0.0);
	kdri_html_raw(h, "</tbody></table>");
}

static void sizes(kdri_html *h, const kdri_report_task *t)
{
	kdri_group *sorted = NULL;
	int64_t empty = 0;
	if (t->ngroups == 0) {
		kdri_html_raw(h, "<p class=\"soft small\">The method gave this task no labels.</p>");
		return;
	}
	if (h->st == KDR_OK)
		h->st = KDRI_NEW(h->ctx, &sorted, t->ngroups);
	if (h->st != KDR_OK)
		return;
	memcpy(sorted, t->groups, (size_t)t->ngroups * sizeof *sorted);
	/* The rank in the file breaks ties; qsort alone is not stable. */
	for (int64_t i = 0; i < t->ngroups; i++) {
		sorted[i].number = i;
		empty += t->groups[i].count == 0;
	}
	qsort(sorted, (size_t)t->ngroups, sizeof *sorted, by_size);
	for (int64_t i = 0; i < t->ngroups; i++)
		sorted[i] = t->groups[sorted[i].number];
	if (t->ngroups > BARS_MOST)
		kdri_chart_columns(h, sorted, t->ngroups);
	sizes_table(h, t, sorted);
	if (t->ngroups > 1) {
		int64_t upper = t->ngroups / 2, lower = (t->ngroups - 1) / 2;
		double median = ((double)sorted[upper].count + (double)sorted[lower].count) / 2;
		kdri_html_put(h, "<p class=\"soft small\">Sizes from %lld to %lld, median %g",
		              (long long)sorted[t->ngroups - 1].count, (long long)sorted[0].count, median);
		if (empty > 0)
			kdri_html_put(h, "; %lld of %lld clusters %s empty", (long long)empty,
			              (long long)t->ngroups, empty == 1 ? "is" : "are");
		kdri_html_raw(h, ".</p>");
	}
	kdri_free(h->ctx, sorted);
}

/* --- cards ---------------------------------------------------------------------------------- */

static void card(kdri_html *h, const kdri_report_task *t, int64_t index)
{
	double share = density(t);
	kdri_html_put(h, "<article class=\"card\" id=\"task-%d\"><h3><bdi>%.80s</bdi></h3>", (int)index,
	              t->name);
	kdri_html_raw(h, "<p class=\"soft small\">");
	if (t->n >= 0)
		kdri_html_put(h, "%lld sample%s", (long long)t->n, t->n == 1 ? "" : "s");
	if (t->n >= 0 && t->d >= 0)
		kdri_html_put(h, " × %lld feature%s", (long long)t->d, t->d == 1 ? "" : "s");
	if (isfinite(share))
		kdri_html_put(h, ", density %.3g %%", 100 * share);
	if (t->k >= 0)
		kdri_html_put(h, "%s%lld cluster%s", t->n >= 0 ? ", " : "", (long long)t->k,
		              t->k == 1 ? "" : "s");
	if (t->path && *t->path)
		kdri_html_put(h, "<br><code><bdi>%.80s</bdi></code>", t->path);
	kdri_html_raw(h, "</p>");
	sizes(h, t);
	kdri_html_raw(h, "<p class=\"small\">");
	if (!t->metrics)
		kdri_html_raw(h, "<span class=\"soft\">Scores: no truth given.</span>");
	for (int i = 0, first = 1; t->metrics && i < 4; i++)
		if (isfinite(kdri_report_metric(t, scores[i].id))) {
			kdri_html_put(h, "%s%s <strong>%.3f</strong>", first ? "" : " · ", scores[i].title,
			              kdri_report_metric(t, scores[i].id));
			first = 0;
		}
	kdri_html_raw(h, "</p></article>");
}

static void overview(kdri_html *h, const kdri_report *r)
{
	kdri_html_raw(
	        h,
	        "<div class=\"scroll\" tabindex=\"0\"><table class=\"full\"><thead><tr><th scope=\"col\">Task</th>"
	        "<th scope=\"col\" class=\"num\">Samples</th><th scope=\"col\" class=\"num\">Features</th>"
	        "<th scope=\"col\" class=\"num\">Density</th><th scope=\"col\" class=\"num\">Clusters</th>"
	        "<th scope=\"col\" class=\"num\">Smallest</th><th scope=\"col\" class=\"num\">Largest</th>"
	        "</tr></thead><tbody>");
	for (int64_t i = 0; i < KDRI_MIN(r->ntasks, TASKS_MOST); i++) {
		const kdri_report_task *t = &r->tasks[i];
		int64_t low = t->ngroups ? INT64_MAX : -1, high = -1;
		for (int64_t g = 0; g < t->ngroups; g++) {
			low = KDRI_MIN(low, t->groups[g].count);
			high = KDRI_MAX(high, t->groups[g].count);
		}
		kdri_html_put(
		        h,
		        "<tr><th scope=\"row\" class=\"name\"><a href=\"#task-%d\"><bdi>%.80s</bdi></a></th>",
		        (int)i, t->name);
		count_cell(h, t->n);
		count_cell(h, t->d);
		if (isfinite(density(t)))
			kdri_html_put(h, "<td class=\"num\">%.3g %%</td>", 100 * density(t));
		else
			count_cell(h, -1);
		count_cell(h, t->k >= 0 ? t->k : t->ngroups ? t->ngroups : -1);
		count_cell(h, low);
		count_cell(h, high);
		kdri_html_raw(h, "</tr>");
	}
	kdri_html_raw(h, "</tbody></table></div>");
}

void kdri_page_tasks(kdri_html *h, const kdri_report *r)
{
	if (r->ntasks == 0)
		return;
	kdri_html_put(h, "<section id=\"tasks\"><h2>%s</h2>", r->ntasks == 1 ? "Task" : "Tasks");
	if (r->ntasks > 1)
		overview(h, r);
	kdri_html_raw(h, r->ntasks == 1 ? "<div class=\"cards one\">"
	                                : "<div class=\"cards\" style=\"margin-top:1rem\">");
	for (int64_t i = 0; i < KDRI_MIN(r->ntasks, TASKS_MOST); i++)
		card(h, &r->tasks[i], i);
	kdri_html_raw(h, "</div>");
	if (r->ntasks > TASKS_MOST)
		kdri_html_put(h, "<p>%lld more tasks are left out of this page.</p>",
		              (long long)(r->ntasks - TASKS_MOST));
	kdri_html_raw(h, "</section>");
}

/* --- scores --------------------------------------------------------------------------------- */

/* In transfer labels are classes already: nothing is matched. */
static const char *help_of(const struct score *score, bool transfer)
{
	return transfer && strcmp(score->id, "acc") == 0 ? "share of samples in the right class"
	                                                 : score->help;
}

void kdri_page_scores(kdri_html *h, const kdri_report *r)
{
	bool used[SCORES] = { false }, any = false;
	bool transfer = r->command && strcmp(r->command, "transfer") == 0;
	int64_t scored = 0;
	for (int64_t t = 0; t < r->ntasks; t++) {
		scored += r->tasks[t].metrics != NULL;
		for (int i = 0; i < SCORES; i++)
			if (isfinite(kdri_report_metric(&r->tasks[t], scores[i].id)))
				used[i] = any = true;
	}
	if (!any)
		return;
	kdri_html_raw(
	        h,
	        "<section id=\"scores\"><h2>Scores</h2><p>Agreement with the known classes, which were used "
	        "for scoring alone, never for fitting. Every score is at most 1.</p><div class=\"scroll\" tabindex=\"0\">"
	        "<table class=\"full\"><thead><tr><th scope=\"col\">Task</th>");
	for (int i = 0; i < SCORES; i++)
		if (used[i])
			kdri_html_put(h, "<th scope=\"col\" class=\"num\"><abbr title=\"%s\">%s</abbr></th>",
			              help_of(&scores[i], transfer), scores[i].title);
	kdri_html_raw(h, "</tr></thead><tbody>");
	for (int64_t t = 0; t < KDRI_MIN(r->ntasks, TASKS_MOST); t++) {
		kdri_html_put(h, "<tr><th scope=\"row\" class=\"name\"><bdi>%.80s</bdi></th>",
		              r->tasks[t].name);
		if (!r->tasks[t].metrics) {
			int span = 0;
			for (int i = 0; i < SCORES; i++)
				span += used[i];
			kdri_html_put(h, "<td class=\"soft\" colspan=\"%d\">no truth given</td>", span);
		}
		for (int i = 0; i < SCORES && r->tasks[t].metrics; i++)
			if (used[i])
				kdri_html_put(h, "<td class=\"num\">%.3f</td>",
				              kdri_report_metric(&r->tasks[t], scores[i].id));
		kdri_html_raw(h, "</tr>");
	}
	kdri_html_raw(h, "</tbody>");
	if (scored > 1) {
		kdri_html_raw(h, "<tfoot><tr><th scope=\"row\">Mean</th>");
		for (int i = 0; i < SCORES; i++) {
			double sum = 0, count = 0;
			for (int64_t t = 0; t < r->ntasks; t++) {
				double value = kdri_report_metric(&r->tasks[t], scores[i].id);
				sum += isfinite(value) ? value : 0;
				count += isfinite(value);
			}
			if (used[i])
				kdri_html_put(h, "<td class=\"num\">%.3f</td>", sum / count);
		}
		kdri_html_raw(h, "</tr></tfoot>");
	}
	kdri_html_raw(h, "</table></div><dl class=\"defs small soft\">");
	for (int i = 0; i < SCORES; i++)
		if (used[i])
			kdri_html_put(h, "<div><dt>%s</dt><dd>%s</dd></div>", scores[i].title,
			              help_of(&scores[i], transfer));
	kdri_html_raw(h, "</dl></section>");
}
