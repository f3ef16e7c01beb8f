/* Values as JSON, with 17 digits of numbers and never NaN or infinity; or as a tree. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "core/internal.h"
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

void kdri_json_raw(kdri_json *j, const char *text, size_t length)
{
	json_write_put(j, text, length);
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

/* Control characters, and marks that turn the direction of text: they could disguise a name and what follows it. */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void quoted(kdri_json *j, const char *text, int64_t most)
{
	const char *end = text + strlen(text);
	puts_(j, "\"");
	for (size_t n = 1; text<end; text += n> 0 ? n : 1) {
		uint32_t c;
		char escape[8];
		n = kdri_utf8_at(text, (size_t)(end - text), &c);
		if (j->page && most-- == 0) {
			puts_(j, "…");
			break;
		}
		if (n == 0 ||
		    (j->page && c != '\n' && is_unsafe(c))) { /* a byte of a name that is not UTF-8 */
			puts_(j, "\xef\xbf\xbd");             /* U+FFFD */
		} else if (j->page ? c == '\n' : c == '"' || c == '\\') {
			escape[0] = '\\';
			escape[1] = c == '\n' ? 'n' : (char)c;
			json_write_put(j, escape, 2);
		} else if (j->page ? (n == 1 && strchr("\"\\<>&", (int)c)) || c == 0x2028 || c == 0x2029
		                   : c < 32 || (c >= 127 && c < 160)) { /* also unsafe on terminals */
			json_write_put(
			        j, escape,
			        (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c & 0xffff));
		} else {
			json_write_put(j, text, n);
		}
	}
	puts_(j, "\"");
}

static void new_line(kdri_json *j)
{
	if (j->page)
		return;
	puts_(j, "\n");
	for (int i = 0; i < j->depth; i++)
		puts_(j, "  ");
}

/* Writes the text before a value: a comma, a new line for keys, the key. */
static void lead(kdri_json *j, const char *key)
{
	enum { KEY_MOST = 200 };
	if (j->comma)
		puts_(j, key || j->page ? "," : ", ");
	if (key) {
		new_line(j);
		quoted(j, key, KEY_MOST);
		puts_(j, j->page ? ":" : ": ");
	}
	j->comma = true;
}

void kdri_json_insert(kdri_json *j, const char *key, const char *text, size_t length)
{
	lead(j, key);
	json_write_put(j, text, length);
}

/* A copy of a text in the tree, as reading its JSON gives it. */
static kdr_status keep_text(kdri_json_tree *t, const char *text, const char **out, uint32_t *length)
{
	const size_t room = strlen(text);
	const bool valid = kdri_utf8_valid(text, room);
	char *to = NULL;
	size_t used = 0, n;
	KDRI_DO(kdri_json_tree_room(t, (valid ? 1 : 3) * room + 1, &to));
	for (const char *p = text, *end = text + room; p<end; p += n> 0 ? n : 1, used += n > 0 ? n : 3) {
		uint32_t c;
		n = valid ? room : kdri_utf8_at(p, (size_t)(end - p), &c);
		memcpy(to + used, n > 0 ? p : "\xef\xbf\xbd", n > 0 ? n : 3);
	}
	to[used] = '\0';
	*out = to;
	*length = (uint32_t)used;
	return KDR_OK;
}

static kdr_status grow_tree(kdri_json_tree *t, const char *key, kdri_json_value v)
{
	uint32_t length;
	if (key)
		KDRI_DO(keep_text(t, key, &v.key, &length));
	if (v.type == KDRI_JSON_TEXT)
		KDRI_DO(keep_text(t, v.as.text, &v.as.text, &v.count));
	if (v.type == KDRI_JSON_REAL && !isfinite(v.as.real))
		v.type = KDRI_JSON_NULL;
	/* written without fraction or exponent */
	if (v.type == KDRI_JSON_REAL && fabs(v.as.real) < 1e17 && v.as.real == trunc(v.as.real)) {
		v.type = KDRI_JSON_INTEGER;
		v.as.integer = (int64_t)v.as.real;
	}
	return kdri_json_tree_add(t, &v);
}

/* A value of another tree: what is in it is not copied. */
static kdr_status share_value(kdri_json_tree *t, const char *key, kdri_json_value v)
{
	uint32_t length;
	v.key = NULL;
	if (key)
		KDRI_DO(keep_text(t, key, &v.key, &length));
	return kdri_json_tree_add(t, &v);
}

