"""Plain PyTorch on the same card: k-means, exact neighbours in tiles, products. SPDX-License-Identifier: BSD-3-Clause

    python3 bench/peers/gpu.py kmeans N D K ITERATIONS | neighbours N D K | rates N"""
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


if __name__ == "__main__":
    {"kmeans": kmeans, "neighbours": neighbours, "rates": rates}[sys.argv[1]](*map(int, sys.argv[2:]))
