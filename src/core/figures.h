/* Figures of a partition as JSON, wherever they stand. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_FIGURES_H
#define KDRI_FIGURES_H

#include "json_write.h"
#include "kindred/metrics.h"

/* acc, nmi, ..: into the object that is open. */
void kdri_json_scores(kdri_json *j, const kdr_scores *scores);
/* An object "quality": how good clusters are without truth. */
void kdri_json_quality(kdri_json *j, const kdr_quality *quality);
/* A sentence on what these figures cannot tell. */
const char *kdri_quality_note(void);

#endif
