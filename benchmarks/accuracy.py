"""How right the presets are: every row of the table of docs/accuracy.md, as Markdown.

Each figure is the mean over seeds (5 for fast and default, 3 for accurate) of the share of the
test words labelled right, in percent; for spans, of F1. Models are trained on the training part
alone, with nothing given but the preset: nothing is chosen on dev or test. With raw text, the text
of rawtext.py is given besides. Chunking is trained on the whole training text. The distilled
taggers are taught by two of the preset ``accurate`` with the same raw text; seconds are those of
the student. Arguments are parts of row names; without any, all rows are done. With ``--seeds N``
there are no more than N seeds to a figure.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from corpora import TREEBANKS, corpora, treebank
from rawtext import raw_sentences

import perceptron_nlp as pn

SEEDS = {"fast": range(1, 6), "default": range(1, 6), "accurate": range(1, 4)}
DISTILLED = "EWT UPOS, distilled with raw text"
# Seed and direction of each: readers from either end err in other places.
TEACHERS = ((1, True), (11, False))
COLUMNS = {"EWT": ("upos", "xpos", "feats")}


@dataclass(frozen=True, slots=True)
class Row:
    """One data set and column."""

    name: str
    column: str
    train: str
    test: str
    fields: tuple[str, ...] | None = None
    raw: bool = False


def rows() -> Iterator[Row]:
    """All rows, in the order of the table."""
    for name in TREEBANKS:
        for column in COLUMNS.get(name, ("upos", "feats")):
            yield Row(
                f"{name} {column.upper()}", column, treebank(name, "train"), treebank(name, "test")
            )
    yield Row(
        "EWT UPOS with raw text",
        "upos",
        treebank("EWT", "train"),
        treebank("EWT", "test"),
        raw=True,
    )
    chunks, names = corpora() / "corpora/conll2000", corpora() / "corpora/conll2002"
    yield Row(
        "CoNLL-2000 chunks F1",
        "chunk",
        str(chunks / "train.txt"),
        str(chunks / "test.txt"),
        ("form", "xpos", "chunk"),
    )
    yield Row(
        "CoNLL-2002 Spanish F1",
        "ner",
        str(names / "esp.train"),
        str(names / "esp.testb"),
        ("form", "xpos", "ner"),
    )


def measure(row: Row, preset: str, seeds: int) -> str:
    """A cell of the table: the mean over the seeds, and the CPU seconds of one training."""
    scores, seconds = [], []
    raw = list(raw_sentences()) if row.raw else None
    for seed in SEEDS[preset][:seeds]:
        start = time.process_time()
        tagger = pn.train(
            row.train, column=row.column, fields=row.fields, preset=preset, seed=seed, raw=raw
        )
        seconds.append(time.process_time() - start)
        result = tagger.evaluate(row.test, column=row.column, fields=row.fields)
        scores.append(result.accuracy if result.spans is None else result.spans.f1)
    return cell(scores, seconds)


def measure_distilled(seeds: int) -> list[str]:
    """The cells of the row DISTILLED."""
    train, test = treebank("EWT", "train"), treebank("EWT", "test")
    raw = list(raw_sentences())
    teachers = [
        pn.train(train, preset="accurate", seed=seed, right_to_left=backwards, raw=raw)
        for seed, backwards in TEACHERS
    ]
    cells = []
    for preset in ("fast", "default"):
        scores, seconds = [], []
        for seed in SEEDS[preset][:seeds]:
            start = time.process_time()
            student = pn.distill(teachers, raw=raw, train=train, preset=preset, seed=seed)
            seconds.append(time.process_time() - start)
            scores.append(student.evaluate(test).accuracy)
        cells.append(cell(scores, seconds))
    return [*cells, "–"]


def cell(scores: list[float], seconds: list[float]) -> str:
    """The mean of the scores in percent, and the median of the seconds."""
    return f"{100 * statistics.mean(scores):.2f} ({statistics.median(seconds):.1f} s)"


def main() -> None:
    """Print the table, a row as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    chosen = parser.parse_args()
    wanted = [piece.lower() for piece in chosen.rows]
    print("| test | " + " | ".join(SEEDS) + " |")
    print("|---" * (len(SEEDS) + 1) + "|", flush=True)
    for row in rows():
        if not wanted or any(piece in row.name.lower() for piece in wanted):
            cells = [measure(row, preset, chosen.seeds) for preset in SEEDS]
            print(f"| {row.name} | " + " | ".join(cells) + " |", flush=True)
    if not wanted or any(piece in DISTILLED.lower() for piece in wanted):
        print(f"| {DISTILLED} | " + " | ".join(measure_distilled(chosen.seeds)) + " |", flush=True)


if __name__ == "__main__":
    main()
