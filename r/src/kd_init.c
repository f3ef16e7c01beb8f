/* Registers the functions that R code calls. SPDX-License-Identifier: BSD-3-Clause */
#include "kd_r.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define CALL(name, arguments) \
	{ \
		"C_" #name, (DL_FUNC)&kd_##name, arguments \
	}

static const R_CallMethodDef calls[] = {
	CALL(session_new, 2),        CALL(session_state, 1), CALL(session_free, 1),  CALL(data_dense, 6),
	CALL(data_sparse, 9),        CALL(data_copy, 3),     CALL(data_release, 1),  CALL(data_info, 1),
	CALL(data_values, 1),        CALL(data_classify, 4), CALL(read_sets, 7),     CALL(make_sets, 3),
	CALL(write_data, 4),         CALL(run_cluster, 3),   CALL(run_transfer, 6),  CALL(run_relate, 3),
	CALL(run_embed, 3),          CALL(run_predict, 4),   CALL(run_evaluate, 3),  CALL(result_info, 1),
	CALL(result_named_array, 3), CALL(result_text, 3),   CALL(result_parsed, 2), CALL(result_save, 4),
	CALL(result_page, 4),        CALL(file_page, 4),     CALL(model_make, 2),    CALL(model_read, 2),
	CALL(model_write, 4),        CALL(model_info, 1),    CALL(result_ask, 5),    CALL(apply_edits, 6),
	CALL(algorithms, 0),         CALL(values, 1),        CALL(build, 0),         CALL(is_alive, 1),
	CALL(data_combine, 2),       CALL(data_explain, 3),  CALL(result_input, 7),  CALL(result_rename, 4),
	{ NULL, NULL, 0 },
};

void attribute_visible R_init_kindred(DllInfo *dll)
{
	R_registerRoutines(dll, NULL, calls, NULL, NULL);
	R_useDynamicSymbols(dll, FALSE);
	R_forceSymbols(dll, TRUE);
}
