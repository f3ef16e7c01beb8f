#!/usr/bin/python3
"""The files people have: single-cell folders and files, batches in one file, samples in columns, folders of texts."""
import csv
import datetime
import gzip
import json
import os
import shutil
import struct
import unittest
import zipfile

from harness import CliTest

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
except ImportError:
    np = None
try:
    import h5py
except ImportError:
    h5py = None
try:
    import openpyxl
    import pandas
except ImportError:
    openpyxl = None
try:
    import anndata
    import pandas as pd
except Exception:  # an installed anndata may not import beside a newer NumPy
    anndata = None


def counts(seed=0, cells=40, genes=12):
    """Counts of two kinds of cells."""
    rng = np.random.default_rng(seed)
    rate = np.where(np.arange(cells)[:, None] % 2 == np.arange(genes)[None, :] % 2, 6.0, 0.3)
    return sp.csr_matrix(rng.poisson(rate))


@unittest.skipIf(np is None, "NumPy and SciPy are needed")
class Formats(CliTest):
    def matrix(self, *arguments):
        """What the program reads, as a dense array, with names of columns."""
        shutil.rmtree(self.path("as-read"), ignore_errors=True)
        self.run_kindred("convert", "-q", *arguments, "as-read/x.npy")
        names = self.path("as-read/features.txt")
        return np.load(self.path("as-read/x.npy")), self.read(names).split("\n")[:-1] if os.path.exists(names) else None

    def ids(self, *arguments):
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--force", "-o", "ids", *arguments)
        return [t.get("ids") for t in self.result("ids/result.json")["tasks"]]

    def read_bytes(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def tenx(self, folder, x, v2=False, gz=True, prefix="", symbols=None, types=None):
        """Writes x (cells x genes) as 10x does; returns barcodes and symbols."""
        os.makedirs(self.path(folder), exist_ok=True)
        cells = ["%s-1" % "".join("ACGT"[(i >> 2 * b) & 3] for b in range(16)) for i in range(x.shape[0])]
        symbols = symbols or ["Gene%d" % j for j in range(x.shape[1])]
        lines = ["ENSG%011d\t%s%s" % (j, s, "" if v2 else "\t" + (types[j] if types else "Gene Expression"))
                 for j, s in enumerate(symbols)]
        ending = ".gz" if gz else ""
        at = os.path.join(self.path(folder), prefix)
        scipy.io.mmwrite(at + "tmp.mtx", sp.coo_matrix(x.T), field="integer")
        with open(at + "tmp.mtx", "rb") as f:
            content = f.read()
        os.unlink(at + "tmp.mtx")
        for name, text in (("matrix.mtx", content), ("barcodes.tsv", ("\n".join(cells) + "\n").encode()),
                           ("genes.tsv" if v2 else "features.tsv", ("\n".join(lines) + "\n").encode())):
            with (gzip.open if gz else open)(at + name + ending, "wb") as f:
                f.write(text)
        return cells, symbols

    # --- COO ------------------------------------------------------------------------------------------------

    def test_coo(self):
        rng = np.random.default_rng(3)
        x = sp.random(30, 20, .2, format="coo", random_state=3)
        x = sp.coo_matrix((np.r_[x.data, 1.5, 2.5], (np.r_[x.row, 4, 4], np.r_[x.col, 7, 7])), shape=x.shape)
        order = rng.permutation(x.nnz)
        x = sp.coo_matrix((x.data[order], (x.row[order], x.col[order])), shape=x.shape)
        sp.save_npz(self.path("a.npz"), x)
        got, _ = self.matrix("a.npz")
        np.testing.assert_allclose(got, x.toarray(), rtol=1e-15)

    def test_coo_damaged(self):
        good = dict(format=b"coo", shape=[3, 3], row=np.array([0, 1]), col=np.array([0, 2]), data=np.array([1., 2.]))
        for change, says in ((dict(row=np.array([0, 3])), "outside the range from 0 to 2"), (dict(col=np.array([0])), "indices, but"),
                             (dict(shape=[2 ** 40, 3]), "rows"), (dict(format=b"dia"), "csr, csc and coo")):
            np.savez(self.path("bad.npz"), **{**good, **change})
            self.fails("inspect", "bad.npz", code=3, says=["bad.npz", says])

    # --- transposed ---------------------------------------------------------------------------------------

    def test_transpose_every_reader(self):
        x = np.array([[1., 0, 3], [0, 5, 0]])
        np.save(self.path("a.npy"), x.T)
        sp.save_npz(self.path("a.npz"), sp.csc_matrix(x.T))
        scipy.io.mmwrite(self.path("a.mtx"), sp.coo_matrix(x.T))
        self.write("a.csv", "gene,s1,s2\ng1,1,0\ng2,0,5\ng3,3,0\n")
        for name in ("a.npy", "a.npz", "a.mtx", "a.csv"):
            got, names = self.matrix("--transpose", name)
            np.testing.assert_array_equal(got, x, name)
            if name == "a.csv":
                self.assertEqual(names, ["g1", "g2", "g3"])
        self.fails("inspect", "--transpose", "--label-column", "s1", "a.csv", code=2, says=["a.csv", "transpose"])

    # --- 10x ------------------------------------------------------------------------------------------------

    def test_tenx_folders(self):
        x = counts()
        for folder, options in (("v3", {}), ("v2", dict(v2=True, gz=False)), ("mixed.d", dict(v2=True))):
            cells, symbols = self.tenx(folder, x, **options)
            got, names = self.matrix(folder)
            np.testing.assert_array_equal(got, x.toarray())
            self.assertEqual(names, symbols)
            self.assertEqual(self.ids(folder + "/"), [cells])
        self.assertEqual([t["name"] for t in self.result("ids/result.json")["tasks"]], ["mixed.d"])

    def test_tenx_names_and_kinds(self):
        x = counts(genes=6)
        self.tenx("f", x, symbols=["A", "B", "A", "A-1", "A", "B"],
                  types=["Gene Expression"] * 4 + ["Antibody Capture", "Gene Expression"])
        got, names = self.matrix("f")
        np.testing.assert_array_equal(got, x.toarray()[:, [0, 1, 2, 3, 5]])
        self.assertEqual(names, ["A", "B", "A-2", "A-1", "B-1"])

    def test_tenx_with_a_prefix(self):
        x = counts()
        cells, _ = self.tenx("geo", x, prefix="GSM1_")
        got, names = self.matrix("--from", "10x", "geo/GSM1_matrix.mtx.gz")
        np.testing.assert_array_equal(got, x.toarray())
        self.assertEqual(names[0], "Gene0")

    def test_tenx_damaged(self):
        x = counts()
        self.tenx("f", x, gz=False)
        self.write("f/barcodes.tsv", "AC-1\n")
        self.fails("inspect", "f", code=3, says=["f/barcodes.tsv", "1 lines", "40 cells"])
        os.unlink(self.path("f/barcodes.tsv"))
        self.fails("inspect", "f", code=3, says=["f/matrix.mtx", "barcodes.tsv"])
        os.makedirs(self.path("empty"))
        self.fails("inspect", "empty", code=3, says=["empty"])

    @unittest.skipIf(h5py is None, "h5py is needed")
    def test_cellranger(self):
        x = counts()
        csc = sp.csc_matrix(x.T)
        names = np.array(["Gene%d" % j for j in range(12)], "S")
        cells = np.array(["AAAC%03d-1" % i for i in range(40)], "S")

        def write(group, third):
            group["data"], group["indices"], group["indptr"] = csc.data.astype("i4"), csc.indices, csc.indptr
            group["shape"], group["barcodes"] = np.array(csc.shape, "i4"), cells
            if third:
                group["features/name"], group["features/id"] = names, names
                group["features/feature_type"] = np.array(["Gene Expression"] * 11 + ["Antibody Capture"], "S")
            else:
                group["gene_names"], group["genes"] = names, names
        with h5py.File(self.path("v3.h5"), "w") as f:
            write(f.create_group("matrix"), True)
        with h5py.File(self.path("v2.h5"), "w") as f:
            write(f.create_group("hg19"), False)
        with h5py.File(self.path("two.h5"), "w") as f:
            write(f.create_group("hg19"), False)
            write(f.create_group("mm10"), False)
        got, columns = self.matrix("v3.h5")
        np.testing.assert_array_equal(got, x.toarray()[:, :11])
        self.assertEqual(columns, ["Gene%d" % j for j in range(11)])
        self.assertEqual(self.ids("v3.h5"), [[c.decode() for c in cells]])
        for path in ("v2.h5", "two.h5:mm10"):
            np.testing.assert_array_equal(self.matrix(path)[0], x.toarray())
        self.fails("inspect", "two.h5", code=3, says=["two.h5", "hg19", "mm10"])
        with h5py.File(self.path("v3.h5"), "r+") as f:
            del f["matrix/barcodes"]
            f["matrix/barcodes"] = cells[:5]
        self.fails("inspect", "v3.h5", code=3, says=["barcodes", "40 names"])

    # --- AnnData --------------------------------------------------------------------------------------------

    def anndata(self, name="a.h5ad"):
        x = counts(cells=60)
        a = anndata.AnnData(x.astype(np.float32), obs=pd.DataFrame(
            {"batch": pd.Categorical(np.where(np.arange(60) < 24, "two", "one")), "site": ["s%d" % (i % 3) for i in range(60)],
             "kind": pd.Categorical(["k%d" % (i % 2) for i in range(60)])}, index=["c%d" % i for i in range(60)]))
        a.var_names = ["g%d" % j for j in range(12)]
        a.obsm["X_pca"] = np.arange(120.).reshape(60, 2)
        a.layers["counts"] = x * 2
        a.write_h5ad(self.path(name))
        return a

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_obsm_and_layers(self):
        a = self.anndata()
        got, names = self.matrix("a.h5ad:obsm/X_pca")
        np.testing.assert_array_equal(got, a.obsm["X_pca"])
        self.assertEqual(names, ["X_pca1", "X_pca2"])
        got, names = self.matrix("a.h5ad:layers/counts")
        np.testing.assert_array_equal(got, a.layers["counts"].toarray())
        self.assertEqual(names[0], "g0")
        self.fails("inspect", "a.h5ad:obsm/X_umap", code=3, says=["a.h5ad", "obsm/X_umap"])

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_batches(self):
        a = self.anndata()
        for key, values in (("batch", ["two", "one"]), ("site", ["s0", "s1", "s2"])):
            self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--batch-key", key, "--label-column", "kind", "--force",
                             "-o", "out", "a.h5ad")
            tasks = self.result()["tasks"]
            self.assertEqual([t["name"] for t in tasks], values)
            for t in tasks:
                own = a.obs[a.obs[key] == t["name"]]
                self.assertEqual(t["ids"], list(own.index))
                self.assertEqual(t["n"], len(own))
                self.assertEqual(t["metrics"]["acc"], 1)
        self.run_kindred("relate", "--batch-key", "site", "a.h5ad")
        self.fails("cluster", "-k", 2, "--batch-key", "nope", "a.h5ad", code=3, says=["a.h5ad", "nope", "batch"])
        self.fails("cluster", "-k", "2,3", "--batch-key", "site", "a.h5ad", code=2, says=["2 values for 3 data sets"])
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", "2,3", "--batch-key", "batch", "--force", "-o", "out", "a.h5ad")
        self.assertEqual([t["k"] for t in self.result()["tasks"]], [2, 3])

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_batches_truth_init_and_transfer(self):
        a = self.anndata()
        self.write("a.labels", "".join(k + "\n" for k in a.obs["kind"]))
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--batch-key", "batch", "--score", "-o", "out", "a.h5ad")
        self.assertEqual([t["metrics"]["acc"] for t in self.result()["tasks"]], [1, 1])
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--batch-key", "batch", "--truth", "a.labels", "--force",
                         "-o", "out", "a.h5ad")
        self.assertEqual([t["metrics"]["acc"] for t in self.result()["tasks"]], [1, 1])
        b = anndata.AnnData(counts(seed=9, cells=20).astype(np.float32), obs=pd.DataFrame(
            {"batch": ["x"] * 10 + ["y"] * 10}, index=["d%d" % i for i in range(20)]))
        b.var_names = ["g%d" % j for j in range(12)]
        b.write_h5ad(self.path("b.h5ad"))
        self.run_kindred("transfer", "-q", "-m", "logreg", "--batch-key", "batch", "--source", "a.h5ad", "--labels", "a.labels",
                         "--target", "b.h5ad", "-o", "moved")
        tasks = self.result("moved/result.json")["tasks"]
        self.assertEqual([t["name"] for t in tasks], ["source-two", "source-one", "target-x", "target-y"])
        self.assertEqual(tasks[2]["labels"] + tasks[3]["labels"], ["k0", "k1"] * 10)

    # --- Excel ----------------------------------------------------------------------------------------------

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_excel_with_texts(self):
        words = ("car wheel road engine".split(), "sun moon star rain".split())
        rows = [["nr", "text"]] + [[f"n{i}", 'so, "%s" ' % words[i % 2][i % 4] + " ".join(words[i % 2][:2 + i % 3])] for i in range(40)]
        book = openpyxl.Workbook()
        book.active.title = "May"
        book.create_sheet("June")
        for row in [["Export", "of May"], [], *rows]:
            book["May"].append(row)
        for row in rows[:1] + rows[11:]:
            book["June"].append(row[::-1])
        book.save(self.path("t.xlsx"))
        with open(self.path("c.csv"), "w", newline="") as f:
            csv.writer(f).writerows(rows)
        common = ["cluster", "-k", 2, "--force", "--text-column", "text", "--id-column", "nr"]
        said = self.run_kindred(*common, "-o", "book", "--write-table", "back.xlsx", "--save-model", "m.h5", "t.xlsx").stderr
        self.assertEqual(said.count("sheet 'May' was read, but not the others (1)"), 1)
        self.run_kindred(*common, "-o", "out", "c.csv")
        self.assertEqual(self.read("book/t.labels"), self.read("out/c.labels"))
        self.assertEqual(self.read("book/t.samples.csv"), self.read("out/c.samples.csv"))
        back = [list(row) for row in openpyxl.load_workbook(self.path("back.xlsx"))["May"].values]
        self.assertEqual(back[2][:3], ["nr", "text", "cluster"])
        self.assertEqual([[row[0], str(row[2])] for row in back[3:]], [[f"n{i}", c] for i, c in enumerate(self.read("out/c.labels").split())])
        new = self.run_kindred("predict", "--model", "m.h5", "-q", "--text-column", "text", "--id-column", "nr", "t.xlsx:June").stdout
        self.assertEqual(new.split(), self.read("out/c.labels").split()[10:])
        self.run_kindred(*common, "-o", "out", "--sheet", "all", "t.xlsx")
        self.assertEqual([len(self.read(f"out/{name}.labels").split()) for name in ("May", "June")], [40, 30])
        self.assertIn("(40 documents", self.run_kindred("vectorize", "-o", "v", "--text-column", "text", "t.xlsx").stdout)
        self.fails(*common[:-3], "none", "t.xlsx:June", code=2, says="there is no column 'none'; the 2 columns are: text, nr")

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_excel(self):
        book = openpyxl.Workbook()
        notes = book.active
        notes.title = "Notes"
        notes.sheet_state = "hidden"
        notes["A1"] = "nothing"
        sheet = book.create_sheet("Blüten & Co")
        sheet.append(["plant", "height", "width", "big", "kind"])
        for i in range(8):
            sheet.append(["p%d" % i, i % 2 * 10 + i * .125, 3 - i * .1, i % 2 == 1, "ab"[i % 2]])
        other = book.create_sheet("Sheet2")
        other["B2"], other["C2"], other["B3"], other["C3"], other["B5"], other["C5"] = "x", "y", 1, 2, 3, 4e-5
        book.save(self.path("t.xlsx"))
        want = np.array([[i % 2 * 10 + i * .125, 3 - i * .1, i % 2] for i in range(8)])
        got, names = self.matrix("--label-column", "kind", "--id-column", "plant", "t.xlsx")
        np.testing.assert_array_equal(got, want)
        self.assertEqual(names, ["height", "width", "big"])
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--label-column", "kind", "--id-column", "plant", "-o", "out",
                         "t.xlsx")
        task, = self.result()["tasks"]
        self.assertEqual((task["name"], task["ids"], task["metrics"]["acc"]), ("t", ["p%d" % i for i in range(8)], 1))
        self.assertEqual(self.run_kindred("convert", "-q", "t.xlsx:Sheet2", "two.npy").returncode, 0)
        np.testing.assert_array_equal(np.load(self.path("two.npy")), [[1, 2], [3, 4e-5]])
        self.fails("inspect", "t.xlsx:Sheet3", code=3, says=["t.xlsx", "Sheet3", "Sheet2", "Blüten & Co"])

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_excel_reads_what_csv_reads(self):
        """The same table, by pandas, as CSV and as Excel."""
        rng = np.random.default_rng(1)
        frame = pandas.DataFrame(rng.normal(size=(50, 4)).round(3), columns=list("abcd"))
        frame.insert(0, "name", ["r%d" % i for i in range(50)])
        frame.to_csv(self.path("t.csv"), index=False)
        frame.to_excel(self.path("t.xlsx"), index=False)
        for name in ("t.csv", "t.xlsx"):
            self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 3, "-o", name + ".d", name)
        one, two = (self.result(n + ".d/result.json")["tasks"][0] for n in ("t.csv", "t.xlsx"))
        for field in ("n", "d", "ids", "labels"):
            self.assertEqual(one[field], two[field])

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_inspect_lists_what_is_odd_about_a_sheet(self):
        pandas.DataFrame({"id": ["r1", "r2", "r3", "r4"], "x": [1, None, 3, 4.5], "city": ["A", "B", "A", "B"]}).to_excel(
            self.path("t.xlsx"), index=False)
        out = self.run_kindred("inspect", "t.xlsx").stdout
        for piece in ("! line 3, column 2 (x): missing value", "--missing", "column 3 (city): category: 2 different texts",
                      "column 1 (id): id: different in every row"):
            self.assertIn(piece, out)
        task, = json.loads(self.run_kindred("inspect", "--json", "t.xlsx").stdout)["tasks"]
        self.assertTrue([p for p in task["problems"] if p["fatal"] and p["line"] == 3])

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_inspect_lists_the_columns_of_obs(self):
        a = self.anndata()
        kind = pd.Categorical([None if i == 7 else "k%d" % (i % 2) for i in range(60)])
        a.obs = a.obs.assign(kind=kind, depth=np.where(np.arange(60) < 5, np.nan, 1.5), barcode=["b%d" % i for i in range(60)])
        a.write_h5ad(self.path("a.h5ad"))
        out = self.run_kindred("inspect", "a.h5ad").stdout
        for piece in ("obs columns that can be used as classes or data sets: batch (2 values), kind (2 values), site (3 values)",
                      "other obs columns: barcode (60 values), depth (numbers)", "obs column 'kind': 1 of 60 values are missing",
                      "obs column 'depth': 5 of 60 values", "further matrices: layers/counts, obsm/X_pca", "the values are counts", "--task-column"):
            self.assertIn(piece, out)
        one, = json.loads(self.run_kindred("inspect", "--json", "a.h5ad").stdout)["tasks"]
        self.assertTrue(one["counts"])
        a.X = np.log1p(a.X.toarray() if hasattr(a.X, "toarray") else a.X)
        a.write_h5ad(self.path("logs.h5ad"))
        self.assertIn("the values are not counts", self.run_kindred("inspect", "logs.h5ad").stdout)

    def workbook(self, name, sheet, strings="<sst/>", styles="<styleSheet/>"):
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("xl/workbook.xml", "<workbook xmlns='%s'><sheets><sheet name='S' r:id='r1'/></sheets></workbook>" % main)
            z.writestr("xl/_rels/workbook.xml.rels",
                       "<Relationships><Relationship Id='r1' Type='a/worksheet' Target='worksheets/sheet1.xml'/>"
                       "<Relationship Id='r2' Type='a/sharedStrings' Target='sharedStrings.xml'/>"
                       "<Relationship Id='r3' Type='a/styles' Target='styles.xml'/></Relationships>")
            z.writestr("xl/worksheets/sheet1.xml", sheet)
            z.writestr("xl/sharedStrings.xml", strings)
            z.writestr("xl/styles.xml", styles)

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_excel_sheets(self):
        book = openpyxl.Workbook()
        book.active.title = "North"
        book.create_sheet("South")
        book.create_sheet("Hidden").sheet_state = "hidden"
        for s, sheet in enumerate(book.worksheets):
            sheet.append(["height", "width"])
            for i in range(10):
                sheet.append([i % 2 * 5 + i * .125 + s, 3 - i * .25])
        book.save(self.path("t.xlsx"))
        cluster = ["cluster", "-m", "kmeans", "-k", 2, "--force", "-o", "out"]
        for options, names, paths in (([], ["t"], ["t.xlsx"]), (["--sheet", "South"], ["t:South"], ["t.xlsx:South"]),
                                      (["--sheet", "all"], ["North", "South"], ["t.xlsx:North", "t.xlsx:South"])):
            out = self.run_kindred(*cluster, *options, "t.xlsx").stdout
            tasks = self.result()["tasks"]
            self.assertEqual([t["path"] for t in tasks], paths)
            self.assertEqual("t.xlsx: sheet 'North' was read, but not: South; use --sheet NAME to read another, or --sheet all" in out, not options)
            self.assertEqual(any("but not: South" in w for w in self.result()["warnings"]), not options)
        self.run_kindred(*cluster, "--sheet", "all", "--write-table", "w.xlsx", "t.xlsx")
        self.assertEqual([s["C1"].value for s in openpyxl.load_workbook(self.path("w.xlsx")).worksheets], ["cluster", "cluster", None])
        self.run_kindred("convert", "-q", "--sheet", "South", "t.xlsx", "s.csv")
        self.assertEqual(self.read("s.csv").splitlines()[1], "1,3")
        self.run_kindred("convert", "-q", "--force", "--sheet", "Hidden", "t.xlsx", "s.csv")
        self.assertEqual(self.read("s.csv").splitlines()[1], "2,3")
        self.fails("convert", "--sheet", "all", "t.xlsx", "a.csv", code=None, says=["t.xlsx", "2 sheets", "--sheet"])
        self.fails("convert", "--sheet", "East", "t.xlsx", "a.csv", code=3, says=["East", "North", "South"])
        self.fails("convert", "--sheet", "South", "s.csv", "a.csv", code=2, says="--sheet has no effect")

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_excel_texts_titles_hidden_rows_and_formulas(self):
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.append(["Umsatzbericht 2024"])
        sheet.append([])
        sheet.append(["Region", "Umsatz", "Menge"])
        for i in range(8):
            sheet.append([f"R{i}", f"{i + 1}.500", 1.234 + i])
        sheet.row_dimensions[5].hidden = sheet.row_dimensions[6].hidden = True
        book.save(self.path("t.xlsx"))
        self.fails("convert", "t.xlsx", "o.csv", code=3, says=["line 4, column 2 (Umsatz)", "'1.500' is ambiguous", "--thousands"])
        for sheet_name in ([], ["--sheet", "Sheet"]):
            for skip in ([], ["--skip-rows", "2"]):
                for decimal in (["--thousands", "."], ["--decimal", ","]):
                    said = self.run_kindred("convert", "--force", *sheet_name, *skip, *decimal, "t.xlsx", "o.csv").stderr
                    self.assertEqual(self.read("o.csv").splitlines()[:2], ['"",Umsatz,Menge', "R0,1500,1.234"])
                    self.assertIn("2 hidden or filtered rows were read like the others", said)
                    self.assertEqual("2 rows were skipped, because the header appears to be in line 3" in said, not skip)
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--thousands", ".", "-o", "out", "--write-table", "w.xlsx", "t.xlsx")
        written = openpyxl.load_workbook(self.path("w.xlsx")).active
        self.assertEqual([written.cell(row, 4).value for row in (1, 3)], [None, "cluster"])
        self.assertEqual(sum(written.cell(row, 4).value is not None for row in range(4, 12)), 8)
        sheet["D3"] = "Summe"
        for i in range(8):
            sheet[f"D{i + 4}"] = f"=C{i + 4}*2"
        book.save(self.path("f.xlsx"))
        said = self.run_kindred("convert", "--force", "--thousands", ".", "f.xlsx", "o.csv").stderr
        self.assertIn("8 formulas have no stored value and are missing (the first in D4); open the file in a spreadsheet program and save it", said)
        self.workbook("one.xlsx", "<worksheet><sheetData>%s</sheetData></worksheet>" % "".join(
            "<row r='%d'><c r='A%d'><v>%d</v></c><c r='B%d'>%s</c></row>" % (i, i, i * i % 7, i, "<f>A4*2</f>" + "<v>%d</v>" % i * (i != 4)) for i in range(1, 9)))
        self.fails("cluster", "-m", "kmeans", "-k", 2, "one.xlsx", code=3, says=["line 4, column 2", "missing", "the first in B4", "save it"])
        alone = openpyxl.Workbook()
        alone.active["A1"] = "=1+1"
        alone.save(self.path("f.xlsx"))
        self.fails("convert", "f.xlsx", "a.csv", code=3, says=["only formulas without stored values (the first in A1)"])

    def test_excel_text_that_many_cells_share(self):
        n, length = 3000, 30000  # 90 MB as text, 1 kB as a file
        rows = "".join("<row r='%d'><c r='A%d'><v>%d</v></c><c r='B%d' t='s'><v>0</v></c></row>" % (i, i, i * i % 7, i) for i in range(1, n))
        self.workbook("bomb.xlsx", "<worksheet><sheetData>%s</sheetData></worksheet>" % rows, "<sst><si><t>%s</t></si></sst>" % ("x" * length))
        self.fails("convert", "--max-unpacked", "40M", "bomb.xlsx", "o.csv", code=3, says=["bomb.xlsx", "--max-unpacked"])
        # a single copy is held, whatever the number of cells
        self.run_kindred("convert", "-q", "--max-memory", "40M", "bomb.xlsx", "o.npy")
        self.assertEqual(np.load(self.path("o.npy")).shape, (n - 1, 1))

    def test_excel_damaged_and_hostile(self):
        row = "<row r='%d'><c r='A%d'%s><v>%s</v></c><c r='B%d'><v>1</v></c></row>"
        for sheet, says in (
                (row % (7, 7, " t='s'", "3", 7), ["cell A7", "shared text"]),
                (row % (2, 2, "", "1x", 2), ["cell A2", "not a number"]),
                ("<row><c r='A0'><v>1</v></c></row>", ["'A0' is not a cell"]),
                ("<row><c r='XFE1'><v>1</v></c></row>", ["'XFE1' is not a cell"]),
                ("", ["empty"]), ("<row r='1", ["sheet1.xml", "XML"]),
                ("".join("<row r='%d'><c r='XFD%d'><v>1</v></c></row>" % (i, i) for i in range(1, 3000)), ["is nearly empty"])):
            self.workbook("bad.xlsx", "<worksheet><sheetData>%s</sheetData></worksheet>" % sheet)
            self.fails("inspect", "bad.xlsx", code=3, says=["bad.xlsx", *says])
        entity = "<!DOCTYPE x [<!ENTITY e 'eee'>]><worksheet><sheetData><row><c><v>&e;</v></c></row></sheetData></worksheet>"
        self.workbook("bad.xlsx", entity)
        self.fails("inspect", "bad.xlsx", code=3, says=["bad.xlsx", "sheet1.xml", "document type"])
        self.workbook("bad.xlsx", "<worksheet x='%s'/>" % ("y" * (3 << 20)))
        self.fails("inspect", "bad.xlsx", code=3, says=["bad.xlsx", "a tag of more than a megabyte"])
        self.workbook("bad.xlsx", "<worksheet><sheetData><row><c><v>%s</v></c></row></sheetData></worksheet>" % ("1" * (2 << 20)))
        self.fails("inspect", "bad.xlsx", code=3, says=["bad.xlsx", "cell A1", "more than a megabyte"])
        self.write("bad.xlsx", "no zip at all")
        self.fails("inspect", "bad.xlsx", code=3, says=["bad.xlsx", "zip"])
        with zipfile.ZipFile(self.path("bad.xlsx"), "w") as z:
            z.writestr("a.txt", "a")
        self.fails("inspect", "bad.xlsx", code=3, says=["bad.xlsx", "xl/workbook.xml"])

    # --- which features ------------------------------------------------------------------------------------

    def test_top_features_by(self):
        rng = np.random.default_rng(5)
        x = rng.poisson(np.exp(rng.normal(0, 1, 400)), (120, 400)).astype(float)
        x[:, 7] = rng.poisson(np.where(np.arange(120) % 2, 3, .02))  # varies beyond its mean
        x[:, 11] = rng.poisson(60, 120)  # varies most, as its mean tells
        scipy.io.mmwrite(self.path("a.mtx"), sp.coo_matrix(x[:70]))
        scipy.io.mmwrite(self.path("b.mtx"), sp.coo_matrix(x[70:]))
        self.write("features.txt", "".join("g%d\n" % j for j in range(400)))
        for by, wants in (("dispersion", "g7"), ("variance", "g11"), ("df", "g11")):
            self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--weight", "none", "--top-features", 1, "--top-by", by, "--force",
                             "--save-model", "m.h5", "-o", "out", "a.mtx", "b.mtx")
            found = self.result()
            self.assertEqual([t["d"] for t in found["tasks"]], [1, 1])
            features = {f["name"] for t in found["tasks"] for c in t["clusters"] for f in c["features"]}
            self.assertEqual(features, {wants}, by)
            self.assertIn("top 1" + ("" if by == "df" else " by " + by), json.dumps(found["preprocessing"]))
            done = self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "a", "a.mtx")
            self.assertEqual([int(v) for v in done.stdout.split()], found["tasks"][0]["labels"])
        self.write("neg.csv", "x,y\n-1,2\n3,4\n")
        self.fails("cluster", "-k", 2, "--top-features", 1, "--top-by", "dispersion", "neg.csv", code=3,
                   says=["dispersion", "row 1, column 1", "-1"])
        self.fails("cluster", "-k", 2, "--top-by", "df", "neg.csv", code=2, says=["--top-features"])

    # --- a column of tasks ----------------------------------------------------------------------------------

    def sites(self):
        lines = ["site,name,x,colour,y"]
        for i in range(36):
            lines.append("%s,p%d,%g,%s,%g" % (("north", "south/a", "east")[i // 4 % 3], i, i % 2 * 9 + i * .01,
                                              "red" if i % 2 else "blue", 5 - i % 2 * 5 + i * .02))
        return "\n".join(lines) + "\n"

    def test_task_column(self):
        self.write("all.csv", self.sites())
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--task-column", "site", "--save-model", "m.h5", "-o", "out",
                         "all.csv")
        tasks = self.result()["tasks"]
        self.assertEqual([t["name"] for t in tasks], ["north", "south_a", "east"])
        self.assertEqual([t["n"] for t in tasks], [12, 12, 12])
        self.assertEqual({t["d"] for t in tasks}, {4})  # x, two colours, y
        self.assertEqual(tasks[1]["ids"], ["p%d" % i for i in range(36) if i // 4 % 3 == 1])
        self.assertEqual(tasks[0]["labels"], [i % 2 for i in range(12)])
        # The model knows the column, and leaves it out.
        done = self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "east", "all.csv")
        self.assertEqual(done.stdout.split(), [str(4 + i % 2) for i in range(36)])  # clusters of its own: k-means relates none
        # Each row by the task that the column names, in the order of the rows; the same from another order of them.
        done = self.run_kindred("predict", "-q", "--model", "m.h5", "--task-column", "site", "-o", "p.labels", "all.csv")
        found = {name: t["labels"] for name, t in zip(("north", "south/a", "east"), tasks)}
        rows = [line.split(",") for line in self.sites().splitlines()[1:]]
        self.assertEqual(self.read("p.labels").split(), [str(found[r[0]].pop(0)) for r in rows])
        self.assertEqual([line.split(",")[0] for line in self.read("p.samples.csv").splitlines()[1:]], [r[1] for r in rows])
        self.assertRegex(self.read("p.samples.csv").splitlines()[1], r'^p0,0,"[^"]+: [^"]+",[01]\.\d+,1$')
        self.write("west.csv", self.sites().replace("north", "west"))
        self.fails("predict", "--model", "m.h5", "--task-column", "site", "west.csv", code=2, says=["'west'", "north, south_a", "--task"])
        self.fails("predict", "--model", "m.h5", "all.csv", code=2, says=["--task"])
        # By number, without a header, quoted; the other commands.
        self.write("bare.csv", "".join('"%s",%d,%d\n' % ("ab"[i % 2], i % 4 // 2 * 9 + i % 3, i) for i in range(24)))
        for command in (("inspect", "--json"), ("relate",), ("embed", "-q")):
            self.run_kindred(*command, "--task-column", 1, "bare.csv")
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--task-column", 1, "--force", "-o", "out", "bare.csv", "c=bare.csv")
        self.assertEqual([t["name"] for t in self.result()["tasks"]], ["bare-a", "bare-b", "c-a", "c-b"])

    def test_task_column_rows_left_out(self):
        text = self.sites().replace("p5,9.05", "p5,").replace("p7,9.07", "p7,NA")
        self.write("all.csv", text)
        self.write("all.labels", "".join("%d\n" % (i % 2) for i in range(36)))
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--task-column", "site", "--missing", "drop-row", "--score",
                         "-o", "out", "all.csv")
        tasks = self.result()["tasks"]
        self.assertEqual([t["n"] for t in tasks], [12, 10, 12])
        self.assertEqual([t["metrics"]["acc"] for t in tasks], [1, 1, 1])

    def test_task_column_refused(self):
        self.write("all.csv", self.sites())
        self.fails("cluster", "-k", 2, "--task-column", "town", "all.csv", code=3, says=["all.csv", "town"])
        self.fails("cluster", "-k", 2, "--task-column", "site", "--label-column", "site", "all.csv", code=2,
                   says=["all.csv", "site", "label"])
        self.write("twice.csv", "s,x\na/b,1\na_b,2\nc,3\n")
        self.fails("cluster", "-k", 1, "--task-column", "s", "twice.csv", code=3, says=["twice.csv", "'a/b' and 'a_b'", "rename"])
        self.write("gap.csv", "s,x\na,1\n,2\nb,3\n")
        self.fails("cluster", "-k", 1, "--task-column", "s", "gap.csv", code=3, says=["gap.csv", "row 2", "task"])
        np.save(self.path("a.npy"), np.eye(3))
        self.fails("cluster", "-k", 1, "--task-column", "s", "a.npy", code=2, says=["a.npy", "'s'"])

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_excel_columns_of_all_kinds(self):
        """Dates, categories, holes, a column of tasks: as in any table."""
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.append(["Nr", "day", "town", "height", "site", "share"])
        for i in range(24):
            sheet.append([i + 1, datetime.date(2024, 2, 20) + datetime.timedelta(i % 12), ("Rome", "Oslo")[i % 2],
                          None if i == 3 else i % 2 * 10 + i * .125, "ab"[i // 12], i / 100])
            sheet.cell(row=i + 2, column=6).number_format = "0%"
        book.save(self.path("t.xlsx"))
        self.fails("cluster", "-m", "kmeans", "-k", 2, "t.xlsx", code=3, says=["t.xlsx", "line 5, column 4 (height)", "--missing"])
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--task-column", "site", "--missing", "mean", "-o", "out",
                         "t.xlsx")
        tasks = self.result()["tasks"]
        self.assertEqual([t["name"] for t in tasks], ["a", "b"])
        self.assertEqual(tasks[0]["ids"], [str(i + 1) for i in range(12)])
        got, names = self.matrix("--task-column", "site", "--missing", "mean", "t.xlsx")
        self.assertEqual(names, ["day", "town=Rome", "town=Oslo", "height", "share"])
        np.testing.assert_array_equal(got[:, 0], [i % 12 for i in range(24)])
        np.testing.assert_array_equal(got[:, 4], [i / 100 for i in range(24)])

    # --- samples in columns ----------------------------------------------------------------------------------

    def test_looks_transposed(self):
        x = counts(cells=30, genes=20).toarray()
        genes, cells = ["GENE%d" % j for j in range(20)], ["%s-1" % ("ACGT"[i % 4] * 6 + "ACGT"[i // 4 % 4] * 8) for i in range(30)]

        def table(name, values, rows, columns):
            self.write(name, "id," + ",".join(columns) + "\n" +
                       "".join(r + "," + ",".join("%g" % v for v in row) + "\n" for r, row in zip(rows, values)))
        table("cells.csv", x, cells, genes)
        table("side.csv", x.T, genes, ["%s%d" % (c, i) for i, c in enumerate(cells)])
        table("plain.csv", x, ["s%d" % i for i in range(30)], genes)
        table("across.csv", x.T, genes, ["t%d" % i for i in range(30)])
        table("other.csv", x[:25].T, genes, ["u%d" % i for i in range(25)])

        def warned(*files):
            self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--force", "-o", "out", *files)
            return [w for w in self.result()["warnings"] if "transposed" in w]
        self.assertEqual(warned("cells.csv"), [])
        self.assertEqual(warned("cells.csv", "plain.csv"), [])
        self.assertIn("columns are named like cells", warned("side.csv")[0])
        self.assertIn("data set across", warned("plain.csv", "across.csv")[0])
        self.assertIn("rows have the same names", warned("across.csv", "other.csv")[0])
        self.assertEqual(warned("--transpose", "side.csv"), [])
        self.assertEqual(warned("--transpose", "across.csv", "other.csv"), [])
        # Texts, with many more columns than rows, and rows that are numbered, are as they should be.
        for t in ("one", "two"):
            self.write(t + ".csv", "Nr," + ",".join("%s%d" % (t, j) for j in range(80)) + "\n" +
                       "".join("%d," % (i + 1) + ",".join(str((i * j) % 3) for j in range(80)) + "\n" for i in range(9)))
        self.assertEqual(warned("one.csv", "two.csv"), [])
        # The matrix of a 10x folder, given directly.
        self.tenx("f", counts(), gz=False)
        done = self.run_kindred("inspect", "f/matrix.mtx")
        self.assertIn("--format '10x'", done.stderr + done.stdout)
        # If columns do not match, the error reports this too.
        self.fails("cluster", "-k", 2, "--features", "intersect", "plain.csv", "across.csv", code=3, says=["transposed", "--transpose"])
        self.write("words.csv", "gene,s1,note\ng1,1,a\ng2,2,b\n")
        self.fails("inspect", "--transpose", "words.csv", code=3, says=["words.csv", "note", "--columns"])

    # --- AnnData given back ----------------------------------------------------------------------------------

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_write_h5ad(self):
        a = self.anndata()
        before = self.read_bytes("a.h5ad")
        for batches in ((), ("--batch-key", "batch")):
            self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, *batches, "--force", "--write-h5ad", "b.h5ad", "-o", "out",
                             "a.h5ad:layers/counts")
            labels = {}
            for t in self.result()["tasks"]:
                labels.update(zip(t["ids"], t["labels"]))
            b = anndata.read_h5ad(self.path("b.h5ad"))
            self.assertEqual([int(v) for v in b.obs["kindred"]], [labels[i] for i in a.obs_names])
            self.assertEqual(str(b.obs["kindred"].dtype), "category")
            self.assertTrue(((b.obs["kindred_confidence"] >= 0) & (b.obs["kindred_confidence"] <= 1)).all())
            self.assertEqual(list(b.obs.columns), ["batch", "site", "kind", "kindred", "kindred_title", "kindred_confidence", "kindred_second"])
            self.assertEqual([b.obsm["X_kindred_rep"].shape[0], b.obsm["X_kindred_rep"].shape[1] <= 50], [len(b), True])
            self.assertTrue(np.isfinite(b.obsm["X_kindred_rep"]).all())
            self.assertTrue((b.obs["kindred_second"].astype(str) != b.obs["kindred"].astype(str)).all())
            np.testing.assert_array_equal(b.X.toarray(), a.X.toarray())
            np.testing.assert_array_equal(b.obsm["X_pca"], a.obsm["X_pca"])
            self.assertEqual(list(b.obs["kind"]), list(a.obs["kind"]))
        self.assertEqual(self.read_bytes("a.h5ad"), before)
        # Another run beside the first, under a name of its own.
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 3, "--force", "--write-h5ad", "k.h5ad", "--key-added", "drei", "-o", "out", "b.h5ad:layers/counts")
        k = anndata.read_h5ad(self.path("k.h5ad"))
        self.assertEqual(list(k.obs.columns), [*b.obs.columns, "drei", "drei_title", "drei_confidence", "drei_second"])
        self.assertEqual([list(k.obs["kindred"]), k.obs["drei"].nunique()], [list(b.obs["kindred"]), 3])
        for wrong in ("", "a/b", "_x", "x" * 101):
            self.fails("cluster", "-m", "kmeans", "-k", 2, "--write-h5ad", "no.h5ad", "--key-added", wrong, "-o", "no", "a.h5ad:layers/counts", code=2, says="the key")
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--key-added", "x", "-o", "no", "a.h5ad:layers/counts", code=2, says="--write-h5ad")
        self.assertEqual(set(k.obsm), {*b.obsm, "X_drei_rep"})
        # Coordinates, in addition to the labels of the previous run.
        self.run_kindred("embed", "-q", "--sweeps", 20, "--batch-key", "batch", "--write-h5ad", "e.h5ad", "-o", "plane", "b.h5ad")
        e = anndata.read_h5ad(self.path("e.h5ad"))
        self.assertEqual(list(e.obs["kindred"]), list(b.obs["kindred"]))
        two = np.loadtxt(self.path("plane/two.embedding.csv"), delimiter=",", skiprows=1, usecols=(1, 2))
        np.testing.assert_array_equal(e.obsm["X_kindred"][:24], two)
        self.assertTrue(np.isfinite(e.obsm["X_kindred"]).all())
        # Again, replacing the existing columns; and not without --force.
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 3, "--force", "--write-h5ad", "c.h5ad", "-o", "out", "b.h5ad")
        c = anndata.read_h5ad(self.path("c.h5ad"))
        self.assertEqual(list(c.obs.columns), list(b.obs.columns))
        self.assertEqual(sorted(set(c.obs["kindred"])), ["0", "1", "2"])
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--write-h5ad", "c.h5ad", "-o", "new", "a.h5ad", code=2, says=["c.h5ad", "exists"])
        self.assertEqual(self.leftovers(), [])

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_write_h5ad_of_others(self):
        a = self.anndata()
        x = counts(seed=4, cells=24)
        cells, symbols = self.tenx("f", x)
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--write-h5ad", "back.h5ad", "-o", "out", "a.h5ad", "f")
        self.assertIn("written: back-a.h5ad", done.stdout)
        b = anndata.read_h5ad(self.path("back-f.h5ad"))
        np.testing.assert_array_equal(b.X.toarray(), x.toarray())
        self.assertEqual((list(b.obs_names), list(b.var_names)), (cells, symbols))
        self.assertEqual([int(v) for v in b.obs["kindred"]], self.result()["tasks"][1]["labels"])
        # Skipped rows have no label.
        self.write("t.csv", "id,x,y\n" + "".join("r%d,%s,%g\n" % (i, "" if i == 4 else i % 2 * 9, i % 3) for i in range(12)))
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--missing", "drop-row", "--write-h5ad", "t.h5ad", "-o", "csv", "t.csv")
        t = anndata.read_h5ad(self.path("t.h5ad"))
        self.assertEqual(list(t.obs_names), ["r%d" % i for i in range(12) if i != 4])
        # Classes that were given.
        self.write("a.labels", "".join(k + "\n" for k in a.obs["kind"]))
        self.run_kindred("transfer", "-q", "-m", "logreg", "--features", "position", "--source", "a.h5ad", "--labels", "a.labels",
                         "--target", "f", "--write-h5ad", "moved.h5ad", "-o", "moved")
        m = anndata.read_h5ad(self.path("moved.h5ad"))
        self.assertEqual(list(m.obs["kindred"]), self.result("moved/result.json")["tasks"][1]["labels"])

    @unittest.skipIf(h5py is None or anndata is None, "h5py is needed")
    def test_write_h5ad_old_and_damaged(self):
        self.anndata()
        with h5py.File(self.path("a.h5ad"), "r+") as f:
            f["obs"].attrs["encoding-version"] = "0.1.0"
            for name in ("batch", "kind"):
                del f["obs"][name]
            f["obs"].attrs["column-order"] = np.array(["site"], dtype=h5py.string_dtype())
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--write-h5ad", "b.h5ad", "-o", "out", "a.h5ad")
        with h5py.File(self.path("b.h5ad")) as f:
            self.assertEqual([int(v) for v in f["obs/kindred"].asstr()[:]], self.result()["tasks"][0]["labels"])
        with h5py.File(self.path("a.h5ad"), "r+") as f:
            del f["obs"]
            f["obs"] = np.zeros(60, dtype=[("index", "S4")])
        done = self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--write-h5ad", "c.h5ad", "-o", "out2", "a.h5ad", code=2)
        self.assertIn("format of anndata before 0.7", done.stderr)
        self.assertFalse(os.path.exists(self.path("c.h5ad")))
        self.assertEqual(self.leftovers(), [])

    # --- folders of texts ----------------------------------------------------------------------------------

    WORDS = ("ball goal team match league".split(), "stock market price trade bank".split())

    def texts(self, folder, n=12, shift=0):
        for i in range(n):
            kind = i % 2
            os.makedirs(self.path("%s/%s" % (folder, "ab"[kind])), exist_ok=True)
            words = self.WORDS[kind]
            self.write("%s/%s/%02d.txt" % (folder, "ab"[kind], i), " ".join(words[(i + j + shift) % 5] for j in range(4)))

    def test_folders_of_texts(self):
        self.texts("one")
        self.texts("two", 8, 1)
        self.run_kindred("cluster", "-q", "-k", 2, "--score", "-o", "out", "--save-model", "m.h5", "one/", "two")
        first = self.result()["tasks"]
        self.assertEqual([t["name"] for t in first], ["one", "two"])
        self.assertEqual([t["d"] for t in first], [10, 10])
        self.assertEqual([t["metrics"]["acc"] for t in first], [1, 1])
        self.assertEqual(first[1]["ids"], ["%s/%02d.txt" % ("ab"[i % 2], i) for k in (0, 1) for i in range(k, 8, 2)])
        # The same as the two commands do, one after the other.
        self.run_kindred("vectorize", "-q", "-o", "vec", "one", "two")
        self.run_kindred("cluster", "-q", "-k", 2, "-o", "both", "vec/one.mtx", "vec/two.mtx")
        self.assertEqual([t["labels"] for t in self.result("both/result.json")["tasks"]], [t["labels"] for t in first])
        # New folders go through the model's words.
        self.texts("new", 6, 2)
        done = self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "one", "new")
        labels = done.stdout.split()
        self.assertEqual(labels, [labels[0]] * 3 + [labels[3]] * 3)
        self.assertNotEqual(labels[0], labels[3])

    def test_text_folder_as_source(self):
        self.texts("one")
        self.texts("two", 8, 1)
        self.run_kindred("transfer", "-q", "-m", "logreg", "--source", "one", "--target", "two", "-o", "out")
        self.assertEqual(self.result()["tasks"][1]["labels"], ["a"] * 4 + ["b"] * 4)

    # --- files that are not read ----------------------------------------------------------------------------------

    def test_elsewhere(self):
        for name, what in (("a.parquet", "Parquet"), ("a.feather", "Arrow"), ("a.xls", "Excel before 2007")):
            self.write(name, b"PAR1")
            self.fails("inspect", name, code=3, says=[name, what, "to_csv"])

    def test_safetensors(self):
        """One array, one of several by its name, all types, and every kind of damage."""
        def tensors(**arrays):
            header, data = {"__metadata__": {"a": "b"}}, b""
            for name, (dtype, shape, raw) in arrays.items():
                header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
                data += raw
            text = json.dumps(header).encode()
            return struct.pack("<Q", len(text)) + text + data

        x = [1.5, -2.0, 0.25, 3.0, 4.0, -0.5]
        bits = struct.unpack("<6I", struct.pack("<6f", *x))
        types = {"F64": struct.pack("<6d", *x), "F32": struct.pack("<6f", *x), "F16": struct.pack("<6e", *x), "BF16": struct.pack("<6H", *(b >> 16 for b in bits))}
        for dtype, raw in types.items():
            self.write("x.safetensors", tensors(x=(dtype, [3, 2], raw)))
            self.run_kindred("convert", "-q", "--force", "x.safetensors", "x.csv")
            self.assertEqual([[float(v) for v in line.split(",")] for line in self.read("x.csv").split()], [x[:2], x[2:4], x[4:]])
        two = tensors(a=("I32", [2, 1], struct.pack("<2i", 5, -6)), b=("F32", [2, 2], struct.pack("<4f", *x[:4])), scale=("F32", [1, 1, 1], bytes(4)))
        self.write("two.safetensors", two)
        self.run_kindred("convert", "-q", "two.safetensors:a", "a.csv")
        self.assertEqual(self.read("a.csv").split(), ["5", "-6"])
        self.fails("inspect", "two.safetensors", code=3, says=["has 2 arrays", "file.safetensors:name: a, b"])
        self.fails("inspect", "two.safetensors:c", code=3, says=["has no array 'c'", "a, b"])
        self.write("odd.safetensors", tensors(x=("F8_E4M3", [2, 2], bytes(4))))
        self.fails("inspect", "odd.safetensors", code=3, says=["array 'x'", "F8_E4M3", "use F16, BF16"])
        for shape in ([2 ** 62, 4], [2 ** 61, 2]):  # too many elements, too many bytes
            self.write("large.safetensors", tensors(x=("F64", shape, bytes(8))))
            self.fails("inspect", "large.safetensors", code=3, says=["large.safetensors: array 'x'", "larger than any memory"])
        self.write("short.safetensors", two[:-6])
        self.fails("inspect", "short.safetensors:b", code=3, says=["array 'b'", "data_offsets"])
        self.write("wrong.safetensors", tensors(x=("F32", [2, 3], bytes(16))))
        self.fails("inspect", "wrong.safetensors", code=3, says=["has 24 bytes by its shape", "[0, 16]"])
        self.write("none.safetensors", b"this is no such file at all")
        self.fails("inspect", "none.safetensors", code=3, says=["is not a .safetensors file"])


if __name__ == "__main__":
    unittest.main()
