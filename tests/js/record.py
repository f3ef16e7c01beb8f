"""Records what the program prints for every method on the golden cases: js/test/golden.json, which the npm package's tests compare with.

Usage: tests/js/record.py KINDRED [--check]. With --check, nothing is written, and a difference from the recorded file is an error.
A run that the program refuses is recorded with its message, which the package must give too."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "js/test/golden.json"


def golden(name):
    return json.loads((ROOT / "tests/golden" / (name + ".json")).read_text())


def cases():
    """Data sets with samples in rows, the number of clusters and the classes, if they are known."""
    for name in ("lss", "mtcfir", "mbc"):
        chosen = [case for case in golden(name)["cases"] if len(case["X"]) > 1]
        for number in (0, len(chosen) // 2):
            case = chosen[number]
            k = case.get("k") or case.get("K") or case.get("c")
            sets = [numpy.array(x, dtype=float) for x in case["X"]]
            y = case.get("y")
            yield {"name": f"{name} {number}", "k": int(k[0] if isinstance(k, list) else k), "sets": [x.tolist() for x in sets], "y": y}
    ttl = golden("ttl")["cases"][0]
    yield {"name": "ttl", "k": 2, "sets": [numpy.array(ttl[x], dtype=float).T.tolist() for x in ("Xs", "Xt")], "y": [ttl["ys"], ttl["yt"]],
           "bridge": numpy.array(ttl["XIa"], dtype=float).T.tolist()}


def run(kindred, case, method):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        paths = []
        for i, x in enumerate(case["sets"]):
            paths.append(folder / f"task{i + 1}.npy")
            numpy.save(paths[-1], numpy.array(x))
        if method["family"] == "cluster":
            command = ["cluster", "-k", case["k"], *paths]
        else:
            (folder / "labels.txt").write_text("".join(f"{c}\n" for c in case["y"][0]))
            command = ["transfer", "--source", paths[0], "--labels", folder / "labels.txt", "--target", paths[1]]
            if "bridge" in case:
                numpy.save(folder / "bridge.npy", numpy.array(case["bridge"]))
                command += ["--bridge", folder / "bridge.npy"]
        done = subprocess.run([kindred, *map(str, command), "-m", method["id"], "-q", "--threads", "1", "-o", str(folder / "out")],
                              capture_output=True, text=True)
        if done.returncode:
            message = done.stderr.strip().removeprefix("kindred: ").replace(str(folder) + "/", "")
            return {"error": message, "code": done.returncode}
        result = json.loads((folder / "out/result.json").read_text())
        return {"labels": [task["labels"] for task in result["tasks"]]}


def main():
    kindred = sys.argv[1]
    methods = [m for m in json.loads(subprocess.run([kindred, "methods", "--json"], capture_output=True, text=True, check=True).stdout)
               if m["family"] in ("cluster", "transfer")]
    listed = list(cases())
    runs = []
    for case in listed:
        for method in methods:
            if method["family"] == "cluster" or (case["y"] and len(case["sets"]) > 1):
                runs.append({"case": case["name"], "method": method["id"], "family": method["family"], **run(kindred, case, method)})
    text = json.dumps({"cases": listed, "runs": runs}, separators=(",", ":")) + "\n"
    if "--check" not in sys.argv:
        FILE.write_text(text)
        print(len(runs), "runs,", sum("error" in each for each in runs), "refused,", len(text), "bytes")
    elif json.loads(FILE.read_text()) != json.loads(text):
        sys.exit("js/test/golden.json differs from what the program prints: run tests/js/record.py and look at the difference")


main()
