/* Selection models of bridges as files. SPDX-License-Identifier: BSD-3-Clause
 *
 *     {"kindred": VERSION, "kind": "selector", "beta": [7 numbers], "triples": N, "helpful": N, "log_likelihood": X}
 *
 * Nothing in the file is trusted: a field that is missing or of the wrong type is named. */

#include "core/json_read.h"
#include "io/io.h"
#include "kindred/bridge.h"

enum { BETAS = 1 + KDR_BRIDGE_FEATURES, MOST_BYTES = 1 << 16 };

kdr_status kdr_selector_save(kdr_context *ctx, const char *path, const kdr_selector *selector, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	char number[32];
	KDRI_NEED(ctx, path && selector);
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	KDRI_TRY(kdri_output_printf(ctx, o, "{\"kindred\": \"%s\", \"kind\": \"selector\", \"beta\": [",
	                            kdr_version()));
	for (int k = 0; k < BETAS; k++) {
		kdri_print_double(selector->beta[k], number);
		KDRI_TRY(kdri_output_printf(ctx, o, "%s%s", k ? ", " : "", number));
	}
	kdri_print_double(selector->log_likelihood, number);
	KDRI_TRY(kdri_output_printf(ctx, o,
	                            "], \"triples\": %lld, \"helpful\": %lld, \"log_likelihood\": %s}\n",
	                            (long long)selector->triples, (long long)selector->helpful, number));
done:
	return kdri_output_finish(ctx, o, st);
}

static kdr_status selector_bad(kdr_context *ctx, const char *path, const char *what)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not a kindred selector: %s", path, what);
}

static kdr_status selector_parse(kdr_context *ctx, const char *path, const kdri_json_value *root,
                                 kdr_selector *out)
{
	const kdri_json_value *kind = kdri_json_get(root, "kind"), *beta = kdri_json_get(root, "beta");
	kdr_selector s = { 0 };
	if (!kdri_json_is(kind, KDRI_JSON_TEXT) || strcmp(kdri_json_text(kind, NULL), "selector") != 0)
		return selector_bad(ctx, path, "field kind is not \"selector\"");
	if (!kdri_json_is(beta, KDRI_JSON_ARRAY) || kdri_json_count(beta) != BETAS)
		return selector_bad(ctx, path, "field beta is not an array of 7 numbers");
	for (int k = 0; k < BETAS; k++) {
		if (!kdri_json_is_number(kdri_json_at(beta, k)))
			return selector_bad(ctx, path, "field beta is not an array of 7 numbers");
		s.beta[k] = kdri_json_number(kdri_json_at(beta, k), 0);
	}
	/* The rest is for people: absent or odd, it is 0. */
	s.triples = kdri_json_integer(kdri_json_get(root, "triples"), 0);
	s.helpful = kdri_json_integer(kdri_json_get(root, "helpful"), 0);
	s.log_likelihood = kdri_json_number(kdri_json_get(root, "log_likelihood"), 0);
	*out = s;
	return KDR_OK;
}

kdr_status kdr_selector_load(kdr_context *ctx, const char *path, kdr_selector *out)
{
	kdr_status st;
	kdri_input *in = NULL;
	char *text = NULL;
	kdri_json_value *root = NULL;
	size_t got = 0;
	KDRI_NEED(ctx, path && out);
	KDRI_TRY(KDRI_NEW(ctx, &text, MOST_BYTES));
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(kdri_input_read(ctx, in, text, MOST_BYTES, &got));
	if (got == MOST_BYTES) {
		st = selector_bad(ctx, path, "it is too large");
		goto done;
	}
	KDRI_TRY(kdri_json_parse(ctx, path, 1, text, got, &root));
	if (!kdri_json_is(root, KDRI_JSON_OBJECT)) {
		st = selector_bad(ctx, path, "it is not a JSON object");
		goto done;
	}
	KDRI_TRY(selector_parse(ctx, path, root, out));
done:
	kdri_json_value_free(root);
	kdri_input_close(ctx, in);
	kdri_free(ctx, text);
	return st;
}
