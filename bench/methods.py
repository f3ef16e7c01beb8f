#!/usr/bin/python3
"""Compares methods with NumPy, SciPy and LIBLINEAR, from the same start to the same result. SPDX-License-Identifier: BSD-3-Clause

kmeans-*     k-means compared with the faster of scikit-learn's algorithms, lloyd and elkan, both from the means of the same random labels
             until no label changes (tol = 0): usps with k = 10 and 100, 20 Newsgroups with k = 20 and 100.
             kmeans-million stops after 20 iterations. There, kindred's centres are the means of its labels, while scikit-learn's labels are those of
             the nearest centre, so the inertias differ slightly. bench/scale.py peers has MiniBatchKMeans and faiss
graphs-*     ncut, gfhf and llgc on graphs of 20 neighbours by cosine, on texts and on Gaussian clusters, in 20 clusters or classes. The
             alternatives build the same graph with scikit-learn's brute-force search and use SpectralClustering (ncut) or a direct solution of the
             sparse linear system by SciPy. gfhf and llgc know the label of one sample in 100
products     sparse (20 Newsgroups, 1.7 million entries) times dense columns, compared with SciPy, which uses one core
linear       svm and logreg compared with LIBLINEAR in scikit-learn. Each solver runs with several tolerances; its time is
             that of the fastest run whose objective is within 1e-4 or 1e-6 of the smallest that any run found
lssmtc       two data sets of 20ng_rec_vs_talk, 20 iterations, compared with a d x d eigendecomposition in every iteration
mbc          20 Newsgroups twice, in 20 and 6 clusters, 40 sweeps, to the same objective
mtcfir       three data sets of Reuters, and four of newsgroups (mtcfir-20ng)
snmf         snmf as auto runs it, 120 iterations: on texts, and three starts on Gaussian similarities of 4,000 points
ttl          computers against politics in 20 Newsgroups: source, bridge and target, 80 sweeps
ec           the consensus of 20 runs on 4,000 samples compared with a dense co-association matrix
mtcfir-size  mtcfir on 1,000 to 8,000 documents with 59,030 words, and on synthetic documents: the rate of its dense products
             compared with that of one large product by the same BLAS. Takes an hour. This case, kmeans-20ng-100 and kmeans-million run only if named

The alternatives are in tests/ref/peers.py. mtcfir-size runs the program; the others call the library."""

import ctypes as C
import functools
import json
import subprocess
import sys
import tempfile
import warnings

import common
import numpy as np
import peers
import scipy
import scipy.io
import scipy.sparse as sp


def random_labels(n, k, seed):
    labels = np.random.default_rng(seed).integers(k, size=n)
    labels[:k] = np.arange(k)
    return labels


def agreement(found, other):
    """Share of equal labels, each cluster under the number that `other` has for most of its samples."""
    equal = 0
    for a, b in zip(found, other):
        table = np.zeros((a.max() + 1, b.max() + 1), dtype=int)
        np.add.at(table, (a, b), 1)
        equal += table.max(axis=1).sum()
    return equal / sum(map(len, other))


# --- k-means -------------------------------------------------------------------------------------------------------------


def kmeans_start(x, k):
    """Random labels and their means."""
    labels = random_labels(x.shape[0], k, 1)
    one_hot = sp.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    means = np.asarray((one_hot @ x).todense() if sp.issparse(x) else one_hot @ x)
    return labels, means / np.bincount(labels)[:, None]


