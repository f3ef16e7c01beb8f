/* Stems through libstemmer. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

#include <libstemmer.h>

struct kdri_stemmer {
	struct sb_stemmer *snowball;
};

const char *const *kdri_stemmer_names(void)
{
	return (const char *const *)sb_stemmer_list();
}

kdr_status kdri_stemmer_check(kdr_context *ctx, const char *name)
{
	struct sb_stemmer *stemmer = sb_stemmer_new(name, NULL);
	if (stemmer) {
		sb_stemmer_delete(stemmer);
		return KDR_OK;
	}
	char list[400];
	size_t used = 0;
	const char *const *names = kdri_stemmer_names();
	list[0] = '\0';
	for (int i = 0; names[i] && used + strlen(names[i]) + 3 < sizeof list; i++) {
		size_t n = strlen(names[i]);
		memcpy(list + used, names[i], n);
		memcpy(list + used + n, ", ", 3);
		used += n + 2;
	}
	list[used > 2 ? used - 2 : 0] = '\0';
	return kdri_fail(ctx, KDR_ERR_OPTION, "stemmer '%s' is not valid; use one of: none, %s", name, list);
}

kdr_status kdri_stemmer_new(kdr_context *ctx, const char *name, kdri_stemmer **out)
{
	kdr_status st;
	kdri_stemmer *s = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &s, 1));
	s->snowball = sb_stemmer_new(name, NULL);
	if (!s->snowball)
		KDRI_FAIL(ctx, KDR_ERR_MEMORY, "out of memory for the stemmer '%s'", name);
	*out = s;
	s = NULL;
done:
	kdri_stemmer_free(ctx, s);
	return st;
}

void kdri_stemmer_free(kdr_context *ctx, kdri_stemmer *s)
{
	if (!s)
		return;
	sb_stemmer_delete(s->snowball);
	kdri_free(ctx, s);
}

const char *kdri_stem(kdri_stemmer *s, const char *word, size_t *length)
{
	const sb_symbol *stem = sb_stemmer_stem(s->snowball, (const sb_symbol *)word, (int)*length);
	if (stem)
		*length = (size_t)sb_stemmer_length(s->snowball);
	return (const char *)stem;
}
