/* kdr_report: a result.json becomes one self-contained HTML page. SPDX-License-Identifier: BSD-3-Clause
 *
 * The file is read in full, parsed and checked (check.c), and the page is written to memory before the output is
 * opened: no output is created for a bad file. The page consists of a shell, the data (block.c), and the project's
 * own script and style (report/). Its content policy allows only these to run, by their hashes. */
#include "jobs/report/report.h"

#include "io/io.h"
#include "jobs/report/assets.h"
#include "jobs/write/result_file.h"

static void put_text(kdri_json *j, const char *text)
{
	kdri_json_raw(j, text, strlen(text));
}

kdr_status kdri_report_page(kdr_context *ctx, const kdri_json_value *root, char **html, size_t *length)
{
	char script[45], style[45];
	kdri_json j = kdri_page_json(ctx);
	kdri_page_hash(kdri_page_script, kdri_page_script_size, script);
	kdri_page_hash(kdri_page_style, kdri_page_style_size, style);
	put_text(
	        &j,
	        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-");
	put_text(&j, script);
	put_text(&j, "'; style-src 'sha256-");
	put_text(&j, style);
	put_text(&j, "'; base-uri 'none'; form-action 'none'\">\n"
	             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	             "<meta name=\"referrer\" content=\"no-referrer\">\n<title>kindred</title>\n<style>");
	kdri_json_raw(&j, kdri_page_style, kdri_page_style_size);
	put_text(
	        &j,
	        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#page\">Skip to the result</a>\n<header>\n"
	        "<h1 id=\"title\">A result of kindred</h1>\n<p id=\"by\"></p>\n"
	        "<nav id=\"contents\" aria-label=\"Sections\"></nav>\n</header>\n<main id=\"page\">\n"
	        "<noscript><p>This page needs JavaScript, which is turned off. All figures are also in "
	        "result.json.</p></noscript>\n</main>\n"
	        "<footer><p>Made by kindred. This page is self-contained and sends no data.</p></footer>\n"
	        "<script type=\"application/json\" id=\"data\">");
	kdri_page_block(&j, root);
	put_text(&j, "</script>\n<script>");
	kdri_json_raw(&j, kdri_page_script, kdri_page_script_size);
	put_text(&j, "</script>\n</body>\n</html>\n");
	return kdri_json_take_text(ctx, &j, KDR_OK, "the report", html, length);
}

kdr_status kdri_report_write(kdr_context *ctx, const kdri_json_value *root, const char *output_html,
                             bool force)
{
	kdr_status st;
	char *html = NULL;
	size_t length = 0;
	KDRI_TRY(kdri_report_page(ctx, root, &html, &length));
	KDRI_TRY(kdr_write_file(ctx, output_html, html, length, force));
done:
	kdri_free(ctx, html);
	return st;
}

/* The page of a tree, which is freed, if there is one. */
static kdr_status write_and_free(kdr_context *ctx, kdr_status st, kdri_json_value *root,
                                 const char *output_html, bool force)
{
	if (st == KDR_OK)
		st = kdri_report_write(ctx, root, output_html, force);
	kdri_json_value_free(root);
	return st;
}

kdr_status kdr_report_result(kdr_context *ctx, const kdr_result *result, const char *output_html, bool force)
{
	kdri_json_value *root = NULL;
	KDRI_NEED(ctx, result && output_html);
	const kdr_status st = kdri_result_tree(ctx, result, true, &root);
	return write_and_free(ctx, st, root, output_html, force);
}

kdr_status kdr_report(kdr_context *ctx, const char *result_json, const char *output_html, bool force)
{
	kdri_json_value *root = NULL;
	KDRI_NEED(ctx, result_json && output_html);
	const kdr_status st = kdri_result_file_read(ctx, result_json, &root);
	return write_and_free(ctx, st, root, output_html, force);
}