def kmeans(load, k, args, iterations=100):
    import sklearn
    from sklearn.cluster import KMeans

    warnings.simplefilter("ignore")
    x, lib, found = load(), common.library(args), {}
    labels, means = kmeans_start(x, k)
    problem = lib.prepare([x], k, init=[labels])

    def ours():
        found["kindred"] = lib.fit("kmeans", *problem, tol=0, max_iter=iterations)

    def theirs(algorithm):
        found["peer"] = KMeans(k, init=means, n_init=1, tol=0, max_iter=iterations, algorithm=algorithm).fit(x)

    ours()
    ours_s, lloyd, elkan = common.best_of(args.repeats, ours, lambda: theirs("lloyd"), lambda: theirs("elkan"))
    a, b = found["kindred"], found["peer"]
    difference = a["fields"]["inertia.t0"] / b.inertia_ - 1
    common.check(iterations < 100 or (abs(difference) <= 1e-9 and a["iterations"] == b.n_iter_),
          f"inertia differs by {difference:g}, {a['iterations']} iterations against {b.n_iter_}")
    kind = "sparse" if sp.issparse(x) else "dense"
    return [common.row(f"k-means, {x.shape[0]} x {x.shape[1]} {kind}, k = {k}", ours_s,
                       f"scikit-learn {sklearn.__version__}, {'lloyd' if lloyd <= elkan else 'elkan'}", min(lloyd, elkan),
                       f"{a['iterations']} iterations; inertia {difference:+.0e}; lloyd {lloyd:.3g} s, elkan {elkan:.3g} s")]


# --- nearest-neighbour graphs --------------------------------------------------------------------------------------------

NEIGHBORS, CLUSTERS, ALPHA = 20, 20, 0.99


def graphs_text(rows, words=30000, length=100):
    """Half of a document's words belong to its own topic."""
    rng = np.random.default_rng(1)
    truth, law = rng.integers(CLUSTERS, size=rows), np.cumsum(1.0 / (np.arange(words) + 10))
    word = np.searchsorted(law / law[-1], rng.random((rows, length)))
    word = np.where(rng.random((rows, length)) < 0.5, word - word % CLUSTERS + truth[:, None], word) % words
    x = sp.csr_matrix((np.ones(word.size), (np.repeat(np.arange(rows), length), word.ravel())), (rows, words))
    x.sum_duplicates()
    return common.tfidf([x])[0], truth


def graphs_dense(rows):
    return common.blobs(rows, 50, CLUSTERS, 0.7)


def graphs_plain(method, x, truth, known, threads):
    """What the peer finds."""
    from scipy.sparse.linalg import spsolve
    from sklearn.cluster import SpectralClustering
    from sklearn.neighbors import kneighbors_graph

    w = kneighbors_graph(x, NEIGHBORS, metric="cosine", mode="distance", n_jobs=threads)
    w.data = np.maximum(1 - w.data, 0)
    w = w.maximum(w.T).tocsr()
    if method == "ncut":
        return SpectralClustering(CLUSTERS, affinity="precomputed", random_state=0).fit_predict(w)
    degree, y = w.sum(axis=1).A1, np.eye(CLUSTERS)[truth] * known[:, None]
    if method == "gfhf":
        return spsolve((sp.diags(degree) - w)[~known][:, ~known].tocsc(), w[~known] @ y).argmax(axis=1)
    root = sp.diags(1 / np.sqrt(degree))
    return spsolve((sp.identity(len(truth)) - ALPHA * root @ w @ root).tocsc(), y)[~known].argmax(axis=1)


def graphs(make, name, args):
    from sklearn.metrics import adjusted_rand_score

    warnings.simplefilter("ignore")
    lib, (x, truth), rows = common.library(args), make(args.rows), []
    known = np.zeros(len(truth), dtype=bool)
    known[::100] = known[np.unique(truth, return_index=True)[1]] = True  # every class is among them
    for method in ("ncut", "gfhf", "llgc"):
        found, score = {}, lambda labels: adjusted_rand_score(truth if method == "ncut" else truth[~known], labels)
        problem = lib.prepare([x], CLUSTERS) if method == "ncut" else lib.transfer([x[known], x[~known]], [truth[known], None], CLUSTERS)
        options = {"alpha": ALPHA} if method == "llgc" else {}
        ours, theirs = common.best_of(1, lambda: found.update(a=lib.fit(method, *problem, neighbors=NEIGHBORS, **options)["labels"][-1]),
                                      lambda: found.update(b=graphs_plain(method, x, truth, known, args.threads)))
        rows.append(common.row(f"{method}, {name}, {x.shape[0]} x {x.shape[1]}", ours,
                               "scikit-learn" if method == "ncut" else "scikit-learn + SciPy", theirs,
                               f"adjusted Rand index {score(found['a']):.3f}, peer {score(found['b']):.3f}"))
    return rows


