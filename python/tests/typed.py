"""Code that a type checker must accept. SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

import kindred

x = np.zeros((10, 3))
model = kindred.KMeans(n_clusters=2, n_init=3, random_state=np.random.default_rng(1), threads=2)
labels = model.fit_predict([x, x])
again: np.ndarray = model.predict(x, task="task1")
shared = kindred.LSSMTC(n_clusters=2, lambda_=0.25)
result = kindred.cluster({"a": x, "b": x}, k=[2, 3], method="mbc", options={"lambda": 0.5})
classes = kindred.AutoTransfer().fit(x, [0] * 10, x).transduction_
text: str = kindred.__version__
first: np.ndarray = kindred.KMeans(n_clusters={"a": 2, "b": 3}).fit({"a": x, "b": x}).predict(x, task=0)
distances: np.ndarray = kindred.KMeans(n_clusters=2, verbose=1).fit(x).transform(x)
name: str = result.tasks[0]
found: int = kindred.cluster("a.csv", 3, columns=["age"], missing="mean").k(name)
kindred.KMeans(start="nowhere")  # type: ignore[arg-type]
found = result.method  # type: ignore[assignment]
