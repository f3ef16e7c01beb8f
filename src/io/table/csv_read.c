/* Text tables (CSV, TSV): the stages of reading. SPDX-License-Identifier: BSD-3-Clause
 *
 * A table is first read as a table of plain numbers, in one pass. If a cell is not a number, or if row names that were
 * guessed from the first rows repeat, every cell is inspected, the kind of each column is detected, and the table is
 * read accordingly. If a column of numbers turns out to be row names, the table is read again with these. For a table
 * that is read in parts, all cells are inspected, so that columns are the same in every part, and then the rows of the
 * part are read. */
#include <stdio.h>

#include "core/utf8.h"
#include "io/table/csv.h"
#include "io/table/table.h"

/* The cells of some rows of a table of text. */

typedef struct picker {
	kdr_context *ctx;
	const kdri_dialect *dialect;
	const int64_t *place; /* by data row: which row of `cells` it becomes, or -1 */
	int64_t rows, at;     /* rows: entries of place; at: data rows read */
	bool header;          /* still to come */
	int64_t above;        /* rows above it, likewise */
	char **titles, **cells;
} picker;

static kdr_status pick_cells(const picker *p, const char *row, char **out)
{
	kdri_csv_cell cell;
	const char *at = row;
	for (int64_t f = 0; f < p->dialect->fields && at; f++) {
		cell = kdri_csv_cell_at(at, p->dialect->delimiter);
		KDRI_DO(kdri_csv_text(p->ctx, &cell, &out[f]));
		at = *cell.stop == '\n' ? NULL : cell.stop + 1;
	}
	return KDR_OK;
}

static kdr_status pick_row(void *user, const char *row, const char *end, bool added)
{
	picker *p = user;
	(void)end;
	(void)added;
	if (p->above-- > 0)
		return KDR_OK;
	const char *q = row;
	while (kdri_is_blank(*q) && *q != p->dialect->delimiter)
		q++;
	if (kdri_at_newline(q))
		return KDR_OK;
	if (p->header) {
		p->header = false;
		return pick_cells(p, row, p->titles);
	}
	const int64_t to = p->at < p->rows ? p->place[p->at] : -1;
	p->at++;
	return to >= 0 ? pick_cells(p, row, p->cells + to * p->dialect->fields) : KDR_OK;
}

kdr_status kdri_csv_pick(kdr_context *ctx, const char *input, const kdri_dialect *dialect,
                         const int64_t *place, int64_t rows, char **titles, char **cells)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_window w = { 0 };
	picker p = { .ctx = ctx,
		     .dialect = dialect,
		     .place = place,
		     .rows = rows,
		     .header = dialect->header,
		     .above = dialect->above,
		     .titles = titles,
		     .cells = cells };
	KDRI_TRY(kdri_input_open(ctx, input, &in));
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	w.recode.from = (kdri_encoding)dialect->encoding;
	w.recode.returns = dialect->returns;
	KDRI_TRY(kdri_window_fill(ctx, &w));
	kdri_csv_skip_start(&w);
	KDRI_TRY(kdri_csv_each_row(ctx, &w, dialect->delimiter, pick_row, &p));
	KDRI_TRY(kdri_csv_same_rows(ctx, input, p.at, rows));
done:
	kdri_window_close(ctx, &w);
	kdri_input_close(ctx, in);
	return st;
}

/* The beginning of a table of text: its encoding, its lines, its first rows. */

static kdr_status parse_encoding(kdr_context *ctx, const char *text, kdri_encoding *out)
{
	static const struct {
		const char *name;
		kdri_encoding encoding;
	} names[] = {
		{ "utf-8", KDRI_UTF8 },     { "utf8", KDRI_UTF8 },         { "latin-1", KDRI_LATIN1 },
		{ "latin1", KDRI_LATIN1 },  { "iso-8859-1", KDRI_LATIN1 }, { "windows-1252", KDRI_LATIN1 },
		{ "cp1252", KDRI_LATIN1 },  { "utf-16le", KDRI_UTF16LE },  { "utf-16be", KDRI_UTF16BE },
		{ "utf-16", KDRI_UTF16LE },
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (kdri_same_word(text, strlen(text), names[i].name)) {
			*out = names[i].encoding;
			return KDR_OK;
		}
	return kdri_fail(ctx, KDR_ERR_OPTION,
	                 "unknown encoding '%.40s'; use utf-8, latin-1, utf-16le or utf-16be", text);
}

/* "," ";" "tab" "|" and their names; *out is unchanged if no delimiter is specified. */
static kdr_status delimiter_read(kdr_context *ctx, const char *text, char *out)
{
	if (!text)
		return KDR_OK;
	if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
		text = "\t";
	else if (strcmp(text, "comma") == 0)
		text = ",";
	else if (strcmp(text, "semicolon") == 0)
		text = ";";
	else if (strcmp(text, "bar") == 0 || strcmp(text, "pipe") == 0)
		text = "|";
	unsigned char c = (unsigned char)text[0];
	if (c == '\0' || text[1] || c >= 0x80 || c == '"' || c == '\n' || c == '\r' || (c >= '0' && c <= '9'))
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "delimiter '%.20s' is not valid; use one character such as , ; | or tab",
		                 text);
	*out = (char)c;
	return KDR_OK;
}