/* A value that is no list, or the beginning of a list. */
static void put_value(kdri_json *j, const char *key, kdri_json_value v)
{
	char text[KDRI_PRINT_17] = "null";
	if (j->tree) {
		j->failed = j->failed || grow_tree(j->tree, key, v) != KDR_OK;
		if (!j->failed && (v.type == KDRI_JSON_ARRAY || v.type == KDRI_JSON_OBJECT))
			kdri_json_tree_open(j->tree);
		return;
	}
	lead(j, key);
	switch ((kdri_json_type)v.type) {
	case KDRI_JSON_TRUE:
	case KDRI_JSON_FALSE: puts_(j, v.type == KDRI_JSON_TRUE ? "true" : "false"); break;
	case KDRI_JSON_INTEGER: json_write_put(j, text, (size_t)kdri_print_int(v.as.integer, text)); break;
	case KDRI_JSON_REAL:
		if (isfinite(v.as.real) && j->page)
			kdri_snprintf(text, sizeof text, "%.*g", j->digits, v.as.real);
		else if (isfinite(v.as.real))
			text[kdri_print_17(v.as.real, text)] = '\0';
		puts_(j, text);
		break;
	case KDRI_JSON_TEXT: quoted(j, v.as.text, j->characters); break;
	case KDRI_JSON_ARRAY:
	case KDRI_JSON_OBJECT:
		puts_(j, v.type == KDRI_JSON_ARRAY ? "[" : "{");
		j->depth++;
		j->comma = false;
		break;
	default: puts_(j, text);
	}
}

static void end_list(kdri_json *j, const char *bracket, bool line)
{
	if (j->tree) {
		j->failed = j->failed || kdri_json_tree_close(j->tree) != KDR_OK;
		return;
	}
	j->depth--;
	if (line && j->comma)
		new_line(j);
	puts_(j, bracket);
	j->comma = true;
}

void kdri_json_object(kdri_json *j, const char *key)
{
	put_value(j, key, (kdri_json_value){ .type = KDRI_JSON_OBJECT });
}

void kdri_json_array(kdri_json *j, const char *key)
{
	put_value(j, key, (kdri_json_value){ .type = KDRI_JSON_ARRAY });
}

void kdri_json_end_object(kdri_json *j)
{
	end_list(j, "}", true);
}

void kdri_json_end_array(kdri_json *j)
{
	end_list(j, "]", false);
}

void kdri_json_string(kdri_json *j, const char *key, const char *value)
{
	put_value(j, key, (kdri_json_value){ .type = KDRI_JSON_TEXT, .as.text = value });
}

void kdri_json_int(kdri_json *j, const char *key, int64_t value)
{
	put_value(j, key, (kdri_json_value){ .type = KDRI_JSON_INTEGER, .as.integer = value });
}

void kdri_json_real(kdri_json *j, const char *key, double value)
{
	put_value(j, key, (kdri_json_value){ .type = KDRI_JSON_REAL, .as.real = value });
}

void kdri_json_bool(kdri_json *j, const char *key, bool value)
{
	put_value(j, key, (kdri_json_value){ .type = value ? KDRI_JSON_TRUE : KDRI_JSON_FALSE });
}

void kdri_json_null(kdri_json *j, const char *key)
{
	put_value(j, key, (kdri_json_value){ .type = KDRI_JSON_NULL });
}

void kdri_json_put(kdri_json *j, const char *key, const kdri_json_value *value)
{
	enum { PAGE_DEPTH = 14 };
	const bool list = kdri_json_is(value, KDRI_JSON_ARRAY),
	           object = kdri_json_is(value, KDRI_JSON_OBJECT);
	if (j->tree && value) {
		j->failed = j->failed || share_value(j->tree, key, *value) != KDR_OK;
		return;
	}
	if (!value || (j->page && j->depth > PAGE_DEPTH)) {
		kdri_json_null(j, key);
		return;
	}
	put_value(j, key, *value);
	for (int64_t i = 0; i < kdri_json_count(value) && !(list && j->page && i >= j->entries); i++)
		kdri_json_put(j, object ? kdri_json_key(kdri_json_at(value, i)) : NULL,
		              kdri_json_at(value, i));
	if (list || object)
		end_list(j, list ? "]" : "}", object);
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

kdr_status kdri_json_take_text(kdr_context *ctx, kdri_json *j, kdr_status st, const char *what, char **text,
                               size_t *length)
{
	if (st == KDR_OK && j->failed)
		st = kdri_fail(ctx, KDR_ERR_MEMORY, "out of memory: %s needs %zu bytes", what, j->room);
	if (st != KDR_OK) {
		kdri_json_free(j);
		return st;
	}
	*text = j->text;
	if (length)
		*length = j->used;
	return KDR_OK;
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

void kdri_json_metrics(kdri_json *j, const kdr_scores *s)
{
	if (s->n == 0) {
		kdri_json_null(j, "metrics");
		return;
	}
	kdri_json_object(j, "metrics");
	kdri_json_scores(j, s);
	kdri_json_end_object(j);
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
