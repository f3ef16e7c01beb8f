/* Figures of a partition as JSON. SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"

void kdri_json_scores(kdri_json *j, const kdr_scores *s)
{
	kdri_json_real(j, "acc", s->acc);
	kdri_json_real(j, "nmi", s->nmi);
	kdri_json_real(j, "nmi_arithmetic", s->nmi_arithmetic);
	kdri_json_real(j, "nmi_max", s->nmi_max);
	kdri_json_real(j, "ari", s->ari);
	kdri_json_real(j, "purity", s->purity);
	kdri_json_real(j, "homogeneity", s->homogeneity);
	kdri_json_real(j, "completeness", s->completeness);
	kdri_json_real(j, "v_measure", s->v_measure);
}

void kdri_json_quality(kdri_json *j, const kdr_quality *q)
{
	kdri_json_object(j, "quality");
	kdri_json_real(j, "silhouette", q->silhouette);
	kdri_json_string(j, "silhouette_kind",
	                 q->silhouette_kind == KDR_SILHOUETTE_EXACT ? "exact" : "simplified");
	kdri_json_real(j, "davies_bouldin", q->davies_bouldin);
	kdri_json_real(j, "calinski_harabasz", q->calinski_harabasz);
	kdri_json_real(j, "stability", q->stability);
	kdri_json_int(j, "resamples", q->resamples);
	kdri_json_string(j, "note", kdri_quality_note());
	kdri_json_end_object(j);
}

const char *kdri_quality_note(void)
{
	return "these scores describe how compact, separate and reproducible the clusters are in the data as given, not whether they are meaningful; noise cut into round pieces scores well, long or nested shapes score badly, and scores of differently preprocessed data cannot be compared";
}
