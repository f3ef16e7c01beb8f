"""evaluate, generate, methods, demo, version, help; progress and interruption."""
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from harness import BLOBS_A, KINDRED, CliTest


class Commands(CliTest):
    def test_unknown_commands_name_what_to_use(self):
        self.fails("clustr", code=2, says="did you mean 'cluster'?")
        self.fails("bench", "--list", code=2, says="python -m kindred.bench")
        self.fails("help", "bench", code=2, says="python -m kindred.bench")

    def test_evaluate(self):
        self.write("l", "0\n0\n1\n1\n2\n2\n")
        self.write("t", "a\na\nb\nb\nb\nb\n")
        text = self.run_kindred("evaluate", "l", "t").stdout
        self.assertIn("acc             0.666667", text)
        s = json.loads(self.run_kindred("evaluate", "--json", "l", "t").stdout)
        self.assertAlmostEqual(s["acc"], 4 / 6, places=15)
        self.assertEqual(s["contingency"]["counts"], [[2, 0], [0, 2], [0, 2]])
        self.assertEqual(s["homogeneity"], 1)
        for key in ("nmi", "nmi_arithmetic", "nmi_max", "ari", "purity", "completeness", "v_measure"):
            self.assertIn(key, s)
        self.write("short", "a\n")
        self.fails("evaluate", "l", "short", code=3, says=["6", "1"])
        self.fails("evaluate", "l", "none", code=3, says="none")

    def test_generate_is_seeded_and_reads_back(self):
        common = ("generate", "--tasks", 3, "-k", 3, "-n", "30,20,10", "-q")
        for design, ending in (("blobs", "csv"), ("topics", "mtx")):
            for to in (ending, "npy"):
                self.run_kindred(*common, "--design", design, "--to", to, "-o", f"{design}-{to}", "--seed", 5)
                self.run_kindred(*common, "--design", design, "--to", to, "-o", f"{design}-{to}-2", "--seed", 5)
                first = self.path(f"{design}-{to}/task2.{to}")
                with open(first, "rb") as a, open(self.path(f"{design}-{to}-2/task2.{to}"), "rb") as b:
                    self.assertEqual(a.read(), b.read())
                self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--score", "-o", "out", "--force", first)
                t = self.result()["tasks"][0]
                self.assertEqual(t["n"], 20)
                self.assertIsNotNone(t["metrics"])
        self.fails(*common, "-o", "blobs-csv", code=2, says="--force")

    def test_generate_streams(self):
        """The peak of memory does not grow with the number of rows."""
        def peak(rows):
            process = subprocess.Popen([KINDRED, "generate", "-n", str(rows), "--tasks", "1", "-d", "20", "--to", "npy", "-o",
                                        f"big{rows}", "-q"], cwd=self.dir)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            self.assertEqual(status, 0)
            return usage.ru_maxrss
        self.assertLess(peak(200000) - peak(200), 8 << 10)  # kilobytes; the file has 32 megabytes
        self.assertGreater(os.path.getsize(self.path("big200000/task1.npy")), 200000 * 20 * 8)

    def test_methods(self):
        self.assertIn("kmeans", self.run_kindred("methods").stdout)
        text = self.run_kindred("methods", "kmeans").stdout
        for word in ("n_init", "spherical", "centres", "References"):
            self.assertIn(word, text)
        for m in json.loads(self.run_kindred("methods", "--json").stdout):
            for key in ("id", "title", "summary", "family", "objective", "steps", "use", "cost", "options", "arrays", "references"):
                self.assertTrue(m[key] or key == "arrays", (m["id"], key))
            for o in m["options"]:
                self.assertTrue(o["help"], o["name"])

    def test_methods_state_what_they_minimise(self):
        text = self.run_kindred("methods", "mbc").stdout
        self.assertIn("\nObjective:\n  J = sum_t L_t + lambda / (T - 1) sum_t", text)
        self.assertIn("the second part is 2 lambda d_M", " ".join(text.split()))
        self.assertIn("- eps |X_t W|^2", " ".join(self.run_kindred("methods", "lssmtc").stdout.split()))
        for m in json.loads(self.run_kindred("methods", "--json").stdout):
            first = m["objective"].splitlines()[0]
            self.assertTrue("=" in first or first.startswith(("no ", "each layer minimises")), (m["id"], first))
            page = self.run_kindred("methods", m["id"], "--markdown").stdout
            self.assertIn(f"# {m['id']}: {m['title']}\n", page)
            self.assertIn(m["objective"], page)
            for o in m["options"]:
                self.assertIn(f"\n| `{o['name']}` | ", page)
        self.fails("methods", "--markdown", code=2, says="--markdown needs the ID of a method")
        self.fails("methods", "--markdown", "--json", "mbc", code=2, says="use --json or --markdown, not both")

    def test_methods_are_listed_in_a_useful_order(self):
        lines = self.run_kindred("methods").stdout.splitlines()
        self.assertEqual(lines[0], "Start here:")
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["auto", "auto-transfer"])
        self.assertEqual(len({line.split(maxsplit=2)[2] for line in lines[1:3]}), 2)
        listed = [line.split()[0] for line in lines if line.startswith("  ")]
        self.assertEqual(sorted(listed), sorted(m["id"] for m in json.loads(self.run_kindred("methods", "--json").stdout)))
        self.assertLess(listed.index("mbc"), listed.index("kmeans"))
        titles = [line.split(maxsplit=2)[2] for line in lines if line.startswith("  ")]
        self.assertEqual(len(set(titles)), len(titles))
        self.assertEqual([t for t in titles if not t[0].isupper()], ["k-means"])

    def test_cite(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        facts = dict(re.findall(r'^(title|version|license): "?(.*?)"?$', (root / "CITATION.cff").read_text(), re.M))
        software = self.run_kindred("cite").stdout
        self.assertEqual(self.run_kindred("--cite").stdout, software)
        for key, value in facts.items():
            suffix = r"(-dev(\+[0-9a-f]{8})?)?" if key == "version" else ""
            self.assertRegex(software, r"%s = \{+%s%s\}+," % (key, re.escape(value), suffix))
        for m in json.loads(self.run_kindred("methods", "--json").stdout):
            text = self.run_kindred("--cite", m["id"]).stdout
            self.assertTrue(text.startswith(software))
            entries = re.findall(r"^@misc\{([a-z-]+\d{4}),\n  author = \{(.+)\},\n  title = \{\{(.+)\}\},\n(?:  howpublished = \{(.+)\},\n)?  year = \{(\d{4})\},\n\}$",
                                 text, re.M)
            self.assertEqual(len(entries), len(m["references"]), text)
            self.assertEqual(len({e[0] for e in entries}), len(entries))
            for (_, authors, title, _, year), reference in zip(entries, m["references"]):
                self.assertIn(f": {title}. ", reference)
                self.assertIn(year, reference)
                self.assertTrue(reference.startswith(authors.split(" and ")[0]))
        self.assertIn("howpublished = {AAAI, 655-660}", self.run_kindred("cite", "mbc").stdout)
        self.fails("cite", "mcb", code=2, says="mbc")
        self.fails("cite", "mbc", "ttl", code=2, says="at most one METHOD")

    def test_help_names_the_methods_that_an_option_is_for(self):
        text = " ".join(self.run_kindred("help", "transfer").stdout.split())
        methods = json.loads(self.run_kindred("methods", "--json").stdout)
        self.assertEqual([m["id"] for m in methods if any(o["name"] == "guard" for o in m["options"])], ["trec"])
        self.assertIn("--guard method trec:", text)
        self.assertIn("chosen by the kind of data, unless --norm or --scale is given; evaluate: none", text)
        self.assertNotIn("(default none)", text)

    def test_every_command_has_help_with_an_example(self):
        overview = self.run_kindred("help").stdout
        names = [line.split()[0] for line in overview.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
        self.assertIn("cluster", names)
        for name in names:
            text = self.run_kindred("help", name).stdout
            self.assertIn("Usage: kindred " + name, text)
            self.assertIn("Example:\n  ", text)
            self.assertEqual(self.run_kindred(name, "--help").stdout, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertIn(".SH EXAMPLE", self.run_kindred("help", "--man", name).stdout)
        self.assertEqual(self.run_kindred("--help").stdout, overview)
        self.assertIn("Usage", self.run_kindred(code=2).stderr)

    def test_device(self):
        self.assertIn("\ndevice: ", self.run_kindred("version", "-v").stdout)
        self.write("a.csv", BLOBS_A)
        labels = self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "a.csv").stdout
        for device in ("cpu", "auto"):
            again = self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--device", device, "a.csv").stdout
            self.assertEqual(json.loads(again)["tasks"][0]["labels"], json.loads(labels)["tasks"][0]["labels"])
        self.fails("cluster", "-m", "kmeans", "-k", 3, "--device", "gpu", "a.csv", code=2,
                   says=["--device 'gpu'", "auto, cpu, cuda or cuda:N"])
        self.fails("cluster", "-m", "kmeans", "-k", 3, "--device", "cuda:15", "a.csv", code=2,
                   says="device 'cuda:15' is not available")

    def test_version(self):
        text = self.run_kindred("version").stdout
        self.assertRegex(text, r"^kindred \d+\.\d+\.\d+(-dev(\+[0-9a-f]{8})?)?\n$")
        self.assertEqual(self.run_kindred("--version").stdout, text)
        for word in ("compiler", "blas", "openmp", "expat"):
            self.assertIn(word, self.run_kindred("version", "-v").stdout)

    def test_several_processes_without_mpi(self):
        """mpirun starts copies of a program that does not know of the others: they must not write the same files."""
        if "mpi: no: " not in self.run_kindred("version", "-v").stdout:
            self.skipTest("this build of kindred has MPI")
        self.write("a.csv", BLOBS_A)
        cluster = ("cluster", "-m", "kmeans", "-k", 2, "a.csv")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}
        for told in ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, {"PMI_SIZE": "2", "PMI_RANK": "0"},
                     {"SLURM_NTASKS": "2", "PMIX_RANK": "0"}, {"SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "4", "PMI_RANK": "0"}):
            self.fails(*cluster, code=2, says=["2 processes", "no MPI"], env={**plain, **told})
            other = {name: "1" if name.endswith("RANK") else value for name, value in told.items()}
            self.assertEqual(self.run_kindred(*cluster, code=2, env={**plain, **other}).stderr, "")  # said once
        # One process, or a batch script of a job that could start several.
        for told in ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, {"PMI_SIZE": "1", "PMI_RANK": "0"},
                     {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, {"SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "4", "PMIX_RANK": "0"}):
            self.run_kindred(*cluster, env={**plain, **told})

    def test_demo(self):
        done = self.run_kindred("demo", "-o", "d")
        self.assertIn("d/result/report.html", done.stdout)
        self.assertTrue(os.path.exists(self.path("d/result/report.html")))
        for t in self.result("d/result/result.json")["tasks"]:
            self.assertGreater(t["metrics"]["nmi"], 0.5)

    def test_bash_completion(self):
        script = self.run_kindred("help", "--completion", "bash").stdout
        self.write("c", script)
        def complete(*words):
            line = " ".join(f'"{w}"' for w in words)
            done = subprocess.run(["bash", "-c", f'source c; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _kindred; '
                                   'echo "${COMPREPLY[@]}"'], cwd=self.dir, capture_output=True, text=True, check=True)
            return done.stdout.split()
        self.assertEqual(complete("kindred", "clu"), ["cluster"])
        self.assertEqual(complete("kindred", "cluster", "--wei"), ["--weight"])
        self.assertEqual(complete("kindred", "cluster", "--weight", "tf"), ["tfidf"])
        self.assertIn("kmeans", complete("kindred", "cluster", "-m", ""))
        # Arguments that are words: methods and commands.
        self.assertEqual(complete("kindred", "methods", "kme"), ["kmeans"])
        self.assertNotIn("c", complete("kindred", "methods", ""))
        self.assertEqual(complete("kindred", "help", "vect"), ["vectorize"])

    def test_fish_completion_has_what_bash_has(self):
        lines = self.run_kindred("help", "--completion", "fish").stdout.splitlines()
        self.assertTrue(all(line.startswith(("complete -c kindred ", "# ")) for line in lines))
        def of(command):
            return [line for line in lines if f"__fish_seen_subcommand_from {command}'" in line]
        methods = [m["id"] for m in json.loads(self.run_kindred("methods", "--json").stdout)]
        self.assertIn(f"-a '{' '.join(methods)}'", of("methods")[-1])
        self.assertFalse([line for line in of("methods") if line.endswith(" -F")])
        self.assertTrue([line for line in of("cluster") if line.endswith(" -F")])
        bash = self.run_kindred("help", "--completion", "bash").stdout
        for command in ("cluster", "transfer", "inspect", "vectorize"):
            block = bash[bash.index(f"\t{command})\n"):]
            words = re.search(r"esac\n\t\twords='([^']*)'", block).group(1).split()
            fish = {f"--{m}" for line in of(command) for m in re.findall(r" -l (\S+)", line)}
            self.assertEqual(set(words), fish)
        for line in lines:  # quotes are balanced
            self.assertEqual(len(re.findall(r"(?<!\\)'", line)) % 2, 0, line)


class Terminal(CliTest):
    def slow_job(self):
        """Arguments of a run that takes long."""
        self.run_kindred("generate", "-n", 20000, "-d", 30, "-k", 50, "--tasks", 1, "--to", "npy", "-o", "g", "-q")
        return ["cluster", "-m", "kmeans", "-k", "200", "--set", "n_init=1000", "--set", "tol=0", "g/task1.npy", "-o", "out"]

    def test_interrupt_keeps_the_best_result(self):
        process = subprocess.Popen([KINDRED, *self.slow_job()], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        r = self.result()
        self.assertEqual(r["stop"], "cancelled")
        self.assertEqual(len(r["tasks"][0]["labels"]), 20000)
        self.assertEqual(self.leftovers(), [])

    def test_progress_on_a_terminal_only(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([KINDRED, *self.slow_job(), "--time-limit", "4"], cwd=self.dir, stdout=subprocess.DEVNULL,
                                   stderr=slave)
        os.close(slave)
        seen = b""
        while process.poll() is None or select.select([master], [], [], 0)[0]:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    break
        os.close(master)
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"kmeans", seen)
        self.assertRegex(seen, rb"kmeans  \[#*\.*\] \d+ %  objective [\d.e+]+  [\d.]+ s of at most 4 s")
        self.assertRegex(seen, rb" s  (?:at most|about) \d+ s left")
        shares = [int(share) for share in re.findall(rb"kmeans  \[[#.]*\] (\d+) %", seen)]
        self.assertEqual(shares, sorted(shares))
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "quiet", self.write("a.csv", BLOBS_A))
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
