/* Options that have no effect: which option needs which, and on which files. SPDX-License-Identifier: BSD-3-Clause
 *
 * An option that would be ignored is an error, because the user expects something of it. Options of every command that only
 * concern how it runs (--seed, --threads, --progress, ...) and policies for what may not occur (--force, --missing) are always
 * accepted. What an option of a job needs is in the library's table (src/jobs/options.c), and the rest in the table below. */
#include "cli.h"
#include "core/system.h"

#include <string.h>

/* What the inputs are. */
enum {
	IN_TABLE = 1 << 0,  /* CSV, TSV, Excel */
	IN_CSV = 1 << 1,    /* those of plain text */
	IN_OBS = 1 << 2,    /* AnnData */
	IN_VAR = 1 << 6,    /* AnnData, but not its obsm, whose columns have no names */
	IN_JSON = 1 << 3,   /* JSON lines, with --text-column */
	IN_FOLDER = 1 << 4, /* of texts, or of 10x Genomics */
	IN_BOOK = 1 << 7,   /* Excel */
	IN_OTHER = 1 << 5
};

/* Options, separated by blanks, that have no effect unless one of `needs` is given, if one of `with` is given, or unless one of
 * the input files is of a kind in `files` (with `needs`: either of them is enough). NAME=VALUE means an option with this value; --no-NAME has the value 0. Names that
 * a command does not have are skipped. */
typedef struct rule {
	const char *options, *needs, *with;
	const char *because; /* with `with`: why */
	const char *unless;  /* with this option, the rule does not apply */
	const char *command; /* NULL: all that have the options */
	unsigned files;
	const char *kinds; /* with `files`: for the message */
} rule;

#define PREP "features weight norm scale top-features top-by fit-on"
#define TEXTS \
	"vectors strip-html strip-mail keep-subject tokens lowercase min-length max-length stop-words stemmer ngrams min-df max-df " \
	"vocabulary binary"

static const rule rules[] = {
	{ .options = "raw-cells", .needs = "output write-table" },
	{ .options = "write-columns", .needs = "write-table" },
	{ .options = "key-added", .needs = "write-h5ad" },
	{ .options = "both-views", .needs = "explain" },
	{ .options = "save-model into bridge",
	  .with = "both-views",
	  .because = "a model or a bridge has one view of the samples" },
	{ .options = TEXTS, .with = "into", .because = "the data get the preprocessing of the model" },
	{ .options = "score", .with = "truth", .because = "the classes in its files are used" },
	{ .options = "batch-key", .with = "task-column" },
	{ .options = "known-column",
	  .with = "known label-column score truth into",
	  .because = "a run takes the classes of samples from one place" },
	{ .options = "task-column batch-key",
	  .with = "task",
	  .because = "all samples belong to that data set" },
	{ .options =
	          "method set features-from features-set output report arrays save-model truth score target-labels "
	          "abstain ask guard probabilities write-h5ad write-table strict",
	  .with = "train-selector",
	  .because = "it only measures how related the sources are" },
	/* texts */
	{ .options = "columns missing na decimal thousands encoding rename recode transpose",
	  .with = "text-column",
	  .because = "only the words of that column are used",
	  .unless = "explain" }, /* they are for the data then */
	{ .options = "keep-subject", .needs = "strip-mail" },
	{ .options = "vectors",
	  .with = "explain",
	  .because = "samples are compared by the files of the data sets, and the texts only explain" },
	{ .options = "min-df max-df top-features", .with = "vocabulary", .because = "it sets the columns" },
	/* files */
	{ .options = "sheet", .files = IN_BOOK, .kinds = "an Excel file" },
	{ .options = "skip-rows header columns recode decimal thousands",
	  .files = IN_TABLE,
	  .kinds = "a CSV, TSV or Excel file" },
	{ .options = "delimiter encoding", .files = IN_CSV, .kinds = "a CSV or TSV file" },
	{ .options = "id-column", .files = IN_TABLE | IN_JSON, .kinds = "a table or a JSON-lines file" },
	{ .options = "feature-names",
	  .files = IN_VAR,
	  .kinds = "an AnnData file with features (obsm has none; add --explain X to explain by genes)" },
	{ .options = "label-column known-column",
	  .files = IN_TABLE | IN_JSON | IN_OBS,
	  .kinds = "a table, a JSON-lines file or an AnnData file" },
	{ .options = "text-column",
	  .files = IN_TABLE | IN_JSON,
	  .kinds = "a CSV, TSV, Excel or JSON-lines file" },
	/* single commands */
	{ .options = "names", .needs = "output write-table", .command = "predict" },
	{ .options = TEXTS, .needs = "text-column", .files = IN_FOLDER, .command = "inspect" },
	{ .options = "neighbors sweeps", .with = "layout=directions", .command = "embed" },
	{ .options = "to", .needs = "output", .command = "embed" },
	{ .options = "most-rows", .with = "mmd=0", .command = "relate" },
	{ .options = PREP " " TEXTS " method set features-from features-set",
	  .needs = "data",
	  .command = "evaluate" },
	{ .options =
	          "format label-column id-column feature-names skip-rows sheet header missing na columns rename recode delimiter decimal thousands encoding task-column "
	          "batch-key transpose stream text-column",
	  .needs = "data emd",
	  .command = "evaluate" },
	{ .options = "format", .with = "from", .command = "convert" },
	{ .options = "man", .with = "completion", .command = "help" },
	{ .options = "words length purity domain", .needs = "design=topics" },
	{ .options = "own-columns missing-cells unrelated", .needs = "design=tables" },
	{ .options = "dimensions noise-features shift imbalance", .with = "design=topics design=berikov" },
	{ .options = "separation", .with = "design=topics" },
	{ .options = "spread rotation", .with = "design=topics design=berikov design=tables" },
	{ .options = "tasks clusters samples missing", .with = "design=berikov", .command = "generate" },
};

