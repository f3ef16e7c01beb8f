"""The notebook of examples/ runs from top to bottom, with this interpreter. SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import sys
import tempfile
import unittest

NOTEBOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "related_tables.ipynb")


class Notebook(unittest.TestCase):
    def test_runs_and_says_what_it_should(self):
        with tempfile.TemporaryDirectory() as folder:
            home = os.path.join(folder, "kernels", "here")
            os.makedirs(home)
            with open(os.path.join(home, "kernel.json"), "w") as file:
                json.dump({"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                           "display_name": "here", "language": "python"}, file)
            os.environ["JUPYTER_PATH"] = folder
            import nbformat
            from nbclient import NotebookClient
            notebook = nbformat.read(NOTEBOOK, as_version=4)
            NotebookClient(notebook, timeout=120, kernel_name="here").execute()
        printed = [output.get("text", "") or output.get("data", {}).get("text/plain", "")
                   for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        if "--show" in sys.argv:
            print(*printed, sep="\n---\n")
        text = "".join(printed)  # a busy kernel sends a line in pieces
        self.assertIn("right: 1.0", text)
        self.assertIn("task1 and task2 quality:", text)
        self.assertIn("NMI, together", text)


if __name__ == "__main__":
    if "--show" in sys.argv:
        unittest.main(argv=[sys.argv[0]])
    unittest.main()
