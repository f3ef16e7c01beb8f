/* The page's data: a shortened result. SPDX-License-Identifier: BSD-3-Clause
 *
 * The schema is that of result.json. Numbers are rounded to six digits, confidences to three; labels, second choices and known
 * classes that are texts become {names, index}; a long objective becomes {at, value} with the highest and lowest
 * value of each interval; levels are included with their labels if these are few. Names are truncated, and long lists
 * that no section shows are omitted. Optional data (first words, ids, strongest features, probabilities) are added in
 * that order as long as they fit; if the ids do not fit, only those of the samples that represent a cluster are
 * included. Values of features have a room of their own (kdri_values_room). A page of 20,000 samples stays below 3 MB and
 * one of 200,000 below 20 MB. */
#include "core/json_read.h"
#include "jobs/job.h"
#include "jobs/report/report.h"
#include "jobs/result_file.h"

#include "core/names.h"

enum { TEXT_MOST = 1000, NAME_MOST = 200, LIST_MOST = 2000, OBJECTIVE_MOST = 2000, DEPTH_MOST = 12 };

/* Bytes of a page: of its script and everything that is not per sample; of a sample's position, labels, confidence,
 * classes and moves together; and the maximum in total, up to 20,000 samples and for each further one. */
enum { REST_BYTES = 250000, SAMPLE_BYTES = 34, FEW = 20000, FEW_BYTES = 2050000, MORE_BYTES = 33 };
enum { LEVEL_LABELS_MOST = 200000 }; /* of all levels and data sets together */

enum { CONFIDENCE_DIGITS = 3 };

static void block_copy(kdri_page *p, const kdri_json_value *value, int digits, int depth);

static void block_key(kdri_page *p, const char *name, bool *first)
{
	kdri_page_raw(p, *first ? "" : ",");
	kdri_page_string(p, name, NAME_MOST);
	kdri_page_raw(p, ":");
	*first = false;
}

/* A confidence of 0.49999 is below 0.5: one that rounding would lift or lower to a limit of the page's classes (0.2, 0.5) is copied
 * in full, so that the page counts as many samples as the tables do. */
static void block_number(kdri_page *p, double value, int digits)
{
	const double tenth = nearbyint(10 * value) / 10;
	if (digits == CONFIDENCE_DIGITS && value != tenth && fabs(value - tenth) < 1e-3)
		digits = 17;
	kdri_page_number(p, value, digits);
}

static void copy_list(kdri_page *p, const kdri_json_value *list, int64_t most, int digits, int depth)
{
	kdri_page_raw(p, "[");
	for (int64_t i = 0; i < KDRI_MIN(kdri_json_count(list), most); i++) {
		kdri_page_raw(p, i ? "," : "");
		block_copy(p, kdri_json_at(list, i), digits, depth + 1);
	}
	kdri_page_raw(p, "]");
}

static void block_copy(kdri_page *p, const kdri_json_value *value, int digits, int depth)
{
	char text[32];
	bool first = true;
	if (depth > DEPTH_MOST) {
		kdri_page_raw(p, "null");
		return;
	}
	switch (kdri_json_typeof(value)) {
	case KDRI_JSON_FALSE: kdri_page_raw(p, "false"); break;
	case KDRI_JSON_TRUE: kdri_page_raw(p, "true"); break;
	case KDRI_JSON_INTEGER:
		kdri_snprintf(text, sizeof text, "%lld", (long long)kdri_json_integer(value, 0));
		kdri_page_raw(p, text);
		break;
	case KDRI_JSON_REAL: block_number(p, kdri_json_number(value, NAN), digits); break;
	case KDRI_JSON_TEXT: kdri_page_string(p, kdri_json_text(value, NULL), TEXT_MOST); break;
	case KDRI_JSON_ARRAY: copy_list(p, value, LIST_MOST, digits, depth); break;
	case KDRI_JSON_OBJECT:
		kdri_page_raw(p, "{");
		for (int64_t i = 0; i < kdri_json_count(value); i++) {
			block_key(p, kdri_json_key(kdri_json_at(value, i)), &first);
			block_copy(p, kdri_json_at(value, i), digits, depth + 1);
		}
		kdri_page_raw(p, "}");
		break;
	default: kdri_page_raw(p, "null");
	}
}

/* --- lists with one entry per sample ---------------------------------------------------------------------- */

