"""ttl on real text (skipped without the data), and its sweeps against a plain implementation in NumPy."""

import os
import pathlib
import sys

from common import require

np, sp = require("numpy", "scipy.sparse")

root = pathlib.Path(__file__).resolve().parent.parent.parent
from common import close, main  # noqa: E402
from fit_ctypes import Library  # noqa: E402

lib = Library(sys.argv[1])
data = pathlib.Path(os.environ.get("KINDRED_DATA", root.parent / "shared" / "data"))


def test_labels_are_those_of_the_factorisation():
    """Rows with one class's words alone go to that class, whatever the start of F."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=90)
    x = sp.csr_matrix(np.where((np.arange(40) % 2 == y[:, None]) & (rng.random((90, 40)) < 0.4), 1.0, 0.0))
    for seed in range(3):
        lib.seed(seed)
        problem, keep = lib.transfer([x[:30], x[30:60], x[60:]], [y[:30], None, None], 2, bridges=[1])
        for norm in ("rescaleG", "rescale", "mm", "paper"):
            out = lib.fit("ttl", problem, keep, norm=norm, p1=4, p2=3)
            has = np.asarray(x[60:].sum(1)).ravel() > 0
            assert np.mean(out["labels"][2][has] == y[60:][has]) > 0.95, (norm, seed)
            if norm in ("rescale", "mm"):
                steps = np.diff(np.append(out["fields"]["objective_start"], out["objective"]))
                assert (steps <= 1e-9 * out["objective"][0]).all(), norm
            if norm != "rescale":
                close(out["arrays"]["probabilities", 2].sum(1), np.ones(30), 1e-9, "probabilities")


def test_newsgroups():
    """Source and target share no word: a classifier of the source is at a loss, ttl is not."""
    if not (data / "20ng_full" / "all.mtx.gz").exists():
        print("skipped: no data (docs/data.md)")
        return
    sys.modules.pop("common")  # bench has one of its own
    sys.path.insert(0, str(root / "bench"))
    import transfer

    for name, least in (("rec-comp", 0.967), ("comp-talk", 0.957)):
        right = {"svm": [], "ttl": []}
        for seed in range(2):
            xs, ys = transfer.newsgroups_task(name, seed)
            lib.seed(seed + 1)
            direct = lib.transfer([xs[0], xs[2]], [ys[0], None], 2)
            bridged = lib.transfer(xs, [ys[0], None, None], 2, bridges=[1])
            right["svm"].append(np.mean(lib.fit("svm", *direct)["labels"][-1] == ys[2]))
            right["ttl"].append(np.mean(lib.fit("ttl", *bridged)["labels"][-1] == ys[2]))
        print(name, {k: np.round(v, 3) for k, v in right.items()})
        assert np.mean(right["svm"]) < 0.6 and np.mean(right["ttl"]) > least, right


if __name__ == "__main__":
    main(globals())
