"""kdr_vectorize against the prepared text sets: the raw text of data/raw must give their documents, class by
class and exactly, and nearly their vocabularies and counts with the built-in stop words. With scikit-learn's
stop words, which the prepared sets were made with, vocabularies and counts must agree almost everywhere: that
shows that the list makes the difference (docs/text.md).

Usage: vectorize.py libkindred.so   (data: KINDRED_DATA, or ../shared/data beside the project)"""
import gzip
import os
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

SKIP = 77
try:
    import scipy.io
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
    from text_common import ASCII, Library, exit_status
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIP)

# At least this share of the prepared features is found, and at most by this share do the summed counts of the
# shared ones differ: with the built-in stop words, and with scikit-learn's.
FLOOR = {"english": 0.95, "sklearn": 0.995}
APART = {"english": 0.04, "sklearn": 0.002}
RULES = dict(tokens=ASCII, min_length=3, max_length=20, stemmer="porter", strip_mail=True, drop_empty=True)


def data_folder():
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    return Path(os.environ.get("KINDRED_DATA") or beside)


def unpack(archive, to):
    with tarfile.open(archive) as tar:
        tar.extractall(to)


def link(tree, task, label, folders):
    """tree/task/label/<n> -> the folders with that class's documents."""
    place = tree / task / label
    place.mkdir(parents=True)
    for i, folder in enumerate(folders):
        (place / str(i)).symlink_to(folder)


def read_matrix(path):
    return scipy.io.mmread(gzip.open(path) if path.suffix == ".gz" else str(path)).tocsr()


def check(library, data, name, tree, tasks, stopwords, **more):
    """Compares the tasks below `tree` with the prepared set `name`; returns a list of complaints."""
    wrong, which = [], "english" if stopwords == "english" else "sklearn"
    features = (data / name / "features.txt").read_text().split()
    got, stats = library.vectorize([dict(path=str(tree / t), name=t) for t in tasks],
                                   max_features=len(features), stopwords=stopwords, **RULES, **more)
    ours = got[0].features
    share = len(set(features) & set(ours)) / len(features)
    print(f"{name}, {which} stop words: {stats.documents} documents, {stats.dropped} empty, {stats.not_utf8} "
          f"not UTF-8, {stats.terms} terms; {share:.2%} of the {len(features)} prepared features found")
    print("  prepared only:", " ".join([f for f in features if f not in set(ours)][:20]))
    print("  ours only:", " ".join([f for f in ours if f not in set(features)][:20]))
    if share < FLOOR[which]:
        wrong.append(f"{name}: {share:.4f} of the features found, less than {FLOOR[which]}")
    for t, task in zip(tasks, got):
        expected = Counter((data / name / f"{t}.labels").read_text().split())
        found = Counter(task.labels)
        if expected != found:
            wrong.append(f"{name}/{t}: documents {dict(found)}, expected {dict(expected)}")
        x = read_matrix(next((data / name).glob(f"{t}.mtx*")))
        column = {f: j for j, f in enumerate(ours)}
        shared = [(j, column[f]) for j, f in enumerate(features) if f in column]
        a = x.sum(axis=0).A1[[j for j, _ in shared]]
        b = task.x.sum(axis=0).A1[[k for _, k in shared]]
        apart = abs(a - b).sum() / a.sum()
        print(f"  {t}: {task.x.shape[0]} documents; counts of shared features differ by {apart:.3%}, "
              f"{(a == b).mean():.1%} of them not at all")
        if apart > APART[which]:
            wrong.append(f"{name}/{t}: counts of shared features differ by {apart:.4f}, more than {APART[which]}")
    return wrong


def main():
    data = data_folder()
    if not (data / "raw").is_dir():
        print("skipped: no data (docs/data.md)")
        return SKIP
    library, wrong = Library(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for archive in ("webkb4-4univ-4class.tar.xz", "20news-bydate-8groups.tar.xz"):
            unpack(data / "raw" / archive, top / "raw")
        stopwords = top / "sklearn-stopwords.txt"
        stopwords.write_text("\n".join(sorted(ENGLISH_STOP_WORDS)))
        tasks = ["cornell", "texas", "washington", "wisconsin"]
        for task in tasks:
            for label in ("course", "faculty", "project", "student"):
                link(top / "webkb4", task, label, [top / "raw" / "webkb" / label / task])
        for words in ("english", str(stopwords)):
            wrong += check(library, data, "webkb4", top / "webkb4", tasks, words, strip_html=True)
        for name in ("20ng_rec_vs_talk", "20ng_comp_vs_sci"):
            for task in ("task1", "task2"):
                for label in sorted(set((data / name / f"{task}.labels").read_text().split())):
                    link(top / name, task, label,
                         [top / "raw" / f"20news-bydate-{part}" / label for part in ("train", "test")])
            for words in ("english", str(stopwords)):
                wrong += check(library, data, name, top / name, ["task1", "task2"], words, keep_subject=True)
    for line in wrong:
        print("FAILED:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
