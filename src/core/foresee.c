/* Before the work: what it is estimated to take is said, and refused where it is too much. SPDX-License-Identifier: BSD-3-Clause */
#include "core/foresee.h"

#include <stdio.h>

void kdr_estimate_text(const kdr_estimate *e, char *text, size_t room)
{
	double s = e->seconds;
	char time[32];
	if (s < 100)
		kdri_snprintf(time, sizeof time, "%.0f s", KDRI_MAX(s, 1.0));
	else if (s < 6000)
		kdri_snprintf(time, sizeof time, "%.0f min", s / 60);
	else
		kdri_snprintf(time, sizeof time, "%.0f h", s / 3600);
	if (e->bytes < 1e9)
		kdri_snprintf(text, room, "%s, %.0f MB", time, KDRI_MAX(e->bytes / 1e6, 1.0));
	else
		kdri_snprintf(text, room, "%s, %.1f GB", time, e->bytes / 1e9);
}

kdr_status kdri_estimate_check(kdr_context *ctx, const char *what, const kdr_estimate *e, double doubt)
{
	const double giga = 1e9;
	char text[80];
	bool told = ctx->max_memory > 0;
	double limit = told ? ctx->max_memory : kdri_memory_there();
	if (!(limit > 0) || e->bytes <= limit * (told ? 1 : doubt))
		return KDR_OK;
	kdr_estimate_text(e, text, sizeof text);
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on these data is estimated to take %s, of which the data are %.3g GB; %s %.3g GB", what,
	        text, e->data_bytes / giga, told ? "--max-memory allows" : "this machine has", limit / giga);
}

kdr_status kdri_foresee(kdr_context *ctx, const char *what, double beside, kdr_estimate *e)
{
	enum { LONG = 10, DOUBT = 2, MOST_BESIDE = 40000000 };
	kdr_status st;
	char text[80];
	/* The program itself, names, what reading left: it is there already. */
	double other = kdri_memory_held() - e->data_bytes - beside;
	e->bytes += beside + KDRI_MIN(KDRI_MAX(other, 0), MOST_BESIDE);
	KDRI_TRY(kdri_estimate_check(ctx, what, e, DOUBT));
	kdri_message(ctx, "%s: estimated: %.3g s, %.4g MB", what, e->seconds, e->bytes / 1e6);
	if (e->seconds >= LONG) {
		kdr_estimate_text(e, text, sizeof text);
		kdri_estimated(ctx, text);
	}
done:
	return st;
}
