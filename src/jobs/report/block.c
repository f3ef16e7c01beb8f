/* The page's data: a shortened result. SPDX-License-Identifier: BSD-3-Clause
 *
 * The schema is that of result.json. Numbers are rounded to six digits, confidences to three; labels, second choices and known
 * classes that are texts become {names, index}; a long objective becomes {at, value} with the highest and lowest
 * value of each interval; levels are included with their labels if these are few. Names are truncated, and long lists
 * that no section shows are omitted. Optional data (first words, ids, strongest features, probabilities) are added in
 * that order as long as they fit; if the ids do not fit, only those of the samples that represent a cluster are
 * included. Values of features have a room of their own (kdri_values_room). A page of 20,000 samples stays below 3 MB and
 * one of 200,000 below 20 MB. */
#include "core/names.h"
#include "core/words.h"
#include "jobs/job.h"
#include "jobs/report/report.h"
#include "jobs/say/say.h"
#include "jobs/write/result_file.h"

enum { TEXT_MOST = 1000, NAME_MOST = 200, LIST_MOST = 2000, OBJECTIVE_MOST = 2000 };

/* Bytes of a page: of its script and everything that is not per sample; of a sample's position, labels, confidence,
 * classes and moves together; and the maximum in total, up to 20,000 samples and for each further one. */
enum { REST_BYTES = 250000, SAMPLE_BYTES = 34, FEW = 20000, FEW_BYTES = 2050000, MORE_BYTES = 33 };
enum { LEVEL_LABELS_MOST = 200000 }; /* of all levels and data sets together */

enum { DIGITS = 6, CONFIDENCE_DIGITS = 3 };

/* Notes a failure other than that of the text itself; the message is in the context. */
static void note(kdri_json *j, kdr_status st)
{
	j->failed = j->failed || st != KDR_OK;
}

static void put_name(kdri_json *j, const char *key, const char *name)
{
	j->characters = NAME_MOST;
	kdri_json_string(j, key, name);
	j->characters = TEXT_MOST;
}

/* A list, all of it. A confidence of 0.49999 is below 0.5: one that rounding would lift or lower to a limit of the page's classes
 * (0.2, 0.5) is copied in full, so that the page counts as many samples as the tables do. */
static void put_all(kdri_json *j, const char *key, const kdri_json_value *list, int digits)
{
	kdri_json_array(j, key);
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *entry = kdri_json_at(list, i);
		const double value = kdri_json_number(entry, 0), tenth = nearbyint(10 * value) / 10;
		const bool sure = digits == CONFIDENCE_DIGITS;
		const bool limit = sure && value != tenth && fabs(value - tenth) < 1e-3,
		           twice = sure &&
		                   rint(rint(1000 * value) / 10) != rint(100 * value); /* rounded twice */
		j->digits = limit || twice ? 17 : digits;
		if (kdri_json_is(entry, KDRI_JSON_ARRAY))
			put_all(j, NULL, entry, digits);
		else
			kdri_json_put(j, NULL, entry);
	}
	j->digits = DIGITS;
	kdri_json_end_array(j);
}

/* --- lists with one entry per sample ---------------------------------------------------------------------- */

/* Texts with many duplicates: {"names": [...], "index": [...]}, -1 if there is none. */
static void put_texts(kdri_json *j, const char *key, const kdri_json_value *list)
{
	kdr_context *ctx = j->user;
	kdri_names names = { .borrows = true };
	const int64_t n = kdri_json_count(list);
	int64_t *index = NULL;
	kdr_status st = KDRI_NEW(ctx, &index, n);
	for (int64_t i = 0; i < n && st == KDR_OK; i++) {
		const char *text = kdri_json_text(kdri_json_at(list, i), NULL);
		index[i] = -1;
		if (text)
			st = kdri_names_add(ctx, &names, text, strlen(text), &index[i]);
	}
	note(j, st);
	kdri_json_object(j, key);
	kdri_json_array(j, "names");
	for (int64_t i = 0; i < names.count; i++)
		put_name(j, NULL, names.names[i]);
	kdri_json_end_array(j);
	kdri_json_ints(j, "index", index, st == KDR_OK ? n : 0);
	kdri_json_end_object(j);
	kdri_names_free(ctx, &names);
	kdri_free(ctx, index);
}

static bool holds_text(const kdri_json_value *list)
{
	for (int64_t i = 0; i < kdri_json_count(list); i++)
		if (!kdri_json_is(kdri_json_at(list, i), KDRI_JSON_NULL))
			return kdri_json_is(kdri_json_at(list, i), KDRI_JSON_TEXT);
	return false;
}

