/* How far a job is, as a line for a terminal. SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "kindred/kindred.h"

/* One line, such as "snmf  [######......] 52 %  3.1 s  about 40 s left", `elapsed` seconds after the start. `limit`: seconds that the
 * job may take; 0 if there is no limit. */
void cli_progress_text(const kdr_event *event, double elapsed, double limit, char *text, size_t room);

#endif
