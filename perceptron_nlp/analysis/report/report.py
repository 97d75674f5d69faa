"""One page of HTML on the accuracy of a tagger, and its charts as files, in a folder.

The report's own files are replaced together, and no other file is touched.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perceptron_nlp import Evaluation, Tagger
from perceptron_nlp._checks import check_path
from perceptron_nlp._display import between, counted, percent, points
from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.compare.significance import RESAMPLES
from perceptron_nlp.analysis.report.charts import Chart, confusion_grid, draw_charts, epoch_rows
from perceptron_nlp.analysis.report.figures import (
    FEWEST,
    ColumnFigures,
    Part,
    WorstSentence,
    column_figures,
)
from perceptron_nlp.errors import ArgumentTypeError, FileError
from perceptron_nlp.formats.replace import TEMPORARY, replace_files
from perceptron_nlp.pages import environment, render
from perceptron_nlp.pages.drawing import plotting
from perceptron_nlp.tagger.explain.render import word_view
from perceptron_nlp.tagger.tag.threads import check_threads
from perceptron_nlp.tagger.train.sources import Labelled, Source

_LABELS, _MAX_LABELS = 40, 1000
_PAIRS = 20
_MAX_WORDS = 200
_MAX_EPOCHS = 400
_SHORT_LABEL = 24


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written.

    Attributes
    ----------
    page : the page, which needs nothing beside itself
    pictures : the charts as files, SVG and PNG
    evaluations : the figures of the page by column; with calibration where the model is calibrated
    """

    page: Path
    pictures: tuple[Path, ...]
    evaluations: dict[str, Evaluation]


def report(
    tagger: Tagger,
    data: Labelled,
    folder: str | os.PathLike[str],
    *,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int = 1,
    title: str = "Accuracy of the tagger",
) -> Report:
    """Compare a tagger's labels with gold ones, and write a page about it.

    Intervals are the middle 95 % of 1,000 bootstrap samples of sentences (see
    analysis/compare/significance.py). The page is the same on each run but for the speed, which is
    measured.

    Parameters
    ----------
    tagger : the tagger
    data : labeled text, as for ``Tagger.evaluate``
    folder : where ``index.html`` and the charts go; it is made if need be. One with an earlier
        report gets the new one in its place; one with other things in it is left alone
    column : as for ``Tagger.evaluate``; None for all that the tagger fills, each in a section
    format, fields : see ``perceptron_nlp.open_corpus``
    threads : 1 to 1,024 that tag
    title : the page's heading

    Raises
    ------
    FileError : the folder is a file, or holds other things than a report, or cannot be written
    FileError, FormatError, ArgumentError : as Tagger.evaluate does
    MissingExtraError : Jinja2 or matplotlib is not installed (extra ``report``)
    """
    if not isinstance(tagger, Tagger):
        raise ArgumentTypeError(f"tagger: a Tagger is needed, not {type(tagger).__name__}")
    if not isinstance(title, str):
        raise ArgumentTypeError(f"title: a str is needed, not {type(title).__name__}")
    check_threads(threads)
    environment()
    plotting()
    path = check_folder(folder)
    source = Source(data, "data", format=format, fields=fields, usual_fields=tagger.model.fields)
    source.hold()
    columns = tagger.columns if column is None else (source.column_named(column),)
    figures = [column_figures(tagger, source, name, threads) for name in columns]
    files: dict[str, bytes] = {}
    views = []
    for number, one in enumerate(figures, 1):
        grid = confusion_grid(one)
        charts = draw_charts(one, grid)
        # A number tells the columns apart, whose names may hold characters that a file's cannot.
        suffix = f"-{number}" if len(figures) > 1 else ""
        for chart in charts:
            files[f"{chart.name}{suffix}.svg"] = chart.svg
            files[f"{chart.name}{suffix}.png"] = chart.png
        views.append({**_view(one, charts, f"column-{number}"), "grid": grid})
    model_bytes = len(tagger.to_bytes())
    page = render(
        "report.html",
        title=title,
        place=source.place,
        model_bytes=model_bytes,
        resamples=RESAMPLES,
        fewest=FEWEST,
        columns=views,
        figures={
            "version": __version__,
            "model_bytes": model_bytes,
            "columns": [one.to_dict() for one in figures],
        },
    )
    write_folder(path, {PAGE: page.encode("utf-8", "replace"), **files})
    return Report(
        path / PAGE,
        tuple(path / name for name in files),
        {one.evaluation.column: one.evaluation for one in figures},
    )


