/* Excel workbooks: sheets by name, shared texts, formats that are dates. SPDX-License-Identifier: BSD-3-Clause
 *
 *     xl/workbook.xml              <sheet name="Sheet1" r:id="rId1"/>: the sheets
 *     xl/_rels/workbook.xml.rels   <Relationship Id="rId1" Target="worksheets/sheet1.xml"/>: their files
 *     xl/sharedStrings.xml         <si><t>text</t></si>: texts, which cells name by number
 *     xl/styles.xml                <numFmt numFmtId formatCode>, <cellXfs><xf numFmtId>: how numbers are shown
 *
 * A cell with a date format is a date: its number counts days from 1900, or from 1904 if the workbook specifies
 * this. */
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/workbook/xlsx_book.h"

/* XML, read by expat. */

/* Expat keeps a tag until it is complete. */
enum { BUFFER = 1 << 16, TAG_MOST = 1 << 20 };

typedef struct reading {
	kdr_context *ctx;
	const kdri_xml_handlers *handlers;
	void *user;
	XML_Parser parser;
	const char *label;
	kdr_status st; /* of a handler */
} reading;

static kdr_status xml_bad(const reading *r, const char *what)
{
	return kdri_fail(r->ctx, KDR_ERR_FORMAT, "%s: invalid XML in line %llu: %s", r->label,
	                 (unsigned long long)XML_GetCurrentLineNumber(r->parser), what);
}

/* Notes what a handler returned, and stops if it failed. */
static void xml_note(reading *r, kdr_status st)
{
	r->st = st;
	if (st != KDR_OK)
		XML_StopParser(r->parser, XML_FALSE);
}

static const char *without_prefix(const char *name)
{
	const char *colon = strrchr(name, ':');
	return colon ? colon + 1 : name;
}

static void XMLCALL on_open(void *user, const XML_Char *name, const XML_Char **attributes)
{
	reading *r = user;
	if (r->st == KDR_OK && r->handlers->open)
		xml_note(r, r->handlers->open(r->ctx, r->user, without_prefix(name),
		                              (const char *const *)attributes));
}

static void XMLCALL on_close(void *user, const XML_Char *name)
{
	reading *r = user;
	if (r->st == KDR_OK && r->handlers->close)
		xml_note(r, r->handlers->close(r->ctx, r->user, without_prefix(name)));
}

static void XMLCALL on_text(void *user, const XML_Char *text, int length)
{
	reading *r = user;
	if (r->st == KDR_OK && r->handlers->text)
		xml_note(r, r->handlers->text(r->ctx, r->user, text, (size_t)length));
}

static void XMLCALL on_document_type(void *user, const XML_Char *name, const XML_Char *system,
                                     const XML_Char *public, int internal)
{
	(void)name, (void)system, (void)public, (void)internal;
	reading *r = user;
	xml_note(r, xml_bad(r, "it has a document type declaration, which spreadsheets do not have"));
}

/* Reads a block and parses it. */
static kdr_status parse_block(reading *r, const kdri_source *source, int64_t *fed, bool *last)
{
	kdr_status st;
	size_t got = 0;
	void *buffer = XML_GetBuffer(r->parser, BUFFER);
	if (!buffer)
		return kdri_fail(r->ctx, KDR_ERR_MEMORY, "%s: out of memory while parsing", r->label);
	KDRI_TRY(source->read(r->ctx, source->user, buffer, BUFFER, &got));
	*last = got < BUFFER;
	*fed += (int64_t)got;
	if (XML_ParseBuffer(r->parser, (int)got, *last) != XML_STATUS_OK)
		st = r->st != KDR_OK ? r->st
		     : XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY
		             ? kdri_fail(r->ctx, KDR_ERR_MEMORY, "%s: out of memory while parsing", r->label)
		             : xml_bad(r, XML_ErrorString(XML_GetErrorCode(r->parser)));
	else if (*fed - XML_GetCurrentByteIndex(r->parser) > TAG_MOST)
		st = xml_bad(r, "a tag of more than a megabyte");
done:
	return st;
}

