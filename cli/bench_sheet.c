/* Tables of kindred bench as Markdown, LaTeX and CSV. SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <math.h>
#include <string.h>

/* Text that LaTeX prints as it is. */
static void put_latex(FILE *out, const char *text)
{
	for (const char *p = text; *p; p++)
		if (strncmp(p, "±", 2) == 0) {
			fputs("$\\pm$", out);
			p++;
		} else if (*p == '\\') {
			fputs("\\textbackslash{}", out);
		} else if (*p == '~' || *p == '^') {
			fprintf(out, "\\%c{}", *p);
		} else if (*p == '<' || *p == '>' || *p == '|') {
			fprintf(out, "$%c$", *p);
		} else {
			if (strchr("&%$#_{}", *p))
				fputc('\\', out);
			fputc(*p, out);
		}
}

static void put_csv(FILE *out, const char *text)
{
	const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
	fputs(quoted ? "\"" : "", out);
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			fputc('"', out);
		fputc(*p, out);
	}
	fputs(quoted ? "\"" : "", out);
}

void bench_sheet_title(bench_sheet *s, const char *title)
{
	if (s->format == BENCH_MARKDOWN) {
		fprintf(s->out, "## %s\n\n", title);
		return;
	}
	fputs("\\begin{table}\n\\caption{", s->out);
	put_latex(s->out, title);
	fputs("}\n", s->out);
}

void bench_sheet_text(bench_sheet *s, const char *text)
{
	if (s->format == BENCH_LATEX)
		put_latex(s->out, text);
	else
		fputs(text, s->out);
}

void bench_sheet_begin(bench_sheet *s, int words, int numbers)
{
	s->words = words;
	s->numbers = numbers;
	s->header = true;
	fputc('\n', s->out);
	if (s->format != BENCH_LATEX)
		return;
	fputs("\\begin{tabular}{", s->out);
	for (int c = 0; c < words + numbers; c++)
		fputc(c < words ? 'l' : 'r', s->out);
	fputs("}\n\\hline\n", s->out);
}

void bench_sheet_cell(bench_sheet *s, const char *text)
{
	const bool first = s->cells++ == 0;
	if (s->format == BENCH_MARKDOWN) {
		fprintf(s->out, first ? "| %s |" : " %s |", text);
		return;
	}
	if (!first)
		fputs(s->format == BENCH_LATEX ? " & " : ",", s->out);
	(s->format == BENCH_LATEX ? put_latex : put_csv)(s->out, text);
}

void bench_sheet_number(bench_sheet *s, const char *format, double value)
{
	char text[64] = "";
	if (!isnan(value))
		snprintf(text, sizeof text, format, value);
	else if (s->missing)
		snprintf(text, sizeof text, "%s", s->missing);
	if (text[0] || s->format != BENCH_MARKDOWN) {
		bench_sheet_cell(s, text);
		return;
	}
	s->cells++;
	fputs(" |", s->out);
}

void bench_sheet_end_row(bench_sheet *s)
{
	fputs(s->format == BENCH_LATEX ? " \\\\\n" : "\n", s->out);
	s->cells = 0;
	if (!s->header)
		return;
	s->header = false;
	if (s->format == BENCH_LATEX)
		fputs("\\hline\n", s->out);
	if (s->format != BENCH_MARKDOWN)
		return;
	fputc('|', s->out);
	for (int c = 0; c < s->words + s->numbers; c++)
		fputs(c < s->words ? "---|" : "---:|", s->out);
	fputc('\n', s->out);
}

void bench_sheet_finish(bench_sheet *s)
{
	fputs(s->format == BENCH_LATEX ? "\\hline\n\\end{tabular}\n\\end{table}\n\n" : "\n", s->out);
}
