/* Messages of errors. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

/* Status codes in words. */

const char *kdr_strerror(int status)
{
	switch (status) {
	case KDR_OK: return "success";
	case KDR_ERR_ARGUMENT: return "invalid argument";
	case KDR_ERR_OPTION: return "invalid option";
	case KDR_ERR_EXISTS: return "output exists";
	case KDR_ERR_DATA: return "unusable data";
	case KDR_ERR_FORMAT: return "malformed file";
	case KDR_ERR_READ: return "cannot read";
	case KDR_ERR_NUMERIC: return "numeric failure";
	case KDR_ERR_MEMORY: return "out of memory";
	case KDR_ERR_SIZE: return "size too large";
	case KDR_ERR_WRITE: return "cannot write";
	case KDR_ERR_UNSUPPORTED: return "not supported";
	case KDR_ERR_INTERNAL: return "internal error";
	default: return "unknown status";
	}
}

const char *kdr_context_error(const kdr_context *ctx)
{
	return ctx ? ctx->error : "";
}

void kdri_set_error(kdr_context *ctx, const char *format, ...)
{
	if (!ctx)
		return;
	va_list args;
	ctx->over_limit = false;
	va_start(args, format);
	kdri_vsnprintf(ctx->error, sizeof ctx->error, format, args);
	va_end(args);
	/* One line, whatever a file or an argument held. */
	for (char *p = ctx->error; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127)
			*p = '?';
}

void kdri_set_absent(kdr_context *ctx, const char *what, const char *part, const char *instead)
{
	kdri_set_error(ctx, "%s: this build of kindred has no %s%s%s", what, part, instead ? "; " : "",
	               instead ? instead : "");
}

/* printf whose numbers have a point, whatever locale the caller has set. */
int kdri_snprintf(char *text, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = kdri_vsnprintf(text, room, format, args);
	va_end(args);
	return n;
}