# --- sparse products -----------------------------------------------------------------------------------------------------


def products(args):
    lib = C.CDLL(str(args.build / "bench" / "kindred_bench_shim.so"))
    x, rows = common.load_csr("20ng_full"), []
    rowptr, col = x.indptr.astype("int64"), x.indices.astype("int32")
    address = [C.c_void_p(a.ctypes.data) for a in (rowptr, col, x.data)]
    for transposed in (False, True):
        for k in (1, 5, 20, 64):
            b = np.random.default_rng(k).standard_normal((x.shape[not transposed], k))
            y, of = np.empty((x.shape[transposed], k)), x.T if transposed else x

            def ours():
                return lib.bench_product(C.c_int64(x.shape[0]), C.c_int64(x.shape[1]), *address, C.c_void_p(b.ctypes.data), C.c_int64(k),
                                         C.c_void_p(y.ctypes.data), C.c_int(transposed), C.c_int(args.threads))

            common.check(ours() == 0, "a sparse product failed")
            common.check(np.allclose(y, of @ b, rtol=1e-12, atol=1e-12 * np.abs(y).max()), "a sparse product differs from SciPy's")
            ours_s, peer_s = common.best_of(5 * args.repeats, ours, lambda: of @ b)
            rows.append(common.row(f"{'XᵀB' if transposed else 'XB'}, {x.nnz} entries, {k} columns", ours_s,
                                   f"SciPy {scipy.__version__}, 1 thread", peer_s, f"{2 * x.nnz * k / ours_s / 1e9:.1f} Gflop/s"))
    return rows


# --- linear classifiers --------------------------------------------------------------------------------------------------


def linear_data():
    """(name, samples, classes as numbers)"""
    tasks = ("task1", "task2")
    yield ("rec against talk", sp.vstack(common.tfidf([common.load_csr("20ng_rec_vs_talk", t) for t in tasks])).tocsr(),
           np.array([name.split(".")[0] for t in tasks for name in common.load_labels("20ng_rec_vs_talk", t)]))
    yield "20 Newsgroups", newsgroups(), common.load_labels("20ng_full", "all")
    digits = usps()
    yield "usps", digits / digits.max(), common.load_labels("handdigits", "usps")


def linear_objective(method, x, y, coef, intercept):
    """Summed over one class against the rest; cost 1; the intercept is penalised like a weight."""
    total = 0
    for c, (w, b) in enumerate(zip(coef, intercept)):
        z = (x @ w + b) * np.where(y == (c if len(coef) > 1 else 1), 1, -1)
        loss = np.maximum(0, 1 - z) ** 2 if method == "svm" else np.logaddexp(0, -z)
        total += 0.5 * (w @ w + b * b) + loss.sum()
    return total


def linear_ours(lib, method, x, y, tol):
    problem = lib.transfer([x, x[:1]], [y, None], int(y.max()) + 1)
    found = {}
    took = common.seconds(lambda: found.update(lib.fit(method, *problem, cost=1, tol=tol)))
    first = 1 if y.max() == 1 else 0
    return took, found["arrays"]["weights", -1][first:], found["arrays"]["intercept", -1][first:]


def linear_theirs(dual, method, x, y, tol):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    settings = {"C": 1, "dual": dual, "tol": tol, "max_iter": 20000, "random_state": 0}
    model = LinearSVC(**settings) if method == "svm" else LogisticRegression(solver="liblinear", multi_class="ovr", **settings)
    took = common.seconds(lambda: model.fit(x, y))
    return took, model.coef_, np.broadcast_to(model.intercept_, (len(model.coef_),))


def linear_ladder(run, tolerances, give_up=20):
    """Runs with tighter and tighter tolerances, until one takes more than `give_up` seconds."""
    found = []
    for tol in tolerances:
        found.append(run(tol))
        if found[-1][0] > give_up:
            break
    return found