/* Fills the window from the beginning of the input, once the encoding is known. */
static kdr_status csv_start_refill(kdr_context *ctx, kdri_window *w)
{
	const kdri_recode recode = { .from = w->recode.from, .returns = w->recode.returns };
	KDRI_DO(kdri_input_rewind(ctx, w->in));
	w->begin = w->end = 0;
	w->last = false;
	w->recode = recode;
	KDRI_DO(kdri_window_fill(ctx, w));
	if (w->end >= 3 && memcmp(w->data, "\xef\xbb\xbf", 3) == 0) /* the byte order mark */
		w->begin = 3;
	return KDR_OK;
}

kdr_status kdri_csv_start(kdr_context *ctx, kdri_input *in, const kdr_read_options *o, char delimiter,
                          kdri_window *w, kdri_csv_layout *l)
{
	kdri_encoding encoding;
	size_t mark = 0;
	bool latin = l->latin; /* known from an earlier pass over the entire file */
	KDRI_DO(delimiter_read(ctx, o->delimiter, &delimiter));
	kdri_window_close(ctx, w);
	KDRI_DO(kdri_input_rewind(ctx, in));
	KDRI_DO(kdri_window_open(ctx, in, w));
	KDRI_DO(kdri_window_fill(ctx, w));
	encoding = kdri_encoding_find(w->data, w->end, w->last, &mark);
	if (latin)
		encoding = KDRI_LATIN1;
	if (encoding == KDRI_LATIN1 && !o->encoding) {
		kdri_charset_counts counts = { 0 };
		kdri_charset_count(w->data, w->end, &counts);
		const kdri_charset charset = kdri_charset_find(&counts);
		if (charset != KDRI_CHARSET_NONE)
			return kdri_fail(
			        ctx, KDR_ERR_FORMAT,
			        "%s: appears to be encoded in %s; convert it to UTF-8 first, or use --encoding 'latin-1' if this is wrong",
			        kdri_input_path(in), kdri_charset_name(charset));
	}
	if (o->encoding)
		KDRI_DO(parse_encoding(ctx, o->encoding, &encoding));
	if (o->encoding && mark == 2) /* the byte order mark determines which of the two */
		encoding = w->data[0] == '\xff' ? KDRI_UTF16LE : KDRI_UTF16BE;
	w->recode.from = encoding;
	w->begin = encoding == KDRI_UTF8 ? mark : 0;
	if (encoding != KDRI_UTF8)
		KDRI_DO(csv_start_refill(ctx, w));
	/* Lines that end as on old Macintosh computers: a full window without a newline, except for the one added at
	 * the end. */
	const char *text = w->data + w->begin;
	size_t length = w->end - w->begin - (w->last && w->end > w->begin);
	const char *first = memchr(text, '\n', length) ? NULL : memchr(text, '\r', length);
	if (first && first + 1 < text + length) {
		w->recode.returns = true;
		KDRI_DO(csv_start_refill(ctx, w));
	}
	const char *zero = memchr(w->data + w->begin, '\0', w->end - w->begin);
	if (zero)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT, "%s: line %lld contains a zero byte; a text file is needed",
		        kdri_input_path(in), (long long)kdri_count_byte(w->data + w->begin, zero, '\n') + 1);
	kdri_csv_layout_free(ctx, l);
	KDRI_DO(kdri_csv_layout_find(ctx, w, o, delimiter, l));
	l->latin = encoding == KDRI_LATIN1;
	return KDR_OK;
}

