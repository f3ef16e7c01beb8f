"""docs/scale.md: its tables of growth and peers are what the committed results give, and tables of made-up runs are what they should be."""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import scale_docs as sd  # noqa: E402


def line(job, n, seconds, status=0, threads=1):
    return {"job": job, "kind": "dense", "n": n, "machine": "m", "threads": threads, "data": 400 * n, "status": status, "wall": 2 * seconds,
            "cpu": 3 * seconds, "peak": int(2000.0 * n), "seconds": {"fit": seconds}, "nmi": 0.5}


def test_made_up():
    with tempfile.TemporaryDirectory() as name:
        folder, kept = pathlib.Path(name), sd.RESULTS
        sd.RESULTS = folder
        runs = [line("kmeans", n, n / 1e5) for n in (10000, 100000, 1000000)] + [line("kmeans", 1000000, 6, threads=2)]
        runs += [line("ncut", n, (n / 1e5) ** 1.5) for n in (10000, 100000)] + [line("ncut", 1000000, 7, status=-9)]
        peer = {key: 1 for key in sd.PEERS} | {"who": "one", "machine": "m", "peak": 5e8}
        (folder / "a.jsonl").write_text("\n".join(map(json.dumps, runs + [peer])) + "\n")
        (folder / "b.jsonl").write_text(json.dumps(line("kmeans", 10000, 0.2)) + "\n")  # again: the last counts
        sd.take([folder / "a.jsonl"])
        once = sd.growth("dense")
        sd.take([folder / "b.jsonl"])
        again, beside, nothing, most = sd.growth("dense"), sd.peers(), sd.growth("sparse"), sd.million()
        sd.RESULTS = kept
    assert once[0] == "| | 10,000 | 100,000 | exponent | peak of the largest |"
    assert once[2] == "| `kmeans` | 0.1 s | 1 s | 1.00 | 0.20 GB |"
    assert once[3] == "| `ncut` | 0.032 s | 1 s | 1.50 | 0.20 GB |"
    assert again[2].startswith("| `kmeans` | 0.2 s | 1 s | 0.70 |")
    assert most[3] == "| `kmeans` | 6 s | m, 2 threads | 2.00 GB | 62 % |  |  |  |  |"
    assert beside[2] == "| m | one | 1.00 | 1.00 | 1.00000 | 0.50 GB |"
    assert len(nothing) == 2


def test_page():
    assert sd.page() == sd.PAGE.read_text(encoding="utf-8"), "run bench/scale_docs.py"


if __name__ == "__main__":
    test_made_up()
    test_page()