/* Texts with many duplicates: {"names": [...], "index": [...]}, -1 if there is none. */
static void copy_texts(kdri_page *p, const kdri_json_value *list)
{
	kdri_names names = { .borrows = true };
	kdri_page index = { .ctx = p->ctx };
	char number[24];
	for (int64_t i = 0; i < kdri_json_count(list) && index.st == KDR_OK; i++) {
		const char *text = kdri_json_text(kdri_json_at(list, i), NULL);
		int64_t at = -1;
		if (text)
			index.st = kdri_names_add(p->ctx, &names, text, strlen(text), &at);
		kdri_snprintf(number, sizeof number, i ? ",%lld" : "%lld", (long long)at);
		kdri_page_raw(&index, number);
	}
	kdri_page_raw(p, "{\"names\":[");
	for (int64_t i = 0; i < names.count; i++) {
		kdri_page_raw(p, i ? "," : "");
		kdri_page_string(p, names.names[i], NAME_MOST);
	}
	kdri_page_raw(p, "],\"index\":[");
	kdri_page_bytes(p, index.data, (size_t)index.used);
	kdri_page_raw(p, "]}");
	if (p->st == KDR_OK)
		p->st = index.st;
	kdri_names_free(p->ctx, &names);
	kdri_free(p->ctx, index.data);
}

static bool holds_text(const kdri_json_value *list)
{
	for (int64_t i = 0; i < kdri_json_count(list); i++)
		if (!kdri_json_is(kdri_json_at(list, i), KDRI_JSON_NULL))
			return kdri_json_is(kdri_json_at(list, i), KDRI_JSON_TEXT);
	return false;
}

static void copy_ids(kdri_page *p, const kdri_json_value *list)
{
	kdri_page_raw(p, "[");
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const char *text = kdri_json_text(kdri_json_at(list, i), NULL);
		kdri_page_raw(p, i ? "," : "");
		kdri_page_string(p, text ? text : "", NAME_MOST);
	}
	kdri_page_raw(p, "]");
}

/* Integers or texts, one per sample. */
static bool is_choice(const char *name)
{
	return strcmp(name, "labels") == 0 || strcmp(name, "second") == 0 || strcmp(name, "truth") == 0 ||
	       strcmp(name, "before") == 0;
}

/* Objects of lists with one entry per sample: every list in full. */
static void copy_whole(kdri_page *p, const kdri_json_value *object)
{
	bool first = true;
	kdri_page_raw(p, "{");
	for (int64_t i = 0; i < kdri_json_count(object); i++) {
		const kdri_json_value *value = kdri_json_at(object, i);
		block_key(p, kdri_json_key(value), &first);
		if (kdri_json_is(value, KDRI_JSON_ARRAY))
			copy_list(p, value, INT64_MAX, 6, 1);
		else
			block_copy(p, value, 6, 1);
	}
	kdri_page_raw(p, "}");
}

/* --- optional data of a page ---------------------------------------------------------------------------- */

/* {"rows": [...], "names": [...]}: ids of the rows that represent clusters. */
static void copy_some_ids(kdri_page *p, const kdri_json_value *task, const kdri_json_value *ids)
{
	static const char *const kinds[] = { "typical", "doubtful" };
	const kdri_json_value *clusters = kdri_json_get(task, "clusters");
	kdri_page rows = { .ctx = p->ctx };
	char number[32];
	bool first = true;
	kdri_page_raw(p, "{\"names\":[");
	for (int64_t c = 0; c < kdri_json_count(clusters); c++)
		for (int k = 0; k < 2; k++) {
			const kdri_json_value *list = kdri_json_get(kdri_json_at(clusters, c), kinds[k]);
			for (int64_t e = 0; e < KDRI_MIN(kdri_json_count(list), 10); e++) {
				int64_t row = kdri_json_integer(kdri_json_at(list, e), -1);
				const char *text =
				        row < 0 ? NULL : kdri_json_text(kdri_json_at(ids, row), NULL);
				if (!text)
					continue;
				kdri_page_raw(p, first ? "" : ",");
				kdri_page_string(p, text, NAME_MOST);
				kdri_snprintf(number, sizeof number, first ? "%lld" : ",%lld",
				              (long long)row);
				kdri_page_raw(&rows, number);
				first = false;
			}
		}
	kdri_page_raw(p, "],\"rows\":[");
	kdri_page_bytes(p, rows.data, (size_t)rows.used);
	kdri_page_raw(p, "]}");
	if (p->st == KDR_OK)
		p->st = rows.st;
	kdri_free(p->ctx, rows.data);
}

static void copy_optional(kdri_page *p, const char *name, const kdri_json_value *value)
{
	if (strcmp(name, "ids") == 0)
		copy_ids(p, value);
	else if (strcmp(name, "probabilities") == 0)
		copy_list(p, value, INT64_MAX, 3, 1);
	else
		copy_whole(p, value);
}