/* What reading a table takes. */
typedef struct reading {
	kdri_input *in;
	const kdr_read_options *options;
	char delimiter;
	kdri_missing missing;
	kdri_column_specs specs;
	kdri_window w;
	kdri_csv_layout l;
	kdri_csv_table t;
	int64_t rows;        /* of the file, if all were inspected */
	kdr_findings *found; /* by the inspection; NULL: there was none */
	char total
	        [KDRI_TEXT_LONGEST +
	         1]; /* the only text in a column of numbers, in the last row: a word for totals; "": there is none */
	const char **na;   /* kdr_read_options.na with this text */
	int64_t total_row; /* number of the last row, which was left out; 0: it was not */
	char *total_id;
} reading;

static void close_reading(kdr_context *ctx, reading *r)
{
	kdri_csv_table_free(ctx, &r->t);
	kdri_column_specs_free(ctx, &r->specs);
	kdri_csv_layout_free(ctx, &r->l);
	kdri_window_close(ctx, &r->w);
	kdr_findings_free(r->found);
	KDRI_FREE(ctx, r->na, r->total_id);
}

static kdr_status open_reading(kdr_context *ctx, kdri_input *in, const kdr_read_options *options,
                               char delimiter, reading *r)
{
	static const kdr_read_options none = { .size = sizeof(kdr_read_options) };
	*r = (reading){ .in = in, .options = options ? options : &none, .delimiter = delimiter };
	KDRI_DO(kdri_missing_read(ctx, r->options->missing, &r->missing));
	KDRI_DO(kdri_column_specs_read(ctx, r->options->columns, &r->specs));
	KDRI_DO(kdri_input_hold(ctx, in));
	return kdri_csv_start(ctx, in, r->options, delimiter, &r->w, &r->l);
}

/* Reads again from the beginning, with the current roles. */
static kdr_status read_again(kdr_context *ctx, reading *r)
{
	kdr_status st;
	kdri_csv_layout fresh = { .latin = r->l.latin, .id = -1, .label = -1, .tasks = -1 };
	kdri_csv_table_free(ctx, &r->t);
	r->t.part = r->options->parts > 0;
	r->t.keep = kdri_range_of(r->options, r->rows);
	KDRI_TRY(kdri_csv_start(ctx, r->in, r->options, r->delimiter, &r->w, &fresh));
	if (fresh.fields != r->l.fields) { /* another process is writing to it */
		KDRI_FAIL(ctx, KDR_ERR_READ, "%s: the file changed while it was read",
		          kdri_input_path(r->in));
	}
	KDRI_TRY(kdri_csv_rows(ctx, &r->w, &r->l, &r->t, NULL));
done:
	kdri_csv_layout_free(ctx, &fresh);
	return st;
}

/* Inspects every cell from the window on. The first rows are taken one after the other, because hardly any of their cells are like
 * earlier ones; how many has no influence on the result. */
enum { KDRI_SURVEY_FIRST = 300 };

/* Inspects every cell and decides. */
static kdr_status survey(kdr_context *ctx, reading *r, bool remark, kdr_findings *findings)
{
	kdr_status st;
	kdri_survey s = { 0 };
	KDRI_TRY(kdri_survey_run(ctx, &r->w, &r->l, KDRI_SURVEY_FIRST, &s));
	if (s.not_utf8 && !r->options->encoding) { /* beyond the first window: all of it is Latin-1 then */
		kdri_survey_free(ctx, &r->l, &s);
		r->l.latin = true;
		KDRI_TRY(kdri_csv_start(ctx, r->in, r->options, r->delimiter, &r->w, &r->l));
		KDRI_TRY(kdri_survey_run(ctx, &r->w, &r->l, KDRI_SURVEY_FIRST, &s));
	}
	r->rows = s.rows;
	for (int64_t j = 0; j < r->l.fields; j++) {
		const kdri_evidence *e = &s.fields[j];
		if (e->numbers > 0 && e->numbers + 1 == e->cells - e->missing && e->text_row + 1 == s.rows &&
		    kdri_says_total(e->text, strlen(e->text)))
			memcpy(r->total, e->text, sizeof r->total);
	}
	KDRI_TRY(kdri_kinds_decide(ctx, kdri_input_path(r->in), r->options, &r->specs, &s, &r->l, findings));
	if (remark)
		KDRI_TRY(kdri_table_remark(ctx, r->missing, &s, &r->l, findings));
	if (remark)
		KDRI_TRY(kdri_named_remark(ctx, &r->specs, &r->l, findings));
done:
	kdri_survey_free(ctx, &r->l, &s);
	return st;
}

