/* Explanations of the numbers and texts in method_fields. SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays are explained in the registry; this file explains the other results of methods. A test checks that none is
 * missing. */
#include "jobs/report/report.h"

static const struct {
	const char *stem, *words;
} table[] = {
	{ "a_distance",
	  "distance of source and target: 0 = a classifier cannot distinguish them, 2 = it makes no errors" },
	{ "advice", "how reliable the result is, in words" },
	{ "agreement_alone",
	  "agreement (normalised mutual information) with the clusters of the data set alone" },
	{ "agreement_alone_kmeans",
	  "agreement between the clusters of the data set alone and plain k-means" },
	{ "agreement_kmeans", "agreement of the clusters with plain k-means" },
	{ "agreement_pooled",
	  "mean agreement between the methods that used other data sets and the clusters of the data set alone" },
	{ "best_run", "number of the best run" },
	{ "beyond_noise",
	  "how much clearer the clusters are than in random noise of the same size and spread, in standard deviations" },
	{ "beyond_shuffled",
	  "how much better the clusters of a table describe it than they describe shuffled columns, in standard deviations; below 1.7: no clearer than random data" },
	{ "bridge_iterations", "iterations of the first step, from source to bridge" },
	{ "components", "connected parts of the graph, or directions kept" },
	{ "agreement", "mean agreement between the methods and the final labels" },
	{ "confidence",
	  "mean confidence of the samples: with method auto, the estimated fraction of right labels" },
	{ "estimated_ari", "estimated adjusted Rand index between the final labels and the true classes" },
	{ "confidence_alone", "mean confidence without the other data sets" },
	{ "consensus", "how well the runs of the ensemble agree with the result" },
	{ "cost", "cost of an error in training" },
	{ "dense_gflop", "amount of computation, in billions of multiplications" },
	{ "differ_logreg", "number of samples that logistic regression would label differently" },
	{ "differ_svm", "number of samples that a plain support vector machine would label differently" },
	{ "energy", "fraction of the variance in the directions kept" },
	{ "guard_bic",
	  "BIC of one mixture for all tables minus that of separate mixtures, per row; below -0.2 = shared" },
	{ "guard_loss",
	  "log-likelihood that one mixture for all tables loses against separate ones, per row and twice" },
	{ "heldout_accuracy", "accuracy on pairs not used for training" },
	{ "identity", "how consistently the classes of the target match those of the source, 0 to 1" },
	{ "inertia", "sum of squared distances from the samples to their centres" },
	{ "information",
	  "information that words have about documents; the objective is the part that the clusters lose" },
	{ "k_evidence", "why this number of clusters" },
	{ "k_next", "the number of clusters with the next highest score" },
	{ "k_sure", "1 if the number of clusters is supported by independent evidence" },
	{ "kept", "which of the two clusterings was kept" },
	{ "l", "dimensions of the shared subspace" },
	{ "layers_kept", "layers whose features are kept" },
	{ "local_loss", "the data set's own part of the objective" },
	{ "local_loss_alone", "the same if each data set is clustered alone" },
	{ "loglik", "log-likelihood of the samples under the mixture" },
	{ "majority_accuracy", "accuracy of always predicting the more frequent label" },
	{ "member_agreement", "fraction of the labels on which the methods of the ensemble agree" },
	{ "members",
	  "the methods that voted; clustering: votes of each per data set; transfer: fraction of the final labels that each agrees with" },
	{ "moved", "number of samples that would be in another cluster without the other data sets" },
	{ "ncut", "normalised cut: fraction of the links of the clusters that lead out of them" },
	{ "neighbour_candidates", "number of samples among which nearest neighbours were searched" },
	{ "objective_start", "the objective before the first iteration" },
	{ "pairs_switched", "number of label pairs that were swapped" },
	{ "predict_agreement",
	  "fraction of the samples that the saved model would label the same if they were new" },
	{ "rank", "number of directions in which the data vary" },
	{ "saturated", "fraction of learned features at the end of their range" },
	{ "shared_segments", "1 if the tables share their clusters" },
	{ "shares_moved", "how much the class proportions differ between source and target" },
	{ "sigma", "width of the Gaussian similarity" },
	{ "source_accuracy", "accuracy on held-out parts of the source" },
	{ "stability", "how often pairs of samples stay together in different runs" },
	{ "suggested_k", "number of clusters that the ensemble would choose" },
	{ "training_accuracy", "accuracy on the pairs used for training" },
	{ "training_pairs", "number of sample pairs used for training" },
	{ "trusted", "whether the rule learned from pairs is good enough to be used" },
	{ "unshared_features", "number of features that some of the data sets lack" },
	{ "w_step", "how the subspace was found" },
};

const char *kdri_meaning(const char *stem)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].stem, stem) == 0)
			return table[i].words;
	return NULL;
}
