/* Opening a device in the background, for folders that know no devices. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_BACKGROUND_H
#define KDRI_BACKGROUND_H

#include "core/internal.h"

#include <stdatomic.h>

/* context.c: set by matrix/device_use.c; NULL as long as nobody chose a device. */
extern void (*_Atomic kdri_expect_hook)(kdr_context *ctx, double bytes);
extern void (*_Atomic kdri_settle_hook)(void);

/* Data of so many bytes are about to be read for a job: a device that the job may use is opened meanwhile. */
static inline void kdri_expect(kdr_context *ctx, double bytes)
{
	void (*expect)(kdr_context *, double) = atomic_load(&kdri_expect_hook);
	if (expect)
		expect(ctx, bytes);
}

/* Waits for the thread that opens it, before the process ends or forks. */
static inline void kdri_settle(void)
{
	void (*settle)(void) = atomic_load(&kdri_settle_hook);
	if (settle)
		settle();
}

#endif