/* Objects of lists with one entry per sample: every list in full. */
static void put_whole(kdri_json *j, const char *key, const kdri_json_value *object)
{
	kdri_json_object(j, key);
	for (int64_t i = 0; i < kdri_json_count(object); i++) {
		const kdri_json_value *value = kdri_json_at(object, i);
		if (kdri_json_is(value, KDRI_JSON_ARRAY))
			put_all(j, kdri_json_key(value), value, DIGITS);
		else
			kdri_json_put(j, kdri_json_key(value), value);
	}
	kdri_json_end_object(j);
}

/* --- optional data of a page ---------------------------------------------------------------------------- */

static void put_ids(kdri_json *j, const kdri_json_value *list)
{
	kdri_json_array(j, NULL);
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const char *text = kdri_json_text(kdri_json_at(list, i), NULL);
		put_name(j, NULL, text ? text : "");
	}
	kdri_json_end_array(j);
}

/* {"names": [...], "rows": [...]}: ids of the rows that represent clusters. */
static void put_some_ids(kdri_json *j, const kdri_json_value *task, const kdri_json_value *ids)
{
	static const char *const kinds[] = { "typical", "doubtful" };
	const kdri_json_value *clusters = kdri_json_get(task, "clusters");
	kdri_json_object(j, "ids");
	for (int list = 0; list < 2; list++) {
		kdri_json_array(j, list == 0 ? "names" : "rows");
		for (int64_t e = 0; e < 20 * kdri_json_count(clusters); e++) {
			const kdri_json_value *rows =
			        kdri_json_get(kdri_json_at(clusters, e / 20), kinds[e / 10 % 2]);
			const int64_t row = kdri_json_integer(kdri_json_at(rows, e % 10), -1);
			const char *text = kdri_json_text(kdri_json_at(ids, row), NULL);
			if (text && list == 0)
				put_name(j, NULL, text);
			else if (text)
				kdri_json_int(j, NULL, row);
		}
		kdri_json_end_array(j);
	}
	kdri_json_end_object(j);
}

static const char *const optional[] = { "excerpts", "ids", "strongest", "probabilities", NULL };

/* Each of them in full, as long as they fit into `room` bytes. */
static void put_optionals(kdri_json *j, const kdri_json_value *task, int64_t room)
{
	for (int i = 0; optional[i] && !j->failed; i++) {
		const kdri_json_value *value = kdri_json_get(task, optional[i]);
		const bool list = i % 2 == 1; /* ids and probabilities; the others are objects */
		if (!kdri_json_is(value, list ? KDRI_JSON_ARRAY : KDRI_JSON_OBJECT))
			continue;
		kdri_json part = kdri_page_json(j->user);
		if (i == 1)
			put_ids(&part, value);
		else if (list)
			put_all(&part, NULL, value, CONFIDENCE_DIGITS);
		else
			put_whole(&part, NULL, value);
		j->failed = part.failed;
		if ((int64_t)part.used <= room) {
			kdri_json_insert(j, optional[i], part.text, part.used);
			room -= (int64_t)part.used;
		} else if (i == 1) {
			put_some_ids(j, task, value);
		}
		kdri_json_free(&part);
	}
}

/* --- values of features --------------------------------------------------------------------------------- */

static bool is_base64(const char *text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t body = strspn(text, letters), end = strspn(text + body, "=");
	return end <= 2 && text[body + end] == '\0' && (body + end) % 4 == 0;
}

static void put_codes(kdri_json *j, const kdri_json_value *values, const char *codes)
{
	static const char *const numbers[] = { "low", "high", "fill" };
	j->digits = 9;
	for (int i = 0; i < 3; i++)
		if (kdri_json_is_number(kdri_json_get(values, numbers[i])))
			kdri_json_real(j, numbers[i], kdri_json_number(kdri_json_get(values, numbers[i]), 0));
	j->digits = DIGITS;
	j->characters = INT64_MAX;
	kdri_json_string(j, "codes", codes);
	j->characters = TEXT_MOST;
}

