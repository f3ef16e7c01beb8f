/* The registry: one line per method in methods/algorithms.def. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"

#include <stdio.h>

#define KDR_ALGORITHM(symbol) extern const kdri_algo kdri_algo_##symbol;
#include "methods/algorithms.def"
#undef KDR_ALGORITHM

static const kdri_algo *const algorithms[] = {
#define KDR_ALGORITHM(symbol) &kdri_algo_##symbol,
#include "methods/algorithms.def"
#undef KDR_ALGORITHM
};

static const size_t algorithm_count = sizeof algorithms / sizeof algorithms[0];

const kdr_algo *kdr_algo_at(size_t index)
{
	return index < algorithm_count ? &algorithms[index]->info : NULL;
}

const kdri_algo *kdri_algo_find(const char *id)
{
	for (size_t i = 0; id && i < algorithm_count; i++)
		if (strcmp(algorithms[i]->info.id, id) == 0)
			return algorithms[i];
	return NULL;
}

void kdri_unknown_method(const char *id, const kdr_family *family, char *text, size_t room)
{
	const char *all[64] = { NULL }, *nearest[1] = { NULL };
	size_t count = 0;
	for (size_t i = 0; i < kdr_algo_count() && count < 64; i++)
		if (!family || kdr_algo_at(i)->family == *family)
			all[count++] = kdr_algo_at(i)->id;
	if (id && kdr_suggest(id, all, count, nearest, 1) > 0)
		snprintf(text, room, "there is no method '%s'; did you mean %s?", id, nearest[0]);
	else
		snprintf(text, room, "there is no method '%s'; run 'kindred methods' for a list",
		         id ? id : "(null)");
}
void kdri_algo_set_unknown(kdr_context *ctx, const char *id, const kdr_family *family)
{
	char text[256];
	kdri_unknown_method(id, family, text, sizeof text);
	kdri_set_error(ctx, "%s", text);
}

const kdr_algo *kdr_algo_find(const char *id)
{
	const kdri_algo *algo = kdri_algo_find(id);
	return algo ? &algo->info : NULL;
}

const kdr_algo *kdri_algo_find_in(kdr_family family, const char *name)
{
	for (size_t i = 0; i < algorithm_count; i++) {
		const kdr_algo *a = &algorithms[i]->info;
		if (a->family == family &&
		    (strcmp(a->id, name) == 0 || (a->called && strcmp(a->called, name) == 0)))
			return a;
	}
	return NULL;
}

const kdr_option_desc *kdr_algo_option_at(const kdr_algo *algo, size_t index)
{
	for (size_t i = 0; algo && algo->options && algo->options[i].name; i++)
		if (i == index)
			return &algo->options[i];
	return NULL;
}

const kdr_field_desc *kdr_algo_field_at(const kdr_algo *algo, size_t index)
{
	for (size_t i = 0; algo && algo->fields && algo->fields[i].name; i++)
		if (i == index)
			return &algo->fields[i];
	return NULL;
}