def linear(args):
    warnings.simplefilter("ignore")
    lib, rows = common.library(args), []
    for name, x, names in linear_data():
        y = np.unique(names, return_inverse=True)[1]
        for method in ("svm", "logreg"):
            runs = {"kindred": linear_ladder(lambda tol: linear_ours(lib, method, x, y, tol), [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])}
            for dual in (False, True):
                runs["dual" if dual else "primal"] = linear_ladder(lambda tol: linear_theirs(dual, method, x, y, tol),
                                                                   [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8])
            values = {s: [linear_objective(method, x, y, w, b) for _, w, b in found] for s, found in runs.items()}
            least = min(map(min, values.values()))
            for gap in (1e-4, 1e-6):
                took = {s: min((t for (t, _, _), v in zip(runs[s], values[s]) if v <= least * (1 + gap)), default=np.inf) for s in runs}
                peer = min(("primal", "dual"), key=took.get)
                rows.append(common.row(f"{method}, {name}, {x.shape[0]} x {x.shape[1]}, {y.max() + 1} classes, within {gap:g}",
                                       took["kindred"], f"LIBLINEAR, {peer}", took[peer], f"primal {took['primal']:.3g} s, dual {took['dual']:.3g} s"))
    return rows


# --- clustering and transfer ---------------------------------------------------------------------------------------------


def lssmtc(args, lam=0.25, iterations=20):
    lib, c, rows = common.library(args), 2, []
    xs = common.tfidf([common.load_csr("20ng_rec_vs_talk", t) for t in ("task1", "task2")])
    dense = [x.toarray() for x in xs]
    labels = [random_labels(x.shape[0], c, 1) for x in xs]
    problem = lib.prepare(xs, c, init=labels)
    for eps in (0.5, 0.0):

        def ours(steps):
            return lib.fit("lssmtc", *problem, eps=eps, max_iter=steps, tol=0, **{"lambda": lam})

        total, = common.best_of(args.repeats, lambda: ours(iterations))
        found = {}
        peer_s = common.seconds(lambda: found.update(peer=peers.lssmtc(dense, labels, c, c, lam, eps, 2)))  # each iteration costs the same
        ps, w, _ = found["peer"]
        want = peers.lssmtc_objective(dense, ps, w, lam, eps)
        gap = abs(ours(2)["objective"][-1] / want - 1)
        rows.append(common.row(f"lssmtc, {sum(map(len, labels))} x {xs[0].shape[1]}, {iterations} iterations, eps {eps}", total, "NumPy",
                               peer_s * (iterations + 1) / 3, f"objectives differ by {gap:.0e}; the peer made 2 iterations"))
    return rows


def mbc(args, ks=(20, 6), sweeps=40):
    x, lib, found = newsgroups(), common.library(args), {}
    init = [random_labels(x.shape[0], k, s) for s, k in enumerate(ks)]
    problem = lib.prepare([x, x], ks, init=init)
    ours_s, peer_s = common.best_of(
        args.repeats, lambda: found.update(a=lib.fit("mbc", *problem, tol=0, max_iter=sweeps, alone="false")),
        lambda: found.update(b=peers.mbc([x, x], ks, init, sweeps=sweeps)))
    objective = found["a"]["objective"]
    difference = objective[-1] / found["b"][0][len(objective) - 1] - 1
    common.check(abs(difference) < 1e-6, f"mbc: objective differs by {difference:g}")
    return [common.row(f"mbc, 2 x {x.shape[0]} x {x.shape[1]}, {sweeps} sweeps", ours_s, "NumPy + SciPy", peer_s, f"objective {difference:+.0e}")]


