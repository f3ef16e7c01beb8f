/* Options of cluster and transfer by name: one table. SPDX-License-Identifier: BSD-3-Clause
 *
 * A line has the name, kind, families, the member that is set, the placeholder of the value, and the help. The program makes its
 * options, help and checks from it; Python and R pass their arguments to kdr_job_set. */
#include "core/numbers.h"
#include "jobs/job.h"

#include <stddef.h>

struct kdr_job {
	kdr_allocator allocator;
	kdr_family family;
	kdr_job_options options;
	kdr_prep_options prep;
	kdr_options *settings, *feature_settings;
	bool configured; /* an option of the method has been set */
	int64_t *each;   /* k of each data set, then the last numbers of the ranges; NULL: one k for all */
};

typedef struct entry {
	kdr_job_option info;
	size_t at,
	        size; /* of the member of kdr_job; that of `settings` means the method's option of this name */
} entry;

enum { CLUSTER = 1 << KDR_FAMILY_CLUSTER, TRANSFER = 1 << KDR_FAMILY_TRANSFER, BOTH = CLUSTER | TRANSFER };

/* Further members of kdr_job_option follow the help. */
#define OPTION(name_, kind_, families_, in, member, value_, ...) \
	{ \
		{ .name = name_, \
		  .kind = KDR_JOB_##kind_, \
		  .families = families_, \
		  .group = in, \
		  .value = value_, \
		  .help = __VA_ARGS__ }, \
		        offsetof(kdr_job, member), sizeof(((kdr_job *)NULL)->member) \
	}
#define MAIN(name_, kind_, families_, ...) OPTION(name_, kind_, families_, "main", __VA_ARGS__)
#define PREP(name_, kind_, ...)            OPTION(name_, kind_, BOTH, "preprocessing", __VA_ARGS__)
#define OUTPUT(name_, kind_, ...)          OPTION(name_, kind_, BOTH, "output", __VA_ARGS__)