/* Results that need the numbers of all rows are not available for a part of them. */
static kdr_status check_part(kdr_context *ctx, const reading *r)
{
	char title[24];
	if (r->options->parts < 1)
		return KDR_OK;
	if (r->missing != KDRI_MISSING_ERROR && r->missing != KDRI_MISSING_ZERO &&
	    r->missing != KDRI_MISSING_KEEP)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: --missing %s needs all rows, but the table is read in parts here; use error, zero or keep",
		        kdri_input_path(r->in), r->options->missing);
	for (int64_t j = 0; j < r->l.fields; j++)
		if (r->l.roles[j].kind == KDR_COLUMN_DATE)
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "%s: column %lld (%s) has dates, which are counted from the earliest of all rows, but the table is read in parts here; use --columns '-%s' to skip it",
			        kdri_input_path(r->in), (long long)j + 1, kdri_csv_title(&r->l, j, title),
			        kdri_csv_title(&r->l, j, title));
	return KDR_OK;
}

static kdr_status read_mixed(kdr_context *ctx, reading *r)
{
	KDRI_DO(KDRI_NEW0(ctx, &r->found, 1));
	r->found->allocator = ctx->allocator;
	KDRI_DO(kdri_csv_start(ctx, r->in, r->options, r->delimiter, &r->w, &r->l));
	KDRI_DO(survey(ctx, r, false, r->found));
	for (int64_t i = 0; i < r->found->count; i++)
		if (r->found->items[i].fatal)
			return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: %s; %s", kdri_input_path(r->in),
			                 r->found->items[i].found, r->found->items[i].then);
	KDRI_DO(check_part(ctx, r));
	return read_again(ctx, r);
}

/* Whether the values of a column leave open what its points are: all have at most three decimals, and those with decimals are from 1 to
 * 1000, as if these were thousands. *point: one of them needs a decimal point. */
static bool column_of_thousands(const kdri_csv_table *t, int64_t cols, int64_t j, bool *point)
{
	bool decimals = false;
	for (int64_t i = 0; i < t->rows; i++) {
		const double x = fabs(t->values[i * cols + j]), thousand = 1000 * x;
		if (isnan(x) || x == floor(x))
			continue;
		*point = x < 1 || x >= 1000 || fabs(thousand - nearbyint(thousand)) > 1e-6;
		if (*point)
			return false;
		decimals = true;
	}
	return decimals;
}

/* Whether those of a table of plain numbers do. A column that needs a point decides for the others, unless types differ. */
static bool may_be_thousands(const kdri_csv_layout *l, const kdri_csv_table *t)
{
	bool any = false, point = false;
	if (l->point_given || (l->delimiter == ',' && !l->typed))
		return false;
	for (int64_t j = 0; j < l->cols && (l->typed || !point); j++)
		any = column_of_thousands(t, l->cols, j, &point) || any;
	return any && (l->typed || !point);
}

/* Whether the cells leave it open, too: 12.5 does not. */
static kdr_status points_unclear(kdr_context *ctx, reading *r, bool *out)
{
	kdr_status st = KDR_OK;
	kdri_csv_layout fresh = { .latin = r->l.latin, .id = -1, .label = -1, .tasks = -1 };
	kdri_survey s = { 0 };
	*out = false;
	if (!may_be_thousands(&r->l, &r->t))
		return KDR_OK;
	KDRI_TRY(kdri_csv_start(ctx, r->in, r->options, r->delimiter, &r->w, &fresh));
	KDRI_TRY(kdri_survey_run(ctx, &r->w, &fresh, KDRI_SURVEY_FIRST, &s));
	*out = kdri_decimals_unclear(&s, &fresh);
done:
	kdri_survey_free(ctx, &fresh, &s);
	kdri_csv_layout_free(ctx, &fresh);
	return st;
}

