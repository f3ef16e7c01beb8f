/* XML, read by expat. SPDX-License-Identifier: BSD-3-Clause */
#include "io/workbook/xml.h"

#include <expat.h>

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

kdr_status kdri_xml_read(kdr_context *ctx, const kdri_source *source, const kdri_xml_handlers *handlers,
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
