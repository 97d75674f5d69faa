"""Test accuracy of the presets: a row for each data set, column and preset, as Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/accuracy.py [ROW...] [--presets NAME...]
        [--seeds N] [--learn-dev] [--record]

Each figure is the mean over seeds (5 for fast and default, 3 for accurate, no more than N) of the
percentage of test tokens labeled correctly; for spans, of F1. Beside it stand the least and the
greatest of the seeds, and the figure in accuracy.json, which --record replaces. EWT is learned from
train alone, the small treebanks from train while dev chooses the epoch, and those without a train
part here from dev. With --learn-dev, train and dev are learned together in the end. With raw text,
the text of rawtext.py is given in addition. Chunking and names learn from the whole training text.
The distilled taggers are taught by two of the preset ``accurate`` with the same raw text; their
seconds are the student's.
Arguments are parts of row names; without any, all rows are measured. The last rows are means over
the small treebanks, all but EWT.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora import DEV_ALONE, TREEBANKS, corpora, treebank
from rawtext import raw_sentences

import perceptron_nlp as pn

RECORDED = Path(__file__).with_suffix(".json")
SEEDS = {"fast": range(1, 6), "default": range(1, 6), "accurate": range(1, 4)}
DISTILLED = "EWT UPOS, distilled with raw text"
# Seed and direction of each: readers from either end err in other places.
TEACHERS = ((1, True), (11, False))
COLUMNS = {
    "EWT": ("upos", "xpos", "feats"),
    # All their features are "_", or nearly all.
    "Chinese-GSDSimp": ("upos",),
    "Japanese-GSD": ("upos",),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One data set and column."""

    name: str
    column: str
    train: str
    test: str
    dev: str | None = None
    fields: tuple[str, ...] | None = None
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """Test accuracy of each seed in percent, and the CPU seconds of each training."""

    scores: list[float]
    seconds: list[float]


def rows() -> Iterator[Row]:
    """All rows, in the order of the table."""
    for name in (*TREEBANKS, *DEV_ALONE):
        alone = name in DEV_ALONE
        train, test = treebank(name, "dev" if alone else "train"), treebank(name, "test")
        for column in COLUMNS.get(name, ("upos", "feats")):
            dev = None if alone or name == "EWT" else treebank(name, "dev")
            yield Row(f"{name} {column.upper()}", column, train, test, dev)
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
        fields=("form", "xpos", "chunk"),
    )
    yield Row(
        "CoNLL-2002 Spanish F1",
        "ner",
        str(names / "esp.train"),
        str(names / "esp.testb"),
        fields=("form", "xpos", "ner"),
    )


def measure(row: Row, preset: str, seeds: int, learn_dev: bool) -> Figure:
    """Train and test with each seed."""
    figure = Figure([], [])
    raw = list(raw_sentences()) if row.raw else None
    for seed in SEEDS[preset][:seeds]:
        start = time.process_time()
        tagger = pn.train(
            row.train,
            dev=row.dev,
            column=row.column,
            fields=row.fields,
            preset=preset,
            seed=seed,
            raw=raw,
            learn_dev=learn_dev,
        )
        figure.seconds.append(time.process_time() - start)
        result = tagger.evaluate(row.test, column=row.column, fields=row.fields)
        figure.scores.append(100 * (result.accuracy if result.spans is None else result.spans.f1))
    return figure


def measure_distilled(preset: str, seeds: int) -> Figure:
    """The figure of the row DISTILLED."""
    train, test = treebank("EWT", "train"), treebank("EWT", "test")
    raw = list(raw_sentences())
    teachers = [
        pn.train(train, preset="accurate", seed=seed, right_to_left=backwards, raw=raw)
        for seed, backwards in TEACHERS
    ]
    figure = Figure([], [])
    for seed in SEEDS[preset][:seeds]:
        start = time.process_time()
        student = pn.distill(teachers, raw=raw, train=train, preset=preset, seed=seed)
        figure.seconds.append(time.process_time() - start)
        figure.scores.append(100 * student.evaluate(test).accuracy)
    return figure


class Table:
    """The printed table, and the figures recorded before."""

    def __init__(self) -> None:
        self._before: dict[str, float] = json.loads(RECORDED.read_text(encoding="utf-8"))
        self._measured: dict[str, float] = {}
        print("| test | preset | seeds | accuracy | least–greatest | recorded | CPU s |")
        print("|---|---|--:|--:|--:|--:|--:|", flush=True)

    def add(self, name: str, preset: str, figure: Figure) -> None:
        """Print a row as soon as it is measured."""
        key, mean = f"{name}, {preset}", statistics.mean(figure.scores)
        self._measured[key] = round(mean, 2)
        before = f"{self._before[key]:.2f}" if key in self._before else "–"
        print(
            f"| {name} | {preset} | {len(figure.scores)} | {mean:.2f} |"
            f" {min(figure.scores):.2f}–{max(figure.scores):.2f} | {before} |"
            f" {statistics.median(figure.seconds):.1f} |",
            flush=True,
        )

    def add_mean(self, name: str, preset: str, figures: list[Figure]) -> None:
        """Print a row of the means, seed by seed, of other rows."""
        scores = [statistics.mean(seed) for seed in zip(*(f.scores for f in figures), strict=True)]
        seconds = sum(statistics.median(figure.seconds) for figure in figures)
        self.add(name, preset, Figure(scores, [seconds]))

    def record(self) -> None:
        """Write what was measured over what was recorded."""
        figures = {**self._before, **self._measured}
        RECORDED.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--presets", nargs="+", choices=SEEDS, default=list(SEEDS))
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--learn-dev", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args()
    wanted = [piece.lower() for piece in chosen.rows]

    def is_wanted(name: str) -> bool:
        return not wanted or any(piece in name.lower() for piece in wanted)

    table = Table()
    small: dict[tuple[str, str], list[Figure]] = {}
    for row in rows():
        if not is_wanted(row.name) or (chosen.learn_dev and row.dev is None):
            continue
        name = f"{row.name}, dev learned" if chosen.learn_dev else row.name
        for preset in chosen.presets:
            figure = measure(row, preset, chosen.seeds, chosen.learn_dev)
            table.add(name, preset, figure)
            if row.column in ("upos", "feats") and not row.name.startswith("EWT"):
                small.setdefault((row.column.upper(), preset), []).append(figure)
    for preset in ("fast", "default"):
        if preset in chosen.presets and is_wanted(DISTILLED) and not chosen.learn_dev:
            table.add(DISTILLED, preset, measure_distilled(preset, chosen.seeds))
    for (column, preset), figures in small.items():
        dev = ", dev learned" if chosen.learn_dev else ""
        table.add_mean(f"mean {column} of {len(figures)} small{dev}", preset, figures)
    if chosen.record:
        table.record()


if __name__ == "__main__":
    main()