static const entry table[] = {
	MAIN("method", METHOD, CLUSTER, settings, "METHOD",
	     "clustering method (default auto); 'kindred methods' lists all methods", .letter = 'm',
	     .initial = "auto"),
	MAIN("method", METHOD, TRANSFER, settings, "METHOD",
	     "transfer method (default auto); 'kindred methods' lists all methods", .letter = 'm',
	     .initial = "auto"),
	MAIN("clusters", CLUSTERS, CLUSTER, each, "K[,K2,...]",
	     "number of clusters (required): one value for all data sets, or one each; a range such as 3-8 gives every number in it; auto if the method can choose it",
	     .letter = 'k'),
	MAIN("set", SETTING, BOTH, settings, "NAME=VALUE",
	     "set an option of the method; 'kindred methods METHOD' lists them"),
	MAIN("features-from", METHOD, BOTH, feature_settings, "METHOD",
	     "first learn features on all data sets together, and pass them to the method; METHOD: msda"),
	MAIN("features-set", SETTING, BOTH, feature_settings, "NAME=VALUE",
	     "set an option of the --features-from method; 'kindred methods msda' lists them",
	     .needs = "features-from"),
	MAIN("transfer", FLAG, CLUSTER, settings, NULL,
	     "method auto: let data sets learn from each other (default); --no-transfer clusters each separately",
	     .initial = "true"),
	MAIN("pooled", FLAG, CLUSTER, options.pooled, NULL, "pool all data sets and cluster them as one"),
	MAIN("quality", FLAG, CLUSTER, options.quality, NULL,
	     "also report quality scores that need no known classes: silhouette, Davies-Bouldin, Calinski-Harabasz, and stability under resampling (five more fits)"),
	MAIN("resamples", INT, CLUSTER, options.resamples, "N",
	     "with --quality: number of fits for the stability score (default 5; 0 to skip it)", .max = 1000,
	     .initial = "5", .needs = "quality data"),
	MAIN("new-clusters", CHOICE, CLUSTER, options.new_clusters, "yes|no|auto",
	     "with --into: which clusters get new numbers. auto (default): those that probably continue no cluster of the model; yes: also doubtful ones; no: none",
	     .initial = "auto", .needs = "into"),
	MAIN("bridge-all", FLAG, TRANSFER, options.every_bridge, NULL,
	     "with --selector: fit and report every bridge (always done without --selector)"),
	MAIN("abstain", REAL, TRANSFER, settings, "FRACTION",
	     "method auto: leave this fraction of each target unlabelled ('?'), starting with the least certain samples (default 0)",
	     .max = 1, .initial = "0"),
	MAIN("ask", INT, TRANSFER, settings, "N",
	     "method auto: also write <target>.ask.csv with N samples of each target that a person should label next; pass it back with --target-labels",
	     .min = 1, .max = INT64_MAX),
	MAIN("guard", FLAG, TRANSFER, settings, NULL,
	     "method trec: keep the clustering found without the source if the transfer is not trusted"),
	MAIN("probabilities", FLAG, TRANSFER, options.probabilities, NULL,
	     "also write the probability of each class for each sample to <target>.probabilities.csv, calibrated on held-out source samples in three more fits; not available for methods that find clusters instead of classes"),
	PREP("features", CHOICE, prep.align, "HOW",
	     "how to align data sets with named columns (default: intersect for genes, union for others, position without names)"),
	PREP("weight", CHOICE, prep.weight, "KIND",
	     "how to weight values (default: chosen by the kind of data, unless --norm or --scale is given; evaluate: none)"),
	PREP("norm", CHOICE, prep.norm, "KIND",
	     "scale each row to unit length: l1, the sum of absolute values, or l2, the Euclidean length (default: as for --weight)"),
	PREP("scale", CHOICE, prep.scale, "KIND", "how to scale each column (default: as for --weight)"),
	PREP("top-features", INT, prep.top_features, "N",
	     "keep the N highest-ranked features, see --top-by (default: all)", .min = 1, .max = INT64_MAX),
	PREP("top-by", CHOICE, prep.top_by, "WHAT",
	     "with --top-features: rank features by df, the number of samples that have them (default); by variance; or by dispersion, which selects highly variable genes in counts",
	     .initial = "df", .needs = "top-features"),
	PREP("fit-on", CHOICE, prep.fit_each, "WHAT",
	     "all: fit these steps on all data sets together (default); each: on each data set separately",
	     .initial = "all", .excludes = "into", .because = "the data get the preprocessing of the model"),
	OPTION("preprocess", CHOICE, BOTH, NULL, options.choice, "WHO",
	       "who chooses weight, norm and scale: default, by-data or none", .initial = "default"),
	OUTPUT("report-features", INT, options.report_features, "N",
	       "with --report: include the values of the N features that distinguish the clusters most, for colouring and comparing samples in the page; 0 includes none (default: 200, fewer if they do not fit)",
	       .max = 100000, .initial = "200", .needs = "report"),
	OUTPUT("model-size", INT, options.model_size, "N",
	       "method auto: keep at most N samples of each data set in the model, for --into and predict (default 2000)",
	       .min = 1, .max = INT64_MAX, .initial = "2000", .needs = "save-model",
	       .excludes = "model-without-samples", .because = "the model then contains no samples"),
	OUTPUT("model-without-samples", FLAG, options.model_without_samples, NULL,
	       "keep no samples and no hashes of samples in the model, but means and covariances of the clusters: 'predict' uses the means, --into draws samples from both",
	       .needs = "save-model"),
};
enum { COUNT = sizeof table / sizeof table[0] };

const kdr_job_option *kdr_job_option_at(size_t index)
{
	return index < COUNT ? &table[index].info : NULL;
}

/* --- values --------------------------------------------------------------------------------------------- */

/* The number of a flag, a choice or a number. */
static kdr_status read_number(kdr_context *ctx, const kdr_job_option *o, const char *value, double *out)
{
	static const kdr_option_type types[] = { [KDR_JOB_FLAG] = KDR_OPTION_BOOL,
		                                 [KDR_JOB_INT] = KDR_OPTION_INT,
		                                 [KDR_JOB_REAL] = KDR_OPTION_REAL,
		                                 [KDR_JOB_CHOICE] = KDR_OPTION_CHOICE };
	const kdr_option_desc d = { .name = o->name,
		                    .type = types[o->kind],
		                    .min = (double)o->min,
		                    .max = (double)o->max,
		                    .open_max = o->kind == KDR_JOB_REAL,
		                    .choices = kdr_choices(o->name) };
	return kdri_option_read(&d, value, out) ? KDR_OK : kdri_option_invalid(ctx, "--", &d, value);
}