static kdr_status xml_read(kdr_context *ctx, const kdri_source *source, const kdri_xml_handlers *handlers,
                           void *user)
{
	kdr_status st = KDR_OK;
	reading r = { ctx, handlers, user, XML_ParserCreate(NULL), source->label, KDR_OK };
	int64_t fed = 0;
	bool last = false;
	if (!r.parser)
		return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: out of memory while parsing", source->label);
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_open, on_close);
	XML_SetCharacterDataHandler(r.parser, on_text);
	XML_SetStartDoctypeDeclHandler(r.parser, on_document_type);
	while (!last)
		KDRI_TRY(parse_block(&r, source, &fed, &last));
done:
	XML_ParserFree(r.parser);
	return st;
}

const char *kdri_xml_attribute(const char *const *attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(without_prefix(attributes[0]), name) == 0)
			return attributes[1];
	return NULL;
}

enum { MOST_TEXT = 1 << 30, MOST_FORMATS = 1 << 16, CUSTOM = 1024 };

static const char book_name[] = "xl/workbook.xml", relations_name[] = "xl/_rels/workbook.xml.rels";

kdr_status kdri_xlsx_read_part(kdr_context *ctx, const kdri_xlsx_book *b, const char *name,
                               const kdri_xml_handlers *handlers, void *user)
{
	kdr_status st;
	kdri_zip_member *member = NULL;
	kdri_source source;
	char label[1024];
	const int64_t index = kdri_zip_find(b->zip, name);
	if (index < 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not an Excel workbook: it has no %s", b->path,
		                 name);
	snprintf(label, sizeof label, "%s:%s", b->path, name);
	KDRI_TRY(kdri_zip_member_open(ctx, b->zip, index, label, &member, &source));
	KDRI_TRY(xml_read(ctx, &source, handlers, user));
done:
	kdri_zip_member_close(ctx, member);
	return st;
}

/* --- the sheets --------------------------------------------------------------------------------------------- */

typedef struct choice {
	kdri_xlsx_book *book;
	const char *wanted; /* NULL: the first that is not hidden */
	char id[128];       /* of the sheet's relation; "" while none was chosen */
	char list[256];
	int64_t count;
	char ***names; /* of the sheets that are not hidden; NULL: not wanted */
	int64_t *nnames;
} choice;

static kdr_status note_sheet(kdr_context *ctx, void *user, const char *element, const char *const *attributes)
{
	choice *c = user;
	const char *from_1904 = kdri_xml_attribute(attributes, "date1904");
	if (strcmp(element, "workbookPr") == 0 && from_1904)
		c->book->from_1904 = strcmp(from_1904, "1") == 0 || strcmp(from_1904, "true") == 0;
	const char *name = kdri_xml_attribute(attributes, "name"), *id = kdri_xml_attribute(attributes, "id"),
	           *state = kdri_xml_attribute(attributes, "state");
	if (strcmp(element, "sheet") != 0 || !name || !id)
		return KDR_OK;
	const bool hidden = state && strcmp(state, "visible") != 0;
	if (!hidden && c->names)
		KDRI_DO(kdri_strings_append(ctx, c->names, c->nnames, name));
	if (!hidden && !c->wanted && c->id[0])
		kdri_list_add(c->book->others, sizeof c->book->others, "%s", name);
	if (!hidden || c->wanted) {
		kdri_list_add(c->list, sizeof c->list, "%s", name);
		c->count++;
	}
	if (!c->id[0] && (c->wanted ? strcmp(name, c->wanted) == 0 : !hidden)) {
		snprintf(c->id, sizeof c->id, "%s", id);
		snprintf(c->book->title, sizeof c->book->title, "%s", name);
	}
	return KDR_OK;
}

static kdr_status choose_sheet(kdr_context *ctx, choice *c)
{
	static const kdri_xml_handlers handlers = { .open = note_sheet };
	kdr_status st;
	const kdri_xlsx_book *b = c->book;
	KDRI_TRY(kdri_xlsx_read_part(ctx, b, book_name, &handlers, c));
	if (!c->id[0])
		st = c->wanted ? kdri_fail(ctx, KDR_ERR_DATA, "%s: has no sheet '%s'; its sheets are: %s",
		                           b->path, c->wanted, c->count ? c->list : "none")
		               : kdri_fail(ctx, KDR_ERR_DATA, "%s: has no sheet", b->path);
done:
	return st;
}

