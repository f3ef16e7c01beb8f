"""Settings of Sphinx. docs/site/build.py makes the pages and runs it. SPDX-License-Identifier: BSD-3-Clause"""
import importlib.util
import re

import kindred

project, version, release = "kindred", kindred.__version__, kindred.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
html_theme = "furo" if importlib.util.find_spec("furo") else "alabaster"
html_title = f"kindred {version}"
html_show_copyright = html_show_sphinx = html_copy_source = False
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
myst_heading_anchors = 4
smartquotes = False
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_use_plots = False
add_module_names = False
nitpicky = True
nitpick_ignore = [("c:identifier", name) for name in ("bool", "size_t", "int64_t", "int32_t", "uint64_t", "as")]


def escape(app, what, name, thing, options, lines):
    """Descriptions of methods come from the library as plain text: marks of reStructuredText in them are escaped."""
    if what == "class" and hasattr(thing, "_entry"):
        lines[:] = [re.sub(r"(?<![\w*])\|(?=\w)|(?<=\w)\|(?!\w)|(?<=[\w )])\*(?=[\w( ])", r"\\\g<0>", line) if line[:2] != "* " else "* " + line[2:]
                    for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", escape, priority=1)
