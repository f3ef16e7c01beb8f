/* Cells of a text table, according to RFC 4180. SPDX-License-Identifier: BSD-3-Clause
 *
 * A quote opens a quoted cell only at the beginning of the cell (blanks before it are ignored); inside, two quotes mean
 * one and newlines are text. Anywhere else a quote is a character like any other. */
#include "io/table/csv.h"

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
