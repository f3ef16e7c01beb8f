/* JSON built in memory, or in blocks; numbers with 17 digits, never NaN or infinity. SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_write.h"
#include "core/numbers.h"
#include "core/utf8.h"

enum { BLOCK = 1 << 16 };

void kdri_json_flush(kdri_json *j)
{
	if (!j->failed && j->take && j->used > 0)
		j->failed = !j->take(j->user, j->text, j->used);
	if (j->take)
		j->used = 0;
}

static void json_write_put(kdri_json *j, const char *text, size_t length)
{
	if (j->take && j->used >= BLOCK)
		kdri_json_flush(j);
	if (j->failed)
		return;
	if (j->used + length + 1 > j->room) {
		size_t room = (j->used + length + 1) * 2;
		const kdr_allocator *a = j->allocator;
		char *grown = !a        ? realloc(j->text, room)
		              : j->text ? a->realloc(a->user, j->text, room)
		                        : a->alloc(a->user, room);
		if (!grown) {
			j->failed = true;
			return;
		}
		j->text = grown;
		j->room = room;
	}
	memcpy(j->text + j->used, text, length);
	j->used += length;
	j->text[j->used] = '\0';
}

void kdri_json_entries(kdri_json *j, const char *text, size_t length)
{
	json_write_put(j, text, length);
	j->comma = true;
}

static void puts_(kdri_json *j, const char *text)
{
	json_write_put(j, text, strlen(text));
}

static void quoted(kdri_json *j, const char *text)
{
	json_write_put(j, "\"", 1);
	const char *end = text + strlen(text);
	size_t n = 1;
	for (const char *p = text; p<end; p += n> 0 ? n : 1) {
		uint32_t c;
		char escape[8];
		n = kdri_utf8_at(p, (size_t)(end - p), &c);
		if (c == '"' || c == '\\') {
			escape[0] = '\\';
			escape[1] = (char)c;
			json_write_put(j, escape, 2);
		} else if (n > 0 && (c < 32 || (c >= 127 && c < 160))) { /* also unsafe on terminals */
			json_write_put(
			        j, escape,
			        (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c & 0xff));
		} else if (n == 0) {
			json_write_put(j, "\xef\xbf\xbd", 3); /* U+FFFD: a byte of a name that is not UTF-8 */
		} else {
			json_write_put(j, p, n);
		}
	}
	json_write_put(j, "\"", 1);
}

/* Writes the text before a value: a comma, a new line for keys, the key. */
static void lead(kdri_json *j, const char *key)
{
	if (j->comma)
		json_write_put(j, key ? "," : ", ", key ? 1 : 2);
	if (key) {
		puts_(j, "\n");
		for (int i = 0; i < j->depth; i++)
			puts_(j, "  ");
		quoted(j, key);
		puts_(j, ": ");
	}
	j->comma = true;
}

static void open_with(kdri_json *j, const char *key, const char *bracket)
{
	lead(j, key);
	puts_(j, bracket);
	j->depth++;
	j->comma = false;
}

void kdri_json_object(kdri_json *j, const char *key)
{
	open_with(j, key, "{");
}

void kdri_json_array(kdri_json *j, const char *key)
{
	open_with(j, key, "[");
}

void kdri_json_end_object(kdri_json *j)
{
	j->depth--;
	if (j->comma) {
		puts_(j, "\n");
		for (int i = 0; i < j->depth; i++)
			puts_(j, "  ");
	}
	puts_(j, "}");
	j->comma = true;
}

void kdri_json_end_array(kdri_json *j)
{
	j->depth--;
	puts_(j, "]");
	j->comma = true;
}

void kdri_json_string(kdri_json *j, const char *key, const char *value)
{
	lead(j, key);
	quoted(j, value);
}

void kdri_json_int(kdri_json *j, const char *key, int64_t value)
{
	char text[32];
	lead(j, key);
	json_write_put(j, text, (size_t)kdri_print_int(value, text));
}

void kdri_json_real(kdri_json *j, const char *key, double value)
{
	char text[KDRI_PRINT_17];
	lead(j, key);
	if (isfinite(value))
		json_write_put(j, text, (size_t)kdri_print_17(value, text));
	else
		puts_(j, "null");
}

void kdri_json_bool(kdri_json *j, const char *key, bool value)
{
	lead(j, key);
	puts_(j, value ? "true" : "false");
}

void kdri_json_null(kdri_json *j, const char *key)
{
	lead(j, key);
	puts_(j, "null");
}

void kdri_json_ints(kdri_json *j, const char *key, const int64_t *values, int64_t count)
{
	kdri_json_array(j, key);
	for (int64_t i = 0; i < count; i++)
		kdri_json_int(j, NULL, values[i]);
	kdri_json_end_array(j);
}

void kdri_json_reals(kdri_json *j, const char *key, const double *values, int64_t count)
{
	kdri_json_array(j, key);
	for (int64_t i = 0; i < count; i++)
		kdri_json_real(j, NULL, values[i]);
	kdri_json_end_array(j);
}

void kdri_json_texts(kdri_json *j, const char *key, const char *const *values, int64_t count)
{
	kdri_json_array(j, key);
	for (int64_t i = 0; i < count; i++)
		kdri_json_string(j, NULL, values[i]);
	kdri_json_end_array(j);
}

void kdri_json_free(kdri_json *j)
{
	const kdr_allocator *a = j->allocator;
	if (!a)
		free(j->text);
	else if (j->text)
		a->free(a->user, j->text);
	*j = (kdri_json){ .allocator = a };
}

/* Figures of a partition as JSON. */

void kdri_json_scores(kdri_json *j, const kdr_scores *s)
{
	kdri_json_real(j, "acc", s->acc);
	kdri_json_real(j, "nmi", s->nmi);
	kdri_json_real(j, "nmi_arithmetic", s->nmi_arithmetic);
	kdri_json_real(j, "nmi_max", s->nmi_max);
	kdri_json_real(j, "ari", s->ari);
	kdri_json_real(j, "purity", s->purity);
	kdri_json_real(j, "homogeneity", s->homogeneity);
	kdri_json_real(j, "completeness", s->completeness);
	kdri_json_real(j, "v_measure", s->v_measure);
}

void kdri_json_quality(kdri_json *j, const kdr_quality *q)
{
	kdri_json_object(j, "quality");
	kdri_json_real(j, "silhouette", q->silhouette);
	kdri_json_string(j, "silhouette_kind",
	                 q->silhouette_kind == KDR_SILHOUETTE_EXACT ? "exact" : "simplified");
	kdri_json_real(j, "davies_bouldin", q->davies_bouldin);
	kdri_json_real(j, "calinski_harabasz", q->calinski_harabasz);
	kdri_json_real(j, "stability", q->stability);
	kdri_json_int(j, "resamples", q->resamples);
	kdri_json_string(j, "note", kdri_quality_note());
	kdri_json_end_object(j);
}

const char *kdri_quality_note(void)
{
	return "these scores describe how compact, separate and reproducible the clusters are in the data as given, not whether they are meaningful; noise cut into round pieces scores well, long or nested shapes score badly, and scores of differently preprocessed data cannot be compared";
}