/* The values of features, as long as they fit into *room bytes. Features without valid codes are omitted. */
static void put_values(kdri_json *j, const char *key, const kdri_json_value *list, int64_t *room)
{
	enum { ENTRY_BYTES = 100 };
	kdri_json_array(j, key);
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
		kdri_json_object(j, NULL);
		put_name(j, "name", name);
		put_codes(j, value, codes);
		if (own_codes) {
			const char *unit = kdri_json_text(kdri_json_get(own, "unit"), NULL);
			kdri_json_object(j, "own");
			put_name(j, "unit", unit ? unit : "number");
			put_codes(j, own, own_codes);
			kdri_json_end_object(j);
		}
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

/* The mean confidence, with the digits that the program prints. The page cannot compute it: it has rounded numbers. */
static void put_mean_confidence(kdri_json *j, const kdri_json_value *confidence)
{
	char text[32];
	double all = 0, known = 0;
	for (int64_t i = 0; i < kdri_json_count(confidence); i++)
		if (kdri_json_is_number(kdri_json_at(confidence, i))) {
			all += kdri_json_number(kdri_json_at(confidence, i), 0);
			known++;
		}
	if (known > 0) {
		kdri_snprintf(text, sizeof text, "%.2f", all / known);
		kdri_json_string(j, "mean_confidence", text);
	}
}

/* --- data sets -------------------------------------------------------------------------------------------- */

static void put_task(kdri_json *j, const kdri_json_value *task, int64_t room, int64_t *values)
{
	/* Integers or texts, one per sample. */
	static const char *const choices[] = { "labels", "second", "truth", "before", NULL };
	static const char *const rows[] = { "confidence", "moved", "wrong", "ask", NULL };
	kdri_json_object(j, NULL);
	put_optionals(j, task, room);
	put_mean_confidence(j, kdri_json_get(task, "confidence"));
	for (int64_t i = 0; i < kdri_json_count(task); i++) {
		const kdri_json_value *value = kdri_json_at(task, i);
		const char *name = kdri_json_key(value);
		const bool list = kdri_json_is(value, KDRI_JSON_ARRAY),
		           choice = kdri_word_index(choices, name) >= 0;
		if (kdri_word_index(optional, name) >= 0 ||
		    strcmp(name, "agreement") == 0) /* see confidence */
			continue;
		if (list && choice && holds_text(value))
			put_texts(j, name, value);
		else if (list && (choice || kdri_word_index(rows, name) >= 0))
			put_all(j, name, value, strcmp(name, rows[0]) == 0 ? CONFIDENCE_DIGITS : DIGITS);
		else if (strcmp(name, "embedding") == 0)
			put_whole(j, name, value);
		else if (list && strcmp(name, "values") == 0)
			put_values(j, name, value, values);
		else
			kdri_json_put(j, name, value);
	}
	kdri_json_end_object(j);
}

static int64_t samples_of(const kdri_json_value *task)
{
	return KDRI_MAX(kdri_json_count(kdri_json_get(task, "labels")),
	                kdri_json_count(kdri_json_get(kdri_json_get(task, "embedding"), "x")));
}

static void put_tasks(kdri_json *j, const char *key, const kdri_json_value *tasks)
{
	int64_t n = 0;
	for (int64_t t = 0; t < kdri_json_count(tasks); t++)
		n += samples_of(kdri_json_at(tasks, t));
	int64_t room = FEW_BYTES + KDRI_MAX(n - FEW, 0) * MORE_BYTES - REST_BYTES - n * SAMPLE_BYTES;
	int64_t values = kdri_values_room(n);
	kdri_json_array(j, key);
	for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
		const kdri_json_value *task = kdri_json_at(tasks, t);
		put_task(j, task, (int64_t)((double)room * (double)samples_of(task) / (double)KDRI_MAX(n, 1)),
		         &values);
	}
	kdri_json_end_array(j);
}

/* --- levels ------------------------------------------------------------------------------------------------ */

/* The mean confidence of each cluster. */
static void put_sure(kdri_json *j, const kdri_json_value *task)
{
	kdr_context *ctx = j->user;
	const kdri_json_value *labels = kdri_json_get(task, "labels"),
	                      *sure = kdri_json_get(task, "confidence");
	const int64_t k = kdri_json_count(kdri_json_get(task, "sizes")), n = kdri_json_count(labels);
	double *sums = NULL;
	note(j, KDRI_NEW0(ctx, &sums, 2 * k));
	for (int64_t i = 0; i < n && sums && kdri_json_count(sure) == n; i++) {
		const int64_t c = kdri_json_integer(kdri_json_at(labels, i), -1);
		if (c < 0 || c >= k || !kdri_json_is_number(kdri_json_at(sure, i)))
			continue;
		sums[c] += kdri_json_number(kdri_json_at(sure, i), 0);
		sums[k + c]++;
	}
	kdri_json_array(j, "sure");
	for (int64_t c = 0; sums && c < KDRI_MIN(k, LIST_MOST); c++)
		kdri_json_real(j, NULL, sums[k + c] > 0 ? sums[c] / sums[k + c] : NAN);
	kdri_json_end_array(j);
	kdri_free(ctx, sums);
}