def _view(figures: ColumnFigures, charts: Sequence[Chart], prefix: str) -> dict[str, Any]:
    """The variables of the template for one column."""
    result = figures.evaluation
    labels = sorted(result.labels.items(), key=lambda item: (-item[1].support, item[0]))
    n_shown = _LABELS if len(labels) > _LABELS + 5 else len(labels)
    wrong = sorted(
        (-count, gold, predicted)
        for (gold, predicted), count in result.confusion.items()
        if gold != predicted and count
    )
    n_wrong = result.tokens - result.correct
    return {
        "evaluation": result,
        "tiles": list(_tiles(figures)),
        "remarks": list(_remarks(figures)),
        "charts": [
            {"title": chart.title, "inlined": chart.inlined(prefix)}
            for chart in charts
            if chart.is_on_page
        ],
        "epochs": epoch_rows(figures)[:_MAX_EPOCHS],
        "has_short_labels": max(map(len, result.labels), default=0) <= _SHORT_LABEL,
        "labels": labels[:n_shown],
        "more_labels": labels[n_shown : n_shown + _MAX_LABELS],
        "labels_left": max(0, len(labels) - n_shown - _MAX_LABELS),
        "confusions": [
            (gold, predicted, -count, -count / n_wrong) for count, gold, predicted in wrong[:_PAIRS]
        ],
        "n_confusions": len(wrong),
        "spans": _spans(result),
        "by_knowledge": [figures.accuracy, figures.known, figures.unknown],
        "by_length": figures.by_length,
        "worst": list(map(_sentence, figures.worst)),
    }


def _tiles(figures: ColumnFigures) -> Iterator[tuple[str, str, str]]:
    """The figures to see first: name, figure, note."""
    result = figures.evaluation
    if result.spans is not None:
        bounds = figures.f1_interval
        note = "" if bounds is None else f"95 %: {points(bounds[0])} to {points(bounds[1])}"
        yield "F1 of spans", points(result.spans.f1), note
    yield "accuracy", percent(result.accuracy), _with_interval(figures.accuracy)
    yield "accuracy, known words", percent(result.known_accuracy), f"of {result.known_tokens:,}"
    unknown = result.tokens - result.known_tokens
    yield "accuracy, unknown words", percent(result.unknown_accuracy), f"of {unknown:,}"
    yield "sentences correct", percent(result.sentence_accuracy), f"of {result.sentences:,}"
    if result.calibration is not None:
        yield "calibration error", f"{result.calibration.ece:.4f}", "0 is best"
    yield (
        "tokens per second",
        f"{figures.tokens_per_second:,.0f}",
        f"in this run, {counted(figures.threads, 'thread')}, {figures.tagged_tokens:,} tokens",
    )


def _with_interval(part: Part) -> str:
    bounds = "" if part.interval is None else f"; 95 %: {between(part.interval)}"
    return f"of {part.tokens:,}{bounds}"


def _remarks(figures: ColumnFigures) -> Iterator[str]:
    """Remarks on the text, and on charts that are missing."""
    result = figures.evaluation
    if result.unlabeled:
        yield f"{counted(result.unlabeled, 'token')} without a gold label left out."
    if result.untrained:
        named = ", ".join(sorted(result.untrained)[:_PAIRS])
        yield (
            f"{counted(result.untrained.total(), 'token')} with labels that were never trained, so"
            f" that none can be correct: {named}."
        )
    if not figures.epochs:
        yield "No learning curve: the model's record has no epochs."
    if result.calibration is None:
        yield "No confidences: the model is not calibrated (perceptron-nlp calibrate)."


