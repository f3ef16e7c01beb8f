/* The page: from its head to how to cite the method. SPDX-License-Identifier: BSD-3-Clause
 *
 * No date, no host, no path of the page itself: the same result gives the same bytes. The content
 * security policy forbids scripts and every request, so that even a mistake in escaping could do
 * nothing. */
#include "report/report.h"

#include "report/style.h"

enum { ROWS_MOST = 200, LIST_MOST = 12, WARNINGS_MOST = 50 };

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *method_title(const kdri_report *r)
{
	if (r->algo && r->algo->title)
		return r->algo->title;
	return r->method ? r->method : "An unnamed method";
}

/* --- head ----------------------------------------------------------------------------------- */

/* Why a method stops: completes "It …", and what a reader should know of it. */
static const struct reason {
	const char *id, *words, *advice;
} reasons[] = {
	{ "converged", "converged", NULL },
	{ "max_iter", "reached its limit before converging, and stopped",
	  "The result may still change with more iterations (max_iter)." },
	{ "time", "was stopped by the time limit",
	  "The best result so far is shown; more time may change it." },
	{ "cancelled", "was interrupted", "The best result so far is shown; a whole run may differ." },
	{ "stalled", "could make no further progress and stopped",
	  "The objective stopped falling before the tolerance was met; another start may do better." },
};

static const struct reason *find_reason(const kdri_report *r)
{
	for (size_t i = 0; r->stop && i < sizeof reasons / sizeof reasons[0]; i++)
		if (strcmp(reasons[i].id, r->stop) == 0)
			return &reasons[i];
	return NULL;
}

static void stop_words(kdri_html *h, const kdri_report *r)
{
	const struct reason *reason = find_reason(r);
	kdri_html_put(h, "%s", reason ? reason->words : "stopped");
	if (r->iterations >= 0)
		kdri_html_put(h, " after %lld iteration%s", (long long)r->iterations, plural(r->iterations));
}

static void duration(kdri_html *h, double seconds)
{
	if (seconds >= 3600)
		kdri_html_put(h, "%.1f h", seconds / 3600);
	else if (seconds >= 120)
		kdri_html_put(h, "%.1f min", seconds / 60);
	else if (seconds >= 0.1 || seconds == 0)
		kdri_html_put(h, "%.3g s", seconds);
	else
		kdri_html_put(h, "%.3g ms", 1e3 * seconds);
}

/* Clusters per task: a number if all have the same, else -1. */
static int64_t common_k(const kdri_report *r)
{
	int64_t k = r->ntasks > 0 ? r->tasks[0].k : -1;
	for (int64_t t = 1; t < r->ntasks; t++)
		if (r->tasks[t].k != k)
			return -1;
	return k;
}

static void summary_scores(kdri_html *h, const kdri_report *r)
{
	int64_t scored = 0, best = -1, worst = -1;
	double sum = 0;
	for (int64_t t = 0; t < r->ntasks; t++) {
		double acc = kdri_report_metric(&r->tasks[t], "acc");
		if (!isfinite(acc))
			continue;
		scored++;
		sum += acc;
		if (best < 0 || acc > kdri_report_metric(&r->tasks[best], "acc"))
			best = t;
		if (worst < 0 || acc < kdri_report_metric(&r->tasks[worst], "acc"))
			worst = t;
	}
	if (scored == 1)
		kdri_html_put(
		        h,
		        " Compared with the known classes, %.1f %% of the samples of <bdi>%.80s</bdi> are right.",
		        100 * sum, r->tasks[best].name);
	else if (scored > 1)
		kdri_html_put(
		        h,
		        " Compared with the known classes, %.1f %% of a task’s samples are right on average, from "
		        "%.1f %% (<bdi>%.80s</bdi>) to %.1f %% (<bdi>%.80s</bdi>).",
		        100 * sum / (double)scored, 100 * kdri_report_metric(&r->tasks[worst], "acc"),
		        r->tasks[worst].name, 100 * kdri_report_metric(&r->tasks[best], "acc"),
		        r->tasks[best].name);
}

