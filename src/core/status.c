/* Status codes in words. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

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
