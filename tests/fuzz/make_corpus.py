#!/usr/bin/env python3
"""Writes the seed corpora of the text readers into tests/fuzz/corpus. SPDX-License-Identifier: BSD-3-Clause

The seeds name every construct a reader knows; the fuzzer takes it from there.
"""
import gzip
import pathlib

HEAD = b"%%MatrixMarket matrix "
SEEDS = {
    # two bytes of options come first: see fuzz_csv.c
    "csv": [b"\x00\x00" + t for t in (
        b"1,2\n3,4\n", b"a,b\n1,2\r\n3,4", b"\xef\xbb\xbfid,a,b\nr,1.5,-2e-3\ns,+3,.4\n", b'"a ""b""","c\nd"\n"1",2\n',
        b"a;b\n1;2\n", b"a\tb\n1\t2\n", b"a,b\ng,1,2\n", b",a,b\n0,1,2\n", b"1,\n,2\n", b"1,nan\ninf,2\n",
        b'1,"2\n', b'1,"2"x\n', b"\n\n 1 , 2 \n\n", b"1,2,3\n4,5\n", b"\xff\xfe1\x00", gzip.compress(b"a,b\n1,2\n"))]
    + [b"\x10\x00a,b\nu,1\nv,2\n", b"\x34\x00a,b\n1,2\n3,4\n", b"\x0c\x00a,b\n1,\n3,4\n", b"\x08\x00a,b\n1,NA\n3,4\n",
       b"\x00\x01a;b\n1,5;2\n", b"\x00\x021\t2\n", b"\x52\x00a,b,c\n1,2,3\n", b"\x01\x001,2\n"],
    # two bytes of options, wishes, 0x1d: see fuzz_table.c
    "table": [o + w + b"\x1d" + t for o, w, t in (
        (b"\x00\x00", b"", b"Nr,k,x,d\n" + b"".join(b"%d,%c,%d,2021-01-%02d\n" % (i, 97 + i % 2, i * i, i) for i in range(1, 9))),
        (b"\x02\x00", b"x:number,k:category,d:dmy,*:number", b"k;x;d\na;1.000,5 EUR;1/2/2021\nb;NA;13/2/2021\na;3,5 EUR;?\n"),
        (b"\x04\x04", b"-k,+x", b"id,k,x\na,u,-9\nb,v,2\nc,u,x\n"), (b"\x05\x40", b"", b"x,y\n1,\n2,3\n4,5\n"),
        (b"\x03\x00", b"\"a,\"\"b\"?:mdy,-*", b"\"a,\"\"b\",c\n3/14/2021 2:30 PM,1\n2021-01-01T00:00Z,2\n"),
        (b"\x01\x10", b"", b"site,k,x\nA,u,1\nB,v,2\nA,u,3\nB,v,4\n"), (b"\x01\x02", b"", b"k,x\nK\xf6ln,1\nRom,2\nK\xf6ln,3\nRom,5\n"),
        (b"\x00\x00", b"", "\ufeffk;x\nK\u00f6ln;1,5\nRom;2\nK\u00f6ln;3\nRom;5\n".encode("utf-16-le")),
        (b"\x00\x00", b"", b"a,b\r1,(2)\r3,12 %\r"), (b"\x00\x00", b"", b"sep=|\na|b|\n1|2|\n3|oops|\n5|6|\n"),
        (b"\x40\x00", b"", b"a;b\n1,234;1\n2,345;2\n"), (b"\x00\x40", b"*:number", b"1,2\n3,4\n"))],
    "mtx": [HEAD + t for t in (
        b"coordinate real general\n% c\n2 3 3\n1 1 1.5\n2 2 -2\n2 3 3\n", b"coordinate pattern symmetric\n2 2 1\n2 1\n",
        b"coordinate integer skew-symmetric\n2 2 1\n2 1 5\n", b"array real general\n2 2\n1\n2\n3\n4\n",
        b"array real symmetric\n2 2\n1\n2\n3\n", b"array integer skew-symmetric\n3 3\n1\n2\n3\n",
        b"coordinate real general\n2 2 3\n2 2 1\n1 1 1\n2 2 1\n", b"coordinate complex general\n1 1 1\n1 1 1 1\n",
        b"coordinate real general\n4611686018427387904 2 1\n1 1 1\n",
        b"coordinate real general\n2147483647 2147483647 9223372036854775807\n1 1 1\n",
        b"array real general\n2147483647 2147483647\n1\n")]
    + [gzip.compress(HEAD + b"array real general\n2 1\n1\n2\n"),
       gzip.compress(HEAD + b"coordinate real general\n2 2 2\n2 1 1e-300\n1 2 0\n")],
    "json": [b'{"a": [1, -2.5e3, "x\\u00e9\\ud83d\\ude00", null, true, false], "b": {"c": {}}, "d": []}', b'{"a": 1, "a": 2}',
             b"[[[[[[[[[[", b'"\\ud800\\u0041"', b"[]\x01", b'\xef\xbb\xbf[9223372036854775808, 1e999, "\xf4\x90\x80\x80"]',
             b'{"1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "10": {"9": [1, [2, {"3": ""}]]}}'],
    # matrix, barcodes and features: see fuzz_tenx.c
    "tenx": [HEAD + m + b"\x1d" + b + b"\x1d" + f for m, b, f in (
        (b"coordinate integer general\n%\n3 2 3\n1 1 5\n3 1 2\n2 2 7\n", b"AAAC-1\nAAAG-1\n",
         b"ENSG1\tA\tGene Expression\nENSG2\tA\tGene Expression\nENSG3\tB\tAntibody Capture\n"),
        (b"coordinate integer general\n3 2 1\n1 1 5\n", b"AAAC-1\tx\nAAAG-1\n", b"E1\tA\nE2\tA-1\nE3\tA\n"),
        (b"coordinate real general\n2 2 1\n1 1 5\n", b"AAAC-1\n", b"E1\nE2\n"),
        (b"array real general\n2 2\n1\n2\n3\n4\n", b"a\nb\n", b"\t\n\t\tx\n"))],
    # a 1, then sheet, texts, formats (workbook, relations): see fuzz_xlsx.c
    "xlsx": [b"\x01" + b"\x1d".join(parts) for parts in (
        (b"<?xml version='1.0'?><x:worksheet><!-- c --><dimension ref='A1'/><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c>"
         b"<c t='inlineStr'><is><t>b &amp; &#x41;</t></is></c></row><row r='3'><c r='A3'><v>1.5</v></c><c r='B3' s='1'>"
         b"<f>1+1</f><v>44000.5</v></c></row><row><c r='A4' t='b'><v>1</v></c><c r='B4' t='e'><v>#N/A</v></c></row></sheetData>"
         b"</x:worksheet>", b"<sst><si><t>one</t></si><si><r><t>tw</t></r><r><t>o</t></r><rPh><t>x</t></rPh></si></sst>",
         b"<styleSheet><numFmts><numFmt numFmtId='164' formatCode='dd/mm/yyyy'/></numFmts><cellXfs><xf numFmtId='0'/>"
         b"<xf numFmtId='164'/></cellXfs></styleSheet>"),
        (b"<sheetData><row><c r='B2'><v>1</v></c><c r='A1'><v>2</v></c><c r='XFD1048576'><v>3</v></c></row></sheetData>", b"", b""),
        (b"<sheetData><row r='2'><c r='A2' t='str'><v><![CDATA[a\"]]></v></c></row><row r='1'><c><v>1e5</v></c></row></sheetData>",
         b"", b"", b"<workbook><workbookPr date1904='1'/><sheets><sheet name='H' id='r0' state='hidden'/><sheet name='S' r:id='r1'/>"
         b"</sheets></workbook>", b""),
        (b"<!DOCTYPE a><sheetData/>", b"<sst>", b""))],
    "svmlight": [b"1 1:0.5 3:2\n-1\n1 2:1\n", b"# c\n+1 qid:3 1:.5 # t\r\n\n-1 qid:4\n", b"1:0.5\n2:1\n", b"1 0:1 2:3\n",
                 b"1 3:2 1:1\n", b"1,2 1:1\n", b"a 1:1\n", b"1 2147483646:1\n", b"1 1:nan\n", b"1 1:1 1:1\n",
                 gzip.compress(b"1 1:1\n")],
    "vectors": [b"a 1 2 3\nred .5 -1 2e-3\n", b"2 2\na 1 2 \nThe 3 4 \n", b"a\t1\t2\r\nb\xc3\x84R\t3\t4\r\n", b"a 1 2\nthe 1\n", b"the 1 nan\n", b". . . 1 2\n",
                b"3 2\na 1 2\na 3 4\n", b"x\0y 1\n", b"red 1 2\n. . 1 2\n", gzip.compress(b"a 1\n")],
    "labels": [b"a\nb\na\n", b"1\n-2\n+01\n", b"a\r\nb\r\n\r\n", b"\xef\xbb\xbfa\n", b"a\n\nb\n", b"99999999999999999999\n",
               gzip.compress(b"1\n2\n")],
    "numbers": [b"0", b"-0", b"1.5", b"1e5", b"-1.25E-7", b"nan", b"inf", b"-Infinity", b"9007199254740993",
                b"1.7976931348623159e308", b"2.4703282292062327e-324", b"123456789012345678901234567890e-20", b"1e",
                b"1.00000000000000011102230246251565404236316680908203125", b".5", b"5.", b".", b"+"],
}

for name, seeds in SEEDS.items():
    folder = pathlib.Path(__file__).parent / "corpus" / name
    folder.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(seeds):
        if seed[:2] == b"\x1f\x8b" or seed[2:4] == b"\x1f\x8b":
            at = seed.index(b"\x1f\x8b")
            seed = seed[:at + 4] + b"\0\0\0\0" + seed[at + 8:]  # no time stamp: the same file on every run
        (folder / f"{i:02}").write_bytes(seed)
