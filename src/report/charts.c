/* Charts, drawn as inline SVG. SPDX-License-Identifier: BSD-3-Clause
 *
 * Colours and strokes come from the style sheet by class, so that the same drawing serves light, dark
 * and paper. Each drawing has a role and a label; the numbers it shows also stand in a table or in
 * words beside it. */
#include "report/report.h"

void kdri_chart_bar(kdri_html *h, double share)
{
	kdri_html_put(
	        h,
	        "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
	        "<rect class=\"track\" width=\"100\" height=\"10\"/>"
	        "<rect class=\"c0\" width=\"%f\" height=\"10\"/></svg>",
	        100 * share);
}

void kdri_chart_parts(kdri_html *h, const double *part, int count, double total)
{
	double x = 0;
	kdri_html_raw(h, "<svg class=\"parts\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
	                 "aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"10\"/>");
	for (int i = 0; i < count; i++) {
		double width = 100 * part[i] / total;
		if (!(width > 0))
			continue;
		kdri_html_put(h, "<rect class=\"c%d\" x=\"%f\" width=\"%f\" height=\"10\"/>", i, x, width);
		x += width;
	}
	kdri_html_raw(h, "</svg>");
}

const char *kdri_chart_shade(double value, double most)
{
	static const char *const up[] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8" };
	static const char *const down[] = { "p0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8" };
	if (!isfinite(value))
		return "na";
	int level = most > 0 ? (int)lround(8 * fmin(fabs(value) / most, 1)) : 0;
	return value < 0 ? down[level] : up[level];
}

void kdri_chart_squares(kdri_html *h, const kdri_report_matrix *m, double most)
{
	enum { MARGIN = 3 };
	kdri_html_put(
	        h,
	        "<svg class=\"squares\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Heat map of %lld by "
	        "%lld values; the best matches stand in words below\">",
	        (int)m->cols + MARGIN, (int)m->rows + MARGIN, (long long)m->rows, (long long)m->cols);
	for (int64_t i = 0; i < m->rows; i++)
		for (int64_t j = 0; j < m->cols; j++)
			kdri_html_put(h,
			              "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"1\" height=\"1\">"
			              "<title>%d, %d: %.4g</title></rect>",
			              kdri_chart_shade(m->value[i * m->cols + j], most), (int)j + MARGIN,
			              (int)i + MARGIN, (int)i, (int)j, m->value[i * m->cols + j]);
	for (int64_t i = 0; i < m->rows; i += 5)
		kdri_html_put(h, "<text class=\"tiny end\" x=\"%f\" y=\"%f\">%d</text>", MARGIN - 0.4,
		              (double)i + MARGIN + 0.9, (int)i);
	for (int64_t j = 0; j < m->cols; j += 5)
		kdri_html_put(h, "<text class=\"tiny mid\" x=\"%f\" y=\"%f\">%d</text>",
		              (double)j + MARGIN + 0.5, MARGIN - 0.5, (int)j);
	kdri_html_raw(h, "</svg>");
}

/* --- axes ----------------------------------------------------------------------------------- */

/* An axis from value `low` at pixel `at_low` to `high` at `at_high`. */
typedef struct axis {
	double low, high, at_low, at_high;
	bool log;
} axis;

static double place(const axis *a, double value)
{
	double t = a->log ? (log(value) - log(a->low)) / (log(a->high) - log(a->low))
	                  : (value / 2 - a->low / 2) / (a->high / 2 - a->low / 2); /* halves: no overflow */
	return a->at_low + t * (a->at_high - a->at_low);
}