/* Sizes, parents and splits of each level, and the labels if all of them together are few. */
static void put_levels(kdri_json *j, const char *key, const kdri_json_value *levels)
{
	static const char *const fields[] = { "name", "k", "sizes", "parents", "splits" };
	int64_t all = 0;
	for (int64_t l = 0; l < kdri_json_count(levels); l++) {
		const kdri_json_value *tasks = kdri_json_get(kdri_json_at(levels, l), "tasks");
		for (int64_t t = 0; t < kdri_json_count(tasks); t++)
			all += kdri_json_count(kdri_json_get(kdri_json_at(tasks, t), "labels"));
	}
	kdri_json_array(j, key);
	for (int64_t l = 0; l < kdri_json_count(levels); l++) {
		const kdri_json_value *level = kdri_json_at(levels, l),
		                      *tasks = kdri_json_get(level, "tasks");
		kdri_json_object(j, NULL);
		kdri_json_put(j, "k", kdri_json_get(level, "k"));
		kdri_json_array(j, "tasks");
		for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
			const kdri_json_value *task = kdri_json_at(tasks, t);
			kdri_json_object(j, NULL);
			for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
				if (kdri_json_get(task, fields[f]))
					kdri_json_put(j, fields[f], kdri_json_get(task, fields[f]));
			put_sure(j, task);
			if (all <= LEVEL_LABELS_MOST)
				put_all(j, "labels", kdri_json_get(task, "labels"), DIGITS);
			kdri_json_end_object(j);
		}
		kdri_json_end_array(j);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

/* --- the objective -------------------------------------------------------------------------------------- */

static double value_at(const kdri_json_value *list, int64_t i)
{
	return kdri_json_number(kdri_json_at(list, i), 0);
}

/* Where the stretch from `begin` is lowest and highest, in their order. */
static void extremes(const kdri_json_value *list, int64_t begin, int64_t end, int64_t out[2])
{
	int64_t low = begin, high = begin;
	for (int64_t i = begin; i < end; i++) {
		low = value_at(list, i) < value_at(list, low) ? i : low;
		high = value_at(list, i) > value_at(list, high) ? i : high;
	}
	out[0] = KDRI_MIN(low, high);
	out[1] = KDRI_MAX(low, high);
}

static void put_objective(kdri_json *j, const char *key, const kdri_json_value *list)
{
	int64_t n = kdri_json_count(list), stretch = (2 * n + OBJECTIVE_MOST - 1) / OBJECTIVE_MOST, rose = 0,
	        at[2];
	if (n <= OBJECTIVE_MOST) {
		put_all(j, key, list, 12);
		return;
	}
	for (int64_t i = 1; i < n; i++)
		rose += value_at(list, i) > value_at(list, i - 1);
	kdri_json_object(j, key);
	kdri_json_int(j, "count", n);
	kdri_json_int(j, "rose", rose);
	kdri_json_array(j, "points");
	j->digits = 12;
	for (int64_t i = 0; i < n; i += stretch) {
		extremes(list, i, KDRI_MIN(n, i + stretch), at);
		for (int e = 0; e < (at[0] == at[1] ? 1 : 2); e++) {
			kdri_json_array(j, NULL);
			kdri_json_int(j, NULL, at[e] + 1);
			kdri_json_real(j, NULL, value_at(list, at[e]));
			kdri_json_end_array(j);
		}
	}
	j->digits = DIGITS;
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

kdri_json kdri_page_json(kdr_context *ctx)
{
	return (kdri_json){ .allocator = &ctx->allocator,
		            .user = ctx,
		            .page = true,
		            .digits = DIGITS,
		            .characters = TEXT_MOST,
		            .entries = LIST_MOST };
}

void kdri_page_block(kdri_json *j, const kdri_json_value *root)
{
	/* Ours, never the file's; and a page may be anywhere. */
	static const char *const left_out[] = { "about", "fingerprint", "files", NULL };
	char fingerprint[KDRI_FINGERPRINT] = "";
	kdri_json_object(j, NULL);
	for (int64_t i = 0; i < kdri_json_count(root); i++) {
		const kdri_json_value *value = kdri_json_at(root, i);
		const char *name = kdri_json_key(value);
		const bool list = kdri_json_is(value, KDRI_JSON_ARRAY);
		if (kdri_word_index(left_out, name) >= 0)
			continue;
		if (list && strcmp(name, "tasks") == 0)
			put_tasks(j, name, value);
		else if (list && strcmp(name, "objective") == 0)
			put_objective(j, name, value);
		else if (list && strcmp(name, "levels") == 0)
			put_levels(j, name, value);
		else
			kdri_json_put(j, name, value);
	}
	note(j, kdri_result_fingerprint(j->user, root, fingerprint));
	kdri_json_string(j, "fingerprint", fingerprint);
	kdri_page_about(j, root);
	kdri_json_end_object(j);
}
