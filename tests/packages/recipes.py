#!/usr/bin/python3
"""Checks the recipes of packaging/ as far as that is possible without their package systems. SPDX-License-Identifier: BSD-3-Clause

Usage: recipes.py FOLDER. conda: the expanded template is YAML with the sections that conda-forge requires. Homebrew: ruby -c, and
rubocop. Spack: the tools of `spack style`, flake8, black and isort. Docker: the instructions. Every option of the build that a recipe sets exists. A linter that is not installed is named and skipped.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options():
    """The options of the build."""
    text = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))])
    found = set(re.findall(r"option\((KINDRED_\w+)", text)) | set(re.findall(r"set\((KINDRED_\w+) \S+ CACHE", text))
    return found | {"KINDRED_" + part for part in re.findall(r"kindred_part\((\w+)", text)}


def check_conda(text):
    try:
        import yaml
    except ImportError:
        return ["skipped: PyYAML is not installed"]
    variables = dict(re.findall(r'{% set (\w+) = "([^"]*)" %}', text))
    text = re.sub(r"{%.*?%}", "", text)
    text = re.sub(r"{{ (\w+) }}", lambda m: variables[m[1]], text)
    text = re.sub(r"{{ (compiler|stdlib|pin_subpackage)\((.*?)\) }}", r"\1", text)
    recipe = yaml.safe_load(text)
    order = ["package", "source", "build", "requirements", "test", "about", "extra"]
    wrong = [] if list(recipe) == order else ["sections %s, expected %s" % (list(recipe), order)]
    if not re.fullmatch("[0-9a-f]{64}|SHA256_OF_THE_TARBALL", recipe["source"]["sha256"]):
        wrong.append("sha256: %s" % recipe["source"]["sha256"])
    return wrong + [name + " is missing" for name in ("home", "license", "license_file", "summary") if not recipe["about"].get(name)]


def lint(*command):
    """What a linter prints if it finds something, or that it is missing."""
    if not shutil.which(command[0]):
        return ["skipped: %s is not installed" % command[0]]
    done = subprocess.run(command, capture_output=True, text=True)
    return [] if done.returncode == 0 and "warn" not in done.stderr else [done.stdout + done.stderr]


def check_homebrew(path):
    # Homebrew joins paths with / without spaces.
    cops = ["--only", "Layout,Lint,Security", "--except", "Layout/SpaceAroundOperators"]
    description = re.search(r'desc "(.*)"', path.read_text())[1]
    return (lint("ruby", "-wc", path) + lint("rubocop", "--cache", "false", "--format", "simple", *cops, path)
            + (["desc has more than 80 characters"] if len(description) > 80 else []))


def check_spack(path):
    compile(path.read_text(), str(path), "exec")
    return (lint("flake8", "--max-line-length=99", "--extend-ignore=F403,F405", path) + lint("black", "--line-length=99", "--check", "--quiet", path)
            + lint("isort", "--profile=black", "--line-length=99", "--check", path))


def check_docker(text):
    known = {"FROM", "ARG", "ENV", "COPY", "WORKDIR", "RUN", "LABEL", "ENTRYPOINT", "CMD"}
    lines = [line for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip() and not line.startswith("#")]
    return ["unknown instruction: " + line for line in lines if line.split()[0] not in known]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    conda, brew, spack, docker = (folder / name for name in ("conda/meta.yaml", "homebrew/kindred.rb", "spack/package.py", "docker/Dockerfile"))
    results = {conda: check_conda(conda.read_text()), brew: check_homebrew(brew), spack: check_spack(spack), docker: check_docker(docker.read_text())}
    failed = False
    for path, lines in results.items():
        lines = lines + ["%s is no option of the build" % name for name in sorted(set(re.findall(r"\bKINDRED_[A-Z]+\b", path.read_text())) - options()
                                                                                 - {"KINDRED_LIBRARY", "KINDRED_BUNDLE"})]
        failed = failed or any(not line.startswith("skipped") for line in lines)
        print("%s: %s" % (path.relative_to(folder), "; ".join(lines) or "checked"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
