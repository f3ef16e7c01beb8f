/* Matrices between tasks: matched clusters, and relatedness. SPDX-License-Identifier: BSD-3-Clause
 *
 * A small matrix is a real table with coloured cells, so that its numbers can be read, copied and heard;
 * a larger one is drawn as coloured squares; in both cases the finding is also put into words. */
#include "report/report.h"

enum {
	MATCHES_MOST = 100, /* matrices in one page */
	CELLS_MOST = 60000, /* of all matrices in one page */
	NUMBERS_MOST = 16,  /* columns that leave room for numbers */
	SQUARES_MOST = 120, /* rows and columns that still can be told apart */
	WORDS_MOST = 120,   /* sentences under one matrix */
	NAMES_MOST = 6      /* task names that fit over columns; more are numbered */
};

static double largest(const kdri_report_matrix *m)
{
	double most = 0;
	for (int64_t i = 0; i < m->rows * m->cols; i++)
		if (isfinite(m->value[i]))
			most = fmax(most, fabs(m->value[i]));
	return most;
}

static bool has_negative(const kdri_report_matrix *m)
{
	for (int64_t i = 0; i < m->rows * m->cols; i++)
		if (m->value[i] < 0)
			return true;
	return false;
}

/* The column of row i's largest value, the first of equal ones; -1 if the row has none above zero. */
static int64_t best_column(const kdri_report_matrix *m, int64_t i)
{
	int64_t best = -1;
	for (int64_t j = 0; j < m->cols; j++) {
		double v = m->value[i * m->cols + j];
		if (v > 0 && (best < 0 || v > m->value[i * m->cols + best]))
			best = j;
	}
	return best;
}

static int64_t best_row(const kdri_report_matrix *m, int64_t j)
{
	int64_t best = -1;
	for (int64_t i = 0; i < m->rows; i++) {
		double v = m->value[i * m->cols + j];
		if (v > 0 && (best < 0 || v > m->value[best * m->cols + j]))
			best = i;
	}
	return best;
}

/* Two decimals where they say enough, else three digits: the same in cells and in words. */
static void number(kdri_html *h, double value, double most)
{
	if (isfinite(value) && most >= 0.05 && most < 100)
		kdri_html_put(h, "%.2f", value);
	else
		kdri_html_put(h, "%.3g", value);
}

static void cell(kdri_html *h, double value, double most, bool best)
{
	kdri_html_put(h, "<td class=\"%s%s\">", kdri_chart_shade(value, most), best ? " best" : "");
	number(h, value, most);
	kdri_html_raw(h, "</td>");
}

/* What the colours mean. */
static void key(kdri_html *h, const kdri_report_matrix *m, double most)
{
	static const char *const below[] = { "n8", "n6", "n4", "n2" };
	static const char *const above[] = { "p0", "p2", "p4", "p6", "p8" };
	bool negative = has_negative(m);
	kdri_html_put(h, "<div class=\"key\" aria-hidden=\"true\"><span>%g</span><span>",
	              negative ? -most : 0.0);
	for (int i = 0; negative && i < 4; i++)
		kdri_html_put(h, "<span class=\"%s\"></span>", below[i]);
	for (int i = 0; i < 5; i++)
		kdri_html_put(h, "<span class=\"%s\"></span>", above[i]);
	kdri_html_put(h, "</span><span>%.4g</span></div>", most);
}

/* --- matched clusters ----------------------------------------------------------------------- */

static void match_table(kdri_html *h, const kdri_report_matrix *m, double most)
{
	kdri_html_put(
	        h,
	        "<div class=\"scroll\" tabindex=\"0\"><table class=\"heat\" aria-label=\"Rows: clusters of %.80s; columns: "
	        "clusters of %.80s\"><thead><tr><td class=\"na\"></td>",
	        m->from, m->to);
	for (int64_t j = 0; j < m->cols; j++)
		kdri_html_put(h, "<th scope=\"col\">%d</th>", (int)j);
	kdri_html_raw(h, "</tr></thead><tbody>");
	for (int64_t i = 0; i < m->rows; i++) {
		int64_t best = best_column(m, i);
		kdri_html_put(h, "<tr><th scope=\"row\">%d</th>", (int)i);
		for (int64_t j = 0; j < m->cols; j++)
			cell(h, m->value[i * m->cols + j], most, j == best);
		kdri_html_raw(h, "</tr>");
	}
	kdri_html_raw(h, "</tbody></table></div>");
}

