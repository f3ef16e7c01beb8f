/* Options of vectorising as text: on the command line and in models. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

#include <errno.h>
#include <stdlib.h>

static kdr_status set_integer(kdr_context *ctx, const char *name, const char *value, int64_t min, int64_t max,
                              int64_t *out)
{
	char *end;
	errno = 0;
	long long n = strtoll(value, &end, 10);
	if (end == value || *end || errno || n < min || n > max)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "--%s: '%s' is not valid; use a whole number from %lld to %lld", name, value,
		                 (long long)min, (long long)max);
	*out = n;
	return KDR_OK;
}

/* "5" is a number of documents; "0.05" and "5%" are shares. */
static kdr_status set_frequency(kdr_context *ctx, const char *name, const char *text, int64_t *count,
                                double *share)
{
	char *end;
	if (!strpbrk(text, ".%"))
		return set_integer(ctx, name, text, 1, INT64_C(1000000000000000), count);
	double value = strtod(text, &end);
	if (end > text && *end == '%') {
		value /= 100;
		end++;
	}
	if (end == text || *end || !(value >= 0 && value <= 1))
		return kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        "--%s: '%s' is not valid; use a whole number, 1 or larger, a fraction from 0.0 to 1.0, or a percentage",
		        name, text);
	*share = value;
	return KDR_OK;
}

static kdr_status set_ngrams(kdr_context *ctx, const char *text, kdr_text_options *o)
{
	const size_t n = strlen(text);
	const bool one = n == 1, two = n == 3 && text[1] == ',';
	const char low = text[0], high = text[n ? n - 1 : 0];
	if ((!one && !two) || low < '1' || high > '3' || low > high)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "--ngrams: '%s' is not valid; use 1, 2, 3, or two of them such as 1,2",
		                 text);
	o->ngram_min = low - '0';
	o->ngram_max = high - '0';
	return KDR_OK;
}

static const char *const token_classes[] = { "words", "ascii", "runs", "letters" };

static kdr_status set_tokens(kdr_context *ctx, const char *value, kdr_text_options *o)
{
	for (int i = 0; i <= KDR_TOKENS_LETTERS; i++)
		if (strcmp(value, token_classes[i]) == 0) {
			o->tokens = (kdr_token_class)i;
			return KDR_OK;
		}
	return kdri_fail(ctx, KDR_ERR_OPTION,
	                 "--tokens: '%s' is not valid; use words, letters, ascii or runs", value);
}

kdr_status kdr_text_options_set(kdr_context *ctx, kdr_text_options *o, const char *name, const char *value)
{
	KDRI_NEED(ctx, o && name && value);
	const bool on = strcmp(value, "0") != 0;
	const struct {
		const char *name;
		bool *flag, *unless; /* unless: what a flag that is off sets */
	} flags[] = { { "strip-html", &o->strip_html, &o->keep_html },
		      { "strip-mail", &o->strip_mail, &o->keep_mail },
		      { "keep-subject", &o->keep_subject, NULL },
		      { "lowercase", NULL, &o->keep_case },
		      { "binary", &o->binary, NULL },
		      { "drop-empty", &o->drop_empty, NULL },
		      { "detect", &o->detect, NULL } };
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strcmp(name, flags[i].name) == 0) {
			if (flags[i].flag)
				*flags[i].flag = on;
			if (flags[i].unless)
				*flags[i].unless = !on;
			return KDR_OK;
		}
	if (strcmp(name, "stop-words") == 0)
		o->stopwords = value;
	else if (strcmp(name, "stemmer") == 0)
		o->stemmer = value;
	else if (strcmp(name, "vocabulary") == 0)
		o->vocabulary = value;
	else if (strcmp(name, "vectors") == 0)
		o->vectors = value;
	else if (strcmp(name, "stems") == 0)
		o->stems = value;
	else if (strcmp(name, "tokens") == 0)
		return set_tokens(ctx, value, o);
	else if (strcmp(name, "ngrams") == 0)
		return set_ngrams(ctx, value, o);
	else if (strcmp(name, "min-length") == 0)
		return set_integer(ctx, name, value, 1, 255, &o->min_length);
	else if (strcmp(name, "max-length") == 0)
		return set_integer(ctx, name, value, KDRI_MAX(o->min_length, 1), 255, &o->max_length);
	else if (strcmp(name, "min-df") == 0)
		return set_frequency(ctx, name, value, &o->min_df, &o->min_df_share);
	else if (strcmp(name, "max-df") == 0)
		return set_frequency(ctx, name, value, &o->max_df, &o->max_df_share);
	else if (strcmp(name, "top-features") == 0)
		return set_integer(ctx, name, value, 1, INT32_MAX - 1, &o->max_features);
	else
		return kdri_fail(ctx, KDR_ERR_OPTION, "there is no text option '%s'", name);
	return KDR_OK;
}

kdr_status kdri_text_settings_read(kdr_context *ctx, const char *text, kdr_text_options *options,
                                   char **storage)
{
	char *next;
	KDRI_DO(kdri_strdup(ctx, text, storage));
	for (char *line = *storage; line && *line; line = next) {
		char *value = strchr(line, '=');
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (value)
			*value++ = '\0';
		KDRI_DO(kdr_text_options_set(ctx, options, line, value ? value : "1"));
	}
	return KDR_OK;
}

/* Room for all options but the stems and the stop words, whose list a file may hold. */
enum { SETTINGS_ROOM = 1024 };

kdr_status kdri_text_settings_write(kdr_context *ctx, const kdr_text_options *o, const kdri_terms *stopwords,
                                    char **out)
{
	kdr_status st;
	size_t used;
	char *text = NULL;
	kdri_languages languages;
	const bool named = !o->stopwords || strcmp(o->stopwords, "none") == 0 ||
	                   kdri_languages_parse(o->stopwords, &languages);
	const size_t room = SETTINGS_ROOM + (o->stems ? strlen(o->stems) : 0);
	KDRI_TRY(KDRI_NEW(ctx, &text, (int64_t)room + (named ? 0 : stopwords->text_used + stopwords->count)));
	used = (size_t)kdri_snprintf(
	        text, room,
	        "strip-html=%d\nstrip-mail=%d\nkeep-subject=%d\nlowercase=%d\ntokens=%s\nmin-length=%lld\nmax-length=%lld\n"
	        "ngrams=%d,%d\nbinary=%d\nstemmer=%.200s\n%s%s%sstop-words=%s",
	        o->strip_html, o->strip_mail, o->keep_subject, !o->keep_case, token_classes[o->tokens],
	        (long long)o->min_length, (long long)o->max_length, (int)o->ngram_min, (int)o->ngram_max,
	        o->binary, o->stemmer ? o->stemmer : "none", o->stems ? "stems=" : "",
	        o->stems ? o->stems : "", o->stems ? "\n" : "",
	        !named         ? KDRI_LISTED
	        : o->stopwords ? o->stopwords
	                       : "none");
	for (int64_t i = 0; !named && i < stopwords->count; i++) {
		const kdri_term *t = &stopwords->terms[i];
		memcpy(text + used, stopwords->text + t->offset, t->length);
		used += t->length;
		text[used++] = ' ';
	}
	text[used] = '\0';
	*out = text;
	text = NULL;
done:
	kdri_free(ctx, text);
	return st;
}
