#!/usr/bin/python3
"""Runs the steps of packaging/docker/Dockerfile in chroots, since Docker itself is not needed for that. SPDX-License-Identifier: BSD-3-Clause

Usage: docker.py DIST, as root, with a mirror of Debian (KINDRED_MIRROR). Part of make release.

The base image is made by mmdebstrap, or is the tarball that KINDRED_BASE names. FROM, ARG, ENV, COPY, WORKDIR and RUN do what Docker does; afterwards
the entry point runs the demo in the last stage.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTER = ('mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"; folder=$1; shift; '
         'exec chroot "$0" /bin/sh -c \'cd "$0" && exec "$@"\' "$folder" "$@"')


class Stage:
    def __init__(self, root, base):
        self.root, self.folder, self.arguments = root, "/", {}
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        root.mkdir()
        subprocess.check_call(["tar", "-C", root, "-xf", base])
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")

    def run(self, *command):
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-ec", ENTER, self.root, self.folder, *command],
                              env={**self.environment, **self.arguments}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("%s\ndocker: status %d: %s" % (done.stdout[-4000:], done.returncode, " ".join(command)))
        return done.stdout

    def inside(self, path):
        return self.root / os.path.join(self.folder, path).lstrip("/")


def expanded(text, stage):
    return re.sub(r"\$\{(\w+)\}", lambda m: {**stage.environment, **stage.arguments}[m[1]], text)


def main():
    if os.getuid() != 0:
        print("skipped: this test needs root")
        return 77
    dist = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="kindred-docker-") as folder:
        work = pathlib.Path(folder)
        base = os.environ.get("KINDRED_BASE")
        if not base:
            base = work / "base.tar"
            subprocess.check_call(["mmdebstrap", "--quiet", "--variant=apt", "bookworm", base,
                                   os.environ.get("KINDRED_MIRROR", "http://deb.debian.org/debian")])
        stages, stage, entry = {}, None, None
        text = re.sub(r"\\\n\s*", " ", (ROOT / "packaging/docker/Dockerfile").read_text())
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if not line.strip() or line.startswith("#") or word in ("LABEL", "CMD"):
                continue
            print(line, flush=True)
            if word == "FROM":
                name = re.fullmatch(r"debian:bookworm-slim(?: AS (\w+))?", rest)[1] or "last"
                stage = stages[name] = Stage(work / name, base)
            elif word in ("ARG", "ENV"):
                key, _, value = rest.partition("=")
                (stage.arguments if word == "ARG" else stage.environment)[key] = value
            elif word == "WORKDIR":
                stage.folder = rest
                stage.inside("").mkdir(parents=True, exist_ok=True)
            elif word == "COPY":
                origin = re.match(r"--from=(\w+) ", rest)
                what, where = expanded(rest[origin.end() if origin else 0:], stage).split()
                path = stages[origin[1]].root / what.lstrip("/") if origin else dist / what
                target = stage.inside(where)
                if path.is_dir():
                    shutil.copytree(path, target, dirs_exist_ok=True)
                else:
                    target.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, target)
            elif word == "RUN":
                stage.run("/bin/sh", "-c", rest)
            elif word == "ENTRYPOINT":
                entry = json.loads(rest)
            else:
                sys.exit("docker: unknown instruction: " + line)
        stage.run(*entry, "demo", "-o", "demo")
        if not stage.inside("demo/result/task1.labels").stat().st_size:
            sys.exit("docker: the demo has no result")
        version = stage.run(*entry, "--version").split()[1]
        if version != (ROOT / "VERSION").read_text().strip():
            sys.exit("docker: the program has version " + version)
        size = int(subprocess.check_output(["du", "-sm", stage.root]).split()[0])
        print("docker: every step ran; the last stage has %d MB, of which %d MB are the base" % (size, os.path.getsize(base) >> 20))
    return 0


if __name__ == "__main__":
    sys.exit(main())
