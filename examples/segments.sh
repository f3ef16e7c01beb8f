#!/bin/sh
# Customer segments in Excel, from two regions to the next month and a third region. SPDX-License-Identifier: BSD-3-Clause
#
# usage: segments.sh [FOLDER]   (default: segments)
#
# Needs kindred, and Python with openpyxl to make the files of the example. All customers are invented.
set -eu
mkdir "${1:-segments}"
cd "${1:-segments}"

# The data: one workbook for each of two regions, one with next month's customers, and one for a third region.
python3 - <<'END'
import random
import openpyxl

COLUMNS = "customer", "age", "household", "basket €", "orders", "coupons", "channel", "favourite"
KINDS = (  # of each kind: typical age, household, basket and orders, how many use coupons, usual channel and goods
    (38, 4, 85, 3, .9, "Filiale", "Müsli"),
    (26, 1, 35, 6, .3, "App", "Süßes"),
    (58, 2, 140, 2, .1, "Online", "Käse"))


def customers(start, count, shares):
    """Rows of invented customers. A few cells are empty."""
    yield COLUMNS
    for i in range(start, start + count):
        age, household, basket, orders, coupons, channel, goods = draw.choices(KINDS, shares)[0]
        row = [f"K{i}", round(draw.gauss(age, 5)), max(1, round(draw.gauss(household, .7))), round(basket * draw.lognormvariate(0, .25), 2),
               max(1, round(draw.gauss(orders, 1))), "ja" if draw.random() < coupons else "nein",
               channel if draw.random() < .8 else draw.choice(["Filiale", "App", "Online"]),
               goods if draw.random() < .7 else draw.choice(["Müsli", "Süßes", "Käse", "Gemüse"])]
        yield [row[0], *(None if draw.random() < .02 else cell for cell in row[1:])]


draw = random.Random(5)
for name, *wanted in ("nord", 1000, 240, (4, 3, 2)), ("süd", 2000, 120, (2, 2, 5)), ("nord-march", 3000, 30, (4, 3, 2)), ("west", 4000, 90, (3, 5, 1)):
    book = openpyxl.Workbook()
    for row in customers(*wanted):
        book.active.append(row)
    book.save(name + ".xlsx")
END

# 1. Cluster both regions together, and read what distinguishes the segments.
kindred cluster -k 3 --report -o first nord.xlsx süd.xlsx

# 2. Name the segments by their numbers. segments-nord.xlsx and segments-süd.xlsx have the segment of each customer and its name, and the model keeps the names.
printf 'number,name\n0,young app users\n1,price-sensitive families\n2,Käse-Genießer 50+\n' > names.csv
kindred cluster -k 3 --report --names names.csv --save-model segments.h5 --write-table segments.xlsx -o named nord.xlsx süd.xlsx

# 3. Put next month's customers of the north into the same segments.
kindred predict --model segments.h5 --task nord --write-table segments-nord-march.xlsx -o nord-march.labels nord-march.xlsx

# 4. Add a third region. Segments that continue those of the model keep their numbers and names.
kindred cluster --into segments.h5 --save-model segments-2.h5 --write-table segments-west.xlsx -o second west.xlsx
