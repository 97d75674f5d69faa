"""The accuracy of a tagger on one column, as the report that a page shows: figures and tables."""

from __future__ import annotations

import heapq
import math
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from perceptron_nlp import Evaluation, Sentence, Tagger
from perceptron_nlp._display import between, counted
from perceptron_nlp.analysis.figures import (
    EPOCHS,
    PARTS,
    Given,
    drawn_charts,
    epochs,
    interval_of,
    parts,
    speed,
)
from perceptron_nlp.analysis.significance import Gold, Interval, Labels, span_counts
from perceptron_nlp.pages.reports import Chart, Column, Figure, Link, Report, Table
from perceptron_nlp.tagger.explain.render import word_report
from perceptron_nlp.tagger.gold import judge, labels_note
from perceptron_nlp.tagger.sources import Source, gold_labels

MAX_LABELS = 20
_LABELS, _FEW_LABELS = 25, 6
_WORST, _FEW_WRONG, _EXPLAINED, _FEATURES = 5, 3, 6, 6
# Kinds of errors, and of each of them and of others tokens that are shown, with words around.
_ERRORS, _TOKENS, _FEW_TOKENS, _CONTEXT = 20, 15, 5, 10
_MAX_WORDS = 100
_KINDS = (
    Column("kind", label="gold → predicted"),
    *(Column("tokens", "count"), Column("share", "percent", "of errors, %")),
)
_SEEN = (Column("sentence"), Column("location"), Column("confidence", "percent"))
_WRONG = (
    *(Column("token"), Column("predicted"), Column("gold")),
    Column("margin", "weight", "margin"),
)
Pair = tuple[str, str]


class ColumnAccuracy(NamedTuple):
    """The accuracy on one column.

    evaluation : the labels against the gold ones
    figures : all figures of the page, which programs read
    sections : the page, which people read
    charts : all charts, those among them that the page has
    """

    evaluation: Evaluation
    figures: Report
    sections: Report
    charts: Sequence[Chart]


def column_accuracy(
    tagger: Tagger, source: Source, column: str, threads: int, found: Mapping[str, Given]
) -> ColumnAccuracy:
    """Compare labels of the sentences of a source that is held with the gold ones.

    `found` has the labels, see `labels_of`; how long they take is measured.
    """
    part = tagger.by_column.get(column) or tagger.by_column[tagger.column]
    predicted, sure = found[part.column]
    note = labels_note(tagger.columns, list(found))
    result = judge(
        part.model, source, column, lambda _: found[part.column], calibration=True, labeled=note
    )
    sentences = list(source)
    gold = [list(gold_labels(sentence, column)) for sentence in sentences]
    of_parts = parts(part, sentences, gold, predicted)
    f1 = None if result.spans is None else interval_of(span_counts(gold, predicted))
    whole = result.report()
    bounds = {one.name: one.interval for one in of_parts[:3]} | {"f1": f1}
    tiles = [_with_interval(figure, bounds) for figure in whole.figures]
    tables = {table.key: table for table in whole.tables}
    tables["epochs"] = Table("epochs", "accuracy in each epoch", EPOCHS, epochs(part))
    tables["lengths"] = Table(
        "lengths",
        "accuracy by length of sentence",
        PARTS,
        [one for one in of_parts[3:] if one.tokens],
    )
    named = len(source.corpora) > 1
    sheets = _Sheets(sentences, gold, predicted, sure, has_paths=named)
    # The lists of kinds come first: they are longer, and cells of the matrix open them, too.
    kinds = sheets.kinds(result)
    matrix = _matrix(result, sheets)
    n_labels = len(tables["labels"].rows)
    for key in ("features", "labels"):
        if key in tables and (result.features or n_labels > _LABELS):
            tables[key] = replace(tables[key], limit=_FEW_LABELS)
    charts = drawn_charts(
        tables["epochs"], tables["lengths"], tables.get("calibration"), result.calibration, matrix
    )
    remarks = [f"{note[:1].upper()}{note[1:]}." for note in whole.notes]
    if not tables["epochs"].rows:
        remarks.append("No learning curve: the model's record has no epochs.")
    if result.calibration is None:
        remarks.append("No confidences: the model is not calibrated (perceptron-nlp calibrate).")
    measured = speed(part, sentences, threads)
    tiles.append(
        Figure(
            "tokens_per_second",
            measured["tokens_per_second"],
            "count",
            note=f"in this run, {counted(threads, 'thread')}, no word seen before",
        )
    )
    scores = [
        replace(tables[key], title=f"tokens by {key[:-1]}, percent")
        for key in ("features", "labels")
        if key in tables
    ]
    sections = [
        Report(
            "Summary",
            tiles,
            notes=remarks,
            charts=[chart for chart in charts if chart.key != "confusion"],
            key="summary",
        ),
        Report("Most frequent errors", tables=[kinds], key="errors"),
        Report("By label", tables=scores, key="labels"),
    ]
    if matrix is not None:
        sections.append(Report("Gold and predicted labels", tables=[matrix], key="matrix"))
    if result.spans is not None:
        spans = replace(
            tables["spans"], title="spans by type, percent; correct if type and both ends are"
        )
        sections.append(Report("Spans", tables=[spans], key="spans"))
    worst, reasons = _worst(part, sentences, gold, predicted, has_paths=named)
    sections += [worst, *sheets.reports, *reasons]
    data = {
        "accuracy_interval": of_parts[0].interval,
        "f1_interval": f1,
        "known": of_parts[1]._asdict(),
        "unknown": of_parts[2]._asdict(),
        "confusion": [[*pair, count] for pair, count in sorted(result.confusion.items())],
        "speed": measured,
    }
    figures = [*whole.figures, *(Figure(key, value, "data") for key, value in data.items())]
    further = [tables["epochs"], tables["lengths"]]
    return ColumnAccuracy(
        result,
        replace(whole, figures=figures, tables=[*whole.tables, *further]),
        Report(result.column, sections=sections),
        charts,
    )


