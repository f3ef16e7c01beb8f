"""Compare methods on the same data with the same seeds: ``python -m kindred.bench``.

The guide is docs/bench.md. A plan, which is a JSON file, describes tables; a table is data and rows, and a row is a method with
its settings. Every row of a table is run on the same data with the same seeds. A preset is a plan that is part of the package.

SPDX-License-Identifier: BSD-3-Clause
"""
