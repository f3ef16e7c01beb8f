/* Help, manual pages and completions, all from the command tables. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 28 };

/* Words of `text` from column `at` on, continued at `indent`. */
void cli_wrapped(FILE *out, const char *text, int at, int indent)
{
	int column = at;
	while (*text) {
		size_t word = strcspn(text, " \n");
		if (column > indent && column + 1 + (int)word > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, word, out);
		column += (int)word;
		text += word;
		if (strncmp(text, "\n\n", 2) == 0) {
			fprintf(out, "\n\n%*s", indent, "");
			column = indent;
			text += 2;
		}
		while (*text == ' ' || *text == '\n')
			text++;
	}
	fputc('\n', out);
}

/* "-k, --clusters=K" */
static int option_text(const cli_option *o, char *out, size_t room)
{
	char letter[8] = "    ";
	if (o->letter)
		snprintf(letter, sizeof letter, "-%c, ", o->letter);
	return snprintf(out, room, "%s--%s%s%s%s", letter, o->negatable ? "[no-]" : "", o->name,
	                o->value ? " " : "", o->value ? o->value : "");
}

/* The help of an option, with the values it can have unless the help has all of them. */
static void help_text(const cli_option *o, char *out, size_t room)
{
	size_t used = (size_t)snprintf(out, room, "%s", o->help);
	const char *const *choices = cli_choices(o);
	bool listed = true;
	for (int i = 0; choices && choices[i]; i++)
		listed = listed && strstr(o->help, choices[i]);
	for (int i = 0; !listed && choices[i] && used < room; i++)
		used += (size_t)snprintf(out + used, room - used, "%s%s",
		                         i ? ", " : "; one of: ", choices[i]);
}

static void print_options(FILE *out, const cli_option_group *groups)
{
	for (const cli_option_group *g = groups; g->title; g++) {
		fprintf(out, "\n%s:\n", g->title);
		for (const cli_option *o = g->options; o->name; o++) {
			char left[96], right[640];
			int n = option_text(o, left, sizeof left);
			help_text(o, right, sizeof right);
			fprintf(out, "  %s", left);
			if (n + 2 >= INDENT - 1)
				fprintf(out, "\n%*s", INDENT, "");
			else
				fprintf(out, "%*s", INDENT - n - 2, "");
			cli_wrapped(out, right, INDENT, INDENT);
		}
	}
}

void cli_help_command(FILE *out, const cli_command *c)
{
	const int used = fprintf(out, "Usage: kindred %s", c->name);
	cli_wrapped(out, c->usage, used, 10);
	fputc('\n', out);
	cli_wrapped(out, c->description, 0, 0);
	fprintf(out, "\nExample:\n");
	for (const char *line = c->example; *line;) {
		size_t n = strcspn(line, "\n");
		fprintf(out, "  %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	print_options(out, c->groups);
}

void cli_help_overview(FILE *out)
{
	fprintf(out,
	        "kindred %s: joint clustering and label transfer for related data sets\n\n"
	        "Usage: kindred COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n",
	        kdr_version());
	for (cli_command *const *c = cli_commands; *c; c++)
		fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fprintf(out,
	        "\nStart here:\n"
	        "  kindred demo                            # cluster built-in example data\n"
	        "  kindred cluster -k 3 -o out data.csv    # cluster a table\n"
	        "  kindred help COMMAND                    # the options of a command, with an example\n\n"
	        "Exit status: 0 success; 2 incorrect command line; 3 invalid or unreadable data;\n"
	        "4 numerical failure; 5 not converged with --strict; 130 interrupted; 1 any other\n"
	        "error.\n");
}

/* --- manual pages --------------------------------------------------------------------------------- */

/* roff treats leading dots and quotes, backslashes and dashes specially. */
static void roff(FILE *out, const char *text)
{
	bool line_start = true;
	for (const char *p = text; *p; p++) {
		if (strncmp(p, "\n\n", 2) == 0) {
			fputs("\n.PP\n", out);
			p++;
			line_start = true;
			continue;
		}
		if (line_start && (*p == '.' || *p == '\''))
			fputs("\\&", out);
		if (*p == '-')
			fputs("\\-", out);
		else if (*p == '\\')
			fputs("\\e", out);
		else
			fputc(*p, out);
		line_start = *p == '\n';
	}
}

static void man_upper(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), out);
}

