/* Stems in a build without libstemmer: none. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "text/text.h"

const char *const *kdri_stemmer_names(void)
{
	static const char *const none[] = { NULL };
	return none;
}

kdr_status kdri_stemmer_check(kdr_context *ctx, const char *name)
{
	char what[80];
	snprintf(what, sizeof what, "stemmer '%.60s'", name);
	return kdri_absent(ctx, what, "libstemmer", "use stemmer=none to leave words unchanged");
}

/* Never reached: the check comes first. */
kdr_status kdri_stemmer_new(kdr_context *ctx, const char *name, kdri_stemmer **out)
{
	*out = NULL;
	return kdri_stemmer_check(ctx, name);
}

void kdri_stemmer_free(kdr_context *ctx, kdri_stemmer *stemmer)
{
	(void)ctx;
	(void)stemmer;
}

// NOLINTNEXTLINE(readability-non-const-parameter): the signature of the one that stems
const char *kdri_stem(kdri_stemmer *stemmer, const char *word, size_t *length)
{
	(void)stemmer;
	(void)length;
	return word;
}
