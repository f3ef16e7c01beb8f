/* Text tables: cells and fields. SPDX-License-Identifier: BSD-3-Clause
 *
 * Cells are those of RFC 4180: a quote opens a quoted cell only at the beginning of the cell (blanks before it are ignored); inside, two
 * quotes mean one and newlines are text. Anywhere else a quote is a character like any other. */
#include "io/table/csv.h"

#include <stdio.h>

static inline bool is_blank(char c, char delimiter)
{
	return kdri_is_blank(c) && c != delimiter;
}

kdri_csv_cell kdri_csv_cell_at(const char *p, char delimiter)
{
	kdri_csv_cell cell = { 0 };
	while (is_blank(*p, delimiter))
		p++;
	if (*p == '"') {
		cell.quoted = true;
		cell.begin = ++p;
		while (*p != '"' || p[1] == '"')
			p += *p == '"' ? 2 : 1;
		cell.end = p++;
		while (is_blank(*p, delimiter))
			p++;
		cell.torn = *p != delimiter && !kdri_at_newline(p);
		while (*p != delimiter && *p != '\n')
			p++;
		cell.stop = p;
		return cell;
	}
	cell.begin = p;
	while (*p != delimiter && *p != '\n')
		p++;
	cell.stop = p;
	if (*p == '\n' && p > cell.begin && p[-1] == '\r')
		p--;
	while (p > cell.begin && is_blank(p[-1], delimiter))
		p--;
	cell.end = p;
	return cell;
}

const char *kdri_csv_row_end(const char *p, const char *end, char delimiter)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	if (!newline || !memchr(p, '"', (size_t)(newline - p)))
		return newline ? newline + 1 : NULL;
	while (p < end) {
		while (p < end && is_blank(*p, delimiter))
			p++;
		if (p < end && *p == '"') {
			for (p++;; p += 2) {
				p = memchr(p, '"', (size_t)(end - p));
				if (!p || p + 1 >= end)
					return NULL;
				if (p[1] != '"')
					break;
			}
			p++;
		}
		while (p < end && *p != delimiter && *p != '\n')
			p++;
		if (p < end && *p == '\n')
			return p + 1;
		p++;
	}
	return NULL;
}

bool kdri_csv_is_number(const kdri_csv_cell *cell, char point, double *value)
{
	const char *p = cell->begin, *end = cell->end;
	while (p < end && kdri_is_blank(*p))
		p++;
	while (end > p && kdri_is_blank(end[-1]))
		end--;
	return !cell->torn && end > p && kdri_parse_decimal(p, end, point, value) == end;
}

size_t kdri_csv_copy(const kdri_csv_cell *cell, char *out, size_t room)
{
	size_t n = 0;
	for (const char *p = cell->begin; p < cell->end && n + 1 < room; p++) {
		out[n++] = *p;
		p += cell->quoted && *p == '"';
	}
	out[n] = '\0';
	return strlen(out);
}

kdr_status kdri_csv_text(kdr_context *ctx, const kdri_csv_cell *cell, char **out)
{
	char *text, *to;
	kdr_status st = kdri_strndup(ctx, cell->begin, (size_t)(cell->end - cell->begin), &text);
	if (st != KDR_OK)
		return st;
	to = text;
	for (const char *p = text; cell->quoted && *p; p++) {
		*to++ = *p;
		p += *p == '"';
	}
	if (cell->quoted)
		*to = '\0';
	*out = text;
	return KDR_OK;
}

kdr_status kdri_csv_unclosed(kdr_context *ctx, const kdri_window *w, const char *p)
{
	int64_t line = w->line + kdri_count_byte(w->data + w->begin, p, '\n') + 1;
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: missing closing quote", kdri_input_path(w->in),
	                 (long long)line);
}

/* --- fields --- */

int64_t kdri_field_number(const char *text)
{
	int64_t v;
	const char *end = text ? text + strlen(text) : NULL;
	return text && kdri_parse_int(text, end, &v) == end && v >= 1 ? v - 1 : -1;
}

int64_t kdri_csv_field(const kdri_csv_layout *l, const char *wanted)
{
	for (int64_t j = 0; l->names && j < l->fields; j++)
		if (strcmp(l->names[j], wanted) == 0)
			return j;
	/* Without a title: a number, or x1, x2, ... */
	int64_t number = kdri_field_number(!l->names && wanted[0] == 'x' ? wanted + 1 : wanted);
	return number >= 0 && number < l->fields ? number : -1;
}

const char *kdri_csv_title(const kdri_csv_layout *l, int64_t field, char room[24])
{
	if (l->names && l->names[field][0])
		return l->names[field];
	snprintf(room, 24, "x%lld", (long long)field + 1);
	return room;
}

const char *kdri_csv_text_column(const kdri_csv_layout *l, int64_t field, char room[24])
{
	const char *title = kdri_csv_title(l, field, room);
	return title == room ? room + 1 : title; /* x2 without the x */
}

kdr_status kdri_csv_no_column(kdr_context *ctx, const char *path, const kdri_csv_layout *l,
                              const char *wanted, const char *what)
{
	if (!l->names)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: there is no %scolumn '%s'; without a header, use a number from 1 to %lld", path,
		        what, wanted, (long long)l->fields);
	char list[128] = "";
	size_t used = 0;
	for (int64_t j = 0; j < l->fields && used < sizeof list - 24; j++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", j ? ", " : "",
		                         (int)(sizeof list - 24 - used), l->names[j]);
	return kdri_fail(ctx, KDR_ERR_DATA, "%s: there is no %scolumn '%s'; the %lld columns are %s%s", path,
	                 what, wanted, (long long)l->fields, list, used >= sizeof list - 24 ? " ..." : "");
}
