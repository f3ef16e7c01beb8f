/* kdr_report: a result.json becomes one self-contained HTML page. SPDX-License-Identifier: BSD-3-Clause
 *
 * The file is read whole, parsed and checked into a model (model.c), and the page is written to memory
 * (page.c) before the output is opened: a bad file leaves nothing behind. */
#include "report/report.h"

#include "io/io.h"

/* Far beyond any result; keeps a compressed bomb from filling the memory. */
static const int64_t most_bytes = (int64_t)1 << 30;

static kdr_status read_all(kdr_context *ctx, const char *path, char **out, size_t *size)
{
	kdr_status st;
	kdri_input *in = NULL;
	char *text = NULL;
	int64_t used = 0, room = 1 << 16;
	size_t got = 0;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	do {
		room *= 2;
		KDRI_TRY(KDRI_GROW(ctx, &text, room));
		KDRI_TRY(kdri_input_read(ctx, in, text + used, (size_t)(room - used), &got));
		used += (int64_t)got;
	} while (used == room && room < most_bytes);
	if (used == room) {
		st = kdri_fail(ctx, KDR_ERR_SIZE,
		               "%s: has more than %lld bytes, the most a report is made of", path,
		               (long long)most_bytes);
		goto done;
	}
	*out = text;
	*size = (size_t)used;
	text = NULL;
done:
	kdri_free(ctx, text);
	kdri_input_close(ctx, in);
	return st;
}

kdr_status kdri_report_render(kdr_context *ctx, const char *file, const char *json, size_t size, char **html,
                              int64_t *length)
{
	kdr_status st;
	kdri_report report = { 0 };
	kdri_html h = { .ctx = ctx };
	KDRI_TRY(kdri_report_parse(ctx, file, json, size, &report));
	kdri_page(&h, &report);
	KDRI_TRY(h.st);
	*html = h.data;
	*length = h.used;
	h.data = NULL;
done:
	kdri_free(ctx, h.data);
	kdri_report_clear(ctx, &report);
	return st;
}

/* The page of a result that came from `file`. */
static kdr_status write_page(kdr_context *ctx, const char *file, const char *json, size_t size,
                             const char *output_html, bool force)
{
	kdr_status st;
	char *html = NULL;
	int64_t length = 0;
	KDRI_TRY(kdri_report_render(ctx, file, json, size, &html, &length));
	KDRI_TRY(kdr_write_file(ctx, output_html, html, (size_t)length, force));
done:
	kdri_free(ctx, html);
	return st;
}

kdr_status kdr_report_result(kdr_context *ctx, const kdr_result *result, const char *output_html, bool force)
{
	kdr_status st;
	char *json = NULL;
	size_t size = 0;
	if (!ctx || !result || !output_html)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "kdr_report_result: a context, a result and a file name are needed");
	KDRI_TRY(kdr_result_json(ctx, result, &json, &size));
	KDRI_TRY(write_page(ctx, "the result", json, size, output_html, force));
done:
	kdri_free(ctx, json);
	return st;
}

kdr_status kdr_report(kdr_context *ctx, const char *result_json, const char *output_html, bool force)
{
	kdr_status st;
	char *json = NULL;
	size_t size = 0;
	if (!ctx || !result_json || !output_html)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "kdr_report: a context and two file names are needed");
	KDRI_TRY(read_all(ctx, result_json, &json, &size));
	KDRI_TRY(write_page(ctx, result_json, json, size, output_html, force));
done:
	kdri_free(ctx, json);
	return st;
}
