/* A result.json as the input of a job. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/result_file.h"

#include "core/system.h"

#include "io/table/csv.h"
#include "jobs/report/report.h"

#include <stdio.h>

kdr_status kdri_result_file_open(kdr_context *ctx, const char *path, kdri_result_file *out)
{
	kdr_status st;
	size_t size = 0;
	KDRI_TRY(kdri_report_read(ctx, path, &out->text, &size));
	KDRI_TRY(kdri_json_parse(ctx, path, 1, out->text, size, &out->root));
	KDRI_TRY(kdri_report_check(ctx, path, out->root));
done:
	return st;
}

void kdri_result_file_close(kdr_context *ctx, kdri_result_file *file)
{
	kdri_json_value_free(file->root);
	kdri_free(ctx, file->text);
	*file = (kdri_result_file){ 0 };
}

bool kdri_json_has_length(const kdri_json_value *list, int64_t n)
{
	return !list || (kdri_json_is(list, KDRI_JSON_ARRAY) && kdri_json_count(list) == n);
}

kdr_status kdri_check_file_name(kdr_context *ctx, const char *path, int64_t task, const char *where,
                                const char *name)
{
	if (name && name[0] && name[0] != '.' && !strpbrk(name, kdri_not_in_names))
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: data set %lld of %s: its name cannot be the name of a file", path,
	                 (long long)task + 1, where);
}

kdr_status kdri_put_id_cell(kdr_context *ctx, kdri_output *out, const kdri_json_value *ids, int64_t i)
{
	const char *id = kdri_json_text(kdri_json_at(ids, i), NULL);
	return id ? kdri_csv_put_text(ctx, out, id, ',')
	          : kdri_output_printf(ctx, out, "%lld", (long long)i + 1);
}

kdr_status kdri_put_number_cell(kdr_context *ctx, kdri_output *out, const kdri_json_value *value)
{
	char text[64] = "";
	const double number = kdri_json_number(value, NAN);
	if (isfinite(number))
		text[kdri_print_double(number, text)] = '\0';
	return kdri_output_write(ctx, out, text, strlen(text));
}

kdr_status kdri_result_fingerprint(kdr_context *ctx, const kdri_json_value *root, char out[KDRI_FINGERPRINT])
{
	const kdri_json_value *tasks = kdri_json_get(root, "tasks");
	kdri_page p = { .ctx = ctx };
	char number[32];
	for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
		const kdri_json_value *task = kdri_json_at(tasks, t), *labels = kdri_json_get(task, "labels");
		const char *name = kdri_json_text(kdri_json_get(task, "name"), NULL);
		kdri_page_raw(&p, name ? name : "");
		kdri_page_raw(&p, "\n");
		for (int64_t i = 0; i < kdri_json_count(labels); i++) {
			const kdri_json_value *label = kdri_json_at(labels, i);
			const char *text = kdri_json_text(label, NULL);
			snprintf(number, sizeof number, "%lld", (long long)kdri_json_integer(label, -1));
			kdri_page_raw(&p, text ? text : number);
			kdri_page_raw(&p, "\n");
		}
	}
	snprintf(number, sizeof number, "%lld",
	         (long long)kdri_json_count(kdri_json_get(kdri_json_get(root, "edited"), "edits")));
	kdri_page_raw(&p, number);
	if (p.st == KDR_OK)
		kdri_page_hash(p.data, (size_t)p.used, out);
	kdri_free(ctx, p.data);
	return p.st;
}