/* The step 1, 2 or 5 times a power of ten that cuts `span` into at most `most` parts. */
static double nice_step(double span, int most)
{
	double raw = span / most, power = pow(10, floor(log10(raw))), lead = raw / power;
	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* Up to `room` ticks inside the axis; a logarithmic one takes powers of ten, thinned to fit. */
static int ticks(const axis *a, double *out, int room)
{
	int n = 0;
	if (a->log) {
		int first = (int)ceil(log10(a->low) - 1e-9), last = (int)floor(log10(a->high) + 1e-9);
		int step = (last - first) / room + 1;
		for (int e = first; e <= last && n < room; e += step)
			out[n++] = pow(10, e);
		return n;
	}
	double step = nice_step(a->high - a->low, room - 1);
	if (!(step > 0) || !isfinite(step))
		return 0;
	double first = ceil(a->low / step - 1e-9);
	for (int i = 0; n < room; i++) {
		double value = (first + i) * step;
		if (!(value <= a->high + 1e-9 * step))
			break;
		out[n++] = fabs(value) < 1e-9 * step ? 0 : value;
	}
	return n;
}

/* --- the objective -------------------------------------------------------------------------- */

enum { WIDTH = 560, HEIGHT = 280, LEFT = 76, RIGHT = 30, TOP = 14, BOTTOM = 46, TICKS = 6, POINTS = 1000 };

typedef struct point {
	double x, y;
} point;

/* A curve of at most POINTS points: of each stretch the lowest and the highest value stay, so that
 * thinning hides no spike. Index 0 is the start, or the first iteration where no start is known. */
static int thin(const double *value, int64_t count, double start, point *out)
{
	bool has_start = isfinite(start);
	int64_t total = count + has_start, stretch = (total + POINTS / 2 - 1) / (POINTS / 2);
	int n = 0;
	for (int64_t begin = 0; begin < total; begin += stretch) {
		point low = { 0, INFINITY }, high = { 0, -INFINITY };
		for (int64_t i = begin; i < KDRI_MIN(begin + stretch, total); i++) {
			double y = has_start ? (i == 0 ? start : value[i - 1]) : value[i];
			double x = (double)(has_start ? i : i + 1);
			if (y < low.y)
				low = (point){ x, y };
			if (y > high.y)
				high = (point){ x, y };
		}
		out[n++] = low.x <= high.x ? low : high;
		if (low.x != high.x)
			out[n++] = low.x <= high.x ? high : low;
	}
	/* The last value is the one that counts. */
	if (count > 0 && n > 0 && out[n - 1].x < (double)count) {
		if (n == POINTS)
			n--;
		out[n++] = (point){ (double)count, value[count - 1] };
	}
	return n;
}

/* Digits that tell two neighbouring ticks apart. */
static int tick_digits(const double *tick, int n)
{
	double step = n > 1 ? fabs(tick[1] - tick[0]) : 0,
	       most = n > 0 ? fmax(fabs(tick[0]), fabs(tick[n - 1])) : 0;
	return step > 0 && most > 0 ? (int)fmin(fmax(ceil(log10(most / step)) + 1, 3), 12) : 6;
}

static void draw_axes(kdri_html *h, const axis *x, const axis *y)
{
	double tick[16];
	int n = ticks(y, tick, TICKS), digits = y->log ? 2 : tick_digits(tick, n);
	for (int i = 0; i < n; i++) {
		double at = place(y, tick[i]);
		kdri_html_put(h,
		              "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%f\" y2=\"%f\"/>"
		              "<text class=\"end\" x=\"%d\" y=\"%f\">%.*g</text>",
		              LEFT, WIDTH - RIGHT, at, at, LEFT - 8, at + 4, digits, tick[i]);
	}
	n = ticks(x, tick, TICKS + 2);
	for (int i = 0; i < n; i++) {
		if (tick[i] != floor(tick[i]))
			continue;
		double at = place(x, tick[i]);
		kdri_html_put(h,
		              "<line class=\"axis\" x1=\"%f\" x2=\"%f\" y1=\"%d\" y2=\"%d\"/>"
		              "<text class=\"mid\" x=\"%f\" y=\"%d\">%lld</text>",
		              at, at, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 5, at, HEIGHT - BOTTOM + 19,
		              (long long)tick[i]);
	}
	kdri_html_put(h,
	              "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
	              "<text class=\"mid\" x=\"%d\" y=\"%d\">iteration</text>",
	              LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2,
	              HEIGHT - 8);
}

void kdri_chart_objective(kdri_html *h, const double *value, int64_t count, double start)
{
	point curve[POINTS + 1];
	int n = thin(value, count, start, curve);
	double low = INFINITY, high = -INFINITY;
	for (int i = 0; i < n; i++) {
		low = fmin(low, curve[i].y);
		high = fmax(high, curve[i].y);
	}
	if (n == 0)
		return;
	bool logarithmic = low > 0 && high / low >= 100;
	double margin = logarithmic ? 0 : fmax(0.04 * (high / 2 - low / 2) * 2, 1e-9 * fabs(high));
	axis x = { curve[0].x, fmax(curve[n - 1].x, curve[0].x + 1), LEFT + 6, WIDTH - RIGHT - 6, false };
	axis y = { fmax(low - margin, -1e308), fmin(high + margin, 1e308), HEIGHT - BOTTOM, TOP,
		   logarithmic };
	if (!(y.high > y.low)) { /* all values are zero */
		y.low = -1;
		y.high = 1;
	}
	kdri_html_put(
	        h,
	        "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Line chart of the "
	        "objective, from %g to %g over %lld iterations%s\">",
	        WIDTH, HEIGHT, curve[0].y, curve[n - 1].y, (long long)count,
	        logarithmic ? ", logarithmic scale" : "");
	draw_axes(h, &x, &y);
	if (logarithmic)
		kdri_html_put(h, "<text class=\"end\" x=\"%d\" y=\"%d\">logarithmic scale</text>",
		              WIDTH - RIGHT, TOP + 10);
	if (n > 1) {
		kdri_html_raw(h, "<polyline class=\"curve\" points=\"");
		for (int i = 0; i < n; i++)
			kdri_html_put(h, "%f,%f ", place(&x, curve[i].x), place(&y, curve[i].y));
		kdri_html_raw(h, "\"/>");
	}
	for (int i = 0; i < n; i++) {
		bool first = i == 0 && isfinite(start);
		if (n > 60 && i > 0 && i < n - 1)
			continue;
		kdri_html_put(
		        h,
		        "<circle class=\"%s\" cx=\"%f\" cy=\"%f\" r=\"%f\"><title>%s %lld: %g</title></circle>",
		        first ? "start" : "dot", place(&x, curve[i].x), place(&y, curve[i].y),
		        n > 30 ? 2.5 : 3.5, first ? "start, before iteration" : "iteration",
		        (long long)curve[i].x + first, curve[i].y);
	}
	kdri_html_raw(h, "</svg>");
}

/* --- sizes of many clusters ----------------------------------------------------------------- */

void kdri_chart_columns(kdri_html *h, const kdri_group *sorted, int64_t count)
{
	enum { TALL = 160, FLOOR = TALL - 26, ROOF = 10 };
	axis y = { 0, fmax(1, (double)sorted[0].count), FLOOR, ROOF, false };
	double tick[4], columns = (double)KDRI_MIN(count, 400), width = (WIDTH - LEFT - RIGHT) / columns;
	int n = ticks(&y, tick, 4);
	kdri_html_put(
	        h,
	        "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Sizes of %lld groups, "
	        "largest first, from %lld to %lld\">",
	        WIDTH, TALL, (long long)count, (long long)sorted[0].count,
	        (long long)sorted[count - 1].count);
	for (int i = 0; i < n; i++)
		kdri_html_put(h,
		              "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%f\" y2=\"%f\"/>"
		              "<text class=\"end\" x=\"%d\" y=\"%f\">%g</text>",
		              LEFT, WIDTH - RIGHT, place(&y, tick[i]), place(&y, tick[i]), LEFT - 8,
		              place(&y, tick[i]) + 4, tick[i]);
	for (int i = 0; i < (int)columns; i++) {
		/* More groups than columns: every so-many-th of them, by rank. */
		int64_t rank = (int64_t)(((double)i + 0.5) / columns * (double)count);
		double top = place(&y, (double)sorted[rank].count);
		kdri_html_put(h, "<rect class=\"c0\" x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\"/>",
		              LEFT + i * width + 0.1 * width, top, 0.8 * width, FLOOR - top);
	}
	kdri_html_put(h,
	              "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
	              "<text class=\"mid\" x=\"%d\" y=\"%d\">%lld clusters, largest first</text></svg>",
	              LEFT, WIDTH - RIGHT, FLOOR, FLOOR, (LEFT + WIDTH - RIGHT) / 2, TALL - 6,
	              (long long)count);
}
