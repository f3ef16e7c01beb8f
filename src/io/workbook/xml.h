/* XML, read by expat. SPDX-License-Identifier: BSD-3-Clause
 *
 * A document with a document type declaration is an error, because it could define entities that let a small file grow.
 * Prefixes of names are dropped. */
#ifndef KDRI_XML_H
#define KDRI_XML_H

#include "io/binary.h"

/* Callbacks for the pieces of a document; NULL to ignore a kind. A text may be passed in several pieces. */
typedef struct kdri_xml_handlers {
	kdr_status (*open)(kdr_context *ctx, void *user, const char *name, const char *const *attributes);
	kdr_status (*close)(kdr_context *ctx, void *user, const char *name);
	kdr_status (*text)(kdr_context *ctx, void *user, const char *text, size_t length);
} kdri_xml_handlers;

kdr_status kdri_xml_read(kdr_context *ctx, const kdri_source *source, const kdri_xml_handlers *handlers,
                         void *user);
/* The value of an attribute of an element that is opened; NULL if it has none. */
const char *kdri_xml_attribute(const char *const *attributes, const char *name);

#endif
