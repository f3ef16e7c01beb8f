/* 10x Genomics: what folders and CellRanger's .h5 share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TENX_H
#define KDRI_TENX_H

#include "io/binary.h"

/* Whether the folder holds a matrix.mtx or matrix.mtx.gz. */
bool kdri_is_tenx(const char *folder);
/* Whether the files of 10x lie beside a matrix that is one of them: "…matrix.mtx" and "…barcodes.tsv". */
bool kdri_beside_tenx(const char *matrix);

/* Makes names different as AnnData does: the second "A" is "A-1", the third "A-2", unless others are called so. */
kdr_status kdri_names_distinct(kdr_context *ctx, char **names, int64_t count);
/* Where there are features of several kinds (genes, antibodies, guides) the genes alone stay, and a message event says so.
 * `types`: "Gene Expression" and the like, one a column; or NULL. data->features are made distinct. */
kdr_status kdri_tenx_finish(kdr_context *ctx, char *const *types, kdr_data *data);

#endif
