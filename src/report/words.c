/* The page's words: advice, and what sets clusters apart. SPDX-License-Identifier: BSD-3-Clause
 *
 * Read as they stand in the tasks of result.json; what is missing or of another type is left out. */
#include "report/report.h"

enum { TASKS_MOST = 50, CLUSTERS_MOST = 50, FEATURES_MOST = 6 };

static const kdr_json *tasks_of(const kdri_report *r)
{
	return kdr_json_get(r->root, "tasks");
}

void kdri_page_advice(kdri_html *h, const kdri_report *r)
{
	bool any = false;
	for (int64_t t = 0; t < kdr_json_count(tasks_of(r)); t++) {
		const kdr_json *said = kdr_json_get(kdr_json_at(tasks_of(r), t), "advice");
		for (int64_t i = 0; i < kdr_json_count(said); i++) {
			const char *text = kdr_json_text(kdr_json_at(said, i), NULL);
			if (!text)
				continue;
			kdri_html_raw(h, any ? "" : "<section id=\"advice\"><h2>What transfer did</h2><ul>");
			kdri_html_put(h, "<li>%s</li>", text);
			any = true;
		}
	}
	kdri_html_raw(h, any ? "</ul></section>" : "");
}

/* "orbit 1.25, launch 0.98": features by name and effect. */
static void features(kdri_html *h, const kdr_json *list)
{
	for (int64_t i = 0; i < KDRI_MIN(kdr_json_count(list), FEATURES_MOST); i++) {
		const kdr_json *f = kdr_json_at(list, i);
		const char *name = kdr_json_text(kdr_json_get(f, "name"), NULL);
		double effect = kdr_json_number(kdr_json_get(f, "effect"), NAN);
		if (name && isfinite(effect))
			kdri_html_put(h, "%s%.80s <small>%.2f</small>", i ? ", " : "", name, effect);
	}
}

static void rows_of(kdri_html *h, const char *task, const kdr_json *clusters)
{
	int64_t count = kdr_json_count(clusters);
	for (int64_t c = 0; c < KDRI_MIN(count, CLUSTERS_MOST); c++) {
		const kdr_json *cluster = kdr_json_at(clusters, c);
		kdri_html_put(
		        h,
		        "<tr><th scope=\"row\">%s</th><td class=\"num\">%lld</td><td class=\"num\">%lld</td><td>",
		        task, (long long)kdr_json_integer(kdr_json_get(cluster, "number"), c),
		        (long long)kdr_json_integer(kdr_json_get(cluster, "size"), 0));
		features(h, kdr_json_get(cluster, "features"));
		kdri_html_raw(h, "</td></tr>");
	}
}

void kdri_page_clusters(kdri_html *h, const kdri_report *r)
{
	bool any = false;
	for (int64_t t = 0; t < KDRI_MIN(r->ntasks, TASKS_MOST); t++) {
		const kdr_json *clusters = kdr_json_get(kdr_json_at(tasks_of(r), t), "clusters");
		if (kdr_json_count(clusters) == 0)
			continue;
		if (!any)
			kdri_html_raw(
			        h,
			        "<section id=\"clusters\"><h2>What sets clusters apart</h2><p>Features whose mean inside the cluster "
			        "differs most from that outside, in standard deviations.</p><div class=\"scroll\" tabindex=\"0\">"
			        "<table class=\"full\"><thead><tr><th scope=\"col\">Task</th><th scope=\"col\" class=\"num\">Cluster"
			        "</th><th scope=\"col\" class=\"num\">Samples</th><th scope=\"col\">Features</th></tr></thead><tbody>");
		rows_of(h, r->tasks[t].name, clusters);
		any = true;
	}
	kdri_html_raw(h, any ? "</tbody></table></div></section>" : "");
}
