#!/usr/bin/env python3
"""Cells of three batches: cluster them together, name the clusters, and label a new donor from them. SPDX-License-Identifier: BSD-3-Clause

usage: cells.py [FOLDER]   (default: cells)

Needs the Python package of kindred, and anndata. The cells are invented; the genes are well-known markers."""
import pathlib
import sys

import anndata
import numpy as np
import pandas as pd

import kindred

MARKERS = {"T cell": ["CD3D", "CD3E", "IL7R", "TRAC"], "B cell": ["CD79A", "CD79B", "MS4A1", "BANK1"],
           "monocyte": ["LYZ", "CD14", "FCN1", "S100A8"], "plasma cell": ["MZB1", "JCHAIN", "XBP1", "IGHG1"]}
GENES = [gene for genes in MARKERS.values() for gene in genes] + [f"GENE{i}" for i in range(1, 285)]


def cells(donor, sizes, draw):
    """Molecule counts of invented cells. Each donor has an effect of its own on every gene."""
    kinds = np.repeat(list(sizes), list(sizes.values()))
    rates = np.tile(np.linspace(.2, 8, len(GENES)) * draw.lognormal(0, .3, len(GENES)), (len(kinds), 1))
    for kind, genes in MARKERS.items():
        rates[:, np.isin(GENES, genes)] = np.where(kinds == kind, 25, .3)[:, None]
    depth = draw.lognormal(0, .25, (len(kinds), 1))
    obs = pd.DataFrame({"donor": donor, "made_as": kinds}, index=[f"{donor}-{i}" for i in range(len(kinds))])
    return anndata.AnnData(draw.poisson(depth * rates).astype(np.float32), obs=obs, var=pd.DataFrame(index=GENES))


folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "cells")
folder.mkdir(exist_ok=True)
draw = np.random.default_rng(3)

# The data: three donors with different proportions of three cell types.
batches = [cells("Jörg", {"T cell": 150, "B cell": 60, "monocyte": 90}, draw), cells("Anna", {"T cell": 50, "B cell": 80, "monocyte": 40}, draw),
           cells("Zoë", {"T cell": 30, "B cell": 30, "monocyte": 60}, draw)]
reference = anndata.concat(batches)

# 1. Cluster the donors together. A cluster has the same number in all of them.
result = kindred.cluster_anndata(reference, "donor", k=3)
features = reference.uns["kindred"]["features"].groupby(["task", "cluster"]).head(3)
print(features.groupby("cluster")["feature"].agg(lambda genes: ", ".join(sorted(set(genes)))))

# 2. Name each cluster: the cell type whose markers are the most among the genes above. The report has the names, too.
names = {int(cluster): max(MARKERS, key=lambda kind: genes.isin(MARKERS[kind]).sum()) for cluster, genes in features.groupby("cluster")["feature"]}
result.rename_clusters(names)
kindred.report(result, folder / "report.html")
reference.obs["cell_type"] = reference.obs["kindred"].astype(int).map(names).astype("category")

# 3. Write the cells with clusters, names and confidences. Scanpy and kindred read the file.
reference.write_h5ad(folder / "reference.h5ad")

# 4. Label a new donor from these cells. Cells are ranked from 0 to 1 by how little they resemble the reference: plasma cells, which only this donor has, come last.
new = cells("Łukasz", {"T cell": 60, "B cell": 40, "monocyte": 50, "plasma cell": 25}, draw)
kindred.transfer_anndata(reference, new, "cell_type")
new.write_h5ad(folder / "new.h5ad")
print(pd.crosstab(new.obs["made_as"], new.obs["kindred"]))
print(new.obs.groupby("made_as")["kindred_unlike_source"].mean().round(2))