kdr_status kdri_xlsx_sheets(kdr_context *ctx, const char *path, char ***out, int64_t *count)
{
	kdr_status st;
	kdri_xlsx_book book = { .path = path };
	char **names = NULL;
	int64_t n = 0;
	choice c = { .book = &book, .names = &names, .nnames = &n };
	KDRI_TRY(kdri_zip_open(ctx, path, &book.zip));
	KDRI_TRY(choose_sheet(ctx, &c));
	*out = names;
	*count = n;
	names = NULL;
done:
	kdri_strings_free(&ctx->allocator, names, n);
	kdri_xlsx_close(ctx, &book);
	return st;
}

/* Targets are relative to xl/, or begin with a slash. */
static void resolve(const char *target, char *out, size_t room)
{
	snprintf(out, room, "%s%s", target[0] == '/' ? "" : "xl/", target + (target[0] == '/'));
}

typedef struct styles {
	kdri_xlsx_book *book;
	int64_t room;
	bool inside; /* the formats of cells */
	int ncustom;
	struct {
		long id;
		bool day;
	} custom[CUSTOM];
} styles;

static kdr_status note_relation(kdr_context *ctx, void *user, const char *element,
                                const char *const *attributes)
{
	(void)ctx;
	const choice *c = user;
	kdri_xlsx_book *b = c->book;
	const char *id = kdri_xml_attribute(attributes, "Id"), *type = kdri_xml_attribute(attributes, "Type"),
	           *target = kdri_xml_attribute(attributes, "Target");
	if (strcmp(element, "Relationship") != 0 || !id || !type || !target)
		return KDR_OK;
	if (strcmp(id, c->id) == 0)
		resolve(target, b->sheet, sizeof b->sheet);
	if (kdri_ends_with(type, "/sharedStrings"))
		resolve(target, b->strings, sizeof b->strings);
	if (kdri_ends_with(type, "/styles"))
		resolve(target, b->styles, sizeof b->styles);
	return KDR_OK;
}

static kdr_status find_parts(kdr_context *ctx, choice *c)
{
	static const kdri_xml_handlers handlers = { .open = note_relation };
	kdr_status st = kdri_xlsx_read_part(ctx, c->book, relations_name, &handlers, c);
	if (st == KDR_OK && !c->book->sheet[0])
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: does not specify the location of sheet '%s'",
		               c->book->path, c->book->title);
	return st;
}

/* --- shared texts -------------------------------------------------------------------------------------------- */

typedef struct texts {
	kdri_xlsx_book *book;
	int64_t room, places;
	bool inside; /* a text */
	bool spoken; /* in a phonetic reading */
} texts;

static kdr_status add_bytes(kdr_context *ctx, texts *t, const char *text, size_t length)
{
	kdri_xlsx_book *b = t->book;
	if (b->text_size + (int64_t)length > MOST_TEXT)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s: has more than a gigabyte of shared texts", b->path);
	KDRI_DO(KDRI_ROOM(ctx, &b->text, &t->room, b->text_size + (int64_t)length));
	memcpy(b->text + b->text_size, text, length);
	b->text_size += (int64_t)length;
	return KDR_OK;
}

static kdr_status open_text(kdr_context *ctx, void *user, const char *name, const char *const *attributes)
{
	(void)attributes;
	texts *t = user;
	t->inside |= strcmp(name, "t") == 0;
	t->spoken |= strcmp(name, "rPh") == 0;
	if (strcmp(name, "si") == 0) {
		KDRI_DO(KDRI_ROOM(ctx, &t->book->at, &t->places, t->book->ntexts + 1));
		t->book->at[t->book->ntexts++] = t->book->text_size;
	}
	return KDR_OK;
}

static kdr_status close_text(kdr_context *ctx, void *user, const char *name)
{
	texts *t = user;
	t->inside &= strcmp(name, "t") != 0;
	t->spoken &= strcmp(name, "rPh") != 0;
	return strcmp(name, "si") == 0 ? add_bytes(ctx, t, "", 1) : KDR_OK;
}

static kdr_status add_text(kdr_context *ctx, void *user, const char *text, size_t length)
{
	texts *t = user;
	return t->inside && !t->spoken ? add_bytes(ctx, t, text, length) : KDR_OK;
}

/* --- formats --------------------------------------------------------------------------------------------------- */

bool kdri_xlsx_shows_day(const char *f)
{
	for (; *f; f++) {
		if (*f == '"' || *f == '[') {
			const char *end = strchr(f + 1, *f == '"' ? '"' : ']');
			if (!end)
				return false;
			f = end;
		} else if (*f == '\\' || *f == '_' || *f == '*') {
			f += f[1] != '\0';
		} else if (strchr("ydYD", *f)) {
			return true;
		}
	}
	return false;
}

