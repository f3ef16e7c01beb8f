"""The C reference: one page per public header, made from its declarations and comments. SPDX-License-Identifier: BSD-3-Clause

A header is read as a sequence of comments and declarations. A comment describes the declarations that follow it without a blank line
in between; "/* --- title --- */" begins a section; a comment behind a member or an enumerator describes it.
"""
import re
from pathlib import Path

TOKEN = re.compile(r"""
    (?P<blank>\n[ \t]*\n)
  | (?P<section>/\*\ ---+\ (?P<title>.*?)\ -+\ \*/)
  | (?P<comment>/\*.*?\*/)
  | (?P<macro>^\#define\ (?P<name>\w+)(?:[^\n]*\\\n)*[^\n]*)
  | (?P<skip>^\#(?:[^\n]*\\\n)*[^\n]*|^extern\ "C"\ \{|^\}\s*$)
  | (?P<init>^KDR_DEFINE_INIT\((?P<struct>\w+)\))
  | (?P<inline>^static\ inline\ (?P<head>[^{]*)\{.*?^\})
  | (?P<type>^(?:typedef\ )?(?P<kind>enum|struct)(?:\ (?P<tag>\w+))?\s*\{(?P<body>[^{}\n]*|.*?^)\}\s*(?P<alias>\w*);)
  | (?P<plain>^(?:typedef\ |KDR_)[^;{]*;)
""", re.X | re.S | re.M)
INTERNAL = {"KDR_API", "KDR_PRINTF"}  # macros that only decorate declarations


def comment_lines(comment):
    """The lines of a comment, without its marks."""
    lines = re.sub(r"^/\*+ ?|\s*\*+/$", "", comment.strip()).split("\n")
    lines = [lines[0], *(re.sub(r"^\s*\* ?|^\s+", "", line, count=1) for line in lines[1:])]
    return [line.replace("SPDX-License-Identifier: BSD-3-Clause", "").rstrip() for line in lines]