static kdr_status read_table(kdr_context *ctx, reading *r)
{
	bool plain, text = false, differ = true, unclear = false, ids = false;
	KDRI_DO(kdri_kinds_plain(ctx, kdri_input_path(r->in), &r->specs, &r->l, &plain));
	plain = plain && r->options->parts < 1 && !r->l.recoded;
	if (plain)
		KDRI_DO(kdri_csv_rows(ctx, &r->w, &r->l, &r->t, &text));
	if (plain && !text && r->l.guessed)
		KDRI_DO(kdri_ids_differ(ctx, &r->t, &differ));
	/* What would be row names may be what the table is about: decided with the other columns. */
	if (plain && !text && r->l.guessed && r->specs.count == 0)
		differ = differ && !kdri_are_prose(r->t.ids, KDRI_MIN(r->t.rows, KDRI_TEXTS_MOST));
	if (plain && !text && differ)
		KDRI_DO(points_unclear(ctx, r, &unclear));
	if (!plain || text || !differ || unclear) {
		kdri_csv_table_free(ctx, &r->t);
		return read_mixed(ctx, r);
	}
	KDRI_DO(kdri_table_find_ids(ctx, kdri_input_path(r->in), &r->specs, &r->l, &r->t, &ids));
	if (ids)
		KDRI_DO(read_again(ctx, r));
	return KDR_OK;
}

/* Whether the last of `rows` rows says that it sums up the others. */
typedef struct last_row {
	char delimiter;
	int64_t rows, at;
	bool says;
} last_row;

static kdr_status look_for_total(void *user, const char *row, const char *end, bool added)
{
	last_row *x = user;
	const char *q = row;
	(void)end;
	(void)added;
	while (kdri_is_blank(*q) && *q != x->delimiter)
		q++;
	if (kdri_at_newline(q) || ++x->at != x->rows)
		return KDR_OK;
	for (const char *p = row;; p++) {
		const kdri_csv_cell cell = kdri_csv_cell_at(p, x->delimiter);
		x->says = x->says || kdri_says_total(cell.begin, (size_t)(cell.end - cell.begin));
		p = cell.stop;
		if (*p == '\n')
			return KDR_OK;
	}
}

static kdr_status leave_out_total(kdr_context *ctx, reading *r)
{
	kdr_status st = KDR_OK;
	kdri_csv_layout fresh = { .latin = r->l.latin, .id = -1, .label = -1, .tasks = -1 };
	last_row x = { .delimiter = r->l.delimiter, .rows = r->t.rows };
	if (r->options->transpose || r->t.part || !kdri_may_be_total(&r->l, &r->t, &x.says))
		return KDR_OK;
	if (!x.says) {
		KDRI_TRY(kdri_csv_start(ctx, r->in, r->options, r->delimiter, &r->w, &fresh));
		KDRI_TRY(kdri_csv_each_row(ctx, &r->w, x.delimiter, look_for_total, &x));
	}
	if (x.says) {
		r->total_row = r->t.rows;
		KDRI_TRY(kdri_drop_last(ctx, &r->l, &r->t, &r->total_id));
	}
done:
	kdri_csv_layout_free(ctx, &fresh);
	return st;
}

/* Reads a table in which a word for totals is the only text in a column of numbers, in the last row: as a missing value, if that row is
 * left out. `why`: the error otherwise. */
static kdr_status read_with_total(kdr_context *ctx, reading *r, const char *why)
{
	const kdr_read_options *before = r->options;
	kdr_read_options own = *before;
	int64_t n = 0;
	while (before->na && before->na[n])
		n++;
	KDRI_DO(kdri_calloc(ctx, &r->na, n + 2, sizeof *r->na));
	for (int64_t i = 0; i < n; i++)
		r->na[i] = before->na[i];
	r->na[n] = r->total;
	own.na = r->na;
	r->options = &own;
	kdr_status st = kdri_csv_start(ctx, r->in, &own, r->delimiter, &r->w, &r->l);
	kdri_csv_table_free(ctx, &r->t);
	kdr_findings_free(r->found);
	r->found = NULL;
	if (st == KDR_OK)
		st = read_table(ctx, r);
	if (st == KDR_OK)
		st = leave_out_total(ctx, r);
	r->options = before;
	return st == KDR_OK && r->total_row == 0 ? kdri_fail(ctx, KDR_ERR_FORMAT, "%s", why) : st;
}

/* Reads the table without a last row of totals. */
static kdr_status read_samples(kdr_context *ctx, reading *r)
{
	char why[sizeof ctx->error];
	const kdr_status st = read_table(ctx, r);
	if (st == KDR_OK)
		return leave_out_total(ctx, r);
	if (st != KDR_ERR_FORMAT || !r->total[0] || r->options->parts > 0)
		return st;
	memcpy(why, ctx->error, sizeof why);
	return read_with_total(ctx, r, why);
}

