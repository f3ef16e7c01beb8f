/* auto: an ensemble that votes on the neighbour graph. SPDX-License-Identifier: BSD-3-Clause
 *
 * The poll of engine/ensemble/poll.h on one problem, without what a job finds about each task alone; and labels of new samples. */
#include "api/method.h"
#include "core/internal.h"
#include "engine/ensemble/poll.h"
#include "engine/kmeans/kmeans.h"
#include "methods/auto/new_samples.h"

static const char *const metrics[] = { "auto", "cosine", "distance", NULL };
static const char *const choices[] = { "auto", "yes", "no", NULL }, *const centrings[] = { "auto", "yes",
	                                                                                   "no", "both",
	                                                                                   NULL };

static const kdr_option_desc options_table[] = {
	KDRI_BOOL("transfer", 1,
	          "let the data sets learn from each other; false: each data set is clustered separately"),
	KDRI_INT("seeds", 3, 1, 1000, "number of runs of each method, with different random numbers"),
	KDRI_INT("neighbors", 10, 1, 1e9,
	         "number of nearest neighbours that each sample is joined to in the graph of the vote"),
	KDRI_CHOICE(
	        "graph", KDRI_JOINS_AUTO, kdri_joins_names,
	        "what samples are joined to in that graph: their nearest neighbours, or the nearest of a few samples chosen as landmarks; auto: landmarks on several ranks, or if there are too many pairs of samples for an exact search"),
	KDRI_INT("landmarks", 2000, 1, 30000,
	         "number of samples per data set that are landmarks, if landmarks are used"),
	KDRI_CHOICE(
	        "metric", 0, metrics,
	        "how samples are compared; auto: by cosine, or by distance if there are few features and most values are not zero"),
	KDRI_CHOICE(
	        "centre", KDRI_CHOICE_AUTO, centrings,
	        "subtract the mean before cosines are computed; both: use the sum of a graph with the mean and one without; auto: no if most values are zero and none is negative, as in word counts, otherwise both; the program sets both for molecule counts"),
	KDRI_CHOICE(
	        "exact", KDRI_CHOICE_AUTO, choices,
	        "search nearest neighbours among all samples; no: join samples to landmarks; auto: landmarks if there are too many pairs of samples"),
	KDRI_INT(
	        "k_max", 0, 0, 1e6,
	        "largest k considered by -k auto; 0: 20, and sqrt(n) / 5 for more than 10,000 samples, at most 40"),
	KDRI_BOOL("same_k", 1,
	          "with -k auto, use the same k for all data sets; the evidence is averaged over them"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(300),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("confidence", KDR_FLOAT64, "n",
	           "estimated probability that each sample is in the right cluster", .per_task = true),
	KDRI_ARRAY("agreement", KDR_FLOAT64, "n",
	           "agreement of the methods about each sample and its neighbours, 0 to 1", .per_task = true),
	KDRI_ARRAY("moved", KDR_INT64, "n",
	           "1 for samples that would be in another cluster without the other data sets",
	           .per_task = true),
	KDRI_ARRAY("before", KDR_INT64, "n",
	           "the cluster that each sample would be in without the other data sets", .per_task = true,
	           .holds = "k"),
	KDRI_ARRAY("centroids", KDR_FLOAT64, "k x d",
	           "mean of each cluster's samples, scaled to unit length if samples are compared by cosine",
	           .per_task = true, .in_model = true),
	KDRI_ARRAY("unit_rows", KDR_INT64, "1", "1 if samples are scaled to unit length", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY(
	        "match_quality", KDR_FLOAT64, "tasks x k",
	        "estimated probability that each cluster and its counterpart in each data set belong together",
	        .per_task = true),
	KDRI_ARRAY("eigengap", KDR_FLOAT64, "k_max - 1",
	           "with -k auto: the gap after eigenvalue k of the 20-neighbour graph, for k from 2",
	           .per_task = true),
	KDRI_ARRAY(
	        "k_agreement", KDR_FLOAT64, "k_max - 1",
	        "with -k auto: agreement of three clusterings into k clusters (adjusted Rand index), for k from 2",
	        .per_task = true),
	KDRI_ARRAY("modularity", KDR_FLOAT64, "k_max - 1",
	           "with -k auto: modularity of a clustering into k clusters, for k from 2",
	           .per_task = true),
	KDRI_ARRAY("bic", KDR_FLOAT64, "k_max - 1",
	           "tables with -k auto: BIC of a mixture of k clusters, for k from 2; NaN: not computed",
	           .per_task = true),
	KDRI_ARRAY(
	        "prediction_strength", KDR_FLOAT64, "k_max - 1",
	        "tables with -k auto: agreement of halves of the rows on k clusters (prediction strength), for k from 2",
	        .per_task = true),
	KDRI_MIXTURE_FIELDS,
	{ .name = NULL },
};

static const char *const references_table[] = {
	"A. Strehl, J. Ghosh: Cluster ensembles: a knowledge reuse framework for combining multiple partitions. JMLR 3:583-617, 2002.",
	"A. L. N. Fred, A. K. Jain: Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27:835-850, 2005.",
	NULL,
};

static kdr_status auto_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdri_poll poll = { 0 };
	kdr_status st = kdri_poll_begin(ctx, problem, options, NULL, result, &poll);
	if (st == KDR_OK)
		st = kdri_poll_answer(ctx, &poll);
	kdri_poll_free(ctx, &poll);
	return st;
}

/* Of tables, the mean of the posteriors of the mixtures. */
static kdr_status auto_shares(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                              double **out, int64_t *k)
{
	kdr_status st;
	const kdr_array a = kdr_result_array(fitted, "table_shares", task);
	int64_t *labels = NULL, size;
	double *share = NULL;
	if (!a.data)
		return kdri_new_samples_shares(ctx, fitted, task, x, out, k);
	KDRI_TRY(kdri_mul(ctx, kdr_mat_rows(x), a.shape[a.ndim - 1], &size));
	KDRI_TRY(KDRI_NEW(ctx, &share, size));
	KDRI_TRY(KDRI_NEW(ctx, &labels, kdr_mat_rows(x)));
	KDRI_TRY(kdri_mixture_predict(ctx, fitted, task, x, labels, share));
	*out = share;
	*k = a.shape[a.ndim - 1];
	share = NULL;
done:
	KDRI_FREE(ctx, share, labels);
	return st;
}

/* Labels by a vote of neighbours among the samples that the model keeps and of centroids (new_samples.c); without such samples, by
 * the nearest centroid. Some samples of the fit itself would be labelled differently; method_fields.predict_agreement is the
 * fraction of samples that keep their label. */
static kdr_status auto_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdr_array c = kdr_result_array(fitted, "centroids", task),
	          u = kdr_result_array(fitted, "unit_rows", task);
	kdri_own rows = { .view = *x };
	double *share = NULL;
	int64_t k = 0;
	(void)options;
	if (kdr_result_array(fitted, "table_weights", -1).data)
		return kdri_mixture_predict(ctx, fitted, task, x, labels, NULL);
	if (!c.data || c.ndim != 2 || !u.data || u.type != KDR_INT64 || u.ndim != 1 || u.shape[0] != 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no centroids for data set number %lld",
		                 (long long)task + 1);
	if (c.shape[1] != kdr_mat_cols(x))
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's centroids have %lld",
		                 (long long)kdr_mat_cols(x), (long long)c.shape[1]);
	KDRI_TRY(kdri_new_samples_shares(ctx, fitted, task, x, &share, &k));
	for (int64_t i = 0; share && i < kdr_mat_rows(x); i++) {
		labels[i] = 0;
		for (int64_t z = 1; z < k; z++)
			if (share[i * k + z] > share[i * k + labels[i]])
				labels[i] = z;
	}
	if (share)
		goto done;
	if (*(const int64_t *)u.data)
		KDRI_TRY(kdri_unit_rows(ctx, x, &rows));
	KDRI_TRY(kdri_kmeans_assign(ctx, &rows.view, c.data, c.shape[0], false, labels));
