/* Excel workbooks: sheets by name, shared texts, formats that are dates. SPDX-License-Identifier: BSD-3-Clause
 *
 *     xl/workbook.xml              <sheet name="Sheet1" r:id="rId1"/>: the sheets
 *     xl/_rels/workbook.xml.rels   <Relationship Id="rId1" Target="worksheets/sheet1.xml"/>: where they are
 *     xl/sharedStrings.xml         <si><t>text</t></si>: texts, which cells name by number
 *     xl/styles.xml                <numFmt numFmtId formatCode>, <cellXfs><xf numFmtId>: how numbers are shown
 *
 * A cell that is shown as a day is one: its number counts days from 1900, or from 1904 where the workbook says so. */
#include "io/workbook/xlsx.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_TEXT = 1 << 30, MOST_FORMATS = 1 << 16, CUSTOM = 1024 };

static const char book_name[] = "xl/workbook.xml", relations_name[] = "xl/_rels/workbook.xml.rels";

/* --- parts ------------------------------------------------------------------------------------------------ */

kdr_status kdri_xlsx_part_open(kdr_context *ctx, const kdri_xlsx_book *b, const char *name, kdri_xlsx_part *p)
{
	kdr_status st;
	int64_t index = kdri_zip_find(b->zip, name);
	if (index < 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: no Excel workbook: it has no %s", b->path, name);
	snprintf(p->label, sizeof p->label, "%s:%s", b->path, name);
	KDRI_TRY(kdri_zip_member_open(ctx, b->zip, index, p->label, &p->member, &p->source));
	KDRI_TRY(kdri_xml_open(ctx, &p->source, &p->xml));
done:
	return st;
}

void kdri_xlsx_part_close(kdr_context *ctx, kdri_xlsx_part *p)
{
	kdri_xml_close(ctx, &p->xml);
	kdri_zip_member_close(ctx, p->member);
	*p = (kdri_xlsx_part){ .member = NULL };
}

/* --- the sheets --------------------------------------------------------------------------------------------- */

typedef struct choice {
	char id[128]; /* of the sheet's relation; "" while none was chosen */
	char list[256];
	int64_t count;
} choice;

static kdr_status choose_sheet(kdr_context *ctx, const char *wanted, kdri_xlsx_book *b, choice *out)
{
	kdr_status st;
	kdri_xlsx_part p = { .member = NULL };
	kdri_xml_event e;
	char name[256], id[128], text[16];
	KDRI_TRY(kdri_xlsx_part_open(ctx, b, book_name, &p));
	for (;;) {
		KDRI_TRY(kdri_xml_next(ctx, &p.xml, &e));
		if (e == KDRI_XML_END)
			break;
		if (e != KDRI_XML_OPEN)
			continue;
		if (kdri_xml_is(&p.xml, "workbookPr") &&
		    kdri_xml_attribute(&p.xml, "date1904", text, sizeof text))
			b->from_1904 = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
		if (!kdri_xml_is(&p.xml, "sheet") || !kdri_xml_attribute(&p.xml, "name", name, sizeof name) ||
		    !kdri_xml_attribute(&p.xml, "id", id, sizeof id))
			continue;
		bool hidden = kdri_xml_attribute(&p.xml, "state", text, sizeof text) &&
		              strcmp(text, "visible") != 0;
		size_t used = strlen(out->list);
		if (!hidden || wanted) {
			snprintf(out->list + used, sizeof out->list - used, "%s%s", used ? ", " : "", name);
			out->count++;
		}
		if (!out->id[0] && (wanted ? strcmp(name, wanted) == 0 : !hidden)) {
			snprintf(out->id, sizeof out->id, "%s", id);
			snprintf(b->title, sizeof b->title, "%s", name);
		}
	}
	if (!out->id[0])
		st = wanted ? kdri_fail(ctx, KDR_ERR_DATA, "%s: has no sheet '%s'; it has: %s", b->path,
		                        wanted, out->count ? out->list : "none")
		            : kdri_fail(ctx, KDR_ERR_DATA, "%s: has no sheet", b->path);
	else if (!wanted && out->count > 1)
		kdri_message(ctx, "%s: sheet '%s' is read; it has: %s (file.xlsx:NAME reads another)",
		             b->path, b->title, out->list);
done:
	kdri_xlsx_part_close(ctx, &p);
	return st;
}

/* Targets are relative to xl/, or begin with a slash. */
static void resolve(const char *target, char *out, size_t room)
{
	snprintf(out, room, "%s%s", target[0] == '/' ? "" : "xl/", target + (target[0] == '/'));
}

static kdr_status find_parts(kdr_context *ctx, const char *id, kdri_xlsx_book *b)
{
	kdr_status st;
	kdri_xlsx_part p = { .member = NULL };
	kdri_xml_event e;
	char own[128], target[400], type[256];
	KDRI_TRY(kdri_xlsx_part_open(ctx, b, relations_name, &p));
	for (;;) {
		KDRI_TRY(kdri_xml_next(ctx, &p.xml, &e));
		if (e == KDRI_XML_END)
			break;
		if (e != KDRI_XML_OPEN || !kdri_xml_is(&p.xml, "Relationship") ||
		    !kdri_xml_attribute(&p.xml, "Id", own, sizeof own) ||
		    !kdri_xml_attribute(&p.xml, "Target", target, sizeof target) ||
		    !kdri_xml_attribute(&p.xml, "Type", type, sizeof type))
			continue;
		if (strcmp(own, id) == 0)
			resolve(target, b->sheet, sizeof b->sheet);
		if (kdri_ends_with(type, "/sharedStrings"))
			resolve(target, b->strings, sizeof b->strings);
		if (kdri_ends_with(type, "/styles"))
			resolve(target, b->styles, sizeof b->styles);
	}
	if (!b->sheet[0])
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: says nowhere where sheet '%s' is", b->path,
		               b->title);
done:
	kdri_xlsx_part_close(ctx, &p);
	return st;
}