/* Names of the features: titles, and texts of categories. */
static kdr_status feature_names(kdr_context *ctx, const kdri_csv_layout *l, char ***out)
{
	kdr_status st = KDR_OK;
	char **names = NULL, title[24], *text = NULL;
	int64_t k = 0;
	bool named = l->names != NULL;
	for (int64_t j = 0; j < l->fields; j++)
		named = named || l->roles[j].kind == KDR_COLUMN_CATEGORY ||
		        l->roles[j].kind == KDR_COLUMN_DATE;
	if (!named)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &names, l->cols));
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_role *role = &l->roles[j];
		/* A title that is empty stays so, unless nothing else has one. */
		const char *name = l->names ? l->names[j] : kdri_csv_title(l, j, title);
		for (int64_t f = 0; f < role->features; f++) {
			if (role->kind != KDR_COLUMN_CATEGORY) {
				KDRI_TRY(kdri_strdup(ctx, name, &names[k++]));
				continue;
			}
			size_t n = strlen(name), m = strlen(role->texts.names[f]);
			KDRI_TRY(KDRI_NEW(ctx, &text, (int64_t)(n + m + 2)));
			memcpy(text, name, n);
			text[n] = '=';
			memcpy(text + n + 1, role->texts.names[f], m);
			text[n + m + 1] = '\0';
			names[k++] = text;
			text = NULL;
		}
	}
	*out = names;
	names = NULL;
done:
	kdri_strings_free(&ctx->allocator, names, l->cols);
	return st;
}

#define SKIPPED      "%lld row%s skipped, because the header appears to be in line %lld"
#define SKIPPED_HELP "use --skip-rows to specify how many rows are above it"

/* Keeps what was decided and was not certain. */
static kdr_status csv_note(kdr_context *ctx, const reading *r, kdri_sheet *sheet)
{
	for (int64_t i = 0; r->found && i < r->found->count; i++)
		KDRI_DO(kdri_sheet_note(ctx, sheet, "%s: %s; %s", kdri_input_path(r->in),
		                        r->found->items[i].found, r->found->items[i].then));
	if (r->l.header_line > 0)
		KDRI_DO(kdri_sheet_note(ctx, sheet, "%s: " SKIPPED "; " SKIPPED_HELP, kdri_input_path(r->in),
		                        (long long)r->l.above, r->l.above == 1 ? " was" : "s were",
		                        (long long)r->l.header_line));
	return KDR_OK;
}

/* Moves the results to `data`; this cannot fail halfway. */
static kdr_status csv_hand_over(kdr_context *ctx, reading *r, kdri_sheet **sheet, kdr_data *data)
{
	const kdri_csv_layout *l = &r->l;
	kdri_csv_table *t = &r->t;
	char **features = NULL;
	bool integers;
	KDRI_DO(KDRI_GROW(ctx, &t->values, t->rows * l->cols));
	if (l->label >= 0)
		KDRI_DO(kdri_names_sort_integers(ctx, &t->classes, t->labels, t->rows, &integers));
	KDRI_DO(kdri_range_note(ctx, r->options, t->keep, r->rows, data));
	KDRI_DO(feature_names(ctx, l, &features));
	data->kind = KDR_MAT_DENSE;
	data->rows = t->rows;
	data->cols = l->cols;
	data->dense = t->values;
	data->features = features;
	data->ids = t->ids;
	data->labels = t->labels;
	data->sheet = *sheet;
	if (l->label >= 0) {
		data->classes = t->classes.names;
		data->nclasses = t->classes.count;
		t->classes.names = NULL;
	}
	if (l->tasks >= 0) {
		data->groups =
		        (kdri_groups){ .of = t->task_of, .names = t->tasks.names, .count = t->tasks.count };
		t->tasks.names = NULL;
		t->task_of = NULL;
	}
	t->values = NULL;
	t->ids = NULL;
	t->labels = NULL;
	*sheet = NULL;
	data->dialect = (kdri_dialect){ .delimiter = l->delimiter,
		                        .header = l->header,
		                        .encoding = r->w.recode.from,
		                        .returns = r->w.recode.returns,
		                        .fields = l->fields,
		                        .above = l->above };
	return KDR_OK;
}

