#!/usr/bin/python3
"""Checks the wording of texts for users: documentation, help texts, messages, the report and Python docstrings.

usage: language.py [--lengths] [PATH...]

Without a PATH, the complete project is checked. A PATH is a file or folder below the project's root. Two things are checked:

- Words: no text may contain a phrase of GLOSSARY. Each finding is printed with its file, line and a better wording.
  Fenced code, inline code and HTML comments in Markdown are skipped. In C, JavaScript and Python only strings are checked,
  in public headers only comments.
  A line may opt out with a reason: <!-- language: reason --> in Markdown, /* language: reason */ in C and JavaScript,
  # language: reason in Python. In Markdown the comment may also be on the line above, for tables.
- Lengths, in README.md, CONTRIBUTING.md and docs/*.md: the median sentence has at most 18 words and no paragraph has more
  than 90. Pages of REFERENCE are exempt. No page of docs/*.md has more than 900 words of text, without code, tables and headings, except those of LONG. README.md and CHANGELOG.md have a limit in lines (MOST_LINES). --lengths prints the figures of each file.
"""
import ast
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEDIAN_WORDS, PARAGRAPH_WORDS, PAGE_WORDS = 18, 90, 900
MOST_LINES = {"README.md": 130, "CHANGELOG.md": 115}

# Pages that are looked up rather than read: their sentences are entries of tables and lists.
REFERENCE = {
    "docs/formats.md": "one entry per file format",
    "docs/model-file.md": "the layout of a file, field by field",
    "docs/data.md": "one entry per data set",
    "docs/dependencies.md": "one entry per library",
    "docs/reproduction.md": "the papers' tables with a comment on each",
}

# Pages that may have more than PAGE_WORDS.
LONG = {"docs/benchmarks.md": "the protocol of each table"}

# Files whose strings are data.
DATA = {"src/text/languages.c": "stop words"}

