/* kindred cite: how to cite the program and a method. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/words.h"

#include <ctype.h>
#include <string.h>

/* The title is that of CITATION.cff. */
static void cite_software(void)
{
	printf("@software{kindred,\n"
	       "  author = {{The kindred authors}},\n"
	       "  title = {{kindred: clustering related data sets together, and transferring labels between them}},\n"
	       "  version = {%s},\n"
	       "  license = {BSD-3-Clause},\n}\n",
	       kdr_version());
}

/* The last year in a text, NULL if it has none. */
static const char *year_in(const char *text)
{
	const char *found = NULL;
	for (const char *p = text; *p; p++) {
		const bool start =
		        (p == text || !isdigit((unsigned char)p[-1])) &&
		        (strncmp(p, "18", 2) == 0 || strncmp(p, "19", 2) == 0 || strncmp(p, "20", 2) == 0);
		if (start && strspn(p, "0123456789") == 4)
			found = p;
	}
	return found;
}

/* "A. Author, B. Author: Title. Where, year. [KEY]" as an entry. */
static void cite_reference(const char *text)
{
	const char *title = strstr(text, ": "), *where = title ? strstr(title, ". ") : NULL;
	const char *year = where ? year_in(where) : NULL;
	const size_t names = title ? (size_t)(title - text) : 0;
	if (!year) {
		printf("\n@misc{reference,\n  note = {%s},\n}\n", text);
		return;
	}
	const size_t others = names > 7 && strncmp(text + names - 7, " et al.", 7) == 0 ? 7 : 0;
	size_t end = strcspn(text, ",:"); /* of the first author's name */
	end = end == names ? names - others : end;
	size_t last = end;
	while (last > 0 && text[last - 1] != ' ')
		last--;
	printf("\n@misc{");
	for (size_t i = last; i < end; i++)
		putchar(tolower((unsigned char)text[i]));
	printf("%.4s,\n  author = {", year);
	for (size_t i = 0; i < names - others; i++) {
		if (strncmp(text + i, ", ", 2) == 0) {
			fputs(" and ", stdout);
			i++;
		} else {
			putchar(text[i]);
		}
	}
	printf("%s},\n  title = {{%.*s}},\n", others ? " and others" : "", (int)(where - title - 2),
	       title + 2);
	where += 2;
	size_t length = (size_t)(year - where);
	while (length > 0 && strchr(", .", where[length - 1]))
		length--;
	if (length > 0) /* pages may follow the year */
		printf("  howpublished = {%.*s%.*s},\n", (int)length, where, (int)strcspn(year + 4, "."),
		       year + 4);
	printf("  year = {%.4s},\n}\n", year);
}

static int cite_run(cli_args *args)
{
	const char *id = cli_positional(args, 0);
	const kdr_algo *method = id ? kdr_algo_find(id) : NULL;
	if (cli_positional_count(args) > 1)
		return cli_usage_error("cite takes at most one METHOD (got %d)", cli_positional_count(args));
	if (id && !method) {
		char text[256];
		kdri_unknown_method(id, NULL, text, sizeof text);
		return cli_usage_error("%s", text);
	}
	cite_software();
	for (int i = 0; method && method->references[i]; i++)
		cite_reference(method->references[i]);
	return cli_finish(EXIT_DONE);
}

static cli_option_group groups[] = { { "Common", cli_common_options }, { NULL, NULL } };

const cli_command cli_cite = {
	.name = "cite",
	.usage = "[METHOD]",
	.summary = "print BibTeX entries for kindred and a method",
	.description =
	        "Prints a BibTeX entry for this version of kindred. With METHOD, also prints the references of "
	        "the method, its main reference first. 'kindred --cite' does the same.",
	.example = "kindred cite mbc",
	.groups = groups,
	.argument = cli_method_id,
	.run = cite_run,
};
