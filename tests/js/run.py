"""Tests of the npm package (node --test) and of the page in a browser. Skipped (77) if a tool is missing.

Usage: run.py package|chromium|firefox. Builds build/wasm and build/web if they are missing, which takes minutes."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, WEB = ROOT / "build/wasm", ROOT / "build/web"
BROWSERS = {"chromium": "chromium", "firefox": "firefox-esr"}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def main():
    what = sys.argv[1]
    for tool in ("emcc", "node", "npm", *([BROWSERS[what]] if what in BROWSERS else [])):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    if not (BUILD / "package").exists():
        subprocess.run([ROOT / "tools/wasm.sh"], check=True)
    if what == "package":
        archive = max(BUILD.glob("kindred-*.tgz"), key=lambda file: file.stat().st_mtime)
        if "KINDRED" in os.environ:
            subprocess.run([sys.executable, ROOT / "tests/js/record.py", os.environ["KINDRED"], "--check"], check=True)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "package.json").write_text("{}\n")
            subprocess.run(["npm", "install", "--offline", "--no-audit", "--no-fund", archive], cwd=folder, check=True)
            sys.exit(subprocess.run(["node", "--test", "test/"], cwd=pathlib.Path(folder, "node_modules/kindred")).returncode)
    if not WEB.exists():
        subprocess.run(["node", ROOT / "tools/web.mjs", BUILD / "package", WEB], check=True)
    tools = BUILD / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "node_modules/puppeteer-core").exists() and \
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", tools, "puppeteer-core"]).returncode:
        skip("npm cannot install puppeteer-core")
    environment = {**os.environ, "KINDRED_WEB": str(WEB), "KINDRED_PACKAGE": str(BUILD / "package"), "KINDRED_TOOLS": str(tools), "KINDRED_BROWSER": what}
    sys.exit(subprocess.run(["node", "--test", ROOT / "tests/js/pages.test.mjs"], env=environment).returncode)


main()
