/* kdr_report: a result.json becomes one self-contained HTML page. SPDX-License-Identifier: BSD-3-Clause
 *
 * The file is read in full, parsed and checked (check.c), and the page is written to memory before the output is
 * opened: no output is created for a bad file. The page consists of a shell, the data (block.c), and the project's
 * own script and style (report/). Its content policy allows only these to run, by their hashes. */
#include "jobs/report/report.h"
#include "core/json_read.h"

#include "io/io.h"
#include "jobs/report/assets.h"

static void put_page(kdri_page *p, const kdri_json_value *root)
{
	char script[45], style[45];
	kdri_page_hash(kdri_page_script, kdri_page_script_size, script);
	kdri_page_hash(kdri_page_style, kdri_page_style_size, style);
	kdri_page_raw(
	        p,
	        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-");
	kdri_page_raw(p, script);
	kdri_page_raw(p, "'; style-src 'sha256-");
	kdri_page_raw(p, style);
	kdri_page_raw(p, "'; base-uri 'none'; form-action 'none'\">\n"
	                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	                 "<meta name=\"referrer\" content=\"no-referrer\">\n<title>kindred</title>\n<style>");
	kdri_page_bytes(p, kdri_page_style, kdri_page_style_size);
	kdri_page_raw(
	        p,
	        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#page\">Skip to the result</a>\n<header>\n"
	        "<h1 id=\"title\">A result of kindred</h1>\n<p id=\"by\"></p>\n"
	        "<nav id=\"contents\" aria-label=\"Sections\"></nav>\n</header>\n<main id=\"page\">\n"
	        "<noscript><p>This page needs JavaScript, which is turned off. All figures are also in "
	        "result.json.</p></noscript>\n</main>\n"
	        "<footer><p>Made by kindred. This page is self-contained and sends no data.</p></footer>\n"
	        "<script type=\"application/json\" id=\"data\">");
	kdri_page_block(p, root);
	kdri_page_raw(p, "</script>\n<script>");
	kdri_page_bytes(p, kdri_page_script, kdri_page_script_size);
	kdri_page_raw(p, "</script>\n</body>\n</html>\n");
}

kdr_status kdri_report_render(kdr_context *ctx, const char *file, const char *json, size_t size, char **html,
                              int64_t *length)
{
	kdr_status st;
	kdri_json_value *root = NULL;
	kdri_page p = { .ctx = ctx };
	KDRI_TRY(kdri_json_parse(ctx, file, 1, json, size, &root));
	KDRI_TRY(kdri_report_check(ctx, file, root));
	put_page(&p, root);
	KDRI_TRY(p.st);
	*html = p.data;
	*length = p.used;
	p.data = NULL;
done:
	kdri_free(ctx, p.data);
	kdri_json_value_free(root);
	return st;
}

/* The page of a result that was read from `file`. */
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
	KDRI_NEED(ctx, result && output_html);
	KDRI_TRY(kdr_result_json(ctx, result, true, &json, &size));
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
	KDRI_NEED(ctx, result_json && output_html);
	KDRI_TRY(kdri_report_read(ctx, result_json, &json, &size));
	KDRI_TRY(write_page(ctx, result_json, json, size, output_html, force));
done:
	kdri_free(ctx, json);
	return st;
}