/* What was done to what: the first sentence. */
static void deed(kdri_html *h, const kdri_report *r)
{
	bool transfer = r->command && strcmp(r->command, "transfer") == 0;
	bool relate = r->command && strcmp(r->command, "relate") == 0;
	int64_t k = common_k(r);
	double samples = 0;
	for (int64_t t = 0; t < r->ntasks; t++)
		samples += r->tasks[t].n > 0 ? (double)r->tasks[t].n : 0;
	kdri_html_put(h, "%s %s ", method_title(r),
	              transfer ? "carried labels over to"
	              : relate ? "compared"
	                       : "grouped");
	if (samples > 0 && samples < 9e18)
		kdri_html_put(h, "the %lld sample%s of ", (long long)samples, samples == 1 ? "" : "s");
	if (r->ntasks == 1)
		kdri_html_put(h, "<bdi>%.80s</bdi>", r->tasks[0].name);
	else
		kdri_html_put(h, "%lld %stasks", (long long)r->ntasks, relate ? "" : "related ");
	if (!transfer && !relate && k >= 0)
		kdri_html_put(h, " into %lld cluster%s%s", (long long)k, plural(k),
		              r->ntasks > 1 ? " each" : "");
	if (!transfer && !relate && r->ntasks > 1 && r->algo)
		kdri_html_raw(h, r->algo->flags & KDR_ALGO_JOINT ? ", all together" : ", one by one");
	kdri_html_raw(h, ".");
}

static void summary(kdri_html *h, const kdri_report *r)
{
	kdri_html_raw(h, "<p class=\"lead\">");
	deed(h, r);
	if (r->stop || r->iterations >= 0) {
		kdri_html_raw(h, " It ");
		stop_words(h, r);
		if (r->total >= 0) {
			kdri_html_raw(h, ", in ");
			duration(h, r->total);
		}
		kdri_html_raw(h, ".");
	}
	summary_scores(h, r);
	kdri_html_raw(h, "</p>");
}

static void warnings(kdri_html *h, const kdri_report *r)
{
	const struct reason *reason = find_reason(r);
	if (reason && reason->advice)
		kdri_html_put(h, "<div class=\"warn\"><p><strong>Not converged.</strong> %s</p></div>",
		              reason->advice);
	if (r->nwarnings == 0)
		return;
	kdri_html_put(h, "<div class=\"warn\"><p><strong>%lld warning%s</strong></p><ul>",
	              (long long)r->nwarnings, plural(r->nwarnings));
	for (int64_t i = 0; i < KDRI_MIN(r->nwarnings, WARNINGS_MOST); i++)
		kdri_html_put(h, "<li>%s</li>", r->warnings[i]);
	if (r->nwarnings > WARNINGS_MOST)
		kdri_html_put(h, "<li>and %lld more</li>", (long long)(r->nwarnings - WARNINGS_MOST));
	kdri_html_raw(h, "</ul></div>");
}

static void fact(kdri_html *h, const char *name, const char *text)
{
	if (text && *text)
		kdri_html_put(h, "<div><dt>%s</dt><dd>%s</dd></div>", name, text);
}

static void facts(kdri_html *h, const kdri_report *r)
{
	kdri_html_raw(h, "<dl class=\"facts card\">");
	fact(h, "Command", r->command);
	fact(h, "Method", r->method);
	fact(h, "Version", r->version);
	fact(h, "Seed", r->seed);
	if (r->threads >= 0)
		kdri_html_put(h, "<div><dt>Threads</dt><dd>%lld</dd></div>", (long long)r->threads);
	if (r->iterations >= 0)
		kdri_html_put(h, "<div><dt>Iterations</dt><dd>%lld</dd></div>", (long long)r->iterations);
	fact(h, "Stopped because", r->stop);
	if (r->total >= 0) {
		kdri_html_raw(h, "<div><dt>Time</dt><dd>");
		duration(h, r->total);
		kdri_html_raw(h, "</dd></div>");
	}
	if (r->peak_bytes >= 0)
		kdri_html_put(h, "<div><dt>Peak memory</dt><dd>%.3g MB</dd></div>",
		              (double)r->peak_bytes / 1e6);
	kdri_html_raw(h, "</dl>");
}

