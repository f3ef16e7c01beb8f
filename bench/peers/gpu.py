"""Plain PyTorch on the same card: k-means, exact neighbours in tiles, products. SPDX-License-Identifier: BSD-3-Clause

    python3 bench/peers/gpu.py kmeans N D K ITERATIONS | neighbours N D K | rates N | text-kmeans N D K ITERATIONS | text-neighbours N D K"""
import sys
import time

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def points(n, d, groups, kind):
    torch.manual_seed(1)
    centres = torch.randn(groups, d, device=DEVICE, dtype=kind)
    return centres[torch.randint(groups, (n,), device=DEVICE)] + torch.randn(n, d, device=DEVICE, dtype=kind)


def kmeans(n, d, k, iterations):
    for kind in (torch.float32, torch.float64):
        x = points(n, d, k, kind)
        for repeat in range(2):
            c = x[torch.randperm(n, device=DEVICE)[:k]].clone()
            wait()
            start = time.perf_counter()
            for _ in range(iterations):
                labels = ((c * c).sum(1) - 2 * (x @ c.T)).argmin(1)
                sums = torch.zeros_like(c).index_add_(0, labels, x)
                c = sums / torch.bincount(labels, minlength=k).clamp(min=1).to(kind)[:, None]
            wait()
            seconds = time.perf_counter() - start
        print("torch kmeans %d x %d, k = %d, %s: %d iterations %.4f s" % (n, d, k, kind, iterations, seconds))


def neighbours(n, d, k, tile=4096):
    x = points(n, d, 100, torch.float32)
    squares = (x * x).sum(1)
    wait()
    start = time.perf_counter()
    found = []
    for i in range(0, n, tile):
        part = x[i:i + tile]
        found.append((squares - 2 * (part @ x.T)).topk(k + 1, largest=False).indices)
    wait()
    print("torch neighbours %d of %d x %d, float32, tiles of %d: %.3f s" %
          (k, n, d, tile, time.perf_counter() - start))


def rates(n):
    for kind, tf32 in ((torch.float64, False), (torch.float32, False), (torch.float32, True)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a, b = torch.randn(n, n, device=DEVICE, dtype=kind), torch.randn(n, n, device=DEVICE, dtype=kind)
        best = float("inf")
        for _ in range(4):
            wait()
            start = time.perf_counter()
            a @ b
            wait()
            best = min(best, time.perf_counter() - start)
        print("torch product %d, %s%s: %.1f Tflop/s" % (n, kind, " TF32" if tf32 else "", 2e-12 * n ** 3 / best))


def text(n, d, topics, kind):
    """Sparse rows as bench/gpu.c's: 120 words by Zipf's law, 30 % of them a topic's, rows of length 1."""
    torch.manual_seed(1)
    topic = torch.randint(topics, (n, 1), device=DEVICE)
    word = (d ** torch.rand(n, 120, device=DEVICE, dtype=torch.float64)).long() - 1
    word = torch.where(torch.rand(n, 120, device=DEVICE) < 0.3, (word * topics + topic) % d, word).clamp(max=d - 1)
    key = torch.unique(word + d * torch.arange(n, device=DEVICE)[:, None])
    row, col = key // d, key % d
    value = torch.log(2 + col.to(kind))
    value /= torch.zeros(n, device=DEVICE, dtype=kind).index_add_(0, row, value * value).sqrt()[row]
    start = torch.zeros(n + 1, device=DEVICE, dtype=torch.int64)
    start[1:] = torch.cumsum(torch.bincount(row, minlength=n), 0)
    return start, row, col, value


def text_kmeans(n, d, k, iterations):
    for kind in (torch.float32, torch.float64):
        start, row, col, value = text(n, d, k, kind)
        x = torch.sparse_csr_tensor(start.int(), col.int(), value, (n, d))
        turned = torch.sparse_coo_tensor(torch.stack((col, row)), value, (d, n)).to_sparse_csr()
        for repeat in range(2):
            c = torch.zeros(k, d, device=DEVICE, dtype=kind)
            for j, i in enumerate(torch.randperm(n)[:k].tolist()):
                c[j, col[start[i]:start[i + 1]]] = value[start[i]:start[i + 1]]
            wait()
            begin = time.perf_counter()
            for _ in range(iterations):
                labels = ((c * c).sum(1) - 2 * (x @ c.T.contiguous())).argmin(1)
                member = torch.zeros(n, k, device=DEVICE, dtype=kind)
                member[torch.arange(n, device=DEVICE), labels] = 1
                c = (turned @ member).T / torch.bincount(labels, minlength=k).clamp(min=1).to(kind)[:, None]
            wait()
            seconds = time.perf_counter() - begin
        print("torch kmeans of sparse rows %d x %d, k = %d, %s: %d iterations %.4f s" % (n, d, k, kind, iterations, seconds))


def text_neighbours(n, d, k, tile=4096):
    for kind in (torch.float32, torch.float64):
        start, row, col, value = text(n, d, 20, kind)
        x = torch.sparse_csr_tensor(start.int(), col.int(), value, (n, d))
        for repeat in range(2):
            wait()
            begin = time.perf_counter()
            for i in range(0, n, tile):
                end = min(n, i + tile)
                part = torch.zeros(d, end - i, device=DEVICE, dtype=kind)
                inside = slice(int(start[i]), int(start[end]))
                part[col[inside], row[inside] - i] = value[inside]
                (x @ part).T.topk(k + 1)
            wait()
            seconds = time.perf_counter() - begin
            if seconds > 40:
                break
        print("torch neighbours %d of sparse rows %d x %d, %s, tiles of %d: %.3f s" % (k, n, d, kind, tile, seconds), flush=True)


if __name__ == "__main__":
    {"kmeans": kmeans, "neighbours": neighbours, "rates": rates, "text-kmeans": text_kmeans, "text-neighbours": text_neighbours}[sys.argv[1]](*map(int, sys.argv[2:]))
