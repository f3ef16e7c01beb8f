/* Scores of a clustering as JSON. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_FIGURES_H
#define KDRI_FIGURES_H

#include "core/json_write.h"
#include "kindred/metrics.h"

/* Writes acc, nmi, ... into the open object. */
void kdri_json_scores(kdri_json *j, const kdr_scores *scores);
/* Writes them as an object "metrics", null if there are none. */
void kdri_json_metrics(kdri_json *j, const kdr_scores *scores);
/* Writes an object "quality": scores that need no true classes. */
void kdri_json_quality(kdri_json *j, const kdr_quality *quality);
/* A sentence about what these scores do not measure. */
const char *kdri_quality_note(void);

#endif
