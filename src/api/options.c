/* Options set by name, checked against their descriptors. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "core/numbers.h"
#include "matrix/kept.h"

#include <assert.h>
#include <stdlib.h>

/* The value of one option. */
typedef struct slot {
	double value;
	double *list; /* KDR_OPTION_REALS with `count` > 1 numbers; else NULL */
	int64_t count;
	bool set; /* set explicitly, even to the default */
} slot;

struct kdr_options {
	kdr_allocator allocator;
	const kdr_algo *algo;
	int64_t count;
	slot slots[];
};

static int64_t table_length(const kdr_option_desc *table)
{
	int64_t n = 0;
	while (table[n].name)
		n++;
	return n;
}

static int64_t options_find(const kdr_options *options, const char *name)
{
	for (int64_t i = 0; i < options->count; i++)
		if (strcmp(options->algo->options[i].name, name) == 0)
			return i;
	return -1;
}

kdr_status kdri_options_new(kdr_context *ctx, const kdri_algo *algo, const kdri_setting *settings,
                            kdr_options **out)
{
	int64_t count = table_length(algo->info.options);
	kdr_options *options = NULL;
	kdr_status st =
	        kdri_alloc(ctx, &options, (int64_t)sizeof *options + count * (int64_t)sizeof(slot), 1);
	if (st != KDR_OK)
		return st;
	options->allocator = ctx->allocator;
	options->algo = &algo->info;
	options->count = count;
	for (int64_t i = 0; i < count; i++)
		options->slots[i] = (slot){ algo->info.options[i].initial, NULL, 1, false };
	st = kdri_options_apply(ctx, options, settings);
	if (st == KDR_OK)
		*out = options;
	else
		kdr_options_free(options);
	return st;
}

kdr_status kdr_options_new(kdr_context *ctx, const char *algo_id, kdr_options **out)
{
	KDRI_NEED(ctx, algo_id && out);
	const kdri_algo *algo = kdri_algo_find(algo_id);
	return algo ? kdri_options_new(ctx, algo, NULL, out) : kdri_algo_unknown(ctx, algo_id, NULL);
}

void kdr_options_free(kdr_options *options)
{
	if (!options)
		return;
	kdr_allocator a = options->allocator;
	for (int64_t i = 0; i < options->count; i++)
		kdri_free_with(&a, options->slots[i].list);
	kdri_free_with(&a, options);
}

kdr_status kdri_options_copy(kdr_context *ctx, const kdr_options *options, kdr_options **out)
{
	kdr_status st;
	kdr_options *copy = NULL;
	KDRI_TRY(kdri_options_new(ctx, kdri_options_algo(options), NULL, &copy));
	for (int64_t i = 0; i < options->count; i++) {
		const slot *from = &options->slots[i];
		slot *to = &copy->slots[i];
		if (from->list) {
			KDRI_TRY(KDRI_NEW(ctx, &to->list, from->count));
			memcpy(to->list, from->list, (size_t)from->count * sizeof *to->list);
		}
		to->value = from->value;
		to->count = from->count;
		to->set = from->set;
	}
	*out = copy;
	copy = NULL;
done:
	kdr_options_free(copy);
	return st;
}

bool kdri_options_has(const kdr_options *options, const char *name)
{
	return options_find(options, name) >= 0;
}

bool kdri_options_is_set(const kdr_options *options, const char *name)
{
	int64_t i = options_find(options, name);
	return i >= 0 && options->slots[i].set;
}

uint64_t kdri_options_key(const kdr_context *ctx, const kdr_options *options, const kdr_mat *x)
{
	uint64_t key = kdri_mat_hash(x, ctx->seed), bits;
	for (int64_t i = 0; i < options->count; i++) {
		const slot *s = &options->slots[i];
		for (int64_t j = 0; j < (s->list ? s->count : 1); j++) {
			memcpy(&bits, s->list ? &s->list[j] : &s->value, sizeof bits);
			key = kdri_hash_number(bits, key);
		}
	}
	return key;
}

const kdr_algo *kdr_options_algo(const kdr_options *options)
{
	return options ? options->algo : NULL;
}

const kdri_algo *kdri_options_algo(const kdr_options *options)
{
	return kdri_algo_of(options->algo);
}

/* Writes "a, b, c" for `count` words, truncated to the room available. */
static void options_join(const char *const *words, size_t count, char *out, size_t room)
{
	out[0] = '\0';
	for (size_t i = 0; i < count; i++)
		kdri_list_add(out, room, "%s", words[i]);
}

