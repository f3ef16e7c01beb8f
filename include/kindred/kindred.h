/* kindred: clustering of related data sets, and transfer of labels between them. SPDX-License-Identifier: BSD-3-Clause
 *
 * Include this header only. A minimal program is examples/cluster.c; docs/architecture.md gives an overview.
 *
 * Conventions
 *
 *  - Functions that can fail return a kdr_status (status.h). On failure their outputs are unchanged and
 *    kdr_context_error() explains what was found and what is allowed.
 *  - NULL is allowed only for arguments whose comment allows it, and for every _free function. For any other argument,
 *    NULL gives KDR_ERR_ARGUMENT; functions that return no status then return 0, NULL or NaN, or do nothing.
 *  - The library never prints, exits or installs signal handlers.
 *  - What a _new, _read, _load or _copy function gives belongs to the caller, who frees it with the matching _free
 *    function. Pointers that accessors return belong to the object and live as long as it does, unless stated otherwise.
 *  - export.h explains which structs may grow and how the `size` member works.
 *  - Costs use n (samples), d (features), k (clusters) and nnz (stored entries: n x d for a dense matrix), for all data
 *    sets of the call together. "Memory" is what is allocated beyond the inputs. */
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
#include "kindred/matrix.h"
#include "kindred/metrics.h"
#include "kindred/model.h"
#include "kindred/report.h"
#include "kindred/result.h"
#include "kindred/status.h"
#include "kindred/text.h"
#include "kindred/version.h"

#ifdef __cplusplus
}
#endif

#endif
