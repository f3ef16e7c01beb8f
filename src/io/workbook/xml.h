/* XML as spreadsheets have it, piece by piece. SPDX-License-Identifier: BSD-3-Clause
 *
 * No document types, so no entities of their own: what could make a small file grow without end is refused. Prefixes of
 * names are passed over. Bytes are taken as UTF-8 as they come. */
#ifndef KDRI_XML_H
#define KDRI_XML_H

#include "io/binary.h"

typedef enum kdri_xml_event { KDRI_XML_OPEN, KDRI_XML_CLOSE, KDRI_XML_TEXT, KDRI_XML_END } kdri_xml_event;

typedef struct kdri_xml {
	const kdri_source *source;
	unsigned char *buffer;
	size_t begin, end;
	bool last;    /* the source has no more */
	bool closing; /* the element just opened is empty: its end comes next */
	char *text;   /* of TEXT, decoded; of OPEN and CLOSE the name, a NUL, the attributes as they stand */
	size_t length, room;
	const char *name; /* of OPEN and CLOSE, without a prefix */
} kdri_xml;

kdr_status kdri_xml_open(kdr_context *ctx, const kdri_source *source, kdri_xml *x);
void kdri_xml_close(kdr_context *ctx, kdri_xml *x);
kdr_status kdri_xml_next(kdr_context *ctx, kdri_xml *x, kdri_xml_event *event);
/* The value of an attribute of the element just opened, decoded and cut where the room ends; false: it has none. */
bool kdri_xml_attribute(const kdri_xml *x, const char *name, char *out, size_t room);
bool kdri_xml_is(const kdri_xml *x, const char *name);

#endif