done:
	kdri_own_free(ctx, &rows);
	kdri_free(ctx, share);
	return st;
}

const kdri_algo kdri_algo_auto = {
	.info = { .id = "auto",
	          .class_name = "Auto",
	          .title = "Ensemble of clustering methods",
	          .summary =
	                  "several methods vote on the clusters, using each data set alone and all together; the default of cluster",
	          .objective =
	                  "no single objective: several methods vote, and the clusters cut a graph of votes. The only value reported is\n"
	                  "NCut = sum_t sum_c cut(c) / vol(c), with W_ij = w_ij (0.05 + co_ij)^2\n"
	                  "t      data set\n"
	                  "c      cluster of data set t\n"
	                  "cut(c) sum of W_ij over samples i inside and j outside of cluster c\n"
	                  "vol(c) sum of W_ij over samples i inside of cluster c and all j\n"
	                  "w_ij   similarity of samples i and j, joined in the graph of 10 nearest neighbours\n"
	                  "co_ij  fraction of the methods' clusterings that put i and j into one cluster\n"
	                  "tables: mixtures vote without a graph, and the value is minus the log-likelihood of the mixtures with shared variances",
	          .steps =
	                  "1. cluster each data set alone: k-means, normalised cut, k-means along leading directions, snmf; three seeds each\n"
	                  "2. cluster all data sets together: k-means and shared directions with each data set's mean subtracted, mtcfir's graph\n"
	                  "3. weight the edges of the neighbour graph by the votes (W)\n"
	                  "4. find the clusters of W with eigenvectors and k-means, as ncut does; match the clusters of different data sets",
	          .use = "Start with it: you need not choose a method, and it reports how far to trust the clusters. Choose another method to reproduce a paper, or k-means if the data are large and the clusters simple.",
	          .cost = "Several times the cost of one method; methods that would need too much memory or time are skipped. docs/scale.md has measured times.",
	          .place = KDR_PLACE_START,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_AUTO_K | KDR_ALGO_PREDICT | KDR_ALGO_RECIPE |
	                   KDR_ALGO_TABLES | KDR_ALGO_KNOWN,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.ranks = true,
	.fit = auto_fit,
	.predict = auto_predict,
	.shares = auto_shares,
};