def mtcfir(name, ks, args):
    lib, found = common.library(args), {}
    xs = common.tfidf([common.load_csr(name, f"task{t + 1}") for t in range(len(ks))])
    init = lib.fit("kmeans", *lib.prepare(xs, ks))["labels"]
    problem = lib.prepare(xs, ks, init=init)
    ours_s, peer_s = common.best_of(1, lambda: found.update(a=lib.fit("mtcfir", *problem)), lambda: found.update(b=peers.mtcfir(xs, ks, init)))
    alpha, labels, _ = found["b"]
    same, off = agreement(found["a"]["labels"], labels), np.abs(found["a"]["arrays"]["alpha", -1] / alpha - 1).max()
    common.check(same >= 0.98 and off <= 1e-2, f"mtcfir, {name}: {same:.3f} of the labels agree, alpha differs by {off:g}")
    return [common.row(f"mtcfir, {name}, {sum(map(len, init))} x {xs[0].shape[1]}", ours_s, "NumPy", peer_s, f"{100 * same:.1f} % of labels equal")]


def snmf_row(lib, case, xs, ks, init, similar, **options):
    problem, found = lib.prepare(xs, ks, init=init), {}

    def theirs():
        made = {id(x): similar(x) for x in xs}
        found["b"] = [peers.snmf(made[id(x)], i, k, 120, -1)[0].argmax(axis=1) for x, k, i in zip(xs, ks, init)]

    ours_s, peer_s = common.best_of(1, lambda: found.update(a=lib.fit("snmf", *problem, max_iter=120, tol=0, keep=False, **options)), theirs)
    same = agreement(found["a"]["labels"], found["b"])
    common.check(same >= 0.98, f"snmf, {case}: {same:.3f} of the labels agree")
    return common.row(f"snmf, {case}", ours_s, "NumPy", peer_s, f"{100 * same:.1f} % of labels equal")


def snmf(args):
    lib, ks, rng = common.library(args), [3, 4, 3, 4], np.random.default_rng(1)
    xs = common.tfidf([common.load_csr("20ng_4task", f"task{t + 1}") for t in range(4)])
    init = lib.fit("kmeans", *lib.prepare(xs, ks))["labels"]
    rows = [snmf_row(lib, "20ng_4task", xs, ks, init, lambda x: np.maximum((x @ x.T).toarray(), 0))]
    x = rng.normal(size=(6, 8))[rng.integers(6, size=4000)] + 0.7 * rng.normal(size=(4000, 8))

    def gauss(x):
        square = (x * x).sum(axis=1)
        return np.exp(-np.maximum(square[:, None] + square[None, :] - 2 * x @ x.T, 0) / (2 * 3.0 ** 2))

    init = [rng.integers(6, size=4000) for _ in range(3)]
    return rows + [snmf_row(lib, "4000 x 8, Gaussian, 3 starts", [x] * 3, [6] * 3, init, gauss, similarity="gauss", sigma=3, precision="single")]


def ttl(args, words=6000, sweeps=80):
    counts, classes, lib, found = common.load_csr("20ng_full"), common.load_labels("20ng_full", "all"), common.library(args), {}
    talk = np.char.startswith(classes, "talk.")
    rows = np.flatnonzero(talk | np.char.startswith(classes, "comp."))
    part, y = counts[rows], talk[rows].astype(np.int64)
    top = np.sort(np.argsort(-np.asarray(part.sum(0)).ravel(), kind="stable")[:words])
    xs = [common.tfidf([sp.csr_matrix(part[k::3][:, top])])[0] for k in range(3)]  # every third document: source, bridge, target
    problem = lib.transfer(xs, [y[::3], None, None], 2, bridges=[1])
    ours_s, peer_s = common.best_of(
        args.repeats, lambda: found.update(a=lib.fit("ttl", *problem, max_iter=sweeps, tol=0, init="half")),
        lambda: found.update(b=peers.ttl(*xs, y[::3], 2, sweeps=sweeps)))
    gap = abs(found["a"]["objective"][-1] / found["b"][2][-1] - 1)
    return [common.row(f"ttl, {len(rows)} documents, {words} words, {sweeps} sweeps", ours_s, "NumPy + SciPy", peer_s, f"objectives differ by {gap:.1e}")]


