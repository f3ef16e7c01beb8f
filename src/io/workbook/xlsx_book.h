/* Excel workbooks: the parts that make up a table, and XML. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_XLSX_BOOK_H
#define KDRI_XLSX_BOOK_H

#include "io/archive/zip.h"
#include "io/binary.h"

/* XML, read by expat.
 *
 * A document with a document type declaration is an error, because it could define entities that let a small file grow.
 * Prefixes of names are dropped. */

/* Callbacks for the pieces of a document; NULL to ignore a kind. A text may be passed in several pieces. */
typedef struct kdri_xml_handlers {
	kdr_status (*open)(kdr_context *ctx, void *user, const char *name, const char *const *attributes);
	kdr_status (*close)(kdr_context *ctx, void *user, const char *name);
	kdr_status (*text)(kdr_context *ctx, void *user, const char *text, size_t length);
} kdri_xml_handlers;
/* The value of an attribute of an element that is opened; NULL if it has none. */
const char *kdri_xml_attribute(const char *const *attributes, const char *name);

/* Excel workbooks: the parts that make up a table. */

/* --- xlsx_book.c: the sheets of a workbook ------------------------------------------------- */

typedef struct kdri_xlsx_book {
	kdri_zip *zip;
	const char *path; /* borrowed */
	char sheet[512], strings[512],
	        styles[512]; /* members: the chosen sheet, shared texts, formats; "" if there are none */
	char title[256];     /* what the sheet is called */
	char others[256];    /* sheets that could have been meant, too; "" if there are none */
	bool from_1904;      /* days are counted from 1904 */
	char *text;          /* shared texts, one after the other, each ended by a NUL */
	int64_t *at;         /* where each begins */
	int64_t ntexts, text_size;
	bool *dates; /* of each cell format: whether numbers are dates */
	int64_t nformats;
} kdri_xlsx_book;

/* Reads everything except the sheet. `wanted`: its name, or NULL for the first that is not hidden. */
kdr_status kdri_xlsx_open(kdr_context *ctx, const char *path, const char *wanted, kdri_xlsx_book *book);
void kdri_xlsx_close(kdr_context *ctx, kdri_xlsx_book *book);

/* Reads a member of the archive. */
kdr_status kdri_xlsx_read_part(kdr_context *ctx, const kdri_xlsx_book *book, const char *name,
                               const kdri_xml_handlers *handlers, void *user);

/* xlsx.c: the rows of the sheet with a value, without the first `above` rows, by their numbers from 1, and how many columns it has; a title that none of its
 * columns has: title, title_2, ... Free rows with kdri_free. */
enum { KDRI_XLSX_ADDED = 8 }; /* most columns that can be appended */
typedef struct kdri_xlsx_outline {
	int32_t *rows;
	int64_t nrows;
	int32_t columns;
	char titles[KDRI_XLSX_ADDED][64];
} kdri_xlsx_outline;
kdr_status kdri_xlsx_outline_read(kdr_context *ctx, const kdri_xlsx_book *book, int64_t above,
                                  const char *const *titles, int count, kdri_xlsx_outline *out);
/* xlsx_copy.c: like kdri_csv_append_columns, for `sheets` sheets of one workbook ("file.xlsx:Sheet2"); everything else in the
 * workbook is kept. */
kdr_status kdri_xlsx_append_columns(kdr_context *ctx, const kdri_added *added, int64_t sheets,
                                    const char *const *titles, int count, const char *path, bool force);

/* The date that an Excel number means, as "2024-02-29", with "T12:30:00" if it has a time; false: it is not a date. */
bool kdri_xlsx_date(double serial, bool from_1904, char *out, size_t room);
/* Whether a number's format, such as "dd.mm.yyyy", shows a day. */
bool kdri_xlsx_shows_day(const char *format);

#endif