static void head(kdri_html *h, const kdri_report *r)
{
	const char *command = r->command ? r->command : "result";
	kdri_html_raw(
	        h,
	        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	        "'unsafe-inline'\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
	kdri_html_put(h, "<title>kindred %s: %s</title><style>", command, method_title(r));
	kdri_html_raw(h, style_sheet);
	kdri_html_put(h, "</style></head>\n<body><header><p class=\"kicker\">kindred %s</p><h1>%s</h1>",
	              command, method_title(r));
	summary(h, r);
	if (r->algo && r->algo->summary)
		kdri_html_put(h, "<p class=\"soft\">The method: %s.</p>", r->algo->summary);
	warnings(h, r);
	facts(h, r);
	kdri_html_raw(h, "</header>\n<main>");
}

/* --- objective ------------------------------------------------------------------------------ */

static void objective_table(kdri_html *h, const kdri_report *r, double first, double last)
{
	int64_t n = r->nobjective;
	double before = n > 1 ? r->objective[n - 2] : r->objective_start;
	double change = (last - first) / fabs(first), step = (last - before) / fabs(before);
	kdri_html_put(h,
	              "<table><tbody><tr><th scope=\"row\">%s</th><td class=\"num\">%.8g</td></tr>"
	              "<tr><th scope=\"row\">At the end</th><td class=\"num\">%.8g</td></tr>",
	              isfinite(r->objective_start) ? "At the start" : "After the first iteration", first,
	              last);
	if (isfinite(change))
		kdri_html_put(h,
		              "<tr><th scope=\"row\">Change in all</th><td class=\"num\">%s%.3g %%</td></tr>",
		              change > 0 ? "+" : "", 100 * change);
	if (isfinite(step))
		kdri_html_put(
		        h,
		        "<tr><th scope=\"row\">In the last iteration</th><td class=\"num\">%s%.3g %%</td></tr>",
		        step > 0 ? "+" : "", 100 * step);
	kdri_html_raw(h, "</tbody></table>");
}

static void objective(kdri_html *h, const kdri_report *r)
{
	int64_t n = r->nobjective, rises = 0;
	if (n == 0)
		return;
	if (n == 1 && !isfinite(r->objective_start)) { /* a method of one step: there is no course to draw */
		kdri_html_raw(h, "<section id=\"objective\"><h2>Objective</h2><p>The value of the answer: ");
		kdri_html_exact(h, r->objective[0]);
		kdri_html_raw(h, "</p></section>");
		return;
	}
	double first = isfinite(r->objective_start) ? r->objective_start : r->objective[0], previous = first;
	for (int64_t i = 0; i < n; i++) {
		rises += r->objective[i] > previous + 1e-9 * fabs(previous);
		previous = r->objective[i];
	}
	kdri_html_raw(
	        h,
	        "<section id=\"objective\"><h2>Objective</h2><p>The value the method minimises, after each iteration. ");
	if (rises == 0)
		kdri_html_raw(h, "It never rose.");
	else
		kdri_html_put(h, "It rose in %lld of %lld iterations%s.", (long long)rises, (long long)n,
		              r->algo && (r->algo->flags & KDR_ALGO_MONOTONE)
		                      ? ", which this method should not do"
		                      : "");
	kdri_html_raw(h, "</p><div class=\"card beside\">");
	kdri_chart_objective(h, r->objective, n, r->objective_start);
	objective_table(h, r, first, r->objective[n - 1]);
	kdri_html_raw(h, "</div></section>");
}

/* --- options and fields --------------------------------------------------------------------- */

/* A JSON value on one line; lists are cut short, lists of lists and objects only counted. */
static void value_text(kdri_html *h, const kdr_json *value, int depth)
{
	int64_t count = kdr_json_count(value);
	switch (kdr_json_typeof(value)) {
	case KDR_JSON_TEXT: kdri_html_put(h, "<bdi>%s</bdi>", kdr_json_text(value, NULL)); break;
	case KDR_JSON_INTEGER:
	case KDR_JSON_REAL: kdri_html_exact(h, kdr_json_number(value, 0)); break;
	case KDR_JSON_TRUE: kdri_html_raw(h, "true"); break;
	case KDR_JSON_FALSE: kdri_html_raw(h, "false"); break;
	case KDR_JSON_ABSENT:
	case KDR_JSON_NULL: kdri_html_raw(h, "–"); break;
	case KDR_JSON_OBJECT: kdri_html_put(h, "%lld entries", (long long)count); break;
	case KDR_JSON_ARRAY:
		if (depth > 0) {
			kdri_html_put(h, "[%lld values]", (long long)count);
			break;
		}
		for (int64_t i = 0; i < KDRI_MIN(count, LIST_MOST); i++) {
			kdri_html_raw(h, i ? ", " : "");
			value_text(h, kdr_json_at(value, i), depth + 1);
		}
		if (count > LIST_MOST)
			kdri_html_put(h, ", … (%lld in all)", (long long)count);
		break;
	}
}

static const kdr_option_desc *find_option(const kdri_report *r, const char *name)
{
	for (const kdr_option_desc *d = r->algo ? r->algo->options : NULL; d && d->name; d++)
		if (strcmp(d->name, name) == 0)
			return d;
	return NULL;
}

static bool is_default(const kdr_option_desc *d, const kdr_json *value)
{
	if (kdr_json_is(value, KDR_JSON_TEXT))
		return d->type == KDR_OPTION_CHOICE &&
		       strcmp(d->choices[(int)d->initial], kdr_json_text(value, NULL)) == 0;
	if (kdr_json_is_bool(value))
		return kdr_json_is(value, KDR_JSON_TRUE) == (d->initial != 0);
	return !kdr_json_is(value, KDR_JSON_ARRAY) && kdr_json_number(value, 0) == d->initial;
}

static void default_text(kdri_html *h, const kdr_option_desc *d)
{
	if (d->automatic)
		kdri_html_put(h, "%s", d->automatic);
	else if (d->type == KDR_OPTION_CHOICE)
		kdri_html_put(h, "%s", d->choices[(int)d->initial]);
	else if (d->type == KDR_OPTION_BOOL)
		kdri_html_raw(h, d->initial != 0 ? "true" : "false");
	else
		kdri_html_exact(h, d->initial);
}

static void option_row(kdri_html *h, const kdri_report *r, const kdr_json *value)
{
	const char *name = kdr_json_key(value);
	const kdr_option_desc *d = find_option(r, name);
	kdri_html_put(h, "<tr><th scope=\"row\"><code>%.80s</code></th><td%s>", name,
	              d && !is_default(d, value) ? " class=set" : "");
	value_text(h, value, 0);
	kdri_html_raw(h, "</td>");
	if (d) {
		kdri_html_raw(h, "<td>");
		default_text(h, d);
		kdri_html_put(h, "</td><td class=\"name\">%s</td>", d->help ? d->help : "");
	} else if (r->algo) {
		kdri_html_raw(h, "<td>–</td><td></td>");
	}
	kdri_html_raw(h, "</tr>");
}

static void options(kdri_html *h, const kdri_report *r)
{
	int64_t rows = KDRI_MIN(kdr_json_count(r->options), ROWS_MOST);
	if (rows == 0)
		return;
	kdri_html_raw(h, "<section id=\"options\"><h2>Options in force</h2>");
	if (r->algo)
		kdri_html_raw(h, "<p class=\"soft small\">Values in bold differ from the default.</p>");
	kdri_html_raw(
	        h,
	        "<div class=\"scroll\" tabindex=\"0\"><table class=\"full\"><thead><tr><th scope=\"col\">Option</th>"
	        "<th scope=\"col\">Value</th>");
	if (r->algo)
		kdri_html_raw(h, "<th scope=\"col\">Default</th><th scope=\"col\">Meaning</th>");
	kdri_html_raw(h, "</tr></thead><tbody>");
	for (int64_t i = 0; i < rows; i++)
		option_row(h, r, kdr_json_at(r->options, i));
	kdri_html_raw(h, "</tbody></table></div></section>");
}

static void fields(kdri_html *h, const kdri_report *r)
{
	int64_t rows = KDRI_MIN(kdr_json_count(r->fields), ROWS_MOST);
	if (rows == 0)
		return;
	kdri_html_raw(h, "<section id=\"fields\"><h2>What else the method reports</h2><div class=\"scroll\" "
	                 "tabindex=\"0\">"
	                 "<table class=\"full\"><thead><tr><th scope=\"col\">Field</th><th "
	                 "scope=\"col\">Value</th></tr>"
	                 "</thead><tbody>");
	for (int64_t i = 0; i < rows; i++) {
		const kdr_json *value = kdr_json_at(r->fields, i);
		kdri_html_put(h, "<tr><th scope=\"row\"><code>%.80s</code></th><td class=\"name\">",
		              kdr_json_key(value));
		value_text(h, value, 0);
		kdri_html_raw(h, "</td></tr>");
	}
	kdri_html_raw(h, "</tbody></table></div></section>");
}

/* --- time, citation ------------------------------------------------------------------------- */

static void timing(kdri_html *h, const kdri_report *r)
{
	static const char *const titles[] = { "Reading", "Preparing", "Fitting", "Writing", "Other" };
	double part[KDRI_STAGES + 1], sum = 0;
	for (int i = 0; i < KDRI_STAGES; i++) {
		part[i] = r->stage[i] > 0 ? r->stage[i] : 0;
		sum += part[i];
	}
	part[KDRI_STAGES] = fmax(0, r->total - sum); /* 0 where the total is not told */
	sum += part[KDRI_STAGES];
	if (!(sum > 0) || !isfinite(sum))
		return;
	kdri_html_raw(h, "<section id=\"time\"><h2>Time and memory</h2><div class=\"card\">");
	kdri_chart_parts(h, part, KDRI_STAGES + 1, sum);
	kdri_html_raw(
	        h, "<table><thead><tr><th scope=\"col\">Stage</th><th scope=\"col\" class=\"num\">Time</th>"
	           "<th scope=\"col\" class=\"num\">Share</th></tr></thead><tbody>");
	for (int i = 0; i <= KDRI_STAGES; i++) {
		if (i < KDRI_STAGES ? !isfinite(r->stage[i]) : part[i] < 0.01 * sum)
			continue;
		kdri_html_put(
		        h,
		        "<tr><th scope=\"row\"><span class=\"swatch c%d\"></span>%s</th><td class=\"num\">",
		        i, titles[i]);
		duration(h, part[i]);
		kdri_html_put(h, "</td><td class=\"num\">%.1f %%</td></tr>", 100 * part[i] / sum);
	}
	kdri_html_raw(h, "</tbody></table>");
	if (r->peak_bytes >= 0)
		kdri_html_put(h,
		              "<p class=\"soft small\">At its peak the program held %.3g MB of memory.</p>",
		              (double)r->peak_bytes / 1e6);
	kdri_html_raw(h, "</div></section>");
}

static void citation(kdri_html *h, const kdri_report *r)
{
	if (!r->algo || !r->algo->references || !r->algo->references[0])
		return;
	kdri_html_put(
	        h,
	        "<section id=\"cite\"><h2>How to cite</h2><p>The method is due to:</p><ol class=\"refs\">");
	for (const char *const *p = r->algo->references; *p; p++)
		kdri_html_put(h, "<li>%s</li>", *p);
	kdri_html_raw(h, "</ol></section>");
}

void kdri_page(kdri_html *h, const kdri_report *r)
{
	head(h, r);
	kdri_page_advice(h, r);
	kdri_page_tasks(h, r);
	kdri_page_clusters(h, r);
	kdri_page_scores(h, r);
	objective(h, r);
	kdri_page_relatedness(h, r);
	kdri_page_correspondence(h, r);
	options(h, r);
	fields(h, r);
	timing(h, r);
	citation(h, r);
	kdri_html_put(h, "</main>\n<footer>Made by kindred %s.</footer></body></html>\n", kdr_version());
}
