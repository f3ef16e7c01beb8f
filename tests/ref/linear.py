"""svm and logreg against scikit-learn's LIBLINEAR; tsvm against its own conditions."""

import sys

from common import require

np, sp, _ = require("numpy", "scipy.sparse", "sklearn")
import warnings  # noqa: E402

from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

from common import close, main  # noqa: E402
from fit_ctypes import Library  # noqa: E402

lib = Library(sys.argv[1])
warnings.simplefilter("ignore")


def cases():
    rng = np.random.default_rng(5)
    for n, d, k, scale in [(40, 3, 2, 1), (120, 10, 3, 1), (60, 200, 4, 0.3), (300, 5, 2, 10), (25, 1, 2, 1)]:
        y = np.arange(n) % k
        x = (rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))) * scale
        yield x, y, k
        yield sp.csr_matrix(np.where(rng.random((n, d)) < 0.3, x, 0)), y, k


def fit(method, x, y, k, new, weights=None, **options):
    problem, keep = lib.transfer([x, new], [y, None], k, weights=weights and [weights, None])
    return lib.fit(method, problem, keep, **options)


def gradient(x, y, coef, intercept, cost):
    """Largest gradient of the logistic problems, one a class. They are strongly convex with modulus 1, so the
    minimum is no farther away than this."""
    worst = 0
    for c, (w, b) in enumerate(zip(coef, intercept)):
        sign = np.where(y == (c if len(coef) > 1 else 1), 1, -1)
        a = -cost * sign / (1 + np.exp(sign * (x @ w + b)))
        worst = max(worst, np.linalg.norm(np.append(w + x.T @ a, b + a.sum())))
    return worst


def check(theirs, out, k, tolerance):
    coef, intercept = theirs.coef_, np.atleast_1d(theirs.intercept_)
    intercept = np.broadcast_to(intercept, (coef.shape[0],))
    if k == 2:
        coef, intercept = np.vstack([-coef, coef]), np.concatenate([-intercept, intercept])
        assert np.array_equal(out["arrays"]["weights", -1][0], -out["arrays"]["weights", -1][1])
    scale = max(1, np.abs(coef).max())
    close(out["arrays"]["weights", -1], coef, tolerance * scale, "weights")
    close(out["arrays"]["intercept", -1], intercept, tolerance * scale, "intercept")


def test_svm_equals_liblinear():
    for x, y, k in cases():
        for cost in (0.1, 1, 30):
            theirs = LinearSVC(C=cost, dual=False, tol=1e-12, max_iter=100000).fit(x, y)
            out = fit("svm", x, y, k, x, cost=cost, tol=1e-12)
            check(theirs, out, k, 1e-6)
            scores = theirs.decision_function(x)
            close(out["arrays"]["scores", 1], scores if k > 2 else np.column_stack([-scores, scores]), 1e-4, "scores")
            assert np.mean(out["labels"][1] == theirs.predict(x)) > 0.99
            without = LinearSVC(C=cost, dual=False, tol=1e-12, max_iter=100000, fit_intercept=False).fit(x, y)
            check(without, fit("svm", x, y, k, x, cost=cost, tol=1e-12, bias=0), k, 1e-6)


def values(method, x, y, coef, intercept, cost):
    """The objectives of one against the rest, summed."""
    total = 0
    for c, (w, b) in enumerate(zip(coef, intercept)):
        z = (x @ w + b) * np.where(y == (c if len(coef) > 1 else 1), 1, -1)
        loss = np.maximum(0, 1 - z) ** 2 if method == "svm" else np.logaddexp(0, -z)
        total += 0.5 * (w @ w + b * b) + cost * loss.sum()
    return total


def test_defaults_reach_the_optimum_of_liblinear():
    """The objective within 1e-6, and the same predictions, with the tolerances a user gets."""
    for x, y, k in cases():
        for cost in (0.1, 1, 30):
            for method in ("svm", "logreg"):
                theirs = (LinearSVC(C=cost, dual=False, tol=1e-10, max_iter=100000) if method == "svm" else
                          LogisticRegression(C=cost, solver="liblinear", tol=1e-10, max_iter=100000, multi_class="ovr"))
                theirs.fit(x, y)
                out = fit(method, x, y, k, x, cost=cost)
                first = 1 if k == 2 else 0
                ours = values(method, x, y, out["arrays"]["weights", -1][first:], out["arrays"]["intercept", -1][first:],
                              cost)
                best = values(method, x, y, theirs.coef_, np.broadcast_to(theirs.intercept_, (len(theirs.coef_),)), cost)
                assert ours <= best * (1 + 1e-6), (method, cost, ours, best)
                close(out["objective"][-1], ours, 1e-9 * ours, "objective")
                # A sample on the boundary may fall to either side.
                scores = np.sort(out["arrays"]["scores", 1], axis=1)
                clear = scores[:, -1] - scores[:, -2] > 1e-3 * np.abs(scores).max()
                assert np.array_equal(out["labels"][1][clear], theirs.predict(x)[clear]), (method, cost)


