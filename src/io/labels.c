/* Files with one label or one name per line. SPDX-License-Identifier: BSD-3-Clause
 *
 * Blanks around a label, a byte order mark, carriage returns and blank lines at the end are ignored. A blank line before
 * another label is an error, because the labels would no longer match the rows. */
#include "io/text.h"

/* Private data of kdr_labels_free, after the public part. */
typedef struct owned_labels {
	kdr_labels labels; /* first */
	kdr_allocator allocator;
} owned_labels;

typedef kdr_status (*line_fn)(kdr_context *ctx, void *user, const char *text, size_t length, int64_t line);

/* Hands each line, without blanks around it, to `fn`. */
static kdr_status each_line(kdr_context *ctx, kdri_input *in, line_fn fn, void *user)
{
	kdr_status st;
	kdri_window w = { 0 };
	size_t whole;
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	for (;;) {
		KDRI_TRY(kdri_window_lines(ctx, &w, &whole));
		if (whole == 0)
			break;
		if (w.line == 0 && whole >= 3 && memcmp(w.data, "\xef\xbb\xbf", 3) == 0)
			w.begin = 3;
		while (w.begin < whole) {
			const char *p = w.data + w.begin;
			const char *newline = memchr(p, '\n', whole - w.begin), *end = newline;
			w.begin = (size_t)(newline - w.data) + 1;
			p = kdri_skip_blanks(p);
			while (end > p && (kdri_is_blank(end[-1]) || end[-1] == '\r'))
				end--;
			KDRI_TRY(fn(ctx, user, p, end > p ? (size_t)(end - p) : 0, ++w.line));
		}
	}
done:
	kdri_window_close(ctx, &w);
	return st;
}

/* --- labels ----------------------------------------------------------------------------------- */

typedef struct collector {
	const char *path;
	kdri_names classes;
	int64_t *values;
	int64_t n, room;
	int64_t blank; /* the first blank line not followed by a label yet, or 0 */
} collector;

static kdr_status add_label(kdr_context *ctx, void *user, const char *text, size_t length, int64_t line)
{
	kdr_status st = KDR_OK;
	collector *c = user;
	if (length == 0) {
		if (c->blank == 0)
			c->blank = line;
		return st;
	}
	if (c->blank > 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld is empty; every line needs a label",
		                 c->path, (long long)c->blank);
	KDRI_TRY(KDRI_ROOM(ctx, &c->values, &c->room, c->n + 1));
	KDRI_TRY(kdri_names_add(ctx, &c->classes, text, length, &c->values[c->n]));
	c->n++;
done:
	return st;
}

kdr_status kdri_labels_read(kdr_context *ctx, kdri_input *in, kdr_labels **out)
{
	kdr_status st;
	collector c = { .path = kdri_input_path(in) };
	owned_labels *owned = NULL;
	kdr_labels *l;
	KDRI_TRY(each_line(ctx, in, add_label, &c));
	if (c.n == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: the file is empty; one label per line is needed", c.path);
	KDRI_TRY(KDRI_NEW0(ctx, &owned, 1));
	owned->allocator = ctx->allocator;
	l = &owned->labels;
	KDRI_TRY(kdri_names_sort_integers(ctx, &c.classes, c.values, c.n, &l->integers));
	if (l->integers) {
		KDRI_TRY(KDRI_NEW(ctx, &l->integer, c.n));
		for (int64_t i = 0; i < c.n; i++) {
			const char *name = c.classes.names[c.values[i]];
			kdri_parse_int(name, name + strlen(name), &l->integer[i]);
		}
	}
	KDRI_TRY(KDRI_GROW(ctx, &c.values, c.n));
	l->n = c.n;
	l->values = c.values;
	l->names = c.classes.names;
	l->count = c.classes.count;
	c.values = NULL;
	c.classes.names = NULL;
	*out = l;
	owned = NULL;
done:
	kdr_labels_free(owned ? &owned->labels : NULL);
	kdri_names_free(ctx, &c.classes);
	kdri_free(ctx, c.values);
	return st;
}

kdr_status kdr_read_labels(kdr_context *ctx, const char *path, kdr_labels **out)
{
	kdr_status st;
	kdri_input *in = NULL;
	KDRI_NEED(ctx, path && out);
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(kdri_labels_read(ctx, in, out));
done:
	kdri_input_close(ctx, in);
	return st;
}

kdr_status kdr_data_read_labels(kdr_context *ctx, kdr_data *data, const char *path)
{
	KDRI_NEED(ctx, data && path);
	kdr_status st;
	kdr_labels *l = NULL;
	int64_t *own = NULL, *origin = NULL, file_rows;
	KDRI_TRY(kdr_read_labels(ctx, path, &l));
	KDRI_TRY(kdri_data_origin(ctx, data, &origin, &file_rows));
	bool whole = l->n == data->rows, part = !whole && l->n == file_rows;
	if (!whole && !part)
		KDRI_FAIL(ctx, KDR_ERR_DATA,
		          "%s: %lld label%s, but data set %s has %lld sample%s; give one label per sample",
		          path, (long long)l->n, l->n == 1 ? "" : "s", data->name, (long long)data->rows,
		          data->rows == 1 ? "" : "s");
	if (part) { /* one for each row of the file, of which these are some */
		KDRI_TRY(KDRI_NEW(ctx, &own, data->rows));
		for (int64_t i = 0; i < data->rows; i++)
			own[i] = l->values[origin[i]];
	}
	KDRI_TRY(kdr_data_set_labels(ctx, data, own ? own : l->values, (const char *const *)l->names,
	                             l->count));
done:
	KDRI_FREE(ctx, own, origin);
	kdr_labels_free(l);
	return st;
}

void kdr_labels_free(kdr_labels *labels)
{
	if (!labels)
		return;
	owned_labels *owned = (owned_labels *)labels;
	kdr_allocator a = owned->allocator;
	KDRI_FREE_WITH(&a, labels->values, labels->integer);
	kdri_strings_free(&a, labels->names, labels->count);
	kdri_free_with(&a, owned);
}

/* --- names ------------------------------------------------------------------------------------ */

typedef struct lines {
	char **text;
	int64_t count, most, blank;
} lines;

static kdr_status add_line(kdr_context *ctx, void *user, const char *text, size_t length, int64_t line)
{
	kdr_status st = KDR_OK;
	lines *l = user;
	(void)line;
	if (length == 0) {
		l->blank++;
		return st;
	}
	if (l->blank > 0 || l->count == l->most)
		return KDR_ERR_DATA;
	KDRI_TRY(kdri_strndup(ctx, text, length, &l->text[l->count]));
	l->count++;
done:
	return st;
}

kdr_status kdri_lines_read(kdr_context *ctx, const char *path, int64_t most, char ***out, int64_t *count)
{
	kdr_status st;
	kdri_input *in = NULL;
	lines l = { .most = most };
	KDRI_TRY(KDRI_NEW0(ctx, &l.text, most));
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(each_line(ctx, in, add_line, &l));
	*out = l.text;
	*count = l.count;
	l.text = NULL;
done:
	kdri_strings_free(&ctx->allocator, l.text, l.count);
	kdri_input_close(ctx, in);
	return st;
}