def ec(args):
    lib, timer = common.library(args), common.time.process_time if common.CPU_TIME else common.time.perf_counter
    x, best, runs = common.blobs(4000, 16, 20)[0], np.inf, np.inf
    problem = lib.prepare([x], 10)
    for _ in range(5 * args.repeats):
        ends, start = [], timer()
        common.fit_with_events(lib, lambda e: ends.append(timer()) if e.stage == b"ensemble" else None, "ec", problem, runs=20)
        best, runs = min(best, timer() - ends[-1]), min(runs, ends[-1] - start)
    labels = peers.ensemble_runs(x, 20, 8, 10)
    dense, = common.best_of(1, lambda: peers.ensemble_consensus(labels, 10))
    return [common.row("ec, consensus of 20 runs, 4000 samples, k = 10", best, "NumPy + SciPy, dense", dense, f"the runs themselves take {runs:.3g} s")]


# --- mtcfir as data grow -------------------------------------------------------------------------------------------------


def gemm_rate(single, n=3000):
    """Gflop/s of one large product."""
    a = np.random.default_rng(0).random((n, n)).astype(np.float32 if single else np.float64)
    return 2e-9 * n ** 3 / common.best_of(2, lambda: a @ a)[0]


def mtcfir_program(args, case, xs, k):
    """A run of the program, and the rate of its dense products."""
    single = sum(x.shape[0] for x in xs) > 4096
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{t}.mtx" for t in range(len(xs))]
        for path, x in zip(files, xs):
            scipy.io.mmwrite(path, x)
        subprocess.run([args.program, "cluster", "-m", "mtcfir", "-k", str(k), "--weight", "tfidf", "--norm", "l2", "-q", "--threads",
                        str(args.threads), "-o", f"{folder}/out", *files], check=True)
        with open(f"{folder}/out/result.json") as f:
            result = json.load(f)
    rate, took, gflop = gemm_rate(single), result["seconds"]["fit"], result["method_fields"]["dense_gflop"]
    return common.row(f"mtcfir, {case}, k = {k}", took, "sgemm" if single else "dgemm", gflop / rate,
                      f"{gflop / took:.0f} of {rate:.0f} Gflop/s; program {result['peak_rss_bytes'] / 1e9:.2f} GB")


def mtcfir_size(args):
    x, rows = common.load_csr("20ng_full"), []
    for n in (500, 1000, 2000, 4000):
        drawn = x[np.linspace(0, x.shape[0] - 1, 2 * n).astype(int)]
        rows.append(mtcfir_program(args, f"2 x {n} documents, {x.shape[1]} words", [drawn[::2], drawn[1::2]], 20))
    for n in (2500, 5000, 10000, 20000):
        made = sp.random(n, 2000, 0.03, "csr", random_state=1)
        rows.append(mtcfir_program(args, f"4 x {n // 4} made-up documents, 2000 words", [made[t::4] for t in range(4)], 5))
    return rows


def usps():
    return common.load_dense("handdigits", "usps")


def newsgroups():
    return common.tfidf([common.load_csr("20ng_full")])[0]


CASES = {f"kmeans-{name}-{k}": functools.partial(kmeans, load, k) for name, load, k in (("usps", usps, 10), ("usps", usps, 100), ("20ng", newsgroups, 20), ("20ng", newsgroups, 100))}
CASES |= {"kmeans-million": functools.partial(kmeans, lambda: common.blobs(1_000_000, 16, 20)[0], 10, iterations=20),
          "graphs-text": functools.partial(graphs, graphs_text, "text"), "graphs-dense": functools.partial(graphs, graphs_dense, "dense"),
          "products": products, "linear": linear, "lssmtc": lssmtc, "mbc": mbc, "mtcfir": functools.partial(mtcfir, "reuters3", [3, 3, 3]),
          "mtcfir-20ng": functools.partial(mtcfir, "20ng_4task", [3, 4, 3, 4]), "snmf": snmf, "ttl": ttl, "ec": ec, "mtcfir-size": mtcfir_size}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, CASES, default=[c for c in CASES if c not in ("kmeans-20ng-100", "kmeans-million", "mtcfir-size")],
                         more=[("--rows", {"type": int, "default": 1500, "help": "graphs: samples (1500)"})]))