static kdr_status unknown_name(kdr_context *ctx, const kdr_options *options, const char *name)
{
	const char *all[64] = { NULL }, *nearest[3] = { NULL };
	char list[300];
	size_t n = 0, found;
	for (int64_t i = 0; i < options->count && n < 64; i++)
		all[n++] = options->algo->options[i].name;
	found = kdr_suggest(name, all, n, nearest, 3);
	options_join(found ? nearest : all, found ? found : n, list, sizeof list);
	return kdri_fail(ctx, KDR_ERR_OPTION, "method '%s' has no option '%s'; %s %s%s", options->algo->id,
	                 name, found ? "did you mean" : "its options are", list, found ? "?" : "");
}

/* Whether an option can have a value: a number, 0 or 1, or the index of a choice. */
static bool is_valid(const kdr_option_desc *d, double value)
{
	int count = 2;
	if (d->type == KDR_OPTION_CHOICE)
		for (count = 0; d->choices[count];)
			count++;
	if (d->type == KDR_OPTION_BOOL || d->type == KDR_OPTION_CHOICE)
		return value >= 0 && value < count && value == floor(value);
	return value >= d->min && value <= d->max && !(d->open_min && value == d->min) &&
	       !(d->open_max && value == d->max) && (d->type != KDR_OPTION_INT || value == floor(value));
}

kdr_status kdri_option_invalid(kdr_context *ctx, const char *before, const kdr_option_desc *d,
                               const char *value)
{
	const bool limited = d->max < 1e18;
	char use[300] = "", end[64] = "";
	if (d->type == KDR_OPTION_BOOL)
		kdri_list_add(use, sizeof use, "true or false");
	for (int i = 0; d->type == KDR_OPTION_CHOICE && d->choices[i]; i++)
		kdri_list_add(use, sizeof use, "%s%s", i ? "" : "one of: ", d->choices[i]);
	if (limited)
		kdri_snprintf(end, sizeof end, "%s%.15g",
		              d->open_min   ? d->open_max ? " and below " : " and at most "
		              : d->open_max ? " to below "
		                            : " to ",
		              d->max);
	if (!use[0])
		kdri_snprintf(use, sizeof use, "%s%s%.15g%s",
		              d->type == KDR_OPTION_INT ? "a whole number" : "a number",
		              d->open_min ? " above "
		              : limited   ? " from "
		                          : ", ",
		              d->min, limited || d->open_min ? end : " or larger");
	return kdri_fail(ctx, KDR_ERR_OPTION, "%s%s: '%s' is not valid; use %s", before, d->name, value, use);
}

static kdr_status set_list(kdr_context *ctx, kdr_options *options, int64_t i, const double *values,
                           int64_t count)
{
	const kdr_option_desc *d = &options->algo->options[i];
	slot *to = &options->slots[i];
	double *list = NULL;
	if (count < 1 || (count > 1 && d->type != KDR_OPTION_REALS))
		return kdri_fail(ctx, KDR_ERR_OPTION, "option %s: got %lld numbers, expected %s", d->name,
		                 (long long)count, d->type == KDR_OPTION_REALS ? "at least 1" : "1");
	for (int64_t j = 0; j < count; j++)
		if (!is_valid(d, values[j])) {
			char text[KDRI_PRINT_17];
			kdri_print_double(values[j], text);
			return kdri_option_invalid(ctx, "option ", d, text);
		}
	if (count > 1) {
		KDRI_DO(KDRI_NEW(ctx, &list, count));
		memcpy(list, values, (size_t)count * sizeof *list);
	}
	const double first = values[0]; /* `values` may be the old list */
	kdri_free_with(&options->allocator, to->list);
	*to = (slot){ first, list, count, true };
	return KDR_OK;
}

kdr_status kdr_options_set_numbers(kdr_context *ctx, kdr_options *options, const char *name,
                                   const double *values, int64_t count)
{
	KDRI_NEED(ctx, options && name && values);
	int64_t i = options_find(options, name);
	return i < 0 ? unknown_name(ctx, options, name) : set_list(ctx, options, i, values, count);
}

/* 1 for true, 0 for false, -1 for other words. */
static int parse_bool(const char *text)
{
	static const char *const words[] = { "0", "1", "false", "true", "no", "yes", "off", "on", NULL };
	const int i = kdri_word_index(words, text);
	return i < 0 ? i : i % 2;
}

