"""kdr_vectorize against scikit-learn's CountVectorizer on generated documents: the same terms and counts,
exactly, with n-grams, limits on document frequency, stop words, binary counts and fixed vocabularies; for
ASCII tokens, and for Unicode letters where Python's case folding and NFC do what ours must.

Usage: vectorize_sklearn.py libkindred.so"""
import json
import random
import sys
import tempfile
import unicodedata
from pathlib import Path

SKIP = 77
try:
    from sklearn.feature_extraction.text import CountVectorizer
    from text_common import ASCII, JSON, LETTERS, LINES, TABLE, Library, exit_status
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIP)

# A whole run of letters, not a slice of a longer one.
ASCII_PATTERN = r"(?<![a-z])[a-z]{3,20}(?![a-z])"
UNICODE_WORDS = ["Straße", "STRASSE", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", "naïve", "nai\u0308ve", "Ångström", "A\u030angstro\u0308m",
                 "ЁЛКА", "ёлка", "Ёлка", "ﬁnal", "final", "東京", "हिन्दी", "İstanbul", "ŉ", "ΐ", "ǰ", "Ǆemal"]


def documents(rng, count, words, separators):
    """Words of very different frequencies; some documents are empty."""
    texts = []
    for _ in range(count):
        n = rng.choice([0, 1, 2, 5, 30])
        chosen = [words[min(int(rng.expovariate(1.0) * len(words) / 4), len(words) - 1)] for _ in range(n)]
        texts.append("".join(w + rng.choice(separators) for w in chosen))
    return texts


def fold(text):
    return unicodedata.normalize("NFC", text.casefold())


def letter_runs(text):
    """Runs of letters and marks, by Python's tables."""
    run, runs = "", []
    for character in text + " ":
        category = unicodedata.category(character)[0]
        if category == "L" or (category == "M" and run):
            run += character
        elif run:
            runs.append(fold(run))
            run = ""
    return [r for r in runs if 2 <= len(r) <= 40]


def same(ours, vectorizer, theirs, what):
    names = list(vectorizer.get_feature_names_out())
    assert sorted(ours.features) == sorted(names), (what, set(ours.features) ^ set(names))
    order = [names.index(f) for f in ours.features]
    assert (ours.x != theirs[:, order]).nnz == 0, what
    return order


def check_order(tasks, what):
    """Decreasing document frequency, ties in byte order."""
    df = sum((t.x > 0).sum(axis=0) for t in tasks).A1
    keys = [(-d, f.encode()) for d, f in zip(df, tasks[0].features)]
    assert keys == sorted(keys), what


def main():
    library, rng, runs = Library(sys.argv[1]), random.Random(5), 0
    letters = "abcdefghij"
    words = ["".join(rng.choice(letters) for _ in range(rng.choice([1, 2, 3, 4, 8, 20, 21, 30]))) for _ in range(60)]
    words += [w.upper() for w in words[:10]] + ["can't", "x2y", "é", "naïve"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "lines.txt"

        def write(texts):
            place.write_text("".join(t + "\n" for t in texts))
            return dict(path=str(place), kind=LINES)

        for round_ in range(60):
            texts = documents(rng, rng.choice([3, 20, 200]), words, [" ", ", ", "  ", "-", "1", "\t"])
            low, high = rng.choice([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)])
            n = len(texts)
            min_df, max_df = rng.choice([1, 2, 0.05, 0.1]), rng.choice([1.0, 0.9, 0.3, max(n // 2, 2)])
            stop = rng.choice([None, sorted(set(w.lower() for w in words[:5] if w.isalpha()))])
            binary = rng.random() < 0.3
            options = dict(tokens=ASCII, min_length=3, max_length=20, ngram_min=low, ngram_max=high, binary=binary)
            options["min_df" if isinstance(min_df, int) else "min_df_share"] = min_df
            options["max_df" if isinstance(max_df, int) else "max_df_share"] = max_df
            if stop:
                stopfile = Path(folder) / "stop.txt"
                stopfile.write_text("# left out\n" + "".join(w.upper() + "\n" for w in stop))
                options["stopwords"] = str(stopfile)
            v = CountVectorizer(token_pattern=ASCII_PATTERN, ngram_range=(low, high), min_df=min_df, max_df=max_df,
                                stop_words=stop, binary=binary)
            what = (round_, n, options)
            try:
                theirs = v.fit_transform(texts)
            except ValueError:  # nothing left: ours must say so too
                try:
                    library.vectorize([write(texts)], **options)
                except RuntimeError:
                    continue
                raise AssertionError(what)
            (ours,), _ = library.vectorize([write(texts)], **options, threads=rng.choice([1, 2, 3]))
            same(ours, v, theirs, what)
            check_order([ours], what)
            # Top N: scikit-learn goes by the number of occurrences and breaks ties otherwise, so the set is
            # computed from its own matrix.
            top = rng.randint(1, len(ours.features))
            names, df = v.get_feature_names_out(), (theirs > 0).sum(axis=0).A1
            best = sorted(range(len(names)), key=lambda j: (-df[j], names[j].encode()))[:top]
            (cut,), _ = library.vectorize([write(texts)], max_features=top, **options)
            assert cut.features == [names[j] for j in best], what
            assert (cut.x != theirs[:, best]).nnz == 0, what
            # The vocabulary kept for new documents.
            fixed = Path(folder) / "features.txt"
            fixed.write_text("".join(f + "\n" for f in cut.features))
            more = documents(rng, 20, words, [" "])
            (new,), _ = library.vectorize([write(more)], vocabulary=str(fixed), **options)
            assert new.features == cut.features
            w = CountVectorizer(token_pattern=ASCII_PATTERN, ngram_range=(low, high), stop_words=stop, binary=binary,
                                vocabulary=cut.features)
            assert (new.x != w.transform(more)).nnz == 0, what
            runs += 1

        # Unicode letters, as table columns and JSON lines, in two tasks with one vocabulary.
        for round_ in range(20):
            texts = documents(rng, 40, UNICODE_WORDS, [" ", "、", "\u2019", " 1 ", "\u200b", "\""])
            v = CountVectorizer(analyzer=letter_runs)
            theirs = v.fit_transform(texts)
            table, lines = Path(folder) / "t.csv", Path(folder) / "t.jsonl"
            quoted = ['"' + t.replace('"', '""') + '"' for t in texts]
            table.write_text("id,text,class\n" + "".join(f"{i},{q},c{i % 3}\n" for i, q in enumerate(quoted[:25])))
            lines.write_text("".join(json.dumps(dict(text=t, y=i % 2), ensure_ascii=rng.random() < 0.5) + "\n"
                                     for i, t in enumerate(texts[25:])))
            tasks, _ = library.vectorize([dict(path=str(table), kind=TABLE, label_field="class"),
                                          dict(path=str(lines), kind=JSON, label_field="y")], tokens=LETTERS)
            same(tasks[0], v, theirs[:25], round_)
            same(tasks[1], v, theirs[25:], round_)
            check_order(tasks, round_)
            assert tasks[0].labels == [f"c{i % 3}" for i in range(25)]
            assert tasks[1].labels == [str(i % 2) for i in range(len(texts) - 25)]
            assert tasks[0].ids == [str(i + 2) for i in range(25)]
    assert runs > 30
    print(f"{runs} generated corpora agree with scikit-learn, and 20 of Unicode text")
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
