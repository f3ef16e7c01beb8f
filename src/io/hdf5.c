#include "io/io.h"

static const char *const endings[] = { ".h5", ".hdf5", NULL };

const kdri_format kdri_format_hdf5 = {
	.id = "hdf5",
	.endings = endings,
	.help = "HDF5 dataset of two dimensions: the only one, or file.h5:/path",
};