/* --- values of features --------------------------------------------------------------------------------- */

static bool is_base64(const char *text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t body = strspn(text, letters), end = strspn(text + body, "=");
	return end <= 2 && text[body + end] == '\0' && (body + end) % 4 == 0;
}

/* {"low":, "high":, "fill":, "codes":} without the braces. */
static void copy_codes(kdri_page *p, const kdri_json_value *values, const char *codes)
{
	static const char *const numbers[] = { "low", "high", "fill" };
	for (int i = 0; i < 3; i++)
		if (kdri_json_is_number(kdri_json_get(values, numbers[i]))) {
			kdri_page_raw(p, "\"");
			kdri_page_raw(p, numbers[i]);
			kdri_page_raw(p, "\":");
			kdri_page_number(p, kdri_json_number(kdri_json_get(values, numbers[i]), 0), 9);
			kdri_page_raw(p, ",");
		}
	kdri_page_raw(p, "\"codes\":\"");
	kdri_page_raw(p, codes);
	kdri_page_raw(p, "\"");
}

/* The values of features, as long as they fit into *room bytes. Features without valid codes are omitted. */
static void copy_values(kdri_page *p, const kdri_json_value *list, int64_t *room)
{
	enum { ENTRY_BYTES = 100 };
	bool first = true;
	kdri_page_raw(p, "[");
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *value = kdri_json_at(list, i), *own = kdri_json_get(value, "own");
		const char *name = kdri_json_text(kdri_json_get(value, "name"), NULL),
		           *codes = kdri_json_text(kdri_json_get(value, "codes"), NULL),
		           *own_codes = kdri_json_text(kdri_json_get(own, "codes"), NULL);
		if (!name || !codes || !is_base64(codes) || (own_codes && !is_base64(own_codes)))
			continue;
		*room -= (int64_t)(strlen(codes) + (own_codes ? strlen(own_codes) : 0)) + ENTRY_BYTES;
		if (*room < 0)
			break;
		kdri_page_raw(p, first ? "{\"name\":" : ",{\"name\":");
		kdri_page_string(p, name, NAME_MOST);
		kdri_page_raw(p, ",");
		copy_codes(p, value, codes);
		if (own_codes) {
			const char *unit = kdri_json_text(kdri_json_get(own, "unit"), NULL);
			kdri_page_raw(p, ",\"own\":{\"unit\":");
			kdri_page_string(p, unit ? unit : "number", NAME_MOST);
			kdri_page_raw(p, ",");
			copy_codes(p, own, own_codes);
			kdri_page_raw(p, "}");
		}
		kdri_page_raw(p, "}");
		first = false;
	}
	kdri_page_raw(p, "]");
}

static const char *const optional[] = { "excerpts", "ids", "strongest", "probabilities" };
enum { OPTIONAL = sizeof optional / sizeof optional[0] };

static bool is_optional(const char *name)
{
	for (int i = 0; i < OPTIONAL; i++)
		if (strcmp(name, optional[i]) == 0)
			return true;
	return false;
}

/* Each of them in full, as long as they fit into `room` bytes. */
static void copy_optionals(kdri_page *p, const kdri_json_value *task, int64_t room, bool *first)
{
	for (int i = 0; i < OPTIONAL && p->st == KDR_OK; i++) {
		const kdri_json_value *value = kdri_json_get(task, optional[i]);
		bool list = i % 2 == 1; /* ids and probabilities; the others are objects */
		kdri_page part = { .ctx = p->ctx };
		if (!kdri_json_is(value, list ? KDRI_JSON_ARRAY : KDRI_JSON_OBJECT))
			continue;
		copy_optional(&part, optional[i], value);
		bool fits = part.used <= room;
		if (fits || i == 1)
			block_key(p, optional[i], first);
		if (fits)
			kdri_page_bytes(p, part.data, (size_t)part.used);
		else if (i == 1)
			copy_some_ids(p, task, value);
		room -= fits ? part.used : 0;
		if (p->st == KDR_OK)
			p->st = part.st;
		kdri_free(p->ctx, part.data);
	}
}