/* --- words of a list ----------------------------------------------------------------------------------- */

bool cli_next_item(const char **list, cli_item *out)
{
	if (!*list)
		return false;
	*list += strspn(*list, " ");
	const size_t n = strcspn(*list, " ");
	snprintf(out->name, sizeof out->name, "%.*s", (int)n, *list);
	char *equals = strchr(out->name, '=');
	if (equals)
		*equals = '\0';
	out->value = equals ? equals + 1 : NULL;
	*list += n;
	return n > 0;
}

static bool is_given(const cli_args *args, const cli_item *w)
{
	const char *value = cli_get(args, w->name, NULL);
	return value && (w->value ? strcmp(value, w->value) == 0 : strcmp(value, "0") != 0);
}

/* "--layout directions", "--no-mmd" */
static void describe(const cli_item *w, char *out, size_t room)
{
	const bool negated = w->value && strcmp(w->value, "0") == 0;
	snprintf(out, room, "--%s%s%s%s", negated ? "no-" : "", w->name, w->value && !negated ? " " : "",
	         w->value && !negated ? w->value : "");
}

/* --- inputs -------------------------------------------------------------------------------------------- */

bool cli_has_ending(const char *path, const char *const *endings)
{
	for (; *endings; endings++) {
		const size_t n = strlen(path), m = strlen(*endings), packed = m + 3;
		if ((n > m && strcmp(path + n - m, *endings) == 0) ||
		    (n > packed && strncmp(path + n - packed, *endings, m) == 0 &&
		     strcmp(path + n - 3, ".gz") == 0))
			return true;
	}
	return false;
}

const char *const cli_json_endings[] = { ".jsonl", ".ndjson", ".json", NULL };