/* One row's best match; `said` if all are best both ways, and that was said already. */
static void match_line(kdri_html *h, const kdri_report_matrix *m, int64_t i, double most, bool said)
{
	int64_t best = best_column(m, i), second = -1, back;
	kdri_html_put(h, "<li>cluster %d ", (int)i);
	if (best < 0) {
		kdri_html_raw(h, "matches none</li>");
		return;
	}
	double value = m->value[i * m->cols + best];
	for (int64_t j = 0; j < m->cols; j++)
		if (j != best && m->value[i * m->cols + j] >= 0.9 * value &&
		    (second < 0 || m->value[i * m->cols + j] > m->value[i * m->cols + second]))
			second = j;
	kdri_html_put(h, "→ cluster %d (", (int)best);
	number(h, value, most);
	back = best_row(m, best);
	if (back != i)
		kdri_html_put(h, "; that one is closer to %d", (int)back);
	else if (!said)
		kdri_html_raw(h, ", best both ways");
	if (second >= 0) {
		kdri_html_put(h, "; nearly as close: %d, ", (int)second);
		number(h, m->value[i * m->cols + second], most);
	}
	kdri_html_raw(h, ")</li>");
}

static void match_words(kdri_html *h, const kdri_report_matrix *m, double most)
{
	int64_t shown = KDRI_MIN(m->rows, WORDS_MOST), mutual = 0;
	for (int64_t i = 0; i < shown; i++) {
		int64_t best = best_column(m, i);
		mutual += best >= 0 && best_row(m, best) == i;
	}
	if (mutual == shown)
		kdri_html_raw(h, "<p class=\"small\">Every match is the best one both ways.</p>");
	kdri_html_put(h, "<ul class=\"words small%s\">", shown > 8 ? " many" : "");
	for (int64_t i = 0; i < shown; i++)
		match_line(h, m, i, most, mutual == shown);
	kdri_html_raw(h, "</ul>");
	if (shown < m->rows)
		kdri_html_put(h, "<p class=\"soft small\">%lld more rows are left out.</p>",
		              (long long)(m->rows - shown));
}

void kdri_page_correspondence(kdri_html *h, const kdri_report *r)
{
	int64_t cells = CELLS_MOST;
	if (r->nmatches == 0)
		return;
	kdri_html_put(
	        h,
	        "<section id=\"correspondence\"><h2>Matched clusters</h2><p>How strongly each cluster of one "
	        "task corresponds to each cluster of another, as the method found it. Rows are the clusters of "
	        "the first task, columns those of the second; the best match of each row is framed.</p>"
	        "<div class=\"cards%s\">",
	        r->nmatches == 1 ? " one" : "");
	for (int64_t i = 0; i < KDRI_MIN(r->nmatches, MATCHES_MOST); i++) {
		const kdri_report_matrix *m = &r->matches[i];
		double most = largest(m);
		kdri_html_put(h, "<article class=\"card\"><h3><bdi>%.80s</bdi> → <bdi>%.80s</bdi></h3>",
		              m->from, m->to);
		if (m->rows == 0 || m->cols == 0) {
			kdri_html_raw(h, "<p class=\"soft small\">The matrix is empty.</p></article>");
			continue;
		}
		bool drawn = m->rows <= SQUARES_MOST && m->cols <= SQUARES_MOST && m->rows * m->cols <= cells;
		cells -= drawn ? m->rows * m->cols : 0;
		if (drawn && m->cols <= NUMBERS_MOST)
			match_table(h, m, most);
		else if (drawn)
			kdri_chart_squares(h, m, most);
		else
			kdri_html_put(h, "<p class=\"soft small\">%lld × %lld values: too many to draw.</p>",
			              (long long)m->rows, (long long)m->cols);
		key(h, m, most);
		match_words(h, m, most);
		kdri_html_raw(h, "</article>");
	}
	kdri_html_raw(h, "</div>");
	if (r->nmatches > MATCHES_MOST)
		kdri_html_put(h, "<p>%lld more matrices are left out of this page.</p>",
		              (long long)(r->nmatches - MATCHES_MOST));
	kdri_html_raw(h, "</section>");
}