static void copy_task(kdri_page *p, const kdri_json_value *task, int64_t room, int64_t *values)
{
	bool first = true;
	kdri_page_raw(p, "{");
	copy_optionals(p, task, room, &first);
	for (int64_t i = 0; i < kdri_json_count(task); i++) {
		const kdri_json_value *value = kdri_json_at(task, i);
		const char *name = kdri_json_key(value);
		bool list = kdri_json_is(value, KDRI_JSON_ARRAY), sure = strcmp(name, "confidence") == 0;
		if (is_optional(name) || strcmp(name, "agreement") == 0) /* see confidence */
			continue;
		block_key(p, name, &first);
		if (list && is_choice(name) && holds_text(value))
			copy_texts(p, value);
		else if (list && (is_choice(name) || sure || strcmp(name, "moved") == 0 ||
		                  strcmp(name, "wrong") == 0 || strcmp(name, "moved_by_hand") == 0 ||
		                  strcmp(name, "ask") == 0))
			copy_list(p, value, INT64_MAX, sure ? CONFIDENCE_DIGITS : 6, 1);
		else if (strcmp(name, "embedding") == 0)
			copy_whole(p, value);
		else if (list && strcmp(name, "values") == 0)
			copy_values(p, value, values);
		else
			block_copy(p, value, 6, 1);
	}
	kdri_page_raw(p, "}");
}

static int64_t samples_of(const kdri_json_value *task)
{
	return KDRI_MAX(kdri_json_count(kdri_json_get(task, "labels")),
	                kdri_json_count(kdri_json_get(kdri_json_get(task, "embedding"), "x")));
}

static void copy_tasks(kdri_page *p, const kdri_json_value *tasks)
{
	int64_t n = 0;
	for (int64_t t = 0; t < kdri_json_count(tasks); t++)
		n += samples_of(kdri_json_at(tasks, t));
	int64_t room = FEW_BYTES + KDRI_MAX(n - FEW, 0) * MORE_BYTES - REST_BYTES - n * SAMPLE_BYTES;
	int64_t values = kdri_values_room(n);
	kdri_page_raw(p, "[");
	for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
		const kdri_json_value *task = kdri_json_at(tasks, t);
		kdri_page_raw(p, t ? "," : "");
		copy_task(p, task,
		          (int64_t)((double)room * (double)samples_of(task) / (double)KDRI_MAX(n, 1)),
		          &values);
	}
	kdri_page_raw(p, "]");
}

/* --- levels ------------------------------------------------------------------------------------------------ */

/* The mean confidence of each cluster. */
static void copy_sure(kdri_page *p, const kdri_json_value *task)
{
	const kdri_json_value *labels = kdri_json_get(task, "labels"),
	                      *sure = kdri_json_get(task, "confidence");
	const int64_t k = kdri_json_count(kdri_json_get(task, "sizes")), n = kdri_json_count(labels);
	double *sums = NULL;
	kdr_status st = KDRI_NEW0(p->ctx, &sums, 2 * k);
	if (st != KDR_OK) {
		p->st = p->st == KDR_OK ? st : p->st;
		return;
	}
	for (int64_t i = 0; i < n && kdri_json_count(sure) == n; i++) {
		const int64_t c = kdri_json_integer(kdri_json_at(labels, i), -1);
		if (c < 0 || c >= k || !kdri_json_is_number(kdri_json_at(sure, i)))
			continue;
		sums[c] += kdri_json_number(kdri_json_at(sure, i), 0);
		sums[k + c]++;
	}
	kdri_page_raw(p, "[");
	for (int64_t c = 0; c < KDRI_MIN(k, LIST_MOST); c++) {
		kdri_page_raw(p, c ? "," : "");
		kdri_page_number(p, sums[k + c] > 0 ? sums[c] / sums[k + c] : NAN, 3);
	}
	kdri_page_raw(p, "]");
	kdri_free(p->ctx, sums);
}

/* Sizes, parents and splits of each level, and the labels if all of them together are few. */
static void copy_levels(kdri_page *p, const kdri_json_value *levels)
{
	static const char *const fields[] = { "name", "k", "sizes", "parents", "splits" };
	int64_t all = 0;
	bool first = true;
	for (int64_t l = 0; l < kdri_json_count(levels); l++) {
		const kdri_json_value *tasks = kdri_json_get(kdri_json_at(levels, l), "tasks");
		for (int64_t t = 0; t < kdri_json_count(tasks); t++)
			all += kdri_json_count(kdri_json_get(kdri_json_at(tasks, t), "labels"));
	}
	kdri_page_raw(p, "[");
	for (int64_t l = 0; l < kdri_json_count(levels); l++) {
		const kdri_json_value *level = kdri_json_at(levels, l),
		                      *tasks = kdri_json_get(level, "tasks");
		kdri_page_raw(p, l ? ",{\"k\":" : "{\"k\":");
		block_copy(p, kdri_json_get(level, "k"), 6, 1);
		kdri_page_raw(p, ",\"tasks\":[");
		for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
			const kdri_json_value *task = kdri_json_at(tasks, t);
			kdri_page_raw(p, t ? ",{" : "{");
			first = true;
			for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
				if (!kdri_json_get(task, fields[f]))
					continue;
				block_key(p, fields[f], &first);
				block_copy(p, kdri_json_get(task, fields[f]), 6, 1);
			}
			block_key(p, "sure", &first);
			copy_sure(p, task);
			if (all <= LEVEL_LABELS_MOST) {
				block_key(p, "labels", &first);
				copy_list(p, kdri_json_get(task, "labels"), INT64_MAX, 6, 1);
			}
			kdri_page_raw(p, "}");
		}
		kdri_page_raw(p, "]}");
	}
	kdri_page_raw(p, "]");
}