static void man_options(FILE *out, const cli_command *c)
{
	fprintf(out, ".SH OPTIONS\n");
	for (const cli_option_group *g = c->groups; g->title; g++) {
		fprintf(out, ".SS \"");
		roff(out, g->title);
		fprintf(out, "\"\n");
		for (const cli_option *o = g->options; o->name; o++) {
			char right[640];
			help_text(o, right, sizeof right);
			fprintf(out, ".TP\n");
			if (o->letter)
				fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
			fprintf(out, "\\fB\\-\\-%s", o->negatable ? "[no\\-]" : "");
			roff(out, o->name);
			fprintf(out, "\\fR");
			if (o->value) {
				fprintf(out, " \\fI");
				roff(out, o->value);
				fprintf(out, "\\fR");
			}
			fputc('\n', out);
			roff(out, right);
			fprintf(out, ".\n");
		}
	}
}

static const char man_exit_status[] =
        ".SH EXIT STATUS\n"
        ".TP\n0\nsuccess.\n"
        ".TP\n2\nincorrect command line.\n"
        ".TP\n3\ninvalid or unreadable data.\n"
        ".TP\n4\nnumerical failure.\n"
        ".TP\n5\nnot converged, with \\-\\-strict.\n"
        ".TP\n130\ninterrupted; the best result so far is written if \\-o was given.\n"
        ".TP\n1\nany other error.\n";

void cli_man(FILE *out, const cli_command *c)
{
	if (!c) {
		fprintf(out,
		        ".TH KINDRED 1 \"\" \"kindred %s\" \"User Commands\"\n.SH NAME\nkindred \\- joint clustering and label transfer "
		        "for related data sets\n.SH SYNOPSIS\n.B kindred\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
		        ".SH DESCRIPTION\nClusters several related data sets together, and transfers labels from a labelled "
		        "data set to an unlabelled one.\n.SH COMMANDS\n",
		        kdr_version());
		for (cli_command *const *each = cli_commands; *each; each++) {
			fprintf(out, ".TP\n\\fBkindred\\-%s\\fR(1)\n", (*each)->name);
			roff(out, (*each)->summary);
			fprintf(out, "\n");
		}
		fputs(man_exit_status, out);
		return;
	}
	fprintf(out, ".TH KINDRED\\-");
	man_upper(out, c->name);
	fprintf(out, " 1 \"\" \"kindred %s\" \"User Commands\"\n.SH NAME\nkindred\\-%s \\- ", kdr_version(),
	        c->name);
	roff(out, c->summary);
	fprintf(out, "\n.SH SYNOPSIS\n.B kindred %s\n", c->name);
	roff(out, c->usage);
	fprintf(out, "\n.SH DESCRIPTION\n");
	roff(out, c->description);
	fprintf(out, "\n");
	man_options(out, c);
	fprintf(out, ".SH EXAMPLE\n.nf\n");
	roff(out, c->example);
	fprintf(out, "\n.fi\n");
	fputs(man_exit_status, out);
	fprintf(out, ".SH SEE ALSO\n\\fBkindred\\fR(1)\n");
}

/* --- shell completion: what can be completed comes from the tables of commands ---------------------- */

