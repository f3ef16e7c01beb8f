/* The features that distinguish a cluster, in the user's units. SPDX-License-Identifier: BSD-3-Clause
 *
 * A mean is shown with the digits that matter compared with the spread of its column, a share in percent, and the
 * mean of dates as a date: "age 44", "income 1,900", "61 % plan business", "joined 2021-03-04". */
#include "jobs/job.h"
#include "jobs/say/say.h"

#include <stdio.h>

/* A number with `decimals` decimals and commas between thousands. */
static void print_grouped(double value, int decimals, char *out, size_t room)
{
	char digits[64];
	size_t used = 0;
	kdri_snprintf(digits, sizeof digits, "%.*f", decimals, value);
	size_t whole = strcspn(digits, "."), length = strlen(digits), from = digits[0] == '-';
	for (size_t i = 0; i < length && used + 2 < room; i++) {
		if (i > from && i < whole && (whole - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
}

/* To two digits, and to a fifth of the column's standard deviation. */
static void print_mean(double value, double deviation, char *out, size_t room)
{
	const double least = KDRI_MIN(fabs(value) > 0 ? fabs(value) / 10 : INFINITY,
	                              deviation > 0 ? deviation / 5 : INFINITY);
	if (fabs(value) >= 1e15 || !isfinite(least) || least < 1e-9) {
		kdri_snprintf(out, room, "%.3g", value);
		return;
	}
	const int power = (int)floor(log10(least) + 1e-9);
	const double unit = pow(10, KDRI_MAX(power, 0));
	print_grouped(power > 0 ? round(value / unit) * unit : value, KDRI_MAX(-power, 0), out, room);
}

void kdri_mean_text(const kdri_feature_effect *f, double mean, char out[KDRI_MEAN_TEXT])
{
	char date[KDRI_MEAN_TEXT];
	if (f->unit == KDRI_UNIT_SHARE) {
		kdri_snprintf(out, KDRI_MEAN_TEXT, "%.0f %%", 100 * mean);
	} else if (f->unit == KDRI_UNIT_DATE) {
		kdri_days_text(round(f->origin + mean), date, sizeof date);
		kdri_snprintf(out, KDRI_MEAN_TEXT, "%s", date + strlen("days since "));
	} else {
		print_mean(mean, f->deviation, out, KDRI_MEAN_TEXT);
	}
}

char *const *kdri_shown_features(const kdri_task_result *task)
{
	return task->view.path ? task->view.features : task->features;
}

const char *kdri_column_name(const kdri_task_result *task, int64_t column, char room[KDRI_COLUMN_NAME])
{
	char *const *features = kdri_shown_features(task);
	if (features)
		return features[column];
	snprintf(room, KDRI_COLUMN_NAME, "column %lld", (long long)column + 1);
	return room;
}

const char *kdri_table_column(const kdri_task_result *task, int64_t feature, size_t *length)
{
	char *const *features = kdri_shown_features(task);
	const kdri_sheet *sheet = task->view.path ? task->view.sheet : task->sheet;
	const char *name = features ? features[feature] : NULL;
	*length = name ? strlen(name) : 0;
	for (int64_t c = 0; name && sheet && c < sheet->ncolumns; c++) {
		const kdr_column *column = &sheet->columns[c];
		size_t n = strlen(column->name);
		if (column->kind == KDR_COLUMN_CATEGORY && strncmp(name, column->name, n) == 0 &&
		    name[n] == '=') {
			*length = n;
			return name + n + 1;
		}
	}
	return NULL;
}

void kdri_effect_text(const kdri_task_result *task, const kdri_feature_effect *f, char *out, size_t room)
{
	char mean[KDRI_MEAN_TEXT], others[KDRI_MEAN_TEXT], column[KDRI_COLUMN_NAME];
	size_t length;
	const char *name = kdri_column_name(task, f->column, column);
	const char *level = kdri_table_column(task, f->column, &length);
	kdri_mean_text(f, f->mean_inside, mean);
	kdri_mean_text(f, f->mean_outside, others);
	if (level)
		kdri_snprintf(out, room, "%.*s = %.100s %s (others %s)", (int)KDRI_MIN(length, 100), name,
		              level, mean, others);
	else
		kdri_snprintf(out, room, "%.100s %s (others %s)", name, mean, others);
	kdri_one_line(out);
}

/* Whether two features are levels of one category. */
static bool same_column(const kdri_task_result *task, int64_t a, int64_t b)
{
	size_t length, other;
	if (!kdri_table_column(task, a, &length) || !kdri_table_column(task, b, &other))
		return false;
	char *const *features = kdri_shown_features(task);
	return length == other && strncmp(features[a], features[b], length) == 0;
}

int kdri_described(const kdri_task_result *task, const kdri_cluster_profile *p, int64_t out[KDRI_DESCRIBED])
{
	int count = 0;
	for (int64_t i = 0; i < p->nfeatures && count < KDRI_DESCRIBED; i++) {
		int64_t best = i;
		bool before = !p->features[i].known;
		for (int64_t e = 0; e < i && !before; e++)
			before = same_column(task, p->features[e].column, p->features[i].column);
		if (before)
			continue;
		/* A level that a cluster has is more informative than one it lacks. */
		for (int64_t e = i + 1; e < p->nfeatures && p->features[best].effect < 0; e++)
			if (p->features[e].effect > 0 &&
			    same_column(task, p->features[e].column, p->features[i].column))
				best = e;
		out[count++] = best;
	}
	return count;
}
