#!/usr/bin/python3
"""The methods that bench/published.py compares kindred with: CORAL and TCA against their definitions with full matrices, subspace alignment against its
formula. usage: tests/ref/domain_adaptation.py"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "bench")]
import common as ref_common  # noqa: E402

np, linalg, _ = ref_common.require("numpy", "scipy.linalg", "sklearn")
sys.modules.pop("common")  # bench has one as well
sys.path.remove(HERE)
import published  # noqa: E402


def main():
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(30, 7)) @ rng.normal(size=(7, 7)), 1 + rng.normal(size=(25, 7)) @ rng.normal(size=(7, 7))
    for d in (7, 3):  # more samples than features, and the other way round
        for a, b in ((x[:, :d], z[:, :d]), (x[:5], z[:6])):
            ac, bc = a - a.mean(0), b - b.mean(0)
            scale = np.sqrt(a.shape[1] / np.mean(np.concatenate([(ac ** 2).sum(1), (bc ** 2).sum(1)])))
            cs, ct = (np.cov(scale * m.T) + np.eye(a.shape[1]) for m in (ac, bc))
            want = scale * ac @ linalg.inv(linalg.sqrtm(cs)) @ linalg.sqrtm(ct)
            [(found, target)] = published.coral(a, b)
            assert np.allclose(found, want) and np.allclose(target, scale * bc)
    both = np.vstack([x, z])
    both /= np.linalg.norm(both, axis=1)[:, None]
    n, k = len(both), both @ both.T
    e = np.concatenate([np.full(len(x), 1 / len(x)), np.full(len(z), -1 / len(z))])
    m = np.outer(e, e) / np.linalg.norm(np.outer(e, e))
    found = np.vstack(published.tca(x, z)[-1])
    want = k @ linalg.eigh(k @ (np.eye(n) - 1 / n) @ k, k @ m @ k + np.eye(n))[1][:, ::-1][:, :found.shape[1]]
    want /= np.linalg.norm(want, axis=1)[:, None]
    assert np.allclose(np.abs(found[:, :4]), np.abs(want[:, :4]), atol=1e-6)  # the signs of components are arbitrary
    (found, target), ac, bc = published.sa(x, z)[-1], x - x.mean(0), z - z.mean(0)
    p, q = (np.linalg.svd(m, full_matrices=False)[2].T for m in (ac, bc))
    assert np.allclose(found @ found.T, ac @ p @ p.T @ q @ q.T @ p @ p.T @ ac.T) and np.allclose(target @ target.T, bc @ q @ q.T @ bc.T)
    print("coral, tca, sa: equal")


if __name__ == "__main__":
    main()