class Reference:
    """Names of all headers, to link them, and the pages."""

    def __init__(self, folder):
        self.texts = {path.name: path.read_text() for path in sorted(Path(folder).glob("*.h"))}
        self.roles = {}
        for text in self.texts.values():
            for m in TOKEN.finditer(text):
                self.collect(m)

    def collect(self, m):
        """Notes the names that a declaration introduces, and how to refer to them."""
        if m["type"]:
            if m["tag"]:
                self.roles[m["tag"]] = m["kind"]
            if m["kind"] == "enum":
                self.roles.update({name: "enumerator" for name, _ in enumerators(m["body"])})
        elif m["inline"] or m["plain"]:
            signature = clean(m["head"] or m["plain"])
            name = declared(signature)
            self.roles[name] = "type" if signature.startswith("typedef") else "func"
            opaque = re.fullmatch(r"typedef struct (\w+) \1", signature)
            if opaque:
                self.roles.setdefault(opaque[1], "struct")
        elif m["init"]:
            self.roles[f"{m['struct']}_init"] = "func"
        elif m["macro"] and not m["name"].endswith("_H"):
            self.roles[m["name"]] = "macro"

    def inline(self, text):
        """Text of a comment as reStructuredText: known names become links, `names` and *pointers literals."""
        def mark(m):
            if m["quoted"]:
                return f"``{m['quoted'][1:-1]}``"
            if m["pointer"]:
                return f"``{m['pointer']}``"
            if m["page"]:
                return f":doc:`{m['page']} </{m['page'][:-3]}>`"
            if m["header"]:
                return f":doc:`{m['header']} </c/{m['header'].split('/')[-1][:-2]}>`" if m["header"].split("/")[-1] in self.texts else m["header"]
            if m["word"]:
                name = m["word"].rstrip("()")
                role = self.roles.get(name)
                return f":c:{role}:`{name}`" if role and name not in INTERNAL else f"``{m['word']}``"
            return "\\" + m["special"]
        return re.sub(r"(?P<quoted>`[^`\n]+`)|(?P<pointer>(?<![\w*)])\(?\*\w+\)?(?:\[[^\]]*\])*)|(?P<page>\bdocs/[\w/-]+\.md\b)|(?P<header>\b(?:kindred/)?\w+\.h\b)|(?P<word>\b(?:kdr|KDR)_\w+\b(?:\(\))?)|(?P<special>[*|\\]|(?<=\w)_(?!\w))",
                      mark, text)

    def paragraphs(self, lines, indent=""):
        """The lines of a comment as paragraphs, lists and examples."""
        out, block, code = [], [], False
        for line in [*lines, ""]:
            example = line.startswith("    ")
            item = re.match(r" *- ", line)
            if block and (not line or item or (example and not code and not block[0].startswith("- "))):
                if not indent and len(block) == 1 and len(block[0].split()) < 6 and not code and not block[0].startswith("- "):
                    block = [f".. rubric:: {block[0].rstrip('.')}"]
                out += [*(indent + ("    " if code else "") + (text if code else self.inline(text)) for text in block), ""]
                block, code = [], False
            if not line:
                continue
            if example and not block:
                code = True
                out += [indent + "::", ""]
            if code:
                block.append(line.strip() if not line.startswith("    ") else line[4:])
            elif item:
                block.append("- " + line[item.end():])
            else:
                block.append(("  " if block and block[0].startswith("- ") else "") + line.strip())
        return out

    def page(self, name):
        """The page of a header."""
        text = self.texts[name]
        first = comment_lines(re.match(r"/\*.*?\*/", text, re.S)[0])
        about = first[0].replace("kindred: ", "").partition(". ")[0]
        title = f"{name}: {about[:1].lower()}{about[1:]}".rstrip(". ")
        out = [title, "=" * len(title), "", *self.paragraphs(first[1:]), f"``#include \"kindred/{name}\"``", ""]
        comment, group, macros = [], [], set(INTERNAL)
        position = re.match(r"/\*.*?\*/", text, re.S).end()

        def flush():
            nonlocal comment, group
            if group:
                experimental = any("KDR_EXPERIMENTAL" in raw for raw, _ in group)
                lines = [signature for _, signature in group]
                kind = "type" if lines[0].startswith("typedef") else "function"
                lines = [re.sub(r"^typedef ", "", line) for line in lines]
                opaque = re.fullmatch(r"struct (\w+) \1", lines[0])
                if opaque:
                    kind, lines = "struct", [opaque[1]]
                out.extend([f".. c:{kind}:: {lines[0]}", *(" " * (len(kind) + 9) + line for line in lines[1:]), ""])
                out.extend(self.paragraphs(comment, "   "))
                if experimental:
                    out.extend(["   *Experimental: this function may change or disappear with any version.*", ""])
                comment = []
            elif comment:
                out.extend(self.paragraphs(comment))
                comment = []
            group = []

        for m in TOKEN.finditer(text, position):
            if m["blank"]:
                flush()
            elif m["section"]:
                flush()
                heading, _, rest = m["title"].partition(": ")
                heading = heading if "." in heading else heading[:1].upper() + heading[1:]
                out.extend([heading, "-" * len(heading), ""])
                if rest:
                    out.extend(self.paragraphs([f"{rest[:1].upper()}{rest[1:].rstrip('.')}."]))
            elif m["comment"]:
                flush()
                comment = comment_lines(m["comment"])
            elif m["macro"] and not m["name"].endswith("_H") and m["name"] not in macros:
                macros.add(m["name"])  # some are defined twice, under #if and #else
                held, comment = comment, []
                flush()
                out.extend([f".. c:macro:: {m['name']}", "", *self.paragraphs(held, "   ")])
            elif m["init"]:
                held, comment = comment, []
                flush()
                out.extend([f".. c:function:: void {m['struct']}_init({m['struct']} *options)", "",
                            "   Sets ``size`` and sets all other members to zero, which means their defaults.", ""])
                comment = held
            elif m["type"]:
                held, comment = comment, []
                flush()
                out.extend(self.compound(m, held))
            elif m["inline"] or m["plain"]:
                raw = m["inline"] and m["head"] or m["plain"]
                # Several declarations share a comment if it lists several things; functions that free something explain themselves.
                if group and ("_free(" in raw or not re.search(r"\b(?:and|or)\b", " ".join(comment))):
                    flush()
                group.append((raw, clean(raw)))
        flush()
        return "\n".join(out) + "\n"

    def compound(self, m, comment):
        """A struct or an enumeration with its members."""
        out, inside = [], ""
        if m["tag"]:
            out += [f".. c:{m['kind']}:: {m['tag']}", ""]
            inside = "   "
        out += self.paragraphs(comment, inside)
        if m["kind"] == "enum":
            for name, words in enumerators(m["body"]):
                out += [f"{inside}.. c:enumerator:: {name}", "", *self.paragraphs(sentence(words), inside + "   ")]
            return out
        for before, declarations, words in members(m["body"]):
            if before:
                out += self.paragraphs(before if before[-1].endswith(".") else [f"For {' '.join(before)}:"], inside)
            else:
                first, *others = declarations
                out += [f"{inside}.. c:member:: {first}", *(f"{inside}              {other}" for other in others), "",
                        *self.paragraphs(sentence(words), inside + "   ")]
        return out


