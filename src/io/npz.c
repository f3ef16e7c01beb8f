#include "io/io.h"

static const char *const endings[] = { ".npz", NULL };

const kdri_format kdri_format_npz = {
	.id = "npz",
	.endings = endings,
	.help = "NumPy archive: the only array, or file.npz:name; scipy.sparse CSR and CSC",
};
