/* k-means: to be written. */
#include "core/internal.h"
const kdri_algo kdri_algo_kmeans = { .info = { .id = "kmeans" } };