def _with_interval(figure: Figure, bounds: Mapping[str, Interval | None]) -> Figure:
    found = bounds.get(figure.key)
    if found is None:
        return figure
    return figure._replace(note="; ".join(filter(None, [between(found), figure.note])))


def changed(gold: str, predicted: str, *, of_features: bool) -> str:
    """Return what differs between two labels: of sets of features, each feature that does."""
    before, after = (
        dict(piece.split("=", 1) for piece in label.split("|") if "=" in piece)
        for label in (gold, predicted)
    )
    differing = [
        f"{name}: {before.get(name, '–')} → {after.get(name, '–')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return ", ".join(differing) if of_features and differing else f"{gold} → {predicted}"


class _Sheets:
    """The lists of tokens that numbers open; of errors those of the highest confidence first."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        gold: Gold,
        predicted: Labels,
        sure: list[list[float | None]] | None,
        *,
        has_paths: bool,
    ) -> None:
        self.reports: list[Report] = []
        self._sentences = sentences
        self._sure = sure
        self._has_paths = has_paths
        self._keys: dict[Pair, str] = {}
        self._tokens: defaultdict[Pair, list[tuple[float, int, int]]] = defaultdict(list)
        for k, rows in enumerate(zip(gold, predicted, strict=True)):
            for i, (truth, label) in enumerate(zip(*rows, strict=True)):
                if truth is not None:
                    confidence = (sure[k][i] if sure is not None else None) or 0.0
                    rank = confidence if truth == label else -confidence
                    self._tokens[truth, label].append((rank, k, i))

    def kinds(self, result: Evaluation) -> Table:
        """Return the kinds of errors, the most frequent first, each with its tokens."""
        pairs: defaultdict[str, list[Pair]] = defaultdict(list)
        counts: Counter[str] = Counter()
        for (gold, predicted), count in sorted(result.confusion.items()):
            if gold != predicted and count:
                kind = changed(gold, predicted, of_features=bool(result.features))
                counts[kind] += count
                pairs[kind].append((gold, predicted))
        rows = []
        for kind in sorted(counts, key=lambda kind: (-counts[kind], kind))[:_ERRORS]:
            link = Link(counts[kind], self._sheet(kind, pairs[kind], _TOKENS))
            rows.append((kind, link, counts[kind] / (result.tokens - result.correct)))
        title = f"the most frequent first, of {counted(len(counts), 'kind')}"
        title += "; a number opens its sentences"
        return Table("kinds", title, _KINDS, rows, _ERRORS // 2)

    def of(self, gold: str, predicted: str) -> str:
        """Return the key of the tokens of a pair of labels."""
        name = f"{gold}, correct" if gold == predicted else f"{gold} → {predicted}"
        pair = gold, predicted
        return self._keys.get(pair) or self._sheet(name, [pair], _FEW_TOKENS)

    def _sheet(self, name: str, pairs: Sequence[Pair], limit: int) -> str:
        key = f"tokens-{len(self.reports)}"
        self._keys |= dict.fromkeys(pairs, key)
        tokens = [token for pair in pairs for token in self._tokens[pair]]
        rows = []
        for _, k, i in heapq.nsmallest(limit, tokens):
            sentence, words = self._sentences[k], self._sentences[k].words
            around = [*words[max(0, i - _CONTEXT) : i], f"[{words[i]}]"]
            around += words[i + 1 : i + 1 + _CONTEXT]
            confidence = None if self._sure is None else self._sure[k][i]
            place = _place(sentence, i, has_paths=self._has_paths)
            rows.append((" ".join(around), place, confidence))
        title = f"{name}: {counted(len(tokens), 'token')}"
        about = f"{len(rows)} of them" if len(rows) < len(tokens) else "sentences"
        if len(rows) > 1 and any(row[-1] is not None for row in rows):
            highest = "lowest" if pairs[0][0] == pairs[0][1] else "highest"
            about += f", the {highest} confidence first"
        table = Table("tokens", about, _SEEN, rows)
        self.reports.append(Report(title, tables=[table], key=key, is_sheet=True))
        return key


def _place(sentence: Sentence, index: int, *, has_paths: bool) -> str:
    """Return a place, short: the line, and the name of the file if there are several."""
    line = sentence.line_of(index)
    if not line:
        return sentence.path
    return f"{os.path.basename(sentence.path)}:{line}" if has_paths else f"line {line:,}"


def _matrix(result: Evaluation, sheets: _Sheets) -> Table | None:
    """Return the confusion matrix; None where there are more labels than fit on a page."""
    pairs = result.confusion
    names = sorted({label for pair in pairs for label in pair})
    if not 1 < len(names) <= MAX_LABELS:
        return None
    largest = max((count for (a, b), count in pairs.items() if a != b), default=0)
    rows = []
    for gold in names:
        total = sum(pairs[gold, label] for label in names)
        row: list[Any] = []
        for label in names:
            count = pairs[gold, label]
            fill = count / total if gold == label and count else -math.sqrt(count / (largest or 1))
            row.append(Link(count, sheets.of(gold, label), fill) if count else 0)
        rows.append((gold, *row))
    title = (
        "tokens by gold label (rows) and predicted label (columns); outlined squares are correct;"
        " a number opens its sentences"
    )
    columns = [Column("gold", label=""), *(Column(name, "count", name) for name in names)]
    return Table("matrix", title, columns, rows)


def _worst(
    tagger: Tagger, sentences: Sequence[Sentence], gold: Gold, predicted: Labels, *, has_paths: bool
) -> tuple[Report, list[Report]]:
    """The sentences with the most wrong tokens; of equals the shorter ones, then the first.

    Returned with the explanations of wrong tokens, which numbers in them open.
    """
    wrong = [
        [i for i, (a, b) in enumerate(zip(*rows, strict=True)) if a is not None and a != b]
        for rows in zip(gold, predicted, strict=True)
    ]
    order = sorted(
        (i for i, places in enumerate(wrong) if places),
        key=lambda i: (-len(wrong[i]), len(gold[i]), i),
    )[:_WORST]
    inputs, window = tagger.model.inputs(sentences), tagger.window
    shown: list[Report] = []
    reasons: list[Report] = []
    for i in order:
        explained = tagger.explain(
            inputs[i],
            before=inputs[max(0, i - window) : i],
            after=inputs[i + 1 : i + 1 + window],
            against=gold[i],
            top=_FEATURES,
        )
        rows: list[tuple[Any, ...]] = []
        for number, at in enumerate(wrong[i]):
            word, margin = explained[at], None
            # On labels that the column has by itself; with others it may have agreed on another.
            if word.label == predicted[i][at] and number < _EXPLAINED:
                key = f"why-{len(reasons)}"
                reasons.append(replace(word_report(word, None), key=key, is_sheet=True))
                margin = Link(word.margin, key)
            rows.append((word.word, predicted[i][at], gold[i][at], margin))
        words = sentences[i].words
        more = [" ".join(words[:_MAX_WORDS]) + " …" * (len(words) > _MAX_WORDS)]
        n_left = sum(row[-1] is None for row in rows)
        if n_left:
            more.append(f"{counted(n_left, 'more wrong token')} not explained.")
        place = _place(sentences[i], 0, has_paths=has_paths)
        title = f"{place} · {len(rows):,} of {counted(len(words), 'token')} wrong"
        table = Table("wrong", "wrong tokens", _WRONG, rows, _FEW_WRONG)
        shown.append(Report(title, tables=[table], notes=more))
    about = "Every token is correct."
    if shown:
        about = (
            "A margin opens what the features of its word add to it: + speaks for the predicted"
            " label, - for the gold one."
        )
    title = "Sentences with the most errors"
    return Report(title, notes=[about], sections=shown, key="sentences"), reasons
