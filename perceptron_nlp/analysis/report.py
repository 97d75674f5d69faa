"""Pages of HTML on the accuracy of a tagger, and their charts as files, in a folder.

The report's own files are replaced together, and no other file is touched.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perceptron_nlp import Evaluation, Evaluations, Tagger
from perceptron_nlp._checks import check_path, check_threads
from perceptron_nlp._display import counted, percent
from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.accuracy import ColumnAccuracy, column_accuracy
from perceptron_nlp.analysis.figures import FEWEST, labels_of
from perceptron_nlp.analysis.significance import RESAMPLES
from perceptron_nlp.errors import ArgumentTypeError, FileError
from perceptron_nlp.formats.replace import TEMPORARY, replace_files
from perceptron_nlp.pages import environment
from perceptron_nlp.pages.drawing import plotting
from perceptron_nlp.pages.html import page
from perceptron_nlp.pages.reports import Column, Link, Report, Table
from perceptron_nlp.tagger.sources import Labeled, Source


@dataclass(frozen=True, slots=True)
class WrittenReport:
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
) -> WrittenReport:
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
    figures = [column_accuracy(tagger, source, name, threads, found) for name in columns]
    pages = [PAGE]
    if len(figures) > 1:
        pages += [f"column-{number}.html" for number in range(1, len(figures) + 1)]
    written = _written(figures, source, pages, title, len(tagger.to_bytes()))
    # A number tells the columns apart, whose names may hold characters that a file's cannot.
    pictures = {
        f"{chart.key}{f'-{number}' * (len(figures) > 1)}.{kind}": getattr(chart, kind)
        for number, one in enumerate(figures, 1)
        for chart in one.charts
        for kind in ("svg", "png")
    }
    texts = {name: text.encode("utf-8", "replace") for name, text in written.items()}
    write_folder(path, texts | pictures)
    return WrittenReport(
        path / PAGE,
        tuple(path / name for name in pages),
        tuple(path / name for name in pictures),
        Evaluations({one.evaluation.column: one.evaluation for one in figures}),
    )


_OVERVIEW = (
    *(Column("column"), Column("accuracy", "percent", "accuracy, %")),
    Column("interval", "interval", "95 % interval"),
    *(Column("known", "percent", "known words"), Column("unknown", "percent", "unknown words")),
    Column("sentences", "percent"),
)


def _written(
    figures: Sequence[ColumnAccuracy],
    source: Source,
    pages: Sequence[str],
    title: str,
    model_bytes: int,
) -> dict[str, str]:
    """Return the pages by the names of their files."""
    place = os.path.basename(source.place)
    if len(source.corpora) > 1:
        place = counted(len(source.corpora), "file")
    data = {
        "version": __version__,
        "model_bytes": model_bytes,
        "columns": [one.figures.to_dict() for one in figures],
    }
    names = ["Overview", *(one.evaluation.column for one in figures)]
    how = {
        "kind": "report",
        "eyebrow": "Evaluation report",
        "pages": list(zip(pages, names, strict=False)),
        "foot": f"Compared with {source.place}. The model has {model_bytes:,} bytes. Intervals are"
        f" the middle 95 % of {RESAMPLES:,} bootstrap samples of sentences, if there are {FEWEST}"
        " or more.",
    }
    if len(figures) > 1:
        each = [one.evaluation for one in figures]
        rows = [
            (
                *(
                    Link(one.column, file),
                    one.accuracy,
                    all_of.figures.to_dict()["accuracy_interval"],
                ),
                *(one.known_accuracy, one.unknown_accuracy, one.sentence_accuracy),
            )
            for file, one, all_of in zip(pages[1:], each, figures, strict=True)
        ]
        overview = Report(
            title,
            tables=[Table("columns", "accuracy by column", _OVERVIEW, rows)],
            notes=[
                f"{percent(Evaluation.all_tags(each))} of the tokens are right in every column.",
                "Known words are those of the training text; a sentence counts if all of it is"
                " right.",
            ],
        )
        written = {PAGE: page(overview, lead=f"On {place}.", here=PAGE, data=data, **how)}
    else:
        written, how["pages"] = {}, ()
    for file, one in zip(pages[-len(figures) :], figures, strict=True):
        on = f"On {place}, column {one.evaluation.column}:"
        on += f" {counted(one.evaluation.tokens, 'token')}"
        on += f" in {counted(one.evaluation.sentences, 'sentence')}."
        shown = replace(one.sections, title=title)
        written[file] = page(shown, lead=on, here=file, data=data if file == PAGE else None, **how)
    return written


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
