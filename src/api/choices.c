/* The names of option values, each list in the order of its enumeration. SPDX-License-Identifier: BSD-3-Clause */
#include "io/table/table.h"
#include "prepare/prep.h"

const char *const *kdr_choices(const char *name)
{
	static const char *const fits[] = { "all", "each", NULL };
	static const char *const new_clusters[] = { "auto", "yes", "no", NULL };
	static const char *const preprocess[] = { "default", "by-data", "none", NULL };
	static const char *const layouts[] = { "forces", "directions", NULL };
	const struct {
		const char *name;
		const char *const *choices;
	} sets[] = { { "features", kdri_align_names },  { "weight", kdri_weight_names },
		     { "norm", kdri_norm_names },       { "scale", kdri_scale_names },
		     { "top-by", kdri_top_names },      { "fit-on", fits },
		     { "missing", kdri_missing_names }, { "new-clusters", new_clusters },
		     { "preprocess", preprocess },      { "layout", layouts } };
	for (size_t i = 0; name && i < sizeof sets / sizeof sets[0]; i++)
		if (strcmp(sets[i].name, name) == 0)
			return sets[i].choices;
	return NULL;
}