# (pattern, better wording). Patterns are chosen so that nearly every match is wrong; use an opt-out for the others.
GLOSSARY = [
    # the table "Words to replace"
    (r"told", "given, specified, set"),
    (r"said", "reported, printed"),
    (r"what (?:came|comes)", "the result, the measured value, the output"),
    (r"company", "the other data sets"),
    (r"(?:a|one) (?:line|word|row|column|file|call|cell|document|entry|text) an? "
     r"(?:sample|line|row|word|job|task|cluster|document|file|text|data set|feature|class)", "one line per sample"),
    (r"by (?:itself|themselves)", "by default; alone, separately"),
    (r"found out", "detected"),
    (r"looked at", "inspected"),
    (r"(?:data|that|it|column|columns|which|file|they) looks? like(?! this)", "appears to be"),
    (r"mend(?:s|ed|ing)?", "fix, fixed"),
    (r"(?:stands?|standing|stood) (?:beside|next to|in|alone)", "is compared with; is in; is separate"),
    (r"beside", "next to, compared with, in addition to"),
    (r"(?:is|are|was|were) (?:not )?there(?! (?:an?|any|no|more|enough)\b)", "is (not) available, exists"),
    (r"where (?:there (?:is|are)|one is)", "if available"),
    (r"worth the way|it pays", "faster overall"),
    (r"hangs? on", "depends on"),
    (r"so many", "N, this many"),
    (r"(?:have|has|had|having) no vote", "do not vote, are excluded"),
    (r"left[ -]over", "remaining"),
    (r"left out", "excluded, skipped"),
    (r"points of (?:a|the) plane", "a two-dimensional map"),
    (r"(?:a|one) word (?:of honesty|on|about)", "a caveat; a comment on; a note about"),
    (r"plainly", "(omit it)"),
    (r"in (?:stead|place) of", "instead of"),
    (r"(?<!as a )(?<!on the )whole(?! numbers?\b)", "complete, entire, in full"),
    (r"taken for", "treated as"),
    (r"goes its own way", "is separate"),
    (r"(?:goes|gone) through", "passes; is read"),
    (r"(?:can|should|could|may|might|to) be had", "is available"),
    (r"such data(?! set)", "(name the data)"),
    (r"such an?(?! way\b)", "(name the thing)"),
    # the rules
    (r"where (?:known|possible|needed|absent|present|available|given|missing)", "if known, if possible (rule 1: 'if' for conditions)"),
    (r"counts of words", "word counts"),
    (r"counts of molecules", "molecule counts"),
    (r"sizes of clusters", "cluster sizes"),
    (r"shares of (?:the )?classes", "class proportions"),
    (r"graphs? of neighbours", "neighbour graph"),
    (r"(?:say|says|saying)", "print, show, state, report, specify (programs and options do not speak)"),
    (r"tells", "shows, specifies (programs and options do not speak)"),
    (r"tells? (?:\w+ ){1,3}apart", "distinguish"),
    (r"believe[sd]?", "trust, assume"),
    (r"members (?:vote|voted|agree|disagree|were asked)", "methods vote"),
    (r"asked again", "run again"),
    (r"(?<![\w%.*\])/\"'=<>^~+-])\.\d\d+", "0.87, not .87"),
    # private phrases
    (r"labelled otherwise", "labelled differently"),
    (r"without a word", "without a warning"),
    (r"what sets", "features that distinguish"),
    (r"odd about", "problems in"),
    (r"(?:is|are|are they|that is|this is|it is|they are) worth(?! \w+ing\b| an?\b| the\b)", "how good it is"),
    (r"in \S+'s manner", "in the style of, such as 'scikit-learn-style'"),
    (r"where (?:they|it) lies?", "without copying; in place"),
    (r"likeliest", "most likely"),
    (r"sure(?:r|st)", "more (most) certain"),
    (r"least number", "minimum number"),
    (r"(?:where|without) (?:the )?truth", "if (without) known classes"),
    (r"anew", "again"),
    (r"of old(?! and new)", "former, previous"),
    (r"as[- ]told", "as specified; none"),
    (r"hitherto|wherein|thereof|therein|whereof|lest", "(use the modern word)"),
    (r"what is done about", "how to handle"),
    (r"nothing is (?:said|known) of", "was not assessed"),
    (r"do(?:es)? without", "work without, not need"),
    # messages: what was found, what is allowed, what to do; no internals
    (r"at least one TASK|and one TASK", "needs at least one data file"),
    (r"is outside (?=[\[(%])", "use a number from A to B (got X)"),
    (r"is not allowed: a", "is not valid; use"),
    (r"has no levels", "has one k only: run -k 3-8 first"),
    (r"handled (?:as specified )?with --missing", "N missing values, skipped (or replaced by column means)"),
    (r"no column remains", "no usable column: why; what to use"),
    (r"one --labels FILE for each --source \(got", "--source FILE has no classes: add --labels FILE or --label-column NAME"),
    (r"of the weight of its values", "share no column (a, b and c, d); use --rename OLD=NEW"),
    (r"names that the preprocessing was fitted on", "FILE has none of the model's columns"),
    (r"(?:were labelled|has class) (?=%)", "class names are quoted: '%s'"),
    (r"in all\b(?= *[),.;:]|$)", "in total"),
]
# British spelling in prose; code and option values may have another.
PROSE = [
    (r"behaviors?", "behaviour"), (r"colors?", "colour"), (r"neighbors?", "neighbour"), (r"label(?:ed|ing)", "labelled, labelling"),
    (r"analyz(?:e|es|ed)", "analyse"), (r"normaliz(?:e|es|ed|ation)", "normalise"), (r"standardiz(?:e|es|ed)", "standardise"),
]

# In guides, which are read by users; notes, flags and code may use other words.
GUIDES = [(r"tasks?", "data set (flags and code keep `task`)")]