/* --- shared texts -------------------------------------------------------------------------------------------- */

static kdr_status add_bytes(kdr_context *ctx, kdri_xlsx_book *b, const char *text, size_t length,
                            int64_t *room)
{
	kdr_status st = KDR_OK;
	if (b->text_size + (int64_t)length > MOST_TEXT)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s: more than a gigabyte of shared texts", b->path);
	if (b->text_size + (int64_t)length > *room) {
		int64_t more = 2 * *room + (int64_t)length + 1024;
		KDRI_TRY(KDRI_GROW(ctx, &b->text, more));
		*room = more;
	}
	if (length > 0)
		memcpy(b->text + b->text_size, text, length);
	b->text_size += (int64_t)length;
done:
	return st;
}

static kdr_status xlsx_book_read_texts(kdr_context *ctx, kdri_xlsx_book *b)
{
	kdr_status st;
	kdri_xlsx_part p = { .member = NULL };
	kdri_xml_event e;
	int64_t room = 0, places = 0;
	bool inside = false, sound = false;
	KDRI_TRY(kdri_xlsx_part_open(ctx, b, b->strings, &p));
	for (;;) {
		KDRI_TRY(kdri_xml_next(ctx, &p.xml, &e));
		if (e == KDRI_XML_END)
			break;
		if (e == KDRI_XML_TEXT) {
			if (inside && !sound)
				KDRI_TRY(add_bytes(ctx, b, p.xml.text, strlen(p.xml.text), &room));
			continue;
		}
		bool open = e == KDRI_XML_OPEN;
		if (kdri_xml_is(&p.xml, "t"))
			inside = open;
		else if (kdri_xml_is(&p.xml, "rPh"))
			sound = open; /* how a word is spoken, beside the word */
		else if (kdri_xml_is(&p.xml, "si") && open) {
			if (b->ntexts == places) {
				places = 2 * places + 64;
				KDRI_TRY(KDRI_GROW(ctx, &b->at, places));
			}
			b->at[b->ntexts++] = b->text_size;
		} else if (kdri_xml_is(&p.xml, "si")) {
			KDRI_TRY(add_bytes(ctx, b, "", 1, &room));
		}
	}
	KDRI_TRY(add_bytes(ctx, b, "", 1, &room)); /* whatever was cut off ends here */
done:
	kdri_xlsx_part_close(ctx, &p);
	return st;
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

static kdr_status read_styles(kdr_context *ctx, kdri_xlsx_book *b)
{
	kdr_status st;
	kdri_xlsx_part p = { .member = NULL };
	kdri_xml_event e;
	char id[16], code[256];
	struct {
		long id;
		bool day;
	} custom[CUSTOM];
	int ncustom = 0;
	bool inside = false;
	KDRI_TRY(kdri_xlsx_part_open(ctx, b, b->styles, &p));
	for (;;) {
		KDRI_TRY(kdri_xml_next(ctx, &p.xml, &e));
		if (e == KDRI_XML_END)
			break;
		if (e == KDRI_XML_TEXT)
			continue;
		if (kdri_xml_is(&p.xml, "cellXfs"))
			inside = e == KDRI_XML_OPEN;
		if (e != KDRI_XML_OPEN)
			continue;
		if (kdri_xml_is(&p.xml, "numFmt") && ncustom < CUSTOM &&
		    kdri_xml_attribute(&p.xml, "numFmtId", id, sizeof id) &&
		    kdri_xml_attribute(&p.xml, "formatCode", code, sizeof code)) {
			custom[ncustom].id = strtol(id, NULL, 10);
			custom[ncustom++].day = kdri_xlsx_shows_day(code);
		}
		if (!inside || !kdri_xml_is(&p.xml, "xf") || b->nformats == MOST_FORMATS)
			continue;
		if ((b->nformats & (b->nformats - 1)) == 0)
			KDRI_TRY(KDRI_GROW(ctx, &b->dates, KDRI_MAX(2 * b->nformats, 1)));
		long own = kdri_xml_attribute(&p.xml, "numFmtId", id, sizeof id) ? strtol(id, NULL, 10) : 0;
		bool day = built_in(own);
		for (int i = 0; i < ncustom; i++)
			if (custom[i].id == own)
				day = custom[i].day;
		b->dates[b->nformats++] = day;
	}
done:
	kdri_xlsx_part_close(ctx, &p);
	return st;
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

/* --- the whole --------------------------------------------------------------------------------------------------- */

kdr_status kdri_xlsx_open(kdr_context *ctx, const char *path, const char *wanted, kdri_xlsx_book *b)
{
	kdr_status st;
	choice c = { .count = 0 };
	b->path = path;
	KDRI_TRY(kdri_zip_open(ctx, path, &b->zip));
	KDRI_TRY(choose_sheet(ctx, wanted, b, &c));
	KDRI_TRY(find_parts(ctx, c.id, b));
	if (b->strings[0] && kdri_zip_find(b->zip, b->strings) >= 0)
		KDRI_TRY(xlsx_book_read_texts(ctx, b));
	if (b->styles[0] && kdri_zip_find(b->zip, b->styles) >= 0)
		KDRI_TRY(read_styles(ctx, b));
done:
	return st;
}

void kdri_xlsx_close(kdr_context *ctx, kdri_xlsx_book *b)
{
	kdri_zip_close(ctx, b->zip);
	kdri_free(ctx, b->text);
	kdri_free(ctx, b->at);
	kdri_free(ctx, b->dates);
	*b = (kdri_xlsx_book){ .zip = NULL };
}