def test_logreg_equals_liblinear():
    tight = 0
    for x, y, k in cases():
        for cost in (0.1, 1, 30):
            theirs = LogisticRegression(C=cost, solver="liblinear", tol=1e-12, max_iter=100000, multi_class="ovr")
            theirs.fit(x, y)
            out = fit("logreg", x, y, k, x, cost=cost, tol=1e-12)
            # LIBLINEAR stops where f no longer falls, which is some way from the minimum.
            short = gradient(x, y, theirs.coef_, theirs.intercept_, cost)
            check(theirs, out, k, 1e-6 + short)
            first = 1 if k == 2 else 0
            ours = gradient(x, y, out["arrays"]["weights", -1][first:], out["arrays"]["intercept", -1][first:], cost)
            assert ours < 1e-9 * max(1, cost * abs(x).sum()), ours
            tight += short < 1e-6
            reach = abs(x).max() * x.shape[1]
            close(out["arrays"]["probabilities", 1], theirs.predict_proba(x), 1e-6 + short * reach, "probabilities")
    assert tight > 10, tight


def joint_gradient(x, y, coef, intercept, cost):
    """Largest entry of the gradient of the softmax problem, the intercept free."""
    z = x @ coef.T + intercept
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    return max(np.abs(coef + cost * (x.T @ p).T).max(), cost * np.abs(p.sum(0)).max())


def test_joint_logreg_equals_scikit_learn():
    """All classes at once, the intercept not penalised; of two classes the usual problem."""
    tight = 0
    for x, y, k in cases():
        for cost in (0.1, 1, 30):
            theirs = LogisticRegression(C=cost, tol=1e-9, solver="newton-cg", max_iter=300).fit(x, y)
            out = fit("logreg", x, y, k, x, cost=cost, tol=1e-12, joint=True)
            coef, intercept = theirs.coef_, theirs.intercept_
            if k == 2:
                coef, intercept = np.vstack([-coef, coef]), np.concatenate([-intercept, intercept])
            scale = max(1, np.abs(coef).max(), np.abs(intercept).max())
            # Theirs stops where its line search finds nothing, which may be some way from the minimum; ours is asked for it.
            short = joint_gradient(x, y, theirs.coef_, theirs.intercept_, cost) if k > 2 else 0
            ours = joint_gradient(x, y, out["arrays"]["weights", -1], out["arrays"]["intercept", -1], cost) if k > 2 else 0
            assert ours < 1e-8 * max(1, cost), ours
            close(out["arrays"]["weights", -1], coef, (1e-6 + short) * scale, "weights")
            close(out["arrays"]["intercept", -1], intercept, (1e-6 + 10 * short) * scale, "intercept")
            close(out["arrays"]["probabilities", 1], theirs.predict_proba(x), 1e-6 + short, "probabilities")
            tight += short < 1e-7
            assert (np.diff(out["objective"]) <= 1e-12 * out["objective"][0]).all()
    assert tight > 20, tight


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(7)
    for x, y, k in cases():
        times = rng.integers(0, 4, size=len(y))
        times[:k] = 1
        rows = np.repeat(np.arange(len(y)), times)
        for method, more in (("svm", {}), ("logreg", {}), ("logreg", {"joint": True})):
            a = fit(method, x, y, k, x, weights=list(times.astype(float)), tol=1e-12, **more)
            b = fit(method, x[rows], y[rows], k, x, tol=1e-12, **more)
            close(a["arrays"]["weights", -1], b["arrays"]["weights", -1], 1e-7, "weights")


def objective(x, y, w, b, cost):
    return 0.5 * (w @ w + b * b) + (cost * np.maximum(0, 1 - y * (x @ w + b)) ** 2).sum()


def test_tsvm_helps_where_the_margin_does():
    """Two long clouds: few labels mislead the machine of the source alone, the target's gap does not."""
    rng = np.random.default_rng(3)
    better = 0
    for trial in range(10):
        n = 200
        truth = np.arange(n) % 2
        x = np.column_stack([np.where(truth, 1.0, -1.0) + 0.25 * rng.normal(size=n), 3 * rng.normal(size=n)])
        known = np.concatenate([np.flatnonzero(truth == 0)[:2], np.flatnonzero(truth == 1)[:2]])
        rest = np.setdiff1d(np.arange(n), known)
        accuracy = []
        for method in ("svm", "tsvm"):
            out = fit(method, x[known], truth[known], 2, x[rest], cost=10, **({"cost_target": 10} if method == "tsvm" else {}))
            accuracy.append(np.mean(out["labels"][1] == truth[rest]))
        trace = out["objective"]
        assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all(), trace
        better += accuracy[1] >= accuracy[0]
        # The value is that of its own weights and of labels with the balance of the source.
        w, b = out["arrays"]["weights", -1][1], out["arrays"]["intercept", -1][1]
        z = x[rest] @ w + b
        y = np.where(np.argsort(np.argsort(-z)) < round(len(rest) / 2), 1, -1)
        value = objective(x[known], 2 * truth[known] - 1, w, b, 10) + (10 * np.maximum(0, 1 - y * z) ** 2).sum()
        close(trace[-1], value, 1e-3 * value, "objective")
        assert accuracy[1] > 0.9, accuracy
    assert better >= 8


if __name__ == "__main__":
    main(dict(globals()))
