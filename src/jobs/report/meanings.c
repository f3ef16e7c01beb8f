/* What the numbers and texts in method_fields mean. SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays are explained in the registry; these are what methods leave besides. A test sees to it that none lacks its line. */
#include "jobs/report/report.h"

static const struct {
	const char *stem, *words;
} table[] = {
	{ "a_distance",
	  "distance of source and target, 0: a classifier cannot tell them apart, 2: it never errs" },
	{ "advice", "what the method makes of it, in a sentence" },
	{ "agreement_alone",
	  "agreement (normalised mutual information) with the clusters the data set has without the others" },
	{ "agreement_alone_kmeans", "agreement of the clusters without the others with plain k-means" },
	{ "agreement_kmeans", "agreement of the clusters with plain k-means" },
	{ "agreement_pooled",
	  "mean agreement of the members that saw other data sets with the clusters without these" },
	{ "best_run", "which of the runs was the best" },
	{ "beyond_noise",
	  "how much clearer clusters are than those of noise of the same size and spread, in standard deviations" },
	{ "bridge_iterations", "iterations of the first step, from source to bridge" },
	{ "clearer_than_one", "1 if the clusters of a table describe it better than one cluster (BIC)" },
	{ "components", "connected parts of the graph, or directions kept" },
	{ "agreement", "mean agreement of the members with the answer" },
	{ "confidence",
	  "mean confidence of the samples: in cluster -m auto the estimated share in the right cluster" },
	{ "estimated_ari", "estimated adjusted Rand index of the answer and the truth" },
	{ "confidence_alone", "mean confidence without the other data sets" },
	{ "consensus", "how far the runs of the ensemble agree with the result" },
	{ "cost", "cost of an error in training" },
	{ "dense_gflop", "work done, in thousand million multiplications" },
	{ "differ_logreg", "samples that a logistic regression would label otherwise" },
	{ "differ_svm", "samples that a plain support vector machine would label otherwise" },
	{ "energy", "share of the variance in the directions kept" },
	{ "guard_bic",
	  "BIC of one mixture for all tables less that of separate mixtures, per row; below -0.2: shared" },
	{ "guard_loss",
	  "log-likelihood that one mixture for all tables loses against separate ones, per row and twice" },
	{ "heldout_accuracy", "accuracy on pairs that training did not see" },
	{ "identity", "how sure it is that clusters of features mean the same in both data sets" },
	{ "inertia", "sum of squared distances of samples to their centres" },
	{ "information",
	  "information that words hold about documents; what the clusters lose of it is the objective" },
	{ "k_evidence", "why this number of clusters" },
	{ "k_next", "the number of clusters with the next highest score" },
	{ "k_sure", "1 if the number of clusters is supported by independent evidence" },
	{ "kept", "which of both partitions was kept" },
	{ "l", "dimensions of the shared subspace" },
	{ "layers_kept", "layers whose features are kept" },
	{ "local_loss", "the data set's own part of the objective" },
	{ "local_loss_alone", "the same where each data set is clustered by itself" },
	{ "loglik", "log-likelihood of the samples under the mixture" },
	{ "majority_accuracy", "accuracy of always saying the more frequent answer" },
	{ "member_agreement", "share of the answers on which members of the ensemble agree" },
	{ "members",
	  "the methods that voted; clustering: runs of each; transfer: the share of the answers each agrees with" },
	{ "moved", "samples that would be in another cluster without the other data sets" },
	{ "ncut", "normalised cut: how much of the clusters' ties leaves them" },
	{ "neighbour_candidates", "samples among which nearest neighbours were searched" },
	{ "objective_start", "the objective before the first iteration" },
	{ "pairs_switched", "pairs of labels that changed places" },
	{ "predict_agreement", "share of the samples that the saved model would label the same" },
	{ "rank", "directions in which the data vary" },
	{ "saturated", "share of learnt features at the end of their range" },
	{ "shared_segments", "1 if the tables share their clusters" },
	{ "shares_moved", "how far the shares of the classes moved from source to target" },
	{ "sigma", "width of the Gaussian similarity" },
	{ "source_accuracy", "accuracy on parts of the source that were held out" },
	{ "stability", "how often pairs of samples stay together from run to run" },
	{ "suggested_k", "number of clusters that the ensemble would choose" },
	{ "training_accuracy", "accuracy on the pairs it was trained on" },
	{ "training_pairs", "pairs of samples it was trained on" },
	{ "trusted", "whether what was learnt from pairs is good enough to be used" },
	{ "unshared_features", "features that not all of the data sets have" },
	{ "w_step", "how the subspace was found" },
};

const char *kdri_meaning(const char *stem)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].stem, stem) == 0)
			return table[i].words;
	return NULL;
}