/* One number of clusters or a range, which ends at `end`; 0: auto. */
static kdr_status read_clusters(kdr_context *ctx, const kdr_algo *algo, const char *item, const char *end,
                                int64_t *from, int64_t *to)
{
	const bool automatic = algo->flags & KDR_ALGO_AUTO_K,
	           is_auto = kdri_same_word(item, (size_t)(end - item), "auto");
	*from = *to = 0;
	if (is_auto && automatic)
		return KDR_OK;
	if (is_auto)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "-k auto: method '%s' cannot find k; 'kindred methods' lists those that can",
		                 algo->id);
	const int length = (int)(end - item);
	const char *at = kdri_parse_int(item, end, from);
	*to = *from;
	if (at && at < end && *at == '-')
		at = kdri_parse_int(at + 1, end, to);
	if (at != end || *from < 1 || *to < 1)
		return kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        "-k: '%.*s' is not valid; use a whole number, 1 or larger, a range such as 3-8%s",
		        length, item, automatic ? ", or auto" : "");
	if (*to < *from)
		return kdri_fail(ctx, KDR_ERR_OPTION, "-k: '%.*s' runs backwards; use %lld-%lld", length,
		                 item, (long long)*to, (long long)*from);
	if (*to - *from >= KDR_LEVELS_MOST)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "-k: '%.*s' has %lld numbers; use a range of at most %d", length, item,
		                 (long long)(*to - *from) + 1, KDR_LEVELS_MOST);
	return KDR_OK;
}

static kdr_status set_clusters(kdr_context *ctx, kdr_job *job, const char *value)
{
	kdr_status st;
	kdr_job_options *o = &job->options;
	int64_t count = 1, *each = NULL;
	bool found = false, range = strchr(value, '-') != NULL;
	for (const char *p = value; *p; p++)
		count += *p == ',';
	KDRI_TRY(KDRI_NEW(ctx, &each, 2 * count));
	for (int64_t t = 0; t < count; t++) {
		const char *end = value + strcspn(value, ",");
		KDRI_TRY(read_clusters(ctx, kdr_options_algo(job->settings), value, end, &each[t],
		                       &each[count + t]));
		found = found || each[t] == 0;
		value = end + 1;
	}
	if (range && found)
		KDRI_FAIL(
		        ctx, KDR_ERR_OPTION,
		        "-k: a range and auto cannot be combined; give a number or a range for every data set");
	o->k = each[0];
	o->k_to = range && count == 1 ? each[1] : 0;
	o->neach_k = count > 1 ? count : 0;
	o->each_k = count > 1 ? each : NULL;
	o->each_k_to = range && count > 1 ? each + count : NULL;
	kdri_free(ctx, job->each);
	job->each = each;
	each = NULL;
done:
	kdri_free(ctx, each);
	return st;
}

/* --- methods and their options ------------------------------------------------------------------------------ */

static kdr_status set_method(kdr_context *ctx, kdr_job *job, const char *value, bool features)
{
	kdr_options **settings = features ? &job->feature_settings : &job->settings, *new_settings = NULL;
	const kdr_algo *algo = NULL;
	KDRI_DO(kdr_algo_require(ctx, value, features ? KDR_FAMILY_FEATURES : job->family, &algo));
	if (features)
		KDRI_DO(kdri_features_possible(ctx, kdr_options_algo(job->settings)));
	else if (job->configured)
		return kdri_fail(ctx, KDR_ERR_OPTION, "--method must be set before options of the method");
	KDRI_DO(kdr_options_new(ctx, algo->id, &new_settings));
	kdr_options_free(*settings);
	*settings = new_settings;
	if (features) {
		job->options.features_from = algo->id;
		job->options.feature_settings = new_settings;
	} else {
		job->options.method = algo->id;
		job->options.settings = new_settings;
	}
	return KDR_OK;
}

/* NAME=VALUE */
static kdr_status set_setting(kdr_context *ctx, const kdr_job_option *o, kdr_options *settings,
                              const char *value)
{
	const size_t n = strcspn(value, "=");
	char name[128];
	if (!settings)
		return kdri_fail(ctx, KDR_ERR_OPTION, "--%s has no effect without --%s; set that first",
		                 o->name, o->needs);
	if (n == 0 || n >= sizeof name || !value[n])
		return kdri_fail(ctx, KDR_ERR_OPTION, "--%s: '%s' is not valid; use NAME=VALUE", o->name,
		                 value);
	memcpy(name, value, n);
	name[n] = '\0';
	return kdr_options_set(ctx, settings, name, value + n + 1);
}