/* --- the objective -------------------------------------------------------------------------------------- */

/* Where the stretch from `begin` is lowest and highest, in their order. */
static void extremes(const kdri_json_value *list, int64_t begin, int64_t end, int64_t out[2])
{
	out[0] = out[1] = begin;
	for (int64_t i = begin; i < end; i++) {
		double v = kdri_json_number(kdri_json_at(list, i), 0);
		if (v < kdri_json_number(kdri_json_at(list, out[0]), 0))
			out[0] = i;
		if (v > kdri_json_number(kdri_json_at(list, out[1]), 0))
			out[1] = i;
	}
	if (out[0] > out[1]) {
		int64_t swap = out[0];
		out[0] = out[1];
		out[1] = swap;
	}
}

static void copy_objective(kdri_page *p, const kdri_json_value *list)
{
	int64_t n = kdri_json_count(list), stretch = (2 * n + OBJECTIVE_MOST - 1) / OBJECTIVE_MOST, rose = 0,
	        at[2];
	char text[48];
	if (n <= OBJECTIVE_MOST) {
		copy_list(p, list, n, 12, 1);
		return;
	}
	for (int64_t i = 1; i < n; i++)
		rose += kdri_json_number(kdri_json_at(list, i), 0) >
		        kdri_json_number(kdri_json_at(list, i - 1), 0);
	kdri_snprintf(text, sizeof text, "{\"count\":%lld,\"rose\":%lld,\"points\":[", (long long)n,
	              (long long)rose);
	kdri_page_raw(p, text);
	for (int64_t i = 0; i < n; i += stretch) {
		extremes(list, i, KDRI_MIN(n, i + stretch), at);
		for (int e = 0; e < (at[0] == at[1] ? 1 : 2); e++) {
			kdri_snprintf(text, sizeof text, "%s[%lld,", i || e ? "," : "", (long long)at[e] + 1);
			kdri_page_raw(p, text);
			kdri_page_number(p, kdri_json_number(kdri_json_at(list, at[e]), 0), 12);
			kdri_page_raw(p, "]");
		}
	}
	kdri_page_raw(p, "]}");
}

void kdri_page_block(kdri_page *p, const kdri_json_value *root)
{
	bool first = true;
	kdri_page_raw(p, "{");
	for (int64_t i = 0; i < kdri_json_count(root); i++) {
		const kdri_json_value *value = kdri_json_at(root, i);
		const char *name = kdri_json_key(value);
		if (strcmp(name, "about") == 0 ||
		    strcmp(name, "fingerprint") == 0 || /* ours, never the file's */
		    strcmp(name, "files") == 0)         /* a page may be anywhere */
			continue;
		block_key(p, name, &first);
		if (strcmp(name, "tasks") == 0 && kdri_json_is(value, KDRI_JSON_ARRAY))
			copy_tasks(p, value);
		else if (strcmp(name, "objective") == 0 && kdri_json_is(value, KDRI_JSON_ARRAY))
			copy_objective(p, value);
		else if (strcmp(name, "levels") == 0 && kdri_json_is(value, KDRI_JSON_ARRAY))
			copy_levels(p, value);
		else
			block_copy(p, value, 6, 0);
	}
	char fingerprint[KDRI_FINGERPRINT] = "";
	if (p->st == KDR_OK)
		p->st = kdri_result_fingerprint(p->ctx, root, fingerprint);
	block_key(p, "fingerprint", &first);
	kdri_page_string(p, fingerprint, KDRI_FINGERPRINT);
	kdri_page_raw(p, ",");
	kdri_page_about(p, root);
	kdri_page_raw(p, "}");
}