def _spans(result: Evaluation) -> list[tuple[str, dict[str, Any]]]:
    """Scores of all spans, and of each type."""
    if result.spans is None:
        return []
    found = result.spans.to_dict()
    whole = {**found, "support": result.spans.gold.total()}
    return [("all", whole), *found["spans"].items()]


def _sentence(found: WorstSentence) -> dict[str, Any]:
    return {
        "place": f"{found.path}:{found.line}" if found.line else found.path,
        "words": found.words,
        "wrong": found.wrong,
        "shown": [
            {"form": form, "gold": gold or "", "predicted": predicted, "is_wrong": i in found.wrong}
            for i, (form, gold, predicted) in enumerate(
                zip(found.words[:_MAX_WORDS], found.gold, found.predicted, strict=False)
            )
        ],
        "is_cut": len(found.words) > _MAX_WORDS,
        "why": [word_view(why, top=None) for why in found.why],
        "unexplained": len(found.wrong) - len(found.why),
    }


PAGE = "index.html"
# As it stands in the head of the page (pages/templates/base.html).
_GENERATOR = b'content="perceptron_nlp report'
_CHART = re.compile(r"(learning|lengths|calibration|confusion)(-\d+)?\.(svg|png)")
_HEAD = 1024


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder as a path, if a report may be written there; nothing is made.

    Raises ArgumentTypeError unless it is a path; FileError if a file stands there, or a folder with
    other things than a report in it, or the place cannot be written to.
    """
    check_path("folder", folder)
    place = Path(folder)
    try:
        names = [name for name in os.listdir(place) if not name.startswith(TEMPORARY)]
    except FileNotFoundError:
        return _makeable(place)
    except NotADirectoryError as error:
        raise FileError(
            f"{place}: is a file, or lies in one; name a folder for the report"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{str(place)!r}: cannot be read as a folder: {reason}") from error
    if names and not _is_ours(place):
        raise FileError(f"{place}: holds other files than a report; name a new or empty folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise FileError(f"{place}: cannot be written to")
    return place


def _makeable(place: Path) -> Path:
    if os.path.islink(place):
        raise FileError(f"{place}: is a link to a folder that is not there")
    parent = next((above for above in place.absolute().parents if os.path.lexists(above)), None)
    if parent is None or not parent.is_dir():
        raise FileError(f"{place}: lies in a file; name a folder for the report")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FileError(f"{place}: cannot be made, since {parent} cannot be written to")
    return place


def _is_ours(place: Path) -> bool:
    try:
        with open(place / PAGE, "rb") as handle:
            return _GENERATOR in handle.read(_HEAD)
    except OSError:
        return False


def write_folder(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write the page and the pictures of a report; pictures of an earlier one go.

    All files take their places, the page last, once the contents of all are on disk: if anything
    fails before, what stood there stands there still.

    Raises FileError as check_folder does, and where a file cannot be written.
    """
    place = check_folder(folder)
    was_there = place.exists()
    try:
        place.mkdir(parents=True, exist_ok=True)
        _write(place, files)
    except OSError as error:
        if not was_there:
            with contextlib.suppress(OSError):
                place.rmdir()
        if isinstance(error, FileError):
            raise
        raise FileError(f"{place}: cannot be written: {error.strerror or error}") from error


def _write(place: Path, files: Mapping[str, bytes]) -> None:
    replace_files((place / name, files[name]) for name in sorted(files, key=PAGE.__eq__))
    for name in os.listdir(place):
        if _CHART.fullmatch(name) and name not in files:
            (place / name).unlink()
