"""Pages of HTML on the accuracy of a tagger, and their charts as files, in a folder.

The report's own files are replaced together, and no other file is touched.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perceptron_nlp import Evaluation, Evaluations, Tagger
from perceptron_nlp._checks import check_path, check_threads
from perceptron_nlp._display import counted
from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.report.charts import confusion_grid, draw_charts
from perceptron_nlp.analysis.report.figures import FEWEST, ColumnFigures, column_figures, labels_of
from perceptron_nlp.analysis.report.views import column_view
from perceptron_nlp.analysis.significance import RESAMPLES
from perceptron_nlp.errors import ArgumentTypeError, FileError
from perceptron_nlp.formats.replace import TEMPORARY, replace_files
from perceptron_nlp.pages import environment, render
from perceptron_nlp.pages.drawing import plotting
from perceptron_nlp.tagger.sources import Labeled, Source


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written.

    Attributes
    ----------
    page : the page; of several columns, an overview, from which links lead to a page of each
    pages : all pages, this one first; they need nothing beside themselves
    pictures : the charts as files, SVG and PNG
    evaluations : the figures of the pages by column; with calibration where the model is calibrated
    """

    page: Path
    pages: tuple[Path, ...]
    pictures: tuple[Path, ...]
    evaluations: Evaluations


def report(
    tagger: Tagger,
    data: Labeled,
    folder: str | os.PathLike[str],
    *,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int = 1,
    title: str = "Accuracy of the tagger",
) -> Report:
    """Compare a tagger's labels with gold ones, and write a page about each column.

    Intervals are the middle 95 % of 1,000 bootstrap samples of sentences (see
    analysis/significance.py). The page is the same on each run but for the speed, which is
    measured.

    Parameters
    ----------
    tagger : the tagger
    data : labeled text, as for ``Tagger.evaluate``
    folder : where ``index.html`` and the charts go; it is made if need be. One with an earlier
        report gets the new one in its place; one with other things in it is left alone
    column : as for ``Tagger.evaluate``; None for all that the tagger fills
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
    found = labels_of(tagger, source, columns, threads)
    figures = [column_figures(tagger, source, name, threads, found) for name in columns]
    pages = [PAGE]
    if len(figures) > 1:
        pages += [f"column-{number}.html" for number in range(1, len(figures) + 1)]
    written, pictures = _drawn(figures, source, pages, title, len(tagger.to_bytes()))
    texts = {name: text.encode("utf-8", "replace") for name, text in written.items()}
    write_folder(path, texts | pictures)
    return Report(
        path / PAGE,
        tuple(path / name for name in pages),
        tuple(path / name for name in pictures),
        Evaluations({one.evaluation.column: one.evaluation for one in figures}),
    )


def _drawn(
    figures: Sequence[ColumnFigures],
    source: Source,
    pages: Sequence[str],
    title: str,
    model_bytes: int,
) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the pages, and the charts on them, by the names of their files."""
    columns = [one.evaluation.column for one in figures]
    several_files = len(source.corpora) > 1
    of_all: dict[str, Any] = {
        "title": title,
        "place": source.place,
        "short_place": counted(len(source.corpora), "file")
        if several_files
        else os.path.basename(source.place),
        "model_bytes": model_bytes,
        "resamples": RESAMPLES,
        "fewest": FEWEST,
        "pages": list(zip(pages, ["Overview", *columns], strict=False)),
    }
    told = {
        "version": __version__,
        "model_bytes": model_bytes,
        "columns": [one.to_dict() for one in figures],
    }
    written: dict[str, str] = {}
    pictures: dict[str, bytes] = {}
    for number, (file, one) in enumerate(zip(pages[-len(figures) :], figures, strict=True), 1):
        grid = confusion_grid(one)
        charts = draw_charts(one, grid)
        # A number tells the columns apart, whose names may hold characters that a file's cannot.
        suffix = f"-{number}" if len(figures) > 1 else ""
        for chart in charts:
            pictures[f"{chart.name}{suffix}.svg"] = chart.svg
            pictures[f"{chart.name}{suffix}.png"] = chart.png
        written[file] = render(
            "report.html",
            **of_all,
            here=file,
            column=column_view(one, grid, charts, several_files),
            figures=told if file == PAGE else None,
        )
    if len(figures) > 1:
        written[PAGE] = render(
            "report.html",
            **of_all,
            here=PAGE,
            column=None,
            overview=list(zip(pages[1:], figures, strict=True)),
            all_right=Evaluation.all_tags(one.evaluation for one in figures),
            figures=told,
        )
    return written, pictures


PAGE = "index.html"
# As it stands in the head of the page (pages/templates/base.html).
_GENERATOR = b'content="perceptron_nlp report'
_OURS = re.compile(r"(learning|lengths|calibration|confusion)(-\d+)?\.(svg|png)|column-\d+\.html")
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
    """Write the page and the pictures of a report; other pages and pictures of an earlier one go.

    All files take their places, the page last, once the contents of all are on disk: if anything
    fails before, what stood there stands there still.
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
        if _OURS.fullmatch(name) and name not in files:
            (place / name).unlink()
