"""An option that would be ignored is an error that names the reason; the rules are in cli/effects.c."""
import os
import unittest

from harness import BLOBS_A, CliTest

NEEDS = (  # options, what they need, the rest of the command
    ("--report-features 3", "--report", "cluster -k 2 -o out a.csv"),
    ("--model-size 3", "--save-model", "cluster -k 2 a.csv"),
    ("--model-without-samples", "--save-model", "cluster -k 2 a.csv"),
    ("--new-clusters no", "--into", "cluster -k 2 a.csv"),
    ("--features-set noise=0.2", "--features-from", "cluster -k 2 a.csv"),
    ("--top-by variance", "--top-features", "relate a.csv a.csv"),
    ("--resamples 3", "--quality", "cluster -k 2 a.csv"),
    ("--resamples 3", "--data", "evaluate l l"),
    ("--keep-subject", "--strip-mail", "cluster -k 2 texts"),
    ("--to npy", "--output", "embed a.csv"),
    ("--weight tfidf", "--data", "evaluate l l"),
    ("--method kmeans", "--data", "evaluate l l"),
    ("--label-column x", "--data or --emd", "evaluate l l"),
    ("--columns x", "--data or --emd", "evaluate l l"),
    ("--stop-words none", "--data", "evaluate l l"),
    ("--words 9", "--design topics", "generate -o out"),
    ("--write-columns label", "--write-table", "cluster -k 2 -o out a.csv"),
    ("--key-added mine", "--write-h5ad", "cluster -k 2 -o out a.csv"),
    ("--names l", "--output or --write-table", "predict --model m.h5 a.csv"),
    ("--vectors l", "--text-column", "inspect a.csv"),
    ("--vocabulary l", "--text-column", "inspect m.mtx"),
    ("--vectors l", "--data", "evaluate l l"),
    ("--unrelated", "--design tables", "generate -o out"),
)
WITH = (  # options, what makes them useless, the rest of the command
    ("--model-size 3", "--model-without-samples", "cluster -k 2 --save-model m.h5 a.csv"),
    ("--fit-on each", "--into m.h5", "cluster a.csv"),
    ("--stop-words none", "--into m.h5", "cluster texts"),
    ("--score", "--truth l", "cluster -k 2 a.csv"),
    ("--score", "--truth l", "transfer --source a.csv --labels l --target a.csv"),
    ("--batch-key x", "--task-column y", "cluster -k 2 a.csv"),
    ("--task-column x", "--task a", "predict --model m.h5 a.csv"),
    ("--method svm", "--train-selector s.json", "transfer --source a.csv --source a.csv --source a.csv"),
    ("--truth l", "--train-selector s.json", "transfer --source a.csv --source a.csv --source a.csv"),
    ("--columns x", "--text-column x", "cluster -k 2 a.csv"),
    ("--missing mean", "--text-column x", "cluster -k 2 a.csv"),
    ("--na none", "--text-column x", "predict --model m.h5 a.csv"),
    ("--decimal ,", "--text-column x", "embed a.csv"),
    ("--encoding utf-8", "--text-column x", "relate a.csv"),
    ("--rename x=z", "--text-column x", "inspect a.csv"),
    ("--transpose", "--text-column x", "cluster -k 2 a.csv"),
    ("--min-df 2", "--vocabulary v.txt", "vectorize -o out texts"),
    ("--top-features 2", "--vocabulary v.txt", "cluster -k 2 texts"),
    ("--neighbors 5", "--layout directions", "embed a.csv"),
    ("--sweeps 5", "--layout directions", "embed a.csv"),
    ("--most-rows 5", "--no-mmd", "relate a.csv a.csv"),
    ("--format csv", "--from csv", "convert a.csv b.csv"),
    ("--man", "--completion bash", "help"),
    ("--shift 1", "--design topics", "generate -o out"),
    ("--separation 1", "--design topics", "generate -o out"),
    ("--rotation 1", "--design tables", "generate -o out"),
    ("--tasks 3", "--design berikov", "generate -o out"),
    ("--vectors l", "--explain a.csv", "cluster -k 2 --text-column x a.csv"),
    ("--vectors l", "--into m.h5", "cluster texts"),
    ("--recode x:1=2", "--text-column x", "cluster -k 2 a.csv"),
    ("--known-column x", "--known l", "cluster -k 2 a.csv"),
)
FILES = (  # options, what they have an effect on, the rest of the command
    ("--columns x", "CSV, TSV or Excel", "cluster -k 2 m.mtx"),
    ("--recode x:1=2", "CSV, TSV or Excel", "embed m.mtx"),
    ("--feature-names x", "AnnData", "cluster -k 2 a.csv"),
    ("--known-column x", "AnnData", "cluster -k 2 m.mtx"),
    ("--header", "CSV, TSV or Excel", "inspect m.mtx"),
    ("--delimiter ;", "CSV or TSV", "convert m.mtx m.npy"),
    ("--decimal ,", "CSV, TSV or Excel", "evaluate l --data m.mtx"),
    ("--encoding utf-8", "CSV or TSV", "transfer --source m.mtx --labels l --target m.mtx"),
    ("--id-column x", "table or a JSON-lines", "embed m.mtx"),
    ("--label-column x", "AnnData", "cluster -k 2 m.mtx"),
    ("--label-column x", "AnnData", "cluster -k 2 texts"),
    ("--text-column x", "JSON-lines", "cluster -k 2 texts"),
    ("--text-column x", "JSON-lines", "relate m.mtx"),
    ("--header", "CSV, TSV or Excel", "vectorize -o out texts"),
    ("--delimiter ;", "CSV or TSV", "vectorize --from lines -o out l"),
    ("--label-column x", "JSON-lines", "vectorize -o out l"),
)


