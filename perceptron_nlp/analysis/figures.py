"""The figures of a report on accuracy by parts of the text, and its charts, drawn from tables."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptron_nlp import Sentence, Tagger
from perceptron_nlp._display import percent, printable, shortened
from perceptron_nlp.analysis.significance import (
    Counts,
    Gold,
    Interval,
    Labels,
    interval,
    resampled,
    word_counts,
)
from perceptron_nlp.pages.drawing import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    figure,
    percent_axis,
    png,
    styled,
    svg,
)
from perceptron_nlp.pages.reports import Chart, Column, Link, Table
from perceptron_nlp.probability import Reliability
from perceptron_nlp.tagger.sources import Source

# Of fewer sentences, samples say little.
FEWEST = 10
_LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, None))
PARTS = (
    Column("name", label="tokens in the sentence"),
    *(Column("tokens", "count"), Column("correct", "count"), Column("accuracy", "percent")),
    Column("interval", "interval", "95 % interval"),
)
EPOCHS = (
    *(Column("run", "count"), Column("epoch", "count")),
    *(Column("train", "percent", "training text"), Column("dev", "percent", "dev set")),
)
_LONGEST_NAME = 18
_MAX_TICKS = 8
_SIZE = (4.7, 3.2)
_SERIES = (
    (2, "training text", {"color": VERMILION, "marker": "s", "linestyle": "--"}),
    (3, "dev set", {"color": BLUE, "marker": "o"}),
)


Given = tuple[list[list[str]], list[list[float | None]] | None]
"""The labels of a column, and the confidences in them, as far as there are any."""


class Part(NamedTuple):
    """The accuracy on a part: tokens with a gold label, and those of them that are correct.

    ``interval`` is the middle 95 % of resampled accuracies; None if there are too few sentences.
    """

    name: str
    tokens: int
    correct: int
    accuracy: float | None
    interval: Interval | None


def labels_of(
    tagger: Tagger, source: Source, columns: Sequence[str], threads: int
) -> dict[str, Given]:
    """Return the labels of columns that are tagged together, by the tagger's names of them.

    Where some of the columns are not calibrated, a label of the others has a confidence unless they
    changed it.
    """
    names = [name for name in columns if name in tagger.columns] or [tagger.column]
    labels = tagger.tag_sents(source, threads=threads, columns=names)
    found: dict[str, Given] = {name: (own, None) for name, own in labels.items()}
    calibrated = [name for name in names if tagger.by_column[name].is_calibrated]
    if calibrated:
        sure = tagger.tag_sents(source, threads=threads, columns=calibrated, confidences=True)
        for name, (alone, chances) in sure.items():
            rows = [
                [x if a == b else None for a, b, x in zip(*own, strict=True)]
                for own in zip(labels[name], alone, chances, strict=True)
            ]
            found[name] = labels[name], rows
    return found


def speed(tagger: Tagger, sentences: Sequence[Sentence], threads: int) -> dict[str, Any]:
    """Measure tagging by a tagger that has seen none of the words; its tables are made before."""
    fresh = Tagger(tagger.model)
    fresh.tag_sents([Sentence([], {name: [] for name in fresh.feature_columns})], threads=threads)
    start = time.perf_counter()
    fresh.tag_sents(sentences, threads=threads)
    seconds = time.perf_counter() - start
    tokens = sum(map(len, sentences))
    return {
        "tokens_per_second": tokens / seconds,
        "tokens": tokens,
        "seconds": seconds,
        "threads": threads,
    }


def epochs(tagger: Tagger) -> list[tuple[Any, ...]]:
    """Return run, epoch, and the accuracies on train and dev (or None) of each epoch."""
    record = tagger.model.record
    train = record.get("train")
    tokens = train.get("labeled") if isinstance(train, dict) else None
    rows = []
    for epoch in record.get("epochs") or []:
        errors = epoch.get("mistakes")
        accuracy = 1 - errors / tokens if tokens and errors is not None else None
        rows.append((epoch.get("run", 1), epoch.get("epoch"), accuracy, epoch.get("dev_accuracy")))
    return rows


def parts(
    tagger: Tagger, sentences: Sequence[Sentence], gold: Gold, predicted: Labels
) -> list[Part]:
    """Return all tokens, known and unknown ones, and those in sentences of each length."""
    known = [tagger.model.known(sentence.words) for sentence in sentences]
    chosen: dict[str, Gold] = {"accuracy": gold}
    for name, wanted in (("known_accuracy", True), ("unknown_accuracy", False)):
        chosen[name] = [
            [label if seen == wanted else None for label, seen in zip(row, marks, strict=True)]
            for row, marks in zip(gold, known, strict=True)
        ]
    for low, high in _LENGTHS:
        name = f"{low}+" if high is None else f"{low}–{high}"
        chosen[name] = [
            row if low <= len(row) <= (high or len(row)) else [None] * len(row) for row in gold
        ]
    found = []
    for name, labels in chosen.items():
        count = word_counts(labels, predicted)
        tokens, right = int(count.gold.sum()), int(count.right.sum())
        found.append(
            Part(name, tokens, right, right / tokens if tokens else None, interval_of(count))
        )
    return found


def interval_of(counts: Counts) -> Interval | None:
    """The percentile interval of the bootstrap over the sentences that count for something."""
    some = counts.gold + counts.given > 0
    if int(some.sum()) < FEWEST:
        return None
    return interval(
        resampled([Counts(counts.gold[some], counts.given[some], counts.right[some])])[0]
    )


def drawn_charts(
    epochs: Table,
    lengths: Table,
    bins: Table | None,
    reliability: Reliability | None,
    matrix: Table | None,
) -> list[Chart]:
    """Draw what there are figures for: learning, lengths, calibration, confusion."""

    def drawings() -> Iterator[tuple[str, str, tuple[Any, str], Table | None]]:
        if any(row[2] is not None or row[3] is not None for row in epochs.rows):
            yield "learning", "Learning curve", _learning(epochs), epochs
        yield "lengths", "By length of sentence", _lengths(lengths), lengths
        if reliability is not None:
            yield "calibration", "Reliability of confidences", _calibration(reliability), bins
        if matrix is not None:
            yield "confusion", "Gold and predicted labels", _confusion(matrix), matrix

    with styled():
        return [
            Chart(key, title, alt, svg(drawn), png(drawn), table)
            for key, title, (drawn, alt), table in drawings()
        ]


def _learning(epochs: Table) -> tuple[Any, str]:
    """Accuracy in each epoch of training, and on dev; runs differ by chance alone."""
    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    runs: dict[Any, list[Any]] = defaultdict(list)
    for row in epochs.rows:
        runs[row[0]].append(row)
    said = []
    for place, name, style in _SERIES:
        label: str | None = name
        for rows in runs.values():
            points = [(row[1], row[place]) for row in rows if row[place] is not None]
            if not points:
                continue
            axes.plot(*zip(*points, strict=True), label=label, **style)
            if label:
                first, last = (percent(points[at][1]) for at in (0, -1))
                said.append(f"{name}: {first} after epoch 1, {last} at the end")
            label = None
    n_epochs = max(int(row[1]) for row in epochs.rows)
    axes.set_xticks(range(1, n_epochs + 1, max(1, -(-n_epochs // _MAX_TICKS))))
    axes.set(xlabel="epoch", ylabel="accuracy")
    _fit(axes)
    drawn.legend(loc="outside lower center", ncols=2)
    return drawn, f"Accuracy over the epochs of training. {'; '.join(said)}."


def _lengths(lengths: Table) -> tuple[Any, str]:
    """Accuracy by the length of the sentence."""
    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    names = [name for name, *_ in lengths.rows]
    for place, (*_, accuracy, bounds) in enumerate(lengths.rows):
        ends = None if bounds is None else [[accuracy - bounds[0]], [bounds[1] - accuracy]]
        axes.errorbar([place], [accuracy], ends, color=BLUE, marker="o", capsize=4)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set(xlabel="tokens in the sentence", ylabel="accuracy, 95 % interval")
    _fit(axes)
    named = ", ".join(f"{row[0]} tokens {percent(row[3])}" for row in lengths.rows)
    return drawn, f"Accuracy by length of sentence: {named}."


def _calibration(found: Reliability) -> tuple[Any, str]:
    """Mean confidences against accuracies."""
    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    bins = [part for part in found.bins if part.accuracy is not None]
    axes.bar(
        [(part.low + part.high) / 2 for part in bins],
        [part.accuracy for part in bins],
        [part.high - part.low for part in bins],
        color=BLUE,
        alpha=0.3,
        label="accuracy",
    )
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="equal")
    axes.plot(
        [part.confidence for part in bins],
        [part.accuracy for part in bins],
        color=VERMILION,
        marker="s",
        linestyle="",
        label="mean confidence",
    )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy")
    percent_axis(axes.xaxis, 0)
    percent_axis(axes.yaxis, 0)
    drawn.legend(loc="outside lower center", ncols=3, columnspacing=1.2, handletextpad=0.5)
    return drawn, f"Accuracy over confidence, in 15 bins; calibration error {found.ece:.4f}."


def _confusion(matrix: Table) -> tuple[Any, str]:
    """The matrix as squares with counts."""
    names = [shortened(printable(gold), _LONGEST_NAME) for gold, *_ in matrix.rows]
    n = len(names)
    drawn = figure(2.6 + 0.42 * n, 2.2 + 0.42 * n)
    axes = drawn.subplots()
    axes.grid(visible=False)
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    wrong = 0
    for i, (_, *cells) in enumerate(matrix.rows):
        for j, cell in enumerate(cells):
            if not isinstance(cell, Link):
                continue
            wrong += cell.value if i != j else 0
            color = BLUE if i == j else VERMILION
            square = np.array([[j, i], [j + 1, i], [j + 1, i + 1], [j, i + 1]]) - 0.5
            axes.fill(*square.T, color=color, alpha=0.75 * abs(cell.fill or 0), linewidth=0)
            text = str(cell.value) if cell.value < 10_000 else f"{cell.value // 1000}k"
            axes.text(j, i, text, ha="center", va="center", fontsize=8, color=BLACK)
    axes.set_xticks(range(n), names, rotation=90)
    axes.set_yticks(range(n), names)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set(xlabel="predicted", ylabel="gold")
    return drawn, (
        f"Matrix of {n} labels, gold ones down, predicted ones across; {wrong:,} tokens off the"
        " diagonal are wrong. The page has it as a table."
    )


def _fit(axes: Any) -> None:
    """Let the axis of accuracies show one hundredth at least, and nothing beyond 0 and 1."""
    low, high = axes.get_ylim()
    if high - low < 0.01:
        low, high = (low + high) / 2 - 0.005, (low + high) / 2 + 0.005
    room = 0.02 * (high - low)
    axes.set_ylim(max(-room, low), min(1 + room, high))
    percent_axis(axes.yaxis)