def compiled(entries):
    return [(re.compile(r"(?<![\w-])(?:%s)(?![\w-])" % pattern, re.I), better) for pattern, better in entries]


GLOSSARY, PROSE, GUIDES = compiled(GLOSSARY), compiled(PROSE), compiled(GUIDES)
OPT_OUT = re.compile(r"(?:<!--|/\*|//|#) *language: *\S")
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|((?:(?:L|u8)?"(?:[^"\\\n]|\\.)*"\s*(?:PRI\w+\s*)?)+)|\'(?:[^\'\\\n]|\\.)*\'', re.S)
JS_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`)', re.S)
ESCAPE = {"n": "\n", "t": "\t"}


def blank(match):
    """Spaces of the same length and lines, so that positions stay."""
    return re.sub(r"[^\n]", " ", match[0])


def markdown_prose(text):
    text = re.sub(r"^( *)(```+|~~~+).*?^ *\2[^\n]*$", blank, text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", lambda m: "`" + "x" * (len(m[0]) - 2) + "`", text)
    return re.sub(r"\]\([^)\s]*\)", lambda m: "]" + " " * (len(m[0]) - 1), text)


def unquoted(text, base):
    """(characters, their positions) of adjacent string literals, as one text."""
    characters, positions = [], []
    for m in re.finditer(r'(?:L|u8)?"((?:[^"\\\n]|\\.)*)"', text):
        at, inside = base + m.start(1), m[1]
        k = 0
        while k < len(inside):
            if inside[k] == "\\" and k + 1 < len(inside):
                characters.append(ESCAPE.get(inside[k + 1], inside[k + 1]))
                positions.append(at + k)
                k += 2
            else:
                characters.append(inside[k])
                positions.append(at + k)
                k += 1
    return "".join(characters), positions


def pieces(path, text):
    """Texts for users in a file: (text, position of each character or None if the text is the file)."""
    if path.suffix == ".md":
        yield markdown_prose(text), None
    elif path.parent.parent.name == "include":
        for m in re.finditer(r"/\*.*?\*/", text, re.S):
            # Stars at the beginnings of lines are no text.
            yield re.sub(r"\n[ \t]*\*(?!/)", blank, m[0]), list(range(m.start(), m.end()))
    elif path.suffix in (".c", ".h", ".def", ".in"):
        for m in C_TOKEN.finditer(text):
            line = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
            if m[1] and not line.lstrip().startswith("#include"):
                yield unquoted(m[1], m.start())
    elif path.suffix == ".js":
        for m in JS_TOKEN.finditer(text):
            if m[1]:
                yield m[1], list(range(m.start(1), m.end(1)))
    elif path.suffix in (".py", ".pyi"):
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                # The lines of a docstring are lines of the source; other strings count as being on their first line.
                at, positions, line = starts[node.lineno - 1], [], node.lineno - 1
                multiline = node.end_lineno - node.lineno == node.value.count("\n")
                for character in node.value:
                    positions.append(at)
                    if character == "\n" and multiline:
                        line += 1
                        at = starts[line]
                yield node.value, positions