class NoEffect(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", BLOBS_A)
        self.write("l", "0\n1\n" * 10)
        self.run_kindred("convert", "-q", "a.csv", "m.mtx")
        os.mkdir(self.path("texts"))
        for i in range(4):
            self.write(f"texts/{i}.txt", "voyage harbour sailor")

    def test_options_that_need_others(self):
        for option, needed, rest in NEEDS:
            with self.subTest(option=option, rest=rest):
                name = option.split()[0]
                self.fails(*rest.split(), *option.split(), code=2, says=f"{name} has no effect without {needed}; add it, or remove {name}")

    def test_options_that_others_make_useless(self):
        for option, other, rest in WITH:
            with self.subTest(option=option, rest=rest):
                shown = other if other.startswith(("--design", "--layout")) else other.split()[0]
                self.fails(*rest.split(), *option.split(), *other.split(), code=2, says=f"{option.split()[0]} has no effect with {shown}")

    def test_options_of_other_files(self):
        for option, kinds, rest in FILES:
            with self.subTest(option=option, rest=rest):
                said = self.fails(*rest.split(), *option.split(), code=2, says=f"{option.split()[0]} has no effect: no input is ")
                self.assertIn(kinds, said)
        # One of the files is enough, and a file that is not there is reported as such.
        self.run_kindred("cluster", "-k", 2, "-q", "--header", "a.csv", "m.mtx")
        self.run_kindred("inspect", "--stop-words", "none", "a.csv", "texts")
        self.fails("cluster", "-k", 2, "--delimiter", ";", "none.dat", code=3, says="none.dat")

    def test_options_that_do_no_harm_are_accepted(self):
        self.run_kindred("cluster", "-k", 2, "-q", "-m", "kmeans", "--seed", 2, "--threads", 1, "--no-progress", "--force", "--missing", "mean",
                         "--no-stream", "--time-limit", 60, "m.mtx")
        self.run_kindred("evaluate", "-q", "--seed", 2, "--threads", 1, "l", "l")

    def test_models_without_samples_have_no_size(self):
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--save-model", "m.h5", "--model-size", 5, "a.csv", code=2, says=["--model-size has no effect", "kmeans"])
        self.assertFalse(os.path.exists(self.path("m.h5")))


if __name__ == "__main__":
    unittest.main()
