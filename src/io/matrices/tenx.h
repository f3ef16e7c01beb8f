/* 10x Genomics: what folders and CellRanger's .h5 share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TENX_H
#define KDRI_TENX_H

#include "io/binary.h"

/* Whether the folder contains matrix.mtx or matrix.mtx.gz. */
bool kdri_is_tenx(const char *folder);
/* Whether the folder of a matrix file also has the other files of 10x: "…matrix.mtx" and "…barcodes.tsv". */
bool kdri_beside_tenx(const char *matrix);

/* Makes names different as AnnData does: the second "A" is "A-1", the third "A-2", unless others are called so. */
kdr_status kdri_names_distinct(kdr_context *ctx, char **names, int64_t count);
/* If there are features of several kinds (genes, antibodies, guides), keeps only the genes and reports this in a message
 * event. `types`: "Gene Expression" etc., one per column; or NULL. Makes data->features distinct. */
kdr_status kdri_tenx_finish(kdr_context *ctx, char *const *types, kdr_data *data);

#endif