def words_wrong(path):
    """(line number, phrase, better wording) of each finding in a file."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    found = set()
    for piece, positions in pieces(path, text):
        # A phrase may be broken over two lines.
        flat = re.sub(r"\s", " ", piece) if path.suffix != ".md" else re.sub(r"\n *(?=\S)", lambda m: " " * len(m[0]), piece)
        markdown = path.suffix == ".md"
        for pattern, better in GLOSSARY + (PROSE if markdown else []) + (GUIDES if markdown and path.parent in (ROOT, ROOT / "docs") else []):
            for m in pattern.finditer(flat):
                at = positions[m.start()] if positions else m.start()
                number = text.count("\n", 0, at)
                above = markdown and number and lines[number - 1].strip().startswith("<!--")
                if not OPT_OUT.search(lines[number]) and not (above and OPT_OUT.search(lines[number - 1])):
                    found.add((number + 1, " ".join(m[0].split()), better))
    return sorted(found)


def paragraphs(text):
    """(line number, text) of each paragraph and list item, without code, tables and headings."""
    text = markdown_prose(text)
    start, taken = 0, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        bare = line.strip()
        item = re.match(r"(?:[-*+]|\d+[.)])\s+", bare)
        ends = not bare or bare[0] in "|#<" or re.fullmatch(r"[-=]{3,}|!\[.*", bare)
        if (ends or item) and taken:
            yield start, " ".join(taken)
            taken = []
        if not ends:
            start = start if taken else number
            taken.append(bare[item.end():] if item else bare.lstrip("> "))
    if taken:
        yield start, " ".join(taken)


ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|Fig|Eq|Sec|approx)\.$")


def sentences(paragraph):
    """Lengths in words of the complete sentences of a paragraph."""
    lengths, begin = [], 0
    for m in re.finditer(r"[.!?:][)\"”*_]*(?=\s+[A-Z0-9`\"“(\[*_-]|\s*$)", paragraph):
        if m[0][0] == ":" and m.end() < len(paragraph.rstrip()):
            continue
        sentence = paragraph[begin:m.end()]
        if ABBREVIATION.search(sentence):
            continue
        lengths.append(len([word for word in sentence.split() if re.search(r"\w", word)]))
        begin = m.end()
    return lengths


def lengths(path):
    """(median sentence, [(line, words) of each paragraph])."""
    found, sizes = [], []
    for number, paragraph in paragraphs(path.read_text(encoding="utf-8")):
        found += sentences(paragraph)
        sizes.append((number, len([word for word in paragraph.split() if re.search(r"\w", word)])))
    return (statistics.median(found) if found else 0), sizes


def has_lengths(path):
    name = path.relative_to(ROOT).as_posix()
    return path.suffix == ".md" and name not in REFERENCE and name != "CHANGELOG.md" and \
        (path.parent == ROOT or path.parent == ROOT / "docs")


def expand(arguments):
    if not arguments:
        arguments = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "include", "cli", "src", "report", "python/kindred"]
    for argument in arguments:
        path = pathlib.Path(argument)
        path = path.resolve() if path.exists() else ROOT / argument
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file() and
                              file.suffix in (".md", ".c", ".h", ".def", ".js", ".py", ".pyi"))
        elif path.is_file():
            yield path
        else:
            sys.exit("%s: no such file or folder" % argument)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--lengths"]
    wrong = files = 0
    for path in expand(arguments):
        files += 1
        name = path.relative_to(ROOT).as_posix()
        for number, phrase, better in words_wrong(path) if name not in DATA else ():
            wrong += 1
            print("%s:%d: '%s': write %s" % (name, number, phrase, better))
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES.get(name, lines):
            wrong += 1
            print("%s: %d lines, at most %d are allowed" % (name, lines, MOST_LINES[name]))
        if path.parent == ROOT / "docs" and path.suffix == ".md" and name not in LONG:
            total = sum(words for _, words in lengths(path)[1])
            if total > PAGE_WORDS:
                wrong += 1
                print("%s: %d words of text, at most %d are allowed" % (name, total, PAGE_WORDS))
        if has_lengths(path):
            median, sizes = lengths(path)
            if "--lengths" in sys.argv:
                print("%s: median sentence %g words, longest paragraph %d words" % (name, median, max([n for _, n in sizes] or [0])))
            if median > MEDIAN_WORDS:
                wrong += 1
                print("%s: the median sentence has %g words, at most %d are allowed" % (name, median, MEDIAN_WORDS))
            for number, words in sizes:
                if words > PARAGRAPH_WORDS:
                    wrong += 1
                    print("%s:%d: a paragraph of %d words, at most %d are allowed" % (name, number, words, PARAGRAPH_WORDS))
    print("%d files, %d findings" % (files, wrong))
    return 1 if wrong or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
