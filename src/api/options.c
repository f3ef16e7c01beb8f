/* Options set by name, checked against their descriptors. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "core/numbers.h"
#include "matrix/kept.h"

#include <assert.h>
#include <stdio.h>
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

/* The allowed values of a number. */
static const char *range(const kdr_option_desc *d, char *out, size_t room)
{
	snprintf(out, room, "%s in %c%g, %g%c", d->type == KDR_OPTION_INT ? "a whole number" : "a number",
	         d->open_min ? '(' : '[', d->min, d->max, d->open_max ? ')' : ']');
	return out;
}

static kdr_status check_value(kdr_context *ctx, const kdr_option_desc *d, double value)
{
	char allowed[80];
	switch (d->type) {
	case KDR_OPTION_BOOL:
		if (value != 0 && value != 1)
			return kdri_fail(ctx, KDR_ERR_OPTION, "option %s: %g is not valid; use 0 or 1",
			                 d->name, value);
		break;
	case KDR_OPTION_CHOICE: {
		int count = 0;
		while (d->choices[count])
			count++;
		if (!(value >= 0 && value < count) || value != floor(value))
			return kdri_fail(ctx, KDR_ERR_OPTION,
			                 "option %s: %g is not the index of one of its %d choices", d->name,
			                 value, count);
		break;
	}
	case KDR_OPTION_INT:
	case KDR_OPTION_REAL:
	case KDR_OPTION_REALS:
		if (d->type == KDR_OPTION_INT && value != floor(value))
			return kdri_fail(ctx, KDR_ERR_OPTION, "option %s: %g is not %s", d->name, value,
			                 range(d, allowed, sizeof allowed));
		/* Written so that NaN fails too. */
		if (!(value >= d->min && value <= d->max) || (d->open_min && value == d->min) ||
		    (d->open_max && value == d->max))
			return kdri_fail(ctx, KDR_ERR_OPTION, "option %s: %g is outside %c%g, %g%c", d->name,
			                 value, d->open_min ? '(' : '[', d->min, d->max,
			                 d->open_max ? ')' : ']');
		break;
	}
	return KDR_OK;
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
		KDRI_DO(check_value(ctx, d, values[j]));
	if (count > 1) {
		KDRI_DO(KDRI_NEW(ctx, &list, count));
		memcpy(list, values, (size_t)count * sizeof *list);
	}
	const double first = values[0]; /* `values` may be the old list */
	kdri_free_with(&options->allocator, to->list);
	*to = (slot){ first, list, count, true };
	return KDR_OK;
}

static kdr_status set_index(kdr_context *ctx, kdr_options *options, int64_t i, double value)
{
	return set_list(ctx, options, i, &value, 1);
}

kdr_status kdr_options_set_numbers(kdr_context *ctx, kdr_options *options, const char *name,
                                   const double *values, int64_t count)
{
	KDRI_NEED(ctx, options && name && values);
	int64_t i = options_find(options, name);
	return i < 0 ? unknown_name(ctx, options, name) : set_list(ctx, options, i, values, count);
}

int kdri_parse_bool(const char *text)
{
	static const char *const yes[] = { "1", "true", "yes", "on" };
	static const char *const no[] = { "0", "false", "no", "off" };
	for (int i = 0; i < 4; i++) {
		if (strcmp(text, yes[i]) == 0)
			return 1;
		if (strcmp(text, no[i]) == 0)
			return 0;
	}
	return -1;
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
	if (d->type == KDR_OPTION_BOOL) {
		int b = kdri_parse_bool(value);
		if (b < 0)
			return kdri_fail(ctx, KDR_ERR_OPTION,
			                 "option %s: '%s' is not valid; use true or false", name, value);
		return set_index(ctx, options, i, b);
	}
	if (d->type == KDR_OPTION_CHOICE) {
		char list[300];
		size_t count = 0;
		for (; d->choices[count]; count++)
			if (strcmp(d->choices[count], value) == 0)
				return set_index(ctx, options, i, (double)count);
		options_join(d->choices, count, list, sizeof list);
		return kdri_fail(ctx, KDR_ERR_OPTION, "option %s: '%s' is not valid; use one of: %s", name,
		                 value, list);
	}
	if (d->type == KDR_OPTION_REALS)
		return set_reals(ctx, options, i, value);
	double number;
	char allowed[80];
	const char *end = kdri_parse_double(value, value + strlen(value), &number);
	if (!end || *end != '\0' || isnan(number))
		return kdri_fail(ctx, KDR_ERR_OPTION, "option %s: '%s' is not %s", name, value,
		                 range(d, allowed, sizeof allowed));
	return set_index(ctx, options, i, number);
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