/* The values of an option, separated by blanks; false if any text is allowed. */
static bool put_values(FILE *out, const cli_option *o)
{
	const char *const *choices = cli_choices(o);
	const bool method = !choices && strcmp(o->name, "method") == 0;
	for (int i = 0; choices && choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", choices[i]);
	for (size_t i = 0; method && i < kdr_algo_count(); i++)
		fprintf(out, "%s%s", i ? " " : "", kdr_algo_at(i)->id);
	return choices || method;
}

/* The arguments of a command that are no files. */
static void put_arguments(FILE *out, const cli_command *c)
{
	const char *value;
	for (int i = 0; c->argument && (value = c->argument(i)); i++)
		fprintf(out, "%s%s", i ? " " : "", value);
}

static bool has_values(const cli_option *o)
{
	return cli_choices(o) || strcmp(o->name, "method") == 0;
}

void cli_completion_bash(FILE *out)
{
	const cli_option *o;
	fprintf(out,
	        "# bash completion for kindred; made by 'kindred help --completion bash'\n_kindred()\n{\n"
	        "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	        "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W \"");
	for (cli_command *const *c = cli_commands; *c; c++)
		fprintf(out, "%s%s", c == cli_commands ? "" : " ", (*c)->name);
	fprintf(out, "\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tlocal words='' arguments='' files=-f\n"
	             "\tcase ${COMP_WORDS[1]} in\n");
	for (cli_command *const *c = cli_commands; *c; c++) {
		fprintf(out, "\t%s)\n\t\tcase $prev in\n", (*c)->name);
		for (int i = 0; (o = cli_option_at(*c, i)); i++) {
			if (!has_values(o))
				continue;
			fprintf(out, "\t\t--%s%s%c) words='", o->name, o->letter ? "|-" : "",
			        o->letter ? o->letter : ' ');
			put_values(out, o);
			fprintf(out, "'; COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return ;;\n");
		}
		fprintf(out, "\t\tesac\n\t\twords='");
		for (int i = 0; (o = cli_option_at(*c, i)); i++)
			fprintf(out, o->negatable ? "--%s --no-%s " : "--%s ", o->name, o->name);
		if ((*c)->argument) {
			fprintf(out, "'\n\t\targuments='");
			put_arguments(out, *c);
			fprintf(out, "' files='");
		}
		fprintf(out, "'\n\t\t;;\n");
	}
	fprintf(out, "\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	             "\t*) COMPREPLY=($(compgen -W \"$arguments\" $files -- \"$cur\")) ;;\n\tesac\n}\n"
	             "complete -o filenames -F _kindred kindred\n");
}

/* Inside a zsh _arguments spec: brackets, colons and quotes are special. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* The option as --NAME, --no-NAME or -LETTER. */
KDR_PRINTF(3, 4)
static void zsh_option(FILE *out, const cli_option *o, const char *format, ...)
{
	va_list args;
	fprintf(out, "\t\t\t'%s", o->repeats ? "*" : "");
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('[', out);
	zsh_text(out, o->help);
	fputc(']', out);
	if (o->value) {
		fputc(':', out);
		zsh_text(out, o->value);
		fputs(has_values(o) ? ":(" : ":", out);
		fputs(put_values(out, o) ? ")" : "_files", out);
	}
	fputs("' \\\n", out);
}

/* Words or files. */
static void zsh_arguments(FILE *out, const cli_command *c)
{
	if (!c->argument) {
		fprintf(out, "\t\t\t'*:file:_files'\n");
		return;
	}
	fprintf(out, "\t\t\t'*:argument:(");
	put_arguments(out, c);
	fprintf(out, ")'\n");
}

void cli_completion_zsh(FILE *out)
{
	const cli_option *o;
	fprintf(out,
	        "#compdef kindred\n# zsh completion for kindred; made by 'kindred help --completion zsh'\n_kindred() {\n"
	        "\tlocal -a commands=(\n");
	for (cli_command *const *c = cli_commands; *c; c++) {
		fprintf(out, "\t\t'%s:", (*c)->name);
		zsh_text(out, (*c)->summary);
		fprintf(out, "'\n");
	}
	fprintf(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	             "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n");
	for (cli_command *const *c = cli_commands; *c; c++) {
		fprintf(out, "\t%s)\n\t\t_arguments \\\n", (*c)->name);
		for (int i = 0; (o = cli_option_at(*c, i)); i++) {
			zsh_option(out, o, "--%s", o->name);
			if (o->negatable)
				zsh_option(out, o, "--no-%s", o->name);
			if (o->letter)
				zsh_option(out, o, "-%c", o->letter);
		}
		zsh_arguments(out, *c);
		fprintf(out, "\t\t;;\n");
	}
	fprintf(out, "\tesac\n}\n_kindred \"$@\"\n");
}

/* Inside single quotes of fish: quotes and backslashes are special. */
static void fish_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void fish_option(FILE *out, const cli_command *c, const cli_option *o)
{
	fprintf(out, "complete -c kindred -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
	if (o->letter)
		fprintf(out, " -s %c", o->letter);
	if (o->value && has_values(o)) {
		fprintf(out, " -x -a '");
		put_values(out, o);
		fputc('\'', out);
	} else if (o->value) {
		fprintf(out, " -r -F");
	}
	fprintf(out, " -d '");
	fish_text(out, o->help);
	fprintf(out, "'\n");
	if (o->negatable)
		fprintf(out, "complete -c kindred -n '__fish_seen_subcommand_from %s' -l no-%s\n", c->name,
		        o->name);
}

void cli_completion_fish(FILE *out)
{
	const cli_option *o;
	fprintf(out, "# fish completion for kindred; made by 'kindred help --completion fish'\n"
	             "complete -c kindred -f\n");
	for (cli_command *const *c = cli_commands; *c; c++) {
		fprintf(out, "complete -c kindred -n __fish_use_subcommand -a %s -d '", (*c)->name);
		fish_text(out, (*c)->summary);
		fprintf(out, "'\n");
		for (int i = 0; (o = cli_option_at(*c, i)); i++)
			fish_option(out, *c, o);
		if ((*c)->completes_files)
			fprintf(out, "complete -c kindred -n '__fish_seen_subcommand_from %s' -F\n",
			        (*c)->name);
		if ((*c)->argument) {
			fprintf(out, "complete -c kindred -n '__fish_seen_subcommand_from %s' -a '",
			        (*c)->name);
			put_arguments(out, *c);
			fprintf(out, "'\n");
		}
	}
}
