#include "io/io.h"

static const char *const endings[] = { ".h5ad", NULL };

const kdri_format kdri_format_h5ad = {
	.id = "h5ad",
	.endings = endings,
	.help = "AnnData: X, or file.h5ad:layers/name; names from obs and var",
};
