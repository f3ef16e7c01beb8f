#include "io/io.h"

static const char *const endings[] = { ".mat", NULL };

const kdri_format kdri_format_mat = {
	.id = "mat",
	.endings = endings,
	.help = "MATLAB v5 and v7.3 matrix: the only one, or file.mat:variable",
};
