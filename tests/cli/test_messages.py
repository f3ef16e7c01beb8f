"""Messages state what was found and what to do, in one line."""
import os
import unittest

from harness import CliTest

ROWS = range(24)
AB = "a,b\n" + "".join(f"{i % 3 * 9 + i % 5 * .1},{i % 3 * 7 - i % 4 * .1}\n" for i in ROWS)
TEXTS = ["the small cat sat on the mat in our kitchen", "a ship left the harbour at dawn with grain", "bread and soup are cheap in winter here"]


class Messages(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", AB)
        self.write("b.csv", AB.replace("a,b", "c,d"))
        self.write("known.csv", "a,b,class\n" + "".join(f"{line},k{i % 3}\n" for i, line in enumerate(AB.split()[1:])))

    def exactly(self, says, *args, code=2):
        self.assertEqual(self.fails(*args, code=code, says=""), f"kindred: {says}\n")

    def test_missing_arguments(self):
        for command in (["cluster", "-k", 3], ["inspect"], ["relate"], ["embed"]):
            self.exactly(f"{command[0]} needs at least one data file", *command)
        self.exactly("vectorize needs at least one folder or file of texts", "vectorize")
        self.exactly("predict needs --model FILE", "predict", "a.csv")
        self.exactly("predict needs one data file (got 0)", "predict", "--model", "m.h5")
        self.exactly("transfer needs --target FILE", "transfer", "--source", "a.csv")
        self.exactly("transfer needs --source FILE", "transfer", "--target", "a.csv")
        self.exactly("transfer needs --source FILE and --target FILE", "transfer")
        self.exactly("--source a.csv has no classes: add --labels FILE or --label-column NAME", "transfer", "--source", "a.csv", "--target", "b.csv")
        self.exactly("1 --labels for 2 --source; give one --labels FILE for each, in order", "transfer", "--source", "a.csv", "--source", "b.csv",
                     "--labels", "x", "--target", "a.csv")

    def test_an_option_is_no_value(self):
        run = ("cluster", "-m", "kmeans", "-q", "--threads", 1)
        for option, value in (("--explain", "FILE[,FILE...]"), ("--truth", "FILE[,FILE...]"), ("-o", "DIR"), ("--seed", "N"), ("--missing", "POLICY"),
                              ("--set", "NAME=VALUE"), ("--max-memory", "SIZE"), ("--label-column", "NAME")):
            for word in ("-k", "-k3", "-qv", "--force", "--no-header", "--format=csv", "--unknown"):
                self.exactly(f"{option} needs a value, {value}, but '{word}' follows, which is read as an option; if it is the value, write "
                             f"{option}{'=' if option[1] == '-' else ''}{word}", *run, option, word, 3, "a.csv")
            self.exactly(f"{option} needs a value: {value}", *run, "-k", 3, "a.csv", option)
        self.exactly("-k needs a value, K[,K2,...], but '--explain' follows, which is read as an option; if it is the value, write -k--explain",
                     *run, "-vk", "--explain", "a.csv")
        for option in ("--columns", "--na", "--rename", "--recode"):
            self.fails(*run, option, "--force", "-k", 3, "a.csv", code=2, says=[f"{option} needs a value", f"write {option}=--force"])
        # what begins with a dash and is no option
        self.run_kindred("generate", "-q", "-o", "g", "--rotation", "-30.5", "-n", 20, "--imbalance", ".5")
        self.fails("generate", "-o", "h", "--spread", "-1", code=2, says="--spread: '-1' is not valid")
        self.fails(*run, "-k", "-3", "a.csv", code=2, says="-k: '-3' is not valid")
        self.write("k.csv", AB.replace("a,b", "a,k"))
        k_is_left_out = self.run_kindred(*run, "-k", 3, "--columns", "-k", "k.csv").stdout
        self.assertIn('"d": 1,', k_is_left_out)
        self.assertEqual(self.run_kindred(*run, "--clusters=3", "--columns=-k", "k.csv").stdout.count('"labels"'), 1)
        self.write("holes.csv", AB + "--,1\n-x-,2\n")
        self.run_kindred(*run, "-k", 3, "--na", "--", "--na", "-x-", "--missing", "mean", "--", "holes.csv")
        self.run_kindred(*run, "-k", 3, "--format", "csv", "-", stdin=AB)
        self.write("-out.csv", AB)
        self.run_kindred("inspect", "--", "-out.csv")
        for folder in ("-o", "-odd", "-k.x", "--odd name"):
            self.run_kindred(*run, "-k", 3, *(["-o-o"] if folder == "-o" else ["-o", folder]), "a.csv")
            self.assertTrue(os.path.exists(self.path(f"{folder}/result.json")))

    def test_numbers(self):
        self.exactly("-k: '8-3' runs backwards; use 3-8", "cluster", "-k", "8-3", "a.csv")
        self.exactly("-k: '3-90' has 88 numbers; use a range of at most 64", "cluster", "-k", "3-90", "a.csv")
        self.exactly("-k: 'x' is not valid; use a whole number, 1 or larger, a range such as 3-8, or auto", "cluster", "-k", "x", "a.csv")
        transfer = ["transfer", "--source", "known.csv", "--label-column", "class", "--target", "a.csv"]
        self.exactly("--abstain: '1.5' is not valid; use a number from 0 to below 1", *transfer, "--abstain", 1.5)
        self.exactly("--abstain: 'half' is not valid; use a number from 0 to below 1", *transfer, "--abstain", "half")
        self.exactly("option n_init: '0' is not valid; use a whole number from 1 to 1000000", "cluster", "-k", 3, "-m", "kmeans", "--set", "n_init=0", "a.csv")
        self.run_kindred("cluster", "-k", 3, "-o", "one", "a.csv")
        self.exactly("one/result.json has one k only: run -k 3-8 first", "cut", "-k", 4, "-o", "cut", "one/result.json", code=3)

    def test_columns(self):
        self.exactly("source and target share no column (a, b and c, d); use --rename OLD=NEW or --features position",
                     "transfer", "--source", "known.csv", "--label-column", "class", "--target", "b.csv", code=3)
        self.run_kindred("cluster", "-k", 3, "--save-model", "m.h5", "-o", "out", "a.csv")
        self.run_kindred("transfer", "--source", "known.csv", "--label-column", "class", "--target", "a.csv", "--save-model", "t.h5", "-o", "labels")
        for args in (["predict", "--model", "m.h5"], ["predict", "--model", "t.h5"], ["cluster", "--into", "m.h5"], ["transfer", "--into", "t.h5"]):
            self.fails(*args, "b.csv", code=3, says=["kindred: b.csv has none of the model's columns: it has 'c'", "'d', the model 'a'" if "t.h5" in args else
                                                     "'d', the model 'a' and 'b'", "; use --rename OLD=NEW"])

    def test_no_table(self):
        self.write("t.csv", "".join(f"{TEXTS[i % 3]} {i}\n" for i in ROWS))
        self.exactly("t.csv: no usable column: column 1 is free text; use --text-column 1 to count its words, or its title if the first row has titles", "cluster", "-k", 3, "t.csv", code=3)
        self.run_kindred("cluster", "-k", 3, "--text-column", 1, "-o", "words", "t.csv")
        self.write("b.csv", bytes(200 + i % 50 for i in range(300)))
        self.exactly("b.csv: one line, no data: is this a CSV file?", "cluster", "-k", 3, "b.csv", code=3)

    def test_missing_values(self):
        """The line about missing values states what happened to them."""
        self.write("m.csv", "n,kind\n" + "".join(f"{'' if i % 6 == 0 else i % 3 * 50 + i},{'xyz'[i % 3]}\n" for i in ROWS))
        for args, done in (([], "skipped"), (["--missing", "mean"], "replaced by column means"), (["--missing", "median"], "replaced by column medians"),
                           (["--missing", "zero"], "replaced by 0")):
            self.run_kindred("cluster", "-k", 3, "--force", "-o", "out", *args, "m.csv")
            self.assertIn(f"4 missing values, {done}", self.result()["tasks"][0]["notes"])

    def test_folders_of_data(self):
        """They are no texts. Folders of other files are."""
        for folder in ("sales", "mixed", "nested/x", "txt", "plain"):
            os.makedirs(self.path(folder))
        for i in range(6):
            for name in (f"sales/{i}.csv", f"mixed/{i}.csv", f"mixed/{i}.labels", f"nested/x/{i}.tsv.gz"):
                self.write(name, AB)
            self.write(f"txt/{i}.txt", TEXTS[i % 3])
            self.write(f"plain/{i}", TEXTS[i % 3])
        self.write("txt/table.csv", AB)
        for folder, count, kind, files in (("sales", 6, "CSV", "sales/*.csv"), ("mixed", 6, "CSV", "mixed/*.csv"), ("nested", 6, "TSV", "nested/x/*.tsv.gz")):
            for args in (["cluster", "-k", 2], ["inspect"], ["vectorize", "-o", "out"], ["relate"], ["embed"], ["transfer", "--target", "a.csv", "--source"]):
                self.exactly(f"{folder} holds {count} {kind} files, not texts; give the files themselves: {files}", *args, folder, code=3)
        for folder in ("txt", "plain"):
            self.run_kindred("cluster", "-k", 2, "--force", "-o", "out", folder)
            self.run_kindred("vectorize", "--force", "-o", "out", folder)


if __name__ == "__main__":
    unittest.main()
