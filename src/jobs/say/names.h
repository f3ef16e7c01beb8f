/* Names of clusters. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NAMES_OF_CLUSTERS_H
#define KDRI_NAMES_OF_CLUSTERS_H

#include "io/io.h"

enum { KDRI_NAME_MOST = 200 }; /* characters of a name */

typedef struct kdri_name_list {
	int64_t count;
	int64_t *numbers;
	char **names;
} kdri_name_list;

/* Reads numbers and names, one pair per line, with or without a header. Names are valid, and no number or name occurs twice. */
kdr_status kdri_name_list_read(kdr_context *ctx, kdri_input *in, kdri_name_list *out);
void kdri_name_list_free(kdr_context *ctx, kdri_name_list *list);

#endif