/* The kind of a file. 'vectorize' has its own way to specify it. */
static unsigned kind_of(const cli_args *args, const char *path)
{
	const bool corpus = cli_args_command(args) == &cli_vectorize;
	const char *from = corpus ? cli_get(args, "from", "") : "", *format = cli_get(args, "format", NULL);
	kdri_file info;
	char ending[32];
	if (strcmp(from, "folder") == 0 || (!*from && kdri_file_at(path, &info) && info.folder))
		return IN_FOLDER;
	if (format)
		snprintf(ending, sizeof ending, "x.%s", format);
	if (strcmp(from, "json") == 0 || (!*from && cli_has_ending(format ? ending : path, cli_json_endings)))
		return IN_JSON;
	const unsigned holds =
	        kdr_format_holds(strcmp(from, "table") == 0 ? "csv" : format, *from ? "" : path);
	const unsigned kind =
	        (holds & KDR_HOLDS_COLUMNS ? IN_TABLE : 0u) |
	        ((holds & (KDR_HOLDS_COLUMNS | KDR_HOLDS_CHARACTERS)) == KDR_HOLDS_COLUMNS ? IN_BOOK : 0u) |
	        (holds & KDR_HOLDS_CHARACTERS ? IN_CSV : 0u) | (holds & KDR_HOLDS_OBS ? IN_OBS : 0u) |
	        (holds & KDR_HOLDS_OBS && !strstr(path, "obsm/") ? IN_VAR : 0u);
	/* An unknown format is reported when the file is read. */
	return kind ? kind : holds || corpus ? IN_OTHER : ~0u;
}

/* The kinds of all inputs; 0: there are none. */
static unsigned kinds_of(const cli_args *args)
{
	static const char *const inputs[] = { "source", "bridge", "target", "data", "emd" };
	const cli_command *c = cli_args_command(args);
	const int files = c == &cli_evaluate ? 0 : c == &cli_convert ? 1 : cli_positional_count(args);
	unsigned kinds = 0;
	const char *given;
	for (int i = 0; i < files && (given = cli_positional(args, i)); i++)
		kinds |= kind_of(args, cli_task_at(given).path);
	for (size_t o = 0; o < sizeof inputs / sizeof inputs[0]; o++)
		for (int i = 0; (given = cli_get_nth(args, inputs[o], i)); i++)
			kinds |= kind_of(args, cli_task_at(given).path);
	if ((given = cli_get(args, "explain", NULL))) {
		const cli_list views = cli_list_split(given);
		for (int i = 0; i < views.count; i++)
			kinds |= kind_of(args, views.items[i]);
	}
	return kinds;
}

/* --- rules --------------------------------------------------------------------------------------------- */

/* Ends the program if this option, which is given and one of the rule's, has no effect. */
static void check_option(const cli_args *args, const rule *r, const char *option)
{
	cli_item w;
	char text[80], list[160] = "";
	for (const char *with = r->with; cli_next_item(&with, &w);)
		if (is_given(args, &w)) {
			describe(&w, text, sizeof text);
			cli_usage_error("--%s has no effect with %s%s%s; remove one of them", option, text,
			                r->because ? ": " : "", r->because ? r->because : "");
		}
	for (const char *needs = r->needs; cli_next_item(&needs, &w);) {
		if (is_given(args, &w))
			return;
		if (!cli_has_option(cli_args_command(args), w.name))
			continue;
		describe(&w, text, sizeof text);
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? " or " : "",
		         text);
	}
	const unsigned kinds = r->files ? kinds_of(args) : 0;
	if (kinds & r->files)
		return;
	if (list[0])
		cli_usage_error("--%s has no effect without %s; add it, or remove --%s", option, list,
		                option);
	if (kinds)
		cli_usage_error("--%s has no effect: no input is %s; remove it", option, r->kinds);
}

static void check_rule(const cli_args *args, const rule *r)
{
	cli_item w;
	for (const char *options = r->options; cli_next_item(&options, &w);)
		if (cli_get(args, w.name, NULL))
			check_option(args, r, w.name);
}

void cli_check_effects(const cli_args *args)
{
	const cli_command *command = cli_args_command(args);
	const kdr_job_option *o;
	for (size_t i = 0; (o = cli_job_option(cli_family(command), &i)); i++)
		check_rule(args, &(rule){ .options = o->name,
		                          .needs = o->needs,
		                          .with = o->excludes,
		                          .because = o->because });
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		const rule *r = &rules[i];
		/* Only commands that read data have options of files by these names. */
		if ((!r->command || strcmp(r->command, command->name) == 0) &&
		    !(r->unless && cli_get(args, r->unless, NULL)) &&
		    (!r->files || cli_has_option(command, "label-column")))
			check_rule(args, r);
	}
}