def sentence(lines):
    """The comment behind a member as a sentence: with a capital letter and a full stop."""
    if not lines:
        return lines
    first = lines[0]
    if re.match(r"(?:a|[a-z]{2,})\b(?!_)", first):
        first = first[:1].upper() + first[1:]
    lines = [first, *lines[1:]]
    return lines if lines[-1].endswith((".", ":")) else [*lines[:-1], lines[-1] + "."]


def clean(declaration):
    """A declaration on one line, without decorations."""
    return re.sub(r"\s+", " ", re.sub(r"\bKDR_(?:API|EXPERIMENTAL)\b|\bKDR_PRINTF\([^)]*\)", "", declaration)).strip(" ;")


def declared(signature):
    """The name that a declaration introduces."""
    pointer = re.search(r"\(\*(\w+)\)\(", signature)
    return pointer[1] if pointer else re.search(r"(\w+)(?:\(|$)", re.sub(r"\(.*", "(", signature))[1]


def enumerators(body):
    """(name, lines of its comment) of each enumerator; a comment stands behind it, or on lines of its own before it."""
    out, before = [], []
    for m in re.finditer(r"(?P<own>^[ \t]*/\*.*?\*/)|(?P<name>\b[A-Z]\w+)(?: = [^,/}\n]*)?,?[ \t]*(?P<behind>/\*.*?\*/)?", body, re.S | re.M):
        if m["own"]:
            before = comment_lines(m["own"])
        else:
            out.append((m["name"], comment_lines(m["behind"]) if m["behind"] else before))
            before = []
    return out


def members(body):
    """(lines of the comment before, declarations, lines of the comment behind) of each line of declarations of a struct."""
    body = re.sub(r"union \{(.*?)\} (\w+);", lambda m: "".join(re.sub(r"(\w+);", rf"{m[2]}.\1;", line) + "\n" for line in m[1].strip().split("\n")),
                  body, flags=re.S)
    out = []
    for m in re.finditer(r"(?P<own>^[ \t]*/\*.*?\*/)|(?P<declaration>[^;/]+);[ \t]*(?P<behind>/\*.*?\*/)?", body, re.S | re.M):
        if m["own"]:
            out.append((comment_lines(m["own"]), [], []))
            continue
        words = re.sub(r"\s+", " ", m["declaration"]).strip()
        if "(" in words or "," not in words:
            names = [words]
        else:
            first, *others = words.split(",")
            base = re.sub(r"[ *]*\w+(?:\[.*\])?$", "", first)
            names = [first, *(f"{base} {other.strip()}" for other in others)]
        out.append(([], names, comment_lines(m["behind"]) if m["behind"] else []))
    return out