/* Formats that have no code of their own: 14 to 17 and 22 show days, 27 to 31, 36 and 50 to 58 do in East Asia. */
static bool built_in(long id)
{
	return (id >= 14 && id <= 17) || id == 22 || (id >= 27 && id <= 31) || id == 36 ||
	       (id >= 50 && id <= 58);
}

static kdr_status open_style(kdr_context *ctx, void *user, const char *name, const char *const *attributes)
{
	styles *s = user;
	kdri_xlsx_book *b = s->book;
	const char *id = kdri_xml_attribute(attributes, "numFmtId"),
	           *code = kdri_xml_attribute(attributes, "formatCode");
	s->inside |= strcmp(name, "cellXfs") == 0;
	if (strcmp(name, "numFmt") == 0 && s->ncustom < CUSTOM && id && code) {
		s->custom[s->ncustom].id = strtol(id, NULL, 10);
		s->custom[s->ncustom++].day = kdri_xlsx_shows_day(code);
	}
	if (!s->inside || strcmp(name, "xf") != 0 || b->nformats == MOST_FORMATS)
		return KDR_OK;
	KDRI_DO(KDRI_ROOM(ctx, &b->dates, &s->room, b->nformats + 1));
	const long own = id ? strtol(id, NULL, 10) : 0;
	bool day = built_in(own);
	for (int i = 0; i < s->ncustom; i++)
		if (s->custom[i].id == own)
			day = s->custom[i].day;
	b->dates[b->nformats++] = day;
	return KDR_OK;
}

static kdr_status close_style(kdr_context *ctx, void *user, const char *name)
{
	(void)ctx;
	styles *s = user;
	s->inside &= strcmp(name, "cellXfs") != 0;
	return KDR_OK;
}

bool kdri_xlsx_date(double serial, bool from_1904, char *out, size_t room)
{
	/* Up to the year 9999. Day 60 is 29 February 1900, which never was. */
	if (!(serial >= 0 && serial < 2958466))
		return false;
	int64_t day = (int64_t)floor(serial), seconds = (int64_t)floor((serial - (double)day) * 86400 + 0.5);
	day += seconds / 86400;
	seconds %= 86400;
	day += from_1904 ? 1462 : day < 60 ? 1 : 0;
	/* Days from 1 March 0000 of the proleptic calendar; 25569 is 1 January 1970. */
	int64_t z = day - 25569 + 719468, era = z / 146097, doe = z % 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
	        doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153, d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
	int64_t y = yoe + era * 400 + (m <= 2);
	int n = snprintf(out, room, "%04d-%02d-%02d", (int)y, (int)m, (int)d);
	if (seconds > 0)
		snprintf(out + n, room - (size_t)n, "T%02d:%02d:%02d", (int)(seconds / 3600),
		         (int)(seconds / 60 % 60), (int)(seconds % 60));
	return true;
}

/* --- entire workbooks
 * --------------------------------------------------------------------------------------------------- */

kdr_status kdri_xlsx_open(kdr_context *ctx, const char *path, const char *wanted, kdri_xlsx_book *b)
{
	static const kdri_xml_handlers of_texts = { open_text, close_text, add_text },
	                               of_styles = { open_style, close_style, NULL };
	choice c = { .book = b, .wanted = wanted };
	texts t = { .book = b };
	styles s = { .book = b };
	b->path = path;
	KDRI_DO(kdri_zip_open(ctx, path, &b->zip));
	KDRI_DO(choose_sheet(ctx, &c));
	KDRI_DO(find_parts(ctx, &c));
	if (b->strings[0] && kdri_zip_find(b->zip, b->strings) >= 0)
		KDRI_DO(kdri_xlsx_read_part(ctx, b, b->strings, &of_texts, &t));
	if (b->styles[0] && kdri_zip_find(b->zip, b->styles) >= 0)
		KDRI_DO(kdri_xlsx_read_part(ctx, b, b->styles, &of_styles, &s));
	return KDR_OK;
}

void kdri_xlsx_close(kdr_context *ctx, kdri_xlsx_book *b)
{
	kdri_zip_close(ctx, b->zip);
	KDRI_FREE(ctx, b->text, b->at, b->dates);
	*b = (kdri_xlsx_book){ .zip = NULL };
}