/* --- relatedness ---------------------------------------------------------------------------- */

static void relatedness_table(kdri_html *h, const kdri_report *r, double most)
{
	const kdri_report_matrix *m = &r->relatedness;
	bool numbered = m->cols > NAMES_MOST;
	kdri_html_put(
	        h,
	        "<div class=\"scroll\" tabindex=\"0\"><table class=\"heat %s\" aria-label=\"Relatedness of the "
	        "tasks\"><thead><tr><td class=\"na\"></td>",
	        numbered ? "numbered" : "named");
	for (int64_t j = 0; j < m->cols; j++)
		if (numbered)
			kdri_html_put(h, "<th scope=\"col\"><abbr title=\"%.80s\">%d</abbr></th>",
			              r->related[j], (int)j + 1);
		else
			kdri_html_put(h, "<th scope=\"col\"><bdi>%.80s</bdi></th>", r->related[j]);
	kdri_html_raw(h, "</tr></thead><tbody>");
	for (int64_t i = 0; i < m->rows; i++) {
		kdri_html_raw(h, "<tr><th scope=\"row\">");
		if (numbered)
			kdri_html_put(h, "<span class=\"soft\">%d</span> ", (int)i + 1);
		kdri_html_put(h, "<bdi>%.80s</bdi></th>", r->related[i]);
		for (int64_t j = 0; j < m->cols; j++)
			cell(h, m->value[i * m->cols + j], most, false);
		kdri_html_raw(h, "</tr>");
	}
	kdri_html_raw(h, "</tbody></table></div>");
}

/* The largest and the smallest value between two different tasks. */
static void relatedness_words(kdri_html *h, const kdri_report *r)
{
	const kdri_report_matrix *m = &r->relatedness;
	int64_t high = -1, low = -1;
	for (int64_t i = 0; i < m->rows * m->cols; i++) {
		if (i / m->cols == i % m->cols || !isfinite(m->value[i]))
			continue;
		if (high < 0 || m->value[i] > m->value[high])
			high = i;
		if (low < 0 || m->value[i] < m->value[low])
			low = i;
	}
	if (high < 0)
		return;
	kdri_html_put(h, "<p>Most strongly related are <bdi>%.80s</bdi> and <bdi>%.80s</bdi> (%.3g)",
	              r->related[high / m->cols], r->related[high % m->cols], m->value[high]);
	if (m->value[low] < m->value[high])
		kdri_html_put(h, ", least <bdi>%.80s</bdi> and <bdi>%.80s</bdi> (%.3g)",
		              r->related[low / m->cols], r->related[low % m->cols], m->value[low]);
	kdri_html_raw(h, ".</p>");
}

void kdri_page_relatedness(kdri_html *h, const kdri_report *r)
{
	const kdri_report_matrix *m = &r->relatedness;
	if (m->rows == 0)
		return;
	double most = largest(m);
	kdri_html_raw(h, "<section id=\"relatedness\"><h2>Relatedness of the tasks</h2>");
	relatedness_words(h, r);
	kdri_html_raw(h, "<div class=\"card\">");
	if (m->rows <= NUMBERS_MOST)
		relatedness_table(h, r, most);
	else if (m->rows <= SQUARES_MOST)
		kdri_chart_squares(h, m, most);
	else
		kdri_html_put(h, "<p class=\"soft small\">%lld × %lld values: too many to draw.</p>",
		              (long long)m->rows, (long long)m->cols);
	key(h, m, most);
	kdri_html_raw(h, "</div></section>");
}