bool kdri_option_read(const kdr_option_desc *d, const char *text, double *value)
{
	const char *end = text + strlen(text);
	*value = d->type == KDR_OPTION_BOOL     ? parse_bool(text)
	         : d->type == KDR_OPTION_CHOICE ? kdri_word_index(d->choices, text)
	                                        : NAN;
	if (isnan(*value) && kdri_parse_double(text, end, value) != end)
		return false;
	return is_valid(d, *value);
}

/* "12,15,10" */
static kdr_status set_reals(kdr_context *ctx, kdr_options *options, int64_t i, const char *text)
{
	kdr_status st;
	double *values = NULL;
	int64_t count = 1, at = 0;
	for (const char *c = text; *c; c++)
		count += *c == ',';
	KDRI_TRY(KDRI_NEW(ctx, &values, count));
	for (const char *next = text;; next++) {
		const char *end = kdri_parse_double(next, text + strlen(text), &values[at]);
		if (!end || (*end != ',' && *end != '\0') || isnan(values[at++]))
			KDRI_FAIL(
			        ctx, KDR_ERR_OPTION,
			        "option %s: '%s' is not valid; use one number, or one per data set separated by commas",
			        options->algo->options[i].name, text);
		next = end;
		if (*next == '\0')
			break;
	}
	KDRI_TRY(set_list(ctx, options, i, values, at));
done:
	kdri_free(ctx, values);
	return st;
}

kdr_status kdr_options_set(kdr_context *ctx, kdr_options *options, const char *name, const char *value)
{
	KDRI_NEED(ctx, options && name && value);
	int64_t i = options_find(options, name);
	if (i < 0)
		return unknown_name(ctx, options, name);
	const kdr_option_desc *d = &options->algo->options[i];
	if (d->type == KDR_OPTION_REALS)
		return set_reals(ctx, options, i, value);
	double number;
	return kdri_option_read(d, value, &number) ? set_list(ctx, options, i, &number, 1)
	                                           : kdri_option_invalid(ctx, "option ", d, value);
}

double kdr_options_get(const kdr_options *options, const char *name)
{
	int64_t i = options && name ? options_find(options, name) : -1;
	return i < 0 ? NAN : options->slots[i].value;
}

const double *kdri_options_numbers(const kdr_options *options, const char *name, int64_t *count)
{
	int64_t i = options_find(options, name);
	const slot *s = i < 0 ? NULL : &options->slots[i];
	*count = s ? s->count : 0;
	return !s ? NULL : s->list ? s->list : &s->value;
}

kdr_status kdri_options_fit_tasks(kdr_context *ctx, const kdr_options *options, int64_t ntasks)
{
	for (int64_t i = 0; i < options->count; i++) {
		int64_t count = options->slots[i].count;
		const char *name = options->algo->options[i].name;
		if (count > 1 && ntasks == 1)
			return kdri_fail(
			        ctx, KDR_ERR_OPTION,
			        "option %s has %lld numbers, but there is only 1 data set; give one number",
			        name, (long long)count);
		if (count > 1 && count != ntasks)
			return kdri_fail(
			        ctx, KDR_ERR_OPTION,
			        "option %s has %lld numbers, but there are %lld data sets; give one number, or %lld",
			        name, (long long)count, (long long)ntasks, (long long)ntasks);
	}
	return KDR_OK;
}

/* A list is read by kdri_opt_reals alone: which of its numbers is meant? */
double kdri_opt_real(const kdr_options *options, const char *name)
{
	int64_t i = options_find(options, name);
	assert(i >= 0 && options->algo->options[i].type != KDR_OPTION_REALS);
	return i < 0 ? 0 : options->slots[i].value;
}

double kdri_opt_reals(const kdr_options *options, const char *name, int64_t task)
{
	int64_t count;
	const double *values = kdri_options_numbers(options, name, &count);
	assert(values && task >= 0 && (count == 1 || task < count));
	return !values ? 0 : values[count == 1 ? 0 : task];
}

int64_t kdri_opt_int(const kdr_options *options, const char *name)
{
	return (int64_t)kdri_opt_real(options, name);
}

int kdri_opt_choice(const kdr_options *options, const char *name)
{
	return (int)kdri_opt_real(options, name);
}

bool kdri_opt_bool(const kdr_options *options, const char *name)
{
	return kdri_opt_real(options, name) != 0;
}

kdr_status kdri_options_apply(kdr_context *ctx, kdr_options *options, const kdri_setting *settings)
{
	for (; settings && settings->name; settings++)
		KDRI_DO(settings->choice
		                ? kdr_options_set(ctx, options, settings->name, settings->choice)
		                : kdr_options_set_number(ctx, options, settings->name, settings->value));
	return KDR_OK;
}
