"""docs/scale.md: its tables of a million samples, of growth and of peers are what the committed results give, and tables of made-up runs are what
they should be."""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import scale_docs as sd  # noqa: E402


def line(job, n, seconds, status=0, threads=2, machine="x86-64", kind="dense"):
    return {"job": job, "kind": kind, "n": n, "machine": machine, "threads": threads, "data": 400 * n, "status": status, "wall": seconds,
            "cpu": 3 * seconds, "peak": int(2000.0 * n), "seconds": {"fit": seconds / 2}, "nmi": 0.5,
            "estimated": {"seconds": 4 * seconds, "bytes": 1000 * n}}


def test_made_up():
    with tempfile.TemporaryDirectory() as name:
        folder, kept = pathlib.Path(name), sd.RESULTS
        sd.RESULTS = folder
        runs = [line("kmeans", n, n / 1e5) for n in (10000, 100000, 1000000)]
        runs += [line("kmeans", 1000000, 4 + t, threads=t, machine="arm64") for t in (1, 2)] + [line("kmeans", 100000, 99, threads=1)]
        runs += [line("ncut", n, (n / 1e5) ** 1.5) for n in (10000, 100000)] + [line("ncut", 1000000, 7, status=-9)]
        runs += [line("ncut", 1000000, 40, threads=1, machine="arm64")]
        peer = {key: 1 for key in sd.PEERS} | {"who": "one", "machine": "m", "peak": 5e8}
        plain = line("predict", 1000000, 2)
        del plain["seconds"], plain["estimated"], plain["nmi"]
        (folder / "a.jsonl").write_text("\n".join(map(json.dumps, runs + [plain, peer])) + "\n")
        (folder / "b.jsonl").write_text(json.dumps(line("kmeans", 10000, 0.2)) + "\n")  # again: the last counts
        sd.take([folder / "a.jsonl"])
        once = sd.growth("dense")
        sd.take([folder / "b.jsonl"])
        again, beside, nothing, most = sd.growth("dense"), sd.peers(), sd.growth("sparse"), sd.million("dense")
        other = sd.beside("kmeans")
        (folder / "growth.csv").unlink()
        (folder / "c.jsonl").write_text("\n".join(json.dumps(line("ncut", n, s, kind="sparse")) for n, s in
                                                  ((100000, 1), (200000, 4), (400000, 4), (1600000, 8))) + "\n")
        sd.take([folder / "c.jsonl"])
        split = sd.growth("sparse")
        sd.RESULTS = kept
    assert once[0] == "| | 10,000 | 100,000 | 1,000,000 | exponent |"
    assert once[2] == "| `kmeans` | 0.1 s | 1 s | 10 s | 1.00 |"
    assert once[3] == "| `ncut` | 0.0316 s | 1 s |  | 1.50 |"
    assert split[2] == "| `ncut` | 1 s | 4 s | 4 s | 8 s | 2.00, then 0.50 |"
    assert again[2] == "| `kmeans` | 0.2 s | 1 s | 10 s | 0.85 |"
    assert most[0] == "| | command | fit | said | processor | peak | said | of 3.2 GB | NMI | arm64: processor |"
    assert most[2] == "| `kmeans` | 10 s | 5 s | 40 s | 30 s | 2.00 GB | 1.00 GB | 62 % | 0.50 | 15 s |"
    assert most[3] == "| `ncut` |  |  |  |  |  |  |  |  | 120 s |"
    assert most[4] == "| `predict` | 2 s |  |  | 6 s | 2.00 GB |  | 62 % |  |  |"
    assert beside[2] == "| m | one | 1.00 | 1.00 | 1.00000 | 0.50 GB |"
    assert len(nothing) == 2
    assert other[2:] == ["| blobs | 1,000,000 | 6 s | 3 s | 24 s | 2.00 GB | 1.00 GB | 0.500 |"]  # two threads, not one


def test_over_ranks():
    with tempfile.TemporaryDirectory() as name:
        folder, kept = pathlib.Path(name), sd.RESULTS
        sd.RESULTS = folder
        runs = [{"kind": kind, "method": method, "ranks": ranks, "rows": rows, "seconds": seconds, "machine": "m"}
                for kind, method, ranks, rows, seconds in (
                    ("weak", "kmeans", 1, 100, 2), ("weak", "kmeans", 4, 400, 3), ("weak", "kmeans", 4, 400, 2.5), ("weak", "mbc", 1, 100, 1),
                    ("strong", "mbc", 1, 400, 8), ("strong", "mbc", 4, 400, 2.5))]
        runs += [{"kind": "copies", "method": "kmeans", "ranks": 4, "rows": 400, "seconds": 2.2, "mean": 2.1, "machine": "m"}]
        runs += [{"kind": "waiting", "ranks": 4, "stretch": 0.01 * 2**i, "efficiency": 0.9, "machine": "m"} for i in range(3)]
        runs += [{"kind": "waiting", "ranks": 2, "stretch": 0.02, "efficiency": 1, "machine": "n"}]
        (folder / "a.jsonl").write_text("\n".join(map(json.dumps, runs)) + "\n")
        sd.take([folder / "a.jsonl"])
        weak, strong, waiting = sd.over("weak"), sd.over("strong"), sd.waiting()
        sd.take([folder / "a.jsonl"])  # again: in place of the first
        assert sd.over("weak") == weak and sd.waiting() == waiting
        sd.RESULTS = kept
    assert weak[2:] == ["| m | 100 | 1 | 2.00 s | 100 % | 1.00 s | 100 % |", "| m | 100 | 4 | 2.50 s | 80 % |  |  |",
                        "| m | 100 | the slowest of 4 copies | 2.20 s (mean 2.10) | 91 % |  |  |"]
    assert strong[2:] == ["| m | 400 | 1 |  |  | 8.00 s | 100 % |", "| m | 400 | 4 |  |  | 2.50 s | 80 % |"]
    assert waiting[2:] == ["| m | 4 | 10.0 ms | 90 % |", "| m | 4 | 40.0 ms | 90 % |", "| n | 2 | 20.0 ms | 100 % |"]


def test_page():
    assert sd.page() == sd.PAGE.read_text(encoding="utf-8"), "run bench/scale_docs.py"


if __name__ == "__main__":
    test_made_up()
    test_over_ranks()
    test_page()