/* An option of the method that has a name of its own. */
static kdr_status set_own(kdr_context *ctx, kdr_job *job, const kdr_job_option *o, double number)
{
	const kdr_algo *algo = kdr_options_algo(job->settings);
	if (!kdri_options_has(job->settings, o->name))
		return kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        "--%s%s is not available with method %s; 'kindred methods %s' lists its options",
		        o->initial && o->kind == KDR_JOB_FLAG ? "[no-]" : "", o->name,
		        algo->called ? algo->called : algo->id, algo->id);
	job->configured = true;
	return kdr_options_set_number(ctx, job->settings, o->name, number);
}

/* --- jobs ------------------------------------------------------------------------------------------------- */

kdr_status kdr_job_new(kdr_context *ctx, kdr_family family, kdr_job **out)
{
	kdr_status st;
	kdr_job *job = NULL;
	KDRI_NEED(ctx, out);
	KDRI_TRY(KDRI_NEW0(ctx, &job, 1));
	job->allocator = ctx->allocator;
	job->family = family;
	kdr_job_options_init(&job->options);
	kdr_prep_options_init(&job->prep);
	job->options.prep = &job->prep;
	job->options.neighbours = true;
	KDRI_TRY(set_method(ctx, job, NULL, false));
	*out = job;
	job = NULL;
done:
	kdr_job_free(job);
	return st;
}

void kdr_job_free(kdr_job *job)
{
	if (!job)
		return;
	const kdr_allocator a = job->allocator;
	kdr_options_free(job->settings);
	kdr_options_free(job->feature_settings);
	kdri_free_with(&a, job->each);
	kdri_free_with(&a, job);
}

kdr_job_options *kdr_job_options_of(kdr_job *job)
{
	return job ? &job->options : NULL;
}

kdr_status kdr_job_set(kdr_context *ctx, kdr_job *job, const char *name, const char *value)
{
	KDRI_NEED(ctx, job && name && value);
	const entry *e = table;
	while (e < table + COUNT &&
	       (strcmp(e->info.name, name) != 0 || !(e->info.families >> job->family & 1)))
		e++;
	if (e == table + COUNT)
		return kdri_fail(ctx, KDR_ERR_OPTION, "there is no option --%s; kdr_job_option_at lists them",
		                 name);
	const kdr_job_option *o = &e->info;
	const bool own = e->at == offsetof(kdr_job, settings);
	char *member = (char *)job + e->at;
	double number;
	switch (o->kind) {
	case KDR_JOB_METHOD: return set_method(ctx, job, value, !own);
	case KDR_JOB_SETTING:
		job->configured = job->configured || own;
		return set_setting(ctx, o, own ? job->settings : job->feature_settings, value);
	case KDR_JOB_CLUSTERS: return set_clusters(ctx, job, value);
	case KDR_JOB_FILE: memcpy(member, &value, sizeof value); return KDR_OK;
	default: break;
	}
	KDRI_DO(read_number(ctx, o, value, &number));
	if (own)
		return set_own(ctx, job, o, number);
	if (o->kind == KDR_JOB_INT && number == 0)
		number = -1; /* none; 0 is the default */
	if (e->size == sizeof(bool))
		*(bool *)member = number != 0;
	else if (e->size == sizeof(int64_t))
		memcpy(member, &(int64_t){ number < 0x1p63 ? (int64_t)number : INT64_MAX }, sizeof(int64_t));
	else if (member != (char *)&job->options.choice || number != KDR_PREP_DEFAULT)
		memcpy(member, &(int){ (int)number }, sizeof(int)); /* an enumeration */
	/* Whoever specifies one of them, even as none, chooses all of them. */
	if ((member == (char *)&job->prep.weight || member == (char *)&job->prep.norm ||
	     member == (char *)&job->prep.scale) &&
	    job->options.choice == KDR_PREP_DEFAULT)
		job->options.choice = KDR_PREP_NONE;
	return KDR_OK;
}
