/* kindred: knowledge transfer between data sets. Include this header and no other.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A minimal program is examples/cluster.c; docs/architecture.md has the whole on one page. */
#ifndef KINDRED_H
#define KINDRED_H

#ifdef __cplusplus
extern "C" {
#endif

#include "kindred/algorithm.h"
#include "kindred/bridge.h"
#include "kindred/context.h"
#include "kindred/data.h"
#include "kindred/embed.h"
#include "kindred/export.h"
#include "kindred/fit.h"
#include "kindred/generate.h"
#include "kindred/inspect.h"
#include "kindred/job.h"
#include "kindred/json.h"
#include "kindred/matrix.h"
#include "kindred/metrics.h"
#include "kindred/model.h"
#include "kindred/relate.h"
#include "kindred/report.h"
#include "kindred/result.h"
#include "kindred/status.h"
#include "kindred/text.h"
#include "kindred/version.h"

#ifdef __cplusplus
}
#endif

#endif
