"""What the page of one column shows, as the variables of its template."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from perceptron_nlp import Evaluation
from perceptron_nlp._display import between, counted, percent, points
from perceptron_nlp.analysis.report.charts import Chart, Grid, epoch_rows
from perceptron_nlp.analysis.report.figures import (
    SHOWN_TOKENS,
    Change,
    ColumnFigures,
    Occurrence,
    WorstSentence,
    changes,
)
from perceptron_nlp.tagger.explain.render import word_view
from perceptron_nlp.tagger.label_scores import LabelScore

_LABELS, _FEW_LABELS, _MAX_LABELS = 25, 12, 1000
_ERRORS = 20
# Of pairs that are not among the most frequent errors.
_FEW_TOKENS = 5
_MAX_WORDS = 100
_MAX_EPOCHS = 400
Pairs = list[tuple[str, str]]


def column_view(
    figures: ColumnFigures, grid: Grid | None, charts: Sequence[Chart], has_paths: bool
) -> dict[str, Any]:
    """Return the variables of the template for one column."""
    result = figures.evaluation
    of_features = bool(result.features)
    labels = sorted(result.labels.items(), key=lambda item: (-item[1].support, item[0]))
    n_shown = len(labels) if len(labels) <= _LABELS else _FEW_LABELS
    if of_features:
        # Rows of features say more; those of whole sets can be opened.
        n_shown = 0
    kinds = _error_kinds(result, of_features=of_features)
    n_wrong = result.tokens - result.correct
    sheets = _sheets(figures, kinds, grid, has_paths)
    errors = [
        {**sheet, "share": sheet["count"] / n_wrong} for sheet in sheets[: len(kinds[:_ERRORS])]
    ]
    view = {
        "name": result.column,
        "evaluation": result,
        "tiles": list(_tiles(figures)),
        "remarks": list(_remarks(figures)),
        "untrained": result.untrained.most_common(_MAX_LABELS),
        "charts": [
            {"name": chart.name, "title": chart.title, "inlined": chart.inlined("chart")}
            for chart in charts
            if chart.name != "confusion"
        ],
        "epochs": epoch_rows(figures)[:_MAX_EPOCHS],
        "by_length": figures.by_length,
        "has_features": of_features,
        "errors": errors,
        "n_errors": len(kinds),
        "sheets": sheets,
        "opened": {pair: sheet["id"] for sheet in sheets for pair in sheet["pairs"]},
        "grid": grid,
        "features": sorted(result.features.items(), key=lambda item: -item[1].support),
        "labels": labels[:n_shown],
        "more_labels": labels[n_shown : n_shown + _MAX_LABELS],
        "labels_left": max(0, len(labels) - n_shown - _MAX_LABELS),
        "spans": _spans(result),
        "worst": [_sentence(found, has_paths, of_features) for found in figures.worst],
    }
    names = {
        "summary": "Summary",
        "errors": "Errors",
        "labels": "Features" if of_features else "Labels",
        "matrix": "Matrix",
        "spans": "Spans",
        "sentences": "Sentences",
    }
    there = {"matrix": grid is not None, "spans": bool(view["spans"])}
    view["contents"] = [(id, name) for id, name in names.items() if there.get(id, True)]
    return view


def _error_kinds(
    result: Evaluation, *, of_features: bool
) -> list[tuple[tuple[Change, ...], int, Pairs]]:
    """Return the kinds of errors, the most frequent first: change, tokens, pairs of labels."""
    tokens: Counter[tuple[Change, ...]] = Counter()
    pairs: defaultdict[tuple[Change, ...], Pairs] = defaultdict(list)
    for (gold, predicted), count in result.confusion.items():
        if gold != predicted and count:
            kind = changes(gold, predicted, of_features=of_features)
            tokens[kind] += count
            pairs[kind].append((gold, predicted))
    order = sorted(tokens, key=lambda kind: (-tokens[kind], kind))
    return [(kind, tokens[kind], pairs[kind]) for kind in order]


def _sheets(
    figures: ColumnFigures,
    kinds: list[tuple[tuple[Change, ...], int, Pairs]],
    grid: Grid | None,
    has_paths: bool,
) -> list[dict[str, Any]]:
    """Return the lists of tokens that numbers open: of frequent errors, then of other cells."""
    found: list[tuple[tuple[Change, ...], int, Pairs]] = kinds if grid else kinds[:_ERRORS]
    if grid is not None:
        confusion = figures.evaluation.confusion
        found = [*found, *(((), confusion[x, x], [(x, x)]) for x in grid.names if confusion[x, x])]
    return [
        {
            "id": f"tokens-{number}",
            "change": change,
            "label": pairs[0][0],
            "count": count,
            "pairs": pairs,
            **_lines(
                (one for pair in pairs for one in figures.occurrences[pair]),
                count,
                SHOWN_TOKENS if number < _ERRORS and change else _FEW_TOKENS,
                is_wrong=bool(change),
                has_paths=has_paths,
            ),
        }
        for number, (change, count, pairs) in enumerate(found)
    ]


def _lines(
    tokens: Iterable[Occurrence], count: int, limit: int, *, is_wrong: bool, has_paths: bool
) -> dict[str, Any]:
    sign = -1 if is_wrong else 1
    shown = sorted(tokens, key=lambda one: sign * (one.confidence or 0.0))[:limit]
    is_ranked = any(one.confidence is not None for one in shown)
    note = f"; {len(shown)} of them" if len(shown) < count else ""
    if is_ranked and len(shown) > 1:
        note += f", the {'highest' if is_wrong else 'lowest'} confidence first"
    return {
        "note": note,
        "lines": [
            {
                "before": " ".join(one.before),
                "token": one.token,
                "after": " ".join(one.after),
                "place": _place(one.path, one.line, has_paths),
                "detail": "" if one.confidence is None else percent(one.confidence, 1),
            }
            for one in shown
        ],
    }


def _place(path: str, line: int, has_paths: bool) -> str:
    """Return a place, short: the line, and the name of the file if there are several."""
    if not line:
        return path
    return f"{os.path.basename(path)}:{line}" if has_paths else f"line {line:,}"


def _tiles(figures: ColumnFigures) -> Iterator[tuple[str, str, list[str]]]:
    """The figures to see first: name, figure, notes."""
    result = figures.evaluation
    if result.spans is not None:
        bounds = figures.f1_interval
        note = [] if bounds is None else [f"{points(bounds[0])} to {points(bounds[1])}"]
        yield "F1 of spans", points(result.spans.f1), note
    for name, part in (
        ("accuracy", figures.accuracy),
        ("known words", figures.known),
        ("unknown words", figures.unknown),
    ):
        note = [] if part.interval is None else [between(part.interval)]
        yield name, percent(part.accuracy), [*note, counted(part.tokens, "token")]
    sentences = counted(result.sentences, "sentence")
    yield "sentences correct", percent(result.sentence_accuracy), [f"of {sentences}"]
    if result.calibration is not None:
        yield "calibration error", f"{result.calibration.ece:.4f}", ["0 is best"]
    speed = f"{figures.tokens_per_second:,.0f}"
    yield "tokens per second", speed, [f"in this run, {counted(figures.threads, 'thread')}"]


def _remarks(figures: ColumnFigures) -> Iterator[str]:
    """Remarks on the text, and on charts that are missing."""
    result = figures.evaluation
    if result.unlabeled:
        yield f"{counted(result.unlabeled, 'token')} without a gold label left out."
    if result.untrained:
        yield (
            f"{counted(result.untrained.total(), 'token')} with labels that were never trained, so"
            " that none can be correct."
        )
    if result.labeled:
        yield f"Whose labels: {result.labeled}."
    if not figures.epochs:
        yield "No learning curve: the model's record has no epochs."
    if result.calibration is None:
        yield "No confidences: the model is not calibrated (perceptron-nlp calibrate)."


def _spans(result: Evaluation) -> list[tuple[str, LabelScore]]:
    """Scores of all spans, and of each type."""
    if result.spans is None:
        return []
    return [("all", result.spans.total), *result.spans.by_type.items()]


def _sentence(found: WorstSentence, has_paths: bool, of_features: bool) -> dict[str, Any]:
    views = dict(zip(found.wrong, found.why, strict=False))
    return {
        "place": _place(found.path, found.line, has_paths),
        "words": found.words,
        "wrong": found.wrong,
        "shown": [
            {
                "form": form,
                "change": changes(predicted, gold or "", of_features=of_features)
                if i in found.wrong
                else (),
                "why": word_view(views[i], top=None) if i in views else None,
            }
            for i, (form, gold, predicted) in enumerate(
                zip(found.words[:_MAX_WORDS], found.gold, found.predicted, strict=False)
            )
        ],
        "is_cut": len(found.words) > _MAX_WORDS,
        "unexplained": len(found.wrong) - len(found.why),
    }
