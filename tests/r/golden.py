#!/usr/bin/python3
"""Labels of the program, of R and of Python on the cases of tests/golden: for every method they must be equal.

usage: golden.py PROGRAM R_LIBRARY PYTHON     (PYTHON: the interpreter of the environment with the package; may not exist). 77: R is not installed.
       golden.py --python PLAN                (used by the above: fits with Python)

The plan is a table with one run per line: number, command, method, data files, file of labels, bridge, and the file for the labels.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
MISSING = "-"


def cases():
    """Name, data sets (rows are samples) and known classes of the first one, or None."""
    def load(name):
        with open(GOLDEN / f"{name}.json") as file:
            return json.load(file)
    for case in load("lss")["cases"][:2]:
        yield "lss_" + case["name"], case["X"], case["y"][0]
    for case in load("mbc")["cases"][:2]:
        yield "mbc_" + case["name"], case["X"], None
    for case in load("mtcfir")["cases"][:1]:
        yield "mtcfir_" + case["name"], case["X"], case["y"][0]
    trec = load("trec")
    yield "trec", [trec["XS"], trec["XT"]], trec["yS"]
    ttl = load("ttl")["cases"][0]
    turned = [[list(row) for row in zip(*ttl[name])] for name in ("Xs", "Xt", "XIa")]
    yield "ttl", turned, ttl["ys"]


def write(folder, name, x):
    path = folder / f"{name}.csv"
    with open(path, "w") as file:
        file.write(",".join(f"f{j}" for j in range(len(x[0]))) + "\n")
        file.writelines(",".join(repr(float(v)) for v in row) + "\n" for row in x)
    return str(path)


def methods(program):
    """(method, family, takes a bridge), from the program."""
    listed = json.loads(subprocess.run([program, "methods", "--json"], check=True, capture_output=True, text=True).stdout)
    for entry in listed["methods"] if isinstance(listed, dict) else listed:
        yield entry["id"], entry["family"], any(flag in entry["capabilities"] for flag in ("bridge", "bridges"))


def plan(folder, program):
    known = list(methods(program))
    number = 0
    for case, sets, classes in cases():
        own = folder / case
        own.mkdir()
        paths = [write(own, f"set{t}", x) for t, x in enumerate(sets)]
        same_columns = len({len(x[0]) for x in sets}) == 1
        labels = own / "set0.labels"
        if classes is not None:
            labels.write_text("".join(f"c{v}\n" for v in classes))
        for method, family, bridge in known:
            if family == "cluster" and same_columns:
                row = ["cluster", method, ";".join(paths), MISSING, MISSING]
            elif family == "transfer" and classes is not None and same_columns:
                row = ["transfer", method, ";".join(paths[:2]), str(labels), paths[2] if bridge and len(paths) > 2 else MISSING]
            else:
                continue
            number += 1
            yield [str(number), *row, str(folder / f"{number}")]


def by_program(program, row, folder):
    number, command, method, data, labels, bridge, _ = row
    paths, out = data.split(";"), folder / f"program{number}"
    if command == "cluster":
        arguments = ["cluster", "-k", "3", *paths]
    else:
        arguments = ["transfer", "--source", paths[0], "--labels", labels, "--target", paths[1], *(["--bridge", bridge] if bridge != MISSING else [])]
    run = subprocess.run([program, *arguments, "-m", method, "--seed", "5", "-q", "-o", str(out)], capture_output=True, text=True)
    if run.returncode:
        return "error"
    names = [pathlib.Path(p).stem for p in paths] if command == "cluster" else ["target"]
    return "\n".join(" ".join((out / f"{name}.labels").read_text().split()) for name in names)


def by_python(path):
    import kindred
    import warnings
    warnings.simplefilter("ignore")
    for line in pathlib.Path(path).read_text().splitlines():
        _, command, method, data, labels, bridge, out = line.split("\t")
        paths = data.split(";")
        try:
            if command == "cluster":
                result = kindred.cluster(paths, 3, method, seed=5)
                found = [result.labels(t) for t in range(len(paths))]
            else:
                classes = pathlib.Path(labels).read_text().split()
                result = kindred.transfer({"source": paths[0]}, classes, {"target": paths[1]}, method, seed=5,
                                          bridges={"bridge": bridge} if bridge != MISSING else ())
                found = [result.labels(-1)]
            text = "\n".join(" ".join("?" if v is None else str(v) for v in part) for part in found)
        except ValueError:
            text = "error"
        pathlib.Path(out + ".python").write_text(text)


def main():
    if sys.argv[1] == "--python":
        return by_python(sys.argv[2])
    program, library, python = sys.argv[1:]
    if not os.path.exists(os.path.join(library, "kindred")):
        print("skipped: the R package is not installed")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = list(plan(folder, program))
        table = folder / "plan.tsv"
        table.write_text("".join("\t".join(row) + "\n" for row in rows))
        subprocess.run(["Rscript", str(HERE / "golden.R"), str(table)], check=True, env={**os.environ, "R_LIBS": library})
        with_python = os.path.exists(python)
        if with_python:
            subprocess.run([python, __file__, "--python", str(table)], check=True)
        wrong = fitted = 0
        for row in rows:
            answers = {"program": by_program(program, row, folder), "R": pathlib.Path(row[-1] + ".r").read_text().strip()}
            if with_python:
                answers["Python"] = pathlib.Path(row[-1] + ".python").read_text().strip()
            fitted += answers["program"] != "error"
            if len(set(answers.values())) > 1:
                wrong += 1
                print(pathlib.Path(row[3].split(";")[0]).parent.name, row[1], row[2], "differ:")
                for who, text in answers.items():
                    print(f"  {who}: {text[:160]!r}")
        print(f"{len(rows)} runs of {len({row[2] for row in rows})} methods, {fitted} with labels: {wrong} differ between {', '.join(answers)}")
        return 1 if wrong or not fitted else 0


if __name__ == "__main__":
    sys.exit(main())