kdr_status kdri_csv_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                         kdr_data *data)
{
	kdr_status st;
	reading r;
	kdri_sheet *sheet = NULL;
	KDRI_TRY(open_reading(ctx, in, options, delimiter, &r));
	KDRI_TRY(KDRI_NEW0(ctx, &sheet, 1));
	if (r.l.empty) {
		KDRI_TRY(kdri_table_titles(ctx, &r.l, sheet));
		KDRI_TRY(kdri_data_no_rows(ctx, data, KDR_MAT_DENSE, 0));
		if (options->task_column)
			KDRI_TRY(KDRI_NEW(ctx, &data->groups.of, 0));
		data->sheet = sheet;
		sheet = NULL;
		goto done;
	}
	KDRI_TRY(read_samples(ctx, &r));
	KDRI_TRY(kdri_table_fill(ctx, kdri_input_path(in), r.missing, &r.l, &r.t, sheet, data));
	if (r.total_row > 0) {
		KDRI_TRY(kdri_data_leave_out(ctx, data, r.total_row, r.total_id ? r.total_id : "",
		                             "sum or mean of the other rows"));
		KDRI_TRY(kdri_sheet_note(
		        ctx, sheet,
		        "%s: the last row was skipped, because it appears to be the sum or mean of the others",
		        kdri_input_path(in)));
	}
	KDRI_TRY(kdri_table_describe(ctx, r.options, &r.l, &r.t, sheet));
	KDRI_TRY(csv_note(ctx, &r, sheet));
	KDRI_TRY(csv_hand_over(ctx, &r, &sheet, data));
done:
	kdri_sheet_free(&ctx->allocator, sheet);
	close_reading(ctx, &r);
	return st;
}

kdr_status kdri_csv_inspect(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                            kdr_findings *findings)
{
	kdr_status st;
	reading r;
	KDRI_TRY(open_reading(ctx, in, options, delimiter, &r));
	if (r.l.header_line > 0)
		KDRI_TRY(kdri_finding_add(ctx, findings, r.l.header_line, false, SKIPPED_HELP, SKIPPED,
		                          (long long)r.l.above, r.l.above == 1 ? " was" : "s were",
		                          (long long)r.l.header_line));
	KDRI_TRY(survey(ctx, &r, true, findings));
done:
	close_reading(ctx, &r);
	return st;
}

static kdr_status inspect_file(kdr_context *ctx, const char *path, const kdr_read_options *options,
                               char delimiter, kdr_findings *findings)
{
	kdr_status st;
	kdri_input *in = NULL;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(kdri_csv_inspect(ctx, in, options, delimiter, findings));
done:
	kdri_input_close(ctx, in);
	return st;
}

static kdr_status inspect_csv(kdr_context *ctx, const char *path, const kdr_read_options *options,
                              kdr_findings *findings)
{
	return inspect_file(ctx, path, options, '\0', findings);
}

static kdr_status inspect_tsv(kdr_context *ctx, const char *path, const kdr_read_options *options,
                              kdr_findings *findings)
{
	return inspect_file(ctx, path, options, '\t', findings);
}

static kdr_status parse_csv(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, kdr_data *data)
{
	return kdri_csv_read(ctx, in, options, '\0', data);
}

static kdr_status parse_tsv(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, kdr_data *data)
{
	return kdri_csv_read(ctx, in, options, '\t', data);
}

static const char *const csv_endings[] = { ".csv", ".csv.gz", NULL };
static const char *const tsv_endings[] = { ".tsv", ".tsv.gz", ".tab", ".tab.gz", NULL };

const kdri_format kdri_format_csv = {
	.id = "csv",
	.endings = csv_endings,
	.parse = parse_csv,
	.inspect = inspect_csv,
	.write = kdri_csv_write,
	.parts = true,
	.help = "comma- or semicolon-separated table, dense",
	.holds = KDR_HOLDS_FEATURES | KDR_HOLDS_LABELS | KDR_HOLDS_COLUMNS | KDR_HOLDS_CHARACTERS,
};

const kdri_format kdri_format_tsv = {
	.id = "tsv",
	.endings = tsv_endings,
	.parse = parse_tsv,
	.inspect = inspect_tsv,
	.write = kdri_tsv_write,
	.parts = true,
	.help = "tab-separated table, dense",
	.holds = KDR_HOLDS_FEATURES | KDR_HOLDS_LABELS | KDR_HOLDS_COLUMNS | KDR_HOLDS_CHARACTERS,
};
